"""`rpgres ruleset`: list rulesets, show what is in one, check them. See `rpgres.cli.formats.summary`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rpgres.cli.annotations import AsJson, AsWords, Folders, RulesetId, complete_rulesets
from rpgres.cli.checks import AsForm, end_check, form_of
from rpgres.cli.options import SWITCH

if TYPE_CHECKING:
    from rpgres.cli.formats.summary import RulesetCheck
    from rpgres.cli.render.lines import Line
    from rpgres.conformance.vectors import VectorReport
    from rpgres.plugins.discovery import RulesetName
    from rpgres.rulesets import Rules, Ruleset
    from rpgres.toml.diagnostics import Diagnostic

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="List rulesets, show what is in one, and check house rules."
)


RULESET = "ruleset.toml"


@app.command("list")
def list_all(as_json: AsJson = False, plain: AsWords = False, rulesets: Folders = None) -> None:
    """List the rulesets there are, and name those whose house rules are broken."""
    from rpgres.cli.formats.summary import RulesetList
    from rpgres.cli.options import read_folders
    from rpgres.cli.output import say, say_json
    from rpgres.cli.render.rulesets import ruleset_list_lines
    from rpgres.plugins.discovery import ended_faults, ruleset_names, unused_disabled
    from rpgres.plugins.probing import probe_plugins
    from rpgres.toml.diagnostics import Diagnostic

    extra = read_folders(rulesets or ())
    probe_plugins()
    names = ruleset_names(extra=extra)
    broken = {name.id: problems for name in names if (problems := _homemade_problems(name.id, extra))}
    strays = [*_contested(names, extra), *_strays(extra=extra)]
    strays += [Diagnostic("broken-plugin", told) for told in (*ended_faults(), *unused_disabled())]
    if as_json:
        found = [problem for problems in (*broken.values(), strays) for problem in problems]
        say_json(RulesetList(rulesets=names, problems=found))
    else:
        say([*ruleset_list_lines(names), *_warnings(broken, strays, extra)], is_plain=plain)


def _contested(names: Sequence[RulesetName], extra: Sequence[Path]) -> list[Diagnostic]:
    """Return the ids that more than one has."""
    from rpgres.plugins.discovery import contested
    from rpgres.toml.diagnostics import Diagnostic

    return [
        Diagnostic("contested-id", told)
        for name in names
        if not name.builtin and (told := contested(name.id, extra=extra))
    ]


def _strays(*, extra: Sequence[Path] = ()) -> list[Diagnostic]:
    """Return the folders on the rulesets path in which nothing is read."""
    from rpgres.lint.overlays import stray_folders
    from rpgres.plugins.discovery import claimed_ids
    from rpgres.plugins.entries import misnamed_folders

    return [*stray_folders(claimed_ids(extra=extra), extra=extra), *misnamed_folders(extra=extra)]


def _warnings(
    broken: dict[str, Sequence[Diagnostic]], strays: Sequence[Diagnostic], extra: Sequence[Path]
) -> Iterator[Line]:
    from rpgres.cli.render.lines import Piece, line
    from rpgres.plugins.entries import standalone_folder
    from rpgres.rulesets import builtin_folder

    if broken or strays:
        yield line("")
    for ruleset, problems in broken.items():
        count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
        folder = standalone_folder(ruleset, extra=extra)
        where = "its folder" if folder and folder.parent != builtin_folder() else "an overlay"
        message = f": {count} in {where}; run `rpgres ruleset check {ruleset}` for details"
        yield line(Piece(ruleset, "name"), " ", Piece("broken", "bad"), message)
    for stray in strays:
        yield line(stray.text)


def _homemade_problems(ruleset_id: str, extra: Sequence[Path]) -> Sequence[Diagnostic]:
    """Return what is wrong with a ruleset that is a folder here, or with the house rules of one from elsewhere."""
    from rpgres.errors import FileError, RpgresError
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.entries import BUILTIN, standalone_folder
    from rpgres.plugins.loading import load_rules
    from rpgres.rulesets import builtin_folder, data_folders
    from rpgres.toml.diagnostics import diagnostics_in

    own = None if ruleset_id in BUILTIN else standalone_folder(ruleset_id, extra=extra)
    is_here = own is not None and own.parent != builtin_folder()
    base = own or (None if ruleset_id in BUILTIN else Path())
    if not is_here and len(data_folders(ruleset_id, own=base, extra=extra)) < 2:
        return ()
    try:
        load_rules(find_ruleset(ruleset_id, extra=extra), extra=extra)
    except FileError as error:
        return diagnostics_in(error)
    except RpgresError:
        return ()  # a plugin's own fault, which `plugin list` tells
    return ()


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Datasworn JSON.", show_default=False)],
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The id of the new ruleset; else what the file says.")
    ] = None,
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="The folder in which the ruleset is made.")
    ] = Path("rulesets"),
    plain: AsWords = False,
) -> None:
    """Make a ruleset of random tables from the oracles of a Datasworn JSON file.

    Each oracle becomes a table that `rpgres roll` rolls and `rpgres odds` evaluates. The licence and the authors are
    kept in the new file. Nothing that is there is overwritten.
    """
    from rpgres.cli.formats.datasworn import read_datasworn, write_imported
    from rpgres.cli.output import say_text
    from rpgres.cli.shells import join_line
    from rpgres.plugins.scaffold import check_name

    found = read_datasworn(file)
    chosen = name or found.name
    check_name(chosen)
    place = write_imported(found, into / chosen)
    tables = f"{len(found.tables)} tables, {', '.join(found.tables[:5])}{' ...' if len(found.tables) > 5 else ''}"
    say_text(
        f"{place}: written from {found.title}: {tables}\n"
        f"{found.credits}\n"
        "Next steps:\n"
        f"  {join_line(['rpgres', 'roll', chosen, found.tables[0]])}\n"
        f"  {join_line(['rpgres', 'ruleset', 'show', chosen])}\n"
    )


@app.command("check")
def check(
    rulesets_named: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RULESET]...",
            help="Check only these: ids or folders of rulesets.",
            show_default=False,
            autocompletion=complete_rulesets,
        ),
    ] = None,
    form: AsForm = "text",
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Check rulesets with all that is laid over them: rules, outcome tables, sheets and scenes.

    A folder is checked wherever it is: one that is a whole ruleset by itself, any other over the ruleset of its name.
    Every problem is told with its file, line and key. The exit code is 1 when there is any.
    """
    from rpgres.cli.formats.summary import RulesetChecks
    from rpgres.cli.options import read_folders
    from rpgres.cli.progress import one_by_one
    from rpgres.plugins.discovery import ruleset_names
    from rpgres.plugins.probing import probe_plugins

    folders = read_folders(rulesets or ())
    if not rulesets_named:
        probe_plugins()
    known = [name.id for name in ruleset_names(titles=False, extra=folders)]
    named = list(dict.fromkeys(rulesets_named or known))

    def check_one(name: str) -> RulesetCheck:
        folder = None if name in known else _folder_at(name)
        return _checked(name, folders) if folder is None else _checked_folder(folder, folders)

    checked = one_by_one("checking", named, check_one, is_plain=plain)
    unchecked = named[len(checked) :]
    strays = [] if rulesets_named else _strays(extra=folders)
    is_well = not strays and not unchecked and all(one.ok for one in checked)
    end_check(
        form_of(form, as_json=as_json),
        ok=is_well,
        record=RulesetChecks(ok=is_well, rulesets=checked, strays=strays),
        found=[*(diagnostic for one in checked for diagnostic in one.problems), *strays],
        lines=[*_checked_lines(checked, strays)],
        is_plain=plain,
        unchecked=unchecked,
    )


