"""A table that lasts, as a library: acting, answering, taking back, correcting, and the chain under all of it."""

from __future__ import annotations

import json
import sqlite3
import zlib
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import rpgres
from rpgres import UsageError, resolve
from rpgres.cli.mcp import calls
from rpgres.cli.mcp.records import ActArguments
from rpgres.engine.records import Pending, Result
from rpgres.journal import commands as sitting
from rpgres.journal import store
from rpgres.journal.chain import SALT, START, commitment, link
from rpgres.journal.commands import Done, Place
from rpgres.journal.forms import UndoEntry
from rpgres.journal.records import Entry, found_in
from rpgres.journal.verifying import verify
from rpgres.journal.views import log_seen, table_record
from rpgres.lines.seat import Seat
from rpgres.model.events import DecisionEvent
from rpgres.model.state import Character
from rpgres.plugins.discovery import find_ruleset
from rpgres.rulesets import Rules

LOSE = {"roll": ["----"]}
FAILING = {"invoke": ["no"], "invoke-against": ["no"], "cost": ["no"], "price": ["fail"]}
WIN = {"roll": ["++00"]}  # by less than makes invoking pointless


def place_in(folder: Path) -> Place:
    """Return a table to be, with a clock and salts that are the same every time."""
    ticks, salts = count(), count(1)
    return Place(
        folder / "table.db",
        now=lambda: f"2026-01-01T00:{next(ticks):02}:00Z",
        salt=lambda: next(salts).to_bytes(SALT, "big"),
    )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = place_in(tmp_path)
    sitting.begin_table(
        place, ruleset="fate", sheets=["mara", "edda", "guards"], seed="7", title="The gate", trust="players"
    )
    return place


def overcome(place: Place, *, invoke: str = "no", **more: Any) -> Done:
    settings = {"actor": "mara", "choose": {"invoke": [invoke], "invoke-against": ["no"]}, "given": WIN, **more}
    return sitting.act(place, "overcome", {"skill": "burglary", "vs": ["2"]}, **settings)


def found(done: Done | Entry) -> Result | Pending:
    came = found_in((done.entry if isinstance(done, Done) else done).secret)
    assert came is not None
    return came


def pending_label(place: Place) -> str | None:
    pending = store.read(place.path).pending
    if pending is None:
        return None
    came = found(pending)
    assert isinstance(came, Pending)
    return came.question.label


def points(place: Place, who: str = "mara") -> int:
    return store.read(place.path).state.characters[who].counters["fate-points"]


# ---------------------------------------------------------------------------------------------------------------------
# Acting


def test_an_action_is_the_one_of_a_roll(place: Place) -> None:
    """Same inputs, same dice, same answers: what `resolve` says, but for the names of who sits there."""
    done = overcome(place, given={}, choose=FAILING)
    came = found(done)
    assert isinstance(came, Result)
    rolled = {"roll": came.answers[0].value}
    alone = resolve("fate", "overcome", sheet="mara", skill="burglary", vs="2", given=rolled, choose={"invoke": "no"})
    assert isinstance(alone, Result)
    same = ("action", "total", "opposition", "margin", "outcome", "success", "texts", "switches")
    assert [getattr(came, name) for name in same] == [getattr(alone, name) for name in same]
    assert came.seed is None
    assert (done.entry.number, done.entry.public.actor) == (1, "mara")


def test_what_an_action_changes_stays(place: Place) -> None:
    assert points(place) == 3
    overcome(place, given={"roll": ["0000"]}, choose={"invoke": ["i-know-a-back-way", "no"], "cost": ["no"]})
    assert points(place) == 2
    assert points(place, "edda") == 2


def test_each_action_has_dice_of_its_own(place: Place) -> None:
    free: dict[str, Any] = {"given": {}, "choose": FAILING}
    throws = [found(overcome(place, **free)).answers[0].value for _ in range(6)]
    assert len(set(throws)) > 1


def test_who_acts(place: Place) -> None:
    with pytest.raises(UsageError, match=r"name the actor: `actor` mara\|edda"):
        overcome(place, actor="")
    assert overcome(place, actor="", seat="edda", given={"roll": ["++++"]}).entry.public.actor == "edda"
    with pytest.raises(UsageError, match="edda does not belong to the seat mara"):
        overcome(place, actor="edda", seat="mara")
    assert overcome(place, actor="guards", seat="gm", given={"roll": ["++++"]}).entry.public.actor == "guards"
    with pytest.raises(UsageError, match="did you mean 'mara'"):
        overcome(place, actor="mora")
    with pytest.raises(UsageError, match="no seat 'guards'"):
        overcome(place, seat="guards")
    assert len(store.read(place.path).entries) == 3


