"""Shipped rulesets, read once for all tests of a process: thousands of commands would each read the same files anew.

So does a process that answers a batch (`rules_kept`). Only what no house rule changes is kept; that a command reads the
files as they stand, and only those it needs, is tested with rulesets of the tests' own and by processes of their own.
A shipped ruleset in which `ruleset check` or `plugin list` has found no fault is not searched for one again, either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rpgres.cli.checks import rulesets as checks
from rpgres.plugins import listing, loading
from rpgres.plugins.entries import Entry
from rpgres.rulesets import Part, Rules, Ruleset, RulesetFile, builtin_folder, data_folders, merge_parts, read_parts

_load = loading._loaded
_loaded: dict[tuple[Ruleset, tuple[tuple[str, str], ...]], Rules] = {}
_parts: dict[str, list[Part]] = {}
_files: dict[str, RulesetFile] = {}
_check, _check_data = checks._problems_of, listing._check_thoroughly
_sound: set[Ruleset] = set()
_well: dict[Entry, tuple[str, str]] = {}


def keep_rulesets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have shipped rulesets read once by all tests that call this."""
    monkeypatch.setattr(loading, "_loaded", _rules)
    monkeypatch.setattr(loading, "read_parts", _read)
    monkeypatch.setattr(loading, "merge_parts", _merged)
    monkeypatch.setattr(checks, "_problems_of", _problems)
    monkeypatch.setattr(listing, "_check_thoroughly", _checked)


def _rules(ruleset: Ruleset, switches: Mapping[str, str], extra: Sequence[Path]) -> Rules:
    if data_folders(ruleset.id, own=ruleset.data, extra=extra) != [builtin_folder() / ruleset.id]:
        return _load(ruleset, switches, extra)
    known = ruleset, tuple(sorted(switches.items()))
    if known not in _loaded:
        _loaded[known] = _load(ruleset, switches, extra)
    return _loaded[known]


def _read(folders: Sequence[Path], *, ruleset_id: str) -> list[Part]:
    if folders != [builtin_folder() / ruleset_id]:
        return read_parts(folders, ruleset_id=ruleset_id)
    if ruleset_id not in _parts:
        _parts[ruleset_id] = read_parts(folders, ruleset_id=ruleset_id)
    return _parts[ruleset_id]


def _merged(parts: list[Part]) -> RulesetFile:
    name = parts[-1].folder.name
    if parts is not _parts.get(name):
        return merge_parts(parts)
    if name not in _files:
        _files[name] = merge_parts(parts)
    return _files[name]


def _problems(ruleset: Ruleset, found: Sequence[Path], extra: Sequence[Path], **more: Any) -> Any:
    ships = found == [builtin_folder() / ruleset.id] and not (extra or more)
    if ships and ruleset in _sound:
        return [], []
    problems, overlays = _check(ruleset, found, extra, **more)
    if ships and not problems:
        _sound.add(ruleset)
    return problems, overlays


def _checked(entry: Entry) -> tuple[str, str]:
    if not entry.builtin:
        return _check_data(entry)
    if entry not in _well:
        _well[entry] = _check_data(entry)
    return _well[entry]
