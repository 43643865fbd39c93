"""Command lines quoted for a shell, which reads them as they were: paths, apostrophes, blanks."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.cli.shell import join_line
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
    assert shlex.split(join_line(typed)) == typed


@pytest.mark.skipif(not shutil.which("sh"), reason="no sh")
def test_sh_itself_splits_what_was_quoted() -> None:
    show = [sys.executable, "-c", "import sys; print(ascii(sys.argv[1:]))"]
    ran = subprocess.run(["sh", "-c", join_line([*show, *WORDS])], capture_output=True, text=True)
    assert ran.stdout.strip() == ascii(WORDS)


@pytest.mark.parametrize("word", [word for word in WORDS if "%" not in word])
def test_a_program_on_windows_splits_what_was_quoted(word: str) -> None:
    assert join_line(["x", word, "y"], is_windows=True).count('"') % 2 == 0
    if '"' not in word:
        assert subprocess.list2cmdline([word]) in (join_line([word], is_windows=True), word)


def test_the_line_that_resumes_can_be_typed() -> None:
    typed = [
        "roll",
        "fate",
        "overcome",
        "--skill",
        "1",
        "--vs",
        "2",
        "--given",
        "roll=-000",
        "--aspect",
        "O'Brien's Oil",
    ]
    ran = rpgres(*typed, "--seed", "7")
    assert ran.code == 3
    words = shlex.split(ran.out.splitlines()[-1].strip())
    assert "O'Brien's Oil" in words
    assert rpgres(*words[1:]).out == rpgres(*typed, "--seed", "7", "--choose", words[-1]).out


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
