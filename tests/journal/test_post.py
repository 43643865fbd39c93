"""Play by post: views, answers checked against them, lines to paste into mails, and a sequence played by mail."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from collections import Counter
from email.message import EmailMessage
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rpgres.errors import UsageError
from rpgres.journal.commitments import SealFile
from rpgres.journal.exchange import read_posted
from rpgres.journal.forms import AnswerFile
from rpgres.journal.lines import OpenLine, SealLine, answer_line, open_line, posted_in, seal_line
from tests.support.command_line import Ran, rpgres

words = st.text(min_size=1, max_size=12).filter(lambda text: text.isprintable())
labels = st.sampled_from(["invoke", "declare", "mara:invoke", "price"])
answers = st.dictionaries(labels, st.lists(words, min_size=1, max_size=3), min_size=1, max_size=3)
hashes = st.text("0123456789abcdef", min_size=64, max_size=64)


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The host's folder, with a table at which two declare; every seat's view lies in `mail`."""
    monkeypatch.chdir(tmp_path)
    assert rpgres("table", "new", "--ruleset", "nodice", "--sheet", "orsa", "--sheet", "bram", "--seed", "7").code == 0
    assert rpgres("table", "act", "declare").code == 3
    assert rpgres("table", "view", "--all", "--out", "mail").code == 0
    return tmp_path / "mail"


def line_of(ran: Ran) -> str:
    assert (ran.code, ran.err) == (0, "")
    return ran.out.strip()


# ---------------------------------------------------------------------------------------------------------------------
# Lines


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])  # few words fit a line
@given(seat=words, entry=hashes, choose=answers, dice=st.dictionaries(labels, st.lists(words, min_size=1), max_size=2))
def test_a_line_says_what_was_answered(
    seat: str, entry: str, choose: dict[str, list[str]], dice: dict[str, list[str]]
) -> None:
    line = answer_line(AnswerFile(seat=seat, entry=entry, choose=dict(choose), given=dict(dice), mac=entry[:32]))
    (read,) = posted_in(line)
    assert read == AnswerFile(seat=seat, entry=entry[:12], choose=dict(choose), given=dict(dice), mac=entry[:32])
    assert re.fullmatch(r"[\w/=,.:@+%~ -]+", line, re.ASCII)  # no word of it means anything to a shell
    wrapped = "\n".join(f"> {part}" for part in textwrap.wrap(line, 50, break_long_words=False, break_on_hyphens=False))
    assert posted_in(f"Hello,\n{wrapped}\n> Yours, ...") == [read]


@given(st.data())
def test_a_line_that_was_changed_on_its_way_is_refused(data: st.DataObject) -> None:
    line = answer_line(AnswerFile(seat="bram", entry="ab" * 32, choose={"declare": ["punch/str=2"]}))
    place = data.draw(st.integers(len("rpgres-answer: "), len(line) - 1))
    other = data.draw(st.sampled_from("abcxyz0123")) if data.draw(st.booleans()) else ""
    changed = line[:place] + other + line[place + 1 :]
    if changed.split() != line.split():
        with pytest.raises(UsageError, match="the line rpgres-answer: "):
            posted_in(changed)


LONG_STACK = "attack:orsa/maul/head/str=4+dodge/agi=1"
LONG = AnswerFile(seat="bram", entry="ab" * 6, choose={"declare": [LONG_STACK]}, mac="cd" * 16)


@pytest.mark.parametrize("width", [13, 20, 40])
def test_a_line_may_be_wrapped_within_words(width: int) -> None:
    line = answer_line(LONG)
    parts = [line[place : place + width] for place in range(len("rpgres-answer: b"), len(line), width)]
    wrapped = "\n> ".join([f"> {line[: len('rpgres-answer: b')]}", *parts])
    assert posted_in(f"You wrote:\n{wrapped}\n\nSee you") == [LONG]


@pytest.mark.parametrize("encoding", ["quoted-printable", "base64", "7bit"])
def test_a_mail_may_be_as_a_mail_program_saved_it(encoding: str) -> None:
    def mail(*answers: AnswerFile) -> str:
        found = EmailMessage()
        found["From"], found["Subject"] = "bram@example.org", "The ford"
        body = "\n".join(["Salut \u00e9" if encoding != "7bit" else "Hello", *map(answer_line, answers)])
        found.set_content(body, cte=encoding)
        found.add_alternative(f"<p>{answer_line(LONG)}</p>", subtype="html", cte=encoding)
        return found.as_string()

    other = msgspec.structs.replace(LONG, seat="orsa")
    assert posted_in(mail(LONG)) == [LONG]
    box = f"From bram Mon Nov 23\n{mail(LONG)}\nFrom orsa Mon Nov 23\n{mail(other)}"
    assert posted_in(box) == [LONG, other]
    assert posted_in(mail(LONG) + mail(other)) == [LONG, other]  # cat *.eml


