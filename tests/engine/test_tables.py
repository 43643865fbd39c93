"""Random tables as they are played and weighed: dice, cards, weights, links, rolls in texts, rows that come once."""

from __future__ import annotations

import tomllib
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rpgres import resolve, simulate
from rpgres.engine.prepare import prepare
from rpgres.engine.resolve import forget_rules
from rpgres.errors import GivenError, RuleError, UsageError
from rpgres.model.cards import Cards
from rpgres.model.events import RollEvent
from rpgres.model.state import Card, Map, State
from rpgres.odds.exact import outcome_odds
from rpgres.rulesets.tables import fits
from tests.support.command_line import as_json, rpgres
from tests.support.declarative import done, head, here, odds, rules, write
from tests.support.effort import examples

__all__ = ["here"]  # a fixture that every test here uses

HARBOR = """
standalone = true
title = "Harbor"
summary = "What a harbor may bring."
version = "1"

[tables.weather]
summary = "The weather of the day."
die = "1d6"

[tables.weather.rows]
"1-3" = "Rain."
"4-5" = "Fog with {1d6} hours to go"
"6" = { text = "Storm", table = "mishap" }

[tables.mishap]
die = "2d4"

[tables.mishap.rows]
"..3" = { text = "Broken mast", effects = [{ kind = "leak", change = "boards" }], rolls = { boards = "1d3" } }
"4, 6..7" = "Nothing"
"5" = { again = 2 }
"8.." = { table = ["omen", "omen"] }

[tables.omen]
rows = ["Gulls", { text = "Bells", weight = 2 }, { table = "tide" }]

[tables.tide]
die = "1d3"
rows = { "1" = "Ebb", "2" = "Flood", "3" = { table = "omen" } }

[effects]
leak = { help = "water", does = "counter", counter = "water" }
"""


HEAD = 'standalone = true\ntitle = "Any"\nsummary = "Any tables."\nversion = "1"\n'

Told = dict[tuple[str, ...], Fraction]  # what a table tells, sorted, with its chance


def told(of: str, *, text: str = HARBOR, steps: int = 14) -> Told:
    """Return what a table tells after so many links, each row and link written out; what takes more is left out."""
    tables = tomllib.loads(text)["tables"]
    every: dict[tuple[str, bool], Told] = {(name, again): {} for name in tables for again in (False, True)}
    for _ in range(steps):
        every = {(name, again): _one_step(tables[name], name, every, is_again=again) for name, again in every}
    return every[of, False]


def _one_step(table: dict[str, Any], name: str, every: dict[tuple[str, bool], Told], *, is_again: bool) -> Told:
    found: Counter[tuple[str, ...]] = Counter()
    rows = [row for row in _rows(table) if not (is_again and row[1].get("again"))]
    whole = sum((chance for chance, _ in rows), Fraction(0))
    for chance, row in rows:
        links = row.get("table", [])
        parts = [every[name, True]] * row.get("again", 0)
        parts += [every[link, False] for link in ([links] if isinstance(links, str) else links)]
        for combination in product(*(part.items() for part in parts)):
            mass, words = chance / whole, [row["text"]] if "text" in row else []
            for names, part in combination:
                mass *= part
                words += names
            found[tuple(sorted(words))] += mass
    return found


def _rows(table: dict[str, Any]) -> list[tuple[Fraction, dict[str, Any]]]:
    keyed = table["rows"] if isinstance(table["rows"], dict) else dict(enumerate(table["rows"]))
    rows = {key: {"text": row} if isinstance(row, str) else row for key, row in keyed.items()}
    if "die" not in table:
        total = sum(row.get("weight", 1) for row in rows.values())
        return [(Fraction(row.get("weight", 1), total), row) for row in rows.values()]
    faces = [1, 2, 3, 4, 5, 6] if table["die"] == "1d6" else [1, 2, 3]
    thrown = [one + other for one in range(1, 5) for other in range(1, 5)] if table["die"] == "2d4" else faces
    return [(Fraction(sum(one in NUMBERS[key] for one in thrown), len(thrown)), row) for key, row in rows.items()]


# What the keys of rows mean, written out by hand.
NUMBERS = {
    "1-3": [1, 2, 3],
    "4-5": [4, 5],
    "6": [6],
    "..3": [2, 3],
    "4, 6..7": [4, 6, 7],
    "5": [5],
    "8..": [8],
    "1": [1],
    "2": [2],
    "3": [3],
}


