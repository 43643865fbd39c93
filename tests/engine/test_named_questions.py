"""Questions inside a roll: asked, paid, rerolled; and their odds against every die and every answer."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations, product
from math import comb
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import Due
from rpgres.engine.named_dice import paths
from rpgres.engine.players import policy_of
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.records import Result
from rpgres.engine.run import run
from rpgres.errors import ChoiceError
from rpgres.model.events import RollEvent
from rpgres.odds.exact import outcome_odds
from rpgres.odds.optimal import evaluate_best
from rpgres.odds.sampling import sample
from tests.support.command_line import rpgres
from tests.support.declarative import head, here, rules, write
from tests.support.effort import examples, few
from tests.support.every_die import best_success, every_outcome

__all__ = ["here"]  # a fixture that every test here uses

PUSHED = (
    head("Pushed", "Sixes count; a push throws the rest again, and ones hurt.", success=True, failure=False)
    + """
[actions.check]
summary = "Roll."
parameters = ["pool", "gear", "needs"]
required = ["pool"]
tell = ["sixes", "ones", "new-ones"]
dice = { own = "{pool}d6", tools = "{gear}d6" }

[actions.check.ask.push]
text = "Push the roll?"
when = "sixes < needs"

[actions.check.ask.push.options.push]
text = "Throw the rest again."
reroll = { own = "face <= 5", tools = "face >= 2 and face <= 5" }
prefer = "sixes + 1 >= needs"
effects = [{ kind = "hurt", to = "actor", change = "ones", when = { ones-from = 1 } }]

[actions.check.numbers]
sixes = "count(own, tools, face = 6)"
ones = "count(own, tools, face = 1)"
new-ones = "count(own, tools, face = 1 and thrown > 1)"

[actions.check.bands]
success = "sixes >= needs"
failure = "else"

[effects]
hurt = { help = "hurt", does = "counter", counter = "hurt", numbers = ["change"] }

[parameters]
pool = { kind = "ability", help = "the dice" }
gear = { kind = "integer", default = 0, at-least = 0, help = "dice of tools" }
needs = { kind = "integer", default = 1, help = "how many sixes" }

