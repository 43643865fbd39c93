"""Mutation testing of rule text: do the conformance scenes and the tests of a ruleset notice a changed rule?

`python tests/mutation.py [RULESET...] [--sample N] [--seed S]` changes one thing at a time in a temporary copy: in the
TOML tables of a ruleset (outcomes, menus, bands) and in the Python of its plugin. Each mutant meets the scenes of its
ruleset, and the tests of `tests/systems/test_RULESET*.py` if every scene holds. Tests of over a second are left out,
so what survives here may still be caught by one of these. Survivors are listed with their lines.

Left out, as a change makes no difference to a ruling:

- texts: what stands in `raise`, in f-strings and what chooses one, in what is called `text` or one of `TEXTS`; `tell`,
  and an `if` that ends with it; docstrings and annotations;
- preferences: `prefer`, suggested answers (`SUGGESTED`, `ways`), modules named `policies`, functions registered as
  policies;
- economies of odds, which change the cost of an answer and not the answer: `lump`, `canon`, `merge`, `alike`, `apart`,
  `dominant`, `is_won`, functions that end with `merge`, and those of `FOR_ODDS`, which tell policies facts, too;
- `assert`, limits of what may be typed (`MOST...`), `ENDLESS` (larger than any other number), and what stands in for a
  value that is always there: `card.value or 0`, `counters.get(NAME, 0)` (a sheet has every counter of its ruleset).
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RULESETS = ("fate", "coppermane", "saga", "faith", "nodice")
SHARED = {"fate": ("rpgres/kits/data/fate-family",)}  # tables of kits, tested with the ruleset that leaves them as is
COPIED = ("rpgres", "plugins", "rulesets", "tests", "pyproject.toml")
SCENES_WITHIN, TESTS_WITHIN = 30, 240  # seconds, after which a mutant counts as caught: it does not end
TEST_WITHIN = 1.0  # seconds; a test that takes longer is left out
SHOWN = 110  # characters of a change

SIZES = {"minor": "serious", "serious": "minor"}
TEXTS = ("text", "texts", "words", "listed", "told", "how", "shown", "near", "known", "help", "title", "example")
LEFT_OUT = frozenset(
    (*TEXTS, "prefer", "dominant", "is_won", "alike", "apart", "low", "ways", "SUGGESTED", "ENDLESS")
)  # variables, arguments
FOR_ODDS = frozenset(
    (
        *("_alike", "_alike_last", "_best_last", "_counts_trumpless", "_essence", "_facts", "facts_of"),
        *("_is_doubtful", "_is_won", "_low_cards", "_suit_if", "suits_of", "words_of"),
    )
)
ECONOMIES = ("lump", "canon", "policy", "policies")
SILENT = ("merge", "tell")  # calls that change no ruling
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


class Mutant(NamedTuple):
    """One change of one file: where, what in words, and the whole text of the file with it."""

    path: str
    line: int
    change: str
    text: Callable[[], str]


class Verdict(NamedTuple):
    """What became of a mutant: caught by `scenes`, by `tests`, or by nothing."""

    mutant: Mutant
    caught_by: str


# ---------------------------------------------------------------------------------------------------------------------
# Mutants of TOML

Edit = tuple[tuple[str | int, ...], str, Callable[[Any], None]]  # key path, what changes, the change of the whole data


def toml_mutants(path: Path, root: Path) -> Iterator[Mutant]:
    """Yield the mutants of a TOML file: of `bands` alone in a `ruleset.toml`, else of every table."""
    from rpgres.toml.places import spot

    text = path.read_text(encoding="utf-8")
    data = tomllib.loads(text)
    name = path.relative_to(root).as_posix()
    edits = _band_edits(data) if path.name == "ruleset.toml" else _table_edits((), data)
    for keys, change, edit in edits:
        line = spot(keys, text)[0] or 0
        yield Mutant(name, line, f"{'.'.join(map(str, keys))}: {change}", lambda edit=edit: _edited(data, edit))


def _edited(data: dict[str, Any], edit: Callable[[Any], None]) -> str:
    import tomli_w

    changed = copy.deepcopy(data)
    edit(changed)
    return tomli_w.dumps(changed)


def _band_edits(data: dict[str, Any]) -> Iterator[Edit]:
    tables: list[tuple[tuple[str, ...], dict[str, Any]]] = [(("bands",), data.get("bands", {}))]
    tables += [(("actions", name, "bands"), one.get("bands", {})) for name, one in data.get("actions", {}).items()]
    for prefix, bands in tables:
        for name, band in bands.items():
            keys = (*prefix, name)
            for bound in ("from", "to"):
                if bound in band:
                    yield from _stepped((*keys, bound), band[bound], unlike=_taken(bands, name))
            if "success" in band:
                yield (*keys, "success"), "turned around", _setting((*keys, "success"), not band["success"])
            yield from _condition_edits(keys, band)


def _table_edits(keys: tuple[str | int, ...], node: Any) -> Iterator[Edit]:
    """Yield the edits of whatever stands at a key path of an outcome table or a menu."""
    if isinstance(node, list):
        for number, item in enumerate(node):
            yield from _table_edits((*keys, number), item)
            if keys[-1] == "effects":
                yield (*keys, number), f"effect {item.get('kind')} taken away", _removing((*keys, number))
                yield from _effect_edits((*keys, number), item)
    if not isinstance(node, dict):
        return
    yield from _condition_edits(keys, node)
    for key, value in node.items():
        if key in ("when", "unless"):
            continue
        yield from _table_edits((*keys, key), value)
        if keys and keys[-1] in ("options", "ask"):
            yield (*keys, key), f"taken away from {keys[-1]}", _removing((*keys, key))
        if key == "optional":
            yield (*keys, key), "turned around", _setting((*keys, key), not value)


def _effect_edits(keys: tuple[str | int, ...], effect: dict[str, Any]) -> Iterator[Edit]:
    for key, value in effect.items():
        if type(value) is int:
            yield from _stepped((*keys, key), value)
        if key == "size" and value in SIZES:
            yield (*keys, key), f"{value} -> {SIZES[value]}", _setting((*keys, key), SIZES[value])


def _condition_edits(keys: tuple[str | int, ...], node: dict[str, Any]) -> Iterator[Edit]:
    for condition in ("when", "unless"):
        if isinstance(node.get(condition), dict):
            yield (*keys, condition), "negated", _negating(keys)
            for bound, value in node[condition].items():
                if type(value) is int:
                    yield from _stepped((*keys, condition, bound), value)


def _taken(bands: dict[str, Any], name: str) -> frozenset[int]:
    """Return the bounds of the bands before one: the first that fits holds, so reaching into it changes nothing."""
    before = list(bands.values())[: list(bands).index(name)]
    return frozenset(band[bound] for band in before for bound in ("from", "to") if bound in band)


def _stepped(keys: tuple[str | int, ...], value: int, *, unlike: frozenset[int] = frozenset()) -> Iterator[Edit]:
    for changed in (value - 1, value + 1):
        if changed not in unlike:
            yield keys, f"{value} -> {changed}", _setting(keys, changed)


def _at(data: Any, keys: Iterable[str | int]) -> Any:
    for key in keys:
        data = data[key]
    return data


def _setting(keys: tuple[str | int, ...], value: Any) -> Callable[[Any], None]:
    return lambda data: _at(data, keys[:-1]).__setitem__(keys[-1], value)


def _removing(keys: tuple[str | int, ...]) -> Callable[[Any], None]:
    return lambda data: _at(data, keys[:-1]).__delitem__(keys[-1])


def _negating(keys: tuple[str | int, ...]) -> Callable[[Any], None]:
    def negate(data: Any) -> None:
        node = _at(data, keys)
        swapped = {"when": node.pop("unless", None), "unless": node.pop("when", None)}
        node.update({name: value for name, value in swapped.items() if value is not None})

    return negate


# ---------------------------------------------------------------------------------------------------------------------
# Mutants of Python


class Slot(NamedTuple):
    """A place in a syntax tree that holds a node: a field of its parent, or an item of one."""

    parent: ast.AST
    field: str
    index: int | None

    def put(self, node: ast.AST) -> None:
        """Have this place hold another node."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def python_mutants(path: Path, root: Path) -> Iterator[Mutant]:
    """Yield the mutants of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = path.relative_to(root).as_posix()
    for slot, node in list(_slots(tree, _policies_of(tree))):
        for changed in _changes(node):
            line = getattr(node, "lineno", 0)
            change = f"{_shown(node)} -> {_shown(changed)}"
            yield Mutant(
                name, line, change, lambda slot=slot, node=node, changed=changed: _unparsed(tree, slot, node, changed)
            )


def _unparsed(tree: ast.AST, slot: Slot, node: ast.AST, changed: ast.AST) -> str:
    slot.put(changed)
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    finally:
        slot.put(node)


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _policies_of(tree: ast.AST) -> frozenset[str]:
    """Return the names of the functions that are registered as policies or as keys of equivalence."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node.func) in ECONOMIES]
    wrapped = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.func in calls]
    named = {arg.id for call in (*calls, *wrapped) for arg in call.args if isinstance(arg, ast.Name)}
    return frozenset(named)


