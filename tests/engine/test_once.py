"""What a rule works out once for all runs of its inputs: each run comes to what it would come to alone."""

from __future__ import annotations

from copy import copy
from typing import Any

import pytest
from msgspec import structs

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.events import Told
from rpgres.engine.players import policy_of
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.run import play
from rpgres.engine.seats import Seats
from rpgres.engine.table import Outcome, once
from rpgres.errors import RuleError, UsageError
from rpgres.model.state import Map
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules

FATE = load_rules(find_ruleset("fate"))
NOTHING = Outcome("succeed")
SHEETS = {"sheet": "mara", "skill": "deceive", "vs": "guards:will", "bonus": 1}


def played(prepared: Prepared, run: int) -> tuple[Outcome, list[Any]]:
    dealer = SeededDealer(Streams("7"))
    dealer.move_to(run)
    outcome, done = play(prepared, dealer=dealer, players=Seats(policies={"": policy_of(FATE)}))
    return outcome, done.events


@pytest.mark.parametrize("action", ["overcome", "attack"])
def test_further_runs_come_to_what_they_would_come_to_alone(action: str) -> None:
    prepared = prepare(FATE, action, SHEETS)
    for run in range(30):
        outcome, events = played(prepared, run)
        assert (outcome, events) == played(prepare(FATE, action, SHEETS), run)
        assert [event for event in events if isinstance(event, Told)], "the sum is told in each run"


def test_another_action_is_not_played_as_the_first_one() -> None:
    prepared = prepare(FATE, "attack", SHEETS)
    for run in range(10):
        played(prepared, run)
        other = structs.replace(prepared, action="overcome")
        assert played(other, run) == played(prepare(FATE, "overcome", SHEETS), run)


def test_another_table_is_not_answered_for_the_first_one() -> None:
    prepared = prepare(FATE, "overcome", SHEETS)
    played(prepared, 0)
    bare = structs.replace(prepared, state=structs.replace(prepared.state, tags=()))
    alone = prepare(FATE, "overcome", SHEETS)
    alone = structs.replace(alone, state=structs.replace(alone.state, tags=()))
    for run in range(10):
        assert played(bare, run) == played(alone, run)
        assert played(prepared, run) == played(prepare(FATE, "overcome", SHEETS), run)


def test_what_is_refused_is_refused_each_time() -> None:
    prepared = prepare(FATE, "overcome", SHEETS)
    people = prepared.state.characters
    out = structs.replace(people["guards"], is_out=True)
    beaten = structs.replace(prepared, state=structs.replace(prepared.state, characters=Map({**people, "guards": out})))
    played(prepared, 0)
    for run in range(2):
        with pytest.raises(UsageError, match="guards is taken out"):
            played(beaten, run)


def replayed(rule: Any) -> list[Any]:
    """Play a rule in place of `overcome` three times with the same inputs, and return what it found each time."""
    found, rules = list[Any](), FATE.without_overlays()  # a copy
    prepared = prepare(rules, "overcome", SHEETS)
    ruleset = copy(rules.ruleset)
    ruleset.actions = {**ruleset.actions, "overcome": lambda table, actor, **_: found.append(rule(table)) or NOTHING}
    rules.ruleset = ruleset
    for run in range(3):
        played(prepared, run)
    return found


def test_several_things_are_worked_out_each_for_itself() -> None:
    worked = list[int]()

    def twice(number: int) -> int:
        worked.append(number)
        return 2 * number

    assert replayed(lambda table: (once(table, twice, 1), once(table, twice, 2))) == [(2, 4)] * 3
    assert worked == [1, 2]


def test_what_comes_after_a_roll_is_not_worked_out_for_all_runs() -> None:
    with pytest.raises(RuleError, match="after a roll or a question"):
        replayed(lambda table: once(table, int, table.roll(FATE.dice, "roll")))
