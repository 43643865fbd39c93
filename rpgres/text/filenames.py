"""Files that rpgres writes: names that are safe everywhere, and contents that are there whole or not at all.

Whatever becomes the name of a file goes through `file_name`. What may hold secrets is written for its owner alone.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":  # where a file that is open cannot be removed anyway
    from fcntl import LOCK_EX, LOCK_NB, flock

OWNERS = 0o600  # permissions of a file that is for its owner alone
LONGEST = 150  # bytes of a name: file systems take 255, and some of them write letters with accents in more bytes
UNNAMED = "unnamed"
_KEPT = frozenset("-_.()+,=@ ")
_DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"
}
_BEGUN = ".rpgres-{}.new"  # what a file is called until it is whole


def file_name(text: str, *, ending: str = "", taken: Iterable[str] = ()) -> str:
    """Return the name of a file for something that may be called anything.

    It names a file in its folder and nowhere else, on every usual file system: letters, digits and a few signs, no
    device of Windows, no dot, blank or hyphen at either end, not too long, and none that is taken already (as file
    systems see it, to which `Ä` and `ä` are one).

    >>> file_name("../../pwned", ending=".toml")
    'pwned.toml'

    Args:
        text: what it is called. A name that is safe is kept as it is.
        ending: what comes after it, with its dot.
    """
    from unicodedata import normalize

    kept = "".join(char if char.isalnum() or char in _KEPT else "-" for char in normalize("NFC", text))
    name = kept.strip("-. ").encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore").rstrip(". ") or UNNAMED
    if name.partition(".")[0].strip().casefold() in _DEVICES:
        name = f"_{name}"
    others = {_as_seen(one) for one in taken}
    found, number = f"{name}{ending}", 1
    while _as_seen(found) in others:
        number += 1
        found = f"{name}-{number}{ending}"
    return found


def _as_seen(name: str) -> str:
    from unicodedata import normalize

    return normalize("NFKC", normalize("NFKC", name).casefold())


def write_own(path: Path, content: bytes, *, is_forced: bool = False) -> None:
    """Make a file for its owner alone, whole or not at all.

    Args:
        path: where. Its folder is there.
        is_forced: whether it may stand in place of a file that is there; that stays if this fails.

    Raises:
        FileExistsError: there is one of this name.
        OSError: it cannot be written.
    """
    if is_forced and path.exists() and not path.is_file():  # a device or a pipe: nothing there can be replaced
        path.write_bytes(content)
        return
    if is_forced or not _put_unnamed(path, content):
        with _named(path.parent, content) as made:
            (os.replace if is_forced else _put)(made, path)
    _keep_folder(path.parent)


def _put(made: Path, path: Path) -> None:
    """Give a file another name, never in place of another one."""
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError(f"{path} already exists") from None
        os.rename(made, path)


def _put_unnamed(path: Path, content: bytes) -> bool:
    """Write a file that gets its name when it is whole, so that a process that is killed leaves nothing behind.

    Return whether the system has such files.
    """
    try:
        made = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, OWNERS)
    except (AttributeError, OSError):
        return False
    try:
        _fill(made, content)
        # The path of an open file is a link to it. Python follows it only where a folder is named as well.
        os.link(f"/proc/self/fd/{made}", path, src_dir_fd=made, follow_symlinks=True)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EXDEV, errno.EPERM, errno.EINVAL, errno.EOPNOTSUPP):
            error.filename, error.filename2 = str(path), None  # the name of the open file means nothing to users
            raise
        return False
    finally:
        os.close(made)
    return True


def _fill(made: int, content: bytes) -> None:
    if hasattr(os, "fchmod"):
        os.fchmod(made, OWNERS)  # whatever the umask
    left = memoryview(content)
    while left:
        left = left[os.write(made, left) :]
    os.fsync(made)


@contextmanager
def _named(folder: Path, content: bytes) -> Iterator[Path]:
    """Write a file under a name that it loses in the end; those that killed processes left behind are removed."""
    _remove_stale(folder)
    made, found = _begun(folder)
    try:
        _fill(found, content)
        if sys.platform == "win32":  # Windows gives no other name to a file that is open
            os.close(found)
        yield made
    finally:
        if sys.platform != "win32":
            os.close(found)
        with suppress(OSError):
            made.unlink()


def _begun(folder: Path) -> tuple[Path, int]:
    """Open a new file, and hold a lock on it for as long as this process lives."""
    while True:
        made = folder / _BEGUN.format(os.urandom(8).hex())
        found = os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), OWNERS)
        if sys.platform == "win32":
            return made, found
        flock(found, LOCK_EX)
        if os.fstat(found).st_nlink:
            return made, found
        os.close(found)  # another process removed it before it was locked


def _remove_stale(folder: Path) -> None:
    """Remove what a killed process left behind: files without a writer."""
    for left in folder.glob(_BEGUN.format("*")):
        with suppress(OSError):
            if sys.platform == "win32":
                left.unlink()  # fails while its writer lives
                continue
            found = os.open(left, os.O_WRONLY)
            try:
                flock(found, LOCK_EX | LOCK_NB)  # fails while its writer lives
                left.unlink()
            finally:
                os.close(found)


def _keep_folder(folder: Path) -> None:
    """Have the names in a folder written to the disk, where the system can."""
    with suppress(OSError, AttributeError):
        found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(found)
        finally:
            os.close(found)
