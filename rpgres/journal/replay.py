"""Actions, and beginnings and ends of periods, at a persistent table: run again from the start at each answer.

Nothing half done is in the state: an action that waits is run anew on its recorded answers when the next one comes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import Given, GivenByLabel, GivenDealer, Hand, NoDealer, SeededDealer, TapedDealer
from rpgres.engine.decisions import claim
from rpgres.engine.labels import check_labels
from rpgres.engine.periods import request, turn
from rpgres.engine.players import OrdersPolicy, Policy, Prompt, Question, View, policy_of
from rpgres.engine.prepare import Prepared, answers_to, policies_of, prepare
from rpgres.engine.records import Pending, QuestionRecord, Result, record_of
from rpgres.engine.run import play, run
from rpgres.engine.running import Trust
from rpgres.engine.seats import Dropped, Seats
from rpgres.engine.stops import NeedsAnswer, Stop
from rpgres.engine.views import HOST, laid_by, private_in
from rpgres.engine.waiting import Answered, Waits, always, decisions_in, recalling, waiting
from rpgres.errors import RpgresError, UsageError, named
from rpgres.journal.history import History
from rpgres.journal.permissions import claims_in, claims_of
from rpgres.journal.records import Entry, Secret, found_in, kept_sheets, waits_in
from rpgres.lint.paths import Known
from rpgres.model.events import TurnEvent
from rpgres.model.state import EMPTY, GM, Map, State
from rpgres.rulesets import CLAIM, RESERVED, Rules
from rpgres.toml.reading import Source

By = dict[str, list[str]]  # answers by label, those of one label in order


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What is played: an action, the beginning or end of a period, or a request, and the answers there are for it.

    Attributes:
        kind: which of these.
        name: the action, the period, or what is requested in words.
        actor: who acts.
        by: the seat that typed it; empty for the host.
        inputs: what was typed for it.
        sheets: the texts of sheets that are known, by the name that is typed.
        given: results read off real dice, by label, for what is not on the tape.
        said: the results that a player gave with the action, in words, which are claims.
        tape: what was rolled and drawn in earlier runs of it, which stays.
        typed: what of that was read off real dice, by label; None where the seed has answered.
        choose: answers by label, of anybody.
        own: answers by label that are for questions of a seat alone, by seat.
        policies: policy by character or seat; the default under an empty name.
        answered: what was answered so far, in earlier runs of it.
        stops: whether it ends where it would wait for a decision; of a procedure.
        names: whether the seat that typed it is asked for the names of what it makes; by default these have defaults.
    """

    kind: Literal["act", "begin", "end", "request"]
    name: str
    actor: str = ""
    by: str = ""
    inputs: dict[str, Any] = {}
    sheets: Mapping[str, Source] = EMPTY
    given: Mapping[str, Sequence[Given]] = EMPTY
    said: Sequence[str] = ()
    tape: tuple[str, ...] = ()
    typed: GivenByLabel = EMPTY
    choose: By = {}
    own: dict[str, By] = {}
    policies: dict[str, str] = {}
    note: str | None = None
    answered: Answered = EMPTY
    stops: bool = False
    names: bool = False


class Ran(msgspec.Struct, frozen=True):
    """The result of a run.

    Attributes:
        found: its result or the decision it waits for; of one that failed, what had happened by then.
        state: the table after it; the one before it while it waits.
        secret: what is kept of it.
        now: the table as the finished turns of a procedure left it that waits; else as `state`.
        fault: why it failed.
        is_attempt: whether it failed, so that nothing comes of it.
        dropped: answers given in advance that were not possible when they were due.
        dropped_results: the same of results of dice and cards, as LABEL=RESULT.
    """

    found: Result | Pending
    state: State
    secret: Secret
    now: State
    fault: RpgresError | None = None
    is_attempt: bool = False
    dropped: Sequence[Dropped] = ()
    dropped_results: Sequence[str] = ()


def run_of(history: History, entry: Entry) -> Run:
    """Return what an entry ran, with every answer up to where it ended."""
    begun = history.run_of(entry)
    secret, public = entry.secret, begun.public
    return Run(
        kind=begun.kind,  # type: ignore[arg-type]  # only these have answers
        name=begun.name,
        actor=public.actor,
        by=begun.secret.by,
        inputs=begun.secret.inputs,
        sheets={name: Source(*text) for name, text in secret.sheets.items()},
        given=secret.later,
        said=begun.secret.said,
        tape=tuple(secret.tape),
        typed=secret.given,
        choose=secret.choose,
        own=secret.own,
        policies=begun.secret.policies,
        note=begun.secret.note,
        answered=answered_in(found_in(secret)),
        stops=entry.public.stops,
        names=begun.secret.names,
    )


