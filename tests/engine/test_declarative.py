"""Rulesets that are one TOML file: families that no code has seen, written here; and every fault with its place."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from pathlib import Path

import icepool
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres import Pending, resolve
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.named_dice.play import play_named
from rpgres.engine.players import policy_of, preferred
from rpgres.engine.prepare import prepare
from rpgres.engine.resolve import forget_rules
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.table import Table
from rpgres.errors import FileError, PluginError, UsageError
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset, ruleset_names
from rpgres.plugins.listing import list_rulesets
from tests.support.command_line import completions, rpgres
from tests.support.declarative import BLADES, RAISES, UNDER, done, head, here, odds, rules, write
from tests.support.effort import examples

__all__ = ["here"]  # a fixture that every test here uses

# ---------------------------------------------------------------------------------------------------------------------
# A family that no code has seen


@pytest.mark.parametrize("attribute", range(3, 19))
@pytest.mark.parametrize("shift", [0, 2])
def test_its_odds_are_those_of_an_independent_count(attribute: int, shift: int) -> None:
    write(UNDER)

    def band(natural: int) -> str:
        if natural <= 4:
            return "wonder"
        if natural >= 17:
            return "calamity"
        margin = attribute - (natural - shift)
        return "bad" if margin < 0 else "good" if margin < 3 else "fine"

    expected = (3 @ icepool.d6).map(band)
    assert odds("try", attribute=attribute, shift=shift) == {
        name: Fraction(weight, expected.denominator()) for name, weight in expected.items()
    }


def test_what_lies_on_a_sheet_moves_its_bounds() -> None:
    write(UNDER)
    sheet = Path("rulesets/under/sheets/ash.toml")
    sheet.parent.mkdir()
    sheet.write_text('name = "Ash"\nwounds = 3\n[attributes]\nnerve = 11\n', encoding="utf-8")
    assert odds("try", sheet="ash", attribute="nerve")["calamity"] == Fraction(
        sum(weight for value, weight in (3 @ icepool.d6).items() if value >= 14), 216
    )


def test_a_result_has_its_numbers_its_later_rolls_and_its_effects() -> None:
    write(UNDER)
    found = done("try", attribute=13, given={"roll": "2,2,3", "time": "4"})
    assert (found.outcome, found.success, found.total, found.opposition, found.margin) == ("fine", True, 7, 13, 6)
    assert found.effects == [{"kind": "done", "degrees": 2, "minutes": 10}]
    assert found.details == {"degrees": 2, "edge": 17}
    assert [(answer.label, answer.value) for answer in found.answers] == [("roll", "2,2,3"), ("time", "4")]
    tired = done("try", attribute=9, tired=True, shift=1, given={"roll": "4,4,4"})
    assert (tired.total, tired.margin) == (13, -4)
    assert tired.effects == [{"kind": "hurt", "to": "actor", "change": 1}]
    calamity = resolve("under", "try", attribute=9, given={"roll": "6,6,6"})
    assert isinstance(calamity, Pending)
    assert calamity.question.label == "what"
    assert done("try", attribute=9, given={"roll": "6,6,6"}, auto=True).texts[-1] == "A name."


@pytest.mark.slow
def test_it_is_used_like_any_other() -> None:
    write(UNDER)
    (Path("rulesets/under/sheets")).mkdir()
    Path("rulesets/under/sheets/ash.toml").write_text("[attributes]\nnerve = 11\n", encoding="utf-8")
    listed = rpgres("ruleset", "list").out
    assert "under" in listed
    assert "Three under: 3d6 at or under an attribute." in listed
    assert rpgres("ruleset", "check", "under") == (0, "under: ok\n", "")
    text = rpgres(
        "roll", "under", "try", "--attribute", "11", "--given", "roll=1,2,3", "--given", "time=5", "--seed", "7"
    )
    assert text == (
        0,
        "Try: Well done\n  6 against 11, margin +5\n  roll: 1,2,3 = 6\n"
        "  degrees 1, edge 17\n  time: 5 = 10 (1d6 + 11 attribute/2)\n  It is done.\n"
        "  * done: degrees 1, minutes 10\n  seed: 7\n",
        "",
    )
    help_ = rpgres("roll", "under", "try", "--help").out
    assert all(word in help_ for word in ("Try it.", "--attribute", "--shift", "--tired", "roll", "time", "what"))
    shown = rpgres("ruleset", "show", "under").out
    assert all(word in shown for word in ("Wonder", "Calamity", "time", "Three under"))
    shown = rpgres("ruleset", "show", "under", "try").out
    assert "  roll        3d6\n  total       roll - shift + 2 * tired\n" in shown
    assert "  wonder      if roll <= 4\n" in shown
    assert "rolls time: 1d6 + {attribute}/2\n" in shown
    assert "wonder    Wonder: also good" in rpgres("ruleset", "show", "under").out
    assert json.loads(rpgres("odds", "under", "try", "--attribute", "11", "--json").out)["method"] == "exact"
    assert rpgres("sheet", "show", "ash").out.startswith("ash (under)\n")
    assert "brawn" in rpgres("sheet", "new", "under").out
    request = '{"ruleset": "under", "action": "try", "with": {"attribute": 11}, "seed": "1", "auto": true}'
    assert json.loads(rpgres("batch", stdin=request).out)["ruleset"] == "under"
    for kind in ("result", "odds", "scene", "sheet", "ruleset", "outcomes"):
        assert json.loads(rpgres("schema", kind, "under").out)["$schema"]


def test_it_is_completed() -> None:
    write(UNDER)
    assert completions("rpgres roll und") == ["under"]
    assert completions("rpgres roll under ") == ["try"]
    assert completions("rpgres roll under try --attribute n") == ["nerve"]
    assert completions("rpgres roll under try --given ") == ["roll=", "time="]
    assert completions("rpgres roll under try --choose what=") == ["what=roof", "what=name"]


def test_its_scenes_play() -> None:
    write(UNDER)
    Path("a.toml").write_text(
        'ruleset = "under"\nseed = "3"\n[characters.ash]\nattributes = { nerve = 9 }\n'
        '[[steps]]\nid = "one"\nactor = "ash"\naction = "try"\nwith = { attribute = "nerve", tired = true }\n'
        'given = { roll = "4,4,4" }\n'
        'expect = { outcome = "bad", margin = -5, state.characters.ash.counters.wounds = 1 }\n'
        '[[steps]]\nactor = "ash"\naction = "try"\nwith = { attribute = 9 }\n'
        'when = { one = "good" }\nexpect = { played = false }\n',
        encoding="utf-8",
    )
    assert rpgres("scene", "check", "a.toml") == (0, "a.toml: ok\n", "")
    assert rpgres("scene", "test", "a.toml").out == "a.toml: ok (4 expectations)\n"


def test_an_exploding_die_and_its_raises() -> None:
    write(RAISES, name="raises")
    found = outcome_odds(prepare(rules("raises"), "test", {"die": "d8", "vs": 4}))
    die = icepool.d8.explode(depth=30)
    for band, low, high in (("miss", 0, 3), ("hit", 4, 7), ("raise", 8, 1000)):
        expected = Fraction(sum(w for value, w in die.items() if low <= value <= high), die.denominator())
        assert found.masses[band] == expected
    assert found.open == 0
    beyond = outcome_odds(
        prepare(rules("raises"), "test", {"die": "d8", "vs": 99})
    )  # explosions are not followed so far
    assert 0 < beyond.open < Fraction(1, 10**8)
    assert done("test", name="raises", die="d6", vs=4, given={"roll": "6,6,3"}).effects == [
        {"kind": "land", "raises": 2}
    ]


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(pool=st.integers(0, 7), dice=st.integers(-2, 3))
def test_playing_agrees_with_the_odds(pool: int, dice: int) -> None:
    prepared = prepare(rules("again-pool"), "contest", {"pool": pool, "bonus": dice, "vs": "1s"})
    masses = outcome_odds(prepared).masses
    seen: dict[str, int] = {}
    dealer = SeededDealer(Streams("1"))
    for run in range(400):
        dealer.move_to(run)
        table = Table(Run(prepared.rules, prepared.state, dealer, Seats(policies={"": preferred})), prepared.rules)
        band = play_named("contest", table, prepared.state.characters[prepared.actor], **prepared.arguments).band
        seen[band] = seen.get(band, 0) + 1
    assert all(masses[band] > 0 for band in seen)
    assert all(abs(seen.get(band, 0) / 400 - mass) < 0.13 for band, mass in masses.items())


def test_without_policies_of_its_own_it_takes_what_is_preferred() -> None:
    assert policy_of(rules("two-dice")) is preferred


def test_bands_suffice_where_there_is_nothing_more_to_say() -> None:
    write(UNDER[: UNDER.index("[outcomes")].replace('"17 - wounds"', '"17"'), name="bare")
    found = done("try", name="bare", attribute=9, given={"roll": "3,3,3"})
    assert (found.outcome, found.margin, found.effects, found.texts) == ("good", 0, [], [])
    assert rpgres("roll", "bare", "try", "--attribute", "9", "--help").code == 0
    assert rpgres("ruleset", "show", "bare", "try").code == 0
    assert rpgres("ruleset", "check", "bare").out == "bare: ok\n"


# Two families more: a pool in which ones may outnumber hits, and twins among two dice; an opposing die of any size.
BOTCH = (
    head("Botch", "A pool of d6, fives and sixes help, ones hurt.", none=False, some=True, botch=False)
    + """
