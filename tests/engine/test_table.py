"""A rule at the table: answers by script, policy, prompt or nobody; given results; the contract a rule must keep."""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from rpgres.cli.shell import resumed
from rpgres.dice import dice
from rpgres.dice.seeds import Streams
from rpgres.engine.players import preferred, uniform
from rpgres.engine.prepare import prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import run
from rpgres.engine.stops import MAX_QUESTIONS
from rpgres.engine.table import Outcome, Table
from rpgres.errors import ChoiceError, FileError, GivenError, RuleError, UsageError
from rpgres.model.events import TextEvent
from rpgres.model.state import GM, Character, Map, State, Tag, put
from rpgres.rulesets import Option, effect
from tests.support.tiny import TINY, tiny_action, tiny_rules, tiny_ruleset


def play(prepared: Any, *, seed: str = "7", **answers: Any) -> Result:
    result, _ = run(prepared, streams=Streams(seed), **answers)
    assert isinstance(result, Result)
    return result


def test_the_same_seed_gives_the_same_result_and_another_gives_others() -> None:
    prepared = tiny_action(vs=7)
    totals = [play(prepared, seed=str(n), policies={"": preferred}).total for n in range(60)]
    assert totals == [play(prepared, seed=str(n), policies={"": preferred}).total for n in range(60)]
    assert len(set(totals)) > 5


def test_given_results_are_used_in_order_and_the_rest_is_rolled() -> None:
    result = play(tiny_action(vs="2d6"), given={"roll": ["6,6"]}, choose={"price": ["time"]})
    assert [answer.value for answer in result.answers][:1] == ["6,6"]
    again = play(tiny_action(vs="2d6"), given={"opposition": ["1,1"]}, choose={"price": ["time"]})
    other = play(tiny_action(vs="2d6"), choose={"price": ["time"]})
    assert again.answers[0] == other.answers[0]  # the die that was not given stays as it was


@pytest.mark.parametrize("impossible", ["7,1", "6", "6,6,6", "x", "", "0,3"])
def test_an_impossible_result_is_refused_with_what_was_expected(impossible: str) -> None:
    with pytest.raises(GivenError, match=r"2d6|two|2 "):
        play(tiny_action(vs=3), given={"roll": [impossible]})


def test_a_given_result_that_is_never_asked_for_is_an_error() -> None:
    with pytest.raises(UsageError, match="was not used"):
        play(tiny_action(vs=3), given={"roll": ["6,6", "1,1"]})
    with pytest.raises(UsageError, match="was not used"):
        play(tiny_action(vs="none"), given={"roll": ["6,6"]})


def test_an_unknown_label_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'roll'"):
        play(tiny_action(vs=3), given={"rol": ["6,6"]})
    with pytest.raises(UsageError, match="did you mean 'price'"):
        play(tiny_action(vs=3), choose={"prise": ["time"]})


def test_chance_and_decisions_are_not_mixed_up() -> None:
    with pytest.raises(UsageError, match="with `choose`"):
        play(tiny_action(vs=3), given={"price": ["time"]})
    with pytest.raises(UsageError, match="with `given`"):
        play(tiny_action(vs=3), choose={"roll": ["6,6"]})


def test_an_unused_choice_is_listed_and_no_error() -> None:
    result = play(tiny_action(vs=3), given={"roll": ["6,6"]}, choose={"price": ["time"]})
    assert [(one.label, one.value) for one in result.unused] == [("price", "time")]


def test_a_choice_that_is_not_offered_is_refused_with_the_options() -> None:
    with pytest.raises(ChoiceError, match=r"luck, time.*did you mean 'time'"):
        play(tiny_action(vs=12), given={"roll": ["1,1"]}, choose={"price": ["tim"]})


def test_a_decision_nobody_takes_is_pending_and_the_state_stays() -> None:
    prepared = tiny_action(vs=12)
    pending, state = run(prepared, streams=Streams("7"), given={"roll": ["1,2"]})
    assert isinstance(pending, Pending)
    assert state is prepared.state
    assert pending.question.label == "price"
    assert pending.question.who == "actor"
    assert [option.name for option in pending.question.options] == ["luck", "time"]
    assert pending.question.facts == {"margin": -9}
    assert pending.resume == ""
    resume = resumed(pending, prepared.rules).resume
    assert "--given roll=1,2" in resume
    assert "--choose price=luck" in resume


