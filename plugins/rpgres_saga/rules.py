"""The actions of Saga, each a plain function that plays at a table. No outcome's name stands here.

Lines of the text (`rulesets/saga/SOURCES.md`) as `S:n`, rows of the list of rulings there as `R:n`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from itertools import combinations
from typing import Any

import msgspec

from rpgres import (
    GM,
    NO,
    QUESTIONS,
    Card,
    Character,
    Effect,
    Map,
    Opposition,
    Option,
    Outcome,
    Rating,
    Rules,
    Ruleset,
    State,
    Table,
    UsageError,
    effect,
    put,
    slug,
)
from rpgres_saga.hands import (
    BANK,
    DECK,
    DISCARD,
    GM_CARD,
    IN_PLAY,
    OTHER_HAND,
    REMOVED,
    TRUMPLESS,
    Hero,
    discard,
    fill,
    has_points,
    hero_of,
    is_doom,
    lost,
    powers_of,
    suits_of,
)
from rpgres_saga.playing import ENDLESS, Goal, Stand, card_options, play, push
from rpgres_saga.policies import lavish, sensible
from rpgres_saga.switches import Switches

EXCHANGE = "exchange"
ALL = Option("all", "every card of the hand")

saga = Ruleset("saga")
saga.switches(Switches)
saga.policy("sensible")(sensible)
saga.policy("lavish")(lavish)


@saga.prepare
def with_powers(_rules: Rules, character: Character) -> Character:
    """Return the character with each power among its abilities, by its intensity."""
    powers = {slug(name): power["intensity"] for name, power in powers_of(character)}
    return put(character, ("abilities",), Map({**powers, **character.abilities})) if powers else character


@saga.prepare
def with_hand_size(rules: Rules, character: Character) -> Character:
    """Return the character with the size of a full hand, where the sheet leaves it to the edge."""
    counters = character.counters
    size = counters.get("hand-size", 0) or counters.get("edge", 0) + rules.file.settings["hand-over-edge"]
    if counters.get("health", 0):  # the game master's, without a hand
        size = counters.get("hand-size", 0)
    return put(character, ("counters",), counters.with_("hand-size", size))


@saga.lump("act", holds=QUESTIONS)
def alike(rules: Rules, card: Card, **parameters: Any) -> tuple[str, int]:
    """Cards are told apart by value, by being trump, and by their suit where else that counts before the result."""
    opposing = parameters.get("opposing")
    apart = suits_of(rules, parameters.get("trump") or parameters["ability"].name)
    if opposing is not None and rules.switches(Switches).gm_card_trumps:
        apart |= suits_of(rules, opposing.ability)
    return _suit_if(rules, card, apart), card.value or 0


@saga.lump("versus", holds=QUESTIONS)
def alike_to_both(rules: Rules, card: Card, **parameters: Any) -> tuple[str, int]:
    """Cards are told apart by value, by being somebody's trump, and by their suit where else that counts."""
    apart = suits_of(rules, parameters.get("trump") or parameters["ability"].name, parameters["against"].ability)
    if parameters.get("rounds", 1) > 1 and rules.switches(Switches).doom_bank:
        apart |= frozenset(TRUMPLESS)  # what is played in one round may be used in the next
    return _suit_if(rules, card, apart), card.value or 0


def _suit_if(rules: Rules, card: Card, apart: Set[str]) -> str:
    """Return a card's suit where it is one of these, or one of no ability that counts; empty for all others."""
    return card.suit if card.suit in apart or (card.suit in TRUMPLESS and _counts_trumpless(rules)) else ""


def _counts_trumpless(rules: Rules) -> bool:
    """Tell whether it matters before the result that a card is of no ability's suit."""
    switches = rules.switches(Switches)
    counts_otherwise = switches.doom_worth_zero or switches.desperate_attack or switches.bank_trump_doom
    return counts_otherwise or switches.doom_available == "immediate" or switches.mishap_on != "none"


# ---------------------------------------------------------------------------------------------------------------------
# Act


