"""Whether a ruleset's TOML and code fit together, each fault with its file and line. Outcome tables: see `rows`.

This reads every outcome table, which no ordinary command needs to; it is imported when overlays are in use, and by
`ruleset check`, `plugin list` and `plugin check`.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import msgspec

from rpgres.errors import FileError, RpgresError
from rpgres.lint.actions import description_problems
from rpgres.lint.bands import newest, range_problems, turned_problems
from rpgres.lint.decks import laying_problems, switch_problems
from rpgres.lint.outcomes import missing, roles_of, row_problems, undescribed, unregistered
from rpgres.lint.overlays import stray_problems
from rpgres.lint.reachable import reach_problems
from rpgres.lint.unused import unused_problems
from rpgres.rulesets.provenance import Path, problem_at
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.schema import CLAIM, DONE_ON, DONE_WITH, Action, FormField, Parameter
from rpgres.toml.reading import Problem, nearest, problem_error

# What the commands that resolve an action take for themselves.
COMMON_OPTIONS = frozenset(
    "action as auto choose debug exit-code given help json leaves note plain policies policy repeat ruleset rulesets "  # noqa: SIM905
    "seconds seed sheet switch switches version".split()
)


def data_problems(rules: Rules) -> list[Problem]:
    """Return what is wrong with a ruleset's rules; nothing when data, overlays and code fit together.

    Sheets and scenes are no rules; they are judged elsewhere.
    """
    checks: tuple[Callable[[Rules], Iterable[Problem]], ...] = (
        _bands,
        _dice,
        _parameters,
        _actions,
        _names,
        _effects,
        _settings,
        description_problems,
        reach_problems,
        row_problems,
        _sheet_fields,
        laying_problems,
        stray_problems,
        unused_problems,
    )
    return list({_key(problem): problem for check in checks for problem in check(rules)}.values())


def _key(problem: Problem) -> tuple[str, str, str]:
    return problem.file, problem.key, problem.message


def check_overlaid(rules: Rules) -> None:
    """Make sure that overlays have done no harm. What was wrong without them is not theirs and is let be.

    Of a ruleset that is data alone everything is told: whoever uses it may well be writing it.

    Raises:
        FileError: all problems at once, each with its file and line.
    """
    found = data_problems(rules)
    if not found:
        return
    before = _own_problems(rules) if not rules.file.standalone else set()
    told = [_blamed(rules, problem) for problem in found if _key(problem) not in before]
    if told:
        raise problem_error(told)


def _own_problems(rules: Rules) -> set[tuple[str, str, str]]:
    try:
        return {_key(problem) for problem in data_problems(rules.without_overlays())}
    except FileError:
        return set()  # it takes the overlays to make it readable


def _blamed(rules: Rules, problem: Problem) -> Problem:
    """Return a problem that shows in the ruleset's own files with the overlays named that brought it about."""
    place, overlays = pathlib.Path(problem.file), rules.layers.overlays
    if not overlays or not problem.file or any(place.is_relative_to(folder) for folder in overlays):
        return problem
    said = f"{problem.message} (with {' and '.join(overlays)} laid over it)"
    return msgspec.structs.replace(problem, message=said)


# ---------------------------------------------------------------------------------------------------------------------
# Bands and dice


def _bands(rules: Rules) -> Iterator[Problem]:
    """Every whole number falls into exactly one band, if any band has margins at all."""
    bands, texts = rules.file.bands, rules.layers.texts()
    unopposed = [name for name, band in bands.items() if band.unopposed]
    if len(unopposed) > 1:
        path = newest(rules, [("bands", name, "unopposed") for name in unopposed])
        yield problem_at(texts, path, f"more than one of the bands is unopposed: {', '.join(unopposed)}")
    for name, band in bands.items():
        if band.also and band.also not in bands:
            yield missing(texts, ("bands", name, "also"), "band", band.also, bands)
        elif band.also and bands[band.also].also:
            message = f"{band.also} is itself also {bands[band.also].also}; a band is one other at most"
            yield problem_at(texts, ("bands", name, "also"), message)
        elif band.also and {band.success, bands[band.also].success} == {True, False}:
            message = f"of {name} and {band.also} one is a success and the other a failure, so it cannot be both"
            yield problem_at(texts, ("bands", name, "also"), message)
    plain = {name: band for name, band in bands.items() if not band.is_exception}
    yield from range_problems(rules, ("bands",), plain)
    yield from turned_problems(rules, ("bands",), bands)
    yield from _ends(rules)


