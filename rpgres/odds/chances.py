"""Fields that the JSON of all odds shares: chances, and what was evaluated by which rules and policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.model.printed import Printed

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.rulesets import Rules


class Chance(msgspec.Struct, frozen=True):
    """The probability of one outcome: as a float for reading, and as an exact fraction.

    Attributes:
        probability: from 0 to 1, for reading.
        exact: the same as a fraction, such as 2123/6561.
    """

    probability: float
    exact: str


class Asked(Printed, frozen=True, kw_only=True):
    """The first fields of records of odds and simulations: what was evaluated by which rules and policies.

    Attributes:
        ruleset: the ruleset's id.
        action: the action's name; null for a scene, and for dice notation.
        scene: the scene's file or name; null for an action.
        title: the scene's title; empty for an action.
        inputs: what was typed, by parameter.
        policies: the policy of each character; the default under `*`.
        switches: every house rule and the choice in force.
        house_rules: what differs from the ruleset as it ships: overlays, and switches not at their default.
        note: the text of --note.
    """

    ruleset: str
    action: str | None = None
    scene: str | None = None
    title: str = ""
    inputs: dict[str, Any] = {}
    policies: dict[str, str] = {}
    switches: dict[str, str] = {}
    house_rules: list[str] = []
    note: str | None = None


def rules_fields(rules: Rules) -> dict[str, Any]:
    """Return the rules in play as fields of `Asked`."""
    return {"ruleset": rules.id, "switches": rules.chosen, "house_rules": house_rules(rules)}


def house_rules(rules: Rules) -> list[str]:
    """Return what differs from the ruleset as it ships: overlays, and switches not at their default."""
    switches = [f"{name}={value}" for name, value in rules.chosen.items() if value != rules.default_switch(name)]
    return [*rules.layers.overlays, *switches]


def chance_record(mass: Fraction) -> Chance:
    """Return a probability for the JSON.

    >>> from fractions import Fraction
    >>> chance_record(Fraction(1, 4)).exact
    '1/4'
    """
    return Chance(float(mass), str(mass))


def chance_rows(by: str, chances: Mapping[str, Chance], *, has_numbers: bool) -> list[dict[str, Any]]:
    """Return a row for each chance: its name under `by`, `probability`, `exact` fraction."""
    return [
        {by: _number(name) if has_numbers else name, "probability": chance.probability, "exact": chance.exact}
        for name, chance in chances.items()
    ]


def _number(text: str) -> int | str:
    return int(text) if text.removeprefix("-").isdecimal() else text