def test_an_optional_moment_nobody_uses_passes() -> None:
    result = play(tiny_action(vs=2, push=True), given={"roll": ["6,6"]})
    assert result.outcome == "hit"
    assert ("push", "no") in [(answer.label, answer.value) for answer in result.answers]


def test_repeated_answers_of_a_label_are_taken_in_order() -> None:
    answers = {"given": {"roll": ["1,1"], "push-die": ["6", "5"]}, "choose": {"push": ["on", "on", "no"]}}
    result = play(tiny_action(vs=2, push=True), **answers)
    assert result.total == 2 + 3 + 2


def test_a_prompt_is_asked_last_and_a_policy_before_it() -> None:
    asked: list[str] = []

    def prompt(view: Any, question: Any) -> str:
        asked.append(f"{view.seat}:{question.label}")
        return "luck"

    prepared = tiny_action(vs=12)
    by_prompt = play(prepared, given={"roll": ["1,1"]}, prompt=prompt)
    by_policy = play(prepared, given={"roll": ["1,1"]}, prompt=prompt, policies={"actor": preferred})
    by_script = play(prepared, given={"roll": ["1,1"]}, prompt=prompt, choose={"price": ["time"]})
    assert asked == ["actor:price"]
    assert [r.effects[0]["kind"] for r in (by_prompt, by_policy, by_script)] == ["luck", "tick", "tick"]


def test_a_policy_may_answer_with_weights_drawn_from_a_stream_of_their_own() -> None:
    prepared = tiny_action(vs=12)
    kinds = [
        play(prepared, seed=str(n), given={"roll": ["1,1"]}, policies={"": uniform}).effects[0]["kind"]
        for n in range(200)
    ]
    assert 60 < kinds.count("tick") < 140


def test_effects_are_filled_with_the_margin_and_applied() -> None:
    result, state = run(tiny_action(vs=5), streams=Streams("7"), given={"roll": ["6,6"]})
    assert result.effects == [{"kind": "tick", "segments": 6}]
    assert state.counters["clock"] == 6


def test_a_switch_changes_the_effect() -> None:
    for value, effects in (("no", []), ("yes", [{"kind": "tick", "segments": 1}])):
        result = play(tiny_action(tiny_rules(grit=value), vs=7), given={"roll": ["3,4"]})
        assert result.effects == effects
        assert result.success is None


def test_nothing_opposed_means_no_roll() -> None:
    result = play(tiny_action(vs="none"))
    assert (result.outcome, result.margin, result.answers) == ("hit", None, [])


@pytest.mark.slow
def test_a_result_replays_from_its_own_answers() -> None:
    for seed in range(30):
        first = play(tiny_action(vs="2d6", push=False), seed=str(seed), policies={"": uniform})
        given: dict[str, list[str]] = {}
        choose: dict[str, list[str]] = {}
        for answer in first.answers:
            (given if answer.kind == "chance" else choose).setdefault(answer.label, []).append(answer.value)
        again = play(tiny_action(vs="2d6", push=False), seed="other", given=given, choose=choose)
        assert again.effects == first.effects
        assert again.answers == first.answers


# -- two people who are asked under one label


def two_people(*first: str) -> Any:
    """Return an action in which the actor has the first options, and the opponent is asked twice."""

    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        told = [table.ask("push", actor.name, [Option(name) for name in first])]
        told += [
            table.ask("push", "opponent", [Option(name) for name in options])
            for options in (("go", "stay"), ("go", "stay", "run"))
        ]
        table.tell(" ".join(told))
        return table.settle("try", 1)

    ruleset = tiny_ruleset()
    ruleset.actions["try"] = rule
    return prepare(tiny_rules(ruleset=ruleset), "try", {"vs": 7})


def told_of(result: Result) -> str:
    return next(event.text for event in result.events if isinstance(event, TextEvent))


