"""Exact odds of an action: every path of chance and policies, with its probability. Nothing here names a ruleset.

What a budget leaves open is reported as open, with an estimate beside it from games that go on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import inf
from operator import attrgetter
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rpgres.engine.hidden import Known
from rpgres.engine.labels import check_labels
from rpgres.engine.players import Policy, Question
from rpgres.engine.prepare import Prepared, with_piles
from rpgres.engine.run import play
from rpgres.engine.running import DETAIL
from rpgres.engine.seats import Applied, Seats
from rpgres.engine.stops import Broken, Settled
from rpgres.engine.table import Outcome
from rpgres.errors import RuleError, UsageError, enumerated, named
from rpgres.model.state import EMPTY, State
from rpgres.odds.chances import Asked, chance_rows
from rpgres.odds.chances import Chance as Chance
from rpgres.odds.chances import chance_record as chance_record
from rpgres.odds.explorer import ANSWERS, WORK, Budget, Method, Odds, Runs, TapeDealer, WalkDealer, explore_within
from rpgres.odds.plans import Planned
from rpgres.odds.sampling import UNKNOWN, Estimate, Sample, played_on, sample_of
from rpgres.rulesets import is_ours
from rpgres.rulesets.references import plan_of
from rpgres.stopping import STOP
from rpgres.toml.diagnostics import unknown

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.rulesets import Rules

EXACT_SHARE = 2 / 3  # of a limit of time; the rest is for estimating what is left open
LAST = 1.0  # seconds for an estimate where a person interrupted before anything was known exactly
RECHECKED = 100  # paths of a third party's rule that are run twice

OUTCOME = "outcome"  # what odds are of by default
NOTHING = "absent"  # in place of a number that the rule does not tell; `simulate` uses the same word
Decide = Literal["policies", "each", "best"]  # who decides for the actor: see `RulesetFile.actions`


class ChoiceOdds(msgspec.Struct, frozen=True, kw_only=True):
    """The odds after one option of the first decision; `decide` of the result says who decides after it.

    Attributes:
        label: the label of the decision.
        option: the option.
        success: the chance of success.
        outcomes: the chance of every outcome, by its name.
        open: the remaining probability, which the budget left unresolved; each chance may be higher by up to this.
        sample: estimates where anything is open, from games that begin with this option and go on by policies.
    """

    label: str
    option: str
    success: Chance
    outcomes: dict[str, Chance]
    open: Chance
    sample: Sample | None = None

    @property
    def estimate(self) -> Estimate | None:
        """The estimate of success, where its interval is narrower than the exact bounds."""
        found = self.sample.success if self.sample is not None else None
        return found if found is not None and found.high - found.low < self.open.probability else None


class OddsResult(Asked, frozen=True, kw_only=True, tag="rpgres.odds/1"):
    """The odds of an action or of a dice expression, as `rpgres odds --json` prints them.

    Attributes:
        ruleset: the ruleset's id; null for dice notation.
        by: what the chances are of: outcomes, margins, totals, or a number or word that is told beside the outcome.
        outcomes: the chance of every outcome, by its name; with --by of every number.
        success: the chance of an outcome that is a success; null where none is, and with --by.
        method: how the chances were found: exact; partial, where each is an exact lower bound; sampled, where no path
            was followed to its end, and there are only estimates.
        open: the remaining probability, which the budget left unresolved; all chances and this sum to exactly 1.
        leaves: how many paths of the action were run to their end.
        states: how many distinct merged states were reached.
        passed: the labels of optional questions without a policy, which were skipped.
        partly: the answers of --choose that some paths do not offer, where a policy decides or the question is skipped.
        unasked: the labels of --choose that no path asks before the outcome.
        decide: who decides for the actor: policies; each (policies after the first decision, of which each option is
            evaluated); or best (optimal decisions).
        choices: the odds of each first choice of the actor, the best first.
        plan: with best, the best options of each question inside the roll, by its facts.
        sample: where the budget left something open: estimates of all chances, from games that continue there.
        interrupted: whether it was interrupted; the chances are what was known by then.
        known: the seat whose knowledge of a persistent table counts; null without a table.
    """

    ruleset: str | None  # type: ignore[assignment]  # of dice there is none
    by: str = OUTCOME
    outcomes: dict[str, Chance]
    success: Chance | None = None
    method: Method
    open: Chance
    leaves: int
    states: int
    passed: list[str] = []
    partly: list[str] = []
    unasked: list[str] = []
    decide: Decide = "policies"
    choices: list[ChoiceOdds] = []
    plan: list[Planned] = []
    sample: Sample | None = None
    interrupted: bool = False
    known: Known | None = None

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each outcome, as `pandas.DataFrame` takes it: name, `probability`, `exact` fraction."""
        return chance_rows(self.by, self.outcomes, has_numbers=self.by != "outcome" or self.action is None)


