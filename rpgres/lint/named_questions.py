"""Diagnostics of questions inside a roll: roles, costs, rerolls, unreachable options."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres.dice import dice
from rpgres.dice.grammar import Pool
from rpgres.errors import NotationError
from rpgres.lint.formulas import missing, scope_of
from rpgres.lint.named_spans import Spans
from rpgres.lint.outcomes import effect_faults, roles_of, text_faults
from rpgres.rulesets.actions import Action, Asking, Choosable
from rpgres.rulesets.dice_plans import BAND, NO, TIMES, GroupPlan, pool_of
from rpgres.rulesets.effects import paid_by
from rpgres.rulesets.formulas import FUNCTIONS, OF_A_DIE
from rpgres.rulesets.references import spoken_of
from rpgres.rulesets.rows import RowQuestion
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.spans import span_of, truth, within
from rpgres.rulesets.tree import walk
from rpgres.toml.diagnostics import Fault, KeyPath


def ask_texts(at: KeyPath, action: Action) -> Iterator[tuple[KeyPath, str]]:
    """Yield the formulas of an action's questions, each with its key path; some are empty."""
    for label, ask in action.ask.items():
        yield (*at, label, "when"), ask.when
        for name, option in ask.options.items():
            path = (*at, label, "options", name)
            for key in ("when", "prefer", "most"):
                yield (*path, key), str(getattr(option, key))
            for key, its in (("cost", option.cost), ("reroll", option.reroll)):
                for one, text in its.items():
                    yield (*path, key, one), str(text)


def paying_kinds(rules: Rules, action: Action) -> Iterator[str]:
    """Yield the kinds of effect that pay for options of an action."""
    for ask in action.ask.values():
        yield from (paid_by(rules.file, of)[0] for option in ask.options.values() for of in option.cost)


def ask_faults(spans: Spans) -> Iterator[Fault]:
    """Yield the faults of an action's questions; its formulas are valid."""
    rules, name, plan, action = spans.rules, spans.name, spans.plan, spans.action
    spoken = {*spoken_of(rules, name)}
    spoken |= {one.removeprefix(TIMES).partition(":")[0] for formula in plan.formulas() for one in formula.names}
    taken = _taken(spans)
    for label, ask in action.ask.items():
        at: KeyPath = (*spans.at, "ask", label)
        if label in taken:
            yield Fault("taken-name", at, f"{label!r} is already {taken[label]}; rename the question")
        yield from text_faults(rules, (*at, "text"), ask.text)
        if ask.who not in roles_of(rules):
            yield missing((*at, "who"), "role", ask.who, roles_of(rules))
        if ask.times < 1:
            yield Fault(
                "bad-bounds", (*at, "times"), "`times` is below 1: the question is never asked; write 1 or more"
            )
        if not ask.options:
            yield Fault("no-choice", (*at, "options"), "it has no options, so it cannot be answered")
        is_never = truth(within(plan.asks[label].when.tree, spans.__getitem__)) is False
        if is_never:
            yield Fault("never-matches", (*at, "when"), "this question is never asked: its condition never holds")
        for one, option in ask.options.items():
            path = (*at, "options", one)
            if one == NO:
                yield Fault("taken-name", path, "`no` is the answer that skips the question; rename the option")
            yield from _option(spans, path, ask, option)
            yield from _again(spans, path, option)
            its = plan.asks[label].options[one]
            if not is_never and truth(within(its.when.tree, spans.__getitem__)) is False:
                yield Fault("never-matches", (*path, "when"), "this option is never offered: its condition never holds")
            if label not in spoken and not (option.reroll or option.effects):
                message = f"this option changes nothing: it rerolls no dice, and no formula or outcome uses {label}"
                yield Fault("useless", path, message)


def _taken(spans: Spans) -> dict[str, str]:
    """Return the names that a question cannot have, each with what it is."""
    rules, action = spans.rules, spans.action
    tables = [rules.table(table) for table in action.tables]
    asked = {str(path[-1]) for path, node in walk(tables, menu=rules.menu) if isinstance(node, RowQuestion)}
    return {
        **dict.fromkeys(rules.file.rated, "an ability or a counter of sheets"),
        **dict.fromkeys(asked, "a question of an outcome of this action"),
        **dict.fromkeys(rules.file.definitions, "a definition"),
        **dict.fromkeys(action.numbers, "a number"),
        **dict.fromkeys(spans.parameters, "a parameter of this action"),
        **dict.fromkeys(action.groups, "the name of dice"),
        **dict.fromkeys((*FUNCTIONS, *OF_A_DIE), "a function, or a name of every die"),
        BAND: "the outcome",
    }


def _option(spans: Spans, path: KeyPath, ask: Asking, option: Choosable) -> Iterator[Fault]:
    rules, file = spans.rules, spans.rules.file
    yield from text_faults(rules, (*path, "text"), option.text)
    scope = scope_of(rules, [spans.name])
    for number, effect in enumerate(option.effects):
        yield from effect_faults(rules, (*path, "effects", number), effect, scope)
    counters = [*file.fields_of("counter")]
    is_tables = ask.who == "gm"
    tracks = [one for one, track in file.tracks.items() if track.of_table is is_tables]
    for of in option.cost:
        if of not in tracks and (is_tables or of not in counters):
            known = tracks if is_tables else [*counters, *tracks]
            yield missing(
                (*path, "cost", of), "track of the table" if is_tables else "counter or track on its sheets", of, known
            )
        elif not paid_by(rules.file, of)[0]:
            does = "mark" if of in tracks else "counter"
            key = "track" if of in tracks else "counter"
            message = f'no effect reduces {of}: declare one with does = "{does}" and {key} = "{of}"'
            yield Fault("incomplete", (*path, "cost", of), message)


def _keeps(group: GroupPlan) -> bool:
    """Tell whether dice keep or drop some, whatever the formulas for their number and sides come to."""
    try:
        node = dice("".join(piece if isinstance(piece, str) else "6" for piece in group.pieces)).node
    except NotationError:
        return False
    return isinstance(node, Pool) and bool(node.keep)


def _again(spans: Spans, path: KeyPath, option: Choosable) -> Iterator[Fault]:
    plan = spans.plan
    its = plan.asks[str(path[-3])].options[str(path[-1])]
    if its.most is not None and within(its.most.tree, spans.__getitem__).high < 1:
        yield Fault("bad-bounds", (*path, "most"), "`most` is never above 0, so no dice are rerolled; write 1 or more")
    if option.most != "" and not option.reroll:
        yield Fault("useless", (*path, "most"), "`most` limits the dice of `reroll`, and there is no `reroll`")
    for group in option.reroll:
        at = (*path, "reroll", group)
        if group not in plan.groups:
            yield missing(at, "group of dice", group, [*plan.groups])
            continue
        pool = pool_of(plan.groups[group])
        if _keeps(plan.groups[group]):
            message = f"the dice {group} keep or drop some, so they cannot be rerolled one by one"
            yield Fault("bad-dice", at, message)
            continue
        fits = [truth(spans.of_die(its.reroll[group].tree, span_of(face))) for face in (pool.faces if pool else ())]
        if fits and not any(one is not False for one in fits):
            yield Fault("never-matches", at, "no face fits this condition")
