"""`table verify`: the chain of hashes and, once the seed is known, every roll and every state.

What is found names entries by number and says nothing of what is in them, so that every seat may read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealing import Dealt
from rpgres.engine.records import Pending
from rpgres.errors import RpgresError, UsageError, called, readable
from rpgres.journal import store
from rpgres.journal.chain import canonical, commitment
from rpgres.journal.checking import chain_of
from rpgres.journal.commands import code_of, hash_of, kept_hands, rules_of, seated, set_table, streams_of
from rpgres.journal.commitments import check_opening
from rpgres.journal.history import Entries, History
from rpgres.journal.records import RUNNING, Entry, Secret, drawn_in, found_in
from rpgres.journal.replay import Ran, answered_in, run_at, run_of
from rpgres.journal.rows import state_of
from rpgres.journal.status import undone_in
from rpgres.journal.views import hidden_by
from rpgres.model.printed import Printed
from rpgres.model.serialization import state_record
from rpgres.model.state import State
from rpgres.model.typed_paths import typed_path
from rpgres.rulesets import Rules
from rpgres.rulesets.corrections import set_by
from rpgres.rulesets.sheets import read_sheet
from rpgres.stopping import STOP
from rpgres.toml.reading import Source

IN_ORDER, INCOMPLETE, TAMPERED, CHANGED = "in order", "incomplete", "tampered", "rules changed"
EXITS = {IN_ORDER: 0, INCOMPLETE: 20, TAMPERED: 21, CHANGED: 22}
SHORTEST = 8  # digits of a hash that is noted
STOPPED = ", as it was interrupted"


class Verification(Printed, frozen=True, kw_only=True, tag="rpgres.verify/1"):
    """The result of verifying a journal, as `rpgres table verify --json` prints it.

    Attributes:
        verdict: in order, incomplete, tampered, or rules changed.
        exit: the exit code: 0, 20, 21 or 22.
        entries: how many entries there are.
        head: the hash of the last entry.
        head_found: whether an entry has the hash that was noted; null where none was asked for.
        problems: what is wrong, by entry.
        checked: what was checked.
        unchecked: what could not be checked, and why.
    """

    verdict: Literal["in order", "incomplete", "tampered", "rules changed"]
    exit: int
    entries: int
    head: str
    head_found: bool | None = None
    problems: list[str]
    checked: list[str]
    unchecked: list[str]


class _Found(msgspec.Struct):
    """What is found on the way.

    Attributes:
        changed: of the rules that the journal was played by, what is not as it was.
    """

    problems: list[str]
    checked: list[str] = []
    unchecked: list[str] = []
    changed: list[str] = []


def verify(path: Path, *, head: str = "", folders: Sequence[Path] = ()) -> Verification:
    """Return whether a journal is in order; where a person stops it, as far as it was looked at.

    Args:
        head: the hash of an entry noted earlier, or its first digits; it has to be there.
        folders: further folders with rulesets and house rules.

    Raises:
        TableError: the file cannot be read at all.
    """
    chain = chain_of(path)
    found, entries = _Found([*chain.problems, *chain.unreadable]), chain.entries
    if STOP.is_asked:
        found.checked += [f"the chain of hashes up to entry {len(entries) - 1}"] if entries else []
        found.unchecked.append(f"the entries from {len(entries)} on{STOPPED}")
    elif not found.problems:
        found.checked.append("the chain of hashes, with all entries and states")
        _check_answers(found, entries)
        _check_rolls(found, History(entries, State(), path), path, folders)
    if found.problems:
        found.checked.clear()
    head_found = any(one.startswith(head.lower()) for one in chain.hashes) if head else None
    if head_found is False:
        found.problems.append(
            f"no entry has the noted hash {head}: entries were removed or rewritten, or the hash is of another table"
        )
    unchecked = [*found.unchecked, *found.changed]
    verdict = TAMPERED if found.problems else CHANGED if found.changed else INCOMPLETE if unchecked else IN_ORDER
    return Verification(
        verdict=verdict,  # type: ignore[arg-type]
        exit=EXITS[verdict],
        entries=len(chain.hashes),
        head=chain.hashes[-1] if chain.hashes else "",
        head_found=head_found,
        problems=list(map(readable, found.problems)),
        checked=found.checked,
        unchecked=list(map(readable, unchecked)),
    )


def _check_answers(found: _Found, entries: Sequence[Entry]) -> None:
    opened = [entry for entry in entries if entry.public.opens is not None]
    found.problems += [fault for entry in opened if (fault := _seal_fault(entries, entry))]
    answers = (entry for entry in entries if entry.kind == "answer")
    found.problems += [f"entry {entry.number}: {fault}" for entry in answers if (fault := _rewrites(entries, entry))]
    found.checked += [f"{len(opened)} sealed answers against their commitments"] if opened else []


def _check_rolls(found: _Found, history: History, path: Path, folders: Sequence[Path]) -> None:
    rules, why = _rules(history, folders)
    found.changed += [why] if why else _changed_rules(history, rules)
    if history.revealed is None:
        found.unchecked.append(f"the rolls, as the seed is still secret (`{called('table reveal')}` publishes it)")
    elif not _is_revealed_seed(history):
        found.problems.append("the seed that was revealed is not the one that was committed to")
    elif rules is not None and not found.changed:
        problems, done = _replay(path, history.entries, rules)
        found.problems += problems
        which = f"of the first {done} entries" if STOP.is_asked else f"replayed from the seed{_given(history)}"
        found.checked.append(f"every roll, result and state, {which}")
        found.unchecked += [f"the rolls from entry {done} on{STOPPED}"] if STOP.is_asked else []


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


def _rewrites(entries: Sequence[Entry], entry: Entry) -> str:
    """Return how an answer changes what was rolled, drawn or decided before it; empty if it does not."""
    mark = entry.secret.stands.pending
    last = entries[mark.number].secret if mark is not None else Secret()
    was, now = found_in(last), found_in(entry.secret)
    if not isinstance(was, Pending) or now is None:
        return "it answers a question that is not pending"
    is_taped = not isinstance(now, Pending) or entry.secret.tape[: len(last.tape)] == last.tape
    if not is_taped or not _goes_on(drawn_in(was), drawn_in(now)):
        return "it changes earlier random results"
    return "" if _goes_on(answered_in(was), answered_in(now)) else "it changes earlier decisions"


def _goes_on(was: Mapping[Any, Sequence[Any]], now: Mapping[Any, Sequence[Any]]) -> bool:
    return all(list(now.get(key, ())[: len(its)]) == list(its) for key, its in was.items())


# ---------------------------------------------------------------------------------------------------------------------
# The rules and the seed


def _rules(history: History, folders: Sequence[Path]) -> tuple[Rules | None, str]:
    try:
        rules = rules_of(history, folders=folders)
        hash_of(rules)
    except RpgresError as error:
        return None, f"the rules, which can no longer be loaded: {error.message}"
    return rules, ""


def _changed_rules(history: History, rules: Rules | None) -> list[str]:
    now = (hash_of(rules), code_of(rules)) if rules is not None else ("", "")
    changed_ = [str(entry.number) for entry in history.entries if (entry.public.rules, entry.public.code) != now]
    if not changed_:
        return []
    which = f"entry {changed_[0]}" if len(changed_) == 1 else f"entries {changed_[0]} to {changed_[-1]}"
    return [f"the rules: they have changed since {which} ({len(changed_)} of {len(history.entries)})"]


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
    undone = undone_in(history.entries)
    typed = (entry for entry in history.entries if entry.secret.given or entry.secret.laid)
    given = [str(entry.number) for entry in typed if entry.number not in undone]
    message = "; results of real dice or cards, and cards given by hand, were taken as given"
    return f"{message} (entries: {', '.join(given)})" if given else ""


# ---------------------------------------------------------------------------------------------------------------------
# Playing it again


def _replay(path: Path, entries: Entries, rules: Rules) -> tuple[list[str], int]:
    """Return the entries whose result differs when they are played again from the seed, and how many were played."""
    revealed = History(entries, State()).revealed
    assert revealed is not None
    seed, salt = revealed.public.seed or "", revealed.public.salt
    problems: list[str] = []
    last = State()

    def after(number: int) -> State:
        return store.read_state_after(path, entries[number])

    for row in store.read_rows(path):
        entry, recorded = entries[row.number], state_of(row.state())
        before = History(entries.up_to(entry.number), last) if entry.number else None
        try:
            state, fault = _again(rules, before, entry, after, seed=seed, salt=salt)
        except Exception as error:  # noqa: BLE001  # an entry that was forged may say anything
            state, fault = None, f"it cannot be replayed ({type(error).__name__})"
        if not fault and state is not None and canonical(state_record(state)) != canonical(state_record(recorded)):
            fault = "replaying it gives another state"
        if fault:
            problems.append(f"entry {entry.number}: {fault}")
        last = recorded
        STOP.tick()
        if STOP.is_asked:
            return problems, row.number + 1
    return problems, len(entries)


def _again(
    rules: Rules, before: History | None, entry: Entry, after: Callable[[int], State], *, seed: str, salt: str
) -> tuple[State, str]:
    """Return the table after an entry that is played again, and how the result differs; empty if it does not."""
    secret = entry.secret
    texts = {name: Source(*text) for name, text in secret.sheets.items()}
    if before is None:
        is_revealed = (secret.seed, secret.salt) == (seed, salt)
        streams = Streams(seed, salt=bytes.fromhex(salt)) if entry.public.deals else None
        dealt = set_table(rules, texts, streams=streams)
        return dealt.state, _dealt_fault(
            dealt, secret
        ) if is_revealed else "its seed and salt are not the revealed ones"
    if entry.kind in RUNNING:
        ran = _run_again(rules, before, entry, seed=seed)
        again = hidden_by(ran.secret, before.state, ran.state)
        is_same = _comparable(again, entry) == _comparable(entry.secret, entry)
        return ran.state, "" if is_same else "replaying it gives another result"
    match entry.kind:
        case "join":
            name, source = next(iter(texts.items()))
            sheet = read_sheet(rules, name, source=source)
            dealt = seated(rules, before.state, sheet, streams=streams_of(before), step=before.step())
            return dealt.state, _dealt_fault(dealt, secret)
        case "set":
            to = secret.label.split(",") if secret.label else ()
            return set_by(rules, before.state, typed_path(secret.path), secret.text, seat=secret.by or None, to=to), ""
        case "undo":
            first = entry.public.before or 0
            return before.state if entry.public.alone else after(first - 1), ""
    return before.state, ""


def _dealt_fault(dealt: Dealt, secret: Secret) -> str:
    """Return whether other hands are dealt again than an entry has; at older tables it says nothing of them."""
    again = kept_hands(dealt)
    is_same = not secret.dealt or (secret.dealt, secret.short) == (again["dealt"], again["short"])
    return "" if is_same else "replaying it deals other hands"


def _run_again(rules: Rules, before: History, entry: Entry, *, seed: str) -> Ran:
    everything = History(before.entries.up_to(entry.number + 1), before.state)
    begun = everything.run_of(entry)
    asked = run_of(everything, entry)
    # The decisions are those that were taken; the dice are the seed's, or were read off real ones.
    # What had been rolled when it was answered stays; the rest of what was read off real dice had been given by then.
    last = before.pending.secret if entry.kind == "answer" and before.pending is not None else Secret()
    given = {
        label: [
            *[
                msgspec.structs.replace(one, claim="pending") if one.claim else one
                for one in entry.secret.given.get(label, [])[len(last.given.get(label, ())) :]
                if one is not None
            ],
            *entry.secret.later.get(label, ()),
        ]
        for label in {*entry.secret.given, *entry.secret.later}
    }
    asked = msgspec.structs.replace(
        asked,
        policies={},
        answered=answered_in(found_in(entry.secret)),
        given=given,
        tape=tuple(last.tape),
        typed=last.given,
    )
    step, strict = before.step(begun if begun is not entry else None), given if entry.public.attempt else ()
    return run_at(rules, before, asked, seed=seed, step=step, strict=strict, is_replay=True)


def _comparable(secret: Secret, entry: Entry) -> Any:
    """Return the result of a run, without what concerns the host alone: folders of overlays and the version.

    Of an attempt, that is what had happened when it failed; a wrong answer is not asked for again.
    """
    found = secret.result if secret.result is not None else secret.waits
    said = canonical([secret.laid, secret.claimed, secret.private, secret.hidden])
    if entry.public.attempt:
        return said, canonical((found or {}).get("events"))
    kept = {key: value for key, value in (found or {}).items() if key not in ("version", "rules")}
    return said, secret.waits is None, canonical(kept), secret.tape, secret.given, secret.later
