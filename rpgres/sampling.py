"""Odds by playing: what comes of an action many times over, with intervals. For what exact odds leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from time import monotonic

from rpgres.actions import Prepared, laid, play
from rpgres.chance import Streams
from rpgres.dealers import SeededDealer
from rpgres.errors import RpgresError
from rpgres.odds import Estimate, Sample
from rpgres.players import Policy, Question, Seats, View
from rpgres.state import EMPTY
from rpgres.table import NeedsAnswer, Settled

RUNS = 2000
SECONDS = 5.0
SEED = "odds"  # the same question has the same answer
WIDE = 1.96  # standard deviations to each side: 95 of 100 such intervals hold the truth


def sample(
    prepared: Prepared,
    *,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, Policy] = EMPTY,
    runs: int = RUNS,
    seconds: float = SECONDS,
    first: str = "",
) -> Sample | None:
    """Return how often each outcome came, with its interval; None when nobody decides something that has to be decided.

    Args:
        prepared: the action.
        choose: answers to decisions, by label, used in order in every run.
        policies: who answers what was not chosen.
        runs: how often it is played at most; seconds: for how long.
        first: what whoever acts answers to the first decision that is left to a policy; empty for what the policy says.
    """
    counts: dict[str, int] = {}
    prepared, until, done = laid(prepared), monotonic() + seconds, 0
    own = policies.get(prepared.actor) or policies.get(prepared.state.seat_of(prepared.actor)) or policies.get("")
    if first and own is None:
        return None
    for number in range(runs):
        if done and monotonic() > until:
            break
        try:
            dealer = SeededDealer(Streams(f"{SEED}#{number}"))
            opened = {**policies, prepared.actor: _opening(first, own)} if first and own is not None else policies
            outcome, _ = play(prepared, dealer=dealer, players=Seats(choose, policies=opened), band_only=True)
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
