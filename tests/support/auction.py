"""A ruleset of the tests' own in which several people decide at once: a sealed bid, of any number of coins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from rpgres.engine.players import Question
from rpgres.engine.table import Outcome, Table
from rpgres.errors import UsageError
from rpgres.model.state import GM, Character, Map, State
from rpgres.rulesets import Option, Part, Rules, Ruleset, merge_parts
from rpgres.toml.reading import Source, parse

AUCTION = """
title = "Auction"
summary = "Everybody bids at once."
version = "1"

[bands]
lost = { title = "Lost", to = -1, success = false }
won = { title = "Won", from = 0, success = true }

[switches.sealed]
help = "whether bids stay secret"
choices = { no = "they are told", yes = "nobody is told" }
default = "no"
source = "made up"

[labels]
bid = { kind = "decision", help = "how many coins", facts = ["bidder"] }
bow = { kind = "decision", help = "bow out?", optional = true }

[actions.bid]
summary = "Bid for it, all at once."
labels = ["bid", "bow"]
tables = ["bid"]

[outcomes.bid]
lost = { text = "No." }
won = { text = "Yes." }
"""

auction = Ruleset("auction")


@auction.switches
class Switches(msgspec.Struct, frozen=True):
    """The house rules that the code reads."""

    sealed: bool


def coins(typed: str) -> str:
    """Read a number of coins, as `7` or `7 coins`."""
    number = typed.removesuffix("coins").strip()
    if not number.isdecimal():
        raise UsageError(f"a bid is a number of coins, not {typed!r}")
    return str(int(number))


@auction.action("bid")
def bid(table: Table, actor: Character) -> Outcome:
    """Everybody bids at once, then says whether to bow; the actor wins with the highest bid."""
    names = list(table.state.characters)
    hints = (Option("1", "a coin"), Option("5", "a purse", prefer=1))
    asked = [
        Question("bid", name, hints, text="How many?", facts=Map({"bidder": number}), form="N", reads=coins)
        for number, name in enumerate(names)
    ]
    bids = table.ask_together(asked, secret=table.rules.switches(Switches).sealed)
    bows = table.ask_together(
        [Question("bow", name, (Option("bow"),), optional=True) for name in names if name != actor.name]
    )
    values = dict(zip(names, map(int, bids), strict=True))
    others = max(value for name, value in values.items() if name != actor.name)
    return table.settle("bid", values[actor.name] - others, facts=Map({"bows": bows.count("bow")}))


def rules(folder: Path = Path("auction"), **switches: str) -> Rules:
    """Return the ruleset with its data, kept in a folder."""
    if folder.is_dir():
        (folder / "ruleset.toml").write_text(AUCTION, encoding="utf-8")
    source = Source(path=str(folder / "ruleset.toml"), text=AUCTION)
    parts = [Part(folder=folder, source=source, data=parse(source))]
    return Rules(auction, file=merge_parts(parts), parts=parts, switches=switches)


def around(*names: str) -> State:
    """Return a table at which some people sit, each in a seat of their own, and somebody of the game master's."""
    people: dict[str, Any] = {name: Character(name) for name in names}
    return State(characters=Map({**people, "clerk": Character("clerk", seat=GM)}))
