"""A ruleset that works, and prints wherever it can."""

from pathlib import Path

from rpgres import Ruleset, hookimpl

talkative = Ruleset("talkative", data=Path(__file__).parent)

print("said when it is imported")


@talkative.action("try")
def try_(table, actor):
    """Roll at least 4."""
    print("said by the rule")
    return table.settle("try", table.roll(table.rules.dice, by=actor.name) - 4)


@talkative.effect("noise")
def noise(state, effect):
    """Change nothing, loudly."""
    print("said by the effect")
    return state


@talkative.policy("loud")
def loud(view, question):
    """Take the first option, loudly."""
    print("said by the policy")
    return question.options[0].name


@hookimpl
def rpgres_rulesets():
    """Yield the ruleset."""
    yield talkative
