"""The odds of a decision that is asked now: against enumeration by hand, and whether hidden cards stay hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres.dice.seeds import Streams
from rpgres.engine.hidden import known_to
from rpgres.engine.piles import lay_out
from rpgres.engine.players import NO, Policy, Question, View, policy_of
from rpgres.engine.prepare import prepare
from rpgres.engine.run import run
from rpgres.model.state import Character, Map, State
from rpgres.odds.decision import NARROW, OptionOdds, decision_odds
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.stopping import STOP
from tests.support.command_line import as_json

FATE = list(product((-1, 0, 1), repeat=4))
"""Every result of four Fate dice."""


def never(_view: View, question: Question) -> str | None:
    """Pass whatever may be passed."""
    return NO if question.optional else question.options[0].name


def odds_at(
    ruleset: str,
    action: str,
    inputs: Mapping[str, Any],
    *,
    at: int = 1,
    answers: Sequence[str] = (),
    state: State | None = None,
    actor: str = "",
    policy: Policy = never,
    seconds: float = 60,
    exact_seconds: float = 60,
    games: int = 40,
    **by: Any,
) -> list[OptionOdds]:
    """Return the odds at the decision number `at` of a run; those before it are answered."""
    prepared = prepare(load_rules(find_ruleset(ruleset)), action, inputs, state=state, actor=actor)
    found: list[list[OptionOdds]] = []
    limits: dict[str, Any] = {"seconds": seconds, "exact_seconds": exact_seconds, "games": games}
    left = list(answers)

    def prompt(view: View, question: Question) -> str | None:
        found.append(decision_odds(prepared, view, question, policies={"": policy}, **limits))
        return left.pop(0) if left else None

    run(prepared, streams=Streams("7"), prompt=prompt, **by)
    return found[at - 1]


def by_option(found: Sequence[OptionOdds]) -> dict[str, float]:
    return {one.option: one.success for one in found}


@pytest.mark.slow
def test_odds_in_a_procedure_are_those_of_the_turn() -> None:
    inputs = {"sheet": "mara", "against": ["thug"]}
    rolled = {"roll": ["0000"], "opposition": ["0+00"]}  # 1 against 3
    found = odds_at("fate", "conflict", inputs, at=3, answers=["attack", NO], given=rolled)
    again = sum(sum(faces) + 1 > 3 for faces in FATE) / len(FATE)
    alone = by_option(
        odds_at("fate", "attack", {"sheet": "mara", "skill": "fight", "vs": "3"}, given={"roll": ["0000"]})
    )
    chances = by_option(found)
    assert chances["wanted-in-three-ports:reroll"] == alone["wanted-in-three-ports:reroll"] == pytest.approx(again)
    assert {one.option: one.outcomes for one in found}[NO] == {"fail": 1}
    turns = odds_at("fate", "conflict", inputs)
    assert 0 < by_option(turns)["attack"] < 1
    assert {one.option for one in turns if not one.outcomes} == {"full-defense", "pass"}


@pytest.mark.parametrize("after", [0, 1, 5])
def test_what_is_stopped_early_is_not_taken_for_what_is_fixed(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """However far it came: what an option is told to come to is what it comes to, and the rest is unknown."""
    pieces = count()

    def stop() -> None:
        STOP.is_asked = next(pieces) >= after

    monkeypatch.setattr(STOP, "is_asked", after == 0)
    monkeypatch.setattr(STOP, "watch", stop)
    inputs = {"sheet": "mara", "skill": "fight", "vs": "3"}
    found = odds_at("fate", "overcome", inputs, given={"roll": ["0+00"]})
    exact = {"wanted-in-three-ports": 1, NO: 0}
    assert len(found) > 2
    assert not all(one.is_known for one in found)
    assert all(one.success == exact[one.option] for one in found if one.estimate is None and one.option in exact)
    assert all(
        one.estimate and one.estimate.high - one.estimate.low == 1 for one in found if not one.games and one.estimate
    )


def test_without_time_nothing_is_known() -> None:
    inputs = {"sheet": "mara", "skill": "fight", "vs": "3"}
    found = odds_at("fate", "overcome", inputs, given={"roll": ["0+00"]}, exact_seconds=0, seconds=0)
    assert found
    assert not any(one.is_known or one.outcomes for one in found)


FIRST = [
    ("saga", "act", "play", {"ability": "strength=3", "vs": "challenging", "hand": "St6,Ag3,Do8"}),
    ("saga", "act", "play", {"ability": "agility=4", "vs": "daunting", "hand": "St1,Ag3,Ag7"}),
]


def test_new_dice_and_a_bonus_are_weighed_as_by_hand() -> None:
    inputs = {"sheet": "mara", "skill": "fight", "vs": "3"}
    found = by_option(odds_at("fate", "overcome", inputs, given={"roll": ["0+00"]}))
    again = sum(sum(faces) + 1 > 3 for faces in FATE) / len(FATE)
    assert found["wanted-in-three-ports:reroll"] == pytest.approx(again)
    assert found["wanted-in-three-ports"] == 1  # 4 against 3
    assert found[NO] == 0
    assert len({chance for name, chance in found.items() if name.endswith(":reroll")}) == 1  # whatever the point is for


def test_what_was_rolled_and_decided_before_stays() -> None:
    inputs = {"sheet": "mara", "skill": "fight", "vs": "4dF+3"}
    given = {"roll": ["0000", "----"], "opposition": ["0000"]}
    found = by_option(odds_at("fate", "overcome", inputs, at=2, answers=["wanted-in-three-ports:reroll"], given=given))
    again = sum(sum(faces) + 1 > 3 for faces in FATE) / len(FATE)  # against +3, which stays
    assert found["i-know-a-back-way:reroll"] == pytest.approx(again)
    assert found["i-know-a-back-way"] == found[NO] == 0


def test_nothing_is_open_once_the_outcome_is_fixed() -> None:
    assert odds_at("fate", "overcome", {"skill": "1", "vs": "3"}, given={"roll": ["----"]}) == []


@pytest.mark.parametrize(("ruleset", "action", "label", "inputs"), FIRST)
def test_the_first_decision_is_weighed_as_odds_of_the_action_weigh_it(
    ruleset: str, action: str, label: str, inputs: dict[str, Any]
) -> None:
    prepared = prepare(load_rules(find_ruleset(ruleset)), action, inputs)
    policies = {"": policy_of(prepared.rules)}
    found = odds_at(ruleset, action, inputs, policy=policies[""])
    assert len({one.success for one in found}) > 1
    for one in found:
        whole = outcome_odds(prepared, choose={label: [one.option]}, policies=policies)
        assert one.outcomes == pytest.approx({name: float(mass) for name, mass in whole.masses.items() if mass})
        assert one.estimate is None


def hidden_from_ilse(swap: bool) -> State:
    """Return a table of two with a card each, Brannagh's and one of the deck swapped or not."""
    rules = load_rules(find_ruleset("saga"))
    people = Map({name: Character(name=name, abilities=Map({"strength": 2})) for name in ("ilse", "brannagh")})
    state = lay_out(rules, State(characters=people))
    piles, deck = dict(state.piles), list(state.piles["deck"].cards)
    for name, cards in {"hand:ilse": ["Ag3", "Ag9"], "hand:brannagh": ["St9" if swap else "Do1"]}.items():
        found = [next(card for card in deck if card.startswith(short)) for short in cards]
        deck = [card for card in deck if card not in found]
        piles[name] = msgspec.structs.replace(piles[name], cards=tuple(found))
    piles["deck"] = msgspec.structs.replace(piles["deck"], cards=tuple(deck))
    return msgspec.structs.replace(state, piles=Map(piles))


