"""`rpgres roll` and the root: whole outputs, exit codes, errors, and that nothing typed gives a traceback."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres.cli.deferring import DEFERRED
from rpgres.cli.root import COMMANDS
from rpgres.engine.records import Pending, Result
from tests.support.command_line import FIXED, PROGRAM, as_json, completions, in_shell, rpgres
from tests.support.effort import examples

OVERCOME = ("roll", "fate", "overcome", "--skill", "3", "--vs", "2")
OVERCOME_OPPOSED = ("roll", "fate", "overcome", "--skill", "3", "--vs", "4dF+2")
FAILING = ("roll", "fate", "overcome", "--skill", "1", "--vs", "3", "--given", "roll=-0-0", "--seed", "7")


def complaint(*args: str, code: int = 2, **settings: Any) -> str:
    """Return what a faulty command line is told; nothing goes to standard output."""
    ran = rpgres(*args, **settings)
    assert ran.code == code, ran
    assert ran.out == ""
    assert ran.err.startswith("rpgres: ")
    assert "Traceback" not in ran.err
    return ran.err.removeprefix("rpgres: ").removesuffix("\n")


# ---------------------------------------------------------------------------------------------------------------------
# An action


def test_an_action_in_plain_words() -> None:
    ran = rpgres(*OVERCOME, "--given", "roll=+0+-", "--seed", "7")
    assert ran.code == 0
    assert ran.err == ""
    assert ran.out == (
        "Overcome: Succeed\n"
        "  Great (+4) against Fair (+2), margin +2\n"
        "  roll: +0+- = +1\n"
        "  You get what you wanted.\n"
        "  * the goal is reached\n"
        "  seed: 7\n"
    )


def test_what_is_skipped_as_nobody_can_be_asked_is_told_and_can_wait() -> None:
    line = ("roll", "fate", "overcome", "--sheet", "mara", "--skill", "burglary", "--vs", "3", "--given", "roll=-0+-")
    done, pending = rpgres(*line, "--choose", "price=fail", "--seed", "7"), rpgres(*line)
    told = "  skipped for lack of an answer: invoke (--choose invoke=..., or --wait to be asked)"
    assert told == done.out.splitlines()[-1] == pending.out.splitlines()[1]
    assert "skipped" not in rpgres(*line, "--choose", "price=fail", "--choose", "invoke=no").out
    waits = json.loads(rpgres(*line, "--wait", "--json").out)
    assert (waits["question"]["label"], waits["answers"][1:]) == ("invoke", [])
    again = rpgres(*shlex.split(re.sub("invoke=[a-z:-]+", "invoke=no", waits["resume"]))[1:])
    assert (again.code, json.loads(again.out)["question"]["label"]) == (3, "price")


def test_a_decision_that_waits_and_the_command_that_goes_on() -> None:
    ran = rpgres(*FAILING)
    assert ran.code == 3
    resume = "rpgres roll fate overcome --skill 1 --vs 3 --given roll=-0-0 --seed=7 --choose price=fail"
    assert ran.out == (
        "Overcome: waiting\n"
        "  roll: -0-0 = -2\n"
        "  actor chooses (margin -4): Fail, or succeed at a serious cost?\n"
        "    fail: You do not get what you wanted.\n"
        "    cost: You get it, and it costs you dearly.\n"
        "  Answer it with --choose price=..., or go on with:\n"
        f"    {resume}\n"
    )
    assert rpgres(*resume.split()[1:]).out == (
        "Overcome: Fail\n"
        "  Poor (-1) against Good (+3), margin -4\n"
        "  roll: -0-0 = -2\n"
        "  price (actor): fail\n"
        "  You fall short.\n"
        "  You do not get what you wanted.\n"
        "  seed: 7\n"
    )


def test_the_command_that_goes_on_plays_by_the_same_rules(tmp_path: Path) -> None:
    (tmp_path / "fate").mkdir()
    (tmp_path / "fate" / "ruleset.toml").write_text('[bands.fail]\ntitle = "Woe"\n', "utf-8")
    waiting = as_json(*FAILING, "--rulesets", str(tmp_path), "--switch", "invoke_order=actor-then-opponent", code=3)
    words = waiting["resume"].split()
    assert words[:2] == ["rpgres", "roll"]
    assert words[-3:] == ["--rulesets", str(tmp_path), "--json"]
    done = rpgres(*(word for word in words[1:] if word != "--json"))
    assert done.out.startswith("Overcome: Woe\n")
    assert "--switch invoke_order=actor-then-opponent" in waiting["resume"]


def test_json_is_one_object_that_can_be_read_back() -> None:
    found = as_json(*OVERCOME, "--given", "roll=+0+-", "--seed", "7", "--note", "über")
    result = msgspec.convert(found, Result)
    assert (result.outcome, result.success, result.margin, result.total, result.opposition) == (
        "succeed",
        True,
        2,
        4,
        2,
    )
    assert result.seed == "7"
    assert result.note == "über"
    assert found["format"] == "rpgres.result/1"
    assert found["answers"] == [{"label": "roll", "kind": "chance", "value": "+0+-"}]
    waiting = msgspec.convert(as_json(*FAILING, code=3), Pending)
    assert waiting.question.label == "price"
    assert [option.name for option in waiting.question.options] == ["fail", "cost"]


def test_a_seed_gives_the_same_result_again_and_no_seed_another() -> None:
    one, two = (as_json(*OVERCOME, "--auto") for _ in "12")
    assert one["seed"] != two["seed"]
    again = as_json(*OVERCOME, "--auto", "--seed", one["seed"])
    assert again == one


def test_answers_are_taken_from_the_line_in_order() -> None:
    found = as_json(
        *("roll", "fate", "overcome", "--sheet", "mara", "--skill", "fight", "--vs", "3", "--given", "roll=----"),
        *("--given", "roll=++++", "--choose", "invoke=wanted-in-three-ports:reroll", "--choose", "invoke=no"),
    )
    assert [answer["value"] for answer in found["answers"] if answer["kind"] == "chance"] == ["----", "++++"]
    assert (found["total"], found["outcome"]) == (5, "succeed")


def test_a_policy_for_one_seat_leaves_the_others_undecided() -> None:
    waiting = as_json(*FAILING[:-2], "--policy", "actor=uniform", "--seed", "9", "--choose", "price=cost", code=0)
    assert waiting["answers"][1] == {"label": "price", "kind": "decision", "value": "cost"}
    assert as_json(*FAILING, "--policy", "gm=sensible", code=3)["question"]["who"] == "actor"
    assert as_json(*FAILING, "--policy", "thrifty")["outcome"] == "fail"
    assert as_json(*FAILING, "--auto")["outcome"] == "fail"


@pytest.mark.slow
def test_exit_codes_tell_outcomes_apart_when_asked() -> None:
    def code(faces: str, *more: str) -> int:
        return rpgres(*OVERCOME, "--given", f"roll={faces}", "--auto", *more).code

    assert [code(faces, "--exit-code") for faces in ("0000", "-000", "----")] == [0, 11, 10]
    assert [code(faces) for faces in ("0000", "-000", "----")] == [0, 0, 0]
    assert rpgres("roll", "fate", "oppose", "--skill", "1", "--exit-code").code == 0


def test_a_tie_has_the_exit_code_that_its_ruleset_gives_it() -> None:
    """In Faith a tie fails, in Saga it succeeds; only one that is neither has a code of its own."""
    level = "--skill", "0", "--attribute", "0", "--against", "guard:skill=0,attribute=0", "--seed", "7"
    tied = rpgres("roll", "faith", "confront", *level, "--auto", "--exit-code")
    reached = ("roll", "saga", "act", "--ability", "8", "--vs", "13", "--hand", "Ag5", "--seed", "7", "--exit-code")
    assert (tied.code, rpgres(*reached).code) == (10, 0)
    told = " ".join(rpgres("roll", "faith", "confront", "--help").out.split())
    assert "Exit with 10 on a failure (including a tie that fails) and with 11 on any other tie." in told


def test_a_choice_without_use_is_reported_and_no_error() -> None:
    found = as_json(*OVERCOME, "--given", "roll=+0+-", "--choose", "price=fail")
    assert found["unused"] == [{"label": "price", "kind": "decision", "value": "fail"}]
    ran = rpgres(*OVERCOME, "--given", "roll=+0+-", "--choose", "price=fail")
    assert "  not used: --choose price=fail\n" in ran.out


def test_a_house_rule_of_the_line() -> None:
    args = ("roll", "fate", "create-advantage", "--skill", "0", "--vs", "2", "--given", "roll=----")
    assert as_json(*args, code=3)["question"]["who"] == "gm"
    assert as_json(*args, "--switch", "fail_chooser=actor", code=3)["question"]["who"] == "actor"


def test_another_name_of_an_option_and_options_in_front() -> None:
    want = as_json(*OVERCOME, "--seed", "7")
    assert as_json("roll", "fate", "overcome", "--ability", "3", "--vs", "2", "--seed", "7") == want
    assert as_json("roll", "--seed", "7", "fate", "--note=x", "overcome", "--skill", "3", "--vs", "2") == {
        **want,
        "note": "x",
    }


def test_an_action_that_waits_for_its_effects_shows_them_in_words() -> None:
    ran = rpgres("roll", "fate", "create-advantage", "--skill", "3", "--vs", "2", "--name", "Roofs", "--seed", "8")
    assert ran.out == (
        "Create advantage (new): Succeed with style\n"
        "  Superb (+5) against Fair (+2), margin +3\n"
        "  roll: 0++0 = +2\n"
        "  The aspect comes about, with two free invocations for you.\n"
        "  * aspect created: Roofs\n"
        "  * free invocations of Roofs for the actor: 2\n"
        "  seed: 8\n"
    )


# ---------------------------------------------------------------------------------------------------------------------
# Many times


def test_repeated_runs_a_line_each_and_a_summary() -> None:
    ran = rpgres("roll", "fate", "overcome", "--skill", "3", "--vs", "4dF+2", "--seed", "3", "--repeat", "5", "--auto")
    summary = (
        "Overcome: a sample of 5 runs (fate; skill 3, vs 4dF+2)\n"
        "  Fail                2  40.0 %\n"
        "  Tie                 1  20.0 %\n"
        "  Succeed             1  20.0 %\n"
        "  Succeed with style  1  20.0 %\n"
        "  totals\n"
        "  0  1  20.0 %\n"
        "  1  1  20.0 %\n"
        "  2  1  20.0 %\n"
        "  3  0   0.0 %\n"
        "  4  1  20.0 %\n"
        "  5  1  20.0 %\n"
        "  mean 2.40, lowest 0, highest 5\n"
        "  seed: 3; run 3 alone: --seed 3#2\n"
    )
    assert ran == (0, summary, "")
    each = rpgres(*OVERCOME_OPPOSED, "--seed", "3", "--repeat", "5", "--auto", "--each-run")
    assert (
        each.out
        == (
            "   1  Fail                -1  ---0 0-+-\n"
            "   2  Tie                 +0  0--+ 0-0+\n"
            "   3  Succeed with style  +4  +00+ 0-+-\n"
            "   4  Fail                -2  +--- 00+0\n"
            "   5  Succeed             +2  +0-+ -+00\n"
        )
        + summary
    )
    assert "--each-run shows the runs of --repeat N" in complaint(*OVERCOME_OPPOSED, "--each-run")


def test_the_fresh_seed_of_repeated_runs_is_shown_and_gives_each_again() -> None:
    lines = rpgres("roll", "4d6", "--repeat", "4", "--each-run").out.splitlines()
    seed = lines[-1].rpartition(" ")[2]
    assert lines[-1] == f"  seed: {seed.removesuffix('#2')}; run 3 alone: --seed {seed}"
    assert rpgres("roll", "4d6", "--seed", seed).out.splitlines()[0] == lines[2].split()[1]


def test_repeated_runs_as_json_lines_can_each_be_had_again() -> None:
    ran = rpgres(*OVERCOME, "--auto", "--seed", "3", "--repeat", "20", "--json")
    results = [json.loads(line) for line in ran.out.splitlines()]
    assert [result["seed"] for result in results] == [f"3#{number}" for number in range(20)]
    assert as_json(*OVERCOME, "--auto", "--seed", "3#13") == results[13]
    assert len({result["answers"][0]["value"] for result in results}) > 8


def test_repeated_runs_that_wait_are_counted_and_exit_so() -> None:
    ran = rpgres("roll", "fate", "overcome", "--skill", "0", "--vs", "8", "--seed", "1", "--repeat", "2")
    assert ran.code == 3
    assert ran.out == (
        "Overcome: a sample of 2 runs (fate; skill 0, vs 8)\n  Waiting  2  100.0 %\n"
        "  waiting for price (actor); --choose or --auto answers\n"
        "  seed: 1; run 2 alone: --seed 1#1\n"
    )


# ---------------------------------------------------------------------------------------------------------------------
# Dice


def test_dice_in_plain_words() -> None:
    assert rpgres("roll", "4d6kh3+2d8", "--given", "roll=6,5,4,1;7,8", "--seed", "1", "--note", "x") == (
        0,
        "30\n  4d6kh3+2d8: 6,5,4,1 ; 7,8\n  note: x\n  seed: 1\n",
        "",
    )
    assert rpgres("roll", "7", "--seed", "1").out == "7\n  seed: 1\n"


def test_dice_as_json_have_the_fields_of_every_result() -> None:
    found = as_json("roll", "4dF+3", "--given", "roll=+0-+", "--seed", "7")
    result = msgspec.convert(found, Result)
    assert result.total == 4
    assert (result.ruleset, result.action, result.actor, result.outcome, result.success) == (None,) * 5
    assert result.inputs == {"notation": "4dF+3"}
    assert set(found) == set(as_json(*OVERCOME, "--auto"))


@pytest.mark.parametrize(
    "line", ["-2+d6", "-- -2+d6", "--seed 7 -2+d6", "--seed 7 -- -2+d6", "-2 + d6 --seed 7", "-d6"]
)
def test_an_expression_may_begin_with_a_minus(line: str) -> None:
    ran = rpgres("roll", *line.split())
    assert ran.code == 0, ran.err
    assert ("-2+d6: " in ran.out) == ("2" in line)
    assert ("seed: 7" in ran.out) == ("--seed" in line)


def test_an_expression_from_standard_input() -> None:
    assert rpgres("roll", "-", "--seed", "1", stdin="4d6 kh 3\n").out.splitlines()[1].startswith("  4d6kh3: ")
    assert "one line" in complaint("roll", "-", stdin="d6\nd8\n")
    assert "UTF-8" in complaint("roll", "-", stdin=b"\xff", code=1)


def test_dice_many_times() -> None:
    ran = rpgres("roll", "4d6", "kh", "3", "--seed", "3", "--repeat", "3", "--each-run")
    assert ran.out == (
        "   1     4  1,1,1,2\n   2     9  2,2,4,3\n   3    13  2,3,4,6\n4d6kh3: a sample of 3 runs\n"
        "   4  1  33.3 %\n   5  0   0.0 %\n   6  0   0.0 %\n   7  0   0.0 %\n   8  0   0.0 %\n"
        "   9  1  33.3 %\n  10  0   0.0 %\n  11  0   0.0 %\n  12  0   0.0 %\n  13  1  33.3 %\n"
        "  mean 8.67, lowest 4, highest 13\n"
        "  seed: 3; run 3 alone: --seed 3#2\n"
    )
    many = rpgres("roll", "d6", "--seed", "a", "--repeat", "600", "--json").out.splitlines()
    seen = Counter(json.loads(line)["total"] for line in many)
    assert set(seen) == {1, 2, 3, 4, 5, 6}
    assert sum((count - 100) ** 2 / 100 for count in seen.values()) < 25  # chi-square, 5 degrees: 1 in 7000


def test_a_fault_in_an_expression_is_pointed_at() -> None:
    assert complaint("roll", "4d6d1").splitlines()[1:] == ["  4d6d1", "     ^"]
    long = "d6+" * 40 + "4d6k3" + "+d6" * 40
    text, caret = complaint("roll", long).splitlines()[1:]
    assert text.startswith("  ...")
    assert text.endswith("...")
    assert text[caret.index("^")] == "k"
    assert "more than 1000 dice in one expression" in complaint("roll", "999999d999999")


def test_dice_in_the_place_of_a_command() -> None:
    assert "`rpgres roll 4d6`" in complaint("4d6")


# ---------------------------------------------------------------------------------------------------------------------
# What is wrong


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ("rol", "did you mean 'roll'?"),
        ("roll", "name what to roll"),
        ("roll fat overcome", "did you mean 'fate'?"),
        ("roll fate", "name an action of fate: overcome, discover"),
        ("roll fate overcom", "did you mean 'overcome'?"),
        ("roll fate overcome --vs 2", "fate overcome needs --skill"),
        ("roll fate overcome --skil 3", "did you mean '--skill'?"),
        ("roll fate overcome --skill", "'--skill' requires an argument"),
        ("roll fate overcome --json=1 --skill 3 --vs 2", "'--json' does not take a value"),
        ("roll fate overcome --skill 3 --vs 2 more", "unknown word 'more'"),
        ("roll fate overcome --skill fihgt --vs 2", "--skill 'fihgt' is not a whole number"),
        ("roll fate overcome --sheet mara --skill fihgt --vs 2", "did you mean 'fight'?"),
        ("roll fate overcome --skill 3 --vs 4dX", "4dX\n    ^"),
        ("roll fate overcome --skill 3 --vs 2 --given roll=+++", "four Fate dice expected"),
        ("roll fate overcome --skill 3 --vs 2 --given rol=0000", "did you mean 'roll'?"),
        ("roll fate overcome --skill 3 --vs 2 --given roll=0000 --given roll=0000", "was not used"),
        ("roll fate overcome --skill 3 --vs 2 --given roll", "--given takes NAME=VALUE"),
        ("roll fate overcome --skill 3 --vs 9 --seed 1 --choose price=cots", "did you mean 'cost'?"),
        ("roll fate overcome --skill 3 --vs 2 --choose prize=fail", "did you mean 'price'?"),
        ("roll fate overcome --skill 3 --vs 2 --switch fail_choser=gm", "did you mean 'fail_chooser'?"),
        ("roll fate overcome --skill 3 --vs 2 --switch fail_chooser=me", "can be gm, actor; not 'me'"),
        ("roll fate overcome --skill 3 --vs 2 --switch opposers=one --switch opposers=highest", "both one and highest"),
        ("roll fate overcome --skill 3 --vs 2 --policy nice", "it has: uniform, preferred, sensible, thrifty"),
        ("roll fate overcome --skill 3 --vs 2 --policy bob=thrifty", "no character 'bob'"),
        ("roll fate overcome --skill 3 --vs 2 --repeat 0", "--repeat takes a whole number from 1 on"),
        ("roll fate overcome --skill 3 --vs 2 --repeat x", "--repeat takes a whole number from 1 on"),
        ("roll fate overcome --skill 3 --vs 2 --repeat 2 --exit-code", "--exit-code and --repeat exclude each other"),
        ("roll fate overcome --skill 3 --vs 2 --rulesets nowhere", "there is no such folder"),
        (f"roll fate overcome --skill 3 --vs 2 --rulesets {__file__}", "this is a file; name its folder"),
        ("roll fate overcome --skill 3 --vs 2 --seed rp9:x", "generator rp9"),
        ("roll 4d6 --given dice=1,2,3,4", "one label, 'roll'"),
        ("roll 4d6 --given roll=1,2,3,4 --given roll=1", "was not used"),
        ("roll --skill 3 fate overcome", "follow its name"),
    ],
)
def test_what_is_wrong_is_told_in_one_paragraph(args: str, told: str) -> None:
    words = args.split()
    message = complaint(*words)
    assert told in message
    ran = rpgres(words[0], "--json", *words[1:])
    record = json.loads(ran.err)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert (record["format"], record["exit"]) == ("rpgres.error/1", 2)
    assert message.startswith(record["message"])


def test_a_file_that_is_wrong_exits_with_1(tmp_path: Path) -> None:
    sheet = tmp_path / "mara.toml"
    sheet.write_text('name = "Mara"\n\n[skills]\nfihgt = 3\nwill = "much"\n', "utf-8")
    told = complaint(*OVERCOME, "--sheet", str(sheet), code=1)
    assert f"{sheet}:4" in told
    assert f"{sheet}:5" in told
    assert "`fight`" in told or "'fight'" in told
    assert complaint(*OVERCOME, "--sheet", "nobody", code=1)


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in complaint("roll", "4d6\x1b[31m")
    assert "\x1b" not in complaint("roll", "fate", "over\x1b[31mcome")


@pytest.mark.parametrize(
    ("line", "twice"),
    [
        ("roll fate overcome --skill 3 --skill 4 --vs 2", "--skill"),
        ("roll --seed 1 4dF --seed=1", "--seed"),
        ("odds fate overcome --skill 3 --vs 2 --by margin --by total", "--by"),
        ("table new --ruleset fate --ruleset saga", "--ruleset"),
        ("sheet show mara --ruleset fate --ruleset saga", "--ruleset"),
        ("batch --seconds 1 --seconds 2", "--seconds"),
    ],
)
def test_an_option_of_one_value_is_not_typed_twice(line: str, twice: str) -> None:
    assert complaint(*line.split()) == f"{twice} is given twice, and takes one value"


def test_flags_and_repeated_options_may_be_typed_twice() -> None:
    ran = rpgres(*OVERCOME, "--auto", "--auto", "--choose", "invoke=no", "--choose", "invoke=no", "--vs", "3")
    assert ran.err == ""


def test_text_that_is_none_is_refused() -> None:
    assert "argument 2" in complaint("roll", "\udcff")


def test_a_fault_of_rpgres_itself_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_more: object) -> None:
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr("rpgres.cli.commands.roll.prepare", broken)
    told = complaint(*OVERCOME, code=1)
    assert told == "internal error: ZeroDivisionError: by hand; run it again with --debug for the traceback"
    ran = rpgres(*OVERCOME, "--debug")
    assert ran.code == 1
    assert "Traceback" in ran.err
    assert "in broken" in ran.err
    assert json.loads(rpgres(*OVERCOME, "--json").err)["code"] == "internal"


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rpgres.cli.commands.roll.prepare", interrupted)
    ran = rpgres(*OVERCOME)
    assert (ran.code, ran.out, ran.err) == (130, "", "")


# ---------------------------------------------------------------------------------------------------------------------
# Help


def test_the_bare_program_says_what_can_be_typed() -> None:
    ran = rpgres()
    assert ran.code == 0
    assert ran.err == ""
    for line in ("rpgres roll 4dF+3", "rpgres roll fate overcome --skill 3 --vs fair", "rpgres odds fate attack"):
        assert line in ran.out


def test_every_line_of_the_overview_works() -> None:
    lines = [line.strip().split("  ")[0] for line in rpgres().out.splitlines() if line.startswith("  rpgres")]
    assert len(lines) == 6
    for line in lines:
        assert rpgres(*line.split()[1:]).code in (0, 3), line


def test_version() -> None:
    from rpgres import __version__

    assert rpgres("--version") == (0, f"rpgres {__version__}\n", "")


def test_the_list_of_commands() -> None:
    out = rpgres("--help").out
    for name, text in COMMANDS.items():
        assert any(line.split()[:2] == [name, text.split()[0]] for line in out.splitlines()), name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_explains_itself(name: str) -> None:
    ran = rpgres(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: rpgres {name} ")


def test_help_of_a_ruleset_lists_its_actions() -> None:
    out = rpgres("roll", "fate", "--help").out
    assert "Actions:\n  overcome          Get past an obstacle, or change something for good.\n" in out


def test_help_of_an_action_explains_all_of_it() -> None:
    out = " ".join(rpgres("roll", "fate", "attack", "--help").out.split())
    for text in (
        "Usage: rpgres roll fate attack [OPTIONS]",
        "--skill, --ability NAME|NAME=N|N The skill to roll",
        "--track physical|mental Which stress the harm goes to: physical (wounds and exhaustion)",
        "[default: physical]",
        "--sheet FILE",
        "--switch NAME=CHOICE",
        "hit [decision] The full hit, or one shift less and a boost? (full, boost; actor)",
        "passive_defender_boost whether a target that does not roll still gains the boost",
        "Example: rpgres roll fate attack --skill 4 --vs 4dF+2",
    ):
        assert text in out


def test_a_house_rule_changes_help_and_line(tmp_path: Path) -> None:
    (tmp_path / "fate").mkdir()
    (tmp_path / "fate" / "ruleset.toml").write_text(
        '[actions.pray]\nsummary = "Ask for help."\nparameters = ["bonus"]\n', "utf-8"
    )
    listed = "  pray              Ask for help.\n"
    assert listed in rpgres("roll", "fate", "--rulesets", str(tmp_path), "--help").out
    assert listed in rpgres("roll", "--rulesets", str(tmp_path), "fate", "--help").out
    assert listed in rpgres("roll", "fate", "--help", RPGRES_RULESETS=str(tmp_path)).out
    assert "--bonus" in rpgres("roll", "fate", "pray", "--rulesets", str(tmp_path), "--help").out
    assert "no action 'pray'" in complaint("roll", "fate", "pray")


# ---------------------------------------------------------------------------------------------------------------------
# Rulesets of others

COIN = {
    "rpgres_coin/__init__.py": """
