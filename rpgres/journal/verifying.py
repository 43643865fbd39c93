"""Whether a journal is what was played: its chain of hashes and, once the seed is known, every roll and every state.

What is found names entries by number and says nothing of what is in them, so that every seat may read it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from rpgres.errors import RpgresError, UsageError
from rpgres.journal import store
from rpgres.journal.chain import START, canonical, commitment
from rpgres.journal.places import changed, shown_to
from rpgres.journal.records import (
    RUNNING,
    SAID,
    Entries,
    Entry,
    History,
    Pass,
    Secret,
    Standing,
    found_in,
    pass_of,
    stands_after,
    taken_back,
)
from rpgres.journal.running import Ran, answered_in, run_at, run_of
from rpgres.journal.sealing import check_opening
from rpgres.journal.sitting import code_of, hash_of, rules_of, seated, set_table
from rpgres.journal.store import Row
from rpgres.keeping import state_record
from rpgres.rulesets import Rules
from rpgres.sheets import read_sheet
from rpgres.state import State
from rpgres.tomlfiles import Source
from rpgres.version import __version__

IN_ORDER, INCOMPLETE, TAMPERED, CHANGED = "in order", "incomplete", "tampered", "rules changed"
EXITS = {IN_ORDER: 0, INCOMPLETE: 20, TAMPERED: 21, CHANGED: 22}
SHORTEST = 8  # digits of a hash that is noted


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What came of verifying a journal, as `rpgres table verify --json` prints it."""

    format: Literal["rpgres.verify/1"] = "rpgres.verify/1"
    version: str
    verdict: Literal["in order", "incomplete", "tampered", "rules changed"]
    exit: int
    entries: int
    head: str
    head_found: bool | None = None
    problems: list[str]
    checked: list[str]
    unchecked: list[str]


def verify(path: Path, *, head: str = "", folders: Sequence[Path] = ()) -> Verification:
    """Return whether a journal is in order.

    Args:
        path: the table's file.
        head: the hash of an entry that somebody noted, or its first digits; it has to be there.
        folders: further folders with rulesets and house rules.

    Raises:
        TableError: the file cannot be read at all.
    """
    chain = chain_of(path)
    problems = list(chain.problems)
    entries = chain.entries if not problems else []
    checked = ["the chain of hashes, and every part and state against it"] if not problems else []
    unchecked: list[str] = []
    head_found = any(one.startswith(head.lower()) for one in chain.hashes) if head else None
    changed_since: list[str] = []
    if entries:
        known = Entries(len(entries), dict(enumerate(entries)))
        history = History(known, State())
        opened = [entry for entry in entries if entry.public.opens is not None]
        problems += [fault for entry in opened if (fault := _seal_fault(entries, entry))]
        checked += [f"{len(opened)} sealed answers against their commitments"] if opened else []
        rules, why = _rules(history, folders)
        changed_since = [why] if why else _changed_rules(history, rules)
        if history.revealed is None:
            unchecked.append("the rolls, as the seed is still secret (`rpgres table reveal` tells it)")
        elif not _is_revealed_seed(history):
            problems.append("the seed that was revealed is not the one that was committed to")
        elif rules is not None and not changed_since:
            problems += _replay(path, known, rules)
            checked.append(f"every roll, result and state, replayed from the seed{_given(history)}")
    if problems:
        checked = []
    if head_found is False:
        problems.append(
            f"no entry has the noted hash {head}: entries were cut off or rewritten, or it is another table's"
        )
    unchecked += changed_since
    verdict = TAMPERED if problems else CHANGED if changed_since else INCOMPLETE if unchecked else IN_ORDER
    return Verification(
        version=__version__,
        verdict=verdict,  # type: ignore[arg-type]
        exit=EXITS[verdict],
        entries=len(chain.hashes),
        head=chain.hashes[-1] if chain.hashes else "",
        head_found=head_found,
        problems=problems,
        checked=checked,
        unchecked=unchecked,
    )


# ---------------------------------------------------------------------------------------------------------------------
# The chain


class Chain(msgspec.Struct, frozen=True):
    """A journal read from its beginning: its entries as far as they can be read, all hashes, and what does not fit."""

    entries: list[Entry]
    hashes: list[str]
    problems: list[str]


