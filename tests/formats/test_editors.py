"""Schemas as files: those that ship are current, generated files name theirs, and an editor finds what is wrong."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator

from rpgres.formats.editors import FOLDER, SHIPPED, file_kinds, file_name, schema_text
from rpgres.plugins.entries import BUILTIN
from rpgres.rulesets import builtin_folder
from tests.support.command_line import rpgres

RULESETS = builtin_folder().absolute()
TAPLO = shutil.which("taplo", path=str(Path(sys.executable).parent)) or shutil.which("taplo")
needs_taplo = pytest.mark.skipif(TAPLO is None, reason="taplo is not installed")


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def linted(*files: Path) -> str:
    """Return what an editor would underline; nothing where all is well."""
    assert TAPLO is not None
    done = subprocess.run([TAPLO, "lint", *map(str, files)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode == 0) == ("error:" not in done.stderr), done.stderr
    return done.stderr if done.returncode else ""


def ran(*args: str, **environment: str) -> str:
    done = rpgres(*args, **environment)
    assert (done.code, done.err) == (0, "")
    return done.out


@pytest.mark.slow
def test_shipped_schemas_are_current() -> None:
    """When this fails: python -m rpgres.formats.editors"""
    made = {file_name(kind): schema_text(kind) for kind in file_kinds() if kind != "sheet"}
    assert {path.name: path.read_text("utf-8") for path in SHIPPED.iterdir()} == made


def every_generated_file(work: Path) -> list[Path]:
    """Generate one of everything, and return all TOML files."""
    ran("ruleset", "new", "bell", "--like", "success-levels", "--abilities", "nerve, Hören")
    ran("ruleset", "new", "gong", "--like", "twenty-over", "--into", ".")
    ran("plugin", "new", "tide-pool")
    ran("sheet", "new", "fate", "--out", "mara.toml")
    (work / "sheets").mkdir()
    ran("sheet", "new", "saga", "--out", "sheets/ilse.toml")
    ran("config", "set", "ruleset", "fate", RPGRES_CONFIG=str(work / "settings" / "config.toml"))
    ran("table", "new", "fate", "--sheet", "mara.toml", "--table", "t.db")
    ran("table", "export", "--out", "exported", "--table", "t.db")
    return sorted(path for path in work.rglob("*.toml") if path.name != "pyproject.toml")


@pytest.mark.slow
def test_every_generated_file_names_a_schema_that_is_there(work: Path) -> None:
    files = every_generated_file(work)
    assert len(files) >= 15
    for path in files:
        found = re.match(r"#:schema (\S+)\n", path.read_text("utf-8"))
        assert found is not None, path
        schema = path.parent / found[1]
        assert schema.parent.name == FOLDER
        Draft202012Validator(json.loads(schema.read_text("utf-8")))  # refuses what is no schema


@pytest.mark.slow
@needs_taplo
def test_an_editor_has_nothing_to_say_of_generated_files(work: Path) -> None:
    assert linted(*every_generated_file(work)) == ""


@needs_taplo
@pytest.mark.slow
def test_an_editor_has_nothing_to_say_of_what_ships(work: Path) -> None:
    """Files of rulesets that lie over data of kits have the schema of a house rule, which asks for no key."""
    ran("schema", "ruleset", "--write", ".")
    files = []
    for folder in sorted(path for path in RULESETS.iterdir() if (path / "ruleset.toml").exists()):
        ran("schema", "files", folder.name, "--write", ".")
        for kind in ("sheet", "scene"):
            files += [named(path, file_name(kind, folder.name)) for path in folder.glob(f"{kind}s/*.toml")]
        files += [named(path, file_name("outcomes", folder.name)) for path in folder.glob("outcomes/*.toml")]
        is_whole = folder.name not in BUILTIN
        files.append(named(folder / "ruleset.toml", file_name("ruleset", "" if is_whole else folder.name)))
    assert len(files) > 100
    assert linted(*files) == ""


def named(path: Path, schema: str) -> Path:
    """Return a copy here that names a schema here."""
    copy = Path(f"{path.parent.parent.name}-{path.parent.name}-{path.name}")
    copy.write_text(f"#:schema ./{FOLDER}/{schema}\n" + path.read_text("utf-8"), encoding="utf-8")
    return copy


FAULTS = [
    ("ruleset.toml", "summary = ", "sumary = ", "'sumary' was unexpected"),
    ("ruleset.toml", "success = true", 'success = "yes"', '"yes" is not of type "boolean"'),
    ("ruleset.toml", 'kind = "ability"', 'kind = "abilty"', '"abilty" is not one of'),
    ("sheets/brida.toml", "name = ", "nme = ", "'nme' was unexpected"),
    ("sheets/brida.toml", "axe = 48", 'axe = "48"', '"48" is not of type "integer"'),
    ("scenes/example.toml", 'action = "check"', 'action = "chek"', '"chek" is not one of'),
    ("scenes/example.toml", 'outcome = "success"', 'outcome = "sucess"', '"sucess" is not one of'),
    ("scenes/example.toml", "skill = ", "skil = ", "'skil' was unexpected"),
    ("scenes/example.toml", "whole = ", "hole = ", "hole"),
]


@pytest.mark.slow
@needs_taplo
def test_an_editor_finds_planted_faults() -> None:
    ran("ruleset", "new", "bell", "--like", "success-levels")
    for file, old, new, told in FAULTS:
        path = Path("rulesets/bell") / file
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert told in linted(path)
        path.write_text(text, encoding="utf-8")


def test_a_sheet_knows_the_abilities_of_its_ruleset() -> None:
    ran("sheet", "new", "fate", "--out", "mara.toml")
    schema = json.loads(Path(FOLDER, "sheet-fate.json").read_text("utf-8"))
    assert "burglary" in schema["$defs"]["Sheet"]["properties"]["skills"]["properties"]


def test_settings_that_are_there_already_stay_as_they_are(work: Path) -> None:
    file = work / "config.toml"
    file.write_text("plain = true\n", encoding="utf-8")
    ran("config", "set", "ruleset", "fate", RPGRES_CONFIG=str(file))
    assert file.read_text("utf-8") == 'plain = true\nruleset = "fate"\n'
    assert [path.name for path in work.iterdir()] == ["config.toml"]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["files"], "rpgres schema files --write DIR"),
        (["result", "--write", "."], "result is no kind of file"),
        (["scene", "--write", "nowhere"], "there is no such folder"),
        (
            ["sheet", "--write", "."],
            "sheet is no kind of file that an editor could check; choose scene, ruleset",
        ),
    ],
)
def test_what_cannot_be_written(args: list[str], told: str, work: Path) -> None:
    done = rpgres("schema", *args)
    assert (done.code, done.out) == (2, "")
    assert told in " ".join(done.err.split())
    assert list(work.iterdir()) == []
