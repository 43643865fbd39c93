"""Who may say at a lasting table what real cards and dice showed, and who learns of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres import UsageError
from rpgres.engine.dealers import Given
from rpgres.errors import GivenError
from rpgres.journal import commands as sitting
from rpgres.journal import store
from rpgres.journal.commands import Place
from rpgres.journal.records import found_in
from rpgres.journal.verifying import verify
from rpgres.journal.views import log_seen, table_record
from rpgres.render.accounts.markdown import as_markdown
from rpgres.render.accounts.tables import account_of_table
from rpgres.render.lines import plain_text
from rpgres.render.tables import log_lines
from tests.support.command_line import rpgres

ACT: dict[str, Any] = {"ability": "strength", "vs": "average"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A table with real cards, at which no hand is dealt before an action asks for it."""
    place = Place(tmp_path / "t.db")
    sheets = ["ilse", "brannagh", "toll-warden"]
    sitting.begin_table(place, ruleset="saga", sheets=sheets, seed="7", trust="players", deals=False)
    return place


def held(place: Place, who: str) -> list[str]:
    return lying(place, f"hand:{who}")


def lying(place: Place, pile: str) -> list[str]:
    return [card.partition(".")[0] for card in store.read(place.path).state.piles[pile].cards]


def dealt(place: Place, who: str = "brannagh") -> None:
    """Have somebody hold cards."""
    sitting.act(place, "damage", {"amount": "1"}, actor=who, auto=True)


# ---------------------------------------------------------------------------------------------------------------------
# Who may say it


@pytest.mark.parametrize(
    ("seat", "inputs", "told"),
    [
        ("ilse", {"bank": "Do1"}, "ilse cannot give the cards in doom-bank"),
        ("ilse", {"discard": "Do1"}, "ilse cannot give the cards in discard"),
        ("ilse", {"gm_card": "Do1"}, "ilse cannot give the cards in gm-card"),
        ("ilse", {"hand": "St6,Ag3,Do8"}, None),
        ("gm", {"bank": "Do1"}, None),
        (None, {"bank": "Do1", "hand": "St6,Ag3"}, None),
    ],
)
def test_a_seat_says_its_own_hand_and_no_more(
    place: Place, seat: str | None, inputs: dict[str, str], told: str | None
) -> None:
    def act() -> None:
        sitting.act(place, "act", {**ACT, **inputs}, actor="ilse", seat=seat)

    if told is None:
        act()
        assert len(store.read(place.path).entries) == 2
        return
    with pytest.raises(UsageError, match=told):
        act()
    assert len(store.read(place.path).entries) == 1


def test_a_seat_does_not_give_itself_points(tmp_path: Path) -> None:
    place = Place(tmp_path / "t.db")
    sitting.begin_table(place, ruleset="fate", sheets=["mara", "edda"], seed="7")
    for inputs in ({"fate_points": "9"}, {"gm-points": "0"}, {"aspect": ["Smoke=3"]}):
        typed = {"skill": "2", "vs": ["1"], **inputs}
        with pytest.raises(UsageError, match="rpgres table set"):
            sitting.act(place, "overcome", typed, seat="mara")
        done = sitting.act(place, "overcome", typed, actor="mara", seat="gm", auto=True, policies={"": "uniform"})
        assert len(log_seen(done.history, "edda")[-1].laid) == 1
        if done.history.pending:
            sitting.undo(place)
    sitting.act(place, "overcome", {"skill": "2", "vs": ["1"], "aspect": ["Smoke"]}, seat="mara")


@pytest.mark.parametrize("seat", ["ilse", "gm"])
@pytest.mark.parametrize("what", ["given", "hand", "discard", "bank", "gm-card"])
def test_no_error_tells_who_holds_a_card(place: Place, seat: str, what: str) -> None:
    """One card lies in a hand that the seat does not see, the other in the deck: it is told the same of both."""
    dealt(place)
    cards = [held(place, "brannagh")[0]]
    cards.append(next(card for card in ("Do1-", "St6+", "Ag3+", "In2-", "Wi5+") if card in lying(place, "deck")))
    told = []
    for card in cards:
        typed = {} if what == "given" else {what: card}
        given = {"aura": [card]} if what == "given" else {}
        action, inputs = ("act", {**ACT, **typed}) if what == "gm-card" else ("aura", typed)
        with pytest.raises(UsageError) as caught:
            sitting.act(place, action, inputs, actor="ilse", seat=seat, given=given)
        if given:
            with pytest.raises(UsageError, match=re.escape(caught.value.message)):
                sitting.act(place, action, inputs, actor="ilse", seat=seat, given={"aura": [f"{card},Do10"]})
        told.append(caught.value.message.replace(card, "CARD"))
    assert told[0] == told[1]
    sitting.act(place, "aura", {}, actor="ilse", given={"aura": [cards[1]]})  # the host may


