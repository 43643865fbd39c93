"""What somebody fights with: the ratings that a ruleset's settings name, the best of which counts."""

from __future__ import annotations

from collections.abc import Sequence

from rpgres.model.state import Character
from rpgres.parameters.values import Rating
from rpgres.rulesets import Rules


def rating_names(rules: Rules, kind: str, use: str) -> Sequence[str]:
    """Return the abilities that count for something in a conflict of a kind, as `settings.conflict` has them.

    Args:
        rules: the ruleset in play.
        kind: `physical` or `mental`.
        use: `attack`, `defense` or `order`.
    """
    found = rules.file.setting(f"conflict.{kind}.{use}")
    return found if isinstance(found, list) else []


def best_rating(rules: Rules, character: Character, kind: str, use: str) -> Rating:
    """Return the best of somebody's abilities that count for something; the first one of equals."""
    names = rating_names(rules, kind, use)
    rated = [Rating(character.abilities.get(name, 0), name) for name in names]
    return max(rated, key=lambda rating: rating.value, default=Rating(0))
