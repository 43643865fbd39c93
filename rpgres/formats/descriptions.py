"""What the fields of records mean, read from the docstrings of their types when a schema is asked for.

A record describes its fields under `Attributes:`; those of its base classes it need not repeat. Under `python -OO`
there are no docstrings, and schemas no descriptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from inspect import cleandoc
from typing import Any

import msgspec

_SECTION = "\n\nAttributes:\n"
_FIELD = re.compile(r"    (\w+): (.+(?:\n {5,}.+)*)")


def description(type_: type) -> str:
    """Return what a record is: its docstring without the fields."""
    return cleandoc(type_.__doc__ or "").partition(_SECTION)[0]


def documented(type_: type) -> dict[str, str]:
    """Return what the docstring of a record says of its fields, by their names in Python."""
    section = cleandoc(type_.__doc__ or "").partition(_SECTION)[2]
    return {name: " ".join(text.split()) for name, text in _FIELD.findall(section)}


def field_texts(type_: type[msgspec.Struct]) -> dict[str, str]:
    """Return what the fields of a record mean, by their names in JSON or TOML."""
    texts: dict[str, str] = {}
    for base in reversed(type_.__mro__):
        texts |= documented(base)
    names = {field.name: field.encode_name for field in msgspec.structs.fields(type_)}
    return {names[name]: text for name, text in texts.items() if name in names}


def records_in(types: Iterable[Any]) -> dict[str, type[msgspec.Struct]]:
    """Return the records that types are made of, by name."""
    found: dict[str, type[msgspec.Struct]] = {}
    waiting = list(msgspec.inspect.multi_type_info(types))
    while waiting:
        info = waiting.pop()
        if isinstance(info, msgspec.inspect.StructType):
            if info.cls.__name__ in found:
                continue
            found[info.cls.__name__] = info.cls
        waiting += _parts(info)
    return found


def _parts(info: msgspec.inspect.Type) -> Iterator[msgspec.inspect.Type]:
    for name in info.__struct_fields__:
        part = getattr(info, name)
        for one in part if isinstance(part, tuple) else (part,):
            if isinstance(one, msgspec.inspect.Field):
                yield one.type
            elif isinstance(one, msgspec.inspect.Type):
                yield one
