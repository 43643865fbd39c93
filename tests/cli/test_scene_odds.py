"""`rpgres odds SCENE`: what it prints, in a pipe and as JSON, and how it refuses."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema_rs import Draft202012Validator

from rpgres import odds_best, odds_scene, text_of
from rpgres.odds.exact import chance_record
from rpgres.odds.sampling import Sample, estimate
from rpgres.odds.scene_best import BestOption
from rpgres.render.odds.rows import csv_rows
from rpgres.render.odds.scenes import scene_report
from tests.support.command_line import as_json, rpgres
from tests.support.terminal import Terminal

SCENE = """
ruleset = "fate"
title = "A wall"
[characters.mara]
sheet = "mara"
[[steps]]
id = "first"
actor = "mara"
action = "overcome"
with = { skill = 2, vs = 2 }
choose = { price = "fail" }
[[steps]]
id = "second"
when = { first = "fail" }
actor = "mara"
action = "overcome"
with = { skill = 2, vs = 2 }
choose = { price = "fail", invoke = "no" }
[ends.over]
when = { second = ["tie", "succeed", "style"] }
[ends.stuck]
when = { second = "fail" }
[ends.at-once]
"""


@pytest.fixture
def wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("wall.toml")
    path.write_text(SCENE)
    return path


def test_a_scene_has_exact_odds(wall: Path) -> None:
    record = as_json("odds", "wall.toml")
    # 4dF + 2 against 2: 31 of 81 fail (closed form), and the second try is like the first
    assert {name: chance["exact"] for name, chance in record["outcomes"].items()} == {
        "at-once": "50/81",
        "over": "1550/6561",
        "stuck": "961/6561",
    }
    assert record["method"] == "exact"
    schema = json.loads(rpgres("schema", "scene-odds").out)
    Draft202012Validator(schema).validate(record)


def test_first_options_of_equal_worth_share_a_row_and_json_has_each(wall: Path) -> None:
    aspects = '[characters.ana]\nskills = { athletics = 2 }\naspects = ["Quick", "Sly", "Wary"]\nfate-points = 1\n'
    step = '[[steps]]\nid = "climb"\nactor = "ana"\naction = "overcome"\nwith = { skill = "athletics", vs = 3 }\n'
    ends = '[ends.up]\nwhen = { climb = ["succeed", "style"] }\n[ends.down]\n'
    wall.write_text(f'ruleset = "fate"\n{aspects}{step}{ends}')
    asked = ("odds", "wall.toml", "--best", "--goal", "up", "--policy", "preferred")
    assert [len(decision["options"]) for decision in as_json(*asked)["decisions"]] == [7, 7, 7]
    told = rpgres(*asked).out
    rows = [line.split("  ")[1] for line in told.splitlines() if line.endswith(("best", "points"))]
    assert rows == [
        *("quick or sly or wary", "quick:reroll and 2 more", "no"),
        *("quick:reroll and 2 more", "no or quick or sly or wary"),
        *("no or quick or sly or wary", "quick:reroll and 2 more"),
    ]
    assert "(against 3, points 1; quick or sly or wary: Succeed; 43.21 %)" in told


@pytest.mark.slow
def test_an_ending_that_nothing_comes_to_is_there_with_chance_nothing(wall: Path) -> None:
    """Alike in odds, in what --best and the studies print, in partial odds, and in the odds of a procedure."""
    wall.write_text(SCENE.replace("vs = 2", "vs = 20"))
    record, best = as_json("odds", "wall.toml"), as_json("odds", "wall.toml", "--best", "mara", "--goal", "stuck")
    compared = as_json("odds", "wall.toml", "--compare", "characters.mara.name=Mara")
    chances = {name: chance["exact"] for name, chance in record["outcomes"].items()}
    assert chances == {"stuck": "1", "over": "0", "at-once": "0"}
    for outcomes in (best["outcomes"], *(case["outcomes"] for case in compared["cases"])):
        assert {name: chance["exact"] for name, chance in outcomes.items()} == chances
    told = rpgres("odds", "wall.toml").out
    assert "Over        0.00 %  0\n" in told
    part = as_json("odds", "wall.toml", "--leaves", "1")
    assert (part["method"], list(part["outcomes"])) == ("partial", ["over", "stuck", "at-once"])
    line = ("fate", "contest", "--skill", "0", "--vs", "8", "--victories", "1", "--exchanges", "1", "--auto")
    contest = as_json("odds", *line)["outcomes"]
    assert {name: one["exact"] for name, one in contest.items()} == {"lost": "1", "won": "0", "undecided": "0"}
    counted = as_json("odds", "wall.toml", "--by", "characters.mara.counters.fate-points")
    assert list(counted["outcomes"]) == ["3"]


def test_people_read_percentages(wall: Path) -> None:
    found = rpgres("odds", "wall.toml", "--plain")
    assert found.code == 0
    assert "A wall: odds" in found.out
    assert "61.73 %" in found.out


def test_a_part_of_the_table_is_weighed(wall: Path) -> None:
    record = as_json("odds", "wall.toml", "--by", "characters.mara.counters.fate-points")
    assert list(record["outcomes"]) == ["3"]
    assert json.loads(json.dumps(record["mean"]))["exact"] == "3"


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        (["odds", "walll.toml"], 1, "there is no scene 'walll.toml'"),
        (["odds", "wall.toml", "--by", "characters.mara.nothing"], 2, "nothing"),
        (["odds", "wall.toml", "--policy", "bold"], 2, "bold"),
    ],
)
def test_what_is_wrong_is_told(wall: Path, line: list[str], code: int, told: str) -> None:
    found = rpgres(*line)
    assert found.code == code
    assert told in found.err


def test_a_decision_without_anybody_to_take_it(wall: Path) -> None:
    wall.write_text(SCENE.replace('choose = { price = "fail" }', ""))
    for line in (["wall.toml"], ["wall.toml", "--compare", "fate/bribe"]):
        found = rpgres("odds", *line)
        assert found.code == 3
        assert 'Answer in the step with choose = { price = "..." }' in found.err
        assert "--choose" not in found.err


FREE = SCENE.replace('sheet = "mara"', "skills = { will = 2 }")
FREE = FREE.replace('choose = { price = "fail" }', "").replace('choose = { price = "fail", invoke = "no" }', "")
BEST = ("odds", "wall.toml", "--best", "--goal", "over", "--goal", "at-once")


@pytest.fixture
def free(wall: Path) -> Path:
    wall.write_text(FREE)
    return wall


def exact(chance: dict[str, Any]) -> Fraction:
    return Fraction(chance["exact"])


@pytest.mark.slow
def test_whoever_decides_optimally_has_the_value_of_every_first_option(free: Path) -> None:
    record = as_json(*BEST)
    Draft202012Validator(json.loads(rpgres("schema", "scene-best").out)).validate(record)
    assert (record["format"], record["best"], record["goal"]) == ("rpgres.scene-best/1", "mara", ["over", "at-once"])
    assert record["policies"] == {"*": "sensible", "mara": "best"}
    value = exact(record["value"])
    assert value == sum(exact(record["outcomes"][name]) for name in ("over", "at-once"))
    # 4dF + 2 against 2: 50 of 81 do not fail, and those who choose to fail have the same chance once more
    (decision,) = record["decisions"]  # whatever the margin is, the options are worth the same
    assert exact(decision["probability"]) == Fraction(31, 81)
    best, second = decision["options"]
    assert (best["option"], second["option"], exact(best["cost"])) == ("cost", "fail", 0)
    assert exact(second["value"]) == Fraction(50, 81)
    assert exact(second["cost"]) == exact(best["value"]) - Fraction(50, 81) > 0
    assert value == Fraction(50, 81) + Fraction(31, 81) * exact(best["value"])
    for policy in ("uniform", "preferred", "sensible"):
        other = as_json("odds", "wall.toml", "--policy", policy)["outcomes"]
        assert value >= exact(other["over"]) + exact(other["at-once"])


@pytest.mark.slow
def test_who_decides_may_be_left_out_or_named_before_other_options(free: Path) -> None:
    told = rpgres(*BEST)
    assert told.code == 0
    assert "goal: Over or At once: 99.10 %" in told.out
    assert "  fail      61.73 %  50/81      35.91 points" in told.out
    assert rpgres("odds", "wall.toml", "--goal", "over", "--best", "mara", "--goal", "at-once").out == told.out
    assert rpgres("odds", "wall.toml", "--goal", "over", "--goal", "at-once", "--best").out == told.out
    markdown = rpgres(*BEST, "--format", "md")
    assert "| fail | 61.73 % | 50/81 | 35.91 points |" in markdown.out


@cache
def debt() -> Any:
    return odds_best("again-pool/the-debt", best="ondra")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("goal", "less", "shown"),
    [
        ([], "0.1", ["0.500", "0.400", "0.100"]),
        ([], "0.0003", ["0.5000", "0.4997", "0.0003"]),
        (["won"], "0.1", ["50.00 %", "40.00 %", "10.00 points"]),
        (["won"], "0.0000004", ["50.00000 %", "49.99996 %", "0.00004 points"]),
    ],
)
def test_options_that_differ_are_told_apart_by_as_many_digits_as_it_takes(
    goal: list[str], less: str, shown: list[str]
) -> None:
    record = debt()
    first, second = Fraction(1, 2), Fraction(1, 2) - Fraction(less)
    options = [
        BestOption("spend", "", chance_record(first), chance_record(first - first)),
        BestOption("no", "", chance_record(second), chance_record(first - second)),
    ]
    decision = msgspec.structs.replace(record.decisions[0], options=options)
    told = text_of(msgspec.structs.replace(record, goal=goal, decisions=[decision]))
    best, other = (line for line in told.splitlines() if line.split()[0] in ("spend", "no"))
    assert [shown[0] in best, shown[1] in other, other.endswith(f"  {shown[2]}")] == [True] * 3


DELVE = """
standalone = true
title = "Delve"
summary = "Under a skill; doubles are worse."
version = "1"
[bands]
fumble = { title = "Fumble", success = false }
failure = { title = "Failure", success = false }
success = { title = "Success", success = true }
[actions.test]
summary = "Under a skill."
parameters = ["skill"]
required = ["skill"]
dice = { roll = "1d10" }
numbers = { target = "skill" }
bands = { fumble = "roll = 10", success = "roll <= target", failure = "else" }
ask.again.text = "Again?"
ask.again.when = "roll > target"
ask.again.options.again = { cost = { luck = 1 }, reroll = { roll = "face > 0" } }
[parameters]
skill = { kind = "ability", help = "the skill" }
[effects]
luck = { help = "luck spent", does = "counter", counter = "luck" }
hurt = { help = "wounds", does = "counter", counter = "wounds" }
[outcomes.test.fumble]
rolls = { harm = "1d6" }
effects = [{ kind = "hurt", to = "actor", change = "harm" }]
[sheet]
luck = { kind = "counter", default = 1, at-least = 0, help = "luck" }
wounds = { kind = "counter", default = 0, at-least = 0, at-most = 9, help = "wounds" }
"""
SHAFT = """
ruleset = "delve"
policy = "preferred"
[characters.brunn]
luck = 1
[[steps]]
repeat = { until = { climb = ["success"] }, at-most = 2 }
[[steps.steps]]
id = "climb"
actor = "brunn"
action = "test"
with = { skill = 3 }
[ends.dead]
when = { "characters.brunn.counters.wounds" = ">= 5" }
at-once = true
[ends.up]
when = { climb = "success" }
[ends.stuck]
"""


@pytest.mark.slow
def test_situations_that_read_alike_are_told_apart_by_what_options_come_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What happened is the same to the facts, and the advice is not: a 10 is a fumble, which may be the end."""
    (tmp_path / "rulesets" / "delve").mkdir(parents=True)
    (tmp_path / "rulesets" / "delve" / "ruleset.toml").write_text(DELVE, encoding="utf-8")
    (tmp_path / "shaft.toml").write_text(SHAFT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    line = ("odds", "shaft.toml", "--best", "brunn", "--goal", "up")
    first, second = as_json(*line)["decisions"]
    assert (first["text"], first["facts"]) == (second["text"], second["facts"])
    without = [next(one for one in decision["options"] if one["option"] == "no") for decision in (first, second)]
    assert [one["outcome"] for one in without] == ["failure", "fumble"]
    assert without[0]["value"] != without[1]["value"]
    headings = [line for line in rpgres(*line).out.splitlines() if "decides first" in line]
    assert [("no: Failure" in one, "no: Fumble" in one) for one in headings] == [(True, False), (False, True)]


def test_a_mean_is_made_as_large_as_can_be(free: Path) -> None:
    record = as_json("odds", "wall.toml", "--best", "mara", "--by", "characters.mara.counters.fate-points")
    assert (record["goal"], record["value"]["exact"]) == ([], "3")


def test_play_for_an_ending_is_shown_by_a_part_of_the_table(free: Path) -> None:
    """By --by the play stays the same, and so does what it is worth; only what is counted differs."""
    path = ("--by", "characters.mara.counters.fate-points")
    ending, counted = as_json(*BEST), as_json(*BEST, *path)
    assert (counted["value"], counted["decisions"]) == (ending["value"], ending["decisions"])
    assert counted["goal"] == ["over", "at-once"]
    assert set(counted["outcomes"]).isdisjoint(ending["outcomes"])
    assert sum(map(exact, counted["outcomes"].values())) == 1
    as_value = as_json("odds", "wall.toml", "--best", "mara", "--goal", "3", *path)
    assert as_value["value"] == as_value["outcomes"]["3"]
    none = rpgres("odds", "wall.toml", "--best", "mara", "--goal", "ovr", *path)
    assert (none.code, "--goal ovr is no ending" in none.err, "over, " in none.err) == (2, True, True)


@pytest.mark.slow
def test_of_a_procedure_every_success_is_the_goal(free: Path) -> None:
    line = ("odds", "fate/contest", "--skill", "2", "--vs", "2", "--victories", "1", "--exchanges", "1", "--best")
    record = as_json(*line)
    assert (record["best"], record["scene"]) == ("actor", "fate/contest")
    assert exact(record["value"]) == exact(record["outcomes"]["won"])
    (first,) = record["decisions"]
    assert [one["option"] for one in first["options"]] == ["create-advantage", "roll"]
    assert exact(first["options"][1]["value"]) == Fraction(31, 81)  # more than a tie: as many as are less


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["--best"], "--goal"),
        (["--best", "bodo", "--goal", "over"], "'bodo'"),
        (["--best", "--goal", "ovr"], "did you mean 'over'?"),
        (["--goal", "over"], "--goal says what --best looks for"),
        (["--best", "--by", "characters.mara.name"], "--goal"),
        (["--best", "--goal", "over", "--leaves", "3"], "--leaves"),
    ],
)
def test_what_cannot_be_best_is_told(free: Path, line: list[str], told: str) -> None:
    ran = rpgres("odds", "wall.toml", *line)
    assert (ran.code, told in ran.err) == (2, True), ran.err


