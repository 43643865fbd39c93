"""What is in a ruleset, as records for readers and for JSON: `ruleset list`, `show`. Nothing here plays or prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from rpgres.engine.labels import chance_help, labels_of
from rpgres.errors import UsageError
from rpgres.lint.decisions import Decision, decisions_of
from rpgres.model.printed import Printed
from rpgres.plugins.discovery import RulesetName
from rpgres.rulesets import Action, Band, EffectText, Parameter, Row, RowOption, RowQuestion, Rules, Switch, unknown
from rpgres.rulesets.actions import OPPOSITION
from rpgres.rulesets.schema import PileText
from rpgres.rulesets.tables import RandomTable, TableRow
from rpgres.rulesets.tree import filled, walk
from rpgres.toml.diagnostics import Diagnostic


class RulesetList(Printed, frozen=True, kw_only=True, tag="rpgres.rulesets/1"):
    """The rulesets there are, as `rpgres ruleset list --json` prints them.

    Attributes:
        rulesets: the rulesets there are.
        problems: what is wrong with house rules and with folders in which nothing is read.
    """

    rulesets: list[RulesetName]
    problems: list[Diagnostic] = []


class RulesetCheck(msgspec.Struct, frozen=True):
    """The result of a check of a ruleset with its overlays.

    Attributes:
        id: the ruleset, or its folder.
        ok: whether nothing is wrong with it.
        overlays: the folders of its overlays.
        problems: what is wrong with it.
    """

    id: str
    ok: bool
    overlays: Sequence[str]
    problems: Sequence[Diagnostic]


class RulesetChecks(msgspec.Struct, frozen=True, kw_only=True, tag_field="format", tag="rpgres.ruleset-check/1"):
    """The results of a check of rulesets, as `rpgres ruleset check --json` prints it.

    Attributes:
        ok: whether nothing is wrong at all.
        rulesets: the result of each ruleset.
        strays: folders in which nothing is read.
    """

    ok: bool
    rulesets: Sequence[RulesetCheck]
    strays: Sequence[Diagnostic]


class LabelDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One label, with everything that is asked under it.

    Attributes:
        kind: chance or decision.
        help: what is asked.
        who: the roles that answer.
        optional: whether every such question may be skipped.
        options: what outcome tables offer, by name, and what the rule itself can offer, where data list it; `*` stands
            for any text, `{character}` and `{card}` for one of these.
        typed: whether other answers can be typed, too.
        facts: what a decision is about, by name, for standing orders (`facts.NAME`).
        option_facts: what its options are about, likewise (`options.any.NAME`).
        actions: the actions that ask it.
    """

    kind: str
    help: list[str]
    who: list[str]
    optional: bool
    options: dict[str, str]
    typed: bool
    facts: list[str]
    option_facts: list[str]
    actions: list[str]


class ActionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """An action as the description of its ruleset has it.

    Attributes:
        summary: what it is, in a line.
        parameters: what it takes.
        labels: what it asks.
        tables: its outcome tables.
        procedure: whether it takes turns until it is over, and so can be run as a scene of its own.
    """

    summary: str
    parameters: list[str]
    labels: list[str]
    tables: list[str]
    procedure: bool


class FieldSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One key of the ruleset's sheets.

    Attributes:
        kind: what stands under the key.
        help: what it is for.
        required: whether every sheet has it.
    """

    kind: str
    help: str
    required: bool


class DeckInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A deck of a ruleset; `rpgres deck show` tells what is in it.

    Attributes:
        title: what people call it.
        summary: what is in it, in a line.
        size: how many cards there are.
    """

    title: str
    summary: str
    size: int


class SettingSummary(msgspec.Struct, frozen=True):
    """A number or a word that the ruleset's code reads from its data, and what it means.

    Attributes:
        value: the number or word.
        help: what it means.
    """

    value: Any
    help: str


