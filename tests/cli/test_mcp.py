"""A seat for a language model: the tools over the SDK's own client, in memory and as a process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp_types import CallToolResult, ElicitRequestFormParams, ElicitResult

from rpgres.cli.mcp.server import declared, make_server
from rpgres.cli.play.room import Room
from rpgres.journal import commands as sitting
from rpgres.journal import store
from rpgres.journal.commands import Place

Call = tuple[str, dict[str, Any]]
Fill = Callable[[ElicitRequestFormParams], ElicitResult]
FAILED = {"given": ["roll=----"]}  # an overcome of mara's against 3 that asks what it costs
SCHEMAS = {one.name: one for one in declared()}


def begun(path: Path, *, trust: str = "players") -> Place:
    place = Place(path)
    sitting.begin_table(place, ruleset="fate", sheets=["mara", "edda"], seed="7", trust=trust)
    for seat in ("gm", "mara", "edda"):
        sitting.let_pass(place, seat=seat, until="always")
    return place


def called(
    path: Path, calls: Sequence[Call], *, seat: str = "mara", mode: str = "auto", fill: Fill | None = None
) -> list[CallToolResult]:
    """Return what a server of a seat answers to one client; each result is one of its tool's schema."""

    async def filled(_context: Any, params: Any) -> ElicitResult:
        assert fill is not None
        return fill(params)

    async def play() -> list[CallToolResult]:
        server = make_server(Room(path, seat))
        async with Client(server, mode=mode, elicitation_callback=filled if fill else None) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    found = asyncio.run(play())
    for (name, _), one in zip(calls, found, strict=True):
        if not one.is_error:
            Draft202012Validator(SCHEMAS[name].output_schema or {}).validate(one.structured_content)
    return found


def data(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, said(result)
    found: dict[str, Any] = result.structured_content
    return found


def said(result: CallToolResult) -> str:
    (block,) = result.content
    return str(getattr(block, "text", ""))


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
