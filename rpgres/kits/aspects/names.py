"""Aspects on a table: what they are called, who knows them, and what a ruleset may set of this kit.

An aspect is a `Tag`; its free invocations are the tag's uses. What an action says aloud is public, so aspects that only
some seats know are never touched by name, except to be revealed or used by a character whose seat knows them; a name
that is taken only in secret is free for other seats.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from rpgres.errors import UsageError
from rpgres.model.state import GM, SCENE, State, Tag, slug
from rpgres.rulesets import Effect
from rpgres.rulesets.kits import settings_of
from rpgres.rulesets.rows import Id, Record

if TYPE_CHECKING:
    from rpgres.engine.seats import Policies
    from rpgres.rulesets import Rules

REFRESH = "refresh"  # the counter of the points that a session begins with
BOOST = "boost"
SITUATION = "situation"  # an aspect that was created on a character, and goes with the scene
UNNAMED = "An Advantage"  # an aspect without a name
FOUND = "A Discovery"  # an aspect without a name that is found
LABELS = ("invoke", "invoke-against")  # the decisions to invoke: on the actor's side, and against it
LASTING = ("aspect", "consequence", SITUATION)  # the kinds of aspects, beside boosts


class AspectSettings(Record, frozen=True):
    """What a ruleset may set of the kit `aspects`, under `[settings.aspects]`.

    Attributes:
        points: the counter that pays for an invocation, as sheets have it; the kit's data are called after it.
        bonus: what an invocation adds.
        reroll: whether an invocation may throw the dice again in place of that.
    """

    points: Id = "fate-points"
    bonus: Annotated[int, msgspec.Meta(ge=1, le=100)] = 2
    reroll: bool = True

    @property
    def point(self) -> str:
        """The name of the effect that changes the counter: one of the points."""
        return self.points.removesuffix("s")

    @property
    def later(self) -> str:
        """The counter of points gained now, to be had from the next scene on."""
        return f"{self.points}-later"

    @property
    def after(self) -> str:
        """The counter of points gained now, to be had when the conflict is over."""
        return f"{self.points}-after"

    @property
    def a_point(self) -> str:
        """One of the points, for people: a point of luck is called luck."""
        words = self.point.replace("-", " ")
        return words if self.point == self.points else f"a {words}"


class AspectSwitches(msgspec.Struct, frozen=True, gc=False):
    """The house rules that the code of this kit reads; `rpgres/kits/data/aspects/ruleset.toml` explains them."""

    invoke_order: Literal["alternate", "actor-then-opponent"] = "alternate"
    boost_lifetime: Literal["scene", "next-chance"] = "scene"
    same_aspect: Literal["stack", "two-free"] = "stack"
    absent_aspects: Literal["gone", "stay"] = "gone"


DEFAULTS = AspectSettings()


def has_any(state: State) -> bool:
    """Tell whether anything on the table could be an aspect."""
    return bool(state.tags)


def points_of(state: State, who: str, settings: AspectSettings = DEFAULTS) -> int:
    """Return the points that a character can spend: their own, or the game master's where they have none."""
    purse = purse_of(state, who)
    counters = state.counters if purse == GM else state.characters[purse].counters
    return counters.get(settings.points, 0)


def purse_of(state: State, who: str) -> str:
    """Return whose points a character spends: their own, or the game master's."""
    return GM if state.seat_of(who) == GM else who


def in_order(tags: Sequence[Tag]) -> tuple[Tag, ...]:
    """Return aspects in the order of their names: nothing goes by the order in which they came, in play or in odds."""
    return tuple(tags) if len(tags) < 2 else tuple(sorted(tags, key=lambda tag: tag.slug))


def is_known(tag: Tag, seat: str) -> bool:
    """Tell whether a seat knows of a tag."""
    return tag.audience is None or seat in tag.audience


