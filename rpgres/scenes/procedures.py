"""A procedure without a scene file, such as `fate/conflict`: a scene of one step, from what was typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from rpgres.engine.players import Policy
from rpgres.model.state import EMPTY, State
from rpgres.rulesets import Rules
from rpgres.scenes.deciding import who_decides
from rpgres.scenes.program import Scene, program_of
from rpgres.scenes.reading import Including
from rpgres.scenes.records import SceneFile, Step
from rpgres.toml.reading import Source


class Answers(msgspec.Struct, frozen=True):
    """What answers chance and decisions of a procedure.

    Attributes:
        policies: the policies for decisions without an answer, by character; the default under an empty name.
        given, choose: results and answers by label, in order.
        told: the policy of each character, for records.
        named: the policies by name, as they were typed; the default under an empty name.
    """

    policies: Mapping[str, Policy] = EMPTY
    given: Mapping[str, Sequence[str]] = EMPTY
    choose: Mapping[str, Sequence[str]] = EMPTY
    told: Mapping[str, str] = EMPTY
    named: Mapping[str, str] = EMPTY


NO_ANSWERS = Answers()


def procedure_scene(
    rules: Rules,
    procedure: str,
    inputs: Mapping[str, Any],
    answers: Answers = NO_ANSWERS,
    *,
    note: str | None = None,
    state: State | None = None,
    actor: str = "",
) -> Scene:
    """Return the scene that plays one procedure, by default on an empty table, to which inputs add characters."""
    step = Step(
        procedure=procedure,
        id=procedure,
        actor=actor,
        with_={key: value for key, value in inputs.items() if value is not None},
        given={label: list(values) for label, values in answers.given.items()},
        choose={label: list(values) for label, values in answers.choose.items()},
        note=note or "",
    )
    file = SceneFile(ruleset=rules.id, title=procedure.replace("-", " ").capitalize(), steps=[step])
    source = Source(f"{rules.id}/{procedure}", "")  # without a text, so that no error names a line
    program = program_of(file.steps, source, ends={}, included=Including(rules.id, source, None, ()))
    told = {**who_decides(file, answers.policies), **answers.told}
    policies = dict(answers.policies)
    return Scene(file, source, rules, state or State(), policies, program, told=told, named=answers.named)
