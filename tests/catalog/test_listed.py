"""`rpgres sheet list` and `rpgres scene list`: what ships, and what lies where house rules do."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpgres.rulesets import builtin_folder
from tests.support.command_line import as_json, completions, rpgres

SHIPPED = builtin_folder().absolute()


@pytest.mark.parametrize("kind", ["sheet", "scene"])
def test_all_that_ship_are_listed_with_what_they_are(kind: str) -> None:
    found = as_json(kind, "list", *(["--all"] if kind == "scene" else []))["files"]
    assert {one["file"] for one in found} == {str(path) for path in builtin_folder().glob(f"*/{kind}s/*.toml")}
    assert all(one["title"] for one in found)
    told = {one["name"]: one["summary"] for one in found}
    if kind == "sheet":
        assert told["mara"] == "Mara Quill, a smuggler who would rather talk."
        assert told["guards"] == "Two gate guards, a mob of nameless characters: they roll once for both."
    else:
        assert told["fate/vault"] == "Two tries at a lock, and two endings."


def test_each_can_be_used_by_its_name() -> None:
    for one in as_json("sheet", "list", "saga")["files"]:
        assert rpgres("sheet", "show", one["name"]).code == 0
    for one in as_json("scene", "list", "saga")["files"]:
        assert rpgres("scene", "check", one["name"]).code == 0


def test_cases_that_only_test_are_listed_when_asked_for() -> None:
    assert "conformance" not in rpgres("scene", "list", "saga").out
    assert "saga/conformance-limits" in rpgres("scene", "list", "saga", "--all").out


def test_what_lies_here_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a ruleset of one's own, and of one that ships; the nearer of two of one name counts."""
    monkeypatch.chdir(tmp_path)
    assert rpgres("ruleset", "new", "bell", "--like", "twenty-over", "--character", "Ivo").code == 0
    folder = Path("rulesets/fate/sheets")
    folder.mkdir(parents=True)
    (folder / "mara.toml").write_text('#:schema ./x.json\n# Mara, grown old. She limps.\nname = "Old Mara"\n', "utf-8")
    (folder / "odd.toml").write_text("no TOML", "utf-8")
    lines = rpgres("sheet", "list", "fate").out.splitlines()
    assert "mara     Old Mara: Mara, grown old." in lines
    assert "odd" in lines
    assert rpgres("sheet", "list", "bell").out.startswith("ivo  Ivo")
    assert rpgres("scene", "list", "bell").out.startswith("bell/example  ")
    assert "ivo" in completions("rpgres sheet show iv")
    assert rpgres("deck", "list", "bell").out == "bell has no decks\n"
    assert rpgres("sheet", "list", "bel").code == 2
