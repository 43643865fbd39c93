"""An action is run: from prepared inputs to its result. `roll`, scenes, batches, odds and the library share it.

Nothing here prints, prompts or exits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import Dealer, GivenDealer, Hand, SeededDealer
from rpgres.engine.decisions import claim
from rpgres.engine.effects import apply_effects
from rpgres.engine.players import NO, Policy, Prompt, refusal
from rpgres.engine.prepare import Prepared, answers_to, lay_placed
from rpgres.engine.records import AnswerRecord, Pending, Result, pending_of, record_of
from rpgres.engine.running import EFFECTS, Chain, Run
from rpgres.engine.seats import Seats, for_every
from rpgres.engine.stops import Broken, NeedsAnswer, fault_of, in_run
from rpgres.engine.table import Outcome, Table
from rpgres.errors import RuleError, UsageError, in_short, named
from rpgres.model.state import EMPTY, State, slug
from rpgres.rulesets import Rules, is_ours

if TYPE_CHECKING:  # only signatures name it
    from typing import Required, TypedDict, Unpack

    class Answering(TypedDict, total=False):
        """Who answers an action, or the beginning or end of a period, and what is kept of it.

        Attributes:
            step: which step of a scene or table this is, from 0.
            given: results read off real dice, by label.
            choose: answers to decisions, by label.
            policies: who answers what was not chosen; `""` for everybody.
            prompt: asks a person what is left unanswered.
            identify: whether the result names its rules exactly, for which all their files are read; so by default.
            players: who answers, in place of the script, the policies and the prompt.
            dealer: the source of dice and cards, in place of what is given; the caller checks for unused results.
            hand: asks a person for results of real dice and cards that were not given.
            stops: whether a procedure ends where it would wait for a decision; see `procedures.play_through`.
        """

        streams: Required[Streams]
        step: int
        given: Mapping[str, Sequence[str]]
        choose: Mapping[str, Sequence[str]]
        policies: Mapping[str, Policy]
        prompt: Prompt | None
        note: str | None
        identify: bool
        players: Seats | None
        dealer: GivenDealer | None
        hand: Hand | None
        stops: bool


REFUSED = Outcome("", texts=("The game master refuses the claim; the action is not done.",))


def play(
    prepared: Prepared,
    *,
    dealer: Dealer,
    players: Seats,
    asked: str = EFFECTS,
    follow: Callable[[Table, Chain, Any], Any] | None = None,
    is_enough: Callable[[], bool] | None = None,
    stops: bool = False,
) -> tuple[Outcome, Run]:
    """Run an action once and return its outcome, with the run itself for the events.

    Args:
        asked: what the run is for; see `Run.asked`.
        follow: who follows chains of steps, where the rule does not go along them itself.
        is_enough: of a procedure, tells after a turn whether that one's outcome is what is asked for.
        stops: of a procedure, whether it ends where it would wait for a decision.

    Raises:
        NeedsAnswer, Settled: it ended early; the exception carries the run as `run`.
        RuleError: the rule raised something that is not meant for users, or broke its contract with the table.
    """
    rules, state, shared = prepared.rules, prepared.state, prepared.shared
    if shared.is_procedure:
        asked = EFFECTS  # the outcome of a turn is not the outcome that is asked for
    trust, lump = prepared.trust, prepared.lump_for(asked) if prepared.lump is not None else None
    run = Run(rules, state, dealer, players, asked, lump, follow, trust, shared.found)
    try:
        if trust is not None and not claim(run, trust.seat, trust.claims):
            return REFUSED, run
        if prepared.placed:
            lay_placed(run, prepared.placed)
        table, actor, arguments = Table(run, rules), state.characters[prepared.actor], prepared.arguments
        used = shared.costs(state, actor, arguments) if shared.costs is not None else ()
        outcome = shared.rule(table, actor, **arguments)
        if shared.is_procedure:
            from rpgres.engine.procedures import play_through

            outcome = play_through(table, prepared.action, outcome, is_enough=is_enough, stops=stops)
        has_band = is_enough is None and not (stops and prepared.action not in rules.ruleset.stops)
        if type(outcome) is not Outcome or (has_band and outcome.band not in rules.file.bands):
            raise Broken(f"it returned {in_short(repr(outcome))}, not an outcome with a band of the ruleset")
        if used:
            outcome = outcome.plus(used)
    except BaseException as error:  # noqa: BLE001  # third-party code may raise anything
        raise fault_of(error, run, f"the rule {rules.id} {prepared.action}") from error.__cause__
    if run.fault is not None:
        run.fault.run = run
        raise run.fault
    return outcome, run


def dealer_of(by: Answering) -> GivenDealer:
    """Return who answers chance."""
    seeded = SeededDealer(by["streams"], step=by.get("step", 0))
    return by.get("dealer") or GivenDealer(by.get("given", EMPTY), then=seeded, hand=by.get("hand"))


def players_of(by: Answering, choose: Mapping[str, Sequence[str]]) -> Seats:
    """Return who answers decisions: a script before all others."""
    return by.get("players") or Seats(choose, policies=by.get("policies", EMPTY), prompt=by.get("prompt"))


def identity_of(by: Answering, rules: Rules) -> dict[str, Any]:
    """Return the fields of a result that identify its rules."""
    return rules.layers.identity() if by.get("identify", True) else {"version": rules.file.version}


def run(prepared: Prepared, **by: Unpack[Answering]) -> tuple[Result | Pending, State]:
    """Return the result of an action, or the decision it waits for; and the state after it.

    While it is pending the state is the one before it; of a procedure, the one that its finished turns left.

    Args:
        by: who answers; see `Answering`.

    Raises:
        UsageError: an answer is impossible, a label unknown, or a given result was never asked for.
        RuleError: the ruleset's code failed; the message names the distribution that brought it.
    """
    try:
        return _run(prepared, by)
    except RuleError as error:
        raise prepared.rules.blamed(error)  # noqa: B904  # it is the same error


def _run(prepared: Prepared, by: Answering) -> tuple[Result | Pending, State]:
    rules, choose = prepared.rules, by.get("choose", EMPTY)
    if choose or by.get("given"):
        from rpgres.engine.labels import check_labels

        check_labels(rules, prepared.action, given=by.get("given", EMPTY), choose=choose)
    dealer, seats = dealer_of(by), players_of(by, answers_to(prepared, choose))
    try:
        outcome, done = play(prepared, dealer=dealer, players=seats, stops=by.get("stops", False))
    except NeedsAnswer as needs:
        with in_run(needs.run):
            waiting = _waiting(prepared, by, needs, seats)
            return waiting, needs.run.state if needs.run.turn else prepared.state
    with in_run(done):
        return _finished(prepared, by, outcome, done, dealer, seats)


def _waiting(prepared: Prepared, by: Answering, needs: NeedsAnswer, seats: Seats) -> Pending:
    """Return the decision that an action waits for."""
    _unused(needs.run, seats, is_over=False)
    _check_repeats(prepared, by, needs.run, waits_for=needs.question.label)
    is_resumed = by.get("players") is None  # at a lasting table every seat answers for itself
    return pending_of(
        prepared.rules,
        needs,
        action=prepared.action,
        actor=prepared.actor,
        inputs=prepared.inputs,
        seed=by["streams"].seed,
        note=by.get("note"),
        unused=[*_left(seats, is_over=False)] if is_resumed else [],
        single=needs.run.single if is_resumed else (),
    )


def _finished(
    prepared: Prepared, by: Answering, outcome: Outcome, done: Run, dealer: GivenDealer, seats: Seats
) -> tuple[Result, State]:
    """Return the result of an action that came to its end, and the state after it."""
    rules, action = prepared.rules, prepared.action
    is_refused = outcome is REFUSED
    for label, value in dealer.unused() if by.get("dealer") is None and not is_refused else ():
        _check_repeats(prepared, by, done)
        raise UsageError(
            f"{named('given')} {label}={value} was not used: {rules.id} {action} did not roll {label!r} again"
        )
    unused = _unused(done, seats, is_over=not by.get("stops", False))
    if not is_ours(rules.ruleset):
        from rpgres.engine import contract

        contract.check_declared(prepared, done.events)
        if not is_refused and outcome.band:
            contract.check_outcome(prepared, outcome)
    result = result_of(prepared, by, outcome, done, unused)
    if prepared.trust is not None and is_refused:
        return result, prepared.trust.before
    return result, apply_effects(rules, done.state, outcome)


def _check_repeats(prepared: Prepared, by: Answering, done: Run, *, waits_for: str = "") -> None:
    """Check that the rule of a third party asks the same once more when it is given the same answers."""
    if not is_ours(prepared.rules.ruleset):
        from rpgres.engine.contract import check_repeats

        def again(dealer: GivenDealer, players: Seats) -> Run:
            return play(prepared, dealer=dealer, players=players)[1]

        step = by.get("step", 0)
        check_repeats(prepared, done.events, play=again, streams=by["streams"], step=step, waits_for=waits_for)


def result_of(prepared: Prepared, by: Answering, outcome: Outcome, done: Run, unused: list[AnswerRecord]) -> Result:
    """Return the record of how an action ended."""
    return record_of(
        prepared.rules,
        done.events,
        outcome,
        action=prepared.action,
        variant=prepared.arguments.get("variant"),
        actor=prepared.actor,
        inputs=prepared.inputs,
        effects=(*done.applied, *outcome.effects),
        seed=by["streams"].seed,
        note=by.get("note"),
        rules=identity_of(by, prepared.rules),
        unused=unused,
        single=done.single,
    )


def _unused(run: Run, seats: Seats, *, is_over: bool = True) -> list[AnswerRecord]:
    """Return the scripted answers that no question took; conditional ones are no error.

    Args:
        is_over: whether the run has ended; before that an answer may still be for a later question of its label.
    """
    unused = []
    for answer in _left(seats):
        if seats.script.take_single(answer.label, answer.who, answer.value):
            continue
        question = run.skipped.get(answer.label)
        is_named = question is not None and question.options and all(one is not question for one in seats.script.single)
        if question is None or is_named or (answer.who and answer.who != question.who):
            unused.append(answer)
            continue
        value = for_every(answer.value, question) or answer.value
        only = question.options[0].name if question.options else NO
        if not is_over and question.options:
            continue
        if value != NO and only not in (value, slug(value)):
            raise refusal(question, value)
    return unused


def _left(seats: Seats, *, is_over: bool = True) -> Iterator[AnswerRecord]:
    """Yield what is left of a script; see `Script.unused`."""
    for key, value in seats.unused(is_over=is_over):
        who, _, label = key.rpartition(":")
        yield AnswerRecord(label, "decision", value, who)
