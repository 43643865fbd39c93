"""The table at the end of a scene, for its account: characters, texts, tracks, things, cards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from rpgres.formats.accounts import TableItem
from rpgres.model.state import EMPTY, Character, State, Tag
from rpgres.render.accounts.words import Words, plain_words, words_of
from rpgres.render.words import counter_title, known_to, pile_piece, thing_words, title, told_counters, track_words
from rpgres.rulesets import Rules, RulesetFile, pictured
from rpgres.text.harmless import in_line


def table_of(state: State, rules: Rules, *, were_out: Mapping[str, str] = EMPTY) -> list[TableItem]:
    """Return the items of a table: characters with their values, texts on the scene, tracks, things and cards.

    Args:
        were_out: in words, how characters went out who are back since, or some of a mob.
    """
    words = words_of(rules, state)
    pictures = pictured(rules.ruleset, state, is_drawn=False)
    stands = [*_characters(state, words, were_out), *_counters(state, words), *_tags(state, words)]
    for name, lines in pictures.items():
        of = "track" if name in state.tracks else "thing"
        shown, lines = _headed(name, [words.named(line) for line in lines])
        stands.append(_item(name, of, lines, shown=shown))
    told = [(name, "track", [track_words(boxes)]) for name, boxes in state.tracks.items()]
    told += [(name, "thing", thing_words(thing)) for name, thing in state.things.items()]
    for name, of, lines in told:
        if name not in pictures:
            stands.append(_item(name, of, [*lines, known_to(state.audiences.get(name), words.who)]))
    return [*stands, *_piles(state, words)]


def _headed(name: str, lines: list[str]) -> tuple[str, list[str]]:
    """Return what a picture is of, where it says so in its own words, and its lines: `Hand of Mara: ...`."""
    head, colon, rest = lines[0].partition(": ") if lines else ("", "", "")
    if not colon or head.partition(" ")[0].lower() != name.partition("-")[0]:
        return "", lines
    return head, [rest, *lines[1:]]


def _item(name: str, of: Any, details: Iterable[str], *, shown: str = "") -> TableItem:
    lines = [line for text in details if (line := in_line(text).strip())]
    return TableItem(shown or in_line(title(name)), of, lines)


def _characters(state: State, words: Words, were_out: Mapping[str, str]) -> Iterator[TableItem]:
    for name, character in state.characters.items():
        out = "out" if character.is_out else were_out.get(name, "")
        details = [*([out] if out else []), *_character_words(character, state, words)]
        if details:
            yield _item(name, "character", details, shown=words.who(name))


def _character_words(character: Character, state: State, words: Words) -> Iterator[str]:
    told = [f"{plain_words(name)} {value}" for name, value in told_counters(character, words.file).items() if value]
    told += (
        f"{_track_title(name, words.file)} {track_words(boxes)}" for name, boxes in character.tracks.items() if boxes
    )
    if told:
        yield ", ".join(told)
    carried = [tag for tag in state.tags if tag.on == character.name]
    for kind, tags in groupby(sorted(carried, key=lambda tag: tag.kind), key=lambda tag: tag.kind):
        yield f"{plain_words(kind)}: {'; '.join(_tag_words(tag, words) for tag in tags)}"


def _track_title(name: str, file: RulesetFile) -> str:
    described = file.tracks.get(name)
    return (described.title if described is not None and described.title else plain_words(name)).lower()


def _tag_words(tag: Tag, words: Words) -> str:
    uses = ", ".join(f"{count} for {words.who(holder)}" for holder, count in tag.uses.items())
    known = known_to(tag.audience, words.who)
    more = "; ".join(filter(None, (f"free uses: {uses}" if uses else "", known)))
    return f"{tag.name} ({more})" if more else tag.name


def _tags(state: State, words: Words) -> Iterator[TableItem]:
    for tag in state.tags:
        if tag.on not in state.characters:
            uses = (f"free uses: {count} for {words.who(holder)}" for holder, count in tag.uses.items())
            on = f"on {plain_words(tag.on)}" if tag.on else ""
            details = [plain_words(tag.kind), on, *uses, known_to(tag.audience, words.who)]
            yield _item(tag.name, "tag", details, shown=in_line(tag.name))


def _counters(state: State, words: Words) -> Iterator[TableItem]:
    for name, value in state.counters.items():
        yield _item(name, "counter", [str(value)], shown=in_line(counter_title(name, words.file)))


def _piles(state: State, words: Words) -> Iterator[TableItem]:
    """Yield piles of cards, except empty ones."""
    for name, pile in state.piles.items():
        if len(pile):
            place, _, owner = name.partition(":")
            shown = in_line(title(place)) + (f" of {words.who(owner)}" if owner else "")
            yield _item(name, "pile", [pile_piece(pile).text], shown=shown)
