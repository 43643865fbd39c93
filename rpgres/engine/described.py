"""The rule of an action that needs no code: which of the ways to play data it is."""

from __future__ import annotations

from functools import partial

from rpgres.rulesets import Rule, Rules


def described_rule(rules: Rules, action: str) -> Rule:
    """Return the rule of an action that needs no code, because its data describe it."""
    if action in rules.file.tables:
        from rpgres.engine.tables import play_table

        return partial(play_table, action)
    from rpgres.engine.named_dice import play_named

    return partial(play_named, action)
