"""Tracks of the whole table, such as clocks, from a ruleset's TOML alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpgres.engine.resolve import forget_rules
from tests.support.command_line import as_json, rpgres

RULESET = """
standalone = true
title = "Heist"
summary = "A die, and an alarm that rises."
version = "1"

[bands]
bad = { title = "Bad", to = 3, success = false }
good = { title = "Good", from = 4, success = true }

[actions.sneak]
summary = "Sneak."
dice = "1d6"

[outcomes.sneak.bad]
text = "Somebody hears."
effects = [{ kind = "alarm", to = "gm", count = 2 }]

[outcomes.sneak.good]
text = "Nobody hears."
effects = [{ kind = "calm", to = "gm" }]

[effects]
alarm = { help = "the alarm rises", does = "mark", track = "alarm" }
calm = { help = "the alarm falls", does = "clear", track = "alarm" }

[tracks.alarm]
title = "Alarm"
boxes = 4
of-table = true
"""
SCENE = """
ruleset = "heist"

[characters.mara]

[[steps]]
when = { "tracks.alarm.marked" = 0 }
action = "sneak"
actor = "mara"
given = { roll = "1" }
expect = { outcome = "bad", state = { "tracks.alarm.marked" = 2, "tracks.alarm.free" = 2 } }

[[steps]]
action = "sneak"
actor = "mara"
given = { roll = "6" }
expect = { outcome = "good", state = { "tracks.alarm.marked" = 1 } }
"""


@pytest.fixture(autouse=True)
def _heist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forget_rules()


def write(text: str = RULESET) -> None:
    folder = Path("rulesets/heist")
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text(text)


def test_outcomes_mark_and_clear_it_and_conditions_read_it() -> None:
    write()
    Path("s.toml").write_text(SCENE)
    assert rpgres("ruleset", "check", "rulesets/heist") == (0, "heist: ok\n", "")
    assert rpgres("scene", "check", "s.toml").code == 0
    ran = as_json("scene", "run", "s.toml")
    assert [box["mark"] for box in ran["state"]["tracks"]["alarm"]] == ["x", "", "", ""]
    assert ran["state"]["characters"]["mara"]["tracks"] == {}


def test_a_scene_may_begin_with_some_of_it_marked() -> None:
    write()
    Path("s.toml").write_text(
        'ruleset = "heist"\ntracks.alarm = { boxes = 4, marks = 3 }\ncharacters.mara = {}\n'
        '[[steps]]\naction = "sneak"\nactor = "mara"\ngiven = { roll = "1" }\n'
        'expect = { state = { "tracks.alarm.free" = 0 } }\n'
    )
    assert rpgres("scene", "run", "s.toml").code == 0


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("of-table = true", "", "'gm' has no track 'alarm'; for one of the table, it is `of-table = true`"),
        ('to = "gm", count', 'to = "actor", count', "'actor' has no track 'alarm'; it is the table's; write `gm`"),
    ],
)
def test_an_effect_that_would_change_nothing_is_told(old: str, new: str, told: str) -> None:
    write(RULESET.replace(old, new))
    ran = rpgres("ruleset", "check", "rulesets/heist")
    assert ran.code == 1
    assert told in ran.out
