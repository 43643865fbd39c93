"""What can be typed in a place, for shell completion and help. Loaded only for these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rpgres.engine.labels import chance_help, labels_of
from rpgres.engine.players import NO
from rpgres.errors import RpgresError
from rpgres.parameters.context import sheet_offers
from rpgres.parameters.kinds import Offers, Typed, kind_of
from rpgres.plugins.loading import RulesetData
from rpgres.render.words import who_is
from rpgres.rulesets import Parameter, RowQuestion, Rules
from rpgres.rulesets.tree import walk

# ---------------------------------------------------------------------------------------------------------------------
# Help


def label_records(data: RulesetData, action: str) -> Offers:
    """Return the labels an action can ask, with what they mean."""
    return [(label, text) for label, _, text in _labels(data, action)]


def _labels(data: RulesetData, action: str) -> Iterator[tuple[str, str, str]]:
    """Yield (label, kind, help): those of the rule, then those of its outcome tables."""
    rules = data.without_code()
    questions: dict[str, dict[str, None]] = {}
    for label, question in _questions(rules, action):
        questions.setdefault(label, {})[_asked(question)] = None
    chance = "dice or cards" if data.file.piles else "dice"
    for label, kind in labels_of(rules, action).items():
        declared = data.file.labels.get(label)
        if declared is not None:
            text = declared.help
        elif kind == "chance":
            text = chance_help(label)
        else:
            text = " Or: ".join(questions[label])
        yield label, kind, f"[{chance if kind == 'chance' else 'decision'}] {text}"


def _asked(question: RowQuestion) -> str:
    who = question.who if not question.who.startswith("switch:") else f"by the switch {question.who[7:]}"
    return f"{question.text} ({', '.join(question.options)}; {who_is(who)})"


def _questions(rules: Rules, action: str) -> Iterator[tuple[str, RowQuestion]]:
    tables = [rules.table(name) for name in rules.file.actions[action].tables]
    for path, node in walk(tables, menu=rules.menu):
        if isinstance(node, RowQuestion):
            yield str(path[-1]), node


def switch_records(data: RulesetData) -> Offers:
    """Return the house rules with their choices, the default first."""
    records = []
    for name, switch in data.file.switches.items():
        others = [choice for choice in switch.choices if choice != switch.default]
        records.append((name, f"{switch.help}: {switch.default} (the default), {', '.join(others)}"))
    return records


# ---------------------------------------------------------------------------------------------------------------------
# Completion


def offer_input(
    data: RulesetData, name: str, parameter: Parameter, *, typed: Mapping[str, Any], incomplete: str = ""
) -> Offers:
    """Return what a shell may offer for an input of an action.

    Args:
        typed: the values of the line so far, by option.
    """
    from rpgres.cli.options import read_switches

    try:
        switches = read_switches(typed.get("switch") or ())
        return kind_of(parameter).offers(Typed(data.without_code(switches), parameter, name, typed, incomplete))
    except RpgresError:
        return []


def procedures(incomplete: str = "") -> dict[str, str]:
    """Return the procedures of rulesets, as `RULESET/PROCEDURE`, with their summaries.

    Args:
        incomplete: what is typed of a name so far; only the rulesets that may be meant are read.
    """
    from rpgres.plugins.discovery import ruleset_names
    from rpgres.plugins.loading import read_ruleset

    found: dict[str, str] = {}
    for ruleset in (one.id for one in ruleset_names()):
        if not f"{ruleset}/".startswith(incomplete[: len(ruleset) + 1]):
            continue
        try:
            actions = read_ruleset(ruleset).file.actions
        except RpgresError:
            continue
        found |= {f"{ruleset}/{name}": action.summary for name, action in actions.items() if action.procedure}
    return found


def played_names(incomplete: str) -> list[str]:
    """Return what can be played: procedures as `RULESET/PROCEDURE`, and scenes."""
    return [*procedures(incomplete), *scene_offers()]


def scene_offers() -> list[str]:
    """Return the scenes that ship, without those that only test a ruleset, and the TOML files here."""
    from rpgres.catalog.listed import CASES
    from rpgres.scenes import scene_names

    shipped = (name for name in scene_names() if not name.partition("/")[2].startswith(CASES))
    return [*shipped, *sorted(path.name for path in Path().glob("*.toml"))]


def offer_shared(data: RulesetData, action: str, option: str) -> Offers:
    """Return what a shell may offer for an option that every action has."""
    match option:
        case "given":
            return [(f"{label}=", text) for label, kind, text in _labels(data, action) if kind == "chance"]
        case "choose":
            return list(_choices(data, action))
        case "switch":
            return _switch_offers(data)
        case "compare":
            return [*_switch_offers(data), *_input_offers(data, action)]
        case "vary":
            return [*_input_offers(data, action), *((f"{name}=", one.help) for name, one in data.file.switches.items())]
        case "outcome":
            return _outcomes(data)
        case "format":
            return [(name, "") for name in ("table", "md", "csv", "json", "html")]
        case "policy":
            common = [
                ("preferred", "chooses the preferred option"),
                ("uniform", "chooses each option with equal probability"),
            ]
            return [*data.file.policies.items(), *common]
        case "sheet":
            return sheet_offers(data.without_code())
    return []


def _switch_offers(data: RulesetData) -> Offers:
    return [
        (f"{name}={choice}", text)
        for name, switch in data.file.switches.items()
        for choice, text in switch.choices.items()
    ]


def _input_offers(data: RulesetData, action: str) -> Offers:
    return [(f"{name}=", parameter.help) for name, parameter in data.parameters(action).items()]


def _outcomes(data: RulesetData) -> Offers:
    return [("success", "any outcome that is a success"), *((name, one.title) for name, one in data.file.bands.items())]


def _choices(data: RulesetData, action: str) -> Iterator[tuple[str, str]]:
    questions = dict(_questions(data.without_code(), action))
    for label, kind, text in _labels(data, action):
        if kind == "chance":
            continue
        if label in questions:
            for name, option in questions[label].options.items():
                yield f"{label}={name}", option.text
            if questions[label].optional:
                yield f"{label}={NO}", "skip"
        else:
            yield f"{label}=", text
