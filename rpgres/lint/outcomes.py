"""What is wrong with outcome tables and menus: questions, effects, conditions. Actions are judged elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from rpgres.errors import FileError, NotationError
from rpgres.model.state import EMPTY, ROLES
from rpgres.rulesets.numbers import (
    described_actions,
    dice_names,
    has_any_ability,
    number_names,
)
from rpgres.rulesets.provenance import Path, Text, problem_at, problems_in, read_as
from rpgres.rulesets.rows import Formula, Id, OutcomeTable, RowOption, RowQuestion, bounded, templates
from rpgres.rulesets.rules import BOUNDS, NUMBER, Rules, unknown
from rpgres.rulesets.schema import DONE_WITH, EffectText
from rpgres.rulesets.templates import fill, joined, misnamed, names_in
from rpgres.text.harmless import in_line
from rpgres.toml.reading import Problem, nearest

Menus = Mapping[str, RowQuestion]

MARGIN_BOUNDS = ("margin-from", "margin-to")  # what a condition says of the margin
CONDITIONS = ("when", "unless")
HOLDERS = ("to", "by", "who")  # the fields of an effect that name somebody by role
# Without these fields nobody can tell what an effect would change.
_NEEDED = {"counter": ("change",), "untag": ("name",), "mark": ("to",), "clear": ("to",), "out": ("to",)}

# A text that can only have been meant to speak of the margin; a name would begin with a capital.
_MEANT_MARGIN = re.compile(r"^\s*[+-]?\s*(marg\w*|mrgin|magin|margni)\s*([-+*/].*)?$")


class Scope(NamedTuple):
    """What may be named in one place.

    Attributes:
        numbers: the whole numbers that conditions and effects may speak of.
        dice: the names that dice may have in braces.
        choices: what the choices among these come to in dice.
        rolled: the labels of what an outcome rolls, which are among both.
        is_open: whether other names may stand for abilities that nobody lists.
    """

    numbers: frozenset[str] = frozenset()
    dice: frozenset[str] = frozenset()
    choices: Mapping[str, Sequence[str]] = EMPTY
    rolled: frozenset[str] = frozenset()
    is_open: bool = False

    def plus(self, labels: Iterable[str]) -> Scope:
        """Return the scope of what comes after something was rolled under these labels."""
        more = frozenset(labels)
        return self._replace(numbers=self.numbers | more, dice=self.dice | more, rolled=self.rolled | more)


def scope_of(rules: Rules, actions: Iterable[str]) -> Scope:
    """Return what may be named where any of these actions, as far as they are described, can come to."""
    file = rules.file
    described = [action for action in actions if file.actions[action].roll]
    parameters = [item for action in described for item in file.parameters_of(action).items()]
    return Scope(
        numbers=frozenset(name for action in described for name in number_names(file, action)),
        dice=frozenset(name for action in described for name in dice_names(file, action)),
        choices={name: list(its.values.values()) for name, its in parameters if its.kind == "choice" and its.values},
        is_open=has_any_ability(file),
    )


def row_problems(rules: Rules) -> Iterator[Problem]:
    """Yield what is wrong with a ruleset's outcome tables and menus, each with its file, line and key path."""
    menus: Menus | None = None  # unknown, when they cannot be read
    try:
        menus = read_as(rules.menu_texts(), dict[Id, RowQuestion])
    except FileError as error:
        yield from problems_in(error)
    for name, menu in (menus or {}).items():
        # Which rows take it is not followed: what any of them rolls may be named.
        scope = scope_of(rules, rules.file.actions).plus(rolled_labels(rules))
        yield from _question(
            rules, rules.menu_texts(), (name,), menu, menus=menus, beside=(), of_menu=name, scope=scope
        )
    for name in dict.fromkeys(rules.table_names()):
        yield from _table(rules, name, menus)


