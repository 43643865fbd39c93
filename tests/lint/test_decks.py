"""Decks as data: the shared one, what is wrong with decks and piles, and that every fault is told with its line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.piles import lay_out
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.table import Table
from rpgres.errors import FileError
from rpgres.lint.rulesets import check_overlaid, data_diagnostics
from rpgres.model.cards import DeckFile, build_deck, known_cards
from rpgres.model.state import Deck, State, blank_character, code_of
from rpgres.rulesets import Rules, Ruleset, builtin_folder, merge_parts, read_parts
from rpgres.rulesets.decks import shared_deck, shared_decks
from tests.support.gambit import GAMBIT, gambit


def rules_in(folder: Path, text: str, *, house: str = "", files: dict[str, str] | None = None) -> Rules:
    """Return the card ruleset of the tests with other data, a house rule laid over it, and files beside that."""
    folders = [folder / "gambit", *([folder / "house"] if house or files else [])]
    for where, data in zip(folders, (text, house), strict=False):
        where.mkdir(exist_ok=True)
        (where / "ruleset.toml").write_text(data, "utf-8")
    for name, data in (files or {}).items():
        path = folders[-1] / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(data, "utf-8")
    parts = read_parts(folders, ruleset_id="gambit")
    return Rules(gambit, file=merge_parts(parts), parts=parts)


def told(rules: Rules) -> list[str]:
    """Return what is wrong, as `FOLDER/FILE:LINE: KEY: MESSAGE` with the hint."""
    return [
        f"{Path(one.file).parent.name}/{Path(one.file).name}:{one.line}: {one.key}: {one.message}"
        + (f" ({one.hint}?)" if one.hint else "")
        for one in data_diagnostics(rules)
    ]


# ---------------------------------------------------------------------------------------------------------------------
# The shared deck


def test_the_standard_deck_has_its_52_cards_and_two_jokers() -> None:
    deck = shared_deck("standard")
    assert deck.size == 54
    assert dict(deck.suits) == {"clubs": "Clubs", "diamonds": "Diamonds", "hearts": "Hearts", "spades": "Spades"}
    assert set(deck.counts.values()) == {1, 2}
    suits = Counter[str]()
    values = Counter[int | None]()
    for code, count in deck.counts.items():
        suits[deck.cards[code].suit] += count
        values[deck.cards[code].value] += count
    assert suits == {"clubs": 13, "diamonds": 13, "hearts": 13, "spades": 13, "": 2}
    assert values == {**dict.fromkeys(range(1, 14), 4), None: 2}
    assert deck.names == {"A": 1, "J": 11, "Q": 12, "K": 13}
    assert len(set(deck.copies())) == 54


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        *(("h12", "H12"), ("HQ", "H12"), ("SA", "S1"), ("ck", "C13"), ("dj", "D11"), ("Jk", "Jk"), ("joker", "Jk")),
        *(("q of hearts", "H12"), ("10-of-spades", "S10")),
    ],
)
def test_cards_of_the_standard_deck_are_typed_by_value_word_or_title(typed: str, code: str) -> None:
    assert known_cards([shared_deck("standard")]).matching(typed) == (code,)


PARLOUR = """
title = "Parlour"
summary = "Cards on a table."
version = "1"
kits = ["cards"]

