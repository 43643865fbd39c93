"""The data of a ruleset without its code, as help, completion, lines and odds need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from rpgres.model.state import EMPTY
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.entries import BUILTIN
from rpgres.rulesets import Parameter, Part, Rules, Ruleset, RulesetFile, data_folders, merge_parts, read_parts


class RulesetData(Struct, frozen=True):
    """The data of a ruleset, read once for a command line."""

    id: str
    extra: tuple[Path, ...]
    parts: Sequence[Part]
    file: RulesetFile

    def rules(self, switches: Mapping[str, str]) -> Rules:
        """Return the ruleset as it is played; this imports its plugin."""
        from rpgres.plugins.loading import kept_rules

        ruleset = find_ruleset(self.id, extra=self.extra)
        known = "data", self.id, self.extra, tuple(sorted(switches.items()))
        return kept_rules(known, lambda: Rules(ruleset, file=self.file, parts=self.parts, switches=switches))

    def without_code(self, switches: Mapping[str, str] = EMPTY) -> Rules:
        """Return the data as rules that can be asked, but not played."""
        return Rules(Ruleset(self.id), file=self.file, parts=self.parts, switches=switches)

    def parameters(self, action: str) -> dict[str, Parameter]:
        """Return what an action takes, by the name it is typed under."""
        return self.file.parameters_of(action)


def read_ruleset(ruleset_id: str, *, extra: tuple[Path, ...] = ()) -> RulesetData:
    """Return the data of a ruleset.

    Only a third party's plugin is imported for it, since only its code says where its data are.

    Raises:
        UsageError: there is no such ruleset.
        PluginError: its plugin cannot be used.
        FileError: its data are faulty.
    """
    own = None if ruleset_id in BUILTIN else find_ruleset(ruleset_id, extra=extra).data
    parts = read_parts(data_folders(ruleset_id, own=own, extra=extra), ruleset_id=ruleset_id)
    return RulesetData(ruleset_id, extra, parts, merge_parts(parts))