@saga.action("act")
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
    rules = table.rules
    switches = rules.switches(Switches)
    base = _plain(vs, "--vs")
    levels = _levels(rules, actor, skilled=skilled, skills=skill)
    _require_able(actor)
    is_first = not table.count(GM_CARD)
    hero = hero_of(table, actor, ability, trump=trump, edge=edge)
    difficulty = _lowered(rules, base, levels)
    if opposing is not None:
        difficulty += _plain(opposing, "--opposing")
    difficulty += _gm_card(table, opposing)
    used = 0
    if switches.doom_timing == "before_play":
        used = _doom(table, needed=_needed(rules, difficulty))
        difficulty += used
    may_push = dire or switches.push_free
    stand = Stand(hero.ability)
    goal = Goal(_needed(rules, difficulty), _threat(table, is_open=not used))
    if may_push and switches.push_timing == "before":
        stand = push(table, hero, stand, goal)
    stand = play(table, hero, stand, goal)
    if may_push and switches.push_timing == "after_total":
        stand = push(table, hero, stand, goal)
    stand, raised = _met_by_doom(table, hero, stand, goal, used=used)
    difficulty += raised
    outcome = table.settle(
        "act",
        stand.total - difficulty,
        total=stand.total,
        opposition=difficulty,
        roles=_roles(actor, opposing),
        facts=Map({"mishap": _mishap(table, stand, difficulty), "opposed": "yes" if opposing is not None else "no"}),
        band=rules.band_of(stand.total - _needed(rules, difficulty)),
    )
    outcome = outcome.plus(_clean_up(table, hero, stand))
    _put_gm_card_away(table, is_first=is_first)
    fill(table, hero, places=len(stand.pushed))
    return outcome


def _require_able(actor: Character) -> None:
    """Check that somebody is not out.

    Raises:
        UsageError: they are.
    """
    if actor.is_out:
        raise UsageError(f"{actor.name} is out, and cannot act before `heal` has brought something back")


def _roles(actor: Character, other: Opposition | None) -> Map[str, str]:
    return Map({"actor": actor.name, "opponent": (other.character if other is not None else "") or "opponent"})


def _plain(one: Opposition | None, option: str) -> int:
    """Return a difficulty or an ability as a number; nothing in the way is 0.

    Raises:
        UsageError: it is dice.
    """
    if one is None:
        return 0
    if one.dice is not None:
        raise UsageError(f"{option} takes a number or a rung: nobody rolls dice here")
    return one.value


def _levels(rules: Rules, actor: Character, *, skilled: bool, skills: Sequence[str]) -> int:
    """Return how many levels skills take off the difficulty (S:6): one, however many fit.

    Raises:
        UsageError: a skill is not on the sheet.
    """
    known = {slug(name): name for name in actor.records.get("skills", Map())}
    for name in skills:
        if slug(name) not in known:
            listed = ", ".join(known.values()) or "none"
            raise UsageError(f"{actor.name}'s sheet has no skill {name!r}; it has: {listed}. --skilled says one helps")
    count = len({slug(name) for name in skills}) + (1 if skilled else 0)
    return count if rules.switches(Switches).skills_stack else min(count, 1)


def _lowered(rules: Rules, base: int, levels: int) -> int:
    """Return a difficulty some levels lower, never below 0 (S:6)."""
    step = rules.file.settings["step"]
    rungs = sorted(rules.file.ladder.values())
    for _ in range(levels):
        if rules.switches(Switches).skill_snap:
            base = max((rung for rung in rungs if rung < base), default=0)
        else:
            base -= step
    return max(0, base)


def _needed(rules: Rules, difficulty: int) -> int:
    """Return the total that is enough: the difficulty itself (S:8), or one more where a tie fails (R:35)."""
    return difficulty + (1 if rules.switches(Switches).tie == "fail" else 0)


def _gm_card(table: Table, opposing: Opposition | None) -> int:
    """Return what the game master's card adds: turned up for an opposed action, kept for the exchange (S:13)."""
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


def _put_gm_card_away(table: Table, *, is_first: bool) -> None:
    """Put the game master's card away after an action, unless the exchange goes on (S:13).

    Args:
        table: where it is played.
        is_first: whether the action turned it up: without an exchange it is one of its own.
    """
    if table.rules.switches(Switches).gm_card == "action" or (is_first and EXCHANGE not in table.state.periods):
        clear_gm_card(table)


def clear_gm_card(table: Table) -> None:
    """Put the game master's card away."""
    discard(table, table.cards(GM_CARD), source=GM_CARD, banked=table.rules.switches(Switches).bank_gm_doom)


