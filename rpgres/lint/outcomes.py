"""Diagnostics of outcome tables and menus: their rows, questions, options and effects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from rpgres.errors import FileError, enumerated
from rpgres.lint.conditions import CONDITIONS, circumstance_faults
from rpgres.lint.formulas import Scope, bounds_faults, missing, scope_of, template_faults
from rpgres.model.state import GM, ROLES
from rpgres.rulesets.folders import located_in, read_as
from rpgres.rulesets.rows import (
    BRACES,
    Formula,
    OutcomeTable,
    Row,
    RowBody,
    RowOption,
    RowQuestion,
    bounded,
    is_id,
    templates,
)
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.schema import DONE_WITH, EffectText
from rpgres.rulesets.settling import NUMBER
from rpgres.rulesets.tables import TableRow
from rpgres.rulesets.templates import names_in
from rpgres.rulesets.tree import reached, walk
from rpgres.toml.diagnostics import Diagnostic, Fault, KeyPath, diagnostics_in, nearest

Menus = Mapping[str, RowQuestion]

HOLDERS = ("to", "by", "who")  # the fields of an effect that name a character by role
# Without these fields it is unknown what an effect would change.
_NEEDED = {"counter": ("change",), "untag": ("name",), "mark": ("to",), "clear": ("to",), "out": ("to",)}

# A text that can only have been meant to speak of the margin; a name would begin with a capital.
_MEANT_MARGIN = re.compile(r"^\s*[+-]?\s*(marg\w*|mrgin|magin|margni)\s*([-+*/].*)?$")


def row_diagnostics(rules: Rules) -> Iterator[Diagnostic]:
    """Yield what is wrong with a ruleset's outcome tables and menus, each with its file, line and key path."""
    menus = readable_menus(rules)
    try:
        # Which rows take a menu is not followed: what any of them rolls may be named.
        scope = scope_of(rules, rules.file.actions).plus(rolled_labels(rules))
        for fault in comes_faults(rules, rules.menus, menus, scope):
            yield located_in(rules.layers.menu_texts(), fault)
    except FileError as error:
        yield from diagnostics_in(error)
    for name in rules.layers.table_names():
        try:
            texts = rules.layers.table_texts(name)
            table = read_as(texts, OutcomeTable)
        except FileError as error:
            yield from diagnostics_in(error)
            continue
        scope = scope_of(rules, rules.actions_by_table.get(name, ()))
        yield from (located_in(texts, fault) for fault in comes_faults(rules, table, menus, scope))


def readable_menus(rules: Rules) -> Menus | None:
    """Return the menus; None when they cannot be read."""
    with suppress(FileError):
        return rules.menus
    return None


def comes_faults(rules: Rules, table: Mapping[Any, Row] | Menus, menus: Menus | None, scope: Scope) -> Iterator[Fault]:
    """Yield what is wrong with the rows of an outcome table or a random table, or with the menus themselves.

    Args:
        menus: the menus; None when they cannot be read.
        scope: what may be named before anything is rolled.
    """
    scopes: dict[KeyPath, Scope] = {(): scope}
    nodes: dict[KeyPath, Any] = {}
    for path, node in walk(table):
        nodes[path] = node
        scope = scopes[path] = scopes[path[:-1]]  # of the root, the empty path is its own
        if isinstance(node, Row):
            band = rules.file.bands.get(str(path[0]))
            also = table.get(band.also) if band is not None else None  # the row that holds as well
            scopes[path] = scope.plus([*node.rolls, *(also.rolls if isinstance(also, Row) else ())])
            if band is None and not isinstance(node, TableRow):
                yield missing(path, "band", str(path[0]), rules.file.bands)
            if node.counts_as and node.counts_as not in rules.file.bands:
                yield missing((*path, "counts-as"), "band", node.counts_as, rules.file.bands)
            yield from _comes(rules, path, node, scope, scopes[path])
        elif isinstance(node, RowOption):
            scopes[path] = scope.plus(node.rolls)
            yield from circumstance_faults(rules, path, (node.when, node.unless), scope.numbers)
            yield from _comes(rules, path, node, scope, scopes[path])
        elif isinstance(node, RowQuestion):
            yield from circumstance_faults(rules, path, (node.when, node.unless), scope.numbers)
            beside = tuple(label for label in nodes[path[:-1]] if label != path[-1])
            yield from _question(rules, path, node, menus, beside, within=str(path[0]) if table is menus else "")


