"""A procedure that the game master ends before it is over: what finished turns did stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rpgres import UsageError
from rpgres.engine.records import Result
from rpgres.engine.rerun import Asked
from rpgres.journal import commands as sitting
from rpgres.journal import store
from rpgres.journal.commands import Place
from rpgres.journal.forms import AnswerEntry
from rpgres.journal.records import found_in, waits_in
from rpgres.journal.rerun import table_what_if
from rpgres.journal.verifying import IN_ORDER, verify
from rpgres.journal.views import log_seen, run_seen, waiting_seen
from rpgres.model.events import TurnEvent
from rpgres.model.state import GM, State
from tests.journal.test_commands import place_in

TASKS = [f"{name}:with=athletics,difficulty=2" for name in ("climb", "jump", "run")]
# The ruleset, who sits there, the procedure with its inputs, and how many turns are over when it is ended.
PROCEDURES: dict[str, tuple[str, list[str], str, dict[str, Any], int]] = {
    "conflict": ("fate", ["mara", "bruiser"], "conflict", {"against": ["bruiser"]}, 3),
    "zones": ("fate", ["mara", "bruiser"], "conflict", {"against": ["bruiser"], "zones": "hall,yard"}, 3),
    "contest": ("fate", ["mara", "bruiser"], "contest", {"skill": "athletics", "vs": ["bruiser:athletics"]}, 1),
    "challenge": ("fate", ["mara"], "challenge", {"task": TASKS}, 1),
    "clash": ("coppermane", ["tamsin", "jackals"], "conflict", {"against": ["jackals"]}, 2),
    "battle": ("saga", ["ilse", "toll-warden"], "battle", {"against": ["toll-warden"], "exchanges": 3}, 1),
    "rounds": ("faith", ["sable", "dock-guard"], "rounds", {"against": ["dock-guard"], "rounds": 3}, 1),
    "sequence": ("nodice", ["orsa", "bram"], "sequence", {"against": ["bram"], "last_phase": 9}, 1),
}


def answered(place: Place) -> None:
    """Answer what waits: attack, and skip what may be skipped."""
    pending = store.read(place.path).pending
    assert pending is not None
    waits = waits_in(pending.secret)
    assert waits is not None
    asked, names = waits.question, [option.name for option in waits.question.options]
    answer = "no" if asked.optional else "attack" if "attack" in names else names[0]
    sitting.answer(place, choose={asked.typed: [answer]})


def turns(place: Place) -> int:
    """Return how many turns of what waits are over."""
    pending = store.read(place.path).pending
    found = found_in(pending.secret) if pending is not None else None
    return sum(isinstance(event, TurnEvent) for event in found.events) if found is not None else 0


def begun(folder: Path, name: str) -> Place:
    """Return a table in the middle of a procedure."""
    ruleset, sheets, action, inputs, count = PROCEDURES[name]
    place = place_in(folder)
    sitting.begin_table(place, ruleset=ruleset, sheets=sheets, seed="3", title="", trust="players")
    sitting.act(place, action, inputs, actor=sheets[0])
    for _ in range(60):
        if turns(place) >= count and store.read(place.path).pending is not None:
            return place
        answered(place)
    raise AssertionError("too few turns come to an end")


def now(place: Place) -> State:
    return sitting.state_at(store.read(place.path))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return begun(tmp_path, "conflict")


@pytest.mark.parametrize("name", PROCEDURES)
def test_every_procedure_can_be_ended_undone_redone_and_verified(tmp_path: Path, name: str) -> None:
    place = begun(tmp_path, name)
    answered(place)
    before, waits = now(place), store.read(place.path).pending
    done = sitting.turn(place, "end", PROCEDURES[name][2], seat=GM)
    came = found_in(done.entry.secret)
    assert isinstance(came, Result)
    assert came.outcome in ("undecided", "partly", "lost")
    assert done.history.pending is None
    after = done.history.state
    assert (not after.periods, {"zones", "round", "used"} & after.things.keys()) == (True, set())
    assert ("zones" in before.things) is (name == "zones")
    sitting.undo(place)
    assert (now(place), store.read(place.path).pending) == (before, waits)
    sitting.redo(place)
    assert store.read(place.path).state == after
    sitting.reveal(place)
    found = verify(place.path)
    assert (found.verdict, found.problems, found.unchecked) == (IN_ORDER, [], [])


def test_what_finished_turns_did_stays_and_the_end_of_the_conflict_comes(place: Place) -> None:
    failed: dict[str, Any] = {"choose": {"turn": ["attack"], "concede": ["no"], "invoke": ["no"]}}
    sitting.answer(place, **failed, given={"roll": ["----"], "opposition": ["++++"]})
    boosts = [tag.name for tag in now(place).tags if tag.kind == "boost"]
    assert "Boost of Bruiser" in boosts
    assert all(tag.kind != "boost" for tag in store.read(place.path).state.tags)
    done = sitting.turn(place, "end")
    assert [tag.name for tag in done.history.state.tags if tag.kind == "boost"] == boosts
    came = found_in(done.entry.secret)
    assert isinstance(came, Result)
    assert [one["kind"] for one in came.effects][-2:] == ["recover", "conflict"]
    sitting.set_value(place, "mara.fate-points", "1")
    sitting.act(place, "conflict", {"against": ["bruiser"]}, actor="mara")  # and begins again
    assert now(place).characters["mara"].counters["fate-points"] == 1


def test_what_is_open_has_no_effect(place: Place) -> None:
    sitting.answer(place, choose={"turn": ["attack"], "concede": ["no"]}, given={"roll": ["----"]})
    before = now(place).characters["mara"].counters["fate-points"]
    sitting.answer(place, choose={"invoke": ["i-know-a-back-way"]})
    done = sitting.turn(place, "end", "conflict")
    assert done.history.state.characters["mara"].counters["fate-points"] == before
    came = found_in(done.entry.secret)
    assert isinstance(came, Result)
    assert came.answers[-1].value == "i-know-a-back-way"  # which stands in the log all the same


def test_a_player_is_refused_and_told_what_is_asked(place: Place) -> None:
    with pytest.raises(UsageError, match=r"only the game master .*, not mara; mara is asked 'turn'; answer it with"):
        sitting.turn(place, "end", "conflict", seat="mara")
    sitting.answer(place, choose={"turn": ["pass"]})
    with pytest.raises(UsageError, match="not mara; another seat is asked; wait for its answer"):
        sitting.turn(place, "end", "conflict", seat="mara")


def test_a_player_cannot_take_back_that_it_was_ended(place: Place) -> None:
    sitting.turn(place, "end", seat=GM)
    with pytest.raises(UsageError, match="was not made by mara"):
        sitting.undo(place, seat="mara")


def test_what_is_refused_meanwhile_says_how_to_end_it(place: Place) -> None:
    for work in (
        lambda: sitting.set_value(place, "mara.fate-points", "1", seat=GM),
        lambda: sitting.turn(place, "end", "scene"),
        lambda: sitting.join(place, "edda"),
    ):
        with pytest.raises(UsageError, match=r"or end it with `.*end.*conflict`, which keeps what its finished turns"):
            work()
    with pytest.raises(UsageError) as error:
        sitting.act(place, "overcome", {"skill": 2, "vs": ["2"]}, seat="mara")
    assert "end" not in error.value.message.partition("undo")[2]


def test_it_takes_no_answers(place: Place) -> None:
    with pytest.raises(UsageError, match="takes no answers, dice or cards"):
        sitting.turn(place, "end", "conflict", choose={"turn": ["attack"]})


def test_an_action_that_is_no_procedure_is_not_ended(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    sitting.begin_table(place, ruleset="fate", sheets=["mara"], seed="3", title="", trust="players")
    sitting.act(place, "overcome", {"skill": "burglary", "vs": ["2"]}, actor="mara", given={"roll": ["----"]})
    with pytest.raises(UsageError, match="cannot end now") as error:
        sitting.turn(place, "end")
    assert "finished turns" not in error.value.message


def test_one_of_which_no_turn_is_over_is_undone_instead(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    sitting.begin_table(place, ruleset="fate", sheets=["mara"], seed="3", title="", trust="players")
    sitting.act(place, "challenge", {"task": ["climb:with=athletics,difficulty=2"]}, actor="mara")
    with pytest.raises(UsageError, match=r"no turn of this challenge is over, .*undo.*1"):
        sitting.turn(place, "end", "challenge")
    assert len(store.read(place.path).entries) == 2


def test_everybody_sees_who_ended_it(place: Place) -> None:
    done = sitting.turn(place, "end", "conflict", seat=GM)
    entry = log_seen(done.history, "mara")[-1]
    assert isinstance(entry, AnswerEntry)
    assert (entry.stops, entry.by, entry.result is not None) == (True, GM, True)


@pytest.mark.parametrize("seat", ["orsa", "bram"])
@pytest.mark.parametrize("name", ["sequence", "conflict"])
def test_who_ends_it_shows_nothing_that_was_hidden(tmp_path: Path, name: str, seat: str) -> None:
    """A seat sees of the turn under way what it saw before, such as nothing of what another has declared in secret."""
    place = begun(tmp_path, name)
    seat = seat if name == "sequence" else "mara"
    answered(place)
    history = store.read(place.path)
    assert history.pending is not None
    before, everything = waiting_seen(history, seat), waits_in(history.pending.secret)
    assert before is not None
    assert everything is not None
    done = sitting.turn(place, "end", seat=GM)
    after = run_seen(done.history, done.entry, seat)
    assert isinstance(after, Result)
    assert after.events[: len(before.events)] == before.events
    assert {event.audience for event in after.events[len(before.events) :]} <= {None}
    assert [*before.answers] == after.answers
    if name == "sequence":
        assert (len(before.events) < len(everything.events)) is (seat == "bram")


def test_what_if_is_refused_for_it(place: Place) -> None:
    done = sitting.turn(place, "end")
    with pytest.raises(UsageError, match="was ended early"):
        table_what_if(place.path, done.history, done.rules, 1, Asked(given=["roll=++++"]), seat=None)