def answered_in(found: Result | Pending | None) -> Answered:
    """Return every decision of a run by label and by who took it, in order."""
    return decisions_in(found.events if found is not None else ())


def run_at(
    rules: Rules,
    history: History,
    asked: Run,
    *,
    step: int,
    seed: str | None = None,
    prompt: Prompt | None = None,
    hand: Hand | None = None,
    by: str = "",
    strict: Container[str] = (),
    is_replay: bool = False,
) -> Ran:
    """Return the result of a run at a table, as far as its answers reach; see `Ran` for one that fails.

    Args:
        history: the table before it; what seats said in advance is heard.
        seed: what all chance is drawn from; that of the table by default.
        hand, by: asks a person of this seat for results; empty for the host and the game master.
        strict: the labels whose impossible results are errors; the seed answers in place of others.
        is_replay: whether nothing but the recorded answers counts.

    Raises:
        UsageError: what was typed for it is impossible, whatever comes of it.
    """
    secret = history.new.secret
    streams = Streams(secret.seed if seed is None else seed, salt=bytes.fromhex(secret.salt))
    seeded = SeededDealer(streams, step=step)
    dealer = TapedDealer(asked.given, then=seeded, tape=asked.tape, typed=asked.typed, hand=hand, by=by, strict=strict)
    passed = {label for label, one in rules.file.labels.items() if one.in_advance}
    waits = (
        always
        if is_replay
        else lambda view, question, _: not (question.label in passed or history.has_passed(view.seat, question.label))
    )
    if asked.kind == "act":
        prepared = _prepared(rules, history, asked)
        asked = msgspec.structs.replace(asked, choose=answers_to(prepared, asked.choose))
        if not is_replay:
            waits = _in_public(
                prepared, waits, dealer=lambda: GivenDealer(dealer.given, then=SeededDealer(streams, step=step))
            )
        policies, played = policies_of(prepared, asked.policies), partial(run, prepared, stops=asked.stops)
    elif asked.kind == "request":
        prepared, policies = None, {}
        played = partial(request, rules, history.state, seat=asked.by, what=asked.name)
    else:
        prepared = None
        policies = {who: policy_of(rules, name) for who, name in asked.policies.items()}
        trust = trust_at(rules, history, asked, history.state)
        played = partial(turn, rules, history.state, period=asked.name, moment=asked.kind, trust=trust)
    players = _players(asked, policies if is_replay else with_orders(rules, history, policies), waits, prompt)
    played = partial(played, streams=streams, step=step, note=asked.note, players=players, dealer=dealer)
    ran = _ran(rules, asked, played, history.state, players, dealer)
    return _of_action(ran, rules, asked, prepared) if prepared is not None else ran


def run_pending(rules: Rules, history: History, pending: Entry, *, stops: bool = False, **how: Any) -> Ran:
    """Return the result of what waits, run once more on its recorded answers.

    Args:
        stops: of a procedure, whether it ends where it waits.
    """
    asked = msgspec.structs.replace(run_of(history, pending), stops=stops)
    return run_at(rules, history, asked, step=history.step(history.run_of(pending)), **how)


def _prepared(rules: Rules, history: History, asked: Run) -> Prepared:
    """Return the action of a run, whose inputs and answers could be given at the table."""
    prepared = prepare(rules, asked.name, asked.inputs, state=history.state, actor=asked.actor, sheets=asked.sheets)
    trust = trust_at(rules, history, asked, history.state)
    if trust is not None and trust.claims and not asked.answered:
        # A rule refuses what was typed before anybody confirms it: it is run up to the first chance or decision.
        with suppress(Stop):
            first = msgspec.structs.replace(prepared, placed=())
            play(first, dealer=NoDealer(lambda *_: Stop()), players=recalling(EMPTY))
    prepared = msgspec.structs.replace(prepared, trust=trust)
    for typed in (asked.choose, *asked.own.values()):
        plain = {label: typed[label] for label in typed if label != CLAIM}
        check_labels(rules, asked.name, given=asked.given, choose=plain)
    for seat, key in ((seat, key) for seat, own in asked.own.items() for key in own if ":" in key):
        who = key.partition(":")[0]
        if who not in history.state.characters or history.state.seat_of(who) != seat:
            raise UsageError(f"{named('choose')} {key}: a seat answers its own questions only; leave out {who!r}")
    return prepared


