"""Decks from TOML, each with the one that it adds to, and the decks of kits. Where they lie is judged in `laying`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rpgres.model.cards import DeckFile, build_deck
from rpgres.model.state import Deck
from rpgres.rulesets.folders import KITS, Text, faults_error, read_as
from rpgres.toml.cache import parse_cached
from rpgres.toml.diagnostics import Fault, unknown_name
from rpgres.toml.reading import read_source

TextsOf = Callable[[str], Sequence[Text]]


def read_deck(
    name: str, *, texts_of: TextsOf, names: Callable[[], Iterable[str]], within: tuple[str, ...] = ()
) -> Deck:
    """Return a deck with everything that it extends.

    Args:
        name: the deck; `texts_of` has it.
        texts_of: what the files say of a deck, the farthest first; nothing of one that is not there.
        names: all decks that may be extended, for messages.
        within: the decks that extend it, by way of each other.

    Raises:
        FileError: its data are faulty; all problems at once.
    """
    texts = texts_of(name)
    file = read_as(texts, DeckFile)
    base = None
    if file.extends:
        if file.extends in (*within, name):
            raise faults_error(texts, [Fault("endless", ("extends",), "a deck cannot extend itself")])
        known = list(names())
        if file.extends not in known:
            others, said = [other for other in known if other != name], f"there is no deck {file.extends!r}"
            raise faults_error(texts, [unknown_name(("extends",), said, file.extends, others)])
        base = read_deck(file.extends, texts_of=texts_of, names=names, within=(*within, name))
    deck, faults = build_deck(file, base=base)
    if faults:
        raise faults_error(texts, [Fault("wrong-value", path, message) for path, message in faults])
    return deck


def shared_decks() -> Mapping[str, Path]:
    """Return the files of the decks that kits have, which rulesets share, by name."""
    return {path.stem: path for path in sorted(KITS.glob("*/decks/*.toml"))}


def shared_deck(name: str) -> Deck:
    """Return a deck that kits have, as it ships.

    Args:
        name: one of `shared_decks`.

    Raises:
        FileError: its data are faulty.
    """
    return read_deck(name, texts_of=_shared_texts, names=shared_decks)


def _shared_texts(name: str) -> list[Text]:
    path = shared_decks().get(name)
    if path is None:
        return []
    source = read_source(path)
    return [Text(source, parse_cached(source))]
