"""The contract: our own rulesets keep it, and each of its checks finds the fault it is for."""

from __future__ import annotations

import ast
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from msgspec import structs

from rpgres import Box, Character, Map, Option, Outcome, Ruleset, State, Table, Tag, pile_name, put
from rpgres.conformance import (
    CHECKS,
    Check,
    Subject,
    Verdict,
    behaviour,
    check_ruleset,
    documentation,
    open_subject,
    probabilities,
    run_check,
    secrets,
    subjects,
)
from rpgres.conformance import checks as checking
from rpgres.conformance import subprocess as processes
from rpgres.conformance.records import NothingToCheck, finding
from rpgres.conformance.secrets import leak, receive
from rpgres.conformance.sources import faults_in
from rpgres.conformance.subjects import Case
from rpgres.conformance.variations import Variation, hidden_before, kinds_of_tags
from rpgres.conformance.walks import OutOfTime, deadline
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.piles import lay_out
from rpgres.engine.prepare import Prepared, prepare
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.errors import TimeIsUpError
from rpgres.plugins.discovery import find_ruleset, ruleset_names
from rpgres.toml.diagnostics import Diagnostic
from tests.support import gambit, pebble
from tests.support.effort import few
from tests.support.packages import AFTER_HOURS, put_on_path
from tests.support.packages import BROKEN as BROKEN_PACKAGES
from tests.support.tiny import tiny_rules

BY_NAME = {check.name: check for check in CHECKS}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder on the path of modules."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)
    yield folder
    sys.modules.pop("rpgres_pebble", None)


@pytest.fixture
def played_less(exhaustive: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer paths, plays and processes than for plugins, unless the run is --exhaustive."""
    if not exhaustive:
        monkeypatch.setattr(subjects, "LEAVES", 200)
        monkeypatch.setattr(probabilities, "RUNS", 250)
        monkeypatch.setattr(processes, "MORE_HASH_SEEDS", ())


def verdict(name: str, subject: Subject) -> Verdict:
    return run_check(BY_NAME[name], subject)


def text_of(found: Verdict) -> str:
    return "\n".join(problem.text for problem in found.problems)


# ---------------------------------------------------------------------------------------------------------------------
# What keeps it


OURS = [name.id for name in ruleset_names(titles=False) if name.builtin]
CODED = ("fate", "coppermane", "saga", "faith", "nodice")  # the others are data, which one engine plays


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", [*CODED, *few([id_ for id_ in OURS if id_ not in CODED], 4)])
def test_our_rulesets_keep_the_contract(
    ruleset: str, exhaustive: bool, played_less: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer cases, paths and processes than `rpgres plugin check`, unless the run is --exhaustive."""
    monkeypatch.setattr(checking, "SECONDS", 900.0)  # other work on the machine makes no check fail
    subject = open_subject(find_ruleset(ruleset))
    assert len({case.name for case in subject.cases}) == len(subject.cases)
    if not exhaustive:
        monkeypatch.setattr(subjects, "LEAVES", 40)
        monkeypatch.setattr(subjects, "FEWEST", 3)
        monkeypatch.setattr(subjects, "FEW_LONG", 2)
        monkeypatch.setattr(secrets, "FEWEST", 2)
        for room in (behaviour, documentation, subjects):
            monkeypatch.setattr(room, "SEEDS", 2)
        monkeypatch.setattr(processes, "HASH_SEEDS", ("1",))  # against that of this process
        subject.cases = a_few(subject)
    found = check_ruleset(subject)
    assert {one.name: text_of(one) for one in found} == dict.fromkeys(BY_NAME, "")
    assert {case.prepared.action for case in subject.sound} == set(subject.rules.file.actions)  # each was played


def a_few(subject: Subject) -> list[Case]:
    """Return every example, and of each action's steps in scenes one for each outcome, and of all others a sample."""
    taken, seen, outcomes = list[Case](), Counter[str](), set[tuple[str, str]]()
    for case in subject.cases:
        action, expect = case.prepared.action, None if case.leaf is None else case.leaf.step.expect
        outcome = (action, (expect.outcome if expect is not None else None) or "")
        every = 40 if action in subject.rules.ruleset.procedures else 12
        if case.is_example or outcome not in outcomes or seen[action] % every == 0:
            taken.append(case)
        if not case.is_example:
            seen[action] += 1
            outcomes.add(outcome)
    return taken


@pytest.mark.slow
def test_a_ruleset_that_keeps_it(site: Path) -> None:
    begun: list[str] = []
    found = list(check_ruleset(pebble.install(site), begins=lambda check: begun.append(check.name)))
    assert {one.name: text_of(one) for one in found} == dict.fromkeys(BY_NAME, "")
    assert begun == list(BY_NAME)
    assert all(one.ok for one in found)
    assert not [note for one in found for note in one.notes]


def test_what_is_laid_over_a_ruleset_here_does_not_count(site: Path) -> None:
    folder = site.parent / "rulesets" / "pebble"
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text('dice = "3d6"\nbands.hit.title = "Ouch"\n', "utf-8")
    subject = pebble.install(site)
    assert subject.rules.file.bands["hit"].title == "Hit"
    assert verdict("scenes", subject).ok


def test_a_ruleset_that_is_not_installed_is_told_what_is_not_checked() -> None:
    found = verdict("hash-seeds", Subject(tiny_rules()))
    assert found.ok
    assert "not installed" in found.unchecked


@pytest.mark.slow
@pytest.mark.usefixtures("played_less")
def test_a_package_of_somebody_else(site: Path) -> None:
    put_on_path(site, AFTER_HOURS)
    subject = open_subject(find_ruleset("after-hours"))
    assert {one.name: text_of(one) for one in check_ruleset(subject)} == dict.fromkeys(BY_NAME, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "failed", "told"),
    [
        (
            "endless-rule",
            "ends",
            "10,000 questions in one action, 'roll' the last, most often 'roll' (10,000 times); it seems to loop (",
        ),
        ("failing-rule", "ends", "ZeroDivisionError"),
        ("fickle-rule", "repeats", "run twice with the same answers"),
        ("talkative", "sources", "it calls print()"),
    ],
)
def test_packages_that_are_broken_on_purpose(package: str, failed: str, told: str, site: Path) -> None:
    put_on_path(site, next(folder for folder in BROKEN_PACKAGES if folder.name == package))
    assert told in text_of(verdict(failed, open_subject(find_ruleset(package))))


