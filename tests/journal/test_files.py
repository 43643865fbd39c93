"""The file of a lasting table: tampered with, damaged, full, shared, and left by a process that was killed anywhere."""

from __future__ import annotations

import ctypes
import itertools
import os
import platform
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres.engine.dealers import Given
from rpgres.journal import checking, files, store
from rpgres.journal import commands as sitting
from rpgres.journal.commands import Place, writing
from rpgres.journal.connections import Connection
from rpgres.journal.history import History
from rpgres.journal.records import Secret
from rpgres.journal.rows import LONGEST
from rpgres.journal.verifying import verify
from tests.support.checkout import ROOT
from tests.support.command_line import rpgres
from tests.support.forging import rewrite
from tests.support.journals import act, begun


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with an entry of most kinds, whose seed was revealed; copied by whoever changes it."""
    place = begun(tmp_path_factory.mktemp("played") / "t.db")
    act(place)
    sitting.turn(place, "begin")
    sitting.act(place, "overcome", {"skill": "2", "vs": ["1"]}, actor="mara")
    sitting.answer(place, seat="mara", choose={"invoke": ["no"]}) if store.read(place.path).pending else None
    while store.read(place.path).pending:
        sitting.answer(place, auto=True)
    sitting.set_value(place, "things.doom", "2")
    sitting.undo(place)
    sitting.write_note(place, "x")
    sitting.reveal(place)
    assert verify(place.path).exit == 0
    return place.path


@pytest.fixture
def copy(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(played, tmp_path / "t.db"))


def is_same(found: History, before: History) -> bool:
    """Tell whether two files say the same."""
    return (found.entries, found.state) == (before.entries, before.state)


def change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


# ---------------------------------------------------------------------------------------------------------------------
# Tampered


ENTRIES, BASES = ("body", "change", "salt", "hash"), ("state", "words")
COLUMNS = [*(("entries", column) for column in (*ENTRIES, "base")), *(("bases", column) for column in BASES)]


@pytest.mark.slow
@pytest.mark.parametrize(("table", "column"), [one for one in COLUMNS if one[1] != "base"])
def test_a_changed_byte_anywhere_is_found(played: Path, tmp_path: Path, table: str, column: str) -> None:
    connection = sqlite3.connect(played)
    rows = connection.execute(f"SELECT number, {column} FROM {table} ORDER BY number").fetchall()
    connection.close()
    assert len(rows) >= (8 if table == "entries" else 2)
    for number, value in rows:
        for place in {0, len(value) // 2, len(value) - 1}:
            path = Path(shutil.copy(played, tmp_path / "changed.db"))
            other = bytearray(value)
            other[place] ^= 1
            connection = sqlite3.connect(path)
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE number = ?", (bytes(other), number))
            connection.commit()
            connection.close()
            verdict = verify(path)
            assert (verdict.exit, verdict.verdict) == (21, "tampered"), (number, place)
            assert f"entry {number}" in " ".join(verdict.problems)


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (["DELETE FROM entries WHERE number = 3"], "entry 3 is missing"),
        (["DELETE FROM entries WHERE number >= (SELECT max(number) FROM bases)"], "the table after it is there"),
        (["DELETE FROM bases WHERE number = 0"], "entry 0: its compression dictionary is missing"),
        (
            [
                "UPDATE entries SET number = -1 WHERE number = 3",
                "UPDATE entries SET number = 3 WHERE number = 4",
                "UPDATE entries SET number = 4 WHERE number = -1",
            ],
            "entry 3",
        ),
        (
            ["UPDATE entries SET change = (SELECT change FROM entries WHERE number = 2) WHERE number = 6"],
            "entry 6: the state",
        ),
        (["DELETE FROM entries", "DELETE FROM bases"], "there is no entry"),
        (["UPDATE entries SET body = 'text'"], "entry 0"),
    ],
)
def test_entries_taken_out_exchanged_or_replaced_are_found(copy: Path, statements: list[str], told: str) -> None:
    change(copy, *statements)
    verdict = verify(copy)
    assert verdict.exit == 21
    assert told in "; ".join(verdict.problems)


@pytest.mark.parametrize(
    "added",
    [
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE number = new.number; END",
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN UPDATE entries SET salt = zeroblob(32); END",
        "CREATE VIEW v AS SELECT * FROM entries",
        "CREATE TABLE t (number INTEGER UNIQUE ON CONFLICT IGNORE)",
        "CREATE VIRTUAL TABLE t USING rtree(number, first, last)",
    ],
)
def test_a_database_that_changes_what_is_written_is_refused(tmp_path: Path, added: str) -> None:
    """Every hash is right; yet the next entry would be gone after it was told as finished."""
    place = begun(tmp_path / "t.db")
    change(place.path, added)
    for attempt in (lambda: verify(place.path), lambda: act(place), lambda: sitting.write_note(place, "x")):
        with pytest.raises(store.TableError, match="that rpgres did not create"):
            attempt()


def test_what_was_cut_off_the_end_is_missed_by_whoever_noted_a_hash(copy: Path) -> None:
    head = verify(copy).head
    early = store.read(copy).entries[2].hash
    change(copy, "DELETE FROM entries WHERE number > 5", "DELETE FROM bases WHERE number > 5")
    assert verify(copy).exit == 20  # the seed is not revealed any more
    verdict = verify(copy, head=head)
    assert (verdict.exit, verdict.head_found) == (21, False)
    assert "removed or rewritten" in "; ".join(verdict.problems)
    assert verdict.checked
    found = verify(copy, head=early[:12])
    assert (found.exit, found.head_found, found.problems) == (20, True, [])
    assert verify(copy).head_found is None


def test_a_forged_history_does_not_replay(copy: Path) -> None:
    """Whoever has the file can write a chain that fits in itself; what the dice were, the seed says."""
    forged = copy.with_name("forged.db")
    history = store.read(copy)
    seed = history.new.secret.seed
    place = Place(forged)
    sitting.begin_table(place, ruleset="fate", sheets=["mara"], seed=seed)
    sitting.act(place, "overcome", {"skill": "2", "vs": ["1"]}, auto=True)
    entry = store.read(forged).entries[1]
    rows = list(store.read_rows(forged))
    result = dict(entry.secret.result or {})
    assert result["events"][0]["event"] == "roll"
    change(forged, "DELETE FROM entries WHERE number = 1", "DELETE FROM bases WHERE number = 1")
    from msgspec import structs

    from rpgres.journal.records import Draft

    fake = {**result, "total": 99, "margin": 98}
    draft = Draft(entry.public, structs.replace(entry.secret, result=fake), store.read(forged).state)
    store.write(forged, lambda _: [draft], salt=sitting.fresh_salt)
    assert len(rows) == len(list(store.read_rows(forged)))
    sitting.reveal(place)
    verdict = verify(forged)
    assert verdict.exit == 21
    assert verdict.problems[0].startswith("entry 1: replaying it gives another result")


def test_a_wrong_seed_does_not_fit_its_commitment(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    from rpgres.journal.records import Draft, Public, Secret

    history = store.read(place.path)
    public = Public(kind="reveal", at="x", rules=history.head.public.rules, seed="8", salt=history.new.secret.salt)
    store.write(place.path, lambda now: [Draft(public, Secret(), now.state)], salt=sitting.fresh_salt)
    verdict = verify(place.path)
    assert verdict.exit == 21
    assert "not the one that was committed to" in verdict.problems[0]


def test_rules_that_changed_since_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = begun(tmp_path / "t.db")
    act(place)
    sitting.reveal(place)
    assert verify(place.path).exit == 0
    house = tmp_path / "rulesets" / "fate" / "outcomes"
    house.mkdir(parents=True)
    (house / "overcome.toml").write_text('[style]\ntext = "Ours."\n', "utf-8")
    verdict = verify(place.path)
    assert (verdict.exit, verdict.verdict) == (22, "rules changed")
    assert verdict.problems == []
    change(place.path, "UPDATE entries SET change = '{}' WHERE number = 1")
    assert verify(place.path).exit == 21  # what was tampered with is told first


def test_what_the_seed_does_not_say_is_told(tmp_path: Path) -> None:
    """Whoever types what real dice showed can type anything; the log and the verdict tell where that was."""
    place = begun(tmp_path / "t.db")
    act(place)
    sitting.act(place, "overcome", {"skill": "2", "vs": ["1"]}, actor="mara", auto=True)
    sitting.reveal(place)
    assert "(entries: 2)" in verify(place.path).checked[-1]
    log = rpgres("table", "log", "--as", "edda", "--table", str(place.path)).out
    assert log.count("(given, not from the seed: roll)") == 1


def test_a_newer_program_is_not_called_tampering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = begun(tmp_path / "t.db")
    act(place)
    sitting.reveal(place)
    monkeypatch.setattr(writing, "__version__", "99.0")
    verdict = verify(place.path)
    assert (verdict.exit, verdict.problems) == (22, [])


def test_an_action_is_not_resumed_by_other_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = begun(tmp_path / "t.db")
    sitting.act(place, "overcome", {"skill": "2", "vs": ["1"]}, actor="mara")
    (tmp_path / "rulesets" / "fate" / "outcomes").mkdir(parents=True)
    (tmp_path / "rulesets" / "fate" / "outcomes" / "overcome.toml").write_text('[style]\ntext = "Ours."\n', "utf-8")
    done = rpgres("table", "answer", "--choose", "invoke=no", "--table", str(place.path))
    assert done.code == 2
    assert "the rules have changed since this overcome began" in done.err


# ---------------------------------------------------------------------------------------------------------------------
# The rules of a table, wherever it is played from


OURS = '[succeed]\ntext = "Ours."\n'
TO_ACT = ("table", "act", "overcome", "--skill", "3", "--vs", "0", "--given", "roll=-000")


def house_rule(folder: Path) -> None:
    (folder / "fate" / "outcomes").mkdir(parents=True)
    (folder / "fate" / "outcomes" / "overcome.toml").write_text(OURS, "utf-8")


@pytest.mark.slow
def test_house_rules_beside_a_table_hold_wherever_the_command_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, below = tmp_path / "game", tmp_path / "game" / "notes"
    below.mkdir(parents=True)
    house_rule(game / "rulesets")
    monkeypatch.chdir(game)
    assert rpgres("table", "new", "fate", "--sheet", "guard").code == 0
    outside = ("--table", str(game))
    for folder, named in ((game, ()), (below, ()), (tmp_path, outside)):
        monkeypatch.chdir(folder)
        assert "  Ours.\n" in rpgres(*TO_ACT, *named).out
        assert "  Ours.\n" in rpgres("play", *named, stdin="overcome 3 vs 0 --given roll=-000\n").out
        assert "rules changed" not in rpgres("table", "verify", *named).out


def test_a_sheet_that_is_named_twice_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = rpgres("table", "new", "fate", "--sheet", "guard", "--sheet", "guard")
    assert (done.code, done.out) == (2, "")
    assert "the sheet 'guard' is named twice" in done.err


def test_folders_of_rulesets_within_that_of_the_table_are_moved_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house_rule(tmp_path / "game" / "house")
    monkeypatch.chdir(tmp_path / "game")
    assert rpgres("table", "new", "fate", "--sheet", "guard", "--rulesets", "house").code == 0
    monkeypatch.chdir(tmp_path)
    (tmp_path / "game").rename(tmp_path / "moved")
    assert "  Ours.\n" in rpgres(*TO_ACT, "--table", "moved").out


def test_a_table_whose_ruleset_is_gone_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "house" / "lantern"
    own.mkdir(parents=True)
    text = 'standalone = true\ntitle = "L"\nsummary = "S."\nversion = "1"\n[bands.a]\ntitle = "A"\nfrom = 1\n'
    (own / "ruleset.toml").write_text(text + '[actions.go]\nsummary = "Go."\ndice = "1d6"\n', "utf-8")
    (tmp_path / "bo.toml").write_text('ruleset = "lantern"\n', "utf-8")
    made = rpgres("table", "new", "lantern", "--sheet", "bo.toml", "--rulesets", "house")
    assert made.code == 0, made.err
    own.rename(tmp_path / "elsewhere")
    for line in (("act", "go"), ("undo",)):
        told = rpgres("table", *line).err
        assert "played by the ruleset lantern, which is not found: install its plugin, or name the folder" in told


# ---------------------------------------------------------------------------------------------------------------------
# Files that are no tables, or cannot be used


def shown(path: Path) -> str:
    done = rpgres("table", "show", "--table", str(path))
    assert done.code == 1
    assert done.err.count("\n") == 1
    return done.err


def test_files_that_are_no_table(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("a shopping list, and no database at all\n" * 100, "utf-8")
    assert "not a table of rpgres" in shown(text)
    empty = tmp_path / "empty.db"
    empty.touch()
    assert "this file is empty" in shown(empty)
    other = tmp_path / "other.db"
    change(other, "CREATE TABLE songs (title TEXT)")
    assert "an SQLite database, but not a table of rpgres" in shown(other)
    assert "there is no table" in shown(tmp_path / "nothing.db")


def test_an_older_table_is_told(copy: Path) -> None:
    change(copy, f"PRAGMA user_version = {files.OLDEST - 1}")
    before = copy.read_bytes()
    assert "older rpgres" in shown(copy)
    assert rpgres("table", "note", "x", "--table", str(copy)).code == 1
    assert copy.read_bytes() == before


def test_what_is_added_has_the_format_of_this_version(copy: Path) -> None:
    def format_of() -> int:
        connection = sqlite3.connect(copy)
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        connection.close()
        return int(found)

    change(copy, f"PRAGMA user_version = {files.OLDEST}")
    assert rpgres("table", "log", "--table", str(copy)).code == 0
    assert format_of() == files.OLDEST < files.FORMAT
    assert rpgres("table", "undo", "999", "--table", str(copy)).code == 2
    assert format_of() == files.OLDEST  # nothing was added
    assert rpgres("table", "note", "x", "--table", str(copy)).code == 0
    assert format_of() == files.FORMAT


def test_a_newer_table_is_left_alone(copy: Path) -> None:
    change(copy, f"PRAGMA user_version = {files.FORMAT + 1}")
    before = copy.read_bytes()
    assert "newer rpgres" in shown(copy)
    assert rpgres("table", "note", "x", "--table", str(copy)).code == 1
    assert copy.read_bytes() == before


VALUES = [None, 7, 2.5, "", "x", "{}", "[]", "null", b"\xff\xfe", b"{", b'{"kind":"undo","at":""}', b'{"characters":3}']


@pytest.fixture(scope="module")
def loose(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same table in tables that take anything, as other tools make them."""
    path = Path(shutil.copy(played, tmp_path_factory.mktemp("loose") / "t.db"))
    for name in ("entries", "bases"):
        change(path, f"CREATE TABLE other AS SELECT * FROM {name}", f"DROP TABLE {name}")
        change(path, f"ALTER TABLE other RENAME TO {name}")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_whatever_stands_in_a_column_is_told_in_words(
    loose: Path, tmp_path: Path, table: str, column: str, exhaustive: bool
) -> None:
    """A damaged file is no fault of rpgres: every command says what is wrong with it."""
    path = tmp_path / "t.db"
    numbers = (0, 3, 10)
    places = itertools.product(numbers, VALUES) if exhaustive else zip(itertools.cycle(numbers), VALUES, strict=False)
    for number, value in places:
        shutil.copy(loose, path)
        connection = sqlite3.connect(path)
        (at,) = connection.execute(f"SELECT max(number) FROM {table} WHERE number <= ?", (number,)).fetchone()
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE number = ?", (value, at))
        connection.commit()
        connection.close()
        for line, codes in (("show", (0, 1)), ("log", (0, 1)), ("undo", (0, 1, 2)), ("verify", (21,))):
            done = rpgres("table", line, "--table", str(path))
            assert done.code in codes, (number, value, line, done)
            assert "internal error" not in done.err, (number, value, done.err)
            assert done.code != 1 or f"entry {at}" in done.err or table == "bases", (value, done.err)


