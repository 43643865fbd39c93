"""Jobs: a simulation as plain data that any worker can rebuild, with texts for files and names for code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from rpgres.engine.players import ORDERS_FILE
from rpgres.engine.prepare import Prepared
from rpgres.errors import FileError, UsageError, named
from rpgres.model.state import EMPTY
from rpgres.plugins.discovery import find_ruleset
from rpgres.rulesets import Rules, Ruleset, brought_by, builtin_folder
from rpgres.rulesets.sheets import MissingSheet, find_sheet
from rpgres.scenes import Scene, find_scene
from rpgres.scenes.reading import NO_OVERRIDES, Overrides
from rpgres.toml.reading import Source, parse, read_source
from rpgres.version import __version__

Texts = dict[str, str]  # the files of a folder, by path in it

_ORDERS = f"orders{ORDERS_FILE}"
_DEPTH = "scene/1/2/3/4/5/6"  # where a scene stands in a worker's folder: `../../sheets/mara.toml` is still inside it


class RulesJob(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of a simulation.

    Attributes:
        version: the version in its data.
        hash: the hash of its data with all overlays.
        brought_by: the distribution of its code, with its version; empty for what ships with rpgres.
        own: its files, where it is a folder of the user and not installed.
        overlays: the files of each overlay, the farthest first.
    """

    id: str
    version: str
    hash: str
    brought_by: str = ""
    switches: dict[str, str] = {}
    own: Texts | None = None
    overlays: list[Texts] = []


class ActionSubject(msgspec.Struct, frozen=True, kw_only=True, tag="action", tag_field="kind"):
    """An action that is simulated.

    Attributes:
        inputs: its inputs by parameter, as typed.
        sheets: the texts of the sheets that it reads, by the typed names.
        choose: answers to decisions, by label.
    """

    action: str
    inputs: dict[str, Any]
    sheets: dict[str, Source] = {}
    choose: dict[str, list[str]] = {}

    def asked(self) -> dict[str, Any]:
        """Return what it is, as fields of `rpgres.odds.chances.Asked`."""
        return {"action": self.action, "inputs": self.inputs}


class SceneSubject(msgspec.Struct, frozen=True, kw_only=True, tag="scene", tag_field="kind"):
    """A scene that is simulated.

    Attributes:
        files: the texts of the sheets and scenes that it reads, by path from the scene's folder.
        absolute: the files that it names by absolute paths, which only this machine has.
    """

    source: Source
    files: Texts = {}
    absolute: list[str] = []

    def asked(self) -> dict[str, Any]:
        """Return what it is, as fields of `rpgres.odds.chances.Asked`."""
        return {"scene": self.source.path}


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """All that a worker needs to play any run of a simulation.

    Attributes:
        rpgres: the version of rpgres that wrote it.
        seed: where the dice come from; run N plays from `SEED#N`.
        by: paths of the state that are counted too.
        policies: policy by character; the default under an empty name. Files of standing orders by name.
        orders: the texts of these files, by name.
        auto: whether the ruleset's first policy is the default.
    """

    rpgres: str = __version__
    seed: str
    by: list[str] = []
    policies: dict[str, str] = {}
    orders: Texts = {}
    auto: bool = False
    rules: RulesJob
    subject: ActionSubject | SceneSubject

    def encoded(self) -> bytes:
        """Return the job as JSON, in which it is sent."""
        return msgspec.json.encode(self)


def action_job(
    prepared: Prepared,
    *,
    seed: str,
    by: Sequence[str] = (),
    switches: Mapping[str, str] = EMPTY,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, str] = EMPTY,
    auto: bool = False,
) -> Job:
    """Return the job of an action.

    Args:
        by: paths of the state after the action that are counted too.
        choose: answers to decisions, by label.
        policies: policy by character; the default under an empty name.
        auto: whether the ruleset's first policy is the default.
    """
    subject = ActionSubject(
        action=prepared.action,
        inputs=msgspec.to_builtins(prepared.inputs),
        sheets=dict(prepared.sheets),
        choose={label: list(answers) for label, answers in choose.items()},
    )
    rules = _rules_job(prepared.rules, switches)
    return _travelled(Job(seed=seed, by=list(by), **_deciding(policies, auto=auto), rules=rules, subject=subject))


def scene_job(
    scene: Scene,
    *,
    seed: str,
    by: Sequence[str] = (),
    overrides: Overrides = NO_OVERRIDES,
) -> Job:
    """Return the job of a scene that was read with some overrides; the arguments are as for `action_job`."""
    files, absolute = _files_of(scene)
    subject = SceneSubject(source=scene.source, files=files, absolute=absolute)
    rules = _rules_job(scene.rules, overrides.switches)
    deciding = _deciding(overrides.policies, auto=overrides.auto)
    return _travelled(Job(seed=seed, by=list(by), **deciding, rules=rules, subject=subject))


def _deciding(policies: Mapping[str, str], *, auto: bool) -> dict[str, Any]:
    files = {name: read_source(Path(name)).text for name in policies.values() if name.endswith(ORDERS_FILE)}
    return {"policies": dict(policies), "orders": files, "auto": auto}


def _travelled(job: Job) -> Job:
    """Return a job as a worker decodes it, so that it is equal to the one of a file."""
    return msgspec.json.decode(job.encoded(), type=Job)


def _rules_job(rules: Rules, switches: Mapping[str, str]) -> RulesJob:
    identity, data = rules.layers.identity(), rules.ruleset.data
    is_folder = rules.file.standalone and data is not None and not data.is_relative_to(builtin_folder())
    return RulesJob(
        id=rules.id,
        version=identity["version"],
        hash=identity["hash"],
        brought_by=brought_by(rules.ruleset),
        switches=dict(switches),
        own=_texts_in(data) if data is not None and is_folder else None,
        overlays=[_texts_in(part.folder) for part in rules.layers.parts if part.is_overlay],
    )


