"""Every golden case gives what it gave; `python -m tests.golden` prints the difference, `--write` takes it over."""

from __future__ import annotations

import pytest

from tests.golden import cases
from tests.golden.__main__ import difference

CASES = [(name, record) for name in cases.files("cases") for record in cases.committed("cases", name)]


@pytest.mark.parametrize(("name", "record"), CASES, ids=[f"{name}: {record['run']}" for name, record in CASES])
def test_a_line_gives_what_it_gave(name: str, record: cases.Record) -> None:
    assert not list(difference([record], [cases.record_of(name, record["run"])]))


@pytest.mark.slow
@pytest.mark.parametrize("name", cases.files("tables"))
def test_a_table_goes_as_it_went(name: str) -> None:
    assert not list(difference(cases.committed("tables", name), cases.table(name)))


def test_a_new_pattern_has_a_result() -> None:
    """`python -m tests.golden --write` makes it."""
    for name in cases.files("cases"):
        assert [record["run"] for record in cases.committed("cases", name)] == cases.lines_of(name), name