# ---------------------------------------------------------------------------------------------------------------------
# What is told of it


def test_what_was_laid_is_marked_for_everybody_and_told_to_those_who_see_it(place: Place) -> None:
    inputs = {**ACT, "hand": "St6,Ag3,Do8", "bank": "Do1"}
    done = sitting.act(place, "act", inputs, actor="ilse", choose={"play": ["St6"]}, auto=True)
    while done.history.pending:
        done = sitting.answer(place, auto=True)
    for seat in ("ilse", "brannagh", "gm", None):
        log = log_seen(done.history, seat)
        assert log[1].laid == ["doom-bank", "hand:ilse"]
        assert "given, not from the seed: doom-bank, hand:ilse" in plain_text(log_lines(log, done.rules.file))
        record, state = table_record(done.history, seat), done.history.state.seen_by(seat)
        account = as_markdown(account_of_table(record, log, state, done.rules))
        assert "given, not from the seed: doom-bank, hand:ilse" in account
        shown = log[1].result or log[1].pending
        assert shown is not None
        assert shown.inputs.get("hand") == (inputs["hand"] if seat in ("ilse", None) else None)
        assert shown.inputs.get("bank") == inputs["bank"]  # which lies open
    sitting.reveal(place)
    verdict = verify(place.path)
    assert verdict.exit == 0
    assert "taken as given (entries: 1" in verdict.checked[-1]


def test_a_hand_stays_hidden_after_its_owner_has_left(tmp_path: Path) -> None:
    place = Place(tmp_path / "t.db")
    sitting.begin_table(place, ruleset="saga", sheets=["brannagh"], seed="7", trust="players")
    sitting.join(place, "ilse")
    inputs = {**ACT, "hand": "St6,Ag3,Do8", "bank": "Do1"}
    sitting.act(place, "act", inputs, actor="ilse", choose={"play": ["St6"]}, auto=True)
    done = sitting.undo(place, 1)
    for seat in ("brannagh", "gm", None):
        entry = log_seen(done.history, seat)[2]
        shown = entry.result or entry.pending
        assert shown is not None
        assert shown.inputs.get("hand") == (None if seat else inputs["hand"])
        assert shown.inputs["bank"] == inputs["bank"]


def test_a_seat_replaces_its_own_sheet_alone(place: Place) -> None:
    with pytest.raises(UsageError, match="ilse cannot replace"):
        sitting.join(place, "brannagh", seat="ilse")
    for seat, who in (("ilse", "ilse"), ("gm", "brannagh"), (None, "brannagh")):
        done = sitting.join(place, who, seat=seat)
        told = plain_text(log_lines(log_seen(done.history, "ilse")[-1:], done.rules.file))
        assert f"{who} gets a new sheet" in told
        assert (f"{seat}: " in told) == (seat == "ilse")


def test_the_environment_has_no_more_rights(tmp_path: Path) -> None:
    table = ["--table", str(tmp_path / "t.db")]
    rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "edda", "--trust", "players", *table)
    assert "mara cannot replace" in rpgres("table", "join", "--sheet", "edda", *table, RPGRES_SEAT="mara").err
    told = rpgres("table", "join", "--sheet", "edda", "--json", *table, RPGRES_SEAT="edda").out
    assert json.loads(told)["entry"]["replaced"] is True


# ---------------------------------------------------------------------------------------------------------------------
# Results that lie there until they are asked for


@pytest.fixture
def waiting(tmp_path: Path) -> Place:
    place = Place(tmp_path / "t.db")
    sitting.begin_table(place, ruleset="saga", sheets=["ilse"], seed="7")
    sitting.act(place, "act", {**ACT, "hand": "In4,Ag3,Do8"}, actor="ilse")
    assert store.read(place.path).pending is not None
    return place


