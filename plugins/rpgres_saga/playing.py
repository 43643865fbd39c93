"""One hero's play: pushing, the card that has to be played, edge and trumps.

Lines of the text (`rulesets/saga/SOURCES.md`) as `S:n`, rows of the list of rulings there as `R:n`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import msgspec

from rpgres import NO, Card, Effect, Option, Table, UsageError, named
from rpgres_saga.hands import BANK, DECK, IN_PLAY, Hero, discard, is_doom, lost
from rpgres_saga.switches import Switches

STOP = Option("stop", passes=True)
ENDLESS = 1_000_000  # more than any cards can add up to


class Stand(msgspec.Struct, frozen=True, gc=False):
    """Where a play stands.

    Attributes:
        total: ability and cards so far.
        played: the cards played from the hand, in order.
        drawn: the cards drawn on trumps.
        pushed: the cards added by pushing.
        banked: the played cards that are in the doom bank already.
        follows: whether a card drawn lets another be played (R:2).
    """

    total: int
    played: tuple[Card, ...] = ()
    drawn: tuple[Card, ...] = ()
    pushed: tuple[Card, ...] = ()
    banked: tuple[Card, ...] = ()
    follows: bool = False


class Goal(msgspec.Struct, frozen=True, gc=False):
    """What a play has to reach.

    Attributes:
        need: the total that is enough; None when the score is compared with something that is not known yet.
        threat: by how much it may still be raised.
        apart: what else matters afterwards, for odds: the difference of otherwise equal states.
        goes_on: whether cards are drawn afterwards, so that it matters which ones are gone.
    """

    need: int | None
    threat: int = 0
    apart: Hashable = ()
    goes_on: bool = False

    def lacking(self, stand: Stand) -> int:
        """Return how much is missing for certain success; 0 or less when it is certain."""
        return ENDLESS if self.need is None else self.need + self.threat - stand.total


def play_through(table: Table, hero: Hero, goal: Goal, *, may_push: bool) -> Stand:
    """Return a whole play: pushing, where its owner may, before the cards or after them (S:8, S:16)."""
    stand = Stand(hero.ability)
    before = table.rules.switches(Switches).push_timing == "before"
    if may_push and before:
        stand = push(table, hero, stand, goal)
    stand = play(table, hero, stand, goal)
    return push(table, hero, stand, goal) if may_push and not before else stand


def clean_up(table: Table, hero: Hero, stand: Stand) -> tuple[Effect, ...]:
    """Put the cards in play away (S:11, R:11, R:14), and return what pushing costs (S:16)."""
    switches = table.rules.switches(Switches)
    played = list(stand.played)
    for card in stand.banked:
        played.remove(card)
    discard(table, played, source=IN_PLAY, banked=True, by=hero.name)
    discard(table, stand.drawn, source=IN_PLAY, banked=switches.bank_trump_doom)
    discard(table, stand.pushed, source=IN_PLAY, banked=switches.bank_push_doom)
    return lost(hero.name, len(stand.pushed), switches.push_recovery)


def push(table: Table, hero: Hero, stand: Stand, goal: Goal) -> Stand:
    """Add a card of the hand to the ability, if its owner wants to (S:16); one has to be left to play (R:28)."""
    switches = table.rules.switches(Switches)
    most = ENDLESS if switches.push_max == "any" else 1
    is_trumping = switches.push_can_trump
    left = 1 if not stand.played else 0
    while len(stand.pushed) < most:
        cards = table.cards(hero.hand)
        options = card_options(cards) if len(cards) > left else []
        chosen = table.ask("push", hero.name, options, text="Push?", optional=True, **_facts(table, hero, stand, goal))
        if chosen == NO:
            break
        card = _card(cards, chosen)
        table.move([card], source=hero.hand, to=IN_PLAY, by=hero.name, label="push")
        stand = msgspec.structs.replace(stand, total=stand.total + (card.value or 0), pushed=(*stand.pushed, card))
        if is_trumping:
            stand = draw_on(table, hero, stand, goal, card, is_over=bool(stand.played))
    return stand


def play(table: Table, hero: Hero, stand: Stand, goal: Goal) -> Stand:
    """Play a card, and others while the edge allows it and their owner wants to (S:7, S:12), with trumps (S:15).

    Raises:
        UsageError: there is no card to play.
    """
    switches = table.rules.switches(Switches)
    only_last = switches.trump_on == "last"
    late = only_last or switches.trump_timing == "after_all_plays"
    while True:
        before = len(stand.played)
        stand = _play_on(table, hero, stand, goal, late=late)
        if not late:
            return stand
        stand = msgspec.structs.replace(stand, follows=False)
        fresh = stand.played[before:]
        for number, card in enumerate(fresh[-1:] if only_last else fresh):
            stand = draw_on(table, hero, stand, goal, card, number=number, is_over=True)
        if not stand.follows:  # only a card drawn can still let another be played
            return stand


def _play_on(table: Table, hero: Hero, stand: Stand, goal: Goal, *, late: bool) -> Stand:
    """Return the play when no card can be played any more, or its owner stops; trumps draw at once unless late."""
    while True:
        cards = [card for card in table.cards(hero.hand) if _may_play(table, hero, stand, card)]
        if not stand.played and not cards:
            return _flip(table, hero, stand)
        if not cards and not (table.count(hero.hand) and table.rules.switches(Switches).edge_order == "any"):
            return stand
        if stand.played or stand.pushed:  # else every hand is another anyway
            _same_from_here(table, hero, stand, goal, "play")
        chosen = _choose(table, hero, stand, goal, cards)
        if chosen is None:
            return stand
        stand = _lay(table, hero, stand, chosen)
        if not late:
            stand = draw_on(table, hero, stand, goal, chosen)


def _choose(table: Table, hero: Hero, stand: Stand, goal: Goal, cards: Sequence[Card]) -> Card | None:
    """Return the card its owner plays, None to stop; the first has to be played."""
    options = card_options(cards)
    facts = _facts(table, hero, stand, goal)
    if not stand.played:
        is_hidden = len(cards) > 1  # that there are two alike is its owner's own
        return _card(cards, table.ask("play", hero.name, options, text="Which card?", hidden=is_hidden, **facts))
    optional = bool(cards) and goal.lacking(stand) <= 0  # one may go on, for the sake of new cards alone
    low = [] if optional else _low_cards(table, hero, cards)
    chosen = table.ask(
        "play",
        hero.name,
        [*options, STOP],
        text="Another card?",
        optional=optional,
        dominant=low[0].short if low else "",
        is_won=bool(low) and _is_won(table, cards, low, goal.lacking(stand)),
        hidden=True,
        **facts,
    )
    return None if chosen in (STOP.name, NO) else _card(cards, chosen)


def _low_cards(table: Table, hero: Hero, cards: Sequence[Card]) -> list[Card]:
    """Return the cards that it can never hurt to play next: each lets another follow, and is added like any other.

    There are none where it matters which card is the last, or where what is played may count less or help the game
    master at once.
    """
    switches = table.rules.switches(Switches)
    if switches.trump_on != "each" or switches.edge_order != "seed":
        return []
    return [card for card in cards if (card.value or 0) <= hero.edge and not _is_doubtful(table, card)]


def _is_doubtful(table: Table, card: Card) -> bool:
    """Tell whether a card may be worth less than its value when it is played, or help the game master at once."""
    switches = table.rules.switches(Switches)
    odd = switches.doom_available == "immediate" or switches.doom_worth_zero
    return odd and is_doom(card)


def _is_won(table: Table, cards: Sequence[Card], low: Sequence[Card], lacking: int) -> bool:
    """Tell whether playing every low card and then the best of the others is enough, whatever trumps draw."""
    others = [card.value or 0 for card in cards if card not in low and not _is_doubtful(table, card)]
    return sum(card.value or 0 for card in low) + max(others, default=0) >= lacking


def _may_play(table: Table, hero: Hero, stand: Stand, card: Card) -> bool:
    """Tell whether a card may be played now: the first, or one more by the edge (S:12, R:1, R:4)."""
    switches = table.rules.switches(Switches)
    if not stand.played or stand.follows:
        return True
    if not switches.edge:
        return False
    highest = max(one.value or 0 for one in stand.played)
    if switches.edge_order == "any":
        return highest <= hero.edge or (card.value or 0) <= hero.edge
    return (stand.played[-1].value or 0) <= hero.edge


def _lay(table: Table, hero: Hero, stand: Stand, card: Card) -> Stand:
    """Return the play with one more card from the hand in it."""
    switches = table.rules.switches(Switches)
    at_once = is_doom(card) and switches.doom_bank and switches.doom_available == "immediate"
    table.move([card], source=hero.hand, to=IN_PLAY, by=hero.name, label="play")
    table.move([card] if at_once else [], source=IN_PLAY, to=BANK, by=hero.name, label="to the doom bank")
    worth = 0 if is_doom(card) and switches.doom_worth_zero else card.value or 0
    return msgspec.structs.replace(
        stand,
        total=stand.total + worth,
        played=(*stand.played, card),
        banked=(*stand.banked, card) if at_once else stand.banked,
        follows=False,
    )


def _flip(table: Table, hero: Hero, stand: Stand) -> Stand:
    """Return the play of a hero without cards (R:36).

    Raises:
        UsageError: such a hero cannot act.
    """
    card = None
    if table.rules.switches(Switches).empty_hand_flip:
        card = table.draw(DECK, to=IN_PLAY, by=hero.name)
    if card is None:
        raise UsageError(f"{hero.name} has no cards to play; give the cards in hand with {named('hand')}")
    return msgspec.structs.replace(stand, total=stand.total + (card.value or 0), drawn=(*stand.drawn, card))


def draw_on(
    table: Table, hero: Hero, stand: Stand, goal: Goal, card: Card, *, number: int = 0, is_over: bool = False
) -> Stand:
    """Return the play after the draws of a trump: on while the suit holds and its owner wants to (S:15, R:5-R:9).

    Args:
        hero: who plays.
        stand, goal: where the play stands, and what it has to reach.
        card: the card that may be a trump.
        number: which of several it is, where trumps draw when all cards are played.
        is_over: whether no further card can be played, but for one that a card drawn allows.
    """
    switches = table.rules.switches(Switches)
    desperate = is_doom(card) and switches.desperate_attack
    if not hero.trump or not (card.suit == hero.trump or desperate):
        return stand
    counts = switches.trump_offsuit_counts
    follow = switches.edge_on_draws
    while True:
        if not switches.auto_trump and not _wants_draw(table, hero, stand, goal, number, is_over=is_over):
            break
        drawn = table.draw(DECK, to=IN_PLAY, by=hero.name, card_key=_alike(hero, stand, goal))
        if drawn is None:
            break
        is_trump = drawn.suit == hero.trump
        stand = msgspec.structs.replace(
            stand,
            total=stand.total + ((drawn.value or 0) if is_trump or counts else 0),
            drawn=(*stand.drawn, drawn),
            follows=stand.follows or (follow and (drawn.value or 0) <= hero.edge),
        )
        if not is_trump:
            break
    return stand


def _wants_draw(table: Table, hero: Hero, stand: Stand, goal: Goal, number: int, *, is_over: bool) -> bool:
    _same_from_here(table, hero, stand, goal, f"trump {number}")
    options = (Option("draw", prefer=1), STOP)
    cards = [card for card in table.cards(hero.hand) if not is_over and _may_play(table, hero, stand, card)]
    low = _low_cards(table, hero, cards)
    chosen = table.ask(
        "trump",
        hero.name,
        options,
        text="Draw on the trump?",
        optional=goal.lacking(stand) <= 0,  # it is enough already
        dominant="" if goal.lacking(stand) <= 0 else "draw",
        is_won=bool(low) and _is_won(table, cards, low, goal.lacking(stand)),
        **_facts(table, hero, stand, goal),
    )
    return chosen == "draw"


def _alike(hero: Hero, stand: Stand, goal: Goal) -> Callable[[Card], Hashable] | None:
    """Return the equivalence of cards to draw here, but for margins: all that suffice are equivalent at the end."""
    if goal.need is None or goal.goes_on:
        return None
    lacking = max(0, goal.lacking(stand))
    return lambda card: (card.suit == hero.trump, min(card.value or 0, lacking))


def _same_from_here(table: Table, hero: Hero, stand: Stand, goal: Goal, point: str) -> None:
    """Promise that from this point on only the play, its goal and the places of cards matter; the deck is the rest."""
    switches = table.rules.switches(Switches)
    is_any = switches.edge_order == "any"
    ends = (card.value or 0 for card in (stand.played if is_any else stand.played[-1:]))
    last = stand.played[-1].code if stand.played and switches.trump_on == "last" else bool(stand.played)
    goes_on = stand.follows or max(ends, default=0) <= hero.edge
    cards = tuple(pile.cards for name, pile in table.state.piles.items() if name != DECK)
    aim = goal.need, goal.threat, goal.apart
    key = (point, hero.name, stand.total, *aim, goes_on, len(stand.pushed), last, cards)
    table.merge(key, holds=("outcome", "margin", "total"))


def _facts(table: Table, hero: Hero, stand: Stand, goal: Goal) -> dict[str, Any]:
    """Return what a player's decision is about, for policies, and in words for people."""
    facts: dict[str, Any] = {"total": stand.total, "edge": hero.edge, "trump": hero.trump or "none"}
    if goal.need is not None:
        facts["lacking"] = goal.need - stand.total
        if goal.threat != ENDLESS:
            facts["threat"] = goal.threat
    if table.is_read:
        needed = f", needed {goal.need}" if goal.need is not None else ""
        doom = f", doom may add {goal.threat}" if facts.get("threat") else ""
        trump = f"trump {hero.trump}" if hero.trump else "no trump"
        facts["words"] = f"total {stand.total}{needed}{doom}, edge {hero.edge}, {trump}"
    return facts


def card_options(cards: Iterable[Card]) -> list[Option]:
    """Return an option for each kind of card, by its short code: auras do not matter when cards are played."""
    options: dict[str, Option] = {}
    for card in cards:
        facts = {"value": card.value or 0, "suit": card.suit}
        known = options.get(card.short)
        aliases = (*(known.aliases if known else ()), card.code)
        options[card.short] = Option(card.short, facts=facts, aliases=aliases)
    return list(options.values())


def _card(cards: Iterable[Card], name: str) -> Card:
    return next(card for card in cards if card.short == name)