def chain_of(path: Path) -> Chain:
    """Return a journal with what does not fit in it: by number, in order. Every byte that counts is hashed.

    Raises:
        TableError: the file cannot be read at all.
    """
    found = Chain([], [], [])
    before, latest, stands = START, deque[bytes](), _Stands()
    for row in store.read_rows(path):
        faults = store.row_faults(row, before)
        place = len(found.hashes)
        if row.number != place and not found.problems:
            faults.insert(0, f"entry {place} is missing")
        if not faults:
            faults = [f"entry {row.number}: {fault}" for fault in _faults(row, latest)]
        if not row.fault:
            latest.appendleft(row.body)
            if sum(map(len, latest)) > 2 * store.WORDS + len(row.body):
                latest.pop()
        if not faults:
            entry = store.entry_of(row)
            fault = stands.fault(entry) if not found.problems else ""
            faults = [f"entry {row.number}: {fault}"] if fault else []
            found.entries.append(entry)
        found.problems.extend(faults)
        found.hashes.append(row.hash.hex())
        before = row.hash
    missing = [number for number in store.read_bases(path) if number not in range(len(found.hashes))]
    found.problems.extend(f"entry {number} is missing; the table after it is there" for number in missing)
    if not found.hashes:
        found.problems.append("there is no entry")
    return found


def _faults(row: Row, latest: Iterable[bytes]) -> Iterator[str]:
    """Yield what is wrong with the table after an entry, and with what others are packed with."""
    fault = store.state_fault(row, store.entry_of(row).secret.state)
    if fault:
        mended = f"; `rpgres table undo {row.number}` takes it back" if "cannot be read" in fault else ""
        yield f"the table after it {fault}{mended}"
    if row.base is not None and row.base.number == row.number and row.base.words != store.words_of(latest):
        yield "what later entries are packed with is not what was written before it"


