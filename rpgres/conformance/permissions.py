"""Whether what parameters declare holds at a persistent table: who says them, and who reads what was typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rpgres.conformance.behaviour import something
from rpgres.conformance.records import NothingToCheck, finding
from rpgres.conformance.subjects import Case, Subject
from rpgres.engine.views import private_in, without_fields
from rpgres.errors import RpgresError
from rpgres.journal import commands, views
from rpgres.journal.commands import Done, Place
from rpgres.journal.permissions import said_by_gm
from rpgres.model.state import GM
from rpgres.parameters.context import SHEET
from rpgres.parameters.examples import example_inputs
from rpgres.toml.diagnostics import Diagnostic

_SAID = 'said-by = "gm" reserves an input for the game master; check the parameter and its fields'
_SEEN = "check seen-by of the parameter and its fields"


def check_permissions(subject: Subject) -> Iterator[Diagnostic]:
    """Yield inputs that a player may say and only the game master should, or that others read wrongly.

    Each action is played once with every set of inputs that an example or a step of a scene types, at a table of the
    character that acts and, if there is one, another.
    """
    if not subject.is_installed:
        raise NothingToCheck("a ruleset that is not installed cannot be used at a table")
    played: set[tuple[str, frozenset[str]]] = set()
    compared = 0
    for case in something(subject, subject.steady):
        inputs, sheets = _typed(subject, case), _sheets(subject, case)
        key = (case.prepared.action, frozenset(inputs))
        if inputs and sheets and key not in played:
            played.add(key)
            compared += 1
            yield from _of_case(case, inputs, sheets)
    if not compared:
        raise NothingToCheck("no example and no scene gives an input for a character with a sheet")


def _typed(subject: Subject, case: Case) -> dict[str, Any]:
    """Return what a case types, but for what a persistent table keeps itself: sheets, counters and cards."""
    if case.leaf is None:
        inputs: Mapping[str, Any] = example_inputs(subject.rules, case.prepared.action)[0]
    else:
        inputs = case.leaf.step.with_
    parameters = case.prepared.rules.parameters(case.prepared.action)
    kept = {name for name, its in parameters.items() if its.kind in ("counter", "cards", "tag")}
    return {key: value for key, value in inputs.items() if key != SHEET and key.replace("_", "-") not in kept}


def _sheets(subject: Subject, case: Case) -> list[str]:
    """Return the sheets of the actor and of another character; nothing when the ruleset ships none."""
    known = [path.stem for path in subject.rules.layers.files("sheets")]
    others = [name for name in known if name != case.prepared.actor]
    return [case.prepared.actor, *others[:1]] if case.prepared.actor in known else []


def _of_case(case: Case, inputs: Mapping[str, Any], sheets: list[str]) -> Iterator[Diagnostic]:
    rules, action = case.prepared.rules, case.prepared.action
    withheld = said_by_gm(rules, action, inputs)
    if withheld and _is_taken(case, inputs, sheets):
        message = f"a player may give {', '.join(withheld)}, which is reserved for the game master"
        yield finding(message, case.place, _SAID)
    rest = {key: value for key, value in inputs.items() if key not in withheld}
    try:
        done = _act(case, rest, sheets)
    except RpgresError:
        return  # it needs what the game master says, or what this table does not have
    state, private = done.history.state, private_in(rules, action, rest)
    own = state.seat_of(sheets[0])
    for seat in dict.fromkeys((own, *map(state.seat_of, sheets), GM)):
        shown = views.run_seen(done.history, done.entry, seat).inputs
        for key, value in rest.items():
            fields = private.get(key) if seat != own else None
            expected = value if fields is None else without_fields(value, fields) if fields else None
            if shown.get(key) != expected:
                message = f"{seat} reads {shown.get(key)!r} of --{key} {value}, and not {expected!r}"
                yield finding(message, case.place, _SEEN)


def _is_taken(case: Case, inputs: Mapping[str, Any], sheets: list[str]) -> bool:
    """Tell whether a player may type all of this."""
    try:
        done = _act(case, inputs, sheets)
    except RpgresError:
        return False
    return done.history.state.seat_of(sheets[0]) != GM


def _act(case: Case, inputs: Mapping[str, Any], sheets: list[str]) -> Done:
    """Return the result of an action at a table of its own, typed by the actor's seat."""
    rules = case.prepared.rules
    with TemporaryDirectory() as folder:
        place = Place(Path(folder) / "table.db")
        begun = commands.begin_table(place, ruleset=rules.id, sheets=sheets, switches=rules.chosen, seed="0")
        seat = begun.history.state.seat_of(sheets[0])
        return commands.act(place, case.prepared.action, inputs, actor=sheets[0], seat=seat)
