"""The account of a scene as lines for a terminal or a pipe. Values to text; nothing prints."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rpgres.cli.formats.accounts import (
    Account,
    Came,
    Change,
    Chapter,
    Chosen,
    Dealt,
    LineRecord,
    Meaning,
    Note,
    Remark,
    Rolled,
    Stands,
    Told,
    Turn,
)
from rpgres.cli.render.lines import HANG, INDENT, Line, Piece, line
from rpgres.cli.render.words import signed, style_of, who_is
from rpgres.model.state import GM


def account_lines(account: Account) -> list[Line]:
    """Return the whole account as lines.

    Args:
        account: what is told.
    """
    lines = heading_lines(account)
    for number, chapter in enumerate(account.chapters, 1):
        lines += chapter_heading(chapter.title, number, is_skipped=chapter.skipped)
        lines += chapter_lines(chapter)
    return [*lines, *end_lines(account)]


def heading_lines(account: Account) -> list[Line]:
    """Return what stands above the account: title, what it is about, rules, who takes part."""
    lines = [line(Piece(account.title, "title"))]
    if account.summary:
        lines += [line(), line(HANG, account.summary)]
    lines += [line(), line(HANG, Piece(rules_words(account), "quiet"))]
    if account.people:
        lines.append(line(Piece("Taking part: ", "title"), people_words(account)))
    return lines


def rules_words(account: Account) -> str:
    """Return by what rules, from what seed and for whom an account is told, in words."""
    told = [account.ruleset]
    if account.house_rules:
        told.append(f"house rules: {account.house_rules}")
    if account.seed is not None:
        told.append(f"seed: {account.seed}")
    else:
        told.append(f"as seen by {seat_words(account)}")
    return "; ".join(filter(None, told))


def seat_words(account: Account) -> str:
    """Return the seat that an account is told for, in words."""
    return next((one.title for one in account.people if one.name == account.seat), who_is(account.seat))


def people_words(account: Account) -> str:
    """Return who takes part, in words; those whom the game master plays are marked."""
    own = [one.title for one in account.people if one.seat != GM]
    others = [one.title for one in account.people if one.seat == GM]
    return "; ".join(filter(None, (", ".join(own), f"of the game master: {', '.join(others)}" if others else "")))


def chapter_heading(title: str, number: int, *, is_skipped: bool = False) -> list[Line]:
    """Return what stands above a step: its number and title."""
    return [line(), line(Piece(f"{number}. {title}", "title"), Piece("  (skipped)" if is_skipped else "", "quiet"))]


def chapter_lines(chapter: Chapter) -> list[Line]:
    """Return what happens in a step, to stand below its title: its turns, an empty line between them."""
    lines: list[Line] = []
    for number, turn in enumerate(chapter.turns):
        lines += [*([line()] if number else []), *turn_lines(turn)]
    return lines


def turn_lines(turn: Turn) -> list[Line]:
    """Return what somebody does and what comes of it."""
    lines: list[Line] = []
    if turn.round is not None:
        lines.append(line(INDENT, Piece(round_words(turn), "title")))
    notes = [one for one in turn.lines if isinstance(one, Note)]
    lines += [line(INDENT, HANG, note.text) for note in notes]
    if turn.does:
        lines.append(line(INDENT, HANG, Piece(turn.sentence, "title")))
    for kind, group in groupby((one for one in turn.lines if not isinstance(one, Note)), type):
        if kind is Meaning:
            told = " ".join(one.text for one in group if isinstance(one, Meaning))
            lines.append(line(INDENT, HANG, told))
            continue
        lines += [line(_indent(one), *_pieces(one)) for one in group]
    return lines


def round_words(turn: Turn) -> str:
    """Return the number of an exchange or a round, in words."""
    return f"{turn.counted or 'Round'} {turn.round}"


def _indent(one: LineRecord) -> str:
    return INDENT if isinstance(one, Came) else INDENT * 2


def _pieces(one: LineRecord) -> list[str | Piece]:
    match one:
        case Rolled():
            dice = Piece(one.faces.replace(" ; ", ";"), "dice") if one.faces else Piece("no dice")
            words = f" ({one.words})" if one.words else ""
            return [f"{whose(one)}: ", dice, " = ", Piece(one.value, "number"), words]
        case Dealt():
            return [f"{whose(one)}: ", Piece(one.cards, "cards")]
        case Chosen():
            return [f"{decided_words(one)}: ", Piece(one.answer, "name")]
        case Came():
            told = compared_words(one)
            return [Piece(one.outcome, style_of(one.success, one.margin)), f": {told}" if told else ""]
        case Change():
            return ["* ", one.text]
        case Remark():
            return [Piece(one.text, "quiet")]
        case Told() | Meaning() | Note():
            return [one.text]


def whose(one: Rolled | Dealt) -> str:
    """Return what a roll or cards are called, and whose they are."""
    return f"{one.label} ({one.who})" if one.who else one.label


def decided_words(one: Chosen) -> str:
    """Return what was decided, by whom and how: `Price of Edda (Mara Quill, by policy)`."""
    of = f" of {one.of}" if one.of else ""
    return f"{one.label}{of} ({', '.join(filter(None, (one.who, one.how)))})"


def compared_words(came: Came) -> str:
    """Return the numbers behind an outcome, in words."""
    against = f" against {came.against}" if came.against else ""
    margin = f", margin {signed(came.margin)}" if came.margin is not None else ""
    return f"{came.total}{against}{margin}"


def end_lines(account: Account) -> list[Line]:
    """Return how the scene ended, and what stands on the table."""
    lines: list[Line] = []
    if account.ending:
        lines += [line(), line(HANG, Piece("Ending: ", "title"), account.ending)]
    if account.table:
        lines += [line(), line(Piece("On the table", "title"))]
        for stands in account.table:
            lines += _stands_lines(stands)
    return lines


def _stands_lines(stands: Stands) -> Iterator[Line]:
    if len(stands.details) == 1 or (stands.of == "tag" and stands.details):
        told = "; ".join(stands.details)
        yield line(INDENT, Piece(stands.name, "name"), f": {told}")
        return
    yield line(INDENT, Piece(stands.name, "name"))
    for detail in stands.details:
        yield line(INDENT * 2, detail)
