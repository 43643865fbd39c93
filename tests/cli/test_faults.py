"""Faulty command lines: messages, exit codes, streams that close, and that nothing typed gives a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.command_line import FIXED, PROGRAM, complaint, in_shell, rpgres
from tests.support.effort import examples

OVERCOME = ("roll", "fate", "overcome", "--skill", "3", "--vs", "2")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ("rol", "did you mean 'roll'?"),
        ("roll", "name what to roll"),
        ("roll fat overcome", "did you mean 'fate'?"),
        ("roll fate", "name an action of fate: overcome, discover"),
        ("roll fate overcom", "did you mean 'overcome'?"),
        ("roll fate overcome --vs 2", "fate overcome needs --skill"),
        ("roll fate overcome --skil 3", "did you mean '--skill'?"),
        ("roll fate overcome --skill", "'--skill' requires an argument"),
        ("roll fate overcome --json=1 --skill 3 --vs 2", "'--json' does not take a value"),
        ("roll fate overcome --skill 3 --vs 2 more", "unknown word 'more'"),
        ("roll fate overcome --skill fihgt --vs 2", "--skill 'fihgt' is not a whole number"),
        ("roll fate overcome --sheet mara --skill fihgt --vs 2", "did you mean 'fight'?"),
        ("roll fate overcome --skill 3 --vs 4dX", "4dX\n    ^"),
        ("roll fate overcome --skill 3 --vs 2 --given roll=+++", "four Fate dice expected"),
        ("roll fate overcome --skill 3 --vs 2 --given rol=0000", "did you mean 'roll'?"),
        ("roll fate overcome --skill 3 --vs 2 --given roll=0000 --given roll=0000", "was not used"),
        ("roll fate overcome --skill 3 --vs 2 --given roll", "--given takes NAME=VALUE"),
        ("roll fate overcome --skill 3 --vs 9 --seed 1 --choose price=cots", "did you mean 'cost'?"),
        ("roll fate overcome --skill 3 --vs 2 --choose prize=fail", "did you mean 'price'?"),
        ("roll fate overcome --skill 3 --vs 2 --switch fail_choser=gm", "did you mean 'fail_chooser'?"),
        ("roll fate overcome --skill 3 --vs 2 --switch fail_chooser=me", "can be gm, actor; not 'me'"),
        ("roll fate overcome --skill 3 --vs 2 --switch opposers=one --switch opposers=highest", "both one and highest"),
        ("roll fate overcome --skill 3 --vs 2 --policy nice", "it has: uniform, preferred, sensible, thrifty"),
        ("roll fate overcome --skill 3 --vs 2 --policy bob=thrifty", "no character 'bob'"),
        ("roll fate overcome --skill 3 --vs 2 --repeat 0", "--repeat takes a whole number from 1 on"),
        ("roll fate overcome --skill 3 --vs 2 --repeat x", "--repeat takes a whole number from 1 on"),
        ("roll fate overcome --skill 3 --vs 2 --repeat 2 --exit-code", "--exit-code and --repeat exclude each other"),
        ("roll fate overcome --skill 3 --vs 2 --rulesets nowhere", "there is no such folder"),
        (f"roll fate overcome --skill 3 --vs 2 --rulesets {__file__}", "this is a file; name its folder"),
        ("roll fate overcome --skill 3 --vs 2 --seed rp9:x", "generator rp9"),
        ("roll 4d6 --given dice=1,2,3,4", "one label, 'roll'"),
        ("roll 4d6 --given roll=1,2,3,4 --given roll=1", "was not used"),
        ("roll --skill 3 fate overcome", "follow its name"),
    ],
)
def test_what_is_wrong_is_told_in_one_paragraph(args: str, told: str) -> None:
    words = args.split()
    message = complaint(*words)
    assert told in message
    ran = rpgres(words[0], "--json", *words[1:])
    record = json.loads(ran.err)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert (record["format"], record["exit"]) == ("rpgres.error/1", 2)
    assert message.startswith(record["message"])


def test_a_file_that_is_wrong_exits_with_1(tmp_path: Path) -> None:
    sheet = tmp_path / "mara.toml"
    sheet.write_text('name = "Mara"\n\n[skills]\nfihgt = 3\nwill = "much"\n', "utf-8")
    told = complaint(*OVERCOME, "--sheet", str(sheet), code=1)
    assert f"{sheet}:4" in told
    assert f"{sheet}:5" in told
    assert "`fight`" in told or "'fight'" in told
    assert complaint(*OVERCOME, "--sheet", "nobody", code=1)


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in complaint("roll", "4d6\x1b[31m")
    assert "\x1b" not in complaint("roll", "fate", "over\x1b[31mcome")


@pytest.mark.parametrize(
    ("line", "twice"),
    [
        ("roll fate overcome --skill 3 --skill 4 --vs 2", "--skill"),
        ("roll --seed 1 4dF --seed=1", "--seed"),
        ("odds fate overcome --skill 3 --vs 2 --by margin --by total", "--by"),
        ("table new --ruleset fate --ruleset saga", "--ruleset"),
        ("sheet show mara --ruleset fate --ruleset saga", "--ruleset"),
        ("batch --seconds 1 --seconds 2", "--seconds"),
    ],
)
def test_an_option_of_one_value_is_not_typed_twice(line: str, twice: str) -> None:
    assert complaint(*line.split()) == f"{twice} is given twice, and takes one value"


def test_flags_and_repeated_options_may_be_typed_twice() -> None:
    ran = rpgres(*OVERCOME, "--auto", "--auto", "--choose", "invoke=no", "--choose", "invoke=no", "--vs", "3")
    assert ran.err == ""


def test_text_that_is_none_is_refused() -> None:
    assert "argument 2" in complaint("roll", "\udcff")


def test_a_fault_of_rpgres_itself_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_more: object) -> None:
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr("rpgres.cli.commands.roll.prepare", broken)
    told = complaint(*OVERCOME, code=1)
    assert told == "internal error: ZeroDivisionError: by hand; run it again with --debug for the traceback"
    ran = rpgres(*OVERCOME, "--debug")
    assert ran.code == 1
    assert "Traceback" in ran.err
    assert "in broken" in ran.err
    assert json.loads(rpgres(*OVERCOME, "--json").err)["code"] == "internal"


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rpgres.cli.commands.roll.prepare", interrupted)
    ran = rpgres(*OVERCOME)
    assert (ran.code, ran.out, ran.err) == (130, "", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pipes close otherwise there")
@pytest.mark.parametrize("args", [("roll", "d6", "--repeat", "20000"), ("--help",), ("odds", "999d6"), ("roll", "d6")])
def test_a_reader_that_goes_away_is_no_error(args: tuple[str, ...]) -> None:
    with subprocess.Popen(
        [*PROGRAM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **FIXED}
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(20) == 0


@pytest.mark.slow
def test_an_encoding_without_the_characters_gets_ascii() -> None:
    environment = {**os.environ, **FIXED, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*PROGRAM, "roll", "d6", "--seed", "1", "--note", "Mára – “yes”"],
        capture_output=True,
        env=environment,
        check=True,
    )
    assert b'note: Mara - "yes"' in done.stdout
    done = subprocess.run(
        [*PROGRAM, "roll", "d6", "--json", "--note", "Mára"], capture_output=True, env=environment, check=True
    )
    assert json.loads(done.stdout.decode("utf-8"))["note"] == "Mára"


WORDS = [
    *("roll", "odds", "fate", "overcome", "attack", "discover", "defend", "oppose", "compel", "concede"),
    *("create-advantage", "4dF", "4d6kh3", "-2+d6", "(", "999999d999999", "d6!", "--", "-", "--help", "--version"),
    *("--skill", "3", "fight", "fight=2", "--vs", "fair", "4dF+2", "none", "guards:fight", "mara:", "--sheet", "mara"),
    *("guards", "--given", "roll=++0-", "roll=", "=", "opposition=0000", "--choose", "price=cost", "hit=full"),
    *("--switch", "opposers=one", "opposers", "--policy", "uniform", "gm=thrifty", "--auto", "--json", "--plain"),
    *("--repeat", "2", "--note", "x", "--seed", "7", "--exit-code", "--leaves", "--seconds", "0.1", "--variant"),
    *("establish", "--against", "advantage", "--name", "--on", "opponent", "--aspect", "Fog=1", "--fate-points"),
    *("--bonus", "-1", "--stunt", "--helper", "--full-defense", "--rulesets", ".", "--debugger", "--track", "mental"),
]


@pytest.mark.slow
@settings(max_examples=examples(250), deadline=None)
@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), max_size=9))
def test_nothing_typed_gives_a_traceback(words: list[str]) -> None:
    ran = rpgres(*words, stdin="")
    assert ran.code in (0, 1, 2, 3, 10, 11), (words, ran)
    assert "Traceback" not in ran.err
    assert "internal error" not in ran.err
    assert bool(ran.err) == (ran.code in (1, 2))


@pytest.mark.slow
@settings(max_examples=examples(250), deadline=None)
@given(
    st.sampled_from(["overcome", "attack", "discover", "defend", "oppose", "create-advantage", "compel", "concede"]),
    st.sampled_from(["roll", "odds"]),
    st.lists(st.sampled_from(WORDS[21:]), max_size=8),
)
def test_no_action_gives_a_traceback(action: str, verb: str, words: list[str]) -> None:
    ran = rpgres(verb, "fate", action, "--skill", "1", "--vs", "2", *words, "--json", stdin="")
    assert ran.code in (0, 1, 2, 3, 10, 11), (words, ran)
    assert "internal error" not in ran.err
    if ran.code in (1, 2):
        assert json.loads(ran.err)["format"] == "rpgres.error/1"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
@pytest.mark.parametrize("line", ["roll d6", "--help", "roll d6 --json", "odds 4d6", "completions bash", "--version"])
def test_an_output_that_cannot_be_written_is_told_in_a_line(line: str) -> None:
    closed = in_shell(f"rpgres {line} >&-")
    full = in_shell(f"rpgres {line} >/dev/full") if os.path.exists("/dev/full") else closed
    for done in (closed, full):
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "cannot write to standard output" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
def test_errors_with_nobody_to_tell_keep_their_code() -> None:
    assert in_shell("rpgres roll 4d6x 2>&-").returncode == 2
    assert in_shell("rpgres batch <&-").stderr == "rpgres: -: cannot be read: there is no standard input\n"


@pytest.mark.parametrize("seed", ["", "  ", "rp1:", "#3", "a\nb", "\x1b[2J", "x" * 1001])
@pytest.mark.parametrize("args", [("d6",), ("fate", "overcome", "--skill", "3", "--vs", "2")])
def test_a_seed_that_is_none_is_refused(args: tuple[str, ...], seed: str) -> None:
    assert "seed" in complaint("roll", *args, f"--seed={seed}")


def test_a_fault_never_has_a_negative_length() -> None:
    ran = rpgres("odds", "2d", "--json")
    assert json.loads(ran.err)["details"]["length"] == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--skill --vs 2", "--skill needs a value, and --vs is an option"),
        ("--skill 3 --vs 2 --seed --auto", "--seed needs a value, and --auto is an option"),
        ("--skill 3 --vs --seed=7", "--vs needs a value, and --seed=7 is an option"),
    ],
)
def test_an_option_is_no_value_of_another_one(line: str, told: str) -> None:
    done = rpgres("roll", "fate", "overcome", *line.split())
    assert (done.code, done.out, done.err) == (2, "", f"rpgres: {told}\n")
    assert rpgres(*OVERCOME, "--seed=--auto", "--note", "--so", "--auto").code == 0
