"""Questions inside a roll with named dice: which options are offered, what they cost, reroll and change.

`rpgres.rulesets.actions.Asking` is the record of `[actions.NAME.ask]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any

from msgspec import Struct

from rpgres.engine.named_dice.values import Die
from rpgres.engine.players import Question
from rpgres.errors import RuleError
from rpgres.model.state import GM, Box, Map, State
from rpgres.parameters.context import ACTOR
from rpgres.rulesets import Effect, Option, Rules
from rpgres.rulesets.actions import OPPONENT, OPPOSED, Asking
from rpgres.rulesets.dice_plans import NO, TIMES, DicePlan
from rpgres.rulesets.effects import paid_by

MOST_PICKS = 10_000  # ways to pick dice that are gone through


class Chosen(Struct, frozen=True, order=True):
    """A chosen option: its question, its name, and its cost by counter or track."""

    label: str
    option: str
    cost: tuple[tuple[str, int], ...] = ()


FaceOf = Callable[[str, int], int]
Picked = tuple[tuple[str, int], ...]  # the groups of dice, and the faces of their representatives


class Offer(Struct, frozen=True):
    """An option that can be chosen now.

    Attributes:
        answer: its name, as typed.
        chosen: the option with its cost.
        prefer: the preference of policies; 0 to skip the question.
        again: the dice to reroll, by group.
        picked: where dice are picked by face: the equivalence classes of the picked dice, sorted.
    """

    answer: str
    chosen: Chosen
    prefer: int
    again: tuple[tuple[str, tuple[Die, ...]], ...]
    picked: Picked = ()


# ---------------------------------------------------------------------------------------------------------------------
# Given answers


def answers(plan: DicePlan, chosen: Iterable[Chosen] = ()) -> dict[str, Any]:
    """Return the values of question labels in formulas: the last answer by label, and how often each was given."""
    found: dict[str, Any] = {}
    for label, ask in plan.asks.items():
        found |= {label: NO, f"{TIMES}{label}": 0, **{f"{TIMES}{label}:{name}": 0 for name in ask.options}}
    for one in chosen:
        found[one.label] = one.option
        found[f"{TIMES}{one.label}"] += 1
        found[f"{TIMES}{one.label}:{one.option}"] += 1
    return found


class Purse:
    """The counters and tracks from which options are paid.

    Args:
        rules: the ruleset in play.
        action: the action.
        state: the table.
        roles: the characters of the action's roles, by role.
    """

    def __init__(self, rules: Rules, action: str, state: State, roles: Mapping[str, str]) -> None:
        self.asks = rules.file.actions[action].ask
        self.roles, self.state = roles, state
        self.parameters = rules.parameters(action)

    def who(self, label: str) -> str:
        """Return who decides a question; empty where its role has no character."""
        return self.roles.get(self.asks[label].who, "")

    def left(self, label: str, of: str, chosen: Iterable[Chosen]) -> int:
        """Return how much of a counter or track is left to the character who decides a question."""
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
        """Return the values of names after the costs of answers: a counter is what is left of it."""
        found = dict(base)
        for one in chosen:
            for of, much in one.cost:
                found |= {name: found[name] - much for name in self._names(self.who(one.label), of) if name in found}
        return found

    def moving(self) -> set[str]:
        """Return the names in formulas whose values change when an option is paid."""
        paid = [(label, of) for label, ask in self.asks.items() for one in ask.options.values() for of in one.cost]
        return {name for label, of in paid for name in self._names(self.who(label), of)}

    def _names(self, who: str, of: str) -> Iterator[str]:
        """Yield the names in formulas that stand for a character's counter."""
        actor = self.roles[ACTOR]
        holder = actor if self._has(actor, of) else GM  # of whom a name without a prefix is
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
    """Return the effects of chosen options at the end of the action: their costs, then their own effects."""
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
# Options


def question_of(
    ask: Asking, label: str, who: str, offers: Iterable[Offer], facts: Mapping[str, Any], face_of: FaceOf
) -> Question:
    """Return a question with its options as texts.

    Args:
        face_of: returns the face of the representative of a group's dice with a face.
    """
    options = []
    for offer in offers:
        one, count = offer.chosen, sum(len(dice) for _, dice in offer.again)
        notes = [f"{count} {'die' if count == 1 else 'dice'} again"] * (bool(count) and offer.answer == one.option)
        notes += [f"{much} {of.replace('-', ' ')}" for of, much in one.cost if much]
        brief = f"{offer.answer} ({', '.join(notes)})" if notes else offer.answer
        paid = sum(much for _, much in one.cost)
        option = ask.options[one.option]
        text, accepts = option.text, None
        if offer.answer != one.option:
            faces = ", ".join(str(die.face) for _, dice in offer.again for die in dice)
            text = f"The dice {faces}, or equivalent ones."
        if offer.picked:
            accepts = partial(_is_pick, one.option, tuple(option.reroll), face_of, offer.picked)
        aliases = ("yes",) if len(ask.options) == 1 and offer.answer == one.option else ()
        options.append(
            Option(offer.answer, text, offer.prefer, aliases=aliases, brief=brief, cost=paid, accepts=accepts)
        )
    return Question(label, who, tuple(options), ask.text, True, facts)


def _is_pick(option: str, groups: tuple[str, ...], face_of: FaceOf, own: Picked, typed: str) -> bool:
    """Tell whether a typed answer, such as `again-4-2`, names picked dice: in any order, by equivalent faces."""
    if not typed.startswith(f"{option}-"):
        return False
    named, found = "|".join(map(re.escape, groups)), list[tuple[str, int]]()
    rest = typed.removeprefix(option)
    while rest:
        one = re.match(rf"-(?:({named})-)?(-?[0-9]{{1,4}})(?=-|$)", rest)
        if one is None or (one[1] is None and len(groups) > 1):
            return False
        group = one[1] or groups[0]
        found.append((group, face_of(group, int(one[2]))))
        rest = rest[one.end() :]
    return tuple(sorted(found)) == own


def kept(dice: Iterable[Die], again: Iterable[Die]) -> tuple[Die, ...]:
    """Return the dice that stay when others are rerolled."""
    stay = list(dice)
    for die in again:
        stay.remove(die)
    return tuple(stay)


def picks(
    dice: Sequence[tuple[str, Die]], most: int, kind: Callable[[str, Die], Any]
) -> Iterator[list[tuple[str, Die]]]:
    """Yield every way to pick some of these dice; of equivalent dice the first ones.

    Args:
        kind: returns the equivalence key of a die.

    Raises:
        RuleError: there are too many ways.
    """
    kinds: dict[Any, list[tuple[str, Die]]] = {}
    for group, die in dice:
        kinds.setdefault((group, kind(group, die)), []).append((group, die))
    sizes = [range(len(its) + 1) for its in kinds.values()]
    if prod(map(len, sizes)) > MOST_PICKS:
        raise RuleError(f"there are more than {MOST_PICKS} ways to pick dice; leave `pick` out, or lower `most`")
    for counts in product(*sizes):
        if 0 < sum(counts) <= most:
            yield [one for its, count in zip(kinds.values(), counts, strict=True) for one in its[:count]]