def test_nobody_has_to_say_who_acts_where_it_makes_no_difference(tmp_path: Path) -> None:
    place = Place(tmp_path / "saga.db")
    sitting.begin_table(place, ruleset="saga", sheets=["brannagh", "ilse", "toll-warden"], seed="7")
    actors = [sitting.act(place, "aura", {}, seat=seat).entry.public.actor for seat in (None, "gm", "ilse")]
    assert actors == ["toll-warden", "toll-warden", "ilse"]
    place = Place(tmp_path / "players.db")
    sitting.begin_table(place, ruleset="saga", sheets=["brannagh", "ilse"], seed="7")
    assert sitting.act(place, "aura", {}, seat="gm").entry.public.actor == "brannagh"


def test_a_sheet_that_opposes_is_kept(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer comes hours later, perhaps elsewhere: the text of the sheet is that of the first time."""
    monkeypatch.chdir(tmp_path)
    sheet = tmp_path / "dog.toml"
    sheet.write_text('name = "Dog"\n[skills]\nwill = 4\n', "utf-8")
    done = sitting.act(
        place,
        "overcome",
        {"skill": "2", "vs": ["dog.toml:will"]},
        actor="mara",
        given={"roll": ["0000"], "opposition": ["0000"]},
    )
    assert pending_label(place) == "invoke"
    assert "dog" not in done.history.state.characters  # nothing half done is on the table
    sheet.unlink()
    while pending_label(place) is not None:
        label = pending_label(place) or ""
        done = sitting.answer(place, choose={label: ["fail" if label == "price" else "no"]})
    came = found(done)
    assert isinstance(came, Result)
    assert came.opposition == 4
    assert "dog" in done.history.state.characters


# ---------------------------------------------------------------------------------------------------------------------
# Decisions that wait


def test_a_decision_waits_and_is_resumed(place: Place) -> None:
    done = overcome(place, choose={}, given={"roll": ["----"]})
    assert pending_label(place) == "invoke"
    before = done.history.state
    done = sitting.answer(place, seat="mara", choose={"invoke": ["i-know-a-back-way:reroll"]}, given={"roll": ["--00"]})
    assert pending_label(place) == "invoke"
    assert done.history.state == before
    done = sitting.answer(place, seat="mara", choose={"invoke": ["wanted-in-three-ports"]})
    while pending_label(place) is not None:
        done = sitting.answer(place, choose={pending_label(place) or "": ["no"]})
    came = found(done)
    assert isinstance(came, Result)
    assert [answer.value for answer in came.answers if answer.label == "roll"] == ["----", "--00"]
    assert done.entry.public.of == 1
    assert points(place) == 1


def test_only_its_owner_answers(place: Place) -> None:
    overcome(place, choose={})
    with pytest.raises(UsageError, match="another seat is asked") as caught:
        sitting.answer(place, seat="edda", choose={"invoke": ["no"]})
    assert "mara" not in caught.value.message
    with pytest.raises(UsageError, match="not offered"):
        sitting.answer(place, seat="mara", choose={"invoke": ["nonsense"]})
    with pytest.raises(UsageError, match="choose an option"):
        sitting.answer(place, seat="mara")
    assert pending_label(place) == "invoke"
    sitting.answer(place, seat="mara", choose={"invoke": ["no"]})
    with pytest.raises(UsageError, match="no decision is pending"):
        sitting.answer(place, seat="mara", choose={"invoke": ["no"]})


def test_nothing_else_is_done_meanwhile(place: Place) -> None:
    overcome(place, choose={})
    for seat, told in ((None, "mara is asked 'invoke'"), ("mara", "mara is asked"), ("edda", "another seat is asked")):
        with pytest.raises(UsageError, match=told):
            overcome(place, actor="", seat=seat) if seat else overcome(place)
    for deed in (
        lambda: sitting.set_value(place, "counters.gm-points", "2"),
        lambda: sitting.join(place, "venn"),
        lambda: sitting.turn(place, "begin"),
        lambda: sitting.reveal(place),
    ):
        with pytest.raises(UsageError, match="waits for a decision"):
            deed()
    sitting.write_note(place, "The dice are still on the table.")
    assert pending_label(place) == "invoke"


def test_answers_typed_by_a_seat_are_for_its_own_decisions(place: Place) -> None:
    """Edda's attack asks both sides whether they invoke; what she types is not Mara's answer."""
    done = sitting.act(
        place,
        "attack",
        {"skill": "fight", "vs": ["mara:fight"]},
        seat="edda",
        choose={"invoke": ["no", "no", "no"]},
        given={"roll": ["++++"], "opposition": ["----"]},
    )
    came = found(done)
    assert isinstance(came, Pending)
    assert came.question.who == "mara"
    assert [event.who for event in came.events if isinstance(event, DecisionEvent)] in ([], ["edda"])


def test_a_seat_lets_windows_go_by(place: Place) -> None:
    sitting.let_pass(place, "invoke", seat="mara", until="always")
    done = overcome(place, choose={})
    assert isinstance(found(done), Result)
    sitting.undo(place, 1)
    sitting.let_pass(place, seat="mara")  # the next action only
    assert isinstance(found(overcome(place, choose={})), Result)
    assert isinstance(found(overcome(place, choose={})), Pending)
    with pytest.raises(UsageError, match="did you mean 'invoke'"):
        sitting.let_pass(place, "invoce", seat="mara")
    with pytest.raises(UsageError, match="`until` has no span 'scnee'; did you mean 'scene'"):
        sitting.let_pass(place, seat="mara", until="scnee")


def test_a_pass_answers_what_waits_and_lasts_for_a_scene(place: Place) -> None:
    sitting.let_pass(place, seat="gm", until="always")
    sitting.turn(place, "begin")
    overcome(place, choose={})
    done = sitting.let_pass(place, "invoke", seat="mara", until="scene")
    assert [entry.kind for entry in done.entries] == ["pass", "answer"]
    assert isinstance(found(done), Result)
    assert isinstance(found(overcome(place, choose={})), Result)
    sitting.turn(place, "end")
    assert isinstance(found(overcome(place, choose={})), Pending)


def test_a_decision_that_has_to_be_taken_is_not_passed(place: Place) -> None:
    sitting.let_pass(place, seat="gm", until="always")
    sitting.let_pass(place, seat="mara", until="always")
    done = overcome(place, choose={}, given=LOSE)
    came = found(done)
    assert isinstance(came, Pending)
    assert not came.question.optional


def test_policies_and_a_prompt_answer(place: Place) -> None:
    assert isinstance(found(overcome(place, choose={}, auto=True)), Result)
    asked: list[str] = []

    def prompt(view: Any, question: Any) -> str:
        asked.append(question.who)
        return "no"

    assert isinstance(found(overcome(place, choose={}, seat="mara", prompt=prompt)), Result)
    assert set(asked) == {"mara"}


def test_a_seat_sets_no_policy_for_others(place: Place) -> None:
    with pytest.raises(UsageError, match="mara does not decide for edda"):
        overcome(place, actor="", seat="mara", policies={"edda": "uniform"})
    overcome(place, actor="", seat="mara", policies={"actor": "uniform"}, choose={}, given=LOSE)
    done = sitting.act(
        place,
        "attack",
        {"skill": "1", "vs": ["mara:fight"]},
        seat="edda",
        auto=True,
        given={"roll": ["0000"], "opposition": ["0000"]},
    )
    came = found(done)
    assert not any(
        event.who == "mara" and event.means == "policy" for event in came.events if isinstance(event, DecisionEvent)
    )


def test_whoever_was_asked_may_take_the_answer_back(place: Place) -> None:
    overcome(place, choose={}, actor="guards", given={"roll": ["0000"]})
    while pending_label(place):
        sitting.answer(place, auto=True)
    number = store.read(place.path).head.number
    overcome(place, choose={})
    sitting.answer(place, choose={"invoke": ["no"]})  # typed by the host
    sitting.undo(place, store.read(place.path).head.number, seat="mara")
    with pytest.raises(UsageError, match="mara cannot undo it"):
        sitting.undo(place, number, seat="mara")


def test_somebody_acts_while_a_person_thinks(place: Place) -> None:
    """What they say does not matter; an answer to what is no longer pending is not taken."""

    def prompt(view: Any, question: Any) -> str:
        sitting.write_note(place, "meanwhile")
        return "no"

    overcome(place, choose={}, prompt=prompt)
    assert [entry.kind for entry in store.read(place.path).entries] == ["new", "act", "note", "answer"]

    def taken_back(view: Any, question: Any) -> str:
        sitting.undo(place)
        overcome(place, choose={})
        return "no"

    with pytest.raises(UsageError, match="a question that is no longer pending"):
        overcome(place, choose={}, prompt=taken_back)


# ---------------------------------------------------------------------------------------------------------------------
# Taking back


def test_after_an_undo_the_same_question_gets_the_same_dice(place: Place) -> None:
    free: dict[str, Any] = {"given": {}, "choose": FAILING}
    first, second = (found(overcome(place, **free)) for _ in range(2))
    sitting.undo(place, 1)
    assert store.read(place.path).state == store.read_state_after(place.path, store.read(place.path).new)
    again = found(overcome(place, **free)), found(overcome(place, **free))
    assert [one.answers for one in again] == [first.answers, second.answers]


def test_an_undo_is_an_entry_and_flagged(place: Place) -> None:
    overcome(place)
    done = sitting.undo(place)
    assert [entry.kind for entry in done.history.entries] == ["new", "act", "undo"]
    assert [entry.kind for entry in done.history.standing] == ["new"]
    shown = log_seen(done.history, "edda")
    assert [entry.undone for entry in shown] == [False, True, False]
    assert shown[-1].passes == ["draw"]
    sitting.write_note(place, "nothing rolled")
    assert log_seen(sitting.undo(place).history, "edda")[-1].passes == []


def test_an_undo_that_takes_back_what_was_shown(place: Place) -> None:
    sitting.set_value(place, "tags.Rigged Stairs", "aspect")
    sitting.set_value(place, "tags.rigged-stairs.audience", "gm")
    sitting.set_value(place, "tags.rigged-stairs.audience", "everybody")
    done = sitting.undo(place)
    assert log_seen(done.history, "mara")[-1].passes == ["reveal"]
    assert log_seen(done.history, "gm")[-1].passes == []
    assert log_seen(done.history, None)[-1].passes == ["reveal"]


def test_whose_it_is_to_take_back(place: Place) -> None:
    overcome(place)
    with pytest.raises(UsageError, match="so edda cannot undo it"):
        sitting.undo(place, seat="edda")
    sitting.undo(place, seat="mara")
    overcome(place)
    sitting.undo(place, seat="gm")
    with pytest.raises(UsageError, match="nothing to undo"):
        sitting.undo(place)
    for number, told in ((0, "the table itself"), (1, "no entry 1 to undo"), (99, "no entry 99")):
        sitting.write_note(place, "x")
        with pytest.raises(UsageError, match=told):
            sitting.undo(place, number)


def test_an_action_in_pieces_is_taken_back_whole_or_from_an_answer_on(place: Place) -> None:
    overcome(place, choose={}, given={"roll": ["----", "0000"]})
    sitting.answer(place, choose={"invoke": ["i-know-a-back-way:reroll"]})
    assert pending_label(place) == "invoke"
    sitting.undo(place, 2)
    history = store.read(place.path)
    assert history.pending is not None
    assert history.pending.number == 1
    sitting.answer(place, choose={"invoke": ["no"]})
    assert pending_label(place) not in (None, "invoke")
    sitting.undo(place)
    assert pending_label(place) == "invoke"
    sitting.undo(place)
    assert [entry.kind for entry in store.read(place.path).standing] == ["new"]


def kinds(place: Place) -> list[str]:
    return [entry.kind for entry in store.read(place.path).standing]


def test_what_others_said_neither_blocks_an_undo_nor_goes_with_it(place: Place) -> None:
    overcome(place, given={"roll": ["0000"]}, choose={"invoke": ["i-know-a-back-way", "no"], "cost": ["no"]})
    assert points(place) == 2
    sitting.write_note(place, "What a night.", seat="edda")
    sitting.let_pass(place, seat="edda", until="always")
    sitting.write_note(place, "Nobody knows.", seat="gm", to=["edda"])
    sitting.undo(place, seat="mara")
    assert kinds(place) == ["new", "note", "pass", "note"]
    assert points(place) == 3
    overcome(place, given={"roll": ["0000"]}, choose={"invoke": ["i-know-a-back-way", "no"], "cost": ["no"]})
    sitting.undo(place, seat="mara")  # the notes stand in front of it now, and had another table behind them
    assert points(place) == 3
    sitting.undo(place, seat="edda")  # its own, as nothing else is left
    sitting.undo(place, 2)
    assert kinds(place) == ["new", "note"]
    with pytest.raises(UsageError, match="nothing to undo"):
        sitting.undo(place, seat="mara")
    undos = [entry for entry in log_seen(store.read(place.path), None) if isinstance(entry, UndoEntry)]
    told = [entry.before for entry in undos if entry.is_alone]
    assert told == [3, 2]
    sitting.reveal(place)
    assert verify(place.path).exit == 0


# ---------------------------------------------------------------------------------------------------------------------
# Correcting, noting, sitting down, scenes


def at(place: Place, path: str) -> Any:
    from rpgres.model.paths import value_at

    return value_at(store.read(place.path).state, path)


@pytest.mark.parametrize(
    ("path", "text", "where", "value"),
    [
        ("characters.mara.counters.fate-points", "5", "", 5),
        ("characters.mara.is_out", "yes", "", True),
        ("characters.mara.title", "Mara", "", "Mara"),
        ("characters.mara.seat", "gm", "", "gm"),
        ("characters.mara.abilities.fight", "3", "", 3),
        ("characters.mara.abilities.lore", "2", "", 2),
        ("characters.mara.tracks.physical.2", "x", "characters.mara.tracks.physical.2.mark", "x"),
        ("characters.mara.tracks.physical.2.mark", "x", "", "x"),
        ("things.doom", "4", "", 4),
        ("tags.On Fire", "aspect", "tags.on-fire.kind", "aspect"),
        ("tags.i-know-a-back-way", "absent", "", "absent"),
        ("tags.i-know-a-back-way.uses.mara", "2", "", 2),
        ("tags.i-know-a-back-way.on", "edda", "", "edda"),
        ("tags.i-know-a-back-way.audience", "gm, mara", "", ["gm", "mara"]),
        ("characters.guards", "absent", "", "absent"),
        ("tags.i-know-a-back-way.name", "I Knew a Back Way", "tags.i-knew-a-back-way.on", "mara"),
    ],
)
def test_a_value_is_set(place: Place, path: str, text: str, where: str, value: Any) -> None:
    before = store.read(place.path).state
    seat = None if path.startswith("things.") else "gm"  # what is new there may be called as something hidden
    done = sitting.set_value(place, path, text, seat=seat)
    assert at(place, where or path) == value
    assert log_seen(done.history, "gm")[-1].path == path
    sitting.undo(place)
    assert store.read(place.path).state == before


@pytest.mark.parametrize(
    ("short", "path", "text"),
    [
        ("mara.fate-points", "characters.mara.counters.fate-points", "5"),
        ("Mara Quill.fate-points", "characters.mara.counters.fate-points", "5"),
        ("mara.fight", "characters.mara.abilities.fight", "3"),
        ("mara.physical.2", "characters.mara.tracks.physical.2", "x"),
        ("mara.title", "characters.mara.title", "M"),
        ("mara.counters.fate-points", "characters.mara.counters.fate-points", "5"),
        ("guards", "characters.guards", "absent"),
        ("i-know-a-back-way.name", "tags.i-know-a-back-way.name", "I Knew a Way"),
        ("tags.On Fire", "tags.On Fire", "aspect"),
    ],
)
def test_a_short_path_stands_for_the_full_one(place: Place, short: str, path: str, text: str) -> None:
    assert log_seen(sitting.set_value(place, short, text, seat="gm").history, "gm")[-1].path == path


def test_a_title_of_several_is_told_with_their_names(place: Place) -> None:
    sitting.set_value(place, "edda.title", "Mara Quill")
    acts = [
        lambda: sitting.set_value(place, "Mara Quill.fate-points", "5"),
        lambda: overcome(place, actor="mara-quill"),
        lambda: sitting.act(place, "attack", {"skill": "fight", "vs": ["Mara Quill:fight"]}, actor="guards"),
    ]
    for done in acts:
        with pytest.raises(UsageError, match="could be mara or edda; type one of these names"):
            done()
    sitting.set_value(place, "edda.title", "Edda")
    came = sitting.act(place, "attack", {"skill": "fight", "vs": ["Mara Quill:fight"]}, actor="guards")
    assert came.history.head.public.action == "attack"  # a title of one only is a name


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("characters.mara.counters.fate-pionts", "5", "did you mean 'fate-points'"),
        ("characters.mara.counters.fate-points", "many", "whole number (now 3), not 'many'"),
        ("characters.mora.counters.fate-points", "5", "characters has no place 'mora'; did you mean 'mara'"),
        ("character.mara", "5", "did you mean 'characters'"),
        ("characters.mara.is_out", "5", "true or false"),
        ("characters.mara.name", "ann", "cannot be changed"),
        ("characters.mara.counters", "5", "not a single value"),
        ("characters.mara.counters.fate-points.x", "5", "nothing inside"),
        ("characters.mara.tracks.physical.7", "x", "no place '7'"),
        ("tags.i-know-a-bakc-way", "aspect", "did you mean 'i-know-a-back-way'"),
        ("tags.i-know-a-back-way", "aspect", "change it, tags.i-know-a-back-way=absent to remove it"),
        ("tags.nothing", "absent", "no place 'nothing'"),
        ("piles.deck", "x", "cards are moved"),
        ("periods", "scene", "table begin"),
        ("nothing.at.all", "1", "the table has no place 'nothing'"),
        ("gm.fate-points", "0", "no place 'gm'; did you mean counters.fate-points?"),
        ("fate-points", "0", "no place 'fate-points'; did you mean counters.fate-points or mara.fate-points"),
        ("characters.mara.tracks.physical", "2", "its boxes: 1, 2; mark one with"),
        ("characters.mara.tracks.physical", "true", "not a single value"),
        ("characters.mara.tracks.consequences", "5", "its boxes: mild, moderate, severe"),
        ("characters.mara.tracks.consequences", '["a"]', "not a single value"),
        ("tags", "3", "add a tag with tags.NAME=KIND"),
        ("tags", '["a"]', "add a tag with tags.NAME=KIND"),
        ("counters.", "3", "one of these is empty"),
        ("characters..title", "x", "one of these is empty"),
        ("counters.doom", "3", "things.doom=1"),
        ("counters.fate-pionts", "3", "did you mean 'fate-points'"),
        ("characters.mara.counters.luck", "3", "mara has no counter 'luck'; it has: "),
        ("characters.mara.counters.fate-points", "absent", "cannot be removed"),
        (
            "characters.mara.counters.fate-points",
            "150",
            "from 0 to 99 on a sheet",
        ),
        ("characters.mara.counters.fate-points", "-1", "from 0 to 99"),
        ("characters.mara.counters.fate-points", "9" * 30, "whole number"),
        ("characters.mara.abilities.fihgt", "1", "did you mean 'fight'"),
        ("characters.mara.abilities.fight", "400", "on a sheet of this ruleset"),
        ("characters.mara.texts.nmae", "x", "did you mean 'name'"),
        ("characters.mara.seat", "bob", "is gm, or the name of the character"),
        ("characters.mara.title", "", "a name must not be empty"),
        ("audiences.x", "bogus", "no track or thing 'x'"),
        ("tags.i-know-a-back-way.audience", "bogus", "no seat 'bogus'"),
        ("tags.i-know-a-back-way.on", "mora", "did you mean 'mara'"),
        ("tags.i-know-a-back-way.uses.mora", "1", "did you mean 'mara'"),
        ("tags.i-know-a-back-way.uses.mara", "-1", "whole number from 0 on"),
        ("tags.i-know-a-back-way.kind", "apsect", "did you mean 'aspect'"),
        ("tags.i-know-a-back-way.name", "", "a name must not be empty"),
        ("things.plan", "1.5", "not a valid value"),
        ("things.plan", "\udc80", "cannot be stored"),
    ],
)
def test_a_value_that_cannot_be_set(place: Place, path: str, text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        sitting.set_value(place, path, text)
    assert told in caught.value.message
    assert len(store.read(place.path).entries) == 1


def test_a_value_that_the_ruleset_would_refuse_of_a_sheet_is_not_set(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    sitting.begin_table(place, ruleset="coppermane", sheets=["tamsin"], seed="7", title="")
    with pytest.raises(UsageError, match="legend-points is 9, and can be at most 4"):
        sitting.set_value(place, "tamsin.legend-points", "9")
    sitting.set_value(place, "tamsin.legend-points", "2")
    assert at(place, "characters.tamsin.counters.legend-points") == 2
    with pytest.raises(UsageError, match="legend-points is 2, and can be at most 1"):
        sitting.set_value(place, "tamsin.legend", "1")


def test_a_character_whom_the_ruleset_refuses_is_mended_in_several_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, most = place_in(tmp_path), {"legend": 4, "legend-points": 4}

    def checked(_rules: Rules, character: Character) -> Character:
        wrong = [f"{name} is too much" for name, bound in most.items() if character.counters[name] > bound]
        if wrong:
            raise ExceptionGroup("not possible", [UsageError(one) for one in wrong])
        return character

    sitting.begin_table(place, ruleset="coppermane", sheets=["tamsin"], seed="7", title="")
    ruleset = find_ruleset("coppermane")
    monkeypatch.setattr(ruleset, "preparations", [checked])
    with pytest.raises(UsageError, match="legend-points is too much"):
        sitting.set_value(place, "tamsin.legend-points", "5")
    most.update({"legend": 4, "legend-points": 1})  # as where a house rule is changed later on
    with pytest.raises(UsageError) as caught:  # what is wrong already is no excuse for more
        sitting.set_value(place, "tamsin.legend", "5")
    assert caught.value.message == "legend is too much"
    most.update({"legend": 1})
    done = sitting.set_value(place, "tamsin.legend-points", "1")
    told = "the sheet is still not possible in this ruleset: legend is too much"
    assert sitting.left_wrong(done) == [told]
    assert rpgres.open_table(place.path).set("tamsin.legend-points", "0").warnings == [told]
    line = ActArguments(line="set tamsin.legend-points=1")
    assert calls.act(Seat(place.path, "gm"), line).text.splitlines()[1:] == [told]
    done = sitting.set_value(place, "tamsin.legend", "1")
    assert sitting.left_wrong(done) == []
    with pytest.raises(UsageError, match="legend is too much"):
        sitting.set_value(place, "tamsin.legend", "2")


TEXTS = ["2", "-1", "true", '["a"]', "{ a = 1 }", "x", "", "absent", "gm", "1.5", "9" * 40, "\udcff", "2026-01-01"]


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", ["fate", "coppermane", "saga"])
def test_whatever_is_set_the_table_can_be_used(tmp_path: Path, ruleset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place of a table with every kind of value: it is refused in words, or the table is as it should be."""
    from rpgres.model.serialization import plain, read_state, state_record
    from rpgres.model.typed_paths import typed_path
    from rpgres.rulesets.corrections import changed

    sheets = {"fate": ["mara"], "coppermane": ["tamsin"], "saga": ["ilse"]}[ruleset]
    done = sitting.begin_table(Place(tmp_path / "t.db"), ruleset=ruleset, sheets=sheets)
    sound = changed(done.rules, done.history.state, typed_path("things.plan"), "{ a = 1 }")

    def paths(value: Any, path: str) -> Any:
        yield path
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from paths(inner, f"{path}.{key}")
            yield f"{path}.new"
        for one in value if isinstance(value, list) else ():
            if isinstance(one, dict):
                yield from paths(one, f"{path}.{one['name']}")

    taken = 0
    for field, value in plain(sound).items():
        for path in paths(value, field) if field != "piles" else ():
            for text in TEXTS:
                try:
                    after = changed(done.rules, sound, typed_path(path), text)
                except UsageError:
                    continue
                taken += 1
                assert read_state(json.loads(json.dumps(state_record(after)))) == after, (path, text)
                assert all(seat in ("gm", *sheets) for seat in map(after.seat_of, after.characters)), (path, text)
    assert taken > 50


def test_a_hero_who_leaves_is_told_in_a_word(place: Place) -> None:
    from rpgres.render.lines import plain_text
    from rpgres.render.tables import log_lines

    done = sitting.set_value(place, "characters.edda", "absent")
    assert plain_text(log_lines(log_seen(done.history, None)[-1:], done.rules.file)) == (
        "  1  characters.edda = absent (it was Edda Holm)\n"
    )


def test_whoever_plays_a_hero_holds_its_cards(tmp_path: Path) -> None:
    place = Place(tmp_path / "t.db")
    sitting.begin_table(place, ruleset="saga", sheets=["ilse"])
    sitting.set_value(place, "characters.ilse.seat", "gm")
    assert store.read(place.path).state.piles["hand:ilse"].audience == ("gm",)


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("tags.trap-door.name", "Pit", "Pit"),
        ("trap-door.name", "Pit", "Pit"),
        ("tags.trap-door", "absent", "absent"),
        ("tags.trap-door.uses.mara", "1", 1),
        ("things.doom", "absent", "absent"),
        ("things.doom", "4", 4),
    ],
)
def test_a_change_of_what_is_hidden_is_told_to_those_who_know_of_it(
    place: Place, path: str, text: str, value: Any
) -> None:
    sitting.set_value(place, "tags.Trap Door", "aspect", to=["gm"])
    sitting.set_value(place, "things.doom", "3", to=["gm"])
    history = sitting.set_value(place, path, text).history
    assert log_seen(history, "gm")[-1].value == value
    told = str(log_seen(history, "mara")).lower()
    assert all(word not in told for word in ("trap", "pit", "doom"))


