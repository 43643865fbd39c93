"""The status line of `rpgres play`: who has what, what has begun, and what waits; only what the seat may know."""

from __future__ import annotations

from rpgres.engine.views import ANOTHER_SEAT
from rpgres.errors import counted
from rpgres.kits.aspects.names import AspectSettings
from rpgres.lines.seat import Seat
from rpgres.model.state import GM, Character, Pile
from rpgres.render.words import who_is
from rpgres.rulesets import Rules
from rpgres.rulesets.kits import settings_of

MOST_COUNTERS = 2  # of a character, where no parameter says which ones matter


def status(seat: Seat, width: int = 0) -> str:
    """Return the status line.

    Args:
        width: columns; what does not fit is left out, what waits last of all. 0 for a line to be read, or heard.
    """
    state, waits = seat.state, seat.waits
    if waits is None:
        last = ", ".join(state.periods) or "nothing waits"
    else:
        question = waits.question
        asked = f": {question.label}" if question.label else ""
        last = "another seat decides" if question.who == ANOTHER_SEAT else f"waits for {who_is(question.who)}{asked}"
    players = [one for one in state.characters.values() if state.seat_of(one.name) != GM]
    parts = [_part(seat, one) for one in players]
    shared = _counters(seat, holder_is_actor=False)
    counts = [(name, count) for name, count in state.counters.items() if name in shared and count]
    parts += [f"{name.replace('-', ' ')}: {count}" for name, count in counts]
    if not width:
        return "; ".join([*parts, last])
    line = f" {' · '.join(parts)}"
    room_left = width - len(last) - 3
    if len(line) > room_left:
        line = line[: max(0, room_left - 1)] + "\N{HORIZONTAL ELLIPSIS}"
    return f"{line}{' ' * max(1, width - len(line) - len(last) - 1)}{last}"


def _counters(seat: Seat, *, holder_is_actor: bool) -> list[str]:
    """Return the counters that actions can set, which are those that people count."""
    parameters = seat.data.file.parameters.values()
    found = [one.counter for one in parameters if one.kind == "counter" and (one.holder == "actor") == holder_is_actor]
    return list(dict.fromkeys(found))


def _part(seat: Seat, character: Character) -> str:
    known = _counters(seat, holder_is_actor=True)
    piles = [pile for pile in seat.rules.file.piles.values() if pile.each]
    counters = [name for name, count in character.counters.items() if (name in known if known else count and not piles)]
    asked = seat.waits.question if seat.waits is not None else None
    values = dict(character.counters)
    if asked is not None and asked.who == character.name and "points" in asked.facts:
        values[_points(seat.rules)] = asked.facts["points"]  # without those that are spent in this turn
    counts = [f"{values[name]} {name.replace('-', ' ')}" for name in counters[:MOST_COUNTERS]]
    hands = [
        counted(len(pile), "card")
        for name, pile in seat.state.piles.items()
        if pile.owner == character.name and len(pile) and _is_hand(seat, name, pile)
    ]
    said = ", ".join([*hands[:1], *counts]) if not character.is_out else "out"
    return f"{character.name}: {said}" if said else character.name


def _points(rules: Rules) -> str:
    """Return the counter that pays for invoking an aspect; empty for rules without aspects."""
    return settings_of(rules, "aspects", AspectSettings).points if "aspects" in rules.file.kits else ""


def _is_hand(seat: Seat, name: str, pile: Pile) -> bool:
    """Tell whether a pile is held in hand, and no deck or discard of its owner."""
    text = seat.rules.file.piles.get(name.partition(":")[0])
    return (text is not None and text.face == "hand") or seat.state.seat_of(pile.owner) in (pile.audience or ())
