"""The command line that resumes an action with a pending decision, quoted for the shell in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from rpgres.cli.output import reader_words, warn
from rpgres.cli.shell.quoting import join_line
from rpgres.errors import UsageError

if TYPE_CHECKING:
    from rpgres.engine.records import Pending
    from rpgres.rulesets import Rules


def resumed(pending: Pending, rules: Rules, *, command: Sequence[str] = (), more: Sequence[str] = ()) -> Pending:
    """Return what waits with the command line that runs it again up to its question, with the place for the answer.

    Every answer so far is repeated, decisions and dice, so that it is the same run however they were answered.

    Args:
        pending: what waits.
        command: what stands before its inputs; by default it is rolled.
        more: what stands at the end.
    """
    words = ["rpgres", *(command or ("roll", pending.ruleset, pending.action))]
    for name, value in pending.inputs.items():
        words += _option(name, value)
    for name, value in pending.switches.items():
        words += ["--switch", f"{name}={value}"] if value != rules.default_switch(name) else []
    for answer in pending.answers:
        words += ["--given" if answer.kind == "chance" else "--choose", f"{answer.key}={answer.value}"]
    words += [f"--note={pending.note}"] if pending.note else []
    question = pending.question
    example = question.options[0].name if question.options else question.form or "..."
    words += [f"--seed={pending.seed}", "--choose", f"{question.typed}={example}"]
    for answer in pending.unused:
        words += ["--choose", f"{answer.key}={answer.value}"]
    try:
        return structs.replace(pending, resume=join_line([*words, *more]))
    except UsageError as error:  # the question counts more than the line
        warn(f"no line to go on with is shown: {error.message}")
        return pending


def _option(name: str, value: Any) -> list[str]:
    if value is True:
        return [f"--{name}"]
    if value is False:
        return []
    if isinstance(value, list | tuple):
        return [word for one in value for word in _option(name, one)]
    if isinstance(value, Mapping) and "name" in value:  # a form as a scene writes it
        said = ",".join(f"{key}={one}" for key, one in value.items() if key != "name")
        value = f"{value['name']}:{said}" if said else value["name"]
    elif isinstance(value, Mapping):  # an opposition as a scene writes it
        ability = next((part for key, part in value.items() if key != "character"), "")
        value = f"{value.get('character')}:{ability}"
    text = str(value)
    return [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]


def kept_options(shared: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return options of a line that its resumed one needs as well, as words.

    Args:
        shared: the options by name.
        names: those that are kept.
    """
    words = list(reader_words())
    for name in names:
        value, typed = shared[name], f"--{name.replace('_', '-')}"
        several: Sequence[str] = value if isinstance(value, list | tuple) else [value] if isinstance(value, str) else ()
        words += [word for one in several for word in (typed, one)] or ([typed] if value is True else [])
    return words
