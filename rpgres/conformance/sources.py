"""Whether a ruleset's code keeps its hands off what a rule must not touch, by reading it. Nothing here runs it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import NamedTuple

from rpgres.conformance.records import NothingToCheck, finding, place
from rpgres.conformance.subjects import Subject
from rpgres.plugins.entries import normal
from rpgres.rulesets import Ruleset
from rpgres.toml.diagnostics import Diagnostic

OWN = "rpgres"  # the kits are ours to answer for

_CHANCE = "random results come from the table: table.roll"
_TIME = "a rule uses no clock; keep the time in the game in a counter of the state"
_FILES = "a rule reads no files and no environment; put what it needs into the TOML of its data folder"
_TERMINAL = "a rule neither prints nor prompts: table.tell adds to the account, table.ask asks"
_NETWORK = "a rule uses no network or other communication"
_ELSEWHERE = "a rule uses no threads or processes; it must ask the same questions in every run"
_PUBLIC = "public is what `rpgres` and `rpgres.kits` give; a rule must not depend on who answers it"
_VALUES = "such values differ between processes; compare and sort by names"

# Modules, and names of modules, that no rule has a use for, and what to do instead.
MODULES = {
    **dict.fromkeys(("random", "secrets", "uuid", "numpy.random"), _CHANCE),
    **dict.fromkeys(("time", "datetime", "sched", "zoneinfo"), _TIME),
    **dict.fromkeys(
        ("os", "io", "shutil", "tempfile", "glob", "fileinput", "sqlite3", "dbm", "shelve", "mmap", "platform"), _FILES
    ),
    **dict.fromkeys(("getpass", "readline", "curses", "tkinter", "webbrowser", "logging", "warnings"), _TERMINAL),
    **dict.fromkeys(("socket", "ssl", "select", "selectors", "http", "ftplib", "smtplib", "requests"), _NETWORK),
    **dict.fromkeys(("urllib.request", "socketserver", "httpx", "aiohttp"), _NETWORK),
    **dict.fromkeys(("threading", "_thread", "multiprocessing", "concurrent", "asyncio"), _ELSEWHERE),
    **dict.fromkeys(
        ("subprocess", "signal", "ctypes", "atexit", "gc", "pty", "runpy", "builtins", "importlib.import_module"),
        _ELSEWHERE,
    ),
    **dict.fromkeys(("sys.stdin", "sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"), _TERMINAL),
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
METHODS = dict.fromkeys(
    ("read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "unlink", "mkdir", "expanduser"), _FILES
)
_OF_PATH = re.compile(r"(pathlib\.)?Path(\(.*\))?\.")
# Methods of paths that read no file; `absolute` and `resolve` find where the module's own data stand.
_PURE = {"absolute", "as_posix", "as_uri", "full_match", "is_absolute", "is_relative_to", "joinpath", "match"}
_PURE |= {"relative_to", "resolve", "with_name", "with_segments", "with_stem", "with_suffix"}


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
            yield finding(f"the source of {module} cannot be read: {error}", place(str(file)))
            continue
        for fault in sorted([*faults_in(tree), *_undeclared(tree, _top(module), subject.distribution)]):
            yield finding(fault.what, place(str(file), fault.line), fault.advice)


def words_of(ruleset: Ruleset) -> set[str]:
    """Return every text in the sources of a ruleset's code, as far as they can be read."""
    words: set[str] = set()
    for file in modules_of(ruleset).values():
        with suppress(OSError, SyntaxError, ValueError):
            nodes = ast.walk(ast.parse(file.read_bytes()))
            words.update(one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return words


def _undeclared(tree: ast.Module, own: str, distribution: str) -> Iterator[Fault]:
    """Yield the modules of others that are imported though the distribution does not depend on what brings them."""
    imported = {_top(module): line for line, module, _ in _imports(tree, own)}
    others = {name: line for name, line in imported.items() if name not in {own, OWN, "", *sys.stdlib_module_names}}
    if not others or distribution in ("", OWN):
        return
    from importlib.metadata import PackageNotFoundError, packages_distributions, requires

    try:
        needed = {normal(re.split(r"[^\w.-]", text, maxsplit=1)[0]) for text in requires(distribution) or ()}
    except PackageNotFoundError:
        return
    brought = packages_distributions()
    for name, line in others.items():
        its = brought.get(name, [name])
        if not needed.intersection(map(normal, [*its, name])) and distribution not in its:
            advice = f'add "{its[0]}" to `dependencies` in pyproject.toml, or do without it'
            yield Fault(line, f"it imports {name}, which {distribution} does not depend on", advice)


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
        parts = name.split(".")
        waiting += [".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)]
        waiting += [other for other in _imported(name, file) if _top(other) == _top(name) and other not in found]
    return found


def _top(name: str) -> str:
    return name.partition(".")[0]


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
    for _, module, names in _imports(tree, package):
        yield module
        yield from (f"{module}.{one}" for one in names)


def _imports(tree: ast.Module, package: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield every module that is imported by absolute name, with the line, and the names that are taken from it."""
    for node in _running(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            with suppress(ImportError):
                base = resolve_name("." * node.level + (node.module or ""), package)
                yield node.lineno, base, [alias.name for alias in node.names]


# ---------------------------------------------------------------------------------------------------------------------
# What is in one


def faults_in(tree: ast.Module) -> Iterator[Fault]:
    """Yield what a module imports, calls or changes that no rule may touch."""
    named = _names(tree)
    for node in _running(tree):
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    yield from _forbidden(node, alias.name)
            case ast.ImportFrom(module=str(module), level=0):
                yield from _import_from(node, module)
            case ast.Attribute():
                yield from _attribute(node, named)
            case ast.Call():
                yield from _call(node, named)
            case ast.Global(names=names):
                what = f"it changes the module's {', '.join(names)}"
                yield Fault(node.lineno, what, f"{_ELSEWHERE}; keep lasting data in the state")
            case ast.ExceptHandler(type=caught) if caught is None or "BaseException" in ast.unparse(caught):
                if not any(isinstance(inner, ast.Raise) for inner in ast.walk(node)):
                    what = "it catches everything, and with it what ends a run"
                    yield Fault(node.lineno, what, "catch Exception, or less")
    yield from _sets_in_order(tree)
    yield from _kept_between_runs(tree)


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
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name) | ast.Name(name, ast.Store()):
                named[name] = ""
            case ast.ImportFrom(names=aliases):
                named |= {alias.asname or alias.name: "" for alias in aliases}
            case ast.Import(names=aliases):
                tops = [alias.name if alias.asname else _top(alias.name) for alias in aliases]
                named |= {alias.asname or top: top for alias, top in zip(aliases, tops, strict=True)}
    return named


def _import_from(node: ast.ImportFrom, module: str) -> Iterator[Fault]:
    told = list(_forbidden(node, module))
    yield from told
    public = ("*", *sys.modules[OWN].__all__)  # the package itself is loaded, and lists its names without loading them
    for alias in node.names if not told else ():
        if _top(module) != OWN:
            yield from _forbidden(node, f"{module}.{alias.name}")
        elif module == OWN and alias.name not in public:
            yield from _forbidden(node, f"{OWN}.{alias.name}")


def _attribute(node: ast.Attribute, named: dict[str, str]) -> Iterator[Fault]:
    if getattr(node.value, "id", "") == "table" and (node.attr == "run" or node.attr.startswith("_")):
        yield Fault(node.lineno, f"it uses table.{node.attr}, which is not public", _PUBLIC)
    if isinstance(node.value, ast.Name) and node.value.id in named:
        full = f"{named[node.value.id]}.{node.attr}"
        if full in MODULES:
            yield Fault(node.lineno, f"it uses {full}", MODULES[full])


def _call(node: ast.Call, named: dict[str, str]) -> Iterator[Fault]:
    if isinstance(node.func, ast.Name) and node.func.id in BUILTINS and node.func.id not in named:
        yield Fault(node.lineno, f"it calls {node.func.id}()", BUILTINS[node.func.id])
    elif isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
        yield Fault(node.lineno, f"it calls .{node.func.attr}()", METHODS[node.func.attr])
    elif _OF_PATH.match(ast.unparse(node.func)) and getattr(node.func, "attr", "") not in _PURE:
        yield Fault(node.lineno, f"it calls {ast.unparse(node.func)}()", _FILES)


_CHANGING = {"append", "extend", "insert", "remove", "pop", "clear", "add", "discard"}  # methods of lists and sets
_CHANGING |= {"update", "setdefault", "popitem"}  # and of dicts
_LASTS = "it keeps its value from run to run; keep lasting data in the state"


def _kept_between_runs(tree: ast.Module) -> Iterator[Fault]:
    """Yield what functions change that outlives a run: whatever the module holds, and default values."""
    mutable, lasting = _module_names(tree)
    for statement in tree.body:
        match statement:
            case ast.Assign(value=ast.Attribute(value=ast.Name(id=name), attr=attr)) if (
                name in mutable and attr in _CHANGING
            ):  # by another name
                yield Fault(statement.lineno, f"it changes the module's {name}", _LASTS)
    for function in _running(tree):
        if not isinstance(function, ast.FunctionDef | ast.Lambda):
            continue
        for default in (*function.args.defaults, *filter(None, function.args.kw_defaults)):
            if _is_mutable(default):
                yield Fault(default.lineno, "a default value of a function can be changed", _LASTS)
        own = _own_names(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                is_name = isinstance(node.value, ast.Name)
                known = (mutable if is_name else lasting) if node.attr in _CHANGING else set()
            elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                known = lasting
            else:
                continue
            if _root(node) in known - own:
                yield Fault(node.lineno, f"it changes the module's {_root(node)}", _LASTS)


def _own_names(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Return the names that a function binds itself."""
    nodes = list(ast.walk(function))
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return own | {bound for node in nodes if (bound := _bound_name(node))}


def _bound_name(node: ast.AST) -> str | None:
    """Return the name that a pattern or an `except` binds."""
    match node:
        case ast.MatchAs() | ast.MatchStar() | ast.ExceptHandler():
            return node.name
        case ast.MatchMapping():
            return node.rest
    return None


def _module_names(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return the names of lists, tables and sets that a module holds, and of all that it makes itself."""
    mutable, lasting = set[str](), set[str]()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            lasting.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            lasting |= names
            mutable |= names if _is_mutable(node.value) else set()
    return mutable, lasting


def _is_mutable(node: ast.expr | None) -> bool:
    made = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.List | ast.Dict | ast.Set) or made in ("list", "dict", "set", "defaultdict", "deque")


def _root(node: ast.expr) -> str:
    """Return the name of which something is an attribute or an item, however deep."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return getattr(node, "id", "")


# What makes nothing of the order in which it gets its items, so that a set may be given to it.
_ORDERLESS = {"sorted", "set", "frozenset", "len", "sum", "min", "max", "any", "all", "Counter", "bool"}
_SET_METHODS = {"union", "intersection", "difference", "symmetric_difference", "copy"}
_ORDERED = {"list", "tuple", "enumerate", "iter", "zip", "map", "filter", "reversed", "fromkeys", "join", "extend"}
_SORT = "the order of a set differs between processes; go through sorted(...) of it"


def _sets_in_order(tree: ast.Module) -> Iterator[Fault]:
    """Yield where something is made of the items of a set in the order in which the set happens to have them."""
    named = _set_names(tree)

    def is_set(node: ast.expr) -> bool:
        match node:
            case ast.Set():
                return _is_hashed(node)
            case ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset"), args=[_, *_]):
                return True
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _SET_METHODS:
                return is_set(value)
            case ast.BinOp(left, ast.BitOr() | ast.BitAnd() | ast.Sub() | ast.BitXor(), right):
                return is_set(left) or is_set(right)
            case ast.Name(id):
                return id in named
        return False

    free: set[ast.AST] = set()  # what is made of a set in whatever order, and given to what makes nothing of it
    for node in _running(tree):
        taken: list[ast.expr] = []
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in _ORDERLESS:
                free.update(args)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in _ORDERED:
                taken = args
                free.update(args if node in free else ())
            case ast.Set(elts):
                free.update(elts)
            case ast.List(elts) | ast.Tuple(elts) if node in free:
                free.update(elts)
            case ast.For(iter=items) | ast.Starred(value=items):
                taken = [items]
            case ast.ListComp(generators=loops) | ast.DictComp(generators=loops) | ast.GeneratorExp(generators=loops):
                taken = [loop.iter for loop in loops]
            case ast.Call(func=ast.Attribute(value=items, attr="pop"), args=[]):
                taken = [items]
        if node not in free and any(is_set(one) for one in taken):
            yield Fault(getattr(node, "lineno", 1), "it goes through a set in the order that it happens to have", _SORT)


def _is_hashed(node: ast.Set) -> bool:
    """Tell whether the items of a set may fall in another order elsewhere: whole numbers always fall in the same."""
    return not all(isinstance(one, ast.Constant) and isinstance(one.value, int) for one in node.elts)


def _set_names(tree: ast.Module) -> set[str]:
    """Return the names that stand for sets wherever they are assigned."""
    found: dict[str, bool] = {}
    for node in _running(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            text = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
            call = node.value.func if isinstance(node.value, ast.Call) else None
            is_set = isinstance(node.value, ast.SetComp) or getattr(call, "id", "") in ("set", "frozenset")
            is_set = is_set or (isinstance(node.value, ast.Set) and _is_hashed(node.value))
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    kept = found.get(target.id, True)
                    found[target.id] = kept and (is_set or text.startswith(("set[", "frozenset[")))
        elif isinstance(node, ast.arg | ast.For):
            other = node.arg if isinstance(node, ast.arg) else getattr(node.target, "id", "")
            found[other] = False
    return {name for name, is_set in found.items() if is_set}


def _forbidden(node: ast.stmt, module: str) -> Iterator[Fault]:
    parts = module.split(".")
    if parts[0] == OWN and parts[1:] and parts[1] != "kits":
        yield Fault(node.lineno, f"it imports {module}, which is not public", _PUBLIC)
    for end in range(len(parts), 0, -1):
        name = ".".join(parts[:end])
        if name in MODULES:
            yield Fault(node.lineno, f"it imports {name}", MODULES[name])
            return
