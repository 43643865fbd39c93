"""What `import rpgres` gives to bots and scripts: the records of the commands' JSON, without a command line."""

from __future__ import annotations

import doctest
import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import icepool
import msgspec
import pytest

import rpgres
from rpgres.model.printed import Printed
from rpgres.simulate import blocks
from tests.support.command_line import rpgres as command

BASE = {"format": "rpgres.rulesets/1", "version": rpgres.__version__}
TERMINAL = ("rich", "typer", "click", "prompt_toolkit", "readline", "curses", "termios")


@pytest.mark.slow
@pytest.mark.parametrize("module", ["calls", "notebook", "odds", "scene_odds", "scenes", "simulations", "studies"])
def test_examples_of_docstrings(module: str) -> None:
    found = importlib.import_module(f"rpgres.library.{module}")
    done = doctest.testmod(found, extraglobs={"odds": rpgres.odds})
    assert done.attempted
    assert not done.failed


def as_json(record: object) -> object:
    return json.loads(msgspec.json.encode(record))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("record", "line"),
    [
        pytest.param(lambda: rpgres.roll("4d6kh3", seed=7), "roll 4d6kh3 --seed 7", id="roll"),
        pytest.param(lambda: rpgres.roll("2d20 vs 15", seed="x"), "roll '2d20 vs 15' --seed x", id="roll-compared"),
        pytest.param(lambda: rpgres.odds("4d6kh3"), "odds 4d6kh3", id="odds-of-dice"),
        pytest.param(lambda: rpgres.odds("3d6", by="total"), "odds 3d6 --by total", id="odds-of-dice-by"),
        pytest.param(
            lambda: rpgres.odds("fate", "overcome", skill="3", vs=["2"]),
            "odds fate overcome --skill 3 --vs 2",
            id="odds",
        ),
        pytest.param(
            lambda: rpgres.odds("fate", "overcome", skill="3", vs=["4dF+1"], by="margin", note="n"),
            "odds fate overcome --skill 3 --vs 4dF+1 --by margin --note n",
            id="odds-by-margin",
        ),
        pytest.param(
            lambda: rpgres.odds("fate", "overcome", skill="burglary", sheet="mara", vs=["3"], auto=True),
            "odds fate overcome --skill burglary --sheet mara --vs 3 --auto",
            id="odds-auto",
        ),
        pytest.param(lambda: rpgres.odds("fate", "overcome", skill="3"), "odds fate overcome --skill 3", id="ladder"),
        pytest.param(
            lambda: rpgres.odds_table("fate", "overcome", {"skill": range(3), "vs": [1, "4dF"]}),
            "odds fate overcome --skill 0..2 --vary vs=1,4dF",
            id="grid",
        ),
        pytest.param(
            lambda: rpgres.odds_table("fate/bribe", None, {"characters.guards.skills.will": range(3)}, auto=True),
            "odds fate/bribe --vary characters.guards.skills.will=0..2 --auto",
            id="grid-of-a-scene",
        ),
        pytest.param(
            lambda: rpgres.odds_compare("fate", "overcome", {"skill=4": {"skill": 4}}, skill="3", vs=["2"], note="n"),
            "odds fate overcome --skill 3 --vs 2 --compare skill=4 --note n",
            id="compare",
        ),
        pytest.param(
            lambda: rpgres.odds_compare(
                "fate/bribe", None, {"fail_chooser=actor": {"fail_chooser": "actor"}}, policies={"": "sensible"}
            ),
            "odds fate/bribe --compare fail_chooser=actor --policy sensible",
            id="compare-scenes",
        ),
        pytest.param(
            lambda: rpgres.odds_scene("fate/bribe", auto=True, note="n"),
            "odds fate/bribe --auto --note n",
            id="scene-odds",
        ),
        pytest.param(
            lambda: rpgres.odds_scene(
                "fate/bribe", by="characters.mara.counters.fate-points", policies={"mara": "sensible"}, auto=True
            ),
            "odds fate/bribe --by characters.mara.counters.fate-points --policy mara=sensible --auto",
            id="scene-odds-by",
        ),
        pytest.param(
            lambda: rpgres.odds_scene(
                "fate", "contest", auto=True, skill="3", vs=["2"], victories="1", exchanges="2", by="exchanges"
            ),
            "odds fate/contest --auto --skill 3 --vs 2 --victories 1 --exchanges 2 --by exchanges",
            id="procedure-odds",
        ),
        pytest.param(
            lambda: rpgres.odds_table("fate", "contest", {"skill": [2, 3]}, auto=True, vs=["2"], victories="1"),
            "odds fate/contest --auto --vary skill=2,3 --vs 2 --victories 1",
            id="procedure-grid",
        ),
        pytest.param(
            lambda: rpgres.odds_best("again-pool/the-debt", best="ondra", goal="success", note="n"),
            "odds again-pool/the-debt --best ondra --goal success --note n",
            id="best-of-a-scene",
        ),
        pytest.param(
            lambda: rpgres.odds_best("fate", "contest", skill="3", vs=["2"], victories="1", exchanges="1"),
            "odds fate/contest --best --skill 3 --vs 2 --victories 1 --exchanges 1",
            id="best-of-a-procedure",
        ),
        pytest.param(
            lambda: rpgres.simulate("fate", "overcome", runs=50, seed=7, workers=1, skill="3", vs=["2"]),
            "simulate fate overcome -n 50 --seed 7 --skill 3 --vs 2 --workers 1",
            id="simulate",
        ),
        pytest.param(
            lambda: rpgres.simulate("fate/bribe", runs=20, seed=7, auto=True, by=["characters.mara.title"]),
            "simulate fate/bribe -n 20 --seed 7 --auto --by characters.mara.title",
            id="simulate-a-scene",
        ),
        pytest.param(lambda: rpgres.run_scene("fate/bribe"), "scene run fate/bribe", id="scene"),
        pytest.param(
            lambda: rpgres.run_scene("fate/bribe", seat="mara"), "scene run fate/bribe --as mara", id="scene-of-a-seat"
        ),
        pytest.param(lambda: rpgres.load_sheet("mara", "fate"), "sheet show mara --ruleset fate", id="sheet"),
        pytest.param(lambda: {**BASE, "rulesets": rpgres.rulesets(), "problems": []}, "ruleset list", id="rulesets"),
    ],
)
def test_a_call_returns_what_the_command_prints(record: object, line: str) -> None:
    import shlex

    done = command(*shlex.split(line), "--json")
    assert done.code == 0, done.err
    assert as_json(record()) == json.loads(done.out)  # type: ignore[operator]


