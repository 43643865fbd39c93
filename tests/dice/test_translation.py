"""What other tools and plain English write is told as it is written here."""

import pytest

from rpgres.dice import read_line, translation
from rpgres.errors import NotationError

MEANT = {
    "/r 4d6kh3": "4d6kh3",
    "!r 1d20 adv": "1d20 adv",
    "[[4d6]]": "4d6",
    "`3d6`": "3d6",
    "3d6.": "3d6",
    "output [highest 3 of 4d6]": "4d6kh3",
    "highest of 3d6": "3d6kh1",
    "lowest of 2d20": "2d20kl1",
    "sum largest 3 4d6": "4d6kh3",
    "count 6 in 5d6": "5d6=6",
    "highest of 3d6 and 2d8": "(3d6,2d8)kh1",
    "max(2d6,3d8)": "(2d6,3d8)kh1",
    "min(2d6, 3d8)": "(2d6, 3d8)kl1",
    "floor(3d6/2)": "(3d6/2)",
    "1d20min10": "(d20,10)kh1",
    "2d6mi2": "(d6,2)kh1+(d6,2)kh1",
    "d20max15": "(d20,15)kl1",
    "3d6x": "3d6!",
    "1d6x>4": "1d6!>4",
    "1d20e20": "1d20!",
    "1d20e19": "1d20!=19",
    "1d6xo6": "1d6!o",
    "2d6xo5+1": "2d6!o=5+1",
    "1d6xo": "1d6!o",
    "1d6xo>4": "1d6!o>4",
    "5d10cs>=8": "5d10>=8",
    "10d6cs6": "10d6=6",
    "8d10t7": "8d10>=7",
    "6x3d6": "3d6 6 times",
    "6#3d6": "3d6 6 times",
    "6 4d6": "4d6 6 times",
    "3 times (1+1d6)*2": "(1+1d6)*2 3 times",
    "10 (1+1d6)*2": "(1+1d6)*2 10 times",
    "4dFudge": "4dF",
    "2d20 take highest": "2d20 keep highest",
    "4d6, drop lowest": "4d6 drop lowest",
    "4d6 drop lowest die": "4d6 drop lowest",
    "3d6 reroll 1s": "3d6 r1",
    "d20 with advantage": "d20 advantage",
    "1d20+5>15": "1d20+5 vs >15",
    "d20+5 against AC 15": "d20+5 vs 15",
    "d100 under 45": "d100 vs <=45",
    "2d6 + 1d4 fire": "2d6 + 1d4[fire]",
    "1d8 slashing + 1d6 fire": "1d8[slashing] + 1d6[fire]",
    "d20 + 5 to hit": "d20 + 5 # to hit",
    "d20 (perception)": "d20 # perception",
    "two d6": "2d6",
}


@pytest.mark.parametrize(("text", "meant"), MEANT.items())
def test_notation_of_other_tools_is_told_as_it_is_written_here(text: str, meant: str) -> None:
    with pytest.raises(NotationError) as caught:
        read_line(text)
    assert caught.value.message.endswith(f"; did you mean {meant!r}?")
    read_line(meant)
    assert text[caught.value.position :]


@pytest.mark.parametrize(
    "text", ["4d6k3", "1d20 + STR", "2d{1,3,5}", "1d20+5, 1d8+3", "1d20cs>18", "2d6 adv", "3d6 x 10", "2d6+"]
)
def test_what_may_mean_several_things_is_not_guessed(text: str) -> None:
    with pytest.raises(NotationError) as caught:
        read_line(text)
    assert "did you mean" not in caught.value.message


def test_dice_with_a_lowest_value_have_the_chances_of_the_other_tool() -> None:
    law = read_line(translation.translated("2d6mi2")).dice.law
    faces = [max(2, face) for face in range(1, 7)]
    assert {value: sum(a + b == value for a in faces for b in faces) for value in law.values} == dict(law.items())


def test_only_texts_that_speak_of_dice_are_taken_as_such() -> None:
    assert all(map(translation.describes_dice, ("highest of 3d6", "/r 4d6", "a d20", "'3d6'", "max(2d6,3d8)")))
    assert not any(map(translation.describes_dice, ("foo overcome 3 vs 4dF", "highest-die roll d6")))
