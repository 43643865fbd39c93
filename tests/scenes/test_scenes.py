"""Scenes: state carried from step to step, branches, answers, expectations, and all that can be wrong with one."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.errors import FileError, RpgresError
from rpgres.model.serialization import read_state
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Ruleset
from rpgres.scenes import (
    Overrides,
    Scene,
    check_scene,
    find_scene,
    prove_scene,
    read_scene,
    require_sound,
    run_scene,
    scene_diagnostics,
)
from rpgres.toml.reading import Source
from tests.support.tiny import TINY, tiny_ruleset


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ruleset:
    """A ruleset in a folder of its own, and an empty place to work in."""
    folder = tmp_path / "data" / "tiny"
    (folder / "sheets").mkdir(parents=True)
    (folder / "ruleset.toml").write_text(TINY)
    (folder / "sheets" / "ada.toml").write_text('name = "Ada"\nluck = 3\n')
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    ruleset = tiny_ruleset()
    ruleset.data = folder
    return ruleset


def scene_of(ruleset: Ruleset, text: str, **options: Any) -> Scene:
    return read_scene(
        Source(path="s.toml", text=text), find_ruleset=lambda _id: ruleset, overrides=Overrides(**options)
    )


TWO_STEPS = """
ruleset = "tiny"
seed = "7"

[characters.ada]
sheet = "ada.toml"

[[steps]]
id = "first"
actor = "ada"
action = "try"
with = { vs = 12 }
given = { roll = "1,1" }
choose = { price = "time" }
expect = { outcome = "miss", margin = -10, effects = [{ kind = "tick", segments = 10 }] }

[[steps]]
id = "second"
actor = "ada"
action = "try"
with = { vs = 12 }
given = { roll = "1,2" }
choose = { price = "luck" }
when = { first = ["miss", "even"] }
expect = { state = { "counters.clock" = 10, "characters.ada.counters.luck" = 2 } }

[[steps]]
id = "never"
actor = "ada"
action = "try"
with = { vs = 2 }
when = { first = "hit" }
"""


def test_state_is_carried_and_branches_are_taken(tiny: Ruleset) -> None:
    result = run_scene(scene_of(tiny, TWO_STEPS))
    assert [step["id"] for step in result.steps] == ["first", "second", "never"]
    assert result.steps[2] == {"id": "never", "skipped": True}
    assert result.state["counters"]["clock"] == 10
    assert result.state["characters"]["ada"]["counters"]["luck"] == 2
    assert result.seed == "7"


def test_expectations_hold_and_are_counted(tiny: Ruleset) -> None:
    assert prove_scene(scene_of(tiny, TWO_STEPS)) == (5, [])


@pytest.mark.parametrize(
    ("right", "wrong", "what", "line"),
    [
        ('outcome = "miss"', 'outcome = "hit"', "outcome", 15),
        ("margin = -10", "margin = -9", "margin", 15),
        ("segments = 10 }", "segments = 9 }", "effects", 15),
        ('[{ kind = "tick", segments = 10 }]', "[]", "effects", 15),
        ('"counters.clock" = 10', '"counters.clock" = 11', "state.counters.clock", 25),
    ],
)
def test_a_wrong_expectation_is_told_with_its_line(tiny: Ruleset, right: str, wrong: str, what: str, line: int) -> None:
    assert right in TWO_STEPS
    _, mismatches = prove_scene(scene_of(tiny, TWO_STEPS.replace(right, wrong, 1)))
    assert [(found.what, found.where) for found in mismatches] == [(what, f"s.toml:{line}")]


def test_a_skipped_step_expects_nothing_but_whether_it_is_played(tiny: Ruleset) -> None:
    assert prove_scene(scene_of(tiny, TWO_STEPS + 'expect = { outcome = "hit" }\n')) == (5, [])
    assert prove_scene(scene_of(tiny, TWO_STEPS + "expect = { played = false }\n")) == (6, [])
    checks, mismatches = prove_scene(scene_of(tiny, TWO_STEPS + "expect = { played = true }\n"))
    assert checks == 6
    assert [(found.step, found.what, found.found) for found in mismatches] == [("step 'never'", "played", False)]


@pytest.mark.parametrize(
    ("attribute", "expect", "wrong"),
    [
        (7, 'outcome = "epic"', []),
        (7, 'outcome = "style"', []),
        (7, 'outcome = "style", also = "style"', []),
        (7, 'outcome = "style", also = "absent"', [("also", "absent", "style")]),
        (7, 'outcome = "succeed"', [("outcome", "succeed", "epic")]),
        (3, 'outcome = "style", also = "absent"', []),
        (3, 'outcome = "epic"', [("outcome", "epic", "style")]),
        (3, 'also = "style"', [("also", "style", "absent")]),
        (-1, 'asks = "price", also = "absent"', [("also", "absent", None)]),
    ],
)
def test_an_outcome_that_is_also_another_is_expected_as_either(
    attribute: int, expect: str, wrong: list[tuple[str, str, str | None]]
) -> None:
    text = f"""ruleset = "coppermane"
