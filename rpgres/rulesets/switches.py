"""House rules as code reads them: a typed record of a ruleset's switches, and where record and data disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from rpgres.errors import RuleError, UsageError, enumerated, in_words
from rpgres.toml.diagnostics import unknown

if TYPE_CHECKING:
    from rpgres.rulesets.schema import Switch

Record = TypeVar("Record")

TRUTHS = {"yes": True, "no": False, "on": True, "off": False}


def check_choices(switches: Mapping[str, Switch], chosen: Mapping[str, str], *, of: str) -> None:
    """Check that what is chosen are switches of a ruleset, and choices of theirs.

    Raises:
        UsageError: a switch is unknown, or has no such choice.
    """
    for name, value in chosen.items():
        switch = switches.get(name)
        if switch is None:
            raise UsageError(unknown("switch", name, switches, of=f"the ruleset {of}"))
        if value not in switch.choices:
            raise UsageError(
                f"the switch {name} of {of} can be {enumerated(switch.choices, str(value))}; not {value!r}"
            )


def unchosen(switches: Mapping[str, Switch], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return what every switch is at while it is not chosen itself: what another choice brings, else the default."""
    found = {name: switch.default for name, switch in switches.items()}
    for name, switch in switches.items():
        found |= switch.brings.get(chosen.get(name, found[name]), {})
    return found


def switch_record(record: type[Record], chosen: Mapping[str, str]) -> Record:
    """Return the switches that a record has fields for: `bool` of yes/no or on/off, `int`, or the choice's own text.

    Args:
        record: a frozen class whose fields are named as switches (`_` for `-`); one with a default may be no switch.

    Raises:
        RuleError: the data have no such switch, or a choice that the field cannot hold.
    """
    known = {name.replace("-", "_"): (name, choice) for name, choice in chosen.items()}
    values: dict[str, Any] = {}
    for field, hint in get_type_hints(record).items():
        if field in known:
            name, choice = known[field]
            if not _holds(hint, choice):
                raise RuleError(f"its code cannot play {name}={choice}: {record.__name__}.{field} does not hold it")
            values[field] = TRUTHS[choice] if hint is bool else int(choice) if hint is int else choice
    try:
        return record(**values)
    except TypeError as error:
        raise RuleError(f"its data lack switches that its code reads: {in_words(error)}") from error


def record_faults(record: type, switches: Mapping[str, Switch], *, is_whole: bool) -> Iterator[tuple[str, str]]:
    """Yield the switches of which a record and the data say different things: the name, and what is wrong.

    Args:
        is_whole: whether the data are all the ruleset's own, so that no house rule has taken a choice away.
    """
    from inspect import Parameter, signature  # 4 ms that only a check needs

    names = {name.replace("-", "_"): name for name in switches}
    for field, hint in get_type_hints(record).items():
        name = names.get(field, "")
        if not name:
            if signature(record).parameters[field].default is Parameter.empty:
                yield field, f"the code reads a switch that is not there ({record.__name__}.{field})"
            continue
        choices = switches[name].choices
        strange = [choice for choice in choices if not _holds(hint, choice)]
        missing = [choice for choice in get_args(hint) if choice not in choices]
        if strange:
            yield name, f"the code cannot play {', '.join(strange)}: {record.__name__}.{field} does not hold it"
        elif is_whole and missing:
            yield name, f"the code knows a choice that is not there: {', '.join(missing)} ({record.__name__}.{field})"


def _holds(hint: Any, choice: str) -> bool:
    """Tell whether a field of this type can hold a choice."""
    if hint is bool:
        return choice in TRUTHS
    if hint is int:
        return choice.removeprefix("-").isascii() and choice.removeprefix("-").isdecimal()
    return choice in get_args(hint)