def test_odds_are_exact() -> None:
    law = icepool.d6.highest(4, 3)
    told = {int(value): Fraction(chance.exact) for value, chance in rpgres.odds("4d6kh3").outcomes.items()}
    assert told == {int(total): law.probability(total) for total in law}


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: rpgres.roll("4d"), rpgres.NotationError, "4d"),
        (lambda: rpgres.roll(5), rpgres.UsageError, "not 5"),  # type: ignore[arg-type]
        (lambda: rpgres.odds("fate", "overcom", skill=3), rpgres.UsageError, "overcome"),
        (lambda: rpgres.odds("fate", "overcome", skil=3, vs=2), rpgres.UsageError, "skill"),
        (lambda: rpgres.odds("fate", "overcome", skill=3, vs=2, decide="bes"), rpgres.UsageError, "best"),
        (lambda: rpgres.odds("fate", "overcome", skill=3, by="margin"), rpgres.UsageError, "vs"),
        (lambda: rpgres.odds("fate", "conflict"), rpgres.UsageError, "procedure"),
        (lambda: rpgres.odds("4d6", skill=3), rpgres.UsageError, "odds"),
        (lambda: rpgres.odds("nosuch", "overcome"), rpgres.UsageError, "nosuch"),
        (lambda: rpgres.odds_table("fate", "overcome", {"skil": [1]}, vs=2), rpgres.UsageError, "skill"),
        (lambda: rpgres.open_table("nowhere.db"), rpgres.TableError, "no table"),
    ],
)
def test_errors_are_typed(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("call", "here"),
    [
        (lambda: rpgres.odds("fate", "overcome", skill=3, vs=2, best=True), 'here it is decide="best"'),
        (lambda: rpgres.odds("fate", "overcome", skill=3, vs=2, each=True), 'here it is decide="each"'),
        (lambda: rpgres.odds("fate", "overcome", skill=3, vs=2, policy="x"), "here it is policies={'': 'x'}"),
        (lambda: rpgres.odds("fate", "overcome", policies="x"), "a policy for everybody is policies={'': 'x'}"),  # type: ignore[call-overload]
        (lambda: rpgres.odds_scene("fate/gate", best="mara"), "here it is odds_best(...)"),
        (lambda: rpgres.simulate("fate", "overcome", runs=2, skill=3, vs=2, policy="x"), "policies={'': 'x'}"),
    ],
)
def test_options_of_the_command_line_are_told_by_the_keyword_of_the_call(call: Callable[[], object], here: str) -> None:
    with pytest.raises(rpgres.UsageError) as error:
        call()
    assert error.value.message.endswith(here)


