"""What the tools of a seat do: a line or flat arguments become a command of the journal, and records come back.

Nothing here knows the protocol. A tool is a function of the room, which has table and seat, and of its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from rpgres.cli.mcp.forms import (
    Acted,
    Actions,
    Answered,
    Done,
    Listed,
    Log,
    LogEntry,
    Odds,
    Question,
    Read,
    Shown,
    TableSeen,
    Typed,
    Undone,
    Weighed,
)
from rpgres.cli.options import given_inputs, read_answers
from rpgres.cli.play.helping import short_form
from rpgres.cli.play.room import DEEDS, Room
from rpgres.cli.render.lines import plain_text
from rpgres.cli.short import Reading, typed_apart
from rpgres.cli.typed import split
from rpgres.engine.records import Pending, QuestionRecord
from rpgres.engine.views import state_seen
from rpgres.errors import UsageError
from rpgres.journal import commands
from rpgres.journal.commands import Place, rules_of
from rpgres.journal.history import History
from rpgres.journal.records import found_in
from rpgres.journal.replay import asked_of, is_mid_procedure, state_now
from rpgres.journal.views import entry_seen, log_seen, run_seen, table_record
from rpgres.model.state import State
from rpgres.rulesets import unknown

TURNS = ("begin", "end")
LINES = (*TURNS, "note", "pass", "set")  # what `line` of `act` takes beside actions
OWN = {"show": "show", "log": "log", "odds": "odds", "answer": "answer", "undo": "undo", "redo": "undo"}  # tools
HOW = "the tool `answer`"
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


def place_of(room: Room) -> Place:
    """Return the table's file, as commands of the journal take it."""
    return Place(room.path, tuple(room.folders))


# ---------------------------------------------------------------------------------------------------------------------
# What is looked at


def list_actions(room: Room, asked: Listed) -> Actions:
    """Return what can be done: all actions, or one in full."""
    history = room.look()
    also = {name: text for name, text in room.deeds().items() if name in LINES}
    actions, text = room.actions, ""
    if asked.action:
        from rpgres.cli.formats.summary import describe_action
        from rpgres.cli.render.rulesets import action_lines

        described = msgspec.structs.replace(describe_action(room.rules, asked.action), example="")  # a shell's line
        text = plain_text(action_lines(described, room.rules.chosen, has_rungs=bool(room.rules.file.ladder)))
        actions = {asked.action: room.actions[asked.action]}
    return Actions(
        seat=str(room.seat),
        ruleset=room.rules.id,
        characters=room.own(),
        actions=actions,
        also=also,
        examples=[short_form(room, name) for name in actions],
        question=waiting(history, room.seat),
        text=text,
    )


def show(room: Room, _asked: Shown) -> TableSeen:
    """Return the table as the seat sees it."""
    from rpgres.cli.render.tables import show_lines

    history = room.look()
    now = _now(room, history)
    record = table_record(history, room.seat, now=now)
    shown = show_lines(record, state_seen(now, room.seat), room.rules.file, answer=HOW)
    return TableSeen(
        seat=str(room.seat),
        seats=list(record.seats),
        ruleset=record.ruleset,
        text=plain_text(shown),
        state=msgspec.to_builtins(record.state),
        entries=record.entries,
        hash=record.head,
        question=waiting(history, room.seat),
    )


def read_log(room: Room, asked: Read) -> Log:
    """Return the last entries of the journal."""
    from rpgres.cli.render.tables import entry_lines

    seen = log_seen(room.look(), room.seat, last=asked.last)
    file = room.rules.file
    return Log(
        entries=[
            LogEntry(number=one.number, kind=_kind(one), undone=one.undone, text=plain_text(entry_lines(one, file)))
            for one in seen
        ]
    )


def _kind(entry: Any) -> str:
    return str(entry.__struct_config__.tag)


def odds(room: Room, asked: Weighed) -> Odds:
    """Return the odds of an action, as the seat knows the table."""
    from rpgres.cli.render.odds_reports import report_of
    from rpgres.cli.render.reports import report_lines
    from rpgres.journal.odds import table_odds

    meant = _meant(room, asked)
    found = table_odds(
        place_of(room),
        meant.action,
        meant.inputs,
        actor=meant.actor,
        seat=room.seat,
        auto=True,
        weighed=asked.decide,
        by=asked.by,
        choose=read_answers(meant.spoken.get("choose") or (), option="choose"),
    )
    return Odds(
        text=plain_text(report_lines(report_of(found, room.rules.file))),
        method=found.method,
        chances={name: one.exact for name, one in found.outcomes.items()},
        percent={name: round(one.probability * 100, 2) for name, one in found.outcomes.items()},
        open=found.open.exact,
        choices={f"{one.label}={one.option}": one.success.exact for one in found.choices},
    )


