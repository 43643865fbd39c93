"""Rulesets in one TOML file for tests, and how tests write, load, play and compute them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from rpgres import Result, resolve
from rpgres.engine.prepare import prepare
from rpgres.engine.resolve import forget_rules
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules

# 3d6 at or under an attribute; degrees by threes; a triple of the lowest faces is a wonder.
UNDER = """
standalone = true
title = "Three under"
summary = "3d6 at or under an attribute."
version = "1"

[bands]
wonder = { title = "Wonder", success = true, also = "good" }
good = { title = "Done", success = true }
fine = { title = "Well done", success = true, also = "good" }
bad = { title = "Not done", success = false }

[bands.calamity]
title = "Calamity"
success = false

[actions.try]
summary = "Try it."
parameters = ["attribute", "shift", "tired"]
required = ["attribute"]
dice = "3d6"
tell = ["degrees", "edge"]

[actions.try.numbers]
total = "roll - shift + 2 * tired"
opposition = "attribute"
margin = "attribute - total"
degrees = "margin / 3"
edge = "17 - wounds"

[actions.try.bands]
wonder = "roll <= 4"
calamity = "roll >= edge"
bad = "margin < 0"
good = "margin < 3"
fine = "else"

[parameters.attribute]
kind = "ability"
help = "what is tried with"

[parameters.shift]
kind = "integer"
help = "how easy it is"

[parameters.tired]
kind = "flag"
help = "whether one is tired"

[outcomes.try.good]
text = "It is done."
rolls = { time = "1d6 + {attribute}/2" }
effects = [{ kind = "done", degrees = "degrees", minutes = "time" }]

[outcomes.try.bad]
text = "It is not."
effects = [{ kind = "hurt", to = "actor", change = 1, when = { tired = "yes", margin-to = -2 } }]

[outcomes.try.calamity]
text = "Everything comes down."

[outcomes.try.calamity.ask.what]
who = "gm"
text = "What?"
options = { roof = { text = "The roof." }, name = { text = "A name.", prefer = 1 } }

[effects.done]
help = "it is done"
does = "nothing"
fields = { degrees = "how well", minutes = "how long it took" }
numbers = ["degrees", "minutes"]

[effects.hurt]
help = "a wound"
does = "counter"
counter = "wounds"
fields = { to = "whose", change = "how many" }
numbers = ["change"]

[sheet.name]
kind = "text"
help = "who it is"

[sheet.attributes]
kind = "abilities"
names = ["brawn", "nerve", "guile"]
at-least = 3
at-most = 18
help = "from 3 to 18"

[sheet.wounds]
kind = "counter"
default = 0
at-least = 0
at-most = 3
help = "wounds so far"
"""

# An exploding die over a number, with raises.
RAISES = """
standalone = true
title = "Raises"
summary = "An exploding die against a number, a raise for every four over it."
version = "1"

[bands]
miss = { title = "Miss", to = -1, success = false }
hit = { title = "Hit", from = 0, to = 3, success = true }
raise = { title = "Raise", from = 4, success = true, also = "hit" }

[actions.test]
summary = "Roll the die."
parameters = ["die", "vs"]
required = ["die", "vs"]
dice = { roll = "{die}", opposition = "{vs}" }
numbers = { raises = "margin / 4" }

[parameters.die]
kind = "choice"
help = "how good one is"
choices = { d6 = "fair", d8 = "good", d12 = "great" }
values = { d6 = "d6!", d8 = "d8!", d12 = "d12!" }

[parameters.vs]
kind = "opposition"
help = "the number"

[outcomes.test.hit]
text = "It lands."
effects = [{ kind = "land", raises = "raises" }]

[effects.land]
help = "how well it lands"
does = "nothing"
fields = { raises = "how many raises" }
numbers = ["raises"]
"""


BLADES = """
standalone = true
title = "Blades"
summary = "A pool against a guard."
version = "1"

[bands]
miss = { title = "Miss", to = 0, success = false }
hit = { title = "Hit", from = 1, success = true }

[actions.strike]
summary = "Strike."
parameters = ["pool", "vs", "cover", "angry", "luck"]
required = ["pool", "vs"]
dice = { roll = "{pool}d6>=5", opposition = "{vs} + {cover}" }

[parameters]
pool = { kind = "ability", help = "how many dice" }
vs = { kind = "opposition", help = "the guard", rolls = "{rating}d6>=5" }
cover = { kind = "integer", help = "what covers them" }
angry = { kind = "flag", help = "whether one is angry" }
luck = { kind = "counter", counter = "luck", help = "luck left" }

[outcomes.strike.hit]
text = "A hit."
rolls = { damage = "{margin}d4 + {angry}", spread = "{luck}d2" }
effects = [
  { kind = "harm", to = "opponent", change = "damage" },
  { kind = "harm", to = "opponent", change = 10, when = { damage-from = 4 } },
]

[outcomes.strike.hit.ask.press]
who = "actor"
optional = true
text = "Press on?"

[outcomes.strike.hit.ask.press.options.again]
text = "Again."
prefer = 1
rolls = { more = "{damage}d2" }
effects = [
  { kind = "harm", to = "opponent", change = "more" },
  { kind = "out", to = "opponent", when = { more-from = 7 } },
]

[effects.harm]
help = "harm"
does = "counter"
counter = "harm"
fields = { to = "whose", change = "how much" }
numbers = ["change"]

[effects.out]
help = "down"
does = "out"
fields = { to = "who" }

[sheet]
name = { kind = "text", help = "who it is" }
skills = { kind = "abilities", help = "skills", names = ["blade"] }
harm = { kind = "counter", help = "harm taken", default = 0 }
luck = { kind = "counter", help = "luck", default = 2 }
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("RPGRES_RULESETS", raising=False)
    monkeypatch.delenv("RPGRES_DISABLE", raising=False)
    forget_rules()
    yield work
    forget_rules()


def write(text: str, *, name: str = "under", root: str = "rulesets") -> Path:
    path = Path(root) / name / "ruleset.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def head(title: str, summary: str, /, **bands: bool) -> str:
    """Return the beginning of a ruleset: its titles, and its bands, each with whether it is a success."""
    text = f'standalone = true\ntitle = "{title}"\nsummary = "{summary}"\nversion = "1"\n\n[bands]\n'
    for name, is_success in bands.items():
        text += f'{name} = {{ title = "{name.capitalize()}", success = {str(is_success).lower()} }}\n'
    return text


def rules(name: str = "under", **more: Any) -> Rules:
    return load_rules(find_ruleset(name), **more)


def odds(action: str, /, name: str = "under", **inputs: Any) -> dict[str, Fraction]:
    found = outcome_odds(prepare(rules(name), action, inputs))
    assert found.open == 0
    return {band: mass for band, mass in found.masses.items() if mass}


def done(action: str, /, name: str = "under", **inputs: Any) -> Result:
    found = resolve(name, action, **inputs)
    assert isinstance(found, Result), found
    return found
