"""Whether a ruleset's code keeps its hands off what a rule must not touch, by reading it. Nothing here runs it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import NamedTuple

from rpgres.conformance.records import NothingToCheck, Place, finding
from rpgres.conformance.subjects import Subject
from rpgres.rulesets import Ruleset
from rpgres.toml.diagnostics import Diagnostic

OWN = "rpgres"  # the kits are ours to answer for

_CHANCE = "random results come from the table: table.roll"
_TIME = "a rule uses no clock; keep the time in the game in a counter of the state"
_FILES = "a rule reads no files and no environment; put what it needs into the TOML of its data folder"
_TERMINAL = "a rule neither prints nor prompts: table.tell adds to the account, table.ask asks"
_NETWORK = "a rule uses no network or other communication"
_ELSEWHERE = "a rule uses no threads or processes; it must ask the same questions in every run"
_VALUES = "such values differ between processes; compare and sort by names"

# Modules, and names of modules, that no rule has a use for, and what to do instead.
MODULES = {
    **dict.fromkeys(("random", "secrets", "uuid", "numpy.random"), _CHANCE),
    **dict.fromkeys(("time", "datetime", "sched", "zoneinfo"), _TIME),
    **dict.fromkeys(
        ("os", "io", "shutil", "tempfile", "glob", "fileinput", "sqlite3", "dbm", "shelve", "mmap", "platform"), _FILES
    ),
    **dict.fromkeys(("getpass", "readline", "curses", "tkinter", "webbrowser"), _TERMINAL),
    **dict.fromkeys(("socket", "ssl", "select", "selectors", "http", "ftplib", "smtplib", "requests"), _NETWORK),
    **dict.fromkeys(("urllib.request", "socketserver", "httpx", "aiohttp"), _NETWORK),
    **dict.fromkeys(("threading", "_thread", "multiprocessing", "concurrent", "asyncio"), _ELSEWHERE),
    **dict.fromkeys(
        ("subprocess", "signal", "ctypes", "atexit", "gc", "pty", "runpy", "importlib.import_module"), _ELSEWHERE
    ),
    **dict.fromkeys(("sys.stdin", "sys.stdout", "sys.stderr"), _TERMINAL),
    **dict.fromkeys(("sys.argv", "sys.platform"), _FILES),
    **dict.fromkeys(("sys.exit", "sys.modules", "sys.settrace", "sys.setprofile", "sys._getframe"), _ELSEWHERE),
}
# Functions that are always at hand.
BUILTINS = {
    "open": _FILES,
    **dict.fromkeys(("print", "input", "breakpoint"), _TERMINAL),
    **dict.fromkeys(("eval", "exec", "compile", "__import__", "exit", "quit"), _ELSEWHERE),
    **dict.fromkeys(("id", "hash"), _VALUES),
}
# Methods that only paths have.
METHODS = dict.fromkeys(("read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "unlink", "mkdir"), _FILES)


class Fault(NamedTuple):
    """Something in a source text: its line, what it is, and what to do instead."""

    line: int
    what: str
    advice: str


def check_sources(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what the code imports or calls that no rule may touch, in every module that its rules are made of."""
    modules = modules_of(subject.rules.ruleset)
    if not modules:
        raise NothingToCheck("it has no code of its own")
    for module, file in sorted(modules.items()):
        try:
            tree = ast.parse(file.read_bytes(), str(file))
        except (OSError, SyntaxError, ValueError) as error:
            yield finding(f"the source of {module} cannot be read: {error}", Place(str(file)))
            continue
        for fault in sorted(faults_in(tree)):
            yield finding(fault.what, Place(str(file), fault.line), fault.advice)


# ---------------------------------------------------------------------------------------------------------------------
# Which modules


def modules_of(ruleset: Ruleset) -> dict[str, Path]:
    """Return the files of the modules that a ruleset's functions stand in, and of those of its package they import."""
    functions: list[object] = [
        *ruleset.actions.values(),
        *ruleset.effects.values(),
        *ruleset.policies.values(),
        *ruleset.preparations,
    ]
    functions = [getattr(function, "func", function) for function in functions]  # of a partial, what it calls
    names = {getattr(function, "__module__", None) or type(function).__module__ for function in functions}
    found: dict[str, Path] = {}
    waiting = sorted(name for name in names if _top(name) != OWN)
    while waiting:
        name = waiting.pop()
        file = _file_of(name)
        if name in found or file is None:
            continue
        found[name] = file
        waiting += [parent for parent in _parents(name) if parent not in found]
        waiting += [other for other in _imported(name, file) if _top(other) == _top(name) and other not in found]
    return found