[sheet]
name = { kind = "text", help = "name" }
skills = { kind = "abilities", any-name = true, help = "skills" }
hurt = { kind = "counter", help = "how badly hurt", default = 0 }
"""
)


def _prepared(name: str, action: str, /, **inputs: Any) -> Prepared:
    return prepare(rules(name), action, inputs)


def _pushed(own: int, tools: int, needs: int, *, only_short: int) -> Fraction:
    """Return the chance of success of the pool above, pushed where this many sixes are missing or fewer."""
    found = Fraction(0)
    for first in range(own + 1):
        for sixes, ones in product(range(tools + 1), repeat=2):
            if sixes + ones > tools:
                continue
            weight = Fraction(comb(own, first) * 5 ** (own - first), 6**own)
            weight *= Fraction(comb(tools, sixes) * comb(tools - sixes, ones) * 4 ** (tools - sixes - ones), 6**tools)
            missing, left = needs - first - sixes, own - first + tools - sixes - ones
            if missing <= 0:
                found += weight
            elif missing <= only_short:
                hits = sum(comb(left, new) * 5 ** (left - new) for new in range(missing, left + 1))
                found += weight * Fraction(hits, 6**left)
    return found


class TestPush:
    @pytest.fixture(autouse=True)
    def pushed(self, here: Path) -> None:
        write(PUSHED, name="pushed")

    def test_nobody_is_asked_and_the_dice_stay(self) -> None:
        done = rpgres("roll", "pushed", "check", "--pool", "2", "--given", "own=2,3", "--seed", "1")
        assert done.code == 0
        assert done.out.count("own:") == 1

    def test_only_the_dice_that_fit_are_thrown_again_and_ones_hurt(self) -> None:
        line = ["roll", "pushed", "check", "--pool", "3", "--gear", "2", "--needs", "2", "--choose", "push=push"]
        done = rpgres(*line, "--given", "own=6,3,1", "--given", "own=6,1", "--given", "tools=1,4", "--given", "tools=2")
        assert done.code == 0, done.out
        assert "own: 6,3,1 = 1" in done.out
        assert "own: 6,1 = 1" in done.out
        assert "sixes 2, ones 2, new ones 1" in done.out
        assert "hurt: for the actor, change +2" in done.out

    def test_what_was_given_and_is_not_thrown_is_told(self) -> None:
        line = ["roll", "pushed", "check", "--pool", "1", "--given", "own=6", "--choose", "push=push"]
        done = rpgres(*line)
        assert done.code == 0
        assert "not used: --choose push=push" in done.out

    @pytest.mark.slow
    @pytest.mark.parametrize(("pool", "gear", "needs"), [(2, 0, 1), (1, 1, 2)])
    def test_odds_are_those_of_every_die(self, pool: int, gear: int, needs: int) -> None:
        prepared = _prepared("pushed", "check", pool=pool, gear=gear, needs=needs)
        wanted, _ = every_outcome(prepared, is_decided=False)
        assert outcome_odds(prepared).masses == {"success": wanted["success"], "failure": wanted["failure"]}
        assert outcome_odds(prepared).passed == ("push",)
        wanted, _ = every_outcome(prepared)
        found = outcome_odds(prepared, policies={"": policy_of(prepared.rules)})
        assert found.masses["success"] == wanted["success"] == _pushed(pool, gear, needs, only_short=1)
        assert evaluate_best(prepared).masses["success"] == _pushed(pool, gear, needs, only_short=99)

    @pytest.mark.slow
    def test_the_best_is_that_of_every_die_and_answer(self) -> None:
        prepared = _prepared("pushed", "check", pool=1, gear=1, needs=1)
        assert evaluate_best(prepared).masses["success"] == best_success(prepared)

    def test_a_large_pool_is_fast(self) -> None:
        prepared = _prepared("pushed", "check", pool=6, gear=8, needs=4)
        start = process_time()
        assert evaluate_best(prepared).masses["success"] == _pushed(6, 8, 4, only_short=99)
        assert process_time() - start < 1


PICKED = (
    head(
        "Picked",
        "Picked dice are rerolled for luck.",
        low=False,
        high=True,
        twins=True,
    )
    + """
[actions.check]
summary = "Roll."
parameters = ["needs"]
required = ["needs"]
tell = ["total", "left"]
dice = { ask = "1d4", roll = "{2 + (more = 'take')}d4", last = "{count(roll, face = 1)}d2" }

[actions.check.ask.more]
text = "One die more?"
when = "ask >= 3"
options.take = { text = "It costs a point.", cost = { luck = 1 }, prefer = "needs - 6" }

[actions.check.ask.luck-of-dice]
text = "Spend luck?"
when = "total < needs"
times = 2
options.again = { cost = { luck = 1 }, reroll = { roll = "face <= 3" }, most = 2, pick = true, prefer = "total < 5" }
options.two = { text = "2 more.", cost = { luck = "1 + times(luck-of-dice)" }, when = "total + 2 >= needs", prefer = 2 }

[actions.check.numbers]
total = "roll + last + 2 * times(luck-of-dice, 'two')"
left = "luck"

[actions.check.bands]
high = "total >= needs"
twins = "highest(roll) = lowest(roll) and luck-of-dice = 'again'"
low = "else"

[effects]
luck = { help = "luck", does = "counter", counter = "luck" }

[parameters]
needs = { kind = "integer", help = "what is needed" }