def _table(rules: Rules, name: str, menus: Menus | None) -> Iterator[Problem]:
    try:
        texts = rules.table_texts(name)
        table: OutcomeTable = read_as(texts, OutcomeTable)
    except FileError as error:
        yield from problems_in(error)
        return
    known = scope_of(rules, rules.actions_by_table.get(name, ()))
    for band, row in table.items():
        if band not in rules.file.bands:
            yield missing(texts, (band,), "band", band, rules.file.bands)
        yield from _text(rules, texts, (band, "text"), row.text)
        yield from _rolls(texts, (band, "rolls"), row.rolls, known)
        also = rules.file.bands[band].also if band in rules.file.bands else ""
        scope = known.plus([*row.rolls, *(table[also].rolls if also in table else ())])
        yield from _effects(rules, texts, (band, "effects"), row.effects, scope)
        yield from _asked(rules, texts, (band, "ask"), row.ask, menus=menus, of_menu="", scope=scope)


def _text(rules: Rules, texts: Sequence[Text], path: Path, text: str) -> Iterator[Problem]:
    """Yield the names in braces of a text for people, which a ruleset without code has nobody to fill in."""
    for name in names_in(text) if rules.file.standalone else ():
        yield problem_at(texts, path, f"texts are shown as they stand, and nothing takes the place of {{{name}}}")


def missing(texts: Sequence[Text], path: Path, what: str, name: str, known: Iterable[str]) -> Problem:
    """Return the problem that a ruleset has nothing of a name, with the nearest, or all when they are few."""
    names = list(known)
    near = nearest(name, names)
    if near:
        return problem_at(texts, path, f"the ruleset has no {what} {name!r}", hint=near)
    return problem_at(texts, path, unknown(what, name, names, of="the ruleset"))


# ---------------------------------------------------------------------------------------------------------------------
# Questions


def _asked(
    rules: Rules,
    texts: Sequence[Text],
    path: Path,
    ask: Mapping[str, RowQuestion],
    *,
    menus: Menus | None,
    of_menu: str,
    scope: Scope,
) -> Iterator[Problem]:
    for label, question in ask.items():
        declared = rules.file.labels.get(label)
        if declared is not None and declared.kind != "decision":
            yield problem_at(texts, (*path, label), f"labels.{label} says that it is rolled, not decided")
        beside = tuple(other for other in ask if other != label)
        yield from _question(
            rules,
            texts,
            (*path, label),
            question,
            menus=menus,
            beside=beside,
            of_menu=of_menu,
            scope=scope,
            is_asked=True,
        )


def _question(
    rules: Rules,
    texts: Sequence[Text],
    path: Path,
    question: RowQuestion,
    *,
    menus: Menus | None,
    beside: Sequence[str],
    of_menu: str,
    scope: Scope,
    is_asked: bool = False,
) -> Iterator[Problem]:
    """Yield what is wrong with a question.

    Args:
        beside: the labels asked in the same place, one of which may have been meant.
        of_menu: the menu that it stands in; empty in an outcome table.
        scope: what may be named.
        is_asked: whether it is asked here; a menu itself is not.
    """
    yield from circumstance_problems(rules, texts, path, (question.when, question.unless), scope.numbers)
    if question.menu:
        if not is_asked:
            yield problem_at(texts, (*path, "menu"), "a menu may not be taken from another menu")
        elif menus is not None and question.menu not in menus:
            yield missing(texts, (*path, "menu"), "menu", question.menu, menus)
        elif menus is not None and of_menu and of_menu in _reached(question.menu, menus):
            yield problem_at(texts, (*path, "menu"), f"the menu {of_menu} asks itself again without end")
    elif not question.who and not question.text:
        hint = nearest(str(path[-1]), beside) or ""
        yield problem_at(texts, path, "nobody is asked: it has neither `who` nor `text` nor `menu`", hint=hint)
    else:
        yield from _who(rules, texts, path, question.who)
        if not question.options:
            at = (*path, "options")
            yield problem_at(texts, at, "it has no options, so nothing can be answered")
        elif len(question.options) == 1 and not question.optional and rules.file.standalone:
            told = "it has one option, so there is nothing to decide; make it `optional`, or let the row say what comes"
            yield problem_at(texts, (*path, "options"), told)
        yield from _text(rules, texts, (*path, "text"), question.text)
    for name, option in question.options.items():
        yield from _option(rules, texts, (*path, "options", name), option, menus=menus, of_menu=of_menu, scope=scope)


