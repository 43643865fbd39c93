"""Rulesets, names and input from elsewhere: what is faulty is told, and nothing else suffers from it."""

from __future__ import annotations

import collections
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import tomli

from rpgres.cli.commands.ruleset import _homemade_problems
from rpgres.toml import places
from tests.support.command_line import PROGRAM, rpgres
from tests.support.growth import calls_of

HEAD = 'standalone = true\ntitle = "Home"\nsummary = "Made here."\nversion = "1"\n'
ROLL = f'{HEAD}[bands]\nw = {{ title = "W", from = 1 }}\n[actions.a]\nsummary = "s"\ndice = "2d6"\n'
FAULTY = {
    "band-when": f'{HEAD}[bands]\nwin = {{ title = "W", when = true }}\n',
    "kind": f'{HEAD}[parameters.x]\nkind = {{ a = 1 }}\nhelp = "x"\n',
    "outcomes": f"{HEAD}outcomes = true\n",
    "table": f"{HEAD}[outcomes]\na = true\n",
    "row": f"{HEAD}[outcomes.a]\nwin = true\n",
    "effect": f"{ROLL}[outcomes.a.w]\neffects = [true]\n",
    "effect-kind": f"{ROLL}[outcomes.a.w]\neffects = [{{ kind = {{ a = 1 }} }}]\n",
    "effect-list": f"{ROLL}[outcomes.a.w]\neffects = [{{ kind = [1] }}]\n",
    "effect-when": f'{ROLL}[outcomes.a.w]\neffects = [{{ kind = "x", when = true }}]\n',
    "effect-unless": f'{ROLL}[outcomes.a.w]\neffects = [{{ kind = "x", unless = 2024-01-01 }}]\n',
    "option-effect": f'{ROLL}[outcomes.a.w.ask.q]\ntext = "?"\nwho = "actor"\n'
    '[outcomes.a.w.ask.q.options]\no = { text = "o", effects = [{ kind = "x", when = 3 }] }\n',
    "period": f'{ROLL}[periods.scene]\nhelp = "x"\nbegin = [{{ kind = "x", when = true }}]\n',
    "condition": f"{ROLL}[actions.a.bands]\nw = {{ when = {{ natural = [] }} }}\n",
    "deck": f'{ROLL}[decks.d]\nextends = ["x"]\n[piles.p]\ntitle = "x"\ndecks = {{ d = {{}} }}\n',
    "menus": f"{HEAD}menus = 1\n",
    "kits": f'{HEAD}kits = "a"\n',
    "standalone": 'standalone = { a = 1 }\ntitle = "T"\n',
    "title": 'standalone = true\ntitle = true\nsummary = [1]\nversion = "1"\n',
    "unknown-parameter": f'{ROLL}parameters = ["nobody"]\n',
    "digits": f"{HEAD}x = {'1' * 5000}\n",
    "no-toml": f"{HEAD}= =\n",
    "half": f"{HEAD}\x00",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FAULTY.items():
        (tmp_path / "rulesets" / name).mkdir(parents=True)
        (tmp_path / "rulesets" / name / "ruleset.toml").write_text(text, "utf-8")
    return tmp_path


@pytest.mark.slow
def test_faulty_rulesets_are_listed_with_their_fault_and_spoil_nothing_for_others(here: Path) -> None:
    listed = rpgres("ruleset", "list")
    assert (listed.code, listed.err) == (0, "")
    assert "Fate" in listed.out
    for name in FAULTY:
        assert f"{name} broken: " in listed.out
    plugins = json.loads(rpgres("plugin", "list", "--json").out)["plugins"]
    assert {plugin["id"] for plugin in plugins if not plugin["ok"]} == set(FAULTY)
    assert all(plugin["problem"] for plugin in plugins if not plugin["ok"])
    for args in (("deck", "list"), ("roll", "--help"), ("odds", "--help")):
        done = rpgres(*args)
        assert (done.code, done.err) == (0, "")
    assert "fate" in rpgres("roll", "--help").out
    asked = {"COMP_WORDS": "rpgres roll ", "COMP_CWORD": "2"}
    assert "fate" in rpgres(_RPGRES_COMPLETE="complete_bash", **asked).out.split()


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_ruleset_is_told_and_never_a_fault_of_ours(name: str, here: Path) -> None:
    for args in (("ruleset", "check", name), ("ruleset", "show", name), ("roll", name, "a"), ("roll", name, "--help")):
        done = rpgres(*args)
        assert "internal error" not in done.err
    assert rpgres("ruleset", "check", name).code == 1


def test_an_overlay_may_lie_over_what_was_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for root, text in (("far", f"{ROLL}menus = 3\n"), ("near", "[menus]\n")):
        (tmp_path / root / "home").mkdir(parents=True)
        (tmp_path / root / "home" / "ruleset.toml").write_text(text, "utf-8")
    done = rpgres("roll", "home", "a", "--rulesets", "near", RPGRES_RULESETS="far")
    assert "internal error" not in done.err


# ---------------------------------------------------------------------------------------------------------------------
# A file is read once, however much is wrong with it


def big(folder: Path, count: int) -> str:
    """Write a ruleset of so many actions, each with a fault in its outcomes."""
    text = HEAD + '[bands]\nlose = { title = "L", to = -1 }\nwin = { title = "W", from = 0 }\n'
    for number in range(count):
        text += f'[actions.act-{number}]\nsummary = "s"\nparameters = ["skill-{number}"]\n'
        text += f'dice = "2d6 + {{skill-{number}}}"\n[parameters.skill-{number}]\nkind = "integer"\nhelp = "h"\n'
        text += f'[outcomes.act-{number}.lose]\ntext = "l"\nwhatever = 3\n[outcomes.act-{number}.win]\ntext = "w"\n'
    (folder / "home").mkdir(exist_ok=True)
    (folder / "home" / "ruleset.toml").write_text(text, "utf-8")
    return text


def test_a_file_is_parsed_and_searched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = big(tmp_path, 30)
    parsed: collections.Counter[str] = collections.Counter()
    searched: collections.Counter[str] = collections.Counter()
    loads, scan = tomli.loads, places._scan

    def counted_loads(given: str, **options: Any) -> dict[str, Any]:
        parsed[given] += 1
        return loads(given, **options)

    def counted_scan(given: Any) -> None:
        searched[given.text] += 1
        scan(given)

    monkeypatch.setattr(tomli, "loads", counted_loads)
    monkeypatch.setattr(places, "_scan", counted_scan)
    places._spots.cache_clear()
    done = rpgres("ruleset", "list", "--rulesets", str(tmp_path))
    assert "home broken: 30 problems" in done.out
    assert parsed[text] == 1
    assert searched[text] == 1
    assert max(parsed.values()) == 1


@pytest.mark.slow
def test_checking_a_ruleset_takes_work_in_proportion_to_its_size(tmp_path: Path) -> None:
    def work(count: int) -> int:
        big(tmp_path, count)
        found: list[Any] = []
        calls = calls_of(lambda: found.extend(_homemade_problems("home", [tmp_path])))
        assert len(found) == count
        return calls

    work(2)
    assert work(240) < 10 * work(30)


# ---------------------------------------------------------------------------------------------------------------------
# Names and input

LONG = "n" * 300
NAMED = [
    ("roll", LONG),
    ("roll", "fate", "overcome", "--sheet", LONG, "--skill", "1", "--vs", "1"),
    ("roll", "fate", "overcome", "--skill", "1", "--vs", f"{LONG}:will"),
    ("roll", "fate", "overcome", "--skill", "1", "--vs", "1", "--rulesets", LONG),
    ("scene", "run", LONG),
    ("deck", "show", LONG),
    ("ruleset", "check", LONG),
    ("ruleset", "show", LONG),
    ("ruleset", "list", "--rulesets", LONG),
    ("sheet", "show", LONG),
    ("plugin", "new", "abc", "--into", LONG),
    ("plugin", "new", LONG),
    ("batch", LONG),
    ("table", "show", "--table", LONG),
    ("play", "--table", LONG),
]


@pytest.mark.parametrize("args", NAMED, ids=lambda args: " ".join(word[:9] for word in args))
def test_a_name_that_no_file_can_have_is_told(
    args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = rpgres(*args)
    assert done.code in (1, 2)
    assert "internal error" not in done.err
    assert LONG[:79] in done.err  # of what is no name of a list, the beginning is enough


@pytest.mark.slow
def test_what_is_typed_at_a_table_and_is_no_text_is_told_and_the_next_line_is_read(tmp_path: Path) -> None:
    environment = {**os.environ, "COLUMNS": "80", "PYTHONUTF8": "1", "PYTHONIOENCODING": ""}

    def run(*args: str, typed: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [*PROGRAM, *args]
        return subprocess.run(command, input=typed, capture_output=True, cwd=tmp_path, env=environment, check=False)

    assert run("table", "new", "--ruleset", "fate").returncode == 0
    done = run("play", typed=b"note caf\xe9\nnote it rains\nquit\n")
    assert done.returncode == 0
    assert b"is not valid UTF-8" in done.stderr
    assert b"\\udce9" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"it rains" in run("table", "log").stdout
