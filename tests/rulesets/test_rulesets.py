"""A ruleset's data: overlays, conditions, values, bands, and faults told with their place."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from rpgres.dice.seeds import Streams
from rpgres.engine.prepare import prepare
from rpgres.engine.run import run
from rpgres.errors import FileError, RuleError, UsageError
from rpgres.kits import fate_family
from rpgres.lint.rulesets import data_diagnostics
from rpgres.model.state import Map
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import checked, load_rules, read_ruleset
from rpgres.render.words import house_rules
from rpgres.rulesets import Rules, Ruleset, data_folders, value_of
from rpgres.rulesets import folders as folders_module
from rpgres.rulesets import settling as settling_module
from rpgres.rulesets.sheets import find_sheet
from tests.support.command_line import rpgres as run_rpgres
from tests.support.tiny import TINY, tiny_action, tiny_rules, tiny_ruleset


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ruleset:
    """A ruleset in a folder of its own, and an empty place to work in."""
    folder = tmp_path / "own" / "tiny"
    folder.mkdir(parents=True)
    (folder / "ruleset.toml").write_text(TINY)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("RPGRES_RULESETS", raising=False)
    ruleset = tiny_ruleset()
    ruleset.data = folder
    return ruleset


def write(path: str | Path, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def test_three_lines_add_an_option_and_the_new_question_is_asked(tiny: Ruleset) -> None:
    write(
        "rulesets/tiny/outcomes/try.toml",
        '[miss.ask.price.options.blood]\ntext = "Blood."\neffects = [{ kind = "tick", segments = 1 }]\n',
    )
    rules = load_rules(tiny)
    answers: Any = {"given": {"roll": ["1,1"]}, "choose": {"price": ["blood"]}}
    result, state = run(prepare(rules, "try", {"vs": 7}), streams=Streams("7"), **answers)
    assert result.outcome == "miss"
    assert state.counters["clock"] == 1
    pending, _ = run(prepare(rules, "try", {"vs": 7}), streams=Streams("7"), given={"roll": ["1,1"]})
    assert [option.name for option in pending.question.options] == ["luck", "time", "blood"]
    assert pending.question.who == "actor"


def test_three_lines_add_a_question_to_a_row_that_asked_nothing(tiny: Ruleset) -> None:
    write(
        "rulesets/tiny/ruleset.toml",
        '[outcomes.try.hit.ask.flourish]\nwho = "actor"\n'
        'options = { bow = { text = "Bow." }, wink = { text = "Wink." } }\n',
    )
    pending, _ = run(prepare(load_rules(tiny), "try", {"vs": 7}), streams=Streams("7"), given={"roll": ["6,6"]})
    assert pending.question.label == "flourish"


def test_an_option_and_a_question_can_be_removed(tiny: Ruleset) -> None:
    write("rulesets/tiny/outcomes/try.toml", "[miss.ask.price.options]\nluck = { remove = true }\n")
    result, _ = run(prepare(load_rules(tiny), "try", {"vs": 7}), streams=Streams("7"), given={"roll": ["1,1"]})
    assert result.effects == [{"kind": "tick", "segments": 5}]  # one option is no question
    write("rulesets/tiny/outcomes/try.toml", "[miss.ask]\nprice = { remove = true }\n")
    result, _ = run(prepare(load_rules(tiny), "try", {"vs": 7}), streams=Streams("7"), given={"roll": ["1,1"]})
    assert result.effects == []


@pytest.mark.parametrize(
    ("project", "is_overlay"),
    [
        ('[project]\nname = "rpgres"\n', False),
        ('[project]\nname = "rpgres-house"\n', True),
        ('[project]\nname = "mine"\n[project.entry-points.rpgres]\nfate = "mine"\n', False),
        ("[tool.black]\n", True),
        ("not TOML", True),
    ],
)
def test_the_folder_that_a_ruleset_was_packaged_from_is_no_overlay(
    project: str, is_overlay: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rulesets" / "fate").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(project)
    monkeypatch.chdir(tmp_path)
    assert (Path("rulesets/fate") in data_folders("fate", own=None)) is is_overlay


def test_the_nearest_folder_has_the_last_word(tiny: Ruleset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def title() -> str:
        return load_rules(tiny, extra=[tmp_path / "extra"]).file.title

    assert title() == "Tiny"
    for place, text in (
        (tmp_path / "config" / "rpgres" / "rulesets", "config"),
        (Path("rulesets"), "here"),
        (tmp_path / "far", "environment, second"),
        (tmp_path / "near", "environment, first"),
        (tmp_path / "extra", "option"),
    ):
        write(place / "tiny" / "ruleset.toml", f'title = "{text}"\n')
        if text.startswith("environment"):
            monkeypatch.setenv("RPGRES_RULESETS", f"{tmp_path / 'near'}:{tmp_path / 'far'}")
        assert title() == text
    folders = data_folders("tiny", own=tiny.data, extra=[tmp_path / "extra"])
    assert len(folders) == 6
    assert load_rules(tiny, extra=[tmp_path / "extra"]).layers.identity()["overlays"] == [
        str(path) for path in folders[1:]
    ]


def test_an_overlay_changes_the_hash_and_sheets_and_scenes_do_not(tiny: Ruleset) -> None:
    before = load_rules(tiny).layers.identity()
    write(tiny.data / "sheets" / "x.toml", 'name = "X"\n')  # type: ignore[operator]  # the fixture set it
    write(tiny.data / "scenes" / "x.toml", 'ruleset = "tiny"\n')  # type: ignore[operator]
    assert load_rules(tiny).layers.identity() == before
    write("rulesets/tiny/ruleset.toml", 'title = "Other"\n')
    assert load_rules(tiny).layers.identity()["hash"] != before["hash"]


def test_a_fault_in_an_overlay_names_the_overlay_and_its_line(tiny: Ruleset) -> None:
    write("rulesets/tiny/ruleset.toml", "# ours\n[bands.hit]\nsucces = true\ntitle = 3\n")
    with pytest.raises(FileError) as error:
        load_rules(tiny)
    assert "rulesets/tiny/ruleset.toml:3: bands.hit.succes: unknown key; did you mean `success`?" in error.value.message
    assert "rulesets/tiny/ruleset.toml:4: bands.hit.title: expected" in error.value.message


def test_a_faulty_outcome_table_names_its_file(tiny: Ruleset) -> None:
    assert tiny.data is not None
    own = tiny.data / "outcomes" / "try.toml"
    write(own, '[hit]\ntextt = "x"\n')
    with pytest.raises(FileError, match=r"tiny/outcomes/try\.toml:2: hit\.textt: .*`text`"):
        load_rules(tiny).table("try")
    write(own, '[hitt]\ntext = "x"\n')
    with pytest.raises(FileError, match=r"tiny/outcomes/try\.toml:1: hitt: .* no band 'hitt'; did you mean `hit`"):
        load_rules(tiny).table("try")
    own.unlink()
    text = TINY.replace("[outcomes.try.hit]", "[outcomes.try.hit]\ntextt = 1")
    write(tiny.data / "ruleset.toml", text)
    line = text.split("\n").index("textt = 1") + 1
    with pytest.raises(FileError, match=rf"tiny/ruleset\.toml:{line}: outcomes\.try\.hit\.textt: "):
        load_rules(tiny).table("try")


@pytest.mark.parametrize(
    ("value", "margin", "expected"),
    [
        ("margin", 4, 4),
        ("-margin", -4, 4),
        ("margin-1", 4, 3),
        ("margin + 2", 4, 6),
        ("-margin-1", -4, 3),
        ("margin", None, 0),
        ("margins", 4, "margins"),
        ("a margin", 4, "a margin"),
        (7, 4, 7),
        (True, 4, True),
    ],
)
def test_values_speak_of_the_margin(value: Any, margin: int | None, expected: Any) -> None:
    assert value_of(value, margin) == expected


@pytest.mark.parametrize(
    ("condition", "margin", "facts", "holds"),
    [
        ("", 0, {}, True),
        ("when = { margin-from = 2 }", 2, {}, True),
        ("when = { margin-from = 2 }", 1, {}, False),
        ("when = { margin-to = -3 }", -3, {}, True),
        ("when = { margin-to = -3 }", -2, {}, False),
        ("when = { margin-from = 1 }", None, {}, False),
        ('when = { grit = "no" }', 0, {}, True),
        ('when = { grit = ["yes", "maybe"] }', 0, {}, False),
        ('when = { kind = "active" }', 0, {"kind": "active"}, True),
        ('when = { kind = "active" }', 0, {}, False),
        ('when = { kind = "active", grit = "yes" }', 0, {"kind": "active"}, False),
        ('unless = { kind = "active", grit = "yes" }', 0, {"kind": "active"}, True),
        ('unless = { kind = "active", grit = "no" }', 0, {"kind": "active"}, False),
        ('when = { kind = "active" }, unless = { margin-to = -1 }', -1, {"kind": "active"}, False),
    ],
)
def test_conditions(condition: str, margin: int | None, facts: dict[str, str], holds: bool) -> None:
    effect = f'{{ kind = "tick"{", " if condition else ""}{condition} }}'
    rows = "".join(f"[outcomes.try.{band}]\neffects = [{effect}]\n" for band in ("miss", "even", "hit"))
    rules = tiny_rules(TINY[: TINY.index("[outcomes.try.miss]")] + rows)
    assert bool(rules.settling.settlement("try", margin, Map(facts)).effects) is holds


@pytest.mark.fresh
def test_what_is_kept_of_fixed_margins_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling_module, "MOST_SETTLED", 3)
    settling = load_rules(find_ruleset("fate")).settling
    margins = range(-9, 9)
    first, again = ([settling.is_fixed("overcome", Map(), (margin, 0), 0, 40) for margin in margins] for _ in range(2))
    assert first == again == sorted(first)
    assert set(first) == {False, True}
    assert [key[-1] for key in settling._fixed] == [(0, -margin) for margin in margins[-3:]]  # the last ones


@pytest.mark.fresh
def test_what_was_settled_last_is_kept_however_long_a_process_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling_module, "MOST_SETTLED", 3)
    settling = load_rules(find_ruleset("fate")).settling
    found = [settling.settlement("overcome", 1, Map(round=number)) for number in range(9)]
    assert found[0] == found[-1]
    assert settling.settlement("overcome", 1, Map(round=8)) is found[-1]
    assert settling.settlement("overcome", 1, Map(round=0)) is not found[0]


def test_facts_may_be_a_dictionary_of_lists() -> None:
    settling = load_rules(find_ruleset("fate")).settling
    facts: Any = {"against": "scene", "stances": ["open", "closed"]}
    assert settling.settlement("overcome", 1, facts) is settling.settlement("overcome", 1, dict(facts))
    assert settling.settlement("overcome", 1, Map(facts)).band == "succeed"


def test_switches_are_checked() -> None:
    with pytest.raises(UsageError, match="did you mean 'grit'"):
        tiny_rules(grid="yes")
    with pytest.raises(UsageError, match="yes, no"):
        tiny_rules(grit="perhaps")


HOUSE = """
[switches.wind]
default = "off"
help = "h"
source = "ours"
choices = { off = "none", on = "some" }

