"""A player who has seen a roll cannot take it back and spend the same dice on something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rpgres as library
from rpgres.journal.forms import RunEntry
from tests.support.command_line import rpgres

ROLL = "act overcome --actor mara --skill burglary --vs edda:notice --given roll=++++ --given opposition=----"
LOST = "act overcome --actor mara --skill burglary --vs edda:notice --given roll=---- --given opposition=++++"
CALM = "act concede --as mara"
WAITING = 3


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def table(line: str) -> tuple[int, str]:
    ran = rpgres("table", *line.split())
    return ran.code, ran.out + ran.err


def kinds() -> list[str]:
    log = library.open_table(".rpgres/table.db", seat="gm").log().entries
    return [str(type(one).__struct_config__.tag) for one in log if not one.undone]


def begin(*lines: str, new: str = "") -> None:
    for line in (f"new fate --sheet mara --sheet edda --seed 7 {new}", *lines):
        assert table(line)[0] in (0, WAITING), line


@pytest.mark.parametrize(
    ("new", "before", "line", "is_request"),
    [
        ("", [ROLL], "undo --as mara", True),
        ("", [ROLL], "undo --as gm", False),
        ("", [ROLL], "undo", False),
        ("--trust players", [ROLL], "undo --as mara", False),
        ("", [CALM], "undo --as mara", False),
        ("", ["note --as mara hm"], "undo --as mara", False),
        ("", [ROLL, "undo"], "redo --as mara", True),
        ("", [ROLL, "undo"], "redo --as gm", False),
        ("--trust players", [ROLL, "undo"], "redo --as mara", False),
        ("", [CALM, "undo"], "redo --as mara", False),
        ("", [ROLL, "answer --as edda no"], "undo 2 --as edda", False),  # the answer has shown nothing new
    ],
)
def test_what_showed_dice_is_undone_and_redone_at_a_players_request(
    new: str, before: list[str], line: str, is_request: bool
) -> None:
    begin(*before, new=new)
    code, told = table(line)
    assert (kinds()[-1] == "request") == is_request, told
    assert code == (WAITING if is_request else 0)
    assert ("You have seen dice or cards there, so the game master has to allow it." in told) == is_request


@pytest.mark.parametrize("said", ["allow", "refuse", ""])
@pytest.mark.parametrize("what", ["undo", "redo"])
def test_the_game_master_allows_or_refuses_and_a_player_withdraws(what: str, said: str) -> None:
    begin(ROLL, *(["undo"] if what == "redo" else []))
    before = kinds()
    table(f"{what} --as mara")
    for other in (ROLL, "answer --as edda no", "answer --as mara --choose request=allow"):
        assert table(other)[0] == 2  # all wait for the game master
    code, told = table(f"answer --as gm --choose request={said}" if said else "undo --as mara")
    assert code in (0, WAITING), told
    done = {"undo": ["new", "undo"], "redo": [*before, "undo", "act"]}[what]
    assert kinds() == (done if said == "allow" else [*before, "undo"])
    if said != "allow":  # and what waited before waits again
        stays = f"entry 1 stays{' undone' if what == 'redo' else ''}"
        withdrawn = f"mara: undid: request to {what} entry 1"
        assert (f"the game master refuses: {stays}\n" if said else withdrawn) in told
        assert table("redo --as mara")[0] == (WAITING if what == "redo" else 2)
        assert (table("answer --as edda no")[0] != 2) == (what == "undo")
    while table("reveal")[0]:
        assert table("undo")[0] == 0
    assert "replayed from the seed" in table("verify")[1]


AS_GM = {
    "bare": lambda answer: table(f"answer --as gm {answer}"),
    "label": lambda answer: table(f"answer --as gm --choose request={answer}"),
    "library": lambda answer: library.open_table(".rpgres/table.db", seat="gm").answer(answer),
    "batch": lambda answer: rpgres(
        "batch",
        stdin=json.dumps(
            {"op": "table.answer", "table": ".rpgres/table.db", "as": "gm", "choose": {"request": answer}}
        ),
    ),
}


@pytest.mark.parametrize("way", AS_GM)
@pytest.mark.parametrize("answer", ["allow", "refuse"])
@pytest.mark.parametrize("what", ["undo", "redo"])
def test_a_request_names_its_seat_and_entries(what: str, answer: str, way: str) -> None:
    begin(LOST, "answer --as mara no", *(["undo 1"] if what == "redo" else []))
    asks = f"mara asks to {what} entries 1 to 2"
    assert f"{asks}: waiting (the game master)" in table(f"{what} {'1 ' if what == 'undo' else ''}--as mara")[1]
    asked = library.open_table(".rpgres/table.db", seat="gm").show().pending
    assert asked is not None
    texts = {"undo": ["Undo it.", "Keep it."], "redo": ["Redo it.", "Leave it undone."]}[what]
    assert (asked.question.label, asked.question.who, asked.question.text) == ("request", "gm", f"{asks}. Allow it?")
    assert [(one.name, one.text) for one in asked.question.options] == list(
        zip(["allow", "refuse"], texts, strict=True)
    )
    for seat in ("mara", "edda"):
        assert f"the game master chooses: {asks}. Allow it?" in table(f"show --as {seat}")[1]
    assert "waits for the game master: request" in table("status --as gm")[1]
    AS_GM[way](answer)
    log = table("log --as edda")[1]
    answered = {
        ("undo", "allow"): "allows it; undid: mara overcome: ",
        ("undo", "refuse"): "refuses: entries 1 to 2 stay\n",
        ("redo", "allow"): "allows it\n",
        ("redo", "refuse"): "refuses: entries 1 to 2 stay undone\n",
    }[what, answer]
    assert f"the game master {answered}" in log
    assert f"undone: {asks}: {answer}\n" in log
    assert "claim" not in log


@pytest.mark.parametrize("trust", ["players", "gm"])
def test_a_wrong_result_given_in_advance_tells_no_hit_from_a_miss(trust: str) -> None:
    told = set[tuple[str, ...]]()
    outcomes = set[str | None]()
    for seed in range(60):
        Path(".rpgres/table.db").unlink(missing_ok=True)
        table(f"new twenty-sided-advantage --sheet brand --seed {seed} --trust {trust}")
        ran = table("act strike --as brand --bonus 3 --vs 12 --given damage=99")
        confirmed = table("answer --as gm --choose claim=confirm") if trust == "gm" else (0, "")
        view = library.open_table(".rpgres/table.db", seat="brand")
        last = view.log().entries[-1]
        assert isinstance(last, RunEntry)
        assert not last.attempt  # the roll stands
        assert last.result is not None
        outcomes.add(last.result.outcome)
        told.add((str(ran[0]), ran[1] if trust == "players" else "", str(confirmed[0])))
        assert "is not possible now" not in table("log --as brand")[1]
        if {"miss", "hit"} <= outcomes:
            break
    assert len(told) == 1
    assert {"miss", "hit"} <= outcomes
