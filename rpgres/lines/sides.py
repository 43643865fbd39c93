"""Characters who are listed on a line of an action in turns, each put behind a word of the side where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rpgres.errors import UsageError
from rpgres.lines.fitting import ARTICLES, BESIDE, OPPOSING, PEOPLE, who_is_named
from rpgres.model.state import State
from rpgres.rulesets import Rules


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
        raise UsageError(f"who stands on which side? Type {told}", reason="unclear")
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
