"""One stack as it is typed, `attack:guard/sword/head/str=3,agi=1`: read, checked, and turned into cards and phases."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from rpgres import EMPTY, Character, Map, Rules, State, UsageError, slug, unknown
from rpgres_nodice.figures import check_observation, delay
from rpgres_nodice.points import PHASES, Points, Stack, added, bid_card, points_text, read_points, seen_thing
from rpgres_nodice.switches import Switches
from rpgres_nodice.timeline import Timeline, timeline_of

NOTHING = "nothing"  # the answer that declares no further stack
FORM = "ACTION[:WHO]/CARD/.../BID, several joined by +"
FORWARD, BACK = "forward", "back"


class Plan(msgspec.Struct, frozen=True):
    """One stack before it is declared.

    Attributes:
        action: what is done, a name of `[settings.actions]`.
        on: whom it is aimed at; empty for no target.
        options: the cards between action and bid.
        bid: points by stat, the ante left out.
        phases: phases that are bid.
        stacks: what is observed.
        phase: where a pause is.
        pool: the pool that a pause returns; empty where that is decided later.
    """

    action: str
    on: str = ""
    options: tuple[str, ...] = ()
    bid: Points = EMPTY
    phases: int = 0
    stacks: tuple[str, ...] = ()
    phase: int = 0
    pool: str = ""

    @property
    def text(self) -> str:
        """The plan as it is typed."""
        head = f"{self.action}:{self.on}" if self.on else self.action
        if self.action == "pause":
            return "/".join(filter(None, (head, str(self.phase), self.pool)))
        bid = ",".join(filter(None, (points_text(self.bid), f"{PHASES}={self.phases}" if self.phases else "")))
        return "/".join(filter(None, (head, ",".join(self.stacks), *self.options, bid)))


def plan_words(rules: Rules, plan: Plan, by: str) -> str:
    """Return what a stack does, in a sentence: `orsa attacks bram with the boathook, at the chest (str 3, agi 1)`.

    Args:
        by: whose it is.
    """
    described = actions_of(rules)[plan.action]
    if "says" not in described:  # an action that a house rule adds
        return f"{by}: {plan.text}"
    places = [place.rstrip("?") for place in described.get("cards", ())]
    cards = dict(zip(places, plan.options, strict=False)) | {"stacks": " and ".join(plan.stacks), "on": plan.on}
    said = f"{by} {described['says'].format_map(cards)}"
    if "location" in cards:
        said += f", at {rules.file.settings['locations'][cards['location']]}"
    bid = {**plan.bid, **({PHASES: plan.phases} if plan.phases else {})}
    points = ", ".join(f"{stat} {number}" for stat, number in bid.items())
    return said + (f" to get {plan.pool} back" if plan.pool else "") + (f" ({points})" if points else "")


def actions_of(rules: Rules) -> Mapping[str, Mapping[str, Any]]:
    """Return what can be put on a stack, by name."""
    found: Mapping[str, Mapping[str, Any]] = rules.file.settings["actions"]
    return found


def ruled(rules: Rules, value: str) -> str:
    """Return a setting, by the switch it names where it is left to one."""
    return rules.chosen[value.removeprefix("switch:")] if value.startswith("switch:") else value


def nature_of(rules: Rules, action: str) -> str:
    """Return what resists when an action is observed: `physical`, `mental` or `none`."""
    return ruled(rules, actions_of(rules)[action]["kind"])


def ante_of(rules: Rules, action: str) -> Points:
    """Return the points that have to be anted for an action."""
    stat = ruled(rules, actions_of(rules)[action].get("ante", ""))
    return Map({stat: rules.file.settings["ante"]}) if stat else EMPTY


def is_reaction(rules: Rules, action: str) -> bool:
    """Tell whether an action waits in front of its actor in place of lying on a phase."""
    return actions_of(rules)[action]["does"] in ("dodge", "ward")


def read_plans(rules: Rules, state: State, name: str, typed: str) -> tuple[Plan, ...]:
    """Return the stacks that a character declares.

    Args:
        name: who declares.
        typed: stacks joined by +, or `nothing`.

    Raises:
        UsageError: one of them cannot be.
    """
    if typed.strip().lower() == NOTHING:
        return ()
    parts = [part.strip() for part in typed.split("+")]
    if not all(parts):
        raise UsageError(f"{typed!r} has an empty stack; stacks are joined by a single +")
    if NOTHING in map(str.lower, parts):
        raise UsageError(f"{NOTHING!r} is a separate answer and cannot be combined with stacks")
    return tuple(read_plan(rules, state, name, part) for part in parts)


def plans_text(plans: Iterable[Plan]) -> str:
    """Return stacks as they are typed."""
    return "+".join(plan.text for plan in plans) or NOTHING


def read_plan(rules: Rules, state: State, name: str, typed: str) -> Plan:
    """Return one stack; see `read_plans`."""
    parts = [part.strip() for part in typed.strip().split("/")]
    action, colon, on = (piece.strip().lower() for piece in parts[0].partition(":"))
    known = actions_of(rules)
    if action not in known:
        raise UsageError(unknown("action", action, (*known, NOTHING), of=rules.id))
    does = known[action]["does"]
    if not all(parts):
        raise UsageError(f"{typed.strip()!r} has an empty part; a stack for {action} is {form_of(rules, action)}")
    if colon and does != "strike":
        raise UsageError(f"{action} has no target; leave :{on} out")
    if colon and not on:
        raise UsageError(f"after {action}: the target is expected; with only one other character, leave the : out")
    if does == "pause":
        return _pause(rules, parts[1:], action)
    has_bid = len(parts) > 1 and "=" in parts[-1]
    cards, bid_text = (parts[1:-1], parts[-1]) if has_bid else (parts[1:], "")
    bid, phases = _bid(rules, action, bid_text)
    if does == "observe":
        return _observation(rules, state, name, action, cards, bid, phases)
    options = _options(rules, state.characters[name], action, cards)
    return Plan(action, _aimed_at(state, name, action, on) if does == "strike" else "", options, bid)


def form_of(rules: Rules, action: str) -> str:
    """Return how a stack for an action is typed, with an example of a bid."""
    described = actions_of(rules)[action]
    if described["does"] == "pause":
        return f"{action}/7" if rules.switches(Switches).pause_pool_chosen_at == "resolve" else f"{action}/7/agi"
    if described["does"] == "observe":
        return f"{action}/guard#1/int=2, or {action}/guard#1,guard#2/int=4"
    bid = f"{described['power']}={max(1, described.get('at-least', 0))}"
    return "/".join((action, *(place.upper() for place in described.get("cards", ())), bid))


def _bid(rules: Rules, action: str, text: str) -> tuple[Points, int]:
    """Return the points and the phases that are bid."""
    described = actions_of(rules)[action]
    stats = [stat for stat in (described.get("power"), described.get("speed")) if stat]
    names = [*stats, PHASES] if described["does"] == "observe" else stats
    found = read_points(text, names, of=f"a bid on {action}") if text else EMPTY
    least = described.get("at-least", 0)
    if stats and found.get(stats[0], 0) < least:
        raise UsageError(f"{action} needs at least {least} of {stats[0]}, as the last part: {form_of(rules, action)}")
    return found.without(PHASES), found.get(PHASES, 0)


def _pause(rules: Rules, parts: Sequence[str], action: str) -> Plan:
    if not parts or not (parts[0].isascii() and parts[0].isdecimal() and len(parts[0]) < 5):
        raise UsageError(f"give the phase, a number up to 9999: {form_of(rules, action)}")
    stats = rules.file.settings["stats"]
    is_later = rules.switches(Switches).pause_pool_chosen_at == "resolve"
    pool = parts[1].lower() if len(parts) > 1 else ""
    if len(parts) > 2 or (is_later and pool):
        message = "the pool is chosen when the pause resolves" if is_later else "a pause brings back one pool"
        raise UsageError(f"{message}: {action}/{int(parts[0])}{'' if is_later else '/agi'}")
    if pool and pool not in stats:
        raise UsageError(unknown("pool", pool, stats, of="the ruleset"))
    if not is_later and not pool:
        raise UsageError(f"name the pool to recover: {action}/{int(parts[0])}/{'|'.join(stats)}")
    return Plan(action, phase=int(parts[0]), pool=pool)


def _observation(
    rules: Rules, state: State, name: str, action: str, cards: Sequence[str], bid: Points, phases: int
) -> Plan:
    stacks = tuple(part.strip().lower() for part in ",".join(cards).split(",") if part.strip())
    if not stacks:
        raise UsageError(f"name the stacks: {form_of(rules, action)}")
    line, seen = timeline_of(state), state.things.get(seen_thing(name), EMPTY)
    for stack in stacks:
        token = line.named(stack)
        if stacks.count(stack) > 1:
            raise UsageError(f"{stack} is named twice")
        if token is None or not token.is_live or token.by == name or token.phase is None:
            there = ", ".join(one.name for one in line.live() if one.by != name and one.phase is not None)
            hint = there or f"none. To look first, declare {NOTHING!r} now, and observe when the others have declared"
            raise UsageError(f"{stack} is no foe's stack on the timeline; there are: {hint}")
        if seen.get(stack, EMPTY).get("is_whole"):
            raise UsageError(f"{name} has seen all of {stack} already")
    described = actions_of(rules)[action]
    check_observation(rules, points=bid.get(described["power"], 0), phases=phases, count=len(stacks))
    return Plan(action, bid=bid, phases=phases, stacks=stacks)


def _aimed_at(state: State, name: str, action: str, on: str) -> str:
    others = [one for one, character in state.characters.items() if one != name and not character.is_out]
    if not others:
        raise UsageError(f"there is no character at the table that {name} could target")
    if on:
        if on not in others:
            raise UsageError(unknown("foe", on, others, of="the table"))
        return on
    if len(others) > 1:
        raise UsageError(f"name the target after the action: {action}:{'|'.join(others)}/...")
    return others[0]


def _options(rules: Rules, character: Character, action: str, cards: Sequence[str]) -> tuple[str, ...]:
    """Return the cards between action and bid: each one that fits its place."""
    places = actions_of(rules)[action].get("cards", [])
    needed = [place for place in places if not place.endswith("?")]
    if not len(needed) <= len(cards) <= len(places):
        raise UsageError(f"a stack for {action} is {form_of(rules, action)}")
    return tuple(_option(rules, character, place.rstrip("?"), card) for place, card in zip(places, cards, strict=False))


def _option(rules: Rules, character: Character, place: str, card: str) -> str:
    owner = f"{character.name}'s sheet"
    if place == "location":
        known, owner = list(rules.file.settings["locations"]), "the ruleset"
    elif place == "direction":
        known, owner = [FORWARD, BACK], "a move"
    elif place == "spell":
        known = [slug(name) for name in character.records.get("spells", ()) if slug(name) in spells_of(rules)]
    else:
        known = [slug(name) for name, item in _gear(character) if item.get(place)]
    if slug(card) not in known:
        raise UsageError(unknown(place, card, known, of=owner))
    return slug(card)


def spells_of(rules: Rules) -> Mapping[str, Mapping[str, Any]]:
    """Return the spells by name."""
    found: Mapping[str, Mapping[str, Any]] = rules.file.settings["spells"]
    return found


def _gear(character: Character) -> Iterable[tuple[str, Mapping[str, Any]]]:
    return character.records.get("gear", EMPTY).items()


def item_of(character: Character, name: str) -> Mapping[str, Any]:
    """Return a thing a character carries by its short name; an empty one when it is not there any more."""
    return next((item for known, item in _gear(character) if slug(known) == name), EMPTY)


def armour_of(character: Character) -> int:
    """Return what a character's armour takes off harm."""
    return sum(item.get("armour", 0) for _, item in _gear(character))