class _Stands:
    """What stands after each entry, worked out from the beginning."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._done: list[int] = []  # numbers of what stands, but for notes and passes
        self._said: set[int] = set()  # numbers of notes and passes that stand
        self._passes: list[Pass] = []  # of all that was said in advance, taken back or not
        self._alone: set[int] = set()  # numbers of notes and passes that were taken back

    def fault(self, entry: Entry) -> str:
        """Return what an entry says of earlier ones that is not so; empty when all of it is. It is the next one."""
        before, public = entry.public.before, entry.public
        is_sound = public.alone == (before in self._said) and entry.secret.stands == self._expected(entry)
        if entry.kind == "undo":
            is_sound = is_sound and (before in self._said or before in self._done)
        if public.of is not None:
            run = entry.secret.stands.run
            is_sound = is_sound and run is not None and public.of == run.number
        self._add(entry)
        return "" if is_sound else "what it says of earlier entries is not so"

    def _expected(self, entry: Entry) -> Standing:
        if not self._entries:
            return Standing()
        now, before = stands_after(self._entries[-1]), entry.public.before
        if entry.kind != "undo" or before is None:
            return now
        if before in self._said:
            return msgspec.structs.replace(now, passes=tuple(one for one in now.passes if one.number != before))
        later = self._passes[bisect_left(self._passes, before, key=lambda one: one.number) :]
        return taken_back(self._entries[before], later, self._alone)

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        before = entry.public.before or 0
        if entry.kind == "pass":
            self._passes.append(pass_of(entry))
        if entry.kind in SAID:
            self._said.add(entry.number)
        elif entry.kind != "undo":
            self._done.append(entry.number)
        elif before in self._said:
            self._said.discard(before)
            self._alone.add(before)
        else:
            while self._done and self._done[-1] >= before:
                self._done.pop()


def _seal_fault(entries: Sequence[Entry], opened: Entry) -> str:
    """Return what is wrong with an answer that opens a seal; empty when it is the one that was sealed."""
    secret, number = opened.secret, opened.public.opens
    seal = entries[number] if number is not None and number < opened.number else None
    try:
        if seal is None or seal.kind != "seal":
            raise UsageError("there is no such seal")
        check_opening(seal, label=secret.label, answer=secret.text, salt=secret.salt)
    except (UsageError, ValueError):
        return f"entry {opened.number}: the answer is not the one that was sealed in entry {number}"
    return ""


# ---------------------------------------------------------------------------------------------------------------------
# The rules and the seed


def _rules(history: History, folders: Sequence[Path]) -> tuple[Rules | None, str]:
    try:
        rules = rules_of(history, folders=folders)
        hash_of(rules)
    except RpgresError as error:
        return None, f"the rules, which cannot be read any more: {error.message}"
    return rules, ""


def _changed_rules(history: History, rules: Rules | None) -> list[str]:
    now = (hash_of(rules), code_of(rules)) if rules is not None else ("", "")
    changed_ = [str(entry.number) for entry in history.entries if (entry.public.rules, entry.public.code) != now]
    if not changed_:
        return []
    return [
        f"the rules: they have changed since {_entries_words(changed_)} ({len(changed_)} of {len(history.entries)})"
    ]


def _entries_words(numbers: list[str]) -> str:
    return f"entry {numbers[0]}" if len(numbers) == 1 else f"entries {numbers[0]} to {numbers[-1]}"


def _is_revealed_seed(history: History) -> bool:
    """Tell whether what was revealed is what the first entry committed to, and what the dice were drawn from."""
    revealed = history.revealed
    assert revealed is not None
    seed, salt = revealed.public.seed or "", revealed.public.salt
    try:
        bound = commitment(bytes.fromhex(salt), seed.encode()).hex()
    except ValueError:
        return False
    return bound == history.new.public.commitment


def _given(history: History) -> str:
    """Return which entries have results or cards that were typed, of which the seed says nothing."""
    given = [str(entry.number) for entry in history.standing if entry.secret.given or entry.secret.laid]
    told = "; what was read off real dice or cards, or said to lie there, is as it was typed"
    return f"{told} (entries: {', '.join(given)})" if given else ""


# ---------------------------------------------------------------------------------------------------------------------
# Playing it again


def _replay(path: Path, entries: Entries, rules: Rules) -> list[str]:
    """Return the entries of which something else comes when they are played again from the seed."""
    revealed = History(entries, State()).revealed
    assert revealed is not None
    seed = revealed.public.seed or ""
    problems: list[str] = []
    last = State()

    def after(number: int) -> State:
        return store.read_state_after(path, entries[number])

    for row in store.read_rows(path):
        entry, recorded = entries[row.number], store.state_of(row.state())
        before = History(entries.up_to(entry.number), last) if entry.number else None
        try:
            state, fault = _again(rules, before, entry, after, seed=seed)
        except Exception as error:  # noqa: BLE001  # an entry that was forged may say anything
            state, fault = None, f"it cannot be played again ({type(error).__name__})"
        if not fault and state is not None and canonical(state_record(state)) != canonical(state_record(recorded)):
            fault = "another table comes of it when it is played again"
        if fault:
            problems.append(f"entry {entry.number}: {fault}")
        last = recorded
    return problems


def _again(
    rules: Rules, before: History | None, entry: Entry, after: Callable[[int], State], *, seed: str
) -> tuple[State, str]:
    """Return the table after an entry when it is played again, and what else comes of it; empty when nothing does."""
    secret = entry.secret
    texts = {name: Source(*text) for name, text in secret.sheets.items()}
    if before is None:
        return set_table(rules, texts), "" if secret.seed == seed else "its seed is not the one that was revealed"
    if entry.kind in RUNNING:
        ran = _run_again(rules, before, entry, seed=seed)
        is_same = _comparable(ran.secret) == _comparable(entry.secret)
        return ran.state, "" if is_same else "something else comes of it when it is played again"
    match entry.kind:
        case "join":
            name, source = next(iter(texts.items()))
            return seated(rules, before.state, read_sheet(rules, name, source=source)), ""
        case "set":
            to = secret.label.split(",") if secret.label else ()
            return shown_to(changed(rules, before.state, secret.path, secret.text), secret.path, to), ""
        case "undo":
            first = entry.public.before or 0
            return before.state if entry.public.alone else after(first - 1), ""
    return before.state, ""


def _run_again(rules: Rules, before: History, entry: Entry, *, seed: str) -> Ran:
    everything = History(before.entries.up_to(entry.number + 1), before.state)
    begun = everything.run_of(entry)
    asked = run_of(everything, entry)
    # The decisions are those that were taken; the dice are the seed's, or were read off real ones.
    asked = msgspec.structs.replace(
        asked, policies={}, answered=answered_in(found_in(entry.secret)), spare=tuple(asked.given)
    )
    return run_at(
        rules, before, asked, seed=seed, step=before.step(begun if begun is not entry else None), is_replay=True
    )


def _comparable(secret: Secret) -> Any:
    """Return what came of a run, without what is the host's own matter: where overlays lie, and which rpgres it was."""
    found = secret.result if secret.result is not None else secret.waits
    kept = {key: value for key, value in (found or {}).items() if key not in ("version", "rules")}
    return secret.waits is None, canonical(kept)
