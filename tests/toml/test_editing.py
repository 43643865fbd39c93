"""Editing TOML: one value changes, and nothing else does."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.errors import FileError
from rpgres.toml.editing import set_value, unset_value
from rpgres.toml.reading import Source

FILE = """\
# My settings.
plain = false   # read aloud

# what I type most
[aliases]
hit = "roll fate attack"  # with the sword
# the end
"""


def set_in(text: str, key: str, value: Any) -> str:
    return set_value(Source("config.toml", text), tuple(key.split(".")), value)


def unset_in(text: str, key: str) -> str:
    return unset_value(Source("config.toml", text), tuple(key.split(".")))


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("plain", True, "plain = false   #", "plain = true   #"),
        ("aliases.hit", "odds 'x'", '"roll fate attack"  #', "\"odds 'x'\"  #"),
        ("ruleset", "fate", "aloud\n", 'aloud\nruleset = "fate"\n'),
        ("aliases.dodge", "x", "the sword\n", 'the sword\ndodge = "x"\n'),
        ("rulesets", ["a", "b"], "aloud\n", 'aloud\nrulesets = ["a", "b"]\n'),
        ("other.key", 1, "# the end\n", "# the end\n\n[other]\nkey = 1\n"),
    ],
)
def test_only_the_value_changes(key: str, value: Any, old: str, new: str) -> None:
    assert FILE.count(old) == 1
    assert set_in(FILE, key, value) == FILE.replace(old, new)
    assert set_in(FILE.replace("\n", "\r\n"), key, value) == FILE.replace(old, new).replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "key", "value", "expected"),
    [
        ("", "plain", True, "plain = true\n"),
        ("# mine\n", "plain", True, "# mine\nplain = true\n"),
        ("a = 1", "plain", True, "a = 1\nplain = true\n"),
        ("", "aliases.hit", "x", '[aliases]\nhit = "x"\n'),
        ("[aliases]\n", "aliases.hit", "x", '[aliases]\nhit = "x"\n'),
        ("[aliases]", "aliases.hit", "x", '[aliases]\nhit = "x"\n'),
        ("[aliases]\nhit = 'x'\n", "plain", True, "plain = true\n\n[aliases]\nhit = 'x'\n"),
        ("# a\n[b]\n", "plain", True, "# a\nplain = true\n\n[b]\n"),
        ("x = 1\n\n# a\n[b]\n", "plain", True, "x = 1\nplain = true\n\n# a\n[b]\n"),
        ("aliases = { a = 'x' } # c\n", "aliases.b", "y", 'aliases = { a = "x", b = "y" } # c\n'),
        ("aliases.a = 'x'\n", "aliases.b", "y", "aliases.a = 'x'\naliases.b = \"y\"\n"),
        ("list = [ # one\n  1, # two\n]\n", "list", [2], "list = [2]\n"),
        ("a = 1\nplain=false", "plain", True, "a = 1\nplain=true"),
    ],
)
def test_a_value_is_set_where_it_belongs(text: str, key: str, value: Any, expected: str) -> None:
    assert set_in(text, key, value) == expected


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        (FILE, "plain", FILE.replace("plain = false   # read aloud\n", "")),
        (FILE, "aliases.hit", FILE.replace('hit = "roll fate attack"  # with the sword\n', "")),
        ("aliases = { a = 'x', b = 'y' }\n", "aliases.a", 'aliases = { b = "y" }\n'),
        ("aliases = { a = 'x' }\n", "aliases.a", "aliases = {}\n"),
        ("a = 1\nlist = [\n 1,\n]\nb = 2\n", "list", "a = 1\nb = 2\n"),
        ("a = 1\n[t]\nx = 1 # x\ny = 2\n[u]\nz = 3\n", "t", "a = 1\n[u]\nz = 3\n"),
    ],
)
def test_a_key_is_removed_with_its_line(text: str, key: str, expected: str) -> None:
    assert unset_in(text, key) == expected


def test_what_cannot_be_changed_safely_is_refused() -> None:
    with pytest.raises(FileError, match="plain is not a table"):
        set_in("plain = true\n", "plain.x", 1)
    with pytest.raises(FileError, match=r"config\.toml:1:5"):
        set_in("not toml\n", "plain", True)
    with pytest.raises(KeyError):
        unset_in("", "plain")


KEYS = st.sampled_from(["plain", "ruleset", "aliases.hit", "aliases.two words", "rulesets"])
VALUES = st.one_of(st.booleans(), st.text(max_size=8), st.lists(st.text(max_size=4), max_size=3))


@pytest.mark.slow
@given(st.lists(st.tuples(KEYS, VALUES, st.booleans()), max_size=8))
def test_any_sequence_of_changes_says_what_it_should(changes: list[tuple[str, Any, bool]]) -> None:
    text, expected = "# kept\n", {}
    for key, value, is_set in changes:
        table, _, name = key.rpartition(".")
        inner = expected.setdefault(table, {}) if table else expected
        if is_set:
            text, inner[name] = set_in(text, key, value), value
        elif name in inner:
            text = unset_in(text, key)
            del inner[name]
    assert {key: value for key, value in tomllib.loads(text).items() if value != {}} == {
        key: value for key, value in expected.items() if value != {}
    }
    assert text.startswith("# kept\n")