def _option(
    rules: Rules,
    texts: Sequence[Text],
    path: Path,
    option: RowOption,
    *,
    menus: Menus | None,
    of_menu: str,
    scope: Scope,
) -> Iterator[Problem]:
    yield from circumstance_problems(rules, texts, path, (option.when, option.unless), scope.numbers)
    yield from _text(rules, texts, (*path, "text"), option.text)
    yield from _rolls(texts, (*path, "rolls"), option.rolls, scope)
    scope = scope.plus(option.rolls)
    yield from _effects(rules, texts, (*path, "effects"), option.effects, scope)
    yield from _asked(rules, texts, (*path, "ask"), option.ask, menus=menus, of_menu=of_menu, scope=scope)


def _reached(menu: str, menus: Menus) -> set[str]:
    """Return a menu and all that it may lead to."""
    found: set[str] = set()
    open_ = [menu]
    while open_:
        name = open_.pop()
        if name in menus and name not in found:
            found.add(name)
            open_ += _named(menus[name])
    return found


def named_menus(rules: Rules) -> set[str]:
    """Return the menus that any outcome table or menu takes a question from.

    Raises:
        FileError: one of them cannot be read.
    """
    questions = list(read_as(rules.menu_texts(), dict[Id, RowQuestion]).values())
    for name in dict.fromkeys(rules.table_names()):
        table: OutcomeTable = read_as(rules.table_texts(name), OutcomeTable)
        questions += [question for row in table.values() for question in row.ask.values()]
    return {name for question in questions for name in _named(question)}


def _named(question: RowQuestion) -> Iterator[str]:
    if question.menu:
        yield question.menu
    for option in question.options.values():
        for inner in option.ask.values():
            yield from _named(inner)


def _who(rules: Rules, texts: Sequence[Text], path: Path, who: str) -> Iterator[Problem]:
    kind, separator, switch = who.partition(":")
    at = (*path, "who")
    if not who:
        yield problem_at(texts, path, 'it does not say who is asked (who = "actor", for example, or "gm")')
    elif separator and kind != "switch":
        yield problem_at(texts, at, f"who = {who!r} is neither a role nor switch:NAME")
    elif separator and switch not in rules.file.switches:
        yield missing(texts, at, "switch", switch, rules.file.switches)
    elif separator:
        strangers = [name for name in rules.file.switches[switch].choices if name not in (roles_of(rules) or (name,))]
        if strangers:
            message = f"the switch {switch} has choices that are no roles: {', '.join(strangers)}"
            yield problem_at(texts, at, message)
    elif roles_of(rules) and who not in roles_of(rules):
        yield missing(texts, at, "role", who, roles_of(rules))


# ---------------------------------------------------------------------------------------------------------------------
# Effects


def _effects(
    rules: Rules, texts: Sequence[Text], path: Path, effects: Sequence[Mapping[str, Any]], scope: Scope
) -> Iterator[Problem]:
    # A ruleset that tells no fields at all leaves them untold; in another, a kind without fields has none.
    is_told = any(described.known for described in rules.file.effects.values())
    for number, effect in enumerate(effects):
        at = (*path, number)
        conditions = (effect.get("when", {}), effect.get("unless", {}))
        yield from circumstance_problems(rules, texts, at, conditions, scope.numbers)
        kind = effect.get("kind")
        described = rules.file.effects.get(kind) if isinstance(kind, str) else None
        if not isinstance(kind, str):
            yield problem_at(texts, at, f"an effect without a kind: {dict(effect)!r}")
        elif rules.effect_function(kind) is None:
            if not (rules.file.standalone and described is not None):  # else it is told where it is described
                yield undescribed(rules, texts, (*at, "kind"), kind)
        elif described is None:
            message = f"the kind of effect {kind!r} is not described: [effects.{kind}] is missing"
            yield problem_at(texts, (*at, "kind"), message)
        else:
            fields = {key: value for key, value in effect.items() if key != "kind" and key not in CONDITIONS}
            for key in _NEEDED.get(described.does, ()):
                if key not in fields:
                    yield problem_at(texts, at, f"it does not say what it does: the effect {kind} needs `{key}`")
            yield from _fields(rules, texts, at, kind, described, fields, scope, is_told=is_told)


