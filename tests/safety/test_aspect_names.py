"""Aspects that come of a cost, or that are found, can be named in the action."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.support.command_line import as_json

NAME = "Home to a Pack of Wolves"
FAILED = ("--skill", "0", "--vs", "0", "--given", "roll=----", "--choose", "price=cost")
TIED = ("--attribute", "0", "--vs", "0", "--given", "roll=0000")


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        (("fate", "discover", *FAILED, "--variant", "establish"), ["information=trouble"]),
        (("fate", "discover", *FAILED, "--variant", "establish"), ["information=abysmal"]),
        (("fate", "discover", *FAILED, "--variant", "reveal-information"), ["information=complication"]),
        (("fate", "discover", *FAILED, "--variant", "reveal-aspect"), ["worse=another", "favour=free-invoke"]),
        (("fate", "discover", *FAILED, "--variant", "reveal-aspect"), ["worse=both", "favour=free-invoke"]),
        (("fate", "overcome", *FAILED), ["cost=problem"]),
        (("fate", "overcome", *FAILED), ["cost=advantage"]),
        (("coppermane", "overcome", *TIED), ["cost=aspect"]),
    ],
)
def test_the_aspect_of_a_cost_has_the_name_that_was_given(line: Sequence[str], answers: Sequence[str]) -> None:
    choose = [part for answer in (*answers, f"aspect-name={NAME}") for part in ("--choose", answer)]
    found = as_json("roll", *line, *choose)
    assert [one["name"] for one in found["effects"] if one.get("change") == "created"] == [NAME]
    assert {one["on"] for one in found["effects"] if one["kind"] == "free-invoke"} <= {NAME}
    assert found["unused"] == []


@pytest.mark.parametrize(
    ("worse", "named"),
    [("another", ("created", "name")), ("altered", ("altered", "becomes")), ("both", ("altered", "becomes"))],
)
def test_worse_names_what_is_worse(worse: str, named: tuple[str, str]) -> None:
    line = ("fate", "discover", *FAILED, "--variant", "reveal-aspect", "--name", "Silver", "--worse", NAME)
    found = as_json("roll", *line, "--choose", f"worse={worse}")
    change, field = named
    assert [one[field] for one in found["effects"] if one.get("change") == change] == [NAME]


def test_what_is_found_without_a_name_can_be_named() -> None:
    line = ("coppermane", "create-advantage", *TIED, "--variant", "find")
    found = as_json("roll", *line, "--choose", f"aspect-name={NAME}")
    assert [one.get("name", one.get("on")) for one in found["effects"]] == [NAME, NAME]
    named = as_json("roll", *line, "--name", "A Drain", "--choose", f"aspect-name={NAME}")
    assert named["unused"], "nothing is asked where it was typed"
