"""Actions with named dice as they are played: what is given, told and changed, and who rolls."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpgres import resolve
from rpgres.errors import GivenError, RuleError, UsageError
from rpgres.model.events import RollEvent
from tests.support.command_line import rpgres
from tests.support.declarative import done, here, odds, write

__all__ = ["here"]  # a fixture that every test here uses

CONTEST = """
standalone = true
title = "Contest"
summary = "A pool against a pool, and what a blow does."
version = "1"

[bands]
lost = { title = "Lost", success = false }
tie = { title = "Tie" }
won = { title = "Won", success = true }

[actions.contest]
summary = "Contest."
parameters = ["pool", "vs", "blade", "angry"]
required = ["pool"]
tell = { margin = "margin", mood = "temper", edge = "keen" }

[actions.contest.dice]
own = { roll = "{pool + angry}d10", again = "angry and face = 10 and not added" }
other = "{vs}"
luck = "{blade}"

[actions.contest.numbers]
total = "count(own, face >= 8)"
opposition = "if(given(vs), other, nothing)"
margin = "if(given(vs), total - other, nothing)"
temper = "if(angry, 'hot', nothing)"
keen = "luck + grit"

[actions.contest.bands]
won = "not given(vs) or total > other"
tie = "total = other"
lost = "else"

[parameters]
pool = { kind = "ability", help = "the pool" }
vs = { kind = "opposition", help = "the other", rolls = "{rating}d10>=8", numbers-too = true, unit = "successes" }
blade = { kind = "dice", help = "dice of the blade" }
angry = { kind = "flag", help = "whether one is angry" }

[outcomes.contest.won]
text = "Yours."
rolls = { harm = "{keen}d4" }
effects = [
  { kind = "hurt", to = "opponent", change = "-harm" },
  { kind = "hurt", to = "actor", change = "margin", when = { angry = "yes", margin-from = 2 } },
]

[effects]
hurt = { help = "health is lost", does = "counter", counter = "health" }

