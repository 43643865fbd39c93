"""What is typed or scripted after an action, read into values; and what is refused, with what was expected."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.engine.prepare import Prepared, prepare
from rpgres.errors import FileError, RpgresError, UsageError
from rpgres.model.state import Character, Map, State
from rpgres.parameters.values import Form, Opposition, Rating
from tests.support.tiny import TINY, tiny_rules

MORE = """
[parameters.skill]
kind = "ability"
help = "the skill"
aliases = ["ability"]

[parameters.bonus]
kind = "integer"
default = 0
at-least = -3
at-most = 3
help = "more"

[parameters.mood]
kind = "choice"
default = "calm"
help = "the mood"
choices = { calm = "calm", wild = "wild" }

[parameters.mark]
kind = "tag"
tag = "sign"
many = true
help = "a sign"

[parameters.purse]
kind = "counter"
counter = "luck"
at-least = 0
help = "luck"

[parameters.pool]
kind = "counter"
counter = "doom"
holder = "table"
help = "doom"

[parameters.friend]
kind = "character"
many = true
help = "a friend"

[parameters.word]
kind = "text"
help = "a word"

[parameters.foes]
kind = "opposition"
name = "against"
many = true
help = "foes"

[parameters.rivals]
kind = "form"
many = true
seats = true
help = "whoever competes"
fields.skill = { kind = "ability", default = 0, help = "how good" }
fields.coins = { kind = "integer", at-least = 0, at-most = 9, help = "how rich" }
fields.luck = { kind = "dice", help = "how lucky" }
fields.bold = { kind = "flag", help = "whether bold" }
fields.mood = { kind = "choice", choices = { calm = "calm", wild = "wild" }, help = "the mood" }
fields.cry = { kind = "text", help = "what is cried" }

[parameters.enemies]
kind = "form"
many = true
seats = true
others = true
help = "whoever fights"
fields.bold = { kind = "flag", help = "whether bold" }

[actions.probe]
summary = "Takes one of everything."
parameters = ["skill", "bonus", "mood", "mark", "purse", "pool", "friend", "word", "push", "foes", "rivals", "enemies"]

