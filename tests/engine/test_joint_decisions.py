"""What several people decide at once: nobody learns what another one answers before all have."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import msgspec
import pytest

from rpgres.cli.asking.prompt import Person
from rpgres.cli.shell import resumed
from rpgres.conformance.behaviour import _answer_fault
from rpgres.dice.seeds import Streams
from rpgres.engine.dealing import Dealt
from rpgres.engine.players import NO, Question, View, uniform
from rpgres.engine.prepare import prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import run
from rpgres.errors import UsageError
from rpgres.journal import commands as sitting
from rpgres.journal import views
from rpgres.journal.commands import Place, seating, writing
from rpgres.journal.elsewhere import answer_for
from rpgres.journal.exchange import view_of
from rpgres.journal.records import found_in
from rpgres.journal.verifying import verify
from rpgres.odds.exact import outcome_odds
from rpgres.render.lines import plain_text
from rpgres.render.tables import log_lines, show_lines
from rpgres.rulesets import Option
from tests.support.auction import around, auction, coins, rules


def played(choose: dict[str, list[str]], **switches: str) -> Result | Pending:
    ready = prepare(rules(**switches), "bid", {}, state=around("ada", "bo"), actor="ada")
    return run(ready, streams=Streams("1"), choose=choose, identify=False)[0]


def test_answers_come_in_order_and_are_told_when_all_have_answered() -> None:
    result = played({"bid": ["3", "2 coins", "1"], "bow": [NO, "bow"]})
    assert isinstance(result, Result)
    assert result.outcome == "won"
    told = [(event.label, event.who, event.answer) for event in result.events if event.audience is None]
    assert told == [("bid", "ada", "3"), ("bid", "bo", "2"), ("bid", "clerk", "1"), ("bow", "clerk", "bow")]


def test_secret_answers_stay_their_owners_own() -> None:
    result = played({"bid": ["3", "2", "1"]}, sealed="yes")
    assert isinstance(result, Result)
    bids = {event.who: event.audience for event in result.events if event.label == "bid"}
    assert bids == {"ada": ["ada"], "bo": ["bo"], "clerk": ["gm"]}


def test_nobody_sees_what_another_one_answers() -> None:
    seen: dict[str, int] = {}

    def policy(view: View, question: Question) -> str:
        seen[question.who] = len([event for event in view.events if event.who != question.who])
        return "5" if question.label == "bid" else NO

    ready = prepare(rules(), "bid", {}, state=around("ada", "bo", "cy"), actor="ada")
    run(ready, streams=Streams("1"), policies={"": policy}, identify=False)
    assert seen["bo"] == seen["cy"] == 3  # asked whether to bow when all have bid: the bids of others, and no bow
    ready = prepare(rules(sealed="yes"), "bid", {}, state=around("ada", "bo", "cy"), actor="ada")
    run(ready, streams=Streams("1"), policies={"": policy}, identify=False)
    assert seen["bo"] == seen["cy"] == 0


def test_an_answer_that_cannot_be_read_is_told() -> None:
    with pytest.raises(UsageError, match="bid=lots: a bid is a number of coins, not 'lots'"):
        played({"bid": ["lots"]})


def test_what_waits_is_resumed_by_its_command() -> None:
    pending = played({"bid": ["3"]})
    assert isinstance(pending, Pending)
    assert (pending.question.who, pending.question.form) == ("bo", "N")
    assert "--choose bid=3" in resumed(pending, rules()).resume


def test_a_person_may_type_what_is_not_listed(capsys: pytest.CaptureFixture[str]) -> None:
    typed = iter(["lots", "12 coins", "2", "1"])
    person = Person(read=lambda _: next(typed))
    ready = prepare(rules(), "bid", {}, state=around("ada", "bo"), actor="ada")
    result, _ = run(
        ready,
        streams=Streams("1"),
        prompt=person.ask,
        policies={"gm": lambda _, question: "1" if question.label == "bid" else NO},
        identify=False,
    )
    assert isinstance(result, Result)
    assert [answer.value for answer in result.answers if answer.label == "bid"] == ["12", "5", "1"]
    assert "a bid is a number of coins, not 'lots'" in capsys.readouterr().out


def test_odds_of_what_is_decided_at_once() -> None:
    ready = prepare(rules(), "bid", {}, state=around("ada", "bo"), actor="ada")
    odds = outcome_odds(ready, policies={"": uniform})
    # of eight equally likely bids of 1 or 5, ada loses where she bids 1 and somebody 5
    assert str(odds.masses["lost"]) == "3/8"


# ---------------------------------------------------------------------------------------------------------------------
# At a table that lasts


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A table of the auction, at which ada, bo and the clerk of the game master sit."""
    folder = tmp_path / "auction"
    folder.mkdir()
    monkeypatch.setattr(writing, "find_ruleset", lambda *_, **__: auction)
    monkeypatch.setattr(writing, "load_rules", lambda *_, switches, **__: rules(folder, **switches))
    monkeypatch.setattr(seating, "set_table", lambda *_, **__: Dealt(around("ada", "bo")))
    monkeypatch.setattr("rpgres.journal.verifying.set_table", lambda *_, **__: Dealt(around("ada", "bo")))
    made = Place(tmp_path / "table.db")
    sitting.begin_table(made, ruleset="auction", sheets=[], seed="1")
    return made


