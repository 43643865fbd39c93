"""The only module of the golden tests that knows rpgres: it runs command lines, and keeps the promised fields of JSON.

Kept of a result: outcome, also, success, margin, total, opposition, effects, dice and answers by label (`answers`),
numbers that are told (`details`, `parts`, `each`), unused answers. Of a pending decision: label, owner, options by
name, whether it is optional. Of odds: exact chances by outcome, of success, what is unexplored (`open`), first
choices. Of a scene or a procedure: its steps, its ending, the state. Of a simulation: counts by outcome. Of an error:
`code` and the exit code. Of a table: per entry its kind, author, action, inputs, claims, whether it is undone, and
its result; the state as `NAME.COUNTER: number`; the pending decision, passes. Left out: texts, titles, paths, times,
hashes, versions, keys, seeds, switches in force, and whatever else a record may have.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from typer.testing import CliRunner

SCALARS = ("outcome", "also", "success", "margin", "total", "opposition", "ending", "seats", "under_way", "passes")


TOLD = ("of", "before", "claimed", "given", "period", "path", "value", "text", "undone", "undid")


class Ran(NamedTuple):
    """What a command line left behind."""

    code: int
    out: str
    err: str


def run(argv: Sequence[str], cwd: Path, stdin: str = "") -> Ran:
    """Run a command line in this process, in a folder, without the settings of whoever runs it; chance has no say."""
    from rpgres.cli.root import app

    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP")}
    home = {f"XDG_{kind}_HOME": str(cwd / ".home") for kind in ("CONFIG", "STATE", "CACHE", "DATA")}
    fixed = {**kept, **home, "HOME": str(cwd / ".home"), "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC"}
    with chdir(cwd), mock.patch.dict(os.environ, fixed, clear=True), _salted():
        done = CliRunner().invoke(app, list(argv), input=stdin, prog_name="rpgres")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Ran(done.exit_code, done.stdout, done.stderr)


@contextmanager
def _salted() -> Iterator[None]:
    """Have every salt be the same, wherever rpgres takes it from: the dice of a table come from its seed and a salt."""
    real, before = os.urandom, {name: vars(module)["urandom"] for name, module in _with_salts()}
    os.urandom = _salt
    try:
        for name in before:
            vars(sys.modules[name])["urandom"] = _salt
        yield
    finally:
        os.urandom = real
        for name, module in _with_salts():
            vars(module)["urandom"] = before.get(name, real)


def _with_salts() -> list[tuple[str, Any]]:
    modules = [(name, module) for name, module in sys.modules.items() if name.startswith("rpgres")]
    return [(name, module) for name, module in modules if "urandom" in vars(module)]


def _salt(size: int) -> bytes:
    return (b"golden" * size)[:size]


def given(ran: Ran, *, request: bool = False) -> Any:
    """Return the promised part of what a command gave; with `request` only what it was understood as."""
    records = _parsed(ran.err if ran.code in (1, 2) else ran.out)
    if not records:
        return {"exit": ran.code}
    kept = [_request(record) if request and "inputs" in record else reduced(record) for record in records]
    code = {} if ran.code == 0 else {"exit": ran.code}
    return {**kept[0], **code} if len(kept) == 1 else kept


def _parsed(text: str) -> list[dict[str, Any]]:
    try:
        records = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        return []
    return [record for record in records if isinstance(record, dict)]


def reduced(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the promised fields of a record of any kind; what is empty is left out."""
    kind = str(record.get("format", "")).partition("/")[0].removeprefix("rpgres.")
    if kind == "error":
        return {"error": record["code"]}
    kept: dict[str, Any] = {name: record.get(name) for name in SCALARS}
    if kind in ("pending", "table") and (pending := record if kind == "pending" else record.get("pending")):
        asked = pending.get("together") or [pending["question"]]
        kept["asks"] = [_question(question) for question in asked]
    kept["answers"] = [f"{answer['label']}={answer['value']}" for answer in record.get("answers") or ()]
    kept["effects"] = [_words(effect) for effect in record.get("effects") or ()]
    kept["unused"] = [f"{answer['label']}={answer['value']}" for answer in record.get("unused") or ()]
    for name in ("details", "parts", "each", "orders"):
        kept[name] = _textless(record.get(name))
    if kind in ("odds", "scene-odds"):
        kept["outcomes"], kept["success"] = _exact(record["outcomes"]), _exact(record.get("success"))
        choices = record.get("choices") or ()
        kept["choices"] = {f"{choice['label']}={choice['option']}": _exact(choice.get("success")) for choice in choices}
        kept["open"] = _exact(record.get("open"))
    for part in (*record.get("ladder", ()), *record.get("cells", ()), *record.get("cases", ())):
        kept[part["name"] if "name" in part else _words(part["at"])] = _exact(part["outcomes"])
    if kind == "simulation":
        counted = record["counted"]
        counts = counted.get("outcome") or counted.get("ending") or next(iter(counted.values()))
        kept["success"] = None
        kept["counts"] = {str(value["value"]): value["count"] for value in counts["values"]}
    if "steps" in record:
        kept["steps"] = [" ".join([step.get("id") or "", _line(step)]).strip() for step in record["steps"]]
    if "state" in record and isinstance(record["state"], dict):
        kept["state"] = _state(record["state"], sheets=kind == "table")
    if "entry" in record and isinstance(record["entry"], dict):
        kept["entry"] = _entry(record["entry"])
    if "entries" in record and isinstance(record["entries"], list):
        return {str(entry["number"]): _entry(entry) for entry in record["entries"]}
    return {
        name: value for name, value in kept.items() if _says_something(value) or (name, value) == ("success", False)
    }


