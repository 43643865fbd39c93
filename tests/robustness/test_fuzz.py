"""Files and requests from elsewhere: whatever is in them, only our own errors come out."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rpgres.catalog.decks import describe_deck, find_deck, list_decks
from rpgres.catalog.sheets import diagnose_sheet, sheet_record, sheet_template
from rpgres.catalog.summary import describe_ruleset
from rpgres.cli.checks import rulesets as ruleset_checks
from rpgres.cli.commands import batch
from rpgres.cli.commands import ruleset as ruleset_command
from rpgres.cli.completion import label_records, switch_records
from rpgres.cli.dynamic import inputs_of
from rpgres.dice.seeds import Streams
from rpgres.engine.prepare import policies_of, prepare
from rpgres.engine.records import error_record
from rpgres.engine.run import run
from rpgres.errors import RpgresError
from rpgres.formats.schemas import make_schema
from rpgres.lint.overlays import stray_folders
from rpgres.plugins.discovery import claimed_ids, find_ruleset, ruleset_names
from rpgres.plugins.entries import misnamed_folders
from rpgres.plugins.loading import load_rules, read_ruleset
from rpgres.render.decks import deck_lines
from rpgres.render.lines import Look, plain_text
from rpgres.render.rulesets import ruleset_lines
from rpgres.render.sheets import sheet_lines
from rpgres.rulesets import builtin_folder
from rpgres.rulesets.sheets import read_sheet
from rpgres.scenes import prove_scene, read_scene, scene_diagnostics
from rpgres.text.harmless import to_json
from rpgres.toml.reading import read_source
from tests.support.fuzz import STRANGE, changed, spoilt, toml_bytes

pytestmark = pytest.mark.slow

SAMPLE, EXHAUSTIVE = 30, 2000  # seeds for each kind of file, without and with --exhaustive
SAMPLES = ("two-dice", "highest-die", "twenty-sided-advantage", "percentile-levels", "again-pool")
SHIPPED = builtin_folder()


def loaded(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


def polite(work: Callable[[], object]) -> object:
    """Do something that may fail with an error of our own, and return what came of it."""
    try:
        return work()
    except RpgresError as error:
        told = error_record(error)
    assert told["message"]
    to_json(told)
    return None


def used(ruleset_id: str, root: Path, rng: random.Random) -> None:
    """Use a ruleset for one of the things that its data are read for, and then for play."""
    extra = (root,)
    match rng.randrange(3):
        case 0:  # what lists everybody's never fails
            ruleset_names(extra=extra)
            ruleset_command._homemade_problems(ruleset_id, extra)
            stray_folders(claimed_ids(extra=extra), extra=extra)
            misnamed_folders(extra=extra)
        case 1:
            polite(lambda: ruleset_checks._checked(ruleset_id, extra))
        case _:
            polite(partial(helped, ruleset_id, extra))
    rules = polite(lambda: load_rules(find_ruleset(ruleset_id, extra=extra), extra=extra))
    if rules is not None:
        match rng.randrange(3):
            case 0:
                polite(lambda: plain_text(ruleset_lines(describe_ruleset(rules))))
            case 1:
                polite(lambda: make_schema("scene", rules=rules))
            case _:
                polite(lambda: sheet_template(rules))
        for action in rules.file.actions:
            polite(partial(played, rules, action))


def helped(ruleset_id: str, extra: tuple[Path, ...]) -> None:
    data = read_ruleset(ruleset_id, extra=extra)
    switch_records(data)
    for action in data.file.actions:
        inputs_of(data, action)
        polite(partial(label_records, data, action))


def played(rules: Any, action: str) -> None:
    for inputs in ({}, {"skill": 1, "trait": 1, "bonus": 1, "vs": 5, "dice": 2}):
        prepared = prepare(rules, action, {key: inputs[key] for key in rules.parameters(action) if key in inputs})
        run(prepared, streams=Streams("1"), policies=policies_of(prepared, {}, auto=True))


def a_ruleset(rng: random.Random, root: Path) -> None:
    (root / "home").mkdir(exist_ok=True)
    data = loaded(SHIPPED / rng.choice(SAMPLES) / "ruleset.toml")
    (root / "home" / "ruleset.toml").write_bytes(toml_bytes(data, rng))
    used("home", root, rng)


def an_overlay(rng: random.Random, root: Path) -> None:
    base = rng.choice((*SAMPLES, *SAMPLES, *SAMPLES, *SAMPLES, *SAMPLES, *SAMPLES, "fate", "saga"))
    folder = root / base
    folder.mkdir(exist_ok=True)
    data = {key: value for key, value in loaded(SHIPPED / base / "ruleset.toml").items() if key != "standalone"}
    key = rng.choice([*data])
    name = "ruleset.toml"
    tables = sorted((SHIPPED / base / "outcomes").glob("*.toml"))
    if tables and rng.randrange(2):
        (folder / "outcomes").mkdir(exist_ok=True)
        data = loaded(table := rng.choice(tables))
        key, name = rng.choice([*data]), f"outcomes/{table.name}"
    (folder / name).write_bytes(toml_bytes({key: data[key]}, rng))
    try:
        used(base, root, rng)
    finally:
        (folder / name).unlink()


def a_sheet(rng: random.Random, root: Path) -> None:
    path = rng.choice(SHEETS)
    rules = RULES[path.parent.parent.name]
    file = root / "somebody.toml"
    file.write_bytes(toml_bytes(loaded(path), rng))
    polite(lambda: diagnose_sheet(rules, read_source(file)))
    sheet = polite(lambda: read_sheet(rules, str(file)))
    if sheet is not None:
        to_json(sheet_record(rules, sheet))
        plain_text(sheet_lines(rules, sheet, loaded_again(file)), Look(is_drawn=True))


def loaded_again(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_bytes().decode("utf-8-sig"))


def a_scene(rng: random.Random, root: Path) -> None:
    path = rng.choice(SCENES)
    file = root / "scene.toml"
    file.write_bytes(toml_bytes(loaded(path), rng))
    if rng.randrange(2):
        polite(lambda: scene_diagnostics(read_source(file), find_ruleset=find_ruleset, folder=path.parent))
        return
    scene = polite(lambda: read_scene(read_source(file), find_ruleset=find_ruleset, folder=path.parent))
    if scene is not None and len(scene.file.steps) < 4:
        polite(lambda: prove_scene(scene, seed="1"))


def a_deck(rng: random.Random, root: Path) -> None:
    base, path = rng.choice(DECKS)
    folder = root / base / "decks"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_bytes(toml_bytes(loaded(path), rng))
    list_decks(base, extra=(root,))
    found = polite(lambda: find_deck(f"{base}/{path.stem}", extra=(root,)))
    if found is not None:
        to_json(describe_deck(found))
        plain_text(deck_lines(describe_deck(found)))


REQUESTS: list[dict[str, Any]] = [
    {"ruleset": "fate", "action": "overcome", "with": {"skill": 3, "vs": 2}, "given": {"roll": "+00-"}, "seed": 7},
    {"ruleset": "fate", "action": "attack", "with": {"skill": "fight=3", "vs": "4dF+2", "aspect": ["Fog=1", "Mud"]}},
    {"ruleset": "fate", "action": "overcome", "with": {"sheet": "mara", "skill": "resources", "vs": 3}, "auto": True},
    {"ruleset": "saga", "action": "act", "with": {"ability": "strength=8", "vs": "average", "hand": "St6,Ag3,Do8"}},
    {"ruleset": "faith", "action": "confront", "with": {"skill": 3, "attribute": 2, "against": ["b:skill=3"]}},
    {"ruleset": "two-dice", "action": "try", "with": {"trait": 1}, "choose": {"x": ["a", "b"]}, "note": "n", "id": 1},
    {"notation": "4d6kh3", "given": {"roll": "1,2,3,4"}, "id": {"a": [1]}},
]


def a_request(rng: random.Random, root: Path) -> None:
    strange = [one for one in STRANGE if not str(one(random.Random(1))).startswith(("2024-02", "01:02"))]
    request = changed(rng.choice(REQUESTS), rng, strange=strange)
    line = json.dumps(request).encode()
    line = spoilt(line, rng) if rng.randrange(5) == 0 else line
    answer = batch._answer(rng.choice((1, 2)), line, ())
    assert answer.get("code") != "internal", (line[:300], answer)
    json.loads(to_json(answer))


SHEETS = sorted(SHIPPED.glob("*/sheets/*.toml"))
SCENES = [path for path in sorted(SHIPPED.glob("*/scenes/*.toml")) if len(path.read_bytes()) < 4000]
DECKS = [(path.parent.parent.name, path) for path in sorted(SHIPPED.glob("*/decks/*.toml"))]
RULES: dict[str, Any] = {}
KINDS: dict[str, Callable[[random.Random, Path], None]] = {
    "ruleset": a_ruleset,
    "overlay": an_overlay,
    "sheet": a_sheet,
    "scene": a_scene,
    "deck": a_deck,
    "request": a_request,
}


@pytest.fixture(autouse=True)
def rules_of_sheets() -> Iterator[None]:
    RULES.update({path.name: load_rules(find_ruleset(path.name)) for path in SHIPPED.iterdir() if path.is_dir()})
    yield
    RULES.clear()


@pytest.mark.parametrize("kind", KINDS)
def test_only_our_own_errors_come_out(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exhaustive: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in range(EXHAUSTIVE if exhaustive else SAMPLE):
        try:
            KINDS[kind](random.Random(f"{kind} {seed}"), tmp_path)
        except Exception as error:
            raise AssertionError(f"{kind}, seed {seed}: {type(error).__name__}: {error}") from error
