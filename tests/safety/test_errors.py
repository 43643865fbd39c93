"""Errors of names: few names, the nearest first, and what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rpgres.errors import MOST_LISTED, enumerated
from tests.support.command_line import rpgres

OWN = 'write to rulesets/fate/ruleset.toml the two lines "[sheet.skills]" and "any-name = true"'


@pytest.mark.parametrize(
    ("names", "word", "told"),
    [
        ([], "", "none"),
        (list("abcdefg"), "g", "a, b, c, d, e, f, g"),
        (list("abcdefgh"), "", "a, b, c, d, e, f, g, ..."),
        (list("abcdefgh"), "h", "h, a, b, c, d, e, f, ..."),
    ],
)
def test_a_message_lists_few_names_the_nearest_first(names: list[str], word: str, told: str) -> None:
    assert enumerated(names, word) == told


@pytest.mark.parametrize(
    "line",
    [
        "roll fate climb",
        "roll fate overcome --sheet mara --skill xyzzy --vs 2",
        "roll fate attack --sheet mara --skill fight --vs edda",
        "roll fate overcome --sheet nobody --skill 2 --vs 2",
        "fate mara overcome xyzzy",
        "sheet check long.toml",
    ],
)
def test_no_error_lists_more(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("long.toml").write_text('ruleset = "fate"\nname = "Long"\n[skills]\nxyzzy = 2\n')
    done = rpgres(*line.split())
    assert done.code in (1, 2)
    lists = [part for part in (done.out + done.err).replace(";", ":").split(":") if part.count(", ") > 2]
    assert lists or "did you mean" in done.out + done.err, done
    assert all(part.count(", ") <= MOST_LISTED for part in lists), done


def test_an_own_skill_needs_the_two_lines_that_the_error_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kell.toml").write_text('ruleset = "fate"\nname = "Kell"\n[skills]\nswimming = 2\n')
    assert OWN in rpgres("sheet", "check", "kell.toml").out
    assert OWN in rpgres("roll", "fate", "overcome", "--sheet", "mara", "--skill", "swimming", "--vs", "2").err
    Path("rulesets/fate").mkdir(parents=True)
    Path("rulesets/fate/ruleset.toml").write_text("[sheet.skills]\nany-name = true\n")
    assert rpgres("sheet", "check", "kell.toml").out == "kell.toml: ok\n"


def test_a_sheet_in_json_is_called_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kell.json").write_text('{"ruleset": "fate", "name": "Kell"}')
    for line in ("sheet show kell.json", "roll fate overcome --sheet kell.json --skill 2 --vs 2"):
        assert "kell.json:1:1: this is JSON, but the file must be TOML" in rpgres(*line.split()).err


@pytest.mark.parametrize("request_", ['{"dice": "d6"}', '{"op": "roll", "dice": "d6"}', '{"op": "odds", "dice": "d6"}'])
def test_dice_in_a_batch_are_called_notation(request_: str) -> None:
    assert "dice are given as `notation`" in json.loads(rpgres("batch", stdin=request_).out)["message"]


def test_a_word_that_is_typed_in_advance_is_for_actions_that_ask_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert rpgres("table", "new", "fate", "--sheet", "mara", "--seed", "7").code == 0
    done = rpgres("play", stdin="mara overcome burglary 2 --given roll=----\nconcede\nno\nquit\n")
    assert "will concede" not in done.out + done.err
    assert "no decision label" not in done.out + done.err


def test_a_line_at_a_turn_knows_titles_with_small_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("captain.toml").write_text('ruleset = "fate"\nname = "Captain of the Guard"\n[skills]\nfight = 2\n')
    fight = [
        "roll",
        "fate",
        "conflict",
        "--sheet",
        "mara",
        "--against",
        "captain",
        "--exchanges",
        "1",
        "--seed",
        "1",
        "--auto",
    ]
    done = rpgres(*fight, "--choose", "turn=attack captain of the guard with fight")
    assert (done.code, "Mara attacks" in done.out) == (0, True), done