def forged(path: Path, number: int, **changes: Any) -> None:
    """Change what an entry says and work out the chain anew, as somebody with the file could."""

    def forge(at: int, public: dict[str, Any], secret: dict[str, Any], state: object) -> object:
        if at == number:
            public.update(changes.get("public", {}))
            secret.update(changes.get("secret", {}))
        return changes.get("state", state) if at == number else state

    rewrite(path, forge)


@pytest.mark.slow
def test_an_entry_that_is_longer_than_any_is_not_unpacked(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    act(place)
    forged(place.path, 2, public={"action": "x" * (LONGEST + 1)})
    where = ("--table", str(place.path))
    for line in ("show", "log"):
        done = rpgres("table", line, *where)
        assert (done.code, "entry 2: it is corrupt and cannot be decompressed" in done.err) == (1, True)
    assert "entry 2" in verify(place.path).problems[0]


def test_entries_that_are_too_long_together_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = begun(tmp_path / "t.db")
    for _ in range(20):
        sitting.write_note(place, "caw " * 1000)
    elsewhere = Path(shutil.copy(place.path, tmp_path / "elsewhere.db"))
    monkeypatch.setattr(store, "WHOLE", 40_000)
    where = ("--table", str(elsewhere))
    for line in (("verify",), ("log",), ("view", "--as", "mara", "--out", str(tmp_path / "view.json"))):
        done = rpgres("table", *line, *where)
        assert (done.code, "take more than 40,000 bytes" in done.err) == (1, True), (line, done)
    assert rpgres("table", "show", *where).code == 0
    assert rpgres("table", "log", "--last", "5", *where).code == 0


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = begun(tmp_path / "t.db")
    monkeypatch.setattr(store, "LONGEST", 20_000)
    done = rpgres("table", "note", "x" * 20_000, "--table", str(place.path))
    assert (done.code, "this entry takes more than 20,000 bytes" in done.err) == (1, True)
    done = rpgres("table", "set", "characters.mara.title=" + "x" * 20_000, "--table", str(place.path))
    assert done.code == 1
    assert len(store.read(place.path).entries) == 2  # as many as before


@pytest.mark.slow
def test_the_check_of_a_journal_takes_little_more_memory_than_its_bytes(tmp_path: Path) -> None:
    """What is small in a file, and small when it is unpacked, is made of many objects when it is read."""
    place = begun(tmp_path / "t.db")
    for _ in range(6):
        act(place)

    def forge(number: int, public: object, secret: dict[str, Any], state: object) -> object:
        if number > 1:
            secret["inputs"]["x"] = [[]] * 150_000
        return state

    rewrite(place.path, forge)
    tracemalloc.start()
    try:
        assert checking.chain_of(place.path).problems == []
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40_000_000  # one such entry takes 11 million


@pytest.mark.parametrize("state", [{"characters": {"mara": 3}}, {"characters": {"mara": {"name": "edda"}}}])
def test_a_table_that_cannot_be_read_is_taken_back(tmp_path: Path, state: dict[str, Any]) -> None:
    place = begun(tmp_path / "t.db")
    act(place)
    sitting.set_value(place, "things.plan", "1")
    forged(place.path, 3, state=state)
    where = ("--table", str(place.path))
    told = rpgres("table", "show", *where)
    assert told.code == 1
    assert "the table after entry 3 cannot be read" in told.err
    assert f"`rpgres table undo --table {place.path} 3`" in told.err
    verdict = verify(place.path)
    assert (verdict.verdict, verdict.exit) == ("tampered", 21)
    assert "entry 3: the table after it cannot be read" in verdict.problems[0]
    assert rpgres("table", "undo", *where).code == 0
    assert rpgres("table", "show", *where).code == 0
    act(place)
    assert verify(place.path).exit == 21  # the entry is still there


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (2, {"public": {"kind": "note"}}),
        (2, {"public": {"kind": "undo"}}),
        (2, {"public": {"kind": "undo", "before": 0}}),
        (2, {"public": {"kind": "answer", "of": 7}}),
        (2, {"secret": {"result": None}}),
        (2, {"secret": {"result": {"outcome": 3}}}),
        (2, {"public": {"kind": "join"}}),
    ],
)
def test_an_entry_that_was_forged_is_told(tmp_path: Path, number: int, changes: dict[str, object]) -> None:
    place = begun(tmp_path / "t.db")
    act(place)
    forged(place.path, number, **changes)
    for line in ("show", "log", "undo"):
        done = rpgres("table", line, "--table", str(place.path))
        assert done.code == 1
        assert f"entry {number}: it cannot be read" in done.err
    assert verify(place.path).exit == 21


