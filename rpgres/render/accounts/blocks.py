"""The events of a turn of an account as blocks of styled pieces, for terminals, Markdown and web pages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Literal

from rpgres.formats.accounts import Change, Chosen, Dealt, LineRecord, Meaning, Note, Outcome, Remark, Rolled, Turn
from rpgres.render.lines import Line, Piece, line
from rpgres.render.words import signed, style_of

Kind = Literal["round", "note", "does", "outcome", "meaning", "effects", "log"]
_KINDS: dict[type, Kind] = {Outcome: "outcome", Meaning: "meaning", Change: "effects"}  # all else is of the log


def blocks_of(turn: Turn) -> Iterator[tuple[Kind, list[Line]]]:
    """Yield the blocks of an action and its result: lines that stand together, and their kind.

    The notes come first, then who does what; what an outcome means is one line.
    """
    if turn.round is not None:
        yield "round", [line(Piece(f"{turn.counted or 'Round'} {turn.round}", "title"))]
    notes = [one for one in turn.lines if isinstance(one, Note)]
    if notes:
        yield "note", [line(note.text) for note in notes]
    if turn.does:
        yield "does", [line(Piece(turn.sentence, "title"))]
    for kind, group in groupby(
        (one for one in turn.lines if not isinstance(one, Note)), lambda one: _KINDS.get(type(one), "log")
    ):
        lines = [line(*_pieces(one)) for one in group]
        if kind == "meaning":
            lines = [line(" ".join(piece.text for told in lines for piece in told))]
        yield kind, lines


def _pieces(one: LineRecord) -> list[str | Piece]:
    match one:
        case Rolled():
            dice = Piece(one.faces.replace(" ; ", ";"), "dice") if one.faces else Piece("no dice")
            words = f" ({one.words})" if one.words else ""
            return [f"{whose(one)}: ", dice, " = ", Piece(one.value, "number"), words]
        case Dealt():
            return [f"{whose(one)}: ", Piece(one.cards, "cards")]
        case Chosen():
            of = f" of {one.of}" if one.of else ""
            by = ", ".join(filter(None, (one.who, one.how)))
            return [f"{one.label}{of} ({by}): ", Piece(one.answer, "name")]
        case Outcome():
            told = compared_words(one)
            return [Piece(one.outcome, style_of(one.success, one.margin)), f": {told}" if told else ""]
        case Remark():
            return [Piece(one.text, "quiet")]
    return [one.text]


def whose(one: Rolled | Dealt) -> str:
    """Return the name of a roll or draw, and its owner."""
    return f"{one.label} ({one.who})" if one.who else one.label


def compared_words(came: Outcome) -> str:
    """Return the numbers behind an outcome, in words."""
    against = f" against {came.against}" if came.against else ""
    margin = f", margin {signed(came.margin)}" if came.margin is not None else ""
    return f"{came.total}{against}{margin}"
