"""Skipping decisions in advance, undo and redo, corrections, notes, and the seed revealed, one function a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from rpgres.engine.dealers import Hand
from rpgres.engine.periods import period_names
from rpgres.engine.players import NO
from rpgres.engine.views import HOST, event_seen, seats_of
from rpgres.errors import UsageError, named
from rpgres.journal import store
from rpgres.journal.commands.pending import refuse_sealed, refuse_while_pending, require_mine
from rpgres.journal.commands.running import Typed, answer_draft, draft_of
from rpgres.journal.commands.writing import Done, Place, Transaction, check_seat, hash_of, write
from rpgres.journal.history import History
from rpgres.journal.records import ACTION, ALWAYS, RUNNING, SAID, Draft, Entry, Secret, allows, asked_words, events_in
from rpgres.journal.replay import Run, put_to, run_at
from rpgres.journal.status import chance_in
from rpgres.journal.views import learned_from
from rpgres.model.paths import value_at
from rpgres.model.state import GM, State
from rpgres.model.typed_paths import typed_path
from rpgres.rulesets import RowQuestion, Rules, unknown
from rpgres.rulesets.corrections import full_path, path_after, readers_of, set_by
from rpgres.rulesets.sheets import check_character, refusals
from rpgres.rulesets.tree import walk


def let_pass(
    place: Place,
    label: str = "",
    *,
    seat: str | None,
    until: str = ACTION,
    hand: Hand | None = None,
    is_host: bool = False,
) -> Done:
    """Have a seat skip optional questions in advance, so that the table does not wait for it.

    The host does so for the seat that is asked now, where it is for this action alone, and else for all seats.

    Args:
        label: which decisions; all when empty. Decisions that have to be taken are not touched.
        until: how long: `action` (until the action that is going on, or else the next one, is over), `always`, or the
            name of a period (until one of these begins or ends).
        hand: asks a person for results of real dice, where the action goes on.
        is_host: whether the host types for the seat.

    Raises:
        UsageError: there is no such label or period.
    """

    def work(at: Transaction) -> list[Draft]:
        history, rules = at.history, at.rules
        _check_label(rules, label)
        spans = [ACTION, *period_names(rules), ALWAYS]
        if until not in spans:
            raise UsageError(unknown("span", until, spans, of=named("until")))
        asked = put_to(history, seat)
        owner = history.state.seat_of(asked.who) if asked is not None else ""
        is_now = asked is not None and asked.optional and label in ("", asked.label)
        seats = [seat] if seat is not HOST else [owner] if is_now and until == ACTION else seats_of(history.state)
        drafts = [at.of(one).draft("pass", Secret(label=label, until=until)) for one in seats]
        if asked is not None and is_now:
            refuse_sealed(history, owner)
            for draft in drafts:
                at = at.after(draft)
            drafts.append(answer_draft(at.of(owner), Typed(choose={asked.label: [NO]})))
        return drafts

    return write(place, seat, work, hand=hand, is_host=is_host)


def _check_label(rules: Rules, label: str) -> None:
    from rpgres.engine.labels import labels_of

    known = {
        name for action in rules.file.actions for name, kind in labels_of(rules, action).items() if kind != "chance"
    }
    known |= {name for name, text in rules.file.labels.items() if text.kind != "chance"}
    if label and label not in known:
        raise UsageError(unknown("decision", label, sorted(known), of=f"the ruleset {rules.id}"))


def may_pass(rules: Rules, label: str) -> bool:
    """Tell whether the data of a ruleset make a decision optional; only those can be skipped in advance."""
    own = rules.file.labels.get(label)
    if own is not None and own.optional:
        return True
    names = {name for action in rules.file.actions.values() for name in action.tables}
    return any(
        node.optional
        for path, node in walk([rules.table(name) for name in names], menu=rules.menu)
        if isinstance(node, RowQuestion) and path[-1] == label
    )


def undo(place: Place, number: int | None = None, *, seat: str | None = HOST) -> Done:
    """Take back everything from an entry on; the journal keeps it, and the table is as it was before.

    Where a player's seat has seen dice or cards in it, this is a request, unless the table trusts its players.
    Notes and passes that came later stay. One of these that is named is taken back alone.

    Args:
        number: the entry; by default the last that stands, and no note or pass of another player: the last answer while
            an action waits for another one, or the end of a procedure that was ended early; the whole action once it is
            over.
        seat: who takes back: the game master, or a seat that only takes back what it did itself.

    Raises:
        UsageError: there is no such entry, it does not stand, or it is not this seat's to take back.
    """

    def work(at: Transaction) -> list[Draft]:
        history = at.history
        before = _first_undone(history, number, seat)
        undone = history.undone_from(before)
        if any(entry.kind == "reveal" for entry in undone):
            raise UsageError("a revealed seed is known, so the reveal cannot be undone; begin a new table")
        require_mine(history, undone, seat)
        return _requested(at, undone, before) or [_undo_draft(at, before)]

    return write(place, seat, work, is_mending=True)


def _undo_draft(at: Transaction, before: int) -> Draft:
    history, path = at.history, at.place.path
    undone = history.undone_from(before)
    is_said = history.entries[before].kind in SAID
    # All that stands and was done earlier had been done by then, as nothing is taken back without what follows it.
    state = history.state if is_said else store.read_state_after(path, history.entries[before - 1])
    passes = learned_from(history, undone, state, store.read_states_after(path, undone))
    stands, known = history.without(before)
    secret = Secret(passes=passes, stands=stands, known=known)
    return at.draft("undo", secret, state, before=before, alone=is_said)


def _requested(at: Transaction, entries: Sequence[Entry], before: int | None = None) -> list[Draft]:
    """Return the request to undo or redo entries; none where the seat may do it, or saw no dice or cards there.

    A player who has seen a roll could otherwise undo it, and spend the same dice on something else.
    """
    history, seat = at.history, at.seat
    is_free = seat in (HOST, GM) or history.new.public.trust != "gm"
    if is_free or not any(_shows_chance(history, entry, seat) for entry in entries):
        return []
    asks = (entries[0].number, entries[-1].number)
    asked = Run(kind="request", name=asked_words(before, asks), by=seat or "")
    return [draft_of(at, "request", run_at(at.rules, history, asked, step=history.step()), before=before, asks=asks)]


def _shows_chance(history: History, entry: Entry, seat: str | None) -> bool:
    """Whether a seat saw dice or cards in an entry that its action had not shown before."""
    asking = entry.secret.stands.pending if entry.kind == "answer" else None
    known = events_in(history.entries[asking.number].secret) if asking is not None else ()
    before, now = (
        sum(1 for _ in chance_in(filter(None, (event_seen(event, seat) for event in events))))
        for events in (known, events_in(entry.secret))
    )
    return now > before


def after_answer(at: Transaction) -> list[Draft]:
    """Return what follows the answer just added: where it answers a request, that is undone, or done as well."""
    answer = at.history.head
    request = at.history.run_of(answer)
    if request.kind != "request" or answer.secret.result is None:
        return []
    is_granted = allows(answer)
    before = request.public.before
    if is_granted and before is not None:
        return [_undo_draft(at, before)]
    undone = _undo_draft(at, request.number)
    return [undone, *(_redo_drafts(at.after(undone), at.history.to_redo()) if is_granted else ())]


def redo(place: Place, *, seat: str | None = HOST) -> Done:
    """Do again what the last undo took back, with every die as it fell; several undos are redone one after the other.

    Args:
        seat: who does it: the game master, or a seat whose doing all of it was.

    Raises:
        UsageError: nothing was undone, something else was done since, or it is not this seat's.
    """

    def work(at: Transaction) -> list[Draft]:
        history = at.history
        entries = history.to_redo()
        if not entries:
            raise UsageError(
                "there is nothing to redo: only what the last `undo` took back, before anything else is done"
            )
        require_mine(history, entries, seat, what="redo")
        return _requested(at, entries) or _redo_drafts(at, entries)

    return write(place, seat, work)


def _redo_drafts(at: Transaction, entries: Sequence[Entry]) -> list[Draft]:
    history, place = at.history, at.place
    if any(entry.kind in RUNNING and entry.public.rules != hash_of(at.rules) for entry in entries):
        raise UsageError("the rules have changed since then; repeat the action instead")
    states = store.read_states_after(place.path, entries)
    # An action whose answer is redone alone may have been redone itself.
    redone = {one.public.again: one.number for one in history.standing if one.public.again is not None}
    numbers = redone | {entry.number: len(history.entries) + offset for offset, entry in enumerate(entries)}
    return [_again(place, entry, states[entry.number], numbers) for entry in entries]


def _again(place: Place, entry: Entry, state: State, numbers: Mapping[int, int]) -> Draft:
    """Return the entry that repeats another; references to other repeated entries are updated."""
    public = entry.public
    moved = dict[str, int]()
    for key in ("of", "opens"):
        number = getattr(public, key)
        while number in numbers:
            number = numbers[number]
        if number is not None:
            moved[key] = number
    return Draft(msgspec.structs.replace(public, at=place.now(), again=entry.number, **moved), entry.secret, state)


def _first_undone(history: History, number: int | None, seat: str | None) -> int:
    if number is None:
        own = _last_own(history, seat or "")
        if own is None:
            raise UsageError("there is nothing to undo")
        is_asked = history.pending is not None and history.pending.number == own.number
        return own.number if is_asked or own.public.stops else history.run_of(own).number
    if number == 0:
        raise UsageError("entry 0 is the table itself and cannot be undone; to remove the table, delete its file")
    standing = history.standing_from(number) if 0 < number < len(history.entries) else []
    if not standing or standing[0].number != number:
        last = ", ".join(str(entry.number) for entry in history.standing_from(max(1, len(history.entries) - 12)))
        there = f"the last entries: {last}" if last else "there is nothing to undo"
        raise UsageError(f"there is no entry {number} to undo; {there}")
    return number


def _last_own(history: History, by: str) -> Entry | None:
    """Return the last entry that stands and is no note or pass of another player; None where there is none."""
    first, count = len(history.entries), 1
    while first > 1:
        first, count = max(1, first - count), count * 2  # most often it is the last one
        for entry in reversed(history.standing_from(first)):
            if entry.kind not in SAID or entry.secret.by == by:
                return entry
    return None


def set_value(place: Place, path: str, text: str, *, seat: str | None = HOST, to: Sequence[str] = ()) -> Done:
    """Correct or award something: put a value at a place of the table.

    Args:
        path: where, as in a scene's `expect`: `characters.mara.counters.fate-points`, or short: `mara.fate-points`.
        text: the value as typed; what stands there tells its type.
        to: the seats that may know of the tag, track or thing from now on; as before by default.

    Raises:
        UsageError: there is no such place, or the value does not fit.
    """

    def work(at: Transaction) -> list[Draft]:
        history, rules = at.history, at.rules
        if seat not in (HOST, GM):
            raise UsageError(f"only the game master can change the table, not {seat}")
        refuse_while_pending(history, "set", seat)
        for one in to:
            check_seat(history, one)
        before = history.state if seat is HOST else history.state.seen_by(seat)
        where = full_path(before, typed_path(path))
        state = set_by(rules, history.state, where, text, seat=seat, to=to)
        if (who := where.character) in state.characters:
            check_character(rules, state.characters[who], was=history.state.characters[who])
        was, value = value_at(before, where.text), value_at(state, path_after(where, text).text)
        readers = readers_of(before, state, where, text)
        secret = Secret(path=where.text, text=text, was=was, value=value, to=readers, label=",".join(to))
        return [at.draft("set", secret, state)]

    return write(place, seat, work)


def left_wrong(done: Done) -> list[str]:
    """Return why the ruleset still refuses the character that a value was set of; nothing where it does not."""
    character = done.history.state.characters.get(typed_path(done.entry.secret.path).character)
    faults = refusals(done.rules, character) if character is not None else ()
    return [f"the sheet is still not possible in this ruleset: {fault}" for fault in faults]


def write_note(place: Place, text: str, *, seat: str | None = HOST, to: Sequence[str] = ()) -> Done:
    """Write something down in the journal.

    Args:
        to: the seats that may read it, beside its own; everybody by default.

    Raises:
        UsageError: there is no such seat, or nothing is said.
    """

    def work(at: Transaction) -> list[Draft]:
        if not text.strip():
            raise UsageError("a note must not be empty")
        for one in to:
            check_seat(at.history, one)
        readers = list(dict.fromkeys([*to, *([seat] if seat is not HOST else [])])) if to else None
        return [at.draft("note", Secret(text=text, to=readers))]

    return write(place, seat, work)


def reveal(place: Place, *, seat: str | None = HOST) -> Done:
    """Reveal the seed, so that everybody can check every roll; nothing more is played at the table.

    Raises:
        UsageError: something waits, or it was revealed already.
    """

    def work(at: Transaction) -> list[Draft]:
        history = at.history
        if seat not in (HOST, GM):
            raise UsageError(f"only the game master can reveal the seed, not {seat}")
        if history.revealed is not None:
            raise UsageError(f"the seed was revealed already, in entry {history.revealed.number}")
        refuse_while_pending(history, "reveal", seat)
        new = history.new.secret
        return [at.draft("reveal", Secret(), seed=new.seed, salt=new.salt)]

    return write(place, seat, work)
