"""What the tools of a seat do: a line or flat arguments become a command of the journal, and records come back.

Nothing here knows the protocol. A tool is a function of the seat and of its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal

import msgspec

from rpgres.cli.mcp import records
from rpgres.engine.records import Pending, QuestionRecord
from rpgres.errors import UsageError, called
from rpgres.journal import commands
from rpgres.journal.history import History
from rpgres.journal.odds import table_odds
from rpgres.journal.records import found_in
from rpgres.journal.replay import put_to
from rpgres.journal.views import entry_seen, log_seen, run_seen, table_record, waiting_seen
from rpgres.lines.acting import ADDED, TypedAction, add_entry, as_arguments, resolve, typed_action
from rpgres.lines.helping import described, short_form
from rpgres.lines.options import answers_of, read_answers
from rpgres.lines.seat import Seat
from rpgres.lines.words import split, words_of
from rpgres.render.lines import plain_text
from rpgres.render.tables import entry_lines, found_lines, show_lines, waiting_lines
from rpgres.rulesets import Rules, unknown

OWN = {"show": "show", "log": "log", "odds": "odds", "answer": "answer", "undo": "undo", "redo": "undo"}  # tools
HOW = "the tool `answer`"
MOST_SOURCES = 12
_WORD = re.compile(r"[^\W_]+")


# ---------------------------------------------------------------------------------------------------------------------
# Looking


def list_actions(seat: Seat, asked: records.ActionsArguments) -> records.Actions:
    """Return what can be done: all actions, or one in full."""
    history = seat.look()
    also = {name: text for name, text in seat.commands().items() if name in ADDED}
    actions, text = seat.actions, ""
    if asked.action:
        text = described(seat.rules, asked.action)
        actions = {asked.action: seat.actions[asked.action]}
    return records.Actions(
        seat=str(seat.name),
        ruleset=seat.rules.id,
        characters=seat.own(),
        actions=actions,
        also=also,
        examples=[short_form(seat, name) for name in actions],
        question=waiting(history, seat.name),
        text=text,
    )


def show(seat: Seat, _asked: records.ShowArguments) -> records.TableSeen:
    """Return the table as the seat sees it."""
    history = seat.look()
    now = commands.state_at(history, folders=seat.folders)
    record = table_record(history, seat.name, now=now)
    shown = show_lines(record, now.seen_by(seat.name), seat.rules.file, answer=HOW)
    return records.TableSeen(
        seat=str(seat.name),
        seats=list(record.seats),
        ruleset=record.ruleset,
        text=plain_text(shown),
        state=msgspec.to_builtins(record.state),
        entries=record.entries,
        hash=record.head,
        question=waiting(history, seat.name),
    )


def read_log(seat: Seat, asked: records.LogArguments) -> records.Log:
    """Return the last entries of the journal."""
    seen = log_seen(seat.look(), seat.name, last=asked.last)
    lines = partial(entry_lines, file=seat.rules.file, known={})
    kinds = [str(one.__struct_config__.tag) for one in seen]
    entries = [
        records.LogEntry(number=one.number, kind=kind, undone=one.undone, text=plain_text(lines(one)))
        for one, kind in zip(seen, kinds, strict=True)
    ]
    return records.Log(entries=entries)


def odds(seat: Seat, asked: records.OddsArguments) -> records.Odds:
    """Return the odds of an action, as the seat knows the table."""
    from rpgres.render.odds.reports import report_of
    from rpgres.render.reports import report_lines

    action = _meant(seat, asked)
    found = table_odds(
        seat.place,
        action.action,
        action.inputs,
        actor=action.actor,
        seat=seat.name,
        auto=True,
        decide=asked.decide,
        by=asked.by,
        choose=read_answers(action.options.get("choose") or (), option="choose"),
    )
    return records.Odds(
        text=plain_text(report_lines(report_of(found, seat.rules.file))),
        method=found.method,
        chances={name: one.exact for name, one in found.outcomes.items()},
        percent={name: round(one.probability * 100, 2) for name, one in found.outcomes.items()},
        open=found.open.exact,
        choices={f"{one.label}={one.option}": one.success.exact for one in found.choices},
    )


def look_up(seat: Seat, asked: records.RuleArguments) -> records.RuleFound:
    """Return what the ruleset says of something, and where that comes from.

    Raises:
        UsageError: nothing has this name, and the sources do not speak of it.
    """
    rules, name = seat.rules, asked.name.strip()
    found = {
        what: text
        for what, (names, tell) in _kinds(rules).items()
        for key in names
        if _words(key) == _words(name)
        for text in [tell(rules, key)]
    }
    sources = list(_sources(rules, name))
    if not found and not sources:
        known = [key for names, _ in _kinds(rules).values() for key in names]
        raise UsageError(unknown("rule", name, known, of=f"the ruleset {rules.id}"))
    text = "\n".join(found.values())
    return records.RuleFound(name=name, what=list(found), text=text, sources=sources[:MOST_SOURCES])


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _kinds(rules: Rules) -> Mapping[str, tuple[Mapping[str, object], Callable[[Rules, str], str]]]:
    """Return what may be looked up: by the kind of thing its names, and what tells of one."""
    file = rules.file
    return {
        "action": (file.actions, described),
        "house rule": (file.switches, _switch),
        "label": (file.labels, lambda _, name: f"{name}: {file.labels[name].help}"),
        "outcome": (file.bands, lambda _, name: f"{name}: {file.bands[name].title}"),
        "effect": (file.effects, lambda _, name: f"{name}: {file.effects[name].help}"),
        "rung": (file.ladder, lambda _, name: f"{name}: {file.ladder[name]:+d} on the ladder"),
        "policy": (file.policies, lambda _, name: f"{name}: {file.policies[name]}"),
    }


def _switch(rules: Rules, name: str) -> str:
    switch = rules.file.switches[name]
    choices = "\n".join(
        f"  {choice}{' (in force)' if choice == rules.chosen[name] else ''}: {text}"
        for choice, text in switch.choices.items()
    )
    return f"{name}: {switch.help}\n{choices}\n  source: {switch.source}"


def _sources(rules: Rules, name: str) -> Iterator[records.RuleSource]:
    """Yield the lines of the list of sources that have all words of a name, rows of tables as `question: answer`."""
    from rpgres.toml.reading import read_source

    wanted = set(_words(name))
    file = [part.folder / "SOURCES.md" for part in rules.layers.parts if not part.is_overlay][-1]
    if not wanted or not file.is_file():
        return
    for number, line in enumerate(read_source(file).text.splitlines(), 1):
        if line.startswith("|") and wanted <= set(_words(line)):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            yield records.RuleSource(where=f"{rules.id}/SOURCES.md:{number}", text="; ".join(filter(None, cells)))


# ---------------------------------------------------------------------------------------------------------------------
# Acting


def act(seat: Seat, asked: records.ActArguments) -> records.Done:
    """Do what was typed: an action, or something else that a line may say."""
    seat.look()
    if asked.line and not asked.action:
        words = words_of(asked.line)
        if words and words[0] in OWN:
            raise UsageError(f"{words[0]!r} is no action: use the tool `{OWN[words[0]]}`")
        arguments = as_arguments(seat, words) if words else []
        if arguments and arguments[0] in ADDED:
            _check_dice(seat, asked.given)
            return _result(seat, add_entry(seat, arguments, answers_of(asked.given, asked.choose, auto=asked.auto)))
    action = _meant(seat, asked)
    _check_dice(seat, asked.given or action.options.get("given"))
    return _result(
        seat, resolve(seat, action, given=asked.given, choose=asked.choose, auto=asked.auto, note=asked.note)
    )


def answer(seat: Seat, asked: records.AnswerArguments) -> records.Done:
    """Answer the decision that waits."""
    history = seat.look()
    question = commands.require_own(history, seat.name)
    if asked.label and asked.label != question.label:
        raise UsageError(f"{question.label!r} is asked now, not {asked.label!r}; the tool `show` shows it")
    if not (asked.choice or asked.auto):
        options = " or ".join([*question.names, *([question.form] if question.form else [])])
        raise UsageError(f"say `choice`: {options}; or `auto`")
    _check_dice(seat, asked.given)
    choose = {question.typed: [asked.choice]} if asked.choice else {}
    given = read_answers(asked.given, option="given")
    done = commands.answer(seat.place, seat=seat.name, choose=choose, given=given, auto=asked.auto, at=asked.at)
    return _result(seat, done)


def undo(seat: Seat, asked: records.UndoArguments) -> records.Done:
    """Undo the last action, or everything from an entry on; or do it again."""
    if asked.redo and asked.entry is not None:
        raise UsageError("`redo` does again what was undone last, and takes no `entry`")
    place = seat.place
    redone = commands.redo(place, seat=seat.name) if asked.redo else None
    return _result(seat, redone or commands.undo(place, asked.entry, seat=seat.name))


def _check_dice(seat: Seat, given: Any) -> None:
    """Refuse results of a language model, which may be made up, except at a table that has real dice."""
    if given and seat.history.new.public.dice != "real":
        raise UsageError(
            "`given`: the table's seed rolls all dice and draws all cards here; leave it out. "
            f"A table with real dice begins with `{called('table new', dice='real')}`"
        )


# ---------------------------------------------------------------------------------------------------------------------
# Reading what was typed


def _meant(seat: Seat, asked: records.LineArguments) -> TypedAction:
    """Return the action that was typed, as a line or with its inputs."""
    if bool(asked.line) == bool(asked.action):
        raise UsageError(f"say either `line`, such as {short_form(seat, next(iter(seat.actions)))!r}, or `action`")
    if asked.line and (asked.inputs or asked.actor):
        raise UsageError("`actor` and `inputs` go with `action`; a `line` begins with who acts, and holds the inputs")
    return typed_action(seat, split(asked.line) if asked.line else _written(seat, asked), listed="the tool `actions`")


def _written(seat: Seat, asked: records.LineArguments) -> list[str]:
    """Return an action with its inputs as the words of a line."""
    if asked.action not in seat.actions:
        raise UsageError(unknown("action", asked.action, seat.actions, of=f"the ruleset {seat.rules.id}"))
    words = [asked.action, *([f"--actor={asked.actor}"] if asked.actor else [])]
    parameters = seat.rules.parameters(asked.action)
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


# ---------------------------------------------------------------------------------------------------------------------
# Results


def _result(seat: Seat, done: commands.Done) -> records.Done:
    """Return the result of the last entry that was added, as far as the seat may know it."""
    history, entry = done.history, done.entry
    seat.look()
    common: dict[str, Any] = {"entry": entry.number, "hash": entry.hash}
    question = waiting(history, seat.name)
    status: Literal["done", "pending"] = "done" if question is None else "pending"
    if found_in(entry.secret) is None:
        shown = entry_lines(entry_seen(history, entry, seat.name), done.rules.file)
        text = "".join([plain_text(shown), *(f"{fault}\n" for fault in commands.left_wrong(done))])
        return records.Done(status=status, text=text, question=question, **common)
    found = run_seen(history, entry, seat.name)
    if isinstance(found, Pending):
        text = plain_text(waiting_lines(found, done.rules.file, said_by=None, command=HOW))
        return records.Done(status="pending", text=text, question=question, **common)
    text = plain_text(found_lines(found, done.rules.file))
    numbers = {name: getattr(found, name) for name in ("outcome", "success", "margin", "total", "opposition")}
    return records.Done(status=status, text=text, question=question, **numbers, **common)


def own_question(seat: Seat) -> tuple[QuestionRecord, str] | None:
    """Return the decision of this seat that waits, with the hash of the entry that asks it; None for none."""
    history = seat.look()
    pending, asked = history.pending, put_to(history, seat.name)
    return (asked, pending.hash) if pending is not None and asked is not None else None


def waiting(history: History, seat: str | None) -> records.Question | None:
    """Return the decision that waits, as a seat sees it; None where nothing does."""
    own, seen = put_to(history, seat), waiting_seen(history, seat)
    if seen is None:
        return None
    asked = own if own is not None else seen.question
    names = ("who", "label", "text", "options", "optional", "form")
    return records.Question(yours=own is not None, **{name: getattr(asked, name) for name in names})
