"""Requests as JSON, such as lines of a batch: an action or dice, resolved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.prepare import policies_of, prepare
from rpgres.engine.records import Pending, Result, error_record, plain_data, scripts_of
from rpgres.engine.resolve import Folders, folders_of, listed_answers, rules_for
from rpgres.engine.run import run
from rpgres.engine.waiting import wait_for_all
from rpgres.errors import (
    AS_KEYS,
    FileError,
    PluginError,
    RpgresError,
    RuleError,
    UsageError,
    Wording,
    as_own,
    called,
    located,
    without_places,
)
from rpgres.rulesets.sheets import MissingSheet

E = TypeVar("E", bound=BaseException)


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One line of a batch: an action, as `resolve` takes it.

    Attributes:
        ruleset: the ruleset's id.
        action: the action's name.
        with_: the action's inputs, by parameter, as in a scene.
        seed: any text; a fresh one when left out.
        given: results read off real dice, by label: one, or a list in the order of the questions; a list of numbers is
            one roll, die by die.
        choose: answers to decisions, by label or WHO:LABEL, likewise; `OPTION*` is for every question of its label.
        switches: house rules that are not at their default.
        auto: whether policies answer what is left unanswered.
        policies: policy by character, for those who have one of their own.
        wait: whether optional decisions without an answer are waited for too; they are skipped when left out.
        note: carried into the result.
        id: anything; carried into the answer.
    """

    ruleset: str
    action: str
    with_: dict[str, Any] = msgspec.field(default={}, name="with")
    seed: str | int | None = None
    given: dict[str, str | int | list[str | int]] = {}
    choose: dict[str, str | int | list[str | int]] = {}
    switches: dict[str, str] = {}
    auto: bool = False
    policies: dict[str, str] = {}
    wait: bool = False
    note: str | None = None
    id: Any = None


class DiceRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One line of a batch that rolls dice without a ruleset.

    Attributes:
        notation: the dice, as `rpgres roll` takes them: 4d6kh3.
        seed: any text; a fresh one when left out.
        given: results read off real dice, under the label `roll`; a list of numbers is one roll, die by die.
        note: carried into the result.
        id: anything; carried into the answer.
    """

    notation: str
    seed: str | int | None = None
    given: dict[str, str | int | list[str | int]] = {}
    note: str | None = None
    id: Any = None


def resolve_request(request: object, *, rulesets: Folders | None = None, wording: Wording = AS_KEYS) -> dict[str, Any]:
    """Return the answer to one request of a batch as plain data for JSON: a result, a pending decision, or an error.

    Nothing is raised, whatever the request is; errors are those of `error_record`. An `id` is carried over. A pending
    decision has a `request`: the one that, with the answer added to its `choose`, continues the same run.

    Requests are untrusted: they name sheets by plain file names only, and errors do not quote files.

    Args:
        request: what `Request` or `DiceRequest` describes, as parsed from JSON.
        wording: how the reader of an error types what it names.
    """
    id_ = request.get("id") if isinstance(request, Mapping) else None
    try:
        answer = _answer(_read_request(request), rulesets)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # one bad request must not stop a batch, not even with SystemExit
        answer = error_record(discreet(as_own(error)), wording=wording)
    return answer if id_ is None else {"id": id_, **answer}


def _answer(request: Request | DiceRequest, rulesets: Folders | None) -> dict[str, Any]:
    if isinstance(request, DiceRequest):
        from rpgres.engine.dice import roll_dice

        streams, given = Streams(read_seed(request.seed)), listed_answers(request.given, "given")
        rolled: dict[str, Any] = plain_data(
            roll_dice(request.notation, streams=streams, given=given, note=request.note)
        )
        return rolled
    found = _resolved(request, rulesets)
    answer: dict[str, Any] = plain_data(found)
    if isinstance(found, Pending):
        answer["request"] = _resuming(request, found)
    return answer


def _resuming(request: Request, pending: Pending) -> dict[str, Any]:
    """Return the request that resumes the run at the same question, for its answer to be added."""
    answers = resuming(pending, listed_answers(request.given, "given"))
    again = msgspec.structs.replace(request, seed=pending.seed, **answers)
    plain: dict[str, Any] = plain_data(again)
    defaults = {"with": {}, "switches": {}, "auto": False, "policies": {}, "wait": False, "note": None, "id": None}
    return {key: value for key, value in plain.items() if key not in defaults or value != defaults[key]}


def resuming(pending: Pending, given: Mapping[str, list[str]]) -> dict[str, dict[str, list[str]]]:
    """Return the results and decisions up to a question, with an empty list for its answer.

    Args:
        given: results that were given beforehand, by label.
    """
    given, (so_far, choose) = dict(given), scripts_of(pending.answers)
    for label, values in so_far.items():  # what was given beforehand comes first, and may reach further
        given[label] = values + given.get(label, [])[len(values) :]
    choose.setdefault(pending.question.typed, [])
    for answer in pending.unused:
        choose.setdefault(answer.key, []).append(answer.value)
    return {"given": given, "choose": choose}


def _resolved(request: Request, rulesets: Folders | None) -> Result | Pending:
    rules = rules_for(request.ruleset, request.switches, folders_of(rulesets))
    with located("with"):
        prepared = prepare(rules, request.action, request.with_, confined=True)
    result, _ = run(
        prepared,
        streams=Streams(read_seed(request.seed)),
        given=listed_answers(request.given, "given"),
        choose=listed_answers(request.choose, "choose"),
        policies=policies_of(prepared, request.policies, auto=request.auto),
        prompt=wait_for_all if request.wait else None,
        note=request.note,
    )
    return result


def discreet(error: E) -> E | RpgresError:
    """Return an error without anything from a file: the sender may not know its content."""
    if isinstance(error, RuleError | PluginError) and without_places(error.raw) != error.raw:
        details = {key: value for key, value in error.details.items() if key not in ("file", "line")}
        kind = PluginError if isinstance(error, PluginError) else RuleError
        return kind(without_places(error.raw), path=error.path, reason=error.reason, **details)
    if not isinstance(error, FileError) or isinstance(error, MissingSheet):
        return error
    problems = error.details.get("problems") or [error.details]
    first: Mapping[str, Any] = problems[0] if isinstance(problems[0], Mapping) else {}
    name = os.path.basename(str(first.get("file") or "")) or "a file"
    line = first.get("line")
    place = f"{name}:{line}" if line else name
    check = (
        "ruleset check"
        if name in ("ruleset.toml", "menus.toml") or "outcomes" in str(first.get("file"))
        else "sheet check"
    )
    return FileError(f"{place}: the file is faulty; run `{called(check)}` for details", file=name)


NO_DICE = 'there is no key `dice`; dice are given as `notation`: {"notation": "2d6+3"}'


def _read_request(request: object) -> Request | DiceRequest:
    is_dice = isinstance(request, Mapping) and "notation" in request
    try:
        if is_dice:
            return msgspec.convert(request, DiceRequest, str_keys=True)
        return msgspec.convert(request, Request, str_keys=True)
    except (msgspec.ValidationError, RecursionError, UnicodeError):
        raise _faulty(request, DiceRequest if is_dice else Request) from None


def _in_json(message: str) -> str:
    """Return a message about data in the words of JSON, not of TOML."""
    for ours, theirs in (("a table", "an object"), ("a list", "an array"), ("in this table", "in this object")):
        message = message.replace(ours, theirs)
    return message


def _faulty(request: object, type_: type[Request | DiceRequest]) -> UsageError:
    if not isinstance(request, Mapping):
        return UsageError('a request is an object such as {"ruleset": "fate", "action": "overcome", "with": {...}}')
    if "ruleset" not in request and "dice" in request:
        return UsageError(NO_DICE, path=("dice",), reason="unknown")
    from rpgres.toml.diagnostics import diagnostics_error
    from rpgres.toml.reading import diagnose

    found = diagnose(request, type_)
    error = diagnostics_error([msgspec.structs.replace(one, message=_in_json(one.message)) for one in found])
    message = error.message.replace("\n", "; ")
    if any(one.code == "unknown-key" and not one.hint for one in found):
        message += "; inputs of an action belong under `with`, and a command other than a roll is named by `op`"
    return UsageError(message, **error.details)
