"""A simulation as plain data that any worker can rebuild: files as texts, and code by the names of rulesets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from rpgres.engine.players import ORDERS_FILE
from rpgres.engine.prepare import Prepared
from rpgres.errors import FileError, PluginError, UsageError
from rpgres.model.state import EMPTY
from rpgres.plugins.discovery import find_ruleset
from rpgres.rulesets import Rules, Ruleset, brought_by, builtin_folder
from rpgres.scenes import Scene
from rpgres.scenes.reading import NO_OVERRIDES, Overrides
from rpgres.toml.reading import Source, parse, read_source
from rpgres.version import __version__

SCENE = "scene/1/2/3/4/5/6"  # where a scene stands in a worker's folder: `../../sheets/mara.toml` is still inside it


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A simulation as plain data, for workers.

    Attributes:
        rpgres: the version of rpgres that wrote it.
        seed: run N plays from `SEED#N`.
        by: further things to count.
        policies: the policy of each character; the default under an empty name. Files of standing orders by name.
        auto: whether the ruleset's first policy is the default.
        version, hash: of the data of the ruleset, with all overlays.
        brought_by: the distribution of its code, with its version; empty for rulesets that ship with rpgres.
        switches: the house rules with other values than the default.
        overlays: the number of overlays.
        action: the name of an action; empty for a scene.
        inputs, sheets, choose: inputs of the action as typed, texts of sheets, answers to decisions.
        scene: the text of a scene; None for an action.
        files: the texts of other files by path in the folder of a worker: rulesets, sheets, included scenes, orders.
    """

    rpgres: str = __version__
    seed: str
    by: list[str] = []
    policies: dict[str, str] = {}
    auto: bool = False
    ruleset: str
    version: str = ""
    hash: str = ""
    brought_by: str = ""
    switches: dict[str, str] = {}
    overlays: int = 0
    action: str = ""
    inputs: dict[str, Any] = {}
    sheets: dict[str, Source] = {}
    choose: dict[str, list[str]] = {}
    scene: Source | None = None
    files: dict[str, str] = {}


def action_job(prepared: Prepared, *, choose: Mapping[str, Sequence[str]] = EMPTY, **about: Any) -> Job:
    """Return the job of an action; `about` are the seed, `by`, the switches, the policies, and `auto` of the job."""
    inputs, sheets = prepared.inputs, prepared.sheets
    return _job(prepared.rules, action=prepared.action, inputs=inputs, sheets=sheets, choose=choose, **about)


def scene_job(scene: Scene, *, overrides: Overrides = NO_OVERRIDES, **about: Any) -> Job:
    """Return the job of a scene; `about` are the seed and `by` of the job."""
    about |= {"scene": scene.source, "files": _scene_files(scene), **msgspec.structs.asdict(overrides)}
    return _job(scene.rules, **about)


