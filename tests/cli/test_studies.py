"""`rpgres odds` with several odds at once: compared, varied, searched, taken apart; against closed forms."""

from __future__ import annotations

import csv
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import icepool
import msgspec
import pytest

from rpgres.odds.comparison import Comparison
from rpgres.odds.variations import Variation
from tests.support.command_line import as_json, completions, on_screen, rpgres
from tests.support.terminal import Terminal

FATE_DICE = 4 @ icepool.Die([-1, 0, 1])
FATE = {-4: 1, -3: 4, -2: 10, -1: 16, 0: 19, 1: 16, 2: 10, 3: 4, 4: 1}  # of 81
OVERCOME = ("odds", "fate", "overcome")


def bands(difference: int) -> dict[str, str]:
    """Return the closed form of an unaided Fate roll: the skill less the opposition decides."""
    margins = {roll + difference: ways for roll, ways in FATE.items()}
    ways = {
        "fail": sum(n for margin, n in margins.items() if margin < 0),
        "tie": margins.get(0, 0),
        "succeed": margins.get(1, 0) + margins.get(2, 0),
        "style": sum(n for margin, n in margins.items() if margin >= 3),
    }
    return {name: str(Fraction(count, 81)) for name, count in ways.items()}


def success(difference: int) -> Fraction:
    """Return how likely it is to succeed, with style or without."""
    return Fraction(sum(ways for roll, ways in FATE.items() if roll + difference > 0), 81)


def exact(outcomes: dict[str, Any]) -> dict[str, str]:
    """Return the exact chances of a record."""
    return {name: chance["exact"] for name, chance in outcomes.items()}


def test_the_closed_form_is_the_one_in_the_books() -> None:
    assert bands(0) == {"fail": "31/81", "tie": "19/81", "succeed": "26/81", "style": "5/81"}
    assert success(1) == FATE_DICE.probability(">=", 0)


# ---------------------------------------------------------------------------------------------------------------------
# --compare


def test_cases_stand_beside_one_another_with_exact_differences() -> None:
    found = as_json(*OVERCOME, "--skill", "3", "--vs", "2", "--compare", "skill=4", "--compare", "vs=4dF+2")
    record = msgspec.convert(found, Comparison)
    base, better, opposed = found["cases"]
    assert [case["name"] for case in found["cases"]] == ["base", "skill=4", "vs=4dF+2"]
    assert exact(base["outcomes"]) == bands(1)
    assert exact(better["outcomes"]) == bands(2)
    for name in bands(0):
        assert Fraction(better["differences"][name]["exact"]) == Fraction(bands(2)[name]) - Fraction(bands(1)[name])
    won = (FATE_DICE + 3 - (FATE_DICE + 2)).probability(">", 0)
    assert Fraction(opposed["success"]["exact"]) == won
    assert Fraction(opposed["success_difference"]["exact"]) == won - success(1)
    assert base["differences"] is None
    assert (record.ruleset, record.action, record.inputs, record.complete) == (
        "fate",
        "overcome",
        {"skill": "3", "vs": ["2"]},
        True,
    )


@pytest.mark.slow
def test_a_switch_makes_the_difference_that_it_makes_alone() -> None:
    line = (*OVERCOME, "--skill", "1", "--vs", "4", "--aspect", "Ledge=3", "--auto")
    base, other = as_json(*line, "--compare", "same_aspect=two-free")["cases"]
    assert exact(base["outcomes"]) == exact(as_json(*line)["outcomes"])
    alone = as_json(*line, "--switch", "same_aspect=two-free")
    assert exact(other["outcomes"]) == exact(alone["outcomes"])
    assert other["house_rules"] == alone["house_rules"] == ["same_aspect=two-free"]
    assert Fraction(other["success_difference"]["exact"]) < 0


def test_the_comparison_in_plain_words() -> None:
    assert rpgres(*OVERCOME, "--skill", "3", "--vs", "2", "--compare", "skill=4") == (
        0,
        "Overcome: odds compared (fate; skill 3, vs 2)\n"
        "  outcome             skill=3  exact  skill=4  exact  difference   exact\n"
        "  Fail                18.52 %   5/27   6.17 %   5/81      -12.35  -10/81\n"
        "  Tie                 19.75 %  16/81  12.35 %  10/81       -7.41   -2/27\n"
        "  Succeed             43.21 %  35/81  43.21 %  35/81        same\n"
        "  Succeed with style  18.52 %   5/27  38.27 %  31/81      +19.75  +16/81\n"
        "  Any success         61.73 %  50/81  81.48 %  22/27      +19.75  +16/81\n",
        "",
    )


