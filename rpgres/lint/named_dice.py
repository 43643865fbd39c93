"""Diagnostics of actions with named dice: formulas, names, bands, unreachable results."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial, reduce
from math import inf

from rpgres.errors import FileError, RuleError
from rpgres.lint.formulas import TRIED, missing, unreadable
from rpgres.lint.named_questions import ask_faults, ask_texts
from rpgres.lint.named_spans import Spans
from rpgres.rulesets.actions import OPPOSED, OPPOSITION, Action, Definition
from rpgres.rulesets.dice_plans import (
    BAND,
    GIVEN,
    OF_AN_OUTCOME,
    SLOT,
    TIMES,
    DicePlan,
    GroupPlan,
    dice_plan,
    pool_of,
    read_formula,
)
from rpgres.rulesets.formulas import (
    ELSE,
    FUNCTIONS,
    OF_A_DIE,
    QUOTIENTS,
    Cases,
    Const,
    Expr,
    FormulaError,
    Name,
    Op,
    formula,
    inner_of,
    names,
    results,
)
from rpgres.rulesets.references import readable_plan, spoken_of
from rpgres.rulesets.rows import BRACES
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.schema import RulesetFile
from rpgres.rulesets.spans import Span, span_of, truth, within
from rpgres.toml.diagnostics import Fault, KeyPath, nearest


def definition_faults(rules: Rules) -> Iterator[Fault]:
    """Yield invalid formulas and duplicate names of `[define]`."""
    for name, its in rules.file.definitions.items():
        at: KeyPath = ("define", name)
        if name in FUNCTIONS or name in OF_A_DIE:
            yield Fault(
                "taken-name", at, f"{name!r} is already a function or a name of every die; rename the definition"
            )
        yield from _unreadable_inside(name, its)
        yield from _after_else((*at, "cases"), its.cases)


def named_dice_faults(rules: Rules, name: str) -> Iterator[Fault]:
    """Yield the faults of an action with named dice."""
    action = rules.file.actions[name]
    at: KeyPath = ("actions", name)
    faults = [*_texts(rules, name, action)]
    yield from faults
    yield from _bands(rules, name, action)
    if faults:
        return
    try:
        plan = dice_plan(rules.file, name, wanted=list(spoken_of(rules, name)))
    except FileError:
        return  # another check reports an unreadable outcome table
    except RuleError as error:
        both = next((one for one in action.groups if one in rules.file.parameters_of(name)), None)
        if both is None:
            yield Fault("bad-dice", (*at, "dice"), error.raw)
        else:  # the reason why formulas with the parameter are invalid
            yield Fault("taken-name", (*at, "dice", both), f"{both!r} is already a parameter; rename the dice")
        return
    spans = Spans(rules, name, plan)
    yield from _names(spans)
    yield from _taken(spans)
    looping = [one for one in plan.numbers if one in plan.reached(plan.numbers[one])]
    for one in looping:
        path = (*at, "numbers", one) if one in action.numbers else (*at, "bands")
        yield Fault("endless", path, f"the number {one} depends on itself")
    if not looping:
        yield from _dice(spans)
        yield from _endless(spans)
        yield from _divisors(spans)
        yield from _never(spans)
        yield from ask_faults(spans)


def diceless_faults(rules: Rules, name: str) -> Iterator[Fault]:
    """Yield the fault of formulas of an action without dice."""
    action = rules.file.actions[name]
    faults = [*_texts(rules, name, action)]
    yield from faults
    if faults or not action.numbers:
        return
    try:
        dice_plan(rules.file, name, wanted=list(action.numbers))
    except FileError:
        return  # another check reports an unreadable outcome table
    except RuleError as error:
        yield Fault("bad-dice", ("actions", name, "numbers"), error.raw)


def named_in_action(rules: Rules, name: str) -> set[str]:
    """Return every name that the data of an action with named dice use, with its outcome rows."""
    found, plan = set(spoken_of(rules, name)), readable_plan(rules, name)
    if plan is None:
        return found | set(rules.file.parameters_of(name))
    return found | {inner.removeprefix(GIVEN) for one in plan.formulas() for inner in one.names}


def bands_named(rules: Rules, name: str) -> set[str]:
    """Return the possible bands of an action with named dice."""
    plan = readable_plan(rules, name)
    return _words(plan) if plan is not None else set(rules.file.bands)


def unused_numbers(rules: Rules, name: str) -> Iterator[Fault]:
    """Yield the unused numbers and dice of an action."""
    action, plan = rules.file.actions[name], readable_plan(rules, name)
    if plan is None:
        return
    named = {*OF_AN_OUTCOME, *action.told.values(), *spoken_of(rules, name)}
    named |= {inner for one in plan.formulas() for inner in one.names}
    for one in action.numbers:
        if one not in named:
            message = f"{one} is unused: no dice, number, band, outcome or `tell` names it"
            yield Fault("unused", ("actions", name, "numbers", one), message)
    read = {group for one in plan.reads for group in one.groups}
    for one in plan.groups:
        if one not in read:
            yield Fault("unused", ("actions", name, "dice", one), f"the dice {one} are rolled and never read")


def unused_definitions(rules: Rules) -> Iterator[Fault]:
    """Yield the unused definitions."""
    texts = [text for action in rules.file.actions.values() for _, text in _sources("", action)]
    texts += [text for its in rules.file.definitions.values() for text in (its.value, *its.cases.values())]
    told = {one for action in rules.file.actions.values() for one in action.told.values()}
    for name in rules.file.definitions:
        pattern = re.compile(rf"(?<![a-z0-9-]){re.escape(name)}(?![a-z0-9-])")
        if name not in told and name not in OF_AN_OUTCOME and not any(pattern.search(text) for text in texts):
            yield Fault("unused", ("define", name), f"the definition {name} is unused: no formula names it")


# ---------------------------------------------------------------------------------------------------------------------
# Texts


def _sources(name: str, action: Action) -> Iterator[tuple[KeyPath, str]]:
    """Yield the formulas of an action, each with its key path."""
    at: KeyPath = ("actions", name)
    for key, text in action.numbers.items():
        yield (*at, "numbers", key), text
    for key, text in action.conditions.items():
        yield (*at, "bands", key), text
    if action.band:
        yield (*at, "band"), action.band
    yield from ((path, text) for path, text in ask_texts((*at, "ask"), action) if text)
    for key, its in action.groups.items():
        for text in re.findall(BRACES, its.roll):
            yield (*at, "dice", key), text
        for part, text in (("worth", its.worth), ("again", its.again)):
            if text:
                yield (*at, "dice", key, part), text


def _unreadable(path: KeyPath, text: str, read: Callable[[str], Expr] = formula) -> Iterator[Fault]:
    try:
        if text != ELSE:
            read(text)
    except FormulaError as error:
        yield Fault("bad-dice", ("define", error.definition) if error.definition else path, error.raw)


def _unreadable_inside(name: str, its: Definition) -> Iterator[Fault]:
    for path, text in ((("value",), its.value), *((("cases", word), text) for word, text in its.cases.items())):
        yield from _unreadable(("define", name, *path), text) if text else ()


def _texts(rules: Rules, name: str, action: Action) -> Iterator[Fault]:
    for path, text in _sources(name, action):
        for fault in _unreadable(path, text, partial(read_formula, rules.file, action)):
            its = rules.file.definitions.get(str(fault.path[1])) if fault.path[0] == "define" else None
            yield from (its and [*_unreadable_inside(str(fault.path[1]), its)]) or [fault]


def _defining(file: RulesetFile, name: str) -> Iterator[tuple[KeyPath, Definition]]:
    """Yield the definitions whose own formulas speak of a name, with their key path."""
    for key, its in file.definitions.items():
        if _says(its.value, name):
            yield ("define", key, "value"), its
        yield from ((("define", key, "cases", word), its) for word, text in its.cases.items() if _says(text, name))


def _bands(rules: Rules, name: str, action: Action) -> Iterator[Fault]:
    at: KeyPath = ("actions", name, "bands")
    for band in action.bands:
        if band not in rules.file.bands:
            yield missing((*at, band), "band", band, rules.file.bands)
    if action.band and action.bands:
        yield Fault("inconsistent", ("actions", name, "band"), "it has both `band` and `bands`; remove one of them")
    elif not action.band and not action.bands and not any(band.has_bounds for band in rules.file.bands.values()):
        message = (
            "it has no `bands`, and no outcome of the ruleset has bounds (`from`, `to`), so no outcome is possible"
        )
        yield Fault("incomplete", ("actions", name, "dice"), message)
    elif action.conditions and ELSE not in action.conditions.values():
        last = [*action.conditions][-1]
        yield Fault(
            "margin-gap", (*at, last), 'no outcome applies where no condition holds: write the last one as "else"'
        )
    yield from _after_else(at, action.conditions)


def _after_else(at: KeyPath, cases: dict[str, str]) -> Iterator[Fault]:
    first, *others = [word for word, text in cases.items() if text == ELSE] or [""]
    for word in others:
        yield Fault("never-matches", (*at, word), f"{word} is unreachable: {first} is already `else`")


# ---------------------------------------------------------------------------------------------------------------------
# Names


def _names(spans: Spans) -> Iterator[Fault]:
    """Yield unknown names."""
    file, action, plan, parameters = spans.rules.file, spans.action, spans.plan, spans.parameters
    on_sheets = file.rated
    known = {*parameters, *on_sheets, *(f"{OPPOSED}{one}" for one in on_sheets), *plan.numbers, *plan.asks}
    known |= {*file.switches, *file.window_names}
    is_open = file.has_any_ability
    listed = sorted({*known, *file.definitions} - {BAND})
    used = [(path, one, is_of_die) for path, expr, is_of_die in _trees(action, plan) for one in names(expr)]
    for path, one, is_of_die in used:
        bare = one.removeprefix(GIVEN)
        given = one != bare
        if one.startswith((SLOT, TIMES)) or bare in plan.numbers:
            continue
        if given and bare not in parameters:
            yield missing(path, "parameter", bare, parameters)
        elif one in OF_A_DIE and not is_of_die:
            message = f"{one} is a name of one die: use it in `worth`, in `again` or after the comma of count(...)"
            yield Fault("unknown-name", path, message)
        elif bare in known or one in OF_A_DIE:
            continue
        elif parts := _apart(bare, {*known, *plan.groups}):
            message = f"{bare} is read as one name; to subtract, write blanks around the minus: {parts}"
            yield Fault("unknown-name", path, message)
        elif given or not is_open or nearest(bare, listed):  # any other may be an unlisted ability
            yield from _missing(spans, path, bare, [*OF_A_DIE, *listed] if is_of_die else listed)
    for place, (told, number) in enumerate(action.told.items()):
        if number not in plan.numbers:
            at_place: KeyPath = (*spans.at, "tell", told if isinstance(action.tell, dict) else place)
            yield missing(at_place, "number", number, sorted(plan.numbers))


def _missing(spans: Spans, path: KeyPath, name: str, listed: Collection[str]) -> Iterator[Fault]:
    """Yield that a name is unknown; where only a definition speaks of it, and no action has it, at the definition."""
    file = spans.rules.file
    anywhere = {*listed}.union(*({*file.parameters_of(one), *its.numbers} for one, its in file.actions.items()))
    is_own = any(_says(text, name) for _, text in _sources(spans.name, spans.action))
    defining = [] if is_own or name in anywhere else [*_defining(file, name)]
    yield from (missing(at, "number", name, sorted({*anywhere, *its.of})) for at, its in defining)
    if not defining:
        yield missing(path, "number", name, listed)


def _taken(spans: Spans) -> Iterator[Fault]:
    """Yield duplicate names."""
    file, action, at, parameters = spans.rules.file, spans.action, spans.at, spans.parameters
    of_all = {**dict.fromkeys(file.rated, "on the sheet"), **dict.fromkeys(file.switches, "a house rule")}
    for key in action.parameters:
        its = file.parameters.get(key)
        one = (its and its.name) or key
        if its is not None and one in of_all and not (its.counter == one and of_all[one] == "on the sheet"):
            path = ("parameters", key, "name") if its.name else ("parameters", key)
            yield Fault("taken-name", path, f"{one!r} is already {of_all[one]}; rename the parameter")
    of_dice = {**dict.fromkeys(action.numbers, "a number"), **dict.fromkeys(OF_A_DIE, "a name of every die")}
    for group in spans.plan.groups:
        # A template may name the parameter; anything else would mean the dice.
        elsewhere = [text for path, text in _sources(spans.name, action) if path[2:4] != ("dice", group)]
        if group in of_dice or (group in parameters and any(_says(text, group) for text in elsewhere)):
            message = f"{group!r} is already {of_dice.get(group, 'a parameter')}; rename the dice"
            yield Fault("taken-name", (*at, "dice", group), message)
    taken = {**dict.fromkeys(FUNCTIONS, "a function"), **dict.fromkeys(OF_A_DIE, "a name of every die")}
    taken |= {BAND: "the outcome", **of_all, **dict.fromkeys(parameters, "a parameter of this action")}
    for number in action.numbers:
        if number in taken:
            message = f"{number!r} is already {taken[number]}; rename the number"
            yield Fault("taken-name", (*at, "numbers", number), message)
    for number in file.definitions:
        if number in parameters:
            yield Fault(
                "taken-name", ("define", number), f"{number!r} is already a parameter of {spans.name}; rename it"
            )


def _apart(name: str, known: Collection[str]) -> str:
    """Return a difference that was written without blanks, so that it reads as one name; nothing for a mere name."""
    words = name.split("-")
    for place in range(1, len(words)):
        left, right = "-".join(words[:place]), "-".join(words[place:])
        if left in known and (right in known or right.isdigit()):
            return f"{left} - {right}"
    return ""


def _says(text: str, name: str) -> bool:
    return text != ELSE and bool(re.search(rf"(?<![a-z0-9-]){re.escape(name)}(?![a-z0-9-])", text))


def _trees(action: Action, plan: DicePlan) -> Iterator[tuple[KeyPath, Expr, bool]]:
    """Yield the formulas of an action, written out, with their key path and whether they are of one die."""
    for one in plan.formulas():
        if one is plan.numbers[BAND] and not action.band and action.bands and isinstance(one.tree, Cases):
            for band, (when, _) in zip(action.conditions, one.tree.cases, strict=False):
                yield (*one.path, band), when, False
        else:
            yield one.path, one.tree, one.is_of_die


# ---------------------------------------------------------------------------------------------------------------------
# Dice, and their possible values


def _dice(spans: Spans) -> Iterator[Fault]:
    """Yield the dice that cannot be read."""
    choices = {one: next(iter(its.values.values())) for one, its in spans.parameters.items() if its.values}
    choices |= {one: "4d6" for one, its in spans.parameters.items() if its.kind == "dice"}
    for group in spans.plan.groups.values():
        if all(isinstance(piece, str) for piece in group.pieces) or len(group.pieces) > 3 or group.pieces[-1]:
            faults = [unreadable(_tried(group, number, choices)) for number in TRIED]
            if all(faults):
                yield Fault("bad-dice", (*spans.at, "dice", group.name), faults[0])


def _tried(group: GroupPlan, number: int, choices: Mapping[str, str]) -> str:
    """Return the dice of a group with a choice's dice, or a number, in place of each formula."""
    return "".join(
        piece if isinstance(piece, str) else choices.get(getattr(piece.tree, "name", ""), str(number))
        for piece in group.pieces
    )


