r"""The account of a scene in Lonelog, Roberto Bisceglie's notation for logs of play (version 1.6.0), written and read.

The notation has front matter, scenes as `### S1 *title*`, `@(Name)` for actors, `d:` for rolls and cards, `->` for
outcomes, `=>` for their results, `(note: ...)` for comments, `[PC:...]`, `[N:...]`, `[Track:...]` for lasting things,
`R1` for rounds (Combat Add-on). Our additions within its rules are `@(Name) decides LABEL: ANSWER`, `=> (effect)` for
changes, `(log: ...)` for lines of the rule, and more names of tags.

A written log reads back as the same account: where a line could be read as something else, its signs are escaped with
backslashes. Of logs by other programs, unknown lines are kept as lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, get_args

import msgspec

from rpgres.errors import FileError
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
    Participant,
    Remark,
    Rolled,
    RuleLine,
    TableItem,
    Turn,
)
from rpgres.model.state import GM
from rpgres.version import __version__

FENCE = "```"
_SKIPPED = "(skipped)"
_NOTHING = "(nothing)"  # a turn without a line
_TABLE = "On the table"
_LETTERS = {"\n": "\\n", "\r": "\\r", "\t": "\\t", " ": "\\s"}
_UNLETTERED = {"n": "\n", "r": "\r", "t": "\t", "s": " ", "e": ""}
_SIGNS = re.compile(r"[^\w\s]|[\n\r\t]|^ +| +$|_")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def _escape(text: str) -> str:
    """Return a text in which no sign means anything to the notation."""
    return _SIGNS.sub(lambda found: "".join(_LETTERS.get(sign, f"\\{sign}") for sign in found[0]), text)


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: _UNLETTERED.get(found[1], found[1]), text)


# ---------------------------------------------------------------------------------------------------------------------
# Lines

_ANY = r"(?:\\.|[^\\])"  # a sign, or an escaped one
_TEXT = rf"{_ANY}+?"
# Of these a line has several, so what may stand in them is narrow: a line of another form is soon known as such.
_NAME, _LABEL = r"(?:\\.|[^\\()])+?", r"(?:\\.|[^\\:])+?"
_WORD = r"(?:\\.|[^\\\s()=])+"
_DICE = rf"(?=[\d\\]|d[\d%F]){_WORD}"  # begins with a number, or a die; no name of cards does at its end


# What a field may be, where that is not any text; in a template `[...]` is left out where its field is empty.
_FIELDS = {"who": _NAME, "how": _NAME, "faces": _NAME, "actor": _NAME, "of": _LABEL, "dice": _DICE, "value": _WORD}
_FIELD = re.compile(r"\{(\w+)\}")
_OPTIONAL = re.compile(r"\[([^]]*)\]")


def _filled(template: str, one: Any, escape: Callable[[str], str]) -> str:
    kept = _OPTIONAL.sub(lambda part: part[1] if getattr(one, _FIELD.findall(part[1])[0]) else "", template)
    return _FIELD.sub(lambda field: escape(getattr(one, field[1])), kept)


def _pattern(template: str, **fields: str) -> re.Pattern[str]:
    """Return what reads lines that were written by a template."""
    known, parts = _FIELDS | fields, re.split(r"(\{\w+\}|\[|\])", template)
    signs = {"[": "(?:", "]": ")?"}
    read = (
        rf"(?P<{part[1:-1]}>{known.get(part[1:-1], _TEXT)})" if part[:1] == "{" else signs.get(part, re.escape(part))
        for part in parts
    )
    return re.compile("".join(read), re.DOTALL)


class _Form(NamedTuple):
    """How one kind of line is written, and what reads it."""

    type_: type[Any]
    write: Callable[[Any, Callable[[str], str]], str]
    pattern: re.Pattern[str]


def _form(type_: type[Any], template: str, **fields: str) -> _Form:
    return _Form(type_, partial(_filled, template), _pattern(template, **fields))


def _write_outcome(one: Outcome, escape: Callable[[str], str]) -> str:
    flag = "" if one.success is None else " S" if one.success else " F"
    margin = f", margin {one.margin:+d}" if one.margin is not None else ""
    numbers = f"{_filled('[ {total}][ vs {against}]', one, escape)}{margin}{flag}"
    return f"d:{numbers} -> {escape(one.outcome)}" if numbers else f"-> {escape(one.outcome)}"


_OUTCOME = re.compile(
    rf"(?:d:(?: (?P<total>{_TEXT}))??(?: vs (?P<against>{_TEXT}))?(?:, margin (?P<margin>[+-]\d+))?"
    rf"(?: (?P<success>[SF]))? )?-> (?P<outcome>{_TEXT})",
    re.DOTALL,
)
_FORMS = (
    _form(Chosen, "@({who}) decides {label}[ for {of}]: {answer}[ ({how})]", label=_LABEL),
    _Form(Outcome, _write_outcome, _OUTCOME),
    _form(Rolled, "d: {label}[ ({who})] {dice}={value}[ ({faces})][ // {words}]"),
    _form(Dealt, "d: {label}[ ({who})]={cards}"),
    _form(Change, "=> (effect) {text}"),
    _form(Meaning, "=> {text}"),
    _form(Note, "(note: {text})"),
    _form(Remark, "(remark: {text})"),
    _form(RuleLine, "(log: {text})"),
)
_BY_TYPE = {form.type_: form for form in _FORMS}


def write_line(one: LineRecord) -> str:
    """Return a line as it reads best, with signs escaped where it would be read as something else."""
    form = _BY_TYPE[type(one)]
    return _readable(
        lambda escape: form.write(one, escape), lambda text: _read_known(text) == one and not _is_structure(text)
    )


def _readable(write: Callable[[Callable[[str], str]], str], reads_back: Callable[[str], bool]) -> str:
    """Return what is written with as few escapes as let it be read back."""
    for escape in (str, _escape):
        written = write(escape)
        if reads_back(written):
            return written
    return write(lambda text: "\\e" + _escape(text).replace(" ", "\\s"))  # not even a blank means anything


def read_line(text: str) -> LineRecord:
    """Return what a line of the notation says; one of another form is kept as it is."""
    return _read_known(text) or RuleLine(text)


def _read_known(text: str) -> LineRecord | None:
    if "\n" in text or text != text.strip(" \t\r"):
        return None
    for form in _FORMS:
        found = form.pattern.fullmatch(text)
        if found is not None:
            said = {name: _unescape(value) for name, value in found.groupdict("").items()}
            line: LineRecord = form.type_(**said) if form.type_ is not Outcome else _read_outcome(said)
            return line
    return None


def _read_outcome(said: dict[str, str]) -> Outcome:
    success = {"S": True, "F": False}.get(said["success"])
    margin = int(said["margin"]) if said["margin"] else None
    return Outcome(said["outcome"], success, said["total"], said["against"], margin)


_ACTION = "@[({actor})] {does}"
_ACTED = _pattern(_ACTION)
_ROUND = re.compile(rf"R(?P<round>\d+)(?: \((?P<counted>{_NAME})\))?", re.DOTALL)


def _is_structure(text: str) -> bool:
    return text.startswith(FENCE) or text in (_SKIPPED, _NOTHING) or _ROUND.fullmatch(text) is not None


def _write_action(turn: Turn) -> str:
    return _readable(partial(_filled, _ACTION, turn), lambda text: _read_action(text) == (turn.does, turn.actor))


def _read_action(text: str) -> tuple[str, str] | None:
    """Return the action and its actor, where a line names an actor."""
    found = _ACTED.fullmatch(text)
    if found is None or text != text.strip() or "\n" in text or isinstance(_read_known(text), Chosen):
        return None
    return _unescape(found["does"]), _unescape(found["actor"] or "")


# ---------------------------------------------------------------------------------------------------------------------
# Writing

_KINDS: dict[ItemKind, str] = {
    "character": "PC",
    "tag": "Tag",
    "track": "Track",
    "thing": "Thing",
    "pile": "Deck",
    "counter": "Counter",
}
_IN_TAG = re.compile(r"[\\|\]\[/\n\r\t]|^ +| +$")
_PROGRESS = re.compile(r"(\d+) of (\d+)")
_IN_PROSE = re.compile(r"[\\`*_\[\]<>#|~\n\r\t]|^[-+=:@?(]|^ +| +$|^(?=\d+[.)])")
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
    return _IN_PROSE.sub(lambda found: "".join(_LETTERS.get(sign, f"\\{sign}") for sign in found[0]) or "\\", text)


def _in_tag(text: str) -> str:
    return _IN_TAG.sub(lambda found: "".join(_LETTERS.get(sign, f"\\{sign}") for sign in found[0]), text)


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
        yield _SKIPPED
    for number, turn in enumerate(chapter.turns):
        if number or chapter.skipped:
            yield ""
        yield from _turn(turn)


def _turn(turn: Turn) -> Iterator[str]:
    if turn.round is not None:
        plain = f"R{turn.round}" + (f" ({turn.counted})" if turn.counted else "")
        found = _ROUND.fullmatch(plain)
        is_read = found is not None and _unescape(found["counted"] or "") == turn.counted and "\n" not in plain
        yield plain if is_read else f"R{turn.round} ({_escape(turn.counted)})"
    if turn.does:
        yield _write_action(turn)
    yield from map(write_line, turn.lines)
    if turn.round is None and not turn.does and not turn.lines:
        yield _NOTHING


# ---------------------------------------------------------------------------------------------------------------------
# Reading

_SCENE = re.compile(rf"(?:#+ +)?(?P<number>(?:T\d+-)?S\d[\w.]*)(?: +\*(?P<title>{_TEXT})\*.*)?", re.DOTALL)
_TAG = re.compile(rf"\[#?(?P<kind>[A-Za-z]+):(?P<rest>{_TEXT})\]", re.DOTALL)
_BAR = re.compile(r"((?:\\.|[^\\|])*)(?:\||$)", re.DOTALL)
_COUNTED = re.compile(rf"(?P<name>{_TEXT}) (?P<marked>\d+)/(?P<size>\d+)", re.DOTALL)
_STANDING: dict[str, ItemKind] = {name: of for of, name in _KINDS.items()} | {"N": "character", "F": "character"}
_ENDING = "**Ending:** "


def read_lonelog(text: str, *, file: str = "a log") -> Account:
    """Return the account that a log in Lonelog tells.

    Args:
        text: the log; as `as_lonelog` writes it, or by another hand.
        file: what it is called in messages.

    Raises:
        FileError: it has no scene.
    """
    reader = _Reader()
    lines = text.replace("\r\n", "\n").split("\n")
    start = _read_front_matter(lines, reader)
    for line in lines[start:]:
        reader.read(line.strip(" \t\r"))
    account = reader.account()
    if not (account.chapters or account.people or account.table or reader.title):
        raise FileError(f"{file} is no log in Lonelog: it has neither a title nor a scene such as ### S1 *Dark alley*")
    return account


def _read_front_matter(lines: list[str], reader: _Reader) -> int:
    """Read the front matter between two lines `---`; return the index of the first line after it."""
    if not lines or lines[0].strip() != "---":
        return 0
    for number, line in enumerate(lines[1:], 1):
        if line.strip() == "---":
            return number + 1
        key, colon, value = line.partition(":")
        if colon:
            reader.fields[key.strip()] = _read_yaml(value.strip())
    return 0


def _read_yaml(value: str) -> str:
    if value.startswith('"'):
        try:
            read = json.loads(value)
        except ValueError:
            return value
        return read if isinstance(read, str) else value
    return value


class _ChapterRead(msgspec.Struct):
    """A chapter while it is read: its parts are groups of lines, separated by empty lines."""

    title: str
    parts: list[list[str]]
    skipped: bool = False


class _Reader:
    """Reads a log line by line."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self.title = ""
        self.prose: list[str] = []
        self.ending = ""
        self.people: list[Participant] = []
        self.chapters: list[_ChapterRead] = []
        self.table: list[TableItem] = []
        self.in_code = False
        self.in_table = False

    def read(self, line: str) -> None:
        """Read one line, without blanks around it."""
        if line.startswith(FENCE):
            self.in_code = not self.in_code
            self._part()
        elif not line:
            self._part()
        elif self.in_code:
            self._read_code(line)
        else:
            self._read_text(line)

    def _read_text(self, line: str) -> None:
        scene = _SCENE.fullmatch(line)
        if scene is not None:
            self._begin(scene)
        elif line == f"### {_TABLE}":
            self.in_table = True
        elif line.startswith("# ") and not self.title:
            self.title = _unescape(line[2:])
        elif line.startswith(_ENDING):
            self.ending = _unescape(line.removeprefix(_ENDING))
        elif self.chapters:
            self._add(line)
        elif not line.startswith("##"):
            self.prose.append(_unescape(line))

    def _begin(self, scene: re.Match[str]) -> None:
        self.in_table = False
        self.chapters.append(_ChapterRead(_unescape(scene["title"] or scene["number"]), [[]]))

    def _read_code(self, line: str) -> None:
        scene = _SCENE.fullmatch(line)
        tag = _TAG.fullmatch(line)
        if scene is not None and not self.in_table:
            self._begin(scene)
        elif tag is not None and self.in_table and tag["kind"] in _STANDING:
            self.table.append(_read_item(tag))
        elif tag is not None and not self.chapters and (person := _read_participant(tag)) is not None:
            self.people.append(person)
        elif line == _SKIPPED and self.chapters and not any(self.chapters[-1].parts):
            self.chapters[-1].skipped = True
        else:
            self._add(line)

    def _add(self, line: str) -> None:
        if not self.chapters:
            self.chapters.append(_ChapterRead("Log", [[]]))
        self.chapters[-1].parts[-1].append(line)

    def _part(self) -> None:
        """Begin another group of lines."""
        if self.chapters and self.chapters[-1].parts[-1]:
            self.chapters[-1].parts.append([])

    def account(self) -> Account:
        """Return the account."""
        fields = self.fields
        return Account(
            version=fields.get("tools", "").partition("rpgres account ")[2] or __version__,
            title=fields.get("title") or self.title or "Log",
            summary="\n".join(self.prose),
            ruleset=fields.get("ruleset", ""),
            house_rules=fields.get("house_rules", ""),
            seat=fields.get("player", ""),
            seed=fields.get("seed"),
            people=self.people,
            chapters=[
                Chapter(
                    one.title, skipped=one.skipped, turns=[turn for part in one.parts for turn in _read_turns(part)]
                )
                for one in self.chapters
            ],
            ending=self.ending,
            table=self.table,
        )


