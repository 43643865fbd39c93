"""The account of a scene as Markdown (CommonMark): a heading for each step, how it went, the table at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from rpgres.cli.formats.accounts import (
    Account,
    Came,
    Change,
    Chosen,
    Dealt,
    LineRecord,
    Meaning,
    Note,
    Remark,
    Rolled,
    Stands,
    Told,
    Turn,
)
from rpgres.cli.render.account_lines import (
    compared_words,
    decided_words,
    people_words,
    round_words,
    rules_words,
    whose,
)
from rpgres.cli.render.markdown import plain_markdown

HEAD = "<!-- rpgres account -->"  # by which a file is known that may be replaced


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
        yield "\n".join(line for stands in account.table for line in _stands(stands))


def _turn(turn: Turn) -> Iterator[str]:
    if turn.round is not None:
        yield f"### {plain_markdown(round_words(turn))}"
    yield from (f"> {plain_markdown(one.text)}" for one in turn.lines if isinstance(one, Note))
    if turn.does:
        yield f"**{plain_markdown(turn.sentence)}**"
    for kind, group in groupby((one for one in turn.lines if not isinstance(one, Note)), _block):
        yield "".join(_together(kind, group)).rstrip("\n")


def _block(one: LineRecord) -> str:
    """Return what lines have in common that make one block: a paragraph of meanings, an outcome, a list."""
    return "meaning" if isinstance(one, Meaning) else "outcome" if isinstance(one, Came) else "list"


def _together(kind: str, group: Iterable[LineRecord]) -> Iterator[str]:
    if kind == "meaning":
        yield " ".join(plain_markdown(one.text) for one in group if isinstance(one, Meaning))
    elif kind == "outcome":
        yield "\n\n".join(_came(one) for one in group if isinstance(one, Came))
    else:
        yield from (f"- {_item(one)}\n" for one in group)


def _came(came: Came) -> str:
    told = compared_words(came)
    return f"**{plain_markdown(came.outcome)}**" + (f": {plain_markdown(told)}" if told else "")


def _item(one: LineRecord) -> str:
    match one:
        case Rolled():
            words = f" ({one.words})" if one.words else ""
            return plain_markdown(f"{whose(one)}: {one.faces or 'no dice'} = {one.value}{words}")
        case Dealt():
            return plain_markdown(f"{whose(one)}: {one.cards}")
        case Chosen():
            return f"{plain_markdown(decided_words(one))}: *{plain_markdown(one.answer)}*"
        case Change():
            return plain_markdown(one.text)
        case Told() | Remark() | Meaning() | Note():
            return plain_markdown(one.text)
        case Came():
            return _came(one)


def _stands(stands: Stands) -> Iterator[str]:
    name = f"- **{plain_markdown(stands.name)}**"
    if len(stands.details) == 1:
        yield f"{name}: {plain_markdown(stands.details[0])}"
        return
    yield name
    yield from (f"  - {plain_markdown(detail)}" for detail in stands.details)
