"""The state of a table as frozen, hashable records, in terms common to all rulesets.

A state is compared and hashed when exact odds merge equal ones, so everything in it is a record, a tuple, a `Map`,
a text or a whole number, and what no longer matters is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, Never, TypeVar

import msgspec

from rpgres.errors import UndealtError, UsageError

GM = "gm"
"""The game master's seat; every other seat has the name of its character."""
EVERYBODY = "everybody"  # the view without a seat: what is public
ROLES = ("actor", "opponent", GM)  # what effects call those who take part; no character's own name
HOST_NAME = "host"  # what people type for the view of the host, which is `HOST` (None) in code: nothing is left out
NO_NAMES = (*ROLES, EVERYBODY, HOST_NAME)  # what no character is called
SCENE = ""
"""What a tag is on when no character carries it."""
CHECKED = "x"  # what stands in a box that is marked, and has no text of its own
FACE_DOWN = "?"
"""What stands for a card in the view of a seat that may not see it."""

K = TypeVar("K")
V = TypeVar("V")
R = TypeVar("R")


def _frozen(*_args: object, **_kwargs: object) -> Never:
    raise TypeError("a Map never changes; use `with_` or `without` for a changed copy")


class Map(dict[K, V]):
    """A dictionary that never changes and can be hashed."""

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:  # type: ignore[override]  # dict itself is unhashable because it can change
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(frozenset(self.items()))
            return self._hash

    __setitem__ = __delitem__ = __ior__ = _frozen
    clear = pop = popitem = setdefault = update = _frozen

    def with_(self, key: K, value: V) -> Map[K, V]:
        """Return a copy in which `key` has `value`."""
        return Map({**self, key: value})

    def without(self, key: K) -> Map[K, V]:
        """Return a copy that lacks `key`."""
        return Map({k: v for k, v in self.items() if k != key})

    def __reduce__(self) -> tuple[type[Map[K, V]], tuple[dict[K, V]]]:
        return Map, (dict(self),)


EMPTY: Map[Any, Any] = Map()
"""The empty `Map`."""


class Tag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text with game weight: an aspect, a boost, a consequence.

    Attributes:
        name: the text as people say it; two tags on one table differ in their `slug`.
        kind: the ruleset's word for what it is.
        on: the character that carries it, or `SCENE`.
        uses: how many free uses each holder has left, by the holder's name; zero counts are dropped.
        audience: the seats that may know of it; None for everybody.
    """

    name: str
    kind: str
    on: str = SCENE
    uses: Map[str, int] = EMPTY
    audience: tuple[str, ...] | None = None

    @property
    def slug(self) -> str:
        """The name for the command line: `Sand in the Eyes` is `sand-in-the-eyes`."""
        return slug(self.name)

    def held_by(self, holders: Iterable[str]) -> int:
        """Return how many free uses the holders have left together."""
        return sum(self.uses.get(holder, 0) for holder in holders)

    def with_uses(self, holder: str, change: int) -> Tag:
        """Return the tag with `change` more (or fewer, never below 0) free uses for the holder."""
        count = max(0, self.uses.get(holder, 0) + change)
        uses = self.uses.with_(holder, count) if count else self.uses.without(holder)
        return msgspec.structs.replace(self, uses=uses)


class Box(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One place of a track: a stress box, a consequence slot, a segment of a clock. A free one has no `mark`.

    Attributes:
        name: the box's name.
        size: how much it takes.
        mark: what is in it: x, a text, or nothing while it is free.
    """

    name: str
    size: int
    mark: str = ""


def is_for(audience: Collection[str] | None, seat: str | None) -> bool:
    """Tell whether something with an audience is for a seat; for the host (None) it is where it is for any."""
    return audience is None or (bool(audience) if seat is None else seat in audience)


PATTERN = "{suit} {value}{sign}"  # how a card of a suit is called, unless its deck says otherwise


class Card(msgspec.Struct, frozen=True, cache_hash=True):
    """A kind of card.

    Attributes:
        code: its name as typed.
        title: its name as people say it.
        value: its number; None for a card without one.
        suit: its suit; empty for a card without one.
        attributes: whatever else is printed on it, by name (`aura`).
        short: its code without the sign.
    """

    code: str
    title: str
    value: int | None = None
    suit: str = ""
    attributes: Map[str, str] = EMPTY
    short: str = ""


