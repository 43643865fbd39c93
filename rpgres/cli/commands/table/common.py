"""What the commands of `rpgres table` share: the options that name the table and its answers, and how results print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct

from rpgres.cli import INTERRUPTED
from rpgres.cli import options as opt
from rpgres.cli.annotations import Auto, Choose, Given, RealDice, option
from rpgres.cli.asking.terminal import asks_dice, can_prompt, is_listening, puts_next
from rpgres.cli.exits import WAITING, exit_of, leave
from rpgres.cli.output import READER, say, say_json, say_text, warn
from rpgres.cli.tables import TableOptions
from rpgres.engine.records import Pending, Result
from rpgres.engine.stops import TakenBack
from rpgres.errors import FileError, PluginError, UsageError, called
from rpgres.journal.commands import Done, Place, left_wrong, prepared_for, rules_of, state_at
from rpgres.journal.store import read
from rpgres.journal.views import entry_record, entry_seen, run_record
from rpgres.lines.options import POLICY_AT_TABLE, answers_of
from rpgres.plugins.loading import rules_to_show

if TYPE_CHECKING:
    from rpgres.engine.dealers import Hand
    from rpgres.engine.players import Prompt
    from rpgres.journal.history import History
    from rpgres.model.state import State
    from rpgres.render.lines import Line
    from rpgres.rulesets import Rules

OF_CHARACTERS = frozenset({"counter", "mark", "clear", "out"})  # what an effect does to a character of the table
Policies = Annotated[
    list[str] | None,
    option("--policy", takes=POLICY_AT_TABLE.metavar, help=POLICY_AT_TABLE.help),
]

app = typer.Typer(
    no_args_is_help=True,
    help="""Keep a game in a file: its characters, its state and a journal of everything that happened.

    `rpgres table new fate --sheet mara` begins one here, in .rpgres/table.db; `rpgres table act --help` lists
    what can be done at it, `rpgres table show` shows it, `rpgres play` sits down at it.""",
)


class AnswerOptions(Struct, frozen=True):
    """How an action, or a turn of a period, is answered: what is typed, policies, or a person at a prompt.

    Attributes:
        given: results of real dice and cards.
        choose: decisions.
        auto: whether the ruleset's policy answers what is left open.
        policy: policies by name, for all or for one character.
        real_dice: whose dice are real; see `rpgres.cli.asking.real`.
    """

    given: Given = None
    choose: Choose = None
    auto: Auto = False
    policy: Policies = None
    real_dice: RealDice = None

    def arguments(
        self,
        options: TableOptions,
        *,
        heading: Sequence[Line] = (),
        actor: str = "",
        plus: str = "",
        is_asked: bool = True,
    ) -> dict[str, Any]:
        """Return these as the arguments that the commands of the journal take.

        Args:
            heading: what a prompt shows before its first question.
            plus: what is added to what the actor rolls, in words.
            is_asked: whether a person at a terminal may be asked.
        """
        return {
            "seat": options.who,
            **answers_of(self.given or (), self.choose or (), auto=self.auto),
            "policies": opt.named_policies(self.policy),
            "hand": hand_for(options, self.real_dice, actor=actor, plus=plus),
            "prompt": None if self.auto or not is_asked else _prompt(options, heading),
        }


def hand_for(options: TableOptions, whom: str | None, *, actor: str = "", plus: str = "") -> Hand | None:
    """Return what asks a person for results of real dice; None where the seed rolls all of them.

    Args:
        whom: whose dice are real, as typed.
        plus: what is added to what the actor rolls, in words.
    """
    if not asks_dice(whom, as_json=options.as_json):
        return None
    from rpgres.cli.asking.real import RealDice

    return RealDice(whom or "", actor=actor, plus=plus)


def _prompt(options: TableOptions, heading: Sequence[Line]) -> Prompt | None:
    """Return what asks a person, when there is one to ask; what is shown is kept by then."""
    if options.as_json or not can_prompt():
        return None
    from rpgres.cli.asking.prompt import Person

    def now() -> tuple[Rules, History]:
        place = options.find()
        history = read(place.path)
        return rules_of(history, folders=place.folders), history

    aid, file = lambda view: prepared_for(*now(), seat=view.seat), lambda: now()[0].file
    return Person(heading=heading, is_kept=True, aid=aid, file=file).ask


def rules_to_read(ruleset: str, switches: Mapping[str, str], folders: Sequence[Path]) -> Rules:
    """Return the rules whose words show a table; faulty ones are told of, and fail no look at it."""
    rules, why = rules_to_show(ruleset, switches=switches, extra=folders)
    if why:
        warn(f"shown without what is faulty in the rules; nothing can be done here until it is mended:\n{why}")
    READER.rules = rules
    return rules


def state_to_read(place: Place, history: History) -> State:
    """Return the table as it is now; in the middle of a procedure with faulty rules, as it was before it."""
    try:
        return state_at(history, folders=place.folders)
    except (UsageError, PluginError, FileError) as error:
        warn(f"shown as it was before what waits: {error.message}")
        return history.state


# ---------------------------------------------------------------------------------------------------------------------
# Printing


def finish_run(done: Done, options: TableOptions, *, is_asked: bool = False, exit_code: bool = False) -> None:
    """Print the result of a run, and exit with its code.

    Args:
        done: what was added; its last entry has the result.
        exit_code: whether a failure and a tie have codes of their own.
    """
    READER.rules = done.rules
    READER.entry = done.entry.number
    if done.entry.kind in ("undo", "pass", "orders"):  # typed at a question of it, or nothing was to be decided
        say_entry(done, options)
        return

    entry = done.history.pending or done.entry  # what was done at a question may have changed what waits
    found = run_record(done.history, entry, options.who)
    if done.history.pending is None and done.history.head.number != entry.number:
        return  # a command at its question has shown how it ended
    if options.as_json:
        say_json(found)
    elif not (isinstance(found, Pending) and puts_next()):
        from rpgres.render.tables import found_lines

        # The host has the file, and so may know its inputs.
        by, is_put = found.said_by or None, is_listening()
        owner = done.history.state.seat_of(found.question.who) if isinstance(found, Pending) else None
        is_left = is_put and is_asked and options.who in (None, owner)
        lines = found_lines(found, done.rules.file, said_by=by, is_put=is_put, is_left=is_left)
        say([*lines, *_lost_lines(found, done)])
    leave(exit_of(found, with_codes=exit_code))


def run_at(
    options: TableOptions, do: Callable[..., Done], *values: Any, exit_code: bool = False, **arguments: Any
) -> None:
    """Do at the table what may roll and ask, print the result, and exit with its code.

    Args:
        exit_code: as of `finish_run`.
    """
    with taken_back():
        done = do(options.find(), *values, **arguments)
        finish_run(done, options, is_asked=arguments.get("prompt") is not None, exit_code=exit_code)


def _lost_lines(found: Result | Pending, done: Done) -> list[Line]:
    """Return a line about effects on an actor without a sheet, which no character keeps."""
    from rpgres.render.lines import INDENT, line

    if not isinstance(found, Result) or found.actor in done.history.state.characters:
        return []
    kinds = {kind for kind, one in done.rules.file.effects.items() if one.does in OF_CHARACTERS}
    lost = [effect["kind"] for effect in found.effects if effect.get("to") == found.actor and effect["kind"] in kinds]
    kept_by = f"the table has no character (`{called('table join', sheet='FILE')}` adds one)"
    return [line(INDENT, f"not kept: {', '.join(dict.fromkeys(lost))}; {kept_by}")] if lost else []


@contextmanager
def taken_back() -> Iterator[None]:
    """Report that a person left an action at its first roll, before anything was written."""
    try:
        yield
    except TakenBack:
        say_text("Nothing was written.\n")
        if not is_listening():
            leave(INTERRUPTED)


def say_entry(done: Done, options: TableOptions) -> None:
    """Print an entry that was added and has no outcome."""
    READER.rules = done.rules
    READER.entry = done.entry.number
    if options.as_json:
        say_json(entry_record(done.history, done.entry, options.who, warnings=left_wrong(done)))
    else:
        from rpgres.render.lines import INDENT, line
        from rpgres.render.tables import entry_lines

        view = entry_seen(done.history, done.entry, options.who)
        say(list(entry_lines(view, done.rules.file)))
        say([line(INDENT, text) for text in _undo_hints(done)])
    leave(WAITING if done.entry.kind == "request" else 0)


def _undo_hints(done: Done) -> Iterator[str]:
    """Yield why an undo is only requested, and how less is undone where it was a whole procedure."""
    if done.entry.kind == "request":
        yield "You have seen dice or cards there, so the game master has to allow it."
    from rpgres.journal.records import found_in
    from rpgres.model.events import TurnEvent

    history, again = done.history, done.history.to_redo() if done.entry.kind == "undo" else []
    if len({history.run_of(entry).number for entry in again}) != 1 or again[0].public.of or again[-1].secret.waits:
        return
    found = [found_in(entry.secret) for entry in again]
    turns = [sum(isinstance(event, TurnEvent) for event in one.events) if one is not None else 0 for one in found]
    if len(turns) > 1 and turns[-1]:
        last = called("table undo", done.entry.number + turns.index(turns[-2]) + 2)
        how = f"`{called('table redo')}` brings it back; then `{last}` undoes its last turn."
        yield f"That was the whole {again[0].public.action}. {how}"
