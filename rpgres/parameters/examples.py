"""What the example of an action's help types: its inputs, and the switches that it chooses."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from rpgres.errors import UsageError
from rpgres.rulesets import Parameter, Rules, unknown

# What a command line may have beside the inputs of the action, and whether a value stands behind it.
SHARED = {
    **dict.fromkeys(("auto", "json", "plain", "exit-code", "debug"), False),
    **dict.fromkeys(("seed", "given", "choose", "policy", "switch", "rulesets", "repeat", "note"), True),
}


def example_inputs(rules: Rules, action: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what the `example` of an action types for it (several values are a list), and the switches it chooses.

    Raises:
        UsageError: it is not a command line for this action.
    """
    text = rules.file.actions[action].example
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no command line: {error}") from None
    start = ["rpgres", "roll", rules.id, action]
    if words[: len(start)] != start:
        raise UsageError(f"{text!r} does not begin with {shlex.join(start)!r}")
    inputs: dict[str, Any] = {}
    switches: dict[str, str] = {}
    for name, value in _options(rules, action, words[len(start) :]):
        if name == "switch":
            switch, _, choice = str(value).partition("=")
            switches[switch] = choice
        elif name not in SHARED:
            inputs.setdefault(name, []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in inputs.items()}, switches


def _options(rules: Rules, action: str, words: list[str]) -> Iterator[tuple[str, str | bool]]:
    """Yield the options of a command line with their values."""
    parameters = dict(spellings(rules, action))
    rest = iter(words)
    for word in rest:
        name, is_joined, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            raise UsageError(f"{word!r} is where an option was expected")
        parameter = parameters.get(name)
        if name != "sheet" and name not in SHARED and parameter is None:
            raise UsageError(unknown("option", word, [f"--{one}" for one in parameters], of=f"{rules.id} {action}"))
        is_flag = parameter.kind == "flag" if parameter is not None else not SHARED.get(name, True)
        if is_flag:
            yield name, True
        else:
            behind = value if is_joined else next(rest, None)
            if behind is None:
                raise UsageError(f"{word} is followed by a value")
            yield name, behind


def spellings(rules: Rules, action: str) -> Iterator[tuple[str, Parameter]]:
    """Yield the parameters of an action under each of their names."""
    for name, parameter in rules.parameters(action).items():
        yield name, parameter
        for alias in parameter.aliases:
            yield alias, parameter
