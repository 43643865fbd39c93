"""The library face: one action resolved by a call, or by a request that came as JSON. Nothing here prints or exits."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from rpgres.arguments import told_by_kind
from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.prepare import Prepared, policies_of, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import run
from rpgres.errors import FileError, RpgresError, RuleError, UsageError, as_key, as_own, located, readable
from rpgres.model.state import EMPTY
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules, Ruleset
from rpgres.rulesets.sheets import MissingSheet

E = TypeVar("E", bound=BaseException)

Answers = Mapping[str, str | int | Sequence[str | int]]  # by label: one answer, or several in order
Folders = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

ERROR = "rpgres.error/1"  # the format of an error in JSON


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One line of a batch: an action, as `resolve` takes it.

    Attributes:
        ruleset: the ruleset's id.
        action: the action's name.
        with_: the action's inputs, by parameter, as in a scene.
        seed: any text; a fresh one when left out.
        given: results read off real dice, by label: one, or a list in the order of the questions.
        choose: answers to decisions, by label or WHO:LABEL, likewise; `OPTION*` is for every question of its label.
        switches: house rules that are not at their default.
        auto: whether policies answer what is left unanswered.
        policies: policy by character, for those who have one of their own.
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
    note: str | None = None
    id: Any = None


class DiceRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One line of a batch that rolls dice without a ruleset.

    Attributes:
        notation: the dice, as `rpgres roll` takes them: 4d6kh3.
        seed: any text; a fresh one when left out.
        given: results read off real dice, under the label `roll`.
        note: carried into the result.
        id: anything; carried into the answer.
    """

    notation: str
    seed: str | int | None = None
    given: dict[str, str | int | list[str | int]] = {}
    note: str | None = None
    id: Any = None


@told_by_kind
def resolve(
    ruleset: str | Ruleset,
    action: str,
    *,
    seed: str | int | None = None,
    given: Answers | None = None,
    choose: Answers | None = None,
    switches: Mapping[str, str] | None = None,
    auto: bool = False,
    policies: Mapping[str, str] | None = None,
    note: str | None = None,
    rulesets: Folders | None = None,
    **inputs: Any,
) -> Result | Pending:
    """Return how an action ended, or the decision it waits for.

    >>> resolve("fate", "overcome", skill=3, vs=2, given={"roll": "+00-"}).outcome
    'succeed'

    A ruleset's files are read once in a process; `forget_rules` has them read again.

    Args:
        ruleset: its id, or the record that a plugin's module holds.
        action: the action's name.
        seed: any text; a fresh one by default.
        given: results read off real dice, by label: one, or a list in the order of the questions.
        choose: answers to decisions, by label, likewise; `OPTION*` is for every question of its label.
        switches: house rules that are not at their default.
        auto: whether the ruleset's policy answers what is left unanswered.
        policies: policy by name of a character (`gm` for the game master, `actor` for the actor), for those who have
            one of their own.
        note: carried into the result.
        rulesets: folders with overlays, as of `--rulesets`; the last is the nearest.
        inputs: what the action takes, by name, with underscores for hyphens.

    Raises:
        UsageError: something named does not exist, or an answer is impossible.
        FileError: a sheet or a file of the ruleset is missing or faulty.
        PluginError: the ruleset's plugin cannot be used.
        RuleError: the ruleset's code failed.
    """
    prepared = prepare(rules_for(ruleset, switches or EMPTY, folders_of(rulesets)), action, inputs)
    return _run(
        prepared,
        seed=seed,
        given=given or EMPTY,
        choose=choose or EMPTY,
        auto=auto,
        policies=policies or EMPTY,
        note=note,
    )


def resolve_request(request: object, *, rulesets: Folders | None = None) -> dict[str, Any]:
    """Return the answer to one request of a batch as plain data for JSON: a result, a pending decision, or an error.

    Nothing is raised, whatever the request is; errors are those of `error_record`. An `id` is carried over. A pending
    decision has a `request`: the one that, with the answer added to its `choose`, goes on with the same run.

    Requests are untrusted: they name sheets by plain file names only, and errors do not quote files.

    Args:
        request: what `Request` or `DiceRequest` describes, as parsed from JSON.
        rulesets: folders with overlays.
    """
    id_ = request.get("id") if isinstance(request, Mapping) else None
    try:
        answer = _answer(_read_request(request), rulesets)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # one bad request must not stop a batch, not even with SystemExit
        answer = error_record(discreet(as_own(error)))
    return answer if id_ is None else {"id": id_, **answer}


class ErrorRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="format", tag=ERROR):
    """What went wrong. With --json a command prints it on standard error.

    Attributes:
        code: the kind of error, which never changes with its text.
        message: what is wrong, where, and what to try.
        exit: the exit code: 2 when what was typed is wrong, 3 when a decision is needed first, else 1.
        details: the same as data, such as file, line and key.
    """

    code: Annotated[str, msgspec.Meta(pattern="^[a-z]+(-[a-z]+)*$")]
    message: Annotated[str, msgspec.Meta(min_length=1)]
    exit: Literal[1, 2, 3]
    details: dict[str, Any]


def error_record(error: BaseException, *, name: Callable[[str], str] = as_key) -> dict[str, Any]:
    """Return an error as plain data for JSON: format, code, message, exit (the exit code of a command), details.

    Where an input is at fault, `details` has its `path`, and with some faults their `reason`. What is none of rpgres'
    own errors has the code `internal`: a fault of rpgres, or of a plugin's code.

    Args:
        error: what was raised.
        name: writes the names of inputs for the reader of the message.
    """
    if isinstance(error, RpgresError):
        code, message, details = error.code, readable(error.raw, name), dict(error.details)
        if error.path:
            details["path"] = list(error.path)
        if error.reason:
            details["reason"] = error.reason
    else:
        code, message = "internal", f"rpgres failed unexpectedly: {type(error).__name__}: {error}"
        details = {"type": type(error).__name__}
    found = ErrorRecord(code=code, message=message, exit=exit_code(error), details=_plain(details))
    record: dict[str, Any] = msgspec.to_builtins(found)
    return record


def exit_code(error: BaseException) -> Literal[1, 2, 3]:
    """Return the exit code of a command that ends with an error.

    2 when what was typed is wrong, 3 when a decision is needed first, 1 otherwise.
    """
    if isinstance(error, UsageError):
        return 3 if error.code == "needs-policy" else 2
    return 1


def forget_rules() -> None:
    """Have every ruleset's files read again by the next call."""
    _loaded.cache_clear()


def _run(
    prepared: Prepared,
    *,
    seed: str | int | None,
    given: Answers,
    choose: Answers,
    auto: bool,
    policies: Mapping[str, str],
    note: str | None,
) -> Result | Pending:
    result, _ = run(
        prepared,
        streams=Streams(read_seed(seed)),
        given=listed_answers(given, "given"),
        choose=listed_answers(choose, "choose"),
        policies=policies_of(prepared, policies, auto=auto),
        note=note,
    )
    return result


def _answer(request: Request | DiceRequest, rulesets: Folders | None) -> dict[str, Any]:
    if isinstance(request, DiceRequest):
        from rpgres.engine.dice import roll_dice

        streams, given = Streams(read_seed(request.seed)), listed_answers(request.given, "given")
        rolled: dict[str, Any] = _plain(roll_dice(request.notation, streams=streams, given=given, note=request.note))
        return rolled
    found = _resolved(request, rulesets)
    answer: dict[str, Any] = _plain(found)
    if isinstance(found, Pending):
        answer["request"] = _resuming(request, found)
    return answer


def _resuming(request: Request, pending: Pending) -> dict[str, Any]:
    """Return the request that runs up to the same question, with all answers so far; its answer is to be added."""
    answers = resuming(pending, listed_answers(request.given, "given"))
    again = msgspec.structs.replace(request, seed=pending.seed, **answers)
    plain: dict[str, Any] = _plain(again)
    defaults = {"with": {}, "switches": {}, "auto": False, "policies": {}, "note": None, "id": None}
    return {key: value for key, value in plain.items() if key not in defaults or value != defaults[key]}


