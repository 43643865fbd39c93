"""Rulesets: their TOML (`records`), where it lies (`folders`), their code (`code`), and both as played (`rules`).

What is wrong with them is found by `checking`, `rows` and `overlays`, which are imported only when somebody asks.
"""

from __future__ import annotations

from rpgres.rulesets.code import API, ApplyEffect, Effect, Origin, Prepare, Rule, Ruleset, blamed, effect
from rpgres.rulesets.folders import (
    Part,
    builtin_folder,
    data_folders,
    merge_parts,
    overlay_roots,
    read_parts,
    user_folder,
)
from rpgres.rulesets.records import (
    Action,
    Band,
    EffectText,
    Field,
    Id,
    Instead,
    Label,
    MoreBoxes,
    OutcomeTable,
    Parameter,
    Range,
    RecordField,
    Row,
    RowOption,
    RowQuestion,
    RulesetFile,
    Switch,
    Track,
)
from rpgres.rulesets.rules import Ask, Choice, Option, Rules, Settlement, load_rules, unknown, value_of

__all__ = [
    "API",
    "Action",
    "ApplyEffect",
    "Ask",
    "Band",
    "Choice",
    "Effect",
    "EffectText",
    "Field",
    "Id",
    "Instead",
    "Label",
    "MoreBoxes",
    "Option",
    "Origin",
    "OutcomeTable",
    "Parameter",
    "Part",
    "Prepare",
    "Range",
    "RecordField",
    "Row",
    "RowOption",
    "RowQuestion",
    "Rule",
    "Rules",
    "Ruleset",
    "RulesetFile",
    "Settlement",
    "Switch",
    "Track",
    "blamed",
    "builtin_folder",
    "data_folders",
    "effect",
    "load_rules",
    "merge_parts",
    "overlay_roots",
    "read_parts",
    "unknown",
    "user_folder",
    "value_of",
]
