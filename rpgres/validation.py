"""Whether a ruleset's data and code fit together: all that can be told without playing, all problems at once.

This reads every file of the ruleset, which no ordinary command needs to; it serves `plugin list` and `plugin check`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from rpgres.errors import RpgresError
from rpgres.inputs import SHEET
from rpgres.rulesets import Action, Parameter, Row, RowQuestion, Rules, unknown
from rpgres.state import GM

# What the commands that resolve an action take for themselves.
COMMON_OPTIONS = frozenset(
    "action as auto choose debug exit-code given help json leaves note plain policies policy repeat ruleset rulesets "  # noqa: SIM905
    "seconds seed switch switches version".split()
)

# What a condition in an outcome table says of the margin.
MARGIN_BOUNDS = ("margin-from", "margin-to")


def problems_of(rules: Rules) -> list[str]:
    """Return what is wrong with a ruleset, one short sentence each; nothing when its data and code fit together.

    Args:
        rules: the ruleset with the data that are to be judged; with overlays, these are judged with it.
    """
    checks: tuple[Callable[[Rules], Iterable[str]], ...] = (
        _bands,
        _dice,
        _parameters,
        _actions,
        _names,
        _outcome_tables,
        _sheet_fields,
        _sheets,
    )
    return list(dict.fromkeys(problem for check in checks for problem in check(rules)))


# ---------------------------------------------------------------------------------------------------------------------
# Bands and dice


def _bands(rules: Rules) -> Iterator[str]:
    """Every whole number falls into exactly one band, if any band has margins at all."""
    bands = rules.file.bands
    ranged = {name: band for name, band in bands.items() if band.from_ is not None or band.to is not None}
    if len([name for name, band in bands.items() if band.unopposed]) > 1:
        yield "more than one of the bands is unopposed"
    if not ranged:
        return
    # Where a band begins or ends, and once beyond on either side, is everywhere that anything can change.
    edges = {edge for band in ranged.values() for edge in (band.from_, band.to) if edge is not None}
    margins = sorted({margin + step for margin in edges for step in (-1, 0, 1)})
    for margin, upto in _stretches(margins, lambda margin: [name for name, band in ranged.items() if band.has(margin)]):
        names = [name for name, band in ranged.items() if band.has(margin)]
        where = _stretch(margin, upto, first=margins[0], last=margins[-1])
        if not names:
            yield f"no band has the margins {where}"
        elif len(names) > 1:
            yield f"the bands {' and '.join(names)} share the margins {where}"
    for name, band in ranged.items():
        if band.from_ is not None and band.to is not None and band.from_ > band.to:
            yield f"the band {name} goes from {band.from_} to {band.to}, which no margin does"


def _stretches(margins: list[int], kind: Callable[[int], object]) -> Iterator[tuple[int, int]]:
    """Yield first and last of each run of margins of one kind."""
    start = margins[0]
    for before, margin in pairwise(margins):
        if kind(margin) != kind(start):
            yield start, before
            start = margin
    yield start, margins[-1]


def _stretch(start: int, end: int, *, first: int, last: int) -> str:
    if start == first:
        return f"up to {end}"
    if end == last:
        return f"from {start}"
    return str(start) if start == end else f"{start} to {end}"


def _dice(rules: Rules) -> Iterator[str]:
    if rules.file.dice:
        yield from _faults("dice", lambda: rules.dice)


def _faults(where: str, read: Callable[[], object]) -> Iterator[str]:
    """Yield what reading something raises of rpgres' own errors, which are made for readers."""
    try:
        read()
    except RpgresError as error:
        yield f"{where}: {error.message}" if where else error.message


# ---------------------------------------------------------------------------------------------------------------------
# Actions and what they take


def _parameters(rules: Rules) -> Iterator[str]:
    for key, parameter in rules.file.parameters.items():
        where = f"parameters.{key}"
        for name in (parameter.name or key, *parameter.aliases):
            if name in COMMON_OPTIONS or name == SHEET:
                yield f"{where}: every action has an option {name!r} of its own; call it something else"
        if parameter.kind == "choice" and not parameter.choices:
            yield f"{where}: a choice without choices"
        if parameter.kind == "choice" and parameter.default is not None and parameter.default not in parameter.choices:
            yield f"{where}: the default {parameter.default!r} is none of the choices"
        for kind, needed in (("tag", parameter.tag), ("counter", parameter.counter)):
            if parameter.kind == kind and not needed:
                yield f"{where}: of the kind {kind!r}, it has to say which {kind} = ... it is about"


