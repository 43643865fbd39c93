"""What is in a ruleset, as records for readers and for JSON: `ruleset list`, `show`. Nothing here plays or prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from rpgres.engine.labels import chance_help, labels_of
from rpgres.errors import UsageError
from rpgres.plugins.discovery import RulesetName
from rpgres.rulesets import Action, Band, EffectText, Parameter, Row, RowOption, RowQuestion, Rules, Switch, unknown
from rpgres.rulesets.schema import PileText
from rpgres.rulesets.tree import filled, walk
from rpgres.toml.diagnostics import Diagnostic
from rpgres.version import __version__


class RulesetList(msgspec.Struct, frozen=True, kw_only=True):
    """The rulesets there are, as `rpgres ruleset list --json` prints them."""

    format: Literal["rpgres.rulesets/1"] = "rpgres.rulesets/1"
    version: str = __version__
    rulesets: list[RulesetName]
    problems: list[Diagnostic] = []


class RulesetCheck(msgspec.Struct, frozen=True):
    """What became of a ruleset that was checked with everything laid over it."""

    id: str
    ok: bool
    overlays: Sequence[str]
    problems: Sequence[Diagnostic]


class RulesetChecks(msgspec.Struct, frozen=True, kw_only=True):
    """What became of rulesets that were checked, as `rpgres ruleset check --json` prints it."""

    format: Literal["rpgres.ruleset-check/1"] = "rpgres.ruleset-check/1"
    ok: bool
    rulesets: Sequence[RulesetCheck]
    strays: Sequence[Diagnostic]


class LabelDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One label, with everything that is asked under it.

    Attributes:
        kind: whether dice answer it or somebody.
        help: what is asked; the questions of outcome tables, where the ruleset says nothing of its own.
        who: the roles that answer, of all questions.
        optional: whether every such moment may pass unused.
        options: what outcome tables offer, by name; empty where the rule itself says what may be answered.
        actions: the actions that ask it.
    """

    kind: str
    help: list[str]
    who: list[str]
    optional: bool
    options: dict[str, str]
    actions: list[str]


class ActionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """An action as the description of its ruleset has it."""

    summary: str
    parameters: list[str]
    labels: list[str]
    tables: list[str]


class FieldSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One key of the ruleset's sheets."""

    kind: str
    help: str
    required: bool


class DeckInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A deck of a ruleset; `rpgres deck show` tells what is in it."""

    title: str
    summary: str
    size: int


class SettingSummary(msgspec.Struct, frozen=True):
    """A number or a word that the ruleset's code reads from its data, and what it means."""

    value: Any
    help: str


class RulesetDescription(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be named in a ruleset, as `rpgres ruleset show ID --json` prints it.

    Attributes:
        rules: what names the rules exactly: version, hash, and the overlays in use.
        measure: what the bounds of bands speak of, where it is the same in every action: margin, total, highest, ...
        switches: house rules, with their choices; `in_force` says which choice is played.
        piles: where cards lie.
        decks: decks of cards, those of kits included.
        settings: what the code reads and a house rule may change, by path, as far as it is explained.
    """

    format: Literal["rpgres.ruleset/1"] = "rpgres.ruleset/1"
    version: str = __version__
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


class ActionDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One action with its outcome tables, as `rpgres ruleset show ID ACTION --json` prints it.

    Attributes:
        parameters: what it takes, by the name it is typed under.
        required: those it cannot do without.
        labels: what it asks.
        tables: its outcome tables by name, rows by band; shared questions stand where they are asked.
        bands: the title of every band that occurs.
        described: what its data say it rolls (the keys of `[actions.NAME]`), for an action that needs no code.
    """

    format: Literal["rpgres.action/1"] = "rpgres.action/1"
    version: str = __version__
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
        rules=rules.identity(),
        dice=file.dice,
        ladder=file.ladder,
        bands=file.bands,
        measure=_measure(file.actions.values()),
        actions={
            name: ActionSummary(
                summary=action.summary,
                parameters=list(rules.parameters(name)),
                labels=list(labels_of(rules, name)),
                tables=action.tables,
            )
            for name, action in file.actions.items()
        },
        labels=describe_labels(rules, list(file.actions)),
        switches=file.switches,
        in_force=rules.chosen,
        policies={**dict.fromkeys(rules.ruleset.policies, ""), **file.policies},
        effects=file.effects,
        sheet={
            name: FieldSummary(kind=field.kind, help=field.help, required=field.required)
            for name, field in file.sheet.items()
        },
        piles=file.piles,
        decks=_decks(rules),
        settings={path: SettingSummary(file.setting(path), text) for path, text in file.settings_notes.items()},
    )


def _decks(rules: Rules) -> dict[str, DeckInfo]:
    found = {name: rules.deck(name) for name in rules.deck_names()}
    return {name: DeckInfo(title=deck.title, summary=deck.summary, size=deck.size) for name, deck in found.items()}


def describe_action(rules: Rules, action: str) -> ActionDescription:
    """Return an action with what it takes, asks and may come to.

    Raises:
        UsageError: the ruleset has no such action.
        FileError: an outcome table is missing or faulty.
    """
    file = rules.file
    if action not in file.actions:
        raise UsageError(unknown("action", action, file.actions, of=f"the ruleset {rules.id}"))
    described = file.actions[action]
    tables = {
        name: {band: _with_menus(rules, row) for band, row in rules.table(name).items()} for name in described.tables
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
        labels=describe_labels(rules, [action]),
        tables=tables,
        bands={name: band.title for name, band in file.bands.items() if name in used},
        described=_described(described),
    )


def _measure(actions: Iterable[Action]) -> str:
    """Return what the bounds of bands speak of; nothing when actions differ."""
    found = {
        action.by or ("margin" if action.vs or not action.roll else "total") for action in actions if not action.bands
    }
    return next(iter(found)) if len(found) == 1 else ""


def _described(action: Action) -> dict[str, Any]:
    """Return what an action rolls by its data; nothing when it has a rule in code."""
    if not action.roll:
        return {}
    found: dict[str, Any] = msgspec.to_builtins(action)
    keys = ("roll", "vs", "under", "by", "counts", "numbers", "instead", "bands")
    return {key: found[key] for key in keys if found[key]}


def describe_labels(rules: Rules, actions: list[str]) -> dict[str, LabelDescription]:
    """Return the labels that actions can ask, those of their rules first."""
    found: dict[str, LabelDescription] = {}
    for kind in ("chance", "decision"):
        for action in actions:
            for label, its in labels_of(rules, action).items():
                if its == kind and label not in found:
                    found[label] = _describe_label(rules, label, kind, actions)
    return found


def _describe_label(rules: Rules, label: str, kind: str, actions: list[str]) -> LabelDescription:
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
        options={name: option.text for question in questions for name, option in question.options.items()},
        actions=asking,
    )


def _with_menus(rules: Rules, row: Row) -> Row:
    return msgspec.structs.replace(row, ask=_asked(rules, row.ask))


def _asked(rules: Rules, ask: Mapping[str, RowQuestion]) -> dict[str, RowQuestion]:
    """Return questions with the shared ones filled in."""
    return {label: _filled(rules, question) for label, question in ask.items()}


def _filled(rules: Rules, question: RowQuestion) -> RowQuestion:
    shown = filled(question, rules.menu)
    options: dict[str, RowOption] = {
        name: msgspec.structs.replace(option, ask=_asked(rules, option.ask)) for name, option in shown.options.items()
    }
    return msgspec.structs.replace(shown, options=options)