def _threat(table: Table, *, is_open: bool) -> int:
    """Return by how much the game master can still raise a difficulty, as far as the players can tell.

    What they cannot see may be anything; else being asked or not would tell them.
    """
    rules = table.rules
    switches = rules.switches(Switches)
    if switches.doom_timing != "any" or not table.count(BANK):
        return 0
    if switches.doom_hidden:
        return ENDLESS
    values = [card.value or 0 for card in table.cards(BANK)]
    if switches.doom_max_per_action == "one":
        return max(values) if is_open else 0
    return sum(values)


def _doom(table: Table, *, lead: int | None = None, needed: int | None = None) -> int:
    """Return by how much the game master raises the difficulty with cards of the bank (S:11, R:16).

    Args:
        table: where it is played.
        lead: by how much the hero is over what is needed; None before cards are played.
        needed: what has to be reached so far, where cards are still to be played.
    """
    rules = table.rules
    switches = rules.switches(Switches)
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


def _may_use_more(rules: Rules, used: int) -> bool:
    """Tell whether the game master may use doom after so much of it (R:16)."""
    return not used or rules.switches(Switches).doom_max_per_action == "any"


def _met_by_doom(table: Table, hero: Hero, stand: Stand, goal: Goal, *, used: int, sign: int = 1) -> tuple[Stand, int]:
    """Return the play after the game master has met it with doom, as long as that may turn it, and what that added.

    Args:
        table: where it is played.
        hero: who played last.
        stand, goal: where that stands, and what it had to reach.
        used: how much doom was used before.
        sign: whether more difficulty raises (1) or lowers (-1) what has to be reached, or does nothing to it (0).
    """
    rules = table.rules
    switches = rules.switches(Switches)
    assert goal.need is not None
    moved = 0
    while sign and switches.doom_timing == "any" and _may_use_more(rules, used):
        ahead = stand.total - goal.need - moved
        lead = ahead if sign > 0 else -1 - ahead
        raised = _doom(table, lead=lead) if lead >= 0 else 0
        used, moved = used + raised, moved + sign * raised
        if not raised or sign < 0 or not switches.doom_reopens_play:
            break
        threat = _threat(table, is_open=_may_use_more(rules, used))
        stand = play(table, hero, stand, msgspec.structs.replace(goal, need=goal.need + moved, threat=threat))
    return stand, moved


def _mishap(table: Table, stand: Stand, difficulty: int) -> str:
    """Tell whether a mishap happens: by a played card of the suit that misfires (R:4.5)."""
    when = table.rules.switches(Switches).mishap_on
    misfires = any(card.suit in TRUMPLESS for card in stand.played)
    fails = stand.total < _needed(table.rules, difficulty)
    return "yes" if misfires and (when == "any" or (when == "fail" and fails)) else "no"


def _clean_up(table: Table, hero: Hero, stand: Stand) -> tuple[Effect, ...]:
    """Put the cards in play away (S:11, R:11, R:14), and return what pushing costs (S:16)."""
    rules = table.rules
    switches = rules.switches(Switches)
    played = list(stand.played)
    for card in stand.banked:
        played.remove(card)
    discard(table, played, source=IN_PLAY, banked=True, by=hero.name)
    discard(table, stand.drawn, source=IN_PLAY, banked=switches.bank_trump_doom)
    discard(table, stand.pushed, source=IN_PLAY, banked=switches.bank_push_doom)
    return lost(hero.name, len(stand.pushed), switches.push_recovery)


# ---------------------------------------------------------------------------------------------------------------------
# Hero against hero


