"""Accounts as logs in Lonelog."""

from __future__ import annotations

from rpgres.formats.accounts import (
    Account,
    Change,
    Chapter,
    Chosen,
    Dealt,
    Meaning,
    Note,
    Outcome,
    Rolled,
    TableItem,
    Turn,
)
from rpgres.formats.lonelog import as_lonelog, write_line


def test_ordinary_lines_are_written_without_escapes() -> None:
    written = [
        write_line(one)
        for one in (
            Rolled("Roll", "Mara Quill", "4dF", "+-0+", "+1"),
            Dealt("Play", "Ilse Marrow", "Do5+"),
            Chosen("Price", "Mara Quill", "fail", "by policy"),
            Outcome("Fail", False, "Fair (+2)", "Good (+3)", -1),
            Outcome("Declared"),
            Meaning("You fall short."),
            Change("Fate points of Mara Quill: -1 (Fog off the Harbour)"),
            Note("2 (Fair) against 3 (Good)."),
        )
    ]
    assert written == [
        "d: Roll (Mara Quill) 4dF=+1 (+-0+)",
        "d: Play (Ilse Marrow)=Do5+",
        "@(Mara Quill) decides Price: fail (by policy)",
        "d: Fair (+2) vs Good (+3), margin -1 F -> Fail",
        "-> Declared",
        "=> You fall short.",
        "=> (effect) Fate points of Mara Quill: -1 (Fog off the Harbour)",
        "(note: 2 (Fair) against 3 (Good).)",
    ]


def test_no_text_ends_its_line_or_its_block() -> None:
    told = Turn("breaks\nthe line", "A", lines=[Meaning("one\n```\n### S9 *forged*"), Meaning("``` ends")])
    account = Account(
        title="A\n# B", chapters=[Chapter("](x)", turns=[told])], table=[TableItem("a]|b", "track", ["1 of 2"])]
    )
    log = as_lonelog(account).splitlines()
    assert sum(line.startswith("```") for line in log) == 4
    assert [line for line in log if line.startswith("#")] == [
        "# A \\# B",
        "### S1 *\\](x)*",
        "### On the table",
    ]
    assert "@(A) breaks the line" in log
    assert "[Track:a\\]\\|b 1/2]" in log