@app.command("test")
def run_test(
    ruleset: RulesetId,
    vectors: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[VECTORS.jsonl]...",
            help="Files with one case a line, as JSON; without one, those in the ruleset's folder vectors.",
            show_default=False,
        ),
    ] = None,
    switch: Annotated[
        list[str] | None, typer.Option("--switch", metavar=SWITCH.metavar, help=SWITCH.help, show_default=False)
    ] = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Run vectors: dice in the order thrown, and what the ruleset has to make of them.

    The exit code is 1 when a case comes out differently.
    """
    from rpgres.cli.options import read_folders, read_switches
    from rpgres.conformance.vectors import own_vectors, run_vectors
    from rpgres.errors import UsageError
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules

    folders = read_folders(rulesets or ())
    rules = load_rules(find_ruleset(ruleset, extra=folders), switches=read_switches(switch or ()), extra=folders)
    files = vectors or own_vectors(rules)
    if not files:
        raise UsageError(f"the ruleset {rules.id} brings no vectors; name a file of them")
    report = run_vectors(rules, files)
    end_check(
        "json" if as_json else "text",
        ok=report.ok,
        record=report,
        found=(),
        lines=[*_vector_lines(report)],
        is_plain=plain,
    )


def _vector_lines(report: VectorReport) -> Iterator[Line]:
    from rpgres.cli.render.lines import Piece, line

    for one in report.differences:
        for told in one.told:
            yield line(f"{one.file}:{one.line}: ", Piece(one.id, "name"), f": {told}")
    count = f"{report.passed} of {report.cases} vectors pass"
    yield line(Piece(report.ruleset, "name"), ": ", Piece(count, "good" if report.ok else "bad"))


def _checked_lines(checked: Sequence[RulesetCheck], strays: Sequence[Diagnostic]) -> Iterator[Line]:
    from rpgres.cli.render.lines import Piece, line

    for one in checked:
        with_ = f" (with {', '.join(one.overlays)})" if one.overlays else ""
        count = "a problem" if len(one.problems) == 1 else f"{len(one.problems)} problems"
        state = Piece("ok", "good") if one.ok else Piece(count, "bad")
        yield line(Piece(one.id, "name"), ": ", state, with_)
        yield from (line(text) for problem in one.problems for text in problem.text.splitlines())
    yield from (line(stray.text) for stray in strays)


def _folder_at(typed: str) -> Path | None:
    """Return the folder of the ruleset that is meant by a path, or None for an id.

    Raises:
        FileError: it is spelt like a path, and no ruleset is there.
    """
    from rpgres.errors import FileError
    from rpgres.lint.overlays import FILES, FOLDERS

    path = Path(typed)
    if os.path.isdir(path) and any(os.path.exists(path / name) for name in (*FILES, *FOLDERS)):
        return path
    if os.path.isfile(path) and path.name == RULESET:
        return path.parent
    if os.path.isfile(path) and path.suffix == ".toml":
        better = path.parent / path.stem / RULESET
        message = f"{path}: a ruleset is a file {RULESET} in a folder named after its id; move it to {better}"
        raise FileError(message, file=typed)
    if not (path.suffix == ".toml" or os.path.basename(typed) != typed or typed == os.curdir):
        return None
    told = (
        f"has no {RULESET}, and nothing that is laid over one"
        if os.path.isdir(path)
        else "there is no such file or folder"
    )
    raise FileError(f"{typed}: {told}; name the folder of a ruleset, or its {RULESET}", file=typed)


def _checked_folder(folder: Path, extra: Sequence[Path]) -> RulesetCheck:
    """Return what is wrong with a ruleset, or with what is laid over one, that need not be where it would be found.

    Raises:
        UsageError: it is neither.
    """
    from rpgres.cli.formats.summary import RulesetCheck
    from rpgres.plugins.discovery import owner_of
    from rpgres.plugins.entries import folder_fault
    from rpgres.plugins.folders import is_standalone
    from rpgres.rulesets import Ruleset
    from rpgres.toml.diagnostics import Diagnostic

    whole = folder.resolve()
    owner = owner_of(folder, extra=extra)
    if owner is not None:
        return _checked(owner, extra)
    if not is_standalone(folder):
        root = whole.parent if folder.name in ("", os.pardir) else folder.parent
        return _checked(whole.name, [*extra, root])
    problems, _ = _problems_of(Ruleset(whole.name, data=folder), [folder], extra, is_alone=True)
    fault = folder_fault(whole.name)
    if fault:
        problems = [Diagnostic("bad-id", fault, str(folder)), *problems]
    return RulesetCheck(whole.name, not problems, (), problems)


def _checked(ruleset_id: str, folders: Sequence[Path]) -> RulesetCheck:
    """Return what is wrong with a ruleset and all that is laid over it.

    Raises:
        UsageError: there is no such ruleset.
    """
    from rpgres.cli.formats.summary import RulesetCheck
    from rpgres.errors import PluginError
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.rulesets import data_folders
    from rpgres.toml.diagnostics import diagnostics_in

    try:
        ruleset = find_ruleset(ruleset_id, extra=folders)
    except PluginError as error:
        return RulesetCheck(ruleset_id, False, (), diagnostics_in(error, code="broken-plugin"))
    found = data_folders(ruleset_id, own=ruleset.data, extra=folders)
    problems, overlays = _problems_of(ruleset, found, folders)
    return RulesetCheck(ruleset_id, not problems, overlays, problems)


def _problems_of(
    ruleset: Ruleset, found: Sequence[Path], extra: Sequence[Path], *, is_alone: bool = False
) -> tuple[Sequence[Diagnostic], Sequence[str]]:
    """Return what is wrong in the folders of a ruleset, and which of them are laid over the first.

    Args:
        ruleset: its code.
        found: its folders.
        extra: the folders of `--rulesets`.
        is_alone: whether nothing else is laid over it when its scenes are read.
    """
    from rpgres.errors import FileError
    from rpgres.lint.whole import all_diagnostics
    from rpgres.rulesets import Rules, merge_parts, read_parts
    from rpgres.toml.diagnostics import diagnostics_in

    overlays = [str(folder) for folder in found[1:]]
    try:
        parts = read_parts(found, ruleset_id=ruleset.id)
        rules = Rules(ruleset, file=merge_parts(parts), parts=parts)
        problems = all_diagnostics(rules)
        # While the rules are broken, each example and scene would tell the same again.
        if not problems:
            problems = [*_example_problems(rules), *_scene_problems(rules, extra, is_alone=is_alone)]
    except FileError as error:
        problems = diagnostics_in(error)
    return problems, overlays


def _example_problems(rules: Rules) -> Iterator[Diagnostic]:
    """Yield the examples of actions that cannot be typed, or do not run."""
    from rpgres.conformance.subjects import read_example
    from rpgres.dice.seeds import Streams
    from rpgres.engine.run import run
    from rpgres.errors import RpgresError
    from rpgres.rulesets.provenance import located_in
    from rpgres.toml.diagnostics import Fault

    for name, action in rules.file.actions.items():
        if not action.example:
            continue
        try:
            run(read_example(rules, name), streams=Streams("example"))
        except RpgresError as error:
            yield located_in(rules.layers.texts(), Fault("bad-example", ("actions", name, "example"), error.typed))


def _scene_problems(rules: Rules, folders: Sequence[Path], *, is_alone: bool) -> Iterator[Diagnostic]:
    from rpgres.errors import RpgresError
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules
    from rpgres.scenes import check_scene, read_scene
    from rpgres.toml.diagnostics import diagnostics_in
    from rpgres.toml.reading import read_source

    def find(ruleset_id: str) -> Ruleset:
        return rules.ruleset if ruleset_id == rules.id else find_ruleset(ruleset_id, extra=folders)

    loaded: dict[tuple[str, frozenset[tuple[str, str]]], Rules] = {}  # most scenes choose the same switches

    def load(code: Ruleset, *, switches: Mapping[str, str], extra: Sequence[Path]) -> Rules:
        key = code.id, frozenset(switches.items())
        if key not in loaded:
            is_own = is_alone and code is rules.ruleset
            loaded[key] = rules.with_switches(switches) if is_own else load_rules(code, switches=switches, extra=extra)
        return loaded[key]

    for path in (path for folder in rules.folders for path in sorted((folder / "scenes").glob("*.toml"))):
        try:
            yield from check_scene(read_scene(read_source(path), find_ruleset=find, extra=folders, load=load))
        except RpgresError as error:
            yield from diagnostics_in(error, file=str(path))


def _complete_actions(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.rulesets import data_folders, merge_parts, read_parts

    typed: dict[str, Any] = ctx.params
    ruleset = find_ruleset(typed.get("ruleset") or "")
    actions = merge_parts(read_parts(data_folders(ruleset.id, own=ruleset.data), ruleset_id=ruleset.id)).actions
    return [(name, action.summary) for name, action in actions.items() if name.startswith(incomplete)]


@app.command("show")
def show(
    ruleset: RulesetId,
    action: Annotated[
        str | None,
        typer.Argument(
            metavar="[ACTION]",
            help="Show this action with its outcome tables.",
            show_default=False,
            autocompletion=_complete_actions,
        ),
    ] = None,
    switch: Annotated[
        list[str] | None, typer.Option("--switch", metavar=SWITCH.metavar, help=SWITCH.help, show_default=False)
    ] = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Show what is in a ruleset: actions, outcomes, labels, house rules, policies and effects.

    Labels are the names behind --given and --choose.
    """
    from rpgres.cli.formats.summary import ActionDescription, describe_action, describe_ruleset
    from rpgres.cli.options import read_folders, read_switches
    from rpgres.cli.output import say, say_json
    from rpgres.cli.render.rulesets import action_lines, ruleset_lines
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules

    folders = read_folders(rulesets or ())
    rules = load_rules(find_ruleset(ruleset, extra=folders), switches=read_switches(switch or ()), extra=folders)
    described = describe_ruleset(rules) if action is None else describe_action(rules, action)
    if as_json:
        say_json(described)
    elif isinstance(described, ActionDescription):
        say(action_lines(described, rules.chosen, has_rungs=bool(rules.file.ladder)), is_plain=plain)
    else:
        say(ruleset_lines(described), is_plain=plain)
