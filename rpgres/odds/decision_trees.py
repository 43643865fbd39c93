"""Trees of chance and of one player's decisions, and why a search of optimal decisions is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import lcm
from typing import Any, cast

import msgspec

from rpgres.engine.players import Question
from rpgres.errors import UsageError
from rpgres.odds.nodes import Memo


class Blind(UsageError):
    """The one who should decide optimally does not see what matters: one view stands for several states."""

    code = "blind"


class TooLarge(UsageError):
    """There is too much for optimal decisions over a whole scene.

    Attributes:
        chance: the label of what is drawn or rolled too often; empty where it is not that.
        decision: the label of the decision that was met most often; empty where there was none.
        at: the step that was played.
        leaves, states, turns: how many paths, positions and whole turns were gone through.
    """

    code = "too-large"

    def __init__(self, *, chance: str = "") -> None:
        super().__init__("optimal decisions over the whole scene cannot be computed: it is too large")
        self.chance, self.decision = chance, ""
        self.at: Any = None
        self.leaves = self.states = self.turns = 0


class Secrets(Exception):  # it is no fault: parts of turns are not shared then
    """Something happened that the player does not see, where rests of turns are shared."""


class Leaf(msgspec.Struct, frozen=True, eq=False):
    """The end of what is played.

    Attributes:
        value: what came of it.
        hides: whether something happened on the way that the player does not see, and may show in the value.
    """

    value: Any
    hides: bool = False


class Random(msgspec.Struct, frozen=True, eq=False):
    """Something random in a turn: decisions and ends by weight, of a total; each once."""

    branches: tuple[tuple[int, Leaf | Decide], ...]
    total: int


class Decide(msgspec.Struct, frozen=True, eq=False):
    """A decision in a turn: trees by option."""

    question: Question
    branches: tuple[tuple[str, Tree], ...]


Tree = Leaf | Random | Decide


class Rest(msgspec.Struct, frozen=True, eq=False):
    """The rest of a turn behind a merge: it depends on the key, and on what is read of the table from there on.

    Attributes:
        tape: the answers of one path up to there, the merge the last of them.
        known: its trees, by what was read.
    """

    tape: Any
    known: Memo


def random_of(branches: Iterable[tuple[int, Tree]], total: int) -> Tree:
    """Return the tree of something random, whatever is random in its branches being part of it."""
    branches = list(branches)
    factor = lcm(*{tree.total for _, tree in branches if isinstance(tree, Random)})
    weights: dict[Leaf | Decide, int] = {}
    for weight, tree in branches:
        if isinstance(tree, Random):
            share = weight * (factor // tree.total)
            for inner, one in tree.branches:
                weights[one] = weights.get(one, 0) + share * inner
        else:
            weights[tree] = weights.get(tree, 0) + weight * factor
    if len(weights) == 1:
        return next(iter(weights))
    return Random(tuple([(weight, one) for one, weight in weights.items()]), total * factor)


def grafted(tree: Tree, onward: Callable[[Any], Tree]) -> Tree:
    """Return a tree in which each end is replaced by the tree that its value leads on to.

    Raises:
        Blind: a decision comes after an end that hides something.
    """
    known: dict[Tree, Tree] = {}

    def of(tree: Tree) -> Tree:
        found = known.get(tree)
        if found is None:
            if isinstance(tree, Leaf):
                found = _behind_hidden(onward(tree.value)) if tree.hides else onward(tree.value)
            elif isinstance(tree, Decide):
                found = Decide(tree.question, tuple([(name, of(one)) for name, one in tree.branches]))
            else:
                found = random_of([(weight, of(one)) for weight, one in tree.branches], tree.total)
            known[tree] = found
        return found

    return of(tree)


def _behind_hidden(tree: Tree) -> Tree:
    """Return the tree behind something hidden, which its ends then hide, too."""
    if isinstance(tree, Leaf):
        if isinstance(tree.value, Rest):
            raise Secrets
        return Leaf(tree.value, True)
    if isinstance(tree, Decide):
        raise blind(tree.question)
    return Random(tuple([(weight, cast("Leaf", _behind_hidden(one))) for weight, one in tree.branches]), tree.total)


def blind(question: Question) -> Blind:
    """Return the error of a decision before which something happened that its player does not see."""
    return Blind(
        f"{question.who} decides {question.label!r} after something happened that {question.who} does not see, so "
        "optimal decisions over the whole scene cannot be computed; use a policy or standing orders"
    )


def trees_in(tree: Tree) -> Iterator[Tree]:
    """Yield all trees in a tree, each once."""
    met, left = {tree}, [tree]
    while left:
        one = left.pop()
        yield one
        if not isinstance(one, Leaf):
            new = [inner for _, inner in one.branches if inner not in met]
            met.update(new)
            left += new


def too_long() -> UsageError:
    """Return the error of a turn whose tree is too deep to be gone through."""
    return UsageError(
        "optimal decisions over the whole scene cannot be computed: a turn of it is too long; "
        "use a policy or standing orders"
    )


def endless_scene() -> UsageError:
    """Return the error of a scene that can come back to where it was."""
    return UsageError(
        "optimal decisions over the whole scene cannot be computed: it can go on without end; "
        "limit its turns, or use a policy or standing orders"
    )
