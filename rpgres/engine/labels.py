"""The labels under which an action can ask: those its rule declares and those of its outcome tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpgres.engine.running import PLACE
from rpgres.errors import UsageError, named
from rpgres.rulesets import RowQuestion, Rules, unknown
from rpgres.rulesets.rows import RowBody
from rpgres.rulesets.tree import walk


def chance_help(label: str) -> str:
    """Return the help of a label of chance that the ruleset does not describe: an outcome table's, or `place`."""
    return "which card is meant, if its sign was left out" if label == PLACE else "what an outcome rolls"


def labels_of(rules: Rules, action: str) -> Mapping[str, str]:
    """Return every label an action can ask, with its kind: those its rule declares and those of its outcome tables."""
    key = f"labels:{action}"
    found: Mapping[str, str] | None = rules.compiled.get(key)
    if found is None:
        found = rules.compiled[key] = _labels_of(rules, action)
    return found


def _labels_of(rules: Rules, action: str) -> dict[str, str]:
    labels = rules.file.labels
    found: dict[str, str] = {
        label: labels[label].kind if label in labels else "chance" for label in rules.file.actions[action].labels
    }
    if any(parameter.kind == "cards" for parameter in rules.parameters(action).values()):
        found[PLACE] = "chance"
    open_ = [*rules.file.actions[action].tables]
    met = set(open_)
    while open_:
        name = open_.pop(0)
        found |= {name: "chance"} if name in rules.plans and rules.plans[name].is_rolled else {}
        for path, node in walk(rules.table(name), menu=rules.menu, fields=("ask", "options")):
            if isinstance(node, RowQuestion):
                found[str(path[-1])] = "decision"
            elif isinstance(node, RowBody):
                found |= dict.fromkeys(node.rolls, "chance")
                kinds = (rules.file.effects.get(one.get("kind", "")) for one in node.effects)
                found |= dict.fromkeys((label for kind in kinds if kind is not None for label in kind.asks), "decision")
        linked = leads_of(rules, name)
        open_ += [link for link in linked if link not in met]
        met.update(linked)
    return found


def leads_of(rules: Rules, table: str) -> list[str]:
    """Return the random tables that the rows of a table lead to, in order, each once."""
    plan = rules.plans.get(table)
    found = [link for row in (*plan.rows, *plan.also) for link in row.links] if plan is not None else []
    for _, node in walk(rules.table(table), menu=rules.menu, fields=("ask", "options")):
        if isinstance(node, RowBody):
            found += node.links
    return [link for link in dict.fromkeys(found) if link in rules.plans]


def check_labels(rules: Rules, action: str, *, given: Mapping[str, Any], choose: Mapping[str, Any]) -> None:
    """Check that an action can ask every label that answers were typed for.

    Raises:
        UsageError: it cannot ask one; the message names the nearest.
    """
    if not given and not choose:
        return
    labels = labels_of(rules, action)
    asked = [key.rpartition(":")[2] for key in choose]
    for answers, kind, option in ((given, "chance", "given"), (asked, "decision", "choose")):
        for label in answers:
            if labels.get(label) == kind:
                continue
            if label in labels:
                other = "choose" if option == "given" else "given"
                message = f"{label!r} is a {labels[label]} label: answer it with {named(other)}, not {named(option)}"
                raise UsageError(message, path=(option, label))
            names = [name for name, found in labels.items() if found == kind]
            message = unknown(f"{kind} label", label, names, of=f"the action {rules.id} {action}")
            raise UsageError(message, path=(option, label), reason="unknown")
