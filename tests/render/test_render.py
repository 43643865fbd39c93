"""Values as text: numbers, dice and effects in words, lines plain and styled."""

from __future__ import annotations

import doctest
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.dice import dice
from rpgres.engine.records import OptionRecord, Pending, QuestionRecord
from rpgres.engine.views import ANOTHER_SEAT
from rpgres.errors import RuleError
from rpgres.model.state import Box, Map, State
from rpgres.odds.exact import OddsResult, chance_record
from rpgres.odds.subjects import MeasuredOdds
from rpgres.render import lines, reports, results, words
from rpgres.render.documents import markdown, page
from rpgres.render.lines import Look, Piece, line, plain_text, styled
from rpgres.render.odds import studies
from rpgres.render.odds import words as odds
from rpgres.render.odds.reports import report_of
from rpgres.render.reports import Chart, Report, Series, report_lines
from rpgres.render.scenes import table_lines
from rpgres.rulesets import EffectText, Origin, Ruleset, pictured
from rpgres.version import __version__

LADDER = {"great": 4, "good": 3, "fair": 2}


@pytest.mark.parametrize("module", [words, odds, lines, results, reports, studies])
def test_examples_in_docstrings(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("number", "told"),
    [(3, "Good (+3)"), (5, "beyond Great (+5)"), (0, "below Fair (+0)"), (-1, "below Fair (-1)")],
)
def test_a_total_in_the_ladders_words(number: int, told: str) -> None:
    assert words.rung(number, LADDER) == told


def test_a_ladder_with_gaps() -> None:
    assert words.rung(7, {"easy": 5, "hard": 9}) == "7"
    assert words.rung(7, {"poor": -1, "great": 9}) == "+7"


@pytest.mark.slow
@given(st.lists(st.sampled_from("+-0"), min_size=1, max_size=8))
def test_fate_dice_are_drawn_one_by_one(faces: list[str]) -> None:
    drawn = plain_text([line(Piece("".join(faces), "dice"))], Look(is_drawn=True)).rstrip("\n")
    assert drawn == "".join(f"[{face.replace('0', ' ')}]" for face in faces)


@given(st.integers(0, 2**60))
def test_dice_as_typed_can_be_given_back(number: int) -> None:
    rolled = dice("4d6kh3+2dF").throw(lambda n: number % n)
    plain = plain_text([line(Piece(rolled.text, "dice"))])
    assert dice("4d6kh3+2dF").read(plain.replace(" ", "").strip()) == rolled


@pytest.mark.parametrize(
    ("effect", "told"),
    [
        ({"kind": "goal"}, "goal"),
        ({"kind": "boost", "to": "actor"}, "boost: for the actor"),
        ({"kind": "cost", "size": "minor", "text": "a scratch"}, 'cost: minor, text "a scratch"'),
        ({"kind": "taken-out", "to": "gm", "how": "conceded"}, "taken out: for the game master, conceded"),
        ({"kind": "fate-point", "to": "mara", "change": 2}, "fate point: for mara, change +2"),
        (
            {"kind": "aspect", "change": "altered", "name": "Fog", "becomes": "Mist", "on": ""},
            'aspect: altered, "Fog", becomes "Mist"',
        ),
        ({"kind": "x", "is-new": True, "is-old": False, "list": [1]}, "x: is-new, not is-old, list [1]"),
    ],
)
def test_effects_in_words(effect: dict[str, object], told: str) -> None:
    assert words.effect_words(effect) == told


def test_values_of_effects_in_a_rulesets_own_words() -> None:
    """An empty text leaves out the part in brackets; a value without words is told as it is."""
    when = {"now": "", "next-scene": "from the next scene on"}
    point = EffectText(help="a point", words="points: {count}[, {from}]", values={"from": when})
    told = [
        words.effect_words({"kind": "point", "count": 1, "from": one}, point) for one in ("now", "next-scene", "later")
    ]
    assert told == ["points: 1", "points: 1, from the next scene on", "points: 1, later"]


def test_effects_in_a_rulesets_own_words() -> None:
    """With fields in braces, where the effect has them; else its fields are listed."""
    damage = EffectText(help="harm", words="damage to {to}: {count}")
    assert words.effect_words({"kind": "harm", "to": "gm", "count": 0}, damage) == "damage to the game master: 0"
    assert words.effect_words({"kind": "harm", "to": "mara"}, damage) == "harm: for mara"
    with pytest.raises(ValueError, match=r"words speak of \{counts\}, and the fields are to, count"):
        EffectText(help="harm", fields={"to": "who", "count": "how much"}, words="damage: {counts}")


