"""`rpgres scene`: play, check and test scripted scenes. What a scene is and does stands in `rpgres.scenes`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rpgres import scenes
from rpgres.cli import options as opt
from rpgres.cli.annotations import AsJson, Auto, Folders, OnlyOf, Seed, Switches, declared, spread
from rpgres.cli.checks.report import AsForm, Form, check_files, end_check, form_of
from rpgres.cli.commands.scene_procedure import RunCommand, files_of, play_as_asked
from rpgres.cli.output import READER, say, say_json, say_record
from rpgres.dice.seeds import read_seed
from rpgres.errors import FileError, PluginError, RpgresError
from rpgres.scenes.views import require_seat
from rpgres.text.harmless import harmless

if TYPE_CHECKING:
    from rpgres.render.lines import Line
    from rpgres.toml.diagnostics import Diagnostic

app = typer.Typer(no_args_is_help=True)


def _complete_scenes() -> list[str]:
    from rpgres.cli.completion import scene_offers

    return scene_offers()


def _complete_played(incomplete: str) -> list[str]:
    """Return what can be played: scenes, and procedures as `RULESET/PROCEDURE`."""
    from rpgres.cli.completion import played_names

    return played_names(incomplete)


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Scenes: files, - for standard input, or shipped ones by name.",
        autocompletion=_complete_scenes,
    ),
]


@app.command("list")
def list_all(
    ruleset: OnlyOf = None,
    cases: Annotated[
        bool, typer.Option("--all", help="List those too that only test a ruleset (conformance).", show_default=False)
    ] = False,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """List the scenes that come with rulesets, and those in the folders of house rules.

    `rpgres scene run NAME` plays one. Procedures, such as fate/conflict, need no scene: `rpgres scene run --help` lists
    them.
    """
    from rpgres.catalog.listed import list_files
    from rpgres.render.files import file_list_lines

    found = list_files("scene", ruleset, extra=opt.read_folders(rulesets), with_cases=cases)
    say_record(found, lambda: file_list_lines(found), as_json=as_json)


AsMarkdown = Annotated[str | None, declared(opt.MARKDOWN)]
AsHtml = Annotated[str | None, declared(opt.HTML)]
AsLonelog = Annotated[str | None, declared(opt.LONELOG)]


@app.command("run", cls=RunCommand)
@spread
def run(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|RULESET/PROCEDURE",
            help="A scene: a file, - for standard input, or a shipped one as fate/bribe. Or a procedure, such as "
            "fate/conflict, of those listed below; `rpgres scene run fate/conflict --help` has its inputs.",
            autocompletion=_complete_played,
        ),
    ],
    **shared: Any,
) -> None:
    """Play a scene or a procedure from start to end, and tell what happens.

    A decision that neither the scene nor a policy answers is put to you at a terminal. Elsewhere, and with --as, it is
    an error that names the step and its line; a procedure then prints the command that goes on with it.

    The account can be written to files as well; - is standard output, in place of the account for people. A file that
    exists is replaced only if it is an account that rpgres wrote.
    """
    auto, policy, seat = shared["auto"], shared["policy"] or (), shared["as"]
    files = files_of(shared)
    scene = _read(file, shared["switch"], shared["rulesets"], policy=policy, auto=auto)
    scenes.require_sound(scene)
    if seat is not None:
        require_seat(seat, scene.state)
    play_as_asked(scene, shared, files, seed=scenes.seed_of(scene, shared["seed"]), auto=auto or bool(policy))


@app.command("show")
def show(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="JSON of scene run or scene show; - reads input."),
    ],
    markdown: AsMarkdown = None,
    html: AsHtml = None,
    lonelog: AsLonelog = None,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Show a scene that was played, from its JSON.

    An account has what its reader may know and no more: for another seat, play the scene with `scene run --as SEAT`.
    """
    from rpgres.cli.account_files import STANDARD, read_account, require_files, write_files

    files = require_files({"markdown": markdown, "html": html, "lonelog": lonelog}, as_json=as_json)
    account = read_account(file, folders=opt.read_folders(rulesets))
    if as_json:
        say_json(account)
    elif STANDARD not in files.values():
        from rpgres.render.accounts.lines import account_lines

        say(account_lines(account, is_aloud=READER.is_plain), is_prose=True)
    write_files(account, files)


@app.command("check")
def check(
    files: Files,
    switch: Switches = None,
    form: AsForm = "text",
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Find everything that is wrong with scenes, without playing them.

    Every problem names its file, line and key. The exit code is 1 when there is any, and 0 where there are only
    warnings: of names that play may still bring forth, such as those of aspects, of steps without an actor among
    several characters, and of the end of what no earlier step begins.
    """
    from rpgres.catalog.sheets import FileCheck

    def one(file: str) -> FileCheck:
        return FileCheck.of(file, _diagnosed(file, switch, rulesets))

    check_files(form_of(form, as_json=as_json), files, one)


def _shown(file: str) -> str:
    return file if os.path.isfile(file) else file.removesuffix(".toml")


def _diagnosed(file: str, switch: list[str] | None, rulesets: list[str] | None) -> list[Diagnostic]:
    from rpgres.toml.diagnostics import diagnostics_in

    folders = opt.read_folders(rulesets)
    try:
        source, folder = scenes.open_scene(file, extra=folders)
        return scenes.scene_diagnostics(source, folder=folder, switches=opt.read_switches(switch), extra=folders)
    except (FileError, PluginError) as error:  # not to be read, or not TOML: the first fault is all there is
        return diagnostics_in(error, file=_shown(file))


@app.command("test")
def prove(
    files: Files,
    seed: Seed = None,
    auto: Auto = False,
    switch: Switches = None,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Play scenes and hold what each step came to against its `expect`.

    Chance that is not given is drawn from the scene's seed, or from the seed 0. The exit code is 1 when an expectation
    failed, a scene cannot be played, or nothing is expected of it.
    """
    from rpgres.cli.progress import one_by_one
    from rpgres.render.lines import line
    from rpgres.render.scenes import mismatch_lines

    seed = seed if seed is None else read_seed(seed)

    def one(file: str) -> tuple[scenes.ProvedFile, list[Line]]:
        try:
            scene = _read(file, switch, rulesets, auto=auto)
            checks, wrong = scenes.prove_scene(scene, seed=seed)
        except RpgresError as error:
            failed = scenes.ProvedFile(file=_shown(file), ok=False, error=error.message)
            return failed, [line(text) for text in harmless(error.message).split("\n")]
        proved = scenes.ProvedFile(file=_shown(file), ok=bool(checks) and not wrong, checks=checks, failed=wrong)
        return proved, mismatch_lines(scene.source.path, checks, wrong)

    found = one_by_one("testing", files, one)
    untested = files[len(found) :]
    ok = not untested and all(proved.ok for proved, _ in found)
    record = scenes.ProvedScenes(ok=ok, files=[proved for proved, _ in found])
    lines = [shown for _, lines in found for shown in lines]
    form: Form = "json" if as_json else "text"
    end_check(form, ok=ok, record=record, found=(), lines=lines, unchecked=untested, undone="not tested")


def _read(
    file: str, switch: list[str] | None, rulesets: list[str] | None, *, policy: Sequence[str] = (), auto: bool = False
) -> scenes.Scene:
    folders, switches = opt.read_folders(rulesets), opt.read_switches(switch)
    overrides = scenes.Overrides(switches, opt.named_policies(policy), auto)
    return scenes.load_scene(file, extra=folders, overrides=overrides)
