"""Faults that authors of rulesets make, planted in one that keeps it: which check finds each, and what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpgres.conformance import CHECKS, run_check
from tests.support import pebble

CODE, DATA = "__init__.py", "ruleset.toml"
TOP = "from pathlib import Path\n"
TOTAL = "    total = table.roll(table.rules.dice, by=actor.name) + skill.value\n"
ASKED = '    chosen = table.ask("charm"'
OWN = "audience=(table.state.seat_of(actor.name),)"
SENSIBLE = "return preferred(view, question)"
COUNT = "    count = 0\n"
RISK = """    luck = table.roll(Dice.of("d6"), "bounce")
    table.merge("forgets the luck", holds=QUESTIONS)
    if table.ask("guess", actor.name, [Option("few"), Option("many")], luck=luck) == "few":
        return table.settle("skip", 2, total=2, opposition=0, roles={"actor": actor.name})
"""
HIDDEN = """
ruleset = "pebble"
seed = "3"
characters.wren.sheet = "wren"
characters.kit.skills = { dodge = 1 }
tags.stone = { text = "Heart-Shaped Pebble", kind = "charm", uses = { wren = 1 } }
tags.ring = { text = "Ring", kind = "charm", uses = { wren = 1 } }

[[steps]]
actor = "wren"
action = "throw"
with = { skill = 1, vs = 12 }
"""
TRAP = """
ruleset = "pebble"
characters.wren.sheet = "wren"
tags.pit = { text = "Deep Pit", kind = "trap", seen-by = ["gm"] }

[[steps]]
actor = "wren"
action = "skip"
"""
SCENE = ("scenes/hidden.toml", "", HIDDEN)


# Each: what is done wrong, the check that finds it, what it says, and the changes that plant it.
FAULTS: list[tuple[str, str, str, list[tuple[str, str, str]]]] = [
    (
        "options are ordered by what is hidden",
        "views",
        "what wren is asked (charm)",
        [
            SCENE,
            (
                CODE,
                ASKED,
                f"    held.sort(key=lambda one: one.name, reverse=len(table.state.tags) > len(known.tags))\n{ASKED}",
            ),
        ],
    ),
    (
        "a refusal depends on a hidden thing of a kind that only another scene has",
        "views",
        "changes an error",
        [
            ("scenes/trap.toml", "", TRAP),
            (
                CODE,
                TOTAL,
                f"    if any(tag.kind == 'trap' for tag in table.state.tags):\n        raise UsageError('no')\n{TOTAL}",
            ),
        ],
    ),
    (
        "a line is for somebody who has no seat",
        "views",
        "'Wren!', which is no seat",
        [(CODE, OWN, "audience=(actor.title + '!',)")],
    ),
    (
        "a line reveals something without a name",
        "views",
        "it takes a tuple of names",
        [(CODE, OWN, "reveals=True")],
    ),
    (
        "a policy reads what a rule has noted on the ruleset",
        "sources",
        "it changes the module's pebble",
        [
            (CODE, TOTAL, f"    pebble.last = table.state\n{TOTAL}"),
            (CODE, SENSIBLE, "return question.options[len(pebble.last.tags) % 2].name"),
        ],
    ),
    (
        "a policy remembers, by a way that reading the code does not show",
        "policies",
        "decides differently the second time at 'price'",
        [
            (
                CODE,
                SENSIBLE,
                "setattr(bold, 'n', getattr(bold, 'n', 0) + 1)\n    return question.options[bold.n % 2].name",
            )
        ],
    ),
    (
        "a function keeps something on itself",
        "sources",
        "it changes the module's throw",
        [(CODE, TOTAL, f"{TOTAL}    throw.last = total\n")],
    ),
    (
        "a class keeps something",
        "sources",
        "it changes the module's Memo",
        [(CODE, TOP, f"{TOP}class Memo:\n    seen = []\n"), (CODE, TOTAL, f"{TOTAL}    Memo.seen.append(total)\n")],
    ),
    (
        "a list is changed by another name",
        "sources",
        "it changes the module's memo",
        [(CODE, TOP, f"{TOP}memo = {{}}\nkeep = memo.setdefault\n"), (CODE, TOTAL, f"{TOTAL}    keep(1, total)\n")],
    ),
    (
        "a rule opens a file by its path",
        "sources",
        "it calls Path(__file__).open()",
        [(CODE, TOTAL, f"{TOTAL}    Path(__file__).open().close()\n")],
    ),
    (
        "a rule looks at who answers",
        "sources",
        "it uses table.run, which is not public",
        [(CODE, TOTAL, f"{TOTAL}    total += 20 * ('Seeded' in repr(table.run.dealer))\n")],
    ),
    (
        "a rule uses the inside of rpgres",
        "sources",
        "it imports rpgres.engine.run, which is not public",
        [(CODE, TOP, f"{TOP}from rpgres.engine.run import play\n")],
    ),
    (
        "a merge forgets what a question tells",
        "odds",
        "what is asked under guess differs",
        [(CODE, COUNT, RISK + COUNT), (DATA, 'labels = ["bounce"]', 'labels = ["bounce", "guess"]')],
    ),
    (
        "a state has keys that are no texts",
        "states",
        "cannot be serialized",
        [
            (CODE, "import NO,", "import NO, Map,"),
            (CODE, '.with_("marks", marks))', '.with_("marks", marks).with_("more", Map({1: 2})))'),
        ],
    ),
]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder on the path of modules."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("check", "told", "changes"), [fault[1:] for fault in FAULTS], ids=[one[0] for one in FAULTS])
def test_a_fault_is_found(check: str, told: str, changes: list[tuple[str, str, str]], site: Path) -> None:
    found = run_check(next(one for one in CHECKS if one.name == check), pebble.install(site, changes))
    assert told in "\n".join(problem.text for problem in found.problems)
