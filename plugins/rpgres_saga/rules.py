"""The actions of Saga, each a plain function that plays at a table. No outcome's name stands here.

Lines of the text (`rulesets/saga/SOURCES.md`) as `S:n`, rows of the list of rulings there as `R:n`.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from rpgres import (
    QUESTIONS,
    Card,
    Character,
    Effect,
    Map,
    Outcome,
    Rating,
    Rules,
    Ruleset,
    State,
    Table,
    put,
    slug,
)
from rpgres_saga.acting import act
from rpgres_saga.battle import battle, stop, turn
from rpgres_saga.difficulty import clear_gm_card, closing, recovered
from rpgres_saga.hands import DECK, DISCARD, IN_PLAY, TRUMPLESS, discard, fill, has_points, hero_of, powers_of, suits_of
from rpgres_saga.harm import damage, heal
from rpgres_saga.policies import lavish, sensible
from rpgres_saga.switches import Switches
from rpgres_saga.versus import versus

saga = Ruleset("saga")
saga.switches(Switches)
saga.policy("sensible")(sensible)
saga.policy("lavish")(lavish)
saga.action("act")(act)
saga.action("versus")(versus)
saga.action("damage")(damage)
saga.action("heal")(heal)
saga.procedure("exchange", turn=turn, stop=stop)(battle)
saga.procedure("battle", turn=turn, stop=stop)(battle)


@saga.prepare
def with_powers(_rules: Rules, character: Character) -> Character:
    """Return the character with each power among its abilities, by its intensity."""
    powers = {slug(name): power["intensity"] for name, power in powers_of(character)}
    return put(character, ("abilities",), Map({**powers, **character.abilities})) if powers else character


@saga.prepare
def with_hand_size(rules: Rules, character: Character) -> Character:
    """Return the character with the size of a full hand, where the sheet leaves it to the edge."""
    counters = character.counters
    size = counters.get("hand-size", 0) or counters.get("edge", 0) + rules.file.settings["hand-over-edge"]
    if counters.get("health", 0):  # the game master's, without a hand
        size = counters.get("hand-size", 0)
    return put(character, ("counters",), counters.with_("hand-size", size))


@saga.lump("act", holds=QUESTIONS)
def card_key(rules: Rules, card: Card, **parameters: Any) -> tuple[str, int]:
    """Cards differ by value, by being trump, and by their suit where else that counts before the result."""
    opposing = parameters.get("opposing")
    apart = suits_of(rules, parameters.get("trump") or parameters["ability"].name)
    if opposing is not None and rules.switches(Switches).gm_card_trumps:
        apart |= suits_of(rules, opposing.ability)
    return _suit_if(rules, card, apart), card.value or 0


@saga.lump("versus", holds=QUESTIONS)
def card_key_of_both(rules: Rules, card: Card, **parameters: Any) -> tuple[str, int]:
    """Cards differ by value, by being a character's trump, and by their suit where else that counts."""
    apart = suits_of(rules, parameters.get("trump") or parameters["ability"].name, parameters["against"].ability)
    if parameters.get("rounds", 1) > 1 and rules.switches(Switches).doom_bank:
        apart |= frozenset(TRUMPLESS)  # what is played in one round may be used in the next
    return _suit_if(rules, card, apart), card.value or 0


def _suit_if(rules: Rules, card: Card, apart: Set[str]) -> str:
    """Return a card's suit where it is one of these, or one of no ability that counts; empty for all others."""
    return card.suit if card.suit in apart or (card.suit in TRUMPLESS and _counts_trumpless(rules)) else ""


def _counts_trumpless(rules: Rules) -> bool:
    """Tell whether it matters before the result that a card is of no ability's suit."""
    switches = rules.switches(Switches)
    counts_otherwise = switches.doom_worth_zero or switches.desperate_attack or switches.bank_trump_doom
    return counts_otherwise or switches.doom_available == "immediate" or switches.mishap_on != "none"


# ---------------------------------------------------------------------------------------------------------------------
# Readings


@saga.action("aura")
def aura(table: Table, actor: Character) -> Outcome:
    """Read the aura of the top card: yes, no or neither (S:2); without a card it is neither (R:31)."""
    rules = table.rules
    readings, neutral = rules.file.settings["readings"], rules.switches(Switches).aura_neutral
    while True:
        card = table.draw(DECK, to=IN_PLAY, label="aura", by=actor.name)
        sign = card.attributes.get("aura", "neutral") if card is not None else "neutral"
        if card is not None:
            _put_back(table, card)
        if sign != "neutral" or neutral != "redraw" or card is None:
            break
    if sign == "neutral" and neutral in ("yes", "no"):
        sign = "positive" if neutral == "yes" else "negative"
    return table.settle(readings[sign], None, roles=Map({"actor": actor.name}))


def _put_back(table: Table, card: Card) -> None:
    switches = table.rules.switches(Switches)
    if switches.aura_return == "deck":
        table.move([card], source=IN_PLAY, to=DECK)
        table.shuffle(DECK)
        return
    discard(table, [card], source=IN_PLAY, banked=switches.bank_gm_doom)


# ---------------------------------------------------------------------------------------------------------------------
# Exchanges and scenes


@saga.ends("exchange")
def end_exchange(table: Table) -> Sequence[Effect]:
    """The game master's card goes, and what was pushed for the exchange comes back (S:13)."""
    return closing(table)


@saga.begins("scene")
def begin_scene(table: Table) -> Sequence[Effect]:
    """The discard is shuffled into the deck where a table plays so (R:30), and all fill their hands."""
    if table.rules.switches(Switches).reshuffle == "each_scene":
        table.move(table.cards(DISCARD), source=DISCARD, to=DECK)
        table.shuffle(DECK)
    for character in table.state.characters.values():
        if not has_points(character) and not character.is_out:
            hero = hero_of(table, character, Rating(0))
            fill(table, hero)
    return ()


@saga.ends("scene")
def end_scene(table: Table) -> Sequence[Effect]:
    """What was pushed for a scene or an exchange comes back, and hands are filled."""
    clear_gm_card(table)
    return recovered(table) if table.rules.switches(Switches).push_recovery in ("scene", "exchange") else ()


# ---------------------------------------------------------------------------------------------------------------------
# Effects


@saga.effect("lose")
def lose(state: State, change: Effect) -> State:
    """Return the state in which a character has lost places of the hand."""
    name = "lost" if change.get("recovery", "heal") == "heal" else "pushed"
    return _counted(state, change["to"], name, change["count"])


@saga.effect("regain")
def regain(state: State, change: Effect) -> State:
    """Return the state in which a character has places of the hand again: those lost for a while first."""
    character = state.characters.get(change["to"])
    if character is None:
        return state
    if change["count"] > 0:
        state = put(state, ("characters", change["to"], "is_out"), False)
    first = min(change["count"], character.counters.get("pushed", 0))
    state = _counted(state, change["to"], "pushed", -first)
    return _counted(state, change["to"], "lost", first - change["count"])


@saga.effect("health")
def health(state: State, change: Effect) -> State:
    """Return the state in which a character without a hand has more or fewer points."""
    if change["change"] > 0 and change["to"] in state.characters:
        state = put(state, ("characters", change["to"], "is_out"), False)
    state = _counted(state, change["to"], "health", change["change"])
    return _counted(state, change["to"], "hurt", -change["change"])


def _counted(state: State, who: str, counter: str, change: int) -> State:
    character = state.characters.get(who)
    if character is None or not change:
        return state
    counters = character.counters
    value = max(0, counters.get(counter, 0) + change)
    return put(state, ("characters", who, "counters"), counters.with_(counter, value))
