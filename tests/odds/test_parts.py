"""Parts of rules whose results odds of scenes keep: their chains of steps, a budget, and names that do not matter."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import msgspec
import pytest

from rpgres import odds_scene
from rpgres.dice import dice
from rpgres.engine.players import Question, Seats, View, by_question
from rpgres.engine.running import Run
from rpgres.engine.table import Table
from rpgres.odds.explorer import Budget, WalkDealer
from rpgres.odds.parts import Kept
from rpgres.rulesets import STATE, Option
from tests.support.tiny import with_rule

PREPARED = with_rule(lambda table, actor, **_: table.settle("try", 0))


class Count(msgspec.Struct, frozen=True):
    """How many sixes there were in how many throws."""

    sixes: int = 0
    throws: int = 0


def throw(table: Table, place: Count) -> Count | None:
    """Throw ten times, as long as the actor goes on."""
    if place.throws == 10 or table.ask("on", "actor", (Option("on"), Option("stop")), sixes=place.sixes) == "stop":
        return None
    return Count(place.sixes + (table.roll(dice("d6")) == 6), place.throws + 1)


def alike(_table: Table, place: Count) -> Count:
    """Return all that matters."""
    return place


@by_question
def until_two(view: View, question: Question) -> str:
    """Stop at two sixes; what is on the table is not shown to a policy that promised not to look."""
    assert not view.state.characters
    return "stop" if question.facts["sixes"] >= 2 else "on"


def worked_out(budget: Budget) -> tuple[Kept, dict[Any, Fraction]]:
    """Return what throws come to that follow one another in a part."""
    kept, state = Kept(budget), PREPARED.state

    def play(run: Run) -> Any:
        table = Table(run, run.rules)
        bonus = table.roll(dice("d2"), "bonus")
        last = table.chain(throw, Count(), key=alike, holds=(STATE,))
        return last.sixes, last.throws, bonus

    run = Run(PREPARED.rules, state, WalkDealer(), Seats(policies={"": until_two}), STATE)
    found, weights, total = kept.work_out(run, play)
    return kept, {one: Fraction(weight, total) for one, weight in zip(found, weights, strict=True)}


def test_places_of_a_chain_are_evaluated_once() -> None:
    kept, found = worked_out(Budget())
    assert sum(found.values()) == 1
    assert found[0, 10, 1] == Fraction(5, 6) ** 10 / 2
    assert found[2, 3, 2] == 2 * Fraction(1, 36) * Fraction(5, 6) / 2  # one of the first two, and the third
    assert kept.leaves < 300  # 6 ** 10 courses


def test_a_budget_that_is_spent_leaves_a_part_open() -> None:
    _, found = worked_out(Budget(leaves=8))
    assert not found


@pytest.mark.slow
def test_what_aspects_are_called_changes_no_odds(tmp_path: Any) -> None:
    def sheet(name: str, *aspects: str) -> str:
        path = tmp_path / f"{name}.toml"
        listed = ", ".join(f'"{aspect}"' for aspect in aspects)
        path.write_text(f'name = "{name}"\nrefresh = 1\naspects = [{listed}]\n[skills]\nfight = 2\n', "utf-8")
        return str(path)

    def odds(*sheets: str) -> dict[str, str]:
        policies = {"": "sensible"}
        found = odds_scene("fate", "conflict", sheet=sheets[0], against=[sheets[1]], exchanges=1, policies=policies)
        assert found.method == "exact"
        return {name: chance.exact for name, chance in found.outcomes.items()}

    plain = odds(sheet("ann", "Bold", "Tall"), sheet("bea", "Calm"))
    assert plain == odds(sheet("ann", "Zealous", "Young"), sheet("bea", "Xenial"))
