"""A ruleset ready to play: its code, its data with overlays and switches, checked where somebody has changed them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rpgres.model.state import EMPTY
from rpgres.rulesets import Rules, Ruleset, data_folders, merge_parts, read_parts


def load_rules(ruleset: Ruleset, *, switches: Mapping[str, str] = EMPTY, extra: Sequence[Path] = ()) -> Rules:
    """Return a ruleset's code with its data, overlays and switches, ready to play.

    With overlays in use, the whole of what they leave is checked.

    Raises:
        FileError: a data file is missing or faulty.
        UsageError: a switch is unknown or has no such choice.
    """
    parts = read_parts(data_folders(ruleset.id, own=ruleset.data, extra=extra), ruleset_id=ruleset.id)
    return checked(Rules(ruleset, file=merge_parts(parts), parts=parts, switches=switches))


def checked(rules: Rules) -> Rules:
    """Return rules that can be played: whatever does not ship with the ruleset is linted first.

    Raises:
        FileError: all problems at once, each with its file and line.
    """
    if not rules.layers.is_own:
        from rpgres.lint.rulesets import check_overlaid

        check_overlaid(rules)
    return rules