[actions.do]
summary = "Do it."
parameters = ["pool"]
required = ["pool"]
dice = "{pool}d6"
numbers = { hits = "count(roll, face >= 5)", ones = "count(roll, face = 1)" }
bands = { botch = "ones > hits", some = "hits > 0", none = "else" }
[parameters.pool]
kind = "integer"
help = "how many dice"
"""
)

TWINS = """
standalone = true
title = "Twins"
summary = "2d10 over a number; twins are wild."
version = "1"
[bands]
no = { title = "No", success = false }
yes = { title = "Yes", success = true }
wild = { title = "Wild", also = "yes", success = true }
[actions.do]
summary = "Do it."
parameters = ["vs"]
required = ["vs"]
dice = { roll = "2d10", opposition = "{vs}" }
bands = { no = "given(vs) and margin < 0", wild = "given(vs) and highest(roll) = lowest(roll)", yes = "else" }
[parameters.vs]
kind = "opposition"
help = "a number, or how many sides the other die has"
rolls = "2d{rating}"
numbers-too = true
"""


@pytest.mark.parametrize("pool", range(1, 7))
def test_ones_that_outnumber_hits(pool: int) -> None:
    write(BOTCH, name="botch")

    def band(shown: tuple[int, ...]) -> str:
        hits, ones = sum(die >= 5 for die in shown), shown.count(1)
        return "botch" if ones > hits else "some" if hits else "none"

    expected = icepool.d6.pool(pool).expand().map(band)
    assert odds("do", name="botch", pool=pool) == {
        name: Fraction(weight, expected.denominator()) for name, weight in expected.items()
    }


@pytest.mark.parametrize("sides", [4, 8, 12])
def test_twins_against_dice_of_any_size(sides: int) -> None:
    write(TWINS, name="twins")

    def band(first: int, second: int, other: int) -> str:
        if first + second < other:
            return "no"
        return "wild" if first == second else "yes"

    expected = icepool.map(band, icepool.d10, icepool.d10, 2 @ icepool.d(sides))
    assert odds("do", name="twins", vs=sides) == {
        name: Fraction(weight, expected.denominator()) for name, weight in expected.items()
    }
    assert done("do", name="twins", vs="none").outcome == "yes"


def test_a_word_is_a_number_only_where_an_effect_has_numbers() -> None:
    write(UNDER.replace('kind = "hurt"', 'kind = "wounds"').replace("[effects.hurt]", "[effects.wounds]"))
    effects = done("try", attribute=9, tired=True, given={"roll": "4,4,4"}).effects
    assert effects == [{"kind": "wounds", "to": "actor", "change": 1}]


# ---------------------------------------------------------------------------------------------------------------------
# Where it lies


def test_a_file_is_found_on_the_path_of_rulesets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, root in (
        ("one", "rulesets"),
        ("two", "elsewhere"),
        ("three", "given"),
        ("four", f"{tmp_path}/config/rpgres/rulesets"),
    ):
        write(UNDER, name=name, root=root)
    monkeypatch.setenv("RPGRES_RULESETS", "elsewhere")
    where = {"RPGRES_RULESETS": "elsewhere", "XDG_CONFIG_HOME": str(tmp_path / "config")}
    typed = ("try", "--attribute", "18", "--auto")
    for name in ("one", "two", "four"):
        assert rpgres("roll", name, *typed, **where).code == 0
    assert rpgres("roll", "three", *typed, **where).code == 2
    assert rpgres("roll", "three", *typed, "--rulesets", "given", **where).code == 0
    names = [name.id for name in ruleset_names()]
    assert [name for name in names if name in ("one", "two", "three", "four")] == ["four", "one", "two"]


def test_a_nearer_file_is_laid_over_a_farther_one_and_over_what_ships() -> None:
    write(UNDER)
    write("[actions.try.bands]\ngood = 'margin < 5'\n", root="nearer")
    near = done("try", attribute=14, given={"roll": "2,4,4"}, rulesets="nearer")
    far = done("try", attribute=14, given={"roll": "2,4,4"})
    assert (near.outcome, far.outcome) == ("good", "fine")
    write("[bands.price]\nto = 8\n[bands.well]\nfrom = 9\n", name="two-dice")
    assert done("risk", name="two-dice", trait=0, given={"roll": "4,5"}).outcome == "well"


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    write(UNDER)
    monkeypatch.setenv("RPGRES_DISABLE", "under")
    with pytest.raises(PluginError, match="disabled"):
        find_ruleset("under")
    assert "under" not in [name.id for name in ruleset_names()]


def test_a_folder_without_the_word_is_only_laid_over_something() -> None:
    write(UNDER.replace("standalone = true", "standalone = false"))
    with pytest.raises(UsageError, match=r"no ruleset 'under'.*is an overlay for"):
        find_ruleset("under")


@pytest.mark.slow
def test_a_faulty_file_harms_nothing_else() -> None:
    write("standalone = true\ntitle = 3\n", name="broken")
    write(UNDER)
    assert done("try", attribute=18, given={"roll": "4,4,4", "time": "1"}).outcome == "fine"
    found = rpgres("roll", "broken", "try")
    assert found.code == 1
    assert "rulesets/broken/ruleset.toml:2: title: expected text, found a whole number" in found.err
    assert "summary: missing key" in found.err
    status = {one.id: one for one in list_rulesets()}
    assert (status["broken"].ok, status["under"].ok) == (False, True)
    assert rpgres("plugin", "list").code == 0
    assert rpgres("ruleset", "check", "broken").code == 1


@pytest.mark.slow
def test_a_file_that_is_no_toml_is_told_as_such() -> None:
    path = write(UNDER + '\n[broken = "x\n')
    found = rpgres("roll", "under", "try", "--attribute", "9")
    assert found.code == 1
    assert f"{path}:" in found.err
    assert "no ruleset" not in found.err
    listed = rpgres("plugin", "list").out
    assert "under" in listed
    assert "rulesets/under" in listed


@pytest.mark.slow
def test_a_homemade_ruleset_is_listed_with_its_folder() -> None:
    write(UNDER)
    assert "Three under (rulesets/under)" in rpgres("plugin", "list").out


def test_a_roll_needs_outcomes() -> None:
    head = UNDER[: UNDER.index("[bands]")]
    write(head + '[actions.go]\nsummary = "Go."\ndice = "1d6"\n')
    with pytest.raises(
        FileError, match=r"actions.go.dice: it has no `bands`, and no outcome of the ruleset has bounds"
    ):
        rules()


# ---------------------------------------------------------------------------------------------------------------------
# What is wrong

FAULTS = {
    "unknown name": (
        ("roll - shift", "roll - shfit"),
        "actions.try.numbers.total: the ruleset has no number 'shfit'; did you mean `shift`?",
    ),
    "no name": (('dice = "3d6"', 'dice = "{Shift it}d6"'), "actions.try.dice.roll: 'S' is not valid in a formula"),
    "bad dice": (('dice = "3d6"', 'dice = "3d6kx"'), "actions.try.dice.roll: "),
    "bad number": (('"margin / 3"', '"margin / 0"'), "actions.try.numbers.degrees: a divisor may be 0"),
    "circular": (('"17 - wounds"', '"edge + 1"'), "actions.try.numbers.edge: the number edge depends on itself"),
    "unknown word": (('"margin < 3"', '"magin < 3"'), "actions.try.bands.good: the ruleset has no number 'magin'"),
    "choice of a flag": (('tired = "yes"', 'tired = "ja"'), "the fact tired has no choice 'ja'"),
    "roll of a row": (
        ('"1d6 + {attribute}/2"', '"1d6 + {atribute}/2"'),
        "good.rolls.time: the ruleset has no number 'atribute'; did you mean `attribute`?",
    ),
    "number of an effect": (('degrees = "degrees"', 'degrees = "degree"'), "degrees: expected a whole number"),
    "kind of effect": (('kind = "hurt"', 'kind = "hrt"'), "'hrt'"),
    "no meaning": (
        ('help = "it is done"\ndoes = "nothing"', 'help = "it is done"'),
        'effects.done: unknown operation: does = "counter", "tag", "untag", "mark", "clear", "out", "nothing"',
    ),
    "does": (('does = "nothing"', 'does = "noting"'), "effects.done.does: "),
    "unknown key": (('dice = "3d6"', 'dcie = "3d6"'), "actions.try.dcie: unknown key; did you mean `dice`?"),
    "band of an action": (
        ('good = "margin < 3"', 'god = "margin < 3"'),
        "actions.try.bands.god: the ruleset has no band 'god'; did you mean `good`?",
    ),
    "nothing else": (('fine = "else"', 'fine = "margin > 4"'), "no outcome applies where no condition holds"),
    "roll that depends on itself": (('"3d6"', '"{degrees}d6"'), "the dice roll depend on roll"),
    "roll of another row": (
        ("change = 1, when", 'change = "time", when'),
        "bad.effects[0].change: expected a whole number, or text",
    ),
    "roll called like a number": (
        ("rolls = { time =", "rolls = { degrees ="),
        "good.rolls.degrees: 'degrees' is already a number",
    ),
    "division of an effect": (
        ('degrees = "degrees"', 'degrees = "degrees/0"'),
        "good.effects[0].degrees: division by 0",
    ),
    "band beyond the dice": (
        ('"roll <= 4"', '"roll <= 2"'),
        "actions.try.bands.wonder: this band is unreachable: its condition never holds",
    ),
    "band of nothing": (
        ("[bands.calamity]", '[bands.marvel]\ntitle = "Marvel"\n[bands.calamity]'),
        "bands.marvel: this band is unreachable: it has no bounds",
    ),
    "number called like a parameter": (
        ('degrees = "margin / 3"', 'degrees = "margin / 3"\nshift = "1"'),
        "actions.try.numbers.shift: 'shift' is already a parameter of this action",
    ),
    "several": (
        ('help = "what is tried with"', 'help = "what is tried with"\nmany = true'),
        "parameters.attribute.many: an action without code takes one ability",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_with_its_place_when_the_ruleset_is_used(fault: str) -> None:
    (old, new), told = FAULTS[fault]
    assert old in UNDER
    path = write(UNDER.replace(old, new, 1))
    with pytest.raises(FileError) as refused:
        rules()
    assert told in refused.value.message
    line = UNDER.replace(old, new, 1)[: UNDER.index(old)].count("\n") + 1
    places = [problem.split(":")[1] for problem in refused.value.message.splitlines() if str(path) in problem]
    assert any(abs(int(place) - line) <= 3 for place in places), refused.value.message


def test_bad_dice_are_shown_with_the_place() -> None:
    write(UNDER.replace('dice = "3d6"', 'dice = "3d6kx"'))
    found = rpgres("ruleset", "check", "under")
    assert found.out.splitlines()[-2:] == ["  3d6kx", "     ^"]


def test_what_is_typed_may_make_no_dice() -> None:
    with pytest.raises(
        UsageError, match=r"the dice dice are '\{max\(pool \+ bonus, 1\)\}d10', which is '2000d10' here"
    ):
        resolve("again-pool", "contest", pool=1999, bonus=1, vs=1)


def test_a_described_action_stands_beside_a_rule_in_code(tmp_path: Path) -> None:
    from tests.support.tiny import TINY, tiny_ruleset

    folder = tmp_path / "own"
    folder.mkdir()
    more = '\n[actions.guess]\nsummary = "Guess."\ndice = "1d6"\nbands = { miss = "roll <= 3", hit = "else" }\n'
    (folder / "ruleset.toml").write_text(TINY + more + "[outcomes.guess.hit]\ntext = 'Yes.'\n", encoding="utf-8")
    ruleset = tiny_ruleset()
    ruleset.data = folder
    assert done("guess", name=ruleset, given={"roll": "4"}).texts == ["Yes."]  # type: ignore[arg-type]
    assert resolve(ruleset, "try", vs=7, given={"roll": "4,4"}).outcome == "hit"  # type: ignore[union-attr]


# ---------------------------------------------------------------------------------------------------------------------
# What one file may say, taken apart

DUEL = """
ruleset = "blades"
seed = "1"
[characters.ann]
skills = { blade = 3 }
[characters.bo]
skills = { blade = 2 }
[[steps]]
actor = "ann"
action = "strike"
with = { pool = "blade", vs = "bo:blade", angry = true }
given = { roll = "6,6,5", opposition = "5,1", damage = "2,2", spread = "1,1", more = "2,2,1,1,1" }
choose = { press = "again" }
expect = { outcome = "hit", margin = 2, state = { "characters.bo.counters.harm" = 22, "characters.bo.is_out" = true } }
[[steps]]
actor = "bo"
action = "strike"
with = { pool = "blade", vs = 0 }
expect = { error = "bo is out, and cannot act in this scene any more" }
[[steps]]
actor = "ann"
action = "strike"
with = { pool = "blade", vs = 0, luck = 0 }
given = { roll = "6,6,1", damage = "1,1" }
expect = { outcome = "hit", state = { "counters.harm" = "absent", "characters.ann.counters.harm" = 0 } }
"""


def test_rows_may_name_what_they_roll_in_conditions_options_and_further_rolls() -> None:
    write(BLADES, name="blades")
    Path("duel.toml").write_text(DUEL, encoding="utf-8")
    assert rpgres("ruleset", "check", "blades").out == "blades: ok\n"
    assert rpgres("scene", "test", "duel.toml").out == "duel.toml: ok (8 expectations)\n"


def test_pools_of_no_dice_are_worth_nothing_and_no_question() -> None:
    write(BLADES, name="blades")
    found = done("strike", name="blades", pool=2, vs=0, luck=-1, given={"roll": "6,1", "damage": "3"})
    rolled = [(answer.label, answer.value) for answer in found.answers if answer.kind == "chance"]
    assert rolled == [("roll", "6,1"), ("damage", "3")]
    for pool in (0, -2):
        assert odds("strike", name="blades", pool=pool, vs=0) == {"miss": 1}
    waiting = rpgres("roll", "blades", "strike", "--pool", "1", "--vs", "0", "--luck", "0", "--given", "roll=6")
    assert waiting.code == 0  # a moment that may pass does
    stop = '[outcomes.strike.hit.ask.press.options.stop]\ntext = "No."\n\n[effects.harm]'
    asked = BLADES.replace("optional = true\n", "").replace("[effects.harm]", stop)
    write(asked, name="blades")
    forget_rules()
    waiting = rpgres("roll", "blades", "strike", "--pool", "1", "--vs", "0", "--luck", "0", "--given", "roll=6")
    assert waiting.code == 3
    resume = next(line.strip() for line in waiting.out.splitlines() if line.strip().startswith("rpgres roll"))
    assert "spread" not in resume
    assert rpgres(*shlex.split(resume)[1:]).code == 0


@pytest.mark.parametrize("vs", ["1d6", "2d4"])
@pytest.mark.parametrize("cover", [0, 2])
def test_what_opposes_may_be_part_of_more(vs: str, cover: int) -> None:
    write(BLADES.replace("{pool}d6>=5", "{pool}d6").replace("{rating}d6>=5", "{rating}d6"), name="blades")
    count, sides = map(int, vs.split("d"))
    expected = (3 @ icepool.d6 - count @ icepool.d(sides) - cover).map(lambda margin: "hit" if margin > 0 else "miss")
    assert odds("strike", name="blades", pool=3, vs=vs, cover=cover) == {
        name: Fraction(weight, expected.denominator()) for name, weight in expected.items()
    }
    found = done("strike", name="blades", pool=3, vs=vs, cover=cover, given={"opposition": ",".join("1" * count)})
    assert found.opposition == count + cover


def test_what_needs_something_in_the_way_says_so() -> None:
    write(BLADES, name="blades")
    with pytest.raises(UsageError, match="blades strike needs an opposition"):
        resolve("blades", "strike", pool=3, vs="none")
    with pytest.raises(UsageError, match="blades strike needs an opposition"):
        odds("strike", name="blades", pool=3, vs="none")
    # One row alone is no answer to what it means that nothing opposes.
    head = BLADES.split("[outcomes")[0].replace(
        "from = 1, success = true }", "from = 1, success = true, unopposed = true }"
    )
    head = head.replace('"{vs} + {cover}"', '"{vs} + {cover} + {angry}"')
    write(f"{head}[outcomes.strike.miss]\ntext = 'A miss.'\n" + BLADES[BLADES.index("[sheet]") :], name="blades")
    forget_rules()
    assert done("strike", name="blades", pool=3, vs="none").outcome == "hit"


def test_dice_of_any_size_oppose_under_their_own_label() -> None:
    sized = BLADES.replace('"{vs} + {cover}"', '"1d{cover}"').replace('["pool", "vs", "cover"', '["pool", "cover"')
    sized = sized.replace('required = ["pool", "vs"]', "").replace('vs = { kind = "opposition"', "# vs = {")
    write(sized, name="blades")
    assert done("strike", name="blades", pool=1, cover=8, given={"opposition": "7"}).opposition == 7
    assert rpgres("odds", "blades", "strike", "--pool", "1", "--cover", "8").code == 0


def test_a_choice_may_be_dice_that_something_follows() -> None:
    text = RAISES.replace('roll = "{die}"', 'roll = "{die}!"').replace('d6!"', 'd6"').replace('d8!"', 'd8"')
    write(text.replace('d12!"', 'd12"'), name="raises")
    assert rpgres("ruleset", "check", "raises").out == "raises: ok\n"
    assert done("test", name="raises", die="d8", vs=4, given={"roll": "8,3"}).total == 11
