"""A seat for a language model: the tools over the SDK's own client, in memory and as a process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from jsonschema_rs import Draft202012Validator

from rpgres.cli.root import COMMANDS, load_command
from rpgres.journal import commands as sitting
from rpgres.journal import store
from rpgres.journal.commands import Place
from rpgres.journal.odds import table_odds
from rpgres.lines.seat import Seat
from rpgres.version import __version__
from tests.journal.test_views import Secrets
from tests.support.checkout import ROOT
from tests.support.command_line import PROGRAM, rpgres

if TYPE_CHECKING:  # it takes most of a second, of every process that collects tests
    from mcp_types import CallToolResult, ElicitRequestFormParams, ElicitResult, Tool

Call = tuple[str, dict[str, Any]]
Fill = Callable[["ElicitRequestFormParams"], "ElicitResult"]
FAILED = {"given": ["roll=----"]}  # an overcome of mara's against 3 that asks what it costs


@cache
def tools() -> dict[str, Tool]:
    from rpgres.cli.mcp.server import declared

    return {one.name: one for one in declared()}


@cache
def valid(name: str) -> Draft202012Validator:
    return Draft202012Validator(tools()[name].output_schema or {})


def begun(path: Path, *, trust: str = "players", dice: str = "real") -> Place:
    place = Place(path)
    sitting.begin_table(place, ruleset="fate", sheets=["mara", "edda"], seed="7", trust=trust, dice=dice)
    for seat in ("gm", "mara", "edda"):
        sitting.let_pass(place, seat=seat, until="always")
    return place


def called(
    path: Path, calls: Sequence[Call], *, seat: str = "mara", mode: str = "auto", fill: Fill | None = None
) -> list[CallToolResult]:
    """Return what a server of a seat answers to one client; each result is one of its tool's schema."""
    from mcp import Client, ClientSession

    from rpgres.cli.mcp.server import make_server

    async def filled(_context: Any, params: Any) -> ElicitResult:
        assert fill is not None
        return fill(params)

    async def play() -> list[CallToolResult]:
        server = make_server(Seat(path, seat))
        async with Client(server, mode=mode, elicitation_callback=filled if fill else None) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    # The client would compile every schema again; clients of a process (`process`) do.
    with patch.object(ClientSession, "validate_tool_result"):
        found = asyncio.run(play())
    for (name, _), one in zip(calls, found, strict=True):
        if not one.is_error:
            valid(name).validate(one.structured_content)
    return found


