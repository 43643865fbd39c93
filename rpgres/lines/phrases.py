"""Phrases that people type in place of commands: `Mara attacks the guards`, `look`, `undo that`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rpgres.lines.fitting import ARTICLES
from rpgres.model.state import State, slug

# Whole lines that stand for a command, and first words that do.
PHRASES = {
    "help": ("?", "commands", "menu", "how", "help me", "what can i do", "what now"),
    "show": (
        *("look", "look around", "who", "who is here", "sheet", "sheets", "table", "state", "inventory", "hand"),
        *("aspects", "scene aspects", "characters", "list"),
    ),
    "status": ("points", "fate points", "turn", "whose turn", "whose turn is it", "who is next"),
    "undo": ("oops", "back", "take back", "undo that", "undo it", "take that back"),
    "end": ("end it",),
    "quit": ("bye", "leave", "stop", "logout"),
    "log": ("history",),
    "answer": ("ask me", "ask me again", "ask again", "continue", "go on"),
}
FIRST = {"start": "begin", "new": "begin", "history": "log", "whatif": "odds", "chances": "odds", "chance": "odds"}
ROLLS = ("roll", "rolls", "makes", "tests", "checks", "uses")  # before an ability
CHECKS = ("check", "roll", "test")  # behind one
SELF = ("i", "we", "please", "let")
OWN = ("me", "my", "the", "table", "sheet", "of")  # beside whom `show` names
ENDINGS = ("", "s", "es", "ed", "d", "ing")  # of an action that is said of a character
MOST_WORDS = 3  # of an action's name


def as_typed(words: Sequence[str], actions: Sequence[str], people: State, *, is_line: bool = False) -> list[str]:
    """Return a line in the form of a command, where it is a phrase for one; otherwise as it is.

    Args:
        is_line: whether it begins with a command or an action as it stands.
    """
    said = [word if " " in word else word.rstrip("?!.,") or word for word in words]
    phrase = " ".join(said).lower()
    known = {} if slug(phrase) in actions else PHRASES  # an action called `who` comes before what people say for `show`
    command = next((name for name, phrases in known.items() if phrase in phrases), "")
    if command or (is_line and said[0] != "show"):
        return [command] if command else list(words)
    if said[0].lower() in SELF and len(said) > 1:
        said = said[1:]
    first, named = FIRST.get(said[0].lower(), said[0]), _character_in(said[0], people)
    if first == "show" or (named and len(said) == 1):
        return _shown(said, people)
    if first != said[0]:
        return [first, *(word for word in said[1:] if word.lower() not in ARTICLES)]
    lead, rest = (said[:1], said[1:]) if named else ([], said)
    if lead and rest[0].lower() in ROLLS:
        return [*lead, "roll", *(word for word in rest[1:] if word.lower() not in (*ARTICLES, *CHECKS))]
    return next(([*lead, action, *rest[count:]] for action, count in _actions(rest, actions)), said)


def _character_in(word: str, people: State) -> str:
    named = people.named(word.removesuffix("'s"))
    return named[0] if len(named) == 1 else ""


def _shown(said: Sequence[str], people: State) -> list[str]:
    """Return who is to be shown: `show me Mara's sheet`, `show Mara Quill`."""
    named = [name for word in said if (name := _character_in(word, people))]
    left = [word for word in said[1:] if not _character_in(word, people) and word.lower() not in OWN]
    return ["show", *named[:1]] if not left else list(said)


def _actions(words: Sequence[str], actions: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the actions that a line may begin with, with how many words say so: `creates an advantage`."""
    for count in range(min(MOST_WORDS, len(words)), 0, -1):
        first, *more = words[:count]
        rest = [word for word in more if word.lower() not in ARTICLES]
        for stem in _stems(first.lower()):
            name = slug(" ".join([stem, *rest]))
            if name in actions:
                yield name, count
            alike = [action for action in actions if action.startswith(f"{name}-")]
            if count == 1 and len(alike) == 1:
                yield alike[0], count


def _stems(word: str) -> Iterator[str]:
    """Yield what a verb may be a form of."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 2:
            yield word[: len(word) - len(ending)]
            if ending == "ing":
                yield f"{word[: -len(ending)]}e"
