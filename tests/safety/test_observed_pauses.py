"""An observation of a pause tells which points come back, and how many."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import as_json, rpgres

PAUSE = ("roll", "nodice", "observe", "--int", "2", "--target")
SECOND = ("--switch", "pause_pool_is_second_card=yes")
LATER = ("--switch", "pause_pool_chosen_at=resolve")
ON_RESOLVING = "pause, returns a pool chosen when it resolves"


@pytest.mark.parametrize(
    ("target", "switch", "cards"),
    [
        ("pause:pool=agi,spent=3", (), ["pause, returns agi (now agi 3)"]),
        ("pause:pool=agi,spent=0", (), ["pause, returns agi (now nothing)"]),
        ("pause:pool=agi", (), ["pause, returns agi"]),
        ("pause", (), ["pause, returns a pool (give it with pool=agi,spent=2)"]),
        ("pause:pool=agi,spent=3", SECOND, ["pause", "returns agi (now agi 3)"]),
        ("pause:pool=agi,spent=3", LATER, [ON_RESOLVING]),
    ],
)
def test_described(target: str, switch: tuple[str, ...], cards: list[str]) -> None:
    assert as_json(*PAUSE, target, *switch)["details"]["targets"][0]["cards"] == cards


@pytest.mark.parametrize(
    ("switch", "pause", "seen"),
    [((), "pause/5/agi", "pause, returns agi (now agi 2)"), (LATER, "pause/5", ON_RESOLVING)],
)
def test_at_a_table(
    switch: tuple[str, ...], pause: str, seen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    at = ("--table", "n.db")
    rpgres("table", "new", "nodice", *("--sheet", "orsa", "--sheet", "bram", "--switch", "pace=free"), *switch, *at)
    rpgres("table", "begin", "sequence", *at)
    rpgres("table", "act", "declare", "--as", "bram", "--who", "bram", "--choose", "declare=move/forward/agi=2", *at)
    rpgres("table", "act", "declare", "--as", "orsa", "--who", "orsa", "--choose", "declare=nothing", *at)
    rpgres("table", "act", "resolve", "--as", "gm", "--auto", *at)
    rpgres("table", "act", "declare", "--as", "bram", "--who", "bram", "--choose", f"declare={pause}", *at)
    watch = "declare=observe/bram#2/int=1"
    rpgres("table", "act", "declare", "--as", "orsa", "--who", "orsa", "--choose", watch, *at)
    rpgres("table", "act", "resolve", "--as", "gm", "--auto", *at)
    assert seen in rpgres("table", "log", "--as", "orsa", *at).out
    assert seen in rpgres("table", "show", "--as", "orsa", *at).out
