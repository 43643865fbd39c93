"""`rpgres whatif`: results, scenes and tables, what is printed, and what a seat must not learn."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres.engine.rerun import WhatIf
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.render.lines import Look, plain_text
from rpgres.render.whatif import what_if_lines
from tests.support.command_line import as_json, rpgres

ROLL = ("roll", "fate", "overcome", "--skill", "1", "--vs", "2", "--seed", "7")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def kept(name: str, *line: str, code: int = 0) -> str:
    """Run a line with --json and keep what it prints in a file."""
    ran = rpgres(*line, "--json")
    assert (ran.code, ran.err) == (code, "")
    Path(name).write_text(ran.out)
    return name


def test_both_accounts_one_under_the_other_where_they_are_heard() -> None:
    result = kept("result.json", *ROLL, "--given", "roll=000+", "--choose", "price=fail")
    ran = rpgres("whatif", result, "--given", "roll=++++", "--plain")
    assert ran == (
        0,
        "What if: roll ++++ instead of 000+\n"
        "\n"
        "As it was\n"
        "  Overcome: Tie\n"
        "    Fair (+2) against Fair (+2), margin +0\n"
        "    roll: 000+ = +1\n" + _tie(ran.out) + "\n"
        "With the change\n"
        "  Overcome: Succeed with style\n"
        "    Superb (+5) against Fair (+2), margin +3\n"
        "    roll: ++++ = +4\n"
        "    You get what you wanted, and a boost.\n"
        "    the goal is reached\n"
        "    a boost for the actor\n",
        "",
    )


def _tie(out: str) -> str:
    """Return what a tie comes to, as `roll` tells it too."""
    told = rpgres(*ROLL, "--given", "roll=000+", "--choose", "price=fail", "--plain").out.splitlines()
    lines = [line for line in told[3:] if not line.startswith(("  seed", "  not used", "  skipped"))]
    return "".join(f"  {line}\n" for line in lines)


def test_a_pending_decision_exits_with_3_and_json_has_it() -> None:
    result = kept("result.json", *ROLL, "--given", "roll=++++")
    ran = rpgres("whatif", result, "--given", "roll=----", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["complete"], found["after"][0]["question"]["label"]) == (3, False, "price")
    assert rpgres("whatif", result, "--given", "roll=----").code == 3
    ran = rpgres("whatif", result, "--given", "roll=----", "--choose", "price=cost", "--auto", "--json")
    assert (ran.code, json.loads(ran.out)["after"][0]["success"]) == (0, False)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="no pipe has a name here")
def test_a_pipe_with_a_name_is_read_once() -> None:
    """`rpgres whatif <(rpgres roll ... --json)` names a pipe."""
    reads, writes = os.pipe()
    line = ("roll", "fate", "overcome", "--skill", "2", "--vs", "0", "--auto", "--seed", "1", "--json")
    os.write(writes, rpgres(*line).out.encode())
    os.close(writes)
    try:
        told = rpgres("whatif", f"/dev/fd/{reads}", "--given", "roll=++++")
    finally:
        os.close(reads)
    assert told.out.startswith("What if: roll ++++ instead of ")


def test_a_scene_of_which_something_is_hidden_needs_all_of_it() -> None:
    line = ("scene", "run", "saga/toll-gate", "--seed", "7", "--auto")
    seen = rpgres("whatif", kept("seen.json", *line), "--given", "the-gate.gm-card=St5n")
    assert "take one with nothing left out: rpgres scene run ... --as host" in seen.err
    whole = rpgres("whatif", kept("whole.json", *line, "--as", "host"), "--given", "the-gate.gm-card=St5n")
    assert whole.code == 0, whole.err


def test_a_scene_with_its_file_and_with_another_name() -> None:
    result = kept("scene.json", "scene", "run", "fate/bribe", "--seed", "3", "--auto")
    ran = rpgres("whatif", result, "--given", "roll=++++")
    assert ran.code == 0
    assert "\n1. Bribe                                | 1. Bribe\n" in ran.out
    assert "\n    Roll (Mara Quill): " in ran.out  # the account of the scene
    assert "  no longer asked: bribe: mara:price=fail\n" in ran.out
    assert rpgres("whatif", result, "--given", "roll=++++", "--scene", "fate/bribe").out == ran.out
    ran = rpgres("whatif", result, "--given", "roll=++++", "--scene", "fate/ledger")
    assert ran.code == 2
    assert "has another result when" in ran.err


def test_two_columns_where_there_is_room_with_what_differs_marked() -> None:
    result = kept("result.json", *ROLL, "--given", "roll=000+", "--choose", "price=fail")
    line = ("whatif", result, "--given", "roll=++++")
    record = msgspec.json.decode(rpgres(*line, "--json").out.encode(), type=WhatIf)
    assert rpgres(*line).out.splitlines()[2] == f"{'As it was':38}  | With the change"  # in a pipe
    file = load_rules(find_ruleset("fate")).file
    for columns, look in ((80, Look()), (120, Look()), (100, Look(width=100, is_drawn=True))):
        heads, *rows = plain_text(what_if_lines(record, file, page=columns), look).splitlines()[2:]
        middle = heads.index("  | ")
        assert middle == (columns - 4) // 2
        assert (heads[:middle].strip(), heads[middle + 4 :]) == ("As it was", "With the change")
        assert all(row.ljust(columns)[middle : middle + 4] in ("  | ", " != ") for row in rows)
        same = [row for row in rows if row[middle : middle + 4] == "  | "]
        assert all(row[:middle].strip() == row[middle + 4 :].strip() for row in same)
        assert "  * the goal is reached" in [row[:middle].rstrip() for row in same]
        assert max(map(len, rows)) <= columns
    for narrow in (Look(width=60), Look(width=100, is_aloud=True)):
        assert "\nWith the change\n" in plain_text(what_if_lines(record, file, page=80), narrow)


def test_what_is_far_from_any_difference_is_counted() -> None:
    line = ("scene", "run", "fate/conflict", "--sheet", "mara", "--against", "bruiser", "--seed", "3", "--auto")
    told = rpgres("whatif", kept("fight.json", *line), "--choose", "conflict.invoke#1=no").out
    assert re.search(r"\| With the change\n  \.\.\. \d+ lines as before\n", told)
    assert " != " in told


def test_an_ending_is_told_where_it_is_another_one() -> None:
    result = kept("vault.json", "scene", "run", "fate/vault", "--seed", "3")
    same, other = (rpgres("whatif", result, f"--given=lock@1.roll#1={roll}", "--auto").out for roll in ("----", "++++"))
    assert ("  ending: " in same, "  ending: caught, now open\n" in other) == (False, True)


def test_what_is_new_is_decided_by_the_policies_of_the_run() -> None:
    run = ("scene", "run", "fate/bribe", "--seed", "1")
    for asked, told in ((("--auto",), "sensible"), (("--policy", "thrifty"), "thrifty")):
        result = kept("scene.json", *run, *asked)
        ran = rpgres("whatif", result, "--choose", "price=cost")
        assert (ran.code, f"  decisions that are new: policy {told}\n" in ran.out) == (0, True)
    other = rpgres("whatif", result, "--choose", "price=cost", "--auto")
    assert "  decisions that are new: policy sensible\n" in other.out
    duel = ("scene", "run", "fate/conflict", "--sheet", "mara", "--against", "bruiser", "--seed", "3", "--auto")
    assert rpgres("whatif", kept("duel.json", *duel), "--choose", "conflict.invoke#1=no").code == 0
    rolled = kept("roll.json", "roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--seed", "1", "--auto")
    ran = rpgres("whatif", rolled, "--given", "roll=----")
    assert (ran.code, "  decisions that are new: policy sensible\n" in ran.out) == (0, True)
    rolled = kept("roll.json", "roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--auto", "--given=roll=----")
    for change in ("--given=roll=---0", "--choose=price=cost", "--given=roll=++++"):  # none is new, or one is gone
        ran = rpgres("whatif", rolled, change)
        assert (ran.code, "decisions that are new" in ran.out) == (0, False), change
    waiting = rpgres("whatif", kept("result.json", *ROLL, "--given", "roll=++++"), "--given", "roll=----")
    assert waiting.code == 3
    assert "  a decision that is new waits: answer it with --choose, or add --auto for a policy\n" in waiting.out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}", "this is not what"),
        ("[", "this is not what"),
        ("", "prints: it is empty"),
        ('{"format": "rpgres.odds/1"}', "this is not what"),
    ],
)
def test_a_file_of_something_else_is_refused(text: str, told: str) -> None:
    Path("other.json").write_text(text)
    ran = rpgres("whatif", "other.json", "--given", "roll=++++")
    assert (ran.code, ran.out) == (1, "")
    assert told in ran.err


def test_dice_alone_have_no_decisions() -> None:
    result = kept("dice.json", "roll", "3d6", "--seed", "1")
    assert "dice alone" in rpgres("whatif", result, "--given", "roll=6,6,6").err


# ---------------------------------------------------------------------------------------------------------------------
# Persistent tables


def at_table(*args: str, code: int = 0, **environment: Any) -> str:
    ran = rpgres("table", *args, **environment)
    assert ran.code == code, ran.err
    return ran.out


def begun(*sheets: str) -> None:
    named = [word for sheet in sheets or ("mara", "guards") for word in ("--sheet", sheet)]
    at_table("new", "--ruleset", "fate", *named, "--seed", "7")
    at_table("pass", "--as", "gm", "--until", "always")


def test_an_action_of_a_table_is_tried_otherwise_and_the_table_stays() -> None:
    begun()
    line = ("act", "overcome", "--actor", "mara", "--skill", "fight", "--vs", "3", "--given", "roll=0000")
    at_table(*line, "--choose", "invoke=no", "--choose", "price=fail")
    log = at_table("log")
    ran = rpgres("whatif", ".#2", "--given", "roll=++++", "--json")
    found = json.loads(ran.out)
    assert ran.code == 0
    assert [found["before"][0]["outcome"], found["after"][0]["outcome"]] == ["fail", "succeed"]
    assert found["before"][0]["seed"] is found["after"][0]["seed"] is None
    assert at_table("log") == log
    assert rpgres("whatif", ".#2", "--given", "roll=++++", "--as", "mara").code == 0
    assert "no entry 9" in rpgres("whatif", ".#9", "--given", "roll=++++").err
    assert "is no action" in rpgres("whatif", ".#0", "--given", "roll=++++").err


@pytest.mark.slow
def test_new_dice_are_not_those_of_the_table() -> None:
    """An undo, and the same again, must not be foretold by a what-if."""
    begun()
    line = ("act", "overcome", "--actor", "mara", "--skill", "fight", "--vs", "3", "--given", "roll=0000")
    at_table(*line, "--choose", "invoke=no", "--choose", "price=fail")
    what_if = ("whatif", ".#2", "--choose", "invoke=i-know-a-back-way:reroll", "--json")
    tried = json.loads(rpgres(*what_if).out)
    assert tried["seed"].startswith("what-if:")
    assert tried == json.loads(rpgres(*what_if).out)


def test_a_seat_learns_nothing_that_is_hidden_from_it() -> None:
    """What only the game master knows of may be invoked in a what-if of the game master, not in one of a player."""
    begun()
    at_table("set", "tags.Rigged Stairs=aspect", "--to", "gm")
    at_table("set", "tags.Rigged Stairs.uses.gm=1")
    line = ("act", "overcome", "--actor", "mara", "--skill", "fight", "--vs", "1", "--given", "roll=0000")
    at_table(*line, "--choose", "invoke=no", "--choose", "invoke-against=no")
    number = json.loads(at_table("log", "--json"))["entries"][-1]["number"]
    what_if = ("whatif", f".#{number}", "--given", "roll=+000", "--auto")
    assert rpgres(*what_if, "--as", "mara").code == 0
    assert "igged" not in rpgres(*what_if, "--as", "mara", "--json").out
    told = ("whatif", f".#{number}", "--choose", "gm:invoke-against=rigged-stairs", "--auto")
    assert "rigged-stairs" in rpgres(*told, "--as", "gm").out
    refused = rpgres(*told, "--as", "mara")
    assert (refused.code, refused.out) == (2, "")


def test_json_is_what_the_schema_says() -> None:
    from jsonschema_rs import Draft202012Validator

    from rpgres.formats.schemas import make_schema

    validator = Draft202012Validator(make_schema("what-if"))
    result = kept("result.json", *ROLL, "--given", "roll=++++")
    for line in (["--given", "roll=+++0"], ["--given", "roll=----"]):
        assert list(validator.iter_errors(json.loads(rpgres("whatif", result, *line, "--json").out))) == []


def test_a_table_without_the_number_of_an_entry_is_told_how_to_name_one() -> None:
    rpgres("table", "new", "fate", "--sheet", "guard")
    for name in (".", ".rpgres/table.db"):
        done = rpgres("whatif", name, "--given", "roll=++++")
        assert done.code == 2
        assert f"name one of its actions, as in `rpgres whatif {name}#N`" in done.err


def test_an_entry_that_a_table_does_not_have_is_typed_wrong() -> None:
    rpgres("table", "new", "fate", "--sheet", "mara")
    for number in (0, 1, 99):
        ran = rpgres("whatif", f".#{number}", "--given", "roll=++++")
        assert (ran.code, ran.out) == (2, "")
    assert "no entry 99" in ran.err


def test_what_nothing_asked_for_is_told_with_its_step_and_the_nearest_name() -> None:
    scene = kept("vault.json", "scene", "run", "fate/vault")
    told = "nothing was asked that these would answer: lock@2.rol=++++ (did you mean 'lock@2.roll'?)\n"
    assert rpgres("whatif", scene, "--given", "lock@2.rol=++++").err.endswith(told)
    bribe = kept("bribe.json", "scene", "run", "fate/bribe", "--auto")
    told = "nothing was asked that these would answer: bribe.prise=cost (did you mean 'bribe.price'?)\n"
    assert rpgres("whatif", bribe, "--choose", "bribe.prise=cost").err.endswith(told)


def test_a_step_that_was_repeated_goes_by_its_id_as_far_as_that_is_clear() -> None:
    scene = kept("vault.json", "scene", "run", "fate/vault", "--seed", "7")
    told = "the run has 2 such answers; name one: lock@1.price#1 (cost), lock@2.price#1 (cost)\n"
    assert rpgres("whatif", scene, "--choose", "lock.price=fail").err.endswith(told)
    assert as_json("whatif", scene, "--choose", "lock.price#2=fail")["changed"][0]["step"] == "lock@2"
    assert "did you mean 'lock@" in rpgres("whatif", scene, "--choose", "lock.prise=fail").err


def test_a_line_to_type_has_the_name_of_a_file_in_quotes() -> None:
    rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--seed", "7", "--table", "a b.db")
    assert "as in `rpgres whatif 'a b.db#N'`" in rpgres("whatif", "a b.db").err