characters.ada = {{}}
[[steps]]
actor = "ada"
action = "overcome"
with = {{ attribute = {attribute}, vs = 0 }}
given = {{ roll = "0000" }}
expect = {{ {expect} }}
"""
    scene = scene_of(find_ruleset("coppermane"), text)
    assert check_scene(scene) == []
    assert [(found.what, found.expected, found.found) for found in prove_scene(scene)[1]] == wrong


def test_what_stands_at_several_places_is_expected_as_a_list() -> None:
    text = """ruleset = "fate"
characters.mara.sheet = "mara"
characters.guards.sheet = "guards"
[[steps]]
note = "mara has three points, and the guards' are not counted"
expect = { state = { "characters.all.counters.fate-points" = [3, 0] } }
"""
    (wrong,) = prove_scene(scene_of(find_ruleset("fate"), text))[1]
    assert (wrong.expected, wrong.found) == ([3, 0], [3, "absent"])


def test_what_no_outcome_is_as_well_is_told(tiny: Ruleset) -> None:
    for ruleset, said, hint in [(find_ruleset("coppermane"), "styl", "style"), (tiny, "hit", "")]:
        text = f'ruleset = "{ruleset.id}"\n[[steps]]\naction = "ACTION"\nexpect = {{ also = "{said}" }}\n'
        action = next(iter(load_rules(ruleset).file.actions))
        found = check_scene(scene_of(ruleset, text.replace("ACTION", action)))
        told = [(problem.message, problem.hint) for problem in found if problem.key == "steps[0].expect.also"]
        assert told == [(f"no outcome also counts as {said!r}", hint)]


@pytest.mark.parametrize("name", ["actor", "opponent", "gm"])
def test_no_character_is_called_what_a_part_is_called(tiny: Ruleset, name: str) -> None:
    with pytest.raises(FileError, match=rf"s\.toml:2: characters\.{name}: '{name}' is the name of a role"):
        scene_of(tiny, f'ruleset = "tiny"\n[characters.{name}]\nluck = 1\n')


def test_a_tag_needs_a_name_of_its_own(tiny: Ruleset) -> None:
    text = 'ruleset = "tiny"\n[tags.a]\ntext = "Fog!"\nkind = "aspect"\n'
    with pytest.raises(FileError, match=r"s\.toml:5: tags\.b: something called 'Fog' is already on the table"):
        scene_of(tiny, text + '[tags.b]\ntext = "Fog"\nkind = "aspect"\n')


def test_a_decision_nobody_takes_is_an_error_with_its_line(tiny: Ruleset) -> None:
    text = TWO_STEPS.replace('choose = { price = "luck" }\n', "")
    with pytest.raises(FileError, match=r"s\.toml:17: step 'second' waits for a decision: price \(ada .*luck, time"):
        run_scene(scene_of(tiny, text))
    by_policy = text.replace('sheet = "ada.toml"', 'sheet = "ada.toml"\npolicy = "uniform"')
    assert run_scene(scene_of(tiny, by_policy)).steps[1]["outcome"] == "miss"
    assert run_scene(scene_of(tiny, text, policies={"": "uniform"})).steps[1]["outcome"] == "miss"


def test_a_waiting_step_and_a_refused_one_can_be_expected(tiny: Ruleset) -> None:
    text = """
