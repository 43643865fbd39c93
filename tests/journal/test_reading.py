"""What an ordinary command reads of a journal: its end alone; and what it trusts of the rest."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.dice import dice
from rpgres.dice.seeds import Streams
from rpgres.errors import UsageError
from rpgres.journal import checking, store
from rpgres.journal import commands as sitting
from rpgres.journal.chain import written
from rpgres.journal.changes import applied, difference
from rpgres.journal.commands import Place
from rpgres.journal.forms import UndoEntry
from rpgres.journal.history import History
from rpgres.journal.records import RUNNING, RUNS, SAID, Entry
from rpgres.journal.verifying import verify
from rpgres.journal.views import log_seen, table_record
from tests.support.command_line import rpgres
from tests.support.effort import few
from tests.support.forging import rewrite
from tests.support.growth import calls_of

EDGE = {"skill": "2", "vs": ["1"]}


def begun(path: Path, **more: Any) -> Place:
    place = Place(path)
    sitting.begin_table(place, ruleset="fate", sheets=["mara", "edda"], **{"seed": "7", **more})
    return place


def act(place: Place, **more: Any) -> sitting.Done:
    return sitting.act(place, "overcome", EDGE, actor="mara", **{"auto": True, **more})


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with 120 entries, copied by whoever changes it."""
    place = begun(tmp_path_factory.mktemp("long") / "t.db")
    for number in range(119):
        sitting.write_note(place, f"the {number}th crow") if number % 4 else act(place)
    return place.path


@pytest.fixture
def copy(long: Path, tmp_path: Path) -> Place:
    return Place(Path(shutil.copy(long, tmp_path / "t.db")))


