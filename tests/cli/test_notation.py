"""Notation people type, from the command line to text, JSON, schemas and odds."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import icepool
import pytest

from tests.formats.test_schemas import faults
from tests.support.command_line import rpgres


def told(*args: str) -> str:
    ran = rpgres(*args)
    assert ran.code == 0, ran.err
    return str(ran.out)


def as_json(*args: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(*args, "--json"))
    return found


def complaint(*args: str) -> str:
    ran = rpgres(*args)
    assert (ran.code, ran.out) == (2, "")
    return str(ran.err)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("d20+5 --vs 15 --given roll=13", "18, success: 3 over 15\n  d20+5: 13\n"),
        ("d20+5 --vs 15 --given roll=10", "15, success: exactly 15\n  d20+5: 10\n"),
        ("d20+5 --vs 15 --given roll=1", "6, failure: 9 under 15\n  d20+5: 1\n"),
        ("d20+5 --vs >15 --given roll=10", "15, failure: exactly 15\n  d20+5: 10\n"),
        ("d100 --vs <=45 --given roll=45", "45, success: exactly 45\n  d100: 45\n"),
        ("d% vs <=45 --given roll=46", "46, failure: 1 over 45\n  d100: 46\n"),
        ("d% vs <45 --given roll=45", "45, failure: exactly 45\n  d100: 45\n"),
        ("d20 --vs -2 --given roll=1", "1, success: 3 over -2\n  d20: 1\n"),
        (
            "d20+5 vs d20+3 --given roll=10 --given opposition=13",
            "15, failure: 1 under 16\n  d20+5: 10\n  d20+3: 13\n",
        ),
        ("adv --given roll=3,17", "17\n  2d20kh1: 3,17\n"),
        ("2d20 adv --given roll=3,17", "17\n  2d20kh1: 3,17\n"),
        ("d20+5 dis --given roll=3,17", "8\n  2d20kl1+5: 3,17\n"),
        ("4d6 drop lowest --given roll=3,1,5,4", "12\n  4d6dl1: 3,1,5,4\n"),
        ("d66 --given roll=4,2", "42\n  d66: 42\n"),
        (
            "2d6[Fire]+1d4[cold]+2 --given roll=3,4;2",
            "11\n  2d6[fire]+d4[cold]+2: 3,4 ; 2\n  fire 7, cold 2, the rest 2\n",
        ),
        ("3d6 2 times --given roll=1,2,3 --given roll=4,5,6", "6, 15\n  3d6: 1,2,3\n  3d6: 4,5,6\n"),
        ("8d10>=8 again --given roll=10,9,1,2,3,4,5,6,7", "2\n  8d10>=8 again: 10,9,1,2,3,4,5,6,7\n"),
    ],
)
def test_a_roll_in_plain_words(line: str, said: str) -> None:
    assert told("roll", *line.split(), "--seed", "1") == f"{said}  seed: 1\n"


def test_a_minus_may_begin_a_word() -> None:
    assert told("roll", "d20", "-2", "--given", "roll=5", "--seed", "-7") == "3\n  d20-2: 5\n  seed: -7\n"
    assert told("roll", "d20", "-d4", "vs", "-9", "--given", "roll=5;1").splitlines()[0] == "4, success: 13 over -9"
    assert "no option '-x'" in complaint("roll", "d20", "-x")


def test_the_same_seed_gives_the_same_roll() -> None:
    # Pinned: each question draws from its own stream, and these are promises.
    assert told("roll", "d20+5 vs d20+3", "--seed", "1").splitlines()[:3] == [
        "20, success: 12 over 8",
        "  d20+5: 15",
        "  d20+3: 5",
    ]
    assert told("roll", "2d6[fire]+d4[cold]", "--seed", "7").splitlines()[1] == "  2d6[fire]+d4[cold]: 4,1 ; 4"
    assert told("roll", "2d6+d4", "--seed", "7").splitlines()[1] == "  2d6+d4: 4,1 ; 4"


def test_a_comment_is_the_note() -> None:
    assert (
        told("roll", "2d6 # for the trap", "--given", "roll=1,2", "--seed", "1").splitlines()[2]
        == "  note: for the trap"
    )
    assert as_json("odds", "2d6", "#for", "the trap")["note"] == "for the trap"
    assert as_json("roll", "2d6 #", "--seed", "1")["note"] is None
    assert "not both" in complaint("roll", "2d6 # one", "--note", "two")


def test_in_order_rolls_six_times_from_one_seed() -> None:
    found = as_json("roll", "3d6", "in", "order", "--seed", "2")
    assert found["each"] == [8, 6, 11, 13, 13, 14]
    assert found["each"] == [event["value"] for event in found["events"]]
    assert [answer["label"] for answer in found["answers"]] == ["roll"] * 6
    assert found["total"] is None
    assert found["inputs"] == {"notation": "3d6", "times": 6}
    assert told("roll", "3d6 in order", "--seed", "2").startswith("8, 6, 11, 13, 13, 14\n  3d6: 4,1,3\n  3d6: 3,1,2\n")
    # Real dice first, then the seed, each roll from its own stream.
    mixed = as_json("roll", "3d6 in order", "--seed", "2", "--given", "roll=1,1,1")
    assert mixed["each"] == [3, 6, 11, 13, 13, 14]
    lines = told("roll", "3d6", "2", "times", "--seed", "2", "--repeat", "2", "--each-run").splitlines()
    assert lines[:3] == [
        "   1  8, 6  4,1,3 3,1,2",
        "   2  11, 11  5,5,1 3,4,4",
        "3d6, 2 times: a sample of 2 runs of each",
    ]


def test_results_as_json_and_their_schema() -> None:
    compared = as_json("roll", "d20+5", "--vs", "15", "--given", "roll=13", "--seed", "1")
    assert compared["inputs"] == {"notation": "d20+5", "vs": 15}
    keys = ("outcome", "success", "margin", "total", "opposition", "parts", "each")
    assert [compared[key] for key in keys] == ["success", True, 3, 18, 15, {}, []]
    low = as_json("roll", "d100", "--vs", "<=45", "--given", "roll=50", "--seed", "1")
    assert [low[key] for key in keys] == ["failure", False, -5, 50, 45, {}, []]
    assert low["inputs"]["vs"] == "<=45"
    opposed = as_json("roll", "d20", "--vs", "d20+3", "--seed", "1")
    assert [answer["label"] for answer in opposed["answers"]] == ["roll", "opposition"]
    assert opposed["margin"] == opposed["total"] - opposed["opposition"]
    parts = as_json("roll", "2d6[fire]+d4[cold]-1", "--given", "roll=3,4;2", "--seed", "1")
    assert parts["parts"] == {"fire": 7, "cold": 2, "": -1}
    assert parts["total"] == 8
    for found in (compared, low, opposed, parts, as_json("roll", "3d6 in order")):
        assert faults("result", None, found) == []
        assert found["parts"] is not None
    assert faults("result", None, compared | {"parts": {"fire": "7"}}) == []  # a result may have more fields
    # What was rolled before looks as it did.
    assert "parts" not in as_json("roll", "2d6+1")


def test_exit_codes_of_a_comparison() -> None:
    codes = [
        rpgres("roll", "d20", *line.split(), "--exit-code").code
        for line in ("--vs 10 --given roll=12", "--vs 10 --given roll=9", "--vs >10 --given roll=10", "--given roll=1")
    ]
    assert codes == [0, 10, 10, 0]
    assert rpgres("roll", "d20", "--vs", "30").code == 0
    assert "exclude each other" in complaint("roll", "d20", "--vs", "3", "--exit-code", "--repeat", "2")


def test_many_comparisons_are_counted() -> None:
    lines = told("roll", "d20+5", "--vs", "15", "--repeat", "3", "--seed", "1", "--each-run").splitlines()
    assert lines[:6] == [
        "   1    20, success: 5 over 15  15",
        "   2    11, failure: 4 under 15  6",
        "   3    22, success: 7 over 15  17",
        "d20+5 vs 15: a sample of 3 runs",
        "  Success  2  66.7 %",
        "  Failure  1  33.3 %",
    ]


@pytest.mark.parametrize(
    ("line", "die"),
    [
        ("d20+5 --vs 15", icepool.d20 + 5 >= 15),
        ("d20+5 vs >15", icepool.d20 + 5 > 15),
        ("d100 --vs <=45", icepool.d100 <= 45),
        ("3d6 vs <7", (3 @ icepool.d6) < 7),
        ("adv+2 vs d20+3", icepool.d20.highest(2) + 2 >= icepool.d20 + 3),
        ("2d6 vs <=d10", (2 @ icepool.d6) <= icepool.d10),
        ("d6! vs 9", icepool.d6.explode(depth=5) >= 9),
        ("d6!-d4 vs <=8", icepool.d6.explode(depth=5) - icepool.d4 <= 8),
        ("3-d6! vs -9", 3 - icepool.d6.explode(depth=5) >= -9),
        ("d6!+d8! vs 12", icepool.d6.explode(depth=5) + icepool.d8.explode(depth=5) >= 12),
        ("3d6!kh1/2 vs 7", icepool.d6.explode(depth=5).highest(3, 1) // 2 >= 7),
        ("8d10>=8f1 vs 2", (8 @ icepool.d10.map(lambda face: (face >= 8) - (face == 1))) >= 2),
    ],
)
def test_the_odds_of_success(line: str, die: Any) -> None:
    found = as_json("odds", *line.split())
    assert Fraction(found["outcomes"]["success"]["exact"]) == die.probability(True)
    assert Fraction(found["outcomes"]["failure"]["exact"]) == die.probability(False)
    assert (found["by"], found["method"]) == ("outcome", "exact")
    assert faults("odds", None, found) == []


def test_the_odds_of_success_in_plain_words() -> None:
    assert told("odds", "d20+5", "--vs", "15") == (
        "d20+5 vs 15: odds (mean 15.500, deviation 5.766 of the total)\n"
        "  Success    55.00 %  11/20\n"
        "  Failure    45.00 %  9/20\n"
    )
    assert "| Success | 60.00 % | 3/5 |" in told("odds", "d20", "--vs", "9", "--format", "md")


def test_what_explosions_leave_open_is_told_where_it_may_be_either() -> None:
    for line in ("d6! vs d8!", "d6!-d8! vs 0", "4dF!=-1 vs 2", "d6!*d4 vs 9"):
        found = as_json("odds", *line.split())
        chances = [Fraction(one["exact"]) for one in (*found["outcomes"].values(), found["open"])]
        assert sum(chances) == 1
        assert 0 < chances[2] < Fraction(1, 10**8)
        assert found["method"] == "partial"
    assert as_json("odds", "3d6!kl1 vs 4")["method"] == "exact"  # six or more, whatever else falls
    assert as_json("odds", "2d10>=8 again vs 3")["outcomes"]["failure"]["exact"] == "9787/10000"
    assert as_json("odds", "2d10>=8 again vs 3")["open"]["exact"] == "0"
    # Where failures are counted, a chain of dice may go down again, but not below what it has reached by one.
    assert as_json("odds", "2d10>=8f1 again vs 3")["method"] == "exact"


def test_odds_by_margin_and_by_part() -> None:
    margin = as_json("odds", "d4", "--vs", "3", "--by", "margin")
    assert {name: one["exact"] for name, one in margin["outcomes"].items()} == dict.fromkeys(
        ["-2", "-1", "0", "1"], "1/4"
    )
    low = as_json("odds", "d4", "--vs", "<=3", "--by", "margin")
    assert list(low["outcomes"]) == ["-1", "0", "1", "2"]
    total = as_json("odds", "d4", "--vs", "3", "--by", "total")
    assert list(total["outcomes"]) == ["1", "2", "3", "4"]
    line = "2d6[fire]+d4[cold]+1"
    fire = as_json("odds", line, "--by", "Fire")
    assert (fire["mean_exact"], len(fire["outcomes"])) == ("7", 11)
    assert fire["parts"] == {"fire": "7", "cold": "5/2"}
    assert faults("odds", None, fire) == []
    assert told("odds", line, "--by", "cold").splitlines()[0] == (
        "2d6[fire]+d4[cold]+1: odds by cold (mean 2.500, deviation 1.118)"
    )
    assert told("odds", line).splitlines()[-1] == "  mean of each part: fire 7.000, cold 2.500; --by fire evaluates one"
    assert "--by takes total, fire, cold here, not 'acid'" in complaint("odds", line, "--by", "acid")
    assert "margins need --vs" in complaint("odds", "d20", "--by", "margin")
    assert "3d6, 6 times: odds of each (mean 10.500" in told("odds", "3d6 in order")


@pytest.mark.parametrize(
    ("line", "said", "caret"),
    [
        ("adv d20", "adv is written alone or after the dice: adv, d20 adv, d20+5 adv; each rolls 2d20kh1", "^^^"),
        ("2d6 adv", "2d6kh1 keeps one of them, 3d6kh2 rolls one more and drops one", "    ^^^"),
        ("2d6+3>=10", "to compare the total, write vs 10", "     ^^"),
        ("5d10!=10>=8", "to count every new die by itself, again =10", "    ^"),
        ("4d6k3", "k3 keeps the three highest in some tools, and in others all dice that show 3", "   ^"),
        ("2W6+3", "dice are written with a d: 2d6+3", " ^"),
        ("w20", "dice are written with a d: d20", "^"),
        ("2d6\uff0b3", "write + in place of \uff0b", "   ^^"),  # two columns wide
        ("\uff12d\uff16", "write 2 in place of \uff12", "^^"),
        ("+2d6", "a plus sign is not needed", "^"),
        ("d20 advantge", "did you mean advantage?", "    ^^^^^^^^"),
        ("d20 vs", "something is missing at the end", "      ^"),
        ("d20 vs =3", "a roll is compared with >= <= > or <", "       ^"),
        ("d20 vs >=>3", "a roll is compared with >= <= > or <", "       ^^"),
        ("d20 vs 3 vs 4", "compared already", "         ^^"),
        ("d20 vs 3 in order", "one roll is compared, not several", "^^^^^^^^^^^^^^^^^"),
        ("3d6 in line", "`in order` rolls six times", "    ^^"),
        ("3d6 0 times", "1 to 100 times", "    ^^^^^^^"),
        ("3d6 2 times 3 times", "how often is said already", "            ^^^^^^^"),
        ("d20+5 v 15", "write vs and the number: d20+5 vs 15", "      ^"),
        ("3d6 under 12", "write vs <= and the number: 3d6 vs <=12", "    ^^^^^"),
        ("d20 + prof", "unknown word 'prof' in dice notation; write a number or dice", "      ^^^^"),
        ("d20+5 dc 15", "write vs and the number: d20+5 vs 15", "      ^^"),
        ("d20 with advantage", "d20 adv, d20+5 dis", "    ^^^^"),
        ("3d6 best 2", "4d6 keep highest 3", "    ^^^^"),
        ("(2d6)/-2", "division is by a whole number, as in (2d6+3)/2", "      ^"),
        ("d20/-2", "division is by a whole number", "    ^"),
        ("2d6 foo", "unknown word 'foo' in dice notation", "    ^^^"),
    ],
)
def test_what_is_typed_wrong_says_what_to_try(line: str, said: str, caret: str) -> None:
    for command in ("roll", "odds"):
        message, shown, marked = complaint(command, line).splitlines()
        assert said in message
        assert shown == f"  {line}"
        assert marked == f"  {caret}"


def test_a_count_that_no_die_can_fit_says_how_a_total_is_compared() -> None:
    hint = "  2d6>=7 counts dice, and none of them can fit; to compare the total, write 2d6 vs 7\n"
    assert told("roll", "2d6>=7", "--given", "roll=6,5", "--seed", "1") == f"0\n  2d6>=7: 6,5\n{hint}  seed: 1\n"
    assert told("odds", "2d6>=7").endswith(hint)
    assert "4d6kh3 vs <1" in told("roll", "4d6kh3<1")
    all_fit = "  3d6<=12 counts dice, and all of them fit; to compare the total, write 3d6 vs <=12\n"
    assert told("odds", "3d6<=12").endswith(all_fit)
    assert as_json("roll", "3d6<=12 again 6")["texts"] == as_json("roll", "3d6<=12f1")["texts"] == []
    assert as_json("roll", "2d6=12")["texts"] == ["2d6=12 counts dice, and none of them can fit"]
    assert as_json("roll", "2d6>=6")["texts"] == []
    one = "d100<=45 counts dice, and comes to 1 or 0; to compare the total, write d100 vs <=45"
    assert as_json("roll", "d100<=45")["texts"] == [one]
    for several in ("d100<=45 + 1", "2d100<=45", "d10>=8 again", "d6>=9!", "d10>=8f1", "d20 vs 3"):
        assert as_json("roll", several)["texts"] == []
    assert as_json("roll", "2d6>=7!")["texts"] == []
    assert as_json("roll", "2d6>=7+2d6>6")["texts"][1].endswith("write 2d6 vs >6")


def test_options_that_contradict_the_line() -> None:
    assert "compared twice" in complaint("roll", "d20 vs 3", "--vs", "4")
    assert "one roll is compared" in complaint("odds", "3d6 in order", "--vs", "4")
    hard = complaint("roll", "d20", "--vs", "hard")
    assert "unknown word 'hard' in dice notation; write a number or dice; --vs takes a number or dice: 15, <=45" in hard
    assert hard.endswith("  hard\n  ^^^^\n")
    assert "there is no 'opposition'" in complaint("roll", "d20", "--vs", "4", "--given", "opposition=3")
    assert "rolled once" in complaint("roll", "d20", "--given", "roll=1", "--given", "roll=2")
    assert "`rpgres roll adv`" in complaint("adv")


def test_batches_take_the_same_lines() -> None:
    requests = [{"notation": "d20+5 vs 15 # jump", "seed": "1"}, {"notation": "2d6[fire]", "seed": "1"}]
    lines = rpgres("batch", stdin="\n".join(map(json.dumps, requests))).out.splitlines()
    jump, fire = map(json.loads, lines)
    assert (jump["margin"], jump["outcome"], jump["note"]) == (5, "success", "jump")
    assert fire["parts"] == {"fire": fire["total"]}


@pytest.mark.parametrize(
    ("words", "meant", "caret"),
    [
        (["highest", "of", "3d6"], "3d6kh1", "^^^^^^^"),
        (["/r", "4d6kh3"], "4d6kh3", "^"),
        (["output [highest 3 of 4d6]"], "4d6kh3", "^^^^^^"),
    ],
)
def test_a_line_that_begins_with_no_dice_but_speaks_of_them_is_told_as_notation(
    words: list[str], meant: str, caret: str
) -> None:
    for command in ("roll", "odds"):
        message, shown, marked = complaint(command, *words).splitlines()
        assert message.endswith(f"did you mean {meant!r}?")
        assert (shown.strip(), marked.strip()) == (" ".join(words), caret)
    assert "no ruleset 'foo'" in complaint("roll", "foo", "overcome", "3", "vs", "4dF+2")


@pytest.mark.parametrize(
    ("line", "axes"), [("d20+0..1 --vs 10..11", 2), ("d20 vs <=4..6", 1), ("1..3d6 --by total", 1)]
)
def test_ranges_of_dice_make_a_table_of_what_each_is_alone(line: str, axes: int) -> None:
    found = as_json("odds", *line.split())
    assert faults("variation", None, found) == []
    assert len(found["axes"]) == axes
    for cell in found["cells"]:
        at, by = cell["at"], ["--by", "total"] if "--by" in line else []
        vs = [f"--vs={at['vs']}"] if "vs" in at else []
        alone = as_json("odds", at.get("notation", "d20"), *vs, *by)
        assert (cell["outcomes"], cell["success"]) == (alone["outcomes"], alone["success"])


def test_one_range_stands_in_the_dice() -> None:
    assert "dice have one range" in complaint("odds", "1..2d6+0..3")