[sheet]
name = { kind = "text", help = "name" }
luck = { kind = "counter", help = "luck", default = 0, at-least = 0 }
"""
)


class TestPicks:
    @pytest.fixture(autouse=True)
    def picked(self, here: Path) -> None:
        write(PICKED, name="picked")
        sheets = Path("rulesets/picked/sheets")
        sheets.mkdir()
        for luck in range(4):
            (sheets / f"luck-{luck}.toml").write_text(f'name = "Lucky"\nluck = {luck}\n')

    @pytest.mark.slow
    @pytest.mark.parametrize(("luck", "needs"), few([(0, 6), (1, 9), (2, 10)], 2))
    def test_odds_are_those_of_every_die_and_answer(self, luck: int, needs: int) -> None:
        prepared = _prepared("picked", "check", sheet=f"luck-{luck}", needs=needs)
        wanted, _ = every_outcome(prepared)
        found = outcome_odds(prepared, policies={"": policy_of(prepared.rules)})
        assert found.method == "exact"
        assert {band: mass for band, mass in found.masses.items() if mass} == wanted
        totals, _ = every_outcome(prepared, what="total")
        assert outcome_odds(prepared, by="total", policies={"": policy_of(prepared.rules)}).masses == totals
        if luck < 2:
            assert evaluate_best(prepared).masses.get("low", 0) == 1 - best_success(prepared)

    def test_dice_are_picked_by_what_they_show(self) -> None:
        line = ["roll", "picked", "check", "--sheet", "luck-2", "--needs", "8", "--given", "ask=1", "--seed", "7"]
        done = rpgres(*line, "--given", "roll=3,2", "--given", "roll=4", "--choose", "luck-of-dice=again-2")
        assert done.code == 0, done.out
        assert "roll (luck-2): 3,2 = 5" in done.out
        assert "roll (luck-2): 4 = 4" in done.out
        assert "left 1" in done.out
        assert "luck: for luck-2, change -1" in done.out
        done = rpgres(*line, "--given", "roll=3,3", "--choose", "luck-of-dice=yes")  # which of several options?
        assert (done.code, "luck-of-dice=yes is not offered" in done.err) == (2, True)
        done = rpgres(*line, "--given", "roll=3,3", "--choose", "luck-of-dice=again-2")
        assert done.code == 2
        assert "again-3" in done.err


CHOSEN = (
    head("Chosen", "A sum of dice, some of which are thrown again.", low=False, high=True)
    + """
[actions.least]
summary = "The least dice."
parameters = ["count", "up-to", "most", "needs"]
dice = { roll = "{count}d4" }
bands = { high = "total >= needs", low = "else" }
numbers = { total = "roll" }
ask.again.text = "Again?"
ask.again.options.again = { reroll = { roll = "face <= up-to" }, most = "most" }

[actions.any]
summary = "Any dice."
parameters = ["count", "up-to", "most", "needs"]
dice = { roll = "{count}d4" }
bands = { high = "total >= needs", low = "else" }
numbers = { total = "roll" }
ask.again.text = "Again?"
ask.again.options.again = { reroll = { roll = "face <= up-to" }, most = "most", pick = true }