def test_the_base_is_named_in_grids_too_and_among_scenes_by_its_file() -> None:
    ran = rpgres(*OVERCOME, "--skill", "0..1", "--vs", "3..4", "--compare", "opposers=one")
    assert "Any success, in points: opposers=one against opposers=highest" in ran.out
    ran = rpgres("odds", "fate/vault", "--compare", "fate/break-in", "--by", "characters.count")
    assert "  mean of fate/vault: 1.000\n" in ran.out


def test_a_character_in_a_scene_varies_by_its_path_on_the_table_too() -> None:
    as_written, on_table = (
        as_json("odds", "fate/vault", "--vary", f"characters.ida.{name}.burglary=1..3")["cells"]
        for name in ("skills", "abilities")
    )
    assert [cell["outcomes"] for cell in as_written] == [cell["outcomes"] for cell in on_table]
    assert len({cell["outcomes"]["open"]["exact"] for cell in on_table}) == 3


def test_several_cases_stand_under_each_outcome() -> None:
    out = rpgres(*OVERCOME, "--skill", "3", "--vs", "2", "--compare", "skill=4", "--compare", "opposers=one").out
    lines = out.splitlines()
    at = lines.index("  Tie")
    assert lines[at + 1].split() == ["base", "19.75", "%", "16/81"]
    assert lines[at + 2].split() == ["skill=4", "12.35", "%", "10/81", "-7.41", "-2/27"]
    assert lines[at + 3].split() == ["opposers=one", "19.75", "%", "16/81", "same"]


def test_a_house_rule_in_a_file_or_a_folder_is_compared(tmp_path: Path) -> None:
    alone = tmp_path / "gentle.toml"
    alone.write_text("[bands.tie]\nsuccess = true\n")
    folder = tmp_path / "house" / "fate"
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text(alone.read_text())
    for path in (alone, tmp_path / "house", folder):
        _, other = as_json(*OVERCOME, "--skill", "2", "--vs", "2", "--compare", str(path))["cases"]
        assert other["success"]["exact"] == "50/81"  # 26 + 5, and the 19 ties
        assert other["house_rules"] == [str(path / "fate" if path.name == "house" else path)]


def test_one_outcome_table_is_compared_by_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in `outcomes` says what one in an overlay's folder does, and its faults are told with their lines."""
    monkeypatch.chdir(tmp_path)
    table = Path("outcomes/overcome.toml")
    table.parent.mkdir()
    table.write_text('[tie]\n# a word\neffects = [{ kind = "strss" }]\n')
    ran = rpgres(*OVERCOME, "--skill", "2", "--vs", "2", "--compare", str(table))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("rpgres: outcomes/overcome.toml:3: tie.effects[0]")
    table.write_text('[fail.ask.price.options.debt]\ntext = "You get it."\nprefer = 9\neffects = [{ kind = "goal" }]\n')
    _, other = as_json(*OVERCOME, "--skill", "2", "--vs", "2", "--auto", "--compare", str(table))["cases"]
    assert other["house_rules"] == ["outcomes/overcome.toml"]


def test_what_has_choices_varies_over_all_of_them_by_its_name_alone() -> None:
    line = (*OVERCOME, "--skill", "3", "--vs", "2", "--vary")
    assert as_json(*line, "opposers") == as_json(*line, "opposers=highest,one")
    pool = ("odds", "botch-pool", "check", "--pool", "2", "--vary")
    assert as_json(*pool, "tens") == as_json(*pool, "tens=once,double,again,again-with-ones")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--compare", "same_aspects=stack"], "did you mean 'same_aspect'"),
        (["--compare", "same_aspect=twice"], "can be stack, two-free"),
        (["--compare", "nowhere.toml"], "nowhere.toml"),
        (["--compare", "skill"], "--compare takes NAME=VALUE"),
        (["--vary", "skill"], "--vary takes NAME=LOW..HIGH"),
        (["--vary", "skill=0..100000"], "at most 1000"),
        (["--vary", "skill=1..2", "--vary", "bonus=1..2", "--vary", "gm-points=0..1"], "at most two"),
        (["--format", "pdf"], "--format takes table, md, csv, json, html"),
        (["--format", "md", "--json"], "exclude each other"),
        (["--outcome", "tie"], "--outcome says which"),
    ],
)
def test_what_is_typed_wrong_is_told(more: list[str], told: str) -> None:
    ran = rpgres(*OVERCOME, "--skill", "3", "--vs", "2", *more)
    assert ran.code in (1, 2)
    assert told in ran.err
    assert ran.out == ""


