"""Text from anywhere is harmless wherever it goes: on a terminal, in a pipe, in JSON, in help, in completions."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.render.lines import Piece, line, plain_text, styled
from rpgres.text.harmless import harmless, in_line, is_line, to_json
from tests.support.command_line import PROGRAM, rpgres

# C0, DEL, C1, bidirectional marks, overrides and isolates, separators, what nobody sees, half a pair.
HARMFUL = [
    *map(chr, (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    *"\u2028\u2029\u200b\u2060\ufeff\ufff9\U000e0041",
    "\ud800",
    "\udc9b",
]
KEPT = ["Mara", "père Noël", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "👩\u200d🚀", "1\u00a0000 €", "日本"]


@pytest.mark.parametrize("char", HARMFUL, ids=ascii)
def test_a_harmful_character_goes_nowhere(char: str) -> None:
    text = f"a{char}b\nc"
    assert harmless(text) == f"a{ascii(char)[1:-1]}b\nc"
    assert in_line(text) == "a b c"
    assert not is_line(f"a{char}b")
    encoded = to_json({text: [text]})
    assert char not in encoded.decode()
    read = text.replace(char, "\ufffd") if "\ud800" <= char <= "\udfff" else text
    assert json.loads(encoded) == msgspec.json.decode(encoded) == {read: [read]}
    assert plain_text([line(Piece(text))]) == "a b c\n"
    assert str(styled([line(Piece(text))])) == "a b c\n"


@pytest.mark.parametrize("text", KEPT)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert harmless(text) == in_line(text) == text
    assert json.loads(to_json(text)) == text
    assert text in to_json(text).decode()


@pytest.mark.slow
@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_json_means_the_same(text: str) -> None:
    encoded = to_json([text])
    assert json.loads(encoded) == [text]
    assert harmless(encoded.decode()) == encoded.decode()


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_harmless_in_the_end(text: str) -> None:
    assert harmless(harmless(text)) == harmless(text)
    assert is_line(in_line(text))
    assert harmless(in_line(text)) == in_line(text)
    msgspec.json.decode(to_json(text))


# ---------------------------------------------------------------------------------------------------------------------
# Wherever it goes

EVIL = "\\u001b[31m\\u009b2J\\u202e\\u2066\\u2028\\u007f"  # as TOML and JSON escape them
CHARS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def toml() -> str:
    """Return a ruleset whose every text has harmful characters."""
    return f"""
standalone = true
title = "T{EVIL}"
summary = "S{EVIL}"
version = "1"
credits = "C{EVIL}"

[bands]
lose = {{ title = "Lose{EVIL}", to = -1, success = false }}
win = {{ title = "Win{EVIL}", from = 0, success = true }}

[actions.toss]
summary = "Toss{EVIL}"
details = "Details{EVIL}"
example = "rpgres roll home toss --skill 2"
parameters = ["skill", "way"]
dice = "2d6"
numbers = {{ total = "roll + skill + (way = 'b')", margin = "total - 7" }}

[parameters.skill]
kind = "ability"
default = 2
help = "skill{EVIL}"

[parameters.way]
kind = "choice"
help = "way{EVIL}"
default = "a"
choices = {{ a = "A{EVIL}", b = "B{EVIL}" }}

[switches.house]
help = "house{EVIL}"
choices = {{ yes = "Yes{EVIL}", no = "No{EVIL}" }}
default = "no"
source = "us{EVIL}"

[sheet]
name = {{ kind = "text", help = "name{EVIL}", required = true }}
skills = {{ kind = "abilities", help = "skills{EVIL}", any-name = true }}
marks = {{ kind = "tags", help = "marks{EVIL}", tag = "mark" }}

[outcomes.toss.lose]
text = "Lost{EVIL}"
[outcomes.toss.lose.ask.price]
text = "Price{EVIL}?"
when = {{ house = "no" }}
who = "actor"
[outcomes.toss.lose.ask.price.options]
pay = {{ text = "Pay{EVIL}" }}
leave = {{ text = "Leave{EVIL}" }}

