"""Odds in words: what was evaluated, how likely, how sure that is. Reports put them together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor, log10
from typing import Any

from rpgres.engine.hidden import Known
from rpgres.odds.exact import Chance
from rpgres.odds.explorer import NEGLIGIBLE
from rpgres.odds.sampling import Estimate, Sample
from rpgres.odds.subjects import Evaluated
from rpgres.render.words import input_words, percent, rolled_words, style_of, title
from rpgres.rulesets import RulesetFile

BEST = "best"  # in place of a policy: the actor decides optimally
LONGEST_FRACTION = 24  # longer ones are cut off as decimals, and whole in the JSON
DIGITS = 6  # of such a decimal
AT_LEAST = "at least "
SMALL = 1e-4  # remaining probability below it is told by its size, as no percentage shows it
EXPLOSIONS = 1e-6  # remaining probability that only dice leave which explode again and again; more is estimated
TRACE = 1e-9  # remaining probability too small to be shown beside every chance


def heading(record: Any, *, what: str = "odds", without: Sequence[str] = ()) -> str:
    """Return what was evaluated, in a line: the action or scene, the ruleset, and its inputs.

    Args:
        what: what they are, such as `odds compared`.
    """
    scene, action = getattr(record, "scene", None), getattr(record, "action", None)
    name = getattr(record, "title", "") or scene or (title(action) if action else "")
    if not name:
        each = " of each" if "times" in record.inputs else ""
        return f"{rolled_words(record.inputs)}: {what}{each}"
    if isinstance(record, Evaluated) and record.by not in ("outcome", "ending"):
        what = f"{what} by {record.by}"
    inputs = input_words({key: value for key, value in record.inputs.items() if key not in without})
    return f"{name}: {what} ({'; '.join(filter(None, (record.ruleset, inputs)))})"


def untried(record: Any, file: RulesetFile | None, outcomes: Iterable[str]) -> list[str]:
    """Return which inputs are missing, where the only outcome of an action is that it was rolled."""
    names = set(outcomes)
    action = file.actions.get(record.action or "") if file is not None else None
    if file is None or action is None or len(names) != 1:
        return []
    (name,) = names
    if name not in file.bands or file.bands[name].success is not None:
        return []
    its = file.definitions.get(action.band)
    condition = (its.cases if its is not None else action.conditions).get(name, "")
    named = re.findall(r"[a-z][\w-]*", condition)
    missing = [one for one in file.parameters_of(str(record.action)) if one not in record.inputs and one in named]
    options = " and ".join(f"--{one}" for one in missing)
    return [f"without {options} there is nothing to succeed in"] if missing else []


def above(record: Any) -> list[str]:
    """Return the lines under a heading: whose knowledge of a table counts, and the house rules in force."""
    known = getattr(record, "known", None)
    lines = [_known_words(known)] if known is not None else []
    return [*lines, *([f"house rules: {', '.join(record.house_rules)}"] if record.house_rules else [])]


def _known_words(known: Known) -> str:
    piles = ", ".join(f"{name} ({count})" for name, count in known.averaged.items())
    unseen = f"; unseen, any cards possible: {piles}" if piles else ""
    return f"the table as {known.seat or 'the host'} knows it{unseen}"


def likely(name: str, chance: Chance, sample: Sample | None) -> float:
    """Return how likely something is: as estimated, where not all is known."""
    return chance.probability if sample is None else sample.outcomes[name].share


def likely_text(probability: float, sample: Sample | None) -> str:
    """Return a probability as a percentage, marked where it is an estimate."""
    return f"~{percent(probability)}" if sample is not None else percent(probability)


def within(found: Estimate) -> str:
    """Return the interval of an estimate."""
    return f"({percent(found.low)} to {percent(found.high)})"


def certainty(name: str, chance: Chance, *, left: Chance, sample: Sample | None) -> str:
    """Return what is known of a chance beside the percentage: the fraction, or the interval of an estimate."""
    return within(sample.outcomes[name]) if sample is not None else fraction_text(chance, left=left)


def fraction_text(chance: Chance, *, left: Chance) -> str:
    """Return an exact chance as shown: the beginning of a decimal in place of a fraction that would fill the line.

    With a remaining probability, it is a lower bound, and marked as one.
    """
    is_short = len(chance.exact) <= LONGEST_FRACTION
    is_bound = is_open(left) and (is_short or left.probability > TRACE)
    shown = short_fraction(chance.exact, chance.probability)
    return f"{AT_LEAST}{shown.removesuffix('...')}" if is_bound else shown  # cut off, it is a bound all the same


def short_fraction(exact: str, value: float) -> str:
    """Return a fraction; a long one as a decimal that is cut off, with `...` behind it.

    >>> long = "1/" + "9" * LONGEST_FRACTION
    >>> [short_fraction("1/3", 1 / 3), *(short_fraction(long, value) for value in (1 / 6, -12.5, 1.23e-9))]
    ['1/3', '0.166666...', '-12.500000...', '1.23000e-9...']
    """
    if len(exact) <= LONGEST_FRACTION:
        return exact
    # One digit more than is shown, cut off with it: rounding might raise a lower bound.
    digits, _, power = f"{abs(value):.{DIGITS}e}".partition("e")
    shown = f"{digits[:-1]}e{int(power)}" if abs(value) < SMALL else f"{abs(value):.{DIGITS + 1}f}"[:-1]
    return f"{'-' if value < 0 else ''}{shown}..."


def is_open(left: Chance) -> bool:
    """Tell whether something was not followed to its end."""
    return left.exact != "0"


def is_endless(left: Chance) -> bool:
    """Tell whether what was not followed is what a scene may do without end: no budget follows more of it."""
    return 0 < left.probability < 1 / NEGLIGIBLE


def open_text(left: Chance, sample: Sample | None = None, *, at_least: int | None = None) -> Iterator[str]:
    """Yield the remaining probability, and what is known of it.

    Args:
        at_least: the number that what remains comes to at least; None where that is not known.
    """
    if is_open(left):
        known = "not followed" if left.probability > EXPLOSIONS else "dice that explode without end; not followed"
        known = "what may go on without end; not followed" if is_endless(left) else known
        if sample is not None:
            known = f"estimated from {sample.runs} games, 95 %"
        elif at_least is not None:
            known = f"dice that explode without end: {at_least} and more"
        yield f"remaining: {size_text(left)} ({known})"


def size_text(left: Chance) -> str:
    """Return how likely something is that may be very unlikely: a percentage, or a bound of its size."""
    if 0 < left.probability < SMALL:
        return f"below 1e{floor(log10(left.probability)) + 1}"
    return percent(left.probability)


def outcome_style(file: RulesetFile | None, outcome: str) -> str:
    """Return the style of an outcome's name; without a ruleset, that of dice which are compared."""
    if file is None:
        return {"success": "good", "failure": "bad"}.get(outcome, "")
    return style_of(file.bands[outcome].success, 0) if outcome in file.bands else ""


def notes_text(policies: Mapping[str, str], note: str | None) -> Iterator[str]:
    """Yield who decided, and the note, as texts."""
    everybody = "everybody else" if len(policies) > 1 else "everybody"
    for who, name in sorted(policies.items(), key=lambda one: one[0] == "*"):  # everybody else comes last
        how = "optimal" if name == BEST else f"policy {name}"
        yield f"decisions of {everybody if who == '*' else who}: {how}"
    if note:
        yield f"note: {note}"
