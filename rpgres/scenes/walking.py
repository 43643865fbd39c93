"""A scene as a game that odds and simulations walk through: without records, and for odds turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from rpgres.engine.dealers import Dealer, GivenDealer
from rpgres.engine.effects import apply_effects
from rpgres.engine.periods import play_moment
from rpgres.engine.players import uniform
from rpgres.engine.prepare import Prepared, answers_to
from rpgres.engine.procedures import Position, Turn, begin_procedure, check_details, play_turn
from rpgres.engine.run import play
from rpgres.engine.running import EFFECTS
from rpgres.engine.seats import Policies, Seats
from rpgres.engine.table import Outcome
from rpgres.errors import FileError, RpgresError, UndealtError, UsageError, named
from rpgres.lint.paths import Known, path_faults, path_on_table
from rpgres.model.paths import parse_path
from rpgres.model.serialization import plain
from rpgres.model.state import Map, State, freeze
from rpgres.model.typed_paths import TypedPath, typed_path
from rpgres.odds.explorer import TapeDealer
from rpgres.odds.games import Game
from rpgres.odds.positions import COUNTERS
from rpgres.rulesets import STATE, Rules
from rpgres.scenes.flow import Cursor, after_step, answer_lists, ending_of, is_over, leaf_at, onward
from rpgres.scenes.playing import at_step_of_many, changed_by, prepare_step, with_joining
from rpgres.scenes.program import ALWAYS, Leaf, Scene
from rpgres.text.harmless import to_json
from rpgres.toml.diagnostics import errors_in, nearest

ENDING = "ending"  # the default result of a scene: how it ends
TIMES = "times."  # prefix of the count of a repeated step


def game_of(scene: Scene, *, by: Sequence[str] = (ENDING,), best: str = "", defers: bool = True) -> Game:
    """Return a scene as a game that odds walk through.

    Args:
        scene: the scene; its policies answer decisions that its steps do not.
        by: names of results: `ending`, a path of the table, a detail of the last outcome with this detail (such as
            `exchanges`), or the count of a repeated step (`times_played`).
        best: the character or seat with free decisions, for a search.
        defers: whether hands stay undealt until a rule looks at them; it changes no chance.

    Raises:
        UsageError: unknown name of a result.
    """
    program, rules = scene.program, scene.rules
    for leaf in program.leaves:
        if leaf.step.fresh and leaf.step.procedure:
            message = "odds of a procedure on the table as it was at first (`fresh`) are not worked out"
            raise FileError(f"{leaf.where('fresh')}: {leaf.name}: {message}; leave `fresh` out, or simulate")
    check_by(scene, by)
    details = tuple(name for name in by if name != ENDING and not name.startswith(TIMES) and not is_path(name))
    tallied = {leaf: name for name, leaf in times_played(scene).items() if name in by}
    readers = [_reader(scene, name) for name in by]
    policies = Policies(scene.policies)

    def turn(position: Position, dealer: Dealer, policies: Policies) -> Position:
        leaf = leaf_at(program, position.at)
        if isinstance(dealer, TapeDealer):
            dealer.deals_late = defers
        try:
            after = _turn(scene, leaf, position, dealer, policies, details)
        except RpgresError as error:
            if "asked" in error.details or isinstance(error, UndealtError):
                raise
            raise at_step_of_many(leaf, error) from error
        name = tallied.get(leaf.number) if after.place is None else None
        if name is None:
            return after
        counted = after.at.counted
        return replace(after, at=replace(after.at, counted=counted.with_(name, counted.get(name, 0) + 1)))

    def go_on(position: Position) -> Position:
        if position.place is not None:
            return position
        return Position(position.state, onward(program, rules, position.at, position.state))

    def result(position: Position) -> Hashable:
        return tuple(read(position) for read in readers)

    return Game(
        Position(scene.state, Cursor()),
        policies,
        turn,
        go_on,
        lambda one: is_over(program, one.at),
        result,
        rules.ruleset.canons,
        _forgotten(scene, by, Policies({**scene.policies, best: uniform}) if best else policies),
    )


def _forgotten(scene: Scene, by: Sequence[str], policies: Policies) -> frozenset[str]:
    """Return the idle parts of the table (`Ruleset.idle`) for a scene that is a single procedure."""
    program = scene.program
    if len(program.ops) != 1 or program.ends:
        return frozenset()
    leaf = program.leaves[0]
    idle = scene.rules.ruleset.idles.get(leaf.step.procedure)
    if idle is None or leaf.due != ALWAYS or leaf.step.choose:
        return frozenset()
    asked = [typed_path(name) for name in by if is_path(name)]
    found = frozenset(idle(scene.rules, policies))
    counters = {name for name in found if name.startswith(COUNTERS)}
    if any(map(_has_counters, asked)):
        found -= counters
    if any(path.field == "tags" for path in asked):
        found &= counters
    return found - {f"{COUNTERS}{name}" for name in scene.rules.file.rated}  # formulas may use what sheets list


def _has_counters(path: TypedPath) -> bool:
    match path.keys:
        case ["counters", *_] | ["characters"] | ["characters", _] | ["characters", _, "counters", *_]:
            return True
    return False


def _reader(scene: Scene, name: str) -> Callable[[Position], Hashable]:
    """Return the function that reads one result from the last position."""
    if name == ENDING:
        return lambda position: ending_of(scene.program, scene.rules, position.at, position.state)
    if not is_path(name):
        nothing = 0 if name.startswith(TIMES) else None
        return lambda position: position.at.counted.get(name, nothing)
    path = parse_path(name)
    return lambda position: freeze(plain(path.told(position.state)))


def is_path(name: str) -> bool:
    """Whether a name is a path of the table, not a detail of an outcome, such as `exchanges`."""
    return ("." in name and not name.startswith(TIMES)) or name in State.__struct_fields__


def step_names(scene: Scene) -> dict[int, str]:
    """Return the keys of actions and procedures by the number of their step; duplicates get that number as well."""
    names: dict[int, str] = {}
    for leaf in scene.program.leaves:
        if leaf.step.played:
            names[leaf.number] = f"{leaf.key}@{leaf.number}" if leaf.key in names.values() else leaf.key
    return names


def times_played(scene: Scene) -> dict[str, int]:
    """Return the repeated steps by the name of their count."""
    leaves = scene.program.leaves
    repeated = {number: name for number, name in step_names(scene).items() if max(leaves[number].passes, default=1) > 1}
    return {f"{TIMES}{name}": number for number, name in repeated.items()}


def check_by(scene: Scene, by: Sequence[str]) -> None:
    """Raise an error for the name of an impossible result."""
    played, steps = times_played(scene), [leaf.step for leaf in scene.program.leaves]
    has_details = any(step.procedure for step in steps)
    for name in by:
        if name in (ENDING, *played) or is_path(name) or (has_details and not name.startswith(TIMES)):
            continue
        near = nearest(name, played)
        of_steps = f"how often a step is played: {', '.join(played)}" if played else "no step of this scene repeats"
        raise UsageError(
            f"{named('by')} {name}: nothing of this name is counted{f'; did you mean {near!r}?' if near else ''} "
            f"({of_steps}; what stands on the table at the end has a path, such as characters.NAME.counters.NAME)"
        )
    paths = [name for name in by if is_path(name)]
    check_paths(scene.rules, scene.state, paths, later=lambda: with_joining(scene, steps))


def check_paths(rules: Rules, state: State, paths: Iterable[str], *, later: Callable[[], State] | None = None) -> None:
    """Raise an error for an impossible path; `later` returns the table with joining characters."""
    known = Known(rules, state)
    for text in paths:
        try:
            path = parse_path(text)
        except UsageError as error:
            meant = path_on_table(rules, typed_path(text).keys)
            hint = f"; did you mean {meant!r}?" if meant else ""
            raise UsageError(f"{named('by')} {error.raw}{hint}", **error.details) from None
        if later is not None and errors_in(path_faults(path, known)):
            known = Known(rules, later())
        for fault in errors_in(path_faults(path, known)):  # warnings are about names that play may create
            hint = fault.placed("", None, None).hint
            raise UsageError(f"{named('by')} {text}: {fault.message}{f'; did you mean {hint!r}?' if hint else ''}")


def nearest_place(rules: Rules, state: State, text: str) -> str:
    """Return the known name nearest to an unknown one in a path; empty for none."""
    faults = path_faults(parse_path(text), Known(rules, state)) if is_path(text) else ()
    return next((hint for fault in faults if (hint := fault.placed("", None, None).hint)), "")


def nothing_there(path: str, near: str) -> str:
    """Return the message for a path without a value."""
    return f"{named('by')} {path}: there is no value at the end{f'; did you mean {near!r}?' if near else ''}"


def counting_steps(scene: Scene, name: str) -> list[str]:
    """Return the procedures with a detail such as `exchanges` in their outcome."""
    known: dict[str, Collection[str]] = scene.rules.compiled.get("scenes:details", {})
    return [leaf.key for leaf in scene.program.leaves if name in known.get(leaf.step.procedure, ())]


def with_details(scene: Scene, at: Cursor, procedure: str, outcome: Outcome, counts: Sequence[str]) -> Cursor:
    """Return the cursor with the requested details of a procedure's outcome."""
    if not counts:
        return at
    known: dict[str, Collection[str]] = scene.rules.compiled.setdefault("scenes:details", {})  # by procedure
    known[procedure] = outcome.details.keys()
    procedures = {leaf.step.procedure for leaf in scene.program.leaves if leaf.step.procedure}
    if procedures <= known.keys():
        check_details(counts, {name: None for one in procedures for name in known[one]})
    found = {name: freeze(plain(outcome.details[name])) for name in counts if name in outcome.details}
    return replace(at, counted=Map({**at.counted, **found}))


