"""Decks by name, for people and programs: which there are, what is in one, draws from a fresh one.

A deck is named `RULESET/DECK`, as `saga/fate-96`; one that rulesets share by its name alone, as `standard`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import GivenDealer, SeededDealer
from rpgres.engine.piles import take_typed
from rpgres.engine.piles import without as left_of
from rpgres.errors import FileError, PluginError, UsageError, counted, enumerated, named
from rpgres.model.cards import Stack, known_cards
from rpgres.model.printed import Printed
from rpgres.model.state import EMPTY, Card, Deck, code_of
from rpgres.plugins.discovery import ruleset_names
from rpgres.plugins.loading import read_ruleset
from rpgres.rulesets import Rules, unknown
from rpgres.rulesets.decks import shared_deck, shared_decks
from rpgres.rulesets.rows import Condition
from rpgres.toml.diagnostics import Diagnostic, diagnostics_in, nearest

LABEL = "draw"  # under which drawn cards can be given


class FoundDeck(msgspec.Struct, frozen=True):
    """A deck, its name, and the rules of the ruleset that has it; None for a shared one."""

    name: str
    deck: Deck
    rules: Rules | None = None


class DeckSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A deck in a list.

    Attributes:
        name: by which commands know it.
        ruleset: the ruleset that has it; null for one that rulesets share.
        title: what people call it.
        summary: what is in it, in a line.
        size: how many cards there are.
        kinds: how many kinds of card there are.
    """

    name: str
    ruleset: str | None
    title: str
    summary: str
    size: int
    kinds: int


class DeckList(Printed, frozen=True, kw_only=True, tag="rpgres.decks/1"):
    """The decks there are, as `rpgres deck list --json` prints them.

    Attributes:
        ruleset: the ruleset whose decks these are; null for all.
        decks: the decks that can be used.
        problems: what is wrong with the others, by ruleset.
    """

    ruleset: str | None
    decks: list[DeckSummary]
    problems: dict[str, list[Diagnostic]]


class DrawnCard(msgspec.Struct, frozen=True, kw_only=True):
    """A card with what stands on it.

    Attributes:
        code: the card's name as typed.
        title: the card as people say it.
        value: its value; null for a card without one.
        suit: its suit; empty for a card without one.
        attributes: what else is printed on it, by name.
    """

    code: str
    title: str
    value: int | None
    suit: str
    attributes: Mapping[str, str]


class CardCount(DrawnCard, frozen=True, kw_only=True):
    """A kind of card, and how many of it there are.

    Attributes:
        count: how many of it there are.
    """

    count: int


class Composition(msgspec.Struct, frozen=True, kw_only=True):
    """Some cards counted and summed up.

    Attributes:
        title: what people call these cards.
        size: how many there are.
        valued: how many of them have a value.
        sum: the sum of their values.
        mean: the mean of the values; null where no card has one.
        mean_exact: the same as a fraction.
        values: how many cards there are of each value.
        attributes: how many cards there are of each further attribute.
    """

    title: str
    size: int
    valued: int
    sum: int
    mean: float | None
    mean_exact: str | None
    values: dict[int, int]
    attributes: dict[str, dict[str, int]]


class DeckDescription(Printed, frozen=True, kw_only=True, tag="rpgres.deck/1"):
    """What is in a deck, as `rpgres deck show --json` prints it.

    Attributes:
        name: by which commands know it.
        ruleset: the ruleset that has it; null for one that rulesets share.
        title: what people call it.
        summary: what is in it, in a line.
        whole: all cards together.
        suits: the cards of each suit.
        loners: the cards without a suit, by code.
        names: other words for values.
        signs: what signs behind a value mean, by attribute.
        cards: every kind of card.
        piles: where its ruleset places it, with the switches under which it does.
    """

    name: str
    ruleset: str | None
    title: str
    summary: str
    whole: Composition
    suits: dict[str, Composition]
    loners: dict[str, Composition]
    names: Mapping[str, int]
    signs: dict[str, dict[str, str]]
    cards: list[CardCount]
    piles: dict[str, Condition]


