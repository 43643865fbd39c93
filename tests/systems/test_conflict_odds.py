"""Fate: whole conflicts against a program that goes through all of their dice and knows no engine."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import pytest

from rpgres.odds.scenes import scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import Overrides, read_scene
from rpgres.scenes.walking import game_of, value_name
from rpgres.toml.reading import Source
from tests.support.effort import few

FUDGE = {-4: 1, -3: 4, -2: 10, -1: 16, 0: 19, 1: 16, 2: 10, 3: 4, 4: 1}
SLOTS = {"mild": 2, "moderate": 4, "severe": 6}


@dataclass(frozen=True)
class Harm:
    """Which boxes and slots are free, and whether somebody is out: `taken` or `conceded`."""

    boxes: tuple[int, ...] = (1, 2)
    slots: tuple[int, ...] = (2, 4, 6)
    out: str = ""


@dataclass(frozen=True)
class Fighter:
    """Who fights how.

    Attributes:
        targets: whom it attacks, the first who stands.
        absorbs: how it takes hits, the first that is possible.
        defends: whether it defends fully once no box is free.
        gives_in: whether it concedes in its turn once it has a consequence.
        backs_out: whether it concedes before an attack once a box is checked.
    """

    name: str
    side: str
    fight: int
    athletics: int
    targets: tuple[str, ...]
    absorbs: tuple[str, ...] = ("box-*", "taken-out")
    defends: bool = False
    gives_in: bool = False
    backs_out: bool = False

    def does(self, harm: Harm) -> str:
        if self.gives_in and len(harm.slots) < 3:
            return "concede"
        return "full-defense" if self.defends and not harm.boxes else "attack"

    def hit(self, harm: Harm, shifts: int) -> Harm:
        for way in self.absorbs:
            if way == "box-*" and any(box >= shifts for box in harm.boxes) and shifts <= 2:
                box = min(box for box in harm.boxes if box >= shifts)
                return Harm(tuple(one for one in harm.boxes if one != box), harm.slots)
            if SLOTS.get(way) in harm.slots and SLOTS[way] >= shifts:
                return Harm(harm.boxes, tuple(one for one in harm.slots if one != SLOTS[way]))
        return Harm(harm.boxes, harm.slots, "taken")


@dataclass(frozen=True)
class Field:
    """How everybody is, in the order of turns, and who defends fully."""

    harms: tuple[Harm, ...]
    full: frozenset[str] = frozenset()

    def put(self, place: int, harm: Harm) -> Field:
        return Field((*self.harms[:place], harm, *self.harms[place + 1 :]), self.full)


Ended = dict[tuple[str, ...], Fraction]


def turn(fighters: tuple[Fighter, ...], field: Field, place: int) -> list[tuple[Fraction, Field]]:
    """Return where the turn of somebody leads."""
    one, harm = fighters[place], field.harms[place]
    match one.does(harm):
        case "concede":
            return [(Fraction(1), field.put(place, Harm(harm.boxes, harm.slots, "conceded")))]
        case "full-defense":
            return [(Fraction(1), Field(field.harms, field.full | {one.name}))]
    names = [other.name for other in fighters]
    struck = next(names.index(name) for name in one.targets if not field.harms[names.index(name)].out)
    target, hurt = fighters[struck], field.harms[struck]
    if target.backs_out and len(hurt.boxes) < 2:
        gone = field.put(struck, Harm(hurt.boxes, hurt.slots, "conceded"))
        return turn(fighters, gone, place) if not is_over(fighters, gone) else [(Fraction(1), gone)]
    defense = max(target.fight, target.athletics) + 2 * (target.name in field.full)
    found: defaultdict[Field, Fraction] = defaultdict(Fraction)
    for (mine, ways), (theirs, others) in product(FUDGE.items(), FUDGE.items()):
        margin = one.fight + mine - defense - theirs
        after = field.put(struck, target.hit(hurt, margin)) if margin > 0 else field
        found[after] += Fraction(ways * others, 81 * 81)
    return [(mass, after) for after, mass in found.items()]


def is_over(fighters: tuple[Fighter, ...], field: Field) -> bool:
    return len({one.side for one, harm in zip(fighters, field.harms, strict=True) if not harm.out}) < 2


def conflict(fighters: tuple[Fighter, ...], exchanges: int) -> Ended:
    """Return the chance of each ending with its exchange, and everybody's consequences and fate points after it."""
    ended: defaultdict[tuple[str, ...], Fraction] = defaultdict(Fraction)
    fields = {Field((Harm(),) * len(fighters)): Fraction(1)}
    for exchange, place in product(range(1, exchanges + 1), range(len(fighters))):
        after: defaultdict[Field, Fraction] = defaultdict(Fraction)
        for field, mass in fields.items():
            now = Field(field.harms) if not place else field
            for share, then in turn(fighters, now, place) if not now.harms[place].out else [(Fraction(1), now)]:
                is_last = exchange == exchanges and place == len(fighters) - 1
                if is_last or is_over(fighters, then):
                    ended[told(fighters, then, exchange)] += mass * share
                else:
                    after[then] += mass * share
        fields = after
    return ended


