"""Faith at a table that lasts: everybody answers for the own seat, in any order, and sees the own hand alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count, permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres import UsageError
from rpgres.engine.records import Pending, Result
from rpgres.journal import commands as sitting
from rpgres.journal import store, views
from rpgres.journal.commands import Done, Place, writing
from rpgres.journal.exchange import view_of
from rpgres.journal.records import RUNNING, found_in
from rpgres.journal.replay import questions_of
from rpgres.journal.verifying import verify
from rpgres.model.events import DecisionEvent
from rpgres.model.state import GM
from rpgres.plugins.loading import load_rules
from rpgres.render.lines import plain_text
from rpgres.render.tables import found_lines, log_lines, show_lines

# Hands as they are dealt: Sable is human, and has one more. No card is low, or of a suit that lets its owner draw.
SABLE = ["C13", "C9", "C8", "D11", "D10", "D8", "S9", "S7"]
BERO = ["H12", "H10", "H9", "C11", "C10", "C9", "C7"]
HERS = ["D12", "D9", "H8", "S8", "C7", "D7", "S6"]
SEATS = ("sable", "bero", GM)
# The hashes and the commitments of two tables differ, as every entry has a fresh random salt; so does the time.
_FRESH = re.compile(r"[0-9a-f]{64}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture(autouse=True, scope="module")
def rules_once() -> Iterator[None]:
    """Read the ruleset once: it is the same all the time, and reading it is most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        read = cache(lambda ruleset, switches: load_rules(ruleset, switches=dict(switches)))
        patch.setattr(writing, "load_rules", lambda ruleset, *, switches, **_: read(ruleset, tuple(switches.items())))
        yield


def begun(path: Path, *, bero: list[str] = BERO, hers: list[str] = HERS, **switches: str) -> Place:
    """Return a table at which a scene has begun, with these hands."""
    salts = count(1)  # two tables with one seed have the same cards where the salt is one as well
    place = Place(path, salt=lambda: next(salts).to_bytes(32, "big"))
    sheets = ["sable", "bero", "dock-guard"]
    sitting.begin_table(place, ruleset="faith", sheets=sheets, seed="7", switches=switches, trust="players")
    sitting.turn(place, "begin", given={"deal": [*SABLE, *bero, *hers]})
    return place


def asked(place: Place) -> list[tuple[str, str]]:
    """Return the labels that are waited for, each with the seat that has to answer."""
    history = store.read(place.path)
    if history.pending is None:
        return []
    pending = found_in(history.pending.secret)
    assert isinstance(pending, Pending)
    return [(question.label, history.state.seat_of(question.who)) for question in questions_of(pending)]


def go_on(place: Place, answers: Mapping[tuple[str, str], list[str]]) -> Iterator[Done]:
    """Answer everything that is waited for, the last who is asked first, and yield where it stands each time."""
    left = {key: list(texts) for key, texts in answers.items()}
    while found := asked(place):
        label, seat = found[-1]
        texts = left.get((label, seat)) or ["no"]
        yield sitting.answer(place, seat=seat, choose={label: [texts.pop(0) if len(texts) else "no"]})


def initiative(place: Place) -> None:
    sitting.act(place, "initiative", {}, actor="sable", seat="sable")
    for _ in go_on(place, {("lay", "sable"): ["S9"], ("lay", "bero"): ["C9"], ("lay", GM): ["S6"]}):
        pass


SHOT = {"skill": "ballistic", "attribute": "dexterity", "weapon": "3", "target": ["bero"]}
ANSWERS = {
    ("counter", "bero"): ["skill=technical,attribute=dexterity"],
    ("play", "bero"): ["H12", "H10"],
    ("play", "sable"): ["C13", "D11"],
}


def shoot(place: Place) -> Iterator[Done]:
    """Have Sable shoot at Bero, who hides behind a machine; yield where it stands after each answer."""
    yield sitting.act(place, "confront", SHOT, actor="sable", seat="sable")
    yield from go_on(place, ANSWERS)


