"""Rulesets: their TOML (`schema`), where it lies (`folders`), their code (`registry`), and both as played (`rules`).

Outcome tables are settled in `settling`; `rpgres.lint` checks rulesets.
"""

from __future__ import annotations

from rpgres.rulesets.actions import Action, FormField, Parameter, is_public, speaker
from rpgres.rulesets.folders import (
    Part,
    builtin_folder,
    data_folders,
    merge_parts,
    overlay_roots,
    read_parts,
)
from rpgres.rulesets.registry import (
    API,
    OUTCOME_ONLY,
    QUESTIONS,
    STATE,
    ApplyEffect,
    Costs,
    Effect,
    Lump,
    Origin,
    Passage,
    Picture,
    Prepare,
    Rule,
    Ruleset,
    brought_by,
    effect,
    is_ours,
    pictured,
)
from rpgres.rulesets.rows import Band, Id, OutcomeTable, Row, RowOption, RowQuestion
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.schema import CLAIM, REQUEST, RESERVED, EffectText, Field, RecordField, RulesetFile, Switch, Track
from rpgres.rulesets.settling import Ask, Option, RowRoll, value_of
from rpgres.toml.diagnostics import unknown

__all__ = [
    "API",
    "CLAIM",
    "OUTCOME_ONLY",
    "QUESTIONS",
    "REQUEST",
    "RESERVED",
    "STATE",
    "Action",
    "ApplyEffect",
    "Ask",
    "Band",
    "Costs",
    "Effect",
    "EffectText",
    "Field",
    "FormField",
    "Id",
    "Lump",
    "Option",
    "Origin",
    "OutcomeTable",
    "Parameter",
    "Part",
    "Passage",
    "Picture",
    "Prepare",
    "RecordField",
    "Row",
    "RowOption",
    "RowQuestion",
    "RowRoll",
    "Rule",
    "Rules",
    "Ruleset",
    "RulesetFile",
    "Switch",
    "Track",
    "brought_by",
    "builtin_folder",
    "data_folders",
    "effect",
    "is_ours",
    "is_public",
    "merge_parts",
    "overlay_roots",
    "pictured",
    "read_parts",
    "speaker",
    "unknown",
    "value_of",
]
