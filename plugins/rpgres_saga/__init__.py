"""Saga: cards from a hand in place of dice. What an outcome means, and every house rule, stands in `rulesets/saga/`."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres import Ruleset, hookimpl
from rpgres_saga.rules import saga


@hookimpl
def rpgres_rulesets() -> Iterator[Ruleset]:
    """Yield the ruleset."""
    yield saga


__all__ = ["rpgres_rulesets"]
