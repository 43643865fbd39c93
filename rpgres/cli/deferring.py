"""Modules of libraries that a start imports and hardly a command uses: they are loaded when something of them is used.

Typer and msgspec import them at their top, and loading them is a tenth of a one-shot command. Until then an
empty module takes the place of each. That of `importlib.util.LazyLoader` is loaded as soon as a second module imports
it, and before Python 3.12 a second thread may see half of it. Where a library takes a name out of a module at once
(`from difflib import ...`), it is given what stands for that (`STAND_INS`); for any other name the module is loaded
at once as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

# By what imports them, with what that does with them.
DEFERRED = frozenset(
    {
        *("subprocess", "shellingham"),  # typer: completion in a shell, programs that it starts
        *("bz2", "lzma"),  # shutil: whether there are archives of that kind
        *("difflib", "gettext"),  # typer: names that are near, messages in other languages
        "tokenize",  # inspect, linecache: lines of source code
        *("ntpath", "urllib.parse"),  # pathlib: paths of another system, URLs
        "traceback",  # typer: what failed
        *("msgspec.inspect", "msgspec.json"),  # msgspec: JSON, and its schemas
    }
)


# What is taken out of them at once: what stands for it loads the module when it is used.
STAND_INS: dict[str, frozenset[str]] = {
    "difflib": frozenset({"get_close_matches"}),
    "gettext": frozenset({"gettext"}),
    "traceback": frozenset({"FrameSummary", "StackSummary"}),
    "urllib.parse": frozenset({"quote_from_bytes"}),
}


class _Deferred(ModuleType):
    """A module that is loaded when it is asked for anything but what the import system has set, or is changed."""

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("__"):
            if name in STAND_INS.get(self.__name__, ()) and any(isinstance(one, _Finder) for one in sys.meta_path):
                return _Later(self, name)  # when no more is deferred, the thing itself
            _load(self)
        return ModuleType.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:  # `__all__`, and what it does not have
        if name != "__path__":  # that of a package, which has it before it is loaded; every `from` asks for it
            _load(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        _load(self)
        ModuleType.__setattr__(self, name, value)


def _load(module: ModuleType) -> None:
    spec = module.__spec__
    assert spec is not None
    spec.loader_state.load(module)


class _Later:
    """What stands for a function or a class of a module, which is loaded when this is called or asked for anything."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self._module = module
        self._name = name

    def __call__(self, *args: Any, **named: Any) -> Any:
        _load(self._module)
        return getattr(self._module, self._name)(*args, **named)

    def __getattr__(self, name: str) -> Any:
        _load(self._module)
        return getattr(getattr(self._module, self._name), name)


class _Deferring:
    """A loader that leaves loading to the module, and to another loader."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._lock = RLock()
        self._has_begun = False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        module.__loader__ = self._loader
        spec.loader, spec.loader_state = self._loader, self
        module.__class__ = _Deferred

    def load(self, module: ModuleType) -> None:
        with self._lock:  # another thread waits until the module is whole; this one may be in the middle of it
            if self._has_begun:
                return
            self._has_begun = True
            try:
                self._loader.exec_module(module)
            except BaseException:
                self._has_begun = False
                raise
            ModuleType.__setattr__(module, "__class__", ModuleType)


class _Finder:
    """What finds the modules to be deferred, before the finders of Python do."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in self._names else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Deferring(spec.loader)  # type: ignore[assignment]
        return spec


@contextmanager
def deferred(names: Collection[str] = DEFERRED) -> Iterator[None]:
    """Defer modules that are imported for the first time meanwhile.

    Args:
        names: those to be deferred, written in Python.
    """
    finder: Any = _Finder(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
