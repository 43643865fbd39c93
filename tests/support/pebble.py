"""A ruleset that keeps the whole contract, as text: tests of the contract break it in one place each."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from rpgres.conformance import Subject, open_subject
from rpgres.plugins.discovery import find_ruleset
from tests.support.lantern import write

CODE = '''
from pathlib import Path

from rpgres import NO, Dice, Option, Outcome, Question, Ruleset, UsageError, hookimpl, pile_name, preferred, put

QUESTIONS = ("outcome", "margin", "total")
pebble = Ruleset("pebble", data=Path(__file__).parent)


@pebble.action("throw")
def throw(table, actor, *, skill, vs):
    """Throw a pebble at something."""
    roles = {"actor": actor.name, "opponent": vs.character or "gm"}
    if vs.dice is not None:
        compared = table.versus(table.rules.dice, vs.dice, add=skill.value, other_add=vs.value)
        return table.settle("throw", compared.margin, roles=roles)
    total = table.roll(table.rules.dice, by=actor.name) + skill.value
    known = table.state.seen_by(table.state.seat_of(actor.name))
    held = [Option(tag.slug, tag.name, 1) for tag in known.tags if tag.held_by([actor.name])]
    chosen = table.ask("charm", actor.name, held, optional=True, margin=total - vs.value)
    if chosen != NO:
        total += 2
    return table.settle("throw", total - vs.value, total=total, opposition=vs.value, roles=roles)


@pebble.action("skip")
def skip(table, actor):
    """Skip a pebble until it sinks."""
    count = 0
    for _ in range(4):
        if table.roll(Dice.of("d6"), "bounce") < 3:
            break
        count += 1
    return table.settle("skip", count - 2, total=count, opposition=2, roles={"actor": actor.name})


@pebble.action("bet")
def bet(table, actor):
    """Everybody draws a shell and guesses in secret; then they skip pebbles, and one shell is shown."""
    names = tuple(table.state.characters)
    for name in names:
        table.draw("shells", to=pile_name("hand", name), label="shell", by=name)
    asked = [Question("guess", name, (Option("few"), Option("many"))) for name in names]
    guesses = table.ask_together(asked, secret=True)
    own = guesses[names.index(actor.name)]
    table.tell(f"{actor.name} guessed {own}", audience=(table.state.seat_of(actor.name),))
    count = 0
    for number in range(4):
        count += table.roll(Dice.of("d2"), "bounce") - 1
        table.merge((number, count, own, table.knowledge(pile_name("hand", actor.name))), holds=QUESTIONS)
    card = table.cards(pile_name("hand", actor.name))[0]
    table.move([card], source=pile_name("hand", actor.name), to="shown", by=actor.name, label="shell")
    table.tell(f"{actor.name} shows {card.title}")
    return table.settle("bet", count - 2, total=count, opposition=2, roles={"actor": actor.name})


@pebble.effect("mark")
def mark(state, effect):
    """Return the state with more or fewer marks for somebody."""
    who = state.characters.get(effect["to"])
    if who is None:
        return state
    marks = who.counters.get("marks", 0) + effect["change"]
    return put(state, ("characters", who.name, "counters"), who.counters.with_("marks", marks))


@pebble.policy("bold")
def bold(view, question):
    """Use a charm when the throw would miss."""
    if question.label == "charm":
        return question.options[0].name if question.facts["margin"] < 0 else NO
    return preferred(view, question)


@pebble.prepare
def grow(rules, character):
    """Return whoever has no marks with none."""
    return put(character, ("counters",), character.counters.with_("marks", character.counters.get("marks", 0)))


@hookimpl
def rpgres_rulesets():
    yield pebble
'''

DATA = """
title = "Pebble"
summary = "Throwing pebbles at things."
version = "1"
dice = "2d6"
roles = ["actor", "opponent", "gm"]

[bands]
miss = { title = "Miss", to = -1, success = false }
graze = { title = "Graze", from = 0, to = 1 }
hit = { title = "Hit", from = 2, success = true, unopposed = true }

[actions.throw]
summary = "Throw a pebble."
example = "rpgres roll pebble throw --skill 1 --vs 8"
parameters = ["skill", "vs", "charms"]
required = ["skill", "vs"]
labels = ["roll", "opposition", "charm"]
tables = ["throw"]

[decks.shells]
title = "Shells"
suits.sea = { title = "Sea", code = "Se", cards = ["1", "2", "3"] }
suits.land = { title = "Land", code = "La", cards = ["1", "2", "3"] }

[piles]
shells = { title = "Shells", face = "down", decks.shells = {} }
shown = { title = "Shown shells", face = "up" }
hand = { title = "Hand", face = "hand", each = true, dealt-from = "shells" }

