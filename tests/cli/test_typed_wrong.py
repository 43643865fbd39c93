"""What people type wrong, out of habit or from other tools, leads them to the line that does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpgres import UsageError, open_table
from tests.support.command_line import rpgres

ACTION = "roll fate overcome --skill 3"
LEADS = [  # what is typed, and what has to stand in the error
    ("fate overcome", "an example: `rpgres roll fate overcome --skill 3 --vs 2`"),
    ("overcome --skill 3 --vs 2", "`rpgres roll fate overcome`"),
    ("roll overcome --skill 3 --vs 2", "`rpgres roll fate overcome`"),
    ("odds overcome", "`rpgres odds fate overcome`"),
    ("roll saga act --ability strength=8 --vs average --hand 6S", "the suit comes first, as in St6"),
    (f"{ACTION} --vs hard", "good +3"),
    (f"{ACTION} --difficulty 2", "did you mean '--vs'?"),
    (f"{ACTION} --dc 2", "did you mean '--vs'?"),
    ("roll fate overcome --attribute 3 --vs 2", "did you mean '--skill'?"),
    ("roll fate overcome --skil 3 --vs 2", "did you mean '--skill'?"),
    ("roll fate --skill 3 overcome --vs 2", "`rpgres roll fate overcome --skill 3 --vs 2`"),
    ("roll fate create advantage --skill 3 --vs 2", "did you mean 'create-advantage'?"),
    ("roll --ruleset fate overcome", "`rpgres roll fate overcome`"),
    (f"{ACTION} --vs 2 --given ++0-", "roll=++0-"),
    ("roll Fate overcome", "did you mean 'fate'?"),
    ("roll d20 --advantage", "`d20 adv`"),
    ("roll 3d6 --times 5", "did you mean '--repeat'?"),
    ("3d6", "`rpgres roll 3d6`"),
    ("(d6,d8)kh1", "`rpgres roll '(d6,d8)kh1'`"),
    ("version", "`rpgres --version`"),
    ("list", "`rpgres ruleset list`"),
    ("dice", "`rpgres roll 4dF+3`"),
    ("undo", "`rpgres table undo`"),
    ("scene fate/bribe", "`rpgres scene run fate/bribe`"),
    ("sheet mara", "`rpgres sheet show mara`"),
    ("ruleset fate", "`rpgres ruleset show fate`"),
    ("table new", "`rpgres table new fate --sheet mara`"),
    ("table acts", "Did you mean 'act'?"),
    ("table new fate --ruleset saga", "name one ruleset: fate or saga"),
    ("table overcome fight 3", "`rpgres table act overcome`"),
    ("table mara", "`rpgres table act mara`"),
    ("roll fate attack --sheet mara --skill fight --vs thug", "type thug:fight (thug has: fight, athletics, provoke)"),
    ("table choose no", "`rpgres table answer`"),
    ("table new fate mara", "named with --sheet mara;"),
    ("sheet create", "`rpgres sheet new`"),
    ("deck draw 3", "rpgres deck draw standard 3"),
    ("draw 3", "`rpgres deck draw standard`"),
    ("roll dnd attack", "`rpgres ruleset list` describes them"),
    ("roll d20+5 vs ac 15", "d20+5 vs 15"),
    ("roll 2d6+3 fire", "2d6[fire]"),
    ("roll fate overcome skill 3 difficulty 2", "did you mean 'vs'?"),
]
MISSING = [  # of what is no file, and has to stand in the error
    ("table new fate --sheet bob", "fate has bruiser, edda,"),
    ("scene run bribe", "did you mean 'fate/bribe'?"),
    ("scene run x", "scenes that ship by name: again-pool/the-debt, coppermane/flooded-gate, "),
]


@pytest.mark.parametrize(("typed", "lead"), LEADS)
def test_what_is_typed_wrong_leads_to_the_right_line(typed: str, lead: str) -> None:
    ran = rpgres(*typed.split())
    assert (ran.code, ran.out) == (2, "")
    assert lead in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(("typed", "lead"), MISSING)
def test_a_file_that_is_missing_leads_to_those_there_are(
    typed: str, lead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = rpgres(*typed.split())
    assert (ran.code, ran.out, lead in ran.err) == (1, "", True)


def test_a_sheet_joins_by_its_name_alone_and_those_there_are_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert rpgres("table", "new", "saga", "--sheet", "brannagh").code == 0
    told = "name the sheet of who joins: `{} ilse`; saga has ilse, toll-warden; or a file"
    ran = rpgres("table", "join")
    assert (ran.code, told.format("rpgres table join") in ran.err) == (2, True)
    with pytest.raises(UsageError) as caught:
        open_table(tmp_path).do("join")
    assert told.format("join") in caught.value.message
    assert rpgres("table", "join", "ilse").out == "  1  ilse sits down\n"


def test_an_option_alone_answers_what_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert rpgres("table", "new", "fate", "--sheet", "mara", "--seed", "7").code == 0
    assert "no decision is pending" in rpgres("table", "answer", "no").err
    assert rpgres("table", "act", "overcome", "burglary", "3", "--given", "roll=-0+-").code == 3
    assert rpgres("table", "view", "--as", "mara", "--out", "view.json").code == 0
    assert "another seat is asked" in rpgres("table", "answer", "no", "--as", "gm").err
    assert "invoke=maybe is not offered" in rpgres("table", "answer", "maybe").err
    posted = rpgres("table", "answer", "no", "--view", "view.json")
    assert " invoke=no " in posted.out
    assert rpgres("table", "answer", "no", "--as", "mara").code == 3
    assert "mara, overcome: Fail" in rpgres("table", "answer", "fail").out


@pytest.mark.parametrize(
    "typed", ["roll 2d20 adv", "roll d20+5 --vs 15", "-h", "help", "fate overcome 3 2", "roll fate overcome 3 vs fair"]
)
def test_what_people_try_first_works(typed: str) -> None:
    assert rpgres(*typed.split()).code in (0, 3)


@pytest.mark.parametrize("group", ["config", "deck", "sheet"])
def test_a_group_without_a_command_names_its_commands_in_one_line(group: str) -> None:
    ran = rpgres(group)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"rpgres {group}: a command is missing: " in ran.err
    assert " show" in ran.err


def test_a_list_is_nobodys_name() -> None:
    assert "show list" not in rpgres("sheet", "list").err


def test_quotes_around_the_line_are_seen() -> None:
    assert "`rpgres roll 4dF`" in rpgres("roll 4dF").err


def test_one_dash_is_one_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["roll", "fate", "overcome", "-skill", "3", "-vs", "2"]
    monkeypatch.setattr("sys.argv", ["rpgres", *words])
    assert "options have two dashes: --skill" in rpgres(*words).err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_sheet_as_a_shell_of_windows_writes_it(encoding: str, tmp_path: Path) -> None:
    sheet = tmp_path / "mara.toml"
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    sheet.write_bytes(f'{mark}name = "Mara"\n'.encode(encoding))
    ran = rpgres("roll", "fate", "overcome", "--sheet", str(sheet), "--skill", "3", "--vs", "2")
    assert ran.code == 1
    assert "UTF-16 text" in ran.err
    assert "Set-Content -Encoding utf8" in ran.err


def test_an_action_alone_is_that_of_the_ruleset_in_the_settings() -> None:
    line = ["overcome", "--skill", "3", "--vs", "2", "--seed", "7"]
    assert rpgres(*line, RPGRES_RULESET="fate") == rpgres("roll", "fate", *line)
    for default in ("", "saga", "nowhere"):
        assert "you may want `rpgres roll fate overcome`" in rpgres(*line, RPGRES_RULESET=default).err
    assert "did you mean 'overcome'?" in rpgres("overcom", RPGRES_RULESET="fate").err


@pytest.mark.slow
def test_an_option_that_is_left_empty_takes_no_other_word() -> None:
    """As a script types it whose variable is empty: `--rulesets=$HOUSE`."""
    line = ("roll", "fate", "overcome", "--rulesets=", "--skill", "3", "--vs", "2", "--seed", "1", "--auto")
    assert rpgres(*line).out == rpgres(*(word for word in line if word != "--rulesets=")).out


def test_a_folder_above_the_rulesets_is_told(tmp_path: Path) -> None:
    inner = tmp_path / "house" / "rulesets" / "fate"
    inner.mkdir(parents=True)
    (inner / "ruleset.toml").write_text("version = '2'\n")
    done = rpgres("ruleset", "check", "fate", "--rulesets", str(tmp_path / "house"))
    assert (done.code, done.out) == (2, "")
    assert done.err == f"rpgres: --rulesets {tmp_path / 'house'}: no rulesets there; did you mean {inner.parent}?\n"
    (tmp_path / "house" / "saga" / "sheets").mkdir(parents=True)
    assert rpgres("ruleset", "check", "fate", "--rulesets", str(tmp_path / "house")).code == 0


@pytest.mark.parametrize(
    ("typed", "lead"),
    [
        ("mara overcome fight 2", "`rpgres roll fate overcome --sheet mara fight 2`"),
        ("ilse act --ability strength=8", "`rpgres roll saga act --sheet ilse --ability strength=8`"),
        ("mara", "`rpgres sheet show mara`"),
    ],
)
def test_a_short_line_without_a_table_leads_to_the_roll(
    typed: str, lead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RPGRES_TABLE", str(tmp_path / "none.db"))
    ran = rpgres(*typed.split())
    assert (ran.code, ran.out, lead in ran.err) == (2, "", True)


def test_a_short_line_outside_of_a_session_leads_to_the_table_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rpgres("table", "new", "fate", "--sheet", "mara")
    assert "`rpgres table act mara overcome fight 2` or `rpgres play`" in rpgres("mara", "overcome", "fight", "2").err
    assert "`rpgres table show mara`" in rpgres("mara").err
    assert rpgres("table", "act", "mara", "overcome", "fight", "2", "--auto").code == 0
    assert "you may want `rpgres table act overcome`;" in rpgres("table", "overcome").err
    assert "you may want" not in rpgres("table", "swim").err  # no action of this table's ruleset
    assert "`rpgres table set edda=absent`" in rpgres("table", "leave").err


@pytest.mark.parametrize("word", ["new", "create", "delete"])
def test_what_cannot_be_done_with_scenes_is_not_taken_for_the_name_of_one(word: str) -> None:
    told = rpgres("scene", word).err
    assert "you may want" not in told
    assert "`rpgres scene --help`" in told


@pytest.mark.parametrize(
    ("typed", "lead"),
    [
        ("table note two words", "(words); quotes make one text of several words; "),
        ("table join edda --sheet venn", "name one sheet: edda or venn"),
        ("table set mara.fate-points 2", "(2); PATH=VALUE is one word, as in mara.fate-points=2; "),
        ("play fate", "(fate); it needs an existing table: `rpgres table new RULESET --sheet FILE` "),
        ("sheet new fate kara.toml", "; a file to write is named with --out kara.toml; "),
    ],
)
def test_what_a_command_takes_otherwise_is_told(typed: str, lead: str) -> None:
    ran = rpgres(*typed.split())
    assert (ran.code, ran.out, lead in ran.err) == (2, "", True), ran.err


def test_a_word_behind_play_is_a_table_or_a_seat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rpgres("table", "new", "fate", "--sheet", "mara")
    assert "; a table is named with --table .rpgres; " in rpgres("play", ".rpgres").err
    assert "; a seat is named with --as mara; " in rpgres("play", "mara").err