@pytest.mark.parametrize(
    ("first", "choose", "told"),
    [
        (["go"], {"push": ["stay", "run"]}, "go stay run"),
        (["go"], {"push": ["go", "stay", "run"]}, "go stay run"),
        (["go"], {"push": ["GO", "go", "go"]}, "go go go"),
        (["leap"], {"push": ["leap", "stay", "go"]}, "leap stay go"),
        (["go", "leap"], {"push": ["go", "stay", "run"]}, "go stay run"),
        (["go"], {"opponent:push": ["go", "run"]}, "go go run"),
        (["go", "leap"], {"opponent:push": ["go"], "push": ["leap", "run"]}, "leap go run"),
        (["go", "leap"], {"opponent:push": ["stay", "stay"], "actor:push": ["leap"]}, "leap stay stay"),
        (["leap"], {"actor:push": ["leap"], "push": ["stay", "go"]}, "leap stay go"),
    ],
)
def test_an_only_option_may_be_named_and_an_answer_may_say_whose_it_is(
    first: list[str], choose: dict[str, list[str]], told: str
) -> None:
    result = play(two_people(*first), choose=choose)
    assert told_of(result) == told
    assert result.unused == []


def test_what_is_left_over_and_who_is_unknown_is_said() -> None:
    prepared = two_people("go", "leap")
    result = play(prepared, choose={"opponent:push": ["go", "go", "run"], "push": ["leap"]})
    assert [(answer.key, answer.value) for answer in result.unused] == [("opponent:push", "run")]
    with pytest.raises(UsageError, match="no character 'oponent'; did you mean 'opponent'"):
        run(prepared, streams=Streams("7"), choose={"oponent:push": ["go"]})
    with pytest.raises(UsageError, match="did you mean 'push'"):
        run(prepared, streams=Streams("7"), choose={"opponent:psh": ["go"]})
    with pytest.raises(ChoiceError, match="push=fly is not offered here; actor may choose: leap"):
        run(two_people("leap"), streams=Streams("7"), choose={"actor:push": ["fly"], "push": ["go", "go"]})


@pytest.mark.parametrize("first", [["go"], ["go", "leap"]])
@pytest.mark.parametrize("second", ["go", "stay"])
@pytest.mark.parametrize("typed", [[], ["go"], ["go", "go"]])
def test_what_waits_goes_on_with_the_answers_so_far_and_no_others(
    first: list[str], second: str, typed: list[str]
) -> None:
    """Repeated answers are not taken for an only option; what was typed for later is not lost."""
    prepared = two_people(*first)
    pending, _ = run(prepared, streams=Streams("7"), choose={"push": typed} if typed else {})
    asked = 0
    while isinstance(pending, Pending):
        asked += 1
        assert asked < 4
        choose: dict[str, list[str]] = {}
        for answer in pending.answers:
            choose.setdefault(answer.key, []).append(answer.value)
        choose.setdefault(pending.question.typed, []).append(second if pending.question.who == "opponent" else "go")
        for answer in pending.unused:
            choose.setdefault(answer.key, []).append(answer.value)
        pending, _ = run(prepared, streams=Streams("7"), choose=choose)
    is_named = len(first) > 1 or len(typed) > 1  # a single answer is not spent on what is no question
    answers = [*(typed[1:] if is_named else typed), second, second]
    assert told_of(pending) == " ".join(["go", *answers[:2]])


# -- what a rule must not do


def broken(rule: Any) -> Any:
    ruleset = tiny_ruleset()
    ruleset.actions["try"] = rule
    return prepare(tiny_rules(ruleset=ruleset), "try", {"vs": 7})


def test_a_rule_that_raises_is_named() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        raise KeyError("oops")

    with pytest.raises(RuleError, match="the rule tiny try failed: KeyError: 'oops'") as caught:
        play(broken(rule))
    line = rule.__code__.co_firstlineno + 1
    assert caught.value.details == {"file": __file__, "line": line}
    assert caught.value.message.endswith(f" ({__file__}, line {line})")


def test_the_place_of_a_fault_is_in_the_rule_and_not_in_the_standard_library() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        return dataclasses.replace(Outcome("hit"), details={})  # no dataclass

    with pytest.raises(RuleError, match=r"TypeError: .*test_table\.py, line \d+\)"):
        play(broken(rule))


def test_a_policy_that_chooses_what_is_not_offered_is_a_fault_of_the_ruleset() -> None:
    with pytest.raises(RuleError, match="a policy of the ruleset chose what it cannot: price=nonsense is not offered"):
        play(tiny_action(vs=12), given={"roll": ["1,1"]}, policies={"": lambda _view, _question: "nonsense"})


