"""Standing orders in scenes: of characters, by name, in files; what a check refuses, with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rpgres.errors import FileError, UsageError
from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import Overrides, read_scene, run_scene, scene_diagnostics
from rpgres.scenes.reading import who_decides
from rpgres.toml.reading import Source

HEAD = 'ruleset = "fate"\nseed = "7"\n'
CAST = """
[characters.mara]
sheet = "mara.toml"
[characters.guards]
skills = { will = 0 }
played-by = "gm"
"""
STEP = """
[[steps]]
actor = "mara"
action = "overcome"
with = { skill = "fight", vs = 4 }
given = { roll = "----" }
"""
BRAVE = """
[[orders.brave]]
ask = "invoke"
choose = "no"
[[orders.brave]]
ask = "price"
choose = "cost"
[[orders.brave]]
policy = "calm"
[[orders.calm]]
policy = "thrifty"
"""


def decisions(text: str, *, folder: Path | None = None, **options: Any) -> dict[str, tuple[str, str]]:
    """Return the answers of a scene's first step by label, with the means by which they came."""
    scene = read_scene(Source("s.toml", text), find_ruleset=find_ruleset, folder=folder, overrides=Overrides(**options))
    events = run_scene(scene).steps[0]["events"]
    return {one["label"]: (one["answer"], one["means"]) for one in events if one["event"] == "decision"}


def problems(text: str, **options: Any) -> list[str]:
    found = scene_diagnostics(Source("s.toml", text), find_ruleset=find_ruleset, **options)
    return [f"{one.line} {one.code}: {one.told}" for one in found]


def test_a_characters_orders_come_before_its_policy_and_that_before_everybodys() -> None:
    orders = '\n[[characters.mara.orders]]\nask = "price"\nwhen = { "enemies.count" = 1 }\nchoose = "fail"\n'
    cast = CAST.replace('"mara.toml"', '"mara.toml"\npolicy = "thrifty"') + orders
    assert problems(HEAD + cast + STEP) == []
    assert decisions(HEAD + cast + STEP) == {"invoke": ("no", "policy"), "price": ("fail", "orders")}
    bold = decisions(f'{HEAD}policy = "preferred"{CAST}{orders}{STEP}')
    assert bold["invoke"][1] == "policy"
    assert bold["price"] == ("fail", "orders")


def test_orders_by_name() -> None:
    text = HEAD + CAST.replace('"mara.toml"', '"mara.toml"\npolicy = "brave"') + BRAVE + STEP
    assert problems(text) == []
    found = decisions(text, policies={"": "thrifty"})
    assert {label: means for label, (_, means) in found.items()} == {
        "invoke": "orders",
        "price": "orders",
        "cost": "policy",
    }
    assert found["price"][0] == "cost"
    everybody = decisions(f'{HEAD}policy = "brave"\n{CAST}{BRAVE}{STEP}')
    assert {means for _, means in everybody.values()} == {"orders"}
    assert decisions(text, policies={"mara": "calm"})["price"] == ("cost", "orders")


def test_orders_in_a_file_beside_the_scene(tmp_path: Path) -> None:
    (tmp_path / "brave.toml").write_text('policy = "thrifty"\n[[orders]]\nask = "price"\nchoose = "cost"\n', "utf-8")
    text = HEAD + CAST.replace('"mara.toml"', '"mara.toml"\npolicy = "brave.toml"') + STEP
    assert problems(text, folder=tmp_path) == []
    found = decisions(text, folder=tmp_path, policies={"": "thrifty"})
    assert (found["invoke"], found["price"]) == (("no", "policy"), ("cost", "orders"))
    (tmp_path / "brave.toml").write_text('[[orders]]\nask = "prise"\nchoose = "cost"\n', "utf-8")
    assert problems(text, folder=tmp_path) == [
        "2 unknown-name: orders[0].ask: fate asks for no decision 'prise'; did you mean `price`?"
    ]
    with pytest.raises(FileError, match=r"brave\.toml:2: orders\[0\]\.ask"):
        decisions(text, folder=tmp_path)


