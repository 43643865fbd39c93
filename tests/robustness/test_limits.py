"""What a stranger may ask for is limited: how often an input is given, and how long a request takes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from rpgres import UsageError, resolve
from rpgres.model.state import State, Tag
from rpgres.plugins.discovery import find_ruleset
from rpgres.rulesets.sheets import lay_distinct
from rpgres.scenes import read_scene
from rpgres.toml.reading import Source
from tests.support.command_line import PROGRAM, rpgres
from tests.support.growth import calls_of

ENDLESS = """
import itertools
import time
from pathlib import Path

from rpgres import Ruleset, hookimpl

endless = Ruleset("endless", data=Path(__file__).parent / "endless")


@endless.action("compute")
def compute(table, actor):
    number = 0
    while True:
        number += 1


@endless.action("sleep")
def sleep(table, actor):
    time.sleep(3600)


@endless.action("shrug")
def shrug(table, actor):
    try:
        while True:
            time.sleep(0.01)
    except BaseException:
        return table.settle("shrug", None)


@endless.action("insist")
def insist(table, actor):
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            pass


@endless.action("count")
def count(table, actor):
    return sum(itertools.count())


@endless.action("end")
def end(table, actor):
    return table.settle("end", None)


@hookimpl
def rpgres_rulesets():
    yield endless
"""
ACTIONS = ("compute", "sleep", "shrug", "insist", "count", "end")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder in which a plugin is installed whose rules do not end."""
    data = ['title = "Endless"', 'summary = "For ever."', 'version = "1"', "[bands.done]", 'title = "Done"']
    data.append("unopposed = true")
    for name in ACTIONS:
        data += [f"[actions.{name}]", 'summary = "It goes on."', f'tables = ["{name}"]']
        data += [f"[outcomes.{name}.done]", 'text = "It is over."']
    (tmp_path / "endless").mkdir()
    (tmp_path / "endless" / "ruleset.toml").write_text("\n".join(data), "utf-8")
    (tmp_path / "rpgres_endless.py").write_text(ENDLESS, "utf-8")
    info = tmp_path / "rpgres_endless-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rpgres-endless\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[rpgres]\nendless = rpgres_endless\n", "utf-8")
    return tmp_path


# A fifth of a second in which code may still end once it was interrupted, not two: what is tested waits them out.
HASTY = [
    sys.executable,
    "-c",
    "from rpgres.cli import main; from rpgres.cli.requests import timelimit; timelimit.GRACE = 0.2; main()",
]


