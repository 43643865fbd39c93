"""The actions of Faith, each a plain function that plays at a table. No outcome's name stands here.

Lines of the text (`rulesets/faith/SOURCES.md`) as `S:n`, rows of the restatement as `R:n`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rpgres import (
    EMPTY,
    GM,
    QUESTIONS,
    Card,
    Character,
    Effect,
    Form,
    Map,
    Outcome,
    Preference,
    Rating,
    Rules,
    Ruleset,
    State,
    Table,
    effect,
    named,
    put,
)
from rpgres_faith.confronting import confront, distinct
from rpgres_faith.consequences import unconfronted
from rpgres_faith.declaring import plain_words, tell
from rpgres_faith.fighting import rounds, stop, turn
from rpgres_faith.hands import fill, hand_size
from rpgres_faith.harm import damage, harm
from rpgres_faith.policies import eager, steady
from rpgres_faith.rounds import order_of_turns, take_turn
from rpgres_faith.sides import ROUND, USED, suits_of
from rpgres_faith.switches import Switches

faith = Ruleset("faith")
faith.switches(Switches)
faith.policy("steady")(Preference(steady))
faith.policy("eager")(Preference(eager))
faith.action("confront")(confront)
faith.action("damage")(damage)
faith.procedure("rounds", turn=turn, stop=stop)(rounds)
faith.effect("harm")(harm)


@faith.prepare
def with_hand_size(rules: Rules, character: Character) -> Character:
    """Return the character with the size of a full hand, where the sheet leaves it to the species.

    Raises:
        UsageError: there is no such environment to have an affinity with.
    """
    for word in character.texts.get("affinity", "").split():
        suits_of(rules.file.settings, word)
    alone = State(characters=Map({character.name: character}))
    size = 0 if character.seat == GM else hand_size(rules, alone, character.name)
    return put(character, ("counters",), character.counters.with_("hand-size", size))


@faith.lump("confront", holds=QUESTIONS)
def card_key(rules: Rules, card: Card, *, state: State, **parameters: Any) -> tuple[int | None, str]:
    """Cards differ by value, and by the suits that let a character draw: of the place, and of any character here."""
    if rules.switches(Switches).draw_on_suit == "off":
        return card.value, ""
    settings = rules.file.settings
    words = [parameters.get("ambience") or str(state.things.get("ambience", ""))]
    words += (parameters.get("affinity") or "").split()
    for character in state.characters.values():
        words += character.texts.get("affinity", "").split()
    for form in parameters.get("against") or ():
        words += form.values.get("affinity", "").split()
    suits = {suit for word in words for suit in suits_of(settings, word)}
    return card.value, card.suit if card.suit in suits else ""


# ---------------------------------------------------------------------------------------------------------------------
# Without a confrontation


@faith.action("unopposed")
def unopposed(table: Table, actor: Character, *, words: str = "") -> Outcome:
    """Do what nothing confronts: it succeeds (S:13, R:4)."""
    spent = take_turn(table, actor.name)
    if words:
        tell(table, actor.name, "action", plain_words(words))
    return unconfronted(table, actor).plus(spent)


@faith.action("hold")
def hold(table: Table, actor: Character) -> Outcome:
    """Let the own turn of a round go by (R:6.5)."""
    spent = take_turn(table, actor.name)
    return table.settle("hold", None, roles=Map({"actor": actor.name, "opponent": GM})).plus(spent)


@faith.effect("used")
def use(state: State, change: Effect) -> State:
    """Return the state in which more cards of a round's limit are used."""
    known = state.things.get(USED, EMPTY)
    own = known.get(change["to"], EMPTY)
    own = own.with_(change["attribute"], own.get(change["attribute"], 0) + change["count"])
    return put(state, ("things",), state.things.with_(USED, known.with_(change["to"], own)))


@faith.effect("order")
def order(state: State, change: Effect) -> State:
    """Return the state in which a round has begun, if none had, and has its order of turns."""
    kept = Map({"order": tuple(change["names"].split(", ")), "acted": ()})
    periods = state.periods if ROUND in state.periods else (*state.periods, ROUND)
    state = put(state, ("periods",), periods)
    return put(state, ("things",), state.things.with_(ROUND, kept).without(USED))


@faith.effect("acted")
def acted(state: State, change: Effect) -> State:
    """Return the state in which a character's action of this round is removed."""
    kept = state.things.get(ROUND)
    if kept is None or change["to"] in kept["acted"]:
        return state
    kept = kept.with_("acted", (*kept["acted"], change["to"]))
    return put(state, ("things",), state.things.with_(ROUND, kept))


# ---------------------------------------------------------------------------------------------------------------------
# Scenes and rounds


@faith.action("initiative")
def initiative(
    table: Table, actor: Character, *, skill: Rating | None = None, who: Sequence[Form] = (), npc: bool = False
) -> Outcome:
    """Ask all who act for a card, and set the order of turns (R:6.2-6.4)."""
    first = Form(actor.name, Map({"npc": npc, **({"skill": skill} if skill is not None else {})}))
    everybody = _everybody(table, [first, *distinct(actor, who, option=named("who"))])
    return order_of_turns(table, actor.name, everybody)


def _everybody(table: Table, forms: Sequence[Form]) -> list[Form]:
    """Return who lays a card: the named characters, and all others who can still act."""
    named = {form.name for form in forms}
    rest = [
        Form(name, EMPTY)
        for name, character in table.state.characters.items()
        if name not in named and not character.is_out
    ]
    return [*forms, *rest]


@faith.begins("scene")
def begin_scene(table: Table) -> Sequence[Effect]:
    """All draw up to a full hand, the game master too (R:1.6)."""
    for name, character in table.state.characters.items():
        if character.seat != GM and not character.is_out:
            fill(table, name)
    fill(table, GM)
    return ()


@faith.ends("round")
def end_round(table: Table) -> Sequence[Effect]:
    """The limits of the round and its order are removed (S:39)."""
    return (effect("over"),)


@faith.effect("over")
def over(state: State, _change: Effect) -> State:
    """Return the state without a round, its order and its limits."""
    state = put(state, ("periods",), tuple(period for period in state.periods if period != ROUND))
    return put(state, ("things",), state.things.without(ROUND).without(USED))
