"""A procedure without a scene file, such as `fate/conflict`: a scene of one step, from what was typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rpgres.engine.players import Policy
from rpgres.model.state import EMPTY, State
from rpgres.rulesets import Rules
from rpgres.scenes.deciding import who_decides
from rpgres.scenes.program import Scene, program_of
from rpgres.scenes.reading import Including
from rpgres.scenes.records import SceneFile, Step
from rpgres.toml.reading import Source

WITHOUT_FILE = ""  # the text of a scene without a file, so that no error names a line


def procedure_scene(
    rules: Rules,
    procedure: str,
    inputs: Mapping[str, Any],
    *,
    policies: Mapping[str, Policy] = EMPTY,
    given: Mapping[str, Sequence[str]] = EMPTY,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    note: str | None = None,
    state: State | None = None,
    actor: str = "",
    told: Mapping[str, str] = EMPTY,
    named: Mapping[str, str] = EMPTY,
) -> Scene:
    """Return the scene that plays one procedure.

    Args:
        policies: the policies for other decisions, by character; the default under an empty name.
        given, choose: results and answers by label, in order.
        state: the table; by default an empty one, to which the inputs add characters.
        told: the policy of each character, for records.
        named: the policies by name, as they were typed; the default under an empty name.
    """
    step = Step(
        procedure=procedure,
        id=procedure,
        actor=actor,
        with_={key: value for key, value in inputs.items() if value is not None},
        given={label: list(values) for label, values in given.items()},
        choose={label: list(values) for label, values in choose.items()},
        note=note or "",
    )
    name = f"{rules.id}/{procedure}"
    file = SceneFile(ruleset=rules.id, title=procedure.replace("-", " ").capitalize(), steps=[step])
    source = Source(name, WITHOUT_FILE)
    program = program_of(file.steps, source, ends={}, included=Including(rules.id, source, None, ()))
    told = {**who_decides(file, policies), **told}
    return Scene(file, source, rules, state or State(), dict(policies), program, told=told, named=named)