def test_what_nothing_can_show_is_refused_when_it_comes(waiting: Place) -> None:
    for text in ("zz", "In44", ""):
        with pytest.raises(GivenError, match="no card"):
            sitting.answer(waiting, choose={"play": ["In4"]}, given={"redraw": [text]})
    place = Place(waiting.path.parent / "f.db")
    sitting.begin_table(place, ruleset="fate", sheets=["mara"], seed="7")
    sitting.act(place, "overcome", {"skill": "1", "vs": ["1"]}, actor="mara", given={"roll": ["0000"]})
    with pytest.raises(GivenError, match="not a result of dice"):
        sitting.answer(place, choose={"invoke": ["i-know-a-back-way:reroll"]}, given={"roll": ["zz"]})


def test_cards_that_are_given_together_are_kept_one_by_one(waiting: Place) -> None:
    with pytest.raises(GivenError, match="draw=In44: there is no card"):
        sitting.answer(waiting, choose={"play": ["In4"]}, given={"draw": ["St2,In44"]})
    more = ["St2", "St9", "Ag9", "Wi9", "In9", "Do9", "St8", "Ag8"]
    done = sitting.answer(waiting, choose={"play": ["In4"]}, given={"redraw": [",".join(more)]})
    while done.history.pending:
        done = sitting.answer(waiting, auto=True)
    drawn = done.entry.secret.given["redraw"]
    assert 0 < len(drawn) < len(more)
    assert drawn == [Given(card) for card in more[: len(drawn)]]
    sitting.reveal(waiting)
    assert verify(waiting.path).exit == 0


def test_a_later_result_stands_in_place_of_what_nobody_asked_for(tmp_path: Path) -> None:
    place = Place(tmp_path / "t.db")
    sitting.begin_table(place, ruleset="fate", sheets=["mara"], seed="7")
    typed = {"skill": "1", "vs": ["1"]}
    sitting.act(place, "overcome", typed, actor="mara", given={"roll": ["0000", "99"]})  # fits no Fate dice
    with pytest.raises(GivenError):
        sitting.answer(place, choose={"invoke": ["i-know-a-back-way:reroll"]})
    done = sitting.answer(place, choose={"invoke": ["i-know-a-back-way:reroll"]}, given={"roll": ["++++"]})
    assert done.entry.secret.given == {"roll": [Given("0000"), Given("++++")]}


def test_a_result_that_nothing_asks_for_does_not_lock_an_action(tmp_path: Path) -> None:
    place = Place(tmp_path / "t.db")
    sitting.begin_table(place, ruleset="fate", sheets=["mara"], seed="7")
    typed = {"skill": "1", "vs": ["-1"]}
    sitting.act(place, "overcome", typed, actor="mara", given={"roll": ["0000", "++++"]})
    done = sitting.answer(place, auto=True, choose={"invoke": ["no"]})
    while done.history.pending:
        done = sitting.answer(place, auto=True)
    assert done.entry.secret.given == {"roll": [Given("0000")]}
    assert found_in(done.entry.secret) is not None
    sitting.reveal(place)
    assert verify(place.path).exit == 0


def test_hands_that_the_host_types_in_a_form_are_the_hosts_own(tmp_path: Path) -> None:
    table = Place(tmp_path / "t.db")
    sitting.begin_table(table, ruleset="faith", sheets=["sable", "bero"], seed="1")
    inputs = {"skill": "ballistic", "attribute": "dexterity", "against": ["bero:skill=3,attribute=2,hand=H9/S2/C3"]}
    done = sitting.act(table, "confront", inputs, actor="sable")
    for seat in ("sable", "bero", "gm", None):
        text = msgspec.json.encode(log_seen(done.history, seat)).decode()
        assert ("H9/S2/C3" in text) == (seat is None)


def test_an_undo_is_proposed_to_those_who_may_do_it(place: Place) -> None:
    sitting.act(place, "act", ACT, actor="ilse", seat="ilse")
    refused: dict[str | None, str] = {}
    for seat, who in ((None, "brannagh"), ("gm", "brannagh"), ("brannagh", "brannagh"), ("ilse", "ilse")):
        with pytest.raises(UsageError) as told:
            sitting.act(place, "act", ACT, actor=who, seat=seat)
        refused[seat] = str(told.value)
    assert refused.pop("brannagh").endswith("another seat is asked; wait for its answer")
    assert all(text.endswith("or undo the action with `rpgres table undo 1`") for text in refused.values())
    sitting.undo(place, 1, seat="ilse")