@pytest.mark.slow
def test_past_the_budget_a_simulation_estimates_and_says_so(free: Path) -> None:
    line = ("odds", "fate/contest", "--skill", "2", "--vs", "2", "--victories", "3", "--auto", "--leaves", "30")
    assert as_json(*line)["sample"] is None
    rows = [row for row in rpgres(*line).out.splitlines() if row.startswith(("  Won ", "  Lost ", "  Undecided "))]
    assert rows
    told = "an exact 0, too, and the beginning of a fraction that is too long, while something remains"
    assert all(re.search(r" %  at least (0|\d+/\d+|0\.\d{6})$", row) for row in rows), told
    assert "  remaining: " in rpgres(*line).out
    record = as_json(*line, "--simulate", "1000")
    Draft202012Validator(json.loads(rpgres("schema", "scene-odds").out)).validate(record)
    assert (record["method"], record["sample"]["runs"]) == ("partial", 1000)
    won = record["sample"]["outcomes"]["won"]
    assert won["low"] < 0.5 < won["high"]  # both sides of a contest against 2 with 2 are alike
    assert sum(one["share"] for one in record["sample"]["outcomes"].values()) == pytest.approx(1)
    told = rpgres(*line, "--simulate", "1000").out
    assert "~ are estimates, with 95 % intervals, from 1,000 plays of the whole scene" in told
    assert "| Won |" in rpgres(*line, "--simulate", "1000", "--format", "md").out
    exact_one = as_json("odds", "wall.toml", "--auto", "--simulate", "1000")
    assert (exact_one["method"], exact_one["sample"]) == ("exact", None)
    counted = as_json(*line, "--simulate", "1000", "--by", "exchanges")
    by_exchanges = counted["sample"]["outcomes"]
    assert set(counted["outcomes"]) <= set(by_exchanges)
    assert all(chance["probability"] < by_exchanges[name]["high"] for name, chance in counted["outcomes"].items())
    assert min(map(int, by_exchanges)) == 2  # a success with style is two victories


