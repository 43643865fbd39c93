"""What a hero has to reach: the difficulty, skills, the game master's card, and doom.

Lines of the text (`rulesets/saga/SOURCES.md`) as `S:n`, rows of the list of rulings there as `R:n`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from rpgres import GM, NO, Character, Effect, Map, Opposition, Rating, Rules, Table, UsageError, effect, named, slug
from rpgres_saga.hands import BANK, DECK, DISCARD, GM_CARD, REMOVED, Hero, discard, fill, hero_of
from rpgres_saga.playing import ENDLESS, Goal, Stand, card_options, play
from rpgres_saga.switches import Switches

EXCHANGE = "exchange"


def plain(one: Opposition | None, option: str) -> int:
    """Return a difficulty or an ability as a number; nothing in the way is 0.

    Raises:
        UsageError: it is dice.
    """
    if one is None:
        return 0
    if one.dice is not None:
        raise UsageError(f"{option} takes a number or a rung, not dice")
    return one.value


def levels(rules: Rules, actor: Character, *, skilled: bool, skills: Sequence[str]) -> int:
    """Return how many levels skills take off the difficulty (S:6): one, however many fit.

    Raises:
        UsageError: a skill is not on the sheet.
    """
    known = {slug(name): name for name in actor.records.get("skills", Map())}
    for name in skills:
        if slug(name) not in known:
            listed = ", ".join(known.values()) or "none"
            raise UsageError(
                f"{actor.name}'s sheet has no skill {name!r}; it has: {listed}. Use {named('skilled')} for a "
                "skill that is not listed"
            )
    count = len({slug(name) for name in skills}) + (1 if skilled else 0)
    return count if rules.switches(Switches).skills_stack else min(count, 1)


def lowered(rules: Rules, base: int, levels: int) -> int:
    """Return a difficulty some levels lower, never below 0 (S:6)."""
    step = rules.file.settings["step"]
    rungs = sorted(rules.file.ladder.values())
    for _ in range(levels):
        if rules.switches(Switches).skill_snap:
            base = max((rung for rung in rungs if rung < base), default=0)
        else:
            base -= step
    return max(0, base)


def needed(rules: Rules, difficulty: int) -> int:
    """Return the total that is enough: the difficulty itself (S:8), or one more where a tie fails (R:35)."""
    return difficulty + (1 if rules.switches(Switches).tie == "fail" else 0)


def gm_card(table: Table, opposing: Opposition | None) -> int:
    """Return what the game master's card adds: revealed for an opposed action, kept for the exchange (S:13)."""
    rules = table.rules
    switches = rules.switches(Switches)
    if switches.gm_card == "none":
        return 0
    is_opposed = opposing is not None
    if is_opposed and not table.count(GM_CARD):
        card = table.draw(DECK, to=GM_CARD, label="gm-card", by=GM)
        while card is not None and switches.gm_card_trumps:
            suit = opposing.ability if opposing is not None else ""
            if not suit or card.suit not in (suit, rules.file.settings["trumps"].get(suit, "")):
                break
            card = table.draw(DECK, to=GM_CARD, label="gm-card", by=GM)
    if not is_opposed and switches.gm_card_opposed_only:
        return 0
    return sum(card.value or 0 for card in table.cards(GM_CARD))


def put_gm_card_away(table: Table, *, is_first: bool) -> None:
    """Put the game master's card away after an action, unless the exchange goes on (S:13).

    Args:
        is_first: whether the action turned it up: without an exchange it is one of its own.
    """
    if table.rules.switches(Switches).gm_card == "action" or (is_first and EXCHANGE not in table.state.periods):
        clear_gm_card(table)


def clear_gm_card(table: Table) -> None:
    """Put the game master's card away."""
    discard(table, table.cards(GM_CARD), source=GM_CARD, banked=table.rules.switches(Switches).bank_gm_doom)


