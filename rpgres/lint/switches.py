"""House rules: whether code and data mean the same switches and choices, and whether something reads each of them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from rpgres.errors import FileError
from rpgres.lint.formulas import missing
from rpgres.lint.named_dice import named_in_action
from rpgres.rulesets.numbers import described_actions
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.switches import record_faults
from rpgres.rulesets.tree import walk
from rpgres.toml.diagnostics import Fault

_CONDITIONS = ("when", "unless", "hidden-when", "refill-when")


def house_rule_faults(rules: Rules) -> Iterator[Fault]:
    """Yield what is wrong with switches: what they bring, what code reads of them, and those that nothing reads."""
    yield from _brought(rules)
    for record in rules.ruleset.switch_records:
        for name, told in record_faults(record, rules.file.switches, is_whole=not rules.layers.overlays):
            yield Fault("no-data", ("switches", name), told)
    if rules.layers.overlays and not rules.file.standalone:
        return  # a house rule may take away the row that made a difference
    try:
        yield from _idle(rules)
    except (FileError, KeyError):
        return  # what cannot be read is told as such, and might use anything


def _brought(rules: Rules) -> Iterator[Fault]:
    switches = rules.file.switches
    for name, switch in switches.items():
        for choice, others in switch.brings.items():
            at = ("switches", name, "brings", choice)
            if choice not in switch.choices:
                yield missing(at, f"choice of {name}", choice, switch.choices)
            for other, brought in others.items():
                if other not in switches:
                    yield missing((*at, other), "switch", other, switches)
                elif brought not in switches[other].choices:
                    yield missing((*at, other), f"choice of {other}", brought, switches[other].choices)


def _idle(rules: Rules) -> Iterator[Fault]:
    used = {one for pile in rules.file.piles.values() for condition in pile.decks.values() for one in condition}
    for path, value in walk([msgspec.to_builtins(rules.file), *(text.data for text in rules.layers.outcome_texts())]):
        if len(path) > 1 and path[-2] in _CONDITIONS:
            used.add(str(path[-1]))
        elif isinstance(value, str) and value.startswith("switch:"):
            used.add(value.removeprefix("switch:"))
    used |= {name for action in described_actions(rules.file) for name in named_in_action(rules, action)}
    used |= {name for name, switch in rules.file.switches.items() if switch.brings}
    read = {field for record in rules.ruleset.switch_records for field in record.__annotations__}
    by_code = "" if rules.file.standalone else ", and the code reads it in no record (@ruleset.switches)"
    for name in rules.file.switches:
        if name not in used and name.replace("-", "_") not in read:
            message = f"this house rule is unused: no formula, condition (when, unless) or `who` names it{by_code}"
            yield Fault("unused", ("switches", name), message)
