"""A persistent table as an object: what `rpgres table` does, as methods that return the records of its JSON.

The seat is fixed when a table is opened. Records, errors and `repr` tell what that seat may know.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from rpgres.engine.rerun import WhatIf
from rpgres.engine.resolve import Answers, Folders, folders_of, listed_answers
from rpgres.engine.views import HOST
from rpgres.errors import UsageError
from rpgres.journal import commands
from rpgres.journal.commands import Place
from rpgres.journal.commitments import SealFile, sealed
from rpgres.journal.exchange import view_of, write_files
from rpgres.journal.files import find_table, place_for
from rpgres.journal.forms import (
    EntryRecord,
    LogRecord,
    OrdersRecord,
    TablePending,
    TableRecord,
    TableResult,
    ViewRecord,
)
from rpgres.journal.keys import is_authentic
from rpgres.journal.lines import posted_in
from rpgres.journal.views import entry_record, log_record, orders_record, run_record, table_record
from rpgres.library.reading import Policies, plain_inputs, require_limits, typed_changes
from rpgres.library.seated import (
    as_answer,
    clean_errors,
    entry_result,
    history_of,
    journal_answers,
    owner_of,
    place_of,
    result_of,
    run_result,
)
from rpgres.model.state import EMPTY
from rpgres.odds.exact import OUTCOME, Decide, OddsResult
from rpgres.toml.reading import Source

PathLike = str | os.PathLike[str]


class PersistentTable(msgspec.Struct, frozen=True):
    """A persistent table in a file, as one seat knows it: what `open_table` and `new_table` return.

    Every method reads the file anew and writes one transaction, so several threads and processes may share a table.

    Attributes:
        path: the file.
        seat: the seat that acts and looks: `gm`, or a character's name; None for the host; `everybody` for the view of
            those who have no seat.
        folders: further folders with rulesets and house rules.
        confined: whether inputs are untrusted: sheets without a folder, short texts, errors that quote no file.
    """

    path: Path
    seat: str | None = HOST
    folders: tuple[Path, ...] = ()
    confined: bool = False

    # -----------------------------------------------------------------------------------------------------------------
    # What is played

    @clean_errors
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
            auto: whether the ruleset's policy answers what is left unanswered.
            policies: policy by character; the default under an empty name.
            note: carried into the result.
            inputs: what the action takes, by name, with underscores for hyphens.

        Raises:
            UsageError: something named is unknown or impossible, or another action waits.
            TableError: the file cannot be used.
            RuleError: the ruleset's code failed.
        """
        answers = journal_answers(given, choose, policies, auto=auto)
        typed = plain_inputs(inputs)
        return run_result(
            self, commands.act(place_of(self), action, typed, actor=actor, seat=self.seat, note=note, **answers)
        )

    @clean_errors
    def answer(
        self,
        choose: Answers | str | None = None,
        *,
        given: Answers | None = None,
        auto: bool = False,
        policies: Policies | None = None,
        at: str = "",
    ) -> TableResult | TablePending:
        """Answer the decision that waits, and go on with its action.

        Args:
            choose: the answer by its label: `{"price": "cost"}`; or the option alone, for what is asked now.
            given: results of real dice that are asked for after this answer, by label.
            auto: whether the ruleset's policy answers.
            policies: policy by character; the default under an empty name.
            at: the `hash` of the entry that is answered, or its first digits: refused when something else waits now.

        Raises:
            UsageError: nothing waits, the decision is another seat's, or the answer is none that is offered.
        """
        if isinstance(choose, str):
            choose = as_answer(history_of(self), self.seat, choose)
        answers = journal_answers(given, choose, policies, auto=auto)
        return run_result(self, commands.answer(place_of(self), seat=self.seat, at=at, **answers))

    @clean_errors
    def pass_(self, label: str = "", *, until: str = "action") -> TableResult | TablePending | EntryRecord:
        """Skip optional decisions of this seat in advance, so that the table does not wait for it.

        Args:
            label: which decisions; all optional ones by default.
            until: how long: `action` (the current or the next one), a period such as `scene`, or `always`.

        Returns:
            The result of the action that waited for such a decision, else the entry.

        Raises:
            UsageError: there is no such label or period.
        """
        done = commands.let_pass(place_of(self), label, seat=self.seat, until=until)
        return result_of(self, done)

    @clean_errors
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
        answers = journal_answers(given, choose, policies, auto=auto)
        return run_result(self, commands.turn(place_of(self), "begin", period, seat=self.seat, **answers))

    @clean_errors
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
            period: which; by default the one that began last. A procedure that waits for a decision, by its name, ends
                before it is over: what its finished turns did stays.
            given, choose, auto, policies: as of `act`.

        Raises:
            UsageError: it cannot end now, or this seat is not the game master's.
        """
        answers = journal_answers(given, choose, policies, auto=auto)
        return run_result(self, commands.turn(place_of(self), "end", period, seat=self.seat, **answers))

    @clean_errors
    def do(self, line: str, *, given: Answers | None = None) -> Any:
        """Do what a line says, as it is typed at `rpgres play`: for bots in a chat.

        Such lines are an action (`mara overcome burglary 3`, `attack thug with fight --given roll=+0-+`), and `pass`,
        `begin scene`, `end`, `note TEXT`, `set PATH=VALUE`, `join SHEET`, `undo`, `redo`, `show`, `show mara`,
        `status`, `log 5`, `roll 2d6`, `odds overcome burglary 3`, `help`, `help overcome`. At a question of the seat
        they are also its answer (`no`, `1 --given roll=+0-+`, `answer OPTION`), `odds`, `why`, and `?` for its options.

        Args:
            line: what was typed.
            given: results of real dice and cards, by label, beside those of the line.

        Returns:
            The record of the method that does it.

        Raises:
            UsageError: it means nothing here, is unclear (the message lists the readings), or is refused.
        """
        from rpgres.library.lines import done_by

        return done_by(self, line, listed_answers(given, "given"))

    # -----------------------------------------------------------------------------------------------------------------
    # What is corrected and written down

    @clean_errors
    def undo(self, number: int | None = None) -> EntryRecord:
        """Take back everything from an entry on; the journal keeps it, and the same question gets the same dice.

        Args:
            number: the first entry to undo, from 1; by default the last action, or the last answer while one waits.

        Raises:
            UsageError: there is no such entry, or it is not this seat's to undo.
        """
        return entry_result(self, commands.undo(place_of(self), number, seat=self.seat))

    @clean_errors
    def redo(self) -> list[EntryRecord]:
        """Do again what the last undo took back, with every die as it fell; return the new entries.

        Raises:
            UsageError: nothing was undone, something else was done since, or it is not this seat's.
        """
        done = commands.redo(place_of(self), seat=self.seat)
        return [entry_record(done.history, entry, self.seat) for entry in done.entries]

    @clean_errors
    def set(self, path: str, value: Any, *, to: Iterable[str] = ()) -> EntryRecord:
        """Correct or award something: put a value at a place of the table.

        Args:
            path: where, as in `show().state`: `characters.mara.counters.fate-points`, or short: `mara.fate-points`.
            value: the value, as a text or a number; what stands there tells its type. `absent` removes it.
            to: the seats that may know of the tag, track or thing from now on; as before by default.

        Raises:
            UsageError: there is no such place, the value does not fit, or this seat is not the game master's.
        """
        return entry_result(self, commands.set_value(place_of(self), path, str(value), seat=self.seat, to=list(to)))

    @clean_errors
    def note(self, text: str, *, to: Iterable[str] = ()) -> EntryRecord:
        """Write something down in the journal.

        Args:
            text: what.
            to: the seats that may read it, beside this one; everybody by default.

        Raises:
            UsageError: there is no such seat, or the text is empty.
        """
        return entry_result(self, commands.write_note(place_of(self), text, seat=self.seat, to=list(to)))

    @clean_errors
    def join(self, sheet: str) -> EntryRecord:
        """Let a character sit down, or replace its sheet.

        Args:
            sheet: a file, or the name of a sheet that ships with the ruleset.

        Raises:
            UsageError: an action waits, or the sheet is another seat's.
            FileError: the sheet is missing or faulty.
        """
        return entry_result(self, commands.join(place_of(self), sheet, seat=self.seat))

    @clean_errors
    def set_orders(self, text: str | None, *, whose: str = "") -> TableResult | TablePending | EntryRecord:
        """Give standing orders to a seat, which decide while its player is away, or take them away.

        Args:
            text: the orders as TOML, with `[[orders]]`; None takes them away.
            whose: the seat whose orders they are, where the host sets them; by default this seat.

        Returns:
            The result of the action whose question the orders answered, else the entry.

        Raises:
            UsageError: they are another seat's, or there is nothing to take away.
            FileError: they are faulty; all problems at once.
        """
        source = None if text is None else Source("orders.toml", text)
        done = commands.set_orders(place_of(self), source, seat=self.seat, whose=whose)
        return result_of(self, done)

    # -----------------------------------------------------------------------------------------------------------------
    # Sealed answers, and the seed

    @clean_errors
    def seal(self, label: str, answer: str) -> SealFile:
        """Commit this seat to an answer that is shown later, so that it can be neither known before nor changed.

        Args:
            label: the label of the decision that waits.
            answer: the option, or a value of one's own.

        Returns:
            The answer with its salt, a secret of the seat; `open` takes it. Without it, the answer is lost.

        Raises:
            UsageError: nothing is asked of this seat, it sealed an answer already, or this is none that is offered.
        """
        made = sealed(label, answer, salt=commands.fresh_salt(), seat=owner_of(self))
        commands.seal(place_of(self), made.commitment, seat=owner_of(self), label=label, answer=answer)
        return made

    @clean_errors
    def open(self, seal: SealFile) -> TableResult | TablePending:
        """Answer with what this seat sealed, and go on with the action.

        Args:
            seal: what `seal` returned.

        Raises:
            UsageError: this seat sealed nothing, or something else.
        """
        place, owner = place_of(self), owner_of(self)
        return run_result(
            self, commands.open_seal(place, seat=owner, label=seal.label, text=seal.answer, salt=seal.salt)
        )

    @clean_errors
    def take(self, text: str) -> list[TableResult | TablePending | EntryRecord]:
        """Take answers that players wrote elsewhere: the lines `rpgres-answer:`, `rpgres-seal:` and `rpgres-open:`.

        The host takes only those that were made with the key of a view, and so confirms the dice in them; a seat also
        takes others of its own, where dice are a claim.

        Args:
            text: a mail with one such line or several.

        Returns:
            The result of each line, in order.

        Raises:
            UsageError: a line is cut off, of another seat, unauthenticated, or refused; those before it are taken.
        """
        posted, history = posted_in(text), history_of(self)
        for one in posted:
            if self.seat not in (HOST, one.seat):
                raise UsageError(f"this is an answer of {one.seat}, not of {self.seat}")
            if self.seat is HOST and not is_authentic(history, one):
                why = f"not made with the key in {one.seat}'s view, so anybody may have written it"
                raise UsageError(f"a line of {one.seat} was {why}; if you know who did, open the table as this seat")
        about: dict[str, Any] = {"is_host": self.seat is HOST}
        taken = (commands.take(place_of(self), one, accepted=f"{one.seat}: a line", **about) for one in posted)
        return [result_of(self, done) for done in taken]

    @clean_errors
    def reveal(self) -> EntryRecord:
        """Reveal the seed and its salt, so that everybody can check every roll; nothing more is rolled at the table.

        Raises:
            UsageError: something waits, it was revealed already, or this seat is not the game master's.
        """
        return entry_result(self, commands.reveal(place_of(self), seat=self.seat))

    # -----------------------------------------------------------------------------------------------------------------
    # What is looked at

    @clean_errors
    def show(self) -> TableRecord:
        """Return the table as it is now: its state, and the decision that waits under `pending`."""
        history = history_of(self)
        return table_record(history, self.seat, now=commands.state_at(history, folders=self.folders))

    @clean_errors
    def waiting(self) -> TablePending | None:
        """Return the decision that waits, with its entry, as far as this seat may know it; None where nothing waits.

        Where it is put to this seat, its `question` has a label and options; else the label is empty.
        """
        history = history_of(self)
        found = None if history.pending is None else run_record(history, history.pending, self.seat)
        return found if isinstance(found, TablePending) else None

    @clean_errors
    def log(self, *, last: int | None = None, since: int = 0) -> LogRecord:
        """Return everything that was done at the table, in order.

        Args:
            last: only so many of the last entries.
            since: only entries from this number on; `show().entries` is the number of the next one.
        """
        history = history_of(self)
        new = max(0, len(history.entries) - since)
        return log_record(history, self.seat, last=new if last is None else min(last, new))

    @clean_errors
    def orders(self) -> OrdersRecord:
        """Return the standing orders of this seat; of all seats for the host."""
        return orders_record(history_of(self), self.seat)

    @clean_errors
    def view(self) -> ViewRecord:
        """Return all that this seat may see, for a player elsewhere, with the chain of hashes to check it by.

        Raises:
            UsageError: the table was opened without a seat.
        """
        history = history_of(self)
        return view_of(history, self.path, seat=owner_of(self), now=commands.state_at(history, folders=self.folders))

    @clean_errors
    def export(self, folder: PathLike, *, force: bool = False) -> list[Path]:
        """Write the sheets as they are now, an account of everything that was done, and a table of all rolls.

        Args:
            folder: where to: `sheets/*.toml`, `account.md`, `account.html`, `journal.log.md`, `rolls.csv`.
            force: whether files that are there may be replaced.

        Returns:
            The files that were written; what this seat may not know is in none of them.

        Raises:
            FileError: a file is there already, or one cannot be written.
        """
        from rpgres.render.accounts.tables import table_files

        history = history_of(self)
        rules = commands.rules_of(history, folders=self.folders)
        files = table_files(history, rules, seat=self.seat, now=commands.state_at(history, folders=self.folders))
        return write_files(Path(folder), files, is_forced=force)

    @clean_errors
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

    @clean_errors
    def odds(
        self,
        action: str,
        *,
        actor: str = "",
        by: str = OUTCOME,
        decide: Decide = "policies",
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
            NeedsPolicy: nothing answers a decision.
            UsageError: something named is unknown or impossible.
        """
        from rpgres.journal.odds import table_odds

        require_limits(seconds, leaves)
        answers = {"choose": listed_answers(choose, "choose"), "policies": dict(policies or {}), "auto": auto}
        budget = {"leaves": leaves, "seconds": seconds}
        more: dict[str, Any] = {"actor": actor, "seat": self.seat, "by": by, "note": note, **answers, **budget}
        return table_odds(place_of(self), action, plain_inputs(inputs), decide=decide, **more)

    @clean_errors
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
            policies: policy by character; the default under an empty name.

        Raises:
            UsageError: the entry is no finished action, or something happened there that this seat may not know.
        """
        from rpgres.journal.rerun import table_what_if

        history = history_of(self)
        rules = commands.rules_of(history, folders=self.folders)
        asked = typed_changes(given, choose, policies, auto=auto)
        return table_what_if(self.path, history, rules, number, asked, seat=self.seat)


# ---------------------------------------------------------------------------------------------------------------------


@clean_errors
def open_table(
    path: PathLike, *, seat: str | None = HOST, rulesets: Folders | None = None, confined: bool = False
) -> PersistentTable:
    """Return a persistent table in a file, as one seat knows it.

    Args:
        path: the file, or a folder with `.rpgres/table.db` in it.
        seat: whose view it is, and who acts: `gm`, or a character's name; None for the host, who sees what any seat may
            see and may do everything; `everybody` for what everybody may know, as an open channel may show it, which
            does nothing.
        rulesets: further folders with rulesets and house rules.
        confined: whether inputs are untrusted: sheets are named without a folder, texts have at most 10,000 characters,
            and errors quote no file.

    Raises:
        TableError: there is no table, or the file cannot be used.
        UsageError: the table has no such seat.
    """
    table = PersistentTable(find_table(os.fspath(path)), seat, folders_of(rulesets), confined)
    history_of(table)
    return table


@clean_errors
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
    dice: str = "",
    deals: bool = True,
    rulesets: Folders | None = None,
    confined: bool = False,
) -> PersistentTable:
    """Begin a table in a new file, and return it; `show().commitment` commits it to its seed without revealing it.

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
        dice: `real` where a language model at a seat may give results of real dice and cards.
        deals: whether hands are dealt at once, where the rules say so; `False` for real cards.
        rulesets: further folders with rulesets and house rules.
        confined: as of `open_table`.

    Raises:
        UsageError: something named does not exist.
        FileError: a sheet is faulty, or there is a file already.
    """
    if isinstance(sheets, str):
        raise UsageError(f"sheets takes a list of sheets: [{sheets!r}]")
    place = Place(place_for(os.fspath(path)), folders_of(rulesets))
    named: dict[str, Any] = {"switches": switches or EMPTY, "title": title, "trust": trust, "dice": dice}
    named |= {"deals": deals, "seed": None if seed is None else str(seed)}
    commands.begin_table(place, ruleset=ruleset, sheets=list(sheets), **named)
    return open_table(place.path, seat=seat, rulesets=rulesets, confined=confined)
