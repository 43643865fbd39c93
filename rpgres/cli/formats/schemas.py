"""JSON Schemas of what rpgres prints and of the files it reads, made from the record types. Nothing here prints.

The shape comes from the types (`msgspec.json.schema_components`), a line on each field from `fieldtexts`, the names and
words of a ruleset from its data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import cleandoc
from typing import Any

import msgspec

from rpgres.cli.formats.decks import DeckDescription, DeckDraw, DeckList
from rpgres.cli.formats.field_texts import CONDITION, TEXTS, UNLESS
from rpgres.cli.formats.sheets import FileChecks, SheetRecord
from rpgres.cli.formats.summary import ActionDescription, RulesetChecks, RulesetDescription, RulesetList
from rpgres.conformance import PluginCheck
from rpgres.engine.labels import labels_of
from rpgres.engine.players import COMMON_POLICIES
from rpgres.engine.records import Pending, Result
from rpgres.engine.resolve import DiceRequest, Request
from rpgres.errors import UsageError
from rpgres.journal.commitments import SealFile
from rpgres.journal.verifying import Verification
from rpgres.journal.views import AnswerFile, EntryRecord, LogRecord, TableRecord, ViewRecord
from rpgres.model.cards import DeckFile
from rpgres.odds.dice import DiceOdds
from rpgres.odds.exact import OddsResult
from rpgres.odds.ladder import LadderOdds
from rpgres.parameters.kinds import schema_of
from rpgres.plugins.discovery import PluginList
from rpgres.rulesets import CLAIM, Field, OutcomeTable, RowQuestion, Rules, RulesetFile, unknown
from rpgres.rulesets.sheets import RULESET, sheet_type
from rpgres.scenes import ABSENT, SceneFile, SceneResult
from rpgres.scenes.proving import ProvedScenes

DIALECT = "https://json-schema.org/draft/2020-12/schema"
VERSION = 1  # of all formats; part of every `$id`

Schema = dict[str, Any]

_REMOVE: Schema = {
    "title": "Remove",
    "description": "Deletes what a farther folder says under this key.",
    "type": "object",
    "properties": {"remove": {"description": "always true", "const": True}},
    "required": ["remove"],
    "additionalProperties": False,
}


class Kind(msgspec.Struct, frozen=True):
    """One kind of schema: what it describes, the record type it comes from, and how a ruleset's own words get in.

    `is_file` tells that it describes TOML, which has no null.
    """

    title: str
    description: str
    type_: Any
    refine: Callable[[Schema, Rules], None] | None = None
    is_file: bool = False


def make_schema(kind: str, *, rules: Rules | None = None) -> Schema:
    """Return a JSON Schema (2020-12) as plain data.

    Args:
        kind: a name in `KINDS`.
        rules: the ruleset whose own names and fields it has; a sheet cannot be described without.

    Raises:
        UsageError: there is no such kind, or the kind needs a ruleset.
    """
    described = KINDS.get(kind)
    if described is None:
        raise UsageError(unknown("schema", kind, KINDS, of="rpgres"))
    if kind == "sheet" and rules is None:
        raise UsageError("the keys of a sheet depend on the ruleset; name one: rpgres schema sheet RULESET")
    type_ = sheet_type(rules) if kind == "sheet" and rules is not None else described.type_
    schema = _base(type_) if type_ is not None else _error()
    _add_known_forms(schema)
    if rules is not None and described.refine is not None:
        described.refine(schema, rules)
    if described.is_file:
        schema = _without_null(schema)
    of = f" of the ruleset {rules.id}" if rules is not None else ""
    name = f"{kind}:{VERSION}" + (f":{rules.id}" if rules is not None else "")
    head = {"$schema": DIALECT, "$id": f"urn:rpgres:schema:{name}", "title": described.title + of}
    return {**head, "description": described.description, **schema}


# ---------------------------------------------------------------------------------------------------------------------
# From the types


# Records that occur in places where the type only says "a table", or that are printed in place of another.
_EXTRA: dict[Any, tuple[Any, ...]] = {
    RulesetFile: (OutcomeTable, RowQuestion, DeckFile),
    OddsResult: (DiceOdds, LadderOdds),
    SceneResult: (Result,),
    Request: (DiceRequest,),
}


def _base(type_: Any) -> Schema:
    extra = _EXTRA.get(type_, ()) if isinstance(type_, type) else ()
    (schema, *_), definitions = msgspec.json.schema_components((type_, *extra), ref_template="#/$defs/{name}")
    for name, definition in definitions.items():
        _describe(definition, TEXTS.get(name, {}))
        if "format" in definition["properties"]:
            definition["required"] = ["format", *definition["required"]]  # it has a default, and is always printed
    return {**schema, "$defs": definitions}


def _describe(definition: Schema, texts: Mapping[str, str]) -> None:
    if "description" in definition:
        definition["description"] = cleandoc(definition["description"]).partition("\n\nAttributes:")[0]
    for name, text in texts.items():
        if name in definition.get("properties", {}):
            definition["properties"][name] |= {"description": text}


def _add_known_forms(schema: Schema) -> None:
    """Fill in what the types leave open: the forms of effects, events and shared questions, whatever the ruleset."""
    definitions = schema["$defs"]
    for name in ("Result", "Pending"):
        if name in definitions:
            _properties(definitions, name)["events"]["items"] = {"oneOf": _EVENTS}
    for name in ("Result", "Row", "RowOption"):
        if name in definitions:
            _properties(definitions, name)["effects"]["items"] = _any_effect()
    if "QuestionRecord" in definitions:
        _properties(definitions, "QuestionRecord")["options"]["items"] = _OPTION
    if "SceneResult" in definitions:
        _properties(definitions, "SceneResult")["steps"]["items"] = {"oneOf": [{"$ref": "#/$defs/Result"}, _SKIPPED]}
    if "DiceOdds" in definitions:
        _tell_odds_apart(schema)
    if "DiceRequest" in definitions:
        _either(schema, ("Request", "DiceRequest"))
    if "Pending" in definitions:
        _properties(definitions, "Pending")["request"] = {"description": _REQUEST, "type": "object"}
    if "RulesetFile" in definitions:
        fields = _properties(definitions, "RulesetFile")
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
    for name in ("ruleset", "action"):
        dice = _properties(definitions, "DiceOdds")[name]
        _properties(definitions, "OddsResult")[name] = {"description": dice["description"], "type": "string"}
        _properties(definitions, "DiceOdds")[name] = {"description": dice["description"], "type": "null"}
    _either(schema, ("OddsResult", "DiceOdds", "LadderOdds"))


def _either(schema: Schema, names: Iterable[str]) -> None:
    schema.pop("$ref", None)
    schema["oneOf"] = [{"$ref": f"#/$defs/{name}"} for name in names]


def _properties(definitions: Mapping[str, Schema], name: str) -> dict[str, Schema]:
    properties: dict[str, Schema] = definitions[name]["properties"]
    return properties


def _text(description: str, **more: Any) -> Schema:
    return {"description": description, "type": "string", **more}


def _record(title: str, description: str, properties: dict[str, Schema], *, required: Iterable[str]) -> Schema:
    return {
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": list(required),
    }


_OPTION = _record(
    "Option",
    "One answer that a question offers.",
    {"name": _text("the answer as typed"), "text": _text("what it means")},
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
    _record(
        "Roll",
        "Dice that were rolled, or given.",
        {
            "event": {"description": "what happened", "const": "roll"},
            "label": _text("the name under which the rule asked"),
            "by": _text("who rolled; empty when that does not matter"),
            "dice": _text("what was rolled, in notation"),
            "faces": _text("the dice as `--given` takes them"),
            "value": {"description": "what they came to", "type": "integer"},
        },
        required=("event", "label", "by", "dice", "faces", "value"),
    ),
    _record(
        "Decision",
        "Something that was decided.",
        {
            "event": {"description": "what happened", "const": "decision"},
            "label": _text("the name under which the rule asked"),
            "who": _text("whose decision it was"),
            "answer": _text("the option chosen; `no` for a moment that passed"),
            "text": _text("what the option means"),
            "means": _text(
                "who answered: choose, policy, prompt, window for a moment that nobody used, or at a persistent table "
                "the host for somebody"
            ),
            "of": _text("whose matter it was, where somebody else decided; left out elsewhere"),
        },
        required=("event", "label", "who", "answer", "text", "means"),
    ),
    _record(
        "Draw",
        "A card that was drawn, or given.",
        {
            "event": {"description": "what happened", "const": "draw"},
            "label": _text("the name under which the rule asked"),
            "by": _text("who drew; empty when that does not matter"),
            "card": _text("the card's code as `--given` takes it; ? for one that is face down"),
            "from": _text("the pile it was drawn from"),
            "to": _text("the pile it went to"),
            **_SECRET,
        },
        required=("event", "label", "by", "card", "from", "to"),
    ),
    _record(
        "Move",
        "Cards that went from one pile to another.",
        {
            "event": {"description": "what happened", "const": "move"},
            "label": _text("what it is called; empty when it is not worth a line"),
            "by": _text("who moved them; empty when that does not matter"),
            "cards": {
                "description": "their codes; ? for one that is face down",
                "type": "array",
                "items": {"type": "string"},
            },
            "from": _text("the pile they lay in"),
            "to": _text("the pile they went to"),
            **_SECRET,
        },
        required=("event", "label", "by", "cards", "from", "to"),
    ),
    _record(
        "Text",
        "A line of the account.",
        {"event": {"description": "what happened", "const": "text"}, "text": _text("the line")},
        required=("event", "text"),
    ),
]


_SKIPPED = _record(
    "Skipped",
    "A step whose `when` did not hold.",
    {"id": _text("the step's name"), "skipped": {"description": "always true", "const": True}},
    required=("id", "skipped"),
)


def _any_effect() -> Schema:
    kind = _text("which kind of change; its fields depend on it")
    return _record("Effect", "Something the outcome changes.", {"kind": kind}, required=("kind",))


def _error() -> Schema:
    error = _record(
        "Error",
        "What went wrong. With --json a command prints it on standard error.",
        {
            "format": {"description": "what this object is, and the version of its form", "const": "rpgres.error/1"},
            "code": _text("the kind of error, which never changes with its text", pattern="^[a-z]+(-[a-z]+)*$"),
            "message": _text("what is wrong, where, and what to try", minLength=1),
            "exit": {"description": "the exit code: 2 when what was typed is wrong, else 1", "enum": [1, 2]},
            "details": {"description": "the same as data, such as file, line and key", "type": "object"},
        },
        required=("format", "code", "message", "exit"),
    )
    return {"$ref": "#/$defs/Error", "$defs": {"Error": error}}


def _without_null(schema: Any) -> Any:
    """Return the schema without null as a value or default: TOML has none, a key is there or it is not."""
    if isinstance(schema, list):
        return [_without_null(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: _without_null(part)
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


# ---------------------------------------------------------------------------------------------------------------------
# With a ruleset's own words


def _refine_result(schema: Schema, rules: Rules) -> None:
    properties = _properties(schema["$defs"], "Result")
    _name_ruleset(properties, rules)
    properties["outcome"] |= {"enum": [*rules.file.bands, None]}
    properties["also"] |= {"enum": [*_others(rules), None]}
    # Readers of a result have to bear with fields that a later version adds, so effects stay open.
    properties["effects"]["items"] = {"oneOf": _effects(rules, is_closed=False)}


def _others(rules: Rules) -> list[str]:
    """Return the bands that another band is as well."""
    return list(dict.fromkeys(band.also for band in rules.file.bands.values() if band.also))


def _refine_pending(schema: Schema, rules: Rules) -> None:
    definitions = schema["$defs"]
    _name_ruleset(_properties(definitions, "Pending"), rules)
    labels = {*_labels(rules, kind="decision"), CLAIM}
    _properties(definitions, "QuestionRecord")["label"] |= {"enum": sorted(labels)}


def _refine_odds(schema: Schema, rules: Rules) -> None:
    definitions = schema["$defs"]
    for name in ("OddsResult", "LadderOdds"):
        _name_ruleset(_properties(definitions, name), rules)
    bands = {"enum": list(rules.file.bands)}
    _properties(definitions, "RungOdds")["outcomes"] |= {"propertyNames": bands}
    names = {"anyOf": [bands, {"pattern": "^-?[0-9]+$"}]}  # numbers with --by
    _properties(definitions, "OddsResult")["outcomes"] |= {"propertyNames": names}
    del definitions["DiceOdds"]
    schema["oneOf"] = [{"$ref": "#/$defs/OddsResult"}, {"$ref": "#/$defs/LadderOdds"}]


def _refine_request(schema: Schema, rules: Rules) -> None:
    definition = schema["$defs"]["Request"]
    properties = definition["properties"]
    _name_ruleset(properties, rules)
    properties["switches"] = {**_switches(rules), "description": TEXTS["Request"]["switches"]}
    definition["allOf"] = _inputs_by_action(rules)
    del schema["$defs"]["DiceRequest"], schema["oneOf"]
    schema["$ref"] = "#/$defs/Request"


def _refine_scene_result(schema: Schema, rules: Rules) -> None:
    properties = _properties(schema["$defs"], "SceneResult")
    properties["ruleset"] = {"description": properties["ruleset"]["description"], "const": rules.id}
    _refine_result(schema, rules)


def _name_ruleset(properties: dict[str, Schema], rules: Rules) -> None:
    properties["ruleset"] = {"description": properties["ruleset"]["description"], "const": rules.id}
    properties["action"] = {"description": properties["action"]["description"], "enum": list(rules.file.actions)}


def _effects(rules: Rules, *, is_closed: bool) -> list[Schema]:
    """Return a schema for each kind of effect; a closed one, for files, allows conditions and no other fields."""
    found = []
    for kind, described in rules.file.effects.items():
        properties: dict[str, Schema] = {"kind": {"description": described.help, "const": kind}}
        properties |= {name: {"description": text} for name, text in described.fields.items()}
        effect = _record(kind, described.help, properties, required=("kind",))
        if is_closed:
            condition = {"type": "object"}
            properties |= {"when": {"description": CONDITION, **condition}}
            properties |= {"unless": {"description": UNLESS, **condition}}
            effect["additionalProperties"] = False
        found.append(effect)
    return found


def _labels(rules: Rules, *, kind: str) -> set[str]:
    return {label for action in rules.file.actions for label, its in labels_of(rules, action).items() if its == kind}


def _switches(rules: Rules) -> Schema:
    return {
        "type": "object",
        "properties": {
            name: {"description": switch.help, "enum": list(switch.choices), "default": switch.default}
            for name, switch in rules.file.switches.items()
        },
        "additionalProperties": False,
    }


def _refine_sheet(schema: Schema, rules: Rules) -> None:
    name = schema["$ref"].rpartition("/")[2]
    definition = schema["$defs"][name]
    definition |= {"title": "Sheet", "description": f"A character of {rules.file.title}."}
    own = {} if RULESET in rules.file.sheet else {RULESET: {"description": TEXTS["Sheet"][RULESET], "const": rules.id}}
    definition["properties"] = own | {
        key: _sheet_field(definition["properties"][key], field, rules, schema["$defs"])
        for key, field in rules.file.sheet.items()
    }
    schema["$defs"] = {"Sheet" if key == name else key: value for key, value in schema["$defs"].items()}
    schema["$ref"] = "#/$defs/Sheet"


def _sheet_field(schema: Schema, field: Field, rules: Rules, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of one key of a sheet with its help, default, and the names that editors may complete."""
    read: Schema = _without_null(schema) | {"description": field.help}
    if isinstance(field.default, int):
        read["default"] = field.default
    value = read.get("additionalProperties")
    tracks = {name: track.title for name, track in rules.file.tracks.items()}
    if field.kind == "abilities":
        read["properties"] = dict.fromkeys(field.names, value)
        read["additionalProperties"] = value if field.any_name or not field.names else False
    elif field.kind in ("boxes", "marks"):
        read["properties"] = {name: {**(value or {}), "description": title} for name, title in tracks.items()}
        read["additionalProperties"] = False
    elif field.kind == "written":
        read["properties"] = {
            name: {**(value or {}), "description": f"the box {name}"} for name in _boxes(field, rules)
        }
        read["additionalProperties"] = False
    elif field.kind == "records":
        record = definitions[read["additionalProperties"]["$ref"].rpartition("/")[2]]
        record |= {"title": "Record", "description": field.help}
        _describe(record, {name: its.help for name, its in field.fields.items()})
    return read


