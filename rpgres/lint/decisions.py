"""The decisions that a ruleset can ask for, with what orders may name of them: options, and facts that are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from rpgres.errors import FileError
from rpgres.lint.paths import Known, brought_forth, people
from rpgres.model.state import slug
from rpgres.rulesets import RowQuestion, Rules
from rpgres.rulesets.schema import CARD, CHARACTER, NAME, Label
from rpgres.rulesets.tree import walk

OF_ROWS = frozenset({"margin"})  # what every question of an outcome table is about
NO = "no"  # the answer that skips an optional decision
_ANY = "*"


class Decision(msgspec.Struct, frozen=True):
    """A decision that a ruleset can ask for.

    Attributes:
        options: the options it can offer, as `Label.options` has them; None where these are not told.
        is_optional: whether it may pass; None where that is not told.
        facts: what it is about, by name; None where that cannot be told.
        option_facts: what its options are about, likewise.
        is_typed: whether other answers than its options can be typed.
        certain: the answers that it takes whenever it is asked, as far as that is told; `no` where it may always pass.
    """

    options: frozenset[str] | None = None
    is_optional: bool | None = None
    facts: frozenset[str] | None = None
    option_facts: frozenset[str] | None = None
    is_typed: bool = False
    certain: frozenset[str] = frozenset()

    def plus(self, other: Decision) -> Decision:
        """Return the decision as it is where two are asked under one label."""
        return Decision(
            _either(self.options, other.options),
            None if self.is_optional is None or other.is_optional is None else self.is_optional or other.is_optional,
            _either(self.facts, other.facts),
            _either(self.option_facts, other.option_facts),
            self.is_typed or other.is_typed,
            self.certain & other.certain,
        )


_UNKNOWN = Decision()  # of an unknown label, which another check reports; nothing can be said of its facts


def _either(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    return None if one is None or other is None else one | other


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
            found[name] = _as_declared(declared, found[name]) if name in found else declared
    for name, facts in _facts_of_rolls(rules):
        found[name] = msgspec.structs.replace(found[name], facts=_either(found[name].facts, facts))
    return found


def _declared(label: Label) -> Decision:
    options, facts = frozenset(label.options) or None, frozenset(label.facts)
    certain = frozenset([NO]) if label.optional else frozenset[str]()
    return Decision(options, label.optional or None, facts, frozenset(label.option_facts), label.typed, certain)


def _as_declared(declared: Decision, of_rows: Decision) -> Decision:
    """Return a decision of outcome tables that is declared, too: with the facts that code tells of it."""
    both = declared.plus(of_rows)
    return msgspec.structs.replace(both, options=declared.options or of_rows.options)


def _of_rows(rules: Rules) -> dict[str, Decision]:
    """Return the decisions that outcome tables ask for, by label."""
    found: dict[str, Decision] = {}
    tables = dict.fromkeys(table for action in rules.file.actions.values() for table in action.tables)
    for path, node in walk([rules.table(table) for table in tables], menu=rules.menu):
        if isinstance(node, RowQuestion):
            label, always = str(path[-1]), {name for name, its in node.options.items() if not (its.when or its.unless)}
            certain = frozenset([*always, NO] if node.optional else always)
            asked = Decision(frozenset(node.options), node.optional, OF_ROWS, frozenset(), certain=certain)
            found[label] = found[label].plus(asked) if label in found else asked
    return found


def _facts_of_rolls(rules: Rules) -> Iterator[tuple[str, frozenset[str] | None]]:
    """Yield the questions inside rolls of described actions, each with what its formulas speak of."""
    for name, action in rules.file.actions.items():
        if not action.ask:
            continue
        from rpgres.rulesets.dice_plans import dice_plan

        try:
            asks = dice_plan(rules.file, name).asks
        except FileError:  # the check of dice plans reports it
            yield from ((label, None) for label in action.ask)
        else:
            yield from ((label, frozenset(ask.facts)) for label, ask in asks.items())


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
    every = Decision(frozenset(), False, frozenset(), frozenset())
    for decision in by_label.values():
        every = every.plus(decision)
    return Asked(by_label, every, bool(labels))


# ---------------------------------------------------------------------------------------------------------------------
# Options


def options_at(decision: Decision, known: Known, *, is_later: bool = False) -> list[str] | None:
    """Return the options that a decision can offer at a table, with `*` for any text; None where these are not told.

    Args:
        decision: the decision.
        known: what is at the table.
        is_later: whether it may be asked when play has brought forth more.
    """
    if decision.options is None:
        return None
    found, there = sorted(decision.options), None if is_later else brought_forth(known)
    for place, names in ((CHARACTER, people(known)), (CARD, _cards(known.rules, found)), (NAME, there)):
        several = [_ANY] if names is None else sorted(names)
        found = [option.replace(place, name) for option in found for name in (several if place in option else [""])]
    return list(dict.fromkeys(found))


def _cards(rules: Rules, options: Iterable[str]) -> frozenset[str]:
    if not any(CARD in option for option in options):
        return frozenset()
    cards = rules.cards
    return frozenset(card.short for card in cards.by_code.values()) | frozenset(cards.by_code)


def offers(option: str, name: str, *, is_choice: bool = False) -> bool:
    """Tell whether a name, or a pattern with `*`, can mean an option, itself a name or a pattern.

    Args:
        option: the option.
        name: the name.
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
