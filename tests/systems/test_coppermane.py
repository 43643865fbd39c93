"""Coppermane: epic successes and legend, attributes with their limits, and odds against the printed table."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rpgres import Outcome, Pending, Result, UsageError, resolve
from rpgres.dice.seeds import Streams
from rpgres.engine.effects import apply_effects
from rpgres.engine.players import COMMON_POLICIES, Question
from rpgres.engine.prepare import prepare
from rpgres.engine.run import run
from rpgres.errors import FileError
from rpgres.model.events import DecisionEvent
from rpgres.model.state import SCENE, Map, State, Tag
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from rpgres.rulesets.sheets import make_sheet, read_sheet
from tests.support.command_line import rpgres
from tests.support.effort import examples

BANDS = ("fail", "tie", "succeed", "style", "epic")
WAYS = Counter(map(sum, product((-1, 0, 1), repeat=4)))  # 81 throws of four Fate dice, by sum
PAIRS = Counter(a - b for a, b in product(WAYS.elements(), repeat=2))  # 6561 pairs, by difference

# By advantage: fail, tie, succeed, style with epic in it, and epic, as the project's digest of the rules prints them.
PRINTED_PASSIVE = {
    -2: (66, 10, 5, 0, 0),
    -1: (50, 16, 14, 1, 0),
    0: (31, 19, 26, 5, 0),
    1: (15, 16, 35, 15, 0),
    2: (5, 10, 35, 31, 0),
    3: (1, 4, 26, 50, 1),
    4: (0, 1, 14, 66, 5),
}
PRINTED_ACTIVE = {
    -2: (4850, 784, 770, 157, 0),
    -1: (3834, 1016, 1288, 423, 1),
    0: (2727, 1107, 1800, 927, 9),
    1: (1711, 1016, 2123, 1711, 45),
    2: (927, 784, 2123, 2727, 157),
    3: (423, 504, 1800, 3834, 423),
    4: (157, 266, 1288, 4850, 927),
}


SWITCHES = load_rules(find_ruleset("coppermane")).file.switches


@pytest.fixture(scope="module")
def rules() -> Rules:
    return load_rules(find_ruleset("coppermane"))


def done(action: str, /, **inputs: Any) -> Result:
    found = resolve("coppermane", action, **inputs)
    assert isinstance(found, Result)
    return found


def chances(rules: Rules, action: str = "overcome", /, **inputs: Any) -> tuple[Fraction, ...]:
    odds = outcome_odds(prepare(rules, action, inputs))
    assert odds.open == 0
    return tuple(odds.masses.get(band, Fraction(0)) for band in BANDS)


def counted(ways: Counter[int], advantage: int) -> tuple[Fraction, ...]:
    found = Counter[str]()
    for value, number in ways.items():
        margin = value + advantage
        edges = (margin < 0, margin == 0, margin < 3, margin < 7, True)
        found[BANDS[edges.index(True)]] += number
    return tuple(Fraction(found[band], ways.total()) for band in BANDS)


@pytest.mark.parametrize("advantage", range(-4, 7))
@pytest.mark.parametrize(
    ("ways", "printed", "vs"), [(WAYS, PRINTED_PASSIVE, "{}"), (PAIRS, PRINTED_ACTIVE, "4dF{:+d}")]
)
def test_odds(rules: Rules, advantage: int, ways: Counter[int], printed: dict[int, tuple[int, ...]], vs: str) -> None:
    found = chances(rules, attribute=2, vs=vs.format(2 - advantage))
    assert found == counted(ways, advantage)
    if advantage in printed:
        *lower, style, epic = (Fraction(number, ways.total()) for number in printed[advantage])
        assert found == (*lower, style - epic, epic)


@pytest.mark.parametrize("action", ["create-advantage", "attack", "defend"])
def test_the_odds_of_every_action_are_those_of_the_dice(rules: Rules, action: str) -> None:
    assert chances(rules, action, attribute=3, vs="4dF+1") == counted(PAIRS, 2)


def test_a_knack_is_a_moment_that_odds_let_pass_unless_it_is_chosen() -> None:
    line = ("odds", "coppermane", "overcome", "--sheet", "tamsin", "--attribute", "1", "--vs", "4", "--json")
    asked = (*line, "--knack", "One Heartbeat Early")
    passed = json.loads(rpgres(*asked).out)
    assert {"knack", "rescue"} <= set(passed["passed"])
    assert passed["outcomes"] == json.loads(rpgres(*line).out)["outcomes"]
    used = json.loads(rpgres(*asked, "--choose", "knack=use").out)
    assert used["outcomes"]["style"]["exact"] == "1"
    rescued = json.loads(rpgres(*asked, "--choose", "rescue=use").out)["outcomes"]
    assert (rescued["fail"]["exact"], rescued["succeed"]["exact"]) == ("0", "77/81")


# ---------------------------------------------------------------------------------------------------------------------
# What is added up


@pytest.mark.parametrize(
    ("inputs", "total"),
    [
        ({"attribute": 3}, 3),
        ({"ability": 3}, 3),
        ({"skill": 3}, 3),
        ({"attribute": 3, "skill": 2}, 5),
        ({"attribute": 4, "epic": 2}, 6),
        ({"attribute": 4, "epic": 2, "legend": 4}, 6),
        ({"sheet": "tamsin", "attribute": "wits"}, 5),
        ({"sheet": "tamsin", "attribute": "wits", "epic": 0}, 4),
        ({"sheet": "tamsin", "attribute": "wits", "epic": 2}, 6),
        ({"sheet": "tamsin", "attribute": "wits", "skill": "notice", "bonus": 1}, 7),
        ({"sheet": "tamsin", "attribute": "dexterity", "stunt": ["last-jump"]}, 8),
        ({"sheet": "tamsin", "attribute": "strength", "helper": ["orrin"], "helpers": 2}, 4),
    ],
)
def test_what_counts(inputs: dict[str, Any], total: int) -> None:
    assert done("overcome", **inputs, vs=-20, given={"roll": "0000"}).total == total


def test_something_has_to_be_rolled() -> None:
    with pytest.raises(UsageError, match="`attribute`"):
        resolve("coppermane", "overcome", vs=2)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (("--attribute", "5", "--bonus", "1"), "actor: attribute +5, bonus +1 = +6"),
        (("--attribute", "5", "--skill", "2"), "actor: attribute +5, skill +2 = +7"),
        (("--skill", "5", "--bonus", "1"), "actor: skill +5, bonus +1 = +6"),
        (("--attribute", "wits=5", "--skill", "notice=2"), "actor: wits +5, notice +2 = +7"),
        (("--attribute", "5", "--on", "jackals", "--vs", "jackals:2"), "jackals: attribute +2, the mob's size +3 = +5"),
    ],
)
def test_the_account_calls_what_counts_by_its_name(line: tuple[str, ...], told: str) -> None:
    vs = () if "--vs" in line else ("--vs", "-9")
    out = rpgres("roll", "coppermane", "create-advantage", *line, *vs, "--seed", "1", "--auto").out
    assert told in out


@pytest.mark.parametrize(
    ("line", "heading", "variant"),
    [
        ((), "Defend: Tie", None),
        (("--against", "overcome"), "Defend: Tie", None),
        (("--against", "advantage"), "Defend: Tie", None),
        (("--against", "advantage", "--variant", "find"), "Defend (find): Tie", "find"),
    ],
)
def test_defend_has_a_variant_only_where_one_was_said(line: tuple[str, ...], heading: str, variant: str | None) -> None:
    asked = ("roll", "coppermane", "defend", "--attribute", "2", "--vs", "2", "--given", "roll=0000", *line)
    assert rpgres(*asked).out.splitlines()[0] == heading
    assert json.loads(rpgres(*asked, "--json").out)["variant"] == variant


@pytest.mark.parametrize("inputs", [{"variant": "new"}, {"name": "Cornered"}])
@pytest.mark.parametrize("against", ["attack", "overcome"])
def test_what_is_said_of_an_advantage_is_not_swallowed(against: str, inputs: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"are only for an advantage; leave them out against {against}"):
        resolve("coppermane", "defend", attribute=2, vs=2, against=against, **inputs)


@pytest.mark.parametrize("action", ["overcome", "attack"])
def test_nobody_defends_against_the_own_action(action: str) -> None:
    for inputs in ({"target": "tamsin"}, {"defender": "tamsin"}):
        with pytest.raises(UsageError, match="tamsin cannot defend against their own action"):
            resolve("coppermane", action, sheet="tamsin", attribute=2, vs="4dF", **inputs)


SHEET = """
legend = {legend}
[attributes]
strength = {strength}
[epic-attributes.strength]
level = {level}
"""


@example(legend=4, strength=-2, level=0)
@given(legend=st.integers(0, 12), strength=st.integers(-2, 12), level=st.integers(0, 7))
def test_an_epic_attribute_is_at_most_half_of_legend_and_attribute(
    tmp_path_factory: pytest.TempPathFactory, rules: Rules, legend: int, strength: int, level: int
) -> None:
    path = tmp_path_factory.mktemp("sheet") / "hero.toml"
    path.write_text(SHEET.format(legend=legend, strength=strength, level=level))
    inputs = {"sheet": str(path), "attribute": "strength", "vs": 0}
    # Level by level, as a table would grow it: each needs two more of both.
    if all(2 * reached <= legend and 2 * reached <= strength for reached in range(1, level + 1)):
        found, _ = run(prepare(rules, "overcome", inputs), streams=Streams("1"), given={"roll": ["0000"]}, policies={})
        assert isinstance(found, Pending) or found.total == strength + level
    else:
        with pytest.raises(FileError, match=r"hero\.toml: epic strength"):
            prepare(rules, "overcome", inputs)


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"attribute": 3, "epic": 2}, r"epic attribute is 2, and can be at most 1: half of the attribute \(3\)"),
        ({"attribute": "wits=3", "epic": 6}, "epic wits is 6, and can be at most 1"),
        ({"attribute": 8, "epic": 3, "legend": 5}, r"can be at most 2: half of the legend \(5\) and half of the attr"),
        ({"sheet": "tamsin", "attribute": "wits", "epic": 3}, "epic wits is 3, and can be at most 2"),
        ({"sheet": "tamsin", "attribute": "dexterity=2"}, "epic dexterity is 2, and can be at most 1"),
        ({"sheet": "tamsin", "attribute": "dexterity", "legend": 2, "legend-points": 2}, "epic dexterity is 2"),
        ({"attribute": 3, "vs": "tamsin:dexterity=3"}, "epic dexterity is 2, and can be at most 1"),
        ({"skill": 4, "epic": 1}, "a skill has none; give `attribute`"),
    ],
)
def test_an_epic_level_is_within_its_limits_however_it_is_said(inputs: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        resolve("coppermane", "overcome", **{"vs": 0, **inputs})


def test_a_knack_needs_its_epic_attribute(tmp_path: Path) -> None:
    path = tmp_path / "hero.toml"
    path.write_text("legend = 2\n[attributes]\nwits = 4\n[knacks.Early]\nattribute = 'wits'\n")
    found = rpgres("sheet", "check", str(path), "--ruleset", "coppermane")
    assert found.code == 1
    assert "Early" in found.out + found.err
    assert "epic wits" in found.out + found.err


def test_a_knack_is_an_aspect_that_can_be_invoked() -> None:
    found = done(
        "overcome",
        sheet="tamsin",
        attribute=1,
        vs=2,
        given={"roll": "0000"},
        choose={"invoke": ["one-heartbeat-early", "no"]},
    )
    assert (found.outcome, found.margin) == ("succeed", 1)


# ---------------------------------------------------------------------------------------------------------------------
# Legend


RATED = st.integers(0, 12).flatmap(lambda rating: st.tuples(st.just(rating), st.integers(0, rating)))


@pytest.mark.slow
@given(
    legend=RATED,
    witnesses=st.integers(1, 10**9),
    amount=st.sampled_from(["1", "witnesses"]),
)
def test_legend_comes_back_up_to_its_cap(rules: Rules, legend: tuple[int, int], witnesses: int, amount: str) -> None:
    rating, points = legend
    rules = Rules(rules.ruleset, file=rules.file, parts=rules.layers.parts, switches={"epic_legend_amount": amount})
    inputs = {"attribute": 9, "vs": 0, "legend": rating, "legend-points": points, "witnesses": witnesses}
    found, state = run(prepare(rules, "overcome", inputs), streams=Streams("1"), given={"roll": ["0000"]}, policies={})
    assert isinstance(found, Result)
    gain = 1 if amount == "1" else sum(witnesses >= 10**power for power in range(10))
    after = min(rating, points + gain)
    assert state.characters["actor"].counters["legend-points"] == after
    assert [effect["change"] for effect in found.effects if effect["kind"] == "legend"] == [after - points]


def hero(rules: Rules, name: str, rating: int, points: int) -> State:
    """Return a table with a hero of this legend, and this many points left, who has a knack."""
    epic = {"epic-attributes": {"wits": {"level": 1}}, "knacks": {"Quick": {"attribute": "wits"}}} if rating > 1 else {}
    data = {"legend": rating, "legend-points": points, "attributes": {"wits": 4}, "aspects": ["Of This World"], **epic}
    return State().with_character(make_sheet(rules, data, name=name, source=None).character)


def played(rules: Rules, state: State, action: str, /, **inputs: Any) -> tuple[Result, State]:
    answers = {kind: inputs.pop(kind, {}) for kind in ("given", "choose")}
    lists = {kind: {label: [*said] for label, said in found.items()} for kind, found in answers.items()}
    prepared = prepare(rules, action, inputs, state=state, actor="hero")
    found, after = run(prepared, streams=Streams("1"), policies={"": COMMON_POLICIES["preferred"]}, **lists)
    assert isinstance(found, Result)
    return found, after


def both(rules: Rules, own: tuple[int, int], other: tuple[int, int]) -> State:
    return hero(rules, "hero", *own).with_character(hero(rules, "rival", *other).characters["rival"])


def points_at(state: State) -> dict[str, int]:
    return {name: its.counters["legend-points"] for name, its in state.characters.items()}


def test_what_an_action_spent_makes_room_for_what_it_regains(rules: Rules) -> None:
    found, after = played(
        rules,
        both(rules, (4, 4), (2, 2)),
        "overcome",
        attribute=9,
        vs="rival:wits",
        knack="Quick",
        given={"roll": ["0000"], "opposition": ["----"]},
        choose={"knack": ["use"], "cancel": ["cancel"]},
    )
    changes = [(effect["to"], effect["change"]) for effect in found.effects if effect["kind"] == "legend"]
    assert (found.outcome, changes) == ("epic", [("hero", -1), ("rival", -1), ("actor", 1)])
    assert points_at(after) == {"hero": 4, "rival": 1}


@pytest.mark.parametrize(("points", "cancelled"), [(0, 0), (1, 1), (2, 2)])
def test_every_cancelling_takes_a_point_of_its_own(rules: Rules, points: int, cancelled: int) -> None:
    table = both(rules, (4, 4), (4, points))
    more = {"attribute": 0, "vs": 9, "target": "rival", "knack": "Quick"}
    for count in range(3):
        choose = {"knack": ["use"], "rescue": ["use"], "cancel": ["cancel"] * count}
        if count > cancelled:
            with pytest.raises(UsageError, match="no legend point is left"):
                played(rules, table, "overcome", **more, choose=choose)
            continue
        choose = choose if count else {"knack": ["use"]}
        found, after = played(rules, table, "overcome", **more, choose=choose)
        assert found.outcome == ("style", "succeed", "fail")[count]
        assert points_at(after) == {"hero": 4 - min(count + 1, 2), "rival": points - count}


@pytest.mark.slow
@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_legend_stays_between_none_and_its_cap_in_random_play(data: st.DataObject) -> None:
    """Whoever acts, whatever is rolled and chosen: points stay in bounds, and effects say what really changed."""
    switches = {
        name: data.draw(st.sampled_from([*SWITCHES[name].choices]), label=name)
        for name in ("epic_legend", "epic_legend_amount", "cost_against_style", "defended_advantage", "harm")
    }
    rules = load_rules(find_ruleset("coppermane"), switches=switches)
    state = both(rules, data.draw(RATED, label="hero"), data.draw(RATED, label="rival"))
    ratings = {name: its.counters["legend"] for name, its in state.characters.items()}
    for step in range(data.draw(st.integers(1, 6), label="steps")):
        actor, other = data.draw(st.permutations(["hero", "rival"]), label="actor")
        if any(its.is_out for its in state.characters.values()):
            break
        action = data.draw(st.sampled_from(["overcome", "create-advantage", "attack", "defend"]), label="action")
        inputs: dict[str, Any] = {
            "attribute": data.draw(st.integers(-4, 14), label="attribute"),
            "vs": data.draw(st.sampled_from([f"{other}:wits", "4dF+3", 2]), label="vs"),
            "witnesses": data.draw(st.sampled_from([1, 9, 10, 10**6]), label="witnesses"),
        }
        if action == "defend":
            inputs["against"] = data.draw(st.sampled_from(["attack", "advantage", "overcome"]), label="against")
        if ratings[actor] > 1 and data.draw(st.booleans(), label="knack"):
            inputs["knack"] = "quick"
        prepared = prepare(rules, action, inputs, state=state, actor=actor)
        policies = {"": COMMON_POLICIES["uniform"]}
        found, after = run(prepared, streams=Streams(str(data.draw(st.integers(0, 99)))), step=step, policies=policies)
        assert isinstance(found, Result)
        before, now = points_at(state), points_at(after)
        assert all(0 <= now[name] <= ratings[name] for name in now)
        roles = {"actor": actor, "opponent": found.details.get("opponent", "")}
        for effect in found.effects:
            if effect["kind"] == "legend":
                who = roles.get(effect["to"], effect["to"])
                before[who] = before.get(who, 0) + effect["change"]
        assert {name: before[name] for name in now} == now
        state = after


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"legend": 2, "legend-points": 9}, "actor: legend-points is 9, and can be at most 2"),
        ({"sheet": "tamsin", "legend-points": 5}, "tamsin: legend-points is 5, and can be at most 4"),
        ({"sheet": "tamsin", "legend": 3}, "legend-points is 4, and can be at most 3"),
    ],
)
@pytest.mark.parametrize("action", ["overcome", "create-advantage", "attack", "defend"])
def test_points_over_the_permanent_legend_are_refused(action: str, inputs: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=f"{told}, as the permanent legend is; lower legend-points, or raise legend"):
        resolve("coppermane", action, attribute=1, vs=0, **inputs)


@pytest.mark.parametrize(("change", "left"), [(-2, 0), (-5, 0), (-1, 1), (1, 3), (3, 4)])
def test_a_change_leaves_no_less_legend_than_none_and_no_more_than_the_rating(
    rules: Rules, change: int, left: int
) -> None:
    changed = Outcome("", effects=(Map({"kind": "legend", "to": "hero", "change": change}),))
    after = apply_effects(rules, hero(rules, "hero", 4, 2), changed)
    assert points_at(after) == {"hero": left}


def test_an_epic_attribute_without_the_attribute_is_one_of_0(tmp_path: Path) -> None:
    path = tmp_path / "hero.toml"
    path.write_text("legend = 4\n[attributes]\nwits = 4\n[epic-attributes.strength]\nlevel = 1\n")
    found = rpgres("sheet", "check", str(path), "--ruleset", "coppermane")
    assert "epic strength is 1, and can be at most 0" in found.out + found.err
    assert "half of the attribute (0)" in found.out + found.err


def test_a_boost_becomes_an_aspect_of_the_scene_wherever_the_boost_lies(rules: Rules) -> None:
    state = both(rules, (4, 2), (4, 2)).with_tags([Tag("Off Balance", "boost", on="rival")])
    inputs = {"attribute": "wits", "vs": 0, "variant": "new", "name": "Off Balance", "given": {"roll": ["+000"]}}
    _, after = played(rules, state, "create-advantage", **inputs)
    tag = after.tag("Off Balance")
    assert tag is not None
    assert (tag.kind, tag.on) == ("aspect", SCENE)


def test_points_over_the_permanent_legend_are_refused_on_a_sheet_and_in_a_scene(tmp_path: Path) -> None:
    sheet, scene = tmp_path / "hero.toml", tmp_path / "scene.toml"
    sheet.write_text("legend = 2\nlegend-points = 3\n")
    scene.write_text('ruleset = "coppermane"\n[characters.tamsin]\nsheet = "tamsin"\nlegend-points = 5\n')
    for line, told in [
        (("sheet", "check", str(sheet), "--ruleset", "coppermane"), "hero.toml"),
        (("scene", "check", str(scene)), "scene.toml"),
    ]:
        found = rpgres(*line)
        assert found.code == 1
        assert told in found.out + found.err
        assert "as the permanent legend is; lower legend-points" in " ".join((found.out + found.err).split())


def test_all_points_of_a_legend_are_left_when_nobody_says_how_many() -> None:
    found = done("overcome", attribute=0, vs=9, legend=1, knack="Anything", choose={"knack": "use"})
    assert found.outcome == "style"
    assert done("overcome", attribute=9, vs=0, legend=1, given={"roll": "0000"}).effects[-1]["change"] == 0


@pytest.mark.parametrize(("attribute", "also"), [(9, "style"), (6, None), (0, None), (-1, None)])
def test_a_script_sees_that_an_epic_success_is_a_style_too(attribute: int, also: str | None) -> None:
    line = ("roll", "coppermane", "overcome", "--attribute", str(attribute), "--vs", "0", "--given", "roll=0000")
    assert json.loads(rpgres(*line, "--auto", "--json").out)["also"] == also


def test_whoever_has_no_sheet_regains_what_an_epic_success_gives() -> None:
    effects = done("overcome", attribute=9, vs=0, given={"roll": "0000"}).effects
    assert effects == [
        {"kind": "goal"},
        {"kind": "boost", "to": "actor"},
        {"kind": "legend", "to": "actor", "change": 1},
    ]


@pytest.mark.parametrize("margin", range(-9, 12))
def test_a_knack_that_rescues_does_so_only_after_a_failure(margin: int) -> None:
    found = resolve(
        "coppermane",
        "overcome",
        attribute=margin,
        vs=0,
        legend_points=1,
        knack="Anything",
        given={"roll": "0000"},
        choose={"rescue": "use"},
    )
    assert isinstance(found, Result)
    if margin < 0:
        assert (found.outcome, found.margin, found.success) == ("succeed", None, True)
        assert found.unused == []
    else:
        assert found.margin == margin
        assert [answer.label for answer in found.unused] == ["rescue"]


def test_a_knack_spares_the_roll() -> None:
    found = done("attack", attribute=0, vs=9, legend_points=1, knack="Anything", choose={"knack": "use", "hit": "full"})
    assert (found.outcome, found.margin, found.total) == ("style", None, None)
    assert [answer.kind for answer in found.answers] == ["decision", "decision"]
    assert {"kind": "hit", "shifts": 3, "to": "opponent", "track": "stress"} in found.effects


def test_what_a_knack_gives_follows_the_bounds_of_a_house_rule(tmp_path: Path) -> None:
    folder = tmp_path / "coppermane"
    folder.mkdir()
    bands = "[bands.succeed]\nfrom = 1\nto = 4\n[bands.style]\nfrom = 5\nto = 8\n[bands.epic]\nfrom = 9\n"
    (folder / "ruleset.toml").write_text(bands)
    line = (
        "roll",
        "coppermane",
        "attack",
        "--attribute",
        "0",
        "--vs",
        "9",
        "--legend",
        "3",
        "--knack",
        "Any",
        "--json",
    )
    for label, outcome, shifts in [("knack", "style", 5), ("rescue", "succeed", 1)]:
        found = json.loads(rpgres(*line, "--auto", "--choose", f"{label}=use", RPGRES_RULESETS=str(tmp_path)).out)
        assert found["outcome"] == outcome
        assert [effect["shifts"] for effect in found["effects"] if effect["kind"] == "hit"] == [shifts]


def test_the_harm_model_is_a_switch(tmp_path: Path) -> None:
    path = tmp_path / "hero.toml"
    path.write_text("[skills]\nphysique = 5\nwill = 1\n")
    shown = {}
    for harm in ("one-track-of-three", "core"):
        rules = load_rules(find_ruleset("coppermane"), switches={"harm": harm})
        tracks = read_sheet(rules, str(path)).character.tracks
        shown[harm] = {name: [box.name for box in boxes] for name, boxes in tracks.items()}
    consequences = ["mild", "moderate", "severe"]
    assert shown == {
        "one-track-of-three": {"stress": ["1", "2", "3"], "consequences": consequences},
        "core": {
            "physical": ["1", "2", "3", "4"],
            "mental": ["1", "2", "3"],
            "consequences": [*consequences, "mild-physical"],
        },
    }


# ---------------------------------------------------------------------------------------------------------------------
# Defend, seen from the other side


def seen_from_both_sides(rules: Rules, margin: int, other_action: str, variant: str, picks: int) -> list[Any]:
    """Return what comes of one event, and who decided, to the one who acts and to the one who defends, by their names.

    Args:
        margin: of the one who acts, over a defense of 4 and one epic level.
        picks: which option is taken of every question, counted from the first; of costs, again from the first after
            the last.
    """

    def nth(_view: object, question: Question) -> str:
        names = [option.name for option in question.options]
        if question.label == "cost":
            return names[picks % len(names)]
        return "no" if question.optional else names[min(picks, len(names) - 1)]

    tag = Tag("Of This World", "aspect", "rival", audience=("gm",) if variant == "find" else None)
    table = both(rules, (4, 0), (4, 0)).with_tag(tag)
    advantage = {"variant": variant, "name": "Cornered" if variant == "new" else tag.name}
    strong = {"attribute": f"wits={5 + margin}", "epic": 0}
    acts = {"overcome": {}, "attack": {}, "create-advantage": {**advantage, "on": "rival"}}[other_action]
    wards = {"overcome": {}, "attack": {}, "create-advantage": advantage}[other_action]
    against = {"create-advantage": "advantage"}.get(other_action, other_action)
    sides = [
        ("hero", other_action, {**strong, "vs": "rival:wits", **acts}),
        ("rival", "defend", {"attribute": "wits", "vs": f"hero:{5 + margin}", "against": against, **wards}),
    ]
    found = []
    for actor, action, inputs in sides:
        other = "rival" if actor == "hero" else "hero"
        dice = {"roll": ["0000"], "opposition": ["0000"]}
        prepared = prepare(rules, action, inputs, state=table, actor=actor)
        outcome, _ = run(prepared, streams=Streams("1"), given=dice, policies={"": nth})
        assert isinstance(outcome, Result)
        assert outcome.margin == (margin if actor == "hero" else -margin)
        roles = {"actor": actor, "opponent": other, "scene": ""}
        named = [{key: roles.get(value, value) for key, value in effect.items()} for effect in outcome.effects]
        for effect in named:
            if effect["kind"] in ("goal", "cost"):
                effect.setdefault("to", actor)
        decisions = [event for event in outcome.events if isinstance(event, DecisionEvent)]
        decided = [event.who for event in decisions if event.answer != "no"]
        found.append((sorted(named, key=str), decided))
    return found


@pytest.mark.parametrize(
    ("action", "variant", "picks"),
    [
        *(("overcome", "", picks) for picks in range(5)),  # whether the goal is bought, and at which of four costs
        *(("attack", "", picks) for picks in range(2)),
        *(("create-advantage", variant, picks) for variant in ("new", "find", "known") for picks in range(2)),
    ],
)
@pytest.mark.parametrize(
    "switches",
    [
        {},
        {"cost_against_style": "allowed", "fail_chooser": "actor"},
        {"epic_legend": "conflict", "harm": "core", "defended_advantage": "not-created"},
    ],
)
def test_an_event_gives_the_same_from_both_sides(
    action: str, variant: str, picks: int, switches: dict[str, str]
) -> None:
    rules = load_rules(find_ruleset("coppermane"), switches=switches)
    for margin in (-9, -7, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 7, 9):
        acting, defending = seen_from_both_sides(rules, margin, action, variant, picks)
        assert acting == defending, margin