def shown(done: sitting.Done, seat: str | None) -> str:
    """Everything that a seat may read of a table."""
    record = views.table_record(done.history, seat)
    state = done.history.state.seen_by(seat)
    lines = [
        *show_lines(record, state, done.rules.file),
        *log_lines(views.log_seen(done.history, seat), done.rules.file),
    ]
    text = plain_text(lines) + msgspec.json.encode([record, views.log_record(done.history, seat)]).decode()
    return re.sub(r"[0-9a-f]{64}|\d{4}-\d\d-\d\dT[\d:]+Z", "...", text)  # hashes and the time of day


@pytest.mark.parametrize("order", list(permutations(["ada", "bo", "gm"])))
def test_everybody_answers_in_any_order_and_learns_nothing_before_the_last(place: Place, order: list[str]) -> None:
    bids = {"ada": "1234", "bo": "5678", "gm": "4321"}
    done = sitting.act(place, "bid", {}, actor="ada", seat="ada")
    for number, seat in enumerate(order):
        others = [bids[other] for other in order[: number + 1] if other != seat]
        with pytest.raises(UsageError, match="bid=lots: a bid is a number"):
            sitting.answer(place, seat=seat, choose={"bid": ["lots"]})
        done = sitting.answer(place, seat=seat, choose={"bid": [bids[seat]]})
        found = found_in(done.entry.secret)
        assert isinstance(found, Pending)
        if number < 2:
            assert not any(bid in shown(done, seat) for bid in others)
            assert all(bids[before] not in shown(done, order[-1]) for before in order[: number + 1])
            with pytest.raises(UsageError, match=r"no decision of \w+ is pending"):
                sitting.answer(place, seat=seat, choose={"bid": ["1"]})
    assert all(bid in shown(done, seat) for bid in bids.values() for seat in order)
    for seat, label in (("bo", "bow"), ("gm", "")):  # the moment passes, said beforehand or as an answer
        done = sitting.let_pass(place, label, seat=seat)
    result = found_in(done.entry.secret)
    assert isinstance(result, Result)
    assert result.margin == 1234 - 5678
    sitting.reveal(place)
    assert verify(place.path).verdict == "in order"


def test_two_tables_that_differ_in_a_bid_look_the_same_to_the_others(place: Place, tmp_path: Path) -> None:
    other = Place(tmp_path / "other.db")
    sitting.begin_table(other, ruleset="auction", sheets=[], seed="1", switches={"sealed": "yes"})
    looks = []
    for where, bid in ((place, "11"), (other, "99")):
        if where is place:
            where = Place(tmp_path / "third.db")
            sitting.begin_table(where, ruleset="auction", sheets=[], seed="1", switches={"sealed": "yes"})
        sitting.act(where, "bid", {}, actor="ada", seat="ada")
        done = sitting.answer(where, seat="ada", choose={"bid": [bid]})
        looks.append([shown(done, seat) for seat in ("bo", "gm")])
        done = sitting.answer(where, seat="bo", choose={"bid": ["7"]})
        looks[-1].append(shown(done, "bo"))
        assert bid in shown(done, "ada")
    assert looks[0] == looks[1]


def test_an_answer_file_holds_though_others_answer_meanwhile(place: Place) -> None:
    done = sitting.act(place, "bid", {}, actor="ada", seat="ada")
    view = view_of(done.history, place.path, seat="bo")
    written = answer_for(None, view, choose={"bid": ["42"]}, given={})
    sitting.answer(place, seat="ada", choose={"bid": ["1"]})
    done = sitting.answer(place, seat="bo", choose={"bid": ["42"]}, at=written.entry)
    assert "42" in shown(done, "bo")
    with pytest.raises(UsageError, match="no longer pending"):
        sitting.answer(place, seat="bo", choose={"bid": ["43"]}, at=written.entry)


def test_the_host_answers_for_everybody(place: Place) -> None:
    sitting.act(place, "bid", {}, actor="ada")
    sitting.answer(place, seat="bo", choose={"bid": ["2"]})
    done = sitting.answer(place, choose={"bid": ["3", "1"], "bow": [NO, NO]})
    result = found_in(done.entry.secret)
    assert isinstance(result, Result)
    assert result.margin == 1


def test_an_answer_is_its_owners_to_take_back(place: Place) -> None:
    sitting.act(place, "bid", {}, actor="ada", seat="ada")
    sitting.answer(place, seat="ada", choose={"bid": ["1"]})
    sitting.answer(place, seat="bo", choose={"bid": ["2"]})
    with pytest.raises(UsageError, match="so ada cannot undo it"):
        sitting.undo(place, 3, seat="ada")
    done = sitting.undo(place, 3, seat="bo")
    pending = found_in(done.history.pending.secret) if done.history.pending else None
    assert isinstance(pending, Pending)
    assert [pending.question.who, *(one.who for one in pending.together)] == ["bo", "clerk"]


def test_a_policy_may_answer_what_the_question_reads() -> None:
    question = Question("bid", "ada", (Option("1"),), form="N", reads=coins)
    assert _answer_fault("12", question) == ""
    assert _answer_fault({"12": 1, "1": 2}, question) == ""
    assert "which is not offered" in _answer_fault("lots", question)
    assert "gives a weight to 'lots'" in _answer_fault({"lots": 1}, question)
