"""Saved simulations, which can be resumed: a file with the job and the counts."""

from __future__ import annotations

from pathlib import Path

import msgspec

from rpgres.errors import FileError, named, writing
from rpgres.simulate.blocks import Tally
from rpgres.simulate.jobs import Job
from rpgres.simulate.playing import Value
from rpgres.text.digest import blake2b
from rpgres.text.filenames import write_own
from rpgres.version import __version__

_WORDS = {
    "ruleset": "the ruleset",
    "action": "what is simulated",
    "scene": "what is simulated",
    "rpgres": "the versions of rpgres",
    "hash": "the rules",
    "brought_by": "the versions of the plugin",
    "switches": "the house rules",
    "seed": "the seeds",
    "by": "what is counted",
    "policies": "the policies",
    "auto": "the policies",
    "inputs": "the inputs",
    "sheets": "the sheets",
    "choose": "the choices",
    "files": "the files that are read",
}


class SavedSimulation(msgspec.Struct, frozen=True, kw_only=True, tag_field="format", tag="rpgres.simulation-save/3"):
    """The content of the file; `counts` has pairs of a value and a count."""

    job: Job
    runs: int
    counts: dict[str, list[tuple[Value, int]]]
    hash: str = ""

    def hashed(self) -> SavedSimulation:
        """Return a copy with the hash of all other fields."""
        bare = msgspec.structs.replace(self, hash="")
        return msgspec.structs.replace(self, hash=blake2b(msgspec.json.encode(bare), digest_size=16).hexdigest())


def read_saved(path: Path) -> SavedSimulation | None:
    """Return the simulation in a file; None if the file does not exist.

    Raises:
        FileError: the file is not a saved simulation, is damaged, or cannot be read.
    """
    try:
        saved = msgspec.json.decode(path.read_bytes(), type=SavedSimulation)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}", file=str(path)) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        advice = f"name another file with {named('save')}"
        raise FileError(f"{path} is no saved simulation, and is left as it is; {advice}", file=str(path)) from None
    # Another version may know other fields; `resumed` refuses it.
    if saved.job.rpgres == __version__ and saved != saved.hashed():
        raise FileError(f"{path} is damaged: its hash is not that of its counts; delete it to restart", file=str(path))
    return saved


def resumed(path: Path, saved: SavedSimulation, job: Job, *, runs: int | None) -> Tally:
    """Return the counts of a saved simulation, for resuming.

    Args:
        runs: the number of runs that are wanted; None where the width decides.

    Raises:
        FileError: the file has another simulation, or more runs than are wanted.
    """
    differences = [words for field, words in _WORDS.items() if getattr(saved.job, field) != getattr(job, field)]
    if differences:
        differences = list(dict.fromkeys(differences))
        told = f"{path} keeps another simulation: it differs in {' and '.join(differences)}"
        advice = f"name another file with {named('save')}, or delete this one"
        raise FileError(f"{told}; {advice}", file=str(path), differences=differences)
    if runs is not None and saved.runs > runs:
        told = f"{path} has {saved.runs:,} runs already, more than {runs:,}"
        raise FileError(f"{told}; ask for at least as many", file=str(path))
    return Tally(saved.runs, {name: dict(values) for name, values in saved.counts.items()})


def write_saved(path: Path, job: Job, tally: Tally) -> None:
    """Write the file, whole or not at all.

    Raises:
        FileError: it cannot be written.
    """
    counts = {name: list(values.items()) for name, values in tally.counts.items()}
    content = msgspec.json.encode(SavedSimulation(job=job, runs=tally.runs, counts=counts).hashed())
    with writing(path):
        write_own(path, content + b"\n", is_forced=True)