def _of_action(ran: Ran, rules: Rules, asked: Run, prepared: Prepared) -> Ran:
    """Return the result of a run with what is kept of the inputs of its action."""
    state, now = ran.state, ran.now
    if not asked.actor:  # the actor has no sheet, and does not stay
        state, now = (
            msgspec.structs.replace(one, characters=one.characters.without(prepared.actor)) for one in (state, now)
        )
    sheets = kept_sheets(prepared.sheets)
    laid = laid_by(rules, asked.name, asked.inputs, actor=prepared.actor)
    private = private_in(rules, asked.name, asked.inputs)
    claimed = list(prepared.trust.claims) if prepared.trust is not None else []
    secret = msgspec.structs.replace(ran.secret, sheets=sheets, laid=laid, claimed=claimed, private=private)
    return msgspec.structs.replace(ran, state=state, now=now, secret=secret)


def trust_at(rules: Rules, history: History, asked: Run, state: State) -> Trust | None:
    """Return how claims are treated at a table; None at one that was begun before there were any.

    The host claims nothing, nor does the game master.
    """
    whom = history.new.public.trust
    if not whom:
        return None
    claims: tuple[str, ...] = ()
    if asked.kind == "act" and asked.by not in ("", GM):
        claims = (*claims_of(rules, state, asked.name, asked.inputs, actor=asked.actor), *asked.said)
    return Trust(whom == "gm", asked.by, claims, partial(claims_in, rules), state, claim)


def _players(asked: Run, policies: Mapping[str, Policy], waits: Waits, prompt: Prompt | None) -> Seats:
    return waiting(
        asked.choose,
        waits=waits,
        recalled=asked.answered,
        own=asked.own,
        policies={who: _without_reserved(policy) for who, policy in policies.items()},
        prompt=prompt,
        names=(lambda view: asked.by in ("", view.seat)) if asked.names else None,
    )


def with_orders(rules: Rules, history: History, policies: Mapping[str, Policy]) -> dict[str, Policy]:
    """Return policies with the standing orders of seats, which count where no policy is named for the seat.

    Orders that the rules no longer allow decide nothing, and no message says why: they are their owner's alone.
    """
    found = standing_orders(rules, history, HOST, but=policies)
    return {**policies, **{seat: OrdersPolicy(orders, policies.get("")) for seat, orders in found.items()}}


def standing_orders(rules: Rules, history: History, seat: str | None, *, but: Container[str] = ()) -> dict[str, Policy]:
    """Return the standing orders that a seat may know of, by the seat they decide for; all of them for the host."""
    found: dict[str, Policy] = {}
    for entry in history.orders_of(seat):
        (whose,) = entry.secret.to or ("",)
        if whose in but:
            continue
        from rpgres.engine.deciders import read_orders

        with suppress(RpgresError):
            found[whose] = read_orders(Source(entry.secret.label, entry.secret.text), Known(rules))
    return found


def _without_reserved(policy: Policy) -> Policy:
    """Return a policy that is asked no question of the engine's own: whether a claim counts, a request is allowed."""
    if isinstance(policy, OrdersPolicy):
        return OrdersPolicy(
            partial(_answer_unreserved, policy.orders), _without_reserved(policy.fallback) if policy.fallback else None
        )
    return partial(_answer_unreserved, policy)


def _answer_unreserved(policy: Policy, view: View, question: Question) -> str | Mapping[str, int] | None:
    """Return what a policy answers; a person alone confirms a claim or allows a request."""
    return policy(view, question) if question.label not in RESERVED else None


def _ran(
    rules: Rules,
    asked: Run,
    play_it: Callable[[], tuple[Result | Pending, State]],
    before: State,
    players: Seats,
    dealer: TapedDealer,
) -> Ran:
    is_act, fault, state = asked.kind == "act", None, before
    try:
        found, state = play_it()
    except RpgresError as error:
        if error.run is None:
            raise
        fault = error
        action, actor = (asked.name, asked.actor) if is_act else (None, None)
        found = record_of(rules, error.run.events, action=action, actor=actor, inputs={}, note=asked.note)
    is_over = isinstance(found, Result) and fault is None
    inputs = dict(asked.inputs) if is_act else found.inputs or {asked.kind: asked.name}
    found = msgspec.structs.replace(found, seed=None, inputs=inputs)
    left = [{label: texts for label, texts in script.left.items() if texts} for script in players.scripts]
    own = {script.seat: texts for script, texts in zip(players.scripts[1:], left[1:], strict=True)}
    record = msgspec.to_builtins(found)
    secret = Secret(
        inputs=asked.inputs,
        given=dealer.typed,
        later={label: results for label, results in dealer.later.items() if results},
        said=list(asked.said),
        tape=dealer.tape if isinstance(found, Pending) else [],
        choose=left[0],
        own=own,
        policies=asked.policies,
        note=asked.note,
        names=asked.names,
        result=record if isinstance(found, Result) else None,
        waits=record if isinstance(found, Pending) else None,
        dropped=_dropped_by(players, dealer.dropped),
    )
    now = state if fault is None else before
    is_attempt = fault is not None
    return Ran(found, state if is_over else before, secret, now, fault, is_attempt, players.dropped, dealer.dropped)


