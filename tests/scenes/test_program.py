"""Scenes that repeat, branch on the table, set, note, include, end by name, and play procedures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rpgres.errors import FileError
from rpgres.rulesets import Ruleset
from rpgres.scenes import Overrides, Scene, prove_scene, read_scene, run_scene, scene_diagnostics
from rpgres.scenes.records import SceneFile
from rpgres.toml.reading import Source
from tests.support.battle import battle_in

HEAD = """
ruleset = "battle"
seed = "7"
counters = { attackers = 3, defenders = 2, rounds = 0 }

[characters.ada]
"""

LOOP = (
    HEAD
    + """
[[steps]]
note = "The gate breaks."

[[steps]]
repeat = { until = { "counters.defenders" = 0 }, at-most = 4 }
[[steps.steps]]
id = "skirmish"
actor = "ada"
action = "skirmish"

[[steps]]
id = "after"
set = { "counters.rounds" = 9 }
when = { "counters.defenders" = 0, skirmish = "won" }

[ends.victory]
when = { "counters.defenders" = 0 }
text = "The gate is taken."

[ends.repulsed]
"""
)


@pytest.fixture
def battle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ruleset:
    """A ruleset in a folder of its own, and an empty place to work in."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return battle_in(tmp_path / "data" / "battle")


def scene_of(ruleset: Ruleset, text: str, **options: Any) -> Scene:
    return read_scene(
        Source(path="s.toml", text=text), find_ruleset=lambda _id: ruleset, overrides=Overrides(**options)
    )


def given(ruleset: Ruleset, text: str, seed: str) -> Any:
    return run_scene(scene_of(ruleset, text), seed=seed)


def test_a_group_is_repeated_until_its_conditions_hold(battle: Ruleset) -> None:
    passes = set()
    for seed in range(40):
        found = given(battle, LOOP, str(seed))
        outcomes = [step["outcome"] for step in found.steps if step.get("id") == "skirmish"]
        left = found.state["counters"]["defenders"]
        assert left == 2 - outcomes.count("won")
        assert len(outcomes) == 4 or (left == 0 and outcomes[-1] == "won")
        assert found.ending == ("repulsed" if left else "victory")
        is_set = [step for step in found.steps if step.get("set")]
        assert bool(is_set) == (left == 0)
        passes.add(len(outcomes))
    assert passes == {2, 3, 4}


def test_dice_behind_a_group_do_not_depend_on_its_passes(battle: Ruleset) -> None:
    text = LOOP.replace(
        '[[steps]]\nid = "after"', '[[steps]]\nid = "last"\naction = "skirmish"\n\n[[steps]]\nid = "after"'
    )
    longer = text.replace("defenders = 2", "defenders = 4")

    def last(text: str) -> list[Any]:
        return [step["events"] for step in given(battle, text, "7").steps if step.get("id") == "last"]

    assert last(text) == last(longer)


def test_an_ending_that_comes_at_once_ends_the_scene(battle: Ruleset) -> None:
    text = LOOP.replace('text = "The gate is taken."', "at-once = true")
    found = given(battle, text, "7")
    assert found.ending == "victory"
    assert not any("set" in step for step in found.steps)


@pytest.mark.parametrize(
    ("value", "left"),
    [('"+2"', 4), ('"-1"', 1), ("-1", -1), ("+2", 2), ("5", 5), ('"5"', 5)],
)
def test_a_signed_text_changes_a_number_and_a_number_is_set(battle: Ruleset, value: str, left: int) -> None:
    text = HEAD + f'[[steps]]\nset = {{ "counters.defenders" = {value} }}\n'
    assert scene_diagnostics(Source(path="s.toml", text=text), find_ruleset=lambda _: battle, folder=Path()) == []
    assert given(battle, text, "7").state["counters"]["defenders"] == left


