"""What a seat may not know of a table that lasts: two that differ only in that look the same to it, byte by byte."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from rpgres import UsageError
from rpgres.engine.hidden import known_to
from rpgres.engine.records import Pending
from rpgres.journal import commands as sitting
from rpgres.journal import store, views
from rpgres.journal.commands import Done, Place, writing
from rpgres.journal.commands.pending import require_pending
from rpgres.journal.exchange import view_of
from rpgres.journal.exporting import sheets_of
from rpgres.journal.records import RUNNING, found_in
from rpgres.journal.replay import questions_of
from rpgres.journal.rolls import rolls_of
from rpgres.journal.verifying import verify
from rpgres.render.accounts.html import as_html
from rpgres.render.accounts.markdown import as_markdown
from rpgres.render.accounts.tables import account_of_table
from rpgres.render.lines import plain_text
from rpgres.render.tables import found_lines, log_lines, show_lines
from tests.support.command_line import rpgres

NAMES = ["Rigged Stairs", "Smoke", "A Serious Problem", "An Advantage", "Ankle-Deep Hole"]
CASTS = {
    "fate": ("mara", "edda", "venn"),
    "coppermane": ("tamsin", "orrin", "warden"),
    "saga": ("ilse", "brannagh", "toll-warden"),
}

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


def do(place: Place, deed: str, what: Any, cast: tuple[str, str, str], skill: str) -> Done:
    """Do one thing of a script."""
    who, _, third = cast
    if deed in ("own", "other"):
        action, inputs = what
        typed = {skill if key == "skill" else key: value for key, value in inputs.items()}
        if skill == "ability":  # cards, and other actions: a score that no sheet is asked for, and a difficulty
            action, typed = "act", {"ability": f"strength={4 + len(action)}", "vs": typed["vs"].replace("-", "")}
        actor, seat = (who, who) if deed == "own" else (third, "gm")
        return sitting.act(place, action, typed, actor=actor, seat=seat)
    if deed == "claim":
        return sitting.answer(place, seat="gm", choose={"claim": [what]})
    if deed == "answer" and what == "auto":
        return sitting.answer(place, seat=who, auto=True)
    if "answer" in (deed, what):  # what others decide is the same at both tables
        pending = found_in(require_pending(store.read(place.path)).secret)
        assert isinstance(pending, Pending)
        question = pending.question
        option = "no" if question.optional else question.options[0].name
        seat, option = (who, option if what == "no" else what) if deed == "answer" else (None, option)
        return sitting.answer(place, seat=seat, choose={question.label: [option]})
    if deed == "own-undo" or what == "undo":
        return sitting.undo(place, seat=who if deed == "own-undo" else None)
    return sitting.turn(place, what)


def played(ruleset: str, secrets: Secrets, script: Sequence[tuple[str, Any]], trust: str = "gm") -> list[str]:
    """Return everything that one player's seat meets while a script is played at a table with such secrets."""
    cast = CASTS[ruleset]
    who, other, _ = cast
    skill = {"coppermane": "attribute", "saga": "ability"}.get(ruleset, "skill")
    met: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        salts = count(1)  # two tables with one seed have the same dice where the salt is one as well
        place = Place(Path(folder, "t.db"), salt=lambda: next(salts).to_bytes(32, "big"))
        done = sitting.begin_table(place, ruleset=ruleset, sheets=cast, seed="7", trust=trust)
        file = done.rules.file
        secrets.lay(place, other, window="push" if ruleset == "saga" else "invoke")
        for deed, what in script:
            try:
                done = do(place, deed, what, cast, skill)
            except UsageError as error:
                met.append(error.message if deed in ("own", "answer", "own-undo") else type(error))
                continue
            history = done.history
            met.append(views.entry_record(history, done.entry, who))
            found = found_in(done.entry.secret)
            if isinstance(found, Pending):
                met.append([history.state.seat_of(one.who) for one in questions_of(found)])
            if done.entry.kind in RUNNING:
                met.append(plain_text(found_lines(views.run_seen(history, done.entry, who), file)))
        history = store.read(place.path)
        record = views.table_record(history, who)
        log = views.log_seen(history, who)
        met += [record, plain_text(show_lines(record, history.state.seen_by(who), file))]
        met += [views.log_record(history, who), plain_text(log_lines(log, file))]
        met += [view_of(history, place.path, seat=who), sheets_of(done.rules, history, seat=who)]
        account = account_of_table(record, log, history.state.seen_by(who), done.rules)
        met += [account, as_html(account), as_markdown(account), rolls_of(history, seat=who)]
        start = known_to(done.rules, history.state, who)  # what odds begin with
        met.append(start.state)
        met.append(verify(place.path))
    return [
        FRESH.sub("...", one if isinstance(one, str) else msgspec.json.encode(one, enc_hook=str).decode())
        for one in met
    ]


@pytest.fixture(autouse=True, scope="module")
def rules_once() -> Iterator[None]:
    """Read each ruleset once: it is the same all the time, and reading it is most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        read = cache(writing.load_rules)
        patch.setattr(writing, "load_rules", lambda ruleset, **settings: read(ruleset))
        yield


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", ["fate", "coppermane"])
def test_a_typed_name_that_something_hidden_has_is_only_a_word(ruleset: str) -> None:
    quiet = Secrets([("Ankle-Deep Hole", "aspect", 0), ("Smoke", "aspect", 0)], 1, "n", "", "run")
    loud = quiet._replace(tags=[("Ankle-Deep Hole", "aspect", 0), ("Rigged Stairs", "aspect", 0)])
    script = [
        ("own", ("overcome", {"skill": "5", "vs": "-4", "removes": "Rigged Stairs"})),
        *[("host", "answer")] * 4,
    ]
    shown = played(ruleset, quiet, script)
    assert shown == played(ruleset, loud, script)
    assert any("removed" in one for one in shown)
    script = [
        ("own", ("create-advantage", {"skill": "2", "vs": "1", "name": "Rigged Stairs"})),
        *[("host", "answer")] * 4,
    ]
    script.append(("own-undo", None))  # which takes back an aspect of that name, and shows nothing of the other
    assert played(ruleset, quiet, script) == played(ruleset, loud, script)


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
