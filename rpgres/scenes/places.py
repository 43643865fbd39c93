"""Paths in the text of a scene, in conditions and expectations, and the texts that name what play brings forth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rpgres.errors import UsageError
from rpgres.lint.paths import Known, path_faults, place_faults
from rpgres.model.conditions import read_condition
from rpgres.model.paths import ABSENT, parse_path
from rpgres.model.state import slug
from rpgres.scenes.records import SceneTag
from rpgres.toml.diagnostics import Fault, KeyPath, errors_in

_Check = Callable[[str, Any, Known], list[Fault]]


def as_table(value: Any) -> dict[str, Any]:
    """Return a table as it is, an empty one for anything else; its type is told elsewhere."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, an empty one for anything else; its type is told elsewhere."""
    return value if isinstance(value, list) else []


def faults_of_paths(
    data: Mapping[str, Any], tags: Mapping[str, SceneTag], known: Known, later: Callable[[], Known]
) -> Iterator[Fault]:
    """Yield the paths of a scene at which nothing can stand, or that name a tag by its key and not by its text.

    Only `scene check` says so: a scene that is played for a seat does not reveal the names of what is hidden.

    Args:
        data: the scene as it stands in TOML.
        known: what the paths may speak of at the beginning.
        later: returns the same with those who join by the inputs of steps.
    """
    steps = list(all_steps(data.get("steps")))
    there = {slug(tag.text) for tag in tags.values()}
    there |= {slug(text) for _, step in steps for text in texts_in(step)}
    for at, paths, check in _paths_in(data, steps):
        for path, wanted in as_table(paths).items():
            field, _, rest = path.partition(".")
            key, _, inner = rest.partition(".")
            if field == "tags" and key in tags and slug(key) not in there:
                called = slug(tags[key].text)
                message = f"a path names a tag by its text: this one is tags.{called}{'.' if inner else ''}{inner}"
                yield Fault("unknown-name", (*at, path), message)
            elif check is not None and "." in path:
                found = check(path, wanted, known)
                yield from (fault.under(*at, path) for fault in (found and check(path, wanted, later())))


def _condition_faults(path: str, wanted: Any, known: Known) -> list[Fault]:
    try:
        return list(place_faults(read_condition(path, wanted), known))
    except UsageError:  # told elsewhere
        return []


def _expectation_faults(path: str, wanted: Any, known: Known) -> list[Fault]:
    """Return what is wrong with a path that is expected; a name that play brings forth is told when that is tested."""
    try:
        return errors_in(path_faults(parse_path(path), known)) if wanted != ABSENT else []
    except UsageError as error:
        return [Fault("unknown-name", (), error.message.removeprefix(f"{path}: "))]


def _paths_in(
    data: Mapping[str, Any], steps: Iterable[tuple[KeyPath, dict[str, Any]]]
) -> Iterator[tuple[KeyPath, Any, _Check | None]]:
    """Yield what a scene says by path, with its place, and how that is checked.

    Standing orders are checked elsewhere, as their owner sees the table.
    """
    for name, end in as_table(data.get("ends")).items():
        yield ("ends", name, "when"), as_table(end).get("when"), _condition_faults
    for at, step in steps:
        yield (*at, "when"), step.get("when"), _condition_faults
        yield (*at, "set"), step.get("set"), None
        yield (*at, "repeat", "until"), as_table(step.get("repeat")).get("until"), _condition_faults
        yield (*at, "expect", "state"), as_table(step.get("expect")).get("state"), _expectation_faults
    lists: list[tuple[KeyPath, Any]] = [(("orders", name), one) for name, one in as_table(data.get("orders")).items()]
    for name, one in as_table(data.get("characters")).items():
        lists.append((("characters", name, "orders"), as_table(one).get("orders")))
    for at, orders in lists:
        for number, order in enumerate(as_list(orders)):
            yield (*at, number, "when"), as_table(order).get("when"), None


def all_steps(raw: Any, at: KeyPath = ("steps",)) -> Iterator[tuple[KeyPath, dict[str, Any]]]:
    """Yield every step as it stands in TOML, those of groups too, with its place."""
    for number, step in enumerate(as_list(raw)):
        place = (*at, number)
        yield place, as_table(step)
        yield from all_steps(as_table(step).get("steps"), (*place, "steps"))


def texts_in(step: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts by which a step may put something on the table: inputs, answers, and a path that is set."""
    for path, value in as_table(step.get("set")).items():
        field, _, name = path.partition(".")
        if field in ("tags", "things", "tracks") and "." not in name and value != ABSENT:
            yield name
    left: list[Any] = [step.get("with"), step.get("choose")]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one.partition("=")[0]  # as `TEXT=USES` is typed
        left += one.values() if isinstance(one, dict) else as_list(one)