# ---------------------------------------------------------------------------------------------------------------------
# What breaks it

INIT, DATA, SHEET, SCENE = "__init__.py", "ruleset.toml", "sheets/wren.toml", "scenes/first.toml"
TOTAL = "    total = table.roll(table.rules.dice, by=actor.name) + skill.value\n"
ROLL = "table.roll(table.rules.dice, by=actor.name)"
TOP = "from pathlib import Path\n"
LOOP = "for _ in range(4):"
COUNT = "    count = 0\n"
ONE = "table.roll(Dice.of('1d1'), 'bounce')"
SCRIPTED = "'Given' in repr(getattr(table, 'run').dealer)"
SIX = "table.roll(Dice.of('d6'), 'bounce')"
WINDY = 'table.rules.chosen["wind"] == "yes"'
SENSIBLE = "return preferred(view, question)"
SHOWN = '    table.tell(f"{actor.name} shows {card.title}")\n'
KNOWN = '    table.tell(f"{actor.name} guessed {own}", audience=(table.state.seat_of(actor.name),))\n'
OWN = "    own = guesses["
LOST = 'lost = { title = "Lost" }\n[outcomes.skip.lost]'

# Each: the check, the file, a piece of it, what stands there instead, and what the check then says.
BROKEN: list[tuple[str, str, str, str, str]] = [
    ("data", DATA, 'labels = ["bounce"]', 'labels = ["bounse"]', "did you mean `bounce`"),
    ("data", DATA, 'Graze", from = 0', 'Graze", from = 1', "no band has the margin 0"),
    ("data", DATA, "from = 2, success", "from = 1, success", "share the margin 1"),
    ("data", DATA, '"mark", to = "actor", change = -1', '"marc", to = "actor"', "did you mean `mark`"),
    ("data", SHEET, "arm = 2", "arn = 2", "skills.arn: "),
    ("texts", DATA, 'summary = "Skip a pebble over water."', 'summary = ""', "actions.skip.summary is empty"),
    ("texts", DATA, 'example = "rpgres roll pebble skip"\n', "", "the action skip has no example"),
    ("texts", DATA, "throw --skill 1 --vs 8", "throw --skil 1 --vs 8", "did you mean '--skill'"),
    ("texts", DATA, "throw --skill 1 --vs 8", "throw --skill 1", "throw needs --vs"),
    ("texts", DATA, "throw --skill 1 --vs 8", "throw --skill 1 --vs", "--vs is followed by a value"),
    (
        "texts",
        DATA,
        "throw --skill 1 --vs 8",
        "throw --skill 1 --vs far",
        "ruleset.toml:15: actions.throw.example: --vs 'far' is no number",
    ),
    ("texts", DATA, "rpgres roll pebble skip", "roll pebble skip", "does not begin with 'rpgres roll pebble skip'"),
    ("texts", DATA, "roll pebble skip", "roll pebble skip 'x", "is no command line"),
    ("texts", DATA, 'help = "how good the arm is"', 'help = " "', "parameters.skill.help is empty"),
    (
        "texts",
        DATA,
        'bold = "uses a charm when the throw would miss"',
        "",
        "policies.bold, which the data do not explain",
    ),
    ("sources", INIT, TOP, f"{TOP}import random\n", "__init__.py:3: it imports random; random results come from"),
    ("sources", INIT, TOP, f"{TOP}from datetime import date\n", "it imports datetime"),
    ("sources", INIT, TOP, f"{TOP}import os.path as p\n", "it imports os;"),
    ("sources", INIT, TOP, f"{TOP}import sys as s\ns.stdout\n", "it uses sys.stdout"),
    ("sources", INIT, TOP, f"{TOP}from urllib import request\n", "it imports urllib.request"),
    ("sources", INIT, TOTAL, f"{TOTAL}    print(total)\n", "it calls print()"),
    ("sources", INIT, TOTAL, f"{TOTAL}    open(__file__).close()\n", "it calls open()"),
    ("sources", INIT, TOTAL, f"{TOTAL}    import time\n", "it imports time"),
    ("sources", INIT, TOTAL, f"{TOTAL}    Path(__file__).read_text()\n", "it calls .read_text()"),
    ("sources", INIT, TOTAL, f"{TOTAL}    hash(actor.name)\n", "it calls hash()"),
    ("sources", INIT, "    count = 0\n", "    global count\n    count = 0\n", "it changes the module's count"),
    ("ends", INIT, ROLL, f"(1 // 0) + {ROLL}", "ZeroDivisionError"),
    (
        "ends",
        INIT,
        LOOP,
        f"while True:\n        {ONE}\n    for _ in ():",
        "'bounce' the last, most often 'bounce' (10,000 times); it seems to loop (",
    ),
    ("ends", INIT, COUNT, f'{COUNT}    raise UsageError("not today")\n', "not today"),
    (
        "ends",
        INIT,
        'return table.settle("skip", count',
        'return "skip" or table.settle("skip", count',
        "not an outcome with a band",
    ),
    ("ends", INIT, 'effect["change"]', 'effect["chance"]', "the effect mark of the ruleset pebble failed"),
    ("ends", DATA, 'example = "rpgres roll pebble skip"\n', "", "no example and no scene plays the action skip"),
    ("labels", DATA, 'labels = ["roll", "opposition", "charm"]', 'labels = ["roll"]', "'charm' is used for a decision"),
    ("labels", DATA, 'labels = ["bounce"]', 'labels = ["roll"]', "'bounce' is used for a chance"),
    ("labels", DATA, '[labels.bounce]\nkind = "chance"', '[labels.bounce]\nkind = "decision"', "is a decision label"),
    ("labels", DATA, 'facts = ["margin"]', 'facts = ["marginn"]', "'charm' shows the fact 'margin', which it does not"),
    ("labels", DATA, 'facts = ["margin"]', 'facts = ["margin"]\noptions = ["x*"]', "'charm' offers"),
    ("labels", INIT, "tag.name, 1)", 'tag.name, 1, {"luck": 1})', "an option with the fact 'luck', which it does not"),
    ("tables", DATA, '[outcomes.skip.graze]\ntext = "It skips."\n', "", "the table skip of skip has no row for graze"),
    ("tables", DATA, "[outcomes.skip.hit]", "[outcomes.skip.lost]\n[outcomes.skip.hit]", "no band 'lost'"),
    ("tables", DATA, "[actions.throw]", f"{LOST}\n[actions.throw]", "the row lost"),
    ("switches", INIT, TOTAL, f"{TOTAL}    if {WINDY}:\n        total = None\n", "with --switch wind=yes"),
    ("repeats", INIT, ROLL, f"(calls.append(1) or len(calls) % 2) + {ROLL}", "run twice with the same answers"),
    ("hash-seeds", INIT, "held = [", "held = [Option(one) for one in {*'abcdefgh'}] + [", "PYTHONHASHSEED=1"),
    ("replays", INIT, ROLL, f"(1 if {SCRIPTED} else 0) + {ROLL}", "it ends with"),
    ("replays", INIT, ROLL, f"({SCRIPTED} and 1 // 0) + {ROLL}", "ZeroDivisionError"),
    ("replays", INIT, "    total = t", f"    if {SCRIPTED}:\n        {ONE}\n    total = t", "it rolled 'bounce'"),
    ("odds", INIT, "compared.margin,", "compared.margin if compared.total is None else 0,", "and roll by roll"),
    ("odds", INIT, TOTAL, f'{TOTAL}    table.merge("rolled")\n', "and roll by roll"),
    ("odds", INIT, TOTAL, f'{TOTAL}    table.merge(total > 9, holds=["margin"])\n', "to what it `holds` for"),
    ("odds", INIT, TOTAL, f'{TOTAL}    table.merge(total > 9, holds=["total"])\n', "to what it `holds` for"),
    (
        "odds",
        INIT,
        'return table.settle("skip"',
        'return table.settle("skip", 0) and table.settle("skip"',
        "table.settle",
    ),
    (
        "odds",
        INIT,
        COUNT,
        "    count = -9 if 'Seeded' in repr(table.run.dealer) else 0\n",
        "occurred in play, but not in the odds",
    ),
    (
        "odds",
        INIT,
        "< 3:",
        "< (2 if 'Seeded' in repr(table.run.dealer) else 3):",
        "times in 1,000, and has the exact chance",
    ),
    (
        "leaves",
        INIT,
        LOOP,
        f"for _ in range(9):\n        {SIX}\n    {LOOP}",
        "2,000 runs or 5 seconds; most asked: bounce",
    ),
    (
        "views",
        INIT,
        "table.state.seen_by(table.state.seat_of(actor.name))",
        "table.state",
        "hidden information changes whether actor is asked",
    ),
    ("views", INIT, "tag.held_by([actor.name])", "len(table.state.tags) < 3", "changes whether wren is asked charm"),
    (
        "views",
        INIT,
        KNOWN,
        f"{KNOWN}    if table.cards(pile_name('hand', names[-1]))[0].code == 'Se1':\n        raise UsageError('no')\n",
        "hidden information changes an error: no error or no, with Se1 drawn in place of",
    ),
    ("states", INIT, '.with_("marks", marks))', '.with_("marks", marks).with_("more", [marks]))', "cannot be hashed"),
    (
        "states",
        INIT,
        '.with_("marks", marks))',
        '.with_("marks", marks).with_("more", float("inf")))',
        "cannot be serialized",
    ),
    (
        "states",
        INIT,
        '.with_("marks", marks))',
        '.with_("marks", marks).with_("more", (marks, 1)))',
        "cannot be serialized",
    ),
    (
        "states",
        INIT,
        '+ effect["change"]',
        '+ effect["change"] + (calls.append(1) or max(0, len(calls) - 50))',
        "two different states",
    ),
    ("policies", INIT, SENSIBLE, 'return "shane"', "answers 'shane', which is not offered (mark, shame)"),
    ("policies", INIT, SENSIBLE, 'return {"shame": 0.5}', "gives the weights"),
    ("policies", INIT, SENSIBLE, 'return {"shane": 1}', "gives a weight to 'shane', which is not offered"),
    ("policies", INIT, SENSIBLE, "return 7", "answers with 7"),
    ("policies", INIT, SENSIBLE, 'return question.facts["height"]', "fails at 'price': KeyError: 'height' ("),
    (
        "policies",
        INIT,
        SENSIBLE,
        "return question.options[calls.append(1) or len(calls) % 2].name",
        "decides differently the second time",
    ),
    ("sheets", SHEET, "arm = 2", "arn = 2", "skills.arn: "),
    (
        "sheets",
        INIT,
        'character.counters.get("marks", 0)))',
        "calls.append(1) or len(calls)))",
        "two different characters",
    ),
    ("scenes", SCENE, 'outcome = "graze"', 'outcome = "hit"', "outcome should be 'hit', and is 'graze'"),
    ("scenes", SCENE, 'action = "throw"', 'action = "thow"', "did you mean `throw`"),
    ("scenes", SCENE, 'ruleset = "pebble"', 'ruleset = "fate"', "is for it, and not for 'fate'"),
    ("scenes", SCENE, 'roll = "3,3"', 'roll = "3,7"', "3,7"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("check", "file", "old", "new", "told"), BROKEN)
def test_each_check_finds_its_fault(
    check: str, file: str, old: str, new: str, told: str, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probabilities, "MOST", 2000)
    monkeypatch.setattr(subjects, "LEAVES", 500 if check in ("odds", "views") else 40)  # others find theirs at once
    changes = [(file, old, new)]
    if "calls" in new:
        changes.append((INIT, TOP, f"{TOP}\ncalls = []\n"))
    subject = pebble.install(site, changes)
    if check == "odds":  # no fault of these is one of bets, whose odds take most of the time
        subject.cases = [case for case in subject.cases if case.prepared.action != "bet"]
    found = verdict(check, subject)
    assert not found.ok
    assert told in text_of(found)
    assert "could not be checked" not in text_of(found)


NAMES = "    names = tuple(table.state.characters)\n"
STOP = [
    ("__init__.py", "    count = 0\n", "    count = 1 // 0\n"),
    ("__init__.py", TOTAL, f"    1 // 0\n{TOTAL}"),
    ("__init__.py", NAMES, "    1 // 0\n"),
]
PLAYED = (
    "labels",
    "tables",
    "switches",
    "repeats",
    "hash-seeds",
    "replays",
    "odds",
    "leaves",
    "views",
    "permissions",
    "states",
    "policies",
)


@pytest.mark.parametrize("check", PLAYED)
def test_what_has_nothing_to_play_is_not_checked_and_has_not_passed(check: str, site: Path) -> None:
    found = verdict(check, pebble.install(site, STOP))
    assert (found.ok, found.unchecked) == (True, "no action plays to its end")


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ("sources", "no code of its own"),
        ("tables", "no outcome table"),
        ("switches", "no switch"),
        ("policies", "no policy"),
        ("views", "can be hidden"),
        ("sheets", "no sheets"),
        ("scenes", "it ships no scene"),
    ],
)
def test_what_a_ruleset_does_not_have_is_not_checked(check: str, why: str, site: Path) -> None:
    folder = site / "coin"
    folder.mkdir()
    (folder / "ruleset.toml").write_text(COIN, "utf-8")
    subject = open_subject(Ruleset("coin", data=folder))
    assert why in verdict(check, subject).unchecked
    for name in ("data", "texts", "ends", "repeats", "replays", "odds", "leaves", "states"):
        found = verdict(name, subject)
        assert (name, found.ok, found.unchecked, text_of(found)) == (name, True, "", "")


