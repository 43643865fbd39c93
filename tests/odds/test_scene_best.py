"""The best that somebody can do over a whole scene, against recursions that know no engine."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import msgspec
import pytest

from rpgres.dice import dice
from rpgres.errors import UsageError
from rpgres.odds.decision_trees import Blind, TooLarge
from rpgres.odds.explorer import Budget
from rpgres.odds.scene_best import SceneBest, scene_best
from rpgres.odds.scenes import scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.rulesets import Option, Ruleset
from rpgres.scenes import Overrides, Scene, read_scene
from rpgres.scenes.walking import game_of
from rpgres.toml.reading import Source
from tests.odds.test_scenes import battle as battle  # the fixture
from tests.support.battle import losses

WON = ("won",)


def scene_of(ruleset: Ruleset, text: str, **options: Any) -> Scene:
    return read_scene(Source(path="s.toml", text=text), find_ruleset=lambda _: ruleset, overrides=Overrides(**options))


def war(attackers: int, defenders: int) -> str:
    """A battle from which the attacker may turn back, and is then content with more than two armies."""
    return (
        f'ruleset = "battle"\ncounters = {{ attackers = {attackers}, defenders = {defenders} }}\n'
        '[characters.ada]\n[[steps]]\nid = "war"\nprocedure = "battle"\nactor = "ada"\nwith = { may-stop = true }\n'
        '[ends.won]\nwhen = { war = "won" }\n[ends.spared]\nwhen = { "counters.attackers" = ">= 3" }\n[ends.lost]\n'
    )


@cache
def worth(attackers: int, defenders: int) -> Fraction:
    """Return the greatest chance to win, or to turn back with three armies."""
    if not defenders:
        return Fraction(1)
    stop = Fraction(attackers >= 3)
    if not attackers:
        return Fraction(0)
    on = sum(
        (
            chance * worth(attackers - lost, defenders - won)
            for (lost, won), chance in losses(attackers, defenders).items()
        ),
        Fraction(0),
    )
    return max(stop, on)


def best_of(ruleset: Ruleset, attackers: int, defenders: int) -> SceneBest:
    scene = scene_of(ruleset, war(attackers, defenders))
    return scene_best(game_of(scene), "actor", worth=lambda result: int(result[0] in ("won", "spared")))


@pytest.mark.parametrize(("attackers", "defenders"), [(2, 1), (2, 2), (1, 3)])
def test_optimal_decisions_are_the_recursion(battle: Ruleset, attackers: int, defenders: int) -> None:
    found = best_of(battle, attackers, defenders)
    assert found.value == worth(attackers, defenders)
    assert sum(found.masses.values()) == 1
    assert sum(mass for (name,), mass in found.masses.items() if name != "lost") == found.value


def test_the_first_decision_tells_what_the_second_best_costs(battle: Ruleset) -> None:
    found = best_of(battle, 2, 2)
    (first,) = found.decisions
    assert (first.label, first.probability) == ("go-on", 1)
    assert [option.option for option in first.options] == ["on", "stop"]
    assert first.options[0].value == found.value
    assert first.options[1].value == 0


@pytest.mark.slow
def test_a_policy_is_never_better(battle: Ruleset) -> None:
    from rpgres.engine.players import uniform

    battle.policies["uniform-here"] = uniform
    scene = scene_of(battle, war(2, 2), policies={"": "uniform-here"})
    played = scene_odds(game_of(scene))
    assert sum(mass for (name,), mass in played.masses.items() if name != "lost") < best_of(battle, 2, 2).value


def test_what_is_hidden_and_always_the_same_tells_nothing(battle: Ruleset) -> None:
    text = war(2, 1).replace("[[steps]]", '[tracks.trap]\nboxes = 1\nseen-by = ["gm"]\n[[steps]]', 1)
    found = scene_best(game_of(scene_of(battle, text)), "actor", worth=lambda result: int(result == WON))
    assert found.masses[WON] == found.value == worth(2, 1)


def test_one_view_of_two_states_is_refused(battle: Ruleset) -> None:
    from rpgres import Map, Outcome, Turn, effect, put

    @battle.effect("secret")
    def secret(state: Any, change: Any) -> Any:
        state = put(state, ("things",), state.things.with_("secret", change["is"]))
        return put(state, ("audiences",), Map({**state.audiences, "secret": ("gm",)}))

    def guess(table: Any, place: Any) -> Any:
        if place == "hide":
            found = table.roll(dice("d2"), "attack")
            return Turn("guess", Outcome("", effects=(effect("secret", **{"is": found}),)))
        answer = table.ask("go-on", "ada", (Option("on"), Option("stop")))
        return table.settle("battle", None, band="won" if answer == "on" else "lost")

    before = battle.procedures["battle"], battle.actions["battle"]
    try:
        battle.procedures["battle"] = guess
        battle.actions["battle"] = lambda table, actor, **_: "hide"
        scene = scene_of(battle, war(1, 1).split("[ends")[0])
        with pytest.raises(Blind, match="what ada sees stands for several states"):
            scene_best(game_of(scene), "ada", worth=lambda result: int(result == WON))
    finally:
        battle.procedures["battle"], battle.actions["battle"] = before


class Guessed(msgspec.Struct, frozen=True):
    """What somebody chose without the other seeing it."""

    found: str = ""


def guessing(ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch, play: Any) -> SceneBest:
    """Return what is best for ada in a turn where bob decides first, in secret and by chance."""
    from rpgres.engine.players import uniform

    monkeypatch.setitem(ruleset.policies, "uniform-here", uniform)
    monkeypatch.setitem(ruleset.procedures, "battle", play)
    monkeypatch.setitem(ruleset.actions, "battle", lambda table, actor, **_: Guessed())
    text = war(1, 1).split("[ends")[0].replace("[[steps]]", "[characters.bob]\n[[steps]]", 1)
    scene = scene_of(ruleset, text, policies={"": "uniform-here"})
    return scene_best(game_of(scene), "ada", worth=lambda result: int(result == WON))


def settled(table: Any, guess: str, truth: str) -> Any:
    return table.settle("battle", None, band="won" if guess == truth else "lost")


def secret(table: Any, *options: str, optional: bool = False) -> str:
    from rpgres import Question

    asked = Question("go-on", "bob", tuple(Option(name) for name in options), "", optional)
    return str(table.ask_together([asked], secret=True)[0])


def test_that_another_passed_in_secret_cannot_be_told_from_a_secret_choice(
    battle: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(table: Any, place: Any) -> Any:
        truth = secret(table, "on", optional=True)
        return settled(table, table.ask("go-on", "ada", (Option("on"), Option("no"))), truth)

    with pytest.raises(Blind, match="ada decides 'go-on' after something happened that ada does not see"):
        guessing(battle, monkeypatch, play)


def test_a_decision_in_a_part_after_a_secret_before_it_is_refused(
    battle: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(table: Any, place: Any) -> Any:
        truth = secret(table, "on", "stop")
        guess = table.part(lambda: "guess", lambda inner: inner.ask("go-on", "ada", (Option("on"), Option("stop"))))
        return settled(table, guess, truth)

    with pytest.raises(Blind, match="after something happened that ada does not see"):
        guessing(battle, monkeypatch, play)


def test_a_decision_behind_a_part_with_a_secret_is_refused(battle: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(table: Any, place: Any) -> Any:
        truth = table.part(lambda: "truth", lambda inner: secret(inner, "on", "stop"))
        return settled(table, table.ask("go-on", "ada", (Option("on"), Option("stop"))), truth)

    with pytest.raises(Blind, match="after something happened that ada does not see"):
        guessing(battle, monkeypatch, play)


def hide_and_guess(table: Any, place: Guessed) -> Guessed | None:
    if not place.found:
        return Guessed(secret(table, "on", "stop"))
    if place.found in ("won", "lost"):
        return None
    guess = table.ask("go-on", "ada", (Option("on"), Option("stop")))
    return Guessed("won" if guess == place.found else "lost")


def test_a_decision_behind_a_step_of_a_chain_with_a_secret_is_refused(
    battle: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chained(inner: Any) -> str:
        place = inner.chain(hide_and_guess, Guessed(), key=lambda _, place: place, holds=("state",))
        return str(place.found)

    def play(table: Any, place: Any) -> Any:
        return table.settle("battle", None, band=table.part(lambda: "chain", chained))

    with pytest.raises(Blind, match="after something happened that ada does not see"):
        guessing(battle, monkeypatch, play)


def climb_on(table: Any, place: Climbed) -> Climbed | None:
    return Climbed(place.steps + table.roll(dice("d2"), "attack")) if place.steps < 400 else None


class Climbed(msgspec.Struct, frozen=True):
    """How far somebody has come on a way that is long."""

    steps: int = 0


@pytest.mark.slow
@pytest.mark.parametrize("in_chain", [True, False])
def test_a_turn_that_is_too_long_is_refused(
    battle: Ruleset, monkeypatch: pytest.MonkeyPatch, *, in_chain: bool
) -> None:
    def play(table: Any, place: Any) -> Any:
        def climb(inner: Any) -> Climbed:
            found: Climbed = inner.chain(climb_on, Climbed(), key=lambda _, place: place, holds=("state",))
            return found

        if in_chain:
            return settled(table, str(table.part(lambda: "way", climb).steps), "400")
        here: Climbed | None = Climbed()
        while here is not None:
            last, here = here, climb_on(table, here)
            table.merge(here, holds=("state",))
        return settled(table, str(last.steps), "400")

    with pytest.raises(UsageError, match="a turn of it is too long; use a policy"):
        guessing(battle, monkeypatch, play)


def test_a_turn_with_too_many_results_is_refused_at_once(battle: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(table: Any, place: Any) -> Any:
        return settled(table, str(sum([table.roll(dice("d100"), "attack") for _ in range(12)])), "600")

    with pytest.raises(TooLarge) as found:
        guessing(battle, monkeypatch, play)
    assert (found.value.chance, found.value.turns) == ("attack", 1)
    assert found.value.leaves < 100


def test_a_turn_with_one_long_path_is_not_too_large(battle: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(table: Any, place: Any) -> Any:
        count = 0
        while count < 12 and table.roll(dice("d10"), "attack") == 1:
            count += 1
        return settled(table, table.ask("go-on", "ada", (Option("0"), Option("1"))), str(count))

    found = guessing(battle, monkeypatch, play)
    assert found.value == Fraction(99, 100)  # that not two were a 1


def test_a_decision_by_a_policy_that_looks_at_the_table_costs_more(
    battle: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rpgres.engine.players import preferred

    def cost(policy: Any) -> float:
        spent = list[int]()
        monkeypatch.setattr(Budget, "spend", lambda self, work, *, runs=1: spent.append(work))
        monkeypatch.setitem(battle.policies, "looking", policy)
        scene = scene_of(battle, war(1, 1), policies={"": "looking"})
        scene_best(game_of(scene), "ada", worth=lambda result: 0)
        return sum(spent)

    assert cost(lambda view, question: preferred(view, question)) > cost(preferred)


def test_what_is_best_for_an_action_may_be_missed_later() -> None:
    """A low doom card never hurts the action it is played in, and is the game master's in the next one."""
    hand = 'hand = "Wi1,Do3,In9,In8"'
    text = (
        'ruleset = "saga"\n[characters.ada]\nname = "Ada"\nedge = 3\nhand-size = 3\nlost = 3\n'
        "abilities = { strength = 6, agility = 0 }\n"
        '[[steps]]\nactor = "ada"\naction = "act"\nwith = { ability = "agility", vs = 20, ' + hand + " }\n"
        'choose = { play = "Wi1" }\n'
        '[[steps]]\nactor = "ada"\naction = "act"\nwith = { ability = "strength", vs = 14 }\n'
    )
    scene = read_scene(Source(path="s.toml", text=text), find_ruleset=find_ruleset, overrides=Overrides(auto=True))
    found = scene_best(game_of(scene), "ada", worth=lambda result: int(result[0] == "succeed"))
    assert found.value == 1
    assert {one.option: one.value for one in found.decisions[0].options} == {"stop": 1, "In9": 1, "In8": 1, "Do3": 0}


