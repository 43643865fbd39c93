"""Actions whose dice are the best of several: dice that explode, typed pools of mixed dice."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import icepool
import pytest

import rpgres

WILD = """standalone = true
title = "Wild"
summary = "A trait die and a wild die, which explode."
version = "1"

[bands]
fail = {{ title = "Fail", success = false }}
ok = {{ title = "Success", success = true }}
raise = {{ title = "Raise", success = true }}

[actions.test]
summary = "Test a trait."
parameters = ["trait", "tn"]
required = ["trait"]
dice = {{ {dice} }}
numbers = {{ total = "{total}" }}
bands = {{ raise = "total >= tn + 4", ok = "total >= tn", fail = "else" }}

[parameters]
trait = {{ kind = "integer", at-least = 2, help = "the sides of the die" }}
tn = {{ kind = "integer", default = 4, help = "the number to reach" }}
"""


@pytest.mark.parametrize(
    ("dice", "total"),
    [
        ('both = "(d{trait}!,d6!)kh1"', "both"),
        ('own = "d{trait}!", wild = "d6!"', "max(own, wild)"),
        ('own = "d{trait}!", wild = "d6!"', "highest(own, wild)"),
        (
            'own = { roll = "d{trait}", again = "face = trait" }, wild = { roll = "d6", again = "face = 6" }',
            "max(sum(own), sum(wild))",
        ),
    ],
)
def test_the_best_of_two_dice_that_explode(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dice: str, total: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("rulesets", "wild")
    folder.mkdir(parents=True)
    folder.joinpath("ruleset.toml").write_text(WILD.format(dice=dice, total=total), encoding="utf-8")
    best = icepool.highest(icepool.d(8).explode(depth=9), icepool.d6.explode(depth=9))
    found = rpgres.odds("wild", "test", trait=8, tn=6)
    assert found.method == "exact"
    assert [Fraction(chance.exact) for chance in found.outcomes.values()] == [
        best.probability("<", 6),
        best.probability(">=", 6) - best.probability(">=", 10),
        best.probability(">=", 10),
    ]


def test_the_worst_of_two_dice_that_explode(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("rulesets", "wild")
    folder.mkdir(parents=True)
    text = WILD.format(dice='own = "d{trait}!", wild = "d6!"', total="lowest(own, wild)")
    folder.joinpath("ruleset.toml").write_text(text, encoding="utf-8")
    worst = icepool.lowest(icepool.d(8).explode(depth=9), icepool.d6.explode(depth=9))
    found = rpgres.odds("wild", "test", trait=8, tn=6)
    assert Fraction(found.outcomes["fail"].exact) == worst.probability("<", 6)
    assert found.method == "exact"
    numbers = rpgres.odds("wild", "test", trait=8, tn=6, by="total")  # has no end
    assert 0 < Fraction(numbers.open.exact) < Fraction(1, 10**8)
    assert 0 <= worst.probability("==", 7) - Fraction(numbers.outcomes["7"].exact) < Fraction(1, 10**8)


POOL = """standalone = true
title = "Pool"
summary = "Mixed dice, of which the two highest count."
version = "1"

[bands]
miss = { title = "Miss", success = false }
hit = { title = "Hit", success = true }

[actions.test]
summary = "Roll what you have."
parameters = ["pool", "vs"]
required = ["pool", "vs"]
dice = { own = "({pool})kh2", opposition = "{vs}" }
numbers = { total = "own" }
bands = { hit = "margin > 0", miss = "else" }

[parameters]
pool = { kind = "dice", help = "the dice, such as d6+2d8" }
vs = { kind = "opposition", help = "what is in the way" }
"""


def test_the_two_highest_of_typed_dice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("rulesets", "pool")
    folder.mkdir(parents=True)
    folder.joinpath("ruleset.toml").write_text(POOL, encoding="utf-8")
    found = rpgres.odds("pool", "test", pool="d6+2d8+d10", vs="(2d6+d8)kh2")
    own, other = (icepool.standard_pool(sides).highest(2).sum() for sides in ([6, 8, 8, 10], [6, 6, 8]))
    assert Fraction(found.outcomes["hit"].exact) == (own - other).probability(">", 0)
    with pytest.raises(rpgres.UsageError, match="kh2 asks for more dice than the 1 of the pool"):
        rpgres.odds("pool", "test", pool="d6", vs=3)


def test_dice_of_one_kind_stay_where_there_are_none_of_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("rulesets", "kinds")
    folder.mkdir(parents=True)
    text = POOL.replace("({pool})kh2", "({few}d6+{many}d8)kh{min(2, few + many)}").replace(
        '"pool", "vs"', '"few", "many", "vs"'
    )
    text = text.replace("pool = { kind", 'few = { kind = "integer", help = "d6" }\nmany = { kind')
    folder.joinpath("ruleset.toml").write_text(text.replace('"dice", help', '"integer", help'), encoding="utf-8")
    for few, many, sides in ((2, 1, [6, 6, 8]), (0, 3, [8, 8, 8]), (3, 0, [6, 6, 6]), (0, 1, [8])):
        found = rpgres.odds("kinds", "test", few=few, many=many, vs=6)
        best = icepool.standard_pool(sides).highest(2).sum()
        assert Fraction(found.outcomes["hit"].exact) == best.probability(">", 6)
    assert rpgres.odds("kinds", "test", few=0, many=0, vs=6).outcomes["miss"].exact == "1"


def test_a_definition_may_be_a_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    found = []
    for name, defined in (("short", 'far = "tn + 4"'), ("long", 'far = { value = "tn + 4" }')):
        folder = Path("rulesets", name)
        folder.mkdir(parents=True)
        text = WILD.format(dice='roll = "2d{trait}"', total="roll").replace("total >= tn + 4", "total >= far")
        folder.joinpath("ruleset.toml").write_text(f"{text}\n[define]\n{defined}\n", encoding="utf-8")
        found.append(rpgres.odds(name, "test", trait=6).outcomes)
    assert found[0] == found[1]
    assert found[0]["raise"].exact == "5/12"
