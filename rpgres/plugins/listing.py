"""Every plugin with its state: what `rpgres plugin list` prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from rpgres.errors import FileError, PluginError, RpgresError
from rpgres.model.printed import Printed
from rpgres.plugins.discovery import all_entries, claims_of, title_of, usable
from rpgres.plugins.entries import Entry, Stage
from rpgres.plugins.failures import at_stage, clash, failure
from rpgres.plugins.importing import check_entry, ruleset_of
from rpgres.rulesets import Rules


class PluginStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one entry point after all checks.

    `stage` and `problem` say where and why it failed; they are None and empty when it is `ok`. Several problems of the
    data are on one line each. An entry point that could not be read has an empty `id`.

    Attributes:
        id: the ruleset; empty where the plugin could not be read.
        title: what people call it.
        summary: what it is, in a line.
        distribution: the package that brings it.
        version: that package's version.
        module: the module that has it.
        builtin: whether it ships with rpgres.
        ok: whether it can be used.
        stage: where it failed; null where it did not.
        problem: why it failed; empty where it did not.
    """

    id: str
    title: str = ""
    summary: str = ""
    distribution: str
    version: str
    module: str
    builtin: bool
    ok: bool
    stage: Stage | None = None
    problem: str = ""


class PluginList(Printed, frozen=True, kw_only=True, tag="rpgres.plugins/1"):
    """The plugins that bring rulesets, as `rpgres plugin list --json` prints them.

    Attributes:
        ok: whether every plugin can be used, those aside that were disabled.
        plugins: the plugins.
        warnings: what else should be known.
    """

    ok: bool
    plugins: Sequence[PluginStatus]
    warnings: Sequence[str]


def list_rulesets(
    ruleset_id: str | None = None,
    *,
    failed: Callable[[PluginError], None] | None = None,
    begins: Callable[[str], None] | None = None,
) -> list[PluginStatus]:
    """Return the state of every entry point, built-ins first, each imported and checked. Raises nothing.

    Checked are a plugin's own data, without overlays, so that a fault found is the plugin's.

    Args:
        ruleset_id: only the entry points of this id, of which there may be none.
        failed: is called with the error of each that cannot be used, with what the plugin raised as its cause.
        begins: is called with the id of each before it is checked.
    """
    entries = [entry for entry in all_entries() if ruleset_id is None or entry.id == ruleset_id]
    found = []
    for entry in entries:
        if begins is not None:
            begins(entry.id)
        found.append(_status(entry, failed=failed))
    return found


def _status(entry: Entry, *, failed: Callable[[PluginError], None] | None) -> PluginStatus:
    title, summary = title_of(entry)
    try:
        check_entry(entry)
        claims = [] if entry.builtin else usable(claims_of(entry.id, ()))
        if len(claims) > 1:
            raise clash(entry, claims)
        title, summary = _check_thoroughly(entry)
    except PluginError as error:
        stage, problem = error.details["stage"], error.message
        if failed is not None:
            failed(error)
    else:
        stage, problem = None, ""
    return PluginStatus(
        id=entry.id,
        title=title,
        summary=summary,
        distribution=entry.distribution,
        version=entry.version,
        module=entry.value,
        builtin=entry.builtin,
        ok=not problem,
        stage=stage,
        problem=problem,
    )


def _check_thoroughly(entry: Entry) -> tuple[str, str]:
    """Check a ruleset's data against its code and return title and summary."""
    from rpgres.lint.whole import all_diagnostics

    ruleset = ruleset_of(entry)
    with at_stage(entry, "validate"):
        try:
            rules = Rules.read(ruleset)
            problems = list(dict.fromkeys(diagnostic.text for diagnostic in all_diagnostics(rules)))
        except RpgresError as error:
            problems = [error.message]
            if not isinstance(error, FileError):
                raise
        if problems:
            head = "its data are faulty:" if entry.folder else "its data and its code do not match:"
            message = problems[0] if len(problems) == 1 else "\n".join((head, *problems))
            raise failure(entry, "validate", message)
    return rules.file.title, rules.file.summary
