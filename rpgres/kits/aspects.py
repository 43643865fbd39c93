"""Aspects and invoking, shared by rulesets of the Fate family: the invoke window, and the effects on tags and points.

An aspect is a `Tag`; its free invocations are the tag's uses. Fate points are the counter `fate-points` of a
character, or of the table for the game master. Nothing here knows actions, skills or outcome tables.

What an action says aloud is public, so aspects that only some seats know are never touched by name, except to be
revealed or to be used by somebody who knows them; a name that is taken only in secret is free for everybody else.

Source: Fate Core, "Invoking & Compelling Aspects" and "The Fate Point Economy" (fate-srd.com); the seed text, line 19.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from rpgres.dice import Dice
from rpgres.engine.players import NO
from rpgres.engine.table import Table
from rpgres.errors import UsageError
from rpgres.model.state import GM, SCENE, Character, Map, State, Tag, put, slug
from rpgres.rulesets import Effect, Option, Ruleset, effect
from rpgres.rulesets.settling import Facts

POINTS = "fate-points"
LATER = "fate-points-later"  # gained now, to be had from the next scene on
AFTER = "fate-points-after"  # gained now, to be had when the conflict is over
BONUS = 2  # what an invocation adds
FREE_TOGETHER = 2  # free invocations of one aspect that a success with style gives, and allows on one roll
REROLL = "reroll"
BOOST = "boost"
INVOKABLE = ("aspect", "boost", "consequence")
UNNAMED = "An Advantage"  # an aspect that nobody named


class AspectSwitches(msgspec.Struct, frozen=True, gc=False):
    """The house rules that the code of this kit reads; `rpgres/kits/data/aspects/ruleset.toml` explains them."""

    invoke_order: Literal["alternate", "actor-then-opponent"] = "alternate"
    boost_lifetime: Literal["scene", "next-chance"] = "scene"
    same_aspect: Literal["stack", "two-free"] = "stack"


class Side(msgspec.Struct, frozen=True):
    """One side of a roll.

    Attributes:
        members: who may invoke for it, the one who rolls first; they share their free invocations.
        label: the label of its invoke window.
        dice_label: the label of its dice.
        total: dice and everything added.
        rolled: what the dice showed; None for a fixed difficulty.
        dice: what was rolled; None for a fixed difficulty.
        by: who rolled, for the account.
        floor: what others on this side came to, when the highest counts.
    """

    members: tuple[str, ...]
    label: str
    dice_label: str
    total: int
    rolled: int | None = None
    dice: Dice | None = None
    by: str = ""
    floor: int | None = None

    @property
    def height(self) -> int:
        """What the side comes to: its total, or what the others on it have when that is more."""
        return self.total if self.floor is None else max(self.total, self.floor)


NOBODY = Side((), "", "", 0)
Settles = tuple[str, Facts]  # an outcome table, and the facts by which its rows are told apart


class Ledger(msgspec.Struct):
    """What has been used up on one roll, by both sides, in the order of use.

    `most_free` is how many free invocations of one aspect a side may use on a roll, and none beside a paid one; None
    for any number, and one paid besides.
    """

    most_free: int | None = None
    uses: dict[tuple[str, str], int] = {}  # free uses by tag and holder
    points: dict[str, int] = {}  # by purse
    free: dict[tuple[int, str], int] = {}  # free invocations by side and tag
    paid: set[tuple[int, str]] = set()  # side and tag: an aspect is paid for once in a roll
    effects: list[Effect] = []
    means: dict[tuple[tuple[str, ...], str], _Means] = {}  # by side and member; the same for every roll on this table


class _Means(msgspec.Struct, frozen=True, gc=False):
    """With what a member of a side can invoke, before anything is used up: tags by slug, whose free uses, points."""

    tags: tuple[tuple[str, Tag], ...]
    holders: tuple[str, ...]
    purse: str
    points: int
    choices: tuple[_Choice, ...]

    def left(self, ledger: Ledger) -> int:
        """Return how many points are left."""
        return self.points - ledger.points.get(self.purse, 0)


class _Choice(msgspec.Struct, frozen=True, gc=False):
    tag: Tag
    name: str  # the tag's slug
    member: str
    holder: str  # whose free use it would be; empty when it is paid for


def can_invoke(state: State, members: Sequence[str], ledger: Ledger | None = None) -> bool:
    """Tell whether anything on the table could be invoked for somebody of these: the window is skipped when not.

    Args:
        state: the table.
        members: who may invoke.
        ledger: that of the roll, on which nothing has been invoked so far.
    """
    fresh = ledger if ledger is not None else Ledger()
    return any(_choices(state, tuple(members), member, fresh, 0) for member in members)


def new_ledger(table: Table) -> Ledger:
    """Return the ledger of a roll on which nothing has been invoked, by the rule of `same_aspect`."""
    rules, state = table.rules, table.state
    limited = rules.switches(AspectSwitches).same_aspect == "two-free"
    kept = rules.compiled.get("aspects:means")
    if kept is None or kept[0] is not state:  # simulations and odds roll on the same table many times
        kept = rules.compiled["aspects:means"] = state, {}
    return Ledger(FREE_TOGETHER if limited else None, means=kept[1])


def raised_from_nothing(table: Table, own: Sequence[str], members: Sequence[str]) -> Ledger | None:
    """Ask the other side to invoke where nothing opposes, and return what that cost; None when it does not.

    One invocation makes a difficulty of `BONUS` where there was none (Fate Core, "Invoking & Compelling Aspects").

    Args:
        table: where it is played.
        own: the acting side.
        members: who may invoke against it.
    """
    ledger = new_ledger(table)
    sides = [Side(tuple(own), "", "", 0), Side(tuple(members), "invoke-against", "opposition", 0)]
    is_raised = _invoke(table, sides, 1, ledger, text="Nothing opposes this. Invoke an aspect against it?")
    return ledger if is_raised else None


def invoke_window(
    table: Table,
    own: Side,
    other: Side | None,
    *,
    ledger: Ledger | None = None,
    merges: bool = False,
    settles: Settles | None = None,
) -> tuple[Side, Side, tuple[Effect, ...]]:
    """Let both sides invoke until both pass, and return the sides as they then stand, with what it cost.

    Each invocation uses a free one, or pays a fate point once for an aspect in this roll, and gives +2 or new dice. How
    the sides take turns is the switch `invoke_order`, how often one aspect may be invoked on a roll `same_aspect`.

    Args:
        table: where it is played.
        own: the acting side.
        other: what it rolls against; None when there is nothing yet.
        ledger: what has been used up on this roll before; nothing by default.
        merges: whether behind it only matters where the sides stand and what was used up, in whatever order.
        settles: what settles the margin, where nothing else depends on that: who can gain nothing more is not asked.
    """
    sides = [own, other if other is not None else NOBODY]
    settles = settles if other is not None else None
    costs = invoke_among(table, sides, ledger or new_ledger(table), merges=merges, settles=settles)
    return sides[0], sides[1], costs


def invoke_among(
    table: Table, sides: list[Side], ledger: Ledger, *, merges: bool = False, settles: Settles | None = None
) -> tuple[Effect, ...]:
    """Let two sides or more invoke until all pass, and return what it cost; `sides` then holds where each stands.

    Args:
        table: where it is played.
        sides: the sides in the order in which they are asked; each is up against the highest of the others.
        ledger: what has been used up on this roll before.
        merges, settles: as of `invoke_window`; the latter for two sides alone.
    """
    switches, count = table.rules.switches(AspectSwitches), len(sides)
    if switches.invoke_order == "actor-then-opponent":
        for turn in range(count):  # the first side's last word comes before the other's first
            while _invoke(table, sides, turn, ledger, settles=settles if turn else None):
                pass
    else:
        passes, turn = 0, 0
        while passes < count:
            has_invoked = _invoke(table, sides, turn, ledger, settles=settles)
            passes = 0 if has_invoked else passes + 1
            turn = (turn + 1) % count
            if has_invoked and merges:
                used = tuple([frozenset(counts.items()) for counts in (ledger.uses, ledger.points, ledger.free)])
                table.merge((turn, tuple(sides), used, frozenset(ledger.paid)), holds=("state",))
    if switches.boost_lifetime == "next-chance":
        ledger.effects += _faded(table, sides, ledger)
    return tuple(ledger.effects)


NOTHING = "no aspect is left that is free or can be paid for on this roll"  # why nothing can be invoked


def no_window(
    table: Table, sides: Sequence[tuple[str, ...]], labels: Sequence[str] = ("invoke", "invoke-against")
) -> None:
    """Tell that nobody of these sides can invoke anything, so that a script that does is refused."""
    for members, label in zip(sides, labels, strict=True):
        if members:
            table.ask(label, members[0], (), text=NOTHING, optional=True)


def _invoke(
    table: Table,
    sides: list[Side],
    turn: int,
    ledger: Ledger,
    *,
    text: str = "Invoke an aspect?",
    settles: Settles | None = None,
) -> bool:
    """Ask the members of one side in turn; True when one of them invoked something."""
    side, other = sides[turn], sides[1 - turn] if len(sides) == 2 else _others(sides, turn)
    against = other.height if other.label else None  # without a label it has no total yet
    margin, could, is_moot = side.height - against if against is not None else None, False, False
    if settles is not None and margin is not None:  # a better one may come to the same
        is_moot = table.rules.settling.is_fixed(*settles, -margin if turn else margin, up=not turn)
    for member in side.members:
        choices = {choice.name: choice for choice in _choices(table.state, side.members, member, ledger, turn)}
        if not choices:
            continue
        could = True
        answer = table.ask(
            side.label,
            member,
            _options(choices.values(), can_reroll=side.rolled is not None),
            text=text,
            optional=True,
            total=side.height,
            against=against,
            margin=margin,
            rolled=side.rolled,
            acting=turn == 0,
            points=ledger.means[side.members, member].left(ledger),
            moot=is_moot,
        )
        if answer == NO:
            continue
        name, _, how = answer.partition(":")
        _spend(table.state, ledger, turn, choices[name], against=other.members)
        if how == REROLL and side.dice is not None and side.rolled is not None:
            rolled = table.roll(side.dice, side.dice_label, by=side.by or side.members[0])
            sides[turn] = msgspec.structs.replace(side, total=side.total - side.rolled + rolled, rolled=rolled)
        else:
            sides[turn] = msgspec.structs.replace(side, total=side.total + BONUS)
        return True
    if not could:
        no_window(table, [side.members], [side.label])
    return False


def _others(sides: Sequence[Side], turn: int) -> Side:
    """Return what one of several sides is up against: the highest of the others, and everybody on them."""
    others = [side for number, side in enumerate(sides) if number != turn]
    highest = max(others, key=lambda side: side.height)
    return msgspec.structs.replace(highest, members=tuple(member for side in others for member in side.members))


def means_of(state: State, members: tuple[str, ...], member: str, ledger: Ledger) -> _Means:
    """Return with what a member of a side can invoke, before anything is used up (hashable)."""
    means = ledger.means.get((members, member))
    if means is None:
        means = ledger.means[members, member] = state.glance(_means_of, members, member)
    return means


def _choices(state: State, members: tuple[str, ...], member: str, ledger: Ledger, turn: int) -> Sequence[_Choice]:
    """Return what one member of a side may invoke now: free while anybody of the side has a free use, else paid."""
    means = means_of(state, members, member, ledger)
    if not (ledger.uses or ledger.paid):
        return means.choices
    most_free, points = ledger.most_free, means.left(ledger)
    found: list[_Choice] = []
    for name, tag in means.tags:
        used, paid = ledger.free.get((turn, name), 0), (turn, name) in ledger.paid
        if most_free is not None and (paid or used >= most_free):
            continue
        free = [one for one in means.holders if tag.uses.get(one, 0) > ledger.uses.get((name, one), 0)]
        if free:
            found.append(_Choice(tag, name, member, free[0]))
        elif points > 0 and tag.kind != BOOST and not paid and not (used and most_free is not None):
            found.append(_Choice(tag, name, member, ""))
    return found


def _means_of(state: State, members: tuple[str, ...], member: str) -> _Means:
    """Return with what a member of a side can invoke, before anything is used up."""
    seat = state.seat_of(member)
    holders = (member, *members, GM) if seat == GM else (member, *members)
    points, choices = points_of(state, member), list[_Choice]()
    for tag in in_order(state.tags):
        if tag.kind not in INVOKABLE or not _is_known(tag, seat):
            continue
        free = [one for one in holders if tag.uses.get(one, 0) > 0]
        if free or (points > 0 and tag.kind != BOOST):
            choices.append(_Choice(tag, tag.slug, member, free[0] if free else ""))
    tags = tuple([(choice.name, choice.tag) for choice in choices])
    return _Means(tags, holders, _purse(state, member), points, tuple(choices))


def has_any(state: State) -> bool:
    """Tell whether anything lies on the table that could be an aspect."""
    return bool(state.tags)


def _options(choices: Iterable[_Choice], *, can_reroll: bool) -> tuple[Option, ...]:
    found, ways = list[Option](), 2 if can_reroll else 1
    for choice in choices:
        tag = choice.tag
        found += _option_pair(tag.name, tag.kind, tag.on, is_free=bool(choice.holder))[:ways]
    return tuple(found)


@lru_cache(maxsize=1024)
def _option_pair(text: str, kind: str, on: str, *, is_free: bool) -> tuple[Option, Option]:
    """Return the two ways to invoke an aspect: for +2, and for new dice."""
    price, short = ("free", "free") if is_free else ("for a fate point", "1 point")
    name, cost, facts = slug(text), int(not is_free), Map({"free": is_free, "kind": kind, "reroll": False})
    owner = on if on != SCENE else ""
    bonus = Option(name, f"{text}: +{BONUS}, {price}", 0, facts, brief=text, cost=cost, price=short, of=owner)
    rerolled = f"{text}: new dice, {price}"
    facts = facts.with_("reroll", True)
    return bonus, msgspec.structs.replace(bonus, name=f"{name}:{REROLL}", text=rerolled, facts=facts)


def _spend(state: State, ledger: Ledger, turn: int, choice: _Choice, *, against: Sequence[str]) -> None:
    """Enter an invocation in the ledger."""
    name, text = choice.name, choice.tag.name
    if choice.holder:
        key = (name, choice.holder)
        ledger.uses[key] = ledger.uses.get(key, 0) + 1
        ledger.free[turn, name] = ledger.free.get((turn, name), 0) + 1
        ledger.effects.append(effect("free-invoke", to=choice.holder, count=-1, on=text))
        return
    purse = _purse(state, choice.member)
    ledger.points[purse] = ledger.points.get(purse, 0) + 1
    ledger.paid.add((turn, name))
    ledger.effects.append(effect("fate-point", to=purse, change=-1, on=text))
    owner = choice.tag.on
    if owner in against and owner in state.characters:
        # paid for and used against its owner: the point is the owner's, from the next scene on
        ledger.effects.append(
            effect("fate-point", to=_purse(state, owner), change=1, on=text, **{"from": "next-scene"})
        )


def _faded(table: Table, sides: Iterable[Side], ledger: Ledger) -> Iterator[Effect]:
    """Yield the end of every boost whose holder could have used it in this window and did not."""
    for turn, side in enumerate(sides):
        for member in side.members:
            for choice in _choices(table.state, (member,), member, ledger, turn):
                if choice.tag.kind == BOOST:
                    yield effect("aspect", change="removed", name=choice.tag.name)


def points_of(state: State, who: str) -> int:
    """Return how many fate points somebody can spend: their own, or the game master's for whoever has no own purse."""
    purse = _purse(state, who)
    if purse == GM:
        return state.counters.get(POINTS, 0)
    return state.characters[purse].counters.get(POINTS, 0)


