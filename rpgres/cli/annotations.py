"""Options and arguments as Typer reads them from the signatures of commands, made from the records of `options`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, update_wrapper
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer
from msgspec import Struct
from msgspec.structs import fields

from rpgres.cli import options as opt
from rpgres.lines.options import AUTO, CHOOSE, GIVEN, JSON, POLICY, REAL, RULESETS, Option


def option(*names: str, takes: str, help: str, **more: Any) -> Any:  # noqa: A002  # as Typer calls it
    """Return an option that takes a value; its default is not shown.

    Args:
        names: `--name`, and `-n` where there is a short form.
        takes: what the value is called in the help.
        more: further arguments of `typer.Option`.
    """
    return typer.Option(*names, metavar=takes, help=help, show_default=False, **more)


def argument(takes: str, *, help: str, **more: Any) -> Any:  # noqa: A002
    """Return an argument; its default is not shown. See `option`."""
    return typer.Argument(metavar=takes, help=help, show_default=False, **more)


def declared(one: Option, **more: Any) -> Any:
    """Return an option that several commands share, from its record.

    Args:
        more: further arguments of `typer.Option`.
    """
    if one.is_flag:
        return typer.Option(*one.names, help=one.help, **more)
    return option(*one.names, takes=one.metavar, help=one.help, **more)


def complete_rulesets() -> list[tuple[str, str]]:
    """Return the rulesets with their titles, for a shell; Typer leaves out what does not begin as the word does."""
    from rpgres.plugins.discovery import ruleset_names

    return [(name.id, name.title) for name in ruleset_names()]


AsJson = Annotated[bool, declared(JSON)]
Auto = Annotated[bool, declared(AUTO)]
Choose = Annotated[list[str] | None, declared(CHOOSE)]
Folders = Annotated[list[str] | None, declared(RULESETS)]
Given = Annotated[list[str] | None, declared(GIVEN)]
Policies = Annotated[list[str] | None, declared(POLICY)]
RealDice = Annotated[str | None, declared(REAL)]
Seed = Annotated[str | None, declared(opt.SEED)]
Switches = Annotated[list[str] | None, declared(opt.SWITCH)]
OfRuleset = Annotated[
    str | None,
    option(
        "--ruleset",
        takes="ID",
        help="The ruleset, if several are installed and the file's folder does not determine it.",
        autocompletion=complete_rulesets,
    ),
]
OnlyOf = Annotated[
    str | None, argument("[RULESET]", help="List only those of this ruleset.", autocompletion=complete_rulesets)
]
RulesetId = Annotated[
    str, typer.Argument(metavar="RULESET", help="The ruleset's id.", autocompletion=complete_rulesets)
]


def spread(run: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose options come from records: a parameter that is a record stands for the record's fields.

    So options that many commands share are written once, as the fields of a `msgspec.Struct`, and arrive as one value.

    Args:
        run: the command as it is written, its annotations those that Typer reads, or such records; what its class adds
            comes as further keywords.
    """
    return _Spread(run)


class _Spread:
    """A function whose signature is worked out when it is asked for: of a dozen commands in a module, one is called."""

    def __init__(self, run: Callable[..., None]) -> None:
        self._run = run
        update_wrapper(self, run, assigned=("__module__", "__name__", "__qualname__", "__doc__"))

    def __call__(self, **values: Any) -> None:
        for name, record in self._records.items():
            values[name] = record(**{field: values.pop(field) for field in record.__struct_fields__})
        self._run(**values)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self._run, include_extras=True)

    @cached_property
    def _records(self) -> dict[str, type[Struct]]:
        return {name: hint for name, hint in self._hints.items() if isinstance(hint, type) and issubclass(hint, Struct)}

    @cached_property
    def __signature__(self) -> Signature:  # what Typer reads
        taken: list[Parameter] = []
        for one in signature(self._run).parameters.values():
            if one.name in self._records:
                record = self._records[one.name]
                hints = get_type_hints(record, include_extras=True)
                taken += [_typed(field.name, hints, field.default) for field in fields(record)]
            elif one.kind is not Parameter.VAR_KEYWORD:
                taken.append(_typed(one.name, self._hints, one.default))
        return Signature(taken)

    @property
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        return {one.name: one.annotation for one in self.__signature__.parameters.values()}


def _typed(name: str, hints: Mapping[str, Any], default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=hints[name], default=default)
