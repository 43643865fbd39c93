"""Tests of reading TOML files: syntax, overlays, typed values, and every problem with its line."""

from __future__ import annotations

import datetime
import io
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rpgres.errors import FileError, NotationError
from rpgres.rulesets.folders import Text, read_as
from rpgres.toml import diagnostics, places
from rpgres.toml import faults as second_pass
from rpgres.toml import reading as tomlfiles
from rpgres.toml.diagnostics import Diagnostic, Fault, nearest
from rpgres.toml.reading import Source, locate, located, overlay, parse, read_source
from tests.support.effort import examples


def read(sources: list[Source], type_: Any) -> Any:
    """Return the value of `type_` that texts say together, as every reader of files does it."""
    return read_as([Text(source, parse(source)) for source in sources], type_)


class Tag(msgspec.Struct, forbid_unknown_fields=True):
    """A record that refuses some of its values itself."""

    text: str
    uses: Annotated[int, msgspec.Meta(ge=0, le=3)] = 1

    def __post_init__(self) -> None:
        if self.text == "nobody":
            raise ValueError("the text names nobody")
        if self.text == "4dx":
            raise NotationError("no such die\n 4dx\n  ^", self.text, 1)


class Alone(msgspec.Struct, tag_field="kind", tag="alone", forbid_unknown_fields=True):
    """A tagged record that is in no union."""

    size: int = 0


class Everything(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, rename={"with_": "with"}):
    """A field of each kind that the second pass knows."""

    title: str
    count: int = 0
    open: bool = False
    seat: Literal["gm", "player"] = "gm"
    size: Literal[1, 2, "huge"] = 1
    rank: Annotated[int, msgspec.Meta(ge=0, le=7)] = 2
    name: Annotated[str, msgspec.Meta(min_length=2, pattern="^[a-z]*$")] = "mara"
    with_: dict[str, int | str] = {}
    by_seat: dict[Literal["gm", "player"], int] = {}
    tags: list[Tag] = []
    named: dict[str, Tag] = {}
    pair: tuple[int, str] = (0, "")
    many: tuple[int, ...] = (0,)
    names: list[str] = []
    note: str | None = None
    vs: int | str | list[int] | dict[str, int] = 0
    alone: Alone | None = None
    anything: Any = None


class Loose(msgspec.Struct):
    """A record that lets unknown keys pass."""

    text: str = ""


def faults_of(*texts: str, type_: Any = Everything) -> list[Diagnostic]:
    """Return the problems of texts laid over each other, read from `0.toml`, `1.toml`, ..."""
    sources = [Source(f"{number}.toml", text) for number, text in enumerate(texts)]
    with pytest.raises(FileError) as caught:
        read(sources, type_)
    return [Diagnostic(**problem) for problem in caught.value.details["problems"]]


# --- one fault -----------------------------------------------------------------------------------------------------

NAME = "as a name in this table "
USES = "expected a whole number that is at least 0 and at most 3, found "

