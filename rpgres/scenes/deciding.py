"""The deciders of a scene: policies by name, standing orders of characters, and named sets of orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from rpgres.engine.players import ORDERS_FILE, OrdersPolicy, Policy, default_policy, policy_names, policy_of
from rpgres.errors import UsageError
from rpgres.lint.paths import Known
from rpgres.model.state import GM, State, slug
from rpgres.model.typed_paths import typed_path
from rpgres.rulesets import Rules, unknown
from rpgres.rulesets.orders import Orders
from rpgres.rulesets.sheets import SheetOrders
from rpgres.scenes.records import SceneFile, Step, texts_of
from rpgres.toml.diagnostics import Fault, diagnostics_error
from rpgres.toml.reading import Source, located


class Deciders(msgspec.Struct):
    """Policies and standing orders of a scene and of the scenes that it includes.

    Attributes:
        policies: names of policies or files of orders by character, the default under an empty name.
        texts: the text of the scene that names each policy, by character.
        orders: the standing orders of characters, from sheets or from the scene.
        sets: standing orders by name.
        sources: the text of each set.
    """

    policies: dict[str, str] = {}
    texts: dict[str, Source] = {}
    orders: dict[str, SheetOrders] = {}
    sets: dict[str, Orders] = {}
    sources: dict[str, Source] = {}

    def add(self, who: str, policy: str, folder: Path | None, source: Source) -> None:
        if policy:
            self.policies[who], self.texts[who] = beside(policy, folder), source

    def resolve(
        self, rules: Rules, state: State, named: Mapping[str, str], steps: list[Step], *, auto: bool
    ) -> dict[str, Policy]:
        """Return the policies by character, the default under an empty name.

        Args:
            named: policies that override those of the scene, by character.
            steps: the steps, whose inputs may bring further characters.
            auto: whether the ruleset's default policy decides for all others.

        Raises:
            UsageError: an unknown policy or character is named.
            FileError: standing orders are faulty, or the scene names an unknown policy.
        """
        seats, known = (*state.characters, GM), (*self.sets, *policy_names(rules))
        strange = next((name for name in named if name not in ("", *seats)), None)
        if strange is not None:
            raise UsageError(unknown("character", strange, seats, of="the scene"))
        for who, its in self.policies.items():
            if named.get(who) is None and its not in known and not its.endswith(ORDERS_FILE):
                at = ("characters", who, "policy") if who else ("policy",)
                fault = Fault("unknown-name", at, unknown("policy", its, known, of=f"the ruleset {rules.id}"))
                raise diagnostics_error(located([fault], self.texts[who]))
        chosen = {**self.policies, **{name: policy for name, policy in named.items() if name or policy}}
        if auto:
            chosen.setdefault("", default_policy(rules))
        if not self.sets and not self.orders and not any(name.endswith(ORDERS_FILE) for name in chosen.values()):
            return {name: policy_of(rules, its) for name, its in chosen.items()}
        from rpgres.engine.deciders import policies_for

        on_sheets = {name: its for name, its in self.orders.items() if name not in named}
        put = tuple(typed_path(path).inner for step in steps for path in step.set)
        joining = Known(rules, state, names_in(rules, steps), texts=put)
        return policies_for(chosen, on_sheets, known=joining, sets=self.sets, sources=self.sources)


def names_in(rules: Rules, steps: Iterable[Step]) -> tuple[str, ...]:
    """Return the names of characters that may join by inputs of steps: `guards` of `vs = "guards:fight"`."""
    found = dict.fromkeys(slug(text.partition(":")[0]) for text in texts_of([step.with_ for step in steps]))
    return tuple(name for name in found if name not in rules.file.rated and not name.isdigit())


def who_decides(file: SceneFile, policies: Mapping[str, Policy]) -> dict[str, str]:
    """Return the policy of each character of a scene in words: its name, or `orders`."""
    found: dict[str, str] = {}
    for name, policy in policies.items():
        said = file.characters.get(name, {}).get("policy", "")
        is_named = said in file.orders or said.endswith(ORDERS_FILE)
        if name and isinstance(policy, OrdersPolicy) and not is_named:
            found[name] = f"orders, then {said}" if said else "orders"
        elif said:
            found[name] = said
    return found


def beside(policy: str, folder: Path | None) -> str:
    """Return the name of a policy; a file of standing orders with the folder of the scene."""
    return str(folder / policy) if policy.endswith(ORDERS_FILE) and folder is not None else policy
