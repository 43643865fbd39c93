"""What comes of a run as records: the JSON of the command line, and what a journal keeps. Nothing here plays."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from rpgres.engine.players import Question
from rpgres.engine.running import Decided, Drawn, Event, Moved, NeedsAnswer, Rolled, Told, seen
from rpgres.model.state import EMPTY
from rpgres.rulesets import Rules
from rpgres.version import __version__

NOBODY = ""  # a seat that nobody has


class AnswerRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer of a run, in order: what was rolled (`chance`) or decided (`decision`) under a label.

    `who` is set where it takes `WHO:LABEL` to repeat it: where the label was also that of a single option.
    """

    label: str
    kind: Literal["chance", "decision"]
    value: str
    who: str = ""

    @property
    def key(self) -> str:
        """The name under which it is given or chosen."""
        return f"{self.who}:{self.label}" if self.who else self.label


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """How an action ended, as `rpgres roll --json` prints it.

    Dice that are rolled without a ruleset give the same record: `total` is their value; ruleset, action, actor and
    outcome are null. `also` is another outcome that this one is as well, null for most.
    """

    format: Literal["rpgres.result/1"] = "rpgres.result/1"
    version: str
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
    events: list[dict[str, Any]]
    switches: dict[str, str]
    seed: str | None
    unused: list[AnswerRecord] = []
    note: str | None = None
    details: dict[str, Any] = {}


class QuestionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A question that waits for its owner; `key` is what it is answered by where that is not the label.

    `passing` is the option that lets an optional one pass, as `no` does, where the rule has such an option.
    """

    label: str
    who: str
    text: str
    options: list[dict[str, str]]
    facts: dict[str, Any] = {}
    optional: bool = False
    passing: str = ""
    form: str = ""
    words: str = ""
    of: str = ""
    key: str = ""

    @property
    def typed(self) -> str:
        """What stands before the `=` of an answer."""
        return self.key or self.label


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """An action that waits for a decision, as `rpgres roll --json` prints it with exit code 3."""

    format: Literal["rpgres.pending/1"] = "rpgres.pending/1"
    version: str
    ruleset: str
    action: str
    actor: str
    inputs: dict[str, Any]
    answers: list[AnswerRecord]
    events: list[dict[str, Any]]
    question: QuestionRecord
    together: list[QuestionRecord] = []
    switches: dict[str, str]
    seed: str | None
    resume: str
    unused: list[AnswerRecord] = []
    note: str | None = None


def bare_result(
    rules: Rules,
    events: Iterable[Event],
    *,
    action: str | None = None,
    actor: str | None = None,
    inputs: dict[str, Any],
    effects: Iterable[Mapping[str, Any]] = (),
    seed: str | None = None,
    note: str | None = None,
    identity: dict[str, Any] = EMPTY,
) -> Result:
    """Return the record of what has no outcome: the beginning or end of a period, an attempt that failed."""
    return Result(
        version=__version__,
        ruleset=rules.id,
        rules=dict(identity) or {"version": rules.file.version},
        action=action,
        actor=actor,
        inputs=inputs,
        answers=list(answers_of(events)),
        outcome=None,
        success=None,
        margin=None,
        total=None,
        opposition=None,
        effects=[dict(effect) for effect in effects],
        texts=[],
        events=[event_record(event) for event in events],
        switches=rules.chosen,
        seed=seed,
        note=note,
    )


def pending_of(
    rules: Rules,
    needs: NeedsAnswer,
    *,
    action: str,
    actor: str,
    inputs: dict[str, Any],
    seed: str,
    note: str | None,
) -> Pending:
    """Return the record of what waits for a decision, without the command line that resumes it."""
    events = needs.run.events
    return Pending(
        version=__version__,
        ruleset=rules.id,
        action=action,
        actor=actor,
        inputs=inputs,
        answers=list(answers_of(events)),
        events=[event_record(event) for event in events],
        question=_record_of(needs.question),
        together=[_record_of(question) for question in needs.together],
        switches=rules.chosen,
        seed=seed,
        resume="",
        note=note,
    )


def _record_of(question: Question) -> QuestionRecord:
    return QuestionRecord(
        label=question.label,
        who=question.who,
        text=question.text,
        options=[{"name": option.name, "text": option.text} for option in question.offered],
        passing=question.passing.name if question.passing is not None else "",
        facts={key: value for key, value in question.facts.items() if isinstance(value, int | str)},
        optional=question.optional,
        form=question.form,
        words=question.words,
        of=question.of,
    )


def answers_of(events: Iterable[Event], *, single: Container[str] = ()) -> Iterator[AnswerRecord]:
    """Yield the answer that each event gave to a question, in order; under `single` labels with whose it is."""
    for event in events:
        if isinstance(event, Rolled):
            if event.dice.pools:  # a pool that came to no dice was no question
                yield AnswerRecord(event.label, "chance", event.throw.text)
        elif isinstance(event, Decided):
            who = event.who if event.label in single else ""
            yield AnswerRecord(event.label, "decision", event.answer, who)
        elif isinstance(event, Drawn):
            yield AnswerRecord(event.label, "chance", event.card)


def event_record(event: Event) -> dict[str, Any]:
    """Return an event as plain data for the JSON; `audience` names who may know of it, when not everybody.

    `others` is what everybody else sees of it, where that is more than nothing.
    """
    record = {**_event_fields(event), **_audience(event)}
    if isinstance(event, Drawn | Moved) and event.audience is not None:
        record["others"] = _event_fields(seen(event, NOBODY) or event)
    return record


def _event_fields(event: Event) -> dict[str, Any]:
    match event:
        case Rolled():
            return {
                "event": "roll",
                "label": event.label,
                "by": event.by,
                "dice": event.dice.text,
                "faces": event.throw.text,
                "value": event.value,
                **({"words": event.words} if event.words else {}),
            }
        case Decided():
            return {
                "event": "decision",
                "label": event.label,
                "who": event.who,
                "answer": event.answer,
                "text": event.text,
                "means": event.means,
                **({"of": event.of} if event.of else {}),
            }
        case Told():
            return {"event": "text", "text": event.text}
        case Drawn():
            return {
                "event": "draw",
                "label": event.label,
                "by": event.by,
                "card": event.card,
                "from": event.source,
                "to": event.target,
            }
        case Moved():
            return {
                "event": "move",
                "cards": list(event.cards),
                "by": event.by,
                "label": event.label,
                "from": event.source,
                "to": event.target,
            }


def _audience(event: Event) -> dict[str, Any]:
    return {} if event.audience is None else {"audience": list(event.audience)}


def resume_command(pending: Pending, *, switches: Mapping[str, str]) -> str:
    """Return the command line that runs a pending action again up to its question, with the place for the answer.

    Every answer so far is repeated, decisions and dice alike, so that it is the same run whoever answered them.
    """
    import shlex

    words = ["rpgres", "roll", pending.ruleset, pending.action]
    for name, value in pending.inputs.items():
        words += _option(name, value)
    for name, value in switches.items():
        words += ["--switch", f"{name}={value}"]
    for answer in pending.answers:
        words += ["--given" if answer.kind == "chance" else "--choose", f"{answer.key}={answer.value}"]
    if pending.note:
        words += [f"--note={pending.note}"]
    question = pending.question
    example = question.options[0]["name"] if question.options else question.form or "..."
    words += [f"--seed={pending.seed}", "--choose", f"{question.typed}={example}"]
    for answer in pending.unused:
        words += ["--choose", f"{answer.key}={answer.value}"]
    return shlex.join(words)


def _option(name: str, value: Any) -> list[str]:
    if value is True:
        return [f"--{name}"]
    if value is False:
        return []
    if isinstance(value, list | tuple):
        return [word for one in value for word in _option(name, one)]
    if isinstance(value, Mapping) and "name" in value:  # a form as a scene writes it
        said = ",".join(f"{key}={one}" for key, one in value.items() if key != "name")
        value = f"{value['name']}:{said}" if said else value["name"]
    elif isinstance(value, Mapping):  # an opposition as a scene writes it
        ability = next((part for key, part in value.items() if key != "character"), "")
        value = f"{value.get('character')}:{ability}"
    text = str(value)
    return [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]