def data(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, said(result)
    found: dict[str, Any] = result.structured_content
    return found


def said(result: CallToolResult) -> str:
    (block,) = result.content
    return str(getattr(block, "text", ""))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_action_waits_for_its_seat_and_goes_on_with_the_answer(tmp_path: Path, mode: str) -> None:
    begun(tmp_path / "t.db")
    acted, shown, answered, after = map(
        data,
        called(
            tmp_path / "t.db",
            [
                ("act", {"line": "overcome burglary 3", **FAILED}),
                ("show", {}),
                ("answer", {"choice": "fail"}),
                ("show", {}),
            ],
            mode=mode,
        ),
    )
    assert (acted["status"], acted["question"]["yours"], acted["question"]["label"]) == ("pending", True, "price")
    assert [one["name"] for one in acted["question"]["options"]] == ["fail", "cost"]
    assert shown["question"] == acted["question"]
    assert (answered["status"], answered["outcome"], answered["margin"]) == ("done", "fail", -5)
    assert after["question"] is None
    assert after["entries"] == shown["entries"] + 1


@pytest.mark.slow
def test_a_line_and_flat_arguments_do_the_same(tmp_path: Path) -> None:
    ways: list[dict[str, Any]] = [
        {"line": "mara overcome burglary 3 bonus 1"},
        {"line": "overcome --skill burglary --vs 3 --bonus 1"},
        {"action": "overcome", "actor": "mara", "inputs": ["skill=burglary", "vs=3", "bonus=1"]},
    ]
    met = []
    for number, way in enumerate(ways):
        begun(tmp_path / f"{number}.db")
        (found,) = called(tmp_path / f"{number}.db", [("act", {**way, "given": ["roll=++++"]})])
        met.append({key: value for key, value in data(found).items() if key != "hash"})
    assert met[0] == met[1] == met[2]
    assert met[0]["total"] == 7
    assert store.read(tmp_path / "2.db").head.secret.inputs == {"skill": "burglary", "vs": ["3"], "bonus": "1"}


def asking(*answers: str | None, met: list[ElicitRequestFormParams]) -> Fill:
    """Return a person at a client who fills in forms in turn; None turns one down."""
    from mcp_types import ElicitResult

    left = list(answers)

    def fill(params: ElicitRequestFormParams) -> ElicitResult:
        met.append(params)
        answer = left.pop(0)
        return (
            ElicitResult(action="decline")
            if answer is None
            else ElicitResult(action="accept", content={"choice": answer})
        )

    return fill


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_decision_is_put_to_the_person_by_a_form(tmp_path: Path, mode: str) -> None:
    begun(tmp_path / "t.db")
    met: list[ElicitRequestFormParams] = []
    act: Call = ("act", {"line": "overcome burglary 3", **FAILED})
    calls: list[Call] = [act, ("answer", {}), ("answer", {}), ("answer", {})]
    fill = asking(None, "nonsense", "fail", met=met)
    acted, declined, refused, answered = called(tmp_path / "t.db", calls, mode=mode, fill=fill)
    assert data(acted)["status"] == "pending"
    assert declined.is_error
    assert "no answer (decline)" in said(declined)
    assert refused.is_error
    assert "nonsense" in said(refused)
    assert data(answered)["outcome"] == "fail"
    assert len(met) == 3
    assert met[0].requested_schema["properties"]["choice"]["enum"] == ["fail", "cost"]
    assert "- cost: You get it, and it costs you dearly." in met[0].message


@pytest.mark.slow
def test_without_a_form_a_missing_choice_tells_the_options(tmp_path: Path) -> None:
    begun(tmp_path / "t.db")
    calls: list[Call] = [("act", {"line": "overcome burglary 3", **FAILED}), ("answer", {})]
    _, refused = called(tmp_path / "t.db", calls)
    assert refused.is_error
    assert said(refused) == "say `choice`: fail or cost; or `auto`"


def test_a_form_that_is_filled_in_too_late_answers_nothing_else(tmp_path: Path) -> None:
    """The action was undone, and another waits for the same question: the form was not about that one."""
    from mcp_types import ElicitResult

    place = begun(tmp_path / "t.db")

    def fill(_params: ElicitRequestFormParams) -> ElicitResult:
        sitting.undo(place, seat="mara")
        sitting.act(place, "overcome", {"skill": "1", "vs": ["4"]}, actor="mara", seat="mara", given={"roll": ["----"]})
        return ElicitResult(action="accept", content={"choice": "fail"})

    calls: list[Call] = [("act", {"line": "overcome burglary 3", **FAILED}), ("answer", {})]
    for mode in ("auto", "legacy"):
        _, late = called(tmp_path / "t.db", calls, mode=mode, fill=fill)
        assert late.is_error
        assert "no longer pending" in said(late)
        sitting.undo(place, seat="mara")


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("act", {}, "say either `line`, such as 'mara overcome deceive vs good', or `action`"),
    ("act", {"line": "overcome burglry 3"}, "did you mean 'burglary'?"),
    ("act", {"line": "overcome burglary"}, "`vs`"),
    ("act", {"line": "overcome burglary 3 --bogus 1"}, "did you mean '--bonus'?"),
    ("act", {"line": "overcome burglary 3 -x"}, "overcome has no option '-x'"),
    ("act", {"line": "overcome burglary -- --bogus"}, "unknown word '--bogus'"),
    ("act", {"line": "overcom burglary 3"}, "'overcome'"),
    ("act", {"line": "overcome fight 3 edda"}, "'edda' could be --target edda, --helper edda"),
    ("act", {"line": "overcome burglary 3", "actor": "mara"}, "begins with who acts"),
    ("act", {"line": 'overcome "burglary 3'}, "missing closing quote"),
    ("act", {"line": "show"}, "use the tool `show`"),
    ("act", {"line": "begin scene"}, "only the game master"),
    ("act", {"line": "set counters.doom=2"}, "only the game master"),
    ("act", {"line": "join edda"}, "'join'"),
    ("act", {"line": "overcome --help"}, "the tool `actions` describes overcome"),
    ("act", {"action": "overcome", "inputs": ["burglary"]}, "`inputs` takes NAME=VALUE, not 'burglary'"),
    ("act", {"action": "overcome", "inputs": ["harms=maybe"]}, "takes yes or no"),
    ("act", {"action": "sing"}, "it has: overcome"),
    ("act", {"line": "overcome burglary 3", "given": ["roll"]}, "takes NAME=VALUE"),
    ("act", {"line": 3}, "line: Expected `str`, got `int`; it takes: line, action"),
    ("act", {"line": "x", "seat": "gm"}, "unknown field `seat`"),
    ("act", {"line": "edda overcome crafts 3"}, "edda does not belong to the seat mara"),
    ("answer", {"choice": "no"}, "no decision is pending"),
    ("undo", {"entry": 1}, "mara"),
    ("undo", {"entry": 0}, "entry"),
    ("undo", {"redo": True}, "nothing to redo"),
    ("log", {"last": 0}, "last"),
    ("odds", {"line": "overcome burglary 3", "by": "luck"}, "by"),
    ("rule", {"name": "overcom"}, "did you mean 'overcome'?"),
    ("rule", {}, "name"),
    ("shout", {}, "it has: show, actions, act"),
]


