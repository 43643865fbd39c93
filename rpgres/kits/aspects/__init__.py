"""The kit `aspects`: aspects, boosts and what pays for invoking them; the invoke window, and the effects.

An aspect is a `Tag`; its free invocations are the tag's uses. The points are a counter of a character, or of the table
for the game master. Nothing here knows actions, skills or outcome tables. A ruleset without code has all of it by
`kits = ["aspects"]`.

Source: Fate Core, "Invoking & Compelling Aspects" and "The Fate Point Economy" (fate-srd.com); the seed text, line 19.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rpgres.kits.aspects import policies
from rpgres.kits.aspects.effects import (
    begin_scene,
    begin_session,
    change_aspect,
    change_free_invokes,
    change_points,
    fade,
    gain_boost,
)
from rpgres.kits.aspects.names import (
    BOOST,
    FOUND,
    LABELS,
    UNNAMED,
    AspectSettings,
    AspectSwitches,
    check_spelling,
    distinct_name,
    goes_with_scene,
    has_any,
    hidden_tag,
    idle_kinds,
    in_order,
    is_never_invoked,
    points_of,
    public_on,
    seen_tag,
    with_names,
)
from rpgres.rulesets import Ruleset
from rpgres.rulesets.kits import Kit

if TYPE_CHECKING:
    from rpgres.kits.aspects.described import named_by_maker, renamed_by_maker
    from rpgres.kits.aspects.invoking import (
        can_any_invoke,
        can_invoke,
        costs_of,
        essence,
        invoke_among,
        invoke_on,
        invoke_window,
        new_ledger,
        no_window,
        raised_from_nothing,
        without_names,
    )
    from rpgres.kits.aspects.windows import Ledger, Settles, Side, Window

__all__ = [
    "BOOST",
    "FOUND",
    "KIT",
    "LABELS",
    "UNNAMED",
    "Ledger",
    "Settles",
    "Side",
    "Window",
    "can_any_invoke",
    "can_invoke",
    "change_aspect",
    "change_free_invokes",
    "change_points",
    "check_spelling",
    "costs_of",
    "distinct_name",
    "essence",
    "gain_boost",
    "goes_with_scene",
    "has_any",
    "hidden_tag",
    "idle_kinds",
    "invoke_among",
    "invoke_on",
    "invoke_window",
    "is_never_invoked",
    "named_by_maker",
    "new_ledger",
    "no_window",
    "points_of",
    "policies",
    "public_on",
    "raised_from_nothing",
    "register",
    "renamed_by_maker",
    "seen_tag",
    "with_names",
    "without_names",
]


def __getattr__(name: str) -> Any:
    """Return a name of what is loaded when it is first used: a roll at a table without aspects has no window."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "windows" if name[0].isupper() else "described" if name.endswith("named_by_maker") else "invoking"
    value = globals()[name] = getattr(import_module(f"rpgres.kits.aspects.{home}"), name)
    return value


def _described(name: str) -> Callable[..., Any]:
    """Return a function of `described`, which is imported at the first call: an action with code needs none of it."""

    def call(*args: Any) -> Any:
        return getattr(import_module("rpgres.kits.aspects.described"), name)(*args)

    return call


def register(ruleset: Ruleset, settings: AspectSettings) -> None:
    """Register the kit's effects, window, policies and house rules with a ruleset."""
    ruleset.switches(AspectSwitches)
    ruleset.effect("new-scene")(partial(begin_scene, settings=settings))
    ruleset.effect("refresh")(partial(begin_session, settings=settings))
    ruleset.effect("fade")(partial(fade, settings=settings))
    ruleset.effect("boost")(gain_boost)
    ruleset.effect("aspect")(change_aspect)
    ruleset.effect("free-invoke")(change_free_invokes)
    ruleset.effect(settings.point)(partial(change_points, settings=settings))
    ruleset.window("invoke", opens=_described("opens"), means=_described("means"))(_described("invoke"))
    ruleset.completes(_described("complete"))
    ruleset.policy("sensible")(policies.sensible)
    ruleset.policy("thrifty")(policies.thrifty)
    ruleset.canon("tags")(in_order)


KIT = Kit("aspects", register, AspectSettings)
