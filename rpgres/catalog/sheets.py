"""Character sheets as files: whose they are, a commented start for any ruleset, every fault of one, and their JSON.

What a sheet means stands in `sheets`; nothing here prints or writes.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from rpgres.errors import FileError, RpgresError, UsageError, enumerated, named
from rpgres.model.state import GM, Box, State, slug
from rpgres.plugins.discovery import installed_folders, owner_of, ruleset_names, unknown_ruleset
from rpgres.rulesets import Field, RecordField, Rules, data_folders
from rpgres.rulesets.orders import Orders
from rpgres.rulesets.sheets import (
    ORDERS,
    RULESET,
    MissingSheet,
    Sheet,
    as_listed,
    file_here,
    foreign,
    make_sheet,
    name_faults,
    seated,
    sheet_diagnostics,
    short_name,
)
from rpgres.text.harmless import in_line, is_line
from rpgres.toml.diagnostics import Diagnostic, Fault, diagnostics_in, errors_in, key_text, nearest
from rpgres.toml.editing import toml_text
from rpgres.toml.reading import Source, located, parse, read_source

NAME = "name"  # the text field that a character is called by
NEW = "New Character"
ELLIPSIS = "..."  # stands for a text that only the player can know
WIDTH = 100  # columns of a comment
SHEETS = "sheets"  # the folder of a ruleset that holds its own


# ---------------------------------------------------------------------------------------------------------------------
# Whose it is, and its JSON


def sheet_ruleset(path: str, *, text: str = "", extra: Sequence[Path] = ()) -> str:
    """Return the id of a sheet's ruleset: the one it names, the one in whose `sheets` folder it lies, or that ships it.

    Args:
        path: the file, or its short name.
        text: what it says, where it is no file.
        extra: the folders of `--rulesets`.

    Raises:
        UsageError: nothing tells, or several rulesets ship a sheet of this name.
        FileError: there is neither a file nor a sheet of this name, or the file is no TOML.
    """
    path = file_here(path)
    if not text and os.path.isfile(path):
        with suppress(FileError):  # it is reported when the sheet itself is read
            text = read_source(Path(path)).text
    names = [name.id for name in ruleset_names(titles=False, extra=extra)]
    said = parse(Source(path, text)).get(RULESET)
    if isinstance(said, str) and said in names:
        return said
    folder = Path(path).absolute().parent
    if folder.name == SHEETS:
        owner = folder.parent.name if folder.parent.name in names else owner_of(folder.parent, extra=extra)
        if owner is not None:
            return owner
    installed = {} if text else installed_folders()
    shipping = (
        [] if text else [name for name in names if _ships(name, own=installed.get(name), sheet=path, extra=extra)]
    )
    if len(shipping) == 1:
        return shipping[0]
    if not shipping and not os.path.lexists(path):
        raise _missing(path, names, installed)
    if isinstance(said, str):
        raise UsageError(f"{path}: {unknown_ruleset(said, extra=extra)}")
    raise UsageError(
        f"{path}: name the ruleset of this sheet, with {named('ruleset')} or `ruleset` in the file: "
        f"{enumerated(shipping or names, none='none is there')}"
    )


def _missing(path: str, rulesets: Iterable[str], installed: Mapping[str, Path]) -> FileError:
    """Return that there is no such file, nor a sheet of this name with any ruleset, and the nearest that there is."""
    folder, name = os.path.split(path)
    near = nearest(name, [file.name for file in Path(folder or os.curdir).glob("*.toml")])
    if folder:
        hint = f"; did you mean {os.path.join(folder, near)!r}?" if near else ""
        return MissingSheet(f"there is no file {path!r}{hint}", file=path)
    owners: dict[str, str] = {}
    for ruleset in rulesets:
        for place in data_folders(ruleset, own=installed.get(ruleset)):
            for file in sorted((place / SHEETS).glob("*.toml")):
                owners.setdefault(file.stem, ruleset)
    stem = nearest(name.removesuffix(".toml"), owners)
    meant = [repr(near)] if near else []
    meant += [f"{stem!r}, a sheet of {owners[stem]}"] if stem else []
    hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
    return MissingSheet(f"there is neither a file {path!r} nor a sheet of that name with any ruleset{hint}", file=path)


def _ships(ruleset: str, *, own: Path | None, sheet: str, extra: Sequence[Path]) -> bool:
    """Tell whether the folders of a ruleset, as far as they are known without its code, have a sheet of this name."""
    if sheet != os.path.basename(sheet):
        return False
    folders = data_folders(ruleset, own=own, extra=extra)
    places = [folder / SHEETS / name for folder in folders for name in (sheet, f"{sheet}.toml")]
    return any(map(os.path.isfile, places))


class SheetTag(msgspec.Struct, frozen=True):
    """A text with game weight that a character brings to a table.

    Attributes:
        name: the text.
        kind: the ruleset's word for what it is.
    """

    name: str
    kind: str


class SheetRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="format", tag="rpgres.sheet/1"):
    """A character as `rpgres sheet show --json` prints it; the fields are those of `state.Character`.

    Attributes:
        ruleset: the ruleset whose sheet it is.
        name: the short name, which is the file's.
        title: the name as people say it.
        played_by: player or gm.
        texts: free texts, by key.
        tags: the texts with game weight that the character brings.
        abilities: rating by ability.
        counters: numbers that rise and fall.
        tracks: the boxes of each track, in order.
        records: what the sheet lists by name with fields of its own.
    """

    ruleset: str
    name: str
    title: str
    played_by: Literal["player", "gm"]
    texts: dict[str, str]
    tags: list[SheetTag]
    abilities: dict[str, int]
    counters: dict[str, int]
    tracks: dict[str, tuple[Box, ...]]
    records: dict[str, Any]


def sheet_record(rules: Rules, sheet: Sheet) -> SheetRecord:
    """Return a character for JSON."""
    character = sheet.character
    return SheetRecord(
        ruleset=rules.id,
        name=character.name,
        title=character.title,
        played_by="gm" if character.seat == GM else "player",
        texts=character.texts,
        tags=[SheetTag(tag.name, tag.kind) for tag in sheet.tags],
        abilities=character.abilities,
        counters=character.counters,
        tracks=character.tracks,
        records=character.records,
    )


class FileCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check of one file.

    Attributes:
        file: the file as it was named.
        ok: whether nothing is wrong with it.
        problems: what is wrong with it, and warnings of what may be.
    """

    file: str
    ok: bool
    problems: list[Diagnostic]

    @classmethod
    def of(cls, file: str, found: list[Diagnostic]) -> FileCheck:
        """Return the result of a check by what it found."""
        return cls(file=file, ok=not errors_in(found), problems=found)


