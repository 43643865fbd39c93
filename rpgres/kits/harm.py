"""Harm that is absorbed by boxes on tracks: stress, consequences, being taken out, mobs.

A character's tracks come from the ruleset's data; one of them holds consequences (its boxes are slots whose text is a
tag). Nothing here knows dice, actions or outcome tables.

Source: Fate Core, "Stress & Consequences" and "Conflicts" (fate-srd.com): of the boxes of a track at most one is used
for a hit, consequences add up, what is not absorbed takes the character out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Annotated, Any, Literal

import msgspec

from rpgres.engine.table import Outcome, Table
from rpgres.kits.aspects.effects import paid
from rpgres.kits.aspects.names import DEFAULTS, AspectSettings, distinct_name, lay
from rpgres.model.state import EMPTY, GM, Box, Character, Map, State, Tag, mark_box, put
from rpgres.rulesets import Effect, Option, Rules, Ruleset, effect
from rpgres.rulesets.actions import OPPONENT
from rpgres.rulesets.kits import Kit, settings_of
from rpgres.rulesets.rows import Record
from rpgres.toml.diagnostics import Fault

CONSEQUENCES = "consequences"
MEMBERS = "members"  # the counter of a mob's size
GONE = "members-out"  # how many of a mob are out until the conflict ends
TAKEN = "consequences-taken"  # counted for what a concession is worth
OUT = "taken-out"
LOWEST = "lowest"  # the box or slot that is the smallest free one


class HarmSettings(Record, frozen=True):
    """What a ruleset may set of the kit `harm`, under `[settings.harm]`.

    Attributes:
        boxes: how many stress boxes are checked for one hit: `one` at most, or `any` number.
        named_by: who names a consequence: the one who is `hit`, the `attacker`, or the game master (`gm`).
        free_invokes: how many free invocations of a consequence the attacker gets, where there are aspects.
    """

    boxes: Literal["one", "any"] = "one"
    named_by: Literal["hit", "attacker", "gm"] = "hit"
    free_invokes: Annotated[int, msgspec.Meta(ge=0, le=9)] = 1


class Absorption(msgspec.Struct, frozen=True):
    """One way to take a hit: consequence slots to fill, and boxes to check."""

    slots: tuple[Box, ...]
    boxes: tuple[Box, ...] = ()

    @property
    def name(self) -> str:
        """The answer as typed: `mild+box-2`."""
        return "+".join([*(slot.name for slot in self.slots), *(f"box-{box.name}" for box in self.boxes)])

    @property
    def weight(self) -> int:
        """How much it costs: the shifts that stay as consequences."""
        return sum(slot.size for slot in self.slots)


def ways_to_absorb(shifts: int, *, boxes: Sequence[Box], slots: Sequence[Box], most_boxes: int = 1) -> list[Absorption]:
    """Return every way to take a hit in which nothing is given for nothing, the cheapest first.

    Args:
        shifts: the size of the hit, from 1.
        most_boxes: how many boxes may be checked for it.

    >>> stress = [Box("1", 1), Box("2", 2), Box("3", 3)]
    >>> [way.name for way in ways_to_absorb(6, boxes=stress, slots=[Box("mild", 2), Box("moderate", 4)])]
    ['moderate+box-2', 'mild+moderate']
    """
    free_boxes = sorted((box for box in boxes if not box.mark), key=lambda box: box.size)
    free_slots = [slot for slot in slots if not slot.mark]
    ways = []
    for count in range(len(free_slots) + 1):
        for chosen in combinations(free_slots, count):
            rest = shifts - sum(slot.size for slot in chosen)
            checked = _least(free_boxes, rest, most_boxes)
            if checked is None:
                continue
            held = sum(box.size for box in (*chosen, *checked))
            if any(held - slot.size >= shifts for slot in chosen):
                continue  # that slot would be given for nothing
            ways.append(Absorption(chosen, checked))
    return sorted(ways, key=lambda way: (way.weight, sum(box.size for box in way.boxes)))


def _least(boxes: Sequence[Box], shifts: int, most: int) -> tuple[Box, ...] | None:
    """Return the boxes, smallest first, that hold so many shifts with the least to spare; None where none do."""
    if shifts <= 0:
        return ()
    found = next(((box,) for box in boxes if box.size >= shifts), None)
    if most == 1:
        return found
    sums: dict[int, tuple[Box, ...]] = {0: ()}  # by what they hold together: the fewest boxes
    for box in boxes:
        for held, chosen in sorted(sums.items()):
            known = sums.get(held + box.size)
            if held < shifts and len(chosen) < most and (known is None or len(known) > len(chosen) + 1):
                sums[held + box.size] = (*chosen, box)
    return sums[min(enough)] if (enough := [held for held in sums if held >= shifts]) else None


def absorb(table: Table, who: str, shifts: int, *, track: str, attacker: str, name: str = "") -> tuple[Effect, ...]:
    """Ask a character how a hit is taken and return the effects of it.

    A mob is not asked: each of its members takes what its boxes hold, and what is left runs on to the next. Nor is
    a character whose only way is a stress box.

    Args:
        table: where it is played.
        who: the character that is hit; must be at the table.
        shifts: the size of the hit, from 1.
        track: the track that is hit; of a character with other tracks, the first that is none of consequences.
        attacker: who gets the free invocation of a consequence.
        name: the text of the consequence taken, the first one when there are several.
    """
    character = table.state.characters[who]
    track = track if track in character.tracks else stress_tracks(character.tracks)[0]
    if character.counters.get(MEMBERS, 1) > 1:
        return _run_on(character, shifts, track)
    settings = settings_of(table.rules, "harm", HarmSettings)
    boxes = character.tracks.get(track, ())
    slots = tuple(slot for slot in character.tracks.get(CONSEQUENCES, ()) if slot_fits(slot, track))
    most = 1 if settings.boxes == "one" else len(boxes)
    ways = ways_to_absorb(shifts, boxes=boxes, slots=slots, most_boxes=most)
    chosen = ways[0] if len(ways) == 1 and not ways[0].slots else _asked_way(table, character, shifts, ways)
    if chosen is None:
        return (effect(OUT, to=who, how=OUT),)
    effects = [effect("stress", to=who, track=track, box=box.name) for box in chosen.boxes]
    namer = {"hit": who, "attacker": attacker, "gm": GM}[settings.named_by]
    namer = namer if namer in table.state.characters else GM
    free = settings.free_invokes if table.rules.effect_function("free-invoke") is not None else 0
    for number, slot in enumerate(chosen.slots):
        own = name if number == 0 else ""
        if not own:
            of = f"the {slot.name} consequence"
            own = table.name("consequence-name", namer, _consequence_text(slot.name, character), of=of)
        text = distinct_name(table.state, own)
        effects.append(effect("consequence", to=who, slot=slot.name, name=text, track=CONSEQUENCES))
        if free:
            effects.append(effect("free-invoke", to=attacker, count=free, on=text))
    return tuple(effects)


def absorbed(
    table: Table, effects: Sequence[Effect], roles: Mapping[str, str], *, track: str = "", consequence: str = ""
) -> tuple[Effect, ...]:
    """Return how hits are absorbed by those of whom a sheet says what there is to absorb with.

    Args:
        table: where it is played.
        effects: what an outcome brings, the hits among it.
        roles: who is meant by `actor` and `opponent`.
        track: which track is hit, where a hit does not say.
        consequence: the text of a consequence taken.
    """
    if not effects:
        return ()
    shifts: dict[str, int] = {}
    for one in effects:
        if one["kind"] == "hit":
            to: str = one["to"]
            who = roles.get(to, to)
            shifts[who] = shifts.get(who, 0) + one["shifts"]
            track = one.get("track", track)
    taken: tuple[Effect, ...] = ()
    for who, amount in shifts.items():
        character = table.state.characters.get(who)
        if amount > 0 and character is not None and character.tracks:
            attacker = roles["actor"] if who == roles[OPPONENT] else roles[OPPONENT]
            taken += absorb(table, who, amount, track=track, attacker=attacker, name=consequence)
    return taken


def complete(table: Table, outcome: Outcome, given: Mapping[str, Any]) -> Outcome:
    """Return the outcome of a described action with how its hits are absorbed."""
    track, consequence = given.get("track") or "", given.get("consequence") or ""
    return outcome.plus(absorbed(table, outcome.effects, outcome.roles, track=track, consequence=consequence))


def stress_tracks(tracks: Iterable[str]) -> list[str]:
    """Return the tracks whose boxes take harm, the first being the usual one; an empty text for none."""
    return [name for name in tracks if name != CONSEQUENCES] or [""]


def used_up(character: Character) -> tuple[tuple[str, str], ...]:
    """Return as facts what a character has nothing left of to pay a cost with: stress boxes, consequences."""
    has_free = dict[str, bool]()
    for track, boxes in character.tracks.items():
        kind = track if track == CONSEQUENCES else "stress"
        for box in boxes:
            if not box.mark:
                has_free[kind] = True
                break
        else:
            has_free.setdefault(kind, False)
    return () if all(has_free.values()) else tuple([(kind, "used-up") for kind, is_so in has_free.items() if not is_so])


def _asked_way(table: Table, character: Character, shifts: int, ways: Sequence[Absorption]) -> Absorption | None:
    """Return the way a character chooses to take a hit; None for being taken out."""
    options = []
    for way in ways:
        boxes = [f"box {box.name}" for box in way.boxes]
        brief = " and ".join([*(f"{slot.name} ({slot.size})" for slot in way.slots), *boxes])
        filled = [f"a {slot.name} consequence ({slot.size})" for slot in way.slots]
        text = " and ".join([*filled, *(f"stress {box}" for box in boxes)])
        options.append(Option(way.name, text, -way.weight, brief=brief))
    options.append(Option(OUT, "Taken out: the attacker decides what becomes of you.", -1000, brief="taken out"))
    text = f"How does {character.title or character.name} take a hit of {shifts}?"
    answer = table.ask("absorb", character.name, options, text=text, shifts=shifts)
    return next((way for way in ways if way.name == answer), None)


def _consequence_text(slot: str, character: Character) -> str:
    return f"{slot.title()} Consequence of {character.title or character.name}"


def slot_fits(slot: Box, track: str) -> bool:
    """Tell whether a consequence slot can take harm of a track: `mild-physical` is for physical harm only."""
    _, _, only = slot.name.partition("-")
    return not only or only == track


def _run_on(character: Character, shifts: int, track: str) -> tuple[Effect, ...]:
    """Return what a hit does to a mob: members go one after the other, each with boxes of its own."""
    boxes = sorted(character.tracks.get(track, ()), key=lambda box: box.size)
    free = [box for box in boxes if not box.mark]  # the foremost member may be hurt already
    left, out = shifts, 0
    members = character.counters[MEMBERS]
    effects: list[Effect] = []
    while left > 0 and out < members:
        holding = next((box for box in free if box.size >= left), None)
        if holding is not None:
            effects.append(effect("stress", to=character.name, track=track, box=holding.name))
            break
        left -= (free[-1].size if free else 0) + 1
        out += 1
        free = list(boxes)
    some = {"count": out} if out < members else {}  # without a count it is all who are left
    leaving = [effect(OUT, to=character.name, how=OUT, **some)] if out else []
    return (*leaving, *effects)


# ---------------------------------------------------------------------------------------------------------------------
# Effects


def register(ruleset: Ruleset, _settings: HarmSettings) -> None:
    """Register the functions for `hit`, `stress`, `consequence` and `taken-out` with a ruleset."""

    def conflict(state: State, change: Effect) -> State:
        points = ruleset.kits.get("aspects")
        return turn_conflict(state, change, points[1] if points is not None else DEFAULTS)

    ruleset.completes(complete)
    ruleset.effect("recover")(recover)
    ruleset.effect("conflict")(conflict)
    ruleset.effect("hit")(unchanged)
    ruleset.effect("stress")(check_box)
    ruleset.effect("consequence")(take_consequence)
    ruleset.effect(OUT)(take_out)


def unchanged(state: State, _effect: Effect) -> State:
    """Return the state as it is: what the effect says is carried out by others, or by the people at the table."""
    return state


def check_box(state: State, change: Effect) -> State:
    """Return the state with a stress box checked; the box `lowest` is the smallest free one of all stress tracks."""
    character = state.characters.get(change["to"])
    if character is None:
        return state
    only = change.get("track")
    tracks = {name: boxes for name, boxes in character.tracks.items() if name != CONSEQUENCES and only in (None, name)}
    if change["box"] != LOWEST:
        marked = {name: mark_box(boxes, change["box"]) for name, boxes in tracks.items()}
    else:
        free = {name: box for name, boxes in tracks.items() if (box := _lowest(boxes)) is not None}
        if not free:
            return state
        least = min(free, key=lambda name: free[name].size)
        marked = {least: mark_box(tracks[least], free[least].name)}
    return put(state, ("characters", character.name, "tracks"), Map({**character.tracks, **marked}))


def take_consequence(state: State, change: Effect) -> State:
    """Return the state with a consequence written down and lying on the table as an aspect of its owner."""
    character = state.characters.get(change["to"])
    if character is None:
        return state
    track = change.get("track", CONSEQUENCES)
    boxes = character.tracks.get(track, ())
    lowest = _lowest(boxes)
    slot = change["slot"] if change["slot"] != LOWEST else lowest.name if lowest is not None else ""
    if not slot:
        return state
    text = change.get("name") or distinct_name(state, _consequence_text(slot, character))
    counters = character.counters.with_(TAKEN, character.counters.get(TAKEN, 0) + 1)
    character = msgspec.structs.replace(
        character, tracks=character.tracks.with_(track, mark_box(boxes, slot, text=text)), counters=counters
    )
    return lay(state.with_character(character), Tag(text, "consequence", character.name, EMPTY))


def _lowest(boxes: Sequence[Box]) -> Box | None:
    """Return the smallest free box; one that is for harm of one kind only counts after the ordinary one."""
    free = [box for box in boxes if not box.mark]
    return min(free, key=lambda box: (box.size, "-" in box.name)) if free else None


def take_out(state: State, change: Effect) -> State:
    """Return the state in which a character is out, or a mob has fewer members and its foremost one is fresh."""
    character = state.characters.get(change["to"])
    if character is None:
        return state
    out = change.get("count", character.counters.get(MEMBERS, 1))
    members = character.counters.get(MEMBERS, 1) - out
    if members <= 0:
        return state.with_character(msgspec.structs.replace(character, is_out=True))
    tracks = Map({track: _cleared(boxes) for track, boxes in character.tracks.items()})
    lost = character.counters.get(GONE, 0) + out
    counters = character.counters.with_(MEMBERS, members).with_(GONE, lost)
    return state.with_character(msgspec.structs.replace(character, tracks=tracks, counters=counters))


def recover(state: State, _effect: Effect) -> State:
    """Return the state at the end of a scene or a conflict: stress is removed, and consequences stay."""
    for name, character in state.characters.items():
        tracks = Map(
            {track: boxes if track == CONSEQUENCES else _cleared(boxes) for track, boxes in character.tracks.items()}
        )
        if tracks != character.tracks:
            state = put(state, ("characters", name, "tracks"), tracks)
    return state


def turn_conflict(state: State, change: Effect, points: AspectSettings = DEFAULTS) -> State:
    """Return the state at the beginning or end of a conflict: consequences taken in it are counted from 0.

    At the end, characters who were taken out or conceded are back, of a mob every member (Fate Core, "Conflicts"; the
    seed text, line 295), and the points for conceding are paid.
    """
    for before in state.characters.values():
        character = msgspec.structs.replace(before, counters=before.counters.without(TAKEN))
        if change["change"] == "ends":
            character = paid(_back(character), points.after, points)
        if character != before:
            state = state.with_character(character)
    return state


def _back(character: Character) -> Character:
    """Return a character who is in play again, a mob with all who were taken out of it."""
    counters, lost = character.counters, character.counters.get(GONE, 0)
    if lost:
        counters = counters.without(GONE).with_(MEMBERS, counters[MEMBERS] + lost)
    return msgspec.structs.replace(character, is_out=False, counters=counters)


def _cleared(boxes: Sequence[Box]) -> tuple[Box, ...]:
    return tuple(msgspec.structs.replace(box, mark="") for box in boxes)


def faults(rules: Rules) -> Iterator[Fault]:
    """Yield what a ruleset lacks to absorb harm with."""
    if not stress_tracks(rules.tracks)[0] and CONSEQUENCES not in rules.tracks:
        message = "the kit harm needs a track of stress boxes, such as [tracks.stress] with boxes = 3"
        yield Fault("incomplete", ("kits", rules.file.kits.index("harm")), message)


KIT = Kit("harm", register, HarmSettings, faults)