def _called(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _called(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _slots(parent: ast.AST, policies: frozenset[str]) -> Iterator[tuple[Slot, ast.AST]]:
    """Yield every node below one, with its place, but for what is left out."""
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.AST) and not _is_left_out(node, policies):
                yield Slot(parent, field, index), node
                yield from _slots(node, policies)


def _is_left_out(node: ast.AST, policies: frozenset[str]) -> bool:
    if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, ast.Compare):
        return any(isinstance(one, ast.Name) and one.id.startswith("MOST") for one in node.comparators)
    if isinstance(node, ast.BoolOp):
        return len(node.values) == 2 and ast.unparse(node).endswith(".value or 0")
    if isinstance(node, ast.Call) and _called(node.func) == "get" and isinstance(node.func, ast.Attribute):
        return ast.unparse(node.func.value).endswith("counters") and isinstance(node.args[-1], ast.Constant)
    if isinstance(node, ast.IfExp):
        return isinstance(node.body, ast.JoinedStr) or isinstance(node.orelse, ast.JoinedStr)
    if isinstance(node, ast.keyword):
        return node.arg in LEFT_OUT
    if isinstance(node, ast.FunctionDef):
        registered = any(_called(one) in ECONOMIES for one in node.decorator_list)
        return registered or node.name in policies | FOR_ODDS or _calls(node.body[-1], ("merge",))
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        return any(name in LEFT_OUT or name.startswith("MOST") for name in names)
    if isinstance(node, ast.If) and not node.orelse:
        return _calls(node.body[-1], SILENT)
    return _calls(node, (*SILENT, *ECONOMIES, "_same_from_here"))


