"""Cases of the golden tests: patterns become command lines, scripts become tables, and both are played.

In a pattern `{a|b}` stands for each of its choices, `{0..5}` and `{0..20..5}` for numbers. A line of a script begins
with `$`; its output goes to a file behind `>`, lines below it that begin with `<` are its input, and `!` in place of
`$` marks a command that has to be refused. After each command of a script every seat looks at the table.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.golden import surface

HERE = Path(__file__).parent
Record = dict[str, Any]
REFUSED, REQUESTS = "wrong", "lines"  # the files of lines that are refused, and of those that are only understood


def files(folder: str) -> list[str]:
    """Return the names of files with patterns (cases) or scripts (tables)."""
    return sorted(path.stem for path in (HERE / folder).glob("*.txt"))


def committed(folder: str, name: str) -> list[Record]:
    """Return the committed records of a file."""
    path = HERE / folder / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def lines_of(name: str) -> list[str]:
    """Return the command lines of a file of patterns, in order."""
    typed = [line.strip() for line in (HERE / "cases" / f"{name}.txt").read_text("utf-8").splitlines()]
    return sorted({line for pattern in typed if pattern and pattern[0] != "#" for line in expanded(pattern)})


def expanded(pattern: str) -> Iterator[str]:
    """Yield the lines that a pattern stands for."""
    found = re.search(r"\{([^{}]*\|[^{}]*|-?\d+\.\.-?\d+(?:\.\.\d+)?)\}", pattern)
    if not found or pattern.startswith('{"'):
        yield pattern
        return
    inner = found[1]
    if "|" in inner:
        choices = inner.split("|")
    else:
        low, high, *step = map(int, inner.split(".."))
        choices = [str(number) for number in range(low, high + 1, *step)]
    for choice in choices:
        yield from expanded(pattern[: found.start()] + choice + pattern[found.end() :])


def played(line: str, *, request: bool = False) -> Any:
    """Return the promised part of what a command line, or a request of a batch, gives in an empty folder."""
    with TemporaryDirectory(prefix="golden") as folder:
        return _given(line, Path(folder), request=request)


def _given(line: str, folder: Path, stdin: str = "", *, request: bool = False) -> Any:
    if line.startswith("{"):
        return surface.given(surface.run(["batch"], folder, line + "\n"))
    line, _, target = line.partition(" > ")
    argv = shlex.split(line)
    if target or argv[0] == "play" or "--out" in argv:
        ran = surface.run(argv, folder, stdin)
        if target:
            (folder / target.strip()).write_text(ran.out, "utf-8")
        return surface.given(ran._replace(out=""))
    return surface.given(surface.run([*argv, "--json"], folder, stdin), request=request)


def is_as_meant(name: str, gives: Any) -> bool:
    """Whether a line is refused where it should be, and nowhere else."""
    parts = gives if isinstance(gives, list) else [gives]
    refused = any(part.get("exit", 0) not in (0, 3, 10, 11) or "error" in part for part in parts)
    return refused == (name == REFUSED)


def record_of(name: str, line: str) -> Record:
    """Return the record of a line of a file."""
    return {"run": line, "gives": played(line, request=name == REQUESTS)}


def made(name: str) -> Iterator[Record]:
    """Yield the records of a file of patterns, made anew."""
    for line in lines_of(name):
        yield record_of(name, line)


@cache
def rulesets() -> list[str]:
    """Return the ids of the rulesets there are."""
    return sorted(entry["id"] for entry in _printed("ruleset", "list")["rulesets"])


@cache
def tested() -> set[tuple[str, str, str]]:
    """Return the rulesets, switches and choices of the scenes of house rules whose expectations are tested."""
    ids = [line.removeprefix("scene test ") for line in lines_of("scenes") if line.startswith("scene test ")]
    switches = {name: tomllib.loads(_source(name)).get("switches", {}) for name in ids}
    return {(name.partition("/")[0], *pair) for name, pairs in switches.items() for pair in pairs.items()}


def _source(scene: str) -> str:
    ruleset, _, name = scene.partition("/")
    return (HERE.parents[1] / "rulesets" / ruleset / "scenes" / f"{name}.toml").read_text("utf-8")


@cache
def shown(ruleset: str) -> Any:
    """Return what `ruleset show` prints of a ruleset: actions and switches."""
    return _printed("ruleset", "show", ruleset)


def _printed(*argv: str) -> Any:
    with TemporaryDirectory(prefix="golden") as folder:
        return json.loads(surface.run([*argv, "--json"], Path(folder)).out)


def unasked() -> Iterator[str]:
    """Yield the actions without a case, the choices of switches without a line, and lines that show nothing."""
    lines = [line for name in files("cases") for line in lines_of(name)]
    for ruleset in rulesets():
        about = [line for line in lines if re.match(rf"(roll|odds|scene run) {ruleset}[ /]", line)]
        for action in shown(ruleset)["actions"]:
            if not any(re.match(rf".*? {ruleset}[ /]{action}\b", line) for line in about):
                yield f"no case of {ruleset} {action}"
        for switch, entry in shown(ruleset)["switches"].items():
            for choice in entry["choices"]:
                is_asked = any(f"--switch {switch}={choice}" in line for line in about)
                if choice != entry["default"] and not is_asked and (ruleset, switch, choice) not in tested():
                    yield f"no case of {ruleset} --switch {switch}={choice}"
    for line in lines_of("switches"):
        if played(line) == played(re.sub(" --switch [^ ]+", "", line)):
            yield f"its switch changes nothing: {line}"


def table(name: str) -> list[Record]:
    """Return what the commands of a script give, and what changed for each seat after each of them."""
    typed = (HERE / "tables" / f"{name}.txt").read_text("utf-8").splitlines()
    records: list[Record] = []
    before: dict[str, Record] = {}
    with TemporaryDirectory(prefix="golden") as folder:
        for at, line in enumerate(typed):
            if line[:2] not in ("$ ", "! "):
                continue
            stdin = "".join(text[2:] + "\n" for text in _below(typed[at + 1 :]))
            gives = _given(line[2:], Path(folder), stdin)
            step = f"{len({record['run'][:2] for record in records}) + 1:02}"
            records.append(
                {"run": f"{step} {line}", "gives": gives, **({"typed": stdin.splitlines()} if stdin else {})}
            )
            seen = _seen(Path(folder))
            news = {seat: _changed(before.get(seat, {}), sight) for seat, sight in seen.items()}
            for seat, changed in news.items():
                as_host = seat != "host" and changed == news["host"]
                records.append({"run": f"{step} {seat} sees", "gives": "as host" if as_host else changed})
            before = seen
    return records


def _changed(was: Record, now: Record) -> Record:
    changed = {key: value for key, value in now.items() if was.get(key) != value}
    return {**changed, **dict.fromkeys(sorted(was.keys() - now.keys()))}


def _below(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line[:2] != "< ":
            return
        yield line


def _seen(folder: Path) -> dict[str, Record]:
    """Return what each seat is shown: the state, what is asked, and the entries, each by name."""
    shown = surface.given(surface.run(["table", "show", "--json"], folder))
    seats = shown.get("seats", [])
    return {seat: _sight(folder, seat) for seat in ("host", *seats, *(["everybody"] if seats else []))}


def _sight(folder: Path, seat: str) -> Record:
    as_seat = [] if seat == "host" else ["--as", seat]
    state = surface.given(surface.run(["table", "show", *as_seat, "--json"], folder))
    entries = surface.given(surface.run(["table", "log", *as_seat, "--json"], folder))
    return {**state.pop("state", {}), **state, **{f"entry {number}": entry for number, entry in entries.items()}}