[piles.deck]
title = "Deck"
face = "down"
decks.standard = {}
"""


def test_a_ruleset_on_the_kit_has_the_shared_deck_and_may_change_or_extend_it(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, PARLOUR)
    assert rules.file.title == "Parlour"
    assert rules.layers.deck_names() == ["standard"] == list(shared_decks())
    assert rules.laid == {"deck": shared_deck("standard")}

    bare = rules_in(tmp_path, PARLOUR + "\n[decks.standard.cards.joker]\ncount = 0\n").layers.deck("standard")
    assert (bare.size, bare.counts["Jk"]) == (52, 0)

    more = '\n[decks.two-queens]\ntitle = "Two queens"\nextends = "standard"\n'
    more += 'suits.hearts = { title = "Hearts", code = "H", cards = [12] }\n'
    more += 'suits.moons = { title = "Moons", code = "M", cards = [13] }\n'
    queens = rules_in(tmp_path, PARLOUR + more).layers.deck("two-queens")
    assert (queens.size, queens.counts["H12"]) == (56, 2)
    assert queens.cards["M13"].title == "K of Moons"


def test_a_house_rule_takes_a_deck_away(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, PARLOUR, house="[decks]\nstandard = { remove = true }\n")
    assert rules.layers.deck_names() == []
    assert "house" not in str(rules.layers.deck_names())
    problems = [line for line in told(rules) if "piles" in line]
    assert problems == [
        "gambit/ruleset.toml:10: piles.deck.decks.standard: the ruleset has no deck 'standard', and no other"
    ]


@pytest.mark.parametrize("path", sorted(builtin_folder().glob("*/decks/*.toml")), ids=lambda path: path.stem)
def test_decks_that_ship_have_as_many_cards_as_their_titles_say(path: Path) -> None:
    parts = read_parts([path.parent.parent], ruleset_id=path.parent.parent.name)
    deck = Rules(gambit, file=merge_parts(parts), parts=parts).layers.deck(path.stem)
    assert f"({deck.size} cards)" in deck.title


# ---------------------------------------------------------------------------------------------------------------------
# Decks that are wrong


def faults(data: dict[str, Any], *, base: Deck | None = None) -> dict[str, str]:
    file = msgspec.convert({"title": "T", **data}, DeckFile)
    return {".".join(map(str, path)): message for path, message in build_deck(file, base=base)[1]}


REEDS = {"title": "Reeds", "code": "Re"}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            {"cards": {"red": {"title": "Red", "code": "Jk"}, "black": {"title": "Black", "code": "Jk"}}},
            {"cards.black.code": "the code Jk is already used by Red"},
        ),
        (
            {"names": {"5": 11}, "suits": {"reeds": {**REEDS, "cards": [5, 11]}}},
            {"suits.reeds.cards.1": "Re5 could also mean Re5"},
        ),
        (
            {
                "names": {"K": 13},
                "suits": {"hearts": {"title": "Hearts", "code": "J", "cards": [13]}},
                "cards": {"joker": {"title": "Joker", "code": "Jk"}},
            },
            {"cards.joker.code": "Jk could also mean J13"},
        ),
        (
            {"signs": {"mood": {"a": "glad", "A": "sad"}}, "suits": {"reeds": {**REEDS, "cards": ["1a", "1A"]}}},
            {"suits.reeds.cards.1": "Re1A could also mean Re1a"},
        ),
        ({"signs": {"mood": {"+": "glad"}}, "suits": {"reeds": {**REEDS, "cards": [1, "1+", "1+"]}}}, {}),
        ({"cards": {name: {"title": "Joker", "code": f"J{name}"} for name in "rb"}}, {}),
    ],
)
def test_cards_that_nobody_could_tell_apart_are_refused(data: dict[str, Any], expected: dict[str, str]) -> None:
    assert faults(data) == expected


def test_a_deck_cannot_give_the_code_of_its_base_to_another_card() -> None:
    base = shared_deck("standard")
    moved = {"suits": {"hares": {"title": "Hares", "code": "H", "cards": [12]}}}
    assert faults(moved, base=base) == {"suits.hares.cards.0": "the code H12 is already used by Q of Hearts"}
    assert faults({"suits": {"hearts": {"title": "Hearts", "code": "H", "cards": [12]}}}, base=base) == {}


def test_one_more_problem_of_a_deck_does_not_hide_the_others(tmp_path: Path) -> None:
    text = """
[decks.second]
title = "Second"
extends = "litle"

[decks.third]
titel = "Third"

[decks.fourth]
title = "Fourth"
extends = "fifth"

[decks.fifth]
title = "Fifth"
extends = "fourth"

