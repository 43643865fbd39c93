"""Results and errors as records: the JSON of the command line, and what a journal stores."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from rpgres.engine.events import Decided, Drawn, Event, Moved, Rolled, Told, Turned, seen
from rpgres.engine.outcomes import Outcome
from rpgres.engine.players import Question
from rpgres.engine.stops import NeedsAnswer
from rpgres.errors import AS_KEYS, InterruptError, RpgresError, UsageError, Wording, readable
from rpgres.model.events import DecisionEvent, DrawEvent, EventRecord, MoveEvent, RollEvent, TextEvent, TurnEvent
from rpgres.model.printed import Printed
from rpgres.model.state import FACE_DOWN
from rpgres.rulesets import Rules

NO_SEAT = ""  # the name of no seat


class AnswerRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer of a run, in order: what was rolled (`chance`) or decided (`decision`) under a label.

    Attributes:
        label: the name under which the rule asked.
        kind: chance for dice, decision for a player's choice.
        value: the dice as `--given` takes them, or the option chosen.
        who: whose it is, where it has to be repeated as WHO:LABEL.
    """

    label: str
    kind: Literal["chance", "decision"]
    value: str
    who: str = ""

    @property
    def key(self) -> str:
        """The name under which it is given or chosen."""
        return f"{self.who}:{self.label}" if self.who else self.label


class Result(Printed, frozen=True, kw_only=True, tag="rpgres.result/1"):
    """How an action ended, as `rpgres roll --json` prints it.

    Dice that are rolled without a ruleset give the same record: `total` is their value; ruleset, action, actor and
    outcome are null. `also` is another outcome that this one is as well, null for most.

    Attributes:
        ruleset: the ruleset's id.
        rules: what names the rules exactly: version, hash of data, overlays in use.
        action: the action's name.
        variant: the action's variant, if it has any.
        actor: who acts.
        inputs: what was typed, by parameter.
        answers: everything rolled and decided, in order; enough to run it again.
        outcome: the band of the outcome.
        also: the band that this one is as well, with everything that one has; null for most.
        success: whether the band is a success; null where it is neither.
        margin: total less opposition; null when nothing opposed the action.
        total: what the acting side came to.
        opposition: what it was up against.
        effects: what the outcome changes, in order.
        texts: what the outcome means, in words.
        events: what happened at the table, in order, as far as the reader may see it.
        switches: every house rule and the choice in force.
        seed: where the dice came from; null while it is secret.
        unused: answers that no question took.
        note: the text of --note.
        details: what the ruleset adds of its own.
    """

    ruleset: str | None
    rules: dict[str, Any]
    action: str | None
    variant: str | None = None
    actor: str | None
    inputs: dict[str, Any]
    answers: list[AnswerRecord]
    outcome: str | None
    also: str | None = None
    success: bool | None
    margin: int | None
    total: int | None
    opposition: int | None
    effects: list[dict[str, Any]]
    texts: list[str]
    events: list[EventRecord]
    switches: dict[str, str]
    seed: str | None
    unused: list[AnswerRecord] = []
    note: str | None = None
    details: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if not all(isinstance(effect.get("kind"), str) for effect in self.effects):
            raise ValueError("an effect has no kind")


class OptionRecord(msgspec.Struct, frozen=True):
    """One answer that a question offers.

    Attributes:
        name: the answer as typed.
        text: what it means.
    """

    name: str
    text: str


class QuestionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A question that waits for its owner.

    Attributes:
        label: the name under which it is answered: --choose LABEL=OPTION.
        who: who has to answer.
        text: the question as put to a person.
        options: what may be answered, and what it means.
        facts: what the decision is about.
        optional: whether `no` may be answered too, which skips the question.
        form: how an answer beyond the options is typed, where there are too many to list.
        words: what it is about, for people, where the facts do not say it well.
        of: whose matter it is, where another player decides.
        passing: the option that skips the question, as `no` does; empty where there is none.
        key: the name under which it is answered where that is WHO:LABEL; empty where it is the label.
    """

    label: str
    who: str
    text: str
    options: list[OptionRecord]
    facts: dict[str, Any] = {}
    optional: bool = False
    form: str = ""
    words: str = ""
    of: str = ""
    key: str = ""
    passing: str = ""

    @property
    def names(self) -> list[str]:
        """What may be answered, as far as it can be listed: the options, and `no` where the question may be skipped."""
        listed = [option.name for option in self.options]
        return [*listed, "no"] if self.optional and "no" not in listed else listed

    @property
    def typed(self) -> str:
        """What stands before the `=` of an answer."""
        return self.key or self.label


class Pending(Printed, frozen=True, kw_only=True, tag="rpgres.pending/1"):
    """An action that waits for a decision, as `rpgres roll --json` prints it with exit code 3.

    Attributes:
        ruleset: the ruleset's id.
        action: the action's name.
        actor: who acts.
        inputs: what was typed, by parameter.
        answers: everything rolled and decided so far, in order.
        events: what happened at the table so far.
        question: the decision that is waited for.
        together: further questions that are asked at the same time, of others; answered in any order.
        switches: every house rule and the choice in force.
        seed: where the dice came from; null while it is secret.
        resume: the command line that continues the same run; the library leaves it empty.
        unused: answers that no question took so far.
        note: the text of --note.
    """

    ruleset: str
    action: str
    actor: str
    inputs: dict[str, Any]
    answers: list[AnswerRecord]
    events: list[EventRecord]
    question: QuestionRecord
    together: list[QuestionRecord] = []
    switches: dict[str, str]
    seed: str | None
    resume: str = ""
    unused: list[AnswerRecord] = []
    note: str | None = None


NO_OUTCOME = Outcome("")


def record_of(
    rules: Rules,
    events: Sequence[Event],
    outcome: Outcome = NO_OUTCOME,
    /,
    *,
    effects: Iterable[Mapping[str, Any]] = (),
    single: Container[str] = (),
    **fields: Any,
) -> Result:
    """Return the record of a finished run, with nothing left out.

    Args:
        outcome: its outcome; none for the beginning or end of a period, and where an attempt failed.
        effects: all that it changed.
        single: the labels of answers that have to name their owner.
        fields: further fields of `Result`: `inputs`, and those of whatever was run.
    """
    band = outcome.band
    return Result(
        **{"rules": {"version": rules.file.version}, "action": None, "actor": None, "seed": None, **fields},
        ruleset=rules.id,
        answers=list(answers_of(events, single=single)),
        outcome=band or None,
        also=(band and rules.file.bands[band].also) or None,
        success=outcome.success,
        margin=outcome.margin,
        total=outcome.total,
        opposition=outcome.opposition,
        effects=[dict(effect) for effect in effects],
        texts=list(outcome.texts),
        events=[event_record(event) for event in events],
        switches=rules.chosen,
        details=dict(outcome.details),
    )


def pending_of(rules: Rules, needs: NeedsAnswer, /, *, single: Container[str] = (), **fields: Any) -> Pending:
    """Return the record of a pending decision.

    Args:
        single, fields: as of `record_of`.
    """
    events, asked = needs.run.events, _record_of(needs.question)
    if asked.label in single:
        asked = msgspec.structs.replace(asked, key=f"{asked.who}:{asked.label}")
    return Pending(
        **fields,
        ruleset=rules.id,
        answers=list(answers_of(events, single=single)),
        events=[event_record(event) for event in events],
        question=asked,
        together=[_record_of(question) for question in needs.together],
        switches=rules.chosen,
    )


def _record_of(question: Question) -> QuestionRecord:
    return QuestionRecord(
        label=question.label,
        who=question.who,
        text=question.text,
        options=[OptionRecord(option.name, option.text) for option in question.offered],
        facts={key: value for key, value in question.facts.items() if isinstance(value, int | str)},
        optional=question.optional,
        form=question.form,
        passing=question.passing.name if question.passing is not None else "",
        words=question.words,
        of=question.of,
    )


def answers_of(events: Iterable[Event | EventRecord], *, single: Container[str] = ()) -> Iterator[AnswerRecord]:
    """Yield the answer that each event gave to a question, in order; under `single` labels with whose it is.

    A seat that sees an event sees its answer.
    """
    for event in events:
        match event:
            case Rolled(throw=throw) if event.dice.pools:  # a pool that came to no dice was no question
                yield AnswerRecord(event.label, "chance", throw.text)
            case RollEvent() if event.faces:
                yield AnswerRecord(event.label, "chance", event.faces)
            case Drawn() | DrawEvent() if event.card != FACE_DOWN:
                yield AnswerRecord(event.label, "chance", event.card)
            case Decided() | DecisionEvent():
                who = event.who if event.label in single else ""
                yield AnswerRecord(event.label, "decision", event.answer, who)


def scripts_of(answers: Iterable[AnswerRecord]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the results of chance, and the decisions, of a run as they are given to another: by key, in order."""
    given, choose = dict[str, list[str]](), dict[str, list[str]]()
    for answer in answers:
        (given if answer.kind == "chance" else choose).setdefault(answer.key, []).append(answer.value)
    return given, choose


