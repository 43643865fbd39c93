"""The cache of parsed TOML: the same data as parsing gives, and nothing that is wrong with it is ever an error."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from rpgres.errors import FileError
from rpgres.toml import cache
from rpgres.toml.cache import parse_cached
from rpgres.toml.reading import Source, parse

TEXT = (
    'title = "Coin"\n[bands]\nlose = { to = -1, success = false, weight = inf, id = 0x1F }\nlist = [1, 1.0, [true]]\n'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a cache that is empty."""
    monkeypatch.setenv("RPGRES_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def read(text: str = TEXT) -> dict[str, Any]:
    return parse_cached(Source("ruleset.toml", text))


def typed(value: Any) -> Any:
    """Return a value with the type of everything in it, as 1, 1.0 and true are equal."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    return [typed(inner) for inner in value] if isinstance(value, list) else (type(value), value)


def test_what_is_kept_is_what_parsing_gives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read()
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(cache, "parse", None)  # it is not parsed again
    assert typed(read()) == typed(first) == typed(parse(Source("", TEXT)))
    assert read() is not read()


def test_another_text_is_another_file(folder: Path) -> None:
    read()
    assert read(TEXT.replace("Coin", "Die"))["title"] == "Die"
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 200])
def test_a_broken_file_is_made_anew(folder: Path, content: bytes) -> None:
    want = read()
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    for broken in (content, whole[:-1], whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]):
        kept.write_bytes(broken)
        assert read() == want
        assert kept.read_bytes() == whole


def test_a_date_is_still_a_date(folder: Path) -> None:
    for _ in range(2):
        assert typed(read("day = 2026-11-22\n")) == typed(parse(Source("", "day = 2026-11-22\n")))
    assert not folder.exists()


def test_a_fault_is_told_as_ever(folder: Path) -> None:
    with pytest.raises(FileError, match=r"ruleset\.toml:1:"):
        read("title = \n")
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    for name in (str(tmp_path / "file"), str(tmp_path / "file" / "below"), ""):
        monkeypatch.setenv("RPGRES_CACHE", name)
        assert read() == parse(Source("", TEXT))
    assert (tmp_path / "file").read_text() == ""


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RPGRES_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert read() == parse(Source("", TEXT))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a user's folders to the user")
def test_it_is_its_owners_alone(folder: Path) -> None:
    read()
    (kept,) = folder.iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, kept)] == [0o700, 0o600]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a user's folders to the user")
def test_a_file_of_another_user_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    want = read()
    asked: list[Source] = []
    monkeypatch.setattr(cache, "parse", lambda source: asked.append(source) or parse(source))
    assert (read(), len(asked)) == (want, 0)
    monkeypatch.setattr(os, "getuid", lambda: os.stat(folder).st_uid + 1)
    assert (read(), len(asked)) == (want, 1)


def test_it_does_not_grow_for_ever(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST", 3)
    for number in range(6):
        before = set(folder.iterdir()) if number else set()
        read(f"number = {number}\n")
        (made,) = set(folder.iterdir()) - before
        os.utime(made, (1000 + number, 1000 + number))
    monkeypatch.setattr(cache, "parse", None)
    assert [read(f"number = {number}\n") for number in (3, 4, 5)] == [{"number": number} for number in (3, 4, 5)]
    assert len(list(folder.iterdir())) == 3


def test_a_full_folder_is_not_searched_for_the_oldest_at_every_write(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MOST", 16)
    left = []
    for number in range(30):
        read(f"number = {number}\n")
        left.append(len(list(folder.iterdir())))
    assert max(left) == 16
    assert left.count(14) == 6  # grown to once; then three more fit before the oldest go again


def test_files_of_others_are_never_deleted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    others = [folder / name for name in ("letter.txt", "0" * 63, f"{'0' * 64}.toml", f"{'0' * 64}.12x")]
    for other in others:
        other.write_text("mine")
        os.utime(other, (1000, 1000))
    left = folder / f"{'0' * 64}.4711"  # of a process that was killed
    left.write_text("")
    os.utime(left, (1000, 1000))
    monkeypatch.setattr(cache, "MOST", 1)
    for number in range(3):
        read(f"number = {number}\n")
    assert len(list(folder.iterdir())) == len(others) + 1
    assert all(other.read_text() == "mine" for other in others)
    assert not left.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a thing of POSIX")
def test_a_pipe_in_its_place_is_not_waited_for(folder: Path) -> None:
    want = read()
    (kept,) = folder.iterdir()
    kept.unlink()
    os.mkfifo(kept)
    assert read() == want
    assert kept.is_file()
