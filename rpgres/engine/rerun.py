"""What if: a run is repeated with an answer changed, and every other die and decision as it was.

An answer that the changed run no longer asks for, or cannot take, is reported. What it asks anew is answered from the
seed and by policies, or waits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import Dealer, GivenDealer, SeededDealer
from rpgres.engine.decisions import accepted
from rpgres.engine.labels import check_labels
from rpgres.engine.players import NO, POLICY, Answer, Policy, Question, View, policies_named
from rpgres.engine.prepare import Prepared, policies_of, prepare
from rpgres.engine.records import AnswerRecord, Pending, Result, scripts_of
from rpgres.engine.run import run
from rpgres.engine.seats import Seats
from rpgres.errors import ChoiceError, GivenError, UsageError, called, counted, enumerated, named
from rpgres.model.events import DecisionEvent, DrawEvent, EventRecord, RollEvent
from rpgres.model.printed import Printed
from rpgres.model.state import EMPTY
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import CLAIM, unknown
from rpgres.toml.diagnostics import nearest

if TYPE_CHECKING:
    from pathlib import Path

    from rpgres.dice import Dice, Throw
    from rpgres.model.cards import Stack
    from rpgres.model.state import State
    from rpgres.rulesets import RulesetFile

T = TypeVar("T")
Kind = Literal["chance", "decision"]
_KEY = re.compile(r"(?P<key>.+?)(?:#(?P<number>[1-9]\d{0,5}))?")


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of a run.

    Attributes:
        kind: chance for dice and cards, decision for a player's choice.
        label: the name under which the rule asked.
        number: which answer under that label, from 1.
        who: whose decision it was; empty for chance.
        means: by what means it came; empty for chance.
        step: the id of the scene's step, or its number from 1; empty for a single action.
    """

    kind: Kind
    label: str
    number: int
    value: str
    who: str = ""
    means: str = ""
    step: str = ""

    @property
    def name(self) -> str:
        """The name of the answer in messages."""
        return f"{f'{self.step}.' if self.step else ''}{self.label}#{self.number}"


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that is changed, or given in addition.

    Attributes:
        kind: chance for dice and cards, decision for a player's choice.
        label: the name under which the rule asks.
        number: which answer under that label, from 1.
        value: the new answer.
        was: the answer in the run as it was; null where nothing was asked there.
        who: whose decision; empty for chance, and where it may be anybody's.
        step: the id of the scene's step, or its number from 1; empty for a single action.
    """

    kind: Kind
    label: str
    number: int
    value: str
    was: str | None = None
    who: str = ""
    step: str = ""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is changed in a run, and who answers what is new.

    Attributes:
        given: changed results of dice or cards, as `[STEP.]LABEL[#N]=VALUE`.
        choose: changed decisions, as `[STEP.][WHO:]LABEL[#N]=VALUE`.
        policies: who answers decisions that are new, by character; the default under an empty name.
        auto: whether the ruleset's first policy answers them.
    """

    given: Sequence[str] = ()
    choose: Sequence[str] = ()
    policies: Mapping[str, str] = EMPTY
    auto: bool = False


