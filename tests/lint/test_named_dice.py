"""Actions with named dice: every fault that `ruleset check` tells, with its place."""

from __future__ import annotations

import pytest

from rpgres.lint.whole import all_diagnostics
from tests.support.command_line import rpgres
from tests.support.declarative import head, here, write

__all__ = ["here"]  # a fixture that every test here uses

SALT = (
    head("Salt", "Dice of skill and of dread.", done=True, haunted=False, failed=False)
    + """
[actions.haul]
summary = "Haul in."
parameters = ["pool", "dread", "sea", "needs"]
required = ["pool"]
tell = ["hits", "mood"]

[actions.haul.dice]
skill = { roll = "{pool - dread}d6", again = "sea = 'high' and face = 6" }
dark = { roll = "{min(dread, pool)}d6", worth = "if(face = 6, 2, 0)" }

[actions.haul.numbers]
hits = "count(skill, face >= 5) + sum(dark)"
ones = "count(skill, dark, face = 1 and not added)"
mood = "omen(ones)"

[actions.haul.bands]
done = "hits >= needs"
haunted = "ones > 2"
failed = "else"

[define.omen]
of = ["number"]
cases = { calm = "number = 0", foul = "else" }

[parameters]
pool = { kind = "integer", at-least = 0, at-most = 20, help = "all dice" }
dread = { kind = "integer", default = 0, at-least = 0, at-most = 9, help = "dice of dread" }
needs = { kind = "integer", default = 1, at-least = 1, at-most = 9, help = "hits needed" }

[parameters.sea]
kind = "choice"
default = "low"
help = "the sea"
choices = { low = "low", high = "high" }

[outcomes]
haul.done.text = "In it comes."
"""
)


def told(*changes: tuple[str, str]) -> list[str]:
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.rulesets import Rules, merge_parts, read_parts

    text = SALT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    write(text, name="salt")
    ruleset = find_ruleset("salt")
    assert ruleset.data is not None
    parts = read_parts([ruleset.data], ruleset_id="salt")
    rules = Rules(ruleset, file=merge_parts(parts), parts=parts)
    return [one.text for one in all_diagnostics(rules)]


