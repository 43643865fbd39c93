"""A persistent table as an object: what `rpgres table` does, as methods that return the records of its JSON.

The seat is fixed when a table is opened. Records, errors and `repr` tell what that seat may know.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import msgspec

from rpgres.engine.records import Pending
from rpgres.engine.rerun import WhatIf
from rpgres.engine.resolve import Answers, Folders
from rpgres.engine.views import HOST
from rpgres.errors import RpgresError, UsageError
from rpgres.journal import commands, store
from rpgres.journal.checking import require_whole
from rpgres.journal.commands import Done, Place
from rpgres.journal.commitments import SealFile, sealed
from rpgres.journal.exchange import view_of, write_files
from rpgres.journal.files import find_table, place_for
from rpgres.journal.forms import EntryRecord, LogRecord, OrdersRecord, TableRecord, ViewRecord
from rpgres.journal.history import History
from rpgres.journal.lines import OpenLine, Posted, SealLine, posted_in
from rpgres.journal.replay import is_mid_procedure, state_now
from rpgres.journal.views import entry_record, log_record, orders_record, run_seen, table_record
from rpgres.library.reading import Policies, plain_inputs, read_answers, read_folders, typed_changes
from rpgres.library.records import TablePending, TableResult
from rpgres.model.state import EMPTY, State
from rpgres.odds.exact import By, OddsResult, Weighed
from rpgres.toml.reading import Source

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")
PathLike = str | os.PathLike[str]


def _discreet(method: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """Have a method's errors hold nothing beside their message and details: no run, no cause, no frames inside."""

    @wraps(method)
    def told(*args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
        try:
            return method(*args, **kwargs)
        except RpgresError as error:
            error.run = error.__cause__ = error.__context__ = None
            raise error.with_traceback(None) from None

    return told


class PersistentTable(msgspec.Struct, frozen=True):
    """A table that lasts in a file, as one seat knows it: what `open_table` and `new_table` return.

    Every method reads the file anew and writes one transaction, so several threads and processes may share a table.

    Attributes:
        path: the file.
        seat: the seat that acts and looks: `gm`, or a character's name; None for the host.
        folders: further folders with rulesets and house rules.
    """

    path: Path
    seat: str | None = HOST
    folders: tuple[Path, ...] = ()

    # -----------------------------------------------------------------------------------------------------------------
    # What is played

    @_discreet
    def act(
        self,
        action: str,
        *,
        actor: str = "",
        given: Answers | None = None,
        choose: Answers | None = None,
        auto: bool = False,
        policies: Policies | None = None,
        note: str | None = None,
        **inputs: Any,
    ) -> TableResult | TablePending:
        """Resolve an action at the table, or have it wait for a decision.

        Args:
            action: the action's name.
            actor: who acts; by default the seat's only character.
            given: results of real dice, by label: one, or a list in the order of the questions.
            choose: answers to decisions, by label, likewise; of this seat alone.
            auto: whether the ruleset's policy answers what nobody did.
            policies: policy by character; everybody's under an empty name.
            note: carried into the result.
            inputs: what the action takes, by name, with underscores for hyphens.

        Raises:
            UsageError: something named is unknown or impossible, or another action waits.
            TableError: the file cannot be used.
            RuleError: the ruleset's code failed.
        """
        answers = _answering(given, choose, policies, auto=auto)
        typed = plain_inputs(inputs)
        return _run(self, commands.act(_place(self), action, typed, actor=actor, seat=self.seat, note=note, **answers))

    @_discreet
    def answer(
        self,
        choose: Answers | None = None,
        *,
        given: Answers | None = None,
        auto: bool = False,
        policies: Policies | None = None,
        at: str = "",
    ) -> TableResult | TablePending:
        """Answer the decision that waits, and go on with its action.

        Args:
            choose: the answer by its label: `{"price": "cost"}`.
            given: results of real dice that are asked for after this answer, by label.
            auto: whether the ruleset's policy answers.
            policies: policy by character; everybody's under an empty name.
            at: the `hash` of the entry that is answered, or its first digits: refused when something else waits now.

        Raises:
            UsageError: nothing waits, the decision is another seat's, or the answer is none that is offered.
        """
        answers = _answering(given, choose, policies, auto=auto)
        return _run(self, commands.answer(_place(self), seat=self.seat, at=at, **answers))

    @_discreet
    def pass_(self, label: str = "", *, until: str = "action") -> TableResult | TablePending | EntryRecord:
        """Let optional decisions of this seat pass in advance, so that nobody waits for it.

        Args:
            label: which decisions; all optional ones by default.
            until: how long: `action` (the current or the next one), a period such as `scene`, or `always`.

        Returns:
            What came of the action where one was waiting for such a decision, else the entry.

        Raises:
            UsageError: there is no such label or period.
        """
        done = commands.let_pass(_place(self), label, seat=self.seat, until=until)
        return _entry(self, done) if done.entry.kind == "pass" else _run(self, done)

    @_discreet
    def begin(
        self,
        period: str = "",
        *,
        given: Answers | None = None,
        choose: Answers | None = None,
        auto: bool = False,
        policies: Policies | None = None,
    ) -> TableResult | TablePending:
        """Begin a scene, or another period that the ruleset knows.

        Args:
            period: which; a scene by default.
            given, choose, auto, policies: as of `act`.

        Raises:
            UsageError: it cannot begin now, or this seat is not the game master's.
        """
        answers = _answering(given, choose, policies, auto=auto)
        return _run(self, commands.turn(_place(self), "begin", period, seat=self.seat, **answers))

    @_discreet
    def end(
        self,
        period: str = "",
        *,
        given: Answers | None = None,
        choose: Answers | None = None,
        auto: bool = False,
        policies: Policies | None = None,
    ) -> TableResult | TablePending:
        """End a scene, or another period that has begun.

        Args:
            period: which; by default the one that began last.
            given, choose, auto, policies: as of `act`.

        Raises:
            UsageError: it cannot end now, or this seat is not the game master's.
        """
        answers = _answering(given, choose, policies, auto=auto)
        return _run(self, commands.turn(_place(self), "end", period, seat=self.seat, **answers))

    # -----------------------------------------------------------------------------------------------------------------
    # What is corrected and written down

    @_discreet
    def undo(self, number: int | None = None) -> EntryRecord:
        """Take back everything from an entry on; the journal keeps it, and the same question gets the same dice.

        Args:
            number: the first entry to undo, from 1; by default that of the last action.

        Raises:
            UsageError: there is no such entry, or it is not this seat's to undo.
        """
        return _entry(self, commands.undo(_place(self), number, seat=self.seat))

    @_discreet
    def redo(self) -> list[EntryRecord]:
        """Do again what the last undo took back, with every die as it fell; return the new entries.

        Raises:
            UsageError: nothing was undone, something else was done since, or it is not this seat's.
        """
        done = commands.redo(_place(self), seat=self.seat)
        return [entry_record(done.history, entry, self.seat) for entry in done.entries]

    @_discreet
    def set(self, path: str, value: Any, *, to: Iterable[str] = ()) -> EntryRecord:
        """Correct or award something: put a value at a place of the table.

        Args:
            path: where, as in `show().state`: `characters.mara.counters.fate-points`.
            value: the value, as a text or a number; what stands there tells its type. `absent` removes it.
            to: the seats that may know of the tag, track or thing from now on; as before by default.

        Raises:
            UsageError: there is no such place, the value does not fit, or this seat is not the game master's.
        """
        return _entry(self, commands.set_value(_place(self), path, str(value), seat=self.seat, to=list(to)))

    @_discreet
    def note(self, text: str, *, to: Iterable[str] = ()) -> EntryRecord:
        """Write something down in the journal.

        Args:
            text: what.
            to: the seats that may read it, beside this one; everybody by default.

        Raises:
            UsageError: there is no such seat, or the text is empty.
        """
        return _entry(self, commands.write_note(_place(self), text, seat=self.seat, to=list(to)))

    @_discreet
    def join(self, sheet: str) -> EntryRecord:
        """Let a character sit down, or replace its sheet.

        Args:
            sheet: a file, or the name of a sheet that ships with the ruleset.

        Raises:
            UsageError: an action waits, or the sheet is another seat's.
            FileError: the sheet is missing or faulty.
        """
        return _entry(self, commands.join(_place(self), sheet, seat=self.seat))

    @_discreet
    def set_orders(self, text: str | None, *, whose: str = "") -> TableResult | TablePending | EntryRecord:
        """Give standing orders to a seat, which decide while its player is away, or take them away.

        Args:
            text: the orders as TOML, with `[[orders]]`; None takes them away.
            whose: the seat whose orders they are, where the host sets them; by default this seat.

        Returns:
            What came of the action where the orders answered what was waiting, else the entry.

        Raises:
            UsageError: they are another seat's, or there is nothing to take away.
            FileError: they are faulty; all problems at once.
        """
        source = None if text is None else Source("orders.toml", text)
        done = commands.set_orders(_place(self), source, seat=self.seat, whose=whose)
        return _entry(self, done) if done.entry.kind == "orders" else _run(self, done)

    # -----------------------------------------------------------------------------------------------------------------
    # Sealed answers, and the seed

    @_discreet
    def seal(self, label: str, answer: str) -> SealFile:
        """Commit this seat to an answer that is told later, so that nobody can know it before or change it.

        Args:
            label: the label of the decision that waits.
            answer: the option, or a value of one's own.

        Returns:
            The answer with its salt, a secret of the seat; `open` takes it. Without it, the answer is lost.

        Raises:
            UsageError: nothing is asked of this seat, it sealed an answer already, or this is none that is offered.
        """
        made = sealed(label, answer, salt=commands.fresh_salt(), seat=_owner(self))
        commands.seal(_place(self), made.commitment, seat=_owner(self), label=label, answer=answer)
        return made

    @_discreet
    def open(self, seal: SealFile) -> TableResult | TablePending:
        """Answer with what this seat sealed, and go on with the action.

        Args:
            seal: what `seal` returned.

        Raises:
            UsageError: this seat sealed nothing, or something else.
        """
        place, owner = _place(self), _owner(self)
        return _run(self, commands.open_seal(place, seat=owner, label=seal.label, text=seal.answer, salt=seal.salt))

    @_discreet
    def take(self, text: str) -> list[TableResult | TablePending | EntryRecord]:
        """Take answers that players wrote elsewhere: the lines `rpgres-answer:`, `rpgres-seal:` and `rpgres-open:`.

        Dice in them count as rolled, so whoever calls has accepted them.

        Args:
            text: a mail with one such line or several.

        Returns:
            What came of each line, in order.

        Raises:
            UsageError: a line was cut off, is another seat's than this one's, or is refused; those before it are taken.
        """
        posted = posted_in(text)
        for one in posted:
            if self.seat not in (HOST, one.seat):
                raise UsageError(f"this is an answer of {one.seat}, not of {self.seat}")
        return [_taken(self, one) for one in posted]

    @_discreet
    def reveal(self) -> EntryRecord:
        """Tell the seed and its salt, so that everybody can check every roll; nothing more is rolled at the table.

        Raises:
            UsageError: something waits, it was told already, or this seat is not the game master's.
        """
        return _entry(self, commands.reveal(_place(self), seat=self.seat))

    # -----------------------------------------------------------------------------------------------------------------
    # What is looked at

    @_discreet
    def show(self) -> TableRecord:
        """Return the table as it is now: its state, and the decision that waits under `pending`."""
        history = _history(self)
        return table_record(history, self.seat, now=_now(self, history))

    @_discreet
    def log(self, *, last: int | None = None) -> LogRecord:
        """Return everything that was done at the table, in order.

        Args:
            last: only so many of the last entries.
        """
        return log_record(_history(self), self.seat, last=last)

    @_discreet
    def orders(self) -> OrdersRecord:
        """Return the standing orders of this seat; of all seats for the host."""
        return orders_record(_history(self), self.seat)

    @_discreet
    def view(self) -> ViewRecord:
        """Return all that this seat may see, for a player elsewhere, with the chain of hashes to check it by.

        Raises:
            UsageError: the table was opened without a seat.
        """
        history = _history(self)
        return view_of(history, self.path, seat=_owner(self), now=_now(self, history))

    @_discreet
    def export(self, folder: PathLike, *, force: bool = False) -> list[Path]:
        """Write the sheets as they are now, an account of everything that was done, and a table of all rolls.

        Args:
            folder: where to: `sheets/*.toml`, `transcript.md`, `account.html`, `journal.log.md`, `rolls.csv`.
            force: whether files that are there may be replaced.

        Returns:
            The files that were written; what this seat may not know is in none of them.

        Raises:
            FileError: a file is there already, or one cannot be written.
        """
        from rpgres.cli.render.table_files import table_files

        history = _history(self)
        rules = commands.rules_of(history, folders=self.folders)
        require_whole(self.path, history)
        files = table_files(history, rules, seat=self.seat, now=_now(self, history))
        return write_files(Path(folder), files, is_forced=force)

    @_discreet
    def verify(self, *, head: str = "") -> Any:
        """Check that the journal is what was played: its chain of hashes and, after `reveal`, every roll.

        Args:
            head: the hash of an entry that was noted earlier, or its first digits.

        Returns:
            The record of `rpgres table verify --json`: `verdict`, `problems`, what was `checked` and `unchecked`.

        Raises:
            TableError: the file cannot be read at all.
        """
        from rpgres.journal.verifying import verify

        return verify(self.path, head=head, folders=self.folders)

    @_discreet
    def odds(
        self,
        action: str,
        *,
        actor: str = "",
        by: By = "outcome",
        decide: Weighed = "policies",
        choose: Answers | None = None,
        auto: bool = False,
        policies: Policies | None = None,
        leaves: int | None = None,
        seconds: float | None = None,
        note: str | None = None,
        **inputs: Any,
    ) -> OddsResult:
        """Return the exact odds of an action at the table, as this seat knows it; nothing is written.

        Args:
            action: the action's name.
            actor: whose action; by default that of the seat's only character.
            by, decide, choose, auto, policies, leaves, seconds, note: as of `rpgres.odds`.
            inputs: what the action takes; it counts in place of what is on the table.

        Raises:
            NeedsPolicy: a decision has nobody to take it.
            UsageError: something named is unknown or impossible.
        """
        from rpgres.journal.odds import table_odds

        answers = {"choose": read_answers(choose, "choose"), "policies": dict(policies or {}), "auto": auto}
        budget = {"leaves": leaves, "seconds": seconds}
        more: dict[str, Any] = {"actor": actor, "seat": self.seat, "by": by, "note": note, **answers, **budget}
        return table_odds(_place(self), action, plain_inputs(inputs), weighed=decide, **more)

    @_discreet
    def whatif(
        self,
        number: int,
        *,
        given: Answers | None = None,
        choose: Answers | None = None,
        auto: bool = False,
        policies: Policies | None = None,
    ) -> WhatIf:
        """Repeat an action of the table with an answer changed and every other die as it fell; nothing is written.

        Args:
            number: the entry of the action.
            given: changed dice or cards, by `LABEL` or `LABEL#N`.
            choose: changed or added decisions, likewise.
            auto: whether the ruleset's policy answers what is asked anew.
            policies: policy by character; everybody's under an empty name.

        Raises:
            UsageError: the entry is no finished action, or something happened there that this seat may not know.
        """
        from rpgres.journal.rerun import table_what_if

        history = _history(self)
        rules = commands.rules_of(history, folders=self.folders)
        changes: dict[str, Any] = {"given": typed_changes(given, "given"), "choose": typed_changes(choose, "choose")}
        who: dict[str, Any] = {"seat": self.seat, "policies": dict(policies or {}), "auto": auto}
        return table_what_if(self.path, history, rules, number, **changes, **who)


# ---------------------------------------------------------------------------------------------------------------------


def _place(table: PersistentTable) -> Place:
    return Place(table.path, table.folders)


def _owner(table: PersistentTable) -> str:
    if table.seat is HOST:
        raise UsageError("this is done as a seat: open the table with seat='gm' or a character's name")
    return table.seat


def _history(table: PersistentTable) -> History:
    history = store.read(table.path)
    commands.check_seat(history, table.seat)
    return history


def _now(table: PersistentTable, history: History) -> State:
    """Return the table as it is now, in the middle of a procedure as well."""
    if not is_mid_procedure(history):
        return history.state
    return state_now(commands.rules_of(history, folders=table.folders), history)


def _run(table: PersistentTable, done: Done) -> TableResult | TablePending:
    """Return what came of the last entry, as far as the seat may know it."""
    found = run_seen(done.history, done.entry, table.seat)
    fields: dict[str, Any] = {name: getattr(found, name) for name in found.__struct_fields__}
    fields |= {"said_by": done.history.run_of(done.entry).secret.by, "entry": done.entry.number}
    type_ = TablePending if isinstance(found, Pending) else TableResult
    return type_(**fields, hash=done.entry.hash)


def _entry(table: PersistentTable, done: Done) -> EntryRecord:
    return entry_record(done.history, done.entry, table.seat)


def _taken(table: PersistentTable, one: Posted) -> TableResult | TablePending | EntryRecord:
    place = _place(table)
    if isinstance(one, SealLine):
        return _entry(table, commands.seal(place, one.commitment, seat=one.seat, at=one.entry))
    if isinstance(one, OpenLine):
        opened = commands.open_seal(place, seat=one.seat, label=one.label, text=one.answer, salt=one.salt)
        return _run(table, opened)
    answers = _answering(one.given, one.choose, None, auto=False)
    return _run(table, commands.answer(place, seat=one.seat, at=one.entry, accepted=f"{one.seat}: a line", **answers))


def _answering(given: Answers | None, choose: Answers | None, policies: Policies | None, *, auto: bool) -> Any:
    """Return answers as the commands of the journal take them."""
    said = {"given": read_answers(given, "given"), "choose": read_answers(choose, "choose")}
    return {**said, "policies": dict(policies or EMPTY), "auto": auto}


@_discreet
def open_table(path: PathLike, *, seat: str | None = HOST, rulesets: Folders | None = None) -> PersistentTable:
    """Return a table that lasts in a file, as one seat knows it.

    Args:
        path: the file, or a folder with `.rpgres/table.db` in it.
        seat: whose view it is, and who acts: `gm`, or a character's name; None for the host, who sees what any seat may
            see and may do everything.
        rulesets: further folders with rulesets and house rules.

    Raises:
        TableError: there is no table, or the file cannot be used.
        UsageError: the table has no such seat.
    """
    table = PersistentTable(find_table(os.fspath(path)), seat, read_folders(rulesets))
    _history(table)
    return table


@_discreet
def new_table(
    path: PathLike,
    ruleset: str,
    *,
    sheets: Iterable[str] = (),
    seat: str | None = HOST,
    switches: dict[str, str] | None = None,
    seed: str | int | None = None,
    title: str = "",
    trust: str = "",
    rulesets: Folders | None = None,
) -> PersistentTable:
    """Begin a table in a new file, and return it; `show().commitment` binds it to its seed without telling it.

    Args:
        path: the file, or a folder that gets `.rpgres/table.db`.
        ruleset: the ruleset's id.
        sheets: who sits there: files, or names of sheets that ship with the ruleset.
        seat: whose view is returned, as of `open_table`.
        switches: house rules that are not at their default.
        seed: what all chance is drawn from; a fresh secret by default.
        title: what people call the table.
        trust: `players` where a number that a player types and no sheet has counts at once, `gm` where the game master
            confirms it; as the ruleset says by default.
        rulesets: further folders with rulesets and house rules.

    Raises:
        UsageError: something named does not exist.
        FileError: a sheet is faulty, or there is a file already.
    """
    if isinstance(sheets, str):
        raise UsageError(f"sheets takes a list of sheets: [{sheets!r}]")
    place = Place(place_for(os.fspath(path)), read_folders(rulesets))
    named: dict[str, Any] = {"sheets": list(sheets), "switches": switches or EMPTY, "title": title, "trust": trust}
    commands.begin_table(place, ruleset=ruleset, seed=None if seed is None else str(seed), **named)
    return open_table(place.path, seat=seat, rulesets=rulesets)
