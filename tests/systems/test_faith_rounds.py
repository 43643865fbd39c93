"""Faith: fights in rounds: what holds whoever plays, who has a turn, odds by counting, and what a seat learns."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres import GM
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.effects import apply_effects
from rpgres.engine.events import Turned, seen
from rpgres.engine.piles import lay_out
from rpgres.engine.players import NO, Policy, Question, View, policy_of, uniform
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import play, run
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.table import Outcome
from rpgres.model.state import State, code_of, freeze, put
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from rpgres.rulesets.sheets import read_sheet
from rpgres_faith.sides import HARM, ROUND, USED
from tests.support.effort import examples


@cache
def rules(**switches: str) -> Rules:
    return load_rules(find_ruleset("faith"), switches=switches)


def seated(*names: str, **health: int) -> State:
    state = State()
    for name in names:
        character = read_sheet(rules(), name).character
        if name in health:
            character = put(character, ("counters",), character.counters.with_("health", health[name]))
        state = state.with_character(character)
    return state


def fight(*names: str, chosen: Rules | None = None, health: dict[str, int] | None = None, **inputs: Any) -> Prepared:
    state = seated(*names, **(health or {}))
    return prepare(chosen or rules(), "rounds", inputs, state=state, actor=names[0])


def played(prepared: Prepared, policies: dict[str, Policy], *, seed: str = "1") -> tuple[Outcome, Run]:
    return play(prepared, dealer=SeededDealer(Streams(seed)), players=Seats(policies=policies))


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 9999),
    policy=st.sampled_from(["steady", "eager", ""]),
    names=st.sampled_from([("sable", "bero"), ("bero", "dock-guard", "sable"), ("sable", "dock-guard")]),
    switches=st.fixed_dictionaries(
        {},
        optional={
            "reaction_costs_action": st.just("no"),
            "turn_order": st.just("told"),
            "initiative_card_counts": st.just("yes"),
            "draw_on_suit": st.just("off"),
            "reshuffle": st.just("last_played"),
            "pass_mode": st.sampled_from(["final", "lowest_must_play"]),
        },
    ),
)
def test_whoever_plays_a_fight_ends_and_cards_and_limits_are_kept(
    seed: int, policy: str, names: tuple[str, ...], switches: dict[str, str]
) -> None:
    chosen = rules(**switches)
    prepared = fight(*names, chosen=chosen, rounds=3)
    outcome, done = played(prepared, {"": policy_of(chosen, policy) if policy else uniform}, seed=str(seed))
    state = apply_effects(chosen, done.state, outcome)
    whole = lay_out(chosen, seated(*names))
    for who in ("deck:sable", "deck:bero", "gm-deck"):
        owner = who.partition(":")[2]
        piles = (
            [f"{kind}:{owner}" for kind in ("deck", "hand", "discard")]
            if owner
            else ["gm-deck", "gm-hand", "gm-discard"]
        )
        if who in whole.piles:
            cards = [card for pile in piles for card in (*state.piles[pile].cards, *state.piles[pile].top)]
            assert sorted(cards) == sorted(whole.piles[who].cards)
    assert ROUND not in state.periods
    assert ROUND not in state.things
    assert USED not in state.things
    for name in names:
        counters = state.characters[name].counters
        assert state.characters[name].is_out == (sum(counters.get(one, 0) for one in HARM) >= counters["health"])
    assert len([event for event in done.events if isinstance(event, Turned) and event.action.startswith("round ")]) <= 3


def test_everybody_has_one_turn_in_a_round_and_who_countered_before_it_has_none() -> None:
    """The first of the order is countered by the second, whose action of the round is gone with it."""
    for costs, expected in (("yes", 1), ("no", 2)):
        chosen = rules(reaction_costs_action=costs)
        prepared = fight("sable", "bero", chosen=chosen, health={"sable": 99, "bero": 99}, rounds=1)
        _, done = played(prepared, {"": policy_of(chosen)})
        turns = [event for event in done.events if isinstance(event, Turned) and event.by]
        assert len(turns) == expected
        assert len({event.by for event in turns}) == len(turns)


def test_cards_of_a_round_share_the_limit_of_their_attribute_and_the_next_round_has_a_new_one() -> None:
    chosen = rules(reaction_costs_action="no")
    prepared = fight("sable", "bero", chosen=chosen, health={"sable": 99, "bero": 99}, rounds=4)
    _, done = played(prepared, {"": policy_of(chosen, "eager")})
    used: Counter[tuple[int, str, str]] = Counter()
    number = 0
    for event in done.events:
        if isinstance(event, Turned):
            number += event.action.startswith("round ")
            for change in event.effects:
                if change["kind"] == "used":
                    used[number, change["to"], change["attribute"]] += change["count"]
    assert {number for number, *_ in used} == {1, 2, 3, 4}
    assert all(count <= 2 for (_, _, attribute), count in used.items() if attribute == "dexterity")


def test_who_falls_has_no_turn_any_more() -> None:
    state = seated("sable", "bero", "dock-guard", sable=99, bero=99)
    state = put(state, ("characters", "dock-guard", "counters"), freeze({"physical": 2, "health": 3}))
    inputs = {"against": ["dock-guard"], "beside": ["bero"], "hand": "S13"}
    prepared = prepare(rules(), "rounds", inputs, state=state, actor="sable")
    given = {"turned": ["S2", "S2"]}
    choose = {"sable:lay": ["S13"], "lay": ["deck", "deck"], "act": ["needle-pistol:dock-guard"], "level": ["success"]}
    result, after = run(prepared, streams=Streams("1"), given=given, choose=choose)
    assert isinstance(result, Result)
    assert result.outcome == "won"
    assert [one["to"] for one in result.effects if one["kind"] == "out"] == ["dock-guard"]
    assert after.characters["dock-guard"].is_out


def test_nobody_is_out_where_no_sheet_says_how_much_one_bears() -> None:
    """No source at hand states a number; so a fight without one goes on to its last round."""
    prepared = fight("sable", "bero", health={"sable": 0, "bero": 0}, rounds=6)
    outcome, done = played(prepared, {"": policy_of(rules())})
    assert outcome.band == "undecided"
    assert sum(done.state.characters["bero"].counters.get(one, 0) for one in HARM) > 0


# -- odds


@pytest.mark.slow
def test_odds_of_a_round_agree_with_counting_the_decks() -> None:
    """Whoever turns over the higher card acts first, the player on the same one, and a single blow decides."""
    state = seated("sable", "dock-guard", **{"sable": 1, "dock-guard": 1})
    abilities = state.characters["sable"].abilities
    state = put(state, ("characters", "sable", "abilities"), abilities.with_("initiative", 0))

    def shoots(view: View, question: Question) -> Any:
        match question.label:
            case "lay":
                return "deck"
            case "act":
                return question.options[0].name
            case "level":
                return "success"
            case _:
                return NO

    inputs = {"rounds": 1, "hand": "H1", "gm-hand": "S1"}
    prepared = prepare(rules(), "rounds", inputs, state=state, actor="sable")
    odds = outcome_odds(prepared, policies={"": shoots}, seconds=60)
    assert not odds.open
    piles = lay_out(rules(), state).piles
    own, hers = (
        Counter(0 if code_of(card) == "Jk" else int(code_of(card)[1:]) for card in piles[name].cards)
        for name in ("deck:sable", "gm-deck")
    )
    own[1], hers[1] = own[1] - 1, hers[1] - 1  # the cards of the hands that were given
    whole = own.total() * hers.total()
    assert (own.total(), hers.total()) == (51, 55)
    first = sum(own[one] * hers[two] for one in own for two in hers if one >= two)
    assert odds.masses == {"won": Fraction(first, whole), "lost": 1 - Fraction(first, whole)}


# -- secrets


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(data=st.data())
def test_two_fights_that_differ_in_what_a_player_holds_look_the_same_to_others(data: st.DataObject) -> None:
    base = lay_out(rules(), seated("sable", "dock-guard", **{"dock-guard": 99, "sable": 99}))
    deck = list(base.piles["deck:sable"].cards)
    own = [next(card for card in deck if code_of(card) == code) for code in ("C13", "S11")]
    rest = [card for card in deck if card not in own and code_of(card)[1:] not in ("13",)]
    told: list[Any] = []
    for _ in range(2):
        others = data.draw(st.lists(st.sampled_from(rest), min_size=5, max_size=5, unique=True))
        hand = msgspec.structs.replace(base.piles["hand:sable"], cards=tuple(sorted([*own, *others])))
        left = tuple(sorted(card for card in deck if card not in (*own, *others)))
        stock = msgspec.structs.replace(base.piles["deck:sable"], cards=left)
        state = msgspec.structs.replace(base, piles=base.piles.with_("hand:sable", hand).with_("deck:sable", stock))
        heard: list[Any] = []

        def noting(view: View, question: Question, heard: list[Any] = heard) -> Any:
            if view.seat == GM:
                heard.append(
                    (view.state, list(view.events), msgspec.structs.replace(question, reads=None, card_key=None))
                )
                return {"lay": "deck", "act": "hold", "npc": "deck", "counter": "baton"}.get(question.label, NO)
            if question.label == "play":
                return "S11" if any(one.name == "S11" for one in question.options) else "pass"
            return {"lay": "C13", "act": "needle-pistol:dock-guard"}.get(question.label, NO)

        prepared = prepare(rules(draw_on_low="off"), "rounds", {"rounds": 1}, state=state, actor="sable")
        _, done = played(prepared, {"": noting})
        known = [one for event in done.events if (one := seen(event, GM)) is not None]
        told.append((heard, known, done.state.seen_by(GM)))
    assert told[0] == told[1]
    assert len(told[0][0]) > 3


# -- one after the other


@pytest.mark.parametrize("label", ["lay", "act", "play"])
def test_each_decision_of_each_turn_waits_and_is_resumed(label: str) -> None:
    prepared = fight("sable", "bero", rounds=1)
    policy = policy_of(rules())
    assert callable(policy)

    def most(view: View, question: Question) -> Any:
        return None if question.label == label and question.who == "sable" else policy(view, question)

    waits, _ = run(prepared, streams=Streams("7"), policies={"": most})
    assert isinstance(waits, Pending)
    assert (waits.question.label, waits.question.who) == (label, "sable")
    whole, _ = run(prepared, streams=Streams("7"), policies={"": policy})
    assert isinstance(whole, Result)
    chosen = [one.value for one in whole.answers if one.label == label]
    again, _ = run(prepared, streams=Streams("7"), policies={"": policy}, choose={label: chosen})
    assert isinstance(again, Result)
    assert again.effects == whole.effects