def _boxes(field: Field, rules: Rules) -> list[str]:
    """Return the names of all boxes that a track can have."""
    track = rules.file.tracks[field.track]
    return list(dict.fromkeys([*track.sizes, *(name for more in track.more for name in more.boxes)]))


def _refine_scene(schema: Schema, rules: Rules) -> None:
    definitions = schema["$defs"]
    sheet = _base(sheet_type(rules))
    _refine_sheet(sheet, rules)
    definitions |= sheet["$defs"]
    character = definitions["Character"] = {**definitions.pop("Sheet"), "title": "Character", "required": []}
    character["properties"] = {
        "sheet": _text("a sheet beside the scene, or one of the ruleset's own"),
        "policy": _text("who answers for this character: a policy of the ruleset", enum=_policies(rules)),
        **character["properties"],
    }
    properties = _properties(definitions, "SceneFile")
    properties["ruleset"] = {"description": TEXTS["SceneFile"]["ruleset"], "const": rules.id}
    properties["characters"]["additionalProperties"] = {"$ref": "#/$defs/Character"}
    properties["switches"] = {**_switches(rules), "description": TEXTS["SceneFile"]["switches"]}
    properties["policy"] |= {"enum": [*_policies(rules), ""]}
    step = definitions["Step"]
    step["properties"]["action"] |= {"enum": list(rules.file.actions)}
    for moment in ("begin", "end"):
        step["properties"][moment] |= {"enum": list(dict.fromkeys([*rules.file.periods, "scene"]))}
    step["properties"]["given"]["propertyNames"] = {"enum": sorted(_labels(rules, kind="chance"))}
    decided = sorted(_labels(rules, kind="decision"))
    somebody = {"pattern": f":({'|'.join(decided)})$"} if decided else False
    step["properties"]["choose"]["propertyNames"] = {"anyOf": [{"enum": decided}, somebody]}
    step["allOf"] = _inputs_by_action(rules)
    expect = _properties(definitions, "Expect")
    expect["outcome"] |= {"enum": list(rules.file.bands)}
    expect["also"] |= {"enum": [*_others(rules), ABSENT]}