# ---------------------------------------------------------------------------------------------------------------------
# Cards and phases


def stack_of(rules: Rules, plan: Plan) -> Stack:
    """Return the stack that a plan lays."""
    nature = "reaction" if is_reaction(rules, plan.action) else nature_of(rules, plan.action)
    cards = (
        pause_cards(rules, plan.action, plan.pool)
        if plan.action == "pause"
        else (*_top_cards(plan), bid_card(plan.bid, plan.phases))
    )
    return Stack(plan.text, nature, cards, plan.bid, ante_of(rules, plan.action))


def pause_cards(rules: Rules, action: str, pool: str) -> tuple[str, ...]:
    """Return the cards of a pause, from the top."""
    if not pool:
        return (f"{action}, returns a pool chosen when it resolves",)
    returns = f"returns {pool}"
    return (action, returns) if rules.switches(Switches).pause_pool_is_second_card else (f"{action}, {returns}",)


def _top_cards(plan: Plan) -> tuple[str, ...]:
    """Return the cards above the bid; whom it is aimed at stands on the location, else on a card that fits."""
    if plan.stacks:
        return (plan.action, f"of {', '.join(plan.stacks)}")
    if plan.action == "spell":
        return (f"{plan.action} {plan.options[0]}", f"at {plan.on}")
    if not plan.on:
        return (plan.action, *plan.options)
    if not plan.options:
        return (f"{plan.action} {plan.on}",)
    return (plan.action, *plan.options[:-1], f"{plan.options[-1]} of {plan.on}")


