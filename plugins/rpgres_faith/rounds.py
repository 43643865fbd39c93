"""Rounds in which timing matters: cards for initiative, the order of turns, used actions (R:6.1-6.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from rpgres import GM, Card, Effect, Form, Map, Option, Outcome, Question, Rating, Table, UsageError, effect, named
from rpgres_faith.hands import card_options, deal_first, draw, piles_of, place_typed, renew, worth
from rpgres_faith.sides import HARM, ROUND
from rpgres_faith.switches import Switches

TOP = Option("deck", "the top card of the deck", brief="deck")


class Total(msgspec.Struct, frozen=True, gc=False):
    """The initiative of a character: card and skill, and whether players go first on a tie (R:6.3)."""

    total: int
    is_player: bool


def take_turn(table: Table, who: str) -> list[Effect]:
    """Return that a character's action of the round is taken, while there is a round (R:6.2, R:6.5).

    A character who came later is not in the order, and acts at any time.

    Raises:
        UsageError: it was taken already, by an action or by confronting before; or it is another character's turn.
    """
    kept = table.state.things.get(ROUND)
    if kept is None:
        return []
    left = [name for name in kept["order"] if name not in kept["acted"]]
    if who in kept["acted"]:
        raise UsageError(f"{who} has had an action in this round; still to act: {', '.join(left or ['none'])}")
    if who in left[1:] and table.rules.switches(Switches).turn_order == "enforced":
        raise UsageError(
            f"it is {left[0]}'s turn, and then {left[1]}'s; who lets the turn go by does so with `hold` "
            "(turn_order=told does without)"
        )
    return [effect("acted", to=who)]


def reactions(table: Table, names: Sequence[str]) -> list[Effect]:
    """Return the effects by which characters who confront before their turn lose their action (R:6.6)."""
    kept = table.state.things.get(ROUND)
    if kept is None or not table.rules.switches(Switches).reaction_costs_action:
        return []
    return [effect("acted", to=name) for name in names if name in kept["order"] and name not in kept["acted"]]


def lay_cards(table: Table, forms: Sequence[Form]) -> dict[str, Total]:
    """Return the initiative of each character: cards are played together, one for all of the game master's (R:6.2)."""
    hers = {form.name for form in forms if is_hers(table, form)}
    layers = [form.name for form in forms if form.name not in hers] + ([GM] if hers else [])
    for form in forms:
        if form.values.get("hand") and form.name not in hers:
            place_typed(table, form.name, form.values["hand"], option=f"{named('who')} {form.name}: hand")
    for who in layers:
        deal_first(table, who)
    answers = table.ask_together([_question(table, who) for who in layers])
    laid = {who: _laid(table, who, answer) for who, answer in zip(layers, answers, strict=True)}
    found = {}
    for form in forms:
        card = laid[GM if form.name in hers else form.name]
        found[form.name] = Total(worth(card) + skill_of(table, form) if card else 0, form.name not in hers)
    return found


def is_hers(table: Table, form: Form) -> bool:
    """Tell whether a character is one of the game master's."""
    return bool(form.values.get("npc")) or table.state.seat_of(form.name) == GM


def skill_of(table: Table, form: Form) -> int:
    """Return a character's skill for initiative, less damage counters (R:6.8)."""
    character = table.state.characters[form.name]
    rating = form.values.get("skill") or Rating(0)
    if not rating.value and not rating.name:
        rating = Rating(character.abilities.get("initiative", 0), "initiative")
    harm = sum(character.counters.get(name, 0) for name in HARM) + form.values.get("damage", 0)
    return int(max(0, rating.value - harm))


def _question(table: Table, who: str) -> Question:
    hand, deck, discard = piles_of(who)
    options = card_options(table.possible(hand))
    if table.count(deck) or table.count(discard):
        options.append(TOP)
    return Question("lay", who, tuple(options), text="Which card for initiative?", pile=hand)


def _laid(table: Table, who: str, answer: str) -> Card | None:
    """Put a card on the discard pile, and return it; it is not replaced by a draw (R:1.16)."""
    hand, deck, discard = piles_of(who)
    if answer == TOP.name:
        card = table.draw(deck, to=discard, label="turned", by=who)
        renew(table, who)
        return card
    card = next(card for card in table.cards(hand) if card.short == answer)
    table.move([card], source=hand, to=discard, by=who, label="lay")
    if not table.count(hand) and table.rules.switches(Switches).empty_hand_draw:
        draw(table, who)
    return card


def in_order(table: Table, totals: Mapping[str, Total]) -> list[str]:
    """Return who acts when: from high to low, players before the game master's people (R:6.3).

    Where that leaves it open, the game master says who goes first; if she does not, it is as they are listed.
    """
    left, found = dict(totals), list[str]()
    while left:
        best = max((one.total, one.is_player) for one in left.values())
        tied = [name for name, one in left.items() if (one.total, one.is_player) == best]
        first = tied[0]
        if len(tied) > 1:
            options = [Option(name) for name in tied]
            chosen = table.ask("order", GM, options, text="Who goes first?", optional=True)
            first = chosen if chosen in tied else first
        found.append(first)
        del left[first]
    return found


def order_of_turns(table: Table, actor: str, forms: Sequence[Form]) -> Outcome:
    """Return the result of initiative: characters of the round play a card, and have their turns in order (R:6.2)."""
    outcome = table.settle("initiative", None, roles=Map({"actor": actor, "opponent": GM}))
    totals = lay_cards(table, forms)
    names = in_order(table, totals)
    table.tell(", ".join(f"{name} {totals[name].total}" for name in names))
    effects = [effect("order", names=", ".join(names))]
    if table.rules.switches(Switches).initiative_card_counts:
        effects += [effect("used", to=name, attribute="agility", count=1) for name in names if totals[name].is_player]
    shown = tuple(Map({"name": name, "total": totals[name].total}) for name in names)
    return msgspec.structs.replace(outcome.plus(effects), details=Map({"order": shown}))
