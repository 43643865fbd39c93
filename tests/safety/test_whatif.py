"""What-if at a table starts from what the seat sees, the game master's too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.command_line import rpgres


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def options(text: str) -> list[str]:
    """Return the cards that a message offers."""
    return re.findall(r"\b(?:St|Ag|Do|In|Wi)\d+\b", text.partition("may choose:")[2])


def begin() -> list[str]:
    """Play an action at a table of two hands, and return the hand of ilse as it was."""
    rpgres(
        "table",
        "new",
        "saga",
        "--sheet",
        "ilse",
        "--sheet",
        "brannagh",
        "--seed",
        "7",
        "--trust",
        "players",
        "--table",
        "s.db",
    )
    line = ("act", "--as", "ilse", "--vs", "average", "--ability", "agility", "--table", "s.db")
    hand = options(rpgres("table", "act", *line, "--choose", "play=zz").err)
    rpgres("table", "act", *line)
    rpgres("table", "answer", "--as", "ilse", "--table", "s.db", "--choose", f"play={hand[0]}", "--choose", "play=no")
    rpgres("table", "answer", "--table", "s.db", "--auto")
    return hand


def test_the_game_master_learns_no_hand() -> None:
    hand = begin()
    for choice in ("play#1=zz", f"play#1={hand[1]}"):
        ran = rpgres("whatif", "s.db#1", "--as", "gm", "--choose", choice)
        assert (ran.code, options(ran.err), "may not know" in ran.err) == (2, [], True)


def test_a_player_changes_an_own_card_where_others_have_hands() -> None:
    hand = begin()
    assert len(hand) > 1
    ran = rpgres("whatif", "s.db#1", "--as", "ilse", "--choose", f"play#1={hand[1]}", "--json")
    assert (ran.code, hand[1] in ran.out) == (0, True)
    refused = rpgres("whatif", "s.db#1", "--as", "ilse", "--choose", "play#1=zz")
    assert (refused.code, set(options(refused.err))) == (2, set(hand))
