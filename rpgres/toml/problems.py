"""The second look at TOML that was refused: every fault and its place. Not on the way of a file that is in order.

It knows msgspec's description of types and the shape of TOML text. Nothing here reads a file or knows what a table
is for; `rpgres.toml.reading` is the door to it.
"""

from __future__ import annotations

import datetime
import operator
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import msgspec
import tomli
from msgspec import inspect

from rpgres.errors import RpgresError
from rpgres.text.harmless import in_line

KeyPath = tuple[str | int, ...]

MAX_FAULTS = 1000  # nobody reads more, and a hostile list has a million
_MAX_LISTED = 12  # names that a message lists in full
_MAX_QUOTED = 40  # characters of a wrong value that a message repeats
_SIMILAR = 0.7  # difflib's measure: two letters exchanged in a word of four are, `uses` and `steps` are not
_MAX_WORD = 80  # difflib's work grows with the square of a word
_MOST_PATHS = 200_000  # some 40 MB; a ruleset of 4 MiB has half as many
_KEPT = 8  # texts whose places are kept: a ruleset, its outcome tables and what is laid over them

# Patterns in words, for people who do not read them.
_PATTERNS = {
    r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$": "a name of small letters, digits and hyphens between them, a letter first",
    r"^[A-Za-z][A-Za-z]{0,7}$": "one to eight letters",
}

# --- What is wrong -------------------------------------------------------------------------------------------------


class Fault(msgspec.Struct, frozen=True):
    """Something wrong at a key path; `names` are those that would have been right where `word` stands."""

    path: KeyPath
    message: str
    word: str = ""
    names: tuple[str, ...] = ()

    def under(self, prefix: KeyPath) -> Fault:
        """Return the same fault seen from `prefix` levels further out."""
        return msgspec.structs.replace(self, path=prefix + self.path) if prefix else self


def faults(data: Any, type_: Any) -> list[Fault]:
    """Return what keeps parsed TOML `data` from being a `type_`; nothing exactly when msgspec takes it.

    The list ends at a thousand faults.
    """
    refused = _refusal(data, type_)
    if refused is None:
        return []
    return list(islice(_faults(_node(type_), data, ()), MAX_FAULTS)) or [refused]


@lru_cache(maxsize=64)  # describing a type takes longer than looking at a table of it
def _node(type_: Any) -> inspect.Type:
    return inspect.type_info(type_)


def missing(path: KeyPath, table: Any) -> Fault:
    """Return the fault that `table` has no entry under the last part of `path`."""
    key = str(path[-1])
    if not isinstance(table, dict):
        return Fault(path[:-1], f"expected a table, found {_kind(table)}")
    return Fault(path, f"missing key `{key}`", key, tuple(table))


def _refusal(data: Any, type_: Any) -> Fault | None:
    # msgspec has the last word: about types that this walk does not know, and about what `__post_init__` refuses.
    try:
        msgspec.convert(data, type_, str_keys=True)
    except msgspec.ValidationError as error:
        said, _, place = str(error).rpartition(" - at `")
        return Fault(_path_of(place, data), _first_line(said)) if said else Fault((), _first_line(place))
    except RpgresError as error:
        return Fault((), _first_line(error.message))
    except UnicodeError:
        return Fault((), "a lone surrogate, which is no character")
    except RecursionError:
        return Fault((), "tables or lists nest too deep")
    return None


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _path_of(place: str, data: Any) -> KeyPath:
    # msgspec writes `$.list[0].name`, with `[...]` for any key of a dict, which is where its path ends for us.
    path: KeyPath = ()
    for name, index, anything in re.findall(r"\.([^.\[`]+)|\[(\d+)\]|(\[\.\.\.\])", place):
        if anything and not (isinstance(data, dict) and len(data) == 1):
            break
        part: str | int = int(index) if index else name or next(iter(data))
        try:
            data = data[part]
        except (LookupError, TypeError):
            break
        path += (part,)
    return path


def _bare(node: Any) -> Any:
    """Return the type inside what carries a title or description for a schema."""
    while type(node) is inspect.Metadata:
        node = node.type
    return node


def _faults(node: inspect.Type, value: Any, path: KeyPath) -> Iterator[Fault]:
    node = _bare(node)
    check = _CHECKS.get(type(node), _check_by_msgspec)
    yield from check(node, value, path)