@pytest.mark.slow
def test_what_is_wrong_tells_what_to_try(tmp_path: Path) -> None:
    begun(tmp_path / "t.db")
    before = (tmp_path / "t.db").read_bytes()
    found = called(tmp_path / "t.db", [(name, arguments) for name, arguments, _ in REFUSED])
    for (name, arguments, told), one in zip(REFUSED, found, strict=True):
        assert one.is_error, (name, arguments)
        assert told in said(one), (name, arguments, said(one))
        assert "Traceback" not in said(one)
        assert "internal error" not in said(one)
    assert (tmp_path / "t.db").read_bytes() == before


@pytest.mark.parametrize(
    "option", ["--as gm", "--as=gm", "--table other.db", "--json", "--policy sensible", "--rulesets ."]
)
def test_no_line_changes_the_seat_or_the_table(tmp_path: Path, option: str) -> None:
    begun(tmp_path / "t.db")
    for tool in ("act", "odds"):
        (found,) = called(tmp_path / "t.db", [(tool, {"line": f"overcome burglary 3 {option}"})])
        assert found.is_error
        assert "a line takes no --" in said(found)


def test_the_tools_are_few_and_described_in_few_words() -> None:
    from rpgres.cli.mcp.tools import INSTRUCTIONS

    described = [one.model_dump(by_alias=True, exclude_none=True) for one in tools().values()]
    assert len(described) <= 8
    assert len(json.dumps(described) + INSTRUCTIONS) / 4 <= 5000
    for one in tools().values():
        Draft202012Validator(one.input_schema)  # refuses what is no schema
        Draft202012Validator(one.output_schema or {})
        assert "$ref" not in json.dumps([one.input_schema, one.output_schema])
        assert one.input_schema["type"] == (one.output_schema or {})["type"] == "object"
        flat = {"string", "integer", "boolean"}
        for name, field in one.input_schema["properties"].items():
            kinds = [
                field.get("type"),
                *(part.get("type") for part in field.get("anyOf", ())),
                field.get("items", {}).get("type"),
            ]
            assert flat | {"array", "null", None} >= {*kinds}, name
            assert field["description"], name