[outcomes.toss.win]
text = "Won{EVIL}"
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with a ruleset, sheets and files that are all out to harm."""
    folder = tmp_path / "rulesets" / "home"
    (folder / "sheets").mkdir(parents=True)
    (folder / "ruleset.toml").write_text(toml(), "utf-8")
    sheet = f'name = "Mara{EVIL}"\nskills = {{ "fight{EVIL}" = 2 }}\nmarks = ["Mark{EVIL}"]\n'
    (folder / "sheets" / "mara.toml").write_text(sheet, "utf-8")
    for name in ("\x1b[31mred.toml", "x\u202eevil.toml", "two\nlines.toml", "good.toml"):
        (tmp_path / name).write_text(sheet, "utf-8")
    if os.name == "posix" and sys.platform != "darwin":
        (tmp_path / os.fsdecode(b"bad\xff.toml")).write_text(sheet, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS: list[tuple[str, ...]] = [
    ("roll", "--help"),
    ("roll", "home", "--help"),
    ("roll", "home", "toss", "--help"),
    ("odds", "home", "toss", "--help"),
    ("roll", "home", "toss", "--sheet", "mara", "--seed", "1"),
    ("roll", "home", "toss", "--sheet", "mara", "--seed", "1", "--given", "roll=1,1"),
    ("roll", "home", "toss", "--sheet", "\x1b[31mred.toml", "--given", "roll=6,6", "--note", "n\x9b\u202e"),
    ("roll", "home", "toss", "--sheet", "no\x1b\u202e.toml"),
    ("roll", "home", "toss", "--skill", "x\x1b\x9b"),
    ("roll", "4d6\x9b\u202e"),
    ("roll", "home\u202e", "toss"),
    ("ruleset", "list"),
    ("ruleset", "show", "home"),
    ("ruleset", "show", "home", "toss"),
    ("ruleset", "check", "home"),
    ("sheet", "show", "mara", "--ruleset", "home"),
    ("sheet", "new", "home"),
    ("sheet", "check", "x\u202eevil.toml", "--ruleset", "home"),
    ("scene", "check", "x\u202eevil.toml"),
    ("schema", "sheet", "home"),
    ("schema", "scene", "home"),
    ("plugin", "list"),
    ("deck", "list"),
]


@pytest.mark.slow
@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: ascii(" ".join(args)))
def test_no_command_prints_what_harms(args: tuple[str, ...], here: Path) -> None:
    assert rpgres("ruleset", "check", "home").code == 0  # or every other command would tell its faults alone
    for more in ((), ("--json",)):
        done = rpgres(*args, *more)
        assert "internal error" not in done.err
        assert CHARS.search(done.out + done.err) is None, ascii(done.out + done.err)


@pytest.mark.slow
@pytest.mark.parametrize("args", [*COMMANDS[1:4], COMMANDS[9]], ids=lambda args: ascii(" ".join(args)))
def test_nor_where_the_terminal_knows_ascii_alone(args: tuple[str, ...], here: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "NO_COLOR": "1", "COLUMNS": "80"}
    done = subprocess.run([*PROGRAM, *args], capture_output=True, env=environment, check=False)
    assert CHARS.search((done.stdout + done.stderr).decode("utf-8")) is None


def test_batch_answers_harmlessly(here: Path) -> None:
    request = {"ruleset": "home", "action": "toss", "with": {"sheet": "mara"}, "note": "\x9b\u202e", "id": "\u2028\x7f"}
    done = rpgres("batch", stdin=json.dumps(request) + "\n" + json.dumps({**request, "action": "\x9b\u202e"}))
    assert CHARS.search(done.out) is None
    assert [json.loads(text)["id"] for text in done.out.split("\n") if text] == ["\u2028\x7f"] * 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
@pytest.mark.parametrize(
    "words",
    [
        ("roll", ""),
        ("roll", "home", ""),
        ("roll", "home", "toss", "--sheet", ""),
        ("roll", "home", "toss", "--way", ""),
        ("roll", "home", "toss", "--switch", ""),
        ("roll", "home", "toss", "--choose", ""),
        ("roll", "home", "toss", "--sheet", "mara", "--skill", ""),
        ("scene", "run", ""),
        ("sheet", "show", ""),
        ("ruleset", "show", ""),
    ],
    ids=" ".join,
)
def test_completions_offer_nothing_that_harms(shell: str, words: tuple[str, ...], here: Path) -> None:
    line = " ".join(("rpgres", *words))
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words)), "_TYPER_COMPLETE_ARGS": line}
    asked |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_WORD_TO_COMPLETE": words[-1]}
    done = rpgres(_RPGRES_COMPLETE=f"complete_{shell}", **asked)
    assert CHARS.search(done.out + done.err) is None, ascii(done.out)
    assert "lines.toml" not in done.out
    assert "red.toml" not in done.out
    if "--sheet" in words[-2:]:
        assert "good.toml" in done.out


@pytest.mark.slow
def test_a_terminal_gets_our_colours_and_nothing_else(here: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm-256color"}
    roll = ("roll", "home", "toss", "--sheet", "mara", "--auto")  # without a policy it may ask and wait
    for args in (("ruleset", "show", "home"), roll, ("roll", "--help")):
        shown = _on_a_terminal([*PROGRAM, *args], environment)
        ours = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")
        assert CHARS.search(ours) is None, ascii(ours)
    assert "\x1b[" in _on_a_terminal([*PROGRAM, "ruleset", "show", "home"], environment)


def _on_a_terminal(command: list[str], environment: dict[str, Any]) -> str:
    master, slave = pytest.importorskip("pty").openpty()
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        read = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            read += part
    os.close(master)
    assert process.returncode in (0, 3)
    return read.decode("utf-8")
