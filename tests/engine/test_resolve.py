"""The library face: one call, one answer, and no request that stops a batch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rpgres
from rpgres.engine import resolve as library
from rpgres.engine.players import Question, View
from rpgres.engine.records import Pending, Result, error_record
from rpgres.engine.requests import resolve_request
from rpgres.engine.resolve import forget_rules, resolve
from rpgres.engine.table import Outcome, Table
from rpgres.errors import ChoiceError, FileError, GivenError, PluginError, UsageError
from rpgres.model.state import GM, Character, State
from rpgres.parameters.values import Rating
from rpgres.plugins.entries import BUILTIN
from rpgres.rulesets import Effect, Option, Ruleset
from tests.support.effort import examples

DATA = """
title = "Dive"
summary = "Two dice, and how deep."
version = "1"
dice = "2d6"

[bands]
sink = { title = "Sink", to = -1, success = false }
swim = { title = "Swim", from = 0, success = true }

[actions.dive]
summary = "Dive."
parameters = ["skill", "deep-end", "helpers"]
required = ["skill"]
labels = ["roll", "breath"]
tables = ["dive"]

[actions.crash]
summary = "Fail in many ways."
parameters = ["how"]

[parameters.skill]
kind = "ability"
help = "what is rolled with"

[parameters.deep-end]
kind = "flag"
help = "whether it is deep"

[parameters.helpers]
kind = "text"
many = true
help = "who helps"

[parameters.how]
kind = "text"
help = "how"

[labels.roll]
kind = "chance"
help = "two dice"

[labels.breath]
kind = "decision"
help = "how long to hold one's breath"

[switches.water]
help = "which water"
source = "ours"
default = "cold"
choices = { cold = "cold", warm = "warm" }

[sheet.skills]
kind = "abilities"
any-name = true
help = "skills"

[outcomes.dive.swim]
text = "You come up again."
effects = [{ kind = "wet", when = { water = "cold" } }]
"""


def make(folder: Path) -> Ruleset:
    """Return a ruleset of which each action asks twice how long somebody holds the breath."""
    folder.mkdir(exist_ok=True)
    (folder / "ruleset.toml").write_text(DATA, "utf-8")
    (folder / "sheets").mkdir(exist_ok=True)
    (folder / "sheets" / "ann.toml").write_text("skills = { diving = 4 }\n", "utf-8")
    ruleset = Ruleset("dive", data=folder)

    @ruleset.action("dive")
    def dive(
        table: Table, actor: Character, skill: Rating, deep_end: bool = False, helpers: tuple[str, ...] = ()
    ) -> Outcome:
        options = (Option("short"), Option("long"))
        breaths = [table.ask("breath", who, options) for who in (actor.name, GM)]
        total = table.roll(table.rules.dice) + skill.value + breaths.count("long") - (3 if deep_end else 0)
        return table.settle("dive", total - 7, total=total, opposition=7)

    @ruleset.action("crash")
    def crash(table: Table, actor: Character, how: str | None) -> Outcome:
        faults = {"exit": SystemExit, "interrupt": KeyboardInterrupt, "bare": BaseException, "error": KeyError}
        raise faults.get(how or "", ValueError)("crashed")

    @ruleset.effect("wet")
    def wet(state: State, effect: Effect) -> State:
        return state

    @ruleset.policy("brief")
    def brief(view: View, question: Question) -> str:
        return "short"

    @ruleset.policy("bold")
    def bold(view: View, question: Question) -> str:
        return "long"

    return ruleset


@pytest.fixture
def dive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ruleset]:
    """The ruleset, found by its id too, in an otherwise empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("RPGRES_RULESETS", raising=False)
    ruleset = make(tmp_path / "dive")
    find = library.find_ruleset
    monkeypatch.setattr(library, "find_ruleset", lambda id_, **more: ruleset if id_ == "dive" else find(id_, **more))
    forget_rules()
    yield ruleset
    forget_rules()


def resolved(*args: Any, **inputs: Any) -> Result:
    result = resolve(*args, **inputs)
    assert isinstance(result, Result), result
    return result


def request(**changes: Any) -> dict[str, Any]:
    return {"ruleset": "dive", "action": "dive", "with": {"skill": 3}, "seed": "7", "auto": True, **changes}


