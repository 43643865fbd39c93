"""Completion: the scripts that are committed are current, and a shell that has them completes."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rpgres.cli.commands.completions import FILES, completion_script
from rpgres.cli.completion import scene_offers
from tests.support.checkout import ROOT
from tests.support.lantern import rpgres

FOLDER = ROOT / "completions"


@pytest.mark.parametrize("shell", FILES)
def test_committed_scripts_are_current(shell: str) -> None:
    """When this fails: python -m rpgres.cli.commands.completions completions/"""
    assert (FOLDER / FILES[shell]).read_text("utf-8") == completion_script(shell)


def test_nothing_else_is_committed() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(FILES.values())


@pytest.mark.slow
def test_the_documented_command_writes_them(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "rpgres.cli.commands.completions", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for name in FILES.values():
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "rpgres.cli.commands.completions", str(tmp_path / "absent")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, "usage: python -m rpgres.cli.commands.completions FOLDER\n")


@pytest.mark.parametrize("shell", FILES)
def test_scripts_name_the_program_and_no_machine(shell: str) -> None:
    done = rpgres("completions", shell)
    assert (done.exit_code, done.stdout, done.stderr) == (0, completion_script(shell), "")
    assert "_RPGRES_COMPLETE" in done.stdout
    assert str(ROOT) not in done.stdout
    assert "python" not in done.stdout.lower()


def test_a_shell_that_is_none_of_them() -> None:
    done = rpgres("completions", "fsh")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "rpgres: rpgres has no completion script 'fsh'; did you mean 'fish'?\n"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("rpgres comp", {"completions"}),
        ("rpgres completions p", {"powershell"}),
        ("rpgres sheet ", {"check", "list", "new", "show"}),
        ("rpgres sheet new fa", {"fate", "faith"}),
        ("rpgres sheet check --rul", {"--ruleset", "--rulesets"}),
        ("rpgres ruleset show fate ov", {"overcome"}),
        ("rpgres schema sce", {"scene", "scene-best", "scene-odds", "scene-result", "scene-test"}),
        ("rpgres plugin check fa", {"fate", "faith"}),
        ("rpgres deck show saga/ol", {"saga/older-82"}),
        ("rpgres odds fate/ch", {"fate/challenge"}),
        ("rpgres roll saga act --hand St9+,Do1", {"St9+,Do1-", "St9+,Do10+"}),
    ],
)
def test_bash_completes(line: str, offered: set[str], tmp_path: Path) -> None:
    starter = tmp_path / "rpgres"
    starter.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rpgres "$@"\n', "utf-8")
    starter.chmod(0o755)
    words = line.split(" ")
    script = (
        f'PATH="{tmp_path}:$PATH"; source "{FOLDER / FILES["bash"]}"; '
        f'COMP_LINE="{line}"; COMP_WORDS=({" ".join(words[:-1])} "{words[-1]}"); '
        f'COMP_CWORD={len(words) - 1}; _rpgres_completion rpgres; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert done.stderr == ""
    assert set(done.stdout.split()) == offered


def test_scenes_that_only_test_a_ruleset_are_not_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conformance.toml").touch()
    offered = scene_offers()
    assert {"fate/ledger", "conformance.toml"} < set(offered)
    assert not any("/conformance" in name for name in offered)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None or sys.platform == "win32", reason="there is no bash at a terminal")
def test_bash_completes_at_a_terminal_whatever_its_word_breaks(tmp_path: Path) -> None:
    roll = "rpgres roll fate overcome"
    wanted = {
        f"{roll} --switch oppo": "sers=",
        f"{roll} --switch opposers=o": "ne ",
        f"{roll} --switch=opposers=o": "ne ",
        f"{roll} --name 'a b:c' --switch opposers=hi": "ghest ",
        f"{roll} --given ro": "ll=",
        f"{roll} --vs bruiser:fi": "ght ",
        f"{roll} --vs bruis": "er:",
        f"{roll} --sheet mar": "a ",
        f"{roll} --sheet mara --stunt ro": "oftop-runner ",
        "rpgres scene run fate/bri": "be ",
        "rpgres sheet show bruis": "er ",
    }
    assert completed_at_terminal(list(wanted), tmp_path) == wanted


def completed_at_terminal(lines: Sequence[str], folder: Path) -> dict[str, str]:
    """Return what Tab adds to each line in an interactive bash."""
    import pty

    starter = folder / "rpgres"
    starter.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rpgres "$@"\n', "utf-8")
    starter.chmod(0o755)
    own, theirs = pty.openpty()
    world = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "$ ", "COLUMNS": "200"}
    with subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=world,
        cwd=folder,
        start_new_session=True,
    ) as shell:
        os.close(theirs)
        os.write(own, f"bind 'set bell-style none'; source {FOLDER / FILES['bash']}; echo rea'dy'\n".encode())
        _read_until(own, "ready\r\n$ ")
        found = {}
        for line in lines:
            # What is typed behind the Tab shows where the completion ended; Ctrl-U empties the line.
            os.write(own, f"{line}\t@END".encode())
            shown = _read_until(own, "@END")
            found[line] = shown.removeprefix(line).removesuffix("@END")
            os.write(own, b"\x15echo nex't'\n")
            _read_until(own, "next\r\n$ ")
        shell.kill()
    os.close(own)
    return found


def _read_until(terminal: int, text: str) -> str:
    shown = ""
    while not shown.endswith(text):
        ready, _, _ = select.select([terminal], [], [], 20)
        assert ready, f"waited in vain for {text!r}; there was: {shown!r}"
        shown += os.read(terminal, 65536).decode()
    return shown
