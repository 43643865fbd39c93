"""A seat gives the dice of its own characters alone; where the game master is trusted, they are a claim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import rpgres as library
from rpgres.engine.dealers import Due, Given
from rpgres.journal import commands as sitting
from rpgres.journal import store
from rpgres.journal.commands import Place
from rpgres.journal.forms import AnswerFile
from rpgres.journal.lines import answer_line, posted_in
from rpgres.journal.records import found_in
from rpgres.journal.verifying import verify
from rpgres.model.events import RollEvent
from tests.support.command_line import rpgres

AGAINST_EDDA = "act overcome --skill fight --vs edda:fight"
AGAIN = "i-know-a-back-way:reroll"


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RPGRES_TABLE", "t.db")


def table(line: str) -> str:
    ran = rpgres("table", *line.split())
    assert ran.code in (0, 2, 3), ran.err
    return ran.out + ran.err


def begin(trust: str) -> None:
    table(f"new fate --sheet mara --sheet edda --seed 7 --trust {trust}")


def rolled() -> dict[str, list[str]]:
    """Return the dice of the last action by label, in order."""
    found = found_in(store.read(Path("t.db")).head.secret)
    assert found is not None
    came: dict[str, list[str]] = {}
    for event in found.events:
        if isinstance(event, RollEvent):
            came.setdefault(event.label, []).append(event.faces)
    return came


def check_whole() -> None:
    """Every entry is the same when it is run again from the seed and from what was given."""
    while store.read(Path("t.db")).pending is not None:
        table("answer --auto")
    table("reveal")
    found = verify(Path("t.db"))
    assert found.verdict == "in order", found.problems


@pytest.mark.parametrize(
    ("seat", "takes"),
    [("mara", {"roll"}), ("edda", set()), ("gm", {"roll", "opposition"}), (None, {"roll", "opposition"})],
)
def test_a_seat_gives_its_own_dice_alone(seat: str | None, takes: set[str]) -> None:
    begin("players")
    by = f"--as {seat}" if seat else ""
    actor = "edda" if seat == "edda" else "mara"
    line = AGAINST_EDDA if actor == "mara" else "act overcome --skill fight --vs mara:fight"
    given = "--given opposition=----" if seat == "edda" else "--given roll=++++ --given opposition=----"
    table(f"{line} --actor {actor} {by} {given}")
    came = rolled()
    assert {label for label, text in (("roll", "++++"), ("opposition", "----")) if came[label] == [text]} == takes
    check_whole()


@pytest.mark.parametrize("answer", ["confirm", "refuse"])
def test_dice_given_with_an_action_are_claimed_with_it(answer: str) -> None:
    begin("gm")
    assert "mara claims: roll ++++\n" in table(f"{AGAINST_EDDA} --as mara --given roll=++++")
    assert rolled() == {}  # nothing is rolled before
    table(f"answer --as gm --choose claim={answer}")
    assert rolled().get("roll", []) == (["++++"] if answer == "confirm" else [])
    check_whole()


@pytest.mark.parametrize("answer", ["confirm", "refuse"])
def test_dice_given_with_an_answer_are_claimed_when_they_are_used(answer: str) -> None:
    begin("gm")
    table("act overcome --skill burglary --vs 4dF+5 --actor mara")
    first = rolled()["roll"]
    assert "mara claims: roll ++++" in table(f"answer --as mara --choose invoke={AGAIN} --given roll=++++")
    assert rolled()["roll"] == first
    table(f"answer --as gm --choose claim={answer}")
    again = rolled()["roll"]
    assert again[:1] == first
    assert (again[1] == "++++") == (answer == "confirm")
    log = table("log --as gm")
    assert ("given, not from the seed: roll" in log) == (answer == "confirm")
    check_whole()


def test_each_player_has_its_own_results_for_a_label() -> None:
    begin("players")
    table("act conflict --as mara --against edda --given roll=++++")
    table("answer --as mara --choose turn=pass")
    table("answer --as edda --choose turn=attack --auto --given roll=0+0+")
    table("answer --as mara --choose concede=no")
    assert rolled()["roll"] == ["0+0+"]
    assert store.read(Path("t.db")).head.secret.later == {"roll": [Given("++++", "mara")]}


@pytest.mark.parametrize("how", ["by a seat, accepted", "from the library", "by the host"])
def test_a_line_gives_the_dice_of_its_seat_alone_and_only_the_host_confirms_them(how: str) -> None:
    begin("gm")
    table("act conflict --as mara --against edda")
    table("view --as mara --out v.json")
    line = table("answer --view v.json --choose turn=attack --given roll=++++ --given opposition=----")
    (posted,) = posted_in(line)
    assert isinstance(posted, AnswerFile)
    forged = answer_line(structs.replace(posted, mac=""))
    if how == "by the host":
        table(f"answer {line.strip()} --accept")
    elif how == "from the library":
        library.open_table("t.db", seat="mara").take(forged)
    else:
        table(f"answer {forged} --as mara --accept")
    if how != "by the host":
        assert rolled() == {}
        table("answer --as gm --choose claim=confirm")
    assert rolled()["roll"] == ["++++"]
    assert rolled()["opposition"] != ["----"]
    table("undo 1")
    check_whole()


def test_a_person_is_asked_for_the_dice_of_their_own_characters() -> None:
    begin("players")
    met: list[Due] = []
    about: dict[str, Any] = {"actor": "mara", "seat": "mara", "hand": met.append}
    sitting.act(Place(Path("t.db")), "overcome", {"skill": "fight", "vs": ["edda:fight"]}, **about)
    assert {due.label for due in met} == {"roll"}


def test_a_language_model_gives_dice_only_at_a_table_with_real_dice() -> None:
    from rpgres.cli.mcp.tools import call
    from rpgres.errors import UsageError
    from rpgres.lines.seat import Seat

    for dice in ("seeded", "real"):
        table(f"new fate --sheet mara --seed 7 --trust players --dice {dice} --table {dice}.db")
        for more in (
            {"line": "mara overcome burglary 3", "given": ["roll=++++"]},
            {"line": "mara overcome burglary 3 --given roll=++++"},
        ):
            for seat in ("gm", "mara"):
                at = Seat(Path(f"{dice}.db"), seat)
                if dice == "real":
                    assert "++++" in call(at, "act", more).text
                    call(at, "undo", {})
                    continue
                with pytest.raises(UsageError, match="`given`: the table's seed rolls all dice"):
                    call(at, "act", more)


@pytest.mark.parametrize("trust", ["gm", "players"])
def test_a_result_that_cannot_be_is_refused_before_anything_is_written(
    trust: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert rpgres("table", "new", "fate", "--sheet", "mara", "--sheet", "edda", "--trust", trust).code == 0
    act = ["table", "act", "overcome", "--as", "mara", "--skill", "burglary", "--vs", "edda:fight", "--given"]
    done = rpgres(*act, "roll=++0")
    assert (done.code, "four Fate dice expected" in done.err) == (2, True), done
    assert rpgres("table", "log").out == "  0  the table begins\n"
    assert rpgres(*act, "roll=++0-").code == 3