[actions.bet]
summary = "Bet on the next pebble."
example = "rpgres roll pebble bet"
labels = ["shell", "guess", "bounce"]
tables = ["bet"]

[actions.skip]
summary = "Skip a pebble over water."
example = "rpgres roll pebble skip"
labels = ["bounce"]
tables = ["skip"]

[parameters.skill]
kind = "ability"
help = "how good the arm is"

[parameters.vs]
kind = "opposition"
help = "how far it is, or who dodges"

[parameters.charms]
kind = "tag"
tag = "charm"
help = "something that brings luck"

[labels.roll]
kind = "chance"
help = "two dice"

[labels.opposition]
kind = "chance"
help = "the dodge"

[labels.bounce]
kind = "chance"
help = "one die for each bounce"

[labels.shell]
kind = "chance"
help = "a shell"

[labels.guess]
kind = "decision"
help = "how far it goes"

[labels.charm]
kind = "decision"
help = "which charm to use"
who = "actor"
optional = true
facts = ["margin"]

[switches.wind]
help = "whether it blows"
default = "no"
source = "ours"
choices = { no = "calm air", yes = "a strong wind" }

[sheet.name]
kind = "text"
help = "what people call them"

[sheet.marks]
kind = "counter"
help = "marks so far"

[sheet.charms]
kind = "tags"
tag = "charm"
help = "what brings them luck"

[sheet.skills]
kind = "abilities"
names = ["arm", "dodge"]
help = "how good they are"

[effects.mark]
help = "somebody has more or fewer marks"
fields = { to = "whose", change = "how many" }
numbers = ["change"]

[policies]
bold = "uses a charm when the throw would miss"

[outcomes.throw.miss]
text = "Too short."

[outcomes.throw.miss.ask.price]
who = "actor"
text = "What does it cost?"

[outcomes.throw.miss.ask.price.options.mark]
text = "A mark."
effects = [{ kind = "mark", to = "actor", change = -1 }]

[outcomes.throw.miss.ask.price.options.shame]
text = "Shame."
prefer = 1

[outcomes.throw.graze]
text = "Just so."
effects = [{ kind = "mark", to = "actor", change = 1, unless = { wind = "yes" } }]

[outcomes.throw.hit]
text = "Well thrown."
effects = [{ kind = "mark", to = "actor", change = "margin" }]

[outcomes.bet.miss]
text = "Lost."

[outcomes.bet.graze]
text = "Even."

[outcomes.bet.hit]
text = "Won."

[outcomes.skip.miss]
text = "It sinks."

[outcomes.skip.graze]
text = "It skips."

[outcomes.skip.hit]
text = "It skips and skips."
"""

SHEET = """
name = "Wren"
charms = ["Smooth River Stone"]
skills = { arm = 2, dodge = 1 }
"""

SCENE = """
ruleset = "pebble"
seed = "7"
characters.wren.sheet = "wren"
characters.kit.skills = { dodge = 1 }
tags.stone = { text = "Heart-Shaped Pebble", kind = "charm", uses = { wren = 1 } }

[[steps]]
id = "first"
actor = "wren"
action = "throw"
with = { skill = "arm", vs = 9 }
given = { roll = "3,3" }
choose = { charm = "heart-shaped-pebble" }
expect = { outcome = "graze", margin = 1 }

[[steps]]
actor = "wren"
action = "bet"
given = { bounce = ["1", "2", "2", "2"] }
choose = { guess = ["many", "few"] }
expect = { outcome = "graze", total = 3 }

[[steps]]
actor = "wren"
action = "throw"
with = { skill = "arm", vs = "kit:dodge" }
given = { roll = "6,6", opposition = "1,1" }
expect = { outcome = "hit", margin = 11, state = { "characters.wren.counters.marks" = 12 } }
"""

FILES = {"__init__.py": CODE, "ruleset.toml": DATA, "sheets/wren.toml": SHEET, "scenes/first.toml": SCENE}


def install(site: Path, changes: Sequence[tuple[str, str, str]] = ()) -> Subject:
    """Return the ruleset as a subject, installed in a folder on the path of modules.

    Args:
        site: the folder.
        changes: a file, a piece of its text, and what stands there instead; a file that is not there is added.
    """
    files = dict(FILES)
    for name, old, new in changes:
        text = files.get(name, "")
        assert old in text, f"{name} has no {old!r}"
        files[name] = text.replace(old, new, 1)
    write(site, "pebble", code=files.pop("__init__.py"), data=files.pop("ruleset.toml"))
    for name, text in files.items():
        path = site / "rpgres_pebble" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    importlib.invalidate_caches()
    sys.modules.pop("rpgres_pebble", None)
    return open_subject(find_ruleset("pebble"))
