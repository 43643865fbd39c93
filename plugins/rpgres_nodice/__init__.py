"""NoDice: secret stacks on a timeline of phases. Costs and house rules stand in `rulesets/nodice/`."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres import Ruleset, hookimpl
from rpgres_nodice.rules import nodice


@hookimpl
def rpgres_rulesets() -> Iterator[Ruleset]:
    """Yield the ruleset."""
    yield nodice


__all__ = ["rpgres_rulesets"]
