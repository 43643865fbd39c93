"""Plugins, and what came of checking them, as lines for people."""

from __future__ import annotations

from collections.abc import Sequence

from rpgres.contract import Finding, Verdict
from rpgres.plugins import PluginStatus
from rpgres.render.lines import Line, Piece, line

INDENT = "  "
GAP = 2  # blanks between two columns
NAMES = 12  # the width of the names of checks


def plugin_lines(plugins: Sequence[PluginStatus]) -> list[Line]:
    """Return every plugin with its state, and what is wrong with a broken one below it."""
    if not plugins:
        return [line("no plugins are installed")]
    width = max(len(plugin.id) for plugin in plugins) + GAP
    found: list[Line] = []
    for plugin in plugins:
        origin = (
            f"{plugin.distribution} {plugin.version}{', built in' if plugin.builtin else ''}"
            if plugin.distribution
            else plugin.module
        )
        state = Piece("ok", "good") if plugin.ok else _state(plugin)
        pad = " " * max(GAP, 10 - len(state.text))
        name = plugin.title or plugin.module
        found.append(line(Piece(plugin.id.ljust(width), "name"), state, f"{pad}{name} ({origin})"))
        found += [line(INDENT, text) for text in plugin.problem.splitlines()]
    return found


def _state(plugin: PluginStatus) -> Piece:
    return Piece("disabled", "quiet") if plugin.stage == "disabled" else Piece("broken", "bad")


def verdict_lines(verdict: Verdict) -> list[Line]:
    """Return what came of a check in one line, with what is wrong below it."""
    state = Piece("passed", "good") if verdict.ok else Piece("failed", "bad")
    found = [line(INDENT, Piece(verdict.name.ljust(NAMES), "name"), state, INDENT, verdict.title)]
    found += [line(INDENT * 2, text) for problem in verdict.problems for text in problem.text.splitlines()]
    return found + [line(INDENT * 2, Piece(f"note: {_one_line(note)}", "quiet")) for note in verdict.notes]


def closing_line(verdicts: Sequence[Verdict]) -> Line:
    """Return how many checks passed, with the names of those that did not."""
    failed = [verdict.name for verdict in verdicts if not verdict.ok]
    if not failed:
        return line(INDENT, Piece(f"all {len(verdicts)} checks passed", "good"))
    return line(INDENT, Piece(f"{len(failed)} of {len(verdicts)} checks failed: {', '.join(failed)}", "bad"))


def _one_line(finding: Finding) -> str:
    return " ".join(finding.text.split())
