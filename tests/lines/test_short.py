"""Short lines: what they stand for, over every ruleset; nothing typed is dropped, and nothing is guessed."""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres.cli.commands.roll import RollGroup
from rpgres.cli.dynamic import ActionCommand
from rpgres.errors import UsageError
from rpgres.lines.fitting import FILLERS, PREPOSITIONS, Scope, Words, typed_apart
from rpgres.lines.short import Unclear, lengthened
from rpgres.lines.words import joined, split
from rpgres.model.state import GM, State, Tag
from rpgres.plugins.loading import read_ruleset
from rpgres.rulesets.sheets import read_sheet, sheet_names
from tests.support.checkout import ROOT
from tests.support.command_line import rpgres
from tests.support.effort import examples
from tests.support.packages import AFTER_HOURS

TOML = sorted(
    path.parent.name for path in ROOT.glob("rulesets/*/ruleset.toml") if "standalone" in path.read_text("utf-8")
)
RULESETS = ("fate", "coppermane", "saga", "faith", "nodice", *TOML, "after-hours")


@pytest.fixture(autouse=True, scope="module")
def _third_party() -> Any:
    """Have the third party's plugin found."""
    import sys

    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(AFTER_HOURS))
    patch.setenv("RPGRES_RULESETS", "")
    from rpgres_after_hours import after_hours  # type: ignore[import-not-found]

    import rpgres.plugins.loading as rulesets

    find = rulesets.find_ruleset
    patch.setattr(rulesets, "find_ruleset", lambda id_, **kw: after_hours if id_ == "after-hours" else find(id_, **kw))
    scope_with.cache_clear()
    yield
    patch.undo()
    sys.modules.pop("rpgres_after_hours", None)


@cache
def scope_with(ruleset: str, action: str) -> tuple[Scope, ActionCommand]:
    """Return an action's command, and a table at which all sample characters sit; the first one acts."""
    command = ActionCommand(RollGroup.verb, read_ruleset(ruleset), action)
    rules, state = command.data.without_code(), State()
    for name in sorted(sheet_names(rules)):
        sheet = read_sheet(rules, name)
        state = state.with_character(sheet.character).with_tags(sheet.tags)
    actor = next(name for name in state.characters if state.seat_of(name) != GM)
    return Scope(rules, state, actor, command.takes), command


def long(ruleset: str, line: str, actor: str = "") -> str:
    """Return a short line as options."""
    action, *words = split(line)
    scope, _ = scope_with(ruleset, action)
    if actor:
        scope = Scope(scope.rules, scope.state, actor, scope.options)
    return joined(lengthened(scope, action, words))


