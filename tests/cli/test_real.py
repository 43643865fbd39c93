"""Real dice and cards, asked for roll by roll: what is typed, what it is kept as, and what the seed answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from rpgres.cli import INTERRUPTED
from rpgres.cli.asking.prompt import Person
from rpgres.cli.asking.real import RealDice, plus_words
from rpgres.cli.play.seat import CommandSeat
from rpgres.cli.play.session import ROLLING, Session
from rpgres.cli.scene_output import play_and_print
from rpgres.dice import dice
from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import Due, Given, Remembered, read_total
from rpgres.engine.dice import roll_dice
from rpgres.engine.players import NO
from rpgres.engine.prepare import prepare
from rpgres.engine.records import Result
from rpgres.engine.run import run
from rpgres.engine.stops import TakenBack
from rpgres.errors import GivenError, UsageError
from rpgres.journal import commands as sitting
from rpgres.journal.commands import Place
from rpgres.journal.verifying import verify
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.scenes import read_scene
from rpgres.toml.reading import Source
from tests.support.command_line import rpgres
from tests.support.journals import begun
from tests.support.terminal import ENTER, Terminal

HARSH = """
policy = "sensible"

[[orders]]
ask = "turn"
choose = "overcome"
"""
CALM = """
[[orders]]
ask = "oppose"
choose = "no"
"""
OPPOSED = {"skill": "2", "vs": "4dF+2"}


class Typist:
    """Somebody who types these lines; remembers what was asked."""

    def __init__(self, *lines: str) -> None:
        self.lines, self.asked = list(lines), list[str]()

    def __call__(self, sign: str) -> str:
        self.asked.append(sign)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)


def rolled(hand: RealDice | None, action: str = "overcome", inputs: Any = OPPOSED, **by: Any) -> Result:
    prepared = prepare(load_rules(find_ruleset("fate")), action, inputs)
    found, _ = run(prepared, streams=Streams("7"), hand=hand, choose={"price": ["fail"]}, **by)
    assert isinstance(found, Result)
    return found


def faces(found: Result) -> list[str]:
    return [answer.value for answer in found.answers if answer.kind == "chance"]


def test_what_is_typed_is_what_was_rolled_and_can_be_given() -> None:
    typist = Typist("++0-", "000-")
    found = rolled(RealDice(read=typist))
    assert faces(found) == ["++0-", "000-"]
    assert typist.asked == ["4dF? ", "4dF+2 (opposition)? "]
    assert rolled(None, given={"roll": ["++0-"], "opposition": ["000-"]}) == found


def test_enter_leaves_a_roll_to_the_seed() -> None:
    seeded = faces(rolled(None))
    assert faces(rolled(RealDice(read=Typist("", "")))) == seeded
    assert faces(rolled(RealDice(read=Typist("++++", "")))) == ["++++", seeded[1]]


def test_what_is_impossible_is_asked_again_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    typist = Typist("+5", "++", "+1", "0000")
    assert faces(rolled(RealDice(read=typist)))[1] == "0000"
    assert typist.asked[:3] == ["4dF? "] * 3
    told = capsys.readouterr().out
    assert told.count("four Fate dice expected, e.g. ++0-") == 2
    assert "or press Enter to let the seed decide" in told


def test_what_is_given_is_not_asked() -> None:
    typist = Typist("0000")
    assert faces(rolled(RealDice(read=typist), given={"roll": ["++++"]})) == ["++++", "0000"]
    assert len(typist.asked) == 1


def test_only_those_who_are_named_roll_real_dice() -> None:
    inputs = {"sheet": "mara", "skill": "fight", "vs": "4dF+2"}
    prepared = prepare(load_rules(find_ruleset("fate")), "overcome", inputs)
    typist = Typist("++++")
    plus = plus_words(prepared.rules.file, "overcome", inputs)
    hand = RealDice("mara", actor="mara", plus=plus, read=typist)
    run(prepared, streams=Streams("7"), hand=hand)
    assert typist.asked == ["Mara, 4dF + Fight? "]


@pytest.mark.parametrize(
    ("by", "asked"),
    [("hired-blade", "Hired Blade, 4dF? "), ("a-cold-wind", "A Cold Wind, 4dF? "), ("gm", "the game master, 4dF? ")],
)
def test_whoever_rolls_is_asked_by_the_whole_name(by: str, asked: str) -> None:
    assert RealDice().question(Due("roll", 0, 0, by, "4dF", lambda text: [text])) == asked


@pytest.mark.parametrize("typed", [[], ["undo"], ["++++", "undo"]])
def test_undo_or_the_end_of_the_input_takes_the_action_back(typed: list[str]) -> None:
    with pytest.raises(TakenBack):
        rolled(RealDice(read=Typist(*typed)))


@pytest.mark.parametrize(
    ("notation", "typed", "kept"),
    [
        ("4dF", "+1", "=1"),
        ("4dF", "-4", "=-4"),
        ("4dF+3", "-4", "=-4"),
        ("3d6", "18", "=18"),
        ("d20+5", "20", "20"),
        ("2d20kh1", "20", None),
        ("4dF", "++0-", "++0-"),
    ],
)
def test_a_total_is_kept_without_faces(notation: str, typed: str, kept: str | None) -> None:
    found = read_total(dice(notation), typed)
    assert kept is None or found == kept
    assert dice(notation).read(found)


@given(st.sampled_from(["4dF", "3d6", "2d6+1", "d20", "4dF-2"]), st.integers(-30, 30))
def test_a_total_is_refused_or_shown_by_the_dice(notation: str, total: int) -> None:
    text = f"{total:+d}"
    try:
        found = read_total(dice(notation), text)
    except GivenError:
        assert total not in {sum(die.face for pool in one.faces for die in pool) for one in dice(notation).table or ()}
        return
    assert sum(die.face for pool in dice(notation).read(found).faces for die in pool) == total


def test_cards_are_asked_for_one_by_one() -> None:
    inputs = {"ability": "strength=2", "vs": "daunting", "hand": "St6,Ag3,Do8"}
    prepared = prepare(load_rules(find_ruleset("saga")), "act", inputs)
    typist = Typist("Zz9", "St6", "In4")
    choose = {"play": ["St6"], "trump": ["draw", "stop"]}
    found, _ = run(prepared, streams=Streams("7"), hand=RealDice(read=typist), choose=choose)
    drawn = [answer.value for answer in found.answers if answer.label in ("trump", "redraw", "draw")]
    assert any(value.startswith("In4") for value in drawn)
    assert typist.asked[0] == typist.asked[1]  # there is no such card, and St6 is in the hand
    assert typist.asked[0].startswith("a card")


@pytest.mark.parametrize("between", [",", ", ", " "])
def test_several_cards_typed_at_once_are_all_cards_before_one_is_taken(between: str) -> None:
    prepared = prepare(
        load_rules(find_ruleset("saga")), "act", {"ability": "strength=2", "vs": "daunting", "edge": "0"}
    )
    cards = ["St6-", "Ag3-"]
    typist = Typist(between.join([*cards, "Zz9"]), between.join(cards), *[""] * 9)
    found, _ = run(prepared, streams=Streams("7"), hand=RealDice(read=typist), choose={"play": ["Ag3"]})
    assert [answer.value for answer in found.answers if answer.label == "deal"] == cards
    assert typist.asked[0] == typist.asked[1]


def test_dice_without_a_ruleset_are_asked_for_too() -> None:
    typist = Typist("7,1", "6,5")
    found = roll_dice("2d6+1", streams=Streams("7"), hand=RealDice(read=typist))
    assert found.total == 12
    assert typist.asked == ["2d6+1? "] * 2


# ---------------------------------------------------------------------------------------------------------------------
# At a table


def acted(place: Place, typist: Typist, *, choices: Sequence[str] = (), **by: Any) -> Any:
    prompt = Person(is_kept=True, read=Typist(*choices)).ask
    hand = RealDice(read=typist)
    return sitting.act(place, "overcome", {"skill": "fight", "vs": ["3"]}, actor="mara", hand=hand, prompt=prompt, **by)


def test_a_table_keeps_what_was_typed_as_given(tmp_path: Path) -> None:
    place, typist = begun(tmp_path / "table.db"), Typist("0000", "+++0")
    done = acted(place, typist, choices=["r1", ""])
    assert len(typist.asked) == 2  # each roll once, though every answer runs the action again
    assert done.entry.secret.given == {"roll": [Given("0000"), Given("+++0")]}
    sitting.reveal(place)
    assert verify(place.path).verdict == "in order"


def test_a_roll_that_the_seed_answered_is_not_asked_again_after_an_undo(tmp_path: Path) -> None:
    place = begun(tmp_path / "table.db")
    first = acted(place, Typist(""), choices=["no"])
    sitting.undo(place, first.entry.public.of)
    typist = Typist("++++")
    again = acted(place, typist, choices=["no"])
    assert not typist.asked
    assert [event["faces"] for event in (again.entry.secret.waits or again.entry.secret.result)["events"][:1]] == [
        event["faces"] for event in (first.entry.secret.waits or first.entry.secret.result)["events"][:1]
    ]


def test_undo_at_a_new_roll_asks_the_question_again(tmp_path: Path) -> None:
    place, typist = begun(tmp_path / "table.db"), Typist("0000", "undo")
    done = acted(place, typist, choices=["r1", "1", ""])
    assert next(event["answer"] for event in done.entry.secret.result["events"] if "answer" in event) != NO
    assert all(entry.kind != "undo" for entry in done.history.entries)


def fought(folder: Path, typist: Typist, *choices: str) -> tuple[Place, Any]:
    """Have Mara attack a bruiser whose orders have him overcome something; whoever types then stops at "oppose"."""
    place = Place(folder / "table.db")
    sitting.begin_table(place, ruleset="fate", sheets=["mara", "bruiser"], seed="7", trust="players")
    sitting.set_orders(place, Source("harsh.toml", HARSH), seat="gm")
    prompt = Person(is_kept=True, read=Typist("attack", "fight", "no", *choices)).ask
    hand = RealDice(read=typist)
    inputs = {"against": ["bruiser"]}
    return place, sitting.act(place, "conflict", inputs, actor="mara", hand=hand, prompt=prompt)


def test_dice_behind_a_moment_that_is_let_pass_are_asked_for(tmp_path: Path) -> None:
    typist = Typist("++++", "++++", "++++", "++++")
    _, done = fought(tmp_path, typist, "pass oppose always")
    assert [entry.kind for entry in done.history.entries[-2:]] == ["pass", "answer"]
    assert len(typist.asked) == 3
    assert done.entry.secret.given == {"roll": [Given("++++")] * 2, "opposition": [Given("++++")]}


@pytest.mark.slow
def test_undo_at_dice_behind_a_moment_that_is_let_pass_puts_it_again(tmp_path: Path) -> None:
    _, done = fought(tmp_path, Typist("++++", "++++", "undo"), "pass oppose always")
    assert [entry.kind for entry in done.history.entries[-2:]] == ["answer", "answer"]


@pytest.mark.parametrize(
    "go_on",
    [
        lambda place, hand: sitting.let_pass(place, seat="mara", hand=hand),
        lambda place, hand: sitting.set_orders(place, Source("calm.toml", CALM), seat="mara", hand=hand),
    ],
    ids=["pass", "orders"],
)
def test_whatever_goes_on_with_an_action_asks_for_its_dice(tmp_path: Path, go_on: Any) -> None:
    place, _ = fought(tmp_path, Typist("++++", "++++"))
    done = go_on(place, RealDice(read=Typist("++0+")))
    # The bruiser's roll is not hers.
    assert done.entry.secret.given == {"roll": [Given("++++")], "opposition": [Given("++++")]}


def test_a_die_that_was_taken_back_is_asked_for_again(tmp_path: Path) -> None:
    typist = Typist("++++", "0000", "++00")
    place = begun(tmp_path / "table.db")
    sitting.set_value(place, "characters.mara.counters.fate-points", "3")
    hand, inputs = RealDice(read=typist), {"skill": "2", "vs": ["9"]}
    prompt = Person(is_kept=True, read=Typist("r1", "undo", "r2", "")).ask
    done = sitting.act(place, "overcome", inputs, actor="mara", hand=hand, prompt=prompt)
    assert len(typist.asked) == 3
    assert done.history.run_of(done.entry).kind == "act"
    assert done.entry.secret.given == {"roll": [Given("++++"), Given("++00")]}


def test_only_dice_behind_an_answer_that_is_taken_back_are_asked_for_again() -> None:
    prepared = prepare(load_rules(find_ruleset("fate")), "overcome", {"sheet": "mara", "skill": "2", "vs": "9"})
    typist = Typist("++++", "0000", "++00")
    person = Person(read=Typist("r1", "undo", "r2", "", ""))
    hand = Remembered(RealDice(read=typist))

    def once() -> Any:
        hand.begin()
        try:
            return run(prepared, streams=Streams("7"), prompt=hand.counting(person.ask), hand=hand.ask)[0]
        except TakenBack:
            assert person.rewind()
            hand.take_back()
            return once()

    assert faces(once()) == ["++++", "++00"]
    assert len(typist.asked) == 3


@pytest.mark.parametrize("option", ["--real-dice off", "--real-dice=off", "--dice seeded"])
def test_a_line_of_play_may_say_whose_dice_are_real(tmp_path: Path, option: str) -> None:
    place = begun(tmp_path / "table.db")
    line = f"mara: overcome {option} --skill 2 --vs 1 --auto\n"
    done = rpgres("play", "--table", str(place.path), "--real-dice", "all", stdin=line)
    assert "twice" not in done.out + done.err
    assert "4dF" not in done.out
    assert verify(place.path).entries == 3


def test_every_command_that_may_roll_takes_real_dice_in_play(tmp_path: Path) -> None:
    place, _ = fought(tmp_path, Typist("++++", "++++"))
    done = rpgres("play", "--table", str(place.path), "--real-dice", "all", stdin="pass oppose\n++00\n0000\n")
    assert "Bruiser, 4dF? " in done.out
    assert "++00" in done.out
    told = [rpgres("table", command, "--help").out for command in ROLLING if command != "act"]
    assert all("--real-dice" in text for text in told)


def test_nobody_is_asked_without_a_terminal() -> None:
    done = rpgres("roll", "fate", "overcome", "--skill", "1", "--vs", "3", "--dice", "real")
    assert done.code == 2
    assert "--dice real: no person can be asked without a terminal" in done.err


@pytest.mark.parametrize(
    ("whom", "kept"),
    [
        ("all", "all"),
        ("real", "real"),
        ("mara", "mara"),
        ("mara edda", "mara,edda"),
        ("off", ""),
        ("seeded", ""),
        ("", ""),
    ],
)
def test_whose_dice_are_real_in_play(tmp_path: Path, whom: str, kept: str) -> None:
    room = CommandSeat(begun(tmp_path / "table.db").path, None)
    assert Session._checked(whom, room) == kept


def test_real_dice_of_nobody_are_refused(tmp_path: Path) -> None:
    room = CommandSeat(begun(tmp_path / "table.db").path, None)
    with pytest.raises(UsageError, match="did you mean 'mara'"):
        Session._checked("mora", room)


def test_real_is_a_line_of_play(tmp_path: Path) -> None:
    place = begun(tmp_path / "table.db")
    done = rpgres(
        "play", "--table", str(place.path), stdin="real mara\nmara: overcome --skill 2 --vs 1\n++++\nreal off\n"
    )
    assert "real dice: mara" in done.out
    assert "Mara, 4dF + 2? " in done.out
    assert "the seed rolls all dice" in done.out
    assert verify(place.path).entries == 3


# ---------------------------------------------------------------------------------------------------------------------
# In a scene

SCENE = """ruleset = "fate"
title = "A door"
[characters.mara]
sheet = "mara"
[[steps]]
actor = "mara"
action = "overcome"
with = { skill = "burglary", vs = "-9" }
[[steps]]
actor = "mara"
action = "overcome"
with = { skill = "fight", vs = "-9" }
given = { roll = ["0000"] }
[[steps]]
actor = "mara"
action = "overcome"
with = { skill = "fight", vs = "-9" }
"""


def told(typist: Typist, monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    monkeypatch.setattr("rpgres.cli.scene_output.RealDice", partial(RealDice, read=typist))
    scene = read_scene(Source("door.toml", SCENE), find_ruleset=find_ruleset)
    done = play_and_print(scene, seed="7", seat=None, auto=True, real_dice="mara")
    return [played.result.total for played in done.steps if played.result is not None]


def test_a_scene_asks_for_each_roll_that_it_does_not_give(monkeypatch: pytest.MonkeyPatch) -> None:
    typist = Typist("++++", "----")
    assert told(typist, monkeypatch) == [6, 1, -3]
    assert typist.asked == ["Mara, 4dF + Burglary? ", "Mara, 4dF + Fight? "]


def test_leaving_at_the_dice_of_a_scene_leaves_the_scene(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as left:
        told(Typist("++++", "undo"), monkeypatch)
    assert left.value.exit_code == INTERRUPTED
    assert capsys.readouterr().out.endswith("left here; nothing of this step is done\n")


@pytest.mark.parametrize("command", [["scene", "run", "fate/bribe"], ["scene", "run", "fate/contest", "--vs", "4dF"]])
def test_a_scene_asks_nobody_for_dice_without_a_terminal(command: list[str]) -> None:
    done = rpgres(*command, *(["--skill", "1"] if "--vs" in command else []), "--dice", "real")
    assert done.code == 2
    assert "no person can be asked without a terminal" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("line", ["roll 4dF --real-dice --seed 7", "roll 4dF --seed 7 --dice"])
def test_real_dice_alone_is_a_flag(line: str) -> None:
    told = Terminal(line.split())
    told.until("4dF? ")
    told.type("+0+-" + ENTER)
    assert told.end()[0] == 0
    refused = rpgres("scene", "run", "fate/bribe", "--real-dice")
    assert (refused.code, refused.err[:38]) == (2, "rpgres: --dice real: no person can be ")