# ---------------------------------------------------------------------------------------------------------------------
# What is done


def act(room: Room, asked: Acted) -> Done:
    """Do what was typed: an action, or something else that a line may say."""
    room.look()
    if asked.line and not asked.action:
        words = _note(asked.line) or split(asked.line)
        if words and words[0] in OWN:
            raise UsageError(f"{words[0]!r} is no action: use the tool `{OWN[words[0]]}`")
        arguments = room.understood(words, _nobody).arguments if words else []
        if arguments and arguments[0] in LINES:
            return _deed(room, arguments, asked)
    meant = _meant(room, asked)
    spoken = meant.spoken
    answers: dict[str, Any] = {
        "given": read_answers([*(spoken.get("given") or ()), *asked.given], option="given"),
        "choose": read_answers([*(spoken.get("choose") or ()), *asked.choose], option="choose"),
        "auto": asked.auto or bool(spoken.get("auto")),
    }
    note = asked.note or spoken.get("note") or None
    done = commands.act(
        place_of(room), meant.action, meant.inputs, actor=meant.actor, seat=room.seat, note=note, **answers
    )
    return told(room, done)


def answer(room: Room, asked: Answered) -> Done:
    """Answer the decision that waits."""
    history = room.look()
    question = commands.require_own(history, commands.require_pending(history), room.seat)
    if asked.label and asked.label != question.label:
        raise UsageError(f"{question.label!r} is asked now, not {asked.label!r}; the tool `show` shows it")
    if not (asked.choice or asked.auto):
        raise UsageError(f"say `choice`: {_options(question)}; or `auto`")
    choose = {question.typed: [asked.choice]} if asked.choice else {}
    given = read_answers(asked.given, option="given")
    done = commands.answer(place_of(room), seat=room.seat, choose=choose, given=given, auto=asked.auto, at=asked.at)
    return told(room, done)


def undo(room: Room, asked: Undone) -> Done:
    """Undo the last action, or everything from an entry on; or do it again."""
    if asked.redo and asked.entry is not None:
        raise UsageError("`redo` does again what was undone last, and takes no `entry`")
    place = place_of(room)
    redone = commands.redo(place, seat=room.seat) if asked.redo else None
    return told(room, redone or commands.undo(place, asked.entry, seat=room.seat))


def _deed(room: Room, arguments: Sequence[str], asked: Acted) -> Done:
    """Do what a line says that is no action."""
    deed, *rest = arguments
    place, seat = place_of(room), room.seat
    said: dict[str, Any] = {
        "given": read_answers(asked.given, option="given"),
        "choose": read_answers(asked.choose, option="choose"),
        "auto": asked.auto,
    }
    if any(word.startswith("--") and word != "--until" for word in rest):
        raise UsageError(f"`{deed}` takes no options here; `actions` lists what a line may say")
    match deed, [word for word in rest if word not in ("until", "--until") or deed != "pass"]:
        case (("begin" | "end"), ([] | [_]) as period):
            return told(room, commands.turn(place, deed, "".join(period), seat=seat, **said))
        case "note", [_, *_] as words:
            return told(room, commands.write_note(place, " ".join(words), seat=seat))
        case "pass", []:
            return told(room, commands.let_pass(place, seat=seat))
        case "pass", [label]:
            if rest[0] in ("until", "--until"):
                return told(room, commands.let_pass(place, seat=seat, until=label))
            return told(room, commands.let_pass(place, label, seat=seat))
        case "pass", [label, until]:
            return told(room, commands.let_pass(place, label, seat=seat, until=until))
        case "set", [one] if "=" in one:
            path, _, value = one.partition("=")
            return told(room, commands.set_value(place, path, value, seat=seat))
    raise UsageError(f"a line with {deed!r} reads: {DEEDS[deed].partition(': ')[2] or DEEDS[deed]}")


def _note(line: str) -> list[str]:
    """Return a line that is a note as words, the text as one, whatever quotation marks are in it."""
    first, _, text = line.strip().partition(" ")
    return ["note", text.strip()] if first == "note" and text.strip() else []


# ---------------------------------------------------------------------------------------------------------------------
# What was typed


def _nobody(_text: str, _readings: Sequence[Reading]) -> None:
    """Nobody is there to be asked what a line means: it is refused, with its readings."""