[parameters]
count = { kind = "integer", default = 1, help = "how many dice" }
up-to = { kind = "integer", default = 1, help = "up to what face" }
most = { kind = "integer", default = 1, help = "how many at most" }
needs = { kind = "integer", default = 1, help = "what is needed" }
"""
)


def _chosen(count: int, up_to: int, most: int, needs: int, *, is_any: bool) -> Fraction:
    """Return the chance of a sum where dice up to a face are thrown again: the least ones, or any of them."""

    def after(stay: tuple[int, ...], left: int) -> Fraction:
        totals = [sum(stay) + sum(new) for new in product(range(1, 5), repeat=left)]
        return Fraction(sum(total >= needs for total in totals), len(totals))

    found = Fraction(0)
    for faces in product(range(1, 5), repeat=count):
        fitting = [place for place, face in enumerate(faces) if face <= up_to]
        sizes = range(min(most, len(fitting)) + 1) if is_any else [0, min(most, len(fitting))]
        ways = [way for size in sizes for way in combinations(sorted(fitting, key=lambda one: faces[one]), size)]
        if not is_any:
            ways = [way for way in ways if sum(faces[one] for one in way) == sum(sorted(faces)[: len(way)])]
        best = max(after(tuple(f for place, f in enumerate(faces) if place not in way), len(way)) for way in ways)
        found += best / 4**count
    return found


class TestChosen:
    @pytest.mark.slow
    @settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        count=st.integers(1, 3),
        up_to=st.integers(1, 4),
        most=st.integers(0, 3),
        needs=st.integers(2, 12),
        is_any=st.booleans(),
    )
    def test_the_best_is_that_of_all_results(self, count: int, up_to: int, most: int, needs: int, is_any: bool) -> None:
        write(CHOSEN, name="chosen")
        inputs = {"count": count, "up-to": up_to, "most": most, "needs": needs}
        prepared = _prepared("chosen", "any" if is_any else "least", **inputs)
        assert evaluate_best(prepared).masses.get("high", 0) == _chosen(count, up_to, most, needs, is_any=is_any)


def test_a_question_is_about_the_counters_in_its_formulas(here: Path) -> None:
    prepared = _prepared("action-and-challenge", "check", sheet="asta", stat=2)
    facts: list[Any] = []
    outcome_odds(prepared, policies={"": lambda _, question: facts.append(question.facts)})
    assert {one["momentum"] for one in facts} == {6}
    assert {*facts[0]} == {"beaten", "momentum"}


class TestYes:
    """`yes` answers a question with one option."""

    def test_yes_is_the_only_option(self, here: Path) -> None:
        write(PUSHED, name="pushed")
        line = ["pushed", "check", "--pool", "1"]
        for answer, told in (("yes", "push (actor): push"), ("no", "Failure")):
            done = rpgres("roll", *line, "--choose", f"push={answer}", "--given", "own=2", "--seed", "1")
            assert done.code == 0, done.err
            assert told in done.out
        odds = [rpgres("odds", *line, "--choose", f"push={answer}", "--json").out for answer in ("yes", "push")]
        assert json.loads(odds[0])["outcomes"] == json.loads(odds[1])["outcomes"]


class TestDivisors:
    def test_a_division_by_0_names_the_number(self, here: Path) -> None:
        write(CHOSEN.replace('total = "roll"', 'total = "if(needs > 0, roll / up-to, 0)"', 1), name="chosen")
        for command in ("roll", "odds"):
            done = rpgres(command, "chosen", "least", "--up-to", "0", "--needs", "1", "--auto")
            assert "total: " in done.err, done
            assert "dividing by 0" in done.err


class TestPickNames:
    """Picked dice are named by their faces, in odds as in play: in any order, and by equivalent faces."""

    @pytest.mark.parametrize("name", ["again-2-1", "again-1-2", "AGAIN 1 2"])
    def test_odds_follow_a_typed_pick_where_it_is_offered(self, here: Path, name: str) -> None:
        write(CHOSEN, name="chosen")
        prepared = _prepared("chosen", "any", **{"count": 2, "up-to": 4, "most": 2, "needs": 6})
        found = outcome_odds(prepared, choose={"again": [name]})
        high = Fraction(6, 16)
        assert found.masses["high"] == high + Fraction(2, 16) * high  # 1 and 2, which are rerolled
        assert found.partly == (f"again={name}",)

    def test_games_go_on_where_a_typed_pick_is_not_offered(self, here: Path) -> None:
        write(CHOSEN, name="chosen")
        prepared = _prepared("chosen", "any", **{"count": 2, "up-to": 4, "most": 2, "needs": 6})
        found = sample(prepared, choose={"again": ["again-2-1"]}, runs=400)
        assert found is not None
        exact = outcome_odds(prepared, choose={"again": ["again-2-1"]}).masses["high"]
        assert found.outcomes["high"].low <= exact <= found.outcomes["high"].high

    def test_an_answer_that_no_path_offers_is_an_error(self, here: Path) -> None:
        write(CHOSEN, name="chosen")
        prepared = _prepared("chosen", "any", **{"count": 2, "up-to": 3, "most": 2, "needs": 6})
        for name in ("again-4", "again-1-1-1", "again-own-1", "push"):
            with pytest.raises(ChoiceError, match="not offered"):
                outcome_odds(prepared, choose={"again": [name]})

    def test_a_question_that_no_path_asks_is_named(self, here: Path) -> None:
        write(PUSHED, name="pushed")
        prepared = _prepared("pushed", "check", pool=1, needs=0)
        assert outcome_odds(prepared, choose={"push": ["push"]}).unasked == ("push",)
        assert (
            "not asked before the outcome: push"
            in rpgres("odds", "pushed", "check", "--pool", "1", "--needs", "0", "--choose", "push=push").out
        )

    def test_an_equivalent_face_names_the_same_dice(self, here: Path) -> None:
        write(CHOSEN.replace('total = "roll"', 'total = "count(roll, face >= 3)"'), name="chosen")
        line = ["chosen", "any", "--count", "3", "--up-to", "4", "--most", "2", "--needs", "3"]
        asked = {}
        for name in ("again-1", "again-2", "again-3-1", "again-2-4"):
            done = rpgres("roll", *line, "--choose", f"again={name}", "--given", "roll=2,4,3", "--seed", "1", "--json")
            assert done.code == 0, done.err
            asked[name] = next(one["answer"] for one in json.loads(done.out)["events"] if "answer" in one)
        assert asked == {"again-1": "again-2", "again-2": "again-2", "again-3-1": "again", "again-2-4": "again"}
        shown = [rpgres("odds", *line, "--choose", f"again=again-{face}").out.splitlines()[:3] for face in (1, 2)]
        assert shown[0] == shown[1]


READ = (
    head(
        "Read",
        "Readings of dice that may be rerolled.",
        low=False,
        high=True,
    )
    + """