def test_a_tag_that_is_renamed_before_all_is_told_to_all(place: Place) -> None:
    history = sitting.set_value(place, "i-know-a-back-way.name", "I Knew a Way").history
    last = log_seen(history, "edda")[-1]
    assert (last.was, last.value) == ("I Know a Back Way", "I Knew a Way")


def test_only_the_game_master_corrects(place: Place) -> None:
    for deed in (
        lambda: sitting.set_value(place, "things.doom", "1", seat="mara"),
        lambda: sitting.turn(place, "begin", seat="mara"),
        lambda: sitting.reveal(place, seat="mara"),
    ):
        with pytest.raises(UsageError, match="only the game master"):
            deed()


def test_notes_are_for_whom_they_say(place: Place) -> None:
    sitting.write_note(place, "for all")
    done = sitting.write_note(place, "for two", seat="mara", to=["edda"])
    assert [entry.text for entry in log_seen(done.history, "edda")[1:]] == ["for all", "for two"]
    assert [entry.is_hidden for entry in log_seen(done.history, "gm")][1:] == [False, True]
    with pytest.raises(UsageError, match="no seat 'eda'; did you mean 'edda'"):
        sitting.write_note(place, "x", to=["eda"])


def test_somebody_sits_down_or_has_a_new_sheet(place: Place, tmp_path: Path) -> None:
    done = sitting.join(place, "venn")
    assert "venn" in done.history.state.characters
    sheet = tmp_path / "mara.toml"
    sheet.write_text('name = "Mara, older"\nrefresh = 2\n[aspects]\nhigh-concept = "Retired"\n', "utf-8")
    done = sitting.join(place, str(sheet))
    assert list(done.history.state.characters) == ["mara", "edda", "guards", "venn"]
    assert [tag.name for tag in done.history.state.tags if tag.on == "mara"] == ["Retired"]
    sitting.undo(place)
    assert store.read(place.path).state.characters["mara"].title == "Mara Quill"


