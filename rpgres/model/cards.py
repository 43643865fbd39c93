"""Cards and decks: what a `decks/NAME.toml` says, and how cards are named. Where cards lie is part of the state.

A card is named by a short code: the suit's letters, the value, and the sign of a further attribute (`St6+`, `H12`,
`Jk`). A physical card is its code, and behind a full stop its number where a deck has several (`St4n`, `St4n.2`), so
that every card can be in exactly one place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Annotated, Any, NamedTuple

import msgspec

from rpgres.errors import enumerated
from rpgres.model.state import EMPTY, Card, Deck, Map, code_of, slug
from rpgres.toml.diagnostics import nearest

Code = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z][A-Za-z]{0,7}$")]


_SHOWN = ("suit", "value", "sign")  # what a pattern may name


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    pass


class Suit(_Record, frozen=True):
    """The cards of one suit: a value each, and behind it the sign of a further attribute where the deck has one.

    A card that is there several times is listed several times.

    Attributes:
        title: the suit as people say it.
        code: the letters that stand for it in a card's code.
        cards: its cards: a value each, with a sign behind it where the deck has signs.
    """

    title: str
    code: Code
    cards: list[int | str] = []


class LoneCard(_Record, frozen=True):
    """A card without a suit, such as a joker.

    Attributes:
        title: the card as people say it.
        code: its code.
        count: how many there are.
        value: its value, if it has one.
        attributes: what else is printed on it, by name.
    """

    title: str
    code: Code
    count: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 1
    value: int | None = None
    attributes: dict[str, str] = {}


class DeckFile(_Record, frozen=True):
    """A `decks/NAME.toml`.

    A card without a suit may have attributes of its own; of one that has signs it has one of their meanings.

    Attributes:
        title: the deck as people say it.
        summary: a line about it.
        extends: another deck, to which this one adds.
        card: how a card of a suit is called, with {suit}, {value} and {sign}; else as in the deck it extends,
            or `{suit} {value}{sign}`.
        signs: what a sign behind a value means: attribute, then sign, then meaning.
        names: other words for values, such as J = 11.
        suits: the suits, by name.
        cards: the cards without a suit, by name.
    """

    title: str
    summary: str = ""
    extends: str = ""
    card: str = ""
    signs: dict[str, dict[str, str]] = {}
    names: dict[str, int] = {}
    suits: dict[str, Suit] = {}
    cards: dict[str, LoneCard] = {}


class Stack(NamedTuple):
    """A shuffled pile as a dealer is asked for its cards.

    Attributes:
        pile: its name on the table.
        shuffles: how often it was shuffled, so that each time has an order of its own.
        known: what the cards are.
        lump: `lump(card) -> key`: cards of one key are equivalent for the rule; None where all kinds differ.
        card_key: the same for this draw alone, among cards that `lump` tells apart.
    """

    pile: str
    shuffles: int
    known: Cards
    lump: Callable[[Card], Hashable] | None = None
    card_key: Callable[[Card], Hashable] | None = None


_PRINTED = re.compile(r"^(-?\d{1,6})(\D{0,3})$")

Fault = tuple[tuple[str | int, ...], str]  # what is wrong with a deck: key path and message


def build_deck(file: DeckFile, *, base: Deck | None = None) -> tuple[Deck, list[Fault]]:
    """Return the deck that a file describes, and what is wrong with it, by key."""
    base = base or Deck("", "", EMPTY, EMPTY)
    read = _Reading(
        pattern=file.card or base.pattern,
        names={**base.names, **file.names},
        signs=dict(base.signs),
        cards=dict(base.cards),
        counts=dict(base.counts),
        faults=list(_pattern_faults(file.card)),
    )
    for attribute, meanings in file.signs.items():
        for sign, meaning in meanings.items():
            read.add_sign(attribute, sign, meaning)
    owners: dict[str, str] = {}
    for name, suit in file.suits.items():
        other = owners.setdefault(suit.code.lower(), name)
        if other == name:
            read.add_suit(name, suit)
        else:
            read.faults.append((("suits", name, "code"), f"the suit {other} has the code {suit.code} too"))
    for name, lone in file.cards.items():
        if lone.code.lower() in owners:
            suit_name = owners[lone.code.lower()]
            read.faults.append((("cards", name, "code"), f"the suit {suit_name} has the code {lone.code} too"))
        read.add_lone(name, lone)
    if not read.cards and not read.faults:
        path = ("suits", next(iter(file.suits)), "cards") if file.suits else ("suits",)
        message = "there is no card in this deck: list values in suits.NAME.cards, or give it [cards.NAME]"
        read.faults.append((path, message))
    suits = {**base.suits, **{name: suit.title for name, suit in file.suits.items()}}
    known = Map(read.cards), Map(read.counts), Map(suits), Map(read.names), Map(read.signs)
    deck = Deck(file.title, file.summary, *known, read.pattern)
    return deck, [*read.faults, *_ambiguous(deck, read.places)]


class _Reading(msgspec.Struct, kw_only=True):
    """A deck while its file is read.

    Attributes:
        pattern: how a card of a suit is called.
        names: other words for values.
        signs: attribute and meaning of each sign.
        cards: what is known by code.
        counts: how many there are, by code.
        places: where the file has a card, by code.
    """

    pattern: str
    names: dict[str, int]
    signs: dict[str, tuple[str, str]]
    cards: dict[str, Card]
    counts: dict[str, int]
    faults: list[Fault]
    places: dict[str, tuple[str | int, ...]] = {}

    def add_sign(self, attribute: str, sign: str, meaning: str) -> None:
        if not sign or len(sign) > 3 or any(char.isdigit() or char in ".,=" for char in sign):
            path = ("signs", attribute, sign)
            self.faults.append((path, "a sign is up to three characters without digits, . , ="))
        self.signs[sign] = attribute, meaning

    def add_suit(self, name: str, suit: Suit) -> None:
        spoken = {number: word for word, number in self.names.items()}
        for number, printed in enumerate(suit.cards):
            path = ("suits", name, "cards", number)
            found = _PRINTED.match(str(printed))
            if not found or (found[2] and found[2] not in self.signs):
                known = f"; the signs are {' '.join(self.signs)}" if self.signs else "; this deck has no signs"
                self.faults.append((path, f"{printed!r} is not a value, with or without a sign{known}"))
                continue
            value, sign = int(found[1]), found[2]
            short = f"{suit.code}{value}"
            title = _title(self.pattern, {"suit": suit.title, "value": spoken.get(value, value), "sign": sign})
            attributes = Map([self.signs[sign]]) if sign else EMPTY
            self._add(Card(f"{short}{sign}", title, value, name, attributes, short), path)

    def add_lone(self, name: str, lone: LoneCard) -> None:
        faults = _attribute_faults(lone, self.signs)
        self.faults += ((("cards", name, "attributes", key), message) for key, message in faults)
        card = Card(lone.code, lone.title, lone.value, "", Map(lone.attributes), lone.code)
        self._add(card, ("cards", name, "code"), count=lone.count)

    def _add(self, card: Card, path: tuple[str | int, ...], *, count: int = 1) -> None:
        known = self.cards.setdefault(card.code, card)
        if known != card:
            self.faults.append((path, f"the code {card.code} is already used by {known.title}"))
        self.places.setdefault(card.code, path)
        self.counts[card.code] = self.counts.get(card.code, 0) + count


def _pattern_faults(pattern: str) -> Iterator[Fault]:
    names = ", ".join(f"{{{name}}}" for name in _SHOWN)
    for found in re.findall(r"\{[^{}]*\}|[{}]", pattern):
        if found[1:-1] not in _SHOWN:
            yield ("card",), f"{found} is none of {names}{_meant(found[1:-1], _SHOWN, form='{{{}}}')}"


def _attribute_faults(card: LoneCard, signs: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the attributes of a card without a suit, by attribute: those with signs are known."""
    meanings: dict[str, list[str]] = {}
    for attribute, meaning in signs.values():
        meanings.setdefault(attribute, []).append(meaning)
    for attribute, value in card.attributes.items():
        known = meanings.get(attribute)
        if known is None:
            meant = _meant(attribute, meanings)
            if meant:
                yield attribute, f"there is no attribute {attribute!r} of signs{meant}"
        elif value not in known:
            yield attribute, f"{value!r} is not a meaning of a sign ({enumerated(known, value)}){_meant(value, known)}"