@saga.action("versus")
def versus(
    table: Table,
    actor: Character,
    *,
    ability: Rating,
    vs: Opposition | None,
    against: Opposition,
    skilled: bool = False,
    against_skilled: bool = False,
    trump: str | None = None,
    edge: int | None = None,
    against_edge: int | None = None,
    rounds: int = 1,
    dire: bool = False,
) -> Outcome:
    """Hero against hero (S:14): the active one plays, the other has to reach score and difficulty together."""
    rules = table.rules
    switches = rules.switches(Switches)
    difficulty = _plain(vs, "--vs")
    _plain(against, "--against")
    other = table.state.characters[against.character] if against.character else "opponent"
    if isinstance(other, Character) and table.count(OTHER_HAND):
        raise UsageError(f"{other.name} has a hand of their own; --against-hand is for somebody without a sheet")
    for one in (actor, other):
        if isinstance(one, Character):
            _require_able(one)
            if has_points(one):
                raise UsageError(f"{one.name} has points and no hand; a hero acts against them: `act --opposing ...`")
    own = hero_of(table, actor, ability, trump=trump, edge=edge)
    foe = hero_of(table, other, Rating(against.value, against.ability), edge=against_edge)
    helped = {own.name: skilled, foe.name: against_skilled}
    if skilled and rounds == 1 and not _has_number(rules) and switches.skill_in_pvp == "reach":
        table.tell(f"the skill of {own.name} changes nothing: whoever plays first has no number to reach")
    by_most = rounds > 1 and switches.rounds_decide == "most"
    met: list[Met] = []
    effects: list[Effect] = []
    won = 0
    for number in range(1, rounds + 1):
        first, second = (own, foe) if number % 2 else (foe, own)
        if met:  # hands are filled after the last one when the result is told
            _fill_both(table, own, foe, effects)
        apart = number, won if by_most else 0, *(_places(hero, effects) for hero in (own, foe))
        done = _round(table, first, second, difficulty, helped=helped, dire=dire, apart=apart)
        met.append(done if number % 2 else done.turned())
        won += met[-1].is_won
        effects += done.effects
        if table.is_read:
            table.tell((f"round {number}: " if rounds > 1 else "") + done.words)
    last, ahead = met[-1], 2 * won - rounds
    is_won = ahead > 0 if by_most and ahead else last.is_won
    if rounds > 1:
        how = f"{won} of {rounds} rounds are won" if by_most else f"round {rounds} decides"
        table.tell(f"the outcome is that of {own.name}: {how}")
    outcome = table.settle(
        "versus",
        ahead if by_most else last.total - last.opposition,
        total=None if by_most else last.total,
        opposition=None if by_most else last.opposition,
        roles=Map({"actor": own.name, "opponent": foe.name}),
        band=rules.band_of(0 if is_won else -1),
    )
    _fill_both(table, own, foe, effects)
    rounds_told = tuple(one.record(own.name if number % 2 == 0 else foe.name) for number, one in enumerate(met))
    details = Map({"outcome_of": own.name, "against": foe.name, "rounds": rounds_told})
    return msgspec.structs.replace(outcome.plus(effects), details=details)


def _has_number(rules: Rules) -> bool:
    """Tell whether who plays first has a number to reach, too."""
    return bool(rules.switches(Switches).active_must_succeed)


def _places(hero: Hero, effects: Sequence[Effect]) -> int:
    """Return how many places of a hand were lost by pushing."""
    return sum(one["count"] for one in effects if one["kind"] == "lose" and one["to"] == hero.name)


def _fill_both(table: Table, own: Hero, foe: Hero, effects: Sequence[Effect]) -> None:
    """Fill the hands of two heroes, as far as what they pushed leaves them places."""
    for hero in (own, foe):
        fill(table, hero, places=_places(hero, effects))


class Met(msgspec.Struct, frozen=True, gc=False):
    """How a round between heroes ended, for one of them.

    Attributes:
        total, opposition: what this one came to, and the other; a score is with the difficulty in it.
        is_won: whether it is this one who has the better of it: where both came to the same, one of them has.
        words: the round for people.
        effects: what it cost.
    """

    total: int
    opposition: int
    is_won: bool
    words: str = ""
    effects: tuple[Effect, ...] = ()

    def turned(self) -> Met:
        """Return the same for the other hero."""
        return msgspec.structs.replace(self, total=self.opposition, opposition=self.total, is_won=not self.is_won)

    def record(self, active: str) -> Map[str, Any]:
        """Return the round for readers of the JSON.

        Args:
            active: who played first.
        """
        margin = self.total - self.opposition
        facts = {"active": active, "total": self.total, "opposition": self.opposition, "margin": margin}
        return Map({**facts, "success": self.is_won})