def test_a_sound_one_is_sound() -> None:
    assert told() == []


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('mood = "omen(ones)"', 'mood = "omen(ones"', "numbers.mood: a closing parenthesis is missing before this"),
        (
            '"hits >= needs"',
            '"hits >= neds"',
            "bands.done: the ruleset has no number 'neds'; did you mean `needs`?",
        ),
        ('"hits >= needs"', '"hits-needs >= 0"', "hits-needs is read as one name; to subtract, write blanks around"),
        ('"ones > 2"', '"ones-1 > 2"', "blanks around the minus: ones - 1"),
        ('"ones > 2"', '"skill-dread > 2"', "blanks around the minus: skill - dread"),
        ('"ones > 2"', '"ones-max(dread, 1) > 2"', "blanks around the minus: ones - max(...)"),
        ('"ones > 2"', '"{ones} > 2"', "bands.haunted: names in a formula have no braces"),
        ('"ones > 2"', '"ones == 2"', "bands.haunted: equal is a single ="),
        ('"ones > 2"', '"ones > face"', "face is a name of one die"),
        (
            '"ones > 2"',
            '"count(dark, pool > 1) > 2"',
            "pool is the same for every die: a condition of dice names `face`",
        ),
        (
            "count(skill, face >= 5)",
            "count(skil, face >= 5)",
            "numbers.hits: count takes the names of dice",
        ),
        ("count(skill, face >= 5)", "tally(skill)", "there is no function 'tally'"),
        ("omen(ones)", "omen(ones, 2)", "the definition omen takes number, not 2 arguments"),
        ("omen(ones)", "if(ones, 1)", "if takes 3 to 41 arguments, not 2"),
        ("omen(ones)", "given(poole)", "the ruleset has no parameter 'poole'; did you mean `pool`?"),
        ('tell = ["hits", "mood"]', 'tell = ["hits", "mod"]', "the ruleset has no number 'mod'; did you mean `mood`?"),
        ('tell = ["hits", "mood"]', 'tell = ["hits"]', "mood is unused"),
        ("+ sum(dark)", "+ sum(dark) + hits", "the number hits depends on itself"),
        ('failed = "else"', 'failed = "ones = 0"', "no outcome applies where no condition holds"),
        ('"ones > 2"', '"else"', "failed is unreachable: haunted is already `else`"),
        ('"ones > 2"', '"ones > 40"', "bands.haunted: this band is unreachable: its condition never holds"),
        ('"ones > 2"', '"count(dark, face = 7) > 0"', "bands.haunted: this band is unreachable"),
        ('"ones > 2"', '"needs > 9"', "bands.haunted: this band is unreachable"),
        ('"hits >= needs"', '"needs > 0"', "bands.haunted: this band is unreachable: the condition of done"),
        ('"hits >= needs"', '"highest(skill) <= 6 or ones > 0"', "the condition of done, which comes first, always"),
        ('haunted = "ones > 2"', 'hanted = "ones > 2"', "the ruleset has no band 'hanted'; did you mean `haunted`?"),
        ('"{min(dread, pool)}d6"', '"{min(dread, pool)}d"', "dice.dark: after d, the number of sides"),
        ('"{pool - dread}d6"', '"{pool - sum(dark)}d6"', "the dice skill depend on dark"),
        ("sum(dark)", "sum(dark) / 2", ""),
        ("sum(dark)", "sum(dark) / (pool - 3)", "numbers.hits: a divisor (of pool) may be 0, and dividing by 0 is"),
        ("sum(dark)", "down(sum(dark), dread)", "numbers.hits: dread may be 0, and dividing by 0 is impossible"),
        ("sum(dark)", "if(dread > 0, sum(dark) % dread, 0)", ""),
        ("sum(dark)", "sum(dark) / max(1, dread) / needs", ""),
        ("face = 6, 2, 0", "face = 6, 12 / face, 6 / face", ""),
        ("sea = 'high' and face = 6", "face >= 1", "dice.skill.again: every face explodes forever"),
        ('face = 6"', 'not added and face >= 1"', ""),
        ('+ sum(dark)"', '"', ""),
        ("[actions.haul.bands]", 'sum = "3"\n[actions.haul.bands]', "'sum' is already a function; rename the number"),
        ("[actions.haul.bands]", 'pool = "3"\n[actions.haul.bands]', "'pool' is already a parameter of this action"),
        ("[define.omen]", '[define.other]\nvalue = "1"\n[define.omen]', "the definition other is unused"),
        ("[define.omen]", '[define.face]\nvalue = "1"\n[define.omen]', "'face' is already a function or a name of"),
        ('cases = { calm = "number = 0"', 'cases = { calm = "number ="', "define.omen.cases.calm: a number, a name"),
        ("[actions.haul.dice]", '[actions.haul.dice]\nidle = "1d4"', "the dice idle are rolled and never read"),
        ("[actions.haul.dice]", '[actions.haul.dice]\nhits = "1d4"', "'hits' is already a number; rename the dice"),
        ("[bands]", '[bands]\nnever = { title = "Never" }', "bands.never: this band is unreachable"),
        ('parameters = ["pool", ', 'parameters = ["pool", "wind", ', "no parameter 'wind'"),
    ],
)
def test_every_slip_is_told(old: str, new: str, wanted: str) -> None:
    found = told((old, new))
    assert any(wanted in one for one in found) if wanted else found == [], found


def test_dice_that_are_found_to_explode_forever_when_they_are_rolled_are_refused() -> None:
    write(SALT.replace('face = 6"', 'face > dread"'), name="salt")
    ran = rpgres("roll", "salt", "haul", "--sea", "high", "--pool", "3")
    assert (ran.code, ran.err) == (2, "rpgres: the dice skill are 3d6 here, and every face explodes forever\n")
    assert rpgres("odds", "salt", "haul", "--sea", "high", "--pool", "3").code == 2
    assert rpgres("roll", "salt", "haul", "--sea", "high", "--pool", "3", "--dread", "1").code == 0


def test_where_sheets_may_have_any_ability_a_near_miss_is_told() -> None:
    sheet = '[sheet]\nskills = { kind = "abilities", any-name = true, help = "skills" }\n[outcomes]\n'
    assert told(("[outcomes]\n", sheet), ('"hits >= needs"', '"hits + nerve >= needs"')) == []
    found = told(("[outcomes]\n", sheet), ('"hits >= needs"', '"hits >= neds"'))
    assert any("the ruleset has no number 'neds'; did you mean `needs`?" in one for one in found), found