class Deck(msgspec.Struct, frozen=True):
    """A deck: its kinds of cards by code, and how many there are of each."""

    title: str
    summary: str
    cards: Map[str, Card]
    counts: Map[str, int]
    suits: Map[str, str] = EMPTY
    names: Map[str, int] = EMPTY
    signs: Map[str, tuple[str, str]] = EMPTY
    pattern: str = PATTERN  # how cards of suits are called

    @property
    def size(self) -> int:
        """How many cards there are."""
        return sum(self.counts.values())

    def copies(self, mark: str = "") -> tuple[str, ...]:
        """Return every physical card, sorted; `mark` tells the cards of one copy of the deck from another's."""
        found = list[str]()
        for code, count in self.counts.items():
            stem = f"{code}.{mark}" if mark else code
            found += [stem if number == 1 else f"{stem}.{number}" for number in range(1, count + 1)]
        return tuple(sorted(found))


class Pile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cards in one place: a deck, a hand, a discard pile. `rpgres.model.cards` says what the cards are.

    Attributes:
        cards: every physical card, sorted: a pile is a multiset, and a face-down one is drawn in an order that the
            dealer has for it.
        audience: the seats that may see the cards; None for all seats, empty for a face-down pile.
        owner: the character whose pile it is.
        shuffles: how often it was shuffled.
        top: what is known to lie on top of the others, the first card first; these are not among `cards`.
        knowers: for each card on top the seats that know of it; None for everybody.
    """

    cards: tuple[str, ...] = ()
    audience: tuple[str, ...] | None = None
    owner: str = ""
    shuffles: int = 0
    top: tuple[str, ...] = ()
    knowers: tuple[tuple[str, ...] | None, ...] = ()

    def __len__(self) -> int:
        return len(self.cards) + len(self.top)

    def seen_by(self, seat: str | None) -> Pile:
        """Return what a seat, or the host, may know of the pile: how many cards there are, if no more."""
        if is_for(self.audience, seat):
            return self
        known = [is_for(seats, seat) for seats in self.knowers]
        if not any(known):
            return Pile((FACE_DOWN,) * len(self), self.audience, self.owner, self.shuffles)
        top = tuple(card if is_known else FACE_DOWN for card, is_known in zip(self.top, known, strict=True))
        rest = (FACE_DOWN,) * (len(self) - len(top))
        return Pile(rest, self.audience, self.owner, self.shuffles, top, (None,) * len(top))


class UndealtPile(Pile, frozen=True):
    """A pile in odds whose cards are not all dealt: those of a hand that nobody looked at are still in its deck.

    Attributes:
        undealt: how many cards a hand has beside `cards`; of a deck less than 0: so many of its cards are in hands.
    """

    undealt: int = 0

    def __len__(self) -> int:
        return len(self.cards) + len(self.top) + self.undealt


def undealt_in(pile: Pile) -> int:
    """Return how many cards of a hand are still in its deck; of such a deck less than 0."""
    return pile.undealt if isinstance(pile, UndealtPile) else 0


def with_undealt(pile: Pile, count: int) -> Pile:
    """Return a pile with so many cards undealt."""
    fields = pile.cards, pile.audience, pile.owner, pile.shuffles, pile.top, pile.knowers
    return UndealtPile(*fields, undealt=count) if count else Pile(*fields)


def require_dealt(pile: Pile) -> Pile:
    """Return a pile whose cards are read.

    Raises:
        UndealtError: they are not all dealt.
    """
    if isinstance(pile, UndealtPile):
        whose = f"of {pile.owner} " if pile.owner else ""
        raise UndealtError(f"cards {whose}are read that are not dealt yet; type the hand, or ask for other odds")
    return pile


class Character(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A character at the table, as the ruleset's sheet describes them.

    Attributes:
        name: the short name used in scenes and answers; unique at a table.
        title: the name as people say it.
        abilities: rating by ability (skills, attributes, approaches: the ruleset's word).
        counters: whole numbers that rise and fall, such as fate points.
        tracks: boxes by track, in order.
        records: what the sheet lists by name with fields of its own, such as stunts; by field, then by name.
        texts: free texts of the sheet.
        seat: who plays it: the seat of its own name when empty, else `GM`.
        is_out: taken out, conceded, or otherwise no longer acting in this scene.
    """

    name: str
    title: str = ""
    abilities: Map[str, int] = EMPTY
    counters: Map[str, int] = EMPTY
    tracks: Map[str, tuple[Box, ...]] = EMPTY
    records: Map[str, Map[str, Map[str, Any]]] = EMPTY
    texts: Map[str, str] = EMPTY
    seat: str = ""
    is_out: bool = False


