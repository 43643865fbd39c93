"""`rpgres table` and `rpgres play`: what is typed, what is printed, and the exit codes."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from rpgres.formats.schemas import make_schema
from tests.support.command_line import Ran, in_shell, rpgres

ACT = ("act", "overcome", "--skill", "burglary", "--vs", "2", "--actor", "mara")
WIN = ("--given", "roll=++++", "--choose", "invoke=no", "--choose", "invoke-against=no")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(*args: str, code: int = 0, **settings: Any) -> Ran:
    done = rpgres("table", *args, **settings)
    assert done.code == code, done
    return done


def begun(*more: str) -> Ran:
    return table(
        "new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "edda", "--title", "The gate", "--seed", "7", *more
    )


@cache
def validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(make_schema(kind))


def said(kind: str, *args: str, code: int = 0) -> Any:
    """Return the JSON of a command, held against its schema."""
    found = json.loads(table(*args, "--json", code=code).out)
    assert [f"{error.instance_path}: {error.message}" for error in validator(kind).iter_errors(found)] == []
    assert found["format"] == f"rpgres.{kind}/1"
    return found


# ---------------------------------------------------------------------------------------------------------------------
# Begin, act, answer, take back


def test_an_evening() -> None:
    assert begun().out.startswith(".rpgres/table.db: a table of Fate (five actions); at it: mara, edda\n")
    assert table(*ACT, *WIN).out.startswith(
        "mara, overcome: Succeed with style\n  Fantastic (+6) against Fair (+2), margin +4\n  roll (mara): ++++ = +4\n"
    )
    done = table(*ACT, "--given", "roll=----", code=3)
    assert done.out.startswith("mara, overcome: waiting\n  roll (mara): ---- = -4\n  mara chooses (")
    assert "    no: skip\n  Answer it with: rpgres table answer --choose invoke=...\n" in done.out
    assert "another seat chooses" in table("show", "--as", "edda").out
    assert "cannot act now: entry 2 (overcome) waits" in table(*ACT, code=2).err
    table("answer", "--choose", "invoke=no", "--as", "mara", code=3)
    assert "  3  mara, overcome: waiting (price: mara)  (given, not from the seed: roll)\n" in table("log").out
    assert "mara, overcome: Fail" in table("answer", "--choose", "price=fail", "--as", "mara").out
    assert table("undo").out == "  5  undid: mara overcome: fail (entries 2 to 4) (already seen: rolls)\n"
    assert table("verify", code=20).out.startswith("incomplete: 6 entries\n")
    table("reveal")
    assert table("verify").out.startswith("in order: 7 entries\n")


def test_exit_codes_of_outcomes() -> None:
    begun()
    lost = ("--given", "roll=----", "--choose", "invoke=no", "--choose", "price=fail")
    assert table(*ACT, *WIN, "--exit-code", code=0).code == 0
    assert table(*ACT, *lost, "--exit-code", code=10).code == 10
    assert table(*ACT, *lost, code=0).code == 0  # only where it is asked for


def test_it_is_found_upwards(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun()
    (folder / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(folder / "deep" / "down")
    table(*ACT, *WIN)
    assert "a table already exists" in rpgres("table", "new", "--ruleset", "fate", "--table", str(folder)).err
    monkeypatch.chdir(folder.parent)
    assert "rpgres table new" in table("show", code=1).err
    assert "The gate" in table("show", "--table", str(folder)).out
    assert "The gate" in table("show", "--table", str(folder / ".rpgres" / "table.db")).out
    assert "The gate" in table("show", RPGRES_TABLE=str(folder)).out
    assert table("act", "overcome", "--skill=1", "--vs=1", "--table", str(folder), code=2).err.startswith(
        "rpgres: name the actor"
    )


def test_the_seat_of_the_environment() -> None:
    begun()
    assert "seen by edda" in table("show", RPGRES_SEAT="edda").out
    assert "seen by mara" in table("show", "--as", "mara", RPGRES_SEAT="edda").out
    for line in (("show",), ("answer", "no")):
        assert "has no seat 'eda'; did you mean 'edda'?" in table(*line, "--as", "eda", code=2).err


def test_lines_that_say_too_little() -> None:
    assert "there is no table here" in table(*ACT, code=1).err
    begun()
    for line, told in (
        (["act"], "name an action: overcome"),
        (["act", "overcom"], "did you mean 'overcome'"),
        (["act", "overcome", "--sheet", "mara"], "no option '--sheet'"),
        (["act", "overcome", "--seed", "7"], "'--seed'"),
        (["set", "counters.doom"], "give PATH=VALUE"),
        (["answer"], "no decision is pending"),
        (["answer", "--out", "x"], "name it with --view FILE"),
        (["view", "--out", "x"], "name the seat"),
        (["verify", "--head", "xyz"], "--head takes the hash"),
        (["new"], "table new fate"),
        (["shwo"], "shwo"),
    ):
        done = table(*line, code=2)
        assert told in done.err, line
        assert done.out == ""


def test_a_character_is_shown_without_counters_that_nothing_has_raised() -> None:
    table("new", "--ruleset", "saga", "--sheet", "ilse", "--sheet", "toll-warden", "--seed", "7")
    assert "\n  Edge 4, Hand size 6\n" in table("show", "ilse").out
    table("set", "ilse.lost=2")
    assert "\n  Edge 4, Hand size 6, Lost 2\n" in table("show", "ilse").out
    assert "\n  Health 15\n" in table("show").out
    table("new", "--ruleset", "fate", "--sheet", "mara", "--table", "fate.db")
    table("set", "mara.fate-points=0", "--table", "fate.db")
    assert "Refresh 3, Fate points 0" in table("show", "--table", "fate.db").out  # it does not begin at 0


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="nothing here is full")
def test_an_entry_whose_report_cannot_be_written_is_told_as_kept() -> None:
    begun()
    lines = ("note x", "act overcome --actor mara --skill burglary --vs 1 --given roll=++++", "show")
    told = [in_shell(f"rpgres table {line} >/dev/full").stderr for line in lines]
    kept = [re.search(r"; entry (\d) is in the journal", one) for one in told]
    assert [one and one[1] for one in kept] == ["1", "2", None]
    assert "2  mara, overcome" in table("log").out
    new = in_shell("rpgres table new fate --table other.db >/dev/full").stderr  # it cannot be made once more
    assert "; entry 0 is in the journal" in new
    assert "Fate" in table("show", "--table", "other.db").out


@pytest.mark.parametrize("fault", ["x=[[[\n", "title = 3\n", "label = 3\n"])
def test_faulty_house_rules_hide_no_table(folder: Path, fault: str) -> None:
    begun()
    before = {words: table(*words).out for words in (("show",), ("show", "mara"), ("log",))}
    table("view", "--as", "mara", "--out", "mara.json")
    viewed = table("show", "--view", "mara.json").out
    house = folder / "rulesets" / "fate" / "ruleset.toml"
    house.parent.mkdir(parents=True)
    house.write_text(fault)
    for words, shown in before.items():
        done = table(*words)
        assert done.out == shown
        assert "rpgres: shown without what is faulty" in done.err
        assert "rulesets/fate/ruleset.toml:1" in done.err
    assert table("show", "--view", "mara.json").out == viewed
    assert "rulesets/fate/ruleset.toml:1" in table(*ACT, code=1).err


@pytest.mark.slow
def test_a_table_of_a_ruleset_that_is_gone_is_shown(folder: Path) -> None:
    assert rpgres("ruleset", "new", "sparks", "--like", "success-levels").code == 0
    sheet = next((folder / "rulesets" / "sparks" / "sheets").iterdir()).stem
    table("new", "sparks", "--sheet", sheet)
    (folder / "rulesets" / "sparks" / "ruleset.toml").write_text("standalone = true\nx=[[[\n")
    done = table("show")
    assert sheet in done.out
    assert "sparks/ruleset.toml:2" in done.err


def test_lines_to_type_name_the_table_that_was_named() -> None:
    begun("--table", "a b.db")
    done = table(*ACT, "--given", "roll=----", "--table", "a b.db", code=3)
    line = "rpgres table answer --table 'a b.db' --choose"
    assert f"Answer it with: {line} invoke=...\n" in done.out
    done = table(*ACT, "--table", "a b.db", code=2)
    assert f"`{line} invoke=...`" in done.err
    assert "`rpgres table undo --table 'a b.db' 1`" in done.err
    told = json.loads(table(*ACT, "--table", "a b.db", "--json", code=2).err)
    assert "`rpgres table undo --table 'a b.db' 1`" in told["message"]
    assert "`rpgres table new --table q.db ID`" in table("show", "--table", "q.db", code=1).err
    table("undo", "--table", "a b.db", "1")


def test_an_empty_file_becomes_a_table(folder: Path) -> None:
    (folder / "empty.db").touch()
    place = ("--table", "empty.db")
    told = "empty.db: this file is empty; `rpgres table new --table empty.db ID --sheet FILE` makes a table of it\n"
    assert table("show", *place, code=1).err.endswith(told)
    table("new", "fate", "--sheet", "mara", *place)
    assert "Mara Quill" in table("show", *place).out
    assert "a table already exists" in table("new", "fate", "--sheet", "mara", *place, code=1).err


def test_a_view_is_of_one_seat_or_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    begun()
    assert "--as and --all exclude" in table("view", "--as", "mara", "--all", "--out", "v", code=2).err
    monkeypatch.setenv("RPGRES_SEAT", "mara")
    assert "v/gm.view.json" in table("view", "--all", "--out", "v").out


def test_a_table_where_nobody_sits() -> None:
    assert "at it: nobody yet" in table("new", "--ruleset", "fate").out
    assert (
        "this table has no characters yet; `rpgres table join"
        in table("act", "overcome", "--skill=1", "--vs=1", code=2).err
    )
    table("join", "--sheet", "mara")
    table("act", "overcome", "--skill=1", "--vs=1", *WIN)


def test_a_decision_that_is_never_optional_is_told() -> None:
    begun()
    assert "'price' is not an optional decision" in table("pass", "price", "--as", "mara").err
    for label in ("invoke", "cost"):
        assert table("pass", label, "--as", "mara").err == ""


def test_help_needs_no_table() -> None:
    assert "verify" in table("--help").out
    assert "ACTION" in table("act", "--help").out
    begun()
    assert "Get past an obstacle" in table("act", "--help").out
    text = table("act", "create-advantage", "--help").out
    assert "--actor NAME" in text
    assert "--sheet" not in text
    assert "Example: rpgres table act create-advantage" in text


def test_every_ruleset_that_ships_can_be_played() -> None:
    for ruleset, sheet, line in (
        ("coppermane", "tamsin", ["overcome", "--attribute", "dexterity", "--vs", "2", "--auto"]),
        ("saga", "ilse", ["act", "--ability", "strength", "--vs", "average", "--auto"]),
        ("percentile-levels", None, None),
    ):
        where = ["--table", f"{ruleset}.db"]
        table("new", "--ruleset", ruleset, *(["--sheet", sheet] if sheet else []), "--seed", "7", *where)
        if line is not None:
            done = table("act", *line, *where, "--policy", "uniform")
            assert done.out
        table("reveal", *where)
        assert table("verify", *where).out.startswith("in order")


def test_the_table_has_a_paragraph_of_its_own() -> None:
    begun()
    table("set", "counters.fate-points=2")
    table("set", "tags.Smoke=aspect")
    table("set", "tracks.alarm=4")
    table("pass", "--as", "gm")
    shown = table("show", "--plain").out
    assert shown.endswith(
        """
