"""Conditions on the state: a path and the value that is required there. They are compiled once into closures.

`"characters.mara.is_out" = true`, `"self.tracks.physical.free" = "<= 1"`, `"enemies.count" = "2..4"`. What is not there
counts as 0 for a number, as false for a flag, and is `absent`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from rpgres.errors import UsageError
from rpgres.model.paths import ABSENT, NOTHING, Path, Scope, parse_path
from rpgres.model.state import State
from rpgres.toml.diagnostics import Fault

# What has to stand at a place: the value itself; a comparison (`<= 1`, `!= x`), several joined by `and`; a range
# (`2..4`, both included); or a list, of which one has to hold.
Wanted = bool | int | str | list[bool | int | str]
Conditions = dict[str, Wanted]

_COMPARED = re.compile(r"\s*(<=|>=|!=|<|>|=)\s*(.*?)\s*", re.DOTALL)
_RANGE = re.compile(r"\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*")
_MISWRITTEN = {"==": "=", "=>": ">=", "=<": "<=", "<>": "!="}  # as other languages, or people, write comparisons
_NUMBER = re.compile(r"-?\d{1,18}")
_VALUES = ("number", "flag", "text", "data")  # the kinds of what can be compared; of the rest only whether it is there
_COUNTED = ("free", "marked", "count", "total")  # derived facts that are never below 0

_OF_ACTIVE = ("others", "enemies", "allies")  # groups in which nobody is out, as in `characters.active`

Test = Callable[[Any], bool]


class Condition(msgspec.Struct, frozen=True):
    """A condition that was read.

    Attributes:
        test: whether what stands there will do.
        constants: the values it speaks of, for comparing conditions.
    """

    path: Path
    test: Test
    constants: tuple[Any, ...]

    def as_read_by(self, who: str) -> Condition:
        """Return the same condition with the name of a character for `self`, so that it can be compared with others."""
        keys = self.path.keys
        if not who or keys[0] != "self":
            return self
        path = msgspec.structs.replace(self.path, keys=("characters", who, *keys[1:]))
        return msgspec.structs.replace(self, path=path)

    def holds(self, scope: Scope) -> bool:
        """Tell whether it holds."""
        value = self.path.read(scope)
        if not self.path.many:
            return self.test(value)
        return (any if self.path.many == "any" else all)(map(self.test, value))


def read_condition(path: str, wanted: Wanted, *, decides: bool = False) -> Condition:
    """Return a condition that was read.

    Args:
        decides: whether a decision depends on it; see `parse_path`.

    Raises:
        UsageError: there cannot be such a place, or what stands there cannot be compared so.
    """
    read = parse_path(path, decides=decides)
    several = wanted if isinstance(wanted, list) else [wanted]
    if not several:
        raise UsageError(f"{path}: an empty list never holds", reason="never")
    tests, constants = [], list[Any]()
    for one in several:
        parts = re.split(r"\s+and\s+", one) if isinstance(one, str) and _COMPARED.match(one) else [one]
        tests.append(_all([_test(path, read.kind, part, constants) for part in parts]))
    return Condition(read, _any(tests), tuple(constants))


def compiled(when: Mapping[str, Wanted], *, decides: bool = False) -> Callable[[Scope], bool]:
    """Return whether all of some conditions hold, as one function.

    Raises:
        UsageError: one of them cannot be read.
    """
    found = [_holding(read_condition(path, wanted, decides=decides)) for path, wanted in when.items()]
    if not found:
        return lambda _scope: True
    first, *later = found

    def holds_all(scope: Scope) -> bool:
        if not first(scope):
            return False
        for one in later:  # noqa: SIM110  # twice as fast as a generator, and orders ask it at every decision
            if not one(scope):
                return False
        return True

    return holds_all if later else first


def _holding(condition: Condition) -> Callable[[Scope], bool]:
    """Return whether a condition holds as a plain function."""
    read, test = condition.path.read, condition.test
    return condition.holds if condition.path.many else lambda scope: test(read(scope))


def holds(when: Mapping[str, Wanted], state: State) -> bool:
    """Tell whether all of some conditions hold for a state.

    Raises:
        UsageError: one of them cannot be read.
    """
    return compiled(when)(Scope(state))


# ---------------------------------------------------------------------------------------------------------------------
# What has to stand there


def _any(tests: Sequence[Test]) -> Test:
    return tests[0] if len(tests) == 1 else lambda value: any(test(value) for test in tests)


def _all(tests: Sequence[Test]) -> Test:
    return tests[0] if len(tests) == 1 else lambda value: all(test(value) for test in tests)


def _test(path: str, kind: str, wanted: Any, constants: list[Any]) -> Test:
    if kind not in _VALUES:
        if type(wanted) is bool or wanted == ABSENT:
            is_there = wanted is True
            return lambda value: (value is not NOTHING) == is_there
        raise UsageError(f"{path} is no single value; it can be true (it is there) or false", reason="type")
    if type(wanted) is bool:
        if kind in ("number", "text"):
            raise UsageError(f"{path} is a {kind}, and never {str(wanted).lower()}", reason="type")
        return _flag(wanted)
    if type(wanted) is int:
        return _equal(path, kind, wanted, constants)
    if not isinstance(wanted, str):
        raise UsageError(f"{path}: a condition is a text, a whole number, true or false", reason="type")
    found = _RANGE.fullmatch(wanted)
    if found and kind in ("number", "data"):
        low, high = int(found[1]), int(found[2])
        constants += [low, high]
        return lambda value: (number := _number(value)) is not None and low <= number <= high
    if wanted.strip()[:2] in _MISWRITTEN:
        sign = wanted.strip()[:2]
        right = f"{_MISWRITTEN[sign]} {wanted.strip()[2:].strip()}"
        raise UsageError(f'{path}: `{sign}` is written `{_MISWRITTEN[sign]}`, as in "{right}"', reason="type")
    compared = _COMPARED.fullmatch(wanted)
    if compared:
        return _comparison(path, kind, compared[1], compared[2], constants)
    return _equal(path, kind, wanted, constants)


def _flag(wanted: bool) -> Test:
    return lambda value: (value if type(value) is bool else value is not NOTHING) is wanted


def _equal(path: str, kind: str, wanted: int | str, constants: list[Any]) -> Test:
    if wanted == ABSENT:
        return lambda value: value is NOTHING
    if type(wanted) is int and kind in ("number", "data"):
        constants.append(wanted)
        return lambda value: _number(value) == wanted
    if type(wanted) is str and kind in ("text", "data"):
        constants.append(wanted)
        return lambda value: value == wanted
    if type(wanted) is str and kind == "number" and (right := unquoted(wanted)):
        raise UsageError(f"{path} is a number: {right}", reason="type")
    example = {"number": 'a whole number, or compared as in "<= 1" or "2..4"', "flag": "true or false"}
    raise UsageError(f"{path} is {example.get(kind, 'a text')}, not {wanted!r}", reason="type")


def unquoted(text: str) -> str:
    """Return what to write in place of a number in quotes; empty for any other text."""
    return f"write {text.strip()} without quotes" if _NUMBER.fullmatch(text.strip()) else ""


def _comparison(path: str, kind: str, sign: str, right: str, constants: list[Any]) -> Test:
    if right == ABSENT and sign in ("=", "!="):
        return lambda value: (value is NOTHING) == (sign == "=")
    if right in ("true", "false") and sign in ("=", "!=") and kind in ("flag", "data"):
        return _flag((right == "true") == (sign == "="))
    if not _NUMBER.fullmatch(right) or kind == "text":
        if sign in ("=", "!="):
            equal = _equal(path, kind, right, constants)
            return equal if sign == "=" else lambda value: not equal(value)
        raise UsageError(f"{path}: `{sign}` compares whole numbers, not {right!r}", reason="type")
    if kind == "flag":
        raise UsageError(f"{path} is true or false, not a number", reason="type")
    number = int(right)
    constants.append(number)
    return _NUMERIC[sign](number)


_NUMERIC: dict[str, Callable[[int], Test]] = {
    "<=": lambda bound: lambda value: (number := _number(value)) is not None and number <= bound,
    ">=": lambda bound: lambda value: (number := _number(value)) is not None and number >= bound,
    "<": lambda bound: lambda value: (number := _number(value)) is not None and number < bound,
    ">": lambda bound: lambda value: (number := _number(value)) is not None and number > bound,
    "=": lambda bound: lambda value: _number(value) == bound,
    "!=": lambda bound: lambda value: _number(value) != bound,
}


def _number(value: Any) -> int | None:
    """Return a value as a number: what is not there is 0; None for what is no number."""
    if type(value) is int:
        return value
    return 0 if value is NOTHING else None


# ---------------------------------------------------------------------------------------------------------------------
# What conditions say of each other


def condition_faults(when: Mapping[str, Any], *, decides: bool = False, who: str = "") -> Iterator[Fault]:
    """Yield what is wrong with conditions: what cannot be read, and what never holds, by itself or with another.

    Args:
        who: the character that decides; empty for none.
    """
    found: dict[str, Condition] = {}
    for path, wanted in when.items():
        try:
            found[path] = read_condition(path, wanted, decides=decides).as_read_by(who)
        except UsageError as error:
            code = {"type": "wrong-type", "never": "never-matches"}.get(error.reason, "unknown-name")
            message = error.message.removeprefix(f"{path}: ")
            yield Fault(code, (path,), message)
    yield from _never(found)


def _never(found: Mapping[str, Condition]) -> Iterator[Fault]:
    kept: list[tuple[str, Condition]] = []
    for path, condition in found.items():
        if not possible([condition]):
            group = condition.path.keys[0]
            told = "no possible value fits this condition"
            if group in _OF_ACTIVE and condition.path.keys[-1] == "is_out":
                told = f"`{group}` are those who are not out; `characters.NAME.is-out` tells of everybody"
            yield Fault("never-matches", (path,), told)
            continue
        for earlier, other in kept:
            if contradicts(other, condition):
                yield Fault("never-matches", (path,), f"this never holds together with {earlier!r}")
                break
        kept.append((path, condition))


def contradicts(one: Condition, other: Condition) -> bool:
    """Tell whether two conditions never hold together, as far as their paths show."""
    if one.path.keys == other.path.keys:
        return one.path.many == "" and not possible([one, other])
    if {one.path.many, other.path.many} == {"any", "all"} and _of_each(one) == _of_each(other):
        return not possible([one, other])
    for whole, part in ((one, other), (other, one)):
        length = len(whole.path.keys)
        is_inside = part.path.keys[:length] == whole.path.keys
        if is_inside and not whole.path.many and _is_only_absent(whole) and not part.test(NOTHING):
            return part.path.many != "all"
        if _is_empty_group(whole) and _needs_member(part, whole.path.keys[:-1]):
            return True
    return False


def _of_each(condition: Condition) -> tuple[str, ...]:
    """Return the keys of a path that has to hold for any or all of a group, whichever it is."""
    keys, at = condition.path.keys, condition.path.keys.index(condition.path.many)
    return (*keys[:at], *keys[at + 1 :])


def _is_only_absent(condition: Condition) -> bool:
    values = candidates(condition.path, condition.constants)
    return all(value is NOTHING or value == 0 for value in values if condition.test(value))


def _is_empty_group(condition: Condition) -> bool:
    path = condition.path
    return path.keys[-1] == "count" and path.places[-1].kind in _COUNTABLE and _is_only_absent(condition)


_COUNTABLE = ("characters", "tags", "track", "options", "names")


def _needs_member(condition: Condition, group: tuple[str, ...]) -> bool:
    """Tell whether a condition never holds where nothing is in a group."""
    keys, size = condition.path.keys, len(group)
    is_inside = keys[:size] == group and len(keys) > size
    return is_inside and condition.path.many != "all" and not condition.test(NOTHING)


def possible(conditions: Sequence[Condition], *, bounds: Sequence[int | None] = (None, None)) -> bool:
    """Tell whether conditions of one path can hold together.

    Args:
        bounds: the least and the greatest number that can stand there, where there is one; what is absent counts 0.
    """
    if all(condition.path.many == "all" for condition in conditions):
        return True  # every statement holds of an empty set
    low, high = bounds
    constants = [value for condition in conditions for value in condition.constants]
    constants += [bound for bound in bounds if bound is not None]
    values = [
        value
        for value in candidates(conditions[0].path, constants)
        if type(value) is not int or ((low is None or value >= low) and (high is None or value <= high))
    ]
    return any(all(condition.test(value) for condition in conditions) for value in values)


def implies(one: Condition, other: Condition) -> bool:
    """Tell whether a condition holds whenever another of the same path does: `one` is the stronger."""
    if one.path.keys != other.path.keys:
        return False
    values = candidates(one.path, (*one.constants, *other.constants))
    return all(other.test(value) for value in values if one.test(value))


def candidates(path: Path, constants: Sequence[Any]) -> list[Any]:
    """Return values that represent all others for conditions with these constants: these and their neighbours."""
    numbers = {near for value in constants if type(value) is int for near in (value - 1, value, value + 1)} | {0}
    texts = {value for value in constants if isinstance(value, str)}
    other = next(text for count in range(1, len(texts) + 2) if (text := "x" * count) not in texts)
    values: dict[str, list[Any]] = {
        "number": sorted(numbers),
        "text": [*sorted(texts), other],
        "flag": [True, False],
        "data": [*sorted(numbers), *sorted(texts), other, True, False],
    }
    found = values.get(path.kind, [True])
    if path.keys[-1] == "is_out" and (path.keys[0] in _OF_ACTIVE or path.keys[1] == "active"):
        found = [False]
    if path.keys[-1] in _COUNTED or "uses" in path.keys[:-1]:
        found = [value for value in found if type(value) is not int or value >= 0]
    return [*found, NOTHING]
