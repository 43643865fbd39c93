"""Exact odds of whole scenes: layer by layer, equal positions merged. Nothing here names a ruleset.

A turn is run once for all positions that agree in what it reads; for the others it is looked up.

A scene is gone through in passes. A pass runs the turns of positions whose mass reaches a threshold, and follows much
lighter ones whose turns are known; what it drops is open. As long as something was dropped and the budget lasts, the
next pass has a lower threshold: what is known of turns stays, so that it mostly looks up. A position of mass m that is
dropped leaves at most m open, in whatever layer, so one threshold for all layers leaves the least open for the work.
The pass that leaves the least is the answer. What is open is reported as such; nothing is renormalised.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from rpgres.engine.cards import HIDDEN
from rpgres.engine.hidden import Known
from rpgres.engine.players import Question
from rpgres.odds.chances import Asked, Chance, chance_rows
from rpgres.odds.explorer import NEGLIGIBLE, SLIGHT, Budget, Method, summed
from rpgres.odds.games import Ahead, Game
from rpgres.odds.nodes import UNCHANGED, Delta, Memo, Node, changed, in_turn
from rpgres.odds.positions import Parts
from rpgres.odds.rule_parts import Sums
from rpgres.odds.turn_odds import TurnOdds
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from fractions import Fraction

WORK = 700_000  # default budget: positions that are gone through, and answers in turns, each as many of them (`ANSWER`)
LEAST = 200  # the first pass runs the turns of what has a mass of at least one in so many
KNOWN = 10  # turns that are known are followed down to so much lighter positions
TRIED = 20  # where the turns of so many positions of a layer have too many results, those of the others have, too
FEW = 300  # a layer of so many positions is followed whole in the first pass, as far as turns are known
FALL = 6  # by so much all this grows from pass to pass
EVERY = 10**12  # in place of any of these: nothing is dropped
SPARE = 0.05  # for this share of its budget, the first pass runs turns of lighter positions, too; it doubles each time


class SceneOdds(msgspec.Struct, frozen=True):
    """The exact distribution of how a scene ends.

    Attributes:
        masses: probability by result, the most probable first.
        open: probability of what the budget left unresolved; masses and open sum to exactly 1.
        leaves: how many paths of single turns were run.
        states: how many distinct states were evaluated.
        turns: how many turns the longest path that was followed has.
        is_interrupted: whether somebody stopped it; what is known by then stands.
        too_many: the label of what has too many results for any budget, as hands that are dealt; empty where nothing
            has.
    """

    masses: dict[Any, Fraction]
    open: Fraction
    leaves: int
    states: int
    turns: int
    is_interrupted: bool = False
    too_many: str = ""


class ExactSceneOdds(Asked, frozen=True, kw_only=True, tag="rpgres.scene-odds/1"):
    """The odds of a scene or a procedure, as `rpgres odds scene.toml --json` prints them.

    Attributes:
        scene: the scene's file or name; of a procedure `RULESET/PROCEDURE`.
        by: what the chances are of: `ending`, a path of the table at the end, or what a procedure counts.
        outcomes: the chance of each ending, or of each value.
        mean: the mean of the values, where all are numbers and nothing is open; null elsewhere.
        method: exact; partial, where each chance is an exact lower bound and what is open adds to one or another.
        open: the chance of what the budget left unresolved; all chances and this sum to exactly 1.
        leaves: how many paths of single turns were run.
        states: how many distinct states were evaluated.
        turns: how many turns the longest path has.
        interrupted: whether it was stopped before its end; what is known by then stands.
        too_many: the label of what has too many results for any budget, as hands that are dealt; empty where nothing
            has.
        known: at a persistent table, by whose knowledge of it; null elsewhere.
    """

    by: str = "ending"
    outcomes: dict[str, Chance]
    mean: Chance | None = None
    method: Method
    open: Chance
    leaves: int
    states: int
    turns: int
    interrupted: bool = False
    too_many: str = ""
    known: Known | None = None

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each ending or value, as `pandas.DataFrame` takes it: `probability`, `exact` fraction."""
        return chance_rows(self.by, self.outcomes, has_numbers=self.by != "ending")