def test_a_rule_that_asks_for_ever_is_stopped() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        while True:
            table.roll(dice("d6"))

    with pytest.raises(RuleError, match=f"{MAX_QUESTIONS:,}"):
        play(broken(rule))


def test_a_rule_that_swallows_exceptions_cannot_swallow_a_missing_answer() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        with contextlib.suppress(Exception):
            table.ask("price", GM, (Option("a"), Option("b")))
        return Outcome("hit")

    found, _ = run(broken(rule), streams=Streams("7"))
    assert isinstance(found, Pending)


def test_a_label_that_the_action_does_not_declare_is_refused() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        table.roll(dice("d6"), "secret")
        return Outcome("hit")

    with pytest.raises(RuleError, match="'secret'"):
        play(broken(rule))


def test_an_outcome_has_a_band_of_the_ruleset() -> None:
    for wrong in (None, "hit", Outcome("hitt")):
        with pytest.raises(RuleError, match="not an outcome"):
            play(broken(lambda table, actor, found=wrong, **_: found))


def test_a_rule_cannot_swallow_a_refused_answer() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        with contextlib.suppress(Exception):
            table.ask("price", GM, (Option("a"), Option("b")))
        return Outcome("hit")

    with pytest.raises(ChoiceError, match="price=c"):
        play(broken(rule), choose={"price": ["c"]})


def test_a_script_cannot_answer_what_nobody_can_do() -> None:
    def rule(table: Table, actor: Any, *, vs: Any, **_: Any) -> Outcome:
        table.ask("push", "ada", (), optional=True, text="no luck left")
        if vs.value == 8:
            table.ask("price", "actor", (Option("a"), Option("b")))
        return Outcome("hit")

    ruleset = tiny_ruleset()
    ruleset.actions["try"] = rule
    for difficulty in (7, 8):  # when the run ends, and while it waits
        prepared = prepare(tiny_rules(ruleset=ruleset), "try", {"vs": difficulty})
        run(prepared, streams=Streams("7"), choose={"push": ["no"]})
        with pytest.raises(ChoiceError, match=r"no options \(no luck left\)"):
            run(prepared, streams=Streams("7"), choose={"push": ["on"]})


def test_the_only_option_can_be_said_and_nothing_else() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        table.ask("price", GM, (Option("only"),))
        return Outcome("hit")

    assert play(broken(rule), choose={"price": ["only"]}).unused == []
    with pytest.raises(ChoiceError, match="only"):
        play(broken(rule), choose={"price": ["other"]})


def test_what_was_no_question_takes_no_answer_from_the_next() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        table.ask("price", GM, (Option("only"),))
        chosen = table.ask("price", GM, (Option("only"), Option("other")))
        return Outcome("hit" if chosen == "other" else "miss")

    for answer, band in (("other", "hit"), ("only", "miss")):
        result = play(broken(rule), choose={"price": [answer]})
        assert result.outcome == band
        again = {"price": [one.value for one in result.answers]}
        assert play(broken(rule), choose=again) == result


def test_an_option_is_also_known_by_its_words() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        assert table.ask("price", GM, (Option("on-fire"), Option("in-flight"))) == "on-fire"
        return Outcome("hit")

    assert play(broken(rule), choose={"price": ["On Fire!"]}).answers[0].value == "on-fire"


def test_what_is_let_pass_is_its_owners_alone() -> None:
    heard: dict[str, int] = {}

    def policy(view: Any, question: Any) -> str:
        heard[question.who] = len(view.events)
        return "no" if question.optional else question.options[0].name

    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        table.roll(dice("d6"))
        table.tell("psst", audience=(GM,))
        table.ask("push", GM, (Option("on"),), optional=True)
        table.ask("price", "actor", (Option("a"), Option("b")))
        table.ask("price", GM, (Option("a"), Option("b")))
        return Outcome("hit")

    result = play(broken(rule), policies={"": policy})
    assert heard == {"actor": 1, GM: 4}
    assert [event.audience for event in result.events] == [None, [GM], [GM], None, None]