def test_lines_are_the_same_text_plain_and_styled() -> None:
    shown = [line("a ", Piece("b", "good"), "  "), line(), line(Piece("[bold]c[/bold]", "name"))]
    assert plain_text(shown) == "a b\n\n[bold]c[/bold]\n"
    assert styled(shown).plain == "a b\n\n[bold]c[/bold]\n"


@given(st.fractions(0, 1))
def test_a_percentage_never_says_never_of_what_can_happen(probability: Fraction) -> None:
    told = odds.percent(float(probability))
    assert (told == "0.00 %") == (float(probability) == 0)
    assert (told == "100.00 %") == (float(probability) == 1)


def drawn(*parts: float) -> str:
    """A bar of 20 columns; with several parts if there are several."""
    series = [Series(str(number), [part]) for number, part in enumerate(parts)]
    chart = Chart(kind="stacked", title="", categories=["a"], series=series, is_whole=True)
    return "".join(piece.text for piece in reports.bar_pieces(chart, 0, 20))


def test_bars_have_their_columns_whatever_the_chance() -> None:
    for thousandth in range(1001):
        assert len(drawn(thousandth / 1000)) == 20
        assert len(drawn(thousandth / 1000, 1 - thousandth / 1000).strip()) == 20
    assert drawn(1e-9).strip() != ""
    assert drawn(0.0).strip() == ""


def test_a_fraction_too_long_for_a_line_is_left_to_the_json() -> None:
    from rpgres.odds.dice import dice_odds

    told = plain_text(report_lines(report_of(dice_odds("30d6"), None)))
    assert max(map(len, told.splitlines())) < 80
    assert "1/6" not in told.splitlines()[1]


def test_words_are_listed_however_rare_they_are() -> None:
    """What is told may be words (`--by NAME`): none of them is more or less than another."""
    from rpgres.plugins.loading import read_ruleset

    rare = Fraction(1, 10**6)
    chances = {f"word-{number}": rare for number in range(20)}
    record = OddsResult(
        version=__version__,
        ruleset="fate",
        action="overcome",
        by="suit",
        outcomes={name: chance_record(mass) for name, mass in {"often": 1 - 20 * rare, **chances}.items()},
        method="exact",
        open=chance_record(Fraction()),
        leaves=1,
        states=0,
    )
    told = plain_text(report_lines(report_of(record, read_ruleset("fate").file)))
    assert all(name in told for name in chances)
    assert "and more" not in told
    assert "or more" not in told.partition("\n")[2]


def test_open_mass_is_told() -> None:
    record = OddsResult(
        version=__version__,
        ruleset="fate",
        action="overcome",
        inputs={},
        outcomes={"odd-band": chance_record(Fraction(1, 3))},
        method="partial",
        open=chance_record(Fraction(2, 3)),
        leaves=1,
        states=0,
    )
    from rpgres.plugins.loading import read_ruleset

    told = plain_text(report_lines(report_of(record, read_ruleset("fate").file)))
    assert told == ("Overcome: odds (fate)\n  Odd band    33.33 %  at least 1/3\n  remaining: 66.67 % (not followed)\n")


def test_no_control_character_reaches_a_terminal() -> None:
    from rpgres.render.lines import line, plain_text, styled

    lines = [line("an aspect \x1b[2J", Piece("\x07bell", "title"))]
    assert plain_text(lines) == "an aspect  [2J bell\n"
    assert styled(lines).plain == "an aspect  [2J bell\n"


def test_a_ruleset_may_show_what_lies_on_the_table_in_its_own_way() -> None:
    """What a picture names is shown by its lines and no other way; what it does not name, as usual."""
    code = Ruleset("made-up")

    @code.picture
    def draw(state: State, is_drawn: bool) -> dict[str, list[str]]:
        return {"map": ["o--o" if is_drawn else f"{len(state.things['map'])} rooms"], "key": []}

    things = Map({"map": ("hall", "cellar"), "key": "brass", "lamp": "lit"})
    state = State(things=things, tracks=Map({"alarm": (Box("1", 1, "x"),)}))
    shown = {
        is_drawn: plain_text(table_lines(state, pictures=pictured(code, state, is_drawn=is_drawn)))
        for is_drawn in (True, False)
    }
    assert shown[True].split("\n")[2:] == ["  o--o", "  Alarm: 1 of 1", "  Lamp: lit", ""]
    assert "  2 rooms\n" in shown[False]


