"""What can be typed in a place, for shell completion and help. Loaded only for these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rpgres.cli.render.words import signed, who_is
from rpgres.cli.rulesets import RulesetData
from rpgres.engine.parameters import ability_names
from rpgres.engine.players import NO
from rpgres.engine.run import chance_help, labels_of
from rpgres.errors import RpgresError
from rpgres.model.cards import Deck
from rpgres.model.state import Character
from rpgres.rulesets import Parameter, RowQuestion, Rules, Ruleset
from rpgres.rulesets.tree import walk

Offers = list[tuple[str, str]]  # what can be typed, and what it means


def _read(data: RulesetData) -> Rules:
    """Return the ruleset's data as they can be asked without its code."""
    return Rules(Ruleset(data.id), file=data.file, parts=data.parts)


# ---------------------------------------------------------------------------------------------------------------------
# Help


def label_records(data: RulesetData, action: str) -> Offers:
    """Return the labels an action can ask, with what they mean."""
    return [(label, text) for label, _, text in _labels(data, action)]


def _labels(data: RulesetData, action: str) -> Iterator[tuple[str, str, str]]:
    """Yield (label, kind, help): those of the rule, then those of its outcome tables."""
    rules = _read(data)
    questions = dict(_questions(rules, action))
    chance = "dice or cards" if data.file.piles else "dice"
    for label, kind in labels_of(rules, action).items():
        declared = data.file.labels.get(label)
        if declared is not None:
            text = declared.help
        elif kind == "chance":
            text = chance_help(label)
        else:
            question = questions[label]
            who = question.who if not question.who.startswith("switch:") else f"by the switch {question.who[7:]}"
            text = f"{question.text} ({', '.join(question.options)}; {who_is(who)})"
        yield label, kind, f"[{chance if kind == 'chance' else 'decision'}] {text}"


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
        data: the ruleset.
        name: the input's name.
        parameter: the input.
        typed: the values of the line so far, by option.
        incomplete: the beginning of the value.
    """
    match parameter.kind:
        case "ability":
            return _abilities(data, typed.get("sheet"))
        case "opposition":
            rungs = [(name, signed(value)) for name, value in data.file.ladder.items()]
            sheet, separator, _ = incomplete.rpartition(":")
            if separator:
                return [(f"{sheet}:{ability}", rating) for ability, rating in _abilities(data, sheet)]
            named = [(f"{sheet}:", text) for sheet, text in _sheets(data)]
            return [*rungs, ("none", "nothing is in the way"), (f"{data.file.dice}+0", "somebody rolls"), *named]
        case "choice":
            return list(parameter.choices.items())
        case "character":
            return _sheets(data)
        case "text":
            return _records(data, name, typed.get("sheet"))
        case "form":
            return _form_fields(data, parameter, incomplete)
        case "cards":
            return _cards(data, parameter, typed, incomplete)
    return []


def _form_fields(data: RulesetData, parameter: Parameter, incomplete: str) -> Offers:
    """Return names for a form that has none yet, and then what else may be said in it."""
    head, sign, _ = incomplete.rpartition("," if "," in incomplete else ":")
    if not sign:
        return [(f"{sheet}:", text) for sheet, text in _sheets(data)] if parameter.seats else []
    return [
        (f"{head}{sign}{key}{'' if field.kind == 'flag' else '='}", field.help)
        for key, field in parameter.fields.items()
        if f"{key}=" not in head
    ]


def _cards(data: RulesetData, parameter: Parameter, typed: Mapping[str, Any], incomplete: str) -> Offers:
    """Return the cards that can lie in a pile with the switches of the line: those of the deck they come from."""
    from rpgres.cli.options import read_switches

    try:
        switches = read_switches(typed.get("switch") or ())
        laid = Rules(Ruleset(data.id), file=data.file, parts=data.parts, switches=switches).laid
    except RpgresError:
        return []
    source, seen = parameter.pile, set[str]()
    while source in data.file.piles and source not in laid and source not in seen:
        seen.add(source)
        source = data.file.piles[source].dealt_from
    return offer_cards([laid[source]] if source in laid else laid.values(), incomplete)


def offer_cards(decks: Iterable[Deck], incomplete: str) -> Offers:
    """Return the cards that may come next in a list of codes separated by commas, each as often as decks have it.

    Args:
        decks: the decks that the cards may be of.
        incomplete: the list so far.
    """
    before, comma, _ = incomplete.rpartition(",")
    chosen = [code.strip().lower() for code in before.split(",")]
    offers = {}
    for deck in decks:
        for code, count in deck.counts.items():
            if count > chosen.count(code.lower()):
                offers[f"{before}{comma}{code}"] = deck.cards[code].title
    return list(offers.items())


def _records(data: RulesetData, name: str, sheet: str | None) -> Offers:
    """Return what an input of one thing may name on a sheet that lists several: `stunt` for the records of `stunts`."""
    described = data.file.sheet.get(f"{name}s")
    character = _character(data, sheet) if sheet and described is not None and described.kind == "records" else None
    if character is None:
        return []
    return [(key, str(record.get("text", ""))) for key, record in character.records.get(f"{name}s", {}).items()]


def _character(data: RulesetData, sheet: str) -> Character | None:
    from rpgres.rulesets.sheets import STDIN, read_sheet

    try:
        return read_sheet(data.rules({}), sheet).character if sheet != STDIN else None
    except RpgresError:
        return None


def _abilities(data: RulesetData, sheet: str | None) -> Offers:
    """Return the abilities of a sheet with their ratings, or all that the ruleset names."""
    if sheet:
        character = _character(data, sheet)
        if character is None:
            return []
        return [(name, signed(rating)) for name, rating in character.abilities.items()]
    return [(name, "") for name in ability_names(_read(data))]


def offer_shared(data: RulesetData, action: str, option: str) -> Offers:
    """Return what a shell may offer for an option that every action has."""
    match option:
        case "given":
            return [(f"{label}=", text) for label, kind, text in _labels(data, action) if kind == "chance"]
        case "choose":
            return list(_choices(data, action))
        case "switch":
            return [
                (f"{name}={choice}", text)
                for name, switch in data.file.switches.items()
                for choice, text in switch.choices.items()
            ]
        case "policy":
            common = [("preferred", "what is liked best"), ("uniform", "every option with equal chances")]
            return [*data.file.policies.items(), *common]
        case "sheet":
            return _sheets(data)
    return []


def _choices(data: RulesetData, action: str) -> Iterator[tuple[str, str]]:
    questions = dict(_questions(_read(data), action))
    for label, kind, text in _labels(data, action):
        if kind == "chance":
            continue
        if label in questions:
            for name, option in questions[label].options.items():
                yield f"{label}={name}", option.text
            if questions[label].optional:
                yield f"{label}={NO}", "let it pass"
        else:
            yield f"{label}=", text


def _sheets(data: RulesetData) -> Offers:
    """Return the sheets that come with the ruleset, by name, and the TOML files here."""
    folders = [part.folder / "sheets" for part in data.parts]
    names = dict.fromkeys(path.stem for folder in folders for path in sorted(folder.glob("*.toml")))
    here = [path.name for path in sorted(Path().glob("*.toml"))]
    return [*((name, "comes with the ruleset") for name in names), *((name, "") for name in here)]