def test_the_ruleset_cleans_up_when_a_scene_ends(place: Place) -> None:
    sitting.turn(place, "begin")
    assert store.read(place.path).state.periods == ("scene",)
    sitting.set_value(place, "characters.mara.tracks.physical.1", "x")
    sitting.set_value(place, "tags.Off Balance", "boost")
    sitting.turn(place, "end")
    assert at(place, "characters.mara.tracks.physical.1.mark") == ""
    assert at(place, "tags.off-balance") == "absent"
    assert store.read(place.path).state.periods == ()
    with pytest.raises(UsageError, match="no period has begun"):
        sitting.turn(place, "end")


@pytest.mark.slow
def test_what_nobody_said_to_begin_can_end(place: Place) -> None:
    """A scene and a conflict go on anyway: an implied scene ends all that is open, an implied conflict nothing else."""
    sitting.turn(place, "begin", "exchange")
    sitting.set_value(place, "characters.mara.is_out", "yes")
    sitting.turn(place, "end", "conflict")
    assert at(place, "characters.mara.is_out") is False
    assert store.read(place.path).state.periods == ("exchange",)
    sitting.turn(place, "end", "scene")
    assert store.read(place.path).state.periods == ()
    with pytest.raises(UsageError, match="no exchange has begun"):
        sitting.turn(place, "end", "exchange")