def _purse(state: State, who: str) -> str:
    return GM if state.seat_of(who) == GM else who


# ---------------------------------------------------------------------------------------------------------------------
# Names and who knows them


def _is_known(tag: Tag, seat: str) -> bool:
    return tag.audience is None or seat in tag.audience


def seen_tag(state: State, who: str, name: str) -> Tag | None:
    """Return the tag of this name or slug, unless there is none that somebody's seat knows of."""
    tag = state.tag(name)
    return tag if tag is not None and _is_known(tag, state.seat_of(who)) else None


def hidden_tag(state: State, who: str, *, on: str = "") -> Tag | None:
    """Return the first aspect by name that somebody's seat does not know of, or None; with `on` of one character."""
    seat = state.seat_of(who)
    for tag in in_order(state.tags):
        if tag.kind != BOOST and not _is_known(tag, seat) and on in ("", tag.on):
            return tag
    return None


def check_spelling(state: State, who: str, name: str) -> None:
    """Refuse a name that no aspect has which somebody knows, when one of those is nearly called that.

    Raises:
        UsageError: says which one may be meant.
    """
    if seen_tag(state, who, name) is not None:
        return
    from rpgres.toml.reading import nearest

    known = {tag.slug: tag.name for tag in state.seen_by(state.seat_of(who)).tags}
    near = nearest(slug(name), known)
    if near is not None:
        raise UsageError(f"no aspect here is called {name!r}; did you mean {known[near]!r}?")


