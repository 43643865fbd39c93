"""Faith: confrontations with playing cards. Outcomes and house rules stand in `rulesets/faith/`."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres import Ruleset, hookimpl
from rpgres_faith.rules import faith


@hookimpl
def rpgres_rulesets() -> Iterator[Ruleset]:
    """Yield the ruleset."""
    yield faith


__all__ = ["rpgres_rulesets"]
