"""Answers as lines of text to paste into a mail: an answer, a seal, and what opens the seal.

`rpgres-answer: bram 3f9c2a71b0d4 declare=dodge/agi=1 MAC .9f3c21` is the seat, the first digits of the entry that is
answered, the answers (dice with a plus in front), the message authentication code, and a checksum. No word has a space
or means anything to a shell; what would is written as in a web address. So a line may be wrapped, within a word, too,
quoted with `>`, or stand among other text; a mail may be as a mail program saved it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import product
from urllib.parse import quote, unquote

import msgspec

from rpgres.errors import UsageError, called
from rpgres.journal.commitments import SealFile, read_hex
from rpgres.journal.forms import AnswerFile

DIGITS = 12  # of the entry's hash
CHECK = 6  # digits of the checksum
PLAIN = "/=,.:-_@"  # what stands for itself in every shell, beside letters and digits
DICE = "+"  # before results of real dice

MOST_BREAKS = 10  # of a line that are tried as breaks within a word

_BEGIN = re.compile(r"rpgres-(answer|seal|open):")
_END = re.compile(rf"(.*?) (\.[0-9a-f]{{{CHECK}}})(?= |$)")
_IN_PARTS = re.compile(r"^content-type:", re.IGNORECASE | re.MULTILINE)
_IN_HEAD = re.compile(r"(?!rpgres-)[!-9;-~]+:|[ \t]|From ")
_BEGIN_OF_MAIL = {"from", "mime-version"}  # a part of a mail, and a mail that is cited, have one of them at most


class SealLine(msgspec.Struct, frozen=True):
    """A commitment that a seat made elsewhere.

    Attributes:
        seat: whose it is.
        entry: the first digits of the entry that it is an answer to.
        commitment: sha256(salt + LABEL=ANSWER), as hexadecimal digits.
        mac: its message authentication code, as that of an answer.
    """

    seat: str
    entry: str
    commitment: str
    mac: str = ""


class OpenLine(msgspec.Struct, frozen=True):
    """What opens a seal that was made on another computer.

    Attributes:
        seat: whose it is.
        label, answer, salt: what was sealed.
    """

    seat: str
    label: str
    answer: str
    salt: str


Posted = AnswerFile | SealLine | OpenLine


def answer_line(answer: AnswerFile) -> str:
    """Return an answer as a line."""
    choose = [f"{_word(label)}={_word(one)}" for label, one in _pairs(answer.choose)]
    given = [f"{DICE}{_word(label)}={_word(one, also=DICE)}" for label, one in _pairs(answer.given)]
    return _line("answer", answer.seat, answer.entry[:DIGITS] or "-", *choose, *given, *filter(None, [answer.mac]))


def seal_line(seal: SealLine) -> str:
    """Return the commitment of what a seat sealed as a line."""
    return _line("seal", seal.seat, seal.entry[:DIGITS] or "-", seal.commitment, *filter(None, [seal.mac]))


def open_line(seal: SealFile) -> str:
    """Return what opens a seal as a line."""
    return _line("open", seal.seat, f"{_word(seal.label)}={_word(seal.answer)}", seal.salt)


def has_line(text: str) -> bool:
    """Tell whether there is such a line in a text."""
    return _BEGIN.search(text) is not None


def posted_in(text: str) -> list[Posted]:
    """Return what the lines in a text say, in order.

    Raises:
        UsageError: there is none, or one of them was cut off or changed on its way.
    """
    text = re.sub(r"(?m)^[>|\s]+", "", _decoded(text))
    begins = list(_BEGIN.finditer(text))
    if not begins:
        raise UsageError("no line of an answer is here; one begins with rpgres-answer:, rpgres-seal: or rpgres-open:")
    ends = [*(found.start() for found in begins[1:]), len(text)]
    return [_read(found[1], text[found.end() : end]) for found, end in zip(begins, ends, strict=True)]


def typed_in(answers: Mapping[str, str | list[str]]) -> dict[str, list[str]]:
    """Return answers by label, as a list also where there is only one."""
    return {label: [value] if isinstance(value, str) else value for label, value in answers.items()}


def _pairs(answers: Mapping[str, str | list[str]]) -> Iterator[tuple[str, str]]:
    return ((label, value) for label, values in typed_in(answers).items() for value in values)


def _word(text: str, *, also: str = "") -> str:
    return quote(text, safe=PLAIN + also)


def _line(kind: str, seat: str, *words: str) -> str:
    said = " ".join((f"rpgres-{kind}:", _word(seat), *words))
    return f"{said} .{_checksum(said)}"


def _checksum(said: str) -> str:
    return sha256(said.encode()).hexdigest()[:CHECK]


def _decoded(text: str) -> str:
    """Return a text in which mails, as a mail program saves them, are replaced by what they say as plain text."""
    if _IN_PARTS.search(text) is None:
        return text
    from email import message_from_string
    from email.policy import default

    said: list[str] = []
    for one in _mails(text):
        mail = message_from_string(one, policy=default)
        parts = [part for part in mail.walk() if part.get_content_maintype() == "text"]
        plain = [part.get_content() for part in parts if part.get_content_type() == "text/plain"]
        said += plain or [_words_of_page(part.get_content()) for part in parts]
    return "\n".join(said)


def _mails(text: str) -> Iterator[str]:
    """Yield the mails of a text, one saved behind the other: each begins with a head that has a sender."""
    lines = text.splitlines()
    begin = head = 0
    for at, line in enumerate([*lines, ""]):
        if line.strip():
            head = head if _IN_HEAD.match(line) else at + 1
            continue
        if head > begin and {one.partition(":")[0].lower() for one in lines[head:at]} >= _BEGIN_OF_MAIL:
            yield "\n".join(lines[begin:head])
            begin = head
        head = at + 1
    yield "\n".join(lines[begin:])


def _words_of_page(page: str) -> str:
    from html import unescape

    return unescape(re.sub(r"<[^>]*>", "", re.sub(r"(?i)<(?:br|/?p|/?div|/tr|/li)\b[^>]*>", "\n", page)))


def _said(kind: str, text: str) -> str | None:
    """Return the words of a line, up to its checksum; None where no reading of its line breaks has this checksum."""
    for said in _readings(text):
        found = _END.match(f"rpgres-{kind}: {said}")
        if found is not None and found[2] == f".{_checksum(found[1])}":
            return found[1]
    return None


def _readings(text: str) -> Iterator[str]:
    """Yield a text as one line: each line break is a space, or else any of the first ones is nothing."""
    first, *parts = [" ".join(part.split()) for part in text.splitlines() if part.strip()] or [""]
    yield " ".join((first, *parts))
    for breaks in product((" ", ""), repeat=min(len(parts), MOST_BREAKS)):
        yield first + "".join(map("".join, zip(breaks, parts, strict=False)))


def _read(kind: str, text: str) -> Posted:
    said = _said(kind, text)
    if said is None:
        shown = f"the line rpgres-{kind}: {' '.join(text.split()[:2])} ..."
        if not any(re.fullmatch(rf"\.[0-9a-f]{{{CHECK}}}", word) for word in text.split()):
            raise UsageError(f"{shown} is cut off: it ends with a dot and {CHECK} digits; copy all of it")
        why = "its checksum does not fit; copy it again, or ask for a file"
        raise UsageError(f"{shown} was changed on its way: {why}")
    _, seat, *rest = said.split()
    seat = unquote(seat)
    if kind == "seal" and len(rest) in (2, 3):
        return SealLine(seat, rest[0].strip("-"), read_hex(rest[1], what="a commitment"), *rest[2:])
    if kind == "open" and len(rest) == 2:
        label, _, answer = rest[0].partition("=")
        return OpenLine(seat, unquote(label), unquote(answer), read_hex(rest[1], what="a salt"))
    if kind == "answer" and len(rest) > 1:
        return _answer(seat, rest[0].strip("-"), rest[1:])
    raise UsageError(f"the line {said} says nothing: make it with `{called('table answer', view='FILE')}`")


def _answer(seat: str, entry: str, words: list[str]) -> AnswerFile:
    choose: dict[str, list[str]] = {}
    given: dict[str, list[str]] = {}
    mac = words.pop() if "=" not in words[-1] else ""
    for word in words:
        label, _, value = word.removeprefix(DICE).partition("=")
        (given if word.startswith(DICE) else choose).setdefault(unquote(label), []).append(unquote(value))
    return AnswerFile(seat=seat, entry=entry, choose=dict(choose), given=dict(given), mac=mac)