# A fate point for one aspect over two rolls of 4dF +2; a first success with style leaves a boost for the second one.
FUDGE = {-4: 1, -3: 4, -2: 10, -1: 16, 0: 19, 1: 16, 2: 10, 3: 4, 4: 1}
CLIMB = (
    'ruleset = "fate"\n[characters.ann]\nskills = { athletics = 2 }\naspects = ["Quick"]\nfate-points = 1\n'
    '[[steps]]\nid = "up"\naction = "overcome"\nactor = "ann"\nwith = { skill = "athletics", vs = 3 }\n'
    '[[steps]]\nid = "down"\naction = "overcome"\nactor = "ann"\nwith = { skill = "athletics", vs = VS }\n'
    '[ends.both]\nwhen = { up = ["succeed", "style"], down = ["succeed", "style"] }\n[ends.other]\n'
)


def chance_of_both(margins: tuple[int, ...], uses: int) -> Fraction:
    """Return the greatest chance to succeed in all rolls that are left.

    Args:
        margins: of each roll, with dice that show 0.
        uses: how many invocations are left, each good for +2 or for new dice.
    """
    if not margins:
        return Fraction(1)

    @cache
    def worth(dice: int, bonus: int, left: int) -> Fraction:
        margin = margins[0] + dice + bonus
        ways = [chance_of_both(margins[1:], left + (margin >= 3)) if margin >= 1 else Fraction(0)]
        if left:
            ways += [worth(dice, bonus + 2, left - 1), rolled(bonus, left - 1)]
        return max(ways)

    def rolled(bonus: int, left: int) -> Fraction:
        return sum((Fraction(count, 81) * worth(dice, bonus, left) for dice, count in FUDGE.items()), Fraction(0))

    return rolled(0, uses)


