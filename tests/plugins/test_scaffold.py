"""`rpgres plugin new`: what it writes is whole, works as written, and harms nothing that is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rpgres.conformance import CHECKS
from rpgres.plugins.entries import BUILTIN
from rpgres.plugins.scaffold import TEMPLATE, files_of, write_plugin
from tests.docs import put_metadata
from tests.support.command_line import FEW_PROCESSES, rpgres

NAMES = ["sandbar", "tide-pool", "b52", "a" * 40]


def in_folder(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a module of this interpreter in a new plugin's folder, as if the plugin were installed."""
    put_metadata(folder, folder / "src")
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "src", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


WITHOUT = ("switches",)  # a start has no house rules


@pytest.mark.exhaustive  # tests of the installation run them where it is installed
@pytest.mark.slow
def test_its_own_tests_pass_as_written(tmp_path: Path) -> None:
    """Those of one whose name has two words are run where it is installed (`tests/project/test_install.py`)."""
    folder = write_plugin("sandbar", into=tmp_path)
    done = in_folder(folder, "pytest", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    assert f"{len(CHECKS) + 4 - len(WITHOUT)} passed, {len(WITHOUT)} skipped" in done.stdout


@pytest.mark.slow
def test_its_checks_have_nothing_to_note(tmp_path: Path) -> None:
    folder = write_plugin("sandbar", into=tmp_path)
    (folder / "checking.py").write_text(FEW_PROCESSES + "from rpgres.cli import main\nmain()\n", "utf-8")
    done = in_folder(folder, "checking", "plugin", "check", "sandbar")
    assert done.returncode == 0, done.stdout
    assert "note:" not in done.stdout
    assert done.stdout.count(" passed ") == len(CHECKS) - len(WITHOUT)
    assert done.stdout.endswith(f"checks passed; not checked: {', '.join(WITHOUT)}\n")
    rolled = in_folder(folder, "rpgres", "roll", "sandbar", "attempt", "--skill", "2", "--vs", "9", "--seed", "7")
    assert rolled.stdout.startswith("Attempt: ")
    for line in (folder / "README.md").read_text("utf-8").splitlines():
        if line.startswith("rpgres ") and not line.startswith("rpgres plugin check"):  # which is typed above
            assert in_folder(folder, *line.split()).returncode in (0, 3), line


@pytest.mark.parametrize("name", NAMES)
def test_ruff_has_nothing_to_say(name: str, tmp_path: Path) -> None:
    pytest.importorskip("ruff")
    folder = write_plugin(name, into=tmp_path)
    for command in (["check"], ["format", "--check"]):
        done = in_folder(folder, "ruff", *command, "--no-cache", ".")
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_mypy_has_nothing_to_say(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("mypy")
    kept = getattr(request.config, "cache", None)  # what it found in our own modules, which it reads first of all
    cache = kept.mkdir("mypy") if kept else tmp_path / "cache"
    done = in_folder(write_plugin("tide-pool", into=tmp_path), "mypy", "--cache-dir", str(cache))
    assert done.returncode == 0, done.stdout


def test_every_file_of_the_template_is_written(tmp_path: Path) -> None:
    folder = write_plugin("tide-pool", into=tmp_path)
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written == set(files_of("tide-pool"))
    assert len(written) == len([path for path in TEMPLATE.rglob("*") if path.is_file()])
    assert {
        "pyproject.toml",
        "README.md",
        "src/rpgres_tide_pool/__init__.py",
        "src/rpgres_tide_pool/py.typed",
        "src/rpgres_tide_pool/data/ruleset.toml",
        "tests/test_tide_pool.py",
    } <= written
    for path in folder.rglob("*"):
        assert not path.is_file() or "$" not in path.read_text("utf-8"), path


def test_the_command_tells_what_to_type_next(tmp_path: Path) -> None:
    done = rpgres("plugin", "new", "sandbar", "--into", str(tmp_path))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{tmp_path / 'rpgres-sandbar'}: written. Next steps:",
        f"  cd {tmp_path / 'rpgres-sandbar'}",
        "  python -m pip install -e '.[test]'",
        "  rpgres roll sandbar attempt --skill 2 --vs 9",
        "  rpgres plugin check sandbar",
        "  pytest",
    ]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    there = tmp_path / "rpgres-sandbar"
    there.mkdir()
    (there / "README.md").write_text("mine", "utf-8")
    done = rpgres("plugin", "new", "sandbar", "--into", str(tmp_path))
    assert (done.code, done.out) == (1, "")
    assert f"{there}: already exists; nothing was written" in done.err
    assert [path.name for path in there.iterdir()] == ["README.md"]
    done = rpgres("plugin", "new", "sandbar", "--into", str(tmp_path / "nowhere"))
    assert (done.code, done.out) == (1, "")
    assert "there is no such folder" in done.err
    assert not (tmp_path / "nowhere").exists()


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *_args: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    done = rpgres("plugin", "new", "sandbar", "--into", str(tmp_path))
    assert (done.code, done.out) == (1, "")
    assert "No space left on device" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("d20", "dice notation"),
        ("4df", "dice notation"),
        ("Sandbar", "lowercase letters"),
        ("sand_bar", "lowercase letters"),
        ("sand--bar", "lowercase letters"),
        ("-sandbar", "lowercase letters"),
        ("../sandbar", "lowercase letters"),
        ("a" * 41, "at most 40 characters"),
        ("class", "of Python"),
        ("match", "of Python"),
        ("rpgres-sandbar", "leave out the prefix rpgres"),
        *((name, "shipped with rpgres") for name in BUILTIN),
    ],
)
def test_names_that_no_ruleset_can_have(name: str, told: str, tmp_path: Path) -> None:
    done = rpgres("plugin", "new", "--into", str(tmp_path), "--", name)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_id_of_what_is_installed(tmp_path: Path) -> None:
    folder = write_plugin("sandbar", into=tmp_path)
    done = in_folder(folder, "rpgres", "plugin", "new", "sandbar", "--into", str(folder))
    assert done.returncode == 2
    assert "'sandbar' is the id of a ruleset installed here" in done.stderr


@pytest.mark.slow
def test_its_scene_has_a_name(tmp_path: Path) -> None:
    folder = write_plugin("sandbar", into=tmp_path)
    done = in_folder(folder, "rpgres", "scene", "test", "sandbar/wall")
    assert (done.returncode, done.stdout) == (0, "sandbar/wall: ok (7 expectations)\n")
    done = in_folder(folder, "rpgres", "scene", "test", "sandbar/wal")
    assert done.returncode == 1
    assert "there is no scene 'sandbar/wal'" in done.stdout
