"""`rpgres scene run`: a scene, or a procedure without a scene file, from what was typed to its account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from msgspec import structs

from rpgres.cli import INTERRUPTED
from rpgres.cli import options as opt
from rpgres.cli.asking.terminal import asks_dice
from rpgres.cli.dynamic import SCENE_RUN, ActionCommand, Verb, procedure_named
from rpgres.cli.exits import WAITING, exit_of, leave
from rpgres.cli.options import StrictCommand, built, folders_in, hoist
from rpgres.cli.output import say_json, say_record
from rpgres.cli.shell import kept_options, resumed
from rpgres.dice.seeds import read_seed
from rpgres.engine.players import policies_named
from rpgres.engine.prepare import Prepared, policies_of, prepare
from rpgres.errors import RpgresError, UsageError, enumerated, named
from rpgres.lines import options as lines
from rpgres.model.state import EVERYBODY, GM, HOST_NAME, State
from rpgres.plugins.loading import RulesetData, checked

if TYPE_CHECKING:
    from rpgres.cli.scene_output import Played
    from rpgres.engine.records import Pending
    from rpgres.scenes import Scene


def _complete_seats(ctx: Any, _args: list[str], _incomplete: str) -> list[tuple[str, str]]:
    """Return the seats of the scene that was named: the game master's, and those of its characters."""
    from rpgres.scenes import open_scene
    from rpgres.toml.reading import parse

    file = next(iter(ctx.args), "")  # while a line is not whole, arguments have no names yet
    try:
        characters = parse(open_scene(file)[0]).get("characters", {})
    except RpgresError:
        characters = {}
    names = [GM, *(characters if isinstance(characters, dict) else ()), EVERYBODY, HOST_NAME]
    return [(name, "") for name in names]


AS_SEAT = lines.Option(
    "as",
    "Tell only what this seat may know, or everybody; host: all there is. By default what the game master may.",
    "SEAT",
    lines.ANSWERS,
)
AS_SEAT_OF_SCENE = structs.replace(AS_SEAT, complete=_complete_seats)
OPTIONS = (
    *(opt.SEED, lines.GIVEN, lines.REAL, lines.CHOOSE, lines.AUTO, lines.POLICY, AS_SEAT, opt.SWITCH, lines.RULESETS),
    *(opt.MARKDOWN, opt.HTML, opt.LONELOG, lines.JSON, lines.NOTE, lines.EXIT_CODE),
)
SCENE_OPTIONS = (
    *(opt.SEED, lines.AUTO, lines.POLICY, opt.SWITCH, lines.REAL, AS_SEAT_OF_SCENE),
    *(opt.MARKDOWN, opt.HTML, opt.LONELOG, lines.JSON, lines.RULESETS),
)
# Options of this line that a resumed one needs as well, beside those that the pending record has.
_KEPT = ("rulesets", "policy", "as", "markdown", "html", "lonelog", "json", "exit_code")


def run_procedure(data: RulesetData, procedure: str, values: dict[str, Any]) -> None:
    """Play a procedure to its end and tell it, or say for which decision it waits."""
    from rpgres.scenes import Unanswered
    from rpgres.scenes.reading import procedure_scene
    from rpgres.scenes.views import require_seat

    shared = {option.name: values.pop(option.name) for option in OPTIONS}
    files = files_of(shared)
    rules = checked(data.rules(opt.read_switches(shared["switch"])))
    inputs = lines.given_inputs(values)
    prepared = prepare(rules, procedure, inputs)
    if shared["as"] is not None:
        require_seat(shared["as"], prepared.state)
    named_policies = opt.named_policies(shared["policy"])
    scene = procedure_scene(
        rules,
        procedure,
        inputs,
        policies_of(prepared, named_policies, auto=shared["auto"], files=True),
        given=lines.read_answers(shared["given"], option="given"),
        choose=lines.read_answers(shared["choose"], option="choose"),
        named=policies_named(rules, named_policies, auto=shared["auto"]),
        note=shared["note"],
    )
    seed, people = read_seed(shared["seed"]), {"people": prepared.state, "inputs": prepared.inputs}
    try:
        played = play_as_asked(scene, shared, files, seed=seed, auto=shared["auto"], **people)
    except Unanswered as waiting:
        _tell_waiting(waiting.pending, prepared, shared)
        raise typer.Exit(INTERRUPTED if waiting.is_interrupted else WAITING) from None
    result = played.steps[-1].result
    leave(exit_of(result, with_codes=shared["exit_code"]) if result is not None else 0)


