"""Diagnostics of random tables: gaps, overlaps, links that lead nowhere or never end, rows that never come."""

from __future__ import annotations

import pytest

from rpgres.errors import FileError
from tests.support.declarative import here, rules, write

__all__ = ["here"]  # a fixture that every test here uses

HEAD = """standalone = true
title = "Harbor"
summary = "What a harbor may bring."
version = "1"
kits = ["cards"]
"""

SOUND = """[tables.weather]
die = "1d6"
rows = { "1-3" = "Rain", "4-6" = { text = "Fog", table = "omen" } }

[tables.omen]
rows = ["Gulls", { text = "Bells", weight = 2 }]

[tables.card]
cards = "standard"
rows = { hearts = "Love", "2..10" = "Little", else = "Much" }
"""

# What is changed, and what is told of it: the line behind the head, the key, the message.
FAULTS: dict[str, tuple[str, str, str]] = {
    "a gap": ('"4-6" =', '"5-6" =', "8: tables.weather.rows: no row has 4"),
    "an overlap": ('"4-6" =', '"3-6" =', "8: tables.weather.rows.3-6: 3 is also in the row '1-3'"),
    "a row beyond the die": (
        '"4-6" =',
        '"7" = "Sun", "4-6" =',
        "8: tables.weather.rows.7: this row is unreachable: 1d6 shows 1 to 6",
    ),
    "a key that is no number": (
        '"1-3" =',
        '"1 to 3" =',
        "8: tables.weather.rows.\"1 to 3\": '1 to 3' is no number of the die; write 4, 1-3, 7.. or several with commas",
    ),
    "dice that are none": ('"1d6"', '"1x6"', "7: tables.weather.die: "),
    "a link to nowhere": (
        'table = "omen"',
        'table = "omens"',
        "8: tables.weather.rows.4-6.table: the ruleset has no random table 'omens'; did you mean `omen`?",
    ),
    "a link in a list": (
        'table = "omen"',
        'table = ["omen", "tide"]',
        "8: tables.weather.rows.4-6.table[1]: the ruleset has no random table 'tide'",
    ),
    "links without end": (
        '["Gulls", { text = "Bells", weight = 2 }]',
        '[{ table = "omen" }, { text = "Bells", table = "omen" }]',
        "11: tables.omen.rows[0].table: rolling on this table never ends: omen -> omen; it needs a row that leads",
    ),
    "every row rolls again": (
        '["Gulls", { text = "Bells", weight = 2 }]',
        "[{ again = 2 }]",
        "11: tables.omen.rows[0].again: rolling on this table never ends: omen -> omen; it needs a row that leads",
    ),
    "a die without an end": (
        'die = "1d6"\nrows = { "1-3" = "Rain", "4-6"',
        'die = "1d2!"\nrows = { "1" = "Rain", "2..1000"',
        "7: tables.weather.die: 1d2! may explode without an end, so one row alone needs all high numbers (N..), or",
    ),
    "a die that falls without an end": (
        'die = "1d6"\nrows = { "1-3" = "Rain", "4-6"',
        'die = "0-1d2!"\nrows = { "-1" = "Rain", "-1000..-2"',
        "7: tables.weather.die: 0-1d2! may explode without an end, so one row alone needs all high numbers (N..), or",
    ),
    "more different rows than there are": (
        '["Gulls",',
        '[{ again = 3, distinct = true }, "Gulls",',
        "11: tables.omen.rows[0].again: 3 different rows are asked for, and omen has 2",
    ),
    "a row without anything": (
        '["Gulls",',
        '["Gulls", {},',
        "11: tables.omen.rows[1]: this row tells nothing: it has no `text`, and leads to no table",
    ),
    "nothing to roll": (
        'die = "1d6"\n',
        "",
        'tables.weather: what is rolled is missing: die = "1d6", or cards = DECK; rows that are a list need neither',
    ),
    "a die for a list": (
        "[tables.omen]",
        '[tables.omen]\ndie = "1d3"',
        "11: tables.omen.die: rows that are a list need no `die`",
    ),
    "a weight beside a die": (
        '{ text = "Fog",',
        '{ text = "Fog", weight = 2,',
        "8: tables.weather.rows.4-6.weight: only rows of a list have weights",
    ),
    "no such deck": (
        '"standard"',
        '"standart"',
        "14: tables.card.cards: the ruleset has no deck 'standart'; did you mean",
    ),
    "cards without a row": (
        "else =",
        '"KS" =',
        "15: tables.card.rows: no row has A of Clubs, J of Clubs, Q of Clubs and 9 more",
    ),
    "a card that other rows have": (
        'hearts = "Love"',
        'hearts = "Love", "HQ" = "A queen"',
        "15: tables.card.rows.HQ: this row is unreachable: rows before it have its cards",
    ),
    "a card that there is not": (
        'hearts = "Love"',
        'cups = "Love"',
        "15: tables.card.rows.cups: this row is unreachable: the deck standard has no such card, suit or value",
    ),
    "dice in a text that are none": ('"Rain"', '"Rain for {1x6} days"', "8: tables.weather.rows.1-3.text: "),
    "a name in a text that is not rolled": (
        '"Rain"',
        '"Rain for {days} days"',
        "8: tables.weather.rows.1-3.text: {days} is neither dice nor what this row rolls",
    ),
    "an effect that there is not": (
        'text = "Fog",',
        'text = "Fog", effects = [{ kind = "wet" }],',
        "8: tables.weather.rows.4-6.effects[0].kind: the ruleset has no kind of effect 'wet'",
    ),
    "two rows of one name": (
        '"1-3" = "Rain", "4-6" = { text = "Fog",',
        '"1-3" = { name = "wet", text = "Rain" }, "4-6" = { name = "wet", text = "Fog",',
        "8: tables.weather.rows.4-6.name: another row of this table has the name 'wet'",
    ),
    "a die with too many sides": ('"1d6"', '"2d9999"', "7: tables.weather.die: a table has at most 10,000"),
    "a die with an open question": (
        '"1d6"',
        '"1d6 + {depth}"',
        "tables.weather.die: the ruleset has no number 'depth'",
    ),
}


