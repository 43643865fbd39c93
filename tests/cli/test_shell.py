"""Command lines quoted for each shell, which reads them as they were: paths, apostrophes, blanks."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.cli.shell import SHELL_ENV, Shell, join_line, shell_in_use
from tests.support.checkout import ROOT
from tests.support.command_line import rpgres

WORDS = [
    "plain",
    "two words",
    "O'Brien:fight",
    "C:\\my sheets\\mara.toml",
    "C:\\end\\",
    'say "no"',
    'say "x&calc" now',
    "50% off %PATH%",
    'a\\%b%"c\\"',
    "",
    "a,b",
    "-a.b",
    "$x",
    "é",
]
words = st.lists(
    st.one_of(st.sampled_from(WORDS), st.text("ab- .'\"\\=:,$&%^\u2018\u201bé", max_size=8)), min_size=1, max_size=5
)


@given(words)
def test_posix_splits_what_was_quoted(typed: list[str]) -> None:
    assert shlex.split(join_line(typed, shell="posix")) == typed


@pytest.mark.skipif(not shutil.which("sh"), reason="no sh")
def test_sh_itself_splits_what_was_quoted() -> None:
    show = [sys.executable, "-c", "import sys; print(ascii(sys.argv[1:]))"]
    ran = subprocess.run(["sh", "-c", join_line([*show, *WORDS], shell="posix")], capture_output=True, text=True)
    assert ran.stdout.strip() == ascii(WORDS)


SINGLE = "'\u2018\u2019\u201a\u201b"  # each of which begins and ends a literal of PowerShell; two within one are one
SPECIAL = set('$`"\u201c\u201d\u201e;,|&<>(){}@#%!?*[]^~')  # what means something in a bare word, or at its beginning


def powershell_split(line: str) -> list[str]:
    """Split a line by the rules of PowerShell's arguments; a bare word that means anything else is a fault."""
    words, place = list[str](), 0
    while place < len(line):
        if line[place].isspace():
            place += 1
            continue
        word, is_bare = "", True
        while place < len(line) and not line[place].isspace():
            if line[place] not in SINGLE:
                assert line[place] not in SPECIAL, line
                word, place = word + line[place], place + 1
                continue
            assert not word, line  # a literal that begins within a word is one in some versions only
            is_bare, place = False, place + 1
            while line[place] not in SINGLE or line[place + 1 : place + 2] in (*SINGLE,):
                word, place = word + line[place], place + 1 + (line[place] in SINGLE)
            place += 1
            assert not line[place : place + 1].strip(), line
        assert not (is_bare and re.match(r"-[a-z_][^=]*[.:]", word, re.IGNORECASE)), line  # split in two: -a.b
        words.append(word)
    return words


@given(words)
def test_powershell_reads_what_was_quoted(typed: list[str]) -> None:
    """What it reads it hands to a program as the C runtime of Windows takes it apart, from version 7.3 on."""
    read = powershell_split(join_line(typed, shell="powershell"))
    assert read == typed
    assert windows_split(subprocess.list2cmdline(read)) == typed


