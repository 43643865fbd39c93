"""Actions, beginnings and ends at a table that lasts: run by `actions` and `periods`, again whenever somebody answers.

Nothing half done is in the state: an action that waits is run anew on its recorded answers when the next one comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from rpgres.actions import (
    Pending,
    Prepared,
    QuestionRecord,
    Result,
    answers_to,
    check_labels,
    play,
    policies_of,
    policy_of,
    prepare,
    run,
)
from rpgres.chance import Streams
from rpgres.dealers import GivenDealer, SeededDealer
from rpgres.errors import RpgresError, UsageError
from rpgres.journal.records import Entry, History, Secret, found_in
from rpgres.journal.saying import laid_by
from rpgres.periods import turn
from rpgres.players import Answer, Policy, Prompt, Question, View
from rpgres.rulesets import Rules
from rpgres.state import EMPTY, Map, State
from rpgres.table import NeedsAnswer
from rpgres.tomlfiles import Source
from rpgres.waiting import Answered, Asked, Recalled, Waiting, Waits, always

By = dict[str, list[str]]  # answers by label, those of one label in order


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What is played: an action, or the beginning or end of a period, and the answers there are for it.

    Attributes:
        kind: which of the three.
        name: the action, or the period.
        actor: who acts.
        inputs: what was typed for it.
        sheets: the texts of sheets that are known, by the name that is typed.
        given: results read off real dice, by label.
        choose: answers by label, of anybody.
        own: answers by label that are for questions of a seat alone, by seat.
        policies: policy by character or seat; everybody's under an empty name.
        note: carried into the result.
        answered: what was answered so far, in earlier runs of it.
        spare: the labels of results that were given earlier, and need not be asked for any more.
    """

    kind: Literal["act", "begin", "end"]
    name: str
    actor: str = ""
    inputs: dict[str, Any] = {}
    sheets: Mapping[str, Source] = EMPTY
    given: By = {}
    choose: By = {}
    own: dict[str, By] = {}
    policies: dict[str, str] = {}
    note: str | None = None
    answered: Answered = EMPTY
    spare: tuple[str, ...] = ()


class Ran(msgspec.Struct, frozen=True):
    """What came of a run: its result or the decision it waits for, the state after it, and what is kept of it."""

    found: Result | Pending
    state: State
    secret: Secret


def run_of(history: History, entry: Entry) -> Run:
    """Return what an entry ran, with every answer up to where it ended."""
    begun = history.run_of(entry)
    secret, public = entry.secret, begun.public
    is_act = begun.kind == "act"
    return Run(
        kind="act" if is_act else "begin" if begun.kind == "begin" else "end",
        name=public.action if is_act else public.period,
        actor=public.actor,
        inputs=begun.secret.inputs,
        sheets={name: Source(*text) for name, text in secret.sheets.items()},
        given=secret.given,
        choose=secret.choose,
        own=secret.own,
        policies=begun.secret.policies,
        note=begun.secret.note,
        answered=answered_in(found_in(secret)),
    )


def answered_in(found: Result | Pending | None) -> Answered:
    """Return every decision of a run by label and by who took it, in order."""
    answered: dict[Asked, list[Answer]] = {}
    for event in found.events if found is not None else ():
        if event["event"] == "decision":
            answer = Answer(event["answer"], event["means"])
            answered.setdefault((event["label"], event["who"]), []).append(answer)
    return answered


def given_so_far(found: Result | Pending, given: Mapping[str, Sequence[str]]) -> By:
    """Return those of given results that a run has asked for."""
    asked = [answer.label for answer in found.answers if answer.kind == "chance"]
    used = {label: list(results[: asked.count(label)]) for label, results in given.items()}
    return {label: results for label, results in used.items() if results}


