"""Lonelog: what is written reads back as the same account, and other logs are read as far as they are known."""

from __future__ import annotations

import string
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rpgres.errors import FileError
from rpgres.formats.accounts import (
    Account,
    Change,
    Chapter,
    Chosen,
    Dealt,
    ItemKind,
    Meaning,
    Note,
    Outcome,
    Participant,
    Remark,
    Rolled,
    RuleLine,
    TableItem,
    Turn,
)
from rpgres.formats.lonelog import as_lonelog, read_line, read_lonelog, write_line
from rpgres.render.accounts.lines import rules_words

# Signs and words of the notation in every order, and letters of several scripts.
_PIECES = [
    *"\\()[]|:=><-*#@?/+`,. \n\r\tRSFd19é×漢",
    "decides ",
    " vs ",
    " -> ",
    ", margin +1",
    " S",
    " // ",
    "=> ",
    "(effect) ",
    "(note: ",
    "```",
    "4dF",
    " for ",
    "d: ",
    "@(x) ",
    "### S1 *y*",
    "R2",
    "(skipped)",
    "2 of 4",
    "---",
    "**Ending:** ",
    "name:",
    " 3/4",
]
texts = st.lists(
    st.one_of(st.sampled_from(_PIECES), st.text(string.ascii_letters, min_size=1, max_size=5)), min_size=1, max_size=6
).map("".join)
maybe = st.one_of(st.just(""), texts)
lines = st.one_of(
    st.builds(Rolled, texts, maybe, texts, maybe, texts, maybe),
    st.builds(Dealt, texts, maybe, texts),
    st.builds(Chosen, texts, texts, texts, maybe, maybe),
    st.builds(Outcome, texts, st.sampled_from([None, True, False]), maybe, maybe, st.none() | st.integers(-99, 99)),
    *(st.builds(kind, texts) for kind in (RuleLine, Meaning, Change, Note, Remark)),
)
turns = st.builds(Turn, maybe, maybe, st.none() | st.integers(0, 99), maybe, st.lists(lines, max_size=3)).map(
    lambda turn: Turn(
        turn.does,
        turn.actor if turn.does else "",
        turn.round,
        turn.counted if turn.round is not None else "",
        turn.lines,
    )
)
accounts = st.builds(
    Account,
    title=texts,
    summary=maybe,
    ruleset=maybe,
    house_rules=maybe,
    seat=maybe,
    seed=st.none() | maybe,
    people=st.lists(st.builds(Participant, texts, texts, texts), max_size=2),
    chapters=st.lists(st.builds(Chapter, texts, st.booleans(), st.lists(turns, max_size=3)), max_size=3),
    ending=maybe,
    table=st.lists(st.builds(TableItem, texts, st.sampled_from(get_args(ItemKind)), st.lists(texts, max_size=3))),
)


@pytest.mark.slow
@given(line=lines)
@example(line=Rolled("Roll", "Mara (the quiet)", "2d6", "", "7"))
@example(line=Dealt("Gm card", "", "Do4-"))
@example(line=Chosen("price", "Mara", "a cost (serious)"))
@example(line=Meaning("(effect) of a storm"))
def test_every_line_reads_back(line: Rolled) -> None:
    assert read_line(write_line(line)) == line


@pytest.mark.slow
@given(account=accounts)
def test_every_account_reads_back(account: Account) -> None:
    assert read_lonelog(as_lonelog(account)) == account


def test_ordinary_lines_are_written_without_escapes() -> None:
    written = [
        write_line(one)
        for one in (
            Rolled("Roll", "Mara Quill", "4dF", "+-0+", "+1"),
            Dealt("Play", "Ilse Marrow", "Do5+"),
            Chosen("Price", "Mara Quill", "fail", "by policy"),
            Outcome("Fail", False, "Fair (+2)", "Good (+3)", -1),
            Outcome("Declared"),
            Meaning("You fall short."),
            Change("Fate points of Mara Quill: -1 (Fog off the Harbour)"),
            Note("2 (Fair) against 3 (Good)."),
        )
    ]
    assert written == [
        "d: Roll (Mara Quill) 4dF=+1 (+-0+)",
        "d: Play (Ilse Marrow)=Do5+",
        "@(Mara Quill) decides Price: fail (by policy)",
        "d: Fair (+2) vs Good (+3), margin -1 F -> Fail",
        "-> Declared",
        "=> You fall short.",
        "=> (effect) Fate points of Mara Quill: -1 (Fog off the Harbour)",
        "(note: 2 (Fair) against 3 (Good).)",
    ]


BY_HAND = """\
---
title: The old mill
ruleset: Loner
---

# The old mill

## Session 1
*Date: 2025-09-03*

### S1 *Dark alley, midnight*

```
@ Sneak past the guard
d: Stealth 4 vs TN 5 -> Fail
=> I kick a bottle. [N:Guard|watchful]

? Does he see me clearly?
-> No, but...
    => He comes nearer.
```

He lifts his lantern.

### S2a *Flashback*
"""


def test_a_log_by_another_hand_is_read_as_far_as_it_is_known() -> None:
    account = read_lonelog(BY_HAND)
    assert (account.title, account.ruleset) == ("The old mill", "Loner")
    assert [chapter.title for chapter in account.chapters] == ["Dark alley, midnight", "Flashback"]
    first, second, third = account.chapters[0].turns
    assert (first.actor, first.does) == ("", "Sneak past the guard")
    assert first.lines == [
        Outcome("Fail", None, "Stealth 4", "TN 5"),
        Meaning("I kick a bottle. [N:Guard|watchful]"),
    ]
    assert second.lines == [RuleLine("? Does he see me clearly?"), Outcome("No, but..."), Meaning("He comes nearer.")]
    assert third.lines == [RuleLine("He lifts his lantern.")]
    assert read_lonelog(as_lonelog(account)) == account
    assert "as seen by" not in rules_words(account)  # it does not say by whom
    noted = read_lonelog("# A\n\n### S1 *A note*\n")
    assert "```" not in as_lonelog(noted)
    assert read_lonelog(as_lonelog(noted)) == noted


def test_what_is_no_log_is_refused() -> None:
    with pytest.raises(FileError, match="it has neither a title nor a scene"):
        read_lonelog("some text\n", file="x.md")


def by_hand(pieces: list[str]) -> str:
    return "### S1 *A log*\n```\n" + "".join(pieces)


logs = st.lists(
    st.sampled_from([*_PIECES, "\n", "\n\n", "\n```\n", "\n### S2 *x*\n", "[N:a|b]", "[Track:a 1/2]"]), max_size=20
)


@given(log=st.one_of(st.text(max_size=60), logs.map("".join), logs.map(by_hand)))
def test_any_text_is_read_or_refused_and_what_is_read_stays(log: str) -> None:
    try:
        account = read_lonelog(log)
    except FileError:
        return
    assert read_lonelog(as_lonelog(account)) == account
