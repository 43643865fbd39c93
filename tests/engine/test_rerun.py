"""A run once more with an answer changed: which answers stay, which fall away, and where new ones come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from rpgres.dice.seeds import Streams
from rpgres.engine.players import policy_of
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.rerun import Again, Asked, answers_in, run_changed
from rpgres.engine.run import run as run_once
from rpgres.errors import UsageError
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules

SEED = "7"


def prepared(action: str = "overcome", **inputs: Any) -> Prepared:
    return prepare(load_rules(find_ruleset("fate")), action, inputs)


def played(action: Prepared, **by: Any) -> Result:
    found, _ = run_once(action, streams=Streams(SEED), **by)
    assert isinstance(found, Result)
    return found


def again(action: Prepared, before: Result, *, unused: Sequence[str] = (), **asked: Any) -> Again:
    plain = msgspec.structs.replace(before, unused=[*unused])
    return run_changed(action, plain, answers_in(before.events), Asked(**asked), seed=SEED)[0]


def result(found: Again) -> Result:
    assert isinstance(found.found, Result)
    return found.found


def test_every_other_die_stays_as_it_fell() -> None:
    action = prepared(skill=6, vs="4dF")
    before = played(action, given={"roll": ["+000"]})
    opposition = before.answers[1]
    changed = again(action, before, given=["roll=-000"])
    assert result(changed).answers[1] == opposition
    assert before.margin is not None
    assert result(changed).margin == before.margin - 2
    assert (changed.dropped, changed.fresh) == ([], [])


def test_a_reroll_that_is_not_taken_drops_its_dice() -> None:
    action = prepared(sheet="mara", skill="fight", vs=3)
    before = played(
        action,
        given={"roll": ["----", "++++"]},
        choose={"invoke": ["i-know-a-back-way:reroll", "no"]},
    )
    assert before.outcome == "succeed"
    changed = again(action, before, choose=["invoke#1=no", "price=fail"])
    assert result(changed).outcome == "fail"
    assert [(one.label, one.value, one.reason) for one in changed.dropped] == [("roll", "++++", "unasked")]


def test_a_new_reroll_takes_new_dice_from_the_same_seed() -> None:
    action = prepared(sheet="mara", skill="fight", vs=3)
    before = played(action, given={"roll": ["----"]}, choose={"invoke": ["no"], "price": ["fail"]})
    changed = again(action, before, auto=True, choose=["invoke=i-know-a-back-way:reroll"])
    by = {"given": {"roll": ["----"]}, "choose": {"invoke": ["i-know-a-back-way:reroll"]}}
    direct = played(action, **by, policies={"": policy_of(action.rules)})
    assert result(changed).answers == direct.answers
    rolls = [f"roll={answer.value}" for answer in direct.answers if answer.kind == "chance"]
    assert (rolls[0], changed.fresh) == ("roll=----", rolls[1:])


def test_a_new_decision_waits_or_is_taken_by_a_policy() -> None:
    action = prepared("attack", sheet="mara", skill="fight", vs="guards:fight")
    choose = {"invoke": ["no"], "invoke-against": ["no"]}
    before = played(action, given={"roll": ["----"], "opposition": ["0000"]}, choose=choose)
    assert before.outcome == "fail"
    waits = again(action, before, given=["roll=++++"])
    assert isinstance(waits.found, Pending)
    decided = again(action, before, given=["roll=++++"], auto=True)
    assert result(decided).success is True


@pytest.mark.parametrize(
    ("given", "choose", "told"),
    [
        ([], [], "say what is changed"),
        (["roll"], [], "takes LABEL=VALUE"),
        (["roll=+++"], [], "four Fate dice expected"),
        (["rol=++++"], [], "rol"),
        ([], ["price=cost"], "nothing was asked"),
        ([], ["invoke=nonsense"], "invoke=nonsense"),
        ([], ["invoke#5=no"], "has 1 such answer, not 5"),
        (["roll=++++", "roll#1=0000"], [], "changed twice"),
    ],
)
def test_what_cannot_be_changed_is_told(given: list[str], choose: list[str], told: str) -> None:
    action = prepared(sheet="mara", skill="fight", vs=1)
    before = played(action, given={"roll": ["++++"]})
    with pytest.raises(UsageError) as caught:
        again(action, before, given=given, choose=choose)
    assert told in caught.value.message


def test_several_answers_of_a_label_have_to_be_told_apart() -> None:
    action = prepared(sheet="mara", skill="fight", vs=3)
    before = played(action, given={"roll": ["++++"]}, choose={"invoke": ["i-know-a-back-way", "no"]})
    with pytest.raises(UsageError, match=r"invoke#1 \(i-know-a-back-way\), invoke#2 \(no\)"):
        again(action, before, choose=["invoke=no"])
    changed = again(action, before, choose=["invoke#2=wanted-in-three-ports"])
    assert before.margin is not None
    assert result(changed).margin == before.margin + 2


def test_other_rules_are_not_taken_for_the_same_run() -> None:
    before = played(prepared(skill=1, vs=1), given={"roll": ["0000"]})
    with pytest.raises(UsageError, match="has another result when"):
        again(prepared(skill=2, vs=1), before, given=["roll=++++"])