def test_a_damaged_table_is_told(copy: Path) -> None:
    whole = copy.read_bytes()
    for cut in (100, 5000, len(whole) // 2, len(whole) - 1000):
        copy.write_bytes(whole[:cut])
        assert "damaged" in shown(copy)
        assert rpgres("table", "verify", "--table", str(copy)).code in (1, 21)  # as far as it can still be read
    copy.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    assert "damaged" in shown(copy)
    copy.write_bytes(whole)
    change(copy, "DROP TABLE bases")
    assert "damaged" in shown(copy)
    copy.write_bytes(whole)
    last = len(store.read(copy).entries) - 1
    change(copy, f"UPDATE entries SET body = '[]' WHERE number = {last}")
    assert f"damaged: entry {last}: it is corrupt" in shown(copy)


IN_CHILD = """
import sys
from pathlib import Path
from tests.support.journals import act
from rpgres.errors import RpgresError
from rpgres.journal.commands import Place
from rpgres.journal.records import Secret
from rpgres.journal.rows import LONGEST
{setup}
try:
    act(Place(Path(sys.argv[1])))
except RpgresError as error:
    print(error.message)
    sys.exit(1)
"""


def in_child(path: Path, setup: str) -> subprocess.CompletedProcess[str]:
    # Where a file may not grow, Python would leave half a compiled module behind for every process that comes after.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", IN_CHILD.format(setup=setup), str(path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=60,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
def test_a_folder_that_may_not_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = begun(folder / "t.db")
        before = store.read(place.path)
        rules = sitting.rules_of(before)
        monkeypatch.setattr(writing, "rules_of", lambda history, folders: rules)
        place.path.chmod(0o444)
        folder.chmod(0o555)
        user = os.geteuid()
        try:
            if user == 0:
                os.seteuid(65534)  # to root, everything is permitted
            with pytest.raises(store.TableError, match="cannot be written here"):
                sitting.write_note(place, "x")
            with pytest.raises(store.TableError, match=r"cannot be (used|written|opened)"):
                begun(folder / "new.db")
            assert store.read(place.path) == before  # looking is always possible
        finally:
            if user == 0:
                os.seteuid(0)
            folder.chmod(0o755)
        assert store.read(place.path) == before
        assert [path.name for path in folder.iterdir()] == ["t.db"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    before = store.read(place.path)
    size = place.path.stat().st_size
    for limit in (0, 512, 1024, size - 1, size, size + 1000):
        setup = (
            "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))"
        )
        done = in_child(place.path, setup)
        if done.returncode == 0:  # there was room enough
            break
        assert done.returncode == 1, done.stderr
        assert "disk" in done.stdout
        assert store.read(place.path) == before
        assert verify(place.path).exit == 20
    assert limit >= 1024
    count = len(store.read(place.path).entries)
    act(place)
    assert len(store.read(place.path).entries) == count + 1


# ---------------------------------------------------------------------------------------------------------------------
# Two at once


def test_the_second_waits_and_then_acts(tmp_path: Path) -> None:
    place = begun(tmp_path / "t.db")
    errors: list[BaseException] = []

    def many() -> None:
        try:
            for _ in range(5):
                act(place)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=many) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    history = store.read(place.path)
    assert [entry.number for entry in history.entries] == list(range(2 + 15))
    sitting.reveal(place)
    assert verify(place.path).exit == 0


def test_whoever_waits_in_vain_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = begun(tmp_path / "t.db")
    monkeypatch.setattr(files, "WAIT", 0.2)
    other = sqlite3.connect(place.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        start = time.monotonic()
        done = rpgres("table", "note", "x", "--table", str(place.path))
        assert time.monotonic() - start >= 0.2
        assert done.code == 1
        assert "the table has been locked by another process" in done.err
        assert rpgres("table", "show", "--table", str(place.path)).code == 0  # looking is always possible
    finally:
        other.close()
    assert rpgres("table", "note", "x", "--table", str(place.path)).code == 0


# ---------------------------------------------------------------------------------------------------------------------
# Killed


TRACE_ME, PEEK_USER, GO_TO_CALL, SET_OPTIONS = 0, 3, 24, 0x4200
MARK_CALLS = 1
NUMBER_AT = 15 * 8  # where the registers of x86-64 have the number of the system call
WRITES = {
    *(
        1,
        18,
        20,
        74,
        75,
        76,
        77,
        82,
        83,
        86,
        87,
        84,
    ),  # write pwrite64 writev fsync fdatasync (f)truncate rename mkdir link
    *(257, 258, 263, 264, 265, 316),  # openat, which may make a file; mkdirat unlinkat renameat linkat renameat2
}


def killed_at(number: int, deed: Callable[[], object]) -> bool:
    """Do something in a process that is killed when it is about to write for this time; tell whether it got so far."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    child = os.fork()
    if child == 0:
        code = 3
        try:
            if libc.ptrace(TRACE_ME, 0, None, None) == 0:
                os.kill(os.getpid(), signal.SIGSTOP)
                deed()
                code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if not os.WIFSTOPPED(status):
        pytest.skip("processes cannot be traced here")
    libc.ptrace(SET_OPTIONS, child, None, MARK_CALLS)
    count, is_entry = 0, False
    while True:
        libc.ptrace(GO_TO_CALL, child, None, None)
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status):
            assert os.WIFEXITED(status)
            assert os.WEXITSTATUS(status) == 0
            return False
        if os.WSTOPSIG(status) != signal.SIGTRAP | 0x80:
            continue
        is_entry = not is_entry
        if is_entry and libc.ptrace(PEEK_USER, child, NUMBER_AT, None) in WRITES:
            count += 1
            if count == number:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return True


traced = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="system calls are followed on Linux alone"
)


@pytest.mark.slow
@pytest.mark.durable
@traced
def test_killed_at_any_write_an_action_has_happened_or_not(tmp_path: Path) -> None:
    place = begun(tmp_path / "before.db")
    before = store.read(place.path)
    after_count = len(before.entries) + 1
    seen, number = set(), 0
    while True:
        number += 1
        path = Path(shutil.copy(place.path, tmp_path / f"{number}.db"))
        is_killed = killed_at(number, lambda path=path: act(Place(path)))  # type: ignore[misc]
        found = store.read(path)
        seen.add(len(found.entries))
        if len(found.entries) == after_count:
            assert found.head.kind == "act"
            assert found.entries[:-1] == before.entries
        else:
            assert is_same(found, before)
        assert verify(path).exit == 20  # the seed is secret; the chain is whole
        act(Place(path))  # and the next one goes on from there
        assert len(store.read(path).entries) == len(found.entries) + 1
        if not is_killed:
            break
        assert number < 200
    assert seen == {after_count - 1, after_count}
    assert number > 8


@pytest.mark.slow
@pytest.mark.durable
@traced
def test_killed_at_any_write_a_table_is_there_or_not(tmp_path: Path) -> None:
    number = 0
    while True:
        number += 1
        path = tmp_path / str(number) / files.FOLDER / files.FILE
        is_killed = killed_at(number, lambda path=path: begun_alone(path))  # type: ignore[misc]
        if not path.exists():
            begun_alone(path)
        assert [entry.kind for entry in store.read(path).entries] == ["new"]
        assert verify(path).exit == 20
        assert [one.name for one in path.parent.iterdir()] == [files.FILE]  # nothing half done is left
        if not is_killed:
            break
        assert number < 200
    assert number > 8


def begun_alone(path: Path) -> None:
    sitting.begin_table(Place(path), ruleset="fate", sheets=["mara"], seed="7")


@pytest.mark.slow
@pytest.mark.durable
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no copies of a process")
def test_killed_at_any_statement(tmp_path: Path) -> None:
    """The same where system calls cannot be followed: killed as SQLite begins a statement."""
    place = begun(tmp_path / "before.db")
    before = store.read(place.path)
    kinds = set()
    for number in range(1, 40):
        path = Path(shutil.copy(place.path, tmp_path / f"{number}.db"))
        code = killed_at_statement(number, lambda path=path: act(Place(path)))  # type: ignore[misc]
        assert is_same(store.read(path), before) or len(store.read(path).entries) == len(before.entries) + 1
        kinds.add(code)
        if code == 0:
            break
    assert kinds == {0, -signal.SIGKILL}
    assert number > 5


def killed_at_statement(number: int, deed: Callable[[], object]) -> int:
    """Do something in a process that is killed as SQLite begins a statement for this time; return its exit code."""
    child = os.fork()
    if child == 0:
        left = [number]

        def count(_statement: str) -> None:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

        class Counted(Connection):
            def __init__(self, *args: Any, **settings: Any) -> None:
                super().__init__(*args, **settings)
                self.set_trace_callback(count)

        connect, code = sqlite3.connect, 3
        try:
            sqlite3.connect = lambda *args, **settings: connect(*args, **settings | {"factory": Counted})  # type: ignore[assignment]
            deed()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def test_the_results_of_older_entries_are_texts() -> None:
    text = '{"given": {"roll": [null, "Side by Side"]}, "later": {"roll": ["++++"]}}'
    older = msgspec.json.decode(text, type=Secret)
    assert (older.given, older.later) == ({"roll": [None, Given("Side by Side")]}, {"roll": [Given("++++")]})
    assert msgspec.json.decode(msgspec.json.encode(older), type=Secret) == older
