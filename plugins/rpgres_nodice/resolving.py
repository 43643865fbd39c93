"""One phase: what lies on it is turned up and resolved, all at the same time, against the table as the phase began.

Lines of the text (`rulesets/nodice/SOURCES.md`) as `S:n`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement
from typing import Any

import msgspec

from rpgres import Character, Effect, Map, Option, Question, State, Table, UsageError, effect, put
from rpgres_nodice.effects import KINDS
from rpgres_nodice.observing import Sight, observe, targets_of
from rpgres_nodice.plans import BACK, Plan, actions_of, armour_of, item_of, spells_of
from rpgres_nodice.points import (
    APART,
    HAND,
    SPENT,
    Stack,
    added,
    hand_thing,
    holding_of,
    points_text,
    ratings,
    read_points,
    seen_thing,
    stopped_by,
    total,
)
from rpgres_nodice.timeline import ABORTED, RESOLVED, STOPPED, UP, Timeline, Token, timeline_of

MOST_WAYS = 12  # of losing points that are suggested


class Course(msgspec.Struct):
    """What a phase comes to so far: the table as it would be, and the effects that make it so."""

    state: State
    effects: list[Effect]

    def do(self, change: Effect) -> None:
        """Add an effect."""
        self.effects.append(change)
        apply = KINDS.get(change["kind"])
        if apply is not None:
            self.state = apply(self.state, change)
        elif change["kind"] == "out":
            self.state = put(self.state, ("characters", change["to"], "is_out"), True)


class Played(msgspec.Struct, frozen=True):
    """A stack that resolves now: its token, what it is made of, and what it means."""

    token: Token
    stack: Stack
    plan: Plan


def next_phase(table: Table, line: Timeline) -> int:
    """Return the phase that is resolved next.

    Raises:
        UsageError: nothing lies ahead, or somebody has not declared anything yet.
    """
    if not line.phase and table.rules.switches["ready"] == "all":
        late = [
            name
            for name, character in table.state.characters.items()
            if not character.is_out and not any(token.by == name for token in line.tokens)
        ]
        if late:
            raise UsageError(f"everybody declares something before the first phase; not yet: {', '.join(late)}")
    phase = line.next_phase()
    if phase is None:
        raise UsageError("no stack lies ahead on the timeline; declare some, or name a phase to go on to")
    return phase


def play_phase(table: Table, phase: int) -> list[Effect]:
    """Return what comes of all stacks on a phase, which resolve at the same time."""
    before = table.state
    course = Course(before, [])
    course.do(effect("marker", phase=phase))
    played = [_turned(table, course, token) for token in timeline_of(before).due(phase)]
    for one in _doing(table, played, "observe"):
        _observe(table, course, before, one, phase)
    _pause(table, course, _doing(table, played, "pause"))
    for one in _doing(table, played, "move"):
        zones = one.plan.bid.get("agi", 0)
        course.do(effect("zone", to=one.token.by, change=-zones if one.plan.options[0] == BACK else zones))
    harm = _strikes(table, course, before, _doing(table, played, "strike"))
    ante = HAND if table.rules.switches["ante_refresh"] == "immediate" else SPENT
    for one in played:
        _over(course, one.token, bid=SPENT, ante=ante)
    _harm(table, course, harm)
    return course.effects


def _turned(table: Table, course: Course, token: Token) -> Played:
    """Return a stack that is turned up; everybody is told what it is."""
    played = _known(table, course.state, token)
    table.tell(f"{token.name} (phase {token.phase}): {played.plan.text}")
    course.do(effect("turn", stack=token.name, becomes=RESOLVED, plan=played.plan.text))
    return played


def _known(table: Table, state: State, token: Token) -> Played:
    stack = holding_of(table.rules, state, token.by).stacks.get(token.name)
    if stack is None:
        raise UsageError(f"{token.name} lies on the timeline, and nothing on the table says what it is")
    return Played(token, stack, plan_of(stack))


def plan_of(stack: Stack) -> Plan:
    """Return what a stack means, from the text that was checked when it was laid."""
    head, *rest = stack.plan.split("/")
    action, _, on = head.partition(":")
    if action == "pause":
        return Plan(action, phase=int(rest[0]), pool=rest[1] if len(rest) > 1 else "")
    bid, phases = stack.bid, 0
    if rest and "=" in rest[-1]:
        found = read_points(rest.pop(), [*stack.bid, "phases"])
        phases = found.get("phases", 0)
    if action == "observe":
        return Plan(action, bid=bid, phases=phases, stacks=tuple(rest[0].split(",")))
    return Plan(action, on, tuple(rest), bid)


def _doing(table: Table, played: Iterable[Played], what: str) -> list[Played]:
    return [one for one in played if actions_of(table.rules)[one.plan.action]["does"] == what]


def _over(course: Course, token: Token, *, bid: str, ante: str) -> None:
    """Put the points of a stack where they go; the stack is no more."""
    course.do(effect("points", to=token.by, thing=hand_thing(token.by), stack=token.name, bid=bid, ante=ante))


# ---------------------------------------------------------------------------------------------------------------------
# Observing and pausing


def _observe(table: Table, course: Course, before: State, one: Played, phase: int) -> None:
    """Show an observer what there is to be seen, and nobody else but the owner (S:12)."""
    who, rules = one.token.by, table.rules
    power = one.plan.bid.get(actions_of(rules)[one.plan.action]["power"], 0)
    targets = targets_of(rules, before, who, one.plan, phase=phase)
    sights = observe(rules, targets, points=power, phases=one.plan.phases)
    gone = [sight.target.name for sight in sights if sight.target.is_gone]
    if gone:
        wasted = "nothing is left to observe, the bid is wasted" if len(gone) == len(sights) else "no longer there"
        table.tell(f"{one.token.name}: {', '.join(gone)}: {wasted}")
    for sight in sights:
        if not sight.target.is_gone:
            _show(table, course, who, sight)


def _show(table: Table, course: Course, who: str, sight: Sight) -> None:
    stack = sight.target.name
    token = timeline_of(course.state).named(stack)
    assert token is not None
    seats = tuple(dict.fromkeys((course.state.seat_of(who), course.state.seat_of(token.by))))
    if not sight.fresh:
        table.tell(f"{who} learns nothing of {stack}", audience=seats)
        return
    cards = " | ".join(sight.cards)
    table.tell(f"{who} sees of {stack}: {cards}{_coming_back(table, course.state, token, sight)}", audience=seats)
    is_whole = sight.count == len(sight.target.cards)
    course.do(effect("see", to=who, thing=seen_thing(who), stack=stack, cards=cards, whole=is_whole))
    course.do(effect("shown", to=token.by, thing=hand_thing(token.by), stack=stack, by=who, count=sight.count))


def _coming_back(table: Table, state: State, token: Token, sight: Sight) -> str:
    """Return what a pause that is seen would bring back now, in words."""
    holding = holding_of(table.rules, state, token.by)
    plan = plan_of(holding.stacks[token.name])
    if plan.action != "pause" or not plan.pool or plan.pool not in sight.cards[-1]:
        return ""
    return f" (now {holding.spent.get(plan.pool, 0)})"


def _pause(table: Table, course: Course, pauses: list[Played]) -> None:
    """Bring the spent points of a pool back to each hand."""
    later = [one for one in pauses if not one.plan.pool]
    stats = tuple(Option(stat) for stat in table.rules.file.settings["stats"])
    asked = [Question("pool", one.token.by, stats, text="Which pool comes back?") for one in later]
    chosen = dict(zip([one.token.name for one in later], table.ask_together(asked), strict=True)) if asked else {}
    for one in pauses:
        pool = one.plan.pool or chosen[one.token.name]
        course.do(effect("return", to=one.token.by, thing=hand_thing(one.token.by), pool=pool))


# ---------------------------------------------------------------------------------------------------------------------
# Striking, defending, harm


def _strikes(table: Table, course: Course, before: State, strikes: list[Played]) -> dict[str, int]:
    """Return how much harm comes to whom; reactions of those who are struck at are turned up."""
    harm: dict[str, int] = {}
    reactions: dict[str, list[Played]] = {}
    for one in strikes:
        target = before.characters.get(one.plan.on)
        striker = before.characters[one.token.by]
        if target is None or target.is_out:
            table.tell(f"{one.token.name}: {one.plan.on} is not there any more")
            continue
        described = _described(table, striker, one)
        if abs(striker.counters.get("zone", 0) - target.counters.get("zone", 0)) > described["reach"]:
            table.tell(f"{one.token.name}: {target.name} is out of reach")
            continue
        if described["is_bodily"] and target.name not in reactions:
            reactions[target.name] = _reactions(table, course, target.name)
        amount = _blow(table, one, described, target, reactions.get(target.name, []))
        if amount:
            harm[target.name] = harm.get(target.name, 0) + amount
    if table.rules.switches["defence_lasts"] == "phase":
        for reaction in (one for used in reactions.values() for one in used):
            _over(course, reaction.token, bid=SPENT, ante=SPENT)
    return harm


def _described(table: Table, striker: Character, one: Played) -> Map[str, Any]:
    """Return what strikes: how far it reaches, what it adds, and whether armour and reactions help."""
    if one.plan.action == "spell":
        spell = spells_of(table.rules)[one.plan.options[0]]
        return Map(reach=spell["reach"], damage=spell["damage"], armour=spell["armour"], is_bodily=False)
    item = item_of(striker, one.plan.options[0]) if one.plan.action == "attack" else Map()
    return Map(reach=item.get("reach", 0), damage=item.get("damage", 0), armour=True, is_bodily=True)


def _reactions(table: Table, course: Course, name: str) -> list[Played]:
    """Return the reactions of somebody who is struck at, turned up."""
    lasts = table.rules.switches["defence_lasts"] == "sequence"
    found = []
    for token in timeline_of(course.state).live(name):
        if token.phase is None:
            one = _known(table, course.state, token)
            if not token.plan:
                table.tell(f"{token.name}: {one.plan.text}")
            course.do(effect("turn", stack=token.name, becomes=UP if lasts else RESOLVED, plan=one.plan.text))
            found.append(one)
    return found


def _blow(table: Table, one: Played, described: Map[str, Any], target: Character, reactions: list[Played]) -> int:
    """Return what a strike does to somebody in reach."""
    rules = table.rules
    name, power = one.token.name, one.plan.bid.get(actions_of(rules)[one.plan.action]["power"], 0)
    dodges = [reaction.plan.bid.get("agi", 0) for reaction in _doing(table, reactions, "dodge")]
    if dodges and described["is_bodily"]:
        lead = one.plan.bid.get("agi", 0) - max(dodges)
        if lead < 0 or (lead == 0 and rules.switches["dodge_tie"] == "dodged"):
            table.tell(f"{name}: {target.name} dodges")
            return 0
    amount: int = described["damage"] + power
    if described["armour"]:
        amount -= armour_of(target)
    if described["is_bodily"]:
        for reaction in _doing(table, reactions, "ward"):
            item = item_of(target, reaction.plan.options[0])
            amount -= reaction.plan.bid.get("str", 0) + item.get("guard", 0)
    amount = max(0, amount)
    table.tell(f"{name}: {target.name} is hit, harm {amount}")
    return amount


def _harm(table: Table, course: Course, harm: dict[str, int]) -> None:
    """Have everybody who is harmed say, in secret, of which pools it takes points."""
    left = {name: total_left(table, course.state, name) for name in harm}
    chosen = _losses(table, course.state, {name: amount for name, amount in harm.items() if amount < left[name]})
    for name, amount in harm.items():
        taken = min(amount, left[name])
        course.do(effect("harm", to=name, amount=taken))
        points = chosen.get(name) or body_left(table, course.state, name)
        _lose(course, name, table, points)
        if amount >= left[name]:
            course.do(effect("out", to=name))
            table.tell(f"{name} is out")
            for token in timeline_of(course.state).live(name):
                course.do(effect("turn", stack=token.name, becomes=STOPPED, plan=""))
                _over(course, token, bid=SPENT, ante=SPENT)


def total_left(table: Table, state: State, name: str) -> int:
    """Return how much harm takes somebody out; everybody can count it."""
    character = state.characters[name]
    body: list[str] = table.rules.file.settings["body"]
    whole: int = sum(character.abilities.get(stat, 0) for stat in body)
    harm: int = character.counters.get("harm", 0)
    return whole - harm


def body_left(table: Table, state: State, name: str) -> Map[str, int]:
    """Return the points that harm can still take of each pool."""
    left = added(ratings(table.rules, state.characters[name]), holding_of(table.rules, state, name).lost, sign=-1)
    return Map({stat: left.get(stat, 0) for stat in table.rules.file.settings["body"] if left.get(stat, 0)})


def _losses(table: Table, state: State, harm: dict[str, int]) -> dict[str, Map[str, int]]:
    """Return of which pools harm takes points, as those say whom it comes to."""
    questions = [_loss(table, state, name, amount) for name, amount in harm.items()]
    answers = table.ask_together(questions, secret=True) if questions else ()
    body = table.rules.file.settings["body"]
    return {name: read_points(answer, body) for name, answer in zip(harm, answers, strict=True)}


def _loss(table: Table, state: State, name: str, amount: int) -> Question:
    left = body_left(table, state, name)
    body = table.rules.file.settings["body"]

    def reads(typed: str) -> str:
        points = read_points(typed, body)
        if sum(points.values()) != amount:
            raise UsageError(f"the harm is {amount}, and {typed} is {sum(points.values())}")
        for stat, number in points.items():
            if number > left.get(stat, 0):
                raise UsageError(f"{name} has {left.get(stat, 0)} of {stat} left to lose")
        return points_text(points)

    ways = {
        points_text(total(*(Map({stat: 1}) for stat in chosen)))
        for chosen in combinations_with_replacement(left, min(amount, 8))
        if amount <= 8 and all(chosen.count(stat) <= left[stat] for stat in left)
    }
    options = tuple(Option(way) for way in sorted(ways)[:MOST_WAYS])
    return Question(
        "loss", name, options, text="Of which pools?", facts=Map(harm=amount), form="str=N,agi=N,fit=N", reads=reads
    )


def _lose(course: Course, name: str, table: Table, points: Map[str, int]) -> None:
    """Take points; a stack that they are bid on is stopped, and the rest of its points comes back (HOUSE)."""
    while stopped := stopped_by(holding_of(table.rules, course.state, name), points):
        token = timeline_of(course.state).named(stopped)
        assert token is not None
        table.tell(f"{stopped} is stopped by harm")
        course.do(effect("turn", stack=stopped, becomes=STOPPED, plan=""))
        _over(course, token, bid=HAND, ante=HAND)
    course.do(effect("lose", to=name, thing=hand_thing(name), points=points_text(points)))


# ---------------------------------------------------------------------------------------------------------------------
# Aborting


def abort(table: Table, name: str, stacks: tuple[str, ...]) -> list[Effect]:
    """Return what comes of taking stacks back between two phases.

    Args:
        table: where it is played.
        name: whose they are.
        stacks: which; all when there are none.

    Raises:
        UsageError: one is not there, not theirs, or cannot be taken back any more.
    """
    rules, line = table.rules, timeline_of(table.state)
    holding = holding_of(rules, table.state, name)
    own = line.live(name)
    effects = []
    for wanted in dict.fromkeys(stacks or [token.name for token in own]):
        token = next((token for token in own if token.name == wanted.strip().lower()), None)
        if token is None:
            raise UsageError(
                f"{wanted} is no stack of {name} that could be aborted; "
                f"there are: {', '.join(one.name for one in own) or 'none'}"
            )
        is_seen = any(holding.stacks[token.name].shown.values())
        if is_seen and rules.switches["observed_abort"] == "forbidden":
            raise UsageError(f"somebody has seen a card of {token.name}, so it cannot be aborted")
        where = HAND
        if is_seen or token.state == UP:
            where = APART if rules.switches["observed_abort_returned_by"] == "any_pause" and is_seen else SPENT
        ante = HAND if rules.switches["ante_refresh"] == "immediate" else where
        effects.append(effect("turn", stack=token.name, becomes=ABORTED, plan=token.plan))
        effects.append(effect("points", to=name, thing=hand_thing(name), stack=token.name, bid=where, ante=ante))
    return effects