ONE_FAULT = [
    ("count = 'three'", 2, "count", "expected a whole number, found text", ""),
    ("count = true", 2, "count", "expected a whole number, found true or false", ""),
    ("count = 1.0", 2, "count", "expected a whole number, found a number with a decimal point", ""),
    ("count = [1]", 2, "count", "expected a whole number, found a list", ""),
    ("open = 1", 2, "open", "expected true or false, found a whole number", ""),
    ("note = 2020-01-01", 2, "note", "expected text, found a date", ""),
    ("note = 07:30:00", 2, "note", "expected text, found a time of day", ""),
    ("seat = 'playr'", 2, "seat", "expected one of `gm`, `player`, found `playr`", "player"),
    ("seat = 7", 2, "seat", "expected one of `gm`, `player`, found a whole number", ""),
    ("seat = 'zzz'", 2, "seat", "expected one of `gm`, `player`, found `zzz`", ""),
    ("seat = ''", 2, "seat", "expected one of `gm`, `player`, found an empty text", ""),
    ("size = 3", 2, "size", "expected one of `1`, `2`, `huge`, found 3", ""),
    ("size = true", 2, "size", "expected one of `1`, `2`, `huge`, found true or false", ""),
    ("name = 'a'", 2, "name", "expected at least 2 characters, found 1", ""),
    ("name = 'ABC'", 2, "name", "expected text like `^[a-z]*$`, found `ABC`", ""),
    ("with = 3", 2, "with", "expected a table, found a whole number", ""),
    ("with.vs = 1.5", 2, "with.vs", "expected a whole number or text, found a number with a decimal point", ""),
    ("by_seat.playr = 1", 2, "by_seat.playr", NAME + "expected one of `gm`, `player`, found `playr`", "player"),
    ("[[tags]]\ntext = 'a'\n[[tags]]\nuses = 1", 4, "tags[1].text", "missing key `text`", ""),
    ("[[tags]]\ntext = 'a'\nuses = 4", 4, "tags[0].uses", USES + "4", ""),
    ("tags = 'a'", 2, "tags", "expected a list, found text", ""),
    (
        "tags = [\n{ text = 'a' },\n{ txet = 1, text = 'b' }]",
        4,
        "tags[1].txet",
        "unknown key",
        "text",
    ),
    ("[named.a]\ntext = 'nobody'", 2, "named.a", "the text names nobody", ""),
    ("[named.a]\ntext = '4dx'", 2, "named.a", "no such die", ""),
    ("[named]\n'two words' = 1", 3, 'named."two words"', "expected a table, found a whole number", ""),
    ("pair = [1]", 2, "pair", "expected 2 items, found 1", ""),
    ("pair = [1, 2]", 2, "pair[1]", "expected text, found a whole number", ""),
    ("many = [1,\n2,\n'3']", 4, "many[2]", "expected a whole number, found text", ""),
    ("names = ['a', 1]", 2, "names[1]", "expected text, found a whole number", ""),
    ("vs = true", 2, "vs", "expected a whole number or text or a list or a table, found true or false", ""),
    ("vs = [1, 'a']", 2, "vs[1]", "expected a whole number, found text", ""),
    ("vs = { a = 'a' }", 2, "vs.a", "expected a whole number, found text", ""),
    ("alone = { kind = 'together' }", 2, "alone.kind", None, ""),
    ("alone = 3", 2, "alone", "expected a table, found a whole number", ""),
    ("cuont = 3", 2, "cuont", "unknown key", "count"),
    ("Count_ = 3", 2, "Count_", "unknown key", "count"),
    ("[[tags]]\ntext = 'a'\nowner = 1", 4, "tags[0].owner", "unknown key; allowed keys are `uses`", ""),
    ("[[tags]]\ntext = 'a'\nuses = 1\nowner = 1", 5, "tags[0].owner", "unknown key", ""),
    ("with_ = {}", 2, "with_", "unknown key", "with"),
    (
        "[named.style]\ntext = 'a'\n[named.styl]\nuses = 1",
        4,
        "named.styl.text",
        "missing key `text`; or did you mean named.style?",
        "",
    ),
    ("tag.text = 3", 2, "tag", "unknown key", "tags"),
    ('"\\u001b[31m" = 3\ncount = 1', 2, '"\\u001b[31m"', None, ""),
]


@pytest.mark.parametrize(("text", "line", "key", "message", "hint"), ONE_FAULT)
def test_one_fault_is_told_with_its_line_and_the_nearest_name(
    text: str, line: int, key: str, message: str | None, hint: str
) -> None:
    (problem,) = faults_of(f"title = 'a'\n{text}\n")
    assert (problem.file, problem.line, problem.key, problem.hint) == ("0.toml", line, key, hint)
    assert message is None or problem.message == message


def test_what_a_type_allows_is_no_fault() -> None:
    text = """
    title = "all"
    size = "huge"
    vs = [1, 2]
    anything = [{ x = 1 }, 2020-01-01T00:00:00Z]
    alone = {}
    with = { vs = 3, skill = "will" }
    """
    made = read([Source("a.toml", text)], Everything)
    assert made.with_ == {"vs": 3, "skill": "will"}
    assert tomlfiles.diagnose(parse(Source("", text)), Everything) == []


def test_unknown_keys_pass_where_the_type_lets_them() -> None:
    assert read([Source("a.toml", "text = 'a'\nother = 1")], Loose) == Loose("a")


def test_a_value_msgspec_alone_understands_is_refused_in_its_words() -> None:
    (problem,) = faults_of("[a]\nb = [\n1979-01-01,\n'soon']", type_=dict[str, dict[str, list[datetime.date]]])
    assert (problem.line, problem.key) == (4, "a.b[1]")


def test_data_that_no_file_could_hold_is_refused_as_well() -> None:
    with pytest.raises(FileError, match="a lone surrogate"):
        tomlfiles.convert({"\ud800": 1}, Loose)


def test_nothing_is_lost_when_the_walk_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_pass, "_faults", lambda *_: iter(()))
    (problem,) = faults_of("title = 'a'\n[[tags]]\ntext = 'x'\nuses = 'x'\n")
    assert (problem.line, problem.key, problem.message) == (4, "tags[0].uses", "Expected `int`, got `str`")


# --- many faults ---------------------------------------------------------------------------------------------------