[decks.sixth]
title = "Sixth"
suits.reeds = { title = "Reeds", code = "Re", cards = ["x", "1*", 3] }
"""
    first = GAMBIT.count("\n") + 1
    assert told(rules_in(tmp_path, GAMBIT + text)) == [
        f"gambit/ruleset.toml:{first + 3}: decks.second.extends: there is no deck 'litle' (little?)",
        f"gambit/ruleset.toml:{first + 5}: decks.third.title: missing key `title`",
        f"gambit/ruleset.toml:{first + 6}: decks.third.titel: unknown key (title?)",
        f"gambit/ruleset.toml:{first + 14}: decks.fifth.extends: a deck cannot extend itself",
        f"gambit/ruleset.toml:{first + 10}: decks.fourth.extends: a deck cannot extend itself",
        *(
            f"gambit/ruleset.toml:{first + 18}: decks.sixth.suits.reeds.cards[{number}]: {printed!r} is not a value, "
            "with or without a sign; this deck has no signs"
            for number, printed in enumerate(("x", "1*"))
        ),
    ]


# ---------------------------------------------------------------------------------------------------------------------
# Piles and parameters that are wrong


def test_the_card_ruleset_of_the_tests_is_in_order(tmp_path: Path) -> None:
    assert told(rules_in(tmp_path, GAMBIT)) == []


@pytest.mark.parametrize(
    ("house", "expected"),
    [
        ("[piles.deck.decks]\nlitle = {}", "2: piles.deck.decks.litle: the ruleset has no deck 'litle' (little?)"),
        (
            "[piles.deck.decks]\nlittle = { refil = 'yes' }",
            "2: piles.deck.decks.little.refil: the ruleset has no switch 'refil' (refill?)",
        ),
        (
            "[piles.deck.decks]\nlittle = { refill = 'on' }",
            "2: piles.deck.decks.little.refill: the switch refill has no choice 'on'; it can be: yes, no",
        ),
        (
            "[piles.deck]\nrefill-when = { margin-from = 1 }",
            "2: piles.deck.refill-when.margin-from: the ruleset has no switch 'margin-from'; it has: refill",
        ),
        (
            "[piles.hand]\nhidden-when = { refill = ['no', 'never'] }",
            "2: piles.hand.hidden-when.refill: the switch refill has no choice 'never'; it can be: yes, no",
        ),
        ("[piles.deck]\nrefill = 'discards'", "2: piles.deck.refill: the ruleset has no pile 'discards' (discard?)"),
        ("[piles.deck]\nrefill = 'deck'", "2: piles.deck.refill: a pile cannot be refilled from itself"),
        ("[piles.hand]\ndealt-from = 'dek'", "2: piles.hand.dealt-from: the ruleset has no pile 'dek' (deck?)"),
        (
            "[piles.discard]\ndealt-from = 'hand'",
            "2: piles.discard.dealt-from: every character has a pile 'hand' of its own, and this one has no owner",
        ),
        (
            "[piles.discard]\nrefill-when = { refill = 'no' }",
            "2: piles.discard.refill-when: the pile to refill from is missing (refill = ...)",
        ),
        ("[parameters.hand]\npile = 'hant'", "2: parameters.hand.pile: the ruleset has no pile 'hant' (hand?)"),
        (
            "[parameters.hand]\npile = 'discard'",
            "2: parameters.hand.pile: the pile discard does not declare its source of cards (dealt-from = ...)",
        ),
        (
            "[parameters.hand]\npile = { remove = true }",
            "1: parameters.hand: a parameter of the kind 'cards' needs pile = NAME",
        ),
    ],
)
def test_what_piles_and_parameters_name_has_to_be_there(house: str, expected: str, tmp_path: Path) -> None:
    rules = rules_in(tmp_path, GAMBIT, house=house)
    assert told(rules) == [f"house/ruleset.toml:{expected}"]
    with pytest.raises(FileError):
        check_overlaid(rules)


def test_a_deck_behind_one_that_always_lies_there_never_does(tmp_path: Path) -> None:
    more = '\n[decks.other]\ntitle = "Other"\ncards.x = { title = "X", code = "X" }\n'
    house = "[piles.deck.decks]\nother = { refill = 'no' }"
    assert told(rules_in(tmp_path, GAMBIT + more, house=house)) == [
        "house/ruleset.toml:2: piles.deck.decks.other: this deck is never used: little, which comes first, "
        "is used with any switches"
    ]


BESIDE = """
[decks.beside]
title = "Beside"
suits.stones = { title = "Pebbles", code = "St", cards = [1, 2, 3] }
signs.mood = { "+" = "glad" }
suits.stars = { title = "Stars", code = "Re", cards = ["1+", "3+"] }

