"""Playing a case in every way a check needs: noted question by question, path by path, or from a script."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any

import msgspec

from rpgres.conformance.records import finding
from rpgres.dice import Dice, Reading, Throw
from rpgres.dice.seeds import Streams
from rpgres.engine import contract
from rpgres.engine.dealers import GivenDealer, NoDealer, SeededDealer
from rpgres.engine.effects import apply_effects
from rpgres.engine.events import Decided, Drawn, Event, Rolled
from rpgres.engine.players import Policy, Question, View, uniform
from rpgres.engine.prepare import Prepared, with_piles
from rpgres.engine.records import answers_of, event_record, scripts_of
from rpgres.engine.run import play
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.stops import NeedsAnswer
from rpgres.engine.table import Outcome
from rpgres.errors import RpgresError, RuleError, place_of
from rpgres.model.state import State
from rpgres.odds.explorer import ANSWERS, Odds, Runs, WalkDealer, explore
from rpgres.toml.diagnostics import Diagnostic

SECONDS = 5.0  # what the first plays, or the paths of a case, may take
PATIENCE = 10  # how many times as long it may take by the clock, on a busy machine
FIRST = 3  # seeds with which every case is played first
VALUE = Reading("total")
TAIL = 2000  # throws in which a value of dice without a table is sought


class Asked(msgspec.Struct, frozen=True):
    """A question as it was put to a seat, with what the seat could see."""

    view: View
    question: Question


class PlayedPath(msgspec.Struct, frozen=True):
    """One way an action can go, from its first question to its outcome."""

    events: tuple[Event, ...]
    outcome: Outcome
    skipped: tuple[str, ...] = ()  # labels of questions with nothing to choose from
    is_shown: bool = True  # whether real dice can show all that was rolled
    before: State | None = None  # the table to which the effects of the outcome are applied; None for that at first

    @property
    def questions(self) -> list[Rolled | Drawn | Decided]:
        """What was rolled and decided, in order."""
        return [event for event in self.events if isinstance(event, Rolled | Drawn | Decided)]


class Shown(msgspec.Struct, frozen=True):
    """What a decision showed whenever it was asked: its options, the facts of both, and whether it takes other answers.

    Facts have the words that they were. `typed` has the label of one that takes others.
    """

    options: set[str]
    facts: dict[str, set[str]]
    option_facts: dict[str, set[str]]
    typed: set[str]


class Walk(msgspec.Struct, frozen=True):
    """The paths of a case, and the exact chances of what they come to.

    `twins` are names that a question offers twice, `shown` is what it showed, by its label.
    """

    paths: list[PlayedPath]
    odds: Odds
    twins: dict[str, str]
    shown: dict[str, Shown]


class OutOfTime(RpgresError):
    """What was run did not come to an end in time."""


# ---------------------------------------------------------------------------------------------------------------------
# Plain data


def plain(value: Any) -> bytes:
    """Return a value as bytes that are equal for equal values, in this process and in another."""
    try:
        return msgspec.json.encode(value, enc_hook=_plain)
    except (TypeError, ValueError, msgspec.MsgspecError):
        return repr(value).encode()


def _plain(value: object) -> Any:
    if isinstance(value, Dice):
        return value.text
    return dict(value) if isinstance(value, Mapping) else type(value).__name__


class End(msgspec.Struct, frozen=True):
    """What an action came to, as far as odds can be asked for it: all but the account.

    Attributes:
        effects: the outcome with its effects, as plain data; without the total, which odds may leave out.
    """

    outcome: str
    margin: int | None
    total: int | None
    effects: bytes

    @classmethod
    def of(cls, outcome: Outcome) -> End:
        """Return what an outcome decides."""
        effects = plain([outcome.band, outcome.success, outcome.margin, outcome.effects])
        return cls(outcome.band, outcome.margin, outcome.total, effects)


# ---------------------------------------------------------------------------------------------------------------------
# Time


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """End what is run inside when it takes too long, where that can be done: in a program's first thread.

    The time is that of the processor, so that other work on the machine makes nothing fail; what only waits is given
    `PATIENCE` times as long by the clock.

    Raises:
        OutOfTime: it took longer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    rung, over = threading.Event(), threading.Event()
    last, used = time.monotonic() + PATIENCE * seconds, time.process_time()

    def watch() -> None:
        left = seconds
        while not over.wait(max(left, seconds / 100)):
            left = seconds - (time.process_time() - used)
            if left <= 0 or time.monotonic() >= last:
                rung.set()
                _thread.interrupt_main()
                return

    timer = threading.Thread(target=watch, daemon=True)
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # so a job in the background is born, and never rung
    if ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        yield
    except KeyboardInterrupt as error:
        if not rung.is_set():
            raise
        raise OutOfTime(f"it did not end within {seconds:g} seconds{place_of(error)}") from None
    finally:
        over.set()
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