def distinct_name(state: State, name: str) -> str:
    """Return the name, or with a number behind it when a tag that everybody knows has it already."""
    if _public_tag(state, name) is None:
        return name
    number = 2
    while _public_tag(state, f"{name} {number}") is not None:
        number += 1
    return f"{name} {number}"


def _public_tag(state: State, name: str) -> Tag | None:
    tag = state.tag(name)
    return tag if tag is not None and tag.audience is None else None


def lay(state: State, tag: Tag) -> State:
    """Return the state with a tag added that everybody knows."""
    return state.with_room(tag.name).with_tag(tag)


def _replaced(state: State, old: Tag, new: Tag) -> State:
    if old.slug == new.slug:
        return state.with_tag(new)
    return msgspec.structs.replace(state, tags=tuple(new if tag is old else tag for tag in state.tags))


def with_names(state: State, effects: Sequence[Effect], *, becomes: str = "") -> tuple[Effect, ...]:
    """Return effects in which every aspect has its full name: what an altered one becomes, a number where one is taken.

    Later free invocations on such an aspect follow it to its name.

    Args:
        state: the table before the effects.
        effects: in order.
        becomes: what an altered aspect is called, where its effect does not say.
    """
    now: dict[str, str] = {}  # by slug: what an aspect is called after the effects so far
    named = []
    for one in effects:
        name = one.get("name", "")
        if one["kind"] == "free-invoke" and slug(one.get("on", "")) in now:
            one = one.with_("on", now[slug(one["on"])])
        elif one["kind"] == "aspect" and one["change"] == "altered":
            one = one if "becomes" in one else one.with_("becomes", becomes or f"{name}, for the Worse")
            now[slug(name)] = one["becomes"]
        elif one["kind"] == "aspect" and one["change"] == "created":
            there = _public_tag(state, name)
            if there is not None and there.kind != BOOST:
                now[slug(name)] = distinct_name(state, name)
                one = one.with_("name", now[slug(name)])
        named.append(one)
    return tuple(named)