def _turn(
    scene: Scene, leaf: Leaf, position: Position, dealer: Dealer, policies: Policies, counts: Sequence[str]
) -> Position:
    step, at = leaf.step, position.at
    before = scene.state if step.fresh else position.state
    if not step.procedure:
        outcome, state = play_leaf(scene, leaf, before, dealer, policies, asked=STATE)
    elif position.place is None:
        prepared = prepare_step(scene, leaf, before)
        by_hand = GivenDealer(answer_lists(step.given), then=dealer)
        seats = Seats(answers_to(prepared, answer_lists(step.choose)), policies=policies)
        place, state = begin_procedure(prepared, dealer=by_hand, players=seats)
        at = replace(at, given=_by_label(by_hand.unused()), choose=_by_label(seats.unused(is_over=False)))
        return Position(state, at, place)
    else:
        seats = Seats(at.choose, policies=policies)
        given = GivenDealer(at.given, then=dealer) if at.given else None
        now, place = position.state, position.place
        found, run = play_turn(
            scene.rules, step.procedure, now, place, dealer=given or dealer, players=seats, asked=STATE
        )
        if isinstance(found, Turn):
            if given is not None:
                at = replace(at, given=_by_label(given.unused()))
            if at.choose:
                at = replace(at, choose=_by_label(seats.unused(is_over=False)))
            return Position(run.state, at, found.place)
        dealer.applies()
        outcome, state = found, apply_effects(scene.rules, run.state, found)
    band = outcome.band if outcome is not None else None
    dealer.came_to(band)
    if step.procedure and outcome is not None:
        at = with_details(scene, at, step.procedure, outcome, counts)
    state = position.state if step.fresh else state
    return Position(state, after_step(scene.program, scene.rules, at, state, outcome=band))


