"""Challenges, contests and conflicts of the Fate family: what scenes cannot show of them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.players import Policy, policy_of
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import play, run
from rpgres.engine.seats import Seats
from rpgres.kits.fate_family.fighters import room
from rpgres.kits.fate_family.zones import Row, difficulty, next_to, read_zones, towards, within_two
from rpgres.model.events import RollEvent, TurnEvent
from rpgres.model.state import Box, Character, Map, State
from rpgres.odds.scenes import scene_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from rpgres.scenes import read_scene
from rpgres.scenes.walking import game_of
from rpgres.toml.reading import Source
from tests.support.command_line import rpgres

RUNS = 400


@cache
def rules_of(ruleset: str = "fate") -> Rules:
    return load_rules(find_ruleset(ruleset))


def table_of(text: str) -> State:
    return read_scene(Source("-", f'ruleset = "fate"\n{text}'), find_ruleset=find_ruleset).state


def even_match() -> Prepared:
    """Two who differ in nothing but that ann acts first, with fate points and aspects to use."""
    one = 'skills = {{ fight = 3, notice = {} }}\naspects = ["Quick on the Draw {}"]\nfate-points = 2\n'
    text = "\n".join(f"[characters.{name}]\n" + one.format(number, name) for number, name in enumerate(("ben", "ann")))
    return prepare(rules_of(), "conflict", {"against": "ben"}, state=table_of(text), actor="ann")


def wins(prepared: Prepared, policies: dict[str, Policy]) -> int:
    """Return how many of `RUNS` games the actor wins."""
    found = 0
    dealer = SeededDealer(Streams("match"))
    for number in range(RUNS):
        dealer.move_to(number)
        outcome, _ = play(prepared, dealer=dealer, players=Seats(policies=policies))
        found += outcome.success is True
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "least"), [("sensible", 0.95), ("thrifty", 0.95)])
def test_policies_beat_uniform_choice_over_a_whole_conflict(policy: str, least: float) -> None:
    uniform, own = policy_of(rules_of(), "uniform"), policy_of(rules_of(), policy)
    share = wins(even_match(), {"ann": own, "gm": uniform, "ben": uniform}) / RUNS
    assert share >= least, (
        f"{policy} wins {share:.1%} against uniform choice, and was recorded with at least {least:.0%}"
    )


@pytest.mark.slow
def test_policies_play_a_conflict_to_its_end() -> None:
    for seed in range(40):
        result, state = run(even_match(), streams=Streams(str(seed)), policies={"": policy_of(rules_of())})
        assert isinstance(result, Result)
        assert result.outcome in ("won", "lost", "conceded")
        assert not any(one.is_out for one in state.characters.values()), "all are back when it is over"
        assert not any(box.mark for one in state.characters.values() for box in one.tracks["physical"])
        assert result.details["exchanges"] >= 1


def test_an_exchange_has_as_many_turns_whoever_is_out() -> None:
    weak = "boxes = { physical = 0, consequences = 0 }\nfate-points = 0\n"
    text = "".join(
        f"[characters.{name}]\nskills = {{ fight = {skill} }}\n{weak}"
        for name, skill in (("ann", 8), ("ben", 0), ("cai", 7))
    )
    inputs = {"against": ["ben", "cai"], "order": "ann,ben,cai", "exchanges": 3}
    prepared = prepare(rules_of(), "conflict", inputs, state=table_of(text), actor="ann")
    turns = ["attack", "pass", "pass", "pass", "pass", "pass"]
    given = {"roll": ["0000"], "opposition": ["0000"]}
    choose = {"turn": turns, "target": ["ben"], "hit": ["full"], "absorb": ["taken-out"], "concede": ["no"]}
    result, _ = run(prepared, streams=Streams("7"), given=given, choose=choose)
    assert isinstance(result, Result)
    numbers = [(event.turn, event.by) for event in result.events if isinstance(event, TurnEvent)]
    # an exchange is a turn for each of three, and its end, which begins the next one; ben's are empty
    turns_of = [(1, "ann"), (3, "cai"), (5, "ann"), (7, "cai"), (9, "ann"), (11, "cai")]
    assert numbers == sorted([*turns_of, (0, ""), (4, ""), (8, "")])


def test_dice_keep_their_place_whatever_happened_before() -> None:
    def dice_of(turns: list[str]) -> list[str]:
        inputs = {"sheet": "edda", "against": "bruiser", "order": "edda", "exchanges": 2}
        policies = {"": policy_of(rules_of(), "thrifty")}
        found, _ = run(
            prepare(rules_of(), "conflict", inputs),
            streams=Streams("11"),
            choose={"turn": turns, "invoke": ["no"] * 4, "invoke-against": ["no"] * 4},
            policies=policies,
        )
        assert isinstance(found, Result)
        last = max(number for number, event in enumerate(found.events) if isinstance(event, TurnEvent))
        return [event.faces for event in found.events[:last] if isinstance(event, RollEvent)][-2:]

    assert dice_of(["pass", "pass", "pass", "attack"]) == dice_of(["attack", "pass", "pass", "attack"])


def test_a_conflict_waits_for_a_decision_and_is_resumed() -> None:
    inputs = {"sheet": "edda", "against": "guard", "order": "edda"}
    waits, _ = run(prepare(rules_of(), "conflict", inputs), streams=Streams("7"))
    assert isinstance(waits, Pending)
    assert waits.question.label == "turn"
    assert [option.name for option in waits.question.options][:2] == ["attack", "create-advantage"]


# ---------------------------------------------------------------------------------------------------------------------
# Odds against a recursion of our own


@cache
def differences() -> dict[int, Fraction]:
    """Return the chances of the difference of two throws of four Fate dice, counted without any engine."""
    sums: dict[int, int] = {}
    for faces in product((-1, 0, 1), repeat=4):
        sums[sum(faces)] = sums.get(sum(faces), 0) + 1
    found: dict[int, Fraction] = {}
    for (one, ways), (other, more) in product(sums.items(), repeat=2):
        found[one - other] = found.get(one - other, Fraction(0)) + Fraction(ways * more, 81**2)
    return found


@cache
def contest_chances(lead: int, own: int, other: int, left: int, *, to: int) -> tuple[Fraction, Fraction, Fraction]:
    """Return the chances to win, to lose and of no decision, by the recursion over exchanges."""
    if own >= to or other >= to or not left:
        return Fraction(own >= to), Fraction(other >= to), Fraction(own < to and other < to)
    totals = [Fraction(0)] * 3
    for difference, chance in differences().items():
        margin = difference + lead
        gained = 0 if not margin else 2 if abs(margin) >= 3 else 1
        after = contest_chances(
            lead, own + (gained if margin > 0 else 0), other + (gained if margin < 0 else 0), left - 1, to=to
        )
        totals = [total + chance * one for total, one in zip(totals, after, strict=True)]
    return totals[0], totals[1], totals[2]


@pytest.mark.parametrize("lead", [-1, 0, 2])
def test_odds_of_a_contest_are_those_of_the_recursion(lead: int) -> None:
    text = f"""
