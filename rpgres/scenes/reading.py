"""Scenes found and read from TOML, with their characters. Nothing here plays one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rpgres.actions import policy_of
from rpgres.errors import FileError
from rpgres.players import Policy
from rpgres.rulesets import Rules, builtin_folder, load_rules, overlay_roots
from rpgres.scenes.records import Scene, SceneFile
from rpgres.sheets import Sheet, find_sheet, make_sheet
from rpgres.state import EMPTY, Map, State, Tag
from rpgres.tomlfiles import Source, convert, locate, nearest, overlay, parse, read_source


def find_scene(name: str, *, extra: Sequence[Path] = ()) -> Path:
    """Return the file of a scene: a path, or one that ships with a ruleset as `RULESET/NAME`.

    Raises:
        FileError: there is none; names the nearest.
    """
    path = Path(name)
    if os.path.isfile(path):
        return path
    ruleset, _, scene = name.removesuffix(".toml").partition("/")
    known: list[str] = []
    for root in (*reversed(overlay_roots(extra)), builtin_folder()):
        folder = root / ruleset / "scenes"
        if scene and os.path.isfile(folder / f"{scene}.toml"):
            return folder / f"{scene}.toml"
        known += [f"{found.parent.parent.name}/{found.stem}" for found in sorted(root.glob("*/scenes/*.toml"))]
    near = nearest(name, known)
    hint = (
        f"; did you mean {near!r}?" if near else f"; scenes that ship by name: {', '.join(known[:12])}" if known else ""
    )
    raise FileError(f"there is no scene {name!r}{hint}", file=name)


def read_scene(
    source: Source,
    *,
    find_ruleset: Callable[[str], Any],
    switches: Mapping[str, str] = EMPTY,
    extra: Sequence[Path] = (),
    policy: str = "",
    auto: bool = False,
) -> Scene:
    """Return a scene from its text.

    Args:
        source: the text and where it stands.
        find_ruleset: gives a ruleset's code by id.
        switches: house rules chosen over the scene's own.
        extra: further folders with rulesets and overlays.
        policy: who answers for everybody who has no policy in the scene; in place of the scene's own for them.
        auto: let the ruleset's first policy do that when neither says.

    Raises:
        FileError: the file is faulty; all problems at once.
    """
    file: SceneFile = convert(parse(source), SceneFile, sources=[source])
    rules = load_rules(find_ruleset(file.ruleset), switches={**file.switches, **switches}, extra=extra)
    state = State(counters=Map(file.counters))
    folder = None if source.path == "-" else Path(source.path).parent
    policies: dict[str, Policy] = {}
    for name, described in file.characters.items():
        sheet, own = _character(rules, name, described, source=source, folder=folder)
        state = state.with_character(sheet.character)
        for tag in sheet.tags:
            if state.tag(tag.name) is not None:
                tag = msgspec.structs.replace(tag, name=f"{tag.name} ({name})")
            state = state.with_tag(tag)
        if own:
            policies[name] = policy_of(rules, own)
    for laid in file.tags.values():
        seen_by = None if laid.seen_by is None else tuple(laid.seen_by)
        state = state.with_tag(Tag(laid.text, laid.kind, laid.on, Map(laid.uses), seen_by))
    everybody = policy or file.policy
    if everybody or auto:
        policies[""] = policy_of(rules, everybody)
    return Scene(file, source, rules, state, policies)


def _character(
    rules: Rules, name: str, described: Mapping[str, Any], *, source: Source, folder: Path | None
) -> tuple[Sheet, str]:
    """Return a character of a scene and the name of its policy: its sheet, overlaid by what the scene says."""
    own = dict(described)
    policy = own.pop("policy", "")
    sheet = own.pop("sheet", None)
    prefix = ("characters", name)
    if not isinstance(policy, str) or not isinstance(sheet, str | None):
        raise FileError(f"{source.path}:{locate(source.text, prefix)}: sheet and policy of {name} are texts")
    if sheet is None:
        return make_sheet(rules, own, name=name, sources=[source], prefix=prefix), policy
    base = read_source(find_sheet(rules, sheet, beside=folder))
    make_sheet(rules, parse(base), name=name, sources=[base])  # faults of the sheet are the sheet's, not the scene's
    return make_sheet(rules, overlay(parse(base), own), name=name, sources=[source], prefix=prefix), policy
