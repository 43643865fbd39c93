"""The public face of rpgres, for plugin authors, bots and scripts: what is named here is stable and documented.

Names are loaded when they are first used, so that importing rpgres costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rpgres.version import __version__

if TYPE_CHECKING:
    from rpgres.actions import Pending, Result
    from rpgres.dice import Dice
    from rpgres.errors import RpgresError, RuleError, UsageError
    from rpgres.inputs import Opposition, Rating
    from rpgres.library import resolve
    from rpgres.players import NO, Question, View, preferred
    from rpgres.plugins import hookimpl
    from rpgres.rulesets import Effect, Option, Rules, Ruleset, effect
    from rpgres.state import EMPTY, GM, SCENE, Box, Character, Map, State, Tag, put, slug
    from rpgres.table import Compared, Outcome, Table

_HOMES = {
    "actions": ("Pending", "Result"),
    "dice": ("Dice",),
    "errors": ("RpgresError", "RuleError", "UsageError"),
    "inputs": ("Opposition", "Rating"),
    "library": ("resolve",),
    "players": ("NO", "Question", "View", "preferred"),
    "plugins": ("hookimpl",),
    "rulesets": ("Effect", "Option", "Rules", "Ruleset", "effect"),
    "state": ("EMPTY", "GM", "SCENE", "Box", "Character", "Map", "State", "Tag", "put", "slug"),
    "table": ("Compared", "Outcome", "Table"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"rpgres has no public name {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"rpgres.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})


__all__ = [
    "EMPTY",
    "GM",
    "NO",
    "SCENE",
    "Box",
    "Character",
    "Compared",
    "Dice",
    "Effect",
    "Map",
    "Opposition",
    "Option",
    "Outcome",
    "Pending",
    "Question",
    "Rating",
    "Result",
    "RpgresError",
    "RuleError",
    "Rules",
    "Ruleset",
    "State",
    "Table",
    "Tag",
    "UsageError",
    "View",
    "__version__",
    "effect",
    "hookimpl",
    "preferred",
    "put",
    "resolve",
    "slug",
]
