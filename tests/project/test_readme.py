"""The documentation, run block by block as a reader would, each page in an empty folder."""

from __future__ import annotations

import inspect
import pydoc
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import FunctionType
from typing import get_type_hints

import msgspec
import pytest

import rpgres
from rpgres.cli.help.guide import anchor_of
from tests.docs import (
    FENCE,
    PAGES,
    SECTION,
    blocks_of,
    change_file,
    commands_of,
    install,
    made,
    played,
    run_python,
    session,
    shipped_text,
    type_quickly,
    write_file,
)
from tests.support.checkout import ROOT
from tests.support.command_line import FEW_PROCESSES
from tests.support.faces import GROUPS, notes, public_members
from tests.support.picture import COMMANDS, FILE, picture

NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the blocks are for a POSIX shell")
@pytest.mark.parametrize("page", NAMES)
def test_every_block_prints_what_it_shows(page: str, tmp_path: Path, few_processes: None) -> None:
    """When this fails, and the new output is right: python tests/docs.py --all"""
    ran = 0
    (tmp_path / "conftest.py").write_text(FEW_PROCESSES, "utf-8")  # for `pytest` of a page
    for block in blocks_of((ROOT / page).read_text(encoding="utf-8")):
        if write_file(block.text, folder=tmp_path):
            ran += 1
        elif (shipped := shipped_text(block.text)) is not None:
            assert block.text == shipped, f"{page}:{block.line}: python tests/docs.py {page}"
        elif block.language == "sh":
            install(block.text, folder=tmp_path)
        elif block.language == "python":
            assert run_python(block.text, name=f"{page}:{block.line}") == []
        elif block.language == "diff":
            change_file(block.text, folder=tmp_path)
        elif block.language == "session":
            assert session(block.text, folder=tmp_path) == block.text, f"{page}:{block.line}"
        elif block.language == "play":
            assert played(block.text, folder=tmp_path) == block.text, f"{page}:{block.line}"
        elif block.language == "console":
            for command, expected in commands_of(block.text):
                assert type_quickly(command, folder=tmp_path) == expected, f"{page}:{block.line}: {command}"
                ran += 1
    assert ran or "```console" not in (ROOT / page).read_text("utf-8")


# Commands whose errors a page explains, by how they begin; every other example works.
EXPLAINED = (
    "rpgres mcp --table gate.db",
    "rpgres roll 2d6 adv",
    "rpgres table answer --view mail/mara.view.json --choose invoke=rain",
    "rpgres table seal --table ford.db --as bram --choose declare=block/maul",
    "rpgres table answer --table ford.db --as bram --choose declare=nothing",
    "rpgres roll lantern-and-rope delve --trait 1 --rulesets slips",
    "rpgres roll lantern-and-rope delve --trait 1 --rulesets idle",
    "rpgres roll fate overcome --skill 3 --vs mythical",
    "rpgres roll fate overcome --skill 3 --vs 2 --rulesets broken",
    "rpgres roll wake watch --hand Cr1,Cr1,Cr1",
    "rpgres roll wake watch --rulesets slips",
    "rpgres odds fate overcome --sheet mara --skill athletics --vs 3 --policy mara=rash.toml",
)


@pytest.mark.parametrize("page", NAMES)
def test_examples_show_no_error_that_the_page_does_not_explain(page: str) -> None:
    for block in blocks_of((ROOT / page).read_text(encoding="utf-8")):
        for command, output in commands_of(block.text) if block.language == "console" else ():
            fault = next((line for line in output.splitlines() if line.startswith("rpgres: ")), "")
            assert not fault or command.startswith(EXPLAINED), f"{page}:{block.line}: {command}: {fault}"


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
    described = {*notes(), *(name for name in rpgres.__all__ if isinstance(getattr(rpgres, name), type | FunctionType))}
    assert set(grouped) - described == {"slug"}  # a cached function, with a docstring of its own
    assert set(rpgres.__all__) <= set(dir(rpgres))


def test_help_of_the_module_has_the_types_that_have_none_of_their_own() -> None:
    told = {
        name: note.removeprefix("Type: ").rstrip(".") for name, note in notes().items() if note.startswith("Type: ")
    }
    assert {"Policy", "Effect", "Event"} <= set(told)
    lines = [line.split(maxsplit=1) for line in str(rpgres.__doc__).splitlines() if line.startswith("    ")]
    assert [line for line in lines if line[0] in told] == [[name, told[name]] for name in sorted(told)]


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("plugins/README.md", ["keys", "table", "face", "kits"]),
        ("rpgres/guide/assistant.md", ["assistant"]),
        ("rpgres/guide/index.md", ["pages"]),
        ("rpgres/guide/reference.md", ["commands", "actions"]),
        ("rpgres/guide/samples.md", ["discord", "shell"]),
        ("rpgres/guide/settings.md", ["settings"]),
    ],
)
def test_what_is_made_from_the_code_is_current(page: str, names: list[str]) -> None:
    """When this fails: python tests/docs.py --all"""
    sections = list(SECTION.finditer((ROOT / page).read_text(encoding="utf-8")))
    assert [section[1] for section in sections] == names
    for section in sections:
        assert section[0] == made(section)
        assert "|  |" not in section[0], "a name without a docstring, or an option without help"


MADE = ("assistant", "index", "reference", "samples", "settings")


def test_no_other_page_has_sections_that_are_made() -> None:
    making = {page for page in NAMES if SECTION.search((ROOT / page).read_text(encoding="utf-8"))}
    assert making == {"plugins/README.md", *(f"rpgres/guide/{name}.md" for name in MADE)}


@pytest.mark.parametrize("page", NAMES)
def test_links_lead_to_files_and_headings_that_are_there(page: str) -> None:
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", text):
        file = ((ROOT / page).parent / target).resolve() if target else ROOT / page
        assert file.exists(), target
        assert file.is_relative_to(ROOT)
        headings = re.findall(r"^#+ (.+)$", FENCE.sub("", file.read_text("utf-8")), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {anchor_of(heading) for heading in headings}, f"{target}#{anchor}"


def test_the_readme_sells_in_thirty_seconds() -> None:
    assert README.count("\n") <= 200
    assert len([block for block in blocks_of(README) if block.language == "console"]) == 7


def test_figures_of_the_readme_are_those_that_were_recorded() -> None:
    recorded = (ROOT / "tests" / "benchmarks" / "README.md").read_text("utf-8").splitlines()
    figures = [line for line in README.split("## Figures")[1].split("\n## ")[0].splitlines() if line.startswith("|")]
    assert len(figures) > 5
    assert set(figures) <= set(recorded)
    assert all(re.search(r"\| 20\d\d-\d\d-\d\d \|$", line) for line in recorded if re.match(r"\| [\w`]", line))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_the_picture_shows_what_a_terminal_shows() -> None:
    """When this fails, and the new picture is right: python tests/docs.py --all"""
    drawn = picture()
    assert FILE.read_text("utf-8") == drawn
    assert f"({FILE.relative_to(ROOT).as_posix()})" in README
    svg = ElementTree.fromstring(drawn)
    assert "".join(svg.itertext()).count("$ rpgres ") == 2 * len(COMMANDS)  # described, and drawn
    assert not re.search("href|script|@import|url", drawn), "nothing is fetched"
