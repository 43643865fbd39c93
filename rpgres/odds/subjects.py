"""The subject of odds, an action or a scene with its rules, as one record that can be changed and measured again.

Comparing rules and varying an input are the same: measure, change, measure again. A subject
knows how it is measured (`Subject.evaluate`), so that nothing here depends on whether it is an action or a scene.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rpgres.engine.hidden import NO_TABLE, Known, Start
from rpgres.engine.prepare import Prepared, answers_to, prepare
from rpgres.errors import UsageError
from rpgres.model.state import EMPTY
from rpgres.odds.chances import Asked, Chance, chance_record, rules_fields
from rpgres.odds.document import put_at
from rpgres.odds.exact import OUTCOME, Decide, outcome_odds, success_in
from rpgres.odds.explorer import WORK, Method, Odds
from rpgres.odds.query import Query
from rpgres.rulesets import Rules, unknown
from rpgres.stopping import STOP

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

Kind = Literal["switch", "input", "path", "rules", "scene"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One change of a subject.

    Attributes:
        kind: what is changed: a switch, an input of the action, a path of the scene's TOML, the rules (by an overlay),
            or the whole scene.
        name: which one.
        value: the new value; null for rules and scenes.
    """

    kind: Kind
    name: str
    value: Any = None

    @property
    def text(self) -> str:
        """The change as people type it."""
        return self.name if self.value is None else f"{self.name}={value_text(self.value)}"


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """The exact distribution of a subject's results.

    Attributes:
        masses: the probability of each result, by its name.
        success: the probability of any success; None where no result counts as one.
        open: the remaining probability, which the budget left unresolved.
        leaves: how many paths were run to their end.
        states: how many distinct merged states were reached.
        method: how the chances were found; see `Odds.method`.
        mean: the mean of results that are numbers; None for others, or where anything is open.
    """

    masses: dict[str, Fraction]
    success: Fraction | None
    open: Fraction
    leaves: int
    states: int
    method: Method
    mean: Fraction | None = None
    is_interrupted: bool = False

    def of(self, outcome: str) -> Fraction | None:
        """Return the probability of a result by name, or of `success`; None where there is none of the name."""
        return self.success if outcome == SUCCESS else self.masses.get(outcome)


class Limits(msgspec.Struct, frozen=True):
    """The budget for measuring a subject.

    Attributes:
        seconds: the time limit; None for the default budget.
        among: how many subjects share the budget.
    """

    seconds: float | None = None
    among: int = 1


IN_ALL = 4  # default budgets that several subjects share
SUCCESS = "success"  # the name of all successes together
ANY_SUCCESS = "any success"  # the same, where an outcome has the name `success`; names of outcomes have no blanks
OPEN = "left open"  # the remaining probability, where an outcome has the name `open`


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """An action or a scene whose odds are asked for.

    Attributes:
        rules: the ruleset in play, with its house rules and switches.
        evaluate: returns the distribution of a subject like this one, within limits.
        action: the action's name; empty for a scene.
        scene: the scene's name; empty for an action.
        inputs: the inputs of the action, as typed.
        document: the scene's TOML as data.
        switches: the switches that were set.
        choose: answers to decisions that were typed, by label.
        start: the table on which an action begins.
    """

    rules: Rules
    evaluate: Callable[[Subject, Limits], Measured]
    action: str = ""
    scene: str = ""
    inputs: Mapping[str, Any] = EMPTY
    document: Mapping[str, Any] = EMPTY
    switches: Mapping[str, str] = EMPTY
    choose: Mapping[str, Sequence[str]] = EMPTY
    start: Start = NO_TABLE


def measure(subject: Subject, limits: Limits = Limits()) -> Measured:  # noqa: B008  # it is frozen
    """Return the exact distribution of a subject's results.

    Raises:
        UsageError: an input is missing or impossible, or a decision has no answer.
        FileError: a sheet is missing or faulty.
        RuleError: the ruleset's code failed.
    """
    return subject.evaluate(subject, limits)


# ---------------------------------------------------------------------------------------------------------------------
# Changing a subject


def changed(subject: Subject, *changes: Change) -> Subject:
    """Return a subject with changes made, one after the other.

    Raises:
        UsageError: there is no such switch, choice, input or path.
        FileError: a house rule is missing or faulty.
    """
    for change in changes:
        subject = _changed(subject, change)
    return subject


