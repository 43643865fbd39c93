"""A procedure of the tests' own: a battle of Risk, three dice against two, until one side is gone."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from rpgres import Effect, Map, Outcome, Ruleset, State, Table, Turn, effect, put
from rpgres.dice import Dice, dice
from rpgres.rulesets import Option, Rules
from tests.support.tiny import tiny_rules

DATA = """
title = "Battle"
summary = "Armies fight until one is gone."
version = "1"

[bands.lost]
title = "Lost"
success = false

[bands.won]
title = "Won"
success = true

[parameters.attackers]
kind = "integer"
help = "armies that attack"
[parameters.defenders]
kind = "integer"
help = "armies that defend"
[parameters.may-stop]
kind = "flag"
help = "whether the attacker may stop"

[actions.battle]
summary = "Fight until one side is gone."
parameters = ["attackers", "defenders", "may-stop"]
labels = ["attack", "defense", "go-on"]
tables = ["battle"]
procedure = true

[labels.attack]
kind = "chance"
help = "the attacker's dice"
[labels.defense]
kind = "chance"
help = "the defender's dice"
[labels.go-on]
kind = "decision"
help = "whether to go on"

[code-counters]
attackers = "armies that attack"
defenders = "armies that defend"
[effects.army]
help = "armies change"

[outcomes.battle.lost]
text = "The attack fails."
[outcomes.battle.won]
text = "The attack succeeds."
"""


SKIRMISH = """
[sheet.name]
kind = "text"
help = "name"

[actions.skirmish]
summary = "One clash: on 4 and more a defender falls."
labels = ["attack"]
tables = ["skirmish"]

[outcomes.skirmish.lost]
text = "Nothing."
[outcomes.skirmish.won]
text = "One falls."
effects = [{ kind = "army", of = "defenders", change = -1 }]
"""


class Front(msgspec.Struct, frozen=True):
    """Where a battle stands beside the armies: how often it was fought, and whether the attacker may stop."""

    rounds: int = 0
    may_stop: bool = False


def highest(table: Table, count: int, label: str) -> list[int]:
    """Return dice thrown one by one, the highest first, as the rule compares them."""
    one: Dice = dice("d6")
    return sorted((table.roll(one, label) for _ in range(count)), reverse=True)


def over(table: Table, front: Front, band: str) -> Outcome:
    return msgspec.structs.replace(table.settle("battle", None, band=band), details=Map({"rounds": front.rounds}))


def fight(table: Table, front: Front) -> Turn | Outcome:
    """Fight one round: the highest dice are compared, then the second highest; the defender wins ties."""
    attackers, defenders = (table.state.counters.get(name, 0) for name in ("attackers", "defenders"))
    if not attackers or not defenders:
        return over(table, front, "lost" if defenders else "won")
    if front.may_stop and table.ask("go-on", "actor", (Option("on"), Option("stop"))) == "stop":
        return over(table, front, "lost")
    own = highest(table, min(3, attackers), "attack")
    other = highest(table, min(2, defenders), "defense")
    lost = sum(a <= d for a, d in zip(own, other, strict=False))
    won = min(len(own), len(other)) - lost
    losses = (effect("army", of="attackers", change=-lost), effect("army", of="defenders", change=-won))
    changed = tuple(loss for loss in losses if loss["change"])
    return Turn(Front(front.rounds + 1, front.may_stop), Outcome("", effects=changed), action="fight")


def battle_ruleset() -> Ruleset:
    """Return the code of the ruleset, fresh each time."""
    ruleset = Ruleset("battle")

    @ruleset.procedure("battle", turn=fight)
    def battle(table: Table, actor: Any, *, attackers: int = 0, defenders: int = 0, may_stop: bool = False) -> Front:
        if attackers:
            table.run.state = put(table.state, ("counters",), table.state.counters.with_("attackers", attackers))
            table.run.state = put(table.state, ("counters",), table.state.counters.with_("defenders", defenders))
        return Front(0, may_stop)

    @ruleset.effect("army")
    def army(state: State, change: Effect) -> State:
        name = change["of"]
        return put(state, ("counters",), state.counters.with_(name, state.counters[name] + change["change"]))

    return ruleset


def battle_in(folder: Path) -> Ruleset:
    """Return the ruleset with its data in a folder, and with an action beside the procedure: a skirmish."""
    (folder / "sheets").mkdir(parents=True)
    (folder / "ruleset.toml").write_text(DATA + SKIRMISH)
    ruleset = battle_ruleset()
    ruleset.data = folder

    @ruleset.action("skirmish")
    def skirmish(table: Table, actor: Any) -> Outcome:
        return table.settle("skirmish", None, band="won" if table.roll(dice("d6"), "attack") >= 4 else "lost")

    return ruleset


def battle_rules() -> Rules:
    """Return the ruleset ready to play."""
    return tiny_rules(DATA, ruleset=battle_ruleset())


@cache
def losses(attackers: int, defenders: int) -> dict[tuple[int, int], Fraction]:
    """Return the chances of losses in one round, counted over all faces without any engine."""
    found: dict[tuple[int, int], Fraction] = {}
    count = min(3, attackers), min(2, defenders)
    for faces in product(range(1, 7), repeat=sum(count)):
        own, other = sorted(faces[: count[0]])[::-1], sorted(faces[count[0] :])[::-1]
        lost = sum(a <= d for a, d in zip(own, other, strict=False))
        pair = lost, min(count) - lost
        found[pair] = found.get(pair, Fraction(0)) + Fraction(1, 6 ** sum(count))
    return found


@cache
def chance_to_win(attackers: int, defenders: int) -> Fraction:
    """Return the attacker's chance to win a whole battle, by the recursion over single rounds."""
    if not attackers or not defenders:
        return Fraction(bool(attackers))
    return sum(
        (
            chance * chance_to_win(attackers - lost, defenders - won)
            for (lost, won), chance in losses(attackers, defenders).items()
        ),
        Fraction(0),
    )