# ---------------------------------------------------------------------------------------------------------------------
# --vary and ranges


def test_a_grid_holds_every_pair() -> None:
    found = as_json(*OVERCOME, "--skill", "0..5", "--vs", "0..8")
    record = msgspec.convert(found, Variation)
    assert [(axis.name, len(axis.values)) for axis in record.axes] == [("skill", 6), ("vs", 9)]
    assert len(found["cells"]) == 54
    for cell in found["cells"]:
        difference = int(cell["at"]["skill"]) - int(cell["at"]["vs"])
        assert exact(cell["outcomes"]) == bands(difference)
        assert Fraction(cell["success"]["exact"]) == success(difference)


def test_a_range_as_an_input_is_the_same_as_vary() -> None:
    one = as_json(*OVERCOME, "--skill", "1", "--vs", "0..3")
    other = as_json(*OVERCOME, "--skill", "1", "--vary", "vs=0..3")
    listed = as_json(*OVERCOME, "--skill", "1", "--vary", "vs=mediocre,average,2,good")
    assert one == other
    assert [cell["outcomes"] for cell in listed["cells"]] == [cell["outcomes"] for cell in one["cells"]]


@pytest.mark.slow
def test_a_switch_varies_too() -> None:
    line = (*OVERCOME, "--skill", "1", "--vs", "4", "--aspect", "Ledge=3", "--auto")
    found = as_json(*line, "--vary", "same_aspect=stack,two-free", "--vary", "skill=0..1")
    for cell in found["cells"]:
        alone = [*line[:4], cell["at"]["skill"], *line[5:]]
        expected = as_json(*alone, "--switch", f"same_aspect={cell['at']['same_aspect']}")
        assert exact(cell["outcomes"]) == exact(expected["outcomes"])


def test_a_grid_in_plain_words_has_shades_that_need_no_colour() -> None:
    out = on_screen(*OVERCOME, "--skill", "0..1", "--vs", "0..2").out
    assert out == (
        "Overcome: odds by skill and vs (fate)\n"
        "  Any success, in %\n"
        "  skill \\ vs     0       1       2\n"
        "  0           38.3░░  18.5     6.2\n"
        "  1           61.7▓▓  38.3░░  18.5\n"
    )
    plain = on_screen(*OVERCOME, "--skill", "0..1", "--vs", "0..2", "--plain").out
    assert "░" not in plain
    ties = rpgres(*OVERCOME, "--skill", "0..1", "--vs", "0..2", "--outcome", "tie", "--outcome", "style").out
    assert "  Tie, in %\n" in ties
    assert "  Succeed with style, in %\n" in ties


def test_one_range_is_a_table_of_all_outcomes() -> None:
    out = rpgres(*OVERCOME, "--skill", "2..3", "--vs", "2", "--switch", "opposers=one").out
    assert out.splitlines()[:3] == [
        "Overcome: odds by skill (fate; vs 2)",
        "  house rules: opposers=one",
        "  skill     Fail      Tie  Succeed  Succeed with style  Any success",
    ]
    assert out.splitlines()[3].split() == ["2", "38.27", "%", "23.46", "%", "32.10", "%", "6.17", "%", "38.27", "%"]


def test_numbers_that_are_told_are_varied_compared_and_searched() -> None:
    line = ("odds", "push-pool", "check", "--attribute", "2", "--by", "successes")
    assert rpgres(*line, "--skill", "1").out.splitlines()[-1].split() == ["mean:", "0.500"]
    assert "mean" not in rpgres(*OVERCOME, "--skill", "1", "--vs", "2").out
    varied = as_json(*line, "--vary", "skill=0..1")["cells"]
    assert [cell["mean"]["exact"] for cell in varied] == ["1/3", "1/2"]
    assert varied[1]["outcomes"]["3"]["exact"] == "1/216"
    told = rpgres(*line, "--vary", "skill=0..1").out.splitlines()
    assert told[1].split() == ["skill", "0", "1", "2", "3", "mean"]
    grid = rpgres(*line[:3], "--attribute", "1..2", "--skill", "0..1", *line[5:]).out.splitlines()
    assert grid[1].split() == ["Mean"]
    assert [text.split()[-2:] for text in grid[-2:]] == [["0.167", "0.333"], ["0.333", "0.500"]]
    compared = rpgres(*line, "--skill", "0", "--compare", "skill=1").out
    assert "mean of skill=1: 0.500" in compared


