"""A rule looked up by a name: what the ruleset's data say of it, and what its list of sources does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from rpgres.cli.mcp.records import RuleArguments, RuleFound, RuleSource
from rpgres.errors import UsageError
from rpgres.lines.helping import described
from rpgres.lines.seat import Seat
from rpgres.rulesets import Rules, unknown

MOST_SOURCES = 12
_WORD = re.compile(r"[^\W_]+")


def look_up(seat: Seat, asked: RuleArguments) -> RuleFound:
    """Return what the ruleset says of something, and where that comes from.

    Raises:
        UsageError: nothing has this name, and the sources do not speak of it.
    """
    rules, name = seat.rules, asked.name.strip()
    found = {
        what: text
        for what, (names, tell) in _kinds(rules).items()
        for key in names
        if _words(key) == _words(name)
        for text in [tell(rules, key)]
    }
    sources = list(_sources(rules, name))
    if not found and not sources:
        known = [key for names, _ in _kinds(rules).values() for key in names]
        raise UsageError(unknown("rule", name, known, of=f"the ruleset {rules.id}"))
    return RuleFound(name=name, what=list(found), text="\n".join(found.values()), sources=sources[:MOST_SOURCES])


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _kinds(rules: Rules) -> Mapping[str, tuple[Mapping[str, object], Callable[[Rules, str], str]]]:
    """Return what may be looked up: by the kind of thing its names, and what tells of one."""
    file = rules.file
    return {
        "action": (file.actions, described),
        "house rule": (file.switches, _switch),
        "label": (file.labels, lambda _, name: f"{name}: {file.labels[name].help}"),
        "outcome": (file.bands, lambda _, name: f"{name}: {file.bands[name].title}"),
        "effect": (file.effects, lambda _, name: f"{name}: {file.effects[name].help}"),
        "rung": (file.ladder, lambda _, name: f"{name}: {file.ladder[name]:+d} on the ladder"),
        "policy": (file.policies, lambda _, name: f"{name}: {file.policies[name]}"),
    }


def _switch(rules: Rules, name: str) -> str:
    switch = rules.file.switches[name]
    choices = "\n".join(
        f"  {choice}{' (in force)' if choice == rules.chosen[name] else ''}: {text}"
        for choice, text in switch.choices.items()
    )
    return f"{name}: {switch.help}\n{choices}\n  source: {switch.source}"


def _sources(rules: Rules, name: str) -> Iterator[RuleSource]:
    """Yield the lines of the list of sources that have all words of a name, rows of tables as `question: answer`."""
    from rpgres.toml.reading import read_source

    wanted = set(_words(name))
    file = [part.folder / "SOURCES.md" for part in rules.layers.parts if not part.is_overlay][-1]
    if not wanted or not file.is_file():
        return
    for number, line in enumerate(read_source(file).text.splitlines(), 1):
        if line.startswith("|") and wanted <= set(_words(line)):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            yield RuleSource(where=f"{rules.id}/SOURCES.md:{number}", text="; ".join(filter(None, cells)))
