"""Diagnostics of dice and formulas with names in braces, and of the bounds of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from rpgres.errors import NotationError
from rpgres.model.state import EMPTY
from rpgres.rulesets.actions import NUMERIC, OPPOSED, OPPOSITION
from rpgres.rulesets.rows import Bounds
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.schema import RulesetFile
from rpgres.rulesets.templates import fill, joined, misnamed, names_in
from rpgres.text.harmless import in_line
from rpgres.toml.diagnostics import Fault, KeyPath, unknown_name

TRIED = (6, 1, 20)  # what names stand for when dice are judged: they only have to be dice with some numbers
MOST_FILLED = 64  # combinations of choices that are tried


class Scope(NamedTuple):
    """What may be named in one place.

    Attributes:
        numbers: the whole numbers that conditions and effects may speak of.
        dice: the names that dice may have in braces.
        choices: what the choices among these come to in dice.
        rolled: the labels of what an outcome rolls, which are among both.
        is_open: whether other names may be abilities that are not listed.
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


def _number_names(file: RulesetFile, action: str) -> set[str]:
    """Return the names of whole numbers that conditions and effects of an action may speak of."""
    described = file.actions[action]
    parameters = file.parameters_of(action)
    return {
        *file.window_names,
        *(name for name, definition in file.definitions.items() if not definition.of),
        *(("margin", OPPOSITION) if OPPOSITION in described.groups else ()),  # known only when both sides are
        *described.numbers,
        *(name for name, parameter in parameters.items() if parameter.kind in NUMERIC and not parameter.many),
        *file.rated,
        *(f"{OPPOSED}{name}" for name in file.rated),
    }


def _dice_names(file: RulesetFile, action: str) -> set[str]:
    """Return the names that dice of an action may have in braces: numbers, flags, and choices that are told in dice."""
    parameters = file.parameters_of(action)
    return _number_names(file, action) | {
        name
        for name, parameter in parameters.items()
        if parameter.kind == "flag" or (parameter.kind == "choice" and parameter.values and not parameter.many)
    }


def scope_of(rules: Rules, actions: Iterable[str]) -> Scope:
    """Return what may be named where any of these actions, as far as they are described, can come to."""
    file = rules.file
    described = [action for action in actions if rules.is_described(action)]
    parameters = [item for action in described for item in file.parameters_of(action).items()]
    told = frozenset(name for name, words in file.facts.items() if not words)  # by rules in code
    return Scope(
        numbers=told.union(*(_number_names(file, action) for action in described)),
        dice=told.union(*(_dice_names(file, action) for action in described)),
        choices={name: list(its.values.values()) for name, its in parameters if its.kind == "choice" and its.values},
        is_open=file.has_any_ability,
    )


# Where a ruleset declares what its other keys name.
DECLARED = {"band": "bands", "switch": "switches", "track": "tracks", "parameter": "parameters", "menu": "menus"}


def missing(path: KeyPath, what: str, name: str, known: Iterable[str]) -> Fault:
    """Return the fault that a ruleset has nothing of a name, with the nearest, or all when they are few, or none."""
    names, table = tuple(known), DECLARED.get(what)
    message = f"the ruleset has no {what} {name!r}"
    if not names and table is not None:
        return Fault(
            "unknown-name", path, f"{message}, and declares none; [{table}.{name}] in ruleset.toml declares one"
        )
    return unknown_name(path, message, name, names, there="it has")


def bounds_faults(path: KeyPath, its: Bounds) -> Iterator[Fault]:
    """Yield what is wrong with bounds, and with a default between them."""
    default = getattr(its, "default", None)
    if its.at_least is not None and its.at_most is not None and its.at_least > its.at_most:
        message = f"at least {its.at_least} and at most {its.at_most} is an empty range"
        yield Fault("bad-bounds", (*path, "at-least"), message)
    elif type(default) is int and not its.has(default):
        yield Fault("bad-default", (*path, "default"), f"the default {default} is outside the bounds")


def template_faults(path: KeyPath, template: str, scope: Scope) -> Iterator[Fault]:
    """Yield what is wrong with dice that have names in braces.

    Args:
        scope: the names they may have.
    """
    wrong = misnamed(template)
    if wrong is not None:
        whose = f", and that of the opponent is {{opponent.{wrong.split('.')[-1]}}}" if "." in wrong else ""
        within = next((one for one in wrong.split() if one in scope.dice), "")
        here = f"; no formula is allowed here, write it outside the braces of {{{within}}}" if within else ""
        message = f"{{{wrong}}} is not a name; names are lowercase letters, digits and hyphens{whose}{here}"
        yield Fault("bad-dice", path, message)
        return
    place = joined(template)
    if place is not None:
        message = "an operator is missing before this: +, - or *; adjacent digits and names would form one number"
        yield Fault("bad-dice", path, f"{message}\n  {template}\n  {' ' * place}^")
        return
    for name in names_in(template):
        if name not in scope.dice and not scope.is_open:
            yield missing(path, "number", name, sorted(scope.dice))
    tried = (map(unreadable, filled(template, number, scope.choices)) for number in TRIED)
    faults = [next(filter(None, found), "") for found in tried]
    if all(faults):
        yield Fault("bad-dice", path, faults[0])


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


def unreadable(text: str) -> str:
    """Return what is wrong with dice, with the place marked below; nothing when they can be read."""
    from rpgres.dice import dice

    try:
        dice(text)
    except NotationError as error:
        shown = in_line(error.text)
        return f"{error.message}\n  {shown}\n  {' ' * error.position}{'^' * error.length}"
    return ""
