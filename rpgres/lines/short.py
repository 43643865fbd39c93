"""Short lines: `mara attack thug with fight` as the options it stands for. Only what the ruleset declares decides.

A word behind an action is read so: the name of a parameter or label takes the next word (`bonus 2`, `price cost`), and
so does a word that the action's sentence has before a parameter (`with {skill}`), or `vs`, `with`, ... by its kind. Any
other word goes to the parameter that can read it, those that are required first, numbers in the order of the
parameters. Where that leaves two readings, the line is unclear: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence

from rpgres.lines.binding import Line, Unclear, typed_apart
from rpgres.lines.fitting import Reading, Scope, Words, hand_of, who_is_named
from rpgres.lines.sides import is_in_turns, sided
from rpgres.model.state import slug
from rpgres.parameters.ability import ability_names

__all__ = ["Reading", "Scope", "Unclear", "Words", "hand_of", "lengthened", "typed_apart", "who_is_named"]


def lengthened(scope: Scope, action: str, words: Sequence[str]) -> list[str]:
    """Return a line behind an action with options in place of its bare words; what was typed as options stays.

    Raises:
        Unclear: it could mean several things.
        UsageError: a word is unknown.
    """
    typed = _with_names(scope, words)
    if is_in_turns(scope.rules, action):
        typed = sided(scope.rules, scope.state, action, typed)
    line = Line(Words(scope, action), typed)
    options = [line.all[start].partition("=")[0] for start, _ in line.spans]
    if not line.bare:
        return typed
    if any(name not in scope.options for name in options if name != "--"):
        return list(words)  # an unknown option is reported where options are read
    line.bind_keywords()
    line.bind_rest()
    return line.written()


def _with_names(scope: Scope, words: Sequence[str]) -> list[str]:
    """Return a line in which the words of a name that is known, such as `Mara Quill`, are one."""
    people = scope.state.characters.values()
    titles = [one.title for one in people] + [tag.name for tag in scope.state.tags]
    titles += [*ability_names(scope.rules), *(name for one in people for name in one.abilities)]
    known = {slug(title): title for title in titles if "-" in slug(title)}
    longest = max((len(text.split("-")) for text in known), default=0)
    bare = typed_apart(words, scope.options)[0]
    joined: list[str] = []
    place = 0
    while place < len(words):
        lengths = range(min(longest, len(words) - place), 1, -1)
        spans = [length for length in lengths if all(place + more in bare for more in range(length))]
        said = ((length, slug(" ".join(words[place : place + length]))) for length in spans)
        length, name = next(((length, known[text]) for length, text in said if text in known), (1, words[place]))
        joined.append(name)
        place += length
    return joined