@pytest.mark.parametrize(
    ("ruleset", "line", "options"),
    [
        ("fate", "overcome burglary 3", "--skill burglary --vs 3"),
        ("fate", "overcome 3 burglary", "--skill burglary --vs 3"),
        ("fate", "overcome 3 vs fair", "--skill 3 --vs fair"),
        ("fate", "overcome fair 3", "--skill fair --vs 3"),
        ("fate", "overcome burglary vs 3", "--skill burglary --vs 3"),
        ("fate", "overcome vs 3 with burglary", "--skill burglary --vs 3"),
        ("fate", "overcome Burglary against 4dF+2", "--skill burglary --vs 4dF+2"),
        ("fate", "overcome burglary=4 none", "--skill burglary=4 --vs none"),
        ("fate", "overcome burglary -1", "--skill burglary --vs=-1"),
        ("fate", "overcome burglary 3 bonus 2 harms", "--skill burglary --vs 3 --harms --bonus 2"),
        ("fate", "overcome burglary 3 by mara", "--skill burglary --vs 3 --helper mara"),
        ("fate", "conflict --against thug bruiser", "--against thug --against bruiser"),
        ("fate", "conflict --against=thug and bruiser", "--against=thug --against bruiser"),
        ("fate", "conflict --ally edda venn --against thug", "--ally edda --ally venn --against thug"),
        ("fate", "overcome burglary 3 --bonus 2", "--skill burglary --vs 3 --bonus 2"),
        ("fate", "overcome --vs 3 burglary", "--vs 3 --skill burglary"),
        ("fate", "overcome burglary 3 roll ++0-", "--skill burglary --vs 3 --given roll=++0-"),
        (
            "fate",
            "overcome burglary 3 roll -0-- price cost",
            "--skill burglary --vs 3 --given roll=-0-- --choose price=cost",
        ),
        ("fate", "attack the thug with fight", "--skill fight --vs thug:fight"),
        ("fate", "attack provoke mara mental", "--skill provoke --vs mara:will --track mental"),
        ("fate", "attack Mara-Quill with fight", "--skill fight --vs mara:athletics"),
        ("fate", "attack Mara Quill with fight", "--skill fight --vs mara:athletics"),
        (
            "fate",
            "overcome crafts 3 to end built like a warehouse door",
            '--skill crafts --vs 3 --removes "Built Like a Warehouse Door"',
        ),
        ("fate", "attack thug:athletics fight", "--skill fight --vs thug:athletics"),
        ("fate", 'create-advantage crafts 2 "On Fire"', '--skill crafts --vs 2 --name "On Fire"'),
        ("fate", "create-advantage existing on thug crafts 2", "--variant existing --skill crafts --vs 2 --on thug"),
        ("fate", "create-advantage crafts 2 Blinded", "--skill crafts --vs 2 --name Blinded"),
        ("fate", 'compel "Cannot Leave a Locked Thing Locked"', '--name "Cannot Leave a Locked Thing Locked"'),
        (
            "fate",
            "discover reveal-aspect notice 2 stunt old-castings",
            "--variant reveal-aspect --skill notice --vs 2 --stunt old-castings",
        ),
        ("coppermane", "overcome strength 3", "--attribute strength --vs 3"),
        ("coppermane", "attack jackals with strength", "--attribute strength --vs jackals:dexterity"),
        ("saga", "act strength average", "--ability strength --vs average"),
        ("saga", "act average strength Do8", "--ability strength --vs average --choose play=Do8"),
        ("saga", "act 8 vs average hand St6,Ag3,Do8", "--ability 8 --vs average --hand St6,Ag3,Do8"),
        ("saga", "damage 8 weapon 2", "--amount 8 --weapon 2"),
        ("saga", "exchange against toll-warden dire", "--against toll-warden --dire"),
        ("faith", "confront agility initiative", "--skill initiative --attribute agility"),
        ("nodice", "observe target sneak:agi=3", "--target sneak:agi=3"),
        ("highest-die", "check 2 desperate", "--pool 2 --position desperate"),
        ("twenty-over", "check 3 vs 15", "--ability 3 --difficulty-rating 15"),
        (
            "twenty-sided-advantage",
            "check 3 vs 15 advantage bonus-dice d4",
            "--bonus 3 --advantage advantage --bonus-dice d4 --difficulty-class 15",
        ),
        ("percentile-fractions", "resistance 12 vs 9", "--active 12 --passive 9"),
        ("again-pool", "contest 5 3s", "--pool 5 --vs 3s"),
        ("twenty-sided-advantage", "strike 4 vs hard", "--bonus 4 --vs hard"),
        ("twenty-sided-advantage", "strike 4 vs 12 sword", "--bonus 4 --vs 12 --weapon sword"),
        ("two-dice", "risk 2 with", "--trait 2 --edge with"),
        ("after-hours", "crack 2", "--skill 2"),
        ("fate", "overcome 3 vs=2 roll=++0- bonus=1", "--skill 3 --vs 2 --bonus 1 --given roll=++0-"),
        ("fate", "overcome fight=3 2", "--skill fight=3 --vs 2"),
    ],
)
def test_a_short_line_stands_for_options(ruleset: str, line: str, options: str) -> None:
    assert long(ruleset, line) == options


