"""Kits that a ruleset of one file names: odds against the plugin of the same rules and by hand, settings, lint."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres import Pending, Result, resolve
from rpgres.engine.prepare import prepare
from rpgres.odds.actions import action_odds
from rpgres.odds.exact import outcome_odds
from rpgres.odds.query import Query
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.importing import find_kit
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import builtin_folder
from rpgres.rulesets.folders import KITS, kit_names
from rpgres.toml.reading import parse, read_source
from tests.support.command_line import as_json, rpgres
from tests.support.effort import few

SAMPLE = "aspects-and-stress"
TEXT = (builtin_folder() / SAMPLE / "ruleset.toml").read_text("utf-8")
WAYS = Counter(map(sum, product((-1, 0, 1), repeat=4)))  # 81 throws of four Fate dice, by sum


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the text of a ruleset called `mine` is written."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "rulesets" / "mine"
    folder.mkdir(parents=True)
    return folder / "ruleset.toml"


def changed(*pairs: tuple[str, str]) -> str:
    text = TEXT.replace(SAMPLE, "mine")
    for old, new in pairs:
        assert re.search(old, text), old
        text = re.sub(old, new, text)
    return text


def odds(ruleset: str, action: str, **inputs: Any) -> dict[str, Fraction]:
    rules = load_rules(find_ruleset(ruleset))
    found = outcome_odds(prepare(rules, action, inputs), policies={"": rules.ruleset.policies["sensible"]})
    assert found.open == 0
    return {band: mass for band, mass in found.masses.items() if mass}


# ---------------------------------------------------------------------------------------------------------------------
# Odds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "points"),
    few(product([(2, 3, ["A=1"]), (0, 4, ["A", "B=2"]), (1, "4dF", ["A=1"]), (1, -1, [])], [0, 2]), 3),
)
def test_the_odds_are_those_of_the_plugin(inputs: tuple[int, int | str, list[str]], points: int) -> None:
    """Where the rules are alike: a file's formulas and the kits come to what the plugin's code does."""
    skill, vs, aspects = inputs
    given = {"skill": skill, "vs": vs, "aspect": aspects}
    theirs = odds("fate", "overcome", **given, **{"fate-points": points, "gm-points": 1})
    assert odds(SAMPLE, "overcome", **given, sparks=points, **{"gm-points": 1}) == theirs


def test_every_run_with_a_window_raises_its_own_roll() -> None:
    """A free invocation and two for sparks: +2 each, or new dice where these are better."""
    found = odds(SAMPLE, "overcome", sheet="odo", skill=1, vs=5, aspect=["Dark=3"])
    assert found["succeed"] == Fraction(42881096, 43046721)
    line = "--sheet odo --skill 1 --vs 5 --aspect Dark=3 --auto --runs 50 --seed 5"
    runs = as_json("simulate", SAMPLE, "overcome", *line.split())
    assert runs["success"]["share"] == 0.98


def test_without_aspects_the_odds_are_counted() -> None:
    expected: Counter[str] = Counter()
    for own, other in product(WAYS.elements(), repeat=2):
        margin = own - other
        expected["fail" if margin < 0 else "tie" if margin == 0 else "succeed" if margin < 3 else "style"] += 1
    found = odds(SAMPLE, "attack", skill=1, vs="4dF+1")
    assert found == {band: Fraction(number, 81**2) for band, number in expected.items()}


def best(vs: int, points: int, **inputs: Any) -> tuple[Fraction, Fraction]:
    """Return the chance to succeed with the best decisions, and the same by hand: so many uses, for +2 or new dice."""

    def by_hand(rolled: int, added: int, left: int) -> Fraction:
        now = Fraction(rolled + added > vs)
        if not left:
            return now
        again = sum((by_hand(other, added, left - 1) * ways for other, ways in WAYS.items()), Fraction()) / 81
        return max(now, by_hand(rolled, added + 2, left - 1), again)

    expected = sum((by_hand(rolled, 0, points) * ways for rolled, ways in WAYS.items()), Fraction()) / 81
    rules = load_rules(find_ruleset(SAMPLE))
    found = action_odds(Query(rules=rules, action="overcome", inputs={"skill": 0, "vs": vs, **inputs}, decide="best"))
    chances = [Fraction(one.exact) for band, one in found.outcomes.items() if band in ("succeed", "style")]
    return sum(chances, Fraction()), expected


@pytest.mark.slow
@pytest.mark.parametrize("points", [1, 2])
@pytest.mark.parametrize("vs", [1, 4, 6])
def test_the_best_that_can_be_done(points: int, vs: int) -> None:
    """Against all decisions worked out by hand: two aspects, each once, for +2 or for new dice."""
    found, expected = best(vs, points, aspect=["A", "B"], sparks=points)
    assert found == expected


def test_an_invocation_counts_for_its_own_roll() -> None:
    """What is known of a ledger is of its roll: the rolls of a table began with one ledger and shared what follows."""
    found, expected = best(2, 2, aspect=["A=2"])
    assert found == expected
    policy = odds(SAMPLE, "overcome", skill=0, vs=2, aspect=["A=2"])  # a roll is played twice, and comes to the same
    assert policy["fail"] > 1 - expected - policy["tie"]


@pytest.mark.slow
def test_questions_of_the_roll_come_before_the_window(mine: Path) -> None:
    """New dice that a file asks for itself, then invoking, as counted: a bad throw again, then the free invocation."""
    again = """[actions.overcome.ask.again]
