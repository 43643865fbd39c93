"""Paths in a scene's conditions and expectations, and the texts by which its steps name new tags, tracks and things."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rpgres.errors import UsageError
from rpgres.lint.paths import Known, path_faults, place_faults
from rpgres.model.conditions import read_condition
from rpgres.model.paths import ABSENT, parse_path
from rpgres.model.state import slug
from rpgres.model.typed_paths import path_of, typed_path
from rpgres.scenes.records import SceneTag
from rpgres.toml.diagnostics import Fault, KeyPath, errors_in

_Check = Callable[[str, Any, Known], list[Fault]]


def as_table(value: Any) -> dict[str, Any]:
    """Return a table as it is, an empty one for anything else; other checks report its type."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, an empty one for anything else; other checks report its type."""
    return value if isinstance(value, list) else []


def faults_of_paths(
    data: Mapping[str, Any], tags: Mapping[str, SceneTag], known: Known, later: Callable[[], Known]
) -> Iterator[Fault]:
    """Yield faults of paths: impossible ones, and those that name a tag by its key and not by its text.

    Only `scene check` reports them: a scene that is played for a seat must not reveal hidden names.

    Args:
        data: the scene's TOML.
        known: the names that paths may use at the beginning.
        later: returns the same with the characters that join by inputs of steps.
    """
    steps = list(all_steps(data.get("steps")))
    there = {slug(tag.text) for tag in tags.values()}
    there |= {slug(text) for _, step in steps for text in texts_in(step)}
    for at, paths, check in _paths_in(data, steps):
        for path, wanted in as_table(paths).items():
            said = typed_path(path)
            if said.field == "tags" and said.name in tags and slug(said.name) not in there:
                meant = path_of("tags", slug(tags[said.name].text), *said.keys[2:])
                message = f"a path names a tag by its text: this one is {meant}"
                yield Fault("unknown-name", (*at, path), message)
            elif check is not None and said.name:
                found = check(path, wanted, known)
                yield from (fault.under(*at, path) for fault in (found and check(path, wanted, later())))


def _condition_faults(path: str, wanted: Any, known: Known) -> list[Fault]:
    try:
        return list(place_faults(read_condition(path, wanted), known))
    except UsageError:  # reported by `condition_faults`
        return []


def _expectation_faults(path: str, wanted: Any, known: Known) -> list[Fault]:
    """Return the faults of an expected path, without warnings of names that play may still create."""
    try:
        return errors_in(path_faults(parse_path(path), known)) if wanted != ABSENT else []
    except UsageError as error:
        return [Fault("unknown-name", (), error.message.removeprefix(f"{path}: "))]


def _paths_in(
    data: Mapping[str, Any], steps: Iterable[tuple[KeyPath, dict[str, Any]]]
) -> Iterator[tuple[KeyPath, Any, _Check | None]]:
    """Yield each table of a scene that is keyed by paths, with its key path and the check of its entries.

    Standing orders have no check here: `check_deciders` checks them as their owner sees the table.
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
    """Yield every step of a scene's TOML with its key path, also those of groups."""
    for number, step in enumerate(as_list(raw)):
        place = (*at, number)
        yield place, as_table(step)
        yield from all_steps(as_table(step).get("steps"), (*place, "steps"))


def texts_in(step: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts by which a step may put something on the table: inputs, answers, and paths of `set`."""
    for path, value in as_table(step.get("set")).items():
        match typed_path(path).keys:
            case ["tags" | "things" | "tracks", name] if value != ABSENT:
                yield name
    left: list[Any] = [step.get("with"), step.get("choose")]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one.partition("=")[0]  # of `TEXT=USES`
        left += one.values() if isinstance(one, dict) else as_list(one)
