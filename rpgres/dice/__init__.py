"""Dice notation, rolled dice and exact distributions. Nothing here makes random numbers or knows a rule.

The grammar (case does not matter; spaces may stand between tokens, not inside a number)::

    line       = expression [ "vs" [ sign ] expression | [ number "times" ] [ "in order" ] ] [ "#" comment ]
    expression = term { ("+" | "-") term } [ "adv" | "dis" ]
    term       = factor { "*" factor | "/" number }
    factor     = { "-" } ( number | pool | "adv" | "dis" | "d66" | "(" expression ")" | group ) [ "[" name "]" ]
    group      = "(" expression { "," expression } ")" keep { keep }    or between braces
    keep       = ( "kh" | "kl" | "dh" | "dl" ) [ number ] | ( "keep" | "drop" ) ( "highest" | "lowest" ) [ number ]
    pool       = [ number ] "d" ( number | "%" | "F" ) { modifier }
    modifier   = "!" [ "!" ] [ "p" ] [ "o" ] [ sign value ]    explodes; p: penetrating, o: once
               | "oe" [ number ]                               open-ended: high faces add a die, low ones subtract one
               | ( "r" | "ro" ) [ number | sign value ]        rerolled: until it fits no more, or once
               | keep                                          keep or drop the highest or lowest (default 1)
               | sign value                                    count the dice that fit
               | "f" ( number | sign value )                   each of these takes one off the count
               | "double" [ number | sign value ]              each of these counts twice
               | "again" [ number | sign value ]               counted dice: each of these brings another die
               | "adv" | "dis"                                 d20 adv, 2d20 adv: 2d20kh1
    sign       = ">=" | "<=" | "=" | ">" | "<"                 ">" is strictly greater
    value      = [ "-" ] number

``d6`` is ``1d6``, ``d%`` is ``d100``, a Fate die ``dF`` has the faces -1, 0 and +1; ``d66`` are two six-sided dice read
as tens and ones, ``1d66`` is a die of 66 sides; ``r`` alone means the lowest face, ``r1`` is ``r=1``. The signs U+2212,
U+00D7 and U+00F7 are read as ``-``, ``*`` and ``/``. Division drops the fraction: ``7/2`` is 3, ``-7/2`` is -3.

The modifiers of a pool may be written in any order and are applied in this one: reroll, explode, keep and drop (several
from left to right), count. ``!`` explodes the highest face, ``!>=8`` all from 8 on. An exploded die is one die that is
worth the sum of its faces, for keeping as for counting; of a penetrating one each further face is worth one less. With
``again`` every new die counts for itself. ``d10oe`` explodes on both ends: after the highest face dice are added, after
the lowest subtracted, and these go on while they show the highest; ``oe`` alone takes one face in twenty at each end
(``d100oe``: 1 to 5 and 96 to 100), ``oe2`` two. A count is a value like any other, so ``6d10>=8 + 2`` is two more than
the number of dice that show 8 or more. Where dice are kept or counted, ``!>=8`` is refused, because other tools then
take the new dice for dice of their own: ``!!>=8`` adds them, ``again >=8`` counts them.

Of several values in parentheses the highest or lowest are kept, and added: ``(2d6,d12)kh1``. Without commas these are
the dice of pools that are added, ``(d6+2d8)kh2``, which is ``(d6,d8,d8)kh2``.

A name in brackets names a part, which is told apart: ``2d6[fire]+d4[cold]``. The parts add up to the value; so a
product has one factor with names, and a quotient one name.

Everything else is refused with its place: it is not implemented, or it could be misread (``4d6d1``, ``4d6k3``).
The limits are constants named ``MOST_...``: those of an expression in `rpgres.dice.grammar`, those of a law in
`rpgres.dice.distributions`; an error names the one it is about. Larger pools can be rolled than evaluated.

A *law* is an exact distribution with whole-number weights; a *throw* is one result. Results read off real dice are
written as ``++0-`` for Fate dice, as ``6,5,4,1`` for others, with ``;`` between pools. A die that is rolled again or
explodes is given with all its faces in order, before the next die.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rpgres.dice.expression import (
    Dice,
    DiceLine,
    Target,
    dice,
    dice_left,
    difference,
    is_notation,
    read_line,
    read_target,
    resembles_notation,
)
from rpgres.dice.grammar import Comparison, Pool
from rpgres.dice.rolling import DieFace, Reading, Throw
from rpgres.errors import LawSizeError

if TYPE_CHECKING:
    from rpgres.dice.laws import Law

__all__ = [
    "Comparison",
    "Dice",
    "DiceLine",
    "DieFace",
    "Law",
    "LawSizeError",
    "Pool",
    "Reading",
    "Target",
    "Throw",
    "dice",
    "dice_left",
    "difference",
    "is_notation",
    "read_line",
    "read_target",
    "resembles_notation",
]


def __getattr__(name: str) -> Any:
    if name == "Law":  # what makes laws is loaded where they are asked for
        from rpgres.dice.laws import Law

        return Law
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
