"""Two tables that differ only in secrets tell a seat the same: every byte of output, error, exit code and written file.

`--secrecy N` makes about N comparisons of random commands, `--secrecy-seed TEXT` other ones.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest

import rpgres as library
from rpgres.cli.mcp import server
from rpgres.journal.commands import writing
from rpgres.lines.seat import Seat
from tests.safety.pairs import LOOKS, MACROS, ORDERS, PAIRS, Pair
from tests.support.command_line import rpgres

WAYS = ("text", "json", "batch", "library", "mcp")
# The salt of each entry is random, so hashes differ; so does the time, and the seed of a what-if comes from a hash.
FRESH = re.compile(r"[0-9a-f]{64}|[0-9a-f]{60}\.\.\.|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|what-if:[0-9a-f]{16}")
NAMES = "show=name undo=number set=assignment note=text begin=period end=period answer=option pass=label join=sheet"
ARGUMENT_OF = dict(re.findall(r"(\w+)=(\w+)", NAMES + " orders=deed"))  # the key of a request for a bare word
# How a refusal of the command line, of a batch, of the library and of the MCP server looks in what `told` returns.
REFUSED = re.compile(r'^\[[12],|rpgres\.error/|^\["\w*(Error|Needs)|"is_?[eE]rror": ?true')
OPTIONS = ["as", "table", "actor", "given", "choose", "leaves", "seconds", "auto", "until", "to", "out"]
GIVEN = ("roll", "opposition", "deal", "draw", "redraw")
FLAGS = ("auto", "best", "force")


class Step(NamedTuple):
    """A command line of a seat, and through which way in it goes; only what the seat that looks is told is compared."""

    seat: str
    line: str
    way: str
    is_compared: bool

    def __str__(self) -> str:
        return f"{self.way:8}{self.seat}: {self.line}"


def options(words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Return the words of a line, the options with their values, the others under an empty name."""
    left = iter(words)
    for word in left:
        name = word.removeprefix("--")
        yield ("", word) if name == word else (name, True if name in FLAGS else next(left))


def request_of(seat: str, line: str) -> dict[str, Any]:
    """Return a command line as a request of a batch."""
    head, *words = shlex.split(line)
    made: dict[str, Any] = {"op": "whatif" if head == "whatif" else f"table.{head}", "as": seat}
    made |= {} if head == "whatif" else {"table": "t.db"}
    plain = " ".join(value for name, value in options(words) if not name)
    made |= {"run" if head == "whatif" else ARGUMENT_OF.get(head, "action"): plain} if plain else {}
    for name, value in options(words):
        if name in ("given", "choose"):
            made.setdefault(name, []).append(value)
        elif name and head in ("act", "odds") and name not in OPTIONS:
            made.setdefault("with", {})[name] = value
        elif name:
            made[name] = value
    return made


def called(seat: str, line: str) -> Any:
    """Return what the library gives for a line, in every form; of an error all that hangs on it."""
    asked = request_of(seat, line)
    try:
        table = library.open_table("t.db", seat=None if seat == "host" else seat)
        more: dict[str, Any] = {"auto": True} if "auto" in asked else {}
        for label, _, value in (one.partition("=") for name in ("given", "choose") for one in asked.get(name, ())):
            more.setdefault("given" if label in GIVEN else "choose", {})[label] = value
        done = more | {"actor": asked["actor"]} if "actor" in asked else more
        calls: dict[str, Callable[[], Any]] = {
            "view": table.view,
            "orders": table.orders,
            "verify": table.verify,
            "pass": lambda: table.pass_(asked.get("label", ""), until=asked.get("until", "action")),
            "act": lambda: table.act(asked["action"], **done, **asked.get("with", {})),
            "odds": lambda: table.odds(asked["action"], leaves=9, seconds=99, **done, **asked.get("with", {})),
            "answer": lambda: table.answer(more.get("choose") or asked.get("option"), auto="auto" in more),
            "whatif": lambda: table.whatif(int(asked["run"].partition("#")[2]), **more),
        }
        found = calls.get(line.split()[0], lambda: table.do(line))()
    except library.RpgresError as error:
        chained = [str(one) for one in (error.run, error.__cause__, error.__context__)]
        return [type(error).__name__, repr(error), error.raw, error.path, error.reason, error.details, chained]
    return [found, repr(found), getattr(found, "_repr_html_", lambda: None)()]


