"""What a character is dealt who sits down at a table that lasts, before anything is done there."""

from __future__ import annotations

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.events import Drawn
from rpgres.engine.piles import beside
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.table import Table
from rpgres.model.state import State, pile_name
from rpgres.rulesets import Rules


class Dealt(msgspec.Struct, frozen=True):
    """A table with somebody new at it.

    Attributes:
        state: the table.
        cards: what was dealt, in order.
        short: how many cards a hand is short of, by character, where the deck had too few.
    """

    state: State
    cards: tuple[Drawn, ...] = ()
    short: dict[str, int] = {}


def with_hands(rules: Rules, state: State, who: str, *, streams: Streams, step: int) -> Dealt:
    """Return the state in which a character has the cards that it is dealt; as it is where it has some already."""
    counters = state.characters[who].counters
    run = Run(rules, state, SeededDealer(streams, step=step), Seats())
    due = 0
    for name, text in rules.file.piles.items():
        place = pile_name(name, who)
        if text.dealt and place in run.state.piles and not len(run.state.piles[place]):
            most, *lost = (counters.get(counter, 0) for counter in text.dealt)
            source = beside(rules, text.dealt_from, run.state.piles[place])
            count = max(0, most - sum(lost))
            Table(run, rules).deal(source, to=place, count=count, by=who)
            due += count
    cards = tuple(event for event in run.events if isinstance(event, Drawn))
    return Dealt(run.state, cards, {who: due - len(cards)} if len(cards) < due else {})
