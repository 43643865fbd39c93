"""Names of what is made at a persistent table: whoever typed the action is asked, where a person is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rpgres.engine.players import Prompt, Question, View
from rpgres.engine.records import Result
from rpgres.journal import commands as sitting
from rpgres.journal import store
from rpgres.journal.commands import Done, Place
from rpgres.journal.records import found_in
from rpgres.journal.verifying import IN_ORDER, verify
from tests.journal.test_commands import place_in

STYLE = {"roll": ["++++"]}
NEW = {"skill": "stealth", "vs": ["0"]}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = place_in(tmp_path)
    sitting.begin_table(place, ruleset="fate", sheets=["mara", "bruiser"], seed="3", title="", trust="players")
    return place


def typing(*names: str | None) -> tuple[Prompt, list[str]]:
    """Return a person who types these names, and skips or attacks else; and whose names were asked for."""
    left, asked = list(names), list[str]()

    def prompt(_view: View, question: Question) -> str | None:
        if question.is_naming:
            asked.append(question.who)
            return left.pop(0)
        return "no" if question.optional else question.options[0].name

    return prompt, asked


def made(done: Done) -> list[str]:
    """Return the names of the aspects that were made, which stand at the table, with free invocations on them."""
    found = found_in(done.entry.secret)
    assert isinstance(found, Result)
    names = [one["name"] for one in found.effects if one["kind"] == "aspect"]
    assert {one["on"] for one in found.effects if one["kind"] == "free-invoke"} <= set(names)
    assert set(names) <= {tag.name for tag in done.history.state.tags}
    return names


@pytest.mark.parametrize(("typed", "name"), [("Fog", "Fog"), ("no", "An Advantage"), (None, "An Advantage")])
@pytest.mark.parametrize("seat", [None, "mara"])
def test_at_a_terminal_the_name_is_asked(place: Place, seat: str | None, typed: str | None, name: str) -> None:
    prompt, asked = typing(typed)
    done = sitting.act(place, "create-advantage", NEW, actor="mara", seat=seat, prompt=prompt, given=STYLE)
    assert (made(done), asked, done.history.pending) == ([name], ["mara"], None)
    sitting.reveal(place)
    assert verify(place.path).verdict == IN_ORDER


def test_where_nobody_can_be_asked_the_default_stays(place: Place) -> None:
    done = sitting.act(place, "create-advantage", NEW, actor="mara", given=STYLE)
    assert (made(done), len(done.entries)) == (["An Advantage"], 1)


def test_a_name_that_is_given_is_not_asked_for(place: Place) -> None:
    for given in ({"choose": {"aspect-name": ["Fog"]}}, {}):
        prompt, asked = typing()
        inputs = NEW if given else {**NEW, "name": "Mist"}
        done = sitting.act(place, "create-advantage", inputs, actor="mara", prompt=prompt, given=STYLE, **given)
        assert (made(done), asked) == (["Fog"] if given else ["Mist"], [])


def test_a_policy_leaves_the_default(place: Place) -> None:
    inputs: dict[str, Any] = {**NEW, "vs": ["3"]}
    given = {"roll": ["+000"]}
    done = sitting.act(place, "create-advantage", inputs, actor="mara", prompt=lambda *_: None, given=given)
    assert done.history.pending is not None, "the person has left at a question before"
    assert sitting.answer(place, auto=True).history.pending is None


def test_a_name_is_asked_of_the_seat_that_typed_alone(place: Place) -> None:
    """Nobody waits for another seat's name."""
    prompt, asked = typing()
    hit: dict[str, Any] = {"skill": "fight", "vs": ["mara:fight"]}
    given = {"roll": ["++++"], "opposition": ["----"]}
    choose = {"invoke": ["no"], "hit": ["full"]}
    sitting.act(place, "attack", hit, actor="bruiser", seat="gm", prompt=prompt, given=given, choose=choose)
    while (pending := store.read(place.path).pending) is not None:
        waits = found_in(pending.secret)
        assert not isinstance(waits, Result)
        assert waits is not None
        assert waits.question.label != "consequence-name"
        answer = "no" if waits.question.optional else waits.question.options[0].name
        sitting.answer(place, choose={waits.question.typed: [answer]})
    assert asked == []


def test_an_advantage_in_a_conflict_has_the_name_that_is_typed(place: Place) -> None:
    prompt, asked = typing("Deep Shadows")
    turn = {"turn": ["create-advantage"], "target": ["scene"], "invoke": ["no"]}
    begin: dict[str, Any] = {"against": ["bruiser"]}

    def until_named(view: View, question: Question) -> str | None:
        return prompt(view, question) if not asked else None  # the person leaves at the next question

    done = sitting.act(place, "conflict", begin, actor="mara", prompt=until_named, given=STYLE, choose=turn)
    assert asked == ["mara"]
    assert "Deep Shadows" in [tag.name for tag in sitting.state_at(done.history).tags]
    done = sitting.turn(place, "end")
    assert "Deep Shadows" in [tag.name for tag in done.history.state.tags]
    sitting.reveal(place)
    assert verify(place.path).verdict == IN_ORDER
