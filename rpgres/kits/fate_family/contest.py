"""A contest: sides roll against each other exchange by exchange until one has enough victories.

An exchange is a turn for each side that may try an advantage first, one for each attack (a contest
under fire), and the roll. Source: Fate Core, "Contests" (fate-srd.com); the text `fate` is made from, lines 150, 214,
263, 300 and 339. No outcome's or option's effect stands here: the tables `contest-*` have them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, cast

import msgspec

from rpgres.dice import dice as dice_of
from rpgres.engine.players import NO
from rpgres.engine.procedures import Turn
from rpgres.engine.table import Outcome, Table
from rpgres.errors import UsageError, named
from rpgres.kits import aspects
from rpgres.kits.aspects.policies import STYLE
from rpgres.kits.fate_family.exchanges import check_none_open
from rpgres.kits.fate_family.fighters import best_defense, best_rating
from rpgres.kits.fate_family.moves import (
    ADVANTAGE,
    TURN,
    VICTORY,
    Moves,
    advantage_on,
    ending,
    make_advantage,
    opposition_of,
    with_boosts_named,
)
from rpgres.kits.fate_family.rolls import Foe, Help, check_sides, roll_off
from rpgres.kits.fate_family.settling import fact_map, roles_of
from rpgres.kits.fate_family.switches import ContestSwitches
from rpgres.model.state import EMPTY, GM, Character, Map
from rpgres.parameters.values import Form, Opposition, Rating
from rpgres.rulesets import Effect, Option
from rpgres.rulesets.settling import Heights

_ROLL = Option("roll", "Roll in the contest at once.", 1)
_UNNAMED = Option("unnamed", "A twist without a name.", passes=True)
_TWIST = "An Unexpected Twist"


Exchanged = tuple[int, Map[str, str], int]  # the actor's margin, the facts for the outcome table, and who is first


class Side(msgspec.Struct, frozen=True, gc=False):
    """One side of a contest: who rolls for it and with what; without a name, a number or dice in notation."""

    who: str
    rating: Rating
    dice: str = ""

    @property
    def opposition(self) -> Opposition:
        """The side as what another one is up against."""
        return Opposition(self.rating.value, dice_of(self.dice) if self.dice else None, self.who, self.rating.name)


class Setup(msgspec.Struct, frozen=True, cache_hash=True):
    """What stays as it is through a contest.

    Attributes:
        sides: the sides, the actor's first.
        attackers: who attacks the actor in each exchange, with which rating, and the actor's rating to defend with.
        track: where those hits go.
        difficulty: of an advantage on the scene.
        environment: the difficulty that every side rolls against; None where they roll against each other.
        victories: how many victories win.
        exchanges: after how many the contest ends undecided; None for no limit.
        given: further bonuses of the actor.
    """

    sides: tuple[Side, ...]
    attackers: tuple[tuple[str, Rating, Rating], ...] = ()
    track: str = ""
    difficulty: int = 2
    environment: int | None = None
    victories: int = 3
    exchanges: int | None = None
    given: Map[str, Any] = EMPTY


class Contest(msgspec.Struct, frozen=True):
    """Where a contest stands.

    Attributes:
        setup: what stays.
        won: the victories of each side.
        exchange: which exchange it is, from 1.
        phase: whose advantage comes next, or who attacks, or the roll.
        lost: the sides that have lost this exchange's roll, by a failed advantage.
    """

    setup: Setup
    won: tuple[int, ...]
    exchange: int = 1
    phase: int = 0
    lost: tuple[int, ...] = ()


def begin(table: Table, actor: Character, rating: Rating, vs: Sequence[Opposition], **said: Any) -> Contest:
    """Return where a contest begins.

    Args:
        table: where it is played.
        actor: who acts for the first side.
        rating: what the actor rolls.
        vs: the other sides.
        said: further fields of `Setup`.

    Raises:
        UsageError: there is no other side, or a character cannot take part.
    """
    check_none_open(table.state, "contest")
    others = tuple(Side(one.character, Rating(one.value, one.ability), one.dice.text if one.dice else "") for one in vs)
    if not others:
        raise UsageError(f"a contest has another side; give {named('vs')} NAME:ABILITY, dice or a number")
    setup = Setup((Side(actor.name, rating, table.rules.dice.text), *others), **said)
    names = [side.who for side in setup.sides if side.who]
    check_sides(table.state, [*names, *setup.given.get("helper", ())])
    for name, _, _ in setup.attackers:
        check_sides(table.state, [actor.name, name])
    return Contest(setup, (0,) * len(setup.sides))


def attackers_of(
    table: Table, actor: Character, forms: Sequence[Form], kind: str, defense: Rating | None
) -> tuple[tuple[str, Rating, Rating], ...]:
    """Return who attacks during a contest, and what both roll: by default the best ability that fits."""
    found, rules = list[tuple[str, Rating, Rating]](), table.rules
    for form in forms:
        attacker = table.state.characters[form.name]
        attack = form.values.get("attack") or best_rating(rules, attacker, kind, "attack")
        found.append((form.name, attack, defense or best_defense(rules, actor, kind, attack.name)))
    return tuple(found)


def take_turn(moves: Moves, table: Table, place: Contest) -> Turn | Outcome:
    """Take one turn of a contest: an advantage before the roll, an attack on the actor, or the roll itself."""
    setup = place.setup
    if place.phase == 0 and (end := _ended(table, place)) is not None:
        return end
    phase, acting = place.phase, [number for number, side in enumerate(setup.sides) if side.who]
    if phase < len(acting):
        return _prepare(moves, table, place, acting[phase])
    phase -= len(acting)
    if phase < len(setup.attackers):
        return _fire(moves, table, place, phase)
    return _roll(moves, table, place)


def _ended(table: Table, place: Contest) -> Outcome | None:
    """Return the outcome of a contest that is over; None while it goes on."""
    setup, won = place.setup, place.won
    is_out = table.state.characters[setup.sides[0].who].is_out
    if not is_out and max(won) < setup.victories and place.exchange <= (setup.exchanges or place.exchange):
        return None
    ahead = won[0] >= setup.victories
    is_lost = is_out or max(won[1:]) >= setup.victories
    return _ending(table, place, "contest-lost" if is_lost else "contest-won" if ahead else "contest-undecided")


def stop(table: Table, place: Contest) -> Outcome:
    """Return the outcome of a contest that is broken off."""
    return _ending(table, place, "contest-undecided")


def _ending(table: Table, place: Contest, end: str) -> Outcome:
    setup, won = place.setup, place.won
    best = max(won[1:])
    rivals = zip(setup.sides[1:], won[1:], strict=True)
    winner = next((side.who for side, has in rivals if side.who and has == best), GM)
    facts = fact_map(("under-fire", "yes" if setup.attackers else "no"))
    roles = roles_of(setup.sides[0].who, winner)
    played = place.exchange - (place.phase == 0)  # a new one has begun where the last one is over
    return ending(
        table, end, won[0] - best, roles=roles, facts=facts, details=Map({"exchanges": played, "victories": won})
    )


def _next(place: Contest, **changes: Any) -> Contest:
    return msgspec.structs.replace(place, phase=place.phase + 1, **changes)


# ---------------------------------------------------------------------------------------------------------------------
# Before the roll


def _prepare(moves: Moves, table: Table, place: Contest, number: int) -> Turn:
    """Let a side try an advantage before it rolls, which costs the roll when it fails (A:263)."""
    setup = place.setup
    side = setup.sides[number]
    actor = table.state.characters[side.who]
    if actor.is_out:
        return Turn(_next(place))
    add = Option(ADVANTAGE, f"Try an advantage first, against {setup.difficulty:+d} on the scene.")
    rating = side.rating.value
    against = max(won for other, won in enumerate(place.won) if other != number)
    what = table.ask(
        TURN,
        side.who,
        (_ROLL, add),
        text="Roll in the contest, or try an advantage first? Failing it costs the roll.",
        words=f"exchange {place.exchange}, victories {place.won[number]} to {against}",
        rating=rating,
        difficulty=setup.difficulty,
        exchange=place.exchange,
        victories=place.won[number],
        against=against,
        foes=tuple([other.who for other in setup.sides if other.who and other is not side]),
    )
    if what != ADVANTAGE:
        return Turn(_next(place))
    rivals = {other.who: other for other in setup.sides if other.who and other is not side}
    people = [Option(name, f"{table.state.characters[name].title or name}, who defends.") for name in rivals]
    on = advantage_on(table, side.who, people)
    vs = rivals[on.who].opposition if on.who else Opposition(setup.difficulty)
    outcome = make_advantage(table, moves, actor, side.rating, (vs,), on=on)
    lost = (*place.lost, number) if outcome.success is False else place.lost
    return Turn(_next(place, lost=lost), outcome, side.who, ADVANTAGE)


def _fire(moves: Moves, table: Table, place: Contest, number: int) -> Turn:
    """Have a character attack the actor, who runs the contest meanwhile (A:300, A:339)."""
    setup = place.setup
    name, rating, defense = setup.attackers[number]
    runner = setup.sides[0].who
    if table.state.characters[runner].is_out or table.state.characters[name].is_out:
        return Turn(_next(place))
    vs = (opposition_of(table, runner, defense),)
    outcome = moves.attack(table, table.state.characters[name], rating, vs, track=setup.track)
    return Turn(_next(place), with_boosts_named(table.state, outcome), name, "attack")


# ---------------------------------------------------------------------------------------------------------------------
# The roll


def _roll(moves: Moves, table: Table, place: Contest) -> Turn:
    """Have the sides roll that have not lost their roll, and give the victories of the exchange."""
    setup = place.setup
    sides, state = setup.sides, table.state
    out = [number for number, side in enumerate(sides) if side.who and state.characters[side.who].is_out]
    rolling = [number for number in range(len(sides)) if number not in place.lost and number not in out]
    is_always = table.rules.switches(ContestSwitches).contest_double == "always"
    comparison = _comparison(tuple(rolling), setup.environment, is_always=is_always)
    if setup.environment is None and len(rolling) == len(sides) == 2:  # only their difference matters
        actor, other = state.characters[sides[0].who], sides[1].opposition
        foe = Foe(_adds(moves, table, setup, 1), other.dice, other.character)
        given, settles = cast("Help", setup.given), ("contest-exchange", comparison)
        final = roll_off(table, actor, _adds(moves, table, setup, 0), (foe,), given, settles=settles)
        margin, facts, first = comparison((final.margin or 0, 0))
        costs, compared = final.effects, dict[str, Any](total=final.total, opposition=final.opposition)
    elif len(rolling) > 1 or (setup.environment is not None and rolling):
        heights, costs = _rolled(moves, table, setup, rolling, comparison)
        margin, facts, first = comparison(heights)
        totals = dict(zip(rolling, heights, strict=False))
        own, best = totals.get(0), max((total for number, total in totals.items() if number), default=None)
        is_told = own is not None and best is not None and own - best == margin
        compared = {"total": own, "opposition": best} if is_told else {}
    else:  # the last side that may roll is unopposed
        first, costs, compared = rolling[0] if rolling else 0, (), {}
        margin = 0 if not rolling else 1 if first == 0 else -1
        facts = _told(is_won=bool(rolling), is_twist=False, is_double=False)
    return _counted(table, place, margin, first, facts, costs, compared)


def _told(*, is_won: bool, is_twist: bool, is_double: bool) -> Map[str, str]:
    """Return the facts for the outcome table of an exchange."""
    facts = {"victory": is_won, "twist": is_twist, "double": is_won and is_double}
    return fact_map(*((name, "yes" if is_so else "no") for name, is_so in facts.items()))


@lru_cache(maxsize=256)  # so that equal ones are one: what is fixed is kept by it
def _comparison(rolling: tuple[int, ...], floor: int | None, *, is_always: bool) -> Callable[[Heights], Exchanged]:
    """Return what compares the sides of an exchange.

    Against the surroundings, a side that fails wins nothing, one that ties can win, and style is measured against them.

    Args:
        rolling: the numbers of the sides that roll; their totals are followed by `floor` where there is one.
        floor: the difficulty of the surroundings.
        is_always: whether style against the surroundings counts double though others have it, too.
    """

    def compared(heights: Heights) -> Exchanged:
        totals = dict(zip(rolling, heights, strict=False))
        first = max(totals, key=lambda number: totals[number])
        others = [total for number, total in totals.items() if number != first]
        best, next_best = totals[first], max(others, default=None)
        lead = best - (heights[-1] if floor is not None else next_best or 0)
        is_ahead = floor is None or lead >= 0
        if not is_ahead or best == next_best:
            return 0, _told(is_won=False, is_twist=is_ahead, is_double=False), first
        is_double = lead >= STYLE
        if floor is not None and not is_always:
            is_double = is_double and not any(total - heights[-1] >= STYLE for total in others)
        ahead = best - next_best if next_best is not None else max(lead, 1)  # of those who have lost their roll
        margin = ahead if first == 0 else totals[0] - best if 0 in totals else -ahead
        return margin, _told(is_won=True, is_twist=False, is_double=is_double), first

    return compared


def _adds(moves: Moves, table: Table, setup: Setup, number: int) -> int:
    """Return what a side adds to its dice; a contest roll is much like overcoming something."""
    side = setup.sides[number]
    if not side.who:
        return side.rating.value
    actor, given = table.state.characters[side.who], setup.given if number == 0 else EMPTY
    return moves.effort(table, actor, "overcome", side.rating, given)


def _rolled(
    moves: Moves, table: Table, setup: Setup, rolling: Sequence[int], comparison: Callable[[Heights], Exchanged]
) -> tuple[Heights, tuple[Effect, ...]]:
    """Return what every side comes to that rolls, all of whom may invoke, and what that cost."""
    sides = list[aspects.Side]()
    for number in rolling:
        side = setup.sides[number]
        add, label = _adds(moves, table, setup, number), "opposition" if number else "roll"
        dice = dice_of(side.dice) if side.dice else None
        rolled = table.roll(dice, label, by=side.who) if dice is not None else None
        helpers = (*setup.given.get("helper", ()), *setup.given.get("ally", ())) if number == 0 else ()
        against = (*setup.given.get("rival", ()),) if number == 1 else ()
        members = (side.who or GM, *helpers, *against)
        window = "invoke-against" if number else "invoke"
        sides.append(aspects.Side(members, window, label, add + (rolled or 0), rolled, dice, side.who))
    if setup.environment is not None:
        sides.append(aspects.Side((), "surroundings", "", setup.environment))  # which no side raises
    if table.state.tags:
        settles = "contest-exchange", comparison
        among, costs = aspects.invoke_among(table, sides, aspects.new_ledger(table), settles=settles)
        return tuple([side.total for side in among]), costs
    return tuple([side.total for side in sides]), ()


def _counted(
    table: Table,
    place: Contest,
    margin: int,
    first: int,
    facts: Map[str, str],
    costs: tuple[Effect, ...],
    compared: dict[str, Any],
) -> Turn:
    """Return the turn that ends an exchange, with the victories that the outcome table gives."""
    setup = place.setup
    winner = setup.sides[first].who if first else next((side.who for side in setup.sides[1:] if side.who), "")
    roles = roles_of(setup.sides[0].who, winner or GM)
    if facts["twist"] == "yes":
        name = table.ask(
            "twist", GM, (_UNNAMED,), text="What unexpected twist?", optional=True, reads=_name, form="TEXT"
        )
        defaults = {"aspect": {"name": _TWIST if name in (NO, _UNNAMED.name) else name}}
    else:
        defaults = {}
    outcome = table.settle("contest-exchange", margin, roles=roles, facts=facts, defaults=defaults, **compared)
    effects = aspects.with_names(table.state, outcome.effects)
    outcome = msgspec.structs.replace(outcome, effects=(*costs, *effects))
    gained = sum(one["count"] for one in outcome.effects if one["kind"] == VICTORY)
    won = tuple(has + gained if number == first else has for number, has in enumerate(place.won))
    after = Contest(setup, won, place.exchange + 1)
    return Turn(after, with_boosts_named(table.state, outcome), setup.sides[0].who, f"exchange {place.exchange}")


def _name(text: str) -> str:
    """Return a typed name of an aspect."""
    if not text.strip() or len(text) > 100:
        raise UsageError("the name of an aspect has from 1 to 100 characters")
    return text.strip()
