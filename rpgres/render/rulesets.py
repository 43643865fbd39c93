"""Rulesets and their actions as lines for people. See `catalog.summary`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rpgres.catalog.summary import ActionDescription, LabelDescription, RulesetDescription
from rpgres.errors import counted
from rpgres.parameters.kinds import metavar
from rpgres.plugins.discovery import RulesetName
from rpgres.render.lines import BULLET, HANG, INDENT, Line, Piece, Shown, line, pairs, section
from rpgres.render.words import effect_words, signed, title
from rpgres.rulesets import Band, EffectText, Row, RowQuestion, Switch
from rpgres.rulesets.actions import said_words
from rpgres.rulesets.rows import Formula, bounded
from rpgres.rulesets.schema import PileText
from rpgres.rulesets.settling import BOUNDS
from rpgres.rulesets.tables import TableRow

GAP = 2  # blanks between two columns
WIDEST = 24  # of a first column; what is longer pushes its line


def ruleset_list_lines(names: Sequence[RulesetName]) -> list[Shown]:
    """Return the rulesets there are, a line each."""
    if not names:
        return [line("no rulesets are installed")]
    rows = [(name.id, ": ".join(part for part in (name.title, name.summary) if part)) for name in names]
    return pairs(rows, indent="")


def ruleset_lines(ruleset: RulesetDescription) -> list[Shown]:
    """Return everything that can be named in a ruleset."""
    found: list[Shown] = [
        line(Piece(ruleset.title, "title"), f" ({ruleset.id}, version {ruleset.rules['version']})"),
        line(HANG, ruleset.summary),
    ]
    if ruleset.credits:
        found.append(line(HANG, Piece(ruleset.credits, "quiet")))
    overlays = ruleset.rules["overlays"]
    procedures = {name: action.summary for name, action in ruleset.actions.items() if action.procedure}
    actions = [(name, action.summary) for name, action in ruleset.actions.items() if not action.procedure]
    found += section("Actions", pairs([one for one in actions if one[0] not in ruleset.random]))
    found += section(f"Procedures (rpgres scene run {ruleset.id}/NAME)", pairs([*procedures.items()]))
    found += section("Random tables", pairs([one for one in actions if one[0] in ruleset.random]))
    found += section(
        "Outcomes", pairs([(name, _band(band, what=ruleset.measure)) for name, band in ruleset.bands.items()])
    )
    chance = "Dice and cards" if ruleset.piles else "Dice"
    for heading, option, kind in ((chance, "--given", "chance"), ("Decisions", "--choose", "decision")):
        labels = {name: label for name, label in ruleset.labels.items() if label.kind == kind}
        found += section(f"{heading} ({option} LABEL=...)", _label_lines(labels))
    found += section("House rules (--switch NAME=CHOICE)", _switch_lines(ruleset.switches, ruleset.in_force))
    found += section("Policies (--policy NAME)", pairs(list(ruleset.policies.items())))
    found += section("Effects", pairs([(name, _effect(effect)) for name, effect in ruleset.effects.items()]))
    found += section("Piles", pairs([(name, _pile(pile)) for name, pile in ruleset.piles.items()]))
    decks = [
        (f"{ruleset.id}/{name}", f"{counted(deck.size, 'card')}: {deck.title}") for name, deck in ruleset.decks.items()
    ]
    found += section("Decks (rpgres deck show NAME)", pairs(decks))
    sheet = [(name, field.help + (" (needed)" if field.required else "")) for name, field in ruleset.sheet.items()]
    found += section("Sheet", pairs(sheet))
    settings = [(f"{path} = {_setting(one.value)}", one.help) for path, one in ruleset.settings.items()]
    found += section("Settings ([settings] in ruleset.toml)", pairs(settings))
    found += section("Ladder", [line(INDENT, _ladder(ruleset.ladder))] if ruleset.ladder else [])
    if isinstance(overlays, list):
        found += section("Overlays, in order of application", [line(INDENT, str(folder)) for folder in overlays])
    return found


def _setting(value: Any) -> str:
    return ", ".join(map(_setting, value)) if isinstance(value, list | dict) else str(value)


def action_lines(action: ActionDescription, in_force: Mapping[str, str], *, has_rungs: bool = True) -> list[Shown]:
    """Return an action with what it takes, what it asks, and its outcome tables row by row."""
    found: list[Shown] = [line(Piece(action.action, "title"), f" ({action.ruleset}): {action.summary}")]
    found += [line(HANG, " ".join(text.split())) for text in action.details.split("\n\n") if text]
    if action.example:
        found.append(line(Piece("For example: ", "quiet"), Piece(action.example, "command")))
    takes = []
    for name, parameter in action.parameters.items():
        typed = f"--{name} {metavar(parameter, name, has_rungs=has_rungs)}".rstrip()
        notes = [*filter(None, [said_words(parameter)]), *(["needed"] if name in action.required else [])]
        takes.append((typed, parameter.help + "".join(f" ({note})" for note in notes)))
    found += section("Takes", pairs(takes))
    found += section("Rolls", pairs(_rolls(action.described)))
    found += section("Asks", _label_lines(action.labels))
    if action.random is not None:
        found += section(
            f"Rows: {action.random.die or action.random.cards}", _random_lines(action.random.items(), in_force)
        )
        found += section("Beside them", _random_lines(action.random.beside(), in_force))
    for name, table in action.tables.items() if action.random is None else ():
        found += section(f"Outcomes: {name}", _table_lines(table, action.bands, in_force))
    return found


def _rolls(described: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a described action rolls, as its data say it, with what each key means."""
    rows = []
    for name, its in described.get("dice", {}).items():
        extra = [f"{words} {its[key]}" for key, words in (("worth", "worth"), ("again", "again if")) if its.get(key)]
        rows.append((name, ", ".join((its["roll"], *extra))))
    rows += described.get("numbers", {}).items()
    rows += [("outcome", described["band"])] if described.get("band") else []
    rows += [(band, text if text == "else" else f"if {text}") for band, text in described.get("bands", {}).items()]
    return rows


