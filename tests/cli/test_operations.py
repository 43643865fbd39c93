"""`rpgres batch` with `op`: every command without a terminal, by the same keys, with the record of `--json`."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.core
from jsonschema_rs import Draft202012Validator

from rpgres.cli.lazy import LazyGroup
from rpgres.cli.requests.keys import UNASKED
from rpgres.cli.requests.operations import APART, RESOLVE, SHORT, keys_of, operations
from rpgres.cli.requests.schemas import ANSWERS, batch_schema
from rpgres.cli.root import COMMANDS, load_command
from rpgres.formats.schemas import KINDS, make_schema
from rpgres.journal.connections import MOST, Keeper
from rpgres.journal.store import HELD
from tests.support.command_line import rpgres

FOUR = """\
{"id":1,"op":"table.new","table":"bot.db","ruleset":"fate","sheets":["mara"],"seed":"7"}
{"id":2,"op":"table.act","table":"bot.db","action":"overcome","with":{"skill":"burglary","vs":3},"given":{"roll":"-0+-"}}
{"id":3,"op":"table.show","table":"bot.db","as":"mara"}
{"id":4,"op":"odds","ruleset":"fate","action":"overcome","with":{"skill":3,"vs":2}}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(*requests: dict[str, Any] | str) -> list[dict[str, Any]]:
    """Return the answers to requests; what is not refused is as the schemas say, and so is its answer."""
    lines = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in requests).split("\n")
    lines = [line for line in lines if line]
    done = rpgres("batch", stdin="\n".join(lines))
    assert (done.code, done.err) == (0, ""), done.err
    answers = [json.loads(line) for line in done.out.split("\n") if line]
    for request, answer in zip(map(json.loads, lines), answers, strict=True):
        if answer.get("format") != "rpgres.error/1":
            assert not list(of_operation(SHORT.get(request["op"], request["op"])).iter_errors(request))
        added = ("request", "notices", *(["id"] if "id" in request else []))
        record = {key: value for key, value in answer.items() if key not in added}
        assert any(of_kind(kind).is_valid(record) for kind in answered(request)), answer
    return answers


def answered(request: dict[str, Any]) -> list[str]:
    name = SHORT.get(request.get("op", ""), request.get("op", ""))
    return [*ANSWERS.get(name, ()), "text", "answers", "error"] if isinstance(name, str) else ["error"]


@cache
def of_kind(kind: str) -> Draft202012Validator:
    return Draft202012Validator(make_schema(kind))


@cache
def of_operation(name: str) -> Draft202012Validator:
    schema = batch_schema()
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


def printed(*line: str) -> Any:
    return json.loads(rpgres(*line, "--json").out)


@pytest.mark.slow
def test_a_table_and_odds_in_one_process() -> None:
    new, act, show, odds = told(FOUR)
    assert [one["id"] for one in (new, act, show, odds)] == [1, 2, 3, 4]
    assert (new["format"], new["entry"]["kind"]) == ("rpgres.entry/1", "new")
    assert (act["format"], act["actor"], act["answers"][0]["value"]) == ("rpgres.pending/1", "mara", "-0+-")
    assert act["request"] == {"op": "table.answer", "table": "bot.db", "choose": {"invoke": []}}
    assert (show["seat"], show["pending"]["question"]["label"]) == ("mara", "invoke")
    assert show["request"]["as"] == "mara"
    del odds["id"]
    shown = printed("odds", "fate", "overcome", "--skill=3", "--vs=2")
    assert odds.pop("inputs") == {"skill": 3, "vs": 2}
    assert shown.pop("inputs") == {"skill": "3", "vs": ["2"]}
    assert odds == shown
    assert printed("table", "show", "--table=bot.db", "--as=mara") == {
        key: value for key, value in show.items() if key not in ("id", "request")
    }


def test_the_request_of_a_decision_goes_on_with_it() -> None:
    request = told(FOUR)[1]["request"]
    request["choose"]["invoke"] = "no"
    (answer,) = told(request | {"id": "x"})
    assert (answer["id"], answer["format"]) == ("x", "rpgres.pending/1")
    (question,) = answer["request"]["choose"]
    (answer,) = told(answer["request"] | {"choose": {question: ["fail"]}})
    assert (answer["format"], answer["outcome"]) == ("rpgres.result/1", "fail")


