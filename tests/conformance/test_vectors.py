"""Vectors: those that our rulesets ship and those beside the repository, and what a file of them says that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rpgres.conformance.vectors import differences_of, read_vectors, run_vectors
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules, builtin_folder
from rpgres.testing import vector_tests
from tests.support.command_line import rpgres

BESIDE = (folder / "shared" / "vectors" for folder in Path(__file__).resolve().parents[3:])
SHIPPED = sorted(builtin_folder().glob("*/vectors/*.jsonl"))
OTHERS = sorted(path for folder in BESIDE if folder.is_dir() for path in folder.glob("*.jsonl"))


def rules_of(ruleset: str) -> Rules:
    return load_rules(find_ruleset(ruleset))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parts[-3])
def test_our_vectors_pass(path: Path) -> None:
    report = run_vectors(rules_of(path.parts[-3]), [path])
    assert report.differences == []
    assert report.cases == report.passed >= 4


@pytest.mark.slow
def test_every_ruleset_of_one_file_has_vectors_of_every_action_and_question() -> None:
    for path in builtin_folder().glob("*/ruleset.toml"):
        file = rules_of(path.parent.name).file
        found = path.parent / "vectors" / "cases.jsonl"
        cases = [case for _, case in read_vectors(found)] if found.exists() else []
        assert {case.action for case in cases} == (file.actions.keys() if file.standalone else set()), path
        asked = {(name, label) for name, action in file.actions.items() for label in action.ask}
        assert asked <= {(case.action, label) for case in cases for label in case.choose}, path


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_vectors_beside_the_repository_pass(path: Path) -> None:
    assert run_vectors(rules_of(path.stem), [path]).differences == []


def case(**changed: Any) -> dict[str, Any]:
    expect = {"outcome": "success", "success": True, "numbers": {"successes": 1}}
    found = {"id": "one", "action": "check", "inputs": {"pool": 2}, "dice": [[10, 9], [10, 2]], "expect": expect}
    return {**found, **changed}


def write(path: Path, *cases: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in cases), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, []),
        ({"expect": {"outcome": "failure"}}, ["outcome is success, not failure"]),
        ({"expect": {"outcome": "success", "success": None}}, ["success is true, not not told"]),
        ({"expect": {"outcome": "success", "numbers": {"successes": 2}}}, ["successes is 1, not 2"]),
        ({"expect": {"outcome": "success", "labels": {"mood": "grim"}}}, ["mood is not told, not grim"]),
        ({"dice": [[10, 9]]}, ["it throws more dice: a d10 is missing"]),
        ({"dice": [[10, 9], [6, 2]]}, ["it throws a d10 where the vector has 2 on a d6"]),
        ({"dice": [[10, 9], [10, 2], [10, 3]]}, ["1 of the dice are not thrown: 3 on a d10"]),
        # a 10 brings a die, in the next round
        ({"dice": [[10, 10], [10, 2], [10, 3]]}, []),
    ],
)
def test_what_differs_is_told(changed: dict[str, Any], told: list[str], tmp_path: Path) -> None:
    path = write(tmp_path / "cases.jsonl", case(**changed))
    [(_, one)] = read_vectors(path)
    assert [*differences_of(rules_of("again-pool"), one)] == told


def test_an_unknown_input_is_a_difference(tmp_path: Path) -> None:
    path = write(tmp_path / "cases.jsonl", case(inputs={"pol": 2}))
    report = run_vectors(rules_of("again-pool"), [path])
    assert not report.ok
    assert "did you mean 'pool'?" in report.differences[0].told[0]


def test_the_command_counts_and_exits_with_1(tmp_path: Path) -> None:
    path = write(tmp_path / "cases.jsonl", case(), case(id="two", expect={"outcome": "failure"}))
    ran = rpgres("ruleset", "test", "again-pool", str(path))
    assert ran.code == 1
    assert "cases.jsonl:2: two: outcome is success, not failure" in ran.out.replace("\n", "")
    assert "again-pool: 1 of 2 vectors pass" in ran.out
    told = json.loads(rpgres("ruleset", "test", "again-pool", str(path), "--json").out)
    assert (told["format"], told["ok"], told["cases"], told["passed"]) == ("rpgres.ruleset-test/1", False, 2, 1)
    assert told["differences"] == [
        {"id": "two", "file": str(path), "line": 2, "told": ["outcome is success, not failure"]}
    ]
    assert rpgres("ruleset", "test", "again-pool", str(write(path, case()))).code == 0


def test_without_a_file_the_command_runs_those_that_the_ruleset_brings() -> None:
    ran = rpgres("ruleset", "test", "again-pool")
    assert (ran.code, ran.out) == (0, "again-pool: 16 of 16 vectors pass\n")
    assert rpgres("ruleset", "test", "fate").err == "rpgres: the ruleset fate has no vectors; name a file of them\n"


def test_a_line_that_is_no_vector_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(case()) + '\n\n{"id": 3}\n', encoding="utf-8")
    ran = rpgres("ruleset", "test", "again-pool", str(path))
    assert ran.code == 1
    assert "cases.jsonl:3: this is no vector" in (ran.out + ran.err).replace("\n", "")
    assert rpgres("ruleset", "test", "again-pool", str(tmp_path / "none.jsonl")).code == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            b'{"id": 3}',
            "cases.jsonl:1: this is no vector: id: expected text, found a whole number; action: missing key",
        ),
        (b"# none yet\n{", "cases.jsonl:2: this is no vector: no JSON from column 2 on"),
        (b"", "cases.jsonl: it has no vectors"),
        (b"\xe4", "cases.jsonl:1: not UTF-8 text"),
        (None, "cases.jsonl: no such file"),
    ],
)
def test_a_file_without_vectors_is_told_in_plain_words(content: bytes | None, told: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    if content is not None:
        path.write_bytes(content)
    ran = rpgres("ruleset", "test", "again-pool", str(path))
    assert ran.code == 1
    assert told in ran.err.replace("\n", " ")


def test_the_pytest_case_tells_what_differs(tmp_path: Path) -> None:
    path = write(tmp_path / "cases.jsonl", case(), case(id="two", expect={"outcome": "failure"}))
    tested = vector_tests("again-pool", path, tmp_path / "none.jsonl")
    [mark] = tested.pytestmark  # type: ignore[attr-defined]
    good, bad, missing = mark.args[1]
    assert (good.id, bad.id, missing.id) == ("one", "two", "none.jsonl")
    assert [one.name for one in missing.marks] == ["skip"]
    tested(good.values[0])
    with pytest.raises(pytest.fail.Exception, match="outcome is success, not failure"):
        tested(bad.values[0])
