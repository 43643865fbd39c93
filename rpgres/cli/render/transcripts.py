"""What was done at a table as an account in Markdown, for people who read it later. Nothing here prints or writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rpgres.cli.render.lines import plain_text
from rpgres.cli.render.results import result_lines
from rpgres.cli.render.tables import entry_lines, typed_words
from rpgres.cli.render.words import who_is
from rpgres.engine.records import Result
from rpgres.journal.forms import BeginEntry, EntryView, NewEntry, NoteEntry, OrdersEntry, PassEntry, RunEntry, UndoEntry
from rpgres.text.harmless import in_line

if TYPE_CHECKING:
    from rpgres.rulesets import RulesetFile

_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>#|~"})  # what Markdown would read as more than text


def transcript(title: str, entries: Iterable[EntryView], file: RulesetFile) -> str:
    """Return an account of a table in Markdown: scenes as headings, actions as paragraphs with what came of them.

    What was taken back or failed is left out, and so is what a decision waited for before it was taken.

    Args:
        title: what stands above it.
        entries: the journal as a seat sees it.
        file: the ruleset's data, for its words.
    """
    blocks = [f"# {_text(title)}"]
    for entry in entries:
        if not (entry.undone or entry.is_hidden or isinstance(entry, NewEntry | UndoEntry | PassEntry | OrdersEntry)):
            blocks += _block(entry, file)
    return "\n\n".join(blocks) + "\n"


def _block(entry: EntryView, file: RulesetFile) -> Iterator[str]:
    match entry:
        case RunEntry(attempt=False, found=Result() as result):
            yield from _run_block(entry, result, file)
        case RunEntry():
            return
        case NoteEntry():
            by = f"{who_is(entry.by)}: " if entry.by else ""
            yield "\n".join(f"> {_text(by + line)}" for line in entry.text.splitlines() if line.strip())
        case _:
            told = plain_text(entry_lines(entry, file)).strip().partition("  ")[2]
            yield f"*{_text(told.strip())}*"


def _run_block(entry: RunEntry, result: Result, file: RulesetFile) -> Iterator[str]:
    first, *rest = plain_text(result_lines(result, file, said_by=entry.said_by)).splitlines()
    rest += filter(None, [typed_words(entry)])
    heading, _, came = first.partition(": ")
    if isinstance(entry, BeginEntry):
        yield f"## {_text(f'The {entry.period} begins')}"
    else:
        yield f"**{_text(heading)}**" + (f": {_text(came)}" if came else "")
    if rest:
        yield "\n".join(f"- {_text(line.strip().removeprefix('* '))}" for line in rest)


def _text(text: str) -> str:
    """Return a text in which nothing means more than it says in Markdown."""
    return in_line(text).translate(_MARKS)