def _rolls(texts: Sequence[Text], path: Path, rolls: Mapping[str, Formula], scope: Scope) -> Iterator[Problem]:
    for label, template in templates(rolls).items():
        yield from template_problems(texts, (*path, label), template, scope)
        its = bounded(rolls[label])
        if its.at_least is not None and its.at_most is not None and its.at_least > its.at_most:
            told = f"at least {its.at_least} and at most {its.at_most} is no number"
            yield problem_at(texts, (*path, label, "at-least"), told)
        if label in ("roll", "opposition"):
            told = f"{label!r} is what the action itself rolls; what is rolled then needs another name"
            yield problem_at(texts, (*path, label), told)
        elif label in scope.numbers - scope.rolled:
            yield problem_at(texts, (*path, label), f"{label!r} is a number already; what is rolled needs another name")


def template_problems(texts: Sequence[Text], path: Path, template: str, scope: Scope) -> Iterator[Problem]:
    """Yield what is wrong with dice that have names in braces.

    Args:
        texts: the files.
        path: where the dice stand.
        template: the dice.
        scope: the names they may have.
    """
    wrong = misnamed(template)
    if wrong is not None:
        whose = f", and what whoever opposes has is {{opponent.{wrong.split('.')[-1]}}}" if "." in wrong else ""
        told = f"{{{wrong}}} holds no name; names are small letters, digits and hyphens{whose}"
        yield problem_at(texts, path, told)
        return
    place = joined(template)
    if place is not None:
        told = "an operator is missing before this: +, - or *; digits and names that touch would make one number"
        yield problem_at(texts, path, f"{told}\n  {template}\n  {' ' * place}^")
        return
    for name in names_in(template):
        if name not in scope.dice and not scope.is_open:
            yield missing(texts, path, "number", name, sorted(scope.dice))
    tried = (map(_unreadable, filled(template, number, scope.choices)) for number in TRIED)
    faults = [next(filter(None, found), "") for found in tried]
    if all(faults):
        yield problem_at(texts, path, faults[0])


TRIED = (6, 1, 20)  # what names stand for when dice are judged: they only have to be dice with some numbers
MOST_FILLED = 64  # combinations of choices that are tried


def filled(template: str, number: int, choices: Mapping[str, Sequence[str]]) -> list[str]:
    """Return dice with every name replaced by a number, and by each of the choices where it has some.

    >>> filled("{edge} + {stat}", 6, {"edge": ["2d6", "3d6kh2"]})
    ['2d6 + 6', '3d6kh2 + 6']
    """
    named = [name for name in names_in(template) if choices.get(name)]
    combinations = list(product(*(choices[name] for name in named)))[:MOST_FILLED]

    def text(chosen: Mapping[str, str]) -> str:
        return fill(template, lambda name: chosen.get(name, number))

    return [text(dict(zip(named, combination, strict=True))) for combination in combinations]


def _unreadable(text: str) -> str:
    """Return what is wrong with dice, with the place marked below; nothing when they can be read."""
    from rpgres.dice import dice

    try:
        dice(text)
    except NotationError as error:
        shown = in_line(error.text)
        return f"{error.message}\n  {shown}\n  {' ' * error.position}{'^' * error.length}"
    return ""


def unregistered(
    texts: Sequence[Text], path: Path, what: str, name: str, known: Iterable[str], decorator: str
) -> Problem:
    """Return the problem that the data speak of something for which the code has no function."""
    wanted = f'{what} has no function in the code (@ruleset.{decorator}("{name}"))'
    return problem_at(texts, path, wanted, hint=nearest(name, known) or "")


def undescribed(rules: Rules, texts: Sequence[Text], path: Path, kind: str) -> Problem:
    """Return the problem that nothing says what a kind of effect does: no data, and no code where there may be any."""
    known = (*rules.ruleset.effects, *rules.file.effects)
    if not rules.file.standalone:
        return unregistered(texts, path, f"the kind of effect {kind!r}", kind, known, "effect")
    if kind not in rules.file.effects:
        near = nearest(kind, known) or ""
        has = "" if near else f"; say what it is under [effects.{kind}]"
        return problem_at(texts, path, f"the ruleset has no kind of effect {kind!r}{has}", hint=near)
    said = f"nothing says what it does: does = {', '.join(map(repr, (*DONE_WITH, 'nothing')))}"
    return problem_at(texts, path, said.replace("'", '"'))


