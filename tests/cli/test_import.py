"""`rpgres ruleset import`: oracles of Datasworn JSON as random tables, with licence and credit."""

from __future__ import annotations

import json
import os
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from rpgres import Result, resolve
from rpgres.catalog.datasworn import read_datasworn
from rpgres.engine.prepare import prepare
from rpgres.odds.exact import outcome_odds
from tests.support.command_line import rpgres
from tests.support.declarative import here, odds, rules

__all__ = ["here"]  # a fixture that every test here uses


def row(low: int | None, high: int | None, text: str, **more: Any) -> dict[str, Any]:
    return {"min": low, "max": high, "text": text, **more}


def roll(of: str | None, *, auto: bool = True, times: int = 1, duplicates: str = "allow") -> dict[str, Any]:
    return {"oracle": of, "auto": auto, "number_of_rolls": times, "duplicates": duplicates, "dice": None}


def oracle(id_: str, *rows: dict[str, Any], dice: str = "1d100", **more: Any) -> dict[str, Any]:
    return {"_id": f"lamp/oracles/{id_}", "type": "oracle_rollable", "dice": dice, "rows": list(rows), **more}


# A book of our own, in the form of others.
LAMP: dict[str, Any] = {
    "_id": "lamp",
    "datasworn_version": "0.0.10",
    "type": "ruleset",
    "title": "The Lamp",
    "authors": [{"name": "Ada Weir"}, {"name": "Ben Orr"}],
    "date": "2020-02-02",
    "url": "https://lamp.example",
    "license": "https://lamp.example/licence",
    "oracles": {
        "road": {
            "_id": "lamp/oracles/road",
            "type": "oracle_collection",
            "contents": {
                "weather": oracle(
                    "road/weather",
                    row(1, 50, "__Rain__ on the [old *road*](id:lamp/atlas/road)"),
                    row(51, 90, "Snow {{table>cold}}", oracle_rolls=[roll("lamp/oracles/road/cold/name")]),
                    row(91, 95, "Roll twice", oracle_rolls=[roll(None, times=2, duplicates="reroll")]),
                    row(96, 100, "A stranger.", oracle_rolls=[roll("lamp/oracles/people/name", auto=False)]),
                    row(None, None, "never rolled"),
                    match={"text": "Something else happens, too."},
                    summary="What the sky does. It may change.",
                    name="Weather",
                ),
            },
            "collections": {
                "cold": {
                    "contents": {"name": oracle("road/cold/name", row(1, 1, "Mild"), row(2, 3, "Bitter"), dice="1d3")}
                }
            },
        },
        "people": {
            "contents": {
                "name": oracle("people/name", row(1, 6, "Nan"), dice="1d6", _source={"title": "Names", "license": None})
            }
        },
    },
}


def written(data: Any, name: str = "lamp.json") -> str:
    Path(name).write_text(json.dumps(data), encoding="utf-8")
    return name


def test_oracles_become_tables_that_roll() -> None:
    ran = rpgres("ruleset", "import", written(LAMP), "lantern")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("rulesets/lantern: written from The Lamp: 3 tables, weather, cold-name, people-name\n")
    assert rpgres("ruleset", "check", "lantern").out == "lantern: ok\n"
    found = resolve("lantern", "weather", given={"weather": ["55"], "cold-name": ["3"]})
    assert isinstance(found, Result)
    assert found.texts == ["Snow", "Bitter", "Something else happens, too."]
    plain = resolve("lantern", "weather", given={"weather": ["97"]})
    assert isinstance(plain, Result)
    assert plain.texts == ["A stranger. (then roll people-name)"]


def test_roll_twice_without_doubles_as_the_file_says() -> None:
    rpgres("ruleset", "import", written(LAMP), "lantern")
    found = odds("weather", "lantern")
    once = {"rain-on-the-old-road": 50, "snow-cold+mild": 0, "a-stranger-then-roll-people-name": 5}
    again = [name for name in found if name.startswith("roll-twice")]
    assert not any(name.split("+")[1:] == [one, one] for name in again for one in once)
    # rows that roll again are left out: 50, 40 and 5 of 95; rain, then a stranger, or the other way round
    # (46 of 50 and 3 of 5 are no doubles)
    either = Fraction(46, 95) * Fraction(3, 45) + Fraction(3, 95) * Fraction(46, 90)
    expected = Fraction(5, 100) * either
    name = "roll-twice+a-stranger-then-roll-people-name+rain-on-the-old-road"
    assert found[name] == expected


