"""A text in dice notation and how far it has been read: characters, numbers, words, signs, and what is refused."""

from __future__ import annotations

import re
from typing import NoReturn

from rpgres.dice import hints
from rpgres.dice.grammar import DIGITS, MOST_DICE, MOST_NUMBER, MOST_TEXT, Comparison, Node
from rpgres.errors import NotationError

LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_READ_AS = {"\u2212": "-", "\u00d7": "*", "\u00f7": "/"}


class Scanner:
    """The text and how far it has been read.

    Args:
        text: the text.

    Raises:
        NotationError: it is too long.
    """

    def __init__(self, text: str) -> None:
        if len(text) > MOST_TEXT:
            message = f"this expression has {len(text)} characters, more than {MOST_TEXT}"
            raise NotationError(message, text, MOST_TEXT, len(text) - MOST_TEXT, limit="MOST_TEXT")
        if not text.isascii():
            place, message = hints.foreign(text)
            if message:
                raise NotationError(message, text, place, 1)
        self.text = text
        self.at = 0
        self.nesting = 0
        self.divisions = 0
        self.dice = 0
        self.is_named = False
        self.may_have_none = False  # whether pools may have no dice

    def next(self) -> str:
        """Return the next character that is not a space, in lower case; nothing at the end."""
        text = self.text
        while self.at < len(text) and text[self.at].isspace():
            self.at += 1
        char = text[self.at : self.at + 1].lower()
        return _READ_AS.get(char, char)

    def take(self, *chars: str) -> str:
        """Read the next character if it is one of `chars`, and return it; otherwise return nothing."""
        char = self.next()
        if char not in chars:
            return ""
        self.at += 1
        return char

    def fail(self, message: str, position: int, *, end: int = 0) -> NoReturn:
        raise NotationError(message, self.text, position, end - position)

    def limit(self, name: str, message: str, position: int) -> NoReturn:
        raise NotationError(message, self.text, position, self.at - position, limit=name)

    def match(self, pattern: str) -> re.Match[str] | None:
        """Read what a pattern fits next, or nothing."""
        found = self.peek(pattern)
        if found:
            self.at = found.end()
        return found

    def peek(self, pattern: str) -> re.Match[str] | None:
        """Return what a pattern fits next, without reading it."""
        self.next()
        return re.compile(pattern, re.ASCII | re.IGNORECASE).match(self.text, self.at)  # plain dice need none

    def word(self) -> str:
        """Return the next word without reading it, in lower case; nothing where none is next."""
        self.next()
        end = self.at
        while self.text[end : end + 1] in LETTERS:
            end += 1
        return "" if self.text[end : end + 1] in DIGITS else self.text[self.at : end].lower()

    def refuse_next(self, *, after: Node | None) -> NoReturn:
        """Refuse what is next: where an operand must stand, or, with `after`, where an operator must."""
        char = self.next()
        message, length = hints.refusal(self.text, self.at, char, after)
        self.fail(message, self.at, end=self.at + length)

    def number(self) -> int:
        """Read a number whose first digit is next."""
        self.next()
        start = self.at
        while self.text[self.at : self.at + 1] in DIGITS:
            self.at += 1
        digits = self.text[start : self.at]
        if len(digits) > 100 or int(digits) > MOST_NUMBER:
            self.limit("MOST_NUMBER", f"this number is greater than {MOST_NUMBER}", start)
        return int(digits)

    def count_dice(self, count: int, start: int) -> None:
        self.dice += count
        if self.dice > MOST_DICE:
            self.limit("MOST_DICE", f"more than {MOST_DICE} dice in one expression", start)

    def sign(self) -> str:
        """Read the sign of a comparison."""
        sign = self.text[self.at : self.at + 2]
        if sign not in (">=", "<="):
            sign = sign[0]
        self.at += len(sign)
        return sign

    def comparison(self) -> Comparison:
        sign = self.sign()
        minus = self.take("-")
        if self.next() not in DIGITS:
            self.fail(f"after {sign} a whole number is expected; the signs are >= <= = > <", self.at)
        number = self.number()
        return Comparison(sign, -number if minus else number)
