"""What a typed line does at a table where nobody sits at a terminal: typed by a model, or in a chat."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from rpgres.cli.options import given_inputs, read_answers
from rpgres.cli.play.helping import short_form
from rpgres.cli.play.room import DEEDS, ODDS, Room
from rpgres.cli.short import Reading, typed_apart
from rpgres.errors import UsageError
from rpgres.journal import commands
from rpgres.journal.commands import Done, Place
from rpgres.rulesets import unknown

ADDED = ("begin", "end", "note", "pass", "set")  # what a line may add to the journal beside actions
SPOKEN = ("actor", "given", "choose", "auto", "note")  # options that a line may have beside those of its action


class Meant(msgspec.Struct, frozen=True):
    """An action that was typed.

    Attributes:
        action: its name.
        actor: who acts; empty for the seat's only character.
        inputs: what it takes.
        spoken: the options of the line that are no inputs.
    """

    action: str
    actor: str
    inputs: dict[str, Any]
    spoken: Mapping[str, Any]


def as_lines(message: str) -> str:
    """Return what an error tells with lines in place of commands of a shell."""
    return re.sub(r"`rpgres table (\w+)", r"`\1", message)


def place_of(room: Room) -> Place:
    """Return the table's file, as commands of the journal take it."""
    return Place(room.path, tuple(room.folders))


def answers_of(given: Sequence[str], choose: Sequence[str], *, auto: bool) -> dict[str, Any]:
    """Return answers that were typed as LABEL=VALUE, as commands of the journal take them."""
    listed = {"given": read_answers(given, option="given"), "choose": read_answers(choose, option="choose")}
    return {**listed, "auto": auto}


# ---------------------------------------------------------------------------------------------------------------------
# Actions


def meant(room: Room, words: Sequence[str], *, listed: str = "`help`") -> Meant:
    """Return the action that a line means.

    Args:
        room: the seat, and what it may know.
        words: the line.
        listed: what lists and describes actions.

    Raises:
        UsageError: it means nothing here, or is unclear: nobody is asked.
    """
    if not words:
        raise UsageError(f"the line is empty; type, for example, {short_form(room, next(iter(room.actions)))!r}")
    verb, *arguments = understood(room, words)
    action, *line = arguments if verb in ("act", ODDS) else [words[0]]
    if action not in room.actions:
        raise UsageError(f"{words[0]!r} is no action; {listed} lists them")
    if "--help" in line:
        raise UsageError(f"{listed} describes {action}")
    values = _parsed(room, action, line)
    shared = {one.name: values.pop(one.name, one.off) for one in room.command(action).verb.options}
    for name, value in shared.items():
        if value not in (None, False, ()) and name not in SPOKEN:
            fixed = "; seat and table are fixed" if name in ("as", "table") else ""
            raise UsageError(f"a line takes no --{name.replace('_', '-')} here{fixed}")
    return Meant(action, str(shared.get("actor") or ""), given_inputs(values), shared)


def understood(room: Room, words: Sequence[str]) -> list[str]:
    """Return what a line stands for, as arguments of `rpgres table`."""
    return room.understood(words, _nobody).arguments


def _nobody(_text: str, _readings: Sequence[Reading]) -> None:
    """Nobody is there to be asked what a line means: it is refused, with its readings."""


def _parsed(room: Room, action: str, line: Sequence[str]) -> dict[str, Any]:
    """Return the options of a line by name.

    Raises:
        UsageError: one is unknown, or lacks its value.
    """
    command = room.command(action)
    for start, _ in typed_apart(line, command.takes)[1]:
        name = line[start].partition("=")[0]
        if name not in (*command.takes, "--"):
            inputs = [f"--{key}" for key in room.rules.parameters(action)]
            raise UsageError(unknown("option", name, inputs, of=action))
    try:
        with command.make_context(action, list(line)) as context:
            return dict(context.params)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        raise UsageError(f"{action}: {error.format_message()}") from None  # Typer's own, of an option


def acted(
    room: Room,
    action: Meant,
    *,
    given: Sequence[str] = (),
    choose: Sequence[str] = (),
    auto: bool = False,
    note: str = "",
) -> Done:
    """Do an action at the table.

    Args:
        room: the seat.
        action: what was typed.
        given, choose, auto, note: what was said beside the line.
    """
    spoken = action.spoken
    answers = answers_of(
        [*(spoken.get("given") or ()), *given],
        [*(spoken.get("choose") or ()), *choose],
        auto=auto or bool(spoken.get("auto")),
    )
    about: dict[str, Any] = {"actor": action.actor, "seat": room.seat, "note": note or spoken.get("note") or None}
    return commands.act(place_of(room), action.action, action.inputs, **about, **answers)


# ---------------------------------------------------------------------------------------------------------------------
# What is no action


def added(room: Room, words: Sequence[str], answers: Mapping[str, Any]) -> Done:
    """Do what a line says that begins with one of `ADDED`.

    Args:
        room: the seat.
        words: the line.
        answers: what is answered beside the line, as of `answers_of`.

    Raises:
        UsageError: it cannot be read, or not be done.
    """
    deed, *rest = words
    place, seat = place_of(room), room.seat
    if any(word.startswith("--") and word != "--until" for word in rest) and deed != "note":
        raise UsageError(f"`{deed}` takes no options here")
    match deed, [word for word in rest if word not in ("until", "--until") or deed != "pass"]:
        case (("begin" | "end"), ([] | [_]) as period):
            return commands.turn(place, deed, "".join(period), seat=seat, **answers)
        case "note", [text, *options] if not text.startswith("--"):
            return commands.write_note(place, text, seat=seat, to=_readers(options))
        case "pass", []:
            return commands.let_pass(place, seat=seat)
        case "pass", [label]:
            if rest[0] in ("until", "--until"):
                return commands.let_pass(place, seat=seat, until=label)
            return commands.let_pass(place, label, seat=seat)
        case "pass", [label, until]:
            return commands.let_pass(place, label, seat=seat, until=until)
        case "set", [one] if "=" in one:
            path, _, value = one.partition("=")
            return commands.set_value(place, path, value, seat=seat)
    raise UsageError(f"a line with {deed!r} reads: {DEEDS[deed].partition(': ')[2] or DEEDS[deed]}")


def _readers(options: Sequence[str]) -> list[str]:
    """Return the seats that alone may read a note; a mistyped option is refused, as the note would be for everybody."""
    seats, words = [], iter(options)
    for word in words:
        name, sign, seat = word.partition("=")
        if name != "--to":
            raise UsageError(f"a note takes --to SEAT behind its text, and no {word!r}")
        seats.append(seat if sign else next(words, ""))
    return seats
