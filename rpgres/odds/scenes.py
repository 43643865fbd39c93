"""Exact odds of whole scenes: layer by layer, equal standings merged, the heaviest first. Nothing here names a ruleset.

A turn is run once for all standings that agree in what it reads; for the others it is looked up. What a budget leaves
is reported as open; nothing is renormalised.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine.dealers import Dealer
from rpgres.engine.hidden import Known
from rpgres.engine.players import Answerer, Question
from rpgres.engine.running import Run
from rpgres.engine.standing import Standing
from rpgres.engine.stops import NeedsAnswer
from rpgres.model.printed import Printed
from rpgres.model.state import EMPTY
from rpgres.odds.chances import Chance, chance_rows
from rpgres.odds.explorer import MERGE, Budget, Merged, Method, Runs, WalkDealer, entries, explore_within, summed
from rpgres.odds.parts import NEGLIGIBLE, Kept, Sums, drawn
from rpgres.odds.watching import Memo, Node, Parts, Reads
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from fractions import Fraction

WORK = 600_000  # default budget: standings that are gone through, and questions that turns ask

Delta = tuple[tuple[int, int], ...]


class Course(msgspec.Struct, frozen=True):
    """Something that is played in turns, such as a scene.

    Attributes:
        start: where it stands at the beginning.
        turn: plays what is due with a dealer, and returns where it then stands; somebody may decide before policies do.
        onward: goes on to what is due next, without chance and without asking anybody.
        is_over: whether nothing is due any more.
        result: what is asked for, of a standing at the end.
        canons: by field of the state, what stands for all values that are alike to the rules.
    """

    start: Standing
    turn: Callable[[Standing, Dealer, Answerer | None], Standing]
    onward: Callable[[Standing], Standing]
    is_over: Callable[[Standing], bool]
    result: Callable[[Standing], Hashable]
    canons: Mapping[str, Callable[[Any], Any]] = EMPTY


class SceneOdds(msgspec.Struct, frozen=True):
    """The exact distribution of how a scene ends.

    Attributes:
        masses: probability by result, the most probable first.
        open: probability of what the budget left unresolved; masses and open sum to exactly 1.
        leaves: how many courses of single turns were run.
        states: how many distinct standings were gone through.
        turns: how many turns the longest course that was followed has.
        is_interrupted: whether somebody stopped it; what is known by then stands.
    """

    masses: dict[Any, Fraction]
    open: Fraction
    leaves: int
    states: int
    turns: int
    is_interrupted: bool = False


class ExactSceneOdds(Printed, frozen=True, kw_only=True, tag="rpgres.scene-odds/1"):
    """The odds of a scene or a procedure, as `rpgres odds scene.toml --json` prints them.

    Attributes:
        ruleset: the ruleset's id.
        scene: the scene's file or name; of a procedure `RULESET/PROCEDURE`.
        title: the scene's title.
        inputs: what was typed for a procedure, by parameter.
        by: what the chances are of: `ending`, a path of the table at the end, or what a procedure counts.
        outcomes: the chance of each ending, or of each value.
        mean: the mean of the values, where all are numbers and nothing is open; null elsewhere.
        method: exact; partial, where each chance is an exact lower bound and what is open adds to one or another.
        open: the chance of what the budget left unresolved; all chances and this sum to exactly 1.
        leaves: how many courses of single turns were run.
        states: how many distinct standings were gone through.
        turns: how many turns the longest course has.
        policies: who decided by which policy; everybody else under `*`.
        switches: every house rule and the choice in force.
        house_rules: what differs from the ruleset as it ships: what is laid over it, switches not at their default.
        interrupted: whether it was stopped before its end; what is known by then stands.
        known: at a persistent table, by whose knowledge of it; null elsewhere.
        note: the text of --note.
    """

    ruleset: str
    scene: str
    title: str
    inputs: dict[str, Any] = {}
    by: str = "ending"
    outcomes: dict[str, Chance]
    mean: Chance | None = None
    method: Method
    open: Chance
    leaves: int
    states: int
    turns: int
    policies: dict[str, str] = {}
    switches: dict[str, str] = {}
    house_rules: list[str] = []
    interrupted: bool = False
    known: Known | None = None
    note: str | None = None

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each ending or value, as `pandas.DataFrame` takes it: `probability`, `exact` fraction."""
        return chance_rows(self.by, self.outcomes, has_numbers=self.by != "ending")


class Undecided(Exception):  # it is no error of the scene: somebody has to say who decides
    """Decisions before the end have nobody to take them."""

    def __init__(self, questions: dict[str, Question]) -> None:
        super().__init__(", ".join(questions))
        self.questions = questions


class Rest(msgspec.Struct, frozen=True):
    """The rest of a turn behind a merge: it depends on the key, and on what is read of the table from there on.

    Attributes:
        key: what the rule merged on.
        tape: the answers of one course up to there, the key the last of them.
        known: what comes of it, by what was read.
    """

    key: Hashable
    tape: Any
    known: Memo


