"""Finding ruleset plugins, and what one that is broken at any stage may do: be named, and harm nothing else."""

from __future__ import annotations

import builtins
import inspect
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import rpgres
from rpgres import resolve
from rpgres.errors import PluginError, RuleError, UsageError
from rpgres.plugins import entries, importing
from rpgres.plugins import spec as hooks
from rpgres.plugins.discovery import find_ruleset, ruleset_names
from rpgres.plugins.entries import BUILTIN, is_standalone
from rpgres.plugins.listing import PluginStatus, list_rulesets
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import API, builtin_folder
from rpgres.rulesets.registry import Origin, Ruleset, blamed
from tests.support.checkout import ROOT
from tests.support.command_line import rpgres as run

# What ships: the rulesets with code, then those that are a file alone.
SHIPPED = [*BUILTIN, *sorted(path.name for path in builtin_folder().iterdir() if is_standalone(path))]


def example() -> dict[str, str]:
    """Return the files of the plugin in the hook's documentation, by name."""
    lines = inspect.cleandoc(hooks.rpgres_rulesets.__doc__ or "").splitlines()
    files: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if line.startswith("`") and line.endswith("`::"):
            name = line.split("`")[1]
            files[name] = []
        elif line and not line.startswith(" "):
            name = ""
        elif name:
            files[name].append(line)
    return {name: textwrap.dedent("\n".join(text)).strip() + "\n" for name, text in files.items()}


EXAMPLE = example()
CODE = EXAMPLE["rpgres_coin/__init__.py"]
DATA = EXAMPLE["rpgres_coin/ruleset.toml"]