def modules_after(code: str) -> set[str]:
    """Return the modules of a fresh process after some code."""
    code = f"import rpgres\n{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


@pytest.mark.slow
def test_no_call_brings_a_terminal_library() -> None:
    assert not {name for name in modules_after("") if name.startswith("rpgres.")} - {"rpgres.version"}
    used = "rpgres.roll('4dF'); rpgres.odds('fate', 'overcome', skill=3, vs=2); rpgres.odds('4d6')"
    assert not modules_after(f"{used}; rpgres.open_table, rpgres.resolve").intersection(TERMINAL)


@pytest.mark.slow
def test_a_script_ends_well() -> None:
    """Python's own checks of memory see what would be an occasional crash at the end of a script."""
    code = "import rpgres; rpgres.odds('fate', 'overcome', skill=3, vs=2); print(rpgres.odds_scene('fate/gate').method)"
    done = subprocess.run([sys.executable, "-X", "dev", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "exact\n"), done.stderr


@pytest.mark.slow
def test_folders_of_the_house_do_not_take_the_place_of_functions() -> None:
    code = "import rpgres.odds.exact, rpgres.simulate, rpgres.rulesets\nprint(rpgres.odds('d6').mean)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "3.5\n"


def test_what_if_of_an_action_and_of_a_scene(tmp_path: Path) -> None:
    before = rpgres.resolve("fate", "overcome", skill=1, vs=2, seed=7, choose={"price": "fail"})
    assert isinstance(before, rpgres.Result)
    file = tmp_path / "before.json"
    file.write_bytes(msgspec.json.encode(before))
    printed = command("whatif", str(file), "--given", "roll=++++", "--json")
    record = rpgres.whatif(before, given={"roll": "++++"})
    assert as_json(record) == json.loads(printed.out)
    scene = rpgres.run_scene("fate/gate")
    file.write_bytes(msgspec.json.encode(scene))
    printed = command("whatif", str(file), "--given", "bribe.roll=++++", "--json")
    assert as_json(rpgres.whatif(scene, given={"bribe.roll": "++++"})) == json.loads(printed.out)
    with pytest.raises(rpgres.UsageError, match="seat"):
        rpgres.whatif(rpgres.run_scene("fate/gate", seat="mara"), given={"bribe.roll": "++++"})


@pytest.mark.slow
class Elsewhere(Executor):
    """An executor that rpgres does not know, and that counts its calls."""

    calls = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls += 1
        future = Future[Any]()
        future.set_result(fn(*args, **kwargs))
        return future


def test_an_executor_of_ones_own_plays_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MEASURED", 0.0)
    monkeypatch.setattr(blocks, "BRIEF", 0.0)
    asked: dict[str, Any] = {"runs": 2000, "seed": 7, "skill": 3, "vs": 2}
    alone = rpgres.simulate("fate", "overcome", **asked)
    with ThreadPoolExecutor(2) as executor:
        assert rpgres.simulate("fate", "overcome", executor=executor, **asked) == alone
        assert executor.submit(pow, 2, 3).result() == 8
    elsewhere = Elsewhere()  # may be on other machines: the batches bring along what the scene needs
    found = rpgres.simulate("fate/vault", runs=300, seed=7, executor=elsewhere)
    assert elsewhere.calls > 0
    assert found == rpgres.simulate("fate/vault", runs=300, seed=7)
    with pytest.raises(rpgres.UsageError, match=r"`executor` takes a concurrent\.futures\.Executor or None, not 3"):
        rpgres.simulate("fate", "overcome", executor=3, **asked)  # type: ignore[arg-type]


def test_a_scene_is_named_by_a_path_too_and_a_ruleset_is_not() -> None:
    path = Path("nothing.toml")
    calls: list[Callable[[], object]] = [
        lambda: rpgres.run_scene(path),
        lambda: rpgres.simulate(path),
        lambda: rpgres.odds_scene(path),
        lambda: rpgres.odds_best(path, best="mara"),
        lambda: rpgres.odds_table(path, None, {"x": [1]}),
    ]
    for call in calls:
        with pytest.raises(rpgres.FileError, match=r"there is no scene 'nothing\.toml'"):
            call()
    with pytest.raises(rpgres.UsageError, match="a ruleset is named by its id, and not by a path such as 'fate'"):
        rpgres.simulate(Path("fate"), "overcome", skill=3, vs=2)
    with pytest.raises(rpgres.UsageError, match="a case of `cases` is a dictionary of what changes, or a file, not 4"):
        rpgres.odds_compare("fate", "overcome", {"b": 4}, skill=3, vs=2)  # type: ignore[dict-item]


def test_workers_do_not_change_counts() -> None:
    one, two = (rpgres.simulate("fate", "overcome", runs=400, seed=7, workers=count, skill=3, vs=2) for count in (1, 2))
    assert one == two


@pytest.mark.slow
def test_threads_get_what_one_alone_gets() -> None:
    """Each call with another seed, ruleset or switch than its neighbours, all at the same time."""

    def call(number: int) -> list[object]:
        switches = {"fail_chooser": ("gm", "actor")[number % 2]} if number % 3 else {}
        rolled = rpgres.roll("8d6kh3", seed=number)
        resolved = rpgres.resolve("fate", "overcome", skill=number % 5, vs=2, seed=number, auto=True, switches=switches)
        evaluated = rpgres.odds("fate", "attack", skill=number % 5, vs=2, auto=True)
        counted = rpgres.simulate("fate", "overcome", runs=30, seed=number, skill=number % 5, vs=2)
        played = rpgres.run_scene("fate/bribe", seed=number, auto=True)
        return [rolled, resolved, evaluated, counted, played, rpgres.load_sheet("mara", "fate")]

    alone = [call(number) for number in range(12)]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(call, range(12))) == alone


