"""Effects that are described in data: what `does` means. An effect with a function of its own is a ruleset's code."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from rpgres.model.state import EMPTY, GM, SCENE, Box, Character, Map, State, Tag, put
from rpgres.rulesets.registry import ApplyEffect, Effect
from rpgres.rulesets.schema import EffectText, Field, RulesetFile
from rpgres.rulesets.tables import USED

if TYPE_CHECKING:
    from rpgres.rulesets.rules import Rules


def described_effect(file: RulesetFile, kind: str) -> ApplyEffect | None:
    """Return the function of a kind of effect whose data say what it does; None when they do not."""
    described = file.effects.get(kind)
    if described is None or not described.does:
        return None
    if kind == USED:
        return _used
    match described.does:
        case "counter":
            return partial(_count, described.counter, file.sheet.get(described.counter))
        case "tag":
            return partial(_lay, described)
        case "untag":
            return _take_away
        case "mark" | "clear":
            return partial(_mark, described)
        case "out":
            return _out
        case "nothing":
            return lambda state, _effect: state


def paid_by(file: RulesetFile, of: str) -> tuple[str, str, int]:
    """Return how a counter or track is paid with: the kind of effect, its field, and the sign; nothing if none is."""
    for kind, its in file.effects.items():
        if its.does in ("counter", "") and its.counter == of:
            return kind, "change", -1
        if its.does == "mark" and its.track == of:
            return kind, "count", 1
    return "", "", 0


def with_tracks(rules: Rules, state: State) -> State:
    """Return the state with the tracks of the table, each as it is there already, or else free."""
    free = {
        name: tuple(Box(box, size) for box, size in track.sizes.items())
        for name, track in rules.file.tracks.items()
        if track.of_table and rules.has(track.when) and name not in state.tracks
    }
    return put(state, ("tracks",), Map({**state.tracks, **free})) if free else state


def _count(counter: str, field: Field | None, state: State, effect: Effect) -> State:
    """Add `change` to a counter of `to`, within what the sheet allows; to one of the table for the game master.

    A name that is not at the table, such as an opponent without a sheet, has no counter.
    """
    to = effect.get("to", GM)
    who = state.characters.get(to)
    if who is None and to != GM:
        return state
    counters = who.counters if who is not None else state.counters
    value = counters.get(counter, 0) + effect.get("change", 1)
    changed = counters.with_(counter, field.within(value) if field is not None else value)
    if who is None:
        return msgspec.structs.replace(state, counters=changed)
    return put(state, ("characters", who.name, "counters"), changed)


def _lay(described: EffectText, state: State, effect: Effect) -> State:
    """Lay a text on a character or the scene; `count` free uses are `to`'s. One that everybody knows is there once."""
    name = effect.get("name") or described.tag.replace("-", " ").capitalize()
    to, on = effect.get("to", ""), effect.get("on", SCENE)
    there = state.tag(name)
    if there is None or there.audience is not None:
        there = Tag(name, described.tag, on if on in state.characters else SCENE)
        state = state.with_room(name)
    count = effect.get("count", 0)
    return state.with_tag(there.with_uses(to, count) if to and count else there)


def _take_away(state: State, effect: Effect) -> State:
    name = effect.get("name", "")
    tag = state.tag(name)
    return state.without_tag(name) if tag is not None and tag.audience is None else state


def _mark(described: EffectText, state: State, effect: Effect) -> State:
    """Mark the lowest free boxes of a track, or clear the highest marked ones; of the table for the game master."""
    to = effect.get("to", "")
    who = state.characters.get(to)
    tracks = who.tracks if who is not None else state.tracks if to == GM else EMPTY
    if described.track not in tracks:
        return state
    boxes = list(tracks[described.track])
    is_marking = described.does == "mark"
    places = [number for number, box in enumerate(boxes) if bool(box.mark) is not is_marking]
    count = max(0, effect.get("count", 1))
    for number in places[:count] if is_marking else places[::-1][:count]:
        boxes[number] = msgspec.structs.replace(boxes[number], mark="x" if is_marking else "")
    at = ("characters", who.name, "tracks") if who is not None else ("tracks",)
    return put(state, at, tracks.with_(described.track, tuple(boxes)))


def _used(state: State, effect: Effect) -> State:
    """Take note that a row of a random table has come; where it has already, all others may come again."""
    table, row = effect.get("table", ""), effect.get("row", "")
    came = state.things.get(table, ())
    return put(state, ("things",), state.things.with_(table, (row,) if row in came else (*came, row)))


def _out(state: State, effect: Effect) -> State:
    who: Character | None = state.characters.get(effect.get("to", ""))
    return state if who is None else state.with_character(msgspec.structs.replace(who, is_out=True))
