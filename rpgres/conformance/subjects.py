"""The ruleset that is checked, and the actions that are played for it: its examples and the steps of its scenes.

Only the ruleset's own data count: what somebody laid over them here is not its author's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from copy import copy
from functools import cached_property
from pathlib import Path

import msgspec

from rpgres.conformance.records import finding, place
from rpgres.conformance.walks import SECONDS, Walk, accounts, deadline, first_plays, plain, walk
from rpgres.engine.prepare import Prepared, prepare
from rpgres.errors import RpgresError, UsageError
from rpgres.parameters.examples import example_inputs
from rpgres.rulesets import Rules, Ruleset
from rpgres.rulesets.folders import located_in
from rpgres.scenes import Leaf, Scene, read_scene
from rpgres.scenes.flow import Cursor, after_step, is_over, leaf_at, onward
from rpgres.scenes.playing import play_step, prepare_step
from rpgres.toml.diagnostics import Diagnostic, Fault, key_text
from rpgres.toml.reading import locate, read_source

SEEDS = 5  # with which a case is played twice, to see whether it goes the same way
LEAVES = 1000  # paths that are followed for an action's example, and as many for all its steps in scenes together
FEWEST = 20  # paths that are followed for any step
FEW_LONG = 5  # paths that are followed of a procedure


class Case(msgspec.Struct, frozen=True):
    """One action with its inputs read: the example of its help, or a step of a scene.

    Attributes:
        name: what it is called; no other case has the name.
        prepared: the action, ready to be run.
        leaf: the step of a scene; None for an example.
    """

    name: str
    prepared: Prepared
    leaf: Leaf | None = None

    @property
    def is_example(self) -> bool:
        """Whether it is the example of the action's help."""
        return self.leaf is None

    @property
    def place(self) -> Diagnostic:
        """Where it stands: an example in the ruleset's data, or a step in its scene."""
        if self.leaf is None:
            return place_of_key(self.prepared.rules, "actions", self.prepared.action, "example")
        leaf = self.leaf
        return place(leaf.source.path, locate(leaf.source.text, leaf.path), key_text(leaf.path))


def place_of_key(rules: Rules, *path: str | int) -> Diagnostic:
    """Return where a key of `ruleset.toml` stands."""
    return located_in(rules.layers.parts, Fault("", path, ""))


def open_subject(ruleset: Ruleset, *, is_installed: bool = True) -> Subject:
    """Return a ruleset ready to be checked.

    Args:
        ruleset: its code.
        is_installed: whether another process finds the same ruleset under its id.

    Raises:
        FileError: its data cannot be read at all.
    """
    return Subject(Rules.read(ruleset), is_installed=is_installed)


