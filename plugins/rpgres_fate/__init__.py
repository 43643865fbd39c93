"""Fate with the discover action: the procedure of its actions. What an outcome means stands in `rulesets/fate/`."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres import Ruleset, hookimpl
from rpgres_fate.procedures import fate


@hookimpl
def rpgres_rulesets() -> Iterator[Ruleset]:
    """Yield the ruleset."""
    yield fate


__all__ = ["rpgres_rulesets"]
