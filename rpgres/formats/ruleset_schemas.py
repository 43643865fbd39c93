"""What a ruleset puts into JSON Schemas: its own names, fields and effects. Each function changes a schema in place."""

from __future__ import annotations

from typing import Any

import msgspec

from rpgres.engine.labels import labels_of
from rpgres.engine.players import COMMON_POLICIES
from rpgres.formats.base_schemas import Schema, base_schema, properties_of, record_schema, text_schema, without_null
from rpgres.formats.descriptions import field_texts
from rpgres.parameters.kinds import schema_of
from rpgres.rulesets import RESERVED, Field, Rules, Switch
from rpgres.rulesets.rows import EffectHead
from rpgres.rulesets.sheets import ORDERS, RULESET, sheet_type
from rpgres.scenes import ABSENT

_REMOVE: Schema = {
    "title": "Remove",
    "description": "Removes this key of a lower layer.",
    "type": "object",
    "properties": {"remove": {"description": "always true", "const": True}},
    "required": ["remove"],
    "additionalProperties": False,
}


def refine_result(schema: Schema, rules: Rules) -> None:
    if schema["$defs"].pop("DiceResult", None) is not None:
        del schema["anyOf"]
        schema["$ref"] = "#/$defs/Result"
    properties = properties_of(schema["$defs"], "Result")
    _name_ruleset(properties, rules)
    properties["outcome"] |= {"enum": [*rules.file.bands, None]}
    properties["also"] |= {"enum": [*_others(rules), None]}
    # Readers of a result have to bear with fields that a later version adds, so effects stay open.
    properties["effects"]["items"] = _one_of(_effects(rules, is_closed=False))


def _one_of(schemas: list[Schema]) -> Schema:
    """Return the schema of what fits one of several; nothing does where there is none."""
    return {"oneOf": schemas} if schemas else {"not": {}}


def _others(rules: Rules) -> list[str]:
    """Return the bands that another band is as well."""
    return list(dict.fromkeys(band.also for band in rules.file.bands.values() if band.also))


def refine_pending(schema: Schema, rules: Rules) -> None:
    definitions = schema["$defs"]
    _name_ruleset(properties_of(definitions, "Pending"), rules)
    labels = {*_labels(rules, kind="decision"), *RESERVED}
    properties_of(definitions, "QuestionRecord")["label"] |= {"enum": sorted(labels)}


def refine_odds(schema: Schema, rules: Rules) -> None:
    definitions = schema["$defs"]
    for name in ("OddsResult", "LadderOdds"):
        _name_ruleset(properties_of(definitions, name), rules)
    bands = {"enum": list(rules.file.bands)}
    properties_of(definitions, "RungOdds")["outcomes"] |= {"propertyNames": bands}
    names = {"anyOf": [bands, {"pattern": "^-?[0-9]+$"}]}  # numbers with --by
    properties_of(definitions, "OddsResult")["outcomes"] |= {"propertyNames": names}
    del definitions["DiceOdds"]
    schema["oneOf"] = [{"$ref": "#/$defs/OddsResult"}, {"$ref": "#/$defs/LadderOdds"}]


def refine_simulation(schema: Schema, rules: Rules) -> None:
    properties = properties_of(schema["$defs"], "SimulationResult")
    _name_ruleset(properties, rules)
    properties["action"]["enum"] = [*properties["action"]["enum"], None]  # a scene has none


def refine_request(schema: Schema, rules: Rules) -> None:
    definition = schema["$defs"]["Request"]
    properties = definition["properties"]
    _name_ruleset(properties, rules)
    _narrow(properties, "switches", _switches(rules))
    definition["allOf"] = _inputs_by_action(rules)
    del schema["$defs"]["DiceRequest"], schema["oneOf"]
    schema["$ref"] = "#/$defs/Request"


def refine_scene_result(schema: Schema, rules: Rules) -> None:
    _narrow(properties_of(schema["$defs"], "SceneResult"), "ruleset", {"const": rules.id})
    refine_result(schema, rules)


def _name_ruleset(properties: dict[str, Schema], rules: Rules) -> None:
    _narrow(properties, "ruleset", {"const": rules.id})
    _narrow(properties, "action", {"enum": list(rules.file.actions)})


def _narrow(properties: dict[str, Schema], name: str, schema: Schema) -> None:
    """Put a schema in the place of another, and keep what is said of the field."""
    properties[name] = {key: text for key, text in properties[name].items() if key == "description"} | schema


