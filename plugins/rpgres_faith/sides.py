"""Who takes part in a confrontation, with what, against whom, and how many cards each may play.

Lines of the text (`rulesets/faith/SOURCES.md`) as `S:n`, rows of the restatement as `R:n`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from rpgres import EMPTY, GM, Character, Map, Rating, Rules, State, Table, UsageError
from rpgres_faith.switches import Switches

HAND, DECK, LUCK = "hand", "deck", "luck"  # what is played from: one's hand, the game master's deck, her hand
USED = "cards-used"  # what the table keeps of a round: cards by who played them, then by attribute
ROUND = "round"
HARM = ("physical", "neural")  # counters that lower skills (S:33)


class Card(msgspec.Struct, frozen=True, gc=False):
    """A card as it counts in a confrontation: its value, whether it is a court card, whether it is a joker."""

    code: str
    value: int
    is_court: bool = False
    is_joker: bool = False


class Side(msgspec.Struct, frozen=True, gc=False):
    """One action in a confrontation.

    Attributes:
        name: what it is called: its character, or the game master.
        who: the character who acts; the game master herself.
        plays: what its cards are played from.
        is_player: whether it plays before the game master's side on a tie (S:90).
        start: the value before cards (S:27-33).
        attribute: how many cards there can be at most (S:37).
        key: the attribute's name, for what is used in a round.
        plus, minus: advantages and disadvantages.
        used: cards played with the attribute in this round (S:39).
        limits: how many cards count against each opponent.
        limit: how many cards it may play: as many as count against any opponent (S:104).
        inferior_to: opponents that have more advantages (S:44).
        suits: the suits that let it draw; low: values up to this do too.
        arms: weapon and armour, for the result.
        gains: what the sheet says of a decisive and of a critical success, by level (S:65, S:69).
        cards: what was played, in order.
        pending: jokers that wait for its next card (S:50).
        passed: whether it let its turn go by since a card was last played.
        is_done: whether it wants no more cards, whatever is played.
        is_spent: whether the hand ran out, so that the card drawn for that has to wait.
        owed: cards to be drawn when it is over.
    """

    name: str
    who: str
    plays: str = HAND
    is_player: bool = True
    start: int = 0
    attribute: int = 0
    key: str = ""
    plus: int = 0
    minus: int = 0
    used: int = 0
    limits: Map[str, int] = EMPTY
    limit: int = 0
    inferior_to: tuple[str, ...] = ()
    suits: tuple[str, ...] = ()
    low: int = 0
    arms: Map[str, Any] = EMPTY
    gains: Map[str, str] = EMPTY
    cards: tuple[Card, ...] = ()
    pending: int = 0
    passed: bool = False
    is_done: bool = False
    is_spent: bool = False
    owed: int = 0

    @property
    def net(self) -> int:
        """Advantages less disadvantages; what is below 0 gives its opponents advantages (S:42)."""
        return self.plus - self.minus

    @property
    def rests(self) -> bool:
        """Whether it wants no card now."""
        return self.passed or self.is_done

    @property
    def left(self) -> int:
        """How many more cards it may play."""
        return max(0, self.limit - len(self.cards))

    @property
    def value(self) -> int:
        """Its value with every card."""
        return self.start + sum(card.value for card in self.cards)

    def against(self, other: str) -> int:
        """Return its value as it counts against an opponent: a card over that limit does not (S:104)."""
        return self.start + sum(card.value for card in self.counted(other))

    def counted(self, other: str) -> tuple[Card, ...]:
        """Return the cards that count against an opponent."""
        return self.cards[: self.limits[other]]


def changed(sides: Iterable[Side], one: Side) -> tuple[Side, ...]:
    """Return the sides with one of them in place of the one of its name."""
    return tuple(one if side.name == one.name else side for side in sides)


def find(sides: Iterable[Side], name: str) -> Side:
    """Return the side of a name."""
    for side in sides:
        if side.name == name:
            return side
    raise LookupError(name)


def has_court_last(rules: Rules, side: Side, other: str) -> bool:
    """Tell whether the last card that was played for an action was a court card (S:69, R:B1)."""
    cards = side.counted(other) if rules.switches(Switches).critical_card == "last_counted" else side.cards
    return bool(cards) and cards[-1].is_court


def title_of(side: Side) -> str:
    """Return what people call a side: the game master plays bad luck."""
    if side.plays != LUCK:
        return side.name
    return "bad luck" + side.name.removeprefix(GM)


# ---------------------------------------------------------------------------------------------------------------------
# What a side begins with


def side_of(
    table: Table,
    who: str,
    *,
    skill: Rating,
    attribute: Rating,
    values: Map[str, Any],
    is_npc: bool = False,
) -> Side:
    """Return a character's action before inferiority (S:27-46).

    Args:
        skill, attribute: what it is done with.
        values: other values: advantages, disadvantages, used, weapon and the like.
        is_npc: whether the cards come from the game master's deck though a player's name is not hers.

    Raises:
        UsageError: an attribute below 0 cannot be played with; an attribute is named for a skill, or the reverse; or it
            is both shot and thrown, or thrown too far.
    """
    rules, character = table.rules, table.state.characters[who]
    if attribute.value < 0 or skill.value < 0:
        raise UsageError(f"{who}: a skill and an attribute are 0 or more, not {min(attribute.value, skill.value)}")
    _check_names(rules.file.settings, who, skill=skill.name, attribute=attribute.name)
    is_ours = table.state.seat_of(who) == GM
    plain = skill.name in rules.file.settings["npc-values"]  # no skill: harm does not lower it (R:2.15)
    harm = 0 if plain else sum(character.counters.get(name, 0) for name in HARM) + values.get("damage", 0)
    start = max(0, skill.value - harm)
    by_harm = not start and skill.value > 0
    unskilled = not start and not plain and (not by_harm or rules.switches(Switches).skill0_from_damage)
    used = values.get("used")
    gear = gear_for(character, skill.name, attribute.name)
    if values.get("range") and values.get("thrown") is not None:
        raise UsageError(f"{who}: a range in kilometres and a throw in metres exclude each other")
    near, far = thrown_for(rules.file.settings, values.get("thrown"))
    far += range_loss(values.get("range") or 0)  # long range is a disadvantage too (R:6.11)
    minus = values.get("disadvantages", 0) + far + (1 if unskilled else 0)
    return Side(
        who,
        who,
        plays=DECK if is_npc or is_ours else HAND,
        is_player=not (is_npc or is_ours),
        start=start,
        attribute=attribute.value,
        key=attribute.name or "attribute",
        plus=values.get("advantages", 0) + near + sum(one["advantages"] or 0 for one in gear),
        minus=minus + sum(one["disadvantages"] or 0 for one in gear),
        used=used_before(table.state, who, attribute.name) if used is None else used,
        suits=draw_suits(table, character, values.get("affinity"), values.get("ambience")),
        low=low_of(table, attribute.value),
        arms=_arms(values, character),
        gains=Map({level: told for level in LEVELS if (told := "; ".join(one[level] for one in gear if one[level]))}),
    )


def _arms(values: Map[str, Any], character: Character) -> Map[str, Any]:
    """Return what counts when a character is hit; armour is the sheet's where none was given."""
    worn = values.get("armour") or character.counters.get("armour", 0)
    given = {**{name: values.get(name) for name in ("weapon", "ammo", "range")}, "armour": worn}
    return Map({name: value for name, value in given.items() if value})