def _bounds(low: int | None, high: int | None, *, what: str = "") -> str:
    """Return bounds in words: `3 or more`, `margin +1 to +2`."""
    show = signed if what == "margin" else str
    of = f"{what} " if what else ""
    if low is not None and low == high:
        return f"{of}{show(low) if low else 0}"
    if low is not None and high is not None:
        return f"{of}{show(low)} to {show(high)}"
    if low is not None:
        return f"{of}{show(low)} or more"
    return f"{of}{show(high)} or less" if high is not None else ""


# ---------------------------------------------------------------------------------------------------------------------
# Columns


def _band(band: Band, *, what: str) -> str:
    """Return an outcome with what gives it: bounds of the margin, or of whatever actions measure."""
    bounds = [
        _bounds(band.from_, band.to, what=what),
        "if unopposed" if band.unopposed else "",
        f"also {band.also}" if band.also else "",
    ]
    message = ", or ".join(filter(None, (bound.strip() for bound in bounds[:2])))
    message = "; ".join(filter(None, (message, bounds[2])))
    return f"{band.title}: {message}" if message else band.title


def _label_lines(labels: Mapping[str, LabelDescription]) -> Iterator[Line]:
    width = min(WIDEST, max((len(name) for name in labels), default=0))
    for name, label in labels.items():
        roles = [re.sub("^switch:", "decided by the house rule ", who) for who in label.who]
        who = f"{' or '.join(roles)}: " if label.kind == "decision" and any(roles) else ""
        passes = " (optional)" if label.optional else ""
        first, *others = label.help or [""]
        pad = " " * (width + GAP)
        yield line(INDENT, Piece(name.ljust(width), "name"), " " * GAP, HANG, f"{who}{first}{passes}")
        yield from (line(INDENT, pad, HANG, f"or: {other}") for other in others)
        if label.options:
            which = "such as" if label.typed else "one of"
            offered = re.sub(r"\{(\w+)\}", lambda place: place[1].upper(), ", ".join(label.options))
            yield line(INDENT, pad, HANG, Piece(f"{which} {offered}", "quiet"))
        if label.facts:
            yield line(INDENT, pad, HANG, Piece(f"facts: {', '.join(label.facts)}", "quiet"))
        if label.option_facts:
            yield line(INDENT, pad, HANG, Piece(f"facts of options: {', '.join(label.option_facts)}", "quiet"))


def _switch_lines(switches: Mapping[str, Switch], in_force: Mapping[str, str]) -> Iterator[Line]:
    for name, switch in switches.items():
        yield line(INDENT, Piece(name, "name"), f": {switch.help}")
        width = max(len(choice) for choice in switch.choices)
        for choice, text in switch.choices.items():
            marks = ["default"] if choice == switch.default else []
            marks += ["in force"] if choice == in_force.get(name) != switch.default else []
            message = f" ({', '.join(marks)})" if marks else ""
            yield line(INDENT * 2, Piece(choice.ljust(width), "name"), " " * GAP, HANG, text, Piece(message, "quiet"))
        yield line(INDENT * 2, Piece(f"source: {switch.source}", "quiet"))


SEEN = {"up": "face up", "down": "face down"}


def _pile(pile: PileText) -> str:
    """Return a place for cards in words: who sees them, what is in it, where they come from."""
    owner = "its owner" if pile.each else "the game master"
    seen = SEEN.get(pile.face, f"seen by {owner} alone") + (
        ", hidden" + condition_words(pile.hidden_when, {}) if pile.hidden_when else ""
    )
    each = {"players": "one for each player's character", True: "one for each character"}
    parts = [seen, each.get(pile.each, "")]
    parts += [f"{deck}{condition_words(condition, {})}" for deck, condition in pile.decks.items()]
    parts.append(f"immediately shuffled into {pile.given_to}" if pile.given_to else "")
    if pile.refill:
        parts.append(f"refilled when empty from {pile.refill}{condition_words(pile.refill_when, {})}")
    parts.append(f"cards given for it come from {pile.dealt_from}" if pile.dealt_from else "")
    return f"{pile.title}: {'; '.join(filter(None, parts))}"


