"""Diagnostics of kits: what is set of them, what they need, and numbers of their windows where no window is yet."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from rpgres.rulesets.folders import NAMING
from rpgres.rulesets.references import readable_plan
from rpgres.rulesets.rules import Rules
from rpgres.toml.diagnostics import Fault, KeyPath, nearest
from rpgres.toml.faults import faults


def kit_faults(rules: Rules) -> Iterator[Fault]:
    """Yield what is wrong with how a ruleset uses its kits."""
    for name, (kit, registered) in rules.ruleset.kits.items():
        chosen, at = rules.file.settings.get(name, {}), ("settings", name)
        wrong = faults(chosen, kit.settings)
        yield from (fault.under(*at) for fault in wrong)
        if wrong:
            return
        yield from kit.faults(rules)
        now = msgspec.convert(chosen, kit.settings)
        for key in NAMING:
            if getattr(now, key, "") != getattr(registered, key, ""):
                message = f"only the ruleset's own file, or its code, can say what its {key} are called"
                yield Fault("useless", (*at, key), message)
    for name in rules.file.settings:
        if rules.file.standalone and name not in rules.ruleset.kits and nearest(name, rules.ruleset.kits):
            message = f"the ruleset names no kit {name!r}"
            yield Fault("unknown-name", ("settings", name), message, name, tuple(rules.ruleset.kits))
    yield from _too_early(rules)


def _too_early(rules: Rules) -> Iterator[Fault]:
    """Yield the dice that need what is done only when they lie."""
    known = rules.file.window_names
    for name, action in rules.file.actions.items():
        if not (known and action.dice):
            continue
        plan = readable_plan(rules, name)
        if plan is None:
            continue
        pairs = zip(plan.reads, plan.fits, strict=True)
        inner = [(read.groups[0], fits) for read, fits in pairs if fits is not None]
        inner += [(group.name, one) for group in plan.groups.values() for one in group.formulas]
        for group, formula in inner:
            at: KeyPath = ("actions", name, "dice", group)
            for one in formula.names:
                if one in known:
                    message = f"{one} is known only when all dice lie; no dice can depend on it"
                    yield Fault("inconsistent", at, message)
