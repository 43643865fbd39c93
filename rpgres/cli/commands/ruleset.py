"""`rpgres ruleset`: list rulesets, show what is in one, check them. See `rpgres.catalog.summary`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from rpgres.catalog import summary
from rpgres.cli.annotations import AsJson, Folders, RulesetId, Switches, argument, complete_rulesets
from rpgres.cli.checks.report import AsForm, end_check, form_of
from rpgres.cli.checks.rulesets import check_ruleset, places_of
from rpgres.cli.commands import ruleset_new
from rpgres.cli.options import load_named, read_folders
from rpgres.cli.output import READER, say_record, say_text
from rpgres.cli.progress import one_by_one
from rpgres.cli.shell import join_line
from rpgres.errors import FileError, RpgresError, UsageError, called, counted, named
from rpgres.formats.editors import renew_schemas, with_schema_line
from rpgres.plugins import discovery
from rpgres.plugins.entries import BUILTIN, misnamed_folders, standalone_folder
from rpgres.plugins.loading import load_rules, read_ruleset
from rpgres.plugins.probing import probe_plugins
from rpgres.plugins.scaffold import check_name, write_folder
from rpgres.render.lines import Line, Piece, Shown, line
from rpgres.render.rulesets import action_lines, ruleset_lines, ruleset_list_lines
from rpgres.render.words import problem_count
from rpgres.rulesets import builtin_folder, data_folders
from rpgres.toml.diagnostics import Diagnostic, diagnostics_in

if TYPE_CHECKING:
    from rpgres.conformance.vectors import VectorReport

app = typer.Typer(no_args_is_help=True)


@app.command("list")
def list_all(as_json: AsJson = False, rulesets: Folders = None) -> None:
    """List the rulesets there are, and name those whose house rules are broken."""
    extra = read_folders(rulesets)
    probe_plugins()
    names = discovery.ruleset_names(extra=extra)
    broken = {name.id: problems for name in names if (problems := _homemade_problems(name.id, extra))}
    claimed = [told for name in names if not name.builtin and (told := discovery.contested(name.id, extra=extra))]
    strays = [*(Diagnostic("contested-id", told) for told in claimed), *_strays(extra=extra)]
    broken_plugins = (*discovery.ended_faults(), *discovery.unused_disabled(extra=extra))
    strays += [Diagnostic("broken-plugin", told) for told in broken_plugins]
    record = summary.RulesetList(
        rulesets=names, problems=[problem for problems in (*broken.values(), strays) for problem in problems]
    )
    say_record(
        record,
        lambda: [*ruleset_list_lines(names), *_warnings(broken, strays, extra)],
        as_json=as_json,
    )


def _strays(*, extra: Sequence[Path] = ()) -> list[Diagnostic]:
    """Return the folders on the rulesets path in which nothing is read."""
    from rpgres.lint.overlays import stray_folders

    return [*stray_folders(discovery.claimed_ids(extra=extra), extra=extra), *misnamed_folders(extra=extra)]


def _warnings(
    broken: dict[str, Sequence[Diagnostic]], strays: Sequence[Diagnostic], extra: Sequence[Path]
) -> Iterator[Line]:
    if broken or strays:
        yield line("")
    for ruleset, problems in broken.items():
        folder = standalone_folder(ruleset, extra=extra)
        where = "its folder" if folder and folder.parent != builtin_folder() else "an overlay"
        message = f": {problem_count(len(problems))} in {where}; run `{called('ruleset check', ruleset)}` for details"
        yield line(Piece(ruleset, "name"), " ", Piece("broken", "bad"), message)
    for stray in strays:
        yield line(stray.text)


def _homemade_problems(ruleset_id: str, extra: Sequence[Path]) -> Sequence[Diagnostic]:
    """Return what is wrong with a ruleset that is a folder here, or with the house rules of one from elsewhere."""
    own = None if ruleset_id in BUILTIN else standalone_folder(ruleset_id, extra=extra)
    is_here = own is not None and own.parent != builtin_folder()
    base = own or (None if ruleset_id in BUILTIN else Path())
    if not is_here and len(data_folders(ruleset_id, own=base, extra=extra)) < 2:
        return ()
    try:
        load_rules(discovery.find_ruleset(ruleset_id, extra=extra), extra=extra)
    except FileError as error:
        return diagnostics_in(error)
    except RpgresError:
        return ()  # a plugin's own fault, which `plugin list` reports
    return ()


app.command("new")(ruleset_new.new)


@app.command("import")
def import_file(
    file: Annotated[Path, argument("FILE", help="Datasworn JSON.")],
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The id of the new ruleset; else what the file says.")
    ] = None,
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="The folder in which the ruleset is made.")
    ] = Path("rulesets"),
) -> None:
    """Make a ruleset of random tables from the oracles of a Datasworn JSON file.

    Each oracle becomes a table that `rpgres roll` rolls and `rpgres odds` evaluates. The licence and the authors are
    kept in the new file. Nothing that is there is overwritten. When a table cannot be rolled on, such as one without a
    row for some numbers, its line is named, and the exit code is 1.
    """
    from rpgres.catalog.datasworn import read_datasworn

    found = read_datasworn(file)
    chosen = name or found.name
    check_name(chosen)
    write_folder(into / chosen, {"ruleset.toml": with_schema_line("ruleset.toml", found.text, chosen)})
    load_rules(discovery.find_ruleset(chosen, extra=[into]), extra=[into])  # which names rows that cannot be rolled
    first = ", ".join(found.tables[:5]) + (" ..." if len(found.tables) > 5 else "")
    tables = f"{counted(len(found.tables), 'table')}, {first}"
    say_text(
        f"{into / chosen}: written from {found.title}: {tables}\n"
        f"{found.credits}\n"
        "Next steps:\n"
        f"  {join_line(['rpgres', 'roll', chosen, found.tables[0]])}\n"
        f"  {join_line(['rpgres', 'ruleset', 'show', chosen])}\n"
    )


@app.command("check")
def check(
    rulesets_named: Annotated[
        list[str] | None,
        argument(
            "[RULESET]...", help="Check only these: ids or folders of rulesets.", autocompletion=complete_rulesets
        ),
    ] = None,
    form: AsForm = "text",
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again whenever a file changes, until Ctrl-C.", show_default=False)
    ] = False,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Check rulesets with their overlays: rules, outcome tables, sheets and scenes.

    A folder is checked wherever it is: one that is a whole ruleset by itself, any other over the ruleset of its name.
    Every problem names its file, line and key. The exit code is 1 when there is any. Schemas in the
    folder of a whole ruleset (.schemas, for editors) are brought up to date.
    """
    folders = read_folders(rulesets)
    if watch:
        _watch(rulesets_named or (), folders, is_text=form_of(form, as_json=as_json) == "text")
    if not rulesets_named:
        probe_plugins()
    known = [name.id for name in discovery.ruleset_names(titles=False, extra=folders)]
    named = list(dict.fromkeys(rulesets_named or known))

    checked = one_by_one("checking", named, lambda name: check_ruleset(name, folders, known=known))
    unchecked = named[len(checked) :]
    if form_of(form, as_json=as_json) == "text":
        renew_schemas(places_of(rulesets_named or (), folders))
    strays = [] if rulesets_named else _strays(extra=folders)
    is_well = not strays and not unchecked and all(one.ok for one in checked)
    end_check(
        form_of(form, as_json=as_json),
        ok=is_well,
        record=summary.RulesetChecks(ok=is_well, rulesets=checked, strays=strays),
        found=[*(diagnostic for one in checked for diagnostic in one.problems), *strays],
        lines=[*_checked_lines(checked, strays)],
        unchecked=unchecked,
    )


