"""Sealed answers: a seat commits itself first and tells later; no other answer is taken, and nothing is told before."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres.engine.dealing import Dealt
from rpgres.engine.records import Pending, Result
from rpgres.errors import UsageError
from rpgres.journal import commands as sitting
from rpgres.journal import views
from rpgres.journal.commands import Place, seating, writing
from rpgres.journal.commitments import SealFile, read_hex, seal_of, sealed
from rpgres.journal.records import found_in
from rpgres.journal.verifying import verify
from tests.support.auction import around, auction, rules
from tests.support.command_line import rpgres
from tests.support.effort import examples

SALT = bytes(range(32))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A table of the auction at which everybody is asked for a bid."""
    folder = tmp_path / "auction"
    folder.mkdir()
    monkeypatch.setattr(writing, "find_ruleset", lambda *_, **__: auction)
    monkeypatch.setattr(writing, "load_rules", lambda *_, switches, **__: rules(folder, **switches))
    monkeypatch.setattr(seating, "set_table", lambda *_, **__: Dealt(around("ada", "bo")))
    monkeypatch.setattr("rpgres.journal.verifying.set_table", lambda *_, **__: Dealt(around("ada", "bo")))
    made = Place(tmp_path / "table.db")
    sitting.begin_table(made, ruleset="auction", sheets=[], seed="1", switches={"sealed": "yes"})
    sitting.act(made, "bid", {}, actor="ada", seat="ada")
    return made


def hand_in(place: Place, seat: str, answer: str, *, salt: bytes = SALT) -> SealFile:
    made = sealed("bid", answer, salt=salt)
    sitting.seal(place, made.commitment, seat=seat)
    return made


def open_with(place: Place, seat: str, answer: str, *, salt: bytes = SALT, label: str = "bid") -> sitting.Done:
    return sitting.open_seal(place, seat=seat, label=label, text=answer, salt=salt.hex())


def test_a_seal_is_what_anybody_can_work_out() -> None:
    assert seal_of("bid", "7", salt=SALT) == sha256(SALT + b"bid=7").hexdigest()


@settings(max_examples=examples(50), deadline=None)
@given(one=st.integers(0, 9), other=st.integers(0, 9), salt=st.binary(min_size=32, max_size=32))
def test_small_bids_with_other_salts_have_nothing_in_common(one: int, other: int, salt: bytes) -> None:
    mine, theirs = sealed("bid", str(one), salt=salt).commitment, sealed("bid", str(other), salt=SALT).commitment
    assert (mine == theirs) is ((one, salt) == (other, SALT))


def test_what_is_sealed_is_told_by_opening_it_alone(place: Place) -> None:
    hand_in(place, "ada", "3")
    hand_in(place, "bo", "12 coins", salt=bytes(32))
    with pytest.raises(UsageError, match="ada sealed an answer in entry 2"):
        sitting.answer(place, seat="ada", choose={"bid": ["3"]})
    with pytest.raises(UsageError, match="the others answer with `as`"):
        sitting.answer(place, choose={"bid": ["1", "2", "3"]})
    for answer, salt in (("4", SALT), ("3", bytes(32)), ("3 ", SALT)):
        with pytest.raises(UsageError, match="not what ada sealed in entry 2"):
            open_with(place, "ada", answer, salt=salt)
    with pytest.raises(UsageError, match="not what ada sealed"):
        open_with(place, "ada", "3", label="bow")
    with pytest.raises(UsageError, match="open it instead"):
        hand_in(place, "ada", "4")
    with pytest.raises(UsageError, match="gm has no sealed answer"):
        open_with(place, "gm", "3")
    sitting.answer(place, seat="gm", choose={"bid": ["1"]})
    open_with(place, "bo", "12 coins", salt=bytes(32))
    done = open_with(place, "ada", "3")
    found = found_in(done.entry.secret)
    assert isinstance(found, Pending)
    assert [answer.value for answer in found.answers] == ["3", "12", "1"]
    with pytest.raises(UsageError, match="no decision of ada is pending"):
        open_with(place, "ada", "3")
    sitting.let_pass(place, seat="bo")
    done = sitting.let_pass(place, seat="gm")
    assert isinstance(found_in(done.entry.secret), Result)
    verdict = verify(place.path)
    assert "2 sealed answers against their commitments" in verdict.checked
    sitting.reveal(place)
    assert verify(place.path).verdict == "in order"


