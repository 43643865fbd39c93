"""A persistent table as an object: what `rpgres table` does, by a seat that learns only what it may know."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

import rpgres
from rpgres.journal.forms import ActEntry
from rpgres.model.events import RollEvent
from rpgres.odds import decision
from tests.support.command_line import rpgres as command


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "t.db"
    rpgres.new_table(file, "fate", sheets=["mara", "edda"], seed="7", title="Evening", trust="players")
    return file


def test_an_evening(path: Path) -> None:
    host, mara = rpgres.open_table(path), rpgres.open_table(path, seat="mara")
    assert isinstance(host.begin(), rpgres.Result)
    waits = mara.act("overcome", skill="1", vs="1", given={"roll": "0000"})
    assert isinstance(waits, rpgres.Pending)
    assert (waits.question.label, waits.entry, waits.seed) == ("invoke", 2, None)
    with pytest.raises(rpgres.UsageError, match="another seat"):
        rpgres.open_table(path, seat="edda").answer({"invoke": "no"})
    done = mara.answer({"invoke": "no"}, at=waits.hash)
    while (waiting := host.show().pending) is not None:
        question = waiting.question
        done = host.answer({question.typed: "no" if question.optional else question.options[0].name})
    assert isinstance(done, rpgres.TableResult)
    assert (done.outcome, done.margin) == ("tie", 0)
    assert host.undo().entry.before == waits.entry  # type: ignore[union-attr]
    assert host.redo()[-1].entry.result.outcome == "tie"  # type: ignore[union-attr]
    assert mara.note("a door", to=["edda"]).entry.text == "a door"  # type: ignore[union-attr]
    host.set("characters.mara.counters.fate-points", 1)
    assert host.show().state["characters"]["mara"]["counters"]["fate-points"] == 1
    assert isinstance(host.end(), rpgres.Result)
    assert host.join("venn").entry.character == "venn"  # type: ignore[union-attr]
    assert host.show().seats == ["gm", "mara", "edda"]
    assert host.verify().verdict == "incomplete"
    assert host.reveal().entry.seed == "7"  # type: ignore[union-attr]
    assert host.verify().verdict == "in order"


def test_an_answer_as_a_line_takes_real_dice(path: Path) -> None:
    mara, reroll = rpgres.open_table(path, seat="mara"), "i-know-a-back-way:reroll"
    lines: list[tuple[str, dict[str, Any]]] = [
        ("r1 --given roll=++++", {}),
        (f"answer {reroll} --given=roll=++++", {}),
        ("r1", {"given": {"roll": "++++"}}),
        (reroll, {"given": {"roll": ["++++"]}}),
    ]
    for line, more in lines:
        mara.do("overcome burglary 3", given={"roll": "0000"})
        seen = [one.faces for one in mara.do(line, **more).events if isinstance(one, RollEvent)]
        assert seen == ["0000", "++++"]
        mara.do("undo")
    mara.do("overcome burglary 3", given={"roll": "0000"})
    for line in (f"answer --choose of {reroll}", f"answer {reroll} {reroll}"):
        with pytest.raises(rpgres.UsageError, match="type `answer OPTION`"):
            mara.do(line)
    mara.do("undo")
    with pytest.raises(rpgres.UsageError, match="no decision is pending"):
        mara.do("answer no")


@pytest.mark.slow
def test_odds_after_hidden_cards_were_played_leave_out_hands_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = partial(decision.decision_odds, seconds=0.5, exact_seconds=0.0, games=60)
    monkeypatch.setattr(decision, "decision_odds", quick)
    gm = rpgres.new_table(tmp_path, "faith", sheets=["bero", "sable", "dock-guard"], seed=1, seat="gm")
    seats = {"gm": gm, **{name: rpgres.open_table(tmp_path, seat=name) for name in ("bero", "sable")}}
    gm.do("begin scene")
    gm.do("bero rounds beside sable against dock-guard")
    while own := [seat for seat in seats.values() if seat.waiting().question.label == "lay"]:
        own[0].do(own[0].waiting().question.options[0].name)
    owner = next(name for name, seat in seats.items() if seat.waiting().question.label == "act")
    assert "hold" in seats[owner].do("odds").text  # and not that a card of another hand was not offered


@pytest.mark.slow
def test_records_are_those_of_the_commands(path: Path) -> None:
    mara = rpgres.open_table(path, seat="mara")
    waits = mara.act("overcome", skill="1", vs="1", given={"roll": "0000"})
    for record, line in (
        (mara.show(), ["show"]),
        (mara.log(), ["log"]),
        (mara.log(last=1), ["log", "--last", "1"]),
        (mara.orders(), ["orders"]),
        (mara.verify(), ["verify"]),
        (
            mara.odds("overcome", skill="burglary", vs=["3"], auto=True),
            [*("odds", "overcome", "--skill", "burglary", "--vs", "3", "--auto")],
        ),
    ):
        printed = json.loads(command("table", *line, "--json", "--as", "mara", "--table", str(path)).out)
        assert json.loads(msgspec.json.encode(record)) == printed, line
    shown = json.loads(command("table", "view", "--out", "-", "--as", "mara", "--table", str(path)).out)
    assert json.loads(msgspec.json.encode(mara.view())) == shown
    answered = command("table", "answer", "--choose", "invoke=no", "--json", "--as", "mara", "--table", str(path))
    entry = mara.log(last=1).entries[0]
    printed = json.loads(answered.out)
    assert (printed["entry"], printed["hash"]) == (entry.number, entry.hash)
    assert isinstance(waits, rpgres.TablePending)
    assert set(json.loads(msgspec.json.encode(waits))) >= {"said_by", "entry", "hash"}


def test_sealed_answers_and_orders(path: Path) -> None:
    mara, edda = rpgres.open_table(path, seat="mara"), rpgres.open_table(path, seat="edda")
    mara.act("overcome", skill="1", vs="1", given={"roll": "0000"})
    seal = mara.seal("invoke", "no")
    assert edda.log(last=1).entries[0].commitment == seal.commitment  # type: ignore[union-attr]
    opened = mara.open(seal)
    assert opened.answers[-1].value == "no"
    with pytest.raises(rpgres.UsageError, match="open the table with seat"):
        rpgres.open_table(path).seal("invoke", "no")
    text = '[[orders]]\nask = "invoke"\nchoose = "no"\n'
    edda.set_orders(text)
    assert [one.text for one in edda.orders().orders] == [text]
    assert not mara.orders().orders
    edda.set_orders(None)
    assert not edda.orders().orders
    assert mara.pass_(until="always").entry.label == ""  # type: ignore[union-attr]


def test_what_if_changes_nothing(path: Path) -> None:
    host = rpgres.open_table(path)
    host.pass_(until="always")
    before = host.act("overcome", actor="mara", skill=2, vs=1, given={"roll": "0000"})
    entries = host.show().entries
    record = host.whatif(before.entry, given={"roll": "----"}, choose={"price": "fail"})
    assert [one["outcome"] for one in (*record.before, *record.after)] == ["succeed", "fail"]
    assert host.show().entries == entries


@pytest.mark.slow
def test_threads_share_a_table(path: Path) -> None:
    host = rpgres.open_table(path)
    host.pass_(until="always")

    def play(number: int) -> int:
        done = host.act("overcome", actor="mara", skill=2, vs=1, given={"roll": "0+00"}, note=str(number))
        assert isinstance(done, rpgres.TableResult)
        return done.entry

    with ThreadPoolExecutor(8) as threads:
        numbers = list(threads.map(play, range(24)))
    log = {entry.number: entry for entry in host.log().entries}
    assert len(set(numbers)) == 24
    assert [log[number].result.note for number in numbers] == list(map(str, range(24)))  # type: ignore[union-attr]
    assert host.verify().verdict == "incomplete"  # the chain holds; the seed is secret


def test_errors_hold_no_run_and_no_frames(path: Path) -> None:
    mara = rpgres.open_table(path, seat="mara")
    with pytest.raises(rpgres.UsageError) as caught:
        mara.act("overcome", skill="1", vs="1", given={"roll": "0000"}, choose={"invoke": "nosuch"})
    error = caught.value
    assert (error.run, error.__cause__, error.__context__) == (None, None, None)
    frame, places = error.__traceback__, []
    while frame is not None:
        places.append(frame.tb_frame.f_code.co_filename)
        frame = frame.tb_next
    assert all(place in (__file__, rpgres.PersistentTable.act.__code__.co_filename) for place in places)


def test_mailed_answers_and_exports(path: Path, tmp_path: Path) -> None:
    host, mara, edda = (rpgres.open_table(path, seat=seat) for seat in (None, "mara", "edda"))
    mara.act("overcome", skill="1", vs="1", given={"roll": "0000"})
    view = tmp_path / "mara.json"
    view.write_bytes(msgspec.json.encode(mara.view()))
    mail = command("table", "answer", "--view", str(view), "--choose", "invoke=no").out
    with pytest.raises(rpgres.UsageError, match="answer of mara"):
        edda.take(mail)
    view.write_bytes(msgspec.json.encode(msgspec.structs.replace(mara.view(), key=edda.view().key)))
    forged = command("table", "answer", "--view", str(view), "--choose", "invoke=no").out
    with pytest.raises(rpgres.UsageError, match="a line of mara was not made with the key"):
        host.take(forged)
    (taken,) = host.take(f"Hello,\n> {mail}\nMara")
    assert isinstance(taken, rpgres.TablePending | rpgres.TableResult)
    assert taken.answers[-1].value == "no"
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    host.note("They lie.", to=["gm"])
    written = {file.relative_to(mine): file.read_bytes() for file in edda.export(mine)}
    assert command("table", "export", "--out", str(theirs), "--as", "edda", "--table", str(path)).code == 0
    assert written == {file.relative_to(theirs): file.read_bytes() for file in theirs.rglob("*") if file.is_file()}
    assert not any(b"They lie" in text for text in written.values())
    with pytest.raises(rpgres.FileError, match="exists"):
        edda.export(mine)


def test_an_example_names_whose_ability_opposes(tmp_path: Path) -> None:
    heroes = rpgres.new_table(tmp_path / "heroes.db", "saga", sheets=["brannagh", "ilse"], seed="1")
    told = " ".join(heroes.do("help").text.split())
    assert "brannagh versus strength vs daunting against ilse:strength" in told  # a rung is nobody's ability


@pytest.mark.slow
def test_lines_do_what_methods_do(path: Path) -> None:
    host, mara = rpgres.open_table(path), rpgres.open_table(path, seat="mara")
    assert mara.do("help").text.startswith("Actions, as in mara overcome")
    assert "Takes" in mara.do("help overcome").text
    assert isinstance(host.do("begin scene"), rpgres.Result)
    waits = mara.do("overcome 1 1 --given roll=0000")
    assert isinstance(waits, rpgres.TablePending)
    assert msgspec.json.encode(mara.waiting()) == msgspec.json.encode(waits)
    seen = rpgres.open_table(path, seat="edda").waiting()
    assert seen is not None
    assert (seen.hash, seen.question.names) == (waits.hash, [])
    assert mara.do("answer no").answers[-1].value == "no"
    while (waiting := host.waiting()) is not None:
        done = host.do(f"answer {waiting.question.names[-1]}")
    assert done.outcome == "tie"
    assert mara.do("show") == mara.show()
    assert mara.do("log 2") == mara.log(last=2)
    assert mara.log(since=done.entry).entries == mara.log().entries[done.entry :]
    assert mara.do("odds overcome 1 2").outcomes == mara.odds("overcome", skill=1, vs=2, auto=True).outcomes
    assert host.do("undo").entry.before == waits.entry
    assert host.do("redo").entry.result.outcome == "tie"
    assert mara.do("note a 'door' -- open").entry.text == "a 'door' -- open"
    assert host.do("set characters.mara.counters.fate-points=1").entry.value == 1
    assert host.do("join venn").entry.character == "venn"
    assert mara.do("pass invoke until always").entry.until == "always"


@pytest.mark.slow
def test_lines_at_a_question_are_those_of_a_terminal(path: Path) -> None:
    host, mara = rpgres.open_table(path), rpgres.open_table(path, seat="mara")
    assert "Mara Quill" in mara.do("show mara").text
    assert "Burglary" in mara.do('show me "Mara"').text
    assert mara.do("status").text.startswith("mara")
    waits = mara.do("mara overcome burglary 3 --given roll=-0+-")
    assert waits.question.label == "invoke"
    listed, odds = mara.do("?").text, mara.do("odds").text
    assert " 1. I Know a Back Way" in listed
    assert "  or  no\n" in listed  # a chat has no empty line, which skips at a terminal
    assert " no 0 %" in odds
    assert "Enter" not in listed + odds
    assert "invoke" in mara.do("why").text
    assert mara.do("answer").hash == waits.hash == mara.waiting().hash
    with pytest.raises(rpgres.UsageError, match="'99' is not offered"):
        mara.do("99")
    for line in ("1", "no"):
        with pytest.raises(rpgres.UsageError, match="another seat"):
            rpgres.open_table(path, seat="edda").do(line)
    assert mara.do("log --last 1") == mara.log(last=1)
    spent = mara.do("1")
    assert spent.answers[1].value == "i-know-a-back-way"
    assert mara.do("undo").entry.before == spent.entry
    assert mara.do("no").answers[1].value == "no"
    assert host.waiting().question.label == "price"
    assert host.do("co").answers[-1].value == "cost"
    assert host.do("roll 2d1").total == 2


@pytest.mark.parametrize("line", ['note "I spy" --to gm', 'note "I spy" --to=gm', "note I spy --to gm"])
def test_a_private_note_is_told_to_nobody_else(line: str, tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    rpgres.new_table(path, "fate", sheets=["mara", "edda"])
    mara, edda = (rpgres.open_table(path, seat=seat) for seat in ("mara", "edda"))
    assert (found := mara.do(line).entry).text == "I spy"
    assert "I spy" in rpgres.text_of(rpgres.open_table(path, seat="gm").log())
    assert "spy" not in rpgres.text_of(edda.log())
    for wrong in (
        f"{line} --too edda",
        "note I spy --to",
        "note I spy --to nobody",
        'note "I spy --to gm',
        "note --to gm",
    ):
        with pytest.raises(rpgres.UsageError):
            mara.do(wrong)
    assert mara.log().entries[-1] == found


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "the line is empty"),
        ("orders show", "`orders` is not typed here"),
        ("answer", "type `answer OPTION`"),
        ("answer no", "no decision is pending; `show`"),
        ("log all", "type a number, as in `log 5`"),
        ("overcome burglry 3", "burglary"),
        ("overcome burglary 3 --as edda", "seat and table are fixed"),
        ("overcome --help", "`help` describes overcome"),
        ("odds", "`odds` alone is typed at a question of yours, and none waits"),
        ("why", "`why` alone is typed at a question of yours, and none waits"),
        ("1", "no decision is pending; `show`"),
        ("no", "no decision is pending; `show`"),
        ("quit", "here nothing is left"),
        ("help cards", "there is no help on 'cards'"),
        ("show nobody", "no character 'nobody'"),
        ("dance", "no action or command 'dance'"),
    ],
)
def test_lines_that_are_wrong_tell_what_to_type(path: Path, line: str, words: str) -> None:
    before = path.read_bytes()
    with pytest.raises(rpgres.UsageError) as caught:
        rpgres.open_table(path, seat="mara").do(line)
    assert words in str(caught.value)
    assert path.read_bytes() == before


def test_everybody_sees_what_is_for_all_and_does_nothing(path: Path) -> None:
    host, everybody = rpgres.open_table(path), rpgres.open_table(path, seat="everybody")
    host.note("They lie.", to=["mara", "edda", "gm"])
    host.pass_("invoke", until="always")
    host.set("tags.smoke", "aspect", to=["mara", "edda"])
    log = everybody.log().entries
    assert [entry.is_hidden for entry in log[1:]] == [True] * (len(log) - 1)
    assert "smoke" not in json.dumps(everybody.show().state)
    assert everybody.view().seat == "everybody"
    before = path.read_bytes()
    for act in (
        lambda: everybody.act("overcome", actor="mara", skill=1, vs=1),
        lambda: everybody.odds("overcome", actor="mara", skill=1, vs=1),
        lambda: everybody.answer("no"),
        lambda: everybody.note("x"),
        lambda: everybody.undo(),
        lambda: everybody.pass_(),
        lambda: everybody.join("venn"),
        lambda: everybody.begin(),
        lambda: everybody.set_orders('[[orders]]\nask = "invoke"\nchoose = "no"\n'),
        lambda: everybody.seal("invoke", "no"),
        lambda: everybody.reveal(),
        lambda: everybody.do("overcome 1 1"),
    ):
        with pytest.raises(rpgres.UsageError):
            act()
    assert path.read_bytes() == before


def test_nobody_is_called_everybody(tmp_path: Path) -> None:
    (tmp_path / "everybody.toml").write_text("[skills]\nwill = 1\n")
    with pytest.raises(rpgres.UsageError, match="'everybody' is reserved"):
        rpgres.new_table(tmp_path / "t.db", "fate", sheets=[str(tmp_path / "everybody.toml")])


def test_confined_tables_open_no_other_files(path: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.toml"
    secret.write_text("password = 'hunter2'\n")
    mara, gm = (rpgres.open_table(path, seat=seat, confined=True) for seat in ("mara", "gm"))
    for call in (
        lambda: gm.join(str(secret)),
        lambda: mara.act("overcome", skill="will", vs=f"{secret}:will"),
        lambda: mara.act("overcome", skill="will", vs=1, sheet=str(secret)),
        lambda: mara.odds("overcome", skill="will", vs=f"{secret}:will"),
        lambda: mara.do(f"overcome will {secret}:will"),
        lambda: rpgres.new_table(tmp_path / "u.db", "fate", sheets=[str(secret)], confined=True),
    ):
        with pytest.raises(rpgres.UsageError, match="without a path"):
            call()
    with pytest.raises(rpgres.FileError) as caught:
        rpgres.open_table(path, seat="gm").join(str(secret))
    assert "password" in str(caught.value)


@pytest.mark.slow
def test_a_confined_seat_writes_no_book(path: Path) -> None:
    host, mara = rpgres.open_table(path), rpgres.open_table(path, seat="mara", confined=True)
    long = "x" * 10_001
    calls: list[Callable[[], object]] = [
        lambda: mara.note(long),
        lambda: mara.note("x", to=[long]),
        lambda: mara.act("overcome", skill="1", vs="1", note=long),
        lambda: mara.act("overcome", skill="1", vs="1", choose={"invoke": [long]}),
        lambda: mara.set("characters.mara.texts.name", long),
        lambda: mara.do(f"note '{long}'"),
    ]
    for call in calls:
        with pytest.raises(rpgres.UsageError, match="at most 10,000 characters, not 10,0"):
            call()
    assert len(host.log().entries) == 1
    mara.note("x" * 10_000)
    host.note(long)


@pytest.mark.slow
def test_eight_threads_at_different_tables_and_one_that_they_share(path: Path, tmp_path: Path) -> None:
    """Each thread resolves, evaluates and plays at a table of its own and at one of all; nothing gets mixed up."""
    rpgres.open_table(path).pass_(until="always")

    def notes(table: rpgres.PersistentTable) -> list[str | None]:
        return [entry.result.note for entry in table.log().entries if isinstance(entry, ActEntry) and entry.result]

    def play(number: int) -> list[object]:
        own = rpgres.new_table(tmp_path / f"{number}.db", "fate", sheets=["mara"], trust="players")
        own.pass_(until="always")
        for turn in range(2):
            note, total = f"{number}.{turn}", number % 4 + (4, 1, 1)[(number + turn) % 3]
            given = {"roll": ("++++", "0+00", "+-+0")[(number + turn) % 3]}
            for table in (own, rpgres.open_table(path), rpgres.open_table(path, seat="mara")):
                done = table.act("overcome", actor="mara", skill=number % 4, vs=-5, given=given, note=note)
                assert isinstance(done, rpgres.TableResult)
                assert (done.note, done.total) == (note, total)
        assert notes(own) == [f"{number}.{turn}" for turn in range(2)]
        return pure(number)

    def pure(number: int) -> list[object]:
        resolved = rpgres.resolve("fate", "overcome", skill=number % 5, vs=2, seed=number, auto=True)
        return [resolved.answers, rpgres.odds("fate", "overcome", skill=number % 5, vs=number).table()]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(play, range(8))) == [pure(number) for number in range(8)]
    played = [f"{number}.{turn}" for number in range(8) for turn in range(2) for _ in range(2)]
    assert sorted(map(str, notes(rpgres.open_table(path)))) == sorted(played)
    assert rpgres.open_table(path).verify().verdict == "incomplete"  # the chain holds; the seed is secret


def test_an_error_names_calls_and_lines_in_place_of_commands(tmp_path: Path) -> None:
    table = rpgres.new_table(tmp_path, "fate", sheets=["mara"], seed=1)
    table.act("overcome", skill=1, vs=1, given={"roll": "----"})
    with pytest.raises(rpgres.UsageError, match=re.escape("undo the action with `table.undo(1)`")):
        table.act("overcome", skill=1, vs=1)
    with pytest.raises(rpgres.UsageError, match=re.escape("undo the action with `undo 1`")):
        table.do("overcome 1 vs 1")


def test_an_error_repeats_only_the_beginning_of_a_long_word(path: Path) -> None:
    with pytest.raises(rpgres.UsageError, match=r"no action or command 'x{80}\.\.\.'; it has"):
        rpgres.open_table(path).do("x" * 5000)
