"""The keys of an operation of a batch: made from the options and arguments of its command, and read into their values.

A key is called as the option is typed, with `_` for hyphens; what may be repeated takes a list, and texts such as
LABEL=VALUE may be an object. What only a reader at a terminal wants has no key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
import typer.core

from rpgres.cli import options
from rpgres.cli.options import built
from rpgres.engine.resolve import joined_faces
from rpgres.errors import UsageError, as_data, as_key, located
from rpgres.lines.options import ACT_OPTIONS, Option
from rpgres.parameters.context import check_plain
from rpgres.rulesets import unknown

# Options for readers, and for a person at a terminal.
UNASKED = {"json", "real_dice", "exit_code", "watch"}
# Lists have these names; the option's own is taken as well.
PLURAL = {"sheet": "sheets", "switch": "switches", "policy": "policies", "file": "files"}
# What a key takes, by what is played; added to the message where it is given as the other takes it.
BY_SUBJECT = {"best": 'of an action it is true, of a scene or a procedure who decides: "mara"'}
# Options whose keys are written otherwise; names of an action's inputs stay as the ruleset has them.
_HYPHENED = {
    one.names[0][2:] for one in (*vars(options).values(), *ACT_OPTIONS) if isinstance(one, Option) and "_" in one.name
}
EVERYBODY = "*"  # in an object of policies: every character without one of its own


class Key:
    """A key of a request: an option or an argument of a command, as Typer has it.

    Args:
        param: the option or argument.

    Attributes:
        value: the name of the value that the command takes.
        metavar: what stands for the value in help; a flag has none.
        name: as it stands in the request.
        names: the names that are taken too.
        is_flag: whether it is true or false.
        is_required: whether it cannot be left out.
        is_hidden: whether a request may not have it.
        choices: the values it may have, where they are few.
        is_number: whether it is a whole number.
        convert: reads the value of an option that is no text.
    """

    def __init__(self, param: Any) -> None:
        kind, typed = param.type, _name_of(param)
        self.value, self.help, self.metavar = str(param.name), param.help or "", param.metavar or ""
        self.many = bool(param.multiple) or param.nargs == -1
        listed = [PLURAL[typed]] if self.many and typed in PLURAL else []
        others = [name[2:] for name in param.opts if name.startswith("--") and name[2:].replace("-", "_") != typed]
        hyphened = [typed.replace("_", "-")] if "_" in typed else []
        names = [*listed, typed, *hyphened, *others]
        self.name, self.names = names[0], names[1:]
        self.is_flag, self.is_required = bool(getattr(param, "is_flag", False)), bool(param.required)
        self.is_hidden = typed in UNASKED or bool(getattr(param, "hidden", False))
        self.choices = tuple(getattr(kind, "choices", ()))
        self.is_number = kind.name.startswith("int")
        is_text = kind.name in ("str", "text")
        self.convert = None if is_text else lambda value: kind.convert(value, param, None)

    @property
    def is_record(self) -> bool:
        """Whether it takes what another request was answered, as it is, in place of a file of it."""
        return ".json" in self.metavar and self.is_required

    @property
    def is_pairs(self) -> bool:
        """Whether its texts are such as LABEL=VALUE, for which an object may stand, and a list where it takes one."""
        return "=" in self.metavar


class Keys:
    """The keys of a command, and the values of what is left out.

    Args:
        taken: all keys.
        off: the values where a request has none of them.
    """

    def __init__(self, taken: tuple[Key, ...], off: dict[str, Any]) -> None:
        self.taken = tuple(key for key in taken if not key.is_hidden)
        self.off = off | ({"json": True} if "json" in off else {}) | ({"as_json": True} if "as_json" in off else {})
        self.by_name = {name: key for key in self.taken for name in (key.name, *key.names)}
        self.required = [key for key in self.taken if key.is_required]


def key_of_option(option: Option) -> Key:
    """Return the key of an option that is declared as a record."""
    return Key(built(option))


@lru_cache(maxsize=256)  # commands of scenes are made anew
def keys_of_command(command: Any) -> Keys:
    """Return the keys of a command as Typer has it."""
    context = command.make_context(command.name, [], resilient_parsing=True)
    options = [one for one in command.params if isinstance(one, typer.core.TyperOption)]
    named = {_name_of(one) for one in options}
    keys = [Key(one) for one in command.params if one in options or _name_of(one) not in named]
    return Keys(tuple(keys), dict(context.params))


def keys_of_arguments(command: Any) -> list[str]:
    """Return the keys of what stands on the line of a command without a name."""
    return [_name_of(one) for one in command.params if not isinstance(one, typer.core.TyperOption)]


def _name_of(param: Any) -> str:
    """Return the name of an option as it is typed, or of an argument as its help calls it."""
    if isinstance(param, typer.core.TyperOption):
        longest = next(name for name in param.opts if name.startswith("--"))
        return longest.removeprefix("--").replace("-", "_")
    shown = (param.metavar or "").removesuffix("...").strip("[]")
    return shown.lower() if shown.isalpha() and len(shown) > 1 else str(param.name)


def read_keys(keys: Keys, request: Mapping[str, Any], *, of: str, besides: Collection[str] = ()) -> dict[str, Any]:
    """Return the values of a command by the names it has for them.

    Raises:
        UsageError: a key is unknown or missing, or its value is none that it takes.
    """
    values = dict(keys.off)
    said = set()
    for name, given in request.items():
        key = keys.by_name.get(name)
        if key is None:
            known = [*(one.name for one in keys.taken), *besides, "id"]
            raise UsageError(unknown("key", name, known, of=f"the op {of}"), path=(name,), reason="unknown")
        if key.value in said:
            raise UsageError(f"`{key.name}` is given twice, also as `{name}`", path=(name,))
        if given is None:
            continue
        said.add(key.value)
        values[key.value] = _read(key, name, given)
        if key.value in ("format", "form"):  # which is then no JSON, unless it says so
            values |= {"json": False} if "json" in values else {"as_json": False} if "as_json" in values else {}
    for key in keys.required:
        if key.value not in said:
            raise UsageError(f"{of} needs the key `{key.name}`: {key.help}", path=(key.name,), reason="missing")
    return values


def _read(key: Key, name: str, given: Any) -> Any:
    if key.is_flag:
        if not isinstance(given, bool):
            raise _wrong(name, "true or false", given)
        return given
    if key.many:
        several = _several(key, name, given)
        if key.is_required and not several:
            raise _wrong(name, "a text or a list of texts", given)
        return [_one(key, name, one) for one in several]
    if key.is_pairs and isinstance(given, list | dict):
        several = _several(key, name, given)
        if len(several) != 1:
            raise _wrong(name, f"one {key.metavar}", given)
        given = several[0]
    return _one(key, name, given)


def _several(key: Key, name: str, given: Any) -> list[Any]:
    if isinstance(given, list):
        return given
    if isinstance(given, dict):
        if not key.is_pairs:
            raise _wrong(name, "a text or a list of texts", given)
        return list(_pairs(key, name, given))
    return [given]


def _pairs(key: Key, name: str, given: dict[str, Any]) -> Iterator[str]:
    for label, value in given.items():
        several = joined_faces(value) if key.name == "given" else value
        for one in several if isinstance(several, list) else [several]:
            text = _text(f"{name} {label}", one)
            everybody = key.name == "policies" and label in ("", EVERYBODY)
            yield text if everybody else f"{label}={text}"


def _one(key: Key, name: str, given: Any) -> Any:
    if key.is_record and isinstance(given, dict):
        return msgspec.json.encode(given).decode()
    if key.convert is None:
        text = _text(name, given)
        if text == "-" and "FILE" in key.metavar and key.value not in ("out", "markdown", "html", "lonelog", "svg"):
            raise UsageError(f"`{name}` names a file: standard input has the requests", path=(name,))
        if key.name in ("sheet", "sheets") and "FILE" in key.metavar:  # which may come from a stranger
            with located(name):
                check_plain(text, always=True)
        return text
    if key.is_number and not isinstance(given, int | float | str):
        raise _wrong(name, "a whole number", given)
    if not key.is_number and not isinstance(given, str):
        raise _wrong(name, "a text", given)
    try:
        return key.convert(given)
    except Exception as error:  # Typer's own, reported as ours
        if not hasattr(error, "format_message"):
            raise
        if key.is_number and not str(given).removeprefix("-").isdecimal():
            raise _wrong(name, "a whole number", given) from None
        message = str(getattr(error, "message", error)).rstrip(".")
        raise UsageError(f"`{name}`: {message[:1].lower()}{message[1:]}", path=(name,), reason="type") from None


def as_request_key(name: str) -> str:
    """Return the name of an option or an input as messages for requests write it.

    >>> as_request_key("until-width"), as_request_key("aspect-name")
    ('`until_width`', '`aspect-name`')
    """
    return as_key(name.replace("-", "_") if name in _HYPHENED else name)


def _text(name: str, given: Any) -> str:
    if isinstance(given, str) and "\0" in given:
        raise _wrong(name, "a text without null characters", given)
    if isinstance(given, str | int | float) and not isinstance(given, bool):
        return str(given)
    raise _wrong(name, "a text", given)


def _wrong(name: str, what: str, given: Any) -> UsageError:
    also = f"; {BY_SUBJECT[name]}" if name in BY_SUBJECT else ""
    return UsageError(
        f"`{name}` takes {what}, not {as_data(given)}{also}", path=(name.partition(" ")[0],), reason="type"
    )
