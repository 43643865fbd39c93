"""What `table export` writes beside sheets: a page with a chapter a scene, and a row for each roll."""

from __future__ import annotations

import csv
import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from msgspec import structs, to_builtins

from rpgres.dice import dice
from rpgres.dice.seeds import Streams
from rpgres.journal import store
from rpgres.journal.history import History
from rpgres.journal.records import found_in
from rpgres.journal.rolls import COLUMNS, rolls_of
from rpgres.model.events import RollEvent
from tests.support.checkout import ROOT
from tests.support.command_line import rpgres

VOID = ("meta", "br")


class Outline(HTMLParser):
    """The headings of a page, and whether it is whole: every element closed, every link inside."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.ids: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {"src", "href"} & {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and re.fullmatch("h[1-6]", self.open[-1]):
            self.headings.append((int(self.open[-1][1]), data))


@pytest.fixture
def evening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a table at which two scenes were played, with an undo, real dice and a secret."""
    monkeypatch.chdir(tmp_path)
    lines = (
        ["new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "edda", "--seed", "7", "--title", "The <gate>"],
        ["note", "It rains.", "--as", "mara"],
        ["act", "overcome", "--actor", "mara", "--skill", "burglary", "--vs", "4dF+2", "--auto"],
        ["set", "characters.mara.counters.fate-points=5"],
        ["act", "overcome", "--actor", "edda", "--skill", "notice", "--vs", "9", "--auto"],
        ["undo"],
        ["end", "scene"],
        ["begin", "scene"],
        ["act", "overcome", "--actor", "edda", "--skill", "notice", "--vs", "2", "--auto", "--given", "roll=+++0"],
        ["note", "The Abbot lies.", "--as", "gm", "--to", "edda"],
        ["act", "overcome", "--actor", "mara", "--skill", "1", "--vs", "3"],
    )
    for line in lines:
        assert rpgres("table", *line).code in (0, 3), line
    return tmp_path


def exported(*seat: str) -> tuple[str, list[dict[str, str]]]:
    out = "-".join(("out", *seat))
    assert rpgres("table", "export", "--out", out, *seat).code == 0
    rows = list(csv.DictReader(StringIO(Path(out, "rolls.csv").read_text("utf-8"))))
    return Path(out, "account.html").read_text("utf-8"), rows


def streams_of() -> Streams:
    secret = store.read(Path(".rpgres/table.db")).new.secret
    return Streams(secret.seed, salt=bytes.fromhex(secret.salt))


def test_a_page_has_a_chapter_for_each_scene_and_names_for_ids(evening: Path) -> None:
    page, _ = exported()
    outline = Outline(page)
    assert outline.headings == [
        (1, "The <gate>"),
        (2, "Taking part"),
        (2, "What happens"),
        (3, "1. Scene 1"),
        (3, "2. Scene 2"),
        (2, "On the table"),
    ]
    assert len(set(outline.ids)) == len(outline.ids)
    assert "Mara Quill tries to overcome what is in the way with burglary" in page
    assert "Mara Quill, fate points: 5" in page
    assert not re.search(r"\b(mara|edda)\b", page)  # short names are for those who type
    assert "The scene ends." in page
    assert "against 9" not in page  # it was undone
    assert page.count("given, not from the seed: roll") == 1
    assert 'aria-hidden="true">+++0</span><span class="hidden">plus, plus, plus, blank' in page


def test_names_and_changes_of_an_account_are_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("second.toml").write_text((ROOT / "rulesets/fate/sheets/thug.toml").read_text("utf-8"), "utf-8")
    for line in (
        ["new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "thug", "--seed", "7"],
        ["set", "tags.Fog=situation"],
        ["set", "fog.name=Thick Fog"],
        ["join", "--sheet", "second.toml"],
        ["act", "overcome", "--as", "mara", "--skill", "fight=4", "--vs", "1", "--given", "roll=++++"],
        ["answer", "--as", "gm", "--choose", "claim=confirm", "--auto"],
    ):
        assert rpgres("table", *line).code in (0, 3), line
    exported()
    account = Path("out", "account.md").read_text("utf-8")
    for told in (
        "**Hired thug (second) sits down.**",
        "- **Hired thug (thug)**",
        "- Fog: situation (new)",
        "- Fog, name: Thick Fog (it was Fog)",
        "- Mara Quill claims: ",
    ):
        assert told in account


def test_a_seat_reads_only_what_it_may_see(evening: Path) -> None:
    pages = {seat: exported("--as", seat)[0] for seat in ("mara", "edda", "gm")}
    assert ["The Abbot lies." in page for page in pages.values()] == [False, True, True]
    assert "<dd>Edda Holm</dd>" in pages["edda"]


def test_every_roll_is_a_row_and_stands_where_the_seed_has_it(evening: Path) -> None:
    _, rows = exported()
    assert tuple(rows[0]) == COLUMNS
    assert [(row["who"], row["label"], row["stands"], row["source"]) for row in rows] == [
        ("mara", "roll", "yes", "seed"),
        ("", "opposition", "yes", "seed"),
        ("edda", "roll", "undone", "seed"),
        ("edda", "roll", "yes", "given"),
        ("mara", "roll", "yes", "seed"),
    ]
    assert [row["outcome"] != "" for row in rows] == [True, True, True, True, False]  # the last one waits
    assert int(rows[0]["total"]) - int(rows[0]["opposition"]) == int(rows[0]["margin"])
    streams = streams_of()
    for row in rows:
        if row["source"] == "given":
            assert (row["place"], row["faces"]) == ("", "'+++0")  # a spreadsheet would take it for a formula
            continue
        step, label, count = row["place"].split("/")
        throw = dice(row["dice"]).throw(streams.below(int(step), label, int(count)))
        assert (throw.text, str(throw.value)) == (row["faces"].lstrip("'"), row["value"])


def test_a_roll_that_a_seat_may_not_know_of_has_its_place_among_the_others(evening: Path) -> None:
    history = store.read(Path(".rpgres/table.db"))
    number = next(one.number for one in history.entries if one.secret.given)
    entry = history.entries[number]
    shown = next(one for one in found_in(entry.secret).events if isinstance(one, RollEvent))  # type: ignore[union-attr]
    hidden = structs.replace(shown, faces="00++", value=2, audience=["gm"])
    result = {**entry.secret.result, "events": to_builtins([hidden, shown])}  # type: ignore[dict-item]
    secret = structs.replace(entry.secret, result=result, given={"roll": [None, "+++0"]})
    entries = history.entries.with_([structs.replace(entry, secret=secret)])
    history = History(entries, history.state)
    rows = {seat: [row for row in rolls_of(history, seat=seat) if row.entry == number] for seat in ("mara", "gm")}
    assert [(row.faces, row.source) for row in rows["gm"]] == [("00++", "seed"), ("+++0", "given")]
    assert rows["mara"] == rows["gm"][1:]


def test_turns_of_a_procedure_have_their_own_outcomes_and_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "guards", "--seed", "3").code == 0
    line = ["act", "contest", "--actor", "mara", "--skill", "stealth", "--vs", "guards:notice", "--auto"]
    assert rpgres("table", *line).code == 0
    page, rows = exported()
    assert len(rows) > 3
    assert all(row["place"] for row in rows)
    assert any("@" in row["place"] for row in rows)
    assert len({row["place"] for row in rows}) == len(rows)
    streams = streams_of()
    for row in rows:
        step, label, count = row["place"].split("/")
        assert dice(row["dice"]).throw(streams.below(int(step), label, int(count))).text == row["faces"].lstrip("'")
    assert [text for _, text in Outline(page).headings].count("Exchange 1") == 1


def test_cards_are_rows_that_hide_what_a_seat_does_not_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert rpgres("table", "new", "--ruleset", "saga", "--sheet", "ilse", "--sheet", "brannagh", "--no-deal").code == 0
    assert rpgres("table", "act", "act", "--actor", "ilse", "--ability", "strength", "--vs", "4", "--auto").code == 0
    mine, theirs = exported("--as", "ilse")[1], exported("--as", "brannagh")[1]
    assert [row["label"] for row in mine] == [row["label"] for row in theirs]
    dealt = [(one["faces"], other["faces"]) for one, other in zip(mine, theirs, strict=True) if one["label"] == "deal"]
    assert dealt
    assert all(one != "?" and other == "?" for one, other in dealt)
    assert {row["place"] for row in mine} == {"cards:deck"}


def test_files_that_are_there_are_not_replaced(evening: Path) -> None:
    exported()
    Path("out/account.html").write_text("mine", "utf-8")
    assert rpgres("table", "export", "--out", "out").code == 1
    assert Path("out/account.html").read_text("utf-8") == "mine"
    assert rpgres("table", "export", "--out", "out", "--force").code == 0