def _round(
    table: Table,
    active: Hero,
    passive: Hero,
    difficulty: int,
    *,
    helped: dict[str, bool],
    dire: bool,
    apart: Hashable,
) -> Met:
    """Return how a round ended for the active hero.

    Args:
        table: where it is played.
        active, passive: who plays first, and who answers.
        difficulty: the number the game master set.
        helped: whom a skill helps (R:34).
        dire: whether they may push.
        apart: what else matters later on, for odds.
    """
    rules = table.rules
    switches = rules.switches(Switches)
    step = rules.file.settings["step"]
    is_first = not table.count(GM_CARD)
    if switches.gm_card_in_pvp:
        if is_first:
            table.draw(DECK, to=GM_CARD, label="gm-card", by=GM)
        difficulty += sum(card.value or 0 for card in table.cards(GM_CARD))
    sign = {"add": 1, "subtract": -1, "none": 0}[switches.hero_vs_hero_difficulty]
    is_late = switches.doom_timing == "any"
    used = _doom(table, needed=difficulty) if not is_late and (sign or _has_number(rules)) else 0
    may_push = dire or switches.push_free
    first = _played(table, active, Goal(None, apart=apart), may_push=may_push)
    is_worth = helped[active.name] and switches.skill_in_pvp == "score"
    score = first.total + (step if is_worth else 0)
    own = difficulty - (step if helped[active.name] and not is_worth else 0)
    if _has_number(rules) and is_late and score >= _needed(rules, own + used):
        used += _doom(table, lead=score - _needed(rules, own + used))
    if _has_number(rules) and score < _needed(rules, own + used):
        effects = _clean_up(table, active, first)
        if switches.redraw_between:
            fill(table, active, places=len(first.pushed))
        _put_gm_card_away(table, is_first=is_first)
        words = f"{active.name} needs {_needed(rules, own + used)} and comes to {score}"
        return Met(score, own + used, False, words, effects)
    target = score + sign * (difficulty + used) - (step if helped[passive.name] else 0)
    if is_late and sign and _may_use_more(rules, used):
        more = _doom(table, needed=_needed(rules, target))
        used, target = used + more, target + sign * more
    if switches.redraw_between:
        fill(table, active, places=len(first.pushed))
    # What was played here cannot be used against the same action: it is put away, and banked, when both have played.
    doomed = tuple(
        tuple(card.code for card in cards if is_doom(card)) for cards in (first.played, first.drawn, first.pushed)
    )
    threat = _threat(table, is_open=not used) if sign > 0 else 0
    goal = Goal(_needed(rules, target), threat, apart=(apart, len(first.pushed), doomed))
    second = _played(table, passive, goal, may_push=may_push)
    second, moved = _met_by_doom(table, passive, second, goal, used=used, sign=sign)
    target += moved
    effects = (*_clean_up(table, active, first), *_clean_up(table, passive, second))
    _put_gm_card_away(table, is_first=is_first)
    is_won = second.total < _needed(rules, target)
    tie = f" (a tie is {'not enough' if is_won else 'enough'})" if second.total == target else ""
    words = f"{active.name} sets {target}; {passive.name} {'falls short' if is_won else 'reaches it'} with"
    return Met(target, second.total, is_won, f"{words} {second.total}{tie}", effects)


def _played(table: Table, hero: Hero, goal: Goal, *, may_push: bool) -> Stand:
    stand = Stand(hero.ability)
    before = table.rules.switches(Switches).push_timing == "before"
    if may_push and before:
        stand = push(table, hero, stand, goal)
    stand = play(table, hero, stand, goal)
    return push(table, hero, stand, goal) if may_push and not before else stand


# ---------------------------------------------------------------------------------------------------------------------
# Readings, harm, healing


@saga.action("aura")
def aura(table: Table, actor: Character) -> Outcome:
    """Read the aura of the top card: yes, no or neither (S:2); without a card it is neither (R:31)."""
    rules = table.rules
    readings, neutral = rules.file.settings["readings"], rules.switches(Switches).aura_neutral
    while True:
        card = table.draw(DECK, to=IN_PLAY, label="aura", by=actor.name)
        sign = card.attributes.get("aura", "neutral") if card is not None else "neutral"
        if card is not None:
            _put_back(table, card)
        if sign != "neutral" or neutral != "redraw" or card is None:
            break
    if sign == "neutral" and neutral in ("yes", "no"):
        sign = "positive" if neutral == "yes" else "negative"
    return table.settle(readings[sign], None, roles=Map({"actor": actor.name}))


def _put_back(table: Table, card: Card) -> None:
    switches = table.rules.switches(Switches)
    if switches.aura_return == "deck":
        table.move([card], source=IN_PLAY, to=DECK)
        table.shuffle(DECK)
        return
    discard(table, [card], source=IN_PLAY, banked=switches.bank_gm_doom)


