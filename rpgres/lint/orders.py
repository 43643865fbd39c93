"""Diagnostics of standing orders: what they name that is not there, may not be seen, or can never apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from rpgres.errors import UsageError
from rpgres.lint.paths import Known, path_faults
from rpgres.model.conditions import Condition, condition_faults, implies, read_condition
from rpgres.model.paths import parse_path
from rpgres.rulesets import RowQuestion, Rules
from rpgres.rulesets.orders import BY_FACT, WORDS, Order
from rpgres.rulesets.tree import walk
from rpgres.toml.diagnostics import Fault, KeyPath, unknown_name

_NO = "no"  # the answer that skips an optional decision


class Decision(msgspec.Struct, frozen=True):
    """A decision that a ruleset can ask for.

    Attributes:
        options: the options it can offer; None where these depend on the table.
        is_optional: whether it may pass; None where that is not told.
    """

    options: frozenset[str] | None
    is_optional: bool | None


def decisions_of(rules: Rules) -> dict[str, Decision]:
    """Return every decision a ruleset's actions can ask for, by label; its data list options of some."""
    declared = {name: label for name, label in rules.file.labels.items() if label.kind == "decision"}
    found = {
        name: Decision(frozenset(label.options) or None, label.optional or None) for name, label in declared.items()
    }
    tables = dict.fromkeys(table for action in rules.file.actions.values() for table in action.tables)
    for path, node in walk([rules.table(table) for table in tables], menu=rules.menu):
        if not isinstance(node, RowQuestion):
            continue
        label = str(path[-1])
        before = found.get(label)
        if before is None:
            found[label] = Decision(frozenset(node.options), node.optional)
        elif label not in declared and before.options is not None:
            optional = before.is_optional or node.optional
            found[label] = Decision(before.options | frozenset(node.options), optional)
    return found


def order_faults(rules: Rules, orders: Sequence[Order], *, known: Known, policies: Iterable[str]) -> Iterator[Fault]:
    """Yield what is wrong with standing orders, each fault with the number of its order and the key.

    Args:
        orders: the orders, in order of priority.
        known: who decides by them, and what is at the table.
        policies: the names of policies that an order may leave a decision to.
    """
    decisions, names = decisions_of(rules), sorted(policies)
    earlier: list[tuple[int, Order, Mapping[str, Condition]]] = []
    for number, order in enumerate(orders):
        found = list(_order_faults(rules, order, decisions, known=known, policies=names))
        conditions = _conditions(order)
        if not any(fault.code == "never-matches" for fault in found):
            found += _unreachable(order, conditions, earlier)
        yield from (fault.under(number) for fault in found)
        earlier.append((number, order, conditions))


def _order_faults(
    rules: Rules, order: Order, decisions: Mapping[str, Decision], *, known: Known, policies: Sequence[str]
) -> Iterator[Fault]:
    for label in order.labels:
        if label in rules.file.labels and rules.file.labels[label].kind == "chance":
            yield Fault("unknown-name", ("ask",), f"{label!r} is rolled or drawn, and is no decision")
        elif label not in decisions:
            yield unknown_name(("ask",), f"{rules.id} asks for no decision {label!r}", label, decisions)
    if order.policy and order.policy not in policies:
        yield unknown_name(("policy",), f"there is no policy {order.policy!r}", order.policy, policies)
    for fault in condition_faults(order.when, decides=True):
        yield fault.under("when")
    for path in order.when:
        try:
            read = parse_path(path, decides=True)
        except UsageError:
            continue
        yield from (fault.under("when", path) for fault in path_faults(read, known))
        if read.places[0].key == "options" and len(read.keys) > 1 and read.keys[1] not in ("count", "any", "all"):
            asked = _asked(order, decisions)
            yield from _option_faults(("when", path), [read.keys[1]], asked, may_pass=False)
    yield from _choice_faults(order, _asked(order, decisions))


def _asked(order: Order, decisions: Mapping[str, Decision]) -> dict[str, Decision]:
    """Return the decisions an order is for; one that is unknown is told elsewhere, and may be anything here."""
    labels = order.labels or tuple(decisions)
    return {label: decisions.get(label, Decision(None, None)) for label in labels}


# ---------------------------------------------------------------------------------------------------------------------
# What it chooses