@pytest.mark.slow
def test_everything_else_that_a_seat_may_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rpgres.cli.mcp.calls.table_odds", partial(table_odds, leaves=500))
    path = tmp_path / "t.db"
    begun(path)
    calls: list[Call] = [
        ("act", {"line": "begin scene"}),
        ("act", {"line": 'note They say "wait", and don\'t.'}),
        ("act", {"line": "set characters.mara.counters.fate-points=2"}),
        ("act", {"line": "pass invoke until scene"}),
        ("act", {"line": "pass until scene"}),
        ("act", {"line": "mara overcome burglary 3", "given": ["roll=++++"], "note": "the vault"}),
        ("undo", {}),
        ("undo", {"redo": True}),
        ("log", {"last": 3}),
        ("act", {"line": "end"}),
        ("actions", {}),
        ("actions", {"action": "overcome"}),
        ("rule", {"name": "fail chooser"}),
        ("rule", {"name": "overcome"}),
        ("rule", {"name": "mobs"}),
        ("odds", {"line": "mara overcome burglary 3", "by": "margin"}),
        ("odds", {"action": "overcome", "actor": "mara", "inputs": ["skill=burglary", "vs=3"], "decide": "best"}),
    ]
    found = [data(one) for one in called(path, calls, seat="gm")]
    assert store.read(path).state.characters["mara"].counters["fate-points"] == 2
    acted, redone, log = found[5], found[7], found[8]
    assert (acted["outcome"], redone["outcome"], redone["total"]) == ("style", "style", 6)
    assert [(one["kind"], one["undone"]) for one in log["entries"]] == [("act", True), ("undo", False), ("act", False)]
    assert found[10]["characters"] == ["mara", "edda"]
    assert set(found[10]["also"]) == {"begin", "note", "pass", "set"}
    assert "--harms" in found[11]["text"]
    assert (found[12]["what"], found[12]["sources"][0]["where"]) == (["house rule"], "fate/SOURCES.md:40")
    assert found[13]["what"] == ["action"]
    assert found[14]["what"] == []
    assert "Fate Core, teamwork" not in found[14]["text"]
    assert any("Fate Core" in one["text"] for one in found[14]["sources"])
    assert found[15]["method"] == "exact"
    assert found[16]["choices"]


SHEETS = {
    ruleset: sorted(path.stem for path in (ROOT / "rulesets" / ruleset / "sheets").glob("*.toml"))[:2]
    for ruleset in sorted(path.name for path in (ROOT / "rulesets").iterdir() if (path / "sheets").is_dir())
}


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", SHEETS)
def test_every_ruleset_is_played_by_its_examples(tmp_path: Path, ruleset: str) -> None:
    """What `actions` gives as an example, `act` takes, or says what it needs."""
    path = tmp_path / "t.db"
    sitting.begin_table(Place(path), ruleset=ruleset, sheets=SHEETS[ruleset], seed="7", trust="players")
    (listed,) = called(path, [("actions", {})], seat="gm")
    names = list(data(listed)["actions"])
    lines = data(listed)["examples"]
    assert len(lines) == len(names)
    calls: list[Call] = [("actions", {"action": name}) for name in names]
    for line in lines:
        calls += [("act", {"line": line, "auto": True}), ("undo", {})]
    done = 0
    for (name, arguments), one in zip(calls, called(path, calls, seat="gm"), strict=True):
        assert "internal error" not in said(one), (name, arguments, said(one))
        assert name != "actions" or not one.is_error, said(one)
        done += name == "act" and not one.is_error
    assert done


def test_a_number_that_a_player_says_waits_for_the_game_master(tmp_path: Path) -> None:
    begun(tmp_path / "t.db", trust="gm")
    (asked,) = called(tmp_path / "t.db", [("act", {"line": "overcome burglary 3", "given": ["roll=++++"]})])
    assert (data(asked)["status"], data(asked)["question"]["yours"]) == ("pending", False)
    shown, confirmed = called(tmp_path / "t.db", [("show", {}), ("answer", {"choice": "confirm"})], seat="gm")
    assert data(shown)["question"]["label"] == "claim"
    assert data(confirmed)["outcome"] == "style"


