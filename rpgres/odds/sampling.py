"""Estimates of odds from simulated games, with intervals: for what exact odds leave open."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import accumulate
from math import inf, sqrt
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.players import Policy, Question, View
from rpgres.engine.prepare import Prepared, with_piles
from rpgres.engine.run import play
from rpgres.engine.seats import Applied, Seats
from rpgres.engine.stops import NeedsAnswer, Settled
from rpgres.errors import RpgresError
from rpgres.model.state import EMPTY
from rpgres.odds.explorer import Suspended, TapeDealer, Waiting
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from fractions import Fraction

GAMES = 2000
SEED = "odds"  # the same question has the same answer
UNKNOWN = "?"  # the result of dice beyond the limit to which they are followed; no band has this name
WIDE = 1.96  # standard deviations to each side: 95 of 100 such intervals hold the truth


class Estimate(msgspec.Struct, frozen=True):
    """An estimated chance, with its 95 % interval.

    Attributes:
        share: the share of games in which it happened.
        low: the lower end of the interval.
        high: the upper end of the interval.
    """

    share: float
    low: float
    high: float


class Sample(msgspec.Struct, frozen=True):
    """Estimates of all chances of an action from simulated games.

    Attributes:
        runs: how many games were played.
        outcomes: the estimate of each outcome, by its name.
        success: the estimate of any success; null where the chances are not of outcomes.
    """

    runs: int
    outcomes: dict[str, Estimate]
    success: Estimate | None = None


def sample(
    prepared: Prepared,
    *,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, Policy] = EMPTY,
    runs: int = GAMES,
    until: float = inf,
    first: str = "",
) -> Sample | None:
    """Return estimates of each outcome; None when a required decision has no answer.

    Args:
        choose: answers to decisions, by label, used in order in every run.
        runs: the maximum number of games.
        until: when to stop, by the monotonic clock.
        first: the actor's answer to the first decision that is left to a policy; empty for the policy's own.
    """
    prepared = with_piles(prepared, asked="outcome")
    own = policies.get(prepared.actor) or policies.get(prepared.state.seat_of(prepared.actor)) or policies.get("")
    if first and own is None:
        return None

    applied = Applied(choose)

    def game(number: int) -> str:
        dealer = SeededDealer(Streams(f"{SEED}#{number}"))
        opened = {**policies, prepared.actor: _opening(first, own)} if first and own is not None else policies
        try:
            seats = Seats(choose, policies=opened, applied=applied)
            outcome, _ = play(prepared, dealer=dealer, players=seats, asked="outcome")
        except Settled as settled:
            return settled.band
        return outcome.band

    try:
        counts = _counted(game, games=runs, until=until)
    except (NeedsAnswer, RpgresError):
        return None
    none = dict.fromkeys((name for name in prepared.rules.file.bands if name in counts), 0)
    return sample_of(prepared, counts, exact=none)


def _opening(first: str, then: Policy) -> Policy:
    """Return a policy that gives one fixed answer first and then decides as another one."""
    left = [first]

    def answer(view: View, question: Question) -> str | Mapping[str, int] | None:
        return left.pop() if left else then(view, question)

    return answer


def _counted(game: Callable[[int], Hashable], *, games: int, until: float) -> Counter[Hashable]:
    """Return how often each result came in a number of games, or in fewer where time runs out; at least one.

    An interrupt stops them, unless it came before they began.
    """
    counts, was_asked = Counter[Hashable](), STOP.is_asked
    for number in range(games):
        STOP.tick()
        if number and (STOP.is_asked > was_asked or (until < inf and monotonic() >= until)):
            break
        counts[game(number)] += 1
    return counts


def sample_of(
    prepared: Prepared,
    counts: Mapping[Any, int],
    *,
    exact: Mapping[Any, Fraction | int],
    share: float = 1.0,
    left: float = 1.0,
) -> Sample:
    """Return estimates of chances: the exact part of each, and the share of games that continued the open part.

    Args:
        exact: the exact part of each chance, by result.
        share: the probability of the paths with which the games began.
        left: the open probability; what exceeds `share` may belong to any result.
    """
    runs, unknown = sum(counts.values()), counts.get(UNKNOWN, 0)

    def whole(*keys: Hashable) -> Estimate:
        known, count = float(sum(exact[key] for key in keys)), sum(counts.get(key, 0) for key in keys)
        least, most = estimate(count, runs).low, estimate(count + unknown, runs).high
        high = min(1.0, known + share * most + max(0.0, left - share))
        return Estimate(min(1.0, known + share * count / runs), known + share * least, high)

    bands = prepared.rules.file.bands
    won = [key for key in exact if key in bands and bands[key].success]
    success = whole(*won) if bands.keys() >= exact.keys() else None
    return Sample(runs, {str(key): whole(key) for key in exact}, success)


def estimate(count: int, runs: int) -> Estimate:
    """Return a share with its interval (Wilson's), 95 of 100.

    >>> estimate(50, 100).share
    0.5
    """
    share, squared = count / runs, WIDE * WIDE
    middle = (share + squared / (2 * runs)) / (1 + squared / runs)
    half = WIDE / (1 + squared / runs) * sqrt(share * (1 - share) / runs + squared / (4 * runs * runs))
    return Estimate(share, max(0.0, middle - half), min(1.0, middle + half))


# ---------------------------------------------------------------------------------------------------------------------
# Games that continue where a budget ended


class RestDealer(TapeDealer):
    """Continues a path that was dropped: questions that are not on its tape are answered at random.

    Args:
        paths: those that were dropped.
        streams: the random numbers.

    Attributes:
        share: the probability of all the paths together.
    """

    __slots__ = ("_paths", "_shares", "_streams", "share")

    def __init__(self, paths: Sequence[Waiting], streams: Streams) -> None:
        super().__init__()
        self._paths, self._streams = paths, streams
        self._shares = list(accumulate(weight / scale for _, _, weight, scale, _ in paths))
        self.share = self._shares[-1]

    def begin(self, number: int) -> None:
        """Switch to one of the paths, by their probabilities."""
        self._streams.move_to(number)
        point = self._streams.below(0, "course", 0)(1 << 53) / (1 << 53) * self.share
        *_, node = self._paths[min(bisect(self._shares, point), len(self._paths) - 1)]
        self.load(node)

    def fresh(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
        bounds = list(accumulate(weights))
        index = bisect(bounds, self._streams.below(0, label, self._position)(total))
        if index == len(bounds):
            raise Suspended(label)  # beyond the limit to which the dice are followed
        self._position += 1
        self._tape.append((label, values[index]))
        return values[index]


def played_on(
    play_once: Callable[[TapeDealer], Hashable], paths: Sequence[Waiting], *, games: int, until: float
) -> tuple[float, Counter[Hashable]]:
    """Return the probability of the paths that a budget dropped, and the counted results of games that continue them.

    Args:
        play_once: runs the rule once with the dealer it is given.
        games: how many games; `until`: when to stop.
    """
    rest = RestDealer(paths, Streams(SEED))

    def game(number: int) -> Hashable:
        rest.begin(number)
        try:
            return play_once(rest)
        except Suspended:
            return UNKNOWN

    return rest.share, _counted(game, games=games, until=until)