def _policies(rules: Rules) -> list[str]:
    return list(dict.fromkeys([*rules.ruleset.policies, *rules.file.policies, *COMMON_POLICIES]))


def _inputs_by_action(rules: Rules) -> list[Schema]:
    """Return what `with` may hold, for each action."""
    return [
        {
            "if": {"properties": {"action": {"const": action}}, "required": ["action"]},
            "then": {"properties": {"with": _inputs(rules, action)}},
        }
        for action in rules.file.actions
    ]


def _inputs(rules: Rules, action: str) -> Schema:
    properties = {"sheet": _text("the actor's sheet, for somebody who is not at the table yet")}
    for name, parameter in rules.parameters(action).items():
        for typed in (name, *parameter.aliases):
            properties[typed] = {"description": parameter.help, **schema_of(parameter)}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _refine_ruleset(schema: Schema, rules: Rules) -> None:
    """Make it the schema of an overlay: nothing is required, everything known is named, all may be removed."""
    definitions = schema["$defs"]
    properties = _properties(definitions, "RulesetFile")
    for name, known in msgspec.structs.asdict(rules.file).items():
        field = properties[name.replace("_", "-")]
        item = field.get("additionalProperties")
        if isinstance(item, dict) and "$ref" in item and isinstance(known, dict):
            field["properties"] = {key: {**item, **_help(value)} for key, value in known.items()}
    for name, switch in rules.file.switches.items():
        default = {"default": {"description": TEXTS["Switch"]["default"], "enum": list(switch.choices)}}
        properties["switches"]["properties"][name]["properties"] = default
    _refine_effects(definitions, rules)
    _make_overlay(schema)