SHARED_TITLE = """
standalone = true
title = "Coins"
summary = "A die for each coin."
version = "1"

[bands]
none = { title = "Bad", to = 0, success = false }
some = { title = "Good", from = 1, to = 2, success = true }
many = { title = "Good", from = 3, success = true }

[actions.ask]
summary = "Ask."
parameters = ["coins"]
required = ["coins"]
dice = "{coins}d6>=5"

[parameters.coins]
kind = "integer"
help = "how many"
"""


def test_commas_in_parentheses_belong_to_dice() -> None:
    found = as_json("odds", "fate", "overcome", "--skill", "3", "--vary", "vs=(d4,(d6,d8)kl1)kh1,good,2")
    assert [cell["at"]["vs"] for cell in found["cells"]] == ["(d4,(d6,d8)kl1)kh1", "good", "2"]


# ---------------------------------------------------------------------------------------------------------------------
# Formats

EVERY = {
    "single": ["--vs", "2"],
    "ladder": [],
    "comparison": ["--vs", "2", "--compare", "skill=4"],
    "table": ["--vs", "0..3"],
    "grid": ["--vs", "0..3", "--vary", "bonus=0..2"],
}


@pytest.mark.slow
@pytest.mark.parametrize("more", EVERY.values(), ids=EVERY)
def test_every_format_names_what_was_evaluated(more: list[str], tmp_path: Path) -> None:
    line = (*OVERCOME, "--skill", "3", *more, "--switch", "opposers=one", "--note", "a <guard> | two")
    heading = rpgres(*line).out.splitlines()[0]
    assert re.fullmatch(r"Overcome: .+ \(fate; skill 3.*\)", heading)

    text = rpgres(*line, "--format", "md").out
    assert text.startswith(f"# {heading}\n\nhouse rules: opposers=one\n\n".replace("_", "\\_"))
    tables = [text.splitlines() for text in text.split("\n\n") if text.startswith("|")]
    assert all(len({row.count(" | ") for row in rows}) == 1 for rows in tables)
    assert tables
    assert "a \\<guard\\> \\| two" in text

    chart = tmp_path / "chart.svg"
    text = rpgres(*line, "--format", "html", "--svg", str(chart)).out
    page = ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
    assert page.find("body/main/h1").text == heading
    assert page.findall(".//th[@scope='row']")
    assert not re.search(r"(src|href)=", text)  # nothing is fetched
    drawn = ElementTree.parse(chart).getroot()
    assert drawn.get("role") == "img"
    named = {element.get("id"): element.text for element in drawn if element.get("id")}
    title, description = (named[name] for name in drawn.get("aria-labelledby").split())
    assert title.startswith("Overcome: ")
    assert "%" in description

    assert json.loads(rpgres(*line, "--format", "json").out) == as_json(*line)
    rows = list(csv.DictReader(rpgres(*line, "--format", "csv").out.splitlines()))
    assert {(row["ruleset"], row["evaluated"], row["house_rules"]) for row in rows} == {
        ("fate", "overcome", "opposers=one")
    }
    for row in rows:
        assert float(row["probability"]) == float(Fraction(row["exact"]))


def test_csv_of_a_grid_sums_to_one() -> None:
    rows = list(
        csv.DictReader(rpgres(*OVERCOME, "--skill", "0..2", "--vs", "0..2", "--format", "csv").out.splitlines())
    )
    sums: dict[tuple[str, str], Fraction] = {}
    for row in rows:
        if row["outcome"] != "success":
            place = row["skill"], row["vs"]
            sums[place] = sums.get(place, Fraction(0)) + Fraction(row["exact"])
    assert len(sums) == 9
    assert set(sums.values()) == {1}


