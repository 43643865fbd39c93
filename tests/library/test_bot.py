"""The Discord bot of the guide: played by people at a fake gateway. What a seat alone may know is in no channel."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import rpgres
from rpgres.dice import seeds
from rpgres.journal import commands as sitting
from rpgres.journal import odds
from rpgres.journal.commands import Place
from rpgres.journal.odds import table_odds
from rpgres.odds import actions
from tests.journal.test_views import FRESH, Secrets
from tests.support.checkout import ROOT
from tests.support.discord import FakeDiscord, Message
from tests.support.effort import examples, few

GM, MARA, EDDA, PASSER = 1, 2, 3, 4  # who is there
CHANNEL = 5
BOT = ROOT / "rpgres" / "guide" / "bot.py"
Starts = Callable[[Path], FakeDiscord]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Starts]:
    """Start the bot as a process would, with its tables in a folder."""
    started = []

    def begin(folder: Path) -> FakeDiscord:
        monkeypatch.setenv("TABLES", str(folder))
        spec = importlib.util.spec_from_file_location("bot", BOT)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        started.append(module)
        return FakeDiscord(module.bot)

    yield begin
    for module in started:
        module.seats.close()
    assert "bot" not in sys.modules


def told(sent: list[Message], reader: int | None) -> str:
    """Return what somebody, or with None the channel, reads of some messages."""
    return "".join(one.text for one in sent if one.reader == reader)


def test_it_is_short_enough_to_start_from() -> None:
    assert len(BOT.read_text("utf-8").splitlines()) <= 80


@pytest.mark.slow
def test_an_evening_in_a_channel(tmp_path: Path, start: Starts) -> None:
    discord = start(tmp_path)
    begun = discord.command(GM, "new fate mara edda")
    assert "seen by the game master" in told(begun, GM)
    assert "the table begins" in told(begun, None)
    assert "seen by mara" in told(discord.command(MARA, "sit mara"), MARA)
    rpgres.open_table(tmp_path / f"{CHANNEL}.db").do("pass --until always")
    asked = discord.command(MARA, "overcome burglary 3 --given roll=----")
    assert "the game master chooses (mara claims: vs 3, roll ----): Does it count?" in told(asked, MARA)
    (public,) = (one for one in asked if one.reader is None)
    assert "claimed: vs 3" in public.text
    (mine,) = discord.press(GM, public, "Answer")
    assert (mine.reader, list(mine.buttons)) == (GM, ["confirm", "refuse"])
    confirmed = discord.press(GM, mine, "confirm")
    public = confirmed[-1]
    assert public.reader is None

    discord = start(tmp_path)  # a new process: buttons and seats are as they were
    (asked_of,) = discord.press(MARA, public, "Answer")
    assert (asked_of.reader, list(asked_of.buttons)) == (MARA, ["fail", "cost"])
    assert "another seat chooses" in told(discord.press(EDDA, public, "Answer"), EDDA)
    refused = discord.press(EDDA, asked_of, "cost")  # of which nobody else has the button
    assert [one.reader for one in refused] == [EDDA]
    assert "another seat is asked" in refused[0].text
    done = discord.press(MARA, asked_of, "fail")
    assert "Fail" in told(done, None)
    assert "mara, overcome" in told(done, None)
    late = discord.press(MARA, asked_of, "cost")
    assert [one.reader for one in late] == [MARA]
    assert "hash" not in late[0].text.lower() or "waits" in late[0].text

    assert "undid" in told(discord.command(GM, "undo"), None)
    assert "redone" in told(discord.command(GM, "redo"), None) or "Fail" in told(discord.command(GM, "log 3"), GM)


@pytest.mark.slow
def test_what_is_wrong_is_told_to_who_typed_it(tmp_path: Path, start: Starts) -> None:
    discord = start(tmp_path)
    secret = tmp_path / "secret.toml"
    secret.write_text("password = 'hunter2'\n")
    for line, words in (
        ("show", "there is no table"),
        ("new", "ruleset"),
        ("new nosuch", "nosuch"),
        (f"new fate {secret}", "without a path"),
        ("help", "there is no table"),
    ):
        sent = discord.command(MARA, line)
        assert [one.reader for one in sent] == [MARA], line
        assert words in sent[0].text, (line, sent[0].text)
    discord.command(GM, "new fate mara edda")
    discord.command(MARA, "sit mara")
    for user, line, words in (
        (MARA, "sit edda", "you have a seat"),
        (EDDA, "sit mara", "mara has a player"),
        (EDDA, "sit gm", "gm has a player"),
        (EDDA, "sit nobody", "no seat 'nobody'"),
        (EDDA, "new fate mara", "already exists"),
        (PASSER, "sit", "everybody has a player, or is no seat"),
        (PASSER, "overcome burglary 3", "everybody is no seat"),
        (PASSER, "odds mara overcome burglary 3", "everybody is no seat"),
        (MARA, "overcome burglry 3", "burglary"),
        (MARA, "edda overcome 3 2", "edda"),
        (MARA, f"overcome {secret}:will 3", "path"),
        (MARA, f"overcome burglary 3 --sheet {secret}", "--sheet"),
        (MARA, f"join {secret}", "only the game master"),
        (GM, f"join {secret}", "without a path"),
        (MARA, 'note "unfinished', ""),
        (MARA, "answer no", "no decision is pending; 'show'"),
        (MARA, "undo x", "type a number"),
    ):
        sent = discord.command(user, line)
        assert sent[0].reader == user, line
        assert words in sent[0].text, (line, sent[0].text)
        assert "hunter2" not in sent[0].text
        assert line.startswith("note") or len(sent) == 1, (line, sent)


@pytest.mark.slow
def test_what_others_do_meanwhile_is_told_once(tmp_path: Path, start: Starts, monkeypatch: pytest.MonkeyPatch) -> None:
    discord = start(tmp_path)
    discord.command(GM, "new fate mara edda")
    mara, take = rpgres.open_table(tmp_path / f"{CHANNEL}.db", seat="mara"), discord._take

    def later(path: str, sent: dict[str, Any], **who: int) -> Any:
        if not path.endswith("/callback") and mara.log(last=1).entries[-1].text != "meanwhile":
            mara.note("meanwhile")
        return take(path, sent, **who)

    monkeypatch.setattr(discord, "_take", later)
    assert "meanwhile" not in told(discord.command(GM, "note mine"), None)


@pytest.mark.slow
def test_a_button_of_a_table_that_is_gone_is_answered(tmp_path: Path, start: Starts) -> None:
    discord = start(tmp_path)
    discord.command(GM, "new fate mara edda")
    rpgres.open_table(tmp_path / f"{CHANNEL}.db").do("pass --until always")
    discord.command(MARA, "sit mara")
    (public,) = (one for one in discord.command(MARA, "overcome burglary 3") if one.reader is None)
    (tmp_path / f"{CHANNEL}.db").unlink()
    assert "there is no table" in told(discord.press(MARA, public, "Answer"), MARA)


def test_a_long_answer_is_a_file(tmp_path: Path, start: Starts) -> None:
    discord = start(tmp_path)
    discord.command(GM, "new fate mara")
    for number in range(12):
        discord.command(GM, f"note {number}: {'fog over the harbour, ' * 10}")
    (shown,) = discord.command(GM, "log")
    assert shown.text.startswith("  0  the table begins")  # the file, all of it
    assert "11: fog over the harbour" in shown.text


def test_channels_have_tables_and_seats_of_their_own(tmp_path: Path, start: Starts) -> None:
    discord = start(tmp_path)
    discord.command(GM, "new fate mara", channel=5)
    discord.command(MARA, "new saga ilse", channel=6)
    assert "seen by the game master" in told(discord.command(MARA, "show", channel=6), MARA)
    assert "seen by everybody" in told(discord.command(MARA, "show", channel=5), MARA)


# ---------------------------------------------------------------------------------------------------------------------
# What a seat may not know

CASTS = {
    "fate": ("mara", "edda", "venn"),
    "coppermane": ("tamsin", "orrin", "warden"),
    "saga": ("ilse", "brannagh", "toll-warden"),
    "faith": ("sable", "bero", "dock-guard"),
    "nodice": ("bram", "orsa", "sister-ash"),
}
LINES = {
    "fate": "overcome 1 2",
    "coppermane": "overcome strength 2",
    "saga": "act strength average",
    "faith": "confront 4 2",
    "nodice": "declare",
}


def met(ruleset: str, secrets: Secrets, folder: Path, start: Starts) -> list[str]:
    """Return what the channel, one player and somebody without a seat read at a table with such secrets."""
    who, other, third = CASTS[ruleset]
    salts = count(1)  # two tables with one seed have the same dice where the salt is one as well
    folder.mkdir()
    place = Place(folder / f"{CHANNEL}.db", salt=lambda: next(salts).to_bytes(32, "big"))
    sitting.begin_table(place, ruleset=ruleset, sheets=CASTS[ruleset], seed="7", trust="players")
    secrets.lay(place, other)
    discord, sent = start(folder), list[Message]()
    for user, seat in ((GM, "gm"), (MARA, who), (EDDA, other)):
        sent += discord.command(user, f"sit {seat}")
    line = LINES[ruleset]
    for user, typed in (
        *((MARA, one) for one in (line, "answer no", "show", "log 9", "undo", line, f"{line} --auto", "answer no")),
        *((PASSER, one) for one in ("show", "log 9", line, "undo", "answer no", "help")),
        *((EDDA, one) for one in (line, "answer no", "undo", "show")),
        *((GM, one) for one in ("undo", f"{third} {line}", "answer no", "note smoke", "log 3", "begin scene")),
        *((MARA, one) for one in ("smoke overcome 3 2", "set tags.smoke=absent", f"odds {line}", "show", "help")),
    ):
        new = discord.command(user, typed)
        sent += new
        for one in new:
            if one.buttons and one.reader is None:
                for presser in (MARA, PASSER):
                    sent += discord.press(presser, one, next(iter(one.buttons)))
    assert {one.reader for one in sent} == {GM, MARA, EDDA, PASSER, None}
    seen = (one for one in sent if one.reader in (MARA, PASSER, None))
    return [f"{one.reader} {FRESH.sub('...', one.text)} {list(one.buttons)}" for one in seen]


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", few([*CASTS][::-1], 2))
def test_what_a_seat_may_not_know_is_in_no_message(
    ruleset: str, tmp_path: Path, start: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(odds, "table_odds", lambda *args, **given: table_odds(*args, **{**given, "leaves": 500}))
    monkeypatch.setattr(actions, "GAMES", examples(2000))
    one = Secrets([("Smoke", "aspect", 2), ("Rigged Stairs", "boost", 0)], 1, "They lie.", "", "run")
    tags = [("An Advantage", "boost", 0), ("Ankle-Deep Hole", "aspect", 1)]
    other = Secrets(tags, 4, "No.", "", "burn it down")
    mine, theirs = (met(ruleset, secrets, tmp_path / name, start) for name, secrets in (("1", one), ("2", other)))
    for first, second in zip(mine, theirs, strict=True):
        assert first == second


HIDDEN = {  # what the second of a cast holds, and what it shows of it
    "saga": ("brannagh act strength average --hand St6,Ag3,Wi9 --choose play=St6", ["Ag3", "Wi9"]),
    "faith": ("bero confront technical link --hand S13,C11,H9", ["S13", "C11", "H9"]),
    "nodice": (
        "orsa declare --choose orsa:declare=attack:bram/boathook/head/str=3 --choose orsa:declare=nothing",
        ["boathook"],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", HIDDEN)
def test_hands_and_hidden_choices_are_shown_to_their_owner_alone(
    ruleset: str, tmp_path: Path, start: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seeds, "mint_seed", lambda: "7")  # or a card that is held might be dealt to another
    who, other, third = CASTS[ruleset]
    line, held = HIDDEN[ruleset]
    discord, sent = start(tmp_path), list[Message]()
    rpgres.new_table(tmp_path / f"{CHANNEL}.db", ruleset, sheets=[who, other, third], seed=1)  # nobody holds the cards
    for user, seat in ((MARA, who), (EDDA, other)):
        sent += discord.command(user, f"sit {seat}")
    host = rpgres.open_table(tmp_path / f"{CHANNEL}.db")
    host.do(line)
    for user in (MARA, PASSER, EDDA):
        for typed in ("show", "log 9", "answer x", "note look"):
            sent += discord.command(user, typed)
        for one in [one for one in sent if one.buttons and one.reader is None]:
            sent += discord.press(user, one, next(iter(one.buttons)))
    assert all(any(card in one.text for one in sent if one.reader == EDDA) for card in held)
    others = "\n".join(one.text for one in sent if one.reader not in (EDDA, GM))
    rest = [row for row in others.splitlines() if f"Hand of {who}:" not in row]  # which may have been dealt the same
    assert not [row for row in rest if any(card in row for card in held)]
