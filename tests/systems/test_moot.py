"""Questions that nobody is asked, since no answer can bring more than its cost: every answer to them is tried."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import GivenDealer, SeededDealer
from rpgres.engine.players import NO, Answer, Question, View, preferred
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Result
from rpgres.engine.run import play
from rpgres.engine.run import run as step_run
from rpgres.engine.seats import Seats
from rpgres.engine.table import Outcome
from rpgres.model.state import EMPTY, GM, SCENE, Character, Map, State, Tag
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules, builtin_folder
from rpgres.rulesets.settling import Settling
from rpgres.scenes import prove_scene, read_scene
from rpgres.toml.reading import read_source
from tests.support.effort import few

FATE, COPPERMANE = (load_rules(find_ruleset(name)) for name in ("fate", "coppermane"))
CONFORMANCE = sorted(builtin_folder().glob("*/scenes/conformance-*.toml"))
COSTS = ("free-invoke", "fate-point")
ACTIONS: list[tuple[str, dict[str, Any]]] = [
    ("overcome", {}),
    ("overcome", {"removes": "Smoke"}),
    ("overcome", {"alters": "Smoke=Thick Smoke"}),
    ("discover", {"variant": "reveal-information"}),
    ("discover", {"variant": "reveal-aspect", "name": "A Secret Door"}),
    ("discover", {"variant": "establish", "name": "A Way Out"}),
    ("create-advantage", {"variant": "new", "name": "High Ground"}),
    ("create-advantage", {"variant": "existing", "name": "Smoke"}),
    ("create-advantage", {"variant": "new", "name": "Off Balance", "on": "thug"}),
    ("attack", {"target": "thug"}),
    ("defend", {"against": "attack"}),
    ("defend", {"against": "advantage", "name": "Cornered"}),
]
COPPERMANE_ACTIONS: list[tuple[str, dict[str, Any]]] = [
    ("overcome", {}),
    ("overcome", {"removes": "Smoke"}),
    ("overcome", {"knack": "Luck"}),
    ("create-advantage", {"variant": "new", "name": "High Ground"}),
    ("create-advantage", {"variant": "known", "name": "Smoke"}),
    ("create-advantage", {"variant": "find", "name": "A Secret Door", "on": "thug"}),
    ("attack", {"target": "thug"}),
    ("defend", {"against": "attack"}),
    ("defend", {"against": "overcome"}),
    ("defend", {"against": "advantage", "name": "Cornered"}),
]
MARGINS = range(-7, 8)


def table_of() -> State:
    mara = Character(name="mara", counters=Map({"fate-points": 1}))
    thug = Character(name="thug", seat=GM)
    tags = (Tag("Fog", "aspect", SCENE, Map({"mara": 1})), Tag("Smoke", "aspect", SCENE, Map({"thug": 1, GM: 1})))
    return State(characters=Map({"mara": mara, "thug": thug}), tags=tags, counters=Map({"fate-points": 1}))


class Insisting(Seats):
    """Passes what may pass, and takes what is preferred; gives one answer to the moot question of a number."""

    __slots__ = ("asked", "at", "moot", "option")

    def __init__(self, at: int = -1, option: str = "") -> None:
        super().__init__()
        self.at, self.option, self.hears_moot = at, option, True
        self.moot, self.asked = list[Question](), list[Question]()

    def answer(self, question: Question, view: View) -> Answer | None:
        if not question.moot:
            self.asked.append(question)
            return None if question.optional else Answer(preferred(view, question), "policy")
        self.moot.append(question)
        return Answer(self.option, "choose") if len(self.moot) - 1 == self.at else None


def played(prepared: Prepared, seats: Seats) -> Outcome:
    dealer = GivenDealer({"roll": ["0000"], "opposition": ["0000"]}, then=SeededDealer(Streams("7")))
    return play(prepared, dealer=dealer, players=seats)[0]


def what_comes(outcome: Outcome) -> tuple[Any, ...]:
    costs = [one for one in outcome.effects if one["kind"] in COSTS and one.get("count", one.get("change", 0)) < 0]
    return outcome.band, outcome.texts, tuple(one for one in outcome.effects if one not in costs)


def moot_at(
    action: str, inputs: Mapping[str, Any], margin: int, *, dice: str = "", rules: Rules = FATE
) -> tuple[Prepared, Insisting]:
    vs = f"{dice}{-margin:+d}" if dice else str(-margin)
    rating = "skill" if rules is FATE else "attribute"
    prepared = prepare(rules, action, {rating: "0", "vs": [vs], **inputs}, state=table_of(), actor="mara")
    seats = Insisting()
    played(prepared, seats)
    return prepared, seats


@pytest.mark.parametrize("dice", ["", "4dF"])
@pytest.mark.parametrize(
    ("rules", "action", "inputs"),
    [*((FATE, *one) for one in ACTIONS), *((COPPERMANE, *one) for one in COPPERMANE_ACTIONS)],
)
def test_no_answer_to_a_moot_question_brings_anything(
    rules: Rules, action: str, inputs: dict[str, Any], dice: str
) -> None:
    count = 0
    for margin in range(-9, 10) if rules is COPPERMANE else MARGINS:
        prepared, seats = moot_at(action, inputs, margin, dice=dice, rules=rules)
        before = what_comes(played(prepared, Insisting()))
        for number, question in enumerate(seats.moot):
            count += 1
            for option in question.options:
                if not option.facts["reroll"]:  # new dice can only be worse
                    assert what_comes(played(prepared, Insisting(number, option.name))) == before
    assert count


def labels_asked(margin: int, action: str = "overcome", **inputs: Any) -> list[str]:
    return [
        question.label for question in moot_at(action, inputs, margin)[1].asked if question.label.startswith("invoke")
    ]


def test_who_can_gain_nothing_is_not_asked() -> None:
    assert labels_asked(3) == ["invoke-against"]
    assert labels_asked(2) == ["invoke", "invoke-against"]
    assert labels_asked(0) == ["invoke", "invoke-against"]
    assert labels_asked(-1) == ["invoke"]


def test_every_shift_of_an_attack_counts() -> None:
    assert labels_asked(5, "attack", target="thug")[:2] == ["invoke", "invoke-against"]
    assert "invoke-against" not in labels_asked(-4, "attack", target="thug")


@pytest.mark.parametrize("rules", [FATE, COPPERMANE])
def test_no_answer_to_a_moot_question_of_a_contest_brings_anything(rules: Rules) -> None:
    asked = {}
    for margin in MARGINS:
        inputs = {"victories": "1", "exchanges": "1"}
        prepared, seats = moot_at("contest", inputs, margin, dice="4dF", rules=rules)
        asked[margin] = {question.label for question in seats.asked}
        before = what_comes(played(prepared, Insisting()))
        for number, question in enumerate(seats.moot):
            for option in question.options:
                if not option.facts["reroll"]:
                    assert what_comes(played(prepared, Insisting(number, option.name))) == before
    best = 3 if rules is FATE else 7  # what counts double, and what is epic
    assert all(("invoke" in asked[margin]) is (margin < best) for margin in MARGINS)
    assert all(("invoke-against" in asked[margin]) is (margin > -3) for margin in MARGINS)


def contest_of(rules: Rules, *others: int, switches: Mapping[str, str] = EMPTY, **inputs: Any) -> Prepared:
    """Return an exchange of mara against characters who add these numbers; each has something to invoke."""
    names = ("thug", "venn", "kort")[: len(others)]
    ability = "will" if rules is FATE else "wits"
    added = zip(names, others, strict=True)
    people = {name: Character(name=name, seat=GM, abilities=Map({ability: add})) for name, add in added}
    mara = Character(name="mara", counters=Map({"fate-points": 1}))
    tags = (Tag("Fog", "aspect", SCENE, Map({"mara": 1})), Tag("Smoke", "aspect", SCENE, Map(dict.fromkeys(names, 1))))
    state = State(characters=Map({"mara": mara, **people}), tags=tags)
    vs = [f"{name}:{ability}" for name in names]
    said = {"skill" if rules is FATE else "attribute": "0", "vs": vs, "victories": "1", "exchanges": "1", **inputs}
    return prepare(rules.with_switches(switches), "contest", said, state=state, actor="mara")


@pytest.mark.parametrize("rules", [FATE, COPPERMANE])
@pytest.mark.parametrize("inputs", [{}, {"environment": "1"}])
def test_no_answer_to_a_moot_question_of_three_sides_brings_anything(rules: Rules, inputs: dict[str, str]) -> None:
    """The last side can raise its total by 2, or by 6 with new dice."""
    count = 0
    for others in product((-8, -4, -1, 0, 3), repeat=2):
        prepared, seats = contest_of(rules, *others, **inputs), Insisting()
        before = what_comes(played(prepared, seats))
        count += len(seats.moot)
        for number, question in enumerate(seats.moot):
            for option in question.options:
                if not option.facts["reroll"]:
                    assert what_comes(played(prepared, Insisting(number, option.name))) == before, others
    assert count


def test_whom_nothing_brings_into_reach_is_not_asked() -> None:
    """Mara has +3 on the second, who can take that, and the third cannot."""
    seats = Insisting()
    played(contest_of(FATE, -3, -9), seats)
    assert [(one.label, one.who) for one in seats.asked if one.label.startswith("invoke")] == [
        ("invoke-against", "thug")
    ]
    assert {one.who for one in seats.moot} == {"mara", "venn"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("odds", "switches"),
    few(  # each with each only in thorough runs: four have every one of them
        product(
            [((-1, -4), {}), ((1, -2), {"environment": "1"}), ((-5,), {})],
            [{}, {"invoke_order": "actor-then-opponent"}, {"same_aspect": "two-free"}],
        ),
        4,
    ),
    ids=str,
)
def test_what_is_not_asked_changes_no_chance(
    odds: tuple[tuple[int, ...], dict[str, str]], switches: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever invokes whenever they are asked comes to the same, asked or not where it is moot."""

    def raising(_view: View, question: Question) -> str:
        return question.options[0].name if question.optional else preferred(_view, question)

    def chances() -> Mapping[Any, Any]:
        others, inputs = odds
        prepared = contest_of(FATE, *others, switches=switches, **inputs)
        return outcome_odds(prepared, policies={"": raising}).masses

    skipped = chances()
    monkeypatch.setattr(Settling, "is_fixed", lambda *_: False)
    assert skipped == chances()


