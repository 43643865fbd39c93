"""The contract between rpgres and a ruleset, as checks that anybody's ruleset can be put to. It names no ruleset.

`records` says what a check and its verdict are, `subjects` where the actions come from that are played, `walks` how
they are played; `documentation`, `sources`, `behaviour`, `secrets`, `permissions` and `probabilities` hold the checks;
`subprocess` plays in another process. Nothing here prints.
"""

from __future__ import annotations

from rpgres.conformance.checks import CHECKS, check_ruleset, run_check
from rpgres.conformance.records import Check, PluginCheck, PluginReport, Verdict
from rpgres.conformance.subjects import Subject, open_subject

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
