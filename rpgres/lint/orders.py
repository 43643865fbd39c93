"""Diagnostics of standing orders: what they name that is not there, may not be seen, or can never apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rpgres.errors import UsageError
from rpgres.lint.decisions import Asked, Decision, asked_of, decisions_of, offers, options_at
from rpgres.lint.paths import Known, path_faults, people
from rpgres.model.conditions import Condition, condition_faults, implies, read_condition
from rpgres.model.paths import FOES, QUANTIFIERS, Path, parse_path
from rpgres.rulesets import Rules
from rpgres.rulesets.orders import BY_FACT, WORDS, Order
from rpgres.toml.diagnostics import Fault, KeyPath, unknown_name

_NO = "no"  # the answer that skips an optional decision


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
    asked = asked_of(order.labels, decisions)
    for path in order.when:
        try:
            read = parse_path(path, decides=True)
        except UsageError:
            continue
        found = (*path_faults(read, known), *_question_faults(read, asked, known))
        yield from (fault.under("when", path) for fault in found)
    yield from _choice_faults(order, asked, known)


# ---------------------------------------------------------------------------------------------------------------------
# What it says of the question


def _question_faults(path: Path, asked: Asked, known: Known) -> Iterator[Fault]:
    """Yield what a path names of the question that this never shows or offers."""
    root, *keys = path.keys
    if root == "facts" and keys:
        yield from _fact_faults((), keys[0], asked.every.facts, asked)
        there = people(known)
        if keys[0] == FOES and keys[1:] and keys[1] != "count" and there is not None and keys[1] not in there:
            yield unknown_name((), f"there is no character {keys[1]!r}", keys[1], sorted(there))
    elif root == "options" and keys and keys[0] != "count":
        if keys[0] not in QUANTIFIERS:
            yield from option_faults((), [keys[0]], asked, known, is_choice=False)
        if keys[1:]:
            yield from _fact_faults((), keys[1], asked.every.option_facts, asked, of_options=True)


def _fact_faults(
    at: KeyPath, name: str, known: frozenset[str] | None, asked: Asked, *, of_options: bool = False
) -> Iterator[Fault]:
    """Yield that none of some decisions shows a fact, of the question or of its options."""
    if known is None or name in known:
        return
    one, several = (" of its options", " of their options") if of_options else ("", "")
    no_fact = f"no fact {name!r}"
    told = asked.fault(f"shows {no_fact}{one}", f"show {no_fact}{several}", f"no decision shows a fact {name!r}{one}")
    yield unknown_name(at, told, name, sorted(known), there="there are")


def _choice_faults(order: Order, asked: Asked, known: Known) -> Iterator[Fault]:
    choose, at = order.choose, ("choose",)
    if choose is None:
        return
    if order.by_fact is not None:
        which, fact = order.by_fact
        yield from _fact_faults((*at, which), fact, asked.every.option_facts, asked, of_options=True)
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
        yield from option_faults(where, [name], asked, known, is_word=True)
    last = next((name for name in order.wanted if name in WORDS and name != _NO), "")
    if isinstance(choose, list) and last and last != choose[-1]:
        yield Fault(
            "never-matches", at, f"`{last}` always chooses something, so what stands behind it is never reached"
        )


def option_faults(
    at: KeyPath, names: Iterable[str], asked: Asked, known: Known, *, is_choice: bool = True, is_word: bool = False
) -> Iterator[Fault]:
    """Yield the options that none of some decisions offers, as far as these are listed."""
    options = options_at(asked.every, known)
    if options is None or (is_choice and asked.every.is_typed):
        return
    for name in names:
        if any(offers(option, name, is_choice=is_choice) for option in options) or (
            is_word and name in WORDS and name != _NO
        ):
            continue
        if name == _NO and is_choice:
            if not any(decision.is_optional for decision in asked.by_label.values()):
                told = asked.fault("cannot pass; it has", "cannot pass; they have", "no decision can pass; there are")
                yield Fault("unknown-name", at, f"{told}: {', '.join(options)}")
            continue
        told = asked.fault(f"never offers {name!r}", f"never offer {name!r}", f"no decision ever offers {name!r}")
        yield unknown_name(at, told, name, options, there="it can offer" if asked.is_one else "they can offer")


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
