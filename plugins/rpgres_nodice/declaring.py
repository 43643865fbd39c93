"""Declaring stacks: what somebody may lay, what is put on the table for it, and what could be suggested.

Of what is secret, only the hand and the sights of the actor who declares are read, so that no refusal tells of others'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rpgres import Effect, Map, Option, Question, Rules, State, UsageError, effect, slug
from rpgres_nodice.plans import (
    FORM,
    NOTHING,
    Plan,
    phase_of,
    plans_text,
    read_plans,
    spells_of,
    stack_of,
)
from rpgres_nodice.points import Holding, hand_thing, holding_of, laid, points_text
from rpgres_nodice.switches import Switches
from rpgres_nodice.timeline import DOWN, Timeline, Token, timeline_of

SUGGESTED = ({"str": 1, "agi": 1}, {"str": 2, "agi": 1}, {"str": 3})  # bids of strikes; one may always bid more


def question(rules: Rules, state: State, name: str) -> Question:
    """Return what somebody is asked who may declare stacks.

    Args:
        rules: the ruleset in play.
        state: the table.
        name: who is asked.
    """
    kept: tuple[State, dict[str, Question]] | None = rules.compiled.get("nodice:declare")
    if kept is None or kept[0] is not state:  # a run that is run again asks the same of the same table
        kept = rules.compiled["nodice:declare"] = state, {}
    if name not in kept[1]:
        kept[1][name] = _question(rules, state, name)
    return kept[1][name]


def _question(rules: Rules, state: State, name: str) -> Question:

    def reads(typed: str) -> str:
        plans = read_plans(rules, state, name, typed)
        lay(rules, state, name, plans)
        return plans_text(plans)

    options = tuple(option for option in suggestions(rules, state, name) if _is_legal(reads, option.name))
    hand = points_text(holding_of(state, name).hand) or "nothing"
    return Question("declare", name, options, text="Which stacks?", facts=Map({"hand": hand}), form=FORM, reads=reads)


def _is_legal(reads: Callable[[str], str], text: str) -> bool:
    try:
        reads(text)
    except UsageError:
        return False
    return True


def lay(rules: Rules, state: State, name: str, plans: tuple[Plan, ...]) -> list[Effect]:
    """Return what comes of declaring some stacks, one after the other.

    Args:
        rules: the ruleset in play.
        state: the table.
        name: whose they are.
        plans: the stacks.

    Raises:
        UsageError: the hand has not the points, or a pause cannot lie there.
    """
    line, holding = timeline_of(state), holding_of(state, name)
    effects: list[Effect] = []
    for plan in plans:
        stack = stack_of(rules, plan)
        phase = phase_of(rules, plan, line, name, pauses=_pauses(line, holding, name))
        token = Token(line.fresh_name(name), name, phase)
        try:
            holding = laid(holding, token.name, stack)
        except UsageError as error:
            raise UsageError(f"{plan.text}: {error.message}" if len(plans) > 1 else error.message) from None
        line = line.with_token(token)
        effects.append(effect("token", to=name, stack=token.name, phase=phase))
        effects.append(
            effect(
                "bid",
                to=name,
                thing=hand_thing(name),
                stack=token.name,
                plan=plan.text,
                nature=stack.nature,
                cards=" | ".join(stack.cards),
                points=points_text(stack.bid),
                ante=points_text(stack.ante),
            )
        )
    return effects


def _pauses(line: Timeline, holding: Holding, name: str) -> set[int]:
    """Return the phases on which somebody has a pause."""
    return {
        token.phase
        for token in line.live(name)
        if token.phase is not None
        and token.state == DOWN
        and token.name in holding.stacks
        and holding.stacks[token.name].nature == "none"
    }


# ---------------------------------------------------------------------------------------------------------------------
# What could be declared


def suggestions(rules: Rules, state: State, name: str) -> Iterator[Option]:
    """Yield stacks that make sense on their own; many more can be declared, and some of these may not be payable.

    Args:
        rules: the ruleset in play.
        state: the table.
        name: who declares.
    """
    yield Option(NOTHING, "no further stack")
    holding, line, character = holding_of(state, name), timeline_of(state), state.characters[name]
    others = [one for one, other in state.characters.items() if one != name and not other.is_out]
    items = [(slug(key), item) for key, item in character.records.get("gear", Map()).items()]
    where = next(iter(rules.file.settings["locations"]))
    for other in others:
        aimed = f":{other}" if len(others) > 1 else ""
        for bid in map(points_text, SUGGESTED):
            yield from (Option(f"attack{aimed}/{key}/{where}/{bid}") for key, item in items if item.get("weapon"))
            if not any(item.get("weapon") for _, item in items):
                yield Option(f"punch{aimed}/{bid}")
        for spell in character.records.get("spells", ()):
            if slug(spell) in spells_of(rules):
                yield Option(f"spell{aimed}/{slug(spell)}/{points_text({'wil': 2, 'qic': 1})}")
        for token in line.live(other):
            if token.phase is not None:
                yield Option(f"observe/{token.name}/{points_text({'int': 2, 'qic': 1})}")
    for agility in (1, 2):
        yield Option(f"dodge/{points_text({'agi': agility})}")
    yield from (Option(f"block/{key}/str=1") for key, item in items if item.get("shield"))
    pools = sorted(holding.spent, key=lambda stat: -holding.spent[stat])
    phase = line.last_phase(name) + 1
    for pool in pools or ["fit"]:
        yield Option(
            f"pause/{phase}/{pool}" if rules.switches(Switches).pause_pool_chosen_at == "declare" else f"pause/{phase}"
        )
