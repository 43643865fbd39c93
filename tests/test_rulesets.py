"""A ruleset's data: overlays, conditions, values, bands, and faults told with their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny import TINY, tiny_action, tiny_rules, tiny_ruleset

from rpgres.actions import prepare, run
from rpgres.chance import Streams
from rpgres.errors import FileError, RuleError, UsageError
from rpgres.rulesets import Ruleset, data_folders, load_rules, value_of
from rpgres.state import Map


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
    assert [option["name"] for option in pending.question.options] == ["luck", "time", "blood"]
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
    assert load_rules(tiny, extra=[tmp_path / "extra"]).identity()["overlays"] == [str(path) for path in folders[1:]]


def test_an_overlay_changes_the_hash_and_sheets_and_scenes_do_not(tiny: Ruleset) -> None:
    before = load_rules(tiny).identity()
    write(tiny.data / "sheets" / "x.toml", 'name = "X"\n')  # type: ignore[operator]  # the fixture set it
    write(tiny.data / "scenes" / "x.toml", 'ruleset = "tiny"\n')  # type: ignore[operator]
    assert load_rules(tiny).identity() == before
    write("rulesets/tiny/ruleset.toml", 'title = "Other"\n')
    assert load_rules(tiny).identity()["hash"] != before["hash"]


def test_a_fault_in_an_overlay_names_the_overlay_and_its_line(tiny: Ruleset) -> None:
    write("rulesets/tiny/ruleset.toml", "# ours\n[bands.hit]\nsucces = true\ntitle = 3\n")
    with pytest.raises(FileError) as error:
        load_rules(tiny)
    assert "rulesets/tiny/ruleset.toml:3: bands.hit.succes: unknown key; did you mean `success`?" in error.value.message
    assert "rulesets/tiny/ruleset.toml:4: bands.hit.title: expected" in error.value.message


def test_a_faulty_outcome_table_names_its_file(tiny: Ruleset) -> None:
    write("rulesets/tiny/outcomes/try.toml", '[hit]\ntextt = "x"\n')
    rules = load_rules(tiny)
    with pytest.raises(FileError, match=r"rulesets/tiny/outcomes/try\.toml:2: hit\.textt: .*`text`"):
        rules.table("try")
    write("rulesets/tiny/outcomes/try.toml", '[hitt]\ntext = "x"\n')
    with pytest.raises(FileError, match="no band 'hitt'; did you mean 'hit'"):
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
    assert bool(rules.settlement("try", margin, Map(facts)).effects) is holds


def test_switches_are_checked() -> None:
    with pytest.raises(UsageError, match="did you mean 'grit'"):
        tiny_rules(grid="yes")
    with pytest.raises(UsageError, match="yes, no"):
        tiny_rules(grit="perhaps")


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