def _comes(rules: Rules, path: KeyPath, its: RowBody, before: Scope, scope: Scope) -> Iterator[Fault]:
    """Yield the faults in the effects of a row or an option."""
    if isinstance(its, Row):
        yield from _rolled_text((*path, "text"), its.text, before, scope)
    else:
        yield from text_faults(rules, (*path, "text"), its.text)
    yield from _rolls((*path, "rolls"), its.rolls, before)
    for number, link in enumerate(its.links):
        if link not in rules.file.tables:
            at = (*path, "table", number) if isinstance(its.table, list) else (*path, "table")
            yield missing(at, "random table", link, rules.file.tables)
    for number, effect in enumerate(its.effects):
        yield from effect_faults(rules, (*path, "effects", number), effect, scope)


def text_faults(rules: Rules, path: KeyPath, text: str) -> Iterator[Fault]:
    """Yield the names in braces of a text for people, which only the code of a ruleset can fill in."""
    for name in names_in(text) if rules.file.standalone else ():
        message = f"texts have no placeholders; {{{name}}} is shown literally"
        yield Fault("unfilled-text", path, message)


def _rolled_text(path: KeyPath, text: str, before: Scope, after: Scope) -> Iterator[Fault]:
    """Yield what is wrong with the dice in the text of a row, and with names of what it rolls."""
    for one in re.findall(BRACES, text):
        if not is_id(one):
            yield from template_faults(path, one, before)
        elif one not in after.rolled:
            message = f"{{{one}}} is neither dice nor what this row rolls (`rolls`), and would be shown literally"
            yield Fault("unfilled-text", path, message, one, tuple(sorted(after.rolled)))


def _rolls(path: KeyPath, rolls: Mapping[str, Formula], scope: Scope) -> Iterator[Fault]:
    for label, template in templates(rolls).items():
        at = (*path, label)
        yield from template_faults(at, template, scope)
        yield from bounds_faults(at, bounded(rolls[label]))
        if label in ("roll", "opposition"):
            message = f"{label!r} is the label of the action's own roll; use another name"
            yield Fault("taken-name", at, message)
        elif label in scope.numbers - scope.rolled:
            yield Fault("taken-name", at, f"{label!r} is already a number; use another name for the roll")


# ---------------------------------------------------------------------------------------------------------------------
# Questions


def _question(
    rules: Rules, path: KeyPath, question: RowQuestion, menus: Menus | None, beside: tuple[str, ...], *, within: str
) -> Iterator[Fault]:
    """Yield what is wrong with a question, its options aside.

    Args:
        path: where it stands; a menu itself, which asks nothing by itself, has one part.
        menus: the menus; None when they cannot be read.
        beside: the labels asked in the same place, one of which may have been meant.
        within: the menu that it stands in; empty in an outcome table.
    """
    at, label = (*path, "menu"), str(path[-1])
    is_asked = len(path) > 1
    declared = rules.file.labels.get(label) if is_asked else None
    if declared is not None and declared.kind != "decision":
        yield Fault("inconsistent", path, f"labels.{label} is declared as a roll, not as a decision")
    if question.menu and not is_asked:
        yield Fault("useless", at, "a menu cannot use another menu")
    elif question.menu and menus is not None and question.menu not in menus:
        yield missing(at, "menu", question.menu, menus)
    elif question.menu and menus is not None:
        named = {name: menu_names(menu) for name, menu in menus.items()}
        if within and within in {question.menu, *reached([question.menu], lambda name: named.get(name, ()))}:
            yield Fault("endless", at, f"the menu {within} refers to itself endlessly")
    elif not question.menu and not question.who and not question.text:
        message = "this question has none of `who`, `text` and `menu`"
        yield Fault("incomplete", path, message, label, beside if is_asked else ())
    elif not question.menu:
        yield from _who(rules, path, question.who)
        yield from _enough(rules, (*path, "options"), question)
        yield from text_faults(rules, (*path, "text"), question.text)