def _texts_in(folder: Path) -> Texts:
    """Return the TOML files of a folder with rules and characters, without scenes."""
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.toml")) if path.is_file()}
    return {name: read_source(path).text for name, path in paths.items() if not name.startswith("scenes/")}


def _files_of(scene: Scene) -> tuple[Texts, list[str]]:
    """Return the files that a scene reads, by path from its folder, and those that it names by absolute paths.

    Every text in a scene counts that is the name of a sheet, since the parameters decide which of them are read.
    """
    files: Texts = {}
    absolute: list[str] = []
    left = [(scene.source, scene.folder or Path(), PurePosixPath())]
    while left:
        source, folder, place = left.pop()
        for name, key in dict.fromkeys(_texts_of(parse(source), "")):
            found = _file_of(scene, name, key, folder)
            if found is None:
                continue
            if os.path.isabs(name):
                absolute.append(name)
                continue
            travels = place / (name if found.name == PurePosixPath(name).name else f"{name}.toml")
            is_new = str(travels) not in files
            text = files[str(travels)] = read_source(found).text
            if key == "include" and is_new:
                left.append((Source(source.path, text), found.parent, travels.parent))
    return files, absolute


def _file_of(scene: Scene, name: str, key: str, folder: Path) -> Path | None:
    """Return the file that a text in a scene names; None where it names none."""
    if key == "include":
        beside = folder / name
        return beside if beside.is_file() else find_scene(name, extra=scene.extra)
    try:
        return find_sheet(scene.rules, name, beside=folder)
    except MissingSheet:
        return None


def _texts_of(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield the texts in a scene that may name files, with their keys; of `ida:will` also the part before the colon."""
    if isinstance(value, str):
        yield from ((text, key) for text in dict.fromkeys((value, value.partition(":")[0])) if text)
    elif isinstance(value, Mapping):
        for inner_key, inner in value.items():
            yield from _texts_of(inner, inner_key)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_of(inner, key)


# ---------------------------------------------------------------------------------------------------------------------
# On the worker


def has_files(job: Job) -> bool:
    """Tell whether `unpack` has anything to write."""
    files = isinstance(job.subject, SceneSubject) and bool(job.subject.files)
    return files or bool(job.rules.overlays) or bool(job.orders) or job.rules.own is not None


def unpack(job: Job, folder: Path) -> None:
    """Write the files of a job into a folder, where `rebuild_rules` and `scene_folder` expect them.

    Raises:
        UsageError: the path of a sheet leads out of the folder.
    """
    for number, texts in enumerate(job.rules.overlays):
        _write(folder / "overlays" / str(number) / job.rules.id, texts, within=folder)
    if job.rules.own is not None:
        _write(folder / "own" / job.rules.id, job.rules.own, within=folder)
    if isinstance(job.subject, SceneSubject):
        _write(scene_folder(folder), job.subject.files, within=folder)
    for number, text in enumerate(job.orders.values()):
        _write(folder / "orders" / str(number), {_ORDERS: text}, within=folder)


def _write(folder: Path, texts: Texts, *, within: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = Path(os.path.normpath(folder / name))
        if not path.is_relative_to(os.path.normpath(within)):
            raise UsageError(f"{name}: a file of a simulated scene can be at most six folders above the scene")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def scene_folder(folder: Path) -> Path:
    """Return the folder of the sheets of a scene, in a worker's folder."""
    return folder / _DEPTH


def policies_in(job: Job, folder: Path) -> dict[str, str]:
    """Return the policies of a job; files of standing orders by their paths in a worker's folder."""
    places = {name: str(folder / "orders" / str(number) / _ORDERS) for number, name in enumerate(job.orders)}
    return {who: places.get(name, name) for who, name in job.policies.items()}


def rebuild_rules(job: RulesJob, folder: Path, *, switches: Mapping[str, str] | None = None) -> Rules:
    """Return the rules of a job from what is installed here and from the files in a worker's folder.

    Args:
        folder: where `unpack` wrote their files.
        switches: in place of the job's, for a scene that has its own.

    Raises:
        FileError: the data that are installed here differ.
        RpgresError: the ruleset is missing or cannot be used.
    """
    if job.own is not None:
        own = folder / "own" / job.id
        ruleset = Ruleset(job.id, data=own)
    else:
        ruleset = find_ruleset(job.id)
        own = ruleset.data if ruleset.data is not None else builtin_folder() / job.id
    overlays = [folder / "overlays" / str(number) / job.id for number in range(len(job.overlays))]
    rules = Rules.read(ruleset, [own, *overlays], switches=job.switches if switches is None else switches)
    identity = rules.layers.identity()
    if identity["hash"] != job.hash:
        raise FileError(
            f"the data of the ruleset {job.id} differ: here version {identity['version']} with hash "
            f"{identity['hash'][:8]}, where the simulation began version {job.version} with hash {job.hash[:8]}"
        )
    return rules


def require_portable(job: Job) -> None:
    """Check that a job can be rebuilt on another machine.

    Raises:
        UsageError: its scene names a file by an absolute path.
    """
    if isinstance(job.subject, SceneSubject) and job.subject.absolute:
        raise UsageError(
            f"{job.subject.source.path} names the file {job.subject.absolute[0]} by an absolute path, which other "
            f"machines lack; use a path from the scene's folder for {named('cluster')}"
        )