@pytest.mark.parametrize("table", ["weather", "mishap", "omen", "tide"])
def test_odds_of_nested_tables_are_what_rolling_on_and_on_comes_to(table: str) -> None:
    write(HARBOR, name="harbor")
    titles = {name: band.title for name, band in rules("harbor").file.bands.items()}
    expected = told(table)
    found: Counter[tuple[str, ...]] = Counter()
    for name, mass in odds(table, "harbor").items():
        words = [titles[part] for part in name.split("+")]
        found[tuple(sorted(words))] += mass
    clean = {
        tuple(sorted(w.rstrip(".").replace("{", "").replace("}", "") for w in names)): m
        for names, m in expected.items()
    }
    assert found.keys() == clean.keys()
    assert sum(found.values()) == 1
    for names, mass in found.items():
        assert abs(mass - clean[names]) < Fraction(1, 10**6), names


TABLES = ("aa", "bb", "cc")


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """Three tables that lead on to later ones, or stand for the rows of any."""
    made: dict[str, Any] = {}
    for place, name in enumerate(TABLES):
        rows: list[Any] = [f"{name} ends"]
        later = TABLES[place + 1 :]
        for number in range(draw(st.integers(1, 3))):
            row: dict[str, Any] = {"weight": draw(st.integers(1, 3))}
            kind = draw(st.sampled_from(("text", "passes", "links", "again")))
            if kind == "text" or (kind == "links" and not later):
                row["text"] = f"{name} {number}"
            elif kind == "passes":
                row["table"] = draw(st.sampled_from(TABLES))
            elif kind == "links":
                row |= {"text": f"{name} {number} on", "table": draw(st.lists(st.sampled_from(later), max_size=2))}
            else:
                row["again"] = 2
            rows.append(row)
        made[name] = {"rows": rows}
    return made


@pytest.mark.slow
@given(made=tables())
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_odds_of_any_tables_are_what_rolling_on_and_on_comes_to(made: dict[str, Any]) -> None:
    text = HEAD + tomli_w.dumps({"tables": made})
    write(text, name="any")
    forget_rules()
    loaded = rules("any")
    for name, plan in loaded.plans.items():
        found = outcome_odds(prepare(loaded, name, {}))
        assert (found.open, sum(found.masses.values())) == (0, 1)
        if not all(row.is_whole or row.passes_to for one in loaded.plans.values() for row in one.rows if row.links):
            continue  # what comes of links that lead back is no part of the outcome
        expected = told(name, text=text, steps=40)
        seen: Counter[tuple[str, ...]] = Counter()
        for band, mass in found.masses.items():
            seen[tuple(sorted(loaded.file.bands[part].title for part in band.split("+")))] += mass
        assert set(seen) == {names for names, mass in expected.items() if mass}, plan
        assert max(abs(seen[names] - expected[names]) for names in seen) < Fraction(1, 100)


def test_odds_of_tables_that_lead_to_each_other_are_exact() -> None:
    write(HARBOR, name="harbor")
    # omen = 1/4 gulls, 2/4 bells, 1/4 tide; tide = 1/3 ebb, 1/3 flood, 1/3 omen: 12/11 of what ends at once
    assert odds("omen", "harbor") == {
        "gulls": Fraction(3, 11),
        "bells": Fraction(6, 11),
        "ebb": Fraction(1, 11),
        "flood": Fraction(1, 11),
    }


def test_what_is_rolled_for_a_text_stands_in_it() -> None:
    write(HARBOR, name="harbor")
    found = done("weather", "harbor", given={"weather": ["4"], "weather-dice": ["3"]})
    assert (found.outcome, found.texts) == ("fog-with-hours-to-go", ["Fog with 3 hours to go"])
    assert found.details == {
        "rows": ({"table": "weather", "row": "fog-with-hours-to-go", "text": "Fog with 3 hours to go", "rolled": 4},)
    }


def test_links_are_rolled_on_and_their_effects_come_about() -> None:
    write(HARBOR, name="harbor")
    given = {"weather": ["6"], "mishap": ["1,4", "1,1", "4,4"], "omen": ["1", "4"], "tide": ["2"], "boards": ["2"]}
    found = done("weather", "harbor", given=given)
    assert found.outcome == "storm+broken-mast+gulls+flood"
    assert found.texts == ["Storm", "Broken mast", "Gulls", "Flood"]
    assert found.effects == [{"kind": "leak", "change": 2}]


def test_roll_twice_leaves_itself_out() -> None:
    write(HARBOR, name="harbor")
    found = done("mishap", "harbor", given={"mishap": ["1,4", "2,3", "3,3", "2,2"]})
    assert found.texts == ["Nothing", "Nothing"]
    rolls = [event.faces for event in found.events if isinstance(event, RollEvent)]
    assert rolls == ["1,4", "2,3", "3,3", "2,2"]


