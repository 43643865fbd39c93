"""Lines of bots and language models, which are read without a command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import rpgres


@pytest.fixture
def table(tmp_path: Path) -> rpgres.PersistentTable:
    return rpgres.new_table(tmp_path, "fate", sheets=["mara", "thug"], seed=1)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("overcome burglary 3 --bogus 1", "did you mean '--bonus'?"),
        ("overcome burglary 3 --sheet secret.toml", "--sheet"),
        ("overcome --vs 1 --skill", "overcome: --skill needs a value"),
        ("overcome --skill 1 --skill 2 --vs 1", "--skill is given twice, and takes one value"),
        ("overcome --skill 1 --vs 1 --auto=yes", "overcome: --auto takes no value"),
        ("overcome --skill 1 --vs 1 --as gm", "a line takes no --as here; seat and table are fixed"),
        ("overcome --skill 1 --vs 1 --json", "a line takes no --json here"),
    ],
)
def test_options_that_a_line_cannot_have_are_refused(table: rpgres.PersistentTable, line: str, told: str) -> None:
    with pytest.raises(rpgres.UsageError) as error:
        table.do(f"mara {line}")
    assert told in error.value.message
    assert len(table.log().entries) == 1


def test_options_of_a_line_are_read_as_commands_read_them(table: rpgres.PersistentTable) -> None:
    line = "mara overcome --skill=2 --vs 1 --vs 1 --given roll=++00 --auto --note 'by night'"
    done = table.do(line)
    assert (done.inputs, done.note) == ({"skill": "2", "vs": ["1", "1"]}, "by night")
    assert done.events[0].faces == "++00"


def test_odds_take_no_dice(table: rpgres.PersistentTable) -> None:
    with pytest.raises(rpgres.UsageError, match="a line takes no --given here"):
        table.do("odds mara overcome --skill 1 --vs 1 --given roll=++++")
    assert table.do("odds mara overcome 1 vs 1 --choose price=cost").inputs == {"skill": "1", "vs": ["1"]}


def test_help_writes_what_play_brings_forth_as_a_value(table: rpgres.PersistentTable) -> None:
    assert "one of NAME, NAME:reroll" in table.do("help overcome").text


@pytest.mark.slow
def test_a_line_needs_no_command_line(tmp_path: Path) -> None:
    code = (
        "import sys, rpgres; t = rpgres.new_table('t', 'fate', sheets=['mara'], seed=1);"
        "t.do('overcome burglary vs 3 --given roll=----'); t.do('?'); t.do('why'); t.do('no'); t.do('help');"
        "t.export('out'); rpgres.text_of(t.show());"
        "print([name for name in sys.modules if name.startswith(('rpgres.cli', 'typer'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize(
    ("ruleset", "sheets", "told"),
    [
        ("fate", ["mara"], {"set": "set mara.fate-points=3", "odds": "odds mara overcome deceive vs good"}),
        ("saga", ["ilse"], {"set": "set ilse.edge=4", "join": "join brannagh", "pass": "pass push --until exchange"}),
        (
            "faith",
            ["bero"],
            {"odds": "odds bero confront hacking link", "end": "end rounds", "begin": "begin round|scene"},
        ),
        ("solo-oracle", [], {"odds": "odds ask", "join": "join wren", "set": "set PATH=VALUE"}),
    ],
)
def test_examples_are_of_the_table(tmp_path: Path, ruleset: str, sheets: list[str], told: dict[str, str]) -> None:
    table = rpgres.new_table(tmp_path, ruleset, sheets=sheets, seed=1)
    assert {name: table.do(f"help {name}").text.strip().split(": ")[-1] for name in told} == told
    with pytest.raises(rpgres.UsageError, match="reads: set "):
        table.do("set")


@pytest.mark.parametrize(
    "text",
    [
        "Mara Quill: the hired thug, \"late\", isn't here - or is he? Hired thug's bag.",
        "hired thug... (Mara Quill!)",
        "\N{LEFT DOUBLE QUOTATION MARK}Hired thug\N{RIGHT DOUBLE QUOTATION MARK} \N{EM DASH} Mara Quill,fight",
        '"I know a back way" -- said Mara Quill, at "night"',
    ],
)
def test_names_in_a_text_leave_it_as_it_was_typed(table: rpgres.PersistentTable, text: str) -> None:
    assert table.do(f"note {text}").entry.text == text
    quoted = text.replace('"', '""')
    assert table.do(f'mara overcome 1 1 --auto --note "{quoted}"').note == text