def _enough(rules: Rules, path: KeyPath, question: RowQuestion) -> Iterator[Fault]:
    if not question.options:
        yield Fault("no-choice", path, "it has no options, so it cannot be answered")
    elif len(question.options) == 1 and not question.optional and rules.file.standalone:
        message = "it has only one option; make it `optional`, or put its effects into the row"
        yield Fault("no-choice", path, message)


def _who(rules: Rules, path: KeyPath, who: str) -> Iterator[Fault]:
    kind, separator, switch = who.partition(":")
    at, roles, switches = (*path, "who"), roles_of(rules), rules.file.switches
    if not who:
        yield Fault("incomplete", path, 'who is asked is missing (such as who = "actor" or who = "gm")')
    elif separator and kind != "switch":
        yield Fault("wrong-value", at, f"who = {who!r} is neither a role nor switch:NAME")
    elif separator and switch not in switches:
        yield missing(at, "switch", switch, switches)
    elif separator:
        others = [name for name in switches[switch].choices if name not in (roles or (name,))]
        if others:
            message = f"the switch {switch} has choices that are not roles: {', '.join(others)}"
            yield Fault("unknown-name", at, message)
    elif roles and who not in roles:
        yield missing(at, "role", who, roles)


def menu_names(value: Any) -> set[str]:
    """Return the menus that questions take, wherever they stand in a value."""
    return {node.menu for _, node in walk(value) if isinstance(node, RowQuestion) and node.menu}


def named_menus(rules: Rules) -> set[str]:
    """Return the menus that any outcome table or menu takes a question from.

    Raises:
        FileError: one of them cannot be read.
    """
    names = rules.layers.table_names()
    return menu_names([rules.menus, *(read_as(rules.layers.table_texts(name), OutcomeTable) for name in names)])


def rolled_labels(rules: Rules) -> Iterator[str]:
    """Yield the labels of everything that rows and options roll, in the files that can be read."""
    found: list[Any] = [readable_menus(rules)]
    for name in rules.layers.table_names():
        with suppress(FileError):
            found.append(read_as(rules.layers.table_texts(name), OutcomeTable))
    yield from (label for _, node in walk(found) if isinstance(node, RowBody) for label in node.rolls)


# ---------------------------------------------------------------------------------------------------------------------
# Effects


def effect_faults(rules: Rules, path: KeyPath, effect: Mapping[str, Any], scope: Scope) -> Iterator[Fault]:
    """Yield what is wrong with an effect of an outcome, or of an answer inside a roll."""
    conditions = (effect.get("when", {}), effect.get("unless", {}))
    yield from circumstance_faults(rules, path, conditions, scope.numbers)
    kind = effect.get("kind")
    described = rules.file.effects.get(kind) if kind else None
    if not kind:
        yield Fault("incomplete", path, f"an effect without a kind: {dict(effect)!r}")
    elif rules.effect_function(kind) is None:
        if not (rules.file.standalone and described is not None):  # else it is told where it is described
            yield undescribed(rules, (*path, "kind"), kind)
    elif described is None:
        message = f"the kind of effect {kind!r} is not declared: [effects.{kind}] is missing"
        yield Fault("no-data", (*path, "kind"), message)
    else:
        fields = {key: value for key, value in effect.items() if key != "kind" and key not in CONDITIONS}
        for key in _NEEDED.get(described.does, ()):
            if key not in fields:
                told = f"a required field is missing: the effect {kind} needs `{key}`"
                yield Fault("incomplete", path, told)
        for key, value in fields.items():
            yield from _field(rules, (*path, key), kind, described, value, scope.numbers)


def undescribed(rules: Rules, path: KeyPath, kind: str) -> Fault:
    """Return the fault that nothing says what a kind of effect does: no data, and no code where there may be any."""
    if not rules.file.standalone:
        return unregistered(path, f"the kind of effect {kind!r}", kind, rules.ruleset.effects, "effect")
    known = (*rules.ruleset.effects, *rules.file.effects)
    if kind not in rules.file.effects:
        has = "" if nearest(kind, known) else f"; declare it under [effects.{kind}]"
        return Fault("unknown-name", path, f"the ruleset has no kind of effect {kind!r}{has}", kind, known)
    does = ", ".join(f'"{one}"' for one in (*DONE_WITH, "nothing"))
    return Fault("incomplete", path, f"unknown operation: does = {does}")


