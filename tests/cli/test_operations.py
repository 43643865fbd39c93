"""`rpgres batch` with `op`: every command without a terminal, by the same keys, with the record of `--json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import rpgres

FOUR = """\
{"id":1,"op":"table.new","table":"bot.db","ruleset":"fate","sheets":["mara"],"seed":"7"}
{"id":2,"op":"table.act","table":"bot.db","action":"overcome","with":{"skill":"burglary","vs":3},"given":{"roll":"-0+-"}}
{"id":3,"op":"table.show","table":"bot.db","as":"mara"}
{"id":4,"op":"odds","ruleset":"fate","action":"overcome","with":{"skill":3,"vs":2}}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(*requests: dict[str, Any] | str) -> list[dict[str, Any]]:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in requests]
    done = rpgres("batch", stdin="\n".join(lines))
    assert (done.code, done.err) == (0, ""), done.err
    return [json.loads(line) for line in done.out.split("\n") if line]


def printed(*line: str) -> Any:
    return json.loads(rpgres(*line, "--json").out)


def test_a_table_and_odds_in_one_process() -> None:
    new, act, show, odds = told(FOUR)
    assert [one["id"] for one in (new, act, show, odds)] == [1, 2, 3, 4]
    assert (new["format"], new["entry"]["kind"]) == ("rpgres.entry/1", "new")
    assert (act["format"], act["actor"], act["answers"][0]["value"]) == ("rpgres.pending/1", "mara", "-0+-")
    assert act["request"] == {"op": "table.answer", "table": "bot.db", "choose": {"invoke": []}}
    assert (show["seat"], show["pending"]["question"]["label"]) == ("mara", "invoke")
    assert show["request"]["as"] == "mara"
    del odds["id"]
    shown = printed("odds", "fate", "overcome", "--skill=3", "--vs=2")
    assert odds.pop("inputs") == {"skill": 3, "vs": 2}
    assert shown.pop("inputs") == {"skill": "3", "vs": ["2"]}
    assert odds == shown
    assert printed("table", "show", "--table=bot.db", "--as=mara") == {
        key: value for key, value in show.items() if key not in ("id", "request")
    }


def test_the_request_of_a_decision_goes_on_with_it() -> None:
    request = told(FOUR)[1]["request"]
    request["choose"]["invoke"] = "no"
    (answer,) = told(request | {"id": "x"})
    assert (answer["id"], answer["format"]) == ("x", "rpgres.pending/1")
    (question,) = answer["request"]["choose"]
    (answer,) = told(answer["request"] | {"choose": {question: ["fail"]}})
    assert (answer["format"], answer["outcome"]) == ("rpgres.result/1", "fail")