# ---------------------------------------------------------------------------------------------------------------------
# Single plays


def noting(asked: list[Asked], *, decide: Policy = uniform) -> Policy:
    """Return a policy that decides as another does and notes every question."""

    def policy(view: View, question: Question) -> str | Mapping[str, int] | None:
        asked.append(Asked(msgspec.structs.replace(view, events=tuple(view.events)), question))
        return decide(view, question)

    return policy


def played(
    prepared: Prepared, *, seed: str, decide: Policy = uniform
) -> tuple[list[Asked], Outcome | NeedsAnswer, Run]:
    """Return the questions that a run with a seed asks, what it comes to, and the run itself.

    Raises:
        RpgresError: the rule refuses its inputs, or fails.
    """
    asked: list[Asked] = []
    seats = Seats(policies={"": noting(asked, decide=decide)})
    try:
        outcome, run = play(prepared, dealer=SeededDealer(Streams(seed)), players=seats)
    except NeedsAnswer as needs:
        return asked, needs, needs.run
    return asked, outcome, run


def account(prepared: Prepared, *, seed: str) -> list[bytes]:
    """Return everything about a run with a seed, as plain data: each question, each event, the end, the state after.

    Raises:
        RpgresError: the rule refuses its inputs, or fails.
    """
    asked, end, run = played(prepared, seed=seed)
    lines = [plain(one.question) for one in asked] + [plain(event_record(event)) for event in run.events]
    if isinstance(end, Outcome):
        lines += [plain(end), plain(apply_effects(prepared.rules, run.state, end))]
    return lines


def accounts(prepared: Prepared, *, seeds: int) -> list[list[bytes]]:
    """Return the accounts of runs with so many seeds; of one that fails, its message."""
    found = list[list[bytes]]()
    for number in range(seeds):
        try:
            found.append(account(prepared, seed=f"contract#{number}"))
        except RpgresError as error:
            found.append([error.message.encode()])
    return found


def first_plays(prepared: Prepared) -> Diagnostic | None:
    """Return what goes wrong when a case is played with a few seeds; None when nothing does."""
    try:
        with deadline(SECONDS):
            for number in range(FIRST):
                _, end, run = played(prepared, seed=f"contract#{number}")
                if isinstance(end, Outcome):
                    contract.check_outcome(prepared, end)
                    apply_effects(prepared.rules, run.state, end)
    except RpgresError as error:
        return finding(error.message, advice=_advice(error))
    return None


def _advice(error: RpgresError) -> str:
    if isinstance(error, OutOfTime) or error.reason == "endless":
        return "a rule must return an outcome for all answers; limit every loop"
    if isinstance(error, RuleError):
        return "every result of the dice and every decision must lead to an outcome"
    return "reject invalid inputs before anything is rolled"


# ---------------------------------------------------------------------------------------------------------------------
# Every path


class _Showing(WalkDealer):
    """Walks every result, each roll by itself and nothing merged, and shows real dice for each.

    Attributes:
        is_shown: whether real dice can show all that the running path rolled.
    """

    __slots__ = ("is_shown",)
    joint = False
    is_logged = True

    def begin(self) -> None:
        super().begin()
        self.is_shown = True

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        value = super().throw(dice, label, count).value
        return self._throw(dice, (VALUE,), (value,)) or Throw(value, (), "")

    def read(
        self, dice: Dice, readings: tuple[Reading, ...], label: str, count: int
    ) -> tuple[Throw | None, tuple[int, ...]]:
        _, values = super().read(dice, readings, label, count)
        return self._throw(dice, readings, values), values

    def show(self, dice: Dice, label: str, count: int) -> Throw:
        return dice.throw(lambda sides: int(self.chance(label, range(sides), (1,) * sides, sides)))

    def _throw(self, dice: Dice, readings: tuple[Reading, ...], values: tuple[int, ...]) -> Throw | None:
        throw = _shown(dice, readings).get(values)
        self.is_shown &= throw is not None
        return throw

    def merge(self, key: object) -> None:
        """Go on: every path is followed by itself."""


