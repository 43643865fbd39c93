"""`rpgres simulate` as it is typed: formats, files that keep counts, interruptions, and what is refused."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema_rs import Draft202012Validator

from rpgres.cli.commands import simulate as command
from rpgres.errors import RpgresError, UsageError
from rpgres.formats.schemas import make_schema
from rpgres.library.simulations import simulate
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.simulate import Crew, Job, Plan, Tally, simulated
from rpgres.simulate.simulation import number_summary
from rpgres.version import __version__
from tests.support.command_line import PROGRAM, as_json, completions, rpgres

OVERCOME = ("simulate", "fate", "overcome", "--skill", "3", "--vs", "4dF+2")
SEEDED = (*OVERCOME, "--seed", "7")


def counts(record: dict[str, Any], name: str) -> dict[Any, int]:
    return {one["value"]: one["count"] for one in record["counted"][name]["values"]}


def test_the_table_has_every_outcome_with_its_interval_and_the_numbers_below() -> None:
    ran = rpgres(*SEEDED, "-n", "1000")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "Overcome: 1,000 runs (fate; skill 3, vs 4dF+2)",
        "  Fail                      272    27.20 %  (24.53 to 30.04)",
        "  Tie                       137    13.70 %  (11.71 to 15.97)",
        "  Succeed                   340    34.00 %  (31.13 to 36.99)",
        "  Succeed with style        251    25.10 %  (22.51 to 27.88)",
        "  any success: 59.10 %  (56.02 to 62.11)",
        "          mean (95 %)             deviation  least  5%  25%  50%  75%  95%  most",
        "  margin  0.958 (0.812 to 1.104)      2.354     -6  -3   -1    1    3    5     8",
        "  total   2.983 (2.884 to 3.082)      1.598     -1   0    2    3    4    6     7",
        "  intervals are 95 %; seed: 7 (the last run: 7#999)",
    ]


def test_it_names_its_house_rules_in_every_form() -> None:
    line = (*SEEDED, "-n", "10", "--switch", "opposers=one")
    assert as_json(*line)["house_rules"] == ["opposers=one"]
    for form in ((), ("--format", "md"), ("--format", "html")):
        assert "house rules: opposers=one" in rpgres(*line, *form).out.replace("\\", "")


def test_it_is_what_roll_repeat_counts() -> None:
    record = as_json(*SEEDED, "-n", "50")
    rolled = rpgres("roll", *OVERCOME[1:], "--seed", "7", "--repeat", "50", "--auto", "--json")
    results = [json.loads(line) for line in rolled.out.splitlines()]
    for name in ("outcome", "margin", "total"):
        values = [result[name] for result in results]
        assert counts(record, name) == {value: values.count(value) for value in values}


@pytest.mark.slow
def test_the_json_is_the_same_whatever_plays_and_fits_its_schema() -> None:
    one = rpgres(*SEEDED, "-n", "3000", "--json", "--workers", "1")
    assert one.out == rpgres(*SEEDED, "-n", "3000", "--format", "json").out
    record = json.loads(one.out)
    rules = load_rules(find_ruleset("fate"))
    Draft202012Validator(make_schema("simulation", rules=rules)).validate(record)
    scene = as_json("simulate", "fate/ledger", "--auto", "--seed", "7", "-n", "4")
    Draft202012Validator(make_schema("simulation", rules=rules)).validate(scene)
    Draft202012Validator(make_schema("simulation")).validate(scene)
    assert (scene["action"], scene["scene"]) == (None, "fate/ledger")
    assert (record["runs"], record["complete"], record["wanted"], record["width"]) == (3000, True, 3000, None)


def test_numbers_are_summed_up_as_statistics_does_it() -> None:
    from statistics import mean, stdev

    record = as_json(*SEEDED, "-n", "777")
    values = [value for value, count in counts(record, "margin").items() for _ in range(count)]
    found = record["counted"]["margin"]["numbers"]
    assert found["mean"] == pytest.approx(mean(values))
    assert found["deviation"] == pytest.approx(stdev(values))
    assert found["high"] - found["mean"] == pytest.approx(1.963 * stdev(values) / 777**0.5, rel=1e-4)
    ordered = sorted(values)
    assert (found["least"], found["most"]) == (ordered[0], ordered[-1])
    assert found["quantiles"]["25%"] == ordered[194]  # the 195th of 777 is the first that a quarter does not exceed
    assert found["quantiles"]["50%"] == ordered[388]


@pytest.mark.parametrize(("runs", "student"), [(2, 12.706), (3, 4.303), (6, 2.571), (8, 2.365), (31, 2.042)])
def test_few_numbers_have_wider_intervals(runs: int, student: float) -> None:
    from statistics import mean, stdev

    values = [1] * (runs // 2) + [4] * (runs - runs // 2)
    found = number_summary({1: runs // 2, 4: runs - runs // 2})
    assert (found.low, found.high) == (
        pytest.approx(mean(values) - student * stdev(values) / runs**0.5, rel=2e-3),
        pytest.approx(mean(values) + student * stdev(values) / runs**0.5, rel=2e-3),
    )


def test_one_run_tells_no_spread() -> None:
    found = as_json(*SEEDED, "-n", "1")["counted"]["margin"]["numbers"]
    assert (found["runs"], found["low"], found["high"], found["deviation"]) == (1, None, None, None)
    shown = rpgres(*SEEDED, "-n", "1").out
    assert f"{found['mean']:.3f} (unknown)    unknown" in shown


def test_csv_markdown_and_svg() -> None:
    rows = list(csv.DictReader(StringIO(rpgres(*SEEDED, "-n", "100", "--format", "csv").out)))
    assert sum(int(row["count"]) for row in rows if row["counted"] == "margin") == 100
    assert all(float(row["low"]) <= float(row["share"]) <= float(row["high"]) for row in rows)
    markdown = rpgres(*SEEDED, "-n", "100", "--format", "md").out
    assert markdown.startswith("# Overcome: 100 runs (fate; skill 3, vs 4dF+2)\n\n| outcome | runs |")
    assert "\n\nany success: " in markdown, "what stands under a table is in documents, too"
    who_decides = rpgres(*SEEDED, "-n", "10", "--auto", "--note", "a trial", "--format", "md").out
    assert who_decides.endswith("- decisions of everybody: policy sensible\n- note: a trial\n")
    widths = {line.count("|") - line.count("\\|") for line in markdown.splitlines() if line.startswith("|")}
    assert widths == {5, 11}


def test_a_procedure_has_no_margin() -> None:
    line = ("simulate", "fate", "contest", "--skill", "3", "--vs", "2", "--auto", "--seed", "1", "-n", "20")
    assert "margin" not in rpgres(*line).out
    assert "margin" not in as_json(*line)["counted"]


def test_what_a_procedure_does_not_have_is_not_listed() -> None:
    told = rpgres(
        "simulate", "saga", "battle", "--sheet", "brannagh", "--against", "toll-warden", "--auto", "-n", "3"
    ).out
    assert "Won" in told
    assert "absent" not in told
    assert "total" not in told


def test_a_chart_is_sound_xml_with_a_bar_for_each_value(tmp_path: Path) -> None:
    path = tmp_path / "chart.svg"
    record = as_json(*SEEDED, "-n", "500", "--svg", str(path))
    root = ElementTree.fromstring(path.read_text("utf-8"))
    bars = [one for one in root.iter() if one.tag.endswith("rect") and len(one)]  # each says what it shows
    assert len([one for one in root.iter() if one.tag.endswith("line")]) == len(bars)  # its interval
    assert len(bars) == sum(len(counted["values"]) for counted in record["counted"].values())
    described = next(one.text or "" for one in root.iter() if one.tag.endswith("desc"))
    assert "Succeed with style" in described
    texts = [one.text or "" for one in root.iter() if one.tag.endswith("text")]
    assert f"intervals are 95 %; seed: {record['seed']} (the last run: {record['seed']}#499)" in texts  # and not cut
    refused = rpgres(*SEEDED, "-n", "10", "--svg", str(tmp_path / "no" / "chart.svg"))
    assert (refused.code, refused.out) == (1, "")
    assert "chart.svg: No such file or directory" in refused.err


@pytest.mark.slow
def test_a_scene_counts_its_steps_and_what_is_asked_for() -> None:
    path = "characters.mara.counters.fate-points"
    record = as_json("simulate", "fate/ledger", "--auto", "--seed", "3", "-n", "5", "--by", path)
    assert next(iter(record["counted"])) == "steps.asking-around"
    assert sum(counts(record, path).values()) == 5
    for number in range(5):
        played = json.loads(rpgres("scene", "run", "fate/ledger", "--auto", "--seed", f"3#{number}", "--json").out)
        outcomes = {f"steps.{step['id']}": step.get("outcome", "skipped") for step in played["steps"]}
        for name, outcome in outcomes.items():
            assert counts(record, name)[outcome] > 0
        assert counts(record, path)[played["state"]["characters"]["mara"]["counters"]["fate-points"]] > 0
    shown = rpgres("simulate", "fate/ledger", "--auto", "--seed", "3", "--show", "4")
    assert shown.out == rpgres("scene", "run", "fate/ledger", "--auto", "--seed", "3#4").out


def test_any_run_of_a_procedure_is_shown_as_its_account() -> None:
    line = ("fate/conflict", "--sheet", "edda", "--against", "thug")
    shown = rpgres("simulate", *line, "--auto", "--seed", "3", "--show", "4")
    assert shown.out == rpgres("scene", "run", *line, "--auto", "--seed", "3#4").out
    record = json.loads(rpgres("simulate", *line, "--auto", "--seed", "3", "--show", "4", "--json").out)
    assert record == json.loads(rpgres("scene", "run", *line, "--auto", "--seed", "3#4", "--json").out)
    waits = rpgres("simulate", *line, "--seed", "3", "--show", "4")
    assert (waits.code, "rpgres scene run fate/conflict" in waits.out) == (3, True), waits.out


def test_any_run_is_shown() -> None:
    shown = rpgres(*SEEDED, "--auto", "--show", "4711")
    assert shown.out == rpgres("roll", *OVERCOME[1:], "--auto", "--seed", "7#4711").out
    assert json.loads(rpgres(*SEEDED, "--auto", "--show", "4711", "--json").out)["seed"] == "7#4711"
    assert "Overcome: waiting" in rpgres(*SEEDED, "--show", "17").out
    assert rpgres(*SEEDED, "--show", "17").code == 3
    assert "--show needs the --seed" in rpgres(*OVERCOME, "--show", "17").err
    assert rpgres(*SEEDED, "--show", "-1").code == 2


def test_counts_are_kept_and_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    keeping = ("--save", str(path), "--json")
    first = json.loads(rpgres(*OVERCOME, *keeping, "-n", "700").out)
    assert json.loads(path.read_text("utf-8"))["format"] == "rpgres.simulation-save/3"
    second = rpgres(*OVERCOME, *keeping, "-n", "2000").out
    assert second == rpgres(*OVERCOME, "--seed", first["seed"], "--json", "-n", "2000").out
    assert rpgres(*OVERCOME, *keeping, "-n", "2000").out == second
    assert [one.name for one in tmp_path.iterdir()] == ["kept.json"]


@pytest.mark.slow
def test_the_file_of_another_simulation_is_refused_and_left(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    rpgres(*SEEDED, "--save", str(path), "-n", "100")
    kept = path.read_bytes()

    def refused(*args: str, message: str) -> None:
        ran = rpgres(*args, "--save", str(path))
        assert (ran.code, ran.out) == (1, "")
        assert message in ran.err
        assert path.read_bytes() == kept

    refused(
        "simulate", "fate", "overcome", "--skill", "4", "--vs", "4dF+2", message="simulation: it differs in the inputs"
    )
    refused("simulate", "fate", "attack", "--skill", "3", "--vs", "2", message="what is simulated and the inputs")
    refused(*OVERCOME, "--seed", "8", message="it differs in the seeds")
    refused(*SEEDED, "--switch", "boost_lifetime=next-chance", message="it differs in the house rules")
    refused(*SEEDED, "--auto", message="it differs in the policies")
    refused(*SEEDED, "-n", "99", message="has 100 runs already, more than 99")
    whole = kept
    for one, other in (
        (b'"runs":100', b'"runs":101'),
        (b'["tie",', b'["succeed",'),  # no sum of counts tells
        (b"[-1,", b"[-9,"),
        (b'"margin":[', b'"marvel":['),
    ):
        kept = whole.replace(one, other)
        assert kept != whole
        path.write_bytes(kept)
        refused(*SEEDED, message="is damaged: its hash is not that of its counts; delete it to restart")
    kept = whole.replace(json.dumps(__version__).encode(), b'"0.0.1"').replace(b'"runs":100', b'"runs":100,"more":1')
    path.write_bytes(kept)
    refused(*SEEDED, message="it differs in the versions of rpgres;")
    kept = whole[:-20]
    path.write_bytes(kept)
    refused(*SEEDED, message="is no saved simulation, and is left as it is")
    kept = b'{"format":"rpgres.result/1"}\n'
    path.write_bytes(kept)
    refused(*SEEDED, message="is no saved simulation, and is left as it is")


def test_a_fault_in_a_late_run_leaves_the_runs_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def counts_some(job: Job, plan: Plan, *, crew: Crew, start: Tally) -> Iterator[Tally]:
        yield from simulated(job, Plan(100), crew=crew, start=start)
        raise RpgresError("the cluster is gone")

    monkeypatch.setattr(command, "simulated", counts_some)
    path = tmp_path / "kept.json"
    ran = rpgres(*SEEDED, "-n", "900", "--save", str(path))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"rpgres: the cluster is gone ({path} keeps the 100 runs before)\n"
    assert rpgres(*SEEDED, "-n", "900").err == "rpgres: the cluster is gone\n"
    monkeypatch.undo()
    assert rpgres(*SEEDED, "-n", "900", "--save", str(path)).out == rpgres(*SEEDED, "-n", "900").out


def test_a_file_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    ran = rpgres(*SEEDED, "-n", "100000000", "--save", str(tmp_path / "no" / "kept.json"))
    assert (ran.code, ran.out) == (1, "")
    assert "kept.json: cannot be written: No such file or directory" in ran.err


def test_standing_orders_in_a_file_decide(tmp_path: Path) -> None:
    orders = tmp_path / "cautious.toml"
    orders.write_text('[[orders]]\nask = "invoke"\nchoose = "no"\n')
    path = "characters.mara.counters.fate-points"
    line = ("simulate", "fate", "overcome", "--sheet", "mara", "--skill", "deceive", "--vs", "4", "--seed", "7")
    cautious = as_json(*line, "-n", "100", "--by", path, "--auto", "--policy", f"mara={orders}")
    assert counts(cautious, path) == {3: 100}
    assert cautious["policies"] == {"*": "sensible", "mara": str(orders)}
    assert len(counts(as_json(*line, "-n", "100", "--by", path, "--auto"), path)) > 1


def test_a_width_is_reached_with_the_fewest_checked_runs() -> None:
    record = as_json(*SEEDED, "--until-width", "3%")
    assert (record["wanted"], record["width"]) == (None, 0.03)
    assert max(one["high"] - one["low"] for one in record["counted"]["outcome"]["values"]) <= 0.03
    assert as_json(*SEEDED, "-n", str(record["runs"]))["counted"] == record["counted"]


@pytest.mark.parametrize("typed", ["1e2", "1E+2", "10e1", "1_00", "0_100"])
def test_a_number_of_runs_is_typed_in_several_ways(typed: str) -> None:
    assert rpgres(*SEEDED, "-n", typed).out == rpgres(*SEEDED, "-n", "100").out


def test_a_call_plays_as_many_runs_as_the_command() -> None:
    with pytest.raises(UsageError, match="from 1 to 999,999,999,999, not 1,000,000,000,000"):
        simulate("fate", "overcome", runs=10**12, skill=3, vs=2)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("simulate",), "name what to simulate"),
        (("simulate", "4d6"), "dice need no simulation: `rpgres odds 4d6`"),
        (("simulate", "4d6", "-n", "500"), "--repeat 500` rolls them as often as -n 500 would"),
        (("simulate", "fate"), "name an action of fate"),
        (("simulate", "fate/bride"), "did you mean 'fate/bribe'"),
        ((*SEEDED, "-n", "0"), "-n takes a whole number from 1 on"),
        ((*SEEDED, "-n", "1e99"), "-n takes a whole number from 1 to 999,999,999,999, not '1e99'"),
        ((*SEEDED, "-n", "9" * 5000), "-n takes a whole number from 1 to 999,999,999,999"),
        ((*SEEDED, "-n", "1.5"), "-n takes a whole number from 1 on, not '1.5'"),
        ((*SEEDED, "--runs", "0"), "--runs takes a whole number from 1 on"),
        ((*SEEDED, "-n", "9", "--until-width", "1"), "exclude each other"),
        ((*SEEDED, "--until-width", "none"), "--until-width takes a percentage"),
        ((*SEEDED, "--workers", "2", "--cluster", "tcp://localhost:1"), "exclude each other"),
        ((*SEEDED, "--workers", "100000"), "--workers takes at most"),
        ((*SEEDED, "--format", "pdf"), "--format takes table, md, csv, json, html, not 'pdf'"),
        ((*SEEDED, "--json", "--format", "csv"), "exclude each other"),
        ((*SEEDED, "--by", "characters.bob.counters.x"), "there is no character 'bob'"),
        ((*SEEDED, "--by", "counter.x"), "did you mean 'counters'?"),
        ((*SEEDED, "--choose", "prize=fail"), "prize"),
        ((*SEEDED, "--policy", "sensibel"), "did you mean 'sensible'?"),
    ],
    ids=lambda value: " ".join(value[-3:]) if isinstance(value, tuple) else "",
)
def test_what_is_refused(args: tuple[str, ...], message: str) -> None:
    ran = rpgres(*args)
    assert (ran.code, ran.out) == (1 if args[-1] == "fate/bride" else 2, "")
    assert message in ran.err


def test_a_decision_without_anybody_ends_it_with_3() -> None:
    ran = rpgres(*SEEDED, "--by", "counters")
    assert ran.code == 3
    assert re.search(r"in run \d+ a decision has no answer: price .* --auto or --policy NAME", ran.err)


def test_options_may_stand_first_and_are_completed() -> None:
    assert rpgres("simulate", "-n", "1000", "--seed", "7", *OVERCOME[1:]).out == rpgres(*SEEDED, "-n", "1000").out
    assert "--until-width" in completions("rpgres simulate fate overcome --unt")
    assert "fate" in completions("rpgres simulate fa")


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal stands in for a terminal")
@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_prints_what_is_done_and_the_file_goes_on(tmp_path: Path, workers: str) -> None:
    from tests.support.terminal import Terminal

    path = tmp_path / "kept.json"
    args = (*SEEDED, "-n", "1000000000", "--save", str(path))
    terminal = Terminal([*args, "--workers", workers])
    while " left" not in terminal.shown:
        assert terminal.has_more()
    code, shown = terminal.interrupt()
    assert code == 130
    assert re.search(r"━? +simulating: \d+ %, .* left", shown)
    done = re.search(r"interrupted: ([\d,]+) of 1,000,000,000 runs", shown)
    assert done, shown
    runs = int(done[1].replace(",", ""))
    assert f"Overcome: {runs:,} runs of 1,000,000,000" in shown
    assert "Traceback" not in shown
    record = as_json(*SEEDED, "-n", str(runs), "--save", str(path))
    assert record["counted"] == as_json(*SEEDED, "-n", str(runs))["counted"]
    assert [one.name for one in tmp_path.iterdir()] == ["kept.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no semaphores with names")
@pytest.mark.slow
def test_nothing_is_printed_after_it_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    line = [*PROGRAM, *SEEDED, "-n", "1000000000", "--workers", "2", "--save", str(path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        written = set[int]()
        while len(written) < 2:  # once it begins, and again once workers have played
            time.sleep(0.05)
            written |= {path.stat().st_mtime_ns} if path.exists() else set()
            assert process.poll() is None
        process.kill()
        told = process.communicate()  # until the workers and whatever else was started are gone
    assert told == ("", "")


@pytest.mark.parametrize("form", ["table", "csv", "md"])
def test_reports_leave_out_the_margin_and_total_that_an_action_does_not_have(form: str) -> None:
    line = ("simulate", "highest-die", "check", "--pool", "2", "-n", "20", "--seed", "7", "--format", form)
    done = rpgres(*line)
    assert done.code == 0
    assert "partial" in done.out.lower()
    assert "margin" not in done.out
    assert "total" not in done.out


def test_a_name_that_an_action_does_not_tell_is_told_as_odds_tell_it() -> None:
    line = ("fate", "overcome", "--skill", "1", "--vs", "1", "--by", "shift")
    told = [rpgres(command, *line) for command in ("odds", "simulate")]
    assert {(ran.code, ran.err) for ran in told} == {
        (2, "rpgres: --by: fate overcome has no number 'shift'; it has: outcome, margin, total\n")
    }


def test_a_file_with_an_unknown_ending_is_refused_unless_the_format_is_named(tmp_path: Path) -> None:
    ran = rpgres("odds", "2d6", "--out", str(tmp_path / "x.pdf"))
    assert ran.code == 2
    assert "not .pdf; or name the --format" in ran.err
    assert rpgres("odds", "2d6", "--format", "md", "--out", str(tmp_path / "x.pdf")).code == 0


def test_intervals_have_parentheses_only_where_no_head_says_what_they_are() -> None:
    line = ("simulate", "fate", "overcome", "--skill", "2", "--vs", "2", "-n", "50", "--seed", "1")
    assert re.search(r"^  Fail +\d+ +\S+ %  \(\S+ to \S+\)$", rpgres(*line).out, re.MULTILINE)
    assert re.search(r"^\| Fail \| \d+ \| \S+ % \| \d\S+ to \S+ \|$", rpgres(*line, "--format", "md").out, re.MULTILINE)
    assert re.search(r">Fail</th>.*<td>\d\S+ to \S+</td></tr>$", rpgres(*line, "--format", "html").out, re.MULTILINE)