def seen_tag(state: State, who: str, name: str) -> Tag | None:
    """Return the tag of this name or slug, or None where the character's seat knows of none."""
    tag = state.tag(name)
    return tag if tag is not None and is_known(tag, state.seat_of(who)) else None


def hidden_tag(state: State, who: str, *, on: str = "") -> Tag | None:
    """Return the first aspect by name that the seat does not know of, or None; with `on` of one character."""
    seat = state.seat_of(who)
    for tag in in_order(state.tags):
        if tag.kind != BOOST and not is_known(tag, seat) and on in ("", tag.on):
            return tag
    return None


def check_spelling(state: State, who: str, name: str) -> None:
    """Refuse a name that no known aspect has, when one of them has nearly that name.

    Raises:
        UsageError: says which one may be meant.
    """
    if seen_tag(state, who, name) is not None:
        return
    from rpgres.toml.diagnostics import nearest

    known = {tag.slug: tag.name for tag in state.seen_by(state.seat_of(who)).tags}
    near = nearest(slug(name), known)
    if near is not None:
        raise UsageError(f"no aspect here is called {name!r}; did you mean {known[near]!r}?")


def distinct_name(state: State, name: str) -> str:
    """Return the name, or with a number behind it when a public tag has it already."""
    if public_tag(state, name) is None:
        return name
    number = 2
    while public_tag(state, f"{name} {number}") is not None:
        number += 1
    return f"{name} {number}"


def public_tag(state: State, name: str) -> Tag | None:
    """Return the tag of this name or slug that every seat knows, or None."""
    tag = state.tag(name)
    return tag if tag is not None and tag.audience is None else None


def public_on(state: State, places: Collection[str]) -> tuple[Tag, ...]:
    """Return the aspects on some characters or the scene that every seat knows; boosts are none."""
    there = [tag for tag in state.tags if tag.audience is None and tag.on in places and tag.kind in LASTING]
    return in_order(there)


def goes_with_scene(tag: Tag) -> bool:
    """Tell whether an aspect is there for the scene: one that was created in play, or is the scene's."""
    return tag.kind == SITUATION or (tag.kind, tag.on) == ("aspect", SCENE)


def lay(state: State, tag: Tag) -> State:
    """Return the state with a public tag added."""
    return state.with_room(tag.name).with_tag(tag)


def replaced(state: State, old: Tag, new: Tag) -> State:
    """Return the state with a tag in the place of another."""
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
    if not effects:
        return ()
    now: dict[str, str] = {}  # by slug: what an aspect is called after the effects so far
    named = []
    for one in effects:
        kind, name = one["kind"], one.get("name", "")
        if kind == "free-invoke" and slug(one.get("on", "")) in now:
            one = one.with_("on", now[slug(one["on"])])
        elif kind == "aspect" and one["change"] == "altered":
            one = one if "becomes" in one else one.with_("becomes", becomes or f"{name}, for the Worse")
            now[slug(name)] = one["becomes"]
        elif kind == "aspect" and one["change"] == "created":
            there = public_tag(state, name)
            if there is not None and there.kind != BOOST:
                now[slug(name)] = distinct_name(state, name)
                one = one.with_("name", now[slug(name)])
        named.append(one)
    return tuple(named)


def is_never_invoked(rules: Rules, policies: Policies) -> bool:
    """Tell whether these policies invoke nothing, so that invoke windows change nothing and cost nothing."""
    return policies.are_preferred(*LABELS) and rules.switches(AspectSwitches).boost_lifetime != "next-chance"


def idle_kinds(rules: Rules, policies: Policies) -> Collection[str]:
    """Return what makes no difference to a procedure: boosts, where nothing is invoked, and points for later."""
    kinds = (BOOST,) if policies.is_preferred and is_never_invoked(rules, policies) else ()
    settings = settings_of(rules, "aspects", AspectSettings)
    return (*kinds, f"counters.{settings.later}", f"counters.{settings.after}") if policies.by_question else kinds
