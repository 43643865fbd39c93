"""Who fights in a conflict and with what: ratings that the ruleset's settings name, sides, and the order of turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from rpgres.engine.table import Table
from rpgres.errors import UsageError, enumerated, named
from rpgres.kits import harm
from rpgres.kits.fate_family.rolls import check_sides
from rpgres.kits.fate_family.switches import ConflictSwitches
from rpgres.model.state import EMPTY, GM, Box, Character, Map, State, slug
from rpgres.parameters.values import Form, Rating
from rpgres.rulesets import Rules

AGAINST = "defense-against"  # the setting with what defends against attacks with some abilities, by these


class Fighter(msgspec.Struct, frozen=True, gc=False):
    """A character in a conflict, and with what they act.

    Attributes:
        side: the number of the side; the actor's is 0.
        attack, defense, advantage, discover, move, overcome: what is rolled for each.
        defenses: what is rolled against attacks with some abilities in place of `defense`, by these.
        is_ranged: whether attacks reach other zones.
        blocks: whether enemies in the same zone have to get past before they can leave it.
        zone: where they begin.
    """

    who: str
    side: int
    attack: Rating
    defense: Rating
    advantage: Rating
    discover: Rating
    move: Rating
    overcome: Rating
    defenses: Map[str, Rating] = EMPTY
    is_ranged: bool = False
    blocks: bool = False
    zone: str = ""

    def defense_against(self, attack: Rating) -> Rating:
        """Return what is rolled against an attack."""
        return self.defenses.get(attack.name, self.defense)


def rating_names(rules: Rules, kind: str, use: str) -> Sequence[str]:
    """Return the abilities that count for something in a conflict of a kind, as `settings.conflict` has them.

    Args:
        kind: `physical` or `mental`.
        use: `attack`, `defense`, `defense-against.ATTACK`, `order`, `discover`, `move`, `overcome` or `ranged`.
    """
    known: dict[tuple[str, str], Sequence[str]] = rules.compiled.setdefault("conflict:ratings", {})
    if (kind, use) not in known:
        found = rules.file.setting(f"conflict.{kind}.{use}")
        known[kind, use] = [slug(name) for name in found] if isinstance(found, list) else []
    return known[kind, use]


def best_rating(rules: Rules, character: Character, kind: str, use: str) -> Rating:
    """Return the best of a character's abilities that count for something; the first one of equals."""
    names = rating_names(rules, kind, use)
    rated = [Rating(character.abilities.get(name, 0), name) for name in names]
    return max(rated, key=lambda rating: rating.value, default=Rating(0))


def best_defense(rules: Rules, character: Character, kind: str, attack: str) -> Rating:
    """Return the best of a character's abilities that defend against an attack with an ability."""
    use = f"{AGAINST}.{attack}"
    return best_rating(rules, character, kind, use if rating_names(rules, kind, use) else "defense")


def fighter_of(rules: Rules, character: Character, side: int, said: Mapping[str, Any], *, kind: str) -> Fighter:
    """Return a character as a fighter, with what was typed, and the best ability that fits for the rest.

    Raises:
        UsageError: nothing says what the character absorbs harm with.
    """
    if not character.tracks:
        raise UsageError(f"{character.name} has no sheet, so nobody knows what harm they can take; name a sheet")
    attack = said.get("attack") or best_rating(rules, character, kind, "attack")
    defense, defenses = said.get("defense"), dict[str, Rating]()
    if defense is None:
        defense = best_rating(rules, character, kind, "defense")
        for name in rules.file.setting(f"conflict.{kind}.{AGAINST}") or ():
            defenses[slug(name)] = best_defense(rules, character, kind, slug(name))
    return Fighter(
        character.name,
        side,
        attack,
        defense,
        said.get("advantage") or attack,
        best_rating(rules, character, kind, "discover"),
        best_rating(rules, character, kind, "move"),
        said.get("overcome") or best_rating(rules, character, kind, "overcome"),
        Map(defenses) if defenses else EMPTY,
        attack.name in rating_names(rules, kind, "ranged"),
        bool(said.get("blocks")),
        said.get("zone") or "",
    )


def sides_of(allies: Sequence[Form], against: Sequence[Form]) -> list[tuple[str, int, Map[str, Any]]]:
    """Return who takes part beside the actor, with the number of the side: those against are one, unless they say."""
    numbers: dict[str, int] = {}
    found = [(form.name, 0, form.values) for form in allies]
    for form in against:
        side = numbers.setdefault(form.values.get("side") or "", len(numbers) + 1)
        found.append((form.name, side, form.values))
    return found


def in_order(table: Table, fighters: Sequence[Fighter], *, kind: str, first: str) -> tuple[Fighter, ...]:
    """Return fighters in the order of their turns (Fate Core, "Conflicts", "Turn order").

    Args:
        table: where it is played; the switch `turn_order` says how it is found.
        fighters: those who take part, the actor's side first.
        kind: `physical` or `mental`.
        first: who comes first, as names separated by commas; the others follow as they would.

    Raises:
        UsageError: a name is no fighter's.
    """
    how = table.rules.switches(ConflictSwitches).turn_order
    names = rating_names(table.rules, kind, "order")
    characters = table.state.characters
    rated = {one.who: tuple(-characters[one.who].abilities.get(name, 0) for name in names) for one in fighters}
    ordered = list(fighters)
    if how == "together":
        others = [one for one in fighters if table.state.seat_of(one.who) == GM]
        best = min((rated[one.who] for one in others), default=())
        rated |= {one.who: best for one in others}
    if how != "named":
        ordered.sort(key=lambda one: rated[one.who])
    said = [name.strip() for name in first.split(",") if name.strip()]
    for name in said:
        if all(one.who != name for one in fighters):
            known = enumerated([one.who for one in fighters], name)
            raise UsageError(f"{named('order')}: {name!r} takes no part; those who do: {known}")
    ordered.sort(key=lambda one: said.index(one.who) if one.who in said else len(said))
    return tuple(ordered)


def check_fighters(state: State, fighters: Sequence[Fighter]) -> None:
    """Check that all can take part, once, and that there are two sides.

    Raises:
        UsageError: a character is out, named twice, or all are on one side.
    """
    check_sides(state, [one.who for one in fighters])
    if len({one.side for one in fighters}) < 2:
        raise UsageError(f"a conflict has two sides; give {named('against')} NAME")


def room(character: Character, track: str) -> int:
    """Return how much more harm a character can take before being out, for a mob all its members together."""
    tracks = character.tracks
    stress = tracks.get(track, ())
    found = _room(stress, tracks.get(harm.CONSEQUENCES, ()), track)
    members = character.counters.get(harm.MEMBERS, 1)
    return found if members == 1 else found + (members - 1) * (1 + max((box.size for box in stress), default=0))


@lru_cache(maxsize=4096)
def _room(stress: tuple[Box, ...], slots: tuple[Box, ...], track: str) -> int:
    """Return the most that free boxes hold of one hit: one box of stress, and every slot that fits."""
    box = max((box.size for box in stress if not box.mark), default=0)
    return box + sum(slot.size for slot in slots if not slot.mark and harm.slot_fits(slot, track))