@pytest.mark.parametrize(
    ("ruleset", "line", "readings"),
    [
        ("fate", "overcome burglary 3 mara", ["--target mara", "--helper mara", "--ally mara", "--rival mara"]),
        ("fate", "overcome burglary 3 2", ["--bonus 2", "--helpers 2", "--fate-points 2", "--gm-points 2"]),
        ("fate", "overcome fight guard", ["guard:fight", "guard:notice"]),
        ("fate", "overcome fight vs guard", ["guard:fight", "guard:notice"]),
        (
            "fate",
            "conflict thug with fight",
            ["--attack fight", "--defense fight", "--advantage fight", "--overcome fight"],
        ),
        ("fate", "conflict --against thug --exchanges 3 bruiser", ["--against bruiser", "--ally bruiser"]),
        ("saga", "exchange toll-warden", ["--against toll-warden", "--beside toll-warden"]),
        ("saga", "damage 8 2", ["--weapon 2", "--defense 2"]),
        ("two-dice", "risk with 2", ["--trait 2", "--edge with 2"]),
    ],
)
def test_what_is_ambiguous_is_not_guessed(ruleset: str, line: str, readings: list[str]) -> None:
    with pytest.raises(Unclear) as unclear:
        long(ruleset, line)
    assert [one.text for one in unclear.value.readings] == readings
    action, scope = split(line)[0], scope_with(ruleset, split(line)[0])[0]
    meant = [joined(lengthened(scope, action, unclear.value.chosen(one))) for one in unclear.value.readings]
    assert len(set(meant)) == len(readings)
    assert all(split(text)[-1] in said for text, said in zip(readings, meant, strict=True))


@pytest.mark.parametrize(
    ("line", "readings", "options"),
    [
        ("attack Hired Thug with fight", ["thug", "second"], "--skill fight --vs second:fight"),
        ("attack with fight vs hired-thug:fight", ["thug:fight", "second:fight"], "--skill fight --vs second:fight"),
        ("overcome burglary 3 target Hired Thug", ["thug", "second"], "--skill burglary --vs 3 --target second"),
    ],
)
def test_a_title_of_several_is_not_guessed(line: str, readings: list[str], options: str) -> None:
    action, *words = split(line)
    known, _ = scope_with("fate", action)
    second = msgspec.structs.replace(known.state.characters["thug"], name="second")
    scope = msgspec.structs.replace(known, state=known.state.with_character(second))
    with pytest.raises(Unclear) as unclear:
        lengthened(scope, action, words)
    assert [one.text for one in unclear.value.readings] == readings
    assert joined(lengthened(scope, action, unclear.value.chosen(unclear.value.readings[1]))) == options


@pytest.mark.parametrize(
    ("ruleset", "line", "told"),
    [
        ("fate", "overcome burglery 3", "unknown word 'burglery'; did you mean 'burglary'?"),
        ("fate", "attack thugs with fight", "unknown word 'thugs'; did you mean 'thug'?"),
        ("fate", "overcome with fihgt 3", "unknown word 'with fihgt'; did you mean 'fight'?"),
        ("fate", "overcome burglary 3 xyzzy", "unknown word 'xyzzy'; overcome takes skill, vs, removes"),
        ("fate", "overcome burglary bonus 2 bonus 3", "`bonus` is given twice"),
        ("fate", "oppose burglary 3 edda:will", "unknown word 'edda:will'"),
        ("solo-oracle", "ask 50/50", "ask takes likely (sure, likely, even, unlikely, hardly), question"),
        ("solo-oracle", "ask impossible", "ask takes likely (sure, likely, even, unlikely, hardly), question"),
        ("two-dice", "risk 2 fen", "risk names no fen; the actor comes first: fen risk"),
    ],
)
def test_what_means_nothing_is_told_with_the_nearest_name(ruleset: str, line: str, told: str) -> None:
    with pytest.raises(UsageError) as error:
        long(ruleset, line)
    assert told in error.value.message


