"""Which argument of a public call is of a kind that it does not take, told where the call failed because of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from rpgres.errors import (
    AS_KEYS,
    Command,
    RpgresError,
    UsageError,
    Wording,
    as_command_line,
    as_key,
    as_own,
    named,
)

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")

MOST = 999_999_999_999  # runs and the like
LONGEST_TEXT = 10_000  # characters of a text that somebody sends who is not trusted

_WORDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "True or False",
    "PathLike": "a path",
    "Mapping": "a dictionary",
    "dict": "a dictionary",
    "Sequence": "a list",
    "Iterable": "a list",
    "NoneType": "None",
}


# Calls that do what a command does, where the command's words do not name them; `table` is a persistent table. Those
# that take other arguments are written without.
_CALLS = {
    "odds": "odds",
    "roll": "roll",
    "ruleset list": "rulesets",
    "simulate": "simulate",
    "table pass": "table.pass_",
}
_OTHER = {
    "scene run": "run_scene",
    "table new": "new_table",
    "table orders set": "table.set_orders",
    "whatif": "whatif",
}


def as_call(command: Command) -> str:
    """Return a command as the call that does it; where none does, as a line of a shell.

    >>> as_call(Command("table undo", ("12",), {})), as_call(Command("table answer", (), {"choose": "price=cost"}))
    ('table.undo(12)', "table.answer(choose='price=cost')")
    """
    group, _, method = command.name.partition(" ")
    call = {**_CALLS, **_OTHER}.get(command.name) or (
        f"table.{method}" if group == "table" and method.isalpha() else ""
    )
    if not call or "help" in command.options:
        return as_command_line(command)
    shown = [value if value.isdecimal() else repr(value) for value in (*command.values, *command.options.values())]
    names = [""] * len(command.values) + [f"{name.replace('-', '_')}=" for name in command.options]
    given = "" if command.name in _OTHER else ", ".join(name + value for name, value in zip(names, shown, strict=True))
    return f"{call}({given or '...'})"


AS_CALLS = Wording(as_key, as_call)


def told_by_kind(call: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """Have a call that fails because of an argument's kind raise a `UsageError` that names the argument.

    A keyword that only the command line has is told with the one that stands for it here, a command as a call.

    What the system says of a file is told as a `FileError`. Arguments are looked at when a call has failed, so that one
    that does not costs nothing; but for True or False, in whose place anything would do, "no" for yes included.
    """
    switches = [name for name, hint in call.__annotations__.items() if hint in ("bool", bool)]

    @wraps(call)
    def told(*args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
        for name in switches:
            if name in kwargs and not isinstance(kwargs[name], bool):
                raise UsageError(f"{named(name)} takes True or False, not {kwargs[name]!r:.80}", path=(name,))
        try:
            return call(*args, **kwargs)
        except RpgresError as error:
            error.wording = AS_CALLS if error.wording is AS_KEYS else error.wording
            key = error.path[-1] if error.path and error.reason == "unknown" else None
            here = _instead(call, key, kwargs[key]) if isinstance(key, str) and key in kwargs else ""
            if here:
                error.add(f"; here it is {here}")
            raise
        except Exception as error:
            found = misfit(call, args, kwargs)
            if found is None:
                own = in_own_words(error)
                if own is error:
                    raise
                raise own from None
            name, message = found
            if name == "policies" and isinstance(value := kwargs.get(name), str):
                message += f"; a policy for everybody is {_for_everybody(value)}"
            raise UsageError(message, path=(name,)) from None

    return told


def in_own_words(error: Exception) -> BaseException:
    """Return Python's error of a text or a name that cannot be stored as our own; anything else as it is."""
    if isinstance(error, UnicodeEncodeError):
        return UsageError("a text or a name has half of a character (a lone surrogate), which no file can have")
    if isinstance(error, ValueError) and "embedded null" in str(error):
        return UsageError("no name of a file has a null character in it")
    return as_own(error)


def require_short(value: Any, *, name: str = "") -> None:
    """Check that no text of an untrusted input is longer than `LONGEST_TEXT` characters.

    Args:
        value: a text, or lists and dictionaries of such.
        name: of the input.

    Raises:
        UsageError: one is.
    """
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        what = named(name) if name else "a text"
        raise UsageError(f"{what} takes at most {LONGEST_TEXT:,} characters, not {len(value):,}", reason="range")
    if isinstance(value, Mapping):
        for key, one in value.items():
            require_short(one, name=name or str(key)[:100])
    elif isinstance(value, list | tuple):
        for one in value:
            require_short(one, name=name)


def _instead(call: Callable[..., Any], name: str, value: Any) -> str:
    """Return the keyword of a call that stands for an option of the command line; nothing where there is none."""
    from inspect import signature

    taken = signature(call).parameters
    if name in taken:
        return ""
    if name in ("best", "each"):
        is_of_scenes = name == "best" and call.__name__.startswith("odds")
        return f'decide="{name}"' if "decide" in taken else "odds_best(...)" if is_of_scenes else ""
    return _for_everybody(value) if name == "policy" and "policies" in taken else ""


def _for_everybody(policy: Any) -> str:
    return f"policies={{'': {policy!r}}}"


def misfit(call: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the first argument by name that is of no kind that a call takes, and what is wrong with it, or None."""
    from inspect import Parameter, signature
    from typing import get_type_hints

    try:
        taken, hints = signature(call), get_type_hints(call)
        given = taken.bind(*args, **kwargs).arguments
    except (TypeError, NameError):  # it lacks an argument, which Python tells by itself
        return None
    for name, value in given.items():
        is_plain = taken.parameters[name].kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
        if is_plain and name in hints and not _fits(value, hints[name]):
            return name, f"{named(name)} takes {' or '.join(dict.fromkeys(_words(hints[name])))}, not {value!r:.80}"
    return None


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is of a kind; one that is not known here takes anything."""
    from typing import Any as Anything
    from typing import get_args, get_origin

    kind, inner = get_origin(hint) or hint, get_args(hint)
    if hint is Anything or isinstance(hint, str | TypeVar):
        return True
    if _is_union(kind):
        return any(_fits(value, one) for one in inner)
    if not isinstance(kind, type):  # a literal
        return not inner or value in inner
    if kind in (int, float):
        return isinstance(value, int | kind) and not isinstance(value, bool)
    if not isinstance(value, kind) or (isinstance(value, str | bytes) and bool(inner)):
        return False
    if isinstance(value, Mapping):
        return all(_fits(one, inner[1]) for one in value.values()) if len(inner) > 1 else True
    return not isinstance(value, list | tuple) or not inner or all(_fits(one, inner[0]) for one in value)


def _words(hint: Any) -> list[str]:
    from typing import get_args, get_origin

    kind, inner = get_origin(hint) or hint, get_args(hint)
    if _is_union(kind):
        return [word for one in inner for word in _words(one)]
    if not isinstance(kind, type):
        return [repr(one) for one in inner]
    of = f" of {_words(inner[0])[0].removeprefix('a ')}s" if _WORDS.get(kind.__name__) == "a list" and inner else ""
    return [_WORDS.get(kind.__name__, f"a {kind.__name__}") + of]


def _is_union(kind: Any) -> bool:
    from types import UnionType
    from typing import Union

    return kind in (Union, UnionType)