def test_licence_and_credit_stand_in_the_file() -> None:
    found = read_datasworn(Path(written(LAMP)))
    text = tomllib.loads(found.text)
    assert text["credits"] == (
        "The Lamp by Ada Weir, Ben Orr, https://lamp.example, licence: https://lamp.example/licence; "
        "Names, licence: none is named, so ask before sharing; "
        "changed: imported from Datasworn JSON by rpgres, oracles alone, without markup and links"
    )
    assert found.text.startswith(
        "# The Lamp by Ada Weir, Ben Orr, https://lamp.example, licence: https://lamp.example/licence\n"
    )
    assert text["tables"]["weather"]["summary"] == "Weather: What the sky does."
    rpgres("ruleset", "import", "lamp.json")
    assert "licence: https://lamp.example/licence" in " ".join(rpgres("ruleset", "show", "lamp").out.split())


def test_what_cannot_be_imported_is_told_and_nothing_is_written() -> None:
    def told(data: Any) -> str:
        ran = rpgres("ruleset", "import", written(data))
        assert ran.code == 1
        return ran.err

    assert "this is no Datasworn JSON: `datasworn_version` is missing" in told({"title": "x"})
    assert "has no oracles with dice and rows" in told({"datasworn_version": "1", "oracles": {}})
    broken = oracle("a", row(1, 100, "x", oracle_rolls=[roll("lamp/oracles/gone")]))
    assert "the oracle lamp/oracles/a leads to lamp/oracles/gone, which this file does not have" in told(
        {"datasworn_version": "1", "oracles": {"a": broken}}
    )
    Path("text.json").write_text("{", encoding="utf-8")
    assert "text.json:1: this is no JSON" in rpgres("ruleset", "import", "text.json").err
    assert not Path("rulesets").exists()
    rpgres("ruleset", "import", written(LAMP), "lantern")
    ran = rpgres("ruleset", "import", "lamp.json", "lantern")
    assert (ran.code, "is the id of a ruleset installed here" in ran.err) == (2, True)


def test_a_table_with_a_gap_is_told_with_its_line() -> None:
    gap = oracle("people/omen", row(1, 3, "Crow", text2="left"), row(5, 6, "Owl"), dice="1d6")
    ran = rpgres("ruleset", "import", written({"_id": "gap", "datasworn_version": "1", "oracles": {"omen": gap}}))
    assert (ran.code, ran.out) == (1, "")
    assert "rulesets/gap/ruleset.toml:12: tables.omen.rows: no row has 4" in ran.err
    assert '1-3 = "Crow: left"' in Path("rulesets/gap/ruleset.toml").read_text("utf-8")


REAL = os.environ.get("DATASWORN_JSON", "")


@pytest.mark.skipif(not REAL, reason="DATASWORN_JSON names no file of Datasworn JSON")
def test_every_oracle_of_a_real_file_loads_rolls_and_has_exact_odds() -> None:
    path = Path(REAL)
    ran = rpgres("ruleset", "import", str(path), "real")
    assert ran.code == 0, ran.err
    tables = rules("real").file.tables
    data = json.loads(path.read_text("utf-8"))
    assert str(data["license"]) in rules("real").file.credits
    for name, table in tables.items():
        for seed in range(3):
            assert isinstance(resolve("real", name, seed=str(seed)), Result)
        found = outcome_odds(prepare(rules("real"), name, {}))
        assert (found.open, sum(found.masses.values())) == (0, 1)
        assert len(table.rows) <= len(found.masses)