@pytest.mark.parametrize("text", ["is the ferry there?", "the gate is guarded", "guarded?"])
def test_the_only_text_of_an_action_takes_what_is_quoted_or_asked(text: str) -> None:
    line = shlex.join(["ask", "likely", text])
    assert long("solo-oracle", line) == joined(("--likely", "likely", "--question", text))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "overcome burglary vs 2 with 3",
            "overcome: nothing is left that 'burglary' could be for; skill is already given",
        ),
        ("overcome burglary vs 2 --skill 3", "nothing is left that 'burglary' could be for; skill is already given"),
    ],
)
def test_a_known_name_without_a_place_is_told_what_is_given(line: str, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        long("fate", line, "mara")
    assert told in raised.value.message
    assert "did you mean" not in raised.value.message


def test_a_second_choice_is_no_dice() -> None:
    with pytest.raises(
        UsageError, match="nothing is left that 'disadvantage' could be for; advantage is already given"
    ):
        long("twenty-sided-advantage", "attack --advantage advantage disadvantage")


def test_what_a_seat_cannot_see_means_nothing() -> None:
    scope, _ = scope_with("fate", "overcome")
    hidden = scope.state.with_tag(Tag("Trap Door", "aspect", audience=(GM,)))
    said = []
    for state in (hidden.seen_by("edda"), scope.state):
        with pytest.raises(UsageError) as error:
            lengthened(Scope(scope.rules, state, "edda", scope.options), "overcome", ["crafts", "3", "Trap Door"])
        said.append(error.value.message)
    assert said[0] == said[1]


# ---------------------------------------------------------------------------------------------------------------------
# Any line


@cache
def vocabulary(ruleset: str, action: str) -> list[str]:
    scope, command = scope_with(ruleset, action)
    rules, words = scope.rules, Words(scope, action)
    found = [*rules.file.abilities[:6], *scope.state.characters[scope.actor].abilities, *list(rules.file.ladder)[:3]]
    found += [*scope.state.characters, *words.by_name, *PREPOSITIONS, *FILLERS, "as"]
    found += [choice for one in words.parameters.values() for choice in one.choices]
    found += [
        "3",
        "2",
        "-1",
        "+2",
        "2d6+1",
        "none",
        "++0-",
        "A Text",
        "it's",
        "nonsense",
        "ability=4",
        "St6",
        "St6,Ag3",
    ]
    found += [f"{name}:{ability}" for name in scope.state.characters for ability in rules.file.abilities[:1]]
    found += [name for name, takes in command.takes.items() if not takes][:2]
    return list(dict.fromkeys(found))


@st.composite
def lines(draw: st.DrawFn) -> tuple[str, str, list[str]]:
    ruleset = draw(st.sampled_from(RULESETS))
    action = draw(st.sampled_from(sorted(read_ruleset(ruleset).file.actions)))
    return ruleset, action, draw(st.lists(st.sampled_from(vocabulary(ruleset, action)), max_size=6))


def request(command: ActionCommand, words: list[str]) -> dict[str, Any]:
    """Return what a line asks for, as its command parses it."""
    return dict(command.make_context(str(command.name), list(words)).params)


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(300))
@given(lines())
def test_a_line_keeps_every_word_and_its_long_form_says_the_same(line: tuple[str, str, list[str]]) -> None:
    ruleset, action, words = line
    scope, command = scope_with(ruleset, action)
    try:
        options = lengthened(scope, action, words)
    except UsageError:
        return
    assert typed_apart(options, scope.options)[0] == {}
    assert lengthened(scope, action, options) == options
    assert split(joined(options)) == options
    said = " ".join(options).lower()
    named = {*Words(scope, action).by_name, *PREPOSITIONS, *FILLERS, *Words(scope, action).introduced}
    kept = [word.partition("=")[2] if word.partition("=")[0] in named else word for word in words]  # `ability=4`
    assert [word for word in kept if word.lower() not in named and word.lower() not in said] == []
    assert request(command, options) == request(command, split(joined(options)))


# ---------------------------------------------------------------------------------------------------------------------
# One-shot commands


def out(line: str, code: int = 0) -> str:
    done = rpgres(*shlex.split(line))
    assert done.code == code, done
    return done.out if code == 0 else done.err


@pytest.mark.parametrize(
    "line",
    [
        "roll --seed 1 fate mara overcome burglary 3",
        "roll fate --seed 1 mara overcome burglary 3",
        "fate --seed 1 mara overcome burglary 3",
        "fate mara --seed 1 overcome burglary 3",
        "fate mara overcome --seed 1 burglary 3",
        "fate --seed 1 -- mara overcome burglary 3",
        "fate --seed 1 mara -- overcome burglary 3",
        "fate --seed 1 mara overcome -- burglary 3",
        "fate --seed 1 mara overcome burglary -- 3",
    ],
)
def test_options_stand_anywhere_in_a_short_line(line: str) -> None:
    before, dashes, behind = line.partition(" -- ")
    assert out(f"{before} --auto{dashes}{behind}") == out("roll fate mara overcome burglary 3 --auto --seed 1")


