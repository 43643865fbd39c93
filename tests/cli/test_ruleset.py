"""`rpgres ruleset` and `rpgres plugin`: what there is, what is in it, and what is broken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator

from rpgres.conformance import CHECKS
from rpgres.engine.labels import labels_of
from rpgres.formats.schemas import make_schema
from rpgres.plugins.discovery import find_ruleset, ruleset_names
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from rpgres.version import __version__
from tests.support.lantern import CODE, DATA, installed, rpgres, write


@pytest.fixture(autouse=True)
def work(tmp_path: Path) -> Iterator[Path]:
    with installed(tmp_path) as found:
        yield found


def fate() -> Rules:
    return load_rules(find_ruleset("fate"))


def overlay(work: Path, text: str) -> Path:
    folder = work / "rulesets" / "lantern"
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text(text, "utf-8")
    return folder


# ---------------------------------------------------------------------------------------------------------------------
# ruleset


@pytest.mark.slow
def test_list() -> None:
    file = fate().file
    done = rpgres("ruleset", "list")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert lines[0] == ["fate", f"{file.title}: {file.summary}"]
    assert lines[-1] == ["lantern", "Lantern: Searching the dark, with oil to burn."]
    record = json.loads(rpgres("ruleset", "list", "--json").stdout)
    assert record["format"] == "rpgres.rulesets/1"
    assert record["rulesets"][-1] == {
        "id": "lantern",
        "title": "Lantern",
        "summary": "Searching the dark, with oil to burn.",
        "builtin": False,
    }


SHOWN = """\
Lantern (lantern, version 3)
Searching the dark, with oil to burn.
Made up for tests.

Actions
  search  Look for something in the dark.

Outcomes
  dark   Darkness: margin -1 or less
  glow   A glow: margin 0
  found  Found: margin +1 or more, or if unopposed

Dice (--given LABEL=...)
  roll  two dice

Decisions (--choose LABEL=...)
  price  decided by the house rule cost_chooser: What now?
         one of stay, burn
         facts: margin

House rules (--switch NAME=CHOICE)
  cost_chooser: who pays
    actor  whoever searches (default)
    gm     the game master{in_force}
    source: nowhere

Policies (--policy NAME)
  careful  saves oil

Effects
  light  oil burns (to: whose; change: how much)

Sheet
  name       what people call them (needed)
  past       where they come from
  side       who plays them
  oil        oil at dusk
  oil-now    oil now
  traits     what marks them
  abilities  how good they are
  tools      what they carry
  fewer      boxes of those who have fewer
  hurt       boxes already marked
  scarred    scars already there
"""


def test_show_a_ruleset(work: Path) -> None:
    done = rpgres("ruleset", "show", "lantern")
    assert (done.exit_code, done.stdout, done.stderr) == (0, SHOWN.format(in_force=""), "")
    done = rpgres("ruleset", "show", "lantern", "--switch", "cost_chooser=gm")
    assert done.stdout == SHOWN.format(in_force=" (in force)")

    folder = overlay(work, 'title = "House"\n[ladder]\nhigh = 3\nlow = -1\n')
    done = rpgres("ruleset", "show", "lantern")
    tail = "\nLadder\n  High +3, Low -1\n\nOverlays, in order of application\n  rulesets/lantern\n"
    assert done.stdout == SHOWN.format(in_force="").replace("Lantern (", "House (") + tail
    (folder / "ruleset.toml").write_text('titel = "House"\n', "utf-8")
    done = rpgres("ruleset", "show", "lantern")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "rulesets/lantern/ruleset.toml:1: titel: unknown key; did you mean `title`?" in done.stderr


ACTION = """\
search (lantern): Look for something in the dark.
It takes a while.
For example: rpgres roll lantern search --skill 2

Takes
  --skill NAME|NAME=N|N  what is used (needed)

Asks
  roll   two dice
  price  decided by the house rule cost_chooser: What now?
         one of stay, burn
         facts: margin

