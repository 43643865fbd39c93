"""A turn of a conflict shows its arithmetic: who, what, dice, what was added, the total, against whom and what."""

from __future__ import annotations

import pytest

from tests.support.command_line import as_json, rpgres

FIGHT = ("roll", "fate", "conflict", "--sheet", "mara", "--against", "thug", "--choose", "invoke=no")


@pytest.mark.parametrize(
    ("choose", "dice", "line"),
    [
        (
            ["attack"],
            ("++++", "----"),
            "Mara attacks Thug with Fight: +1 ++++ = +5 against Fight: +2 ---- = -2. Succeed with style, 7 shifts.",
        ),
        (["attack"], ("0000", "-000"), "with Fight: +1 0000 = +1 against Fight: +2 -000 = +1. Tie. The attack"),
        (["attack"], ("0000", "0000"), "with Fight: +1 0000 = +1 against Fight: +2 0000 = +2. Fail by 1. The attack"),
        (
            ["create-advantage", "target=thug"],
            ("++00", "0000"),
            "goes for an advantage with Fight: +1 ++00 = +3 against Fight of Thug: +2 0000 = +2. Succeed, 1 shift. The",
        ),
        (
            ["overcome", "target=scene", "obstacle=3"],
            ("++++",),
            "Mara tries to overcome what is in the way with Athletics: +2 ++++ = +6 against +3. Succeed with style",
        ),
    ],
)
def test_a_turn_of_a_conflict(choose: list[str], dice: tuple[str, ...], line: str) -> None:
    answers = [f"turn={choose[0]}", *choose[1:], "hit=full", "turn=pass", "turn=concede"]
    chosen = [part for answer in answers for part in ("--choose", answer)]
    given = [
        part
        for label, faces in zip(("roll", "opposition"), dice, strict=False)
        for part in ("--given", f"{label}={faces}")
    ]
    assert line in " ".join(rpgres(*FIGHT, *chosen, *given, "--seed", "1").out.split())


def test_what_was_added_is_told_in_text_and_in_json() -> None:
    line = ("scene", "run", "fate/ambush", "--seed", "3", "--auto")
    told = "Fight: +2 -++0 +4 = +7 against Fight: +3 +0+0 = +5"
    assert told in rpgres(*line).out
    turns = [one for step in as_json(*line)["steps"] for one in step.get("events", []) if one["event"] == "turn"]
    sums = next(one["sums"] for one in turns if one["action"] == "attack")
    assert sums == [
        {"who": "edda", "ability": "fight", "rating": 2, "faces": "-++0", "more": 4, "total": 7},
        {"who": "bruiser", "ability": "fight", "rating": 3, "faces": "+0+0", "more": 0, "total": 5},
    ]
    assert all(one["total"] == one["sums"][0]["total"] for one in turns if "sums" in one)
