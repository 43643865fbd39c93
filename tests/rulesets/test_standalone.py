"""Where rulesets that are a folder alone are found, and what is told of one that cannot be used."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from rpgres import resolve
from rpgres.errors import FileError, PluginError, UsageError
from rpgres.plugins import entries, importing
from rpgres.plugins.discovery import builtin_folder, find_ruleset, ruleset_names
from rpgres.plugins.entries import BUILTIN
from rpgres.plugins.listing import list_rulesets
from rpgres.plugins.loading import load_rules
from rpgres.rulesets.folders import BEGINS_SO
from tests.support.command_line import rpgres
from tests.support.effort import few

WHOLE = """
standalone = true
title = "Coin and Creed"
summary = "A die for each coin."
version = "1"

[bands]
nothing = { title = "Nothing", to = 0, success = false }
plenty = { title = "Plenty", from = 1, success = true }

[actions.ask]
summary = "Ask the saints."
parameters = ["coins"]
required = ["coins"]
dice = "{coins}d6>=5"

[parameters.coins]
kind = "integer"
help = "how many coins you bring"
"""
LAID = WHOLE.replace("standalone = true\n", "")


@pytest.fixture(autouse=True)
def _empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("RPGRES_DISABLE", "RPGRES_RULESETS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    entries._scan.cache_clear()
    importing.record_of.cache_clear()
    sys.modules.pop("rpgres_coin", None)


def write(name: str, text: str | bytes = WHOLE, *, root: str = "rulesets") -> Path:
    folder = Path(root) / name
    folder.mkdir(parents=True)
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "ruleset.toml").write_bytes(content)
    return folder


def install(site: Path, *, data: str) -> None:
    """Put a plugin on the path whose ruleset is called coin."""
    package, info = site / "rpgres_coin", site / "rpgres_coin-1.0.dist-info"
    package.mkdir(parents=True)
    info.mkdir()
    code = "from pathlib import Path\nfrom rpgres import Ruleset, hookimpl\n"
    code += "@hookimpl\ndef rpgres_rulesets():\n    yield Ruleset('coin', data=Path(__file__).parent)\n"
    (package / "__init__.py").write_text(code, "utf-8")
    (package / "ruleset.toml").write_text(data, "utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rpgres-coin\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[rpgres]\ncoin = rpgres_coin\n", "utf-8")
    entries._scan.cache_clear()


# ---------------------------------------------------------------------------------------------------------------------
# Files that are no text, folders that can be no id


@pytest.mark.slow
@pytest.mark.parametrize("content", [(WHOLE + "# caf\xe9\n").encode("latin-1"), WHOLE.encode("utf-16")])
@pytest.mark.usefixtures("few_processes")
def test_a_file_that_is_not_utf_8_is_told_as_such_wherever_it_is_met(content: bytes) -> None:
    write("coin", content)
    write("other")
    for command in (("roll", "coin", "ask", "--coins", "2"), ("ruleset", "check", "coin"), ("plugin", "check", "coin")):
        found = rpgres(*command)
        assert found.code == 1
        assert "rulesets/coin/ruleset.toml:" in found.out + found.err
        assert "save it as UTF-8" in found.out + found.err
    listed = rpgres("ruleset", "list")
    assert listed.code == 0
    assert "coin broken: a problem in its folder; run `rpgres ruleset check coin` for details\n" in listed.out
    assert "other" in listed.out
    listed = rpgres("plugin", "list")
    assert listed.code == 0
    assert "save it as UTF-8" in listed.out
    assert {one.id: one.ok for one in list_rulesets()} | {"coin": False, "other": True} == {
        one.id: one.ok for one in list_rulesets()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "better"),
    few([("Foo", "foo"), ("my_game", "my-game"), ("Ωμέγα", ""), ("My Game!", "my-game")], 2),
)
def test_a_folder_whose_name_can_be_no_id_is_told_with_a_better_one(name: str, better: str) -> None:
    folder = write(name)
    told = f"rename the folder to {better!r}" if better else "starts with a letter"
    for command in (("roll", name, "ask", "--coins", "2"), ("odds", name, "ask"), ("ruleset", "check", name)):
        found = rpgres(*command)
        assert found.code == 1
        assert str(folder) in found.out + found.err
        assert told in found.out + found.err
    for command in (("ruleset", "list"), ("plugin", "list")):
        listed = rpgres(*command)
        assert listed.code == 0
        assert told in listed.out
        assert "there is no ruleset" not in listed.out
    coded = ",".join(BUILTIN)
    assert told in rpgres("ruleset", "check", RPGRES_DISABLE=coded).out  # whose checks take a while
    assert name not in [one.id for one in ruleset_names()]


def test_what_is_spelt_like_dice_is_told() -> None:
    write("d20")
    assert "rulesets/d20: this id would be read as dice notation" in rpgres("ruleset", "list").out
    assert rpgres("roll", "d20", "--given", "roll=7").out.startswith("7\n")


@pytest.mark.parametrize("value", ['"true"', '"yes"', "1"])
def test_whatever_else_standalone_says_is_told_with_its_line(value: str) -> None:
    write("coin", WHOLE.replace("standalone = true", f"standalone = {value}"))
    with pytest.raises(FileError, match=r"ruleset.toml:2: standalone: expected true or false"):
        load_rules(find_ruleset("coin"))


# ---------------------------------------------------------------------------------------------------------------------
# Folders that nothing owns


@pytest.mark.usefixtures("few_processes")
def test_a_folder_that_does_not_say_standalone_is_told_what_it_lacks() -> None:
    write("coin", LAID)
    for command in (("roll", "coin", "ask"), ("ruleset", "check", "coin"), ("plugin", "check", "coin")):
        found = rpgres(*command)
        assert found.code == 2
        assert "rulesets/coin is an overlay for a ruleset of that name" in found.err
        assert "begins with `standalone = true`" in found.err
    file = Path("rulesets/coin/ruleset.toml")
    file.write_text("# not yet\n", "utf-8")
    for command in (("roll", "coin", "ask"), ("ruleset", "check", "coin"), ("ruleset", "check", "rulesets/coin")):
        found = rpgres(*command)
        assert (found.code, found.err) == (2, f"rpgres: rulesets/coin/ruleset.toml is empty; {BEGINS_SO}\n")
    file.write_bytes(b"title = 'Pf\xe4nder'\n")
    assert "ruleset.toml:1: not UTF-8 text" in rpgres("roll", "coin", "ask").err
    file.write_text(LAID, "utf-8")
    listed = rpgres("ruleset", "list")
    assert listed.code == 0
    assert "rulesets/coin: there is no ruleset 'coin', so this folder is ignored" in listed.out
    assert "begins with `standalone = true`" in listed.out


def test_what_is_switched_off_is_no_stray(monkeypatch: pytest.MonkeyPatch) -> None:
    write("coin")
    write("fate", "[ladder]\nmythic = 9\n")
    monkeypatch.setenv("RPGRES_DISABLE", "coin,fate")
    assert "there is no ruleset" not in rpgres("ruleset", "list").out
    assert "there is no ruleset" not in rpgres("ruleset", "check", "two-dice").out


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_folders_that_cannot_be_read_stop_no_list() -> None:
    Path("rulesets/loop").parent.mkdir()
    Path("rulesets/loop").symlink_to("loop")
    Path("rulesets/coin/ruleset.toml").mkdir(parents=True)
    Path("rulesets/gone").mkdir()
    Path("rulesets/gone/ruleset.toml").symlink_to("nowhere")
    for command in (("ruleset", "list"), ("plugin", "list"), ("ruleset", "check", "fate")):
        assert rpgres(*command).code == 0


def test_a_folder_beside_it_with_tables_alone_is_told_nothing_of_standalone() -> None:
    (Path("rulesets") / "coin" / "outcomes").mkdir(parents=True)
    found = rpgres("ruleset", "list").out
    assert "there is no ruleset 'coin'" in found
    assert "standalone" not in found


# ---------------------------------------------------------------------------------------------------------------------
# One id, and two whole rulesets


def test_two_whole_rulesets_of_one_id_are_an_error_naming_both(monkeypatch: pytest.MonkeyPatch) -> None:
    write("coin", root="near")
    write("coin", WHOLE.replace("actions.ask", "actions.beg"), root="far")
    monkeypatch.setenv("RPGRES_RULESETS", "near:far")
    with pytest.raises(PluginError) as caught:
        find_ruleset("coin")
    for part in ("near/coin", "far/coin", "standalone = true", "Rename"):
        assert part in caught.value.message
    assert "pip" not in caught.value.message
    assert [(one.module, one.ok) for one in list_rulesets("coin")] == [("far/coin", False), ("near/coin", False)]
    assert rpgres("ruleset", "check", "coin", RPGRES_RULESETS="near:far").code == 1
    listed = rpgres("ruleset", "list", RPGRES_RULESETS="near:far")
    assert listed.code == 0
    assert "the ruleset coin cannot be used (stage find): this id is claimed by far/coin and near/coin." in listed.out


def test_a_folder_that_is_found_twice_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    write("coin")
    monkeypatch.setenv("RPGRES_RULESETS", str(Path("rulesets").absolute()))
    assert resolve("coin", "ask", coins=2, seed="1").ruleset == "coin"
    assert [one.ok for one in list_rulesets("coin")] == [True]


def test_an_overlay_of_a_homemade_ruleset_is_laid_over_it(monkeypatch: pytest.MonkeyPatch) -> None:
    write("coin", root="far")
    write("coin", 'title = "House Coin"\n', root="near")
    monkeypatch.setenv("RPGRES_RULESETS", "near:far")
    assert load_rules(find_ruleset("coin")).file.title == "House Coin"
    assert rpgres("ruleset", "check", "coin", RPGRES_RULESETS="near:far").code == 0


@pytest.mark.parametrize("name", ["fate", "highest-die"])
def test_a_whole_ruleset_with_the_id_of_one_that_ships_is_told_and_not_merged(name: str) -> None:
    write(name)
    found = rpgres("ruleset", "check", name)
    assert found.code == 1
    assert f"rulesets/{name}/ruleset.toml:2: standalone: " in found.out
    assert "remove this line" in found.out
    with pytest.raises(FileError, match="remove this line"):
        load_rules(find_ruleset(name))
    assert f"{name} broken" in rpgres("ruleset", "list").out
    assert [one.ok for one in list_rulesets(name)] == [True]  # what ships is well


def test_a_folder_against_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))
    install(site, data=WHOLE.replace("Creed", "Plugin"))
    assert load_rules(find_ruleset("coin")).file.title == "Coin and Plugin"
    write("coin")
    with pytest.raises(PluginError) as caught:
        find_ruleset("coin")
    for part in ("rulesets/coin", "rpgres-coin 1.0", "RPGRES_DISABLE=rpgres-coin", "pip uninstall rpgres-coin"):
        assert part in caught.value.message
    assert [one.ok for one in list_rulesets("coin")] == [False, False]
    monkeypatch.setenv("RPGRES_DISABLE", "rpgres-coin")
    assert load_rules(find_ruleset("coin")).file.title == "Coin and Creed"


def test_a_plugins_own_folder_on_the_path_is_no_second_ruleset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))
    install(site, data=WHOLE)
    Path("rulesets").mkdir()
    Path("rulesets/coin").symlink_to(site / "rpgres_coin")
    assert load_rules(find_ruleset("coin")).file.title == "Coin and Creed"
    assert [(one.distribution, one.ok) for one in list_rulesets("coin")] == [("rpgres-coin", True)]


# ---------------------------------------------------------------------------------------------------------------------
# Checking what is not installed


@pytest.mark.parametrize("path", ["drafts/coin", "drafts/coin/", "drafts/coin/ruleset.toml", "./drafts/../drafts/coin"])
def test_a_folder_is_checked_wherever_it_is(path: str) -> None:
    folder = write("coin", root="drafts")
    found = rpgres("ruleset", "check", path)
    assert (found.code, found.out, found.err) == (0, "coin: ok\n", "")
    (folder / "ruleset.toml").write_text(WHOLE.replace('"integer"', '"number"'), "utf-8")
    found = rpgres("ruleset", "check", path)
    assert found.code == 1
    assert "drafts/coin/ruleset.toml:18: parameters.coins.kind: " in found.out


def test_a_folder_is_checked_from_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write("coin", root="drafts")
    monkeypatch.chdir(folder)
    assert rpgres("ruleset", "check", ".").out == "coin: ok\n"
    assert rpgres("ruleset", "check", "ruleset.toml").out == "coin: ok\n"


def test_its_scenes_are_checked_with_it_and_not_with_another_of_its_name() -> None:
    folder = write("coin", root="drafts")
    write("coin", WHOLE.replace("actions.ask", "actions.beg"))
    (folder / "scenes").mkdir()
    scene = 'ruleset = "coin"\ncharacters.a = {}\n[[steps]]\nactor = "a"\naction = "ask"\nwith = { coins = 2 }\n'
    (folder / "scenes" / "one.toml").write_text(scene, "utf-8")
    assert rpgres("ruleset", "check", "drafts/coin").out == "coin: ok\n"
    (folder / "scenes" / "one.toml").write_text(scene.replace('"ask"', '"beg"'), "utf-8")
    assert "one.toml:5: steps[0].action: " in rpgres("ruleset", "check", "drafts/coin").out


def test_the_name_of_a_folder_is_checked_with_it() -> None:
    write("Coin", root="drafts")
    found = rpgres("ruleset", "check", "drafts/Coin", "--json")
    assert found.code == 1
    (checked,) = json.loads(found.out)["rulesets"]
    (problem,) = checked["problems"]
    assert problem["file"] == "drafts/Coin"
    assert "rename the folder to 'coin'" in problem["message"]
    write("fate", root="drafts")
    assert "shipped with rpgres" in rpgres("ruleset", "check", "drafts/fate").out


def test_a_folder_that_is_laid_over_something_is_checked_with_it() -> None:
    write("fate", "[bands.fail]\nto = -2\n", root="drafts")
    found = rpgres("ruleset", "check", "drafts/fate")
    assert found.code == 1
    assert found.out.startswith("fate: a problem (with drafts/fate)\ndrafts/fate/ruleset.toml:2: bands.fail.to: ")
    tables = Path("tables/fate/outcomes")
    tables.mkdir(parents=True)
    (tables / "overcome.toml").write_text("[fial]\ntext = 'x'\n", "utf-8")
    found = rpgres("ruleset", "check", "tables/fate")
    assert found.code == 1
    assert "tables/fate/outcomes/overcome.toml:1: fial: " in found.out
    write("coin", LAID, root="drafts")
    found = rpgres("ruleset", "check", "drafts/coin")
    assert found.code == 2
    assert "begins with `standalone = true`" in found.err


@pytest.mark.slow
def test_what_ships_is_checked_by_its_folder_too(tmp_path: Path) -> None:
    assert rpgres("ruleset", "check", str(builtin_folder() / "fate")).out == "fate: ok\n"
    assert rpgres("ruleset", "check", str(builtin_folder() / "highest-die")).out == "highest-die: ok\n"
    shutil.copytree(builtin_folder() / "highest-die", tmp_path / "my-pool")
    found = rpgres("ruleset", "check", "my-pool/ruleset.toml")
    assert "my-pool" in found.out


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("drafts/none", "there is no such file or folder"),
        ("none.toml", "there is no such file or folder"),
        ("drafts/coin.toml", "drafts/coin/ruleset.toml"),
        ("./drafts/", "has no ruleset.toml"),
    ],
)
def test_what_is_no_ruleset_is_told(path: str, told: str) -> None:
    Path("drafts").mkdir()
    Path("drafts/coin.toml").write_text(WHOLE, "utf-8")
    found = rpgres("ruleset", "check", path)
    assert (found.code, found.out) == (1, "")
    assert told in found.err


@pytest.mark.parametrize("typed", ["drafts/coin", "drafts/coin/ruleset.toml", "drafts/coin/"])
def test_a_path_in_place_of_an_id_is_told_how_to_say_it(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write("coin", root="drafts")
    told = "give its id and its location: coin --rulesets "
    assert f"{told}drafts\n" in rpgres("roll", typed, "ask", "--coins", "2").err
    assert rpgres("roll", "coin", "ask", "--coins", "2", "--rulesets", "drafts").code == 0
    monkeypatch.chdir(folder.parent)
    assert f"{told}.\n" in rpgres("roll", "coin", "ask", "--coins", "2").err
    assert rpgres("roll", "coin", "ask", "--coins", "2", "--rulesets", ".").code == 0


def test_an_id_comes_before_a_folder_of_its_name() -> None:
    Path("fate").mkdir()
    assert rpgres("ruleset", "check", "fate").out == "fate: ok\n"
    with pytest.raises(UsageError):
        find_ruleset("./fate")