def test_no_cell_of_csv_is_a_formula_and_dice_have_formats_too() -> None:
    from rpgres.render.documents import csv_text

    text = csv_text(["a"], [["=1+1"], ["-1/3"], ["+2"], ["@x"], ["a\nb"]])
    assert text.splitlines()[:5] == ["a", "'=1+1", "-1/3", "+2", "'@x"]
    rows = list(csv.DictReader(rpgres("odds", "2d6", "--format", "csv").out.splitlines()))
    assert {row["value"]: row["exact"] for row in rows}["7"] == "1/6"
    assert rpgres("odds", "2d6", "--format", "md").out.startswith("# 2d6: odds (mean 7.000, deviation 2.415)\n")


def test_a_chart_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    ran = rpgres(*OVERCOME, "--skill", "3", "--vs", "2", "--svg", str(tmp_path / "no" / "chart.svg"))
    assert (ran.code, ran.out) == (1, "")
    assert "cannot write --svg" in ran.err


# ---------------------------------------------------------------------------------------------------------------------
# Scenes

WALL = """
ruleset = "fate"
title = "A wall"
[characters.mara]
skills = { fight = 2 }
[[steps]]
id = "climb"
actor = "mara"
action = "overcome"
with = { skill = "fight", vs = 2 }
choose = { price = "fail", invoke = "no" }
[ends.up]
when = { climb = ["succeed", "style"] }
[ends.down]
"""


@pytest.fixture
def wall(tmp_path: Path) -> str:
    path = tmp_path / "wall.toml"
    path.write_text(WALL)
    return str(path)


@pytest.mark.slow
def test_a_scene_is_asked_as_an_action_is(wall: str, tmp_path: Path) -> None:
    skill = "characters.mara.skills.fight"
    varied = as_json("odds", wall, "--vary", f"{skill}=0..3")
    assert (varied["scene"], varied["title"], varied["action"], varied["by"]) == (wall, "A wall", None, "ending")
    for cell in varied["cells"]:
        assert Fraction(cell["outcomes"]["up"]["exact"]) == success(int(cell["at"][skill]) - 2)
    other = tmp_path / "higher.toml"
    other.write_text(WALL.replace("vs = 2", "vs = 3"))
    compared = as_json("odds", wall, "--compare", str(other), "--compare", "steps.climb.with.vs=1")
    assert [Fraction(case["outcomes"]["up"]["exact"]) for case in compared["cases"]] == [
        success(0),
        success(-1),
        success(1),
    ]


@pytest.mark.parametrize("form", ["md", "csv", "html", "json"])
def test_a_scene_alone_has_every_format(wall: str, form: str, tmp_path: Path) -> None:
    chart = tmp_path / "chart.svg"
    out = rpgres("odds", wall, "--switch", "opposers=one", "--format", form, "--svg", str(chart)).out
    assert "26/81" in out or "31/81" in out
    assert "opposers=one" in out.replace("\\_", "_")
    assert ElementTree.parse(chart).getroot().get("role") == "img"


# ---------------------------------------------------------------------------------------------------------------------
# What takes long


@pytest.mark.slow
def test_a_long_grid_shows_how_far_it_is_and_an_interrupt_prints_what_is_known() -> None:
    line = ["odds", "fate", "overcome", "--sheet", "mara", "--skill", "0..9", "--vs", "4dF+2", "--auto"]
    terminal = Terminal([*line, "--vary", "bonus=0..19"])
    terminal.until(" s left (Ctrl-C stops)")
    code, shown = terminal.interrupt()
    assert code == 130
    assert "Overcome: odds by skill and bonus (fate; sheet mara, vs 4dF+2)" in shown
    assert re.search(r"interrupted: \d+ of 200 were evaluated", shown)


def test_an_interrupt_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    import signal
    import threading

    from rpgres.odds import study

    measured = study.measure
    done: list[int] = []

    def measure(subject: Any, limits: Any) -> Any:
        if len(done) == 2:
            signal.raise_signal(signal.SIGINT)
        done.append(1)
        return measured(subject, limits)

    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    monkeypatch.setattr(study, "measure", measure)
    try:
        ran = rpgres(*OVERCOME, "--skill", "0..4", "--vs", "2", "--json")
    finally:
        signal.signal(signal.SIGINT, before)
    found = json.loads(ran.out)
    assert (ran.code, found["complete"], [cell["at"]["skill"] for cell in found["cells"]]) == (130, False, ["0", "1"])


