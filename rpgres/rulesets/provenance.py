"""Where in its files a piece of a ruleset's data stands, so that faults are told with their line. Judges nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import msgspec

from rpgres.errors import FileError
from rpgres.rulesets.folders import Text
from rpgres.toml.reading import Problem, locate, problem_error

Path = tuple[str | int, ...]


def refuse(texts: Sequence[Text], data: Any, type_: Any) -> NoReturn:
    """Raise what is wrong with the texts of one table, all problems at once."""
    from rpgres.toml import problems

    found = []
    for fault in problems.faults(data, type_):
        hint = (problems.nearest(fault.word, fault.names) or "") if fault.names else ""
        found.append(problem_at(texts, fault.path, fault.message, hint=hint))
    raise problem_error(found) from None


def problem_at(texts: Sequence[Text], path: Path, message: str, *, hint: str = "") -> Problem:
    """Return a problem of the value at a key path, in the nearest of the files that have it."""
    from rpgres.toml.problems import key_text

    if not texts:
        return Problem("", None, key_text(path), message, hint)
    text = texts[owner(texts, path)]
    whole = (*text.prefix, *path)
    return Problem(text.source.path, locate(text.source.text, whole), key_text(whole), message, hint)


def owner(texts: Sequence[Text], path: Path) -> int:
    """Return the number of the nearest text that has a key path, or else most of it."""
    return max(range(len(texts)), key=lambda number: (_reach(texts[number].data, path), number), default=0)


def _reach(value: Any, path: Path) -> int:
    for depth, part in enumerate(path):
        try:
            value = value[part]
        except (LookupError, TypeError):
            return depth
    return len(path)


def problems_in(error: FileError) -> list[Problem]:
    """Return the problems that an error tells, or the error as one problem."""
    told = error.details.get("problems")
    if told:
        return [msgspec.convert(problem, Problem) for problem in told]
    return [Problem("", None, "", error.message)]


def line_of(problem: Problem) -> str:
    """Return a problem as a reader meets it: `FILE:LINE: KEY: what is wrong`."""
    return problem_error([problem]).message