# What the fields of an effect mean whose kind says what it does, and no more.
FIELD_WORDS = {
    "to": "whose it is, by role",
    "on": "what it lies on, by role",
    "change": "how much is added",
    "count": "how many",
    "name": "what it is called",
}


def _effects(rules: Rules, *, is_closed: bool) -> list[Schema]:
    """Return a schema for each kind of effect; a closed one, for files, allows conditions and no other fields."""
    found = []
    for kind, described in rules.file.effects.items():
        properties: dict[str, Schema] = {"kind": {"description": described.help, "const": kind}}
        told = described.fields or {name: FIELD_WORDS[name] for name in described.known}
        properties |= {name: {"description": text} for name, text in told.items()}
        effect = record_schema(kind, described.help, properties, required=("kind",))
        if is_closed:
            conditions = {name: words for name, words in field_texts(EffectHead).items() if name != "kind"}
            properties |= {name: {"description": words, "type": "object"} for name, words in conditions.items()}
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


def refine_sheet(schema: Schema, rules: Rules) -> None:
    name = schema["$ref"].rpartition("/")[2]
    definition = schema["$defs"][name]
    definition |= {"title": "Sheet", "description": f"A character of {rules.file.title}."}
    own = (
        {}
        if RULESET in rules.file.sheet
        else {RULESET: {"description": "the id of the ruleset it is for", "const": rules.id}}
    )
    last: Schema = {}
    if ORDERS not in rules.file.sheet:
        told = "standing orders of the character's player, in order of priority"
        last = {ORDERS: without_null(definition["properties"][ORDERS]) | {"description": told}}
        refine_orders(schema, rules)
    own |= {
        key: _sheet_field(definition["properties"][key], field, rules, schema["$defs"])
        for key, field in rules.file.sheet.items()
    }
    definition["properties"] = own | last
    schema["$defs"] = {"Sheet" if key == name else key: value for key, value in schema["$defs"].items()}
    schema["$ref"] = "#/$defs/Sheet"