@saga.action("damage")
def damage(
    table: Table,
    actor: Character,
    *,
    amount: int,
    weapon: int = 0,
    defense: int | None = None,
    armor: str | None = None,
) -> Outcome:
    """Pay for harm with cards, none of which could be taken back while it is still covered (R:4.6, R:5)."""
    amount, details = _harm(table, actor, amount, weapon=weapon, defense=defense, armor=armor)
    return msgspec.structs.replace(_harmed(table, actor, amount), details=details)


def _harm(
    table: Table, actor: Character, amount: int, *, weapon: int, defense: int | None, armor: str | None
) -> tuple[int, Map[str, Any]]:
    """Return what is left of harm after the defense (R:5), never less than 0, and the same for readers of the JSON."""
    if defense is None:
        defense = actor.counters.get("defense", 0)
    if armor is not None:
        defense += table.rules.file.settings["armor"][armor]
    if table.rules.switches(Switches).damage_defense == "ignore":
        defense = 0
    harm = max(0, amount + weapon - defense)
    if weapon or defense:
        added = f" and {weapon}" if weapon else ""
        table.tell(f"{amount}{added}" + (f" less a defense of {defense}" if defense else "") + f": {harm} of harm")
    return harm, Map({"amount": amount, "weapon": weapon, "defense": defense, "harm": harm})


def _harmed(table: Table, actor: Character, amount: int) -> Outcome:
    roles = Map({"actor": actor.name})
    if not amount:
        return table.settle("damage-none", None, roles=roles)
    if has_points(actor):
        health = actor.counters.get("health", 0)
        outcome = table.settle("damage" if health > amount else "damage-out", None, roles=roles)
        return outcome.plus([effect("health", to=actor.name, change=-min(amount, health))])
    hero = hero_of(table, actor, Rating(0))
    paid: list[Card] = []
    covered = turned = 0
    while covered < amount and table.count(hero.hand):
        options = _payments(table, hero, paid, amount - turned)
        if not options:  # all there is does not suffice
            rest = table.cards(hero.hand)
            # Asked all the same where it would be told otherwise that the hand does suffice.
            table.ask("pay", hero.name, [ALL], text="It is not enough.", hidden=True, owed=amount - covered)
            _pay(table, hero, rest)
            paid += rest
            break
        text = f"{amount - covered} still to be paid."
        is_hidden = table.count(hero.hand) > 1
        asked = card_options(options)
        chosen = table.ask("pay", hero.name, asked, text=text, hidden=is_hidden, owed=amount - covered)
        card = next(card for card in options if card.short == chosen)
        covered += _worth(table, card)
        _pay(table, hero, [card])
        paid.append(card)
        more = _damage_trump(table, hero, card) if covered < amount else 0
        covered, turned = covered + more, turned + more
    outcome = table.settle("damage" if table.count(hero.hand) else "damage-out", None, roles=roles)
    return outcome.plus(lost(actor.name, len(paid), "heal"))


def _worth(table: Table, card: Card) -> int:
    return 1 if table.rules.switches(Switches).damage_mode == "count" else card.value or 0


def _payments(table: Table, hero: Hero, paid: Sequence[Card], amount: int) -> list[Card]:
    """Return the cards that can be paid next so that no card of the whole payment is one too many.

    Args:
        table: where it is played.
        hero: who pays.
        paid: what was paid already.
        amount: what all of it has to cover.
    """
    cards = table.cards(hero.hand)
    found: dict[int, Card] = {}
    before = [_worth(table, card) for card in paid]
    for size in range(1, len(cards) + 1):
        for chosen in combinations(range(len(cards)), size):
            worth = [*before, *(_worth(table, cards[index]) for index in chosen)]
            if sum(worth) >= amount > sum(worth) - min(worth):
                found |= {index: cards[index] for index in chosen}
    return [found[index] for index in sorted(found)]


def _pay(table: Table, hero: Hero, cards: Sequence[Card]) -> None:
    table.move(cards, source=hero.hand, to=IN_PLAY, by=hero.name, label="pay")
    discard(table, cards, source=IN_PLAY, banked=table.rules.switches(Switches).bank_damage_doom)


