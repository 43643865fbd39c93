"""What authors of rulesets in one file get wrong without an error of form: each is told, before it is played."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rpgres.errors import FileError
from tests.support.command_line import rpgres
from tests.support.declarative import BLADES, UNDER, done, here, rules, write

__all__ = ["here"]  # a fixture that every test here uses

FLAG = '[parameters.tired]\nkind = "flag"\nhelp = "whether one is tired"\n'
MORE = FLAG.replace("[parameters.tired]", "[parameters.NAME]")
SWITCH = '[switches.house]\nhelp = "h"\ndefault = "a"\nsource = "s"\nchoices = { a = "A", b = "B" }\n'

# What is changed in `UNDER`, where that is told, and how.
SLIPS = {
    # Names that stand for two things.
    "parameter called like an ability": (("shift", "brawn"), "parameters.brawn: 'brawn' is already on the sheet"),
    "parameter called like a house rule": (
        (FLAG, FLAG + SWITCH.replace("house", "tired")),
        "parameters.tired: 'tired' is already a house rule",
    ),
    "number called like a counter": (
        ('edge = "17 - wounds"', 'edge = "17 - wounds"\nwounds = "1"'),
        "actions.try.numbers.wounds: 'wounds' is already on the sheet; rename the number",
    ),
    "roll called like the action's": (
        ("rolls = { time =", "rolls = { roll ="),
        "good.rolls.roll: 'roll' is the label of the",
    ),
    "somebody else's ability": (
        ('"1d6 + {attribute}/2"', '"1d6 + {foe.brawn}"'),
        "{foe.brawn} is not a name; names are lowercase letters, digits and hyphens, and that of the opponent is",
    ),
    "formula in place of a name": (
        ('"1d6 + {attribute}/2"', '"1d6 + {attribute / 2}"'),
        "{attribute / 2} is not a name; names are lowercase letters, digits and hyphens; "
        "no formula is allowed here, write it outside the braces of {attribute}",
    ),
    "misspelt function": (
        ('degrees = "margin / 3"', 'degrees = "maxx(margin, 3)"'),
        "actions.try.numbers.degrees: there is no function 'maxx'; did you mean `max`?",
    ),
    "misspelt name of a die": (
        ('dice = "3d6"', 'dice.roll = { roll = "3d6", again = "fase = 6" }'),
        "actions.try.dice.roll: the ruleset has no number 'fase'; did you mean `face`?",
    ),
    "sign of a comparison turned round": (
        ('degrees = "margin / 3"', 'degrees = "if(margin => 3, 1, 0)"'),
        "actions.try.numbers.degrees: this is written >=",
    ),
    # What effects need.
    "no counter": (
        ('does = "counter"\ncounter = "wounds"', 'does = "counter"'),
        'effects.hurt: does = "counter" needs',
    ),
    "a track on a counter": (
        ('counter = "wounds"', 'counter = "wounds"\ntrack = "harm"'),
        'effects.hurt.track: it has no effect here: does = "counter" uses no track',
    ),
    "no track": (('does = "counter"\ncounter = "wounds"', 'does = "mark"'), 'effects.hurt: does = "mark" needs track'),
    "no track of those there are": (
        (
            'does = "counter"\ncounter = "wounds"\n'
            'fields = { to = "whose", change = "how many" }\nnumbers = ["change"]\n',
            'does = "mark"\n[tracks.harm]\ntitle = "Harm"\nboxes = 2\n',
        ),
        'effects.hurt: does = "mark" needs track = ...; the tracks are: harm',
    ),
    "unknown track": (
        ('does = "counter"\ncounter = "wounds"', 'does = "clear"\ntrack = "harm"'),
        "effects.hurt.track: the ruleset has no track 'harm'",
    ),
    "no tag": (('does = "counter"\ncounter = "wounds"', 'does = "tag"'), 'effects.hurt: does = "tag" needs tag'),
    "a field that nothing reads": (
        ('fields = { to = "whose", change = "how many" }', 'fields = { to = "whose", amount = "how many" }'),
        "effects.hurt.fields.amount: does = \"counter\" has no field 'amount'; it knows: to, change",
    ),
    "a word for a number": (
        ('kind = "hurt", to = "actor", change = 1', 'kind = "hurt", to = "actor", change = "three"'),
        "bad.effects[0].change: expected a whole number",
    ),
    "a list for somebody": (
        ('kind = "hurt", to = "actor"', 'kind = "hurt", to = ["actor"]'),
        "bad.effects[0].to: ['actor'] is not a role",
    ),
    "misspelt counter": (
        ('counter = "wounds"', 'counter = "wonds"'),
        "effects.hurt.counter: the ruleset has no counter on its sheets 'wonds'; did you mean `wounds`?",
    ),
    "misspelt somebody": (
        ('to = "actor"', 'to = "acter"'),
        "bad.effects[0].to: 'acter' is not a role; roles are: actor, opponent, gm; did you mean `actor`?",
    ),
    "misspelt decider": (('who = "gm"', 'who = "gamemaster"'), "ask.what.who: the ruleset has no role 'gamemaster'"),
    "roll of the name of a number": (
        ("rolls = { time =", 'rolls = { edge = "1d6", time ='),
        "outcomes.try.good.rolls.edge: 'edge' is already a number; use another name for the roll",
    ),
    "several numbers": (
        ('kind = "integer"', 'kind = "integer"\nmany = true'),
        "parameters.shift.many: an action without code takes one integer; only rules in code take several",
    ),
    "choice without a value": (
        ('kind = "integer"', 'kind = "choice"\nchoices = { up = "u", down = "d" }\nvalues = { up = "1" }'),
        "parameters.shift.values: the choice down has no value",
    ),
    "misspelt input of a sentence": (
        ("[actions.try]\n", '[actions.try]\nsentence = "{actor} tries[ with {shft}]"\n'),
        "actions.try.sentence: the ruleset has no input 'shft'; did you mean `shift`?",
    ),
    "abilities that oppose and are nowhere": (
        ("[actions.try]\n", '[actions.try]\nopposed-with = "fights.defense"\n'),
        "actions.try.opposed-with: there is no list of abilities in the settings at fights.defense",
    ),
    "misspelt choice of what opposes": (
        ("[actions.try]\n", '[actions.try]\nopposed-with = "fights.{shft}.defense"\n'),
        "actions.try.opposed-with: the ruleset has no choice 'shft'",
    ),
    "unknown kind": (
        ('kind = "hurt"', 'kind = "hrt"'),
        "the ruleset has no kind of effect 'hrt'; did you mean `hurt`?",
    ),
    # What cannot be.
    "bounds": (
        ('help = "how easy it is"', 'help = "how easy it is"\nat-least = 3\nat-most = 1'),
        "parameters.shift.at-least: at least 3 and at most 1 is an empty range",
    ),
    "default beyond bounds": (
        ('help = "how easy it is"', 'help = "how easy it is"\ndefault = 9\nat-most = 1'),
        "parameters.shift.default: the default 9 is outside the bounds",
    ),
    "default of another kind": (
        ('help = "how easy it is"', 'help = "how easy it is"\ndefault = "much"'),
        "parameters.shift.default: the default of a whole number is a whole number, not 'much'",
    ),
    "default of a flag": (
        ('help = "whether one is tired"', 'help = "whether one is tired"\ndefault = "no"'),
        "parameters.tired.default: the default of a flag is true or false, not 'no'",
    ),
    "bounds of a field": (
        ("at-least = 3\nat-most = 18", "at-least = 19\nat-most = 18"),
        "sheet.attributes.at-least: at",
    ),
    "default of a field": (
        ("default = 0\nat-least = 0", "default = 4\nat-least = 0"),
        "sheet.wounds.default: the default",
    ),
    "success that is a failure": (
        ('title = "Calamity"\nsuccess = false', 'title = "Calamity"\nsuccess = false\nalso = "good"'),
        "bands.calamity.also: of calamity and good one is a success and the other a failure",
    ),
    "division by what may be 0": (
        ('"margin / 3"', '"margin / shift"'),
        "actions.try.numbers.degrees: shift may be 0, and dividing by 0 is impossible; divide by max(1, ...)",
    ),
    "policy without code": (
        (FLAG, FLAG + '[policies]\nbold = "always"\n'),
        "policies.bold: a policy needs code, which this ruleset does not have",
    ),
    # What nothing uses.
    "parameter that no action takes": (
        (FLAG, FLAG + MORE.replace("NAME", "lucky")),
        "parameters.lucky: no action uses this parameter",
    ),
    "parameter that changes nothing": (
        (" + 2 * tired", ""),
        None,  # it is named in an outcome
    ),
    "house rule that changes nothing": (
        (FLAG, FLAG + SWITCH),
        "switches.house: this house rule is unused",
    ),
    "outcomes of no action": (
        ("[outcomes.try.calamity]", "[outcomes.tryy.calamity]"),
        "outcomes.tryy: no action has an outcome table 'tryy'; did you mean `try`?",
    ),
    "menu that no question takes": (
        (FLAG, FLAG + '[menus.price]\nwho = "gm"\ntext = "?"\noptions = { a = { text = "A" }, b = { text = "B" } }\n'),
        "menus.price: no question uses a menu 'price'",
    ),
    "action without anything": (
        (FLAG, FLAG + '[actions.rest]\nsummary = "Rest."\n'),
        "actions.rest: it has neither `dice` nor",
    ),
    "name with a capital": (
        ("[parameters.tired]", "[parameters.Tired]"),
        "parameters.Tired: as a name in this table expected a name of lowercase letters, digits and hyphens",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_told_with_its_place(slip: str) -> None:
    (old, new), told = SLIPS[slip]
    assert old in UNDER
    is_name = re.fullmatch("[a-z]+", old)
    text = re.sub(rf"\b{old}\b", new, UNDER) if is_name else UNDER.replace(old, new, 1)
    path = write(text)
    if told is None:
        rules()
        return
    with pytest.raises(FileError) as refused:
        rules()
    assert told in refused.value.message
    lines = [line for line in refused.value.message.splitlines() if told in line]
    assert any(line.startswith(f"{path}:") for line in lines), refused.value.message
    assert "@ruleset" not in refused.value.message
    found = rpgres("ruleset", "check", "under")
    assert (found.code, told in found.out) == (1, True)


IN_BLADES = {
    "opposition that may be left out": (
        ('required = ["pool", "vs"]', 'required = ["pool"]'),
        "actions.strike.dice: the opposition is optional, and no outcome is `unopposed`",
    ),
    "opposition against nothing": (
        ('"{vs} + {cover}"', '"{cover}"'),
        'actions.strike.parameters[1]: nothing rolls the opposition vs; write dice = { ..., opposition = "{vs}" }',
    ),
    "cover against nothing": (
        ('"{vs} + {cover}"', '"{vs}"'),
        "actions.strike.parameters[2]: cover is unused: no dice",
    ),
    "flag": (('"{margin}d4 + {angry}"', '"{margin}d4"'), "actions.strike.parameters[3]: angry is unused"),
    "counter of the table, misspelt": (
        ("[effects.out]", '[effects.bell]\nhelp = "a bell"\ndoes = "counter"\ncounter = "harms"\n[effects.out]'),
        "effects.bell.counter: this would create a counter 'harms' next to the counter 'harm'",
    ),
    "nobody is out": (('{ kind = "out", to = "opponent", when', '{ kind = "out", when'), "the effect out needs `to`"),
}


@pytest.mark.parametrize("slip", IN_BLADES)
def test_a_slip_of_what_opposes_is_told(slip: str) -> None:
    (old, new), told = IN_BLADES[slip]
    assert old in BLADES
    write(BLADES.replace(old, new, 1), name="blades")
    with pytest.raises(FileError) as refused:
        rules("blades")
    assert told in refused.value.message


def test_a_divisor_with_a_lowest_number_is_fine() -> None:
    write(
        UNDER.replace('"margin / 3"', '"margin / parts"').replace('edge = "17', 'parts = "max(shift, 1)"\nedge = "17')
    )
    found = done("try", attribute=16, given={"roll": "4,4,4", "time": "1"})
    assert found.effects[0]["degrees"] == 4


def test_what_an_effect_does_says_which_fields_it_has() -> None:
    bare = UNDER.replace('fields = { to = "whose", change = "how many" }\nnumbers = ["change"]\n', "")
    write(bare.replace("change = 1, when", 'change = "-margin", when'))
    found = done("try", attribute=9, tired=True, given={"roll": "4,4,4"})
    assert found.effects == [{"kind": "hurt", "to": "actor", "change": 5}]
    Path("rulesets/under/ruleset.toml").write_text(
        bare.replace("change = 1, when", "chnge = 1, when"), encoding="utf-8"
    )
    shown = rpgres("ruleset", "check", "under").out
    assert "the effect hurt has no field 'chnge'; did you mean `change`?" in shown


def test_tracks_may_say_how_many_boxes_there_are() -> None:
    text = UNDER.replace('does = "counter"\ncounter = "wounds"', 'does = "mark"\ntrack = "harm"').replace(
        'fields = { to = "whose", change = "how many" }\nnumbers = ["change"]\n', ""
    )
    write(
        text.replace("change = 1, when", "count = 2, when")
        + '[tracks.harm]\ntitle = "Harm"\nboxes = 3\n[sheet.harmed]\nkind = "marks"\nhelp = "h"\n'
    )
    Path("a.toml").write_text(
        'ruleset = "under"\nseed = "3"\n[characters.ash]\nattributes = { nerve = 9 }\n'
        '[[steps]]\nactor = "ash"\naction = "try"\nwith = { attribute = "nerve", tired = true }\n'
        'given = { roll = "4,4,4" }\n'
        'expect.state = { "characters.ash.tracks.harm.2.mark" = "x", "characters.ash.tracks.harm.3.mark" = "" }\n',
        encoding="utf-8",
    )
    assert rpgres("scene", "test", "a.toml").out == "a.toml: ok (2 expectations)\n"
    assert '#harm = ["1"]' in rpgres("sheet", "new", "under").out


def test_what_is_no_opposition_is_told_without_empty_words() -> None:
    write(BLADES, name="blades")
    told = rpgres("roll", "blades", "strike", "--pool", "1", "--vs", "wall").err
    assert "()" not in told
    assert "no dice such as 4d6>=5, no SHEET:ABILITY" in told


def test_difficulties_have_no_sign() -> None:
    write(UNDER.replace("[bands]", "[ladder]\nhard = 8\neasy = 14\n\n[bands]", 1))
    assert "  Hard 8, Easy 14\n" in rpgres("ruleset", "show", "under").out
    assert "Good +3" in rpgres("ruleset", "show", "fate").out


def test_a_ruleset_without_outcomes_is_told_where_they_are_declared() -> None:
    write(UNDER.partition("[bands]")[0] + "[actions.try]\nsummary = 's'\ndice = '1d6'\nbands = { light = 'else' }\n")
    told = rpgres("ruleset", "check", "under")
    assert "no band 'light', and declares none; [bands.light] in ruleset.toml declares one" in told.out + told.err
