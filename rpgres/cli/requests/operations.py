"""The commands as operations of `rpgres batch`: found by name, called with keys, answered with the record of `--json`.

Nothing is listed twice: operations are the commands of `root`, and their keys the options of these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import typer.core
from msgspec import Struct

from rpgres.cli.dynamic import procedure_named
from rpgres.cli.lazy import LazyGroup
from rpgres.cli.options import read_folders
from rpgres.cli.requests.keys import (
    UNASKED,
    Key,
    Keys,
    as_request_key,
    key_of_option,
    keys_of_arguments,
    keys_of_command,
    read_keys,
)
from rpgres.cli.root import COMMANDS, load_command
from rpgres.engine.requests import NO_DICE
from rpgres.errors import Command, UsageError, Wording, as_command_line, as_data
from rpgres.journal.connections import kept_open
from rpgres.plugins.loading import RulesetData, read_ruleset, rules_kept
from rpgres.rulesets import unknown

RESOLVE = "resolve"  # the operation of a request that names none
# Commands that are no operations, and why.
APART = {
    "play": "a person plays at a terminal; use table.act and table.answer",
    "mcp": "it speaks with a language model over standard input; it is a process of its own",
    "batch": "a batch answers requests, and starts no other one",
    "completions": "it prints the completion script of a shell",
}
# Methods of the library that are no commands, and why they are no operations.
LIBRARY = {"table.do": "typed lines are read by `do` of the library; use table.act and table.answer"}
# Operations that may be called by the name of their group.
SHORT = {"scene": "scene.run", "sheet": "sheet.show", "ruleset": "ruleset.show", "deck": "deck.show"}

MOST = 1024  # actions whose keys are kept

Run = Callable[[], None]


@contextmanager
def kept() -> Iterator[None]:
    """Have rulesets read once only and tables stay open, while many operations follow each other."""
    _read.cache_clear()
    _ACTION_KEYS.clear()
    with rules_kept(), kept_open():
        yield


class Operation(Struct, frozen=True):
    """A command as an operation.

    Attributes:
        name: the words of the command with points between: `table.act`.
        summary: what it does, in one line.
        command: the command, or the group of those that are made from rulesets.
    """

    name: str
    summary: str
    command: Any

    @property
    def plays(self) -> bool:
        """Whether it is about an action of a ruleset, dice or a scene, and takes the keys that these have."""
        return isinstance(self.command, LazyGroup)

    @property
    def is_seated(self) -> bool:
        """Whether the action is one at a persistent table, which says by which ruleset."""
        return self.plays and bool(self.command.verb.is_seated)

    @property
    def ways(self) -> list[list[str]]:
        """The keys by which a request says what is played: an action, or dice or a scene in its place."""
        if self.is_seated:
            return [["action"]]
        verb = self.command.verb
        return [
            ["ruleset", "action"],
            *([["notation"]] if verb.dice_help else []),
            *([["scene"]] if verb.scene else []),
        ]


def operations() -> Iterator[Operation]:
    """Yield every operation, in the order of the commands."""
    for name in COMMANDS:
        if name not in APART:
            yield from _operations_of(name).values()


def find_operation(name: object) -> Operation:
    """Return an operation by its name.

    Raises:
        UsageError: there is none; the nearest is named.
    """
    if not isinstance(name, str):
        raise UsageError(f'op is the name of an operation, such as "table.act", not {as_data(name)}', path=("op",))
    full = SHORT.get(name, name)
    first = full.partition(".")[0]
    apart = APART.get(first) or LIBRARY.get(full)
    if apart is not None:
        raise UsageError(f"{name} is no operation: {apart}", path=("op",), reason="unknown")
    found = _operations_of(first).get(full) if first in COMMANDS else None
    if found is None:
        known = [RESOLVE, *(one.name for one in operations()), *SHORT]
        raise UsageError(unknown("op", name, known, of="a batch"), path=("op",), reason="unknown")
    return found


@cache
def _operations_of(name: str) -> dict[str, Operation]:
    found = {}
    for path, command in _leaves(name, load_command(name)):
        summary = COMMANDS[name] if path == name else command.get_short_help_str(limit=200)
        found[path] = Operation(path, summary, command)
    return found


def _leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(command, typer.core.TyperGroup) and not isinstance(command, LazyGroup):
        for name, one in command.commands.items():
            yield from _leaves(f"{path}.{name}", one)
    else:
        yield path, command


# ---------------------------------------------------------------------------------------------------------------------
# What a request asks of one


def prepared_run(operation: Operation, request: Mapping[str, Any], folders: Sequence[Path]) -> Run:
    """Return what runs the command that a request asks for.

    Args:
        request: its keys and values, without `op` and `id`.
        folders: where rulesets are sought first, beside those that the request names.

    Raises:
        UsageError: a key is unknown or missing, or its value is none that it takes.
    """
    if operation.plays:
        return _played(operation, request, folders)
    procedure = _procedure(operation, request, folders)
    if procedure is not None:
        return procedure
    return _called(operation.name, operation.command, request, folders)


def _called(name: str, command: Any, request: Mapping[str, Any], folders: Sequence[Path]) -> Run:
    keys = keys_of_command(command)
    values = read_keys(keys, request, of=name)
    _add_folders(values, folders)
    return lambda: command.callback(**values)


def _played(operation: Operation, request: Mapping[str, Any], folders: Sequence[Path]) -> Run:
    verb, rest = operation.command.verb, dict(request)
    _check_names(operation, rest)
    if "notation" in rest and verb.dice_help:
        notation = _text(rest.pop("notation"), "notation")
        values = read_keys(_dice_keys(verb.name, tuple(verb.dice_options)), rest, of=operation.name)
        return lambda: verb.roll_dice(notation, values)
    if "scene" in rest and verb.scene is not None:
        scene = _text(rest.pop("scene"), "scene")
        found = procedure_named(scene, _extra(rest, folders))
        if found is None:
            return _called(operation.name, verb.scene(scene), rest, folders)
        data, action = found
    else:
        if verb.is_seated:
            from rpgres.cli.tables import AtTable

            table = rest.get("table")
            ruleset, own = AtTable(table=None if table is None else _text(table, "table")).ruleset()
            data = _read(ruleset, (*own, *_extra(rest, folders)))
        else:
            data = _read(_named(rest, "ruleset", operation), _extra(rest, folders))
        action = _named(rest, "action", operation)
    return _acted(operation.name, verb, data, action, rest, folders)


def _check_names(operation: Operation, request: Mapping[str, Any]) -> None:
    """Check that every key is one of the operation's, before a ruleset or a table is sought."""
    known = _names_of(operation)
    for name in request:
        if name == "dice" and "notation" in known and "ruleset" not in request:
            raise UsageError(NO_DICE, path=(name,), reason="unknown")
        if name not in known:
            shown = [name for name, is_main in known.items() if is_main]
            told = unknown("key", name, shown, of=f"the op {operation.name}")
            if "with" in known and "did you mean" not in told:
                told += "; inputs of an action, and its sheet, belong under `with`"
            raise UsageError(told, path=(name,), reason="unknown")


