"""Turns of a scene as trees of chance and of one player's decisions, which optimal decisions are worked out on.

Paths of a turn that merge share the tree behind their merge, so a tree is as large as what differs, not as all the
ways to come there.
"""

from __future__ import annotations

import sys
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Hashable
from contextlib import suppress
from itertools import accumulate
from typing import Any, NamedTuple, cast

from rpgres.engine.events import Decided, Event, seen
from rpgres.engine.players import NO, Answer, Policy, Promises, Question, View
from rpgres.engine.running import Chain, Onward, Run
from rpgres.engine.seats import Policies
from rpgres.engine.stops import NeedsAnswer, Stop, in_code
from rpgres.engine.table import Table
from rpgres.errors import UsageError
from rpgres.model.state import State
from rpgres.odds.branching import Asked, BranchDealer, Fresh
from rpgres.odds.decision_trees import (
    Decide,
    Leaf,
    Rest,
    Secrets,
    TooLarge,
    Tree,
    blind,
    grafted,
    random_of,
    too_long,
    trees_in,
)
from rpgres.odds.explorer import MERGE, Budget, Merged, entries
from rpgres.odds.games import Game
from rpgres.odds.nodes import UNCHANGED, Delta, Memo, Node
from rpgres.odds.positions import Parts
from rpgres.odds.watching import Reads, unwatched
from rpgres.rulesets import STATE
from rpgres.stopping import STOP

CHOOSE = "choose:"  # before the label of a decision, on a tape
ROOM = 300  # frames of the stack that a path may take
WHOLE = 2  # how much longer a path of a turn takes than one within a part of a rule, at least
LOOK = 6  # answers of a tape that take as long as a decision by a policy that looks at the table
HOPELESS = 10**8  # paths of a turn that would take hours
PROBES = 4  # paths that are followed before a turn is said to be hopeless
INNER = " inner"  # in the place of a label, of what came of a part or a chain; no label begins with a blank


def seat_of(state: State, who: str) -> str:
    """Return the seat of a player who is named by a character or by the seat."""
    return state.seat_of(who) if who in state.characters else who


class Searched(Policies):
    """Policies, in whose place one player's decisions are answered by a search.

    Args:
        others: the policies.
        who: whose decisions are searched: a character, or a seat.
        decide: answers them.

    Attributes:
        looks: how often policies decided that look at the table.
    """

    __slots__ = ("_decide", "_who", "looks")
    searches = True

    def __init__(self, others: Policies, who: str, decide: Policy) -> None:
        super().__init__(others.by)
        self._who, self._decide = who, decide
        self.looks = 0
        self.by_question = others.by_question
        self.by_facts = self.is_preferred = self.is_common = False

    def promises(self, *labels: str) -> Promises:
        """Return what the policies promise; the search tells options by name."""
        return super().promises(*labels)._replace(by_facts=False)

    def are_preferred(self, *labels: str) -> bool:
        return False  # the search takes any option

    def is_searched(self, who: str, seat: str) -> bool:
        return self._who in (who, seat)

    def of(self, who: str, seat: str) -> Policy | None:
        return self._decide if self.is_searched(who, seat) else super().of(who, seat)

    def answer(self, question: Question, view: View) -> Answer | None:
        self.looks += not self.promises(question.label).by_question
        return super().answer(question, view)


class Inner(Stop):
    """The run came to something that has a tree of its own; its ends have what the run goes on with.

    Args:
        tree: returns the tree; called when the run has ended, as the tree's faults are not the rule's.
        onward: what the run merges on behind an end, where it comes to nothing else before; see `Table.part`.
    """

    def __init__(self, tree: Callable[[], Tree], onward: Onward | None = None) -> None:
        super().__init__()
        self.tree, self.onward = tree, onward


class TreeDealer(BranchDealer):
    """Answers from a tape, and ends the run at the first question behind its end, and where paths merge.

    Args:
        part: returns the tree of a part of a rule; see `Table.part`.
        reads: what is read of the position; noted behind the first answers alone.
        first: of how many answers.

    Attributes:
        outcome: what the step of the turn came to; empty where it has no outcome, or is not over.
    """

    __slots__ = ("_first", "_part", "_reads", "keeps_parts", "outcome")

    def __init__(
        self, part: Callable[[Run, Hashable, Callable[[Run], Any]], Tree], reads: Reads | None = None, first: int = 0
    ) -> None:
        super().__init__()
        self._part, self.keeps_parts = part, True
        self._reads, self._first = reads, first
        if reads is not None:
            reads.is_off = first > 0
        self.outcome = ""

    def came_to(self, outcome: str | None) -> None:
        self.outcome = outcome or ""

    def merge(self, key: object) -> None:
        if self.is_fresh:
            raise Merged(key)
        super().merge(key)
        if self._reads is not None and self._position >= self._first:
            self._reads.is_off = False

    def part(self, run: Run, key: Hashable, play: Callable[[Run], Any], onward: Onward | None = None) -> Any:
        if self.is_fresh:
            raise Inner(lambda: self._part(run, key, play), onward)
        return self.recorded(INNER)