def _ends(rules: Rules) -> Iterator[Problem]:
    """The best and the worst of a ruleset's outcomes are no ties, where any is said to be a success or a failure."""
    bands = rules.file.bands
    if not rules.file.standalone or all(band.success is None for band in bands.values()):
        return
    for name, band in bands.items():
        also = bands.get(band.also)
        is_end = (band.from_ is None) != (band.to is None) and not band.is_exception
        if band.success is None and (is_end or (also is not None and also.success is not None)):
            told = "it does not say whether it is a success (success = true, or false); left out, it is a tie"
            yield problem_at(rules.layers.texts(), ("bands", name), told)


def _dice(rules: Rules) -> Iterator[Problem]:
    if rules.file.dice:
        try:
            _ = rules.dice
        except RpgresError as error:
            yield problem_at(rules.layers.texts(), ("dice",), error.message)


# ---------------------------------------------------------------------------------------------------------------------
# Actions and what they take


def _parameters(rules: Rules) -> Iterator[Problem]:
    for key, parameter in rules.file.parameters.items():
        for path, message in _parameter_faults(key, parameter):
            yield problem_at(rules.layers.texts(), ("parameters", key, *path), message)


_KINDS = {"integer": "a whole number", "counter": "a counter", "flag": "a flag"}


def _bound_faults(low: int | None, high: int | None, default: object) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with bounds and a default between them."""
    if low is not None and high is not None and low > high:
        yield ("at-least",), f"at least {low} and at most {high} is no number"
    elif type(default) is int and ((low is not None and default < low) or (high is not None and default > high)):
        yield ("default",), f"the default {default} is not within its own bounds"


def _parameter_faults(key: str, parameter: Parameter) -> Iterator[tuple[Path, str]]:
    names: list[tuple[Path, str]] = [(("name",) if parameter.name else (), parameter.name or key)]
    names += [(("aliases", number), alias) for number, alias in enumerate(parameter.aliases)]
    for path, name in names:
        if name in COMMON_OPTIONS:
            yield path, f"every action has an option {name!r} of its own; call it something else"
    yield from _value_faults(parameter)
    if (parameter.kind == "form") != bool(parameter.fields):
        told = "a form without fields" if parameter.kind == "form" else "only a form has fields"
        yield (() if parameter.kind == "form" else ("fields",)), told
    for name, field in parameter.fields.items():
        if name == "name":
            yield ("fields", name), "`name` is what stands before the colon; call it something else"
        if field.required and field.default is not None:
            yield ("fields", name, "default"), "what has to be given has no use for a default"
        yield from ((("fields", name, *path), told) for path, told in _value_faults(field))
    for kind, needed in (("tag", parameter.tag), ("counter", parameter.counter)):
        if parameter.kind == kind and not needed:
            yield (), f"of the kind {kind!r}, it has to say which {kind} = ... it is about"


def _value_faults(described: Parameter | FormField) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with the values that a parameter, or a field of one, may have."""
    default, kind = described.default, described.kind
    if kind == "choice" and not described.choices:
        yield (), "a choice without choices"
    if kind == "choice" and default is not None and default not in described.choices:
        yield ("default",), f"the default {default!r} is none of the choices"
    yield from _bound_faults(described.at_least, described.at_most, default)
    if default is not None and kind in ("integer", "counter") and type(default) is not int:
        yield ("default",), f"the default of {_KINDS[kind]} is a whole number, not {default!r}"
    if default is not None and kind == "flag" and type(default) is not bool:
        yield ("default",), f"the default of {_KINDS[kind]} is true or false, not {default!r}"


def _settings(rules: Rules) -> Iterator[Problem]:
    """Every setting that is explained is there."""
    for path in rules.file.settings_notes:
        if rules.file.setting(path) is None:
            yield problem_at(
                rules.layers.texts(), ("settings-notes", path), f"there is no setting {path!r} to be explained"
            )


