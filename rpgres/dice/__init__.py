"""Dice notation, thrown dice and exact distributions. Nothing here makes random numbers or knows a rule.

The grammar (case does not matter; spaces may stand between tokens, not inside a number)::

    expression = term { ("+" | "-") term }
    term       = factor { "*" factor | "/" number }
    factor     = { "-" } ( number | pool | "(" expression ")" )
    pool       = [ number ] "d" ( number | "%" | "F" ) { modifier }
    modifier   = "!"                                           explodes on the highest face
               | ( "r" | "ro" ) [ number | sign value ]        thrown again: until it fits no more, or once
               | ( "kh" | "kl" | "dh" | "dl" ) [ number ]      keep or drop the highest or lowest (default 1)
               | sign value                                    count the dice that fit
    sign       = ">=" | "<=" | "=" | ">" | "<"                 ">" is strictly greater
    value      = [ "-" ] number

``d6`` is ``1d6``, ``d%`` is ``d100``, a Fate die ``dF`` has the faces -1, 0 and +1; ``r`` alone means the lowest face,
``r1`` is ``r=1``. The signs U+2212, U+00D7 and U+00F7 are read as ``-``, ``*`` and ``/``. Division drops
the fraction: ``7/2`` is 3, ``-7/2`` is -3.

The modifiers of a pool may be written in any order and are applied in this one: reroll, explode, keep and drop (several
from left to right), count. An exploded die is one die that is worth the sum of its faces, for keeping as for counting.
A count is a value like any other, so ``6d10>=8 + 2`` is two more than the number of dice that show 8 or more. ``!`` may
not stand directly before a sign, because ``!>=8`` means something else in other tools: write ``6d10>=8!``.

Everything else is refused with its place: it is not implemented, or it could be misread (``4d6d1``, ``4d6k3``).
The limits are constants named ``MOST_...``: those of an expression in `rpgres.dice.grammar`, those of a law in
`rpgres.dice.distributions`; an error names the one it is about. Larger pools can be thrown than weighed.

A *law* is an exact distribution with whole-number weights; a *throw* is one result. Results read off real dice are
written as ``++0-`` for Fate dice, as ``6,5,4,1`` for others, with ``;`` between pools. A die that is thrown again or
explodes is given with all its faces in order, before the next die.
"""

from __future__ import annotations

from rpgres.dice.distributions import Law, LawSizeError
from rpgres.dice.expression import Dice, dice, difference, is_notation, resembles_notation
from rpgres.dice.grammar import Comparison, Pool
from rpgres.dice.rolling import DieFace, Reading, Throw

__all__ = [
    "Comparison",
    "Dice",
    "DieFace",
    "Law",
    "LawSizeError",
    "Pool",
    "Reading",
    "Throw",
    "dice",
    "difference",
    "is_notation",
    "resembles_notation",
]
