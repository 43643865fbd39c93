"""Legend points: regained by epic successes up to their cap, spent on knacks, cancelled by other legends.

Line numbers of the text (`rulesets/coppermane/SOURCES.md`) as `B:n`; COP is the campaign's own wiki.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from rpgres import NO, Character, Effect, Option, Outcome, Rules, State, Table, UsageError, effect, put

RATING = "legend"  # the permanent rating: the cap of the points (COP, legend)
POINTS = "legend-points"
PRICE = 1  # of a knack (COP, birthrights)


class Switches(msgspec.Struct, frozen=True, gc=False):
    """The house rules that the code reads; `rulesets/coppermane/ruleset.toml` says what each decides."""

    epic_legend_amount: Literal["1", "witnesses"]


def points_of(state: State, who: str, changes: Sequence[Effect] = ()) -> int:
    """Return how many legend points a character can spend; without a place at the table there are none.

    Of whom only the permanent rating is known, all of its points are left.

    Args:
        state: the table as it is.
        who: whose points.
        changes: what this action has spent and given back so far, to names; it is not part of the state yet.
    """
    character = state.characters.get(who)
    changed = sum(one["change"] for one in changes if one["kind"] == "legend" and one["to"] == who)
    return _points(character) + changed if character is not None else 0


def _points(character: Character) -> int:
    counters = character.counters
    return counters.get(POINTS, counters.get(RATING, 0))


def check_points(character: Character) -> None:
    """Check that a character has no more legend points than the permanent rating allows.

    Raises:
        UsageError: there are more.
    """
    rating = character.counters.get(RATING)
    points = _points(character)
    if rating is not None and points > rating:
        raise UsageError(
            f"{character.name}: legend-points is {points}, and can be at most {rating}, as the permanent legend is; "
            "lower legend-points, or raise legend"
        )


def change_points(state: State, change: Effect) -> State:
    """Return the state with more or fewer legend points for `to`, at most the permanent rating where that is known."""
    character = state.characters.get(change["to"])
    if character is None:
        return state
    points = _within(character, _points(character) + change["change"])
    return put(state, ("characters", character.name, "counters"), character.counters.with_(POINTS, points))


def _within(character: Character, points: int) -> int:
    """Return points held between none and the permanent rating, where that is known."""
    return max(0, min(points, character.counters.get(RATING, points)))


def regained(table: Table, witnesses: int) -> int:
    """Return how many points an epic success gives back: one, or by its witnesses with that house rule (COP, legend).

    One for up to 9 witnesses, and one more for each further power of ten.
    """
    return len(str(witnesses)) if table.rules.switches(Switches).epic_legend_amount == "witnesses" else 1


def capped(state: State, outcome: Outcome) -> Outcome:
    """Return an outcome whose changes of legend are what there is room for, what was spent before them counted.

    Points never exceed the permanent rating and never fall below none. Of whom nothing is known, anything may be so.
    """
    if not any(one["kind"] == "legend" for one in outcome.effects):
        return outcome
    effects: list[Effect] = []
    now: dict[str, int] = {}
    for one in outcome.effects:
        if one["kind"] == "legend":
            to = outcome.roles.get(one["to"], one["to"])
            character = state.characters.get(to)
            if character is not None and (RATING in character.counters or POINTS in character.counters):
                before = now.get(to, _points(character))
                now[to] = _within(character, before + one["change"])
                one = one.with_("change", now[to] - before)
        effects.append(one)
    return msgspec.structs.replace(outcome, effects=tuple(effects))


def shifts_of_knack(rules: Rules, *, best: bool) -> int:
    """Return from where the result of a knack is counted in shifts, as it has no margin of its own.

    Args:
        rules: whose outcomes say so. One that is also another, as an epic success is, takes a roll.
        best: whether it gives the best of them, in place of the least success.
    """
    bands = (band for band in rules.file.bands.values() if band.success and not band.also)
    least = [band.from_ for band in bands if band.from_ is not None]
    return max(least) if best else min(least)


def use_knack(
    table: Table, actor: Character, knack: str, *, label: str, gives: str, opponent: str, spent: Sequence[Effect] = ()
) -> tuple[bool, tuple[Effect, ...]]:
    """Return whether a knack is used for a legend point and comes about, and what that cost (COP, legend).

    An opponent with a legend of its own may cancel it, which costs a point as well.

    Args:
        actor: who has the knack.
        knack: its name, for the account.
        label: the label of the moment.
        gives: its effect, in words.
        opponent: who may cancel it.
        spent: what either of them has spent in this action already.
    """
    points = points_of(table.state, actor.name, spent)
    use = Option("use", f"{knack}: {gives}, for a legend point.")
    offered = (use,) if points >= PRICE else ()
    text = f"Use {knack}?" if offered else "no legend point is left"
    if table.ask(label, actor.name, offered, text=text, optional=True, points=points) == NO:
        return False, ()
    costs = (effect("legend", to=actor.name, change=-PRICE, on=knack),)
    left = points_of(table.state, opponent, spent)
    cancel = Option("cancel", f"{knack} is cancelled, for a legend point.")
    offered = (cancel,) if left >= PRICE else ()
    text = f"Cancel {knack}?" if offered else "no legend point is left"
    if table.ask("cancel", opponent, offered, text=text, optional=True, points=left) != NO:
        return False, (*costs, effect("legend", to=opponent, change=-PRICE, on=knack))
    return True, costs