def shown(place: Place, done: Done, seat: str) -> str:
    """Return everything that a seat may read of a table, byte by byte."""
    history, file = done.history, done.rules.file
    record, log = views.table_record(history, seat), views.log_seen(history, seat)
    met: list[Any] = [views.entry_record(history, done.entry, seat)]
    if done.entry.kind in RUNNING:
        met.append(plain_text(found_lines(views.run_seen(history, done.entry, seat), file)))
    met += [record, plain_text(show_lines(record, history.state.seen_by(seat), file))]
    met += [views.log_record(history, seat), plain_text(log_lines(log, file))]
    if seat in [one for _, one in asked(place)]:
        met.append(view_of(history, place.path, seat=seat))
    texts = (one if isinstance(one, str) else msgspec.json.encode(one, enc_hook=str).decode() for one in met)
    return _FRESH.sub("...", "\n".join(texts)).replace(place.path.name, "table")


@pytest.mark.slow
def test_a_round_and_a_confrontation(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    initiative(place)
    state = store.read(place.path).state
    assert state.periods == ("scene", "round")
    assert state.things["round"]["order"] == ("sable", "bero", "dock-guard")
    with pytest.raises(UsageError, match="it is sable's turn"):
        sitting.act(place, "unopposed", {}, actor="bero", seat="bero")
    done = [*shoot(place)][-1]
    result = found_in(done.entry.secret)
    assert isinstance(result, Result)
    assert (result.outcome, result.total, result.opposition) == ("success", 30, 27)
    state = done.history.state
    assert state.characters["bero"].counters["physical"] == 3
    assert state.things["cards-used"] == {"sable": {"dexterity": 2}, "bero": {"dexterity": 2}}
    with pytest.raises(UsageError, match="bero has had an action in this round; still to act: dock-guard"):
        sitting.act(place, "unopposed", {}, actor="bero", seat="bero")
    sitting.undo(place)
    state = store.read(place.path).state
    assert state.characters["bero"].counters["physical"] == 0
    assert len(state.piles["hand:bero"]) == 6
    sitting.turn(place, "end", "round")
    assert "round" not in store.read(place.path).state.things
    sitting.reveal(place)
    assert verify(place.path).verdict == "in order"


@pytest.mark.parametrize("order", list(permutations(SEATS)))
def test_cards_for_initiative_are_laid_in_any_order_and_turned_up_together(tmp_path: Path, order: list[str]) -> None:
    place = begun(tmp_path / "t.db")
    cards = {"sable": "S9", "bero": "C10", GM: "S6"}
    done = sitting.act(place, "initiative", {}, actor="sable", seat="sable")
    for number, seat in enumerate(order):
        done = sitting.answer(place, seat=seat, choose={"lay": [cards[seat]]})
        for other in order:
            told = [cards[one] in shown(place, done, other) for one in order[: number + 1] if one != other]
            assert set(told) <= ({True} if number == 2 else {False})
    result = found_in(done.entry.secret)
    assert isinstance(result, Result)
    assert [effect["names"] for effect in result.effects] == ["sable, bero, dock-guard"]


@pytest.mark.slow
def test_who_is_level_with_another_chooses_face_down_in_any_order(tmp_path: Path) -> None:
    for order in permutations(("sable", "bero")):
        place = begun(tmp_path / f"{order[0]}.db")
        sitting.act(place, "confront", {**SHOT, "attribute": "dexterity=1"}, actor="sable", seat="sable")
        answers = {("counter", "bero"): ["skill=6,attribute=1"]}
        for _ in go_on(place, answers):
            if asked(place) == [("play", "sable"), ("play", "bero")]:
                break
        cards = {"sable": "C13", "bero": "H12"}
        done = sitting.answer(place, seat=order[0], choose={"play": [cards[order[0]]]})
        assert f"play ({order[0]}): {cards[order[0]]}" not in shown(place, done, order[1])
        done = sitting.answer(place, seat=order[1], choose={"play": [cards[order[1]]]})
        result = found_in(done.entry.secret)
        assert isinstance(result, Result | Pending)
        assert all(f"play ({name}): {cards[name]}" in shown(place, done, seat) for name in cards for seat in SEATS)


@pytest.mark.slow
def test_each_seat_reads_the_own_hand_alone(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    for done in shoot(place):
        for seat, own, others in (
            ("sable", "C8", ("H9", "C7", "S8")),
            ("bero", "H9", ("S7", "D8", "S8")),
            (GM, "H8", ("S7", "H9", "D8")),
        ):
            text = shown(place, done, seat)
            assert own in text
            assert not [card for card in others if re.search(rf"\b{card}\b", text)], seat


@pytest.mark.slow
@pytest.mark.parametrize("timing", ["on_turn", "any_time"])
def test_two_tables_that_differ_in_hidden_hands_look_the_same(tmp_path: Path, timing: str) -> None:
    """What Bero holds and does not play, and whether the game master holds a joker, shows to nobody else."""
    others = ["H12", "H10", "H13", "C11", "C13", "C9", "S11"]
    jokers = ["Jk", "Jk", "H8", "S8", "C7", "D7", "S6"]
    looks = []
    for number, (bero, hers) in enumerate(((BERO, HERS), (others, HERS), (BERO, jokers), (others, jokers))):
        place = begun(tmp_path / f"{number}.db", bero=bero, hers=hers, joker_timing=timing)
        initiative(place)
        looks.append([shown(place, done, "sable") for done in shoot_with_bad_luck(place)])
    assert looks[0] == looks[1] == looks[2] == looks[3]
    assert not any('joker"' in look for look in looks[0])  # nobody else reads what she is asked


def shoot_with_bad_luck(place: Place) -> Iterator[Done]:
    yield sitting.act(place, "confront", SHOT, actor="sable", seat="sable")
    yield from go_on(place, {**ANSWERS, ("join", GM): ["join"], ("play", GM): ["H8", "S8"]})


@pytest.mark.slow
def test_the_game_master_is_asked_for_a_joker_that_she_does_not_have(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db", joker_timing="any_time")
    labels = [asked(place) for _ in shoot_with_bad_luck(place)]
    assert [("joker", GM)] in labels
    place = begun(tmp_path / "other.db", joker_timing="on_turn")
    assert [("joker", GM)] not in [asked(place) for _ in shoot_with_bad_luck(place)]


@pytest.mark.parametrize(
    "inputs",
    [
        {"gm": True},
        {"gm-disadvantages": 5},
        {"npc": True},
        {"used": 1},
        {"against": ["bero:skill=1,attribute=1"]},
        {"against": ["bero:skill=1,attribute=1,hand=H12"]},
    ],
)
def test_a_player_declares_nothing_for_others(tmp_path: Path, inputs: dict[str, Any]) -> None:
    place = begun(tmp_path / "t.db")
    option = next(iter(inputs))
    hint = "you can name a character with `target`" if option == "against" else ""
    with pytest.raises(UsageError, match=f"`{option}`: only the game master or the host can give this.*{hint}"):
        sitting.act(place, "confront", {"skill": 3, "attribute": 2, **inputs}, actor="sable", seat="sable")
    assert store.read(place.path).pending is None
    for seat in (GM, None):
        if "hand=" in str(inputs) and seat == GM:
            with pytest.raises(UsageError, match="gm does not see all cards"):
                sitting.act(place, "confront", {"skill": 3, "attribute": 2, **inputs}, actor="sable", seat=seat)
            continue
        sitting.act(place, "confront", {"skill": 3, "attribute": 2, **inputs}, actor="sable", seat=seat)
        sitting.undo(place, seat=seat)


def test_cards_that_the_host_types_for_an_opponent_are_marked(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    inputs = {"skill": 3, "attribute": 2, "against": ["bero:skill=1,attribute=1,hand=H9/H3"]}
    done = sitting.act(place, "confront", inputs, actor="sable")
    assert views.log_seen(done.history, "sable")[-1].laid == ["hand:bero"]
    assert "H3" not in shown(place, done, "sable")
    assert "not from the seed" in shown(place, done, "sable")


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"against": ["bero:skill=1,attribute=1,hand=X9"]}, "there is no card 'X9'"),
        ({"against": ["bero:skill=1,attribute=1,affinity=mars"]}, "there is no environment 'mars'"),
        ({"target": ["sable"]}, "cannot confront their own action|a character takes part only once"),
        ({"skill": "agility"}, "agility is an attribute"),
        ({"attribute": "ballistic"}, "ballistic is not an attribute"),
    ],
)
def test_slips_are_told_before_anybody_is_asked(tmp_path: Path, inputs: dict[str, Any], told: str) -> None:
    place = begun(tmp_path / "t.db")
    with pytest.raises(UsageError, match=told):
        sitting.act(place, "confront", {"skill": "ballistic", "attribute": "dexterity", **inputs}, actor="sable")
    assert store.read(place.path).pending is None


