"""Odds by playing: what comes of an action in many games, with intervals. For what exact odds leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, sqrt
from time import monotonic

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.players import Policy, Question, Seats, View
from rpgres.engine.run import Prepared, play, with_piles
from rpgres.engine.running import NeedsAnswer, Settled
from rpgres.errors import RpgresError
from rpgres.model.state import EMPTY

GAMES = 2000
SEED = "odds"  # the same question has the same answer
WIDE = 1.96  # standard deviations to each side: 95 of 100 such intervals hold the truth


class Estimate(msgspec.Struct, frozen=True):
    """How likely something is by games that were played, and between what that lies in 95 of 100 such samples.

    Attributes:
        share: how often it came, as a share.
        low: the least that its chance is likely to be.
        high: the most that its chance is likely to be.
    """

    share: float
    low: float
    high: float


class Sample(msgspec.Struct, frozen=True):
    """What came of an action in many games; `success` only where outcomes are asked for.

    Attributes:
        runs: how many games were played.
        outcomes: how often each outcome came, by its name.
        success: how often an outcome came that means success.
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
    """Return how often each outcome came, with its interval; None when nobody decides something that has to be decided.

    Args:
        prepared: the action.
        choose: answers to decisions, by label, used in order in every run.
        policies: who answers what was not chosen.
        runs: how often it is played at most.
        until: when to stop, by the monotonic clock.
        first: what whoever acts answers to the first decision that is left to a policy; empty for what the policy says.
    """
    counts: dict[str, int] = {}
    prepared, done = with_piles(prepared, asked="outcome"), 0
    own = policies.get(prepared.actor) or policies.get(prepared.state.seat_of(prepared.actor)) or policies.get("")
    if first and own is None:
        return None
    for number in range(runs):
        if done and until < inf and monotonic() >= until:
            break
        try:
            dealer = SeededDealer(Streams(f"{SEED}#{number}"))
            opened = {**policies, prepared.actor: _opening(first, own)} if first and own is not None else policies
            outcome, _ = play(prepared, dealer=dealer, players=Seats(choose, policies=opened), asked="outcome")
            band = outcome.band
        except Settled as settled:
            band = settled.band
        except (NeedsAnswer, RpgresError):
            return None
        counts[band] = counts.get(band, 0) + 1
        done += 1
    order = [name for name in prepared.rules.file.bands if name in counts]
    won = sum(counts[name] for name in order if prepared.rules.file.bands[name].success)
    return Sample(done, {name: estimate(counts[name], done) for name in order}, estimate(won, done))


def _opening(first: str, then: Policy) -> Policy:
    """Return a policy that gives a certain answer first and then decides as another one."""
    left = [first]

    def answer(view: View, question: Question) -> str | Mapping[str, int] | None:
        return left.pop() if left else then(view, question)

    return answer


def estimate(count: int, runs: int) -> Estimate:
    """Return a share with its interval (Wilson's), 95 of 100.

    >>> estimate(50, 100).share
    0.5
    """
    share, squared = count / runs, WIDE * WIDE
    middle = (share + squared / (2 * runs)) / (1 + squared / runs)
    half = WIDE / (1 + squared / runs) * sqrt(share * (1 - share) / runs + squared / (4 * runs * runs))
    return Estimate(share, max(0.0, middle - half), min(1.0, middle + half))