def test_a_hand_that_is_not_seen_makes_no_difference() -> None:
    odds = [
        odds_at("saga", "act", {"ability": "agility=2", "vs": "average"}, state=hidden_from_ilse(swap), actor="ilse")
        for swap in (False, True)
    ]
    assert odds[0] == odds[1]
    assert by_option(odds[0])["Ag9"] == 1
    start = known_to(load_rules(find_ruleset("saga")), hidden_from_ilse(swap=True), "ilse", actor="ilse")
    inputs = {"ability": "agility=2", "vs": "average"}
    prepared = prepare(load_rules(find_ruleset("saga")), "act", inputs, **start.arguments)
    for one in odds[0]:
        whole = outcome_odds(prepared, choose={"play": [one.option]}, policies={"": never})
        assert one.outcomes == pytest.approx({name: float(mass) for name, mass in whole.masses.items() if mass})
        assert one.estimate is None


@pytest.mark.slow
def test_what_was_dealt_face_down_to_others_is_estimated() -> None:
    found = odds_at("faith", "confront", {"skill": "3", "attribute": "2"}, answers=["no"], exact_seconds=1)
    join = next(one for one in found if one.option == "join")
    assert join.estimate is not None
    assert join.estimate.low <= join.success <= join.estimate.high
    assert join.games == 40


def test_games_of_all_options_are_equally_many_until_their_intervals_are_narrow() -> None:
    inputs = {"sheet": "mara", "skill": "fight", "vs": "3"}
    rolled, wide = (
        {"roll": ["0+00"]},
        odds_at("fate", "overcome", inputs, given={"roll": ["0+00"]}, exact_seconds=0, games=9),
    )
    assert [one for one in wide if one.is_known and one.estimate] == []
    exact = by_option(odds_at("fate", "overcome", inputs, given=rolled))
    games = odds_at("fate", "overcome", inputs, given=rolled, exact_seconds=0, games=2000)
    assert {one.option for one in games} == set(exact)
    for one in games:
        assert one.estimate is not None
        assert one.estimate.high - one.estimate.low <= NARROW
        assert one.estimate.low <= exact[one.option] <= one.estimate.high
    assert len({one.games for one in games if ":reroll" in one.option}) == 1


def test_an_outcome_that_no_row_tells_of_is_a_success_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dice with names say themselves what they come to. 2d6 + 2 over 6: 30 of 36; thrown again while that is not so."""
    folder = tmp_path / "rulesets" / "ferry"
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text(
        """standalone = true
title = "Ferry"
summary = "Over black water."
version = "1"

[bands]
over = { title = "Over", success = true }
under = { title = "Under", success = false }

[actions.row]
summary = "Row on."
parameters = ["trait"]
required = ["trait"]
dice = { oars = "2d6" }
numbers = { total = "oars + trait" }
bands = { over = "total >= 7", under = "else" }
ask.push = { text = "Again?", when = "total < 7", options.push = { text = "Yes.", reroll = { oars = "face <= 6" } } }

[parameters]
trait = { kind = "ability", help = "the trait" }

[outcomes.row.under]
text = "The water has you."
""",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    record = as_json("odds", "ferry", "row", "--trait", "2", "--best")
    assert record["outcomes"]["over"]["exact"] == "35/36"  # 5/6 + 1/6 * 5/6
    assert {one["option"]: one["success"]["exact"] for one in record["choices"]} == {"no": "5/6", "push": "35/36"}