def _fields(
    rules: Rules,
    texts: Sequence[Text],
    path: Path,
    kind: str,
    described: EffectText,
    fields: Mapping[str, Any],
    scope: Scope,
    *,
    is_told: bool,
) -> Iterator[Problem]:
    for key, value in fields.items():
        at = (*path, key)
        if is_told and key not in described.known:
            hint = nearest(key, (*described.known, *CONDITIONS)) or ""
            has = "" if hint else f"; it has: {', '.join(described.known) or 'none'}"
            yield problem_at(texts, at, f"the effect {kind} has no field {key!r}{has}", hint=hint)
            continue
        fault = _fault_of(rules, kind, described, key, value, scope.numbers)
        if fault:
            yield problem_at(texts, at, fault[0], hint=fault[1])


def _fault_of(
    rules: Rules, kind: str, described: EffectText, key: str, value: Any, numbers: Iterable[str]
) -> tuple[str, str] | None:
    """Return what is wrong with an effect's value, and the nearest right one where one comes near; None for nothing."""
    match = NUMBER.match(value) if isinstance(value, str) else None
    if match is not None and match[3] == "/" and int(match[4]) == 0:
        return "nothing can be divided by 0", ""
    if match is not None and match[2] == "margin":
        return None
    if key in described.numeric:
        if match is not None and match[2] in numbers:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return None
        wanted = "a whole number, or text such as `margin`, `-margin`, `margin-1`"
        near = nearest(match[2], ["margin", *sorted(numbers)]) if match is not None else None
        return f"expected {wanted}, found {value!r}", near or _near_margin(value)
    words = described.values.get(key)
    if words is not None:
        if value in words:
            return None
        shown = ", ".join(word or '""' for word in words)
        said = f"{value!r} is none of: {shown} (effects.{kind}.values.{key})"
        return said, (nearest(value, words) or "") if isinstance(value, str) else ""
    if isinstance(value, str) and _MEANT_MARGIN.match(value):
        return f"{value!r} is no margin: it is written `margin`, `-margin`, `margin-1`", ""
    roles = roles_of(rules)
    is_scene = key == "on" and value in ("", "scene")
    if (key in HOLDERS or (key == "on" and described.does)) and roles and value not in roles and not is_scene:
        said = f"{value!r} is no role; roles are: {', '.join(roles)}"
        return said, (nearest(value, roles) or "") if isinstance(value, str) else ""
    if described.does and not isinstance(value, str):
        return f"expected text, found {value!r}", ""
    return None


def roles_of(rules: Rules) -> list[str]:
    """Return whom effects and questions may name; nothing where the ruleset's code alone knows."""
    if rules.file.roles or not rules.file.standalone:
        return rules.file.roles
    characters = [
        name
        for action in rules.file.actions
        for name, parameter in rules.file.parameters_of(action).items()
        if parameter.kind == "character"
    ]
    return list(dict.fromkeys([*ROLES, *characters]))


def rolled_labels(rules: Rules) -> Iterator[str]:
    """Yield the labels of everything that rows and options roll."""
    for name in dict.fromkeys(rules.table_names()):
        try:
            table: OutcomeTable = read_as(rules.table_texts(name), OutcomeTable)
        except FileError:
            continue  # told elsewhere
        for row in table.values():
            yield from row.rolls
            for option in _options(row.ask):
                yield from option.rolls
    try:
        menus = read_as(rules.menu_texts(), dict[Id, RowQuestion])
    except FileError:
        return
    for option in _options(menus):
        yield from option.rolls


def _options(ask: Mapping[str, RowQuestion]) -> Iterator[RowOption]:
    for question in ask.values():
        for option in question.options.values():
            yield option
            yield from _options(option.ask)


def _near_margin(value: Any) -> str:
    return nearest(value, ("margin", "-margin")) or "" if isinstance(value, str) else ""


# ---------------------------------------------------------------------------------------------------------------------
# Conditions