def _check_by_msgspec(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    type_ = getattr(node, "cls", None) or _PLAIN.get(type(node))
    refused = _refusal(value, type_) if type_ else None
    if refused:
        yield refused.under(path)


def _check_kind(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    if type(value) not in _kinds(node):
        yield Fault(path, f"expected {_expected(node)}, found {_kind(value)}")


def _check_number(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    wrong = list(_check_kind(node, value, path))
    yield from wrong
    if wrong:
        return
    limits = [(words, getattr(node, name), holds) for name, words, holds in _LIMITS if getattr(node, name) is not None]
    if not all(holds(value, limit) for _, limit, holds in limits):
        wanted = " and ".join(f"{words} {limit}" for words, limit, _ in limits)
        yield Fault(path, f"expected {_expected(node)} that is {wanted}, found {_quoted(value)}")


def _check_text(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    wrong = list(_check_kind(node, value, path)) or list(_check_size(node, value, path))
    yield from wrong
    if not wrong and node.pattern is not None and not re.search(node.pattern, value):
        wanted = _PATTERNS.get(node.pattern, f"text like `{node.pattern}`")
        yield Fault(path, f"expected {wanted}, found {_quoted(value)}")


def _check_size(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    unit = "character" if type(value) is str else "entry" if type(value) is dict else "item"
    for limit, words, holds in (
        (node.min_length, "at least", operator.ge),
        (node.max_length, "at most", operator.le),
    ):
        if limit is not None and not holds(len(value), limit):
            yield Fault(path, f"expected {words} {_count(limit, unit)}, found {len(value) or 'none'}")


def _check_names(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    values = _names(node)
    if any(type(value) is type(name) and value == name for name in values):
        return
    # An enumeration may know more spellings than its values, by `_missing_`.
    if type(node) is inspect.EnumType and type(value) in _kinds(node) and _refusal(value, node.cls) is None:
        return
    found = _quoted(value) if type(value) in _kinds(node) else _kind(value)
    names = tuple(str(name) for name in values)
    yield Fault(path, f"expected {_expected(node)}, found {found}", str(value) if names else "", names)


def _check_list(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    if type(value) is not list:
        yield from _check_kind(node, value, path)
        return
    yield from _check_size(node, value, path)
    for index, item in enumerate(value):
        yield from _faults(node.item_type, item, (*path, index))


def _check_tuple(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    if type(value) is not list:
        yield from _check_kind(node, value, path)
        return
    if len(value) != len(node.item_types):
        yield Fault(path, f"expected {_count(len(node.item_types), 'item')}, found {len(value) or 'none'}")
    for index, (item_type, item) in enumerate(zip(node.item_types, value, strict=False)):
        yield from _faults(item_type, item, (*path, index))


def _check_dict(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    if type(value) is not dict:
        yield from _check_kind(node, value, path)
        return
    yield from _check_size(node, value, path)
    for key, item in value.items():
        yield from _key_faults(node.key_type, key, (*path, key))
        yield from _faults(node.value_type, item, (*path, key))


def _key_faults(node: Any, key: str, path: KeyPath) -> Iterator[Fault]:
    # A key is always text in TOML; where a number is wanted, msgspec reads it as one.
    readings = [reading for reading in (key, _number(key, int), _number(key, float)) if type(reading) in _kinds(node)]
    for fault in min((list(_faults(node, reading, path)) for reading in readings or [key]), key=len):
        yield msgspec.structs.replace(fault, message=f"as a name in this table {fault.message}")


def _number(key: str, type_: Any) -> Any:
    try:
        return next(iter(msgspec.convert({key: None}, dict[type_, None], str_keys=True)))
    except msgspec.ValidationError:
        return None


def _check_union(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    able = [_bare(one) for one in node.types if type(value) in _kinds(one)]
    if not able:
        yield from _check_kind(node, value, path)
    elif len(able) > 1 and type(value) is dict:
        yield from _check_tagged(able, value, path)
    else:
        # Where several could take the value, as a number or a whole number could, the fewest complaints are meant.
        yield from min((list(_faults(one, value, path)) for one in able), key=len)


def _check_tagged(nodes: Sequence[Any], value: dict[str, Any], path: KeyPath) -> Iterator[Fault]:
    field = nodes[0].tag_field
    tags = tuple(str(node.tag) for node in nodes)
    if field not in value:
        yield Fault((*path, field), f"missing key `{field}`, {_one_of(tags)}")
        return
    tag = value[field]
    chosen = next((node for node in nodes if type(node.tag) is type(tag) and node.tag == tag), None)
    if chosen is None:
        yield Fault((*path, field), f"expected {_one_of(tags)}, found {_quoted(tag)}", str(tag), tags)
    else:
        yield from _check_record(chosen, value, path)


def _check_record(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    if getattr(node, "array_like", False):
        yield from _check_by_msgspec(node, value, path)
        return
    if type(value) is not dict:
        yield from _check_kind(node, value, path)
        return
    faulty = False
    for fault in _entry_faults(node, value, path):
        faulty = True
        yield fault
    if not faulty:  # a record with a faulty part cannot be made, so its `__post_init__` cannot speak yet
        yield from _check_by_msgspec(node, value, path)


def _entry_faults(node: Any, value: dict[str, Any], path: KeyPath) -> Iterator[Fault]:
    fields = {field.encode_name: field for field in node.fields}
    tag_field, tag = getattr(node, "tag_field", None), getattr(node, "tag", None)
    names = (*fields, tag_field) if tag_field else tuple(fields)
    for key, item in value.items():
        if key in fields:
            yield from _faults(fields[key].type, item, (*path, key))
        elif key == tag_field:
            if type(item) is not type(tag) or item != tag:
                yield Fault((*path, key), f"expected `{tag}`, found {_quoted(item)}", str(item), (str(tag),))
        elif getattr(node, "forbid_unknown_fields", False):
            yield _unknown((*path, key), names, value)
    for name, field in fields.items():
        if field.required and name not in value:
            yield Fault((*path, name), f"missing key `{name}`")


def _unknown(path: KeyPath, names: Sequence[str], value: dict[str, Any]) -> Fault:
    key = str(path[-1])
    unused = tuple(name for name in names if name not in value)
    for meant in (unused, tuple(names)):
        if nearest(key, meant):
            return Fault(path, "unknown key", key, meant)
    return Fault(path, f"unknown key; what can stand here is {_listed(unused, 'and')}" if unused else "unknown key")


_Check = Callable[[Any, Any, KeyPath], Iterator[Fault]]
_CHECKS: dict[type[inspect.Type], _Check] = {
    inspect.AnyType: lambda _node, _value, _path: iter(()),
    inspect.BoolType: _check_kind,
    inspect.IntType: _check_number,
    inspect.FloatType: _check_number,
    inspect.StrType: _check_text,
    inspect.LiteralType: _check_names,
    inspect.EnumType: _check_names,
    inspect.ListType: _check_list,
    inspect.VarTupleType: _check_list,
    inspect.SetType: _check_list,
    inspect.FrozenSetType: _check_list,
    inspect.CollectionType: _check_list,
    inspect.TupleType: _check_tuple,
    inspect.DictType: _check_dict,
    inspect.UnionType: _check_union,
    inspect.StructType: _check_record,
    inspect.TypedDictType: _check_record,
    inspect.DataclassType: _check_record,
}
# Types that msgspec describes without naming the class; it is asked itself about a value of them.
_PLAIN: dict[type[inspect.Type], Any] = {
    inspect.DateTimeType: datetime.datetime,
    inspect.DateType: datetime.date,
    inspect.TimeType: datetime.time,
    inspect.TimeDeltaType: datetime.timedelta,
    inspect.BytesType: bytes,
}
# What a TOML value must be to be considered for a type; what is not listed is tried in any case.
_KINDS: dict[type[inspect.Type], tuple[type, ...]] = {
    inspect.NoneType: (),
    inspect.BoolType: (bool,),
    inspect.IntType: (int,),
    inspect.FloatType: (float, int),
    inspect.StrType: (str,),
    inspect.ListType: (list,),
    inspect.VarTupleType: (list,),
    inspect.SetType: (list,),
    inspect.FrozenSetType: (list,),
    inspect.CollectionType: (list,),
    inspect.TupleType: (list,),
    inspect.NamedTupleType: (list,),
    inspect.DictType: (dict,),
    inspect.TypedDictType: (dict,),
    inspect.DataclassType: (dict,),
    inspect.DateTimeType: (datetime.datetime, str),
    inspect.DateType: (datetime.date, str),
    inspect.TimeType: (datetime.time, str),
    inspect.BytesType: (str,),
}
_ALL_KINDS = (bool, int, float, str, list, dict, datetime.datetime, datetime.date, datetime.time)
_LIMITS: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("ge", "at least", operator.ge),
    ("gt", "more than", operator.gt),
    ("le", "at most", operator.le),
    ("lt", "less than", operator.lt),
    ("multiple_of", "a multiple of", lambda value, step: value % step == 0),
)
_KIND_WORDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number with a decimal point",
    str: "text",
    list: "a list",
    dict: "a table",
    datetime.datetime: "a date and time",
    datetime.date: "a date",
    datetime.time: "a time of day",
}


def _kinds(node: Any) -> Collection[type]:
    node = _bare(node)
    if type(node) in (inspect.LiteralType, inspect.EnumType):
        return {type(name) for name in _names(node)}
    if type(node) is inspect.UnionType:
        return {kind for one in node.types for kind in _kinds(one)}
    if type(node) is inspect.StructType:
        return (list,) if node.array_like else (dict,)
    return _KINDS.get(type(node), _ALL_KINDS)


def _names(node: Any) -> Sequence[Any]:
    return [member.value for member in node.cls] if type(node) is inspect.EnumType else node.values


def _expected(node: Any) -> str:
    node = _bare(node)
    if type(node) in (inspect.LiteralType, inspect.EnumType):
        return _one_of([str(name) for name in _names(node)])
    if type(node) is inspect.UnionType:
        said = dict.fromkeys(_expected(one) for one in map(_bare, node.types) if type(one) is not inspect.NoneType)
        return " or ".join(said)
    if type(node) is inspect.FloatType:
        return "a number"
    words = [_KIND_WORDS[kind] for kind in _kinds(node)]
    return words[0] if len(words) < len(_ALL_KINDS) else "another value"


def _kind(value: Any) -> str:
    return "nothing" if value is None else _KIND_WORDS.get(type(value), type(value).__name__)


def _quoted(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return _kind(value)
    if not isinstance(value, str):
        return _cut(str(value).lower())
    return f"`{in_line(_cut(value))}`" if value else "an empty text"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_QUOTED else f"{text[: _MAX_QUOTED - 3]}..."


def _count(number: int, unit: str) -> str:
    plural = {"entry": "entries"}.get(unit, f"{unit}s")
    return f"{number} {unit if number == 1 else plural}"


def _one_of(names: Sequence[str]) -> str:
    return f"`{names[0]}`" if len(names) == 1 else f"one of {_listed(names, 'or')}"


def _listed(names: Sequence[str], joint: str) -> str:
    shown = [f"`{name}`" for name in names[:_MAX_LISTED]]
    if len(names) > _MAX_LISTED:
        return f"{', '.join(shown)} {joint} {len(names) - _MAX_LISTED} more"
    return ", ".join(shown)


# --- Which name was meant ------------------------------------------------------------------------------------------


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the one of `words` that `word` comes nearest to, without regard to case, `_` and `-`; None for none.

    The only word that begins with it is near, however much is left out.
    """
    import difflib

    names = list(words)
    said = _folded(word)
    if word in names or not 0 < len(said) <= _MAX_WORD:
        return word if word in names else None
    meant = {_folded(name): name for name in reversed(names)}  # of two alike, the first
    near = difflib.get_close_matches(said, meant, n=1, cutoff=_SIMILAR) or [
        name for name in meant if name.startswith(said)
    ]
    return meant[near[0]] if len(near) == 1 else None


def _folded(name: str) -> str:
    return name.casefold().replace("_", "-")


def key_text(path: KeyPath) -> str:
    """Return a key path as TOML writes it, list items from 0: `steps[2]."two words"`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{_key_part(part)}" if text else _key_part(part)
    return text


def _key_part(part: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_-]+", part):
        return part
    import json

    return json.dumps(part, ensure_ascii=not part.isprintable())


# --- Where it stands -----------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """The number of a text among several, and a line of it from 1 (0: nowhere)."""

    source: int
    line: int


def places(paths: Sequence[KeyPath], texts: Sequence[str]) -> list[Place]:
    """Return for each key path the text and line that its value comes from.

    Args:
        texts: TOML texts, the farthest first, each overlaying the ones before it.

    A key that stands in none of them is placed at the innermost table around it.
    """
    if not texts:
        return [Place(0, 0) for _ in paths]
    data = [_data(text) for text in texts] if len(texts) > 1 else [{}]
    owners = [_owner(path, data) for path in paths]
    wanted: list[set[KeyPath]] = [set() for _ in texts]
    for path, owner in zip(paths, owners, strict=True):
        wanted[owner].update(path[:length] for length in range(1, len(path) + 1))
    lines = [_lines(text, some) if some else {} for text, some in zip(texts, wanted, strict=True)]
    return [
        Place(owner, _line(path, lines[owner]) if texts[owner] else 0)
        for path, owner in zip(paths, owners, strict=True)
    ]


@lru_cache(maxsize=_KEPT)
def _data(text: str) -> Any:
    try:
        return tomli.loads(text)
    except (ValueError, RecursionError):
        return {}


def _owner(path: KeyPath, data: Sequence[Any]) -> int:
    # The nearest text that has the whole path; for a key that is missing everywhere, the farthest that comes closest:
    # an overlay of three lines is not at fault for what the file below it never said.
    chosen, longest, covered = len(data) - 1, -1, 0
    for number in reversed(range(len(data))):
        reached, whole = _reach(path, data[number])
        if whole is not None and whole <= covered:
            break  # replaced by something nearer, so neither this nor what lies below it is seen
        if reached == len(path):
            return number
        if reached >= longest:
            chosen, longest = number, reached
        covered = max(covered, reached)
    return chosen


def _reach(path: KeyPath, value: Any) -> tuple[int, int | None]:
    """How many parts of the path are there, and at how many parts stands something that overlays replace whole."""
    whole = None
    for depth, part in enumerate(path):
        if whole is None and (not isinstance(value, dict) or _is_removal(value)):
            whole = depth
        try:
            value = value[part]
        except (LookupError, TypeError):
            return depth, whole
    return len(path), whole


def _is_removal(value: dict[str, Any]) -> bool:
    return len(value) == 1 and value.get("remove") is True


def _line(path: KeyPath, lines: Mapping[KeyPath, int]) -> int:
    return next((lines[path[:length]] for length in range(len(path), 0, -1) if path[:length] in lines), 1)


# --- Reading TOML for places, not for values -----------------------------------------------------------------------

_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_KEY_PART = re.compile(r"""[ \t]*+(?:([^\s\[\]{}=,.#"']++)|("(?:[^"\\\n]|\\.)*+")|'([^'\n]*+)')[ \t]*+""")
_SCALAR = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}+'''
    r"""|'''(?:[^']|'(?!''))*+'{3,5}+"""
    r'''|(?!""")"(?:[^"\\\n]|\\.)*+"'''
    r"""|(?!''')'[^'\n]*+'"""
    r"""|[^\s,\[\]{}\#"'=][^,\[\]{}\n\#]*+""",
    re.DOTALL,
)
_NO_LIMIT = 150  # more than parsing allows, and well below the depth at which Python itself gives up


class _LostError(Exception):
    """The text is no TOML from here on."""


class _DeepError(Exception):
    """The text nests deeper than asked for."""


class _ManyError(Exception):
    """The text has more key paths than are worth keeping."""


class _Everything:
    """A set that has every key path."""

    def __contains__(self, _path: object) -> bool:
        return True


class _Scan(msgspec.Struct):
    """A text, and what is noted of it on the way: the place of each key path that is wanted (None: of the last key)."""

    text: str
    limit: int = _NO_LIMIT
    wanted: Container[KeyPath] | None = None
    offsets: dict[KeyPath, int] = {}  # msgspec gives each record its own

    def note(self, path: KeyPath, offset: int, *, again: bool = False) -> None:
        """Remember where a path stands: where it was met first, unless it is said `again` by a header of its own."""
        if self.wanted is None:
            self.offsets.clear()
        elif path not in self.wanted or (path in self.offsets and not again):
            return
        self.offsets[path] = offset
        if len(self.offsets) > _MOST_PATHS:
            raise _ManyError

    def meets(self, mark: str, at: int) -> int:
        """Return the place after `mark`, which has to stand here."""
        if not self.text.startswith(mark, at):
            raise _LostError
        return at + len(mark)

    def after_blank(self, at: int) -> int:
        """Return the next place that is neither blank nor comment."""
        found = _BLANK.match(self.text, at)
        return found.end() if found else at


def is_deeper(text: str, limit: int) -> bool:
    """Return whether a key path of the text has more than `limit` parts, in time that grows only with its length."""
    try:
        _scan(_Scan(text, limit))
    except _DeepError:
        return True
    except _LostError:
        return False
    return False


def last_key(text: str) -> tuple[str, int]:
    """Return the last key of a text as far as it is TOML, and its line; an empty key if there is none."""
    scan = _Scan(text)
    _scan_while_toml(scan)
    for path, offset in scan.offsets.items():
        return key_text(path), text.count("\n", 0, offset) + 1
    return "", 0


def _lines(text: str, wanted: set[KeyPath]) -> Mapping[KeyPath, int]:
    lines = _all_lines(text)
    return lines if lines is not None else _lines_of(_Scan(text, wanted=wanted))


# Problems are located one by one, and a file may have thousands: it is read for all of them at once.
@lru_cache(maxsize=_KEPT)
def _all_lines(text: str) -> Mapping[KeyPath, int] | None:
    """Return the line of every key path of a text; None where it has so many that they are sought one by one."""
    try:
        return _lines_of(_Scan(text, wanted=_Everything()))
    except _ManyError:
        return None


def _lines_of(scan: _Scan) -> dict[KeyPath, int]:
    _scan_while_toml(scan)
    ends = [found.start() for found in re.finditer("\n", scan.text)]
    return {path: bisect_left(ends, offset) + 1 for path, offset in scan.offsets.items()}


def _scan_while_toml(scan: _Scan) -> None:
    try:
        _scan(scan)
    except (_LostError, _DeepError):
        return


def _scan(scan: _Scan) -> None:
    text = scan.text
    table: KeyPath = ()
    counts: dict[KeyPath, int] = {}
    at = scan.after_blank(0)
    while at < len(text):
        start = at
        if text.startswith("[", at):
            mark = "[[" if text.startswith("[[", at) else "["
            parts, at = _key(scan, at + len(mark))
            at = scan.meets("]" * len(mark), at)
            table = _header(scan, parts, counts, start, is_item=mark == "[[")
        else:
            at = _entry(scan, at, table)
        at = scan.after_blank(at)


def _header(scan: _Scan, parts: Sequence[str], counts: dict[KeyPath, int], start: int, *, is_item: bool) -> KeyPath:
    table: KeyPath = ()
    for part in parts[:-1]:
        table = (*table, part)
        scan.note(table, start)
        if table in counts:  # what follows `[[list]]` belongs to the item it began
            table = (*table, counts[table])
    table = (*table, parts[-1])
    if not is_item:
        scan.note(table, start, again=True)
        return table
    scan.note(table, start)
    counts[table] = counts.get(table, -1) + 1
    table = (*table, counts[table])
    scan.note(table, start)
    return table


def _entry(scan: _Scan, at: int, table: KeyPath) -> int:
    start = at
    parts, at = _key(scan, at)
    for part in parts:
        table = (*table, part)
        scan.note(table, start)
    return _value(scan, scan.after_blank(scan.meets("=", at)), table)


def _key(scan: _Scan, at: int) -> tuple[list[str], int]:
    parts: list[str] = []
    while found := _KEY_PART.match(scan.text, at):
        bare, basic, literal = found.groups()
        parts.append(bare or literal or (_unescaped(basic) if basic else ""))
        at = found.end()
        if len(parts) > scan.limit:
            raise _DeepError
        if not scan.text.startswith(".", at):
            return parts, at
        at += 1
    raise _LostError


def _unescaped(token: str) -> str:
    try:
        return str(tomli.loads(f"key = {token}")["key"]) if "\\" in token else token[1:-1]
    except ValueError:
        raise _LostError from None


def _value(scan: _Scan, at: int, path: KeyPath) -> int:
    if len(path) > scan.limit:
        raise _DeepError
    text = scan.text
    if text.startswith("[", at):
        at, index = scan.after_blank(at + 1), 0
        while not text.startswith("]", at):
            item = (*path, index)
            if scan.wanted is not None:
                scan.note(item, at)
            at, index = _next(scan, _value(scan, at, item), "]"), index + 1
        return at + 1
    if text.startswith("{", at):
        at = scan.after_blank(at + 1)
        while not text.startswith("}", at):
            at = _next(scan, _entry(scan, at, path), "}")
        return at + 1
    found = _SCALAR.match(text, at)
    if not found:
        raise _LostError
    return found.end()


def _next(scan: _Scan, at: int, end: str) -> int:
    at = scan.after_blank(at)
    if scan.text.startswith(",", at):
        return scan.after_blank(at + 1)
    scan.meets(end, at)
    return at
