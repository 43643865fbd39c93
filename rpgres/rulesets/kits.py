"""Kits: code and data that several rulesets share, named by `kits = [...]`: what one brings and lets set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from rpgres.errors import FileError
from rpgres.rulesets.registry import Ruleset
from rpgres.rulesets.rows import Record

if TYPE_CHECKING:
    from rpgres.rulesets.rules import Rules
    from rpgres.toml.diagnostics import Fault

SettingsT = TypeVar("SettingsT", bound=Record)


class NoSettings(Record, frozen=True):
    """Nothing that a ruleset may set of a kit."""


class Kit(msgspec.Struct, frozen=True):
    """A kit's code, beside its data in `kits/data/NAME/ruleset.toml`.

    Attributes:
        name: as rulesets name it.
        register: `(ruleset, settings)` registers effects, policies, windows and what completes outcomes.
        settings: what a ruleset may set under `[settings.NAME]`.
        faults: `(rules)` yields what a ruleset lacks that the kit needs.
    """

    name: str
    register: Callable[[Ruleset, Any], None]
    settings: type[Record] = NoSettings
    faults: Callable[[Rules], Iterator[Fault]] = lambda _rules: iter(())


def settings_of(rules: Rules, kit: str, record: type[SettingsT]) -> SettingsT:
    """Return what a ruleset has set of a kit, as its record.

    Raises:
        FileError: a house rule has spoilt it.
    """
    key = f"kit:{kit}"
    if key not in rules.compiled:
        try:
            rules.compiled[key] = msgspec.convert(rules.file.settings.get(kit, {}), record)
        except msgspec.ValidationError as error:
            raise FileError(f"settings.{kit} of the ruleset {rules.id}: {error}") from None
    found: SettingsT = rules.compiled[key]
    return found
