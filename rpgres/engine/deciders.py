"""Policies by name: those of a ruleset, sets and files of standing orders, and the orders on sheets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath

import msgspec

from rpgres.engine.orders import orders_policy
from rpgres.engine.players import ORDERS_FILE, OrdersPolicy, Policy, policy_names, policy_of
from rpgres.errors import RpgresError, UsageError
from rpgres.lint.orders import order_faults
from rpgres.lint.paths import Known
from rpgres.model.state import EMPTY
from rpgres.rulesets import Rules, unknown
from rpgres.rulesets.orders import Order, Orders, OrdersFile
from rpgres.rulesets.sheets import SheetOrders
from rpgres.rulesets.tree import reached
from rpgres.toml.diagnostics import Diagnostic, Fault, diagnostics_error, errors_in
from rpgres.toml.reading import Source, convert, located, parse, read_source


class Deciders(msgspec.Struct):
    """Policies by name: those of a ruleset, and sets of standing orders.

    Attributes:
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
        if name not in self.names:
            raise UsageError(unknown("policy", name, self.names, of=f"the ruleset {self.rules.id}"))
        if name not in self.sets:
            return policy_of(self.rules, name)
        if name not in self.made:
            self.made[name] = orders_policy(self.sets[name], named=self.named)
        return self.made[name]


def set_faults(known: Known, sets: Mapping[str, Sequence[Order]], *, users: Mapping[str, str]) -> Iterator[Fault]:
    """Yield what is wrong with sets of standing orders by name: with each, and where one leads back to itself.

    Args:
        known: what is at the table, and who may join later.
        sets: the orders, sound by type.
        users: the policies of characters by their names, the default under an empty name.
    """
    rules, characters = known.rules, known.state.characters if known.state is not None else EMPTY
    taken = policy_names(rules)

    def onward(name: str) -> list[str]:
        return [order.policy for order in sets.get(name, ()) if order.policy]

    everybody = {users[""], *reached([users[""]], onward)} if "" in users else set()
    for name, orders in sets.items():
        if name in taken:
            yield Fault("taken-name", (name,), f"{rules.id} has a policy {name!r}; use another name")
        if name in reached([name], onward):
            yield Fault("endless", (name,), "these orders leave a decision to themselves, by way of `policy`")
        seats = [who for who, used in users.items() if who and name in {used, *reached([used], onward)}]
        seats += [who for who in characters if name in everybody and who not in users]
        for who in seats or [""]:
            found = order_faults(rules, orders, known=known_to(known, who), policies=taken, sets=sets)
            yield from (fault.under(name) for fault in found)


def orders_source(name: str) -> Source:
    """Return the text of a file of standing orders; of a policy by name, orders that leave everything to it.

    Raises:
        FileError: the file cannot be read.
    """
    path = FilePath(name)
    is_file = name == "-" or name.endswith(ORDERS_FILE) or len(path.parts) > 1 or path.exists()
    return read_source(path) if is_file else Source(name, f"policy = {json.dumps(name)}\n")


def read_orders(
    source: Source, known: Known, *, deciders: Deciders | None = None, fallback: Policy | None = None
) -> OrdersPolicy:
    """Return the standing orders of a file as a policy.

    Args:
        known: who decides by them, and what is at the table.
        deciders: the policies that orders may name; those of the ruleset when left out.
        fallback: who decides what they say nothing of, where the file names no policy for that.

    Raises:
        FileError: the file is faulty; all problems at once.
    """
    deciders = deciders or Deciders(known.rules)
    file: OrdersFile = convert(parse(source), OrdersFile, source=source)
    found = errors_in(located(file_faults(file, known, deciders), source))
    if found:
        raise diagnostics_error(found)
    own = deciders.named(file.policy) if file.policy else fallback
    return orders_policy(file.orders, named=deciders.named, fallback=own)


def orders_diagnostics(source: Source, known: Known, *, deciders: Deciders | None = None) -> list[Diagnostic]:
    """Return what is wrong with a file of standing orders, warnings too; the arguments are those of `read_orders`.

    Raises:
        FileError: the file is no such file.
    """
    file: OrdersFile = convert(parse(source), OrdersFile, source=source)
    return located(file_faults(file, known, deciders or Deciders(known.rules)), source)


