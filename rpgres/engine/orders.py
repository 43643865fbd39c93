"""Standing orders compiled into a policy. They read the view of a seat, never the state.

Nothing here names a ruleset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path as FilePath
from typing import Any

import msgspec

from rpgres.engine.players import (
    COMMON_POLICIES,
    NO,
    Policy,
    Question,
    Standing,
    View,
    named_option,
    policy_of,
    preferred,
    uniform,
)
from rpgres.errors import UsageError
from rpgres.lint.orders import order_faults
from rpgres.lint.paths import Known
from rpgres.model.conditions import compiled
from rpgres.model.paths import Scope
from rpgres.model.state import State
from rpgres.rulesets import Option, Rules, unknown
from rpgres.rulesets.orders import Order, Orders, OrdersFile
from rpgres.rulesets.sheets import SheetOrders
from rpgres.rulesets.tree import reached
from rpgres.toml.diagnostics import Fault, KeyPath, diagnostics_error
from rpgres.toml.reading import Source, convert, located, parse, read_source

Choice = str | Mapping[str, int] | None
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
) -> Standing:
    """Return standing orders as a policy.

    The first order that is for a question, holds, and names something that is offered decides.

    Args:
        orders: the orders, in order of priority.
        named: gives a policy by name, for orders that leave a decision to one.
        fallback: who decides where no order does; nobody when left out.

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

    return Standing(decide, fallback)


def scope_of(view: View, question: Question) -> Scope:
    """Return what the conditions of orders are looked up in."""
    offered = {option.name: option.facts for option in question.options}
    return Scope(view.state, question.who, question.facts, offered)


def _row(order: Order, named: Callable[[str], Policy]) -> _Row:
    holds = compiled(order.when, decides=True) if order.when else None
    return _Row(frozenset(order.labels), holds, named(order.policy) if order.policy else _choosing(order))


# ---------------------------------------------------------------------------------------------------------------------
# By name, and from a file