class TurnEnd(NamedTuple):
    """The end of a turn: what it changed, and the outcome of the step that it ended."""

    delta: Delta
    outcome: str


class Trees:
    """The trees of the turns of a scene.

    Args:
        game: the scene.
        who: the character, or the seat, whose decisions are told apart; policies decide for the others.
        parts: the parts of its positions.
        budget: what they may cost.
        is_shared: whether turns end at merges, too, in a `Rest` that is shared by all turns that come to it. That is
            right as long as nothing happens in them that the player does not see.

    Attributes:
        leaves: how many paths were run.
        decisions: how often the player decided, by label.
        undecided: decisions of other players that nobody takes, by label.
    """

    def __init__(self, game: Game, who: str, parts: Parts, budget: Budget, *, is_shared: bool) -> None:
        self._game, self._who, self._parts, self._budget = game, who, parts, budget
        self._policies = Searched(game.policies, who, self._decided)
        self._is_shared = is_shared
        self._turns = Rest(None, Memo())
        self._rests: dict[Hashable, Memo] = {}  # what is known of those of turns that say what they carry
        self._inner: dict[Hashable, Tree] = {}  # of parts of rules, by what they depend on
        self._reads: Reads | None = None  # of the turn that is grown
        self._dealer = TreeDealer(self._part)
        self.leaves = 0
        self.decisions = Counter[str]()
        self.undecided: dict[str, Question] = {}

    def of(self, node: Node, rest: Rest | None = None) -> Tree:
        """Return the tree of the turn that is due, or of the rest of one: looked up, or grown.

        Its ends are `TurnEnd`s, or `Rest`s of the turn.

        Raises:
            Blind: one view of the player stands for several states.
            TooLarge: the budget is spent, or cannot suffice.
            UsageError: the turn can go on without end.
            Secrets: rests of turns cannot be shared.
        """
        rest = self._turns if rest is None else rest
        known: Tree | None = rest.known.find(node, self._parts)
        if known is None:
            reads, first = self._parts.reads(node), len(entries(rest.tape))
            self._reads = reads
            position, rests = self._parts.watched(node, reads), dict[Hashable, Leaf]()

            def play(dealer: TreeDealer) -> Leaf:
                try:
                    after = self._game.turn(position, dealer, self._policies)
                except NeedsAnswer as needs:
                    self.undecided[needs.question.label] = needs.question
                    return Leaf(TurnEnd(UNCHANGED, ""))
                return Leaf(TurnEnd(self._parts.changes(node, after, reads), dealer.outcome))  # whose table may hide it

            def leaf_at(key: Hashable, tape: Any) -> Leaf:
                leaf = rests.get(key)
                if leaf is None:
                    known = Memo()
                    if isinstance(key, tuple) and key[0] is not None:  # turns that carry the same share it
                        answers = [self._parts.value(node, ("at", field)) for field in ("op", "given", "choose")]
                        known = self._rests.setdefault((*answers, key), known)
                    leaf = rests[key] = Leaf(Rest(tape, known))
                return leaf

            growing = _Growing(
                self._who,
                play,
                lambda tape: self._dealer_of(tape, reads, first),
                leaf_at if self._is_shared else None,
            )
            known = growing.tree(rest.tape)
            rest.known.keep(node, reads.parts, known, self._parts)
        return known

    def spend(self, work: int) -> None:
        """Take off some work.

        Raises:
            TooLarge: the budget is spent.
        """
        if STOP.is_asked:  # of what is evaluated from its end, nothing is known before the beginning is
            raise KeyboardInterrupt
        if self._budget.is_spent:
            raise TooLarge
        self._budget.spend(work)

    def _grown(self, play: Callable[[TreeDealer], Leaf]) -> Tree:
        return _Growing(self._who, play, self._dealer_of).tree(None)

    def _dealer_of(self, tape: Any, reads: Reads | None = None, first: int = 0) -> TreeDealer:
        """Return a dealer for a path that begins with the answers on a tape."""
        self._dealer = dealer = TreeDealer(self._part, reads, first)
        dealer.load(tape)
        if self.leaves % 16 == 0:  # so few paths, each behind the one before, have room in any case
            _check_room()
        self.leaves += 1
        looks, self._policies.looks = self._policies.looks, 0
        self.spend((1 if reads is None else WHOLE) * (1 + len(dealer.tape) + LOOK * looks))
        return dealer

    def _decided(self, view: View, question: Question) -> str:
        if self._dealer.is_fresh:
            self.decisions[question.label] += 1
            raise Asked(question)
        chosen: str = self._dealer.recorded(f"{CHOOSE}{question.label}")
        return chosen

    def _part(self, run: Run, key: Hashable, play: Callable[[Run], Any]) -> Tree:
        """Return the tree of a part of a rule, whose ends are its results."""
        known = self._inner.get(key)
        if known is None:
            assert self._reads is not None
            with self._reads.off():  # the key stands for what it reads
                state, chains = unwatched(run.state), _Chains(self._grown, self._who)

                def result(dealer: TreeDealer) -> Leaf:
                    inner = Run(run.rules, state, dealer, run.players, run.asked, follow=chains.follow)
                    with in_code(inner, "a part of a rule"):
                        found: Hashable = play(inner)
                    return Leaf(found, bool(_hidden(inner, self._who)))

                known = self._inner[key] = self._grown(result)
        return known


