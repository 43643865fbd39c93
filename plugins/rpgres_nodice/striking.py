"""Strikes and the reactions to them, the harm they do, and the pools that lose points."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

from rpgres import Character, Map, Option, Question, State, Table, UsageError, effect
from rpgres_nodice.phases import PhaseRun, Played, read_stack, release, that_do
from rpgres_nodice.plans import actions_of, armour_of, item_of, plan_words, spells_of
from rpgres_nodice.points import (
    HAND,
    SPENT,
    added,
    hand_thing,
    holding_of,
    points_text,
    pools_of,
    read_points,
    secrets_of,
    stopped_by,
    total,
)
from rpgres_nodice.switches import Switches
from rpgres_nodice.timeline import RESOLVED, STOPPED, UP, timeline_of

HARM = "harm"  # what the points are that it takes, for messages
MOST_WAYS = 12  # of losing points that are suggested


def strikes(table: Table, running: PhaseRun, before: State, struck: list[Played]) -> dict[str, int]:
    """Return the harm of each character; reactions of the targets are revealed."""
    switches = table.rules.switches(Switches)
    harm: dict[str, int] = {}
    reactions: dict[str, list[Played]] = {}
    for one in struck:
        target = before.characters.get(one.plan.on)
        striker = before.characters[one.token.by]
        if target is None or target.is_out:
            table.tell(f"{one.token.name}: {one.plan.on} is no longer there")
            continue
        described = _described(table, striker, one)
        if abs(striker.counters.get("zone", 0) - target.counters.get("zone", 0)) > described["reach"]:
            table.tell(f"{one.token.name}: {target.name} is out of reach")
            continue
        if described["is_bodily"] and target.name not in reactions:
            reactions[target.name] = _reactions(table, running, target.name)
        amount = _blow(table, one, described, target, reactions.get(target.name, []))
        if amount:
            harm[target.name] = harm.get(target.name, 0) + amount
    if switches.defence_lasts == "phase":
        ante = HAND if switches.ante_refresh == "immediate" else SPENT
        for reaction in (one for used in reactions.values() for one in used):
            release(running, reaction.token, bid=SPENT, ante=ante)
    return harm


def _described(table: Table, striker: Character, one: Played) -> Map[str, Any]:
    """Return the reach of a strike, what it adds, and whether armour and reactions help."""
    if one.plan.action == "spell":
        spell = spells_of(table.rules)[one.plan.options[0]]
        return Map(reach=spell["reach"], damage=spell["damage"], armour=spell["armour"], is_bodily=False)
    item = item_of(striker, one.plan.options[0]) if one.plan.action == "attack" else Map()
    return Map(reach=item.get("reach", 0), damage=item.get("damage", 0), armour=True, is_bodily=True)


def _reactions(table: Table, running: PhaseRun, name: str) -> list[Played]:
    """Return the revealed reactions of the target of a strike."""
    lasts = table.rules.switches(Switches).defence_lasts == "sequence"
    found = []
    for token in timeline_of(running.state).live(name):
        if token.phase is None:
            one = read_stack(running.state, token)
            if token.state != UP:
                said = plan_words(table.rules, one.plan, name) if table.is_read else ""
                table.tell(f"{token.name}: {said}", reveals=secrets_of(token.by, token.name))
                running.do(effect("turn", stack=token.name, becomes=UP if lasts else RESOLVED, plan=one.plan.text))
            found.append(one)
    return found


def _blow(table: Table, one: Played, described: Map[str, Any], target: Character, reactions: list[Played]) -> int:
    """Return the harm of a strike to a target in reach."""
    rules = table.rules
    name, power = one.token.name, one.plan.bid.get(actions_of(rules)[one.plan.action]["power"], 0)
    revealed = tuple(name for its in reactions for name in secrets_of(its.token.by, its.token.name))
    dodges = [reaction.plan.bid.get("agi", 0) for reaction in that_do(table, reactions, "dodge")]
    if dodges and described["is_bodily"]:
        lead = one.plan.bid.get("agi", 0) - max(dodges)
        if lead < 0 or (lead == 0 and rules.switches(Switches).dodge_tie == "dodged"):
            table.tell(f"{name}: {target.name} dodges", reveals=revealed)
            return 0
    amount: int = described["damage"] + power
    if described["armour"]:
        amount -= armour_of(target)
    if described["is_bodily"]:
        for reaction in that_do(table, reactions, "ward"):
            item = item_of(target, reaction.plan.options[0])
            amount -= reaction.plan.bid.get("str", 0) + item.get("guard", 0)
    amount = max(0, amount)
    table.tell(f"{name}: {target.name} is hit, {f'harm {amount}' if amount else 'without harm'}", reveals=revealed)
    return amount


def take_harm(table: Table, running: PhaseRun, harm: dict[str, int]) -> None:
    """Ask each harmed character, in secret, from which pools it takes points."""
    left = {name: total_left(table, running.state, name) for name in harm}
    chosen = _losses(table, running.state, {name: amount for name, amount in harm.items() if amount < left[name]})
    for name, amount in harm.items():
        taken = min(amount, left[name])
        running.do(effect("harm", to=name, amount=taken))
        points = chosen.get(name) or body_left(table, running.state, name)
        _lose(running, name, table, points)
        if amount >= left[name]:
            running.do(effect("out", to=name))
            table.tell(f"{name} is out")
            for token in timeline_of(running.state).live(name):
                running.do(effect("turn", stack=token.name, becomes=STOPPED, plan=""))
                release(running, token, bid=SPENT, ante=SPENT)


def total_left(table: Table, state: State, name: str) -> int:
    """Return how much harm takes a character out; it is public."""
    character = state.characters[name]
    body: list[str] = table.rules.file.settings["body"]
    whole: int = sum(character.abilities.get(stat, 0) for stat in body)
    harm: int = character.counters.get("harm", 0)
    return whole - harm


def body_left(table: Table, state: State, name: str) -> Map[str, int]:
    """Return the points that harm can still take of each pool."""
    left = added(pools_of(state.characters[name]), holding_of(state, name).lost, sign=-1)
    return Map({stat: left.get(stat, 0) for stat in table.rules.file.settings["body"] if left.get(stat, 0)})


def _losses(table: Table, state: State, harm: dict[str, int]) -> dict[str, Map[str, int]]:
    """Ask each harmed character from which pools harm takes points, and return the answers."""
    questions = [_loss(table, state, name, amount) for name, amount in harm.items()]
    answers = table.ask_together(questions, secret=True) if questions else ()
    body = table.rules.file.settings["body"]
    return {name: read_points(answer, body, of=HARM) for name, answer in zip(harm, answers, strict=True)}


def _loss(table: Table, state: State, name: str, amount: int) -> Question:
    left = body_left(table, state, name)
    body = table.rules.file.settings["body"]

    def reads(typed: str) -> str:
        points = read_points(typed, body, of=HARM)
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


def _lose(running: PhaseRun, name: str, table: Table, points: Map[str, int]) -> None:
    """Take points; a stack with them in its bid is stopped, or continues with the rest of its bid (HOUSE)."""
    stops = table.rules.switches(Switches).harm_on_stacks == "stop"
    while stops and (stopped := stopped_by(holding_of(running.state, name), points)):
        token = timeline_of(running.state).named(stopped)
        assert token is not None
        table.tell(f"{stopped} is stopped by harm", reveals=(*secrets_of(name, stopped), f"{name}:loss"))
        running.do(effect("turn", stack=stopped, becomes=STOPPED, plan=""))
        release(running, token, bid=HAND, ante=HAND)
    running.do(effect("lose", to=name, thing=hand_thing(name), points=points_text(points)))