[actions.check]
summary = "Roll."
parameters = ["needs"]
dice = { pool = { roll = "DICE", worth = "WORTH" }, other = "1d2" }
numbers = { value = "READING" }
bands = { high = "value >= needs", low = "else" }
ask.again.text = "Again?"
ask.again.options.again = { reroll = { GROUP = "FITS" }, most = "MOST", prefer = "value <= needs" }

[parameters]
needs = { kind = "integer", default = 1, help = "what is needed" }
"""
)
WORTHS = ("face", "if(face >= 4, 1, 0)", "if(face = 1, 7, face)", "0 - face", "if(face = 2, 0, face)")
READINGS = ("lowest(pool)", "highest(pool)", "pool", "count(pool, face >= 1)", "lowest(pool, face >= 1)")


class TestReadings:
    """What is read off dice of which some may be thrown again, against every die and every answer."""

    @pytest.mark.slow
    @settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        dice=st.sampled_from(("2d4", "2dF", "1d6")),
        worth=st.sampled_from(WORTHS),
        reading=st.sampled_from(READINGS),
        group=st.sampled_from(("pool", "other")),
        fits=st.sampled_from(("face <= 1", "face >= 1")),
        most=st.integers(1, 2),
        needs=st.integers(-2, 4),
    )
    @example("2d6", "if(face >= 4, 1, 0)", "lowest(pool)", "other", "face <= 1", 1, 1)
    @example("2dF", "face", "highest(pool)", "other", "face <= 1", 1, 0)
    @example("2d6", "if(face = 1, 7, face)", "count(pool, face >= 5)", "pool", "face >= 1", 1, 1)
    def test_odds_are_those_of_every_die_and_answer(
        self, dice: str, worth: str, reading: str, group: str, fits: str, most: int, needs: int
    ) -> None:
        text = READ.replace("DICE", dice).replace("WORTH", worth).replace("READING", reading)
        write(text.replace("GROUP", group).replace("FITS", fits).replace("MOST", str(most)), name="read")
        prepared = _prepared("read", "check", needs=needs)
        wanted, _ = every_outcome(prepared)
        found = outcome_odds(prepared, policies={"": policy_of(prepared.rules)}).masses
        assert {band: mass for band, mass in found.items() if mass} == wanted

    def test_explosions_that_are_not_followed_stay_open(self, here: Path) -> None:
        text = READ.replace('{ roll = "DICE", worth = "WORTH" }', '"1d2! + 1d6"').replace("READING", "pool")
        write(text.replace("GROUP", "other").replace("FITS", "face = 1").replace("MOST", "1"), name="read")
        found = outcome_odds(_prepared("read", "check", needs=6), policies={"": policy_of(rules("read"))})
        assert found.method == "partial"
        assert sum(found.masses.values()) < 1


PAID = (
    head("Paid", "Whoever opposes may resist.", lose=False, win=True)
    + """[actions.check]