def windows_split(text: str) -> list[str]:
    """Split a line by the rules of the C runtime of Windows: backslashes count before a quote, two of which are one."""
    words, word, is_quoted, is_word, place = list[str](), "", False, False, 0
    while place < len(text):
        slashes = len(text[place:]) - len(text[place:].lstrip("\\"))
        place += slashes
        after = text[place : place + 1]
        if after == '"':
            word, is_word, place = word + "\\" * (slashes // 2), True, place + 1
            if slashes % 2:
                word += '"'
            elif is_quoted and text[place : place + 1] == '"':
                word, place = word + '"', place + 1
            else:
                is_quoted = not is_quoted
        elif slashes or (after and (is_quoted or not after.isspace())):
            word, is_word = word + "\\" * slashes, True
            if not slashes:
                word, place = word + after, place + 1
        else:
            words, word, is_word, place = [*words, *([word] if is_word else [])], "", False, place + 1
    return [*words, word] if is_word else words


def cmd_hands_on(line: str) -> str:
    """Return what cmd makes of a line: %NAME% is replaced everywhere, a caret outside of quotes is left out."""
    line = re.sub(r"%[\w &,=:]+%", "REPLACED", line)
    found, is_quoted, place = "", False, 0
    while place < len(line):
        is_quoted ^= line[place] == '"'
        if line[place] == "^" and not is_quoted:
            place += 1
        else:
            assert is_quoted or line[place] not in "&|<>()!", line
        found, place = found + line[place], place + 1
    return found


@given(words)
def test_cmd_hands_on_what_was_quoted(typed: list[str]) -> None:
    assert windows_split(cmd_hands_on(join_line(typed, shell="cmd"))) == typed


def test_where_a_shell_cannot_take_a_line_the_question_is_shown_without_one() -> None:
    typed = ["roll", "fate", "overcome", "--skill", "1", "--vs", "2", "--given", "roll=-000", "--note", "one\ntwo"]
    ran = rpgres(*typed, "--aspect", "Oil", RPGRES_SHELL="cmd")
    assert (ran.code, "a line for cmd cannot have the line break" in ran.err) == (3, True)
    assert "--seed=" not in ran.out


@pytest.mark.parametrize(
    ("environment", "is_windows", "shell"),
    [
        ({}, False, "posix"),
        ({"PSModulePath": "a;b;c"}, False, "posix"),
        ({"PSModulePath": "C:\\user;C:\\all;C:\\windows"}, True, "powershell"),
        ({"PSModulePath": "C:\\all;C:\\windows"}, True, "cmd"),
        ({"MSYSTEM": "MINGW64"}, True, "posix"),
        ({SHELL_ENV: "cmd"}, False, "cmd"),
        ({SHELL_ENV: "PowerShell"}, True, "powershell"),
        ({SHELL_ENV: "fish"}, False, "posix"),
    ],
)
def test_the_shell_is_told_by_its_environment(environment: dict[str, str], is_windows: bool, shell: Shell) -> None:
    assert shell_in_use(environment, is_windows=is_windows) == shell


def test_windows_is_told_by_python_where_nobody_says_otherwise() -> None:
    assert (shell_in_use({}) == "posix") == (os.name != "nt")


@pytest.mark.parametrize("shell", ["posix", "powershell", "cmd"])
def test_the_line_that_resumes_is_quoted_for_the_shell_in_use(shell: str) -> None:
    typed = [
        *["roll", "fate", "overcome", "--skill", "1", "--vs", "2", "--given", "roll=-000", "--aspect"],
        "O'Brien's Oil",
    ]
    ran = rpgres(*typed, "--seed", "7", RPGRES_SHELL=shell)
    assert ran.code == 3
    resume = ran.out.splitlines()[-1].strip()
    split = {"posix": shlex.split, "cmd": windows_split, "powershell": powershell_split}[shell]
    words = split(resume)
    assert words[: len(typed) - 4] == ["rpgres", *typed[:-5]]
    assert "O'Brien's Oil" in words
    assert rpgres(*words[1:], RPGRES_SHELL=shell).out == rpgres(*typed, "--seed", "7", "--choose", words[-1]).out


def test_a_name_with_an_apostrophe_and_a_path_with_blanks_reach_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is typed in `play` keeps its words."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "O'Brien's sheets"
    folder.mkdir()
    shutil.copy(ROOT / "rulesets/fate/sheets/mara.toml", folder / "o'brien.toml")
    assert rpgres("table", "new", "--ruleset", "fate", "--sheet", "edda").code == 0
    line = f'join --sheet "{folder}/o\'brien.toml"\nshow\nquit\n'
    ran = rpgres("play", stdin=line)
    assert "o-brien sits down" in ran.out
