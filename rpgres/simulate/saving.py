"""The file of a saved simulation, which can be resumed: its job, and the counts so far."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from rpgres.errors import FileError, named, writing
from rpgres.simulate.jobs import ActionSubject, Job
from rpgres.simulate.runners import Value
from rpgres.simulate.tallies import Tally
from rpgres.text.digest import blake2b
from rpgres.text.filenames import write_own
from rpgres.version import __version__

SAVED_SECONDS = 5.0  # between two writings of the file
_LARGEST = 256 * 1024 * 1024  # bytes that are read


class SavedSimulation(msgspec.Struct, frozen=True, kw_only=True, tag_field="format", tag="rpgres.simulation-save/2"):
    """A simulation as it is kept.

    Attributes:
        runs: how many runs were counted, from run 0 on.
        counts: for each counted thing its values, each with how often it came.
        hash: of everything else in it.
    """

    job: Job
    runs: int
    counts: dict[str, list[tuple[Value, int]]]
    hash: str = ""

    def hashed(self) -> SavedSimulation:
        """Return it with its hash."""
        bare = msgspec.structs.replace(self, hash="")
        return msgspec.structs.replace(self, hash=blake2b(msgspec.json.encode(bare), digest_size=16).hexdigest())


def read_saved(path: Path) -> SavedSimulation | None:
    """Return what a file keeps; None where there is no file.

    Raises:
        FileError: it keeps no simulation, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}", file=str(path)) from None
    try:
        saved = msgspec.json.decode(content, type=SavedSimulation)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise FileError(
            f"{path} is no saved simulation, and is left as it is; name another file with {named('save')}",
            file=str(path),
        ) from None
    is_of_this = saved.job.rpgres == __version__  # another one may know other fields; `tally_for` refuses it
    if is_of_this and saved != saved.hashed():
        raise FileError(f"{path} is damaged: its hash is not that of its counts; delete it to restart", file=str(path))
    return saved


def tally_for(path: Path, saved: SavedSimulation, job: Job, *, runs: int | None) -> Tally:
    """Return the counts of a file with which a simulation is resumed.

    Args:
        runs: how many runs are wanted; None where the width decides.

    Raises:
        FileError: the file keeps another simulation, or more runs than are wanted.
    """
    differences = list(_differences(saved.job, job))
    if differences:
        raise FileError(
            f"{path} keeps another simulation: it differs in {' and '.join(differences)}; name another file with "
            f"{named('save')}, or delete this one",
            file=str(path),
            differences=differences,
        )
    if runs is not None and saved.runs > runs:
        raise FileError(
            f"{path} has {saved.runs:,} runs already, more than {runs:,}; ask for at least as many", file=str(path)
        )
    return Tally(saved.runs, {name: dict(values) for name, values in saved.counts.items()})


def _differences(one: Job, other: Job) -> list[str]:
    """Return in what two jobs differ, in words."""
    if one == other:
        return []
    found = []
    told: list[tuple[str, Any, Any]] = [
        ("the ruleset", one.rules.id, other.rules.id),
        ("what is simulated", _name(one), _name(other)),
        ("the versions of rpgres", one.rpgres, other.rpgres),
        ("the rules", one.rules.hash, other.rules.hash),
        ("the versions of the plugin", one.rules.brought_by, other.rules.brought_by),
        ("the house rules", one.rules.switches, other.rules.switches),
        ("the seeds", one.seed, other.seed),
        ("what is counted", one.by, other.by),
        ("the policies", (one.policies, one.orders, one.auto), (other.policies, other.orders, other.auto)),
    ]
    if isinstance(one.subject, ActionSubject) and isinstance(other.subject, ActionSubject):
        told += [
            ("the inputs", one.subject.inputs, other.subject.inputs),
            ("the sheets", one.subject.sheets, other.subject.sheets),
            ("the choices", one.subject.choose, other.subject.choose),
        ]
    found = [name for name, mine, theirs in told if mine != theirs]
    return found or ["the files that are read"]


def _name(job: Job) -> str:
    return job.subject.action if isinstance(job.subject, ActionSubject) else job.subject.source.text


def write_saved(path: Path, job: Job, tally: Tally) -> None:
    """Write the file, whole or not at all.

    Raises:
        FileError: it cannot be written.
    """
    counts = {name: list(values.items()) for name, values in tally.counts.items()}
    content = msgspec.json.encode(SavedSimulation(job=job, runs=tally.runs, counts=counts).hashed())
    with writing(path):
        write_own(path, content + b"\n", is_forced=True)