def test_a_sheets_orders_hold_in_a_scene_unless_it_has_others(tmp_path: Path) -> None:
    (tmp_path / "ada.toml").write_text(
        'name = "Ada"\n[skills]\nfight = 1\n[[orders]]\nask = "price"\nwhen = { "characters.bo" = true }\n'
        'choose = "cost"\n[[orders]]\nask = "price"\nchoose = "fail"\n',
        "utf-8",
    )
    text = HEAD + '[characters.ada]\nsheet = "ada.toml"\n' + STEP.replace("mara", "ada")
    assert problems(text, folder=tmp_path) == []
    assert decisions(text, folder=tmp_path)["price"] == ("fail", "orders")
    other = '[[characters.ada.orders]]\nask = "price"\nchoose = "cost"\n'
    assert decisions(text + other, folder=tmp_path, policies={"": "uniform"})["price"] == ("cost", "orders")
    sheet = (tmp_path / "ada.toml").read_text("utf-8").replace('ask = "price"\nchoose', 'ask = "prise"\nchoose')
    (tmp_path / "ada.toml").write_text(sheet, "utf-8")
    found = scene_diagnostics(Source("s.toml", text), find_ruleset=find_ruleset, folder=tmp_path)
    assert [(Path(one.file).name, one.line, one.key) for one in found] == [("ada.toml", 9, "orders[1].ask")]
    with pytest.raises(FileError, match=r"ada\.toml:9"):
        decisions(text, folder=tmp_path)


FAULTS = {
    "of-a-character": (
        '[[characters.mara.orders]]\nask = "price"\nchoose = "gold"\n',
        10,
        "unknown-name",
        "characters.mara.orders[0].choose: the decision price never offers 'gold'",
    ),
    "by-type": (
        '[[characters.mara.orders]]\nask = "price"\nchose = "fail"\n',
        10,
        "unknown-key",
        "characters.mara.orders[0].chose: unknown key; did you mean `choose`?",
    ),
    "of-a-set": (
        '[[orders.brave]]\nask = "prise"\nchoose = "fail"\n',
        9,
        "unknown-name",
        "orders.brave[0].ask: fate asks for no decision 'prise'",
    ),
    "contradictory": (
        '[[orders.brave]]\nask = "price"\nchoose = "fail"\nwhen = { "counters.fate-points" = "< 1 and > 3" }\n',
        11,
        "never-matches",
        'orders.brave[0].when."counters.fate-points": no possible value fits',
    ),
    "never-reached": (
        '[[orders.brave]]\nask = "price"\nchoose = "fail"\n[[orders.brave]]\nask = "price"\nchoose = "cost"\n',
        12,
        "never-matches",
        "orders.brave[1].ask: this order is never reached: orders[0] is unconditional for price",
    ),
    "endless": (
        '[[orders.brave]]\npolicy = "calm"\n[[orders.calm]]\npolicy = "brave"\n',
        8,
        "endless",
        "orders.brave: these orders leave a decision to themselves",
    ),
    "taken": ('[[orders.sensible]]\nchoose = "first"\n', 8, "taken-name", "orders.sensible: fate has a policy"),
    "a-character": (
        '[[characters.mara.orders]]\nwhen = { "characters.guard.is_out" = true }\nchoose = "first"\n',
        9,
        "unknown-name",
        "there is no character 'guard'; did you mean `guards`?",
    ),
    "hidden-from-a-seat": (
        '[[characters.mara.orders]]\nwhen = { "tags.trap" = true }\nchoose = "first"\n'
        '[tags.trap]\ntext = "Trap"\nkind = "aspect"\nseen-by = ["gm"]\n',
        9,
        "unseen",
        "the seat mara does not see 'trap'",
    ),
    "hidden-clock": (
        '[[characters.mara.orders]]\nwhen = { "tracks.doom.free" = 0 }\nchoose = "first"\n'
        '[tracks.doom]\nboxes = 3\nseen-by = ["gm"]\n',
        9,
        "unseen",
        "the seat mara does not see 'doom'",
    ),
}