def test_options_stand_anywhere_in_a_short_line_at_a_table(tmp_path: Path) -> None:
    place = shlex.quote(str(tmp_path / "z.db"))
    out(f"table new fate --sheet mara --table {place}")
    weighed = out(f"table odds mara overcome burglary 3 --table {place}")
    assert out(f"table odds --table {place} mara overcome burglary 3") == weighed
    for options in (f"--table {place} --json", f"--json --table {place}", f"--table {place} --json --"):
        assert '"actor":"mara"' in out(
            f"table act {options} mara overcome burglary 3".replace("act ", "act --auto ", 1)
        )


@pytest.mark.parametrize(
    ("short", "options"),
    [
        ("roll fate overcome 3 vs fair", "roll fate overcome --skill 3 --vs fair"),
        ("fate overcome 3 fair", "roll fate overcome --skill 3 --vs fair"),
        ("fate mara overcome burglary 3", "roll fate overcome --sheet mara --skill burglary --vs 3"),
        ("fate mara attack thug with fight", "roll fate attack --sheet mara --skill fight --vs thug:fight"),
        ("odds fate overcome 3 vs 4dF+2", "odds fate overcome --skill 3 --vs 4dF+2"),
        ("odds fate mara overcome burglary 3", "odds fate overcome --sheet mara --skill burglary --vs 3"),
        ("two-dice fen risk gentle", "roll two-dice risk --sheet fen --trait gentle"),
    ],
)
def test_one_shot_commands_take_short_lines(short: str, options: str) -> None:
    more = "" if short.startswith("odds") else " --auto --seed 7"
    assert out(short + more) == out(options + more)


def test_a_short_line_that_is_unclear_is_refused_with_its_readings() -> None:
    told = out("fate mara overcome fight 3 edda", code=2)
    assert told == ("rpgres: 'edda' could be --target edda, --helper edda, --ally edda or --rival edda; which one?\n")
    assert "did you mean 'overcome'" in out("fate mara overcom 3", code=2)
    assert "mara: name an action: overcome" in out("fate mara", code=2)
    assert "has no command 'fatee'" in out("fatee overcome", code=2)


def test_short_lines_at_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out("table new --ruleset fate --sheet mara --sheet thug --seed 7")
    assert "mara, attack: " in out("table act mara attack thug with fight --auto")
    done = rpgres("table", "act", "overcome", "burglary", "3", "--auto", "as", "mara")
    assert "said by mara: skill burglary, vs 3" in done.out


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("fate kell attack voss with fight", "fate kell.toml attack voss.toml:athletics with fight"),
        ("fate Kell: attack Voss with fight", "fate attack --sheet kell.toml --vs voss.toml:athletics --skill fight"),
        ("sheet show kell", "sheet show kell.toml"),
    ],
)
def test_a_sheet_in_the_folder_has_a_short_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, same: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("kell", "voss"):
        out(f"sheet new fate --name {name.title()} --out {name}.toml")
    Path("fight.toml").write_text('title = "A scene"\n[[steps]]\naction = "attack"\n')  # which is no sheet
    more = " --auto --seed 3" if line.startswith("fate") else ""
    assert out(line + more) == out(same + more)
    assert "kell: ok" in out("sheet check kell")
    out("table new fate --sheet kell")
    assert "opposition (voss)" in out("table act attack voss with fight --auto")
    Path("kell.toml").write_text("x = [")
    assert "kell.toml:1:6" in out("fate kell attack 2 --skill 2", code=1)


@pytest.mark.slow
def test_the_start_of_a_long_line_reads_no_short_line() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from rpgres.cli.root import app\n"
        "try: app(['roll', 'fate', 'overcome', '--skill', '3', '--vs', '2', '--auto'])\n"
        "except SystemExit: pass\n"
        "late = ('rpgres.lines.short', 'rpgres.cli.play', 'prompt_toolkit')\n"
        "print([name for name in sys.modules if name.startswith(late)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