def test_all_faults_of_a_file_come_at_once_in_line_order() -> None:
    text = textwrap.dedent(
        """\
        # a comment = 1
        count = "3"            # 2
        note = \"\"\"
        count = 1
        [tags]
        \"\"\"
        seat = "players"       # 7
        many = [
          1,
          "2",                 # 10
          3.5,                 # 11
        ]

        [named."Mara the Bold"]
        uses = 9               # 15; and text is missing: 14

        [with]
        a.b = 1                # 18
        """
    )
    with pytest.raises(FileError) as caught:
        read([Source("ambush.toml", text)], Everything)
    assert str(caught.value).splitlines() == [
        "ambush.toml:1: title: missing key `title`",
        "ambush.toml:2: count: expected a whole number, found text",
        "ambush.toml:7: seat: expected one of `gm`, `player`, found `players`; did you mean `player`?",
        "ambush.toml:10: many[1]: expected a whole number, found text",
        "ambush.toml:11: many[2]: expected a whole number, found a number with a decimal point",
        'ambush.toml:14: named."Mara the Bold".text: missing key `text`',
        'ambush.toml:15: named."Mara the Bold".uses: expected a whole number that is at least 0 and at most 3, found 9',
        'ambush.toml:18: with.a: expected a whole number or text, found a table; a path stands in quotes: "a.b" = ...',
    ]
    assert caught.value.details["problems"][2] == {
        "file": "ambush.toml",
        "line": 7,
        "key": "seat",
        "message": "expected one of `gm`, `player`, found `players`",
        "hint": "player",
        "code": "wrong-value",
        "column": 1,
        "advice": "",
        "severity": "error",
    }


@pytest.mark.slow
def test_a_hostile_number_of_faults_is_cut_short() -> None:
    with pytest.raises(FileError) as caught:
        read([Source("a.toml", "title = 'a'\nnames = [" + "1," * 50_000 + "]")], Everything)
    assert len(str(caught.value).splitlines()) == diagnostics.MAX_SHOWN + 1
    assert str(caught.value).endswith("and 900 more")
    assert len(caught.value.details["problems"]) == 1000


def test_without_a_file_the_key_alone_is_told() -> None:
    with pytest.raises(FileError, match=r"^count: expected a whole number, found text$"):
        tomlfiles.convert({"title": "a", "count": "x"}, Everything)


def test_a_prefix_says_where_the_data_stands_in_the_file() -> None:
    source = Source("a.toml", "[[scene]]\ntitle = 'a'\n[[scene]]\ntitle = 'b'\ncount = 'x'\ncuont = 1\n")
    with pytest.raises(FileError) as caught:
        tomlfiles.convert(parse(source)["scene"][1], Everything, source=source, prefix=("scene", 1))
    assert str(caught.value).splitlines() == [
        "a.toml:5: scene[1].count: expected a whole number, found text",
        "a.toml:6: scene[1].cuont: unknown key; did you mean `count`?",
    ]


# --- overlays ------------------------------------------------------------------------------------------------------


def test_a_fault_names_the_file_that_its_value_came_from() -> None:
    base = "title = 'a'\ncount = 'x'\n[named.a]\ntext = 'a'\n[named.b]\ntext = 1\n"
    found = faults_of(base, "# house rule\n\nnamed.a.uses = 'x'\n", "count = false\nnamed.b.useless = 1\n")
    assert [(p.file, p.line, p.key) for p in found] == [
        ("0.toml", 6, "named.b.text"),
        ("1.toml", 3, "named.a.uses"),
        ("2.toml", 1, "count"),
        ("2.toml", 2, "named.b.useless"),
    ]


@pytest.mark.parametrize(
    ("base", "nearer", "place"),
    [
        ("count = 1", "open = true", ("0.toml", 1, "title")),
        ("count = 1\ntitle = 'a'", "\ntitle = { remove = true }", ("1.toml", 2, "title")),
        ("title = 'a'\n[[tags]]\ntext = 'a'", "\ntags = [\n{}]", ("1.toml", 3, "tags[0].text")),
        ("title = 'a'\nnamed.a = 3", "\n[named.a]\nuses = 1", ("1.toml", 2, "named.a.text")),
        ("title = 'a'\n[named.a]\nuses = 1", "\n[named]", ("0.toml", 2, "named.a.text")),
        ("title = 'a'", "\n\n[named.a]\nuses = 1", ("1.toml", 3, "named.a.text")),
        ("title = 'a'\n[named.a]\ntext = 'nobody'", "named.b.text = 'b'", ("0.toml", 2, "named.a")),
    ],
)
def test_a_missing_key_names_the_file_that_should_have_it(base: str, nearer: str, place: tuple[str, int, str]) -> None:
    (problem,) = faults_of(base, nearer)
    assert (problem.file, problem.line, problem.key) == place


def test_a_replaced_list_hides_the_one_below_in_a_file_between() -> None:
    found = faults_of("title = 'a'\n\ntags = [{ text = 1 }]", "tags = { remove = true }", "\ntags = [{ uses = 1 }]")
    assert [(p.file, p.line, p.key) for p in found] == [("2.toml", 2, "tags[0].text")]