def batch(
    site: Path, *actions: str | dict[str, Any], seconds: str = "2", program: Sequence[str] = PROGRAM
) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit code of a batch of actions without end, or of requests, and the answers."""
    lines = [
        json.dumps({"ruleset": "endless", "action": one, "id": one} if isinstance(one, str) else {"id": number, **one})
        for number, one in enumerate(actions)
    ]
    done = subprocess.run(
        [*program, "batch", "--seconds", seconds],
        input="\n".join(lines),
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(site)},
        timeout=120,
        check=False,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_a_request_without_end_is_stopped_and_the_next_is_answered(site: Path) -> None:
    code, found = batch(site, "end", "compute", "sleep", "shrug", "end", seconds="1")
    assert [answer["id"] for answer in found] == ["end", "compute", "sleep", "shrug", "end"]
    assert [answer.get("outcome") for answer in found] == ["done", None, None, None, "done"]
    for stopped in found[1:4]:
        assert (stopped["format"], stopped["code"], stopped["exit"]) == ("rpgres.error/1", "time", 1)
        assert "longer than 1 s" in stopped["message"]
        assert "--seconds" in stopped["message"]
    assert code == 0


@pytest.mark.slow
def test_what_cannot_be_stopped_ends_the_batch_with_an_error(site: Path) -> None:
    code, found = batch(site, "end", "insist", "end", seconds="1", program=HASTY)
    assert [answer["id"] for answer in found] == ["end", "insist"]
    assert found[1]["code"] == "time"
    assert "cannot be interrupted" in found[1]["message"]
    assert code == 1


@pytest.mark.slow
def test_an_operation_that_cannot_be_stopped_is_answered_as_what_was_done_before_it(site: Path) -> None:
    (site / "endless" / "sheets").mkdir()
    (site / "endless" / "sheets" / "ann.toml").write_text('ruleset = "endless"', "utf-8")
    table = str(site / "t.db")
    requests = [
        {"op": "table.new", "table": table, "ruleset": "endless", "sheets": ["ann"]},
        {"op": "table.note", "table": table, "text": "written"},
        {"op": "table.act", "table": table, "action": "insist"},
        {"op": "table.note", "table": table, "text": "never read"},
    ]
    code, found = batch(site, *requests, seconds="1", program=HASTY)
    new, note, stopped = found
    assert (code, new.get("code")) == (1, None)
    assert (note["id"], note["code"]) == (1, "table")
    assert "undone" in note["message"]
    assert (stopped["id"], stopped["code"]) == (2, "time")
    assert "cannot be interrupted" in stopped["message"]
    assert "written" not in rpgres("table", "log", "--table", table).out
    alone = {"op": "roll", "ruleset": "endless", "action": "insist"}
    code, (stopped,) = batch(site, alone, seconds="0.5", program=HASTY)
    assert (code, stopped["code"]) == (1, "time")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timer of the time that is computed")
def test_what_never_comes_back_from_c_ends_the_batch(site: Path) -> None:
    code, found = batch(site, "end", "count", "end", seconds="0.5", program=HASTY)
    assert [answer["id"] for answer in found] == ["end"]
    assert code != 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has none of these")
def test_nothing_of_the_limit_outlives_the_batch() -> None:
    before = signal.getsignal(signal.SIGALRM)
    assert rpgres("batch", stdin='{"notation": "d6"}').code == 0
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert not [thread for thread in threading.enumerate() if thread.name == "time limit"]


@pytest.mark.parametrize("typed", ["0", "-1", "nan", "soon", ""])
def test_seconds_are_a_number_over_0(typed: str) -> None:
    assert rpgres("batch", "--seconds", typed, stdin="").code == 2


# ---------------------------------------------------------------------------------------------------------------------
# How often

MANY = [
    ("fate", "overcome", {"skill": 3, "vs": 2, "aspect": [f"aspect {n}" for n in range(101)]}, "`aspect`", 100),
    ("fate", "overcome", {"skill": 3, "vs": [2] * 101}, "`vs`", 100),
    ("faith", "confront", {"skill": 3, "attribute": 3, "against": [f"b{n}:skill=1" for n in range(21)]}, "", 20),
    ("saga", "act", {"ability": "strength=8", "vs": 8, "hand": ["St6"] * 101}, "`hand`", 100),
    ("saga", "act", {"ability": "strength=8", "vs": 8, "hand": ",".join(["St6"] * 101)}, "`hand`", 100),
]


@pytest.mark.parametrize(("ruleset", "action", "inputs", "option", "most"), MANY)
def test_an_input_is_not_given_more_often_than_its_limit(
    ruleset: str, action: str, inputs: dict[str, Any], option: str, most: int
) -> None:
    with pytest.raises(UsageError, match=rf"{option}.* {most} ") as raised:
        resolve(ruleset, action, seed=1, **inputs)
    assert str(most + 1) in raised.value.message


def test_as_often_as_the_limit_is_fine() -> None:
    found = resolve("fate", "overcome", skill=3, vs=2, aspect=[f"aspect {n}" for n in range(100)], seed=1)
    assert len(found.inputs["aspect"]) == 100


def test_the_limit_stands_in_help_and_in_the_schema() -> None:
    told = " ".join(rpgres("roll", "fate", "overcome", "--help").out.split())
    assert "several opposers [required] [repeatable, at most 100 times]" in told
    assert "at most 100 times" in " ".join(rpgres("roll", "fate", "overcome", "--help").out.split())
    assert "at most 20 times" in " ".join(rpgres("roll", "faith", "confront", "--help").out.split())
    schema = json.loads(rpgres("schema", "scene", "faith").out)
    step = {"actor": "mara", "action": "confront", "with": {"skill": 1, "attribute": 1}}
    scene = {"ruleset": "faith", "characters": {"mara": {}}, "steps": [step]}
    for count, is_valid in ((20, True), (21, False)):
        step["with"] = {"skill": 1, "attribute": 1, "against": [f"b{number}:skill=1" for number in range(count)]}
        assert jsonschema_rs.Draft202012Validator(schema).is_valid(scene) is is_valid


def test_a_ruleset_says_its_own_limit(tmp_path: Path) -> None:
    folder = tmp_path / "fate"
    folder.mkdir()
    (folder / "ruleset.toml").write_text("[parameters.aspect]\nmost = 2\n", "utf-8")
    typed = ("roll", "fate", "overcome", "--skill", "1", "--vs", "none", "--rulesets", str(tmp_path))
    assert rpgres(*typed, "--aspect", "a", "--aspect", "b").code == 0
    done = rpgres(*typed, "--aspect", "a", "--aspect", "b", "--aspect", "c")
    assert (done.code, "at most 2 times" in done.err) == (2, True)


# ---------------------------------------------------------------------------------------------------------------------
# Nothing grows with the square of what is said


def test_laying_the_tags_of_a_sheet_takes_work_in_proportion_to_their_number() -> None:
    def work(count: int) -> int:
        tags = [Tag(f"tag {count} {number}", "aspect", "mara") for number in range(count)]
        return calls_of(lambda: lay_distinct(State(), tags))

    work(10)
    assert work(1600) < 12 * work(200)


def test_so_does_laying_those_of_a_scene() -> None:
    def work(count: int) -> int:
        lines = [f'[tags.t{number}]\ntext = "tag {count} {number}"\nkind = "aspect"\n' for number in range(count)]
        source = Source("scene.toml", 'ruleset = "fate"\n' + "".join(lines))
        return calls_of(lambda: read_scene(source, find_ruleset=find_ruleset))

    work(10)
    assert work(800) < 12 * work(100)


def test_tags_are_laid_one_after_the_other() -> None:
    hidden = Tag("Trap", "aspect", "", audience=("gm",))
    there = State(tags=(Tag("Rain", "aspect"), hidden))
    laid = lay_distinct(there, [Tag("rain", "aspect", "mara"), Tag("trap", "aspect", "mara"), Tag("New", "aspect")])
    assert [(tag.name, tag.on) for tag in laid.tags] == [
        ("Rain", ""),
        ("Trap (hidden 1)", ""),
        ("rain (mara)", "mara"),
        ("trap", "mara"),
        ("New", ""),
    ]
