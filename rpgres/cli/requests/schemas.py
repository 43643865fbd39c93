"""The JSON Schema of the requests of a batch, an operation at a time, with the schemas of what each answers."""

from __future__ import annotations

from collections.abc import Mapping

from rpgres.cli.requests.keys import Key, key_of_option, keys_of_command
from rpgres.cli.requests.operations import RESOLVE, SHORT, Operation, keys_of, operations
from rpgres.formats.base_schemas import Schema
from rpgres.formats.schemas import DIALECT, VERSION, make_schema
from rpgres.rulesets import Rules

_STUDIES = ("comparison", "variation", "grids")
# By operation, what `rpgres schema NAME` describes its answer; beside these stand error, text and answers.
ANSWERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((RESOLVE, "roll"), ("result", "pending")),
    "odds": ("odds", "odds-ladder", "scene-odds", "scene-best", *_STUDIES),
    "simulate": ("simulation", "result", "pending", "scene-result"),
    "whatif": ("what-if",),
    **dict.fromkeys(("scene.list", "sheet.list"), ("files-listed",)),
    "scene.run": ("scene-result", "pending"),
    "scene.show": ("account",),
    **dict.fromkeys(("scene.check", "sheet.check"), ("check",)),
    "scene.test": ("scene-test",),
    **dict.fromkeys(
        (f"table.{name}" for name in ("new", "undo", "redo", "set", "note", "join", "reveal", "seal")), ("entry",)
    ),
    **dict.fromkeys(
        (f"table.{name}" for name in ("act", "begin", "end", "answer", "open", "pass")), ("result", "pending", "entry")
    ),
    "table.orders": ("orders-shown", "result", "pending", "entry"),
    "table.odds": ("odds", "odds-ladder", "scene-odds", *_STUDIES),
    **{f"table.{name}": (name,) for name in ("log", "verify", "view")},
    "table.show": ("table",),
    "sheet.show": ("sheet-shown",),
    "deck.list": ("decks",),
    "deck.show": ("deck-shown",),
    "deck.draw": ("deck-draw",),
    "ruleset.list": ("rulesets",),
    "ruleset.check": ("ruleset-check",),
    "ruleset.test": ("ruleset-test",),
    "ruleset.show": ("ruleset-shown", "action-shown"),
    "plugin.list": ("plugins",),
    "plugin.check": ("plugin-check",),
    "config.show": ("config-shown",),
    "schema": ("schema-shown",),
}
_VALUE: Schema = {"type": ["string", "number"]}
_SEVERAL: Schema = {"type": "array", "items": _VALUE}
_ID: Schema = {"description": "anything; carried into the answer"}


def batch_schema(rules: Rules | None = None) -> Schema:
    """Return the schema of a request: one for each operation, by `op`; one without `op` is `resolve`."""
    request = make_schema("request", rules=rules)
    definitions = request.pop("$defs")
    definitions["resolve"] = {key: one for key, one in request.items() if not key.startswith("$s") and key != "$id"}
    for record in ("Request", "DiceRequest"):
        if record in definitions:
            definitions[record]["properties"]["op"] = {"const": RESOLVE}
    found = list(operations())
    short = {full: name for name, full in SHORT.items()}
    definitions |= {one.name: _schema_of(one, short.get(one.name), rules) for one in found}
    definitions[RESOLVE]["answers"] = _answers_of(RESOLVE)
    names = [RESOLVE, *(one.name for one in found)]
    return {
        "$schema": DIALECT,
        "$id": f"urn:rpgres:schema:batch:{VERSION}" + (f":{rules.id}" if rules is not None else ""),
        "title": "Batch",
        "description": "One line that `rpgres batch` reads. `answers` names the schemas of what comes back.",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names],
        "$defs": definitions,
    }


