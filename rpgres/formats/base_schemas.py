"""The shape of JSON Schemas, from the types of records, and what the types leave open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from rpgres.engine.dice import DiceResult
from rpgres.engine.records import Result
from rpgres.engine.requests import DiceRequest, Request
from rpgres.formats.descriptions import description, field_texts, records_in
from rpgres.model.cards import DeckFile
from rpgres.model.printed import Printed
from rpgres.odds.dice import DiceOdds
from rpgres.odds.exact import OddsResult
from rpgres.odds.ladder import LadderOdds
from rpgres.plugins.importing import find_kit
from rpgres.rulesets import OutcomeTable, RowQuestion, RulesetFile
from rpgres.rulesets.folders import kit_names
from rpgres.scenes import SceneResult
from rpgres.scenes.views import PlainStep, SkippedStep

Schema = dict[str, Any]


# Records that occur in places where the type only says "a table", or that are printed in place of another.
_EXTRA: dict[Any, tuple[Any, ...]] = {
    RulesetFile: (OutcomeTable, RowQuestion, DeckFile),
    OddsResult: (DiceOdds, LadderOdds),
    Result: (DiceResult,),
    SceneResult: (Result, SkippedStep, PlainStep),
    Request: (DiceRequest,),
}


def base_schema(type_: Any) -> Schema:
    extra = _EXTRA.get(type_, ()) if isinstance(type_, type) else ()
    if type_ is RulesetFile:
        extra += tuple(_kit_settings().values())
    (schema, *_), definitions = msgspec.json.schema_components((type_, *extra), ref_template="#/$defs/{name}")
    for name, record in records_in((type_, *extra)).items():
        _describe(definitions[name], record)
    if "Order" in definitions:
        definitions["Order"]["oneOf"] = [{"required": ["choose"]}, {"required": ["policy"]}]
    return {**schema, "$defs": definitions}


# What the tags of records mean.
_TAGS = {
    "format": "what this object is, and the version of its form",
    "event": "what happened",
    "kind": "what was done",
}


def _describe(definition: Schema, record: type[msgspec.Struct]) -> None:
    properties = definition["properties"]
    if "description" in definition:
        definition["description"] = description(record)
    for name, text in field_texts(record).items():
        properties[name] |= {"description": text}
    tag = record.__struct_config__.tag_field
    if tag is not None:
        properties[tag] |= {"description": _TAGS[tag]}
    if issubclass(record, Printed):  # always printed, and the default is that of this version alone
        definition["required"].insert(1, "version")
        del properties["version"]["default"]


def add_known_forms(schema: Schema) -> None:
    """Fill in what the types leave open: the forms of effects and shared questions, whatever the ruleset."""
    definitions = schema["$defs"]
    for name in ("Result", "Row", "RowOption"):
        if name in definitions:
            kind = text_schema("which kind of change; its fields depend on it")
            effect = record_schema("Effect", "Something the outcome changes.", {"kind": kind}, required=("kind",))
            properties_of(definitions, name)["effects"]["items"] = effect
    if "SceneResult" in definitions:
        _either(properties_of(definitions, "SceneResult")["steps"]["items"], ("Result", "SkippedStep", "PlainStep"))
    if "DiceResult" in definitions:  # which has all that a result has, and more
        schema["anyOf"] = [{"$ref": schema.pop("$ref")}, {"$ref": "#/$defs/DiceResult"}]
    if "DiceOdds" in definitions:
        _tell_odds_apart(schema)
    if "DiceRequest" in definitions:
        _either(schema, ("Request", "DiceRequest"))
    if "Pending" in definitions:
        properties_of(definitions, "Pending")["request"] = {"description": _REQUEST, "type": "object"}
    if "RulesetFile" in definitions:
        fields = properties_of(definitions, "RulesetFile")
        fields["menus"]["additionalProperties"] = {"$ref": "#/$defs/RowQuestion"}
        fields["decks"]["additionalProperties"] = {"$ref": "#/$defs/DeckFile"}
        fields["outcomes"]["additionalProperties"] = {
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/Row"},
        }
        fields["kits"]["items"] = {"enum": kit_names()}
        fields["settings"]["properties"] = {
            kit: {"$ref": f"#/$defs/{record.__name__}", "description": f"what is set of the kit {kit}"}
            for kit, record in _kit_settings().items()
        }


def _kit_settings() -> dict[str, type[msgspec.Struct]]:
    """Return what may be set of each kit that has something to set."""
    kits = {name: find_kit(name) for name in kit_names()}
    return {name: kit.settings for name, kit in kits.items() if kit is not None and kit.settings.__struct_fields__}


_REQUEST = "in batches: the request that, with the answer added under `choose`, continues the same run"


def _tell_odds_apart(schema: Schema) -> None:
    """Let the schema be of an action, of dice, or of a ladder, which differ in `ruleset` and `format`."""
    definitions = schema["$defs"]
    for record, type_ in (("OddsResult", "string"), ("DiceOdds", "null")):
        for name in ("ruleset", "action"):
            field = properties_of(definitions, record)[name]
            del field["anyOf"]
            field["type"] = type_
    _either(schema, ("OddsResult", "DiceOdds", "LadderOdds"))


def _either(schema: Schema, names: Iterable[str]) -> None:
    schema.pop("$ref", None)
    schema["oneOf"] = [{"$ref": f"#/$defs/{name}"} for name in names]


def properties_of(definitions: Mapping[str, Schema], name: str) -> dict[str, Schema]:
    properties: dict[str, Schema] = definitions[name]["properties"]
    return properties


def text_schema(description: str, **more: Any) -> Schema:
    return {"description": description, "type": "string", **more}


def record_schema(title: str, description: str, properties: dict[str, Schema], *, required: Iterable[str]) -> Schema:
    return {
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": list(required),
    }


def without_null(schema: Any) -> Any:
    """Return the schema without null as a value or default: TOML has none, a key is there or it is not."""
    if isinstance(schema, list):
        return [without_null(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: without_null(part)
        for key, part in schema.items()
        if not (key == "default" and (part is None or part in ({}, [], "")))
    }
    options = kept.get("anyOf")
    if not isinstance(options, list):
        return kept
    options = [option for option in options if option != {"type": "null"}]
    if len(options) > 1:
        return {**kept, "anyOf": options}
    del kept["anyOf"]
    return {**options[0], **kept}