@lru_cache(maxsize=256)
def _throws(dice: Dice) -> tuple[Throw, ...]:
    """Return throws of dice: all there are where that is a table, else as many as show what is not too rare."""
    if dice.table is not None:
        return dice.table
    return tuple(dice.throw(Streams(f"contract#{number}").below(0, "shown", 0)) for number in range(TAIL))


@lru_cache(maxsize=256)
def _shown(dice: Dice, readings: tuple[Reading, ...]) -> dict[tuple[int, ...], Throw]:
    """Return a throw for each result of reading dice."""
    from rpgres.dice.readings import read_off

    return {read_off(dice, throw, readings): throw for throw in reversed(_throws(dice))}


def walk(prepared: Prepared, *, leaves: int) -> Walk:
    """Return every path of an action, each roll by itself and nothing merged, all decisions taken in every way.

    Raises:
        RuleError: the rule fails on one, or asks otherwise when it is run again.
    """
    paths, showing, twins, shown = list[PlayedPath](), _Showing(), dict[str, str](), dict[str, Shown]()

    def decide(view: View, question: Question) -> Mapping[str, int] | str | None:
        if len({option.name for option in question.offered}) < len(question.offered):
            names = Counter(option.name for option in question.offered)
            twins.setdefault(question.label, names.most_common(1)[0][0])
        known = shown.setdefault(question.label, Shown(set(), {}, {}, set()))
        _note(known.facts, question.facts)
        known.typed.update([question.label] if question.reads is not None and not question.says_more else ())
        for option in question.offered:
            known.options.add(option.name)
            _note(known.option_facts, option.facts)
        return uniform(view, question)

    def once(dealer: WalkDealer) -> End:
        outcome, run = play(prepared, dealer=dealer, players=Seats(policies={"": decide}))
        before = run.state if prepared.action in prepared.rules.ruleset.procedures else None
        paths.append(PlayedPath(tuple(run.events), outcome, tuple(run.skipped), showing.is_shown, before))
        return End.of(outcome)

    return Walk(paths, explore(once, showing, leaves=leaves, seconds=SECONDS), twins, shown)


def _note(words: dict[str, set[str]], facts: Mapping[str, Any]) -> None:
    for name, value in facts.items():
        words.setdefault(name, set()).update([value] if isinstance(value, str) else ())


def walk_for(
    prepared: Prepared,
    *,
    asked: str,
    leaves: int,
    others: bool = False,
    merged: bool = True,
    questions: list[Question] | None = None,
) -> Odds:
    """Return the exact chances of what is asked, as odds walk it: rolls compared at once, runs merged.

    Args:
        asked: one of `QUESTIONS`.
        others: which of equivalent cards and runs it goes on with; see `TapeDealer`.
        merged: False to walk it roll by roll, with nothing merged.

    Raises:
        RuleError: the rule fails on a path, or asks otherwise when it is run again.
    """
    runs = Runs(attrgetter(ANSWERS[asked]) if asked in ANSWERS else lambda outcome: End.of(outcome).effects)
    playing = partial(play, with_piles(prepared, asked=asked), asked=asked)

    def decide(view: View, question: Question) -> Mapping[str, int] | str | None:
        if questions is not None:
            questions.append(question)
        return uniform(view, question)

    def once(dealer: WalkDealer) -> Hashable:
        found: Hashable = runs.run(playing, dealer, Seats(policies={"": decide}))
        return found

    dealer = WalkDealer(others=others) if merged else _Showing()
    return explore(once, dealer, leaves=leaves, seconds=SECONDS)


def replay(prepared: Prepared, path: PlayedPath) -> tuple[PlayedPath, list[tuple[str, str]]] | None:
    """Return a path run again from its own answers, and the answers it did not use.

    None for one whose dice cannot be shown: a tail that is too rare.

    Raises:
        RpgresError: an answer is refused, or none is there for a question.
    """
    if not path.is_shown:
        return None
    given, choose = scripts_of(answers_of(path.questions, single={event.label for event in path.questions}))
    dealer = GivenDealer(given, then=NoDealer(_not_before))
    seats = Seats(choose)
    try:
        outcome, run = play(prepared, dealer=dealer, players=seats)
    except NeedsAnswer as needs:
        raise RuleError(f"it asked {needs.question.label!r}, for which there was no answer the first time") from None
    return PlayedPath(tuple(run.events), outcome), [*dealer.unused(), *seats.unused()]


def _not_before(verb: str, label: str) -> RuleError:
    return RuleError(f"it {verb} {label!r}, which it did not {'roll' if verb == 'rolled' else 'draw'} the first time")