# ---------------------------------------------------------------------------------------------------------------------
# Where tables begin, and the chain


def test_a_table_is_never_begun_over_another(place: Place) -> None:
    before = place.path.read_bytes()
    with pytest.raises(store.TableError, match="a table already exists"):
        sitting.begin_table(place, ruleset="fate", sheets=["mara"])
    assert place.path.read_bytes() == before
    assert [path.name for path in place.path.parent.iterdir()] == ["table.db"]


def test_two_of_one_name_do_not_sit_down(tmp_path: Path) -> None:
    other = tmp_path / "mara.toml"
    other.write_text('name = "Another"\n', "utf-8")
    with pytest.raises(UsageError, match="two sheets have the name 'mara'"):
        sitting.begin_table(Place(tmp_path / "t.db"), ruleset="fate", sheets=["mara", str(other)])
    assert not (tmp_path / "t.db").exists()


def test_the_chain_is_what_its_page_says(place: Place) -> None:
    """Worked out again from the columns, with nothing but the module's table."""
    overcome(place)
    sitting.write_note(place, "x")
    before = START
    with sqlite3.connect(place.path) as connection:
        bases = {number: parts for number, *parts in connection.execute("SELECT number, state, words FROM bases")}
        rows = connection.execute("SELECT number, base, body, salt, hash FROM entries ORDER BY number").fetchall()
    connection.close()
    for number, base, body, salt, hash_ in rows:
        preset = b"".join(zlib.decompress(part, -15) for part in bases[base])[-32768:]
        raw = zlib.decompressobj(-15, preset).decompress(body)
        size = int.from_bytes(raw[:4], "big")
        public, secret = raw[4 : 4 + size], raw[4 + size :]
        assert link(before, number=number, public=public, commitment=commitment(salt, secret)) == hash_
        before = hash_
    assert len({row[3] for row in rows}) == 3  # no salt twice
    assert table_record(store.read(place.path), None).head == before.hex()


def test_a_table_verifies_after_its_seed_is_told(place: Place) -> None:
    overcome(place)
    overcome(place, choose={}, given=LOSE)
    sitting.answer(place, choose={"invoke": ["i-know-a-back-way:reroll"]})
    while pending_label(place) is not None:
        sitting.answer(place, auto=True)
    sitting.let_pass(place, seat="mara")
    overcome(place, choose={}, given={}, auto=True)
    sitting.turn(place, "begin")
    sitting.set_value(place, "tags.On Fire", "aspect")
    sitting.join(place, "venn")
    sitting.write_note(place, "x")
    sitting.undo(place)
    sitting.turn(place, "end")
    assert verify(place.path).verdict == "incomplete"
    sitting.reveal(place)
    verdict = verify(place.path)
    assert (verdict.verdict, verdict.exit, verdict.problems) == ("in order", 0, [])
    with pytest.raises(UsageError, match="the seed of this table was revealed"):
        overcome(place)
    with pytest.raises(UsageError, match="cannot be undone"):
        sitting.undo(place)
