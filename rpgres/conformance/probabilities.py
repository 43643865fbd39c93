"""Whether the chances of a ruleset are one thing however they are found: merged, walked roll by roll, or sampled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping
from functools import partial
from math import sqrt
from time import monotonic
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rpgres.conformance.behaviour import each
from rpgres.conformance.records import NothingToCheck, finding
from rpgres.conformance.subjects import Case, Subject
from rpgres.conformance.unreached import unreached_outcomes
from rpgres.conformance.walks import End, plain, walk_for
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.events import Drawn, Moved
from rpgres.engine.players import COMMON_POLICIES, Policy, Question, policy_of, uniform
from rpgres.engine.run import play
from rpgres.engine.seats import Seats
from rpgres.engine.table import MEASURED
from rpgres.model.state import Map, State
from rpgres.odds.explorer import Odds, Runs, WalkDealer, explore
from rpgres.odds.positions import COUNTERS, Idle
from rpgres.parameters.examples import example_inputs
from rpgres.scenes.reading import procedure_scene
from rpgres.scenes.walking import game_of
from rpgres.toml.diagnostics import Diagnostic

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.odds.games import Game

RUNS = 1000  # with which an example is sampled, as far as there is time
SURE = 20.0  # a bound is overstepped by chance with a probability of at most 2 * exp(-SURE)
ASKED = ("effects", "outcome", "margin", "total")  # the questions, that which asks for most first
MOST = 20_000  # paths that the odds of an action may take
SECONDS = 5.0
FEW_RUNS, MOST_TURNS = 20, 100  # of a procedure, with and without tags


def check_odds(subject: Subject) -> Iterator[Diagnostic]:
    """Yield cases whose exact chances are not the same when nothing is merged, or not those of what is played.

    They are compared for everything that odds can be asked, and with others of the cards and runs that are said to be
    equivalent. Also yield the outcomes that never come.
    """

    def of_case(case: Case) -> Iterator[Diagnostic]:
        whole, paths, budget = subject.walk(case).odds, subject.walk(case).paths, subject.budget(case)
        has_cards = any(isinstance(event, Drawn | Moved) for path in paths for event in path.events)
        found: dict[str, Odds] = {}
        for asked in ASKED:
            questions, others_questions = list[Question](), list[Question]()
            merged = found[asked] = walk_for(case.prepared, asked=asked, leaves=budget, questions=questions)
            told, how = _disagreement(merged, _by(whole, asked)), "walked as odds do, and roll by roll"
            if told and asked in MEASURED:  # for which moot moments are asked too, which pass in play
                del found[asked]
                unmerged = walk_for(case.prepared, asked=asked, leaves=budget, merged=False)
                told = _disagreement(merged, unmerged)
            if not told and merged.met_alike:
                others = walk_for(case.prepared, asked=asked, leaves=budget, others=True, questions=others_questions)
                told, how = _disagreement(merged, others), "by which of equivalent cards or runs go on"
                if not (told or has_cards or merged.open or others.open):  # cards that are alike have other names
                    told = _asked_otherwise(questions, others_questions)
            if told:
                yield finding(f"{told}, {how}", case.place, _ADVICE[asked])
                return
        if case.is_example:
            yield from _sampled(case, found)

    yield from each(subject, of_case)
    yield from _forgotten(subject)
    yield from unreached_outcomes(subject.rules)


def _forgotten(subject: Subject) -> Iterator[Diagnostic]:
    """Yield procedures that go otherwise without the tags and counters that are said to make no difference."""
    rules = subject.rules
    examples = {case.prepared.action for case in subject.steady if case.is_example}
    for procedure in sorted(examples & rules.ruleset.idles.keys()):
        inputs, switches = example_inputs(rules, procedure)
        chosen = rules.with_switches(switches) if switches else rules
        for name, policy in {**COMMON_POLICIES, **rules.ruleset.policies}.items():
            game = game_of(procedure_scene(chosen, procedure, inputs, {"": policy}))
            for run in range(FEW_RUNS if game.forgotten else 0):
                if _played(game, run) != _played(game, run, game.forgotten):
                    kinds = ", ".join(sorted(game.forgotten))
                    message = f"it goes otherwise without what is idle ({kinds}), where {name} decides"
                    yield finding(message, subject.place("actions", procedure), _IDLE)
                    break


_IDLE = "Ruleset.idle promises that this makes no difference; leave out what does, or policies for which it does"


def _played(game: Game, run: int, forgotten: Collection[str] = ()) -> Hashable:
    """Return what comes of a run, and the table at its end but for what a promise is about; see `Ruleset.idle`."""
    position, dealer = game.onward(game.start), SeededDealer(Streams("contract"))
    dealer.move_to(run)
    for turn in range(MOST_TURNS):
        if game.is_over(position):
            break
        dealer.begin_turn(turn)
        after = game.turn(position, dealer, game.policies)
        position = game.onward(replace(after, state=_without(after.state, forgotten)) if forgotten else after)
    return game.result(position), _promised(position.state, game.forgotten)


def _without(state: State, idle: Collection[str]) -> State:
    """Return a table without what is idle."""
    known = Idle(idle)

    def left(counters: Map[str, int]) -> Map[str, int]:
        return Map({name: number for name, number in counters.items() if not known.has_counter(name)})

    people = {name: replace(one, counters=left(one.counters)) for name, one in state.characters.items()}
    tags = tuple([tag for tag in state.tags if not known.has_tag(tag)])
    return replace(state, tags=tags, counters=left(state.counters), characters=Map(people))


def _promised(state: State, idle: Collection[str]) -> State:
    """Return what a promise holds for of a table at its end: no counters, where some of these are idle."""
    names = {*state.counters, *(name for one in state.characters.values() for name in one.counters)}
    has_counters = any(name.startswith(COUNTERS) for name in idle)
    return _without(state, {*idle, *(f"{COUNTERS}{name}" for name in names if has_counters)})


_MERGES = "after table.merge only its key may matter to what it `holds` for; the same holds for equivalent cards"
_ADVICE = {
    "effects": "after table.versus only the margin may matter, and after table.merge only its key",
    "outcome": f"table.settle is called once, and its outcome returned; {_MERGES}",
    "margin": _MERGES,
    "total": _MERGES,
}


def _asked_otherwise(some: list[Question], others: list[Question]) -> str:
    """Return what is asked in some of the runs that go on as one and not in others; nothing when there is nothing."""
    one, other = ({plain(question): question.label for question in questions} for questions in (some, others))
    labels = sorted({label for question, label in (one | other).items() if (question in one) != (question in other)})
    return f"what is asked under {', '.join(labels)} differs, facts included" if labels else ""


def _by(odds: Odds, asked: str) -> Odds:
    """Return the chances of what is asked, of those of all there is."""
    masses: dict[Hashable, Fraction] = {}
    for end, mass in odds.masses.items():
        key = getattr(end, asked)
        masses[key] = masses.get(key, odds.open * 0) + mass
    return replace(odds, masses=masses)


def _disagreement(one: Odds, other: Odds) -> str:
    """Return how two exact distributions differ by more than what they leave open; nothing when they do not."""
    zero = one.open * 0
    for key in {**one.masses, **other.masses}:
        left, right = one.masses.get(key, zero), other.masses.get(key, zero)
        if left > right + other.open or right > left + one.open:
            return f"the chance of {_named(key)} is {left} and {right}"
    return ""


def _named(key: object) -> str:
    return key.decode(errors="replace") if isinstance(key, bytes) else str(key)


def _sampled(case: Case, odds: Mapping[str, Odds]) -> Iterator[Diagnostic]:
    """Yield what comes more often or more rarely than its exact chances allow (Bernstein's bound)."""
    odds = {asked: one for asked, one in odds.items() if _can_differ(one)}
    if not odds:
        return
    ends = list[End]()
    dealer, began = SeededDealer(Streams("contract")), monotonic()
    for number in range(RUNS):
        if monotonic() - began > SECONDS:  # a procedure may take long
            break
        dealer.move_to(number)
        outcome, _ = play(case.prepared, dealer=dealer, players=Seats(policies={"": uniform}))
        ends.append(End.of(outcome))
    for asked, one in odds.items():
        counts = Counter(getattr(end, asked) for end in ends)
        for key in counts:
            if key not in one.masses and not one.open:
                yield finding(f"{_named(key)} occurred in play, but not in the odds", case.place, _SAMPLED)
                return
        for key, mass in one.masses.items():
            share, (least, most) = counts[key] / len(ends), _bounds(mass, one, len(ends))
            if share < least or share > most:
                message = (
                    f"{_named(key)} occurred {counts[key]} times in {len(ends):,}, and has the exact chance {mass}"
                )
                yield finding(message, case.place, _SAMPLED)
                return


def _bounds(mass: Fraction, odds: Odds, runs: int) -> tuple[float, float]:
    """Return between which shares of so many runs something comes that has this exact chance."""
    exact = float(mass)
    bound = sqrt(2 * exact * (1 - exact) * SURE / runs) + SURE / (3 * runs)
    return exact - bound, exact + float(odds.open) + bound


def _can_differ(odds: Odds) -> bool:
    """Tell whether runs can contradict odds at all, which they cannot where nearly everything is open."""
    bounds = [_bounds(mass, odds, RUNS) for mass in odds.masses.values()]
    return not odds.open or any(least > 0 or most < 1 for least, most in bounds)


_SAMPLED = "every random result must come from the table"


# ---------------------------------------------------------------------------------------------------------------------
# What odds cost


def check_leaves(subject: Subject) -> Iterator[Diagnostic]:
    """Yield actions whose odds take too long: the number of paths is what they cost, and a rule sets it."""

    def of_case(case: Case) -> Iterator[Diagnostic]:
        rules, action = case.prepared.rules, case.prepared.action
        if not case.is_example or rules.file.actions[action].procedure:
            return  # odds of a procedure are computed turn by turn, and it may have no last one
        asked: dict[str, int] = {}
        began = monotonic()
        odds = _bands(case, policy_of(rules), leaves=MOST, asked=asked)
        if not odds.open or not (odds.leaves >= MOST or odds.too_many or monotonic() - began >= SECONDS):
            return  # what is open is what the dice themselves leave open
        often = sorted(asked, key=lambda label: -asked[label])[:3]
        message = ", ".join(f"{label} ({asked[label]} times)" for label in often)
        yield finding(
            f"its odds take more than {MOST:,} runs or {SECONDS:g} seconds; most asked: {message}",
            case.place,
            _SPARE if not rules.file.actions[action].dice else _SPARE_DESCRIBED,
        )

    if subject.steady and not any(case.is_example for case in subject.steady):
        raise NothingToCheck("no action has an example that plays")
    yield from each(subject, of_case)


_SPARE = "roll a pool as one expression, compare two rolls with table.versus, or merge runs with table.merge"
_SPARE_DESCRIBED = "roll fewer separate dice, or use fewer readings of them"


def _bands(case: Case, policy: Policy, *, leaves: int, asked: dict[str, int]) -> Odds:
    """Return the chances of a case's outcomes by band, each path followed until its band is fixed."""
    runs, playing = Runs(), partial(play, case.prepared, asked="outcome")

    def once(dealer: WalkDealer) -> str:
        try:
            band: str = runs.run(playing, dealer, Seats(policies={"": policy}))
        finally:
            for label, count in Counter(label for label, _ in dealer.tape).items():
                asked[label] = max(asked.get(label, 0), count)
        return band

    return explore(once, leaves=leaves, seconds=SECONDS)