def _actions(rules: Rules) -> Iterator[str]:
    code, data = rules.ruleset.actions, rules.file.actions
    if not data:
        yield "it has no actions"
    for name in data:
        if name not in code:
            yield _missing(f"actions.{name} has no rule in the code", name, code, f'@ruleset.action("{name}")')
    for name in code:
        if name not in data:
            yield _missing(f"the rule {name!r} has no data", name, data, f"[actions.{name}]")
    for name, action in data.items():
        yield from _action(rules, name, action)


def _missing(fault: str, name: str, known: Iterable[str], wanted: str) -> str:
    from rpgres.tomlfiles import nearest

    near = nearest(name, known)
    return f"{fault} ({wanted}); did you mean {near!r}?" if near else f"{fault} ({wanted})"


def _action(rules: Rules, name: str, action: Action) -> Iterator[str]:
    where = f"actions.{name}"
    for key in action.parameters:
        if key not in rules.file.parameters:
            yield unknown("parameter", key, rules.file.parameters, of=f"{where}: the ruleset")
    for label in action.labels:
        if label not in rules.file.labels:
            yield unknown("label", label, rules.file.labels, of=f"{where}: the ruleset")
    tables = list(rules.table_names())
    for table in action.tables:
        if table not in tables:
            yield unknown("outcome table", table, tables, of=f"{where}: the ruleset")
    if not all(key in rules.file.parameters for key in action.parameters):
        return
    parameters = rules.parameters(name)
    for needed in action.required:
        if needed not in parameters:
            yield unknown("parameter", needed, parameters, of=f"{where}.required: the action")
    yield from _doubles(where, action, parameters)
    if name in rules.ruleset.actions:
        yield from _signature(rules, name, parameters)


def _doubles(where: str, action: Action, parameters: Mapping[str, Parameter]) -> Iterator[str]:
    if len(parameters) < len(set(action.parameters)):
        yield f"{where}: two of its parameters have one name"
    owners: dict[str, str] = {}
    for name, parameter in parameters.items():
        for alias in (name, *parameter.aliases):
            if owners.setdefault(alias, name) != name:
                yield f"{where}: {alias!r} means both {owners[alias]} and {name}"


def _signature(rules: Rules, name: str, parameters: Mapping[str, Parameter]) -> Iterator[str]:
    import inspect

    # Tags and counters are laid on the table and are no arguments.
    arguments = [key.replace("-", "_") for key, its in parameters.items() if its.kind not in ("tag", "counter")]
    try:
        signature = inspect.signature(rules.ruleset.actions[name])
    except (TypeError, ValueError):
        return  # something callable that does not tell what it takes
    try:
        signature.bind(None, None, **dict.fromkeys(arguments))
    except TypeError as error:
        takes = ", ".join(["table", "actor", *arguments])
        yield f"the rule {name!r} is called with ({takes}), as actions.{name} says, and does not fit: {error}"


def _names(rules: Rules) -> Iterator[str]:
    """What the data describe of the code is there."""
    code = rules.ruleset
    for what, described, registered in (
        ("effect", rules.file.effects, code.effects),
        ("policy", rules.file.policies, code.policies),
    ):
        for name in described:
            if name not in registered:
                section = "effects" if what == "effect" else "policies"
                yield _missing(
                    f"{section}.{name} has no function in the code", name, registered, f'@ruleset.{what}("{name}")'
                )


# ---------------------------------------------------------------------------------------------------------------------
# Outcome tables


def _outcome_tables(rules: Rules) -> Iterator[str]:
    for name in dict.fromkeys(rules.table_names()):
        try:
            table = rules.table(name)
        except RpgresError as error:
            yield error.message
            continue
        for band, row in table.items():
            yield from _row(rules, f"outcome table {name}, {band}", row)


def _row(rules: Rules, where: str, row: Row) -> Iterator[str]:
    yield from _effects(rules, where, row.effects)
    for label, question in row.ask.items():
        yield from _question(rules, f"{where}, ask {label}", label, question, menus=())