Outcomes: search
  Darkness (dark)
    ? price ({chooser}, by the house rule cost_chooser): What now?
      stay: You stay in the dark.
      burn: You burn more oil.
        * light: for the actor, change -1 [when the margin is -3 or more]
  A glow (glow): You see a little.
  Found (found): There it is.
    * light: for the actor, change +1 [unless cost_chooser is gm]
"""


def test_show_an_action() -> None:
    done = rpgres("ruleset", "show", "lantern", "search")
    assert (done.exit_code, done.stdout, done.stderr) == (0, ACTION.format(chooser="actor"), "")
    done = rpgres("ruleset", "show", "lantern", "search", "--switch", "cost_chooser=gm")
    assert done.stdout == ACTION.format(chooser="gm")


def test_show_as_json() -> None:
    record = json.loads(rpgres("ruleset", "show", "lantern", "--json").stdout)
    assert record["format"] == "rpgres.ruleset/1"
    assert record["labels"]["price"] == {
        "kind": "decision",
        "help": ["What now?"],
        "who": ["switch:cost_chooser"],
        "optional": False,
        "options": {"stay": "You stay in the dark.", "burn": "You burn more oil."},
        "typed": False,
        "facts": ["margin"],
        "option_facts": [],
        "actions": ["search"],
    }
    assert record["switches"]["cost_chooser"]["choices"] == {"actor": "whoever searches", "gm": "the game master"}
    assert record["in_force"] == {"cost_chooser": "actor"}
    record = json.loads(rpgres("ruleset", "show", "lantern", "search", "--json").stdout)
    assert record["format"] == "rpgres.action/1"
    assert record["bands"] == {"dark": "Darkness", "glow": "A glow", "found": "Found"}
    assert record["tables"]["search"]["found"]["effects"][0]["kind"] == "light"


@pytest.mark.parametrize("action", ["", *fate().file.actions])
def test_show_tells_everything_of_fate(action: str) -> None:
    """Whatever a rule or a table can ask is listed, shared questions and questions within questions included."""
    rules = fate()
    text = rpgres("ruleset", "show", "fate", *([action] if action else [])).stdout
    words = text.replace("(", " ").replace(",", " ").split()
    for name in [action] if action else rules.file.actions:
        assert set(labels_of(rules, name)) <= set(words)
        for table in rules.file.actions[name].tables:
            rows = rules.table(table)
            assert not action or all(row.text in text for row in rows.values())
    if action:
        assert all(f"--{name}" in words for name in rules.parameters(action))
    else:
        assert set(words) >= {*rules.file.actions, *rules.file.bands, *rules.file.effects, *rules.file.policies}
        assert all(f"{name}: {switch.help}" in text for name, switch in rules.file.switches.items())


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["lantrn"], "did you mean 'lantern'?"),
        (["lantern", "serch"], "did you mean 'search'?"),
        (["lantern", "--switch", "cost_choser=gm"], "did you mean 'cost_chooser'?"),
        (["lantern", "--switch", "cost_chooser=you"], "can be actor, gm; not 'you'"),
        (["lantern", "--plian"], "did you mean '--plain'?"),
        ([], "missing argument 'RULESET'"),
    ],
)
def test_show_refuses_what_is_not_there(args: list[str], told: str) -> None:
    done = rpgres("ruleset", "show", *args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr


# ---------------------------------------------------------------------------------------------------------------------
# plugin


@pytest.mark.slow
def test_plugins_that_are_well() -> None:
    for args in (["list"], ["list", "--check"]):
        done = rpgres("plugin", *args)
        assert (done.exit_code, done.stderr) == (0, "")
        lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
        assert lines[0] == ["fate", "ok", f"{fate().file.title} (rpgres {__version__}, built in)"]
        assert lines[-1] == ["lantern", "ok", "Lantern (rpgres-lantern 0.7)"]


@pytest.mark.slow
@pytest.mark.usefixtures("few_processes")
def test_check_prints_a_line_for_each_check() -> None:
    done = rpgres("plugin", "check", "lantern")
    assert (done.exit_code, done.stderr) == (0, "")
    first, *others, last = done.stdout.splitlines()
    assert last == f"  {len(CHECKS) - 3} of {len(CHECKS)} checks passed; not checked: permissions, sheets, scenes"
    assert first == "lantern: Lantern (rpgres-lantern 0.7)"  # whether it is well, nobody knows yet
    lacking = ["permissions", "sheets", "scenes"]
    assert [line.split()[:2] for line in others if "note:" not in line] == [
        [check.name, "not" if check.name in lacking else "passed"] for check in CHECKS
    ]
    record = json.loads(rpgres("plugin", "check", "lantern", "--json").stdout)
    unchecked = {check["name"]: check["unchecked"] for check in record["plugins"][0]["checks"] if check["unchecked"]}
    assert (record["ok"], list(unchecked)) == (True, lacking)
    assert unchecked["scenes"].startswith("it ships no scene")


@pytest.mark.slow
@pytest.mark.usefixtures("few_processes")
def test_check_of_a_rule_that_breaks_the_contract(work: Path) -> None:
    code = CODE.replace('"lantern"', '"torch"').replace("+ skill.value", "+ skill.value + id(table) % 2")
    data = DATA.replace("roll lantern", "roll torch")
    write(work.parent / "site", "torch", code=code, data=data)
    assert rpgres("plugin", "list", "--check").exit_code == 0  # which is quick, and plays nothing
    done = rpgres("plugin", "check", "torch")
    assert (done.exit_code, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    failed = [line.split()[0] for line in lines if re.match(r"  \S+ +failed ", line)]
    assert "sources" in failed
    count = f"{len(failed)} of {len(CHECKS)} checks failed"
    assert lines[-1] == f"  {count}: {', '.join(failed)}; not checked: permissions, sheets, scenes"
    told = lines[next(number for number, line in enumerate(lines) if re.match("  sources +failed", line)) + 1]
    assert re.match(r"    .*__init__\.py:11: it calls id\(\); such values differ", told)
    record = json.loads(rpgres("plugin", "check", "torch", "--json").stdout)
    assert (record["format"], record["ok"]) == ("rpgres.plugin-check/2", False)
    Draft202012Validator(make_schema("plugin-check")).validate(record)
    (report,) = record["plugins"]
    assert (report["id"], report["ok"], report["stage"]) == ("torch", False, None)
    assert [check["name"] for check in report["checks"]] == [check.name for check in CHECKS]
    assert [check["name"] for check in report["checks"] if not check["ok"]] == failed
    (found,) = next(check for check in report["checks"] if check["name"] == "sources")["problems"]
    assert (found["code"], found["message"]) == ("sources", "it calls id()")
    assert found["line"] == 11


@pytest.mark.slow
@pytest.mark.usefixtures("few_processes")
def test_a_broken_plugin_is_named_and_harms_nothing(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(work.parent / "site", "torch", code="raise RuntimeError('no matches')\n", data=DATA)
    ours = [name.id for name in ruleset_names(titles=False) if name.builtin]
    monkeypatch.setenv("RPGRES_DISABLE", ",".join(ours))  # they pass their own tests, which take a while
    for args, code in ((["list"], 0), (["list", "--check"], 1), (["check"], 1), (["check", "torch"], 1)):
        done = rpgres("plugin", *args)
        assert (done.exit_code, done.stderr) == (code, "")
        assert re.search("^torch +broken ", done.stdout, re.MULTILINE)
        assert "rpgres-torch 0.7 cannot be used (stage import" in done.stdout
        assert "RuntimeError: no matches" in done.stdout
        assert re.search("^lantern( +ok |: )", done.stdout, re.MULTILINE) or args[-1] == "torch"
    assert rpgres("plugin", "check", "lantern").exit_code == 0
    record = json.loads(rpgres("plugin", "list", "--json").stdout)
    assert (record["format"], record["ok"]) == ("rpgres.plugins/1", False)
    found = {plugin["id"]: (plugin["ok"], plugin["stage"]) for plugin in record["plugins"]}
    assert {name for name, (is_well, _) in found.items() if not is_well} == {*ours, "torch"}
    assert (found["fate"], found["lantern"]) == ((False, "disabled"), (True, None))
    assert found["torch"] == (False, "import")


def test_data_that_do_not_fit_the_code_are_told_line_by_line(work: Path) -> None:
    data = DATA.replace('tables = ["search"]', 'tables = ["search", "serch"]').replace(
        "[policies]", "[policies]\nbold = ''"
    )
    write(work.parent / "site", "torch", code=CODE.replace('"lantern"', '"torch"'), data=data)
    done = rpgres("plugin", "check", "torch")
    assert done.exit_code == 1
    assert "(stage validate" in done.stdout
    assert re.search(r"ruleset\.toml:\d+: policies\.bold: ", done.stdout)
    assert "serch" in done.stdout


@pytest.mark.slow
def test_a_disabled_plugin_is_no_broken_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RPGRES_DISABLE", "lantern")
    done = rpgres("plugin", "list", "--check")
    assert done.exit_code == 0
    assert re.search("^lantern +disabled ", done.stdout, re.MULTILINE)
    assert "RPGRES_DISABLE=lantern switches it off" in done.stdout


@pytest.mark.slow
def test_a_name_that_switches_nothing_off_is_told_and_breaks_no_roll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RPGRES_DISABLE", "lantrn, rpgres-lantern,zzz")
    told = "RPGRES_DISABLE names 'lantrn', but there is no such ruleset or distribution; did you mean 'la"
    for args in (("plugin", "list"), ("ruleset", "list")):
        done = rpgres(*args)
        assert (done.exit_code, done.stderr) == (0, "")
        assert told in done.stdout
        assert "names 'zzz'" in done.stdout
        assert "names 'rpgres-lantern'" not in done.stdout
    assert told in json.loads(rpgres("plugin", "list", "--json").stdout)["warnings"][0]
    done = rpgres("roll", "fate", "overcome", "--skill", "3", "--vs", "2", "--auto")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "RPGRES_DISABLE" not in done.stdout
    monkeypatch.setenv("RPGRES_DISABLE", "fate,lantern,")
    assert "note:" not in rpgres("plugin", "list").stdout


@pytest.mark.slow
def test_check_of_what_nothing_has() -> None:
    done = rpgres("plugin", "check", "lantrn")
    assert (done.exit_code, done.stdout) == (2, "")
    told = "rpgres: there is no ruleset 'lantrn'; did you mean 'lantern'? `rpgres ruleset list` describes all\n"
    assert done.stderr == told
    assert "; installed: " in rpgres("plugin", "check", "zzz").stderr


def test_help_and_show_tell_what_the_game_master_says() -> None:
    for words in (("ruleset", "show", "faith", "confront"), ("roll", "faith", "confront", "--help")):
        shown = " ".join(rpgres(*words).stdout.replace("│", " ").split())
        assert re.search(r"--against .*?\(given by the game master\)", shown), shown
        assert not re.search(r"--skill [^-]*\(given by the game master\)", shown)


def test_a_ruleset_of_a_named_folder_that_is_switched_off_is_no_unknown_name(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = work / "own" / "lamp"
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text('standalone = true\ntitle = "Lamp"\nsummary = "One lamp."\nversion = "1"\n')
    monkeypatch.setenv("RPGRES_DISABLE", "lamp,lantrn")
    listed = json.loads(rpgres("ruleset", "list", "--rulesets", "own", "--json").stdout)
    told = [
        one["message"] for problems in [listed["problems"]] for one in problems if "RPGRES_DISABLE" in one["message"]
    ]
    assert [one.partition(",")[0] for one in told] == ["RPGRES_DISABLE names 'lantrn'"]
