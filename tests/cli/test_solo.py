"""An evening alone: an oracle, a roll, a table and a note, and what of it stands in the journal in Lonelog."""

from __future__ import annotations

from pathlib import Path

from tests.support.command_line import completions, rpgres
from tests.support.declarative import here

__all__ = ["here"]  # a fixture that every test here uses

EVENING = """\
wren ask likely --question "the gate is guarded" --given fate=33 --given twist=2
note One of them paid for the letter.
wren dare with quick --given dice=2,3 --given cost=4
idea --given verb=3 --given subject=5
twist --given twist=2 --given twist=1 --given who=6
who --given who=6 --given who=1
undo
quit
"""

JOURNAL = """\
@(Wren) asks whether the gate is guarded (likely).
d: Fate (Wren) d100=33 (33)
(log: Chance 75)
d: Twist (Wren) d8=2 (2)
d: S -> Yes, with a twist
=> Somebody known was not honest
(remark: given, not from the seed: fate, twist)

(note: One of them paid for the letter.)

@(Wren) dares it with quick.
d: Dice (Wren) 2d6=7 (2,3) // 2d6 + 2 quick
d: Cost (Wren) d6=4 (4)
d: 7 S -> Yes, at a cost
=> You are heard
(remark: given, not from the seed: cost, dice)

@(Wren) rolls on the table idea.
d: Verb (Wren) d12=3 (3)
d: Subject (Wren) d12=5 (5)
-> Mend, a letter
(remark: given, not from the seed: subject, verb)

@(Wren) rolls on the table twist.
d: Twist (Wren) d8=2 (2)
(log: Twist 2: came already, again)
d: Twist (Wren) d8=1 (1)
d: Who (Wren) d6=6 (6)
-> Somebody comes, An old friend
"""


def test_an_evening_alone_becomes_a_journal() -> None:
    assert rpgres("table", "new", "solo-oracle", "--sheet", "wren", "--title", "The letter").code == 0
    ran = rpgres("play", stdin=EVENING)
    assert (ran.code, ran.err) == (0, "")
    assert "who 6: came already, again" in ran.out  # the friend, who was met already
    assert rpgres("table", "export", "--out", "evening").code == 0
    log = Path("evening", "journal.log.md").read_text("utf-8")
    assert JOURNAL in log
    shown = rpgres("table", "show").out
    assert "Twist: somebody-known-was-not-honest" in shown
    assert "Who: an-old-friend" in shown
    assert rpgres("table", "verify").code == 20  # in order, and the seed is not told yet


def test_tables_are_completed_like_actions() -> None:
    assert completions("rpgres roll solo-oracle tw") == ["twist"]
    assert completions("rpgres odds solo-oracle su") == ["subject"]


def test_a_table_is_rolled_on_whatever_else_its_name_is_said_for() -> None:
    assert rpgres("table", "new", "solo-oracle", "--sheet", "wren").code == 0
    ran = rpgres("play", stdin="who\nwho is here\nquit\n")
    assert "wren, who: " in ran.out
    assert "Quick 2" in ran.out


TABLES = """
standalone = true
title = "Weather"
summary = "What the sky does."
version = "1"

[tables.sky]
die = "1d6"
rows = { "1-3" = "Sun", "4-6" = { text = "Rain", effects = [{ kind = "wet", change = 1 }], table = "drop" } }

[[tables.drop.rows]]
text = "A drop"
ask.shelter = { who = "actor", text = "Shelter?", options = { yes.text = "Yes.", no.text = "No." } }

[effects.wet]
help = "how wet it is"
does = "counter"
counter = "wet"
"""


def test_tables_need_nobody_at_the_table() -> None:
    Path("rulesets/weather").mkdir(parents=True)
    Path("rulesets/weather/ruleset.toml").write_text(TABLES, "utf-8")
    assert rpgres("table", "new", "weather").code == 0
    assert "Sky: Sun" in rpgres("table", "act", "sky", "--given", "sky=2").out
    assert rpgres("table", "act", "sky", "--given", "sky=5").code == 3
    assert "Rain" in rpgres("table", "answer", "--choose", "shelter=yes").out
    shown = rpgres("table", "show").out
    assert "Wet 1" in shown
    assert "actor" not in shown
    assert "Sun " in rpgres("table", "odds", "sky").out
    assert "sky: sun" in rpgres("play", stdin="sky --given sky=1\nundo\nquit\n").out
    assert rpgres("table", "reveal").code == 0
    assert rpgres("table", "verify").code == 0


def test_what_befalls_somebody_without_a_sheet_is_told_to_be_lost() -> None:
    """Neither a refusal, as the row has come up, nor silence: a counter of a character needs a character to keep it."""
    dry = '"1-3" = { text = "Sun", effects = [{ kind = "wet", to = "actor", change = -1 }] }'
    Path("rulesets/weather").mkdir(parents=True)
    sheet = '\n[sheet]\nname = { kind = "text", help = "name" }\nwet = { kind = "counter", help = "how wet" }\n'
    Path("rulesets/weather/ruleset.toml").write_text(TABLES.replace('"1-3" = "Sun"', dry) + sheet, "utf-8")
    assert rpgres("table", "new", "weather").code == 0
    assert "not kept: wet; the table has no character" in rpgres("table", "act", "sky", "--given", "sky=2").out
    rained = rpgres("table", "act", "sky", "--given", "sky=5", "--choose", "shelter=no").out
    assert "wet" in rained
    assert "not kept" not in rained
    Path("mara.toml").write_text('name = "Mara"\n', "utf-8")
    assert rpgres("table", "join", "--sheet", "mara.toml").code == 0
    assert "not kept" not in rpgres("table", "act", "sky", "--given", "sky=2").out
    assert "Wet -1" in rpgres("table", "show").out
    assert rpgres("table", "reveal").code == 0
    assert rpgres("table", "verify").code == 0
