"""Parts of rules whose results odds of scenes keep: their chains of steps, a budget, and names that do not matter."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres.dice import dice
from rpgres.engine.players import COMMON_POLICIES, NO, NO_PROMISES, Question, View, by_question, preferred
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.table import Table
from rpgres.kits.fate_family import rolls
from rpgres.model.state import slug
from rpgres.odds.explorer import Budget, WalkDealer
from rpgres.odds.rule_parts import OPEN, Kept
from rpgres.odds.scenes import scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.rulesets import STATE, Option
from rpgres.scenes import read_scene
from rpgres.scenes.walking import game_of
from rpgres.toml.reading import Source
from tests.support.tiny import with_rule

PREPARED = with_rule(lambda table, actor, **_: table.settle("try", 0))


class Count(msgspec.Struct, frozen=True):
    """How many sixes there were in how many throws."""

    sixes: int = 0
    throws: int = 0


def throw(table: Table, place: Count) -> Count | None:
    """Throw ten times, as long as the actor goes on."""
    if place.throws == 10 or table.ask("on", "actor", (Option("on"), Option("stop")), sixes=place.sixes) == "stop":
        return None
    return Count(place.sixes + (table.roll(dice("d6")) == 6), place.throws + 1)


def alike(_table: Table, place: Count) -> Count:
    """Return all that matters."""
    return place


@by_question
def until_two(view: View, question: Question) -> str:
    """Stop at two sixes; what is on the table is not shown to a policy that promised not to look."""
    assert not view.state.characters
    return "stop" if question.facts["sixes"] >= 2 else "on"


def worked_out(budget: Budget) -> tuple[Kept, dict[Any, Fraction]]:
    """Return what throws come to that follow one another in a part."""
    kept, state = Kept(budget), PREPARED.state

    def play(run: Run) -> Any:
        table = Table(run, run.rules)
        bonus = table.roll(dice("d2"), "bonus")
        last = table.chain(throw, Count(), key=alike, holds=(STATE,))
        return last.sixes, last.throws, bonus

    run = Run(PREPARED.rules, state, WalkDealer(), Seats(policies={"": until_two}), STATE)
    found, weights, total = kept.evaluate(run, play)
    return kept, {one: Fraction(weight, total) for one, weight in zip(found, weights, strict=True)}


def test_places_of_a_chain_are_evaluated_once() -> None:
    kept, found = worked_out(Budget())
    assert sum(found.values()) == 1
    assert found[0, 10, 1] == Fraction(5, 6) ** 10 / 2
    assert found[2, 3, 2] == 2 * Fraction(1, 36) * Fraction(5, 6) / 2  # one of the first two, and the third
    assert kept.leaves < 300  # 6 ** 10 paths


def test_a_budget_that_is_spent_leaves_a_part_open() -> None:
    _, found = worked_out(Budget(leaves=8))
    assert not found


class Loop(msgspec.Struct, frozen=True):
    """A place that comes again until a two is thrown."""

    is_over: bool = False


def again(table: Table, place: Loop) -> Loop | None:
    """Throw until a two comes."""
    return None if place.is_over else Loop(table.roll(dice("d2")) == 2)


def test_a_chain_without_a_last_throw_ends() -> None:
    def play(run: Run) -> Any:
        return Table(run, run.rules).chain(again, Loop(), key=lambda _, place: place, holds=(STATE,)).is_over

    run = Run(PREPARED.rules, PREPARED.state, WalkDealer(), Seats(policies={"": until_two}), STATE)
    assert Kept(Budget()).evaluate(run, play) is OPEN


FIGHT = """ruleset = "fate"
policy = "POLICY"
[characters.ann]
sheet = "ann.toml"
[[steps]]
action = "create-advantage"
actor = "ann"
with = { skill = 2, vs = 1, name = "FIRST" }
[[steps]]
action = "create-advantage"
actor = "ann"
with = { skill = 2, vs = 1, name = "SECOND" }
[[steps]]
action = "overcome"
actor = "ann"
with = { skill = 1, vs = 2 }
"""


@by_question
def only_smoke_screen(view: View, question: Question) -> str:
    """Invoke one aspect by its name, which a policy that promised no more than `by_question` may do."""
    if "acting" not in question.facts:
        return preferred(view, question)
    return next((option.name for option in question.options if option.name == "smoke-screen"), NO)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "names"),
    [
        ("sensible", ("Smoke", "Smoke Screen")),
        pytest.param("sensible", ("Ash", "Brume"), marks=pytest.mark.exhaustive),
        ("only-smoke-screen", ("Smoke", "Smoke Screen")),
    ],
)
def test_odds_of_windows_are_those_of_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str, names: tuple[str, str]
) -> None:
    """Where one name begins another, options with new dice sort otherwise than the aspects do."""
    monkeypatch.setitem(COMMON_POLICIES, "only-smoke-screen", only_smoke_screen)
    (tmp_path / "ann.toml").write_text('name = "Ann"\nrefresh = 1\n[skills]\nfight = 2\n', "utf-8")
    text = FIGHT.replace("FIRST", names[0]).replace("SECOND", names[1]).replace("POLICY", policy)
    scene = read_scene(Source(path=str(tmp_path / "fight.toml"), text=text), find_ruleset=find_ruleset)
    game = game_of(scene, by=[f"tags.{slug(name)}.uses.ann" for name in names])
    kept, played = scene_odds(game), scene_odds(game, is_merged=False, work=10**9)
    assert kept.open == played.open == 0
    assert kept.masses == played.masses


def test_a_place_of_a_window_is_a_roll_or_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    places, step = list[Any](), rolls._step

    def noted(table: Table, place: Any) -> Any:
        places.append(after := step(table, place))
        return after

    monkeypatch.setattr(rolls, "_step", noted)
    text = (
        'ruleset = "fate"\npolicy = "sensible"\n[characters.ann]\nfate-points = 1\naspects = ["Quick"]\n'
        '[[steps]]\naction = "overcome"\nactor = "ann"\nwith = { skill = 1, vs = 2 }\n'
    )
    game = game_of(read_scene(Source("s.toml", text), find_ruleset=find_ruleset), by=["characters.ann.counters"])
    assert scene_odds(game).masses == scene_odds(game, is_merged=False).masses
    assert any(one is not None and one.rerolls is not None for one in places)
    begun = [one for one in places if one is not None and one.ledger.effects]
    assert all(one.rerolls is not None or one.passes == len(one.sides) for one in begun)


HIDDEN = """
ruleset = "fate"
policy = "sensible"
[characters.ann]
skills = { fight = 2 }
fate-points = 1
[characters.bob]
skills = { fight = 2 }
fate-points = 2
[tags.trapdoor]
text = "Trapdoor"
kind = "aspect"
seen-by = ["ann"]
[[steps]]
id = "first"
action = "attack"
actor = "ann"
with = { skill = "fight", vs = "bob:fight" }
"""


@pytest.mark.slow
def test_a_hidden_aspect_that_is_invoked_is_public_in_odds_too(monkeypatch: pytest.MonkeyPatch) -> None:
    by = ("tags.trapdoor.audience", "characters.bob.counters.fate-points", "characters.bob.tracks.physical.marked")

    def odds() -> dict[Any, Fraction]:
        return scene_odds(game_of(read_scene(Source(path="s.toml", text=HIDDEN)), by=by), work=10**8).masses

    found = odds()
    assert len({audience for audience, *_ in found}) == 2
    monkeypatch.setattr("rpgres.engine.seats.promises_of", lambda *_: NO_PROMISES)
    assert odds() == found