text = "Throw again?"
when = "roll < 0"
options.all = { text = "All of them.", reroll = { roll = "1" }, cost = { sparks = 1 }, prefer = 1 }

[actions.create]
"""
    mine.write_text(changed((r"\[actions.create\]\n", again)))

    def ends(rolled: int) -> Counter[str]:
        """Return what 81 throws come to after an own one."""
        if rolled <= -2:  # the free invocation is for new dice
            return sum_of(WAYS)
        return Counter({band(rolled + 2 if rolled < 1 else rolled): 81})

    def band(margin: int) -> str:
        return "fail" if margin < 0 else "tie" if margin == 0 else "succeed" if margin < 3 else "style"

    def sum_of(ways: Counter[int]) -> Counter[str]:
        found: Counter[str] = Counter()
        for margin, number in ways.items():
            found[band(margin)] += number
        return found

    expected: Counter[str] = Counter()
    for first, number in WAYS.items():
        for rolled, ways in WAYS.items() if first < 0 else [(first, 81)]:
            for name, count in ends(rolled).items():
                expected[name] += number * ways * count
    found = odds("mine", "overcome", skill=0, vs=0, aspect=["A=1"], sparks=1)
    assert found == {name: Fraction(number, 81**3) for name, number in expected.items()}
    typed = (
        "roll",
        "mine",
        "overcome",
        "--skill=0",
        "--vs=2",
        "--aspect=A",
        "--sparks=1",
        "--given=roll=----",
        "--given=roll=0000",
    )
    refused = rpgres(*typed, "--choose=again=all", "--choose=invoke=a")
    assert "actor has no options" in refused.err  # the spark is spent


# ---------------------------------------------------------------------------------------------------------------------
# What a file may set


def test_what_pays_has_the_name_that_the_file_gives_it(mine: Path) -> None:
    mine.write_text(
        changed(('points = "sparks"', 'points = "hero-points", bonus = 3, reroll = false'), ("spark", "hero-point"))
    )
    rules = load_rules(find_ruleset("mine"))
    assert "hero-points" in rules.file.sheet
    assert {"hero-points-later", "hero-points-after"} <= {*rules.file.code_counters}
    assert rules.file.parameters["hero-points"].counter == "hero-points"
    assert "fate" not in str(rules.file)
    typed = ("roll", "mine", "overcome", "--skill=1", "--vs=2", "--aspect=Old Friends", "--hero-points=2")
    played = rpgres(*typed, "--given=roll=0000", "--choose=invoke=old-friends").out
    assert "+3, for a hero point" in played
    assert "4 against 2, margin +2" in played
    assert "hero points of the actor: -1" in played
    refused = rpgres(*typed, "--choose=invoke=old-friends:reroll")
    assert refused.code == 2
    assert "actor may choose: old-friends, no" in refused.err


PLAIN = """
standalone = true
title = "Mine"
summary = "Harm, and no aspects."
version = "1"
kits = ["harm"]
dice = "2d6"