def _says_something(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], {})


def _request(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a line was understood as: who does what with which inputs, and the answers that it gave."""
    answers = [f"{answer['label']}={answer['value']}" for answer in record["answers"]]
    parts = [record.get("actor") or "", record.get("action") or "", _words(record["inputs"])]
    return {"request": " ".join(filter(None, parts)), **({"answers": answers} if answers else {})}


def _question(question: Mapping[str, Any]) -> str:
    """Return a question on one line: whose, what, the options by name."""
    options = "|".join(option["name"] for option in question["options"]) or "..."
    return f"{question['who']}:{question['label']}={options}" + " (optional)" * bool(question.get("optional"))


def _entry(entry: Mapping[str, Any]) -> str:
    """Return an entry of a journal on one line."""
    result = entry.get("result") or entry.get("pending") or {}
    told = {name: entry[name] for name in TOLD if _says_something(entry.get(name))}
    said = [entry["kind"], "by " * bool(entry.get("by")) + entry.get("by", ""), entry.get("actor"), entry.get("action")]
    inputs = result.get("inputs") or {}
    return " ".join(filter(None, [*said, _words(inputs), _words(told), "-> " + _line(result) if result else ""]))


def _line(result: Mapping[str, Any]) -> str:
    """Return a result on one line."""
    kept = reduced({"format": "rpgres.pending" if "question" in result else "", **result})
    return _words({name: value for name, value in kept.items() if name != "details"})


def _words(value: Any) -> str:
    """Return a value as words: `kind=hit shifts=2`."""
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_words(part)}" for name, part in sorted(value.items()))
    if isinstance(value, list | tuple):
        return "[" + "; ".join(_words(part) for part in value) + "]"
    return str(value)


def _textless(value: Any) -> Any:
    """Return a value without texts for people."""
    if isinstance(value, Mapping):
        return {name: _textless(part) for name, part in value.items() if name not in ("text", "texts")}
    return [_textless(part) for part in value] if isinstance(value, list) else value


def _exact(value: Any) -> Any:
    """Return chances as fractions, without those of 0."""
    if isinstance(value, Mapping):
        if "exact" in value:
            return value["exact"] if value["exact"] != "0" else None
        kept = {name: _exact(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if part not in (None, {}, [], "")}
    return value


def _state(state: Mapping[str, Any], *, sheets: bool) -> dict[str, Any]:
    """Return a state as one flat object; of sheets, which rarely change, the abilities only where that is said."""
    flat: dict[str, Any] = {}
    for name, character in state["characters"].items():
        if sheets:
            flat[f"{name}.abilities"] = _words(character["abilities"])
        flat.update({f"{name}.{counter}": value for counter, value in character["counters"].items() if value})
        for track, boxes in character["tracks"].items():
            flat[f"{name}.{track}"] = " ".join(f"{box['name']}={box['mark']}" for box in boxes if box["mark"])
        flat[f"{name}.out"] = character["is_out"]
    for tag in state["tags"]:
        flat[f"{tag['kind']} of {tag['on'] or 'the scene'}: {tag['name']}"] = _words([tag["uses"], tag["audience"]])
    for name in ("counters", "things", "audiences"):
        flat.update({f"{name}.{key}": _words(value) for key, value in (state.get(name) or {}).items()})
    for name, pile in (state.get("piles") or {}).items():
        runs = [(card, len(list(run))) for card, run in groupby(pile["cards"])]
        flat[f"pile {name}"] = " ".join(card if count == 1 else f"{card}x{count}" for card, count in runs)
    flat["periods"] = state.get("periods")
    return {name: value for name, value in flat.items() if _says_something(value)}