def _meant(room: Room, asked: Typed) -> Meant:
    """Return the action that was typed, as a line or with its inputs.

    Raises:
        UsageError: it means nothing here, or is unclear.
    """
    if bool(asked.line) == bool(asked.action):
        raise UsageError(f"say either `line`, such as {short_form(room, next(iter(room.actions)))!r}, or `action`")
    if asked.line and (asked.inputs or asked.actor):
        raise UsageError("`actor` and `inputs` go with `action`; a `line` begins with who acts, and holds the inputs")
    words = split(asked.line) if asked.line else _written(room, asked)
    if not words:
        raise UsageError(f"`line` is empty; it takes, for example, {short_form(room, next(iter(room.actions)))!r}")
    _, *arguments = room.understood(words, _nobody).arguments
    action, *line = arguments
    if action not in room.actions:
        raise UsageError(f"{words[0]!r} is no action; the tool `actions` lists them")
    if "--help" in line:
        raise UsageError(f"the tool `actions` describes one: `action` = {action!r}")
    values = _parsed(room, action, line)
    shared = {one.name: values.pop(one.name, one.off) for one in room.command(action).verb.options}
    for name, value in shared.items():
        if value not in (None, False, ()) and name not in SPOKEN:
            fixed = "; seat and table are fixed when the server starts" if name in ("as", "table") else ""
            raise UsageError(f"a line takes no --{name.replace('_', '-')} here{fixed}")
    return Meant(action, str(shared.get("actor") or ""), given_inputs(values), shared)


def _written(room: Room, asked: Typed) -> list[str]:
    """Return an action with its inputs as the words of a line.

    Raises:
        UsageError: an input is not NAME=VALUE, or none of the action's.
    """
    if asked.action not in room.actions:
        raise UsageError(unknown("action", asked.action, room.actions, of=f"the ruleset {room.rules.id}"))
    words = [asked.action, *([f"--actor={asked.actor}"] if asked.actor else [])]
    parameters = room.rules.parameters(asked.action)
    for text in asked.inputs:
        name, sign, value = text.partition("=")
        known = {alias: one for key, one in parameters.items() for alias in (key, *one.aliases)}.get(name.strip())
        if known is not None and known.kind == "flag":
            if value.strip().lower() not in ("", "yes", "true", "no", "false"):
                raise UsageError(f"the input {name!r} takes yes or no, not {value!r}")
            words += [f"--{name.strip()}"] if value.strip().lower() in ("", "yes", "true") else []
        elif not sign or known is None:
            listed = ", ".join(parameters)
            raise UsageError(f"`inputs` takes NAME=VALUE, not {text!r}; the inputs of {asked.action}: {listed}")
        else:
            words.append(f"--{name.strip()}={value.strip()}")
    return words


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


def _options(question: QuestionRecord) -> str:
    names = [*(one.name for one in question.options), *(["no"] if question.optional else [])]
    return " or ".join([*names, *([question.form] if question.form else [])])


# ---------------------------------------------------------------------------------------------------------------------
# What came of it


def told(room: Room, done: commands.Done) -> Done:
    """Return what came of the last entry that was added, as far as the seat may know it."""
    from rpgres.cli.render.tables import entry_lines, found_lines, waiting_lines

    history, entry = done.history, done.entry
    room.look()
    common: dict[str, Any] = {"entry": entry.number, "hash": entry.hash}
    question = waiting(history, room.seat)
    status: Literal["done", "pending"] = "done" if question is None else "pending"
    if found_in(entry.secret) is None:
        text = plain_text(entry_lines(entry_seen(history, entry, room.seat), done.rules.file))
        return Done(status=status, text=text, question=question, **common)
    found = run_seen(history, entry, room.seat)
    if isinstance(found, Pending):
        text = plain_text(waiting_lines(found, said_by=None, command=HOW))
        return Done(status="pending", text=text, question=question, **common)
    text = plain_text(found_lines(found, done.rules.file))
    numbers = {name: getattr(found, name) for name in ("outcome", "success", "margin", "total", "opposition")}
    return Done(status=status, text=text, question=question, **numbers, **common)


def own_question(room: Room) -> tuple[QuestionRecord, str] | None:
    """Return the decision of this seat that waits, with the hash of the entry that asks it; None for none."""
    history = room.look()
    pending = history.pending
    found = found_in(pending.secret) if pending is not None else None
    if pending is None or not isinstance(found, Pending):
        return None
    asked = asked_of(history.state, found, room.seat)
    return None if asked is None else (asked, pending.hash)


def waiting(history: History, seat: str | None) -> Question | None:
    """Return the decision that waits, as a seat sees it; None where nothing does."""
    pending = history.pending
    found = found_in(pending.secret) if pending is not None else None
    if pending is None or not isinstance(found, Pending):
        return None
    own, seen = asked_of(history.state, found, seat), run_seen(history, pending, seat)
    assert isinstance(seen, Pending)
    asked = own if own is not None else seen.question
    names = ("who", "label", "text", "options", "optional", "form")
    return Question(yours=own is not None, **{name: getattr(asked, name) for name in names})


def _now(room: Room, history: History) -> State:
    """Return the table as it is now, in the middle of a procedure as well."""
    return state_now(rules_of(history, folders=room.folders), history) if is_mid_procedure(history) else history.state