LEVELS = ("decisive", "critical")  # of which a sheet may say more


def gear_for(character: Character, *names: str) -> list[Map[str, Any]]:
    """Return what a sheet says that a skill or an attribute has all the time: skills, gear, upgrades (S:42, S:46)."""
    gear = character.records.get("gear", EMPTY)
    return [one for one in gear.values() if not one["helps"] or one["helps"] in names]


def _check_names(settings: Any, who: str, *, skill: str, attribute: str) -> None:
    """Check that a skill is no attribute, and the reverse; what a house rule calls an attribute is one (S:30, S:37).

    Raises:
        UsageError: one is named in place of the other.
    """
    known = settings["attributes"]
    if skill in known:
        raise UsageError(f"{who}: {skill} is an attribute, not a skill")
    if attribute and attribute not in (*known, *settings["npc-values"]):
        raise UsageError(f"{who}: {attribute} is not an attribute; there are: {', '.join(known)}; or a number")


def luck_of(table: Table, target: Side, *, name: str, advantages: int, disadvantages: int) -> Side:
    """Return the game master as bad luck: the attribute and affinity of whom she confronts, no skill (S:9)."""
    switches = table.rules.switches(Switches)
    shared = switches.gm_round_budget == "per_character"
    return Side(
        name,
        GM,
        plays=LUCK,
        is_player=False,
        attribute=target.attribute,
        key=target.key,
        plus=switches.gm_advantages + advantages,
        minus=disadvantages,
        used=used_before(table.state, f"{GM}:{target.who}", target.key) if shared else 0,
        suits=target.suits,
        low=target.low,
    )


def range_loss(kilometres: int) -> int:
    """Return what long range takes off damage, and gives in disadvantages: one for each kilometre after the first."""
    return max(0, kilometres - 1)


