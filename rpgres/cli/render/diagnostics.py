"""Diagnostics as lines for people, and as annotations of GitHub workflows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rpgres.cli.render.lines import Line, line
from rpgres.text.harmless import harmless
from rpgres.toml.diagnostics import MAX_SHOWN, Diagnostic

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}  # GitHub's names of severities


def diagnostic_lines(found: Sequence[Diagnostic]) -> list[Line]:
    """Return diagnostics as `FILE:LINE: KEY: what is wrong`, as many as a reader may want."""
    texts = [diagnostic.text for diagnostic in found[:MAX_SHOWN]]
    if len(found) > MAX_SHOWN:
        texts.append(f"... and {len(found) - MAX_SHOWN} more")
    return [line(text) for told in texts for text in harmless(told).split("\n")]


def github_text(found: Iterable[Diagnostic]) -> str:
    """Return diagnostics as commands that make a GitHub workflow annotate the files, one a line."""
    return "".join(f"{_annotation(diagnostic)}\n" for diagnostic in found)


def _annotation(its: Diagnostic) -> str:
    properties = {"file": its.file, "line": its.line, "col": its.column, "title": its.code}
    shown = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in properties.items() if value)
    return f"::{_LEVELS[its.severity]} {shown}::{_escaped(its.told)}"


def _escaped(text: str, also: str = "") -> str:
    """Return a text in which `%`, line ends and further characters are written as `%` and their code."""
    for character in ("%", "\r", "\n", *also):
        text = text.replace(character, f"%{ord(character):02X}")
    return text