def test_what_is_too_large_for_optimal_decisions_says_so() -> None:
    ran = rpgres("odds", "fate/conflict", "--sheet", "mara", "--against", "bruiser", "--best", "--leaves", "300")
    assert ran.code == 2
    assert (
        "too large; the search ended after 2 turns, 0 states and 299 paths. Try a larger --seconds or --leaves"
        in ran.err
    )
    three = ("--against", "bruiser", "--against", "guard", "--best", "--leaves", "300")
    assert "Try fewer characters, a larger" in rpgres("odds", "fate/conflict", "--sheet", "mara", *three).err


@pytest.mark.slow
def test_who_stands_by_is_not_said_to_make_a_scene_too_large(free: Path) -> None:
    names = ("ana", "bo", "cy", "di")
    people = "".join(f'[characters.{name}]\nskills = {{ fight = 1 }}\naspects = ["Quick"]\n' for name in names)
    begins = f'ruleset = "fate"\npolicy = "sensible"\n{people}[[steps]]\nprocedure = "conflict"\nactor = "ana"\n'
    two = best_of(f'{begins}with = {{ against = ["bo"] }}\n', "ana", "--leaves", "2000").err
    assert "Try an answer to " in two
    assert (
        "Try fewer characters, "
        in best_of(f'{begins}with = {{ against = ["bo", "cy"] }}\n', "ana", "--leaves", "2000").err
    )


