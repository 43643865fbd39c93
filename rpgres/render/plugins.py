"""Plugins, and the result of checking them, as lines for people."""

from __future__ import annotations

from collections.abc import Sequence

from rpgres.conformance import Verdict
from rpgres.plugins.listing import PluginStatus
from rpgres.render.lines import HANG, INDENT, Line, Piece, line

GAP = 2  # blanks between two columns
NAMES = 12  # the width of the names of checks


def plugin_lines(plugins: Sequence[PluginStatus]) -> list[Line]:
    """Return every plugin with its state, and what is wrong with a broken one below it."""
    if not plugins:
        return [line("no plugins are installed")]
    width = max(len(plugin.id) for plugin in plugins) + GAP
    found: list[Line] = []
    for plugin in plugins:
        failed = Piece("disabled", "quiet") if plugin.stage == "disabled" else Piece("broken", "bad")
        state = Piece("ok", "good") if plugin.ok else failed
        pad = " " * max(GAP, 10 - len(state.text))
        name = plugin.title or plugin.module
        found.append(line(Piece(plugin.id.ljust(width), "name"), state, pad, HANG, f"{name} ({_origin(plugin)})"))
        found += [line(INDENT, text) for text in plugin.problem.splitlines()]
    return found


def warning_lines(warnings: Sequence[str]) -> list[Line]:
    """Return what is worth knowing about all plugins together, below their list."""
    return [line(Piece("note: ", "quiet"), text) for text in warnings]


def _origin(plugin: PluginStatus) -> str:
    if not plugin.distribution:
        return plugin.module
    return f"{plugin.distribution} {plugin.version}{', built in' if plugin.builtin else ''}"


def header_line(plugin: PluginStatus) -> Line:
    """Return a plugin that is put to its checks, of which nothing is known yet."""
    return line(Piece(plugin.id, "name"), f": {plugin.title or plugin.module} ({_origin(plugin)})")


def verdict_lines(verdict: Verdict) -> list[Line]:
    """Return the result of a check in one line, with the problems below it."""
    name = Piece(verdict.name.ljust(NAMES), "name")
    if verdict.unchecked:
        found = [line(INDENT, name, HANG, Piece("not checked", "quiet"), f": {verdict.unchecked}")]
    else:
        state = Piece("passed", "good") if verdict.ok else Piece("failed", "bad")
        found = [line(INDENT, name, state, INDENT, HANG, verdict.title)]
    found += [line(INDENT * 2, text) for problem in verdict.problems for text in problem.text.splitlines()]
    return found + [
        line(INDENT * 2, Piece(f"{note.severity}: {' '.join(note.text.split())}", "quiet")) for note in verdict.notes
    ]


def closing_line(verdicts: Sequence[Verdict]) -> Line:
    """Return how many checks passed, with the names of those that did not."""
    failed = [verdict.name for verdict in verdicts if not verdict.ok]
    unchecked = [verdict.name for verdict in verdicts if verdict.unchecked]
    left = f"; not checked: {', '.join(unchecked)}" if unchecked else ""
    if failed:
        told = Piece(f"{len(failed)} of {len(verdicts)} checks failed: {', '.join(failed)}", "bad")
    elif unchecked:
        told = Piece(f"{len(verdicts) - len(unchecked)} of {len(verdicts)} checks passed", "good")
    else:
        told = Piece(f"all {len(verdicts)} checks passed", "good")
    return line(INDENT, told, left)