# ---------------------------------------------------------------------------------------------------------------------
# None is forgotten


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command as the help lists it, found in another way than operations are."""
    for name in COMMANDS:
        command = load_command(name)
        inner = {} if isinstance(command, LazyGroup) else getattr(command, "commands", {})
        yield from ((f"{name}.{one}", inner[one]) for one in inner)
        if not inner:
            yield name, command


def test_every_command_is_an_operation_or_says_why_not() -> None:
    names = [name for name, _ in commands()]
    assert len(names) > 50
    assert [one.name for one in operations()] == [name for name in names if name not in APART]
    for name, reason in APART.items():
        assert name in names
        (answer,) = told({"op": name})
        assert reason in answer["message"]
    assert set(SHORT.values()) <= set(names)
    assert not set(SHORT) & set(names)


def test_every_option_is_a_key() -> None:
    """What can be typed can be requested, but for what only a reader at a terminal wants."""
    for operation in operations():
        keys = {name for key in keys_of(operation) for name in (key.name, *key.names)}
        if isinstance(operation.command, LazyGroup):
            verb = operation.command.verb
            typed = {one.name for one in (*verb.options, *verb.dice_options, *verb.procedure_options)}
        else:
            options = [one for one in operation.command.params if isinstance(one, typer.core.TyperOption)]
            typed = {one.opts[0].removeprefix("--").replace("-", "_") for one in options if not one.hidden}
            assert len(keys_of(operation)) >= len(typed - UNASKED), operation.name
        assert typed - UNASKED <= keys, operation.name
        assert all(key.help for key in keys_of(operation)), operation.name


@pytest.mark.slow
def test_the_schema_has_every_operation() -> None:
    assert set(ANSWERS) <= {RESOLVE, *(one.name for one in operations())}
    assert {kind for kinds in ANSWERS.values() for kind in kinds} <= set(KINDS)
    done = rpgres("schema", "batch", "fate")
    schema = json.loads(done.out)
    check = Draft202012Validator(schema)
    for line in FOUR.splitlines():
        assert check.is_valid(json.loads(line)), line
    good = {"ruleset": "fate", "action": "overcome", "with": {"skill": 3, "vs": 2}}
    assert check.is_valid(good)
    assert check.is_valid(good | {"op": "resolve"})
    assert not check.is_valid(good | {"op": "odds", "action": "overcom"})
    assert not check.is_valid({"op": "table.act", "table": "x"})
    assert not check.is_valid({"op": "table.show", "tabel": "x"})
    assert not check.is_valid({"op": "table.shwo"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({"op": "ruleset.list"}, ["ruleset", "list"]),
        ({"op": "ruleset", "ruleset": "fate", "action": "overcome"}, ["ruleset", "show", "fate", "overcome"]),
        ({"op": "sheet", "file": "mara"}, ["sheet", "show", "mara"]),
        ({"op": "sheet.check", "files": ["mara", "nobody"]}, ["sheet", "check", "mara", "nobody"]),
        ({"op": "ruleset.check", "ruleset": ["two-dice"]}, ["ruleset", "check", "two-dice"]),
        ({"op": "deck", "deck": "standard"}, ["deck", "show", "standard"]),
        (
            {"op": "deck.draw", "deck": "standard", "number": 2, "seed": 7, "without": ["Jk", "Jk"]},
            ["deck", "draw", "standard", "2", "--seed=7", "--without=Jk", "--without=Jk"],
        ),
        ({"op": "scene", "file": "fate/bribe", "seed": "7"}, ["scene", "run", "fate/bribe", "--seed=7"]),
        ({"op": "scene.check", "file": "fate/bribe"}, ["scene", "check", "fate/bribe"]),
        ({"op": "odds", "notation": "4d6kh3", "vs": 12}, ["odds", "4d6kh3", "--vs=12"]),
        ({"op": "odds", "scene": "fate/bribe"}, ["odds", "fate/bribe"]),
        ({"op": "roll", "notation": "d20", "seed": 1}, ["roll", "d20", "--seed=1"]),
        (
            {"op": "simulate", "ruleset": "fate", "action": "overcome", "with": {"skill": "3", "vs": ["2"]}}
            | {"runs": 50, "seed": 3, "auto": True, "workers": 1},
            ["simulate", "fate", "overcome", "--skill=3", "--vs=2", "--runs=50", "--seed=3", "--auto", "--workers=1"],
        ),
        (
            {"op": "odds", "ruleset": "fate", "action": "overcome", "with": {"skill": "0..2", "vs": ["2"]}},
            ["odds", "fate", "overcome", "--skill=0..2", "--vs=2"],
        ),
        ({"op": "schema", "kind": "seal"}, ["schema", "seal"]),
        ({"op": "plugin.list"}, ["plugin", "list"]),
        ({"op": "config.show"}, ["config", "show"]),
    ],
)
def test_an_operation_is_the_command_with_json(request_: dict[str, Any], line: list[str]) -> None:
    (answer,) = told({"id": 1, **request_})
    assert answer.pop("id") == 1
    (answer,) = answer["answers"] if answer.get("format") == "rpgres.answers/1" else [answer]
    shown = rpgres(*line, *([] if line[0] == "schema" else ["--json"]))
    assert json.loads(shown.out or shown.err) == (answer["schema"] if line[0] == "schema" else answer)


@pytest.mark.parametrize("choose", ["invoke=no", {"invoke": "no"}, {"invoke": ["no"]}, ["invoke=no"]])
def test_what_is_sealed_is_written_as_answers_are_elsewhere(choose: Any) -> None:
    act = {"op": "table.act", "action": "overcome", "actor": "mara", "with": {"skill": 0, "vs": 3}}
    new, waits, seal = told(
        {"op": "table.new", "ruleset": "fate", "sheets": "mara"},
        act,
        {"op": "table.seal", "as": "mara", "choose": choose},
    )
    assert (new["format"], waits["format"]) == ("rpgres.entry/1", "rpgres.pending/1")
    assert (seal["format"], seal["entry"]["kind"]) == ("rpgres.entry/1", "seal")


def test_one_answer_is_sealed_at_a_time() -> None:
    (refused,) = told({"op": "table.seal", "as": "mara", "choose": {"invoke": "no", "price": "cost"}})
    assert refused["message"].startswith("`choose` takes one LABEL=OPTION, not ")


def test_a_command_without_json_answers_with_its_text() -> None:
    new, export = told(
        {"op": "table.new", "table": "t.db", "ruleset": "fate", "sheets": "mara"}, {"op": "table.export"}
    )
    assert new["format"] == "rpgres.entry/1"
    assert (export["format"], export["details"]["path"], export["details"]["reason"]) == (
        "rpgres.error/1",
        ["out"],
        "missing",
    )
    (answer,) = told({"op": "table.export", "table": "t.db", "out": "evening"})
    assert (answer["format"], answer["exit"]) == ("rpgres.text/1", 0)
    assert answer["text"] == rpgres("table", "export", "--table=t.db", "--out=evening", "--force").out
    (answer,) = told({"op": "roll", "notation": "d6", "repeat": 3, "seed": 1})
    assert (answer["format"], len(answer["answers"])) == ("rpgres.answers/1", 3)


@pytest.mark.parametrize(
    ("request_", "path", "said"),
    [
        ({"op": "table.ac"}, ["op"], "did you mean 'table.act'?"),
        ({"op": "odd"}, ["op"], "did you mean 'odds'?"),
        ({"op": 3}, ["op"], "not 3"),
        ({"op": "table.show", "tabel": "x"}, ["tabel"], "did you mean 'table'?"),
        ({"op": "odds", "rulset": "fate"}, ["rulset"], "did you mean 'ruleset'?"),
        ({"op": "odds"}, ["ruleset"], "`ruleset`, or notation or scene in its place"),
        ({"op": "odds", "ruleset": "fate", "action": "overcom"}, ["action"], "did you mean 'overcome'?"),
        ({"op": "odds", "ruleset": "fate", "action": "overcome", "with": 3}, ["with"], "with is an object"),
        (
            {"op": "odds", "ruleset": "fate", "action": "overcome", "with": {"skil": 3, "vs": 1}},
            ["with", "skil"],
            "did you mean",
        ),
        (
            {"op": "odds", "ruleset": "fate", "action": "overcome", "auto": "yes"},
            ["auto"],
            "`auto` takes true or false",
        ),
        ({"op": "odds", "scene": "fate/gate", "best": True}, ["best"], "of an action it is true, of a scene"),
        (
            {"op": "odds", "ruleset": "fate", "action": "overcome", "with": {"skill": 3, "vs": 1}, "best": "mara"},
            ["best"],
            "of an action it is true, of a scene",
        ),
        ({"op": "table.undo", "number": "x"}, ["number"], "takes a whole number"),
        ({"op": "table.log", "last": 0}, ["last"], "0 is not in the range"),
        ({"op": "table.note", "text": ["a"]}, ["text"], "`text` takes a text"),
        ({"op": "sheet.show", "file": "-"}, ["file"], "standard input has the requests"),
        ({"op": "table.new", "ruleset": "fate", "sheets": ["../mara"]}, ["sheets"], "without a path"),
        ({"op": "table.new", "switch": [], "switches": []}, ["switches"], "given twice"),
        ({"op": "scene.check", "files": []}, ["files"], "a text or a list of texts"),
        ({"op": "table.undo", "number": [1]}, ["number"], "takes a whole number"),
        ({"op": "ruleset.import", "file": {"a": 1}}, ["file"], "`file` takes a text"),
        ({"op": "ruleset.test", "ruleset": "two-dice", "vectors": [1]}, ["vectors"], "`vectors` takes a text"),
        ({"op": "odds", "scene": "fate/gate", "auto": True, "out": "a\0b"}, ["out"], "without null characters"),
        ({"op": "odds", "scene": "fate/gate", "json": True}, ["json"], "has no key 'json'"),
        ({"op": "simulate", "sheet": "mara"}, ["sheet"], "inputs of an action, and its sheet, belong under `with`"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(request_: dict[str, Any], path: list[str], said: str) -> None:
    (answer,) = told({"id": "e", **request_})
    assert (answer["id"], answer["format"], answer["code"], answer["exit"]) == ("e", "rpgres.error/1", "usage", 2)
    assert said in answer["message"]
    assert answer["details"]["path"] == path


def test_an_op_that_is_no_text_stops_no_batch() -> None:
    done = rpgres("batch", stdin='{"op": ["x"], "id": 1}\n{"op": "config.path", "id": 2}\n')
    wrong, right = map(json.loads, done.out.splitlines())
    assert (done.code, wrong["id"], wrong["details"]["path"], right["id"]) == (0, 1, ["op"], 2)


def test_scene_run_plays_procedures() -> None:
    inputs = {"skill": 3, "vs": 2, "victories": 1, "exchanges": 1}
    (played,) = told({"op": "scene.run", "file": "fate/contest", "with": inputs, "auto": True, "seed": "1"})
    typed = [word for name, value in inputs.items() for word in (f"--{name}", str(value))]
    ran = json.loads(rpgres("scene", "run", "fate/contest", *typed, "--auto", "--seed", "1", "--json").out)
    assert [played["steps"][0][key] for key in ("outcome", "events")] == [
        ran["steps"][0][key] for key in ("outcome", "events")
    ]


@pytest.mark.parametrize("operation", ["odds", "table.odds"])
def test_no_key_in_the_schema_is_refused_as_unknown(operation: str) -> None:
    assert not {"json", "plain"} & set(batch_schema()["$defs"][operation]["properties"])


@pytest.mark.parametrize("operation", ["odds", "table.odds"])
def test_the_schema_says_what_best_takes_of_an_action_and_of_a_scene(operation: str) -> None:
    best = batch_schema()["$defs"][operation]["properties"]["best"]
    assert [way["type"] for way in best["anyOf"]] == ["boolean", ["string", "number"]]
    assert best["description"].startswith("Of an action: Let the actor decide")


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"op": "simulate", "scene": "fate/bribe", "runs": "x"}, "`runs` takes a whole number from 1 on, not 'x'"),
        ({"op": "whatif", "run": 5}, "5: no such file"),
        ({"op": "table.show", "table": "none.db"}, """`{"op": "table.new", "ruleset": "ID"}` creates one"""),
    ],
)
def test_messages_name_keys_and_no_options(request_: dict[str, Any], said: str) -> None:
    (answer,) = told(request_)
    assert said in answer["message"]
    assert "--" not in answer["message"]


def test_inputs_name_no_sheet_in_another_folder() -> None:
    Path("inner").mkdir()
    Path("inner/mara.toml").write_text("secret = 1", "utf-8")
    asked = {"op": "odds", "ruleset": "fate", "action": "overcome", "with": {"sheet": "inner/mara.toml", "skill": 1}}
    (answer,) = told(asked)
    assert "without a path" in answer["message"]
    Path("broken.toml").write_text("secret = 1", "utf-8")
    asked["with"] |= {"sheet": "broken.toml"}  # type: ignore[operator]
    (answer,) = told(asked)
    assert answer["code"] == "file"
    assert "secret" not in json.dumps(answer)


@pytest.mark.slow
def test_folders_of_house_rules_count_for_operations() -> None:
    (answer,) = told({"op": "ruleset", "ruleset": "fate", "rulesets": ["nowhere"]})
    assert "there is no such folder" in answer["message"]
    Path("house/fate").mkdir(parents=True)
    Path("house/fate/ruleset.toml").write_text('title = "Fate of ours"\n', "utf-8")
    (answer,) = told({"op": "ruleset", "ruleset": "fate", "rulesets": "house"})
    assert answer["title"] == "Fate of ours"
    done = rpgres("batch", "--rulesets", "house", stdin='{"op": "ruleset", "ruleset": "fate"}')
    assert json.loads(done.out)["title"] == "Fate of ours"


# ---------------------------------------------------------------------------------------------------------------------
# Tables stay open


def batch() -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "rpgres", "batch"]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(process: subprocess.Popen[str], **request: Any) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


@pytest.mark.slow
def test_what_another_process_writes_is_seen_at_once() -> None:
    """By both: a batch that keeps the table open hinders nobody, and misses nothing."""
    told(FOUR)
    note = ["table", "note", "--table=bot.db"]
    with batch() as process:
        for number in range(1, 4):
            assert rpgres(*note, f"note {2 * number}").code == 0
            shown = ask(process, op="table.log", table="bot.db", last=1)
            assert shown["entries"][0]["text"] == f"note {2 * number}"
            own = ask(process, op="table.note", table="bot.db", text=f"note {2 * number + 1}")
            assert own["entry"]["number"] == 2 * number + 1
            assert printed("table", "show", "--table=bot.db")["entries"] == 2 * number + 2
        shutil.copy("bot.db", "copy.db")
        rpgres(*note, "not in the copy")
        os.replace("copy.db", "bot.db")  # another file under the same name
        assert ask(process, op="table.show", table="bot.db")["entries"] == 8
        assert ask(process, op="table.note", table="bot.db", text="on the copy")["entry"]["number"] == 8
        Path("bot.db").unlink()
        assert ask(process, op="table.show", table="bot.db")["code"] == "table"
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0


def test_many_tables_take_turns() -> None:
    tables = [f"{number}.db" for number in range(MOST + 3)]
    new = [{"op": "table.new", "table": one, "ruleset": "fate", "sheets": ["mara"]} for one in tables]
    notes = [{"op": "table.note", "table": one, "text": f"{turn}"} for turn in range(2) for one in tables]
    answers = told(*new, *notes)
    assert [one["entry"]["number"] for one in answers] == [0] * len(tables) + [1] * len(tables) + [2] * len(tables)


def test_more_entries_than_are_held_are_all_there() -> None:
    notes = [{"op": "table.note", "table": "bot.db", "text": f"{number}"} for number in range(HELD + 10)]
    *_, log = told(FOUR, *notes, {"op": "table.log", "table": "bot.db"})
    assert [one["number"] for one in log["entries"]] == list(range(HELD + 12))


@pytest.mark.slow
def test_what_a_request_leaves_open_is_as_if_it_had_never_been() -> None:
    """A request that is refused in the middle of a transaction writes nothing, and locks nothing."""
    told(FOUR)
    with batch() as process:
        bad = ask(process, op="table.set", table="bot.db", assignment="characters.mara.counters.fate-points=many")
        assert bad["format"] == "rpgres.error/1"
        assert rpgres("table", "note", "x", "--table=bot.db").code == 0
        assert ask(process, op="table.show", table="bot.db")["entries"] == 3


def test_actions_in_a_row_are_told_once_they_are_on_the_disk() -> None:
    """They are written together; what is refused among them is not, and the rest is."""
    act = {"op": "table.act", "table": "bot.db", "action": "overcome", "with": {"skill": "burglary", "vs": 1}}
    act |= {"given": {"roll": "00-+"}, "choose": {"invoke": "no"}}
    new = {"op": "table.new", "table": "bot.db", "ruleset": "fate", "sheets": ["mara"]}
    wrong = [{**act, "with": {"skill": "x"}}, {"op": "table.undo", "table": "bot.db", "number": 99}]
    undo, redo = {"op": "table.undo", "table": "bot.db"}, {"op": "table.redo", "table": "bot.db"}
    answers = told(new, *[act] * 5, *wrong, act, undo, redo, act, {"op": "table.show", "table": "bot.db"}, act)
    assert [one["format"].split("/")[0].removeprefix("rpgres.") for one in answers] == (
        ["entry", *["result"] * 5, "error", "error", "result", "entry", "entry", "result", "table", "result"]
    )
    assert [one["entry"] for one in answers if one["format"] == "rpgres.result/1"] == [1, 2, 3, 4, 5, 6, 9, 10]
    assert answers[-2]["entries"] == 10
    assert printed("table", "verify", "--table=bot.db")["entries"] == 11


def test_what_was_not_told_never_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that refuses the write of several actions refuses all of them, and each answer says so."""
    told(FOUR)
    notes = [{"id": number, "op": "table.note", "table": "bot.db", "text": "x"} for number in range(3)]

    def refuse(self: Any) -> None:
        self._together[1].execute("ROLLBACK")
        self._together = None
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(Keeper, "settle", refuse)
        found = told(*notes, {"op": "deck.list"})
    assert [(one.get("id"), one["format"]) for one in found] == [
        *((number, "rpgres.error/1") for number in range(3)),
        (None, "rpgres.decks/1"),
    ]
    assert printed("table", "show", "--table=bot.db")["entries"] == 2
    assert [one["entry"]["number"] for one in told(*notes)] == [2, 3, 4]


