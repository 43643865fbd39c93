"""What a seat may not know (hands, stacks, tags, notes, sealed answers, orders) changes no answer of a batch to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest

from rpgres.cli.requests.answers import answer_operation
from rpgres.cli.requests.operations import kept
from rpgres.journal import commands as sitting
from rpgres.journal.commands import Place, writing
from tests.journal.test_views import FRESH, Secrets
from tests.support.effort import few

# Whose seat looks, whose the hidden things are, and who belongs to the game master.
CASTS = {
    "fate": ("mara", "edda", "venn"),
    "coppermane": ("tamsin", "orrin", "warden"),
    "saga": ("ilse", "brannagh", "toll-warden"),
    "faith": ("sable", "bero", "dock-guard"),
    "nodice": ("orsa", "bram", "sister-ash"),
}
ACTS: dict[str, dict[str, Any]] = {
    "fate": {"action": "overcome", "with": {"skill": 1, "vs": 1}, "given": {"roll": "0000"}},
    "coppermane": {"action": "overcome", "with": {"attribute": 1, "vs": 1}, "given": {"roll": "0000"}},
    "saga": {"action": "act", "with": {"ability": "strength", "vs": "average"}},
    "faith": {"action": "confront", "with": {"skill": 4, "attribute": 2}},
    "nodice": {"action": "declare"},
}
SECRETS = (
    Secrets([("Smoke", "aspect", 2), ("Rigged Stairs", "boost", 0)], 1, "They lie.", "", "run"),
    Secrets([("An Advantage", "boost", 0), ("Ankle-Deep Hole", "aspect", 1)], 4, "No.", "", "burn it down"),
)
# What both tables have been dealt alike, and what differs: the hands of all others.
SAGA, FAITH = "Wi7n In6- Ag4- Wi2- Do5- Do6+", "S2 D11 H13 D9 D12 C2 S10 H9"
HANDS = {
    "saga": (f"{SAGA} Ag5n In8- St2+ Ag6n Wi9n", f"{SAGA} Ag9n In4n St5n Ag4+ Wi6-"),
    "faith": (
        f"{FAITH} C12 C9 S11 H11 S13 S8 D1 C1 C10 C11 Jk H8 C8 S10",
        f"{FAITH} C3 C4 S5 H6 S7 S9 D2 C2 C3 H1 Jk D5 D6 D7",
    ),
}
STACKS = ("attack:sister-ash/maul/leg/str=4,agi=1", "attack:orsa/maul/leg/str=4,agi=1")  # of one phase


def begun(ruleset: str, which: int) -> Iterator[dict[str, Any]]:
    """Begin a table with hidden things, and yield what the host and others then ask for, step by step."""
    other = CASTS[ruleset][1]
    cast, is_dealt_later = CASTS[ruleset], ruleset in HANDS
    sitting.begin_table(
        Place(Path("t.db")), ruleset=ruleset, sheets=cast, seed="7", trust="players", deals=not is_dealt_later
    )
    SECRETS[which].lay(Place(Path("t.db")), other)
    label = {"saga": "push", "faith": "activate", "nodice": "react"}.get(ruleset, "invoke")
    orders = f'[[orders]]\nask = "{label}"\nchoose = "no"\nnote = "{("Never.", "Not today.")[which]}"\n'
    Path("orders.toml").write_text(orders, "utf-8")
    yield {"op": "table.orders", "deed": "set", "file": "orders.toml", "as": other}
    act = {"op": "table.act", **ACTS[ruleset], "actor": other, "as": other}
    if ruleset == "nodice":
        yield {"op": "table.begin", "period": "sequence"}
        yield {"op": "table.act", "action": "declare", "actor": "orsa"}
        yield {"op": "table.answer", "choose": {"declare": STACKS[which]}, "as": "bram"}
        yield {"op": "table.answer", "choose": {"declare": "nothing"}, "as": "orsa"}
        yield {"op": "table.answer", "choose": {"declare": "spell:orsa/ember/wil=4"}, "as": "gm"}
        return
    if ruleset in HANDS:
        yield {"op": "table.begin", "period": "scene", "given": {"deal": HANDS[ruleset][which].split()}}
    yield act
    if ruleset == "saga":  # what the other one has chosen from its hand, and tells nobody yet
        yield {"op": "table.seal", "choose": f"play={('Ag5', 'Ag9')[which]}", "out": "seal.json", "as": other}


def tried(ruleset: str) -> list[dict[str, Any]]:
    """Return what a seat asks for that may have to do with what is hidden from it."""
    _, other, third = CASTS[ruleset]
    act = {"op": "table.act", **ACTS[ruleset]}
    asked = {key: value for key, value in ACTS[ruleset].items() if key != "given"}
    odds = {"op": "table.odds", "leaves": 500, **asked}
    ways: list[dict[str, Any]] = [
        {},
        {"by": "total"},
        {"best": True},
        {"auto": True},
        {"vary": ["vs=1,2"]},
    ]
    ways += [{"compare": ["vs=2"]}, {"simulate": 50}, {"format": "csv"}, {"svg": "chart.svg"}]
    ways += [{"actor": other}, {"actor": third}, {"choose": {"play": "St2"}}, {"choose": {"invoke": "smoke"}}]
    changes: list[dict[str, Any]] = [
        {"given": {"deal": "St2+"}},
        {"choose": {"play": "Ag5"}},
        {"choose": {"invoke": "no"}},
    ]
    found = [{**odds, **way} for way in ways]
    found += [{"op": "table.show", "name": name} for name in (other, third, "deck", f"hand:{other}", "smoke", "alarm")]
    found += [{"op": "table.answer", "choose": {label: "no"}} for label in ("invoke", "play", "declare", "smoke")]
    found += [{**act, "actor": who} for who in (other, third, "smoke")]
    found += [{**act, "given": {"redraw": card}} for card in ("St2+", "In4n", "St8n")]
    found += [{"op": "table.orders", "for": other}, {"op": "table.open", "choose": "play=Ag5", "salt": "00"}]
    found += [{"op": "whatif", "run": f"t.db#{number}", **change} for number in (2, 10, 11, 12) for change in changes]
    found += [{"op": "table.undo", "number": number} for number in (2, 9, 10, 11, 12)]
    found += [
        {"op": "table.set", "assignment": f"{path}=absent"} for path in ("piles.deck", "things.plan", "tags.smok")
    ]
    looks = ("show", "log", "verify", "orders", "reveal", "end", "redo")
    found += [{"op": f"table.{name}"} for name in looks]
    found += [{"op": "table.view", "out": "-"}, {"op": "table.export", "out": "all", "force": True}]
    return [*found, {"op": "table.answer", "auto": True}, {"op": "table.log", "last": 2}]


def told(folder: Path, ruleset: str, which: int, seat: str, patch: pytest.MonkeyPatch) -> list[str]:
    """Return all that a seat is told at a table with such secrets, and what stands in the files it may write."""
    folder.mkdir()
    patch.chdir(folder)
    salts = count(1)
    patch.setattr(writing, "urandom", lambda size: next(salts).to_bytes(size, "big"))
    with kept():
        for request in begun(ruleset, which):
            answer = answer_operation({"table": "t.db", **request})
            assert answer["format"] != "rpgres.error/1", answer["message"]
        answers = [answer_operation({"table": "t.db", "as": seat, **one}) for one in tried(ruleset)]
    files = [(str(file), file.read_text("utf-8")) for file in sorted(Path("all").rglob("*")) if file.is_file()]
    assert sum(answer["format"] != "rpgres.error/1" for answer in answers) > 8
    return [FRESH.sub("...", json.dumps(one)) for one in (*answers, *files)]


@pytest.mark.slow
@pytest.mark.parametrize(("ruleset", "seat"), few(product(CASTS, ["player", "everybody"]), 7))
def test_hidden_hands_stacks_and_answers_change_no_answer(
    ruleset: str, seat: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = CASTS[ruleset][0] if seat == "player" else seat
    one, two = (told(tmp_path / str(which), ruleset, which, seat, monkeypatch) for which in (0, 1))
    for mine, theirs in zip(one, two, strict=True):
        assert mine == theirs
    assert not any(word in text for text in one for word in ("They lie", "Rigged", "burn", "run\\"))


@pytest.mark.slow
def test_the_leak_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (told(tmp_path / str(which), "saga", which, "brannagh", monkeypatch) for which in (0, 1))
    differ = sum(mine != theirs for mine, theirs in zip(one, two, strict=True))
    assert differ > 10