def told(fighters: tuple[Fighter, ...], field: Field, exchange: int) -> tuple[str, ...]:
    pairs = [*zip(fighters, field.harms, strict=True)]
    standing = {one.side for one, harm in pairs if not harm.out}
    has_conceded = any(one.side == "ours" and harm.out == "conceded" for one, harm in pairs)
    lost = "conceded" if has_conceded else "lost"
    ending = "undecided" if len(standing) > 1 else "won" if "ours" in standing else lost
    found = [ending, str(exchange)]
    for _, harm in pairs:
        taken = 3 - len(harm.slots)
        found += [str(taken), str(1 + taken if harm.out == "conceded" else 0)]  # as points for conceding are
    return tuple(found)


def scene(fighters: tuple[Fighter, ...], exchanges: int) -> str:
    """Return the scene; nobody invokes, and who concedes has no fate points before."""
    text = 'ruleset = "fate"\n'
    for one in fighters:
        orders = [
            ("absorb", "", list(one.absorbs)),
            ("hit", "", "full"),
            ("target", "", list(one.targets)),
            (["invoke", "invoke-against", "defender", "oppose", "consequence-name", "aspect-name"], "", "no"),
        ]
        no_box, hurt = '"self.tracks.physical.free" = 0', '"self.tracks.consequences.marked" = ">= 1"'
        orders += [("concede", '"self.tracks.physical.free" = "< 2"', "concede")] if one.backs_out else []
        orders += [("turn", hurt, "concede")] if one.gives_in else []
        orders += [("turn", no_box, "full-defense")] if one.defends else []
        orders.append(("turn", "", "attack"))
        skills = f"{{ fight = {one.fight}, athletics = {one.athletics} }}"
        text += f"[characters.{one.name}]\nfate-points = 0\nskills = {skills}\n"
        for ask, when, choose in orders:
            text += f"[[characters.{one.name}.orders]]\nask = {ask!r}\nwhen = {{ {when} }}\nchoose = {choose!r}\n"
    ours, theirs = ([one.name for one in fighters if one.side == side] for side in ("ours", "theirs"))
    order = ",".join(one.name for one in fighters)
    return text + (
        f'[[steps]]\nactor = "{ours[0]}"\nprocedure = "conflict"\n'
        f'with = {{ against = {theirs}, ally = {ours[1:]}, exchanges = {exchanges}, order = "{order}" }}\n'
    )


ALL = ("box-*", "mild", "moderate", "taken-out")
ANN, BOB = Fighter("ann", "ours", 2, 2, ("bob",), ALL), Fighter("bob", "theirs", 1, 2, ("ann",))
CAL = Fighter("cal", "ours", 1, 1, ("bob",))
CASES = {
    "boxes alone": (2, (ANN, BOB)),
    "full defense": (3, (Fighter("bob", "theirs", 1, 2, ("ann",), ALL, defends=True), ANN)),
    "who has a consequence concedes": (2, (ANN, Fighter("bob", "theirs", 1, 1, ("ann",), ALL, gives_in=True))),
    "the actor concedes": (2, (Fighter("ann", "ours", 1, 1, ("bob",), ALL, gives_in=True), BOB)),
    "conceded before the attack": (2, (ANN, Fighter("bob", "theirs", 1, 2, ("ann",), backs_out=True))),
    "three, one of whom concedes": (
        2,
        (ANN, Fighter("bob", "theirs", 2, 1, ("cal", "ann"), ALL, gives_in=True), CAL),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", few(CASES, 3))
def test_a_conflict_is_what_a_plain_program_makes_of_it(name: str) -> None:
    exchanges, fighters = CASES[name]
    people = [f"characters.{one.name}" for one in fighters]
    by = [f"{one}.{what}" for one in people for what in ("tracks.consequences", "counters.fate-points")]
    source = Source("s.toml", scene(fighters, exchanges))
    read = read_scene(source, find_ruleset=find_ruleset, overrides=Overrides(auto=True))
    found = scene_odds(game_of(read, by=("ending", "exchanges", *by)), work=10**9)
    assert {tuple(map(value_name, ended)): mass for ended, mass in found.masses.items()} == conflict(
        fighters, exchanges
    )
