"""The account of a persistent table from its log as a seat sees it, and the files of `rpgres table export`.

An account has a chapter for each scene. Undone, failed and unfinished entries are left out; the entry with the last
answer has the whole action.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from rpgres.engine.records import Result
from rpgres.formats.accounts import Account, Change, Chapter, Note, Remark, RuleLine, Turn
from rpgres.formats.editors import FOLDER, file_name, schema_text, with_schema_line
from rpgres.formats.lonelog import as_lonelog
from rpgres.journal.exporting import sheets_of
from rpgres.journal.forms import (
    BeginEntry,
    EndEntry,
    EntryView,
    JoinEntry,
    NoteEntry,
    RevealEntry,
    RunEntry,
    SealEntry,
    SetEntry,
    TableRecord,
)
from rpgres.journal.history import History
from rpgres.journal.rolls import COLUMNS, cells_of, rolls_of
from rpgres.journal.views import log_seen, table_record
from rpgres.model.paths import ABSENT
from rpgres.model.state import State
from rpgres.render.accounts.html import as_html
from rpgres.render.accounts.markdown import as_markdown
from rpgres.render.accounts.scenes import heading_of, path_words, turns_of
from rpgres.render.accounts.things import table_of
from rpgres.render.accounts.words import Words, words_of
from rpgres.render.documents import csv_text
from rpgres.render.results import moment_words
from rpgres.render.tables import typed_words, value_words
from rpgres.render.words import title
from rpgres.rulesets import Rules
from rpgres.text.harmless import in_line


def account_of_table(record: TableRecord, entries: Iterable[EntryView], state: State, rules: Rules) -> Account:
    """Return the account of a table.

    Args:
        record: the table as a seat sees it.
        entries: its log, as that seat sees it.
        state: the table, as that seat sees it.
    """
    heading = heading_of(
        rules, state, title=record.title or rules.file.title, seed=record.seed, seat=record.seat or "the host"
    )
    chapters = list(_chapters(entries, words_of(rules, state)))
    return msgspec.structs.replace(heading, chapters=chapters, table=table_of(state, rules))


def table_files(history: History, rules: Rules, *, seat: str | None, now: State) -> dict[str, str]:
    """Return the files that `rpgres table export` writes, by path in their folder.

    Args:
        seat: who reads them; what it may not know is in none of them.
    """
    sheets = {f"sheets/{name}": text for name, text in sheets_of(rules, history, seat=seat).items()}
    files = {place: with_schema_line(place, text, rules.id) for place, text in sheets.items()}
    files[f"{FOLDER}/{file_name('sheet', rules.id)}"] = schema_text("sheet", rules)
    log, record = log_seen(history, seat), table_record(history, seat, now=now)
    account = account_of_table(record, log, now.seen_by(seat), rules)
    files["account.md"], files["account.html"] = as_markdown(account), as_html(account)
    files["journal.log.md"] = as_lonelog(account)
    files["rolls.csv"] = csv_text(COLUMNS, [cells_of(row) for row in rolls_of(history, seat=seat)])
    return files


def _chapters(entries: Iterable[EntryView], words: Words) -> Iterator[Chapter]:
    """Yield a chapter for each outermost period, and for the entries between them."""
    times: Counter[str] = Counter()
    titled, turns, under_way = "", list[Turn](), list[str]()
    before = "How it begins"
    for entry in entries:
        if entry.undone or entry.is_hidden:
            continue
        if isinstance(entry, RunEntry) and (entry.attempt or not isinstance(entry.found, Result)):
            continue
        if isinstance(entry, BeginEntry):
            if not under_way:
                if turns:
                    yield Chapter(titled or before, turns=turns)
                titled, turns = _numbered(entry.period, times), []
            under_way.append(entry.period)
        turns += _turns(entry, words)
        if isinstance(entry, EndEntry):
            titled = titled or _numbered(entry.period, times)  # it had no entry for its beginning
            del under_way[under_way.index(entry.period) if entry.period in under_way else 0 :]
            if not under_way:
                yield Chapter(titled, turns=turns)
                before, titled, turns = f"After {titled}", "", []
    if turns:
        yield Chapter(titled or before, turns=turns)


def _numbered(period: str, times: Counter[str]) -> str:
    times[period] += 1
    return f"{title(period)} {times[period]}"


def _turns(entry: EntryView, words: Words) -> list[Turn]:
    by = f"{words.who(entry.by)}: " if entry.by else ""
    match entry:
        case RunEntry():
            return _run_turns(entry, words)
        case JoinEntry():
            actor = words.who(entry.character)
            said = words.sentence(f"{actor} {'gets a new sheet' if entry.is_replaced else 'sits down'}", actor)
            return [Turn(said.removeprefix(f"{actor} "), actor)]
        case NoteEntry():
            return [Turn(lines=[Note(in_line(by + text)) for text in entry.text.splitlines() if text.strip()])]
        case SetEntry():
            was = "new" if entry.was == ABSENT else f"it was {value_words(entry.was)}"
            told = f"{by}{path_words(entry.path, words)}: {value_words(entry.value)} ({was})"
            return [Turn(lines=[Change(in_line(told))])]
        case SealEntry():
            return [Turn(lines=[Remark(words.sentence(f"{words.who(entry.by)} seals an answer", words.who(entry.by)))])]
        case RevealEntry():
            return [Turn(lines=[RuleLine(in_line(f"The seed is revealed: {entry.seed}"))])]
    return []


def _run_turns(entry: RunEntry, words: Words) -> list[Turn]:
    found = entry.found
    assert isinstance(found, Result)
    step = msgspec.to_builtins(found, enc_hook=str)
    if found.note and entry.said_by:
        step["note"] = f"{words.who(entry.said_by)}: {found.note}"
    described = words.file.actions.get(found.action or "")
    step["procedure"] = found.action if described is not None and described.procedure else ""
    turns, _ = turns_of(step, words)
    if isinstance(entry, BeginEntry | EndEntry):
        moment = "begin" if isinstance(entry, BeginEntry) else "end"
        turns[0] = msgspec.structs.replace(turns[0], does=f"{moment_words(moment, entry.period)}.")
    if typed := typed_words(entry):
        turns[-1] = msgspec.structs.replace(turns[-1], lines=[*turns[-1].lines, Remark(in_line(typed))])
    return turns
