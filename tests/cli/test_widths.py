"""Everything that is printed fits the width it is given: no longer line, no broken word."""

from __future__ import annotations

import itertools
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.cli.root import COMMANDS
from rpgres.render.lines import HANG, Look, Piece, line, plain_text, wrapped
from rpgres.render.reports import Cell, Grid, Table
from tests.support.command_line import Ran, on_screen
from tests.support.effort import few
from tests.support.terminal import Terminal

WIDTHS = (40, 80, 120)
WIDE = 1000  # where nothing is broken
BARS = "█▌▓▒░│"

FATE = "fate overcome --skill 3 --vs"
ROLLED = [
    f"roll {FATE} 4dF+2 --seed 7 --note 'a note that is long enough to need a second line on narrow terminals'",
    "roll fate overcome --sheet mara --skill fight --vs 3 --seed 7 --aspect 'Burning Oil=1'",
    "roll fate overcome --skill 1 --vs 3 --given roll=-0-0 --seed 7",
    "roll 4d6kh3+2 --seed 7",
    "roll 12d6 --seed 7",
    f"roll {FATE} 2 --seed 7 --repeat 20",
    f"roll {FATE} 2 --seed 7 --repeat 3 --each-run",
    "roll 3d6 --seed 7 --repeat 50",
    "roll saga act --sheet ilse --ability intellect --vs average --seed 7 --auto",
    "roll faith confront --sheet sable --skill ballistic --attribute dexterity --gm --seed 7 --auto",
]
ODDS = [
    f"odds {FATE} 4dF+2",
    f"odds {FATE} 2 --by margin",
    "odds fate overcome --skill 3",
    "odds 4d6kh3",
    f"odds {FATE} 2 --compare full_defense=no --compare vs=3",
    f"odds {FATE} 2 --compare vs=4dF+3",
    f"odds {FATE} 0..4",
    "odds fate overcome --skill 0..5 --vs 0..8",
    "odds saga act --ability strength=8 --vs average --hand St6,Ag3,Do8",
    "odds fate/bribe",
    "odds fate/bribe --auto --by characters.mara.counters.fate-points",
    "simulate fate overcome --skill 3 --vs 4dF+2 -n 200 --seed 7",
    "simulate fate/break-in -n 50 --seed 7",
    "simulate fate/bribe -n 50 --seed 7 --by characters.mara.counters.fate-points",
]
SHOWN = [
    "scene run fate/bribe --seed 7",
    "scene run saga/toll-gate --seed 7",
    "deck list",
    "deck show saga/fate-96 --codes",
    "deck show standard",
    "deck draw saga/fate-96 --seed 7",
    "sheet show mara",
    "sheet show sable",
    "sheet show ilse",
    "sheet show bram",
    "ruleset list",
    *(f"ruleset show {name}" for name in ("fate", "saga", "faith", "nodice", "coppermane")),
    "ruleset show fate overcome",
    "plugin list",
]
LOOKED_UP = [
    "",
    "help",
    *(f"help {topic}" for topic in ("designer", "game-master", "cards", "post", "scripts", "rulesets")),
    "config show",
    "sheet check mara",
    "scene test fate/bribe",
    "scene check fate/bribe",
    "ruleset check again-pool",
    "simulate fate/bribe --show 0 --seed 7",
    "simulate fate overcome --skill 3 --vs 2 --show 0 --seed 7",
]
HELP = [
    "--help",
    *(f"{name} --help" for name in COMMANDS),
    "roll fate --help",
    "roll fate overcome --help",
    "roll saga act --help",
    "odds 4dF --help",
    "table act --help",
    "scene run --help",
]


def fits(ran: Ran, wide: Ran, columns: int) -> None:
    """Hold what is shown against what is shown without an end of lines."""
    known = {word for text in wide.out.split() for word in (text, text.rstrip(":,;"))}
    for text in ran.out.splitlines():
        words = text.split()
        is_one_word = len(words[-1:] and words[-1]) > columns - 8  # for which no line has room
        assert len(text) <= columns or is_one_word, f"{len(text)} columns, {columns} wanted: {text}"
        for word in words:
            broken = word not in known and word.rstrip(":,;") not in known and word != "\\"
            assert not (broken and word.strip(BARS)), f"{word!r} is not one word of it: {text}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "columns"), few(itertools.product([*ROLLED, *ODDS, *SHOWN, *LOOKED_UP, *HELP], WIDTHS), 50)
)
def test_what_is_shown_fits(typed: str, columns: int, wide: dict[str, Ran]) -> None:
    ran = on_screen(*shlex.split(typed), columns=columns)
    assert ran.code in (0, 3), ran.err
    if typed not in wide:
        wide[typed] = on_screen(*shlex.split(typed), columns=WIDE)
    fits(ran, wide[typed], columns)


