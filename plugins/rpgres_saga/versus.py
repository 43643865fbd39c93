"""Hero against hero: rounds in which one plays and the other answers, and what decides among several.

Lines of the text (`rulesets/saga/SOURCES.md`) as `S:n`, rows of the list of rulings there as `R:n`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from typing import Any

import msgspec

from rpgres import GM, Character, Effect, Map, Opposition, Outcome, Rating, Rules, Table, UsageError, named
from rpgres_saga.difficulty import (
    doom,
    may_use_more,
    met_by_doom,
    needed,
    plain,
    put_gm_card_away,
    threat,
)
from rpgres_saga.hands import DECK, GM_CARD, OTHER_HAND, Hero, fill, has_points, hero_of, is_doom, require_able
from rpgres_saga.playing import Goal, Stand, clean_up, play_through
from rpgres_saga.switches import Switches

SIGNS = {"add": 1, "subtract": -1, "none": 0}  # what the difficulty does to the score that has to be reached


class Duel(msgspec.Struct, frozen=True, gc=False):
    """Two heroes against each other.

    Attributes:
        own, foe: the hero who acts, and the other.
        difficulty: the number the game master set.
        helped: whom a skill helps (R:34).
        may_push: whether they may push.
    """

    own: Hero
    foe: Hero
    difficulty: int
    helped: Set[str]
    may_push: bool

    def skill(self, rules: Rules, hero: Hero) -> int:
        """Return what a skill is worth to a hero."""
        return rules.file.settings["step"] if hero.name in self.helped else 0


class Met(msgspec.Struct, frozen=True, gc=False):
    """How a round between heroes ended, for one of them.

    Attributes:
        total, opposition: the score of this hero and of the other, with the difficulty included.
        is_won: whether this hero wins; ties are decided, too.
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
    switches = table.rules.switches(Switches)
    difficulty = plain(vs, named("vs"))
    plain(against, named("against"))
    other = _other(table, actor, against)
    own = hero_of(table, actor, ability, trump=trump, edge=edge)
    foe = hero_of(table, other, Rating(against.value, against.ability), edge=against_edge)
    helped = {hero.name for hero, is_helped in ((own, skilled), (foe, against_skilled)) if is_helped}
    if skilled and rounds == 1 and not switches.active_must_succeed and switches.skill_in_pvp == "reach":
        table.tell(f"the skill of {own.name} has no effect: the first player has no difficulty to reach")
    duel = Duel(own, foe, difficulty, helped, dire or switches.push_free)
    met = _rounds(table, duel, rounds)
    effects = [change for one in met for change in one.effects]
    outcome = _decided(table, duel, met)
    _fill_both(table, duel, effects)
    told = tuple(one.record((foe if number % 2 else own).name) for number, one in enumerate(met))
    details = Map({"outcome_of": own.name, "against": foe.name, "rounds": told})
    return msgspec.structs.replace(outcome.plus(effects), details=details)


def _other(table: Table, actor: Character, against: Opposition) -> Character | str:
    """Return the other hero; a name is a character without a place at the table.

    Raises:
        UsageError: a hand was typed for a character who has one, or one of the two is out or has points.
    """
    other = table.state.characters[against.character] if against.character else "opponent"
    if isinstance(other, Character) and table.count(OTHER_HAND):
        raise UsageError(f"{other.name} already has a hand; {named('against-hand')} is for opponents without a sheet")
    for one in (actor, other):
        if isinstance(one, Character):
            require_able(one)
            if has_points(one):
                raise UsageError(
                    f"{one.name} has points and no hand; a hero acts against them: `act {named('opposing')} ...`"
                )
    return other


def _rounds(table: Table, duel: Duel, rounds: int) -> list[Met]:
    """Return how each round ended for the hero who acts; they change places from round to round."""
    met: list[Met] = []
    effects: list[Effect] = []
    for number in range(1, rounds + 1):
        first, second = (duel.own, duel.foe) if number % 2 else (duel.foe, duel.own)
        if met:  # hands are filled after the last one when the result is shown
            _fill_both(table, duel, effects)
        won = _is_by_most(table.rules, rounds) and sum(one.is_won for one in met)
        places = {hero.name: _places(hero, effects) for hero in (duel.own, duel.foe)}
        apart = number, won, *places.values()
        done = _round(table, duel, first, second, places=places, apart=apart, goes_on=number < rounds)
        met.append(done if number % 2 else done.turned())
        effects += done.effects
        if table.is_read:
            table.tell((f"round {number}: " if rounds > 1 else "") + done.words)
    return met


def _is_by_most(rules: Rules, rounds: int) -> bool:
    """Tell whether it counts who won more rounds, and not who won the last."""
    return rounds > 1 and rules.switches(Switches).rounds_decide == "most"


def _decided(table: Table, duel: Duel, met: Sequence[Met]) -> Outcome:
    """Return the outcome of the rounds, for the hero who acts."""
    rounds, won, last = len(met), sum(one.is_won for one in met), met[-1]
    by_most, ahead = _is_by_most(table.rules, rounds), 2 * won - rounds
    is_won = ahead > 0 if by_most and ahead else last.is_won
    if rounds > 1:
        how = f"{won} of {rounds} rounds are won" if by_most else f"round {rounds} decides"
        table.tell(f"the outcome is that of {duel.own.name}: {how}")
    return table.settle(
        "versus",
        ahead if by_most else last.total - last.opposition,
        total=None if by_most else last.total,
        opposition=None if by_most else last.opposition,
        roles=Map({"actor": duel.own.name, "opponent": duel.foe.name}),
        band=table.rules.band_of(0 if is_won else -1),
    )