@pytest.mark.parametrize("vs", [3, 1])
def test_a_fate_point_is_kept_for_the_roll_that_needs_it_more(vs: int) -> None:
    scene = scene_of(find_ruleset("fate"), CLIMB.replace("VS", str(vs)), policies={"": "preferred"})
    found = scene_best(game_of(scene), "ann", worth=lambda result: int(result[0] == "both"))
    assert found.value == chance_of_both((-1, 2 - vs), uses=1)


@pytest.mark.slow
def test_a_contest_is_won_at_least_as_often_as_by_any_policy() -> None:
    text = (
        'ruleset = "fate"\n[characters.ann]\nskills = { athletics = 2 }\n[characters.bob]\nskills = { athletics = 1 }\n'
        '[[steps]]\nprocedure = "contest"\nactor = "ann"\n'
        'with = { skill = "athletics", vs = "bob:athletics", victories = 1, exchanges = 1 }\n'
    )

    def won(policy: str) -> Fraction:
        scene = scene_of(find_ruleset("fate"), text, policies={"": "preferred", "ann": policy})
        return scene_odds(game_of(scene)).masses["won",]

    scene = scene_of(find_ruleset("fate"), text, policies={"": "preferred"})
    found = scene_best(game_of(scene), "ann", worth=lambda result: int(result[0] == "won"))
    assert found.value == found.masses["won",] > max(won(policy) for policy in ("preferred", "sensible", "uniform"))


