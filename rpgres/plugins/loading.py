"""A ruleset read: its data alone, as help, completion and lines need them, or ready to play with its code."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from rpgres.errors import FileError, PluginError, UsageError
from rpgres.model.state import EMPTY
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.entries import BUILTIN
from rpgres.rulesets import Parameter, Part, Rules, Ruleset, RulesetFile, data_folders, merge_parts, read_parts

KEPT = 64  # rulesets, with other switches or folders each, that a process keeps
_kept: dict[Hashable, Rules] | None = None


@contextmanager
def rules_kept() -> Iterator[None]:
    """Have the files of each ruleset read once only, for a process that does much."""
    global _kept
    before, _kept = _kept, {}
    try:
        yield
    finally:
        _kept = before


def load_rules(ruleset: Ruleset, *, switches: Mapping[str, str] = EMPTY, extra: Sequence[Path] = ()) -> Rules:
    """Return a ruleset's code with its data, overlays and switches, ready to play.

    With overlays in use, the whole of what they leave is checked.

    Raises:
        FileError: a data file is missing or faulty.
        UsageError: a switch is unknown or has no such choice.
    """
    known = ruleset, tuple(sorted(switches.items())), tuple(extra)
    return kept_rules(known, lambda: _loaded(ruleset, switches, extra))


def rules_to_show(
    ruleset_id: str, *, switches: Mapping[str, str] = EMPTY, extra: Sequence[Path] = ()
) -> tuple[Rules, str]:
    """Return the rules whose words show a table, and what is wrong with them; nothing where they can be played.

    Faulty rules are shown by what the ruleset's own folder has, and where that is faulty too, without words.
    """
    try:
        return load_rules(find_ruleset(ruleset_id, extra=extra), switches=switches, extra=extra), ""
    except (UsageError, PluginError, FileError) as error:
        why = error.message
    try:
        return Rules.read(find_ruleset(ruleset_id, extra=extra)), why
    except (UsageError, PluginError, FileError):
        return Rules(Ruleset(ruleset_id), file=RulesetFile(ruleset_id, "", ""), parts=()), why


def kept_rules(known: Hashable, load: Callable[[], Rules]) -> Rules:
    """Return rules that are kept while `rules_kept` holds, and else as they are loaded now.

    Args:
        known: what tells them from others.
    """
    if _kept is None:
        return load()
    if known not in _kept:
        if len(_kept) >= KEPT:
            _kept.clear()
        _kept[known] = load()
    return _kept[known]


def _loaded(ruleset: Ruleset, switches: Mapping[str, str], extra: Sequence[Path]) -> Rules:
    folders = data_folders(ruleset.id, own=ruleset.data, extra=extra)
    return checked(Rules.read(ruleset, folders, switches=switches))


def checked(rules: Rules) -> Rules:
    """Return rules that can be played: whatever does not ship with the ruleset is linted first.

    Raises:
        FileError: all problems at once, each with its file and line.
    """
    if not rules.layers.is_own:
        from rpgres.lint.rulesets import check_overlaid

        check_overlaid(rules)
    return rules


# ---------------------------------------------------------------------------------------------------------------------
# Data without code


class RulesetData(Struct, frozen=True):
    """The data of a ruleset, read once for a command line."""

    id: str
    extra: tuple[Path, ...]
    parts: Sequence[Part]
    file: RulesetFile

    def rules(self, switches: Mapping[str, str]) -> Rules:
        """Return the ruleset as it is played; this imports its plugin."""
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
