"""Where in its files a piece of a ruleset's data stands, so that faults are told with their line. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rpgres.errors import FileError
from rpgres.rulesets.folders import Text
from rpgres.toml.diagnostics import Diagnostic, Fault, diagnostics_error
from rpgres.toml.diagnostics import KeyPath as Path


def faults_error(texts: Sequence[Text], faults: Iterable[Fault]) -> FileError:
    """Return the error that tells faults of a table with their files and lines, file by file in line order."""
    number = {text.source.path: number for number, text in enumerate(texts)}
    found = [located_in(texts, fault) for fault in faults]
    return diagnostics_error(sorted(found, key=lambda one: (number.get(one.file, 0), one.line or 0)))


def located_in(texts: Sequence[Text], fault: Fault) -> Diagnostic:
    """Return a fault of a table as a diagnostic, in the nearest of the files that have its key path."""
    from rpgres.toml.places import spot

    if not texts:
        return fault.placed("", None, None)
    text = texts[owner(texts, fault.path)]
    return fault.placed(text.source.path, *spot((*text.prefix, *fault.path), text.source.text), prefix=text.prefix)


def owner(texts: Sequence[Text], path: Path) -> int:
    """Return the number of the nearest text that has a key path.

    For a key that is missing everywhere it is the farthest that comes closest: an overlay of three lines is not at
    fault for what the file below it never said.
    """
    chosen, longest, covered = len(texts) - 1, -1, 0
    for number in reversed(range(len(texts))):
        reached, whole = _reach(path, texts[number].data)
        if whole is not None and whole <= covered:
            break  # replaced by something nearer, so neither this nor what lies below it is seen
        if reached == len(path):
            return number
        if reached >= longest:
            chosen, longest = number, reached
        covered = max(covered, reached)
    return chosen


def _reach(path: Path, value: Any) -> tuple[int, int | None]:
    """Return how many parts of a path are there, and at how many parts stands what overlays replace whole."""
    whole = None
    for depth, part in enumerate(path):
        if whole is None and (not isinstance(value, dict) or value == {"remove": True}):
            whole = depth
        try:
            value = value[part]
        except (LookupError, TypeError):
            return depth, whole
    return len(path), whole