def blank_character(name: str) -> Character:
    """Return a character of whom only the name is known: no abilities, no tracks, no counters."""
    return Character(name=name, title=name)


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """Everything that lies on the table between two actions.

    Attributes:
        characters: who sits there, by name.
        tags: texts with game weight.
        counters: whole numbers of the table itself, such as the game master's points.
        tracks: boxes of the table itself, in order: a clock that fills is one.
        things: whatever else a ruleset keeps, by the name it gives it (zones, a map, who holds the lantern): made of
            `Map` with texts as keys, tuples, texts, whole numbers, True, False and None, and of nothing else.
        audiences: the seats that may know of the track or the thing of a name; one that is not named here is for
            everybody.
        piles: cards by place (`deck`, `hand:mara`); every card is in exactly one.
        periods: what has begun and not ended yet, such as a scene and an exchange in it, the outermost first.
    """

    characters: Map[str, Character] = EMPTY
    tags: tuple[Tag, ...] = ()
    counters: Map[str, int] = EMPTY
    tracks: Map[str, tuple[Box, ...]] = EMPTY
    things: Map[str, Any] = EMPTY
    audiences: Map[str, tuple[str, ...]] = EMPTY
    piles: Map[str, Pile] = EMPTY
    periods: tuple[str, ...] = ()

    def glance(self, function: Callable[..., R], *args: Any) -> R:
        """Return what a function of the state and further arguments returns; all hashable, the function pure.

        It is the same as to call it. Odds of scenes, though, tell positions apart by what it returns alone, and not by
        all that it reads; so whatever needs little of much, such as which aspects can be invoked, is asked so.
        """
        return function(self, *args) if args else function(self)

    def tag(self, name: str) -> Tag | None:
        """Return the tag with this name or slug, or None."""
        return self._tag_by_slug.get(slug(name))

    @cached_property
    def _tag_by_slug(self) -> dict[str, Tag]:
        return {slug(tag.name): tag for tag in self.tags}

    def with_tag(self, tag: Tag) -> State:
        """Return the state in which `tag` stands in place of the one with its slug, or after all others."""
        return self.with_tags((tag,))

    def with_tags(self, tags: Iterable[Tag]) -> State:
        """Return the state in which each of some tags stands in place of the one with its slug, or after all others."""
        laid = {tag.slug: tag for tag in self.tags}
        laid.update((tag.slug, tag) for tag in tags)
        return msgspec.structs.replace(self, tags=tuple(laid.values()))

    def with_room(self, name: str) -> State:
        """Return the state in which no hidden tag has the name: one that has it gets another, which changes no view."""
        hidden = self.tag(name)
        if hidden is None or hidden.audience is None:
            return self
        number = 1
        while self.tag(f"{hidden.name} (hidden {number})") is not None:
            number += 1
        aside = msgspec.structs.replace(hidden, name=f"{hidden.name} (hidden {number})")
        return msgspec.structs.replace(self, tags=tuple(aside if tag is hidden else tag for tag in self.tags))

    def without_tag(self, name: str) -> State:
        """Return the state without the tag of this name or slug."""
        wanted = slug(name)
        return msgspec.structs.replace(self, tags=tuple(tag for tag in self.tags if tag.slug != wanted))

    def with_character(self, character: Character) -> State:
        """Return the state with this character in place of the one with that name, or added."""
        return msgspec.structs.replace(self, characters=self.characters.with_(character.name, character))

    def named(self, text: str) -> list[str]:
        """Return the names of the characters that a text may mean, by name or title; accents may be left out."""
        if text in self.characters:
            return [text]
        said = without_accents(slug(text))
        known = ((name, (slug(name), slug(one.title))) for name, one in self.characters.items() if said)
        return [name for name, slugs in known if said in map(without_accents, slugs)]

    def meant(self, text: str) -> str | None:
        """Return the name of the only character that a text may mean; None where there is none.

        Raises:
            UsageError: it may mean several.
        """
        found = self.named(text)
        if len(found) > 1:
            raise UsageError(f"{text!r} could be {' or '.join(found)}; type one of these names", reason="unclear")
        return found[0] if found else None

    def seat_of(self, name: str) -> str:
        """Return the seat that decides for a character; the game master's for a name that is no character here."""
        character = self.characters.get(name)
        if character is None:
            return GM
        return character.seat or name

    def seen_by(self, seat: str | None) -> State:
        """Return what a seat, or the host (None), may know of the state; the same object when nothing is hidden."""
        state = self._without_hidden_names(seat) if self.audiences else self
        if state.piles:
            piles = Map({name: pile.seen_by(seat) for name, pile in state.piles.items()})
            state = msgspec.structs.replace(state, piles=piles)
        if not state.glance(_hides_tags, seat):
            return state
        tags = tuple(tag for tag in state.tags if is_for(tag.audience, seat))
        return msgspec.structs.replace(state, tags=tags)

    def _without_hidden_names(self, seat: str | None) -> State:
        """Return the state without the tracks and things that a seat may not know of, nor that there are such."""
        hidden = {name for name, seats in self.audiences.items() if not is_for(seats, seat)}
        if not hidden:
            return self
        kept = {
            field: Map({name: value for name, value in getattr(self, field).items() if name not in hidden})
            for field in ("tracks", "things", "audiences")
        }
        return msgspec.structs.replace(self, **kept)


