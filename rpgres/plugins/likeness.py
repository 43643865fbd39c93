"""A new ruleset in TOML, made from one that is there: its files under other names, with notes on what to change where.

Nothing here prints, asks or writes; `rpgres.plugins.scaffold` writes what this returns.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import tomli

from rpgres.errors import UsageError, called
from rpgres.lint.named_dice import named_in_action
from rpgres.model.state import slug
from rpgres.plugins.entries import is_standalone
from rpgres.rulesets import Rules, Ruleset
from rpgres.rulesets.rows import is_id
from rpgres.toml.diagnostics import key_text
from rpgres.toml.editing import comment, set_value
from rpgres.toml.reading import Source, parse, read_source

COPIED = ("ruleset.toml", "menus.toml", *(f"{name}/*.toml" for name in ("outcomes", "decks", "sheets", "scenes")))
VECTORS = "vectors/*.jsonl"

# What is noted above the first line that begins so; the line may stand in any order, or not at all.
NOTES = {
    r"\[ladder": "Words for numbers: who types the word means the number.",
    r"\[bands": "The outcomes: what each is called, and whether it is a success. A new one needs a condition below.",
    r"\[define": "Formulas that several actions share.",
    r"\[actions": "What characters do. `parameters` is what is typed, `required` what may not be left out; `sentence`\n"
    "and `example` are for help. To add an action, copy one with all that bears its name, and rename the copy.",
    r"(\[actions\.[^.\]]+\.dice|dice = )": "The dice, in the order in which they are rolled, their number and sides.",
    r"(\[actions\.[^.\]]+\.numbers|numbers = )": "What is read off the dice: sums, counts, the highest and the lowest.",
    r"\[actions\.[^.\]]+\.ask": "What is asked while the dice lie, before the outcome: options, and what they cost.",
    r"\[tables": "Random tables: what each row says, by what the die shows.",
    r"(\[actions\.[^.\]]+\.bands|bands\.)": "Which outcome it is: the first whose condition holds.",
    r"\[parameters": "What is typed for an action: options on the command line, keys of `with` in scenes.",
    r"\[switches": "House rules: questions of the rules that a table may answer otherwise.",
    r"\[outcomes": "The text of an outcome, and what it changes: these texts are yours.",
    r"\[effects": "What outcomes can change.",
    r"\[tracks": "Rows of boxes on every sheet.",
    r"\[sheet": "What a character sheet has. `rpgres sheet new` prints one to fill in.",
}


_HEAD = r"\A# .*: a ruleset of your own, made from .*\n# .*\n# .*\n"


class Words(msgspec.Struct, frozen=True):
    """What a new ruleset calls its own.

    Attributes:
        title: the name as people say it.
        action: the id of its first action.
        abilities: what characters are good at, but for what the rules themselves speak of.
        character: the name of the sample character; empty where there is none.
    """

    title: str
    summary: str
    action: str
    abilities: tuple[str, ...]
    character: str


def id_of(name: str) -> str:
    """Return a name as files have it that allow letters from a to z alone.

    >>> id_of("Ivo Ätz")
    'ivo-atz'
    """
    return slug(unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode())


def own_words(ruleset: Ruleset) -> Words:
    """Return what a ruleset calls its own, from its files.

    Raises:
        UsageError: it is no ruleset in TOML alone.
    """
    folder = _folder(ruleset)
    data = parse(read_source(folder / COPIED[0]))
    field, names = _abilities(data)
    sheet = next((parse(read_source(path)) for path in _sheets(folder)), {})
    rules = Rules.read(ruleset)
    # What formulas speak of would have to be changed with it.
    kept = {one for name, its in rules.file.actions.items() if its.dice for one in named_in_action(rules, name)}
    listed = tuple(name for name in dict.fromkeys((*names, *sheet.get(field, {}))) if name not in kept)
    return Words(data["title"], data["summary"], next(iter(data["actions"])), listed, sheet.get("name", ""))


def files_like(ruleset: Ruleset, name: str, words: Words) -> dict[str, str]:
    """Return the text of every file of a new ruleset, by its path with slashes.

    Raises:
        UsageError: it is no ruleset in TOML alone, or has no place for such words.
    """
    folder, old = _folder(ruleset), own_words(ruleset)
    _check_words(parse(read_source(folder / COPIED[0])), old, words)
    # What is left out keeps its name: rules, scenes and vectors may speak of it.
    renamed = {ruleset.id: name, old.action: words.action, **dict(zip(old.abilities, words.abilities, strict=False))}
    first = [path.stem for path in _sheets(folder)[:1]]
    renamed |= dict.fromkeys([id_of(old.character), *first], id_of(words.character)) if old.character else {}
    renamed |= {old.character: words.character}
    renamed = {former: later for former, later in renamed.items() if former and former != later}
    found = {}
    for path in sorted(one for pattern in (*COPIED, VECTORS) for one in folder.glob(pattern)):
        place = path.relative_to(folder).as_posix().replace("scenes/conformance.", "scenes/example.")
        text = _renamed(_own_text(path.read_text("utf-8")), renamed)
        found[re.sub(r"[\w-]+(?=\.\w+$)", lambda part: renamed.get(part[0], part[0]), place)] = text
    _add_abilities(found, folder, words.abilities[len(old.abilities) :])
    found[COPIED[0]] = _noted(_headed(found[COPIED[0]], ruleset.id, name, words))
    return found


def _check_words(data: Mapping[str, Any], old: Words, words: Words) -> None:
    """Raise what makes words impossible, as far as that is known before they are put in."""
    if words.action != old.action and words.action in data["actions"]:
        raise UsageError(f"there is another action {words.action!r} already; choose another word")
    kept = old.abilities[len(words.abilities) :]
    twice = [word for word in words.abilities if word in kept]
    if twice:
        raise UsageError(f"{twice[0]!r} is another ability already; name all of them: {', '.join(old.abilities)}")
    if len(words.abilities) > len(old.abilities) and not _abilities(data)[0]:
        raise UsageError(f"sheets have no abilities there, so {words.abilities[0]!r} has no place")
    for word in (words.action, *([words.character] if old.character else [])):
        if not is_id(id_of(word)):
            raise UsageError(f"{word!r} has no name for the command line; it needs letters from a to z")


def _own_text(text: str) -> str:
    """Return a text without what a ruleset that was made here has at its head, and without the notes in it."""
    notes = {f"# {line}" for note in NOTES.values() for line in note.split("\n")}
    lines = [one for one in text.split("\n") if one not in notes and not one.startswith("#:schema ")]
    return re.sub(_HEAD, "", "\n".join(lines))


def _folder(ruleset: Ruleset) -> Path:
    if ruleset.data is None or not is_standalone(ruleset.data):
        message = f"{ruleset.id} has rules in code, and cannot be made into a file"
        raise UsageError(f"{message}; `{called('plugin new', 'NAME')}` writes a package to start from")
    return ruleset.data


def _sheets(folder: Path) -> list[Path]:
    return sorted((folder / "sheets").glob("*.toml"))


def _abilities(data: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    """Return the key of the sheet under which abilities stand, and those that the ruleset names; empty for neither."""
    sheet = data.get("sheet", {})
    found = ((key, field.get("names", ())) for key, field in sheet.items() if field.get("kind") == "abilities")
    return next(found, ("", ()))


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a text with other names where names stand: keys, headers, texts that are names, examples, formulas."""
    if not names:
        return text
    word = f"({'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})"
    whole = re.compile(rf"(?<![\w-]){word}(?![\w-])")
    named = re.compile(rf"(?:^|(?<=[{{,] )){word}(?=\.\w| =)")
    inside = re.compile(r"([\"'])[\w.:#-]+\1|\{[\w +*/.-]*\}")  # a name, a path or the like; a formula in braces

    def key(found: re.Match[str]) -> str:
        return key_text((names[found[1]],))

    def word_by_word(one: str) -> str:
        return whole.sub(lambda found: names[found[1]], one)

    def line(one: str) -> str:
        if one.startswith("["):
            return whole.sub(key, one)
        if one.startswith(("example = ", "#")):
            return word_by_word(one)
        return inside.sub(lambda found: word_by_word(found[0]), named.sub(key, one))

    return "\n".join(map(line, text.split("\n")))