COIN = """
standalone = true
title = "Coin"
summary = "One coin."
version = "1"

[bands]
tails = { title = "Tails", to = 1, success = false }
heads = { title = "Heads", from = 2, success = true }

[actions.toss]
summary = "Toss it."
example = "rpgres roll coin toss"
dice = "1d2"
"""


def test_a_check_that_failed_is_not_unchecked() -> None:
    def find(_subject: Subject) -> Iterator[object]:
        yield finding("a fault")
        raise NothingToCheck("nothing else")

    found = lone(find)
    assert (found.ok, found.unchecked, text_of(found)) == (False, "", "a fault")


@pytest.mark.slow
@pytest.mark.usefixtures("played_less")
def test_what_outlives_a_run_is_told_as_such_and_misleads_no_other_check(site: Path) -> None:
    fickle = (INIT, ROLL, f"(calls.append(1) or len(calls) % 2) + {ROLL}")
    subject = pebble.install(site, [fickle, (INIT, TOP, f"{TOP}\ncalls = []\n")])
    (problem,) = verdict("repeats", subject).problems
    assert "or mutable globals" in problem.text
    assert {case.prepared.action for case in subject.steady} == {"skip", "bet"}
    for check in ("hash-seeds", "replays", "odds", "leaves", "views", "states", "policies"):
        assert text_of(verdict(check, subject)) == ""