[sheet.skills]
kind = "abilities"
names = ["wits", "brawn"]
help = "skills"
"""


def probe(state: State | None = None, actor: str = "", **inputs: Any) -> Prepared:
    rules = tiny_rules(TINY + MORE)
    rules.ruleset.actions["probe"] = rules.ruleset.actions["try"]
    return prepare(rules, "probe", inputs, state=state, actor=actor)


ADA = State(
    Map({"ada": Character("ada", abilities=Map({"wits": 3})), "bo": Character("bo", abilities=Map({"wits": 1}))})
)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (3, Rating(3)),
        ("3", Rating(3)),
        ("+3", Rating(3)),
        ("-1", Rating(-1)),
        ("\N{MINUS SIGN}1", Rating(-1)),
        ("wits", Rating(3, "wits")),
        ("Wits", Rating(3, "wits")),
        ("brawn", Rating(0, "brawn")),
        ("brawn=4", Rating(4, "brawn")),
        ("sorcery=2", Rating(2, "sorcery")),
        ("hard", Rating(9)),
    ],
)
def test_an_ability_is_a_number_a_name_or_both(typed: Any, expected: Rating) -> None:
    assert probe(ADA, "ada", skill=typed).arguments["skill"] == expected
    assert probe(ADA, "ada", ability=typed).arguments["skill"] == expected


@pytest.mark.parametrize("typed", ["brwan=3", "witts=1"])
def test_a_misspelt_ability_with_a_rating_is_refused(typed: str) -> None:
    near = {"b": "brawn", "w": "wits"}[typed[0]]
    with pytest.raises(UsageError, match=f"`skill`: tiny has no ability .*; did you mean '{near}'"):
        probe(ADA, "ada", skill=typed)
    with pytest.raises(UsageError, match=near):
        probe(ADA, "ada", against=f"bo:{typed}")


def test_an_ability_of_the_sheet_is_no_misspelt_one() -> None:
    ben = State(Map({"ben": Character("ben", abilities=Map({"witts": 1}))}))
    assert probe(ben, "ben", skill="witts=4").arguments["skill"] == Rating(4, "witts")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (2, (Opposition(2),)),
        ("2", (Opposition(2),)),
        ("easy", (Opposition(5),)),
        ("none", ()),
        ({"character": "bo", "skill": "wits"}, (Opposition(1, character="bo", ability="wits"),)),
        ("bo:wits", (Opposition(1, character="bo", ability="wits"),)),
        ("bo:wits=4", (Opposition(4, character="bo", ability="wits"),)),
        (["2", "none", 7], (Opposition(2), Opposition(7))),
    ],
)
def test_opposition_is_a_number_a_rung_or_somebody(typed: Any, expected: tuple[Opposition, ...]) -> None:
    read = probe(ADA, "ada", against=typed).arguments["against"]
    assert [(one.value, one.character, one.ability) for one in read] == [
        (one.value, one.character, one.ability) for one in expected
    ]
    assert all((one.dice is not None) == bool(one.character) for one in read)


@pytest.mark.parametrize(
    ("typed", "name", "expected"),
    [
        ("rook", "rook", {"skill": Rating(0)}),
        ("rook:skill=3,coins=2", "rook", {"skill": Rating(3), "coins": 2}),
        ("rook: skill = hard , bold", "rook", {"skill": Rating(9), "bold": True}),
        ("bo:skill=wits,mood=wild,cry=a:b=c", "bo", {"skill": Rating(1, "wits"), "mood": "wild", "cry": "a:b=c"}),
        ({"name": "bo", "skill": "wits=4", "bold": False}, "bo", {"skill": Rating(4, "wits"), "bold": False}),
    ],
)
def test_a_form_is_a_name_and_what_is_said_of_it(typed: Any, name: str, expected: dict[str, Any]) -> None:
    for several in (typed, [typed]):
        assert probe(ADA, "ada", rivals=several).arguments["rivals"] == (Form(name, Map(expected)),)


def test_dice_in_a_form_may_be_a_number() -> None:
    one, two = (probe(rivals=[f"rook:luck={text}" for text in ("1d4-1", "3")]).arguments["rivals"][k] for k in (0, 1))
    assert one.values["luck"].text == "d4-1"
    assert two.values["luck"].constant


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (
            "rook:skil=3",
            r"`rivals` rook has no field 'skil'; did you mean 'skill'\?; it is typed as NAME:KEY=VALUE,...",
        ),
        ("rook:coins=10", "`rivals` rook: coins takes a whole number from 0 to 9, not 10"),
        ("rook:coins", "coins is followed by = and a value"),
        ("rook:coins=1,coins=2", "coins is given twice"),
        ("skill=3", "has no name"),
        (":skill=3", "has no name"),
        ("rook:skill=wits", "takes a whole number, as no character of this name is at the table"),
        ("bo:skill=zzz", "zzz"),
        ("rook:mood=angry", "angry"),
        ("rook:luck=2d", "after d, the number of sides"),
        ("nowhere.toml:skill=3", "nowhere.toml"),
        ({"skill": 3}, 'name = "NAME"'),
    ],
)
def test_a_form_that_says_something_impossible_is_refused(typed: Any, told: str) -> None:
    with pytest.raises(RpgresError, match=told):
        probe(ADA, "ada", rivals=typed)


def test_dice_oppose_actively() -> None:
    (read,) = probe(against="2d6+2").arguments["against"]
    assert read.dice is not None
    assert read.dice.text == "2d6+2"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"skil": 3}, "did you mean 'skill'"),
        ({"skill": 3, "ability": 3}, "the same parameter"),
        ({"skill": "wts"}, "did you mean 'wits'"),
        ({"skill": "wits=x"}, "whole number"),
        ({"skill": []}, r"takes one value, NAME\|NAME=N\|N, not a list of 0"),
        ({"skill": True}, "number or the name"),
        ({"bonus": 4}, "from -3 to 3"),
        ({"bonus": "x"}, "whole number"),
        ({"bonus": 1.5}, "whole number"),
        ({"bonus": True}, "whole number"),
        ({"mood": "wyld"}, "did you mean 'wild'"),
        ({"mood": {}}, "mood"),
        ({"mark": "=2"}, "has no name"),
        ({"mark": "Fire=x"}, "free uses"),
        ({"mark": "Fire=100"}, "free uses"),
        ({"purse": -1}, "at least 0"),
        ({"friend": "cy"}, "neither a character at the table nor a sheet"),
        ({"enemies": ["bo", "cy"]}, "neither a character at the table nor a sheet"),
        ({"enemies": ["bo", "ada"]}, "'ada' is the actor"),
        ({"word": 3}, "takes a text"),
        ({"push": "maybe"}, "neither true nor false"),
        ({"against": "2d0"}, "d"),
        ({"against": "impossible"}, "no rung of the ladder"),
        ({"against": "bo:wts"}, "did you mean 'wits'"),
        ({"against": "ada:wits"}, "their own action"),
        ({"against": {"character": "bo"}}, "as a table"),
        ({"against": {"character": "bo", "skill": "wits", "more": 1}}, "as a table"),
        ({"against": True}, "takes a number"),
        ({"sheet": "nowhere"}, "no sheet 'nowhere'"),
    ],
)
def test_what_cannot_be_meant_is_refused(inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(RpgresError, match=message):
        probe(ADA, "ada", **inputs)


def test_what_is_required_is_asked_for_with_its_form() -> None:
    with pytest.raises(UsageError, match=r"tiny try needs `vs` N\|RUNG\|DICE"):
        prepare(tiny_rules(), "try", {})


def test_tags_and_counters_are_laid_before_the_action_and_are_no_arguments() -> None:
    prepared = probe(ADA, "ada", mark=["Fire=2", "Smoke"], purse=4, pool="3")
    assert [(tag.name, tag.kind, dict(tag.uses)) for tag in prepared.state.tags] == [
        ("Fire", "sign", {"ada": 2}),
        ("Smoke", "sign", {}),
    ]
    assert prepared.state.characters["ada"].counters["luck"] == 4
    assert prepared.state.counters["doom"] == 3
    assert not {"mark", "purse", "pool"} & set(prepared.arguments)


def test_somebody_unknown_acts_without_a_sheet() -> None:
    prepared = probe(skill=3)
    assert prepared.actor == "actor"
    assert prepared.state.characters["actor"].abilities == {}
    with pytest.raises(UsageError, match="its rating is unknown"):
        probe(skill="wits")
    with pytest.raises(UsageError, match="name who acts, such as ada"):
        probe(ADA, skill="wits")


def test_a_sheet_sits_down_under_its_files_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Cy Quick.toml").write_text('name = "Cy"\nluck = 2\n[skills]\nwits = 4\n')
    prepared = probe(sheet="Cy Quick.toml", skill="wits", friend=["Cy Quick.toml"])
    assert prepared.actor == "cy-quick"
    assert prepared.arguments["skill"] == Rating(4, "wits")
    assert prepared.arguments["friend"] == ("cy-quick-2",)  # the same file again is somebody else
    assert prepared.state.characters["cy-quick"].title == "Cy"


def test_every_fault_of_a_sheet_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cy.toml").write_text('nam = "Cy"\nluck = -2\n[skills]\nwitz = 4\nbrawn = "x"\n')
    with pytest.raises(FileError) as error:
        probe(sheet="cy.toml")
    assert [problem["line"] for problem in error.value.details["problems"]] == [1, 2, 4, 5]


@pytest.mark.slow
@given(
    st.dictionaries(
        st.sampled_from(["skill", "bonus", "mood", "mark", "purse", "friend", "word", "push", "against", "sheet", "x"]),
        st.text(max_size=12) | st.integers() | st.booleans() | st.lists(st.text(max_size=5), max_size=2) | st.none(),
        max_size=4,
    )
)
def test_nothing_typed_makes_a_traceback(inputs: dict[str, Any]) -> None:
    with contextlib.suppress(RpgresError):
        assert probe(ADA, "ada", **inputs).action == "probe"
