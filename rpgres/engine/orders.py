"""Standing orders compiled into a policy. They read the view of a seat, never the state.

Nothing here names a ruleset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from math import lcm
from typing import Any

import msgspec

from rpgres.engine.players import (
    ALL_PROMISES,
    NO,
    Labels,
    OrdersPolicy,
    Policy,
    Preference,
    Promises,
    Question,
    View,
    named_option,
    preference_of,
    preferred,
    promises_of,
    uniform,
)
from rpgres.errors import UsageError
from rpgres.model.conditions import compiled, read_condition
from rpgres.model.paths import Scope
from rpgres.model.state import State
from rpgres.rulesets import Option
from rpgres.rulesets.orders import WORDS, Order

Choice = str | Mapping[str, int] | None
_NO_STATE = State()
_Find = Callable[[Question], str | None]


class _Row(msgspec.Struct, frozen=True):
    """A compiled order.

    Attributes:
        labels: the decisions it is for; none for any.
        holds: whether it applies; None for always.
        decides: what is chosen; None where nothing it names is offered.
    """

    labels: frozenset[str]
    holds: Callable[[Scope], bool] | None
    decides: Policy


def orders_policy(
    orders: Sequence[Order], *, named: Callable[[str], Policy], fallback: Policy | None = None
) -> OrdersPolicy:
    """Return standing orders as a policy.

    The first order that is for a question, holds, and names something that is offered decides.

    Args:
        named: gives a policy by name, for orders that leave a decision to one.
        fallback: the policy where no order applies; none when left out.

    Raises:
        UsageError: a condition cannot be read, or there is no policy of a name.
    """
    rows = [_row(order, named) for order in orders]
    by_label: dict[str, tuple[_Row, ...]] = {}

    def decide(view: View, question: Question) -> Choice:
        label, scope = question.label, None
        found = by_label.get(label)
        if found is None:
            found = by_label[label] = tuple(row for row in rows if not row.labels or label in row.labels)
        for row in found:
            if row.holds is not None:
                if scope is None:
                    scope = scope_of(view, question)
                if not row.holds(scope):
                    continue
            choice = row.decides(view, question)
            if choice is not None:
                return choice
        return None

    labels = frozenset(label for row in rows for label in row.labels) if all(row.labels for row in rows) else None
    return OrdersPolicy(
        decide,
        fallback,
        preference=_preference(orders, rows, named, fallback),
        promising=partial(_promises, tuple(orders), named),
        labels=labels,
    )


def scope_of(view: View, question: Question) -> Scope:
    """Return the scope in which conditions of orders are evaluated."""
    return Scope(view.state, question.who, question.facts, question.options)


def _row(order: Order, named: Callable[[str], Policy]) -> _Row:
    holds = compiled(order.when, decides=True) if order.when else None
    return _Row(frozenset(order.labels), holds, named(order.policy) if order.policy else _choosing(order))


def _promises(orders: Sequence[Order], named: Callable[[str], Policy], labels: Labels) -> Promises:
    """Return what orders promise for decisions with these labels.

    Conditions on facts and options look at the question alone; texts among the facts and names of options are names.
    """
    found = ALL_PROMISES
    for order in orders:
        if labels is not None and order.labels and set(order.labels).isdisjoint(labels):
            continue
        conditions = [read_condition(path, wanted, decides=True) for path, wanted in order.when.items()]
        roots = {condition.path.keys[0] for condition in conditions}
        texts = any(isinstance(one, str) for condition in conditions for one in condition.constants)
        has_names = texts or "options" in roots or any(name not in WORDS for name in order.wanted)
        rest = promises_of(named(order.policy), labels) if order.policy else ALL_PROMISES
        by_question = roots <= {"facts", "options"} and rest.by_question
        by_facts = by_question and not has_names and rest.by_facts
        found = Promises(found.by_question and by_question, found.by_facts and by_facts)
    return found


# ---------------------------------------------------------------------------------------------------------------------
# As an order of preference, so that odds need not look into hands

_Rank = Callable[[str, Mapping[str, Any], Option], Any]  # None for an option that an order does not choose


def _preference(
    orders: Sequence[Order], rows: Sequence[_Row], named: Callable[[str], Policy], fallback: Policy | None
) -> Preference | None:
    """Return orders as an order of preference, where what everybody knows decides alone; else None.

    Their conditions are then of facts of the question, and what they choose does not depend on what else is offered.
    """
    if any(not path.startswith("facts.") for order in orders for path in order.when):
        return None
    last = preference_of(fallback)
    has_end = last is not None or any(not (one.when or one.labels) and one.always_decides for one in orders)
    ranks = [_rank(order, named) for order in orders] if has_end else []
    if not has_end or any(rank is None for rank in ranks):
        return None
    ranked = [(row, rank) for row, rank in zip(rows, ranks, strict=True) if rank is not None]

    def key(label: str, facts: Mapping[str, Any], option: Option) -> tuple[Any, ...]:
        scope = Scope(_NO_STATE, "", facts)
        for number, (row, rank) in enumerate(ranked):
            if (not row.labels or label in row.labels) and (row.holds is None or row.holds(scope)):
                found = rank(label, facts, option)
                if found is not None:
                    return number, found
        return len(ranked), last.key(label, facts, option) if last is not None else 0

    return Preference(key)


def _rank(order: Order, named: Callable[[str], Policy]) -> _Rank | None:
    """Return the preference of an order for an option; None where that depends on what else is offered."""
    if order.policy:
        other = preference_of(named(order.policy))
        return other.key if other is not None else None
    if order.by_fact is not None:
        which, fact = order.by_fact
        sign = -1 if which == "highest" else 1
        return lambda _label, _facts, option: sign * found if isinstance(found := option.facts.get(fact), int) else None
    names = list(order.wanted)
    if isinstance(order.choose, dict) or {"last", "any", "preferred"}.intersection(names):
        return None

    def rank(_label: str, _facts: Mapping[str, Any], option: Option) -> int | None:
        return next((number for number, name in enumerate(names) if _is_meant(name, option)), None)

    return rank


def _is_meant(name: str, option: Option) -> bool:
    if "*" in name:
        return fnmatchcase(option.name, name)
    return name == "first" or named_option((option,), name) is not None


# ---------------------------------------------------------------------------------------------------------------------
# What is chosen


def _choosing(order: Order) -> Policy:
    choose, by_fact = order.choose, order.by_fact
    if by_fact is not None:
        return _by_fact(*by_fact)
    if isinstance(choose, dict):
        return _weighted([(_way(name), weight) for name, weight in order.wanted.items()])
    ways = [_way(name) for name in order.wanted]
    if len(ways) == 1:
        return ways[0]

    def first(view: View, question: Question) -> Choice:
        return next((choice for way in ways if (choice := way(view, question)) is not None), None)

    return first


def _way(name: str) -> Policy:
    """Return a policy for a name, a pattern or a word; an option with the name of a word comes first."""
    find, rule = _finding(name), _RULES.get(name)
    if rule is None:
        return lambda _view, question: find(question)
    return lambda view, question: found if (found := find(question)) is not None else rule(view, question)


def _finding(name: str) -> _Find:
    """Return a function that finds the option of a name or a pattern; it returns None if there is none."""
    if "*" in name:
        return lambda question: next((one.name for one in question.options if fnmatchcase(one.name, name)), None)

    def find(question: Question) -> str | None:
        for offered in question.options:
            if offered.name == name:
                return name
        option = named_option(question.offered, name)
        if option is not None:
            return option.name
        if name == NO and question.optional:
            return NO
        return _typed(question, name)

    return find


def _typed(question: Question, name: str) -> str | None:
    """Return an answer beyond the options, where a question takes such and this is one."""
    if question.reads is None or name in _RULES:
        return None
    try:
        question.reads(name)
    except UsageError:
        return None
    return name


def _weighted(ways: Sequence[tuple[Policy, int]]) -> Policy:
    def decide(view: View, question: Question) -> Choice:
        found = [(_shares(way(view, question)), weight) for way, weight in ways if weight]
        found = [(shares, weight) for shares, weight in found if shares]
        whole = lcm(*(sum(shares.values()) for shares, _ in found))  # which `any` divides among all options
        weights: dict[str, int] = {}
        for shares, weight in found:
            for name, share in shares.items():
                if all(name != one.name for one in question.aside):  # which are not evaluated
                    weights[name] = weights.get(name, 0) + weight * share * whole // sum(shares.values())
        return weights if len(weights) > 1 else next(iter(weights), None)

    return decide


def _shares(choice: Choice) -> Mapping[str, int]:
    return choice if isinstance(choice, Mapping) else {choice: 1} if choice is not None else {}


def _by_fact(which: str, fact: str) -> Policy:
    best = max if which == "highest" else min

    def number(option: Option) -> Any:
        value = option.facts.get(fact)
        return value if isinstance(value, int) else None

    def decide(_view: View, question: Question) -> Choice:
        found = [option for option in question.options if number(option) is not None]
        return best(found, key=number).name if found else None  # of equals the one offered first

    return decide


_RULES: dict[str, Policy] = {
    "first": lambda _view, question: question.options[0].name if question.options else None,
    "last": lambda _view, question: question.options[-1].name if question.options else None,
    "preferred": lambda view, question: preferred(view, question) if question.options else None,
    "any": lambda view, question: uniform(view, question) or None,
}