def change(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


# ---------------------------------------------------------------------------------------------------------------------
# How much is read and kept


def rows_read(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> int:
    """Return how many entries are read from the file."""
    read, real = [], store.row_of
    with monkeypatch.context() as patched:
        patched.setattr(store, "row_of", lambda *args: read.append(args[0]) or real(*args))  # type: ignore[func-returns-value]
        work()
    return len(read)


@pytest.mark.slow
@pytest.mark.parametrize(
    "deed",
    [
        pytest.param(lambda place: table_record(store.read(place.path), "gm"), id="show"),
        pytest.param(lambda place: log_seen(store.read(place.path), "gm", last=5), id="log --last 5"),
        pytest.param(lambda place: sitting.write_note(place, "x"), id="note"),
        pytest.param(act, id="act"),
        pytest.param(sitting.undo, id="undo"),
        pytest.param(lambda place: sitting.let_pass(place, seat="edda"), id="pass"),
    ],
)
def test_an_ordinary_command_reads_as_much_of_a_long_journal_as_of_a_short_one(
    copy: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: Callable[[Place], object]
) -> None:
    short = begun(tmp_path / "short.db")
    for number in range(12):
        sitting.write_note(short, "x") if number % 4 else act(short)
    act(copy)  # from now on it is known here
    few, many = (rows_read(monkeypatch, lambda place=place: deed(place)) for place in (short, copy))  # type: ignore[misc]
    assert many <= few + 12  # when a whole table is due, the latest entries are read for it
    assert many < 30


@pytest.mark.slow
def test_what_is_kept_of_an_entry_is_what_changed(tmp_path: Path) -> None:
    place = Place(tmp_path / "t.db")
    sitting.begin_table(place, ruleset="saga", sheets=["brannagh", "ilse", "toll-warden"], seed="7")
    sizes = []
    for _ in range(3):
        for _ in range(40):
            sitting.act(place, "act", {"ability": "strength", "vs": "average"}, actor="brannagh", auto=True)
        sizes.append(place.path.stat().st_size)
    assert (sizes[2] - sizes[0]) / 80 < 1000
    states = [len(row.state()) for row in store.read_rows(place.path)]
    assert min(states) > 1500  # of which nothing but the difference is kept


@pytest.mark.slow
def test_what_a_long_undo_has_shown_is_read_only_where_results_are_said(
    copy: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting.undo(copy, 1)
    undo = store.read(copy.path).head
    assert len(undo.secret.known) == 30  # a step and label for every action that was taken back
    act(copy)
    sizes = {row.number: len(row.secret) for row in store.read_rows(copy.path)}
    assert sizes[undo.number + 1] < sizes[1] + 300  # it rolls the same; it names two more entries, and passes
    assert rows_read(monkeypatch, lambda: act(copy)) < 12
    sitting.undo(copy)
    with pytest.raises(UsageError, match="this was already rolled or drawn from the seed in entry"):
        act(copy, given={"roll": ["++++"]})
    for _ in range(5):
        act(copy)
        sitting.undo(copy)
    head = store.read(copy.path).head
    assert [mark.number for mark in head.secret.stands.known] == [undo.number]
    assert len(head.secret.known) == 1
    assert verify(copy.path).exit == 20


@pytest.mark.slow
def test_the_check_of_many_undos_takes_time_that_grows_with_the_journal(tmp_path: Path) -> None:
    calls = []
    for count in (15, 60):
        place = begun(tmp_path / f"{count}.db")
        for _ in range(count):
            act(place)
        for _ in range(count):
            sitting.undo(place)
        calls.append(calls_of(lambda path=place.path: checking.chain_of(path)))  # type: ignore[misc]
    assert calls[1] < 5 * calls[0]


@pytest.mark.slow
def test_commands_of_a_long_table_say_what_a_whole_reading_says(copy: Place) -> None:
    history = store.read(copy.path)
    assert [view.number for view in log_seen(history, None, last=5)] == [115, 116, 117, 118, 119]
    whole = log_seen(store.read(copy.path), None)
    assert log_seen(history, None, last=5) == whole[-5:]
    assert log_seen(history, None, last=500) == whole
    assert [entry.number for entry in history.entries] == list(range(120))
    assert history.entries[3:6] == tuple(history.entries)[3:6]
    assert history.entries[-120].kind == "new"
    with pytest.raises(IndexError):
        history.entries[120]


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text("abc", max_size=1), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.slow
@given(plain, plain)
def test_a_difference_makes_the_one_of_the_other(before: Any, after: Any) -> None:
    first = written(before)
    made = applied(before, difference(before, after))
    assert made == after
    assert written(before) == first


def test_a_difference_that_loses_the_order_of_keys_is_not_kept(tmp_path: Path) -> None:
    """Characters that left and came back stand last: the table is read as it was, order and all."""
    place = begun(tmp_path / "t.db")
    sitting.set_value(place, "characters.mara", "absent")
    sitting.join(place, "mara")
    assert list(store.read(place.path).state.characters) == ["edda", "mara"]
    assert verify(place.path).exit == 20


# ---------------------------------------------------------------------------------------------------------------------
# What stands


def naive(entries: tuple[Entry, ...]) -> list[Entry]:
    """Return what stands, worked out from everything."""
    found: list[Entry] = []
    for entry in entries:
        before = entry.public.before or 0
        if entry.kind != "undo":
            found.append(entry)
        elif entries[before].kind in SAID:
            found = [one for one in found if one.number != before]
        else:
            found = [one for one in found if one.number < before or one.kind in SAID]
    return found


def naive_passes(entries: tuple[Entry, ...], standing: list[Entry]) -> list[int]:
    def said(entry: Entry) -> tuple[str, str, str]:
        return entry.secret.by, entry.secret.label, entry.secret.until

    def ends(until: str, later: Entry) -> bool:
        if until == "always":
            return False
        if until == "action":
            return later.kind in RUNNING and later.secret.waits is None
        return later.kind in ("begin", "end") and later.public.period == until

    last = {said(entry): entry.number for entry in entries if entry.kind == "pass"}  # said again, it is said anew
    return [
        entry.number
        for place, entry in enumerate(standing)
        if entry.number == last.get(said(entry))
        and not any(ends(entry.secret.until, one) for one in standing[place + 1 :])
    ]


def check_stands(history: History) -> None:
    standing = naive(tuple(history.entries))
    running = [entry for entry in standing if entry.kind in RUNNING]
    pending = running[-1] if running and running[-1].secret.waits is not None else None
    assert history.standing == standing
    assert history.pending == pending
    assert history.step() == sum(entry.kind in RUNS for entry in standing)
    assert [one.number for one in history.stands.passes] == naive_passes(tuple(history.entries), standing)
    views = log_seen(history, None)
    assert [view.number for view in views if view.undone or isinstance(view, UndoEntry)] == [
        entry.number for entry in history.entries if entry not in standing
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(range(8), 3))
def test_what_stands_is_what_the_whole_history_says(tmp_path: Path, seed: int) -> None:
    place, chance = begun(tmp_path / "t.db"), random.Random(seed)
    deeds: list[Callable[[], object]] = [
        lambda: act(place),
        lambda: act(place, auto=False),
        lambda: sitting.answer(place, auto=True),
        lambda: sitting.turn(place, chance.choice(("begin", "end"))),
        lambda: sitting.let_pass(
            place, seat=chance.choice(("mara", "gm")), until=chance.choice(("action", "scene", "always"))
        ),
        lambda: sitting.write_note(place, "x", seat=chance.choice((None, "mara"))),
        lambda: sitting.undo(place, chance.choice((None, chance.randrange(1, 40)))),
    ]
    for _ in range(40):
        try:
            chance.choice(deeds)()
        except UsageError:
            continue
        check_stands(store.read(place.path))
    assert verify(place.path).exit == 20
    assert len(store.read(place.path).entries) > 15


@pytest.mark.slow
def test_a_pass_that_is_said_again_and_again_is_kept_once(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    for _ in range(30):
        sitting.let_pass(place, seat="mara", until="always")
    assert [one.number for one in store.read(place.path).stands.passes] == [30]
    sitting.undo(place, 30)
    assert not store.read(place.path).has_passed("mara", "invoke")
    assert verify(place.path).exit == 20


# ---------------------------------------------------------------------------------------------------------------------
# What is trusted


@pytest.mark.slow
@pytest.mark.parametrize("column", ["body", "change", "salt", "hash", "base"])
def test_a_change_to_an_older_entry_is_found_by_verify_and_where_it_is_read(copy: Place, column: str) -> None:
    act(copy)
    other = "body" if column == "change" else column  # the same notes change the same: nothing
    change(
        copy.path, f"UPDATE entries SET {column} = (SELECT {other} FROM entries WHERE number = 60) WHERE number = 40"
    )
    where = ("--table", str(copy.path))
    verdict = verify(copy.path)
    assert verdict.exit == 21 or column == "base"
    assert rpgres("table", "log", "--last", "5", *where).code == 0
    if column not in ("change", "base"):
        assert "entry 40" in rpgres("table", "log", *where).err
        assert "entry 40" in rpgres("table", "undo", "39", *where).err
        assert rpgres("table", "view", "--as", "mara", "--out", "-", *where).code == 1


@pytest.mark.slow
def test_an_entry_that_was_exchanged_with_its_hash_does_not_lead_to_the_end(copy: Place, tmp_path: Path) -> None:
    """Whoever rewrites old entries has to rewrite all that follow: what is read leads up to the last one."""
    other = Place(Path(shutil.copy(copy.path, tmp_path / "other.db")))
    rewrite(
        other.path,
        lambda number, public, secret, state: secret.update(text="forged") or state if number == 41 else state,
    )
    with sqlite3.connect(copy.path) as connection:
        connection.execute("ATTACH ? AS other", (str(other.path),))
        connection.execute("INSERT OR REPLACE INTO bases SELECT * FROM other.bases WHERE number BETWEEN 41 AND 50")
        connection.execute("INSERT OR REPLACE INTO entries SELECT * FROM other.entries WHERE number BETWEEN 41 AND 50")
    connection.close()
    assert "entry 51" in rpgres("table", "log", "--table", str(copy.path)).err
    assert "entry 51" in verify(copy.path).problems[0]


@pytest.mark.parametrize("number", [119, 120])
def test_a_change_to_what_is_read_is_found_at_once(copy: Place, number: int) -> None:
    act(copy, auto=False, given={"roll": ["----"]})
    pending = store.read(copy.path).pending
    assert pending is not None
    assert pending.number == 120
    change(copy.path, f"UPDATE entries SET body = (SELECT body FROM entries WHERE number = 7) WHERE number = {number}")
    assert rpgres("table", "log", "--last", "2", "--table", str(copy.path)).code == 1
    assert (rpgres("table", "show", "--table", str(copy.path)).code == 1) is (number == 120)


def test_what_counts_cannot_be_forged_in_an_entry(tmp_path: Path) -> None:
    """That a seat let windows pass, or how many actions there were, follows from the entries before."""
    forged: list[dict[str, Any]] = [{"steps": 5}, {"passes": [[1, "mara", "", "always"]]}, {"seals": [[1, "x"]]}, {}]
    for place, stands in enumerate(forged):
        table = begun(tmp_path / f"{place}.db")
        act(table)
        act(table)

        def forge(number: int, public: object, secret: dict[str, Any], state: Any, stands: Any = stands) -> Any:
            if number == 2:
                secret["stands"] = {**({"new": secret["stands"]["new"]} if stands else {}), **stands}
            return state

        rewrite(table.path, forge)
        verdict = verify(table.path)
        assert verdict.exit == 21
        assert "entry 2" in verdict.problems[0]


# ---------------------------------------------------------------------------------------------------------------------
# The seed and the salt


@pytest.mark.slow
def test_the_same_seed_gives_other_dice_at_another_table(tmp_path: Path) -> None:
    """So nobody who sees some of the dice can find the seed by trying."""
    places = [begun(tmp_path / f"{number}.db", seed="48213") for number in range(12)]
    rolls = [str(act(place).entry.secret.result) for place in places]
    assert len({roll[roll.index("faces") :][:20] for roll in rolls}) > 4


def test_a_reader_works_the_dice_out_from_what_is_revealed(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db", seed="48213")
    rolled = [act(place).entry.secret.result for _ in range(3)]
    sitting.reveal(place)
    told = store.read(place.path).head.public
    streams = Streams(told.seed or "", salt=bytes.fromhex(told.salt))
    for step, result in enumerate(rolled):
        assert result is not None
        first = next(event for event in result["events"] if event["event"] == "roll")
        assert dice("4dF").throw(streams.below(step, "roll", 0)).text == first["faces"]
    assert verify(place.path).exit == 0
    shown = rpgres("table", "log", "--table", str(place.path)).out
    assert told.salt in shown
    assert "48213" in shown


# ---------------------------------------------------------------------------------------------------------------------
# Files


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
def test_what_holds_secrets_is_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    modes: dict[str, int] = {}
    real = store._add

    def watching(*args: Any, **more: Any) -> Any:
        added = real(*args, **more)
        modes.update({path.name: path.stat().st_mode for path in tmp_path.glob(".rpgres/*")})
        return added

    monkeypatch.setattr(store, "_add", watching)
    before = os.umask(0)
    try:
        for line in (
            ("new", "--ruleset", "nodice", "--sheet", "orsa", "--sheet", "bram"),
            ("act", "declare", "--as", "bram", "--choose", "declare=attack/maul/head/str=4"),
            ("view", "--as", "orsa", "--out", "orsa.json"),
            ("answer", "--view", "orsa.json", "--choose", "declare=nothing", "--out", "answer.json"),
            ("seal", "--as", "orsa", "--choose", "declare=nothing", "--out", "sealed.json"),
            ("export", "--out", "out"),
        ):
            done = rpgres("table", *line)
            assert done.code in (0, 3), done
    finally:
        os.umask(before)
    assert any(name.endswith("-journal") for name in modes)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 7
    modes |= {path.name: path.stat().st_mode for path in files}
    assert {name: stat.S_IMODE(mode) for name, mode in modes.items() if stat.S_IMODE(mode) != 0o600} == {}


NAMES = ["../../../pwned", "/etc/pwned", "con", "..", "x" * 300, "a/b", "A/B", "tab\there", "", "nul.old"]


def test_nothing_is_exported_outside_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "deep" / "er" / "here"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    place = begun(inside / "t.db")

    def forge(number: int, public: object, secret: dict[str, Any], state: Any) -> Any:
        for name in NAMES:
            state["characters"][name] = {**state["characters"]["mara"], "name": name}
        return state

    rewrite(place.path, forge)
    done = rpgres("table", "export", "--out", "out", "--table", str(place.path))
    assert done.code == 0, done
    found = [path.relative_to(inside) for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.parts[0] for path in found} <= {"out", "t.db"}
    sheets = [path.name for path in found if path.suffix == ".toml"]
    assert len(sheets) == len({name.casefold() for name in sheets}) == len(NAMES) + 2
    assert {"mara.toml", "edda.toml", "pwned.toml", "_con.toml", "_nul.old.toml", "unnamed.toml"} <= set(sheets)


@pytest.mark.skipif(sys.platform == "win32", reason="links need permissions there")
def test_a_link_in_the_folder_leads_nowhere_else(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sheets").symlink_to(tmp_path / "elsewhere")
    done = rpgres("table", "export", "--out", str(tmp_path / "out"), "--force", "--table", str(place.path))
    assert done.code == 1
    assert "this path is outside" in done.err
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["sheets"]


def test_a_name_that_no_file_can_have_is_told(tmp_path: Path) -> None:
    for line in (("show",), ("new", "--ruleset", "fate")):
        done = rpgres("table", *line, "--table", str(tmp_path / ("x" * 300)))
        assert done.code == 1
        assert "internal error" not in done.err