class RulesetDescription(Printed, frozen=True, kw_only=True, tag="rpgres.ruleset/1"):
    """Everything that can be named in a ruleset, as `rpgres ruleset show ID --json` prints it.

    Attributes:
        id: by which commands know it.
        title: what people call it.
        summary: what it is, in a line.
        credits: where its rules were taken from.
        rules: what names the rules exactly: version, hash, and the overlays in use.
        dice: the dice of an ordinary roll; empty where there are none.
        ladder: numbers by the words for them.
        bands: the outcomes.
        measure: what the bounds of bands speak of, where it is the same in every action.
        actions: what can be done.
        labels: what is asked, by label.
        switches: house rules that can be chosen.
        in_force: which choice of each switch is played.
        policies: who decides in place of a person.
        effects: what outcomes change.
        sheet: the keys of its sheets.
        piles: where cards lie.
        decks: decks of cards, those of kits included.
        settings: what the code reads and a house rule may change, by path.
        random: random tables, which are actions too, by name: what is rolled, in notation, or the deck.
    """

    id: str
    title: str
    summary: str
    credits: str
    rules: dict[str, Any]
    dice: str
    ladder: dict[str, int]
    bands: dict[str, Band]
    measure: str
    actions: dict[str, ActionSummary]
    labels: dict[str, LabelDescription]
    switches: dict[str, Switch]
    in_force: dict[str, str]
    policies: dict[str, str]
    effects: dict[str, EffectText]
    sheet: dict[str, FieldSummary]
    piles: dict[str, PileText]
    decks: dict[str, DeckInfo]
    settings: dict[str, SettingSummary] = {}
    random: dict[str, str] = {}


class ActionDescription(Printed, frozen=True, kw_only=True, tag="rpgres.action/1"):
    """One action with its outcome tables, as `rpgres ruleset show ID ACTION --json` prints it.

    Attributes:
        ruleset: the ruleset.
        action: the action.
        summary: what it is, in a line.
        details: how it works.
        example: a command line that does it.
        parameters: what it takes, by the name it is typed under.
        required: those it cannot do without.
        labels: what it asks.
        tables: its outcome tables by name, rows by band.
        bands: the title of every band that occurs.
        described: what its data say it rolls, for an action that needs no code.
        random: for a random table: its rows by what the die or the card shows.
    """

    ruleset: str
    action: str
    summary: str
    details: str
    example: str
    parameters: dict[str, Parameter]
    required: list[str]
    labels: dict[str, LabelDescription]
    tables: dict[str, dict[str, Row]]
    bands: dict[str, str]
    described: dict[str, Any] = {}
    random: RandomTable | None = None


def describe_ruleset(rules: Rules) -> RulesetDescription:
    """Return what is in a ruleset.

    Raises:
        FileError: an outcome table is missing or faulty, or a deck is.
    """
    file = rules.file
    return RulesetDescription(
        id=rules.id,
        title=file.title,
        summary=file.summary,
        credits=file.credits,
        rules=rules.layers.identity(),
        dice=file.dice,
        ladder=file.ladder,
        bands={name: band for name, band in file.bands.items() if type(band) is Band},
        measure=_measure(file.actions.values()),
        actions={
            name: ActionSummary(
                summary=action.summary,
                parameters=list(rules.parameters(name)),
                labels=list(labels_of(rules, name)),
                tables=action.tables,
                procedure=action.procedure,
            )
            for name, action in file.actions.items()
        },
        labels=_describe_labels(rules, list(file.actions)),
        switches=file.switches,
        in_force=rules.chosen,
        policies={**dict.fromkeys(rules.ruleset.policies, ""), **file.policies},
        effects=file.effects,
        sheet={name: msgspec.convert(field, FieldSummary, from_attributes=True) for name, field in file.sheet.items()},
        piles=file.piles,
        decks={
            name: msgspec.convert(rules.layers.deck(name), DeckInfo, from_attributes=True)
            for name in rules.layers.deck_names()
        },
        settings={path: SettingSummary(file.setting(path), text) for path, text in file.settings_notes.items()},
        random={name: plan.die or file.tables[name].cards for name, plan in rules.plans.items()},
    )