def test_what_is_declared_is_public_when_it_is_said(tmp_path: Path) -> None:
    """Others decide whether to confront what they see (S:84-86): action, countermeasure, rulings; no hand."""
    place = begun(tmp_path / "t.db")
    done = sitting.act(place, "confront", {**SHOT, "words": "shoots from the hip"}, actor="sable", seat="sable")
    told = "shoots from the hip (ballistic 6 with dexterity 2; weapon 3; against bero)"
    assert all(told in shown(place, done, seat) for seat in SEATS)
    done = sitting.answer(place, seat=GM, choose={"join": ["+1"]})
    assert all("join (the game master): sable=+1" in shown(place, done, seat) for seat in SEATS)
    done = sitting.answer(place, seat="bero", choose={"counter": ["skill=technical,attribute=dexterity,words=ducks"]})
    assert all("words=ducks" in shown(place, done, seat) for seat in SEATS)
    done = sitting.answer(place, seat=GM, choose={"ruling": ["-1"]})
    assert all("ruling of bero (the game master): bero=-1" in shown(place, done, seat) for seat in SEATS)
    done = [*go_on(place, ANSWERS)][-1]
    for seat, secret in (("sable", "H9"), ("bero", "S7"), (GM, "S7")):
        text = shown(place, done, seat)
        assert told in text
        assert secret not in text


