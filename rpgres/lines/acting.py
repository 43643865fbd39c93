"""A typed line carried out where no person can be asked: for a language model, or a bot in a chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from rpgres.errors import Command, UsageError, Wording, as_command_line, as_key, as_option, named, words_of
from rpgres.journal import commands
from rpgres.journal.commands import Done
from rpgres.lines.fitting import typed_apart
from rpgres.lines.helping import short_form
from rpgres.lines.options import ACT_OPTIONS, answers_of, given_inputs
from rpgres.lines.seat import ODDS, Seat
from rpgres.rulesets import unknown

ADDED = ("begin", "end", "note", "pass", "set")  # what a line may add to the journal beside actions
# Options that a line may have beside those of its action, by what is done with that.
LINE_OPTIONS = {"act": ("actor", "given", "choose", "auto", "note"), ODDS: ("actor", "choose", "auto")}


class TypedAction(msgspec.Struct, frozen=True):
    """An action that was typed.

    Attributes:
        actor: who acts; empty for the seat's only character.
        options: the options of the line that are no inputs.
    """

    action: str
    actor: str
    inputs: dict[str, Any]
    options: Mapping[str, Any]


def as_line(command: Command) -> str:
    """Return a command as the line that does it at a table; where none does, as one of a shell."""
    group, *words = words_of(command)
    if group == "table" and command.name != "table new":
        return " ".join(words)
    return " ".join([group, *words]) if group in ("roll", "help") else as_command_line(command)


AS_LINES = Wording(as_key, as_line)  # of those who type options as keys of a call
AT_PLAY = Wording(as_option, as_line)


# ---------------------------------------------------------------------------------------------------------------------
# Actions


def typed_action(seat: Seat, words: Sequence[str], *, listed: str = "`help`") -> TypedAction:
    """Return the action that a line names.

    Raises:
        UsageError: it is unknown here, or unclear.
    """
    if not words:
        raise UsageError(f"the line is empty; type, for example, {short_form(seat, next(iter(seat.actions)))!r}")
    verb, *arguments = as_arguments(seat, words)
    action, *line = arguments if verb in ("act", ODDS) else [words[0]]
    if action not in seat.actions:
        raise UsageError(f"{words[0]!r} is no action; {listed} lists them")
    if "--help" in line:
        raise UsageError(f"{listed} describes {action}")
    values = _parsed(seat, action, line)
    shared = {one.name: values.pop(one.name, one.off) for one in ACT_OPTIONS}
    for name, value in shared.items():
        if value not in (None, False, ()) and name not in LINE_OPTIONS.get(verb, ()):
            fixed = "; seat and table are fixed" if name in ("as", "table") else ""
            raise UsageError(f"a line takes no --{name.replace('_', '-')} here{fixed}")
    return TypedAction(action, str(shared.get("actor") or ""), given_inputs(values), shared)


def as_arguments(seat: Seat, words: Sequence[str]) -> list[str]:
    """Return what a line stands for, as arguments of `rpgres table`."""
    # None of the readings of an unclear line is chosen, so it is refused with all of them.
    return seat.understood(words, lambda _text, _readings: None).arguments


def _parsed(seat: Seat, action: str, line: Sequence[str]) -> dict[str, Any]:
    parameters, takes = seat.rules.parameters(action), seat.takes(action)
    meant = {one: (shared.name, shared.many) for shared in ACT_OPTIONS for one in shared.names}
    for key, one in parameters.items():
        meant |= {f"--{name}": (key.replace("-", "_"), one.is_repeated) for name in (key, *one.aliases)}
    bare, spans = typed_apart(line, takes)
    for name in (line[start].partition("=")[0] for start, _ in spans):
        if name not in meant:
            raise UsageError(unknown("option", name, [f"--{key}" for key in parameters], of=action))
    if bare:
        raise UsageError(f"{action}: unexpected: {' '.join(bare.values())}")
    values: dict[str, Any] = {}
    for start, end in spans:
        typed, sign, value = line[start].partition("=")
        name, is_many = meant[typed]
        is_valued = bool(sign) or end - start == 2
        if is_valued != takes[typed]:
            raise UsageError(f"{action}: {typed} {'needs a value' if takes[typed] else 'takes no value'}")
        if not is_valued:
            values[name] = True
            continue
        if name in values and not is_many:
            raise UsageError(f"{typed} is given twice, and takes one value", option=typed)
        value = value if sign else line[start + 1]
        values[name] = [*values.get(name, ()), value] if is_many else value
    return values


def resolve(
    seat: Seat,
    action: TypedAction,
    *,
    given: Sequence[str] = (),
    choose: Sequence[str] = (),
    auto: bool = False,
    note: str = "",
) -> Done:
    """Do an action at the table.

    Args:
        given, choose, auto, note: answers and a note beside the line.
    """
    options = action.options
    answers = answers_of(
        [*(options.get("given") or ()), *given],
        [*(options.get("choose") or ()), *choose],
        auto=auto or bool(options.get("auto")),
    )
    about: dict[str, Any] = {"actor": action.actor, "seat": seat.name, "note": note or options.get("note") or None}
    return commands.act(seat.place, action.action, action.inputs, **about, **answers)


# ---------------------------------------------------------------------------------------------------------------------
# Other lines


def add_entry(seat: Seat, words: Sequence[str], answers: Mapping[str, Any]) -> Done:
    """Add the entry of a line that begins with one of `ADDED`.

    Args:
        answers: what is answered beside the line, as of `answers_of`.

    Raises:
        UsageError: it cannot be read, or is not possible now.
    """
    command, *rest = words
    place, name = seat.place, seat.name
    if any(word.startswith("--") and word != "--until" for word in rest) and command != "note":
        raise UsageError(f"`{command}` takes no options here")
    match command, [word for word in rest if word not in ("until", "--until") or command != "pass"]:
        case (("begin" | "end"), ([] | [_]) as period):
            return commands.turn(place, command, "".join(period), seat=name, **answers)
        case "note", [text, *options] if not text.startswith("--"):
            return commands.write_note(place, text, seat=name, to=_readers(options))
        case "pass", []:
            return commands.let_pass(place, seat=name)
        case "pass", [label]:
            if rest[0] in ("until", "--until"):
                return commands.let_pass(place, seat=name, until=label)
            return commands.let_pass(place, label, seat=name)
        case "pass", [label, until]:
            return commands.let_pass(place, label, seat=name, until=until)
        case "set", [one] if "=" in one:
            path, _, value = one.partition("=")
            return commands.set_value(place, path, value, seat=name)
    told = seat.told()[command]
    raise UsageError(f"a line with {command!r} reads: {told.partition(': ')[2] or told}")


def _readers(options: Sequence[str]) -> list[str]:
    """Return the seats that alone may read a note; a mistyped option is refused, as the note would be for everybody."""
    seats, words = [], iter(options)
    for word in words:
        name, sign, seat = word.partition("=")
        if name != "--to":
            raise UsageError(f"a note takes {named('to')} SEAT behind its text, and no {word!r}")
        seats.append(seat if sign else next(words, ""))
    return seats
