"""Diagnostics of a ruleset's TOML and code: whether they fit together.

This reads every outcome table, which no ordinary command needs to; it is imported when overlays are in use, and by
`ruleset check`, `plugin list` and `plugin check`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import msgspec

from rpgres.errors import FileError, RpgresError, enumerated
from rpgres.lint.actions import description_faults
from rpgres.lint.bands import newest, range_faults
from rpgres.lint.conditions import switch_faults
from rpgres.lint.decks import deck_diagnostics, pile_faults
from rpgres.lint.formulas import bounds_faults, missing
from rpgres.lint.kits import kit_faults
from rpgres.lint.named_spans import span_of_bands
from rpgres.lint.outcomes import roles_of, row_diagnostics, undescribed, unregistered
from rpgres.lint.overlays import setting_faults, stray_diagnostics
from rpgres.lint.reachable import reach_faults, unmet_rows
from rpgres.lint.tables import table_faults
from rpgres.lint.unused import house_rule_faults, unused_faults
from rpgres.parameters.examples import SHARED
from rpgres.parameters.kinds import kind_of
from rpgres.rulesets.actions import Action, Parameter
from rpgres.rulesets.folders import located_in
from rpgres.rulesets.rules import Rules, dice_of
from rpgres.rulesets.schema import DONE_ON, DONE_WITH, RESERVED
from rpgres.toml.diagnostics import Diagnostic, Fault, KeyPath, diagnostics_error, unknown_name

# What the commands that resolve an action take for themselves.
COMMON_OPTIONS = {*SHARED, "action", "as", "help", "ruleset", "sheet", "switches", "version"}
COMMON_OPTIONS |= {"leaves", "policies", "seconds"}  # of odds, scenes and requests
COMMON_OPTIONS |= {"actor", "each-run", "real-dice", "table", "wait"}  # of rolls and tables


def data_diagnostics(rules: Rules) -> list[Diagnostic]:
    """Return what is wrong with a ruleset's rules; nothing when data, overlays and code fit together.

    Sheets and scenes are no rules; they are judged elsewhere.
    """
    texts = rules.layers.parts
    found = [
        one if isinstance(one, Diagnostic) else located_in(texts, one) for check in _CHECKS for one in check(rules)
    ]
    return list({_key(diagnostic): diagnostic for diagnostic in found}.values())


def _key(diagnostic: Diagnostic) -> tuple[str, str, str]:
    return diagnostic.file, diagnostic.key, diagnostic.message


def check_overlaid(rules: Rules) -> None:
    """Make sure that overlays have done no harm. What was wrong without them is not theirs and is let be.

    Of a ruleset of data alone everything is reported: its user is often its author.

    Raises:
        FileError: all problems at once, each with its file and line.
    """
    found = data_diagnostics(rules)
    if not found:
        return
    before = _own(rules) if not rules.file.standalone else set()
    parts = [_blamed(rules, diagnostic) for diagnostic in found if _key(diagnostic) not in before]
    if parts:
        raise diagnostics_error(parts)


def _own(rules: Rules) -> set[tuple[str, str, str]]:
    try:
        return {_key(diagnostic) for diagnostic in data_diagnostics(rules.without_overlays())}
    except FileError:
        return set()  # it takes the overlays to make it readable


def _blamed(rules: Rules, its: Diagnostic) -> Diagnostic:
    """Return a diagnostic of the ruleset's own files with the overlays named that brought it about."""
    overlays = rules.layers.overlays
    if not overlays or not its.file or rules.layers.is_overlaid(its.file):
        return its
    return msgspec.structs.replace(its, message=f"{its.message} (with {' and '.join(overlays)} as overlay)")


# ---------------------------------------------------------------------------------------------------------------------
# Bands and dice


