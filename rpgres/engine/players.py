"""Decisions: questions, the views of seats, and policies, which answer questions for a player.

A policy is a function of what a seat may know and of the question: `policy(view, question)` returns an option's
name, whole-number weights over option names (the dealer then draws), or None to leave the question to others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from rpgres.errors import ChoiceError, UsageError, enumerated
from rpgres.model.state import EMPTY, Card, State, slug
from rpgres.rulesets import OUTCOME_ONLY, Option, Rules, unknown

NO = "no"
"""The answer that skips an optional question."""
HOSTS = "host"  # the source of an answer that the host of a persistent table gave for a player
POLICY = "policy"  # by what means an answer came that a policy gave
WINDOW = "window"  # by what means an optional question was skipped that nobody answered
ORDERS = "orders"  # the source of an answer by standing orders
ORDERS_FILE = ".toml"  # the end of a policy's name that is a file of standing orders


class Question(msgspec.Struct, frozen=True, gc=False):
    """A decision that a player has to take, or may take when it is `optional`.

    Attributes:
        label: the name by which it is answered.
        who: the character that decides, or `GM`; its seat answers.
        options: what may be answered; an optional question may also be answered `NO`.
        text: the question as put to a person.
        facts: what the decision is about, so that a policy need not dig for it.
        form: how an answer beyond the options is typed, where `reads` takes such.
        reads: takes a typed answer that is none of the options, where there are too many to list; returns it as it is
            kept, or raises `UsageError`. The options are suggestions then.
        pile: the hand whose cards the options are; in odds it may be one that no one has seen.
        card_key: for odds of such a hand, the equivalence key of a card from here on.
        hidden: whether others must not learn how many options there are.
        words: what the decision is about, for people; in place of the facts.
        of: whose decision it is, where another player answers it; public.
        aside: further options that policies and odds do not evaluate: they only save people another question, or are
            worth about what one of the options is.
        dominant: an option that is never worse for the result of the action than another, so that its odds need not
            look at the others. What it costs may be missed later, so that odds of a scene look at all.
        is_won: whether its owner, deciding well, is certain of success whatever chance answers from here on.
        holds: the questions of odds for which `card_key` holds.
        is_naming: whether it asks only what something is called: policies and odds leave it, and nothing waits for it.
        moot: whether no answer can bring its owner anything but what it costs; then the question is skipped, and
            only answers given beforehand count.
        says_more: whether all that `reads` takes is an option with more words (`attack voss`), which policies and odds
            do not evaluate.
    """

    label: str
    who: str
    options: tuple[Option, ...]
    text: str = ""
    optional: bool = False
    facts: Mapping[str, Any] = EMPTY
    dominant: str = ""
    is_won: bool = False
    form: str = ""
    reads: Callable[[str], str] | None = None
    pile: str = ""
    card_key: Callable[[Card], Hashable] | None = None
    hidden: bool = False
    words: str = ""
    of: str = ""
    aside: tuple[Option, ...] = ()
    holds: Collection[str] = OUTCOME_ONLY
    is_naming: bool = False
    moot: bool = False
    says_more: bool = False

    @property
    def offered(self) -> tuple[Option, ...]:
        """All options that may be chosen."""
        return (*self.options, *self.aside)

    @property
    def listed(self) -> tuple[Option, ...]:
        """The options that are shown to the owner, without the one that skips the question."""
        passing = self.passing
        return tuple(option for option in self.offered if option is not passing)

    @property
    def passing(self) -> Option | None:
        """The rule's own option that skips an optional question, where it has one; `NO` always does."""
        return next((option for option in self.offered if self.optional and option.passes), None)

    @property
    def alike(self) -> dict[str, str]:
        """The options that differ in name alone from one before them, with the name of that one; see `Option.like`."""
        names = {option.name for option in self.options}
        return {option.name: option.like for option in self.options if option.like in names}

    @property
    def is_one(self) -> bool:
        """Whether there is nothing to decide: a single option, or none where the question is optional."""
        return self.reads is None and len(self.options) <= (0 if self.optional else 1)


def named_option(options: tuple[Option, ...], choice: str) -> Option | None:
    """Return the option that an answer names."""
    for option in options:  # as policies name them
        if option.name == choice:
            return option
    typed = slug(choice)
    for option in options:
        if option.name == typed or choice in option.aliases:
            return option
    for option in options:
        if option.accepts is not None and option.accepts(typed):
            return option
    # Cards are named with capitals, and typed as it comes.
    lower = choice.lower()
    same = [option for option in options if option.name.lower() == lower]
    return same[0] if len(same) == 1 else None