[switches.most-tries]
default = "3"
help = "h"
source = "ours"
choices = { 0 = "none", 3 = "three" }

[switches.mood]
default = "calm"
help = "h"
source = "ours"
choices = { calm = "c", wild = "w" }
brings.wild = { wind = "on", most-tries = "0" }
"""


@dataclass(frozen=True)
class Tried:
    """The house rules that the code of these tests reads."""

    grit: bool
    wind: bool
    most_tries: int
    mood: Literal["calm", "wild"]
    moon: Literal["new", "full"] = "new"  # for rulesets that have it


def tried(text: str = TINY + HOUSE, **switches: str) -> Rules:
    ruleset = tiny_ruleset()
    ruleset.switches(Tried)
    return tiny_rules(text, ruleset=ruleset, **switches)


def test_code_reads_house_rules_from_a_record_that_is_made_once() -> None:
    rules = tried(grit="yes")
    assert rules.switches(Tried) == Tried(grit=True, wind=False, most_tries=3, mood="calm", moon="new")
    assert rules.switches(Tried) is rules.switches(Tried)
    assert rules.with_switches({"wind": "on"}).switches(Tried) == Tried(False, True, 3, "calm")
    moon = 'moon]\ndefault = "full"\nhelp = "h"\nsource = "ours"\nchoices = { new = "n", full = "f" }\n'
    assert tried(f"{TINY}{HOUSE}[switches.{moon}").switches(Tried).moon == "full"
    assert not [problem for problem in data_diagnostics(rules) if problem.key.startswith("switches")]


def test_a_choice_brings_choices_of_other_switches_that_are_not_chosen() -> None:
    rules = tried(mood="wild")
    assert rules.switches(Tried) == Tried(grit=False, wind=True, most_tries=0, mood="wild")
    assert rules.chosen == {"grit": "no", "wind": "on", "most-tries": "0", "mood": "wild"}
    assert house_rules(rules) == "mood=wild"
    against = tried(mood="wild", wind="off")
    assert against.switches(Tried) == Tried(grit=False, wind=False, most_tries=0, mood="wild")
    assert house_rules(against) == "wind=off, mood=wild"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[switches.mood]", "[switches.temper]", "switches.mood: the code reads a switch that is not there"),
        (
            "choices = { calm",
            'choices = { grim = "g", calm',
            "mood: the code cannot play grim: Tried.mood",
        ),
        (', wild = "w" }\nbrings.wild = { wind = "on", most-tries = "0" }', " }", "a choice that is not there: wild"),
        ('0 = "none"', 'any = "a"', "switches.most-tries: the code cannot play any: Tried.most_tries"),
        ('off = "none"', 'off = "none", strong = "s"', "switches.wind: the code cannot play strong"),
        ("brings.wild = { wind", "brings.wilt = { wind", "brings.wilt: the ruleset has no choice of mood 'wilt'"),
        ('wind = "on"', 'wint = "on"', "brings.wild.wint: the ruleset has no switch 'wint'"),
        ('wind = "on"', 'wind = "yes"', "brings.wild.wind: the ruleset has no choice of wind 'yes'"),
        (
            HOUSE,
            HOUSE + HOUSE[: HOUSE.index("[switches.most")].replace("wind", "rain"),
            "rain: this house rule",
        ),
    ],
)
def test_house_rules_on_which_code_and_data_disagree(old: str, new: str, told: str) -> None:
    assert old in TINY + HOUSE
    found = [
        f"{problem.key}: {problem.message}" for problem in data_diagnostics(tried((TINY + HOUSE).replace(old, new)))
    ]
    assert any(told in one for one in found), found


def test_a_choice_that_code_cannot_play_is_refused() -> None:
    """Also where nobody has checked the data: a wrong record would play another rule without a word."""
    with pytest.raises(RuleError, match=r"cannot play mood=grim: Tried.mood does not hold it"):
        tried((TINY + HOUSE).replace("choices = { calm", 'choices = { grim = "g", calm'), mood="grim").switches(Tried)
    with pytest.raises(RuleError, match=r"lack switches that its code reads: .*'most_tries'"):
        tried((TINY + HOUSE).replace("most-tries", "tries")).switches(Tried)


def test_a_house_rule_adds_no_choice_that_code_does_not_know_and_may_take_one_away(tmp_path: Path) -> None:
    path = tmp_path / "saga" / "ruleset.toml"
    write(path, '[switches.tie.choices]\nreroll = "again"\n')
    with pytest.raises(FileError, match=r"switches.tie: the code cannot play reroll"):
        load_rules(find_ruleset("saga"), extra=[tmp_path])
    write(path, "[switches.tie.choices]\nfail = { remove = true }\n")
    assert list(load_rules(find_ruleset("saga"), extra=[tmp_path]).file.switches["tie"].choices) == ["succeed"]


def test_bands_cover_every_margin_and_a_gap_is_an_error() -> None:
    rules = tiny_rules()
    assert [rules.band_of(margin) for margin in (-99, -1, 0, 1, 99)] == ["miss", "miss", "even", "hit", "hit"]
    gap = tiny_rules(TINY.replace("from = 1\nsuccess = true", "from = 2\nsuccess = true"))
    with pytest.raises(FileError, match="margin 1"):
        gap.band_of(1)


def test_an_action_without_a_rule_is_an_error_and_an_unknown_one_names_the_nearest() -> None:
    rules = tiny_rules(TINY + '\n[actions.rest]\nsummary = "Rest."\n')
    with pytest.raises(RuleError, match="'rest'"):
        prepare(rules, "rest", {})
    with pytest.raises(UsageError, match="did you mean 'rest'"):
        prepare(rules, "rests", {})


def test_one_ruleset_file_is_enough(tiny: Ruleset) -> None:
    assert tiny_action(load_rules(tiny), vs=7).action == "try"


# ---------------------------------------------------------------------------------------------------------------------
# House rules, judged when they are loaded


def told(*files: tuple[str, str], ruleset: str = "fate") -> list[str]:
    """Return the lines told when overlays of these files, in ./rulesets/RULESET, are loaded."""
    for name, text in files:
        write(Path("rulesets") / ruleset / name, text)
    with pytest.raises(FileError) as error:
        load_rules(find_ruleset(ruleset))
    return error.value.message.split("\n")


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


ATTACK, OVERCOME, OWN = "outcomes/attack.toml", "outcomes/overcome.toml", "ruleset.toml"
DEBT = '# a debt\n[fail.ask.price.options.debt]\ntext = "A debt."\n'


def debt(effect: str) -> tuple[str, str]:
    """Return an overlay that adds an option with an effect, which stands in line 4."""
    return OVERCOME, f"{DEBT}effects = [{{ {effect} }}]\n"


EFFECT = f"rulesets/fate/{OVERCOME}:4: fail.ask.price.options.debt.effects[0]"
OPTION = f"rulesets/fate/{OVERCOME}:4: fail.ask.price.options.debt"
UNSAID = "this question has none of `who`, `text` and `menu`"

# What an overlay says, and what is told of it: the file, the line, the key, the fault.
FAULTS: dict[str, tuple[tuple[str, str], str]] = {
    "margin": (
        debt('kind = "hit", to = "actor", shifts = "margn"'),
        f"{EFFECT}.shifts: expected a whole number, or text such as `margin`, `-margin`, `margin-1`, found 'margn'; "
        "did you mean `margin`?",
    ),
    "margin times two": (debt('kind = "hit", shifts = "margin**2"'), f"{EFFECT}.shifts: expected a whole number, "),
    "no number": (debt('kind = "free-invoke", to = "actor", count = true'), f"{EFFECT}.count: expected a whole number"),
    "margin of a text": (
        debt('kind = "boost", to = "actor", name = "margin+"'),
        f"{EFFECT}.name: 'margin+' is not a margin; write `margin`, `-margin`, `margin-1`",
    ),
    "value": (
        debt('kind = "cost", size = "enormous"'),
        f"{EFFECT}.size: 'enormous' is none of: minor, serious (effects.cost.values.size)",
    ),
    "value nearly": (
        debt('kind = "aspect", change = "creatd"'),
        f"{EFFECT}.change: 'creatd' is none of: created, revealed, altered, removed (effects.aspect.values.change); "
        "did you mean `created`?",
    ),
    "track": (debt('kind = "hit", shifts = 1, track = "phisical"'), f"{EFFECT}.track: 'phisical' is none of: "),
    "quality": (debt('kind = "information", quality = true'), f"{EFFECT}.quality: True is none of: true, false, "),
    "role": (
        debt('kind = "boost", to = "nobody"'),
        f"{EFFECT}.to: 'nobody' is not a role; roles are: actor, opponent, gm, beneficiary, proposer",
    ),
    "role nearly": (
        debt('kind = "boost", to = "oponent"'),
        f"{EFFECT}.to: 'oponent' is not a role; roles are: actor, opponent, gm, beneficiary, proposer; "
        "did you mean `opponent`?",
    ),
    "carrier": (debt('kind = "aspect", change = "created", on = "oponent"'), f"{EFFECT}.on: 'oponent' is none of: "),
    "kind": (
        debt('kind = "gaol"'),
        f"{EFFECT}.kind: the kind of effect 'gaol' has no function in the code (@ruleset.effect(\"gaol\")); "
        "did you mean `goal`?",
    ),
    "no kind": (debt('size = "minor"'), f"{EFFECT}: an effect without a kind: "),
    "field": (
        debt('kind = "boost", too = "actor"'),
        f"{EFFECT}.too: the effect boost has no field 'too'; did you mean `to`?",
    ),
    "field of none": (
        debt('kind = "goal", size = 1'),
        f"{EFFECT}.size: the effect goal has no field 'size'; it has: none",
    ),
    "condition misspelt": (
        debt('kind = "goal", whne = { harm = "no" }'),
        f"{EFFECT}.whne: the effect goal has no field 'whne'; did you mean `when`?",
    ),
    "condition": (
        debt('kind = "goal", when = { weather = "rain" }'),
        f"{EFFECT}.when.weather: there is no condition 'weather'; there are: alters, margin-from, ",
    ),
    "condition nearly": (
        debt('kind = "goal", unless = { oposition = "active" }'),
        f"{EFFECT}.unless.oposition: there is no condition 'oposition'; did you mean `opposition`?",
    ),
    "fact": (
        debt('kind = "goal", when = { opposition = ["active", "pasive"] }'),
        f"{EFFECT}.when.opposition: the fact opposition has no choice 'pasive'; did you mean `passive`?",
    ),
    "switch": (
        debt('kind = "goal", when = { opposers = "two" }'),
        f"{EFFECT}.when.opposers: the switch opposers has no choice 'two'; it can be: highest, one",
    ),
    "condition of an option": (
        (OVERCOME, f'{DEBT}when = {{ harm = "maybe" }}\n'),
        f"{OPTION}.when.harm: the fact harm has no choice 'maybe'; it can be: yes, no",
    ),
    "who": (
        (ATTACK, '[style.ask.gift]\nwho = "king"\ntext = "?"\noptions = { a = { text = "A" } }\n'),
        f"rulesets/fate/{ATTACK}:2: style.ask.gift.who: the ruleset has no role 'king'; it has: actor, opponent, gm, ",
    ),
    "who by a switch": (
        (ATTACK, '[style.ask.gift]\nwho = "switch:opposers"\ntext = "?"\noptions = { a = { text = "A" } }\n'),
        f"rulesets/fate/{ATTACK}:2: style.ask.gift.who: the switch opposers has choices that are not roles: ",
    ),
    "question misspelt": (
        (OVERCOME, '[fail.ask.prices.options.debt]\ntext = "A debt."\n'),
        f"rulesets/fate/{OVERCOME}:1: fail.ask.prices: {UNSAID}; did you mean `price`?",
    ),
    "question of nobody": (
        (OVERCOME, '\n[tie.ask.weather.options.rain]\ntext = "It rains."\n'),
        f"rulesets/fate/{OVERCOME}:2: tie.ask.weather: {UNSAID}",
    ),
    "no options left": (
        (OVERCOME, "[fail.ask.price.options]\nfail = { remove = true }\ncost = { remove = true }\n"),
        f"rulesets/fate/{OVERCOME}:1: fail.ask.price.options: it has no options, so it cannot be answered",
    ),
    "menu": (
        (OVERCOME, '[tie.ask.cost]\nmenu = "minor-csot"\n'),
        f"rulesets/fate/{OVERCOME}:2: tie.ask.cost.menu: the ruleset has no menu 'minor-csot'; "
        "did you mean `minor-cost`?",
    ),
    "effect of a menu": (
        ("menus.toml", '[minor-cost.options.coin]\ntext = "C."\neffects = [{ kind = "cost", size = "smal" }]\n'),
        "rulesets/fate/menus.toml:3: minor-cost.options.coin.effects[0].size: 'smal' is none of: minor, serious ",
    ),
    "inline": (
        (OWN, '# ours\n[outcomes.overcome.tie]\neffects = [{ kind = "goal" }, { kind = "cost", size = "big" }]\n'),
        f"rulesets/fate/{OWN}:3: outcomes.overcome.tie.effects[1].size: 'big' is none of: minor, serious ",
    ),
    "gap": ((OWN, "[bands.fail]\nto = -2\n"), f"rulesets/fate/{OWN}:2: bands.fail.to: no band has the margin -1"),
    "gap of a band removed": (
        (OWN, "[bands]\n\nstyle = { remove = true }\n"),
        f"rulesets/fate/{OWN}:3: bands.style: no band has the margins from 3",
    ),
    "overlap": (
        (OWN, "[bands.tie]\nto = 1\n"),
        f"rulesets/fate/{OWN}:2: bands.tie.to: the bands tie and succeed share the margin 1",
    ),
    "overlap by an open end": (
        (OWN, "[bands.succeed]\nto = { remove = true }\n"),
        f"rulesets/fate/{OWN}:2: bands.succeed.to: the bands succeed and style share the margins from 3",
    ),
    "band": (
        (ATTACK, '\n[sucseed]\ntext = "x"\n'),
        f"rulesets/fate/{ATTACK}:2: sucseed: the ruleset has no band 'sucseed'; did you mean `succeed`?",
    ),
    "outcome table": (
        ("outcomes/atack.toml", '[tie]\ntext = "x"\n'),
        "rulesets/fate/outcomes/atack.toml:1: no action has an outcome table 'atack'; did you mean `attack`?",
    ),
    "outcome table inline": (
        (OWN, '[outcomes.atack.tie]\ntext = "x"\n'),
        f"rulesets/fate/{OWN}:1: outcomes.atack: no action has an outcome table 'atack'; did you mean `attack`?",
    ),
    "menu of nobody": (
        ("menus.toml", '[minor-costs]\nwho = "gm"\ntext = "?"\noptions = { a = { text = "A" } }\n'),
        "rulesets/fate/menus.toml:1: minor-costs: no question uses a menu 'minor-costs'; did you mean `minor-cost`?",
    ),
    "folder": (
        ("outcomez/attack.toml", '[tie]\ntext = "x"\n'),
        "rulesets/fate/outcomez: there is no folder of this name to overlay; known names: "
        "ruleset.toml, menus.toml, outcomes/, "
        "sheets/, scenes/, decks/; did you mean `outcomes`?",
    ),
    "file": (
        ("rulesets.toml", ""),
        "rulesets/fate/rulesets.toml: there is no file of this name to overlay; known names: ",
    ),
    "file for a folder": (
        ("decks", ""),
        "rulesets/fate/decks: this is a file, where a folder of this name is read",
    ),
    "folder for a file": (
        ("menus.toml/x.toml", ""),
        "rulesets/fate/menus.toml: this is a folder, where a file of this name is read",
    ),
    "file among tables": (
        ("outcomes/attack.tml", ""),
        "rulesets/fate/outcomes/attack.tml: only files NAME.toml are read in outcomes/",
    ),
    "action": (
        (OWN, '[actions.atack]\nsummary = "Harm."\n'),
        f'rulesets/fate/{OWN}:1: actions.atack: actions.atack has no rule in the code (@ruleset.action("atack")); '
        "did you mean `attack`?",
    ),
    "label": (
        (OWN, '[actions.oppose]\nlabels = ["rol"]\n'),
        f"rulesets/fate/{OWN}:2: actions.oppose.labels[0]: the ruleset has no label 'rol'; did you mean `roll`?",
    ),
}


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("what", FAULTS)
def test_a_faulty_house_rule_is_told_where_it_stands(what: str) -> None:
    file, expected = FAULTS[what]
    lines = told(file)
    assert [line for line in lines if line.startswith(expected)], lines
    if what != "gap of a band removed":  # which also leaves rows without their band
        assert len(lines) == 1, lines


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_all_faults_of_all_overlays_are_told_at_once_and_by_every_command() -> None:
    lines = told(
        debt('kind = "cost", size = "enormous"'), (OWN, "[bands.fail]\nto = -2\n"), ("outcomes/x.toml", "[tie\n")
    )
    assert len([line for line in lines if line.startswith("rulesets/fate/")]) == 3
    for args in (
        ("roll", "fate", "overcome", "--skill", "3", "--vs", "2"),
        ("odds", "fate", "overcome", "--skill", "3", "--vs", "2"),
        ("ruleset", "show", "fate"),
        ("scene", "run", "fate/bribe"),
    ):
        done = run_rpgres(*args)
        assert (done.code, done.out) == (1, ""), args
        assert done.err.startswith("rpgres: ")
        for part in ("ruleset.toml:2: bands.fail.to", f"{EFFECT}.size", "outcomes/x.toml:1:"):
            assert part in done.err, args


SOUND = [
    debt('kind = "hit", to = "gm", shifts = "-margin + 2", track = "mental", when = { harm = ["yes", "no"] }'),
    debt('kind = "boost", to = "opponent", name = "Margin Call"'),
    debt('kind = "aspect", change = "created", name = "margaret\'s debt", on = ""'),
    (OWN, "[bands.tie]\nto = 1\n[bands.succeed]\nfrom = 2\n"),
    (OWN, "[ladder]\nmythic = 9\n"),
    (OWN, '[actions.attack]\ntables = ["attack", "riot"]\n[outcomes.riot.tie]\ntext = "x"\n'),
    ("menus.toml", '[minor-cost.options.coin]\ntext = "A coin."\n'),
    ("NOTES.md", "ours"),
    (".git/config", ""),
    ("sheets/kim.toml", 'name = "Kim"\n'),
]
FIRST_DEBT = [SOUND[0], *SOUND[3:]]


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize(
    "files",
    [FIRST_DEBT, SOUND[1:2], SOUND[2:3], *(pytest.param([one], marks=pytest.mark.exhaustive) for one in FIRST_DEBT)],
)
def test_sound_house_rules_are_let_through(files: list[tuple[str, str]]) -> None:
    for name in dict(files):
        write(Path("rulesets/fate") / name, "".join(text for other, text in files if other == name))
    rules = load_rules(find_ruleset("fate"))
    assert rules.layers.overlays == ["rulesets/fate"] == rules.layers.identity()["overlays"]
    assert run_rpgres("ruleset", "check", "fate") == (0, "fate: ok (with rulesets/fate)\n", "")


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[settings]\nstep = { remove = true }\n",
            "toml:2: settings.step: the code reads this setting",
        ),
        (
            "settings = { remove = true }\n",
            "taken away (with rulesets/saga as overlay)",
        ),
        (
            '[settings]\nstep = "4"\n',
            "toml:2: settings.step: expected a whole number, found text",
        ),
        (
            "[settings.readings]\npositive = 3\n",
            "toml:2: settings.readings.positive: expected text, found a whole number",
        ),
        ("[settings]\ntrumps = []\n", "toml:2: settings.trumps: expected a table, found a list"),
        ("[settings]\nstep = 5\narmor = { mithril = 9, kevlar = { remove = true } }\n", ""),
    ],
)
def test_settings_that_code_reads_stay_what_they_are(text: str, told: str) -> None:
    write("rulesets/saga/ruleset.toml", text)
    if not told:
        load_rules(find_ruleset("saga"))
        return
    with pytest.raises(FileError, match=re.escape(told)):
        load_rules(find_ruleset("saga"))


@pytest.mark.usefixtures("_here")
def test_what_code_cannot_cope_with_names_the_house_rules_first() -> None:
    line = ("roll", "saga", "act", "--ability", "strength=3", "--vs", "4", "--auto")
    write("rulesets/saga/ruleset.toml", "[piles.deck]\ndecks = { remove = true }\n")
    told = run_rpgres(*line).err
    assert told.index("overlay rulesets/saga") < told.index("please report this")


@pytest.mark.usefixtures("_here")
def test_a_fault_that_shows_in_the_rulesets_own_files_names_the_overlay() -> None:
    (line,) = told(("menus.toml", "serious-cost = { remove = true }\n"))
    assert "overcome.toml" in line
    assert "the ruleset has no menu 'serious-cost'" in line
    assert "(with rulesets/fate as overlay)" in line


def test_what_was_wrong_before_is_not_the_overlays_fault(tiny: Ruleset) -> None:
    assert tiny.data is not None
    write(tiny.data / "ruleset.toml", TINY + '\n[actions.rest]\nsummary = "Rest."\n')
    write("rulesets/tiny/ruleset.toml", "[ladder]\nhigher = 12\n")
    assert load_rules(tiny).file.ladder["higher"] == 12
    write("rulesets/tiny/ruleset.toml", '[outcomes.try.even]\neffects = [{ kind = "tik" }]\n')
    with pytest.raises(FileError) as error:
        load_rules(tiny)
    assert [problem["hint"] for problem in error.value.details["problems"]] == ["tick"]


def test_conditions_that_rule_out_every_option_leave_nothing_to_ask_and_no_options_are_an_error() -> None:
    text = TINY.replace('text = "Luck."', 'text = "Luck."\nwhen = { grit = "yes" }')
    text = text.replace('text = "Time."', 'text = "Time."\nwhen = { grit = "yes" }')
    answers: Any = {"streams": Streams("7"), "given": {"roll": ["1,1"]}}
    result, _ = run(prepare(tiny_rules(text), "try", {"vs": 7}), **answers)
    assert (result.outcome, result.effects) == ("miss", [])
    pending, _ = run(prepare(tiny_rules(text, grit="yes"), "try", {"vs": 7}), **answers)
    assert pending.question.label == "price"
    bare = TINY[: TINY.index("[outcomes.try.miss.ask.price.options.luck]")]
    with pytest.raises(FileError, match="the question 'price' of the ruleset tiny has no options"):
        run(prepare(tiny_rules(bare), "try", {"vs": 7}), **answers)


@pytest.mark.usefixtures("_here")
def test_a_whole_table_of_a_ruleset_file_can_be_removed(tiny: Ruleset) -> None:
    write("rulesets/tiny/ruleset.toml", "[outcomes]\ntry = { remove = true }\n")
    with pytest.raises(FileError, match="no outcome table 'try'"):
        load_rules(tiny)


@pytest.mark.fresh
@pytest.mark.usefixtures("_here")
def test_without_overlays_nothing_is_judged_and_nothing_more_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; from rpgres import resolve; resolve('fate', 'overcome', skill=3, vs=2, given={'roll': '++++'});"
        "print([name for name in sys.modules if name.startswith('rpgres.lint')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
    read: list[str] = []
    module = folders_module
    real = module.read_source  # type: ignore[attr-defined]
    monkeypatch.setattr(module, "read_source", lambda path: read.append(path.name) or real(path))
    load_rules(find_ruleset("fate"))
    assert set(read) == {"ruleset.toml"}


@pytest.mark.usefixtures("_here")
def test_help_reads_a_line_before_house_rules_are_judged() -> None:
    write(f"rulesets/fate/{debt('')[0]}", debt('kind = "gaol"')[1])
    data = read_ruleset("fate")
    assert "debt" in data.rules({}).table("overcome")["fail"].ask["price"].options
    with pytest.raises(FileError, match="gaol"):
        checked(data.rules({}))


# ---------------------------------------------------------------------------------------------------------------------
# ruleset check, ruleset list


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_check_says_ok_or_everything() -> None:
    done = run_rpgres("ruleset", "check")
    assert (done.code, done.err) == (0, "")
    well = done.out.splitlines()
    assert well[0] == "fate: ok"
    assert all(line.endswith(": ok") for line in well)
    write("rulesets/fate/ruleset.toml", "[bands.fail]\nto = -2\n")
    write("rulesets/fate/sheets/kim.toml", "skills = { wil = 2 }\n")
    write("rulesets/fat/outcomes/attack.toml", "")
    done = run_rpgres("ruleset", "check")
    assert done.code == 1
    lines = done.out.split("\n")
    assert lines[0] == "fate: 2 problems (with rulesets/fate)"
    assert lines[1] == "rulesets/fate/ruleset.toml:2: bands.fail.to: no band has the margin -1"
    assert "kim.toml:1: skills.wil: " in lines[2]
    assert lines[3:] == [
        *well[1:],
        "rulesets/fat: there is no ruleset 'fat', so this folder is ignored; did you mean `fate`?",
        "",
    ]
    record = json.loads(run_rpgres("ruleset", "check", "--json").out)
    assert (record["format"], record["ok"], record["strays"][0]["hint"]) == ("rpgres.ruleset-check/1", False, "fate")
    assert record["rulesets"][0]["overlays"] == ["rulesets/fate"]
    assert record["rulesets"][0]["problems"][0] == {
        "file": "rulesets/fate/ruleset.toml",
        "line": 2,
        "key": "bands.fail.to",
        "message": "no band has the margin -1",
        "hint": "",
        "advice": "",
        "code": "margin-gap",
        "column": 1,
        "severity": "error",
    }


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_check_reads_the_folders_of_an_option_and_scenes() -> None:
    scene = 'ruleset = "fate"\ntitle = "S"\n[characters.a]\n[[steps]]\nactor = "a"\naction = "overcum"\n'
    write("house/fate/scenes/s.toml", scene)
    assert run_rpgres("ruleset", "check", "fate").code == 0
    done = run_rpgres("ruleset", "check", "fate", "--rulesets", "house")
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("fate: a problem (with house/fate)\nhouse/fate/scenes/s.toml:6: steps[0].action: ")
    write("house/fate/ruleset.toml", "titel = 3\n")
    done = run_rpgres("ruleset", "check", "fate", "--rulesets", "house")
    assert done.out.startswith("fate: a problem (with house/fate)\nhouse/fate/ruleset.toml:1: titel: unknown key")
    done = run_rpgres("ruleset", "check", "fat")
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'fate'?" in done.err


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_list_marks_broken_house_rules_and_folders_of_no_ruleset() -> None:
    plain = run_rpgres("ruleset", "list")
    assert (plain.code, plain.err) == (0, "")
    assert json.loads(run_rpgres("ruleset", "list", "--json").out)["problems"] == []
    write("rulesets/fate/ruleset.toml", "[ladder]\nmythic = 9\n")
    write("rulesets/pictures/a.png", "")
    assert run_rpgres("ruleset", "list").out == plain.out
    write("rulesets/fate/ruleset.toml", "[bands.fail]\nto = -2\n")
    write("rulesets/moorland/ruleset.toml", "")
    done = run_rpgres("ruleset", "list")
    assert done.code == 0
    assert done.out == plain.out + (
        "\nfate broken: a problem in an overlay; run `rpgres ruleset check fate` for details\n"
        "rulesets/moorland: there is no ruleset 'moorland', so this folder is ignored; a standalone "
        "ruleset.toml begins with `standalone = true`\n"
    )
    record = json.loads(run_rpgres("ruleset", "list", "--json").out)
    assert [problem["key"] for problem in record["problems"]] == ["bands.fail.to", ""]


# ---------------------------------------------------------------------------------------------------------------------
# Kits, bands that are also another, tracks of a house rule


def kitted(folder: Path, text: str) -> Ruleset:
    ruleset = Ruleset("kitted", data=folder)
    fate_family.register(ruleset)
    write(folder / "ruleset.toml", text)
    return ruleset


KITTED = 'title = "Kitted"\nsummary = "On kits."\nversion = "1"\nkits = ["fate-family", "aspects", "harm"]\n'


def test_a_ruleset_on_kits_has_their_data_and_may_change_them(tmp_path: Path) -> None:
    more = '[bands.style]\nto = 6\n[bands.epic]\ntitle = "Epic"\nfrom = 7\nsuccess = true\nalso = "style"\n'
    rules = load_rules(kitted(tmp_path / "own", KITTED + more))
    assert rules.layers.overlays == []
    assert rules.file.ladder["epic"] == 7
    assert [rules.band_of(margin) for margin in (-1, 0, 2, 6, 7)] == ["fail", "tie", "succeed", "style", "epic"]
    style, epic = rules.settling.settlement("overcome", 6), rules.settling.settlement("overcome", 7)
    assert (epic.band, epic.effects, epic.asks, epic.texts) == ("epic", style.effects, style.asks, style.texts)
    assert rules.is_band("epic", "style")
    assert not rules.is_band("style", "epic")
    write(tmp_path / "own" / "outcomes" / "overcome.toml", '[epic]\ntext = "Oh."\neffects = [{ kind = "goal" }]\n')
    rules = load_rules(kitted(tmp_path / "own", KITTED + more))
    epic = rules.settling.settlement("overcome", 7)
    assert (epic.texts, epic.effects) == (("Oh.",), (*style.effects, Map({"kind": "goal"})))


def test_the_hash_of_the_rules_has_the_kits_in_it(tmp_path: Path) -> None:
    with_all = load_rules(kitted(tmp_path / "a", KITTED)).layers.identity()["hash"]
    same = load_rules(kitted(tmp_path / "b", KITTED)).layers.identity()["hash"]
    assert with_all == same
    one_kit = KITTED.replace(', "harm"', "").replace('"fate-family"', '"fate-family"  ')
    assert load_rules(kitted(tmp_path / "c", one_kit)).layers.identity()["hash"] != with_all


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('kits = ["aspect"]', "ruleset.toml:1: kits[0]: there is no kit 'aspect'; did you mean `aspects`?"),
        ("kits = [3]", "ruleset.toml:1: kits[0]: there is no kit 3; there are: aspects, cards, fate-family, harm"),
        ('kits = ["../data/harm"]', "ruleset.toml:1: kits[0]: there is no kit '../data/harm'"),
        ('kits = "harm"', "ruleset.toml:1: kits: expected a list, found text"),
    ],
)
def test_a_kit_that_is_none(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(FileError) as refused:
        load_rules(kitted(tmp_path, text + '\ntitle = ""\nsummary = ""\nversion = ""\n'))
    assert told in refused.value.message


def test_an_overlay_cannot_bring_a_kit(tiny: Ruleset) -> None:
    write("rulesets/tiny/ruleset.toml", '\nkits = ["harm"]\n')
    with pytest.raises(FileError, match=r"tiny/ruleset.toml:2: kits: only the ruleset's own file can set its kits"):
        load_rules(tiny)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[bands.hit]\nalso = "hitt"', "bands.hit.also: the ruleset has no band 'hitt'; did you mean `hit`?"),
        ('[bands.hit]\nalso = "even"\n[bands.even]\nalso = "miss"', "bands.hit.also: even is itself also miss"),
        ('[bands.hit]\nalso = "hit"', "bands.hit.also: hit is itself also hit"),
        ('[tracks.x]\ntitle = "X"\nwhen = { grot = "yes" }', "tracks.x.when.grot: the ruleset has no switch 'grot'"),
        ('[tracks.x]\ntitle = "X"\nwhen = { grit = "ja" }', "tracks.x.when.grit: the switch grit has no choice 'ja'"),
        (
            '[tracks.x]\ntitle = "X"\nmore = [{ ability = "a", at = 1, boxes = {}, when = { margin-from = 1 } }]',
            "tracks.x.more[0].when.margin-from: the ruleset has no switch",
        ),
    ],
)
def test_faults_of_what_depends_on_switches_and_of_bands(tiny: Ruleset, text: str, told: str) -> None:
    write("rulesets/tiny/ruleset.toml", text + "\n")
    with pytest.raises(FileError) as refused:
        load_rules(tiny)
    assert told in refused.value.message


def test_a_sheet_that_is_missing_is_told_with_those_that_are_there_or_how_to_begin_one() -> None:
    fate = load_rules(find_ruleset("fate"))
    with pytest.raises(FileError, match="there is no sheet 'nobody'; fate has bruiser, edda, "):
        find_sheet(fate, "nobody")
    with pytest.raises(FileError, match=r"there is no sheet 'marra\.toml'; did you mean 'mara', "):
        find_sheet(fate, "marra.toml")
    with pytest.raises(FileError, match=r"there is no sheet 'ash'; nodice has bram, orsa, sister-ash$"):
        find_sheet(load_rules(find_ruleset("nodice")), "ash")
    with pytest.raises(FileError, match="there is no sheet 'bo'; `rpgres sheet new tiny --out FILE` writes one"):
        find_sheet(tiny_rules(), "bo")
