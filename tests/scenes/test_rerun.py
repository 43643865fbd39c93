"""Scenes once more with an answer changed: shipped ones with one changed to itself, and the way they branch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres.engine.players import policy_of
from rpgres.engine.records import Result
from rpgres.engine.rerun import Asked, answers_in
from rpgres.errors import UsageError
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.scenes import Overrides, Scene, SceneResult, load_scene, open_scene, read_scene, run_scene, scene_names
from rpgres.scenes.reading import procedure_scene
from rpgres.scenes.rerun import file_what_if, scene_what_if
from rpgres.toml.reading import Source
from tests.support.effort import few

REPEATING = {"fate/vault", "fate/break-in"}  # whose answers are named by their pass, too
STORIES = [name for name in scene_names() if "conformance" not in name and name not in REPEATING]

FORK = """
ruleset = "fate"
seed = "4"
[characters.mara]
skills = { fight = 2 }
[[steps]]
id = "climb"
actor = "mara"
action = "overcome"
with = { skill = "fight", vs = 2 }
given = { roll = "++00" }
[[steps]]
id = "jump"
actor = "mara"
action = "overcome"
with = { skill = "fight", vs = 1 }
when = { climb = ["succeed", "style"] }
given = { roll = "000+" }
[[steps]]
id = "fall"
actor = "mara"
action = "overcome"
with = { skill = "fight", vs = 4 }
when = { climb = "fail" }
choose = { price = "cost" }
"""


def scene_of(name: str) -> Scene:
    source, folder = open_scene(name)
    return read_scene(source, find_ruleset=find_ruleset, folder=folder, overrides=Overrides(auto=True))


def printed(scene: Scene, **options: Any) -> SceneResult:
    """Return what a scene prints as JSON, read back."""
    return msgspec.json.decode(msgspec.json.encode(run_scene(scene, **options)), type=SceneResult)


def told(steps: list[dict[str, Any]]) -> Any:
    """Return what happened, without who answered by what means."""
    found = msgspec.to_builtins(steps)
    for step in found:
        for event in step.get("events", []):
            event.pop("means", None)
    return [[step.get(key) for key in ("id", "skipped", "outcome", "effects", "events")] for step in found]


@pytest.mark.slow
@pytest.mark.parametrize("name", few(STORIES, 5))
def test_an_answer_changed_to_itself_changes_nothing(name: str) -> None:
    scene = scene_of(name)
    before = printed(scene)
    changes = 0
    for step, leaf in zip(before.steps, scene.program.leaves, strict=True):
        if step.get("skipped"):
            continue
        events = msgspec.convert({key: value for key, value in step.items() if key != "id"}, Result).events
        answers = answers_in(events, step=leaf.key)
        for one in {answers[0].name: answers[0], answers[-1].name: answers[-1]}.values() if answers else ():
            text = f"{one.name}={one.value}"
            is_chance = one.kind == "chance"
            found = scene_what_if(scene, before, Asked(given=[text] * is_chance, choose=[text] * (not is_chance)))
            assert told(found.after) == told(found.before)
            assert (found.dropped, found.fresh, found.complete) == ([], [], True)
            changes += 1
    assert changes


def test_a_scene_takes_another_branch() -> None:
    scene = read_scene(Source("fork.toml", FORK), find_ruleset=find_ruleset)
    before = printed(scene)
    found = scene_what_if(scene, before, Asked(given=["climb.roll=----"], choose=["climb.price=fail"]))
    assert [step.get("outcome") or "skipped" for step in before.steps] == ["succeed", "succeed", "skipped"]
    assert [step.get("outcome") or "skipped" for step in found.after][:2] == ["fail", "skipped"]
    assert not found.after[2].get("skipped")
    assert [(one.step, one.label, one.value) for one in found.dropped] == [("jump", "roll", "000+")]
    assert len(found.fresh) == 1
    assert found.fresh[0].startswith("fall.roll=")
    again = scene_what_if(scene, before, Asked(given=["climb.roll=----"], choose=["climb.price=fail"]))
    assert again == found  # new dice, but of the same seed


def test_a_decision_that_nobody_takes_ends_the_changed_scene() -> None:
    scene = read_scene(Source("fork.toml", FORK), find_ruleset=find_ruleset)
    found = scene_what_if(scene, printed(scene), Asked(given=["climb.roll=----"]))
    assert found.complete is False
    assert found.after[-1]["question"]["label"] == "price"


def test_a_step_has_to_be_named_where_a_label_is_asked_in_several() -> None:
    scene = read_scene(Source("fork.toml", FORK), find_ruleset=find_ruleset)
    before = printed(scene)
    with pytest.raises(UsageError, match=r"climb.roll#1 \(\+\+00\), jump.roll#1"):
        scene_what_if(scene, before, Asked(given=["roll=----"]))
    with pytest.raises(UsageError, match="roll"):
        scene_what_if(scene, before, Asked(given=["fall.roll=----"]))  # it was skipped


def test_another_scene_is_not_taken_for_this_one() -> None:
    before = printed(read_scene(Source("fork.toml", FORK), find_ruleset=find_ruleset))
    other = read_scene(Source("fork.toml", FORK.replace("vs = 1", "vs = 9")), find_ruleset=find_ruleset)
    with pytest.raises(UsageError, match="has another result when"):
        scene_what_if(other, before, Asked(given=["climb.roll=----"]))


def test_the_result_names_its_scene(tmp_path: Path) -> None:
    path = tmp_path / "fork.toml"
    path.write_text(FORK)
    source, folder = open_scene(str(path))
    assert printed(read_scene(source, find_ruleset=find_ruleset, folder=folder)).scene == str(path)


def test_a_policy_that_is_asked_for_decides_before_that_of_the_scene(tmp_path: Path) -> None:
    path, orders = tmp_path / "climb.toml", tmp_path / "mine.toml"
    climb = FORK.split('[[steps]]\nid = "jump"')[0]
    path.write_text(climb.replace('seed = "4"', 'seed = "4"\npolicy = "preferred"'))
    orders.write_text('[[orders]]\nask = "price"\nchoose = "fail"\n')
    before, change = printed(load_scene(str(path))), ["climb.roll=----"]
    for policies, price in (({}, "cost"), ({"": str(orders)}, "fail"), ({"mara": str(orders)}, "fail")):
        found, _ = file_what_if(before, Asked(given=change, policies=policies))
        answers = {one["label"]: one["value"] for one in found.after[0]["answers"]}
        assert (answers["price"], found.policies) == (price, policies)


LOOP = """
ruleset = "fate"
seed = "4"
[counters]
gm-points = 0
[characters.mara]
skills = { fight = 2 }
[[steps]]
repeat = { at-most = 3 }
[[steps.steps]]
id = "climb"
actor = "mara"
action = "overcome"
with = { skill = "fight", vs = 2 }
given = { roll = "++00" }
[[steps.steps]]
set = { "counters.gm-points" = 2 }
when = { climb = "style" }
[ends.rich]
when = { "counters.gm-points" = 2 }
[ends.poor]
"""


def test_a_pass_of_a_group_is_addressed_and_the_ending_follows() -> None:
    scene = read_scene(Source("loop.toml", LOOP), find_ruleset=find_ruleset)
    before = printed(scene)
    assert before.ending == "poor"
    found = scene_what_if(scene, before, Asked(given=["climb@2.roll=+++0"]))
    assert found.endings == ["poor", "rich"]
    outcomes = [step.get("outcome") for step in found.after if step.get("id") == "climb"]
    assert outcomes == ["succeed", "style", "succeed"]
    assert [change.step for change in found.changed] == ["climb@2"]
    same = scene_what_if(scene, before, Asked(given=["climb@3.roll=++00"]))
    assert (same.endings, told(same.after)) == (["poor", "poor"], told(before.steps))


PROCEDURES = {
    ("fate", "contest"): {"sheet": "mara", "skill": "deceive", "vs": 2, "exchanges": 2},
    ("saga", "battle"): {"sheet": "brannagh", "against": ["toll-warden"]},
    ("faith", "rounds"): {"sheet": "sable", "against": ["dock-guard"], "rounds": 1},
}


@pytest.mark.parametrize(("system", "procedure"), PROCEDURES)
def test_a_procedure_without_a_scene_file_runs_again_from_what_it_printed(system: str, procedure: str) -> None:
    rules = load_rules(find_ruleset(system))
    policies = {"": policy_of(rules)}
    before = printed(procedure_scene(rules, procedure, PROCEDURES[system, procedure], policies), seed="5")
    first = next(one for one in before.steps[0]["answers"] if one["kind"] == "decision")
    asked = Asked(choose=[f"{procedure}.{first['label']}#1={first['value']}"], auto=True)
    record, file = file_what_if(before, asked)
    assert told(record.after) == told(before.steps)
    assert (record.dropped, record.fresh, file.title) == ([], [], rules.file.title)


def test_a_changed_procedure_goes_on_from_the_change() -> None:
    rules = load_rules(find_ruleset("fate"))
    policies = {"": policy_of(rules)}
    conflict = procedure_scene(rules, "conflict", {"sheet": "mara", "against": ["venn"]}, policies)
    before = printed(conflict, seed="5")
    record, _ = file_what_if(before, Asked(choose=["conflict.concede#1=concede"]))
    assert record.complete
    assert record.after[0]["outcome"] in ("won", "conceded")  # by whose first turn it is
    assert len(record.after[0]["events"]) < len(before.steps[0]["events"]) / 2
    assert record.dropped