def refusal(question: Question, choice: str) -> ChoiceError:
    """Return the error for an answer that a question does not offer: what may be chosen, and what was meant."""
    names = [option.name for option in question.offered]
    return ChoiceError(_not_offered(question, choice), label=question.label, options=names)


def _not_offered(question: Question, choice: str) -> str:
    from rpgres.model.cards import meant
    from rpgres.toml.diagnostics import nearest

    names = [option.name for option in question.offered] + ([NO] if question.optional else [])
    if not question.options:
        why = f" ({question.text})" if question.text else ""
        return f"{question.label}={choice} is not possible here: {question.who} has no options{why}"
    cards = meant(choice, {option.name: (option.name,) for option in question.options})
    near = nearest(choice, names)
    said = " or ".join(cards) or (repr(near) if near else "")
    hint = f"; did you mean {said}?" if said else ""
    return (
        f"{question.label}={choice} is not offered here; {question.who} may choose: {enumerated(names, choice)}{hint}"
    )


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What a player answered, and by what means: an option's name, or weights from which the dealer draws one."""

    choice: str | Mapping[str, int]
    means: str


class View(msgspec.Struct, frozen=True, gc=False):
    """What a seat may know. Policies and prompts get this and never the table or its state.

    Attributes:
        seat: whose view it is.
        state: the state as the seat sees it.
        events: what happened in this action so far, as far as the seat may know; not to be changed.
        forgotten: what happened before the last merge, which people may still want to read; no policy may.
    """

    seat: str
    state: State
    events: Sequence[Any] = ()
    forgotten: Sequence[Any] = ()


Answerer = Callable[[Question, View], "Answer | None"]  # None leaves the question to the next
Policy = Callable[[View, Question], "str | Mapping[str, int] | None"]
"""Type: `(view, question) -> option name, weights by option name, or None`."""
Prompt = Callable[[View, Question], "str | None"]


class Preference:
    """A policy that decides by an order of preference, which may depend on what everybody knows and nothing else.

    Odds then need not know what is in a hand: by what is played from it, they know what is not.

    Args:
        key: `key(label, facts, option)` is the less, the more the option is preferred, for a question with that label
            and those facts, all of which everybody at the table knows. Options that it is the same for are preferred
            in the order in which they are offered, and should be all the same to the rule. The option `NO`
            skips an optional question.
    """

    __slots__ = ("key",)

    def __init__(self, key: Callable[[str, Mapping[str, Any], Option], Any]) -> None:
        self.key = key

    def __call__(self, view: View, question: Question) -> str:
        """Return the option preferred most."""
        return self.order(question)[0].name

    def order(self, question: Question) -> list[Option]:
        """Return the options of a question, the most preferred first."""
        options = [*question.options, Option(NO)] if question.optional else list(question.options)
        return sorted(options, key=lambda option: self.key(question.label, question.facts, option))


Labels = tuple[str, ...] | None  # of decisions; None for any


class Promises(NamedTuple):
    """What a policy promises of itself; see `by_question` and `by_facts`."""

    by_question: bool
    by_facts: bool


NO_PROMISES = Promises(by_question=False, by_facts=False)
ALL_PROMISES = Promises(by_question=True, by_facts=True)


def promises_of(policy: Policy | None, labels: Labels = None) -> Promises:
    """Return what a policy promises for decisions with these labels; without a policy there is nothing to break."""
    if policy is None:
        return ALL_PROMISES
    if isinstance(policy, OrdersPolicy):
        return policy.promises(labels)
    return Promises(getattr(policy, "by_question", False), getattr(policy, "by_facts", False))


def policy_for(policy: Policy | None, labels: Sequence[str]) -> Policy | None:
    """Return the policy that takes decisions with these labels: behind orders that are for others, their fallback."""
    while isinstance(policy, OrdersPolicy) and policy.labels is not None and policy.labels.isdisjoint(labels):
        policy = policy.fallback
    return policy