def test_a_slip_is_told_to_whoever_makes_it_though_others_are_asked_too(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    inputs = {"skill": "physical", "attribute": "physical", "target": ["sable", "bero"]}
    sitting.act(place, "confront", inputs, actor="dock-guard", seat=GM)
    sitting.answer(place, seat=GM, choose={"join": ["no"]})
    for slip, told in (
        ("skill=agility,attribute=2", "agility is an attribute"),
        ("skill=3,attribute=1,thrown=70", "70 m"),
    ):
        with pytest.raises(UsageError, match=told):
            sitting.answer(place, seat="sable", choose={"counter": [slip]})
    assert asked(place) == [("counter", "sable"), ("counter", "bero")]


def test_the_game_master_rules_on_all_countermeasures_at_once(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    inputs = {"skill": "physical", "attribute": "physical", "target": ["sable", "bero"]}
    sitting.act(place, "confront", inputs, actor="dock-guard", seat=GM)
    sitting.answer(place, seat=GM, choose={"join": ["no"]})
    for seat, skill in (("bero", "technical"), ("sable", "athletic")):
        sitting.answer(place, seat=seat, choose={"counter": [f"skill={skill},attribute=dexterity"]})
    assert asked(place) == [("ruling", GM), ("ruling", GM)]


def test_who_is_done_is_not_asked_again_at_a_table(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    sitting.act(place, "confront", SHOT, actor="sable", seat="sable")
    answers = {("counter", "bero"): ["skill=technical,attribute=dexterity"], ("play", "bero"): ["C7", "C9", "done"]}
    answers |= {("play", "sable"): ["done"]}
    labels = [asked(place) for _ in go_on(place, answers)]
    assert sum(one == [("play", "sable")] for one in labels) <= 1
    result = found_in(store.read(place.path).entries[-1].secret)
    assert isinstance(result, Result)
    plays = [event.who for event in result.events if isinstance(event, DecisionEvent) and event.label == "play"]
    assert plays.count("sable") == 1
    assert plays.count("bero") == 2


@pytest.mark.parametrize("skill", ["ballistic", "3"])
def test_a_counteraction_without_an_attribute_is_told_as_it_would_be_typed(tmp_path: Path, skill: str) -> None:
    place = begun(tmp_path / "t.db")
    before = len(store.read(place.path).entries)
    inputs = {"skill": 3, "attribute": 2, "against": [f"bero:skill={skill}"]}
    with pytest.raises(UsageError, match=rf"type bero:skill={skill},attribute=agility \(bero has: "):
        sitting.act(place, "confront", inputs, actor="sable")
    with pytest.raises(UsageError, match=r"type bero:skill=hacking,attribute=link \(bero has: hacking, [a-z, ]*\)$"):
        sitting.act(place, "confront", {**inputs, "against": ["bero"]}, actor="sable")
    assert len(store.read(place.path).entries) == before  # no card was dealt before that was told