def _question(rules: Rules, where: str, label: str, question: RowQuestion, *, menus: tuple[str, ...]) -> Iterator[str]:
    yield from _conditions(rules, where, question.when, question.unless)
    declared = rules.file.labels.get(label)
    if declared is not None and declared.kind != "decision":
        yield f"{where}: labels.{label} says that it is rolled, not decided"
    if question.menu:
        if question.menu in menus:
            yield f"{where}: the menu {question.menu} asks itself again without end"
            return
        menus = (*menus, question.menu)
        try:
            question = rules.menu(question.menu)
        except RpgresError as error:
            yield f"{where}: {error.message}"
            return
        if question.menu:
            yield f"{where}: a menu may not be taken from another menu ({question.menu})"
    yield from _who(rules, where, question.who)
    if not question.options:
        yield f"{where}: it has no options"
    for name, option in question.options.items():
        inside = f"{where}, option {name}"
        yield from _conditions(rules, inside, option.when, option.unless)
        yield from _effects(rules, inside, option.effects)
        for inner, asked in option.ask.items():
            yield from _question(rules, f"{inside}, ask {inner}", inner, asked, menus=menus)


def _who(rules: Rules, where: str, who: str) -> Iterator[str]:
    kind, separator, switch = who.partition(":")
    if not who:
        yield f'{where}: it does not say who is asked (who = "actor", for example, or "{GM}")'
    elif separator and kind != "switch":
        yield f"{where}: who = {who!r} is neither a role nor switch:NAME"
    elif separator and switch not in rules.file.switches:
        yield unknown("switch", switch, rules.file.switches, of=f"{where}: the ruleset")


def _effects(rules: Rules, where: str, effects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    registered = rules.ruleset.effects
    for effect in effects:
        kind = effect.get("kind")
        if not isinstance(kind, str):
            yield f"{where}: an effect without a kind: {dict(effect)!r}"
        elif kind not in registered:
            fault = f"{where}: the kind of effect {kind!r} has no function in the code"
            yield _missing(fault, kind, registered, f'@ruleset.effect("{kind}")')
        yield from _conditions(rules, where, effect.get("when", {}), effect.get("unless", {}))


def _conditions(rules: Rules, where: str, *conditions: Any) -> Iterator[str]:
    """A margin is compared with a number, a switch with one of its choices; facts are the rule's own business."""
    for condition in conditions:
        if not isinstance(condition, Mapping):
            yield f"{where}: a condition is a table such as {{ margin-from = 1 }}, not {condition!r}"
            continue
        for key, wanted in condition.items():
            values = wanted if isinstance(wanted, list) else [wanted]
            if key in MARGIN_BOUNDS:
                if not isinstance(wanted, int) or isinstance(wanted, bool):
                    yield f"{where}: {key} is a whole number, not {wanted!r}"
            elif key in rules.file.switches:
                choices = rules.file.switches[key].choices
                yield from (
                    unknown("choice", str(value), choices, of=f"{where}: the switch {key}")
                    for value in values
                    if value not in choices
                )


# ---------------------------------------------------------------------------------------------------------------------
# Sheets


def _sheet_fields(rules: Rules) -> Iterator[str]:
    for name, field in rules.file.sheet.items():
        where = f"sheet.{name}"
        if field.track and field.track not in rules.file.tracks:
            yield unknown("track", field.track, rules.file.tracks, of=f"{where}: the ruleset")
        if field.kind == "written" and not field.track:
            yield f"{where}: it has to say on which track = ... it is written"
        if field.kind == "tags" and not field.tag:
            yield f"{where}: it has to say of which kind its tags are (tag = ...)"
        for key, inner in field.fields.items():
            if inner.kind == "choice" and not inner.choices:
                yield f"{where}.fields.{key}: a choice without choices"


def _sheets(rules: Rules) -> Iterator[str]:
    """The ruleset's own characters can sit down."""
    from rpgres.sheets import read_sheet

    for folder in rules.folders:
        for path in sorted((folder / "sheets").glob("*.toml")):
            yield from _faults("", lambda path=path: read_sheet(rules, str(path.absolute())))  # type: ignore[misc]