def _watch(rulesets: Sequence[str], folders: Sequence[Path], *, is_text: bool) -> NoReturn:
    from rpgres.cli.checks.watching import watch

    if not is_text:
        raise UsageError(f"{named('watch')} shows text; for JSON or annotations leave it out")
    args = ["ruleset", "check", *READER.typed, *(f"--rulesets={folder}" for folder in folders)]
    raise typer.Exit(watch([*args, "--", *rulesets], places_of(rulesets, folders)))


@app.command("test")
def run_test(
    ruleset: RulesetId,
    vectors: Annotated[
        list[Path] | None,
        argument(
            "[VECTORS.jsonl]...",
            help="Files with one case a line, as JSON; without one, those in the ruleset's folder vectors.",
        ),
    ] = None,
    switch: Switches = None,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Run vectors: dice in the order thrown, and what the ruleset has to make of them.

    The exit code is 1 when a case comes out differently.
    """
    from rpgres.conformance.vectors import own_vectors, run_vectors

    rules = load_named(ruleset, rulesets, switch)
    files = vectors or own_vectors(rules)
    if not files:
        raise UsageError(f"the ruleset {rules.id} has no vectors; name a file of them")
    report = run_vectors(rules, files)
    end_check(
        "json" if as_json else "text",
        ok=report.ok,
        record=report,
        found=(),
        lines=[*_vector_lines(report)],
    )


def _vector_lines(report: VectorReport) -> Iterator[Line]:
    for one in report.differences:
        for told in one.told:
            yield line(f"{one.file}:{one.line}: ", Piece(one.id, "name"), f": {told}")
    count = f"{report.passed} of {report.cases} vectors pass"
    yield line(Piece(report.ruleset, "name"), ": ", Piece(count, "good" if report.ok else "bad"))


def _checked_lines(checked: Sequence[summary.RulesetCheck], strays: Sequence[Diagnostic]) -> Iterator[Line]:
    for one in checked:
        with_ = f" (with {', '.join(one.overlays)})" if one.overlays else ""
        state = Piece("ok", "good") if one.ok else Piece(problem_count(len(one.problems)), "bad")
        yield line(Piece(one.id, "name"), ": ", state, with_)
        for problem in one.problems:
            mark = "" if problem.severity == "error" else f"{problem.severity}: "
            yield from (line(text) for text in f"{mark}{problem.text}".splitlines())
    yield from (line(stray.text) for stray in strays)


def _complete_actions(ctx: typer.Context) -> list[tuple[str, str]]:
    actions = read_ruleset(ctx.params.get("ruleset") or "").file.actions
    return [(name, action.summary) for name, action in actions.items()]


@app.command("show")
def show(
    ruleset: RulesetId,
    action: Annotated[
        str | None,
        argument("[ACTION]", help="Show this action with its outcome tables.", autocompletion=_complete_actions),
    ] = None,
    switch: Switches = None,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Show what is in a ruleset: actions, outcomes, labels, house rules, policies and effects.

    Labels are the names behind --given and --choose.
    """
    rules = load_named(ruleset, rulesets, switch)
    described = summary.describe_ruleset(rules) if action is None else summary.describe_action(rules, action)

    def lines() -> Sequence[Shown]:
        if isinstance(described, summary.ActionDescription):
            return action_lines(described, rules.chosen, has_rungs=bool(rules.file.ladder))
        return ruleset_lines(described)

    say_record(described, lines, as_json=as_json)
