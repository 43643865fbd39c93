"""Diagnostics of unknown names in formulas, which count 0, that are close to a known name.

Only where sheets may have abilities of any name can such a name not be called unknown; it is judged by what sheets,
scenes, examples and other formulas say, which takes reading all of them. This serves `ruleset check` alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any

from rpgres.errors import FileError, UsageError
from rpgres.lint.formulas import scope_of
from rpgres.lint.outcomes import rolled_labels
from rpgres.model.state import slug
from rpgres.parameters.examples import example_inputs, spellings
from rpgres.rulesets.actions import OPPOSED
from rpgres.rulesets.dice_plans import OF_AN_OUTCOME
from rpgres.rulesets.folders import located_in
from rpgres.rulesets.formulas import OF_A_DIE, FormulaError, formula, names
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.templates import names_in
from rpgres.rulesets.tree import walk
from rpgres.toml.diagnostics import Diagnostic, Fault, KeyPath, nearest
from rpgres.toml.reading import parse, read_source


def misspelt_diagnostics(rules: Rules) -> Iterator[Diagnostic]:
    """Yield the names in braces that stand once, that nothing has, and that are near one that something has."""
    file = rules.file
    if not file.standalone or not file.has_any_ability:
        return
    fields = [*file.fields_of("abilities")]
    declared = {*scope_of(rules, file.actions).dice, *file.definitions, *file.switches, *OF_A_DIE, *OF_AN_OUTCOME}
    declared |= {name for action in file.actions.values() for name in (*action.groups, *action.ask)}
    declared |= {name for definition in file.definitions.values() for name in definition.of}
    known = {*declared, *rolled_labels(rules), *_on_sheets(rules, fields), *_in_examples(rules)}
    texts = [*rules.layers.parts, *(text for text in rules.layers.outcome_texts() if not text.prefix)]
    found = [(text, path, name) for text in texts for path, name in _named(text.data)]
    times = Counter(name for _, _, name in found)
    near_to = known | {name for name, count in times.items() if count > 1}
    for text, path, name in found:
        is_told = path[0] != "outcomes" and nearest(name, tuple(declared))  # where the formulas are checked
        near = tuple(sorted(near_to)) if name not in near_to and not is_told else ()
        if nearest(name, near):
            message = (
                f"{name!r} is always 0: no sheet, parameter or other formula defines it "
                f"(if this is intended, list it in sheet.{fields[0]}.names)"
            )
            yield located_in([text], Fault("unknown-name", path, message, name, near))
        near_to.add(name)


def _named(data: Any) -> Iterator[tuple[KeyPath, str]]:
    """Yield the names in the formulas of a file, whosever they are, with where each formula stands."""
    for path, value in walk(data):
        if not isinstance(value, str):
            continue
        found: Iterable[str] = names_in(value) if "rolls" in path[-3:-1] or "dice" in path else ()
        if path[0] in ("actions", "define") and _FORMULAS.intersection(map(str, path)):
            with suppress(FormulaError):  # told where it is read
                found = [name for text in found or [value] for name in names(formula(text))]
        at = path[:-1] if path[-1] == "value" and path[-3:-2] == ("rolls",) else path
        yield from ((at, name.removeprefix(OPPOSED)) for name in found)


_FORMULAS = frozenset(["dice", "numbers", "bands", "band", "define"])


def _on_sheets(rules: Rules, fields: Iterable[str]) -> Iterator[str]:
    """Yield the abilities that the ruleset's own characters have, on sheets and in scenes."""
    characters: list[Any] = [_data(path) for path in rules.layers.files("sheets")]
    for path in rules.layers.files("scenes"):
        written = _data(path).get("characters")
        characters += written.values() if isinstance(written, dict) else ()
    for character in characters:
        yield from _abilities(character, fields)


def _data(path: FilePath) -> dict[str, Any]:
    try:
        return parse(read_source(path))
    except FileError:
        return {}  # told where it is read as what it is


def _abilities(character: Any, fields: Iterable[str]) -> Iterator[str]:
    for field in fields:
        written = character.get(field) if isinstance(character, dict) else None
        if isinstance(written, dict):
            yield from map(slug, written)


def _in_examples(rules: Rules) -> Iterator[str]:
    """Yield the abilities that examples name: `void` of `--trait void=2`, and of `--vs akodo:void`."""
    for action in rules.file.actions:
        kinds = {name: its.kind for name, its in spellings(rules, action)}
        with suppress(UsageError):  # told where the example is checked
            for name, typed in example_inputs(rules, action)[0].items():
                is_rated = kinds.get(name) in ("ability", "opposition")
                for value in (typed if isinstance(typed, list) else [typed]) if is_rated else ():
                    yield value.partition(":")[2] or value.partition("=")[0]
