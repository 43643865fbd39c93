"""`rpgres scene`: play, check and test scripted scenes. What a scene is and does stands in `rpgres.scenes`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rpgres.cli.annotations import AsJson, Folders
from rpgres.cli.options import PLAIN, SEED, SWITCH

if TYPE_CHECKING:
    from rpgres.players import Prompt
    from rpgres.scenes import Scene

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Play, check and test scripted scenes.")

STDIN = "-"

File = Annotated[
    str, typer.Argument(metavar="FILE", help="A scene: a file, - for standard input, or a shipped one as fate/bribe.")
]
Files = Annotated[
    list[str], typer.Argument(metavar="FILE...", help="Scenes: files, - for standard input, or shipped ones by name.")
]
Switches = Annotated[
    list[str] | None, typer.Option("--switch", metavar=SWITCH.metavar, help=SWITCH.help, show_default=False)
]
Seed = Annotated[str | None, typer.Option("--seed", metavar=SEED.metavar, help=SEED.help, show_default=False)]


@app.command("run")
def run(
    file: File,
    seed: Seed = None,
    auto: Annotated[bool, typer.Option("--auto", help="Let the ruleset's policy answer what nobody chose.")] = False,
    policy: Annotated[
        str, typer.Option("--policy", metavar="NAME", help="Let this policy answer instead.", show_default=False)
    ] = "",
    switch: Switches = None,
    as_json: AsJson = False,
    plain: Annotated[bool, typer.Option("--plain", help=PLAIN.help)] = False,
    rulesets: Folders = None,
) -> None:
    """Play a scene from start to end.

    A decision that neither the scene nor a policy answers is put to you at a terminal; elsewhere it is an error that
    names the step and its line.
    """
    from rpgres.cli.output import is_terminal, say, say_json
    from rpgres.scenes import play_scene, require_sound, run_scene, seed_of

    scene = _read(file, switch, rulesets, policy=policy, auto=auto)
    require_sound(scene)
    if as_json:
        say_json(run_scene(scene, seed=seed))
        return
    from rpgres.render.scenes import scene_heading, step_lines

    chosen = seed_of(scene, seed)
    say(scene_heading(scene, seed=chosen), is_plain=plain)
    is_drawn = is_terminal() and not plain
    for played in play_scene(scene, seed=chosen, prompt=_prompt(is_plain=plain, auto=auto or bool(policy))):
        say(step_lines(scene, played, is_drawn=is_drawn), is_plain=plain)
        sys.stdout.flush()


def _prompt(*, is_plain: bool, auto: bool) -> Prompt | None:
    from rpgres.cli.output import can_prompt

    if auto or not can_prompt():
        return None
    from rpgres.cli.prompt import Person

    return Person(is_plain=is_plain).ask


@app.command("check")
def check(files: Files, switch: Switches = None, rulesets: Folders = None) -> None:
    """Find everything that is wrong with scenes, without playing them.

    Every problem is told with its file, line and key. The exit code is 1 when there is any.
    """
    from rpgres.cli.output import say
    from rpgres.errors import RpgresError
    from rpgres.render.lines import line
    from rpgres.scenes import require_sound

    is_faulty = False
    for file in files:
        try:
            scene = _read(file, switch, rulesets)
            require_sound(scene)
        except RpgresError as error:
            is_faulty = True
            say([line(error.message)])
        else:
            say([line(f"{scene.source.path}: ok")])
    if is_faulty:
        raise typer.Exit(1)


@app.command("test")
def prove(
    files: Files,
    seed: Seed = None,
    auto: Annotated[bool, typer.Option("--auto", help="Let the ruleset's policy answer what nobody chose.")] = False,
    switch: Switches = None,
    rulesets: Folders = None,
) -> None:
    """Play scenes and hold what each step came to against its `expect`.

    Chance that is not given is drawn from the scene's seed, or from the seed 0. The exit code is 1 when an expectation
    failed, a scene cannot be played, or nothing is expected of it.
    """
    from rpgres.cli.output import say
    from rpgres.errors import RpgresError
    from rpgres.render.lines import line
    from rpgres.render.scenes import mismatch_lines
    from rpgres.scenes import prove_scene

    is_wrong = False
    for file in files:
        try:
            scene = _read(file, switch, rulesets, auto=auto)
            checks, wrong = prove_scene(scene, seed=seed)
        except RpgresError as error:
            is_wrong = True
            say([line(error.message)])
            continue
        is_wrong = is_wrong or bool(wrong) or not checks
        say(mismatch_lines(scene.source.path, checks, wrong))
    if is_wrong:
        raise typer.Exit(1)


def _read(
    file: str, switch: list[str] | None, rulesets: list[str] | None, *, policy: str = "", auto: bool = False
) -> Scene:
    from rpgres.cli.options import read_folders, read_switches
    from rpgres.plugins import find_ruleset
    from rpgres.scenes import find_scene, read_scene
    from rpgres.tomlfiles import read_source

    folders = read_folders(rulesets or ())
    return read_scene(
        read_source(Path(file) if file == STDIN else find_scene(file, extra=folders)),
        find_ruleset=lambda ruleset: find_ruleset(ruleset, extra=folders),
        switches=read_switches(switch or ()),
        extra=folders,
        policy=policy,
        auto=auto,
    )