def _hides_tags(state: State, seat: str | None) -> bool:
    return not all(is_for(tag.audience, seat) for tag in state.tags)


def put(record: R, path: Sequence[str], value: Any) -> R:
    """Return a copy of a nested record in which the place at `path` holds `value`.

    The path goes through attributes of records and keys of maps:
    `put(state, ("characters", "mara", "counters", "fate-points"), 2)`.
    """
    key, rest = path[0], path[1:]
    if isinstance(record, Map):
        inner = put(record[key], rest, value) if rest else value
        return record.with_(key, inner)  # type: ignore[return-value]
    inner = put(getattr(record, key), rest, value) if rest else value
    return msgspec.structs.replace(record, **{key: inner})  # type: ignore[type-var]


def mark_box(boxes: tuple[Box, ...], name: str, *, text: str = CHECKED) -> tuple[Box, ...]:
    """Return a track in which the box of this name holds `text`."""
    return tuple(msgspec.structs.replace(box, mark=text) if box.name == name else box for box in boxes)


def written_as(state: State, tag: Tag, text: str) -> State:
    """Return the state in which a box that holds the text of a tag of its owner holds another; empty frees it."""
    who = state.characters.get(tag.on)
    if (
        who is None
        or tag.name == CHECKED
        or all(box.mark != tag.name for boxes in who.tracks.values() for box in boxes)
    ):
        return state
    tracks = {
        name: tuple([msgspec.structs.replace(box, mark=text) if box.mark == tag.name else box for box in boxes])
        for name, boxes in who.tracks.items()
    }
    return put(state, ("characters", who.name, "tracks"), Map(tracks))


def pile_name(name: str, owner: str = "") -> str:
    """Return the name a pile has on the table: several characters may each have a pile of the same name.

    >>> pile_name("hand", "mara")
    'hand:mara'
    """
    return f"{name}:{owner}" if owner else name


@lru_cache(maxsize=10_000)
def code_of(card: str) -> str:
    """Return the code of a physical card: without the number of its copy.

    >>> code_of("St4n.2")
    'St4n'
    """
    return card.partition(".")[0]


def freeze(value: Any) -> Any:
    """Return plain data (as TOML or JSON give it) as hashable data: dictionaries as `Map`, lists as tuples."""
    if isinstance(value, dict):
        return Map({key: freeze(inner) for key, inner in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(inner) for inner in value)
    return value


@lru_cache(maxsize=4096)  # a table's names are looked up by slug many times in one action
def slug(text: str) -> str:
    """Return a text as it is typed on a command line: lower case, words joined by hyphens.

    >>> slug("Rain-Slick Roofs!")
    'rain-slick-roofs'
    """
    words = "".join(char if char.isalnum() else " " for char in text.lower()).split()
    if not words:  # nothing that can be typed: the characters' numbers, so that every text has a name
        return "-".join(f"u{ord(char):x}" for char in text if not char.isspace())
    return "-".join(words)


def without_accents(text: str) -> str:
    """Return a text with plain letters in place of those with accents."""
    if text.isascii():
        return text
    from unicodedata import combining, normalize

    return "".join(char for char in normalize("NFKD", text) if not combining(char))
