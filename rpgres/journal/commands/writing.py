"""What all commands share to add to a journal: the table's place, its rules, the transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from os import urandom
from pathlib import Path
from typing import Any

import msgspec

from rpgres.engine.dealers import Hand, remembering
from rpgres.engine.views import HOST, seats_of
from rpgres.errors import RpgresError, UsageError, called, named
from rpgres.journal import store
from rpgres.journal.chain import SALT
from rpgres.journal.checking import is_known, remember, require_whole, stamp
from rpgres.journal.connections import keeper
from rpgres.journal.files import folders_of
from rpgres.journal.history import History
from rpgres.journal.records import Draft, Entry, Kind, Public, Secret
from rpgres.journal.replay import is_mid_procedure, state_now
from rpgres.model.state import EVERYBODY, State
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules, brought_by, unknown
from rpgres.version import __version__


def utc_now() -> str:
    """Return the time of day as it stands in a journal."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def fresh_salt() -> bytes:
    """Return random bytes for a commitment."""
    return urandom(SALT)


class Place(msgspec.Struct, frozen=True):
    """A table's file, and where time and salts come from.

    Attributes:
        folders: further folders with rulesets and house rules, beside those the table was begun with.
        now: returns the time.
        salt: returns `SALT` fresh random bytes.
    """

    path: Path
    folders: tuple[Path, ...] = ()
    now: Callable[[], str] = utc_now
    salt: Callable[[], bytes] = fresh_salt


class Done(msgspec.Struct, frozen=True):
    """What was added to a journal, and the journal as it is then."""

    history: History
    entries: tuple[Entry, ...]
    rules: Rules

    @property
    def entry(self) -> Entry:
        """The last entry that was added."""
        return self.entries[-1]


def rules_of(history: History, *, folders: Sequence[Path] = ()) -> Rules:
    """Return the rules a table is played by, as they are now.

    Raises:
        UsageError, PluginError, FileError: they are not there any more, or faulty.
    """
    new = history.new
    with needed(new.public.ruleset):
        return rules_in(new.public.ruleset, new.public.switches, folders_of(history, folders))


@contextmanager
def needed(ruleset: str) -> Iterator[None]:
    """Tell what a table whose ruleset is not found needs.

    Raises:
        UsageError: it is not found inside.
    """
    try:
        yield
    except UsageError as error:
        if "known" not in error.details or error.details.get("ruleset") != ruleset:
            raise
        needs = f"this table is played by the ruleset {ruleset}, which is not found: install its plugin"
        where = f"or name the folder that has it with {named('rulesets')}"
        raise UsageError(f"{needs}, {where}; {error.raw}", **error.details) from None


def state_at(history: History, *, folders: Sequence[Path] = ()) -> State:
    """Return the table as it is now, in the middle of a procedure as well; the rules are read only for that."""
    return state_now(rules_of(history, folders=folders), history) if is_mid_procedure(history) else history.state


def rules_in(ruleset: str, switches: Mapping[str, str], folders: tuple[Path, ...]) -> Rules:
    """Return the rules of a ruleset, as they are found now.

    Raises:
        UsageError, PluginError, FileError: there are none, or they are faulty.
    """
    return load_rules(find_ruleset(ruleset, extra=folders), switches=switches, extra=folders)


def hash_of(rules: Rules) -> str:
    """Return the hash of the effective rules."""
    return str(rules.layers.identity()["hash"])


def code_of(rules: Rules) -> str:
    """Return the version of the code: of rpgres, and of the distribution that has the ruleset."""
    return ", ".join(filter(None, (f"rpgres {__version__}", brought_by(rules.ruleset))))