def test_a_removed_table_hides_the_one_below_from_a_file_that_begins_it_anew() -> None:
    below = "title = 'a'\n[named.a]\ntext = 'a'"
    found = faults_of(below, "named.a = { remove = true }", "\n[named.a]\nuses = 1")
    assert [(p.file, p.line, p.key) for p in found] == [("2.toml", 2, "named.a.text")]


def test_tables_merge_and_the_rest_is_replaced_whole() -> None:
    base = {"a": {"x": 1, "y": {"z": 1}}, "list": [1, 2], "gone": {"x": 1}, "flat": 1}
    nearer = {
        "a": {"y": {"w": 2}, "new": {"kept": 1, "nothing": {"remove": True}}},
        "list": [{"remove": True}],
        "gone": {"remove": True},
        "never": {"remove": True},
        "flat": {"deep": {"deeper": {"remove": True}}},
    }
    copies = (repr(base), repr(nearer))
    assert overlay(base, nearer) == {
        "a": {"x": 1, "y": {"z": 1, "w": 2}, "new": {"kept": 1}},
        "list": [{"remove": True}],
        "flat": {"deep": {}},
    }
    assert (repr(base), repr(nearer)) == copies


@pytest.mark.parametrize("value", [{"remove": False}, {"remove": 1}, {"remove": "true"}, {"remove": True, "x": 1}])
def test_only_exactly_remove_true_removes(value: dict[str, Any]) -> None:
    assert overlay({"a": {"b": 1}}, {"a": value}) == {"a": {"b": 1, **value}}


def test_files_are_laid_over_each_other_farthest_first() -> None:
    base = "title = 'a'\nnamed.x.text = 'x'\nnamed.y.text = 'y'"
    nearer = ["named.x.uses = 3", "title = 'c'\nnamed.y.remove = true"]
    made = read([Source("", text) for text in (base, *nearer)], Everything)
    assert (made.title, made.named) == ("c", {"x": Tag("x", 3)})


tables = st.recursive(
    st.dictionaries(st.sampled_from("abcde"), st.integers() | st.text(max_size=3), max_size=4),
    lambda inner: st.dictionaries(
        st.sampled_from("abcde"),
        inner | st.integers() | st.lists(inner, max_size=2) | st.just({"remove": True}),
        max_size=4,
    ),
    max_leaves=12,
)


def has_removal(value: Any) -> bool:
    return isinstance(value, dict) and (value == {"remove": True} or any(has_removal(v) for v in value.values()))


@pytest.mark.slow
@given(base=tables, nearer=tables)
@settings(deadline=None, max_examples=examples(200))
def test_overlay_laws(base: dict[str, Any], nearer: dict[str, Any]) -> None:
    copies = (repr(base), repr(nearer))
    assert overlay(base, {}) == base
    clean = overlay({}, base)
    assert not has_removal(clean)
    assert overlay({}, clean) == clean
    merged = overlay(clean, nearer)
    assert not has_removal(merged)
    assert overlay(merged, nearer) == merged
    assert (repr(base), repr(nearer)) == copies


@given(base=tables, key=st.sampled_from("abcde"))
@settings(deadline=None, max_examples=examples(50))
def test_remove_deletes_that_key_and_nothing_else(base: dict[str, Any], key: str) -> None:
    assert overlay(base, {key: {"remove": True}}) == {name: value for name, value in base.items() if name != key}


# --- where a key stands --------------------------------------------------------------------------------------------