def _changed(subject: Subject, change: Change) -> Subject:
    from pathlib import Path

    name, value, replace = change.name, change.value, msgspec.structs.replace
    match change.kind:
        case "switch":
            switches = {**subject.switches, name: str(value)}
            return replace(subject, rules=subject.rules.with_switches(switches), switches=switches)
        case "input":
            return replace(subject, inputs=_inputs_with(subject, change))
        case "path":
            return replace(subject, document=put_at(subject.rules, subject.document, name, value))
        case "rules":
            return replace(subject, rules=_with_overlay(subject.rules, Path(name), subject.switches))
    raise ValueError(f"{change.text} is a subject of its own")  # see `Study.others`


def named_change(subject: Subject, name: str, value: Any) -> Change:
    """Return the change that a name means: of a switch, else of an input of the action, or a path of the scene.

    Raises:
        UsageError: it is none of these.
    """
    if name in subject.rules.file.switches:
        return Change(kind="switch", name=name, value=value)
    if subject.scene:
        return Change(kind="path", name=name, value=value)
    inputs = _input_names(subject)
    if name.replace("_", "-") in inputs:
        return Change(kind="input", name=inputs[name.replace("_", "-")], value=value)
    known = [*inputs, *subject.rules.file.switches]
    raise UsageError(unknown("switch or input", name, known, of=f"{subject.rules.id} {subject.action}"))


def choices_of(subject: Subject, name: str) -> list[str]:
    """Return every value of a switch, a choice, a flag or an integer with `among`; nothing for other inputs."""
    file = subject.rules.file
    if name in file.switches:
        return list(file.switches[name].choices)
    inputs = _input_names(subject) if subject.action else {}
    parameter = subject.rules.parameters(subject.action).get(inputs[name]) if name in inputs else None
    if parameter is None:
        return []
    return ["no", "yes"] if parameter.kind == "flag" else [*parameter.choices, *map(str, parameter.among)]


def _input_names(subject: Subject) -> dict[str, str]:
    """Return the inputs of an action, by name and alias."""
    found = {"sheet": "sheet"}
    for name, parameter in subject.rules.parameters(subject.action).items():
        found |= dict.fromkeys((name, *parameter.aliases), name)
    return found


def _inputs_with(subject: Subject, change: Change) -> dict[str, Any]:
    key = change.name.replace("-", "_")
    inputs = {name: value for name, value in subject.inputs.items() if name.replace("-", "_") != key}
    if change.value is not None:
        parameter = subject.rules.parameters(subject.action).get(change.name)
        value = change.value
        if parameter is not None and parameter.is_repeated and not isinstance(value, list | tuple):
            value = (value,)
        if parameter is not None and parameter.kind == "flag" and isinstance(value, str):
            value = _flag(change.name, value)
        if value is not False:
            inputs[key] = value
    return inputs


def _flag(name: str, text: str) -> bool:
    truths = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
    if text.lower() not in truths:
        raise UsageError(f"{name} takes yes or no, not {text!r}")
    return truths[text.lower()]


def value_text(value: Any) -> str:
    """Return a value as people type it.

    >>> value_text(("4dF+2", 3)), value_text(True)
    ('4dF+2,3', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ",".join(map(value_text, value))
    return str(value)


def _with_overlay(rules: Rules, path: Path, switches: Mapping[str, str]) -> Rules:
    """Return rules with an overlay: a TOML file, or a folder as `--rulesets` takes it."""
    from rpgres.plugins.loading import checked
    from rpgres.rulesets.folders import merge_parts, overlay_part

    folder = path / rules.id if (path / rules.id).is_dir() else path
    if folder.is_dir() and folder == path and path.name != rules.id:
        raise UsageError(f"{path} has no folder {rules.id!r} with house rules of that ruleset")
    parts = [*rules.layers.parts, overlay_part(folder)]
    return checked(Rules(rules.ruleset, file=merge_parts(parts), parts=parts, switches=switches))


# ---------------------------------------------------------------------------------------------------------------------
# Measuring an action


def action_subject(query: Query) -> Subject:
    """Return an action as a subject."""
    return Subject(
        rules=query.rules,
        evaluate=partial(_measure_action, query),
        action=query.action,
        inputs=query.inputs,
        switches=query.switches,
        choose=query.choose,
        start=query.start,
    )


def _measure_action(query: Query, subject: Subject, limits: Limits) -> Measured:
    """Return the distribution of an action's outcomes, with the deciders and the budget of the query."""
    prepared = prepared_subject(subject)
    share = min(1.0, IN_ALL / limits.among)
    answers: dict[str, Any] = {
        "choose": answers_to(prepared, subject.choose),
        "policies": query.deciding(prepared),
    }
    budget: dict[str, Any] = {"leaves": query.leaves, "seconds": limits.seconds}
    if query.decide == "policies":
        odds = outcome_odds(prepared, **answers, **budget, work=int(WORK * share), by=query.by)
        return measured(prepared, odds, by=query.by)
    from rpgres.odds.optimal import SEARCH, Search, evaluate_best

    budget |= {"work": int(SEARCH * share), "search": Search(only_first=query.decide == "each")}
    return measured(prepared, evaluate_best(prepared, **answers, **budget))