@cache
def _names_of(operation: Operation) -> dict[str, bool]:
    """Return every name of a key, and whether it is the one that help has."""
    verb = operation.command.verb
    known = dict.fromkeys((*(name for way in operation.ways for name in way), "with"), True)
    for key in keys_of(operation):
        known |= {key.name: True, **dict.fromkeys(key.names, False)}
    if verb.scene is not None:
        known |= {name: name == key.name for name, key in keys_of_command(verb.scene("scene")).by_name.items()}
    return known


def _acted(
    name: str, verb: Any, data: RulesetData, action: str, rest: Mapping[str, Any], folders: Sequence[Path]
) -> Run:
    """Return what runs an action of a ruleset."""
    if action not in data.file.actions:
        text = unknown("action", action, data.file.actions, of=f"the ruleset {data.id}")
        raise UsageError(text, path=("action",), reason="unknown")
    keys, own = _action_keys(verb.name, verb, data, action)
    given = {key: value for key, value in rest.items() if key != "with"}
    values = read_keys(keys, given, of=name, besides=("with",))
    _add_folders(values, folders)
    inputs = rest.get("with", {})
    if not isinstance(inputs, Mapping):
        raise UsageError(f'with is an object such as {{"skill": 3, "vs": 2}}, not {as_data(inputs)}', path=("with",))
    values |= own | {str(one).replace("-", "_"): value for one, value in inputs.items()}
    return lambda: verb.act(data, action, values)


def _extra(rest: Mapping[str, Any], folders: Sequence[Path]) -> tuple[Path, ...]:
    asked = rest.get("rulesets") or ()
    return (*folders, *read_folders([asked] if isinstance(asked, str) else map(str, asked)))


@lru_cache(maxsize=64)
def _read(ruleset: str, extra: tuple[Path, ...]) -> RulesetData:
    return read_ruleset(ruleset, extra=extra)