def test_two_accounts_are_shown_where_they_differ(site: Path) -> None:
    fickle = (INIT, "roles = {", "roles = {'x' * 300: str(calls.append(1) or len(calls)), ")
    found = verdict("repeats", pebble.install(site, [fickle, (INIT, TOP, f"{TOP}\ncalls = []\n")]))
    (problem,) = found.problems
    first, then = problem.message.removeprefix("run twice with the same answers it differs: ").split(" first, then ")
    assert first != then
    assert first.startswith("\N{HORIZONTAL ELLIPSIS}")


@pytest.mark.slow
def test_what_is_different_once_is_not_put_down_to_the_order_of_sets_alone(site: Path) -> None:
    once = (INIT, ROLL, f"(calls.append(1) or len(calls) < 3) + {ROLL}")
    found = verdict("hash-seeds", pebble.install(site, [once, (INIT, TOP, f"{TOP}\ncalls = []\n")]))
    assert "where other actions were played before; a rule must depend only on the table" in text_of(found)


# Each: the only check that finds it, the file, a piece of it, and what stands there instead.
ALONE: list[tuple[str, str, str, str]] = [
    ("data", DATA, "from = 2, success", "from = 1, success"),
    ("data", DATA, "to = -1, success = false", "to = -1, success = true"),
    ("texts", DATA, 'help = "how good the arm is"', 'help = " "'),
    ("texts", INIT, "opposition=vs.value, roles", 'opposition=vs.value, defaults={"mark": {"why": "luck"}}, roles'),
    ("sources", INIT, TOP, f"{TOP}import random\n"),
    ("sources", INIT, KNOWN, f"    try:\n        table.cards('hand:nobody')\n    except:\n        pass\n{KNOWN}"),
    ("ends", INIT, COUNT, f'{COUNT}    raise UsageError("not today")\n'),
    ("labels", DATA, 'labels = ["bounce"]', 'labels = ["roll"]'),
    ("labels", DATA, 'facts = ["margin"]', "facts = []"),
    ("labels", INIT, '(Option("few"), Option("many"))', '(Option("few"), Option("many"), Option("few"))'),
    ("tables", DATA, '[outcomes.skip.graze]\ntext = "It skips."\n', ""),
    ("switches", INIT, TOTAL, f"{TOTAL}    if {WINDY}:\n        total = None\n"),
    ("repeats", INIT, COUNT, "    count = next(calls) % 2\n"),
    ("repeats", INIT, COUNT, f'{COUNT}    table.rules.file.settings["more"] = 1\n'),
    ("hash-seeds", INIT, COUNT, f"{COUNT}    table.tell(min({{*'abcdefgh'}}, key=len))\n"),
    ("replays", INIT, COUNT, f"    count = int({SCRIPTED})\n"),
    ("odds", INIT, TOTAL, f'{TOTAL}    table.merge("rolled")\n'),
    ("odds", INIT, "merge((number, count, own", "merge((number, min(count, 3), own"),
    ("leaves", INIT, LOOP, f"for _ in range(9):\n        {SIX}\n    {LOOP}"),
    ("views", INIT, KNOWN, f'{KNOWN}    table.tell(f"somebody holds {{foe.title}}")\n'),
    ("views", INIT, KNOWN, KNOWN.replace(", audience=(table.state.seat_of(actor.name),)", "")),
    ("views", INIT, KNOWN, f'{KNOWN}    for _ in range(foe.value):\n        table.tell("waves")\n'),
    (
        "views",
        INIT,
        KNOWN,
        f'{KNOWN}    if foe.value == 1:\n        table.ask("guess", "gm", [Option("a"), Option("b")])\n',
    ),
    (
        "views",
        INIT,
        'settle("bet", count - 2, total=count, opposition=2,',
        'settle("bet", count - 2, total=count, opposition=2 + len(names[1:]) * foe.value,',
    ),
    ("views", INIT, TOTAL, f'{TOTAL}    table.tell(f"{{len(table.state.tags)}} things lie about")\n'),
    # A line that reveals excuses what it names, for whom it is told, and only where it tells that itself.
    ("views", INIT, SHOWN, f'{SHOWN}    table.tell(f"not {{foe.title}}", reveals=(card.code,))\n'),
    ("views", INIT, KNOWN, f'{KNOWN}    table.tell(", ".join(guesses), reveals=(f"{{actor.name}}:guess",))\n'),
    ("views", INIT, KNOWN, f'{KNOWN}    table.tell("look", reveals=(foe.code,))\n    table.tell(foe.title)\n'),
    (
        "views",
        INIT,
        KNOWN,
        KNOWN.replace("{own}", "{own} of {foe.title}").replace("))\n", "), reveals=(foe.code,))\n")
        + "    table.tell(foe.title)\n",
    ),
    ("views", INIT, KNOWN, f"{KNOWN}    table.tell(foe.title)\n    table.tell(foe.title, reveals=(foe.code,))\n"),
    ("states", INIT, '.with_("marks", marks))', '.with_("marks", marks).with_("more", (marks, 1)))'),
    ("policies", INIT, SENSIBLE, "return question.options[next(calls) % 2].name"),
    (
        "sheets",
        INIT,
        'counters.get("marks", 0)))',
        'counters.get("marks", 0) if character.name != "odd" else next(calls)))',
    ),
    ("scenes", SCENE, 'outcome = "graze", margin', 'outcome = "hit", margin'),
]