def test_a_change_counts_from_nothing_and_of_no_number_is_refused(battle: Ruleset) -> None:
    again = '[[steps]]\nset = { "things.bells" = 3 }\n[[steps]]\nrepeat = { at-most = 4 }\n[[steps.steps]]\n'
    rung = given(battle, HEAD + again + 'set = { "things.bells" = "-2" }\n', "7")
    assert rung.state["things"]["bells"] == -5
    with pytest.raises(FileError, match=r"things\.bells: '\+1' changes a number, and there is none"):
        given(battle, HEAD + '[[steps]]\nset = { "things.bells" = "+1" }\n', "7")
    source = Source(path="s.toml", text=HEAD + '[[steps]]\nset = { "characters.ada.is-out" = "+1" }\n')
    (fault,) = scene_diagnostics(source, find_ruleset=lambda _: battle, folder=Path())
    assert "'+1' changes a number, and there can be no number" in fault.message


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('"tracks.alarm.marks" = "+1"', '; mark a box, as in "tracks.alarm.1" = "x", and clear it with "absent"'),
        ('"tracks.alarm.marks" = 1', "tracks.alarm has no place 'marks'; it has: 1, 2, 3"),
        ('"tracks.alarm" = 1', "its boxes: 1, 2, 3; mark one with tracks.alarm.BOX=x"),
        ('"characters.ada.is_out" = 1', "characters.ada.is_out is true or false, not '1'"),
        ('"characters.ada.is_out" = "+1"', "there can be no number; set true or false"),
        ('"tracks.alarm.2" = "x"', ""),
        ('"tracks.alarm.2" = "absent"', ""),
        ('"tracks.bells" = 3', ""),  # a new one
    ],
)
def test_what_a_step_may_set_is_told_by_the_check(battle: Ruleset, said: str, told: str) -> None:
    text = HEAD + f"[tracks.alarm]\nboxes = 3\n[[steps]]\nset = {{ {said} }}\n"
    found = scene_diagnostics(Source(path="s.toml", text=text), find_ruleset=lambda _: battle, folder=Path())
    assert [told in one.message for one in found] == ([True] if told else []), found


def test_what_is_computed_cannot_be_set(battle: Ruleset) -> None:
    text = HEAD + '[tracks.alarm]\nboxes = 3\n[[steps]]\nset = { "tracks.alarm.marked" = "+1" }\n'
    (fault,) = scene_diagnostics(Source(path="s.toml", text=text), find_ruleset=lambda _: battle, folder=Path())
    assert "tracks.alarm.marked is computed and cannot be set; mark a box" in fault.message


def test_a_procedure_is_a_step_with_an_outcome(battle: Ruleset) -> None:
    text = HEAD + (
        '[[steps]]\nid = "fight"\nactor = "ada"\nprocedure = "battle"\n'
        '[[steps]]\nnote = "Flags."\nwhen = { fight = "won" }\n'
    )
    outcomes = set()
    for seed in range(20):
        found = given(battle, text, str(seed))
        fight, note = found.steps
        outcomes.add(fight["outcome"])
        assert ("note" in note) == (fight["outcome"] == "won")
        assert (found.state["counters"]["defenders"] == 0) == (fight["outcome"] == "won")
    assert outcomes == {"won", "lost"}


def test_an_included_scene_brings_its_steps_and_its_people(battle: Ruleset, tmp_path: Path) -> None:
    Path("gate.toml").write_text(
        'ruleset = "battle"\n[characters.bo]\n[characters.ada]\n'
        '[[steps]]\nid = "skirmish"\nactor = "bo"\naction = "skirmish"\n'
    )
    text = HEAD + '[[steps]]\ninclude = "gate.toml"\n[[steps]]\nnote = "Yes."\nwhen = { skirmish = ["won", "lost"] }\n'
    source = Source(path="s.toml", text=text)
    assert scene_diagnostics(source, find_ruleset=lambda _: battle, folder=Path()) == []
    scene = read_scene(source, find_ruleset=lambda _: battle, folder=Path())
    assert set(scene.state.characters) == {"ada", "bo"}
    found = run_scene(scene, seed="7")
    assert [step.get("actor") for step in found.steps] == ["bo", None]
    assert found.steps[1]["note"] == "Yes."


def test_a_scene_does_not_include_itself(battle: Ruleset) -> None:
    Path("a.toml").write_text('ruleset = "battle"\n[[steps]]\ninclude = "b.toml"\n')
    Path("b.toml").write_text('ruleset = "battle"\n[[steps]]\ninclude = "a.toml"\n')
    with pytest.raises(FileError, match=r"^b\.toml:3: steps\[0\]\.include: 'a\.toml' includes this scene, so"):
        read_scene(Source(path="a.toml", text=Path("a.toml").read_text()), find_ruleset=lambda _: battle, folder=Path())


