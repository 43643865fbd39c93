"""What overlays have that nothing reads, such as misspelt files and folders of no ruleset; settings they spoil."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rpgres.errors import FileError
from rpgres.lint.outcomes import named_menus
from rpgres.rulesets.folders import BEGINS_SO, Text, located_in, overlay_roots
from rpgres.rulesets.rules import Rules
from rpgres.toml.diagnostics import Diagnostic, Fault, KeyPath, nearest
from rpgres.toml.faults import kind_of

FILES = ("ruleset.toml", "menus.toml")
FOLDERS = ("outcomes", "sheets", "scenes", "decks")
BESIDE = (".md", ".txt", "~")  # what people keep beside their files


def stray_diagnostics(rules: Rules) -> Iterator[Diagnostic]:
    """Yield what the overlays of a ruleset have that changes nothing."""
    for folder in rules.layers.overlays:
        yield from _unread(Path(folder))
    yield from _decks(rules)
    try:
        yield from _tables(rules)
        yield from _menus(rules)
    except FileError:
        return  # a table that cannot be read is told as such, and might name anything


def _unread(folder: Path) -> Iterator[Diagnostic]:
    for entry in _entries(folder):
        is_folder = os.path.isdir(entry.path)
        known = FOLDERS if is_folder else FILES
        if entry.name in known:
            continue
        near = nearest(entry.name, known)
        if near or is_folder or entry.name in FOLDERS or entry.name.endswith(".toml"):
            other = entry.name in (FILES if is_folder else FOLDERS)
            what = "folder" if is_folder else "file"
            reads = ", ".join((*FILES, *(f"{name}/" for name in FOLDERS)))
            message = f"there is no {what} of this name to overlay; known names: {reads}"
            if other:
                message = f"this is a {what}, where {'a file' if is_folder else 'a folder'} of this name is read"
            yield Diagnostic("unread-file", message, entry.path, hint="" if other else near or "")
    for name in FOLDERS:
        for entry in _entries(folder / name):
            if not entry.name.endswith(".toml"):
                yield Diagnostic("unread-file", f"only files NAME.toml are read in {name}/", entry.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    return [entry for entry in found if not entry.name.startswith((".", "__")) and not entry.name.endswith(BESIDE)]


def _tables(rules: Rules) -> Iterator[Diagnostic]:
    """Yield the outcome tables that no action names; of code that may use its own, those that only overlays have."""
    named = {table for action in rules.file.actions.values() for table in action.tables}
    names = rules.layers.table_names()
    for name in names:
        texts = rules.layers.table_texts(name)
        if name in named or not texts or not (rules.file.standalone or rules.layers.is_overlaid(texts[0].source.path)):
            continue
        others = tuple(other for other in (*names, *rules.file.actions) if other != name)
        yield located_in(texts[:1], Fault("unused", (), f"no action has an outcome table {name!r}", name, others))


def _decks(rules: Rules) -> Iterator[Diagnostic]:
    """Yield the decks that only overlays have and that nothing names, where another name may have been meant."""
    named = {deck for pile in rules.file.piles.values() for deck in pile.decks}
    names, texts = rules.layers.deck_names(), dict[str, Sequence[Text]]()
    for name in names:
        try:
            texts[name] = rules.layers.deck_texts(name)
        except FileError:
            return  # a deck that cannot be read is told as such, and might extend any other
    extended = [text.data.get("extends") for found in texts.values() for text in found]
    named |= {name for name in extended if isinstance(name, str)}
    for name, found in texts.items():
        others = tuple(other for other in names if other != name)
        if nearest(name, others) and name not in named and rules.layers.is_overlaid(found[0].source.path):
            message = f"no pile has a deck {name!r}, and no deck extends it"
            yield located_in(found[:1], Fault("unused", (), message, name, others))


def _menus(rules: Rules) -> Iterator[Diagnostic]:
    """Yield the menus that no question takes; of code that may use its own, those that only overlays have."""
    texts = rules.layers.menu_texts()
    laid = [text for text in texts if rules.file.standalone or rules.layers.is_overlaid(text.source.path)]
    own = {name for text in texts if text not in laid for name in text.data}
    new = dict.fromkeys(name for text in laid for name in text.data if name not in own)
    named = named_menus(rules) if new else set()
    for name in new:
        if name not in named:
            known = tuple(sorted(own or named))
            yield located_in(laid, Fault("unused", (name,), f"no question uses a menu {name!r}", name, known))


def setting_faults(rules: Rules) -> Iterator[Fault]:
    """Yield what overlays have made of settings that the ruleset's code cannot read."""
    if rules.file.standalone or not rules.layers.overlays:
        return
    try:
        own = rules.without_overlays().file.settings
    except FileError:
        return  # it takes the overlays to make it readable
    for name in own:
        if name not in rules.file.settings:
            yield Fault("no-data", ("settings", name), "the code reads this setting, which cannot be taken away")
    yield from _spoilt(own, rules.file.settings, ("settings",))


def _spoilt(was: Mapping[str, Any], now: Mapping[str, Any], at: KeyPath) -> Iterator[Fault]:
    for name in was:
        if name not in now:
            continue
        path, before, after = (*at, name), was[name], now[name]
        if type(before) is not type(after):
            yield Fault("wrong-type", path, f"expected {kind_of(before)}, found {kind_of(after)}")
        elif isinstance(before, dict):
            yield from _spoilt(before, after, path)


def stray_folders(known: Iterable[str], *, extra: Sequence[Path] = ()) -> list[Diagnostic]:
    """Return the folders beside overlays that extend nothing, because no ruleset has their name.

    Args:
        extra: the folders of `--rulesets`.
    """
    ids = list(known)
    found: dict[str, Diagnostic] = {}
    for root in overlay_roots(extra):
        for entry in _entries(root):
            if not os.path.isdir(entry.path) or entry.name in ids:  # unlike the entry's, this never raises
                continue
            near = nearest(entry.name, ids)
            if near or any(os.path.exists(os.path.join(entry.path, name)) for name in (*FILES, *FOLDERS)):
                message = f"there is no ruleset {entry.name!r}, so this folder is ignored"
                if not near and os.path.isfile(os.path.join(entry.path, FILES[0])):
                    message += f"; {BEGINS_SO}"
                stray = Diagnostic("unread-file", message, entry.path, hint=near or "")
                found.setdefault(os.path.realpath(entry.path), stray)
    return list(found.values())
