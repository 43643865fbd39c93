"""`rpgres.resolve`: one action resolved by a call; rules are read once in a process."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from rpgres.arguments import told_by_kind
from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.prepare import policies_of, prepare
from rpgres.engine.records import Pending, Result
from rpgres.engine.run import run
from rpgres.engine.waiting import wait_for_all
from rpgres.errors import UsageError
from rpgres.model.state import EMPTY
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules, Ruleset

Answers = Mapping[str, str | int | Sequence[str | int]]  # by label: one answer, or several in order
Folders = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


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
    wait: bool = False,
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
        wait: whether optional decisions without an answer are waited for too; they are skipped by default.
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
    result, _ = run(
        prepared,
        streams=Streams(read_seed(seed)),
        given=listed_answers(given, "given"),
        choose=listed_answers(choose, "choose"),
        policies=policies_of(prepared, policies or EMPTY, auto=auto),
        prompt=wait_for_all if wait else None,
        note=note,
    )
    return result


def forget_rules() -> None:
    """Have every ruleset's files read again by the next call."""
    _loaded.cache_clear()


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
    """Return the working folder and environment, which decide where overlays are found."""
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


def listed_answers(answers: Answers | None, what: str) -> dict[str, list[str]]:
    """Return answers by label, each as a list of texts.

    Raises:
        UsageError: one is neither a text, a number, nor a list of these.
    """
    read: dict[str, list[str]] = {}
    for label, value in (answers or EMPTY).items():
        several = [value] if isinstance(value, str | int) else joined_faces(value) if what == "given" else value
        if not isinstance(several, Sequence) or not all(map(_is_answer, several)):
            raise UsageError(f"{what} {label}: an answer is a text, or a list of texts, not {value!r}")
        read[label] = [str(one) for one in several]
    return read


def joined_faces(value: Any) -> Any:
    """Return a list of numbers, which are the faces of one roll, as its only text; everything else as it is."""
    is_faces = isinstance(value, list | tuple) and len(value) > 1 and all(type(one) is int for one in value)
    return [",".join(map(str, value))] if is_faces else value


def _is_answer(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
