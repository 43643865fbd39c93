"""Every golden case gives what it gave; `python -m tests.golden` prints the difference, `--write` takes it over."""

from __future__ import annotations

from itertools import groupby

import pytest

from tests.golden import cases
from tests.golden.__main__ import difference

GROUPS = [
    (name, words, list(records))
    for name in cases.files("cases")
    for words, records in groupby(
        cases.committed("cases", name), key=lambda record: " ".join(record["run"].split()[:2])
    )
]


@pytest.mark.parametrize(("name", "words", "records"), GROUPS, ids=[f"{name}: {words}" for name, words, _ in GROUPS])
def test_a_line_gives_what_it_gave(name: str, words: str, records: list[cases.Record]) -> None:
    """Each difference names its case, and the fields that differ: as they were, as they are."""
    assert not list(difference(records, [cases.record_of(name, record["run"]) for record in records]))


@pytest.mark.slow
@pytest.mark.parametrize("name", cases.files("tables"))
def test_a_table_goes_as_it_went(name: str) -> None:
    assert not list(difference(cases.committed("tables", name), cases.table(name)))


def test_each_pattern_has_its_results() -> None:
    """`python -m tests.golden --write` makes them."""
    for name in cases.files("cases"):
        assert [record["run"] for record in cases.committed("cases", name)] == cases.lines_of(name), name