def _endless(spans: Spans) -> Iterator[Fault]:
    """Yield the dice that explode on every face."""
    for group in spans.plan.groups.values():
        pool = pool_of(group)
        if group.again is None or pool is None:
            continue
        first, added = (
            [truth(spans.of_die(group.again.tree, span_of(face), span_of(is_added))) for face in pool.faces]
            for is_added in (0, 1)
        )
        if all(added) and any(one is not False for one in first):
            yield Fault("bad-dice", (*spans.at, "dice", group.name, "again"), "every face explodes forever")


def _divisors(spans: Spans) -> Iterator[Fault]:
    """Yield the formulas with a divisor that may be 0."""
    pools = [pool for group in spans.plan.groups.values() if (pool := pool_of(group)) is not None]
    faces = [span_of(face) for pool in pools for face in pool.faces] or [Span(1, inf)]
    face = reduce(Span.plus, faces)
    for path, expr, _ in _trees(spans.action, spans.plan):
        for divisor in dict.fromkeys(_divided_by(expr, frozenset())):
            span = spans.of_die(divisor, face)
            if truth(span) is not True:
                shown = ", ".join(one for one in names(divisor) if not one.startswith(SLOT))
                what = shown if isinstance(divisor, Name) and shown else f"a divisor{shown and f' (of {shown})'}"
                said = f"{what} may be 0, and dividing by 0 is impossible; divide by max(1, ...), or in an if(...)"
                yield Fault("division-by-zero", path, said)


