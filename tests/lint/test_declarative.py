"""What `ruleset check` finds in a ruleset in one file that could be played, and would not do what its author meant."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.command_line import rpgres
from tests.support.declarative import here, write

__all__ = ["here"]  # a fixture that every test here uses

# Two tens and a trait of any name, over a number.
GRIM = """
standalone = true
title = "Grim"
summary = "Two tens over a number."
version = "1"

[bands]
miss = { title = "Miss", to = -1, success = false }
hit = { title = "Hit", from = 0, success = true }

[actions.try]
summary = "Try."
parameters = ["trait", "vs", "edge"]
required = ["trait", "vs"]
dice = { roll = "2d10", opposition = "{vs}" }
numbers = { natural = "roll", total = "roll + trait + if(edge = 'some', 1, 0) - weariness" }
tell = ["natural"]
example = "rpgres roll grim try --trait void=2 --vs 10"

[parameters.trait]
kind = "ability"
help = "what counts"

[parameters.vs]
kind = "opposition"
help = "the number"

[parameters.edge]
kind = "choice"
help = "what helps"
default = "none"
choices = { none = "nothing", some = "something" }

[outcomes.try.hit]
text = "It is done."

[sheet.name]
kind = "text"
help = "who it is"

[sheet.traits]
kind = "abilities"
any-name = true
help = "any"
"""


def grim(*changes: tuple[str, str], more: str = "", sheet: str = "traits = { void = 2, fire = 3 }\n") -> Path:
    """Write the ruleset with some of its text changed, and with a character."""
    text = GRIM + more
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    path = write(text, name="grim")
    folder = path.parent / "sheets"
    folder.mkdir(exist_ok=True)
    (folder / "akodo.toml").write_text(f'name = "Akodo"\n{sheet}', encoding="utf-8")
    return path


def told() -> str:
    """Return what `ruleset check` says of it."""
    found = rpgres("ruleset", "check", "grim")
    assert found.code == (0 if found.out == "grim: ok\n" else 1), found
    return found.out


def test_there_is_nothing_to_tell_of_the_ruleset_itself() -> None:
    grim()
    assert told() == "grim: ok\n"


# ---------------------------------------------------------------------------------------------------------------------
# Names that count 0


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("- weariness", "- viod", "`void`"),  # on a sheet
        ("- weariness", "- opponent.fier", "`fire`"),
        ('text = "It is done."', 'text = "It is done."\nrolls = { harm = "1d6 - {wearyness}" }', "`weariness`"),
    ],
)
def test_a_misspelt_name_is_told_where_sheets_may_have_any(old: str, new: str, hint: str) -> None:
    path = grim((old, new))
    said = told()
    assert said.startswith("grim: a problem\n")
    assert f"{path}:" in said
    assert "is always 0: no sheet, parameter or other formula defines it" in said
    assert f"did you mean {hint}?" in said


def test_a_name_of_an_example_or_of_a_scene_is_one_that_is_near() -> None:
    path = grim(("- weariness", "- viod"), sheet="")
    assert "did you mean `void`?" in told()
    grim(("- weariness", "- viod"), ("--trait void=2", "--trait 2"), sheet="")
    assert told() == "grim: ok\n"
    (path.parent / "scenes").mkdir()
    scene = 'ruleset = "grim"\ntitle = "T"\nseed = "1"\n[characters.bo]\ntraits = { void = 1 }\n'
    (path.parent / "scenes" / "a.toml").write_text(scene, encoding="utf-8")
    assert "did you mean `void`?" in told()


@pytest.mark.parametrize(
    "changes",
    [
        [("- weariness", "- viod"), ("any-name = true", 'any-name = true\nnames = ["void", "viod"]')],  # it is listed
        [("- weariness", "- viod"), ("void=2", "viod=2")],  # it is in an example
        [("- weariness", "- haste")],  # it is like no other
    ],
)
def test_a_name_that_is_meant_is_let_be(changes: list[tuple[str, str]]) -> None:
    grim(*changes)
    assert told() == "grim: ok\n"


# ---------------------------------------------------------------------------------------------------------------------
# Numbers that touch


def test_numbers_that_touch_are_refused_wherever_dice_stand() -> None:
    row = 'text = "It is done."\nrolls = { harm = "1{trait}" }'
    grim(('text = "It is done."', row), ('help = "the number"', 'help = "the number"\nrolls = "1{rating}"'))
    assert told().startswith("grim: 2 problems\n")
    assert "parameters.vs.rolls: an operator is missing" in told()
    assert "outcomes.try.hit.rolls.harm: an operator is missing" in told()


# ---------------------------------------------------------------------------------------------------------------------
# What contradicts itself, cannot be, or does nothing

HIT = 'text = "It is done."'
ASKED = HIT + '\n[outcomes.try.hit.ask.what]\nwho = "actor"\ntext = "What?"\noptions = { a = { text = "A" }%s }'
WOUND = '[effects.wound]\nhelp = "h"\ndoes = "counter"\ncounter = "hurt"\n[sheet.hurt]\nkind = "counter"\nhelp = "h"\n'
FINE = 'hit = { title = "Hit", from = 0, success = true }'
CONTRARY = {
    "default of a record": (
        [],
        '[sheet.s]\nkind = "records"\nhelp = "h"\nfields = { x = { kind = "choice", help = "h", choices = ["a"], '
        'default = "b" } }\n',
        "sheet.s.fields.x.default: the default 'b' is none of the choices",
    ),
    "required with a default": (
        [('required = ["trait", "vs"]', 'required = ["trait", "vs", "edge"]')],
        "",
        "actions.try.required[2]: edge is required, so its default is never used",
    ),
    "counter without a change": (
        [(HIT, HIT + '\neffects = [{ kind = "wound", to = "actor" }]')],
        WOUND,
        "outcomes.try.hit.effects[0]: a required field is missing: the effect wound needs `change`",
    ),
    "when and unless of an effect": (
        [(HIT, HIT + '\neffects = [{ kind = "wound", change = 1, when = { natural = 3 }, unless = { natural = 3 } }]')],
        WOUND,
        "outcomes.try.hit.effects[0].unless: whenever `when` holds, this does too",
    ),
    "bounds that end before they begin": (
        [(FINE, FINE + '\nrare = { title = "R", success = true, from = 5, to = 3 }')],
        "",
        "the band rare goes from 5 to 3",
    ),
    "a condition between nothing": (
        [(HIT, HIT + '\neffects = [{ kind = "wound", change = 1, when = { natural-from = 9, natural-to = 5 } }]')],
        WOUND,
        "effects[0].when.natural-from: natural is never both 9 or more and 5 or less",
    ),
    "a face that there is not": (
        [(HIT, HIT + '\neffects = [{ kind = "wound", change = 1, when = { natural-from = 25 } }]')],
        WOUND,
        "outcomes.try.hit.effects[0].when.natural-from: this condition is unreachable: natural is 2 to 20",
    ),
    "a number that nothing names": (
        [('numbers = { ', 'numbers = { half = "trait / 2", ')],
        "",
        "actions.try.numbers.half: half is unused",
    ),
    "an effect that nothing has": ([], WOUND, "effects.wound: no outcome, menu or period uses this effect"),
    "a question with one answer": (
        [(HIT, ASKED % "")],
        "",
        "outcomes.try.hit.ask.what.options: it has only one option",
    ),
    "a name in a text": (
        [(HIT, 'text = "It is done to {target}."')],
        "",
        "outcomes.try.hit.text: {target} is neither dice nor what this row rolls",
    ),
    "a name in an answer": (
        [(HIT, ASKED % ', b = { text = "B for {foe}" }')],
        "",
        "outcomes.try.hit.ask.what.options.b.text: texts have no placeholders",
    ),
    "an example that cannot be typed": (
        [("--trait void=2 --vs", "--trait void=2 --against")],
        "",
        "actions.try.example: grim try has no option '--against'",
    ),
    "an example that lacks something": ([(" --vs 10", "")], "", "actions.try.example: grim try needs --vs"),
    "an example of another action": (
        [("grim try --trait", "grim attempt --trait")],
        "",
        "does not begin with 'rpgres roll grim try'",
    ),
    "no success": ([(FINE, FINE.replace(", success = true", ""))], "", "bands.hit: `success` is missing"),
    "no success where it is another": (
        [(FINE, FINE + '\nrare = { title = "R", also = "hit", from = 30 }'), (" from = 0,", " from = 0, to = 29,")],
        "",
        "bands.rare: `success` is missing",
    ),
}  # fmt: skip


@pytest.mark.parametrize("slip", CONTRARY)
def test_what_cannot_be_meant_is_told_with_its_place(slip: str) -> None:
    changes, more, expected = CONTRARY[slip]
    path = grim(*changes, more=more)
    (line,) = [line for line in told().splitlines() if expected in line]
    assert line.startswith(f"{path}:")


LET_BE = {
    "a tie in the middle": [
        ("from = 0, success = true }", 'from = 1, success = true }\neven = { title = "Even", from = 0, to = 0 }')
    ],
    "an optional question of one answer": [(HIT, (ASKED % "").replace("options =", "optional = true\noptions ="))],
    "a default where another action needs it": [
        ('example = "rpgres roll grim try --trait void=2 --vs 10"', ""),
        ("[parameters.trait]", '[actions.dare]\nsummary = "Dare."\nparameters = ["trait", "vs", "edge"]\n'
         'required = ["trait", "vs", "edge"]\ndice = { roll = "1d20", opposition = "{vs}" }\n'
         "numbers = { total = \"roll + trait + (edge = 'some')\" }\n[parameters.trait]"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", LET_BE)
def test_what_may_be_meant_is_let_be(case: str) -> None:
    grim(*LET_BE[case])
    assert told() == "grim: ok\n"


def test_a_fraction_that_nobody_can_read_is_left_to_the_json() -> None:
    bands = "[bands]\nlow = { title = 'L', to = 120, success = false }\n"
    bands += "mid = { title = 'M', from = 121, to = 150, success = true }\n"
    bands += "high = { title = 'H', from = 151, success = true }\n"
    head = "standalone = true\ntitle = 'Many'\nsummary = 'Many dice.'\nversion = '1'\n"
    write(head + bands + "[actions.throw]\nsummary = 'Throw.'\ndice = '25d10'\n", name="many")
    shown = rpgres("odds", "many", "throw").out
    assert re.search(r"any success: [\d.]+ %  0\.\d{6}\.\.\.\n", shown), shown
    assert max(map(len, shown.splitlines())) < 60
    assert "/" in json.loads(rpgres("odds", "many", "throw", "--json").out)["outcomes"]["mid"]["exact"]


# ---------------------------------------------------------------------------------------------------------------------
# What is typed


def test_all_that_is_missing_is_told_at_once_and_only_what_the_ruleset_has() -> None:
    grim()
    found = rpgres("roll", "grim", "try").err
    assert "needs --trait NAME|NAME=N|N: what counts; and --vs N|DICE|SHEET:ABILITY|none: the number" in found
    assert "RUNG" not in rpgres("roll", "grim", "try", "--help").out + rpgres("ruleset", "show", "grim", "try").out
    assert "N|RUNG|DICE" in rpgres("roll", "fate", "overcome", "--help").out


def test_a_misspelt_rung_is_suggested() -> None:
    told = rpgres("roll", "fate", "overcome", "--skill", "3", "--vs", "goood").err
    assert told == "rpgres: --vs 'goood' is not a rung of the ladder; did you mean 'good'?\n"
    told = rpgres("roll", "fate", "overcome", "--skill", "goood", "--vs", "3").err
    assert told == "rpgres: --skill 'goood' is not a whole number; did you mean 'good'?\n"


def test_only_what_an_option_takes_is_offered() -> None:
    told = rpgres("roll", "saga", "act", "--ability", "strength=8", "--vs", "xyz").err
    assert "no rung of the ladder (automatic" in told
    assert told.endswith(", and not none\n")  # which is a difficulty of 0
    assert not re.search("no dice|SHEET:ABILITY", told)


def test_rulesets_are_listed_from_further_folders() -> None:
    write(GRIM, name="grim", root="further")
    assert "grim" not in rpgres("ruleset", "list").out
    assert "grim" in rpgres("ruleset", "list", "--rulesets", "further").out
    write(GRIM.replace("2d10", "2e10"), name="grim", root="further")
    assert "grim broken: a problem in its folder" in rpgres("ruleset", "list", "--rulesets", "further").out