def test_nothing_is_printed_and_nothing_read(capfd: pytest.CaptureFixture[str]) -> None:
    rpgres.roll("4dF")
    rpgres.simulate("fate", "overcome", runs=10, skill=3, vs=2)
    rpgres.run_scene("fate/bribe", auto=True)
    with pytest.raises(rpgres.UsageError, match="standard input"):
        rpgres.run_scene("-")
    with pytest.raises(rpgres.UsageError, match="standard input"):
        rpgres.load_sheet("-")
    assert capfd.readouterr() == ("", "")


def test_importing_brings_little() -> None:
    """It is some 30 modules of the standard library, most of which any program has: some 10 ms over bare Python."""
    code = "import sys; before = {*sys.modules}; import rpgres; print(*({*sys.modules} - before))"
    brought = subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True)
    names = {name.split(".")[0] for name in brought.stdout.split()}
    assert names - {"rpgres"} <= {*sys.stdlib_module_names}
    assert len(brought.stdout.split()) <= 40


@pytest.mark.parametrize(
    ("call", "takes"),
    [
        (lambda: rpgres.roll("4dF", given="+0-+"), "`given` takes a dictionary or None, not '+0-+'"),
        (lambda: rpgres.resolve("fate", None), "`action` takes a text, not None"),
        (lambda: rpgres.resolve("fate", "overcome", skill=3, vs=2, auto="no"), "`auto` takes True or False, not 'no'"),
        (lambda: rpgres.resolve("fate", "overcome", skill=3, vs=2, wait=1), "`wait` takes True or False, not 1"),
        (lambda: rpgres.odds("fate", "overcome", skill=3, vs=2, by="nothing"), "fate overcome has no number"),
        (lambda: rpgres.odds_table("fate", "overcome", ["skill"], vs=2), "`over` takes a dictionary, not ['skill']"),
        (lambda: rpgres.simulate("fate", "overcome", by=3, skill=3, vs=2), "`by` takes a list of texts, not 3"),
        (lambda: rpgres.run_scene(None), "`file` takes a text or a path, not None"),
        (lambda: rpgres.load_sheet(3), "`sheet` takes a text or a path, not 3"),
        (lambda: rpgres.open_table("t.db", seat=3), "there is no table"),
        (lambda: rpgres.open_table(None), "`path` takes a text or a path, not None"),
        (lambda: rpgres.new_table("t.db", "fate", sheets=[3]), "`sheets` takes a list of texts, not [3]"),
        (lambda: rpgres.new_table("t.db", "fate", sheets=b"a"), "`sheets` takes a list of texts, not b'a'"),
    ],
)
def test_an_argument_of_another_kind_is_told_by_name(call: Callable[[], Any], takes: str) -> None:
    with pytest.raises(rpgres.RpgresError) as caught:
        call()
    assert takes in caught.value.message
    assert caught.value.__cause__ is None


