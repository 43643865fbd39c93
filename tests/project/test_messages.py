"""Commands in messages: each is one that there is, and is written as its reader types it."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import rpgres
from rpgres.arguments import as_call
from rpgres.cli.requests.operations import as_request, find_operation
from rpgres.cli.root import load_command
from rpgres.engine.requests import discreet
from rpgres.errors import (
    AS_KEYS,
    Command,
    PluginError,
    RuleError,
    Wording,
    as_key,
    called,
    code_failed,
    in_place,
    named,
    readable,
)
from rpgres.lines.acting import as_line

HOUSE = Path(rpgres.__file__).parent


@cache
def commands() -> dict[str, Command]:
    """Return the commands that messages name whose words stand in the code, by name."""
    found: dict[str, Command] = {}
    texts = (file.read_text("utf-8") for file in HOUSE.rglob("*.py"))
    for text in filter(re.compile(r"\bcalled\(").search, texts):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "called":
                name, *values = node.args
                if isinstance(name, ast.Constant):
                    options = {str(one.arg).rstrip("_").replace("_", "-"): "X" for one in node.keywords}
                    found[str(name.value)] = Command(str(name.value), tuple("7" for _ in values), options)
    return found


def leaf(name: str) -> tuple[Any, list[str]]:
    """Return a command of the program, and the words behind it that choose what it does."""
    found, rest = load_command(name.split(" ")[0]), name.split(" ")[1:]
    while rest and rest[0] in getattr(found, "commands", {}):
        found = found.commands[rest.pop(0)]
    return found, rest


def test_messages_name_commands() -> None:
    assert len(commands()) > 25


def test_each_command_in_a_message_is_there_with_its_options() -> None:
    for command in commands().values():
        found, words = leaf(command.name)
        assert len(words) <= 1 or not hasattr(found, "commands"), command
        if not hasattr(found, "verb"):  # else its action takes options, too
            known = {name for one in found.params for name in one.opts}
            assert {f"--{name}" for name in command.options} <= known, command


def test_each_command_that_is_a_request_is_one_with_keys_of_its_operation() -> None:
    for command in commands().values():
        shown = as_request(command)
        if shown.startswith("{"):
            operation = find_operation(json.loads(shown)["op"])
            assert command.name.split(" ")[0] == operation.name.partition(".")[0], command
        else:
            assert command.name.split(" ")[0] in ("config", "play") or "help" in command.options, command


def test_each_command_that_is_a_call_is_one_of_the_library() -> None:
    for command in commands().values():
        call = as_call(command).partition("(")[0]
        if call.startswith("rpgres "):
            assert not command.name.startswith("table "), command
            continue
        where, _, method = call.rpartition(".")
        assert callable(getattr(rpgres.PersistentTable if where == "table" else rpgres, method, None)), command


@pytest.mark.parametrize(
    ("command", "line", "request_", "call"),
    [
        (called("table undo", 12), "undo 12", '{"op": "table.undo", "number": 12}', "table.undo(12)"),
        (
            called("table answer", choose="price=fail"),
            "answer --choose price=fail",
            '{"op": "table.answer", "choose": "price=fail"}',
            "table.answer(choose='price=fail')",
        ),
        (
            called("table orders set", "FILE", as_="ada"),
            "orders set FILE --as ada",
            '{"op": "table.orders", "deed": "set", "file": "FILE", "as": "ada"}',
            "table.set_orders(...)",
        ),
        (called("ruleset list"), "rpgres ruleset list", '{"op": "ruleset.list"}', "rulesets(...)"),
        (
            called("roll", "3d6", repeat=2),
            "roll 3d6 --repeat 2",
            '{"op": "roll", "notation": "3d6", "repeat": 2}',
            "roll('3d6', repeat=2)",
        ),
        (
            called("simulate", "fate", "overcome", skill=3),
            "rpgres simulate fate overcome --skill 3",
            '{"op": "simulate", "ruleset": "fate", "action": "overcome", "with": {"skill": 3}}',
            "simulate('fate', 'overcome', skill=3)",
        ),
        (called("config show"), "rpgres config show", '{"op": "config.show"}', "rpgres config show"),
    ],
)
def test_a_command_is_written_as_its_reader_types_it(command: str, line: str, request_: str, call: str) -> None:
    told = f"use `{command}`, with {named('seed')}"
    shown = [readable(told, Wording(as_key, one)) for one in (as_line, as_request)]
    assert shown == [f"use `{one}`, with `seed`" for one in (line, request_)]
    assert readable(told, Wording(as_key, as_call)) == f"use `{call}`, with `seed`"
    assert readable(told, AS_KEYS).startswith("use `rpgres ")


def test_a_message_that_was_cut_off_in_a_command_stays_readable() -> None:
    assert readable(f"see `{called('table log', last=1)}"[:13]) == "see `table l"


def test_a_place_in_code_is_told_to_those_who_may_know_it() -> None:
    error = code_failed("the rule failed", _raised())
    assert error.message.endswith(f"({__file__}, line {error.details['line']})")
    told = discreet(error)
    assert told.message == "the rule failed: ValueError: (rules.py, line 3) is no place"
    assert "file" not in told.details


@pytest.mark.parametrize("kind", [RuleError, PluginError])
def test_a_place_in_code_is_left_out_wherever_it_is_told(kind: type[RuleError | PluginError]) -> None:
    error = kind(f"it seems to loop{in_place('/home/ada/rules.py', 3)}. Report it", reason="endless", version="2")
    told = discreet(error)
    assert (type(told), told.message, told.reason) == (kind, "it seems to loop. Report it", "endless")
    assert told.details == {"version": "2"}


def _raised() -> ValueError:
    try:
        raise ValueError("(rules.py, line 3) is no place")
    except ValueError as error:
        return error
