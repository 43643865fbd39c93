"""Completion, Typer as it is relied on, and what a start loads."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from rpgres.cli.deferring import DEFERRED
from rpgres.cli.root import COMMANDS
from tests.support.command_line import FIXED, completions

OVERCOME = ("roll", "fate", "overcome", "--skill", "3", "--vs", "2")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("rpgres od", ["odds"]),
        ("rpgres roll fa", ["fate", "faith"]),
        ("rpgres roll fate over", ["overcome"]),
        ("rpgres roll fate overcome --sk", ["--skill"]),
        ("rpgres roll fate overcome --skill re", ["resources"]),
        ("rpgres roll fate overcome --sheet mara --skill re", ["resources"]),
        ("rpgres roll fate overcome --sheet mara --skill l", []),
        ("rpgres roll fate overcome --vs f", ["fantastic", "fair"]),
        ("rpgres roll fate overcome --given ", ["roll=", "opposition="]),
        ("rpgres roll fate overcome --choose price=", ["price=fail", "price=cost"]),
        ("rpgres roll fate overcome --switch fail", ["fail_chooser=gm", "fail_chooser=actor"]),
        ("rpgres roll fate overcome --policy ", ["sensible", "thrifty", "preferred", "uniform"]),
        ("rpgres roll fate overcome --sheet m", ["mara"]),
        ("rpgres odds fate attack --track ", ["physical", "mental"]),
        ("rpgres roll nothing --", ["--help"]),
    ],
)
def test_completion(line: str, offered: list[str]) -> None:
    assert completions(line) == offered


def test_lazy_groups_rest_on_what_typer_has() -> None:
    """Typer documents `cls` but not what a group may override; this is what `LazyGroup` needs of it."""
    import typer
    import typer.core
    import typer.main

    class Lazy(typer.core.TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return ["made"]

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            assert ctx.resilient_parsing is False
            option = typer.core.TyperOption(param_decls=["many", "--many", "-m"], type=str, multiple=True)
            made = typer.core.TyperCommand(args[0], params=[option], callback=lambda many: found.append(many))
            return args[0], made, args[1:]

    found: list[Any] = []
    group = typer.main.get_group(typer.Typer(cls=Lazy, add_completion=False))
    group.main(["made", "--many", "1", "-m", "2"], standalone_mode=False)
    assert [list(many) for many in found] == [["1", "2"]]
    with pytest.raises(Exception, match="bogus") as caught:
        group.main(["made", "--bogus"], standalone_mode=False)
    assert caught.value.option_name == "--bogus"  # type: ignore[attr-defined]
    assert callable(caught.value.format_message)  # type: ignore[attr-defined]


def modules_of(*args: str) -> set[str]:
    """Return the modules that a command line loads, in a process of its own, without those that are still deferred."""
    code = (
        "import sys\n"
        "sys.modules.pop('linecache', None)\n"  # which Python 3.13 loads for a program on its command line
        "import rpgres.cli\n"
        f"sys.argv = ['rpgres', *{args!r}]\n"
        "try: rpgres.cli.main()\n"
        "finally: sys.stderr.write(' '.join(n for n, m in sys.modules.items() if type(m).__name__ != '_Deferred'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **FIXED}, check=True
    )
    return set(done.stderr.split())


def test_a_start_loads_nothing_it_does_not_need() -> None:
    loaded = modules_of(*OVERCOME, "--auto")
    assert "rpgres_fate" in loaded
    unwanted = {
        "hashlib",
        "sqlite3",
        "rich",
        "pydantic",
        "importlib.metadata",
        "fractions",
        "dataclasses",
        "tomllib",
        "shlex",
        "random",
        "signal",
    }
    unwanted |= {
        "rpgres.odds.exact",
        "rpgres.scenes",
        "rpgres.journal",
        "rpgres.engine.cards",
        "rpgres.engine.contract",
        "rpgres.engine.forms",
        "rpgres.engine.labels",
        "rpgres.engine.waiting",
        "rpgres.rulesets.sheets",
        "rpgres.engine.resolve",
        "rpgres.toml.faults",
        "rpgres.toml.places",
        "rpgres.cli.completion",
        "rpgres.cli.shell",
        "rpgres.dice.distributions",
        "rpgres.engine.procedures",
        "rpgres.kits.aspects.described",
        "rpgres.kits.aspects.invoking",
        "rpgres.model.cards",
        "rpgres.parameters.form",
        "rpgres.parameters.table_items",
    }
    unwanted |= DEFERRED
    unwanted |= {f"rpgres.cli.commands.{name}" for name in COMMANDS if name != "roll"}
    assert unwanted & loaded == set()


def test_odds_of_an_action_load_nothing_that_is_about_scenes_or_several_cases() -> None:
    loaded = modules_of("odds", *OVERCOME[1:])
    assert "rpgres.odds.exact" in loaded
    about = ("trees", "watching", "scenes", "scene_best", "games", "positions", "comparison", "grids")
    assert {f"rpgres.odds.{name}" for name in about} & loaded == set()


@pytest.mark.slow
def test_help_imports_no_plugin() -> None:
    assert "rpgres_fate" not in modules_of("roll", "fate", "overcome", "--help")
    assert "rpgres.rulesets" not in modules_of("--version")
