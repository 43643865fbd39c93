"""NoDice: whole action sequences, played by policies, and what a seat learns of what others declare in them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres import effect
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.events import Turned, seen
from rpgres.engine.players import NO, Policy, Question, View, policy_of, uniform
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import play, run
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.table import Outcome
from rpgres.errors import UsageError
from rpgres.journal import commands
from rpgres.journal.commands import Place
from rpgres.journal.verifying import verify
from rpgres.model.state import Map, State, blank_character, freeze, put
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from rpgres.rulesets.sheets import read_sheet
from rpgres_nodice import declaring
from rpgres_nodice.effects import applied
from rpgres_nodice.points import holding_of, pools_of
from rpgres_nodice.timeline import timeline_of
from tests.support.nodice import all_points
from tests.systems.test_nodice import looks


@cache
def rules(**switches: str) -> Rules:
    return load_rules(find_ruleset("nodice"), switches=switches)


def seated(*names: str) -> State:
    state = State()
    for name in names:
        state = state.with_character(read_sheet(rules(), name).character)
    return state


def whole(*names: str, begun: bool = False, **inputs: Any) -> Prepared:
    state = seated(*names)
    if begun:
        state = msgspec.structs.replace(state, periods=("sequence",))
    return prepare(rules(), "sequence", inputs, state=state, actor=names[0])


def played(prepared: Prepared, policies: dict[str, Policy], *, seed: str = "1") -> tuple[Outcome, Run]:
    return play(prepared, dealer=SeededDealer(Streams(seed)), players=Seats(policies=policies))


@pytest.mark.slow
@pytest.mark.parametrize("names", [("orsa", "bram"), ("bram", "sister-ash"), ("sister-ash", "orsa", "bram")])
@pytest.mark.parametrize("seed", range(3))
def test_a_sequence_ends_whoever_decides_and_keeps_every_point(names: tuple[str, ...], seed: int) -> None:
    planner = policy_of(rules())
    for policies in ({"": planner}, {"": uniform}, {"": uniform, names[0]: planner}):
        prepared = whole(*names, begun=True, **{"last-phase": 8})
        outcome, done = played(prepared, policies, seed=str(seed))
        assert outcome.band in ("won", "lost", "draw", "undecided")
        for name in names:
            held = holding_of(done.state, name)
            assert all_points(held) == pools_of(done.state.characters[name])
        assert timeline_of(done.state).phase <= 8


def test_a_question_about_an_equal_table_is_made_once() -> None:
    state, foes = seated("orsa", "bram"), ("bram",)
    known = declaring.question(rules(), state, "orsa", foes=foes)
    assert declaring.question(rules(), msgspec.structs.replace(state), "orsa", foes=foes) is known
    tired = state.with_character(blank_character("bram"))
    assert declaring.question(rules(), tired, "orsa", foes=foes) is not known
    assert len(rules().compiled["nodice:questions"]) <= declaring.KEPT


def test_a_whole_sequence_begins_and_ends_with_full_pools() -> None:
    prepared = whole("orsa", "bram", **{"last-phase": 6})
    result, after = run(prepared, streams=Streams("1"), policies={"": policy_of(rules())})
    assert isinstance(result, Result)
    kinds = [effect["kind"] for effect in result.effects]
    assert (kinds[0], kinds[-1], kinds.count("refresh")) == ("refresh", "refresh", 2)
    assert after.characters["bram"].counters["harm"] > 0
    for name in ("orsa", "bram"):
        held = holding_of(after, name)
        assert not held.spent
        assert not held.stacks
    assert not timeline_of(after).tokens


@pytest.mark.parametrize("phase", [0, 3])
def test_a_sequence_in_which_nobody_does_anything_ends_at_the_phase_where_it_stands(phase: int) -> None:
    ready = whole("orsa", "bram", begun=True, **{"last-phase": 9})
    state = applied(ready.state, [effect("marker", phase=phase)])
    ready = prepare(rules(), "sequence", {"last-phase": 9}, state=state, actor="orsa")
    outcome, _ = played(ready, {"": _scripted(orsa="nothing", bram="nothing")})
    assert (outcome.band, outcome.details["phase"]) == ("undecided", phase)


def _scripted(**answers: str) -> Policy:
    """Return a policy that declares first as it is told, takes harm as the planner does, and lets all else pass."""

    def policy(view: View, question: Question) -> str:
        if question.label == "declare":
            return answers[question.who]
        return NO if question.optional else planner(view, question)

    planner = policy_of(rules())
    assert callable(planner)
    return policy


OTHER_PLANS = [
    ("attack/maul/head/str=4,agi=2", "punch/str=3,agi=1"),
    ("attack/maul/head/str=4,agi=2", "pause/2/wil"),
    ("dodge/agi=1+punch/str=2", "parry/maul/str=1+punch/str=3,agi=1"),
]


@pytest.mark.parametrize("plans", OTHER_PLANS)
def test_two_sequences_that_differ_in_what_lies_face_down_look_the_same_to_the_other_side(
    plans: tuple[str, str],
) -> None:
    """Events of turns among them, which carry the effects of what was declared."""
    heard: list[list[Any]] = []
    shown: list[list[Any]] = []
    for plan in plans:
        asked: list[Any] = []
        script = _scripted(orsa="pause/1/agi", bram=plan)

        def noting(view: View, question: Question, asked: list[Any] = asked, script: Policy = script) -> Any:
            if view.seat == "orsa":
                asked.append((view.state, list(view.events), msgspec.structs.replace(question, reads=None)))
            return script(view, question)

        _, done = played(whole("orsa", "bram", **{"last-phase": 1}), {"": noting})
        heard.append(asked)
        shown.append([known for event in done.events if (known := seen(event, "orsa")) is not None])
        own = [known for event in done.events if (known := seen(event, "bram")) is not None]
        assert any("plan" in effect for event in own if isinstance(event, Turned) for effect in event.effects)
    assert heard[0] == heard[1]
    assert len(heard[0]) == 3, "orsa is asked for stacks, before phase 1 and before phase 2"
    assert shown[0] == shown[1]


def test_all_are_asked_again_when_something_changes_and_no_more_than_three_times() -> None:
    asked: list[str] = []

    def restless(view: View, question: Question) -> str:
        asked.append(f"{question.who} {question.label} {timeline_of(view.state).phase}")
        if question.label == "declare":
            return "punch/str=2" if question.who == "orsa" else "nothing"
        if question.label == "change" and question.who == "orsa":
            live = timeline_of(view.state).live("orsa")
            return f"abort/{live[0].name}+punch/str=2" if live else NO
        return NO if question.optional else planner(view, question)

    planner = policy_of(rules())

    _, done = played(whole("orsa", "bram", begun=True, **{"last-phase": 2}), {"": restless})
    first = [one for one in asked if one.endswith("change 0")]
    assert first == ["orsa change 0", "bram change 0"] * 3
    assert [token.state for token in timeline_of(done.state).tokens] == ["aborted"] * 3 + ["resolved"]


def test_who_is_out_is_asked_no_more_and_who_is_not_in_it_never() -> None:
    asked: set[tuple[int, str]] = set()

    def noting(view: View, question: Question) -> str:
        asked.add((timeline_of(view.state).phase, question.who))
        return planner(view, question)

    planner = policy_of(rules())
    state = seated("orsa", "bram", "sister-ash")
    nearly = state.characters["sister-ash"].counters.with_("harm", 6)
    state = put(state, ("characters", "sister-ash", "counters"), nearly)
    inputs = {"against": ["sister-ash"], "last-phase": 20}
    outcome, _ = played(prepare(rules(), "sequence", inputs, state=state, actor="orsa"), {"": noting})
    assert outcome.band == "won"
    assert {who for _, who in asked} == {"orsa", "sister-ash"}
    again = put(state, ("characters", "sister-ash", "is_out"), True)
    with pytest.raises(UsageError, match="sister-ash is out"):
        played(prepare(rules(), "sequence", inputs, state=again, actor="orsa"), {"": planner})


def test_a_decision_of_a_later_turn_is_resumed() -> None:
    prepared = whole("orsa", "bram", **{"last-phase": 5})
    choose = {"declare": ["punch/str=1", "punch/str=2"], "change": ["no", "no"]}
    waits, _ = run(prepared, streams=Streams("1"), choose=choose)
    assert isinstance(waits, Pending)
    assert (waits.question.label, waits.question.who) == ("loss", "orsa"), "bram's hides keep off the first blow"
    result, _ = run(prepared, streams=Streams("1"), choose={**choose, "loss": ["fit=2"]})
    assert isinstance(result, Result)
    assert result.outcome == "undecided"


@pytest.mark.slow
def test_odds_of_a_sequence_follow_who_decides() -> None:
    """Nothing is left to chance: with policies it goes one way, that of play."""
    prepared = whole("orsa", "bram")
    outcome, _ = played(prepared, {"": policy_of(rules())})
    odds = outcome_odds(prepared, policies={"": policy_of(rules())}, seconds=60)
    assert odds.masses == {outcome.band: 1}


def test_bids_that_vary_have_the_odds_that_are_counted_by_hand() -> None:
    """Each bids strength 4 twice as often as 3, which is a phase sooner and does not quite take the other out.

    Both 4: both fall on phase 4. Both 3: neither does, and neither can strike again by then. Else the sooner blow stops
    the later one, and there is time for a second.
    """
    knife = {"weapon": True, "damage": 2, "reach": 0, "guard": 0, "armour": 0, "shield": False}
    state = State()
    for name in ("ada", "bo"):
        abilities, records = Map({"str": 4, "agi": 0, "fit": 2}), freeze({"gear": {"knife": knife}})
        state = state.with_character(
            msgspec.structs.replace(blank_character(name), abilities=abilities, records=records)
        )
    prepared = prepare(rules(), "sequence", {"against": ["bo"], "last-phase": 4}, state=state, actor="ada")
    odds = outcome_odds(prepared, policies={"": policy_of(rules(), "feinter")}, seconds=60)
    assert odds.masses == {
        "won": Fraction(2, 9),
        "lost": Fraction(2, 9),
        "draw": Fraction(4, 9),
        "undecided": Fraction(1, 9),
    }


# -- at a table that lasts


def at_a_table(path: Path, plan: str) -> tuple[Place, list[str]]:
    """Play the first phase of a sequence at a table, and return what the others read of it after each answer."""
    place, found = Place(path), list[str]()
    commands.begin_table(place, ruleset="nodice", sheets=["orsa", "bram", "sister-ash"], seed="1")
    for seat in ("orsa", "bram", "gm"):
        commands.let_pass(place, "change", seat=seat, until="sequence")
    done = commands.act(place, "sequence", {"last-phase": 2}, actor="orsa", seat="gm")
    for seat, answer in (("bram", plan), ("gm", "pause/1/wil"), ("orsa", "pause/2/int")):
        found += [looks(done, other) for other in ("orsa", "gm")]
        done = commands.answer(place, seat=seat, choose={"declare": [answer]})
    found += [looks(done, other) for other in ("orsa", "gm")]
    return place, found


@pytest.mark.parametrize("plans", [("attack:orsa/maul/head/str=5", "punch:sister-ash/str=5,agi=0")])
def test_a_whole_sequence_at_a_table_tells_others_nothing_of_what_lies_face_down(
    tmp_path: Path, plans: tuple[str, str]
) -> None:
    tables = [at_a_table(tmp_path / f"{number}.db", plan) for number, plan in enumerate(plans)]
    assert tables[0][1] == tables[1][1]
    for place, found in tables:
        assert "bram#1" in found[-1]
        assert verify(place.path).problems == []