DOCUMENT = textwrap.dedent(
    '''\
    title = "a"   # 1
    a.b.c = 1
    a.b."d.e" = 2
    'lit"eral' = { x = 1, y = { z = 2 } }
    "esc\\u0061ped" = 1
    text = """
    x = 1 \\""" [no.table]
    """ # 8
    raw = \'\'\'
    ''it\'\'\'\'
    list = [ # 11
      1, [2,
        3], # 13
      { a = 1, "b" = [
        "]", ',' ] }, # 15
    ]
    when = 1979-05-27 07:32:00 # 17
    [ table . "sub" ] # 18
    key = 1.5
    [[steps]] # 20
    id = 1
    [steps.with] # 22
    vs = -inf
    [[steps]]
    id = 2
    [[steps.inner]] # 26
    q = ""
    [[steps.inner]]
    q = \'\'
    [steps.inner.deep]
    r = +1_000
    [table] # 32
    late = 1'''
)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("title",), 1),
        (("a",), 2),
        (("a", "b"), 2),
        (("a", "b", "c"), 2),
        (("a", "b", "d.e"), 3),
        (('lit"eral',), 4),
        (('lit"eral', "y", "z"), 4),
        (("escaped",), 5),
        (("text",), 6),
        (("x",), 1),
        (("raw",), 9),
        (("list",), 11),
        (("list", 0), 12),
        (("list", 1), 12),
        (("list", 1, 1), 13),
        (("list", 2), 14),
        (("list", 2, "b"), 14),
        (("list", 2, "b", 1), 15),
        (("list", 2, "missing"), 14),
        (("list", 9, "x"), 11),
        (("when",), 17),
        (("table", "sub"), 18),
        (("table", "sub", "key"), 19),
        (("table", "sub", "missing", "deeper"), 18),
        (("steps",), 20),
        (("steps", 0), 20),
        (("steps", 0, "id"), 21),
        (("steps", 0, "with"), 22),
        (("steps", 0, "with", "vs"), 23),
        (("steps", 1), 24),
        (("steps", 1, "id"), 25),
        (("steps", 1, "nope"), 24),
        (("steps", 1, "inner"), 26),
        (("steps", 1, "inner", 0, "q"), 27),
        (("steps", 1, "inner", 1, "q"), 29),
        (("steps", 1, "inner", 1, "deep", "r"), 31),
        (("table",), 32),
        (("table", "late"), 33),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_locate(path: tuple[str | int, ...], line: int, newline: str) -> None:
    assert locate(DOCUMENT.replace("\n", newline), path) == line


def test_locate_knows_every_key_that_tomllib_reads() -> None:
    # The nearest table answers for a key that was not seen, so the keys themselves are compared as well.
    paths = list(leaf_paths(parse(Source("", DOCUMENT)), with_tables=True))
    assert set(paths) <= set(places._spots(DOCUMENT))


def test_locate_in_what_is_no_toml() -> None:
    assert locate("", ("a",)) is None
    assert locate("a = 1\n= =\nb = 2\n", ("a",)) == 1
    assert locate("\na = [1,\n", ("a", 0)) == 2
    assert locate("\n\na = {b = [[[ ", ("a", "b")) == 3


