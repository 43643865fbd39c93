"""`rpgres odds --vary --compare`: grids under several rules, written as a designer hands them on."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from rpgres.odds.comparison import Grids
from tests.support.command_line import as_json, on_screen, rpgres

LINE = ("odds", "fate", "overcome", "--vary", "skill=0..2", "--vary", "vs=0..3", "--compare", "rule.toml")


@pytest.fixture(autouse=True)
def rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rule.toml").write_text("[bands.tie]\nsuccess = true\n", "utf-8")


def test_a_designer_exports_a_grid_with_and_without_a_house_rule_in_one_command() -> None:
    ran = rpgres(*LINE, "--format", "markdown", "--out", "grid.md", "--svg", "grid.svg")
    assert ran == (0, "grid.md: written\ngrid.svg: written\n", "")
    text = Path("grid.md").read_text("utf-8")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Any success, in %: base",
        "## Any success, in %: rule.toml",
        "## Any success, in points: rule.toml against base",
    ]
    assert "| 2 | 81.5 | 61.7 | 38.3 | 18.5 |\n" in text
    assert "| 2 | 93.8 | 81.5 | 61.7 | 38.3 |\n" in text
    assert "| 2 | +12.35 | +19.75 | +23.46 | +19.75 |\n" in text
    root = ElementTree.fromstring(Path("grid.svg").read_text("utf-8"))
    cells = [one for one in root.iter() if one.tag.endswith("rect") and len(one)]
    assert len(cells) == 3 * 3 * 4  # each place of each grid, and of what it changes, with its text
    texts = [one.text or "" for one in root.iter() if one.tag.endswith("text")]
    assert "+12.3" in texts
    assert float(root.attrib["width"]) > 7 * max(map(len, texts))  # the title is not cut off
    assert "rule.toml" in next(one.text or "" for one in root.iter() if one.tag.endswith("desc"))


def test_each_place_is_what_it_is_alone() -> None:
    record = msgspec.convert(as_json(*LINE), Grids)
    assert [case.name for case in record.cases] == ["base", "rule.toml"]
    for case, good in zip(record.cases, (("succeed", "style"), ("tie", "succeed", "style")), strict=True):
        for cell in case.cells[::5]:
            alone = as_json("odds", "fate", "overcome", "--skill", cell.at["skill"], "--vs", cell.at["vs"])
            wanted = sum(Fraction(alone["outcomes"].get(name, {"exact": "0"})["exact"]) for name in good)
            assert cell.success is not None
            assert Fraction(cell.success.exact) == wanted
    base, other = (case.cells[6] for case in record.cases)
    assert other.success_difference is not None
    assert other.success is not None
    assert base.success is not None
    assert Fraction(other.success_difference.exact or 0) == Fraction(other.success.exact) - Fraction(base.success.exact)


def test_one_range_stands_side_by_side() -> None:
    line = ("odds", "fate", "overcome", "--skill", "2", "--vary", "vs=1..2", "--compare", "rule.toml")
    assert rpgres(*line).out == (
        "Overcome: odds by vs, compared (fate; skill 2)\n"
        "  Any success, in % and points\n"
        "  vs     base  rule.toml  difference\n"
        "  1   61.73 %    81.48 %      +19.75\n"
        "  2   38.27 %    61.73 %      +23.46\n"
    )
    assert "█" in on_screen(*line).out
    rows = list(csv.DictReader(rpgres(*line, "--format", "csv").out.splitlines()))
    assert {(row["rules"], row["vs"], row["outcome"]): row["exact"] for row in rows}[
        "rule.toml", "2", "success"
    ] == "50/81"


@pytest.mark.parametrize(("name", "begins"), [("a.csv", "ruleset,"), ("a.html", "<!DOCTYPE"), ("a.txt", "Overcome")])
def test_the_ending_of_a_file_says_the_format(name: str, begins: str) -> None:
    assert rpgres("odds", "fate", "overcome", "--skill", "2", "--vs", "1", "--out", name).code == 0
    assert Path(name).read_text("utf-8").startswith(begins)
    assert rpgres("odds", "4dF", "--out", "b.json").code == 0
    assert json.loads(Path("b.json").read_text("utf-8"))["format"] == "rpgres.odds/1"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--compare", "vs=2"), "--compare vs=2 changes what varies"),
        (("--out", "grid.svg"), "a chart is written with --svg grid.svg"),
        (("--out", "no/grid.md"), "cannot write --out no/grid.md"),
        (("--format", "pdf"), "--format takes table, md, csv, json, html"),
        (("--vary", "skill=0..400"), "can vary at once"),
    ],
)
def test_what_is_refused(more: tuple[str, ...], told: str) -> None:
    ran = rpgres(*LINE, *more)
    assert (ran.code != 0, told in ran.err) == (True, True), ran
