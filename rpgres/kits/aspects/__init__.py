"""The kit `aspects`: aspects, boosts and what pays for invoking them; the invoke window, and the effects.

An aspect is a `Tag`; its free invocations are the tag's uses. The points are a counter of a character, or of the table
for the game master. Nothing here knows actions, skills or outcome tables. A ruleset without code has all of it by
`kits = ["aspects"]`.

Source: Fate Core, "Invoking & Compelling Aspects" and "The Fate Point Economy" (fate-srd.com); the seed text, line 19.
"""

from __future__ import annotations

from functools import partial

from rpgres.kits.aspects import policies
from rpgres.kits.aspects.described import WINDOW, complete, invoke, means, named_by_maker, opens
from rpgres.kits.aspects.effects import (
    begin_scene,
    change_aspect,
    change_free_invokes,
    change_points,
    fade,
    gain_boost,
    paid,
)
from rpgres.kits.aspects.invoking import (
    FREE_TOGETHER,
    INVOKABLE,
    NOBODY,
    REROLL,
    Ledger,
    Settles,
    Side,
    Unnamed,
    Window,
    can_invoke,
    costs_of,
    essence,
    idle_kinds,
    invoke_among,
    invoke_step,
    invoke_window,
    is_never_invoked,
    means_of,
    new_ledger,
    no_window,
    raised_from_nothing,
    without_names,
)
from rpgres.kits.aspects.names import (
    AFTER,
    BOOST,
    DEFAULTS,
    LATER,
    UNNAMED,
    AspectSettings,
    AspectSwitches,
    check_spelling,
    distinct_name,
    has_any,
    hidden_tag,
    in_order,
    lay,
    points_of,
    seen_tag,
    with_names,
)
from rpgres.rulesets import Ruleset
from rpgres.rulesets.kits import Kit

__all__ = [
    "AFTER",
    "BOOST",
    "DEFAULTS",
    "FREE_TOGETHER",
    "INVOKABLE",
    "KIT",
    "LATER",
    "NOBODY",
    "REROLL",
    "UNNAMED",
    "AspectSettings",
    "AspectSwitches",
    "Ledger",
    "Settles",
    "Side",
    "Unnamed",
    "Window",
    "can_invoke",
    "change_aspect",
    "change_free_invokes",
    "change_points",
    "check_spelling",
    "costs_of",
    "distinct_name",
    "essence",
    "fade",
    "gain_boost",
    "has_any",
    "hidden_tag",
    "idle_kinds",
    "in_order",
    "invoke_among",
    "invoke_step",
    "invoke_window",
    "is_never_invoked",
    "lay",
    "means_of",
    "named_by_maker",
    "new_ledger",
    "no_window",
    "paid",
    "points_of",
    "policies",
    "raised_from_nothing",
    "register",
    "seen_tag",
    "with_names",
    "without_names",
]


def register(ruleset: Ruleset, settings: AspectSettings) -> None:
    """Register the kit's effects, window, policies and house rules with a ruleset."""
    ruleset.switches(AspectSwitches)
    ruleset.effect("new-scene")(partial(begin_scene, settings=settings))
    ruleset.effect("fade")(fade)
    ruleset.effect("boost")(gain_boost)
    ruleset.effect("aspect")(change_aspect)
    ruleset.effect("free-invoke")(change_free_invokes)
    ruleset.effect(settings.point)(partial(change_points, settings=settings))
    ruleset.window(WINDOW, opens=opens, means=means)(invoke)
    ruleset.completes(complete)
    ruleset.policy("sensible")(policies.sensible)
    ruleset.policy("thrifty")(policies.thrifty)
    ruleset.canon("tags")(in_order)
    ruleset.idle(idle_kinds)


KIT = Kit("aspects", register, AspectSettings)
