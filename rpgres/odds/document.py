"""A scene's TOML with a value changed at a path: `steps.climb.with.vs`, `steps[1].with.vs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rpgres.errors import UsageError
from rpgres.lint.paths import Known, keys_in_file, path_faults
from rpgres.model.paths import parse_path
from rpgres.model.state import State
from rpgres.model.typed_paths import path_in_file
from rpgres.rulesets import Rules, unknown
from rpgres.rulesets.sheets import ORDERS
from rpgres.toml.diagnostics import nearest

_ROOTS = ("characters", "steps", "counters", "tags", "tracks", "things", "switches", "ends", "orders")
_LOOKS = "a path looks like characters.mara.skills.fight or steps.climb.with.vs"
_OWN = 3  # keys of a path to a key of a character itself
_NAMED = ("characters", "tags", "tracks", "things", "orders", "ends")  # tables to which a change adds no entries


def put_at(rules: Rules, document: Mapping[str, Any], path: str, value: Any) -> Any:
    """Return a scene with a value at a path; None removes the key.

    A counter or an ability of a character may be named as on the table, too: `characters.mara.counters.fate-points`.

    Raises:
        UsageError: there is no such path, or it names something that is not in the scene.
    """
    keys = keys_in_file(rules, path_in_file(path).keys)
    if not keys:
        raise UsageError(f"{path!r} is no path of the scene; {_LOOKS}")
    _check_named(rules, document, path, keys)
    return _put_in(document, keys, value, path=path)


def _check_named(rules: Rules, document: Mapping[str, Any], path: str, keys: Sequence[str]) -> None:
    root, name, field, *_ = *keys, "", "", ""
    if root not in document and root not in _ROOTS:
        known = [one for one in _ROOTS if one in document]
        raise UsageError(f"{path}: {unknown('key', root, known, of='the scene')}; {_LOOKS}, or is the name of a switch")
    there = document.get(root, {})
    own = there.get(name) if root == "characters" and isinstance(there, Mapping) else None
    if field and isinstance(own, Mapping):
        known = list(dict.fromkeys([*own, *rules.file.sheet, ORDERS]))
        if field not in known and (nearest(field, known) or len(keys) > _OWN):
            raise UsageError(f"{path}: {unknown('key', field, known, of=f'`characters.{name}` of the scene')}")
    if not name or not isinstance(there, Mapping) or name in there:
        return
    if root in _NAMED:
        raise UsageError(f"{path}: {unknown('entry', name, there, of=f'`{root}` of the scene')}")
    if root == "counters" and "." not in name:
        for fault in path_faults(parse_path(f"counters.{name}"), Known(rules, State())):
            raise UsageError(f"{path}: {fault.placed('', None, None, prefix=()).told}")


def _put_in(node: Any, keys: Sequence[str], value: Any, *, path: str) -> Any:
    """Return data with a value at a path; entries of lists go by `id` or number, missing tables are created."""
    key, rest = keys[0], keys[1:]
    if isinstance(node, list):
        number, *inner = _entry(node, key, path)
        rest = [*inner, *rest]
        if not rest and value is None:
            return [*node[:number], *node[number + 1 :]]
        put = plain_value(value) if not rest else _put_in(node[number], rest, value, path=path)
        return [*node[:number], put, *node[number + 1 :]]
    if not isinstance(node, Mapping):
        raise UsageError(f"{path}: there is no table above {key!r} in the scene")
    if not rest:
        others = {name: other for name, other in node.items() if name != key}
        return others if value is None else {**others, key: plain_value(value)}
    return {**node, key: _put_in(node.get(key, {}), rest, value, path=path)}


def _entry(node: Sequence[Any], key: str, path: str) -> tuple[Any, ...]:
    """Return the number of an entry of a list by `id` or number, and the keys inside it of one in a group."""
    ids = _ids(node)
    if key in ids:
        return ids[key]
    if key.isascii() and key.isdecimal() and int(key) < len(node):
        return (int(key),)
    told = unknown("entry", key, ids, of="this list").removesuffix(", and no other")
    raise UsageError(f"{path}: {told} (an entry goes by its `id`, or by its number from 0)")


def _ids(steps: Sequence[Any]) -> dict[str, tuple[Any, ...]]:
    """Return the ids of entries of a list, also of those in groups, with the keys that lead to each."""
    found: dict[str, tuple[Any, ...]] = {}
    for number, item in enumerate(steps):
        own, group = (item.get("id"), item.get("steps")) if isinstance(item, Mapping) else (None, None)
        if isinstance(own, str):
            found.setdefault(own, (number,))
        if isinstance(group, list):
            found |= {id_: (number, "steps", id_) for id_ in _ids(group) if id_ not in found}
    return found


def plain_value(value: Any) -> Any:
    """Return a typed value as TOML would have it: whole numbers and truth values as such, anything else as text.

    >>> plain_value("3"), plain_value("true"), plain_value("fair")
    (3, True, 'fair')
    """
    if not isinstance(value, str):
        return value
    if value in ("true", "false"):
        return value == "true"
    try:
        return int(value)
    except ValueError:
        return value