def test_a_seal_tells_nothing_but_whose_it_is(place: Place) -> None:
    made = hand_in(place, "bo", "8")
    done = open_with(place, "bo", "8")
    for seat, knows in (("ada", False), ("gm", False), ("bo", True), (None, True)):
        entries = views.log_seen(done.history, seat)
        assert (entries[2].by, entries[2].commitment) == ("bo", made.commitment)
        assert entries[3].opens == 2
        assert (entries[3].salt == made.salt) is knows
        assert (made.salt in str(entries)) is knows
        waits = entries[3].pending
        assert waits is not None
        assert bool(waits.events) is knows


def test_what_cannot_be_answered_is_not_sealed_where_it_is_known(place: Place) -> None:
    made = sealed("bid", "lots", salt=SALT)
    with pytest.raises(UsageError, match="a bid is a number of coins"):
        sitting.seal(place, made.commitment, seat="ada", label="bid", answer="lots")
    with pytest.raises(UsageError, match="ada is asked 'bid', not 'bow'"):
        sitting.seal(place, made.commitment, seat="ada", label="bow", answer="1")
    with pytest.raises(UsageError, match="64 hexadecimal digits"):
        sitting.seal(place, "abc", seat="ada")


def test_a_seal_is_taken_back_by_the_game_master_alone(place: Place) -> None:
    hand_in(place, "ada", "3")
    for seat in ("bo", "ada"):
        with pytest.raises(UsageError, match="entry 2 is sealed, and only the game master can undo it"):
            sitting.undo(place, 2, seat=seat)
    sitting.undo(place, 2, seat="gm")
    done = sitting.answer(place, seat="ada", choose={"bid": ["5"]})
    assert done.entry.public.opens is None


def test_digits() -> None:
    assert read_hex(" " + "AB" * 32 + "\n", what="a salt") == "ab" * 32
    for text in ("", "ab" * 31, "zz" * 32, "ab" * 33):
        with pytest.raises(UsageError, match="a salt is 64 hexadecimal digits"):
            read_hex(text, what="a salt")


def test_sealing_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rpgres("table", "new", "--ruleset", "nodice", "--sheet", "orsa", "--sheet", "bram", "--seed", "7")
    assert rpgres("table", "act", "declare", "--as", "orsa").code == 3
    rpgres("table", "view", "--as", "bram", "--out", "v.json")
    far = rpgres("table", "seal", "--view", "v.json", "--choose", "declare=punch/str=2", "--out", "b.json")
    made = json.loads(Path("b.json").read_text())
    assert made["commitment"] in far.out
    assert "punch" not in far.out
    assert rpgres("table", "seal", "--as", "bram", "--commitment", made["commitment"]).code == 0
    refused = rpgres("table", "seal", "--as", "orsa", "--choose", "declare=punch/str=9", "--out", "o.json")
    assert (refused.code, Path("o.json").exists()) == (2, False)
    done = rpgres("table", "seal", "--as", "orsa", "--choose", "declare=punch/str=3", "--out", "o.json")
    assert (done.code, "punch" in done.out) == (0, False)
    again = rpgres("table", "seal", "--as", "orsa", "--choose", "declare=punch/str=3", "--out", "o.json")
    assert "nothing was sealed" in again.err
    assert rpgres("table", "open", "--as", "orsa", "--from", "b.json").code == 2
    assert rpgres("table", "open", "--as", "orsa", "--from", "o.json").code == 3
    done = rpgres("table", "open", "--as", "bram", "--choose", "declare=punch/str=2", "--salt", made["salt"])
    assert (done.code, "bram declares bram#1 on phase 2" in done.out) == (0, True)
    for line in (
        ["seal"],
        ["seal", "--choose", "declare=x"],
        ["seal", "--as", "orsa", "--choose", "declare", "--out", "x.json"],
        ["seal", "--commitment", made["commitment"]],
        ["seal", "--choose", "declare=x", "--out", "x.json"],
        ["open", "--from", "b.json"],
        ["open", "--as", "bram"],
        ["open", "--as", "bram", "--choose", "declare=x"],
        ["open", "--as", "bram", "--from", "b.json"],
    ):
        assert rpgres("table", *line).code == 2, line