def file_faults(file: OrdersFile, known: Known, deciders: Deciders) -> Iterator[Fault]:
    """Yield what is wrong with a file of standing orders."""
    rules, names = known.rules, deciders.names
    if file.ruleset and file.ruleset != rules.id:
        message = f"these orders are for the ruleset {file.ruleset!r}, not {rules.id}"
        yield Fault("wrong-ruleset", ("ruleset",), message)
        return
    found = order_faults(rules, file.orders, known=known, policies=names, sets=deciders.sets)
    yield from (fault.under("orders") for fault in found)
    if file.policy and file.policy not in names:
        yield Fault("unknown-name", ("policy",), f"there is no policy {file.policy!r}", file.policy, names)


def policies_for(
    chosen: Mapping[str, str],
    on_sheets: Mapping[str, SheetOrders],
    *,
    known: Known,
    sets: Mapping[str, Orders] = EMPTY,
    sources: Mapping[str, Source] = EMPTY,
) -> dict[str, Policy]:
    """Return policies by character, standing orders included; the general policy decides what orders leave open.

    Args:
        chosen: policies by character, the default under an empty name: one of the ruleset, one of the sets, or a file.
        on_sheets: the orders of characters, on sheets or in a scene; they come before the policy that is chosen.
        known: what is at the table, and who and what may come later.

    Raises:
        UsageError: there is no policy of a name.
        FileError: standing orders are faulty, or their file is missing.
    """
    faults = errors_in(dict.fromkeys(set_faults(known, sets, users=chosen)))
    if faults:
        placed = [located([fault.under("orders")], sources[str(fault.path[0])])[0] for fault in faults]
        raise diagnostics_error(placed)
    deciders, found = Deciders(known.rules, sets), dict[str, Policy]()
    for who, name in sorted(chosen.items()):  # everybody's first
        everybody = found.get("")
        if name.endswith(ORDERS_FILE):
            seen = known_to(known, who)
            found[who] = read_orders(read_source(FilePath(name)), seen, deciders=deciders, fallback=everybody)
        elif name in sets:
            found[who] = orders_policy(sets[name], named=deciders.named, fallback=everybody)
        else:
            found[who] = deciders.named(name)
    for who, orders in on_sheets.items():
        wrong = errors_in(_sheet_diagnostics(orders, known, who, deciders))
        if wrong:
            raise diagnostics_error(wrong)
        fallback = found.get(who, found.get(""))
        found[who] = orders_policy(orders.orders, named=deciders.named, fallback=fallback)
    return found


def check_deciders(
    known: Known,
    *,
    sets: Mapping[str, Orders],
    users: Mapping[str, str],
    on_sheets: Mapping[str, SheetOrders],
) -> Iterator[tuple[str, Fault | Diagnostic | RpgresError]]:
    """Yield the faults of policies and orders in a scene, each with the character they decide for; warnings too.

    Args:
        known: what is at the table, and who may join later.
        sets: standing orders by name, sound by type; their faults are not placed yet.
        users: policies by character, the default under an empty name.
        on_sheets: the standing orders of characters, on sheets or in the scene.
    """
    deciders = Deciders(known.rules, sets)
    yield from (("", fault.under("orders")) for fault in dict.fromkeys(set_faults(known, sets, users=users)))
    for who, name in users.items():
        try:
            if name.endswith(ORDERS_FILE):
                found = orders_diagnostics(read_source(FilePath(name)), known_to(known, who), deciders=deciders)
                yield from ((who, diagnostic) for diagnostic in found)
            else:
                deciders.named(name)
        except RpgresError as error:
            yield who, error
    for who, orders in on_sheets.items():
        yield from ((who, diagnostic) for diagnostic in _sheet_diagnostics(orders, known, who, deciders))


def known_to(known: Known, who: str, *, is_portable: bool = False) -> Known:
    """Return the names that a player's orders may use; for all players, those that every seat may see."""
    seat = known.state.seat_of(who) if who and known.state is not None else ""
    return msgspec.structs.replace(known, who=who, seat=seat, is_portable=is_portable)


def _sheet_diagnostics(orders: SheetOrders, known: Known, who: str, deciders: Deciders) -> list[Diagnostic]:
    seen = known_to(known, who, is_portable=orders.is_portable)
    found = order_faults(known.rules, orders.orders, known=seen, policies=deciders.names, sets=deciders.sets)
    return located([fault.under(*orders.at) for fault in found], orders.source)