def too_many_words(label: str) -> tuple[str, str]:
    """Return what has too many results in words, by its label, and what to say of it in a step of a scene."""
    if label == HIDDEN:
        return "a hand that somebody looks at", "the cards of that hand in a step (hand)"
    return repr(label), f"the results of {label!r} in that step (given)"


class Undecided(Exception):  # it is no error of the scene: somebody has to say who decides
    """Decisions before the end have nobody to take them."""

    def __init__(self, questions: dict[str, Question]) -> None:
        super().__init__(", ".join(questions))
        self.questions = questions


class Turned(msgspec.Struct, frozen=True, gc=False):
    """What a turn comes to with its rests, taken on to what is due next.

    Attributes:
        branches: weights of what it changes, as in a `Delta`.
        ends: weights of the results, where it is the last turn.
        open: the weight of what is not known.
        total: of all weights.
    """

    branches: tuple[tuple[int, int, int], ...]
    ends: tuple[tuple[int, Hashable], ...]
    open: int
    total: int


def scene_odds(
    game: Game,
    *,
    leaves: int | None = None,
    seconds: float | None = None,
    work: int = WORK,
    is_merged: bool = True,
) -> SceneOdds:
    """Return the exact chances of how something ends that is played in turns.

    Args:
        leaves, seconds, work: see `Budget`.
        is_merged: whether turns are looked up that agree in what they read, and what makes no difference is forgotten;
            it changes no chance.

    Raises:
        Undecided: a decision has nobody to take it.
        Broken: the rules do otherwise when they are run again, or a turn asks without end.
        RuleError: the ruleset's code failed.
    """
    return _Walk(game, Budget(leaves, seconds, work=work), is_merged=is_merged).run()


class _Layer(msgspec.Struct, frozen=True, gc=False):
    """What has come of a layer of positions: whole weights, of a scale.

    Attributes:
        ends: of the results that came up.
        open: of what is open.
        after: of all positions that it led to.
        scale: what they are parts of.
        chosen: how many positions were to be followed, if their turns are known.
        states: how many were.
        has_dropped: whether others were not.
        is_cut: whether one was not for want of budget, though its mass reaches the threshold.
    """

    ends: dict[Hashable, int]
    open: int
    after: int
    scale: int
    chosen: int = 0
    states: int = 0
    has_dropped: bool = False
    is_cut: bool = False


class _Pass(msgspec.Struct):
    """One way through a scene, and what has come of it so far.

    Attributes:
        few: a layer of so many positions is followed whole, as far as turns are known.
        least: turns are run of positions with a mass of at least one in so many.
        spare: for this share of the budget that is left when it begins, turns of lighter positions are run, too.
        before: how many positions the pass before it was to follow in each layer.
        layers: those that are done; the first is the beginning of the scene.
    """

    few: int
    least: int
    spare: float
    before: tuple[int, ...] = ()
    layers: list[_Layer] = []

    @property
    def states(self) -> int:
        """How many positions were followed."""
        return sum([one.states for one in self.layers])

    def next(self) -> _Pass | None:
        """Return the pass that comes after it, if one can know more: the same again where the budget cut a layer."""
        if not any(one.has_dropped for one in self.layers):
            return None
        before = tuple([one.chosen for one in self.layers])
        if any(one.is_cut for one in self.layers):
            return _Pass(self.few, self.least, self.spare, before)
        return _Pass(self.few * FALL, self.least * FALL, min(1, self.spare * 2), before)

    def open(self) -> Fraction:
        """Return the probability of what is open: all that came to no end."""
        sums: dict[int, int] = {} if self.layers else {1: 1}
        for number, one in enumerate(self.layers, 1):
            left = one.open + (one.after if number == len(self.layers) else 0)
            sums[one.scale] = sums.get(one.scale, 0) + left
        return summed(sums)

    def masses(self) -> dict[Hashable, Fraction]:
        """Return the probability of each result, the most probable first."""
        sums = Sums()
        for one in self.layers:
            for result, weight in one.ends.items():
                sums.add(result, weight, one.scale)
        return dict(sorted(sums.masses().items(), key=lambda item: -item[1]))

    def share(self) -> float:
        """Return which share of the budget that is left the next layer may use."""
        later = self.before[len(self.layers) :]
        return later[0] / (sum(later) or 1) if later else 0.5

    def chosen(self, layer: dict[Node, int], scale: int) -> list[Node]:
        """Return the positions of a layer that are to be followed, if their turns are known; the heaviest first."""
        nodes: Iterable[Node] = layer
        if len(layer) > self.few:
            least = scale // (self.least * KNOWN)
            heavy = [node for node, weight in layer.items() if weight > least]
            if len(heavy) > self.few:
                nodes = heavy
        ordered = sorted(nodes, key=layer.__getitem__, reverse=True)
        return ordered if nodes is not layer else ordered[: self.few]