def _job(rules: Rules, *, policies: Mapping[str, str] = EMPTY, files: Mapping[str, str] = EMPTY, **about: Any) -> Job:
    identity, data = rules.layers.identity(), rules.ruleset.data
    overlays = [part.folder for part in rules.layers.parts if part.is_overlay]
    folders = {f"overlays/{number}/{rules.id}": folder for number, folder in enumerate(overlays)}
    if rules.file.standalone and data is not None and not data.is_relative_to(builtin_folder()):
        folders[f"own/{rules.id}"] = data
    texts = {path: read_source(Path(name)).text for name, path in _order_files(policies).items()}
    for place, folder in folders.items():
        for path in sorted(folder.rglob("*.toml")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not name.startswith("scenes/"):
                texts[f"{place}/{name}"] = read_source(path).text
    about |= {"ruleset": rules.id, "version": identity["version"], "hash": identity["hash"]}
    about |= {"brought_by": brought_by(rules.ruleset), "overlays": len(overlays)}
    # Decoded like the job of a saved simulation, for the comparison of both.
    return msgspec.json.decode(
        msgspec.json.encode({**about, "policies": policies, "files": {**files, **texts}}), type=Job
    )


def _order_files(policies: Mapping[str, str]) -> dict[str, str]:
    names = dict.fromkeys(name for name in policies.values() if name.endswith(ORDERS_FILE))
    return {name: f"orders/{number}/orders{ORDERS_FILE}" for number, name in enumerate(names)}


def _scene_files(scene: Scene) -> dict[str, str]:
    """Return the files next to a scene that the text of the scene names, by path on a worker."""
    files = dict[str, str]()
    left = [(scene.source, scene.folder or Path(), PurePosixPath(SCENE))]
    while left:
        source, folder, place = left.pop()
        for name, key in dict.fromkeys(_texts_of(parse(source), "")):
            for typed in (name, f"{name}.toml"):
                found, travels = folder / typed, place / typed
                if str(travels) in files or os.path.isabs(typed) or not os.path.isfile(found):
                    continue
                text = files[str(travels)] = read_source(found).text
                if key == "include":
                    left.append((Source(source.path, text), found.parent, travels.parent))
    return files


def _texts_of(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield possible names of files in a scene, with their keys: all texts, and `ida` of `ida:will`."""
    if isinstance(value, str):
        yield from ((text, key) for text in dict.fromkeys((value, value.partition(":")[0])) if text)
    elif isinstance(value, Mapping):
        for inner_key, inner in value.items():
            yield from _texts_of(inner, inner_key)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_of(inner, key)


def unpack(job: Job, folder: Path) -> None:
    """Write the files of a job into a folder."""
    root = Path(os.path.normpath(folder))
    (root / SCENE).mkdir(parents=True, exist_ok=True)  # which paths such as `../sheets/mara.toml` begin with
    for name, text in job.files.items():
        path = Path(os.path.normpath(root / name))
        if not path.is_relative_to(root):
            name = name.removeprefix(f"{SCENE}/")
            raise UsageError(f"{name}: a file of a simulated scene can be at most six folders above the scene")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def policies_in(job: Job, folder: Path) -> dict[str, str]:
    """Return the policies of a job; files of standing orders by their paths in the folder of a worker."""
    files = _order_files(job.policies)
    return {who: str(folder / files[name]) if name in files else name for who, name in job.policies.items()}


def rules_of(job: Job, folder: Path, *, switches: Mapping[str, str] | None = None) -> Rules:
    """Return the rules of a job, from installed rulesets and files on a worker.

    Args:
        switches: the switches of a scene, instead of the switches of the job.

    Raises:
        FileError: the installed ruleset has other data.
    """
    own = folder / "own" / job.ruleset
    ruleset = Ruleset(job.ruleset, data=own) if own.is_dir() else _installed(job)
    overlays = [folder / "overlays" / str(number) / job.ruleset for number in range(job.overlays)]
    data = ruleset.data if ruleset.data is not None else builtin_folder() / job.ruleset
    rules = Rules.read(ruleset, [data, *overlays], switches=job.switches if switches is None else switches)
    identity = rules.layers.identity()
    if identity["hash"] != job.hash:
        raise FileError(
            f"the data of the ruleset {job.ruleset} differ: here version {identity['version']} with hash "
            f"{identity['hash'][:8]}, where the simulation began version {job.version} with hash {job.hash[:8]}"
        )
    return rules


def _installed(job: Job) -> Ruleset:
    try:
        ruleset = find_ruleset(job.ruleset)
    except UsageError:
        if not job.brought_by:
            raise
        advice = f"pip install {job.brought_by.replace(' ', '==')}"
        raise PluginError(f"it lacks the ruleset {job.ruleset} ({advice})") from None
    there, here = brought_by(ruleset) or "rpgres itself", job.brought_by or "rpgres itself"
    if there != here:
        raise PluginError(f"the ruleset {job.ruleset} comes from {there} there and from {here} here")
    return ruleset