class Step(msgspec.Struct, frozen=True, gc=False):
    """What a turn comes to, or a rest of one: weights, of a total, by what it changes; what lacks is open."""

    branches: tuple[tuple[int, Delta | Rest], ...]
    total: int


class PhaseDealer(WalkDealer):
    """Answers behind a merge on, and has what is read from there on noted.

    Args:
        tape: the answers before it; None from the beginning of a turn.
        reads: what is read of the standing.
        kept: what parts of rules come to; None where they are played like all else.
    """

    __slots__ = ("_kept", "_reads", "_tape_before", "keeps_parts")

    def __init__(self, tape: Any, reads: Reads, kept: Kept | None) -> None:
        super().__init__()
        self._reads, self._tape_before = reads, tape
        self._kept, self.keeps_parts = kept, kept is not None
        self.waiting.clear()
        self.queue(1, 1, tape)

    def begin(self) -> None:
        super().begin()
        self._reads.is_off = self._tape_before is not None

    def merge(self, key: object) -> None:
        super().merge(key)
        if self._position >= len(entries(self._tape_before)):
            self._reads.is_off = False

    def part(self, run: Run, key: Hashable, play: Callable[[Run], Any]) -> Any:
        assert self._kept is not None
        known = self._kept.found.get(key)
        if known is None:
            with self._reads.off():  # the key stands for what it reads
                known = self._kept.found[key] = self._kept.evaluate(run, play)
        return play(run) if known.is_open else drawn(self, known)


def scene_odds(
    course: Course,
    *,
    leaves: int | None = None,
    seconds: float | None = None,
    work: int = WORK,
    is_merged: bool = True,
) -> SceneOdds:
    """Return the exact chances of how something ends that is played in turns.

    Args:
        course: what is played.
        leaves, seconds, work: see `Budget`.
        is_merged: whether turns are looked up that agree in what they read; it changes no chance.

    Raises:
        Undecided: a decision has nobody to take it.
        Broken: the rules do otherwise when they are run again, or a turn asks without end.
        RuleError: the ruleset's code failed.
    """
    return _Walk(course, Budget(leaves, seconds, work=work), is_merged=is_merged).run()