def best_of(text: str, who: str, *given: str) -> Any:
    Path("tried.toml").write_text(text)
    return rpgres("odds", "tried.toml", "--best", who, *given)


def test_hands_that_are_too_many_for_optimal_decisions_can_be_given(free: Path) -> None:
    scene = (
        'ruleset = "saga"\npolicy = "sensible"\n[characters.ilse]\nsheet = "ilse"\n'
        '[characters.brannagh]\nsheet = "brannagh"\n[[steps]]\nbegin = "scene"\n'
    )
    assert best_of(scene, "ilse").code == 0  # nobody looks at a hand
    acts = '[[steps]]\nactor = "ilse"\naction = "act"\nwith = { ability = "intellect", vs = "easy", hand = "Wi5" }\n'
    assert best_of(scene + acts, "ilse").code == 0
    dealt = best_of(scene + acts.replace(', hand = "Wi5"', ""), "ilse")
    assert dealt.code == 2
    assert "a hand that somebody looks at in steps[1] has too many results. Try the cards of that hand" in dealt.err
    cards = ["In6", "In9", "St8", "Ag2", "Wi5", "Wi3", "Ag6", "In2", "St3n", "St4n", "St1n"]
    assert best_of(f"{scene}given = {{ deal = {json.dumps(cards)} }}\n", "ilse").code == 0