@pytest.fixture(scope="module")
def wide() -> dict[str, Ran]:
    """What each line shows where there is all the room."""
    return {}


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table where something has happened and something waits."""
    monkeypatch.chdir(tmp_path)
    for typed in (
        "table new --ruleset fate --sheet mara --sheet edda --sheet guards --seed 7",
        "table act overcome --actor mara --skill fight --vs 2 --given roll=++++ --choose invoke=no",
        "table note 'The rain stops, and somewhere behind the harbour wall a bell begins to ring.'",
        "table act attack --actor mara --skill fight --vs guards:fight --given roll=----",
    ):
        ran = on_screen(*shlex.split(typed))
        assert ran.code in (0, 3), ran.err


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_table_fits(columns: int, table: None) -> None:
    for typed in ("table show", "table log", "table show --as mara", "table verify"):
        ran = on_screen(*typed.split(), columns=columns)
        assert ran.code in (0, 20)  # which is that the seed is still secret
        fits(ran, on_screen(*typed.split(), columns=WIDE), columns)


def test_what_if_fits(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    typed = "roll fate overcome --sheet mara --skill fight --vs 3 --seed 7 --json --choose invoke=no --auto"
    result.write_text(on_screen(*typed.split()).out)
    line = ("whatif", str(result), "--given", "roll=++++", "--auto")
    assert on_screen(*line).code == 0
    for columns in WIDTHS:
        fits(on_screen(*line, columns=columns), on_screen(*line, columns=90), columns)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("columns", WIDTHS)
def test_the_size_of_the_terminal_counts_where_no_variable_says_it(columns: int) -> None:
    line = ["odds", "fate", "overcome", "--skill", "3", "--vs", "2", "--vs", "4dF+2", "--vs", "hard"]
    code, text = Terminal(line, COLUMNS="", columns=columns).end()
    assert (code, max(map(len, text.splitlines())) <= columns) == (2, True), text
    code, text = Terminal(["odds", "fate", "overcome", "--skill", "3"], COLUMNS="", columns=columns).end()
    assert (code, max(map(len, text.splitlines())) <= columns) == (0, True), text


# ---------------------------------------------------------------------------------------------------------------------
# How a line is broken


@given(st.lists(st.text("abc'\"-[]%=", min_size=1, max_size=9), min_size=1, max_size=20), st.integers(20, 60))
def test_nothing_is_lost_and_nothing_added(words: list[str], width: int) -> None:
    rows = ["".join(piece.text for piece in row) for row in wrapped(line("  ", " ".join(words)), width)]
    assert " ".join(rows).split() == words
    assert all(len(row) <= width or len(row.split()) == 1 for row in rows if "%" not in row and "]" not in row)


def test_a_line_goes_on_where_it_says() -> None:
    pieces = line("  ", Piece("name", "name"), "  ", HANG, "a text that is long")
    assert plain_text([pieces], Look(width=20)) == "  name  a text that\n        is long\n"
    assert (
        plain_text([line("  a number of 18.52 % is whole")], Look(width=20)) == "  a number of\n    18.52 % is whole\n"
    )


def test_where_two_columns_have_no_room_a_row_has_all_it_says_below_its_name() -> None:
    columns = ["outcome", "probability of a long heading", "difference of a long heading"]
    rows = [["Clean", "", ""], ["  base of a long name", "97 %", ""], ["  vs=4", "81 %", "-16"]]
    table = Table(columns=columns, rows=[[Cell(text) for text in row] for row in rows], align="<>>")
    assert [plain_text([one]).rstrip() for one in Grid(table).laid_out(Look(width=40))] == [
        "  Clean",
        "    base of a long name",
        "      probability of a long heading: 97 %",
        "    vs=4",
        "      probability of a long heading: 81 %",
        "      difference of a long heading: -16",
    ]


def test_boxes_are_drawn_on_a_terminal_and_told_elsewhere() -> None:
    drawn, told = on_screen("sheet", "show", "mara").out, on_screen("sheet", "show", "mara", "--plain").out
    assert "Mental stress:   [1][2][3]  0 of 3 checked\n" in drawn
    assert "Mental stress:   1 free, 2 free, 3 free\n" in told


def test_a_command_is_broken_where_a_shell_reads_on() -> None:
    command = "rpgres roll fate overcome --note 'It rains again' --skill 3"
    shown = plain_text([line("  ", Piece(command, "command"))], Look(width=36))
    assert shown.count("\\\n") == len(shown.splitlines()) - 1
    assert shlex.split(shown.replace("\\\n", " ")) == shlex.split(command)
    assert "--note 'It rains again'" in shown
    waiting = ("roll", "fate", "overcome", "--skill", "1", "--vs", "3", "--given", "roll=-0-0", "--seed", "7")
    assert on_screen(*waiting, columns=40).out.count(" \\\n") == 3