def _effect(effect: EffectText) -> str:
    fields = "; ".join(f"{name}: {text}" for name, text in effect.fields.items())
    return f"{effect.help} ({fields})" if fields else effect.help


def _ladder(ladder: Mapping[str, int]) -> str:
    show = signed if min(ladder.values()) < 0 else str  # difficulties have no sign
    return ", ".join(f"{title(name)} {show(number)}" for name, number in ladder.items())


# ---------------------------------------------------------------------------------------------------------------------
# Outcome tables


def _table_lines(table: Mapping[str, Row], bands: Mapping[str, str], in_force: Mapping[str, str]) -> Iterator[Line]:
    for band, row in table.items():
        text = f": {row.text}" if row.text else ""
        yield line(INDENT, Piece(bands.get(band, band), "title"), f" ({band}){text}")
        yield from _rolled_lines(row.rolls, indent=INDENT * 2)
        if row.links:
            yield line(INDENT * 2, "-> ", Piece(", ".join(row.links), "name"))
        yield from _consequence_lines(row.effects, row.ask, in_force, indent=INDENT * 2)


def _random_lines(named: Iterable[tuple[str | int, TableRow]], in_force: Mapping[str, str]) -> Iterator[Line]:
    rows = list(named)
    width = min(WIDEST, max((len(str(key)) for key, _ in rows), default=0))
    for key, row in rows:
        onward = [f"{row.again} more rolls"] if row.again else []
        notes = [*onward, *row.links]
        then = f"-> {', '.join(notes)}" if notes else ""
        words = " ".join(filter(None, (row.text, then, "(once)" if row.once else "")))
        yield line(INDENT, Piece(str(key).ljust(width), "name"), " " * GAP, HANG, words)
        yield from _rolled_lines(row.rolls, indent=INDENT * 3)
        yield from _consequence_lines(row.effects, row.ask, in_force, indent=INDENT * 3)


def _rolled_lines(rolls: Mapping[str, Formula], *, indent: str) -> Iterator[Line]:
    for label, formula in rolls.items():
        yield line(indent, "rolls ", Piece(label, "name"), f": {_formula(formula)}")


def _formula(formula: Formula) -> str:
    """Return dice or a number with the bounds it has."""
    its = bounded(formula)
    sides = (("at least", its.at_least), ("at most", its.at_most))
    return ", ".join([its.value, *(f"{word} {bound}" for word, bound in sides if bound is not None)])


def _consequence_lines(
    effects: Sequence[Mapping[str, Any]],
    ask: Mapping[str, RowQuestion],
    in_force: Mapping[str, str],
    *,
    indent: str,
) -> Iterator[Line]:
    """Yield effects, then questions with their options, each with the result below."""
    for effect in effects:
        plain = {key: value for key, value in effect.items() if key not in ("when", "unless")}
        condition = condition_words(effect.get("when", {}), effect.get("unless", {}))
        yield line(indent, BULLET, effect_words(plain), Piece(condition, "quiet"))
    for label, question in ask.items():
        switch = question.who.removeprefix("switch:")
        who = f"{in_force[switch]}, by the house rule {switch}" if switch in in_force else question.who
        passes = ", optional" if question.optional else ""
        asked = f" ({who}{passes}): {question.text}"
        condition = condition_words(question.when, question.unless)
        yield line(indent, "? ", Piece(label, "name"), asked, Piece(condition, "quiet"))
        for name, option in question.options.items():
            condition = condition_words(option.when, option.unless)
            yield line(indent, INDENT, Piece(name, "name"), f": {option.text}", Piece(condition, "quiet"))
            yield from _rolled_lines(option.rolls, indent=indent + INDENT * 2)
            yield from _consequence_lines(option.effects, option.ask, in_force, indent=indent + INDENT * 2)


def condition_words(when: Mapping[str, Any], unless: Mapping[str, Any]) -> str:
    """Return a condition in words, in brackets; nothing when it always holds."""
    parts = [
        f"{word} {' and '.join(_fact(key, value) for key, value in condition.items())}"
        for word, condition in (("when", when), ("unless", unless))
        if condition
    ]
    return f" [{', '.join(parts)}]" if parts else ""


def _fact(key: str, value: Any) -> str:
    if key == "margin-from":
        return f"the margin is {signed(value)} or more"
    if key == "margin-to":
        return f"the margin is {signed(value)} or less"
    name, _, side = key.rpartition("-")
    if name and side in BOUNDS:
        return f"{name} is {value} or {'more' if side == 'from' else 'less'}"
    return f"{key} is {' or '.join(map(str, value)) if isinstance(value, list) else value}"
