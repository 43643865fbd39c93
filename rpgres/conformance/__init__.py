"""The contract between rpgres and a ruleset, as checks that anybody's ruleset can be put to. It names no ruleset.

`records` says what a check and its verdict are, `subjects` where the actions come from that are played, `walks` how
they are played; `documentation`, `sources`, `behaviour`, `secrets`, `permissions` and `probabilities` hold the checks;
`subprocess` plays in another process. Nothing here prints.

The checks are loaded when they are first used: processes that play cases, and `rpgres ruleset check`, need none of what
they stand on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rpgres.conformance.records import Check, PluginCheck, PluginReport, Verdict
from rpgres.conformance.subjects import Subject, open_subject

if TYPE_CHECKING:
    from rpgres.conformance.checks import CHECKS, check_ruleset, run_check

__all__ = [
    "CHECKS",
    "Check",
    "PluginCheck",
    "PluginReport",
    "Subject",
    "Verdict",
    "check_ruleset",
    "open_subject",
    "run_check",
]


def __getattr__(name: str) -> Any:
    if name not in ("CHECKS", "check_ruleset", "run_check"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rpgres.conformance import checks

    return getattr(checks, name)