ruleset = "tiny"
[[steps]]
action = "try"
with = { vs = 12 }
given = { roll = "1,1" }
expect = { asks = "price" }
[[steps]]
action = "try"
with = { vs = 12 }
given = { roll = "7,1" }
expect = { error = "6,5" }
[[steps]]
action = "try"
with = { vs = 2 }
given = { roll = "6,6" }
expect = { asks = "price", outcome = "hit" }
"""
    checks, mismatches = prove_scene(scene_of(tiny, text))
    assert checks == 4
    assert [(found.what, found.found) for found in mismatches] == [("asks", "nothing")]


def test_a_fresh_step_neither_sees_nor_leaves_anything(tiny: Ruleset) -> None:
    text = TWO_STEPS.replace('id = "first"', 'id = "first"\nfresh = true')
    result = run_scene(scene_of(tiny, text))
    assert "clock" not in result.state["counters"]


def test_the_same_seed_plays_the_same_scene_and_a_changed_answer_moves_no_other_die(tiny: Ruleset) -> None:
    text = 'ruleset = "tiny"\npolicy = "uniform"\n' + '[[steps]]\naction = "try"\nwith = { vs = "2d6" }\n' * 6
    first, again = run_scene(scene_of(tiny, text), seed="x"), run_scene(scene_of(tiny, text), seed="x")
    assert first == again
    assert len({step["answers"][0]["value"] for step in first.steps}) > 1
    changed = text.replace("with = ", 'given = { roll = "1,1" }\nwith = ', 1)
    other = run_scene(scene_of(tiny, changed), seed="x")
    assert [step["answers"][:2] for step in other.steps[1:]] == [step["answers"][:2] for step in first.steps[1:]]
    assert other.steps[0]["answers"][1] == first.steps[0]["answers"][1]


def test_a_seed_is_minted_and_told_when_there_is_none(tiny: Ruleset) -> None:
    text = 'ruleset = "tiny"\npolicy = "uniform"\n[[steps]]\naction = "try"\nwith = { vs = 7 }\n'
    result = run_scene(scene_of(tiny, text))
    assert result.seed.startswith("rp1:")
    assert run_scene(scene_of(tiny, text), seed=result.seed) == result


def test_everything_wrong_is_told_at_once_with_lines(tiny: Ruleset) -> None:
    text = """ruleset = "tiny"
[characters.ada]
sheet = "ada.toml"
[[steps]]
id = "one"
action = "tryy"
[[steps]]
id = "one"
action = "try"
with = { vs = 7, pusch = true }
choose = { prise = "time" }
when = { zero = "miss" }
expect = { outcome = "hitt" }
[[steps]]
actor = "adda"
action = "try"
with = { vs = "2d0" }
when = { one = "mis" }
"""
    scene = scene_of(tiny, text)
    found = [(problem.line, problem.key, problem.hint) for problem in check_scene(scene)]
    assert found == [
        (6, "steps[0].action", "try"),
        (8, "steps[1].id", ""),
        (10, "steps[1].with.pusch", ""),
        (11, "steps[1].choose.prise", ""),
        (12, "steps[1].when.zero", ""),
        (13, "steps[1].expect.outcome", "hit"),
        (15, "steps[2].actor", "ada"),
        (17, "steps[2].with.vs", ""),
        (18, "steps[2].when.one", "miss"),
    ]
    with pytest.raises(FileError) as error:
        require_sound(scene)
    assert len(error.value.details["problems"]) == len(found)


def test_faults_of_every_part_are_told_in_one_go(tiny: Ruleset) -> None:
    text = """ruleset = "tiny"