def test_what_is_said_to_help_makes_a_scene_small_enough_for_optimal_decisions(free: Path) -> None:
    climb = 'action = "overcome"\nactor = "ann"\nwith = { skill = "athletics", vs = 4 }\n'
    begins = (
        'ruleset = "fate"\npolicy = "sensible"\n[characters.ann]\nskills = { athletics = 2 }\naspects = ["Quick"]\n'
        f'fate-points = 1\n[[steps]]\nid = "up"\n{climb}'
    )
    scene = f'{begins}[[steps]]\nid = "down"\n{climb}'
    long = best_of(scene, "ann", "--leaves", "200")
    assert "the search ended in step 'down' after 1 turn, " in long.err
    assert "Try a scene that ends before step 'down', an answer to 'price' in the steps (choose), a larger" in long.err
    assert best_of(begins, "ann", "--leaves", "200").code == 0
    decided = scene.replace("vs = 4 }", 'vs = 4 }\nchoose = { price = "fail*", invoke = "no*" }')
    assert best_of(decided, "ann", "--leaves", "200").code == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_an_interrupt_prints_what_is_known() -> None:
    line = ("odds", "fate/contest", "--skill", "2", "--vs", "2", "--auto", "--leaves", "30", "--simulate", "100000000")
    at = Terminal(line)
    while not re.search(r"simulating: 0 %, [1-9]", at.shown):
        assert at.has_more()
    code, shown = at.interrupt()
    assert code == 130
    assert "plays of the whole scene" in shown