def _bands(rules: Rules) -> Iterator[Fault]:
    """Every whole number falls into exactly one band, if any band has margins at all."""
    bands = rules.file.bands
    unopposed = [name for name, band in bands.items() if band.unopposed]
    if len(unopposed) > 1:
        path = newest(rules, [("bands", name, "unopposed") for name in unopposed])
        told = f"several bands are unopposed: {', '.join(unopposed)}"
        yield Fault("margin-overlap", path, told)
    for name, band in bands.items():
        at, other = ("bands", name, "also"), bands.get(band.also)
        if band.also and other is None:
            yield missing(at, "band", band.also, bands)
        elif other is not None and other.also:
            message = f"{band.also} is itself also {other.also}; `also` cannot be chained"
            yield Fault("inconsistent", at, message)
        elif other is not None and {band.success, other.success} == {True, False}:
            message = f"of {name} and {band.also} one is a success and the other a failure"
            yield Fault("inconsistent", at, message)
    yield from range_faults(rules, within=span_of_bands(rules))
    yield from _ends(rules)


def _ends(rules: Rules) -> Iterator[Fault]:
    """The best and the worst outcomes with bounds are no ties, where any of these is a success or a failure."""
    bands = rules.file.bands
    if not rules.file.standalone or all(band.success is None for band in bands.values()):
        return
    is_measured = any(band.has_bounds and band.success is not None for band in bands.values())
    for name, band in bands.items():
        also = bands.get(band.also)
        is_end = is_measured and (band.from_ is None) != (band.to is None)
        if band.success is None and (is_end or (also is not None and also.success is not None)):
            message = "`success` is missing (true or false); without it the band is a tie"
            yield Fault("incomplete", ("bands", name), message)


def _dice(rules: Rules) -> Iterator[Fault]:
    if rules.file.dice:
        try:
            _ = rules.dice
        except RpgresError as error:
            yield Fault("bad-dice", ("dice",), error.message)
            return
    for label, declared in rules.file.labels.items():
        if declared.dice and declared.kind != "chance":
            yield Fault("useless", ("labels", label, "dice"), "only chance has dice; this is a decision")
        try:
            dice_of(rules, label)
        except RpgresError as error:
            yield Fault("bad-dice", ("labels", label, "dice"), error.message)


# ---------------------------------------------------------------------------------------------------------------------
# Actions and what they take


def _parameters(rules: Rules) -> Iterator[Fault]:
    for key, parameter in rules.file.parameters.items():
        at = ("parameters", key)
        names: list[tuple[KeyPath, str]] = [(((*at, "name") if parameter.name else at), parameter.name or key)]
        names += [((*at, "aliases", number), alias) for number, alias in enumerate(parameter.aliases)]
        for path, name in names:
            if name in COMMON_OPTIONS:
                message = f"every action has an option {name!r}; use another name"
                yield Fault("taken-name", path, message)
        yield from kind_of(parameter).faults(at, parameter)
        yield from bounds_faults(at, parameter)
        if parameter.kind != "form" and parameter.fields:
            yield Fault("useless", (*at, "fields"), "only parameters of the kind 'form' have fields")
        for name, field in parameter.fields.items():
            yield from bounds_faults((*at, "fields", name), field)


def _settings(rules: Rules) -> Iterator[Fault]:
    """Every setting that is explained is there."""
    for path in rules.file.settings_notes:
        if rules.file.setting(path) is None:
            message = f"there is no setting {path!r} to explain"
            yield Fault("unknown-name", ("settings-notes", path), message)


def _actions(rules: Rules) -> Iterator[Fault]:
    code, data = rules.ruleset.actions, rules.file.actions
    if not data:
        yield Fault("incomplete", ("actions",), "it has no actions")
    for name, action in data.items():
        if name in code and action.is_described:
            message = "it has both `dice` and a rule in the code; remove one of them"
            yield Fault("inconsistent", ("actions", name, "dice"), message)
        is_data = rules.file.standalone and name not in rules.file.tables
        if is_data and not action.is_described and not _stands(rules, action):
            message = "it has neither `dice` nor an outcome table of one row"
            yield Fault("incomplete", ("actions", name), message)
        if action.procedure != (name in rules.ruleset.procedures) and name in code:
            message = "the data and the code differ on whether it is a procedure (@ruleset.procedure)"
            yield Fault("inconsistent", ("actions", name, *(["procedure"] if action.procedure else [])), message)
        if name not in code and not rules.is_described(name):
            by = f'procedure("{name}", turn=...)' if action.procedure else f'action("{name}")'
            message = f"actions.{name} has no rule in the code (@ruleset.{by})"
            yield Fault("no-code", ("actions", name), message, name, tuple(code))
    for name in code:
        if name not in data:
            message = f"the rule {name!r} has no data ([actions.{name}])"
            yield Fault("no-data", ("actions",), message, name, tuple(data))
    tables = rules.layers.table_names()
    for name, action in data.items():
        yield from _action(rules, name, action, tables)


