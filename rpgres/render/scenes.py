"""Questions of a step, the things on a table, and the expectations of a scene, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from rpgres.model.state import EMPTY, Map
from rpgres.render.lines import INDENT, Line, Piece, Shown, line, section
from rpgres.render.results import action_lines, moment_words
from rpgres.render.words import known_to, pile_piece, thing_words, title, track_words, who_is

if TYPE_CHECKING:
    from rpgres.model.state import Box, Pile, State
    from rpgres.scenes import Leaf, Mismatch


def step_question_lines(leaf: Leaf, inputs: Mapping[str, Any] = EMPTY) -> list[Line]:
    """Return what stands above the first question of a step: who does what.

    Args:
        inputs: in place of what the step says.
    """
    step = leaf.step
    if step.moment is not None:
        return [line(INDENT, Piece(moment_words(step.moment[1], step.moment[0]), "title"))]
    return [
        line(INDENT, *pieces) for pieces in action_lines(step.played, actor=step.actor, inputs=inputs or step.with_)
    ]


def table_lines(
    state: State,
    *,
    pictures: Mapping[str, Sequence[str]] = EMPTY,
    first: Sequence[Line] = (),
    last: Sequence[Line] = (),
) -> list[Shown]:
    """Return the tracks, things and cards on a table; nothing when there are none.

    Args:
        pictures: lines by name, of tracks and things that the ruleset shows in its own way.
        first, last: further lines of the table, before and after these.
    """
    plain = state
    if pictures:
        tracks, things = (
            Map({name: one for name, one in named.items() if name not in pictures})
            for named in (state.tracks, state.things)
        )
        plain = structs.replace(state, tracks=tracks, things=things)
    parts = [line(INDENT, text) for lines in pictures.values() for text in lines]
    parts += [*_track_lines(plain.tracks, plain), *_thing_lines(plain), *_pile_lines(plain.piles)]
    return section("On the table", [*first, *parts, *last])


def _track_lines(tracks: Mapping[str, tuple[Box, ...]], state: State) -> Iterator[Line]:
    for name, boxes in tracks.items():
        row = [Piece("[x]", "bad") if box.mark else Piece("[ ]") for box in boxes]
        drawn = Piece("", "", (*row, Piece(" ")))
        yield line(INDENT, Piece(title(name), "name"), ": ", drawn, track_words(boxes), _audience(state, name))


def _pile_lines(piles: Mapping[str, Pile]) -> Iterator[Line]:
    """Yield piles of cards; empty places are left out."""
    for name, pile in piles.items():
        if len(pile):
            place, _, owner = name.partition(":")
            whose = f" of {who_is(owner)}" if owner else ""
            yield line(INDENT, Piece(title(place), "name"), whose, ": ", pile_piece(pile))


def _thing_lines(state: State) -> Iterator[Line]:
    for name, thing in state.things.items():
        told, is_plain = thing_words(thing), not isinstance(thing, Mapping) or not thing
        yield line(INDENT, Piece(title(name), "name"), f": {told[0]}" if is_plain else "", _audience(state, name))
        yield from (line(INDENT * 2, one) for one in told if not is_plain)


def _audience(state: State, name: str) -> Piece:
    told = known_to(state.audiences.get(name))
    return Piece(f"  ({told})" if told else "", "quiet")


def mismatch_lines(path: str, checks: int, wrong: Sequence[Mismatch]) -> list[Line]:
    """Return how the expectations of a scene held."""
    if not checks:
        return [line(Piece(f"{path}: ", ""), Piece("it has no expectations", "bad"))]
    if not wrong:
        return [line(f"{path}: ", Piece("ok", "good"), f" ({checks} expectations)")]
    lines = [line(f"{path}: ", Piece(f"{len(wrong)} of {checks} expectations failed", "bad"))]
    for found in wrong:
        expected, came = (_value(value) for value in (found.expected, found.found))
        told = f"{found.what}: expected {expected}, found {came}{found.differs}"
        lines.append(line(f"  {found.where}: {found.step}: {told}"))
    return lines


def _value(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
