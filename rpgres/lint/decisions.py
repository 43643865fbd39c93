"""The decisions that a ruleset can ask for, with what orders may name of them: options, and facts that are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from rpgres.lint.named_spans import ANY_WORD, Spans
from rpgres.lint.paths import Known, brought_forth, people
from rpgres.model.state import slug
from rpgres.rulesets import RowQuestion, Rules
from rpgres.rulesets.references import readable_plan
from rpgres.rulesets.schema import CARD, CHARACTER, NAME, SUIT, Label
from rpgres.rulesets.tree import walk

Facts = Mapping[str, frozenset[str] | None]  # by name, the words that it can be; none for a number, None for any
OF_ROWS: Facts = {"margin": frozenset()}  # what every question of an outcome table is about
NO = "no"  # the answer that skips an optional decision
_ANY = "*"


class Decision(msgspec.Struct, frozen=True):
    """A decision that a ruleset can ask for.

    Attributes:
        options: the options it can offer, as `Label.options` has them; None where these are not told.
        is_optional: whether it may pass; None where that is not told.
        facts: what it is about; None where that cannot be told.
        option_facts: what its options are about, likewise.
        is_typed: whether other answers than its options can be typed.
        certain: the answers that it takes whenever it is asked, as far as that is told; `no` where it may always pass.
    """

    options: frozenset[str] | None = None
    is_optional: bool | None = None
    facts: Facts | None = None
    option_facts: Facts | None = None
    is_typed: bool = False
    certain: frozenset[str] = frozenset()

    def plus(self, other: Decision) -> Decision:
        """Return the decision as it is where two are asked under one label."""
        return Decision(
            _either(self.options, other.options),
            None if self.is_optional is None or other.is_optional is None else self.is_optional or other.is_optional,
            _joined(self.facts, other.facts),
            _joined(self.option_facts, other.option_facts),
            self.is_typed or other.is_typed,
            self.certain & other.certain,
        )


_UNKNOWN = Decision()  # of an unknown label, which another check reports; nothing can be said of its facts


def _either(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    return None if one is None or other is None else one | other


def _joined(one: Facts | None, other: Facts | None) -> Facts | None:
    if one is None or other is None:
        return None
    return {**one, **{name: _either(one.get(name, words), words) for name, words in other.items()}}


# ---------------------------------------------------------------------------------------------------------------------
# All there are


def decisions_of(rules: Rules) -> Mapping[str, Decision]:
    """Return every decision a ruleset's actions can ask for, by label; searched for once, as each step asks for it."""
    key = "decisions"
    if key not in rules.compiled:
        rules.compiled[key] = _decisions_of(rules)
    found: Mapping[str, Decision] = rules.compiled[key]
    return found


def _decisions_of(rules: Rules) -> dict[str, Decision]:
    found = _of_rows(rules)
    for name, label in rules.file.labels.items():
        if label.kind == "decision":
            declared = _declared(label)
            if name in found:  # with the facts that code tells of it
                options = declared.options or found[name].options
                declared = msgspec.structs.replace(declared.plus(found[name]), options=options)
            found[name] = declared
    for name, facts in _facts_of_rolls(rules):
        found[name] = msgspec.structs.replace(found[name], facts=_joined(found[name].facts, facts))
    return found


def _declared(label: Label) -> Decision:
    options, certain = frozenset(label.options) or None, frozenset([NO]) if label.optional else frozenset[str]()
    facts, option_facts = (
        {name: frozenset(told[name]) if isinstance(told, dict) else None for name in told}
        for told in (label.facts, label.option_facts)
    )
    return Decision(options, label.optional or None, facts, option_facts, label.typed, certain)


def _of_rows(rules: Rules) -> dict[str, Decision]:
    """Return the decisions that outcome tables ask for, by label."""
    found: dict[str, Decision] = {}
    for table, facts in _facts_of_tables(rules).items():
        for path, node in walk([rules.table(table)], menu=rules.menu):
            if isinstance(node, RowQuestion):
                always = {name for name, its in node.options.items() if not (its.when or its.unless)}
                certain = frozenset([*always, NO] if node.optional else always)
                asked = Decision(frozenset(node.options), node.optional, facts, {}, certain=certain)
                label = str(path[-1])
                found[label] = found[label].plus(asked) if label in found else asked
    return found


def _facts_of_tables(rules: Rules) -> dict[str, Facts]:
    """Return what questions of each outcome table are about: the margin, and what is told that the table speaks of."""
    found: dict[str, Facts] = {}
    for name, action in rules.file.actions.items():
        for table in action.tables:
            found.setdefault(table, OF_ROWS)
        plan = readable_plan(rules, name) if action.dice else None
        if plan is not None:  # its outcome is settled by the first
            told = [one for one, number in action.told.items() if number in plan.wanted]
            found[action.tables[0]] = {**found[action.tables[0]], **dict.fromkeys(told)}
    return found


