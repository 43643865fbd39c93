"""What can be otherwise where a seat cannot look: before an action, and in the course of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs

from rpgres.conformance.walks import Asked
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.events import Decided, Drawn, Event, Moved, seen
from rpgres.engine.players import NO
from rpgres.engine.prepare import Prepared
from rpgres.engine.views import seats_of
from rpgres.model.cards import Stack
from rpgres.model.state import SCENE, Box, Map, State, Tag, code_of, put
from rpgres.rulesets import Rules

WITHIN = 6  # draws, and decisions, of a run that are varied

Said = tuple[str, str, int]  # a decision: its label, who decides, and how often that was asked before


class Variation(msgspec.Struct, frozen=True):
    """One thing that is otherwise where a seat cannot look.

    Attributes:
        what: what is otherwise, in words.
        names: what is otherwise, as a line of the account names what it `reveals`.
        state: the table before the action; None for the same.
        swapped: two cards that change places in the order in which piles are drawn.
        said: what somebody else answers in secret.
        may_fail: whether it is only a guess at what could be there, of which a rule may be unable to make anything.
    """

    what: str
    names: tuple[str, ...] = ()
    state: State | None = None
    swapped: tuple[str, ...] = ()
    said: Mapping[Said, str] = Map()
    may_fail: bool = False


AS_IT_IS = Variation("")


def covers(name: str, other: str) -> bool:
    """Tell whether one of two names is the other, or a part of it: `hand-bo` and `hand-bo/stacks`."""
    return name == other or name.startswith(f"{other}/") or other.startswith(f"{name}/")


class Swapping(SeededDealer):
    """Answers from a seed, with two cards in each other's place.

    Args:
        streams: the numbers of the seed.
        swapped: the cards; none for none.

    Attributes:
        drawn: what was drawn so far: the card, and those that it could have been.
    """

    __slots__ = ("_places", "drawn")

    def __init__(self, streams: Streams, swapped: tuple[str, ...]) -> None:
        super().__init__(streams)
        self._places = dict(zip(swapped, reversed(swapped), strict=True))
        self.drawn: list[tuple[str, tuple[str, ...]]] = []

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        placed = {self._places.get(card, card): card for card in cards}
        card = placed[super().draw(tuple(placed), stack, label, count)]
        self.drawn.append((card, cards))
        return card


# ---------------------------------------------------------------------------------------------------------------------
# In the course of an action


def hidden_within(
    seat: str,
    events: Sequence[Event],
    drawn: Sequence[tuple[str, tuple[str, ...]]],
    asked: Sequence[Asked],
) -> Iterator[Variation]:
    """Yield what could have gone otherwise in a run without a seat's seeing it: cards drawn, secret answers.

    Args:
        drawn: its draws; see `Swapping`.
    """
    known, secret = set[str](), set[str]()
    for event in events:
        if isinstance(event, Drawn | Moved):
            shown, cards = seen(event, seat), (event.card,) if isinstance(event, Drawn) else event.cards
            (known if shown is event else secret).update(cards)
    hidden = [(card, cards) for card, cards in drawn if code_of(card) in secret - known]
    for card, cards in hidden[:WITHIN]:
        others = {code_of(one): one for one in cards if code_of(one) not in known and code_of(one) != code_of(card)}
        for other in _ends(sorted(others.values())):
            what = f"{code_of(other)} drawn in place of {code_of(card)}"
            yield Variation(what, _named(card, other), swapped=(card, other))
    places = dict[tuple[str, str], list[Decided]]()
    for event in events:
        if isinstance(event, Decided):
            places.setdefault((event.label, event.who), []).append(event)
    counts, varied = dict[tuple[str, str], int](), 0
    for one in asked:
        question, key = one.question, (one.question.label, one.question.who)
        count = counts[key] = counts.get(key, -1) + 1
        decided = places.get(key, [])[count : count + 1]
        if decided and seen(decided[0], seat) is None and varied < WITHIN:
            varied += 1
            names = [option.name for option in question.options] + [NO] * question.optional
            for name in _ends([name for name in names if name != decided[0].answer]):
                what = f"{question.label}={name} of {question.who} in place of {decided[0].answer}"
                yield Variation(what, (f"{question.who}:{question.label}",), said={(*key, count): name})


def _named(*cards: str) -> tuple[str, ...]:
    """Return what cards are called by what reveals them: by their codes, or each by itself."""
    return (*cards, *map(code_of, cards))


def _ends(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*names[:1], *names[-1:])))


# ---------------------------------------------------------------------------------------------------------------------
# Before it


def hidden_before(seat: str, prepared: Prepared, kinds: Sequence[str]) -> Iterator[Variation]:
    """Yield tables that differ from that of an action only in what a seat cannot see."""
    state = prepared.state
    yield from _tags(seat, prepared, kinds)
    for name, seats in state.audiences.items():
        if seat in seats:
            continue
        if name in state.tracks:
            for boxes in _other_marks(state.tracks[name]):
                yield Variation(f"other marks on {name}", (name,), put(state, ("tracks", name), boxes))
        else:
            for path in _parts(state.things[name], (name,)):
                for other in _other_things(state, path):
                    yield Variation(f"another {'/'.join(path)}", ("/".join(path),), other, may_fail=True)
            gone = structs.replace(state, things=state.things.without(name), audiences=state.audiences.without(name))
            yield Variation(f"no {name}", (name,), gone, may_fail=True)
    if not prepared.placed:  # what is laid at the beginning has to be where it is taken from
        yield from _cards(seat, state)


def _tags(seat: str, prepared: Prepared, kinds: Sequence[str]) -> Iterator[Variation]:
    """Yield tables with other hidden tags: more of every kind, or one less, otherwise called or spent."""
    state = prepared.state
    others = tuple(one for one in seats_of(state) if one != seat)
    if others:
        uses = Map(dict.fromkeys(dict.fromkeys((*others, *state.characters)), 1))
        for on in dict.fromkeys((SCENE, prepared.actor)) if kinds else ():
            more = [Tag(f"Unseen Thing {number}", kind, on, uses, others) for number, kind in enumerate(kinds)]
            changed = structs.replace(state, tags=(*state.tags, *more))
            yield Variation(f"something hidden on {on or 'the scene'}", tuple(tag.name for tag in more), changed)
    for number, tag in enumerate(state.tags):
        if tag.audience is not None and seat not in tag.audience:
            before, after = state.tags[:number], state.tags[number + 1 :]
            yield Variation(f"{tag.name} gone", (tag.name,), structs.replace(state, tags=(*before, *after)))
            spent = structs.replace(tag, name="Something Else", uses=Map(dict.fromkeys(tag.uses, 2)))
            changed = structs.replace(state, tags=(*before, spent, *after))
            yield Variation(f"another thing for {tag.name}", (tag.name, spent.name), changed)


def kinds_of_tags(rules: Rules, state: State) -> list[str]:
    """Return every kind of tag that the ruleset's data or the table speak of."""
    return list(dict.fromkeys((*rules.file.tag_kinds, *(tag.kind for tag in state.tags if tag.kind))))