# ---------------------------------------------------------------------------------------------------------------------
# Effects


def register_effects(ruleset: Ruleset) -> None:
    """Register the functions for the effects of this kit with a ruleset, and the house rules that its code reads."""
    ruleset.switches(AspectSwitches)
    ruleset.effect("new-scene")(begin_scene)
    ruleset.effect("fade")(fade)
    ruleset.effect("boost")(gain_boost)
    ruleset.effect("aspect")(change_aspect)
    ruleset.effect("free-invoke")(change_free_invokes)
    ruleset.effect("fate-point")(change_points)
    ruleset.canon("tags")(in_order)


def in_order(tags: Sequence[Tag]) -> tuple[Tag, ...]:
    """Return aspects in the order of their names: nothing goes by the order in which they came, in play or in odds."""
    return tuple(tags) if len(tags) < 2 else tuple(sorted(tags, key=lambda tag: tag.slug))


def gain_boost(state: State, change: Effect) -> State:
    """Return the state with a boost that `to` may use once."""
    name = distinct_name(state, change.get("name") or "Boost")
    return lay(state, Tag(name, BOOST, SCENE, Map({change["to"]: 1})))


def change_aspect(state: State, change: Effect) -> State:
    """Return the state with an aspect created, revealed, altered or removed.

    A boost of which a real aspect is made keeps its free use.
    """
    name = change.get("name") or UNNAMED
    there = _public_tag(state, name)
    match change["change"]:
        case "removed":
            tag = state.tag(name)
            return state.without_tag(name) if there is not None or (tag and tag.kind == BOOST) else state
        case "created" if there is None:
            return lay(state, Tag(name, "aspect", _carrier(state, change)))
        case "created" if there is not None and there.kind == BOOST:
            return _replaced(state, there, msgspec.structs.replace(there, kind="aspect", on=_carrier(state, change)))
        case "revealed":
            tag = state.tag(name)
            if tag is None:
                return lay(state, Tag(name, "aspect", _carrier(state, change)))
            return _replaced(state, tag, msgspec.structs.replace(tag, audience=None))
        case "altered" if there is not None:
            becomes = change.get("becomes") or f"{there.name}, for the Worse"
            if slug(becomes) != there.slug:
                becomes = distinct_name(state, becomes)
            return _replaced(state.with_room(becomes), there, msgspec.structs.replace(there, name=becomes))
    return state


