"""The settings file: what sets a value, what is told about a faulty one, aliases, and the default ruleset."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator

from rpgres.cli.output import READER
from rpgres.cli.settings import KEYS, VARIABLES, expand, expand_at_table, settings_path
from rpgres.formats.schemas import make_schema
from tests.support.command_line import Ran, completions
from tests.support.command_line import rpgres as run

FATE = ("fate", "overcome", "--skill", "3", "--vs", "2", "--seed", "1")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "home" / "rpgres" / "config.toml"
    monkeypatch.setenv("RPGRES_CONFIG", str(path))
    return path


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def shown() -> dict[str, tuple[object, str]]:
    found = json.loads(run("config", "show", "--json").out)
    return {one["key"]: (one["value"], one["origin"]) for one in found["settings"]}


def done(*args: str, **environment: str) -> Ran:
    ran = run(*args, **environment)
    assert (ran.code, ran.err) == (0, ""), ran
    return ran


# ---------------------------------------------------------------------------------------------------------------------
# The file


@pytest.mark.parametrize(
    ("platform", "environment", "place"),
    [
        ("linux", {}, "HOME/.config/rpgres/config.toml"),
        ("linux", {"XDG_CONFIG_HOME": "HOME/xdg"}, "HOME/xdg/rpgres/config.toml"),
        ("linux", {"APPDATA": "HOME/Roaming"}, "HOME/.config/rpgres/config.toml"),
        ("win32", {"APPDATA": "HOME/Roaming"}, "HOME/Roaming/rpgres/config.toml"),
        ("win32", {}, "HOME/AppData/Roaming/rpgres/config.toml"),
        ("darwin", {}, "HOME/Library/Application Support/rpgres/config.toml"),
        ("linux", {"RPGRES_CONFIG": "~/mine.toml"}, "HOME/mine.toml"),
        ("linux", {"RPGRES_CONFIG": ""}, ""),
    ],
)
def test_the_file_is_where_the_platform_keeps_settings(
    platform: str, environment: dict[str, str], place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("XDG_CONFIG_HOME", "APPDATA", "RPGRES_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "HOME", **environment}.items():
        monkeypatch.setenv(name, value.replace("HOME", str(tmp_path)))
    assert settings_path() == place.replace("HOME", str(tmp_path))


def test_an_old_folder_of_a_mac_is_still_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".config" / "rpgres").mkdir(parents=True)
    assert settings_path() == str(tmp_path / ".config" / "rpgres" / "config.toml")


def test_without_a_file_everything_is_default(file: Path) -> None:
    assert list(shown()) == [key for key in KEYS if key != "aliases"]
    assert {origin for _, origin in shown().values()} == {"default"}
    assert f"{file} (not there yet" in done("config", "show").out
    assert done("config", "path").out == f"{file}\n"
    assert "Your settings" not in done().out


def test_a_value_that_is_set_is_shown_with_its_line(file: Path) -> None:
    assert done("config", "set", "dice_words", "yes").out == f"dice-words = true ({file})\n"
    done("config", "set", "ruleset", "saga")
    assert file.read_text() == (
        "#:schema ./.schemas/config.json\n"
        '# Settings of rpgres; `rpgres config show` lists them all.\ndice-words = true\nruleset = "saga"\n'
    )
    assert shown()["ruleset"] == ("saga", f"{file}:4")
    assert "dice-words  true    line 3" in done("config", "show").out
    assert f"Your settings: dice-words, ruleset ({file})." in done().out
    done("config", "unset", "dice-words")
    assert "dice-words" not in file.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_file_that_is_a_link_stays_one(file: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("# mine\n")
    file.parent.mkdir(parents=True)
    file.symlink_to(tmp_path / "dotfiles.toml")
    done("config", "set", "plain", "true")
    assert file.is_symlink()
    assert (tmp_path / "dotfiles.toml").read_text() == "# mine\nplain = true\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("plian", "true"), "rpgres has no setting 'plian'; did you mean 'plain'?"),
        (("plain", "maybe"), "plain takes true or false, not 'maybe'"),
        (("dice", "reel"), "dice has no value 'reel'; did you mean 'real'?"),
        (("ruleset", "fat"), "rpgres has no ruleset 'fat'; did you mean 'fate'?"),
        (("ruleset", "fate", "saga"), "ruleset takes one value; put quotes around several words: 'fate saga'"),
        (("rulesets", "nowhere"), "there is no folder"),
        (("aliases.roll", "odds 4dF"), "roll is a command of rpgres, and an alias cannot replace one"),
        (("aliases.fate", "odds 4dF"), "fate is a command of rpgres, and an alias cannot replace one"),
        (("aliases.hit", "rol fate attack"), "rpgres has no command 'rol'; did you mean 'roll'?"),
        (("aliases.hit", "hit"), "hit: it leads back to itself: hit -> hit"),
        (("aliases.hit", 'roll "x'), 'hit: missing closing quote: roll "x'),
        (("aliases.two words", "roll 4dF"), "the name of an alias is one word"),
    ],
)
def test_what_cannot_be_set_is_refused(words: tuple[str, ...], message: str, file: Path) -> None:
    ran = run("config", "set", *words)
    assert ran.code == 2
    assert message in ran.err
    assert not file.exists()


def test_what_is_not_set_cannot_be_unset(file: Path) -> None:
    assert run("config", "unset", "plain").code == 2


# ---------------------------------------------------------------------------------------------------------------------
# What wins


def test_what_is_typed_wins_over_the_environment_and_that_over_the_file(file: Path) -> None:
    write(file, 'ruleset = "fate"\n')
    assert shown()["ruleset"] == ("fate", f"{file}:1")
    assert json.loads(done("config", "show", "--json", RPGRES_RULESET="saga").out)["settings"][3] == {
        "key": "ruleset",
        "value": "saga",
        "origin": "RPGRES_RULESET",
    }
    ran = run("config", "set", "ruleset", "faith", RPGRES_RULESET="saga")
    assert ran.err == "rpgres: RPGRES_RULESET in the environment is set, and wins over the file\n"
    assert done("roll", *FATE, RPGRES_RULESET="saga").out.startswith("Overcome: Tie")


def test_every_variable_sets_its_key(file: Path) -> None:
    values = {"plain": "1", "dice-words": "on", "colour": "never", "ruleset": "fate", "dice": "real"}
    found = json.loads(done("config", "show", "--json", **{VARIABLES[key]: text for key, text in values.items()}).out)
    assert {one["key"] for one in found["settings"] if one["origin"] == VARIABLES.get(one["key"])} == set(values)


def test_plain_and_dice_in_words_hold_for_every_command(file: Path) -> None:
    line = ("roll", "fate", "attack", "--skill", "3", "--vs", "2", "--given", "roll=+-00", "--seed", "1")
    drawn, spoken = done(*line, "--plain").out, done(*line, "--plain", "--dice-words").out
    assert drawn != spoken
    write(file, "plain = true\ndice-words = true\n")
    assert done(*line).out == spoken
    assert done(*line, "--no-dice-words").out == drawn
    assert done(*line, RPGRES_DICE_WORDS="false").out == drawn
    seen = []
    for args, environment in [((), {}), (("--no-plain",), {}), ((), {"RPGRES_PLAIN": "0"}), (("--plain",), {})]:
        done(*line, *args, **environment)
        seen.append(READER.is_plain)
    assert seen == [True, False, False, True]
    pending = done_pending("roll", "fate", "overcome", "--skill", "1", "--vs", "3", "--given", "roll=0000")
    assert "--plain" not in pending.out


def done_pending(*args: str) -> Ran:
    ran = run(*args)
    assert ran.code == 3
    return ran


def test_colours_can_be_switched_off(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    write(file, 'colour = "never"\n')
    done("roll", "4dF", NO_COLOR="")
    from rpgres.cli.settings import activate, load_settings

    activate(load_settings())
    assert os.environ["NO_COLOR"] == "1"


def test_folders_of_rulesets_are_searched(file: Path, tmp_path: Path) -> None:
    overlay = file.parent / "house" / "fate"
    overlay.mkdir(parents=True)
    (overlay / "ruleset.toml").write_text('title = "House Fate"\n')
    write(file, 'rulesets = ["house"]\n')
    assert "House Fate" in run("ruleset", "list").out
    assert "House Fate" not in run("ruleset", "list", RPGRES_RULESETS=str(tmp_path / "none")).out


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal stands in for a terminal")
def test_real_dice_are_asked_for_at_a_terminal_alone(file: Path) -> None:
    from tests.support.terminal import Terminal

    write(file, 'dice = "real"\n')
    assert "roll: +--0" in done("roll", *FATE).out  # nobody can be asked
    terminal = Terminal(["roll", *FATE, "--auto"])
    terminal.until("4dF + 3? ")
    terminal.type("++0-\n")
    code, shown = terminal.end()
    assert code == 0
    assert "Overcome: Succeed" in shown
    code, shown = Terminal(["roll", *FATE, "--auto", "--dice", "seeded"]).end()
    assert "Overcome: Tie" in shown


# ---------------------------------------------------------------------------------------------------------------------
# What is wrong

FAULTY = """\
plian = true
dice = "reel"
ruleset = 3
[aliases]
roll = "odds 4dF"
a = "b"
b = "a"
good = "roll fate overcome --skill 3"
n = 1
"""


def test_all_problems_are_told_once_and_the_rest_works(file: Path) -> None:
    write(file, FAULTY)
    ran = run("good", "--vs", "2", "--seed", "1")
    assert (ran.code, ran.out[:13]) == (0, "Overcome: Tie")
    told = ran.err.splitlines()
    assert told == [
        f"rpgres: {file}:1: plian: unknown key; did you mean `plain`?",
        *(line for line in told if line.startswith(f"{file}:2: dice: ")),
        f"{file}:3: ruleset: expected text, found a whole number",
        f"{file}:5: aliases.roll: roll is a command of rpgres, and an alias cannot replace one; choose another name",
        f"{file}:6: aliases.a: it leads back to itself: a -> b -> a",
        f"{file}:7: aliases.b: it leads back to itself: b -> a -> b",
        f"{file}:9: aliases.n: expected text, found a whole number",
        "`rpgres config show` lists all settings",
    ]
    assert "`real`" in told[1]


@pytest.mark.parametrize("text", [FAULTY, "not toml\n", "[aliases\n", "aliases = 3\n", "plain = 2\n[plain]\n"])
def test_a_faulty_file_never_stops_what_corrects_it(text: str, file: Path) -> None:
    write(file, text)
    for args in (("--help",), ("--version",), (), ("roll", "--help"), ("config", "path"), ("completions", "bash")):
        ran = run(*args)
        assert ran.code == 0
        assert bool(ran.err) == (args[:1] == ("completions",))
    ran = run("config", "show")
    assert (ran.code, ran.err) == (1, "")
    assert f"problem: {file}:" in ran.out


def test_an_unknown_key_can_be_unset(file: Path) -> None:
    write(file, FAULTY)
    done("config", "unset", "plian")
    done("config", "unset", "aliases.roll")
    assert file.read_text() == FAULTY.replace("plian = true\n", "").replace('roll = "odds 4dF"\n', "")


def test_a_file_that_is_not_toml_is_not_overwritten(file: Path) -> None:
    write(file, "not toml\n")
    ran = run("config", "set", "plain", "true")
    assert ran.code == 1
    assert f"{file}:1:5" in ran.err
    assert file.read_text() == "not toml\n"


def test_a_faulty_variable_is_told(file: Path) -> None:
    ran = run("roll", *FATE, RPGRES_PLAIN="maybe")
    assert ran.code == 0
    assert "RPGRES_PLAIN in the environment: plain takes true or false, not 'maybe'" in ran.err


def test_what_names_nothing_is_shown(file: Path) -> None:
    write(file, 'ruleset = "fat"\nrulesets = ["gone"]\naliases = { hit = "rol 4dF" }\n')
    ran = run("config", "show")
    assert ran.code == 1
    for message in ("'fat'; did you mean 'fate'?", "there is no folder", "no command 'rol'; did you mean 'roll'?"):
        assert message in ran.out


# ---------------------------------------------------------------------------------------------------------------------
# Aliases


def test_an_alias_takes_more_words(file: Path) -> None:
    write(file, 'aliases = { hit = "rpgres roll fate attack --skill 3", slash = "hit --vs 2" }\n')
    expected = done("roll", "fate", "attack", "--skill", "3", "--vs", "2", "--seed", "1", "--json").out
    assert done("hit", "--vs", "2", "--seed", "1", "--json").out == expected
    assert done("slash", "--seed", "1", "--json").out == expected
    assert "hit          Alias: rpgres roll fate attack --skill 3" in done("--help").out
    assert "--vs" in done("hit", "--help").out
    assert done("help", "slash").out == "slash is an alias of yours for: hit --vs 2\n"
    assert "did you mean 'slash'?" in run("slsh").err


def test_errors_of_an_alias_are_those_of_its_command(file: Path) -> None:
    write(file, 'aliases = { hit = "roll fate attack --json" }\n')
    ran = run("hit", "--vs", "2")
    assert ran.code == 2
    assert json.loads(ran.err)["code"] == "usage"


def test_a_shell_completes_aliases_and_what_follows_them(file: Path) -> None:
    write(file, 'aliases = { hit = "roll fate attack" }\n')
    assert "hit" in completions("rpgres hi")
    assert "--skill" in completions("rpgres hit --sk")
    assert completions("rpgres config set rul") == ["ruleset", "rulesets"]
    assert completions("rpgres config set ruleset fa") == ["fate", "faith"]
    assert completions("rpgres config unset alia") == ["aliases.hit"]


def test_aliases_at_a_table_name_its_actions() -> None:
    aliases = {"hit": "roll fate attack --skill 'two words'", "slash": "hit --vs 2", "log5": "table log --last 5"}
    at = {"aliases": aliases, "ruleset": "fate"}
    assert expand_at_table(["hit", "x"], **at) == ["attack", "--skill", "two words", "x"]  # type: ignore[arg-type]
    assert expand_at_table(["slash"], **at) == ["attack", "--skill", "two words", "--vs", "2"]  # type: ignore[arg-type]
    assert expand_at_table(["log5"], **at) == ["log", "--last", "5"]  # type: ignore[arg-type]
    assert expand_at_table(["roll", "fate", "x"], **at) == ["roll", "fate", "x"]  # type: ignore[arg-type]
    assert expand([], aliases) == []


def test_aliases_are_lines_of_play(file: Path, tmp_path: Path) -> None:
    write(file, '[aliases]\nhit = "roll fate attack --skill fight"\nshow = "log"\nlast = "table log --last 1"\n')
    done("table", "new", "--ruleset", "fate", "--sheet", "mara")
    ran = run("play", "--plain", stdin="last\nshow\nmara: hit --vs 1 --given roll=++++ --choose invoke=no\n")
    assert "> Fate (five actions)  (fate, 1 entry)" in ran.out  # no alias hides `show`
    assert "  0  the table begins" in ran.out
    assert "mara, attack: skill fight, vs 1\n  roll (mara): ++++ = +4" in ran.out
    from rpgres.cli.play.offers import offers
    from rpgres.cli.play.seat import CommandSeat

    room = CommandSeat(tmp_path / ".rpgres" / "table.db", None)
    assert room.unaliased(["mara:", "hit", "x"]) == ["mara:", "attack", "--skill", "fight", "x"]
    assert room.unaliased(["show"]) == ["show"]
    assert [one.shown for one in offers(room, "hi")] == ["hit"]


# ---------------------------------------------------------------------------------------------------------------------
# The default ruleset


def test_the_default_ruleset_need_not_be_named(file: Path) -> None:
    write(file, 'ruleset = "fate"\n')
    for verb in ("roll", "odds"):
        expected = done(verb, "fate", "overcome", "--skill", "3", "--vs", "2", "--json", *SEED[verb]).out
        assert done(verb, "overcome", "--skill", "3", "--vs", "2", "--json", *SEED[verb]).out == expected
    assert done("roll", "saga", "--help").out.startswith("Usage: rpgres roll saga")
    assert done("roll", "4dF", "--seed", "1").out.startswith("-1")
    assert "overcome" in completions("rpgres roll ov")
    assert "create-advantage  " in done("roll", "--help").out
    assert "a table of Fate" in done("table", "new", "--sheet", "mara").out


SEED = {"roll": ("--seed", "1"), "odds": ()}


def test_without_one_the_error_says_how_to_name_it(file: Path) -> None:
    ran = run("roll", "overcome", "--skill", "3")
    assert ran.code == 2
    assert "`rpgres roll fate overcome`; `rpgres config set ruleset fate` lets you leave the ruleset out" in ran.err


def test_a_wrong_default_says_what_set_it(file: Path) -> None:
    ran = run("roll", "overcome", RPGRES_RULESET="fat")
    assert ran.code == 2
    assert "it is your default ruleset, set by RPGRES_RULESET; see `rpgres config show`" in ran.err
    ran = run("roll", "overcom", RPGRES_RULESET="fate")
    assert "your default ruleset is fate, and has 'overcome'" in ran.err


# ---------------------------------------------------------------------------------------------------------------------
# The schema


def test_the_schema_knows_every_key() -> None:
    schema = make_schema("config")
    validator = Draft202012Validator(schema)
    assert validator.is_valid({"plain": True, "dice": "real", "aliases": {"hit": "roll 4dF"}, "rulesets": ["x"]})
    assert not validator.is_valid({"plian": True})
    assert all("description" in one for one in schema["$defs"]["Settings"]["properties"].values())
