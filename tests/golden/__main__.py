"""`python -m tests.golden`: make all records anew and print the difference; with `--write` write them.

Each difference is a line: the case, what it was, what it is. Exits with 1 where there is one. Names look at these files
alone; `--missing` lists actions without a case, and switches that no line shows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial

from tests.golden import cases

_json = partial(json.dumps, ensure_ascii=False)


def main(words: list[str]) -> int:
    """Print what differs, with `--write` write it, and with names look at these files alone."""
    named = [word for word in words if not word.startswith("--")]
    found = 0
    for folder, name in [(kind, file) for kind in ("cases", "tables") for file in cases.files(kind)]:
        if named and name not in named:
            continue
        old, new = cases.committed(folder, name), list(cases.made(name) if folder == "cases" else cases.table(name))
        told = [*difference(old, new), *mistaken(folder, name, new)]
        if told:
            print(f"{folder}/{name}", *told, sep="\n  ", end="\n\n")
        found += len(told)
        if "--write" in words:
            text = "".join(_json(record) + "\n" for record in new)
            (cases.HERE / folder / f"{name}.jsonl").write_text(text, "utf-8")
    for line in cases.unasked() if "--missing" in words else ():
        print(line)
    return min(found, 1)


def difference(old: list[cases.Record], new: list[cases.Record]) -> Iterator[str]:
    """Yield a line for each case that is new, gone, or gives another result."""
    was, now = ({record["run"]: record["gives"] for record in records} for records in (old, new))
    for run in sorted(was.keys() | now.keys()):
        if run not in was:
            yield f"+ {run}: {_json(now[run])}"
        elif run not in now:
            yield f"- {run}: {_json(was[run])}"
        elif was[run] != now[run]:
            before, after = parted(was[run], now[run])
            yield f"{run}: {_json(before)} -> {_json(after)}"


def parted(was: object, now: object) -> tuple[object, object]:
    """Return two results without the fields that are the same."""
    if not (isinstance(was, dict) and isinstance(now, dict)):
        return was, now
    keys = [key for key in was.keys() | now.keys() if was.get(key) != now.get(key)]
    pairs = {key: parted(was.get(key), now.get(key)) for key in sorted(keys)}
    return {key: pair[0] for key, pair in pairs.items()}, {key: pair[1] for key, pair in pairs.items()}


def mistaken(folder: str, name: str, records: list[cases.Record]) -> Iterator[str]:
    """Yield the lines that are refused and should not be, or the other way round."""
    for record in records:
        run, gives = record["run"], record["gives"]
        if (folder == "tables" and (run.endswith(" sees") or run[3] == "!")) or gives == "as host":
            continue
        if not cases.is_as_meant(name if folder == "cases" else "", gives):
            yield f"? {run}: {_json(gives)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