@pytest.mark.slow
def test_every_result_of_play_is_one_that_odds_know() -> None:
    write(HARBOR, name="harbor")
    known = odds("weather", "harbor")
    counts = Counter(done("weather", "harbor", seed=str(seed)).outcome for seed in range(600))
    assert set(counts) <= set(known)
    for name, mass in known.items():
        assert abs(counts[name] / 600 - mass) < 0.08, name


ONCE = """
standalone = true
title = "Finds"
summary = "What lies in the sand."
version = "1"

[tables.find]
die = "1d4"
rows = { "1" = { text = "A crown", once = true }, "2" = { text = "A comb", once = true }, "3-4" = { again = 2 } }
"""


def test_a_row_comes_once_at_a_table_and_within_a_roll() -> None:
    write(ONCE, name="finds")
    came = State(things=Map({"find": ("a-crown",)}))
    found = outcome_odds(prepare(rules("finds"), "find", {}, state=came))
    # a comb, or twice: then the comb and, as both have come, either again
    assert {name: mass for name, mass in found.masses.items() if mass} == {
        "a-comb": Fraction(1, 3),
        "a-comb+a-crown": Fraction(1, 3),
        "a-comb+a-comb": Fraction(1, 3),
    }


def test_a_lasting_state_keeps_what_came() -> None:
    write(ONCE, name="finds")
    scene = """ruleset = "finds"
seed = "1"
[[steps]]
action = "find"
given = { find = ["1"] }
expect = { outcome = "a-crown" }
[[steps]]
action = "find"
given = { find = ["1", "2"] }
expect = { outcome = "a-comb" }
"""
    with open("sand.toml", "w", encoding="utf-8") as file:
        file.write(scene)
    ran = rpgres("scene", "test", "sand.toml")
    assert (ran.code, ran.out) == (0, "sand.toml: ok (2 expectations)\n"), ran


LINKED = """
standalone = true
title = "Deck"
summary = "Cards and a blunder."
version = "1"
kits = ["cards"]

[bands]
bad = { title = "Bad", to = 3, success = false }
good = { title = "Good", from = 4, success = true }

[actions.row]
summary = "Row."
dice = "1d6"

[outcomes.row.bad]
text = "You lose {1d4} oars."
table = "omen"

[outcomes.row.good.ask.how]
who = "actor"
text = "How?"
options.safe = { text = "Slowly." }
options.wild = { text = "Fast.", table = "omen" }

[tables.omen]
cards = "standard"

[tables.omen.rows]
"HQ" = "A queen of the heart"
spades = "Black water"
"2..5, hearts" = "A small thing"
else = "Nothing"
"""


def test_outcomes_and_options_lead_to_tables_of_cards() -> None:
    write(LINKED, name="deck")
    bad = done("row", "deck", given={"roll": ["2"], "row-dice": ["3"], "omen": ["S7"]})
    assert bad.texts == ["You lose 3 oars.", "Black water"]
    wild = done("row", "deck", given={"roll": ["6"], "omen": ["HQ"]}, choose={"how": ["wild"]})
    assert wild.texts == ["Fast.", "A queen of the heart"]
    assert done("row", "deck", given={"roll": ["6"]}, choose={"how": ["safe"]}).texts == ["Slowly."]


def test_odds_of_a_table_of_cards() -> None:
    write(LINKED, name="deck")
    assert odds("omen", "deck") == {
        "a-queen-of-the-heart": Fraction(1, 54),
        "black-water": Fraction(13, 54),
        "a-small-thing": Fraction(12 + 8, 54),
        "nothing": Fraction(20, 54),
    }


TWO_DRAWS = """
standalone = true
title = "Lots"
summary = "Two tables that draw from one deck."
version = "1"

[decks.lots]
title = "Lots"
summary = "Three lots of each kind."
suits.red = { title = "Red", code = "R", cards = [1, 2, 3] }
suits.black = { title = "Black", code = "B", cards = [1, 2, 3] }

[tables.first]
cards = "lots"

[tables.first.rows]
red = { text = "Red", table = "second" }
else = "Black"

[tables.second]
cards = "lots"

[tables.second.rows]
1 = "One"
2 = { again = 1 }
else = "Three"
"""


def test_a_card_that_was_drawn_is_missing_for_the_next_table() -> None:
    # The odds once took any red card for the one that was drawn, whatever the second table makes of it.
    write(TWO_DRAWS, name="lots")
    expected = Counter[str]()
    for order in permutations([1, 2, 3, -1, -2, -3]):  # red cards, and black ones
        later = next(abs(card) for card in order[1:] if abs(card) != 2)
        expected["black" if order[0] < 0 else {1: "red+one", 3: "red+three"}[later]] += 1
    assert odds("first", "lots") == {name: Fraction(many, 720) for name, many in expected.items()}


