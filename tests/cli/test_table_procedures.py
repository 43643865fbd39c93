"""A procedure at a persistent table: one action with many decisions of two seats, and the table in the middle of it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from rpgres.formats.schemas import make_schema
from tests.support.command_line import as_json, rpgres
from tests.support.terminal import Terminal

SEED = "3"


@pytest.fixture(autouse=True)
def _table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "bruiser", "--seed", SEED).code == 0
    )


def show(seat: str | None = None) -> Any:
    return as_json("table", "show", *(["--as", seat] if seat else []))


def marked(record: Any, who: str) -> list[str]:
    """Return the boxes of somebody that are marked, as a seat sees them."""
    tracks = record["state"]["characters"][who]["tracks"]
    return [f"{name}-{box['name']}" for name, boxes in tracks.items() for box in boxes if box["mark"]]


def answered(record: Any) -> str:
    """Return an answer to what waits: attack, take harm with the first box, and skip everything else."""
    question = record["pending"]["question"]
    names = [option["name"] for option in question["options"]]
    return "no" if question["optional"] else "attack" if "attack" in names else names[0]


def played(*, most: int = 200) -> Iterator[Any]:
    """Begin a conflict, and yield the host's view of the table after every answer, each given by whose it is."""
    assert rpgres("table", "act", "conflict", "--as", "mara", "--against", "bruiser").code == 3
    for _ in range(most):
        record = show()
        yield record
        if record["pending"] is None:
            return
        seat = "mara" if record["pending"]["question"]["who"] == "mara" else "gm"
        key = record["pending"]["question"]["key"] or record["pending"]["question"]["label"]
        ran = rpgres("table", "answer", "--as", seat, "--choose", f"{key}={answered(record)}")
        assert ran.code in (0, 3), ran.err
    raise AssertionError("it never ends")


@pytest.mark.slow
def test_the_table_shows_what_finished_turns_have_changed_and_the_end_agrees() -> None:
    records = list(played())
    waiting, over = [one for one in records if one["pending"]], records[-1]
    assert over["pending"] is None
    assert over["under_way"] is False
    hurt = [one for one in waiting if marked(one, "bruiser") or marked(one, "mara")]
    assert hurt, "nobody is hurt before the end, so this shows nothing"
    schema = Draft202012Validator(make_schema("table"))
    for one in hurt:
        assert one["under_way"] is True
        schema.validate(one)
    for before, after in pairwise(hurt):  # harm stays until the conflict is over
        for who in ("mara", "bruiser"):
            assert set(marked(before, who)) <= set(marked(after, who))
    for one in hurt:  # what the finished turns say is what the table shows
        told = [effect for event in one["pending"]["events"] for effect in event.get("effects") or ()]
        for who in ("mara", "bruiser"):
            boxes = {f"{its['track']}-{its['box']}" for its in told if its["kind"] == "stress" and its["to"] == who}
            assert boxes == {box for box in marked(one, who) if not box.startswith("consequences")}
    assert marked(over, "bruiser") == []  # stress clears when the conflict is over
    log = as_json("table", "log")["entries"]
    assert [entry["kind"] for entry in log[1:]] == ["act", *["answer"] * (len(log) - 2)]
    assert rpgres("table", "reveal").code == 0
    verified = rpgres("table", "verify")
    assert (verified.code, verified.err) == (0, "")
    assert rpgres("table", "export", "--out", "sheets").code == 0
    assert {path.name for path in Path("sheets").rglob("*.toml")} >= {"mara.toml", "bruiser.toml"}


@pytest.mark.slow
@pytest.mark.slow
def test_an_undone_conflict_says_how_to_undo_its_last_turn_alone() -> None:
    before = list(played())
    told = rpgres("table", "undo").out
    found = re.search(
        r"undid: mara conflict: .* \(entries 1 to (\d+)\)(?: .*)?\n  That was the whole conflict. "
        r"`rpgres table redo` brings it back; then `rpgres table undo (\d+)` undoes its last turn.\n$",
        told,
    )
    assert found, told
    assert int(found[1]) == before[-1]["entries"] - 1
    assert rpgres("table", "redo").code == 0
    assert show()["state"] == before[-1]["state"]
    assert "That was the whole" not in rpgres("table", "undo", found[2]).out
    turns = [one for one in before if one["pending"] and one["pending"]["question"]["label"] == "turn"]
    assert show()["pending"]["events"] == turns[-1]["pending"]["events"]


@pytest.mark.slow
def test_a_request_to_undo_leaves_the_table_as_finished_turns_left_it() -> None:
    for before in played():
        code = rpgres("table", "undo", str(before["entries"] - 1), "--as", "mara").code if before["under_way"] else 2
        if code == 3:
            break
        if code == 0:  # nothing was rolled
            rpgres("table", "redo")
    asked = show()
    assert asked["pending"]["question"]["label"] == "request"
    assert (asked["under_way"], asked["state"]) == (True, before["state"])
    assert rpgres("table", "end", "--as", "gm").code == 2
    assert rpgres("table", "answer", "refuse", "--as", "gm").code == 0
    after = show()
    assert [after[key] for key in ("under_way", "state", "pending")] == [True, before["state"], before["pending"]]