Install = Callable[..., None]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder on the path of modules; what is imported during the test is forgotten after it."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)
    for name in ("RPGRES_DISABLE", "RPGRES_RULESETS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    before = set(sys.modules)
    _forget()
    yield folder
    _forget()
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def _forget() -> None:
    entries._scan.cache_clear()
    importing.record_of.cache_clear()


def install(
    site: Path,
    distribution: str = "rpgres-coin",
    *,
    version: str = "1.2",
    points: Mapping[str, str] | str | None = None,
    files: Mapping[str, str] | None = None,
) -> None:
    """Write a distribution as pip would have: its modules and its metadata."""
    for name, text in (files or {}).items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n", "utf-8")
    if points is None:
        points = {"coin": "rpgres_coin"}
    lines = points if isinstance(points, str) else "".join(f"{name} = {value}\n" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[console_scripts]\nx = y:z\n\n[rpgres]\n{lines}", "utf-8")
    _forget()


def install_coin(site: Path, *, code: str = CODE, data: str | None = DATA, name: str = "coin") -> None:
    """Install the example, or a broken version of it, as the ruleset `name`."""
    files = {f"rpgres_{name}/__init__.py": code}
    if data is not None:
        files[f"rpgres_{name}/ruleset.toml"] = data
    install(site, f"rpgres-{name}", points={name: f"rpgres_{name}"}, files=files)


def status(ruleset_id: str) -> PluginStatus:
    """Return the only status of an id."""
    (found,) = list_rulesets(ruleset_id)
    return found


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


# ---------------------------------------------------------------------------------------------------------------------
# What works


def test_the_example_in_the_hooks_documentation_is_a_working_plugin(site: Path) -> None:
    project = tomllib.loads(EXAMPLE["pyproject.toml"])["project"]
    install(
        site,
        project["name"],
        version=project["version"],
        points=project["entry-points"]["rpgres"],
        files={name: text for name, text in EXAMPLE.items() if "/" in name},
    )
    result = resolve("coin", "toss", given={"roll": "2"})
    assert isinstance(result, rpgres.Result)
    assert (result.outcome, result.success, result.margin) == ("win", True, 0)
    assert result.effects == [{"kind": "luck", "to": "actor", "change": 1}]
    lost = resolve("coin", "toss", given={"roll": "1"})
    assert isinstance(lost, rpgres.Result)
    assert lost.outcome == "lose"
    assert status("coin") == PluginStatus(
        id="coin",
        title="Coin",
        summary="One coin, and luck for the winner.",
        distribution="rpgres-coin",
        version="1.0",
        module="rpgres_coin",
        builtin=False,
        ok=True,
    )


def test_the_table_of_builtins_is_what_the_project_declares() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["rpgres"] == BUILTIN


@pytest.mark.parametrize("ruleset_id", BUILTIN)
def test_builtins_pass_their_own_check(ruleset_id: str, site: Path) -> None:
    found = status(ruleset_id)
    assert found.ok, found.problem
    assert found.builtin
    assert found.distribution == "rpgres"
    assert load_rules(find_ruleset(ruleset_id)).file.title == found.title


@pytest.mark.slow
def test_our_own_entry_points_are_not_listed_a_second_time(site: Path) -> None:
    install(site, "rpgres", points=BUILTIN)
    assert [found.id for found in list_rulesets()] == SHIPPED


def test_several_entry_points_may_name_one_module(site: Path) -> None:
    code = changed(CODE, "    yield coin\n", '    yield coin\n    yield Ruleset("dime", data=Path(__file__).parent)\n')
    install(
        site,
        points={"coin": "rpgres_coin", "dime": "rpgres_coin"},
        files={"rpgres_coin/__init__.py": code, "rpgres_coin/ruleset.toml": DATA},
    )
    assert find_ruleset("coin").id == "coin"
    assert find_ruleset("dime").id == "dime"
    assert find_ruleset("coin") is find_ruleset("coin")


@pytest.mark.parametrize("value", ["rpgres_coin:plugin", "rpgres_coin : plugin [extra]", "rpgres_coin:holder.plugin"])
def test_an_entry_point_may_name_an_object_of_a_module(site: Path, value: str) -> None:
    code = changed(CODE, "@hookimpl\ndef rpgres_rulesets():\n    yield coin\n", "")
    code += textwrap.dedent("""
        class Plugin:
            @hookimpl
            def rpgres_rulesets(self):
                return [coin]

        plugin = Plugin()
        class holder:
            plugin = plugin
        """)
    install(site, points={"coin": value}, files={"rpgres_coin/__init__.py": code, "rpgres_coin/ruleset.toml": DATA})
    assert find_ruleset("coin").id == "coin"


def test_the_first_of_two_copies_of_a_distribution_counts(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_coin(site)
    nearer = site.parent / "nearer"
    nearer.mkdir()
    monkeypatch.syspath_prepend(str(nearer))
    install(
        nearer,
        "RPGRES_coin",
        version="2.0",
        files={"rpgres_coin/__init__.py": CODE, "rpgres_coin/ruleset.toml": DATA},
    )
    assert status("coin").version == "2.0"


def test_a_plugin_prints_to_no_result(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install_coin(site, code="print('hello')\n" + CODE)
    find_ruleset("coin")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "hello\n"


# ---------------------------------------------------------------------------------------------------------------------
# What is broken, one for each way

BROKEN_CODE = {
    "missing dependency": ("import", "import nowhere_to_be_found\n", "'nowhere_to_be_found', which is not installed"),
    "exception at import": ("import", "1 / 0\n", "ZeroDivisionError: division by zero"),
    "syntax error": ("import", "def (\n", "SyntaxError"),
    "leaves the program": ("import", "raise SystemExit(3)\n", "tried to exit the program (SystemExit: 3)"),
    "bare exception": ("import", "raise BaseException('no')\n", "BaseException: no"),
    "asks a question": ("import", "input('Your name? ')\n", "EOFError"),
    "newer rpgres": ("import", "from rpgres import Nonsuch\n", "written for another version of rpgres"),
    "terminal codes": ("import", "raise ValueError('\\x1b[31m' + 'x' * 5000)\n", "ValueError: [31mxxx"),
    "silent exception": (
        "import",
        "class Mute(Exception):\n    def __str__(self): raise OSError\nraise Mute\n",
        "Mute",
    ),
    "no hook": ("register", "x = 1\n", "no function `rpgres_rulesets` marked with"),
    "unmarked hook": ("register", "def rpgres_rulesets(): return []\n", "no function `rpgres_rulesets` marked with"),
    "wrong argument": (
        "register",
        "from rpgres import hookimpl\n@hookimpl\ndef rpgres_rulesets(config): return []\n",
        "{'config'} are declared in the hookimpl but can not be found",
    ),
    "misspelt hook": (
        "register",
        "from rpgres import hookimpl\n@hookimpl\ndef rpgres_ruleset(): return []\n",
        "unknown hook 'rpgres_ruleset'",
    ),
    "raises at once": (
        "yield",
        "from rpgres import hookimpl\n@hookimpl\ndef rpgres_rulesets(): raise KeyError('x')\n",
        "KeyError: 'x'",
    ),
    "raises while yielding": (
        "yield",
        changed(CODE, "    yield coin\n", "    yield coin\n    raise RuntimeError('half way')\n"),
        "RuntimeError: half way",
    ),
    "leaves while yielding": ("yield", changed(CODE, "yield coin", "yield coin; raise SystemExit"), "SystemExit"),
    "not iterable": (
        "yield",
        changed(CODE, "yield coin", "return 7"),
        "TypeError: rpgres_rulesets() has to yield Ruleset records, and returned 7",
    ),
    "endless": ("yield", changed(CODE, "yield coin", "\n    while True: yield coin"), "endless generator"),
    "nothing": ("validate", changed(CODE, "yield coin", "return []"), "yields nothing instead of the ruleset 'coin'"),
    "no record": (
        "validate",
        changed(CODE, "yield coin", "yield coin; yield {}"),
        "number 2 is not a rpgres.Ruleset but {}",
    ),
    "another id": (
        "validate",
        changed(CODE, 'Ruleset("coin"', 'Ruleset("cion"'),
        "yields 'cion' instead of the ruleset 'coin'",
    ),
    "twice": ("validate", changed(CODE, "yield coin", "yield coin; yield coin"), "yields 2 rulesets with this id"),
    "future api": ("validate", changed(CODE, ").parent)", f").parent, api={API + 1})"), "pip install --upgrade rpgres"),
    "no api": ("validate", changed(CODE, ").parent)", ").parent, api='1')"), "its api is '1'"),
    "no data folder": ("validate", changed(CODE, ", data=Path(__file__).parent", ""), "its data folder is None"),
    "folder as text": ("validate", changed(CODE, "Path(__file__).parent", "__file__"), "should be a pathlib.Path"),
    "half a record": (
        "validate",
        changed(CODE, "yield coin", "yield type('Half', (Ruleset,), {'__init__': lambda self: None})()"),
        "AttributeError",
    ),
    "rule of data": (
        "validate",
        CODE + "coin.actions['flip'] = 3\n",
        "its actions contain non-functions: flip",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", BROKEN_CODE)
def test_a_broken_plugin_is_named_with_its_stage_and_the_rest_works(how: str, site: Path, exhaustive: bool) -> None:
    stage, code, told = BROKEN_CODE[how]
    install(
        site,
        "rpgres-broken",
        version="0.3",
        points={"coin": "rpgres_broken"},
        files={"rpgres_broken/__init__.py": code, "rpgres_broken/ruleset.toml": DATA},
    )
    install_coin(site, name="good", code=CODE.replace('"coin"', '"good"'))
    with pytest.raises(PluginError) as caught:
        find_ruleset("coin")
    error = caught.value
    assert told in error.message
    assert "\x1b" not in error.message
    assert len(error.message) < 800
    assert "the ruleset coin of rpgres-broken 0.3" in error.message
    assert f"stage {stage}" in error.message
    assert "coin = rpgres_broken" in error.message
    assert "pip " in error.message
    assert error.details == {
        "plugin": "coin",
        "distribution": "rpgres-broken",
        "version": "0.3",
        "module": "rpgres_broken",
        "stage": stage,
    }
    found = status("coin")
    assert (found.ok, found.stage, found.problem) == (False, stage, error.message)
    assert found.title == "Coin"
    if exhaustive or how == next(one for one in BROKEN_CODE if BROKEN_CODE[one][0] == stage):
        assert {found.id for found in list_rulesets() if found.ok} == {*SHIPPED, "good"}
    assert find_ruleset("good").id == "good"


def test_what_the_plugin_raised_is_chained(site: Path) -> None:
    install_coin(site, code="1 / 0\n")
    with pytest.raises(PluginError) as caught:
        find_ruleset("coin")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_the_place_in_the_plugin_is_told_but_none_of_ours(site: Path) -> None:
    install_coin(site, code="x = 1\n\n1 / 0\n")
    assert f"({site / 'rpgres_coin' / '__init__.py'}, line 3)" in status("coin").problem
    install_coin(site, name="dime", code=changed(CODE, "yield coin", "return 7"))
    assert "hooks.py" not in status("dime").problem


def test_a_file_that_is_no_python_is_told_with_its_own_line(site: Path) -> None:
    install_coin(site, code="from rpgres_coin import rules\n")
    (site / "rpgres_coin" / "rules.py").write_text("x = 1\ndef (\n", "utf-8")
    with pytest.raises(PluginError) as caught:
        find_ruleset("coin")
    assert f"SyntaxError: invalid syntax ({site / 'rpgres_coin' / 'rules.py'}, line 2). " in caught.value.message


def test_who_works_on_a_plugin_is_not_told_to_upgrade_it(site: Path) -> None:
    install_coin(site, code="1 / 0\n")
    assert "pip install --upgrade rpgres-coin" in status("coin").problem
    record = {"dir_info": {"editable": True}, "url": (site.parent / "my work").as_uri()}
    (next(site.glob("*.dist-info")) / "direct_url.json").write_text(json.dumps(record), "utf-8")
    told = status("coin").problem
    assert told.endswith(f" It is an editable installation; correct it in {site.parent / 'my work'}.")
    assert "pip" not in told.replace(str(site), "")
    ruleset = Ruleset("coin")
    ruleset.origin = Origin("rpgres-coin", "1.0")
    in_play = blamed(RuleError("it failed"), ruleset).message
    assert in_play.startswith("it failed. The ruleset coin comes from rpgres-coin 1.0: correct its code, as it is an ")
    assert "pip" not in in_play
    assert str(site.parent) not in in_play  # a bot shows it to others


def test_a_sheet_of_a_plugin_is_known_by_its_name_and_by_its_place(site: Path) -> None:
    data = DATA + '\n[sheet.past]\nkind = "text"\nhelp = "what was"\n'
    install_coin(site, data=data)
    sheets = site / "rpgres_coin" / "sheets"
    sheets.mkdir()
    (sheets / "penny.toml").write_text('past = "long"\n', "utf-8")
    assert run("sheet", "check", "penny").out == "penny: ok\n"
    assert run("sheet", "check", str(sheets / "penny.toml")).code == 0
    (sheets / "penny.toml").write_text('pats = "long"\n', "utf-8")
    assert "unknown key; did you mean `past`?" in run("sheet", "check", "penny").out


def test_a_missing_module_of_its_own_is_told_from_one_it_needs(site: Path) -> None:
    install(site, points={"coin": "rpgres_coin.rules"}, files={"rpgres_coin/__init__.py": ""})
    with pytest.raises(PluginError, match=r"its module 'rpgres_coin\.rules' does not exist"):
        find_ruleset("coin")


def test_a_missing_attribute_is_an_error_of_the_import(site: Path) -> None:
    install(site, points={"coin": "rpgres_coin:nothing"}, files={"rpgres_coin/__init__.py": CODE})
    with pytest.raises(PluginError, match="has no attribute 'nothing'") as caught:
        find_ruleset("coin")
    assert caught.value.details["stage"] == "import"


def test_an_interrupt_is_the_users_own(site: Path) -> None:
    install_coin(site, code="import signal\nsignal.raise_signal(signal.SIGINT)\n")
    for find in (find_ruleset, list_rulesets):
        with pytest.raises(KeyboardInterrupt):
            find("coin")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_that_a_plugin_raises_is_its_fault(site: Path) -> None:
    install_coin(site, code="raise KeyboardInterrupt\n")
    install_coin(site, name="good", code=CODE.replace('"coin"', '"good"'))
    found = status("coin")
    assert (found.stage, found.ok) == ("import", False)
    assert "it tried to exit the program (KeyboardInterrupt)" in found.problem
    assert status("good").ok


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("command", ["plugin list", "roll coin toss"])
def test_a_real_interrupt_ends_the_program_without_a_traceback(command: str, site: Path) -> None:
    importing = site / "importing"
    install_coin(site, code=f"import time, pathlib\npathlib.Path({str(importing)!r}).touch()\ntime.sleep(60)\n")
    program = "from rpgres.cli import main; main()"
    running = subprocess.Popen(
        [sys.executable, "-c", program, *command.split()],
        env={**os.environ, "PYTHONPATH": str(site)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not importing.exists():
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, complaint = running.communicate(timeout=120)
    assert (running.returncode, complaint) == (130, "")


def test_an_interrupt_while_the_program_is_loaded_leaves_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    from rpgres import cli

    def interrupted(name: str, *args: object, **more: object) -> object:
        if name == "rpgres.cli.root":
            raise KeyboardInterrupt
        return imported(name, *args, **more)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", interrupted)
    monkeypatch.setattr("gc.freeze", lambda: None)
    monkeypatch.setattr("gc.set_threshold", lambda *_: None)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 130


def test_a_plugin_that_was_mended_is_found(site: Path) -> None:
    install_coin(site, code="1 / 0\n")
    with pytest.raises(PluginError):
        find_ruleset("coin")
    (site / "rpgres_coin" / "__init__.py").write_text(CODE, "utf-8")
    assert find_ruleset("coin").id == "coin"


# ---------------------------------------------------------------------------------------------------------------------
# Data that do not fit: found when plugins are listed

BROKEN_DATA = {
    "no file": (None, "the ruleset coin has no ruleset.toml in"),
    "no toml": ("title = Coin\n", "ruleset.toml:1:"),
    "unknown key": (changed(DATA, 'summary = "One', 'sumary = "One'), "did you mean `summary`?"),
    "action without a rule": (DATA + "[actions.flip]\nsummary = 'Flip.'\n", "actions.flip has no rule in the code"),
    "rule without data": (changed(DATA, "[actions.toss]", "[actions.tos]"), "the rule 'toss' has no data"),
    "unknown parameter": (changed(DATA, '["needs"]', '["neds"]'), "has no parameter 'neds'; did you mean `needs`?"),
    "unknown label": (changed(DATA, '["roll"]', '["rol"]'), "has no label 'rol'; did you mean `roll`?"),
    "unknown table": (changed(DATA, '["toss"]', '["tos"]'), "has no outcome table 'tos'; did you mean `toss`?"),
    "unregistered effect": (changed(DATA, '{ kind = "luck"', '{ kind = "lukc"'), "did you mean `luck`?"),
    "gap": (changed(DATA, "to = -1", "to = -2"), "no band has the margin -1"),
    "overlap": (changed(DATA, "to = -1", "to = 0"), "the bands lose and win share the margin 0"),
    "unknown band": (changed(DATA, "[outcomes.toss.win]", "[outcomes.toss.won]"), "has no band 'won'"),
    "bad dice": (changed(DATA, '"1d2"', '"1d"'), "dice: "),
}


@pytest.mark.parametrize("how", BROKEN_DATA)
def test_data_that_do_not_fit_are_found_by_the_thorough_check_alone(how: str, site: Path) -> None:
    data, told = BROKEN_DATA[how]
    install_coin(site, data=data)
    assert find_ruleset("coin").id == "coin"
    found = status("coin")
    assert not found.ok
    assert found.stage == "validate"
    assert told in found.problem
    assert "the ruleset coin of rpgres-coin 1.2" in found.problem
    assert "pip uninstall rpgres-coin" in found.problem


def test_all_problems_of_the_data_are_told_at_once(site: Path) -> None:
    install_coin(site, data=changed(changed(DATA, '["needs"]', '["neds"]'), "to = -1", "to = -2"))
    problem = status("coin").problem
    assert "'neds'" in problem
    assert "no band has the margin -1" in problem
    assert "more than" not in problem


def test_a_sheet_of_the_plugin_is_checked_with_its_own_code(site: Path) -> None:
    install_coin(site, code=CODE + "@coin.prepare\ndef change(rules, character):\n    return character.nothing\n")
    sheets = site / "rpgres_coin" / "sheets"
    sheets.mkdir()
    assert status("coin").ok
    (sheets / "ann.toml").write_text("", "utf-8")
    assert "AttributeError" in status("coin").problem
    assert status("coin").stage == "validate"


def test_a_users_own_overlay_is_not_the_plugins_fault(site: Path) -> None:
    install_coin(site)
    folder = site.parent / "rulesets" / "coin"
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text("nonsense = 1\n", "utf-8")
    assert status("coin").ok


# ---------------------------------------------------------------------------------------------------------------------
# Ids


@pytest.mark.slow
def test_two_distributions_with_one_id_are_an_error_naming_both(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_coin(site)
    install(site, "other-coin", version="7", points={"coin": "other_coin"}, files={"other_coin.py": "1 / 0\n"})
    with pytest.raises(PluginError) as caught:
        find_ruleset("coin")
    message = caught.value.message
    assert caught.value.details["stage"] == "find"
    assert caught.value.details["distributions"] == ["other-coin", "rpgres-coin"]
    for part in ("rpgres-coin 1.2", "other-coin 7", "pip uninstall rpgres-coin", "pip uninstall other-coin"):
        assert part in message
    assert "the ruleset coin of" not in message  # neither is to blame more than the other
    both = list_rulesets("coin")
    assert [found.stage for found in both] == ["find", "find"]
    assert [found.problem for found in both] == [message, message]
    assert [(found.distribution, found.title) for found in both] == [("other-coin", ""), ("rpgres-coin", "Coin")]
    assert next(name.title for name in ruleset_names() if name.id == "coin") == ""  # nobody knows whose
    listed = run("ruleset", "list")
    assert listed.code == 0
    assert message in listed.out
    assert [name.id for name in ruleset_names()].count("coin") == 1
    assert "other_coin" not in sys.modules
    monkeypatch.setenv("RPGRES_DISABLE", "Other.Coin")
    assert find_ruleset("coin").id == "coin"
    assert [(found.distribution, found.stage) for found in list_rulesets("coin")] == [
        ("other-coin", "disabled"),
        ("rpgres-coin", None),
    ]


@pytest.mark.parametrize("name", ["abacus-coin", "zebra-coin"])
def test_what_can_never_be_used_stands_in_nobodys_way(name: str, site: Path) -> None:
    install_coin(site)
    install(site, name, version="7", points={"coin": "not a module"})
    assert find_ruleset("coin").id == "coin"
    found = {one.distribution: (one.ok, one.title) for one in list_rulesets("coin")}
    assert found == {"rpgres-coin": (True, "Coin"), name: (False, "")}
    assert next(name.title for name in ruleset_names() if name.id == "coin") == "Coin"
    assert "claimed" not in run("ruleset", "list").out


@pytest.mark.slow
def test_a_distribution_without_metadata_is_called_by_its_folder(site: Path) -> None:
    install_coin(site)
    for name in ("first", "second"):
        info = site / f"{name}-3.1.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_text(f"[rpgres]\n{name} = nowhere\n", "utf-8")
    entries._scan.cache_clear()
    found = {one.id: (one.distribution, one.version) for one in list_rulesets() if not one.builtin}
    assert found == {"coin": ("rpgres-coin", "1.2"), "first": ("first", "3.1"), "second": ("second", "3.1")}
    assert "pip install --force-reinstall second." in status("second").problem


def test_of_a_module_with_several_rulesets_each_has_its_own_title(site: Path) -> None:
    files = {
        "rpgres_coin/__init__.py": "1 / 0\n",
        "rpgres_coin/ruleset.toml": DATA,
        "rpgres_coin/data/medal/ruleset.toml": changed(DATA, 'title = "Coin"', 'title = "Medal"'),
    }
    install(site, points={"coin": "rpgres_coin", "medal": "rpgres_coin"}, files=files)
    assert [(status(name).title, status(name).stage) for name in ("coin", "medal")] == [
        ("Coin", "import"),
        ("Medal", "import"),
    ]


@pytest.mark.parametrize("builtin", [SHIPPED[0], SHIPPED[-1]])
def test_a_builtin_is_never_replaced(builtin: str, site: Path) -> None:
    install(site, "impostor", points={builtin: "impostor"}, files={"impostor.py": "1 / 0\n"})
    ours, theirs = list_rulesets(builtin)
    assert ours.ok
    assert (theirs.distribution, theirs.stage, theirs.ok) == ("impostor", "find", False)
    assert "shipped with rpgres" in theirs.problem
    assert "pip uninstall impostor" in theirs.problem
    assert find_ruleset(builtin).data in (None, builtin_folder() / builtin)
    assert next(name for name in ruleset_names() if name.id == builtin).builtin
    assert "impostor" not in sys.modules


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "told"),
    [
        ("d20 = rpgres_coin", "dice notation"),
        ("4dF = rpgres_coin", "dice notation"),
        ("My_Coin = rpgres_coin", "lowercase letters"),
        ("coin = not a module", "is not a module"),
        ("coin = rpgres_coin:", "is not a module"),
    ],
)
def test_an_entry_point_that_cannot_be_used_is_listed(point: str, told: str, site: Path) -> None:
    install(site, points=point + "\n", files={"rpgres_coin/__init__.py": CODE})
    found = list_rulesets()[-1]
    assert (found.distribution, found.stage) == ("rpgres-coin", "find")
    assert told in found.problem
    assert found.id not in [name.id for name in ruleset_names()]
    assert "rpgres_coin" not in sys.modules


@pytest.mark.slow
def test_entry_points_that_cannot_be_read_are_listed(site: Path) -> None:
    install(site, points="just a line\n")
    found = next(found for found in list_rulesets() if not found.builtin)
    assert (found.id, found.distribution, found.stage) == ("", "rpgres-coin", "find")
    assert "entry_points.txt is faulty" in found.problem


def test_damaged_metadata_of_others_do_not_matter(site: Path) -> None:
    install_coin(site)
    for name, points in (("binary", b"\xff\xfe[rpgres]\nx = y\n"), ("nameless", b"[rpgres]\nnameless = nowhere\n")):
        info = site / f"{name}-1.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_bytes(points)
    assert find_ruleset("coin").id == "coin"
    assert "its module 'nowhere' does not exist" in status("nameless").problem


def test_dice_notation_is_no_ruleset(site: Path) -> None:
    install(site, points={"d20": "rpgres_coin"}, files={"rpgres_coin/__init__.py": CODE})
    with pytest.raises(UsageError, match="'d20' is dice notation"):
        find_ruleset("d20")


def test_an_unknown_id_names_the_nearest_or_else_all(site: Path) -> None:
    install_coin(site)
    with pytest.raises(UsageError) as caught:
        find_ruleset("coim")
    assert "did you mean 'coin'?" in caught.value.message
    assert caught.value.details["known"] == [*SHIPPED, "coin"]
    assert not any(known in caught.value.message for known in BUILTIN)
    with pytest.raises(UsageError) as caught:
        find_ruleset("zzz")
    assert all(known in caught.value.message for known in BUILTIN)


@pytest.mark.parametrize("where", ["here", "environment", "option"])
def test_an_overlay_without_its_ruleset_is_explained(where: str, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = site.parent / ("rulesets" if where == "here" else "elsewhere")
    (root / "saltmarsh").mkdir(parents=True)
    if where == "environment":
        monkeypatch.setenv("RPGRES_RULESETS", str(root))
    with pytest.raises(UsageError, match=r"saltmarsh is an overlay for a ruleset of that name"):
        find_ruleset("saltmarsh", extra=[root] if where == "option" else [])
    with pytest.raises(UsageError) as caught:
        find_ruleset("../rulesets")
    assert "laid over" not in caught.value.message


# ---------------------------------------------------------------------------------------------------------------------
# Switching off


@pytest.mark.parametrize("by", ["coin", "rpgres-coin", " other , Rpgres_Coin "])
def test_a_disabled_plugin_is_not_imported(by: str, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_coin(site)
    monkeypatch.setenv("RPGRES_DISABLE", by)
    with pytest.raises(PluginError, match=r"is disabled: RPGRES_DISABLE=.*take it out of RPGRES_DISABLE"):
        find_ruleset("coin")
    assert status("coin").stage == "disabled"
    assert "coin" not in [name.id for name in ruleset_names()]
    assert "rpgres_coin" not in sys.modules
    with pytest.raises(UsageError) as caught:
        find_ruleset("coiin")
    assert "coin" not in caught.value.details["known"]
    monkeypatch.delenv("RPGRES_DISABLE")
    assert find_ruleset("coin").id == "coin"


@pytest.mark.parametrize("builtin", BUILTIN)
def test_a_builtin_can_be_disabled(builtin: str, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_ruleset(builtin)
    monkeypatch.setenv("RPGRES_DISABLE", builtin)
    with pytest.raises(PluginError) as caught:
        find_ruleset(builtin)
    assert caught.value.details["stage"] == "disabled"
    monkeypatch.setenv("RPGRES_DISABLE", "rpgres")
    assert find_ruleset(builtin)


# ---------------------------------------------------------------------------------------------------------------------
# Names and starts


@pytest.mark.parametrize("place", ["", "data/", "coin/", "data/coin/", "rulesets/coin/"])
def test_names_and_titles_are_found_without_an_import(place: str, site: Path) -> None:
    install(site, files={"rpgres_coin/__init__.py": "1 / 0\n", f"rpgres_coin/{place}ruleset.toml": DATA})
    found = ruleset_names()[-1]
    assert (found.id, found.title, found.summary) == ("coin", "Coin", "One coin, and luck for the winner.")
    assert not found.builtin
    assert "rpgres_coin" not in sys.modules
    assert [name.id for name in ruleset_names(titles=False)] == [*SHIPPED, "coin"]
    assert {name.title for name in ruleset_names(titles=False)} == {""}


@pytest.mark.parametrize(
    ("data", "title"),
    [
        ("summary = '''\n[not a table]\n'''\ntitle = 'After'\n[dice]\n", "After"),
        ("[dice]\ntitle = 'Inside'\n", ""),
        ("title = 3\n", ""),
        ("title = \n", ""),
        ("title = 'Before'\n[broken\n", "Before"),
    ],
)
def test_a_title_is_read_from_the_head_of_a_file(data: str, title: str, site: Path) -> None:
    install_coin(site, data=data)
    assert ruleset_names()[-1].title == title


def test_an_overlay_changes_the_title(site: Path) -> None:
    install_coin(site)
    folder = site.parent / "rulesets" / "coin"
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text("title = 'Heavy coin'\n", "utf-8")
    assert ruleset_names()[-1].title == "Heavy coin"


@pytest.mark.parametrize("builtin", BUILTIN)
def test_a_builtin_is_found_without_looking_at_what_is_installed(builtin: str) -> None:
    program = f"""
import sys
import time
from rpgres.plugins.discovery import BUILTIN, find_ruleset
find_ruleset({builtin!r})
loaded = set(sys.modules)
print(sorted(loaded & {{"importlib.metadata", "rich", "rpgres.lint.whole", "rpgres.toml.faults"}}))
print(sorted(set(BUILTIN.values()) & loaded))
"""
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == ["[]", f"['{BUILTIN[builtin]}']"]


def test_only_the_plugin_asked_for_is_imported(site: Path) -> None:
    install_coin(site)
    install_coin(site, name="penny", code=CODE.replace('"coin"', '"penny"'))
    find_ruleset("penny")
    assert "rpgres_penny" in sys.modules
    assert "rpgres_coin" not in sys.modules