def leaf_paths(value: Any, path: tuple[str | int, ...] = (), *, with_tables: bool = False) -> Any:
    """Yield the key path of each value that is no table or list (or of all)."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if path and (inner is None or with_tables):
        yield path
    for part, below in inner or ():
        yield from leaf_paths(below, (*path, part), with_tables=with_tables)


def written(data: dict[str, Any], *, multiline: bool) -> str:
    """Return data as TOML, by an author that is not ours."""
    import tomli_w

    return tomli_w.dumps(data, multiline_strings=multiline)


odd_text = st.text(st.sampled_from("ab .#\"'[]{}=,\\\n\tü\x7f\u2028\U0001f3b2"), max_size=8)
scalars = st.integers(-9, 9) | st.booleans() | odd_text | st.floats(allow_nan=False) | st.dates()
documents = st.dictionaries(
    odd_text,
    st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(odd_text, inner, max_size=4), max_leaves=15
    ),
    max_size=5,
)


@pytest.mark.slow
@given(data=documents, multiline=st.booleans())
@settings(deadline=None, max_examples=examples(200))
def test_every_key_of_any_document_is_seen(data: dict[str, Any], multiline: bool) -> None:
    text = written(data, multiline=multiline)
    paths = set(leaf_paths(parse(Source("", text)), with_tables=True))
    assert set(paths) <= set(places._spots(text))


class Leaf(msgspec.Struct, forbid_unknown_fields=True):
    """A table of any depth whose leaves are all numbers."""

    tables: dict[str, Leaf] = {}
    items: list[Leaf] = []
    grid: list[list[int]] = []
    numbers: dict[str, int] = {}
    own: int = 0


def leaf_data(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "tables": st.dictionaries(odd_text, inner, max_size=3),
            "items": st.lists(inner, max_size=3),
            "grid": st.lists(st.lists(st.integers(0, 99), max_size=30), max_size=3),
            "numbers": st.dictionaries(odd_text, st.integers(0, 99), max_size=4),
            "own": st.integers(0, 99),
        },
    )


leaves = st.recursive(leaf_data(st.just({})), leaf_data, max_leaves=8)


@pytest.mark.slow
@given(data=leaves, choice=st.randoms(use_true_random=False), multiline=st.booleans())
@settings(deadline=None, max_examples=examples(200))
def test_the_line_of_a_wrong_leaf_is_where_it_stands(data: dict[str, Any], choice: Any, multiline: bool) -> None:
    paths = list(leaf_paths(data))
    if not paths:
        return
    path = choice.choice(paths)
    holder: Any = data
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = "wrong leaf"
    text = written(data, multiline=multiline)
    (line,) = [number for number, line in enumerate(text.split("\n"), 1) if "wrong leaf" in line]
    (problem,) = faults_of(text, type_=Leaf)
    assert (problem.line, problem.key) == (line, diagnostics.key_text(path))
    assert problem.message == "expected a whole number, found text"


# --- the two passes agree ------------------------------------------------------------------------------------------

field_values: dict[str, st.SearchStrategy[Any]] = {
    "title": st.text(max_size=2),
    "count": st.integers(),
    "seat": st.sampled_from(["gm", "player", "palyer"]),
    "size": st.sampled_from([1, 2, 3, "huge"]),
    "rank": st.integers(-1, 9),
    "name": st.sampled_from(["a", "ab", "AB", "abcdef"]),
    "with": st.dictionaries(odd_text, scalars, max_size=2),
    "by_seat": st.dictionaries(st.sampled_from(["gm", "player", "x"]), st.integers(), max_size=2),
    "tags": st.lists(
        st.fixed_dictionaries(
            {}, optional={"text": st.sampled_from(["a", "nobody", "4dx"]), "uses": st.integers(0, 5)}
        ),
        max_size=2,
    ),
    "pair": st.lists(st.integers() | st.text(max_size=1), max_size=3),
    "many": st.lists(st.integers(), max_size=4),
    "names": st.lists(st.text(max_size=1) | st.integers(), max_size=2),
    "vs": st.lists(scalars, max_size=2) | st.dictionaries(odd_text, scalars, max_size=2) | scalars,
    "alone": st.fixed_dictionaries({}, optional={"kind": st.sampled_from(["alone", "x", 1]), "size": scalars}),
    "anything": documents,
    "typo": scalars,
}


@pytest.mark.slow
@given(data=st.fixed_dictionaries({}, optional={name: value | scalars for name, value in field_values.items()}))
@settings(deadline=None, max_examples=examples(120))
def test_the_walk_finds_faults_exactly_where_msgspec_does(data: dict[str, Any]) -> None:
    for one in ({"title": "a", name: value} for name, value in data.items()):
        try:
            msgspec.convert(one, Everything, str_keys=True)
            accepted = True
        except (msgspec.ValidationError, NotationError):
            accepted = False
        walked = list(second_pass._faults(msgspec.inspect.type_info(Everything), one, ()))
        assert (not walked) == accepted, walked
        assert (not tomlfiles.diagnose(one, Everything)) == accepted
    tomlfiles.diagnose(data, Everything)


# --- text that is no TOML ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "start", "lines"),
    [
        ("a = 1\nb = mara\n", "f.toml:2:5: Invalid value", ["  b = mara", "      ^"]),
        ("a = 1\r\nb = mara\r\n", "f.toml:2:5: Invalid value", ["  b = mara", "      ^"]),
        ("a = 1 b = 2", "f.toml:1:7: Expected newline", ["  a = 1 b = 2", "        ^"]),
        ("\n[a]\n[a]\n", "f.toml:3:3: Cannot declare", ["  [a]", "    ^"]),
        ("k = 1\na = [1,\n2\n", "f.toml:3:2: ", ["  2", "   ^"]),
        ("k = 1\nb.a = '''x\n\n\n", "f.toml:2:11: ", ["  b.a = '''x", "            ^"]),
        ("\tx = \x1b[31m", "f.toml:1:6: Invalid value", ["   x =  [31m", "       ^"]),
        ("x" * 500 + " y = 1", "f.toml:1:502: ", ["  " + "x" * 49 + " y = 1", "  " + " " * 50 + "^"]),
        ("n = " + "7" * 5000, "f.toml:1:5: a number of more than 4300 digits", None),
        ("n = '\ud800'", "f.toml:1:6: a lone surrogate", None),
    ],
)
def test_a_syntax_fault_is_shown_with_a_caret(text: str, start: str, lines: list[str] | None) -> None:
    with pytest.raises(FileError) as caught:
        parse(Source("f.toml", text))
    assert caught.value.message.startswith(start)
    assert lines is None or caught.value.message.split("\n")[1:3] == lines
    _, line, column = start.split(":")[:3]
    assert (caught.value.details["line"], caught.value.details["column"]) == (int(line), int(column))


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_a_value_without_end_names_the_key_it_began_with(quotes: str) -> None:
    with pytest.raises(FileError, match=r"the last key is `b\.a` in line 2"):
        parse(Source("f.toml", f"k = 1\nb.a = {quotes}x{quotes[0]} = 1\nc = 1\n"))


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a = " + "[" * 150 + "]" * 150,
        "a = " + "{ a = " * 1000 + "1" + " }" * 1000,
        "a." * 1_000_000 + "a = 1",
        "[" + "a." * 1_000_000 + "a]",
        "x = { " + "'a'." * 200_000 + "a = 1 }",
        "a = [{ " + "b." * 90 + "c = [{ " + "d." * 90 + "e = 1 }]}]",
        "a." * 2_000_000,
    ],
)
def test_what_nests_without_measure_is_refused_at_once(text: str) -> None:
    # Work that grows with the square of a million would not end before the test run is given up.
    with pytest.raises(FileError, match="are nested too deep"):
        parse(Source("f.toml", text))


def test_dots_in_texts_and_lists_are_no_nesting() -> None:
    text = "a = '" + "." * 5000 + "'\nb = [" + "1.5," * 500 + "]\n# " + "." * 500
    assert parse(Source("f.toml", text))["b"] == [1.5] * 500


pieces = st.lists(
    st.sampled_from(
        [
            *"ab1.=[]{},\"'#\\\n\r\t -_+:eTZ\x00\ufeffü\ud800",
            "[[",
            "]]",
            '"""',
            "'''",
            "true",
            "inf",
            "\\u00",
            "1979-05-27",
            "07:32:00",
            " = ",
            "remove",
            "title",
            "0x",
            "a = 1\n",
            "[a]\n",
        ]
    ),
    max_size=25,
).map("".join)


