"""The effects of aspects: on tags, free invocations and the points that pay for others; scenes.

Source: Fate Core, "The Fate Point Economy" (fate-srd.com).
"""

from __future__ import annotations

import msgspec

from rpgres.kits.aspects.names import (
    BOOST,
    DEFAULTS,
    REFRESH,
    SITUATION,
    UNNAMED,
    AspectSettings,
    distinct_name,
    goes_with_scene,
    lay,
    public_tag,
    replaced,
    seen_tag,
)
from rpgres.model.state import GM, SCENE, Character, Map, State, Tag, put, slug, written_as
from rpgres.rulesets import Effect


def gain_boost(state: State, change: Effect) -> State:
    """Return the state with a boost that `to` may use once."""
    name = distinct_name(state, change.get("name") or "Boost")
    return lay(state, Tag(name, BOOST, SCENE, Map({change["to"]: 1})))


def change_aspect(state: State, change: Effect) -> State:
    """Return the state with an aspect created, revealed, altered or removed.

    A boost of which a real aspect is made keeps its free use.
    """
    name = change.get("name") or UNNAMED
    there = public_tag(state, name)
    carrier = on if (on := change.get("on", SCENE)) in state.characters else SCENE
    match change["change"]:
        case "removed":
            if there is not None:
                return written_as(state.without_tag(name), there, "")  # a consequence's place is free again
            tag = state.tag(name)
            return state.without_tag(name) if tag and tag.kind == BOOST else state
        case "created" if there is None:
            return lay(state, Tag(name, _kind_on(carrier), carrier))
        case "created" if there is not None and there.kind == BOOST:
            return replaced(state, there, msgspec.structs.replace(there, kind=_kind_on(carrier), on=carrier))
        case "revealed":
            tag = state.tag(name)
            if tag is None:
                return lay(state, Tag(name, "aspect", carrier))
            return replaced(state, tag, msgspec.structs.replace(tag, audience=None))
        case "altered" if there is not None:
            becomes = change.get("becomes") or f"{there.name}, for the Worse"
            if slug(becomes) != there.slug:
                becomes = distinct_name(state, becomes)
            state = written_as(state, there, becomes)
            return replaced(state.with_room(becomes), there, msgspec.structs.replace(there, name=becomes))
    return state


def _kind_on(carrier: str) -> str:
    """Return the kind of an aspect that is created: one on a character is not the sheet's, and goes with the scene."""
    return "aspect" if carrier == SCENE else SITUATION


def change_free_invokes(state: State, change: Effect) -> State:
    """Return the state with more or fewer free invocations for `to`; a boost without any left is removed."""
    name = change.get("on") or UNNAMED
    count = change["count"]
    tag = seen_tag(state, change["to"], name) if count < 0 else public_tag(state, name)
    if tag is None and count < 0:
        return state
    if tag is None:
        return lay(state, Tag(name, "aspect").with_uses(change["to"], count))
    used = tag.with_uses(change["to"], count)
    if used.kind == BOOST and not used.uses:
        return state.without_tag(name)
    return replaced(state, tag, used)


def change_points(state: State, change: Effect, settings: AspectSettings = DEFAULTS) -> State:
    """Return the state with more or fewer points for `to`, now, or kept for the next scene or the conflict's end.

    The game master's from a conflict are for the next scene (Fate Core, "The Fate Point Economy").
    """
    counter = {"next-scene": settings.later, "conflict": settings.after}.get(change.get("from", ""), settings.points)
    who = change["to"]
    if who in state.characters and state.seat_of(who) != GM:
        counters = state.characters[who].counters
        return put(state, ("characters", who, "counters"), _changed(counters, counter, change["change"]))
    counter = settings.later if counter == settings.after else counter
    return msgspec.structs.replace(state, counters=_changed(state.counters, counter, change["change"]))


def begin_scene(state: State, _effect: Effect, settings: AspectSettings = DEFAULTS) -> State:
    """Return the state at the beginning of a scene: points kept for it are paid, and the game master gets fresh ones.

    One for each character of a player (Fate Core, the fate point economy).
    """
    for character in state.characters.values():
        state = state.with_character(paid(character, settings.later, settings))
    players = sum(state.seat_of(name) != GM for name in state.characters)
    points = players + state.counters.get(settings.later, 0)
    counters = state.counters.without(settings.later).with_(settings.points, points)
    return msgspec.structs.replace(state, counters=counters)


def begin_session(state: State, _effect: Effect, settings: AspectSettings = DEFAULTS) -> State:
    """Return the state at the beginning of a session: players have at least as many points as their refresh."""
    for name, character in state.characters.items():
        counters = character.counters
        if state.seat_of(name) != GM and counters.get(settings.points, 0) < counters.get(REFRESH, 0):
            state = put(state, ("characters", name, "counters"), counters.with_(settings.points, counters[REFRESH]))
    return state


def paid(character: Character, kept: str, settings: AspectSettings = DEFAULTS) -> Character:
    """Return a character who has the points that were kept for later in a counter, `settings.later` or `.after`."""
    points = character.counters.get(kept, 0)
    if not points:
        return character
    counters = _changed(character.counters.without(kept), settings.points, points)
    return msgspec.structs.replace(character, counters=counters)


def fade(state: State, _effect: Effect, settings: AspectSettings = DEFAULTS) -> State:
    """Return the state at the end of a scene: without boosts and situation aspects (Fate Core, types of aspects).

    Players have the points that were paid to use aspects against their characters (the fate point economy).
    """
    kept = (tag for tag in state.tags if tag.kind != BOOST and not goes_with_scene(tag))
    for character in state.characters.values():
        state = state.with_character(paid(character, settings.later, settings))
    return msgspec.structs.replace(state, tags=tuple(kept))


def _changed(counters: Map[str, int], counter: str, change: int) -> Map[str, int]:
    return counters.with_(counter, max(0, counters.get(counter, 0) + change))