def unregistered(path: KeyPath, what: str, name: str, known: Iterable[str], decorator: str) -> Fault:
    """Return the fault that the data speak of something for which the code has no function."""
    message = f'{what} has no function in the code (@ruleset.{decorator}("{name}"))'
    return Fault("no-code", path, message, name, tuple(known))


def _field(
    rules: Rules, path: KeyPath, kind: str, described: EffectText, value: Any, numbers: Iterable[str]
) -> Iterator[Fault]:
    """Yield what is wrong with one field of an effect."""
    key = str(path[-1])
    # A ruleset that tells no fields at all leaves them untold; in another, a kind without fields has none.
    is_told = any(other.known for other in rules.file.effects.values())
    match = NUMBER.match(value) if isinstance(value, str) else None
    if is_told and key not in described.known:
        message = f"the effect {kind} has no field {key!r}"
        if not nearest(key, (*described.known, *CONDITIONS)):
            message += f"; it has: {enumerated(described.known)}"
        yield Fault("unknown-name", path, message, key, (*described.known, *CONDITIONS))
    elif match is not None and match[3] == "/" and int(match[4]) == 0:
        yield Fault("division-by-zero", path, "division by 0")
    elif match is not None and match[2] == "margin":
        return
    elif key in described.numeric:
        yield from _number(path, value, match, numbers, has_code=not rules.file.standalone)
    elif key not in described.values:
        yield from _word(rules, path, described, value)
    elif value not in (words := described.values[key]):
        shown = ", ".join(word or '""' for word in words)
        message = f"{value!r} is none of: {shown} (effects.{kind}.values.{key})"
        yield Fault("wrong-value", path, message, value if isinstance(value, str) else "", tuple(words))


def _word(rules: Rules, path: KeyPath, described: EffectText, value: Any) -> Iterator[Fault]:
    """Yield what is wrong with a field that is neither a number nor one of listed words."""
    key, roles, tracks = str(path[-1]), roles_of(rules), rules.file.tracks
    is_role = key in HOLDERS or (key == "on" and described.does and value not in ("", "scene"))
    word = value if isinstance(value, str) else ""
    if _MEANT_MARGIN.match(word):
        message = f"{value!r} is not a margin; write `margin`, `-margin`, `margin-1`"
        yield Fault("not-a-number", path, message)
    elif is_role and roles and value not in roles:
        message = f"{value!r} is not a role; roles are: {enumerated(roles, str(value))}"
        yield Fault("unknown-name", path, message, word, tuple(roles))
    elif key == "to" and described.does in ("mark", "clear") and described.track in tracks:
        is_tables = tracks[described.track].of_table
        if is_tables is not (value == GM):
            has = "it is the table's; write `gm`" if is_tables else "for one of the table, it is `of-table = true`"
            yield Fault("useless", path, f"{value!r} has no track {described.track!r}; {has}")
    elif key == "track" and value not in tracks:
        yield missing(path, "track", word, tracks)
    elif described.does and not isinstance(value, str):
        yield Fault("wrong-type", path, f"expected text, found {value!r}")


def _number(
    path: KeyPath, value: Any, match: re.Match[str] | None, numbers: Iterable[str], *, has_code: bool
) -> Iterator[Fault]:
    if (match is not None and match[2] in numbers) or type(value) is int:
        return
    message = f"expected a whole number, or text such as `margin`, `-margin`, `margin-1`, found {value!r}"
    known = ("margin", *sorted(numbers))
    if match is not None and nearest(match[2], known):
        yield Fault("not-a-number", path, message, match[2], known)
    else:
        word = value if isinstance(value, str) else ""
        if match is not None and has_code:
            message += f"; a number that the code tells (facts=) is declared: [facts] with {match[2]} = []"
        yield Fault("not-a-number", path, message, word, ("margin", "-margin"))


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
