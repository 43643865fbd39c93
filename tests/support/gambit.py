"""A card ruleset of the tests' own: hands, a face-down deck, a chain of draws. What the engine has to do for any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpgres.engine.players import NO
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.table import Outcome, Table
from rpgres.model.state import Character, State, pile_name
from rpgres.rulesets import Option, Part, Rules, Ruleset, merge_parts
from rpgres.toml.reading import Source, parse

GAMBIT = """
title = "Gambit"
summary = "A card from the hand, and more while the suit holds."
version = "1"

[bands]
miss = { title = "Miss", to = -1, success = false }
hit = { title = "Hit", from = 0, success = true }

[decks.little]
title = "Little deck"
signs.mood = { "+" = "glad", "-" = "sad" }
names = { K = 3 }
suits.reeds = { title = "Reeds", code = "Re", cards = ["1+", "2-", "2-", "3+"] }
suits.stones = { title = "Stones", code = "St", cards = ["1+", "1-", "2+", "3-", "3-"] }
cards.fool = { title = "Fool", code = "Fo", count = 2, value = 0 }

[piles]
deck = { title = "Deck", face = "down", decks.little = {}, refill = "discard", refill-when = { refill = "yes" } }
discard = { title = "Discard", face = "up" }
hand = { title = "Hand", face = "hand", each = true, dealt-from = "deck" }

[switches.refill]
help = "whether an empty deck is made of the discard"
choices = { yes = "it is", no = "it stays empty" }
default = "yes"
source = "made up"

[parameters]
suit = { kind = "text", help = "the suit that goes on", default = "reeds" }
need = { kind = "integer", help = "what is needed", default = 6 }
hand = { kind = "cards", pile = "hand", help = "the cards in hand" }

[labels]
draw = { kind = "chance", help = "a card" }
deal = { kind = "chance", help = "the cards of a hand" }
play = { kind = "decision", help = "which card" }
more = { kind = "decision", help = "one more?", optional = true }

[actions.chase]
summary = "Play a card, and draw while the suit holds."
parameters = ["suit", "need", "hand"]
labels = ["deal", "draw", "play", "more"]
tables = ["chase"]

[outcomes.chase]
miss = { text = "No." }
hit = { text = "Yes." }
"""

gambit = Ruleset("gambit")


@gambit.lump("chase")
def alike(rules: Rules, card: Any, *, state: State, suit: str, need: int) -> tuple[bool, int]:
    """Cards of one value are alike, but for the suit that goes on."""
    return card.suit == suit, card.value


@gambit.action("chase")
def chase(table: Table, actor: Character, *, suit: str, need: int) -> Outcome:
    """Deal a hand of three where there is none; play one; draw while the suit holds and somebody wants to."""
    hand = pile_name("hand", actor.name)
    while table.count(hand) < 3 and table.draw("deck", to=hand, label="deal", by=actor.name) is not None:
        pass
    codes = dict.fromkeys(card.code for card in table.cards(hand))
    played = table.ask("play", actor.name, [Option(code.lower().replace("+", "p"), code) for code in codes])
    card = next(card for card in table.cards(hand) if card.code.lower().replace("+", "p") == played)
    table.move([card], source=hand, to="discard", by=actor.name, label="play")
    total = card.value or 0
    while card is not None and card.suit == suit and total < need:
        if table.ask("more", actor.name, [Option("draw")], optional=True) == NO:
            break
        card = table.draw("deck", to="discard", by=actor.name)
        total += (card.value or 0) if card is not None else 0
    return table.settle("chase", total - need, total=total, opposition=need)


def rules(**switches: str) -> Rules:
    """Return the ruleset with its data."""
    from pathlib import Path

    source = Source(path="gambit/ruleset.toml", text=GAMBIT)
    parts = [Part(folder=Path("gambit"), source=source, data=parse(source))]
    return Rules(gambit, file=merge_parts(parts), parts=parts, switches=switches)


def prepared(inputs: Mapping[str, Any] = {}, *, state: State | None = None, **switches: str) -> Prepared:
    """Return a chase, ready to be run."""
    return prepare(rules(**switches), "chase", inputs, state=state)