class Subject:
    """A ruleset that is checked; what checks share is worked out once.

    Args:
        rules: the ruleset with its data.
        is_installed: whether another process finds the same ruleset under its id.

    Attributes:
        distribution: what brings it, as pip names it; empty where it is not installed.
    """

    def __init__(self, rules: Rules, *, is_installed: bool = False) -> None:
        self.rules = rules.without_overlays()
        self.rules.ruleset = copy(rules.ruleset)
        self.distribution = rules.ruleset.origin.distribution if rules.ruleset.origin is not None else ""
        self.rules.ruleset.origin = None  # its faults are told to its author, who need not be told whom to ask
        self.is_installed = is_installed
        self._walks: dict[int, Walk] = {}
        self._kept = b""

    def place(self, *path: str | int) -> Diagnostic:
        """Return where a key of `ruleset.toml` stands."""
        return place_of_key(self.rules, *path)

    @cached_property
    def scenes(self) -> list[tuple[Path, Scene | RpgresError]]:
        """The scenes that come with the ruleset, or why one cannot be read."""
        return [(path, self._scene(path)) for path in self.rules.layers.files("scenes")]

    def _scene(self, path: Path) -> Scene | RpgresError:
        def load(_code: Ruleset, *, switches: Mapping[str, str], extra: object) -> Rules:
            return self.rules.with_switches(switches)

        def find(ruleset_id: str) -> Ruleset:
            if ruleset_id != self.rules.id:
                raise UsageError(f"a scene that comes with {self.rules.id} is for it, and not for {ruleset_id!r}")
            return self.rules.ruleset

        try:
            return read_scene(read_source(path), find_ruleset=find, load=load)
        except RpgresError as error:
            return error

    @cached_property
    def examples(self) -> list[Case | Diagnostic]:
        """The example of every action, or why it cannot be typed."""
        return [self._example(action) for action, described in self.rules.file.actions.items() if described.example]

    def _example(self, action: str) -> Case | Diagnostic:
        try:
            return Case(f"the example of {action}", read_example(self.rules, action))
        except RpgresError as error:
            where = self.place("actions", action, "example")
            return finding(error.typed, where, "the example is shown in the help, so it must work")

    @cached_property
    def cases(self) -> list[Case]:
        """Everything that is played: the examples, then every step of a scene that expects no error."""
        self._kept = plain(self.rules.file)  # before anything is played
        found = [case for case in self.examples if isinstance(case, Case)]
        for _, scene in self.scenes:
            if isinstance(scene, Scene):
                found += _steps(scene)
        return found

    @property
    def is_changed(self) -> bool:
        """Whether the data are not what they were before anything was played."""
        return bool(self.cases) and plain(self.rules.file) != self._kept

    @cached_property
    def faults(self) -> list[Diagnostic]:
        """What goes wrong when every case is played; an action that fails once is not played again."""
        return [told for _, told in self._played if told is not None]

    @cached_property
    def sound(self) -> list[Case]:
        """The cases of actions that play to an end."""
        failed = {case.prepared.action for case, told in self._played if told is not None}
        return [case for case in self.cases if case.prepared.action not in failed]

    @cached_property
    def fickle(self) -> list[tuple[Case, list[bytes], list[bytes]]]:
        """The sound cases that go otherwise when they are played again with the same seed, in another order.

        Each with the first two accounts that differ.
        """
        first = [accounts(case.prepared, seeds=SEEDS) for case in self.sound]
        ballast = [[object(), number] for number in range(10_000)]  # so that what goes by addresses goes otherwise
        found = []
        for case, before in zip(reversed(self.sound), reversed(first), strict=True):
            pairs = zip(before, accounts(case.prepared, seeds=SEEDS), strict=True)
            differing = next(((one, other) for one, other in pairs if one != other), None)
            if differing is not None:
                found.append((case, *differing))
        del ballast
        return found

    @cached_property
    def steady(self) -> list[Case]:
        """The sound cases of actions that always go the same way again."""
        fickle = {case.prepared.action for case, *_ in self.fickle}
        return [case for case in self.sound if case.prepared.action not in fickle]

    @property
    def lack(self) -> str:
        """Why there is nothing to play for a check."""
        if not self.cases:
            return "no example and no scene plays an action"
        return "no action gives the same result twice" if self.sound else "no action plays to its end"

    @cached_property
    def _played(self) -> list[tuple[Case, Diagnostic | None]]:
        played: list[tuple[Case, Diagnostic | None]] = []
        failed: set[str] = set()
        for case in self.cases:
            if case.prepared.action not in failed:
                told = first_plays(case.prepared)
                if told is not None:
                    failed.add(case.prepared.action)
                    told = msgspec.structs.replace(case.place, message=told.message, advice=told.advice)
                played.append((case, told))
        return played

    def walk(self, case: Case) -> Walk:
        """Return the paths that a case can take, as many as the budget allows; followed once.

        Raises:
            RuleError: the rule fails on one of them, or asks otherwise when it is run again.
        """
        found = self._walks.get(id(case))
        if found is None:
            found = self._walks[id(case)] = walk(case.prepared, leaves=self.budget(case))
        return found

    def budget(self, case: Case) -> int:
        """Return how many paths of a case are followed: few of a procedure, as each of them is long."""
        if case.prepared.action in self.rules.ruleset.procedures:
            return FEW_LONG
        if case.is_example:
            return LEAVES
        return max(FEWEST, LEAVES // self._steps_by_action[case.prepared.action])

    @cached_property
    def _steps_by_action(self) -> dict[str, int]:
        actions = [case.prepared.action for case in self.cases if not case.is_example]
        return {action: actions.count(action) for action in actions}


def _steps(scene: Scene) -> Iterator[Case]:
    """Yield the steps of a scene with the table as it is when their turn comes; the scene ends at one that fails."""
    from rpgres.dice.seeds import Streams
    from rpgres.engine.records import Result

    streams, program, rules = Streams(scene.file.seed or "0"), scene.program, scene.rules
    state, at = scene.state, Cursor()
    passes = Counter[str]()  # of steps that repeat
    while not is_over(program, at := onward(program, rules, at, state)):
        leaf = leaf_at(program, at)
        step, before = leaf.step, scene.state if leaf.step.fresh else state
        is_refused = step.expect is not None and step.expect.error is not None
        found, after = None, before
        try:
            if not is_refused and step.played:
                passes[leaf.name] += 1
                again = f", pass {passes[leaf.name]}" if passes[leaf.name] > 1 else ""
                yield Case(f"{leaf.source.path}, {leaf.name}{again}", prepare_step(scene, leaf, before), leaf)
            with deadline(SECONDS):
                found, after = play_step(scene, leaf, at, before, streams)
        except RpgresError:
            if not is_refused:
                return  # why, is told by the check that plays scenes
        state = state if step.fresh else after
        outcome = (found.outcome or "") if isinstance(found, Result) else None
        at = after_step(program, rules, at, state, outcome=outcome)


# ---------------------------------------------------------------------------------------------------------------------
# Examples


def read_example(rules: Rules, action: str, *, with_cards: bool = True) -> Prepared:
    """Return the action that an `example` types, with its inputs read.

    Args:
        rules: the ruleset.
        action: the action.
        with_cards: whether the cards it names are laid; those of one deck are not in another.

    Raises:
        UsageError: it is not a command line for this action.
        FileError: a sheet it names is missing or faulty.
    """
    inputs, switches = example_inputs(rules, action)
    cards = [name for name, parameter in rules.parameters(action).items() if parameter.kind == "cards"]
    chosen = rules.with_switches(switches) if switches else rules
    taken = {name: value for name, value in inputs.items() if with_cards or name not in cards}
    return prepare(chosen, action, taken, beside=rules.folders[-1] / "sheets")