def _other_marks(boxes: tuple[Box, ...]) -> Iterator[tuple[Box, ...]]:
    """Yield a track with a box marked less, or more; never full, as that may mean something."""
    marked = [number for number, box in enumerate(boxes) if box.mark]
    free = [number for number, box in enumerate(boxes) if not box.mark]
    for number, mark in (*((one, "") for one in marked[-1:]), *((one, "x") for one in free[:1] if len(free) > 1)):
        yield tuple(structs.replace(box, mark=mark) if at == number else box for at, box in enumerate(boxes))


_Change = Callable[[Any], Any]
# By type, what a value of a thing may be otherwise.
_OTHERWISE: tuple[tuple[type, _Change], ...] = (
    (int, lambda value: value + 1),
    (int, lambda value: value - (value > 0)),
    (bool, lambda value: not value),
    (str, lambda value: f"{value} else"),
    (tuple, lambda value: value[:-1]),
)


def _parts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of what a thing consists of: of maps of maps what is in them, else of the thing itself."""
    inner = value if isinstance(value, Map) else {}
    if any(isinstance(one, Map) for one in inner.values()):
        for key, one in inner.items():
            yield from _parts(one, (*path, key))
    else:
        yield path


def _other_things(state: State, path: tuple[str, ...]) -> Iterator[State]:
    """Yield tables on which a part of a thing is otherwise."""
    value: Any = state.things
    for key in path:
        value = value[key]
    for kind, change in _OTHERWISE:
        if (other := _changed(value, kind, change)) != value:
            yield put(state, ("things", *path), other)


def _changed(value: Any, kind: type, change: _Change) -> Any:
    """Return a thing in which everything of a type that it is made of is changed; names in a `Map` stay."""
    if isinstance(value, Map):
        return Map({key: _changed(one, kind, change) for key, one in value.items()})
    if isinstance(value, tuple):
        value = tuple(_changed(one, kind, change) for one in value)
    return change(value) if type(value) is kind else value


def _cards(seat: str, state: State) -> Iterator[Variation]:
    """Yield the tables on which a card that somebody holds or knows of changes places with one that nobody sees."""
    hidden = {
        name: pile for name, pile in state.piles.items() if pile.audience is not None and seat not in pile.audience
    }
    unknown = [card for pile in hidden.values() if not pile.audience for card in pile.cards]
    unknown = unknown or [card for pile in hidden.values() for card in pile.cards]
    for name, pile in hidden.items():
        knowers = pile.knowers or ((),) * len(pile.top)
        on_top = [
            card for card, seats in zip(pile.top, knowers, strict=True) if seats is not None and seat not in seats
        ]
        for card in dict.fromkeys((*(_ends(pile.cards) if pile.audience else ()), *on_top[:1])):
            for other in _ends(sorted(one for one in unknown if code_of(one) != code_of(card))):
                what = f"{code_of(other)} in {name} in place of {code_of(card)}"
                yield Variation(what, _named(card, other), _swapped(state, {card: other, other: card}))


def _swapped(state: State, places: Mapping[str, str]) -> State:
    """Return a table on which cards lie in each other's place."""

    def of(cards: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(places.get(card, card) for card in cards)

    return structs.replace(
        state,
        piles=Map(
            {
                name: structs.replace(pile, cards=tuple(sorted(of(pile.cards))), top=of(pile.top))
                for name, pile in state.piles.items()
            }
        ),
    )