@pytest.mark.parametrize("encoding", ["quoted-printable", "base64"])
def test_a_mail_may_be_a_page_alone_and_show_no_line_before_it_is_decoded(encoding: str, tmp_path: Path) -> None:
    def mail(answer: AnswerFile, subtype: str) -> bytes:
        found = EmailMessage()
        found["From"], found["Subject"] = "bram@example.org", "The ford"
        line = answer_line(answer)
        body = f"<div>Salut<br>{line[:30]}<br>{line[30:]}</div>" if subtype == "html" else f"Salut\n{line}"
        found.set_content(body, subtype=subtype, cte=encoding)
        return bytes(found)

    other = msgspec.structs.replace(LONG, seat="orsa")
    (tmp_path / "all.eml").write_bytes(mail(LONG, "html") + mail(other, "plain"))
    assert read_posted(str(tmp_path / "all.eml")) == [LONG, other]


@pytest.mark.slow
def test_seals_are_lines_too() -> None:
    seal = SealFile(label="declare", answer="dodge/agi=1", salt="ab" * 32, commitment="cd" * 32, seat="the Wolf")
    lines = [SealLine("the Wolf", "", "cd" * 32), SealLine("the Wolf", "ef" * 6, "cd" * 32, "ab" * 16)]
    opened = OpenLine("the Wolf", "declare", "dodge/agi=1", "ab" * 32)
    assert posted_in("\n".join([*map(seal_line, lines), open_line(seal)])) == [*lines, opened]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Hello", "no line of an answer"),
        ("rpgres-answer: bram", "is cut off"),
        ("rpgres-seal: bram - abc .dfdb74", "checksum"),
    ],
)
def test_what_is_no_line_is_told(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        posted_in(text)


# ---------------------------------------------------------------------------------------------------------------------
# Answers are checked where only the view is


@pytest.mark.parametrize(
    "choice",
    [
        "declare=dodge/agi=99",
        "declare=dodg/agi=1",
        "declare=punch:nobody/str=2",
        "declare=attack/spoon/head/str=2",
        "declare=punch/str=2+punch/str=9",
        "declare=abort/orsa#1",
        "declar=nothing",
        "dodge=agi",
    ],
)
def test_what_the_table_would_refuse_is_refused_elsewhere_with_the_same_words(mail: Path, choice: str) -> None:
    view = str(mail / "bram.view.json")
    here = rpgres("table", "answer", "--as", "bram", "--choose", choice)
    there = rpgres("table", "answer", "--view", view, "--choose", choice)
    sealed = rpgres("table", "seal", "--view", view, "--choose", choice, "--out", "secret.json")
    assert (there.code, there.out, sealed.code, sealed.out) == (2, "", 2, "")
    assert not Path("secret.json").exists()
    if choice.startswith("declare="):
        assert there.err == sealed.err == here.err
    assert here.code == 2


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["--choose", "nonsense=3"], "no decision label 'nonsense'"),
        (["--given", "declare=++++"], "'declare' is a decision label"),
        (["--given", "foo=++++"], "no chance label 'foo'"),
    ],
)
def test_labels_that_the_action_never_asks_are_refused_elsewhere_too(mail: Path, typed: list[str], told: str) -> None:
    words = ["--choose", "declare=nothing", *typed]
    here = rpgres("table", "answer", "--as", "bram", *words)
    there = rpgres("table", "answer", "--view", str(mail / "bram.view.json"), *words)
    assert (there.code, there.out, there.err, told in there.err) == (here.code, "", here.err, True)