def test_in_the_middle_it_can_be_shown_verified_and_undone() -> None:
    before = show()["state"]
    for record in played():
        if record["pending"] and marked(record, "bruiser"):
            break
    assert record["state"] != before
    assert "Conflict is under way: its finished turns are included above." in rpgres("table", "show").out
    assert "with all entries and states" in rpgres("table", "verify").out
    assert rpgres("table", "undo", "1").code == 0
    after = show()
    assert (after["state"], after["under_way"], after["pending"]) == (before, False, None)
    assert rpgres("table", "verify").code == 20  # in order, as far as can be told before the seed is revealed


@pytest.mark.slow
def test_a_seat_sees_the_middle_but_not_what_others_are_asked() -> None:
    for record in played():
        question = (record["pending"] or {}).get("question")
        if question and question["who"] == "bruiser" and marked(record, "bruiser"):
            break
    own = show("mara")
    assert marked(own, "bruiser") == marked(record, "bruiser")
    assert own["pending"]["question"]["options"] == []
    assert rpgres("table", "view", "--as", "mara", "--out", "view.json").code == 0
    view = json.loads(Path("view.json").read_text())
    assert view["table"]["state"] == own["state"]
    events = [event for event in view["table"]["pending"]["events"] if event.get("who") != "mara"]
    assert "concede" not in [event.get("label") for event in events]
    told = rpgres("table", "show", "--view", "view.json")
    assert "Conflict is under way" in told.out


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_killed_process_loses_no_finished_answer() -> None:
    at = Terminal(("table", "act", "conflict", "--actor", "mara", "--against", "bruiser"))
    at.until("> ")
    at.type("attack\n")
    asked = at.until("> ")
    at.kill()
    record = show()
    answers = [entry for entry in as_json("table", "log")["entries"] if entry["kind"] == "answer"]
    assert len(answers) == 1
    assert record["pending"]["question"]["text"] in asked
    assert [(one["label"], one["value"]) for one in record["pending"]["answers"]][:1] == [("turn", "attack")]


# ---------------------------------------------------------------------------------------------------------------------
# What the account and the log say of turns

FAILED = ["--choose", "turn=attack", "--choose", "concede=no", "--choose", "invoke=no"]
FAILED += ["--given", "roll=----", "--given", "opposition=++++"]
BOOST = "  * a boost for bruiser: Boost of Bruiser\n"
ATTACKED = "  Mara attacks Bruiser with Fight: +1 ---- = -3 against Fight: +3 ++++ = +7."
ATTACKED += " Fail by 10. The attack does no harm.\n"


def test_a_turn_tells_what_it_changes_as_a_single_action_does() -> None:
    told = rpgres("table", "act", "conflict", "--actor", "mara", "--against", "bruiser", *FAILED).out
    assert f"{ATTACKED}{BOOST}  bruiser chooses" in told
    assert told.count("the conflict begins") == 1
    conceded = rpgres("table", "answer", "--choose", "turn=concede")
    assert (conceded.code, conceded.out.count(BOOST)) == (0, 1), "the end tells it again"
    assert BOOST in rpgres("roll", "fate", "conflict", "--sheet", "mara", "--against", "bruiser", *FAILED).out


def test_the_log_tells_what_each_entry_of_a_procedure_did_as_far_as_a_seat_may_see() -> None:
    rpgres("table", "act", "conflict", "--actor", "mara", "--against", "bruiser", *FAILED[6:])
    in_advance = ("--choose", "invoke=no", "--choose", "concede=concede")
    for seat, *answer in (("mara", "attack"), ("mara", *in_advance), ("gm", "attack")):
        assert rpgres("table", "answer", *answer, "--as", seat).code in (0, 3)
    log, own = rpgres("table", "log").out, rpgres("table", "log", "--as", "mara").out
    entries = f"""\
  2  mara, conflict: waiting (invoke: mara)
       turn (mara): attack: Attack somebody.
       concede (bruiser): no
       roll (mara): ---- = -4
       opposition (bruiser): ++++ = +4
  3  mara, conflict: waiting (turn: bruiser)
       invoke (mara): no
     {ATTACKED}       * a boost for bruiser: Boost of Bruiser
  4  mara, conflict: Conceded
       said: against bruiser
       turn (bruiser): attack: Attack somebody.
"""
    assert entries in log.replace("  (given, not from the seed: opposition, roll)", "")
    assert "concede (bruiser)" not in own
    assert "       invoke (mara): no\n" in own
    assert [text.count("(mara): ----") for text in (log, own)] == [1, 1], "an entry tells again what another has told"
    assert rpgres("table", "log", "--last", "2").out == log[log.index("  3  ") :]


@pytest.mark.parametrize("line", ["against thug and guards", "against thug, guards", "against thug against guards"])
def test_a_command_puts_who_is_listed_on_one_side(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rpgres("table", "new", "fate", *(part for name in ("mara", "thug", "guards") for part in ("--sheet", name)))
    ran = rpgres("table", "act", "mara", "conflict", *line.split(), "--json")
    inputs = json.loads(ran.out)["inputs"]
    assert (inputs["against"], inputs.get("ally")) == (["thug", "guards"], None), ran.err