def event_record(event: Event) -> EventRecord:
    """Return an event as the JSON has it, with everything for the seats that may see it."""
    audience = None if event.audience is None else list(event.audience)
    match event:
        case Rolled():
            dice, faces = event.dice.text, event.throw.text
            return RollEvent(event.label, event.by, dice, faces, event.value, event.words, audience=audience)
        case Decided():
            label, who, answer, text = event.label, event.who, event.answer, event.text
            return DecisionEvent(label, who, answer, text, event.means, event.of, audience=audience)
        case Told():
            return TextEvent(event.text, audience=audience)
        case Drawn():
            others = _for_others(event)
            label, by, card = event.label, event.by, event.card
            return DrawEvent(label, by, card, event.source, event.target, others, audience=audience)
        case Moved():
            cards, by, label = list(event.cards), event.by, event.label
            return MoveEvent(cards, by, label, event.source, event.target, _for_others(event), audience=audience)
        case Turned():
            return TurnEvent(
                turn=event.number,
                by=event.by,
                action=event.action,
                outcome=event.band or None,
                success=event.success,
                margin=event.margin,
                total=event.total,
                opposition=event.opposition,
                effects=[dict(effect) for effect in event.effects],
                texts=list(event.texts),
                sums=list(event.sums),
                audience=audience,
            )


def _for_others(event: Drawn | Moved) -> Any:
    """Return the event of hidden cards as other seats see it."""
    public = seen(event, NO_SEAT)
    return event_record(public) if event.audience is not None and public is not None else None


# ---------------------------------------------------------------------------------------------------------------------
# Errors

ERROR = "rpgres.error/1"  # the format of an error in JSON


class ErrorRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="format", tag=ERROR):
    """What went wrong. With --json a command prints it on standard error.

    Attributes:
        code: the kind of error, which never changes with its text.
        message: what is wrong, where, and what to try.
        exit: the exit code: 2 when what was typed is wrong, 3 when a decision is needed first, 130 when somebody
            stopped the work, else 1.
        details: the same as data, such as file, line and key.
    """

    code: Annotated[str, msgspec.Meta(pattern="^[a-z]+(-[a-z]+)*$")]
    message: Annotated[str, msgspec.Meta(min_length=1)]
    exit: Literal[1, 2, 3, 130]
    details: dict[str, Any]


def error_record(error: BaseException, *, wording: Wording = AS_KEYS) -> dict[str, Any]:
    """Return an error as plain data for JSON: format, code, message, exit (the exit code of a command), details.

    Where an input is at fault, `details` has its `path`, and with some faults their `reason`. What is none of rpgres'
    own errors has the code `internal`: a fault of rpgres, or of a plugin's code.

    Args:
        wording: how the reader of the message types what it names.
    """
    if isinstance(error, RpgresError):
        code, message, details = error.code, readable(error.raw, wording), dict(error.details)
        if error.path:
            details["path"] = list(error.path)
        if error.reason:
            details["reason"] = error.reason
    else:
        code, message = "internal", f"rpgres failed unexpectedly: {type(error).__name__}: {error}"
        details = {"type": type(error).__name__}
    found = ErrorRecord(code=code, message=message, exit=exit_code(error), details=plain_data(details))
    record: dict[str, Any] = msgspec.to_builtins(found)
    return record


def exit_code(error: BaseException) -> Literal[1, 2, 3, 130]:
    """Return the exit code of a command that ends with an error.

    2 when what was typed is wrong, 3 when a decision is needed first, 130 when somebody stopped the work, 1 otherwise.
    """
    if isinstance(error, UsageError):
        return 3 if error.code == "needs-policy" else 2
    return 130 if isinstance(error, InterruptError) else 1


def plain_data(value: Any) -> Any:
    """Return a value as plain data for JSON."""
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_as_builtin)


def _as_builtin(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