def files_of(shared: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that the account is written to, by format, after checking that they can be."""
    from rpgres.cli.account_files import require_files

    return require_files({form: shared[form] for form in ("markdown", "html", "lonelog")}, as_json=shared["json"])


def play_as_asked(
    scene: Scene, shared: Mapping[str, Any], files: Mapping[str, str], *, seed: str, auto: bool, **about: Any
) -> Played:
    """Play a scene as the options say, tell it as it goes unless the account goes elsewhere, and write its files.

    Args:
        files: where the account is written to, by format.
        about: further arguments of `play_and_print`.
    """
    from rpgres.cli.account_files import STANDARD, write_files
    from rpgres.cli.scene_output import play_and_print, play_silently
    from rpgres.render.accounts.scenes import account_of

    seat, is_told = shared["as"], not (shared["json"] or STANDARD in files.values())
    real = _asked_for_dice(shared["real_dice"], seat, is_told=is_told)
    if not is_told:
        played = play_silently(scene, seed=seed, seat=seat)
    else:
        try:
            played = play_and_print(scene, seed=seed, seat=seat, auto=auto, real_dice=real, **about)
        except BrokenPipeError:
            if not files:
                raise
            played = play_silently(scene, seed=seed, seat=seat)  # the reader has left, and the files were asked for
    if shared["json"]:
        say_json(played.record(seat))
    if files:
        write_files(account_of(played.told(seat), scene.rules, name=scene.source.path), files)
    return played


def _asked_for_dice(whom: str | None, seat: str | None, *, is_told: bool) -> str:
    """Return whose dice are real in a scene that is played; empty where none are."""
    if not whom or not asks_dice(whom):
        return ""
    if seat is not None or not is_told:
        how = f"with {named('as')}" if seat is not None else "where the scene is not told as it goes"
        raise UsageError(f"{named('real-dice')} {whom}: no person is asked {how}; use {named('real-dice')} seeded")
    return whom


def _tell_waiting(pending: Pending, prepared: Prepared, shared: Mapping[str, Any]) -> None:
    """Tell for which decision a procedure waits, and how it goes on."""
    from rpgres.render.results import waiting_lines

    if shared["as"] not in (None, HOST_NAME):
        raise _undecided(pending, prepared.state, shared["as"])
    command = ("scene", "run", f"{pending.ruleset}/{pending.action}")
    pending = resumed(pending, prepared.rules, command=command, more=kept_options(shared, _KEPT))
    say_record(pending, lambda: waiting_lines(pending), as_json=shared["json"])


def _undecided(pending: Pending, state: State, seat: str) -> Exception:
    """Return the error of an unanswered decision, as a seat sees it: the options are for the one that decides."""
    from rpgres.engine.views import ANOTHER_SEAT
    from rpgres.odds.exact import NeedsPolicy

    question = pending.question
    if state.seat_of(question.who) != seat:
        whose = question.who if seat == GM else ANOTHER_SEAT
        return NeedsPolicy(
            f"no answer to a decision of {whose}. Answer it with {named('choose')}, or let a policy decide with "
            f"{named('auto')} or {named('policy')} NAME"
        )
    options = enumerated(option.name for option in question.options)
    return NeedsPolicy(
        f"no answer to the decision {question.label} ({question.who} chooses among {options}). Answer it "
        f"with {named('choose')} {question.label}=..., or let a policy decide with {named('auto')} or "
        f"{named('policy')} NAME",
        labels=[question.label],
    )


VERB = Verb(SCENE_RUN, OPTIONS, run_procedure)


class RunCommand(StrictCommand):
    """`rpgres scene run`: of a scene, or of a procedure, which takes inputs of its own."""

    verb = VERB

    def __init__(self, *, params: Sequence[Any] = (), **settings: Any) -> None:
        super().__init__(params=[*params, *(built(option) for option in SCENE_OPTIONS)], **settings)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write which procedures there are."""
        from rpgres.cli.completion import procedures

        with formatter.section("Procedures"):
            formatter.write_dl([*procedures().items()], col_max=28)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of the command of a procedure where one is named, and else of this one."""
        line = hoist(args, OPTIONS)
        found = procedure_named(line[0], folders_in(line[1:])) if line and "/" in line[0] else None
        if found is None:
            return super().make_context(info_name, args, parent, **extra)
        command = ActionCommand(VERB, *found)
        return command.make_context(f"{info_name} {line[0]}", line[1:], parent, **extra)