def _named(rest: dict[str, Any], key: str, operation: Operation) -> str:
    if key not in rest:
        others = [name for way in operation.ways[1:] for name in way]
        instead = f", or {' or '.join(others)} in its place" if others else ""
        raise UsageError(f"{operation.name} needs the key `{key}`{instead}", path=(key,), reason="missing")
    return _text(rest.pop(key), key)


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str) or value == "-":
        raise UsageError(f"`{key}` takes a text, not {as_data(value)}", path=(key,), reason="type")
    return value


def _procedure(operation: Operation, request: Mapping[str, Any], folders: Sequence[Path]) -> Run | None:
    """Return what plays a procedure of a ruleset, where a request of `scene.run` names one in place of a file."""
    verb = getattr(operation.command, "verb", None)
    if verb is None or "/" not in str(request.get("file")):
        return None
    rest = dict(request)
    found = procedure_named(_text(rest.pop("file"), "file"), _extra(rest, folders))
    return None if found is None else _acted(operation.name, verb, *found, rest, folders)


@cache
def _dice_keys(_name: str, options: tuple[Any, ...]) -> Keys:
    return Keys(tuple(map(key_of_option, options)), {option.name: option.off for option in options})


_ACTION_KEYS: dict[tuple[str, str, tuple[Path, ...], str], tuple[Keys, dict[str, Any]]] = {}


def _action_keys(name: str, verb: Any, data: RulesetData, action: str) -> tuple[Keys, dict[str, Any]]:
    """Return the keys of every action, and the inputs of this one, which are left out so far."""
    known = (name, data.id, data.extra, action)
    if known not in _ACTION_KEYS:
        if len(_ACTION_KEYS) >= MOST:
            _ACTION_KEYS.clear()
        shared = verb.options_of(data.file.actions[action])
        own = [one.replace("-", "_") for one in data.parameters(action)]  # in the order of messages
        keys = tuple(key_of_option(option) for option in shared if option.name not in own)
        off = {option.name: option.off for option in shared}
        _ACTION_KEYS[known] = Keys(keys, off), dict.fromkeys(own)
    return _ACTION_KEYS[known]


def _add_folders(values: dict[str, Any], folders: Sequence[Path]) -> None:
    if folders and "rulesets" in values:
        values["rulesets"] = [*map(str, folders), *(values["rulesets"] or ())]


def as_request(command: Command) -> str:
    """Return a command as the request that does it; where none does, as a line of a shell.

    >>> as_request(Command("table undo", ("12",), {"as": "mara"}))
    '{"op": "table.undo", "number": 12, "as": "mara"}'
    """
    words, values = command.name.split(" "), list(command.values)
    found = _operations_of(words[0]) if words[0] in COMMANDS and words[0] not in APART else {}
    while words and ".".join(words) not in found:
        values.insert(0, words.pop())  # a word that chooses what an operation does, as in `table orders set`
    if not words or "help" in command.options:
        return as_command_line(command)
    operation = found[".".join(words)]
    keys = {key.name for key in keys_of(operation)}
    request: dict[str, Any] = {
        "op": operation.name,
        **dict(zip(_arguments(operation, values), map(_shown, values), strict=False)),
    }
    for name, value in command.options.items():
        key = name.replace("-", "_")
        if key not in UNASKED:
            (request if key in keys or not operation.plays else request.setdefault("with", {}))[key] = _shown(value)
    return json.dumps(request)


def _shown(text: str) -> str | int | bool:
    """Return a value of a command as data: a flag has an empty text."""
    return int(text) if text.isdecimal() else text or True


def _arguments(operation: Operation, values: Sequence[str]) -> list[str]:
    """Return the keys of what stands without a name on the line of an operation."""
    if not operation.plays:
        return keys_of_arguments(operation.command)
    if operation.is_seated:
        return ["action"]
    return ["ruleset", "action"] if len(values) > 1 else ["scene" if "/" in values[0] else "notation"] if values else []


AS_REQUESTS = Wording(as_request_key, as_request)


def keys_of(operation: Operation) -> list[Key]:
    """Return the keys of an operation, as far as they do not depend on an action."""
    if not operation.plays:
        return list(keys_of_command(operation.command).taken)
    verb = operation.command.verb
    found: dict[str, Key] = {}
    for option in (*verb.options, *verb.procedure_options, *verb.dice_options):
        found.setdefault(option.name, key_of_option(option))
    return [key for key in found.values() if not key.is_hidden]