SLIPS = {  # what people write, each with what to write in its place
    "a path without quotes": (
        'when = { self.counters.fate-points = "< 2" }\nchoose = "no"',
        'a path stands in quotes: "self.counters.fate-points" = ...',
    ),
    "a counter without its section": (
        'when = { "self.fate-points" = "< 2" }\nchoose = "no"',
        "self.fate-points is written `self.counters.fate-points`",
    ),
    "a character without a section": (
        'when = { "mara.counters.fate-points" = "< 2" }\nchoose = "no"',
        "a character is `characters.mara.counters.fate-points`",
    ),
    "two equal signs": ('when = { "self.counters.fate-points" = "== 2" }\nchoose = "no"', "`==` is written `=`"),
    "signs swapped": ('when = { "self.counters.fate-points" = "=< 2" }\nchoose = "no"', 'as in "<= 2"'),
    "if": ('if = { "facts.margin" = 0 }\nchoose = "no"', "the key for this is `when`"),
    "then": ('then = "no"', "the key for this is `choose`"),
    "yes": ('ask = "invoke"\nchoose = "yes"', "'yes' is no option; a decision is taken by the name of an option"),
    "an enemy who is out": (
        'when = { "enemies.guards.is-out" = true }\nchoose = "no"',
        "`enemies` are those who are not out",
    ),
    "a fact that is a number": (
        'ask = "turn"\nwhen = { "facts.reached" = "many" }\nchoose = "pass"',
        "reached is a number, and never 'many'",
    ),
    "the highest of no numbers": (
        'ask = "invoke"\nchoose = { highest = "free" }',
        "free is no number, so no option has the highest",
    ),
}


@pytest.mark.parametrize(("order", "told"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_told_with_what_to_write(order: str, told: str) -> None:
    found = problems(f"{HEAD}{CAST.lstrip()}[[characters.mara.orders]]\n{order}\n{STEP}")
    assert any(told in one for one in found), found


def test_a_file_of_orders_with_one_table_is_told_to_double_its_brackets(tmp_path: Path) -> None:
    (tmp_path / "o.toml").write_text('[orders]\nask = "invoke"\nchoose = "no"\n', "utf-8")
    text = HEAD + CAST.replace('sheet = "mara.toml"', 'sheet = "mara.toml"\npolicy = "o.toml"') + STEP
    found = problems(text, folder=tmp_path)
    assert [one.partition("; ")[2] for one in found] == ["write the head of each with double brackets, [[orders]]"]


@pytest.mark.parametrize(("text", "line", "code", "told"), FAULTS.values(), ids=FAULTS)
def test_what_a_check_refuses(text: str, line: int, code: str, told: str) -> None:
    scene = HEAD + CAST.lstrip() + text + STEP
    first, *_ = problems(scene)
    assert first.startswith(f"{line} {code}: "), first
    assert told in first
    with pytest.raises(FileError, match=f"s.toml:{line}"):
        read_scene(Source("s.toml", scene), find_ruleset=find_ruleset)


def test_what_a_named_set_may_see_depends_on_who_decides_by_it() -> None:
    hidden = '[tags.trap]\ntext = "Trap"\nkind = "aspect"\nseen-by = ["gm"]\n'
    orders = '[[orders.wary]]\nwhen = { "tags.trap" = true }\nchoose = "first"\n'
    for who, found in (("mara", 1), ("guards", 0)):
        cast = CAST.replace(f"[characters.{who}]", f'[characters.{who}]\npolicy = "wary"')
        assert len(problems(HEAD + cast + hidden + orders + STEP)) == found


def test_a_policy_that_is_not_there() -> None:
    cast = CAST.replace('"mara.toml"', '"mara.toml"\npolicy = "braev"')
    (found,) = problems(HEAD + cast + BRAVE + STEP)
    assert found.startswith("6 unknown-name: characters.mara.policy: the ruleset fate has no policy 'braev'")
    assert "did you mean 'brave'?" in found
    with pytest.raises(FileError, match=r":6: characters.mara.policy: the ruleset fate has no policy 'braev'"):
        decisions(HEAD + cast + BRAVE + STEP)
    assert decisions(HEAD + cast + BRAVE + STEP, policies={"mara": "brave"}) is not None
    plain = HEAD + CAST.replace('"mara.toml"', '"mara.toml"\npolicy = "thrifyt"') + STEP
    with pytest.raises(FileError, match=r":6: characters.mara.policy: .* did you mean 'thrifty'"):
        decisions(plain)
    with pytest.raises(UsageError, match="the scene has no character 'nobody'"):
        decisions(HEAD + CAST + STEP, policies={"nobody": "thrifty"})


def test_who_decides_is_told() -> None:
    orders = '\n[[characters.mara.orders]]\nask = "price"\nchoose = "fail"\n'
    for policy, told in (("", "orders"), ("thrifty", "orders, then thrifty"), ("brave", "brave")):
        said = f'"mara.toml"\npolicy = "{policy}"' if policy else '"mara.toml"'
        cast = CAST.replace('"mara.toml"', said) + (orders if policy != "brave" else "")
        text = f'{HEAD}policy = "sensible"\n{cast}{BRAVE}{STEP}'
        scene = read_scene(Source("s.toml", text), find_ruleset=find_ruleset)
        assert who_decides(scene.file, scene.policies) == {"mara": told}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('when = { "characters.mara.counters.fate-pints" = 1 }', "there is no counter 'fate-pints'"),
        ('when = { "characters.mara.counters.zorgle" = 1 }', "there is no counter 'zorgle'"),
        ('when = { "characters.nobody.is-out" = true }', "there is no character 'nobody'"),
        ('when = { "tags.trap" = true }', "a path names a tag by its text: this one is tags.a-pit"),
        ('when = { "characters.mara.counters.fate-points-later" = ">= 1", "tags.a-pit" = true }', ""),
    ],
)
def test_conditions_of_a_scene_speak_of_what_can_be_there(said: str, told: str) -> None:
    tag = '\n[tags.trap]\ntext = "A Pit"\nkind = "aspect"\n'
    for text in (f"{STEP}{said}\n", f"{STEP}\n[ends.over]\n{said}\n"):
        found = problems(f"{HEAD}{CAST}{tag}{text}")
        assert [told in one for one in found] == ([True] if told else []), found
    order = f'\n[[characters.mara.orders]]\n{said}\nchoose = "first"\n'
    assert [told in one for one in problems(f"{HEAD}{CAST}{tag}{order}{STEP}")] == ([True] if told else [])


