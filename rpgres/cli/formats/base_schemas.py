"""The shape of JSON Schemas, from the types of records, and what the types leave open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from rpgres.cli.formats.descriptions import description, field_texts, records_in
from rpgres.engine.resolve import DiceRequest, Request
from rpgres.engine.run import Result
from rpgres.model.cards import DeckFile
from rpgres.model.printed import Printed
from rpgres.odds.dice import DiceOdds
from rpgres.odds.exact import OddsResult
from rpgres.odds.ladder import LadderOdds
from rpgres.rulesets import (
    OutcomeTable,
    RowQuestion,
    RulesetFile,
)
from rpgres.scenes import SceneResult

Schema = dict[str, Any]


# Records that occur in places where the type only says "a table", or that are printed in place of another.
_EXTRA: dict[Any, tuple[Any, ...]] = {
    RulesetFile: (OutcomeTable, RowQuestion, DeckFile),
    OddsResult: (DiceOdds, LadderOdds),
    SceneResult: (Result,),
    Request: (DiceRequest,),
}


def base_schema(type_: Any) -> Schema:
    extra = _EXTRA.get(type_, ()) if isinstance(type_, type) else ()
    (schema, *_), definitions = msgspec.json.schema_components((type_, *extra), ref_template="#/$defs/{name}")
    for name, record in records_in((type_, *extra)).items():
        _describe(definitions[name], record)
    return {**schema, "$defs": definitions}


_FORMAT = "what this object is, and the version of its form"


def _describe(definition: Schema, record: type[msgspec.Struct]) -> None:
    properties = definition["properties"]
    if "description" in definition:
        definition["description"] = description(record)
    for name, text in field_texts(record).items():
        properties[name] |= {"description": text}
    if record.__struct_config__.tag_field == "format":
        properties["format"] |= {"description": _FORMAT}
    if issubclass(record, Printed):  # always printed, and the default is that of this version alone
        definition["required"].insert(1, "version")
        del properties["version"]["default"]


def add_known_forms(schema: Schema) -> None:
    """Fill in what the types leave open: the forms of effects, events and shared questions, whatever the ruleset."""
    definitions = schema["$defs"]
    for name in ("Result", "Pending"):
        if name in definitions:
            properties_of(definitions, name)["events"]["items"] = {"oneOf": _EVENTS}
    for name in ("Result", "Row", "RowOption"):
        if name in definitions:
            properties_of(definitions, name)["effects"]["items"] = _any_effect()
    if "QuestionRecord" in definitions:
        properties_of(definitions, "QuestionRecord")["options"]["items"] = _OPTION
    if "SceneResult" in definitions:
        properties_of(definitions, "SceneResult")["steps"]["items"] = {"oneOf": [{"$ref": "#/$defs/Result"}, _SKIPPED]}
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


_REQUEST = "in batches: the request that, with the answer added under `choose`, goes on with the same run"


def _tell_odds_apart(schema: Schema) -> None:
    """Let the schema be of an action, of dice, or of a ladder, which `ruleset` and `format` tell apart."""
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


_OPTION = record_schema(
    "Option",
    "One answer that a question offers.",
    {"name": text_schema("the answer as typed"), "text": text_schema("what it means")},
    required=("name", "text"),
)

# What an event has beside its own when not everybody may know of it.
_SECRET: dict[str, Schema] = {
    "audience": {
        "description": "the seats that may know of it; left out where everybody may",
        "type": "array",
        "items": {"type": "string"},
    },
    "others": {"description": "the event as everybody else sees it", "type": "object"},
}

_EVENTS = [
    record_schema(
        "Roll",
        "Dice that were rolled, or given.",
        {
            "event": {"description": "what happened", "const": "roll"},
            "label": text_schema("the name under which the rule asked"),
            "by": text_schema("who rolled; empty when that does not matter"),
            "dice": text_schema("what was rolled, in notation"),
            "faces": text_schema("the dice as `--given` takes them"),
            "value": {"description": "what they came to", "type": "integer"},
        },
        required=("event", "label", "by", "dice", "faces", "value"),
    ),
    record_schema(
        "Decision",
        "Something that was decided.",
        {
            "event": {"description": "what happened", "const": "decision"},
            "label": text_schema("the name under which the rule asked"),
            "who": text_schema("whose decision it was"),
            "answer": text_schema("the option chosen; `no` for a moment that passed"),
            "text": text_schema("what the option means"),
            "means": text_schema(
                "who answered: choose, policy, prompt, window for a moment that nobody used, or at a persistent table "
                "the host for somebody"
            ),
            "of": text_schema("whose matter it was, where somebody else decided; left out elsewhere"),
        },
        required=("event", "label", "who", "answer", "text", "means"),
    ),
    record_schema(
        "Draw",
        "A card that was drawn, or given.",
        {
            "event": {"description": "what happened", "const": "draw"},
            "label": text_schema("the name under which the rule asked"),
            "by": text_schema("who drew; empty when that does not matter"),
            "card": text_schema("the card's code as `--given` takes it; ? for one that is face down"),
            "from": text_schema("the pile it was drawn from"),
            "to": text_schema("the pile it went to"),
            **_SECRET,
        },
        required=("event", "label", "by", "card", "from", "to"),
    ),
    record_schema(
        "Move",
        "Cards that went from one pile to another.",
        {
            "event": {"description": "what happened", "const": "move"},
            "label": text_schema("what it is called; empty when it is not worth a line"),
            "by": text_schema("who moved them; empty when that does not matter"),
            "cards": {
                "description": "their codes; ? for one that is face down",
                "type": "array",
                "items": {"type": "string"},
            },
            "from": text_schema("the pile they lay in"),
            "to": text_schema("the pile they went to"),
            **_SECRET,
        },
        required=("event", "label", "by", "cards", "from", "to"),
    ),
    record_schema(
        "Text",
        "A line of the account.",
        {"event": {"description": "what happened", "const": "text"}, "text": text_schema("the line")},
        required=("event", "text"),
    ),
]


_SKIPPED = record_schema(
    "Skipped",
    "A step whose `when` did not hold.",
    {"id": text_schema("the step's name"), "skipped": {"description": "always true", "const": True}},
    required=("id", "skipped"),
)


def _any_effect() -> Schema:
    kind = text_schema("which kind of change; its fields depend on it")
    return record_schema("Effect", "Something the outcome changes.", {"kind": kind}, required=("kind",))


def error_schema() -> Schema:
    error = record_schema(
        "Error",
        "What went wrong. With --json a command prints it on standard error.",
        {
            "format": {"description": "what this object is, and the version of its form", "const": "rpgres.error/1"},
            "code": text_schema("the kind of error, which never changes with its text", pattern="^[a-z]+(-[a-z]+)*$"),
            "message": text_schema("what is wrong, where, and what to try", minLength=1),
            "exit": {"description": "the exit code: 2 when what was typed is wrong, else 1", "enum": [1, 2]},
            "details": {"description": "the same as data, such as file, line and key", "type": "object"},
        },
        required=("format", "code", "message", "exit"),
    )
    return {"$ref": "#/$defs/Error", "$defs": {"Error": error}}


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
