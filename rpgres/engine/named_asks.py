"""Questions inside a roll with named dice: what is offered and what it costs, what it throws again and changes.

What `[actions.NAME.ask]` may say is in `rpgres.rulesets.actions.Asking`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

from msgspec import Struct

from rpgres.engine.players import Question
from rpgres.errors import RuleError
from rpgres.model.state import GM, Box, Map, State
from rpgres.parameters.context import ACTOR
from rpgres.rulesets import Effect, Option, Rules
from rpgres.rulesets.dice_plans import NO, TIMES, AskPlan, DicePlan, OptionPlan
from rpgres.rulesets.effects import paid_by
from rpgres.rulesets.formulas import Expr, names, worker
from rpgres.rulesets.numbers import OPPONENT, OPPOSED

Worker = Callable[[Any], Any]
MOST_PICKS = 10_000  # ways to pick dice that are gone through


class Die(NamedTuple):
    """A die that lies: what it shows, whether no other die brought it, and in which throw of its group it fell."""

    face: int
    is_first: bool = True
    thrown: int = 1


Thrown = Mapping[str, tuple[Die, ...]]  # by group, the dice that count


class AskedOption(Struct, frozen=True):
    """An option of a question, ready to be worked out; see `OptionPlan`."""

    when: Worker
    cost: dict[str, Worker]
    reroll: dict[str, Worker]
    most: Worker | None
    prefer: Worker
    pick: bool


class Asked(Struct, frozen=True):
    """A question inside a roll, ready to be worked out.

    Attributes:
        when: whether it is asked.
        options: what may be answered, by name.
        told: the numbers that its formulas name, which policies may go by.
    """

    when: Worker
    options: dict[str, AskedOption]
    told: tuple[str, ...]


class Chosen(Struct, frozen=True, order=True):
    """An answer that was given: the question, the option, and what it cost, by counter or track."""

    label: str
    option: str
    cost: tuple[tuple[str, int], ...] = ()


class Offer(Struct, frozen=True):
    """An option as things stand.

    Attributes:
        answer: what is typed for it.
        chosen: what that comes to.
        prefer: how gladly whoever decides takes it.
        again: the dice that are thrown again, by group.
    """

    answer: str
    chosen: Chosen
    prefer: int
    again: tuple[tuple[str, tuple[Die, ...]], ...]


def asked_of(ask: AskPlan, plan: DicePlan) -> Asked:
    """Return a question ready to be worked out."""
    named = {name: None for one in ask.formulas for name in names(one)}
    told = tuple(name for name in named if name in plan.numbers)
    return Asked(worker(ask.when), {name: _option(its) for name, its in ask.options.items()}, told)


def _option(its: OptionPlan) -> AskedOption:
    return AskedOption(
        worker(its.when),
        _workers(its.cost),
        _workers(its.reroll),
        worker(its.most) if its.most is not None else None,
        worker(its.prefer),
        its.pick,
    )


def _workers(formulas: Mapping[str, Expr]) -> dict[str, Worker]:
    return {name: worker(one) for name, one in formulas.items()}


# ---------------------------------------------------------------------------------------------------------------------
# What was answered


def answers(plan: DicePlan, chosen: Iterable[Chosen] = ()) -> dict[str, Any]:
    """Return what formulas know of the questions: the last answer by label, and how often each was given."""
    found: dict[str, Any] = {}
    for label, ask in plan.asks.items():
        found |= {label: NO, f"{TIMES}{label}": 0, **{f"{TIMES}{label}:{name}": 0 for name in ask.options}}
    for one in chosen:
        found[one.label] = one.option
        found[f"{TIMES}{one.label}"] += 1
        found[f"{TIMES}{one.label}:{one.option}"] += 1
    return found


class Purse:
    """What those who are asked have to spend.

    Args:
        rules: the ruleset in play.
        action: the action.
        state: the table.
        roles: who the roles of the action are, by name.
    """

    def __init__(self, rules: Rules, action: str, state: State, roles: Mapping[str, str]) -> None:
        self.asks = rules.file.actions[action].ask
        self.roles, self.state = roles, state
        self.parameters = rules.parameters(action)

    def who(self, label: str) -> str:
        """Return who decides a question; nobody where the role is nobody's."""
        return self.roles.get(self.asks[label].who, "")

    def left(self, label: str, of: str, chosen: Iterable[Chosen]) -> int:
        """Return how much of a counter or track whoever decides a question has left."""
        who = self.who(label)
        spent = sum(much for one in chosen if self.who(one.label) == who for its, much in one.cost if its == of)
        return self._had(who, of) - spent

    def _had(self, who: str, of: str) -> int:
        character = self.state.characters.get(who)
        if character is None and who != GM:
            return 0
        tracks: Mapping[str, tuple[Box, ...]] = character.tracks if character is not None else self.state.tracks
        if of in tracks:
            return sum(1 for box in tracks[of] if not box.mark)
        return (character.counters if character is not None else self.state.counters).get(of, 0)

    def after(self, base: Mapping[str, Any], chosen: Iterable[Chosen]) -> dict[str, Any]:
        """Return what names come to once answers were paid for: a counter is what is left of it."""
        found = dict(base)
        for one in chosen:
            for of, much in one.cost:
                found |= {name: found[name] - much for name in self._names(self.who(one.label), of) if name in found}
        return found

    def moving(self) -> set[str]:
        """Return the names in formulas that stand for something else once an answer was paid for."""
        paid = [(label, of) for label, ask in self.asks.items() for one in ask.options.values() for of in one.cost]
        return {name for label, of in paid for name in self._names(self.who(label), of)}

    def _names(self, who: str, of: str) -> Iterator[str]:
        """Yield the names in formulas that stand for somebody's counter."""
        actor = self.roles[ACTOR]
        holder = actor if self._has(actor, of) else GM  # whose it is that a bare name stands for
        if who == holder and of not in self.parameters:
            yield of
        for name, its in self.parameters.items():
            if its.kind == "counter" and its.counter == of and who == (actor if its.holder == ACTOR else GM):
                yield name
        if who == self.roles.get(OPPONENT):
            yield f"{OPPOSED}{of}"

    def _has(self, who: str, of: str) -> bool:
        character = self.state.characters.get(who)
        return character is not None and (of in character.abilities or of in character.counters)