def told() -> str:
    with pytest.raises(FileError) as refused:
        rules("harbor")
    return refused.value.message


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_table_is_told_with_its_place(fault: str) -> None:
    old, new, expected = FAULTS[fault]
    assert old in SOUND
    write(HEAD + SOUND.replace(old, new, 1), name="harbor")
    assert expected in told()


def test_what_is_sound_is_not_told() -> None:
    write(HEAD + SOUND, name="harbor")
    assert rules("harbor").file.actions.keys() == {"weather", "omen", "card"}


def test_a_cycle_that_can_end_is_allowed() -> None:
    loop = SOUND.replace('"Gulls",', '{ text = "Gulls", table = "weather" },')
    write(HEAD + loop, name="harbor")
    assert rules("harbor").plans["omen"].rows[0].is_whole is False


def test_a_table_may_not_be_called_as_an_action() -> None:
    more = '[actions.omen]\nsummary = "Look."\ndice = "1d6"\n[bands]\nany = { title = "Any", from = 1 }\n'
    write(HEAD + SOUND + more, name="harbor")
    assert "tables.omen: 'omen' is already an action; a random table is one, too" in told()


def test_a_die_with_what_is_typed_needs_open_ends() -> None:
    depth = '[parameters]\ndepth = { kind = "integer", help = "how deep" }\n'
    text = SOUND.replace('die = "1d6"', 'die = "1d6 + {depth}"\nparameters = ["depth"]')
    write(HEAD + text + depth, name="harbor")
    assert "tables.weather.rows: the die depends on what is typed, so one row needs an open end (N..)" in told()
    write(HEAD + text.replace('"1-3"', '"..3"').replace('"4-6"', '"4.."') + depth, name="harbor")
    rules("harbor")


def test_an_outcome_that_leads_to_no_table_is_told() -> None:
    more = (
        '[actions.row]\nsummary = "Row."\ndice = "1d6"\n[bands]\nany = { title = "Any", from = 1 }\n'
        '[outcomes.row.any]\ntable = "omn"\n'
    )
    write(HEAD + SOUND + more, name="harbor")
    assert "22: outcomes.row.any.table: the ruleset has no random table 'omn'; did you mean `omen`?" in told()


def test_a_deck_that_is_not_there_is_told_once() -> None:
    write(HEAD + SOUND.replace('cards = "standard"', 'cards = "tarot"'), name="harbor")
    with pytest.raises(FileError) as caught:
        rules("harbor")
    assert caught.value.message.count("has no deck 'tarot'") == 1
