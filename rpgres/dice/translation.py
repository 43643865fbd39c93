"""Dice as other tools and plain English write them, put into the notation that is read here. Only for messages."""

from __future__ import annotations

import re
from collections.abc import Callable

from rpgres.dice import hints, parsing
from rpgres.errors import NotationError

_DICE = r"(?<![\w.])(?P<n>\d*)\s*d\s*(?P<sides>\d+|%|f)"
_POOL = rf"{_DICE}(?![a-z\d])"
_ENDS = {"kh": "highest|best|largest|top|max|maximum", "kl": "lowest|worst|least|smallest|min|minimum"}
_NUMBERS = dict(zip(("a", "an", "one", "two", "three", "four", "five", "six"), (1, 1, 1, 2, 3, 4, 5, 6), strict=True))
_COMMAND = r"[/!.]*(?:rolls?|r|throw|output|sum)\s+(?:me\s+)?|[/\\!#$='\"`\s]+(?=\d*d[\d%f])"
_WORDS = "|".join((*hints.WORDS, *hints.KNOWN))  # which are no names of parts
_MOST_BOUNDED = 4  # dice with a lowest or highest value that are written out one by one


def _bounded(found: re.Match[str]) -> str:
    """Return dice none of which counts for less, or for more, than a number: each is one of two values."""
    count, keep = int(found["n"] or 1), "kh1" if found["what"].lower().startswith("mi") else "kl1"
    one = f"(d{found['sides']},{found['limit']}){keep}"
    return "+".join([one] * count) if 0 < count <= _MOST_BOUNDED else found[0]


def _kept(end: str) -> tuple[str, Callable[[re.Match[str]], str]]:
    """Return how words before dice say which of them are kept, and what stands for that here."""
    return (
        rf"\[?(?:the\s+)?(?:{_ENDS[end]})\s+(?:(?P<kept>\d+)\s+)?(?:die\s+)?(?:(?:of|from)\s+)?{_POOL}\]?",
        lambda found: f"{found['n']}d{found['sides']}{end}{found['kept'] or 1}",
    )


def _best(end: str) -> tuple[str, str]:
    """Return how words before two values say which of these is kept, and what stands for that here."""
    return rf"\b(?:the\s+)?(?:{_ENDS[end]})\s+(?:of\s+)?(\S*d\S+)\s+(?:and|or)\s+(\S*d\S+)", rf"(\1,\2){end}1"


# In the order in which they are applied, each to what the ones before it made of the text.
_RULES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (rf"^\s*(?:{_COMMAND})", ""),
    (r"^\s*\[\[(.*)\]\]", r"\1"),
    (r"[\s.?:;,'\"`]+$", ""),
    (rf"^(?:{'|'.join(_NUMBERS)})\s+(?=d[\d%f])", lambda found: str(_NUMBERS[found[0].split()[0].lower()])),
    (r"(\d+)\s*d?\s*(?:fate|fudge)(?![a-z])(?:\s+dice)?", r"\1dF"),
    _best("kh"),
    _best("kl"),
    _kept("kh"),
    _kept("kl"),
    (r"\bcount\s+(\d+)\s+in\s+(\d+d\d+)", r"\2=\1"),
    (r"\bmax(?=\()(\([^()]*\))", r"\1kh1"),
    (r"\bmin(?=\()(\([^()]*\))", r"\1kl1"),
    (r"\b(?:floor|int)(?=\()", ""),
    (rf"{_DICE}\s*(?P<what>mi|min|ma|max)\s*(?P<limit>\d+)", _bounded),
    (r"(?<=\d)\s*x(o?)(?=\s*(?:$|[<>=+)]))", r"!\1"),
    (rf"{_DICE}\s*(?:e|x!|ex|x(?P<once>o))\s*(?P=sides)(?!\d)", r"\g<n>d\g<sides>!\g<once>"),
    (r"(?<=\d)\s*(?:e|x!|ex|x(o))\s*(\d+)", r"!\1=\2"),
    (r"(?<![\d])((?!1d)\d+d\d+)\s*cs\s*([<>=]+\s*\d+)", r"\1\2"),
    (r"(?<![\d])((?!1d)\d+d\d+)\s*cs\s*(\d+)", r"\1=\2"),
    (r"(?<=\d)\s*[ts](\d+)$", r">=\1"),
    (r"^\s*(\d+)\s*(?:[x#]|times\s|\s)\s*(?=.*d[\d%f])([\dd({].*)$", r"\2 \1 times"),
    (r",?\s*\b(?:take|keep|choose)\s+(?:the\s+)?(highest|lowest|best|worst)", r" keep \1"),
    (r"\bkeep best", "keep highest"),
    (r"\bkeep worst", "keep lowest"),
    (r"\s*,\s*(?=drop\b)", " "),
    (r"\bdrop\s+(?=\d+$)", "drop lowest "),
    (r"((?:drop|keep)\s+(?:the\s+)?(?:\d+\s+)?(?:lowest|highest)(?:\s+\d+)?)\s+(?:die|dice|ones?)\b", r"\1"),
    (r"\bwith\s+(?=adv|dis)", ""),
    (r"\brerolls?(?:ing)?\s+(?:all\s+)?(\d+)'?s?\b", r"r\1"),
    (r"\b(?:vs?|against|versus)\.?\s+(?:dc|ac|tn|dv)?\s*(?=\d)", "vs "),
    (r"(?<=[\d)])\s+(?:dc|ac|tn|dv)\s*(?=\d)", " vs "),
    (r"\s+(?:under|below)\s+(?=\d+$)", " vs <="),
    (r"\s+plus\s+", " + "),
    (r"\s+minus\s+", " - "),
    (r"([-+]\s*\d+)\s*(>=|<=|>|<)\s*(\d+)$", r"\1 vs \2\3"),
    (r"\s*\(([a-z][a-z ]*)\)$", r" # \1"),
    (rf"((?:(?<=^)|(?<=[-+(\s]))\d*d[\d%f]+)\s+(?!(?:{_WORDS})\b)([a-z]+)(?=\s*(?:$|[-+]))", r"\1[\2]"),
    (r"(?<=[\df%)])\s+((?:to|for|on|as|of)\s+[a-z ]+)$", r" # \1"),
)


def translated(text: str) -> str:
    """Return the notation that a text may mean which cannot be read; empty where that is not known."""
    found = text
    for pattern, there in _RULES:
        before, found = found, re.sub(pattern, there, found, flags=re.IGNORECASE | re.ASCII)
        if found != before:
            found = " ".join(found.split())
            try:
                parsing.parse_line(found)
            except NotationError:
                continue  # more of it may be written otherwise
            return found
    return ""


def is_command(text: str) -> bool:
    """Return whether a text begins as a command of another tool, with dice behind it: `/r 4d6kh3`."""
    return re.match(_COMMAND, text.strip(), re.IGNORECASE | re.ASCII) is not None and describes_dice(text)


def describes_dice(text: str) -> bool:
    """Return whether a text that does not begin with dice speaks of them: `highest of 3d6`, `/r 4d6kh3`."""
    if not re.search(r"(?<![a-z0-9])\d*d(?:\d|%|f(?![a-z]))", text, re.IGNORECASE | re.ASCII):
        return False
    ends = "|".join(_ENDS.values())
    begins = rf"\s*(?:{_COMMAND}|\W|(?:the|count|floor|{ends}|{'|'.join(_NUMBERS)})(?![\w-])|\w*\()"
    return re.match(begins, text, re.IGNORECASE | re.ASCII) is not None
