"""Views and journals that somebody wrote by hand, damaged or forged: whatever stands in them, what is wrong is told."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from rpgres.journal import commands as sitting
from rpgres.journal import store
from rpgres.journal.commands import Place
from tests.support.command_line import rpgres
from tests.support.forging import rewrite

FEW = 20  # seeds of the quick tests
CHUNK = 250  # seeds of a slow test with --exhaustive, 2,000 in all: ten minutes of a processor
SAMPLE = 6  # of these without it
VALUES: list[Any] = [None, True, 0, -1, 7, 10**30, 2.5, "", "x", "mara", "?", [], {}, [[]], [{}], {"x": 1}, "\x1b[31m"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tables with an entry of most kinds, each waiting for a decision."""
    folder = tmp_path_factory.mktemp("tables")
    fate = Place(folder / "fate.db")
    sitting.begin_table(fate, ruleset="fate", sheets=["mara", "edda", "guards"], seed="7")
    sitting.turn(fate, "begin")
    sitting.let_pass(fate, seat="gm", until="always")
    sitting.act(fate, "overcome", {"skill": "2", "vs": ["1"]}, actor="mara", auto=True)
    sitting.set_value(fate, "characters.mara.counters.fate-points", "4")
    sitting.write_note(fate, "for two", to=["mara"])
    sitting.undo(fate, 3)
    sitting.act(fate, "attack", {"skill": "fight", "vs": ["edda:fight"]}, actor="mara", auto=True)
    sitting.act(fate, "overcome", {"skill": "burglary", "vs": ["2"]}, actor="mara", given={"roll": ["----"]})
    saga = Place(folder / "saga.db")
    sitting.begin_table(saga, ruleset="saga", sheets=["brannagh", "ilse", "toll-warden"], seed="7")
    sitting.act(saga, "act", {"ability": "strength", "vs": "average"}, actor="brannagh", auto=True)
    sitting.act(saga, "act", {"ability": "strength", "vs": "average"}, actor="brannagh")
    assert all(store.read(place.path).pending for place in (fate, saga))
    return {"mara": fate.path, "brannagh": saga.path}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything in plain data."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def changed(data: Any, dice: random.Random) -> Any:
    """Return plain data with something else in a few places."""
    for _ in range(dice.choice((1, 1, 1, 2, 5))):
        path = dice.choice(list(places(data)))
        if not path:
            continue
        inside = data
        for key in path[:-1]:
            inside = inside[key]
        match dice.randrange(5):
            case 0:
                del inside[path[-1]]
            case 1 if isinstance(inside, list):
                inside.append(inside[path[-1]])
            case 2 if isinstance(inside, dict):
                inside[dice.choice(("x", "event", "kind", "name"))] = inside.pop(path[-1])
            case _:
                inside[path[-1]] = deepcopy(dice.choice(VALUES))  # a later change must not reach the list above
    return data


def told(*line: str) -> bool:
    """Run a line, and tell whether it was refused; what goes wrong is told in our own words."""
    done = rpgres(*line)
    assert done.code in (0, 1, 2, 3, 20, 21, 22), (line, done)
    assert "internal error" not in done.err, (line, done.err)
    assert "Traceback" not in done.err, (line, done.err)
    is_refused = done.code not in (0, 3)
    assert not is_refused or (done.err + done.out).strip(), line
    return is_refused


def try_view(tables: dict[str, Path], folder: Path, seed: int) -> bool:
    dice = random.Random(seed)
    seat = dice.choice(list(tables))
    view, answer = folder / f"{seat}.json", folder / "answer.json"
    if not view.exists():
        assert rpgres("table", "view", "--as", seat, "--table", str(tables[seat]), "--out", str(view)).code == 0
    file = folder / "changed.json"
    if dice.random() < 0.1:
        raw = bytearray(view.read_bytes())
        for _ in range(dice.randrange(1, 4)):
            raw[dice.randrange(len(raw))] = dice.randrange(256)
        file.write_bytes(raw[: dice.choice((len(raw), dice.randrange(len(raw))))])
    else:
        file.write_text(json.dumps(changed(json.loads(view.read_text("utf-8")), dice)), "utf-8")
    said = ("--choose", dice.choice(("invoke=no", "play=St6", "nothing=x")), "--out", str(answer), "--force")
    refused = [told("table", *line, str(file)) for line in (("show", "--view"), ("log", "--view"))]
    told("table", "answer", *said, "--view", str(file))
    if answer.exists():
        answer.write_text(json.dumps(changed(json.loads(answer.read_text("utf-8")), dice)), "utf-8")
        copy = Path(shutil.copy(tables[seat], folder / "t.db"))
        told("table", "answer", "--from", str(answer), "--accept", "--table", str(copy))
        answer.unlink()
    return any(refused)


def try_journal(tables: dict[str, Path], folder: Path, seed: int) -> bool:
    dice = random.Random(seed)
    seat = dice.choice(list(tables))
    path = Path(shutil.copy(tables[seat], folder / "t.db"))
    if dice.random() < 0.2:
        raw = bytearray(path.read_bytes())
        for _ in range(dice.randrange(1, 9)):
            raw[dice.randrange(len(raw))] = dice.randrange(256)
        path.write_bytes(raw)
    else:
        count = len(store.read(path).entries)
        at, part = dice.choice((count - 1, dice.randrange(count))), dice.randrange(3)

        def forge(number: int, public: dict[str, Any], secret: dict[str, Any], state: Any) -> Any:
            if number == at:
                changed((public, secret, state)[part], dice)
            return state

        rewrite(path, forge)
    where = ("--table", str(path))
    lines = [("show",), ("log", "--last", "2"), ("verify",), ("answer", "--auto"), ("answer", "--choose", "invoke=no")]
    lines += [("undo",), ("note", "x"), ("view", "--as", seat, "--out", str(folder / "v.json"), "--force")]
    lines += [("export", "--out", str(folder / "out"), "--force"), ("show", "--as", seat), ("reveal",), ("verify",)]
    refused = [told("table", *line, *where) for line in (lines[2], *dice.sample(lines, 3))]
    return any(refused)


@pytest.mark.slow
def test_a_changed_view_is_told(tables: dict[str, Path], tmp_path: Path) -> None:
    assert sum(try_view(tables, tmp_path, seed) for seed in range(FEW)) >= FEW // 4  # some words may be any others


@pytest.mark.slow
def test_a_changed_journal_is_told(tables: dict[str, Path], tmp_path: Path) -> None:
    assert sum(try_journal(tables, tmp_path, seed) for seed in range(FEW)) >= FEW // 4


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FEW, FEW + 8 * CHUNK, CHUNK))
def test_many_changed_views_are_told(tables: dict[str, Path], tmp_path: Path, first: int, exhaustive: bool) -> None:
    seeds = range(first, first + (CHUNK if exhaustive else SAMPLE))
    assert sum(try_view(tables, tmp_path, seed) for seed in seeds)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FEW, FEW + 8 * CHUNK, CHUNK))
def test_many_changed_journals_are_told(tables: dict[str, Path], tmp_path: Path, first: int, exhaustive: bool) -> None:
    seeds = range(first, first + (CHUNK if exhaustive else SAMPLE))
    assert sum(try_journal(tables, tmp_path, seed) for seed in seeds)
