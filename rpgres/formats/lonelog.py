"""The account of a scene in Lonelog, Roberto Bisceglie's notation for logs of play (version 1.6.0).

The notation has front matter, scenes as `### S1 *title*`, `@(Name)` for actors, `d:` for rolls and cards, `->` for
outcomes, `=>` for their results, `(note: ...)` for comments, `[PC:...]`, `[N:...]`, `[Track:...]` for lasting things,
`R1` for rounds (Combat Add-on). Our additions within its rules are `@(Name) decides LABEL: ANSWER`, `=> (effect)` for
changes, `(log: ...)` for lines of the rule, and more names of tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import get_args

from rpgres.formats.accounts import (
    Account,
    Change,
    Chapter,
    Chosen,
    Dealt,
    ItemKind,
    LineRecord,
    Meaning,
    Note,
    Outcome,
    Remark,
    Rolled,
    RuleLine,
    TableItem,
    Turn,
)
from rpgres.model.state import GM

FENCE = "```"
_TABLE = "On the table"
_BREAKS = re.compile(r"[\n\r\t]+")


def write_line(one: LineRecord) -> str:
    """Return a line of an account in the notation."""
    return _in_code(_line(one))


def _line(one: LineRecord) -> str:
    match one:
        case Chosen():
            how = f" ({one.how})" if one.how else ""
            return f"@({one.who}) decides {one.label}{f' for {one.of}' if one.of else ''}: {one.answer}{how}"
        case Outcome():
            return _outcome(one)
        case Rolled():
            faces = f" ({one.faces})" if one.faces else ""
            words = f" // {one.words}" if one.words else ""
            return f"d: {one.label}{_by(one.who)} {one.dice}={one.value}{faces}{words}"
        case Dealt():
            return f"d: {one.label}{_by(one.who)}={one.cards}"
        case Change():
            return f"=> (effect) {one.text}"
        case Meaning():
            return f"=> {one.text}"
        case Note():
            return f"(note: {one.text})"
        case Remark():
            return f"(remark: {one.text})"
        case RuleLine():
            return f"(log: {one.text})"


def _by(who: str) -> str:
    return f" ({who})" if who else ""


def _outcome(one: Outcome) -> str:
    numbers = f"{f' {one.total}' if one.total else ''}{f' vs {one.against}' if one.against else ''}"
    numbers += f", margin {one.margin:+d}" if one.margin is not None else ""
    numbers += "" if one.success is None else " S" if one.success else " F"
    return f"d:{numbers} -> {one.outcome}" if numbers else f"-> {one.outcome}"


def _in_code(text: str) -> str:
    """Return a text as one line of a block of code, which it does not end."""
    line = _BREAKS.sub(" ", text).strip()
    return f"\\{line}" if line.startswith(FENCE) else line


_KINDS: dict[ItemKind, str] = {
    "character": "PC",
    "tag": "Tag",
    "track": "Track",
    "thing": "Thing",
    "pile": "Deck",
    "counter": "Counter",
}
_IN_TAG = re.compile(r"[\\|\]\[/]")
_PROGRESS = re.compile(r"(\d+) of (\d+)")
_IN_PROSE = re.compile(r"[\\`*_\[\]<>#|~]|^[-+=:@?(]|^(?=\d+[.)])")
_PLAIN_YAML = re.compile(r"[A-Za-z][\w.,;()'!?/-]*(?: [\w.,;()'!?/-]+)*")
_YAML_WORDS = ("yes", "no", "true", "false", "null", "on", "off", "y", "n")


def as_lonelog(account: Account) -> str:
    """Return an account as a log in Lonelog, in its form for Markdown files."""
    return "\n".join(_log(account)) + "\n"


def _log(account: Account) -> Iterator[str]:
    yield from _front_matter(account)
    yield f"# {_prose(account.title)}"
    if account.summary:
        yield from ("", _prose(account.summary))
    if account.people:
        yield from ("", FENCE)
        for one in account.people:
            kind = "N" if one.seat == GM else "PC"
            yield f"[{kind}:{_in_tag(one.title)}|name:{_in_tag(one.name)}|player:{_in_tag(one.seat)}]"
        yield FENCE
    for number, chapter in enumerate(account.chapters, 1):
        told = list(_chapter(chapter))
        yield from ("", f"### S{number} *{_prose(chapter.title)}*")
        if told:  # a note is a heading alone
            yield from ("", FENCE, *told, FENCE)
    if account.ending:
        yield from ("", f"**Ending:** {_prose(account.ending)}")
    if account.table:
        played = {one.title for one in account.people if one.seat == GM}
        yield from ("", f"### {_TABLE}", "", FENCE)
        yield from (_item(one, is_npc=one.name in played) for one in account.table)
        yield FENCE


def _front_matter(account: Account) -> Iterator[str]:
    seed = {"seed": account.seed} if account.seed is not None else {}
    told = {
        "title": account.title,
        "ruleset": account.ruleset,
        "house_rules": account.house_rules,
        "player": account.seat,
    }
    yield "---"
    yield f"tools: rpgres account {account.version}"
    for key, value in {**told, **seed}.items():
        if value or key == "seed":
            yield f"{key}: {_yaml(value)}"
    yield from ("---", "")


def _yaml(value: str) -> str:
    is_plain = _PLAIN_YAML.fullmatch(value) and value.lower() not in _YAML_WORDS
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _prose(text: str) -> str:
    """Return a text that stands outside of the notation, as Markdown takes it for text."""
    return _IN_PROSE.sub(
        lambda found: "".join(f"\\{sign}" for sign in found[0]) or "\\", _BREAKS.sub(" ", text).strip()
    )


def _in_tag(text: str) -> str:
    return _IN_TAG.sub(lambda found: "".join(f"\\{sign}" for sign in found[0]), _BREAKS.sub(" ", text).strip())


def _item(one: TableItem, *, is_npc: bool) -> str:
    kind = "N" if is_npc and one.of == "character" else _KINDS[one.of]
    name, details = _in_tag(one.name), list(one.details)
    progress = _PROGRESS.fullmatch(details[0]) if details and one.of == "track" else None
    if progress is not None:
        name = f"{name} {progress[1]}/{progress[2]}"
        details = details[1:]
    return f"[{'|'.join([f'{kind}:{name}', *map(_in_tag, details)])}]"


def _chapter(chapter: Chapter) -> Iterator[str]:
    if chapter.skipped:
        yield "(skipped)"
    for number, turn in enumerate(chapter.turns):
        if number or chapter.skipped:
            yield ""
        yield from _turn(turn)


def _turn(turn: Turn) -> Iterator[str]:
    if turn.round is not None:
        yield _in_code(f"R{turn.round}{f' ({turn.counted})' if turn.counted else ''}")
    if turn.does:
        yield _in_code(f"@{f'({turn.actor})' if turn.actor else ''} {turn.does}")
    yield from map(write_line, turn.lines)
    if turn.round is None and not turn.does and not turn.lines:
        yield "(nothing)"


assert set(_KINDS) == set(get_args(ItemKind))