def test_a_missing_argument_is_told_by_python() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'action'"):
        rpgres.resolve("fate")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rpgres.odds_scene("fate", "overcome"), r"no procedure; odds\('fate', 'overcome'\) evaluates it"),
        (lambda: rpgres.odds("fate", "contest"), r"odds_scene\('fate', 'contest'\) evaluates it"),
        (lambda: rpgres.odds_scene("fate/gate", skill=3), "a scene takes no skill"),
        (lambda: rpgres.odds_best("fate/gate", choose={"price": "cost"}), "a scene takes no choose"),
        (lambda: rpgres.simulate("fate/gate", skill=3, vs=2, auto=True), "a scene takes no skill, vs: that belongs to"),
        (lambda: rpgres.odds_best("fate/gate", best="bo"), "`best`: the scene has no character 'bo'"),
        (lambda: rpgres.odds_best("fate/gate", best="mara", goal="won't"), "`goal`: .* has no outcome"),
        (lambda: rpgres.odds_table("fate", "contest", {"skill": [1]}, decide="best", vs=2), "odds_best"),
    ],
)
def test_what_odds_of_scenes_do_not_take_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(rpgres.UsageError, match=message):
        call()


NOTHING: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rpgres.odds("3d6", seconds=-1), "`seconds` takes a number of seconds over 0, not -1"),
        (lambda: rpgres.odds("3d6", leaves=5), "odds of dice take no `leaves`"),
        (lambda: rpgres.odds("fate", "overcome", skill=1, vs=2, leaves=0), "`leaves` takes a number of paths"),
        (lambda: rpgres.odds_scene("fate/gate", seconds=0), "`seconds`"),
        (lambda: rpgres.odds_best("fate/gate", seconds=float("nan")), "`seconds`"),
        (lambda: rpgres.odds_table("fate", "overcome", {"skill": range(0)}, vs=2), "`over` takes values for 'skill'"),
        (lambda: rpgres.odds_table("fate", "overcome", NOTHING, skill=1, vs=2), "`over` .* is empty"),
        (lambda: rpgres.odds_compare("fate", "overcome", NOTHING, skill=1, vs=2), "`cases` .* is empty"),
        (lambda: rpgres.html_of(3), "not 3"),  # type: ignore[arg-type]
        (lambda: rpgres.text_of(None), "not None"),  # type: ignore[arg-type]
    ],
)
def test_what_would_come_to_nothing_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(rpgres.UsageError, match=message):
        call()


