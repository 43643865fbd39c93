"""`rpgres ruleset new`: every ruleset in TOML can be made into another, which works as it is written."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from rpgres.plugins.discovery import ruleset_names
from rpgres.plugins.entries import BUILTIN
from rpgres.rulesets import builtin_folder
from tests.support.command_line import completions, rpgres
from tests.support.effort import few
from tests.support.terminal import ENTER, Terminal

SHIPPED = builtin_folder().absolute()
MODELS = sorted(folder.name for folder in SHIPPED.iterdir() if folder.is_dir() and folder.name not in BUILTIN)


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(like: str, *args: str, name: str = "lantern-walk") -> list[str]:
    """Make a ruleset and return the command lines to type next."""
    done = rpgres("ruleset", "new", name, "--like", like, *args)
    assert (done.code, done.err) == (0, "")
    head, *steps = done.out.splitlines()
    assert head == f"{Path('rulesets') / name}: written. Next steps:"
    return [step.strip() for step in steps]


@pytest.mark.slow
@pytest.mark.parametrize("like", few(MODELS, 4))
def test_what_comes_of_it_works_under_words_of_its_own(like: str, work: Path) -> None:
    """Every name that can be chosen is another one, and nothing of the old ones is left."""
    words = ["--title", 'A "Walk"', "--summary", "Walk on.", "--action", "Set Out", "--character", "Ivo Ätz"]
    steps = made(like, *words, "--abilities", "nerve, Dark Lore, hören, hands, ears, feet, nose")
    checked = rpgres("ruleset", "check", "lantern-walk")
    assert (checked.code, checked.out) == (0, "lantern-walk: ok\n")
    for step in steps:
        if "--watch" not in step:
            _, *args = shlex.split(step)
            done = rpgres(*args)
            assert (done.code, done.err) in ((0, ""), (3, "")), (step, done)
    for scene in Path("rulesets").rglob("scenes/*.toml"):
        assert rpgres("scene", "test" if "expect" in scene.read_text("utf-8") else "run", str(scene)).code == 0
    texts = {path: path.read_text("utf-8") for path in Path("rulesets").rglob("*.toml")}
    main = texts[Path("rulesets/lantern-walk/ruleset.toml")]
    assert 'title = "A \\"Walk\\""' in main
    assert "[actions.set-out]" in main
    assert rpgres("roll", "lantern-walk", "set-out", "-h").code == 0
    assert not [path for path, text in texts.items() if re.search(rf"\"{like}\"|rpgres \w+ {like}\b", text)]


def test_nothing_but_names_and_notes_differs_where_nothing_is_chosen(work: Path) -> None:
    made("percentile-fractions", "--title", "Fractions")
    own = (SHIPPED / "percentile-fractions" / "ruleset.toml").read_text("utf-8").splitlines()
    new = Path("rulesets/lantern-walk/ruleset.toml").read_text("utf-8").splitlines()
    kept = [line for line in new if not line.startswith("#")]
    plain = [line.replace("percentile-fractions", "lantern-walk") for line in own if not line.startswith("#")]
    assert [line for line in kept if line not in plain] == [
        'title = "Fractions"',
        'credits = "Made from the ruleset percentile-fractions of rpgres."',
    ]
    notes = [line for line in new if line.startswith("#") and line not in own]
    assert len(notes) >= 10
    assert not [line for line in own if line.startswith("#") and line not in new]


@pytest.mark.slow
def test_names_may_change_places(work: Path) -> None:
    made("success-levels", "--abilities", "bargain, axe, ride")
    sheet = Path("rulesets/lantern-walk/sheets/brida.toml").read_text("utf-8")
    assert "skills = { bargain = 48, axe = 35, ride = 41 }" in sheet


@pytest.mark.slow
def test_five_questions_at_a_terminal(work: Path) -> None:
    shown = Terminal(["ruleset", "new", "bell", "--like", "success-levels"], PWD=str(work))
    asked = []
    for answer in ("The Bell", "", "Dive", "", "Ivo"):
        asked.append(shown.until("] ").splitlines()[-1])
        shown.type(answer + ENTER)
    code, told = shown.end()
    assert code == 0, told
    assert [question.partition(" [")[0] for question in asked] == [
        "What is the game called?",
        "What is it, in a line?",
        "What do characters do, in a word?",
        "What are they good at, by commas?",
        "Who is the first of them?",
    ]
    assert asked[3].endswith("[axe, ride, bargain] ")
    assert "  rpgres roll bell dive --skill 45\n" in told
    assert Path("rulesets/bell/sheets/ivo.toml").exists()


@pytest.mark.slow
def test_a_terminal_offers_what_it_can_be_like(work: Path) -> None:
    shown = Terminal(["ruleset", "new", "bell"])
    listed = shown.until("[action-and-challenge] ")
    assert "highest-die" in listed
    assert listed.count("\n") < 24
    shown.type("hihgest-die" + ENTER)
    assert "there is no 'hihgest-die'; did you mean 'highest-die'?" in shown.until("[action-and-challenge] ")
    assert not re.search(r"^saga", listed, re.MULTILINE)
    assert shown.interrupt()[0] == 130
    assert list(work.iterdir()) == []


@pytest.mark.slow
def test_an_answer_that_does_not_fit_is_asked_for_again(work: Path) -> None:
    shown = Terminal(
        ["ruleset", "new", "bell", "--like", "success-levels", "--title=Bell", "--summary=A bell."], PWD=str(work)
    )
    for answer in ("attack", "", "Ivo"):
        shown.until("] ")
        shown.type(answer + ENTER)
    told = shown.until("[attack] ")
    assert "there is another action 'attack' already; choose another word" in told
    for answer in ("dive", "", ""):
        shown.type(answer + ENTER)
    code, told = shown.end()
    assert code == 0, told
    assert Path("rulesets/bell/sheets/ivo.toml").exists()


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["bell"], 2, "name a ruleset to start from, with --like: action-and-challenge, again-pool"),
        (["bell", "--like", "saga"], 2, "saga has rules in code"),
        (["bell", "--like", "succes-levels"], 2, "did you mean 'success-levels'?"),
        (["fate", "--like", "success-levels"], 2, "a ruleset shipped with rpgres: Fate"),
        (["d20", "--like", "success-levels"], 2, "dice notation"),
        (["bell", "--like", "success-levels", "--action", "attack"], 2, "there is another action 'attack' already"),
        (["bell", "--like", "success-levels", "--abilities", "ride"], 2, "'ride' is another ability already"),
        (["bell", "--like", "success-levels", "--character", " "], 2, "'' has no name for the command line"),
    ],
)
def test_what_cannot_be_leaves_nothing_behind(args: list[str], code: int, told: str, work: Path) -> None:
    done = rpgres("ruleset", "new", *args)
    assert (done.code, done.out) == (code, "")
    assert told in " ".join(done.err.split())
    assert [path for path in work.rglob("*") if path.is_file()] == []


def test_nothing_is_overwritten(work: Path) -> None:
    there = work / "rulesets" / "bell"
    there.mkdir(parents=True)
    done = rpgres("ruleset", "new", "bell", "--like", "success-levels")
    assert (done.code, done.out) == (1, "")
    assert "already exists; nothing was written" in done.err
    assert os.listdir(there) == []


@pytest.mark.slow
def test_another_folder_is_named_in_what_to_type_next(work: Path) -> None:
    done = rpgres("ruleset", "new", "bell", "--like", "twenty-over", "--into", "my games")
    assert done.code == 0
    steps = [shlex.split(step)[1:] for step in done.out.splitlines()[1:]]
    assert all("my games" in " ".join(step) for step in steps)
    assert [step for step in steps if "--watch" not in step and rpgres(*step).code] == []


@pytest.mark.slow
def test_its_own_are_offered_and_can_be_the_model(work: Path) -> None:
    made("success-levels", "--action", "dive", name="bell")
    assert "bell" in completions("rpgres ruleset new gong --like ")
    made("bell", name="gong")
    assert "[actions.dive]" in Path("rulesets/gong/ruleset.toml").read_text("utf-8")
    assert Path("rulesets/gong/ruleset.toml").read_text("utf-8").count("#:schema") == 1
    assert {"bell", "gong"} <= {one.id for one in ruleset_names()}


@pytest.mark.slow
def test_a_line_end_in_a_title_stays_in_the_comment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = rpgres("ruleset", "new", "mine", "--like", "success-levels", "--title", "One\nstandalone = false")
    assert ran.code == 0, ran.err
    text = Path("rulesets/mine/ruleset.toml").read_text("utf-8")
    assert "# One standalone = false: a ruleset of your own" in text