def _calls(node: ast.AST, names: tuple[str, ...]) -> bool:
    """Tell whether a node is a statement that calls one of these."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _called(node.value) in names


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node."""
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            other = COMPARISONS[type(operator)]()
            yield ast.Compare(node.left, [*node.ops[:number], other, *node.ops[number + 1 :]], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()


# ---------------------------------------------------------------------------------------------------------------------
# Running


def mutants_of(ruleset: str, root: Path) -> list[Mutant]:
    """Return every mutant of a ruleset's tables and of its plugin, as they stand in a checkout."""
    folders = [root / "rulesets" / ruleset, *(root / shared for shared in SHARED.get(ruleset, ()))]
    found: list[Mutant] = []
    for folder in folders:
        for path in (folder / "ruleset.toml", folder / "menus.toml", *sorted(folder.glob("outcomes/*.toml"))):
            found += toml_mutants(path, root) if path.exists() else ()
    for path in sorted((root / "plugins" / f"rpgres_{ruleset}").glob("*.py")):
        found += python_mutants(path, root) if path.stem not in ("policies", "__init__") else ()
    return found


def serve(ruleset: str) -> None:
    """Prove the scenes of a ruleset once for each line of the input, in a process of its own: what runs in the copy."""
    import rpgres.lint
    import rpgres.scenes  # noqa: F401  # imported once, and not the plugin, which differs from mutant to mutant

    for _ in sys.stdin:
        child = os.fork()
        if not child:
            signal.alarm(SCENES_WITHIN)
            try:
                holds = scenes_hold(ruleset)
            except BaseException:
                holds = False
            os._exit(0 if holds else 1)
        print("holds" if os.waitpid(child, 0)[1] == 0 else "caught", flush=True)


def scenes_hold(ruleset: str) -> bool:
    """Tell whether every scene of a ruleset in this folder holds."""
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.scenes import check_scene, prove_scene, read_scene
    from rpgres.toml.reading import read_source

    for path in sorted(Path("rulesets", ruleset, "scenes").glob("*.toml")):
        scene = read_scene(read_source(path), find_ruleset=find_ruleset)
        if check_scene(scene) or prove_scene(scene)[1]:
            return False
    return True


class Workshop:
    """A copy of the checkout in which mutants are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            if (ROOT / name).is_dir():
                left_out = shutil.ignore_patterns("__pycache__") if name != "rpgres" else None
                shutil.copytree(ROOT / name, folder / name, ignore=left_out)
            else:
                shutil.copy2(ROOT / name, folder / name)
        # No byte code of plugins is kept: two mutants of one second and one size could be taken for each other.
        paths = os.pathsep.join((str(folder), str(folder / "plugins")))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RPGRES_")}
        self.environment = {**kept, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "RPGRES_CACHE": ""}
        self.servers: dict[str, subprocess.Popen[str]] = {}
        self.slow: dict[str, list[str]] = {}  # options that leave out the slow tests of a ruleset

    def close(self) -> None:
        """End the processes that prove scenes."""
        for server in self.servers.values():
            server.communicate()

    def scenes_hold(self, ruleset: str) -> bool:
        """Tell whether the scenes of a ruleset hold here."""
        if ruleset not in self.servers:
            self.servers[ruleset] = subprocess.Popen(
                [sys.executable, "tests/mutation.py", ruleset, "--serve"],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        server = self.servers[ruleset]
        assert server.stdin is not None
        assert server.stdout is not None
        print(file=server.stdin, flush=True)
        return server.stdout.readline() == "holds\n"

    def tests_hold(self, ruleset: str) -> bool:
        """Tell whether the tests of a ruleset pass here, after the first time without those that take long."""
        names = sorted(f"tests/systems/{path.name}" for path in (ROOT / "tests/systems").glob(f"test_{ruleset}*.py"))
        options = ["-x", "-q", "-vv", "-p", "no:cacheprovider", "-m", "not slow", "--durations=0"]
        command = [sys.executable, "-m", "pytest", *options, *names, *self.slow.get(ruleset, ())]
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=TESTS_WITHIN,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        if ruleset not in self.slow:
            took = re.findall(r"^([0-9.]+)s call +(.+?)$", done.stdout, re.MULTILINE)
            self.slow[ruleset] = [f"--deselect={name}" for seconds, name in took if float(seconds) > TEST_WITHIN]
        return done.returncode == 0

    def judge(self, ruleset: str, mutant: Mutant, *, scenes_only: bool) -> Verdict:
        """Return what catches a mutant."""
        path = self.folder / mutant.path
        before = path.read_bytes()
        path.write_text(mutant.text(), encoding="utf-8")
        try:
            if not self.scenes_hold(ruleset):
                return Verdict(mutant, "scenes")
            return Verdict(mutant, "" if scenes_only or self.tests_hold(ruleset) else "tests")
        finally:
            path.write_bytes(before)


def run(workshop: Workshop, ruleset: str, *, sample: int, seed: int, only: str, scenes_only: bool) -> None:
    """Judge a sample of a ruleset's mutants, and print a line of the table and the survivors."""
    if not workshop.scenes_hold(ruleset) or not (scenes_only or workshop.tests_hold(ruleset)):
        sys.exit(f"{ruleset}: its scenes or tests fail without any change; mend them first")
    every = [mutant for mutant in mutants_of(ruleset, workshop.folder) if only in f"{mutant.path}:{mutant.line}:"]
    chosen = random.Random(seed).sample(every, min(sample, len(every))) if sample else every
    verdicts = []
    for mutant in chosen:
        verdicts.append(workshop.judge(ruleset, mutant, scenes_only=scenes_only))
        if not verdicts[-1].caught_by:
            print(f"    survives  {mutant.path}:{mutant.line}: {mutant.change}", flush=True)
    scenes, tests, alive = (sum(one.caught_by == kind for one in verdicts) for kind in ("scenes", "tests", ""))
    rate = 100 * (scenes + tests) / max(1, len(verdicts))
    print(
        f"{ruleset:12}{len(chosen):5} of {len(every):5} mutants  "
        f"scenes {scenes:4}  tests {tests:4}  survivors {alive:4}  caught {rate:5.1f} %",
        flush=True,
    )


def main() -> None:
    """Read the command line, and judge the rulesets it names one after another."""
    parser = argparse.ArgumentParser(description="Change rules one at a time, and tell which changes no test notices.")
    parser.add_argument("rulesets", nargs="*", default=RULESETS, metavar="RULESET")
    parser.add_argument("--sample", type=int, default=60, help="mutants of each ruleset; 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--only", default="", help="mutants whose FILE:LINE: holds this text")
    parser.add_argument("--scenes-only", action="store_true", help="leave out the slow tests")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        serve(*chosen.rulesets)
        return
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(Path(folder))
        for ruleset in chosen.rulesets:
            run(
                workshop,
                ruleset,
                sample=chosen.sample,
                seed=chosen.seed,
                only=chosen.only,
                scenes_only=chosen.scenes_only,
            )
        workshop.close()


if __name__ == "__main__":
    main()