summary = "Try."
parameters = ["against"]
required = ["against"]
dice = { pool = "2d6" }
[actions.check.ask.resist]
who = "opponent"
text = "Resist?"
options.spend = { cost = { luck = 1 }, prefer = "1" }
[actions.check.ask.again]
text = "Again?"
options.throw = { reroll = { pool = "face <= opponent.luck" }, prefer = "1" }
[actions.check.bands]
lose = "opponent.luck = 0 and resist = 'spend' and pool > 3"
win = "else"
[parameters]
against = { kind = "character", help = "who opposes" }
[effects.luck]
help = "luck is spent"
does = "counter"
counter = "luck"
[sheet]
name = { kind = "text", help = "who it is" }
luck = { kind = "counter", default = 1, at-least = 0, help = "luck" }
"""
)


class TestPaid:
    """What whoever opposes has paid is gone, in formulas too."""

    def test_a_counter_is_what_is_left_of_it(self, here: Path) -> None:
        write(PAID, name="paid")
        for name in ("a", "b"):
            sheet = here / "rulesets" / "paid" / "sheets" / f"{name}.toml"
            sheet.parent.mkdir(exist_ok=True)
            sheet.write_text(f'name = "{name}"\n', "utf-8")
        line = ["paid", "check", "--sheet", "a", "--against", "b"]
        told = rpgres("roll", *line, "--given", "pool=1,3", "--choose", "resist=spend", "--choose", "again=no")
        assert "Lose" in told.out, told
        odds = rpgres("odds", *line, "--auto", "--json")
        assert json.loads(odds.out)["outcomes"]["win"]["exact"] == "1/12", odds  # 1,1 and 1,2; nothing is thrown again


class TestTable:
    """A decision of the dice at a lasting table, with real dice, and taken back."""

    @pytest.fixture(autouse=True)
    def at_table(self, here: Path) -> None:
        write(PUSHED, name="pushed")
        sheets = Path("rulesets/pushed/sheets")
        sheets.mkdir()
        (sheets / "vera.toml").write_text('name = "Vera"\nskills = { haul = 3 }\n')

    def _act(self) -> None:
        assert rpgres("table", "new", "pushed", "--sheet", "vera", "--seed", "9").code == 0
        done = rpgres("table", "act", "check", "--pool", "haul", "--needs", "2", "--given", "own=6,1,4")
        assert done.code == 3
        assert "vera chooses (sixes 1): Push the roll?" in done.out

    def test_it_waits_for_the_owner_of_the_roll_and_is_taken_back(self) -> None:
        self._act()
        done = rpgres("table", "answer", "--choose", "push=push", "--given", "own=1,6")
        assert done.code == 0, done.err
        assert "own (vera): 1,6" in done.out
        assert "Hurt 1" in rpgres("table", "show").out
        assert rpgres("table", "undo").code == 0
        shown = rpgres("table", "show").out
        assert "Hurt" not in shown
        assert "the chain of hashes" in rpgres("table", "verify").out

    def test_letting_it_pass_keeps_the_dice(self) -> None:
        self._act()
        done = rpgres("table", "answer", "--choose", "push=no")
        assert done.code == 0, done.err
        assert "Failure" in done.out
        assert "Hurt" not in rpgres("table", "show").out

    def test_dice_that_are_thrown_again_are_asked_for_by_name(self) -> None:
        asked: list[tuple[str, int, str]] = []

        def hand(due: Due) -> list[str]:
            asked.append((due.label, due.asked, due.dice))
            return ["6,2,3"] if not due.asked else ["5,6"]

        prepared = _prepared("pushed", "check", pool="3", needs="2")
        result, _ = run(prepared, streams=Streams("1"), choose={"push": ["push"]}, hand=hand)
        assert asked == [("own", 0, "3d6"), ("own", 1, "2d6")]
        assert isinstance(result, Result)
        assert result.outcome == "success"

    def test_policies_orders_and_batches_answer_it(self) -> None:
        line = ["roll", "pushed", "check", "--pool", "3", "--needs", "2", "--given", "own=6,1,4", "--given", "own=2,6"]
        done = rpgres(*line, "--auto")
        assert "push (actor): push" in done.out
        Path("wary.toml").write_text(
            '[[orders]]\nask = "push"\nwhen = { "facts.sixes" = ">= 1" }\nchoose = "push"\n\n'
            '[[orders]]\nask = "push"\nchoose = "no"\n'
        )
        done = rpgres(*line, "--policy", "actor=wary.toml")
        assert "push (actor): push" in done.out, done.err
        found = rpgres("odds", "pushed", "check", "--pool", "3", "--needs", "2", "--policy", "actor=wary.toml")
        assert f"Success    {float(_pushed(3, 0, 2, only_short=1)):.2%}"[:17] in found.out.replace(" %", "%")
        request = (
            '{"ruleset": "pushed", "action": "check", "with": {"pool": 2, "needs": 3}, "choose": {"push": "push"}}'
        )
        answered = rpgres("batch", stdin=request)
        assert answered.code == 0, answered.err
        assert '"label":"push"' in answered.out.replace(" ", "")


COUNTED = (
    head("Counted", "Dice as many as answers and as what is left.", good=True, bad=False)
    + """