seed = " "
policy = "bold"
titel = "x"
[switches]
grit = "maybe"
grid = "yes"
[characters.ada]
sheet = "adda.toml"
[characters.bob]
policy = "bold"
luk = 1
[characters.eve]
[tags.fog]
text = "Fog"
kind = "aspect"
uses = { evee = 1 }
[[steps]]
id = "one"
acter = "ada"
action = "try"
[[steps]]
actor = "eve"
action = "try"
when = { one = "miss" }
with = { vs = { character = "eva", skill = "will" }, push = "perhaps" }
given = { rol = "1,1" }
"""
    found = scene_diagnostics(Source(path="s.toml", text=text), find_ruleset=lambda _id: tiny)
    assert [(problem.line, problem.key) for problem in found] == [
        (2, "seed"),
        (3, "policy"),
        (4, "titel"),
        (6, "switches.grit"),
        (7, "switches.grid"),
        (9, "characters.ada.sheet"),
        (11, "characters.bob.policy"),
        (12, "characters.bob.luk"),
        (17, "tags.fog.uses"),
        (18, "steps.one"),  # it needs `vs`, which the unknown key does not hide
        (20, "steps.one.acter"),
        (26, "steps[1].with.vs.character"),
        (26, "steps[1].with.push"),
        (27, "steps[1].given.rol"),
    ]
    fine = scene_diagnostics(Source(path="s.toml", text=TWO_STEPS), find_ruleset=lambda _id: tiny)
    assert fine == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('rulset = "tiny"', r"s\.toml:1: rulset: .*ruleset"),
        ('ruleset = "tiny"\n[[steps]]\naction = 3', r"s\.toml:3: steps\[0\]\.action"),
        ('ruleset = "tiny"\n[characters.ada]\nluk = 2', r"s\.toml:3: characters\.ada\.luk: .*luck"),
        ('ruleset = "tiny"\n[characters.ada]\nsheet = "adda.toml"', "did you mean 'ada', which ships with tiny"),
        ('ruleset = "tiny"\n[characters.ada]\npolicy = "bold"', "no policy 'bold'"),
        ('ruleset = "tiny"\npolicy = "bold"', "no policy 'bold'"),
        ('ruleset = "tiny"\nswitches = { grid = "yes" }', "did you mean 'grit'"),
        ('ruleset = "tiny"\nswitches = { grit = "maybe" }', "yes, no"),
        ("ruleset = ", r"s\.toml:1"),
    ],
)
def test_a_faulty_file_is_refused_with_its_place(tiny: Ruleset, text: str, message: str) -> None:
    with pytest.raises(RpgresError, match=message):
        scene_of(tiny, text)


def test_a_faulty_step_names_itself_when_it_is_played(tiny: Ruleset) -> None:
    text = 'ruleset = "tiny"\n\n[[steps]]\nid = "a"\naction = "try"\nwith = { vs = "2d0" }\n'
    with pytest.raises(FileError, match=r"s\.toml:3: step 'a': "):
        run_scene(scene_of(tiny, text))


def test_hidden_tags_are_laid_for_their_audience(tiny: Ruleset) -> None:
    text = """
