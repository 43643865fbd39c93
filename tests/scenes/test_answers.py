"""Answers of scenes that cannot be, told before anything is played; and what is not told behind a faulty `include`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import scene_diagnostics
from rpgres.toml.reading import Source

PERCENT = """
ruleset = "percentile-levels"
[characters.odile]
sheet = "odile"
[[steps]]
actor = "odile"
action = "check"
with = { skill = "maps" }
"""
FATE = """
ruleset = "fate"
[characters.mara]
sheet = "mara"
[[steps]]
actor = "mara"
action = "overcome"
with = { skill = 2, vs = 2 }
"""


def told(text: str) -> list[str]:
    return [fault.told for fault in scene_diagnostics(Source("s.toml", text), find_ruleset=find_ruleset)]


@pytest.mark.parametrize(
    ("answers", "where"),
    [
        ('given = { tens = "3,12", units = "0" }', "steps[0].given.tens: no die of 'tens' can show 12: it rolls d10"),
        ('given = { units = ["5", "11"] }', "steps[0].given.units[1]: no die of 'units' can show 11: it rolls d10"),
        ('choose = { push = "psh" }', "steps[0].choose.push: the decision push never offers 'psh'"),
    ],
)
def test_a_face_and_an_option_that_cannot_be_are_told(answers: str, where: str) -> None:
    (fault,) = told(PERCENT + answers)
    assert fault.startswith(where)
    assert told(f'{PERCENT}{answers}\nexpect = {{ error = "impossible" }}') == []


@pytest.mark.parametrize(
    ("faces", "fault"),
    [
        ('"+-x0"', "steps[0].given.roll: four Fate dice expected, e.g. ++0-; 'x' in '+-x0' is no face of a Fate die"),
        ('["+-00", "++"]', "steps[0].given.roll[1]: four Fate dice expected, e.g. ++0-; '++' has two faces"),
        ('["+-00", "++++"]', ""),
    ],
)
def test_faces_of_dice_that_code_rolls_are_told_where_they_are_declared(faces: str, fault: str) -> None:
    found = told(f"{FATE}given = {{ roll = {faces} }}")
    assert [one[: len(fault)] for one in found] == ([fault] if fault else [])


@pytest.mark.parametrize("answer", ["fail", "Fail", "fail*"])
def test_what_an_outcome_table_offers_is_chosen_as_it_is_typed(answer: str) -> None:
    assert told(f'{FATE}choose = {{ price = "{answer}", "mara:invoke" = ["no"] }}') == []
    (fault,) = told(f'{FATE}choose = {{ "mara:price" = ["{answer}", "flee"] }}')
    assert fault.startswith("steps[0].choose.\"mara:price\"[1]: the decision price never offers 'flee'")


def test_the_only_option_of_a_question_inside_a_roll_is_taken_by_yes() -> None:
    assert told(f'{PERCENT}choose = {{ push = "yes" }}') == []


def test_behind_a_faulty_include_nothing_is_told_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    part = '[characters.ana]\nskills = { fight = 2 }\n[[steps]]\nid = "inner"\nactor = "ana"\n'
    Path("part.toml").write_text(f'ruleset = "fate"\n{part}acton = "overcome"\nwith = {{ skill = 2, vs = 2 }}\n')
    behind = 'actor = "ana"\naction = "overcome"\nwith = { skill = 2, vs = 2 }\n'
    ends = '[ends.over]\nwhen = { inner = "style" }\n'
    include = '[[steps]]\ninclude = "part.toml"\n'
    step = f'[[steps]]\nwhen = {{ inner = "fail" }}\n{behind}'
    behind_it, before = (told(f'ruleset = "fate"\n{steps}{ends}') for steps in (include + step, step + include))
    inner = "steps.inner.acton"
    assert [fault.partition(":")[0] for fault in behind_it] == [inner]
    assert [fault.partition(":")[0] for fault in before] == [inner, "steps[0].when.inner", "steps[0].actor"]


def test_a_policy_may_be_a_set_of_orders_of_an_included_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    orders = '[orders]\nbold = [{ ask = "price", choose = "OPTION" }]\n[[steps]]\nnote = "x"\n'
    text = 'ruleset = "fate"\npolicy = "bold"\n[[steps]]\ninclude = "part.toml"\n'
    for option, faults in {"fail": [], "flee": ["orders.bold[0].choose"]}.items():
        Path("part.toml").write_text('ruleset = "fate"\n' + orders.replace("OPTION", option))
        assert [fault.partition(":")[0] for fault in told(text)] == faults
