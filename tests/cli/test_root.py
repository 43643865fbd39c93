"""The root of the command line and its help."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpgres.cli.root import COMMANDS
from tests.support.command_line import complaint, rpgres


def test_the_bare_program_says_what_can_be_typed() -> None:
    ran = rpgres()
    assert ran.code == 0
    assert ran.err == ""
    for line in ("rpgres roll 4dF+3", "rpgres roll fate overcome --skill 3 --vs fair", "rpgres odds fate attack"):
        assert line in ran.out


def test_every_line_of_the_overview_works() -> None:
    lines = [line.strip().split("  ")[0] for line in rpgres().out.splitlines() if line.startswith("  rpgres")]
    assert len(lines) == 6
    for line in lines:
        assert rpgres(*line.split()[1:]).code in (0, 3), line


def test_version() -> None:
    from rpgres import __version__

    assert rpgres("--version") == (0, f"rpgres {__version__}\n", "")


def test_the_list_of_commands() -> None:
    out = rpgres("--help").out
    for name, text in COMMANDS.items():
        assert any(line.split()[:2] == [name, text.split()[0]] for line in out.splitlines()), name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_explains_itself(name: str) -> None:
    ran = rpgres(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: rpgres {name} ")


def test_help_of_a_ruleset_lists_its_actions() -> None:
    out = rpgres("roll", "fate", "--help").out
    assert "Actions:\n  overcome          Get past an obstacle, or change something for good.\n" in out


def test_help_of_an_action_explains_all_of_it() -> None:
    out = " ".join(rpgres("roll", "fate", "attack", "--help").out.split())
    for text in (
        "Usage: rpgres roll fate attack [OPTIONS]",
        "--skill, --ability NAME|NAME=N|N The skill to roll",
        "--track physical|mental Which stress the harm goes to: physical (wounds and exhaustion)",
        "[default: physical]",
        "--sheet FILE",
        "--switch NAME=CHOICE",
        "hit [decision] The full hit, or one shift less and a boost? (full, boost; actor)",
        "passive_defender_boost whether a target that does not roll still gains the boost",
        "Example: rpgres roll fate attack --skill 4 --vs 4dF+2",
    ):
        assert text in out


def test_a_house_rule_changes_help_and_line(tmp_path: Path) -> None:
    (tmp_path / "fate").mkdir()
    (tmp_path / "fate" / "ruleset.toml").write_text(
        '[actions.pray]\nsummary = "Ask for help."\nparameters = ["bonus"]\n', "utf-8"
    )
    listed = "  pray              Ask for help.\n"
    assert listed in rpgres("roll", "fate", "--rulesets", str(tmp_path), "--help").out
    assert listed in rpgres("roll", "--rulesets", str(tmp_path), "fate", "--help").out
    assert listed in rpgres("roll", "fate", "--help", RPGRES_RULESETS=str(tmp_path)).out
    assert "--bonus" in rpgres("roll", "fate", "pray", "--rulesets", str(tmp_path), "--help").out
    assert "no action 'pray'" in complaint("roll", "fate", "pray")


def test_help_has_every_question_of_a_label() -> None:
    text = " ".join(rpgres("help", "fate", "overcome").out.split())
    assert "cost [decision] What does it cost, dearly? (problem, opposition, consequence, advantage; " in text
    assert " Or: What does it cost, in a small way? (detail, stress, boost, aspect; the game master)" in text
