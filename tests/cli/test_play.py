"""`rpgres play`: what lines stand for, what is offered, and the room itself at a terminal of 80 columns and 24 rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rpgres.cli.asking.terminal import listening
from rpgres.cli.play.offers import offers
from rpgres.cli.play.seat import CommandSeat
from rpgres.cli.play.session import Session
from rpgres.errors import RpgresError, UsageError
from rpgres.lines.fitting import Reading
from rpgres.lines.helping import help_lines, short_form
from rpgres.lines.seat import OTHERS, TABLE_COMMANDS, Seat
from rpgres.lines.status import status
from rpgres.lines.words import joined, split, words_of
from rpgres.model.cards import shown_codes
from rpgres.model.state import GM, put
from rpgres.render.lines import plain_text
from tests.support.command_line import rpgres

terminal = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
CANCEL, LEFT = "\x03", "\x04"
TABLE = Path(".rpgres/table.db")
LOST = ("act", "overcome", "--skill", "1", "--vs", "3", "--given", "roll=----", "--actor", "mara")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(*args: str, code: int = 0) -> str:
    done = rpgres("table", *args)
    assert done.code == code, done
    return done.out


def begun(*sheets: str, ruleset: str = "fate") -> None:
    table("new", "--ruleset", ruleset, "--seed", "7", *(word for name in sheets for word in ("--sheet", name)))


def nobody(_text: str, _readings: Sequence[Reading]) -> None:
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Words


@given(st.lists(st.text("ab\"' =:,-\\\N{RIGHT SINGLE QUOTATION MARK}", max_size=8)))
def test_words_joined_are_split_again(words: list[str]) -> None:
    assert split(joined(words)) == words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("mara attack O'Brien with fight", ["mara", "attack", "O'Brien", "with", "fight"]),
        (r"join --sheet C:\games\mara.toml", ["join", "--sheet", r"C:\games\mara.toml"]),
        (r'join --sheet "C:\my games\mara.toml"', ["join", "--sheet", r"C:\my games\mara.toml"]),
        ("--name 'On Fire' x", ["--name", "On Fire", "x"]),
        ("--name='On Fire'", ["--name=On Fire"]),
        ('--name "the ""Owl"" inn"', ["--name", 'the "Owl" inn']),
        ("the dogs' bone", ["the", "dogs'", "bone"]),
        ("note it's late", ["note", "it's late"]),
        ('note "late" --to mara', ["note", "late", "--to", "mara"]),
        ("note it is late --to=mara", ["note", "it is late", "--to=mara"]),
        ('note "Late," she said', ["note", '"Late," she said']),
    ],
)
def test_a_line_as_words(line: str, words: list[str]) -> None:
    assert words_of(line) == words


def test_a_quotation_mark_that_is_not_closed_is_told() -> None:
    with pytest.raises(UsageError, match="missing closing quote"):
        words_of('overcome "x')


# ---------------------------------------------------------------------------------------------------------------------
# What lines stand for


@pytest.mark.parametrize(
    ("line", "arguments", "long"),
    [
        ("mara: overcome --skill 3 --vs 2", "act overcome --skill 3 --vs 2 --actor mara", ""),
        ("overcome --skill 3 --vs 2 --actor mara", "act overcome --skill 3 --vs 2 --actor mara", ""),
        ("mara overcome burglary 3", "act overcome --skill burglary --vs 3 --actor mara", "--skill burglary --vs 3"),
        (
            "Mara-Quill overcome burglary 3",
            "act overcome --skill burglary --vs 3 --actor mara",
            "--skill burglary --vs 3",
        ),
        (
            "Mara Quill overcome burglary 3",
            "act overcome --skill burglary --vs 3 --actor mara",
            "--skill burglary --vs 3",
        ),
        (
            "mara: attack thug with fight",
            "act attack --skill fight --vs thug:fight --actor mara",
            "--skill fight --vs thug:fight",
        ),
        ("odds --help", "odds --help", ""),
        ("undo 3", "undo 3", ""),
        ("redo", "redo", ""),
        ("help overcome", "act overcome --help", ""),
        ("help undo", "undo --help", ""),
        ("mara overcome --help", "act overcome --help", ""),
        ("help game-master", "help game-master", ""),
    ],
)
def test_what_a_line_stands_for(line: str, arguments: str, long: str) -> None:
    begun("mara", "edda", "thug")
    understood = CommandSeat(TABLE, None).understood(split(line), nobody)
    assert joined(understood.arguments) == arguments
    assert understood.long == (f"mara {arguments.split()[1]} {long}" if long else "")


@pytest.mark.parametrize(
    ("line", "long"),
    [
        ("edda conflict alongside mara vs thug", "edda conflict --against thug --ally mara"),
        ("begin conflict with mara and edda against thug", "mara conflict --against thug --ally edda"),
        ("conflict with edda and mara against thug", "edda conflict --against thug --ally mara"),
        ("mara and edda conflict against thug", "mara conflict --against thug --ally edda"),
        (
            "mara conflict against thug and guards with edda",
            "mara conflict --against thug --against guards --ally edda",
        ),
        ("mara conflict against thug, guards", "mara conflict --against thug --against guards"),
        ("mara conflict against thug,guards", "mara conflict --against thug --against guards"),
        ("mara conflict against the thug, and the guards", "mara conflict --against thug --against guards"),
        ("mara conflict against thug guards", "mara conflict --against thug --against guards"),
        ("mara conflict thug, guards, with edda", "mara conflict --against thug --against guards --ally edda"),
        ("mara and edda conflict thug and guards", "mara conflict --against thug --against guards --ally edda"),
        ("mara and edda conflict thug", "mara conflict --against thug --ally edda"),
        ("mara conflict with edda thug", "mara conflict --against thug --ally edda"),
        ("begin conflict", ""),
    ],
)
def test_who_stands_beside_whom_in_a_conflict(line: str, long: str) -> None:
    begun("mara", "edda", "thug")
    understood = CommandSeat(TABLE, None).understood(split(line), nobody)
    assert understood.long == long
    assert understood.arguments[:2] == (["act", "conflict"] if long else ["begin", "conflict"])


def test_two_side_by_side_without_a_word_of_their_side_are_refused() -> None:
    begun("mara", "edda", "thug")
    with pytest.raises(UsageError, match="`conflict against edda and thug`, or `conflict with edda against thug`"):
        CommandSeat(TABLE, None).understood(split("mara conflict edda thug"), nobody)


@pytest.mark.parametrize(
    ("said", "long"),
    [
        ("edda, without mara", "edda conflict --against thug"),
        ("mara, with edda beside", "mara conflict --against thug --ally edda"),
    ],
)
@pytest.mark.parametrize("begin", ["", "begin "])
def test_one_hero_alone_behind_with_leads_or_stands_beside(begin: str, said: str, long: str) -> None:
    begun("mara", "edda", "thug")
    asked: list[str] = []

    def answered(text: str, readings: Sequence[Reading]) -> Reading | None:
        asked.append(text)
        return next((one for one in readings if one.text == said), None)

    line = split(f"{begin}conflict with edda against thug")
    assert Seat(TABLE, None).understood(line, answered).long == long
    assert asked[0] == "Who acts?"
    told = "the actor comes first: `edda conflict against thug`, or `mara conflict with edda against thug`"
    with pytest.raises(UsageError, match=told):
        Seat(TABLE, None).understood(line, nobody)
    assert Seat(TABLE, "mara").understood(line, nobody).long == "mara conflict --against thug --ally edda"


def test_every_action_in_turns_may_begin() -> None:
    begun("mara", "thug")
    line = split("begin contest with mara vs thug:fight skill 1")
    assert Seat(TABLE, None).understood(line, nobody).long == "mara contest --skill 1 --vs thug:fight"


def test_the_first_of_several_heroes_acts_whoever_else_sits_there() -> None:
    begun("mara", "edda", "venn", "thug")
    line = split("begin conflict with mara and edda against thug")
    assert CommandSeat(TABLE, None).understood(line, nobody).long == "mara conflict --against thug --ally edda"


def test_an_action_that_is_misspelt_is_offered_and_keeps_its_line() -> None:
    begun("mara", "edda", "guards")
    asked: list[str] = []

    def first(text: str, readings: Sequence[Reading]) -> Reading:
        asked.append(text)
        return readings[0]

    understood = CommandSeat(TABLE, None).understood(split("edda atack guards with fight"), first)
    assert asked == ["'atack' is no action here. Did you mean 'attack', or which one?"]
    assert understood.long == "edda attack --skill fight --vs guards:fight"


@pytest.mark.parametrize(
    ("line", "long"),
    [
        ("Kára attacks the thug with fight", "bell-founder attack --skill fight --vs thug:fight"),
        ("kara attack thug fight", "bell-founder attack --skill fight --vs thug:fight"),
        ("KÁRA overcome crafts 2", "bell-founder overcome --skill crafts --vs 2"),
        ("thug attack Kara with fight", "thug attack --skill fight --vs bell-founder:fight"),
    ],
)
def test_a_character_is_called_by_title_with_accents_or_without(line: str, long: str) -> None:
    begun("edda", "thug")
    table("export", "--out", "kept")
    kara = Path("kept/sheets/edda.toml").read_text(encoding="utf-8").replace("Edda Holm", "Kára")
    Path("bell-founder.toml").write_text(kara, encoding="utf-8")
    table("join", "--sheet", "bell-founder.toml")
    seat = Seat(TABLE, None)
    assert seat.understood(seat.typed(split(line)), nobody).long == long
    assert "  Refresh" in table("show", "Kara")
    assert "bell-founder, overcome" in table(
        "act", "overcome", "--actor", "Kara", "--skill", "4", "--vs", "0", "--auto"
    )


@pytest.mark.parametrize(
    ("line", "long"),
    [
        ("mara attack --vs hired thug --skill fight", ""),
        ("mara attack with fight --vs hired thug", 'mara attack --skill fight --vs "Hired thug"'),
        ("mara attack with fight --vs=hired thug:fight", 'mara attack --skill fight --vs="Hired thug:fight"'),
        ("mara attack hired thug:athletics with fight", "mara attack --skill fight --vs thug:athletics"),
        ("Mara Quill: attack the Hired Thug with fight", "mara attack --skill fight --vs thug:fight"),
        ("hired thug attacks mara quill with fight", "thug attack --skill fight --vs mara:athletics"),
        ("mara quill and edda holm conflict against hired thug", "mara conflict --against thug --ally edda"),
        ("mara conflict --against hired thug --ally edda holm", ""),
        ("mara conflict against hired thug, edda holm", "mara conflict --against thug --against edda"),
        ("mara conflict against edda holm,hired thug", "mara conflict --against edda --against thug"),
        ("odds Mara Quill attack hired thug with fight", "mara attack --skill fight --vs thug:fight"),
    ],
)
def test_the_words_of_a_name_are_one_wherever_it_stands(line: str, long: str) -> None:
    begun("mara", "edda", "thug")
    seat = Seat(TABLE, None)
    understood = CommandSeat(TABLE, None).understood(seat.typed(split(line)), nobody)
    assert understood.long.removeprefix("odds ") == long
    assert not {"hired", "holm"} & set(understood.arguments)


def test_names_of_several_words_are_read_by_commands_too() -> None:
    begun("mara", "thug")
    done = rpgres("play", stdin="set hired thug.members=2\nshow hired thug\nshow the Hired Thug\n")
    assert done.err == ""
    assert done.out.count("Members 2") == 2
    done = rpgres("play", stdin="mara attack with fight --vs hired thug:fight --auto\n")
    assert "opposition (thug)" in done.out, done
    assert "mara, attack" in table("act", "Mara", "Quill", "attack", "Hired", "thug", "with", "fight", "--auto")


def test_it_is_asked_how_a_conflict_is_played() -> None:
    begun("mara", "edda", "thug")
    asked: list[str] = []

    def answered(text: str, readings: Sequence[Reading]) -> Reading | None:
        asked.append(text.partition("(")[0].strip())
        if not readings:
            return Reading("thug", ("thug",))
        return readings[-1 if "played" in text else 0]

    understood = CommandSeat(TABLE, None).understood(["begin", "conflict"], answered)
    assert asked == ["How is the conflict played?", "Who acts?", "conflict: against?", "conflict: ally?"]
    assert understood.arguments == ["act", "conflict", "--against=thug", "--ally=edda", "--actor", "mara"]


SAID = {  # what somebody types who has never seen it, and where it leads
    "Mara attacks the guards with fight": "act attack --skill fight --vs guards:fight --actor mara",
    "I overcome burglary 3": "Who acts?",
    "mara hits a guard with her fists": "'hits' is no action here. Which one is meant?",
    "mara creates an advantage with stealth vs 2": "act create-advantage --skill stealth --vs 2 --actor mara",
    "create advantage stealth 2": "Who acts?",
    "Mara is attacking guards with fight": "'is' is no action here. Which one is meant?",
    "mara sneaks past the guards": "'sneaks' is no action here. Which one is meant?",
    "mara discovers lore of edda": "what of edda opposes this?",
    "mara burglary 3": "What is done with burglary?",
    "burglary": "What is done with burglary?",
    "roll stealth vs 2": "What is done with stealth?",
    "roll 4dF": "roll 4dF",
    "roll 2d6+1": "roll 2d6+1",
    "mara attacks": "attack: skill?",
    "mara overcome": "overcome: skill?",
    "mara overcome burglary": "overcome: vs?",
    "attack the guards": "Who acts?",
    "what can I do?": "help",
    "?": "help",
    "help me": "help",
    "who is here?": "show",
    "look around": "show",
    "show mara": "show mara",
    "show me Mara's sheet": "show mara",
    "show mara quill": "show mara",
    "mara": "show mara",
    "hand": "show",
    "oops": "undo",
    "undo that!": "undo",
    "take that back": "undo",
    "start a conflict": "How is the conflict played?",
    "start scene": "begin scene",
    "begin fight": "begin fight",
    "history": "log",
    "bye": "quit",
    "save": "there is nothing to save",
    "mara spends a fate point": "set mara.fate-points=3",
    "give edda a fate point": "set edda.fate-points=2",
    "mara has 2 fate points": "set mara.fate-points=3",
    "odds mara attacks the guards with fight": "odds attack --skill fight --vs guards:fight --actor mara",
    "odds mara dances": "has no action 'dances'",
    "chances mara overcome burglary 3": "odds overcome --skill burglary --vs 3 --actor mara",
    "go on": "answer",
    "mara rolls stealth": "What is done with stealth?",
    "mara makes a stealth check": "What is done with stealth?",
    "I attack the guards": "Who acts?",
    "4dF+2": "roll 4dF+2",
    "d20 adv": "roll d20 adv",
    "fate points": "status",
    "who is next?": "status",
    "aspects": "show",
    "new scene": "begin scene",
    "invoke smoke": "is asked in the middle of an action",
    "xyzzy": "`help` shows how lines are typed",
}


def test_what_a_newcomer_types_leads_on() -> None:
    begun("mara", "edda", "guards")
    room, asked = CommandSeat(TABLE, None), list[str]()

    def nobody_answers(text: str, _readings: Sequence[Reading]) -> None:
        asked.append(text)

    for line, where in SAID.items():
        words, asked[:] = room.typed(words_of(line)), []
        if words[0] in ("help", "quit"):
            assert words == [where], line
            continue
        try:
            found = joined(room.understood(words, nobody_answers).arguments)
        except UsageError as error:
            found = error.typed
        assert any(where in text for text in (found, *asked)), (line, found, asked)


@pytest.mark.parametrize("plain", [(), ("--plain",)], ids=["coloured", "plain"])
def test_every_command_of_a_table_is_a_line(plain: Sequence[str]) -> None:
    begun("mara")
    table("act", *LOST[1:], "--auto")
    lines = ["log 1", "join edda", "verify", "table export --out evening", "export other", "view mine --as mara"]
    lines += ["rpgres table act overcome --actor mara --skill 1 --vs 0 --auto"]
    done = rpgres("play", *plain, stdin="\n".join(lines))
    assert not done.err, done
    assert done.out.count("mara, overcome") == 2, done.out  # by `log 1`, and as it is done
    assert "not checked: the rolls" in done.out
    assert all(Path(name).exists() for name in ("evening/account.md", "other/rolls.csv", "mine"))
    assert len(CommandSeat(TABLE, None).history.entries) == 4
    from rpgres.cli.root import load_command

    assert {*load_command("table").commands} == {*TABLE_COMMANDS, *OTHERS, "new", "act"} - {"real"}


def test_one_character_is_shown_alone() -> None:
    begun("mara", "edda")
    assert "Edda" not in table("show", "mara")
    assert "Silver Tongue" in table("show", "mara")
    assert "did you mean 'mara'" in rpgres("table", "show", "mar").err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("und", "did you mean 'undo'"),
        ("mara overcom 3", "did you mean 'overcome'"),
        ("overcome burglary 3", "the actor comes first, as in `mara overcome`"),
        ("marra overcome burglary 3", "did you mean 'mara'"),
        ("mara overcome fight guard", "what of guard opposes this?"),
        ("mara invokes fog", "is asked in the middle of an action, and answered there: overcome"),
        ("mara roll stealth", "as in `mara overcome stealth`"),
        ("mara spends fate points", "numbers are changed with `set mara.fate-points="),
        ("mara afate-pointes edda", "'afate-pointes'"),
    ],
)
def test_a_line_that_stands_for_nothing(line: str, told: str) -> None:
    begun("mara", "edda", "guard")
    with pytest.raises(UsageError) as error:
        CommandSeat(TABLE, None).understood(split(line), nobody)
    assert told in error.value.typed


def test_odds_take_short_lines_too() -> None:
    begun("mara", "thug")
    room = CommandSeat(TABLE, None)
    understood = room.understood(split("odds mara attack thug with fight"), nobody)
    assert understood.arguments == "odds attack --skill fight --vs thug:fight --actor mara".split()  # noqa: SIM905
    assert understood.long == "odds mara attack --skill fight --vs thug:fight"
    assert room.understood(split("odds mara overcome burglary"), nobody).arguments[:2] == ["odds", "overcome"]
    assert shown(room, "odds ") == ["mara", "thug", *room.actions]
    assert shown(room, "odds mara overcome burg") == ["burglary"]
    assert "--compare" in shown(room, "odds mara overcome --")


def test_what_is_unclear_or_missing_is_asked() -> None:
    begun("mara", "edda", "guard")
    asked: list[str] = []

    def first(text: str, readings: Sequence[Reading]) -> Reading:
        asked.append(text.partition("?")[0])
        return readings[0] if readings else Reading("2", ("2",))

    room = CommandSeat(TABLE, None)
    assert room.understood(split("overcome fight guard"), first).long == "mara overcome --skill fight --vs guard:fight"
    assert asked == ["Who acts", "what of guard opposes this"]
    asked.clear()
    assert room.understood(split("edda overcome crafts"), first).long == "edda overcome --skill crafts --vs 2"
    assert asked == ["overcome: vs"]


# ---------------------------------------------------------------------------------------------------------------------
# What is offered, and what stands below the line


def shown(room: Seat, line: str) -> list[str]:
    return [one.shown for one in offers(room, line)]


@pytest.mark.slow
def test_everything_is_offered() -> None:
    begun("mara", "edda", "thug")
    room = CommandSeat(TABLE, None)
    assert {"mara", "attack", "show", "note", "help", "quit"} <= set(shown(room, ""))
    assert shown(room, "mar") == ["mara"]
    assert shown(room, "mara ov") == ["overcome"]
    assert shown(room, "mara overcome burg") == ["burglary"]
    assert {"legendary", "edda", "thug"} <= set(shown(room, "mara overcome burglary "))
    assert shown(room, "mara attack thug:f") == ["thug:fight"]
    assert shown(room, "attack with fi") == ["fight"]
    assert shown(room, "mara attack --tr") == ["--track"]
    assert shown(room, "mara attack --track ") == shown(room, "mara attack track ") == ["physical", "mental"]
    assert shown(room, "mara defend stunt ") == [
        "honest-face",
        "rooftop-runner",
        *shown(room, "mara defend stunt ")[2:],
    ]
    assert shown(room, "mara overcome burglary 3 price ") == ["fail", "cost"]
    assert shown(room, "begin ") == ["exchange", "scene", "session", "conflict"]
    assert shown(room, "help unde") == []
    assert shown(room, "help und") == []  # nothing is done yet
    assert shown(room, "log --la") == ["--last"]
    assert shown(room, "pass inv") == ["invoke", "invoke-against"]
    assert "characters.mara.counters.fate-points=" in shown(room, "set characters.m")
    assert [(one.text, one.length) for one in offers(room, "mara ov")] == [("overcome ", 2)]
    assert [one.text for one in offers(room, "mara overcome removes Wa")] == ['"Wanted in Three Ports" ']


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.sampled_from(["mara", "attack", "odds", "help", "undo", "with", '"On', "--vs", "-", "thug:", "'", "3"]),
        max_size=5,
    )
)
def test_any_line_is_met_with_offers_or_an_error_for_people(words: list[str]) -> None:
    if not TABLE.exists():
        begun("mara", "thug")
    room = CommandSeat(TABLE, None)
    for line in (" ".join(words), " ".join([*words, ""])):
        assert all(one.text and one.length <= len(line) for one in offers(room, line))
        with suppress(RpgresError):
            if typed := words_of(line):
                assert room.understood(typed, nobody).arguments


def test_cards_in_hand_are_offered_to_whoever_holds_them() -> None:
    begun("ilse", "brannagh", ruleset="saga")
    table("act", "act", "--ability", "strength", "--vs", "average", "--actor", "ilse", code=3)
    waits = CommandSeat(TABLE, "ilse").waits
    assert waits is not None
    own = [one.name for one in waits.question.options]
    assert [one for one in shown(CommandSeat(TABLE, "ilse"), "answer --choose ") if "play=" in one]
    assert shown(CommandSeat(TABLE, "brannagh"), "answer --choose ") == []
    table("answer", "--choose", f"play={own[0]}", "--auto")
    hand = shown(CommandSeat(TABLE, "ilse"), "act strength average play ")
    assert len({card.rstrip("+-n") for card in own[1:]} & {card.rstrip("+-n") for card in hand}) > 2
    assert shown(CommandSeat(TABLE, "brannagh"), "ilse act strength average play ") == []


def test_the_status_line_tells_points_and_what_waits_to_those_who_may_know() -> None:
    begun("mara", "edda", "thug")
    assert status(CommandSeat(TABLE, None), 80) == (
        " mara: 3 fate points · edda: 2 fate points" + " " * 24 + "nothing waits"
    )
    table(*LOST, code=3)
    assert status(CommandSeat(TABLE, None), 80).endswith("waits for mara: invoke")
    assert status(CommandSeat(TABLE, "edda"), 80).endswith("another seat decides")
    assert len(status(CommandSeat(TABLE, None), 40)) < 40
    assert status(CommandSeat(TABLE, None), 40).endswith("waits for mara: invoke")


def test_the_status_line_tells_what_the_finished_turns_of_a_conflict_left() -> None:
    begun("mara", "guards")
    table("act", "conflict", "--actor", "mara", "--against", "guards", code=3)
    given = ("--given", "roll=0000", "--given", "opposition=0000")
    answers = ("turn=attack", "concede=no", "invoke=i-know-a-back-way", "invoke=no", "invoke-against=no", "hit=full")
    table("answer", *given, *(word for one in answers for word in ("--choose", one)), code=3)
    assert "mara: 2 fate points" in status(Seat(TABLE, None), 80)
    assert "mara: 2 fate points" in status(Seat(TABLE, "mara"), 80)


def test_the_status_line_tells_what_is_left_where_points_were_spent_before_the_open_question() -> None:
    begun("mara", "edda")
    table(*LOST, "--choose", "invoke=i-know-a-back-way", code=3)
    assert "mara: 2 fate points" in status(Seat(TABLE, None), 80)
    assert "mara: 3 fate points" in status(Seat(TABLE, "edda"), 80)


def test_help_of_a_command_is_a_line_and_leaving_a_question_leaves_the_table() -> None:
    begun("mara")
    done = rpgres("play", stdin="help undo\nbegin --help\nquit\n")
    assert "undo: undo the last action" in done.out
    assert "Usage: rpgres table begin" in done.out
    table(*LOST, code=3)
    done = rpgres("play", stdin="answer\nquit\nshow\n")
    assert "Mara Quill" not in done.out  # nothing more is read


def test_what_is_asked_of_a_question_is_refused_where_none_is_open() -> None:
    begun("mara")
    done = rpgres("play", stdin="odds\nwhy\n1\nroll 1\n")
    assert done.err.count("no question is open that 'odds' would be about") == 1
    assert done.err.count("no question is open to you that 1 would answer; `roll 1` rolls it as dice") == 1
    assert done.out.count("seed: ") == 1  # of the dice
    assert done.err.count("no question is open that 'why' would be about") == 1


def test_a_line_at_a_question_may_be_a_command() -> None:
    begun("mara")
    table(*LOST, "--choose", "price=fail", code=3)
    lines = ["answer", "note late", "mara overcome fight 1", "undo", "redo", "answer", "nothing", "undo", ""]
    done = rpgres("play", stdin="\n".join(lines))
    told = ["  2  late", "  3  undid: mara overcome: waiting (entries 1 to 2)", "  4  redid: mara overcome: waiting"]
    places = [done.out.index(text) for text in [*told, "mara, overcome: Fail", "undid: mara overcome: fail (entr"]]
    assert places == sorted(places), done.out
    assert "cannot act now" in done.err
    assert (
        done.out.count("1 I Know a Back Way") == 3
    )  # anew where the table has changed, and by its first line elsewhere


@pytest.mark.parametrize(
    ("typed", "told", "entries"),
    [
        ("answer\nquit\nnote late\n", (), 2),  # leaves the table as well
        ("answer\nshow\nhelp\nno\nnote late\n", ("a decision waits (invoke: mara)", "Actions, as in"), 4),
        ("answer\n", (), 2),  # the input ends
        ("answer\nodds mara attacks 2 with fight\n", ("Attack: odds", "any success"), 2),
    ],
    ids=["quit", "show", "end", "odds"],
)
def test_a_question_can_be_left_and_the_table_looked_at(typed: str, told: Sequence[str], entries: int) -> None:
    begun("mara")
    table(*LOST, "--choose", "price=fail", code=3)
    done = rpgres("play", stdin=typed)
    assert not done.err
    assert all(text in done.out for text in told), done.out
    assert len(CommandSeat(TABLE, None).history.entries) == entries


def test_nothing_is_asked_about_an_action_that_cannot_begin_now() -> None:
    begun("mara")
    table(*LOST, "--choose", "price=fail", code=3)
    room, asked = CommandSeat(TABLE, None), list[str]()

    def asks(text: str, _readings: Sequence[Reading]) -> Reading | None:
        asked.append(text)
        return None

    room.look()
    with pytest.raises(UsageError, match=r"cannot act now: entry 1 .* mara is asked 'invoke'"):
        room.understood(["mara", "overcome"], asks)
    assert not asked
    assert room.understood(["odds", "mara", "overcome", "fight", "1"], asks).arguments[0] == "odds"


def test_what_a_session_adds_stands_before_words_taken_as_they_are() -> None:
    begun("mara")
    done = rpgres("play", stdin="mara overcome burglary vs 2 -- 3\n")
    assert "3" in done.err
    assert "--actor" not in done.err
    assert "--table" not in done.err


def test_the_status_line_counts_the_hand_and_no_deck_or_discard() -> None:
    begun("sable", ruleset="faith")
    room = CommandSeat(TABLE, None)
    assert "cards" not in status(room, 80)  # nothing was dealt
    cards = {"hand:sable": ("H9", "S2"), "discard:sable": ("C3",)}
    for pile, lie in cards.items():
        state = put(room.history.state, ("piles", pile, "cards"), lie)
        room.history = msgspec.structs.replace(room.history, state=state)
    assert status(room, 80).startswith(" sable: 2 cards, ")
    room.seat = GM
    assert status(room, 80).startswith(" sable: 2 cards, ")


def test_what_a_seat_cannot_see_changes_nothing_that_it_is_shown() -> None:
    begun("ilse", "brannagh", ruleset="saga")
    table("act", "act", "--ability", "strength", "--vs", "easy", "--actor", "ilse", "--auto")
    lines = ["", "act ", "act str", "act strength average play ", "act strength hand ", "set ", "undo ", "ilse act "]

    def seen(seat: str, cards: Sequence[str] = ()) -> list[object]:
        room = CommandSeat(TABLE, seat)
        if cards:
            state = put(room.history.state, ("piles", "hand:ilse", "cards"), tuple(cards))
            room.history = msgspec.structs.replace(room.history, state=state)
        return [*(offers(room, line) for line in lines), status(room, 80), help_lines(room, 80)]

    hand = CommandSeat(TABLE, None).history.state.piles["hand:ilse"].cards
    other = [f"{suit}1n" for suit in ("St", "Ag", "In", "Wi", "Do", "St")][: len(hand)]
    assert seen("brannagh", other) == seen("brannagh")
    assert seen("ilse", other) != seen("ilse")


def test_a_player_is_not_offered_what_only_the_game_master_may_do() -> None:
    begun("mara")
    for line in ("set ", "set characters.", "begin "):
        assert shown(CommandSeat(TABLE, GM), line)
        assert not shown(CommandSeat(TABLE, "mara"), line)


@pytest.mark.parametrize(
    ("seat", "told"),
    [
        (None, "`set mara.fate-points=3`"),
        ("gm", "`set mara.fate-points=3`"),
        ("mara", "ask the game master"),
    ],
)
def test_only_the_game_master_is_told_to_set_a_number(seat: str | None, told: str) -> None:
    begun("mara", "edda")
    with pytest.raises(UsageError) as raised:
        CommandSeat(TABLE, seat).understood(split("mara spends a fate point"), nobody)
    assert told in str(raised.value)
    assert ("`set mara" in str(raised.value)) == (seat != "mara")


@pytest.mark.parametrize("line", ["ilse act strength --hand ", "ilse act strength hand "])
def test_the_cards_of_a_hand_are_offered_and_not_the_deck(line: str) -> None:
    begun("ilse", "brannagh", ruleset="saga")
    room = CommandSeat(TABLE, "ilse")
    whole = shown(room, "ilse act strength --hand ")
    state = put(room.history.state, ("piles", "hand:ilse", "cards"), ("St1n", "Ag1n"))
    room.history = msgspec.structs.replace(room.history, state=state)
    assert sorted(shown(room, line)) == sorted(shown_codes(["St1n", "Ag1n"]))
    assert len(whole) > len(shown(room, line))  # where nothing was dealt, any card may be said to lie there


def test_what_cannot_be_done_is_not_offered() -> None:
    begun("fen", ruleset="two-dice")
    room = CommandSeat(TABLE, None)
    told = plain_text(help_lines(room, 80))
    assert "begin scene" in told
    assert "conflict" not in told
    assert {"answer", "undo", "redo", "end", "seal", "open"}.isdisjoint(told.split())
    assert max(len(line) for line in told.splitlines()) <= 80
    assert len(told.splitlines()) <= 8
    assert "begin" not in shown(CommandSeat(TABLE, "fen"), "")
    begun_again = rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "thug", "--table", "x.db")
    assert begun_again.code == 0
    assert "begin exchange|scene|session|conflict" in plain_text(help_lines(CommandSeat(Path("x.db"), None), 80))


def test_what_can_be_done_by_now_is_offered() -> None:
    begun("mara", "edda")
    table(*LOST, code=3)
    assert {"answer", "seal", "undo"} <= set(CommandSeat(TABLE, "mara").commands())
    assert {"answer", "seal", "redo"}.isdisjoint(CommandSeat(TABLE, "edda").commands())
    table("undo")
    assert "redo" in CommandSeat(TABLE, None).commands()
    table("begin", "scene")
    assert {"end"} <= set(CommandSeat(TABLE, None).commands())
    assert "redo" not in CommandSeat(TABLE, None).commands()


@pytest.mark.parametrize(
    ("ruleset", "sheets", "action", "short"),
    [
        ("fate", ("mara", "thug"), "attack", "mara attack athletics vs thug"),
        ("saga", ("ilse",), "act", "ilse act "),
        ("two-dice", ("fen",), "risk", "fen risk gentle"),
    ],
)
def test_help_of_an_action_begins_with_a_short_line_that_works(
    ruleset: str, sheets: tuple[str, ...], action: str, short: str
) -> None:
    begun(*sheets, ruleset=ruleset)
    room = CommandSeat(TABLE, None)
    example = short_form(room, action)
    assert example.startswith(short)
    assert room.understood(split(example), nobody).long
    done = rpgres("play", stdin=f"help {action}\nquit\n")
    assert f"Short: {example}\n" in done.out


# ---------------------------------------------------------------------------------------------------------------------
# Undo and redo


def test_an_example_a_question_and_completion_tell_the_same() -> None:
    begun("mara", "guards")
    room = CommandSeat(TABLE, None)
    asked: list[str] = []

    def nothing(text: str, _readings: Sequence[Reading]) -> None:
        asked.append(text)

    for line in ("mara attack guards", "mara overcome fight"):
        with suppress(UsageError):
            room.understood(split(line), nothing)
    skills, numbers = (text.partition("(")[2].split(", ") for text in asked)
    assert (skills[0], numbers[0]) == ("athletics", "good")
    assert shown(room, "mara attack with ")[:3] == skills[:3]
    assert shown(room, "mara overcome fight vs ")[:3] == numbers[:3]
    assert short_form(room, "attack") == "mara attack athletics vs guards"


def test_redo_brings_back_what_undo_took() -> None:
    begun("mara", "edda")
    table("act", "mara", "overcome", "burglary", "3", "--auto")
    table(*LOST, code=3)
    table("answer", "--choose", "invoke=no", code=3)
    before = table("show").partition("\n")[2]  # below how many entries there are
    assert table("undo").startswith("  4  undid: answer in mara overcome: waiting (entry 3)")
    assert table("undo") == "  5  undid: mara overcome: waiting (entries 2 to 4) (already seen: rolls)\n"
    assert table("undo").startswith("  6  undid: mara overcome: succeed")
    assert table("redo").startswith("  7  redid: mara overcome: succeed")
    table("note", "They wait.")
    assert table("redo") == "  9  redid: mara overcome: waiting\n"
    assert table("redo") == " 10  redid: answer in mara overcome: waiting\n"
    assert table("show").partition("\n")[2] == before
    assert table("answer", "--choose", "price=fail").startswith("mara, overcome: Fail")
    table("redo", code=2)
    table("reveal")
    assert table("verify").startswith("in order")


@pytest.mark.slow
def test_redo_ends_where_something_else_was_done() -> None:
    begun("mara", "edda")
    table("act", "mara", "overcome", "burglary", "3", "--auto")
    table("redo", code=2)
    table("undo")
    table("set", "characters.mara.counters.fate-points=1")
    assert "nothing to redo" in rpgres("table", "redo").err
    table("undo")
    assert "redid: set characters.mara" in table("redo")


def test_a_seat_redoes_only_what_it_may_undo() -> None:
    table("new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "edda", "--trust", "players")
    table("act", "overcome", "--skill", "burglary", "--vs", "none", "--auto", "--as", "mara")
    table("undo", "--as", "mara")
    assert "cannot redo it" in rpgres("table", "redo", "--as", "edda").err
    table("redo", "--as", "mara")
    assert table("verify", code=20).startswith("incomplete")


# ---------------------------------------------------------------------------------------------------------------------
# With a person who is asked


class Typing:
    """Reads lines as a person types them at whatever is asked, and leaves where nothing is left."""

    is_interactive = True

    def __init__(self, lines: Sequence[str]) -> None:
        self.left = list(lines)

    def command(self, _sign: str) -> str:
        return self.left.pop(0) if self.left else "quit"

    def read(self, sign: str, _choices: object = ()) -> str:
        return self.command(sign)


def typed_by_a_person(capsys: pytest.CaptureFixture[str], *lines: str) -> str:
    room = CommandSeat(TABLE, None)
    session = Session(room, Typing(lines), ["--table", str(TABLE)])
    capsys.readouterr()
    with listening(session):
        session.run()
    done = capsys.readouterr()
    return done.out + done.err


@pytest.mark.parametrize(
    ("lines", "told", "entries"),
    [
        (("mara attacks the guards", "status", "help attack", ""), ("mara: 3 fate points", "Short: "), 2),
        (("mara attacks the guards", "undo that"), ("undid: note",), 3),
        (("mara attacks the guards", "edda overcome crafts vs none --auto"), ("edda, overcome: Succeed",), 3),
        (("overcome crafts none", "show edda", "2", "note x"), ("Edda Holm",), 4),
        (("overcome crafts none", "9", "oops"), ("Type 1 to 3", "or type another line", "undid: note"), 3),
        (("mara hits guards", "note late"), ("  2  late",), 3),
    ],
)
def test_a_line_may_be_typed_where_another_is_completed(
    capsys: pytest.CaptureFixture[str], lines: Sequence[str], told: Sequence[str], entries: int
) -> None:
    begun("mara", "edda", "guards")
    table("note", "begun")
    said = typed_by_a_person(capsys, *lines)
    assert all(text in said for text in told), said
    assert "does not fit" not in said
    assert len(CommandSeat(TABLE, None).history.entries) == entries


@pytest.mark.parametrize(
    ("lines", "told", "people"),
    [
        (("edda attack guard with fight", "1", "quit"), "edda attack --skill fight --vs guards:fight", "guards"),
        (("edda attack guard with fight", "guards", "quit"), "edda attack --skill fight --vs guards:fight", "guards"),
        (
            ("edda overcome fight vs guard:fight", "1", "quit"),
            "edda overcome --skill fight --vs guards:fight",
            "guards",
        ),
        (("edda attack with fight", "guard", "1", "quit"), "edda attack --skill fight --vs guards:fight", "guards"),
        (("edda attack guard with fight --auto", "2"), "guard joins the table", "guards guard"),
        (("edda attack guard with fight", ""), "guards at the table, or the sheet guard", "guards"),
        (("edda overcome fight vs mob:fight --auto",), "mob joins the table", "guards mob"),
        (("edda overcome fight vs thug:fight --auto",), "thug joins the table", "guards thug"),
        (("edda overcome --skill fight --vs guard:fight --auto",), "guard joins the table", "guards guard"),
    ],
)
def test_a_sheet_joins_only_where_it_is_meant_and_that_is_told(
    capsys: pytest.CaptureFixture[str], lines: Sequence[str], told: str, people: str
) -> None:
    begun("mara", "edda", "guards")
    mob = (Path(__file__).parents[2] / "rulesets/fate/sheets/thug.toml").read_text(encoding="utf-8")
    Path("mob.toml").write_text(mob.replace("Hired thug", "Mob"), encoding="utf-8")
    said = typed_by_a_person(capsys, *lines)
    assert told in said, said
    assert (" joins " in said) == (" " in people)
    assert [*CommandSeat(TABLE, None).state.characters] == ["mara", "edda", *people.split()]


def test_whoever_a_conflict_brings_in_is_told_before_it_begins(capsys: pytest.CaptureFixture[str]) -> None:
    begun("mara", "edda", "guards")
    table("export", "--out", "kept")
    Path("kept/sheets/guards.toml").rename("mob.toml")
    said = typed_by_a_person(capsys, "begin conflict with mara and edda against mob", "quit")
    assert said.index("mob joins the table") < said.index("the conflict begins")


@pytest.mark.parametrize("line", ["end conflict", "end"])
def test_a_conflict_is_ended_at_one_of_its_questions(capsys: pytest.CaptureFixture[str], line: str) -> None:
    begun("mara", "guards")
    fight = "begin conflict with mara against guards"
    said = typed_by_a_person(capsys, fight, line, "set mara.fate-points=1", "undo", "undo", "quit")
    assert "mara, conflict: Undecided" in said
    assert said.index("The fight is broken off.") < said.index("fate-points = 1 (it was 3)")
    left = CommandSeat(TABLE, None)
    assert left.waits is not None, said  # the last undo has taken back the end, and so the conflict goes on
    assert "end" in left.commands()


def test_nobody_is_brought_in_by_a_name_that_is_near_where_nobody_is_asked() -> None:
    begun("mara", "edda", "guards")
    with pytest.raises(UsageError, match=r"guards at the table, or the sheet guard: type guards, or .*`join guard`"):
        CommandSeat(TABLE, None).understood(split("edda attack guard with fight"), nobody)
    table("join", "--sheet", "guard")
    assert CommandSeat(TABLE, None).understood(split("edda attack guard with fight"), nobody).joins == ()


def test_a_name_still_answers_where_a_line_is_completed(capsys: pytest.CaptureFixture[str]) -> None:
    begun("mara", "edda", "guards")
    said = typed_by_a_person(capsys, "mara overcome", "athletics", "guards", "1")
    assert "mara overcome --skill athletics --vs guards:" in said


def test_a_number_stays_with_its_label_where_a_menu_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    from rpgres.render.lines import Line, text_of, wrapped

    begun("mara", "edda", "guards")
    put_to: list[Line] = []
    monkeypatch.setattr("rpgres.cli.play.session.say", lambda lines, **_how: put_to.extend(lines))
    session = Session(CommandSeat(TABLE, None), Typing(["overcome crafts none"]), [])
    with listening(session):
        session.run()
    menu = next(one for one in put_to if "edda" in text_of(one) and "1" in text_of(one))
    for width in range(12, 40):
        assert all(not text_of(row).rstrip().endswith(("1", "2", "3")) for row in wrapped(menu, width))


def test_a_long_list_says_that_it_is_longer() -> None:
    begun("mara", "guards")
    asked: list[str] = []
    with pytest.raises(UsageError):
        CommandSeat(TABLE, None).understood(split("mara attack vs guards"), lambda text, _readings: asked.append(text))
    assert len(CommandSeat(TABLE, None).state.characters["mara"].abilities) > 8
    assert ", ..., or a number)" in asked[0]


# ---------------------------------------------------------------------------------------------------------------------
# At a terminal


@pytest.mark.slow
@terminal
def test_a_line_is_completed_recalled_and_pasted() -> None:
    from tests.support.screen import CLEAR, TAB, UP, Screen

    begun("mara", "edda", "thug")
    with Screen(["play"]) as screen:
        screen.ready()
        screen.settle()
        assert screen.lines[-1].startswith(" mara: 3 fate points · edda: 2 fate points  ")
        assert screen.lines[-1].endswith("nothing waits")
        screen.type("mara ov" + TAB)
        screen.until("> mara overcome", where="row")
        screen.settle()
        screen.type("burg" + TAB)
        screen.until("> mara overcome burglary", where="row")
        screen.settle()
        screen.type("vs none\r")
        screen.settle()
        screen.ready()
        assert "\n  mara overcome --skill burglary --vs none\n" in screen.text
        screen.type(UP)
        screen.until("> mara overcome burglary vs none", where="row")
        screen.type(CANCEL)  # which only clears the line
        screen.settle()
        screen.type("\x1b[200~note one\nnote two\n\x1b[201~")
        screen.until("  two")
        screen.ready()
        assert "one" in table("log", "--last", "2")
        screen.type(CLEAR)
        screen.settle()
        assert screen.lines[0] == ">"
        screen.type("quit\r")
        assert screen.end() == 0
    with Screen(["play"]) as again:
        again.ready()
        again.settle()
        for line in ("quit", "note two", "note one"):  # kept from the evening before
            again.type(UP)
            again.until(f"> {line}", where="row")


@pytest.mark.slow
@terminal
def test_an_answer_is_offered_and_the_status_line_tells_who_is_asked() -> None:
    from tests.support.screen import TAB, Screen

    begun("mara", "edda", "thug")
    with Screen(["play"]) as screen:
        screen.enter("mara overcome burglary 3 roll ----")
        screen.settle()
        assert screen.lines[-1].endswith("waits for mara: invoke")
        screen.type("wanted-in-three-ports:" + TAB)
        screen.until("> wanted-in-three-ports:reroll", where="row")
        screen.settle()
        screen.type(CANCEL)
        screen.settle()
        screen.type(LEFT)  # leaves it unanswered
        screen.until("left open (invoke: mara)")
        screen.enter("undo")
        assert "undid: mara overcome: waiting" in screen.text
        screen.enter("redo")
        assert "redid: mara overcome: waiting" in screen.text
        screen.type("quit\r")
        assert screen.end() == 0


@pytest.mark.slow
@terminal
@pytest.mark.parametrize("setting", ["--plain", "dumb"])
def test_plain_reading_stays_where_nothing_can_be_drawn(setting: str) -> None:
    from tests.support.terminal import Terminal

    begun("mara")
    term = "dumb" if setting == "dumb" else "xterm"
    sitting = Terminal(["play", *([setting] if setting == "--plain" else [])], TERM=term)
    assert "\x1b" not in sitting.until("> ")
    sitting.type("note still here\n")
    assert "\x1b" not in sitting.until("\n> ")
    sitting.type("quit\n")
    assert sitting.end()[0] == 0


@pytest.mark.slow
@terminal
def test_whoever_listens_recalls_and_completes_lines_too() -> None:
    from tests.support.screen import TAB, UP, Screen

    pytest.importorskip("readline")
    begun("mara")
    with Screen(["play", "--plain"]) as screen:
        screen.enter("note still here")
        screen.type(UP)
        screen.until("> note still here", where="row")
        screen.type("\x15")  # clears the line
        screen.until(">", where="row")
        screen.type("mara ov" + TAB)
        screen.until("> mara overcome", where="row")
        assert "fate points" not in screen.text  # nothing is drawn below


def test_errors_name_lines_as_they_are_typed_here() -> None:
    begun("mara")
    done = rpgres("play", stdin="overcome 1 vs 3 --given roll=----\nshow\nset x=1\nlog --last x\n")
    assert "undo the action with `undo 1`" in done.err
    assert "`log --help` lists its options" in done.err


def test_what_was_shown_of_an_action_is_not_shown_again_where_an_answer_is_taken_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    begun("mara", "guards")
    said = typed_by_a_person(capsys, "mara conflict against guards", "full-defense", "undo", "", "quit")
    assert said.count("the conflict begins") == 1
    assert said.count("undid: answer") == 1
    assert said.count("mara, against guards: What do you do") == 2


def test_what_waits_is_told_once_where_its_question_is_put_next(capsys: pytest.CaptureFixture[str]) -> None:
    table("new", "--ruleset", "fate", "--seed", "7", "--sheet", "mara", "--trust", "gm")
    table("act", "overcome", "--skill", "1", "--vs", "9", "--as", "mara", code=3)
    said = typed_by_a_person(capsys, "answer claim=confirm", "answer invoke=no", "undo", "quit")
    assert said.count("roll (mara)") == 1
    assert said.count("claim (the game master): confirm") == 1
    table("undo", "2")
    said = typed_by_a_person(capsys, "\x04", "answer claim=confirm", "quit")
    assert said.count("roll (mara)") == 1


@pytest.mark.parametrize(
    ("typed", "told", "entries"),
    [
        ("attack the guards", "turn (mara): attack guards\n", 3),
        ("Mara attacks guards with burglary", "turn (mara): attack guards with burglary\n", 3),
        ("create-advantage with deceive on guards", "turn (mara): create-advantage guards with deceive\n", 3),
        ("attack guards with burglry", "attack has no target or skill 'burglry'; did you mean 'burglary'?", 2),
        ("attack edda", "attack has no target or skill 'edda'; it has: ", 2),
        ("concede now", "concede takes no more words; type it alone", 2),
    ],
)
def test_a_line_decides_a_turn(typed: str, told: str, entries: int, capsys: pytest.CaptureFixture[str]) -> None:
    begun("mara", "guards")
    said = typed_by_a_person(capsys, "mara conflict against guards", typed, "", "quit")
    assert told in said
    assert "cannot act now" not in said
    assert len(Seat(TABLE, None).look().entries) >= entries
    if entries > 2:
        assert "roll (mara)" in said  # neither the target nor concession is asked before


@pytest.mark.slow
@terminal
def test_who_concedes_says_so_at_any_question() -> None:
    from tests.support.terminal import Terminal

    options = ("--sheet", "edda", "--against", "thug", "--seed", "4")
    at = Terminal(["roll", "fate", "conflict", *options])
    at.until("> ")
    for typed, then in (("attack", "Invoke an aspect?"), ("concede", "edda will concede"), ("", "What do you do")):
        at.type(f"{typed}\n")
        assert then in at.until("\n> ")
    at.type("attack\n")
    assert "edda, conflict: Conceded" in at.end()[1]
    begun("edda", "thug")
    at = Terminal(["table", "act", "conflict", "--actor", "edda", "--against", "thug"])
    at.until("> ")
    for typed in ("attack thug with fight", "concede", ""):
        at.type(f"{typed}\n")
        at.until("\n> ")
    at.type("attack\n")
    assert "edda, conflict: Conceded" in at.end()[1]
