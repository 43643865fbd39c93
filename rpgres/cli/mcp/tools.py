"""The tools of a seat: names, descriptions, schemas, and how arguments become records. Nothing here knows the SDK."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec

from rpgres.arguments import require_short
from rpgres.cli.mcp import calls, records
from rpgres.errors import RpgresError, UsageError, readable
from rpgres.formats.descriptions import field_texts, records_in
from rpgres.lines.acting import AS_LINES
from rpgres.lines.seat import Seat
from rpgres.rulesets import unknown

Schema = dict[str, Any]

INSTRUCTIONS = (
    "You sit at a role-playing table that is kept in a file. Rules, dice and cards are resolved for you, and you see "
    "what your seat may see. Begin with `show` and `actions`. `act` resolves an action; where it returns `pending`, a "
    "decision waits: answer it with `answer` if `yours` is true, else wait for the other seat and look again with "
    "`show`. Never make up dice or outcomes. An error tells what to try."
)


class Tool(msgspec.Struct, frozen=True):
    """Something that can be called.

    Attributes:
        help: what it does, for a model.
        takes: the record of its arguments.
        returns: the record of its result.
        do: does it.
        is_read_only: whether it changes nothing.
    """

    help: str
    takes: type[msgspec.Struct]
    returns: type[msgspec.Struct]
    do: Callable[[Seat, Any], msgspec.Struct]
    is_read_only: bool = False


TOOLS: dict[str, Tool] = {
    "actions": Tool(
        "List what can be done at the table, with an example line of each; or describe one action in full.",
        *(records.ActionsArguments, records.Actions, calls.list_actions, True),
    ),
    "act": Tool(
        "Do something at the table: resolve an action by the rules, with dice from the table's seed. Also begins and "
        "ends scenes, adds notes, lets optional decisions pass, sets values. Use `odds` first to evaluate an action.",
        *(records.ActArguments, records.Done, calls.act),
    ),
    "answer": Tool(
        "Answer the pending decision of this seat, and continue its action. Without `choice`, the person at the "
        "client is asked.",
        *(records.AnswerArguments, records.Done, calls.answer),
    ),
    "show": Tool(
        "Show the table as this seat sees it: characters, aspects, tracks, cards, and the decision that waits.",
        *(records.ShowArguments, records.TableSeen, calls.show, True),
    ),
    "odds": Tool(
        "Compute the exact chances of an action at the table, as this seat knows it. Nothing is done.",
        *(records.OddsArguments, records.Odds, calls.odds, True),
    ),
    "undo": Tool(
        "Undo the last action, or an entry and all after it; the journal keeps them, and the same action gets the same "
        "dice again. A player's seat undoes only what it did; where it saw dice or cards, the game master confirms it.",
        *(records.UndoArguments, records.Done, calls.undo),
    ),
    "log": Tool("Read the last entries of the journal.", *(records.LogArguments, records.Log, calls.read_log, True)),
    "rule": Tool(
        "Look up what the rules say of an action, outcome, label, house rule or word, and where it comes from.",
        *(records.RuleArguments, records.RuleFound, calls.look_up, True),
    ),
}


@cache  # a server that many clients start in turn is asked again and again
def schema_of(record: type[msgspec.Struct]) -> Schema:
    """Return the schema of a record with everything in its place, and what its docstrings say."""
    (schema,), parts = msgspec.json.schema_components((record,), ref_template="{name}")
    known = {one.__name__: one for one in records_in((record,)).values()}

    def whole(node: Any) -> Any:
        if isinstance(node, list):
            return [whole(one) for one in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = node["$ref"]
            made = {key: whole(value) for key, value in parts[name].items() if key not in ("title", "description")}
            texts = field_texts(known[name])
            for key, field in made.get("properties", {}).items():
                made["properties"][key] = field | ({"description": texts[key]} if key in texts else {})
            return made
        return {key: whole(value) for key, value in node.items()}

    found: Schema = whole(schema)
    return found


def call(seat: Seat, name: str, arguments: Mapping[str, Any]) -> msgspec.Struct:
    """Return what a tool does with arguments.

    Raises:
        RpgresError: an argument is wrong, or the table refuses.
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise UsageError(unknown("tool", name, TOOLS, of="this server"))
    try:
        asked = msgspec.convert(arguments, tool.takes)
    except msgspec.ValidationError as error:
        raise UsageError(f"{name}: {_fault(str(error), tool)}") from None
    require_short(arguments)
    return tool.do(seat, asked)


def _fault(told: str, tool: Tool) -> str:
    """Return what is wrong with the arguments, by their names, and which there are."""
    where = re.search(r" - at `\$\.?(.*)`$", told)
    what = told[: where.start()] if where else told
    names = ", ".join(field.encode_name for field in msgspec.structs.fields(tool.takes)) or "none"
    return f"{f'{where[1]}: ' if where and where[1] else ''}{what}; it takes: {names}"


def refusal(error: RpgresError) -> str:
    """Return the message of an error for a model, with the tools in place of commands."""
    return readable(error.raw, AS_LINES)