def resuming(pending: Pending, given: Mapping[str, list[str]]) -> dict[str, dict[str, list[str]]]:
    """Return what is given and chosen in the run up to a question, with an empty place for its answer.

    Args:
        pending: what waits.
        given: results that were given beforehand, by label.
    """
    given, choose = dict(given), dict[str, list[str]]()
    so_far: dict[str, list[str]] = {}
    for answer in pending.answers:
        (so_far if answer.kind == "chance" else choose).setdefault(answer.key, []).append(answer.value)
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
    return _run(
        prepared,
        seed=request.seed,
        given=request.given,
        choose=request.choose,
        auto=request.auto,
        policies=request.policies,
        note=request.note,
    )


def discreet(error: E) -> E | RpgresError:
    """Return an error without anything from a file: the sender may not know its content."""
    if isinstance(error, RuleError) and error.details.get("place"):
        details = {key: value for key, value in error.details.items() if key != "place"}
        return RuleError(error.message.replace(error.details["place"], "", 1), **details)
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
    return FileError(f"{place}: the file is faulty; run `rpgres {check}` for details", file=name)


def _read_request(request: object) -> Request | DiceRequest:
    is_dice = isinstance(request, Mapping) and "notation" in request
    try:
        if is_dice:
            return msgspec.convert(request, DiceRequest, str_keys=True)
        return msgspec.convert(request, Request, str_keys=True)
    except (msgspec.ValidationError, RecursionError, UnicodeError):
        raise _faulty(request, DiceRequest if is_dice else Request) from None


def _faulty(request: object, type_: type[Request | DiceRequest]) -> UsageError:
    if not isinstance(request, Mapping):
        return UsageError('a request is an object such as {"ruleset": "fate", "action": "overcome", "with": {...}}')
    from rpgres.toml.diagnostics import diagnostics_error
    from rpgres.toml.reading import diagnose

    told = diagnostics_error(diagnose(request, type_, sources=()))
    return UsageError(told.message.replace("\n", "; "), **told.details)


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_as_builtin)


def _as_builtin(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


# ---------------------------------------------------------------------------------------------------------------------
# What was asked for, checked


def rules_for(ruleset: str | Ruleset, switches: Mapping[str, str], folders: tuple[Path, ...]) -> Rules:
    """Return the rules of a ruleset, which are read once in a process.

    Raises:
        UsageError, FileError, PluginError: there are none, or they are faulty.
    """
    if isinstance(ruleset, str):
        ruleset = find_ruleset(ruleset, extra=folders)
    elif not isinstance(ruleset, Ruleset):
        raise UsageError(f"a ruleset is named by its id or is a Ruleset record, not {ruleset!r}")
    for name, value in switches.items():
        if not isinstance(value, str):
            raise UsageError(f"the switch {name} takes the name of a choice, a text, not {value!r}")
    return _loaded(ruleset, tuple(sorted(switches.items())), folders, _surroundings())


def _surroundings() -> tuple[str | None, ...]:
    """Return what decides, beside the folders asked for, where overlays are sought."""
    return os.getcwd(), *map(os.environ.get, ("RPGRES_RULESETS", "XDG_CONFIG_HOME", "APPDATA", "HOME", "USERPROFILE"))


# A bot that runs for weeks may be sent any number of combinations of switches.
@lru_cache(maxsize=64)
def _loaded(
    ruleset: Ruleset,
    switches: tuple[tuple[str, str], ...],
    folders: tuple[Path, ...],
    _surroundings: tuple[str | None, ...],
) -> Rules:
    return load_rules(ruleset, switches=dict(switches), extra=folders)


def folders_of(rulesets: Folders | None) -> tuple[Path, ...]:
    """Return the folders that a call names."""
    if rulesets is None:
        return ()
    if isinstance(rulesets, str | os.PathLike):
        return (Path(rulesets),)
    return tuple(Path(folder) for folder in rulesets)


def listed_answers(answers: Answers, what: str) -> dict[str, list[str]]:
    """Return answers by label, each as a list of texts."""
    read: dict[str, list[str]] = {}
    for label, value in answers.items():
        several = [value] if isinstance(value, str | int) else value
        if not isinstance(several, Sequence) or not all(_is_answer(one) for one in several):
            raise UsageError(f"{what} {label}: an answer is a text, or a list of texts, not {value!r}")
        read[label] = [str(one) for one in several]
    return read


def _is_answer(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