class NeedsPolicy(UsageError):
    """Decisions before the outcome is fixed have neither an answer nor a policy; `labels` lists them. Exit code 3."""

    code = "needs-policy"


def outcome_odds(
    prepared: Prepared,
    *,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, Policy] = EMPTY,
    leaves: int | None = None,
    seconds: float | None = None,
    work: int = WORK,
    by: str = OUTCOME,
    games: int = 0,
) -> Odds:
    """Return the exact chances of an action's outcomes, by band in the ruleset's order; or of the numbers of `by`.

    Where margins decide, every band that a margin can give is there, the impossible ones at 0.

    Decisions after the outcome is fixed are not walked. Optional decisions without an answer are skipped.

    Args:
        choose: answers to decisions, by label, used in order in every run.
        policies: who answers what was not chosen; `""` for everybody.
        leaves, seconds, work: see `Budget`.
        by: what the chances are of: `outcome`, `margin`, `total`, or what the action tells beside its outcome.
        games: from how many games what is left open is estimated; of a limit of time, they get what is left.

    Raises:
        NeedsPolicy: a decision has no answer.
        UsageError: the action has no such number.
        RuleError: the ruleset's code failed; the message names the distribution that brought it.
    """
    asked, answer = _reading(prepared, by)
    check_labels(prepared.rules, prepared.action, given=EMPTY, choose=choose)
    prepared, rules = with_piles(prepared, asked=asked), prepared.rules
    runs, dealer, end = Runs(answer), WalkDealer(), inf if seconds is None else monotonic() + seconds
    budget = Budget(leaves, seconds if seconds is None or not games else seconds * EXACT_SHARE, work=work)
    playing = partial(play, prepared, asked=asked)
    counts: Mapping[Any, int] = EMPTY
    applied = Applied(choose)

    def once(dealer: TapeDealer) -> Any:
        return runs.run(playing, dealer, Seats(choose, policies=policies, applied=applied))

    try:
        odds = explore_within(budget, once, dealer, runs, recheck=0 if is_ours(rules.ruleset) else RECHECKED)
        if dealer.dropped and games and not (STOP.is_asked and odds.masses):
            until = min(end, monotonic() + LAST) if STOP.is_asked else end
            share, counts = played_on(once, dealer.dropped, games=games, until=until)
    except Broken as broken:
        message = f"the rule {rules.id} {prepared.action} cannot be evaluated: {broken.message}"
        raise rules.blamed(RuleError(message, reason=broken.reason)) from broken
    if runs.undecided:
        raise needs_policy(runs.undecided.values(), seat=prepared.state.seat_of(prepared.actor), state=prepared.state)
    estimated = {name: odds.open * 0 for name in counts if name != UNKNOWN}
    masses = _ordered(prepared, {**estimated, **odds.masses}, by=by)
    sample = sample_of(prepared, counts, exact=masses, share=share, left=float(odds.open)) if counts else None
    passed, partly = tuple(sorted(runs.passed)), applied.partly(is_whole=not odds.open)
    unasked = applied.unasked() if not odds.open else ()
    return msgspec.structs.replace(odds, masses=masses, passed=passed, partly=partly, unasked=unasked, sample=sample)


def check_told(rules: Rules, action: str, by: str) -> None:
    """Check that odds of an action can be of this.

    Raises:
        UsageError: it is neither `outcome`, `margin` or `total` nor told beside the outcome.
    """
    described = rules.file.actions[action]
    numbers = (OUTCOME, *plan_of(rules, action).numbers) if described.dice else ANSWERS
    known = dict.fromkeys((*(name for name in ANSWERS if name in numbers), *described.told))
    if by not in known:
        raise UsageError(f"{named('by')}: {unknown('number', by, known, of=f'{rules.id} {action}')}")