class _Chains:
    """The chains of steps in a part: the tree of each of their places is grown once.

    Args:
        grown: grows the tree of what is played with a dealer.
        who: the player whose decisions are told apart.
    """

    def __init__(self, grown: Callable[[Callable[[TreeDealer], Leaf]], Tree], who: str) -> None:
        self._grown, self._who = grown, who
        self._places: list[Any] = []
        self._numbers: dict[Hashable, int] = {}  # of places, by chain and key, as places need not be hashable
        self._trees: dict[int, Tree | None] = {}  # by place; None while it is grown

    def follow(self, table: Table, chain: Chain, place: Any) -> Any:
        """Return one of the last places that a place can lead to."""
        dealer = cast("TreeDealer", table.run.dealer)
        if dealer.is_fresh:
            raise Inner(lambda: self._last_places(table, chain, self._number_of(table, chain, place)))
        return self._places[dealer.recorded(INNER)]

    def _number_of(self, table: Table, chain: Chain, place: Any) -> int:
        number = self._numbers.setdefault((chain, chain.key(table, place)), len(self._places))
        if number == len(self._places):
            self._places.append(place)
        return number

    def _last_places(self, table: Table, chain: Chain, number: int) -> Tree:
        """Return the tree of a chain from a place on, whose ends are the numbers of its last places."""
        if number not in self._trees:
            self._trees[number] = None
            run, place = table.run, self._places[number]

            def step(dealer: TreeDealer) -> Leaf:
                inner = Table(Run(run.rules, run.state, dealer, run.players, run.asked), table.rules)
                with in_code(inner.run, "a step of a chain"):
                    after = chain.step(inner, place)
                then = None if after is None else self._number_of(inner, chain, after)
                return Leaf(then, bool(_hidden(inner.run, self._who)))

            def onward(after: int | None) -> Tree:
                return Leaf(number) if after is None else self._last_places(table, chain, after)

            self._trees[number] = grafted(self._grown(step), onward)
        return _finished(self._trees[number])