def _by_label(pairs: Iterable[tuple[str, str]]) -> Map[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for label, value in pairs:
        found[label] = (*found.get(label, ()), value)
    return Map(found)


def play_leaf(
    scene: Scene, leaf: Leaf, state: State, dealer: Dealer, policies: Policies, *, asked: str = EFFECTS
) -> tuple[Outcome | None, State]:
    """Return the outcome of a step, None for changes and notes, and the next table. Procedures are played to their end.

    Args:
        dealer: answers chance without a `given` answer.
        asked: the purpose of the run; see `Run.asked`.
    """
    step, rules = leaf.step, scene.rules
    if not (step.played or step.moment):
        return None, changed_by(scene, leaf, state)
    dealer = GivenDealer(answer_lists(step.given), then=dealer) if step.given else dealer
    if step.moment is not None:
        seats = Seats(answer_lists(step.choose), policies=policies)
        period, moment = step.moment
        moved = play_moment(rules, state, period=period, moment=moment, dealer=dealer, players=seats, asked=asked)
        return None, moved[2]
    prepared = _prepared(scene, leaf, state)
    seats = Seats(answers_to(prepared, answer_lists(step.choose)), policies=policies)
    outcome, run = play(prepared, dealer=dealer, players=seats, asked=asked)
    dealer.applies()
    return outcome, apply_effects(rules, run.state, outcome)


def _prepared(scene: Scene, leaf: Leaf, state: State) -> Prepared:
    """Return the prepared action of a step, cached for the first table."""
    if state is not scene.state:
        return prepare_step(scene, leaf, state)
    key = f"step:{id(scene)}:{leaf.number}"
    cached: tuple[Scene, Prepared] | None = scene.rules.compiled.get(key)
    if cached is None:
        cached = scene.rules.compiled[key] = scene, prepare_step(scene, leaf, state)
    return cached[1]


def value_name(value: Any) -> str:
    """Return the name of a value in a table of chances.

    Flags are `yes` and `no`, a missing value is `absent`; the name of a box is its mark, other data are JSON.
    """
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "absent"}[value]
    if isinstance(value, Mapping) and "mark" in value:
        return str(value["mark"] or "free")
    return str(value) if isinstance(value, int | str) else to_json(plain(value)).decode()
