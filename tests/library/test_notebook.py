"""What a notebook shows of a record: HTML that an XML reader takes, with what the record holds and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import rpgres


def read(record: rpgres.Result | object) -> ElementTree.Element:
    html = record._repr_html_()  # type: ignore[attr-defined]
    assert isinstance(html, str)
    assert "<script" not in html
    assert "<style" not in html
    return ElementTree.fromstring(f"<div>{html}</div>")


def text_of(record: object) -> str:
    return "".join(read(record).itertext())


def charts(record: object) -> int:
    return sum(element.tag.endswith("svg") for element in read(record).iter())


def test_odds_show_a_chart_and_every_chance() -> None:
    found = rpgres.odds("fate", "overcome", skill=3, vs=2)
    assert charts(found) == 1
    assert all(text in text_of(found) for text in ("Fail", "5/27", "18.5", "Succeed"))
    ladder, dice = rpgres.odds("fate", "overcome", skill=3), rpgres.odds("3d6")
    grid = rpgres.odds_table("fate", "overcome", {"skill": range(3), "vs": range(3)})
    assert [charts(one) for one in (ladder, dice, grid)] == [1, 1, 1]
    assert "Legendary" in text_of(ladder)
    assert "1/216" in text_of(dice)


def test_names_in_a_page_of_several_charts_are_unique() -> None:
    records = [rpgres.odds("3d6"), rpgres.odds("2d6"), rpgres.simulate("fate", "overcome", runs=20, skill=3, vs=2)]
    page = ElementTree.fromstring("<div>" + "".join(one._repr_html_() or "" for one in records) + "</div>")
    names = Counter(element.get("id") for element in page.iter() if element.get("id"))
    assert len(names) == 6
    assert set(names.values()) == {1}
    labelled = [element.get("aria-labelledby", "").split() for element in page.iter() if element.get("role") == "img"]
    assert sorted(name for own in labelled for name in own) == sorted(names)  # type: ignore[type-var]


def test_results_show_in_words(tmp_path: Path) -> None:
    table = rpgres.new_table(tmp_path / "t.db", "fate", sheets=["mara"], title="<b>& evening", seed=7, trust="players")
    waits = table.act("overcome", skill="1", vs="1", given={"roll": "0000"}, note="<script>")
    before = rpgres.resolve("fate", "overcome", skill=1, vs=2, seed=7, choose={"price": "fail"})
    assert "margin" in text_of(before)
    assert "Invoke" in text_of(waits)
    assert "Mara Quill" in text_of(table.show())
    assert "mara, overcome: waiting" in text_of(table.log())
    assert text_of(table.note("a door & <a window>")).count("a door & <a window>") == 1
    assert "++++" in text_of(rpgres.whatif(before, given={"roll": "++++"}))  # type: ignore[arg-type]
    assert "Mara Quill" in text_of(rpgres.run_scene("fate/gate"))
    assert table.verify()._repr_html_() is None


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (lambda: rpgres.odds("3d6"), "DiceOdds(inputs={'notation': '3d6'}, by='outcome', "),
        (
            lambda: rpgres.odds("fate", "overcome", skill=3, vs=2),
            "OddsResult(ruleset='fate', action='overcome', inputs={'skill': 3",
        ),
        (
            lambda: rpgres.roll("4dF", given={"roll": "+0-+"}, seed=7),
            "Result(inputs={'notation': '4dF'}, total=1, seed='7')",
        ),
        (
            lambda: rpgres.roll("4dF", given={"roll": "+0-+"}, seed=7, note="a\nb" * 99),
            "Result(inputs={'notation': '4dF'}, total=1, seed='7', note=",
        ),
    ],
)
def test_repr_is_one_short_line(record: object, told: str) -> None:
    text = repr(record())  # type: ignore[operator]
    assert text.startswith(told)
    assert "\n" not in text
    assert len(text) < 250


@pytest.mark.slow
def test_whatever_has_chances_has_a_table_of_plain_rows() -> None:
    base: dict[str, Any] = {"skill": 3, "vs": 2}
    rows = rpgres.odds_compare("fate", "overcome", {"better": {"skill": 4}}, **base).table()
    assert [(row["case"], round(row["success"], 3)) for row in rows] == [("base", 0.617), ("better", 0.815)]
    rows = rpgres.odds_table("fate", "overcome", {"vs": range(3)}, skill=3).table()
    assert [row["vs"] for row in rows] == [0, 1, 2]
    assert [row["exact"] for row in rpgres.odds_scene("fate/gate", auto=True).table()] == [
        "5/81",
        "10/81",
        "35/81",
        "31/81",
    ]
    counted = rpgres.simulate("fate", "overcome", runs=100, seed=1, **base).table()
    assert sum(row["count"] for row in counted if row["counted"] == "outcome") == 100
    assert {type(value) for row in counted for value in row.values()} <= {str, int, float}


@pytest.mark.slow
def test_pandas_takes_tables_of_odds() -> None:
    pandas = pytest.importorskip("pandas")
    grid = rpgres.odds_table("fate", "overcome", {"skill": range(3), "vs": [1, 2]})
    frame = pandas.DataFrame(grid.table())
    assert list(frame["skill"]) == [0, 0, 1, 1, 2, 2]
    wide = frame.pivot_table(index="skill", columns="vs", values="success")
    assert wide.loc[2, 1] == pytest.approx(50 / 81)
    assert pandas.DataFrame(rpgres.odds("3d6").table())["outcome"].tolist() == list(range(3, 19))
    assert pandas.DataFrame(rpgres.odds("fate", "overcome", skill=3).table())["rung"].is_unique


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of the kernel
def test_the_notebook_of_the_guide_shows_what_it_shows_when_it_is_run() -> None:
    """When this fails, and the new output is right: python -m tests.library.write_notebook"""
    for name in ("nbformat", "nbclient", "ipykernel", "pandas"):
        pytest.importorskip(name)
    from tests.library.write_notebook import FILE, cells, run

    shown, sources = json.loads(FILE.read_text("utf-8")), cells()
    assert ["".join(cell["source"]) for cell in shown["cells"]] == [cell.source for cell in sources]
    import nbformat

    done = run(nbformat.read(FILE, as_version=4))
    before = nbformat.read(FILE, as_version=4)
    for one, two in zip(before.cells, done.cells, strict=True):
        outputs = [[_data(output) for output in cell.get("outputs", ())] for cell in (one, two)]
        assert outputs[0] == outputs[1], one.source
    assert FILE.read_text("utf-8").count("<svg") == 4


def _data(output: dict[str, object]) -> object:
    return output.get("data") or output.get("text")