def test_a_picture_that_fails_is_told_as_its_rulesets_fault() -> None:
    code = Ruleset("made-up")
    code.origin = Origin("rpgres-made-up", "1.0")
    code.picture(lambda state, is_drawn: {"map": state.things["nowhere"]})
    with pytest.raises(RuleError, match=r"made-up shows of the table failed: KeyError.*rpgres-made-up 1\.0"):
        pictured(code, State(), is_drawn=False)


def test_outcomes_that_are_many_numbers_are_charted_by_their_mean() -> None:
    def measured(shift: int) -> MeasuredOdds:
        outcomes = {str(number + shift): chance_record(Fraction(1, 12)) for number in range(12)}
        mean = chance_record(Fraction(11, 2) + shift)
        return MeasuredOdds(
            outcomes=outcomes, open=chance_record(Fraction(0)), method="exact", leaves=1, states=1, mean=mean
        )

    found = [measured(0), measured(2)]
    names = {name: name for one in found for name in one.outcomes}
    chart = studies.side_chart(found, ["base", "more"], names, title="odds", axis="rules")
    assert (chart.kind, chart.texts) == ("bars", ["5.500", "7.500"])
    told = plain_text([reports.ChartBelow(chart)], Look(width=80, is_drawn=True))
    assert "  more  ██████████████████████████████████████████████████  7.500\n" in told
    few = studies.side_chart(found, ["base", "more"], {"0": "0", "1": "1"}, title="odds", axis="rules")
    assert few.kind == "stacked"


def waiting(*asked: QuestionRecord) -> Pending:
    nothing: dict[str, Any] = {"inputs": {}, "answers": [], "events": [], "switches": {}, "seed": None}
    whole = {"ruleset": "fate", "action": "overcome", "actor": "mara", **nothing}
    return Pending(question=asked[0], together=list(asked[1:]), **whole)


@pytest.mark.parametrize(("others", "told"), [(1, "another seat chooses"), (2, "2 other seats choose")])
@pytest.mark.parametrize("own", [0, 1])
def test_other_seats_that_are_asked_are_one_line(own: int, others: int, told: str) -> None:
    asked = [QuestionRecord(label="declare", who="mara", text="", options=[])] * own
    asked += [QuestionRecord(label="", who=ANOTHER_SEAT, text="", options=[])] * others
    _, *shown = [plain_text([one]).strip() for one in results.pending_lines(waiting(*asked), how=[])]
    assert shown == ["mara chooses"] * own + [told]


@pytest.mark.parametrize(("optional", "told"), [(True, ["no: skip"]), (False, [])])
def test_a_decision_without_options_tells_how_to_skip_it(optional: bool, told: list[str]) -> None:
    asked = QuestionRecord(label="omen", who="mara", text="Play an omen?", options=[], optional=optional)
    _, _, *shown = [plain_text([one]).strip() for one in results.pending_lines(waiting(asked), how=[])]
    assert shown == told


@pytest.mark.parametrize(("count", "free"), [(3, 0), (4, 0), (5, 1)])
def test_another_way_to_choose_many_options_is_listed_once(count: int, free: int) -> None:
    price = ["free"] * free + ["for a fate point"] * (count - free)
    options = [OptionRecord(f"a{one}", f"A {one}: +2, {price[one]}") for one in range(count)]
    ways = [OptionRecord(f"a{one}:again", f"A {one}: new dice, {price[one]}") for one in range(count)]
    question = QuestionRecord(label="invoke", who="mara", text="", options=[*options, *ways], optional=True)
    pending = waiting(question)
    shown = [plain_text([one]).strip() for one in results.pending_lines(pending, how=[])]
    listed = [one for one in shown if ":again" in one]
    all_of_them = [f"{one.name}: {one.text}" for one in ways]
    once = [f"NAME:again: new dice{'' if free else ', for a fate point'}"]
    assert listed == (all_of_them if count < 4 else once)
    assert [one for one in shown if one.startswith("a0: ")] == [f"a0: A 0: +2, {price[0]}"]


def test_what_a_terminal_shows_in_columns_has_commas_in_a_page() -> None:
    report = Report(
        title="t", tables=[], above=["value: 50.00 %  1/2"], below=["any success: 61.73 %  50/81", "  indented"]
    )
    assert "<li>any success: 61.73 %, 50/81</li>\n<li>  indented</li>" in page(report)
    assert "value: 50.00 %, 1/2" in markdown(report)