def _damage_trump(table: Table, hero: Hero, card: Card) -> int:
    """Return what a card turned up counts against harm, where the suit of the one paid allows it."""
    if card.suit != table.rules.switches(Switches).damage_trump_suit:
        return 0
    drawn = table.draw(DECK, to=IN_PLAY, label="trump-damage", by=hero.name)
    if drawn is None:
        return 0
    discard(table, [drawn], source=IN_PLAY, banked=False)
    return _worth(table, drawn)


@saga.action("heal")
def heal(table: Table, actor: Character, *, amount: int) -> Outcome:
    """Get back lost places of the hand and draw cards for them; rates are not stated by any source at hand."""
    if has_points(actor):
        back = min(amount, actor.counters.get("hurt", 0))
        outcome = table.settle("heal", None, roles=Map({"actor": actor.name}))
        return outcome.plus([effect("health", to=actor.name, change=back)])
    hero = hero_of(table, actor, Rating(0))
    missing = actor.counters.get("lost", 0) + actor.counters.get("pushed", 0)
    back = min(amount, missing)
    outcome = table.settle("heal", None, roles=Map({"actor": actor.name}))
    fill(table, msgspec.structs.replace(hero, size=hero.size + back))
    return outcome.plus([effect("regain", to=actor.name, count=back)])


# ---------------------------------------------------------------------------------------------------------------------
# Exchanges and scenes


@saga.ends("exchange")
def end_exchange(table: Table) -> Sequence[Effect]:
    """The game master's card goes, and what was pushed for the exchange comes back (S:13)."""
    clear_gm_card(table)
    return _recovered(table) if table.rules.switches(Switches).push_recovery == "exchange" else ()


@saga.begins("scene")
def begin_scene(table: Table) -> Sequence[Effect]:
    """The discard is shuffled into the deck where a table plays so (R:30), and everybody fills the hand."""
    if table.rules.switches(Switches).reshuffle == "each_scene":
        table.move(table.cards(DISCARD), source=DISCARD, to=DECK)
        table.shuffle(DECK)
    for character in table.state.characters.values():
        if not has_points(character) and not character.is_out:
            hero = hero_of(table, character, Rating(0))
            fill(table, hero)
    return ()


@saga.ends("scene")
def end_scene(table: Table) -> Sequence[Effect]:
    """What was pushed for a scene or an exchange comes back, and hands are filled."""
    clear_gm_card(table)
    return _recovered(table) if table.rules.switches(Switches).push_recovery in ("scene", "exchange") else ()


def _recovered(table: Table) -> list[Effect]:
    effects = []
    for character in table.state.characters.values():
        places = character.counters.get("pushed", 0)
        if places:
            hero = hero_of(table, character, Rating(0))
            fill(table, msgspec.structs.replace(hero, size=hero.size + places))
            effects.append(effect("regain", to=character.name, count=places, recovery="scene"))
    return effects


# ---------------------------------------------------------------------------------------------------------------------
# Effects


@saga.effect("lose")
def lose(state: State, change: Effect) -> State:
    """Return the state in which somebody has lost places of the hand."""
    name = "lost" if change.get("recovery", "heal") == "heal" else "pushed"
    return _counted(state, change["to"], name, change["count"])


@saga.effect("regain")
def regain(state: State, change: Effect) -> State:
    """Return the state in which somebody has places of the hand again: those lost for a while first."""
    character = state.characters.get(change["to"])
    if character is None:
        return state
    if change["count"] > 0:
        state = put(state, ("characters", change["to"], "is_out"), False)
    first = min(change["count"], character.counters.get("pushed", 0))
    state = _counted(state, change["to"], "pushed", -first)
    return _counted(state, change["to"], "lost", first - change["count"])


@saga.effect("health")
def health(state: State, change: Effect) -> State:
    """Return the state in which somebody without a hand has more or fewer points."""
    if change["change"] > 0 and change["to"] in state.characters:
        state = put(state, ("characters", change["to"], "is_out"), False)
    state = _counted(state, change["to"], "health", change["change"])
    return _counted(state, change["to"], "hurt", -change["change"])


def _counted(state: State, who: str, counter: str, change: int) -> State:
    character = state.characters.get(who)
    if character is None or not change:
        return state
    counters = character.counters
    value = max(0, counters.get(counter, 0) + change)
    return put(state, ("characters", who, "counters"), counters.with_(counter, value))
