"""The records of `[tables]` in `ruleset.toml`: random tables by die, card or weight (see `table_plans`)."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec

from rpgres.model.state import Card
from rpgres.rulesets.rows import Id, Record, Row

if TYPE_CHECKING:
    from rpgres.model.cards import Cards

USED = "row-used"  # the kind of effect that takes note of a row that comes once


class TableRow(Row, frozen=True, kw_only=True):
    """One row of a random table; a text alone stands for a row with that text.

    Attributes:
        name: the outcome's name; left out, made from the text.
        again: how often to roll again on this table for it, rows that roll again left out: 2 is "roll twice".
        distinct: whether each row comes once, of all that is rolled for this one: again, and on the tables of `table`.
        once: whether it comes once at a lasting table, or in a scene; the table is rolled again when it comes up later.
        weight: how many rows it counts for, in a table that is a list of rows.
    """

    name: str = ""
    again: Annotated[int, msgspec.Meta(ge=0, le=10)] = 0
    distinct: bool = False
    once: bool = False
    weight: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1


class RandomTable(Record, frozen=True, kw_only=True):
    """A random table, which is played as an action of its name.

    With a `die`, rows stand under what it shows: `"1-3" = "Rain"`, `"4"`, `"5, 7"`, `"8.."`. With `cards`, under the
    card, its suit or its value, or `"else"`; the first row that fits is the one. With neither, rows are a list, of
    which each is as likely as its `weight`.

    Attributes:
        summary: what it tells, in a line.
        die: what is rolled, in notation, with {NAME} for a parameter, ability or counter.
        cards: the deck from which a card is drawn; it is discarded until the deck is used up.
        rows: what it may tell: by what the die or the card shows, or a list.
        also: what comes beside the row, by what the die shows: twists on doubles or extremes; it may leave gaps.
        parameters: what it takes, beside the die.
        required: parameters it cannot do without.
    """

    summary: str = ""
    die: str = ""
    cards: str = ""
    rows: dict[str, str | TableRow] | list[str | TableRow]
    also: dict[str, str | TableRow] = {}
    parameters: list[Id] = []
    required: list[Id] = []

    def items(self) -> Iterator[tuple[str | int, TableRow]]:
        """Yield every row with its key, or its place in the list."""
        keyed = self.rows.items() if isinstance(self.rows, dict) else enumerate(self.rows)
        yield from ((key, as_row(row)) for key, row in keyed)

    def beside(self) -> Iterator[tuple[str, TableRow]]:
        """Yield what comes beside a row, with its key."""
        yield from ((key, as_row(row)) for key, row in self.also.items())


def as_row(row: str | TableRow) -> TableRow:
    """Return a row as a record; a text alone stands for a row with that text."""
    return TableRow(text=row) if isinstance(row, str) else row


Span = tuple[int | None, int | None]  # from where to where, both included; None for no end

_SPAN = r"(-?\d+)(?:\s*(?:\.\.|[-\N{EN DASH}])\s*(-?\d+))?"
_OPEN = r"(-?\d+)?\s*\.\.\s*(-?\d+)?"


def spans_of(key: str) -> tuple[Span, ...] | None:
    """Return the numbers that the key of a row names; None where it names none.

    >>> spans_of("1-3, 7..")
    ((1, 3), (7, None))
    """
    found: list[Span] = []
    for part in key.split(","):
        text = part.strip()
        if match := re.fullmatch(_SPAN, text):
            low = int(match[1])
            found.append((low, int(match[2]) if match[2] else low))
        elif (match := re.fullmatch(_OPEN, text)) and (match[1] or match[2]):
            found.append((int(match[1]) if match[1] else None, int(match[2]) if match[2] else None))
        else:
            return None
    return tuple(found)


def is_within(number: int, spans: tuple[Span, ...]) -> bool:
    """Tell whether one of some spans has a number."""
    return any((low is None or number >= low) and (high is None or number <= high) for low, high in spans)


def fits(card: Card, key: str, known: "Cards") -> bool:
    """Tell whether the key of a row names a card: as it is typed, its suit, its value or a range, or `else`.

    Args:
        key: the key; several with commas.
    """
    return key == "else" or any(_names(card, part.strip(), known) for part in key.split(","))


def _names(card: Card, word: str, known: "Cards") -> bool:
    spans = spans_of(word)
    if spans is not None:
        return card.value is not None and is_within(card.value, spans)
    return word.lower() == card.suit or card.code in known.named(word)
