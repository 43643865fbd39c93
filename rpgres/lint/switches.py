"""House rules: whether code and data mean the same switches and choices, and whether something reads each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from rpgres.errors import FileError
from rpgres.lint.outcomes import missing
from rpgres.rulesets.provenance import problem_at
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.switches import record_faults
from rpgres.toml.reading import Problem

_CONDITIONS = ("when", "unless", "hidden-when", "refill-when")


def house_rule_problems(rules: Rules) -> Iterator[Problem]:
    """Yield what is wrong with switches: what they bring, what code reads of them, and those that nothing reads."""
    yield from _brought(rules)
    for record in rules.ruleset.switch_records:
        for name, told in record_faults(record, rules.file.switches, is_whole=not rules.overlays):
            yield problem_at(rules.texts(), ("switches", name), told)
    if rules.overlays and not rules.file.standalone:
        return  # a house rule may take away the row that made a difference
    try:
        yield from _idle(rules)
    except (FileError, KeyError):
        return  # what cannot be read is told as such, and might use anything


def _brought(rules: Rules) -> Iterator[Problem]:
    texts, switches = rules.texts(), rules.file.switches
    for name, switch in switches.items():
        for choice, others in switch.brings.items():
            at = ("switches", name, "brings", choice)
            if choice not in switch.choices:
                yield missing(texts, at, f"choice of {name}", choice, switch.choices)
            for other, brought in others.items():
                if other not in switches:
                    yield missing(texts, (*at, other), "switch", other, switches)
                elif brought not in switches[other].choices:
                    yield missing(texts, (*at, other), f"choice of {other}", brought, switches[other].choices)


def _idle(rules: Rules) -> Iterator[Problem]:
    used = set(_switched(msgspec.to_builtins(rules.file)))
    used |= {one for pile in rules.file.piles.values() for condition in pile.decks.values() for one in condition}
    for name in dict.fromkeys(rules.table_names()):
        used |= {one for text in rules.table_texts(name) for one in _switched(text.data)}
    used |= {one for text in rules.menu_texts() for one in _switched(text.data)}
    used |= {name for name, switch in rules.file.switches.items() if switch.brings}
    read = {field for record in rules.ruleset.switch_records for field in record.__annotations__}
    by_code = "" if rules.file.standalone else ", and the code reads it in no record (@ruleset.switches)"
    for name in rules.file.switches:
        if name not in used and name.replace("-", "_") not in read:
            told = f"this house rule changes nothing: no condition (when, unless) and no `who` names it{by_code}"
            yield problem_at(rules.texts(), ("switches", name), told)


def _switched(data: Any) -> Iterator[str]:
    """Yield what conditions and `who` name, wherever they stand."""
    if isinstance(data, list):
        for one in data:
            yield from _switched(one)
    elif isinstance(data, dict):
        for key, value in data.items():
            if key in _CONDITIONS and isinstance(value, dict):
                yield from value
            elif isinstance(value, str) and value.startswith("switch:"):
                yield value.removeprefix("switch:")
            else:
                yield from _switched(value)
