"""Diagnostics of standing orders: what they name that is not there, may not be seen, or can never apply."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rpgres.errors import UsageError, enumerated
from rpgres.lint.decisions import NO, Asked, Decision, Facts, asked_of, decisions_of, offers, options_at, texts_at
from rpgres.lint.paths import LATER, Known, people, place_faults, read_faults
from rpgres.model.conditions import Condition, implies, read_condition, unquoted
from rpgres.model.paths import FOES, QUANTIFIERS
from rpgres.model.state import EMPTY
from rpgres.rulesets import Rules
from rpgres.rulesets.orders import BY_FACT, WORDS, Order
from rpgres.rulesets.schema import NAME
from rpgres.toml.diagnostics import Fault, KeyPath, nearest, unknown_name

Sets = Mapping[str, Sequence[Order]]
_YES = ("yes", "true", "always")  # how people take what is offered, beside `no`


def order_faults(
    rules: Rules, orders: Sequence[Order], *, known: Known, policies: Iterable[str], sets: Sets = EMPTY
) -> Iterator[Fault]:
    """Yield what is wrong with standing orders, each fault with the number of its order and the key.

    What may be meant, such as the name of an aspect that is not there yet, is a warning.

    Args:
        known: who decides by them, and what is at the table.
        policies: the names of policies that an order may leave a decision to.
        sets: the standing orders among them by name.
    """
    decisions, names = decisions_of(rules), sorted({*policies, *sets})
    earlier: list[_Earlier] = []
    for number, order in enumerate(orders):
        conditions = _conditions(order)
        comparable = [condition.as_read_by(known.who) for condition in conditions.values()]
        found = list(_order_faults(rules, order, decisions, conditions, known=known, policies=names))
        if not any(fault.code == "never-matches" for fault in found):
            found += _unreachable(order, comparable, earlier, decisions)
        yield from (fault.under(number) for fault in found)
        if len(conditions) == len(order.when):  # all of them can be read
            earlier.append(_Earlier(number, order, comparable, _always_decides(order, sets)))


def _order_faults(
    rules: Rules,
    order: Order,
    decisions: Mapping[str, Decision],
    conditions: Mapping[str, Condition],
    *,
    known: Known,
    policies: Sequence[str],
) -> Iterator[Fault]:
    for label in order.labels:
        if label in rules.file.labels and rules.file.labels[label].kind == "chance":
            yield Fault("unknown-name", ("ask",), f"{label!r} is rolled or drawn, and is no decision")
        elif label not in decisions:
            yield unknown_name(("ask",), f"{rules.id} asks for no decision {label!r}", label, decisions)
    if order.policy and order.policy not in policies:
        yield unknown_name(("policy",), f"there is no policy {order.policy!r}", order.policy, policies)
    for fault in read_faults(rules, order.when, decides=True, who=known.who):
        yield fault.under("when")
    asked = asked_of(order.labels, decisions)
    for path, condition in conditions.items():
        found = (*place_faults(condition, known), *_question_faults(condition, asked, known))
        yield from (fault.under("when", path) for fault in found)
    yield from _choice_faults(order, asked, known)


# ---------------------------------------------------------------------------------------------------------------------
# What it says of the question


def _question_faults(condition: Condition, asked: Asked, known: Known) -> Iterator[Fault]:
    """Yield what a condition names of the question that this never shows or offers."""
    root, *keys = condition.path.keys
    if root == "facts" and keys:
        yield from _fact_faults((), keys[0], asked.every.facts, asked)
        yield from _word_faults(condition, keys[0], asked.every.facts, known)
        there = people(known)
        if keys[0] == FOES and keys[1:] and keys[1] != "count" and there is not None and keys[1] not in there:
            yield unknown_name((), f"there is no character {keys[1]!r}", keys[1], sorted(there))
    elif root == "options" and keys and keys[0] != "count":
        if keys[0] not in QUANTIFIERS:
            yield from option_faults((), [keys[0]], asked, known, is_choice=False)
        if keys[1:]:
            yield from _fact_faults((), keys[1], asked.every.option_facts, asked, of_options=True)
            yield from _word_faults(condition, keys[1], asked.every.option_facts, known)


def _word_faults(condition: Condition, name: str, facts: Facts | None, known: Known) -> Iterator[Fault]:
    """Yield the words that a fact never is, as far as these are declared; what play may bring forth as a warning."""
    declared = facts.get(name) if facts is not None else None
    if declared is None or condition.path.keys[-1] != name:
        return
    words = texts_at(declared, known)
    for word in condition.constants:
        if not isinstance(word, str) or any(offers(one, word) for one in words):
            continue
        if not words:
            right = f": {unquoted(word)}" if unquoted(word) else f", and never {word!r}"
            yield Fault("not-a-number", (), f"{name} is a number{right}")
        elif any(NAME in one for one in declared):
            yield Fault("unknown-name", (), f"{name} is never {word!r} yet; {LATER}", word, tuple(words), "warning")
        else:
            yield unknown_name((), f"{name} is never {word!r}", word, words, there="it can be")


def _fact_faults(
    at: KeyPath, name: str, known: Facts | None, asked: Asked, *, of_options: bool = False
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
        facts = asked.every.option_facts
        yield from _fact_faults((*at, which), fact, facts, asked, of_options=True)
        words = facts.get(fact) if facts is not None else None
        if words:
            told = f"{fact} is no number, so no option has the {which}; it can be: {enumerated(sorted(words))}"
            yield Fault("not-a-number", (*at, which), told)
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
    last = next((name for name in order.wanted if name in WORDS and name != NO), "")
    if isinstance(choose, list) and last and last != choose[-1]:
        yield Fault("never-matches", at, f"`{last}` always chooses something, so what follows it is never reached")


def option_faults(
    at: KeyPath, names: Iterable[str], asked: Asked, known: Known, *, is_choice: bool = True, is_word: bool = False
) -> Iterator[Fault]:
    """Yield the options that none of some decisions offers, as far as these are listed."""
    options = options_at(asked.every, known)
    if options is None or (is_choice and asked.every.is_typed):
        return
    for name in names:
        if any(offers(option, name, is_choice=is_choice) for option in options) or (
            is_word and name in WORDS and name != NO
        ):
            continue
        if name == NO and is_choice:
            if not any(decision.is_optional for decision in asked.by_label.values()):
                told = asked.fault("cannot pass; it has", "cannot pass; they have", "no decision can pass; there are")
                yield Fault("unknown-name", at, f"{told}: {enumerated(options)}")
            continue
        if name in _YES and is_choice:
            told = "is taken by the name of an option, or by `first`, `preferred` or `any`"
            yield Fault("unknown-name", at, f"{name!r} is no option; a decision {told}")
            continue
        if asked.is_open and ("*" in name or (known.is_portable and not nearest(name, options))):
            continue
        if asked.is_open:
            told = asked.fault(f"offers no {name!r} yet", f"offer no {name!r} yet", f"no decision offers {name!r} yet")
            yield Fault("unknown-name", at, f"{told}; {LATER}", name, tuple(options), "warning")
            continue
        told = asked.fault(f"never offers {name!r}", f"never offer {name!r}", f"no decision ever offers {name!r}")
        yield unknown_name(at, told, name, options, there="it can offer" if asked.is_one else "they can offer")


# ---------------------------------------------------------------------------------------------------------------------
# What can never apply


class _Earlier(NamedTuple):
    """An order that stands before others.

    Attributes:
        number: its place, from 0.
        order: what it says.
        conditions: when it holds.
        always_decides: whether it then decides whatever is offered.
    """

    number: int
    order: Order
    conditions: Sequence[Condition]
    always_decides: bool

    def decides(self, label: str, decision: Decision) -> bool:
        """Tell whether it decides a question whenever it holds, as far as that is told."""
        if self.order.labels and label not in self.order.labels:
            return False
        is_open = decision.is_typed and not decision.options  # which may offer nothing
        wanted = [name for name, weight in self.order.wanted.items() if weight]
        return (self.always_decides and not is_open) or not decision.certain.isdisjoint(wanted)


def _conditions(order: Order) -> dict[str, Condition]:
    found = {}
    for path, wanted in order.when.items():
        try:
            found[path] = read_condition(path, wanted, decides=True)
        except UsageError:  # told elsewhere
            continue
    return found


def _always_decides(order: Order, sets: Sets, within: Collection[str] = ()) -> bool:
    """Tell whether an order decides whatever is offered; other orders that it names may say nothing of it."""
    if order.policy not in sets:
        return order.always_decides
    inner = () if order.policy in within else sets[order.policy]
    open_ = [one for one in inner if not (one.when or one.labels)]
    return any(_always_decides(one, sets, (*within, order.policy)) for one in open_)


def _unreachable(
    order: Order, conditions: Collection[Condition], earlier: Sequence[_Earlier], decisions: Mapping[str, Decision]
) -> Iterator[Fault]:
    """Yield that an order never applies, where earlier ones decide whenever it would.

    Where these may choose what is not offered, so that it does apply, that is a warning.
    """
    if len(conditions) < len(order.when):
        return
    covering = [one for one in earlier if all(any(implies(its, wide) for its in conditions) for wide in one.conditions)]
    labels, unknown = order.labels or ("", *decisions), Decision()  # of others that the engine asks, none is listed
    first = {
        label: [one for one in covering if one.decides(label, decisions.get(label, unknown))][:1] for label in labels
    }
    if all(first.values()):
        yield _after(max(one.number for (one,) in first.values()), earlier, order)
        return
    named = {label: [one for one in covering if label in one.order.labels][:1] for label in order.labels}
    if named and all(one or first[label] for label, one in named.items()):
        yield _after(max(one.number for several in named.values() for one in several), earlier, order, is_certain=False)


def _after(number: int, earlier: Sequence[_Earlier], order: Order, *, is_certain: bool = True) -> Fault:
    other = next(one.order for one in earlier if one.number == number)
    what = "is unconditional" if not other.when else "holds whenever this one does"
    question = f" for {', '.join(order.labels)}" if order.labels else ""
    reached = "is never reached" if is_certain else "is reached only where nothing that comes first chooses is offered"
    advice = "give that one a condition, or name its alternatives in order: choose = [...]"
    message = f"this order {reached}: orders[{number}] {what}{question}; {advice}"
    at = ("ask",) if order.labels else ()
    return Fault("never-matches", at, message, severity="error" if is_certain else "warning")