class FileChecks(msgspec.Struct, frozen=True, kw_only=True, tag_field="format", tag="rpgres.check/1"):
    """The results of a check of files, as `rpgres sheet check --json` and `rpgres scene check --json` print it.

    Attributes:
        ok: whether nothing is wrong with any file.
        files: the result of each file.
    """

    ok: bool
    files: list[FileCheck]


# ---------------------------------------------------------------------------------------------------------------------
# A start


def sheet_template(rules: Rules, *, name: str = "") -> str:
    """Return a sheet to start from: every key with its help as a comment, and an example that is valid.

    What may well be left out is switched off by a `#` without a space behind it.

    Args:
        name: what the character is called.

    Raises:
        UsageError: sheets of this ruleset have no name, or this is none.
    """
    fields = rules.file.sheet
    if name and (NAME not in fields or fields[NAME].kind != "text"):
        raise UsageError(f"sheets of {rules.id} have no key `{NAME}`, so {name!r} cannot be stored")
    if not is_line(name):
        raise UsageError(f"{name!r} cannot be a name: it contains unprintable characters")
    blocks = [_heading(rules)]
    if RULESET not in fields:
        blocks.append("\n".join([*_comment("the ruleset it is for"), _line(RULESET, rules.id)]))
    for is_table in (False, True):  # in TOML, a key behind a table belongs to the table
        for key, field in fields.items():
            if (field.kind not in ("text", "counter", "seat")) is is_table:
                blocks.append("\n".join(_block(rules, key, field, name=name)))
    return "\n\n".join(blocks) + "\n"


def _heading(rules: Rules) -> str:
    lines = [
        *_comment(f"A character sheet for {rules.file.title} (ruleset {rules.id})."),
        "# Replace these values; remove the # from a line to use it.",
        "# To check it: rpgres sheet check FILE",
    ]
    return "\n".join(lines)


def _block(rules: Rules, key: str, field: Field, *, name: str) -> Iterator[str]:
    yield from _comment(_help(field))
    off = "" if _is_on(key, field) else "#"
    if field.kind == "records":
        yield off + _header(key, "example")
        for inner, described in field.fields.items():
            yield from _comment(described.help)
            yield off + _line(inner, _record_value(described))
        return
    value = _value(rules, key, field, name=name)
    if not isinstance(value, dict):
        yield off + _line(key, value)
        return
    yield off + _header(key)
    for inner, entry in value.items():
        yield off + _line(inner, entry)