def _actions(rules: Rules) -> Iterator[Problem]:
    code, data = rules.ruleset.actions, rules.file.actions
    texts, file_alone = rules.layers.texts(), rules.file.standalone
    if not data:
        yield problem_at(texts, ("actions",), "it has no actions")
    for name in data:
        if name in code and data[name].roll:
            message = "it is described (`roll`), and has a rule in the code too; one of the two has to go"
            yield problem_at(texts, ("actions", name, "roll"), message)
        if file_alone and not data[name].roll and not _stands(rules, data[name]):
            message = "it says neither what is rolled (roll) nor, in a table of one row, what comes of it"
            yield problem_at(texts, ("actions", name), message)
        if name not in code and not rules.is_described(name):
            near = nearest(name, code) or ""
            message = f'actions.{name} has no rule in the code (@ruleset.action("{name}"))'
            yield problem_at(texts, ("actions", name), message, hint=near)
    for name in code:
        if name not in data:
            message = f"the rule {name!r} has no data ([actions.{name}])"
            yield problem_at(texts, ("actions",), message, hint=nearest(name, data) or "")
    tables = {one: None for one in rules.layers.table_names() if _has_table(rules, one)}
    for name, action in data.items():
        yield from _action(rules, name, action, tables)


def _stands(rules: Rules, action: Action) -> bool:
    """Tell whether it is clear what comes of an action that rolls nothing."""
    if any(band.unopposed for band in rules.file.bands.values()):
        return True
    try:
        return all(len(rules.table(name)) == 1 for name in action.tables)
    except FileError:
        return True  # told elsewhere


def _action(rules: Rules, name: str, action: Action, tables: Collection[str]) -> Iterator[Problem]:
    at, texts = ("actions", name), rules.layers.texts()
    lists: tuple[tuple[str, str, list[str], Iterable[str]], ...] = (
        ("parameters", "parameter", action.parameters, rules.file.parameters),
        ("labels", "label", action.labels, rules.file.labels),
        ("tables", "outcome table", action.tables, tables),
    )
    for key, what, named, known in lists:
        for number, one in enumerate(named):
            if one not in known and not (key == "tables" and one == name and rules.may_lack(one)):
                yield missing(texts, (*at, key, number), what, one, known)
    if not all(key in rules.file.parameters for key in action.parameters):
        return
    parameters = rules.parameters(name)
    for number, needed in enumerate(action.required):
        if needed not in parameters:
            yield missing(texts, (*at, "required", number), "parameter", needed, parameters)
        elif parameters[needed].default is not None and _is_always_required(rules, parameters[needed]):
            told = f"{needed} has a default, which is never taken where it has to be typed; one of the two has to go"
            yield problem_at(texts, (*at, "required", number), told)
    for message in _doubles(action, parameters):
        yield problem_at(texts, (*at, "parameters"), message)
    if name in rules.ruleset.actions:
        yield from _signature(rules, name, parameters)


def _is_always_required(rules: Rules, parameter: Parameter) -> bool:
    """Tell whether no action lets a parameter be left out."""
    actions = rules.file.actions
    taken = [(action, name) for action in actions for name, its in rules.parameters(action).items() if its is parameter]
    return all(name in actions[action].required for action, name in taken)


def _has_table(rules: Rules, name: str) -> bool:
    try:
        return bool(rules.layers.table_texts(name))
    except FileError:
        return True  # there is one, and that it cannot be read is told elsewhere


def _doubles(action: Action, parameters: Mapping[str, Parameter]) -> Iterator[str]:
    if len(parameters) < len(set(action.parameters)):
        yield "two of its parameters have one name"
    owners: dict[str, str] = {}
    for name, parameter in parameters.items():
        for alias in (name, *parameter.aliases):
            if owners.setdefault(alias, name) != name:
                yield f"{alias!r} means both {owners[alias]} and {name}"


def _signature(rules: Rules, name: str, parameters: Mapping[str, Parameter]) -> Iterator[Problem]:
    import inspect

    # Tags and counters are laid on the table and are no arguments.
    arguments = [key.replace("-", "_") for key, its in parameters.items() if its.is_argument]
    try:
        signature = inspect.signature(rules.ruleset.actions[name])
    except (TypeError, ValueError):
        return  # something callable that does not tell what it takes
    try:
        signature.bind(None, None, **dict.fromkeys(arguments))
    except TypeError as error:
        takes = ", ".join(["table", "actor", *arguments])
        message = f"the rule {name!r} is called with ({takes}), as this says, and does not fit: {error}"
        yield problem_at(rules.layers.texts(), ("actions", name, "parameters"), message)