class DeckDraw(Printed, frozen=True, kw_only=True, tag="rpgres.deck-draw/1"):
    """Cards drawn from a freshly shuffled deck, as `rpgres deck draw --json` prints them.

    Attributes:
        deck: the deck's name.
        title: the deck as people say it.
        without: the codes of the cards that were taken out before.
        cards: the cards that were drawn, in that order.
        sum: of their values.
        left: how many cards are left.
        seed: what the order came from.
    """

    deck: str
    title: str
    without: list[str]
    cards: list[DrawnCard]
    sum: int
    left: int
    seed: str


# ---------------------------------------------------------------------------------------------------------------------
# Which decks there are


def find_deck(name: str, *, extra: Sequence[Path] = ()) -> FoundDeck:
    """Return a deck by its name.

    Args:
        extra: the folders of `--rulesets`.

    Raises:
        UsageError: there is no such deck, or no such ruleset.
        PluginError: the ruleset's plugin cannot be used.
        FileError: the deck's data are faulty.
    """
    ruleset, separator, deck = name.partition("/")
    if not separator:
        if name not in shared_decks():
            raise _no_deck(name, extra)
        return FoundDeck(name, shared_deck(name))
    rules = _rules(ruleset, extra)
    known = rules.layers.deck_names()
    if deck not in known:
        raise UsageError(unknown("deck", deck, known, of=f"the ruleset {ruleset}"))
    return FoundDeck(name, rules.layers.deck(deck), rules)


def deck_names(*, extra: Sequence[Path] = ()) -> list[str]:
    """Return the names of all decks, as far as they can be found: the shared ones, then those of rulesets."""
    names = list(shared_decks())
    for ruleset in ruleset_names(titles=False, extra=extra):
        try:
            names += [f"{ruleset.id}/{deck}" for deck in _rules(ruleset.id, extra).layers.deck_names()]
        except (FileError, PluginError, UsageError):
            continue  # `list_decks` and `ruleset check` tell what is wrong with it
    return names


def list_decks(ruleset: str | None = None, *, extra: Sequence[Path] = ()) -> DeckList:
    """Return the decks there are, and what is wrong with those that cannot be used.

    Args:
        ruleset: only this one's.
        extra: the folders of `--rulesets`.

    Raises:
        UsageError: there is no such ruleset.
    """
    decks: list[DeckSummary] = []
    problems: dict[str, list[Diagnostic]] = {}
    if ruleset is None:
        decks += [_summary(FoundDeck(name, shared_deck(name))) for name in shared_decks()]
        from rpgres.plugins.probing import probe_plugins

        probe_plugins()
    names = [ruleset] if ruleset else [name.id for name in ruleset_names(titles=False, extra=extra)]
    for id_ in names:
        try:
            rules = _rules(id_, extra)
        except (FileError, PluginError) as error:
            problems[id_] = diagnostics_in(error)
            continue
        for deck in rules.layers.deck_names():
            try:
                decks.append(_summary(FoundDeck(f"{id_}/{deck}", rules.layers.deck(deck), rules)))
            except FileError as error:
                problems.setdefault(id_, []).extend(diagnostics_in(error))
    return DeckList(ruleset=ruleset, decks=decks, problems=problems)


def _rules(ruleset: str, extra: Sequence[Path]) -> Rules:
    return read_ruleset(ruleset, extra=tuple(extra)).without_code()


def _no_deck(name: str, extra: Sequence[Path]) -> UsageError:
    known = deck_names(extra=extra)
    own = [one for one in known if one.partition("/")[0] == name]
    if own:
        return UsageError(f"{name} is a ruleset; name one of its decks: {enumerated(own)}")
    shorts = {one.rpartition("/")[2] for one in known}
    short = name if name in shorts else nearest(name, shorts)
    meant = [repr(one) for one in known if one.rpartition("/")[2] == short and one != name]
    if meant:
        return UsageError(f"rpgres has no deck {name!r}; did you mean {' or '.join(meant)}?")
    return UsageError(unknown("deck", name, known, of="rpgres"))


# ---------------------------------------------------------------------------------------------------------------------
# What is in one


def _summary(found: FoundDeck) -> DeckSummary:
    deck = found.deck
    return DeckSummary(
        name=found.name,
        ruleset=found.rules.id if found.rules is not None else None,
        title=deck.title,
        summary=deck.summary,
        size=deck.size,
        kinds=sum(count > 0 for count in deck.counts.values()),
    )


