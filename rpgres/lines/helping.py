"""`help` in `rpgres play`: what can be typed here, and how an action is typed as a short line."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from textwrap import wrap

from msgspec.structs import replace

from rpgres.lines.fitting import Words
from rpgres.lines.seat import Seat
from rpgres.lines.usual import example_line
from rpgres.render.lines import INDENT, Line, Piece, line, plain_text
from rpgres.rulesets import Rules

ON_TABLE = ("counter", "cards", "tag")  # kinds of parameters that stand for what lies there
_CLAUSE = re.compile(r"[:;(,] ?|\. ")  # what ends the first clause of a help text


def help_lines(seat: Seat, width: int, *, without: Container[str] = ()) -> list[Line]:
    """Return what can be typed, in few lines.

    Args:
        width: columns.
        without: what cannot be typed here beside actions.
    """
    actions, commands = list(seat.actions), seat.commands()
    against = [name for name in actions if seat.data.file.actions[name].opposed_with]
    shown = [short_form(seat, action) for action in (*actions[:1], *(against[:1] or actions[1:2]))]
    told = [line(Piece("Actions", "title"), Piece(", as in ", "quiet"), *_listed(shown))]
    told += _wrapped(actions, width)
    told.append(line(Piece("The table", "title"), Piece(" (help NAME explains an action or a command)", "quiet")))
    names = {"begin": f"begin {'|'.join(seat.periods)}"}
    told += _wrapped([names.get(name, name) for name in commands if name not in without], width)
    return [*told, line(Piece("quit", "title"), " leaves; everything is kept.")]


def command_help(seat: Seat, name: str) -> list[Line]:
    """Return what an action or a command does, and how it is typed here."""
    if name in seat.actions:
        return action_help(seat, name)
    told = line(Piece(name, "name"), f": {seat.told()[name]}")
    return [told, line(Piece(f"`{name} --help` lists its options.", "quiet"))]


def action_help(seat: Seat, action: str) -> list[Line]:
    """Return what an action is and how it is typed here; what it takes, each in a line."""
    described, parameters = seat.data.file.actions[action], seat.rules.parameters(action)
    names = [*described.required, *(name for name in parameters if name not in described.required)]
    told = [line(seat.actions[action]), line("Short: ", Piece(short_form(seat, action), "name"))]
    for name in names:
        one = parameters[name]
        if one.kind in ON_TABLE:  # which the table knows
            continue
        text = _CLAUSE.split(one.help)[0] if not one.choices else "|".join(one.choices)
        needed = " (needed)" if name in described.required else ""
        told.append(line(INDENT, Piece(name, "name"), f"{needed}: {text}"))
    return [*told, line(Piece(f"`{action} --help` tells everything.", "quiet"))]


def described(rules: Rules, action: str) -> str:
    """Return what an action takes and asks, in words."""
    from rpgres.catalog.summary import describe_action
    from rpgres.render.rulesets import action_lines

    shown = replace(describe_action(rules, action), example="")  # a shell's line
    return plain_text(action_lines(shown, rules.chosen, has_rungs=bool(rules.file.ladder)))


def _listed(examples: Iterable[str]) -> list[str | Piece]:
    pieces: list[str | Piece] = []
    for example in examples:
        pieces += [", " if pieces else "", Piece(example, "name")]
    return pieces


def _wrapped(names: Iterable[str], width: int) -> list[Line]:
    # What belongs together, as `begin scene`, is not broken.
    text = "  ".join(name.replace(" ", "\N{NO-BREAK SPACE}") for name in names)
    rows = wrap(text, width - len(INDENT), break_on_hyphens=False, break_long_words=False)
    return [line(INDENT, row.replace("\N{NO-BREAK SPACE}", " ")) for row in rows]


def short_form(seat: Seat, action: str) -> str:
    """Return a short line of an action with what it cannot do without, as this table may have it."""
    return example_line(Words(seat.scope(next(iter(seat.own()), ""), seat.takes(action)), action))