def effects_of(
    rules: Rules, action: str, chosen: Iterable[Chosen], margin: int | None, facts: Map[str, Any]
) -> tuple[Effect, ...]:
    """Return what answers change once the action is over: what they cost, then their effects."""
    asks, found = rules.file.actions[action].ask, list[Effect]()
    for one in chosen:
        ask = asks[one.label]
        for of, much in one.cost:
            kind, field, sign = paid_by(rules.file, of)
            if much:
                found.append(Map({"kind": kind, "to": ask.who, field: sign * much}))
        found += rules.settling.filled(ask.options[one.option].effects, margin, facts)
    return tuple(found)


# ---------------------------------------------------------------------------------------------------------------------
# What may be answered


def question_of(
    rules: Rules, action: str, label: str, who: str, offers: Iterable[Offer], facts: Mapping[str, Any]
) -> Question:
    """Return a question as it is put to whoever decides."""
    ask = rules.file.actions[action].ask[label]
    options = []
    for offer in offers:
        one, count = offer.chosen, sum(len(dice) for _, dice in offer.again)
        told = [f"{count} {'die' if count == 1 else 'dice'} again"] * (bool(count) and offer.answer == one.option)
        told += [f"{much} {of.replace('-', ' ')}" for of, much in one.cost if much]
        brief = f"{offer.answer} ({', '.join(told)})" if told else offer.answer
        paid = sum(much for _, much in one.cost)
        text = ask.options[one.option].text
        if offer.answer != one.option:
            text = f"The dice {', '.join(str(die.face) for _, dice in offer.again for die in dice)}."
        options.append(Option(offer.answer, text, offer.prefer, brief=brief, cost=paid))
    return Question(label, who, tuple(options), ask.text, True, facts)


def kept(dice: Iterable[Die], again: Iterable[Die]) -> tuple[Die, ...]:
    """Return the dice that stay where they are while others are thrown again."""
    left = list(again)
    found = list[Die]()
    for die in dice:
        if die in left:
            left.remove(die)
        else:
            found.append(die)
    return tuple(found)


def throws(dice: Iterable[Die]) -> int:
    """Return how often a group was thrown that shows these dice."""
    return max((die.thrown for die in dice), default=1)


def picks(
    dice: Sequence[tuple[str, Die]], most: int, alike: Callable[[str, Die], Any]
) -> Iterator[list[tuple[str, Die]]]:
    """Yield every way to pick some of these dice, of those that are alike the first ones.

    Args:
        dice: the dice, with their groups.
        most: how many are picked at most.
        alike: what is the same for dice that are alike.

    Raises:
        RuleError: there are too many ways.
    """
    kinds: dict[Any, list[tuple[str, Die]]] = {}
    for group, die in dice:
        kinds.setdefault((group, alike(group, die)), []).append((group, die))
    sizes = [range(len(its) + 1) for its in kinds.values()]
    if prod(map(len, sizes)) > MOST_PICKS:
        raise RuleError(f"there are more than {MOST_PICKS} ways to pick dice; leave `pick` out, or lower `most`")
    for counts in product(*sizes):
        if 0 < sum(counts) <= most:
            yield [one for its, count in zip(kinds.values(), counts, strict=True) for one in its[:count]]