def test_what_is_wrong_with_a_program_is_told_with_its_line(battle: Ruleset) -> None:
    text = HEAD + (
        '[[steps]]\nrepeat = { until = { "counters.defenderz" = true } }\n'
        '[[steps.steps]]\naction = "skirmisch"\nwhen = { nothing = "won" }\n'
        '[[steps]]\nprocedure = "skirmish"\n'
        '[[steps]]\naction = "battle"\n'
        '[[steps]]\nset = { "nowhere.x" = 1 }\n'
        '[[steps]]\ninclude = "missing.toml"\n'
        '[ends.a]\n[ends.b]\nwhen = { "counters.attackers" = 0 }\n'
    )
    found = scene_diagnostics(Source(path="s.toml", text=text), find_ruleset=lambda _: battle, folder=Path())
    told = [*dict.fromkeys((problem.line, problem.key.replace('"', "")) for problem in found)]
    assert told == [
        (8, "steps[0].repeat.until.counters.defenderz"),
        (10, "steps[0].steps[0].action"),
        (11, "steps[0].steps[0].when.nothing"),
        (13, "steps[1].procedure"),
        (15, "steps[2].action"),
        (17, "steps[3].set.nowhere.x"),
        (19, "steps[4].include"),
        (21, "ends.b"),
    ]


def test_what_a_step_sets_and_what_included_steps_take_is_checked_before_play(battle: Ruleset) -> None:
    Path("part.toml").write_text('ruleset = "battle"\n[[steps]]\nactor = "idaa"\naction = "skirmish"\n')
    text = HEAD + (
        '[[steps]]\nset = { "counters.alarm" = 1 }\n'
        '[[steps]]\nset = { "counters.rounds" = "many" }\n'
        '[[steps]]\nset = { "counters.rounds" = "-9" }\n'  # there may be as many in play
        '[[steps]]\nset = { "counters.alarm" = "+1" }\nexpect = { error = "no counter" }\n'
        '[[steps]]\ninclude = "part.toml"\n'
    )
    found = scene_diagnostics(Source(path="s.toml", text=text), find_ruleset=lambda _: battle, folder=Path())
    assert [(problem.file, problem.line, problem.key.replace('"', "")) for problem in found] == [
        ("part.toml", 3, "steps[0].actor"),
        ("s.toml", 8, "steps[0].set.counters.alarm"),
        ("s.toml", 10, "steps[1].set.counters.rounds"),
    ]


def test_expectations_hold_in_groups(battle: Ruleset) -> None:
    text = LOOP.replace(
        'action = "skirmish"\n', 'action = "skirmish"\ngiven = { attack = "6" }\nexpect = { outcome = "won" }\n'
    )
    checks, wrong = prove_scene(scene_of(battle, text))
    assert (checks, wrong) == (2, [])


def test_every_kind_of_step_is_one_kind_alone() -> None:
    import msgspec

    for step in ({}, {"action": "x", "procedure": "y"}, {"note": "x", "repeat": {}}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"ruleset": "battle", "steps": [step]}, SceneFile)


@pytest.mark.parametrize(
    ("step", "unused"),
    [
        ({"steps": [{"note": "x"}], "expect": {"outcome": "won"}}, "`steps` takes no `expect`"),
        ({"include": "x.toml", "given": {"attack": "6"}}, "`include` takes no `given`"),
        ({"set": {"counters.rounds": 1}, "with": {"attackers": 3}}, "`set` takes no `with`"),
        ({"begin": "scene", "actor": "ada"}, "`begin` takes no `actor`"),
        ({"note": "x", "choose": {"go-on": "no"}}, "`note` takes no `choose`"),
    ],
)
def test_what_a_step_has_no_use_for_is_refused(step: dict[str, Any], unused: str) -> None:
    import msgspec

    with pytest.raises(msgspec.ValidationError, match=unused):
        msgspec.convert({"ruleset": "battle", "steps": [step]}, SceneFile)


def test_people_of_an_included_scene_may_act_before_and_after_it(battle: Ruleset) -> None:
    Path("gate.toml").write_text(
        'ruleset = "battle"\n[characters.guest]\n[[steps]]\nid = "in"\nactor = "guest"\naction = "battle"\n'.replace(
            "action", "procedure"
        )
        + "with = { attackers = 1, defenders = 1 }\n"
    )
    step = '[[steps]]\nactor = "guest"\nprocedure = "battle"\nwith = { attackers = 1, defenders = 1 }\n'
    text = f'ruleset = "battle"\n{step}[[steps]]\ninclude = "gate.toml"\n{step}'
    source = Source("scene.toml", text)
    assert scene_diagnostics(source, find_ruleset=lambda _: battle) == []
    (found,) = scene_diagnostics(Source("s.toml", text.replace('"guest"', '"ghost"', 1)), find_ruleset=lambda _: battle)
    assert found.key == "steps[0].actor"