FIRST = {check: fault for check, *fault in reversed(ALONE)}


@pytest.mark.slow
@pytest.mark.parametrize(("check", "file", "old", "new"), ALONE)
def test_one_check_alone_finds_a_fault(
    check: str, file: str, old: str, new: str, site: Path, exhaustive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All that the odds of a bet take where they are at fault; elsewhere odds that are cut short find nothing either.
    is_bet = check == "odds" and "own" in old
    monkeypatch.setattr(subjects, "LEAVES", 500 if is_bet else 300 if exhaustive else 40)
    monkeypatch.setattr(probabilities, "RUNS", 1000 if exhaustive else 100)
    monkeypatch.setattr(probabilities, "MOST", 2000 if is_bet else 500)
    more = [(INIT, TOP, f"{TOP}from itertools import count as counting\n\ncalls = counting()\n")]
    more += [(INIT, OWN, f'    foe = table.cards(pile_name("hand", names[-1]))[0]\n{OWN}')] if "foe" in new else []
    more += [("sheets/odd.toml", "", 'name = "Odd"\n')] if check == "sheets" else []
    subject = pebble.install(site, [*more, (file, old, new)])
    # For the first fault of each check, all others are run, too, but for the one that starts processes; and for every
    # fault with --exhaustive.
    others = BY_NAME.keys() - {"hash-seeds"} if [file, old, new] == FIRST[check] else ()
    checks = [one for one in CHECKS if exhaustive or one.name in (check, *others)]
    assert {one.name for one in checks if not run_check(one, subject).ok} == {check}


def test_every_check_is_broken_once_and_finds_something_alone() -> None:
    elsewhere = {"permissions"}  # its faults are the table's, not the ruleset's: see below
    assert {check for check, *_ in BROKEN} | elsewhere == set(BY_NAME)
    assert {check for check, *_ in ALONE} | elsewhere == set(BY_NAME)


def test_a_fault_of_a_rule_is_told_with_its_line(site: Path) -> None:
    found = verdict("ends", pebble.install(site, [(INIT, COUNT, f"{COUNT}    1 // 0\n")]))
    (problem,) = found.problems
    line = pebble.CODE.splitlines().index(COUNT.rstrip()) + 2
    assert problem.key == "actions.skip.example"
    assert f"({site / 'rpgres_pebble' / '__init__.py'}, line {line})" in problem.message
    assert "pip install" not in problem.text  # whom to ask is no question for its author


@pytest.mark.slow
@pytest.mark.usefixtures("played_less")
def test_a_failing_action_leaves_the_others_checked(site: Path) -> None:
    subject = pebble.install(site, [(INIT, COUNT, f"{COUNT}    1 // 0\n")])
    assert not verdict("ends", subject).ok
    assert {case.prepared.action for case in subject.sound} == {"throw", "bet"}
    assert all(verdict(name, subject).ok for name in BY_NAME if name != "ends")


def test_modules_that_a_rule_imports_are_read_and_others_are_not(site: Path) -> None:
    subject = pebble.install(
        site,
        [
            (
                INIT,
                TOP,
                f"{TOP}from typing import TYPE_CHECKING\nfrom . import luck\nif TYPE_CHECKING:\n    import os\n",
            ),
            (
                "luck.py",
                "",
                "def lucky(open, hash):\n    from rpgres_pebble.inner import deep\n    return open(hash)\n",
            ),
            ("inner/__init__.py", "", ""),
            ("inner/deep.py", "", "import random as r\nr.random()\n"),
            ("bot.py", "", "import socket\n"),
        ],
    )
    assert text_of(verdict("sources", subject)) == (
        f"{site / 'rpgres_pebble' / 'inner' / 'deep.py'}:1: it imports random; "
        "random results come from the table: table.roll"
    )


SETS = """
def f(a, given: set[str], calls=[]):
    names = {one.name for one in a}
    for name in names: pass
    first = list({'a', 'b'})
    left = [one for one in set(a) | given]
    text = ", ".join({'q', 'r'})
    both = [*{'a', 'b'}]
    any_ = {'a', 'b'}.pop()
    kept[first] = 1
    kept.append(text)
    numbers = {1, 2}
    for number in numbers: pass
    fine = sorted({'a', 'b'}), sorted(one for one in names), sorted(list(names)), sorted([*names]), {*names}
    also = sum(len(one) for one in names), any(one in names for one in a), max(names), len(names)
kept = []
"""


def test_sets_gone_through_in_their_order_and_what_functions_keep_are_told_by_line() -> None:
    found = sorted((fault.line, fault.what.split()[2]) for fault in faults_in(ast.parse(SETS)))
    through = [(line, "through") for line in (4, 5, 6, 7, 8, 9)]
    assert found == [(2, "value"), *through, (10, "the"), (11, "the")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from pathlib import Path\ndef f(name):\n    return Path(name).as_posix(), Path(name).relative_to('a')\n", []),
        ("from pathlib import Path\ndef f(name):\n    return Path(name).exists()\n", ["it calls Path(name).exists()"]),
        ("from rpgres import Table, kits\n", []),
        ("from rpgres import engine\n", ["it imports rpgres.engine, which is not public"]),
        ("X = []\ndef f(o):\n    match o:\n        case {'a': X, **rest}:\n            X.append(1)\n", []),
        ("X = []\ndef f(o):\n    X.append(1)\n", ["it changes the module's X"]),
    ],
)
def test_what_only_handles_text_or_own_names_is_no_fault(text: str, found: list[str]) -> None:
    assert [fault.what for fault in faults_in(ast.parse(text))] == found


