"""Commands of groups are made when they are called."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, get_type_hints

import msgspec
import pytest
import typer.core
from typer.models import CommandInfo

from rpgres.cli.annotations import option, spread
from rpgres.cli.lazy import Command, Declared

Name = Annotated[str, option("--name", takes="TEXT", help="a name")]


class Shared(msgspec.Struct, frozen=True):
    name: Name = "mara"
    rank: Annotated[int, option("--rank", takes="N", help="a rank")] = 2


def test_a_command_of_a_group_is_made_once_when_it_is_asked_for() -> None:
    made = list[str]()

    def make(declared: CommandInfo) -> Command:
        made.append(str(declared.name))
        return typer.core.TyperCommand(declared.name)

    commands = Declared(
        [CommandInfo(name="one"), CommandInfo(name="two")], {"act": typer.core.TyperGroup(name="act")}, make
    )
    assert list(commands) == ["one", "two", "act"]
    assert len(commands) == 3
    assert made == []
    assert commands["two"] is commands["two"]
    assert commands["act"].name == "act"
    assert made == ["two"]
    assert commands.get("three") is None
    assert [one.name for one in commands.values()] == ["one", "two", "act"]
    assert made == ["two", "one"]


def test_the_fields_of_a_record_are_options_that_arrive_as_one_value() -> None:
    came = list[Any]()

    @spread
    def run(who: Name = "edda", *, shared: Shared, **more: Any) -> None:
        """What it does."""
        came.append((who, shared, more))

    assert [*inspect.signature(run).parameters] == ["who", "name", "rank"]
    assert get_type_hints(run) == {"who": str, "name": str, "rank": int}
    assert (run.__name__, inspect.getdoc(run)) == ("run", "What it does.")
    run(who="bo", name="venn", rank=3, extra=True)
    assert came == [("bo", Shared("venn", 3), {"extra": True})]


def test_the_options_of_a_command_are_worked_out_when_they_are_asked_for() -> None:
    @spread
    def run(name: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
        raise AssertionError

    with pytest.raises(NameError, match="Missing"):
        inspect.signature(run)