def _top(name: str) -> str:
    return name.partition(".")[0]


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _file_of(name: str) -> Path | None:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin)


def _imported(name: str, file: Path) -> Iterator[str]:
    """Yield what a module may import, by absolute name; what is imported from a module may be a module too."""
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (OSError, SyntaxError, ValueError):
        return
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in _running(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            try:
                base = resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:
                continue
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


# ---------------------------------------------------------------------------------------------------------------------
# What is in one


def faults_in(tree: ast.Module) -> Iterator[Fault]:
    """Yield what a module imports, calls or changes that no rule may touch."""
    named = _names(tree)
    for node in _running(tree):
        for kind, find in _FINDERS:
            if isinstance(node, kind):
                yield from find(node, named)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node below one, without what is only there for type checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _is_typing(child.test):
            for other in child.orelse:
                yield other
                yield from _running(other)
        else:
            yield child
            yield from _running(child)


def _is_typing(test: ast.expr) -> bool:
    return (test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")) == "TYPE_CHECKING"


def _names(tree: ast.Module) -> dict[str, str]:
    """Return what the names in a module stand for: `import datetime as d` makes `d` datetime; its own are nothing."""
    named: dict[str, str] = {}
    for node in _running(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            named[node.name] = ""
        elif isinstance(node, ast.arg):
            named[node.arg] = ""
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            named[node.id] = ""
        elif isinstance(node, ast.ImportFrom):
            named.update({alias.asname or alias.name: "" for alias in node.names})
        elif isinstance(node, ast.Import):
            for alias in node.names:
                named[alias.asname or _top(alias.name)] = alias.name if alias.asname else _top(alias.name)
    return named


def _import(node: ast.Import, _named: dict[str, str]) -> Iterator[Fault]:
    for alias in node.names:
        yield from _forbidden(node, "it imports", alias.name)


def _import_from(node: ast.ImportFrom, _named: dict[str, str]) -> Iterator[Fault]:
    if node.level or node.module is None:
        return
    told = list(_forbidden(node, "it imports", node.module))
    yield from told
    if not told:
        for alias in node.names:
            yield from _forbidden(node, "it imports", f"{node.module}.{alias.name}")


def _attribute(node: ast.Attribute, named: dict[str, str]) -> Iterator[Fault]:
    if isinstance(node.value, ast.Name) and node.value.id in named:
        full = f"{named[node.value.id]}.{node.attr}"
        if full in MODULES:
            yield Fault(node.lineno, f"it uses {full}", MODULES[full])


def _call(node: ast.Call, named: dict[str, str]) -> Iterator[Fault]:
    if isinstance(node.func, ast.Name) and node.func.id in BUILTINS and node.func.id not in named:
        yield Fault(node.lineno, f"it calls {node.func.id}()", BUILTINS[node.func.id])
    elif isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
        yield Fault(node.lineno, f"it calls .{node.func.attr}()", METHODS[node.func.attr])


def _global(node: ast.Global, _named: dict[str, str]) -> Iterator[Fault]:
    names = ", ".join(node.names)
    yield Fault(node.lineno, f"it changes the module's {names}", f"{_ELSEWHERE}; keep lasting data in the state")


def _forbidden(node: ast.stmt, verb: str, module: str) -> Iterator[Fault]:
    parts = module.split(".")
    for end in range(len(parts), 0, -1):
        name = ".".join(parts[:end])
        if name in MODULES:
            yield Fault(node.lineno, f"{verb} {name}", MODULES[name])
            return


_FINDERS: Iterable[tuple[type[ast.AST], Callable[..., Iterator[Fault]]]] = (
    (ast.Import, _import),
    (ast.ImportFrom, _import_from),
    (ast.Attribute, _attribute),
    (ast.Call, _call),
    (ast.Global, _global),
)