def _add_abilities(files: dict[str, str], folder: Path, more: Sequence[str]) -> None:
    """Put further abilities where the ruleset lists those there are, and on its first sheet, all rated alike."""
    field, names = _abilities(parse(Source("", files[COPIED[0]])))
    if not more:
        return
    if names:
        source = Source(COPIED[0], files[COPIED[0]])
        files[COPIED[0]] = set_value(source, ("sheet", field, "names"), [*names, *more])
    for place in [one for one in files if one.startswith("sheets/")][: len(_sheets(folder)[:1])]:
        rated = tomli.loads(files[place]).get(field, {})
        middle = sorted(rated.values())[len(rated) // 2] if rated else 0
        for ability in more:
            files[place] = set_value(Source(place, files[place]), (field, ability), middle)


def _headed(text: str, like: str, name: str, words: Words) -> str:
    """Return the text of a `ruleset.toml` with a head of its own."""
    own = {"title": words.title, "summary": words.summary, "version": "1"}
    own["credits"] = f"Made from the ruleset {like} of rpgres."
    for key, value in own.items():
        text = set_value(Source(COPIED[0], text), (key,), value)
    return (
        f"{comment(words.title)}: a ruleset of your own, made from `{like}`. Change anything, and\n"
        f"#   rpgres ruleset check {name}\n"
        "# tells what is wrong, with the line; with --watch it does so each time you save a file.\n" + text
    )


def _noted(text: str) -> str:
    """Return a `ruleset.toml` with a note above the first line of each kind, and above the comment on that line."""
    found, held = list[str](), list[str]()
    waiting, is_headed = dict(NOTES), False
    for line in text.split("\n"):
        is_headed = is_headed or line.startswith("[")  # keys that stand above all are explained by the head
        start = next((one for one in waiting if is_headed and re.match(one, line)), None)
        if start is not None:
            found += [f"# {part}" for part in waiting.pop(start).split("\n")]
        if line.startswith("#"):
            held.append(line)
            continue
        found += [*held, line]
        held = []
    return "\n".join([*found, *held])