class _Walk:
    """One walk: what is known of turns, and where the mass has come to."""

    def __init__(self, course: Course, budget: Budget, *, is_merged: bool) -> None:
        self.course, self.budget = course, budget
        self.is_merged = is_merged
        self.parts = Parts(course.canons)
        self.rests: dict[Hashable, Memo] = {}
        self.kept = Kept(budget)
        self.turns, self.onwards, self.results = Memo(), Memo(), Memo()
        self.leaves = self.states = 0
        self.ends = Sums()
        self.left = Sums()  # what is open, under None
        self.undecided: dict[str, Question] = {}

    def run(self) -> SceneOdds:
        """Go through the layers until nothing is left, or the budget is spent."""
        layer: dict[Node, int] = {}
        scale, turns, is_interrupted = 1, 0, False
        self._arrive(self.parts.node_of(self.course.start), 1, 1, layer)
        ends, left = Sums(), Sums()
        while layer:
            try:
                after, factor = self._layer(layer, scale)
            except KeyboardInterrupt:  # of a layer that is not finished, nothing is known
                self.ends, self.left = Sums(), Sums()
                self._leave_open(sum(layer.values()), scale)
                is_interrupted = True
                break
            finally:
                ends.take(self.ends)
                left.take(self.left)
            if self.undecided:
                raise Undecided(self.undecided)
            turns += 1
            scale *= factor
            if after and sum(after.values()) * NEGLIGIBLE < scale:
                self._leave_open(sum(after.values()), scale)
                break
            common = gcd(scale, *after.values()) if after else 1
            layer = {node: weight // common for node, weight in after.items()} if common > 1 else after
            scale //= common
        ends.take(self.ends)
        left.take(self.left)
        masses = ends.masses()
        ordered = dict(sorted(masses.items(), key=lambda item: -item[1]))
        leaves = self.leaves + self.kept.leaves
        is_interrupted = is_interrupted or STOP.is_asked
        return SceneOdds(ordered, summed(left.by.get(None, {})), leaves, self.states, turns, is_interrupted)

    def _layer(self, layer: dict[Node, int], scale: int) -> tuple[dict[Node, int], int]:
        """Return the standings after a layer's turns with their weights, and by what the scale has grown."""
        heaviest = sorted(layer, key=layer.__getitem__, reverse=True)
        half, found = self.budget.half(), list[tuple[Node, int, list[tuple[int, Delta]], int]]()
        for number, node in enumerate(heaviest):
            if self.budget.is_spent or (number and self.budget.is_past(half)):
                self._leave_open(sum(layer[one] for one in heaviest[number:]), scale)
                break
            self.budget.spend(1)
            self.states += 1
            node = self.parts.padded(node)
            found.append((node, layer[heaviest[number]], *self._followed(node, self._turn(node))))
        factor = lcm(*{total for _, _, _, total in found})
        after: dict[Node, int] = {}
        for node, weight, branches, total in found:
            grown = weight * (factor // total)
            open_ = total
            for share, delta in branches:
                changed = list(node)
                changed += [0] * (len(self.parts.keys) - len(changed))
                for part, id_ in delta:
                    changed[part] = id_
                self._arrive(tuple(changed), grown * share, scale * factor, after)
                open_ -= share
            if open_:
                self._leave_open(grown * open_, scale * factor)
        width = len(self.parts.keys)
        if any(len(node) < width for node in after):  # parts that came up on the way
            padded: dict[Node, int] = {}
            for node, weight in after.items():
                node = self.parts.padded(node)
                padded[node] = padded.get(node, 0) + weight
            after = padded
        return after, factor

    def _arrive(self, node: Node, weight: int, scale: int, layer: dict[Node, int]) -> None:
        """Take a standing on to what is due next, and add its weight there or at the end."""
        if len(node) < len(self.parts.keys):
            node = self.parts.padded(node)
        found = self.onwards.find(node, self.parts) if self.is_merged else None
        if found is None:
            found = self._onward(node)
        delta, is_over = found
        if delta:
            changed = list(self.parts.padded(node))
            for part, id_ in delta:
                changed[part] = id_
            node = tuple(changed)
        if not is_over:
            layer[node] = layer.get(node, 0) + weight
            return
        result = self.results.find(node, self.parts) if self.is_merged else None
        if result is None:
            result = self._result(node)
        self.ends.add(result[0], weight, scale)

    def _onward(self, node: Node) -> tuple[Delta, bool]:
        reads = self.parts.reads(node)
        after = self.course.onward(self.parts.watched(node, reads))
        is_over = self.course.is_over(after)
        found = self.parts.changes(node, after, reads), is_over
        self.onwards.keep(node, reads, found, self.parts)
        return found

    def _result(self, node: Node) -> tuple[Hashable]:
        reads = self.parts.reads(node)
        found = (self.course.result(self.parts.watched(node, reads)),)
        self.results.keep(node, reads, found, self.parts)
        return found

    def _turn(self, node: Node) -> Step:
        """Return what comes of the turn that is due: looked up, or run on every answer of chance."""
        known: Step | None = self.turns.find(node, self.parts) if self.is_merged else None
        if known is not None:
            return known
        step, reads = self._explored(node, None)
        self.turns.keep(node, reads, step, self.parts)
        return step

    def _followed(self, node: Node, step: Step) -> tuple[list[tuple[int, Delta]], int]:
        """Return what comes of a turn, its rests included: weights by what it changes, and their total.

        Args:
            node: the standing before the turn.
            step: the turn, or a rest of it.
        """
        rests = [
            (share, *self._followed(node, self._rest(node, one)))
            for share, one in step.branches
            if isinstance(one, Rest)
        ]
        factor = lcm(*(total for _, _, total in rests)) if rests else 1
        branches = [(share * factor, one) for share, one in step.branches if not isinstance(one, Rest)]
        for share, inner, total in rests:
            branches += [(share * factor // total * part, delta) for part, delta in inner]
        return branches, step.total * factor

    def _rest(self, node: Node, rest: Rest) -> Step:
        """Return what comes of the rest of a turn behind a merge: looked up, or run from there on."""
        known: Step | None = rest.known.find(node, self.parts) if self.is_merged else None
        if known is None:
            known, reads = self._explored(node, rest.tape)
            rest.known.keep(node, reads, known, self.parts)
        return known

    def _explored(self, node: Node, tape: Any) -> tuple[Step, Reads]:
        """Return what comes of a turn, from a tape on, and what was read of the standing for it."""
        reads = self.parts.reads(node)
        standing, runs = self.parts.watched(node, reads), Runs()
        rests: dict[Hashable, Rest] = {}

        def once(dealer: WalkDealer) -> Delta | Rest:
            try:
                after = self.course.turn(standing, dealer, None)
            except NeedsAnswer as needs:
                self.undecided[needs.question.label] = needs.question
                return ()
            except Merged as merged:
                rest = rests.get(merged.key)
                if rest is None:
                    rest = rests[merged.key] = self._merged(node, merged.key, dealer.node)
                return rest
            finally:
                runs.work += 1 + len(dealer.tape)
            return self.parts.changes(node, after, reads)

        dealer = PhaseDealer(tape, reads, self.kept if self.is_merged else None)
        odds = explore_within(self.budget.share(), once, dealer, runs)
        self.leaves += odds.leaves
        total = lcm(*(mass.denominator for mass in odds.masses.values()), odds.open.denominator)
        branches = tuple((int(mass * total), found) for found, mass in odds.masses.items())
        return Step(branches, total), reads

    def _merged(self, node: Node, key: Hashable, tape: Any) -> Rest:
        """Return the rest of a turn behind a merge; turns that carry the same share it."""
        carried = key[0] if isinstance(key, tuple) else None
        if carried is None:
            known = Memo()
        else:
            answers = [self.parts.value(node, ("at", field)) for field in ("op", "given", "choose")]
            known = self.rests.setdefault((*answers, key), Memo())
        return Rest(key, (tape, (MERGE, key)), known)

    def _leave_open(self, weight: int, scale: int) -> None:
        self.left.add(None, weight, scale)