def test_a_limit_of_time_of_whoever_asks_ends_a_check() -> None:
    def late(_subject: Any) -> Iterator[Diagnostic]:
        raise TimeIsUpError
        yield

    unasked: Any = None
    with pytest.raises(TimeIsUpError):
        checking.run_check(Check("late", "it ends", late), unasked)


@pytest.mark.slow
def test_a_row_that_nothing_in_the_examples_comes_to_is_a_note(site: Path) -> None:
    far = 'far = { title = "Far", from = 99 }\n[outcomes.throw.far]\n[outcomes.skip.far]\n[outcomes.bet.far]\n'
    changes = [
        (DATA, "from = 2, success", "from = 2, to = 98, success"),
        (DATA, "[actions.throw]", f"{far}[actions.throw]"),
    ]
    found = verdict("tables", pebble.install(site, changes))
    assert found.ok
    assert "far of the table throw" in found.notes[0].text


@pytest.mark.slow
def test_a_row_that_the_code_names_and_no_example_comes_to_is_a_note(site: Path) -> None:
    named = (INIT, TOTAL, f'{TOTAL}    if total > 99:\n        return table.settle("skip", None, band="lost")\n')
    found = verdict("tables", pebble.install(site, [named, (DATA, "[actions.throw]", f"{LOST}\n[actions.throw]")]))
    assert found.ok
    assert "lost of the table skip" in found.notes[0].text


@pytest.mark.slow
def test_a_decision_that_takes_other_answers_says_so(site: Path) -> None:
    reads = (INIT, "optional=True, margin=total", "optional=True, reads=str, margin=total")
    listed = 'facts = ["margin"]\noptions = ["*"]'
    found = verdict("labels", pebble.install(site, [reads, (DATA, 'facts = ["margin"]', listed)]))
    assert "'charm' takes answers beyond its options" in text_of(found)
    assert "add typed = true to [labels.charm]" in text_of(found)


@pytest.mark.slow
def test_a_decision_that_takes_other_answers_and_says_so_is_sound(site: Path) -> None:
    reads = (INIT, "optional=True, margin=total", "optional=True, reads=str, margin=total")
    listed = 'facts = ["margin"]\noptions = ["*"]\ntyped = true'
    assert verdict("labels", pebble.install(site, [reads, (DATA, 'facts = ["margin"]', listed)])).ok


@pytest.mark.slow
def test_a_word_of_a_fact_that_is_not_declared_is_told(site: Path) -> None:
    shows = (INIT, "optional=True, margin=total", 'optional=True, water="calm", margin=total')
    declared = (DATA, 'facts = ["margin"]', 'facts = { margin = [], water = ["rough"] }')
    found = verdict("labels", pebble.install(site, [shows, declared]))
    assert "'charm' shows the fact water as 'calm', which it does not declare" in text_of(found)


@pytest.mark.slow
def test_a_declared_fact_that_nothing_in_the_examples_shows_is_a_note(site: Path) -> None:
    found = verdict("labels", pebble.install(site, [(DATA, 'facts = ["margin"]', 'facts = ["margin", "height"]')]))
    assert found.ok
    assert any("has a 'charm' that shows the fact height" in note.text for note in found.notes)


def tables(seat: str, prepared: Prepared) -> list[State]:
    """The tables that look the same to a seat."""
    return [
        other.state
        for other in hidden_before(seat, prepared, kinds_of_tags(prepared.rules, prepared.state))
        if other.state is not None
    ]