def test_a_card_is_held_against_the_rows_of_a_table_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Simulations spent most of their time on reading the keys of rows.
    write(TWO_DRAWS, name="lots")
    held = Counter[tuple[str, str]]()

    def counting(card: Card, key: str, known: Cards) -> bool:
        held[card.code, key] += 1
        return fits(card, key, known)

    monkeypatch.setattr("rpgres.engine.tables.fits", counting)
    simulate("lots", "first", runs=20, seed="7")
    assert set(held.values()) <= {1, 2}  # `else` is a row of both tables


MODIFIED = """
standalone = true
title = "Danger"
summary = "A die and what is typed."
version = "1"

[tables.meeting]
die = "1d6 + {danger}"
parameters = ["danger"]
rows = { "..3" = "Nobody", "4..6" = "A patrol", "7.." = { name = "beast", text = "{1d3} beasts" } }

[parameters]
danger = { kind = "integer", default = 1, at-least = 0, at-most = 9, help = "how dangerous it is here" }
"""


def test_a_die_may_have_what_is_typed() -> None:
    write(MODIFIED, name="danger")
    assert odds("meeting", "danger") == {
        "nobody": Fraction(2, 6),
        "a-patrol": Fraction(3, 6),
        "beast": Fraction(1, 6),
    }
    assert odds("meeting", "danger", danger=4)["beast"] == Fraction(4, 6)


def test_real_dice_have_to_show_what_the_die_can() -> None:
    write(HARBOR, name="harbor")
    with pytest.raises(GivenError, match="weather=7"):
        resolve("harbor", "weather", given={"weather": ["7"]})
    with pytest.raises(UsageError, match=r"no chance label 'wether'.*did you mean 'weather'"):
        resolve("harbor", "weather", given={"wether": ["3"]})


def test_the_command_line_rolls_weighs_and_lists_tables() -> None:
    write(HARBOR, name="harbor")
    assert rpgres("harbor", "weather", "--given", "weather=1", "--seed", "7").out == (
        "Weather: Rain\n  weather: 1 = 1\n  seed: 7\n"
    )
    many = rpgres("roll", "harbor", "weather", "--repeat", "3", "--seed", "7", "--json").out.splitlines()
    assert len(many) == 3
    assert as_json("odds", "harbor", "omen")["outcomes"]["gulls"]["exact"] == "3/11"
    shown = rpgres("ruleset", "show", "harbor").out
    assert "Random tables\n  weather  The weather of the day." in shown
    assert "storm+broken-mast" not in shown
    assert "weather" in rpgres("roll", "harbor", "--help").out


TWIST = (
    head("Ask", "Yes or no.", yes=True, no=False)
    + """
[tables.ask]
die = "1d100"
rows = { "1-30" = "No", "31-90" = "Yes", "91.." = { table = "maybe" } }
also = { "11, 22, 33, 44, 55, 66, 77, 88, 99, 100" = { text = "A twist", table = "turn" } }

[tables.maybe]
rows = ["Maybe"]

[tables.turn]
rows = ["Fire", "Flood"]
"""
)


def test_what_comes_beside_a_row_is_of_the_same_roll() -> None:
    write(TWIST, name="ask")
    found = odds("ask", "ask")
    # of 1 to 30 two are doubles, of 31 to 90 six, of 91 to 100 two; each of these then burns or floods
    expected = {"no": (28, 2), "yes": (54, 6), "maybe": (8, 2)}
    assert found == {
        name: mass
        for base, (alone, twisted) in expected.items()
        for name, mass in (
            (base, Fraction(alone, 100)),
            (f"{base}+a-twist+fire", Fraction(twisted, 200)),
            (f"{base}+a-twist+flood", Fraction(twisted, 200)),
        )
    }
    both = done("ask", "ask", given={"ask": ["44"], "turn": ["2"]})
    assert (both.outcome, both.success, both.texts) == ("yes+a-twist+flood", True, ["Yes", "A twist", "Flood"])
    led = done("ask", "ask", given={"ask": ["99"], "turn": ["1"]})
    assert led.outcome == "maybe+a-twist+fire"
    shown = rpgres("odds", "ask", "ask").out
    assert "any success: 60.00 %  3/5" in shown


