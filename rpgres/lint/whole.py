"""Whether all of a ruleset fits together, its sheets included. Rules alone are judged by `rpgres.lint.rulesets`.

This reads every file of the ruleset but its scenes, which no ordinary command needs to; it serves `ruleset check`,
`plugin list` and `plugin check`.
"""

from __future__ import annotations

from collections.abc import Iterator

from rpgres.errors import FileError, RpgresError
from rpgres.lint.rulesets import data_problems
from rpgres.lint.spelling import misspelt_problems
from rpgres.lint.unused import idle_problems
from rpgres.rulesets import Rules
from rpgres.rulesets.provenance import problems_in
from rpgres.rulesets.sheets import read_sheet
from rpgres.toml.reading import Problem


def problems_of(rules: Rules) -> list[str]:
    """Return what is wrong with a ruleset, one line each; nothing when its data and code fit together.

    Args:
        rules: the ruleset with the data that are to be judged; with overlays, these are judged with it.
    """
    return list(dict.fromkeys(_sentence(problem) for problem in all_problems(rules)))


def _sentence(problem: Problem) -> str:
    """Return a problem with its key first: whoever wrote the whole ruleset knows the keys better than the lines."""
    told = f"{problem.key}: {problem.message}" if problem.key else problem.message
    told += f"; did you mean {problem.hint!r}?" if problem.hint else ""
    place = f"{problem.file}:{problem.line}" if problem.line else problem.file
    return f"{told} ({place})" if place else told


def all_problems(rules: Rules) -> list[Problem]:
    """Return what is wrong with a ruleset's data, overlays and sheets, each with its file, line and key path."""
    return [*data_problems(rules), *misspelt_problems(rules), *idle_problems(rules), *_sheets(rules)]


def _sheets(rules: Rules) -> Iterator[Problem]:
    """The ruleset's own characters can sit down."""
    for folder in rules.folders:
        for path in sorted((folder / "sheets").glob("*.toml")):
            try:
                read_sheet(rules, str(path.absolute()))
            except FileError as error:
                yield from problems_in(error)
            except RpgresError as error:
                yield Problem(str(path), None, "", error.message)
