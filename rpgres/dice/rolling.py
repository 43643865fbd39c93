"""Thrown dice: one result of an expression, drawn by a caller's numbers or read off real dice. Nothing here makes
random numbers or weights results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from rpgres.dice.grammar import FATE, Best, Comparison, Named, Node, Number, Pool, Product, Quotient, divide, pools_in
from rpgres.errors import GivenError

MOST_TABLE = 4_096  # equally likely results that are kept as a table
MOST_REROLLS = 10  # of one die in a row; after them the face is drawn among those that stay, with the same chances

_FATE_SIGNS = "-0+"
_FATE_FACES = {"+": 1, "0": 0, "-": -1, "b": 0, "_": 0, "\u2212": -1}
_FATE_WORDS = {"plus": "+", "minus": "-", "blank": "0"}  # as --dice-words says them
_TENS = ("00", "20", "30", "40", "50", "60", "70", "80", "90")  # of percentile dice, beside 10
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

# Why a die is thrown, which is what a reader of real dice must be told when a face is missing.
_FIRST, _REROLL, _EXPLOSION = "first", "reroll", "explosion"
_Draw = Callable[[str], int]


class DieFace(Struct, frozen=True, gc=False):
    """One face of one die that was thrown.

    `mark` is "kept" when the face is part of the value, "dropped" when its die was dropped, "missed" when its die does
    not fit the count of the pool, "rerolled" when the die was rerolled because of it.
    """

    face: int
    sides: int  # 0 for a Fate die
    mark: str = "kept"
    exploded: bool = False  # the next face belongs to the same die


class Reading(Struct, frozen=True):
    """One thing that is read off a throw.

    Attributes:
        kind: `total` is the value of the expression; `natural` the sum, `highest` and `lowest` the best and the worst
            of the kept dice, `count` how many of them fit `counted`. Without dice all but the total are 0.
        counted: which dice count.
    """

    kind: Literal["total", "natural", "highest", "lowest", "count"]
    counted: Comparison | None = None

    def counts(self, value: int) -> bool:
        """Return whether a die of this value is counted."""
        return self.counted is not None and self.counted.fits(value)


class Throw(Struct, frozen=True):
    """One result of an expression; `text` is what `Dice.read` takes to give the same throw back."""

    value: int
    faces: tuple[tuple[DieFace, ...], ...]  # of each pool, in the order of the expression's text
    text: str
    parts: tuple[tuple[str, int], ...] = ()  # what named parts came to, and under an empty name the rest


def throw(node: Node, pools: Sequence[Pool], below: Callable[[int], int]) -> Throw:
    """Return a throw whose faces are drawn one by one, in the order of the text.

    Args:
        pools: its pools, in the order of the text.
        below: draws a fair whole number from 0 to n - 1.
    """
    return _throw(node, [(pool, _drawing(pool, below)) for pool in pools])


def table_size(pools: Sequence[Pool]) -> int | None:
    """Return the number of raw results when they are equally likely and at most `MOST_TABLE`, otherwise nothing."""
    size = 1
    for pool in pools:
        if pool.reroll or pool.explodes:
            return None
        sides = len(pool.faces)
        if sides > 1:
            for _ in range(pool.count):
                size *= sides
                if size > MOST_TABLE:
                    return None
    return size


def table_entry(node: Node, pools: Sequence[Pool], index: int) -> Throw:
    """Return raw result `index`: the first die is the most significant, and faces ascend."""
    drawn: list[int] = []
    for pool in reversed(pools):
        faces = pool.faces
        for _ in range(pool.count):
            index, place = divmod(index, len(faces))
            drawn.append(faces[place])
    return _throw(node, [(pool, lambda _: drawn.pop()) for pool in pools])


def read(node: Node, pools: Sequence[Pool], text: str) -> Throw:
    """Return the throw that was read off real dice.

    Raises:
        GivenError: the dice cannot have shown this; the message says what was expected.
    """
    given = text.split(";") if pools or text.strip() else []
    if len(given) == 1 < len(pools):
        given = _by_pools(pools, text) or given
    if len(given) != len(pools):
        _refuse(f"{_expected_pools(pools)}, and {text!r} has {_counted(len(given), 'result')}", text)
    readings = [_Reading(pool, part) for pool, part in zip(pools, given, strict=True)]
    result = _throw(node, [(reading.pool, reading.draw) for reading in readings])
    for reading in readings:
        reading.finish()
    return result


def of_total(table: Sequence[Throw], text: str) -> Throw:
    """Return a throw of which the total alone is known, such as `=2`.

    Raises:
        GivenError: the dice cannot come to it.
    """
    dice = (([die.face for pool in one.faces for die in pool if die.mark == "kept"], one) for one in table)
    found = next((one for faces, one in dice if f"={sum(faces)}" == text), None)
    if found is None:
        _refuse(f"these dice have no total {text.removeprefix('=')!r}", text)
    return replace(found, text=text)


def _by_pools(pools: Sequence[Pool], text: str) -> list[str]:
    """Return the faces of each pool where all stand in one row, in the order of the text; none where that is unclear.

    A die that is rerolled or explodes may have more faces than one, a d100 or d66 may be given as two dice.
    """
    faces = text.replace(",", " ").split()
    is_clear = not any(pool.reroll or pool.explodes or pool.sides in (FATE, 66, 100) for pool in pools)
    if not is_clear or len(faces) != sum(pool.count for pool in pools):
        return []
    row = iter(faces)
    return [",".join(islice(row, pool.count)) for pool in pools]


def _throw(node: Node, sources: Iterable[tuple[Pool, _Draw]]) -> Throw:
    thrown = [_throw_pool(pool, draw) for pool, draw in sources]
    dropped: set[int] = set()
    parts = _values(node, enumerate(thrown), dropped)
    faces = tuple(faces for _, faces in thrown)
    if dropped:
        faces = tuple(_dropped(pool) if place in dropped else pool for place, pool in enumerate(faces))
    text = ";".join(_write_faces(pool) for pool in faces)
    if parts.keys() == {""}:
        return Throw(parts[""], faces, text)
    return Throw(sum(parts.values()), faces, text, tuple(parts.items()))


def _dropped(faces: tuple[DieFace, ...]) -> tuple[DieFace, ...]:
    return tuple(one if one.mark == "rerolled" else replace(one, mark="dropped") for one in faces)


_Thrown = Iterator[tuple[int, tuple[int, tuple[DieFace, ...]]]]  # the place of each pool, its value, and its dice


def _values(node: Node, thrown: _Thrown, dropped: set[int]) -> dict[str, int]:
    """Return what each named part comes to; what has no name stands under an empty one.

    Args:
        thrown: the pools in the order of the text.
        dropped: collects the places of those that count for nothing.
    """
    if isinstance(node, Pool):
        return {"": next(thrown)[1][0]}
    if isinstance(node, Number):
        return {"": node.value}
    if isinstance(node, Named):
        return {node.name: sum(_values(node.node, thrown, dropped).values())}
    if isinstance(node, Quotient):
        return {name: divide(value, node.divisor) for name, value in _values(node.node, thrown, dropped).items()}
    if isinstance(node, Best):
        return {"": _best_value(node, thrown, dropped)}
    if isinstance(node, Product):
        product = {"": 1}
        for factor in node.factors:
            found = _values(factor, thrown, dropped)
            product = {mine or other: a * b for mine, a in product.items() for other, b in found.items()}
        return product
    total: dict[str, int] = {}
    for sign, term in node.terms:
        for name, value in _values(term, thrown, dropped).items():
            total[name] = total.get(name, 0) + sign * value
    return total


def _best_value(node: Best, thrown: _Thrown, dropped: set[int]) -> int:
    """Return the sum of the values that are kept; among equal ones the earlier counts as the higher."""
    values, places = list[int](), list[list[int]]()
    for one in node.nodes:
        its = list(islice(thrown, sum(1 for _ in pools_in(one))))
        places.append([place for place, _ in its])
        values.append(sum(_values(one, iter(its), dropped).values()))
    ranked = sorted(range(len(values)), key=lambda index: (values[index], -index))
    low, high = node.kept
    for index in (*ranked[:low], *ranked[high:]):
        dropped.update(places[index])
    return sum(values[index] for index in ranked[low:high])


def _write_faces(faces: tuple[DieFace, ...]) -> str:
    if faces[0].sides == FATE:
        return "".join(_FATE_SIGNS[die.face + 1] for die in faces)
    return ",".join(str(die.face) for die in faces)


def _throw_pool(pool: Pool, draw: _Draw) -> tuple[int, tuple[DieFace, ...]]:
    dice = [die for _ in range(pool.count) for die in _throw_dice(pool, draw)]
    totals = [_total(pool, die) for die in dice]
    low, high = pool.kept if len(dice) == pool.count else (0, len(dice))
    # Among equal dice the earlier one counts as the higher.
    ranked = sorted(range(len(dice)), key=lambda index: (totals[index], -index))
    marks = ["dropped"] * len(dice)
    value = 0
    for index in ranked[low:high]:
        worth = pool.worth(totals[index])
        marks[index] = "kept" if worth or pool.target is None else "missed"
        value += worth
    return value, tuple(
        DieFace(face, pool.sides, "rerolled" if rerolled else mark, exploded)
        for die, mark in zip(dice, marks, strict=True)
        for face, rerolled, exploded in die
    )


_Face = tuple[int, bool, bool]  # with whether it was rolled again, and whether the next one belongs to the same die


def _total(pool: Pool, die: Sequence[_Face]) -> int:
    return pool.joined([face for face, rerolled, _ in die if not rerolled])


def _throw_dice(pool: Pool, draw: _Draw) -> list[list[_Face]]:
    """Roll one die to its end; return it, and those that followed it where they are dice of their own."""
    dice: list[list[_Face]] = [[]]
    exploding, explosion, reason, explosions = pool.exploding, pool.explosion, _FIRST, 0
    while True:
        face = draw(reason)
        may_reroll = pool.reroll and not (pool.reroll.once and reason == _REROLL)
        if may_reroll and pool.reroll and pool.reroll.wants(face):
            dice[-1].append((face, True, False))
            reason = _REROLL
            continue
        exploded = explosion is not None and face in exploding and explosions < explosion.limit
        is_apart = explosion is not None and explosion.apart
        dice[-1].append((face, False, exploded and not is_apart))
        if not exploded:
            return dice
        if is_apart:
            dice.append([])
        exploding = pool.exploding_added
        explosions += 1
        reason = _EXPLOSION


def _drawing(pool: Pool, below: Callable[[int], int]) -> _Draw:
    faces, rerolls = pool.faces, 0
    staying = pool.staying if pool.reroll else ()

    def draw(reason: str) -> int:
        nonlocal rerolls
        rerolls = rerolls + 1 if reason == _REROLL else 0
        among: Sequence[int] = staying if rerolls >= MOST_REROLLS else faces
        return among[below(len(among))]

    return draw


class _Reading:
    """The faces that were given for one pool, handed out one by one."""

    def __init__(self, pool: Pool, text: str) -> None:
        self.pool = pool
        self.text = text.strip()
        self.faces = _read_fate(pool, self.text) if pool.sides == FATE else _read_numbers(pool, self.text)
        self.taken = 0

    def draw(self, _reason: str) -> int:
        if self.taken == len(self.faces):
            self.refuse_missing()
        self.taken += 1
        return self.faces[self.taken - 1]

    def refuse_missing(self) -> NoReturn:
        """Refuse too few faces; where a die that goes on is among them, tell that this is how they were read."""
        again = next((face for face in reversed(self.faces) if self._goes_on(face)), None)
        if again is None:
            self.refuse_count()
        what = "is rerolled" if self.pool.reroll and self.pool.reroll.wants(again) else "explodes"
        die = "the die that it brings" if self.pool.explosion and self.pool.explosion.apart else "the same die"
        _refuse(
            f"{_expected(self.pool)}; in {self.text!r} the {_face_text(self.pool, again)} {what} and is followed by "
            f"the next face of {die}, so one is missing; give the faces of each die in order, die by die",
            self.text,
        )

    def _goes_on(self, face: int) -> bool:
        rerolled = self.pool.reroll and self.pool.reroll.wants(face)
        return bool(rerolled or face in self.pool.exploding)

    def refuse_count(self) -> NoReturn:
        few = f"{self.text!r} has {_counted(len(self.faces), 'face')}{_as_total(self.pool, self.text)}"
        _refuse(f"{_expected(self.pool)}; {few}", self.text)

    def finish(self) -> None:
        if self.taken == len(self.faces):
            return
        if not (self.pool.reroll or self.pool.explodes):
            self.refuse_count()
        surplus = _counted(len(self.faces) - self.taken, "face")
        _refuse(
            f"{_expected(self.pool)}; {self.text!r} has {surplus} too many: "
            "only a die that explodes or is rerolled has more than one",
            self.text,
        )


def _read_fate(pool: Pool, text: str) -> list[int]:
    faces: list[int] = []
    previous = " "
    typed = text.lower()
    for word, face in _FATE_WORDS.items():
        typed = typed.replace(word, face)
    for char in typed:
        # "+1 0 -1" is how results are read aloud: a 1 after a sign belongs to it, and one by itself is a plus.
        if char in _FATE_FACES:
            faces.append(_FATE_FACES[char])
        elif char == "1" and (previous == "," or previous.isspace()):
            faces.append(1)
        elif not (char.isspace() or char == "," or (char == "1" and _FATE_FACES.get(previous))):
            why = _as_total(pool, text) or " (+, 0 or -)"
            _refuse(f"{_expected(pool)}; {char!r} in {text!r} is no face of a Fate die{why}", text)
        previous = char
    return faces


def _read_numbers(pool: Pool, text: str) -> list[int]:
    faces: list[int] = []
    words = text.replace(",", " ").split()
    if pool.is_d66 and len(words) == 2:  # tens and ones, as two dice show them
        words = ["".join(words)]
    if pool.sides == 100 and not (pool.reroll or pool.explodes) and len(words) == 2 * pool.count:
        words = _percentages(words)
    elif pool.sides == 10 and any(word in _TENS for word in words) and all(word in (*_TENS, "10") for word in words):
        words = [word[0] for word in words]  # tens as they are printed; `10` by itself is the 10 of a d10
    for word in words:
        face = int(word) if word.isascii() and word.isdigit() and len(word) < 20 else 0
        if word == _zeros(pool):
            face = pool.sides
        if face not in pool.faces:
            message = f"{word!r} in {text!r} is no face of a d{pool.sides}{_as_total(pool, text)}"
            _refuse(f"{_expected(pool)}; {message}", text)
        faces.append(face)
    return faces


def _as_total(pool: Pool, text: str) -> str:
    """Return what is said where the sum of several dice was typed in place of what they show."""
    digits = text.removeprefix("+").removeprefix("-").strip()
    is_total = pool.count > 1 and digits.isdecimal() and len(digits) < 20
    return ", and a total cannot be given: type what each die shows" if is_total else ""


def _percentages(words: list[str]) -> list[str]:
    """Return hundreds for pairs of dice as they are printed, 00 to 90 and 0 to 9; others as they are."""
    found = []
    for pair in zip(words[::2], words[1::2], strict=True):
        tens, units = sorted(pair, key=len, reverse=True)
        if tens not in (*_TENS, "10") or len(units) != 1:
            return words
        found.append(tens[0] + units)
    return found


def _zeros(pool: Pool) -> str:
    """Return how real dice show the highest face of a d10, d100, d1000: 0, 00, 000; empty for any other die."""
    text = str(pool.sides)
    return text[1:] if text == f"1{'0' * (len(text) - 1)}" else ""


def _face_text(pool: Pool, face: int) -> str:
    return _FATE_SIGNS[face + 1] if pool.sides == FATE else str(face)


def _expected(pool: Pool) -> str:
    """Say what a reader of real dice should give: `four Fate dice expected, e.g. ++0-`."""
    number = _NUMBERS[pool.count] if pool.count < len(_NUMBERS) else str(pool.count)
    fate = "Fate die" if pool.count == 1 else "Fate dice"
    said = f"{number} {fate if pool.sides == FATE else f'd{pool.sides}'} expected"
    if pool.reroll or pool.explodes or pool.count >= len(_NUMBERS):
        return said
    if pool.sides == FATE:
        return f"{said}, e.g. {('++0-' * pool.count)[: pool.count]}"
    example = (str(pool.sides - place % pool.sides) for place in range(pool.count))
    two = "; or tens and units of two dice: 70,3" if pool.sides == 100 else ""
    zeros = f" ({_zeros(pool)} stands for {pool.sides}{two})" if _zeros(pool) else ""
    return f"{said}, e.g. {','.join(example)}{zeros}"


def _expected_pools(pools: Sequence[Pool]) -> str:
    if not pools:
        return "there are no dice here, so nothing can be given"
    if len(pools) == 1:
        return _expected(pools[0])
    return f"{len(pools)} results expected, with ; between them ({'; '.join(_expected(pool) for pool in pools)})"


def _counted(count: int, noun: str) -> str:
    return f"{_NUMBERS[count] if count < len(_NUMBERS) else count} {noun}{'' if count == 1 else 's'}"


def _refuse(message: str, text: str) -> NoReturn:
    raise GivenError(message, given=text)
