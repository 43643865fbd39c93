"""`rpgres table odds`: the same as typed odds, from the table's own state and as far as a seat knows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rpgres.journal import store
from rpgres.journal.commands import Place
from rpgres.journal.odds import table_odds
from rpgres.odds import actions
from tests.support.command_line import as_json, rpgres
from tests.support.effort import examples


def fate(folder: Path) -> list[str]:
    table = ["--table", str(folder / "t.db")]
    assert rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "edda", *table).code == 0
    return table


def saga(folder: Path) -> list[str]:
    table = ["--table", str(folder / "t.db")]
    assert rpgres("table", "new", "--ruleset", "saga", "--sheet", "ilse", "--sheet", "brannagh", *table).code == 0
    for actor in ("ilse", "brannagh"):
        act = ["act", "act", "--actor", actor, "--ability", "strength", "--vs", "0", "--auto"]
        assert rpgres("table", *act, *table).code == 0
    return table


def outcomes(*args: str) -> dict[str, str]:
    return {name: chance["exact"] for name, chance in as_json(*args)["outcomes"].items()}


@pytest.mark.slow
def test_tags_and_points_of_the_table_count(tmp_path: Path) -> None:
    table = fate(tmp_path)
    typed = ["overcome", "--skill", "1", "--vs", "3", "--auto"]
    without = outcomes("table", "odds", *typed, "--as", "mara", *table)
    assert rpgres("table", "set", "tags.Burning Oil=aspect", *table).code == 0
    assert rpgres("table", "set", "tags.burning-oil.uses.mara=1", *table).code == 0
    with_oil = outcomes("table", "odds", *typed, "--as", "mara", *table)
    said = outcomes("odds", "fate", *typed, "--sheet", "mara", "--aspect", "Burning Oil=1")
    assert (without == with_oil, with_oil) == (False, said)


def test_nothing_is_written_and_nothing_rolled(tmp_path: Path) -> None:
    table = fate(tmp_path)
    before = store.read(tmp_path / "t.db").head.hash
    assert rpgres("table", "odds", "overcome", "--skill", "1", "--actor", "mara", *table).code == 0
    assert store.read(tmp_path / "t.db").head.hash == before


def test_hands_need_not_be_typed(tmp_path: Path) -> None:
    table = saga(tmp_path)
    shown = json.loads(rpgres("table", "show", "--json", "--as", "ilse", *table).out)["state"]["piles"]
    typed = ["act", "--ability", "agility", "--vs", "12", "--best"]
    found = as_json("table", "odds", *typed, "--as", "ilse", *table)
    assert found["known"] == {"seat": "ilse", "averaged": {"hand:brannagh": len(shown["hand:brannagh"]["cards"])}}
    options = {card.split(".")[0].rstrip("+-n") for card in shown["hand:ilse"]["cards"]}
    assert {choice["option"] for choice in found["choices"]} == options
    text = rpgres("table", "odds", *typed, "--as", "ilse", *table).out
    assert "the table as ilse knows it; unseen, any cards possible: hand:brannagh" in text


@pytest.mark.slow
def test_two_tables_that_look_the_same_have_the_same_odds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A card in another's hand and one in the deck are exchanged; the seat is told the same."""
    monkeypatch.setattr(actions, "GAMES", examples(2000))  # which are the same at both, each of them
    found: dict[str, list[Any]] = {}
    hosts = []
    for swap in ("Wi6n", "In8-"):
        (tmp_path / swap).mkdir()
        table = ["--table", str(tmp_path / swap / "t.db")]
        sheets = ["--sheet", "ilse", "--sheet", "brannagh"]
        assert rpgres("table", "new", "--ruleset", "saga", *sheets, "--seed", "7", "--no-deal", *table).code == 0
        hand = "In1+,Wi2-,Wi6n" if swap == "Wi6n" else "In1+,Wi2-,In8-"
        act = ["act", "act", "--actor", "brannagh", "--ability", "strength", "--vs", "0", "--hand", hand]
        assert rpgres("table", *act, "--choose", "play=In1", "--choose", "push=no", "--auto", *table).code == 0
        lines = (
            ["--as", "ilse", "--actor", "ilse", "--auto", "--leaves", "300"],
            ["--as", "ilse", "--actor", "brannagh", "--auto", "--leaves", "300"],
        )
        for line in lines:
            ran = rpgres("table", "odds", "act", "--ability", "strength", "--vs", "24", "--json", *line, *table)
            found.setdefault(" ".join(line), []).append(ran)
        hosts.append(json.loads(rpgres("table", "show", "--json", *table).out)["state"]["piles"]["hand:brannagh"])
    for line, (one, other) in found.items():
        assert (one.code, one.out) == (0, other.out), line
    assert hosts[0] != hosts[1]  # the tables do differ