def test_hidden_things_are_hidden_from_the_seat_and_from_nobody_else(site: Path) -> None:
    subject = pebble.install(site)
    case = next(case for case in subject.cases if case.leaf is not None)
    clock = tuple(Box(name, 1, mark) for name, mark in (("1", "x"), ("2", ""), ("3", "")))
    state = put(case.prepared.state, ("tracks",), Map(alarm=clock, tide=(), watch=clock[1:]))
    state = put(state, ("audiences",), Map(alarm=("gm",), watch=("gm", "wren")))
    state = state.with_tag(Tag("Loose Stone", "trap", audience=("gm",)))
    prepared = structs.replace(case.prepared, state=state)
    for seat, expected in (("wren", 6), ("kit", 7), ("gm", 2)):
        found = tables(seat, prepared)
        assert len(found) == expected
        for other in found:
            assert other != state
            assert other.seen_by(seat) == state.seen_by(seat)


def test_what_hidden_things_say_is_varied() -> None:
    secret = Map(count=2, is_lit=True, who="kit", order=("a", "b"), deep=Map(more=(Map(left=0),)), none=None)
    state = put(State(), ("things",), Map(secret=secret, number=1, open=1, own=1))
    state = put(state, ("audiences",), Map(secret=("gm",), number=(), own=("gm", "wren")))
    prepared = structs.replace(gambit.prepared(), state=state)
    others = tables("wren", prepared)
    assert all(other != state and other.seen_by("wren") == state.seen_by("wren") for other in others)
    assert [other.things.get("number") for other in others if other.things.get("secret") == secret] == [2, 0, None]
    varied = [other.things.get("secret") for other in others if other.things.get("number") == 1]
    assert varied[-1] is None
    assert [{key for key in secret if one[key] != secret[key]} for one in varied[:-1] if one is not None] == [
        {"count"},
        {"count"},
        {"is_lit"},
        {"who"},
        {"order"},
        {"order"},
        {"deep"},
        {"deep"},
    ]
    assert all(other.things["own"] == other.things["open"] == 1 for other in others)
    assert tables("gm", structs.replace(prepared, state=structs.replace(state, audiences=Map(secret=("gm",))))) == []


def test_a_rule_that_looks_at_a_hidden_thing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = gambit.rules()
    people = State(characters=Map({"ada": Character("ada"), "bo": Character("bo")}), things=Map(purse=Map(coins=2)))
    ready = prepare(rules, "chase", {}, state=put(people, ("audiences",), Map(purse=("bo",))), actor="ada")
    case = Case("a chase", ready)
    subject = Subject(rules)
    monkeypatch.setattr(Subject, "steady", [case])
    assert "what ada cannot see" not in text_of(verdict("views", subject))

    def greedy(table: Table, actor: Character, **inputs: Any) -> Outcome:
        coins = table.state.things["purse"]["coins"]  # fails where there is none: that tells nothing
        table.ask("more", actor.name, [Option(f"take-{number}") for number in range(coins + 1)])
        return gambit.chase(table, actor, **inputs)

    monkeypatch.setitem(rules.ruleset.actions, "chase", greedy)
    found = verdict("views", subject)
    assert "hidden information changes what ada is asked (more), options[3]: nothing or {'name': 'take-3'" in text_of(
        found
    )


def test_something_else_that_is_shown_excuses_no_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = gambit.rules()
    people = State(characters=Map({"ada": Character("ada"), "bo": Character("bo")}), things=Map(trap=1, spy="Ann"))
    ready = prepare(rules, "chase", {}, state=put(people, ("audiences",), Map(trap=("bo",), spy=("bo",))), actor="ada")
    variation = Variation("another spy", ("spy",), put(ready.state, ("things", "spy"), "Bob"))
    one, another = receive(ready, "ada", 0), receive(ready, "ada", 0, variation)
    told = [structs.replace(one, end=b'{"text": "the spy is Ann"}'), structs.replace(another, end=b'{"text": "Bob"}')]
    for shown, is_leak in ((set(), True), ({"trap"}, True), ({"spy"}, False)):
        left, right = (structs.replace(its, shown=shown) for its in told)
        assert bool(leak(left, right, variation)) == is_leak, shown


@pytest.mark.slow
def test_all_that_can_be_hidden_where_stacks_are_observed_is_varied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "FEWEST", 1000)  # every variation of each step
    subject = open_subject(find_ruleset("nodice"))
    observing = ("conformance-observing", "conformance-house-rules-5", "closed-house")
    resolved = [case for case in subject.cases if case.prepared.action == "resolve"]
    subject.cases = [case for case in resolved if Path(case.place.file).stem in observing]
    assert subject.cases
    assert text_of(verdict("views", subject)) == ""


def test_a_run_that_seats_never_end_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = gambit.rules()

    def endless(table: Table, actor: Character, **inputs: Any) -> Outcome:
        while table.ask("more", actor.name, [Option("on"), Option("over")]) == "on":
            table.ask("more", "bo", [Option("on"), Option("further")])
            table.ask("more", actor.name, [Option("over"), Option("on")])
        return gambit.chase(table, actor, **inputs)

    monkeypatch.setitem(rules.ruleset.actions, "chase", endless)
    people = State(characters=Map({"ada": Character("ada"), "bo": Character("bo")}))
    received = receive(prepare(rules, "chase", {}, state=people, actor="ada"), "ada", 0, longest=20)
    assert received.refused is not None
    assert (received.refused.reason, len(received.asked)) == ("endless", 21)


def test_another_seats_hand_is_another_and_looks_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = gambit.rules()
    people = State(characters=Map({"ada": Character("ada"), "bo": Character("bo")}))
    table = Table(Run(rules, lay_out(rules, people), SeededDealer(Streams("1")), Seats()), rules)
    for owner in people.characters:
        table.draw("deck", to=pile_name("hand", owner), by=owner)
    ready = prepare(rules, "chase", {}, state=table.state, actor="ada")
    others = tables("ada", ready)
    for other in others:
        assert other.piles["hand:bo"] != table.state.piles["hand:bo"]
        assert other.seen_by("ada") == table.state.seen_by("ada")
        assert sorted(card for pile in other.piles.values() for card in pile.cards) == sorted(
            card for pile in table.state.piles.values() for card in pile.cards
        )
    before = receive(ready, "ada", 0)
    for other in others:
        variation = Variation("", tuple(table.state.piles["deck"].cards), other)
        assert leak(before, receive(ready, "ada", 0, variation), variation) == ""

    def spying(table: Table, actor: Character, **inputs: Any) -> Outcome:
        spied = [Option(card.code.lower().replace("+", "p")) for card in table.cards("hand:bo")]
        table.ask("more", actor.name, spied, optional=True)
        return gambit.chase(table, actor, **inputs)

    monkeypatch.setitem(rules.ruleset.actions, "chase", spying)
    told = leak(receive(ready, "ada", 0), receive(ready, "ada", 0, Variation("", state=others[0])))
    assert "hidden information changes what ada is asked" in told