def test_one_option_is_no_question() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        assert table.ask("price", GM, (Option("only"),)) == "only"
        return Outcome("hit")

    assert play(broken(rule)).answers == []


def test_a_misspelt_outcome_table_is_told_with_the_line_that_settles_it() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        return table.settle("tyr", 0)

    with pytest.raises(FileError, match="no outcome table 'tyr'; it has: try") as caught:
        play(broken(rule))
    line = rule.__code__.co_firstlineno + 1
    assert (caught.value.details["file"], caught.value.details["line"]) == (__file__, line)
    assert caught.value.message.endswith(f" ({__file__}, line {line})")


def test_an_unregistered_effect_is_told_the_nearest() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        return table.settle("try", 9).plus([effect("lukc", to="actor", change=1)])

    with pytest.raises(RuleError, match=r"'lukc', for which no function is registered \(.* is 'luck'\)"):
        play(broken(rule))


def test_an_unregistered_effect_is_an_error() -> None:
    text = TINY.replace('kind = "luck"', 'kind = "fortune"')
    with pytest.raises(RuleError, match="'fortune'"):
        play(tiny_action(tiny_rules(text), vs=12), given={"roll": ["1,1"]}, choose={"price": ["luck"]})


def test_an_effect_that_leaves_what_cannot_be_kept_is_an_error() -> None:
    def leave(thing: Any) -> Result:
        ruleset = tiny_ruleset()
        ruleset.effects["tick"] = lambda state, effect: put(state, ("things", "zones"), thing)
        return play(tiny_action(tiny_rules(ruleset=ruleset), vs=5), given={"roll": ["6,6"]})

    with pytest.raises(
        RuleError, match=r"the effect tick of .*tiny.* things\.zones\.yard is the list \['ann'\]; what lies"
    ):
        leave(Map({"yard": ["ann"]}))
    assert leave(Map({"yard": ("ann",)})).outcome == "hit"


@pytest.mark.parametrize(
    ("left", "told"),
    [
        (
            lambda state: msgspec.structs.replace(state, characters=Map({"ann": Character("bob")})),
            "characters.ann has another name",
        ),
        (lambda state: msgspec.structs.replace(state, tags=(Tag("A b", "x"), Tag("a-B", "y"))), "tags are called a-b"),
    ],
)
def test_an_effect_that_leaves_something_under_another_name_is_an_error(
    left: Callable[[State], State], told: str
) -> None:
    ruleset = tiny_ruleset()
    ruleset.effects["tick"] = lambda state, effect: left(state)
    with pytest.raises(RuleError, match=rf"the effect tick of .*tiny.*{told}"):
        play(tiny_action(tiny_rules(ruleset=ruleset), vs=5), given={"roll": ["6,6"]})


def test_a_seat_is_shown_no_thing_that_is_hidden_from_it() -> None:
    seen: list[State] = []

    def policy(view: Any, _question: Any) -> str:
        seen.append(view.state)
        return "luck"

    things = Map({"zones": Map({"yard": ("actor",)}), "patrol": ("yard",)})
    state = State(things=things, audiences=Map({"patrol": (GM,)}))
    prepared = prepare(tiny_rules(), "try", {"vs": 12}, state=state)
    play(prepared, given={"roll": ["1,1"]}, policies={"": policy})
    assert [set(one.things) for one in seen] == [{"zones"}]


def asks_many_labels(table: Any, number: int) -> None:
    table.roll(dice("d6"), f"roll-{number}")


def asks_what_is_no_question(table: Any, number: int) -> None:
    table.ask(f"label-{number}", GM, (Option("only"),))


def asks_what_is_let_pass(table: Any, number: int) -> None:
    table.ask("push", GM, (Option("a"), Option("b")), optional=True)


def tells(table: Any, number: int) -> None:
    table.tell("and so on")


def merges(table: Any, number: int) -> None:
    table.merge(number)


