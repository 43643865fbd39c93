"""Legend points: regained by epic successes up to their cap, spent on knacks, cancelled by other legends.

Line numbers of the text (`rulesets/coppermane/SOURCES.md`) as `B:n`; COP is the campaign's own wiki.
"""

from __future__ import annotations

import msgspec

from rpgres import NO, Character, Effect, Option, Outcome, State, Table, effect, put

RATING = "legend"  # the permanent rating: the cap of the points (COP, legend)
POINTS = "legend-points"
PRICE = 1  # of a knack (COP, birthrights)

# A knack has no margin of its own, so what is counted in shifts is counted from the least of its outcome.
STYLE_SHIFTS = 3
SUCCESS_SHIFTS = 1


def points_of(state: State, who: str) -> int:
    """Return how many legend points somebody can spend; nobody without a place at the table has any."""
    character = state.characters.get(who)
    return character.counters.get(POINTS, 0) if character is not None else 0


def change_points(state: State, change: Effect) -> State:
    """Return the state with more or fewer legend points for `to`, at most the permanent rating where that is known."""
    character = state.characters.get(change["to"])
    if character is None:
        return state
    counters = character.counters
    points = max(0, counters.get(POINTS, 0) + change["change"])
    points = min(points, max(counters[RATING], counters.get(POINTS, 0))) if RATING in counters else points
    return put(state, ("characters", character.name, "counters"), counters.with_(POINTS, points))


def regained(table: Table, witnesses: int) -> int:
    """Return how many points an epic success gives back: one, or by its witnesses with that house rule (COP, legend).

    One for up to 9 witnesses, and one more for each further power of ten.
    """
    return len(str(witnesses)) if table.rules.switches["epic_legend_amount"] == "witnesses" else 1


def capped(state: State, outcome: Outcome) -> Outcome:
    """Return an outcome whose gains of legend are what there is room for: points never exceed the permanent rating."""
    if not any(one["kind"] == "legend" for one in outcome.effects):
        return outcome
    effects = []
    for one in outcome.effects:
        if one["kind"] == "legend" and one["change"] > 0:
            to = outcome.roles.get(one["to"], one["to"])
            counters = state.characters[to].counters if to in state.characters else {}
            if RATING in counters:
                room = max(0, counters[RATING] - counters.get(POINTS, 0))
                one = one.with_("change", min(one["change"], room))
        effects.append(one)
    return msgspec.structs.replace(outcome, effects=tuple(effects))


def use_knack(
    table: Table, actor: Character, knack: str, *, label: str, gives: str, opponent: str, spent: int = 0
) -> tuple[bool, tuple[Effect, ...]]:
    """Return whether a knack is used for a legend point and comes about, and what was spent (COP, legend).

    An opponent with a legend of its own may cancel it, which costs a point as well.

    Args:
        table: where it is played.
        actor: who has the knack.
        knack: its name, for the account.
        label: the label of the moment.
        gives: what it stands for.
        opponent: who may cancel it.
        spent: points that the actor has spent in this action already.
    """
    points = points_of(table.state, actor.name) - spent
    use = Option("use", f"{knack}: {gives}, for a legend point.")
    offered = (use,) if points >= PRICE else ()
    text = f"Use {knack}?" if offered else "no legend point is left"
    if table.ask(label, actor.name, offered, text=text, optional=True, points=points) == NO:
        return False, ()
    costs = (effect("legend", to=actor.name, change=-PRICE, on=knack),)
    if points_of(table.state, opponent) >= PRICE:
        cancel = Option("cancel", f"{knack} comes to nothing, for a legend point.")
        if table.ask("cancel", opponent, (cancel,), text=f"Cancel {knack}?", optional=True) != NO:
            return False, (*costs, effect("legend", to=opponent, change=-PRICE, on=knack))
    return True, costs
