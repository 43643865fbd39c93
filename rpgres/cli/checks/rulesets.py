"""Checks of rulesets with their overlays: files, examples and scenes. Nothing here prints."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from rpgres.catalog.summary import RulesetCheck
from rpgres.errors import FileError, PluginError, RpgresError
from rpgres.plugins.discovery import find_ruleset, owner_of, ruleset_names
from rpgres.rulesets import Rules, Ruleset, data_folders, overlay_roots
from rpgres.toml.diagnostics import Diagnostic, Fault, diagnostics_in

RULESET = "ruleset.toml"


def check_ruleset(named: str, folders: Sequence[Path], *, known: Collection[str]) -> RulesetCheck:
    """Return the diagnostics of a ruleset and its overlays.

    Args:
        named: its id, or the folder where it is.
        folders: the folders of `--rulesets`.

    Raises:
        UsageError: there is no such ruleset.
        FileError: it is spelt like a path, and no ruleset is there.
    """
    folder = None if named in known else _folder_at(named)
    return _checked(named, folders) if folder is None else check_folder(folder, folders)


def places_of(named: Sequence[str], folders: Sequence[Path]) -> list[Path]:
    """Return the folders of rulesets, also those that do not exist yet; without a name, of all.

    Raises:
        UsageError: there is no such ruleset.
        FileError: one is spelt like a path, and no ruleset is there.
    """
    roots = overlay_roots(folders)
    if not named:
        return roots
    known = {name.id for name in ruleset_names(titles=False, extra=folders)}
    found = list[Path]()
    for name in named:
        folder = None if name in known else _folder_at(name)
        if folder is None:
            own = find_ruleset(name, extra=folders).data
            found += [*([own] if own else []), *(root / name for root in roots)]
        else:
            found.append(folder)
    return list(dict.fromkeys(found))


def _folder_at(typed: str) -> Path | None:
    """Return the folder of the ruleset that is meant by a path, or None for an id."""
    from rpgres.lint.overlays import FILES, FOLDERS

    path = Path(typed)
    if os.path.isdir(path) and any(os.path.exists(path / name) for name in (*FILES, *FOLDERS)):
        return path
    if os.path.isfile(path) and path.name == RULESET:
        return path.parent
    if os.path.isfile(path) and path.suffix == ".toml":
        better = path.parent / path.stem / RULESET
        message = f"{path}: a ruleset is a file {RULESET} in a folder named after its id; move it to {better}"
        raise FileError(message, file=typed)
    if not (path.suffix == ".toml" or os.path.basename(typed) != typed or typed == os.curdir):
        return None
    told = f"has no {RULESET}, and is no overlay" if os.path.isdir(path) else "there is no such file or folder"
    raise FileError(f"{typed}: {told}; name the folder of a ruleset, or its {RULESET}", file=typed)


def check_folder(folder: Path, extra: Sequence[Path]) -> RulesetCheck:
    """Return the diagnostics of a ruleset or an overlay in any folder, also one that is not searched.

    Raises:
        UsageError: it is neither.
    """
    from rpgres.plugins.entries import folder_fault, is_standalone

    whole = folder.resolve()
    owner = owner_of(folder, extra=extra)
    if owner is not None:
        return _checked(owner, extra)
    if not is_standalone(folder):
        root = whole.parent if folder.name in ("", os.pardir) else folder.parent
        return _checked(whole.name, [*extra, root])
    problems, _ = _problems_of(Ruleset(whole.name, data=folder), [folder], extra, is_alone=True)
    fault = folder_fault(whole.name)
    if fault:
        problems = [Diagnostic("bad-id", fault, str(folder)), *problems]
    return RulesetCheck(whole.name, _is_sound(problems), (), problems)


def _checked(ruleset_id: str, folders: Sequence[Path]) -> RulesetCheck:
    """Return the diagnostics of a ruleset and its overlays."""
    try:
        ruleset = find_ruleset(ruleset_id, extra=folders)
    except PluginError as error:
        return RulesetCheck(ruleset_id, False, (), diagnostics_in(error, code="broken-plugin"))
    found = data_folders(ruleset_id, own=ruleset.data, extra=folders)
    problems, overlays = _problems_of(ruleset, found, folders)
    return RulesetCheck(ruleset_id, _is_sound(problems), overlays, problems)


def _is_sound(problems: Sequence[Diagnostic]) -> bool:
    return all(one.severity != "error" for one in problems)


def _problems_of(
    ruleset: Ruleset, found: Sequence[Path], extra: Sequence[Path], *, is_alone: bool = False
) -> tuple[Sequence[Diagnostic], Sequence[str]]:
    """Return the diagnostics of the folders of a ruleset, and which of them are overlays of the first."""
    from rpgres.conformance.unreached import unreached_outcomes
    from rpgres.lint.whole import all_diagnostics

    overlays = [str(folder) for folder in found[1:]]
    try:
        rules = Rules.read(ruleset, found)
        problems = all_diagnostics(rules)
        # While the rules are broken, each example and scene would tell the same again.
        if not problems:
            problems = [*_example_problems(rules), *_scene_problems(rules, extra, is_alone=is_alone)]
        if not problems:
            problems = list(unreached_outcomes(rules))
    except FileError as error:
        problems = diagnostics_in(error)
    return problems, overlays


def _example_problems(rules: Rules) -> Iterator[Diagnostic]:
    """Yield the examples of actions that cannot be typed, or do not run."""
    from rpgres.conformance.subjects import read_example
    from rpgres.dice.seeds import Streams
    from rpgres.engine.run import run
    from rpgres.rulesets.folders import located_in

    for name, action in rules.file.actions.items():
        if not action.example:
            continue
        try:
            run(read_example(rules, name), streams=Streams("example"))
        except RpgresError as error:
            yield located_in(rules.layers.parts, Fault("bad-example", ("actions", name, "example"), error.typed))


def _scene_problems(rules: Rules, folders: Sequence[Path], *, is_alone: bool) -> Iterator[Diagnostic]:
    from rpgres.plugins.loading import load_rules
    from rpgres.scenes import check_scene, read_scene
    from rpgres.toml.reading import read_source

    def find(ruleset_id: str) -> Ruleset:
        return rules.ruleset if ruleset_id == rules.id else find_ruleset(ruleset_id, extra=folders)

    loaded: dict[tuple[str, frozenset[tuple[str, str]]], Rules] = {}  # most scenes choose the same switches

    def load(code: Ruleset, *, switches: Mapping[str, str], extra: Sequence[Path]) -> Rules:
        key = code.id, frozenset(switches.items())
        if key not in loaded:
            is_own = is_alone and code is rules.ruleset
            loaded[key] = rules.with_switches(switches) if is_own else load_rules(code, switches=switches, extra=extra)
        return loaded[key]

    for path in rules.layers.files("scenes"):
        try:
            yield from check_scene(read_scene(read_source(path), find_ruleset=find, extra=folders, load=load))
        except RpgresError as error:
            yield from diagnostics_in(error, file=str(path))