def describe_deck(found: FoundDeck) -> DeckDescription:
    """Return what is in a deck."""
    deck, rules = found.deck, found.rules
    there = {card: deck.counts[code] for code, card in deck.cards.items() if deck.counts[code]}
    loners = {card.code: {card: count} for card, count in there.items() if not card.suit}
    suits = {suit: {card: count for card, count in there.items() if card.suit == suit} for suit in deck.suits}
    signs: dict[str, dict[str, str]] = {}
    for sign, (attribute, meaning) in deck.signs.items():
        signs.setdefault(attribute, {})[sign] = meaning
    name = found.name.rpartition("/")[2]
    piles = rules.file.piles if rules is not None else {}
    return DeckDescription(
        name=found.name,
        ruleset=rules.id if rules is not None else None,
        title=deck.title,
        summary=deck.summary,
        whole=_composition(deck.title, there),
        suits={suit: _composition(deck.suits[suit], cards) for suit, cards in suits.items()},
        loners={code: _composition(deck.cards[code].title, cards) for code, cards in loners.items()},
        names=deck.names,
        signs=signs,
        cards=[CardCount(count=count, **_face(card)) for card, count in there.items()],
        piles={pile: text.decks[name] for pile, text in piles.items() if name in text.decks},
    )


def _face(card: Card) -> dict[str, Any]:
    return {name: getattr(card, name) for name in DrawnCard.__struct_fields__}


def _composition(title: str, cards: Mapping[Card, int]) -> Composition:
    from fractions import Fraction

    values: dict[int, int] = {}
    attributes: dict[str, dict[str, int]] = {}
    for card, count in cards.items():
        if card.value is not None:
            values[card.value] = values.get(card.value, 0) + count
        for attribute, meaning in card.attributes.items():
            counts = attributes.setdefault(attribute, {})
            counts[meaning] = counts.get(meaning, 0) + count
    valued, total = sum(values.values()), sum(value * count for value, count in values.items())
    mean = Fraction(total, valued) if valued else None
    return Composition(
        title=title,
        size=sum(cards.values()),
        valued=valued,
        sum=total,
        mean=float(mean) if mean is not None else None,
        mean_exact=str(mean) if mean is not None else None,
        values=dict(sorted(values.items())),
        attributes=attributes,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Draws


def draw_cards(
    found: FoundDeck,
    *,
    number: int = 1,
    streams: Streams,
    without: Iterable[str] = (),
    given: Mapping[str, Sequence[str]] = EMPTY,
) -> DeckDraw:
    """Return cards drawn from the top of the freshly shuffled deck.

    Args:
        number: how many, at least 1.
        without: cards that are not in the deck, as typed; where a sign is left out, it is any such card.
        given: cards that were drawn from a real deck, under `LABEL`; they come first.

    Raises:
        UsageError: there are too few cards, or a named card cannot be there.
    """
    for label in given:
        if label != LABEL:
            raise UsageError(
                f"drawn cards have one label, {LABEL!r}; there is no {label!r}: {named('given')} {LABEL}=CODE"
            )
    known, seeded = known_cards([found.deck]), SeededDealer(streams)
    stack = Stack(found.name, 0, known)
    aside = stack._replace(pile=f"without:{found.name}")
    taken, cards = take_typed(
        found.deck.copies(),
        without,
        known=known,
        option=named("without"),
        lack=f"{found.name} has no {{card}} left to remove",
        choose=lambda fitting, count: seeded.draw(fitting, aside, "without", count),
    )
    if number > len(cards):
        are_left = f"; {len(cards)} {'is' if len(cards) == 1 else 'are'} left" if taken else ""
        has = counted(found.deck.size, "card")
        raise UsageError(f"{found.name} has {has}{are_left}, and {number} cannot be drawn")
    dealer, drawn = GivenDealer(given, then=seeded), list[str]()
    while len(drawn) < number:
        drawn.append(dealer.draw(cards, stack, LABEL, len(drawn)))
        cards = left_of(cards, drawn[-1:])
    for label, text in dealer.unused():
        many = "one card is" if number == 1 else f"{number} cards are"
        raise UsageError(f"{named('given')} {label}={text} was not used: {many} drawn")
    kinds = [known.card(card) for card in drawn]
    return DeckDraw(
        deck=found.name,
        title=found.deck.title,
        without=[code_of(card) for card in taken],
        cards=[DrawnCard(**_face(card)) for card in kinds],
        sum=sum(card.value or 0 for card in kinds),
        left=len(cards),
        seed=streams.seed,
    )
