"""The timeline as a picture: a row of phases, and each stack as far as a seat knows it."""

from __future__ import annotations

from rpgres import Ruleset


def register(ruleset: Ruleset) -> None:
    """Register the pictures with a ruleset."""
