"""A typed line as words, and words as a line, at `rpgres play`, in settings and in answers. O'Brien is one word."""

from __future__ import annotations

from collections.abc import Sequence

from rpgres.errors import UsageError
from rpgres.text.harmless import harmless

QUOTES = "\"'"


def split(line: str) -> list[str]:
    """Return the words of a line; what stands in quotation marks is one word, or a part of one.

    A single quotation mark counts at the beginning of a word or behind `=`, where another one ends the word; any other
    is an apostrophe. Two double ones within double ones are one.

    >>> split(r'''name "On Fire" C:\\sheets\\o'brien.toml roll='+ 0' the 'old' one's''')
    ['name', 'On Fire', "C:\\\\sheets\\\\o'brien.toml", 'roll=+ 0', 'the', 'old', "one's"]

    Raises:
        UsageError: a quotation mark is not closed.
    """
    words: list[str] = []
    word: str | None = None
    place = 0
    while place < len(line):
        char = line[place]
        if char in QUOTES and _opens(line, place):
            end = _end(line, place)
            if end < 0:
                raise UsageError(f"missing closing quote: {harmless(line)}")
            inner = line[place + 1 : end]
            word, place = (word or "") + (inner.replace('""', '"') if char == '"' else inner), end
        elif char.isspace():
            words += [word] if word is not None else []
            word = None
        else:
            word = (word or "") + char
        place += 1
    return [*words, word] if word is not None else words


def words_of(line: str) -> list[str]:
    """Return the words of a line at a table; the text of a note is one, up to its options.

    >>> words_of('note They say "wait", and leave.')
    ['note', 'They say "wait", and leave.']
    >>> words_of('note I am the spy --to gm')
    ['note', 'I am the spy', '--to', 'gm']

    Raises:
        UsageError: a quotation mark is not closed.
    """
    first, _, text = line.strip().partition(" ")
    text = text.strip()
    if first != "note" or not text:
        return split(line)
    if "--" not in text and text[0] not in QUOTES:
        return ["note", text]
    words = split(text)
    start = next((place for place, word in enumerate(words) if word[:2] == "--" != word), None)
    if start is None:
        return ["note", words[0] if len(words) == 1 else text]
    return ["note", *([" ".join(words[:start])] if start else []), *words[start:]]


def _opens(line: str, place: int) -> bool:
    begins = place == 0 or line[place - 1].isspace() or line[place - 1] in "=:,"
    return line[place] == '"' or (begins and _end(line, place) > 0)


def _end(line: str, place: int) -> int:
    """Return where the quotation mark at a place is closed, -1 if nowhere.

    A double one is not closed by two of them, a single one only at the end of a word.
    """
    mark, end = line[place], line.find(line[place], place + 1)
    while 0 <= end < len(line) - 1:
        following = line[end + 1]
        if mark == '"' and following == mark:
            end += 1
        elif mark == '"' or following.isspace() or following in ",:=":
            break
        end = line.find(mark, end + 1)
    return end


def joined(words: Sequence[str]) -> str:
    """Return words as a line that has them when it is split again."""
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    if word and not any(char.isspace() or char in QUOTES for char in word):
        return word
    name, sign, value = word.partition("=")
    if sign and name.startswith("--") and name[2:].replace("-", "").isalnum():
        return f"{name}={_quoted(value)}"
    inner = word.replace('"', '""')
    return f'"{inner}"'
