"""What was done at a table as an account in Markdown, for people who read it later. Nothing here prints or writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rpgres.cli.render.lines import plain_text
from rpgres.cli.render.markdown import plain_markdown
from rpgres.cli.render.results import result_lines
from rpgres.cli.render.tables import entry_lines, typed_words
from rpgres.cli.render.words import who_is
from rpgres.engine.records import Result
from rpgres.journal.forms import BeginEntry, EntryView, NewEntry, NoteEntry, OrdersEntry, PassEntry, RunEntry, UndoEntry

if TYPE_CHECKING:
    from rpgres.rulesets import RulesetFile


def transcript(title: str, entries: Iterable[EntryView], file: RulesetFile) -> str:
    """Return an account of a table in Markdown: scenes as headings, actions as paragraphs with what came of them.

    What was taken back or failed is left out, and so is what a decision waited for before it was taken.

    Args:
        title: what stands above it.
        entries: the journal as a seat sees it.
        file: the ruleset's data, for its words.
    """
    blocks = [f"# {plain_markdown(title)}"]
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
            yield "\n".join(f"> {plain_markdown(by + line)}" for line in entry.text.splitlines() if line.strip())
        case _:
            told = plain_text(entry_lines(entry, file)).strip().partition("  ")[2]
            yield f"*{plain_markdown(told.strip())}*"


def _run_block(entry: RunEntry, result: Result, file: RulesetFile) -> Iterator[str]:
    first, *rest = plain_text(result_lines(result, file, said_by=entry.said_by)).splitlines()
    rest += filter(None, [typed_words(entry)])
    heading, _, came = first.partition(": ")
    if isinstance(entry, BeginEntry):
        yield f"## {plain_markdown(f'The {entry.period} begins')}"
    else:
        yield f"**{plain_markdown(heading)}**" + (f": {plain_markdown(came)}" if came else "")
    if rest:
        yield "\n".join(f"- {plain_markdown(line.strip().removeprefix('* '))}" for line in rest)
