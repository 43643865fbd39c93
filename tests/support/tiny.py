"""A small ruleset of the tests' own, with nothing of Fate in it: what the engine has to do for any ruleset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rpgres.dice import dice
from rpgres.engine.players import NO
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.table import Outcome, Table
from rpgres.model.state import Character, State, put
from rpgres.rulesets import Effect, Option, Part, Rule, Rules, Ruleset, merge_parts
from rpgres.toml.reading import Source, parse

TINY = """
title = "Tiny"
summary = "Two dice against a number, and a clock that fills."
version = "1"
dice = "2d6"

[ladder]
easy = 5
hard = 9

[bands.miss]
title = "Miss"
to = -1
success = false

[bands.even]
title = "Even"
from = 0
to = 0

[bands.hit]
title = "Hit"
from = 1
success = true
unopposed = true

[parameters.vs]
kind = "opposition"
help = "what is in the way"

[parameters.push]
kind = "flag"
help = "whether one may push"

[actions.try]
summary = "Try something."
parameters = ["vs", "push"]
required = ["vs"]
labels = ["roll", "opposition", "push", "push-die"]
tables = ["try"]

[labels.roll]
kind = "chance"
help = "two dice"

[labels.push-die]
kind = "chance"
help = "one die more"

[labels.opposition]
kind = "chance"
help = "the other side's dice"

[labels.push]
kind = "decision"
help = "whether to push on"
optional = true
facts = ["total", "margin"]

[switches.grit]
default = "no"
help = "whether an even result fills the clock"
source = "ours"
choices = { yes = "it does", no = "it does not" }

[sheet.name]
kind = "text"
help = "name"

[sheet.luck]
kind = "counter"
default = 1
at-least = 0
help = "luck"

[effects.tick]
counter = "clock"
help = "the clock fills"

[outcomes.try.miss]
text = "Nothing."

[outcomes.try.miss.ask.price]
who = "actor"
text = "What does it cost?"

[outcomes.try.miss.ask.price.options.luck]
text = "Luck."
effects = [{ kind = "luck", to = "actor", change = -1 }]

[outcomes.try.miss.ask.price.options.time]
text = "Time."
prefer = 1
effects = [{ kind = "tick", segments = "-margin" }]

[outcomes.try.even]
text = "Just so."
effects = [{ kind = "tick", segments = 1, when = { grit = "yes" } }]

[outcomes.try.hit]
text = "Done."
effects = [{ kind = "tick", segments = "margin-1", when = { margin-from = 3 } }]
"""


def tiny_ruleset() -> Ruleset:
    """Return the code of the ruleset, fresh each time."""
    ruleset = Ruleset("tiny")

    @ruleset.action("try")
    def try_(table: Table, actor: Character, *, vs: Any = None, push: bool = False) -> Outcome:
        two = table.rules.dice
        roles = {"actor": actor.name}
        if vs is None:
            return table.settle("try", None, roles=roles)
        if not push:
            if vs.dice is None:
                total = table.roll(two, by=actor.name)
                return table.settle("try", total - vs.value, total=total, opposition=vs.value, roles=roles)
            compared = table.versus(two, vs.dice, other_add=vs.value)
            return table.settle("try", compared.margin, roles=roles)
        total = table.roll(two, by=actor.name)
        for _ in range(3):
            answer = table.ask("push", actor.name, (Option("on"),), optional=True, total=total, margin=total - vs.value)
            if answer == NO:
                break
            total += table.roll(dice("d6"), "push-die") - 3
        return table.settle("try", total - vs.value, total=total, roles=roles)

    @ruleset.effect("tick")
    def tick(state: State, effect: Effect) -> State:
        return put(
            state, ("counters",), state.counters.with_("clock", state.counters.get("clock", 0) + effect["segments"])
        )

    @ruleset.effect("luck")
    def luck(state: State, effect: Effect) -> State:
        counters = state.characters[effect["to"]].counters
        return put(state, ("characters", effect["to"], "counters"), counters.with_("luck", counters.get("luck", 0) - 1))

    return ruleset


def tiny_rules(
    text: str = TINY, *, ruleset: Ruleset | None = None, folder: Path | None = None, **switches: str
) -> Rules:
    """Return the ruleset ready to play; `text` in place of its own data."""
    source = Source(path="ruleset.toml", text=text)
    part = Part(folder=folder or Path("nowhere"), source=source, data=parse(source))
    return Rules(ruleset or tiny_ruleset(), file=merge_parts([part]), parts=[part], switches=switches)


def tiny_action(rules: Rules | None = None, /, **inputs: Any) -> Prepared:
    """Return the action `try` with inputs read."""
    return prepare(rules or tiny_rules(), "try", inputs)


def with_rule(rule: Rule) -> Prepared:
    """Return the action `try` with another rule, against 7."""
    ruleset = tiny_ruleset()
    ruleset.actions["try"] = rule
    return prepare(tiny_rules(ruleset=ruleset), "try", {"vs": 7})
