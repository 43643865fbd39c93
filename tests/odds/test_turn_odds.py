"""Turns run up to a merge and behind it: what is paid before it is applied apart from what comes behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres import Effect, Outcome, Ruleset, State, Table, Turn, effect, put
from rpgres.dice import dice
from rpgres.odds.games import Game
from rpgres.odds.nodes import TAGS
from rpgres.odds.scenes import scene_odds
from rpgres.odds.turn_odds import ALL, Step, TurnWalkDealer, bits_of
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import read_scene
from rpgres.scenes.walking import game_of
from rpgres.toml.reading import Source
from tests.support.plain_walk import plain_odds

DATA = """
title = "Tolls"
summary = "A die, and what it costs to roll it again."
version = "1"
[bands.done]
title = "Done"
success = true
[sheet.name]
kind = "text"
help = "name"
[parameters.mode]
kind = "text"
help = "what comes behind the roll"
[actions.toll]
summary = "Three turns."
parameters = ["mode"]
labels = ["die", "more", "draw"]
tables = ["toll"]
procedure = true
[labels.draw]
kind = "chance"
help = "a card"
[labels.die]
kind = "chance"
help = "a die"
[labels.more]
kind = "chance"
help = "another die"
[effects.coin]
help = "coins change"
[effects.mark]
help = "marks change"
counter = "marks"
[outcomes.toll.done]
text = "Done."
[decks.pairs]
title = "Pairs"
suits.red = { title = "Red", code = "Re", cards = ["1", "2"] }
[piles]
left = { title = "Left", face = "down", decks.pairs = {} }
right = { title = "Right", face = "down", decks.pairs = {} }
shown-left = { title = "Shown of the left", face = "up" }
shown-right = { title = "Shown of the right", face = "up" }
"""
APART = {"own", "beside", "nothing", "code", "chance"}  # where what comes behind the roll does not touch the purse
MODES = (*sorted(APART), "written", "read", "tags", "glance", "cards")


class At(msgspec.Struct, frozen=True):
    """Which turn it is, and what comes behind the roll."""

    mode: str
    turn: int = 0


def coins_of(state: State) -> int:
    return state.characters["ada"].counters["coins"]


def changed(state: State, who: str, counter: str, change: int) -> State:
    counters = state.characters[who].counters
    return put(state, ("characters", who, "counters"), counters.with_(counter, counters.get(counter, 0) + change))


def take_turn(table: Table, at: At) -> Turn | Outcome:
    """Roll, and roll a one again for a coin; then mark what was rolled."""
    if at.turn == 3:
        return table.settle("toll", None, band="done")
    mode, coins, drawn = at.mode, coins_of(table.state), None
    table.carries("toll")
    if mode == "cards" and not at.turn:
        pile = "left" if table.roll(dice("d2"), "more") > 1 else "right"
        card = table.draw(pile, to=f"shown-{pile}")
        assert card is not None
        drawn = pile, card.code

    def play(inner: Table) -> tuple[int, tuple[Effect, ...]]:
        value = inner.roll(dice("d3"), "die")
        if value > 1 or not coins:
            return value, ()
        return inner.roll(dice("d3"), "die"), (effect("coin", to="ada", change=-1),)

    value, paid = table.part(lambda: ("toll", coins), play, lambda found: (("toll", drawn, found[0]), found[1]))
    paid = table.merge(("toll", drawn, value), holds=("state",), pays=paid)
    if mode == "code":  # it reads the table as it was before the coin was paid
        value += coins_of(table.state)
    if mode == "chance":
        value += table.roll(dice("d2"), "more")
    marks = [effect("mark", to="ada" if mode == "beside" else "bo", change=value, how=mode)]
    if mode == "nothing":
        marks = []
    if mode == "written":
        marks.append(effect("coin", to="ada", change=1))
    return Turn(At(mode, at.turn + 1), Outcome("", effects=(*paid, *marks)))


def toll_in(folder: Path) -> Ruleset:
    (folder / "sheets").mkdir(parents=True)
    (folder / "ruleset.toml").write_text(DATA)
    ruleset = Ruleset("tolls", data=folder)

    @ruleset.canon("tags")
    def in_any_order(tags: Any) -> Any:
        return tuple(sorted(tags, key=lambda tag: tag.slug))

    @ruleset.procedure("toll", turn=take_turn)
    def toll(table: Table, actor: Any, *, mode: str) -> At:
        return At(mode)

    @ruleset.effect("coin")
    def coin(state: State, change: Effect) -> State:
        return changed(state, change["to"], "coins", change["change"])

    @ruleset.effect("mark")
    def mark(state: State, change: Effect) -> State:
        more, how = change["change"], change["how"]
        if how == "read":
            more += coins_of(state)
        elif how == "tags":
            more += len(state.tags)
        elif how == "glance":
            more += state.glance(coins_of)
        return changed(state, change["to"], "marks", more)

    return ruleset


@pytest.fixture(scope="module")
def tolls(tmp_path_factory: pytest.TempPathFactory) -> Ruleset:
    """The ruleset in a folder of its own."""
    return toll_in(tmp_path_factory.mktemp("data") / "tolls")


def game(tolls: Ruleset, mode: str) -> Game:
    text = (
        'ruleset = "tolls"\n[characters.ada]\n[characters.bo]\n'
        f'[[steps]]\nprocedure = "toll"\nactor = "ada"\nwith = {{ mode = "{mode}" }}\n'
    )
    by = ("characters.ada.counters", "characters.bo.counters.marks", "piles.left.count", "piles.right.count")
    of = game_of(read_scene(Source("s.toml", text), find_ruleset=lambda _: tolls), by=by)
    state = changed(changed(of.start.state, "ada", "coins", 2), "bo", "marks", 0)
    return msgspec.structs.replace(of, start=msgspec.structs.replace(of.start, state=state))


@pytest.mark.parametrize("mode", MODES)
def test_what_is_paid_apart_changes_no_chance(tolls: Ruleset, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried, is_apart_from = list[bool](), Step.is_apart_from

    def noted(self: Step, delta: Any) -> bool:
        tried.append(is_apart_from(self, delta))
        return tried[-1]

    monkeypatch.setattr(Step, "is_apart_from", noted)
    of = game(tolls, mode)
    found = scene_odds(of)
    assert set(tried) == ({False, True} if mode == "cards" else {mode in APART})  # only the first turn draws one
    assert found.masses == plain_odds(of) == scene_odds(of, is_merged=False).masses
    assert len(found.masses) > (2 if mode == "nothing" else 5)


def test_all_results_of_a_part_are_one_run(tolls: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    found, part = scene_odds(game(tolls, "own")), TurnWalkDealer.part
    monkeypatch.setattr(TurnWalkDealer, "part", lambda self, run, key, play, _onward: part(self, run, key, play))
    one_by_one = scene_odds(game(tolls, "own"))
    assert found.masses == one_by_one.masses
    assert found.leaves < one_by_one.leaves


def test_more_than_single_parts_is_all() -> None:
    assert bits_of([TAGS]) == bits_of([3, -2]) == ALL
    assert bits_of([]) & 1  # names that come or go are read by everything
    assert not Step((), 1, bits_of([1])).is_apart_from((1 << 24, 0))
    assert Step((), 1, bits_of([1])).is_apart_from((1 << 48, 0))
    assert Step((), 1, ALL).is_apart_from((0, 0))
    assert not Step(((1, (1 << 48, 0)),), 1, bits_of([])).is_apart_from((1 << 48, 0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ruleset", "ability", "stress"),
    [("fate", "skills.fight", "physical"), ("coppermane", "attributes.strength", "stress")],
)
def test_what_an_attack_cost_is_paid_apart(
    ruleset: str, ability: str, stress: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, is_apart_from = list[bool](), Step.is_apart_from

    def noted(self: Step, delta: Any) -> bool:
        tried.append(is_apart_from(self, delta))
        return tried[-1]

    monkeypatch.setattr(Step, "is_apart_from", noted)
    boxes = f"{ability} = 1\nboxes = {{ {stress} = 0, consequences = 0 }}\n"
    text = (
        f'ruleset = "{ruleset}"\npolicy = "sensible"\n'
        f'[characters.ana]\n{boxes}fate-points = 1\naspects = ["Quick"]\n[characters.bo]\n{boxes}played-by = "gm"\n'
        '[[steps]]\nprocedure = "conflict"\nactor = "ana"\nwith = { against = ["bo"], exchanges = 1 }\n'
    )
    scene = read_scene(Source("s.toml", text), find_ruleset=find_ruleset)
    of = game_of(scene, by=("ending", "characters.ana.counters"))
    found = scene_odds(of)
    assert True in tried
    assert found.masses == scene_odds(of, is_merged=False, work=10**9).masses