[bands]
miss = { title = "Miss", success = false }
hit = { title = "Hit", success = true }

[actions.strike]
summary = "Strike somebody."
parameters = ["vs", "aim"]
required = ["vs"]
dice = { swing = "2d6", parry = "{vs}" }
numbers = { total = "swing", opposition = "parry", margin = "total - opposition" }
bands = { hit = "margin > 0", miss = "else" }

[parameters]
vs = { kind = "opposition", help = "what is in the way" }

[parameters.aim]
name = "track"
kind = "choice"
default = "body"
help = "what is hit"
choices = { body = "blood", mind = "nerve" }

[outcomes.strike.hit]
effects = [{ kind = "hit", to = "opponent", shifts = "margin" }]

[tracks]
body = { title = "Body", boxes = 2 }
mind = { title = "Mind", boxes = { 1 = 1, 2 = 2 } }
clock = { title = "Clock", boxes = 4, of-table = true }

[sheet]
name = { kind = "text", help = "the name" }
arts = { kind = "abilities", names = ["parry"], help = "art = rating" }
"""


def test_harm_without_aspects(mine: Path) -> None:
    """One box at most for a hit, on the track that was typed; without consequences there is nothing else."""
    mine.write_text(PLAIN)
    (mine.parent / "sheets").mkdir()
    (mine.parent / "sheets" / "foe.toml").write_text('name = "Foe"\n[arts]\nparry = 3\n')
    assert rpgres("ruleset", "check", "mine").out == "mine: ok\n"
    assert "consequences" not in load_rules(find_ruleset("mine")).file.sheet
    for swing, track, absorb, told in (
        ("6,5", "mind", "box-2", [("stress", "mind", "2")]),
        ("6,4", "body", "box-1", [("stress", "body", "1")]),
        ("6,5", "body", "taken-out", [("taken-out", None, None)]),
    ):
        choose = {"absorb": absorb}
        found = resolve(
            "mine", "strike", vs="foe:parry", given={"swing": swing, "parry": "3,3"}, choose=choose, track=track
        )
        assert isinstance(found, Result)
        effects = [one for one in found.effects if one["kind"] != "hit"]
        assert [(one["kind"], one.get("track"), one.get("box")) for one in effects] == told


@pytest.mark.parametrize("kits", ['"aspects", "harm"', '"harm", "aspects"'])
def test_the_order_of_kits_is_all_the_same(mine: Path, kits: str) -> None:
    mine.write_text(changed(('"aspects", "harm"', kits)))
    shutil.copytree(builtin_folder() / SAMPLE / "sheets", mine.parent / "sheets")
    choose = {"invoke": "no", "absorb": "light+box-1+box-2", "consequence-name": "A Split Lip"}
    given = {"roll": "0000", "resistance": "0000"}
    found = resolve("mine", "attack", given=given, choose=choose, skill=6, vs="odo:move")
    assert isinstance(found, Result)
    assert [(one["kind"], one.get("on", one.get("name", ""))) for one in found.effects] == [
        ("hit", ""),
        ("stress", ""),
        ("stress", ""),
        ("consequence", "A Split Lip"),
        ("free-invoke", "A Split Lip"),
    ]


@pytest.mark.parametrize(("named_by", "who"), [("hit", "odo"), ("attacker", "wren"), ("gm", "gm")])
def test_who_names_a_consequence(mine: Path, named_by: str, who: str) -> None:
    mine.write_text(changed(('boxes = "any"', f'boxes = "one", free-invokes = 2, named-by = "{named_by}"')))
    shutil.copytree(builtin_folder() / SAMPLE / "sheets", mine.parent / "sheets")
    choose = {"invoke": "no", "absorb": "light+box-1", f"{who}:consequence-name": "A Split Lip"}
    given = {"roll": "000-", "resistance": "0000"}
    found = resolve("mine", "attack", given=given, choose=choose, sheet="wren", skill=6, vs="odo:move")
    assert isinstance(found, Result)
    assert found.effects[-1] == {"kind": "free-invoke", "to": "wren", "count": 2, "on": "A Split Lip"}


# ---------------------------------------------------------------------------------------------------------------------
# Lint


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"aspects", "harm"', '"fate-family"', "kits[0]: the kit fate-family is for rulesets with code"),
        ('"harm"]', '"harms"]', "ruleset.toml:6: kits[1]: there is no kit 'harms'; did you mean `harm`?"),
        ("boxes = \"any\"", "box = 1", "ruleset.toml:11: settings.harm.box: unknown key; did you mean `boxes`?"),
        ("boxes = \"any\"", 'boxes = "all"', "settings.harm.boxes: expected one of `any`, `one`, found `all`"),
        ('"sparks" }', '"sparks", bonus = "two" }', "ruleset.toml:10: settings.aspects.bonus: expected a whole number"),
        ("harm = {", "hrm = {", "ruleset.toml:11: settings.hrm: the ruleset names no kit 'hrm'; did you mean `harm`?"),
        ("(?m)^(stress|consequences) = .*", "", "ruleset.toml:6: kits[1]: the kit harm needs a track of stress boxes"),
        ('shifts = "margin" }', 'shifts = "margin", track = "stres" }', "no track 'stres'; did you mean `stress`?"),
        ('roll = "4dF"', 'roll = "{4 + invoked}dF"', "dice.roll: invoked is known only when all dice lie"),
        ("invoked-against", "invoked-aginst", "no number 'invoked-aginst'; did you mean `invoked-against`?"),
        ('kind = "spark", to', 'kind = "sparc", to', "no kind of effect 'sparc'; did you mean `spark`?"),
    ],
)  # fmt: skip
def test_faults_are_told_where_they_stand(mine: Path, old: str, new: str, told: str) -> None:
    mine.write_text(changed((old, new)))
    found = rpgres("ruleset", "check", "mine")
    assert found.code == 1
    assert told in found.out


def test_a_house_rule_may_change_the_bonus_and_not_the_names(tmp_path: Path) -> None:
    for ruleset, more in (("fate", {"fate_points": 1}), (SAMPLE, {"sparks": 1})):
        folder = tmp_path / ruleset
        folder.mkdir()
        (folder / "ruleset.toml").write_text("[settings.aspects]\nbonus = 3\n")
        found = resolve(
            ruleset,
            "overcome",
            skill=0,
            vs=0,
            aspect=["A"],
            given={"roll": "0000"},
            choose={"invoke": "a"},
            rulesets=tmp_path,
            **more,
        )
        assert isinstance(found, Result)
        assert found.total == 3
    (tmp_path / SAMPLE / "ruleset.toml").write_text('[settings.aspects]\npoints = "luck"\n')
    checked = rpgres("ruleset", "check", SAMPLE, "--rulesets", str(tmp_path))
    assert checked.code == 1
    assert (
        "settings.aspects.points: only the ruleset's own file, or its code, can say what its points are called"
        in checked.out
    )


# ---------------------------------------------------------------------------------------------------------------------
# What kits declare


@pytest.mark.parametrize("name", kit_names())
def test_a_kits_data_set_what_its_record_has(name: str) -> None:
    """The defaults stand in the data, where house rules see them, and are those of the code."""
    kit, data = find_kit(name), parse(read_source(KITS / name / "ruleset.toml"))
    settings = data.get("settings", {})
    defaults = msgspec.to_builtins(kit.settings()) if kit is not None else {}
    assert settings == ({name: defaults} if defaults else {})
    assert set(data.get("settings-notes", {})) == {f"{name}.{key}" for key in defaults}


def test_windows_ask_in_play_as_in_odds() -> None:
    """A roll that waits for nobody: the window is let pass, and the dice are asked once."""
    found = resolve(SAMPLE, "overcome", skill=2, vs=3, aspect=["A"], sparks=1, given={"roll": "0000"})
    assert isinstance(found, Result)
    assert not isinstance(found, Pending)
    assert found.outcome == "fail"


def test_the_schema_knows_kits_and_what_may_be_set() -> None:
    schema = json.loads(rpgres("schema", "ruleset").out)
    fields = schema["$defs"]["RulesetFile"]["properties"]
    assert fields["kits"]["items"]["enum"] == kit_names()
    assert fields["settings"]["properties"]["harm"]["$ref"] == "#/$defs/HarmSettings"
    points = schema["$defs"]["AspectSettings"]["properties"]["points"]
    assert points["default"] == "fate-points"
    assert points["description"].startswith("the counter that pays for an invocation")
