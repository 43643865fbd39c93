"""What ends a run early, and the error that its user sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rpgres.engine.players import Question
from rpgres.errors import FileError, RpgresError, RuleError, blame_code, code_failed, is_interrupt, place_of
from rpgres.model.state import EMPTY

if TYPE_CHECKING:
    from rpgres.engine.running import Run

PURE = "a rule must depend only on the table (no random numbers, clock, files or mutable globals)"
MAX_QUESTIONS = 10_000  # a rule that asks more in one action does not end


class Stop(BaseException):
    """What ends a run early. Not an `Exception`, so that a rule that catches those cannot swallow it.

    `run` is where it ended, with the events so far; the caller of the rule sets it.
    """

    run: Run


class NeedsAnswer(Stop):
    """A decision without which the rule cannot go on has no answer; `together` are asked at the same time."""

    def __init__(self, question: Question, *, together: tuple[Question, ...] = ()) -> None:
        super().__init__(question.label)
        self.question = question
        self.together = together


class Settled(Stop):
    """The band is fixed, and nothing after it was asked for (odds of outcomes)."""

    def __init__(
        self, band: str, margin: int | None, *, total: int | None = None, details: Mapping[str, Any] = EMPTY
    ) -> None:
        super().__init__(band)
        self.band = band
        self.margin = margin
        self.total = total
        self.details = details


class TakenBack(Stop):
    """The person who is asked undoes the last answer of the action, or the action itself."""


class PutAgain(Stop):
    """The person who is asked did something else at the table; the question is asked again, if it is still open."""


class PassesOn(Stop):
    """The person who is asked skips this question and later ones: `label` (all when empty) of a seat, `until` when."""

    def __init__(self, label: str, seat: str, until: str) -> None:
        super().__init__(label)
        self.label, self.seat, self.until = label, seat, until


class SaysInAdvance(Stop):
    """The person who is asked answers a later question of `who` in advance, and is asked this one again."""

    def __init__(self, label: str, answer: str, who: str) -> None:
        super().__init__(label)
        self.label, self.answer, self.who = label, answer, who


class Broken(Stop):
    """The rule broke its contract with the table and is not run any further; `message` says how."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason


def endless(label: str, counts: Mapping[str, int] = EMPTY) -> Broken:
    """Return what stops a rule that asks without end: what it asked last, and how often each label before."""
    most = max(counts, key=counts.__getitem__, default=label)
    message = f"it asked more than {MAX_QUESTIONS:,} questions in one action, {label!r} the last"
    often = f", most often {most!r} ({counts[most]:,} times)" if counts.get(most, 0) > 1 else ""
    return Broken(f"{message}{often}; it seems to loop", reason="endless")


def not_deterministic(asked: str, now: str) -> str:
    """Return what is wrong with a rule that asked something else when it was run again on the same answers.

    Args:
        asked, now: what it asked first and then, in words: a label in quotes, or `nothing`.
    """
    return f"run twice on the same answers it asked {asked} and then {now}; {PURE}"


def fault_of(error: BaseException, run: Run, code: str) -> BaseException:
    """Return what to raise when a ruleset's code did not return: what is wrong with it, as its own fault.

    What is no fault of the code comes back as it is: a run that ended early, what is meant for users, an interrupt.
    All but the last now carry the run.
    """
    fault: RpgresError
    match error:
        case Broken():
            if run.fault is not None:
                fault = run.fault
            else:
                place = place_of(error) if error.reason == "endless" else ""
                why = f"{code} cannot be played: {error.message}{place}"
                fault = run.rules.blamed(RuleError(why, reason=error.reason))
        case FileError() if not error.details.get("file"):  # a name that the code has, such as a table's
            blame_code(error)
            error.run = run
            return error
        case Stop() | RpgresError():
            error.run = run
            return run.rules.blamed(error) if isinstance(error, RuleError) else error
        case _ if is_interrupt(error):
            return error
        case _:
            fault = run.rules.blamed(code_failed(f"{code} failed", error))
    fault.run = run
    fault.__cause__ = error
    return fault


@contextmanager
def in_code(run: Run, code: str) -> Iterator[None]:
    """Have a ruleset's code run, and raise what is wrong with it as its own fault; see `fault_of`."""
    try:
        yield
    except BaseException as error:  # noqa: BLE001  # third-party code may raise anything
        raise fault_of(error, run, code) from error.__cause__
    if run.fault is not None:
        run.fault.run = run
        raise run.fault


@contextmanager
def in_run(run: Run) -> Iterator[None]:
    """Have errors carry the run that they are about."""
    try:
        yield
    except RpgresError as error:
        error.run = run
        raise