def _schema_of(operation: Operation, short: str | None, rules: Rules | None) -> Schema:
    names = [operation.name, *([short] if short is not None else [])]
    properties: dict[str, Schema] = {"op": {"enum": names} if short is not None else {"const": operation.name}}
    properties["id"] = _ID
    schema: Schema = {"type": "object", "description": operation.summary, "answers": _answers_of(operation.name)}
    keys = keys_of(operation)
    of_scenes: dict[str, Key] = {}
    if operation.plays or operation.name == "scene.run":
        properties |= _played(operation, rules)
    if operation.plays:
        ways = [{"required": way} for way in operation.ways]
        schema |= {"anyOf": ways} if len(ways) > 1 else ways[0]
        scene = operation.command.verb.scene
        of_procedures = map(key_of_option, operation.command.verb.procedure_options)
        of_scenes = {key.name: key for key in of_procedures if not key.is_hidden}
        of_scenes |= {key.name: key for key in keys_of_command(scene("scene")).taken} if scene is not None else {}
        keys += [key for key in of_scenes.values() if key.name not in {one.name for one in keys}]
    for key in keys:
        if key.name not in properties:
            its = _schema_by_subject(key, of_scenes.get(key.name, key))
            properties |= dict.fromkeys((key.name, *key.names), its)
    required = ["op", *schema.pop("required", ()), *(key.name for key in keys if key.is_required and not key.names)]
    several = [
        {"oneOf": [{"required": [name]} for name in (key.name, *key.names)]}
        for key in keys
        if key.is_required and key.names
    ]
    schema |= {"allOf": several} if several else {}
    return {**schema, "properties": properties, "required": required, "additionalProperties": False}


def _played(operation: Operation, rules: Rules | None) -> dict[str, Schema]:
    action: Schema = {"type": "string", "description": "the action"}
    ruleset: Schema = {"type": "string", "description": "the id of the ruleset"}
    inputs: Schema = {"type": "object", "description": "what the action takes, by parameter, as in a scene"}
    if rules is not None:
        action["enum"], ruleset["const"] = list(rules.file.actions), rules.id
    if not operation.plays:
        return {"with": inputs}
    notation = {"type": "string", "description": "dice, in place of an action: 4d6kh3"}
    scene = {"type": "string", "description": "a scene, in place of an action, as fate/bribe"}
    known = {"ruleset": ruleset, "action": action, "notation": notation, "scene": scene}
    return {name: known[name] for way in operation.ways for name in way} | {"with": inputs}


def _schema_by_subject(of_action: Key, of_scene: Key) -> Schema:
    """Return the schema of a key that may take something else where a scene or a procedure is played."""
    ways = [_schema_of_key(of_action), _schema_of_key(of_scene)]
    if ways[0] == ways[1]:
        return ways[0]
    text = f"Of an action: {of_action.help} Of a scene or a procedure: {of_scene.help}"
    return {"anyOf": [{name: one for name, one in way.items() if name != "description"} for way in ways]} | {
        "description": text
    }


def _schema_of_key(key: Key) -> Schema:
    text = {"description": key.help}
    if key.is_flag:
        return {"type": "boolean", **text}
    if key.choices:
        return {"enum": list(key.choices), **text}
    if key.is_number:
        return {"type": "integer", **text}
    if key.is_record:
        return {"type": ["string", "object"], **text}
    if not (key.many or key.is_pairs):
        return {**_VALUE, **text}
    ways: list[Schema] = [_VALUE, _SEVERAL if key.many else {**_SEVERAL, "minItems": 1, "maxItems": 1}]
    if key.is_pairs:
        pairs: Schema = {"type": "object", "additionalProperties": {"anyOf": list(ways)}}
        ways.append(pairs if key.many else {**pairs, "minProperties": 1, "maxProperties": 1})
    return {"anyOf": ways, **text}


def _answers_of(name: str) -> list[str]:
    return [f"urn:rpgres:schema:{kind}:{VERSION}" for kind in (*ANSWERS.get(name, ()), "text", "answers", "error")]