On the table
  Smoke (aspect)
  Fate points of the game master 2
  Alarm: 0 of 4
  the game master skips every optional decision until: action
"""
    )
    assert shown.count("On the table") == 1


def test_a_player_sees_what_the_hero_is_good_at() -> None:
    table("new", "--ruleset", "saga", "--sheet", "ilse", "--sheet", "brannagh")
    shown = table("show", "--plain", "--as", "ilse").out
    assert "  Intellect 12, Willpower 9, Agility 7, Strength 3" in shown


# ---------------------------------------------------------------------------------------------------------------------
# JSON


@pytest.mark.slow
def test_json_of_every_command() -> None:
    begun()
    assert said("table", "show")["seats"] == ["gm", "mara", "edda"]
    assert said("result", *ACT, *WIN)["entry"] == 1
    pending = said("pending", *ACT, "--given", "roll=----", code=3)
    assert (pending["question"]["optional"], pending["seed"], pending["entry"]) == (True, None, 2)
    assert said("table", "show", "--as", "mara")["pending"]["question"]["label"] == "invoke"
    pending = said("pending", "pass", "invoke", "--as", "mara", code=3)
    assert pending["question"]["label"] == "price"
    said("result", "answer", "--choose", "price=fail")
    said("result", "begin")
    said("result", "end")
    said("entry", "set", "things.doom=1")
    said("entry", "note", "x", "--to", "mara")
    said("entry", "pass", "--as", "edda")
    said("entry", "join", "--sheet", "venn")
    assert said("entry", "undo", "--as", "gm")["entry"]["before"] == 11
    log = said("log", "log", "--as", "edda")
    assert [entry["kind"] for entry in log["entries"]][:5] == ["new", "act", "act", "pass", "answer"]
    assert said("log", "log", "--last", "2")["entries"][-1]["kind"] == "undo"
    assert said("verify", "verify", code=20)["verdict"] == "incomplete"
    said("entry", "reveal")
    assert said("verify", "verify")["exit"] == 0
    error = json.loads(table("undo", "--json", code=2).err)
    assert error["format"] == "rpgres.error/1"


def test_new_prints_a_commitment_that_holds() -> None:
    from hashlib import sha256

    commitment = said("entry", "new", "--ruleset", "fate", "--sheet", "mara", "--seed", "a seed")["entry"]["commitment"]
    told = said("entry", "reveal")["entry"]
    assert told["seed"] == "a seed"
    assert sha256(bytes.fromhex(told["salt"]) + told["seed"].encode()).hexdigest() == commitment


# ---------------------------------------------------------------------------------------------------------------------
# Files that go to and fro


def test_a_player_elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun()
    table(*ACT, "--given", "roll=0000", code=3)
    table("view", "--as", "mara", "--out", "mara.json")
    view = json.loads((folder / "mara.json").read_text("utf-8"))
    assert list(validator("view").iter_errors(view)) == []
    assert "already exists" in table("view", "--as", "mara", "--out", "mara.json", code=1).err
    table("view", "--as", "mara", "--out", "mara.json", "--force")
    away = folder / "away"
    away.mkdir()
    (folder / "mara.json").rename(away / "mara.json")
    os.rename(folder / ".rpgres", folder / "not-here")  # the player has nothing but the view
    for typed, told in (
        ("invoke=wanted-in-three-port", "did you mean 'wanted-in-three-ports'"),
        ("invoce=no", "'invoke' is asked, not 'invoce'"),
    ):
        done = table("answer", "--view", "away/mara.json", "--choose", typed, "--out", "away/answer.json", code=2)
        assert told in done.err
    table("answer", "--view", "away/mara.json", "--choose", "invoke=no", "--out", "away/answer.json")
    answer = json.loads((away / "answer.json").read_text("utf-8"))
    assert list(validator("answer").iter_errors(answer)) == []
    os.rename(folder / "not-here", folder / ".rpgres")
    table("answer", "--from", "away/answer.json", "--accept", code=3)
    assert "already answered" in table("answer", "--from", "away/answer.json", "--accept", code=2).err
    by_hand = {"format": "rpgres.answer/1", "seat": "mara", "choose": {"cost": "no"}}
    (away / "answer.json").write_text(json.dumps(by_hand), "utf-8")
    assert "another seat is asked" in table("answer", "--from", "away/answer.json", "--accept", code=2).err
    (away / "answer.json").write_text(json.dumps({**by_hand, "seat": "gm"}), "utf-8")
    assert (
        "is an answer of gm, not of mara" in table("answer", "--from", "away/answer.json", "--as", "mara", code=2).err
    )
    assert "gm (not authenticated)" in table("answer", "--from", "away/answer.json", "--accept", code=2).err
    table("answer", "--from", "away/answer.json", "--as", "gm")
    (away / "answer.json").write_text("{}", "utf-8")
    assert "not a valid answer file" in table("answer", "--from", "away/answer.json", "--accept", code=1).err


def test_a_view_can_be_read_by_people(folder: Path) -> None:
    begun()
    table("note", "They lie.", "--as", "gm", "--to", "mara")
    table(*ACT, "--given", "roll=0000", code=3)
    table("view", "--as", "mara", "--out", "mara.json")
    at_the_table = [table(line, "--as", "mara", *more).out for line, more in (("show", ()), ("log", ("--last", "2")))]
    at_the_table += [table(line, "--as", "mara", "--json").out for line in ("show", "log")]
    assert "is a view of mara, not of edda" in table("show", "--view", "mara.json", "--as", "edda", code=2).err
    assert "exclude each other" in table("log", "--view", "mara.json", "--table", ".", code=2).err
    os.rename(folder / ".rpgres", folder / "not-here")
    shown = table("show", "--view", "mara.json").out
    seen = [shown.replace("answer --view mara.json", "answer"), table("log", "--view", "mara.json", "--last", "2").out]
    seen += [table(line, "--view", "mara.json", "--json").out for line in ("show", "log")]
    assert seen == at_the_table
    assert "They lie." in seen[1]
    for _ in range(2):
        table("answer", "--view", "mara.json", "--choose", "invoke=no", "--out", "answer.json", "--force")
    assert (
        "already exists"
        in table("answer", "--view", "mara.json", "--choose", "invoke=no", "--out", "answer.json", code=1).err
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not valid JSON"),
        ("\n", "it is empty"),  # as a command that failed leaves it
        ("[]", "not a valid answer file; one has"),
        ('{"format": "rpgres.view/1"}', "and this is rpgres.view/1"),
        ('{"format": "rpgres.answer/1", "seat": 3, "choose": {}}', "answer.json: seat: expected text, found"),
        ('{"format": "rpgres.answer/1", "seat": "mara", "choose": {"a": 3}}', "answer.json: choose.a: expected"),
        ('{"format": "rpgres.answer/1", "seat": "mara", "choose": ["a"]}', "answer.json: choose: expected a table"),
        ('{"format": "rpgres.answer/1", "seat": null, "choose": {}}', "answer.json: seat: expected text"),
        ('{"format": "rpgres.answer/1", "seat": "mara"}', "choose"),
        ('{"format": "rpgres.answer/1", "seat": "mara", "chose": {}}', "chose"),
    ],
)
def test_an_answer_by_hand_is_told_in_plain_words(folder: Path, text: str, told: str) -> None:
    begun()
    (folder / "answer.json").write_text(text, "utf-8")
    done = table("answer", "--from", "answer.json", code=1)
    assert told in done.err
    assert "answer.json" in done.err
    assert "`" not in done.err or "schema" in done.err or "key" in done.err


def test_the_chain_of_a_view_can_be_worked_out(folder: Path) -> None:
    from hashlib import sha256

    begun()
    table(*ACT, *WIN)
    table("view", "--as", "edda", "--out", "view.json")
    before = bytes(32)
    for link in json.loads((folder / "view.json").read_text("utf-8"))["chain"]:
        number = link["number"].to_bytes(8, "big")
        before = sha256(before + number + bytes.fromhex(link["commitment"]) + link["public"].encode()).digest()
        assert before.hex() == link["hash"]


def test_sheets_as_they_are_now(folder: Path) -> None:
    begun()
    for line in (
        "characters.mara.counters.fate-points=1",
        "characters.mara.abilities.fight=2",
        "characters.mara.tracks.physical.2=x",
        "tags.i-know-a-back-way.name=I Knew a Back Way",
        "tags.Soaked=aspect",
        "tags.soaked.on=mara",
        "tags.soaked.uses.edda=1",
        "tags.Dizzy=boost",
        "tags.dizzy.on=mara",
    ):
        table("set", line)
    table("export", "--out", "now")
    sheet = folder / "now" / "sheets" / "mara.toml"
    data = tomllib.loads(sheet.read_text("utf-8"))
    assert (data["fate-points"], data["skills"]["fight"], data["stress"]) == (1, 2, {"physical": ["2"]})
    assert data["aspects"]["high-concept"] == "Smuggler with a Conscience"
    assert set(data["aspects"].values()) >= {"I Knew a Back Way", "Soaked"}
    assert sheet.read_text("utf-8").endswith("# Soaked: 1 free for edda\n# boost: Dizzy\n")
    assert rpgres("sheet", "check", str(sheet)).code == 0
    before = sheet.read_text("utf-8")
    assert "nothing was written" in table("export", "--out", "now", code=1).err
    table("export", "--out", "now", "--force")
    assert sheet.read_text("utf-8") == before


def test_a_number_past_what_a_sheet_takes_is_not_lost(folder: Path) -> None:
    from rpgres.journal import store
    from rpgres.journal.records import Draft, Public, Secret
    from rpgres.model.state import put

    begun()

    def gain(history: Any) -> list[Draft]:  # what rules do to a counter knows no bounds
        state = put(history.state, ("characters", "mara", "counters", "fate-points"), 150)
        return [Draft(Public(kind="note", at=""), Secret(text="x"), state)]

    store.write(folder / ".rpgres" / "table.db", gain, salt=lambda: b"s" * 32)
    done = table("export", "--out", "now")
    sheet = folder / "now" / "sheets" / "mara.toml"
    assert "fate-points: expected a whole number that is at least 0 and at most 99, found 150" in done.err
    assert done.err.startswith(f"rpgres: {Path('now') / 'sheets' / 'mara.toml'}:")
    text = sheet.read_text("utf-8")
    assert "# Values at the table that a sheet of the ruleset cannot have:\n#   fate-points: " in text
    assert tomllib.loads(text)["fate-points"] == 150
    edda = rpgres("sheet", "check", str(folder / "now" / "sheets" / "edda.toml"))
    assert (edda.code, "edda" in done.err) == (0, False)


@pytest.mark.parametrize(
    ("ruleset", "sheets"),
    [
        ("fate", "mara edda guards venn"),
        ("coppermane", "tamsin orrin warden jackals"),
        ("saga", "ilse brannagh toll-warden"),
    ],
)
def test_a_sheet_that_nobody_changed_comes_back_as_it_was(folder: Path, ruleset: str, sheets: str) -> None:
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules
    from rpgres.rulesets.sheets import read_sheet

    names = sheets.split()
    table("new", "--ruleset", ruleset, *[word for name in names for word in ("--sheet", name)])
    table("export", "--out", "now")
    rules = load_rules(find_ruleset(ruleset))
    for name in names:
        old, new = read_sheet(rules, name), read_sheet(rules, str(folder / "now" / "sheets" / f"{name}.toml"))
        assert new.character == old.character
        assert set(new.tags) == set(old.tags)


def test_the_account_for_a_seat(folder: Path) -> None:
    begun()
    table("begin")
    table(*ACT, *WIN, "--note", "quietly")
    table("note", "The *bell* rings.", "--as", "gm")
    table("note", "They lie.", "--as", "gm", "--to", "edda")
    table("set", "things.doom=1")
    table("undo")
    table("export", "--out", "all")
    table("export", "--out", "hers", "--as", "mara")
    text = (folder / "all" / "account.md").read_text("utf-8")
    assert "\n# The gate\n" in text
    assert "\n## 1\\. Scene 1\n\n**The scene begins.**\n" in text
    assert "\n> quietly\n\n**Mara Quill tries to overcome what is in the way with burglary, against 2.**" in text
    assert "\n**Succeed with style**: " in text
    assert "> the game master: The \\*bell\\* rings.\n" in text
    assert "doom" not in text
    hers = (folder / "hers" / "account.md").read_text("utf-8")
    assert "They lie." in text
    assert "They lie." not in hers


# ---------------------------------------------------------------------------------------------------------------------
# Play


@pytest.mark.slow
def test_an_evening_in_a_pipe() -> None:
    begun()
    lines = [
        "# before we begin",
        "help",
        "begin",
        "mara: overcome --skill burglary --vs 2 --given roll=0000",
        "wanted-in-three-ports",
        "",
        "",
        "note They're in; nobody saw",
        "undo 99",
        "mara: overcom",
        'note "open',
        "show",
        "quit",
        "note never",
    ]
    done = rpgres("play", stdin="\n".join(lines) + "\n")
    assert done.code == 0
    assert done.out.startswith("The gate: mara, edda. Type an action,")
    assert "\n  overcome  discover  create-advantage" in done.out
    assert "The scene begins" in done.out
    assert "mara, margin +0: Invoke an aspect?" in done.out
    assert "They're in; nobody saw" in done.out
    assert done.err.count("rpgres: ") == 3
    assert "did you mean 'overcome'" in done.err
    log = table("log").out
    assert "never" not in log
    assert log.count("\n") > 4
    assert said("log", "log")["entries"][-1]["text"] == "They're in; nobody saw"


def test_the_end_of_the_input_leaves_a_decision_open() -> None:
    begun()
    done = rpgres("play", stdin="mara: overcome --skill 1 --vs 2 --given roll=0000\n")
    assert done.code == 0
    assert said("table", "show")["pending"]["question"]["label"] == "invoke"
    done = rpgres("play", "--as", "gm", stdin="quit\n")
    assert "A decision is pending: another seat answers it" in done.out
    done = rpgres("play", "--as", "mara", stdin="1\nanswer\nno\nfail\nquit\n")
    assert "A decision is pending: `show` displays it, `answer` answers it" in done.out
    assert "a question is open to you: `answer` puts it, then type 1" in done.err
    assert "Fail" in done.out
    assert said("table", "show")["pending"] is None


def test_a_seat_at_play_answers_for_itself_alone() -> None:
    begun()
    done = rpgres(
        "play", "--as", "mara", stdin="overcome --skill 1 --vs 1 --given roll=0000\nno\nlog\nset counters.x=1\n"
    )
    assert "waiting (the game master)" in done.out
    assert "claimed: skill 1, vs 1" in done.out
    assert "only the game master can change" in done.err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_an_interrupt_before_any_dice_writes_nothing(folder: Path) -> None:
    from tests.support.terminal import Terminal

    begun()
    terminal = Terminal(["table", *ACT, "--real-dice"])
    terminal.until("? ")
    code, text = terminal.interrupt()
    assert code == 130
    assert "Nothing was written.\n" in text
    assert [entry["kind"] for entry in said("log", "log")["entries"]] == ["new"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_an_interrupt_is_no_free_look(folder: Path) -> None:
    """Dice that were shown are in the journal, whether a person leaves with Ctrl-D or with Ctrl-C."""
    from tests.support.terminal import INTERRUPT, Terminal

    begun()
    terminal = Terminal(["play"], TERM="dumb")
    terminal.until("> ")
    terminal.type("mara: overcome --skill burglary --vs 2\n")
    terminal.until("reroll\n> ")
    terminal.until_idle()  # it reads a line
    terminal.type(INTERRUPT)
    assert "left open (invoke: mara)" in terminal.until("> ")
    terminal.type("note still here\n")
    terminal.until("\n> ")
    code, _ = terminal.interrupt()
    assert code == 130
    assert [entry["kind"] for entry in said("log", "log")["entries"]] == ["new", "act", "note"]
    table("undo", "1")
    terminal = Terminal(["table", *ACT])
    terminal.until("reroll\n> ")
    code, _ = terminal.interrupt()
    assert code == 3
    assert [entry["kind"] for entry in said("log", "log")["entries"]] == ["new", "act", "note", "undo", "act"]


def test_help_is_of_the_ruleset_of_the_table_that_is_named(tmp_path: Path) -> None:
    kept = str(tmp_path / "elsewhere.db")
    table("new", "--table", kept, "--ruleset", "nodice", "--sheet", "orsa")
    done = rpgres("play", "--table", kept, "--as", "orsa", stdin="help declare\ndeclare --help\nhelp show\nquit\n")
    assert done.err == ""
    assert done.out.count("Usage: rpgres table act declare") == 1  # `help ACTION` is short
    assert "Short: orsa declare" in done.out
    assert "show: the table as it is now" in done.out
    for line in (["--table", kept, "--help"], ["--help", "--table", kept], [f"--table={kept}", "--help"]):
        assert "declare" in table("act", *line).out
    assert "name an action: observe, declare" in table("act", "--table", kept, code=2).err


def test_a_result_names_the_opponent_as_an_account_does() -> None:
    table("new", "fate", "--seed", "7", "--sheet", "mara", "--sheet", "thug")
    attack = ("act", "mara", "attack", "thug", "--skill", "4", "--given", "roll=0000", "--given", "opposition=----")
    for text in (table(*attack, "--auto").out, table("log").out, table("log", "--as", "mara").out):
        assert "shifts for thug: " in text
        assert "the opponent" not in text


def test_seats_that_are_asked_together_are_counted(folder: Path) -> None:
    shipped = Path(__file__).parents[2] / "rulesets/nodice/sheets/orsa.toml"
    (folder / "kim.toml").write_text(shipped.read_text(encoding="utf-8"), encoding="utf-8")
    table("new", "nodice", "--sheet", "bram", "--sheet", "orsa", "--sheet", "kim.toml")
    table("act", "declare", "--actor", "bram", code=3)
    assert "waiting (declare: bram, 2 other seats)" in table("log", "--as", "bram").out
    assert "waiting (declare: bram, declare: orsa, declare: kim)" in table("log").out


def test_a_policy_at_a_table_is_a_name() -> None:
    table("new", "fate", "--sheet", "mara")
    for command in (("act", "overcome"), ("begin",)):
        told = " ".join(table(*command, "--help").out.split())
        assert "--policy [CHARACTER=]NAME Let this policy decide for everybody, or for one character." in told


def test_status_is_a_line_of_who_has_what_and_what_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert rpgres("table", "new", "fate", "--sheet", "mara").code == 0
    assert rpgres("table", "status").out == "mara: 3 fate points; nothing waits\n"
    assert (
        json.loads(rpgres("table", "status", "--as", "mara", "--json").out)["text"]
        == "mara: 3 fate points; nothing waits"
    )
