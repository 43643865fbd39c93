"""A ruleset with its code, as a command line names it."""

from __future__ import annotations

from collections.abc import Sequence

from rpgres.cli.options import read_folders, read_switches
from rpgres.plugins.discovery import find_ruleset
from rpgres.rulesets import Rules


def load_named(ruleset_id: str, rulesets: Sequence[str] | None, switch: Sequence[str] | None = None) -> Rules:
    """Return a ruleset with its code, after `--rulesets` and `--switch`.

    Raises:
        UsageError: there is no such ruleset, folder, switch or choice.
        PluginError: its plugin cannot be used.
        FileError: its data are faulty.
    """
    from rpgres.plugins.loading import load_rules

    folders = read_folders(rulesets or ())
    return load_rules(find_ruleset(ruleset_id, extra=folders), switches=read_switches(switch or ()), extra=folders)
