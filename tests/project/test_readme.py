"""The documentation, run block by block as a reader would, each page in an empty folder."""

from __future__ import annotations

import inspect
import pydoc
import re
import sys
from pathlib import Path
from types import FunctionType
from typing import get_type_hints

import msgspec
import pytest

import rpgres
from tests.docs import (
    PAGES,
    SECTION,
    blocks_of,
    commands_of,
    install,
    made,
    run_python,
    shipped_text,
    type_quickly,
    write_file,
)
from tests.support.checkout import ROOT
from tests.support.faces import CONSTANTS, GROUPS, public_members

NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the blocks are for a POSIX shell")
@pytest.mark.parametrize("page", NAMES)
def test_every_block_prints_what_it_shows(page: str, tmp_path: Path) -> None:
    """When this fails, and the new output is right: python tests/docs.py --all"""
    ran = 0
    for block in blocks_of((ROOT / page).read_text(encoding="utf-8")):
        if write_file(block.text, folder=tmp_path):
            ran += 1
        elif (shipped := shipped_text(block.text)) is not None:
            assert block.text == shipped, f"{page}:{block.line}: python tests/docs.py {page}"
        elif block.language == "sh":
            install(block.text, folder=tmp_path)
        elif block.language == "python":
            assert run_python(block.text, name=f"{page}:{block.line}") == []
        elif block.language == "console":
            for command, expected in commands_of(block.text):
                assert type_quickly(command, folder=tmp_path) == expected, f"{page}:{block.line}: {command}"
                ran += 1
    assert ran or "```" not in (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("page", NAMES)
def test_every_command_shows_its_output(page: str) -> None:
    for block in blocks_of((ROOT / page).read_text(encoding="utf-8")):
        if block.language == "console":
            assert all(output for _, output in commands_of(block.text)), f"{page}:{block.line}"


def test_the_two_commands_come_first_and_make_their_own_environment() -> None:
    first, second = [block.text for block in blocks_of(README) if block.language == "sh"]
    for command in (first, second):
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
        assert command.count("\n") == 1
    assert "rpgres roll fate" in first
    assert "pytest" in second
    assert [block.language for block in blocks_of(README)][:2] == ["sh", "sh"]


def test_every_public_name_is_documented_once() -> None:
    """When this fails: a name of `rpgres` is in no group of `tests/support/faces.py`, in two, or is none now."""
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(rpgres.__all__)
    assert set(CONSTANTS) <= set(grouped)
    assert set(rpgres.__all__) <= set(dir(rpgres))


@pytest.mark.parametrize("name", ["", *(f".{name}" for name in rpgres.__all__)])
def test_help_works_for_every_public_name(name: str) -> None:
    assert pydoc.render_doc(f"rpgres{name}")


@pytest.mark.parametrize("name", rpgres.__all__)
def test_every_annotation_of_a_public_name_can_be_evaluated(name: str) -> None:
    named = getattr(rpgres, name)
    members = [getattr(one, "fget", one) for one in public_members(named).values()] if isinstance(named, type) else []
    for function in (*members, *([named] if isinstance(named, FunctionType) else [])):
        evaluated = inspect.signature(function, eval_str=True).parameters.values()
        assert not [one.name for one in evaluated if isinstance(one.annotation, str)]
    if isinstance(named, type) and issubclass(named, msgspec.Struct):
        assert set(named.__struct_fields__) <= set(get_type_hints(named))


def test_every_method_of_the_table_tells_its_arguments() -> None:
    for name, method in public_members(rpgres.Table).items():
        text = inspect.getdoc(method) or ""
        if isinstance(method, FunctionType):
            taken = set(inspect.signature(method).parameters) - {"self"}
            heads = [line.partition(":")[0] for line in text.splitlines() if ":" in line]
            told = {word for head in heads for word in re.findall(r"\w+", head)}
            assert len(taken) < 2 or taken <= told, (name, taken - told)
        assert text


def test_what_is_made_from_the_code_is_current() -> None:
    """When this fails: python tests/docs.py plugins/README.md"""
    text = (ROOT / "plugins" / "README.md").read_text(encoding="utf-8")
    sections = list(SECTION.finditer(text))
    assert [section[1] for section in sections] == ["keys", "table", "face", "kits"]
    for section in sections:
        assert section[0] == made(section)
        assert "|  |" not in section[0], "a name without a docstring"
