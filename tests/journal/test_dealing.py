"""Hands that are dealt to those who sit down: seen by their owner alone, from the seed, and not at older tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpgres.journal import commands as sitting
from rpgres.journal import store
from rpgres.journal.chain import written
from rpgres.journal.commands import Place
from rpgres.journal.rolls import rolls_of
from rpgres.journal.verifying import verify
from rpgres.journal.views import log_seen
from rpgres.model.cards import shown_codes
from rpgres.model.state import FACE_DOWN, State
from tests.support.checkout import ROOT
from tests.support.command_line import rpgres

ACT = {"ability": "strength", "vs": "average"}


def begun(path: Path, *sheets: str, deals: bool = True) -> Place:
    place = Place(path)
    sitting.begin_table(place, ruleset="saga", sheets=sheets, seed="7", deals=deals)
    return place


def hand(state: State, who: str) -> tuple[str, ...]:
    return state.piles[f"hand:{who}"].cards


def test_who_sits_down_has_a_hand_that_its_owner_alone_sees(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db", "ilse", "toll-warden")
    sitting.join(place, "brannagh")
    state = store.read(place.path).state
    for who, size in (("ilse", 6), ("brannagh", 5), ("toll-warden", 0)):
        assert len(hand(state, who)) == size
    for who, other in (("ilse", "brannagh"), ("brannagh", "ilse")):
        seen = state.seen_by(who)
        assert hand(seen, who) == hand(state, who)
        assert set(hand(seen, other)) == {FACE_DOWN}
        assert set(hand(state.seen_by("gm"), who)) == {FACE_DOWN}
    sitting.join(place, "ilse")  # with a new sheet, and the hand that there is
    assert hand(store.read(place.path).state, "ilse") == hand(state, "ilse")


@pytest.mark.parametrize("deals", [True, False])
def test_every_hand_is_replayed_from_the_seed(tmp_path: Path, deals: bool) -> None:
    place = begun(tmp_path / "t.db", "ilse", deals=deals)
    sitting.act(place, "act", ACT, actor="ilse", auto=True)
    sitting.join(place, "brannagh")
    sitting.act(place, "act", ACT, actor="brannagh", auto=True)
    sitting.undo(place, 2)
    sitting.join(place, "brannagh")
    sitting.reveal(place)
    assert verify(place.path).exit == 0


def test_a_table_that_was_begun_before_hands_were_dealt_stays_as_it_was(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db", "ilse", deals=False)
    assert b"deals" not in written(store.read(place.path).new.public)  # as in the journals of earlier formats
    sitting.join(place, "brannagh")
    state = store.read(place.path).state
    assert (hand(state, "ilse"), hand(state, "brannagh")) == ((), ())
    done = sitting.act(place, "act", ACT, actor="ilse", auto=True)
    assert len(hand(done.history.state, "ilse")) == 6
    assert hand(done.history.state, "brannagh") == ()


def test_a_hand_holds_what_lost_places_leave(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db", "ilse")
    sitting.set_value(place, "ilse.lost", "2")
    assert rpgres("table", "export", "--table", str(place.path), "--out", str(tmp_path / "kept")).code == 0
    again = begun(tmp_path / "again.db", str(tmp_path / "kept/sheets/ilse.toml"))
    assert len(hand(store.read(again.path).state, "ilse")) == 4


def test_a_dealt_hand_goes_back_unseen_with_its_owner(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db", "ilse", "brannagh")
    deck = len(store.read(place.path).state.piles["deck"])
    sitting.set_value(place, "characters.brannagh", "absent")
    state = store.read(place.path).state
    assert "hand:brannagh" not in state.piles
    assert len(state.piles["deck"]) == deck + 5
    assert set(state.seen_by("ilse").piles["deck"].cards) == {FACE_DOWN}
    sitting.reveal(place)
    assert verify(place.path).exit == 0


def test_real_cards_are_typed_where_none_are_dealt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert rpgres("table", "new", "saga", "--sheet", "ilse", "--no-deal").code == 0
    assert "Hand of ilse" not in rpgres("table", "show", "--as", "ilse").out
    assert rpgres(
        "table", "act", "ilse", "act", "strength", "average", "--hand", "St6,Ag3", "--choose", "play=St6"
    ).code
    assert "Ag3" in rpgres("table", "show", "--as", "ilse").out


def test_who_gets_too_few_cards_is_told(tmp_path: Path) -> None:
    sheets = []
    for number in range(18):
        sheets.append(str(tmp_path / f"hero{number}.toml"))
        Path(sheets[-1]).write_text((ROOT / "rulesets/saga/sheets/ilse.toml").read_text())
    place = begun(tmp_path / "t.db", *sheets[:17])
    state, new = store.read(place.path).state, store.read(place.path).new
    assert len(hand(state, "hero15")) == 6
    assert (len(hand(state, "hero16")), new.secret.short) == (0, {"hero16": 6})
    sitting.join(place, sheets[17])
    told = "(the deck had too few cards: {} lacks 6 cards)"
    log = rpgres("table", "log", "--table", str(place.path), "--as", "hero1").out.splitlines()
    assert log == [f"  0  the table begins {told.format('hero16')}", f"  1  hero17 sits down {told.format('hero17')}"]
    ran = rpgres("table", "new", "saga", "--table", str(tmp_path / "u.db"), *(f"--sheet={one}" for one in sheets[:17]))
    assert ran.err == "rpgres: the deck had too few cards: hero16 lacks 6 cards\n"


def test_the_cards_that_were_dealt_are_rows_and_stay_seen_after_an_undo(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db", "ilse")
    done = sitting.join(place, "brannagh")
    rows = rolls_of(store.read(place.path), seat="brannagh")
    assert [(row.entry, row.action, row.who) for row in rows] == [(0, "new", "ilse")] * 6 + [
        (1, "join", "brannagh")
    ] * 5
    assert {row.faces for row in rows[:6]} == {FACE_DOWN}
    assert sorted(row.faces for row in rows[6:]) == sorted(shown_codes(hand(done.history.state, "brannagh")))
    undone = sitting.undo(place).history
    assert {seat: log_seen(undone, seat)[-1].passes for seat in (None, "ilse", "gm")} == {
        None: ["cards"],
        "ilse": [],
        "gm": [],
    }
    assert rolls_of(undone, seat=None)[-1].stands == "undone"
    sitting.reveal(place)
    assert verify(place.path).exit == 0
