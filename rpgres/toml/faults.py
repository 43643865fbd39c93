"""The second look at data that msgspec refused: every fault with its key path. Not on the way of a file in order.

It knows the types that records of TOML have. What it has no check for, msgspec itself has the last word about.
"""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import islice
from typing import Any

import msgspec
from msgspec import inspect

from rpgres.errors import RpgresError, enumerated
from rpgres.text.harmless import in_line
from rpgres.toml.diagnostics import Fault, KeyPath, key_text, nearest

MAX_FAULTS = 1000  # a hostile list has a million
_MAX_QUOTED = 40  # characters of a wrong value that a message repeats

# Patterns in words, for people who do not read them.
_PATTERNS = {
    r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$": "a name of lowercase letters, digits and hyphens, starting with a letter",
    r"^[A-Za-z][A-Za-z]{0,7}$": "one to eight letters",
}


def faults(data: Any, type_: Any) -> list[Fault]:
    """Return what keeps parsed TOML `data` from being a `type_`; nothing exactly when msgspec takes it.

    The list ends at a thousand faults.
    """
    refused = _refusal(data, type_)
    if refused is None:
        return []
    return list(islice(_faults(_node(type_), data, ()), MAX_FAULTS)) or [refused]


def mend_keys(data: Any, found: Iterable[Fault]) -> None:
    """Put what stands under unknown keys under those that are meant, so that the rest can be checked, too."""
    for fault in found:
        if fault.code == "unknown-key":
            *outer, key = fault.path
            table = reduce(operator.getitem, outer, data)
            value, meant = table.pop(key), nearest(fault.word, fault.names)
            if meant is not None:
                table.setdefault(meant, value)


@lru_cache(maxsize=64)  # describing a type takes longer than looking at a table of it
def _node(type_: Any) -> inspect.Type:
    return inspect.type_info(type_)


def _refusal(data: Any, type_: Any) -> Fault | None:
    # msgspec has the last word: about types that this walk does not know, and about what `__post_init__` refuses.
    path: KeyPath = ()
    try:
        msgspec.convert(data, type_, str_keys=True)
        return None
    except msgspec.ValidationError as error:
        said, _, place = str(error).rpartition(" - at `")
        path, told = (_path_of(place, data), said) if said else ((), place)
    except RpgresError as error:
        told = error.message
    except UnicodeError:
        told = "a lone surrogate, which is not a character"
    except RecursionError:
        told = "tables or lists are nested too deep"
    return Fault("refused", path, told.strip().partition("\n")[0])


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


# ---------------------------------------------------------------------------------------------------------------------
# One check for each kind of type; what it is given has the kind of TOML value that the type takes


def _bare(node: Any) -> Any:
    """Return the type inside what carries a title or description for a schema."""
    while type(node) is inspect.Metadata:
        node = node.type
    return node