@pytest.mark.slow
@given(text=pieces | st.text(max_size=30))
@settings(deadline=None, max_examples=examples(500))
@example("a = 2020-13-01")
@example("a = 2020-01-01T00:00:00+25:00")
@example("a = 1e999")
def test_any_text_is_read_or_refused(text: str) -> None:
    source = Source("f.toml", text)
    assert (locate(text, ("a", 0, "b")) is None) == (not text)
    data = attempt(lambda: parse(source))
    if isinstance(data, FileError):
        assert data.message.startswith("f.toml:")
        return
    paths = set(leaf_paths(data, with_tables=True))
    assert set(paths) <= set(places._spots(text))
    made = attempt(lambda: read([source], Everything))
    assert isinstance(made, Everything) or made.details["problems"]


def attempt(call: Callable[[], Any]) -> Any:
    """Return what a call gives or the error for the user that it raises; any other exception passes."""
    try:
        return call()
    except FileError as error:
        return error


# --- files ---------------------------------------------------------------------------------------------------------


def refused(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        read_source(path)
    return caught.value.message


def test_a_file_is_read_with_its_path_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbfa = '\xc3\xa4'\r\n")
    monkeypatch.chdir(tmp_path)
    source = read_source(Path("a.toml"))
    assert source == Source("a.toml", "a = 'ä'\r\n")
    assert parse(source) == {"a": "ä"}


def test_standard_input_is_read_by_its_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a = 1")))
    assert read_source(Path("-")) == Source("-", "a = 1")
    monkeypatch.setattr(sys, "stdin", None)
    assert refused(Path("-")) == "-: cannot be read: there is no standard input"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "guards.toml").touch()
    assert refused(tmp_path / "gaurds.toml").endswith(f"no such file; did you mean `{tmp_path / 'guards.toml'}`?")
    assert refused(tmp_path / "zzzzzz").endswith("no such file")
    assert refused(tmp_path / "mill.toml").endswith("no such file")  # `.toml` makes no two names alike
    assert refused(tmp_path / "guards.tml").endswith("guards.toml`?")
    assert f"there is no folder {tmp_path / 'none'}" in refused(tmp_path / "none" / "a.toml")


def test_what_is_no_readable_file(tmp_path: Path) -> None:
    assert "it is a folder" in refused(tmp_path)
    (tmp_path / "a.toml").touch()
    assert "cannot be read" in refused(tmp_path / "a.toml" / "b.toml")
    assert "cannot be read" in refused(tmp_path / ("x" * 5000))
    assert "cannot be read" in refused(Path("a\0b"))


def test_a_file_that_is_not_utf_8_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes("a = 1\nb = 'ä'\n".encode("latin-1"))
    assert refused(tmp_path / "a.toml").startswith(
        f"{tmp_path / 'a.toml'}:2: not UTF-8 text (byte 11 of the file is 0xe4)"
    )


def test_a_file_beyond_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"#" * tomlfiles.MAX_BYTES)
    assert len(read_source(tmp_path / "a.toml").text) == tomlfiles.MAX_BYTES
    (tmp_path / "a.toml").write_bytes(b"#" * (tomlfiles.MAX_BYTES + 1))
    assert "larger than 4 MiB" in refused(tmp_path / "a.toml")


@pytest.mark.skipif(os.name != "posix", reason="an endless device")
def test_a_device_without_end_is_left_in_time() -> None:
    assert "larger than 4 MiB" in refused(Path("/dev/zero"))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.toml").touch(mode=0)
    assert "may not be read" in refused(tmp_path / "a.toml")


def test_a_refusal_by_the_system_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", deny)
    assert refused(tmp_path / "a.toml").endswith("permission denied; check the permissions of the file")


