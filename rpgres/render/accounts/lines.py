"""The account of a scene as lines for a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres.formats.accounts import Account, Chapter, TableItem, Turn
from rpgres.model.state import GM
from rpgres.render.accounts.blocks import Kind, blocks_of
from rpgres.render.lines import BULLET, HANG, INDENT, Line, Piece, line
from rpgres.render.words import who_is

# The prefix of the lines of a block.
_BEFORE: dict[Kind, tuple[str | Piece, ...]] = {
    "round": (INDENT,),
    **dict.fromkeys(("note", "does", "meaning"), (INDENT, HANG)),
    "outcome": (INDENT,),
    "effects": (INDENT * 2, BULLET),
    "log": (INDENT * 2,),
}


def account_lines(account: Account, *, is_aloud: bool = False) -> list[Line]:
    """Return the whole account as lines.

    Args:
        is_aloud: whether it is for a screen reader: the outcome of a turn before its rolls.
    """
    lines = heading_lines(account)
    for number, chapter in enumerate(account.chapters, 1):
        lines += chapter_heading(chapter.title, number, is_skipped=chapter.skipped)
        lines += chapter_lines(chapter, is_aloud=is_aloud)
    return [*lines, *end_lines(account)]


def heading_lines(account: Account) -> list[Line]:
    """Return the head of the account: title, summary, rules, participants."""
    lines = [line(Piece(account.title, "title"))]
    if account.summary:
        lines += [line(), line(HANG, account.summary)]
    lines += [line(), line(HANG, Piece(rules_words(account), "quiet"))]
    if account.people:
        lines.append(line(Piece("Taking part: ", "title"), people_words(account)))
    return lines


def rules_words(account: Account) -> str:
    """Return the rules, the seed and the seat of an account in words."""
    told = [account.ruleset]
    if account.house_rules:
        told.append(f"house rules: {account.house_rules}")
    if account.seed is not None:
        told.append(f"seed: {account.seed}")
    elif account.seat:  # a log that another program wrote need not name a seat
        told.append(f"as seen by {seat_words(account)}")
    return "; ".join(filter(None, told))


def seat_words(account: Account) -> str:
    """Return the seat of an account, in words."""
    return next((one.title for one in account.people if one.name == account.seat), who_is(account.seat))


def people_words(account: Account) -> str:
    """Return the participants in words; those of the game master are marked."""
    own = [one.title for one in account.people if one.seat != GM]
    others = [one.title for one in account.people if one.seat == GM]
    return "; ".join(filter(None, (", ".join(own), f"of the game master: {', '.join(others)}" if others else "")))


def chapter_heading(title: str, number: int, *, is_skipped: bool = False) -> list[Line]:
    """Return the heading of a step: its number and title."""
    return [line(), line(Piece(f"{number}. {title}", "title"), Piece("  (skipped)" if is_skipped else "", "quiet"))]


def chapter_lines(chapter: Chapter, *, is_aloud: bool = False) -> list[Line]:
    """Return the turns of a step, separated by empty lines."""
    lines: list[Line] = []
    for number, turn in enumerate(chapter.turns):
        lines += [*([line()] if number else []), *turn_lines(turn, is_aloud=is_aloud)]
    return lines


def turn_lines(turn: Turn, *, is_aloud: bool = False) -> list[Line]:
    """Return an action and its result; rolls and decisions last, where it is read aloud."""
    blocks = list(blocks_of(turn))
    if is_aloud and sum(kind == "outcome" for kind, _ in blocks) == 1:  # with several, each keeps its rolls beside it
        blocks.sort(key=lambda block: block[0] == "log")
    return [line(*_BEFORE[kind], *pieces) for kind, lines in blocks for pieces in lines]


def end_lines(account: Account) -> list[Line]:
    """Return the ending of the scene, and the table at the end."""
    lines: list[Line] = []
    if account.ending:
        lines += [line(), line(HANG, Piece("Ending: ", "title"), account.ending)]
    if account.table:
        lines += [line(), line(Piece("On the table", "title"))]
        for stands in account.table:
            lines += _item_lines(stands)
    return lines


def _item_lines(stands: TableItem) -> Iterator[Line]:
    if len(stands.details) == 1 or (stands.of == "tag" and stands.details):
        told = "; ".join(stands.details)
        yield line(INDENT, Piece(stands.name, "name"), f": {told}")
        return
    yield line(INDENT, Piece(stands.name, "name"))
    for detail in stands.details:
        yield line(INDENT * 2, detail)
