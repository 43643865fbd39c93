"""What names in braces come to in described actions, before and after the roll, and how the account tells it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import icepool
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres import resolve
from rpgres.dice import dice
from rpgres.errors import UsageError
from rpgres.model.events import RollEvent
from rpgres.rulesets.templates import fill
from tests.support.command_line import rpgres
from tests.support.declarative import BLADES, UNDER, done, here, odds, write

__all__ = ["here"]  # a fixture that every test here uses

OPEN = """
standalone = true
title = "Open"
summary = "Any ability counts."
version = "1"

[bands]
low = { title = "Low", to = 4, success = false }
high = { title = "High", from = 5, success = true }

[actions.do]
summary = "Do it."
dice = "1d6"
numbers = { total = "roll + carpentry" }

[outcomes.do.high]
text = "Built."
rolls = { shelves = "1d4 + {carpentry}", height = "1d2 + {opponent.carpentry}" }

[sheet.skills]
kind = "abilities"
help = "any"
any-name = true
"""


def sheet(name: str, ruleset: str, text: str) -> None:
    path = Path(f"rulesets/{ruleset}/sheets/{name}.toml")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


# ---------------------------------------------------------------------------------------------------------------------
# What names stand for


def test_rows_know_the_abilities_that_no_ruleset_lists() -> None:
    write(OPEN, name="open")
    sheet("ann", "open", "[skills]\ncarpentry = 3\n")
    found = done("do", name="open", sheet="ann", given={"roll": "2", "shelves": "1", "height": "2"})
    rolled = {event.label: event.value for event in found.events if isinstance(event, RollEvent)}
    assert rolled == {"roll": 5, "shelves": 4, "height": 2}


FLOOR = UNDER.replace('degrees = "margin / 3"', 'degrees = "min(max(margin / 3, 1), 2)"').replace(
    '"1d6 + {attribute}/2"', '{ value = "1d6 - {attribute}", at-least = 0, at-most = 3 }'
)


@pytest.mark.parametrize(("attribute", "die", "degrees", "minutes"), [(9, 4, 1, 0), (17, 6, 2, 0), (3, 6, 1, 3)])
def test_numbers_and_rolls_keep_to_their_bounds(attribute: int, die: int, degrees: int, minutes: int) -> None:
    write(FLOOR)
    shown = "2,2,3" if attribute > 3 else "1,2,3"
    found = done("try", attribute=attribute, shift=3, given={"roll": shown, "time": str(die)})
    assert found.effects == [{"kind": "done", "degrees": degrees, "minutes": minutes}]
    assert found.details["degrees"] == degrees
    assert next(event for event in found.events if getattr(event, "label", "") == "time").value == minutes


def test_bounds_are_shown() -> None:
    write(FLOOR)
    shown = rpgres("ruleset", "show", "under", "try").out
    assert "rolls time: 1d6 - {attribute}, at least 0, at most 3\n" in shown
    text = rpgres("roll", "under", "try", "--attribute", "9", "--given", "roll=2,2,3", "--given", "time=4").out
    assert "  time: 4 = 0 (1d6 - 9 attribute, at least 0)\n" in text


def test_no_blow_heals() -> None:
    found = resolve(
        "twenty-sided-advantage",
        "strike",
        bonus=9,
        vs=5,
        weapon="dagger",
        sheet="iolen",
        given={"d20": "9", "damage": "1"},
    )
    assert all(effect["change"] <= 0 for effect in found.effects)  # type: ignore[union-attr]


@pytest.mark.parametrize("choice", ["1d6+1", "2d6-1", "-1d4", "(1d6+1)", "2d4>=-1"])
@pytest.mark.parametrize("template", ["{c}*2", "10 - {c}", "({c})/2", "3 + {c}", "{c}", "2*{c}"])
def test_a_choice_stays_together(choice: str, template: str) -> None:
    whole = dice(template.replace("{c}", f"({choice})"))
    assert dice(fill(template, lambda _: choice)).law == whole.law


@given(number=st.integers(-9, 9), other=st.integers(-9, 9))
@pytest.mark.parametrize(
    "template",
    ["-{n}", "{n}", "-{n} + {m}", "2 - {n}*{m}", "(-{n})*{m}", "{n} - {m} - {n}", "3 - -{n}", "-({n} + {m})", "2*-{n}"],
)
def test_numbers_are_put_in_with_their_signs(template: str, number: int, other: int) -> None:
    values = {"n": number, "m": other}
    expected = eval(template.format(**{name: f"({value})" for name, value in values.items()}))
    assert dice(fill(template, values.__getitem__)).law.values == (expected,)


@pytest.mark.parametrize("number", range(-3, 9))
def test_dice_may_be_held_against_any_number(number: int) -> None:
    for template, expected in ((">={n}", number), (">=-{n}", -number), (">= {n}", number)):
        assert dice(fill(f"3d6{template}", lambda _: number)).law == dice(f"3d6>={expected}").law


def test_a_negative_ability_opposes_as_part_of_more() -> None:
    text = BLADES.replace(', rolls = "{rating}d6>=5"', "").replace('version = "1"', 'version = "1"\ndice = "1d6"')
    write(text, name="blades")
    sheet("bo", "blades", "[skills]\nblade = -2\n")
    found = done("strike", name="blades", pool=2, vs="bo:blade", cover=1, given={"roll": "1,1", "opposition": "3"})
    assert found.opposition == 2


# ---------------------------------------------------------------------------------------------------------------------
# Against counted dice


def test_no_dice_and_numbers_oppose_a_pool_of_successes() -> None:
    own = 2 @ icepool.d10.map(lambda face: 1 if face >= 8 else 0)
    for vs, number in ((0, 0), ("3 successes", 3), ("1s", 1)):
        expected = own.map(lambda hits, number=number: "fail" if hits < number else "tie" if hits == number else "won")
        found = odds("contest", name="again-pool", pool=2, vs=vs)
        won = found.get("success", Fraction(0))
        assert won == expected.probability("won")
        assert found.get("standoff", 0) == expected.probability("tie")


@pytest.mark.parametrize("vs", ["2d10", "2d10kh1", "2d10>=8+1d6", "1d6+1"])
def test_a_sum_of_dice_is_no_count(vs: str) -> None:
    with pytest.raises(
        UsageError, match=r"this action counts successes; type \d+d10>=8, or \d+ for a pool .* or 3 successes"
    ):
        resolve("again-pool", "contest", pool=3, vs=vs)


def test_a_misspelt_unit_is_told() -> None:
    with pytest.raises(UsageError, match="a plain number is written as `3 successes`"):
        resolve("again-pool", "contest", pool=3, vs="3 sucesses")


@pytest.mark.parametrize(("ties", "success"), [("actor", True), ("defender", False)])
def test_the_side_to_which_a_standoff_falls_succeeds(ties: str, success: bool) -> None:
    typed = ("again-pool", "contest", "--pool", "2", "--vs", "1s", "--switch", f"ties={ties}")
    found = json.loads(rpgres("roll", *typed, "--given", "dice=8,1", "--json").out)
    assert (found["margin"], found["success"]) == (0, success)
    chances = json.loads(rpgres("odds", *typed, "--json").out)["outcomes"]
    assert "standoff" not in {band for band, chance in chances.items() if chance["probability"]}


# ---------------------------------------------------------------------------------------------------------------------
# The account


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("two-dice risk --trait quick=2 --given roll=4,5", "  roll: 4,5 = 11 (2d6 + 2 quick)\n"),
        ("two-dice risk --trait quick=-1 --given roll=6,5", "  roll: 6,5 = 10 (2d6 - 1 quick)\n"),
        ("two-dice risk --trait 0 --given roll=6,5", "  roll: 6,5 = 11\n"),
        ("highest-die check --pool 3 --given dice=2,6,1", "  dice: 2,6,1 = 6\n  best 6\n"),
        ("hunger-pool check --pool 2 --given plain=9,2", "  plain: 9,2 = 1\n"),
        (
            "twenty-sided-advantage strike --sheet brand --bonus might --vs husk:guard --advantage advantage "
            "--given d20=3,15",
            "  d20 (brand): 3,15 = 18 (2d20kh1 + 3 might)\n  opposition (husk): 14 from guard\n",
        ),
        (
            "again-pool contest --pool 2 --vs the-collector:reason --given dice=8,1 --given opposition=1,1,1,1,1",
            "  dice: 8,1 = 1\n  opposition (the-collector): 1,1,1,1,1 = 0 (5d10>=8, reason)\n",
        ),
        ("again-pool contest --pool 2 --vs 1s --given dice=8,8", "  dice: 8,8 = 2\n  You have"),
    ],
)
def test_the_account_says_what_was_added_and_which_dice_count(typed: str, told: str) -> None:
    found = rpgres("roll", *typed.split(), "--auto")
    assert told in found.out, found


def test_what_counts_is_the_value_of_the_event() -> None:
    found = done("check", name="highest-die", pool=3, given={"dice": "2,5,1"})
    assert (found.events[0].value, found.details) == (5, {"best": 5})


def test_outcomes_called_alike_are_told_apart_in_odds() -> None:
    write(UNDER.replace('title = "Well done"', 'title = "Done"'))
    shown = rpgres("odds", "under", "try", "--attribute", "11").out
    assert "  Done (good)" in shown
    assert "  Done (fine)" in shown
    assert "  Wonder  " in shown


OVER = """
standalone = true
title = "Over"
summary = "Bands by the margin, or by what there is without one."
version = "1"

[bands]
none = { title = "None", to = 0, success = false, unopposed = true }
some = { title = "Some", from = 1, success = true }

[actions.try]
summary = "Try."
parameters = ["vs"]
dice = { roll = "2d6", opposition = "{vs}" }

[parameters.vs]
kind = "opposition"
help = "what is in the way"

[outcomes.try.some]
text = "Done."
"""


@pytest.mark.parametrize(
    ("vs", "numbers"),
    [(0, (11, 0, 11)), (None, (11, None, None)), ("1d4", (11, 3, 8)), (11, (11, 11, 0))],
)
def test_total_opposition_and_margin_fit_each_other(vs: int | str | None, numbers: tuple[int | None, ...]) -> None:
    write(OVER, name="over")
    other = {"opposition": "3"} if vs == "1d4" else {}
    found = done("try", name="over", given={"roll": "5,6", **other}, **({} if vs is None else {"vs": vs}))
    assert (found.total, found.opposition, found.margin) == numbers
    assert found.outcome == ("some" if (numbers[2] or 0) > 0 else "none")
