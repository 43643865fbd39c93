"""JSON Schemas: valid themselves, true of what is printed and of the files that ship, and of use to an editor."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema_rs import Draft202012Validator

from rpgres import resolve
from rpgres.engine.records import Pending
from rpgres.formats.descriptions import documented, records_in
from rpgres.formats.schemas import DIALECT, KINDS, make_schema
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules, builtin_folder
from tests.support import effort
from tests.support.effort import few
from tests.support.lantern import installed, rpgres

FATE = builtin_folder().absolute() / "fate"
FILES = ("scene", "sheet", "ruleset", "outcomes", "menus")


@pytest.fixture(scope="module", autouse=True)
def work() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, installed(Path(folder)) as found:
        yield found


@cache
def rules(ruleset: str = "fate") -> Rules:
    return load_rules(find_ruleset(ruleset))


@cache
def made(kind: str, ruleset: str | None = None) -> dict[str, Any]:
    return make_schema(kind, rules=rules(ruleset) if ruleset else None)


@cache
def validator(kind: str, ruleset: str | None = None) -> Draft202012Validator:
    return Draft202012Validator(made(kind, ruleset))  # refuses what is no schema


def faults(kind: str, ruleset: str | None, value: Any) -> list[str]:
    return [f"{error.instance_path}: {error.message[:200]}" for error in validator(kind, ruleset).iter_errors(value)]


def toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


def test_every_kind_stands_in_the_help() -> None:
    help_ = rpgres("schema", "--help").output
    words = set(re.findall(r"[a-z-]+", re.sub(r"-\s+", "-", help_)))  # a name may be broken behind its hyphen
    assert set(KINDS) <= words, set(KINDS) - words


def said(*args: str, stdin: str | None = None, code: int = 0) -> Any:
    done = rpgres(*args, stdin=stdin)
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


ALL = [(kind, ruleset) for kind in KINDS for ruleset in (None, "fate", "lantern") if (kind, ruleset) != ("sheet", None)]


@pytest.mark.parametrize(("kind", "ruleset"), few(ALL, 50))
def test_command_prints_the_schema(kind: str, ruleset: str | None) -> None:
    done = rpgres("schema", kind, *([ruleset] if ruleset else []))
    assert (done.exit_code, done.stderr) == (0, "")
    schema = json.loads(done.stdout)
    assert schema == made(kind, ruleset)
    assert schema["$schema"] == DIALECT
    assert schema["$id"] == ":".join(["urn:rpgres:schema", kind, "1", *([ruleset] if ruleset else [])])
    assert schema["title"]
    assert schema["description"].endswith(".")


def described(schema: Any, path: str = "") -> Iterator[tuple[str, bool]]:
    """Yield every property of a schema, and whether it says what it is."""
    if isinstance(schema, list):
        for part in schema:
            yield from described(part, path)
    elif isinstance(schema, dict):
        for name, part in schema.get("properties", {}).items() if schema.get("type") == "object" else ():
            if isinstance(part, dict) and set(part) - {"const"}:  # a condition names no property of its own
                yield f"{path}.{name}", bool(part.get("description"))
        for key, part in schema.items():
            yield from described(part, f"{path}.{key}")


@pytest.mark.parametrize(("kind", "ruleset"), ALL)
def test_every_field_is_described(kind: str, ruleset: str | None) -> None:
    """A new field of a record needs its line under `Attributes:` in the docstring of the record."""
    assert validator(kind, ruleset)
    found = dict(described(made(kind, ruleset)))
    abilities = ".skills.", ".abilities."  # what an ability is, players know
    assert [
        path for path, is_told in found.items() if not is_told and not any(part in path for part in abilities)
    ] == []
    assert found or kind in ("menus", "outcomes")


def test_records_describe_no_fields_that_they_lack() -> None:
    types = [kind.type_ for kind in KINDS.values() if kind.type_ is not None]
    stale = {
        f"{name}.{field}"
        for name, record in records_in(types).items()
        for field in documented(record)
        if field not in record.__struct_fields__
    }
    assert stale == set()


@pytest.mark.slow
def test_schemas_without_docstrings() -> None:
    line = [sys.executable, "-OO", "-m", "rpgres", "schema", "result", "fate"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    schema = json.loads(done.stdout)
    assert "description" not in schema["$defs"]["Result"]
    told = json.loads(msgspec.json.encode(resolve("fate", "overcome", skill=1, vs=2, seed=1, auto=True)))
    assert list(Draft202012Validator(schema).iter_errors(told)) == []


LOOKS = [
    ("odds-ladder", ["odds", "fate", "overcome", "--skill", "2"]),
    ("comparison", ["odds", "fate", "overcome", "--skill", "2", "--vs", "1", "--compare", "opposers=one"]),
    ("variation", ["odds", "fate", "overcome", "--skill", "0..1", "--vs", "0..2"]),
    ("decks", ["deck", "list"]),
    ("deck-shown", ["deck", "show", "saga/fate-96"]),
    ("deck-shown", ["deck", "show", "standard"]),
    ("rulesets", ["ruleset", "list"]),
    ("ruleset-shown", ["ruleset", "show", "fate"]),
    ("ruleset-shown", ["ruleset", "show", "saga"]),
    ("ruleset-shown", ["ruleset", "show", "percentile-levels"]),
    ("action-shown", ["ruleset", "show", "fate", "attack"]),
    ("action-shown", ["ruleset", "show", "saga", "act"]),
    ("action-shown", ["ruleset", "show", "highest-die", "check"]),
    ("ruleset-check", ["ruleset", "check", "fate"]),
    ("sheet-shown", ["sheet", "show", "mara"]),
    ("sheet-shown", ["sheet", "show", "ilse"]),
    ("check", ["sheet", "check", "mara"]),
    ("check", ["scene", "check", "fate/conformance"]),
    ("scene-test", ["scene", "test", "saga/broken-bridge"]),
    ("plugins", ["plugin", "list"]),
]


@pytest.mark.parametrize(
    ("kind", "line"), LOOKS, ids=lambda value: value if isinstance(value, str) else "-".join(value)
)
def test_what_looking_prints_is_what_the_schema_says(kind: str, line: list[str]) -> None:
    done = rpgres(*line, "--json")
    found = json.loads(done.stdout)
    assert faults(kind, None, found) == []
    other = next(name for name, _ in LOOKS if name != kind)
    assert faults(other, None, found) != []


def test_without_a_kind_all_are_listed() -> None:
    lines = rpgres("schema").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["batch", "files", *KINDS]
    assert all(len(line.split()) > 2 for line in lines)


def test_kinds_and_rulesets_that_are_not_there() -> None:
    for args, told in (
        (["shet"], "did you mean 'sheet'?"),
        (["result", "fat"], "did you mean 'fate'?"),
        (["sheet"], "rpgres schema sheet RULESET"),
    ):
        done = rpgres("schema", *args)
        assert (done.exit_code, done.stdout) == (2, "")
        assert told in done.stderr


# ---------------------------------------------------------------------------------------------------------------------
# What is printed

RUNS: list[tuple[str, dict[str, Any]]] = [
    ("overcome", {}),
    ("overcome", {"harms": True, "vs": "guards:fight"}),
    ("discover", {"variant": "establish"}),
    ("discover", {"variant": "reveal-aspect", "name": "Rotten Beam"}),
    ("create-advantage", {"name": "Sand in the Eyes", "on": "opponent", "vs": "4dF+2"}),
    ("attack", {"vs": "guards:fight"}),
    ("attack", {"vs": 1, "target": "guards"}),
    ("attack", {"vs": "edda:fight"}),
    ("defend", {"vs": "4dF+4"}),
    ("oppose", {}),
    ("compel", {"name": "Wanted in Three Ports"}),
    ("concede", {}),
]


def outcomes() -> Iterator[tuple[str, Any]]:
    """Yield what many runs of every action come to, decided by a policy and by nobody."""
    for action, more in RUNS:
        known = rules().parameters(action)
        inputs = {"skill": 3, "vs": 2} | more | {"sheet": "mara"}
        inputs = {name: value for name, value in inputs.items() if name == "sheet" or name in known}
        for seed in range(24 if effort.is_exhaustive else 8):
            for auto in (True, False):
                yield action, resolve("fate", action, seed=seed, auto=auto, **inputs)


@pytest.mark.slow
def test_results_and_pending_decisions() -> None:
    actions, kinds, bands = set(), set(), set()
    told = rules().file.effects
    for action, found in outcomes():
        record = json.loads(msgspec.json.encode(found))
        kind = "pending" if isinstance(found, Pending) else "result"
        assert faults(kind, None, record) == []
        assert faults(kind, "fate", record) == []
        assert not validator("pending" if kind == "result" else "result").is_valid(record)
        kinds.add(kind)
        actions.add(action)
        for effect in record.get("effects", ()):
            # Results may say more, but what ours say, ruleset.toml explains.
            assert set(effect) - {"kind"} <= set(told[effect["kind"]].fields), effect
        bands.add(record.get("outcome"))
    assert actions == {name for name, action in rules().file.actions.items() if not action.procedure}
    assert kinds == {"result", "pending"}
    assert {"fail", "tie", "succeed", "style", "set"} <= bands


def test_commands_print_what_their_schemas_say() -> None:
    assert faults("result", None, said("roll", "4dF+3", "--json")) == []
    assert faults("result", "lantern", said("roll", "lantern", "search", "--skill", "9", "--seed", "1", "--json")) == []
    waiting = said("roll", "lantern", "search", "--skill", "1", "--given", "roll=1,1", "--json", code=3)
    assert faults("pending", "lantern", waiting) == []
    for args in (["4d6kh3"], ["fate", "overcome", "--skill", "3", "--vs", "4dF"], ["fate", "overcome", "--skill", "1"]):
        odds = said("odds", *args, "--json")
        assert faults("odds", None, odds) == []
        if args[0] == "fate":
            assert faults("odds", "fate", odds) == []
    done = rpgres("roll", "fate", "overcom", "--json")
    assert done.exit_code == 2
    assert faults("error", None, json.loads(done.stderr)) == []


SCENE = """
ruleset = "fate"
seed = "7"
policy = "sensible"
[characters.mara]
sheet = "mara"
[characters.guard]
skills = { will = 1 }
played-by = "gm"
[[steps]]
id = "talk"
actor = "mara"
action = "overcome"
with = { skill = "rapport", vs = { character = "guard", skill = "will" } }
given = { roll = "0000", opposition = ["0000"] }
expect = { outcome = "succeed", effects = [{ kind = "goal" }] }
[[steps]]
id = "never"
actor = "mara"
action = "concede"
when = { talk = "fail" }
"""


def test_scenes_and_what_comes_of_them() -> None:
    assert faults("scene", None, tomllib.loads(SCENE)) == []
    assert faults("scene", "fate", tomllib.loads(SCENE)) == []
    result = said("scene", "run", "-", "--json", stdin=SCENE)
    assert [step.get("skipped", False) for step in result["steps"]] == [False, True]
    assert faults("scene-result", None, result) == []
    assert faults("scene-result", "fate", result) == []
    result["steps"][0]["outcome"] = "wonderful"
    assert faults("scene-result", "fate", result) != []


def test_batch_requests_and_answers() -> None:
    request = {"ruleset": "fate", "action": "overcome", "with": {"skill": 3, "vs": "fair"}, "seed": 7, "id": [1]}
    for ruleset in (None, "fate"):
        assert faults("request", ruleset, request) == []
        assert faults("request", ruleset, request | {"wiht": {}}) != []
    assert faults("request", "fate", request | {"with": {"skil": 3}}) == [
        "['with']: Additional properties are not allowed ('skil' was unexpected)"
    ]
    answers = [json.loads(line) for line in rpgres("batch", stdin=json.dumps(request) + "\n{}\n").stdout.splitlines()]
    assert faults("result", "fate", answers[0]) == []
    assert faults("error", None, answers[1]) == []


# ---------------------------------------------------------------------------------------------------------------------
# Files

SHIPPED = {
    "ruleset": sorted(FATE.parent.glob("*/ruleset.toml")),
    "menus": sorted(FATE.parent.glob("*/menus.toml")),
    "outcomes": sorted(FATE.parent.glob("*/outcomes/*.toml")),
    "sheet": sorted(FATE.parent.glob("*/sheets/*.toml")),
    "scene": sorted(FATE.parent.glob("*/scenes/*.toml")),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_files_that_ship(kind: str, exhaustive: bool) -> None:
    for number, path in enumerate(SHIPPED[kind]):
        if kind in ("ruleset", "scene") and number % 2 and not exhaustive:
            continue  # what editors say of each is asked in test_editors.py
        if kind != "sheet" and (exhaustive or number % 3 == 0):  # the schemas of rulesets, below, say more
            # What builds on kits is complete only with them.
            own = toml(FATE.parent / path.relative_to(FATE.parent).parts[0] / "ruleset.toml")
            assert "kits" in own or faults(kind, None, toml(path)) == [], path
        ruleset = path.relative_to(FATE.parent).parts[0]
        if kind != "scene" or toml(path)["ruleset"] == ruleset:
            assert faults(kind, ruleset, toml(path)) == [], path


def test_files_of_a_third_party_are_described_too(work: Path) -> None:
    data = toml(work.parent / "site" / "rpgres_lantern" / "ruleset.toml")
    assert faults("ruleset", None, data) == []
    assert faults("ruleset", "lantern", data) == []
    data["outcomes"]["search"]["found"]["efects"] = []
    assert len(faults("ruleset", None, data)) == 1


HOUSE_RULES = [
    ("ruleset", '[switches.fail_chooser]\ndefault = "actor"'),
    ("ruleset", "[switches]\nfail_chooser = { remove = true }"),
    ("ruleset", "[actions.overcome]\ntables = []"),
    ("ruleset", "[actions]\nconcede = { remove = true }"),
    ("outcomes", "[fail.ask.price]\noptions = { cost = { remove = true } }"),
    ("outcomes", '[tie]\neffects = [{ kind = "boost", to = "actor", when = { fail_chooser = "gm" } }]'),
    ("menus", '[minor-cost.options.coin]\ntext = "A coin."\neffects = [{ kind = "cost", size = "minor" }]'),
]


@pytest.mark.parametrize(("kind", "text"), HOUSE_RULES)
def test_house_rules_say_only_what_differs(kind: str, text: str) -> None:
    assert faults(kind, "fate", tomllib.loads(text)) == []


MISTAKES = [
    ("ruleset", '[switches.fail_chooser]\ndefault = "nobody"', "is not valid under any of the schemas"),
    ("ruleset", "[actoins]", "'actoins' was unexpected"),
    ("outcomes", "[failure]\ntext = 'x'", "'failure' was unexpected"),
    ("outcomes", '[tie]\neffects = [{ kind = "bost", to = "actor" }]', "is not valid under any of the schemas"),
    ("outcomes", '[tie]\neffects = [{ kind = "boost", too = "actor" }]', "is not valid under any of the schemas"),
    ("sheet", "[skills]\nfigth = 2", "'figth' was unexpected"),
    ("sheet", "[skills]\nfight = 99", "99 is greater than the maximum of 12"),
    ("sheet", "[stress]\nphysical = 2", '2 is not of type "array"'),
    ("sheet", '[consequences]\ntiny = "x"', "'tiny' was unexpected"),
    ("scene", 'ruleset = "fate"\n[[steps]]\naction = "overcom"', '"overcom" is not one of'),
    ("scene", 'ruleset = "fate"\n[[steps]]\naction = "overcome"\nwith = { skil = 1 }', "'skil' was unexpected"),
    ("scene", 'ruleset = "fate"\n[[steps]]\naction = "oppose"\ngiven = { rol = "++++" }', '"rol" is not one of'),
    ("scene", 'ruleset = "fate"\n[characters.mara]\nskils = {}', "'skils' was unexpected"),
    ("scene", 'ruleset = "fate"\n[switches]\nopposers = "two"', '"two" is not one of "highest" or "one"'),
]


@pytest.mark.parametrize(("kind", "text", "told"), MISTAKES)
def test_mistakes_are_found(kind: str, text: str, told: str) -> None:
    found = faults(kind, "fate", tomllib.loads(text))
    assert any(told in fault for fault in found), found


def test_sheets_offer_names_to_an_editor() -> None:
    sheet = made("sheet", "fate")["$defs"]["Sheet"]["properties"]
    assert list(sheet) == ["ruleset", *rules().file.sheet, "orders"]
    assert sheet["refresh"] == {
        "description": rules().file.sheet["refresh"].help,
        "type": "integer",
        "minimum": 1,
        "maximum": 20,
        "default": 3,
    }
    assert list(sheet["skills"]["properties"]) == rules().file.sheet["skills"].names
    assert list(sheet["stress"]["properties"]) == ["physical", "mental", "consequences"]
    assert list(sheet["consequences"]["properties"]) == ["mild", "moderate", "severe", "mild-physical", "mild-mental"]


ORDERS = """
[[orders]]
ask = ["price", "cost"]
when = { "self.tracks.physical.free" = "<= 1", "self.is-out" = false, "counters.fate-points" = [0, ">= 3"] }
choose = { fail = 1, cost = 2 }
note = "When it gets tight."
[[orders]]
ask = "invoke"
choose = ["*reroll*", "no"]
[[orders]]
choose = { lowest = "cost" }
[[orders]]
policy = "sensible"
"""


@pytest.mark.parametrize(
    ("kind", "around"),
    [("orders", "{}"), ("sheet", 'name = "Ada"\n{}'), ("scene", 'ruleset = "fate"\n[characters.ada]\n{}')],
)
def test_standing_orders_have_one_form_everywhere(kind: str, around: str) -> None:
    at = "characters.ada.orders" if kind == "scene" else "orders"
    text = around.format(ORDERS.replace("[[orders]]", f"[[{at}]]"))
    assert faults(kind, "fate", tomllib.loads(text)) == []
    for old, new in (
        ('"price", "cost"', '"prise"'),
        ("choose = { fail = 1, cost = 2 }", 'note2 = "x"'),
        ("choose = { fail = 1, cost = 2 }", 'policy = "sensible"\nchoose = "fail"'),
        ('"<= 1"', "1.5"),
    ):
        assert faults(kind, "fate", tomllib.loads(text.replace(old, new))), new


def test_named_orders_of_a_scene() -> None:
    text = 'ruleset = "fate"\npolicy = "brave"\n' + ORDERS.replace("[[orders]]", "[[orders.brave]]")
    assert faults("scene", "fate", tomllib.loads(text)) == []


def test_no_record_lets_msgspec_crash_at_the_end_of_a_process() -> None:
    """A text with a pattern, in a union, in a record that may hold itself, is freed twice at exit now and then."""
    unions = {
        f"{name}.{field.name}": field.type
        for name, record in records_in([kind.type_ for kind in KINDS.values() if kind.type_ is not None]).items()
        for field in msgspec.inspect.type_info(record).fields  # type: ignore[attr-defined]
        if isinstance(field.type, msgspec.inspect.UnionType)
    }
    assert unions
    bounded = [
        name
        for name, union in unions.items()
        if any(isinstance(one, msgspec.inspect.StrType) and one.pattern for one in union.types)
    ]
    assert bounded == []


@pytest.mark.slow
def test_a_record_names_its_schema() -> None:
    record = json.loads(rpgres("scene", "run", "fate/bribe", "--json").stdout)
    schema = json.loads(rpgres("schema", record["format"]).stdout)
    assert schema["$id"] == json.loads(rpgres("schema", "scene-result").stdout)["$id"]
    Draft202012Validator(schema).validate(record)
    tags = [kind.type_.__struct_config__.tag for kind in KINDS.values() if hasattr(kind.type_, "__struct_config__")]
    formats = [tag for tag in tags if tag is not None]
    assert len(formats) == len(set(formats)) > 35
    for tag in formats:
        assert f'"{tag}"' in json.dumps(make_schema(tag))