class Square(msgspec.Struct, frozen=True):
    """Where somebody stands in a random game; `left` turns are left."""

    number: int
    left: int


def random_game(seed: int) -> tuple[Any, Fraction]:
    """Return a random game as the turns of a procedure, and the best chance to win it by a recursion.

    Ada chooses and dice fall in one turn, in an order of the square's own; paths that meet are merged, or not.
    """
    rng = Random(seed)
    squares = range(5)
    kinds = {one: rng.choice(["choose-roll", "roll-choose", "roll", "choose"]) for one in squares}
    leads = {(one, option, die): rng.choice(squares) for one in squares for option in "ab" for die in (1, 2, 3)}
    winning, merges = {rng.choice(squares), rng.choice(squares)}, {one: rng.random() < 0.7 for one in squares}

    def play(table: Any, place: Any) -> Any:
        from rpgres import Turn

        here = place if isinstance(place, Square) else Square(0, 4)
        if not here.left:
            return table.settle("battle", None, band="won" if here.number in winning else "lost")
        option, die, kind = "a", 1, kinds[here.number]
        for one in kind.split("-"):
            if one == "choose":
                option = table.ask("go-on", "ada", (Option("a"), Option("b")))
            else:
                die = table.roll(dice("d3"), "attack")
            if merges[here.number]:
                table.merge((here, kind, one, option, die), holds=("state",))
        after = leads[here.number, option, die]
        if merges[here.number]:
            table.merge((here.left, after), holds=("state",))
        return Turn(Square(after, here.left - 1))

    @cache
    def worth(number: int, left: int) -> Fraction:
        if not left:
            return Fraction(number in winning)

        def after(option: str, die: int) -> Fraction:
            return worth(leads[number, option, die], left - 1)

        third, kind = Fraction(1, 3), kinds[number]
        if kind == "choose":
            return max(after(option, 1) for option in "ab")
        if kind == "roll":
            return sum([third * after("a", die) for die in (1, 2, 3)], Fraction(0))
        if kind == "choose-roll":
            return max(sum([third * after(option, die) for die in (1, 2, 3)], Fraction(0)) for option in "ab")
        return sum([third * max(after(option, die) for option in "ab") for die in (1, 2, 3)], Fraction(0))

    return play, worth(0, 4)