def _carrier(state: State, change: Effect) -> str:
    return on if (on := change.get("on", SCENE)) in state.characters else SCENE


def change_free_invokes(state: State, change: Effect) -> State:
    """Return the state with more or fewer free invocations for `to`; a boost without any left is gone."""
    name = change.get("on") or UNNAMED
    count = change["count"]
    tag = seen_tag(state, change["to"], name) if count < 0 else _public_tag(state, name)
    if tag is None and count < 0:
        return state
    if tag is None:
        return lay(state, Tag(name, "aspect").with_uses(change["to"], count))
    used = tag.with_uses(change["to"], count)
    if used.kind == BOOST and not used.uses:
        return state.without_tag(name)
    return _replaced(state, tag, used)


def change_points(state: State, change: Effect) -> State:
    """Return the state with more or fewer fate points for `to`, now, or kept for the next scene or the conflict's end.

    The game master's from a conflict are for the next scene (Fate Core, "The Fate Point Economy").
    """
    counter = {"next-scene": LATER, "conflict": AFTER}.get(change.get("from", ""), POINTS)
    who = change["to"]
    if who in state.characters and state.seat_of(who) != GM:
        counters = state.characters[who].counters
        return put(state, ("characters", who, "counters"), _changed(counters, counter, change["change"]))
    counter = LATER if counter == AFTER else counter
    return msgspec.structs.replace(state, counters=_changed(state.counters, counter, change["change"]))