class OrdersPolicy:
    """Standing orders as a policy: they decide, and leave to another policy what they say nothing of.

    Args:
        orders: what the orders decide; None where they say nothing.
        fallback: the policy then; none when left out.
        preference: the same as an order of preference, where orders and fallback are one.
        promising: returns what the orders promise for decisions with some labels; nothing when left out.
        labels: the decisions that the orders are for; None for any.
    """

    __slots__ = ("_promised", "_promising", "fallback", "labels", "orders", "preference")

    def __init__(
        self,
        orders: Policy,
        fallback: Policy | None = None,
        *,
        preference: Preference | None = None,
        promising: Callable[[Labels], Promises] = lambda _labels: NO_PROMISES,
        labels: frozenset[str] | None = None,
    ) -> None:
        self.orders, self.fallback, self.preference = orders, fallback, preference
        self.labels, self._promising = labels, promising
        self._promised: dict[Labels, Promises] = {}

    def promises(self, labels: Labels = None) -> Promises:
        """Return what orders and fallback promise for decisions with these labels."""
        found = self._promised.get(labels)
        if found is None:
            own, rest = self._promising(labels), promises_of(self.fallback, labels)
            found = Promises(own.by_question and rest.by_question, own.by_facts and rest.by_facts)
            self._promised[labels] = found
        return found

    def __call__(self, view: View, question: Question) -> str | Mapping[str, int] | None:
        """Return what is decided."""
        answer = self.answer(view, question)
        return answer.choice if answer is not None else None

    def answer(self, view: View, question: Question) -> Answer | None:
        """Return what is decided, and by what means."""
        choice = self.orders(view, question)
        if choice is not None:
            return Answer(choice, ORDERS)
        if isinstance(self.fallback, OrdersPolicy):
            return self.fallback.answer(view, question)
        choice = self.fallback(view, question) if self.fallback is not None else None
        return Answer(choice, POLICY) if choice is not None else None


def preference_of(policy: Policy | None) -> Preference | None:
    """Return a policy as an order of preference; None where it is none."""
    if isinstance(policy, OrdersPolicy):
        return policy.preference
    return policy if isinstance(policy, Preference) else None


_P = TypeVar("_P", bound=Policy)


def by_question(policy: _P) -> _P:
    """Mark the decorated policy as one that looks at nothing but the question: it is given an empty view.

    It is a promise, by which odds of scenes work out parts of rules once for many tables (`Table.part`).
    """
    policy.by_question = True  # type: ignore[attr-defined]
    return policy


def by_facts(policy: _P) -> _P:
    """Mark the decorated policy as one that promises `by_question`, and takes no notice of what things are called.

    It goes by facts, preferences and the order of options. So odds of scenes take tables for equal on which things
    differ in their names alone.
    """
    policy.by_facts = True  # type: ignore[attr-defined]
    return by_question(policy)


@by_facts
def uniform(view: View, question: Question) -> Mapping[str, int]:
    """Return equal weights over all options, skipping an optional question included. The yardstick for policies."""
    weights = {option.name: 1 for option in question.options}
    if question.optional:
        weights.setdefault(NO, 1)
    return weights


@by_facts
def preferred(view: View, question: Question) -> str:
    """Return the option preferred most, the first of equals; an optional question is skipped unless one is over 0."""
    best = question.options[0]
    for option in question.options:
        if option.prefer > best.prefer:
            best = option
    return NO if question.optional and best.prefer <= 0 else best.name


# What every ruleset has, beside policies of its own.
COMMON_POLICIES: dict[str, Policy] = {"uniform": uniform, "preferred": preferred}


def policy_of(rules: Rules, name: str = "") -> Policy:
    """Return a policy by name; without one, the one of `--auto`.

    Raises:
        UsageError: the ruleset has no such policy.
    """
    policies = {**COMMON_POLICIES, **rules.ruleset.policies}
    found = policies.get(name or default_policy(rules))
    if found is None:
        raise UsageError(unknown("policy", name, policies, of=f"the ruleset {rules.id}"))
    return found


def policy_names(rules: Rules) -> tuple[str, ...]:
    """Return the names of the policies of a ruleset, and of those that every ruleset has."""
    return tuple(dict.fromkeys((*rules.ruleset.policies, *COMMON_POLICIES)))


def policies_named(rules: Rules, named: Mapping[str, str], *, auto: bool) -> dict[str, str]:
    """Return policies by name: those that were named, and with `auto` the ruleset's for all others.

    Args:
        named: policies by character, the default under an empty name.
    """
    return ({"": default_policy(rules)} if auto else {}) | dict(named)


def default_policy(rules: Rules) -> str:
    """Return the name of the policy of `--auto`: the ruleset's first, or one that every ruleset has.

    A ruleset that is data alone says with `prefer` what is liked; of another without policies, nothing is known.
    """
    return next(iter(rules.ruleset.policies), "preferred" if rules.file.standalone else "uniform")