@pytest.mark.parametrize("seed", range(40))
def test_random_games_are_worth_what_a_recursion_says(
    battle: Ruleset, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    play, value = random_game(seed)
    found = guessing(battle, monkeypatch, play)
    assert found.value == found.masses.get(WON, 0) == value
    game = game_of(scene_of(battle, war(1, 1).split("[ends")[0], policies={"": "preferred"}))
    cut = scene_best(game, "ada", worth=lambda result: int(result == WON), most=1)
    assert (cut.value, cut.masses, cut.decisions) == (found.value, found.masses, found.decisions)


def test_who_is_sure_of_the_most_looks_no_further(battle: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(table: Any, place: Any) -> Any:
        from rpgres import Turn

        here = place if isinstance(place, Square) else Square(0, 6)
        if not here.left or table.ask("go-on", "ada", (Option("on"), Option("stop"))) == "on":
            return settled(table, "on", "on")
        return Turn(Square(2 * here.number + table.roll(dice("d2"), "attack"), here.left - 1))

    def states(most: int | None) -> int:
        assert guessing(battle, monkeypatch, play).value == 1
        game = game_of(scene_of(battle, war(1, 1).split("[ends")[0], policies={"": "preferred"}))
        return scene_best(game, "ada", worth=lambda result: int(result == WON), most=most).states

    assert (states(1), states(None)) == (4, 2**7)  # what the first decision would cost is looked at all the same


def test_the_time_tells_apart_what_looks_the_same(battle: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hidden counter goes up every turn, as ada knows; so the same view in another turn is no secret."""
    from rpgres import Map, Outcome, Turn, effect, put

    @battle.effect("tick")
    def tick(state: Any, change: Any) -> Any:
        count = state.things.get("clock", 0) + 1
        state = put(state, ("things",), state.things.with_("clock", count))
        return put(state, ("audiences",), Map({**state.audiences, "clock": ("gm",)}))

    def play(table: Any, place: Any) -> Any:
        if table.ask("go-on", "ada", (Option("on"), Option("stop"))) == "stop":
            return table.settle("battle", None, band="won" if table.state.things.get("clock") == 2 else "lost")
        if table.state.things.get("clock", 0) == 3:
            return table.settle("battle", None, band="lost")
        return Turn(Guessed(), Outcome("", effects=(effect("tick"),)))

    found = guessing(battle, monkeypatch, play)
    assert (found.value, found.turns) == (1, 5)


def test_a_rest_of_a_turn_is_not_shared_where_something_is_hidden(
    battle: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ada sees the same, whether bob has chosen in secret before or not; a merge on all that matters is no clue."""

    def play(table: Any, place: Any) -> Any:
        truth = "on"
        if table.roll(dice("d2"), "attack", "bob") == 1:
            truth = secret(table, "on", "stop")
        table.merge(truth, holds=("state",))
        return settled(table, table.ask("go-on", "ada", (Option("on"), Option("stop"))), truth)

    with pytest.raises(Blind):
        guessing(battle, monkeypatch, play)


def test_a_scene_that_may_go_on_without_end_is_refused(battle: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(table: Any, place: Any) -> Any:
        from rpgres import Turn

        if table.roll(dice("d2"), "attack") == 1:
            return Turn(Guessed())
        return settled(table, table.ask("go-on", "ada", (Option("on"), Option("stop"))), "on")

    with pytest.raises(UsageError, match="it can go on without end"):
        guessing(battle, monkeypatch, play)