@pytest.mark.parametrize("auto", [False, True])
def test_who_decides_is_the_same_by_a_call_and_by_a_line(auto: bool) -> None:
    """The action says `best`; a policy that is asked for decides for everybody, on the command line and here."""
    hand = {"ability": "strength=3", "vs": "challenging", "hand": "St6,Ag3,Do8"}
    line = [word for name, value in hand.items() for word in (f"--{name}", value)]
    by_line = json.loads(command("odds", "saga", "act", *line, *(["--auto"] if auto else []), "--json").out)
    assert as_json(rpgres.odds("saga", "act", auto=auto, **hand)) == by_line
    assert by_line["decide"] == ("policies" if auto else "best")


def test_a_record_without_a_form_in_words_is_none_to_a_notebook() -> None:
    class Bare(Printed, frozen=True, kw_only=True, tag="bare/1"):
        """A record that nothing shows."""

    for shown in (rpgres.html_of, rpgres.text_of):
        with pytest.raises(rpgres.UsageError, match="Bare has no form in words"):
            shown(Bare())
    assert Bare()._repr_html_() is None


@pytest.mark.parametrize("name", ["x" * 5000, "a/" * 3000 + "x", "\0", "a\0b", "\ud800", "", ".", "fate/../..", "x\n"])
def test_no_name_of_a_file_fails_but_with_our_errors(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = rpgres.new_table(tmp_path / "t.db", "fate", sheets=["mara"])
    calls: list[Callable[[], Any]] = [
        lambda: rpgres.load_sheet(name),
        lambda: rpgres.load_sheet("mara", name),
        lambda: rpgres.load_sheet(name, "fate"),
        lambda: rpgres.resolve(name, "overcome", skill=3, vs=2),
        lambda: rpgres.resolve("fate", "overcome", vs=2, sheet=name),
        lambda: rpgres.odds("fate", "overcome", vs=2, sheet=name),
        lambda: rpgres.simulate(name, runs=1),
        lambda: rpgres.run_scene(name),
        lambda: rpgres.odds_scene(name, "succeed"),
        lambda: rpgres.whatif(name, choose={"a": "b"}),
        lambda: rpgres.open_table(name),
        lambda: rpgres.new_table("u.db", name, sheets=["mara"]),
        lambda: rpgres.new_table("v.db", "fate", sheets=[name]),
        lambda: table.join(name),
        lambda: rpgres.load_sheet("mara", "fate", rulesets=[name]),
        lambda: rpgres.new_table(name, "fate", sheets=["mara"]),
        lambda: table.export(name),
        lambda: table.note(name),
    ]
    for call in calls:
        with suppress(rpgres.RpgresError):
            call()
    if len(name) > 100:
        with pytest.raises(rpgres.FileError, match=r"too long|no sheet|neither a file"):
            rpgres.load_sheet(name)


def test_rows_keep_outcomes_that_are_called_success_or_open() -> None:
    row = rpgres.odds_table("fate/vault", None, {"steps.lock.with.vs": [4]}).table()[0]
    assert (round(row["open"], 4), row["left open"]) == (0.8075, 0.0)  # the ending, and what the budget left
    row = rpgres.odds_table("highest-die", "check", {"pool": [3]}).table()[0]
    assert (round(row["success"], 4), row["any success"]) == (0.3472, 0.875)


def test_studies_evaluate_what_an_action_tells() -> None:
    grid = rpgres.odds_table("fate", "overcome", {"skill": range(2)}, vs=2, by="margin")
    assert grid.by == "margin"
    assert (grid.table()[0]["-6"], grid.table()[1]["-5"]) == (1 / 81, 1 / 81)
    compared = rpgres.odds_compare("fate", "overcome", {"better": {"skill": 4}}, skill=3, vs=2, by="margin")
    assert [case.mean.exact for case in compared.cases if case.mean is not None] == ["1", "2"]
    with pytest.raises(rpgres.UsageError, match="no number 'shift'; it has: outcome, margin, total"):
        rpgres.odds_table("fate", "overcome", {"skill": range(2)}, vs=2, by="shift")
