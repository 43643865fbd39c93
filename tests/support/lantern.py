"""A third-party ruleset for tests of commands: small, with every kind of sheet field, and installed as pip would."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rpgres.cli.root import app
from rpgres.plugins import entries, importing

CODE = """
from pathlib import Path

from rpgres import Ruleset, hookimpl

lantern = Ruleset("lantern", data=Path(__file__).parent)


@lantern.action("search")
def search(table, actor, skill):
    total = table.roll(table.rules.dice, by=actor.name) + skill.value
    return table.settle("search", total - 7, total=total, opposition=7, roles={"actor": actor.name})


@lantern.effect("light")
def light(state, effect):
    return state


@lantern.policy("careful")
def careful(view, question):
    return question.options[0].name


@hookimpl
def rpgres_rulesets():
    yield lantern
"""

DATA = """
title = "Lantern"
summary = "Searching the dark, with oil to burn."
version = "3"
credits = "Made up for tests."
dice = "2d6"

[bands]
dark = { title = "Darkness", to = -1, success = false }
glow = { title = "A glow", from = 0, to = 0 }
found = { title = "Found", from = 1, success = true, unopposed = true }

[actions.search]
summary = "Look for something in the dark."
details = "It takes a while."
example = "rpgres roll lantern search --skill 2"
parameters = ["skill"]
required = ["skill"]
labels = ["roll"]
tables = ["search"]

[parameters.skill]
kind = "ability"
help = "what is used"

[labels.roll]
kind = "chance"
help = "two dice"

[effects.light]
help = "oil burns"
fields = { to = "whose", change = "how much" }

[policies]
careful = "saves oil"

[switches.cost_chooser]
help = "who pays"
default = "actor"
source = "nowhere"
choices = { actor = "whoever searches", gm = "the game master" }

[tracks.wounds]
title = "Wounds"
boxes = { a = 1, b = 2 }
more = [{ ability = "grit", at = 2, boxes = { c = 3 } }]

[tracks.scars]
title = "Scars"
tag = "scar"
boxes = { deep = 4 }

[sheet.name]
kind = "text"
required = true
help = "what people call them"

[sheet.past]
kind = "text"
help = "where they come from"

[sheet.side]
kind = "seat"
help = "who plays them"

[sheet.oil]
kind = "counter"
default = 6
at-least = 1
help = "oil at dusk"

[sheet.oil-now]
kind = "counter"
default = "oil"
at-least = 0
at-most = 12
help = "oil now"

[sheet.traits]
kind = "tags"
tag = "trait"
help = "what marks them"

[sheet.abilities]
kind = "abilities"
names = ["grit", "eyes"]
at-least = 1
at-most = 5
help = "how good they are"

[sheet.tools]
kind = "records"
help = "what they carry"

[sheet.tools.fields.use]
kind = "text"
required = true
help = "what for"

[sheet.tools.fields.weight]
kind = "integer"
default = 1
help = "how heavy"

[sheet.tools.fields.place]
kind = "choice"
choices = ["hand", "bag"]
help = "where it is"

[sheet.tools.fields.lit]
kind = "flag"
help = "whether it burns"

[sheet.fewer]
kind = "boxes"
help = "boxes of those who have fewer"

[sheet.hurt]
kind = "marks"
help = "boxes already marked"

[sheet.scarred]
kind = "written"
track = "scars"
help = "scars already there"

[outcomes.search.dark.ask.price]
who = "switch:cost_chooser"
text = "What now?"

[outcomes.search.dark.ask.price.options.stay]
text = "You stay in the dark."

[outcomes.search.dark.ask.price.options.burn]
text = "You burn more oil."
prefer = 1
effects = [{ kind = "light", to = "actor", change = -1, when = { margin-from = -3 } }]

[outcomes.search.glow]
text = "You see a little."

[outcomes.search.found]
text = "There it is."
effects = [{ kind = "light", to = "actor", change = 1, unless = { cost_chooser = "gm" } }]
"""


@contextmanager
def installed(folder: Path) -> Iterator[Path]:
    """Work in an empty folder, with lantern installed beside the built-in rulesets, and nothing of the user's own."""
    site = folder / "site"
    write(site, "lantern", code=CODE, data=DATA)
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        (folder / "work").mkdir()
        patch.chdir(folder / "work")
        patch.delenv("RPGRES_DISABLE", raising=False)
        patch.delenv("RPGRES_RULESETS", raising=False)
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.setenv("COLUMNS", "80")
        _forget()
        yield folder / "work"
    _forget()
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
            del sys.modules[name]


def write(site: Path, name: str, *, code: str, data: str) -> None:
    """Install a plugin package `rpgres_NAME` with the ruleset NAME."""
    package = site / f"rpgres_{name}"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(code, "utf-8")
    (package / "ruleset.toml").write_text(data, "utf-8")
    info = site / f"rpgres_{name}-0.7.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: rpgres-{name}\nVersion: 0.7\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[rpgres]\n{name} = rpgres_{name}\n", "utf-8")
    _forget()


def _forget() -> None:
    entries._scan.cache_clear()
    importing.record_of.cache_clear()


def rpgres(*args: str, stdin: str | bytes | None = None) -> Result:
    """Run a command line in this process."""
    return CliRunner().invoke(app, list(args), input=stdin)