def threat(table: Table, *, is_open: bool) -> int:
    """Return by how much the game master can still raise a difficulty, as far as the players can tell.

    What they cannot see may be anything; else being asked or not would tell them.
    """
    switches = table.rules.switches(Switches)
    if switches.doom_timing != "any" or not table.count(BANK):
        return 0
    if switches.doom_hidden:
        return ENDLESS
    values = [card.value or 0 for card in table.cards(BANK)]
    if switches.doom_max_per_action == "one":
        return max(values) if is_open else 0
    return sum(values)


def doom(table: Table, *, lead: int | None = None, needed: int | None = None) -> int:
    """Return by how much the game master raises the difficulty with cards of the bank (S:11, R:16).

    Args:
        lead: by how much the hero is over what is needed; None before cards are played.
        needed: what has to be reached so far, where cards are still to be played.
    """
    switches = table.rules.switches(Switches)
    raised = 0
    used = REMOVED if switches.doom_removed else DISCARD
    while lead is None or raised <= lead:
        cards = table.cards(BANK)
        facts: dict[str, Any] = {"needed": needed} if lead is None else {"lead": lead - raised}
        options = card_options(cards)
        chosen = table.ask("doom", GM, options, text="Use doom?", optional=True, **facts)
        if chosen == NO:
            break
        card = next(card for card in cards if card.short == chosen)
        table.move([card], source=BANK, to=used, by=GM, label="doom")
        raised += card.value or 0
        if switches.doom_max_per_action == "one":
            break
    return raised


def doom_before_play(table: Table, difficulty: int) -> int:
    """Return by how much the game master raises a difficulty before cards are played, where that is when she does."""
    is_time = table.rules.switches(Switches).doom_timing == "before_play"
    return doom(table, needed=needed(table.rules, difficulty)) if is_time else 0


def may_use_more(rules: Rules, used: int) -> bool:
    """Tell whether the game master may use doom after so much of it (R:16)."""
    return not used or rules.switches(Switches).doom_max_per_action == "any"


def met_by_doom(table: Table, hero: Hero, stand: Stand, goal: Goal, *, used: int, sign: int = 1) -> tuple[Stand, int]:
    """Return the play after the game master has met it with doom, as long as that may turn it, and what that added.

    Args:
        hero: who played last.
        stand, goal: where that stands, and what it had to reach.
        used: how much doom was used before.
        sign: whether more difficulty raises (1) or lowers (-1) what has to be reached, or does nothing to it (0).
    """
    rules = table.rules
    switches = rules.switches(Switches)
    assert goal.need is not None
    moved = 0
    while sign and switches.doom_timing == "any" and may_use_more(rules, used):
        ahead = stand.total - goal.need - moved
        raised = doom(table, lead=ahead if sign == 1 else -1 - ahead)
        used, moved = used + raised, moved + sign * raised
        if not raised or sign != 1 or not switches.doom_reopens_play:
            break
        again = threat(table, is_open=may_use_more(rules, used))
        stand = play(table, hero, stand, msgspec.structs.replace(goal, need=goal.need + moved, threat=again))
    return stand, moved


# ---------------------------------------------------------------------------------------------------------------------
# The end of an exchange


def closing(table: Table) -> list[Effect]:
    """Put the game master's card away at the end of an exchange, and return what was pushed for it (S:13, R:27)."""
    clear_gm_card(table)
    return recovered(table) if table.rules.switches(Switches).push_recovery == "exchange" else []


def recovered(table: Table) -> list[Effect]:
    """Fill hands with the places that were lost by pushing, and return that they are back."""
    effects = []
    for character in table.state.characters.values():
        places = character.counters.get("pushed", 0)
        if places:
            hero = hero_of(table, character, Rating(0))
            fill(table, msgspec.structs.replace(hero, size=hero.size + places))
            effects.append(effect("regain", to=character.name, count=places, recovery="scene"))
    return effects