def _help(field: Field) -> str:
    """Return a field's help with what may stand there."""
    return f"{field.help} ({field.words})" if field.words else field.help


def _is_on(key: str, field: Field) -> bool:
    """Tell whether a start has this key switched on: what must be there, and what every character will have."""
    if field.required or field.kind in ("abilities", "tags"):
        return True
    return (field.kind == "text" and key == NAME) or (field.kind == "counter" and isinstance(field.default, int))


def _value(rules: Rules, key: str, field: Field, *, name: str) -> Any:
    tracks = rules.tracks
    match field.kind:
        case "text":
            return (name or NEW) if key == NAME else ELLIPSIS
        case "counter":
            return _counter(rules, field)
        case "seat":
            return "player"
        case "abilities":
            known = {slug(name): name for name in field.names}.values()  # two that read alike are one ability
            return dict.fromkeys(known or ["example"], field.within(0))
        case "tags":
            # Some rulesets say how their tags are usually called.
            return {key: key.replace("-", " ").capitalize() for key in field.names} or {
                "first": f"First {field.tag}",
                "second": f"Second {field.tag}",
            }
        case "boxes":
            return {track: len(described.sizes) for track, described in tracks.items()}
        case "marks":
            # What a box with a tag holds is a text, which is written under another key.
            plain = {track: list(described.sizes)[:1] for track, described in tracks.items() if not described.tag}
            return {track: first for track, first in plain.items() if first}
        case "written":
            described = tracks.get(field.track)
            return dict.fromkeys(list(described.sizes)[:1], ELLIPSIS) if described else {}


def _counter(rules: Rules, field: Field) -> int:
    default = field.default
    if isinstance(default, str):
        other = rules.file.sheet.get(default)
        default = other.default if other is not None else 0
    return field.within(default if isinstance(default, int) else 0)


def _record_value(field: RecordField) -> Any:
    if field.default is not None:
        return field.default
    match field.kind:
        case "text":
            return ELLIPSIS
        case "integer":
            return 0
        case "flag":
            return False
        case "choice":
            return next(iter(field.choices), "")


def _comment(text: str) -> list[str]:
    # TOML allows no control character in a comment, and a help of several lines is several comments.
    plain = in_line(text)
    return textwrap.wrap(plain, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False) or ["#"]


def _line(key: str, value: Any) -> str:
    return f"{key_text((key,))} = {toml_text(value)}"


def _header(*keys: str) -> str:
    return f"[{'.'.join(keys)}]"  # the keys of a ruleset's sheet are bare keys


# ---------------------------------------------------------------------------------------------------------------------
# Faults

MORE = "the ruleset's own check may report more after this is fixed"


def diagnose_sheet(rules: Rules, source: Source) -> list[Diagnostic]:
    """Return everything that is wrong with a sheet, in line order; nothing when it can be played.

    Raises:
        FileError: the text is not TOML.
    """
    data = parse(source)
    other = foreign(rules, data)
    if other is not None:  # everything else would be wrong as well
        return located([Fault("wrong-ruleset", (RULESET,), other)], source)
    data = as_listed(rules, data)
    found = sheet_diagnostics(rules, data, source=source) + located(name_faults(rules, data), source)
    state = State()
    if not found:
        try:
            state = seated(state, make_sheet(rules, data, name=short_name(source), source=source))
        except RpgresError as error:  # what only the ruleset's own code can tell
            found = diagnostics_in(error, code="refused", file=source.path)
            if error.details.get("complete") is False:
                last = found[-1]
                found[-1] = msgspec.structs.replace(last, message=f"{last.message} ({MORE})")
    found += located([fault.under(ORDERS) for fault in _order_faults(rules, data, short_name(source), state)], source)
    return sorted(found, key=lambda diagnostic: diagnostic.line or 0)


def _order_faults(rules: Rules, data: Mapping[str, Any], name: str, state: State) -> Iterator[Fault]:
    """Yield the diagnostics of a sheet's standing orders, whose types are checked already."""
    try:
        orders = msgspec.convert(data.get(ORDERS) if ORDERS not in rules.file.sheet else None, Orders | None)
    except msgspec.ValidationError:
        return
    if orders:
        from rpgres.engine.players import policy_names
        from rpgres.lint.orders import order_faults
        from rpgres.lint.paths import Known

        seat = (
            GM if any(data.get(key) == GM for key, field in rules.file.sheet.items() if field.kind == "seat") else name
        )
        known = Known(rules, state, who=name, seat=seat, is_portable=True)
        yield from order_faults(rules, orders, known=known, policies=policy_names(rules))