def test_a_shell_offers_what_can_be_changed() -> None:
    line = "rpgres odds fate overcome --skill 2"
    assert "same_aspect=two-free" in completions(f"{line} --compare same")
    assert {"skill=", "bonus="} <= set(completions(f"{line} --vary "))
    assert "html" in completions(f"{line} --format h")


def test_an_action_with_a_target_of_its_own_keeps_it() -> None:
    line = ("odds", "fate", "attack", "--skill", "2", "--vs", "1", "--target", "guards", "--auto")
    assert as_json(*line)["inputs"]["target"] == "guards"


def test_an_outcome_called_success_stands_beside_all_that_succeed() -> None:
    lines = rpgres("odds", "highest-die", "check", "--pool", "1..2").out.splitlines()
    assert lines[1].split("  ")[-1] == "Any success"
    assert lines[2].split()[3] == "16.67"  # behind the critical, which one die cannot be
    assert lines[2].split()[-2] == "50.00"
    grid = rpgres("odds", "highest-die", "check", "--pool", "1..2", "--vary", "position=risky,desperate").out
    assert "Any success, in %" in grid
    assert "50.0" in grid


# Where nothing can succeed

POOL = ("odds", "push-pool", "check")
HINT = "without --difficulty there is nothing to succeed in"


def test_odds_without_a_difficulty_say_that_nothing_can_succeed() -> None:
    assert HINT in rpgres(*POOL, "--attribute", "3").out
    assert "nothing to succeed in" not in rpgres(*POOL, "--attribute", "3", "--difficulty", "1").out
    assert "nothing to succeed in" not in rpgres(*POOL, "--attribute", "3", "--difficulty", "0").out  # was meant


def test_headings_leave_out_the_value_of_what_varies() -> None:
    shown = rpgres(*POOL, "--attribute", "3", "--difficulty", "1", "--vary", "attribute=1..2").out
    assert shown.splitlines()[0] == "Check: odds by attribute (push-pool; difficulty 1)"


PUSHED = (
    "odds",
    "push-pool",
    "check",
    "--attribute",
    "1",
)  # without a difficulty all is `rolled`


def test_what_cannot_happen_in_a_case_has_a_row_and_a_difference() -> None:
    # A spreadsheet lacked the rows of outcomes with the chance 0, and with them the greatest differences.
    lines = rpgres(*PUSHED, "--compare", "difficulty=1", "--format", "csv").out.splitlines()
    rows = {(row["rules"], row["outcome"]): row for row in csv.DictReader(lines)}
    assert [name for case, name in rows if case == "base"] == ["success", "failure", "rolled"]
    assert rows["difficulty=1", "any success"]["exact"] == rows["difficulty=1", "success"]["exact"] == "1/6"
    assert rows["difficulty=1", "rolled"]["exact"] == "0"
    assert rows["difficulty=1", "rolled"]["difference_exact"] == "-1"


def test_cells_have_the_same_outcomes_in_the_order_of_the_ruleset() -> None:
    record = as_json("odds", "highest-die", "check", "--pool", "1..2", "--json")
    assert [list(cell["outcomes"]) for cell in record["cells"]] == [["critical", "success", "partial", "failure"]] * 2
    assert record["cells"][0]["outcomes"]["critical"]["exact"] == "0"


def test_an_outcome_to_look_at_has_to_be_one() -> None:
    study = ("--vary", "skill=1,2", "--vary", "vs=1,2")
    assert rpgres(*OVERCOME, *study, "--outcome", "style").code == 0
    wrong = rpgres(*OVERCOME, *study, "--outcome", "stile")
    assert (wrong.code, wrong.err) == (2, "rpgres: fate overcome has no outcome 'stile'; did you mean 'style'?\n")


def test_the_name_of_an_integer_with_a_list_stands_for_the_list() -> None:
    record = as_json("odds", "push-pool", "step-check", "--skill-die", "6", "--vary", "attribute-die", "--json")
    assert record["axes"] == [{"name": "attribute-die", "values": ["0", "6", "8", "10", "12"]}]


def test_studies_of_a_number_show_its_sign() -> None:
    line = ("odds", "fate", "overcome", "--vs", "2", "--by", "margin")
    compared = rpgres(*line, "--skill", "1", "--compare", "skill=2").out
    assert re.findall(r"^ +(-?\d) ", compared, re.MULTILINE) == [str(number) for number in range(-5, 5)]
