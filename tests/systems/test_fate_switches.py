"""Each house rule of Fate, flipped: what it changes, that it changes nothing else, and that the odds follow."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from rpgres import Pending, Result, UsageError, resolve
from rpgres.engine.players import policy_of
from rpgres.engine.prepare import prepare
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules

FAILED = {"roll": "----", "opposition": "0000"}

# switch, other value, action, inputs, given, choose: kinds and receivers of the effects by default, and flipped
ADVANTAGE = {"skill": 2, "vs": "4dF+0", "on": "opponent"}
EXISTING = {**ADVANTAGE, "variant": "existing", "name": "Mud"}
CASES: list[tuple[str, str, str, dict[str, Any], dict[str, str], dict[str, str], list[str], list[str]]] = [
    (
        *("defended_advantage", "not-created", "create-advantage", ADVANTAGE),
        *(FAILED, {"advantage": "other"}),
        ["aspect", "free-invoke opponent"],
        [],
    ),
    (
        *("defended_advantage", "not-created", "create-advantage", {**ADVANTAGE, "skill": 1}),
        *(FAILED, {"advantage": "other"}),
        ["boost opponent", "aspect", "free-invoke opponent"],
        ["boost opponent"],
    ),
    (
        *("existing_against_defend", "nothing", "create-advantage", EXISTING),
        *(FAILED, {}),
        ["free-invoke opponent"],
        [],
    ),
    (
        *("existing_against_defend", "nothing", "create-advantage", {**EXISTING, "skill": 1}),
        *(FAILED, {}),
        ["free-invoke opponent"],
        ["boost opponent"],
    ),
    (
        *("passive_defender_boost", "no", "attack", {"skill": 1, "vs": 0}),
        *({"roll": "----"}, {}),
        ["boost opponent"],
        [],
    ),
    (
        *("passive_defender_boost", "no", "create-advantage", {**ADVANTAGE, "skill": 1, "vs": 0}),
        *({"roll": "----"}, {"advantage": "none"}),
        ["boost opponent"],
        [],
    ),
]


@pytest.mark.parametrize(("switch", "value", "action", "inputs", "given", "choose", "default", "flipped"), CASES)
def test_what_a_switch_changes(
    switch: str,
    value: str,
    action: str,
    inputs: dict[str, Any],
    given: dict[str, str],
    choose: dict[str, str],
    default: list[str],
    flipped: list[str],
) -> None:
    for switches, expected in (({}, default), ({switch: value}, flipped)):
        found = resolve("fate", action, given=given, choose=choose, switches=switches, auto=True, **inputs)
        assert isinstance(found, Result), found
        assert found.outcome == "fail"
        assert [" ".join([one["kind"], *([one["to"]] if "to" in one else [])]) for one in found.effects] == expected


@pytest.mark.parametrize(
    ("switch", "value", "label", "default", "flipped", "action", "inputs", "roll"),
    [
        ("fail_chooser", "actor", "advantage", "gm", "actor", "create-advantage", {"skill": 1, "vs": 2}, "0000"),
        (
            *("establish_chooser", "gm", "extra", "actor", "gm", "discover"),
            {"skill": 4, "vs": 1, "variant": "establish"},
            "0000",
        ),
    ],
)
def test_who_is_asked(
    switch: str, value: str, label: str, default: str, flipped: str, action: str, inputs: dict[str, Any], roll: str
) -> None:
    for switches, who in (({}, default), ({switch: value}, flipped)):
        asked = resolve("fate", action, given={"roll": roll}, switches=switches, **inputs)
        assert isinstance(asked, Pending)
        assert (asked.question.label, asked.question.who) == (label, who)


def test_the_order_of_invoking() -> None:
    def asked(**switches: str) -> list[str]:
        found = resolve(
            "fate",
            "overcome",
            skill=2,
            vs=2,
            aspect="Mud=2",
            gm_points=1,
            given={"roll": "0000"},
            choose={"invoke": ["no", "mud", "no"], "invoke-against": ["mud", "no"], "price": "fail"},
            switches=switches,
        )
        assert isinstance(found, Result)
        events = [event for event in found.events if getattr(event, "label", "").startswith("invoke")]
        return [f"{event.label} {event.answer}" for event in events]

    assert asked() == ["invoke no", "invoke-against mud", "invoke mud", "invoke no"]
    assert asked(invoke_order="actor-then-opponent") == ["invoke no", "invoke-against mud"]


def test_how_long_a_boost_stays() -> None:
    def effects(answer: str, **switches: str) -> list[str]:
        rules = load_rules(find_ruleset("fate"), switches=switches)
        from rpgres.dice.seeds import Streams
        from rpgres.engine.run import run
        from rpgres.model.state import Character, Map, State
        from rpgres.rulesets import effect

        state = State(characters=Map({"mara": Character(name="mara")}))
        state = rules.ruleset.effects["boost"](state, effect("boost", to="mara", name="Head Start"))
        prepared = prepare(rules, "overcome", {"skill": 2, "vs": 2}, state=state, actor="mara")
        found, after = run(prepared, streams=Streams("1"), given={"roll": ["+000"]}, choose={"invoke": [answer]})
        assert isinstance(found, Result)
        return [one["kind"] for one in found.effects] + [tag.name for tag in after.tags if tag.kind == "boost"]

    assert effects("no") == ["goal", "Head Start"]
    assert effects("no", boost_lifetime="next-chance") == ["aspect", "goal"]
    used = ["free-invoke", "goal", "boost", "Boost"]
    assert effects("head-start") == effects("head-start", boost_lifetime="next-chance") == used


def test_how_many_may_oppose() -> None:
    several = {"skill": 2, "vs": [1, "4dF+1"]}
    assert isinstance(resolve("fate", "overcome", **several, auto=True), Result)
    with pytest.raises(UsageError, match="opposers=one"):
        resolve("fate", "overcome", **several, switches={"opposers": "one"})
    assert resolve("fate", "overcome", skill=2, vs=1, auto=True, switches={"opposers": "one"})


# ---------------------------------------------------------------------------------------------------------------------
# Odds


def odds(action: str, inputs: dict[str, Any], **switches: str) -> dict[str, Fraction]:
    rules = load_rules(find_ruleset("fate"), switches=switches)
    prepared = prepare(rules, action, inputs)
    return outcome_odds(prepared, policies={"": policy_of(rules, "sensible")}).masses


def test_the_odds_follow_the_order_of_invoking() -> None:
    """Who may answer the other side's invocation does better than who has passed: only a switch differs."""
    inputs = {"skill": 3, "vs": 3, "aspect": ["Fog=1", "Dark"], "fate-points": 1, "gm-points": 1}
    alternate = odds("overcome", inputs)
    in_turn = odds("overcome", inputs, invoke_order="actor-then-opponent")
    assert alternate != in_turn
    assert in_turn["fail"] > alternate["fail"], "the other side has the last word"
    assert sum(alternate.values()) == sum(in_turn.values()) == 1


@pytest.mark.parametrize(
    ("switch", "value"),
    [
        ("defended_advantage", "not-created"),
        ("existing_against_defend", "nothing"),
        ("passive_defender_boost", "no"),
        ("fail_chooser", "actor"),
        ("establish_chooser", "gm"),
        ("boost_lifetime", "next-chance"),
    ],
)
def test_switches_about_what_an_outcome_means_leave_its_chances_alone(switch: str, value: str) -> None:
    for action, inputs in (
        ("create-advantage", {**EXISTING, "skill": 3}),
        ("attack", {"skill": 3, "vs": 2, "aspect": "Fog=1"}),
    ):
        assert odds(action, inputs) == odds(action, inputs, **{switch: value})


def test_odds_refuse_what_a_switch_forbids() -> None:
    with pytest.raises(UsageError, match="opposers=one"):
        odds("overcome", {"skill": 2, "vs": [1, 2]}, opposers="one")
    assert odds("overcome", {"skill": 2, "vs": [1, 2]}) == odds("overcome", {"skill": 2, "vs": 2})
