"""What doing an action costs, whatever comes of it (`Ruleset.action(costs=)`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec import structs

from rpgres.dice.seeds import Streams
from rpgres.engine.prepare import Prepared
from rpgres.engine.records import Result
from rpgres.engine.run import run
from rpgres.errors import RuleError, UsageError
from rpgres.model.state import Character, State
from rpgres.rulesets import Costs, Effect, effect
from tests.support.tiny import tiny_action, tiny_rules, tiny_ruleset


def with_costs(costs: Costs, **inputs: Any) -> Prepared:
    ruleset = tiny_ruleset()
    ruleset.action("try", costs=costs)(ruleset.actions["try"])
    return tiny_action(tiny_rules(ruleset=ruleset), **inputs)


def ticks(state: State, actor: Character, given: Mapping[str, Any]) -> Sequence[Effect]:
    if state.counters.get("clock"):
        raise UsageError(f"{actor.name} has no time left")
    return [effect("tick", segments=3 if given.get("push") else 1)]


@pytest.mark.parametrize(("push", "segments"), [(False, 1), (True, 3)])
@pytest.mark.parametrize(("dice", "own"), [("1,1", ["luck"]), ("3,4", []), ("6,6", ["tick"])])
def test_they_come_after_the_effects_of_any_outcome(dice: str, own: list[str], push: bool, segments: int) -> None:
    prepared = with_costs(ticks, vs=7, push=push)
    found, after = run(
        prepared, streams=Streams("7"), given={"roll": [dice]}, choose={"price": ["luck"]} if own == ["luck"] else {}
    )
    assert isinstance(found, Result)
    assert [one["kind"] for one in found.effects] == [*own, "tick"]
    assert found.effects[-1] == {"kind": "tick", "segments": segments}
    assert after.counters["clock"] >= segments


def test_who_cannot_pay_does_not_roll() -> None:
    prepared = with_costs(ticks, vs=7)
    _, after = run(prepared, streams=Streams("7"), given={"roll": ["3,4"]})
    again = structs.replace(with_costs(ticks, vs=7), state=after)
    with pytest.raises(UsageError, match="has no time left"):
        run(again, streams=Streams("7"))


def test_their_fault_is_one_of_the_ruleset() -> None:
    with pytest.raises(RuleError, match="the rule tiny try failed: ZeroDivisionError"):
        run(with_costs(lambda *_: 1 // 0, vs=7), streams=Streams("7"))  # type: ignore[arg-type, return-value]
