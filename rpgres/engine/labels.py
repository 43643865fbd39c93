"""The labels under which an action can ask: those its rule declares and those of its outcome tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpgres.engine.running import PLACE
from rpgres.errors import UsageError
from rpgres.rulesets import Rules, unknown


def chance_help(label: str) -> str:
    """Return the help of a label of chance that the ruleset does not describe: an outcome table's, or `place`."""
    return "which card is meant, where its sign was left out" if label == PLACE else "what an outcome rolls"


def labels_of(rules: Rules, action: str) -> dict[str, str]:
    """Return every label an action can ask, with its kind: those its rule declares and those of its outcome tables."""
    labels = rules.file.labels
    found: dict[str, str] = {
        label: labels[label].kind if label in labels else "chance" for label in rules.file.actions[action].labels
    }
    if any(parameter.kind == "cards" for parameter in rules.parameters(action).values()):
        found[PLACE] = "chance"
    for table in rules.file.actions[action].tables:
        for row in rules.table(table).values():
            found |= dict.fromkeys(row.rolls, "chance")
            found |= _asked(rules, row.ask)
    return found


def _asked(rules: Rules, ask: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for label, question in ask.items():
        found[label] = "decision"
        shown = rules.menu(question.menu) if question.menu else question
        for option in shown.options.values():
            found |= dict.fromkeys(option.rolls, "chance")
            found |= _asked(rules, option.ask)
    return found


def check_labels(rules: Rules, action: str, *, given: Mapping[str, Any], choose: Mapping[str, Any]) -> None:
    """Check that an action can ask every label that answers were typed for.

    Raises:
        UsageError: it cannot ask one; the message names the nearest.
    """
    if not given and not choose:
        return
    labels = labels_of(rules, action)
    asked = [key.rpartition(":")[2] for key in choose]
    for answers, kind, option in ((given, "chance", "--given"), (asked, "decision", "--choose")):
        for label in answers:
            if labels.get(label) == kind:
                continue
            if label in labels:
                other = "--choose" if option == "--given" else "--given"
                raise UsageError(f"{label!r} is a {labels[label]} label: answer it with {other}, not {option}")
            mine = [name for name, its in labels.items() if its == kind]
            raise UsageError(unknown(f"{kind} label", label, mine, of=f"the action {rules.id} {action}"))