def tool_of(seat: str, line: str) -> tuple[str, dict[str, Any]]:
    """Return the tool that a line is for, and its arguments."""
    asked = request_of(seat, line)
    match line.split():
        case ["act" | "odds" as tool, action, *_]:
            inputs = [f"{name}={value}" for name, value in asked.get("with", {}).items()]
            more: dict[str, Any] = {one: asked[one] for one in ("given", "choose", "auto", "actor") if one in asked}
            return tool, {"action": action, "inputs": inputs, **(more if tool == "act" else {})}
        case ["show" | "redo" as word, *_]:
            return ("show", {}) if word == "show" else ("undo", {"redo": True})
        case ["log", *last]:
            return "log", {"last": int(last[1])} if last else {}
        case ["undo", *number]:
            return "undo", {"entry": int(number[0])} if number else {}
        case ["answer", *choice]:
            return "answer", {"auto": True} if choice == ["--auto"] else {"choice": choice[-1].partition("=")[2]}
        case ["view" | "verify" | "orders" | "export", *_]:
            return "actions", {}
    return "act", {"line": line}


def told(step: Step) -> str:
    """Return all that a seat is told by one command, through one way in."""
    seat, line, way, _ = step
    if way == "batch":
        found: Any = rpgres("batch", "--seconds", "99", stdin=json.dumps(request_of(seat, line)))
    elif way == "library":
        found = called(seat, line)
    elif way == "mcp":
        name, arguments = tool_of(seat, line)
        found = server._called(Seat(Path("t.db"), seat), name, arguments).model_dump_json()
    else:
        head = [] if line.startswith("whatif") else ["table"]
        at = ["--table", "t.db"] if head else []
        who = [] if seat == "host" else ["--as", seat]
        found = rpgres(*head, *shlex.split(line), *who, *at, *(["--json"] if way == "json" else []))
    text = found if isinstance(found, str) else msgspec.json.encode(found, enc_hook=str).decode()
    written = [(str(file), file.read_text("utf-8")) for file in sorted(Path("all").rglob("*")) if file.is_file()]
    shutil.rmtree("all", ignore_errors=True)
    return FRESH.sub("...", f"{text} {written or ''}")


def salted(patch: pytest.MonkeyPatch, start: int) -> None:
    """Have salts count from a number, so that two tables have the same dice."""
    salts = count(start)
    patch.setattr(writing, "urandom", lambda size: next(salts).to_bytes(size, "big"))


def begin(folder: Path, pair: Pair, which: int, patch: pytest.MonkeyPatch) -> None:
    """Begin one of the tables of a pair in a folder."""
    (folder / "own").mkdir(parents=True)
    patch.chdir(folder)
    salted(patch, 1)
    sheet = Path(library.__file__).parents[1] / "rulesets/saga/sheets/brannagh.toml"
    Path("own/odo.toml").write_text(sheet.read_text("utf-8").replace("Brannagh Quill", "Odo Fell"), "utf-8")
    for name, text in ORDERS.items():
        Path(f"own/{name}.toml").write_text(text, "utf-8")
    for line in pair.begin:
        seat, _, typed = line.format(*pair.secrets[which]).partition(": ")
        ran = rpgres("table", *shlex.split(typed), "--table", "t.db", *([] if seat == "host" else ["--as", seat]))
        assert ran.code in (0, 3), (line, ran.err)
    shutil.rmtree("own")


