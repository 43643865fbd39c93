"""Aspects in actions that data describe: invoking after the roll, and the names of what an outcome makes.

Formulas name `invoked`, what the acting side has added by invoking, and `invoked-against`, what the other side has.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine.table import Outcome, Table
from rpgres.kits.aspects.invoking import can_invoke, invoke_among, means_of, new_ledger, no_window
from rpgres.kits.aspects.names import (
    BOOST,
    FOUND,
    LABELS,
    UNNAMED,
    AspectSettings,
    check_spelling,
    distinct_name,
    has_any,
    purse_of,
    seen_tag,
    with_names,
)
from rpgres.kits.aspects.windows import Side
from rpgres.model.state import GM, SCENE, Map
from rpgres.rulesets import Effect
from rpgres.rulesets.kits import settings_of

if TYPE_CHECKING:
    from rpgres.engine.named_dice.windows import Roll  # which needs much, and an action with code nothing of it

WINDOW = "invoke"
ADDED = ("invoked", "invoked-against")  # by side: what formulas name
TOTALS = ("total", "opposition")  # by side: what it comes to, where the action has such a number


def opens(table: Table, roll: Roll) -> bool:
    """Tell whether any character can invoke an aspect."""
    if not table.state.glance(has_any):
        return False
    ledger = new_ledger(table)
    return any(can_invoke(table.state, members, ledger) for members in _members(roll))


def means(table: Table, roll: Roll) -> Hashable:
    """Return with what both sides can invoke."""
    ledger, sides = new_ledger(table), _members(roll)
    return sides, tuple(means_of(table.state, side, member, ledger) for side in sides for member in side)


def invoke(table: Table, roll: Roll) -> tuple[Effect, ...]:
    """Let the sides invoke until all pass, and return what it cost."""
    if not table.state.glance(has_any):
        return ()
    members = _members(roll)
    if not opens(table, roll):
        no_window(table, members, LABELS)
        return ()
    ledger = new_ledger(table)
    spent = {who: roll.spent(who, ledger.settings.points) for who in (roll.actor.name, roll.opponent)}
    points = Map({purse_of(table.state, who): count for who, count in spent.items() if count})
    raising = _Raising(roll, ledger.settings.bonus)
    ledger = ledger.with_(points=points, raising=raising)
    return invoke_among(table, [raising.side(turn, members[turn]) for turn in (0, 1)], ledger)[1]


def _members(roll: Roll) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return who may invoke for the actor and who against; a fixed difficulty is the game master's to raise."""
    given = roll.given.values
    own = (roll.actor.name, *_many(given.get("helper")), *_many(given.get("ally")))
    if ADDED[1] not in roll.values:
        return own, ()
    against = [] if roll.opponent == GM and roll.actor.seat == GM else [roll.opponent]
    return own, tuple(dict.fromkeys((*against, *_many(given.get("rival")))))


def _many(value: Any) -> Sequence[str]:
    return value if isinstance(value, tuple) else (value,) if value else ()


class _Raising:
    """The numbers of a described action behind the sides of its roll."""

    def __init__(self, roll: Roll, bonus: int) -> None:
        self.roll, self.bonus = roll, bonus
        self.has_dice = [roll.has_dice(acting=turn == 0) for turn in (0, 1)]

    def side(self, turn: int, members: tuple[str, ...]) -> Side:
        """Return a side as it stands. Without a number for its total, what it has added is used."""
        roll, total = self.roll, self.roll.number(TOTALS[turn])
        added = roll.values.get(ADDED[turn], 0)
        label = LABELS[turn] if turn == 0 or total is not None else ""
        luck = total - added - roll.mean(TOTALS[turn]) if total is not None else 0  # of the dice, against their average
        return Side(members, label, "", added if total is None else total, luck if self.has_dice[turn] else None)

    def changed(self, side: Side, turn: int, bonus: int) -> Side:
        """Return a side raised by a bonus, or with its dice rerolled where that is 0."""
        if bonus:
            self.roll.values[ADDED[turn]] += bonus
        else:
            self.roll.reroll(acting=turn == 0)
        return self.side(turn, side.members)

    def prospects(self, turn: int) -> dict[str, Any]:
        """Return what raising the roll would bring a side.

        `wins` and `saves` say how often it would have to be raised for the side to succeed, and not to fail; -1 for
        never. `better` tells whether the next use changes the outcome.
        """
        mine, ahead = turn == 0, self.roll.looked_ahead(ADDED[turn], self.bonus)
        wins = next((step for step, (_, success) in enumerate(ahead) if success is mine), -1)
        saves = next((step for step, (_, success) in enumerate(ahead) if success is not (not mine)), -1)
        return {"wins": wins, "saves": saves, "better": ahead[0][0] != ahead[1][0]}

    def key(self) -> Hashable:
        """Return all of the roll that matters from here on."""
        return self.roll.key()


