"""Questions inside a roll: every fault that `ruleset check` tells, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import rpgres
from tests.support.declarative import head, here, write

__all__ = ["here"]  # a fixture that every test here uses

ROLL = (
    head("Roll", "A roll with questions.", low=False, high=True)
    + """
[actions.check]
summary = "Roll."
parameters = ["pool", "friend"]
required = ["pool"]

[actions.check.dice]
own = "{pool + times(bargain)}d6"
best = "2d6kh1"
last = "1d6"

[actions.check.ask.bargain]
text = "A bargain?"
options.take = { text = "One die more.", effects = [{ kind = "price", to = "actor", change = 1 }] }

[actions.check.ask.push]
text = "Push?"
who = "friend"
when = "total < 9"
times = 2
options.push = { reroll = { own = "face < 6" }, most = 3, prefer = "total < 6", when = "own > 1" }
options.two = { cost = { luck = 2 } }

[actions.check.numbers]
total = "own + best + last + 2 * times(push, 'two')"

[actions.check.bands]
high = "total >= 9"
low = "else"

[outcomes]
check.low.ask.later = { who = "actor", text = "How?", optional = true, options.so.text = "So." }

[effects]
price = { help = "price", does = "counter", counter = "price" }
luck = { help = "luck", does = "counter", counter = "luck" }

[parameters]
pool = { kind = "integer", at-least = 1, at-most = 9, help = "dice" }
friend = { kind = "character", help = "who helps" }

[sheet]
name = { kind = "text", help = "name" }
luck = { kind = "counter", default = 0, help = "luck" }
price = { kind = "counter", default = 0, help = "price" }
"""
)
CHECKED = "rulesets/roll/ruleset.toml"


def _line(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "key", "message"),
    [
        (
            'who = "friend"',
            'before = "bst"',
            "push",
            "the question push comes before bst, which names no dice of this action",
        ),
        (
            'who = "friend"',
            'before = "best"',
            "push",
            "the question push needs best, last, rolled only after its answer; its `when` and its options can name",
        ),
        ("cost = { luck = 2 }", "cost = { lucl = 2 }", "push.options.two.cost.lucl", "has no counter or track on its"),
        ('counter = "luck" }', 'counter = "price" }', "push.options.two.cost.luck", "no effect reduces luck"),
        ('own = "face < 6"', 'owm = "face < 6"', "push.options.push.reroll.owm", "no group of dice 'owm'"),
        ('own = "face < 6"', 'best = "face < 6"', "push.options.push.reroll.best", "keep or drop some"),
        ('times(bargain)}d6"', 'times(bargain)}d{4 + pool}kh1"', "push.options.push.reroll.own", "keep or drop some"),
        ('own = "face < 6"', 'own = "face > 6"', "push.options.push.reroll.own", "no face fits this condition"),
        ('when = "total < 9"', 'when = "total < 0"', "push.when", "never asked"),
        ('when = "own > 1"', 'when = "own < 0"', "push.options.push.when", "never offered"),
        ('when = "own > 1"', 'when = "owm > 1"', "push.options.push.when", "has no number 'owm'"),
        ('when = "own > 1"', 'when = "own >"', "push.options.push.when", "is missing here"),
        ('prefer = "total < 6"', 'prefer = "face < 6"', "push.options.push.prefer", "a name of one die"),
        ('who = "friend"', 'who = "frend"', "push.who", "did you mean `friend`?"),
        ("times = 2", "times = 0", "push.times", "below 1"),
        ("most = 3", "most = -1", "push.options.push.most", "never above 0"),
        ("options.push =", "options.no =", "push.options.no", "is the answer that skips the question"),
        ("ask.bargain]", "ask.claim]", "check.ask.claim:", "this label is reserved"),
        ("ask.bargain]", "ask.request]", "check.ask.request:", "this label is reserved"),
        ("[actions.check.ask.push]", "[[actions.check.ask.push]]", "check.ask.push", "single brackets"),
        ("ask.bargain]", "ask.luck-of-all]", "dice.own", "times takes the label of a question"),
        ("times(push, 'two')", "times(push, 'too')", "numbers.total", "times takes an option of push"),
        ("2 * times(push, 'two')", "2", "push.options.two", "this option changes nothing"),
        ('"price", to', '"prize", to', "bargain.options.take.effects[0].kind", "did you mean `price`?"),
        ("change = 1", 'change = "tot"', "bargain.options.take.effects[0].change", "expected a whole number"),
        ('text = "A bargain?"', 'text = "A bargain?"\nwhen = "own > 3"', "dice", "the question bargain needs own"),
        ("most = 3, ", "mots = 3, ", "push.options.push.mots", "did you mean `most`?"),
    ],
)
def test_faults_are_told_with_their_place(old: str, new: str, key: str, message: str) -> None:
    assert old in ROLL
    write(ROLL.replace(old, new, 1), name="roll")
    done = rpgres("ruleset", "check", "roll")
    lines = [one for one in done.out.replace("\n  ", " ").splitlines() if message in one]
    assert lines, done.out
    assert key in lines[0]
    assert lines[0].startswith(f"{CHECKED}:")
    assert int(lines[0].split(":")[1]) <= ROLL.count("\n")


@pytest.mark.parametrize(
    ("label", "what"),
    [
        ("later", "a question of an outcome"),
        ("total", "a number"),
        ("pool", "a parameter"),
        ("last", "the name of dice"),
        ("band", "the outcome"),
        ("face", "a function, or a name of every die"),
        ("luck", "an ability or a counter of sheets"),
    ],
)
def test_labels_that_are_taken(label: str, what: str) -> None:
    text = ROLL.replace("ask.bargain]", f"ask.{label}]").replace(" + times(bargain)", "")
    write(text, name="roll")
    done = rpgres("ruleset", "check", "roll")
    assert f"ask.{label}: {label!r} is already {what}" in done.out


def test_a_role_that_is_none_is_told_once_and_where_it_stands() -> None:
    write(ROLL.replace('who = "friend"', 'who = "frend"'), name="roll")
    done = rpgres("ruleset", "check", "roll")
    assert done.out.count("'frend'") == 1
    assert f"{CHECKED}:{_line(ROLL, 'who = ')}: actions.check.ask.push.who" in done.out


def test_nothing_is_wrong_with_it(here: Path) -> None:
    write(ROLL, name="roll")
    done = rpgres("ruleset", "check", "roll")
    assert (done.code, done.out) == (0, "roll: ok\n")