def made_of(*rolls: dict[str, Any], names: int = 3) -> str:
    """Import an oracle whose only row makes some rolls, and return its row as it was written."""
    first = oracle("first", row(1, 100, "Go", oracle_rolls=list(rolls)), row(101, 200, "Stay"), dice="1d200")
    name = oracle("name", *(row(one, one, f"Name {one}") for one in range(1, names + 1)), dice=f"1d{names}")
    data = {"_id": "made", "datasworn_version": "1", "oracles": {"first": first, "name": name}}
    found = read_datasworn(Path(written(data)))
    Path("rulesets/made").mkdir(parents=True, exist_ok=True)
    Path("rulesets/made/ruleset.toml").write_text(found.text, encoding="utf-8")
    assert rpgres("ruleset", "check", "made").out == "made: ok\n"
    return found.text.partition("1-100 = ")[2].partition("\n")[0]


NAME = "lamp/oracles/name"


def test_rolls_on_another_table_without_duplicates_have_none() -> None:
    text = made_of(roll(NAME, times=2, duplicates="reroll"), names=2)
    assert text == '{ text = "Go", table = ["name", "name"], distinct = true }'
    found = odds("first", "made")
    assert {name: mass for name, mass in found.items() if mass} == {
        "stay": Fraction(1, 2),
        "go+name-1+name-2": Fraction(1, 4),
        "go+name-2+name-1": Fraction(1, 4),
    }


@pytest.mark.parametrize(
    ("rolls", "expected"),
    [
        ([{**roll(NAME), "dice": "1d2"}], '"Go (then roll 1d2 on name)"'),
        ([{**roll(NAME), "dice": "1d3"}], '{ text = "Go", table = "name" }'),
        ([roll(None, times=11)], '"Go (then roll again 11 times)"'),
        ([roll(NAME, times=2, duplicates="make_it_worse")], '"Go (then roll name 2 times, duplicates: make it worse)"'),
        (
            [roll(NAME, times=2, duplicates="reroll"), roll(None, times=2)],
            '{ text = "Go (then roll again 2 times)", table = ["name", "name"], distinct = true }',
        ),
        (
            [roll(NAME, times=2, duplicates="reroll"), roll(None)],
            '{ text = "Go", name = "roll-again", again = 1, table = ["name", "name"], distinct = true }',
        ),
    ],
)
def test_rolls_that_a_table_cannot_make_are_named_in_the_text(rolls: list[dict[str, Any]], expected: str) -> None:
    assert made_of(*rolls) == expected


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"oracle_rolls": ["x"]}, 'oracles.a.rows[0].oracle_rolls[0]: this has to be an object, not "x"'),
        ({"oracle_rolls": "x"}, 'oracles.a.rows[0].oracle_rolls: this has to be a list, not "x"'),
        ({"oracle_rolls": [{"oracle": ["x"]}]}, "oracles.a.rows[0].oracle_rolls[0].oracle: this has to be a text"),
        (
            {"oracle_rolls": [{"number_of_rolls": "x"}]},
            'oracles.a.rows[0].oracle_rolls[0].number_of_rolls: this has to be a whole number of at least 1, not "x"',
        ),
        ({"roll": "1-3"}, 'oracles.a.rows[0].roll: this has to be an object with `min` and `max`, not "1-3"'),
        ({"min": "1"}, 'oracles.a.rows[0].min: this has to be a whole number, not "1"'),
    ],
)
def test_rows_of_another_form_are_told_with_their_key(broken: dict[str, Any], message: str) -> None:
    data = {"datasworn_version": "1", "oracles": {"a": oracle("a", {**row(1, 100, "x"), **broken})}}
    ran = rpgres("ruleset", "import", written(data))
    assert (ran.code, ran.err.startswith(f"rpgres: lamp.json: {message}")) == (1, True), ran.err


def test_a_line_end_in_a_title_stays_in_the_comment() -> None:
    data = {**LAMP, "title": "Lamp\nstandalone = false\u0001", "authors": [{"name": "A\r\nB"}]}
    found = read_datasworn(Path(written(data)))
    assert found.text.startswith("# Lamp standalone = false by A B, ")
    assert tomllib.loads(found.text)["standalone"] is True
