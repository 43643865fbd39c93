"""`rpgres ruleset`: list rulesets, show what is in one, check them. What that is, is told by `rpgres.descriptions`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from rpgres.cli.annotations import AsJson, AsWords, Folders, RulesetId, complete_rulesets
from rpgres.cli.options import SWITCH

if TYPE_CHECKING:
    from rpgres.render.lines import Line
    from rpgres.rulesets import Rules
    from rpgres.tomlfiles import Problem

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="List rulesets, show what is in one, and check house rules."
)


class Checked(msgspec.Struct, frozen=True):
    """What became of a ruleset that was checked with everything laid over it."""

    id: str
    ok: bool
    overlays: Sequence[str]
    problems: Sequence[Problem]


@app.command("list")
def list_all(as_json: AsJson = False, plain: AsWords = False) -> None:
    """List the rulesets there are, and name those whose house rules are broken."""
    from rpgres.cli.output import say, say_json
    from rpgres.descriptions import RulesetList
    from rpgres.plugins import ruleset_names
    from rpgres.render.rulesets import ruleset_list_lines
    from rpgres.rulesets.overlays import stray_folders

    names = ruleset_names()
    broken = {name.id: problems for name in names if (problems := _overlay_problems(name.id))}
    strays = stray_folders(name.id for name in names)
    if as_json:
        found = [problem for problems in (*broken.values(), strays) for problem in problems]
        say_json({**msgspec.to_builtins(RulesetList(rulesets=names)), "problems": found})
    else:
        say([*ruleset_list_lines(names), *_warnings(broken, strays)], is_plain=plain)


def _warnings(broken: dict[str, Sequence[Problem]], strays: Sequence[Problem]) -> Iterator[Line]:
    from rpgres.render.lines import Piece, line
    from rpgres.rulesets.places import line_of

    if broken or strays:
        yield line("")
    for ruleset, problems in broken.items():
        count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
        told = f": {count} in what is laid over it; `rpgres ruleset check {ruleset}` tells"
        yield line(Piece(ruleset, "name"), " ", Piece("broken", "bad"), told)
    for stray in strays:
        yield line(line_of(stray))


def _overlay_problems(ruleset_id: str) -> Sequence[Problem]:
    """Return what is wrong with the house rules of a ruleset; nothing where there are none, whatever it is itself."""
    from rpgres.errors import FileError, RpgresError
    from rpgres.plugins import BUILTIN, find_ruleset, standalone_folder
    from rpgres.rulesets import data_folders, load_rules
    from rpgres.rulesets.places import problems_in

    own = None if ruleset_id in BUILTIN else standalone_folder(ruleset_id) or Path()
    if len(data_folders(ruleset_id, own=own)) < 2:
        return ()
    try:
        load_rules(find_ruleset(ruleset_id))
    except FileError as error:
        return problems_in(error)
    except RpgresError:
        return ()  # the plugin's own fault, which `plugin list` tells
    return ()


@app.command("check")
def check(
    rulesets_named: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RULESET]...",
            help="Check only these.",
            show_default=False,
            autocompletion=complete_rulesets,
        ),
    ] = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Check rulesets with all that is laid over them: rules, outcome tables, sheets and scenes.

    Every problem is told with its file, line and key. The exit code is 1 when there is any.
    """
    from rpgres.cli.options import read_folders
    from rpgres.cli.output import say, say_json
    from rpgres.plugins import ruleset_names
    from rpgres.rulesets.overlays import stray_folders

    folders = read_folders(rulesets or ())
    known = [name.id for name in ruleset_names(titles=False, extra=folders)]
    checked = [_checked(one, folders) for one in dict.fromkeys(rulesets_named or known)]
    strays = [] if rulesets_named else stray_folders(known, extra=folders)
    is_well = not strays and all(one.ok for one in checked)
    if as_json:
        say_json({"format": "rpgres.ruleset-check/1", "ok": is_well, "rulesets": checked, "strays": strays})
    else:
        say([*_checked_lines(checked, strays)], is_plain=plain)
    if not is_well:
        raise typer.Exit(1)


def _checked_lines(checked: Sequence[Checked], strays: Sequence[Problem]) -> Iterator[Line]:
    from rpgres.render.lines import Piece, line
    from rpgres.rulesets.places import line_of

    for one in checked:
        with_ = f" (with {', '.join(one.overlays)})" if one.overlays else ""
        count = "a problem" if len(one.problems) == 1 else f"{len(one.problems)} problems"
        state = Piece("ok", "good") if one.ok else Piece(count, "bad")
        yield line(Piece(one.id, "name"), ": ", state, with_)
        yield from (line(text) for problem in one.problems for text in line_of(problem).splitlines())
    yield from (line(line_of(stray)) for stray in strays)


def _checked(ruleset_id: str, folders: Sequence[Path]) -> Checked:
    """Return what is wrong with a ruleset and all that is laid over it.

    Raises:
        UsageError: there is no such ruleset.
    """
    from rpgres.errors import FileError, PluginError
    from rpgres.plugins import find_ruleset
    from rpgres.rulesets import Rules, data_folders, merge_parts, read_parts
    from rpgres.rulesets.places import problems_in
    from rpgres.tomlfiles import Problem
    from rpgres.validation import all_problems

    overlays: Sequence[str] = ()
    try:
        ruleset = find_ruleset(ruleset_id, extra=folders)
        found = data_folders(ruleset_id, own=ruleset.data, extra=folders)
        overlays = [str(folder) for folder in found[1:]]
        parts = read_parts(found, ruleset_id=ruleset_id)
        rules = Rules(ruleset, file=merge_parts(parts), parts=parts)
        problems = all_problems(rules)
        # While the rules are broken, each scene would tell the same again.
        problems += () if problems else _scene_problems(rules, folders)
    except FileError as error:
        problems = problems_in(error)
    except PluginError as error:
        problems = [Problem("", None, "", error.message)]
    return Checked(ruleset_id, not problems, overlays, problems)


def _scene_problems(rules: Rules, folders: Sequence[Path]) -> Iterator[Problem]:
    from rpgres.errors import FileError, RpgresError
    from rpgres.plugins import find_ruleset
    from rpgres.rulesets.places import problems_in
    from rpgres.scenes import check_scene, read_scene
    from rpgres.tomlfiles import Problem, read_source

    for path in (path for folder in rules.folders for path in sorted((folder / "scenes").glob("*.toml"))):
        try:
            yield from check_scene(read_scene(read_source(path), find_ruleset=find_ruleset, extra=folders))
        except FileError as error:
            yield from problems_in(error)
        except RpgresError as error:
            yield Problem(str(path), None, "", error.message)


def _complete_actions(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    from rpgres.plugins import find_ruleset
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
    from rpgres.cli.options import read_folders, read_switches
    from rpgres.cli.output import say, say_json
    from rpgres.descriptions import ActionDescription, describe_action, describe_ruleset
    from rpgres.plugins import find_ruleset
    from rpgres.render.rulesets import action_lines, ruleset_lines
    from rpgres.rulesets import load_rules

    folders = read_folders(rulesets or ())
    rules = load_rules(find_ruleset(ruleset, extra=folders), switches=read_switches(switch or ()), extra=folders)
    described = describe_ruleset(rules) if action is None else describe_action(rules, action)
    if as_json:
        say_json(described)
    elif isinstance(described, ActionDescription):
        say(action_lines(described, rules.switches), is_plain=plain)
    else:
        say(ruleset_lines(described), is_plain=plain)
