"""Scenes as subjects of odds: changed and measured, against recursions that know no engine."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres import odds_table
from rpgres.errors import FileError, UsageError
from rpgres.model.typed_paths import path_in_file
from rpgres.odds.comparison import compare
from rpgres.odds.query import Query
from rpgres.odds.scenes import SceneOdds, scene_odds
from rpgres.odds.study import Study
from rpgres.odds.subjects import Change, Measured, Subject, changed, measure, named_change
from rpgres.odds.variations import Axis, vary
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Ruleset
from rpgres.scenes import measuring
from rpgres.scenes.measuring import odds_by, procedure_subject, scene_record, scene_subject
from rpgres.scenes.walking import ENDING
from tests.support.battle import DATA, battle_rules, battle_ruleset, chance_to_win

WAR = """
ruleset = "battle"
counters = { attackers = 4, defenders = 2 }
[[steps]]
procedure = "battle"
id = "battle"
"""

WALL = """
ruleset = "fate"
title = "A wall"
[characters.mara]
skills = { fight = 2 }
[[steps]]
id = "climb"
actor = "mara"
action = "overcome"
with = { skill = "fight", vs = 2 }
choose = { price = "fail", invoke = "no" }
[ends.up]
when = { climb = ["succeed", "style"] }
[ends.down]
"""

FATE = {-4: 1, -3: 4, -2: 10, -1: 16, 0: 19, 1: 16, 2: 10, 3: 4, 4: 1}  # of 81


def up(difference: int) -> Fraction:
    return Fraction(sum(ways for roll, ways in FATE.items() if roll + difference > 0), 81)


@pytest.fixture(scope="module")
def war(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    folder = tmp_path_factory.mktemp("data") / "battle"
    (folder / "sheets").mkdir(parents=True)
    (folder / "ruleset.toml").write_text(DATA)
    ruleset: Ruleset = battle_ruleset()
    ruleset.data = folder
    path = folder / "war.toml"
    path.write_text(WAR)
    return scene_subject(str(path), find_ruleset=lambda _: ruleset)[0]


@pytest.fixture
def wall(tmp_path: Path) -> Subject:
    path = tmp_path / "wall.toml"
    path.write_text(WALL)
    return scene_subject(str(path), find_ruleset=find_ruleset)[0]


def won(found: Any) -> Fraction:
    """Return how likely the attackers win, of a measure or of a record."""
    if isinstance(found, Measured):
        return found.masses["won"]
    return Fraction(found.outcomes["won"].exact)


@pytest.mark.slow
def test_battles_of_every_size_are_those_of_the_recursion(war: Subject) -> None:
    axes = [Axis("counters.attackers", ["2", "3"]), Axis("counters.defenders", ["1", "2"])]
    found = vary(Study(war), axes)
    assert len(found.cells) == 4
    for cell in found.cells:
        attackers, defenders = (int(cell.at[axis.name]) for axis in axes)
        assert won(cell) == chance_to_win(attackers, defenders)


def test_the_wall_follows_the_closed_form(wall: Subject) -> None:
    axes = [Axis("characters.mara.skills.fight", ["0", "1", "2", "3"]), Axis("steps.climb.with.vs", ["1", "2", "3"])]
    for cell in vary(Study(wall), axes).cells:
        skill, vs = (int(cell.at[axis.name]) for axis in axes)
        assert Fraction(cell.outcomes["up"].exact) == up(skill - vs)
        assert list(cell.outcomes) == ["up", "down"]


def test_a_switch_a_path_and_another_scene_are_compared(wall: Subject, tmp_path: Path) -> None:
    other = tmp_path / "higher.toml"
    other.write_text(WALL.replace("vs = 2", "vs = 3"))
    higher, _ = scene_subject(str(other), find_ruleset=find_ruleset)
    cases = [
        ("opposers=one", [named_change(wall, "opposers", "one")]),
        ("easier", [named_change(wall, "steps[0].with.vs", "1")]),
        ("higher", [Change(kind="scene", name="higher")]),
    ]
    found = compare(Study(wall, others={"higher": higher}), cases)
    assert [Fraction(case.outcomes["up"].exact) for case in found.cases] == [up(0), up(0), up(1), up(-1)]
    assert found.cases[1].house_rules == ["opposers=one"]
    assert found.cases[2].differences is not None
    assert Fraction(found.cases[2].differences["up"].exact) == up(1) - up(0)


@pytest.mark.slow
def test_what_is_measured_is_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[SceneOdds]()

    def once(*args: Any, **options: Any) -> SceneOdds:
        calls.append(scene_odds(*args, **options))
        return calls[-1]

    monkeypatch.setattr(measuring, "scene_odds", once)
    inputs = {"skill": 2, "vs": 2, "victories": 2}  # it need not end
    query = Query(rules=load_rules(find_ruleset("fate")), action="contest", inputs=inputs, auto=True, by=ENDING)
    found = measure(procedure_subject(query))
    assert 0 < found.open < Fraction(1, 10**30)
    assert found.leaves > 2_000
    assert len(calls) == 1


def test_odds_of_a_scene_list_endings_in_the_order_of_studies(wall: Subject) -> None:
    scene = scene_subject(wall.scene, find_ruleset=find_ruleset)[1]
    record = scene_record(scene, odds_by(scene, ENDING), by=ENDING, inputs={}, note=None)
    assert list(record.outcomes) == list(measure(wall).masses) == ["up", "down"]
    assert record.outcomes["up"].probability < record.outcomes["down"].probability


def test_a_change_that_the_scene_does_not_understand_names_its_key(wall: Subject) -> None:
    with pytest.raises(FileError, match="did you mean `notice`"):
        measure(changed(wall, named_change(wall, "characters.mara.skills.notise", "2")))
    for path, told in {
        "steps.clim.with.vs": r"this list has no entry 'clim'; did you mean 'climb'\?",
        ".": r"'\.' is no path of the scene; a path looks like characters\.mara\.skills\.fight or steps\.",
        "characters.mara.skils.fight": "`characters.mara` of the scene has no key 'skils'; did you mean 'skills'",
        "characters.mara.zzz.fight": "`characters.mara` of the scene has no key 'zzz'; it has: ",
        "zzz": "the scene has no key 'zzz'; it has: characters, .+; a path looks like .+, or is the name of a switch",
        "steps[7].with.vs": r"no entry '7'; it has: climb \(an entry goes by its `id`, or by its number from 0\)",
        "characters.marra.skills.fight": "`characters` of the scene has no entry 'marra'; did you mean 'mara'",
        "counters.fate-pints": "there is no counter 'fate-pints'; did you mean `fate-points`",
        "tags.trap.text": "`tags` of the scene has no entry 'trap'",
    }.items():
        with pytest.raises(UsageError, match=told):
            changed(wall, named_change(wall, path, "2"))
    assert path_in_file('a."b.c".d[2]').keys == ("a", "b.c", "d", "2")


def test_a_step_in_a_group_is_named_by_its_id(wall: Subject) -> None:
    group = {"repeat": {"at-most": 2}, "steps": [*wall.document["steps"]]}
    inner = msgspec.structs.replace(wall, document={**wall.document, "steps": [group]})
    one, two = (changed(inner, named_change(inner, path, "7")) for path in ("steps.climb.with.vs", STEP))
    assert one.document == two.document
    assert one.document["steps"][0]["steps"][0]["with"]["vs"] == 7


STEP = "steps[0].steps[0].with.vs"


def test_a_step_is_named_by_its_id_where_it_repeats_too() -> None:
    by_id, by_number = (
        odds_table("fate/vault", None, {f"{step}.with.vs": [3, 4]}).table()
        for step in ("steps.lock", "steps.0.steps.0")
    )
    assert [row["open"] for row in by_id] == [row["open"] for row in by_number]
    assert by_id[0]["open"] > by_id[1]["open"]


@pytest.mark.slow
def test_a_procedure_varies_by_its_inputs_as_an_action_does() -> None:
    subject = procedure_subject(Query(rules=battle_rules(), action="battle", inputs={"defenders": 2}, by=ENDING))
    for cell in vary(Study(subject), [Axis("attackers", ["2", "3"])]).cells:
        chance = chance_to_win(int(cell.at["attackers"]), 2)
        assert won(cell) == chance
        assert cell.success is not None
        assert Fraction(cell.success.exact) == chance


@pytest.mark.slow
def test_what_is_counted_has_a_mean(war: Subject, tmp_path: Path) -> None:
    code = war.rules.ruleset
    path = tmp_path / "war.toml"
    path.write_text(WAR)
    counted, _ = scene_subject(str(path), find_ruleset=lambda _: code, by="counters.defenders")
    for cell in vary(Study(counted), [Axis("counters.attackers", ["2", "3"])]).cells:
        left = {int(value): Fraction(chance.exact) for value, chance in cell.outcomes.items()}
        assert cell.mean is not None
        assert Fraction(cell.mean.exact) == sum(value * share for value, share in left.items())
        assert left[0] == chance_to_win(int(cell.at["counters.attackers"]), 2)


@pytest.mark.slow
def test_what_may_go_on_for_ever_uses_up_no_budget() -> None:
    """Who wins the first exchange that is no tie: 50 of 81 against 15 of 81."""
    rules = load_rules(find_ruleset("fate"))
    inputs = {"skill": "3", "vs": ("2",), "victories": "1"}
    subject = procedure_subject(Query(rules=rules, action="contest", inputs=inputs, auto=True, by=ENDING))
    found = measure(subject)
    assert 0 < found.open <= Fraction(1, 10**30)
    assert 0 <= Fraction(50, 65) - found.masses["won"] <= found.open
    compared = compare(Study(subject), [("skill=4", [named_change(subject, "skill", "4")])])
    assert compared.cases[1].differences is not None
    told = compared.cases[1].differences["won"]
    assert told.exact is None
    assert told.probability == pytest.approx(66 / 71 - 50 / 65)  # 66 of 81 succeed, 5 fail
