"""Where in its files a piece of a ruleset's data stands, so that faults are told with their line. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rpgres.errors import FileError
from rpgres.rulesets.folders import Text
from rpgres.toml.diagnostics import Diagnostic, Fault, diagnostics_error
from rpgres.toml.diagnostics import KeyPath as Path


def faults_error(texts: Sequence[Text], faults: Iterable[Fault]) -> FileError:
    """Return the error that tells faults of a table with their files and lines."""
    return diagnostics_error([located_in(texts, fault) for fault in faults])


def located_in(texts: Sequence[Text], fault: Fault) -> Diagnostic:
    """Return a fault of a table as a diagnostic, in the nearest of the files that have its key path."""
    from rpgres.toml.places import places

    if not texts:
        return fault.placed("", None, None)
    text = texts[owner(texts, fault.path)]
    spot = places([(*text.prefix, *fault.path)], [text.source.text])[0]
    return fault.placed(text.source.path, spot.line, spot.column, prefix=text.prefix)


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
