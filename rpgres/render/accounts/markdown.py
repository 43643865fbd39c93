"""The account of a scene as Markdown (CommonMark): a heading for each step, its turns, the table at the end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rpgres.formats.accounts import Account, TableItem, Turn
from rpgres.render.accounts.blocks import Kind, blocks_of
from rpgres.render.accounts.lines import people_words, rules_words
from rpgres.render.documents import plain_markdown
from rpgres.render.lines import Line

_BEFORE: dict[Kind, str] = {"note": "> ", "round": "### "}
HEAD = "<!-- rpgres account -->"  # marks a file that may be replaced


def as_markdown(account: Account) -> str:
    """Return an account as a Markdown document."""
    return "\n\n".join([HEAD, *_blocks(account)]) + "\n"


def _blocks(account: Account) -> Iterator[str]:
    yield f"# {plain_markdown(account.title)}"
    if account.summary:
        yield plain_markdown(account.summary)
    yield f"*{plain_markdown(rules_words(account))}*"
    if account.people:
        yield f"**Taking part:** {plain_markdown(people_words(account))}"
    for number, chapter in enumerate(account.chapters, 1):
        yield f"## {number}\\. {plain_markdown(chapter.title)}" + (" (skipped)" if chapter.skipped else "")
        for turn in chapter.turns:
            yield from _turn(turn)
    if account.ending:
        yield f"**Ending:** {plain_markdown(account.ending)}"
    if account.table:
        yield "## On the table"
        yield "\n".join(line for stands in account.table for line in _item(stands))


def _turn(turn: Turn) -> Iterator[str]:
    for is_list, blocks in groupby(blocks_of(turn), lambda block: block[0] in ("effects", "log")):
        if is_list:
            yield "\n".join(f"- {_inline(pieces)}" for _, lines in blocks for pieces in lines)
            continue
        for kind, lines in blocks:
            strong = 1 if kind in ("outcome", "does") else 0
            yield from (f"{_BEFORE.get(kind, '')}{_inline(pieces, strong=strong)}" for pieces in lines)


def _inline(pieces: Line, *, strong: int = 0) -> str:
    """Return pieces as Markdown: the first ones strong, choices emphasised."""
    shown = ""
    marks = ("**" if number < strong else "*" * (one.style == "name") for number, one in enumerate(pieces))
    for mark, group in groupby(zip(marks, pieces, strict=True), lambda pair: pair[0]):
        text = "".join(one.text.replace(";", " ; ") if one.style == "dice" else one.text for _, one in group)
        lead = ": " if shown and text.startswith(": ") else ""
        end = " " if text.endswith(": ") else ""
        plain = plain_markdown(text.removeprefix(lead))
        shown += f"{lead}{mark}{plain}{mark}{end}" if plain else ""
    return shown


def _item(stands: TableItem) -> Iterator[str]:
    name = f"- **{plain_markdown(stands.name)}**"
    if len(stands.details) == 1:
        yield f"{name}: {plain_markdown(stands.details[0])}"
        return
    yield name
    yield from (f"  - {plain_markdown(detail)}" for detail in stands.details)