def test_a_player_asks_the_game_master_to_undo_a_roll(tmp_path: Path) -> None:
    begun(tmp_path / "t.db", trust="gm")
    _, asked = called(tmp_path / "t.db", [("act", {"line": "overcome burglary edda:notice"}), ("undo", {})])
    assert "mara asks to undo entry 4. Allow it?" in said(asked)
    shown, allowed = called(tmp_path / "t.db", [("show", {}), ("answer", {"choice": "allow"})], seat="gm")
    assert data(shown)["question"]["label"] == "request"
    assert "allows it" in said(allowed)


# ---------------------------------------------------------------------------------------------------------------------
# What a seat may not know


def test_the_leak_would_be_seen(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    Secrets([("Smoke", "aspect", 1), ("Gap", "aspect", 0)], 1, "They lie.", "", "run").lay(place, "edda")
    told = {seat: said(called(tmp_path / "t.db", [("show", {})], seat=seat)[0]) for seat in ("mara", "edda", "gm")}
    assert ["Smoke" in told[seat] for seat in told] == [False, False, True]
    assert ["Gap" in told[seat] for seat in told] == [False, True, True]


# ---------------------------------------------------------------------------------------------------------------------
# As a process


def process(path: Path, calls: Sequence[Call], *, seat: str) -> list[CallToolResult]:
    """Return what `rpgres mcp` answers in a process of its own, which ends with its client."""
    from mcp import Client, StdioServerParameters

    command, *arguments = [*PROGRAM, "mcp", "--table", str(path), "--as", seat]
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))

    async def play() -> list[CallToolResult]:
        async with Client(server) as client:
            assert [one.name for one in (await client.list_tools()).tools] == list(tools())
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(play())


@pytest.mark.slow
def test_a_decision_of_another_seat_survives_a_restart_of_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    place = begun(path)
    asked, refused = process(path, [("act", {"line": "mara overcome burglary 3", **FAILED}), ("answer", {})], seat="gm")
    assert (data(asked)["status"], data(asked)["question"]["yours"]) == ("pending", False)
    assert data(asked)["question"]["label"] == ""
    assert said(refused) == "no decision of gm is pending; another seat is asked"
    shown, answered = process(path, [("show", {}), ("answer", {"choice": "fail"})], seat="mara")
    assert data(shown)["question"]["label"] == "price"
    assert data(shown)["hash"] == data(asked)["hash"]
    assert data(answered)["outcome"] == "fail"
    (after,) = process(path, [("log", {"last": 1})], seat="gm")
    assert "mara, overcome: Fail" in said(after)
    assert store.read(place.path).pending is None


