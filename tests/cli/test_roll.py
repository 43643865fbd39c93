"""`rpgres roll`: whole outputs, JSON, repeated runs, dice, and what is kept in commands that go on."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from rpgres.engine.records import Pending, Result
from tests.support.command_line import as_json, complaint, rpgres

OVERCOME = ("roll", "fate", "overcome", "--skill", "3", "--vs", "2")
OVERCOME_OPPOSED = ("roll", "fate", "overcome", "--skill", "3", "--vs", "4dF+2")
FAILING = ("roll", "fate", "overcome", "--skill", "1", "--vs", "3", "--given", "roll=-0-0", "--seed", "7")


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


def test_an_input_called_like_another_name_of_a_common_option_takes_a_value_below_zero(tmp_path: Path) -> None:
    (tmp_path / "two-dice").mkdir()
    (tmp_path / "two-dice" / "ruleset.toml").write_text('[parameters.bonus]\naliases = ["dice"]\n', "utf-8")
    line = ("roll", "two-dice", "risk", "--trait=1", "--seed=1", f"--rulesets={tmp_path}")
    assert rpgres(*line, "--dice", "-2").out == rpgres(*line, "--dice=-2").out == rpgres(*line, "--bonus=-2").out


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


def test_faces_that_are_missing_because_a_die_was_thrown_again() -> None:
    told = complaint("roll", "4d6r1", "--given", "roll=1,2,3,4")
    assert "the 1 is rerolled and is followed by the next face of the same die" in told
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


def test_effects_name_the_opponent_where_there_is_one() -> None:
    line = ("roll", "fate", "attack", "--skill", "3", "--given", "roll=+000", "--auto")
    assert "  * shifts for guard: 2, physical\n" in rpgres(*line, "--vs", "2", "--target", "guard").out
    assert "  * shifts for the opponent: 2, physical\n" in rpgres(*line, "--vs", "2").out
