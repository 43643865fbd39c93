"""Dice with names in braces, as described actions write them: `2d6 + {stat}`. Nothing here knows what a name means."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from rpgres.rulesets.rows import BRACES, ID

# What may stand behind a number of dice: the sides and every modifier, so that a pool of no dice can be left out whole.
_COUNT = r"(?:\d+|\{[^{}]*\})"
_SIGN = r"(?:>=|<=|=|>|<)"
_MODIFIER = rf"(?:!|[rR][oO]?\s*(?:{_SIGN}\s*-?\s*)?{_COUNT}?|[kKdD][hHlL]\s*{_COUNT}?|{_SIGN}\s*-?\s*{_COUNT})"
_DICE = rf"\s*[dD]\s*(?:{_COUNT}|[%fF])(?:\s*{_MODIFIER})*"

# A sign before a name is read with it, so that `+ {stat}` becomes `- 1` rather than `+ (-1)`, and nothing for 0; not
# where the name is a factor, a number of dice or of sides.
_SIGNED = re.compile(
    r"(?P<sign>[+-]\s*)?\{\s*(?P<name>(?:opponent\.)?" + ID + rf")\s*\}}(?:(?P<dice>{_DICE})|(?P<factor>\s*[*/×÷d(]))?"
)
_NAME = re.compile(r"\s*(?:opponent\.)?" + ID + r"\s*")
_JOINED = re.compile(r"(?<=\d)\{|(?<=\})[\d{]")


@lru_cache(maxsize=4096)
def names_in(template: str) -> tuple[str, ...]:
    """Return the names in braces, in order, each once.

    >>> names_in("{rating}d6 + {stat}")
    ('rating', 'stat')
    """
    return tuple(dict.fromkeys(name.strip() for name in re.findall(BRACES, template)))


def dice_key(name: str) -> str:
    """Return the key under which facts hold what a choice is in dice, beside the choice itself."""
    return f"{{{name}}}"


def misnamed(template: str) -> str | None:
    """Return what stands in braces and can be no name, or nothing."""
    return next((name for name in re.findall(BRACES, template) if not _NAME.fullmatch(name)), None)


def joined(template: str) -> int | None:
    """Return where a name touches a digit or another name, so that two numbers would be written as one; else nothing.

    >>> joined("2d6 + 1{mod}")
    7
    """
    found = _JOINED.search(template)
    return found.start() if found is not None else None


def fill(template: str, value_of: Callable[[str], int | str], *, show: Callable[[str, int], str] | None = None) -> str:
    """Return dice in notation: a template with its names replaced by what they stand for.

    >>> fill("2d6 + {stat} - {load}", {"stat": -1, "load": 0}.__getitem__)
    '2d6 - 1 '

    What a choice is in dice stays together, whatever stands around it.

    >>> fill("{die}*2", lambda _: "1d6+1")
    '(1d6+1)*2'

    Where a name says how many dice there are, none or fewer are worth 0.

    >>> fill("{hits}d6 + 1", lambda _: 0)
    '0 + 1'

    Args:
        value_of: returns a name's number, or dice as a text.
        show: writes a number, for people, with what it is called; never one that says how many dice or sides there are.
    """

    def filled(match: re.Match[str]) -> str:
        sign, value, factor = match["sign"] or "", value_of(match["name"]), match["factor"] or ""
        before = match.string[: match.start()].rstrip()[-1:]
        if match["dice"]:
            is_none = isinstance(value, int) and value < 1
            return f"{sign}0" if is_none else f"{sign}{value}{_SIGNED.sub(filled, match['dice'])}"
        if isinstance(value, str):
            is_alone = not sign and match.string.strip() == match[0].strip()
            return value if is_alone else f"{sign}{together(value)}{factor}"
        if before and before in "<>=":  # a comparison takes a plain number
            return f"{-value if sign.startswith('-') else value}{factor}"
        is_named = show is not None and factor.strip() not in ("d", "D", "(") and not _ends_dice(match)
        shown = show(match["name"], abs(value)) if show is not None and is_named else str(abs(value))
        if not sign or factor:
            return f"{sign}{shown if value >= 0 else f'(-{shown})'}{factor}"
        is_plus = sign.startswith("+") == (value > 0)
        if not before or before in _OPENING:  # it stands first, where no plus can, and a minus only alone
            plain = shown if is_plus or value == 0 else f"-{shown}"
            return f"({plain})" if plain.startswith("-") and before not in ("", "(") else plain
        if value == 0:
            return ""
        return f"{'+' if is_plus else '-'} {shown}"

    return _SIGNED.sub(filled, template)


_OPENING = "+-*/\u2212×÷("  # a number behind one of these is the first of its part
_OPERATOR = re.compile(r"(?<![<>=\s])\s*[-+*/\u2212×÷]|^\s*[-\u2212]")


def together(text: str) -> str:
    """Return dice that stay together whatever stands around them."""
    return f"({text})" if _OPERATOR.search(text) else text


def _ends_dice(match: re.Match[str]) -> bool:
    """Tell whether a name stands for the sides or a modifier of dice, to which it is joined."""
    return match.start() > 0 and match.string[match.start() - 1].isalpha()