def _faults(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    node = _bare(node)
    check = _CHECKS.get(type(node), _check_by_msgspec)
    if check is not _check_names and type(value) not in _kinds(node):
        yield Fault("wrong-type", path, f"expected {_expected(node)}, found {kind_of(value)}{_hint(node, value, path)}")
    else:
        yield from check(node, value, path)


def _check_by_msgspec(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    type_ = getattr(node, "cls", None)
    refused = _refusal(value, type_) if type_ else None
    if refused:
        yield refused.under(*path)


def _check_nothing(_node: Any, _value: Any, _path: KeyPath) -> Iterator[Fault]:
    yield from ()


def _check_number(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    if (node.ge is not None and value < node.ge) or (node.le is not None and value > node.le):
        limits = (("at least", node.ge), ("at most", node.le))
        wanted = " and ".join(f"{words} {limit}" for words, limit in limits if limit is not None)
        yield Fault("wrong-value", path, f"expected {_expected(node)} that is {wanted}, found {_quoted(value)}")


def _check_text(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    if node.min_length is not None and len(value) < node.min_length:
        wanted = "at least 1 character" if node.min_length == 1 else f"at least {node.min_length} characters"
        yield Fault("wrong-value", path, f"expected {wanted}, found {len(value) or 'none'}")
    elif node.pattern is not None and not re.search(node.pattern, value):
        wanted = _PATTERNS.get(node.pattern, f"text like `{node.pattern}`")
        yield Fault("wrong-value", path, f"expected {wanted}, found {_quoted(value)}")


def _hint(node: Any, value: Any, path: KeyPath) -> str:
    """Return a hint for a table that was written as an array of tables, or the other way round."""
    kinds = _kinds(node)
    if type(value) is list and value and all(type(one) is dict for one in value) and dict in kinds:
        return "; write its head with single brackets, [...], not [[...]]"
    item = _bare(getattr(_bare(node), "item_type", None))
    if type(value) is dict and list in kinds and isinstance(item, inspect.StructType):
        head = ".".join(str(part) for part in path if not isinstance(part, int))
        return f"; write the head of each with double brackets, [[{head}]]"
    return ""


def _quoting_hint(node: Any, key: str, item: Any) -> str:
    """Return a hint for a path whose points made tables of it, as it was not in quotes."""
    if type(item) is not dict or dict in _kinds(node.value_type) or getattr(_bare(node.key_type), "pattern", None):
        return ""
    while type(item) is dict and len(item) == 1:
        ((part, item),) = item.items()
        key += f".{part}"
    return f'; a path stands in quotes: "{in_line(key[:_MAX_QUOTED])}" = ...'


def _check_names(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    if not any(type(value) is type(name) and value == name for name in node.values):
        is_kind = type(value) in _kinds(node)
        names = tuple(map(str, node.values))
        message = f"expected {_expected(node)}, found {_quoted(value) if is_kind else kind_of(value)}"
        yield Fault("wrong-value" if is_kind else "wrong-type", path, message, str(value), names)


def _check_list(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    for index, item in enumerate(value):
        yield from _faults(node.item_type, item, (*path, index))


def _check_tuple(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    count = len(node.item_types)
    if len(value) != count:
        unit = "item" if count == 1 else "items"
        yield Fault("wrong-value", path, f"expected {count} {unit}, found {len(value) or 'none'}")
    for index, (item_type, item) in enumerate(zip(node.item_types, value, strict=False)):
        yield from _faults(item_type, item, (*path, index))


def _check_dict(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    for key, item in value.items():
        yield from _key_faults(node.key_type, key, (*path, key))
        for fault in _faults(node.value_type, item, (*path, key)):
            is_bare = fault.code == "missing-key" and len(fault.path) == len(path) + 2  # such as one to overlay another
            near = nearest(key, value) if is_bare else ""
            more = f"; or did you mean {key_text((*path, near))}?" if near else ""
            more = more or (_quoting_hint(node, key, item) if len(fault.path) == len(path) + 1 else "")
            yield msgspec.structs.replace(fault, message=fault.message + more) if more else fault


def _key_faults(node: Any, key: str, path: KeyPath) -> Iterator[Fault]:
    for fault in _faults(node, key, path):
        told = f"as a name in this table {fault.message}"
        if path[:1] == ("characters",) and (plain := _plain(key)):
            told += f'; write `{plain}`, and below it name = "{in_line(key[:_MAX_QUOTED])}"'
        yield msgspec.structs.replace(fault, message=told)


def _plain(key: str) -> str:
    """Return a name in lowercase letters without accents; empty where none are left."""
    from unicodedata import normalize

    letters = normalize("NFKD", key).encode("ascii", "ignore").decode().lower()
    found = "-".join(re.findall("[a-z0-9]+", letters))
    return found if found[:1].isalpha() else ""


def _check_union(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    # Where several types could take a value, such as two lists, the fewest complaints are meant.
    able = [one for one in node.types if type(value) in _kinds(one)]
    yield from min((list(_faults(one, value, path)) for one in able), key=len)


def _check_record(node: Any, value: Any, path: KeyPath) -> Iterator[Fault]:
    faulty = False
    for fault in _entry_faults(node, value, path):
        faulty = True
        yield fault
    if not faulty:  # a record with a faulty part cannot be made, so its `__post_init__` cannot speak yet
        yield from _check_by_msgspec(node, value, path)


def _entry_faults(node: Any, value: dict[str, Any], path: KeyPath) -> Iterator[Fault]:
    fields = {field.encode_name: field for field in node.fields}
    for key, item in value.items():
        if key in fields:
            yield from _faults(fields[key].type, item, (*path, key))
        elif node.forbid_unknown_fields and key != node.tag_field:
            yield _unknown((*path, key), tuple(fields), value, meant=getattr(node.cls, "MEANT", {}))
    for name, field in fields.items():
        if field.required and name not in value:
            yield Fault("missing-key", (*path, name), f"missing key `{name}`")


def _unknown(path: KeyPath, names: Sequence[str], value: dict[str, Any], *, meant: Mapping[str, str]) -> Fault:
    key = str(path[-1])
    if key in meant:
        return Fault("unknown-key", path, f"unknown key; the key for this is `{meant[key]}`")
    unused = tuple(name for name in names if name not in value)
    swapped = tuple(name for name in names if sorted(name) == sorted(key))  # the same letters in another order
    for near in (swapped, unused, tuple(names)):
        if nearest(key, near):
            return Fault("unknown-key", path, "unknown key", key, near)
    more = f"; allowed keys are {_listed(unused, 'and')}" if unused else ""
    return Fault("unknown-key", path, f"unknown key{more}")


_Check = Callable[[Any, Any, KeyPath], Iterator[Fault]]
_CHECKS: dict[type[inspect.Type], _Check] = {
    inspect.AnyType: _check_nothing,
    inspect.BoolType: _check_nothing,
    inspect.IntType: _check_number,
    inspect.StrType: _check_text,
    inspect.LiteralType: _check_names,
    inspect.ListType: _check_list,
    inspect.VarTupleType: _check_list,
    inspect.TupleType: _check_tuple,
    inspect.DictType: _check_dict,
    inspect.UnionType: _check_union,
    inspect.StructType: _check_record,
}
# What a TOML value must be to be considered for a type; what is not listed is tried in any case.
_KINDS: dict[type[inspect.Type], tuple[type, ...]] = {
    inspect.NoneType: (),
    inspect.BoolType: (bool,),
    inspect.IntType: (int,),
    inspect.StrType: (str,),
    inspect.ListType: (list,),
    inspect.VarTupleType: (list,),
    inspect.TupleType: (list,),
    inspect.DictType: (dict,),
    inspect.StructType: (dict,),
}
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
    type(None): "nothing",
}


def _kinds(node: Any) -> Collection[type]:
    node = _bare(node)
    if type(node) is inspect.LiteralType:
        return {type(name) for name in node.values}
    if type(node) is inspect.UnionType:
        return {kind for one in node.types for kind in _kinds(one)}
    return _KINDS.get(type(node), _KIND_WORDS)


# ---------------------------------------------------------------------------------------------------------------------
# Types and values in words


def _expected(node: Any) -> str:
    node = _bare(node)
    if type(node) is inspect.LiteralType:
        return _one_of([str(name) for name in node.values if name != ""])  # which stands for a key that is left out
    if type(node) is inspect.UnionType:
        said = dict.fromkeys(_expected(one) for one in map(_bare, node.types) if type(one) is not inspect.NoneType)
        return " or ".join(said)
    return next(_KIND_WORDS[kind] for kind in _kinds(node))


def kind_of(value: Any) -> str:
    """Return what kind of value this is, in words."""
    return _KIND_WORDS.get(type(value), type(value).__name__)


def _quoted(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return kind_of(value)
    if not isinstance(value, str):
        return _cut(str(value).lower())
    return f"`{in_line(_cut(value))}`" if value else "an empty text"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_QUOTED else f"{text[: _MAX_QUOTED - 3]}..."


def _one_of(names: Sequence[str]) -> str:
    return f"`{names[0]}`" if len(names) == 1 else f"one of {_listed(names, 'or')}"


def _listed(names: Sequence[str], joint: str) -> str:
    return enumerated([f"`{name}`" for name in names], joint=joint)