from pathlib import Path
from rpgres import Outcome, Ruleset, hookimpl

coin = Ruleset("coin", data=Path(__file__).parent)

@coin.action("toss")
def toss(table, actor, needs):
    total = table.roll(table.rules.dice, by=actor.name)
    return table.settle("toss", total - needs, total=total, opposition=needs, roles={"actor": actor.name})

@hookimpl
def rpgres_rulesets():
    yield coin
""",
    "rpgres_coin/ruleset.toml": """
title = "Coin"
summary = "One coin."
version = "1"
dice = "1d2"
[bands]
lose = { title = "Lose", to = -1, success = false }
win = { title = "Win", from = 0, success = true }
[actions.toss]
summary = "Toss the coin."
parameters = ["needs"]
labels = ["roll"]
tables = ["toss"]
[parameters.needs]
kind = "integer"
default = 2
help = "what the coin has to show"
[labels.roll]
kind = "chance"
help = "the coin"
[outcomes.toss.lose]
text = "Tails."
[outcomes.toss.win]
text = "Heads."
""",
    "rpgres_coin-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: rpgres-coin\nVersion: 1.0\n",
    "rpgres_coin-1.0.dist-info/entry_points.txt": "[rpgres]\ncoin = rpgres_coin\nhole = rpgres_hole\n",
}


@pytest.fixture
def _coin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in COIN.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("_coin")
def test_a_third_partys_ruleset_is_played_like_any_other() -> None:
    assert rpgres("roll", "coin", "toss", "--given", "roll=2", "--seed", "1").out == (
        "Toss: Win\n  2 against 2, margin +0\n  roll: 2 = 2\n  Heads.\n  seed: 1\n"
    )
    assert exact(as_json("odds", "coin", "toss")) == {"lose": "1/2", "win": "1/2"}
    assert re.search(r"^  coin +Coin$", rpgres("roll", "--help").out, re.MULTILINE)
    assert "toss  Toss the coin." in rpgres("roll", "coin", "--help").out
    assert "--needs N" in rpgres("odds", "coin", "toss", "--help").out
    assert "did you mean 'coin'?" in complaint("roll", "coi")


def exact(found: Any) -> dict[str, str]:
    """Return the exact chances of an odds object."""
    return {name: chance["exact"] for name, chance in found["outcomes"].items()}


@pytest.mark.usefixtures("_coin")
def test_a_broken_plugin_is_named_and_harms_nothing_else() -> None:
    told = complaint("roll", "hole", "dig", code=1)
    assert "rpgres-coin 1.0" in told
    assert rpgres(*OVERCOME, "--auto").code == 0


# ---------------------------------------------------------------------------------------------------------------------
# Completion, and Typer as it is relied on


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("rpgres od", ["odds"]),
        ("rpgres roll fa", ["fate", "faith"]),
        ("rpgres roll fate over", ["overcome"]),
        ("rpgres roll fate overcome --sk", ["--skill"]),
        ("rpgres roll fate overcome --skill re", ["resources"]),
        ("rpgres roll fate overcome --sheet mara --skill re", ["resources"]),
        ("rpgres roll fate overcome --sheet mara --skill l", []),
        ("rpgres roll fate overcome --vs f", ["fantastic", "fair"]),
        ("rpgres roll fate overcome --given ", ["roll=", "opposition="]),
        ("rpgres roll fate overcome --choose price=", ["price=fail", "price=cost"]),
        ("rpgres roll fate overcome --switch fail", ["fail_chooser=gm", "fail_chooser=actor"]),
        ("rpgres roll fate overcome --policy ", ["sensible", "thrifty", "preferred", "uniform"]),
        ("rpgres roll fate overcome --sheet m", ["mara"]),
        ("rpgres odds fate attack --track ", ["physical", "mental"]),
        ("rpgres roll nothing --", ["--help"]),
    ],
)
def test_completion(line: str, offered: list[str]) -> None:
    assert completions(line) == offered


def test_lazy_groups_rest_on_what_typer_has() -> None:
    """Typer documents `cls` but not what a group may override; this is what `LazyGroup` needs of it."""
    import typer
    import typer.core
    import typer.main

    class Lazy(typer.core.TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return ["made"]

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            assert ctx.resilient_parsing is False
            option = typer.core.TyperOption(param_decls=["many", "--many", "-m"], type=str, multiple=True)
            made = typer.core.TyperCommand(args[0], params=[option], callback=lambda many: found.append(many))
            return args[0], made, args[1:]

    found: list[Any] = []
    group = typer.main.get_group(typer.Typer(cls=Lazy, add_completion=False))
    group.main(["made", "--many", "1", "-m", "2"], standalone_mode=False)
    assert [list(many) for many in found] == [["1", "2"]]
    with pytest.raises(Exception, match="bogus") as caught:
        group.main(["made", "--bogus"], standalone_mode=False)
    assert caught.value.option_name == "--bogus"  # type: ignore[attr-defined]
    assert callable(caught.value.format_message)  # type: ignore[attr-defined]


# ---------------------------------------------------------------------------------------------------------------------
# As a process


def modules_of(*args: str) -> set[str]:
    """Return the modules that a command line loads, in a process of its own, without those that are still deferred."""
    code = (
        "import sys\n"
        "sys.modules.pop('linecache', None)\n"  # which Python 3.13 loads for a program on its command line
        "import rpgres.cli\n"
        f"sys.argv = ['rpgres', *{args!r}]\n"
        "try: rpgres.cli.main()\n"
        "finally: sys.stderr.write(' '.join(n for n, m in sys.modules.items() if type(m).__name__ != '_Deferred'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **FIXED}, check=True
    )
    return set(done.stderr.split())


def test_a_start_loads_nothing_it_does_not_need() -> None:
    loaded = modules_of(*OVERCOME, "--auto")
    assert "rpgres_fate" in loaded
    unwanted = {
        "hashlib",
        "sqlite3",
        "rich",
        "pydantic",
        "importlib.metadata",
        "fractions",
        "dataclasses",
        "tomllib",
        "shlex",
        "random",
        "signal",
    }
    unwanted |= {
        "rpgres.odds.exact",
        "rpgres.scenes",
        "rpgres.journal",
        "rpgres.engine.cards",
        "rpgres.engine.contract",
        "rpgres.engine.forms",
        "rpgres.engine.labels",
        "rpgres.engine.waiting",
        "rpgres.rulesets.sheets",
        "rpgres.engine.resolve",
        "rpgres.toml.faults",
        "rpgres.toml.places",
        "rpgres.cli.completion",
        "rpgres.cli.shell",
        "rpgres.dice.distributions",
        "rpgres.engine.procedures",
        "rpgres.kits.aspects.described",
        "rpgres.kits.aspects.invoking",
        "rpgres.model.cards",
        "rpgres.parameters.form",
        "rpgres.parameters.table_items",
    }
    unwanted |= DEFERRED
    unwanted |= {f"rpgres.cli.commands.{name}" for name in COMMANDS if name != "roll"}
    assert unwanted & loaded == set()


def test_odds_of_an_action_load_nothing_that_is_about_scenes_or_several_cases() -> None:
    loaded = modules_of("odds", *OVERCOME[1:])
    assert "rpgres.odds.exact" in loaded
    about = ("trees", "watching", "scenes", "scene_best", "courses", "comparison", "grids", "knockout")
    assert {f"rpgres.odds.{name}" for name in about} & loaded == set()


@pytest.mark.slow
def test_help_imports_no_plugin() -> None:
    assert "rpgres_fate" not in modules_of("roll", "fate", "overcome", "--help")
    assert "rpgres.rulesets" not in modules_of("--version")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pipes close otherwise there")
@pytest.mark.parametrize("args", [("roll", "d6", "--repeat", "20000"), ("--help",), ("odds", "999d6"), ("roll", "d6")])
def test_a_reader_that_goes_away_is_no_error(args: tuple[str, ...]) -> None:
    with subprocess.Popen(
        [*PROGRAM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **FIXED}
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(20) == 0


@pytest.mark.slow
def test_an_encoding_without_the_characters_gets_ascii() -> None:
    environment = {**os.environ, **FIXED, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*PROGRAM, "roll", "d6", "--seed", "1", "--note", "Mára – “yes”"],
        capture_output=True,
        env=environment,
        check=True,
    )
    assert b'note: Mara - "yes"' in done.stdout
    done = subprocess.run(
        [*PROGRAM, "roll", "d6", "--json", "--note", "Mára"], capture_output=True, env=environment, check=True
    )
    assert json.loads(done.stdout.decode("utf-8"))["note"] == "Mára"


# ---------------------------------------------------------------------------------------------------------------------
# Whatever is typed

WORDS = [
    *("roll", "odds", "fate", "overcome", "attack", "discover", "defend", "oppose", "compel", "concede"),
    *("create-advantage", "4dF", "4d6kh3", "-2+d6", "(", "999999d999999", "d6!", "--", "-", "--help", "--version"),
    *("--skill", "3", "fight", "fight=2", "--vs", "fair", "4dF+2", "none", "guards:fight", "mara:", "--sheet", "mara"),
    *("guards", "--given", "roll=++0-", "roll=", "=", "opposition=0000", "--choose", "price=cost", "hit=full"),
    *("--switch", "opposers=one", "opposers", "--policy", "uniform", "gm=thrifty", "--auto", "--json", "--plain"),
    *("--repeat", "2", "--note", "x", "--seed", "7", "--exit-code", "--leaves", "--seconds", "0.1", "--variant"),
    *("establish", "--against", "advantage", "--name", "--on", "opponent", "--aspect", "Fog=1", "--fate-points"),
    *("--bonus", "-1", "--stunt", "--helper", "--full-defense", "--rulesets", ".", "--debugger", "--track", "mental"),
]


@pytest.mark.slow
@settings(max_examples=examples(250), deadline=None)
@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), max_size=9))
def test_nothing_typed_gives_a_traceback(words: list[str]) -> None:
    ran = rpgres(*words, stdin="")
    assert ran.code in (0, 1, 2, 3, 10, 11), (words, ran)
    assert "Traceback" not in ran.err
    assert "internal error" not in ran.err
    assert bool(ran.err) == (ran.code in (1, 2))


@pytest.mark.slow
@settings(max_examples=examples(250), deadline=None)
@given(
    st.sampled_from(["overcome", "attack", "discover", "defend", "oppose", "create-advantage", "compel", "concede"]),
    st.sampled_from(["roll", "odds"]),
    st.lists(st.sampled_from(WORDS[21:]), max_size=8),
)
def test_no_action_gives_a_traceback(action: str, verb: str, words: list[str]) -> None:
    ran = rpgres(verb, "fate", action, "--skill", "1", "--vs", "2", *words, "--json", stdin="")
    assert ran.code in (0, 1, 2, 3, 10, 11), (words, ran)
    assert "internal error" not in ran.err
    if ran.code in (1, 2):
        assert json.loads(ran.err)["format"] == "rpgres.error/1"


# ---------------------------------------------------------------------------------------------------------------------
# What else a user ran into


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
@pytest.mark.parametrize("line", ["roll d6", "--help", "roll d6 --json", "odds 4d6", "completions bash", "--version"])
def test_an_output_that_cannot_be_written_is_told_in_a_line(line: str) -> None:
    closed = in_shell(f"rpgres {line} >&-")
    full = in_shell(f"rpgres {line} >/dev/full") if os.path.exists("/dev/full") else closed
    for done in (closed, full):
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "cannot write to standard output" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
def test_errors_with_nobody_to_tell_keep_their_code() -> None:
    assert in_shell("rpgres roll 4d6x 2>&-").returncode == 2
    assert in_shell("rpgres batch <&-").stderr == "rpgres: -: cannot be read: there is no standard input\n"


def test_the_command_that_resumes_keeps_exit_code() -> None:
    ran = rpgres("roll", "fate", "overcome", "--skill", "0", "--vs", "8", "--seed", "1", "--exit-code")
    assert ran.code == 3
    resume = ran.out.splitlines()[-1].strip()
    assert resume.endswith(" --exit-code")
    assert rpgres(*shlex.split(resume)[1:]).code == 10


def test_a_sheet_from_standard_input() -> None:
    sheet = 'name = "Mara Quill"\n[skills]\nfight = 3\n'
    args = ("fate", "overcome", "--sheet", "-", "--skill", "fight")
    ran = rpgres("roll", *args, "--vs", "2", "--given", "roll=0000", "--json", stdin=sheet)
    result = json.loads(ran.out)
    assert (result["actor"], result["total"]) == ("character", 3)
    ladder = json.loads(rpgres("odds", *args, "--json", stdin=sheet).out)
    assert ladder == {**json.loads(rpgres("odds", *args[:2], "--skill", "3", "--json").out), "inputs": ladder["inputs"]}


def test_house_rules_in_force_are_named(tmp_path: Path) -> None:
    (tmp_path / "fate").mkdir()
    (tmp_path / "fate" / "ruleset.toml").write_text('[bands.succeed]\ntitle = "Yes"\n', "utf-8")
    given = ("--given", "roll=0000", "--seed", "7")
    assert "house rules" not in rpgres(*OVERCOME, *given).out
    ran = rpgres(*OVERCOME, *given, "--switch", "opposers=one", "--rulesets", str(tmp_path))
    assert f"  house rules: {tmp_path / 'fate'}, opposers=one\n  seed: 7\n" in ran.out


def test_odds_do_not_require_what_they_work_out_themselves() -> None:
    def words(verb: str) -> str:
        return " ".join(rpgres(verb, "fate", "overcome", "--help").out.split())

    assert "several opposers [omitted: the odds at every rung of the ladder]" in words("odds")
    assert "several opposers [required]" in words("roll")


@pytest.mark.parametrize("seed", ["", "  ", "rp1:", "#3", "a\nb", "\x1b[2J", "x" * 1001])
@pytest.mark.parametrize("args", [("d6",), ("fate", "overcome", "--skill", "3", "--vs", "2")])
def test_a_seed_that_is_none_is_refused(args: tuple[str, ...], seed: str) -> None:
    assert "seed" in complaint("roll", *args, f"--seed={seed}")


def test_a_fault_never_has_a_negative_length() -> None:
    ran = rpgres("odds", "2d", "--json")
    assert json.loads(ran.err)["details"]["length"] == 1


def test_faces_that_are_missing_because_a_die_was_thrown_again() -> None:
    told = complaint("roll", "4d6r1", "--given", "roll=1,2,3,4")
    assert "the 1 is rerolled, so the next face is the new one of the same die" in told
    assert "the 6 explodes" in complaint("roll", "2d6!", "--given", "roll=6,3")


def test_a_terminal_is_told_what_nobody_without_a_sheet_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    line = ("roll", "action-and-challenge", "check", "--seed=3", "--auto")
    told = "without --sheet, questions about momentum are skipped"
    assert told not in rpgres(*line).out
    monkeypatch.setattr("rpgres.cli.output.is_terminal", lambda: True)
    assert told in rpgres(*line).out
    assert "skipped" not in rpgres(*line, "--momentum=3").out
    assert "skipped" not in rpgres(*line, "--sheet=asta").out
    assert "skipped" not in rpgres("roll", "twenty-under", "check", "--skill=10").out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--skill --vs 2", "--skill needs a value, and --vs is an option"),
        ("--skill 3 --vs 2 --seed --auto", "--seed needs a value, and --auto is an option"),
        ("--skill 3 --vs --seed=7", "--vs needs a value, and --seed=7 is an option"),
    ],
)
def test_an_option_is_no_value_of_another_one(line: str, told: str) -> None:
    done = rpgres("roll", "fate", "overcome", *line.split())
    assert (done.code, done.out, done.err) == (2, "", f"rpgres: {told}\n")
    assert rpgres(*OVERCOME, "--seed=--auto", "--note", "--so", "--auto").code == 0


def test_help_has_every_question_of_a_label() -> None:
    text = " ".join(rpgres("help", "fate", "overcome").out.split())
    assert "cost [decision] What does it cost, dearly? (problem, opposition, consequence, advantage; " in text
    assert " Or: What does it cost, in a small way? (detail, stress, boost, aspect; the game master)" in text


def test_effects_name_the_opponent_where_there_is_one() -> None:
    line = ("roll", "fate", "attack", "--skill", "3", "--given", "roll=+000", "--auto")
    assert "  * shifts for guard: 2, physical\n" in rpgres(*line, "--vs", "2", "--target", "guard").out
    assert "  * shifts for the opponent: 2, physical\n" in rpgres(*line, "--vs", "2").out
