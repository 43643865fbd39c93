"""Checks of the answers and expectations of a step, without playing it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from rpgres.dice import Dice, dice
from rpgres.engine.labels import check_labels
from rpgres.engine.seats import EVERY
from rpgres.errors import FileError, GivenError, NotationError, UsageError
from rpgres.lint.decisions import asked_of, decisions_of
from rpgres.lint.orders import option_faults
from rpgres.lint.paths import Known
from rpgres.lint.reachable import outcome_faults
from rpgres.model.state import EMPTY
from rpgres.model.typed_paths import typed_path
from rpgres.rulesets import Rules
from rpgres.rulesets.dice_plans import dice_plan
from rpgres.rulesets.rules import dice_of
from rpgres.scenes.records import ABSENT, Step
from rpgres.toml.diagnostics import Fault, KeyPath, unknown_name

_YES = "yes"  # which takes the only option of a question inside a roll
_NUMBERS = re.compile(r"\d+(?:,\d+)*")  # faces of dice that have numbers
_COUNT = re.compile(r"\{[^{}]*\}(?=d\d)")  # how many dice, computed


def label_faults(rules: Rules, step: Step) -> Iterator[Fault]:
    """Yield the labels of a step's answers that its action never asks."""
    for kind, label in [*(("given", one) for one in step.given), *(("choose", one) for one in step.choose)]:
        try:
            check_labels(rules, step.played, **{"given": EMPTY, "choose": EMPTY, kind: {label: ""}})
        except UsageError as error:
            yield Fault("unknown-name", (kind, label), error.message)


def expectation_faults(rules: Rules, step: Step) -> Iterator[Fault]:
    """Yield the names that a step expects and the ruleset does not have, and tracks that are no lists."""
    bands = rules.file.bands
    if step.expect is None:
        return
    others = {band.also for band in bands.values() if band.also}
    if step.expect.outcome is not None:
        yield from outcome_faults(rules, step.played, step.expect.outcome, ("expect", "outcome"))
    asks, decisions = step.expect.asks, decisions_of(rules)
    if asks is not None and asks not in decisions:
        yield unknown_name(("expect", "asks"), f"{rules.id} asks for no decision {asks!r}", asks, decisions)
    for number, effect in enumerate(step.expect.effects or ()):
        kind = effect.get("kind")
        if kind is not None and (not isinstance(kind, str) or kind not in rules.file.effects):
            told = f"{rules.id} has no kind of effect {kind!r}"
            yield unknown_name(("expect", "effects", number, "kind"), told, str(kind), rules.file.effects)
    for path, value in step.expect.state.items():
        if isinstance(value, int) and typed_path(path).keys[-2:-1] == ("tracks",):
            told = f"a track is a list of boxes; `{path}.marked` is how many are marked, `{path}.free` how many are not"
            yield Fault("wrong-type", ("expect", "state", path), told)
    if step.expect.also is not None and step.expect.also not in (ABSENT, *others):
        told = f"no outcome also counts as {step.expect.also!r}"
        yield Fault("unknown-name", ("expect", "also"), told, step.expect.also, (ABSENT, *others))


def answer_faults(known: Known, step: Step) -> Iterator[Fault]:
    """Yield impossible answers of a step: faces that no die of the label has, options that are never offered.

    Args:
        known: the rules, and the characters that may be at the table.
    """
    if step.expect is not None and step.expect.error is not None:
        return  # what the scene expects
    for label, said in step.given.items():
        sides, coded = _sides(known.rules, step.played, label), _coded_dice(known.rules, step.played, label)
        for at, text in _each(said):
            try:
                _ = coded.read(text) if coded is not None else None
            except GivenError as error:
                yield Fault("wrong-value", ("given", label, *at), error.message)
            strange = [one for one in text.split(",") if not _can_show(sides, one)] if _NUMBERS.fullmatch(text) else []
            if sides and strange:
                message = (
                    f"no die of {label!r} can show {strange[0]}: it rolls {' and '.join(f'd{one}' for one in sides)}"
                )
                yield Fault("wrong-value", ("given", label, *at), message)
    decisions = decisions_of(known.rules) if step.choose else {}
    for key, said in step.choose.items():
        asked = asked_of([key.rpartition(":")[2]], decisions)
        is_yes_or_no = len(asked.every.options or ()) == 1
        for at, text in _each(said):
            if text != _YES or not is_yes_or_no:
                yield from option_faults(("choose", key, *at), [text.removesuffix(EVERY)], asked, known)


def _each(said: str | int | Sequence[str | int]) -> Iterator[tuple[KeyPath, str]]:
    """Yield each answer of a label, with its place among several."""
    if isinstance(said, str | int):
        yield (), str(said)
        return
    for number, one in enumerate(said):
        yield (number,), str(one)


def _sides(rules: Rules, action: str, label: str) -> list[int]:
    """Return the sides of the dice of a label, where the ruleset's data declare them and they show numbers."""
    if not rules.file.actions[action].dice:
        return []
    try:
        group = dice_plan(rules.file, action).groups.get(label)
        pools = dice(_COUNT.sub("1", group.template)).pools if group is not None else ()
    except (FileError, NotationError):  # the ruleset is faulty, or more than the number of dice is computed
        return []
    has_numbers = all(pool.sides and not pool.is_d66 for pool in pools)
    return sorted({pool.sides for pool in pools}) if has_numbers else []


def _coded_dice(rules: Rules, action: str, label: str) -> Dice | None:
    """Return the dice that a rule in code always rolls under a label, where the ruleset declares them."""
    try:
        return None if rules.file.actions[action].dice else dice_of(rules, label)
    except NotationError:  # the ruleset is faulty
        return None


def _can_show(sides: Sequence[int], face: str) -> bool:
    """Tell whether one of several dice can show a face, in any of its spellings."""
    for one in sides:
        with suppress(GivenError):
            dice(f"d{one}").read(face)
            return True
    return False