# ---------------------------------------------------------------------------------------------------------------------
# resolve


def test_the_public_face_has_it() -> None:
    assert rpgres.resolve is resolve


@pytest.mark.parametrize("by", ["id", "record"])
def test_one_call_is_one_result(by: str, dive: Ruleset) -> None:
    result = resolved(
        "dive" if by == "id" else dive,
        "dive",
        skill=3,
        deep_end=True,
        given={"roll": "6,2"},
        choose={"breath": ["long", "short"]},
        seed=7,
        note="cold",
    )
    assert (result.outcome, result.success, result.margin, result.total) == ("swim", True, 2, 9)
    assert result.inputs == {"skill": 3, "deep-end": True}
    assert (result.seed, result.note) == ("7", "cold")
    assert result.effects == [{"kind": "wet"}]
    assert [(answer.label, answer.value) for answer in result.answers] == [
        ("breath", "long"),
        ("breath", "short"),
        ("roll", "6,2"),
    ]


def test_nothing_is_printed(dive: Ruleset, capfd: pytest.CaptureFixture[str]) -> None:
    resolve("dive", "dive", skill=3)
    resolve_request(request())
    resolve_request("nonsense")
    assert capfd.readouterr() == ("", "")


def test_a_seed_decides_and_is_minted_otherwise(dive: Ruleset) -> None:
    results = [resolved("dive", "dive", skill=3, seed=seed, auto=True) for seed in ("x", "x", None, None)]
    assert results[0] == results[1]
    assert results[2].seed != results[3].seed
    again = resolved("dive", "dive", skill=3, seed=results[2].seed, auto=True)
    assert again == results[2]


def test_an_unanswered_decision_is_pending_and_goes_on_from_its_answers(dive: Ruleset) -> None:
    first = resolve("dive", "dive", skill=3, seed="s", choose={"breath": "long"})
    assert isinstance(first, Pending)
    assert (first.question.label, first.question.who) == ("breath", GM)
    assert [option.name for option in first.question.options] == ["short", "long"]
    done = resolved("dive", "dive", skill=3, seed=first.seed, choose={"breath": ["long", "short"]})
    assert done.answers[: len(first.answers)] == first.answers


def test_policies_answer_for_everybody_or_for_one(dive: Ruleset) -> None:
    def breaths(**more: Any) -> list[str]:
        result = resolved("dive", "dive", skill=3, seed="s", **more)
        return [answer.value for answer in result.answers if answer.label == "breath"]

    assert breaths(auto=True) == ["short", "short"]
    assert breaths(auto=True, policies={GM: "bold"}) == ["short", "long"]
    assert breaths(auto=True, policies={"actor": "bold"}) == ["long", "short"]
    assert breaths(policies={"actor": "bold", GM: "brief"}) == ["long", "short"]
    assert breaths(policies={"actor": "bold", GM: "brief"}, sheet="ann") == ["long", "short"]
    assert breaths(policies={"ann": "bold", GM: "brief"}, sheet="ann") == ["long", "short"]
    assert breaths(auto=True, choose={"breath": "long"}) == ["long", "short"]
    pending = resolve("dive", "dive", skill=3, policies={"actor": "bold"})
    assert isinstance(pending, Pending)
    assert pending.question.who == GM


def test_switches_and_overlays_are_those_of_the_call(dive: Ruleset, tmp_path: Path) -> None:
    settings = {"skill": 9, "seed": "s", "auto": True}
    assert resolved("dive", "dive", **settings).effects == [{"kind": "wet"}]
    warm = resolved("dive", "dive", switches={"water": "warm"}, **settings)
    assert warm.effects == []
    assert warm.switches == {"water": "warm"}
    assert resolved("dive", "dive", **settings).effects == [{"kind": "wet"}]
    overlay = tmp_path / "house" / "dive"
    overlay.mkdir(parents=True)
    (overlay / "ruleset.toml").write_text("[outcomes.dive.swim]\ntext = 'Splash.'\n", "utf-8")
    for folders in (str(overlay.parent), overlay.parent, [overlay.parent]):
        assert resolved("dive", "dive", rulesets=folders, **settings).texts == ["Splash."]
    assert resolved("dive", "dive", **settings).texts == ["You come up again."]


