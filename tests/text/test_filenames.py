"""Names that are safe as names of files, and files that are for their owner alone and whole."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.text import filenames as files
from rpgres.text.filenames import file_name, write_own

DEVICES = ("con", "PRN", "aux", "nul", "COM1", "lpt9", "com¹", "CONIN$", "nul.toml", "Aux.old")


@pytest.mark.parametrize("name", ["mara", "Mara Quill", "brannagh-2", "Zoë", "北", "a.b", "guard+dog"])
def test_a_safe_name_is_kept(name: str) -> None:
    assert file_name(name, ending=".toml") == f"{name}.toml"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("../../../pwned", "pwned"),
        ("/etc/passwd", "etc-passwd"),
        ("C:\\Windows\\x", "C--Windows-x"),
        ("", "unnamed"),
        (".", "unnamed"),
        ("..", "unnamed"),
        ("...", "unnamed"),
        (".hidden", "hidden"),
        ("ends.", "ends"),
        ("ends ", "ends"),
        ("a\x00b\x1b[31m\n", "a-b--31m"),
        ("a\u202eb", "a-b"),
        ("a\ud800b", "a-b"),
        ('a<b>:"|?*', "a-b"),
        ("con", "_con"),
        ("~", "unnamed"),
    ],
)
def test_a_name_that_is_not_safe_becomes_one_that_is(text: str, name: str) -> None:
    assert file_name(text) == name


def test_names_that_a_file_system_takes_for_one_are_told_apart() -> None:
    taken: list[str] = []
    for text in ("Ä", "ä", "A\u0308", "mara", "MARA", "mara-2", "a/b", "a-b", "x" * 400, "x" * 401):
        taken.append(file_name(text, ending=".toml", taken=taken))
    assert len({name.casefold() for name in taken}) == len(taken) == 10


@given(st.lists(st.one_of(st.text(), st.sampled_from([*DEVICES, "é" * 300, "../x", "a/../b"])), max_size=6))
def test_any_names_are_safe(texts: list[str]) -> None:
    taken: list[str] = []
    for text in texts:
        name = file_name(text, ending=".toml", taken=taken)
        stem = name.removesuffix(".toml")
        assert stem
        assert stem[0] not in "-. "
        assert stem[-1] not in ". "
        assert not set(name) & set('/\\:*?"<>|\0')
        assert name.isprintable()
        assert len(name.encode()) <= 255
        assert stem.partition(".")[0].casefold() not in {device.partition(".")[0].casefold() for device in DEVICES}
        assert name.casefold() not in {other.casefold() for other in taken}
        taken.append(name)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
@pytest.mark.parametrize("mask", [0, 0o22, 0o77, 0o777])
@pytest.mark.parametrize("is_forced", [False, True])
def test_a_file_is_for_its_owner_alone(tmp_path: Path, mask: int, *, is_forced: bool) -> None:
    before = os.umask(mask)
    try:
        write_own(tmp_path / "x", b"secret", is_forced=is_forced)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o600
    assert (tmp_path / "x").read_bytes() == b"secret"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("has_unnamed", [True, False])
def test_a_file_that_is_there_is_not_replaced_unless_it_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_unnamed: bool
) -> None:
    if not has_unnamed:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    write_own(tmp_path / "x", b"one")
    with pytest.raises(FileExistsError):
        write_own(tmp_path / "x", b"two")
    assert (tmp_path / "x").read_bytes() == b"one"
    write_own(tmp_path / "x", b"two", is_forced=True)
    assert (tmp_path / "x").read_bytes() == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


KILLED = """
import os, sys
from pathlib import Path
from rpgres.text import filenames as files
os.replace = os.link = lambda *_, **__: os.kill(os.getpid(), 9)
files.write_own(Path(sys.argv[1]), b"half", is_forced=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nobody is killed so")
def test_what_a_killed_process_left_behind_is_removed_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "x")], check=False, timeout=60)
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(".new")
    with files._named(tmp_path, b"other") as others:
        assert not left.exists()
        write_own(tmp_path / "x", b"whole", is_forced=True)
        assert others.read_bytes() == b"other"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("is_forced", [False, True])
def test_a_name_that_is_too_long_is_the_one_that_is_told(tmp_path: Path, is_forced: bool) -> None:
    path = tmp_path / ("x" * 300)
    with pytest.raises(OSError, match="x" * 300) as told:
        write_own(path, b"content", is_forced=is_forced)
    assert "/proc" not in str(told.value)
    assert list(tmp_path.iterdir()) == []
