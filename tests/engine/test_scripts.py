"""Answers that are typed beforehand: in order, and `ANSWER*` for every question of a label."""

from __future__ import annotations

import pytest

import rpgres
from rpgres.engine.players import NO, Question
from rpgres.engine.records import Pending, Result
from rpgres.engine.seats import Script
from rpgres.errors import UsageError
from rpgres.rulesets import Option
from tests.support.command_line import as_json

WINDOW = Question("invoke", "mara", (Option("fog"), Option("crowd")), optional=True)
LATER = Question("invoke", "mara", (Option("crowd"),), optional=True)
STARRED = Question("invoke", "mara", (Option("fog"), Option("fog*"), Option("crowd")), optional=True)
FREE = Question("twist", "gm", (Option("none"),), reads=lambda text: text)


def _number(text: str) -> str:
    if not text.isdecimal():
        raise UsageError("no number")
    return text


STRICT = Question("twist", "gm", (Option("none"),), reads=_number)


def answers(script: Script, *questions: Question) -> list[object]:
    found = [script.next(question) for question in questions]
    return [answer and answer.choice for answer in found]


@pytest.mark.parametrize(
    ("typed", "questions", "expected"),
    [
        (["no"], [WINDOW, WINDOW], ["no", None]),
        (["no*"], [WINDOW, WINDOW, LATER], ["no", "no", "no"]),
        (["fog", "no*"], [WINDOW, WINDOW, WINDOW], ["fog", "no", "no"]),
        (["no*", "fog"], [WINDOW, WINDOW], ["fog", "no"]),  # what is for one question comes first
        (["fog*"], [WINDOW, LATER, WINDOW], ["fog", None, "fog"]),  # where it is offered
        (["fog*"], [STARRED, STARRED], ["fog*", None]),  # an option is called so
        (["fog**"], [STARRED, STARRED], ["fog*", "fog*"]),
        (["*"], [WINDOW], ["*"]),  # which is refused
        (["frog*"], [WINDOW], ["frog"]),  # which is refused, too
        (["Fire*"], [FREE, FREE], ["Fire*", None]),  # a text is taken as it is
        (["7*"], [STRICT, STRICT], ["7", "7"]),
        (["none*"], [FREE, FREE], ["none", "none"]),
    ],
)
def test_a_star_is_for_every_question(typed: list[str], questions: list[Question], expected: list[object]) -> None:
    assert answers(Script({questions[0].label: typed}), *questions) == expected


def test_one_of_a_character_alone_comes_first() -> None:
    script = Script({"mara:invoke": ["fog*"], "invoke": ["no*"]})
    edda = Question("invoke", "edda", WINDOW.options, optional=True)
    assert answers(script, WINDOW, edda, WINDOW) == ["fog", NO, "fog"]


def test_what_no_question_took_is_told() -> None:
    script = Script({"invoke": ["fog", "crowd*", "no*"]})
    assert list(script.unused()) == [("invoke", "fog"), ("invoke", "crowd*"), ("invoke", "no*")]
    answers(script, WINDOW, WINDOW)
    assert list(script.unused()) == [("invoke", "no*")]
    assert list(script.unused(is_over=False)) == [("invoke", "crowd*"), ("invoke", "no*")]


FIGHT = {"sheet": "mara", "skill": "fight", "vs": "3"}
MISSED = {"roll": ["----"] * 3}


def test_every_invocation_is_let_pass_and_the_command_that_goes_on_says_so() -> None:
    choose = {"invoke": ["wanted-in-three-ports", "no*"]}
    found = rpgres.resolve("fate", "overcome", given={"roll": "----"}, choose=choose, **FIGHT)
    assert isinstance(found, Pending)
    assert found.question.label == "price"
    assert [answer.value for answer in found.unused] == ["no*"]  # which the command line repeats


def test_new_dice_each_time_until_nothing_is_left() -> None:
    again = [f"{name}:reroll" for name in ("wanted-in-three-ports", "i-know-a-back-way")]
    choose = {"invoke": [*again, "no*"], "price": ["fail*"]}
    found = rpgres.resolve("fate", "overcome", given=MISSED, choose=choose, **FIGHT)
    assert isinstance(found, Result)
    assert [answer.value for answer in found.answers if answer.label == "invoke"] == [*again, NO]
    assert found.unused == []


def test_a_misspelt_one_is_refused() -> None:
    with pytest.raises(UsageError, match="invoke=frog is not offered here"):
        rpgres.resolve("fate", "overcome", given={"roll": "----"}, choose={"invoke": "frog*"}, **FIGHT)


def test_one_where_nothing_is_asked_is_told_as_unused() -> None:
    found = as_json("roll", "fate", "overcome", "--skill", "9", "--vs", "1", "--choose", "invoke=no*", "--json")
    assert [answer["value"] for answer in found["unused"]] == ["no*"]


def test_odds_take_it_too() -> None:
    line = ["odds", "fate", "overcome", "--sheet", "mara", "--skill", "fight", "--vs", "3", "--json"]
    assert as_json(*line, "--choose", "invoke=no*")["outcomes"] == as_json(*line)["outcomes"]
