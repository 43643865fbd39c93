"""Who decides in a scene: policies by name, standing orders of characters, and sets of orders that a policy names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from rpgres.engine.players import ORDERS_FILE, OrdersPolicy, Policy, default_policy, policy_names, policy_of
from rpgres.errors import UsageError
from rpgres.lint.paths import Known
from rpgres.model.state import GM, State, slug
from rpgres.rulesets import Rules, unknown
from rpgres.rulesets.orders import Orders
from rpgres.rulesets.sheets import SheetOrders
from rpgres.scenes.records import SceneFile, Step
from rpgres.toml.diagnostics import Fault, diagnostics_error
from rpgres.toml.reading import Source, located


class Deciding(msgspec.Struct):
    """What a scene, with those that it includes, says of who decides.

    Attributes:
        policies: policies by character, the default under an empty name: names, or files of orders with their folder.
        texts: the text of the scene that says so, likewise.
        orders: the standing orders of characters, of sheets or of the scene.
        sets: standing orders by name.
        sources: the text that each set stands in.
    """

    policies: dict[str, str] = {}
    texts: dict[str, Source] = {}
    orders: dict[str, SheetOrders] = {}
    sets: dict[str, Orders] = {}
    sources: dict[str, Source] = {}

    def add(self, who: str, policy: str, folder: Path | None, source: Source) -> None:
        """Take note of the policy of a character; a file of orders lies beside the scene."""
        if policy:
            self.policies[who], self.texts[who] = beside(policy, folder), source

    def add_sets(self, sets: Mapping[str, Orders], source: Source) -> None:
        """Take note of the sets of a scene; one that is there already stays."""
        for name, orders in sets.items():
            if name not in self.sets:
                self.sets[name], self.sources[name] = orders, source

    def made(
        self,
        rules: Rules,
        state: State,
        named: Mapping[str, str],
        steps: Iterable[Step],
        *,
        auto: bool,
    ) -> dict[str, Policy]:
        """Return the policies by character, the default under an empty name; see `read_scene`.

        Args:
            named: policies that come before those of the scene, likewise.
            steps: what is played, whose inputs may bring further characters.
            auto: whether everybody else decides by the default policy.

        Raises:
            UsageError: there is no policy or character of a name.
            FileError: standing orders are faulty, or the scene names a policy that there is not.
        """
        strange = next((name for name in named if name not in ("", *state.characters, GM)), None)
        if strange is not None:
            raise UsageError(unknown("character", strange, (*state.characters, GM), of="the scene"))
        known_names = (*self.sets, *policy_names(rules))
        for who, its in self.policies.items():
            if named.get(who) is None and its not in known_names and not its.endswith(ORDERS_FILE):
                at = ("characters", who, "policy") if who else ("policy",)
                fault = Fault("unknown-name", at, unknown("policy", its, known_names, of=f"the ruleset {rules.id}"))
                raise diagnostics_error(located([fault], self.texts[who]))
        chosen = {**self.policies, **{name: policy for name, policy in named.items() if name or policy}}
        if auto:
            chosen.setdefault("", default_policy(rules))
        if not self.sets and not self.orders and not any(name.endswith(ORDERS_FILE) for name in chosen.values()):
            return {name: policy_of(rules, its) for name, its in chosen.items()}
        from rpgres.engine.deciders import policies_for

        on_sheets = {name: its for name, its in self.orders.items() if name not in named}
        steps = list(steps)
        put = tuple(path.partition(".")[2] for step in steps for path in step.set)
        known = Known(rules, state, names_in(rules, steps), texts=put)
        return policies_for(chosen, on_sheets, known=known, sets=self.sets, sources=self.sources)


def names_in(rules: Rules, steps: Iterable[Step]) -> tuple[str, ...]:
    """Return every name that inputs of steps may bring a character by: `guards` for `vs = "guards:fight"`."""
    left: list[Any] = [step.with_ for step in steps]
    found: dict[str, None] = {}
    while left:
        one = left.pop()
        if isinstance(one, str):
            found[slug(one.partition(":")[0])] = None
        left += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    abilities = rules.file.rated
    return tuple(name for name in found if name not in abilities and not name.isdigit())


def who_decides(file: SceneFile, policies: Mapping[str, Policy]) -> dict[str, str]:
    """Return by which policy each character of a scene decides, for people: its name, or `orders`."""
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
    """Return a policy's name as it is; that of a file of standing orders with the folder of the scene."""
    return str(folder / policy) if policy.endswith(ORDERS_FILE) and folder is not None else policy
