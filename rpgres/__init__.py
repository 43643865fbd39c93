"""The public face of rpgres, for bots, scripts, notebooks and plugin authors: what is named here is stable.

Stable means: as long as `API` is the same, a name stays, takes what it took and returns what it returned. Arguments may
be added by keyword and with a default, fields may be added to records, events and effects. Attributes that a docstring
calls the engine's, names that begin with an underscore and modules that are not named here may change with any version.
`rpgres.kits.*` and `rpgres.testing` are stable in the same way. `rpgres help library` has the names for bots, scripts
and notebooks, `rpgres help plugins` those for rules.

Of types that are made of others, `help` shows those; what they stand for:

    ApplyEffect  a function of an effect, `(state, effect) -> state`
    Costs        `(state, actor, parameters) -> effects` of doing an action at all
    Effect       what a finished action changes, a `Map` with a `kind`
    Event        one of what happens; `audience` holds the seats that may know of it, None is everybody
    Lump         `(rules, card, *, state, **parameters) -> key`; cards of one key are equivalent to an action
    Passage      `(table) -> effects`; what happens when a period begins or ends
    Picture      `(state, is_drawn) -> lines by name`; how things and tracks on the table are shown
    Policy       `(view, question) -> option name, weights by option name, or None`
    Rule         `(table, actor, **parameters) -> Outcome`

Names are loaded when they are first used, so that importing rpgres costs nothing.
"""

from __future__ import annotations

import sys

from rpgres.version import __version__

TYPE_CHECKING = False  # as type checkers understand it; importing `typing` would be most of what importing rpgres costs

if TYPE_CHECKING:
    from typing import Any

    from rpgres.dice import Comparison, Dice, Reading, Throw
    from rpgres.engine.events import Decided, Drawn, Event, Moved, Rolled, Told, Turned
    from rpgres.engine.players import NO, Policy, Preference, Question, View, by_facts, by_question, preferred, uniform
    from rpgres.engine.procedures import Turn
    from rpgres.engine.records import Pending, Result
    from rpgres.engine.resolve import resolve
    from rpgres.engine.table import Compared, Outcome, Table, once
    from rpgres.errors import (
        ChoiceError,
        FileError,
        GivenError,
        NotationError,
        PluginError,
        RpgresError,
        RuleError,
        UsageError,
        named,
    )
    from rpgres.journal.forms import TablePending, TableResult
    from rpgres.journal.records import TableError
    from rpgres.library.calls import load_sheet, roll, rulesets
    from rpgres.library.notebook import html_of, text_of
    from rpgres.library.odds import odds
    from rpgres.library.scene_odds import odds_best, odds_scene
    from rpgres.library.scenes import run_scene, whatif
    from rpgres.library.simulations import simulate
    from rpgres.library.studies import odds_compare, odds_table
    from rpgres.library.tables import PersistentTable, new_table, open_table
    from rpgres.model.state import (
        EMPTY,
        FACE_DOWN,
        GM,
        SCENE,
        Box,
        Card,
        Character,
        Deck,
        Map,
        Pile,
        State,
        Tag,
        freeze,
        mark_box,
        pile_name,
        put,
        slug,
    )
    from rpgres.parameters.values import Form, Opposition, Rating
    from rpgres.plugins.spec import hookimpl
    from rpgres.rulesets import (
        API,
        QUESTIONS,
        ApplyEffect,
        Costs,
        Effect,
        Lump,
        Option,
        Passage,
        Picture,
        Rule,
        Rules,
        Ruleset,
        effect,
        unknown,
    )

_HOMES = {
    "engine.records": ("Pending", "Result"),
    "dice": ("Comparison", "Dice", "Reading", "Throw"),
    "errors": (
        *("ChoiceError", "FileError", "GivenError", "NotationError", "PluginError"),
        *("RpgresError", "RuleError", "UsageError", "named"),
    ),
    "parameters.values": ("Form", "Opposition", "Rating"),
    "engine.procedures": ("Turn",),
    "engine.resolve": ("resolve",),
    "engine.players": (
        "NO",
        "Policy",
        "Preference",
        "Question",
        "View",
        "by_facts",
        "by_question",
        "preferred",
        "uniform",
    ),
    "plugins.spec": ("hookimpl",),
    "rulesets": (
        *("API", "QUESTIONS", "ApplyEffect", "Costs", "Effect", "Lump", "Option", "Passage", "Picture"),
        *("Rule", "Rules", "Ruleset", "effect", "unknown"),
    ),
    "model.state": (
        *("EMPTY", "FACE_DOWN", "GM", "SCENE", "Box", "Card", "Character", "Deck", "Map", "Pile", "State", "Tag"),
        *("freeze", "mark_box", "pile_name", "put", "slug"),
    ),
    "engine.events": ("Decided", "Drawn", "Event", "Moved", "Rolled", "Told", "Turned"),
    "engine.table": ("Compared", "Outcome", "Table", "once"),
    "journal.records": ("TableError",),
    "library.calls": ("load_sheet", "roll", "rulesets"),
    "library.notebook": ("html_of", "text_of"),
    "library.odds": ("odds",),
    "journal.forms": ("TablePending", "TableResult"),
    "library.scenes": ("run_scene", "whatif"),
    "library.simulations": ("simulate",),
    "library.scene_odds": ("odds_best", "odds_scene"),
    "library.studies": ("odds_compare", "odds_table"),
    "library.tables": ("PersistentTable", "new_table", "open_table"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


class _Face(type(sys)):  # type: ignore[misc]
    """This module. Importing the folder `rpgres/odds` must not put it in the place of the function `odds`."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOME_OF or not isinstance(value, type(sys)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face


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
    "API",
    "EMPTY",
    "FACE_DOWN",
    "GM",
    "NO",
    "QUESTIONS",
    "SCENE",
    "ApplyEffect",
    "Box",
    "Card",
    "Character",
    "ChoiceError",
    "Compared",
    "Comparison",
    "Costs",
    "Decided",
    "Deck",
    "Dice",
    "Drawn",
    "Effect",
    "Event",
    "FileError",
    "Form",
    "GivenError",
    "Lump",
    "Map",
    "Moved",
    "NotationError",
    "Opposition",
    "Option",
    "Outcome",
    "Passage",
    "Pending",
    "PersistentTable",
    "Picture",
    "Pile",
    "PluginError",
    "Policy",
    "Preference",
    "Question",
    "Rating",
    "Reading",
    "Result",
    "Rolled",
    "RpgresError",
    "Rule",
    "RuleError",
    "Rules",
    "Ruleset",
    "State",
    "Table",
    "TableError",
    "TablePending",
    "TableResult",
    "Tag",
    "Throw",
    "Told",
    "Turn",
    "Turned",
    "UsageError",
    "View",
    "__version__",
    "by_facts",
    "by_question",
    "effect",
    "freeze",
    "hookimpl",
    "html_of",
    "load_sheet",
    "mark_box",
    "named",
    "new_table",
    "odds",
    "odds_best",
    "odds_compare",
    "odds_scene",
    "odds_table",
    "once",
    "open_table",
    "pile_name",
    "preferred",
    "put",
    "resolve",
    "roll",
    "rulesets",
    "run_scene",
    "simulate",
    "slug",
    "text_of",
    "uniform",
    "unknown",
    "whatif",
]