class Deciders(msgspec.Struct):
    """Policies by name: those of a ruleset, and sets of standing orders.

    Attributes:
        rules: the ruleset in play.
        sets: standing orders by name, sound.
        made: those that were compiled.
    """

    rules: Rules
    sets: Mapping[str, Orders] = {}
    made: dict[str, Policy] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all policies."""
        return (*self.sets, *policy_names(self.rules))

    def named(self, name: str) -> Policy:
        """Return a policy by name.

        Raises:
            UsageError: there is none.
        """
        if name not in self.sets:
            if name and name not in self.names:
                raise UsageError(unknown("policy", name, self.names, of=f"the ruleset {self.rules.id}"))
            return policy_of(self.rules, name)
        if name not in self.made:
            self.made[name] = orders_policy(self.sets[name], named=self.named)
        return self.made[name]


def policy_names(rules: Rules) -> tuple[str, ...]:
    """Return the names of the policies of a ruleset, and of those that every ruleset has."""
    return tuple(dict.fromkeys((*rules.ruleset.policies, *COMMON_POLICIES)))


def set_faults(rules: Rules, sets: Mapping[str, Sequence[Order]], known: Known) -> Iterator[Fault]:
    """Yield what is wrong with sets of standing orders by name: with each, and where one leads back to itself."""
    taken = policy_names(rules)
    leads_to = {name: [order.policy for order in orders if order.policy] for name, orders in sets.items()}
    for name, orders in sets.items():
        if name in taken:
            yield Fault("taken-name", (name,), f"{rules.id} has a policy {name!r}; use another name")
        if name in reached(name, leads_to):
            yield Fault("endless", (name,), "these orders leave a decision to themselves, by way of `policy`")
        yield from (fault.under(name) for fault in order_faults(rules, orders, known=known, policies=(*sets, *taken)))


def read_orders(source: Source, known: Known, *, deciders: Deciders | None = None) -> Standing:
    """Return the standing orders of a file as a policy.

    Args:
        source: the text and where it stands.
        known: who decides by them, and what is at the table.
        deciders: the policies that orders may name; those of the ruleset when left out.

    Raises:
        FileError: the file is faulty; all problems at once.
    """
    deciders = deciders or Deciders(known.rules)
    file: OrdersFile = convert(parse(source), OrdersFile, sources=[source])
    found = located(list(file_faults(file, known, deciders.names)), [source])
    if found:
        raise diagnostics_error(found)
    return orders_policy(
        file.orders, named=deciders.named, fallback=deciders.named(file.policy) if file.policy else None
    )


def file_faults(file: OrdersFile, known: Known, policies: Iterable[str]) -> Iterator[Fault]:
    """Yield what is wrong with a file of standing orders."""
    rules, names = known.rules, tuple(policies)
    if file.ruleset and file.ruleset != rules.id:
        told = f"these orders are for the ruleset {file.ruleset!r}, not {rules.id}"
        yield Fault("wrong-ruleset", ("ruleset",), told)
        return
    yield from (fault.under("orders") for fault in order_faults(rules, file.orders, known=known, policies=names))
    if file.policy and file.policy not in names:
        yield Fault("unknown-name", ("policy",), f"there is no policy {file.policy!r}", file.policy, names)


def require_orders(
    orders: Sequence[Order], known: Known, *, policies: Iterable[str], sources: Sequence[Source], prefix: KeyPath = ()
) -> None:
    """Raise everything wrong with standing orders.

    Args:
        orders: the orders, sound by type.
        known: who decides by them, and what is at the table.
        policies: the names of policies that they may leave a decision to.
        sources: the texts they came from.
        prefix: the key path of the orders in those texts.

    Raises:
        FileError: all problems at once.
    """
    faults = [fault.under(*prefix) for fault in order_faults(known.rules, orders, known=known, policies=policies)]
    if faults:
        raise diagnostics_error(located(faults, sources))


def with_standing(
    policies: Mapping[str, Policy],
    files: Mapping[str, str],
    on_sheets: Mapping[str, SheetOrders],
    *,
    rules: Rules,
    state: State,
) -> dict[str, Policy]:
    """Return policies by character with those of standing orders; what orders say nothing of is left to everybody's.

    Args:
        policies: the policies by character, everybody's under an empty name.
        files: files of standing orders, likewise; they are in place of a policy.
        on_sheets: the orders on sheets by character; they count for who has no policy and no file.
        rules: the ruleset in play.
        state: the table.

    Raises:
        FileError: a file cannot be read, or orders are faulty.
    """
    deciders, found = Deciders(rules), dict(policies)
    for who in sorted(files):  # everybody's first
        known = known_to(rules, state, who)
        standing = read_orders(read_source(FilePath(files[who])), known, deciders=deciders)
        if standing.fallback is None:
            standing.fallback = found.get("")
        found[who] = standing
    for who, orders in on_sheets.items():
        if who not in policies and who not in files:
            found[who] = sheet_policy(orders, known_to(rules, state, who, is_portable=True), deciders, found.get(""))
    return found


def known_to(rules: Rules, state: State, who: str, *, is_portable: bool = False) -> Known:
    """Return what the orders of somebody may speak of; of everybody, what no seat may see is for none."""
    return Known(rules, state, who=who, seat=state.seat_of(who) if who else "", is_portable=is_portable)


def sheet_policy(orders: SheetOrders, known: Known, deciders: Deciders, fallback: Policy | None) -> Standing:
    """Return the standing orders of a sheet, or of a scene's character, as a policy.

    Raises:
        FileError: they are faulty; all problems at once.
    """
    require_orders(orders.orders, known, policies=deciders.names, sources=orders.sources, prefix=orders.at)
    return orders_policy(orders.orders, named=deciders.named, fallback=fallback)


# ---------------------------------------------------------------------------------------------------------------------
# What is chosen


def _choosing(order: Order) -> Policy:
    choose, by_fact = order.choose, order.by_fact
    if by_fact is not None:
        return _by_fact(*by_fact)
    finds = [(_finding(name), weight) for name, weight in order.wanted.items()]
    if isinstance(choose, dict):
        return _weighted(finds)
    if isinstance(choose, str) and choose in _RULES:
        rule, find = _RULES[choose], finds[0][0]
        return lambda view, question: named if (named := find(question)) is not None else rule(view, question)

    def first(_view: View, question: Question) -> Choice:
        return next((name for find, _ in finds if (name := find(question)) is not None), None)

    return first


def _finding(name: str) -> _Find:
    """Return what finds the option that a name or a pattern means; None where it is not offered."""
    if "*" in name:
        return lambda question: next((one.name for one in question.options if fnmatchcase(one.name, name)), None)

    def find(question: Question) -> str | None:
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


def _weighted(finds: Sequence[tuple[_Find, int]]) -> Policy:
    def decide(_view: View, question: Question) -> Choice:
        weights: dict[str, int] = {}
        for find, weight in finds:
            name = find(question) if weight else None
            if name is not None and all(name != one.name for one in question.aside):  # which nobody weighs
                weights[name] = weights.get(name, 0) + weight
        return weights if len(weights) > 1 else next(iter(weights), None)

    return decide


def _by_fact(which: str, fact: str) -> Policy:
    best = max if which == "highest" else min

    def number(option: Option) -> Any:
        value = option.facts.get(fact)
        return value if isinstance(value, int) else None

    def decide(_view: View, question: Question) -> Choice:
        found = [option for option in question.options if number(option) is not None]
        return best(found, key=number).name if found else None  # of equals the one offered first

    return decide


def _first(_view: View, question: Question) -> Choice:
    return question.options[0].name if question.options else None


def _last(_view: View, question: Question) -> Choice:
    return question.options[-1].name if question.options else None


def _preferred(view: View, question: Question) -> Choice:
    return preferred(view, question) if question.options else None


def _uniform(view: View, question: Question) -> Choice:
    return uniform(view, question) or None


_RULES: dict[str, Policy] = {"first": _first, "last": _last, "preferred": _preferred, "any": _uniform}