MANY = """
standalone = true
title = "Many"
summary = "More pairs than outcomes are made of."
version = "1"

[tables.pair]
die = "1d60"
rows.1 = { text = "Two things", again = 2, distinct = true }
%s
"""


def test_too_many_pairs_are_rolled_all_the_same_and_never_alike() -> None:
    write(MANY % "\n".join(f'rows.{number} = "Thing {number}"' for number in range(2, 61)), name="many")
    assert odds("pair", "many")["two-things"] == Fraction(1, 60)
    found = done("pair", "many", given={"pair": ["1", "1", "7", "7", "9"]})
    assert found.texts == ["Two things", "Thing 7", "Thing 9"]
    assert [one["rolled"] for one in found.details["rows"]] == [1, 7, 9]


FEW = """
standalone = true
title = "Few"
summary = "Fewer rows than rolls."
version = "1"

[tables.sign]
die = "1d2 + {more}"
parameters = ["more"]
rows = { "..1" = { text = "Both", again = 2, distinct = true }, "2" = "Crow", "3.." = "Owl" }

[parameters]
more = { kind = "integer", default = 0, at-least = 0, at-most = 1, help = "what is added" }
"""


def test_rows_count_again_when_each_that_the_die_shows_has_come() -> None:
    write(FEW, name="few")
    found = odds("sign", "few")
    assert {name: mass for name, mass in found.items() if mass} == {
        "crow": Fraction(1, 2),
        "both+crow+crow": Fraction(1, 2),
    }
    assert done("sign", "few", given={"sign": ["1", "1", "2", "2"]}).texts == ["Both", "Crow", "Crow"]


PASSING = """
standalone = true
title = "Passing"
summary = "A row that stands for those of another table."
version = "1"

[tables.sign]
rows = ["Crow", { table = "sound" }, { text = "Both", again = 2, distinct = true }]

[tables.sound]
rows = ["Bell"]
"""


def test_a_row_that_stands_for_others_is_out_with_them() -> None:
    write(PASSING, name="passing")
    found = odds("sign", "passing")
    assert {name: mass for name, mass in found.items() if mass} == {
        "crow": Fraction(1, 3),
        "bell": Fraction(1, 3),
        "both+bell+crow": Fraction(1, 3),
    }


CARDS_ONCE = """
standalone = true
title = "Cards"
summary = "Cards that come once."
version = "1"
kits = ["cards"]

[tables.card]
cards = "standard"
rows = { "2..10" = { text = "Low", once = true }, else = { text = "High", once = true } }
"""


def test_cards_count_again_when_each_row_has_come() -> None:
    write(CARDS_ONCE, name="cards-once")
    loaded = rules("cards-once")
    came = {"things": Map({"card": ("low", "high")})}
    found = outcome_odds(prepare(loaded, "card", {}, state=State(**came)))
    assert found.masses == {"low": Fraction(36, 54), "high": Fraction(18, 54)}
    came = {"things": Map({"card": ("low",)})}
    found = outcome_odds(prepare(loaded, "card", {}, state=State(**came)))
    assert {name: mass for name, mass in found.masses.items() if mass} == {"high": 1}


EXPLODING = """
standalone = true
title = "Exploding"
summary = "A die without an end."
version = "1"

[tables.depth]
die = "1d2!"
rows = { "1" = "Shallow", "3" = "Deep", "4.." = "Bottomless" }

[tables.falling]
die = "4 - 1d2!"
rows = { "3" = "Low", "1" = "Lower", "..0" = "Lowest" }

[tables.typed]
die = "1d2! + {more}"
parameters = ["more"]
rows = { "..1" = "One", "2.." = "More" }

[parameters]
more = { kind = "integer", default = 0, at-least = 0, at-most = 9, help = "what is added" }
"""


def test_a_die_that_explodes_is_exact_to_its_end() -> None:
    write(EXPLODING, name="exploding")
    assert odds("depth", "exploding") == {
        "shallow": Fraction(1, 2),
        "deep": Fraction(1, 4),
        "bottomless": Fraction(1, 4),
    }
    assert odds("falling", "exploding") == {"low": Fraction(1, 2), "lower": Fraction(1, 4), "lowest": Fraction(1, 4)}
    assert odds("typed", "exploding") == {"one": Fraction(1, 2), "more": Fraction(1, 2)}


def test_odds_of_a_die_that_explodes_over_several_rows_are_refused() -> None:
    write(EXPLODING.replace('"2.." = "More"', '"2..999" = "More", "1000.." = "Most"'), name="exploding")
    with pytest.raises(RuleError, match=r"the table typed of exploding: 1d2! \+ \{more\} may explode without an end"):
        odds("typed", "exploding")