class Transaction(msgspec.Struct, frozen=True):
    """A command under way: the journal and the rules as it finds them, and who gives it.

    Attributes:
        history: the journal, with what the command has added so far.
        seat: whose doing it is; None for the host.
        hand: asks a person for results of real dice.
        typist: the seat of that person; it may answer for another one, as the host.
    """

    place: Place
    history: History
    rules: Rules
    seat: str | None = HOST
    hand: Hand | None = None
    typist: str | None = HOST

    def of(self, seat: str | None) -> Transaction:
        """Return the same for another seat."""
        return msgspec.structs.replace(self, seat=seat)

    def after(self, draft: Draft) -> Transaction:
        """Return what goes on after an entry."""
        return msgspec.structs.replace(self, history=self.history.with_draft(draft))

    def draft(self, kind: Kind, secret: Secret, state: State | None = None, **public: Any) -> Draft:
        """Return an entry of this seat; the table stays as it is unless a state is given."""
        head = Public(kind=kind, at=self.place.now(), rules=hash_of(self.rules), code=code_of(self.rules), **public)
        own = msgspec.structs.replace(secret, by=self.seat or "")
        return Draft(head, own, state if state is not None else self.history.state)


Work = Callable[[Transaction], list[Draft]]  # returns the entries of a command


def write(
    place: Place,
    seat: str | None,
    work: Work,
    *,
    hand: Hand | None = None,
    is_host: bool = False,
    is_mending: bool = False,
) -> Done:
    """Write the entries of a command in one transaction.

    The file is not locked while a person is asked for results of real dice: the work is done once before, and what was
    said is remembered. An entry that is taken back may be followed by another one that asks for the same dice.

    Args:
        is_host: whether the host types for the seat.
        is_mending: whether they may follow a journal that is not in order.

    Raises:
        UsageError: there is no such seat.
        RpgresError: an entry was written though something was refused; it says so.
    """
    dice, typist = remembering(hand), HOST if is_host else seat
    if dice is not None:
        before = store.read(place.path)
        with suppress(RpgresError):  # which is raised when it is written
            check_seat(before, seat)
            work(Transaction(place, before, rules_of(before, folders=place.folders), seat, dice, typist))
    loaded: list[Rules] = []
    known: list[bool] = []
    refused: list[RpgresError] = []

    def drafts(history: History) -> list[Draft]:
        if is_mending:
            known.append(is_known(place.path, history))
        else:
            require_whole(place.path, history)
        loaded.append(rules_of(history, folders=place.folders))
        check_seat(history, seat)
        found = work(Transaction(place, history, loaded[0], seat, dice, typist))
        refused.extend(draft.refused for draft in found if draft.refused is not None)
        return found

    history, added = store.write(place.path, drafts, salt=place.salt, is_mending=is_mending)
    if all(known):
        path, new, head = place.path, history.new.hash, history.head.hash
        keeper().note_whole(path, head)
        keeper().after_commit(lambda: remember(path, new, head, seen=stamp(path)))
    for error in refused:
        error.add(_stands(history.head))
        error.details["entry"] = history.head.number
        raise error
    return Done(history, tuple(added), loaded[0])


def _stands(entry: Entry) -> str:
    """Return the message for an entry that was written though something was refused."""
    if entry.public.attempt:
        kept = f"entry {entry.number} keeps what it had shown, and the same dice and cards will be drawn again"
        return f"; it had no effect; {kept}"
    if entry.secret.waits is not None:
        return f"; earlier answers are kept, and entry {entry.number} is still pending"
    return f"; entry {entry.number} was written without it; see `{called('table log', last='1')}`"


def check_seat(history: History, seat: str | None, *, is_looking: bool = False) -> None:
    """Check that there is a seat of this name.

    Args:
        seat: its name; None for the host.
        is_looking: whether it only reads, as `EVERYBODY` may, the view without a seat.
    """
    if seat == EVERYBODY:
        if is_looking:
            return
        raise UsageError(f"{EVERYBODY} is no seat but a view: what everybody may know; it does nothing at the table")
    known = seats_of(history.state)
    if seat is not HOST and seat not in known:
        raise UsageError(unknown("seat", seat, known, of="this table"))