def _choice_faults(order: Order, asked: Mapping[str, Decision]) -> Iterator[Fault]:
    choose, at = order.choose, ("choose",)
    if choose is None or order.by_fact is not None:
        return
    if isinstance(choose, str) and choose in BY_FACT:
        told = f'`{choose}` goes by a number that options have: choose = {{ {choose} = "value" }}'
        yield Fault("wrong-value", at, told)
        return
    if isinstance(choose, dict):
        strange = next((name for name, weight in choose.items() if not isinstance(weight, int)), None)
        if strange is not None:
            told = "weights are whole numbers; only `highest` or `lowest`, alone, names a fact of options"
            yield Fault("wrong-type", (*at, strange), told)
            return
        if any(weight < 0 for weight in order.wanted.values()) or not any(order.wanted.values()):
            yield Fault("wrong-value", at, "weights are whole numbers from 0 on, and not all 0")
            return
    if not order.wanted:
        yield Fault("wrong-value", at, "an order chooses at least one option")
    for name in order.wanted:
        where = (*at, name) if isinstance(choose, dict) else at
        yield from _option_faults(where, [name], asked, is_word=True)
    last = next((name for name in order.wanted if name in WORDS and name != _NO), "")
    if isinstance(choose, list) and last and last != choose[-1]:
        yield Fault(
            "never-matches", at, f"`{last}` always chooses something, so what stands behind it is never reached"
        )


def _option_faults(
    at: KeyPath, names: Iterable[str], asked: Mapping[str, Decision], *, may_pass: bool = True, is_word: bool = False
) -> Iterator[Fault]:
    """Yield the options that none of some decisions offers, as far as these are listed."""
    if any(decision.options is None for decision in asked.values()):
        return
    known = sorted({option for decision in asked.values() for option in decision.options or ()})
    for name in names:
        if any(fnmatchcase(option, name) for option in known) or (is_word and name in WORDS and name != _NO):
            continue
        labels = ", ".join(asked)
        if name == _NO and may_pass:
            if not any(decision.is_optional for decision in asked.values()):
                yield Fault("unknown-name", at, f"the decision {labels} cannot pass; it has: {', '.join(known)}")
            continue
        told = f"no decision ever offers {name!r}" if len(asked) > 1 else f"the decision {labels} never offers {name!r}"
        yield unknown_name(at, told, name, known, there="it can offer" if len(asked) == 1 else "they can offer")


# ---------------------------------------------------------------------------------------------------------------------
# What can never apply


def _conditions(order: Order) -> dict[str, Condition]:
    found = {}
    for path, wanted in order.when.items():
        try:
            found[path] = read_condition(path, wanted, decides=True)
        except UsageError:  # told elsewhere
            continue
    return found


def _unreachable(
    order: Order, conditions: Mapping[str, Condition], earlier: Sequence[tuple[int, Order, Mapping[str, Condition]]]
) -> Iterator[Fault]:
    """Yield that an order never applies, where earlier ones decide whenever it would."""
    if len(conditions) < len(order.when):
        return
    covering = [(number, other) for number, other, its in earlier if _covers(other, its, conditions)]
    for number, other in covering:
        if not other.labels and other.always_decides:
            yield _after(number, other, order)
            return
    labels = order.labels
    first = {label: number for number, other in reversed(covering) for label in other.labels}
    if labels and all(label in first for label in labels):
        number = max(first[label] for label in labels)
        yield _after(number, dict(covering)[number], order)


def _covers(other: Order, its: Mapping[str, Condition], conditions: Mapping[str, Condition]) -> bool:
    """Tell whether an order holds whenever some conditions do."""
    if len(its) < len(other.when):
        return False  # one of its conditions is faulty
    return all(any(implies(own, one) for own in conditions.values()) for one in its.values())


def _after(number: int, other: Order, order: Order) -> Fault:
    what = "is unconditional" if not other.when else "holds whenever this one does"
    question = f" for {', '.join(order.labels)}" if order.labels else ""
    advice = "give that one a condition, or name its alternatives in order: choose = [...]"
    message = f"this order is never reached: order {number + 1} of this list {what}{question}; {advice}"
    return Fault("never-matches", ("ask",) if order.labels else (), message)
