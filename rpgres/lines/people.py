"""Characters on a line that names several: side by side, at the table, or on a sheet that joins it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from rpgres.errors import UsageError
from rpgres.lines.fitting import ARTICLES, BESIDE, OPPOSING, PEOPLE, Reading, Words, typed_apart, who_is_named
from rpgres.lines.words import joined
from rpgres.model.state import State
from rpgres.parameters.plain import sheet_of
from rpgres.rulesets import Rules
from rpgres.text.harmless import harmless
from rpgres.toml.diagnostics import nearest

TEXTS = ("text", "tag")  # kinds of parameters behind whose name anything may stand


def is_in_turns(rules: Rules, word: str) -> bool:
    """Tell whether a word is an action that asks several by turns."""
    return word in rules.file.actions and bool(rules.file.actions[word].procedure)


def sided(rules: Rules, state: State, action: str, words: Sequence[str]) -> list[str]:
    """Return a line behind an action in turns with a word of their side before each who is listed.

    `against guards, thug` is `against guards against thug`; a line that is so already stays as it is. The option of a
    side stands for its word: `--against guards thug`.

    Raises:
        UsageError: two stand side by side, and no word says on which side.
    """
    line = _with_and(rules, state, words)
    first, second = [*line, "", ""][:2]
    if who_is_named(rules, state, first) and second == "and":
        line.insert(0, OPPOSING[-1])  # a list without a word of its side
    elif who_is_named(rules, state, first) and who_is_named(rules, state, second):
        told = f"`{action} against {first} and {second}`, or `{action} with {first} against {second}`"
        raise UsageError(f"which side is each character on? Type {told}", reason="unclear")
    parameters = rules.parameters(action).items()
    options = [f"--{name}" for name, one in parameters if one.kind in PEOPLE and one.is_repeated]
    found: list[str] = []
    side, last, place = "", "", 0  # the word before, which is no article, and where it stands
    for word in line:
        option, _, value = word.partition("=") if word.startswith("--") else ("", "", "")
        if word in (*BESIDE, *OPPOSING):
            side = word
        elif option:
            side = option if option in options else ""
        elif side and last != side and who_is_named(rules, state, word):
            if last == "and":
                found[place] = side
            elif side in (*OPPOSING, *options) and who_is_named(rules, state, last):
                found.insert(place + 1, side)
        found.append(word)
        if word not in ARTICLES:
            last, place = value or word, len(found) - 1
    return found


def _with_and(rules: Rules, state: State, words: Sequence[str]) -> list[str]:
    """Return a line with `and` in place of each comma between names of characters: `thug,edda`, `thug, edda`."""
    found: list[str] = []
    for before, word in pairwise(["", *words]):
        is_value = before.startswith("--") and "=" not in before
        names = [name for name in word.split(",") if name] if "," in word and not is_value else []
        if names and all(who_is_named(rules, state, name) for name in names):
            found += [part for name in names for part in (name, "and")][: None if word.endswith(",") else -1]
        else:
            found.append(word)
    return found


def with_sides(rules: Rules, state: State, words: Sequence[str]) -> list[str]:
    """Return a line of an action in turns on which everybody who is listed stands behind a word of their side.

    `mara and edda conflict against guards, thug` is `mara conflict with edda against guards against thug`.

    Raises:
        UsageError: two stand side by side, and no word says on which side.
    """
    line = list(words)
    turns = next((place for place, word in enumerate(line) if is_in_turns(rules, word)), -1)
    if turns < 0:
        return line
    head, behind = line[: turns + 1], sided(rules, state, line[turns], line[turns + 1 :])
    if turns > 2 and "and" in line[1:turns]:
        beside = [word for word in line[1:turns] if word != "and"]
        head = [line[0], line[turns], *(part for one in beside for part in (BESIDE[0], one))]
    return [*head, *behind]


def led(
    rules: Rules, state: State, players: Sequence[str], action: str, words: list[str], asks: Any
) -> tuple[str, list[str]]:
    """Return who acts where heroes are named on a line in turns without who acts, and the line without them.

    Of two heroes, or all, the first one acts. One alone may act, or stand beside somebody who is not named.

    Args:
        state: the table as the seat that types may see it.

    Raises:
        UsageError: no answer says who acts.
    """
    named = [who_is_named(rules, state, word) for word in words]
    beside = [place for place in range(1, len(words)) if words[place - 1] in BESIDE and named[place] in players]
    if not is_in_turns(rules, action) or not beside:
        return "", words
    first = beside[0]
    lead, behind = str(named[first]), [*words[: first - 1], *words[first + 1 :]]
    others = [name for name in players if name not in named]
    if len(beside) > 1 or not others:
        return lead, behind
    leads = Reading(f"{lead}, without {' and '.join(others)}", (lead,))
    found = asks("Who acts?", [leads, *(Reading(f"{one}, with {lead} beside", (one,)) for one in others)])
    if found is None:
        typed = [f"`{lead} {action} {joined(behind)}`", f"`{others[0]} {action} {joined(words)}`"]
        raise UsageError(f"the actor comes first: {', or '.join(typed)}", reason="unclear")
    return found.words[0], behind if found == leads else words


def near_names(known: Words, line: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the bare words that name a sheet and nearly a character: their place, the sheet, the characters."""
    people = [name for name in known.scope.state.characters if name != known.scope.actor]
    bare = typed_apart(line, known.scope.options)[0]
    for place, word in bare.items():
        name = word.partition(":")[0]
        before = known.by_name.get(bare.get(place - 1, ""))
        if known.character(name) in (None, *people, known.scope.actor) or name.endswith(".toml"):
            continue
        if before is not None and (before.parameter is None or before.parameter.kind in TEXTS):
            continue
        takers = [one for one in known.takers.values() if one.parameter is not None and one.parameter.kind in PEOPLE]
        near = nearest(name, people)
        if near is not None and any(any(known.fit(one, word, {})) for one in takers):
            yield place, name, near


def names_settled(known: Words, line: list[str], sheets: set[str], asks: Any) -> list[str]:
    """Return a line with who is meant at the table in place of sheets that nearly have their names.

    Args:
        known: what the action knows.
        sheets: those that are meant; others that a person means are added.

    Raises:
        UsageError: no answer says which is meant.
    """
    meant = list(line)
    for place, name, near in near_names(known, line):
        if name in sheets:
            continue
        there, sheet = Reading(f"{near} at the table", (near,)), Reading(f"the sheet {name}", (name,))
        text = f"{harmless(name)!r} is not at this table. Which one is meant?"
        if (found := asks(text, [there, sheet])) is None:
            how = f"type {near}, or have the sheet join first: `join {harmless(name)}`"
            raise UsageError(f"{text} {there.text}, or {sheet.text}: {how}", reason="unclear")
        if found == there:
            meant[place] = near + line[place].removeprefix(name)
        else:
            sheets.add(name)
    return meant


def joining(known: Words, long: Sequence[str]) -> list[str]:
    """Return who is named by the options of a line, is not at the table, and joins it by a sheet."""
    found: list[str] = []
    for start, end in typed_apart(long, known.scope.options)[1]:
        option, _, value = long[start].lstrip("-").partition("=")
        taker = known.by_name.get(option)
        name = (value or "".join(long[start + 1 : end])).partition(":")[0]
        if taker is None or taker.parameter is None or taker.parameter.kind not in PEOPLE or not name:
            continue
        who = known.character(name)
        is_new = who not in known.scope.state.characters if who else sheet_of(known.scope.rules, name) is not None
        if is_new and name not in found:
            found.append(name)
    return found