def prepared_subject(subject: Subject) -> Prepared:
    """Return the action of a subject with its inputs read."""
    return prepare(subject.rules, subject.action, subject.inputs, **subject.start.arguments)


def measured(prepared: Prepared, odds: Odds, *, by: str = OUTCOME) -> Measured:
    """Return odds of an action as the distribution of a subject."""
    masses, mean = {str(name): mass for name, mass in odds.masses.items()}, None
    if by != OUTCOME and not odds.open and all(isinstance(one, int) for one in odds.masses):
        mean = sum((value * mass for value, mass in odds.masses.items()), odds.open)
    return Measured(
        masses=masses,
        success=success_in(prepared.rules, masses) if by == OUTCOME else None,
        mean=mean,
        open=odds.open,
        leaves=odds.leaves,
        states=odds.states,
        method=odds.method,
        is_interrupted=STOP.is_asked and bool(odds.open),
    )


# ---------------------------------------------------------------------------------------------------------------------
# Records


class Evaluated(Asked, frozen=True, kw_only=True):
    """The first fields of every record of several evaluations.

    Attributes:
        by: what the chances are of: outcomes, endings, a path of the table at the end, what a procedure counts.
        decide: who decides for the actor; see the record of odds.
        complete: false where it was interrupted; the record has what was known by then.
        known: the seat whose knowledge of a persistent table counts; null without a table.
    """

    by: str = "outcome"
    decide: Decide = "policies"
    complete: bool = True
    known: Known | None = None


class MeasuredOdds(msgspec.Struct, frozen=True, kw_only=True):
    """The odds of one subject among several.

    Attributes:
        outcomes: the chance of every outcome, by its name.
        success: the chance of an outcome that is a success; null where none is.
        open: the remaining probability, which the budget left unresolved; each chance may be higher by up to this.
        method: how the chances were found: exact, or partial where something is open.
        leaves: how many paths were run to their end.
        states: how many distinct merged states were reached.
        mean: the mean, where outcomes are numbers and nothing is open; null otherwise.
    """

    outcomes: dict[str, Chance]
    success: Chance | None = None
    open: Chance
    method: Method
    leaves: int
    states: int
    mean: Chance | None = None

    def row(self) -> dict[str, float]:
        """Return the probability of each outcome, of `success` where any outcome counts as one, and of what is `open`.

        The last two are `any success` and `left open` where an outcome has such a name.
        """
        more = {OPEN if "open" in self.outcomes else "open": self.open}
        if self.success is not None:
            more = {ANY_SUCCESS if SUCCESS in self.outcomes else SUCCESS: self.success, **more}
        return {name: chance.probability for name, chance in {**self.outcomes, **more}.items()}


def measured_fields(found: Measured) -> dict[str, Any]:
    """Return a distribution as the fields of `MeasuredOdds`."""
    return {
        "outcomes": {name: chance_record(mass) for name, mass in found.masses.items()},
        "success": chance_record(found.success) if found.success is not None else None,
        "open": chance_record(found.open),
        "method": found.method,
        "leaves": found.leaves,
        "states": found.states,
        "mean": chance_record(found.mean) if found.mean is not None else None,
    }


def subject_fields(subject: Subject) -> dict[str, Any]:
    """Return the fields of `Evaluated` of a subject."""
    return {
        **rules_fields(subject.rules),
        "action": subject.action or None,
        "scene": subject.scene or None,
        "inputs": {name.replace("_", "-"): value for name, value in subject.inputs.items()},
        "known": subject.start.record(),
    }


def in_order(names: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return all names of several distributions, in the order of the first that has each."""
    return list(dict.fromkeys(name for one in names for name in one))
