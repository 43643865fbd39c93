"""The actions of Faith, each a plain function that plays at a table. No outcome's name stands here.

Lines of the text (`rulesets/faith/SOURCES.md`) as `S:n`, rows of the restatement as `R:n`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

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
from rpgres_faith.confronting import (
    Action,
    BadLuck,
    confronting,
    declared_action,
    declared_counteractions,
    distinct,
    ruling_of_luck,
    typed_counteraction,
    with_effects,
)
from rpgres_faith.consequences import bystanders, cards_used, resolved, unconfronted
from rpgres_faith.declaring import plain_words, tell
from rpgres_faith.hands import fill, hand_size
from rpgres_faith.harm import damage, harm
from rpgres_faith.playing import play_out
from rpgres_faith.policies import eager, steady
from rpgres_faith.rounds import in_order, lay_cards, reactions, take_turn
from rpgres_faith.sides import ROUND, USED, suits_of
from rpgres_faith.switches import Switches

faith = Ruleset("faith")
faith.switches(Switches)
faith.policy("steady")(Preference(steady))
faith.policy("eager")(Preference(eager))
faith.action("damage")(damage)
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
def alike(rules: Rules, card: Card, *, state: State, **parameters: Any) -> tuple[int | None, str]:
    """Cards are told apart by value, and by the suits that let somebody draw: of the place, and of anybody here."""
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
# Confrontations


@faith.action("confront")
def confront(
    table: Table,
    actor: Character,
    *,
    skill: Rating,
    attribute: Rating,
    advantages: int = 0,
    disadvantages: int = 0,
    gm: bool = False,
    gm_advantages: int = 0,
    gm_disadvantages: int = 0,
    gm_against: Sequence[str] = (),
    against: Sequence[Form] = (),
    target: Sequence[str] = (),
    unaware: Sequence[str] = (),
    words: str = "",
    ambience: str | None = None,
    affinity: str | None = None,
    used: int | None = None,
    npc: bool = False,
    weapon: int = 0,
    armour: int = 0,
    ammo: str = "standard",
    range: int = 0,  # noqa: A002  # the option's name
    thrown: int | None = None,
) -> Outcome:
    """Try something that others, or bad luck, may confront: the eleven steps of the text (S:83-94)."""
    own = {"advantages": advantages, "disadvantages": disadvantages, "used": used, "affinity": affinity}
    arms = {"ambience": ambience, "weapon": weapon, "armour": armour, "ammo": ammo, "range": range, "thrown": thrown}
    action = Action(actor, skill, attribute, Map({**own, **arms, "words": words}), tuple(target), tuple(unaware))
    luck = BadLuck(gm, gm_advantages, gm_disadvantages, gm_against)
    spent = take_turn(table, actor.name)
    first = declared_action(table, action, against, is_npc=npc)
    others = [typed_counteraction(table, form, ambience) for form in against]
    ruling = ruling_of_luck(table, action, luck, others)
    declared, granted = declared_counteractions(table, action, others, ruling)
    others += declared
    sides, pairs = confronting(table, first, others, luck, ruling)
    if not pairs:
        outcome = unconfronted(table, actor)
        return outcome.plus([*spent, *bystanders(table, first, action.affected, band=outcome.band)])
    play = play_out(table, with_effects(table, sides, pairs, [*ruling.granted.items(), *granted]))
    spent += reactions(table, [side.who for side in others])
    return resolved(table, play, action.affected).plus([*spent, *cards_used(table, play)])


# ---------------------------------------------------------------------------------------------------------------------
# Without a confrontation


@faith.action("unopposed")
def unopposed(table: Table, actor: Character, *, words: str = "") -> Outcome:
    """Do what nobody and nothing confronts: it succeeds (S:13, R:4)."""
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
    """Return the state in which somebody's action of this round is gone."""
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
    """Have everybody who acts lay a card, and set the order of turns (R:6.2-6.4)."""
    first = Form(actor.name, Map({"npc": npc, **({"skill": skill} if skill is not None else {})}))
    everybody = _everybody(table, [first, *distinct(actor, who, option=named("who"))])
    outcome = table.settle("initiative", None, roles=Map({"actor": actor.name, "opponent": GM}))
    totals = lay_cards(table, everybody)
    names = in_order(table, totals)
    table.tell(", ".join(f"{name} {totals[name].total}" for name in names))
    effects = [effect("order", names=", ".join(names))]
    if table.rules.switches(Switches).initiative_card_counts:
        effects += [effect("used", to=name, attribute="agility", count=1) for name in names if totals[name].is_player]
    outcome = outcome.plus(effects)
    shown = tuple(Map({"name": name, "total": totals[name].total}) for name in names)
    return msgspec.structs.replace(outcome, details=Map({"order": shown}))


def _everybody(table: Table, forms: Sequence[Form]) -> list[Form]:
    """Return who lays a card: those who were named, and everybody else at the table who can still act."""
    named = {form.name for form in forms}
    rest = [
        Form(name, EMPTY)
        for name, character in table.state.characters.items()
        if name not in named and not character.is_out
    ]
    return [*forms, *rest]


@faith.begins("scene")
def begin_scene(table: Table) -> Sequence[Effect]:
    """Everybody draws up to a full hand, the game master too (R:1.6)."""
    for name, character in table.state.characters.items():
        if character.seat != GM and not character.is_out:
            fill(table, name)
    fill(table, GM)
    return ()


@faith.ends("round")
def end_round(table: Table) -> Sequence[Effect]:
    """The limits of the round and its order are gone (S:39)."""
    return (effect("over"),)


@faith.effect("over")
def over(state: State, _change: Effect) -> State:
    """Return the state without a round's order and limits."""
    return put(state, ("things",), state.things.without(ROUND).without(USED))