def circumstance_problems(
    rules: Rules, texts: Sequence[Text], path: Path, conditions: tuple[Any, Any], numbers: Iterable[str]
) -> Iterator[Problem]:
    """Yield what is wrong with the conditions of one thing, each by itself and the two together.

    Args:
        rules: the ruleset.
        texts: the files.
        path: where what they belong to stands.
        conditions: what has to hold (`when`), and what must not (`unless`).
        numbers: the names of numbers that they may speak of, beside the margin.
    """
    numbers = list(numbers)
    for key, condition in zip(CONDITIONS, conditions, strict=True):
        yield from condition_problems(rules, texts, (*path, key), condition, numbers)
    when, unless = conditions
    if not (isinstance(when, Mapping) and isinstance(unless, Mapping) and unless):
        return
    if all(key in when and when[key] == wanted for key, wanted in unless.items()):
        told = "whenever `when` holds, this does too, so it never comes about"
        yield problem_at(texts, (*path, "unless"), told)


def condition_problems(
    rules: Rules, texts: Sequence[Text], path: Path, condition: Any, numbers: Iterable[str]
) -> Iterator[Problem]:
    """Yield what is wrong with a condition: of the margin, of switches, and of the facts that the ruleset declares.

    Args:
        rules: the ruleset.
        texts: the files.
        path: where the condition stands.
        condition: what it says.
        numbers: the names of numbers that it may speak of, beside the margin.
    """
    if not isinstance(condition, Mapping):
        message = f"a condition is a table such as {{ margin-from = 1 }}, not {condition!r}"
        yield problem_at(texts, path, message)
        return
    switches, facts = rules.file.switches, rules.file.facts | _parameter_facts(rules)
    numbers = sorted(numbers)
    known = (*MARGIN_BOUNDS, *switches, *facts, *numbers)
    for name in dict.fromkeys(key.removesuffix("-from") for key in condition if key.endswith("-from")):
        low, high = condition[f"{name}-from"], condition.get(f"{name}-to")
        if type(low) is type(high) is int and low > high:
            told = f"{name} is never both {low} or more and {high} or less"
            yield problem_at(texts, (*path, f"{name}-from"), told)
    for key, wanted in condition.items():
        at = (*path, key)
        name, _, side = key.rpartition("-")
        if key in MARGIN_BOUNDS or (side in BOUNDS and name in numbers) or (key in numbers and key not in facts):
            for one in wanted if isinstance(wanted, list) and side not in BOUNDS else [wanted]:
                is_number = isinstance(one, int) and not isinstance(one, bool)
                if not is_number and (not isinstance(one, str) or one not in numbers):
                    yield problem_at(texts, at, f"{key} is a whole number, not {one!r}")
        elif key in facts or key in switches:
            choices = [*facts.get(key, ()), *(switches[key].choices if key in switches else ())]
            what = f"the {'fact' if key in facts else 'switch'} {key}"
            yield from _choices(texts, at, what, wanted, choices)
        elif facts or numbers:
            yield _unknown_condition(texts, at, key, known)
        elif nearest(key, known):  # a ruleset that declares no facts may use any other
            yield problem_at(texts, at, f"no condition is called {key!r}", hint=nearest(key, known) or "")


def _parameter_facts(rules: Rules) -> dict[str, list[str]]:
    """Return what parameters of described actions may be: conditions can speak of choices and flags."""
    found: dict[str, list[str]] = {}
    for action in described_actions(rules.file):
        for name, parameter in rules.file.parameters_of(action).items():
            if parameter.kind == "flag":
                found[name] = ["yes", "no"]
            elif parameter.kind == "choice":
                found[name] = [*found.get(name, []), *parameter.choices]
    return found


def _unknown_condition(texts: Sequence[Text], path: Path, key: str, known: Sequence[str]) -> Problem:
    near = nearest(key, known)
    has = "" if near else f"; there are: {', '.join(known)}"
    return problem_at(texts, path, f"no condition is called {key!r}{has}", hint=near or "")


def _choices(texts: Sequence[Text], path: Path, what: str, wanted: Any, choices: Sequence[str]) -> Iterator[Problem]:
    for value in wanted if isinstance(wanted, list) else [wanted]:
        if value in choices:
            continue
        near = nearest(value, choices) if isinstance(value, str) else None
        has = "" if near else f"; it can be: {', '.join(choices)}"
        yield problem_at(texts, path, f"{what} has no choice {value!r}{has}", hint=near or "")
