"""Odds of a scene with nested and included repeats, changes of the table and endings that overlap, against loops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from rpgres.odds.scenes import scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import read_scene
from rpgres.scenes.walking import game_of
from rpgres.toml.reading import Source

MORE = """
ruleset = "two-dice"
[[steps]]
repeat = { until = { second = "well" }, at-most = 2 }
[[steps.steps]]
id = "second"
actor = "ann"
action = "risk"
with = { trait = 0 }
"""
SCENE = """
ruleset = "two-dice"
policy = "preferred"
[characters.ann]
name = "Ann"
[counters]
hits = 0
misses = 0
[[steps]]
repeat = { until = { "counters.hits" = ">= 1" }, at-most = 2 }
[[steps.steps]]
repeat = { until = { first = "well" }, at-most = 2 }
[[steps.steps.steps]]
id = "first"
actor = "ann"
action = "risk"
with = { trait = 0 }
[[steps.steps.steps]]
when = { first = "well" }
set = { "counters.hits" = "+1" }
[[steps.steps.steps]]
when = { first = "badly" }
set = { "counters.misses" = "+1" }
[[steps.steps]]
include = "more.toml"
when = { "counters.misses" = ">= 1" }
[ends.tired]
when = { "counters.misses" = ">= 2" }
at-once = true
[ends.both]
when = { first = "well", second = "well" }
[ends.one]
when = { "counters.hits" = ">= 1" }
[ends.first]
when = { first = "well" }
[ends.none]
"""
SHARES = {"well": Fraction(1, 6), "price": Fraction(5, 12), "badly": Fraction(5, 12)}


@dataclass(frozen=True)
class Place:
    """What is known of a play: counts on the table, last outcomes, how often steps were played, whether it is over."""

    hits: int = 0
    misses: int = 0
    first: str = ""
    second: str = ""
    firsts: int = 0
    seconds: int = 0
    is_over: bool = False


Places = dict[Place, Fraction]
Way = Callable[[Place], Iterable[tuple[Fraction, Place]]]


def spread(places: Places, way: Way) -> Places:
    found: defaultdict[Place, Fraction] = defaultdict(Fraction)
    for place, mass in places.items():
        for share, after in [(Fraction(1), place)] if place.is_over else way(place):
            found[after] += mass * share
    return found


def first(place: Place) -> Iterable[tuple[Fraction, Place]]:
    for outcome, share in SHARES.items():
        after = replace(place, first=outcome, firsts=place.firsts + 1)
        if outcome == "well":
            after = replace(after, hits=after.hits + 1)
        if outcome == "badly":
            after = replace(after, misses=after.misses + 1, is_over=after.misses + 1 >= 2)
        yield share, after


def second(place: Place) -> Iterable[tuple[Fraction, Place]]:
    for outcome, share in SHARES.items():
        yield share, replace(place, second=outcome, seconds=place.seconds + 1)


def unless(done: Callable[[Place], bool], way: Way) -> Way:
    return lambda place: [(Fraction(1), place)] if done(place) else way(place)


def one_pass(place: Place) -> Iterable[tuple[Fraction, Place]]:
    places: Places = {place: Fraction(1)}
    for _ in range(2):
        places = spread(places, unless(lambda place: place.first == "well", first))
    for _ in range(2):
        places = spread(places, unless(lambda place: place.misses < 1 or place.second == "well", second))
    return [(mass, after) for after, mass in places.items()]


def played() -> Places:
    places: Places = {Place(): Fraction(1)}
    for _ in range(2):
        places = spread(places, unless(lambda place: place.hits >= 1, one_pass))
    return places


def ending(place: Place) -> str:
    if place.misses >= 2:
        return "tired"
    if place.first == place.second == "well":
        return "both"
    return "one" if place.hits else "none"


def test_a_scene_is_what_its_loops_make_of_it(tmp_path: Path) -> None:
    (tmp_path / "more.toml").write_text(MORE, encoding="utf-8")
    scene = read_scene(Source("s.toml", SCENE), find_ruleset=find_ruleset, folder=tmp_path)
    by = ("ending", "times.first", "times.second", "counters.hits", "counters.misses")
    expected: defaultdict[tuple[str, ...], Fraction] = defaultdict(Fraction)
    for place, mass in played().items():
        told = ending(place), place.firsts, place.seconds, place.hits, place.misses
        expected[tuple(map(str, told))] += mass
    found = scene_odds(game_of(scene, by=by))
    assert {tuple(map(str, result)): mass for result, mass in found.masses.items()} == expected
