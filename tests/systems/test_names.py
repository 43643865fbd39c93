"""What is new at the table gets its name from whoever made it, where somebody is there to say it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rpgres import Question, Result, UsageError, View, resolve
from rpgres.cli.asking.prompt import Person
from rpgres.dice.seeds import Streams
from rpgres.engine.prepare import prepare
from rpgres.engine.run import run
from rpgres.engine.seats import Seats
from rpgres.engine.waiting import always, waiting
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules

GIVEN = {"roll": "++++"}
ADVANTAGE = {"skill": 3, "vs": 0}


def named(result: Any, kind: str) -> list[str]:
    """Return the names in the effects of a kind; free invocations have to lie on one of them."""
    assert isinstance(result, Result)
    names = [one["name"] for one in result.effects if one["kind"] == kind]
    assert {one["on"] for one in result.effects if one["kind"] == "free-invoke"} <= set(names)
    return names


def test_an_aspect_and_each_consequence_are_named_by_their_owners(tmp_path: Path) -> None:
    sheet = tmp_path / "bodo.toml"
    sheet.write_text('name = "Bodo"\n[skills]\nfight = 0\n')
    choose = {"aspect-name": ["  Loose   Roof "]}
    assert named(resolve("fate", "create-advantage", **ADVANTAGE, given=GIVEN, choose=choose), "aspect") == [
        "Loose Roof"
    ]
    hit = {"skill": 3, "vs": {"character": str(sheet), "skill": "fight"}}
    given = {"roll": "+++-", "opposition": "0000"}
    ways = {"hit": ["full"], "absorb": ["mild+moderate"], "consequence-name": ["Broken Arm"]}
    found = named(resolve("fate", "attack", **hit, given=given, choose=ways), "consequence")
    assert found == ["Broken Arm", "Moderate Consequence of Bodo"]


@pytest.mark.parametrize("ruleset", ["fate", "coppermane"])
@pytest.mark.parametrize(("typed", "name"), [("Loose Roof", "Loose Roof"), ("", "An Advantage")])
def test_whoever_sits_at_the_prompt_is_asked(
    ruleset: str, typed: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = load_rules(find_ruleset(ruleset))
    ability = "attribute" if ruleset == "coppermane" else "skill"
    ready = prepare(rules, "create-advantage", {ability: 3, "vs": 0})
    person = Person(read=lambda _: typed)
    result, _ = run(ready, streams=Streams("1"), prompt=person.ask, identify=False)
    assert named(result, "aspect") == [name]
    assert "What is the new aspect called? Type a name [Enter: An Advantage].\n" in capsys.readouterr().out


def test_no_action_waits_for_a_name_and_no_policy_is_asked_for_one() -> None:
    rules = load_rules(find_ruleset("fate"))
    ready = prepare(rules, "create-advantage", {**ADVANTAGE, "aspect": ["Burning Oil=0"]})

    def picky(_view: View, question: Question) -> str:
        assert question.options
        return "no"

    for players in (waiting(waits=always, policies={"": picky}), Seats(policies={"": picky})):
        result, _ = run(ready, streams=Streams("1"), players=players, identify=False)
        assert named(result, "aspect") == ["An Advantage"]
        assert isinstance(result, Result)
        assert not [one for one in result.answers if one.label == "aspect-name"]
        assert any("aspects in the scene: Burning Oil" in str(event) for event in result.events)


@pytest.mark.parametrize("name", [" ", "x" * 81])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="a name has 1 to 80 characters"):
        resolve("fate", "create-advantage", **ADVANTAGE, given=GIVEN, choose={"aspect-name": [name]})
