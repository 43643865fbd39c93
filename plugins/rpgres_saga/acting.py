"""One hero's action against a difficulty, opposed or not: by itself, and as a part of an exchange.

Lines of the text (`rulesets/saga/SOURCES.md`) as `S:n`, rows of the list of rulings there as `R:n`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rpgres import Character, Map, Opposition, Outcome, Rating, Table, named
from rpgres_saga.difficulty import (
    doom_before_play,
    gm_card,
    levels,
    lowered,
    met_by_doom,
    needed,
    plain,
    put_gm_card_away,
    threat,
)
from rpgres_saga.hands import GM_CARD, TRUMPLESS, Hero, fill, hero_of, require_able
from rpgres_saga.playing import Goal, Stand, clean_up, play_through
from rpgres_saga.switches import Switches


def act(
    table: Table,
    actor: Character,
    *,
    ability: Rating,
    vs: Opposition | None,
    opposing: Opposition | None = None,
    skilled: bool = False,
    skill: Sequence[str] = (),
    trump: str | None = None,
    edge: int | None = None,
    dire: bool = False,
) -> Outcome:
    """Play cards against a difficulty, opposed or not (S:1-S:16)."""
    base = lowered(table.rules, plain(vs, named("vs")), levels(table.rules, actor, skilled=skilled, skills=skill))
    plain(opposing, named("opposing"))
    require_able(actor)
    is_first = not table.count(GM_CARD)
    hero = hero_of(table, actor, ability, trump=trump, edge=edge)
    return acted(table, actor, hero, base=base, opposing=opposing, dire=dire, is_alone=is_first)


def acted(
    table: Table,
    actor: Character,
    hero: Hero,
    *,
    base: int,
    opposing: Opposition | None,
    dire: bool,
    is_alone: bool = False,
) -> Outcome:
    """Return the result of an action, after which cards are put away and the hand is full again.

    Args:
        base: the difficulty, with what skills take off.
        opposing: the ability in the way; None for an unopposed action.
        dire: whether the hero may push.
        is_alone: whether it revealed the game master's card, which then goes with it unless an exchange is open.
    """
    rules = table.rules
    difficulty = base + (opposing.value if opposing is not None else 0) + gm_card(table, opposing)
    used = doom_before_play(table, difficulty)
    goal = Goal(needed(rules, difficulty + used), threat(table, is_open=not used))
    stand = play_through(table, hero, goal, may_push=dire or rules.switches(Switches).push_free)
    stand, raised = met_by_doom(table, hero, stand, goal, used=used)
    outcome = _judged(table, actor, opposing, stand, difficulty + used + raised)
    outcome = outcome.plus(clean_up(table, hero, stand))
    put_gm_card_away(table, is_first=is_alone)
    fill(table, hero, places=len(stand.pushed))
    return outcome


def _judged(table: Table, actor: Character, opposing: Opposition | None, stand: Stand, difficulty: int) -> Outcome:
    """Return what the outcome table says for a total against a difficulty."""
    opponent = (opposing.character if opposing is not None else "") or "opponent"
    opposed = "yes" if opposing is not None else "no"
    return table.settle(
        "act",
        stand.total - difficulty,
        total=stand.total,
        opposition=difficulty,
        roles=Map({"actor": actor.name, "opponent": opponent}),
        facts=Map({"mishap": _mishap(table, stand, difficulty), "opposed": opposed}),
        band=table.rules.band_of(stand.total - needed(table.rules, difficulty)),
    )


def _mishap(table: Table, stand: Stand, difficulty: int) -> str:
    """Tell whether a mishap happens: by a played card of the suit that misfires (R:4.5)."""
    when = table.rules.switches(Switches).mishap_on
    misfires = any(card.suit in TRUMPLESS for card in stand.played)
    fails = stand.total < needed(table.rules, difficulty)
    return "yes" if misfires and (when == "any" or (when == "fail" and fails)) else "no"