[sheet]
name = { kind = "text", help = "the name" }
pools = { kind = "abilities", any-name = true, help = "the pools" }
grit = { kind = "counter", default = 1, help = "grit" }
health = { kind = "counter", default = 9, help = "health" }
"""


@pytest.fixture(autouse=True)
def contest(here: Path) -> None:
    write(CONTEST, name="contest")
    sheet = Path("rulesets/contest/sheets/ann.toml")
    sheet.parent.mkdir()
    sheet.write_text('name = "Ann"\n[pools]\nbrawl = 4\n', encoding="utf-8")


def test_whoever_opposes_rolls_their_own_dice() -> None:
    found = done("contest", name="contest", pool=3, vs="ann:brawl", given={"own": "8,9,1", "other": "8,1,1,1"})
    assert (found.outcome, found.total, found.opposition, found.margin) == ("won", 2, 1, 1)
    rolled = [(event.label, event.by) for event in found.events if isinstance(event, RollEvent)]
    assert rolled == [("own", "actor"), ("other", "ann"), ("harm", "actor")]


def test_a_rating_that_is_no_dice_by_its_rule_is_told_with_both() -> None:
    best = Path("rulesets/best/ruleset.toml")
    best.parent.mkdir(parents=True)
    text = Path("rulesets/contest/ruleset.toml").read_text(encoding="utf-8")
    best.write_text(text.replace('"{rating}d10>=8"', '"{rating}d10kh2"'), encoding="utf-8")
    typed = {"own": "8", "other": "8,1"}
    assert done("contest", name="best", pool=1, vs="2d10", given=typed).opposition == 9  # dice as typed have no rating
    with pytest.raises(UsageError, match=r"vs`: a rating of 1 is no dice by its rule, \{rating\}d10kh2: kh2 asks for"):
        resolve("best", "contest", pool=1, vs="1")


def test_odds_of_a_contest_are_those_of_a_roll_against_a_roll() -> None:
    own = odds("contest", name="contest", pool=5, vs=3)
    same = odds("contest", name="again-pool", pool=5, vs=3)
    assert own == {
        "lost": same["failure"],
        "tie": same["standoff"],
        "won": same["success"] + same["exceptional-success"],
    }
    assert (
        odds("contest", name="contest", pool=2, vs="1 successes")["lost"]
        == odds("contest", name="again-pool", pool=2, vs="1 successes")["failure"]
    )


def test_left_out_is_not_0() -> None:
    alone = done("contest", name="contest", pool=1, given={"own": "2"})
    assert (alone.outcome, alone.margin, alone.opposition) == ("won", None, None)
    assert "margin" not in alone.details
    against = done("contest", name="contest", pool=1, vs="0s", given={"own": "2"})
    assert (against.outcome, against.margin) == ("tie", 0)


def test_words_and_numbers_are_told_under_their_names() -> None:
    found = done(
        "contest", name="contest", pool=1, vs="1s", angry=True, blade="1d4+1",
        given={"own": "10,8,9", "luck": "3", "harm": "1,1,1,1"},
    )  # fmt: skip
    assert found.details == {"margin": 2, "mood": "hot", "edge": 4}  # whoever has no sheet has no grit
    assert [(effect["to"], effect["change"]) for effect in found.effects] == [("opponent", -4), ("actor", 2)]


def test_an_added_die_stands_behind_the_one_that_brought_it() -> None:
    typed = {"own": "10,10,3"}
    found = done("contest", name="contest", pool=1, angry=True, given=typed)
    assert found.total == 2  # the added 10 brings none, as it is added itself
    assert [answer.value for answer in found.answers if answer.label == "own"] == ["10,10,3"]
    again = done("contest", name="contest", pool=1, angry=True, seed=found.seed, given=typed)
    assert again.events == found.events
    for faces, told in (
        (
            "10,3",
            "two d10 expected; in '10,3' the 10 explodes and is followed by the next face of the die that it brings",
        ),
        ("3,4,5", "one face too many"),
        ("3,11", "'11' in '3,11' is no face of a d10"),
    ):
        with pytest.raises(GivenError, match=told):
            resolve("contest", "contest", pool=1, angry=True, given={"own": faces})


def test_no_dice_are_no_question() -> None:
    found = done("contest", name="contest", pool=0, vs="0s")
    assert (found.outcome, found.answers) == ("tie", [])
    with pytest.raises(UsageError, match="was not used"):
        resolve("contest", "contest", pool=0, vs="0s", given={"own": "3"})
    with pytest.raises(UsageError, match="has no chance label 'roll'; it has: own, other, luck, harm"):
        resolve("contest", "contest", pool=1, given={"roll": "3"})


def test_too_many_dice_are_told() -> None:
    with pytest.raises(UsageError, match=r"the dice own are '\{pool \+ angry\}d10', which is '2000d10' here"):
        resolve("contest", "contest", pool=2000)


def test_a_word_in_place_of_a_number_is_a_fault_of_the_ruleset() -> None:
    write(CONTEST.replace('"luck + grit"', '"luck + temper"'), name="worded")
    with pytest.raises(RuleError, match="the word 'hot' is used as a number"):
        resolve("worded", "contest", pool=1, angry=True)


def test_the_ruleset_shows_its_dice() -> None:
    shown = rpgres("ruleset", "show", "contest", "contest").out
    assert "own         {pool + angry}d10, again if angry and face = 10 and not added" in shown
    assert "won         if not given(vs) or total > other" in shown
    assert "lost        else" in shown


def test_a_house_rule_adds_an_outcome_before_what_comes_about_else() -> None:
    write(
        '[bands.routed]\ntitle = "Routed"\nsuccess = false\n[actions.contest.bands]\nrouted = "total + 2 <= other"\n',
        name="contest",
        root="house",
    )
    line = ["roll", "contest", "contest", "--pool", "1", "--vs", "3s", "--given", "own=2"]
    assert "Contest: Lost" in rpgres(*line).out
    assert "Contest: Routed" in rpgres(*line, "--rulesets", "house").out
    assert rpgres("ruleset", "check", "contest", "--rulesets", "house").code == 0
