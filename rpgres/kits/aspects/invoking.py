"""Invoking aspects: the window in which the sides of a roll raise it or throw it again, and what that costs.

Nothing here knows actions, skills or outcome tables.

Source: Fate Core, "Invoking & Compelling Aspects" (fate-srd.com); the seed text, line 19.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from rpgres.dice import Dice, LawSizeError
from rpgres.engine.decisions import ask, nothing_for
from rpgres.engine.players import NO, Question
from rpgres.engine.table import MEASURED, Table
from rpgres.kits.aspects.names import (
    BOOST,
    LABELS,
    LASTING,
    AspectSettings,
    AspectSwitches,
    in_order,
    is_known,
    points_of,
    purse_of,
)
from rpgres.kits.aspects.policies import pays, prospects
from rpgres.kits.aspects.windows import NOBODY, Choice, Ledger, Means, Menu, Offer, Settles, Side, Window
from rpgres.model.state import EMPTY, GM, SCENE, Map, State, slug
from rpgres.rulesets import STATE, Effect, Option, effect
from rpgres.rulesets.kits import settings_of

if TYPE_CHECKING:
    from rpgres.engine.seats import Policies

FAR = 40  # what dice may come to that are too many to look at
FREE_TOGETHER = 2  # free invocations of one aspect that a success with style gives, and allows on one roll
REROLL = "reroll"
MERGED = ("outcome", "margin", "total", STATE)  # what merges hold for where all that matters of a roll is known
INVOKABLE = (*LASTING, BOOST)


def can_invoke(state: State, members: Sequence[str], ledger: Ledger | None = None) -> bool:
    """Tell whether anything on the table could be invoked for one of these: the window is skipped when not.

    Args:
        members: who may invoke.
        ledger: that of the roll, on which nothing has been invoked so far.
    """
    return can_any_invoke(state, (tuple(members),), ledger if ledger is not None else Ledger())


def can_any_invoke(state: State, sides: Sequence[tuple[str, ...]], ledger: Ledger) -> bool:
    """Tell whether anything on the table could be invoked on a roll between these sides; see `can_invoke`."""
    for members in sides:
        for member in members:
            if means_of(state, members, member, ledger).choices:
                return True
    return False


def new_ledger(table: Table) -> Ledger:
    """Return the ledger of a roll on which nothing has been invoked, by the house rules."""
    rules, state, players = table.rules, table.state, table.run.players
    is_unread = players.decide_by_question(LABELS) and not table.is_read  # else people see what is offered
    who = players.policies if is_unread else None
    kept: tuple[State, Policies | None, Ledger] | None = rules.compiled.get("aspects:ledger")
    if kept is None or kept[0] is not state or kept[1] is not who:  # simulations roll on the same table many times
        switches = rules.switches(AspectSwitches)
        most_free = FREE_TOGETHER if switches.same_aspect == "two-free" else None
        has_absent = switches.absent_aspects == "stay"
        settings = settings_of(rules, "aspects", AspectSettings)
        ledger = Ledger(most_free, has_absent, settings, pays(who) if who is not None else None)
        kept = rules.compiled["aspects:ledger"] = state, who, ledger
    return kept[2]


def raised_from_nothing(table: Table, own: Sequence[str], members: Sequence[str]) -> Ledger | None:
    """Ask the other side to invoke where nothing opposes, and return what that cost; None when it does not.

    One invocation makes a difficulty of its bonus where there was none (Fate Core, "Invoking & Compelling Aspects").

    Args:
        table: where it is played.
        members: who may invoke against it.
    """
    sides = Side(tuple(own), "", "", 0), Side(tuple(members), "invoke-against", "opposition", 0)
    window = Window(sides, new_ledger(table), turn=1)
    after = _asked(table, window, text="Nothing opposes this. Invoke an aspect against it?")
    return None if after is None or after is window else after.ledger


def invoke_window(
    table: Table,
    own: Side,
    other: Side | None,
    *,
    ledger: Ledger | None = None,
    settles: Settles | None = None,
) -> tuple[Side, Side, tuple[Effect, ...]]:
    """Let both sides invoke until both pass, and return the sides as they then stand, with what it cost.

    Each invocation uses a free one, or pays a fate point once for an aspect in this roll, and gives +2 or new dice. How
    the sides take turns is the switch `invoke_order`, how often one aspect may be invoked on a roll `same_aspect`.

    Args:
        table: where it is played.
        other: what it rolls against; None when there is nothing yet.
        ledger: what has been used up on this roll before; nothing by default.
        settles: what settles the margin, where nothing else depends on that: who can change nothing more is not asked.
    """
    sides = own, other if other is not None else NOBODY
    settles = settles if other is not None else None
    (own, against), costs = invoke_among(table, sides, ledger or new_ledger(table), settles=settles)
    return own, against, costs


def invoke_among(
    table: Table, sides: Sequence[Side], ledger: Ledger, *, settles: Settles | None = None
) -> tuple[tuple[Side, ...], tuple[Effect, ...]]:
    """Let two sides or more invoke until all pass, and return where they then stand and what it cost.

    Args:
        table: where it is played.
        sides: the sides in the order in which they are asked; each is up against the highest of the others.
        ledger: what has been used up on this roll before.
        settles: as of `invoke_window`; with a function for more than two sides.
    """
    window: Window = Window((), ledger)
    after: Window | None = Window(tuple(sides), ledger, settles=settles)
    while after is not None:
        if ledger.raising is not None and after.ledger is not window.ledger:
            table.merge((after.turn, ledger.raising.key(), after.ledger.used), holds=MERGED)
        window, after = after, invoke_step(table, after)
    return window.sides, costs_of(table, window)


def costs_of(table: Table, window: Window) -> tuple[Effect, ...]:
    """Return what a window that is over has cost."""
    effects = window.ledger.effects
    if table.rules.switches(AspectSwitches).boost_lifetime == "next-chance":
        effects += tuple(_faded(table, window.sides, window.ledger))
    return effects


def invoke_step(table: Table, window: Window) -> Window | None:
    """Ask the next side that can invoke, and return where the window then stands; None where all have passed."""
    if window.rerolls is not None:  # a step of its own: it is the same whatever the dice showed before
        changed = _changed(table, window.sides[window.rerolls], window.rerolls, window.ledger, 0)
        return replace(window, sides=_with_side(window, window.rerolls, changed), rerolls=None)
    count, passes = len(window.sides), window.passes
    if passes >= count:
        return None
    is_once = table.rules.switches(AspectSwitches).invoke_order == "actor-then-opponent"
    while passes < count:
        turn, passes = window.turn, passes + 1
        after = _asked(table, window, _settles_at(table, window))
        turn = (turn + 1) % count
        if after is not None and after is not window:
            return after if is_once else replace(after, turn=turn, passes=0)
        window = replace(window, turn=turn, passes=passes)
        if _is_searched(table, window):
            break
    return window


def invoke_on(table: Table, window: Window) -> Window | None:
    """Ask who can invoke until dice are rolled again or all have passed, and return where the window then stands.

    None where all had passed before. In between there is no chance, so that odds need not look at every invocation,
    but for those that a search tries out, each of which leads to a place of its own.
    """
    after = invoke_step(table, window)
    while after is not None and not _is_place(table, after):
        after = invoke_step(table, after)
    return after


def _is_place(table: Table, window: Window) -> bool:
    """Tell whether odds go on from here on their own: before dice, before a search tries out options, at the end."""
    return window.rerolls is not None or window.passes >= len(window.sides) or _is_searched(table, window)


def _is_searched(table: Table, window: Window) -> bool:
    """Tell whether a search decides for who is asked next, if there is anything to decide."""
    policies, state, turn = table.run.players.policies, table.run.state, window.turn
    if not policies.searches:
        return False
    offer, settles = _offered(state, window.sides, turn, window.ledger), _settles_at(table, window)
    if not any(policies.is_searched(menu.member, state.seat_of(menu.member)) for menu in offer.menus):
        return False
    return settles is None or not _is_moot(table, window, offer, settles)


def _settles_at(table: Table, window: Window) -> Settles | None:
    """Return what settles the margin; None where others come behind, who cannot answer what this side adds then."""
    is_once = table.rules.switches(AspectSwitches).invoke_order == "actor-then-opponent"
    return window.settles if not is_once or window.turn == len(window.sides) - 1 else None


def essence(table: Table, window: Window) -> Hashable:
    """Return all that matters of where a window stands, if behind it only the margin matters and what was used up."""
    ledger = window.ledger
    if window.rerolls is not None:
        side = window.sides[window.rerolls]
        side = replace(side, total=side.total - (side.rolled or 0), rolled=None)
        sides = _with_side(window, window.rerolls, side)
        sides = tuple([_unless_idle(table, sides, turn, ledger, window.rerolls) for turn in range(len(sides))])
        return REROLL, window.turn, window.rerolls, sides, ledger.used
    if window.passes < len(window.sides):
        sides = tuple([_unless_idle(table, window.sides, turn, ledger) for turn in range(len(window.sides))])
        return window.turn, window.passes, sides, ledger.used
    first, *others = [side.height for side in window.sides]
    return tuple([height - first for height in others]), ledger.used


def _unless_idle(table: Table, sides: Sequence[Side], turn: int, ledger: Ledger, rerolls: int | None = None) -> Side:
    """Return a side, without what its dice show where it can invoke nothing more; that matters to nobody else then."""
    side = sides[turn]
    if side.rolled is None or turn == rerolls:
        return side
    return side if _offered(table.state, sides, turn, ledger).menus else replace(side, rolled=None)


NOTHING = "no aspect is left that is free or can be paid for on this roll"  # why nothing can be invoked


def no_window(table: Table, sides: Sequence[tuple[str, ...]], labels: Sequence[str] = LABELS) -> None:
    """Note that neither side can invoke anything, so that a script that does is refused."""
    for members, label in zip(sides, labels, strict=True):
        if members:
            nothing_for(table.run, label, members[0], NOTHING)


def _asked(
    table: Table, window: Window, settles: Settles | None = None, text: str = "Invoke an aspect?"
) -> Window | None:
    """Ask the members of the side whose turn it is; return the window with what one of them invoked, else as it was.

    None where none of them can invoke anything.
    """
    run, sides, turn, ledger = table.run, window.sides, window.turn, window.ledger
    side = sides[turn]
    other = _other(sides, turn)
    offer = _offered(run.state, sides, turn, ledger)
    if not offer.menus:
        if side.members:
            nothing_for(run, side.label, side.members[0], NOTHING)
        return None
    height, against = side.height, other.height if other.label else None  # without a label it has no total yet
    margin = height - against if against is not None else None
    is_moot = settles is not None and margin is not None and _is_moot(table, window, offer, settles)
    for menu in offer.menus:
        facts = {
            "total": height,
            "against": against,
            "margin": margin,
            "rolled": side.rolled,
            "acting": turn == 0,
            "points": menu.points,
        }
        if ledger.raising is not None:
            facts |= ledger.raising.prospects(turn)
        elif margin is not None and window.settles is not None:
            facts |= _prospects(table, margin, turn, ledger.settings.bonus, window.settles)
        answer = ask(run, Question(side.label, menu.member, menu.options, text, True, facts, moot=is_moot))
        if answer == NO:
            continue
        name, _, how = answer.partition(":")
        spent = _spent(run.state, ledger, turn, menu.choices[name], against=other.members)
        if how == REROLL and ledger.raising is None:
            return replace(window, ledger=spent, rerolls=turn)
        changed = _changed(table, side, turn, ledger, 0 if how == REROLL else ledger.settings.bonus)
        return replace(window, sides=_with_side(window, turn, changed), ledger=spent)
    return window


def _prospects(table: Table, margin: int, turn: int, bonus: int, settles: Settles) -> dict[str, Any]:
    """Return the prospects of a side where a tie counts as a success or a failure; else nothing."""
    name, facts = settles
    if not isinstance(facts, Map):
        return {}
    won, tied, lost = (table.rules.settling.outcome_of(name, its) for its in (1, 0, -1))
    if tied not in (won, lost):
        return {}
    least = 0 if (tied == won) == (turn == 0) else 1  # a tie helps this side, or the other one
    return prospects(margin, bonus, enough=least, safe=least)


def _is_moot(table: Table, window: Window, offer: Offer, settles: Settles) -> bool:
    """Tell whether nothing that a side is offered can change what the margin comes to."""
    if table.run.asked in MEASURED:
        return False
    sides, turn, settings = window.sides, window.turn, window.ledger.settings
    side, most = sides[turn], settings.bonus * offer.uses
    if side.rolled is not None and side.dice is not None and settings.reroll:
        most += _highest(side.dice) - side.rolled
    name, facts_of = settles
    return table.rules.settling.is_fixed(name, facts_of, tuple([one.height for one in sides]), turn, most)


@lru_cache(maxsize=64)
def _highest(dice: Dice) -> int:
    try:
        return dice.law.values[-1] if not dice.law.open else FAR
    except LawSizeError:
        return FAR


def _changed(table: Table, side: Side, turn: int, ledger: Ledger, bonus: int) -> Side:
    """Return the side that has invoked something, raised by a bonus, or with its dice rerolled where that is 0."""
    if ledger.raising is not None:
        return ledger.raising.changed(side, turn, bonus)
    if bonus or side.dice is None or side.rolled is None:
        return replace(side, total=side.total + bonus)
    rolled = table.roll(side.dice, side.dice_label, by=side.by or side.members[0])
    return replace(side, total=side.total - side.rolled + rolled, rolled=rolled)


def _with_side(window: Window, turn: int, side: Side) -> tuple[Side, ...]:
    """Return the sides of a window with another in the place of one."""
    return (*window.sides[:turn], side, *window.sides[turn + 1 :])


def _other(sides: Sequence[Side], turn: int) -> Side:
    """Return what a side is up against: of several the highest, with the members of all."""
    if len(sides) == 2:
        return sides[1 - turn]
    others = [side for number, side in enumerate(sides) if number != turn]
    highest = max(others, key=lambda side: side.height)
    return replace(highest, members=tuple(member for side in others for member in side.members))


def means_of(state: State, members: tuple[str, ...], member: str, ledger: Ledger) -> Means:
    """Return with what a member of a side can invoke, before anything is used up (hashable)."""
    means = ledger.means.get((members, member))
    if means is None:
        means = state.glance(_means_of, members, member, ledger.settings, ledger.has_absent, ledger.pays)
        ledger.means[members, member] = means
    return means


class Unnamed(msgspec.Struct, frozen=True):
    """A ledger in which aspects are called by their order alone, so that odds find equal rolls again.

    Attributes:
        ledger: the ledger, with the means.
        means: with what each member can invoke, on behalf of whom (hashable).
        names: what the aspects are called, by what they are called here.
    """

    ledger: Ledger
    means: tuple[Means, ...]
    names: Mapping[str, str]


def without_names(state: State, sides: Sequence[tuple[str, ...]], ledger: Ledger, *, by_facts: bool) -> Unnamed:
    """Return a ledger in which aspects are called by their order alone.

    Args:
        sides: who may invoke.
        ledger: on which nothing has been invoked.
        by_facts: whether everybody who decides takes no notice of names; else the aspects keep theirs.
    """
    whose = tuple(
        dict.fromkeys((members, member) for side in sides for member in side for members in (side, (member,)))
    )
    means, names = tuple([means_of(state, members, member, ledger) for members, member in whose]), EMPTY
    if by_facts:
        means, names = _without_names(means)
    return Unnamed(ledger.with_(means=dict(zip(whose, means, strict=True))), means, names)


@lru_cache(maxsize=4096)
def _without_names(means: tuple[Means, ...]) -> tuple[tuple[Means, ...], Map[str, str]]:
    tags = in_order(tuple({tag.slug: tag for one in means for _, tag in one.tags}.values()))
    stand_ins = {tag.slug: replace(tag, name=f"Aspect {number:03}") for number, tag in enumerate(tags)}
    found = list[Means]()
    for one in means:
        choices = tuple([replace(choice, tag=(tag := stand_ins[choice.name]), name=tag.slug) for choice in one.choices])
        found.append(replace(one, tags=tuple([(choice.name, choice.tag) for choice in choices]), choices=choices))
    return tuple(found), Map({stand_ins[tag.slug].name: tag.name for tag in tags})


def _choices(state: State, members: tuple[str, ...], member: str, ledger: Ledger, turn: int) -> Sequence[Choice]:
    """Return what one member of a side may invoke now: free while a member of the side has a free use, else paid."""
    means = means_of(state, members, member, ledger)
    if not (ledger.uses or ledger.paid or ledger.points):
        return means.choices
    most_free, points = ledger.most_free, means.left(ledger)
    found: list[Choice] = []
    for name, tag in means.tags:
        used, paid = ledger.free.get((turn, name), 0), (turn, name) in ledger.paid
        if most_free is not None and (paid or used >= most_free):
            continue
        free = [one for one in means.holders if tag.uses.get(one, 0) > ledger.uses.get((name, one), 0)]
        if free:
            found.append(Choice(tag, name, member, free[0]))
        elif points > 0 and tag.kind != BOOST and not paid and not (used and most_free is not None):
            found.append(Choice(tag, name, member, ""))
    return found


def _means_of(
    state: State, members: tuple[str, ...], member: str, settings: AspectSettings, has_absent: bool, pays: bool | None
) -> Means:
    """Return with what a member of a side can invoke, before anything is used up.

    Aspects that only a point could pay for are left out where nobody pays, or where as many come before them as all
    the points of the side can pay for: no turn, and no odds of one, then depend on them.
    """
    seat = state.seat_of(member)
    holders = (member, *members, GM) if seat == GM else (member, *members)
    points, choices = points_of(state, member, settings), list[Choice]()
    purses = dict.fromkeys([purse_of(state, one) for one in holders]) if pays else ()
    left = FAR if pays is None else sum([points_of(state, purse, settings) for purse in purses])
    for tag in in_order(state.tags):
        if tag.kind not in INVOKABLE or not is_known(tag, seat):
            continue
        if not has_absent and tag.on in state.characters and state.characters[tag.on].is_out:
            continue
        free = [one for one in holders if tag.uses.get(one, 0) > 0]
        if not free:
            if points < 1 or left < 1 or tag.kind == BOOST:
                continue
            left -= pays is not None
        choices.append(Choice(tag, tag.slug, member, free[0] if free else ""))
    tags = tuple([(choice.name, choice.tag) for choice in choices])
    # How often one that is hidden can be used shows in no question that is skipped.
    hidden = FAR * any(choice.tag.audience is not None for choice in choices)
    uses = hidden + sum([choice.tag.uses.get(one, 0) for choice in choices for one in {*holders}])
    return Means(tags, holders, purse_of(state, member), points, tuple(choices), uses)


def _offered(state: State, sides: Sequence[Side], turn: int, ledger: Ledger) -> Offer:
    """Return what the members of a side are offered now, against the others."""
    return _offer(state, sides[turn], ledger, turn, _other(sides, turn).members)


def _offer(state: State, side: Side, ledger: Ledger, turn: int, against: tuple[str, ...]) -> Offer:
    key = turn, side.members, side.rolled is not None, against
    known = ledger.offers.get(key)
    if known is not None:
        return known
    menus, uses, ways = list[Menu](), 0, 2 if side.rolled is not None and ledger.settings.reroll else 1
    for member in side.members:
        means = means_of(state, side.members, member, ledger)
        uses += means.free + means.points
        choices = {choice.name: choice for choice in _choices(state, side.members, member, ledger, turn)}
        options, firsts = list[Option](), dict[Hashable, str]()
        for choice in choices.values():
            tag, like = choice.tag, ""
            if not choice.holder:  # a point for one or another comes to the same, unless it goes to who opposes
                paid_to = tag.on if tag.on in against else ""
                first = firsts.setdefault((tag.kind, paid_to, tag.audience), choice.name)
                like = first if first != choice.name else ""
            is_free = bool(choice.holder)
            options += _option_pair(tag.name, tag.kind, tag.on, ledger.settings, is_free=is_free, like=like)[:ways]
        if choices:
            menus.append(Menu(member, means.left(ledger), choices, tuple(options)))
    uses -= len([one for one, _ in ledger.paid if one == turn])
    uses -= sum([count for (one, _), count in ledger.free.items() if one == turn])
    offer = ledger.offers[key] = Offer(tuple(menus), uses)
    return offer


@lru_cache(maxsize=1024)
def _option_pair(
    text: str, kind: str, on: str, settings: AspectSettings, *, is_free: bool, like: str
) -> tuple[Option, Option]:
    """Return the two ways to invoke an aspect: for a bonus, and for new dice."""
    price, short = ("free", "free") if is_free else (f"for {settings.a_point}", "1 point")
    name, cost, facts = slug(text), int(not is_free), Map({"free": is_free, "kind": kind, "reroll": False})
    owner = on if on != SCENE else ""
    told = f"{text}: +{settings.bonus}, {price}"
    bonus = Option(name, told, 0, facts, brief=text, cost=cost, price=short, of=owner, like=like)
    rerolled = f"{text}: new dice, {price}"
    facts = facts.with_("reroll", True)
    like = like and f"{like}:{REROLL}"
    return bonus, replace(bonus, name=f"{name}:{REROLL}", text=rerolled, facts=facts, like=like)


def _spent(state: State, ledger: Ledger, turn: int, choice: Choice, *, against: Sequence[str]) -> Ledger:
    """Return the ledger with one more invocation; always the same, so that it knows what is offered then."""
    key = turn, choice.name, choice.member, choice.holder, tuple(against)
    known = ledger.after.get(key)
    if known is None:
        known = ledger.after[key] = _with_one_more(state, ledger, turn, choice, against=against)
    return known


def _with_one_more(state: State, ledger: Ledger, turn: int, choice: Choice, *, against: Sequence[str]) -> Ledger:
    name, text = choice.name, choice.tag.name
    shown = effect("aspect", change="revealed", name=text)  # it is named to everybody
    if choice.tag.audience is not None and shown not in ledger.effects:
        ledger = ledger.with_(effects=(*ledger.effects, shown))
    if choice.holder:
        use, free = (name, choice.holder), (turn, name)
        cost = effect("free-invoke", to=choice.holder, count=-1, on=text)
        return ledger.with_(
            uses=ledger.uses.with_(use, ledger.uses.get(use, 0) + 1),
            free=ledger.free.with_(free, ledger.free.get(free, 0) + 1),
            effects=(*ledger.effects, cost),
        )
    purse, kind = purse_of(state, choice.member), ledger.settings.point
    costs, owner = [effect(kind, to=purse, change=-1, on=text)], choice.tag.on
    if owner in against and owner in state.characters:
        # paid for and used against its owner: the point is the owner's, from the next scene on
        costs.append(effect(kind, to=purse_of(state, owner), change=1, on=text, **{"from": "next-scene"}))
    return ledger.with_(
        points=ledger.points.with_(purse, ledger.points.get(purse, 0) + 1),
        paid=ledger.paid | {(turn, name)},
        effects=(*ledger.effects, *costs),
    )


def _faded(table: Table, sides: Iterable[Side], ledger: Ledger) -> Iterator[Effect]:
    """Yield the end of every boost whose holder could have used it in this window and did not."""
    for turn, side in enumerate(sides):
        for member in side.members:
            for choice in _choices(table.state, (member,), member, ledger, turn):
                if choice.tag.kind == BOOST:
                    yield effect("aspect", change="removed", name=choice.tag.name)
