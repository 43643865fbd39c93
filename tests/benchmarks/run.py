"""The figures that rpgres promises, measured side by side in one run. Records, never asserts.

    python tests/benchmarks/run.py [--runs 25] [--json FILE]

Run it with an installed rpgres (`pip install '.[test,bench]'`, compiled to bytecode) and nothing else going on. Every
comparison alternates its two sides, so that a machine whose speed drifts treats both alike; ratios are medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crowd import Environments

HELLO = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str = typer.Option("world", help="whom to greet")) -> None:
    typer.echo(f"hello {name}")
app()
"""
ROLL = [sys.executable, "-m", "rpgres", "roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--seed", "7"]

# What is typed where much else is installed. The first is what is promised; the others are for information.
IN_A_CROWD = {
    "roll fate overcome": "roll fate overcome --skill 3 --vs 2 --seed 7",
    "roll after-hours slip": "roll after-hours slip --skill 2 --to hall --given roll=6,6",
    "--help": "--help",
    "roll --help, which lists rulesets": "roll --help",
    "roll fate overcome --help": "roll fate overcome --help",
}
COMPLETED = {"complete roll fate ov": "rpgres roll fate ov", "complete roll f": "rpgres roll f"}


def whole_process(command: list[str], **extra: str) -> float:
    """Return the seconds a command takes from start to exit."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | extra
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, env=env, check=True)
    return time.perf_counter() - start


def peak_memory(command: list[str]) -> float:
    """Return the most memory a command held, in MiB, measured in a process whose only child it is."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    shown = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True).stdout
    return int(shown) / (1024 if sys.platform != "darwin" else 1024**2)


def alternate(one: Callable[[], float], other: Callable[[], float], *, runs: int) -> tuple[float, float, float]:
    """Return the medians of two measurements taken in turn, and the median of their ratios."""
    one(), other()  # warm up
    pairs = [(one(), other()) for _ in range(runs)]
    return (
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
    )


def start(runs: int) -> dict[str, Any]:
    """Return how a one-shot roll starts, against a Typer app with one option."""
    with tempfile.TemporaryDirectory() as folder:
        hello = Path(folder) / "hello.py"
        hello.write_text(HELLO)
        ours, theirs, ratio = alternate(
            lambda: whole_process(ROLL), lambda: whole_process([sys.executable, str(hello)]), runs=runs
        )
    return {"ours ms": ours * 1e3, "hello-world Typer ms": theirs * 1e3, "ratio": ratio, "peak MiB": peak_memory(ROLL)}


def in_a_crowd(runs: int) -> dict[str, Any]:
    """Return how much slower commands are with 200 other distributions and 20 rulesets than with rpgres alone.

    The third party's ruleset is measured against an environment in which it is the only one.
    """
    with tempfile.TemporaryDirectory() as folder:
        environments = Environments(Path(folder))
        figures: dict[str, Any] = {}

        def measure(name: str, alone: Path, words: list[str], **extra: str) -> None:
            one, other = ([str(python), "-m", "rpgres", *words] for python in (environments.crowded, alone))
            crowded, lonely, ratio = alternate(
                lambda: whole_process(one, **extra), lambda: whole_process(other, **extra), runs=runs
            )
            figures[f"{name}: ms"] = crowded * 1e3
            figures[f"{name}: alone ms"] = lonely * 1e3
            figures[f"{name}: ratio"] = ratio

        for name, line in IN_A_CROWD.items():
            measure(name, environments.one if "after-hours" in line else environments.alone, line.split())
        for name, line in COMPLETED.items():
            words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
            measure(name, environments.alone, [], _RPGRES_COMPLETE="complete_bash", **words)
    return figures


def resolutions(runs: int) -> dict[str, Any]:
    """Return how many opposed Fate actions are resolved in a second, against d20 rolling 4d3-8."""
    import d20

    from rpgres.dice.seeds import Streams
    from rpgres.engine.dealers import SeededDealer
    from rpgres.engine.players import policy_of
    from rpgres.engine.prepare import prepare
    from rpgres.engine.run import play
    from rpgres.engine.seats import Seats
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules

    rules = load_rules(find_ruleset("fate"))
    seats = Seats(policies={"": policy_of(rules)})
    bare = prepare(rules, "overcome", {"skill": 3, "vs": "4dF+2"})
    sheets = prepare(rules, "overcome", {"sheet": "mara", "skill": "deceive", "vs": "guards:will"})

    def timed(action: Callable[[], object], count: int) -> float:
        begin = time.perf_counter()
        for _ in range(count):
            action()
        return (time.perf_counter() - begin) / count

    def resolve(prepared: Any, count: int) -> float:
        dealer = SeededDealer(Streams("7"))
        begin = time.perf_counter()
        for run in range(count):
            dealer.move_to(run)
            play(prepared, dealer=dealer, players=seats)
        return (time.perf_counter() - begin) / count

    ours, theirs, ratio = alternate(
        lambda: resolve(bare, 4000), lambda: timed(lambda: d20.roll("4d3-8"), 1000), runs=runs
    )
    with_sheets = statistics.median(resolve(sheets, 1000) for _ in range(runs))
    return {
        "opposed overcome /s": 1 / ours,
        "with sheets and invoke windows /s": 1 / with_sheets,
        "d20 4d3-8 /s": 1 / theirs,
        "ratio": 1 / ratio,
    }