def _help(value: Any) -> Schema:
    for attribute in ("help", "summary", "title"):
        text = getattr(value, attribute, "")
        if text:
            return {"description": text}
    return {}


def _refine_outcomes(schema: Schema, rules: Rules) -> None:
    row = schema["additionalProperties"]
    schema["properties"] = {name: {**row, "description": band.title} for name, band in rules.file.bands.items()}
    schema["additionalProperties"] = False
    _refine_effects(schema["$defs"], rules)
    _make_overlay(schema)


def _refine_menus(schema: Schema, rules: Rules) -> None:
    _refine_effects(schema["$defs"], rules)
    _make_overlay(schema)


def _refine_deck(schema: Schema, rules: Rules) -> None:
    """Make it the schema of a file laid over one of the ruleset's decks, or of one more that extends one."""
    names = rules.deck_names()
    properties = _properties(schema["$defs"], "DeckFile")
    properties["extends"] |= {"enum": ["", *names]}
    suits = {suit: title for name in names for suit, title in rules.deck(name).suits.items()}
    item = properties["suits"]["additionalProperties"]
    properties["suits"]["properties"] = {suit: {**item, "description": title} for suit, title in suits.items()}
    _make_overlay(schema)


def _refine_effects(definitions: dict[str, Schema], rules: Rules) -> None:
    definitions["Effect"] = {
        "title": "Effect",
        "description": "Something the outcome changes.",
        "oneOf": _effects(rules, is_closed=True),
    }
    for name in definitions.keys() & {"Row", "RowOption"}:
        _properties(definitions, name)["effects"]["items"] = {"$ref": "#/$defs/Effect"}


