"""Rows of outcome tables that one policy completes: found again, and the same as when they are completed anew."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.players import COMMON_POLICIES, Policy, Question, View, by_question, policy_of
from rpgres.engine.prepare import prepare
from rpgres.engine.run import play
from rpgres.engine.seats import Seats
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules

RULES = load_rules(find_ruleset("fate"))
ACTION = prepare(RULES, "overcome", {"skill": 1, "vs": "4dF+1"})


def told(seats: Callable[[], Seats], runs: int = 60) -> list[object]:
    dealer, found = SeededDealer(Streams("rows")), list[object]()
    for run in range(runs):
        dealer.move_to(run)
        outcome, done = play(ACTION, dealer=dealer, players=seats())
        found.append((outcome, done.events, done.counts))
    return found


def unkept(policy: Policy) -> Callable[[], Seats]:
    return lambda: Seats(policies={"": policy})


@pytest.mark.parametrize("name", ["sensible", "preferred", "uniform"])
def test_kept_rows_change_nothing(name: str) -> None:
    seats = Seats(policies={"": policy_of(RULES, name)})
    assert told(lambda: seats) == told(unkept(policy_of(RULES, name)))
    assert bool(seats.policies.completed) == (name != "uniform")  # what is drawn by weights is drawn in each run


def test_a_policy_is_asked_once_for_a_row() -> None:
    asked: list[str] = []

    @by_question
    def last(view: View, question: Question) -> str:
        asked.append(f"{question.label} {question.facts['margin']}")
        return question.options[-1].name

    seats = Seats(policies={"": last})
    assert told(lambda: seats) == told(unkept(last))
    assert len(asked[: len(set(asked))]) == len(set(asked)) < len(asked)
    before = len(asked)
    told(lambda: seats)
    assert len(asked) == before


def test_policies_that_look_around_are_asked_each_time() -> None:
    asked = 0

    def first(view: View, question: Question) -> str:
        nonlocal asked
        asked += 1
        return question.options[0].name

    seats = Seats(policies={"": first})
    told(lambda: seats)
    once = asked
    told(lambda: seats)
    assert asked == 2 * once > 0
    several = Seats(policies={"": COMMON_POLICIES["preferred"], "gm": first})
    told(lambda: several)
    assert not several.policies.completed