class _Followed(NamedTuple):
    """The positions of a layer that are followed, with their weights, and the weight of the others; see `_Layer`."""

    found: list[tuple[Node, int, Turned]]
    dropped: int = 0
    chosen: int = 0
    is_cut: bool = False


class _Walk:
    """One walk: what is known of turns, and the passes."""

    def __init__(self, game: Game, budget: Budget, *, is_merged: bool) -> None:
        self.game, self.budget = game, budget
        self.is_merged = is_merged
        self.parts = Parts(game.canons, forgotten=game.forgotten if is_merged else ())
        self.turns = TurnOdds(game, self.parts, budget, is_merged=is_merged)
        self.turned = Memo()
        self.numbers: dict[int, int] = {}
        self.ahead = Ahead(game, self.parts, is_known_again=is_merged)

    def run(self) -> SceneOdds:
        """Go through the scene in passes until nothing is dropped, or the budget is spent."""
        passes = [_Pass(FEW, LEAST, SPARE) if self.is_merged else _Pass(EVERY, EVERY, 1)]
        is_interrupted = False
        try:
            self._go_through(passes[0])
            while (after := passes[-1].next()) is not None:
                if self.budget.is_spent or self.budget.work <= passes[-1].states:  # it would not come so far again
                    break
                if self._is_hopeless(passes[-1].open()):
                    break
                passes.append(after)
                self._go_through(after)
        except KeyboardInterrupt:
            is_interrupted = True
        best = min(reversed(passes), key=_Pass.open)
        turns = max(0, len(best.layers) - 1)
        is_interrupted = is_interrupted or STOP.is_asked
        left, too_many = best.open(), self.turns.too_many
        return SceneOdds(
            best.masses(), left, self.turns.leaves, best.states, turns, is_interrupted, too_many if left else ""
        )

    def _go_through(self, now: _Pass) -> None:
        """Go through the layers of a pass; one that is interrupted is none of them."""
        start = self.parts.node_of(self.game.start)
        begun = _Followed([(start, 1, self._taken_on(start, [(1, UNCHANGED)], 1, {}))])
        spare, layer, scale = self.budget.mark(now.spare), *self._led_to(now, begun, 1)
        while layer and not self._is_vain(now, sum(layer.values()), scale):
            followed = self._follow(now, layer, scale, spare)
            if self.turns.undecided:
                raise Undecided(self.turns.undecided)
            layer, scale = self._led_to(now, followed, scale)

    def _is_vain(self, now: _Pass, left: int, scale: int) -> bool:
        """Tell whether what is left makes no difference: next to nothing, or as good as all was too many to follow."""
        if left * NEGLIGIBLE < scale:
            return True
        return left / scale < SLIGHT and self._is_hopeless(now.open())

    def _is_hopeless(self, left: Fraction | float) -> bool:
        """Tell whether as good as all of some probability was too many to follow."""
        return bool(self.turns.too_many) and left > 1 - SLIGHT

    def _follow(self, now: _Pass, layer: dict[Node, int], scale: int, spare: Budget) -> _Followed:
        """Return the positions of a layer that a pass follows, with what comes of their turns.

        Args:
            scale: what they are parts of.
            spare: a mark up to which light positions have their turns run, too.
        """
        budget, mark, least = self.budget, self.budget.mark(now.share()), scale // now.least
        found, chosen, is_cut = list[tuple[Node, int, Turned]](), now.chosen(layer, scale), False
        for node in chosen:
            if budget.is_spent or (
                len(found) == TRIED and self._is_hopeless(min(one.open / one.total for _, _, one in found))
            ):
                is_cut = True
                break
            weight = layer[node]
            turned: Turned | None = self.turned.find(node, self.parts) if self.is_merged else None
            is_known = turned is not None
            if turned is None:
                is_past = bool(found) and budget.is_past(mark)
                is_cut = is_cut or (is_past and weight >= least)
                if is_past or (weight < least and budget.is_past(spare)):
                    continue
                turned = self._turned(node)
            budget.spend(1, runs=0 if is_known else 1)
            found.append((node, weight, turned))
        dropped = sum(layer.values()) - sum([weight for _, weight, _ in found]) if len(found) < len(layer) else 0
        return _Followed(found, dropped, len(chosen), is_cut)

    def _led_to(self, now: _Pass, followed: _Followed, scale: int) -> tuple[dict[Node, int], int]:
        """Add a layer to a pass, and return the positions that it leads to with their weights, and their scale."""
        found, dropped, chosen, is_cut = followed
        factor = lcm(*{turned.total for _, _, turned in found})
        after: dict[Node, int] = {}
        ends: dict[Hashable, int] = {}
        left = dropped * factor
        for node, weight, turned in found:
            grown = weight * (factor // turned.total)
            for share, bits, flips in turned.branches:
                then = (node | bits) ^ flips  # as `changed` does
                after[then] = after.get(then, 0) + grown * share
            for share, result in turned.ends:
                ends[result] = ends.get(result, 0) + grown * share
            left += grown * turned.open
        scale *= factor
        states = len(found) if chosen else 0  # the beginning is no turn
        now.layers.append(_Layer(ends, left, sum(after.values()), scale, chosen, states, dropped > 0, is_cut))
        common = gcd(scale, *after.values())
        if common > 1:
            after = {node: weight // common for node, weight in after.items()}
        return after, scale // common

    def _turned(self, node: Node) -> Turned:
        """Return what comes of the turn that is due, its rests included; it is kept."""
        noted: dict[int, None] = {}
        turned = self._taken_on(node, *self.turns.of(node, noted), noted)
        self.turned.keep(node, noted, turned, self.parts)
        return turned

    def _taken_on(self, node: Node, branches: list[tuple[int, Delta]], total: int, noted: dict[int, None]) -> Turned:
        """Return what a turn comes to, taken on to what is due next.

        Args:
            total: what they are parts of.
            noted: takes note of the parts of the position that were looked at for it.
        """
        onwards: dict[Delta, int] = {}
        ends: dict[Hashable, int] = {}
        left = total
        for share, delta in branches:
            left -= share
            after = changed(node, delta)
            onward, is_over = self.ahead.onward(after)
            self.ahead.onwards.trace(after, self.parts, delta[0], noted)
            whole = in_turn(delta, onward)
            if is_over:
                after = changed(node, whole)
                (result,) = self.ahead.result(after)
                self.ahead.results.trace(after, self.parts, whole[0], noted)
                ends[result] = ends.get(result, 0) + share
            else:
                onwards[whole] = onwards.get(whole, 0) + share
        one = self.numbers.setdefault  # many turns make the same changes
        return Turned(
            tuple([(share, one(bits, bits), one(flips, flips)) for (bits, flips), share in onwards.items()]),
            tuple([(share, result) for result, share in ends.items()]),
            left,
            total,
        )