def named_by_maker(
    table: Table, effects: tuple[Effect, ...], who: str, name: str, becomes: str = ""
) -> tuple[Effect, ...]:
    """Return the effects with every new aspect named: the maker is asked, and the game master for that of a cost.

    Args:
        table: where it is played.
        who: makes what the action is about, which may be without a name.
        name: what that is called in the effects.
        becomes: what was typed for an aspect that is altered; where none is, for the one that a cost brings.
    """
    state = table.state
    is_typed = name not in (distinct_name(state, UNNAMED), distinct_name(state, FOUND))
    aspects = [(one["change"], one.get("name", "")) for one in effects if one["kind"] == "aspect"]
    has_other = becomes and all(change != "altered" for change, _ in aspects)
    for change, own in sorted(aspects, key=lambda aspect: aspect[0] != "created"):  # costs before what is found
        is_new, is_found = change == "created", change == "revealed" and state.tag(own) is None
        if not (is_new or is_found) or (own == name and is_typed):
            continue
        if has_other and own != name:
            said = distinct_name(state, becomes)
        elif is_new:
            said = _name_asked(table, who if own == name else GM, own)
        else:
            said = _name_asked(table, GM, own, of="the aspect that is found")
        if said == name and is_new and table.is_read:
            there = [tag.name for tag in state.tags if tag.on == SCENE and tag.audience is None]
            if there:  # one of which may have been meant as its name
                table.tell(f"the new aspect has no name; aspects in the scene: {', '.join(there)}")
        effects = _renamed(effects, own, said)
    return effects


def renamed_by_maker(table: Table, effects: tuple[Effect, ...], who: str, name: str) -> tuple[Effect, ...]:
    """Return the effects with the name that its maker gives to a new aspect in place of its own."""
    return _renamed(effects, name, _name_asked(table, who, name)) if _creates(effects, name) else effects


def _name_asked(table: Table, who: str, name: str, *, of: str = "the new aspect") -> str:
    """Return the name that somebody gives to a new aspect."""
    return distinct_name(table.state, table.name("aspect-name", who, name, of=of))


def _creates(effects: tuple[Effect, ...], name: str) -> bool:
    return any(one["kind"] == "aspect" and one["change"] == "created" and one.get("name") == name for one in effects)


def _renamed(effects: tuple[Effect, ...], name: str, said: str) -> tuple[Effect, ...]:
    for key in ("name", "on") if said != name else ():
        effects = tuple(one.with_(key, said) if one.get(key) == name else one for one in effects)
    return effects


def complete(table: Table, outcome: Outcome, given: Mapping[str, Any]) -> Outcome:
    """Return an outcome in which every aspect has its name: what was typed as `name`, `on` and `boost`, or is asked.

    Raises:
        UsageError: nothing here is called as typed, and something nearly is.
    """
    kinds = {one["kind"] for one in outcome.effects}
    point = settings_of(table.rules, "aspects", AspectSettings).point
    if kinds.isdisjoint(("aspect", "free-invoke", BOOST, point)):
        return outcome
    state, actor, effects = table.state, outcome.roles["actor"], outcome.effects
    typed: str = given.get("name") or ""
    is_new = any(one["kind"] == "aspect" and one["change"] == "created" for one in effects)
    if typed and not is_new:
        check_spelling(state, actor, typed)
        there = seen_tag(state, actor, typed)
        typed = there.name if there is not None else typed
    name = typed or distinct_name(state, UNNAMED)
    on = {"on": outcome.roles.get(given["on"], given["on"])} if given.get("on") else {}
    boost = {"name": given["boost"]} if given.get("boost") else {}
    missing = {
        "aspect": {"name": name, **on},
        "free-invoke": {"on": name},
        BOOST: boost,
        point: {"on": typed} if typed else {},
    }
    effects = tuple(Map({**missing.get(one["kind"], {}), **one}) for one in effects)
    effects = with_names(state, named_by_maker(table, effects, actor, name))
    return msgspec.structs.replace(outcome, effects=effects)
