"""Procedures typed as scenes: `rpgres scene run`, `odds` and `simulate` of `RULESET/PROCEDURE`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from rpgres.simulate import blocks
from tests.support.command_line import as_json, completions, rpgres
from tests.support.terminal import END, INTERRUPT, Terminal

DUEL = ("--sheet", "mara", "--against", "bruiser", "--seed", "3")
RUN = ("scene", "run", "fate/conflict", *DUEL)


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_is_the_run_that_roll_has() -> None:
    played = as_json(*RUN, "--auto")
    rolled = as_json("roll", "fate", "conflict", *DUEL, "--auto")
    (step,) = played["steps"]
    assert step.pop("id") == "conflict"
    assert step == {key: value for key, value in rolled.items() if key not in ("format", "version")} | {
        key: step[key] for key in ("format", "version") if key in step
    }
    assert played["seed"] == "3"
    assert step["outcome"] == "won"


def test_the_account_reads_like_a_scene_and_goes_to_files() -> None:
    ran = rpgres(*RUN, "--auto", "--note", "Third night", "--markdown", "duel.md", "--html", "duel.html")
    assert (ran.code, ran.err) == (0, "")
    assert "  Third night" in ran.out
    assert "Taking part: Mara Quill; of the game master: Bruiser" in ran.out
    assert "Bruiser (taken out)" in ran.out
    assert "Bruiser (taken out)" in Path("duel.md").read_text()
    assert "<html" in Path("duel.html").read_text()
    assert "Bruiser (taken out)" in rpgres(*RUN, "--auto", "--lonelog", "-").out


@pytest.mark.slow
def test_a_decision_that_nobody_takes_waits_with_the_command_that_goes_on() -> None:
    """Answering one decision after the other comes to the very run that is played with all answers at once."""
    line, asked = list(RUN), []
    for _ in range(60):
        ran = rpgres(*line, "--json")
        record = json.loads(ran.out)
        if ran.code == 0:
            break
        assert (ran.code, record["format"]) == (3, "rpgres.pending/1")
        question = record["question"]
        asked.append(question["label"])
        names = [option["name"] for option in question["options"]]
        answer = "no" if question["optional"] else "attack" if "attack" in names else names[-1]
        words = shlex.split(record["resume"])
        assert words[:4] == ["rpgres", "scene", "run", "fate/conflict"]
        key = question["key"] or question["label"]
        place = max(number for number, word in enumerate(words) if word.startswith(f"{key}="))
        words[place] = f"{key}={answer}"
        line = [word for word in words[1:] if word != "--json"]
    else:
        raise AssertionError("it never ends")
    assert asked[0] == "turn"
    assert asked.count("turn") > 2
    (step,) = record["steps"]
    once = list(RUN)
    for answer in step["answers"]:
        once += ["--given" if answer["kind"] == "chance" else "--choose", f"{answer['label']}={answer['value']}"]
    assert as_json(*once)["steps"][0]["events"] == step["events"]


def test_people_read_what_happened_so_far_and_the_question() -> None:
    ran = rpgres(*RUN, "--choose", "turn=attack")
    assert ran.code == 3
    assert "    Roll (Mara Quill): +0-0 = +0\n" in ran.out
    assert ran.out.splitlines()[-1].startswith("    rpgres scene run fate/conflict --sheet mara --against bruiser")


def test_a_seat_is_told_what_it_may_know_and_never_the_seed() -> None:
    record = as_json(*RUN, "--auto", "--as", "mara")
    assert (record["seat"], record["seed"]) == ("mara", None)
    assert "seed" not in rpgres(*RUN, "--auto", "--as", "mara").out
    waiting = rpgres(*RUN, "--as", "mara")
    assert (waiting.code, "seed" in waiting.err) == (3, False)
    assert "--choose turn=" in waiting.err
    strange = rpgres(*RUN, "--auto", "--as", "bodo")
    assert (strange.code, "bodo" in strange.err) == (2, True)


@pytest.mark.slow
def test_a_failure_has_a_code_when_it_is_asked_for() -> None:
    assert rpgres(*RUN, "--auto", "--exit-code").code == 0
    conceded = (*RUN, "--auto", "--choose", "mara:turn=concede")
    assert as_json(*conceded)["steps"][0]["success"] is None
    assert (rpgres(*conceded).code, rpgres(*conceded, "--exit-code").code) == (0, 11)
    passes = [word for _ in range(8) for word in ("--choose", "mara:turn=pass")]
    lost = (*RUN[:-1], "1", "--auto", *passes)
    assert as_json(*lost)["steps"][0]["success"] is False
    assert (rpgres(*lost).code, rpgres(*lost, "--exit-code").code) == (0, 10)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_at_a_terminal_every_decision_is_asked() -> None:
    at = Terminal((*RUN, "--policy", "bruiser=sensible"))
    assert "What do you do in this exchange?" in " ".join(at.until("> ").split())
    at.type("concede\n")
    code, shown = at.end()
    assert code == 0
    assert "Conceded" in shown
    left = Terminal((*RUN, "--policy", "bruiser=sensible"))
    left.until("> ")
    left.type(END)
    code, shown = left.end()
    assert (code, "rpgres scene run fate/conflict" in shown) == (3, True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(
    "line",
    [
        (*RUN, "--policy", "bruiser=sensible"),
        ("roll", "fate", "overcome", "--sheet", "mara", "--skill", "deceive", "--vs", "2", "--seed", "2"),
    ],
)
def test_an_interrupt_at_a_question_prints_the_command_that_goes_on(line: tuple[str, ...]) -> None:
    """It stops at the question, even at one that is optional and that the end of the input would skip."""
    at = Terminal(line)
    at.until("> ")
    at.until_idle()  # it reads a line
    at.type(INTERRUPT)
    code, shown = at.end()
    assert (code, f"rpgres {' '.join(line[:3])}" in shown) == (130, True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_an_interrupt_in_a_scene_names_the_step_and_its_line() -> None:
    step = 'action = "overcome"\nwith = { skill = 1, vs = 2 }\ngiven = { roll = "----" }\n'
    Path("a.toml").write_text(f'ruleset = "fate"\n[[steps]]\n{step}')
    at = Terminal(("scene", "run", "a.toml"))
    at.until("> ")
    at.until_idle()  # it reads a line
    at.type(INTERRUPT)
    code, shown = at.end()
    assert (code, "a.toml:2: steps[0] waits for a decision: price" in shown) == (130, True)


@pytest.mark.parametrize("procedure", ["saga/battle", "saga/exchange", "faith/rounds", "nodice/sequence"])
def test_a_fight_without_foes_is_refused_before_anything_is_printed_with_an_example(procedure: str) -> None:
    ran = rpgres("scene", "run", procedure)
    assert (ran.code, ran.out) == (2, "")
    assert "--against" in ran.err
    example = ran.err.rpartition("an example: `rpgres ")[2].rstrip("`\n")
    assert example.startswith(f"scene run {procedure} --sheet ")
    assert rpgres(*shlex.split(example)).code == 0


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        (["fate/conflict", "--sheet", "mara"], 2, "--against"),
        (["fate/conflict", *DUEL, "--repeat", "3"], 2, "--repeat"),
        (["fate/conflict", *DUEL, "--choose", "nothing=yes"], 2, "nothing"),
        (["fate/overcome", "--sheet", "mara"], 1, "rpgres roll fate overcome"),
        (["fate/conflct"], 1, "fate/conflict"),
        (["fate/conflict", "--sheet", "edda", "--against", "gost", "--auto"], 2, "--against: 'gost' is neither"),
        (["fate/conflict", "--sheet", "edda", "--against", "edda", "--auto"], 2, "--against: 'edda' is the actor"),
        (["coppermane/conflict", "--sheet", "orrin", "--against", "gost", "--auto"], 2, "--against: 'gost' is neither"),
    ],
)
def test_what_is_wrong_is_told(line: list[str], code: int, told: str) -> None:
    ran = rpgres("scene", "run", *line)
    assert (ran.code, told in ran.err) == (code, True), ran.err


def test_a_check_tells_who_cannot_take_part(tmp_path: Path) -> None:
    people = 'ruleset = "fate"\n[characters]\nmara.sheet = "edda"\ndov.sheet = "thug"\n'
    step = '[[steps]]\nprocedure = "conflict"\nactor = "mara"\nwith = {{ against = {}, ally = "{}" }}\n'
    file = tmp_path / "brawl.toml"
    file.write_text(people + step.format('"gost"', "dov") + step.format('["dov"]', "mara"))
    ran = rpgres("scene", "check", str(file))
    assert ran.code == 1
    nobody, own = ran.out.splitlines()
    assert "steps[0].with.against: `against`: 'gost' is neither" in nobody
    assert "steps[1].with.ally: `ally`: 'mara' is the actor; name another character" in own


def test_options_may_stand_before_the_name_and_a_file_of_that_name_comes_first(tmp_path: Path) -> None:
    assert rpgres("scene", "run", "--seed", "3", "--auto", "fate/conflict", *DUEL[:4]).out == rpgres(*RUN, "--auto").out
    Path("fate").mkdir()
    Path("fate/conflict").write_text('ruleset = "fate"\ntitle = "Mine"\n[[steps]]\nnote = "Nothing happens."\n')
    assert "Nothing happens" in rpgres("scene", "run", "fate/conflict").out


def test_help_and_completion_know_the_inputs() -> None:
    told = rpgres("scene", "run", "fate/conflict", "--help").out
    assert "--against NAME|SHEET" in told
    assert "rpgres scene run fate/conflict --sheet" in " ".join(told.split())
    assert "fate/conflict" in completions("rpgres scene run fate/con")
    listed = rpgres("scene", "run", "--help").out.partition("\nProcedures:\n")[2]
    assert "  saga/battle " in listed
    assert "Fight it out: turns of attacks" in listed
    assert "fate/overcome" not in listed
    for line in (("odds",), ("simulate",), ("scene", "list")):
        assert "`rpgres scene run --help` lists" in " ".join(rpgres(*line, "--help").out.split()), line
    shown = rpgres("ruleset", "show", "saga").out
    assert "\nProcedures (rpgres scene run saga/NAME)\n  exchange " in shown
    assert "--zones" in completions("rpgres scene run fate/conflict --z")
    assert "guard" in " ".join(completions("rpgres scene run fate/conflict --against gu"))
    assert "turn=" in completions("rpgres scene run fate/conflict --choose tu")
    assert "FILE|RULESET/PROCEDURE" in rpgres("scene", "run", "--help").out


@pytest.mark.slow
def test_a_simulation_is_the_same_by_one_process_and_by_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BRIEF", 0.0)  # however few runs there are
    monkeypatch.setattr(blocks, "LARGEST", 20)
    line = ("simulate", "fate/conflict", *DUEL, "--auto", "-n", "100", "--json")
    one, two = rpgres(*line, "--workers", "1"), rpgres(*line, "--workers", "2")
    assert (one.code, one.out) == (0, two.out)
    spaced = ("simulate", "fate", "conflict", *line[2:])
    assert rpgres(*spaced, "--workers", "1").out == one.out
    shown = rpgres(*line[:-1], "--show", "7").out
    assert "Mara Quill" in shown