def greeting(*requests: dict[str, Any]) -> str:
    """Return the lines of a client that begins a conversation, and asks further requests, numbered from 2 on."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    first = [{"id": 1, "method": "initialize", "params": about}, {"method": "notifications/initialized"}]
    more = [{"id": number, "method": "tools/call", "params": one} for number, one in enumerate(requests, 2)]
    return "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in (*first, *more))


@pytest.mark.slow
def test_every_request_of_a_file_is_answered(tmp_path: Path) -> None:
    begun(tmp_path / "t.db")
    asked = tmp_path / "asked.jsonl"
    half: dict[str, Any] = {"name": "act", "arguments": {"line": "note \ud800"}}
    asked.write_text(greeting(*[{"name": "show", "arguments": {}}] * 5, half), "utf-8")
    command = [*PROGRAM, "mcp", "--table", str(tmp_path / "t.db"), "--as", "mara"]
    with asked.open() as stdin:
        ran = subprocess.run(command, stdin=stdin, capture_output=True, check=True, timeout=60)
    answers = {one["id"]: one for one in map(json.loads, ran.stdout.splitlines())}
    assert sorted(answers) == [1, 2, 3, 4, 5, 6, 7]
    assert "lone surrogate" in answers[7]["error"]["message"]
    assert ran.stderr == b""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("act", {"line": "note \ud800"}),
        ("act", {"action": "overcome", "inputs": ["vs=\ud800"]}),
        ("act", {"\ud800": ""}),
        ("odds", {"line": "overcome \ud800"}),
        ("rule", {"name": "\ud800"}),
        ("log", {"last": "\ud800"}),
    ],
)
def test_half_of_a_character_is_refused(tmp_path: Path, tool: str, arguments: dict[str, Any]) -> None:
    begun(tmp_path / "t.db")
    (found,) = called(tmp_path / "t.db", [(tool, arguments)])
    assert found.is_error
    assert "internal" not in said(found)


@pytest.mark.slow
def test_nothing_but_the_protocol_is_printed(tmp_path: Path) -> None:
    """Code of a ruleset may print: that goes to standard error."""
    begun(tmp_path / "t.db")
    code = (
        "import rpgres.cli.mcp.tools as tools, sys, os\n"
        "call = tools.call\n"
        "def loud(*args):\n"
        "    print('loud'); sys.__stdout__.write('louder\\n'); os.write(1, b'loudest\\n')\n"
        "    return call(*args)\n"
        "tools.call = loud\n"
        "from rpgres.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "mcp", "--table", str(tmp_path / "t.db"), "--as", "mara"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        assert ran.stdin is not None
        assert ran.stdout is not None
        assert ran.stderr is not None
        ran.stdin.write(greeting({"name": "log", "arguments": {}}).encode())
        ran.stdin.flush()
        answers = [json.loads(ran.stdout.readline()) for _ in range(2)]
        ran.stdin.close()
        assert ran.stdout.read() == b""
        assert {b"loud", b"louder", b"loudest"} <= set(ran.stderr.read().split())
        assert ran.wait(10) == 0
    assert [one["id"] for one in answers] == [1, 2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_it_ends_when_it_is_interrupted_and_when_the_client_goes_away(tmp_path: Path) -> None:
    begun(tmp_path / "t.db")
    command = [*PROGRAM, "mcp", "--table", str(tmp_path / "t.db"), "--as", "mara"]
    for leave, code in ((lambda one: one.send_signal(signal.SIGINT), 130), (lambda one: one.stdin.close(), 0)):
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
            assert ran.stdin is not None
            assert ran.stdout is not None
            ran.stdin.write(b'no request\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            ran.stdin.flush()
            assert json.loads(ran.stdout.readline())["id"] == 1
            leave(ran)
            assert ran.wait(10) == code


def test_the_command_needs_a_seat_and_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(tmp_path / "t.db")
    table = ["--table", str(tmp_path / "t.db")]
    assert rpgres("mcp", *table).err == "rpgres: name the seat of the model: --as gm, or --as and a character's name\n"
    ran = rpgres("mcp", *table, "--as", "nobody")
    assert (ran.code, ran.out) == (2, "")
    assert "this table has no seat 'nobody'" in ran.err
    monkeypatch.delitem(sys.modules, "rpgres.cli.mcp.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    ran = rpgres("mcp", *table, "--as", "mara")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "rpgres: this needs the package mcp, version 2 or later: pip install 'rpgres[mcp]'\n"


# ---------------------------------------------------------------------------------------------------------------------
# The public registry

# What the registry's schema of 2025-12-11 demands, in our words. Stricter in one way: it lets pass what it does not
# know, and here no key is taken that it does not describe, so that a misspelt one is found.
TEXT, YES_OR_NO = {"type": "string"}, {"type": "boolean"}
ADDRESS = {"type": "string", "format": "uri", "pattern": r"^https?://\S+$"}
EXACT = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$"}


def listed(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def record(required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required.split(),
        "properties": properties,
        "additionalProperties": False,
    }


_INPUT: dict[str, Any] = {
    "choices": listed(TEXT),
    "default": TEXT,
    "description": TEXT,
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "isRequired": YES_OR_NO,
    "isSecret": YES_OR_NO,
    "placeholder": TEXT,
    "value": TEXT,
}
_VARIED = _INPUT | {"variables": {"type": "object", "additionalProperties": record("", **_INPUT)}}
_NAMED = record("type name", type={"const": "named"}, name=TEXT, isRepeated=YES_OR_NO, **_VARIED)
_PLACED = record("type", type={"const": "positional"}, valueHint=TEXT, isRepeated=YES_OR_NO, **_VARIED)
_ARGUMENTS = listed({"anyOf": [_NAMED, _PLACED | {"anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}]}]})
_PAIRS = listed(record("name", name=TEXT, **_VARIED))
_REMOTE = {"type": {"enum": ["streamable-http", "sse"]}, "url": ADDRESS, "headers": _PAIRS}
_PACKAGE = record(
    "registryType identifier transport version",  # an index needs the version, though the schema does not
    registryType=TEXT,
    registryBaseUrl=ADDRESS,
    identifier=TEXT,
    version=EXACT,
    fileSha256={"type": "string", "pattern": "^[a-f0-9]{64}$"},
    runtimeHint=TEXT,
    runtimeArguments=_ARGUMENTS,
    packageArguments=_ARGUMENTS,
    environmentVariables=_PAIRS,
    transport={"anyOf": [record("type", type={"const": "stdio"}), record("type url", **_REMOTE)]},
) | {"dependentRequired": {"runtimeArguments": ["runtimeHint"]}}
_SHOWN = {"type": "string", "minLength": 1, "maxLength": 100}
SERVER_SCHEMA = record(
    "name description version",
    name={"type": "string", "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
    title=_SHOWN,
    description=_SHOWN,
    version=EXACT,
    websiteUrl=ADDRESS,
    repository=record("url source", url=ADDRESS, source=TEXT, id=TEXT, subfolder=TEXT),
    icons=listed(
        record(
            "src",
            src=ADDRESS | {"maxLength": 255, "pattern": "^https://"},
            mimeType={"enum": ["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"]},
            sizes=listed({"type": "string", "pattern": r"^(\d+x\d+|any)$"}),
            theme={"enum": ["light", "dark"]},
        )
    ),
    packages=listed(_PACKAGE),
    remotes=listed(record("type url", **_REMOTE, variables={"type": "object"})),
    _meta={"type": "object"},
    **{"$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"}},
)


@pytest.mark.parametrize(
    "fault",
    [
        {"name": "rpgres"},
        {"description": "x" * 101},
        {"version": ">=0.1"},
        {
            "packages": [
                {"registryType": "pypi", "identifier": "rpgres", "version": "latest", "transport": {"type": "stdio"}}
            ]
        },
        {
            "packages": [
                {"registryType": "pypi", "identifier": "rpgres", "version": "1.0.0", "transport": {"type": "http"}}
            ]
        },
        {"package": []},
    ],
    ids=lambda fault: next(iter(fault)),
)
def test_what_the_registry_rejects_is_found(fault: dict[str, Any]) -> None:
    server = json.loads((ROOT / "rpgres" / "cli" / "mcp" / "server.json").read_text("utf-8"))
    assert not Draft202012Validator(SERVER_SCHEMA).is_valid(server | fault)


def test_the_registry_is_told_what_it_asks_for_and_how_the_server_starts() -> None:
    server = json.loads((ROOT / "rpgres" / "cli" / "mcp" / "server.json").read_text("utf-8"))
    Draft202012Validator(SERVER_SCHEMA).validate(server)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (package,) = server["packages"]
    assert "$schema" in server
    assert server["version"] == package["version"] == __version__
    assert package["identifier"] == project["name"]
    assert [one["value"] for one in package["runtimeArguments"]] == project["optional-dependencies"]["mcp"]
    takes = {name for param in load_command("mcp").params for name in param.opts}
    verb, *options = package["packageArguments"]
    assert verb["value"] in COMMANDS
    assert {one["name"] for one in options} <= takes