ruleset = "fate"
policy = "sensible"
[characters.ann]
skills = {{ athletics = {lead + 1} }}
fate-points = 0
[[steps]]
id = "race"
actor = "ann"
procedure = "contest"
with = {{ skill = "athletics", vs = "4dF+1", exchanges = 4 }}
choose = {{ turn = ["roll", "roll", "roll", "roll"] }}
"""
    text += '[ends.won]\nwhen = { race = "won" }\n[ends.lost]\nwhen = { race = "lost" }\n[ends.open]\n'
    odds = scene_odds(game_of(read_scene(Source("-", text), find_ruleset=find_ruleset)))
    found = odds.masses
    expected = contest_chances(lead, 0, 0, 4, to=3)
    assert tuple(found.get((name,), Fraction(0)) for name in ("won", "lost", "open")) == expected
    assert not odds.open


# ---------------------------------------------------------------------------------------------------------------------
# Parts


def test_room_is_what_one_hit_can_be_at_most() -> None:
    tracks = Map(
        {
            "physical": (Box("1", 1), Box("2", 2, "x"), Box("3", 3, "x")),
            "mental": (Box("1", 1), Box("2", 2)),
            "consequences": (Box("mild", 2), Box("moderate", 4, "Cut"), Box("mild-mental", 2)),
        }
    )
    one = Character("one", tracks=tracks)
    assert room(one, "physical") == 1 + 2
    assert room(one, "mental") == 2 + 2 + 2
    mob = Character("mob", tracks=Map({"physical": (Box("1", 1),)}), counters=Map({"members": 3}))
    assert room(mob, "physical") == 1 + 2 * (1 + 1)


def test_zones_are_a_row() -> None:
    row: Row = read_zones("Yard, gate:2 , Long Hall, loft:1")
    assert row == (("yard", 0), ("gate", 2), ("long-hall", 0), ("loft", 1))
    assert next_to(row, "gate") == ["yard", "long-hall"]
    assert next_to(row, "yard", free=True) == []
    assert next_to(row, "loft", free=True) == ["long-hall"]
    assert within_two(row, "yard") == ["gate", "long-hall"]
    assert difficulty(row, "yard", "long-hall") == 2
    assert difficulty(row, "long-hall", "yard") == 2
    assert difficulty(row, "long-hall", "loft") == 1


def test_a_fighter_goes_towards_the_nearest_enemy() -> None:
    from rpgres.kits.fate_family.fighters import Fighter
    from rpgres.parameters.values import Rating

    row, none = read_zones("a, b, c, d"), Rating(0)
    near = Fighter("x", 0, none, none, none, none, none, none)
    far = Fighter("y", 0, none, none, none, none, none, none, is_ranged=True)
    assert towards(row, "b", ["d", "a"], near) == "a"
    assert towards(row, "a", ["d"], near) == "b"
    assert towards(row, "b", ["b", "d"], near) == ""
    assert towards(row, "a", ["d"], far) == ""


SMALL = """
ruleset = "fate"
policy = "{policy}"
[characters.ann]
skills = {{ fight = 2, notice = 2 }}
boxes = {{ physical = 1, consequences = 1 }}
aspects = ["Quick on the Draw"]
fate-points = 1
[characters.ben]
skills = {{ fight = 3 }}
boxes = {{ physical = 0, consequences = 1 }}
fate-points = 0
[[steps]]
id = "fight"
actor = "ann"
procedure = "conflict"
with = {{ against = "ben", exchanges = 1 }}
[ends.won]
when = {{ fight = "won" }}
[ends.lost]
when = {{ fight = ["lost", "conceded"] }}
[ends.open]
"""


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["sensible", "thrifty"])
def test_parts_that_are_worked_out_once_change_no_chance(policy: str) -> None:
    game = game_of(read_scene(Source("-", SMALL.format(policy=policy)), find_ruleset=find_ruleset))
    kept, played = scene_odds(game), scene_odds(game, is_merged=False)
    assert not kept.open
    assert not played.open
    assert kept.masses == played.masses
    assert {"won", "lost", "open"} == {name for (name,) in kept.masses}


def test_a_move_with_a_roll_is_told_as_a_move() -> None:
    zones = ("--against", "bruiser", "--zones", "yard,roof:2", "--seed", "3", "--auto")
    told = rpgres("scene", "run", "fate/conflict", "--sheet", "mara", *zones, "--exchanges", "1").out
    assert "Mara Quill tries to get to another zone." in told
    assert "overcome what is in the way" not in told
