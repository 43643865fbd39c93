"""Whether rules, effects and policies keep to the table: they end, ask the same again, and change nothing behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from rpgres.conformance.records import NothingToCheck, finding
from rpgres.conformance.subjects import Case, Subject
from rpgres.conformance.subprocess import digest, digests_elsewhere
from rpgres.conformance.walks import Asked, PlayedPath, plain, played, replay
from rpgres.engine.effects import apply_effects
from rpgres.engine.players import NO, Policy, Question, View, uniform
from rpgres.engine.records import answers_of, event_record
from rpgres.errors import RpgresError, UsageError, in_words, place_of
from rpgres.model.events import DecisionEvent
from rpgres.model.serialization import read_state, state_record
from rpgres.model.state import State
from rpgres.toml.diagnostics import Diagnostic

SEEDS = 5  # with which a policy decides
SHOWN = 120  # bytes of a line of an account
DOTS = "\N{HORIZONTAL ELLIPSIS}"

_ALONE = "a rule must depend only on the table: no random numbers, clock, files or mutable globals"
_ORDER = "sort the items of a set, and base no question or decision on hash() or id()"


def each(subject: Subject, check: Callable[[Case], Iterator[Diagnostic]]) -> Iterator[Diagnostic]:
    """Yield what a check finds in every case that goes the same way again; a rule that fails is told as a finding.

    Of one that goes otherwise each time nothing else can be said, and what a check made of it would mislead.

    Raises:
        NothingToCheck: there is no such case.
    """
    for case in something(subject, subject.steady):
        try:
            yield from check(case)
        except RpgresError as error:
            yield finding(error.message, case.place)


def something(subject: Subject, cases: list[Case]) -> list[Case]:
    """Return the cases.

    Raises:
        NothingToCheck: there are none.
    """
    if not cases:
        raise NothingToCheck(subject.lack)
    return cases


def check_ends(subject: Subject) -> Iterator[Diagnostic]:
    """Yield the actions that fail or do not end when their examples and the steps of scenes are played."""
    yield from subject.faults
    failed = {case.prepared.action for case in subject.cases} - {case.prepared.action for case in subject.sound}
    if failed:
        yield finding(f"the checks that follow skip {', '.join(sorted(failed))}", is_note=True)
    played_actions = {case.prepared.action for case in subject.cases}
    for action in subject.rules.file.actions:
        if action not in played_actions:
            advice = "the checks that follow skip it; add an example, or a step to a scene"
            where = subject.place("actions", action)
            yield finding(f"no example and no scene plays the action {action}", where, advice)


# ---------------------------------------------------------------------------------------------------------------------
# The same again


def check_repeats(subject: Subject) -> Iterator[Diagnostic]:
    """Yield cases that go otherwise when they are played again with the same seed, in another order."""
    something(subject, subject.sound)
    told: dict[str, Diagnostic] = {}
    for case, one, other in subject.fickle:
        what = f"run twice with the same answers it differs: {_difference(one, other)}"
        told.setdefault(case.prepared.action, finding(what, case.place, _ALONE))
    yield from told.values()
    if subject.is_changed:
        yield finding("its code changes the ruleset's data while it is played", advice=_ALONE)
    if told:
        yield finding(f"the checks that follow skip {', '.join(sorted(told))}", is_note=True)


def _difference(one: list[bytes], other: list[bytes]) -> str:
    for left, right in zip(one, other, strict=False):
        if left != right:
            where = next((place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
            return f"{_short(left, where)} first, then {_short(right, where)}"
    return f"{len(one)} steps first, then {len(other)}"


def _short(line: bytes, where: int) -> str:
    """Return a line, or the piece of a long one in which a place stands."""
    if len(line) <= SHOWN:
        return line.decode(errors="replace")
    begin = max(0, where - SHOWN // 2)
    piece = line[begin : begin + SHOWN].decode(errors="replace")
    before, after = (DOTS if begin else ""), (DOTS if begin + SHOWN < len(line) else "")
    return f"{before}{piece}{after}"


def check_hash_seeds(subject: Subject) -> Iterator[Diagnostic]:
    """Yield cases that go otherwise in a process in which Python hashes texts in another way."""
    if not subject.is_installed:
        raise NothingToCheck("a ruleset that is not installed cannot be loaded in another process")
    cases = {case.name: case for case in something(subject, subject.steady)}
    here = {name: digest(case.prepared) for name, case in cases.items()}
    examples = [name for name, case in cases.items() if case.is_example]
    found: dict[tuple[str, bool], set[str | None]] = {}
    for digests in digests_elsewhere(subject.rules.id, list(cases), examples):
        is_whole = len(digests) == len(cases)
        for name in cases if is_whole else examples:
            found.setdefault((name, is_whole), set()).add(digests.get(name))
    for name, case in cases.items():
        whole, alone = found[name, True], found.get((name, False), {here[name]})
        if len(whole) > 1 or len(alone) > 1:
            advice = f"{_ORDER}; to see it, run it with PYTHONHASHSEED=1, then 2, 3 and so on"
            yield finding("fresh processes (PYTHONHASHSEED) give different results", case.place, advice)
        elif whole | alone != {here[name]}:  # fresh processes agree, so something outlived a run here
            message = "a fresh process gives another result than this one, where other actions were played before"
            yield finding(message, case.place, f"{_ALONE}; and {_ORDER}")


def check_replays(subject: Subject) -> Iterator[Diagnostic]:
    """Yield paths that, given back as a script, end otherwise."""

    def of_case(case: Case) -> Iterator[Diagnostic]:
        for path in subject.walk(case).paths:
            told = _replay_fault(case, path)
            if told:
                script = ", ".join(f"{answer.label}={answer.value}" for answer in answers_of(path.questions))
                yield finding(f"given {script or 'nothing'} {told}", case.place, _ALONE)
                return

    yield from each(subject, of_case)


def _replay_fault(case: Case, path: PlayedPath) -> str:
    """Return what goes otherwise when a path is run again from its own answers; nothing when all is the same."""
    try:
        again = replay(case.prepared, path)
    except RpgresError as error:
        return f"it is refused: {error.message}"
    if again is None:
        return ""
    found, unused = again
    if unused:
        label, answer = unused[0]
        return f"it does not ask for {label}={answer} again"
    if plain(found.outcome) != plain(path.outcome):
        return f"it ends with {_difference([plain(path.outcome)], [plain(found.outcome)])}"
    return "its account differs" if _events(found) != _events(path) else ""


def _events(path: PlayedPath) -> list[bytes]:
    """Return what happened, whoever answered."""
    records = [event_record(event) for event in path.events]
    return [plain(msgspec.structs.replace(one, means="") if isinstance(one, DecisionEvent) else one) for one in records]


# ---------------------------------------------------------------------------------------------------------------------
# States


def check_states(subject: Subject) -> Iterator[Diagnostic]:
    """Yield effects whose states cannot be hashed, kept as plain data, or made twice."""

    sound: set[State] = set()  # many cases begin with the same table, and many paths end with it

    def faults(state: State) -> Iterator[str]:
        told = list(_state_faults(state)) if not _is_in(state, sound) else []
        if not told:
            sound.add(state)
        yield from told

    def of_case(case: Case) -> Iterator[Diagnostic]:
        before = case.prepared.state
        kept = plain(before)
        seen: set[bytes] = set()
        for told in faults(before):
            yield finding(f"the table before the action {told}", case.place, _IN_STATE)
            return
        for path in subject.walk(case).paths:
            key = plain(path.outcome.effects)
            if path.before is not None:
                before, kept = path.before, plain(path.before)
            elif key in seen:
                continue
            seen.add(key)
            after, again = (apply_effects(case.prepared.rules, before, path.outcome) for _ in range(2))
            kinds = ", ".join(dict.fromkeys(str(effect["kind"]) for effect in path.outcome.effects)) or "none"
            for told in faults(after):
                yield finding(f"the table after the action (effects: {kinds}) {told}", case.place, _IN_STATE)
                return
            if after != again or plain(before) != kept:
                advice = "an effect is a pure function: it returns a changed copy (rpgres.put) and keeps nothing"
                yield finding(f"applied twice, the effects ({kinds}) give two different states", case.place, advice)
                return

    yield from each(subject, of_case)


_IN_STATE = "the state consists of integers, strings, tuples, rpgres.Map and frozen records of them"


def _is_in(state: State, states: set[State]) -> bool:
    try:
        return state in states
    except TypeError:  # it cannot be hashed
        return False


def _state_faults(state: State) -> Iterator[str]:
    try:
        hash(state)
    except TypeError as error:
        yield f"cannot be hashed ({error})"
        return
    try:
        again = read_state(msgspec.json.decode(msgspec.json.encode(state_record(state))))
    except (RpgresError, TypeError, ValueError, OverflowError, msgspec.MsgspecError) as error:
        yield f"cannot be serialized ({in_words(error)})"
        return
    if again != state or hash(again) != hash(state) or plain(again) != plain(state):
        yield "changes when it is serialized and read back"


# ---------------------------------------------------------------------------------------------------------------------
# Policies


def check_policies(subject: Subject) -> Iterator[Diagnostic]:
    """Yield policies that answer with something else than the question offers, fail, or decide otherwise again."""
    policies = subject.rules.ruleset.policies
    if not policies:
        raise NothingToCheck("it has no policy")
    for name, policy in policies.items():
        answered = list[tuple[Case, Asked, object]]()
        yield from each(subject, partial(_policy, name=name, policy=policy, answered=answered))
        for case, asked, answer in reversed(answered):  # whatever it remembers is by now something else
            if policy(asked.view, asked.question) != answer:
                message = f"the policy {name} decides differently the second time at {asked.question.label!r}"
                yield finding(message, case.place, _POLICY)
                break


def _policy(
    case: Case, *, name: str, policy: Policy, answered: list[tuple[Case, Asked, object]]
) -> Iterator[Diagnostic]:
    """Yield what is wrong with a policy's answers in a case; those that are in order are added to `answered`."""
    told: list[Diagnostic] = []

    def judged(view: View, question: Question) -> Any:
        try:
            answer = policy(view, question)
        except Exception as error:  # noqa: BLE001  # whatever a stranger's policy raises
            told.append(
                finding(
                    f"the policy {name} fails at {question.label!r}: {in_words(error)}{place_of(error)}", case.place
                )
            )
            return uniform(view, question)
        if fault := _answer_fault(answer, question):
            told.append(finding(f"the policy {name} {fault} at {question.label!r}", case.place, _POLICY))
            return uniform(view, question)
        answered.append((case, Asked(msgspec.structs.replace(view, events=tuple(view.events)), question), answer))
        return answer if answer is not None else uniform(view, question)

    for number in range(SEEDS):
        played(case.prepared, seed=f"contract#{number}", decide=judged)
        if told:
            yield told[0]
            return


_POLICY = "it returns an option's name, whole-number weights by name, or None, and depends on view and question alone"


def _reads(question: Question, answer: object) -> bool:
    """Tell whether a question takes an answer beyond its options."""
    if question.reads is None or not isinstance(answer, str):
        return False
    try:
        question.reads(answer)
    except UsageError:
        return False
    return True


def _answer_fault(answer: object, question: Question) -> str:
    """Return what is wrong with a policy's answer; nothing when it is offered."""
    offered = {option.name for option in question.options} | ({NO} if question.optional else set())
    if answer is None:
        return ""
    if isinstance(answer, str):
        is_offered = answer in offered or _reads(question, answer)
        return "" if is_offered else f"answers {answer!r}, which is not offered ({', '.join(sorted(offered))}),"
    if not isinstance(answer, dict):
        return f"answers with {answer!r}"
    strange = [key for key in answer if key not in offered and not _reads(question, key)]
    if strange:
        return f"gives a weight to {strange[0]!r}, which is not offered ({', '.join(sorted(offered))}),"
    if any(type(weight) is not int or weight < 0 for weight in answer.values()) or not sum(answer.values()):
        return f"gives the weights {answer!r}"
    return ""