class _Growing:
    """A tree as it is grown.

    Args:
        who: the player whose decisions are told apart.
        play: what is played, with a dealer; returns the end.
        dealer_of: returns a dealer for a path that begins with the answers on a tape.
        leaf_at: returns the end at a merge, by its key and the answers up to there; None where paths go on there.
    """

    def __init__(
        self,
        who: str,
        play: Callable[[TreeDealer], Leaf],
        dealer_of: Callable[[Any], TreeDealer],
        leaf_at: Callable[[Hashable, Any], Leaf] | None = None,
    ) -> None:
        self._who, self._play, self._dealer_of, self._leaf_at = who, play, dealer_of, leaf_at
        self._rests: dict[Hashable, Tree | None] = {}  # by what paths merged on; None while it is grown
        self._leaves: dict[Hashable, Leaf] = {}  # by what they say, each once
        self._trails: dict[Hashable, tuple[Event, ...]] = {}  # what the player does not see, by what it sees
        self._is_foreseen = False  # whether its size is known not to be hopeless

    def tree(self, tape: Any, ways: int = 1) -> Tree:
        """Return the tree behind the answers on a tape.

        Args:
            ways: how many paths there are if all before this one had as many answers: from the beginning or a merge.

        Raises:
            TooLarge: it is so large that no budget suffices.
        """
        if ways > HOPELESS and not self._is_foreseen:
            self._foresee(tape)
        dealer = self._dealer_of(tape)
        try:
            leaf = self._play(dealer)
        except Fresh as fresh:
            weights = fresh.weights or (1,) * len(fresh.values)
            answers = zip(weights, fresh.values, strict=True)
            ways *= len(weights)
            branches = [(weight, self.tree((tape, (fresh.label, value)), ways)) for weight, value in answers]
            return random_of(branches, fresh.total)
        except Asked as asked:
            return self._decision(tape, asked, ways)
        except Inner as stop:
            inner, tree = stop, stop.tree()
            if (first := next((one for one in trees_in(tree) if isinstance(one, Decide)), None)) is not None:
                self._check_sight(first.question, inner.run)
            return grafted(tree, lambda value: self._behind(inner, value, (tape, (INNER, value))))
        except Merged as merged:
            return self._rest(merged.key, (tape, (MERGE, merged.key)), merged.run)
        return self._leaves.setdefault((leaf.value, leaf.hides), leaf)

    def _behind(self, inner: Inner, value: Any, tape: Any) -> Tree:
        """Return the tree behind what something came to that has a tree of its own."""
        run = inner.run
        if inner.onward is None or self._leaf_at is None or run.asked != STATE:
            return self.tree(tape)
        key, pays = inner.onward(value)
        key = run.carried, (key, pays) if pays else key, run.players.used()  # as `Run.merge` has it
        return self._rest(key, (tape, (MERGE, key)), run)

    def _rest(self, key: Hashable, tape: Any, run: Run) -> Tree:
        """Return the tree behind a merge, which all paths share that come to it."""
        if self._leaf_at is not None:
            if _hidden(run, self._who):
                raise Secrets
            return self._leaf_at(key, tape)
        if _hidden(run, self._who):
            return self.tree(tape)  # what the player saw on the way may tell paths apart
        if key not in self._rests:
            self._rests[key] = None
            self._rests[key] = self.tree(tape)
        return _finished(self._rests[key])

    def _foresee(self, tape: Any) -> None:
        """Follow some paths up to where they may meet others, and tell from them how many there are.

        Raises:
            TooLarge: there are too many by half of them, as where many cards are dealt: a long path is no reason.
        """
        self._is_foreseen, start = True, tape
        while start is not None and start[1][0] not in (MERGE, INNER):
            start = start[0]
        labels, most = Counter[str](), 0
        for probe in range(1, PROBES + 1):
            tape, ways = start, 1
            with suppress(Asked, Inner, Merged):
                while ways <= HOPELESS:
                    try:
                        self._play(self._dealer_of(tape))
                        break
                    except Fresh as fresh:
                        ways *= len(fresh.values)
                        labels[fresh.label] += 1
                        sums = list(accumulate(fresh.weights or (1,) * len(fresh.values)))  # as likely as it comes
                        tape = tape, (fresh.label, fresh.values[bisect(sums, sums[-1] * probe // (PROBES + 1))])
            most += ways > HOPELESS
        if most >= PROBES // 2:
            raise TooLarge(chance=labels.most_common(1)[0][0])

    def _decision(self, tape: Any, asked: Asked, ways: int) -> Decide:
        question = asked.question
        self._check_sight(question, asked.run)
        # A dominant option is one for the action at hand; what it costs may be missed later in the scene.
        names = [option.name for option in question.options]
        if question.optional and (question.passing is None or NO not in names):
            names = [NO, *(name for name in names if question.passing is None or name != question.passing.name)]
        label, alike = f"{CHOOSE}{question.label}", question.alike
        branches: dict[str, Tree] = {}
        ways *= len({alike.get(name, name) for name in names})
        for name in names:
            known = branches.get(alike.get(name, ""))
            branches[name] = known if known is not None else self.tree((tape, (label, name)), ways)
        return Decide(question, tuple(branches.items()))

    def _check_sight(self, question: Question, run: Run) -> None:
        """Make sure that what the player has seen of a run tells what it has not seen."""
        if not run.has_secrets:
            return
        seat, hidden = run.state.seat_of(question.who), _hidden(run, question.who)
        if hidden and self._leaf_at is not None:
            raise Secrets  # a rest that was grown before may seem the same to the player
        told = question.label, tuple(one for event in run.events if (one := seen(event, seat)) is not None)
        if self._trails.setdefault(told, hidden) != hidden:
            raise blind(question)


def _check_room() -> None:
    """Make sure that one more path has room on the stack: to run out of it would look like a fault of the rule."""
    frame, left = sys._getframe(), sys.getrecursionlimit() - ROOM
    while left and frame.f_back is not None:
        frame, left = frame.f_back, left - 1
    if not left:
        raise too_long()


def _finished(tree: Tree | None) -> Tree:
    """Return a tree that was looked up.

    Raises:
        UsageError: it is being grown, and part of itself.
    """
    if tree is None:
        raise UsageError("optimal decisions over the whole scene cannot be computed: a turn can go on without end")
    return tree


def _hidden(run: Run, who: str) -> tuple[Event, ...]:
    """Return what happened that a player's seat does not see whole, but for questions that others passed over."""
    if not run.has_secrets:
        return ()
    seat = seat_of(run.state, who)
    return tuple(
        event
        for event in run.events
        if seen(event, seat) != event and not (isinstance(event, Decided) and event.answer == NO)
    )