@pytest.mark.slow
@pytest.mark.durable
@pytest.mark.skipif(sys.platform == "win32", reason="a process that is killed there is told")
def test_a_batch_that_is_killed_has_written_what_it_told() -> None:
    told({"op": "table.new", "table": "bot.db", "ruleset": "fate", "sheets": ["mara"]})
    note = json.dumps({"op": "table.note", "table": "bot.db", "text": "x"}) + "\n"
    with batch() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(note * 400)
        process.stdin.flush()
        last = [json.loads(process.stdout.readline()) for _ in range(100)][-1]
        process.kill()
    assert last["entry"]["number"] == 100
    assert printed("table", "show", "--table=bot.db")["entries"] > 100
    assert rpgres("table", "verify", "--table=bot.db").code == 20  # whole; the seed is secret


def test_what_if_takes_what_was_answered() -> None:
    (before,) = told(
        {
            "id": 1,
            "op": "resolve",
            "ruleset": "fate",
            "action": "overcome",
            "with": {"skill": 1, "vs": 2},
            "seed": "7",
            "auto": True,
        }
    )
    (scene,) = told({"id": 2, "op": "scene.run", "file": "fate/gate"})
    of_action, of_scene, wrong = told(
        {"id": 3, "op": "whatif", "run": before, "given": {"roll": "++++"}},
        {"id": 4, "op": "whatif", "run": scene, "given": {"bribe.roll": "++++"}},
        {"id": 5, "op": "whatif", "run": {"a": 1}, "given": {"roll": "++++"}},
    )
    assert of_action["after"][0]["outcome"] == "style"
    assert [of_scene[when][0]["outcome"] for when in ("before", "after")] == ["fail", "succeed"]
    assert (wrong["code"], wrong["details"]["path"]) == ("usage", ["run"])
    schema = batch_schema()["$defs"]["whatif"]
    Draft202012Validator(schema).validate({"op": "whatif", "run": before})


def test_lines_of_the_library_are_no_operation_and_none_that_undoes_is_suggested() -> None:
    ran = rpgres("batch", stdin='{"op": "table.do", "table": "t.db", "line": "show"}\n')
    assert "typed lines are read by `do` of the library" in ran.out
    assert "undo" not in ran.out
