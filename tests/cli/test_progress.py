"""Long work: what is shown of it at a terminal, and what a Ctrl-C leaves known."""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rpgres.cli import progress as module
from rpgres.cli.output import READER
from rpgres.cli.progress import GRACE, LATE, progress
from rpgres.odds import exact
from rpgres.stopping import STOP
from tests.support.command_line import Ran
from tests.support.command_line import rpgres as run

CONFRONT = ("faith", "confront", "--skill", "3", "--attribute", "3", "--against", "guard:skill=3,attribute=3", "--auto")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is written on the line, at a terminal whose clock goes on by a second with every look."""
    lines: list[str] = []
    clock = iter(range(10**9))
    monkeypatch.setattr(module, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(module, "show_progress", lines.append)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return lines


def test_a_percentage_and_the_time_left_are_shown_where_they_are_known(shown: list[str]) -> None:
    with progress("simulating") as show:
        show(1000, 10_000)
        show(2000, float("inf"))
        show(10_000, 10_000)
    assert shown == [
        "━          simulating: 10 %, 1,000 of 10,000, 1,000/s, 9 s left (Ctrl-C stops)",
        "simulating: 2,000 (Ctrl-C stops)",
        "simulating: 10,000 (Ctrl-C stops)",
        "",
    ]


def test_the_time_left_runs_down_while_one_of_a_few_steps_is_under_way(shown: list[str]) -> None:
    """As of values of a study: from the first on, how long each takes is known."""
    with progress("evaluating") as show:
        for _ in range(4):
            show.tick()
        show(1, 3)
        show.tick()
        show(1, 3)
        for _ in range(8):
            show.tick()
    left = [line.partition("1 of 3")[2].removesuffix(module.HINT) for line in shown if "1 of 3" in line]
    assert left == [f", {seconds} s left" for seconds in range(10, 0, -1)] + [""]


def test_a_signal_to_end_leaves_known_what_ctrl_c_does(hearing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        ticks = iter(range(10**6))

        def tick(_self: Any) -> None:
            if next(ticks) == 5:
                signal.raise_signal(signal.SIGTERM)

        monkeypatch.setattr("rpgres.stopping.Stop.tick", tick)
        ran = interrupted("odds", "fate", "overcome", "--skill", "1", "--vs", "4dF", "--auto", "--json")
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
    found = json.loads(ran.out)
    assert (found["method"], found["interrupted"]) == ("partial", True)


def test_otherwise_work_is_counted(shown: list[str]) -> None:
    with progress("verifying", units="entries"):
        STOP.tick()
        STOP.tick()
    assert shown == ["verifying: 1 entries (Ctrl-C stops)", "verifying: 2 entries (Ctrl-C stops)", ""]
    assert STOP.watch is None


def test_a_step_that_tells_nothing_is_shown_too(shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LATE", 0.01)
    with progress("loading") as show:
        while not shown:
            time.sleep(0.01)
        show.clear()
        assert shown[-1] == ""
        count = len(shown)
        time.sleep(0.05)
        assert len(shown) == count  # until there is a next step
    assert {*shown} == {"loading ... (Ctrl-C stops)", ""}


def test_a_hint_that_would_wrap_is_left_out(shown: list[str]) -> None:
    with progress("checking " + "x" * 60) as show:
        show(1, 2)
    assert shown[0].endswith(": 50 %, 1 of 2, 1 s left")


def test_a_console_of_windows_gets_no_escape_sequences(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "")
    monkeypatch.setenv("COLUMNS", "30")
    module.show_progress("x" * 40)
    module.show_progress("")
    assert capsys.readouterr().err == f"\r{' ' * 29}\r{'x' * 29}\r{' ' * 29}\r"


def test_what_is_over_soon_shows_nothing(monkeypatch: pytest.MonkeyPatch, shown: list[str]) -> None:
    monkeypatch.setattr(module, "monotonic", lambda: 0.0)
    with progress("simulating") as show:
        show(1, 10)
    assert shown == []
    assert LATE == 0.5


@pytest.mark.parametrize("how", ["plain", "pipe", "dumb"])
def test_nothing_is_shown_where_nobody_looks(how: str, shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "pipe":
        monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    if how == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    READER.begin(is_plain=how == "plain")
    with progress("simulating") as show:
        show(1, 10)
        STOP.tick()
    assert shown == []


# ---------------------------------------------------------------------------------------------------------------------
# Ctrl-C


@pytest.fixture
def hearing() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not STOP.is_asked
    signal.signal(signal.SIGINT, before)


def test_the_first_asks_and_the_second_interrupts(hearing: None) -> None:
    with progress("working"):
        signal.raise_signal(signal.SIGINT)
        assert STOP.is_asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_work_that_does_not_ask_is_interrupted_after_a_while(hearing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 0.05)
    assert GRACE > 1
    with progress("working") as show:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            time.sleep(10)
    assert show.is_stopped


def test_in_the_background_it_is_ignored_and_a_signal_to_end_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 0.05)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with progress("working"):
            signal.raise_signal(signal.SIGINT)
            assert not STOP.is_asked
            signal.raise_signal(signal.SIGTERM)
            assert STOP.is_asked
            with pytest.raises(KeyboardInterrupt):
                time.sleep(10)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        assert signal.signal(signal.SIGINT, before[0]) is signal.SIG_IGN
        signal.signal(signal.SIGTERM, before[1])


def after(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """Have Ctrl-C typed when so many pieces of work are done."""
    left = iter(range(calls))

    def tick(_self: Any) -> None:
        if next(left, None) is None and not STOP.is_asked:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("rpgres.stopping.Stop.tick", tick)


def interrupted(*args: str) -> Ran:
    ran = run(*args)
    assert ran.code == 130, ran
    assert "Traceback" not in ran.err
    return ran


def test_odds_of_an_action_are_a_lower_bound_then(hearing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = json.loads(run("odds", "fate", "overcome", "--skill", "1", "--vs", "4dF", "--auto", "--json").out)
    after(monkeypatch, 5)
    ran = interrupted("odds", "fate", "overcome", "--skill", "1", "--vs", "4dF", "--auto", "--json")
    found = json.loads(ran.out)
    assert ran.err == "rpgres: interrupted: each chance is a lower bound, and the rest remains\n"
    assert found["method"] == "partial"
    assert (whole["interrupted"], found["interrupted"]) == (False, True)
    assert found["leaves"] == 6
    assert 0 < found["open"]["probability"] < 1
    for name, chance in found["outcomes"].items():
        assert chance["probability"] <= whole["outcomes"][name]["probability"]
    assert found["open"]["probability"] + sum(
        one["probability"] for one in found["outcomes"].values()
    ) == pytest.approx(1)


def test_a_ladder_has_the_rungs_that_are_done(hearing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, 30)
    found = json.loads(interrupted("odds", "fate", "overcome", "--skill", "1", "--auto", "--json").out)
    assert 2 <= len(found["ladder"]) < 11


def test_before_anything_is_known_it_is_estimated(hearing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "LAST", 0.2)
    after(monkeypatch, 1)
    ran = interrupted("odds", *CONFRONT, "--json")
    found = json.loads(ran.out)
    assert (found["method"], found["open"]["exact"]) == ("sampled", "1")
    assert found["sample"]["runs"] >= 1
    assert ran.err.endswith("nothing is known exactly yet; what is shown is estimated from games\n")


def test_odds_of_a_scene_are_a_lower_bound_from_the_first_arrival_on(
    hearing: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rpgres.odds.scenes import _Walk

    taken_on: Callable[..., Any] = _Walk._taken_on

    def first(self: Any, *args: Any) -> Any:
        if not self.turns.leaves:
            signal.raise_signal(signal.SIGINT)
        return taken_on(self, *args)

    monkeypatch.setattr(_Walk, "_taken_on", first)
    ran = interrupted("odds", "fate/bribe", "--auto", "--json")
    found = json.loads(ran.out)
    assert (found["interrupted"], found["open"]["exact"]) == (True, "1")


def test_optimal_decisions_of_a_scene_are_not_known_before_its_end(
    hearing: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    after(monkeypatch, 2)
    ran = interrupted("odds", "fate/conflict", "--sheet", "mara", "--against", "bruiser", "--best")
    told = "interrupted: optimal decisions need the whole scene, so nothing is known yet"
    assert ran.err == f"rpgres: {told}\n"
    after(monkeypatch, 2)
    ran = interrupted("odds", "fate/conflict", "--sheet", "mara", "--against", "bruiser", "--best", "--json")
    found = json.loads(ran.err)
    assert (ran.out, found["code"], found["message"], found["exit"]) == ("", "interrupted", told, 130)


def test_a_simulation_has_the_interval_so_far(hearing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    line = ("simulate", "fate", "overcome", "--skill", "3", "--vs", "2", "--auto", "--workers", "1", "-n", "100000000")
    monkeypatch.setattr(module.Progress, "__call__", lambda _self, _done, _of: signal.raise_signal(signal.SIGINT))
    ran = interrupted(*line, "--json")
    found = json.loads(ran.out)
    assert not found["complete"]
    assert re.fullmatch(r"rpgres: interrupted: [\d,]+ of 100,000,000 runs\n", ran.err)


def test_repeated_rolls_are_summed_up(hearing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.Progress, "__call__", lambda _self, _done, _of: signal.raise_signal(signal.SIGINT))
    ran = interrupted("roll", "4dF", "--repeat", "1000000", "--seed", "1")
    assert ran.err == "rpgres: interrupted: 1 of 1,000,000 runs\n"
    assert ran.out


@pytest.mark.parametrize("command", ["check", "test"])
def test_checks_tell_what_they_found_so_far(
    command: str, hearing: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for name in "abc":
        (tmp_path / f"{name}.toml").write_text('ruleset = "fate"\nstepps = []\n')
        files.append(str(tmp_path / f"{name}.toml"))
    seen: list[str] = []

    def name(self: Any, label: str) -> None:
        seen.append(label)
        if len(seen) == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(module.Progress, "name", name)
    ran = interrupted("scene", command, *files)
    assert seen == [f"{command}ing {file}" for file in files[:2]]
    assert "a.toml:2" in ran.out
    assert "c.toml" not in ran.out
    assert ran.err == f"rpgres: interrupted: not {command}ed: {files[2]}\n"


def test_a_check_of_plugins_tells_what_passed_so_far(hearing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def name(_self: Any, label: str) -> None:
        if label.endswith(": texts"):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(module.Progress, "name", name)
    ran = interrupted("plugin", "check", "two-dice")
    assert "passed" in ran.out
    assert ran.err == "rpgres: interrupted: not checked: two-dice\n"


def test_verify_tells_how_far_it_came(hearing: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    new = ("new", "--ruleset", "fate", "--sheet", "mara", "--seed", "1")
    for args in (new, ("note", "x"), ("note", "y"), ("reveal",)):
        assert run("table", *args).code == 0
    whole = json.loads(run("table", "verify", "--json").out)
    assert whole["entries"] >= 4, whole
    after(monkeypatch, 1)
    ran = interrupted("table", "verify", "--json")
    found = json.loads(ran.out)
    assert found["checked"] == ["the chain of hashes up to entry 1"]
    assert found["unchecked"] == ["the entries from 2 on, as it was interrupted"]
    after(monkeypatch, whole["entries"] + 1)
    found = json.loads(interrupted("table", "verify", "--json").out)
    assert "every roll, result and state, of the first 2 entries" in found["checked"]
    assert "the rolls from entry 2 on, as it was interrupted" in found["unchecked"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal stands in for a terminal")
def test_at_a_terminal_it_is_shown_and_stopped() -> None:
    from tests.support.terminal import Terminal

    terminal = Terminal(["odds", *CONFRONT])
    terminal.until("paths (Ctrl-C stops)")
    code, shown = terminal.interrupt()
    assert code == 130
    assert "remaining: 100.00 % (estimated from" in shown
    assert " ".join(shown.split()).endswith("what is shown is estimated from games")