@pytest.mark.slow
@pytest.mark.parametrize(
    "step", [asks_many_labels, asks_what_is_no_question, asks_what_is_let_pass, tells, merges], ids=lambda f: f.__name__
)
def test_no_way_of_turning_to_the_table_goes_on_for_ever(step: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 1000
    for room in ("decisions", "running", "stops"):
        monkeypatch.setattr(f"rpgres.engine.{room}.MAX_QUESTIONS", most)
    turns = 0

    def rule(table: Any, actor: Any, **_: Any) -> Any:
        nonlocal turns
        while True:
            with contextlib.suppress(Exception):  # nor does a rule that is deaf to what is raised
                step(table, turns)
            turns += 1

    with pytest.raises(RuleError, match="seems to loop"):
        play(broken(rule))
    assert turns <= most


@pytest.mark.slow
def test_an_answer_that_is_refused_stays_so_for_a_rule_that_is_deaf() -> None:
    def rule(table: Any, actor: Any, **_: Any) -> Any:
        for label in ("roll", "roll"):
            with contextlib.suppress(Exception):
                table.roll(dice("d6"), label)
        return Outcome("hit")

    with pytest.raises(GivenError, match="roll=9"):
        play(broken(rule), given={"roll": ["9"]})

    def stubborn(table: Any, actor: Any, **_: Any) -> Any:
        while True:
            with contextlib.suppress(Exception):
                table.ask("push", actor.name, (Option("a"), Option("b")))

    with pytest.raises(ChoiceError, match="push=c is not offered"):
        play(broken(stubborn), prompt=lambda _view, _question: "c")


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Outcome("hit", details={"seen": {"gate"}}), "details.seen is the set {'gate'}"),
        (Outcome("hit", effects=({"kind": "tick"},)), "{'kind': 'tick'} is not an effect"),  # type: ignore[arg-type]
        (Outcome("hit", effects=(Map({"kind": "tick", "at": 1.5}),)), "the effect tick.at is the float 1.5"),
        (Outcome("hit", texts=("a", 3, [])), "texts[2] is the list"),  # type: ignore[arg-type]
        (Outcome("hit", margin="1"), "its margin is '1'"),  # type: ignore[arg-type]
        (Outcome("hit", total=True), "its total is True"),
        (Outcome(["hit"]), "unhashable"),  # type: ignore[arg-type]
    ],
)
def test_an_outcome_that_cannot_be_printed_or_kept_is_refused(outcome: Outcome, told: str) -> None:
    with pytest.raises(RuleError) as caught:
        play(broken(lambda table, actor, **_: outcome))
    assert told in caught.value.message


def test_a_rule_that_asks_otherwise_when_it_is_resumed_is_told_at_once() -> None:
    calls = iter(range(1000))

    def rule(table: Any, actor: Any, **_: Any) -> Any:
        table.roll(dice("d6"))
        table.ask("price" if next(calls) else "push", actor.name, (Option("a"), Option("b")))
        return Outcome("hit")

    with pytest.raises(RuleError, match="it asked 'push' and then 'price'; a rule must depend only on"):
        run(broken(rule), streams=Streams("7"))


def test_the_error_of_a_rule_says_where_in_its_code() -> None:
    def rule(table: Any, actor: Any, **_: Any) -> Any:
        return table.roll("no dice at all")

    with pytest.raises(RuleError, match=r"AttributeError: .*\(.*test_table\.py, line \d+\)$"):
        play(broken(rule))


def test_a_rule_cannot_change_what_it_is_given() -> None:
    def rule(table: Table, actor: Any, **_: Any) -> Outcome:
        with pytest.raises(TypeError):
            actor.counters["luck"] = 9
        with pytest.raises(AttributeError):
            table.state.tags = ()
        return Outcome("hit")

    play(broken(rule))


def test_a_view_hides_what_its_seat_may_not_know() -> None:
    from rpgres.model.state import Tag

    seen = State(tags=(Tag("Open", "aspect"), Tag("Hidden", "aspect", audience=(GM,))))
    assert [tag.name for tag in seen.seen_by("mara").tags] == ["Open"]
    assert seen.seen_by(GM) is seen


def test_results_are_json() -> None:
    result = play(
        tiny_action(
            vs=7,
        ),
        policies={"": preferred},
    )
    assert msgspec.json.decode(msgspec.json.encode(result))["format"] == "rpgres.result/1"
    assert random  # the module is imported to show that seeding it changes nothing
    random.seed(1)
    first = play(tiny_action(vs=7), policies={"": preferred})
    random.seed(2)
    assert first == play(tiny_action(vs=7), policies={"": preferred})