ruleset = "tiny"
[characters.ada]
[tags.trap]
text = "A Trap"
kind = "secret"
seen-by = ["gm"]
uses = { gm = 2 }
"""
    scene = scene_of(tiny, text)
    assert scene.state.seen_by("gm").tags[0].uses == {"gm": 2}
    assert scene.state.seen_by("ada").tags == ()
    bad = scene_of(tiny, text.replace('"gm"]', '"gmm"]'))
    assert [problem.hint for problem in check_scene(bad)] == ["gm"]


TABLE = """
ruleset = "tiny"
[characters.ada]
[tracks.alarm]
boxes = 4
marks = 1
[tracks.locks]
boxes = { gate = 2, vault = 5 }
marks = ["vault"]
seen-by = ["gm"]
[things.zones]
value = { yard = ["ada"], hall = [], open = true }
[things.patrol]
value = ["hall", "yard"]
seen-by = ["gm"]
[[steps]]
actor = "ada"
action = "try"
with = { vs = 2 }
given = { roll = "1,1" }
[steps.expect.state]
"things.zones.yard" = ["ada"]
"things.zones.open" = true
"things.patrol" = ["hall", "yard"]
"things.dragon" = "absent"
"tracks.alarm.1.mark" = "x"
"tracks.alarm.2.mark" = ""
"tracks.locks.vault.size" = 5
"""


def test_tracks_and_things_are_set_out_and_can_be_expected(tiny: Ruleset) -> None:
    scene = scene_of(tiny, TABLE)
    assert check_scene(scene) == []
    assert scene_diagnostics(Source(path="s.toml", text=TABLE), find_ruleset=lambda _id: tiny) == []
    state = scene.state
    assert [(box.name, box.size, box.mark) for box in state.tracks["alarm"]] == [
        ("1", 1, "x"),
        ("2", 1, ""),
        ("3", 1, ""),
        ("4", 1, ""),
    ]
    assert [(box.name, box.mark) for box in state.tracks["locks"]] == [("gate", ""), ("vault", "x")]
    assert state.things == {"zones": {"yard": ("ada",), "hall": (), "open": True}, "patrol": ("hall", "yard")}
    assert set(state.seen_by("ada").things) == {"zones"}
    assert set(state.seen_by("ada").tracks) == {"alarm"}
    assert hash(state)
    assert prove_scene(scene) == (7, [])
    _, wrong = prove_scene(scene_of(tiny, TABLE.replace('yard" = ["ada"]', 'yard" = ["bob"]')))
    assert [(found.what, found.expected, found.found) for found in wrong] == [
        ("state.things.zones.yard", ["bob"], ["ada"])
    ]


def test_the_state_of_a_scene_can_be_read_back(tiny: Ruleset) -> None:
    scene = scene_of(tiny, TABLE)
    result = run_scene(scene)
    assert result.state["things"] == {"zones": {"yard": ["ada"], "hall": [], "open": True}, "patrol": ["hall", "yard"]}
    assert result.state["audiences"] == {"locks": ["gm"], "patrol": ["gm"]}
    assert read_state(result.state) == scene.state


@pytest.mark.parametrize(
    ("right", "wrong", "key", "message"),
    [
        ("marks = 1", "marks = 5", "tracks.alarm.marks", "5 boxes cannot be marked where there are 4"),
        ('["vault"]', '["volt"]', "tracks.locks.marks", "the boxes gate, vault; there is no 'volt'"),
        ("boxes = 4", "boxes = 0", "tracks.alarm.boxes", "at least 1"),
        ('["ada"], hall', "[1.5], hall", "things.zones.value", "things.zones.yard[0] is the float 1.5"),
        ("open = true", "open = 2020-01-01", "things.zones.value", "things.zones.open is the date"),
        ("things.patrol]", "things.alarm]", "things.alarm", "there is already a track 'alarm'"),
    ],
)
def test_a_faulty_track_or_thing_is_told_with_its_place(
    tiny: Ruleset, right: str, wrong: str, key: str, message: str
) -> None:
    text = TABLE.replace(right, wrong)
    assert text != TABLE
    (found,) = scene_diagnostics(Source(path="s.toml", text=text), find_ruleset=lambda _id: tiny)
    assert found.key == key
    assert found.line
    assert message in found.message
    with pytest.raises(FileError) as caught:
        scene_of(tiny, text)
    assert f"s.toml:{found.line}: " in caught.value.message
    assert message in caught.value.message


def test_nobody_unknown_is_in_an_audience(tiny: Ruleset) -> None:
    text = TABLE.replace('seen-by = ["gm"]', 'seen-by = ["gmm"]')
    found = scene_diagnostics(Source(path="s.toml", text=text), find_ruleset=lambda _id: tiny)
    assert [(one.key, one.hint) for one in found] == [("tracks.locks.seen-by", "gm"), ("things.patrol.seen-by", "gm")]
    assert [one.key for one in check_scene(scene_of(tiny, text))] == [one.key for one in found]


def test_a_missing_scene_names_the_nearest_that_ships(tiny: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path("rulesets/tiny/scenes")
    folder.mkdir(parents=True)
    (folder / "ambush.toml").write_text(TWO_STEPS)
    assert find_scene("tiny/ambush") == folder / "ambush.toml"
    with pytest.raises(FileError, match="did you mean 'tiny/ambush'"):
        find_scene("tiny/ambusch")


@given(st.text(max_size=200))
def test_no_text_makes_a_traceback(text: str) -> None:
    with contextlib.suppress(RpgresError):
        assert read_scene(Source(path="-", text=text), find_ruleset=lambda _id: tiny_ruleset()).file.ruleset


WORDS = st.sampled_from(
    ["try", "ruleset", "tiny", "7", "2d6", "none", "miss", "ada", "", "[[", "true", "-1", "1e9", "{", "gm", "no"]
)


@pytest.mark.slow
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "action": WORDS,
            "actor": WORDS,
            "id": WORDS,
            "with": st.dictionaries(
                st.sampled_from(["vs", "push", "sheet", "x"]), WORDS | st.integers() | st.booleans()
            ),
            "given": st.dictionaries(st.sampled_from(["roll", "opposition", "x"]), WORDS),
            "choose": st.dictionaries(st.sampled_from(["price", "push", "x"]), WORDS),
            "when": st.dictionaries(WORDS, WORDS),
        },
    )
)
def test_no_step_makes_a_traceback(step: dict[str, Any]) -> None:
    import tomli_w

    from rpgres.model.state import State
    from rpgres.scenes import SceneFile
    from rpgres.scenes.program import program_of
    from rpgres.scenes.reading import Including
    from rpgres.toml.reading import convert, parse
    from tests.support.tiny import tiny_rules

    text = tomli_w.dumps({"ruleset": "tiny", "policy": "uniform", "steps": [step]})
    source = Source(path="s.toml", text=text)
    with contextlib.suppress(RpgresError):
        file = convert(parse(source), SceneFile, source=source)
        program = program_of(file.steps, source, ends=file.ends, included=Including("tiny", source, None, ()))
        scene = Scene(file, source, tiny_rules(), State(), {}, program)
        check_scene(scene)
        run_scene(scene, seed="1")


def test_a_path_with_the_key_of_a_tag_is_told_its_slug(tiny: Ruleset) -> None:
    text = (
        'ruleset = "tiny"\n[characters.ada]\n[tags.roofs]\ntext = "Rain-Slick Roofs"\nkind = "mark"\n'
        '[tags.fog]\ntext = "Fog"\nkind = "mark"\n[[steps]]\nset = { "tags.roofs.uses.ada" = 1 }\n'
        '[[steps]]\nrepeat = { until = { "tags.roofs" = "absent" } }\n[[steps.steps]]\nnote = "Rain."\n'
        'when = { "tags.fog" = "absent", "tags.rain-slick-roofs.on" = "" }\n[ends.dry.when]\n"tags.roofs.on" = "ada"\n'
    )

    def told(text: str) -> list[tuple[int | None, str]]:
        source = Source(path="s.toml", text=text)
        found = scene_diagnostics(source, find_ruleset=lambda _: tiny)
        return [(one.line, one.message.rpartition(" ")[2]) for one in found]

    slug = "tags.rain-slick-roofs"
    assert told(text) == [(10, f"{slug}.uses.ada"), (12, slug), (17, f"{slug}.on")]
    laid = text.replace("[[steps]]\nset = {", '[[steps]]\nset = { "tags.Roofs" = "mark" }\n[[steps]]\nset = {', 1)
    assert told(laid) == []
    taken = text.replace('"tags.roofs.uses.ada" = 1', '"tags.roofs" = "absent"')
    assert told(taken)[0] == (10, slug)


def test_a_character_with_a_title_for_a_key_is_told_the_plain_one() -> None:
    text = 'ruleset = "fate"\n[characters."Zoë Quill"]\n[[steps]]\naction = "overcome"\nwith = { skill = 1, vs = 2 }\n'
    with pytest.raises(FileError, match='write `zoe-quill`, and below it name = "Zoë Quill"'):
        read_scene(Source("a.toml", text), find_ruleset=find_ruleset)
