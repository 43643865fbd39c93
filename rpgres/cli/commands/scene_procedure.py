"""`rpgres scene run RULESET/PROCEDURE`: a procedure without a scene file, from what was typed to its account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from rpgres.cli import options as opt
from rpgres.cli.asking.terminal import asks_dice
from rpgres.cli.dynamic import SCENE_RUN, ActionCommand, Verb, procedure_named
from rpgres.cli.exits import WAITING, exit_of
from rpgres.cli.options import ANSWERS, Option, StrictCommand, hoist
from rpgres.cli.output import say_json, say_record
from rpgres.cli.rulesets import RulesetData
from rpgres.cli.shell.resuming import kept_options, resumed
from rpgres.dice.seeds import read_seed
from rpgres.engine.prepare import Prepared, prepare
from rpgres.errors import UsageError, named
from rpgres.plugins.loading import checked

if TYPE_CHECKING:
    from rpgres.cli.scene_output import Played
    from rpgres.engine.records import Pending
    from rpgres.scenes import Scene

AS_SEAT = Option("as", "Tell only what this seat may know, and no seed.", "SEAT", ANSWERS)
OPTIONS = (
    *(opt.SEED, opt.GIVEN, opt.REAL, opt.CHOOSE, opt.AUTO, opt.POLICY, AS_SEAT, opt.SWITCH, opt.RULESETS),
    *(opt.MARKDOWN, opt.HTML, opt.LONELOG, opt.JSON, opt.NOTE, opt.EXIT_CODE),
)
# Options of this line that a resumed one needs as well, beside those that the pending record has.
_KEPT = ("rulesets", "policy", "markdown", "html", "lonelog", "json", "exit_code")


def run_procedure(data: RulesetData, procedure: str, values: dict[str, Any]) -> None:
    """Play a procedure to its end and tell it, or say for which decision it waits."""
    from rpgres.cli.account_files import require_files, write_files
    from rpgres.cli.render.accounts.scenes import account_of
    from rpgres.scenes import Unanswered
    from rpgres.scenes.procedures import procedure_scene
    from rpgres.scenes.views import require_seat

    shared = {option.name: values.pop(option.name) for option in OPTIONS}
    written = {form: shared[form] for form in ("markdown", "html", "lonelog")}
    files = require_files(written, as_json=shared["json"])
    rules = checked(data.rules(opt.read_switches(shared["switch"])))
    inputs = opt.given_inputs(values)
    prepared = prepare(rules, procedure, inputs)
    if shared["as"] is not None:
        require_seat(shared["as"], prepared.state)
    scene = procedure_scene(
        rules,
        procedure,
        inputs,
        policies=opt.read_policies(prepared, names=shared["policy"], auto=shared["auto"]),
        given=opt.read_answers(shared["given"], option="--given"),
        choose=opt.read_answers(shared["choose"], option="--choose"),
        note=shared["note"],
    )
    try:
        played = _played(scene, prepared, shared, seed=read_seed(shared["seed"]), is_told="-" not in files.values())
    except Unanswered as waiting:
        _tell_waiting(waiting.pending, prepared, shared)
        raise typer.Exit(WAITING) from None
    if shared["json"]:
        say_json(played.result(seat=shared["as"]))
    if files:
        write_files(account_of(played.shown(seat=shared["as"]), rules, name=scene.source.path), files)
    result = played.steps[-1].result
    code = exit_of(result, with_codes=shared["exit_code"]) if result is not None else 0
    if code:
        raise typer.Exit(code)


def _played(scene: Scene, prepared: Prepared, shared: Mapping[str, Any], *, seed: str, is_told: bool) -> Played:
    """Play the scene, telling it as it goes unless the account goes elsewhere."""
    from rpgres.cli.scene_output import play_and_print, play_silently

    if shared["json"] or not is_told:
        asked_for_dice(shared["real_dice"], shared["as"], is_told=False)
        return play_silently(scene, seed=seed)
    return play_and_print(
        scene,
        seed=seed,
        seat=shared["as"],
        auto=shared["auto"],
        real_dice=asked_for_dice(shared["real_dice"], shared["as"]),
        people=prepared.state,
        inputs=prepared.inputs,
    )


def asked_for_dice(whom: str | None, seat: str | None, *, is_told: bool = True) -> str:
    """Return whose dice are real in a scene that is played; empty where none are.

    Args:
        whom: as typed.
        seat: the seat of the reader.
        is_told: whether it is shown while it is played.

    Raises:
        UsageError: a person is to be asked, and there is no terminal.
    """
    if not whom or not asks_dice(whom):
        return ""
    if seat is not None or not is_told:
        how = f"with {named('as')}" if seat is not None else "where the scene is not told as it goes"
        raise UsageError(f"{named('real-dice')} {whom}: no person is asked {how}; use {named('real-dice')} seeded")
    return whom


def _tell_waiting(pending: Pending, prepared: Prepared, shared: Mapping[str, Any]) -> None:
    """Tell for which decision a procedure waits, and how it goes on.

    Raises:
        NeedsPolicy: a seat looks, and the command that goes on would have the seed.
    """
    from rpgres.cli.render.results import waiting_lines

    if shared["as"] is not None:
        raise _undecided(pending)

    command = ("scene", "run", f"{pending.ruleset}/{pending.action}")
    pending = resumed(pending, prepared.rules, command=command, more=kept_options(shared, _KEPT))
    say_record(pending, lambda: waiting_lines(pending), as_json=shared["json"])


def _undecided(pending: Pending) -> Exception:
    """Return the error of an unanswered decision, as a seat sees it."""
    from rpgres.odds.exact import NeedsPolicy

    question = pending.question
    options = ", ".join(option.name for option in question.options)
    return NeedsPolicy(
        f"nobody takes the decision {question.label} ({question.who} chooses among {options}). Answer it "
        f"with {named('choose')} {question.label}=..., or let a policy decide with {named('auto')} or "
        f"{named('policy')} NAME",
        labels=[question.label],
    )


VERB = Verb(SCENE_RUN, OPTIONS, run_procedure)


class RunCommand(StrictCommand):
    """`rpgres scene run`: of a scene, or of a procedure, which takes inputs of its own."""

    verb = VERB

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of the command of a procedure where one is named, and else of this one."""
        known = {name: option for option in OPTIONS for name in option.names}
        line = hoist(list(args), known)
        found = procedure_named(line[0], line[1:]) if line and "/" in line[0] else None
        if found is None:
            return super().make_context(info_name, args, parent, **extra)
        command = ActionCommand(VERB, *found)
        return command.make_context(f"{info_name} {line[0]}", line[1:], parent, **extra)