def _names(rules: Rules) -> Iterator[Problem]:
    """What the data describe of the code is there."""
    code, texts = rules.ruleset, rules.layers.texts()
    for name in rules.file.effects:
        if rules.effect_function(name) is None:
            yield undescribed(rules, texts, ("effects", name), name)
    for name in rules.file.policies:
        if rules.file.standalone:
            told = "a policy is code, and a ruleset of data alone has none; `prefer` says what is liked"
            yield problem_at(texts, ("policies", name), told)
        elif name not in code.policies:
            yield unregistered(texts, ("policies", name), f"the policy {name!r}", name, code.policies, "policy")
    for kind, described in rules.file.effects.items():
        for key, fields in (("values", described.values), ("numbers", described.numbers)):
            for field in fields:
                if field not in described.known:
                    near = nearest(field, described.known) or ""
                    yield problem_at(texts, ("effects", kind, key), f"it has no field {field!r}", hint=near)


def _effects(rules: Rules) -> Iterator[Problem]:
    """Yield what kinds of effect whose data say what they do leave out, or say in vain."""
    texts = rules.layers.texts()
    for kind, described in rules.file.effects.items():
        at, needed = ("effects", kind), DONE_ON.get(described.does, "")
        if needed and not getattr(described, needed):
            yield problem_at(texts, at, f'does = "{described.does}" needs {needed} = ..., on which it is done')
        elif needed == "track" and described.track not in rules.file.tracks:
            yield missing(texts, (*at, "track"), "track", described.track, rules.file.tracks)
        for key in dict.fromkeys(DONE_ON.values()):
            if described.does and key != needed and getattr(described, key):
                told = f'it says nothing here: does = "{described.does}" is done on no {key}'
                yield problem_at(texts, (*at, key), told)
        done_with = DONE_WITH.get(described.does, ())
        for field in described.fields if done_with else ():
            if field not in done_with:
                near = nearest(field, done_with) or ""
                has = "" if near else f"; it knows {', '.join(done_with)}"
                told = f'does = "{described.does}" knows no {field!r}{has}'
                yield problem_at(texts, (*at, "fields", field), told, hint=near)


def _sheet_fields(rules: Rules) -> Iterator[Problem]:
    texts = rules.layers.texts()
    for name, label in rules.file.labels.items():
        roles = roles_of(rules)
        if name == CLAIM or (label.fields and label.kind == "chance"):
            told = "rpgres asks under this label itself" if name == CLAIM else "only a decision has fields"
            yield problem_at(texts, ("labels", name), told)
        if rules.file.standalone and label.who and label.who not in roles:
            yield missing(texts, ("labels", name, "who"), "role", label.who, roles)
    for name, track in rules.file.tracks.items():
        yield from switch_problems(rules, ("tracks", name, "when"), track.when)
        for number, more in enumerate(track.more):
            yield from switch_problems(rules, ("tracks", name, "more", number, "when"), more.when)
    for name, field in rules.file.sheet.items():
        at = ("sheet", name)
        for path, message in _bound_faults(field.at_least, field.at_most, field.default):
            yield problem_at(texts, (*at, *path), message)
        if field.track and field.track not in rules.file.tracks:
            yield missing(texts, (*at, "track"), "track", field.track, rules.file.tracks)
        if field.kind == "written" and not field.track:
            yield problem_at(texts, at, "it has to say on which track = ... it is written")
        if field.kind == "tags" and not field.tag:
            yield problem_at(texts, at, "it has to say of which kind its tags are (tag = ...)")
        for key, inner in field.fields.items():
            if inner.kind == "choice" and not inner.choices:
                yield problem_at(texts, (*at, "fields", key), "a choice without choices")
            elif inner.kind == "choice" and inner.default is not None and inner.default not in inner.choices:
                told = f"the default {inner.default!r} is none of the choices"
                yield problem_at(texts, (*at, "fields", key, "default"), told)