@pytest.mark.parametrize("command", [("odds", "--auto"), ("simulate", "--auto", "-n", "10", "--workers", "1")])
@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            ("fate/vault", "characters.ida.counters.fate-pints"),
            "--by characters.ida.counters.fate-pints: there is no counter 'fate-pints'; did you mean 'fate-points'?",
        ),
        (("fate/vault", "characters.idda.is-out"), "there is no character 'idda'; did you mean 'ida'?"),
        (("fate/vault", "exchanges"), "nothing of this name is counted (how often a step is played: times.lock;"),
        (("fate/vault", "times.lok"), "nothing of this name is counted; did you mean 'times.lock'?"),
        (("fate/bribe", "times.bribe"), "nothing of this name is counted (no step of this scene repeats;"),
        (("fate/vault", "characters.ida.skills.burglary"), "did you mean 'characters.ida.abilities.burglary'?"),
        (("fate/vault", "characters.ida.fate-points"), "did you mean 'characters.ida.counters.fate-points'?"),
        (
            ("fate/contest --skill 2 --vs 2 --victories 1 --exchanges 2", "exchange"),
            "--by exchange: the result of the procedure has no detail 'exchange'; did you mean 'exchanges'?",
        ),
        (
            ("fate/contest --skill 2 --vs 2 --victories 1 --exchanges 2", "won"),
            "the result of the procedure has no detail 'won'; it has: exchanges, victories",
        ),
    ],
)
def test_what_is_asked_by_has_to_be_there(command: tuple[str, ...], line: tuple[str, str], told: str) -> None:
    of, by = line
    ran = rpgres(command[0], *of.split(), *command[1:], "--by", by)
    assert (ran.code, told in ran.err) == (2, True), ran.err


@pytest.mark.parametrize("command", [("odds",), ("simulate", "-n", "10", "--workers", "1")])
def test_a_detail_that_no_procedure_of_several_tells_is_refused(command: tuple[str, ...], tmp_path: Path) -> None:
    scene = tmp_path / "several.toml"
    scene.write_text(
        """
        ruleset = "fate"
        policy = "sensible"
        characters.mara.sheet = "mara"
        [[steps]]
        actor = "mara"
        procedure = "contest"
        with = { skill = 2, vs = 2, victories = 1, exchanges = 2 }
        [[steps]]
        actor = "mara"
        procedure = "challenge"
        with = { task = "door:with=2,difficulty=2" }
        """,
        encoding="utf-8",
    )
    ran = rpgres(command[0], str(scene), *command[1:], "--by", "exchanges")  # which the contest has, and no challenge
    assert (ran.code, "absent" in ran.out, "(none)" in ran.out) == (0, False, False), ran.err
    ran = rpgres(command[0], str(scene), *command[1:], "--by", "exchangs")
    assert (ran.code, "no detail 'exchangs'; did you mean 'exchanges'?" in ran.err) == (2, True), ran.err


JOINING = """
ruleset = "fate"
policy = "sensible"
characters.mara.sheet = "mara"
[[steps]]
actor = "mara"
action = "attack"
with = { skill = 9, vs = "guards:will" }
given = { roll = "0000", opposition = "0000" }
[[steps]]
when = { "characters.guards.is-out" = false }
note = "they stand"
"""


def test_who_joins_by_an_input_may_be_asked_for(tmp_path: Path) -> None:
    scene = tmp_path / "joining.toml"
    scene.write_text(JOINING, encoding="utf-8")
    assert rpgres("scene", "check", str(scene)).code == 0
    by = ("--by", "characters.guards.tracks.physical")  # of which guards have no boxes
    found = as_json("odds", str(scene), *by)
    assert {name: one["exact"] for name, one in found["outcomes"].items()} == {"0": "1"}
    assert found["mean"]["exact"] == "0"
    counted = as_json("simulate", str(scene), "-n", "8", *by)["counted"][by[1]]
    assert [(one["value"], one["count"]) for one in counted["values"]] == [(0, 8)]
    (tmp_path / "joining.toml").write_text(JOINING.replace(".guards.is", ".gards.is"), encoding="utf-8")
    ran = rpgres("scene", "check", str(scene))
    assert (ran.code, "there is no character 'gards'; did you mean `guards`?" in ran.out) == (1, True), ran.out


ENDING_OR_NOT = """
ruleset = "fate"
characters.mara.sheet = "mara"
[[steps]]
id = "try"
actor = "mara"
action = "overcome"
with = { skill = 1, vs = 2 }
given = { roll = "0000" }
choose = { invoke = "no", price = "fail" }
[ends.good]
when = { try = "succeed" }
"""


