"""One walk over whatever nests: outcome tables with their rows, questions and options, and parsed TOML."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from rpgres.rulesets.rows import RowQuestion
from rpgres.toml.diagnostics import KeyPath

_LEAVES = frozenset({str, int, bool, float, type(None)})  # most of what is walked, and nothing is in them


def walk(
    value: Any,
    path: KeyPath = (),
    *,
    menu: Callable[[str], RowQuestion] | None = None,
    within: tuple[str, ...] = (),
    fields: Container[str] | None = None,
) -> Iterator[tuple[KeyPath, Any]]:
    """Yield a value and everything in it, each with its key path in TOML, outer before inner.

    Args:
        value: records, dicts and lists of them, and what they hold.
        menu: gives a shared question by name; a question that names one then comes with what that says and offers.
        within: the shared questions that the value stands in, whose options are not walked again.
        fields: the fields of records that are walked; None for all.
    """
    if menu is not None and isinstance(value, RowQuestion) and value.menu:
        is_again = value.menu in within
        within = (*within, value.menu)
        value = filled(value, menu)
        value = msgspec.structs.replace(value, options={}) if is_again else value
    yield path, value
    for key, inner in _inside(value, fields):
        if type(inner) in _LEAVES:
            yield (*path, key), inner
        else:
            yield from walk(inner, (*path, key), menu=menu, within=within, fields=fields)


def filled(question: RowQuestion, menu: Callable[[str], RowQuestion]) -> RowQuestion:
    """Return a question with what the shared one that it names says and offers; its conditions are its own."""
    if not question.menu:
        return question
    shown = menu(question.menu)
    return msgspec.structs.replace(
        question, who=shown.who, text=shown.text, optional=shown.optional, options=shown.options
    )


def _inside(value: Any, fields: Container[str] | None) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, list | tuple):
        return enumerate(value)
    if isinstance(value, msgspec.Struct):
        names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        return ((key, getattr(value, name)) for key, name in names if fields is None or name in fields)
    return ()


def reached(names: Iterable[str], leads_to: Callable[[str], Iterable[str]]) -> dict[str, None]:
    """Return what names lead to, step by step, in the order in which it is met; a name itself only if it comes back.

    >>> list(reached(["a"], {"a": ["b"], "b": ["b", "c"], "c": [], "d": ["a"]}.__getitem__))
    ['b', 'c']
    """
    found: dict[str, None] = {}
    open_ = list(names)
    for name in open_:
        new = [one for one in leads_to(name) if one not in found]
        found |= dict.fromkeys(new)
        open_ += new
    return found