def _dropped_by(players: Seats, results: Sequence[str]) -> dict[str, list[str]]:
    """Return the dropped answers by seat, as their owners are told of them; the host is told of dice and cards."""
    found: dict[str, list[str]] = {"": list(results)} if results else {}
    for one in players.dropped:
        found.setdefault(one.seat, []).append(f"{one.label}={one.choice}")
    return found


def is_mid_procedure(history: History) -> bool:
    """Tell whether a procedure waits of which turns are over, so that the table is not as the journal has it."""
    pending = _resumed(history)
    found = found_in(pending.secret) if pending is not None else None
    return found is not None and any(isinstance(event, TurnEvent) for event in found.events)


def _resumed(history: History) -> Entry | None:
    """Return the entry that waits, or that waits again once a request is answered."""
    pending = history.pending
    mark = pending.secret.stands.pending if pending is not None and pending.kind == "request" else None
    return history.entries[mark.number] if mark is not None else pending


def state_now(rules: Rules, history: History) -> State:
    """Return the table as it is now: in the middle of a procedure, as its finished turns left it.

    What a turn changes is in the journal's state only once the procedure is over, since an undo takes back all of it.

    Raises:
        RpgresError: the rules have changed, and what waits cannot be run any more.
    """
    pending = _resumed(history)
    if pending is None or not is_mid_procedure(history):
        return history.state
    return run_pending(rules, history, pending, is_replay=True).now


# ---------------------------------------------------------------------------------------------------------------------
# Which optional decisions wait for their owner


def _in_public(prepared: Prepared, further: Waits, *, dealer: Callable[[], GivenDealer]) -> Waits:
    """Return what makes a decision wait only where anybody could know that it is asked.

    Waiting can be seen. So a decision that only something hidden opens is skipped, unless its owner answered
    beforehand: the run is repeated as it would be without what is hidden, and where that asks the same, it waits.
    """
    public = in_public(prepared.state)
    if public is prepared.state:
        return further
    prepared = msgspec.structs.replace(prepared, state=public)

    def waits(view: View, question: Question, answered: Answered) -> bool:
        if not further(view, question, answered):
            return False
        try:
            play(prepared, dealer=dealer(), players=recalling(answered))
        except NeedsAnswer as needs:
            asked = (needs.question, *needs.together)
            return (question.label, question.who) in [(one.label, one.who) for one in asked]
        except RpgresError:
            return False
        return False

    return waits


def in_public(state: State) -> State:
    """Return a state without the tags, tracks and things that not everybody may know of; the same where none is."""
    if not state.audiences and all(tag.audience is None for tag in state.tags):
        return state
    hidden = state.audiences
    return msgspec.structs.replace(
        state,
        tags=tuple(tag for tag in state.tags if tag.audience is None),
        tracks=Map({name: boxes for name, boxes in state.tracks.items() if name not in hidden}),
        things=Map({name: thing for name, thing in state.things.items() if name not in hidden}),
        audiences=EMPTY,
    )


def questions_of(pending: Pending) -> list[QuestionRecord]:
    """Return everything that is asked; several people may be asked together."""
    return [pending.question, *pending.together]


def asked_of(state: State, pending: Pending, seat: str | None) -> QuestionRecord | None:
    """Return what a seat is asked, the first question for the host; None where nothing is."""
    return next((one for one in questions_of(pending) if seat is None or state.seat_of(one.who) == seat), None)


def put_to(history: History, seat: str | None) -> QuestionRecord | None:
    """Return what a seat is asked now, the first question for the host; None where nothing is."""
    waits = waits_in(history.pending.secret) if history.pending is not None else None
    return asked_of(history.state, waits, seat) if waits is not None else None