def run_at(
    rules: Rules,
    history: History,
    asked: Run,
    *,
    seed: str,
    step: int,
    prompt: Prompt | None = None,
    is_replay: bool = False,
) -> Ran:
    """Return what comes of a run at a table, as far as the answers there are reach.

    Args:
        rules: the ruleset in play.
        history: the table before it; what seats said in advance is heard.
        asked: what is played.
        seed: what all chance is drawn from.
        step: the number under which it is drawn.
        prompt: asks a person what nobody else answers.
        is_replay: whether nothing but the recorded answers counts.

    Raises:
        UsageError: an input or an answer is impossible.
        RuleError: the ruleset's code failed.
    """
    streams = Streams(seed, salt=bytes.fromhex(history.new.secret.salt))
    if asked.kind != "act":
        policies = {who: policy_of(rules, name) for who, name in asked.policies.items()}
        players = _players(asked, policies, always if is_replay else _by_passes(history), prompt)
        found, state = turn(
            rules,
            history.state,
            period=asked.name,
            moment=asked.kind,
            streams=streams,
            step=step,
            given=asked.given,
            note=asked.note,
            players=players,
            spare=asked.spare,
        )
        return _ran(asked, found, state if isinstance(found, Result) else history.state, players)
    prepared = prepare(rules, asked.name, asked.inputs, state=history.state, actor=asked.actor, sheets=asked.sheets)
    for typed in (asked.choose, *asked.own.values()):
        check_labels(rules, asked.name, given=EMPTY, choose=typed)
    for key in (key for own in asked.own.values() for key in own if ":" in key):
        raise UsageError(f"--choose {key}: a seat answers its own questions only; leave out {key.partition(':')[0]!r}")
    asked = msgspec.structs.replace(asked, choose=answers_to(prepared, asked.choose))
    waits = (
        always
        if is_replay
        else _in_public(prepared, _by_passes(history), streams=streams, step=step, given=asked.given)
    )
    players = _players(asked, policies_of(prepared, asked.policies), waits, prompt)
    found, state = run(
        prepared,
        streams=streams,
        step=step,
        given=asked.given,
        note=asked.note,
        players=players,
        spare=asked.spare,
    )
    ran = _ran(asked, found, state if isinstance(found, Result) else history.state, players)
    sheets = {name: (_base(source.path), source.text) for name, source in prepared.sheets.items()}
    laid = laid_by(rules, asked.name, asked.inputs, actor=prepared.actor)
    return msgspec.structs.replace(ran, secret=msgspec.structs.replace(ran.secret, sheets=sheets, laid=laid))


def _base(path: str) -> str:
    """Return the name of a file without its folders, which are the host's own matter."""
    return path.replace("\\", "/").rpartition("/")[2]


def _players(asked: Run, policies: Mapping[str, Policy], waits: Waits, prompt: Prompt | None) -> Waiting:
    return Waiting(asked.choose, waits=waits, recalled=asked.answered, own=asked.own, policies=policies, prompt=prompt)


def _ran(asked: Run, found: Result | Pending, state: State, players: Waiting) -> Ran:
    found = msgspec.structs.replace(
        found, seed=None, inputs=dict(asked.inputs) if asked.kind == "act" else found.inputs
    )
    choose, own = players.left()
    record = msgspec.to_builtins(found)
    secret = Secret(
        inputs=asked.inputs,
        given=asked.given if isinstance(found, Pending) else given_so_far(found, asked.given),
        choose=choose,
        own=own,
        policies=asked.policies,
        note=asked.note,
        result=record if isinstance(found, Result) else None,
        waits=record if isinstance(found, Pending) else None,
    )
    return Ran(found, state, secret)


# ---------------------------------------------------------------------------------------------------------------------
# Which optional moments wait for their owner


def _by_passes(history: History) -> Waits:
    def waits(view: View, question: Question, answered: Answered) -> bool:
        return not history.has_passed(view.seat, question.label)

    return waits


def _in_public(prepared: Prepared, further: Waits, *, streams: Streams, step: int, given: By) -> Waits:
    """Return what makes a moment wait only where anybody could know that it has come.

    Waiting can be seen. So a moment that only something hidden opens passes, unless its owner answered beforehand: the
    run is repeated as it would be without what is hidden, and where that asks the same of the same, it waits.
    """
    public = in_public(prepared.state)
    if public is prepared.state:
        return further
    prepared = msgspec.structs.replace(prepared, state=public)

    def waits(view: View, question: Question, answered: Answered) -> bool:
        if not further(view, question, answered):
            return False
        try:
            dealer = GivenDealer(given, then=SeededDealer(streams, step=step))
            play(prepared, dealer=dealer, players=Recalled(answered))
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
