"""`rpgres roll`: an action or dice, once or many times, from what was typed to what is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

from rpgres.cli import INTERRUPTED
from rpgres.cli import options as opt
from rpgres.cli.asking.terminal import asks_dice, can_prompt
from rpgres.cli.dynamic import PlayGroup, Verb
from rpgres.cli.exits import WAITING, exit_of, leave
from rpgres.cli.output import READER, say, say_json, say_result, say_text
from rpgres.dice.seeds import Streams, read_seed, run_seed
from rpgres.engine.dealers import Remembered
from rpgres.engine.prepare import Prepared, policies_of, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import run
from rpgres.engine.stops import TakenBack
from rpgres.errors import InterruptError, UsageError, named
from rpgres.lines import options as lines
from rpgres.plugins.loading import RulesetData
from rpgres.rulesets import Rules
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from rpgres.cli.asking.prompt import Person
    from rpgres.cli.asking.real import RealDice
    from rpgres.engine.players import Question, View

ACTION_OPTIONS = (
    *(opt.SEED, lines.GIVEN, lines.REAL, lines.CHOOSE, lines.AUTO, lines.POLICY, opt.WAIT, opt.SWITCH, lines.RULESETS),
    *(opt.REPEAT, opt.EACH_RUN, lines.JSON, lines.NOTE, lines.EXIT_CODE),
)
NOTHING_DONE = "Nothing was done.\n"
DICE_OPTIONS = (
    *(opt.VS, opt.SEED, lines.GIVEN, lines.REAL),
    *(opt.REPEAT, opt.EACH_RUN, lines.JSON, lines.NOTE, lines.EXIT_CODE),
)

# Options of a line that a resumed one needs as well, beside those that the pending record has.
_KEPT = ("rulesets", "policy", "wait", "json", "exit_code")


def roll_action(data: RulesetData, action: str, values: dict[str, Any]) -> None:
    """Resolve an action and print the result; exit with the code it calls for."""
    shared = {option.name: values.pop(option.name) for option in ACTION_OPTIONS}
    repeat = opt.read_count(shared["repeat"], option=named("repeat"), default=0)
    _check_repeat(shared, repeat=repeat)
    given = lines.read_answers(shared["given"], option="given")
    choose = lines.read_answers(shared["choose"], option="choose")
    from rpgres.plugins.loading import checked

    rules = checked(data.rules(opt.read_switches(shared["switch"])))
    READER.rules = rules
    prepared = prepare(rules, action, lines.given_inputs(values))
    policies = policies_of(prepared, opt.named_policies(shared["policy"]), auto=shared["auto"], files=True)
    person = _person(prepared, shared, repeat=repeat)
    real = _real_dice(shared, prepared, repeat=repeat)
    hand = Remembered(real) if real is not None else None
    skipped = dict[str, None]()  # labels of optional decisions without an answer

    def skip(view: View, question: Question) -> None:
        if shared["wait"]:
            from rpgres.engine.waiting import wait_for_all

            wait_for_all(view, question)
        if question.optional and not question.is_naming:
            skipped[question.label] = None

    asks = person.ask if person is not None else skip
    if hand is not None:
        asks = hand.counting(asks)

    def once(seed: str) -> Result | Pending:
        if hand is not None:
            hand.begin()
        try:
            result, _ = run(
                prepared,
                streams=Streams(seed),
                given=given,
                choose=choose,
                policies=policies,
                prompt=asks,
                hand=hand.ask if hand is not None else None,
                note=shared["note"],
                identify=shared["json"],  # people are not shown the hash of the rules, which takes reading all of them
            )
        except TakenBack:
            if person is None or not person.rewind():
                say_text(NOTHING_DONE)
                raise typer.Exit(INTERRUPTED) from None
            if hand is not None:
                hand.take_back()
            return once(seed)
        if not isinstance(result, Pending):
            return result
        from rpgres.cli.shell import kept_options, resumed

        return resumed(result, rules, more=kept_options(shared, _KEPT))

    _finish(once, shared, repeat=repeat, rules=rules, skipped=skipped, person=person)


def roll_notation(notation: str, values: dict[str, Any]) -> None:
    """Roll dice and print the result."""
    from rpgres.engine.dice import roll_dice

    repeat = opt.read_count(values["repeat"], option=named("repeat"), default=0)
    _check_repeat(values, repeat=repeat)
    given = lines.read_answers(values["given"], option="given")
    rolled = opt.read_dice(notation, values["vs"], values["note"])

    hand = _real_dice(values, None, repeat=repeat)

    def once(seed: str) -> Result:
        try:
            return roll_dice(rolled, streams=Streams(seed), given=given, note=values["note"], hand=hand)
        except TakenBack:
            say_text(NOTHING_DONE)
            raise typer.Exit(INTERRUPTED) from None

    _finish(once, values, repeat=repeat, rules=None)


def _check_repeat(shared: dict[str, Any], *, repeat: int) -> None:
    if shared["each_run"] and not repeat:
        raise UsageError(f"{named('each-run')} shows the runs of {named('repeat')} N; a single run is always shown")
    if repeat and shared["exit_code"]:
        raise opt.exclusive("exit-code", "repeat")


def _person(prepared: Prepared, shared: dict[str, Any], *, repeat: int) -> Person | None:
    """Return what asks a person, when there is one to ask."""
    if repeat or shared["json"] or shared["auto"] or not can_prompt():
        return None
    from rpgres.cli.asking.prompt import Person
    from rpgres.render.results import action_lines

    heading = action_lines(prepared.action, actor=prepared.actor, inputs=prepared.inputs)
    return Person(heading=heading, aid=lambda _view: prepared, file=lambda: prepared.rules.file)


def _real_dice(shared: dict[str, Any], prepared: Prepared | None, *, repeat: int) -> RealDice | None:
    """Return what asks a person for results of real dice; None where the seed rolls all of them."""
    if repeat or not asks_dice(shared["real_dice"], as_json=shared["json"]):
        return None
    from rpgres.cli.asking.real import RealDice, plus_words

    if prepared is None:  # dice alone: no character has a name here
        return RealDice()
    plus = plus_words(prepared.rules.file, prepared.action, prepared.inputs)
    return RealDice(shared["real_dice"], actor=prepared.actor, plus=plus)


def _finish(
    once: Callable[[str], Result | Pending],
    shared: dict[str, Any],
    *,
    repeat: int,
    rules: Rules | None,
    skipped: Iterable[str] = (),
    person: Person | None = None,
) -> None:
    seed = read_seed(shared["seed"])
    if repeat:
        results = (once(run_seed(seed, number)) for number in range(repeat))
        leave(_show_many(results, rules, shared, seed=seed, runs=repeat))
    else:
        result = once(seed)
        say_result(result, rules, as_json=shared["json"], skipped=skipped)
        was_stopped = person is not None and person.is_interrupted
        leave(INTERRUPTED if was_stopped else exit_of(result, with_codes=shared["exit_code"]))


def _show_many(
    results: Iterable[Result | Pending], rules: Rules | None, shared: dict[str, Any], *, seed: str, runs: int
) -> int:
    """Print a summary of runs, behind a line for each where that is asked for; return the exit code."""
    from rpgres.cli.progress import NOTHING, interrupted, progress

    if shared["json"]:
        code = 0
        with progress("rolling", is_silent=True) as show:
            for result in results:
                say_json(result)
                code = WAITING if isinstance(result, Pending) else code
                if STOP.is_asked:
                    break
        return INTERRUPTED if show.is_stopped else code
    from rpgres.render.reports import report_lines
    from rpgres.render.results import repeat_line
    from rpgres.render.samples import WAITING as WAITS
    from rpgres.render.samples import Tally, sample_report
    from rpgres.render.words import house_rules

    file, tally, first = rules.file if rules is not None else None, Tally(), None
    with progress("rolling", is_silent=shared["each_run"]) as show, suppress(KeyboardInterrupt):
        for result in results:
            first = first or result
            tally.count(result)
            show(tally.runs, runs)
            if shared["each_run"]:
                say([repeat_line(tally.runs, result, file)])
            if STOP.is_asked:
                break
    if first is None:
        raise InterruptError(NOTHING)
    changed = house_rules(rules) if rules is not None else ""
    say(report_lines(sample_report(tally, first, file, seed=seed, house_rules=changed)))
    if tally.runs < runs:
        return interrupted(f"{tally.runs:,} of {runs:,} runs")
    return WAITING if WAITS in tally.outcomes else 0


class RollGroup(PlayGroup):
    """What can be rolled."""

    verb = Verb("roll", ACTION_OPTIONS, roll_action, DICE_OPTIONS, roll_notation, "Roll dice.")


app = typer.Typer(
    cls=RollGroup,
    help="""Resolve an action of a ruleset, or roll dice.

    `rpgres roll fate overcome --skill 3 --vs 2` resolves an action; `rpgres roll fate --help` lists the
    actions, and `rpgres roll fate overcome --help` explains one.

    `rpgres roll 4dF+3` rolls dice; `rpgres roll 4dF+3 --help` explains the notation.""",
    subcommand_metavar="RULESET ACTION [OPTIONS] | NOTATION [OPTIONS]",
)