def _read_turns(lines: Iterable[str]) -> Iterator[Turn]:
    """Yield the turns of a group of lines: each begins with a round or an actor."""
    found: dict[str, Any] = {}
    for line in lines:
        begun = _ROUND.fullmatch(line)
        action = _read_action(line)
        if begun is not None:
            if found:
                yield Turn(**found)
            found = {"round": int(begun["round"]), "counted": _unescape(begun["counted"] or ""), "lines": []}
        elif action is not None:
            if found.get("does") or found.get("lines"):
                yield Turn(**found)
                found = {}
            found |= {"does": action[0], "actor": action[1], "lines": []}
        else:
            found.setdefault("lines", [])
            if line != _NOTHING:
                found["lines"].append(read_line(line))
    if found:
        yield Turn(**found)


def _parts(tag: re.Match[str]) -> list[str]:
    return [found[1] for found in _BAR.finditer(tag["rest"]) if found[0]]


def _read_participant(tag: re.Match[str]) -> Participant | None:
    title, *details = _parts(tag)
    said = dict(detail.partition(":")[::2] for detail in details)
    if tag["kind"] not in ("PC", "N") or not {"name", "player"} <= said.keys():
        return None
    return Participant(_unescape(said["name"]), _unescape(title), _unescape(said["player"]))


def _read_item(tag: re.Match[str]) -> TableItem:
    name, *details = _parts(tag)
    of = _STANDING[tag["kind"]]
    counted = _COUNTED.fullmatch(name) if of == "track" else None
    told = [_unescape(detail) for detail in details]
    if counted is not None:
        return TableItem(_unescape(counted["name"]), of, [f"{counted['marked']} of {counted['size']}", *told])
    return TableItem(_unescape(name), of, told)


assert set(_KINDS) == set(get_args(ItemKind))
