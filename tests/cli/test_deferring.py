"""Modules that are loaded when something of them is used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module, reload
from pathlib import Path
from threading import Barrier, Thread
from types import ModuleType
from typing import Any

import pytest

from rpgres.cli.deferring import STAND_INS, deferred

NAME = "rpgres_late_example"
Late = Callable[[str], ModuleType]


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Late]:
    """Return what imports a deferred module of a text."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def imported(text: str) -> ModuleType:
        sys.modules.pop(NAME, None)
        (tmp_path / f"{NAME}.py").write_text(text, "utf-8")
        with deferred({NAME}):
            import_module(NAME)
        return import_module(NAME)  # as a second module would: that does not load it

    yield imported
    sys.modules.pop(NAME, None)


def is_loaded(module: ModuleType) -> bool:
    return type(module) is ModuleType


def test_a_module_is_loaded_when_it_is_used(late: Late) -> None:
    module = late("kept = ['whole']")
    assert not is_loaded(module)
    assert module.__name__ == NAME
    assert str(module.__file__).endswith(".py")
    assert not is_loaded(module)
    assert module.kept == ["whole"]
    assert is_loaded(module)
    assert module is sys.modules[NAME]
    assert reload(module).kept == ["whole"]


def test_taking_a_name_out_of_it_or_changing_it_loads_it(late: Late) -> None:
    text = "__all__ = ['kept']\nkept = 1\nother = 2"
    late(text)
    space: dict[str, int] = {}
    exec(f"from {NAME} import *", space)
    assert space["kept"] == 1
    assert "other" not in space
    module = late(text)
    module.kept = 3  # type: ignore[attr-defined]
    assert (module.kept, module.other) == (3, 2)


def test_a_function_that_is_taken_out_of_it_loads_it_when_it_is_called(
    late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STAND_INS, NAME, frozenset({"add", "Kind"}))
    module = late("def add(one, *, two):\n    return one + two\nclass Kind:\n    of = 5")
    space: dict[str, Any] = {}
    with deferred({}):
        exec(f"from {NAME} import Kind, add", space)
    assert not is_loaded(module)
    assert [space["add"](1, two=2), space["add"](3, two=4)] == [3, 7]
    assert is_loaded(module)
    assert (space["Kind"].of, space["Kind"]().of) == (5, 5)
    assert module.add is not space["add"]  # who takes it later gets the thing itself


def test_what_has_a_stand_in_is_there() -> None:
    assert all(hasattr(import_module(module), name) for module, names in STAND_INS.items() for name in names)


def test_what_it_does_not_have_is_told_as_ever(late: Late) -> None:
    module = late("def __getattr__(name):\n    if name == 'made':\n        return 5\n    raise AttributeError(name)")
    assert module.made == 5
    module = late("")
    for _ in range(2):
        with pytest.raises(AttributeError, match=f"module '{NAME}' has no attribute 'missing'"):
            module.missing  # noqa: B018


def test_a_module_that_fails_says_so_at_each_use(late: Late) -> None:
    module = late("first = 1\nimport rpgres_missing_example")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="rpgres_missing_example"):
            module.later  # noqa: B018
    with deferred({"rpgres_missing_example"}), pytest.raises(ModuleNotFoundError):
        import_module("rpgres_missing_example")


def test_a_module_that_asks_itself_meanwhile_has_what_it_has_so_far(late: Late) -> None:
    module = late(f"import {NAME} as me\nfirst = 1\nfound = me.first, hasattr(me, 'last')\nlast = 2")
    assert module.last == 2
    assert module.found == (1, False)


def test_threads_that_use_it_at_once_see_it_whole(late: Late) -> None:
    module = late("import time\ndef whole():\n    return last\ntime.sleep(0.1)\nlast = 2")
    together, found = Barrier(6), list[int]()

    def use() -> None:
        together.wait()
        found.append(module.whole())

    threads = [Thread(target=use) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2] * 6


def test_nothing_is_deferred_afterwards(late: Late) -> None:
    finders = list(sys.meta_path)
    late("kept = 1")
    with pytest.raises(KeyError), deferred({NAME}):
        raise KeyError
    assert sys.meta_path == finders
    del sys.modules[NAME]
    assert is_loaded(import_module(NAME))


@pytest.mark.slow
def test_each_of_them_can_be_used() -> None:
    code = """if True:
        import sys
        from importlib import import_module
        from rpgres.cli.deferring import DEFERRED, deferred

        with deferred():
            import rpgres.cli.root
        for name in sorted(DEFERRED):
            assert not hasattr(import_module(name), "missing")
            assert type(import_module(name)) is type(sys), name
        import msgspec, subprocess

        assert msgspec.json.decode(msgspec.json.encode({"a": 1})) == {"a": 1}
        assert subprocess.run([sys.executable, "-c", "pass"]).returncode == 0
    """
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_only_the_command_line_defers() -> None:
    code = (
        "import sys, rpgres, rpgres.cli.root; rpgres.roll; print({type(one).__name__ for one in sys.modules.values()})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "module" in done.stdout
    assert "_Deferred" not in done.stdout
