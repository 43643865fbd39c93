"""Odds with a hand that nobody looks into: the same as where every hand is dealt, whatever a rule does beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rpgres import Option, Outcome, Preference, Ruleset, Table, View
from rpgres.engine.players import Policy, Question
from rpgres.engine.prepare import prepare
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.loading import load_rules

DATA = """
title = "Five cards"
summary = "A hand, and what is done beside it."
version = "1"
[bands.odd]
title = "Odd"
to = 0
success = false
[bands.even]
title = "Even"
from = 1
success = true
[sheet.name]
kind = "text"
help = "name"
[decks.five]
title = "Five"
suits.red = { title = "Red", code = "Re", cards = ["1", "2", "3", "4", "5"] }
[decks.two]
title = "Two"
suits.blue = { title = "Blue", code = "Bl", cards = ["1", "2"] }
[piles]
deck = { title = "Deck", face = "down", decks.five = {}, refill = "discard" }
spare = { title = "Spare deck", face = "down", decks.two = {} }
discard = { title = "Discard", face = "up" }
hand = { title = "Hand", face = "hand", dealt-from = "deck" }
[labels]
deal = { kind = "chance", help = "a hand" }
draw = { kind = "chance", help = "a card" }
peek = { kind = "chance", help = "a card" }
play = { kind = "decision", help = "which card" }
"""
ACTION = """
[actions.{name}]
summary = "A case."
labels = ["deal", "draw", "peek", "play"]
tables = ["{name}"]
[outcomes.{name}]
odd = {{ text = "Odd." }}
even = {{ text = "Even." }}
"""

Case = Callable[[Table, str], int]  # plays with the actor's name, and returns what decides


def _play(table: Table, who: str, *, to: str = "discard") -> int:
    options = [Option(card.short) for card in table.possible("hand")]
    name = table.ask("play", who, options, pile="hand")
    card = next(card for card in table.cards("hand") if card.short == name)
    table.move([card], source="hand", to=to)
    return card.value or 0


def _draw(table: Table) -> int:
    card = table.draw("deck", to="discard")
    return card.value or 0 if card is not None else 0


def refilled(table: Table, who: str) -> int:
    table.deal("deck", to="hand", count=3, by=who)
    found = _play(table, who)
    _draw(table)
    _draw(table)
    return found + _draw(table) * _play(table, who)  # the deck is empty: the discard pile is shuffled


def laid_back(table: Table, who: str) -> int:
    table.deal("deck", to="hand", count=2, by=who)
    return int(_play(table, who, to="deck") == _draw(table)) + _play(table, who)


def peeked(table: Table, who: str) -> int:
    table.deal("deck", to="hand", count=2, by=who)
    (card,) = table.peek("deck", by=who)
    return _play(table, who) + (card.value or 0) * _draw(table)


def topped(table: Table, who: str) -> int:
    table.deal("deck", to="hand", count=2, by=who)
    found = _play(table, who)
    table.peek("deck", by=who)
    table.deal("deck", to="hand", count=1, by=who)
    return found * _play(table, who) + _draw(table)


def given_a_known_card(table: Table, who: str) -> int:
    table.deal("deck", to="hand", count=2, by=who)
    found = _draw(table)
    table.move(table.cards("discard"), source="discard", to="hand")
    return found + _play(table, who)


def given_a_card_of_another_deck(table: Table, who: str) -> int:
    table.deal("deck", to="hand", count=2, by=who)
    table.draw("spare", to="hand")
    return table.count("hand") + _play(table, who) * _play(table, who)


CASES: dict[str, Case] = {
    case.__name__.replace("_", "-"): case
    for case in (refilled, laid_back, peeked, topped, given_a_known_card, given_a_card_of_another_deck)
}

odd_first = Preference(lambda label, facts, option: (option.name[-1] not in "135", option.name))


def looking(view: View, question: Question) -> str:
    """Decide as `odd_first`; since it may be any function, every hand is dealt."""
    return odd_first(view, question)


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Ruleset:
    """The ruleset, with an action for each case."""
    folder: Path = tmp_path_factory.mktemp("data") / "five"
    (folder / "sheets").mkdir(parents=True)
    (folder / "ruleset.toml").write_text(DATA + "".join(ACTION.format(name=name) for name in CASES))
    ruleset = Ruleset("five", data=folder)

    def add(name: str, case: Case) -> None:
        @ruleset.action(name)
        def rule(table: Table, actor: Any) -> Outcome:
            return table.settle(name, 1 - case(table, actor.name) % 2)

    for name, case in CASES.items():
        add(name, case)
    return ruleset


@pytest.mark.parametrize("name", CASES)
def test_an_unseen_hand_has_the_odds_of_every_hand(five: Ruleset, name: str) -> None:
    def masses(policy: Policy) -> dict[Any, Any]:
        return dict(outcome_odds(prepare(load_rules(five), name, {}), policies={"": policy}).masses)

    assert masses(odd_first) == masses(looking)