def begin_scene(state: State, _effect: Effect) -> State:
    """Return the state at the beginning of a scene: points kept for it are paid, and the game master gets fresh ones.

    One for each character of a player (Fate Core, the fate point economy).
    """
    for character in state.characters.values():
        state = state.with_character(paid(character, LATER))
    players = sum(state.seat_of(name) != GM for name in state.characters)
    points = players + state.counters.get(LATER, 0)
    return msgspec.structs.replace(state, counters=state.counters.without(LATER).with_(POINTS, points))


def paid(character: Character, kept: str) -> Character:
    """Return a character who has the fate points that were kept for later in a counter (`LATER`, `AFTER`)."""
    points = character.counters.get(kept, 0)
    if not points:
        return character
    counters = _changed(character.counters.without(kept), POINTS, points)
    return msgspec.structs.replace(character, counters=counters)


def fade(state: State, _effect: Effect) -> State:
    """Return the state at the end of a scene: boosts are gone, and so are aspects that nobody carries."""
    kept = tuple(tag for tag in state.tags if tag.kind != BOOST and not (tag.kind == "aspect" and tag.on == SCENE))
    return msgspec.structs.replace(state, tags=kept)


def _changed(counters: Map[str, int], counter: str, change: int) -> Map[str, int]:
    return counters.with_(counter, max(0, counters.get(counter, 0) + change))