@pytest.mark.parametrize("command", [("odds",), ("simulate", "-n", "4")])
def test_what_is_not_there_is_called_alike_in_odds_and_simulations(command: tuple[str, ...], tmp_path: Path) -> None:
    scene = tmp_path / "plain.toml"
    scene.write_text(ENDING_OR_NOT, encoding="utf-8")
    first, *rest = command
    assert "No ending" in rpgres(first, str(scene), *rest).out
    told = rpgres(first, str(scene), *rest, "--by", "tags.fog").out
    assert re.search(r"\babsent( +4)? +100\.00 %", told, re.IGNORECASE), told


@pytest.mark.parametrize(
    ("by", "found"),
    [
        ("characters.all.counters.fate-points", "[3,null]"),  # of which guards have no counter
        ("characters.any.tracks.physical", "[0,0]"),
    ],
)
def test_what_stands_at_several_places_is_listed(by: str, found: str) -> None:
    assert list(as_json("odds", "fate/bribe", "--auto", "--by", by)["outcomes"]) == [found]
    counted = as_json("simulate", "fate/bribe", "--auto", "-n", "4", "--by", by)["counted"][by]
    assert [one["value"] for one in counted["values"]] == [found]


def test_exchanges_are_counted_as_they_are_played() -> None:
    line = ("fate/contest", "--skill", "2", "--vs", "2", "--victories", "1", "--exchanges", "2", "--auto")
    exact = as_json("odds", *line, "--by", "exchanges")
    # one exchange is enough unless it ties: 19 of the 81 results of four Fate dice are 0
    assert {name: one["exact"] for name, one in exact["outcomes"].items()} == {"1": "62/81", "2": "19/81"}
    shown = [as_json("simulate", *line, "--seed", "7", "--show", str(run))["steps"][0] for run in range(12)]
    played = [
        sum(event["event"] == "turn" and event["action"].startswith("exchange ") for event in one["events"])
        for one in shown
    ]
    counted = as_json("simulate", *line, "-n", "12", "--seed", "7", "--by", "exchanges")["counted"]["exchanges"]
    assert {one["value"]: one["count"] for one in counted["values"]} == Counter(played) != {1: 12}


def test_what_rules_in_code_count_can_be_asked_by() -> None:
    found = as_json("odds", "nodice/ford", "--by", "characters.bram.counters.harm")
    assert {name: one["exact"] for name, one in found["outcomes"].items()} == {"3": "1"}


def test_odds_by_a_name_that_nothing_has_are_an_error_or_a_result() -> None:
    line = ("odds", "fate/break-in", "--by")
    misspelt = rpgres(*line, "tags.i-know-a-back-wey")
    assert (misspelt.code, misspelt.out) == (2, "")
    assert misspelt.err == (
        "rpgres: --by tags.i-know-a-back-wey: there is no value at the end; did you mean 'i-know-a-back-way'?\n"
    )
    never = rpgres(*line, "tags.quite-another")
    assert (never.code, never.err, "  Absent " in never.out) == (0, "", True)
    assert rpgres(*line, "tags.i-know-a-back-way.uses").err == ""


def test_a_name_that_nothing_has_at_the_end_of_a_simulation_is_told_with_the_nearest() -> None:
    line = ("simulate", "fate/break-in", "-n", "20", "--by")
    misspelt = rpgres(*line, "tags.i-know-a-back-wey")
    assert misspelt.code == 0
    assert misspelt.err == (
        "rpgres: --by tags.i-know-a-back-wey: there is no value at the end; did you mean 'i-know-a-back-way'?\n"
    )
    assert rpgres(*line, "tags.quite-another").err == (
        "rpgres: --by tags.quite-another: there is no value at the end\n"
    )
    assert rpgres(*line, "tags.i-know-a-back-way.uses").err == ""


def test_what_goes_on_without_end_is_no_matter_of_time(tmp_path: Path) -> None:
    scene = tmp_path / "walk.toml"
    scene.write_text(
        'ruleset = "fate"\n[characters.ida]\nskills = { athletics = 4 }\n'
        '[[steps]]\nrepeat = { until = { walk = ["succeed", "style"] }, at-most = 100 }\n'
        '[[steps.steps]]\nid = "walk"\nactor = "ida"\naction = "overcome"\nwith = { skill = "athletics", vs = 0 }\n'
        '[ends.there]\nwhen = { walk = ["succeed", "style"] }\n[ends.lost]\n'
    )
    told = rpgres("odds", str(scene), "--auto").out
    assert "  remaining: below 1e-30; what may go on without end is not followed further\n" in told  # 1/81 a step
    assert "--seconds" not in told
    compared = rpgres("odds", str(scene), "--auto", "--compare", "steps.walk.with.vs=1").out
    assert "base: remaining: below 1e-30 (what may go on without end; not followed)" in compared