def thrown_for(settings: Any, metres: int | None) -> tuple[int, int]:
    """Return the advantages and disadvantages of the distance over which something is thrown (R:2.14).

    Raises:
        UsageError: it is too far.
    """
    if metres is None:
        return 0, 0
    reach, near, step = (settings[f"thrown-{name}"] for name in ("reach", "near", "step"))
    if metres > reach:
        raise UsageError(f"the range of a throw is at most {reach} m, not {metres} m")
    return (1, 0) if metres <= near else (0, -(-(metres - near) // step))


def used_before(state: State, who: str, attribute: str) -> int:
    """Return how many cards a character played with an attribute in this round."""
    used: int = state.things.get(USED, EMPTY).get(who, EMPTY).get(attribute or "attribute", 0)
    return used


def low_of(table: Table, attribute: int) -> int:
    """Return up to which value a card lets its owner draw (R:1.15)."""
    return 2 * attribute if table.rules.switches(Switches).draw_on_low == "2x_attribute" else 0


def draw_suits(table: Table, character: Character, affinity: str | None, ambience: str | None) -> tuple[str, ...]:
    """Return the suits that let a character draw: that of the place, and those of the affinity (R:1.14, R:1.17).

    Raises:
        UsageError: there is no such environment.
    """
    on = table.rules.switches(Switches).draw_on_suit
    here = ambience or table.state.things.get("ambience", "")
    own = affinity or character.texts.get("affinity", "")
    words = [*([here] if on in ("ambience", "both") else []), *(own.split() if on in ("affinity", "both") else [])]
    return tuple(dict.fromkeys(suit for word in words for suit in suits_of(table.rules.file.settings, word)))


def suits_of(settings: Any, word: str) -> tuple[str, ...]:
    """Return the suit of an environment's name; empty for none.

    Raises:
        UsageError: there is no such environment.
    """
    environments = settings["environments"]
    word = word.strip(",").lower()
    if word in ("", "none"):
        return ()
    if word not in environments and word not in environments.values():
        known = ", ".join(environments)
        raise UsageError(f"there is no environment {word!r}; there are: {known}, and none")
    return (environments.get(word, word),)


# ---------------------------------------------------------------------------------------------------------------------
# Inferiority and limits


def with_limits(table: Table, sides: Sequence[Side], pairs: Sequence[tuple[str, str]]) -> tuple[Side, ...]:
    """Return the sides with how many cards count against whom (S:37-44, S:89, S:104)."""
    below, is_global = inferior_pairs(table, sides, pairs), _is_global(table)
    found = []
    for side in sides:
        others = [other for pair in pairs if side.name in pair for other in pair if other != side.name]
        over = tuple(other.name for other in sides if (side.name, other.name) in below)
        everywhere = bool(over) and (is_global or not set(over).issubset(others))
        limits = {other: limit_of(table, side, is_inferior=everywhere or other in over) for other in others}
        most = max(limits.values(), default=0)
        found.append(msgspec.structs.replace(side, limits=Map(limits), limit=most, inferior_to=over))
    return tuple(found)


def _is_global(table: Table) -> bool:
    """Tell whether the side with the least is inferior to all (R:A4)."""
    return table.rules.switches(Switches).inferiority_scope == "global_minimum"


def limit_of(table: Table, side: Side, *, is_inferior: bool) -> int:
    """Return how many cards a side may play: two ceilings, its attribute's and the round's (R:A2, R:A3)."""
    switches = table.rules.switches(Switches)
    free = max(0, side.attribute - side.used)
    if not is_inferior:
        return free
    least = min(switches.inferiority_min_cards, free)
    if switches.inferiority_applies_to == "remaining":
        return max(free - 1, least)
    return min(max(side.attribute - 1, least), free)


def inferior_pairs(table: Table, sides: Sequence[Side], pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return who has fewer advantages than whom, as far as they are compared (S:44, S:89, R:A4, R:A9)."""
    switches, shown = table.rules.switches(Switches), shown_advantages(sides, pairs)
    if _is_global(table):
        least = min(shown.values())
        return {(one, other) for one in shown for other in shown if shown[one] == least < shown[other]}
    both_ways = [*pairs, *(pair[::-1] for pair in pairs)]
    if switches.surplus_advantage == "everybody":
        counts = {(one, other): shown[one] for one, other in both_ways}
    else:
        net = {side.name: side.net for side in sides}
        counts = {(one, other): max(0, net[one]) + max(0, -net[other]) for one, other in both_ways}
    below = {(one, other) for one, other in both_ways if counts[one, other] < counts[other, one]}
    if switches.confronters_compare:
        peers = {one: count for (one, other), count in counts.items() if other == sides[0].name and one != GM}
        below |= {(one, other) for one in peers for other in peers if peers[one] < peers[other]}
    return below


def shown_advantages(sides: Sequence[Side], pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the advantages of each side: a disadvantage that cancels none is one of each opponent (S:42)."""
    net = {side.name: side.net for side in sides}
    found = {name: max(0, one) for name, one in net.items()}
    for one, other in pairs:
        found[one] += max(0, -net[other])
        found[other] += max(0, -net[one])
    return found
