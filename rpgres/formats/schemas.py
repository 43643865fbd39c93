"""JSON Schemas of what rpgres prints and of the files it reads, made from the record types. Nothing here prints.

The shape comes from the types (`msgspec.json.schema_components`), a line on each field from their docstrings, the names
and words of a ruleset from its data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from rpgres.catalog.decks import DeckDescription, DeckDraw, DeckList
from rpgres.catalog.listed import FileList
from rpgres.catalog.sheets import FileChecks, SheetRecord
from rpgres.catalog.summary import ActionDescription, RulesetChecks, RulesetDescription, RulesetList
from rpgres.conformance import PluginCheck
from rpgres.conformance.vectors import VectorReport
from rpgres.engine.records import ErrorRecord, Pending, Result
from rpgres.engine.requests import Request
from rpgres.engine.rerun import WhatIf
from rpgres.errors import UsageError, called
from rpgres.formats.accounts import Account
from rpgres.formats.base_schemas import Schema, add_known_forms, base_schema, without_null
from rpgres.formats.batches import SchemaRecord, SeveralRecord, TextRecord
from rpgres.formats.ruleset_schemas import (
    refine_deck,
    refine_menus,
    refine_odds,
    refine_orders,
    refine_outcomes,
    refine_pending,
    refine_request,
    refine_result,
    refine_ruleset,
    refine_scene,
    refine_scene_result,
    refine_sheet,
    refine_simulation,
)
from rpgres.formats.settings import Settings, SettingsList
from rpgres.journal.commitments import SealFile
from rpgres.journal.forms import AnswerFile, EntryRecord, LogRecord, OrdersRecord, TableRecord, ViewRecord
from rpgres.journal.verifying import Verification
from rpgres.model.cards import DeckFile
from rpgres.odds.comparison import Comparison, Grids
from rpgres.odds.exact import OddsResult
from rpgres.odds.ladder import LadderOdds
from rpgres.odds.scene_best import SceneBestResult
from rpgres.odds.variations import Variation
from rpgres.plugins.listing import PluginList
from rpgres.rulesets import OutcomeTable, RowQuestion, Rules, RulesetFile, unknown
from rpgres.rulesets.orders import OrdersFile
from rpgres.rulesets.sheets import sheet_type
from rpgres.scenes import SceneFile, SceneResult
from rpgres.scenes.measuring import SceneOddsResult
from rpgres.scenes.proving import ProvedScenes
from rpgres.simulate.simulation import SimulationResult

DIALECT = "https://json-schema.org/draft/2020-12/schema"
VERSION = 1  # of all formats; part of every `$id`


class Kind(msgspec.Struct, frozen=True):
    """One kind of schema: what it describes, the record type it comes from, and how a ruleset's own words get in.

    `is_file` tells that it describes TOML, which has no null.
    """

    description: str
    type_: Any
    refine: Callable[[Schema, Rules], None] | None = None
    is_file: bool = False


def make_schema(kind: str, *, rules: Rules | None = None) -> Schema:
    """Return a JSON Schema (2020-12) as plain data.

    Args:
        kind: a name in `KINDS`, or the `format` of a record, such as `rpgres.result/1`.
        rules: the ruleset whose own names and fields it has; a sheet cannot be described without.

    Raises:
        UsageError: there is no such kind, or the kind needs a ruleset.
    """
    kind = next((name for name, one in KINDS.items() if _tag_of(one) == kind), kind)
    described = KINDS.get(kind)
    if described is None:
        raise UsageError(unknown("schema", kind, KINDS, of="rpgres"))
    if kind == "sheet" and rules is None:
        raise UsageError(f"the keys of a sheet depend on the ruleset; name one: {called('schema sheet', 'RULESET')}")
    type_ = sheet_type(rules) if kind == "sheet" and rules is not None else described.type_
    schema = base_schema(type_)
    add_known_forms(schema)
    if rules is not None and described.refine is not None:
        described.refine(schema, rules)
    if described.is_file:
        schema = without_null(schema)
    of = f" of the ruleset {rules.id}" if rules is not None else ""
    name = f"{kind}:{VERSION}" + (f":{rules.id}" if rules is not None else "")
    head = {"$schema": DIALECT, "$id": f"urn:rpgres:schema:{name}", "title": kind.replace("-", " ").capitalize() + of}
    return {**head, "description": described.description, **schema}


def _tag_of(kind: Kind) -> str | int | None:
    config: msgspec.structs.StructConfig | None = getattr(kind.type_, "__struct_config__", None)
    return config.tag if config is not None else None


KINDS: dict[str, Kind] = {
    "result": Kind("What `rpgres roll RULESET ACTION --json` prints.", Result, refine_result),
    "pending": Kind("What `rpgres roll --json` prints while a decision is open.", Pending, refine_pending),
    "odds": Kind("What `rpgres odds --json` prints: of an action, dice, or a ladder.", OddsResult, refine_odds),
    "comparison": Kind("What `rpgres odds --compare --json` prints.", Comparison),
    "variation": Kind("What `rpgres odds --vary --json` prints: a table, or a grid.", Variation),
    "grids": Kind("What `rpgres odds --vary --compare --json` prints: a table or a grid for each case.", Grids),
    "what-if": Kind("What `rpgres whatif --json` prints.", WhatIf),
    "error": Kind("What a command prints on standard error when --json is given.", ErrorRecord),
    "request": Kind("One line that `rpgres batch` reads.", Request, refine_request),
    "text": Kind("What an operation of `rpgres batch` answers that has no record of its own.", TextRecord),
    "schema-shown": Kind("What the operation `schema` of `rpgres batch` answers.", SchemaRecord),
    "answers": Kind("What an operation of `rpgres batch` answers with several records.", SeveralRecord),
    "scene-odds": Kind("What `rpgres odds --json` prints of a scene or a procedure.", SceneOddsResult),
    "scene-best": Kind("What `rpgres odds --best WHO --json` prints of a scene or a procedure.", SceneBestResult),
    "simulation": Kind("What `rpgres simulate --json` prints.", SimulationResult, refine_simulation),
    "scene-result": Kind("What `rpgres scene run --json` prints.", SceneResult, refine_scene_result),
    "account": Kind("What `rpgres scene show --json` prints.", Account),
    "deck-draw": Kind("What `rpgres deck draw --json` prints.", DeckDraw),
    "table": Kind("What `rpgres table show --json` prints.", TableRecord),
    "log": Kind("What `rpgres table log --json` prints.", LogRecord),
    "entry": Kind("What `rpgres table set`, `note`, `undo` and the like print with --json.", EntryRecord),
    "view": Kind("What `rpgres table view` writes for a player elsewhere.", ViewRecord),
    "answer": Kind("A player's answer from elsewhere, which `rpgres table answer --from` takes.", AnswerFile),
    "orders-shown": Kind("What `rpgres table orders --json` prints.", OrdersRecord),
    "seal": Kind("A seat's secret copy of what it sealed, as `rpgres table seal --out` writes it.", SealFile),
    "verify": Kind("What `rpgres table verify --json` prints.", Verification),
    "odds-ladder": Kind("What `rpgres odds --json` prints of every rung of the ladder.", LadderOdds),
    "decks": Kind("What `rpgres deck list --json` prints.", DeckList),
    "files-listed": Kind("What `rpgres sheet list --json` and `rpgres scene list --json` print.", FileList),
    "deck-shown": Kind("What `rpgres deck show --json` prints.", DeckDescription),
    "rulesets": Kind("What `rpgres ruleset list --json` prints.", RulesetList),
    "ruleset-shown": Kind("What `rpgres ruleset show ID --json` prints.", RulesetDescription),
    "action-shown": Kind("What `rpgres ruleset show ID ACTION --json` prints.", ActionDescription),
    "ruleset-test": Kind("What `rpgres ruleset test --json` prints.", VectorReport),
    "ruleset-check": Kind("What `rpgres ruleset check --json` prints.", RulesetChecks),
    "sheet-shown": Kind("What `rpgres sheet show --json` prints.", SheetRecord),
    "check": Kind("What `rpgres sheet check --json` and `rpgres scene check --json` print.", FileChecks),
    "scene-test": Kind("What `rpgres scene test --json` prints.", ProvedScenes),
    "plugins": Kind("What `rpgres plugin list --json` prints.", PluginList),
    "plugin-check": Kind("What `rpgres plugin check --json` prints.", PluginCheck),
    "config": Kind("The settings file, config.toml.", Settings, is_file=True),
    "config-shown": Kind("What `rpgres config show --json` prints.", SettingsList),
    "scene": Kind("A scene file.", SceneFile, refine_scene, is_file=True),
    "orders": Kind("A file of standing orders.", OrdersFile, refine_orders, is_file=True),
    "sheet": Kind("A character sheet.", None, refine_sheet, is_file=True),
    "ruleset": Kind("A ruleset.toml, or one that changes a ruleset.", RulesetFile, refine_ruleset, is_file=True),
    "outcomes": Kind("A file outcomes/NAME.toml.", OutcomeTable, refine_outcomes, is_file=True),
    "deck": Kind("A file decks/NAME.toml.", DeckFile, refine_deck, is_file=True),
    "menus": Kind("A file menus.toml.", dict[str, RowQuestion], refine_menus, is_file=True),
}
