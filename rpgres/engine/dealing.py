"""What a character is dealt who sits down at a table that lasts, before anything is done there."""

from __future__ import annotations

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.piles import beside
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.table import Table
from rpgres.model.state import State, pile_name
from rpgres.rulesets import Rules


def with_hands(rules: Rules, state: State, who: str, *, streams: Streams, step: int) -> State:
    """Return the state in which a character has the cards that it is dealt; as it is where it has some already."""
    counters = state.characters[who].counters
    run = Run(rules, state, SeededDealer(streams, step=step), Seats())
    for name, text in rules.file.piles.items():
        place = pile_name(name, who)
        if text.dealt and place in run.state.piles and not len(run.state.piles[place]):
            most, *lost = (counters.get(counter, 0) for counter in text.dealt)
            source = beside(rules, text.dealt_from, run.state.piles[place])
            Table(run, rules).deal(source, to=place, count=max(0, most - sum(lost)), by=who)
    return run.state
