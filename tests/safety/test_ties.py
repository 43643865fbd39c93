"""A tie that its row counts as a success is one, and nothing is spent to raise it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import as_json, complaint, rpgres

FIND = ("coppermane", "create-advantage", "--attribute", "0", "--vs", "0", "--variant", "find")
KNOWN = (*FIND[:-1], "known")
EXISTING = ("fate", "create-advantage", "--skill", "0", "--vs", "0", "--variant", "existing")
ON_SOMEBODY = (*EXISTING, "--on", "opponent")
NEW = (*EXISTING[:-1], "new")
SUCCESSES = [FIND, KNOWN, EXISTING, ON_SOMEBODY]


@pytest.mark.parametrize("line", SUCCESSES)
def test_the_tie_counts_as_a_success(line: tuple[str, ...]) -> None:
    given = ("--given", "roll=0000", "--auto")
    found = as_json("roll", *line, *given)
    assert (found["success"], found["margin"]) == (True, 0)
    assert rpgres("roll", *line, *given, "--exit-code").code == 0
    assert as_json("odds", *line, "--auto")["success"]["exact"] == "50/81"


def test_other_ties_are_none() -> None:
    assert as_json("roll", *NEW, "--given", "roll=0000")["success"] is None
    assert as_json("odds", *NEW)["success"]["exact"] == "31/81"


@pytest.mark.parametrize("line", SUCCESSES)
@pytest.mark.parametrize(("roll", "spent"), [("0000", 0), ("-000", 1)])
def test_sensible_spends_nothing_on_such_a_tie(line: tuple[str, ...], roll: str, spent: int) -> None:
    found = as_json("roll", *line, "--aspect", "Smoke=1", "--given", f"roll={roll}", "--policy", "sensible")
    assert sum(one["kind"] == "free-invoke" and one["count"] < 0 for one in found["effects"]) == spent


def test_sensible_spends_two_to_make_it_fail() -> None:
    given = ("--aspect", "Mud", "--given", "roll=+000", "--policy", "sensible")
    found = as_json("roll", *EXISTING, "--gm-points", "1", *given)
    assert (found["margin"], found["success"]) == (-1, False)
    found = as_json("roll", *EXISTING, "--gm-points", "1", *given[:2], "--given", "roll=++00", "--policy", "sensible")
    assert found["margin"] == 2, "one point makes a tie, which is a success"


def test_a_row_that_counts_as_an_unknown_outcome_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fate" / "outcomes").mkdir(parents=True)
    (tmp_path / "fate" / "outcomes" / "create-existing.toml").write_text('[tie]\ncounts-as = "succed"\n')
    assert "succeed" in complaint("roll", *EXISTING, "--rulesets", str(tmp_path), code=1)
    assert "counts-as" in rpgres("ruleset", "check", "fate", "--rulesets", str(tmp_path)).out
