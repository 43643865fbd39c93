"""Why a question is asked: what the ruleset says of it, the row of an outcome table, and where both come from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from rpgres.engine.players import Question
from rpgres.render.lines import INDENT, Line, Piece, line
from rpgres.render.words import effect_words
from rpgres.rulesets import RowQuestion, Rules
from rpgres.rulesets.folders import Text, located_in, owner
from rpgres.rulesets.tree import walk
from rpgres.toml.diagnostics import Fault, KeyPath

SOURCE = re.compile(r"Source: (.+)")


def why_lines(rules: Rules, action: str, question: Question) -> list[Line]:
    """Return why a question is asked."""
    label, told = rules.file.labels.get(question.label), list[Line]()
    if label is not None:
        texts = rules.layers.parts
        its = rules.file.actions[action].ask.get(question.label)  # in a roll
        path: KeyPath = ("actions", action, "ask", question.label) if its else ("labels", question.label)
        told += _rule(f"{question.label}: {its.text if its else label.help}", texts, path)
    else:
        told += _rows(rules, action, question)
    for name, switch in rules.file.switches.items():
        if set(name.split("_")) & set(question.label.split("-")):
            told.append(line(INDENT, f"{name} = {rules.chosen[name]}: {switch.choices[rules.chosen[name]]}"))
            told.append(line(INDENT * 2, Piece(f"{switch.help} ({switch.source})", "quiet")))
    if not told:
        told.append(line(INDENT, f"{rules.id} {action} asks it: {rules.file.actions[action].summary}"))
    own = [part.folder / "SOURCES.md" for part in rules.layers.parts if not part.is_overlay][-1]
    if own.is_file():
        told.append(line(INDENT, Piece(f"sources and readings: {_short(str(own))}", "quiet")))
    return told


def _rows(rules: Rules, action: str, question: Question) -> Iterator[Line]:
    """Yield the row of an outcome table that asks, with what its options do."""
    own = rules.file.actions[action].tables
    margin = question.facts.get("margin")
    band = rules.band_of(margin) if isinstance(margin, int) else ""
    found = [
        (table, path, node)
        for table in (*own, *(name for name in rules.layers.table_names() if name not in own))
        for path, node in walk(rules.table(table), menu=rules.menu)
        if isinstance(node, RowQuestion) and path[-1] == question.label and node.text == question.text
    ]
    mine = [one for one in found if one[0] in own] or found
    for table, path, node in [one for one in mine if one[1][0] == band][:1] or mine[:1]:
        text = rules.table(table)[str(path[0])].text
        yield from _rule(f"{table}, {path[0]}: {text}", rules.layers.table_texts(table), path)
        for name, option in node.options.items():
            effects = "; ".join(_effect(rules, effect) for effect in option.effects)
            yield line(INDENT * 2, Piece(name, "name"), f": {option.text}{f' ({effects})' if effects else ''}")


def _effect(rules: Rules, effect: Mapping[str, Any]) -> str:
    plain = {key: value for key, value in effect.items() if key not in ("when", "unless")}
    return effect_words(plain, rules.file.effects.get(effect["kind"]))


def _rule(words: str, texts: Sequence[Text], path: KeyPath) -> Iterator[Line]:
    """Yield what a piece of data says, the file and line where it stands, and its source as the file names it."""
    yield line(INDENT, words)
    place = located_in(texts, Fault("", path, ""))
    where = f"{_short(place.file)}, line {place.line}" if place.line else _short(place.file)
    source = SOURCE.search(" ".join(_comment(texts[owner(texts, path)].source.text)) if texts else "")
    yield line(INDENT * 2, Piece(f"{where}{f'; {source[1]}' if source else ''}", "quiet"))


def _short(file: str) -> str:
    """Return a file's path, without the folders above its own where it is installed with rpgres."""
    installed, path = Path(__file__).parents[2], Path(file)
    own = 3 if path.parent.name == "outcomes" else 2
    return "/".join(path.parts[-own:]) if path.is_relative_to(installed) else file


def _comment(text: str) -> Iterator[str]:
    """Yield the lines of the comment at the head of a file."""
    for one in takewhile(lambda one: one.startswith("#"), text.splitlines()):
        yield one.lstrip("# ")
