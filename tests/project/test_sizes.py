"""The house stays easy to read: files, classes and functions have limits, and what is longer says why."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

LINES, METHODS, FUNCTION = 600, 25, 60

# What is longer, with the reason.
LONGER = {
    "rpgres/plugins/spec.py:rpgres_rulesets": "its docstring is a whole plugin, which is what its reader looks for",
}

FILES = sorted(path for top in ("rpgres", "plugins") for path in (ROOT / top).rglob("*.py"))


def long_ones(path: Path) -> Iterator[str]:
    """Yield what of a file is over a limit: the file itself, its classes and functions, by name."""
    name, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
    if len(text.splitlines()) > LINES:
        yield name
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            methods = [inner for inner in node.body if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)]
            if len(methods) > METHODS:
                yield f"{name}:{node.name}"
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and (node.end_lineno or 0) - node.lineno + 1 > FUNCTION:
            yield f"{name}:{node.name}"


@pytest.mark.slow
def test_what_is_long_has_a_reason() -> None:
    assert {one for path in FILES for one in long_ones(path)} == set(LONGER)


@pytest.mark.parametrize(
    ("text", "long"),
    [
        ("x = 1\n" * 601, "code.py"),
        ("class A:\n" + "".join(f"    def f{n}(self): ...\n" for n in range(26)), "code.py:A"),
        ("def f():\n" + "    x = 1\n" * 60, "code.py:f"),
    ],
)
def test_a_long_one_is_seen(tmp_path: Path, text: str, long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.project.test_sizes.ROOT", tmp_path)
    (tmp_path / "code.py").write_text(text, "utf-8")
    assert list(long_ones(tmp_path / "code.py")) == [long]
