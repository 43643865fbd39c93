"""What a seat may not know of a table that lasts, where tests/safety/test_secrecy.py has no pair of tables for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from rpgres.journal import commands as sitting
from rpgres.journal.commands import Place
from tests.support.command_line import rpgres

# The hashes and the commitments of two tables differ, as every entry has a fresh random salt; so does the time.
FRESH = re.compile(r"[0-9a-f]{64}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class Secrets(NamedTuple):
    """What differs between two tables: what the game master, or another player, alone knows of."""

    tags: list[tuple[str, str, int]]
    marks: int
    note: str
    label: str
    thing: str

    def lay(self, place: Place, other: str, *, window: str = "invoke") -> None:
        """Put them on the table, by as many entries whatever they are."""
        (name, kind, uses), (second, second_kind, _) = self.tags
        sitting.set_value(place, f"tags.{name}", kind, to=["gm"])
        sitting.set_value(place, f"tags.{name}.uses.gm", str(uses))
        sitting.set_value(place, f"tags.{second}", second_kind, to=["gm", other])
        sitting.set_value(place, f"tags.{second}.uses.{other}", str(uses))
        sitting.set_value(place, "tracks.alarm", "4", to=["gm"])
        sitting.set_value(place, f"tracks.alarm.{self.marks}", "x")
        sitting.set_value(place, "things.plan", f'"{self.thing}"', to=[other])
        sitting.write_note(place, self.note, seat="gm", to=[other])
        sitting.let_pass(place, self.label and window, seat=other, until="always")


def test_the_leak_would_be_seen(tmp_path: Path) -> None:
    """The same tables do differ to the game master's seat, and to the other player's."""
    table = ["--table", str(tmp_path / "t.db")]
    rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "edda", *table)
    secrets = Secrets([("Smoke", "aspect", 1), ("Gap", "aspect", 0)], marks=1, note="n", label="", thing="x")
    secrets.lay(Place(tmp_path / "t.db"), "edda")
    shown = {seat: rpgres("table", "show", "--as", seat, *table).out for seat in ("mara", "edda", "gm")}
    assert ["Smoke" in shown[seat] for seat in shown] == [False, False, True]
    assert ["Gap" in shown[seat] for seat in shown] == [False, True, True]
    assert ["Alarm" in shown[seat] for seat in shown] == [False, False, True]
    assert ["Plan" in shown[seat] for seat in shown] == [False, True, False]
    host = rpgres("table", "show", *table).out
    assert all(word in host for word in ("Smoke", "Gap", "Alarm", "Plan"))


def test_no_seed_before_it_is_revealed(tmp_path: Path) -> None:
    table = ["--table", str(tmp_path / "t.db")]
    seed = "a seed that nobody guesses"
    said = [rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--seed", seed, *table)]
    said.append(rpgres("table", "act", "overcome", "--skill=1", "--vs=1", "--json", *table))
    assert json.loads(said[-1].out)["seed"] is None
    looks = (
        ["show", "--json"],
        ["log", "--json"],
        ["view", "--as", "gm", "--out", "-"],
        ["verify", "--json"],
        ["undo"],
    )
    said += [rpgres("table", *line, *table) for line in looks]
    assert not any(seed in one.out + one.err for one in said)
    assert rpgres("table", "reveal", *table).code == 0
    assert json.loads(rpgres("table", "show", "--json", *table).out)["seed"] == seed
    assert seed in rpgres("table", "log", "--as", "mara", *table).out


def test_who_is_asked_is_told_to_those_who_may_know(tmp_path: Path) -> None:
    table = ["--table", str(tmp_path / "t.db")]
    rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "edda", *table)
    rpgres("table", "act", "overcome", "--skill=1", "--vs=1", "--actor", "mara", "--given", "roll=0000", *table)
    questions = {}
    for seat in ("mara", "edda", "gm"):
        questions[seat] = json.loads(rpgres("table", "show", "--json", "--as", seat, *table).out)["pending"]["question"]
    assert (questions["mara"]["label"], questions["mara"]["who"]) == ("invoke", "mara")
    assert questions["mara"]["options"]
    assert (questions["gm"]["label"], questions["gm"]["who"], questions["gm"]["options"]) == ("", "mara", [])
    assert (questions["edda"]["label"], questions["edda"]["who"]) == ("", "another seat")
    told = rpgres("table", "show", "--as", "edda", *table).out
    assert "another seat chooses" in told
    assert "invoke" not in told


def test_a_window_that_only_something_hidden_opens_does_not_wait(tmp_path: Path) -> None:
    """To wait would tell of it. What anybody could know of does wait."""
    for audience, waits in (("gm", False), ("everybody", True)):
        table = ["--table", str(tmp_path / f"{audience}.db")]
        rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", *table)
        rpgres("table", "pass", "--as", "mara", "--until", "always", *table)
        rpgres("table", "set", "tags.Smoke=aspect", "--to", "gm", *table)
        rpgres("table", "set", "tags.smoke.uses.gm=1", *table)
        rpgres("table", "set", f"tags.smoke.audience={audience}", *table)
        done = rpgres("table", "act", "overcome", "--skill=1", "--vs=1", "--given", "roll=++++", *table)
        assert (done.code == 3) is waits, done.out
