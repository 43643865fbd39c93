"""Compiled dice expressions: what the rest of rpgres holds in its hands. Parsing, laws and rolling are beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct

from rpgres.dice import grammar as notation
from rpgres.dice import parsing, rolling
from rpgres.dice.rolling import Throw
from rpgres.errors import NotationError

if TYPE_CHECKING:
    from rpgres.dice.laws import Law


class Dice:
    """A compiled expression, immutable, equal to another by its canonical text. Made by `dice`.

    Attributes:
        text: the canonical text.
        pools: the pools of dice in the order of the text.
    """

    text: str
    pools: tuple[notation.Pool, ...]
    _node: notation.Node
    _size: int | None

    def __init__(self, node: notation.Node) -> None:
        pools = tuple(notation.pools_in(node))
        # Past __setattr__, which refuses.
        self.__dict__.update(text=notation.write(node), pools=pools, _node=node, _size=rolling.table_size(pools))

    @staticmethod
    def of(text: str) -> Dice:
        """Return the compiled expression of a text, as `dice` does; for those who have only this class at hand."""
        return dice(text)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"dice cannot be changed: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"dice cannot be changed: {name}")

    def __repr__(self) -> str:
        return f"dice({self.text!r})"

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Dice) and self.text == other.text)

    def __reduce__(self) -> tuple[Callable[..., Dice], tuple[Any]]:
        is_typed = all(pool.explosion is None or pool.explosion.again is None for pool in self.pools)
        return (dice, (self.text,)) if is_typed else (Dice, (self._node,))

    @property
    def node(self) -> notation.Node:
        """The tree of the expression."""
        return self._node

    @property
    def constant(self) -> bool:
        """Whether the expression has no dice."""
        return not self.pools

    @cached_property
    def law(self) -> Law:
        """The exact distribution of the value.

        Raises:
            LawSizeError: it has too many values or would take too much work; its details name the limit.
        """
        from rpgres.dice.distributions import law_of  # a roll needs none

        return law_of(self._node)

    @cached_property
    def parts(self) -> dict[str, Dice]:
        """The named parts, which add up to the expression; what has no name stands under an empty one."""
        return {name: _compiled(node) for name, node in notation.parts_of(self._node).items()}

    @cached_property
    def table(self) -> tuple[Throw, ...] | None:
        """All raw results, if they are equally likely and at most `rolling.MOST_TABLE`; otherwise None.

        The first die of the text is the most significant, and faces ascend: the table of ``2d6`` starts 1,1 and 1,2.
        """
        if self._size is None:
            return None
        return tuple(rolling.table_entry(self._node, self.pools, index) for index in range(self._size))

    def throw(self, below: Callable[[int], int]) -> Throw:
        """Return one result: `table[below(len(table))]` if there is a table, else a draw for each die, in order.

        Args:
            below: draws a fair whole number from 0 to n - 1; it is not called when nothing can vary.
        """
        size = self._size
        if size is None:
            return rolling.throw(self._node, self.pools, below)
        index = below(size) if size > 1 else 0
        # A single throw must not pay for a table of thousands.
        table = self.__dict__.get("table")
        return table[index] if table else rolling.table_entry(self._node, self.pools, index)

    def read(self, text: str) -> Throw:
        """Return the throw that was read off real dice: ``++0-``, ``6,5,4,1``, with ``;`` between pools.

        Dice that are dropped or counted are found here; a die that is rerolled or explodes is given with all its
        faces in order, before the next die. Of the dice without modifiers, ``=2`` is a total alone.

        Raises:
            GivenError: the dice cannot have shown this; the message says what was expected.
        """
        if text.startswith("="):
            return rolling.of_total(self.table or (), text)
        return rolling.read(self._node, self.pools, text)


@lru_cache(maxsize=4096)
def dice(text: str) -> Dice:
    """Return the compiled expression of a text in dice notation.

    >>> dice("4D6 KH 3").text
    '4d6kh3'

    Raises:
        NotationError: the text is not dice notation, or goes beyond a limit; it knows the place of the fault.
    """
    node = parsing.parse(text)
    canonical = notation.write(node)
    if canonical == text:
        return Dice(node)
    try:
        # All spellings share one object, and with it the law and the table.
        return dice(canonical)
    except NotationError as error:
        # The canonical text can be a little longer and deeper than what was typed.
        message = f"written out in full, {error.message}"
        raise NotationError(message, text, 0, len(text), limit=error.details["limit"]) from None


def _compiled(node: notation.Node) -> Dice:
    return dice(notation.write(node))


def dice_left(text: str) -> Dice | None:
    """Return the compiled expression of a text in which pools may have no dice, without these; None without any dice.

    >>> dice_left("0d6+2d8").text
    '2d8'

    Raises:
        NotationError: the text is not dice notation, or goes beyond a limit.
    """
    found = _compiled(parsing.parse(text, may_have_none=True))
    return found if found.pools else None


class Target(Struct, frozen=True):
    """What a roll is compared with.

    Attributes:
        sign: how: `>=`, `<=`, `>` or `<`.
        dice: a number, or dice that are rolled against it.
    """

    sign: str
    dice: Dice

    @property
    def text(self) -> str:
        """The target as it is typed, without the sign where that is `>=`."""
        return f"{'' if self.sign == '>=' else self.sign}{self.dice.text}"

    @property
    def is_low(self) -> bool:
        """Whether less is better."""
        return self.sign[0] == "<"

    def margin(self, total: int, other: int) -> int:
        """Return by how much the better side of the target is reached; negative where it is missed."""
        return other - total if self.is_low else total - other

    def is_met(self, margin: int) -> bool:
        """Return whether a roll with this margin succeeds."""
        return margin >= 0 if self.sign[1:] else margin > 0


class DiceLine(Struct, frozen=True):
    """Dice with what is done with them.

    Attributes:
        dice: what is rolled.
        target: what the roll is compared with; None where it is not.
        times: how often it is rolled; 0 where it is rolled once and that is not said.
        comment: what was typed behind `#`.
    """

    dice: Dice
    target: Target | None = None
    times: int = 0
    comment: str = ""


def read_line(text: str) -> DiceLine:
    """Return what is typed to roll dice: `d20+5 vs 15`, `3d6 in order`, `2d6 # for the trap`.

    Raises:
        NotationError: it cannot be read; the error knows the place of the fault.
    """
    try:
        node, target, times, comment = parsing.parse_line(text)
    except NotationError as error:
        from rpgres.dice.translation import is_command, translated  # only where it is needed: it compiles patterns

        if meant := translated(text):
            if is_command(text):
                error.raw = "only the dice are written here, without the command of another tool"
            error.add(f"; did you mean {meant!r}?")
        raise
    return DiceLine(_compiled(node), Target(target[0], _compiled(target[1])) if target else None, times, comment)


def read_target(text: str) -> Target:
    """Return what a roll is compared with: `15`, `<=45`, `2d6+3`.

    Raises:
        NotationError: it cannot be read.
    """
    sign, node = parsing.parse_target(text)
    return Target(sign, _compiled(node))


@lru_cache(maxsize=1024)
def difference(a: Dice, b: Dice) -> Law:
    """Return the distribution of the value of `a` minus the value of `b`, thrown independently.

    Raises:
        LawSizeError: one of them, or the difference, is too much work; its details name the limit.
    """
    from rpgres.dice.distributions import subtract

    return subtract(a.law, b.law)


def is_notation(text: str) -> bool:
    """Return whether the text would be taken as dice notation, as d20, 4df or 7 would, and fate would not."""
    try:
        dice(text)
    except NotationError:
        return False
    return True


def resembles_notation(text: str) -> bool:
    """Return whether the text can only be meant as dice notation, faulty or not: 4d6d1, d0, w20, adv, but not dungeon.

    For telling whose error message helps when a text is neither notation nor a known name.
    """
    start = text.lstrip(" (-+{").lower()
    if not start.isascii():  # full-width characters, which are told
        from unicodedata import normalize

        start = normalize("NFKC", start)
    if any(bracket in text for bracket in "([{") and any(f"d{sign}" in start for sign in "123456789%f"):
        return True  # max(d6,d8), as other tools write
    if parsing.starts_with_advantage(start):
        return True
    after_count = start.lstrip("0123456789")
    # Some languages write w20.
    return after_count != start or (len(start) > 1 and start[0] in "dw" and start[1] in "0123456789%{[")