def phase_of(rules: Rules, plan: Plan, line: Timeline, name: str, *, pauses: Collection[int]) -> int | None:
    """Return the phase of a stack that is declared now; None for a reaction.

    Args:
        plan: the stack.
        line: the timeline with everything that was declared before it.
        name: whose it is.
        pauses: the phases on which the actor has a pause.

    Raises:
        UsageError: a pause cannot be there.
    """
    if is_reaction(rules, plan.action):
        return None
    if plan.action == "pause":
        _check_pause(rules, plan, line, name, pauses)
        return plan.phase
    described = actions_of(rules)[plan.action]
    start = line.phase if rules.switches(Switches).concurrent_actions else line.last_phase(name)
    speed = described.get("speed", "")
    return start + delay(
        rules,
        power=plan.bid.get(described["power"], 0),
        speed=plan.bid.get(speed, 0),
        phases=plan.phases,
        ante=ante_of(rules, plan.action).get(speed, 0),
    )


def _check_pause(rules: Rules, plan: Plan, line: Timeline, name: str, pauses: Collection[int]) -> None:
    last = line.last_phase(name)
    if plan.phase <= line.phase:
        raise UsageError(f"a pause lies on a phase ahead; the current one is {line.phase}")
    if plan.phase in pauses:
        raise UsageError(f"{name} has a pause on phase {plan.phase} already")
    if rules.switches(Switches).pause_after_own_actions and plan.phase <= last:
        raise UsageError(f"a pause lies behind all that {name} has declared, from phase {last + 1} on")


def resistance(rules: Rules, stack: Stack) -> int:
    """Return what resists being observed: agility bid on a physical stack, quickness on a mental one (S:10)."""
    stat = {"physical": "agi", "mental": "qic"}.get(stack.nature, "")
    points = added(stack.bid, stack.ante) if rules.switches(Switches).ante_counts_as_defence else stack.bid
    return points.get(stat, 0)
