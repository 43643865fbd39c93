"""The best answers inside a roll, as JSON and as a table."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rpgres.engine.players import NO, Question
from rpgres.model.state import Map
from rpgres.odds.plans import Plan
from rpgres.rulesets import Option
from tests.support.command_line import as_json, rpgres
from tests.support.declarative import head, here, write

__all__ = ["here"]  # a fixture that every test here uses

LIT = (
    head("Lit", "Sixes count, and the rest may be rerolled.", good=True, bad=False)
    + """
[actions.light]
summary = "Roll."
dice = { own = "3d6" }
numbers = { lit = "count(own, face = 6)", ones = "count(own, face = 1)" }
bands = { good = "lit + times(oil) >= 2", bad = "else" }

[actions.light.ask.push]
text = "Push?"
when = "ones >= 0"
options.push = { reroll = { own = "face >= 2 and face <= 5" }, when = "lit < 3", prefer = "lit < 1" }

[actions.light.ask.oil]
text = "Oil?"
when = "lit >= 1"
options.oil = { text = "One more." }
"""
)


@pytest.fixture(autouse=True)
def lit(here: object) -> None:
    write(LIT, name="lit")


def test_chances_are_exact() -> None:
    found = as_json("odds", "lit", "light", "--best")["plan"]
    by_facts = {(one["label"], *one["facts"].values()): one for one in found}  # label, ones, lit
    none = by_facts["push", 1, 0]
    assert none["best"] == ["push"]
    assert none["value"]["low"]["exact"] == none["success"]["push"]["high"]["exact"] == "11/36"  # of two dice
    assert none["success"]["no"]["low"]["exact"] == "0"
    assert none["unevaluated"] == []


@pytest.mark.slow
@pytest.mark.parametrize(("again", "is_exact"), [("face = 20 and not added", True), ("face = 20", False)])
def test_added_dice_before_a_decision_are_exact_where_they_are_bounded(again: str, *, is_exact: bool) -> None:
    text = LIT.replace('own = "3d6"', f'own = {{ roll = "40d20", again = "{again}" }}').replace("face = 6", "face = 20")
    text = text.replace(', ones = "count(own, face = 1)"', "")
    start, end = text.index("[actions.light.ask.push]"), text.index("[actions.light.ask.oil]")
    write(text[:start] + text[end:], name="many")
    found = as_json("odds", "many", "light", "--auto")
    assert (found["method"] == "exact") is is_exact
    assert (found["open"]["exact"] == "0") is is_exact
    assert found["open"]["probability"] < 1e-9


def test_options_that_were_not_evaluated_are_named() -> None:
    plan, options = Plan(), (Option("oil"), Option("tar"))
    whole, half = (Fraction(1), Fraction(1)), (Fraction(1, 2), Fraction(2, 3))
    for lit, best, success in ((1, 0, [whole]), (2, 0, [whole, half]), (2, 1, [half, whole])):
        plan.note(Question("help", "a", options, "", True, Map({"lit": lit})), best, success)
    one, two = plan.records()
    assert (one.best, [*one.success], one.unevaluated) == ([NO], [NO], ["oil", "tar"])
    assert (two.best, two.success["oil"].low.exact, two.unevaluated) == ([NO, "oil"], "1/2", ["tar"])
    assert two.value.low.exact == "1"


def test_rows_with_the_same_best_answer_are_one() -> None:
    rows = rpgres("odds", "lit", "light", "--best").out.partition("best answers")[2].splitlines()[2:7]
    assert [row.split() for row in rows] == [
        row.split()
        for row in (
            "oil, lit 1 oil 100.00 % no 0.00 %",
            "oil, lit 2 to 3 no 100.00 % oil 100.00 %",
            "push, lit 0 push 16.67 % to 42.13 % no 0.00 %",
            "push, ones 0, lit 1 to 2 no 100.00 % push 100.00 %",
            "push, ones 1, lit 1 no 100.00 % push 100.00 %",
        )
    ]
