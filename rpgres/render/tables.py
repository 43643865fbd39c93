"""Persistent tables as lines: seats, what is on the table, the log, pending decisions. Nothing here prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine.records import Pending, QuestionRecord, Result
from rpgres.engine.views import ANOTHER_SEAT
from rpgres.errors import called, counted
from rpgres.journal.forms import (
    ActEntry,
    AnswerEntry,
    EntryView,
    JoinEntry,
    NewEntry,
    NoteEntry,
    OrdersEntry,
    PassEntry,
    RevealEntry,
    RunEntry,
    SealEntry,
    SetEntry,
    UndoEntry,
)
from rpgres.journal.records import entries_words
from rpgres.model.cards import shown_codes
from rpgres.model.events import DecisionEvent, EventRecord, TurnEvent
from rpgres.model.state import EMPTY, GM, Box, Character, State, Tag
from rpgres.render.lines import INDENT, Line, Piece, Shown, line
from rpgres.render.results import apart, cards_words, pending_lines, record_lines, result_lines, said_lines
from rpgres.render.scenes import table_lines
from rpgres.render.words import box_mark, box_piece, counter_title, known_to, title, told_counters, who_is
from rpgres.text.harmless import harmless

LEARNED = {
    "draw": "rolls",
    "cards": "cards",
    "reveal": "something revealed",
}  # what a seat has learned of what was undone
MOST_NAMED = 3  # of what was undone, in one line
Told = dict[int, Sequence[EventRecord]]  # the events shown of a run, by the number of its first entry

if TYPE_CHECKING:
    from rpgres.journal.forms import PassRecord, TableRecord
    from rpgres.journal.verifying import Verification
    from rpgres.rulesets import RulesetFile


def show_lines(
    record: TableRecord,
    state: State,
    file: RulesetFile,
    *,
    pictures: Mapping[str, Sequence[str]] = EMPTY,
    answer: str = "",
    is_put: bool = False,
) -> list[Shown]:
    """Return a table as it is now.

    Args:
        record: what a seat sees of it.
        state: the state as that seat sees it.
        pictures: lines by name, of tracks and things that the ruleset shows in its own way.
        answer: the command line that answers what waits, where it is not the one at the table.
        is_put: whether what waits is put to the reader anyway, with its options.
    """
    name = record.title or file.title
    seat = f", seen by {who_is(record.seat)}" if record.seat is not None else ""
    entries = counted(record.entries, "entry", "entries")
    lines: list[Shown] = [line(Piece(name, "title"), Piece(f"  ({record.ruleset}, {entries}{seat})", "quiet"))]
    if state.periods:
        lines.append(line(INDENT, f"begun: {', '.join(state.periods)}"))
    for character in state.characters.values():
        lines += _character_lines(character, state, file)
    first = [*_tag_lines([tag for tag in state.tags if tag.on not in state.characters])]
    first += [line(INDENT, f"{counter_title(name, file)} {number}") for name, number in state.counters.items()]
    last = [_pass_line(passing) for passing in record.passes]
    for whose, number in record.orders.items():
        last.append(line(INDENT, Piece(f"{who_is(whose)} has standing orders (entry {number})", "quiet")))
    lines += table_lines(state, pictures=pictures, first=first, last=last)
    if record.pending is not None:
        if record.under_way:
            told = f"{title(record.pending.action or '')} is under way: its finished turns are included above."
            lines += [line(), line(INDENT, Piece(told, "quiet"))]
        elif state.piles:
            lines += [
                line(),
                line(INDENT, Piece("An action is pending; the cards above are those before it.", "quiet")),
            ]
        if is_put:
            lines.append(_open_line(record.pending))
        else:
            lines += [line(), *waiting_lines(record.pending, file, said_by=record.said_by, command=answer)]
    if record.seed is not None:
        lines += [line(), line(Piece(f"seed: {record.seed}", "quiet"))]
    return lines


def character_lines(state: State, who: str, file: RulesetFile) -> list[Line]:
    """Return one character at a table, with the cards they hold as far as the reader sees them."""
    _, *lines = _character_lines(state.characters[who], state, file)
    own = [(name, pile) for name, pile in state.piles.items() if pile.owner == who and len(pile)]
    held = [
        line(INDENT, f"{title(name.partition(':')[0])}: {cards_words(shown_codes(pile.cards))}") for name, pile in own
    ]
    return [*lines, *held]


def orders_lines(entry: OrdersEntry) -> list[Line]:
    """Return standing orders as lines: whose they are, and their text."""
    told = f" (entry {entry.number}, {entry.file})"
    heading = line(Piece(who_is(entry.seat), "title"), Piece(told, "quiet"))
    return [heading, *(line(INDENT, harmless(text)) for text in entry.text.splitlines())]


def _pass_line(passing: PassRecord) -> Line:
    label = passing.label or "every optional decision"
    return line(INDENT, Piece(f"{who_is(passing.seat)} skips {label} until: {passing.until}", "quiet"))


def _character_lines(character: Character, state: State, file: RulesetFile) -> Iterator[Line]:
    yield line()
    played = " (the game master's)" if state.seat_of(character.name) == GM else ""
    out = " (out)" if character.is_out else ""
    named = f"{character.title} ({character.name})" if character.title != character.name else character.name
    yield line(Piece(named, "title"), played, out)
    fresh = {name for name, field in file.sheet.items() if field.kind == "counter" and not field.default}
    told = told_counters(character, file).items()
    shown = [f"{title(name)} {number}" for name, number in told if number or name not in fresh]
    if shown:
        yield line(INDENT, ", ".join(shown))
    if character.abilities:
        ordered = sorted(character.abilities.items(), key=lambda item: -item[1])
        yield line(INDENT, ", ".join(f"{title(name)} {number}" for name, number in ordered))
    for name, boxes in character.tracks.items():
        if boxes:
            yield line(INDENT, f"{title(name)}: ", box_piece(boxes))
    yield from _tag_lines([tag for tag in state.tags if tag.on == character.name])


def _tag_lines(tags: list[Tag]) -> Iterator[Line]:
    for tag in tags:
        uses = ", ".join(f"{count} free for {who_is(holder)}" for holder, count in tag.uses.items())
        message = "; ".join(filter(None, (tag.kind, uses, known_to(tag.audience))))
        yield line(INDENT, Piece(tag.name, "name"), Piece(f" ({message})", "quiet"))


def waiting_lines(pending: Pending, file: RulesetFile, *, said_by: str | None, command: str = "") -> list[Line]:
    """Return what a table waits for, and how it is answered there, or by another command line."""
    question = pending.question
    if question.who == ANOTHER_SEAT or not question.label:
        return pending_lines(pending, file, how=[], said_by=said_by)
    command = command or called("table answer", choose=f"{question.label}=...")
    how = [line(INDENT, "Answer it with: ", Piece(command, "name"))]
    return pending_lines(pending, file, how=how, said_by=said_by)


def found_lines(
    found: Result | Pending,
    file: RulesetFile,
    *,
    said_by: str | None = None,
    is_put: bool = False,
    is_left: bool = False,
) -> list[Line]:
    """Return the result of an action at a table, or the decision it waits for, with the inputs that a seat typed.

    Args:
        said_by: the seat that typed the inputs; empty for the host.
        is_put: whether what waits is put to its owner anyway, with its options.
        is_left: whether the reader was asked, and left it open.
    """
    if not isinstance(found, Pending):
        return result_lines(found, file, said_by=said_by)
    if is_left:
        asked = _asked_words(found.question)
        return [
            line(INDENT, Piece(f"left open ({asked}); Enter asks again, now or at the next `rpgres play`", "quiet"))
        ]
    if is_put:
        return pending_lines(found, file, how=[_open_line(found)], said_by=said_by, is_listed=False)
    return waiting_lines(found, file, said_by=said_by)


def _open_line(pending: Pending) -> Line:
    return line(INDENT, f"a decision waits ({_asked_words(pending.question)})")


def log_lines(entries: Iterable[EntryView], file: RulesetFile, *, is_timed: bool = False) -> list[Line]:
    """Return everything that was done at a table, an entry after the other.

    Args:
        entries: as a seat sees them.
    """
    known: Told = {}
    return [one for entry in entries for one in entry_lines(entry, file, is_timed=is_timed, known=known)]


def entry_lines(
    entry: EntryView, file: RulesetFile, *, is_timed: bool = False, known: Told | None = None
) -> Iterator[Line]:
    """Yield an entry: its number, and what was done.

    Args:
        entry: as a seat sees it.
        known: what the entries before it have shown of procedures, which this one adds to.
    """
    time = f"{entry.at}  " if is_timed else ""
    failed = "failed: " if isinstance(entry, RunEntry) and entry.attempt else ""
    stands = "undone: " if entry.undone else failed
    lead = (Piece(f"{entry.number:>3}  {time}", "quiet"), Piece(stands, "quiet"))
    if not isinstance(entry, RunEntry) or entry.found is None:
        yield line(*lead, *_entry_words(entry))
        if isinstance(entry, RevealEntry):
            yield line("     ", Piece(f"salt of the commitment: {entry.salt}", "quiet"))
        return
    found = _news(entry, entry.found, file, {} if known is None else known)
    first, *rest = (
        _waits(found, entry, file) if isinstance(found, Pending) else found_lines(found, file, said_by=entry.said_by)
    )
    typed = typed_words(entry)
    yield line(*lead, *first, Piece(f"  ({typed})" if typed else "", "quiet"))
    yield from (line("     ", *pieces) for pieces in rest if not entry.undone)
    if entry.text:
        yield line("       ", Piece(entry.text, "quiet"))


def typed_words(entry: RunEntry) -> str:
    """Return what of an entry was typed and not drawn from the seed, and whether that ended a procedure early."""
    typed = [*entry.given, *entry.laid]
    stops = isinstance(entry, AnswerEntry) and entry.stops
    parts = [f"ended early by {who_is(entry.by) if entry.by else 'the host'}" if stops else ""]
    parts += [f"given, not from the seed: {', '.join(typed)}" if typed else ""]
    if isinstance(entry, AnswerEntry) and entry.accepted:
        parts.append(f"imported from a file: {entry.accepted}")
    return "; ".join(filter(None, parts))


def _news(entry: RunEntry, found: Result | Pending, file: RulesetFile, known: Told) -> Result | Pending:
    """Return the result of an entry; of a procedure, only what no entry before it has shown."""
    described = file.actions.get(found.action or "")
    if described is None or not described.procedure:
        return found
    run = entry.of if isinstance(entry, AnswerEntry) and entry.of is not None else entry.number
    events, before = found.events, known.get(run)
    known[run] = events
    if before is not None:
        start = next((place for place, pair in enumerate(zip(events, before, strict=False)) if pair[0] != pair[1]), -1)
        start = min(len(events), len(before)) if start < 0 else start
    elif isinstance(entry, AnswerEntry):  # the log before it is not at hand: from the last answer on
        start = max((place for place, one in enumerate(events) if isinstance(one, DecisionEvent)), default=0)
    else:
        start = 0
    if isinstance(found, Pending):
        return msgspec.structs.replace(found, events=events[start:])
    told = sum(len(event.effects) for event in events[:start] if isinstance(event, TurnEvent))
    return msgspec.structs.replace(found, events=events[start:], effects=found.effects[told:])


def _waits(pending: Pending, entry: RunEntry, file: RulesetFile) -> list[Line]:
    first, *_ = pending_lines(pending, how=[])
    known, others = apart((pending.question, *pending.together))
    asked = f" ({', '.join([*map(_asked_words, known), *others])})"
    lines = [(*first, Piece(asked, "quiet"))]
    if isinstance(entry, ActEntry):  # an answer goes on with these inputs
        lines += said_lines(pending, entry.said_by)
        lines += [line(INDENT, f"claimed: {', '.join(entry.claimed)}")] if entry.claimed else []
    described = file.actions.get(pending.action or "")
    if described is not None and described.procedure:
        lines += record_lines(pending.events, file, is_full=True)
    return lines


def _asked_words(asked: QuestionRecord) -> str:
    return f"{asked.label}: {who_is(asked.who)}" if asked.label else who_is(asked.who)


def _entry_words(entry: EntryView) -> Iterator[str | Piece]:
    by = f"{who_is(entry.by)}: " if entry.by else ""
    match entry:
        case EntryView(is_hidden=True):
            yield Piece("(hidden)", "quiet")
        case NewEntry():
            yield Piece(f"the table begins{': ' + entry.title if entry.title else ''}", "title")
            yield Piece(f" ({short_words(entry.short)})" if entry.short else "", "bad")
        case JoinEntry():
            came = "gets a new sheet" if entry.is_replaced else "sits down"
            yield f"{by}{entry.character} {came}"
            yield Piece(f" ({short_words(entry.short)})" if entry.short else "", "bad")
        case NoteEntry():
            yield f"{by}{entry.text}"
            yield Piece(_for(entry), "quiet")
        case SetEntry():
            yield f"{by}{entry.path} = {value_words(entry.value)}"
            yield Piece(f" (it was {value_words(entry.was)}){_for(entry)}", "quiet")
        case PassEntry():
            yield f"{by}skips {entry.label or 'every optional decision'} until: {entry.until}"
        case OrdersEntry():
            whose = who_is(entry.seat)
            own = by if entry.by != entry.seat else ""
            yield f"{own}{whose} {'has' if entry.text else 'has no more'} standing orders"
            yield Piece(f" ({entry.file})" if entry.file else "", "quiet")
        case UndoEntry():
            undid = f"undid: {_in_short(entry.undid)}" if entry.undid else ""
            answer = f"{who_is(entry.by) if entry.by else 'the host'} {entry.answer}{'; ' if undid else ''}"
            yield f"{answer if entry.answer else by}{undid}"
            first = entry.before or 0
            undone = entries_words(first, first if entry.is_alone else entry.number - 1)
            yield Piece(f" ({undone})" if undid else "", "quiet")
            if entry.passes:
                seen = ", ".join(LEARNED.get(one, one) for one in entry.passes)
                yield Piece(f" (already seen: {seen})", "bad")
        case SealEntry():
            yield f"{entry.by} seals an answer: {entry.commitment}"
        case RevealEntry():
            yield f"the seed is revealed: {entry.seed}"


def short_words(short: Mapping[str, int]) -> str:
    """Return by how much the deck was too small for the hands of those who sat down."""
    lacking = ", ".join(f"{who_is(who)} lacks {counted(count, 'card')}" for who, count in short.items())
    return f"the deck had too few cards: {lacking}"


def _in_short(names: Sequence[str]) -> str:
    """Return what was undone or redone, the last things first where there are many."""
    more = f", and {len(names) - MOST_NAMED} more before" if len(names) > MOST_NAMED else ""
    return ", ".join(names[-MOST_NAMED:]) + more


def redone_line(number: int, names: Sequence[str]) -> Line:
    """Return what was done again, by the number of its first entry."""
    return line(Piece(f"{number:>3}  ", "quiet"), f"redid: {_in_short(names)}")


def _for(entry: SetEntry | NoteEntry) -> str:
    return f" (for {', '.join(map(who_is, entry.to))})" if entry.to is not None else ""


def value_words(value: Any) -> str:
    """Return a value of the table in a word: plain, or as JSON where it is made of several."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping) and {"size", "mark"} <= value.keys():
        return box_mark(Box("", 0, str(value["mark"])))
    if isinstance(value, Mapping) and {"kind", "on"} <= value.keys():
        return str(value["kind"])
    if isinstance(value, Mapping) and {"abilities", "tracks", "is_out"} <= value.keys():
        return str(value.get("title") or value.get("name"))
    if isinstance(value, Mapping | list):
        return msgspec.json.encode(value).decode()
    return str(value) or "nothing"


def verdict_lines(verdict: Verification) -> list[Line]:
    """Return the result of verifying a journal."""
    styles = {"in order": "good", "incomplete": "even", "tampered": "bad", "rules changed": "even"}
    lines = [line(Piece(verdict.verdict, styles[verdict.verdict]), f": {counted(verdict.entries, 'entry', 'entries')}")]
    lines += [line(INDENT, Piece("wrong: ", "bad"), text) for text in verdict.problems]
    lines += [line(INDENT, "checked: ", text) for text in verdict.checked]
    lines += [line(INDENT, "not checked: ", text) for text in verdict.unchecked]
    return [*lines, line(INDENT, Piece(f"head: {verdict.head}", "quiet"))]
