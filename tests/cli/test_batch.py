"""`rpgres batch`: every line is answered, at once, whatever it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres import Result, resolve
from rpgres.cli.commands.batch import LONGEST
from tests.support.effort import examples
from tests.support.lantern import rpgres

GOOD = {"ruleset": "fate", "action": "overcome", "with": {"skill": 3, "vs": 2}, "given": {"roll": "+00-"}}


def answers(text: str | bytes, *args: str) -> list[dict[str, Any]]:
    done = rpgres("batch", *args, stdin=text)
    assert (done.exit_code, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def test_results_pending_decisions_and_errors_are_answers() -> None:
    lines = [
        GOOD | {"id": "a", "seed": 7, "note": "at the gate"},
        GOOD | {"id": 2, "given": {"roll": "----"}},
        GOOD | {"id": [3], "given": {"roll": "++++++"}},
        GOOD | {"id": None, "action": "overcom"},
        {key: one for key, one in GOOD.items() if key != "with"} | {"id": "e", "wiht": {}},
        [1],
    ]
    found = answers("\n".join(map(json.dumps, lines)))
    assert [answer.get("id") for answer in found] == ["a", 2, [3], None, "e", None]
    assert [answer["format"].split("/")[0] for answer in found] == [
        "rpgres.result",
        "rpgres.pending",
        *["rpgres.error"] * 4,
    ]
    expected = resolve("fate", "overcome", skill=3, vs=2, given={"roll": "+00-"}, seed=7, note="at the gate")
    assert isinstance(expected, Result)
    assert found[0]["outcome"] == expected.outcome == "succeed"
    assert (found[0]["seed"], found[0]["note"]) == ("7", "at the gate")
    assert found[1]["question"]["label"] == "price"
    assert found[2]["code"] == "given"
    assert "did you mean 'overcome'?" in found[3]["message"]
    assert "`with`" in found[4]["message"]
    assert all(answer["exit"] == 2 for answer in found[2:])


def test_lines_that_are_no_json_are_named_by_their_number() -> None:
    text = f"\n   \n{json.dumps(GOOD)}\n{{\n\xff\n{json.dumps(GOOD)}".encode("latin-1")
    found = answers(text)
    assert [answer["format"] for answer in found] == [
        "rpgres.result/1",
        "rpgres.error/1",
        "rpgres.error/1",
        "rpgres.result/1",
    ]
    assert [answer["details"]["line"] for answer in found[1:3]] == [4, 5]
    assert found[1]["message"].startswith("line 4 is no JSON: ")


def test_data_are_told_in_the_words_of_json() -> None:
    found = answers('{"ruleset":"fate","action":"overcome","with":[1]}\n{"notation":"d6","given":{"roll":{}}}\n')
    assert found[0]["message"] == "with: expected an object, found an array"
    assert "an array" in found[1]["message"]
    assert "table" not in found[1]["message"]


def test_inputs_beside_with_are_told_their_place() -> None:
    flat, other, near = answers(
        '{"ruleset":"fate","action":"overcome","skill":3}\n{"do":"odds","notation":"d6"}\n'
        '{"ruleset":"fate","action":"overcome","wiht":{"skill":3}}\n'
    )
    assert flat["message"].startswith("skill: unknown key")
    for told in (flat, other):
        assert "inputs of an action belong under `with`" in told["message"]
        assert "named by `op`" in told["message"]
    assert near["message"] == "wiht: unknown key; did you mean `with`?"


@pytest.mark.parametrize(
    ("line", "told", "id_"),
    [
        (r'{"id":1,"notation":"d6","note":"\ud800"}', "line 1 has half of a character in a text", 1),
        (r'{"id":["x"],"notation":"d6","note":"\udc00"}', "line 1 has half of a character in a text", ["x"]),
        ('{"id":"x","notation":"d6","seed":1e400}', "line 1 has a number that is too large", "x"),
        ('{"id":3,"notation":"d6","seed":NaN}', "line 1 is no JSON: ", 3),
        ('{"id":4,"notation":"d6"', "line 1 is no JSON: ", None),
        (r'{"id":"\ud800","notation":"d6"}', "line 1 has half of a character in a text", None),
        ('{"id":1e999,"notation":"d6"}', "line 1 has a number that is too large", None),
    ],
)
def test_a_line_that_cannot_be_read_is_told_with_its_id(line: str, told: str, id_: object) -> None:
    answer = json.loads(rpgres("batch", "-", stdin=line + "\n").stdout)
    assert answer["message"].startswith(told)
    assert answer.get("id") == id_
    assert ("line" in answer["details"]) is (id_ is None)


def test_a_line_without_end_is_refused_and_the_next_one_answered() -> None:
    found = answers('"' + "x" * (2 * LONGEST + 5) + f'"\n{json.dumps(GOOD)}\n' + "[" * 5000)
    assert found[0]["message"] == f"line 1 is longer than {LONGEST:,} bytes"
    assert found[1]["outcome"] == "succeed"
    assert found[2]["details"]["line"] == 3


def test_a_file_and_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    path.write_text("\ufeff" + json.dumps(GOOD) + "\r\n", "utf-8")
    assert [answer["outcome"] for answer in answers("", str(path))] == ["succeed"]
    for name, told in ((str(tmp_path), "cannot be read"), (str(tmp_path / "no"), "No such file")):
        done = rpgres("batch", name)
        assert (done.exit_code, done.stdout) == (1, "")
        assert told in done.stderr


def test_house_rules_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "fate").mkdir()
    (tmp_path / "fate" / "ruleset.toml").write_text('[switches.defended_advantage]\ndefault = "not-created"\n', "utf-8")
    house = answers(json.dumps(GOOD), "--rulesets", str(tmp_path))
    assert [answer["switches"]["defended_advantage"] for answer in house] == ["not-created"]
    assert [answer["switches"]["defended_advantage"] for answer in answers(json.dumps(GOOD))] == ["seed"]


def test_dice_are_rolled_as_the_command_does() -> None:
    request = {"notation": "4d6kh3", "seed": "a", "given": {"roll": "1,2,3,4"}, "note": "n", "id": 1}
    (answer,) = answers(json.dumps(request))
    done = rpgres("roll", "4d6kh3", "--seed", "a", "--given", "roll=1,2,3,4", "--note", "n", "--json")
    assert answer == {"id": 1, **json.loads(done.stdout)}
    wrong = answers("\n".join(map(json.dumps, [{"notation": "4d6k3"}, {"notation": "d6", "choose": {}}])))
    assert [answer["code"] for answer in wrong] == ["notation", "usage"]


def test_a_pending_decision_has_the_request_that_goes_on() -> None:
    asked = {"ruleset": "fate", "action": "overcome", "with": {"skill": 1, "vs": 8}, "id": 5, "note": "n"}
    (pending,) = answers(json.dumps(asked))
    request = pending["request"]
    assert request | {"seed": None, "given": None} == asked | {"seed": None, "given": None, "choose": {"price": []}}
    request["choose"]["price"].append("cost")
    (answer,) = answers(json.dumps(request))
    assert answer["format"] == "rpgres.result/1"
    assert answer["answers"][: len(pending["answers"])] == pending["answers"]
    assert (answer["id"], answer["seed"], answer["note"]) == (5, pending["seed"], "n")


def test_errors_without_an_id_tell_their_line() -> None:
    found = answers("\n".join(map(json.dumps, [GOOD, GOOD | {"action": "x"}, GOOD | {"action": "x", "id": 1}])))
    assert [answer.get("details", {}).get("line") for answer in found] == [None, 2, None]
    (deep,) = answers("[" * 100_000)
    assert deep["message"] == "line 1 is nested too deeply"


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "sub/secret", "-", "..", "sub\\\\secret", "C:secret"])
@pytest.mark.parametrize("key", ["sheet", "vs"])
def test_requests_name_no_paths(key: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here" / "sub").mkdir(parents=True)
    for path in ("secret", "here/sub/secret"):
        (tmp_path / path).write_text('name = "Hidden Name"\n[skills]\nwill = 2\n', "utf-8")
    monkeypatch.chdir(tmp_path / "here")
    typed = {"sheet": {"sheet": name, "vs": 1}, "vs": {"vs": {"character": name, "skill": "will"}}}[key]
    (answer,) = answers(json.dumps(GOOD | {"with": {"skill": 1, **typed}, "given": {}, "auto": True}))
    assert (answer["format"], answer["code"]) == ("rpgres.error/1", "usage")


@pytest.mark.parametrize(
    "text", ["hunter2 = [", 'hunter2 = "x"\n', "[hunter2]\n[skills]\nhunter2 = 1\n", 'name = "x"\nruleset = "hunter2"']
)
def test_errors_do_not_quote_files(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("secret.toml").write_text(text, "utf-8")
    (answer,) = answers(json.dumps(GOOD | {"with": {"sheet": "secret.toml", "skill": 1, "vs": 1}}))
    assert answer["code"] == "file"
    assert "hunter2" not in json.dumps(answer)
    assert answer["message"].startswith("secret.toml:")
    (found,) = answers(json.dumps(GOOD | {"with": {"sheet": "mara", "skill": "will", "vs": 1}}))
    assert found["actor"] == "mara"


def test_nothing_asked_is_nothing_answered() -> None:
    assert answers("") == []


@pytest.mark.slow
def test_each_answer_is_written_at_once() -> None:
    """A bot keeps one process and waits for each answer before it asks again."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        [sys.executable, "-m", "rpgres", "batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(3):
            process.stdin.write(json.dumps(GOOD | {"id": number}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.close()
        assert process.wait(20) == 0


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error() -> None:
    lines = (json.dumps(GOOD) + "\n").encode() * 300
    command = [sys.executable, "-m", "rpgres", "batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        with suppress(BrokenPipeError):
            process.stdin.write(lines)
            process.stdin.flush()
        with suppress(BrokenPipeError):
            process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["ruleset", "action", "with", "seed", "given", "choose", "switches", "auto", "policies", "note", "id", "skill"]
)
REQUESTS = JSON | st.dictionaries(KEYS, JSON, max_size=4).map(lambda more: GOOD | more)


@pytest.mark.slow
@given(st.lists(REQUESTS, min_size=1, max_size=5))
@settings(max_examples=examples(100), deadline=None)
def test_every_request_has_its_answer(requests: list[Any]) -> None:
    found = answers("\n".join(map(json.dumps, requests)))
    assert len(found) == len(requests)
    for request, answer in zip(requests, found, strict=True):
        assert answer["format"] in ("rpgres.result/1", "rpgres.pending/1", "rpgres.error/1")
        assert answer.get("code") != "internal", answer
        if isinstance(request, dict):
            assert answer.get("id") == request.get("id")


@pytest.mark.parametrize("asked", [{"notation": "4dF"}, {"op": "roll", "notation": "4dF"}])
def test_a_list_of_numbers_is_what_the_dice_of_one_roll_show(asked: dict[str, str]) -> None:
    (answer,) = answers(json.dumps({**asked, "given": {"roll": [1, 0, -1, 1]}}))
    assert (answer["answers"][0]["value"], answer["total"]) == ("+0-+", 1)


@pytest.mark.parametrize("text", ["NaN", "{'a': 1}", '{"ruleset": NaN}', "\x00", "1e9999", "{}{}"])
def test_what_is_nearly_json(text: str) -> None:
    (answer,) = answers(text)
    assert (answer["format"], answer["exit"]) == ("rpgres.error/1", 2)
