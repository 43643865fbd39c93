"""What a person may type at a question beside an answer: odds, why, pass and undo; in one action and at a table."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from rpgres.cli.asking.prompt import Person
from rpgres.dice.seeds import Streams
from rpgres.engine.players import NO, Question
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import run
from rpgres.engine.stops import TakenBack
from rpgres.journal import commands as sitting
from rpgres.journal.commands import Place
from rpgres.odds.decision import UNKNOWN, OptionOdds, decision_odds
from rpgres.odds.sampling import estimate
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.render.lines import plain_text
from rpgres.render.questions import STOPPED, odds_lines
from rpgres.render.why import why_lines
from rpgres.rulesets import Option
from rpgres.scenes import play_scene, read_scene
from rpgres.toml.reading import Source
from tests.support.journals import begun

FIGHT = {"sheet": "mara", "skill": "fight", "vs": "3"}
GIVEN = {"roll": ["0+00"]}


def fight() -> Prepared:
    return prepare(load_rules(find_ruleset("fate")), "overcome", FIGHT)


def person(*typed: str, prepared: Prepared | None = None, is_kept: bool = False) -> Person:
    """Return somebody who types these lines."""
    lines = iter(typed)

    def read(_sign: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    return Person(is_kept=is_kept, aid=(lambda _view: prepared) if prepared else None, read=read)


def played(somebody: Person, prepared: Prepared) -> Result | Pending:
    while True:
        try:
            return run(prepared, streams=Streams("7"), given=GIVEN, prompt=somebody.ask)[0]
        except TakenBack:
            if not somebody.rewind():
                raise


def test_odds_are_told_and_the_question_stands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(decision_odds.__kwdefaults__, "exact_seconds", 600.0)  # exact on a busy machine, too
    prepared = fight()
    found = played(person("odds", "1", "", prepared=prepared), prepared)
    assert isinstance(found, Result)
    assert found.margin == 1
    told = capsys.readouterr().out
    assert (
        "  1 to 5 100 %  r1 to r5 88.78 %  Enter 0 %\n  chance that mara's overcome succeeds, exact, if the policy"
        in told
    )
    assert told.count("margin -1: Invoke an aspect?") == 2


def test_a_question_tells_what_the_turn_before_it_has_changed(capsys: pytest.CaptureFixture[str]) -> None:
    fighting = prepare(load_rules(find_ruleset("fate")), "conflict", {"sheet": "mara", "against": ["bruiser"]})
    lines = iter(["attack", "", ""])  # concede, invoke

    def read(_sign: str) -> str:
        return next(lines, "concede")

    somebody = Person(file=lambda: fighting.rules.file, read=read)
    given = {"roll": ["----"], "opposition": ["++++"]}
    run(fighting, streams=Streams("7"), given=given, prompt=somebody.ask)
    told = capsys.readouterr().out
    assert "The attack does no harm.\n  * a boost for bruiser: Boost of Bruiser\n" in told


@pytest.mark.slow
def test_odds_in_a_turn_tell_whose_success_they_are_and_at_what(capsys: pytest.CaptureFixture[str]) -> None:
    fighting = prepare(load_rules(find_ruleset("fate")), "conflict", {"sheet": "mara", "against": ["bruiser"]})
    lines = iter(["odds", "attack", "odds"])  # at the turn; at the other's question

    def read(_sign: str) -> str:
        return next(lines, "concede")

    somebody = Person(aid=lambda _view: fighting, read=read)
    run(fighting, streams=Streams("7"), prompt=somebody.ask)
    told = " ".join(capsys.readouterr().out.split())
    assert "chance that what mara does in this turn succeeds, " in told
    assert "chance that mara's attack in this turn succeeds, " in told


def test_odds_that_are_not_to_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    prepared = fight()
    played(person("odds", "why", "1", ""), prepared)
    assert capsys.readouterr().out.count("that is not known here") == 2


def test_why_names_the_row_its_file_and_its_source() -> None:
    rules = load_rules(find_ruleset("fate"))
    price = Question("price", "mara", (), "Fail, or succeed at a serious cost?", facts={"margin": -4})
    told = plain_text(why_lines(rules, "overcome", price))
    assert told.startswith("  overcome, fail: You fall short.\n")
    assert "outcomes/overcome.toml, line 7; Fate Core" in told
    assert "cost: You get it, and it costs you dearly. (the goal is reached; a serious cost" in told
    invoke = plain_text(why_lines(rules, "overcome", Question("invoke", "mara", ())))
    assert "invoke_order = alternate" in invoke
    assert "aspects/ruleset.toml, line " in invoke


@pytest.mark.parametrize("ruleset", ["fate", "coppermane", "saga", "faith", "nodice", "percentile-levels"])
def test_why_has_something_to_say_of_every_question(ruleset: str) -> None:
    rules = load_rules(find_ruleset(ruleset))
    for action in rules.file.actions:
        for label, text in rules.file.labels.items():
            if text.kind == "decision":
                assert label in plain_text(why_lines(rules, action, Question(label, "mara", ())))


def test_undo_takes_back_the_last_answer_and_the_dice_stay() -> None:
    prepared = fight()
    found = played(person("r1", "undo", "1", "", prepared=prepared), prepared)
    assert isinstance(found, Result)
    assert [answer.value for answer in found.answers] == ["0+00", "i-know-a-back-way", NO]


def test_undo_at_the_first_question_takes_back_the_action() -> None:
    with pytest.raises(TakenBack):
        played(person("undo"), fight())


def test_undo_twice_comes_back_to_the_first_question(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TakenBack):
        played(person("r1", "1", "undo", "undo", "undo"), fight())
    assert capsys.readouterr().out.count("margin -1: Invoke") == 2


@pytest.mark.parametrize("typed", ["pass always", "pass", "pass invoke --until always", "pass all", "pass action"])
def test_moments_pass_from_now_on(typed: str) -> None:
    prepared = prepare(load_rules(find_ruleset("fate")), "overcome", FIGHT)
    found = played(person("r1", typed, prepared=prepared), prepared)
    assert [answer.value for answer in found.answers if answer.label == "invoke"][1:] == [NO]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("pass scene", "without a table there is no 'scene'"),
        ("pass always scene", "type `pass`, `pass always`"),
    ],
)
def test_passes_that_mean_nothing(typed: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    played(person(typed, "1", ""), fight())
    assert told in capsys.readouterr().out


def test_a_decision_that_has_to_be_made_does_not_pass(capsys: pytest.CaptureFixture[str]) -> None:
    prepared = prepare(load_rules(find_ruleset("fate")), "overcome", {"skill": "1", "vs": "3"})
    somebody = person("pass always", "fail")
    assert isinstance(run(prepared, streams=Streams("7"), given={"roll": ["----"]}, prompt=somebody.ask)[0], Result)
    assert "this decision has to be made" in capsys.readouterr().out


# ---------------------------------------------------------------------------------------------------------------------
# At a table, where every answer is an entry


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return begun(tmp_path / "table.db")


def acted(place: Place, *typed: str) -> list[str]:
    """Act with somebody who types these lines; return what is then in the journal."""
    somebody = person(*typed, is_kept=True)
    done = sitting.act(
        place, "overcome", {"skill": "fight", "vs": ["3"]}, actor="mara", given={"roll": ["0+00"]}, prompt=somebody.ask
    )
    assert done.history.entries[-1] == done.entry
    return [entry.kind for entry in done.history.entries[2:]]


def test_undo_at_a_table_takes_back_answers_one_by_one_then_the_action(place: Place) -> None:
    assert acted(place, "r1", "undo", "1", "undo", "undo") == ["act", "answer", "undo", "answer", "undo", "undo"]


def test_a_pass_at_a_table_is_kept_and_ends_the_asking(place: Place) -> None:
    assert acted(place, "1", "pass scene") == ["act", "answer", "pass", "answer"]
    assert acted(place)[4:] == ["act"]  # nobody is asked before the price


def test_the_host_passes_for_all_seats_or_for_the_one_that_is_asked(place: Place) -> None:
    done = sitting.let_pass(place, "invoke", seat=None, until="always")
    assert [entry.secret.by for entry in done.entries] == ["gm", "mara", "edda"]
    assert acted(place, "fail")[-2:] == ["act", "answer"]  # of the price; nobody was asked to invoke


def test_the_host_passes_for_the_seat_that_is_asked_now(place: Place) -> None:
    sitting.act(place, "overcome", {"skill": "fight", "vs": ["3"]}, actor="mara", given={"roll": ["0+00"]})
    done = sitting.let_pass(place, seat=None)
    assert [(entry.kind, entry.secret.by) for entry in done.entries] == [("pass", "mara"), ("answer", "mara")]


SCENE = """
ruleset = "fate"
[characters.mara]
skills = { will = 1 }
[[steps]]
action = "overcome"
actor = "mara"
with = { skill = "will", vs = 3 }
given = { roll = "----" }
"""


def test_undo_in_a_scene_takes_back_what_was_answered_in_the_step(capsys: pytest.CaptureFixture[str]) -> None:
    scene = read_scene(Source("a.toml", SCENE), find_ruleset=find_ruleset)
    lines = iter(["undo", "cost", "undo", "fail"])
    somebody = Person(may_withdraw=False, read=lambda _sign: next(lines))
    played = list(play_scene(scene, seed="7", prompt=somebody.ask, rewinds=somebody.rewind))
    found = played[0].result
    assert isinstance(found, Result)
    assert [answer.value for answer in found.answers] == ["----", "fail"]
    assert "nothing was decided in this step so far" in capsys.readouterr().out


# ---------------------------------------------------------------------------------------------------------------------
# How odds are told

CARDS = Question("play", "ilse", (Option("Ag4"), Option("In1"), Option("St6")))


def told(question: Question, *found: OptionOdds) -> str:
    file = load_rules(find_ruleset("fate")).file
    return plain_text(odds_lines(question, found, file, policy="sensible")).splitlines()[0]


def of(option: str, success: float, **outcomes: float) -> OptionOdds:
    return OptionOdds(option, outcomes or {"succeed": success, "fail": 1 - success}, success)


def test_cards_are_told_by_name_and_alike_ones_together() -> None:
    assert told(CARDS, of("Ag4", 0.96), of("In1", 0.8), of("St6", 0.8)) == "  Ag4 96 %  In1, St6 80 %"


def test_outcomes_are_told_where_success_is_the_same() -> None:
    one, other = of("Ag4", 1.0, succeed=1.0), of("In1", 1.0, succeed=0.25, style=0.75)
    assert told(CARDS, one, other) == "  Ag4 100 % (Succeed 100 %)  In1 100 % (Succeed 25 %, Succeed with style 75 %)"


def test_a_fixed_outcome_is_told() -> None:
    assert told(CARDS) == "  The outcome is fixed by now; this decides the rest."


def test_nothing_is_concluded_from_what_is_lacking() -> None:
    file = load_rules(find_ruleset("fate")).file
    sure, unknown = of("Ag4", 1.0, succeed=1.0), OptionOdds("In1", {}, 0.0, UNKNOWN)
    games = msgspec.structs.replace(of("In1", 1.0, succeed=1.0), estimate=estimate(90, 90), games=90)
    assert told(CARDS, sure, games) == "  Ag4 100 % (Succeed 100 %)  In1 about 100 % (95 to 100 %)"
    assert told(CARDS, sure, unknown).endswith("  In1 unclear")
    shown = [
        plain_text(odds_lines(CARDS, found, file, policy="sensible", is_interrupted=True)).splitlines()
        for found in ([], [sure, unknown], [sure, games])
    ]
    assert shown[0] == ["  interrupted: nothing is known yet"]
    assert [lines[-1] for lines in shown[1:]] == [
        "  " + STOPPED.format(0),
        "  interrupted: the estimates are from the games so far",
    ]


def test_a_number_that_is_hardly_known_is_not_shown() -> None:
    close = msgspec.structs.replace(of("Ag4", 0.5), estimate=estimate(100, 200), games=200)
    rough = msgspec.structs.replace(of("In1", 0.4), estimate=estimate(4, 10), games=10)
    assert told(CARDS, close, rough) == "  Ag4 about 50 % (43 to 57 %)  In1 unclear"
    assert told(CARDS, rough) == "  In1 unclear"
