"""Errors say which input is at fault, and call it as whoever reads them types it."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from rpgres import UsageError, resolve
from rpgres.engine.requests import resolve_request
from rpgres.errors import (
    AS_OPTIONS,
    GivenError,
    NotationError,
    RpgresError,
    RuleError,
    called,
    located,
    named,
    readable,
)
from rpgres.odds.decision_trees import TooLarge
from tests.support.command_line import rpgres


@pytest.mark.parametrize(
    ("inputs", "path", "reason"),
    [
        ({"skill": "fihgt", "vs": 1}, ["skill"], "unknown"),
        ({"ability": "fihgt", "vs": 1}, ["ability"], "unknown"),
        ({"vs": 2}, ["skill"], "missing"),
        ({"skill": 3, "vs": [1, True]}, ["vs", 1], "type"),
        ({"skill": 3, "vs": {"character": "nobody", "skill": "will"}}, ["vs", "character"], "unknown"),
        ({"skill": 3, "vs": {"character": "guards", "skill": "wlil"}}, ["vs", "skill"], "unknown"),
        ({"skill": 3, "vs": 2, "aspects": "x"}, ["aspects"], "unknown"),
        ({"skill": 3, "vs": 2, "invokes": 101}, ["invokes"], "unknown"),
    ],
)
def test_a_fault_has_the_path_of_its_input(inputs: dict[str, Any], path: list[str | int], reason: str) -> None:
    with pytest.raises(RpgresError) as found:
        resolve("fate", "overcome", sheet="mara", **inputs)
    assert (list(found.value.path), found.value.reason) == (path, reason)
    answer = resolve_request({"ruleset": "fate", "action": "overcome", "with": {"sheet": "mara", **inputs}})
    assert (answer["details"]["path"], answer["details"]["reason"]) == (["with", *path], reason)


def test_a_field_of_a_form_has_its_path() -> None:
    with pytest.raises(UsageError) as found:
        resolve("faith", "confront", skill=3, attribute=2, against=[{"name": "bob", "skill": "high"}])
    assert found.value.path == ("against", 0, "skill")


def test_inputs_are_called_as_they_are_typed() -> None:
    with pytest.raises(UsageError, match=r"^`vs` takes a number"):
        resolve("fate", "overcome", skill=3, vs=True)
    typed = rpgres("roll", "fate", "overcome", "--skill", "3", "--vs", "fiar")
    assert typed.err.startswith("rpgres: --vs 'fiar' is not a rung")
    told_as_json = rpgres("roll", "fate", "overcome", "--skill", "3", "--vs", "fiar", "--json").err
    record = json.loads(told_as_json)
    assert record["message"].startswith("--vs 'fiar' is not a rung")
    assert record["details"]["path"] == ["vs", 0]
    answer = resolve_request({"ruleset": "fate", "action": "overcome", "with": {"skill": 3, "vs": "fiar"}})
    assert answer["message"].startswith("`vs` 'fiar' is not a rung")


def test_paths_grow_from_the_inside_out() -> None:
    with pytest.raises(RpgresError) as found, located("steps", 3), located("with", "vs"):
        raise UsageError(f"{named('defense_stunt')} is wrong", path=("skill",))
    assert found.value.path == ("steps", 3, "with", "vs", "skill")
    assert (found.value.message, str(found.value)) == ("`defense-stunt` is wrong",) * 2
    assert readable(found.value.raw, AS_OPTIONS) == "--defense-stunt is wrong"


def test_a_message_is_whole_whatever_somebody_typed() -> None:
    assert readable("a \ue000 b") == "a  b"
    assert readable(f"{named('vs')}: \ue001x") == "`vs`: \ue001x"


@pytest.mark.parametrize(
    "error",
    [
        NotationError("dice are written with a d", "2w6", 1),
        TooLarge(chance="deal"),
        GivenError.of("roll", "x", "this is no result"),
        RuleError(f"use `{called('table undo', 3)}`", reason="endless", path=("vs",), version="2"),
    ],
)
def test_an_error_comes_whole_out_of_another_process(error: RpgresError) -> None:
    error.run = lambda: None  # as a run, nothing that another process could take
    found = pickle.loads(pickle.dumps(error))
    assert (type(found), str(found), found.run) == (type(error), str(error), None)
    assert {**vars(found), "run": error.run} == vars(error)
