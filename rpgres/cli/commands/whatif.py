"""`rpgres whatif`: one run again with one answer changed and every other die as it fell, both accounts side by side."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rpgres.cli.annotations import AsJson, Folders
from rpgres.cli.options import AUTO, PLAIN, POLICY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rpgres.engine.rerun import WhatIf
    from rpgres.rulesets import RulesetFile

Found = tuple["WhatIf", "RulesetFile"]


Run = Annotated[
    str,
    typer.Argument(
        metavar="RESULT.json|TABLE#N",
        help="What `roll --json` or `scene run --json` printed (- reads it), or an action of a persistent table.",
    ),
]
Choose = Annotated[
    list[str] | None,
    typer.Option("--choose", metavar="LABEL[#N]=OPTION", help="Change a decision, or add one.", show_default=False),
]
Given = Annotated[
    list[str] | None,
    typer.Option("--given", metavar="LABEL[#N]=FACES", help="Change dice or cards.", show_default=False),
]
Policies = Annotated[
    list[str] | None, typer.Option("--policy", metavar=POLICY.metavar, help=POLICY.help, show_default=False)
]
SceneFile = Annotated[
    str | None,
    typer.Option("--scene", metavar="FILE", help="The scene, where it is not where it was.", show_default=False),
]
Seat = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="SEAT", help="Whose view of a persistent table [env: RPGRES_SEAT].", show_default=False
    ),
]


def command(
    run: Run,
    choose: Choose = None,
    given: Given = None,
    auto: Annotated[bool, typer.Option("--auto", help=AUTO.help)] = False,
    policy: Policies = None,
    scene: SceneFile = None,
    seat: Seat = None,
    as_json: AsJson = False,
    plain: Annotated[bool, typer.Option("--plain", help=PLAIN.help)] = False,
    rulesets: Folders = None,
) -> None:
    """Repeat a run with one answer changed and every other die as it fell.

    LABEL#2 is the second answer under that label; in a scene, STEP.LABEL is one of a step. Every other answer stays;
    what is asked anew is rolled from the same seed and decided by policies, or waits (exit code 3). Answers that the
    changed run has no use for are listed. At a persistent table, new dice are not the table's own, so that they tell
    nothing of what it will roll.

    Examples: rpgres whatif result.json --choose price=cost; rpgres whatif .#4 --given roll=++0-
    """
    from rpgres.cli.options import read_folders
    from rpgres.cli.output import WAITING, say, say_json

    asked = _Asked(given or [], choose or [], _named(policy), auto, read_folders(rulesets or ()))
    path, separator, number = run.rpartition("#")
    if separator and number.isascii() and number.isdecimal() and not os.path.isfile(run):
        record, file = _of_table(path, int(number), asked, seat or os.environ.get("RPGRES_SEAT") or None)
    else:
        record, file = _of_result(run, asked, scene)
    if as_json:
        say_json(record)
    else:
        from rpgres.cli.render.whatif import what_if_lines

        say(what_if_lines(record, file), is_plain=plain)
    if not record.complete:
        raise typer.Exit(WAITING)


class _Asked:
    """What is changed, and who answers what is new."""

    def __init__(
        self,
        given: Sequence[str],
        choose: Sequence[str],
        policies: dict[str, str],
        auto: bool,
        folders: tuple[Path, ...],
    ) -> None:
        self.changes: dict[str, Any] = {"given": given, "choose": choose}
        self.policies, self.auto, self.folders = policies, auto, folders


def _named(texts: Sequence[str] | None) -> dict[str, str]:
    return {who: name for who, _, name in (text.rpartition("=") for text in texts or ())}


def _of_table(path: str, number: int, asked: _Asked, seat: str | None) -> Found:
    from rpgres.journal.commands import check_seat, rules_of
    from rpgres.journal.files import find_table
    from rpgres.journal.rerun import table_what_if
    from rpgres.journal.store import read

    place = find_table(path or os.environ.get("RPGRES_TABLE"))
    history = read(place)
    check_seat(history, seat)
    rules = rules_of(history, folders=asked.folders)
    record = table_what_if(
        place, history, rules, number, seat=seat, policies=asked.policies, auto=asked.auto, **asked.changes
    )
    return record, rules.file


def _of_result(name: str, asked: _Asked, scene: str | None) -> Found:
    from pathlib import Path

    import msgspec

    from rpgres.engine.records import Result
    from rpgres.errors import FileError
    from rpgres.scenes import SceneResult
    from rpgres.toml.reading import read_source

    text = read_source(Path(name)).text
    try:
        found = msgspec.json.decode(text.encode(), type=Result | SceneResult)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise FileError(
            f"{name}: this is not what `rpgres roll --json` or `rpgres scene run --json` prints: {error}", file=name
        ) from None
    return _of_scene(found, asked, scene) if isinstance(found, SceneResult) else _of_action(found, asked)


def _of_action(before: Any, asked: _Asked) -> Found:
    import msgspec

    from rpgres.engine.records import Pending
    from rpgres.engine.rerun import (
        WhatIf,
        answers_in,
        check_changes,
        playing,
        read_changes,
        require_same,
        run_again,
    )
    from rpgres.engine.run import policies_of, prepare
    from rpgres.errors import UsageError
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules

    if before.ruleset is None or before.action is None:
        raise UsageError("dice alone have no decisions; `rpgres roll NOTATION --given roll=...` says what they come to")
    if before.seed is None:
        raise UsageError("this result does not tell its seed; at a persistent table, use TABLE#N")
    rules = load_rules(find_ruleset(before.ruleset, extra=asked.folders), switches=before.switches, extra=asked.folders)
    prepared = prepare(rules, before.action, {key.replace("-", "_"): value for key, value in before.inputs.items()})
    answers = answers_in(before.events)
    policies = policies_of(prepared, asked.policies, auto=asked.auto)
    settings: dict[str, Any] = {"seed": before.seed, "unused": before.unused}
    require_same(before, run_again(playing(prepared), answers, **settings))
    changes = read_changes(asked.changes["given"], asked.changes["choose"], answers)
    check_changes(prepared, changes)
    again = run_again(playing(prepared, note=before.note), answers, changes, policies=policies, **settings)
    record = WhatIf(
        ruleset=rules.id,
        changed=changes,
        before=[msgspec.to_builtins(before)],
        after=[msgspec.to_builtins(again.found)],
        dropped=again.dropped,
        fresh=again.fresh,
        complete=not isinstance(again.found, Pending),
        seed=before.seed,
    )
    return record, rules.file


def _of_scene(before: Any, asked: _Asked, name: str | None) -> Found:
    from rpgres.engine.players import Policy, policy_of
    from rpgres.errors import UsageError
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.scenes import open_scene, read_scene
    from rpgres.scenes.rerun import scene_what_if

    file = name or before.scene
    if file in ("", "-"):
        raise UsageError("this result does not tell in which file its scene stands; name it with --scene FILE")
    source, folder = open_scene(file, extra=asked.folders)
    scene = read_scene(
        source,
        find_ruleset=lambda ruleset: find_ruleset(ruleset, extra=asked.folders),
        folder=folder,
        switches=before.switches,
        extra=asked.folders,
        auto=asked.auto,
    )
    policies: dict[str, Policy] = {who: policy_of(scene.rules, own) for who, own in asked.policies.items()}
    return scene_what_if(scene, before, policies=policies, **asked.changes), scene.rules.file
