"""Answers of a player elsewhere, checked against their view as the table itself would check them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from rpgres.engine.dealers import GivenDealer, NoDealer
from rpgres.engine.decisions import accepted
from rpgres.engine.labels import check_labels
from rpgres.engine.players import NO, Question
from rpgres.engine.prepare import prepare
from rpgres.engine.records import Pending, QuestionRecord
from rpgres.engine.run import play
from rpgres.engine.stops import NeedsAnswer, Stop
from rpgres.engine.waiting import recalling
from rpgres.errors import RpgresError, UsageError, named
from rpgres.journal.commitments import SealFile, sealed
from rpgres.journal.forms import AnswerFile, RunEntry, ViewRecord
from rpgres.journal.keys import with_mac
from rpgres.journal.permissions import check_given
from rpgres.journal.records import drawn_in
from rpgres.journal.replay import answered_in
from rpgres.model.events import DecisionEvent, DrawEvent, RollEvent, TurnEvent
from rpgres.model.serialization import read_state
from rpgres.model.state import EMPTY, FACE_DOWN, State
from rpgres.rulesets import CLAIM, Option, Rules
from rpgres.toml.diagnostics import nearest

ANSWERS = (DecisionEvent, DrawEvent, RollEvent)  # events that answers leave


def answer_for(
    rules: Rules | None,
    view: ViewRecord,
    *,
    choose: Mapping[str, Sequence[str]],
    given: Mapping[str, Sequence[str]] = EMPTY,
) -> AnswerFile:
    """Return the answer to what a view asks.

    Args:
        rules: the rules that are played; without them an answer that is no listed option is not checked.
        choose: the choice, by label; further ones are for what may be asked after it.

    Raises:
        UsageError: the view asks nothing of its seat, or the table would refuse the answer.
    """
    asked = asked_in(view)
    chosen = choose.get(asked.typed) or choose.get(asked.label)
    if not chosen:
        near = nearest(asked.label, choose)
        hint = f", not {near!r}" if near else ""
        raise UsageError(f"{asked.label!r} is asked{hint}: {named('choose')} {asked.label}=OPTION")
    _check(rules, view, asked, chosen[0])
    if rules is not None:
        action = view.table.pending.action if view.table.pending is not None else ""
        if action:
            check_labels(rules, action, given=given, choose={one: choose[one] for one in choose if one != CLAIM})
        check_given(rules, read_state(view.table.state), given, seat=view.seat)
    answer = AnswerFile(
        seat=view.seat,
        entry=entry_of(view),
        choose={label: list(answers) for label, answers in choose.items()},
        given={label: list(answers) for label, answers in given.items()},
    )
    return with_mac(answer, view.key)


def seal_for(rules: Rules | None, view: ViewRecord, label: str, answer: str, *, salt: bytes) -> SealFile:
    """Return a sealed answer to what a view asks.

    Args:
        rules, view: as for `answer_for`.
        salt: `SALT` random bytes, never used twice.

    Raises:
        UsageError: the view asks nothing of its seat, or the table would refuse the answer.
    """
    asked = asked_in(view)
    if label != asked.label:
        raise UsageError(f"{view.seat} is asked {asked.label!r}, not {label!r}")
    _check(rules, view, asked, answer)
    return sealed(label, answer, salt=salt, seat=view.seat, entry=entry_of(view))


def asked_in(view: ViewRecord) -> QuestionRecord:
    """Return the question that a view asks its seat.

    Raises:
        UsageError: it asks none.
    """
    question = view.table.pending.question if view.table.pending is not None else None
    if question is None or not question.label:
        raise UsageError(f"this view has no question for {view.seat}; a newer one may have")
    return question


def entry_of(view: ViewRecord) -> str:
    """Return the hash of the entry that a view waits at."""
    waiting = [one for one in view.log if isinstance(one, RunEntry) and one.pending is not None and not one.undone]
    return waiting[-1].hash if waiting else ""


def unchecked(rules: Rules | None, view: ViewRecord, choose: Mapping[str, Sequence[str]]) -> list[str]:
    """Return which answers to a view nothing here has checked, and why.

    Listed options always are checked, words of one's own where the rule can be brought to the question.
    """
    asked = asked_in(view)
    found = list[str]()
    for label, choices in choose.items():
        is_asked = label in (asked.label, asked.typed)
        for choice in choices[int(is_asked) :]:
            found.append(f"{label}={choice} (asked later, if at all)")
        is_listed = not asked.form or choices[0] in (NO, *(option.name for option in asked.options))
        if is_asked and not is_listed and (rules is None or _question(rules, view, asked) is None):
            found.append(
                f"{label}={choices[0]} (in words of your own, and {label} goes by what {view.seat} cannot see)"
            )
    return found


def _check(rules: Rules | None, view: ViewRecord, asked: QuestionRecord, choice: str) -> None:
    """Check an answer as the table would."""
    found = _question(rules, view, asked) if rules is not None else None
    if found is None:
        options = tuple(Option(one.name, one.text) for one in asked.options)
        reads = str if asked.form else None
        found = Question(asked.label, asked.who, options, asked.text, optional=asked.optional, reads=reads)
    if choice != NO or not asked.optional:
        accepted(found, choice)


def _question(rules: Rules, view: ViewRecord, asked: QuestionRecord) -> Question | None:
    """Return the question of a view as the rule asks it; None where the rule cannot be brought to it.

    The rule is run on what the view tells; in a procedure whose first turns are over, from before these, else with the
    table as they left it and what this turn has had. The question is the same only if it looks the same.
    """
    pending, state = view.table.pending, read_state(view.table.state)
    assert pending is not None
    if not pending.action:
        return None
    starts = [(state, pending)]
    if view.began is not None:
        starts = [(read_state(view.began), pending), (state, _of_this_turn(pending))]
    for start, known in starts:
        for question in _asked_by(rules, known, start):
            names = [option.name for option in question.offered]
            same = (question.label, question.who, question.form) == (asked.label, asked.who, asked.form)
            if same and names == [option.name for option in asked.options]:
                return question
    return None


def _of_this_turn(pending: Pending) -> Pending:
    """Return the pending decision with the events and answers of the current turn of a procedure alone."""
    turns = [place for place, event in enumerate(pending.events, 1) if isinstance(event, TurnEvent)]
    later = pending.events[turns[-1] :] if turns else []
    count = sum(isinstance(event, ANSWERS) and getattr(event, "card", "") != FACE_DOWN for event in later)
    return msgspec.structs.replace(pending, events=later, answers=pending.answers[len(pending.answers) - count :])


def _asked_by(rules: Rules, pending: Pending, state: State) -> tuple[Question, ...]:
    """Return what a rule asks when it is run on what is known of its answers; nothing where that does not reach."""
    dealer = GivenDealer(drawn_in(pending), then=NoDealer(lambda *_: Stop()))
    players = recalling(answered_in(pending))
    try:
        prepared = prepare(rules, pending.action, pending.inputs, state=state, actor=pending.actor)
        play(prepared, dealer=dealer, players=players)
    except NeedsAnswer as needs:
        return needs.question, *needs.together
    except (RpgresError, Stop):
        pass
    return ()