def _divided_by(expr: Expr, asked: frozenset[str]) -> Iterator[Expr]:
    """Yield the divisors in a tree; without those that a condition around them tests."""
    if isinstance(expr, Cases):
        for when, then in expr.cases:
            yield from _divided_by(when, asked)
            asked |= {*names(when)}
            yield from _divided_by(then, asked)
        return
    if isinstance(expr, Op) and expr.op in QUOTIENTS and asked.isdisjoint(names(expr.args[1])):
        yield expr.args[1]
    for inner in inner_of(expr):
        yield from _divided_by(inner, asked)


def _never(spans: Spans) -> Iterator[Fault]:
    """Yield the unreachable bands."""
    action, at, bands, band = spans.action, spans.at, spans.rules.file.bands, spans.plan.numbers[BAND].tree
    if not action.band and not action.bands:
        needed = {one for one, its in spans.parameters.items() if its.kind == OPPOSITION and its.default is None}
        is_optional = not needed <= {*action.required} and None in spans["margin"].words
        if is_optional and not any(one.unopposed for one in bands.values()):
            message = "the opposition is optional, and no outcome is `unopposed`; declare one, or list it as `required`"
            yield Fault("incomplete", (*at, "dice"), message)
        return
    if action.band:
        for word in sorted(_words(spans.plan) - set(bands)):
            yield missing((*at, "band"), "band", word, bands)
        if spans["band"].has_numbers:
            yield Fault("wrong-type", (*at, "band"), "`band` is a number here; it has to be the name of an outcome")
        return
    settled = ""
    for (word, text), (when, _) in zip(action.conditions.items(), getattr(band, "cases", ()), strict=False):
        holds = truth(within(when, spans.__getitem__)) if text != ELSE else None
        if settled or holds is False:
            before = f"the condition of {settled}, which comes first, always holds"
            why = before if settled else "its condition never holds"
            yield Fault("never-matches", (*at, "bands", word), f"this band is unreachable: {why}")
        elif holds:
            settled = word


def _words(plan: DicePlan) -> set[str]:
    """Return the words that the outcome of an action may be, those of numbers that it names among them."""
    found, seen, open_ = set[str](), set[str](), [BAND]
    while open_:
        name = open_.pop()
        seen.add(name)
        for one in results(plan.numbers[name].tree):
            if isinstance(one, Const) and isinstance(one.value, str):
                found.add(one.value)
            elif isinstance(one, Name) and one.name in plan.numbers and one.name not in seen:
                open_.append(one.name)
    return found