def _meant(word: str, words: Iterable[str], *, form: str = "`{}`") -> str:
    near = nearest(word, words)
    return f"; did you mean {form.format(near)}?" if near else ""


def _ambiguous(deck: Deck, places: Mapping[str, tuple[str | int, ...]]) -> Iterator[Fault]:
    """Yield the codes that could be typed for two cards which are not the same but for a sign."""
    taken: dict[str, Card] = {}
    for code, card in deck.cards.items():
        for word in dict.fromkeys(_codes(deck, code, card)):
            other = taken.setdefault(_typed(word), card)
            same = other.short == card.short and (word != code or other.code.lower() != code.lower())
            if other != card and not same:
                yield places.get(code, ("names",)), f"{word} could also mean {other.code}"
                break


def _title(pattern: str, shown: Mapping[str, Any]) -> str:
    for name, value in shown.items():
        pattern = pattern.replace("{" + name + "}", str(value))
    return pattern


class Cards(msgspec.Struct, frozen=True, eq=False):
    """All kinds of cards that may lie on a table, and how they are typed."""

    by_code: Map[str, Card]
    typed: Map[str, tuple[str, ...]]
    by_copy: dict[str, Card] = {}  # physical cards that were asked for
    by_word: dict[str, tuple[str, ...]] = {}  # what was asked for by words

    def card(self, card: str) -> Card:
        """Return the kind of a physical card."""
        found = self.by_copy.get(card)
        if found is None:
            found = self.by_copy[card] = self.by_code[code_of(card)]
        return found

    def matching(self, text: str) -> tuple[str, ...]:
        """Return the codes that a typed name may mean: several where it leaves a sign out, none for no card."""
        return self.typed.get(_typed(text), ())

    def named(self, word: str) -> tuple[str, ...]:
        """Return the codes that a word stands for: as it is typed, or as a value without its suit; found once."""
        found = self.by_word.get(word)
        if found is None:
            found = self.by_word[word] = self.matching(word) or tuple(meant(word, self.typed))
        return found

    def one_by_one(self, text: str) -> list[str]:
        """Return a text for each of several cards, typed with commas or spaces between them; else the text alone.

        What stands there need not be a card: what has no letter is read off dice. A card whose name has a comma is one.
        """
        if not any(char.isalpha() for char in text) or self.matching(text):
            return [text]
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if "," not in text and any(self.matching(part) for part in text.split()):
            parts = text.split()
        return parts or [text]