class Dropped(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of the run as it was that the changed run has no use for.

    Attributes:
        label: the name under which the rule asked.
        value: the answer.
        who: whose decision it was; empty for chance.
        step: the step of a scene; empty for a single action.
        reason: unasked, or impossible where the question came and no longer offers it.
    """

    label: str
    value: str
    who: str = ""
    step: str = ""
    reason: Literal["unasked", "impossible"] = "unasked"


class WhatIf(Printed, frozen=True, kw_only=True, tag="rpgres.what-if/1"):
    """A run as it was and with answers changed, as `rpgres whatif --json` prints it.

    Attributes:
        ruleset: the ruleset's id.
        changed: what is changed.
        before: the run as it was, step by step; one for a single action.
        after: the same with the change; the last one may wait for a decision.
        dropped: answers of the run as it was that the changed run has no use for.
        fresh: answers that only the changed run asked for: `LABEL=VALUE`.
        complete: whether the changed run came to its end; otherwise a decision waits.
        seed: where new dice came from.
        endings: of a scene that names its endings: how it ended before, and with the change; null for none.
        people: of a scene: what its characters are called, by short name.
        policies: who decided what only the changed run asked for, by character; the default under an empty name.
    """

    ruleset: str
    changed: list[Changed]
    before: list[dict[str, Any]]
    after: list[dict[str, Any]]
    dropped: list[Dropped] = []
    fresh: list[str] = []
    complete: bool = True
    seed: str | None = None
    endings: list[str | None] = []
    people: dict[str, str] = {}
    policies: dict[str, str] = {}


# ---------------------------------------------------------------------------------------------------------------------
# The answers of a run, and which of them is meant


def answers_in(events: Iterable[EventRecord], *, step: str = "") -> list[Answered]:
    """Return the answers of a run in order."""
    found, counts = list[Answered](), dict[tuple[str, str], int]()
    kind: Kind
    for event in events:
        match event:
            case RollEvent() if event.faces:
                kind, value, who, means = "chance", event.faces, "", ""
            case DrawEvent():
                kind, value, who, means = "chance", event.card, "", ""
            case DecisionEvent() if event.label != CLAIM:
                kind, value, who, means = "decision", event.answer, event.who, event.means
            case _:
                continue
        number = counts[kind, event.label] = counts.get((kind, event.label), 0) + 1
        one = Answered(kind=kind, label=event.label, number=number, value=value, who=who, means=means, step=step)
        found.append(one)
    return found


def read_changes(asked: Asked, answers: Sequence[Answered]) -> list[Changed]:
    """Return the changes that were typed to the answers of a run.

    Raises:
        UsageError: nothing is changed, or it is not clear which answer is meant.
    """
    typed: list[tuple[Kind, str]] = [("chance", text) for text in asked.given]
    typed += [("decision", text) for text in asked.choose]
    if not typed:
        known = enumerated([f"{one.label}={one.value}" for one in answers], none="")
        message = f"say what is changed: {named('choose')} LABEL=OPTION or {named('given')} LABEL=FACES"
        raise UsageError(f"{message}; the answers were {known}" if known else message)
    changes = [_read(text, answers, kind=kind) for kind, text in typed]
    places = [(change.kind, change.step, change.label, change.number) for change in changes]
    twice = next((text for (_, text), place in zip(typed, places, strict=True) if places.count(place) > 1), None)
    if twice is not None:
        key = twice.partition("=")[0].strip()
        raise UsageError(f"the answer {key} is changed twice; all faces of one roll are one value, such as 6,5,4")
    return changes


def _read(text: str, answers: Sequence[Answered], *, kind: Kind) -> Changed:
    option = "given" if kind == "chance" else "choose"
    key, separator, value = (part.strip() for part in text.partition("="))
    match = _KEY.fullmatch(key)
    if not separator or not value or match is None:
        raise UsageError(f"{named(option)} takes LABEL=VALUE or LABEL#2=VALUE, not {text!r}")
    steps = {one.step for one in answers}
    step, who, label = _address(match["key"], steps)
    meant = {step} if step in steps else {one for one in steps if not step or _without_pass(one) == step}
    of_kind = [one for one in answers if one.kind == kind]
    own = [one for one in of_kind if one.label == label and one.step in meant and who in ("", one.who)]
    if match["number"] is None and len(own) > 1:
        listed = enumerated(f"{one.name} ({one.value})" for one in own)
        raise UsageError(f"{named(option)} {key}: the run has {len(own)} such answers; name one: {listed}")
    number = int(match["number"] or 1)
    change = Changed(kind=kind, label=label, number=number, value=value, who=who, step=step)
    if not own:
        if step not in steps and any(steps):
            known = dict.fromkeys(f"{one.step}.{one.label}" for one in of_kind)
            raise UsageError(unknown("answer", key, known, of="this run"))
        return change
    if number <= len(own):
        was = own[number - 1]
        return msgspec.structs.replace(change, number=was.number, was=was.value, who=was.who, step=was.step)
    if number == len(own) + 1 and (step or not own[0].step):
        later = max(one.number for one in own) + 1
        return msgspec.structs.replace(change, number=later, step=own[0].step)
    raise UsageError(f"{named(option)} {key}: the run has {counted(len(own), 'such answer')}, not {number}")


def _address(key: str, steps: Iterable[str]) -> tuple[str, str, str]:
    """Return the step, without a pass where none was named, the owner and the label that stand before the `=`."""
    every = [*steps, *map(_without_pass, steps)]
    step = next((one for one in every if one and key.startswith(f"{one}.")), "")
    who, _, label = key.removeprefix(f"{step}." if step else "").rpartition(":")
    return step, who, label


def _without_pass(step: str) -> str:
    """Return the name of a step without the pass of its group: `lock` of `lock@2`."""
    return step.partition("@")[0]


# ---------------------------------------------------------------------------------------------------------------------
# Who answers


class RecordedDealer(GivenDealer):
    """Answers chance as recorded, with some results changed; another dealer answers what is new.

    Args:
        answers: those of the run as it was.
        changes: what is changed.
        then: who answers what is new.

    Attributes:
        asked: how often each label was asked for.
        impossible: results that did not fit what was asked now, with their labels.
        fresh: what was answered anew.
    """

    __slots__ = ("_changed", "asked", "fresh", "impossible")

    def __init__(self, answers: Sequence[Answered], changes: Sequence[Changed], *, then: Dealer) -> None:
        recorded = dict[str, list[str]]()
        for one in answers:
            if one.kind == "chance":
                recorded.setdefault(one.label, []).append(one.value)
        self._changed = set[tuple[str, int]]()
        for change in changes:
            if change.kind == "chance":
                recorded.setdefault(change.label, [])[change.number - 1 : change.number] = [change.value]
                self._changed.add((change.label, change.number))
        super().__init__(recorded, then=then)
        self.asked = dict[str, int]()
        self.impossible: list[tuple[str, str]] = []
        self.fresh: list[tuple[str, str]] = []

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        """Return the recorded result, or a new one where there is none that fits."""
        if not dice.pools:
            return self._then.throw(dice, label, count)
        return self._answer(label, super().throw, self._then.throw, (dice, label, count), lambda throw: throw.text)

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        """Return the recorded card, or a new one where that is not in the pile."""
        return self._answer(label, super().draw, self._then.draw, (cards, stack, label, count), str)

    def _answer(
        self,
        label: str,
        recorded: Callable[..., T],
        anew: Callable[..., T],
        asked: tuple[Any, ...],
        text: Callable[[T], str],
    ) -> T:
        """Return what was recorded, or a new answer; one that was typed and does not fit is an error."""
        number = self.asked[label] = self.asked.get(label, 0) + 1
        results = self._given.get(label)
        known = results[0] if results else None
        try:
            found = recorded(*asked)
        except GivenError:
            if (label, number) in self._changed:
                raise
            self.impossible.append((label, known or ""))
            found, known = anew(*asked), None
        if known is None:
            self.fresh.append((label, text(found)))
        return found


class RecordedDecisions:
    """Answers decisions as recorded, with some changed.

    Args:
        answers: those of the run as it was.
        changes: what is changed.

    Attributes:
        left: what no question has taken so far, by label and by whose decision it was.
        added: answers to what was not asked before, by `LABEL` or `WHO:LABEL`.
        impossible: answers that were not offered when their question came.
    """

    def __init__(self, answers: Sequence[Answered], changes: Sequence[Changed]) -> None:
        decisions = [one for one in changes if one.kind == "decision"]
        new = {(one.label, one.number): one.value for one in decisions if one.was is not None}
        self.left = dict[tuple[str, str], list[Answer]]()
        for one in answers:
            if one.kind == "decision":
                value = new.get((one.label, one.number))
                answer = Answer(one.value, one.means) if value is None else Answer(value, CHANGED)
                self.left.setdefault((one.label, one.who), []).append(answer)
        self.added = dict[str, list[str]]()
        for change in decisions:
            if change.was is None:
                key = f"{change.who}:{change.label}" if change.who else change.label
                self.added.setdefault(key, []).append(change.value)
        self.impossible: list[tuple[str, str, str]] = []

    def answer(self, question: Question, view: View) -> Answer | None:
        """Return the recorded answer to a question, if it still offers it."""
        answers = self.left.get((question.label, question.who), [])
        while answers:
            found = answers.pop(0)
            if found.means == CHANGED:
                return Answer(found.choice, "choose")  # refused by the rule where it is not offered
            if _is_offered(question, str(found.choice)):
                return found
            self.impossible.append((question.label, question.who, str(found.choice)))
        for key in (f"{question.who}:{question.label}", question.label):
            if self.added.get(key):
                return Answer(self.added[key].pop(0), "choose")
        return None


CHANGED = "changed"  # by what means an answer came that is changed


def _is_offered(question: Question, value: str) -> bool:
    try:
        accepted(question, value)
    except ChoiceError:
        return False
    return True


# ---------------------------------------------------------------------------------------------------------------------
# Once more


class Again(msgspec.Struct, frozen=True):
    """The result of an action that was run again.

    Attributes:
        found: its result, or the decision it waits for.
        state: the table after it.
        dropped: answers of the run as it was that it had no use for.
    """

    found: Result | Pending
    state: State
    dropped: list[Dropped]
    fresh: list[str]


class Playing(Protocol):
    """Runs an action, or a turn of a period, with the source of its answers."""

    def __call__(
        self, *, streams: Streams, step: int, players: Seats, dealer: GivenDealer
    ) -> tuple[Result | Pending, State]:
        """Return the result, and the table after it."""


def run_again(
    playing: Playing,
    answers: Sequence[Answered],
    changes: Sequence[Changed] = (),
    *,
    seed: str,
    step: int = 0,
    policies: Mapping[str, Policy] = EMPTY,
    unused: Sequence[AnswerRecord] = (),
) -> Again:
    """Return the result of a run with its answers as they were, but for those that are changed.

    Args:
        step: which step of a scene it is, from 0.
        unused: decisions that were scripted and not needed in the run as it was.

    Raises:
        UsageError: a changed answer is impossible, or was never asked for.
    """
    streams = Streams(seed)
    dealer = RecordedDealer(answers, changes, then=SeededDealer(streams, step=step))
    decisions = RecordedDecisions(answers, changes)
    _, later = scripts_of(unused)
    seats = Seats(later, policies=policies)
    seats.let_answer((decisions.answer, *seats.said), seats.answerers[len(seats.said) :])
    found, state = playing(streams=streams, step=step, players=seats, dealer=dealer)
    if isinstance(found, Result):
        _check_used(dealer, decisions, changes, [one.label for one in found.answers if one.kind == "decision"])
    left = list(_left(dealer, decisions, answers)) if isinstance(found, Result) else []
    return Again(found, state, left, [f"{label}={value}" for label, value in dealer.fresh])


def playing(prepared: Prepared, *, note: str | None = None) -> Playing:
    """Return a function that runs an action."""
    return partial(run, prepared, note=note)


def run_changed(
    prepared: Prepared,
    before: Result,
    answers: Sequence[Answered],
    asked: Asked,
    *,
    seed: str,
    kept: Sequence[Answered] = (),
) -> tuple[Again, WhatIf]:
    """Return the result of an action with the answers that were typed changed, and how it compares.

    Args:
        answers: those of the run as it was that can be changed.

    Raises:
        UsageError: nothing is changed, a change is impossible, or the run as it was does not come to the same.
    """
    again = partial(run_again, seed=seed, unused=before.unused)
    whole = [*answers, *kept]
    require_same(before, again(playing(prepared), whole))
    changes = read_changes(asked, answers)
    labels = {kind: {one.label: "" for one in changes if one.kind == kind} for kind in ("chance", "decision")}
    check_labels(prepared.rules, prepared.action, given=labels["chance"], choose=labels["decision"])
    policies = policies_of(prepared, asked.policies, auto=asked.auto, files=True)
    after = again(playing(prepared, note=before.note), whole, changes, policies=policies)
    return after, WhatIf(
        ruleset=prepared.rules.id,
        changed=changes,
        before=[msgspec.to_builtins(before)],
        after=[msgspec.to_builtins(after.found)],
        dropped=after.dropped,
        fresh=after.fresh,
        complete=not isinstance(after.found, Pending),
        seed=seed,
        policies=policies_named(prepared.rules, asked.policies, auto=asked.auto),
    )


def _check_used(
    dealer: RecordedDealer, decisions: RecordedDecisions, changes: Sequence[Changed], decided: Sequence[str]
) -> None:
    """Make sure that what was typed was asked for."""
    step = next((f"{one.step}." for one in changes if one.step), "")
    decided = decided if step else []  # at a table, what was decided may be secret
    unasked = [(key, value, decided) for key, values in decisions.added.items() for value in values]
    unasked += [
        (label, str(answer.choice), decided)
        for (label, _), answers in decisions.left.items()
        for answer in answers
        if answer.means == CHANGED
    ]
    chance = [(one.label, one.value, one.number) for one in changes if one.kind == "chance"]
    unasked += [(label, value, [*dealer.asked]) for label, value, count in chance if dealer.asked.get(label, 0) < count]
    told = list[str]()
    for label, value, asked in unasked:
        near = nearest(label, asked)
        told.append(f"{step}{label}={value}" + (f" (did you mean {step + near!r}?)" if near else ""))
    if told:
        raise UsageError(f"nothing was asked that these would answer: {', '.join(told)}")


def _left(dealer: RecordedDealer, decisions: RecordedDecisions, answers: Sequence[Answered]) -> Iterator[Dropped]:
    where = answers[0].step if answers else ""
    for label, value in dealer.impossible:
        yield Dropped(label=label, value=value, step=where, reason="impossible")
    for label, value in dealer.unused():
        yield Dropped(label=label, value=value, step=where)
    for label, who, value in decisions.impossible:
        yield Dropped(label=label, value=value, who=who, step=where, reason="impossible")
    for (label, who), left in decisions.left.items():
        for answer in left:
            if answer.choice != NO:  # a skipped question that does not come is not missed
                yield Dropped(label=label, value=str(answer.choice), who=who, step=where)


def require_same(before: Result, again: Again) -> None:
    """Make sure that a run repeated as it was comes to the same.

    Raises:
        UsageError: it does not: rules, sheets or the scene have changed since.
    """
    if _outcome_of(before) != _outcome_of(again.found):
        raise UsageError(
            f"{before.ruleset} {before.action} has another result when it is repeated: "
            "the rules, a sheet or the scene have changed since"
        )


def _outcome_of(found: Result | Pending) -> Any:
    if isinstance(found, Pending):
        return None
    return msgspec.to_builtins((found.outcome, found.margin, found.total, found.effects))


# ---------------------------------------------------------------------------------------------------------------------
# A record run again


def result_what_if(before: Result, asked: Asked, *, folders: tuple[Path, ...] = ()) -> tuple[WhatIf, RulesetFile]:
    """Return an action as it was and with answers changed, and the data of its ruleset.

    Where a policy decided and none is asked for now, the ruleset's decides what is new: which it was is not recorded.

    Args:
        folders: further folders with rulesets and overlays.

    Raises:
        UsageError: nothing is changed, or the record does not tell enough to run it again.
        FileError, PluginError: the ruleset, or a sheet, is missing or faulty.
    """
    if before.ruleset is None or before.action is None:
        raise UsageError(
            f"dice alone have no decisions; `{called('roll', 'NOTATION', given='roll=...')}` says what they come to"
        )
    if before.seed is None:
        raise UsageError(f"this result does not tell its seed; at a table, name its entry: `{called('whatif', '.#N')}`")
    if not asked.policies and any(isinstance(one, DecisionEvent) and one.means == POLICY for one in before.events):
        asked = msgspec.structs.replace(asked, auto=True)
    rules = load_rules(find_ruleset(before.ruleset, extra=folders), switches=before.switches, extra=folders)
    prepared = prepare(rules, before.action, {key.replace("-", "_"): value for key, value in before.inputs.items()})
    _, record = run_changed(prepared, before, answers_in(before.events), asked, seed=before.seed)
    return record, rules.file
