"""`{"concurrent": true}`: requests of a batch answered by several processes, as they are done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from rpgres.cli.requests.crew import Crew, job_of
from tests.support.command_line import rpgres

RESOLVE = {"ruleset": "fate", "action": "overcome", "with": {"skill": 3, "vs": 2}, "seed": "7"}
SLOW = {"op": "simulate", "ruleset": "fate", "action": "overcome", "with": {"skill": 3, "vs": 2}, "runs": "2000000"}
FIRST = {"concurrent": True}


def lines_of(requests: Iterable[Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in requests)


def answers_of(*requests: Any, options: Iterable[str] = ()) -> list[dict[str, Any]]:
    done = rpgres("batch", *options, stdin=lines_of([FIRST, *requests]))
    assert (done.code, done.err) == (0, "")
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.mark.slow
def test_a_slow_request_holds_up_no_other() -> None:
    slow = [f"slow {number}" for number in range((os.cpu_count() or 1) + 1)]  # more than there are processes
    asked = [{"id": one, **SLOW} for one in slow]
    found = answers_of(*asked, {"id": "fast", **RESOLVE}, options=["--seconds", "1"])
    assert found[0]["id"] == "fast"
    assert found[0]["outcome"] == rpgres("batch", stdin=lines_of([RESOLVE])).out.partition('"outcome":"')[2][:7]
    assert {one["id"]: one.get("code") for one in found[1:]} == dict.fromkeys(slow, "time")


@pytest.mark.slow
def test_lines_stay_whole_and_every_request_has_its_answer(tmp_path: Path) -> None:
    table = str(tmp_path / "t.db")
    requests = [{"op": "table.new", "table": table, "ruleset": "fate", "sheets": ["mara"], "trust": "players"}]
    for number in range(40):
        requests += [
            {**RESOLVE, "seed": number},
            {"op": "odds", "ruleset": "fate", "action": "overcome", "with": {"skill": number % 5}},
            {"op": "deck.list"} if number % 9 == 0 else {"op": "table.nosuch", "table": table},
            {"op": "table.note", "table": table, "text": f"note {number}"},
            *(
                [{"op": "table.odds", "table": table, "action": "overcome", "with": {"skill": 3, "vs": 2}}]
                * (number % 7 == 0)
            ),
        ]
    found = answers_of(*({"id": number, **one} for number, one in enumerate(requests)))
    assert sorted(one["id"] for one in found) == list(range(len(requests)))
    notes = [one["entry"]["text"] for one in found if one.get("entry", {}).get("kind") == "note"]
    assert notes == [f"note {number}" for number in range(40)]  # a table's answers come in the order of its requests
    where = {one["id"]: place for place, one in enumerate(found)}
    of_table = [
        number for number, one in enumerate(requests) if one.get("table") == table and one["op"] != "table.nosuch"
    ]
    assert [where[number] for number in of_table] == sorted(where[number] for number in of_table)
    assert all(one.get("code") == "usage" for one in found if requests[one["id"]].get("op") == "table.nosuch")
    for one in found:
        if "op" not in requests[one["id"]]:
            assert one["seed"] == str(requests[one["id"]]["seed"])


@pytest.mark.slow
def test_every_request_needs_an_id_and_to_be_one() -> None:
    found = answers_of(RESOLVE, {"id": 0, "concurrent": True}, [1], {"id": "x", "op": "nosuch"})
    assert [one["details"].get("line") for one in found if "id" not in one] == [2, 4]
    assert "needs an `id`" in found[0]["message"]
    by_id = {one["id"]: one["message"] for one in found if "id" in one}
    assert "stands alone in the first line" in by_id[0]
    assert "no op 'nosuch'" in by_id["x"]


def test_concurrent_is_said_in_a_first_line_alone() -> None:
    done = rpgres("batch", stdin=lines_of([RESOLVE, {"id": 1, **FIRST}, RESOLVE]))
    first, refused, last = map(json.loads, done.out.splitlines())
    assert first == last
    assert (refused["id"], refused["details"]["path"]) == (1, ["concurrent"])
    done = rpgres("batch", stdin=lines_of([{**FIRST, "op": "odds"}]))
    assert "stands alone" in json.loads(done.out)["message"]
    assert rpgres("batch", stdin=lines_of([FIRST])).out == ""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found by /proc")
def test_a_process_that_is_killed_is_told_and_another_goes_on() -> None:
    command = [sys.executable, "-m", "rpgres", "batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        batch.stdin.write(lines_of([FIRST, {"id": 1, **RESOLVE}]))
        batch.stdin.flush()
        assert json.loads(batch.stdout.readline())["id"] == 1
        (child,) = (int(text) for text in Path(f"/proc/{batch.pid}/task/{batch.pid}/children").read_text().split())
        os.kill(child, 9)
        batch.stdin.write(lines_of([{"id": 2, **RESOLVE}, {"id": 3, **RESOLVE}]))
        batch.stdin.close()
        found = {one["id"]: one for one in map(json.loads, batch.stdout)}
        assert batch.wait() == 0
    assert found[3]["outcome"] == "succeed"
    assert found[2].get("outcome") == "succeed" or "ended with the code -9" in found[2]["message"]


def test_what_may_take_long_is_known(tmp_path: Path) -> None:
    heavy = {op: job_of({"id": 1, "op": op}, b"").is_heavy for op in ("odds", "scene", "scene.run", "ruleset.test")}
    assert all(heavy.values())
    light = {
        op: job_of({"id": 1, "op": op}, b"").is_heavy for op in ("", "roll", "table.act", "sheet.show", "ruleset.show")
    }
    assert not any(light.values())
    other = os.path.join(tmp_path, "sub", "..", "t.db")
    (tmp_path / "sub").mkdir()
    assert job_of({"id": 1, "op": "table.act", "table": other}, b"").table == os.path.realpath(tmp_path / "t.db")
    (tmp_path / "t" / ".rpgres").mkdir(parents=True)
    (tmp_path / "t" / ".rpgres" / "table.db").touch()
    named = [str(tmp_path / "t"), str(tmp_path / "t" / ".rpgres"), str(tmp_path / "t" / ".rpgres" / "table.db")]
    assert len({job_of({"id": 1, "op": "table.act", "table": one}, b"").table for one in named}) == 1


@pytest.mark.slow
def test_a_name_that_no_file_can_have_ends_nothing() -> None:
    found = answers_of({"id": 1, "op": "table.show", "table": "a\0b"}, {"id": 2, **RESOLVE})
    assert {one["id"]: one["format"] for one in found}[1] == "rpgres.error/1"
    assert len(found) == 2


@pytest.mark.parametrize("code", [0, 1])
def test_what_may_have_been_done_at_a_table_is_not_asked_again(code: int) -> None:
    program = "import sys; sys.stdin.readline(); print('stray'); print('{\"id\": 1}', flush=True); sys.stdin.readline()"
    program += f"; sys.exit({code})"
    told: list[dict[str, Any]] = []
    crew = Crew([sys.executable, "-c", program], 1, lambda line: told.append(json.loads(line)))
    for number in (1, 2):
        crew.take(job_of({"id": number, "op": "table.note", "table": "t.db"}, b"{}"))
    crew.finish()
    assert [one["id"] for one in told] == [1, 2]
    assert "the table's log shows" in told[1]["message"]


_GIVES_UP_ONCE = """
import json, pathlib, sys
been = pathlib.Path(sys.argv[1])
for line in sys.stdin:
    answer = {"id": json.loads(line)["id"]}
    if been.exists():
        print(json.dumps(answer), flush=True)
    else:
        been.touch()
        print(json.dumps({**answer, "code": "time"}), flush=True)
        sys.exit(1)
"""


def test_what_stands_behind_a_request_that_was_given_up_is_told_so_at_its_table_and_done_elsewhere(
    tmp_path: Path,
) -> None:
    told: list[dict[str, Any]] = []
    command = [sys.executable, "-c", _GIVES_UP_ONCE, str(tmp_path / "been")]
    crew = Crew(command, 1, lambda line: told.append(json.loads(line)))
    for number, table in enumerate(["a.db", "b.db", "a.db", "a.db", "b.db"]):
        crew.take(job_of({"id": number, "op": "table.note", "table": table}, json.dumps({"id": number}).encode()))
    crew.finish()
    found = {one["id"]: one for one in told}
    assert found[0]["code"] == "time"
    assert found[1] == {"id": 1}
    assert found[4] == {"id": 4}
    for number in (2, 3):
        assert "not begun" in found[number]["message"]
        assert "send it again" in found[number]["message"]