class Runner:
    """Runs the same steps at both tables of a pair, each time from their beginning."""

    def __init__(self, folder: Path, pair: Pair, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch, self.runs = folder, patch, count()
        self.counted, self.done = 0, 0  # the commands, and those that were not refused
        for which in (0, 1):
            begin(folder / f"begun{which}", pair, which, patch)

    def told(self, which: int, steps: Sequence[Step]) -> list[str]:
        """Return what each step is told at one of the tables."""
        here = self.folder / f"run{next(self.runs)}"
        shutil.copytree(self.folder / f"begun{which}", here)
        self.patch.chdir(here)
        salted(self.patch, 1000)
        found = [told(step) for step in steps]
        self.counted += len(found)
        self.done += sum(not REFUSED.search(text) for text in found)
        self.patch.chdir(self.folder)
        shutil.rmtree(here)
        return [text.replace(str(here), "~") for text in found]

    def difference(self, steps: Sequence[Step]) -> tuple[int, str, str] | None:
        """Return the first step whose seat is told something else at the other table."""
        both = zip(steps, self.told(0, steps), self.told(1, steps), strict=True)
        found = ((n, one, two) for n, (step, one, two) in enumerate(both) if one != two and step.is_compared)
        return next(found, None)


def commands(pair: Pair, chance: Random) -> list[Step]:
    """Return random commands of a seat, and some of others."""
    player, *_ = seats = list(pair.tries)
    seat = chance.choices(seats, [1 if one == "everybody" else 4 for one in seats])[0]
    actor = "" if seat == player else f"--actor {player}"
    filled = {"me": seat, "player": player, "other": pair.owner, "actor": actor}
    filled |= {name: text.format(**filled) for name, text in MACROS.items()}
    found: list[Step] = []
    while len(found) < 10:
        lines = pair.tries[seat] if chance.random() < 0.7 else LOOKS
        number = max(1, len(pair.begin) - chance.randint(-4, 3))
        does = chance.choice((seat, player))  # a line of an action, whose results both can look at
        chosen = chance.choice(lines).format(n=number, **filled)
        if "--leaves" in chosen and chance.random() < 0.9:  # odds of cards take a second
            continue
        for line in chosen.split("; "):
            who, _, typed = line.rpartition(": ")
            who = who or (does if line.startswith(("act", "answer")) else seat)
            way = chance.choice(WAYS[: 4 if "--leaves" in line else 5])  # the tool of MCP has no such limit
            found.append(Step(who, typed, way if who == seat else "text", who == seat))
    return found


def shortest(runner: Runner, steps: list[Step]) -> list[Step]:
    """Return fewer steps at the end of which the seat is still told something else."""
    found = runner.difference(steps)
    assert found, f"differs only sometimes: {steps}"
    steps, n = steps[: found[0] + 1], 0
    while n < len(steps) - 1:
        fewer = steps[:n] + steps[n + 1 :]
        found = runner.difference(fewer)
        steps, n = (fewer[: found[0] + 1], n) if found else (steps, n + 1)
    return steps


def report(pair: Pair, name: str, seed: str, runner: Runner, steps: list[Step]) -> str:
    """Return how to see a leak."""
    steps = shortest(runner, steps)
    _, one, two = runner.difference(steps)  # type: ignore[misc]
    at = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    shown = [f"table {n + 1}: ...{text[max(0, at - 200) : at + 300]}" for n, text in enumerate((one, two))]
    begun = [line.format(*pair.secrets[0]) for line in pair.begin]
    head = [f"--secrecy-seed {seed}, pair {name!r}", *begun, f"or {pair.secrets[1]}"]
    return "\n".join([*head, *map(str, steps), *shown])


@pytest.mark.parametrize("name", PAIRS)
def test_a_seat_is_told_nothing_of_secrets(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    pair, seed = PAIRS[name], pytestconfig.getoption("secrecy_seed")
    chance, runner = Random(f"{seed} {name}"), Runner(tmp_path, pair, monkeypatch)
    compared = 0
    while compared < pytestconfig.getoption("secrecy") / len(PAIRS):
        steps = commands(pair, chance)
        compared += sum(step.is_compared for step in steps)
        if runner.difference(steps):
            pytest.fail(report(pair, name, seed, runner, steps), pytrace=False)
    assert runner.done > runner.counted / 5, "nearly every command is refused, so hardly anything is compared"


@pytest.mark.parametrize("name", PAIRS)
def test_the_owner_sees_the_secrets(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = PAIRS[name]
    runner = Runner(tmp_path, pair, monkeypatch)
    before = [Step(line.split(": ")[0], line.split(": ")[1], "text", is_compared=False) for line in pair.shows[:-1]]
    looks = [Step(pair.owner, pair.shows[-1], way, is_compared=True) for way in WAYS]
    assert sum(runner.difference([*before, step]) is not None for step in looks) >= 3  # of the ways in