def exact_odds(runs: int) -> dict[str, Any]:
    """Return how long exact odds of one opposed action take, against icepool on the same question."""
    import icepool

    from rpgres.engine.prepare import prepare
    from rpgres.odds.exact import outcome_odds
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules

    rules = load_rules(find_ruleset("fate"))
    prepared = prepare(rules, "overcome", {"skill": 3, "vs": "4dF+2"})

    def band(margin: int) -> str:
        return "fail" if margin < 0 else "tie" if margin == 0 else "succeed" if margin < 3 else "style"

    def ours() -> float:
        begin = time.perf_counter()
        for _ in range(20):
            found = outcome_odds(prepared)
        assert found.open == 0
        return (time.perf_counter() - begin) / 20

    def theirs() -> float:
        begin = time.perf_counter()
        for _ in range(20):
            fate = icepool.Die([-1, 0, 1])
            found = ((4 @ fate + 3) - (4 @ fate + 2)).map(band)
        assert found.denominator() == 6561
        return (time.perf_counter() - begin) / 20

    mine, other, ratio = alternate(ours, theirs, runs=runs)
    return {"ours ms": mine * 1e3, "icepool ms": other * 1e3, "ratio": ratio}


def hands(runs: int) -> dict[str, Any]:
    """Return how long it takes to weigh every card of five against 96, at what is needed and what edge."""
    from rpgres.engine.players import policy_of
    from rpgres.engine.prepare import prepare
    from rpgres.odds.optimal import best_odds
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules

    rules = load_rules(find_ruleset("saga"))
    figures = {}
    for need, edge, hand in (
        (18, 3, "St6,Ag3,Do8,In2,Wi5"),
        (24, 5, "St6,Ag3,St4,In2,Wi5"),
        (24, 5, "St6,St3,St4,In2,St5"),
    ):
        inputs = {"ability": "strength=0", "vs": need, "edge": edge, "hand": hand}
        times = []
        for _ in range(min(runs, 7)):
            ready = prepare(rules, "act", inputs)
            begin = time.perf_counter()
            found = best_odds(ready, policies={"": policy_of(rules)}, seconds=60)
            times.append(time.perf_counter() - begin)
            assert not any(choice.value.open for choice in found.choices)
        figures[f"{hand} to {need}, edge {edge}: ms"] = statistics.median(times) * 1e3
    return figures


def confrontations(runs: int) -> dict[str, Any]:
    """Return how long it takes to weigh every next card of seven, against seven that nobody has seen."""
    from rpgres.engine.players import policy_of
    from rpgres.engine.prepare import prepare
    from rpgres.odds.optimal import Search, best_odds
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules

    rules = load_rules(find_ruleset("faith"))
    figures = {}
    for attribute in (2, 3):
        for name, foe in (("bad luck", {"gm": True}), ("somebody", {"against": [f"bo:skill=4,attribute={attribute}"]})):
            inputs = {"skill": 4, "attribute": attribute, "hand": "S13,C11,H9,D7,S5,C3,H2", **foe}
            for only_first in (True, False)[: 4 - attribute]:
                times = []
                for _ in range(min(runs, 7 if attribute == 2 else 2)):
                    ready = prepare(rules, "confront", inputs)
                    begin = time.perf_counter()
                    odds = best_odds(ready, policies={"": policy_of(rules)}, search=Search(only_first), seconds=60)
                    times.append(time.perf_counter() - begin)
                    assert not any(choice.value.open for choice in odds.choices)
                how = "then a policy" if only_first else "all decided well"
                figures[f"attribute {attribute} against {name}, {how}: s"] = statistics.median(times)
    return figures


def main() -> None:
    """Measure everything and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=25, help="measurements of each side (default 25)")
    parser.add_argument("--json", type=Path, help="also write the figures to a file")
    options = parser.parse_args()
    figures = {
        "start of `rpgres roll fate overcome --skill 3 --vs 2`": start(options.runs),
        "start with 200 other distributions and 20 rulesets installed": in_a_crowd(options.runs),
        "resolutions in one process": resolutions(options.runs),
        "exact odds of one opposed action": exact_odds(options.runs),
        "exact odds of every card of a hand": hands(options.runs),
        "exact odds of every next card of a confrontation": confrontations(options.runs),
    }
    for title, values in figures.items():
        print(title)
        for name, value in values.items():
            print(f"  {name:44} {value:12,.2f}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
