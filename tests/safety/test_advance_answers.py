"""An answer given in advance that no longer fits: its owner alone is told, and the table waits for the owner."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import rpgres as library
from tests.support.command_line import rpgres


class Case(NamedTuple):
    """A table at which `owner` answers in advance, and `driver` goes on with the action.

    Attributes:
        advance: the command of the owner, without the answer in advance.
        label: the question that is answered in advance.
        others: what the seats answer before the driver, as (seat, answer).
    """

    new: str
    owner: str
    advance: str
    label: str
    others: Sequence[tuple[str, str]]
    driver: str
    last: str


FAITH = "act confront --as bero --skill initiative --attribute mind --target sable"
CLAIMED = "act act --as ilse --ability strength=8 --vs average"
CASES = {
    "faith, a card, by the opponent": Case(
        "new faith --sheet bero --sheet sable --seed 7",
        *("bero", FAITH, "play"),
        [("gm", "join=no"), ("sable", "counter=needle-pistol"), ("gm", "fitting=no")],
        *("sable", "activate=no"),
    ),
    "faith, gear, by the game master": Case(
        "new faith --sheet bero --sheet sable --seed 7",
        *("sable", "", "activate"),
        [("gm", "join=no"), ("sable", "counter=needle-pistol activate=nonsense")],
        *("gm", "fitting=no"),
    ),
    "saga, a card, by the game master who confirms a claim": Case(
        "new saga --sheet ilse --seed 7 --trust gm", *("ilse", CLAIMED, "play"), [], *("gm", "claim=confirm")
    ),
}


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def table(line: str, *more: str) -> tuple[int, str]:
    ran = rpgres("table", *line.split(), *more)
    return ran.code, ran.out + ran.err


def choose(answers: str) -> list[str]:
    return [word for answer in answers.split() for word in ("--choose", answer)]


def begin(case: Case, wrong: str) -> None:
    """Play up to the command of the driver."""
    table(case.new)
    if case.advance:
        assert table(case.advance, "--choose", f"{case.label}={wrong}")[0] == 3
    else:
        assert table(FAITH)[0] == 3
    for seat, answers in case.others:
        assert table(f"answer --as {seat}", *choose(answers.replace("nonsense", wrong)))[0] == 3


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_driver_learns_nothing_and_the_table_waits_for_the_owner(case: Case) -> None:
    begin(case, "zzz")
    code, told = table(f"answer --as {case.driver}", "--choose", case.last)
    assert (code, "zzz" in told, "may choose" in told) == (3, False, False)
    log = table(f"log --as {case.driver}")[1]
    assert ("zzz" in log, "failed" in log) == (False, False)
    assert f"{case.label}=zzz is not possible now" in table(f"log --as {case.owner} --last 1")[1]
    asked = json.loads(table(f"show --as {case.owner} --json")[1])["pending"]["question"]
    assert (asked["label"], asked["who"]) == (case.label, case.owner)
    offered = asked["options"][0]["name"]
    assert table(f"answer --as {case.owner} --choose {case.label}={offered}")[0] in (0, 3)


def test_the_library_raises_nothing_to_the_driver() -> None:
    case = CASES["faith, a card, by the opponent"]
    begin(case, "zzz")
    at = library.open_table(".rpgres/table.db", seat=case.driver)
    found = at.answer(choose={"activate": "no"})
    assert "zzz" not in repr(found)


def test_an_own_answer_is_refused_at_once() -> None:
    table("new fate --sheet mara --sheet edda --seed 7 --trust players")
    line = "act overcome --as mara --skill burglary --vs edda:fight --given roll=0000 --choose invoke=zzz"
    code, told = table(line)
    assert (code, "invoke=zzz is not offered here" in told) == (2, True)
    assert "invoke=zzz" not in table("log --as mara")[1]
