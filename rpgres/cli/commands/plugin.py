"""`rpgres plugin`: list the plugins that bring rulesets, write a new one, check them.

How they are found stands in `rpgres.plugins`, what is checked in `rpgres.conformance`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from msgspec.structs import asdict

from rpgres.cli.annotations import AsJson, argument, complete_rulesets, option
from rpgres.cli.checks.report import AsForm, end_check, form_of
from rpgres.cli.exits import leave, trace
from rpgres.cli.output import flush, say, say_record, say_text
from rpgres.cli.progress import Progress, progress
from rpgres.cli.shell import join_line
from rpgres.formats.editors import write_own_schemas
from rpgres.plugins.discovery import find_ruleset, unknown_ruleset, unused_disabled
from rpgres.plugins.listing import PluginList, PluginStatus, list_rulesets
from rpgres.plugins.probing import probe_plugins
from rpgres.plugins.scaffold import package_of, write_plugin
from rpgres.render.plugins import closing_line, header_line, plugin_lines, verdict_lines, warning_lines
from rpgres.rulesets import Rules, Ruleset
from rpgres.toml.diagnostics import Diagnostic

if TYPE_CHECKING:
    from rpgres.conformance import PluginReport

app = typer.Typer(no_args_is_help=True)


@app.command("list")
def list_all(
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 if a plugin is faulty.")] = False,
    as_json: AsJson = False,
) -> None:
    """List every plugin, built in or installed, and what is wrong with the broken ones.

    This always works, however broken a plugin is. RPGRES_DISABLE=NAME,NAME switches off rulesets and distributions by
    name; --debug shows where plugins fail.
    """
    probe_plugins()
    warnings, plugins = unused_disabled(), list_rulesets(failed=trace)
    is_well = all(plugin.ok or plugin.stage == "disabled" for plugin in plugins)
    record = PluginList(ok=is_well, plugins=plugins, warnings=warnings)
    say_record(record, lambda: [*plugin_lines(plugins), *warning_lines(warnings)], as_json=as_json)
    leave(int(check and not is_well))


@app.command("new")
def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The id of the ruleset, in lowercase letters, such as sandbar.")
    ],
    into: Annotated[
        str, option("--into", takes="DIR", help="Create it in this folder [default: the current one].")
    ] = ".",
) -> None:
    """Write a small, complete plugin to start from: the package rpgres-NAME, with a ruleset that works and its tests.

    Nothing that is there is overwritten.
    """
    folder = write_plugin(name, into=Path(into))
    data = folder / "src" / package_of(name) / "data"
    write_own_schemas(folder, Rules.read(Ruleset(name, data=data)))
    quoted = join_line([str(folder)])
    say_text(
        f"{folder}: written. Next steps:\n"
        f"  cd {quoted}\n"
        "  python -m pip install -e '.[test]'\n"
        f"  rpgres roll {name} attempt --skill 2 --vs 9\n"
        f"  rpgres plugin check {name}\n"
        "  pytest\n"
    )


@app.command("check")
def check_some(
    ruleset: Annotated[
        str | None, argument("[RULESET]", help="Check only the plugin with this id.", autocompletion=complete_rulesets)
    ] = None,
    form: AsForm = "text",
    as_json: AsJson = False,
) -> None:
    """Check plugins: that they can be found and loaded, and that they keep the contract with the table.

    One line for each check says whether it passed, or why there was nothing to check. The exit code is 1 when a plugin
    is broken, or a check failed.
    """
    from rpgres.conformance import PluginCheck

    form = form_of(form, as_json=as_json)
    probe_plugins()
    reports: list[PluginReport] = []
    plugins: Sequence[PluginStatus] = ()
    # Each check has a limit of time, which is an interrupt; so a person's own Ctrl-C is one, too.
    with progress("loading", stops=False) as show, suppress(KeyboardInterrupt):
        plugins = list_rulesets(ruleset, failed=trace, begins=lambda name: show.name(f"loading {name}"))
        show.clear()
        if ruleset is not None and not plugins:
            raise unknown_ruleset(ruleset)
        for number, plugin in enumerate(plugins, 1):
            if form == "text":
                say([header_line(plugin)] if plugin.ok else plugin_lines([plugin]))
            place = f"{plugin.id} ({number} of {len(plugins)})" if len(plugins) > 1 else plugin.id
            reports.append(_report(plugin, place, show, is_shown=form == "text"))
    is_well = len(reports) == len(plugins) and all(report.ok or report.stage == "disabled" for report in reports)
    record = PluginCheck(ok=is_well, plugins=reports)
    unchecked = [plugin.id for plugin in plugins[len(reports) :]]
    end_check(form, ok=is_well, record=record, found=_diagnostics(reports), lines=(), unchecked=unchecked)


def _diagnostics(reports: Sequence[PluginReport]) -> Iterator[Diagnostic]:
    for report in reports:
        if report.problem:
            severity: Literal["note", "error"] = "note" if report.stage == "disabled" else "error"
            yield Diagnostic("broken-plugin", f"{report.id or report.module}: {report.problem}", severity=severity)
        for verdict in report.checks:
            yield from (*verdict.problems, *verdict.notes)


def _report(plugin: PluginStatus, place: str, show: Progress, *, is_shown: bool) -> PluginReport:
    """Return the report of a plugin after every check, printing each as it ends."""
    from rpgres.conformance import PluginReport, check_ruleset, open_subject

    if not plugin.ok:
        return PluginReport(**asdict(plugin))
    subject = open_subject(find_ruleset(plugin.id))
    verdicts = []
    for verdict in check_ruleset(subject, begins=lambda check: show.name(f"checking {place}: {check.name}")):
        verdicts.append(verdict)
        show.clear()
        if is_shown:
            say(verdict_lines(verdict))
            flush()
    if is_shown:
        say([closing_line(verdicts)])
    is_well = all(verdict.ok for verdict in verdicts)
    return PluginReport(**{**asdict(plugin), "ok": is_well}, checks=verdicts)