@pytest.mark.parametrize(("said", "told"), [("guards", []), ("guardz", ["the decision target never offers 'guardz'"])])
def test_orders_may_name_who_joins_by_an_input(said: str, told: list[str]) -> None:
    orders = f'[characters.mara]\nsheet = "mara.toml"\n[[characters.mara.orders]]\nask = "target"\nchoose = "{said}"\n'
    text = HEAD + orders + '[[steps]]\nactor = "mara"\naction = "attack"\nwith = { skill = "fight", vs = "guards:2" }\n'
    found = problems(text)
    assert len(found) == len(told)
    assert all(message.startswith("7 ") and one in message for one, message in zip(told, found, strict=True))
    if told:
        with pytest.raises(FileError, match=r"s\.toml:7.*never offers 'guardz'"):
            read_scene(Source("s.toml", text), find_ruleset=find_ruleset)


WORLD = """
[tags.rain]
text = "Rain-Slick Roofs"
kind = "aspect"
uses = { mara = 1 }
[tracks.storm]
boxes = 4
[things.roofs]
value = { mara = "ridge" }
[[steps]]
actor = "mara"
action = "create-advantage"
with = { skill = "fight", vs = 2, name = "Wrong Footed", on = "guards" }
[[steps]]
set = { "tracks.flood" = 4 }
"""