@pytest.mark.slow
def test_a_hidden_aspect_is_not_in_the_odds_of_who_does_not_know_it(tmp_path: Path) -> None:
    table = fate(tmp_path)
    typed = ["overcome", "--skill", "1", "--vs", "2", "--auto", "--actor", "mara"]
    before = outcomes("table", "odds", *typed, *table)
    rpgres("table", "set", "tags.Trapdoor=aspect", "--to", "mara", *table)
    rpgres("table", "set", "tags.trapdoor.uses.mara=1", *table)
    assert outcomes("table", "odds", *typed, "--as", "edda", *table) == before
    assert outcomes("table", "odds", *typed, "--as", "mara", *table) != before
    assert outcomes("table", "odds", *typed, *table) != before


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (["--skill", "2"], "odds at every rung"),
        (["--skill", "0..3", "--vs", "2"], "skill"),
        (["--skill", "2", "--vs", "2", "--compare", "skill=4"], "skill=4"),
        (["--skill", "2", "--vs", "2", "--format", "md"], "| "),
        (["--skill", "2", "--vs", "2", "--format", "csv"], "ruleset,"),
        (["--skill", "2", "--vs", "2", "--by", "margin"], "odds by margin"),
    ],
)
def test_all_forms_of_odds_are_there(tmp_path: Path, line: list[str], shown: str) -> None:
    ran = rpgres("table", "odds", "overcome", *line, "--as", "mara", *fate(tmp_path))
    assert (ran.code, ran.err) == (0, "")
    assert shown in ran.out
    assert "csv" in line or "the table as mara knows it" in ran.out


def test_switches_of_the_table_hold_and_others_may_be_tried(tmp_path: Path) -> None:
    table = ["--table", str(tmp_path / "t.db")]
    new = ["--ruleset", "saga", "--sheet", "ilse", "--switch", "tie=fail"]
    assert rpgres("table", "new", *new, *table).code == 0
    typed = ["act", "--ability", "strength", "--vs", "4", "--hand", "In1+", "--as", "ilse"]
    held = outcomes("table", "odds", *typed, *table)
    assert held == outcomes("odds", "saga", *typed[:-2], "--sheet", "ilse", "--switch", "tie=fail")
    tried = outcomes("table", "odds", *typed, "--switch", "tie=succeed", *table)
    assert tried == outcomes("odds", "saga", *typed[:-2], "--sheet", "ilse") != held


@pytest.mark.slow
def test_a_procedure_begins_with_the_table(tmp_path: Path) -> None:
    table = fate(tmp_path)
    line = [
        "challenge",
        "--task",
        "watch:with=fight,difficulty=9",
        "--by",
        "characters.mara.counters.fate-points",
        "--auto",
    ]
    before = outcomes("table", "odds", *line, "--as", "mara", *table)
    assert rpgres("table", "set", "characters.mara.abilities.fight=8", *table).code == 0
    assert outcomes("table", "odds", *line, "--as", "mara", *table) != before
    assert as_json("table", "odds", *line, "--as", "mara", *table)["known"] == {"seat": "mara", "averaged": {}}


@pytest.mark.slow
def test_the_library_returns_what_the_command_prints(tmp_path: Path) -> None:
    table = fate(tmp_path)
    found = table_odds(Place(tmp_path / "t.db"), "overcome", {"skill": 2, "vs": "4dF+2"}, seat="mara", auto=True)
    printed = as_json("table", "odds", "overcome", "--skill", "2", "--vs", "4dF+2", "--auto", "--as", "mara", *table)
    assert {name: chance.exact for name, chance in found.outcomes.items()} == {
        name: chance["exact"] for name, chance in printed["outcomes"].items()
    }
    assert (found.policies, found.passed) == (printed["policies"], printed["passed"])


def test_standing_orders_decide_for_their_own_seat_alone(tmp_path: Path) -> None:
    table = fate(tmp_path)
    orders = tmp_path / "brave.toml"
    orders.write_text('[[orders]]\nask = "invoke"\nchoose = "no"\n', "utf-8")
    assert rpgres("table", "orders", "set", str(orders), "--as", "mara", *table).code == 0
    typed = ["overcome", "--skill", "1", "--vs", "2", "--auto", "--actor", "mara"]
    for seat, is_told in (("mara", True), ("edda", False)):
        assert ("mara" in as_json("table", "odds", *typed, "--as", seat, *table)["policies"]) == is_told


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    table = fate(tmp_path)
    for line, told in (
        (["overcom", "--skill", "1"], "overcome"),
        (["overcome", "--skill", "1", "--as", "bram"], "bram"),
        (["overcome", "--skill", "1", "--given", "roll=++++"], "--given"),
        (["overcome", "--skill", "1", "--vs", "1"], "name the actor"),
    ):
        ran = rpgres("table", "odds", *line, *table)
        assert ran.code == 2, line
        assert told in ran.err


def test_short_lines_ask_for_odds_too(tmp_path: Path) -> None:
    table = fate(tmp_path)
    long = as_json("table", "odds", "overcome", "--actor", "mara", "--skill", "burglary", "--vs", "3", *table)
    assert as_json("table", "odds", "mara", "overcome", "burglary", "3", *table) == long
    ran = rpgres("play", *table, stdin="odds mara overcome burglary 3\nquit\n")
    assert "the table as the host knows it" in ran.out
