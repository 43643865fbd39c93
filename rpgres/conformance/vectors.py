"""Vectors: dice in the order thrown, and what a ruleset has to make of them. `rpgres ruleset test` runs them.

A file has one case a line, as JSON, see `Case`; empty lines and those that begin with # are comments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rpgres.dice import Dice, Throw
from rpgres.dice.grammar import FATE, Pool
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import Dealer, SeededDealer
from rpgres.engine.players import NO, Question, View, policy_of
from rpgres.engine.prepare import prepare
from rpgres.engine.run import play
from rpgres.engine.seats import Seats
from rpgres.engine.stops import NeedsAnswer
from rpgres.engine.table import Outcome
from rpgres.errors import FileError, RpgresError, UsageError
from rpgres.model.printed import Printed
from rpgres.rulesets import Rules
from rpgres.toml.diagnostics import key_text
from rpgres.toml.faults import faults
from rpgres.toml.reading import read_source

SUFFIX = ".jsonl"


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a case has to come to; what is left out is not compared.

    Attributes:
        outcome: the band.
        success: whether that is a success; null for neither.
        numbers: numbers that are told; there may be more.
        labels: words that are told beside the band; there may be more.
    """

    outcome: str
    success: bool | msgspec.UnsetType | None = msgspec.UNSET
    numbers: dict[str, int] = {}
    labels: dict[str, str] = {}


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One vector.

    Attributes:
        id: its name, for the report.
        action: the action.
        inputs: what is typed, by parameter.
        dice: sides and face of each die, in the order thrown; dice that are thrown again come in rounds.
        choose: answers to decisions, by label; any other that may stay unanswered does.
        expect: what comes of it.
    """

    id: str
    action: str
    inputs: dict[str, Any]
    dice: list[tuple[int, int]]
    expect: Expected
    choose: dict[str, list[str]] = {}


class Difference(msgspec.Struct, frozen=True):
    """A case that comes out differently.

    Attributes:
        id: the case.
        file: the file of vectors.
        line: where it stands there.
        told: what differs, one each.
    """

    id: str
    file: str
    line: int
    told: list[str]


class VectorReport(Printed, frozen=True, kw_only=True, tag="rpgres.ruleset-test/1"):
    """What `rpgres ruleset test --json` prints.

    Attributes:
        ruleset: the ruleset.
        files: the files of vectors.
        ok: whether all cases pass.
        cases: how many there are.
        passed: how many of them pass.
        differences: those that do not.
    """

    ruleset: str
    files: list[str]
    ok: bool
    cases: int
    passed: int
    differences: list[Difference]


def read_vectors(path: Path) -> list[tuple[int, Case]]:
    """Return the cases of a file, each with its line.

    Raises:
        FileError: it cannot be read, or a line is no case.
    """
    found = []
    for number, text in enumerate(read_source(path).text.splitlines(), 1):
        if text.strip() and not text.startswith("#"):
            try:
                found.append((number, _case(text)))
            except (ValueError, RecursionError) as error:
                told = f"{path}:{number}: this is no vector: {error}"
                raise FileError(told, file=str(path), line=number) from None
    if not found:
        raise FileError(f"{path}: it has no vectors: one case a line, as JSON", file=str(path))
    return found


def _case(text: str) -> Case:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON from column {error.colno} on") from None
    if wrong := faults(data, Case):
        raise ValueError("; ".join(": ".join(filter(None, (key_text(one.path), one.message))) for one in wrong))
    return msgspec.convert(data, Case)


def own_vectors(rules: Rules) -> list[Path]:
    """Return the files of vectors that a ruleset and what is laid over it bring, in their folders `vectors`."""
    return rules.layers.files("vectors", f"*{SUFFIX}")


def run_vectors(rules: Rules, paths: Sequence[Path]) -> VectorReport:
    """Return what comes of all vectors of some files.

    Raises:
        FileError: one cannot be read.
    """
    cases = [(str(path), line, case) for path in paths for line, case in read_vectors(path)]
    differences = [
        Difference(case.id, file, line, told) for file, line, case in cases if (told := [*differences_of(rules, case)])
    ]
    return VectorReport(
        ruleset=rules.id,
        files=[str(path) for path in paths],
        ok=not differences,
        cases=len(cases),
        passed=len(cases) - len(differences),
        differences=differences,
    )


def differences_of(rules: Rules, case: Case) -> Iterator[str]:
    """Yield what differs between a case and what the ruleset makes of it."""
    policy = policy_of(rules)

    def as_needed(view: View, question: Question) -> Any:
        return NO if question.optional else policy(view, question)

    try:
        prepared = prepare(rules, case.action, case.inputs)
        dealer = _OrderedDealer(case.dice, labels=_labels(rules, case.action))
        outcome, _ = play(prepared, dealer=dealer, players=Seats(case.choose, policies={"": as_needed}))
    except NeedsAnswer as needs:
        yield f"it waits for the decision {needs.question.label}"
        return
    except RpgresError as error:
        yield error.message
        return
    if dealer.left:
        yield f"{len(dealer.left)} of the dice are not thrown: {_shown(dealer.left)}"
    yield from _compared(outcome, case.expect)


def _labels(rules: Rules, action: str) -> set[str]:
    """Return the labels of the dice that a case has to have: the action's groups, or all that random tables roll."""
    tables = rules.file.tables if action in rules.file.tables else ()
    return {*rules.file.actions[action].groups, *tables, *(f"{name}-dice" for name in tables)}