def _stands(rules: Rules, action: Action) -> bool:
    """Tell whether the outcome of an action without a roll is defined."""
    if any(band.unopposed for band in rules.file.bands.values()):
        return True
    try:
        return all(len(rules.table(name)) == 1 for name in action.tables)
    except FileError:
        return True  # told elsewhere


def _action(rules: Rules, name: str, action: Action, tables: Collection[str]) -> Iterator[Fault]:
    at = ("tables" if name in rules.file.tables else "actions", name)
    lists: tuple[tuple[str, str, list[str], Iterable[str]], ...] = (
        ("parameters", "parameter", action.parameters, rules.file.parameters),
        ("labels", "label", action.labels, rules.file.labels),
        ("tables", "outcome table", action.tables, tables),
    )
    for key, what, named, known in lists:
        for number, one in enumerate(named):
            if one not in known and not (key == "tables" and one == name and rules.is_described(one)):
                yield missing((*at, key, number), what, one, known)
    if not all(key in rules.file.parameters for key in action.parameters):
        return
    parameters = rules.parameters(name)
    for number, needed in enumerate(action.required):
        if needed not in parameters:
            yield missing((*at, "required", number), "parameter", needed, parameters)
        elif parameters[needed].default is not None and _is_always_required(rules, parameters[needed]):
            told = f"{needed} is required, so its default is never used; remove one of them"
            yield Fault("inconsistent", (*at, "required", number), told)
    for message in _doubles(action, parameters):
        yield Fault("taken-name", (*at, "parameters"), message)
    if name in rules.ruleset.actions:
        yield from _signature(rules, name, parameters)


def _is_always_required(rules: Rules, parameter: Parameter) -> bool:
    """Tell whether no action lets a parameter be left out."""
    return all(
        name in action.required
        for key, action in rules.file.actions.items()
        for name, its in rules.parameters(key).items()
        if its is parameter
    )


def _doubles(action: Action, parameters: Mapping[str, Parameter]) -> Iterator[str]:
    if len(parameters) < len(set(action.parameters)):
        yield "two of its parameters have the same name"
    owners: dict[str, str] = {}
    for name, parameter in parameters.items():
        for alias in (name, *parameter.aliases):
            if owners.setdefault(alias, name) != name:
                yield f"{alias!r} means both {owners[alias]} and {name}"


def _signature(rules: Rules, name: str, parameters: Mapping[str, Parameter]) -> Iterator[Fault]:
    import inspect

    # Tags and counters are placed on the table and are no arguments.
    arguments = [key.replace("-", "_") for key, its in parameters.items() if its.is_argument]
    try:
        signature = inspect.signature(rules.ruleset.actions[name])
    except (TypeError, ValueError):
        return  # something callable that does not tell what it takes
    try:
        signature.bind(None, None, **dict.fromkeys(arguments))
    except TypeError as error:
        takes = ", ".join(["table", "actor", *arguments])
        message = f"the rule {name!r} is called with ({takes}), and does not accept that: {error}"
        yield Fault("signature", ("actions", name, "parameters"), message)
        return
    for number, (key, its) in enumerate(parameters.items()):
        taken = signature.parameters.get(key.replace("-", "_"))
        is_left_out = its.default is None and key not in rules.file.actions[name].required
        if its.is_argument and is_left_out and taken is not None and taken.default is taken.empty:
            message = f"{key} can be left out, so the rule {name!r} needs a default: {taken.name}=None or another"
            yield Fault("signature", ("actions", name, "parameters", number), message)


def _names(rules: Rules) -> Iterator[Fault]:
    """What the data describe of the code is there."""
    code = rules.ruleset
    for name in rules.file.effects:
        if rules.effect_function(name) is None:
            yield undescribed(rules, ("effects", name), name)
    for name in rules.file.policies:
        if name in code.policies:
            continue
        if rules.file.standalone:
            message = "a policy needs code, which this ruleset does not have; use `prefer` for an order of preference"
            yield Fault("useless", ("policies", name), message)
        else:
            yield unregistered(("policies", name), f"the policy {name!r}", name, code.policies, "policy")
    for name in rules.file.windows:
        if name not in code.windows:
            yield unregistered(("windows", name), f"the window {name!r}", name, code.windows, "window")