def _reading(prepared: Prepared, by: str) -> tuple[str, Callable[[Outcome], Any]]:
    """Return what a run is asked for, and the function that reads it from its outcome."""
    check_told(prepared.rules, prepared.action, by)
    if by in prepared.rules.file.actions[prepared.action].told:  # also a total or margin that not every path has
        return f"{DETAIL}{by}", partial(_told, by)
    return by, attrgetter(ANSWERS[by])


def _told(name: str, outcome: Outcome | Settled) -> int | str:
    """Return the value of a name that the rule told beside the outcome."""
    found: int | str = outcome.details.get(name, NOTHING)
    return found


def _ordered(prepared: Prepared, masses: dict[Any, Fraction], *, by: str) -> dict[Any, Fraction]:
    """Return chances in the ruleset's order, or by number: absent first, then words, then ascending numbers."""
    name = f"{prepared.rules.id} {prepared.action}"
    if not masses and STOP.is_asked:
        raise KeyboardInterrupt
    if not masses:
        message = f"no run of the rule {name} ended"
        why = "it loops, or needs a larger budget"
        error = RuleError(f"{message}: {why} ({named('leaves')}, {named('seconds')})")
        raise prepared.rules.blamed(error)
    if by == OUTCOME:
        return in_order(prepared, masses)
    if None in masses:
        raise UsageError(f"{name} has no {by} in odds; leave {named('by')} out")
    return dict(sorted(masses.items(), key=lambda item: (isinstance(item[0], int), item[0] != NOTHING, item[0])))


def in_order(prepared: Prepared, masses: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return the chances of outcomes in the ruleset's order; every band that a margin can give is there."""
    from fractions import Fraction

    file = prepared.rules.file
    action = file.actions[prepared.action]
    has_own = action.bands or action.band
    by_margin = set() if has_own else {name for name, band in file.bands.items() if band.has_bounds}
    is_rolled = not by_margin.isdisjoint(masses)
    shown = [name for name in file.bands if name in masses or (is_rolled and name in by_margin)]
    return {name: masses.get(name, Fraction(0)) for name in shown}


BEST_TOO = f"; {named('best')} has the actor decide optimally, {named('each')} only the first time"


def asked_words(question: Question) -> str:
    """Return a decision without an answer in words: label, owner and options."""
    return f"{question.label} ({question.who} chooses among {enumerated(option.name for option in question.options)})"


def needs_policy(questions: Iterable[Question], *, seat: str = "", state: State | None = None) -> NeedsPolicy:
    """Return the error for decisions without an answer."""
    is_own = state is not None and any(state.seat_of(question.who) == seat for question in questions)
    labels = [question.label for question in questions]
    return NeedsPolicy(
        f"the odds depend on who decides: {'; '.join(map(asked_words, questions))}. "
        f"Answer with {named('choose')} {labels[0]}=..., or let a policy decide with {named('auto')} or "
        f"{named('policy')} NAME{BEST_TOO if is_own else ''}",
        labels=labels,
    )


def success_in(rules: Rules, masses: Mapping[str, Fraction]) -> Fraction | None:
    """Return the chance of any success; None where no outcome counts as one, or the results are no outcomes."""
    bands = rules.file.bands
    if not masses or any(name not in bands for name in masses):
        return None
    wins = [mass for name, mass in masses.items() if bands[name].success]
    return sum(wins[1:], wins[0]) if wins else None


def success_of(prepared: Prepared) -> dict[str, bool | None]:
    """Return each band that the action can reach, and whether it is a success.

    A band without margins is reached only by a row in an outcome table of the action; other actions may have others.
    """
    file = prepared.rules.file
    if file.actions[prepared.action].dice:  # its formulas name the bands
        from rpgres.lint.named_dice import bands_named

        named = bands_named(prepared.rules, prepared.action)
        return {name: one.success for name, one in file.bands.items() if name in named}
    rows = {band for table in file.actions[prepared.action].tables for band in prepared.rules.table(table)}
    bands = file.bands.items()
    return {name: one.success for name, one in bands if not rows or name in rows or one.has_bounds or one.unopposed}