[actions.try]
summary = "Try."
dice = { first = "1d6", more = "{times(luck)}d6", left = "{luck-points}d6" }
ask.luck = { text = "Luck?", times = 2, before = "more", options = { spend = { cost = { luck-points = 1 } } } }
bands = { good = "first + more + left >= 12", bad = "else" }

[effects]
luck = { help = "luck is spent", does = "counter", counter = "luck-points" }

[sheet]
name = { kind = "text", help = "name" }
luck-points = { kind = "counter", default = 3, at-least = 0, help = "luck" }
"""
)


def test_dice_are_as_many_as_answers_so_far_and_as_what_these_left() -> None:
    write(COUNTED, name="counted")
    Path("jo.toml").write_text('name = "Jo"\n')
    prepared = _prepared("counted", "try", sheet="jo.toml")
    for answers in range(3):
        choose = {"luck": ["spend"] * answers + ["no"]}
        found, _ = run(prepared, streams=Streams("1"), choose=choose)
        assert isinstance(found, Result)
        rolled = {event.label: event.faces.count(",") + 1 for event in found.events if isinstance(event, RollEvent)}
        expected = {"first": 1, "more": answers, "left": 3 - answers}
        assert rolled == {label: count for label, count in expected.items() if count}
        dice = 1 + answers + (3 - answers)
        wanted = Fraction(sum(sum(faces) >= 12 for faces in product(range(1, 7), repeat=dice)), 6**dice)
        assert outcome_odds(prepared, choose=choose).masses["good"] == wanted


def test_odds_of_too_many_dice_that_are_told_apart_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two dice for the tens, one for the units and a push: few results, and hundreds of places to look at."""
    monkeypatch.setattr(paths, "MOST_PLACES", 100)
    command = ["odds", "percentile-levels", "check", "--skill", "40", "--bonus-dice", "-1", "--auto"]
    ran = rpgres(*command)
    assert ran.code == 2
    assert "more than 100 paths; use `rpgres simulate` instead" in ran.err
