"""What a seat may not know of a table changes nothing that it meets through an opened table: records, errors, HTML."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rpgres
from rpgres.journal import commands as sitting
from rpgres.journal.commands import TRUSTS, Place, writing
from tests.journal.test_views import CASTS, Secrets, deeds, do, hidden
from tests.support.effort import examples

# Two tables differ in these, as every entry has a fresh random salt; so does the time.
FRESH = re.compile(r"[0-9a-f]{64}|[0-9a-f]{60}\.\.\.|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|what-if:[0-9a-f]{16}")


def met_by(call: Callable[[], Any]) -> list[Any]:
    """Return all that whoever calls can get hold of: the record in every form, or the error with what hangs on it."""
    try:
        found = call()
    except rpgres.RpgresError as error:
        chained = [str(one) for one in (error.run, error.__cause__, error.__context__)]
        return [type(error).__name__, repr(error), error.raw, error.path, error.reason, error.details, *chained]
    records = found if isinstance(found, list) else [found]
    return [[record, repr(record), getattr(record, "_repr_html_", lambda: None)()] for record in records]


def own(mine: rpgres.PersistentTable, deed: str, what: Any, who: str) -> list[Any]:
    """Do as a seat what a script says of it."""
    if deed == "own-undo":
        return [*met_by(mine.undo), *met_by(mine.redo), *met_by(mine.undo)]
    if deed == "answer" and what == "auto":
        return met_by(lambda: mine.answer(auto=True))
    if deed == "answer":
        pending = mine.show().pending
        label = pending.question.typed if pending is not None else ""
        return met_by(lambda: mine.answer({label or "invoke": what}))
    action, inputs = what
    return met_by(lambda: mine.act(action, actor=who, **inputs))


def played(ruleset: str, secrets: Secrets, script: Sequence[tuple[str, Any]], trust: str) -> list[str]:
    """Return everything that one player's seat meets while a script is played at a table with such secrets."""
    who, other, _ = cast = CASTS[ruleset]
    skill = {"coppermane": "attribute"}.get(ruleset, "skill")
    met: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        salts = count(1)  # two tables with one seed have the same dice where the salt is one as well
        place = Place(Path(folder, "t.db"), salt=lambda: next(salts).to_bytes(32, "big"))
        sitting.begin_table(place, ruleset=ruleset, sheets=cast, seed="7", trust=trust)
        secrets.lay(place, other)
        mine = rpgres.open_table(place.path, seat=who)
        for deed, what in script:
            if deed in ("own", "answer", "own-undo"):
                if deed == "own":
                    what = (what[0], {skill if key == "skill" else key: value for key, value in what[1].items()})
                met += own(mine, deed, what, who)
            else:
                try:
                    do(place, deed, what, cast, skill)
                except rpgres.UsageError as error:
                    met.append(type(error).__name__)
        looks = (
            mine.show,
            mine.log,
            mine.orders,
            mine.view,
            mine.verify,
            mine.reveal,
            lambda: mine.seal("invoke", "no"),
        )
        met += [part for look in looks for part in met_by(look)]
        entries = mine.show().entries
        for number in range(entries):
            met += met_by(lambda number=number: mine.whatif(number, given={"roll": "++++"}))
        met += [repr(mine), *met_by(lambda: rpgres.open_table(place.path, seat="nobody"))]
    texts = [one if isinstance(one, str) else msgspec.json.encode(one, enc_hook=str).decode() for one in met]
    return [FRESH.sub("...", text).replace(folder, "~") for text in texts]


@pytest.fixture(autouse=True, scope="module")
def rules_once() -> Iterator[None]:
    """Read each ruleset once: it is the same all the time, and reading it is most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        read = cache(writing.load_rules)
        patch.setattr(writing, "load_rules", lambda ruleset, **settings: read(ruleset))
        yield


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", ["fate", "coppermane"])
@settings(max_examples=examples(30), deadline=None)
@given(script=st.lists(deeds, min_size=1, max_size=5), one=hidden, other=hidden, trust=st.sampled_from(TRUSTS))
def test_what_a_seat_may_not_know_changes_nothing(
    ruleset: str, script: list[tuple[str, Any]], one: Secrets, other: Secrets, trust: str
) -> None:
    first, second = played(ruleset, one, script, trust), played(ruleset, other, script, trust)
    for mine, theirs in zip(first, second, strict=True):
        assert mine == theirs


@pytest.mark.slow
def test_one_evening_with_two_secrets() -> None:
    quiet = Secrets([("Ankle-Deep Hole", "aspect", 0), ("Smoke", "aspect", 0)], 1, "n", "", "run")
    loud = Secrets(
        [("Rigged Stairs", "aspect", 2), ("A Serious Problem", "boost", 1)], 3, "They lie.", "invoke", "burn"
    )
    script = [
        ("own", ("overcome", {"skill": "1", "vs": "1"})),
        ("answer", "no"),
        ("host", "answer"),
        ("own-undo", None),
        ("own", ("overcome", {"skill": "5", "vs": "-4", "removes": "Rigged Stairs"})),
        ("answer", "auto"),
    ]
    shown = played("fate", quiet, script, "players")
    assert shown == played("fate", loud, script, "players")
    assert not any(word in text for text in shown for word in ("They lie", "burn", '"7"', "Serious"))
    assert sum("<pre>" in text for text in shown) > 3


def test_the_leak_would_be_seen(tmp_path: Path) -> None:
    rpgres.new_table(tmp_path / "t.db", "fate", sheets=["mara", "edda", "venn"])
    secrets = Secrets([("Smoke", "aspect", 1), ("Gap", "aspect", 0)], marks=1, note="n", label="", thing="x")
    secrets.lay(Place(tmp_path / "t.db"), "edda")
    shown = {seat: str(rpgres.open_table(tmp_path / "t.db", seat=seat).show().state) for seat in ("mara", "edda", "gm")}
    assert ["Smoke" in text for text in shown.values()] == [False, False, True]
    assert ["Gap" in text for text in shown.values()] == [False, True, True]