def _compared(outcome: Outcome, expect: Expected) -> Iterator[str]:
    if outcome.band != expect.outcome:
        yield f"outcome is {outcome.band}, not {expect.outcome}"
    if expect.success is not msgspec.UNSET and outcome.success is not expect.success:
        yield f"success is {_words(outcome.success)}, not {_words(expect.success)}"
    told: dict[str, Any] = {"total": outcome.total, "margin": outcome.margin, **outcome.details}
    wanted: dict[str, Any] = {**expect.numbers, **expect.labels}
    for name, value in wanted.items():
        found = told.get(name)
        if found != value:
            yield f"{name} is {_words(found)}, not {_words(value)}"


def _words(value: Any) -> str:
    return "not told" if value is None else str(value).lower()


def _shown(dice: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{face} on a d{sides}" for sides, face in dice)


class _OrderedDealer(Dealer):
    """A dealer that hands out dice in the order thrown, whatever they are called; the rest comes from a fixed seed.

    Attributes:
        left: the dice that have not been thrown.
    """

    __slots__ = ("_labels", "_then", "left")

    def __init__(self, dice: Sequence[tuple[int, int]], *, labels: set[str]) -> None:
        self.left = list(dice)
        self._labels = labels
        self._then = SeededDealer(Streams("vectors"))

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        if label not in self._labels:
            return self._then.throw(dice, label, count)
        return dice.read(";".join(self._pool(pool, _going_on(pool)) for pool in dice.pools))

    def pick(self, weights: Sequence[int], label: str, count: int) -> int:
        return self._then.pick(weights, label, count)

    def _pool(self, pool: Pool, goes_on: Callable[[int, int], bool]) -> str:
        """Return the faces of a pool die by die, where they were thrown in rounds."""
        if pool.is_d66:
            return ",".join(f"{self._face(6)}{self._face(6)}" for _ in range(pool.count))
        thrown = [[self._face(pool.sides)] for _ in range(pool.count)]
        again = [one for one in thrown if goes_on(one[-1], 1)]
        while again:
            for one in again:
                one.append(self._face(pool.sides))
            again = [one for one in again if goes_on(one[-1], len(one))]
        if pool.sides == FATE:
            return "".join("-0+"[face + 1] for one in thrown for face in one)
        return ",".join(str(face) for one in thrown for face in one)

    def _face(self, wanted: int) -> int:
        if not self.left:
            raise UsageError(f"it throws more dice: a d{wanted} is missing")
        sides, face = self.left.pop(0)
        if sides != wanted:
            raise UsageError(f"it throws a d{wanted} where the vector has {face} on a d{sides}")
        return face


def _going_on(pool: Pool) -> Callable[[int, int], bool]:
    """Return a function of a face, and of how many its die has, that tells whether the die is thrown again."""
    reroll = pool.reroll
    if reroll is not None:
        return lambda face, faces: reroll.wants(face) and not (reroll.once and faces > 1)
    explosion = pool.explosion
    if explosion is None:
        return lambda face, faces: False
    first, added, most = pool.exploding, pool.exploding_added, explosion.limit
    return lambda face, faces: face in (first if faces == 1 else added) and faces <= most