@pytest.mark.parametrize(
    ("ruleset", "sheets", "line", "good", "bad"),
    [
        ("fate", ["mara", "edda"], ["overcome", "--skill", "1", "--vs", "2", "--given", "roll=0000"], "no", "smoke"),
        ("saga", ["ilse"], ["act", "--ability", "strength", "--vs", "12"], "", "St99"),
        ("saga", ["ilse"], ["act", "--ability", "strength", "--vs", "12"], "", "Ag5"),
    ],
)
def test_listed_options_are_checked_by_every_ruleset(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ruleset: str,
    sheets: list[str],
    line: list[str],
    good: str,
    bad: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    seats = [word for sheet in sheets for word in ("--sheet", sheet)]
    assert rpgres("table", "new", "--ruleset", ruleset, *seats, "--seed", "1").code == 0
    rpgres("table", "set", "tags.Smoke=aspect")
    assert rpgres("table", "act", *line, "--actor", sheets[0]).code == 3
    assert rpgres("table", "view", "--as", sheets[0], "--out", "v.json").code == 0
    question = json.loads(Path("v.json").read_text("utf-8"))["table"]["pending"]["question"]
    label, good = question["label"], good or question["options"][0]["name"]
    here = rpgres("table", "answer", "--as", sheets[0], "--choose", f"{label}={bad}-x")
    there = rpgres("table", "answer", "--view", "v.json", "--choose", f"{label}={bad}-x")
    assert (there.code, there.err) == (2, here.err)
    posted = line_of(rpgres("table", "answer", "--view", "v.json", "--choose", f"{label}={good}"))
    taken = rpgres("table", "answer", posted, "--accept")
    assert (taken.code, taken.err) == (3 if ": waiting\n" in taken.out else 0, "")
    (entry,) = json.loads(rpgres("table", "log", "--last", "1", "--json").out)["entries"]
    assert (entry["kind"], entry["accepted"]) == ("answer", f"{sheets[0]} (authenticated): {label}={good}")


def test_a_view_without_the_ruleset_is_checked_by_its_options(mail: Path) -> None:
    data = json.loads((mail / "bram.view.json").read_text("utf-8"))
    data["table"]["ruleset"] = "gone"
    Path("v.json").write_text(json.dumps(data), "utf-8")
    ran = rpgres("table", "answer", "--view", "v.json", "--choose", "declare=nothing")
    assert (ran.code, "checked only by the options of the view" in ran.err) == (0, True)


# ---------------------------------------------------------------------------------------------------------------------
# Views tell the command that works where they are


def test_a_view_tells_the_command_line_that_works_for_its_reader(
    mail: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = tmp_path / "O'Brien's mail"
    far.mkdir()
    (mail / "bram.view.json").rename(far / "bram's turn.json")
    monkeypatch.chdir(far)
    shown = rpgres("table", "show", "--view", "bram's turn.json").out
    (told,) = [line for line in shown.splitlines() if "Answer it with: " in line]
    command = shlex.split(told.partition("Answer it with: ")[2])
    assert command[:4] == ["rpgres", "table", "answer", "--view"]
    assert command[-2:] == ["--choose", "declare=..."]
    ran = rpgres("table", "answer", "--view", "bram's turn.json", "--choose", "declare=nothing")
    assert line_of(ran).startswith("rpgres-answer: bram ")


def test_every_seat_gets_its_own_view_and_nobody_elses(mail: Path) -> None:
    views = {path.name: json.loads(path.read_text("utf-8")) for path in mail.iterdir()}
    assert {name: view["seat"] for name, view in views.items()} == {
        f"{seat}.view.json": seat for seat in ("gm", "orsa", "bram")
    }
    for name, view in views.items():
        other = {"orsa.view.json": "maul", "bram.view.json": "boathook"}.get(name)
        asked = json.dumps(view["table"]["pending"]["question"])
        assert other is None or other not in asked
    assert rpgres("table", "view", "--all", "--out", "mail").code == 0  # older views of the same seats are renewed
    (mail / "bram.view.json").write_text((mail / "orsa.view.json").read_text("utf-8"), "utf-8")
    again = rpgres("table", "view", "--all", "--out", "mail")
    assert (again.code, "already exists" in again.err) == (1, True)
    assert rpgres("table", "view", "--all", "--out", "mail", "--force").code == 0
    assert rpgres("table", "view", "--all", "--as", "bram", "--out", "mail").code == 2
    assert rpgres("table", "view", "--out", "mail").code == 2


# ---------------------------------------------------------------------------------------------------------------------
# What the host takes


def test_the_host_confirms_what_a_line_states(mail: Path) -> None:
    line = line_of(rpgres("table", "answer", "--view", str(mail / "bram.view.json"), "--choose", "declare=nothing"))
    asked = rpgres("table", "answer", line)
    assert (asked.code, "--accept confirms it, or --as bram" in asked.err) == (2, True)
    assert rpgres("table", "answer", line, "--as", "orsa").code == 2
    assert rpgres("table", "answer", line, "--choose", "declare=nothing").code == 2
    assert rpgres("table", "answer", *line.split(), "--as", "bram").code == 3  # a shell may split it
    late = rpgres("table", "answer", line, "--accept")
    assert (late.code, late.err) == (2, "rpgres: already answered, left out: bram: declare=nothing\n")
    assert rpgres("table", "answer", "declare=nothing").code == 0


@pytest.mark.parametrize("word", ["answer", "seal"])
@pytest.mark.parametrize("forged", ["with the key of another seat", "without a key", "changed", "with a key like JSON"])
def test_no_seat_can_answer_for_another_one(mail: Path, word: str, forged: str) -> None:
    view = json.loads((mail / "bram.view.json").read_text("utf-8"))
    other = json.loads((mail / "orsa.view.json").read_text("utf-8"))
    keys = {"with the key of another seat": other["key"], "without a key": "", "with a key like JSON": '"{'}
    Path("v.json").write_text(json.dumps({**view, "key": keys.get(forged, view["key"])}), "utf-8")
    out = ["--out", "secret.json"] if word == "seal" else []
    line = line_of(rpgres("table", word, "--view", "v.json", "--choose", "declare=dodge/agi=1", *out))
    if forged == "changed":
        (one,) = posted_in(line)
        if isinstance(one, SealLine):
            line = seal_line(msgspec.structs.replace(one, commitment="ab" * 32))
        else:
            assert isinstance(one, AnswerFile)
            line = answer_line(msgspec.structs.replace(one, choose={"declare": ["dodge/agi=2"]}))
    before = rpgres("table", "log").out
    for accept in ([], ["--accept"]):
        ran = rpgres("table", "answer", line, *accept)
        assert (ran.code, ran.out, "rpgres: not taken: bram (not authenticated)" in ran.err) == (2, "", True)
        assert "add --as bram" in ran.err
    assert rpgres("table", "log").out == before
    assert rpgres("table", "answer", line, "--as", "bram").code == (3 if word == "answer" else 0)


def test_an_answer_to_an_older_question_does_not_authenticate_one_to_a_newer(mail: Path) -> None:
    line = line_of(rpgres("table", "answer", "--view", str(mail / "bram.view.json"), "--choose", "declare=nothing"))
    assert rpgres("table", "undo").code == 0
    assert rpgres("table", "act", "declare").code == 3
    (old,) = posted_in(line)
    assert isinstance(old, AnswerFile)
    for entry in ("", json.loads(rpgres("table", "show", "--json").out)["head"]):
        ran = rpgres("table", "answer", answer_line(msgspec.structs.replace(old, entry=entry)), "--accept")
        assert (ran.code, "bram (not authenticated): declare=nothing" in ran.err) == (2, True)


def test_a_key_is_in_the_view_of_its_seat_alone(mail: Path) -> None:
    views = {path.name.partition(".")[0]: path.read_text("utf-8") for path in mail.iterdir()}
    keys = {seat: json.loads(text)["key"] for seat, text in views.items()}
    assert len({key for key in keys.values() if len(key) == 64}) == 3
    assert rpgres("table", "export", "--out", "out").code == 0
    shown = [rpgres("table", *line, "--json").out for line in (["show"], ["log"], ["show", "--as", "bram"])]
    files = [path.read_text("utf-8") for path in Path("out").rglob("*") if path.is_file()]
    for seat, key in keys.items():
        assert [other for other, text in views.items() if key in text] == [seat]
        assert not any(key in text for text in [*shown, *files])
    assert json.loads(rpgres("table", "view", "--as", "everybody", "--out", "-").out)["key"] == ""


@pytest.mark.parametrize("is_new_first", [True, False])
def test_of_a_reply_that_quotes_an_older_answer_only_the_new_one_is_taken(mail: Path, is_new_first: bool) -> None:
    def written(seat: str, choice: str) -> str:
        return line_of(rpgres("table", "answer", "--view", str(mail / f"{seat}.view.json"), "--choose", choice))

    old, other = written("bram", "declare=dodge/agi=1"), written("orsa", "declare=punch:bram/str=2")
    assert [rpgres("table", "answer", line, "--accept").code for line in (old, other)] == [3, 0]
    assert rpgres("table", "act", "resolve", "--auto").code == 0
    assert rpgres("table", "act", "declare").code == 3
    assert rpgres("table", "view", "--all", "--out", "mail", "--force").code == 0
    new = written("bram", "declare=nothing")
    reply = f"{new}\n> {old}\n>> {old}" if is_new_first else f"> {old}\n{new}\n> {new}"
    ran = rpgres("table", "answer", "--from", "-", "--accept", stdin=reply)
    assert (ran.code, ran.err) == (3, "rpgres: already answered, left out: bram: declare=dodge/agi=1\n")
    assert rpgres("table", "answer", new, "--accept").err.endswith("left out: bram: declare=nothing\n")


def test_nothing_of_a_mail_is_taken_when_one_answer_in_it_would_be_refused(mail: Path) -> None:
    good = answer_line(AnswerFile(seat="bram", entry="", choose={"declare": ["nothing"]}))
    bad = answer_line(AnswerFile(seat="orsa", entry="", choose={"declare": ["dodge/agi=99"]}))
    other = answer_line(AnswerFile(seat="bram", entry="", choose={"declare": ["dodge/agi=1"]}))
    before = rpgres("table", "log").out
    for posted, told in ((f"{good}\n{bad}", "agi"), (f"{good}\n{other}", "two different answers of bram")):
        ran = rpgres("table", "answer", "--from", "-", "--accept", stdin=posted)
        assert (ran.code, told in ran.err) == (2, True)
        assert rpgres("table", "log").out == before


def test_a_seal_needs_no_file_of_its_own(mail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(mail / "state"))
    view = str(mail / "bram.view.json")
    sealed = rpgres("table", "seal", "--view", view, "--choose", "declare=dodge/agi=1")
    assert sealed.code == 0, sealed
    assert "no sealed answer is kept here" in rpgres("table", "open", "--view", view).err  # not handed in
    assert rpgres("table", "answer", sealed.out.strip(), "--accept").code == 0
    assert rpgres("table", "view", "--as", "bram", "--out", view, "--force").code == 0
    opened = rpgres("table", "open", "--view", view)
    assert opened.out.startswith("rpgres-open: bram declare=dodge/agi=1 ")
    taken = rpgres("table", "answer", opened.out.strip(), "--accept")
    assert "declare (bram): dodge/agi=1" in taken.out, taken


def test_a_seal_and_its_opening_come_as_lines(mail: Path) -> None:
    view = str(mail / "bram.view.json")
    sealed = line_of(rpgres("table", "seal", "--view", view, "--choose", "declare=dodge/agi=1", "--out", "secret.json"))
    assert "dodge" not in sealed
    assert rpgres("table", "answer", sealed, "--accept").code == 0
    other = rpgres("table", "answer", "--view", str(mail / "orsa.view.json"), "--choose", "declare=punch:bram/str=2")
    assert rpgres("table", "answer", line_of(other), "--accept").code == 3
    opened = line_of(rpgres("table", "open", "--from", "secret.json", "--elsewhere"))
    forged = posted_in(opened)[0]
    assert isinstance(forged, OpenLine)
    data = json.loads(Path("secret.json").read_text("utf-8"))
    Path("forged.json").write_text(json.dumps({**data, "answer": "nothing"}), "utf-8")
    lie = line_of(rpgres("table", "open", "--from", "forged.json", "--elsewhere"))
    assert "this is not what bram sealed" in rpgres("table", "answer", lie, "--accept").err
    done = rpgres("table", "answer", opened, "--accept")
    assert (done.code, "declare (bram): dodge/agi=1" in done.out) == (0, True)


def test_a_line_for_an_older_question_is_refused(mail: Path) -> None:
    line = line_of(rpgres("table", "answer", "--view", str(mail / "bram.view.json"), "--choose", "declare=nothing"))
    view = str(mail / "bram.view.json")
    sealed = line_of(rpgres("table", "seal", "--view", view, "--choose", "declare=nothing", "--out", "secret.json"))
    assert rpgres("table", "undo").code == 0
    assert rpgres("table", "act", "declare", "--given", "x=1").code == 2
    assert rpgres("table", "act", "declare").code == 3
    for late in (line, sealed):
        ran = rpgres("table", "answer", late, "--accept")
        assert (ran.code, "no longer pending" in ran.err) == (2, True)


# ---------------------------------------------------------------------------------------------------------------------
# The evening by mail


@pytest.mark.slow
def test_three_people_play_a_sequence_by_mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most three commands and one file for each person and declaration; every mail is wrapped and quoted."""
    typed: Counter[str] = Counter()
    people = {"orsa": tmp_path / "orsa's", "bram": tmp_path / "bram's", "sister-ash": tmp_path / "ash's"}
    host = tmp_path / "host"
    for folder in (host, *people.values()):
        folder.mkdir()

    def types(who: str, *line: str, stdin: str | None = None) -> Ran:
        monkeypatch.chdir(host if who == "host" else people[who])
        typed[who] += 1
        ran = rpgres("table", *line, stdin=stdin)
        assert ran.code in (0, 3), (line, ran)
        return ran

    sheets = [word for name in people for word in ("--sheet", name)]
    types("host", "new", "--ruleset", "nodice", *sheets, "--seed", "7")
    declared = {
        "orsa": ["punch:bram/str=2", "dodge/agi=1"],
        "bram": ["attack:orsa/maul/head/str=1,agi=1", "nothing"],
        "sister-ash": ["nothing", "punch:bram/str=1"],
    }
    for turn in range(2):
        typed.clear()
        types("host", "act", "declare", "--actor", "orsa")
        types("host", "view", "--all", "--out", "mail", "--force")
        mails = []
        for who, folder in people.items():
            seat = "gm" if who == "sister-ash" else who  # whom the game master plays
            sent = (host / "mail" / f"{seat}.view.json").rename(folder / "view.json")
            shown = types(who, "show", "--view", sent.name)
            assert "Answer it with: rpgres table answer --view view.json --choose declare=..." in shown.out
            line = types(who, "answer", "--view", sent.name, "--choose", f"declare={declared[who][turn]}").out
            wrapped = textwrap.wrap(line, 60, break_long_words=False, break_on_hyphens=False)
            mails.append("Here you are:\n" + "\n".join(f"> {part}" for part in wrapped) + "\nBest wishes\n")
            assert [path.name for path in folder.iterdir()] == ["view.json"]
        done = types("host", "answer", "--from", "-", "--accept", stdin="\n".join(mails))
        assert done.code == 0
        assert {who: count for who, count in typed.items() if count > 3} == {}
        assert all(f"declare ({who}): {declared[who][turn]}" in done.out for who in people)
        types("host", "act", "resolve", "--auto")
    log = rpgres("table", "log").out
    assert log.count("Declared") == 2


def test_words_of_ones_own_in_the_middle_of_a_procedure_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first turn is over, and what came before has dealt cards that the seat does not see."""
    monkeypatch.chdir(tmp_path)
    sheets = ("--sheet", "bero", "--sheet", "sable", "--seed", "7")
    assert rpgres("table", "new", "--ruleset", "faith", *sheets).code == 0
    act = ("act", "rounds", "--actor", "bero", "--against", "sable", "--rounds", "2")
    assert rpgres("table", *act, "--choose", "lay=deck", "--choose", "lay=deck").code == 3
    record = json.loads(rpgres("table", "show", "--json").out)
    assert rpgres("table", "answer", "--choose", f"act={record['pending']['question']['options'][0]['name']}").code == 3
    assert rpgres("table", "view", "--as", "gm", "--out", "view.json").code == 0
    for typed, is_one in (("join,+2", True), ("join,ghost=+2", False), ("skill=juggling", False)):
        ran = rpgres("table", "answer", "--view", "view.json", "--choose", f"join={typed}")
        assert (ran.code, ran.err == "") == (0 if is_one else 2, is_one), ran


def test_what_a_view_cannot_check_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What may be asked later is not checked; nor is what hidden cards decide about."""
    monkeypatch.chdir(tmp_path)
    assert rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--seed", "7").code == 0
    assert rpgres("table", "act", "overcome", "--skill", "burglary", "--vs", "3", "--given", "roll=-0+-").code == 3
    assert rpgres("table", "view", "--as", "mara", "--out", "view.json").code == 0
    ran = rpgres("table", "answer", "--view", "view.json", "--choose", "invoke=no", "--choose", "price=nonsense")
    assert ran.code == 0
    assert ran.err == "rpgres: not checked here: price=nonsense (asked later, if at all); the table will check it\n"
