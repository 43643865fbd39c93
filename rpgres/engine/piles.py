"""Cards in piles: piles are created, cards taken out, added and shuffled. Plain functions without a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from rpgres.errors import UsageError
from rpgres.model.cards import Cards, unknown_card
from rpgres.model.state import GM, Map, Pile, State, code_of, pile_name
from rpgres.rulesets import Rules
from rpgres.rulesets.schema import PileText


def lay_out(rules: Rules, state: State) -> State:
    """Return the state with every pile that the ruleset has and the table lacks: decks complete, the others empty.

    A character's own piles are laid when the character sits down; cards that already lie somewhere stay there. The
    decks of a pile that is `given-to` another are shuffled into that one.

    Raises:
        FileError: a deck's data are faulty.
    """
    piles, given = dict(state.piles), dict[str, list[str]]()
    codes: set[str] = set()
    for name, text in rules.file.piles.items():
        deck = rules.laid.get(name)
        is_like_another = deck is not None and not codes.isdisjoint(deck.counts)
        codes.update(deck.counts if deck is not None else ())
        for owner in owners(text, state):
            place = pile_name(name, owner)
            if place not in piles:
                face = "hand" if rules.has(text.hidden_when) and text.hidden_when else text.face
                audience = {"up": None, "down": (), "hand": (state.seat_of(owner) if owner else GM,)}[face]
                mark = f"{name}:{owner}" if is_like_another else owner
                cards = deck.copies(mark=mark) if deck is not None else ()
                if text.given_to:
                    given.setdefault(text.given_to, []).extend(cards)
                    cards = ()
                piles[place] = Pile(cards=cards, audience=audience, owner=owner)
    if len(piles) == len(state.piles):
        return state
    for place, cards_given in given.items():
        if cards_given:
            pile = state.piles.get(place)  # read there, since odds take note of what is read
            piles[place] = shuffled(added(piles[place] if pile is None else pile, cards_given))
    return msgspec.structs.replace(state, piles=Map(piles))


def owners(text: PileText, state: State) -> tuple[str, ...]:
    """Return the owners of a kind of pile: each character, each player, or none."""
    if text.each == "players":
        return tuple(name for name in state.characters if state.seat_of(name) != GM)
    return tuple(state.characters) if text.each else ("",)


def beside(rules: Rules, name: str, pile: Pile) -> str:
    """Return the full name of a pile that goes with another: of the same owner, where each has one."""
    return pile_name(name, pile.owner) if rules.file.piles[name].each else name


def dealt_from(rules: Rules, name: str, pile: Pile) -> str:
    """Return the pile from which another one is dealt; empty where its data name none."""
    text = rules.file.piles.get(name.partition(":")[0])
    return beside(rules, text.dealt_from, pile) if text is not None and text.dealt_from else ""


def without(cards: tuple[str, ...], taken: Iterable[str]) -> tuple[str, ...]:
    """Return physical cards without some of them, each of which has to be there."""
    rest = list(cards)
    for card in taken:
        rest.remove(card)
    return tuple(rest)


def added(pile: Pile, cards: Iterable[str]) -> Pile:
    """Return a pile with more physical cards."""
    return msgspec.structs.replace(pile, cards=tuple(sorted((*pile.cards, *cards))))


def topped(pile: Pile, cards: tuple[str, ...], *, knowers: tuple[str, ...] | None) -> Pile:
    """Return a face-down pile with cards laid on top of it, the first uppermost, known to some seats (None: all)."""
    known = (knowers,) * len(cards)
    return msgspec.structs.replace(pile, top=(*cards, *pile.top), knowers=(*known, *pile.knowers))


def matching_cards(cards: Iterable[str], codes: Iterable[str]) -> tuple[str, ...] | None:
    """Return a physical card for each code; None when there are too few."""
    left, cards_found = list(cards), []
    for code in codes:
        card = next((card for card in left if code_of(card) == code), None)
        if card is None:
            return None
        left.remove(card)
        cards_found.append(card)
    return tuple(cards_found)


def take_typed(
    cards: tuple[str, ...],
    texts: Iterable[str],
    *,
    known: Cards,
    option: str,
    lack: str,
    choose: Callable[[tuple[str, ...], int], str],
) -> tuple[list[str], tuple[str, ...]]:
    """Return the physical cards that were typed, and those that are left.

    Args:
        texts: the cards as typed; where a sign is left out, it is any such card.
        lack: what to say when there is none left, with `{card}` for what was typed.
        choose: returns which of some fitting cards it is; the number is how many were taken before.

    Raises:
        UsageError: there is no such card, or none is left.
    """
    taken = list[str]()
    # Those that are said in full come first: the others are what is left then.
    for text in sorted(texts, key=lambda text: len(known.matching(text)) != 1):
        codes = known.matching(text)
        if not codes:
            raise UsageError(f"{option}: {unknown_card(known, text)}")
        fitting = tuple(card for card in cards if code_of(card) in codes)
        if not fitting:
            raise UsageError(f"{option}: {lack.format(card=text)}")
        taken.append(choose(fitting, len(taken)))
        cards = without(cards, taken[-1:])
    return taken, cards


def common_audience(one: Pile, other: Pile) -> tuple[str, ...] | None:
    """Return the seats that see a card which moves between two piles: those that may see it in either; None for all."""
    if one.audience is None or other.audience is None:
        return None
    return tuple(dict.fromkeys((*one.audience, *other.audience)))


def shuffled(pile: Pile) -> Pile:
    """Return a pile shuffled once more: nothing is known of its top."""
    cards = tuple(sorted((*pile.cards, *pile.top)))
    return msgspec.structs.replace(pile, cards=cards, top=(), knowers=(), shuffles=pile.shuffles + 1)
