"""`rpgres odds`: whole outputs, the ladder, and numbers held against icepool."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import icepool
import msgspec
import pytest

from rpgres.odds import actions
from rpgres.odds.dice import DiceOdds
from rpgres.odds.exact import OddsResult
from rpgres.odds.ladder import LadderOdds
from tests.support.command_line import complaint, rpgres
from tests.support.effort import games

FATE_DICE = 4 @ icepool.Die([-1, 0, 1])
BANDS = {"fail": (-99, -1), "tie": (0, 0), "succeed": (1, 2), "style": (3, 99)}


def as_json(*args: str) -> Any:
    """Return the one JSON object that a command line prints."""
    ran = rpgres(*args, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("\n") == 1
    return json.loads(ran.out)


def by_icepool(margin: Any) -> dict[str, str]:
    """Return the exact chance of each band for a distribution of margins."""
    return {
        band: str(sum((Fraction(weight, margin.denominator()) for m, weight in margin.items() if low <= m <= high)))
        for band, (low, high) in BANDS.items()
    }


def exact(outcomes: dict[str, Any]) -> dict[str, str]:
    """Return the exact chances of a JSON object."""
    return {name: chance["exact"] for name, chance in outcomes.items()}


def test_an_opposed_action_in_plain_words() -> None:
    assert rpgres("odds", "fate", "overcome", "--skill", "3", "--vs", "4dF+2", "--note", "a guard") == (
        0,
        "Overcome: odds (fate; skill 3, vs 4dF+2)\n"
        "  Fail                  26.08 %  1711/6561\n"
        "  Tie                   15.49 %  1016/6561\n"
        "  Succeed               32.36 %  2123/6561\n"
        "  Succeed with style    26.08 %  1711/6561\n"
        "  any success: 58.44 %  142/243\n"
        "  note: a guard\n",
        "",
    )


@pytest.mark.parametrize(("skill", "vs"), [(3, 2), (0, 0), (-1, 5)])
def test_odds_agree_with_icepool(skill: int, vs: int) -> None:
    passive = as_json("odds", "fate", "overcome", "--skill", str(skill), "--vs", str(vs))
    assert exact(passive["outcomes"]) == by_icepool(FATE_DICE + skill - vs)
    active = as_json("odds", "fate", "overcome", "--skill", str(skill), "--vs", f"4dF{vs:+d}")
    assert exact(active["outcomes"]) == by_icepool(FATE_DICE + skill - (FATE_DICE + vs))
    record = msgspec.convert(active, OddsResult)
    assert (record.method, record.open.exact, record.ruleset, record.action) == ("exact", "0", "fate", "overcome")


def test_without_an_opposition_every_rung_is_weighed() -> None:
    found = as_json("odds", "fate", "overcome", "--skill", "3")
    record = msgspec.convert(found, LadderOdds)
    assert found["format"] == "rpgres.odds-ladder/1"
    assert [(rung.name, rung.value) for rung in record.ladder][:2] == [("legendary", 8), ("epic", 7)]
    assert [rung.value for rung in record.ladder] == list(range(8, -3, -1))
    for rung in found["ladder"]:
        assert exact(rung["outcomes"]) == by_icepool(FATE_DICE + 3 - rung["value"])
    assert record.inputs == {"skill": "3"}
    assert len(record.advice) == 4


def test_the_ladder_in_plain_words() -> None:
    ran = rpgres("odds", "fate", "overcome", "--skill", "3")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[:3] == [
        "Overcome: odds at every rung (fate; skill 3)",
        "  against              Fail        Tie    Succeed  Succeed with style",
        "  Legendary (+8)   100.00 %     0.00 %     0.00 %              0.00 %",
    ]
    assert "  Fair (+2)         18.52 %    19.75 %    43.21 %             18.52 %" in lines
    assert lines[-4:] == [
        "  Nothing special in the way: Average (+1).",
        "  One good reason for it to be harder, and no better idea: Fair (+2).",
        "  Two rungs over the skill: expect failure, or fate points spent.",
        "  Two rungs under the skill: a chance to shine.",
    ]


def test_a_ladder_needs_the_rest_of_the_inputs() -> None:
    ran = rpgres("odds", "fate", "overcome")
    assert ran.code == 2
    assert "fate overcome needs --skill" in ran.err


@pytest.mark.slow
def test_a_decision_before_the_outcome_needs_somebody() -> None:
    """A veto is optional, so it passes; the invocations of a policy change the odds."""
    args = ("odds", "fate", "overcome", "--sheet", "mara", "--skill", "fight", "--vs", "3")
    alone, auto = as_json(*args), as_json(*args, "--auto")
    assert exact(alone["outcomes"]) == by_icepool(FATE_DICE + 1 - 3)
    assert alone["policies"] == {}
    assert auto["policies"] == {"*": "sensible"}
    assert Fraction(auto["outcomes"]["fail"]["exact"]) < Fraction(alone["outcomes"]["fail"]["exact"])
    assert "  decisions of everybody: policy sensible\n" in rpgres(*args, "--auto").out
    told = rpgres(*args, "--auto", "--policy", "mara=thrifty").out
    assert "  decisions of mara: policy thrifty\n  decisions of everybody else: policy sensible\n" in told
    chosen = as_json(*args, "--choose", "invoke=wanted-in-three-ports")
    assert exact(chosen["outcomes"]) == by_icepool(FATE_DICE + 3 - 3)


def test_a_budget_leaves_something_open_and_says_so() -> None:
    args = ("odds", "fate", "overcome", "--skill", "3", "--vs", "4dF+2", "--leaves", "3")
    found = as_json(*args)
    shares = [Fraction(chance["exact"]) for chance in found["outcomes"].values()]
    left = Fraction(found["open"]["exact"])
    assert left > 0
    assert sum(shares) + left == 1
    assert found["leaves"] == 3
    assert found["method"] == "partial"
    assert sum(one["share"] for one in found["sample"]["outcomes"].values()) == pytest.approx(1)
    for name, one in found["sample"]["outcomes"].items():  # an estimate adds to what is known, and is never below it
        assert found["outcomes"][name]["probability"] <= one["low"] <= one["share"] <= one["high"]
    assert "(estimated from 2000 games, 95 %)" in rpgres(*args).out


@pytest.mark.parametrize(
    ("notation", "die"),
    [
        ("4d6kh3", icepool.d6.highest(4, 3)),
        ("2d10+3", 2 @ icepool.d10 + 3),
        ("4dF", FATE_DICE),
        ("6d10>=8", 6 @ (icepool.d10 >= 8)),
    ],
)
def test_dice_agree_with_icepool(notation: str, die: Any) -> None:
    found = as_json("odds", notation)
    want = {str(value): str(Fraction(weight, die.denominator())) for value, weight in die.items()}
    assert exact(found["outcomes"]) == want
    record = msgspec.convert(found, DiceOdds)
    assert Fraction(record.mean_exact) == Fraction(die.mean())
    assert record.deviation == pytest.approx(float(die.standard_deviation()))
    assert record.ruleset is None
    assert record.inputs == {"notation": notation}


def test_dice_in_plain_words() -> None:
    assert rpgres("odds", "2d4") == (
        0,
        "2d4: odds (mean 5.000, deviation 1.581)\n"
        "  2     6.25 %  1/16   100.00 % or more\n"
        "  3    12.50 %  1/8     93.75 % or more\n"
        "  4    18.75 %  3/16    81.25 % or more\n"
        "  5    25.00 %  1/4     62.50 % or more\n"
        "  6    18.75 %  3/16    37.50 % or more\n"
        "  7    12.50 %  1/8     18.75 % or more\n"
        "  8     6.25 %  1/16     6.25 % or more\n",
        "",
    )


def test_explosions_leave_something_open() -> None:
    found = as_json("odds", "d6!")
    left = Fraction(found["open"]["exact"])
    assert 0 < left < Fraction(1, 10**6)
    assert sum(Fraction(chance["exact"]) for chance in found["outcomes"].values()) + left == 1
    told = rpgres("odds", "d6!").out
    assert found["method"] == "partial"
    assert (size := re.search(r"remaining: below (1e-\d+) \(dice that explode without end", told))
    assert Fraction(size[1]) / 10 <= left < Fraction(size[1])
    assert "at least" not in told  # what is open is above all values that are shown
    assert told.splitlines()[1].split() == ["1", "16.67", "%", "1/6", "100.00", "%", "or", "more"]
    assert found["open_from"] > max(map(int, list(found["outcomes"])[:-6]))
    assert "at least" not in rpgres("odds", "3d6").out


def test_negligible_values_at_the_ends_are_summed_up_in_the_printed_table() -> None:
    told = rpgres("odds", "3d6!").out.splitlines()
    assert len(told) < 50
    assert all(len(text) <= 80 for text in told)
    ends = [text.split() for text in told if "..." in text]
    assert ends == [["...", "44", "and", "more", "0.04", "%"]]
    assert "..." not in rpgres("odds", "3d6").out
    assert [text.split()[:5] for text in rpgres("odds", "30d6").out.splitlines() if " ... " in text] == [
        ["...", "72", "and", "less", "0.02"],
        ["...", "138", "and", "more", "0.02"],
    ]
    assert len(as_json("odds", "3d6!")["outcomes"]) > 90


def test_a_fraction_that_is_too_long_is_a_decimal_that_is_cut_off_and_whole_in_the_other_forms() -> None:
    row = next(text for text in rpgres("odds", "30d6").out.splitlines() if text.split()[0] == "105")
    exact = as_json("odds", "30d6")["outcomes"]["105"]["exact"]
    assert "/" in exact
    assert row.split()[3] == f"{float(Fraction(exact)) - 5e-7:.6f}..."
    assert f"105,{float(Fraction(exact))},{exact}\n" in rpgres("odds", "30d6", "--format", "csv").out


def test_too_many_dice_are_refused_with_how_many_there_may_be() -> None:
    ran = rpgres("odds", "9999d9999")
    assert ran.code == 2
    assert ran.err.startswith("rpgres: more than 1000 dice in one expression\n")
    assert ran.out == ""


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ("odds", "name what to evaluate"),
        ("odds 4d6 --seed 1", "no option '--seed'"),
        ("odds fate overcome --skill 3 --leaves none", "--leaves takes a whole number"),
        ("odds fate overcome --skill 3 --seconds -1", "--seconds takes a number of seconds over 0"),
        ("odds fate overcome --skill 3 --seconds nan", "--seconds takes a number of seconds over 0"),
        ("odds fate overcome --skill 3 --vs 2 --given roll=0000", "no option '--given'"),
        ("odds fate overcome --skill 3 --vs 2 --policy x", "no policy 'x'"),
        ("odds fate overcome --skill 3 --policy bob=thrifty", "no character 'bob'"),
        ("odds fate overcome --skill 3 --vs 2 --choose prize=x", "did you mean 'price'?"),
    ],
)
def test_what_is_wrong_is_told(args: str, told: str) -> None:
    ran = rpgres(*args.split())
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err


def test_a_switch_changes_the_odds() -> None:
    args = ("odds", "fate", "overcome", "--skill", "1", "--vs", "4dF", "--vs", "4dF+1")
    assert rpgres(*args, "--switch", "opposers=one").code == 2
    found = as_json(*args)
    two = icepool.map(lambda one, other: max(one, other), FATE_DICE, FATE_DICE + 1)
    assert exact(found["outcomes"]) == by_icepool(FATE_DICE + 1 - two)


def test_help_of_odds_names_its_own_options_and_example() -> None:
    out = rpgres("odds", "fate", "overcome", "--help").out
    assert "--leaves N" in out
    assert "--given" not in out.replace("--given for dice", "")
    assert "Example: rpgres odds fate overcome --skill 3 --vs 2" in out
    assert "Compute the exact probabilities of dice." in rpgres("odds", "4d6", "--help").out


def test_margins_in_place_of_outcomes() -> None:
    odds = as_json("odds", "fate", "overcome", "--skill", "2", "--vs", "4dF", "--by", "margin")
    margins = FATE_DICE + 2 - FATE_DICE
    expected = {str(m): str(Fraction(weight, margins.denominator())) for m, weight in margins.items()}
    assert (odds["by"], exact(odds["outcomes"])) == ("margin", expected)
    shown = rpgres("odds", "fate", "overcome", "--skill", "2", "--vs", "4dF", "--by", "margin").out
    assert shown.splitlines()[0] == "Overcome: odds by margin (fate; skill 2, vs 4dF)"
    assert shown.count(" or more\n") == 17


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--by", "size", "--vs", "2"], "--by: fate overcome has no number 'size'; it has: outcome, margin, total"),
        (["--by", "margin"], "--by needs one opposition"),
        (["--by", "margin", "--vs", "2", "--best"], "use one of them"),
    ],
)
def test_what_has_no_numbers_is_refused(more: list[str], told: str) -> None:
    ran = rpgres("odds", "fate", "overcome", "--skill", "2", *more)
    assert ran.code == 2
    assert told in ran.err


CARDS = ("odds", "faith", "confront", "--skill", "4", "--attribute", "1", "--hand", "H13,D9,C2")


def test_each_next_card_is_weighed_with_policies_after_it() -> None:
    """A card played first by a script, with the policy after it, comes to the same."""
    odds = as_json(*CARDS, "--against", "orso:skill=6,attribute=1", "--switch", "empty_hand_draw=no")
    assert (odds["decide"], odds["policies"], odds["open"]["exact"]) == ("each", {"*": "steady"}, "0")
    assert {choice["option"] for choice in odds["choices"]} == {"H13", "D9", "C2", "pass"}
    for choice in odds["choices"]:
        asked = ("--auto", "--choose", f"play={choice['option']}")
        same = as_json(*CARDS, "--against", "orso:skill=6,attribute=1", "--switch", "empty_hand_draw=no", *asked)
        assert same["decide"] == "policies"
        assert exact(choice["outcomes"]) == exact(same["outcomes"])
    best = as_json(*CARDS, "--against", "orso:skill=6,attribute=1", "--best")
    assert best["decide"] == "best"
    assert best["policies"] == {"*": "steady", "actor": "best"}


@pytest.mark.slow
def test_cards_that_a_budget_leaves_open_are_estimated_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "GAMES", games(2000))
    asked = ("odds", "faith", "confront", "--skill", "4", "--attribute", "2", "--hand", "H13,D9,C2")
    against = ("--against", "orso:skill=6,attribute=2")
    whole = as_json(*asked, *against)
    cut = as_json(*asked, *against, "--leaves", "20")
    assert (whole["method"], cut["method"]) == ("exact", "sampled")
    truth = {choice["option"]: choice["success"]["probability"] for choice in whole["choices"]}
    estimated = {choice["option"]: choice["sample"] for choice in cut["choices"] if choice["sample"]}
    assert len(estimated) >= 3
    for option, sample in estimated.items():
        low, high = sample["success"]["low"], sample["success"]["high"]
        assert low - 0.03 <= truth[option] <= high + 0.03
    monkeypatch.setattr(actions, "GAMES", 100)  # the same, said in words
    shown = rpgres(*asked, *against, "--leaves", "20").out
    assert "~ estimated from" in shown


def test_success_is_the_chance_of_all_outcomes_that_are_one() -> None:
    asked = ("odds", "fate", "overcome", "--skill", "2", "--vs", "2", "--auto")
    record = as_json(*asked)
    margins = FATE_DICE  # 2 against 2
    wins = sum(Fraction(weight, margins.denominator()) for margin, weight in margins.items() if margin > 0)
    assert Fraction(record["success"]["exact"]) == wins
    compared = as_json(*asked, "--compare", "vs=4")["cases"][0]
    assert (compared["name"], compared["success"]) == ("base", record["success"])
    assert as_json(*asked, "--by", "margin")["success"] is None
    dice = as_json("odds", "2d6 vs 9")
    assert dice["success"] == dice["outcomes"]["success"]
    assert as_json("odds", "2d6")["success"] is None


def test_options_with_equal_chances_share_a_row_and_json_has_each() -> None:
    asked = ("odds", "fate", "overcome", "--skill", "2", "--vs", "3", "--aspect", "Quick", "--aspect", "Sly")
    asked = (*asked, "--aspect", "A knife in every boot", "--fate-points", "1", "--best", "--policy", "preferred")
    options = [choice["option"] for choice in as_json(*asked)["choices"]]
    assert len(options) == 7
    told = rpgres(*asked).out
    shown = [re.split(r" {2,}", line.strip()) for line in told.partition("success  exact\n")[2].splitlines()]
    assert [(row[0], row[-1]) for row in shown[:3]] == [
        ("a-knife-in-every-boot and 2 more", "50/81"),
        ("a-knife-in-every-boot:reroll and 2 more", "427/2187"),
        ("no", "5/27"),
    ]


def test_each_is_there_for_every_ruleset() -> None:
    odds = as_json("odds", "saga", "act", "--ability", "strength=4", "--vs", "average", "--hand", "St6,Ag3", "--each")
    assert odds["decide"] == "each"
    assert len(odds["choices"]) == 2
    ran = rpgres("odds", "saga", "act", "--ability", "strength=4", "--vs", "average", "--each", "--best")
    assert ran.code == 2
    assert "exclude each other" in ran.err


def test_without_cards_in_hand_the_odds_are_those_of_any_hand() -> None:
    asked = ("odds", "faith", "confront", "--skill", "4", "--attribute", "1", "--gm")
    plain, auto = as_json(*asked), as_json(*asked, "--auto")
    assert plain["choices"] == []
    assert exact(plain["outcomes"]) == exact(auto["outcomes"])
    needed = rpgres(*asked, "--each").err
    assert "need --hand" in needed
    assert "or '' for none" in needed


@pytest.mark.parametrize(
    ("action", "by", "has"),
    [
        ("action-and-challenge check", "total", "outcome, action-die, score, match"),
        ("three-dice-under reaction", "margin", "outcome, total"),
    ],
)
def test_only_numbers_that_an_action_has_are_listed(action: str, by: str, has: str) -> None:
    for name in (by, "foo"):
        said = complaint("odds", *action.split(), "--by", name)
        assert said.strip().endswith(f"has no number {name!r}; it has: {has}")