def _make_overlay(schema: Schema) -> None:
    """Let every key be left out, and whatever stands in a table by name be removed."""
    definitions = schema["$defs"]
    for definition in [schema, *definitions.values()]:
        definition.pop("required", None)
        _let_remove(definition)
    definitions["Remove"] = _REMOVE


def _let_remove(table: Schema) -> None:
    """Let `{ remove = true }` stand for every entry of a table by name, and of the tables inside it."""
    remove = {"$ref": "#/$defs/Remove"}
    properties = table.get("properties", {})
    for name, known in properties.items():
        _let_remove(known)
        if "$ref" in known:
            told = {"description": known["description"]} if "description" in known else {}
            whole = {key: part for key, part in known.items() if key != "description"}
            properties[name] = {"anyOf": [whole, remove], **told}
    item = table.get("additionalProperties")
    if isinstance(item, dict) and item:
        _let_remove(item)
        table["additionalProperties"] = {"anyOf": [item, remove]}


KINDS: dict[str, Kind] = {
    "result": Kind("Result", "What `rpgres roll RULESET ACTION --json` prints.", Result, _refine_result),
    "pending": Kind("Pending", "What `rpgres roll --json` prints while a decision is open.", Pending, _refine_pending),
    "odds": Kind(
        "Odds",
        "What `rpgres odds --json` prints: of an action, of dice, or of every rung of the ladder.",
        OddsResult,
        _refine_odds,
    ),
    "error": Kind("Error", "What a command prints on standard error when --json is given.", None),
    "request": Kind("Request", "One line that `rpgres batch` reads.", Request, _refine_request),
    "scene-result": Kind("Scene result", "What `rpgres scene run --json` prints.", SceneResult, _refine_scene_result),
    "deck-draw": Kind("Deck draw", "What `rpgres deck draw --json` prints.", DeckDraw),
    "table": Kind("Table", "What `rpgres table show --json` prints.", TableRecord),
    "log": Kind("Log", "What `rpgres table log --json` prints.", LogRecord),
    "entry": Kind("Entry", "What `rpgres table set`, `note`, `undo` and the like print with --json.", EntryRecord),
    "view": Kind("View", "What `rpgres table view` writes for a player elsewhere.", ViewRecord),
    "answer": Kind("Answer", "A player's answer from elsewhere, which `rpgres table answer --from` takes.", AnswerFile),
    "seal": Kind("Seal", "A seat's own note of what it sealed, as `rpgres table seal --out` writes it.", SealFile),
    "verify": Kind("Verify", "What `rpgres table verify --json` prints.", Verification),
    "odds-ladder": Kind(
        "Odds of a ladder", "What `rpgres odds --json` prints of every rung of the ladder.", LadderOdds
    ),
    "decks": Kind("Decks", "What `rpgres deck list --json` prints.", DeckList),
    "deck-shown": Kind("Deck shown", "What `rpgres deck show --json` prints.", DeckDescription),
    "rulesets": Kind("Rulesets", "What `rpgres ruleset list --json` prints.", RulesetList),
    "ruleset-shown": Kind("Ruleset shown", "What `rpgres ruleset show ID --json` prints.", RulesetDescription),
    "action-shown": Kind("Action shown", "What `rpgres ruleset show ID ACTION --json` prints.", ActionDescription),
    "ruleset-check": Kind("Ruleset check", "What `rpgres ruleset check --json` prints.", RulesetChecks),
    "sheet-shown": Kind("Sheet shown", "What `rpgres sheet show --json` prints.", SheetRecord),
    "check": Kind("Check", "What `rpgres sheet check --json` and `rpgres scene check --json` print.", FileChecks),
    "scene-test": Kind("Scene test", "What `rpgres scene test --json` prints.", ProvedScenes),
    "plugins": Kind("Plugins", "What `rpgres plugin list --json` prints.", PluginList),
    "plugin-check": Kind("Plugin check", "What `rpgres plugin check --json` prints.", PluginCheck),
    "scene": Kind("Scene", "A scene file.", SceneFile, _refine_scene, is_file=True),
    "sheet": Kind("Sheet", "A character sheet.", None, _refine_sheet, is_file=True),
    "ruleset": Kind(
        "Ruleset",
        "A ruleset.toml; with a ruleset, one that changes it, or its own when it builds on kits.",
        RulesetFile,
        _refine_ruleset,
        True,
    ),
    "outcomes": Kind("Outcome table", "A file outcomes/NAME.toml.", OutcomeTable, _refine_outcomes, is_file=True),
    "deck": Kind("Deck", "A file decks/NAME.toml.", DeckFile, _refine_deck, is_file=True),
    "menus": Kind("Menus", "A file menus.toml.", dict[str, RowQuestion], _refine_menus, is_file=True),
}