[piles.side]
title = "Side"
face = "down"
"""


def test_two_decks_of_one_table_with_one_code_for_different_cards(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, GAMBIT + BESIDE, house="[piles.side.decks]\nbeside = {}")
    assert told(rules) == [
        "house/ruleset.toml:2: piles.side.decks.beside: Re1+, Re3+ of beside and of little are different cards, "
        "and both decks can be on one table"
    ]


def test_decks_that_switches_keep_apart_may_share_codes(tmp_path: Path) -> None:
    house = "[piles.deck.decks]\nlittle = { refill = 'yes' }\n[piles.side.decks]\nbeside = { refill = ['no'] }"
    assert told(rules_in(tmp_path, GAMBIT + BESIDE, house=house)) == []


CARD = 'cards.x = { title = "X", code = "X" }\n'


def test_a_deck_file_laid_over_nothing_is_told(tmp_path: Path) -> None:
    text = PARLOUR + '\n[decks.fate-96]\ntitle = "T"\n' + CARD
    stray = {"decks/fate-69.toml": 'title = "Mine"\n' + CARD, "decks/own.toml": 'title = "Own"\n' + CARD}
    assert [line for line in told(rules_in(tmp_path, text, files=stray)) if "decks" in line] == [
        "decks/fate-69.toml:1: : no pile has a deck 'fate-69', and no deck extends it (fate-96?)"
    ]


ALONE = """
standalone = true
title = "Wake"
summary = "A hand of cards and two dice."
version = "1"
kits = ["cards"]
bands.low = { title = "Low", to = 6, success = false }
bands.high = { title = "High", from = 7, success = true }
decks.few = { title = "Few", cards.fool = { title = "Fool", code = "Fo" } }
actions.watch = { summary = "Watch.", dice = "2d6" }

[switches.cards]
help = "which cards are played with"
choices = { few = "a few", standard = "many" }
default = "few"
source = "made up"

[piles.deck]
title = "Deck"
face = "down"
"""


def test_a_switch_that_only_chooses_a_deck_changes_something(tmp_path: Path) -> None:
    chosen = '[piles.deck.decks]\nfew = { cards = "few" }\nstandard = { cards = "standard" }\n'
    assert told_alone(tmp_path, ALONE + chosen) == []
    (problem,) = told_alone(tmp_path, ALONE + "decks.few = {}\n")
    assert problem.startswith("switches.cards: this house rule is unused")


def told_alone(folder: Path, text: str) -> list[str]:
    """Return what is wrong with a ruleset that is data alone."""
    (folder / "ruleset.toml").write_text(text, "utf-8")
    parts = read_parts([folder], ruleset_id="wake")
    rules = Rules(Ruleset("wake"), file=merge_parts(parts), parts=parts)
    return [f"{one.key}: {one.message}" for one in data_diagnostics(rules)]


# ---------------------------------------------------------------------------------------------------------------------
# Several decks on one table


def test_two_piles_with_the_same_deck_have_cards_of_their_own(tmp_path: Path) -> None:
    more = '\n[piles.second]\ntitle = "Second"\nface = "down"\ndecks.little = {}\n'
    more += '\n[piles.own]\ntitle = "Own"\nface = "down"\neach = true\ndecks.little = {}\n'
    rules = rules_in(tmp_path, GAMBIT + more)
    state = State()
    for name in ("second", "ada"):
        state = state.with_character(blank_character(name))
    state = lay_out(rules, state)
    lying = [card for pile in state.piles.values() for card in pile.cards]
    assert len(lying) == len(set(lying)) == 4 * 11
    assert Counter(map(code_of, lying))["St3-"] == 4 * 2
    assert state.piles["deck"].cards == rules.layers.deck("little").copies()


def test_cards_said_to_be_in_a_hand_come_from_the_deck_of_its_owner(tmp_path: Path) -> None:
    house = "[piles.deck]\neach = true\nrefill = { remove = true }\nrefill-when = { remove = true }\n"
    rules = rules_in(tmp_path, GAMBIT, house=house)
    assert told(rules) == []
    state = lay_out(rules, State().with_character(blank_character("ada")).with_character(blank_character("bo")))
    table = Table(Run(rules, state, SeededDealer(Streams("7")), Seats()), rules)
    table.place("hand:ada", ["St3-", "Fo"], option="--hand")
    assert [code_of(card) for card in table.state.piles["hand:ada"].cards] == ["Fo", "St3-"]
    assert {name: len(pile) for name, pile in table.state.piles.items() if name.startswith("deck")} == {
        "deck:ada": 9,
        "deck:bo": 11,
    }
