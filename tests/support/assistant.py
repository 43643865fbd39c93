"""A game master's assistant, as the guide shows it: a scripted client calls tools, and what it is told is kept."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

WIDTH = 112  # columns


class Step(NamedTuple):
    """What is done next.

    Attributes:
        said: what the person asks of the assistant; empty for nothing.
        tool: what the assistant calls; empty where somebody else acts at the table.
        arguments: those of the tool, or the command line of somebody else.
        shown: of a long answer, how many of the last lines are written down.
    """

    said: str
    tool: str
    arguments: dict[str, Any]
    shown: int = 0


TABLE = ["fate", "--sheet", "mara", "--sheet", "guards", "--title", "The gate", "--seed", "7", "--dice", "real"]
SCRIPT = [
    Step("We begin. How likely is it that Mara gets past a great lock?", "act", {"line": "begin scene"}),
    Step("", "odds", {"line": "mara overcome burglary great"}),
    Step(
        "She tries. Her player rolled minus, blank, plus, plus.",
        *("act", {"line": "mara overcome burglary great", "given": ["roll=-0++"]}),
    ),
    Step("", "", {"line": "answer --as mara --choose invoke=i-know-a-back-way"}),
    Step("Her player has answered. What now?", "show", {}, 9),
    Step("I pay nothing against her.", "answer", {"choice": "no"}),
    Step("", "", {"line": "answer --as mara --choose invoke=no"}),
    Step("And?", "log", {"last": 1}),
    Step("How do the guards count as a mob?", "rule", {"name": "mobs"}),
    Step("The rain stops. Write that down.", "act", {"line": "note The rain stops."}),
]


def transcript() -> str:
    """Return the transcript of the script, as a block of Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        return f"\n```text\n{asyncio.run(_played(Path(folder) / 'gate.db'))}```\n\n"


async def _played(path: Path) -> str:
    from mcp import Client

    from rpgres.cli.mcp.server import make_server
    from rpgres.lines.seat import Seat
    from tests.support.command_line import rpgres

    at = ["--table", str(path)]
    assert rpgres("table", "new", *TABLE, *at).code == 0
    told: list[str] = []
    async with Client(make_server(Seat(path, "gm"))) as client:
        for step in SCRIPT:
            told += [f"GM: {step.said}"] if step.said else []
            if not step.tool:
                ran = rpgres("table", *step.arguments["line"].split(), *at)
                assert ran.code in (0, 3), ran.err
                told.append(f"  (elsewhere: rpgres table {step.arguments['line']})")
                continue
            told.append(f"  {step.tool} {json.dumps(step.arguments)}")
            result = await client.call_tool(step.tool, step.arguments)
            text = "\n".join(str(getattr(block, "text", "")) for block in result.content)
            lines = [line for line in text.splitlines() if line.strip()][-step.shown :]
            told += [part for line in lines for part in wrap(f"    {line}", WIDTH, subsequent_indent=" " * 6)]
    return "\n".join(told) + "\n"


SECTIONS = {"assistant": transcript}