# --- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "words", "meant"),
    [
        ("overcom", ["attack", "overcome"], "overcome"),
        ("OVERCOME", ["attack", "overcome"], "overcome"),
        ("create_advantage", ["create-advantage", "attack"], "create-advantage"),
        ("xyz", ["attack", "overcome"], None),
        ("", ["attack"], None),
        ("attack", [], None),
        ("Will", ["will", "Will"], "will"),
        ("attack", ["attack"], None),
        ("WILL", ["will", "Will"], "will"),
        ("wiht", ["width", "with"], "with"),
        ("cr", ["attack", "create-advantage"], "create-advantage"),
        ("a", ["attack", "aid"], None),
        ("uses", ["steps"], None),
        ("a" * 100_000, ["a" * 99_999], None),
    ],
)
def test_nearest(word: str, words: list[str], meant: str | None) -> None:
    assert nearest(word, iter(words)) == meant


# --- the way of every start ----------------------------------------------------------------------------------------


def test_a_file_in_order_never_loads_the_second_pass() -> None:
    code = """
import sys
from rpgres.toml.reading import Source, convert, overlay, parse
assert "tomli" not in sys.modules
made = overlay(parse(Source("a.toml", "a.b = 1")), parse(Source("b.toml", "a.c = 2")))
assert convert(made, dict[str, dict[str, int]]) == {"a": {"b": 1, "c": 2}}
print(*sorted({"rpgres.toml.faults", "rpgres.toml.places", "difflib"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_number_with_a_description_keeps_its_bounds() -> None:
    bounded = msgspec.defstruct(
        "Bounded", [("luck", Annotated[int, msgspec.Meta(ge=0, description="luck")] | None, None)]
    )
    (found,) = tomlfiles.diagnose({"luck": -2}, bounded, source=Source("f.toml", "luck = -2\n"))
    assert (found.line, found.key, found.message) == (1, "luck", "expected a whole number that is at least 0, found -2")


def test_what_people_are_called_is_written_below_a_plain_key() -> None:
    with pytest.raises(FileError, match=r'a key below: \[characters.zoe\], then name = "Zoë"'):
        parse(Source("a.toml", "[characters.zoë]\n"))


def test_an_entry_of_a_list_is_told_by_its_id() -> None:
    inner = "[[steps.steps]]\nid = 'jump'\na = 3\n[[steps.steps]]\na = 4"
    text = f"[[steps]]\nid = 'climb'\na = 1\n[[steps]]\na = 2\n{inner}"
    places = {
        ("steps", 0, "a"): (3, "steps.climb.a"),
        ("steps", 1, "a"): (5, "steps[1].a"),
        ("steps", 1, "steps", 0, "a"): (8, "steps.jump.a"),
        ("steps", 1, "steps", 1, "b"): (9, "steps[1].steps[1].b"),
    }
    found = located([Fault("wrong-value", path, "m") for path in places], Source("s.toml", text))
    assert [(one.line, one.key) for one in found] == [*places.values()]


def test_the_second_pass_knows_every_type_that_files_are_read_as() -> None:
    from rpgres.conformance.vectors import Case
    from rpgres.formats.settings import Settings
    from rpgres.model.cards import DeckFile
    from rpgres.rulesets.orders import OrdersFile
    from rpgres.rulesets.rows import OutcomeTable
    from rpgres.rulesets.schema import RulesetFile
    from rpgres.scenes.records import SceneFile

    read_as = [Case, Settings, DeckFile, OrdersFile, OutcomeTable, RulesetFile, SceneFile]
    waiting, seen = [*map(msgspec.inspect.type_info, read_as)], set[Any]()
    while waiting:
        node: Any = second_pass._bare(waiting.pop())
        assert type(node) in {*second_pass._CHECKS, msgspec.inspect.NoneType}, node
        unchecked = {"gt", "lt", "multiple_of", "max_length"} | (
            {"min_length"} if type(node) is not msgspec.inspect.StrType else set()
        )
        assert not [name for name in unchecked if getattr(node, name, None) is not None], node
        if isinstance(node, msgspec.inspect.StructType):
            inner = [field.type for field in node.fields] if node.cls not in seen else []
            assert not node.array_like
            seen.add(node.cls)
        elif isinstance(node, msgspec.inspect.UnionType):
            inner = [*node.types]
            assert sum(isinstance(one, msgspec.inspect.StructType) for one in inner) < 2, node
        elif isinstance(node, msgspec.inspect.DictType):
            inner = [node.key_type, node.value_type]
            assert isinstance(second_pass._bare(node.key_type), msgspec.inspect.StrType | msgspec.inspect.LiteralType)
        else:
            inner = [*getattr(node, "item_types", ()), *filter(None, [getattr(node, "item_type", None)])]
        waiting += inner
