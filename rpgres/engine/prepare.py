"""Before a run: the inputs of an action are read, its policies and typed answers found."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.players import ORDERS_FILE, Policy, policies_named, policy_of
from rpgres.engine.running import Found, Run, Trust
from rpgres.engine.seats import Seats
from rpgres.errors import UsageError
from rpgres.model.state import EMPTY, GM, Card, State
from rpgres.parameters.context import ACTOR, OPPONENT, InputContext
from rpgres.parameters.reading import read_inputs
from rpgres.parameters.values import Form, Opposition
from rpgres.rulesets import OUTCOME_ONLY, Costs, Rule, Rules, unknown
from rpgres.rulesets.effects import with_tracks

if TYPE_CHECKING:
    from rpgres.model.cards import Stack
    from rpgres.rulesets.sheets import SheetOrders
    from rpgres.toml.reading import Source

Placed = tuple[str, tuple[str, ...], str]  # cards that an input places: the pile, the cards, the option


class Shared(msgspec.Struct, frozen=True):
    """What all runs of a prepared action have in common.

    Attributes:
        costs: what its ruleset registered as the costs of doing it.
        found: what the rule worked out; see `table.once`. None where that does not count: in a procedure, whose turns
            differ, where inputs place cards first or a claim is confirmed, and at a table that takes note of what is
            read of it, each time.
    """

    rule: Rule
    costs: Costs | None
    is_procedure: bool
    found: Found | None


class Prepared(msgspec.Struct, frozen=True, dict=True):
    """An action whose inputs are read: ready to be run, any number of times.

    Attributes:
        state: what lies on the table before it.
        arguments: what the rule takes.
        inputs: what was typed, for the record.
        placed: cards that inputs place before the action, as (pile, cards, option).
        lump: the equivalence key of a card for the rule, for odds; None where all kinds differ.
        sheets: the texts of the sheets that were read, by the name that was typed.
        trust: what of it no sheet has, and how that is treated; None where everything typed counts.
        orders: the standing orders on the sheets that were read, by character.
    """

    rules: Rules
    action: str
    state: State
    actor: str
    arguments: dict[str, Any]
    inputs: dict[str, Any]
    placed: tuple[Placed, ...] = ()
    lump: Callable[[Card], Hashable] | None = None
    sheets: Mapping[str, Source] = EMPTY
    trust: Trust | None = None
    orders: Mapping[str, SheetOrders] = EMPTY

    @cached_property
    def shared(self) -> Shared:
        """What its runs have in common."""
        code, action = self.rules.ruleset, self.action
        rule = code.actions.get(action) or _rule_in_data(self.rules, action)
        is_procedure = action in code.procedures
        is_first = not self.placed and self.trust is None  # what the rule does, before all else
        is_kept = type(self.state) is State and is_first and not is_procedure
        return Shared(rule, code.costs.get(action), is_procedure, [] if is_kept else None)

    def lump_for(self, asked: str) -> Callable[[Card], Hashable] | None:
        """Return the equivalence key of cards where it holds for what odds are asked (`QUESTIONS`)."""
        return self.lump if asked in self.rules.ruleset.lumps_hold.get(self.action, OUTCOME_ONLY) else None


def _rule_in_data(rules: Rules, action: str) -> Rule:
    """Return the rule of an action that needs no code, because its data describe it."""
    if action in rules.file.tables:
        from rpgres.engine.tables import roll_on

        return partial(roll_on, action)
    from rpgres.engine.named_dice.play import play_named

    return partial(play_named, action)


def prepare(
    rules: Rules,
    action: str,
    inputs: Mapping[str, Any],
    *,
    state: State | None = None,
    actor: str = "",
    beside: Path | None = None,
    confined: bool = False,
    sheets: Mapping[str, Source] = EMPTY,
) -> Prepared:
    """Return an action with its inputs read.

    Args:
        inputs: values by parameter name, as typed or scripted.
        state: the table so far; empty by default.
        actor: the actor, a character of that state; by default the one that `sheet` describes.
        beside: the folder in which sheets are sought first.
        confined: whether sheets may only be named by plain file names, for untrusted inputs.
        sheets: the texts of sheets by the name that is typed, in place of what the files say now.

    Raises:
        UsageError: the action or an input is unknown, missing or impossible.
        FileError: a sheet is missing or faulty.
    """
    rules.require_action(action)
    context = InputContext(
        rules,
        with_tracks(rules, state if state is not None else State()),
        actor=actor or ACTOR,
        beside=beside,
        confined=confined,
        sheets=dict(sheets),
    )
    arguments = read_inputs(context, action, inputs)
    plain = {key.replace("_", "-"): value for key, value in inputs.items() if value is not None}
    state, placed, lump = context.state, tuple(context.placed), None
    if rules.file.piles:
        from rpgres.engine.piles import lay_out

        state, lump = lay_out(rules, state), _card_equivalence(rules, action, arguments, state)
    return Prepared(
        rules,
        action,
        state,
        context.actor,
        arguments,
        plain,
        placed,
        lump,
        context.sheets,
        orders=context.orders,
    )


def _card_equivalence(
    rules: Rules, action: str, arguments: Mapping[str, Any], state: State
) -> Callable[[Card], Hashable] | None:
    """Return the equivalence key of cards for a rule with these arguments, as its ruleset registered it."""
    lump = rules.ruleset.lumps.get(action)
    if lump is None:
        return None
    keys: dict[str, Hashable] = {}

    def key(card: Card) -> Hashable:
        if card.code not in keys:
            keys[card.code] = lump(rules, card, state=state, **arguments)
        return keys[card.code]

    return key


def lay_placed(run: Run, placed: Sequence[Placed]) -> None:
    """Place the cards that inputs name in piles; see `cards.place`."""
    from rpgres.engine import cards

    for number, (pile, texts, option) in enumerate(placed):
        later = [text for _, others, _ in placed[number + 1 :] for text in others]
        cards.place(run, pile, texts, option=option, elsewhere=later)


def with_piles(prepared: Prepared, *, asked: str) -> Prepared:
    """Return an action with the cards that inputs place in their piles, where that leaves nothing to chance.

    Callers that run it many times for one question (`QUESTIONS`) need not do it each time.

    Raises:
        UsageError: there is no such card, or it lies somewhere else.
    """
    if not prepared.placed:
        return prepared
    dealer = _Unlaid()
    run = Run(prepared.rules, prepared.state, dealer, Seats(), lump=prepared.lump_for(asked))
    lay_placed(run, prepared.placed)
    if dealer.was_asked:
        return prepared
    return msgspec.structs.replace(prepared, state=run.state, placed=())


class _Unlaid(SeededDealer):
    """A dealer that answers where cards are equivalent, and notes whether it was asked for others."""

    __slots__ = ("was_asked",)

    def __init__(self) -> None:
        super().__init__(Streams(""))
        self.was_asked = False

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        from rpgres.model.cards import classes

        firsts, _ = classes(cards, stack)
        self.was_asked |= len(firsts) > 1
        return firsts[0]


def policies_of(
    prepared: Prepared,
    named: Mapping[str, str],
    *,
    auto: bool = False,
    with_orders: bool = False,
    files: bool = False,
) -> dict[str, Policy]:
    """Return the policies of an action by character, the default under an empty name.

    Standing orders on sheets decide for those who have no policy of their own, and before everybody's.

    Args:
        prepared: the action, which says who is at the table.
        named: policy by character; `actor` and `opponent` stand for these characters, an empty name for all.
        auto: whether the ruleset's first policy answers for players without one.
        with_orders: whether the orders on sheets count even without a policy.
        files: whether a name that ends in `.toml` is that of a file of standing orders.

    Raises:
        UsageError: there is no such policy or character.
        FileError: a file of orders cannot be read, or orders are faulty.
    """
    rules = prepared.rules
    meant = {_named(prepared, who, without=GM) if who else "": name for who, name in named.items()}
    chosen = policies_named(rules, meant, auto=auto)
    is_file = {who: files and name.endswith(ORDERS_FILE) for who, name in chosen.items()}
    policies = {who: policy_of(rules, name) for who, name in chosen.items() if not is_file[who]}
    if len(policies) == len(chosen) and not (prepared.orders and (with_orders or policies)):
        return policies
    from rpgres.engine.deciders import policies_for
    from rpgres.lint.paths import Known

    on_sheets = {who: orders for who, orders in prepared.orders.items() if who not in chosen}
    return policies_for(chosen, on_sheets, known=Known(rules, prepared.state))


def answers_to(prepared: Prepared, choose: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return answers to decisions with the names of those whose they are: by `LABEL`, or by `WHO:LABEL`.

    Args:
        prepared: the action, which says who is at the table.
        choose: answers as typed, in which `actor` and `opponent` stand for these characters.

    Raises:
        UsageError: there is no such character.
    """
    found: dict[str, list[str]] = {}
    for key, answers in choose.items():
        who, sign, label = key.rpartition(":")
        key = f"{_named(prepared, who)}:{label}" if sign else key
        found.setdefault(key, []).extend(answers)
    return found


def _named(prepared: Prepared, who: str, *, without: str = OPPONENT) -> str:
    """Return a character by name, or who `actor` or `opponent` means; `without` for an opponent without a sheet."""
    forms = (one for value in prepared.arguments.values() if isinstance(value, tuple) for one in value)
    known = dict.fromkeys((*prepared.state.characters, *(one.name for one in forms if isinstance(one, Form))))
    if who not in known and who not in (ACTOR, OPPONENT, GM):
        names = dict.fromkeys((*known, ACTOR, OPPONENT, GM))
        raise UsageError(unknown("character", who, names, of=f"the table of {prepared.rules.id} {prepared.action}"))
    return {ACTOR: prepared.actor, OPPONENT: _opponent(prepared) or without}.get(who, who)


def _opponent(prepared: Prepared) -> str:
    """Return who opposes by the inputs: the first opposer with a sheet, if there is one."""
    for argument in prepared.arguments.values():
        for one in argument if isinstance(argument, tuple) else (argument,):
            if isinstance(one, Opposition) and one.character:
                return one.character
    return ""