def test_files_are_read_once_until_they_are_forgotten(dive: Ruleset) -> None:
    def text() -> list[str]:
        return resolved("dive", "dive", skill=9, auto=True).texts

    before = text()
    assert dive.data is not None
    path = dive.data / "ruleset.toml"
    path.write_text(path.read_text("utf-8").replace("You come up again.", "Up!"), "utf-8")
    assert text() == before
    forget_rules()
    assert text() == ["Up!"]


def test_another_folder_means_other_overlays(dive: Ruleset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overlay = tmp_path / "there" / "rulesets" / "dive"
    overlay.mkdir(parents=True)
    (overlay / "ruleset.toml").write_text("[outcomes.dive.swim]\ntext = 'There.'\n", "utf-8")
    assert resolved("dive", "dive", skill=9, auto=True).texts == ["You come up again."]
    monkeypatch.chdir(tmp_path / "there")
    assert resolved("dive", "dive", skill=9, auto=True).texts == ["There."]


@pytest.mark.parametrize(
    ("changes", "error", "told"),
    [
        ({"ruleset": "dvie"}, UsageError, "there is no ruleset 'dvie'"),
        ({"ruleset": 3}, UsageError, "not 3"),
        ({"action": "div"}, UsageError, "did you mean 'dive'?"),
        ({"skil": 3}, UsageError, "did you mean 'skill'?"),
        ({"seed": True}, UsageError, "a seed is a text or a whole number"),
        ({"seed": 1.5}, UsageError, "a seed is a text or a whole number"),
        ({"seed": "x" * 1001}, UsageError, "at most 1,000 characters"),
        ({"given": {"rol": "1,2"}}, UsageError, "did you mean 'roll'?"),
        ({"given": {"roll": "1,7"}}, GivenError, "7"),
        ({"given": {"roll": ["1,2", "3,4"]}}, UsageError, "was not used"),
        ({"given": {"roll": 1.5}}, UsageError, "given roll: an answer is a text"),
        ({"given": {"roll": [None]}}, UsageError, "given roll: an answer is a text"),
        ({"choose": {"breath": True}}, UsageError, "choose breath: an answer is a text"),
        ({"choose": {"breath": "lnog"}}, ChoiceError, "did you mean 'long'?"),
        ({"choose": {"roll": "1,2"}}, UsageError, "answer it with `given`"),
        ({"switches": {"watr": "warm"}}, UsageError, "did you mean 'water'?"),
        ({"switches": {"water": "hot"}}, UsageError, "can be cold, warm"),
        ({"switches": {"water": ["warm"]}}, UsageError, "the switch water takes the name of a choice"),
        ({"policies": {"actor": "bald"}}, UsageError, "did you mean 'bold'?"),
        ({"policies": {"acter": "bold"}}, UsageError, "did you mean 'actor'?"),
        ({"sheet": "nobody"}, FileError, "there is no sheet 'nobody'"),
    ],
)
def test_what_is_wrong_is_told(changes: dict[str, Any], error: type[Exception], told: str, dive: Ruleset) -> None:
    with pytest.raises(error) as caught:
        resolve(**{"ruleset": "dive", "action": "dive", "skill": 3, "auto": True, **changes})
    assert told in str(caught.value)


# ---------------------------------------------------------------------------------------------------------------------
# Requests


def test_a_request_is_answered_as_the_call_is(dive: Ruleset) -> None:
    asked = request(
        **{"with": {"skill": 3, "deep-end": True, "sheet": "ann"}},
        given={"roll": "6,2"},
        choose={"breath": ["long"]},
        note="n",
        switches={"water": "warm"},
        policies={GM: "bold"},
        id={"any": ["thing"]},
    )
    call = resolved(
        "dive",
        "dive",
        skill=3,
        deep_end=True,
        sheet="ann",
        given={"roll": "6,2"},
        choose={"breath": ["long"]},
        note="n",
        switches={"water": "warm"},
        policies={GM: "bold"},
        seed="7",
        auto=True,
    )
    answer = resolve_request(asked)
    assert answer == {"id": {"any": ["thing"]}, **msgspec.to_builtins(call)}
    assert msgspec.json.decode(msgspec.json.encode(answer)) == json.loads(json.dumps(answer))
    assert "id" not in resolve_request(request())


def test_a_pending_decision_is_an_answer(dive: Ruleset) -> None:
    answer = resolve_request(request(auto=False, id=4))
    assert (answer["format"], answer["id"], answer["question"]["label"]) == ("rpgres.pending/1", 4, "breath")


@pytest.mark.parametrize("seed", [7, 0, -3, 10**40, "7", "rp1:x#2"])
def test_a_seed_may_be_a_number(seed: object, dive: Ruleset) -> None:
    assert resolve_request(request(seed=seed))["seed"] == str(seed)


@pytest.mark.parametrize(
    ("asked", "code", "exit_code", "told"),
    [
        (3, "usage", 2, "a request is an object"),
        (None, "usage", 2, "a request is an object"),
        ([request()], "usage", 2, "a request is an object"),
        ({}, "usage", 2, "missing key `ruleset`"),
        (request(chose={}), "usage", 2, "did you mean `choose`?"),
        (request(auto="yes"), "usage", 2, "auto"),
        (request(**{"with": [1]}), "usage", 2, "with"),
        (request(seed=1.5), "usage", 2, "seed"),
        (request(choose={"breath": [True]}), "usage", 2, "choose"),
        (request(ruleset="nope"), "usage", 2, "there is no ruleset 'nope'"),
        (request(ruleset="d20"), "usage", 2, "dice notation"),
        (request(given={"roll": "9,9"}), "given", 2, "no face of a d6"),
        (request(choose={"breath": "lnog"}), "choice", 2, "breath"),
        (request(**{"with": {"skill": 3, "sheet": "nobody"}}), "file", 1, "there is no sheet"),
        (request(**{"with": {"skill": {}}}), "usage", 2, "skill"),
        (request(action="crash", **{"with": {"how": "error"}}), "rule", 1, "KeyError"),
        (request(action="crash", **{"with": {"how": "exit"}}), "rule", 1, "SystemExit"),
        (request(action="crash", **{"with": {"how": "bare"}}), "rule", 1, "BaseException"),
        (request(action="crash", **{"with": {"how": "interrupt"}}), "rule", 1, "KeyboardInterrupt"),
    ],
)
def test_a_bad_request_is_answered_with_an_error(
    asked: Any, code: str, exit_code: int, told: str, dive: Ruleset
) -> None:
    answer = resolve_request(asked)
    assert set(answer) == {"format", "code", "message", "exit", "details"}
    assert (answer["format"], answer["code"], answer["exit"]) == ("rpgres.error/1", code, exit_code)
    assert told in answer["message"]
    json.dumps(answer)
    if isinstance(asked, dict):
        assert resolve_request({**asked, "id": "mine"}) == {"id": "mine", **answer}


def test_all_faults_of_a_request_are_told_at_once(dive: Ruleset) -> None:
    answer = resolve_request({"rulset": "dive", "action": 3, "with": {}, "seed": []})
    assert [problem["key"] for problem in answer["details"]["problems"]] == ["rulset", "action", "seed", "ruleset"]
    assert "\n" not in answer["message"]


def test_an_interrupt_is_not_an_answer(dive: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rpgres.engine.requests.prepare", interrupt)
    with pytest.raises(KeyboardInterrupt):
        resolve_request(request())


def test_a_broken_plugin_is_one_answer_among_others(dive: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    builtin = next(iter(BUILTIN))
    monkeypatch.setenv("RPGRES_DISABLE", builtin)
    answers = [resolve_request(asked) for asked in (request(), request(ruleset=builtin), request())]
    assert [answer["format"] for answer in answers] == ["rpgres.result/1", "rpgres.error/1", "rpgres.result/1"]
    assert answers[1]["code"] == PluginError.code
    assert answers[1]["details"]["stage"] == "disabled"


def test_details_of_any_kind_become_plain_data() -> None:
    error = UsageError("no", file=Path("x") / "y", state=State(), names={"b"}, kind=UsageError, many=(1, 2))
    details = error_record(error)["details"]
    assert details["file"] == os.path.join("x", "y")
    assert list(details["many"]) == [1, 2]
    json.dumps(details)


def test_one_request_costs_no_reading_of_the_rules(dive: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = 0
    load = library.load_rules

    def counted(*args: Any, **more: Any) -> Any:
        nonlocal loads
        loads += 1
        return load(*args, **more)

    monkeypatch.setattr(library, "load_rules", counted)
    for water in ("cold", "warm", "cold", "warm"):
        resolve_request(request(switches={"water": water}))
    assert loads == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["ruleset", "action", "with", "seed", "given", "choose", "switches", "auto", "policies", "note"])
NAMED = st.sampled_from(["dive", "skill", "deep-end", "helpers", "sheet", "roll", "breath", "water", "actor", "bold"])
HOSTILE = st.dictionaries(
    KEYS, JSON | st.dictionaries(NAMED | st.text(max_size=3), JSON | NAMED, max_size=3) | NAMED, max_size=6
)


@pytest.mark.slow
def test_no_request_raises_or_is_answered_with_anything_but_json(dive: Ruleset) -> None:
    @given(HOSTILE, st.booleans())
    @settings(max_examples=examples(300), deadline=None)
    def check(asked: dict[str, Any], complete: bool) -> None:
        if complete:
            asked = {**request(), **{key: value for key, value in asked.items() if key not in ("ruleset", "action")}}
        answer = resolve_request(asked)
        assert answer["format"] in ("rpgres.result/1", "rpgres.pending/1", "rpgres.error/1")
        assert answer.get("code") != "internal", answer
        json.dumps(answer)

    check()


def test_importing_it_loads_nothing_heavy() -> None:
    program = (
        "import sys; import rpgres.engine.resolve; "
        "print(sorted({'rich', 'importlib.metadata', 'pluggy'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown == "[]\n"


def test_a_rulesets_code_that_fails_over_a_sheet_is_told_and_not_rpgres(tmp_path: Path) -> None:
    from rpgres.errors import RuleError, UsageError
    from rpgres.rulesets import Origin
    from rpgres.rulesets.sheets import read_sheet
    from tests.support.tiny import tiny_rules, tiny_ruleset

    (tmp_path / "ada.toml").write_text('name = "Ada"\n', "utf-8")

    def read(prepare: Any) -> Any:
        ruleset = tiny_ruleset()
        ruleset.preparations.append(prepare)
        ruleset.origin = Origin("rpgres-tiny", "2.1")
        return read_sheet(tiny_rules(ruleset=ruleset), str(tmp_path / "ada.toml"))

    with pytest.raises(RuleError, match=r"prepared the sheet of ada: AttributeError: .* comes from rpgres-tiny 2\.1"):
        read(lambda rules, character: character.nothing)
    with pytest.raises(RuleError, match="it returned None, not the character"):
        read(lambda rules, character: None)

    def refuse(rules: Any, character: Any) -> Any:
        raise UsageError("three skills at most")

    with pytest.raises(FileError, match=r"ada\.toml: three skills at most"):
        read(refuse)


def test_optional_decisions_wait_where_somebody_will_answer_them() -> None:
    asked: dict[str, Any] = {"sheet": "mara", "skill": "burglary", "vs": 3, "given": {"roll": "-0+-"}}
    skipped, waits = resolve("fate", "overcome", **asked), resolve("fate", "overcome", wait=True, **asked)
    assert isinstance(skipped, Pending)
    assert isinstance(waits, Pending)
    assert (skipped.question.label, waits.question.label) == ("price", "invoke")
    done = resolve("fate", "overcome", wait=True, choose={"invoke": "no", "price": "fail"}, **asked)
    assert isinstance(done, Result)
    assert done.outcome == "fail"
    given = {"roll": asked.pop("given")["roll"]}
    request = {"ruleset": "fate", "action": "overcome", "with": asked, "given": given, "wait": True}
    waiting = resolve_request(request)
    assert waiting["question"]["label"] == "invoke"
    waiting["request"]["choose"]["invoke"] = "no"
    assert resolve_request(waiting["request"])["question"]["label"] == "price"


@pytest.mark.parametrize(("value", "shown"), [(True, "true"), (False, "false")])
def test_errors_echo_values_as_json_has_them(value: object, shown: str) -> None:
    answer = resolve_request({"ruleset": "fate", "action": "overcome", "with": {"skill": value, "vs": 3}})
    assert answer["message"].endswith(f", not {shown}"), answer