def test_whoever_speaks_first_and_once_is_asked_while_the_other_may_answer() -> None:
    rules = FATE.with_switches({"invoke_order": "actor-then-opponent"})
    prepared = prepare(rules, "overcome", {"skill": "0", "vs": ["-5"]}, state=table_of(), actor="mara")
    seats = Insisting()
    played(prepared, seats)
    assert [question.label for question in seats.asked] == ["invoke", "invoke-against"]


def test_an_answer_that_was_given_beforehand_is_heard() -> None:
    prepared = moot_at("overcome", {}, 5)[0]
    outcome = played(prepared, Seats({"invoke": ["fog"]}))
    assert outcome.margin == 7


def always_invoking(_view: View, question: Question) -> str:
    return question.options[0].name


def test_no_policy_is_asked_unless_margins_are_what_is_asked_for() -> None:
    prepared = moot_at("overcome", {}, 9)[0]
    policies = {"": always_invoking, GM: lambda _view, question: NO if question.optional else "fail"}
    assert set(outcome_odds(prepared, policies=policies).masses) >= {"style"}
    assert max(outcome_odds(prepared, policies=policies, by="margin").masses) == 9 + 4 + 4  # fog, smoke


@pytest.mark.parametrize("path", CONFORMANCE, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_so_it_is_in_every_action_that_the_conformance_scenes_play(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[Question] = []
    insists: list[tuple[int, str]] = []
    usual, playing = Seats.answer, step_run

    def answer(seats: Seats, question: Question, view: View) -> Answer | None:
        found = usual(seats, question, view)
        if found is None and question.moot:
            met.append(question)
            if insists and insists[0][0] == len(met) - 1:
                return Answer(insists[0][1], "choose")
        return found

    def tried(prepared: Prepared, **by: Any) -> Any:
        met.clear()
        first = playing(prepared, **by)
        assert not [one for one in met if not one.optional]
        for number, question in enumerate([*met]):
            if any("invoke" in label for label in by.get("choose", {})):
                continue  # another side that answers by script, and whatever was done, could not be answered by turns
            for option in question.options:
                if not option.facts.get("reroll"):
                    met.clear()
                    insists[:] = [(number, option.name)]
                    again = playing(prepared, **by)[0]
                    insists.clear()
                    assert isinstance(again, Result)
                    assert (again.outcome, again.texts) == (first[0].outcome, first[0].texts)
        return first

    monkeypatch.setattr(Seats, "answer", answer)
    monkeypatch.setattr("rpgres.scenes.playing.run", tried)
    prove_scene(read_scene(read_source(path), find_ruleset=find_ruleset), seed="7")