def _sheet_field(schema: Schema, field: Field, rules: Rules, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of one key of a sheet with its help, default, and the names that editors may complete."""
    read: Schema = without_null(schema) | {"description": field.help}
    if isinstance(field.default, int):
        read["default"] = field.default
    value = read.get("additionalProperties")
    tracks = {name: track.title for name, track in rules.file.tracks.items() if not track.of_table}
    if field.kind == "abilities":
        read["properties"] = dict.fromkeys((*field.names, *field.abilities), value)
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
        for name, its in field.fields.items():
            record["properties"][name] |= {"description": its.help}
    return read


def _boxes(field: Field, rules: Rules) -> list[str]:
    """Return the names of all boxes that a track can have."""
    track = rules.file.tracks[field.track]
    return list(dict.fromkeys([*track.sizes, *(name for more in track.more for name in more.boxes)]))


def refine_scene(schema: Schema, rules: Rules) -> None:
    definitions = schema["$defs"]
    sheet = base_schema(sheet_type(rules))
    refine_sheet(sheet, rules)
    definitions |= sheet["$defs"]
    character = definitions["Character"] = {**definitions.pop("Sheet"), "title": "Character", "required": []}
    character["properties"] = {
        "sheet": text_schema("a sheet next to the scene, or one shipped with the ruleset"),
        "policy": text_schema("the policy that decides for this character", **_deciders(rules)),
        **character["properties"],
    }
    properties = properties_of(definitions, "SceneFile")
    _narrow(properties, "ruleset", {"const": rules.id})
    properties["characters"]["additionalProperties"] = {"$ref": "#/$defs/Character"}
    _narrow(properties, "switches", _switches(rules))
    properties["policy"] |= _deciders(rules)
    refine_orders(schema, rules)
    step = definitions["Step"]
    for kind, is_procedure in (("action", False), ("procedure", True)):
        names = [name for name, action in rules.file.actions.items() if action.procedure == is_procedure]
        step["properties"][kind] |= {"enum": [*names, ""]}
    for moment in ("begin", "end"):
        step["properties"][moment] |= {"enum": list(dict.fromkeys([*rules.file.periods, "scene"]))}
    step["properties"]["given"]["propertyNames"] = {"enum": sorted(_labels(rules, kind="chance"))}
    decided = sorted(_labels(rules, kind="decision"))
    of_one = {"pattern": f":({'|'.join(decided)})$"} if decided else False
    step["properties"]["choose"]["propertyNames"] = {"anyOf": [{"enum": decided}, of_one]}
    step["allOf"] = [*_inputs_by_action(rules), *_inputs_by_action(rules, procedures=True)]
    expect = properties_of(definitions, "Expect")
    expect["outcome"] |= {"enum": list(rules.file.bands)}
    expect["also"] |= {"enum": [*_others(rules), ABSENT]}


def refine_orders(schema: Schema, rules: Rules) -> None:
    properties = properties_of(schema["$defs"], "Order")
    label = {"enum": sorted(_labels(rules, kind="decision"))}
    properties["ask"]["anyOf"] = [label, {"type": "array", "items": label}]
    properties["policy"] |= _deciders(rules)
    if "OrdersFile" in schema["$defs"]:
        file = properties_of(schema["$defs"], "OrdersFile")
        _narrow(file, "ruleset", {"const": rules.id})
        file["policy"] |= {"enum": _policies(rules)}


def _deciders(rules: Rules) -> Schema:
    """Return what a policy can be: one of the ruleset's for an editor to offer, or orders by name or in a file."""
    return {"anyOf": [{"enum": _policies(rules)}, {"type": "string"}]}


def _policies(rules: Rules) -> list[str]:
    return list(dict.fromkeys([*rules.ruleset.policies, *rules.file.policies, *COMMON_POLICIES]))


def _inputs_by_action(rules: Rules, *, procedures: bool = False) -> list[Schema]:
    """Return what `with` may hold, for each action; or for each procedure."""
    key = "procedure" if procedures else "action"
    return [
        {
            "if": {"properties": {key: {"const": action}}, "required": [key]},
            "then": {"properties": {"with": _inputs(rules, action)}},
        }
        for action, described in rules.file.actions.items()
        if described.procedure == procedures or not procedures
    ]


def _inputs(rules: Rules, action: str) -> Schema:
    properties = {"sheet": text_schema("the sheet of an actor who is not at the table yet")}
    for name, parameter in rules.parameters(action).items():
        for typed in (name, *parameter.aliases):
            properties[typed] = {"description": parameter.help, **schema_of(parameter)}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def refine_ruleset(schema: Schema, rules: Rules) -> None:
    """Make it the schema of an overlay: nothing is required, everything known is named, all may be removed."""
    definitions = schema["$defs"]
    properties = properties_of(definitions, "RulesetFile")
    for name, known in msgspec.structs.asdict(rules.file).items():
        field = properties[name.replace("_", "-")]
        item = field.get("additionalProperties")
        if isinstance(item, dict) and "$ref" in item and isinstance(known, dict):
            field["properties"] = {key: {**item, **_help(value)} for key, value in known.items()}
    default = field_texts(Switch).get("default", "")
    for name, switch in rules.file.switches.items():
        choices = {"description": default, "enum": list(switch.choices)}
        properties["switches"]["properties"][name]["properties"] = {"default": choices}
    refine_effects(definitions, rules)
    _make_overlay(schema)


def _help(value: Any) -> Schema:
    for attribute in ("help", "summary", "title"):
        text = getattr(value, attribute, "")
        if text:
            return {"description": text}
    return {}


def refine_outcomes(schema: Schema, rules: Rules) -> None:
    row = schema["additionalProperties"]
    schema["properties"] = {name: {**row, "description": band.title} for name, band in rules.file.bands.items()}
    schema["additionalProperties"] = False
    refine_effects(schema["$defs"], rules)
    _make_overlay(schema)


def refine_menus(schema: Schema, rules: Rules) -> None:
    refine_effects(schema["$defs"], rules)
    _make_overlay(schema)


def refine_deck(schema: Schema, rules: Rules) -> None:
    """Make it the schema of an overlay of one of the ruleset's decks, or of a deck that extends one."""
    names = rules.layers.deck_names()
    properties = properties_of(schema["$defs"], "DeckFile")
    properties["extends"] |= {"enum": ["", *names]}
    suits = {suit: title for name in names for suit, title in rules.layers.deck(name).suits.items()}
    item = properties["suits"]["additionalProperties"]
    properties["suits"]["properties"] = {suit: {**item, "description": title} for suit, title in suits.items()}
    _make_overlay(schema)


def refine_effects(definitions: dict[str, Schema], rules: Rules) -> None:
    definitions["Effect"] = {
        "title": "Effect",
        "description": "Something the outcome changes.",
        **_one_of(_effects(rules, is_closed=True)),
    }
    for name in definitions.keys() & {"Row", "RowOption"}:
        properties_of(definitions, name)["effects"]["items"] = {"$ref": "#/$defs/Effect"}


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