def meant(text: str, typed: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the cards that a typed value, with or without its suit behind it, stands for; none if it is no value.

    Args:
        text: as typed: `13H`, `KH`, `13`.
        typed: the codes of cards by what may be typed for them.

    >>> meant("13H", {"H13": ["H13"], "S13": ["S13"]}), meant("13", {"H13": ["H13"], "S13": ["S13"]})
    (['H13'], ['H13', 'S13'])
    """
    word, found = _typed(text), dict[str, None]()
    for name, codes in typed.items():
        for code in codes:
            letters = "".join(takewhile(str.isalpha, code)).lower()
            key = _typed(name)
            value = key.removeprefix(letters).removeprefix("-") if key.startswith(letters) else ""
            ways = {value} | {value[:place] + letters + value[place:] for place in range(1, len(value) + 1)}
            if letters and value and word in ways:
                found[code] = None
    return list(found)


def unknown_card(known: Cards, text: str) -> str:
    """Return the message for a typed card that no deck has."""
    found = meant(text, known.typed)
    shorts = dict.fromkeys(known.by_code[code].short for code in found)
    cards = found if len(found) == 1 else list(shorts)  # a sign that is left out stays left out
    if len(cards) > 1:
        return f"there is no card {text!r}: the suit comes first, as in {', '.join(cards[:-1])} or {cards[-1]}"
    hint = cards[0] if cards else nearest(text, known.by_code)
    if hint:
        return f"there is no card {text!r}; did you mean {hint}?"
    letters = "".join(char for char in text.strip() if char.isalpha()).lower()
    of_suit = [code for code in known.by_code if letters and code.lower().startswith(letters[:2])]
    digits = "".join(char for char in text if char.isdigit())
    of_value = list(dict.fromkeys(known.by_code[code].short for code in of_suit if digits and digits in code))
    if of_value:  # the suit is no more than begun, or stands behind
        return f"there is no card {text!r}: the suit comes first, as in {enumerated(of_value)}"
    examples = enumerated(of_suit or known.by_code, text)
    return f"there is no card {text!r}; there are such as {examples}"


def known_cards(decks: Iterable[Deck]) -> Cards:
    """Return all cards of some decks, with every way to type them."""
    by_code: dict[str, Card] = {}
    typed: dict[str, dict[str, None]] = {}
    for deck in decks:
        by_code |= deck.cards
        for code, card in deck.cards.items():
            for name in (*_codes(deck, code, card), card.title, slug(card.title)):
                typed.setdefault(_typed(name), {})[code] = None
    return Cards(Map(by_code), Map({name: tuple(codes) for name, codes in typed.items()}))


def _codes(deck: Deck, code: str, card: Card) -> list[str]:
    names = [code, card.short]
    found = re.match(r"^([A-Za-z]+)-?\d+(\D*)$", code)
    if found and card.suit:
        letters, sign = found.groups()
        for spoken, number in deck.names.items():
            if number == card.value:
                names += [f"{letters}{spoken}{sign}", f"{letters}{spoken}"]
    return names


def _typed(text: str) -> str:
    return text.strip().lower().replace("\N{MINUS SIGN}", "-")


def classes(cards: tuple[str, ...], stack: Stack, *, last: bool = False) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return one physical card of each class that a rule tells apart, and how many cards each class has.

    Args:
        cards: the pile, sorted.
        stack: the pile as its dealer knows it, with the equivalence keys for the rule and for this draw.
        last: whether it is the last card of each class, in place of the first.
    """
    firsts, sizes = _sized(cards, stack.lump, stack.known, last=last)
    if stack.card_key is None:
        return firsts, sizes
    joined: dict[Hashable, str] = {}
    weights: dict[Hashable, int] = {}
    for card, size in zip(firsts, sizes, strict=True):
        kind = stack.card_key(stack.known.card(card))
        joined.setdefault(kind, card)
        weights[kind] = weights.get(kind, 0) + size
    return tuple(joined.values()), tuple(weights.values())


@lru_cache(maxsize=4096)  # a walk asks this of the same pile in every path
def _sized(cards: tuple[str, ...], key: Any, known: Cards, *, last: bool) -> tuple[tuple[str, ...], tuple[int, ...]]:
    found = groups(cards, key, known, last=last)
    return tuple([group[0] for group in found]), tuple(map(len, found))


@lru_cache(maxsize=64)
def groups(cards: tuple[str, ...], key: Any, known: Cards, *, last: bool = False) -> tuple[tuple[str, ...], ...]:
    """Return physical cards by class; each class from its last card on, if so wanted."""
    found: dict[Any, list[str]] = {}
    for card in cards[::-1] if last else cards:
        found.setdefault(code_of(card) if key is None else key(known.card(card)), []).append(card)
    return tuple(map(tuple, found.values()))


@lru_cache(maxsize=4096)
def firsts_of(cards: tuple[str, ...], key: Any, known: Cards) -> tuple[tuple[Hashable, Card], ...]:
    """Return a card of each class, with the key of the class: its code where all kinds differ."""
    found = [known.card(group[0]) for group in groups(cards, key, known)]
    return tuple((card.code if key is None else key(card), card) for card in found)


def shown_codes(cards: Sequence[str]) -> list[str]:
    """Return the codes of physical cards, for people: without the numbers of copies."""
    return [code_of(card) for card in cards]