@pytest.mark.parametrize(
    ("condition", "severity", "told"),
    [
        ('"tags.rain-slick-rofs" = true', "warning", "no tag is called 'rain-slick-rofs' yet"),
        ('"tags.wrong-foted" = true', "warning", "did you mean `wrong-footed`?"),
        ('"self.tags.silver-tung-empty-purse" = true', "warning", "did you mean `silver-tongue-empty-purse`?"),
        ('"tags.rain-slick-roofs.uses.marra" = 1', "error", "there is no character 'marra'; did you mean `mara`?"),
        ('"tags.any.on" = "guardz"', "error", "did you mean `guards`?"),
        ('"characters.any.seat" = "gmm"', "error", "did you mean `gm`?"),
        ('"things.rofs" = true', "warning", "did you mean `roofs`?"),
        ('"things.roofs.marra" = "ridge"', "warning", "did you mean `mara`?"),
        ('"audiences.roofs.gmm" = true', "error", "there is no seat 'gmm'; did you mean `gm`?"),
        ('"characters.mara.records.stuntz" = true', "error", "did you mean `stunts`?"),
        ('"tracks.storm.9" = true', "warning", "no box is called '9' yet"),
        ('"characters.mara.counters.fate-points" = "< 0"', "warning", "fate-points is from 0 to 99 here"),
        ('"characters.mara.tracks.mental.free" = ">= 9"', "warning", "free is from 0 to 4 here"),
        ('"tags.wrong-footed.on" = "guards"', "", ""),
        ('"tags.any.uses.gm" = ">= 1"', "", ""),
        ('"tracks.flood.marked" = 1', "", ""),
        ('"things.roofs.mara" = "ridge"', "", ""),
    ],
)
def test_names_of_what_lies_on_the_table(condition: str, severity: str, told: str) -> None:
    when = f"when = {{ {condition} }}"
    order = f'[[characters.mara.orders]]\n{when}\nchoose = "first"\n'
    for text in (
        f"{order}{WORLD}",
        *([] if "self" in condition else [f"{WORLD}\n{STEP}{when}", f"{WORLD}\n[ends.x]\n{when}"]),
    ):
        found = scene_diagnostics(Source("s.toml", HEAD + CAST + text), find_ruleset=find_ruleset)
        assert [one.severity for one in found] == ([severity] if severity else []), found
        assert all(told in one.told for one in found)
    if severity != "error":  # who plays it is not held up
        read_scene(Source("s.toml", HEAD + CAST + order + WORLD), find_ruleset=find_ruleset)


@pytest.mark.parametrize(
    ("order", "hint"),
    [
        ('ask = "invoke"\nchoose = "rain-slik-roofs"', "rain-slick-roofs"),
        ('ask = "invoke"\nchoose = { "rain-slik-roofs:reroll" = 1, no = 2 }', "rain-slick-roofs:reroll"),
        ('ask = "invoke"\nwhen = { "options.rain-slik-roofs" = true }\nchoose = "first"', "rain-slick-roofs"),
        ('ask = "zone"\nchoose = "rof"', "roof"),
        ('ask = "move"\nchoose = "roof"', None),
        ('ask = "invoke"\nchoose = ["Rain-Slick Roofs", "wrong-footed:reroll", "no"]', None),
    ],
)
def test_options_that_play_brings_forth(order: str, hint: str | None) -> None:
    zones = '[[steps]]\nactor = "mara"\nprocedure = "conflict"\nwith = { against = "guards", zones = "yard,roof:2" }\n'
    text = f"{HEAD}{CAST}[[characters.mara.orders]]\n{order}\n{WORLD}{zones}"
    found = scene_diagnostics(Source("s.toml", text), find_ruleset=find_ruleset)
    assert [(one.severity, one.hint) for one in found] == ([("warning", hint)] if hint else [])


@pytest.mark.parametrize(
    ("expected", "key"),
    [
        ('state = { "characters.mara.counters.fate-pints" = 2 }', 'state."characters.mara.counters.fate-pints"'),
        ('state = { "tagz.rain" = true }', 'state."tagz.rain"'),
        ('state = { "tags.anything" = true, "characters.marra" = "absent" }', ""),
        ('asks = "prise"', "asks"),
        ('effects = [{ kind = "goal" }, { kind = "bost" }]', "effects[1].kind"),
        ('effects = [{ kind = ["goal"] }]', "effects[0].kind"),
    ],
)
def test_expectations_name_what_there_is(expected: str, key: str) -> None:
    found = problems(f"{HEAD}{CAST}{STEP}expect = {{ {expected} }}")
    assert [one.split(": ")[1] for one in found] == ([f"steps[0].expect.{key}"] if key else [])


def test_a_sheet_that_is_not_there_is_told_with_its_place() -> None:
    with pytest.raises(FileError, match=r":\d+: characters\.mara\.sheet: there is no sheet 'marra'"):
        decisions(HEAD + CAST.replace('"mara.toml"', '"marra"') + STEP)
