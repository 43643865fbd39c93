"""Coppermane, a Scion variant of Fate: the procedure of its actions. What an outcome means stands in its TOML."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres import Ruleset, hookimpl
from rpgres_coppermane.procedures import coppermane


@hookimpl
def rpgres_rulesets() -> Iterator[Ruleset]:
    """Yield the ruleset."""
    yield coppermane


__all__ = ["rpgres_rulesets"]