def _effects(rules: Rules) -> Iterator[Fault]:
    """Yield a diagnostic for each kind of effect with a missing or an unused field."""
    for kind, described in rules.file.effects.items():
        at, needed = ("effects", kind), DONE_ON.get(described.does, "")
        for key, fields in (("values", described.values), ("numbers", described.numbers)):
            for field in fields:
                if field not in described.known:
                    yield Fault("unknown-name", (*at, key), f"it has no field {field!r}", field, described.known)
        if needed and not getattr(described, needed):
            declared = enumerated([*rules.file.tracks]) if needed == "track" else ""
            message = f'does = "{described.does}" needs {needed} = ...{declared and f"; the tracks are: {declared}"}'
            yield Fault("incomplete", at, message)
        elif needed == "track" and described.track not in rules.file.tracks:
            yield missing((*at, "track"), "track", described.track, rules.file.tracks)
        for key in dict.fromkeys(DONE_ON.values()):
            if described.does and key != needed and getattr(described, key):
                message = f'it has no effect here: does = "{described.does}" uses no {key}'
                yield Fault("useless", (*at, key), message)
        done_with = DONE_WITH.get(described.does, ())
        for field in described.fields if done_with else ():
            if field not in done_with:
                message = f'does = "{described.does}" has no field {field!r}'
                yield unknown_name((*at, "fields", field), message, field, done_with, there="it knows")


# ---------------------------------------------------------------------------------------------------------------------
# Labels, tracks and sheets


def _labels(rules: Rules) -> Iterator[Fault]:
    roles = roles_of(rules)
    for name, label in rules.file.labels.items():
        at, is_own = _place_of_label(rules, name)
        if name in RESERVED:
            yield Fault("taken-name", at, "this label is reserved by rpgres")
        elif label.fields and label.kind == "chance":
            yield Fault("useless", at, "only a decision can have fields")
        if is_own and rules.file.standalone and label.who and label.who not in roles:
            yield missing((*at, "who"), "role", label.who, roles)


def _place_of_label(rules: Rules, name: str) -> tuple[KeyPath, bool]:
    """Return the key path of a label, and whether it is one of `[labels]`: actions with dice imply others."""
    for action, its in rules.file.actions.items():
        for key, named in (("ask", its.ask), ("dice", its.groups)):
            if name in named:
                return ("actions", action, key, name), False
    return ("labels", name), True


def _tracks(rules: Rules) -> Iterator[Fault]:
    for name, track in rules.file.tracks.items():
        yield from switch_faults(rules, ("tracks", name, "when"), track.when)
        for number, more in enumerate(track.more):
            yield from switch_faults(rules, ("tracks", name, "more", number, "when"), more.when)


def _sheet_fields(rules: Rules) -> Iterator[Fault]:
    for name, field in rules.file.sheet.items():
        at = ("sheet", name)
        yield from bounds_faults(at, field)
        if field.track and field.track not in rules.file.tracks:
            yield missing((*at, "track"), "track", field.track, rules.file.tracks)
        if field.kind == "written" and not field.track:
            yield Fault("incomplete", at, "track = NAME is missing")
        if field.kind == "tags" and not field.tag:
            yield Fault("incomplete", at, "the kind of its tags is missing (tag = KIND)")
        for key, inner in field.fields.items():
            yield from kind_of(inner).faults((*at, "fields", key), inner)


# Faults are in `ruleset.toml` and its overlays; diagnostics are in files of any name.
_CHECKS: tuple[Callable[[Rules], Iterator[Fault] | Iterator[Diagnostic]], ...] = (
    _bands,
    _dice,
    _parameters,
    _actions,
    _names,
    _effects,
    _settings,
    kit_faults,
    setting_faults,
    description_faults,
    reach_faults,
    unmet_rows,
    row_diagnostics,
    table_faults,
    _labels,
    _tracks,
    _sheet_fields,
    deck_diagnostics,
    pile_faults,
    house_rule_faults,
    stray_diagnostics,
    unused_faults,
)