def _facts_of_rolls(rules: Rules) -> Iterator[tuple[str, Facts | None]]:
    """Yield the questions inside rolls of described actions, each with what its formulas speak of."""
    for name, action in rules.file.actions.items():
        plan = readable_plan(rules, name) if action.ask else None
        spans = Spans(rules, name, plan) if plan is not None else None
        for label in action.ask:
            if plan is None or spans is None:
                yield label, None
            else:
                words = {fact: frozenset(filter(None, spans[fact].words)) for fact in plan.asks[label].facts}
                yield label, {fact: None if ANY_WORD in can_be else can_be for fact, can_be in words.items()}


# ---------------------------------------------------------------------------------------------------------------------
# Several at once: those that an order is for


class Asked(NamedTuple):
    """The decisions that an order is for.

    Attributes:
        by_label: each by its label.
        every: all that hold for them together: what any of them can offer or show.
        is_named: whether the order names them, and is not for whatever is asked.
    """

    by_label: Mapping[str, Decision]
    every: Decision
    is_named: bool

    @property
    def is_open(self) -> bool:
        """Whether play may bring forth options that are not there yet."""
        return any(NAME in option for option in self.every.options or ())

    @property
    def is_one(self) -> bool:
        """Whether it is a single decision."""
        return len(self.by_label) == 1

    def fault(self, of_one: str, of_several: str, of_all: str) -> str:
        """Return what is wrong, in the words for one decision, for several that are named, or for all there are."""
        labels = ", ".join(self.by_label)
        if self.is_one:
            return f"the decision {labels} {of_one}"
        return f"the decisions {labels} {of_several}" if self.is_named else of_all


def asked_of(labels: Iterable[str], decisions: Mapping[str, Decision]) -> Asked:
    """Return the decisions of some labels; of all that there are where no label is named."""
    labels = tuple(labels)
    by_label = {label: decisions.get(label, _UNKNOWN) for label in labels or decisions}
    every = Decision(frozenset(), False, {}, {})
    for decision in by_label.values():
        every = every.plus(decision)
    return Asked(by_label, every, bool(labels))


# ---------------------------------------------------------------------------------------------------------------------
# Options


def options_at(decision: Decision, known: Known, *, is_later: bool = False) -> list[str] | None:
    """Return the options that a decision can offer at a table, with `*` for any text; None where these are not told.

    Args:
        is_later: whether it may be asked when play has brought forth more.
    """
    return None if decision.options is None else texts_at(decision.options, known, is_later=is_later)


def texts_at(declared: Iterable[str], known: Known, *, is_later: bool = False) -> list[str]:
    """Return options, or words of a fact, as a table has them: names for what stands in braces, `*` for any text.

    Args:
        known, is_later: see `options_at`.
    """
    found, there = sorted(declared), None if is_later else brought_forth(known)
    named: dict[str, Callable[[], Iterable[str] | None]] = {
        CHARACTER: lambda: people(known),
        CARD: lambda: {name for code, card in known.rules.cards.by_code.items() for name in (code, card.short)},
        SUIT: lambda: {card.suit for card in known.rules.cards.by_code.values()},
        NAME: lambda: there,
    }
    for place, names_of in named.items():
        if any(place in one for one in found):
            names = names_of()
            several = [_ANY] if names is None else sorted(names)
            found = [one.replace(place, name) for one in found for name in (several if place in one else [""])]
    return list(dict.fromkeys(found))


def offers(option: str, name: str, *, is_choice: bool = False) -> bool:
    """Tell whether a name, or a pattern with `*`, can mean an option, itself a name or a pattern.

    Args:
        is_choice: whether it is chosen by that name, which may then be typed with capitals and blanks, too.
    """
    if any(sign in name for sign in "?["):  # which match, too, beside a `*`
        return True
    if _meet(option, name):
        return True
    typed = {name.lower(), slug(name)} if is_choice and _ANY not in name else ()
    return any(_meet(option.lower(), one) for one in typed)


def _meet(one: str, other: str) -> bool:
    """Tell whether some text fits two patterns."""
    open_, seen = [(0, 0)], set[tuple[int, int]]()
    while open_:
        at = open_.pop()
        if at in seen:
            continue
        seen.add(at)
        left, right = one[at[0] : at[0] + 1], other[at[1] : at[1] + 1]
        if not left and not right:
            return True
        if _ANY in (left, right):  # which ends here, or takes what the other has next
            open_ += [(at[0] + 1, at[1])] * bool(left) + [(at[0], at[1] + 1)] * bool(right)
        elif left == right:
            open_.append((at[0] + 1, at[1] + 1))
    return False
