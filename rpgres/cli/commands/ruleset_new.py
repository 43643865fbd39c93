"""`rpgres ruleset new`: asks for the words of a new ruleset, writes it, and says what to type next."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from msgspec import Struct
from msgspec.structs import asdict

from rpgres.cli.annotations import Folders, option, spread
from rpgres.cli.asking.terminal import ask, can_prompt
from rpgres.cli.options import read_folders
from rpgres.cli.output import say, say_text
from rpgres.cli.shell import join_line
from rpgres.errors import FileError, UsageError, enumerated, named
from rpgres.formats.editors import with_schema_line, write_own_schemas
from rpgres.model.state import slug
from rpgres.plugins.discovery import RulesetName, find_ruleset, ruleset_names
from rpgres.plugins.entries import standalone_folder
from rpgres.plugins.likeness import Words, files_like, id_of, own_words
from rpgres.plugins.loading import load_rules
from rpgres.plugins.scaffold import check_name, write_folder
from rpgres.toml.diagnostics import nearest

if TYPE_CHECKING:
    from rpgres.rulesets import Rules, Ruleset


class Answers(Struct, frozen=True):
    """What is typed beforehand of what would be asked; None where it is not."""

    title: Annotated[str | None, option("--title", takes="TEXT", help="What it is called.")] = None
    summary: Annotated[str | None, option("--summary", takes="TEXT", help="What it is, in a line.")] = None
    action: Annotated[str | None, option("--action", takes="WORD", help="What characters do: the first action.")] = None
    abilities: Annotated[
        str | None, option("--abilities", takes="WORD,WORD", help="What characters are good at, by commas.")
    ] = None
    character: Annotated[str | None, option("--character", takes="NAME", help="The first of them, as a sheet.")] = None


@spread
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The id of the ruleset, in lowercase letters.")],
    like: Annotated[
        str | None,
        option(
            "--like",
            takes="RULESET",
            help="The ruleset to start from, such as success-levels.",
            autocompletion=lambda: [(one.id, one.title) for one in _models(())],
        ),
    ] = None,
    *,
    answers: Answers,
    into: Annotated[
        str, option("--into", takes="DIR", help="Make its folder in this one [default: rulesets].")
    ] = "rulesets",
    rulesets: Folders = None,
) -> None:
    """Write a ruleset to start from, made from one that ships: rules, a sheet, scenes, and notes on what to change.

    At a terminal five questions are asked, each with an answer that Enter takes; options answer them beforehand.
    """
    check_name(name)
    folder = Path(into) / name
    if folder.exists():
        raise FileError(f"{folder}: already exists; nothing was written. Choose another name.", file=str(folder))
    folders = read_folders(rulesets)
    model = find_ruleset(like, extra=folders) if like else _asked_model(folders)
    typed, own = asdict(answers), own_words(model)
    defaults = msgspec.structs.replace(own, title=name.replace("-", " ").title())
    words = _asked_words(defaults, typed)
    while True:
        try:
            rules = _written(folder, model, words)
            break
        except UsageError as error:
            if None not in typed.values() or not can_prompt():
                raise
            say_text(f"{error.message}\n")
            again = _asked_words(words, typed)
            if again == words:
                raise
            words = again
    say_text(f"{folder}: written. Next steps:\n" + "".join(f"  {one}\n" for one in _next_steps(rules, folder, words)))


def _models(folders: Sequence[Path]) -> list[RulesetName]:
    """Return the rulesets that a new one can be made from: those in TOML alone."""
    return [one for one in ruleset_names(extra=folders) if standalone_folder(one.id, extra=folders)]


def _asked_model(folders: Sequence[Path]) -> Ruleset:
    """Return the ruleset that a person chooses, asked again until there is such a one."""
    from rpgres.render.lines import pairs

    titles = {one.id: one.title for one in _models(folders)}
    if not can_prompt():
        raise UsageError(f"name a ruleset to start from, with {named('like')}: {enumerated(titles)}")
    say(pairs([*titles.items()], indent=""))  # without summaries, so that they fit a screen of 24 lines
    while (said := _read("Like which of these?", next(iter(titles)))) not in titles:
        near = nearest(said, titles)
        say_text(f"there is no {said!r}" + (f"; did you mean {near!r}?\n" if near else " among these\n"))
    return find_ruleset(said, extra=folders)


def _asked_words(own: Words, typed: dict[str, str | None]) -> Words:
    """Return the words of a new ruleset: as typed, as answered, or as they are offered."""
    questions = {
        "title": ("What is the game called?", own.title),
        "summary": ("What is it, in a line?", own.summary),
        "action": ("What do characters do, in a word?", own.action),
        "abilities": ("What are they good at, by commas?", ", ".join(own.abilities)),
        "character": ("Who is the first of them?", own.character),
    }
    found = {}
    for key, (question, default) in questions.items():
        said = typed[key]
        found[key] = " ".join(said.split()) if said is not None else _read(question, default)
    listed = tuple(dict.fromkeys(slug(one) for one in found["abilities"].split(",") if one.strip()))
    return Words(found["title"], found["summary"], id_of(found["action"]), listed, found["character"])


def _read(question: str, default: str) -> str:
    if not (default and can_prompt()):
        return default
    try:
        return ask(f"{question} [{default}] ").strip() or default
    except EOFError:
        return default


def _written(folder: Path, model: Ruleset, words: Words) -> Rules:
    """Write the files of a new ruleset, and their schemas, and return its rules; nothing, where words misfit."""
    from rpgres.cli.checks.rulesets import check_folder

    name = folder.name
    files = files_like(model, name, words)
    write_folder(folder, {place: with_schema_line(place, text, name) for place, text in files.items()})
    try:
        found = check_folder(folder, ()).problems
        if found:
            told = (
                f"{', '.join((words.action, *words.abilities))}: one of these words means something else in {model.id}"
            )
            raise UsageError(f"{told}; nothing was written. Choose another. {found[0].text}")
        rules = load_rules(find_ruleset(name, extra=[folder.parent]), extra=[folder.parent])
        write_own_schemas(folder, rules)
    except BaseException:
        shutil.rmtree(folder)
        raise
    return rules


def _next_steps(rules: Rules, folder: Path, words: Words) -> Iterator[str]:
    """Yield command lines that work at once."""
    from rpgres.conformance.vectors import own_vectors

    elsewhere = [] if folder.parent == Path("rulesets") else ["--rulesets", str(folder.parent)]
    sheets = sorted((folder / "sheets").glob("*.toml"), key=lambda path: path.stem != id_of(words.character))
    sheet = sheets[0] if sheets else None
    *_, example = rules.file.actions[words.action].example.partition(" roll ")
    rated = [name for name, taken in rules.parameters(words.action).items() if taken.kind == "ability"]
    by_sheet = example
    if sheet is not None and rated and words.abilities:
        ability = join_line([words.abilities[0]])
        by_sheet = re.sub(rf"--{rated[0]} \S+", f"--sheet {sheet.stem} --{rated[0]} {ability}", example)
    for command, line in (("roll", example), ("odds", by_sheet)):
        if example:
            yield " ".join(["rpgres", command, line, *([join_line(elsewhere)] if elsewhere else [])])
    if sheet is not None:
        yield join_line(["rpgres", "sheet", "show", str(sheet), *elsewhere])
    for scene in sorted((folder / "scenes").glob("*.toml"), key=lambda path: path.stem != "example")[:1]:
        yield join_line(["rpgres", "scene", "test", str(scene), *elsewhere])
    if own_vectors(rules):
        yield join_line(["rpgres", "ruleset", "test", rules.id, *elsewhere])
    yield join_line(["rpgres", "ruleset", "check", rules.id, "--watch", *elsewhere])
