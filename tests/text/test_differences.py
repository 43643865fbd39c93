"""Where two values of plain data differ first, and how that is told."""

from __future__ import annotations

from typing import Any

import pytest

from rpgres.scenes import Mismatch
from rpgres.text.differences import first_difference


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, ("a[1].b", "2", "3")),
        ([1], [1, 2], ("[1]", "nothing", "2")),
        ({"a": 1}, {}, ("a", "1", "nothing")),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ("the order of keys of it", "['a', 'b']", "['b', 'a']")),
        (1, True, ("", "1", "True")),
        ("1", 1, ("", "'1'", "1")),
    ],
)
def test_the_first_field_that_differs_is_named(one: Any, other: Any, told: tuple[str, str, str]) -> None:
    assert first_difference(one, other) == told
    assert first_difference(one, one) is None


def test_of_tables_only_the_keys_that_are_expected_count_where_that_is_asked() -> None:
    assert first_difference({"b": 2}, {"a": 1, "b": 2}, named_only=True) is None


def test_a_mismatch_of_lists_that_look_alike_says_which_field_differs() -> None:
    expected, found = [{"kind": "hurt", "count": 1}], [{"kind": "hurt", "count": "1", "to": "mara"}]
    told = Mismatch("a.toml:3", "step 1", "effects", expected, found).differs
    assert told == " (effects[0].count: expected 1, found '1')"
    assert Mismatch("a.toml:3", "step 1", "margin", 1, 2).differs == ""
    assert Mismatch("a.toml:3", "step 1", "state.x", "1", 1).differs == " (state.x: expected '1', found 1)"