def test_conditions_of_rows_that_the_dice_never_meet_are_told() -> None:
    effects = '[effects]\nfame = { help = "fame", does = "nothing" }\n'
    row = 'haul.done.effects = [{ kind = "fame", when = { ones-from = WANTED } }]\n'
    text = '[outcomes]\nhaul.done.text = "In it comes."\n'
    assert told((text, text + row.replace("WANTED", "20") + effects)) == []
    found = told((text, text + row.replace("WANTED", "30") + effects))
    assert any("this condition is unreachable: ones is 0 to 29" in one for one in found), found


def test_a_formula_for_the_outcome_names_bands() -> None:
    bands = SALT[SALT.index("[actions.haul.bands]") : SALT.index("[define.omen]")]
    band = "band = \"if(hits >= needs, 'done', ones > 2, 'haunted', 'lost')\"\n"
    found = told((bands, ""), ("[actions.haul.dice]", f"{band}[actions.haul.dice]"))
    assert any("haul.band: the ruleset has no band 'lost'; it has: done, haunted, failed" in one for one in found)
    assert any("bands.failed: this band is unreachable" in one for one in found)


def test_faults_stand_in_what_a_command_tells() -> None:
    write(SALT.replace("hits >= needs", "hits >= neds"), name="salt")
    ran = rpgres("roll", "salt", "haul", "--sea", "high", "--pool", "3")
    assert ran.code == 1
    assert "rulesets/salt/ruleset.toml:27: actions.haul.bands.done: the ruleset has no number 'neds'" in ran.err


def test_a_reading_of_an_action_without_dice_is_told() -> None:
    lines = [
        'standalone = true\ntitle = "Bare"\nsummary = "No dice."\nversion = "1"',
        "[bands.done]\ntitle = 'Done'\n[actions.rest]\nsummary = 'Rest.'\nnumbers = { best = 'highest(dice)' }",
        "band = \"if(best > 3, 'done', 'done')\"\n[outcomes]\nrest.done.text = 'So.'\n",
    ]
    write("\n".join(lines), name="bare")
    done = rpgres("ruleset", "check", "bare")
    assert done.code == 1
    assert "actions.rest.numbers.best: highest takes the names of dice, and the action rolls none" in done.out


@pytest.mark.parametrize(
    ("formula", "place"),
    [
        ("number = numbr", "define.omen.cases.calm: the ruleset has no number 'numbr'; did you mean `number`?"),
        ("number =", "define.omen.cases.calm: a number, a name or a function is missing here"),
        ("number = hihest(1)", "define.omen: there is no function 'hihest'"),
        ("number = highest(number)", "define.omen: highest takes the names of dice (skill, dark)"),
    ],
)
def test_a_slip_in_a_definition_is_told_once_where_it_stands(formula: str, place: str) -> None:
    again = 'mood = "omen(ones)"\nhaze = "omen(hits)"'
    found = told(('"number = 0"', f'"{formula}"'), ('mood = "omen(ones)"', again), ('"mood"]', '"mood", "haze"]'))
    assert [place in one for one in found] == [True], found


def test_a_name_in_a_definition_that_another_action_has_is_told_where_it_is_missing() -> None:
    other = '[actions.rest]\nsummary = "Rest."\ndice = { rest = "1d6" }\nparameters = ["ease"]\ntell = ["calm"]\n'
    other += 'numbers = { calm = "omen(ease)" }\nbands = { done = "rest > 3", failed = "else" }\n'
    ease = 'ease = { kind = "integer", default = 0, at-least = 0, at-most = 9, help = "ease" }\n'
    found = told(
        ('"number = 0"', '"number = ease"'),
        ("[define.omen]", f"{other}[define.omen]"),
        ("[parameters]\n", f"[parameters]\n{ease}"),
        ("haul.done.text", 'rest.done.text = "So."\nhaul.done.text'),
    )
    assert any("actions.haul.numbers.mood: the ruleset has no number 'ease'" in one for one in found), found
    assert not any("define." in one for one in found), found