def _places(hero: Hero, effects: Sequence[Effect]) -> int:
    """Return how many places of a hand were lost by pushing."""
    return sum(one["count"] for one in effects if one["kind"] == "lose" and one["to"] == hero.name)


def _fill_both(table: Table, duel: Duel, effects: Sequence[Effect]) -> None:
    """Fill the hands of both heroes, as far as what they pushed leaves them places."""
    for hero in (duel.own, duel.foe):
        fill(table, hero, places=_places(hero, effects))


# ---------------------------------------------------------------------------------------------------------------------
# One round


def _round(
    table: Table,
    duel: Duel,
    active: Hero,
    passive: Hero,
    *,
    places: Mapping[str, int],
    apart: Hashable,
    goes_on: bool,
) -> Met:
    """Return how a round ended for the active hero.

    Args:
        duel: who plays, and against which difficulty.
        active, passive: who plays first, and who answers.
        places: how many places of their hands both have lost in rounds before.
        apart: what else matters later on, for odds.
        goes_on: whether another round follows.
    """
    rules = table.rules
    switches = rules.switches(Switches)
    is_first = not table.count(GM_CARD)
    difficulty = duel.difficulty + _gm_card(table)
    used = _doom_first(table, difficulty)
    first = play_through(table, active, Goal(None, apart=apart), may_push=duel.may_push)
    left = places[active.name] + len(first.pushed)
    score = first.total + (duel.skill(rules, active) if switches.skill_in_pvp == "score" else 0)
    if switches.active_must_succeed:
        own = difficulty - (duel.skill(rules, active) if switches.skill_in_pvp == "reach" else 0) + used
        if score >= needed(rules, own):
            more = doom(table, lead=score - needed(rules, own)) if switches.doom_timing == "any" else 0
            used, own = used + more, own + more
        if score < needed(rules, own):
            return _missed(table, active, first, score, own, places=left, is_first=is_first)
    sign = SIGNS[switches.hero_vs_hero_difficulty]
    target = score + sign * (difficulty + used) - duel.skill(rules, passive)
    if switches.doom_timing == "any" and sign and may_use_more(rules, used):
        more = doom(table, needed=needed(rules, target))
        used, target = used + more, target + sign * more
    if switches.redraw_between:
        fill(table, active, places=left)
    goal = _goal_of_answer(table, first, target, used=used, sign=sign, apart=apart)
    goal = msgspec.structs.replace(goal, goes_on=goes_on)
    second = play_through(table, passive, goal, may_push=duel.may_push)
    second, moved = met_by_doom(table, passive, second, goal, used=used, sign=sign)
    effects = (*clean_up(table, active, first), *clean_up(table, passive, second))
    put_gm_card_away(table, is_first=is_first)
    return _answered(rules, active, passive, target + moved, second.total, effects)


def _gm_card(table: Table) -> int:
    """Return what the game master's card adds between heroes, where it does."""
    if not table.rules.switches(Switches).gm_card_in_pvp:
        return 0
    if not table.count(GM_CARD):
        table.draw(DECK, to=GM_CARD, label="gm-card", by=GM)
    return sum(card.value or 0 for card in table.cards(GM_CARD))


def _doom_first(table: Table, difficulty: int) -> int:
    """Return by how much the game master raises the difficulty before any card is played, where it changes anything."""
    switches = table.rules.switches(Switches)
    counts = switches.hero_vs_hero_difficulty != "none" or switches.active_must_succeed
    return doom(table, needed=difficulty) if switches.doom_timing == "before_play" and counts else 0


def _missed(table: Table, active: Hero, first: Stand, score: int, own: int, *, places: int, is_first: bool) -> Met:
    """Return the round of an active hero who misses the own number, so that no question is asked."""
    effects = clean_up(table, active, first)
    if table.rules.switches(Switches).redraw_between:
        fill(table, active, places=places)
    put_gm_card_away(table, is_first=is_first)
    return Met(score, own, False, f"{active.name} needs {needed(table.rules, own)} and comes to {score}", effects)


def _goal_of_answer(table: Table, first: Stand, target: int, *, used: int, sign: int, apart: Hashable) -> Goal:
    """Return what the passive hero has to reach.

    What was played here cannot be used against the same action: it is put away, and banked, when both have played.
    """
    doomed = tuple(
        tuple(card.code for card in cards if is_doom(card)) for cards in (first.played, first.drawn, first.pushed)
    )
    raised = threat(table, is_open=not used) if sign > 0 else 0
    return Goal(needed(table.rules, target), raised, apart=(apart, len(first.pushed), doomed))


def _answered(rules: Rules, active: Hero, passive: Hero, target: int, total: int, effects: tuple[Effect, ...]) -> Met:
    """Return how a round ended in which both have played."""
    is_won = total < needed(rules, target)
    tie = f" (a tie is {'not enough' if is_won else 'enough'})" if total == target else ""
    words = f"{active.name} sets {target}; {passive.name} {'falls short' if is_won else 'reaches it'} with"
    return Met(target, total, is_won, f"{words} {total}{tie}", effects)