# ---------------------------------------------------------------------------------------------------------------------
# Checks are run each by itself


def lone(find: object) -> Verdict:
    return checking.run_check(Check("lone", "a check of the test's own", find), Subject(tiny_rules()))  # type: ignore[arg-type]


def test_what_a_check_raises_is_a_problem_of_the_check() -> None:
    def find(_subject: Subject) -> Iterator[object]:
        raise SystemExit(7)
        yield

    assert text_of(lone(find)).startswith("this could not be checked: SystemExit: 7 (")


def test_what_a_plugin_prints_is_a_problem_and_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    def find(_subject: Subject) -> list[object]:
        print("hello")
        with pytest.raises(EOFError):
            input()
        return []

    assert "wrote to standard output: 'hello'" in text_of(lone(find))
    assert capsys.readouterr().out == ""


def test_a_keyboard_interrupt_ends_the_check() -> None:
    def find(_subject: Subject) -> list[object]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lone(find)


@pytest.mark.slow
def test_an_action_that_loops_without_asking_is_told(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rpgres.conformance.walks.SECONDS", 0.2)
    found = verdict("ends", pebble.install(site, [(INIT, COUNT, f"{COUNT}    while True:\n        count += 1\n")]))
    assert "it did not end within 0.2 seconds (" in text_of(found)
    assert "__init__.py, line " in text_of(found)


@pytest.mark.slow
def test_scenes_in_which_a_rule_loops_are_ended_too(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("walks.SECONDS", "subjects.SECONDS", "documentation.SCENE"):
        monkeypatch.setattr(f"rpgres.conformance.{name}", 0.2)
    subject = pebble.install(site, [(INIT, TOTAL, f"    while True:\n        pass\n{TOTAL}")])
    told = "it did not end within 0.2 seconds"
    assert told in text_of(verdict("ends", subject))
    assert told in text_of(verdict("scenes", subject))


@pytest.mark.parametrize(
    ("declared", "broken", "told"),
    [
        (
            'said-by = "gm"',
            "rpgres.journal.permissions._check_said",
            "a player may give skill, which is reserved for the game master",
        ),
        ('seen-by = "own"', "rpgres.journal.views._input_seen", "gm reads 'arm' of --skill arm, and not None"),
        ('seen-by = "all"', "rpgres.journal.views._input_seen", "gm reads None of --skill arm, and not 'arm'"),
    ],
)
def test_a_table_that_does_not_keep_what_parameters_declare(
    site: Path, monkeypatch: pytest.MonkeyPatch, declared: str, broken: str, told: str
) -> None:
    help_ = 'help = "how good the arm is"\n'
    subject = pebble.install(site, [("ruleset.toml", help_, f"{help_}{declared}\n")])
    found = verdict("permissions", subject)
    assert (found.unchecked, text_of(found)) == ("", "")

    def other(*given: Any, **_: Any) -> Any:
        return None if "all" in declared and given[-1] == "gm" else given[-2]

    monkeypatch.setattr(broken, other)
    assert told in text_of(verdict("permissions", subject))


@pytest.mark.slow
def test_a_check_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rpgres.conformance.checks.SECONDS", 0.2)
    assert "it did not end within 0.2 seconds" in text_of(lone(lambda _subject: forever()))


def forever() -> None:
    while True:
        pass


def compute(seconds: float) -> None:
    limit = monotonic() + seconds
    while monotonic() < limit:
        pass


def test_a_deadline_holds_in_a_job_in_the_background() -> None:
    """A shell starts these with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(OutOfTime), deadline(0.05), deadline(60):
            compute(20)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_deadline_that_is_met_leaves_nothing_behind() -> None:
    with deadline(0.01):
        pass
    with pytest.raises(OutOfTime), deadline(0.01):
        forever()
    with deadline(60):
        pass


def test_what_waits_for_a_busy_machine_is_not_out_of_time() -> None:
    with deadline(0.2):
        sleep(0.5)
    with pytest.raises(OutOfTime), deadline(0.02):
        sleep(20)


def test_many_problems_are_cut_down() -> None:
    found = lone(lambda _subject: [finding(f"problem {number}") for number in range(40)])
    assert len(found.problems) == 11
    assert found.problems[-1].text == "and 30 more"


@pytest.mark.slow
def test_a_promise_that_tags_make_no_difference_is_held() -> None:
    subject = open_subject(find_ruleset("fate"))
    assert subject.rules.ruleset.idles
    subject.cases = [case for case in subject.cases if case.is_example]  # which alone is played here
    assert not list(probabilities._forgotten(subject))
    subject.rules.ruleset.idles = {"conflict": lambda _rules, _policies: ("boost",)}  # also where they are invoked
    told = [one.message for one in probabilities._forgotten(subject)]
    assert "it goes otherwise without what is idle (boost), where sensible decides" in told
    # Points that a conflict pays at its end make no difference to how it ends, though to other points.
    subject.rules.ruleset.idles = {"conflict": lambda _rules, _policies: ("counters.fate-points-after",)}
    assert not list(probabilities._forgotten(subject))
    # What sheets list is never left out, so nothing can go otherwise without it.
    subject.rules.ruleset.idles = {"conflict": lambda _rules, _policies: ("counters.fate-points",)}
    assert not list(probabilities._forgotten(subject))
