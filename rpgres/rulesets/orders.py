"""Standing orders as records of TOML: decisions taken without asking.

One form serves sheets, scenes, files of their own and persistent tables. What they decide is in `rpgres.engine.orders`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from rpgres.model.conditions import Conditions
from rpgres.rulesets.rows import Id, Record

WORDS = {
    "first": "the option offered first",
    "last": "the option offered last",
    "preferred": "the option that the ruleset recommends most; an optional decision passes where it recommends none",
    "any": "one of the options, each as likely as the others",
    "no": "skip an optional decision",
}
BY_FACT = ("highest", "lowest")  # the keys of a `choose` that goes by a number that options have

Choose = str | list[str] | dict[str, int | str]


class Order(Record, frozen=True):
    """One standing order: a decision, when it holds, and what is chosen then. The first that holds decides.

    Attributes:
        ask: the label of the decision, or several; any decision when left out.
        when: what has to hold, by path: `self.tracks.physical.free = "<= 1"`, `enemies.count = ">= 2"`,
            `facts.margin = "< 0"`, `options.concede = true`.
        choose: an option by name, `*` standing for any characters; one of the words `first`, `last`, `preferred`, `any`
            and `no`; a list of these, of which the first one offered is taken; `{ highest = FACT }` or
            `{ lowest = FACT }` by a number that options have; or whole-number weights of options and words,
            `{ a = 2, any = 1 }`, where it must be unpredictable.
        policy: in place of `choose`: the policy that decides then, a ruleset's or other orders by name.
        note: why, for people.
    """

    MEANT: ClassVar[Mapping[str, str]] = {  # keys that people write in place of these
        **dict.fromkeys(("decision", "label", "question", "on"), "ask"),
        **dict.fromkeys(("if", "condition", "conditions"), "when"),
        **dict.fromkeys(("then", "do", "pick", "answer", "choice", "option", "weights"), "choose"),
    }

    ask: str | list[str] = ""
    when: Conditions = {}
    choose: Choose | None = None
    policy: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if (self.choose is None) == (not self.policy):
            raise ValueError("an order has one of choose and policy")

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it is for; none for any."""
        return tuple(self.ask) if isinstance(self.ask, list) else (self.ask,) if self.ask else ()

    @property
    def wanted(self) -> dict[str, int]:
        """The options it may choose, by name or pattern, with their weights; none where a rule over options does."""
        if isinstance(self.choose, str):
            return {self.choose: 1}
        if isinstance(self.choose, list):
            return dict.fromkeys(self.choose, 1)
        weights = self.choose or {}
        return {} if self.by_fact else {name: weight for name, weight in weights.items() if isinstance(weight, int)}

    @property
    def by_fact(self) -> tuple[str, str] | None:
        """`highest` or `lowest`, and the fact of options by which it chooses; None where it goes by names."""
        if isinstance(self.choose, dict) and len(self.choose) == 1:
            (key, fact), *_ = self.choose.items()
            if key in BY_FACT and isinstance(fact, str):
                return key, fact
        return None

    @property
    def always_decides(self) -> bool:
        """Whether it decides whatever is offered."""
        certain = [name for name in self.wanted if name in WORDS and name != "no" and self.wanted[name]]
        return bool(self.policy) or bool(certain)


Orders = list[Order]
NamedOrders = dict[Id, Orders]


class OrdersFile(Record, frozen=True):
    """A file of standing orders.

    Attributes:
        ruleset: the id of the ruleset they are for; any when left out.
        title: what they are called.
        orders: the orders, in order of priority: the first that holds decides.
        policy: who decides where none of them does: the name of a policy of the ruleset.
    """

    ruleset: str = ""
    title: str = ""
    orders: Orders = msgspec.field(default_factory=list)
    policy: str = ""