def describe_action(rules: Rules, action: str) -> ActionDescription:
    """Return an action with what it takes and asks, and its outcomes.

    Raises:
        UsageError: the ruleset has no such action.
        FileError: an outcome table is missing or faulty.
    """
    file = rules.file
    if action not in file.actions:
        raise UsageError(unknown("action", action, file.actions, of=f"the ruleset {rules.id}"))
    described = file.actions[action]
    tables = {
        name: {
            band: msgspec.structs.replace(row, ask=_asked(rules, row.ask)) for band, row in rules.table(name).items()
        }
        for name in described.tables
    }
    used = {band for table in tables.values() for band in table}
    return ActionDescription(
        ruleset=rules.id,
        action=action,
        summary=described.summary,
        details=described.details,
        example=described.example,
        parameters=rules.parameters(action),
        required=described.required,
        labels=_describe_labels(rules, [action]),
        tables=tables,
        bands={name: band.title for name, band in file.bands.items() if name in used},
        described=_described(described),
        random=_random(rules, action),
    )


def _random(rules: Rules, name: str) -> RandomTable | None:
    """Return a random table with every row under what its die or card shows; None where an action is none."""
    if name not in rules.plans:
        return None
    plan = rules.plans[name]
    rows: dict[str, str | TableRow] = {plan.shown(row): row.row for row in plan.rows}
    return msgspec.structs.replace(rules.file.tables[name], rows=rows, die=plan.die)


def _measure(actions: Iterable[Action]) -> str:
    """Return what the bounds of bands speak of; nothing when actions differ."""
    found = {
        "margin" if OPPOSITION in action.groups or not action.dice or "margin" in action.numbers else "total"
        for action in actions
        if not (action.bands or action.band)
    }
    return next(iter(found)) if len(found) == 1 else ""


def _described(action: Action) -> dict[str, Any]:
    """Return what an action rolls by its data; nothing when it has a rule in code."""
    if not action.is_described:
        return {}
    found: dict[str, Any] = msgspec.to_builtins(action)
    found["dice"] = msgspec.to_builtins(action.groups)
    return {key: found[key] for key in ("dice", "numbers", "tell", "bands", "band") if found[key]}


def _describe_labels(rules: Rules, actions: list[str]) -> dict[str, LabelDescription]:
    """Return the labels that actions can ask, those of their rules first."""
    found: dict[str, LabelDescription] = {}
    decisions = decisions_of(rules)
    for kind in ("chance", "decision"):
        for action in actions:
            for label, its in labels_of(rules, action).items():
                if its == kind and label not in found:
                    found[label] = _describe_label(rules, label, kind, actions, shown=decisions.get(label, Decision()))
    return found


def _describe_label(rules: Rules, label: str, kind: str, actions: list[str], *, shown: Decision) -> LabelDescription:
    own = rules.file.labels.get(label)
    asking = [action for action in actions if label in labels_of(rules, action)]
    tables = [rules.table(table) for action in asking for table in rules.file.actions[action].tables]
    questions = [
        node for path, node in walk(tables, menu=rules.menu) if isinstance(node, RowQuestion) and path[-1] == label
    ]
    help_ = [own.help] if own is not None else list(dict.fromkeys(question.text for question in questions))
    if kind == "chance" and not help_:
        help_ = [chance_help(label)]
    who = [own.who] if own is not None and own.who else [question.who for question in questions]
    return LabelDescription(
        kind=kind,
        help=help_,
        who=list(dict.fromkeys(who)),
        optional=own.optional if own is not None else bool(questions) and all(one.optional for one in questions),
        options={
            **dict.fromkeys(own.options if own is not None else (), ""),
            **{name: option.text for question in questions for name, option in question.options.items()},
        },
        typed=shown.is_typed,
        facts=sorted(shown.facts or ()),
        option_facts=sorted(shown.option_facts or ()),
        actions=asking,
    )


def _asked(rules: Rules, ask: Mapping[str, RowQuestion]) -> dict[str, RowQuestion]:
    """Return questions with the shared ones filled in."""
    return {label: _filled(rules, question) for label, question in ask.items()}


def _filled(rules: Rules, question: RowQuestion) -> RowQuestion:
    shown = filled(question, rules.menu)
    options: dict[str, RowOption] = {
        name: msgspec.structs.replace(option, ask=_asked(rules, option.ask)) for name, option in shown.options.items()
    }
    return msgspec.structs.replace(shown, options=options)