def test_who_decides_is_told_of_those_only_who_are_the_same_in_all_cases(tmp_path: Path) -> None:
    scene = tmp_path / "s.toml"
    step = '[[steps]]\nactor = "mara"\naction = "overcome"\nwith = { skill = 5, vs = 3 }\n'
    scene.write_text(f'ruleset = "fate"\npolicy = "sensible"\n[characters.mara]\npolicy = "preferred"\n{step}', "utf-8")
    for option in ("--vary=policy=sensible,thrifty", "--compare=policy=thrifty"):
        told = rpgres("odds", str(scene), option).out
        assert told.endswith("  decisions of mara: policy preferred\n"), told
    told = rpgres("odds", str(scene), "--vary", "characters.mara.policy=sensible,thrifty").out
    assert told.endswith("  decisions of everybody: policy sensible\n"), told


def test_endings_are_in_the_order_of_the_scene_whatever_counts_them(tmp_path: Path) -> None:
    scene = tmp_path / "s.toml"
    ends = "".join(f'[ends.{name}]\nwhen = {{ a = "{name}" }}\n' for name in ("style", "tie", "succeed", "fail"))
    step = '[[steps]]\nid = "a"\nactor = "mara"\naction = "overcome"\nwith = { skill = 3, vs = 2 }\n'
    head = 'ruleset = "fate"\npolicy = "sensible"\n[characters.mara]\n'
    scene.write_text(f"{head}{step}{ends}", "utf-8")
    names = ["style", "tie", "succeed", "fail"]
    assert list(as_json("odds", str(scene))["outcomes"]) == names
    counted = as_json("simulate", str(scene), "-n", "500", "--seed", "1")["counted"]["ending"]["values"]
    assert [one["value"] for one in counted] == names
    record = odds_scene("fate", "contest", skill=3, vs=2, victories=1, exchanges=1, auto=True)
    sample = Sample(10, {name: estimate(1, 10) for name in reversed(record.outcomes)})
    reports = [scene_report(one, None) for one in (record, msgspec.structs.replace(record, sample=sample))]
    told, sampled = ([row[0] for row in report.tables[0].rows] for report in reports)
    assert told == sampled


def test_numbers_at_the_end_that_hardly_ever_come_share_a_row() -> None:
    record = odds_scene("fate", "contest", skill=3, vs=2, victories=1, exchanges=1, auto=True, by="exchanges")
    for slight, told in ((3, ["1", "2", "3", "4"]), (4, ["1", "2 to 5"])):
        rare = {str(number): chance_record(Fraction(1, 10**number)) for number in range(5, 5 + slight)}
        outcomes = {"1": chance_record(1 - sum(Fraction(one.exact) for one in rare.values()))}
        outcomes |= {str(number): one for number, one in enumerate(rare.values(), 2)}
        report = scene_report(msgspec.structs.replace(record, outcomes=outcomes), None)
        assert [row[0].text for row in report.tables[0].rows] == told
        assert report.tables[0].rows[-1][1].text == "< 0.01 %"
        heads, rows = csv_rows(msgspec.structs.replace(record, outcomes=outcomes))
        assert [row[heads.index("exchanges")] for row in rows] == list(outcomes)


def test_what_several_procedures_count_is_told_to_be_of_the_last(tmp_path: Path) -> None:
    scene = tmp_path / "s.toml"
    step = '[[steps]]\nid = "{}"\nactor = "mara"\nprocedure = "contest"\nwith = { skill = 3, vs = 2, exchanges = 1 }\n'
    head = 'ruleset = "fate"\npolicy = "sensible"\n[characters.mara]\n'
    one, other = (step.replace("{}", name) for name in ("chase", "hunt"))
    told = "  exchanges: of the last of these steps that is played: chase, hunt\n"
    for text, has_note in ((f"{head}{one}", False), (f"{head}{one}{other}", True)):
        scene.write_text(text, "utf-8")
        assert (told in rpgres("odds", str(scene), "--by", "exchanges").out) is has_note
    assert "of the last" not in rpgres("odds", str(scene)).out
