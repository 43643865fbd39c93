"""Runs for optimal decisions of an action: each ends at the first question that its tape does not answer."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine.events import Event
from rpgres.engine.players import Policy, Preference, Promises, Question, View
from rpgres.engine.running import Chain, Run
from rpgres.engine.seats import Policies, Script
from rpgres.engine.stops import Stop
from rpgres.model.state import EMPTY, State
from rpgres.odds.explorer import Node, TapeDealer

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.engine.beliefs import Unseen


class Value(msgspec.Struct, frozen=True, gc=False):
    """What may come of a point of play: the chance of success, of each outcome by name, and what was left open."""

    success: Fraction
    masses: tuple[tuple[str, Fraction], ...]
    open: Fraction


class Fresh(Stop):
    """A random question that is not on the tape."""

    def __init__(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> None:
        super().__init__(label)
        self.label, self.values, self.weights, self.total = label, values, weights, total


class Asked(Stop):
    """A decision of the optimal player that is not on the tape; `is_scripted`: a script has answers left for it."""

    def __init__(self, question: Question, *, is_scripted: bool = False) -> None:
        super().__init__(question.label)
        self.question = question
        self.is_scripted = is_scripted


class Known(Stop):
    """The run came to a state whose value is known."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class ChainPlace(msgspec.Struct, frozen=True):
    """A place in a chain of steps, with all that a step from there may depend on.

    Attributes:
        chain, place: the steps, and where they have led.
        before: what was answered before the chain began.
        hidden: what happened that the optimal player did not see.
        left: what is left of the script.
        is_first: whether the optimal player has not decided anything yet.
    """

    chain: Chain
    place: Any
    before: Node | None
    state: State
    unseen: Mapping[str, Unseen]
    has_secrets: bool
    hidden: tuple[Event, ...]
    left: Mapping[str, tuple[str, ...]]
    is_first: bool


class Path(msgspec.Struct, frozen=True):
    """A path through a rule: the answers from its beginning, or from a place in a chain.

    Attributes:
        tape: the answers, by label.
        key: what is all that matters where it begins; None where that is not known.
    """

    tape: Node | None = None
    at: ChainPlace | None = None
    key: Hashable = None

    def plus(self, label: str, answer: Any) -> Path:
        """Return the path with one more answer."""
        return Path((self.tape, (label, answer)), self.at)


class Onward(Stop):
    """The rule came to a chain of steps."""

    def __init__(self, path: Path, run: Run) -> None:
        super().__init__()
        self.path, self.run = path, run


class BranchDealer(TapeDealer):
    """Answers from a tape, and ends the run at the first random question behind its end."""

    __slots__ = ()

    def fresh(self, label: str, values: Sequence[Any], weights: Sequence[int], total: int) -> Any:
        """End the run at a new question."""
        raise Fresh(label, tuple(values), tuple(weights), total)


class SearchDealer(BranchDealer):
    """Answers chance and the decisions of one seat from a tape, and ends the run at the first that is not on it.

    Attributes:
        keys: what all that matters was at the merges of the running path that are not on its tape.
        known: points whose value is known, each of which is an end.
    """

    __slots__ = ("keys", "known")

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[Hashable] = []
        self.known: Mapping[Hashable, Value] = EMPTY

    def load(self, node: Node | None) -> None:
        super().load(node)
        self.keys = []

    def decide(self, question: Question, *, is_scripted: bool) -> str:
        """Return the option on the tape, or end the run at a new decision."""
        if self.is_fresh:
            raise Asked(question, is_scripted=is_scripted)
        chosen: str = self.recorded(question.label)
        return chosen

    def merge(self, key: object) -> None:
        """End the run where the value of what follows is known."""
        if not self.is_fresh:
            return
        value = self.known.get(key)
        if value is not None:
            raise Known(value)
        self.keys.append(key)


class SearchedPolicies(Policies):
    """Policies, of which one seat's decisions are answered by the search.

    Args:
        others: the policies.
        seat: whose decisions are searched.
        dealer: has the answers of the search.
        only_first: whether policies decide for that seat too, once it has decided.
        is_first: whether it has not.
    """

    __slots__ = ("_dealer", "_only_first", "_seat", "is_first", "script")
    script: Script

    def __init__(
        self, others: Mapping[str, Policy], *, seat: str, dealer: SearchDealer, only_first: bool, is_first: bool
    ) -> None:
        super().__init__(others)
        self._seat, self._dealer = seat, dealer
        self.by_facts = self.is_preferred = self.is_common = False
        self._only_first, self.is_first = only_first, is_first

    def promises(self, *labels: str) -> Promises:
        """Return what the policies promise; the search tells options by name."""
        return super().promises(*labels)._replace(by_facts=False)

    def are_preferred(self, *labels: str) -> bool:
        """Return False: the search takes any option."""
        return False

    def of(self, who: str, seat: str) -> Policy | None:
        """Return a player's policy: the search for the optimal player."""
        if seat == self._seat and (self.is_first or not self._only_first):
            return self._decide
        return super().of(who, seat)

    def _decide(self, view: View, question: Question) -> str:
        chosen = self._dealer.decide(question, is_scripted=any(self.script.left.values()))
        self.is_first = False
        return chosen

    def preference(self, who: str, seat: str) -> Preference | None:
        """Return the order of preference of another player."""
        return None if seat == self._seat else super().preference(who, seat)
