"""What may be answered at a lasting table and when it is written: what was rolled stays, what was shown is written."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres import GM, Character, Outcome, Ruleset, Table, UsageError
from rpgres.engine.dealers import Given
from rpgres.engine.labels import labels_of
from rpgres.engine.records import Pending, Result
from rpgres.errors import ChoiceError, GivenError, RpgresError, RuleError
from rpgres.journal import commands as sitting
from rpgres.journal import replay as running
from rpgres.journal import store
from rpgres.journal.commands import Done, Place, writing
from rpgres.journal.commands import running as drafting
from rpgres.journal.records import Entry, drawn_in, found_in
from rpgres.journal.verifying import verify
from rpgres.journal.views import log_seen
from rpgres.model.events import RollEvent
from rpgres.model.state import State
from rpgres.render.lines import plain_text
from rpgres.render.tables import log_lines
from rpgres.rulesets import Effect
from tests.support.command_line import Ran, rpgres
from tests.support.forging import rewrite

OPPOSED: dict[str, Any] = {"skill": "burglary", "vs": ["guards:notice"]}
REROLL = "i-know-a-back-way:reroll"
OTHER = {"roll": ["++++"], "opposition": ["----"]}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path / "table.db")
    sitting.begin_table(place, ruleset="fate", sheets=["mara", "edda", "guards"], seed="7")
    return place


def found(done: Done | Entry) -> Result | Pending:
    came = found_in((done.entry if isinstance(done, Done) else done).secret)
    assert came is not None
    return came


def rolled(done: Done | Entry) -> dict[str, list[str]]:
    return drawn_in(found(done))


def entries(place: Place) -> list[Entry]:
    return list(store.read(place.path).entries)


def finish(place: Place) -> Done:
    done = None
    while store.read(place.path).pending is not None:
        done = sitting.answer(place, auto=True)
    assert done is not None
    return done


def in_order(place: Place) -> bool:
    sitting.reveal(place)
    return verify(place.path).exit == 0


# ---------------------------------------------------------------------------------------------------------------------
# What was rolled or drawn stays


@pytest.mark.parametrize("seat", [None, "mara"])
def test_an_answer_does_not_change_what_the_seed_has_rolled(place: Place, seat: str | None) -> None:
    first = rolled(sitting.act(place, "overcome", OPPOSED, actor="mara", seat=seat))
    assert first.keys() == OTHER.keys()
    done = sitting.answer(place, seat=seat, choose={"invoke": ["no"]}, given=OTHER)
    assert rolled(done) == first
    assert log_seen(done.history, None)[-1].given == []  # nothing asked for it
    assert rolled(finish(place)) == first
    assert in_order(place)


def test_given_dice_are_those_of_a_reroll(place: Place) -> None:
    first = rolled(sitting.act(place, "overcome", OPPOSED, actor="mara"))
    done = sitting.answer(place, choose={"invoke": [REROLL]}, given={"roll": ["00+0"]})
    assert rolled(done) == {"roll": [*first["roll"], "00+0"], "opposition": first["opposition"]}
    assert done.entry.secret.given == {"roll": [None, Given("00+0")]}
    assert rolled(finish(place))["roll"] == [*first["roll"], "00+0"]
    assert in_order(place)


def test_dice_that_were_said_for_later_are_those_of_the_reroll_or_make_room(place: Place) -> None:
    given = {"roll": ["0000", "00++"]}
    for more, second in (({}, "00++"), ({"roll": ["----"]}, "----")):
        sitting.act(place, "overcome", OPPOSED, actor="mara", given=given)
        done = sitting.answer(place, choose={"invoke": [REROLL]}, given=more)
        assert rolled(done)["roll"] == ["0000", second]
        sitting.undo(place, done.entry.public.of)
        assert sitting.act(place, "overcome", OPPOSED, actor="edda", seat="edda", given=given).entry.kind == "act"
        sitting.undo(place)


def test_results_that_were_said_for_later_and_cannot_be_are_taken_back(place: Place) -> None:
    sitting.act(place, "overcome", OPPOSED, actor="mara", given={"roll": ["0000", "7,9"]})
    typed = ("table", "answer", "--choose", f"invoke={REROLL}", "--table", str(place.path))
    done = rpgres(*typed)
    assert done.code == 2
    assert "it was given before, and --given roll=none removes it; or undo the action" in done.err
    assert rpgres(*typed, "--given", "roll=none").code in (0, 3)
    assert rolled(entries(place)[-1])["roll"][0] == "0000"
    assert entries(place)[-1].secret.later == {}
    done = rpgres(*typed[:2], "--choose", "invoke=no", "--given", "roll=none", "--table", str(place.path))
    assert "this is not a result of dice" in done.err  # there is nothing to be taken back
    finish(place)
    assert in_order(place)


CARDS: dict[str, tuple[list[str], str, dict[str, Any]]] = {
    "saga": (["ilse"], "act", {"ability": "strength", "vs": "average"}),
    "faith": (
        ["sable", "bero", "dock-guard"],
        "confront",
        {"skill": "3", "attribute": "2", "against": ["dock-guard:skill=3,attribute=2"]},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", CARDS)
@pytest.mark.parametrize("is_known", [False, True])
def test_cards_that_were_dealt_stay(tmp_path: Path, ruleset: str, is_known: bool) -> None:
    """Whatever is said of every label at every question, be it of cards that were dealt or of others."""
    place = Place(tmp_path / "cards.db")
    sheets, action, inputs = CARDS[ruleset]
    begun = sitting.begin_table(place, ruleset=ruleset, sheets=sheets, seed="5", deals=False)
    labels = [name for name, kind in labels_of(begun.rules, action).items() if kind == "chance" and name != "place"]
    done, asked, later = sitting.act(place, action, inputs, actor=sheets[0]), 0, 0
    while done.history.pending is not None:
        pending = found(done)
        assert isinstance(pending, Pending)
        before, question = rolled(done), pending.question
        dealt = [card for cards in before.values() for card in cards]
        cards = [code for code in begun.rules.cards.by_code if (code in dealt) == is_known][:4]
        names = [option.name for option in question.options]
        pick = names[0] if names and (not question.optional or question.label == "play") else "no"
        with suppress(UsageError):  # what cannot be drawn, or was not used, is told; and what was drawn stays
            sitting.answer(place, choose={question.label: [pick]}, given=dict.fromkeys(labels, cards))
        if store.read(place.path).head.number == done.entry.number or store.read(place.path).head.public.attempt:
            sitting.answer(place, choose={question.label: [pick]}, given={label: [] for label in labels})
        history = store.read(place.path)
        done = Done(history, (history.head,), begun.rules)
        now = rolled(done)
        assert {label: now[label][: len(its)] for label, its in before.items()} == before
        asked += bool(dealt)
        later += now != before
    assert asked
    assert later
    assert in_order(place)


def test_what_was_rolled_stays_after_an_undo(place: Place) -> None:
    first = rolled(sitting.act(place, "overcome", OPPOSED, actor="mara"))
    second = rolled(sitting.answer(place, choose={"invoke": [REROLL]}))
    sitting.undo(place, 2)
    with pytest.raises(UsageError, match="this was already rolled or drawn from the seed in entry 2"):
        sitting.answer(place, choose={"invoke": [REROLL]}, given={"roll": ["++++"]})
    assert rolled(sitting.answer(place, choose={"invoke": [REROLL]})) == second
    sitting.undo(place, 1)
    for label in OTHER:
        with pytest.raises(UsageError, match="this was already rolled or drawn from the seed in entry 1"):
            sitting.act(place, "overcome", OPPOSED, actor="mara", given={label: OTHER[label]})
    assert rolled(sitting.act(place, "overcome", OPPOSED, actor="mara")) == first
    finish(place)
    assert in_order(place)


@pytest.mark.parametrize("deed", [("edda", "overcome", OPPOSED), ("mara", "attack", {**OPPOSED, "vs": ["edda:will"]})])
def test_dice_that_were_seen_and_undone_are_not_chosen_in_another_action(
    place: Place, deed: tuple[str, str, dict[str, Any]]
) -> None:
    """Else one could look at what the seed rolls, and take real dice where it rolls badly."""
    who, action, inputs = deed
    first = rolled(sitting.act(place, "overcome", OPPOSED, actor="mara"))
    sitting.undo(place)
    with pytest.raises(UsageError, match="this was already rolled or drawn from the seed in entry 1"):
        sitting.act(place, action, inputs, actor=who, given={"roll": ["++++"]})
    done = sitting.act(place, action, inputs, actor=who)
    assert rolled(done)["roll"] == first["roll"]
    sitting.undo(place)
    assert [len(entries(place)[number].secret.known) for number in (2, 4)] == [2, 2]
    sitting.act(place, action, inputs, actor=who, auto=True)
    sitting.act(place, action, inputs, actor=who, auto=True, given={"roll": ["++++"]})  # nobody has seen these
    assert in_order(place)


def test_cards_that_were_seen_and_undone_are_not_chosen_under_another_label(tmp_path: Path) -> None:
    """Cards come from their pile, whatever asks for them."""
    place = Place(tmp_path / "cards.db")
    sheets, action, inputs = CARDS["faith"]
    rules = sitting.begin_table(place, ruleset="faith", sheets=sheets, seed="5").rules
    drawn = rolled(sitting.act(place, action, inputs, actor=sheets[0], auto=True))
    assert drawn
    sitting.undo(place)
    card = next(code for code in rules.cards.by_code if not any(code in cards for cards in drawn.values()))
    for label in {name for name, kind in labels_of(rules, action).items() if kind == "chance"} - drawn.keys():
        with pytest.raises(UsageError, match="this was already rolled or drawn from the seed in entry 1"):
            sitting.act(place, action, inputs, actor=sheets[1], given={label: [card]})
    assert rolled(sitting.act(place, action, inputs, actor=sheets[0], auto=True)) == drawn
    assert in_order(place)


def test_a_slip_in_what_was_typed_is_mended_after_an_undo(place: Place) -> None:
    sitting.act(place, "overcome", OPPOSED, actor="mara", given=OTHER)
    sitting.undo(place)
    done = sitting.act(place, "overcome", OPPOSED, actor="mara", given={"roll": ["+++0"], "opposition": ["0000"]})
    assert rolled(done) == {"roll": ["+++0"], "opposition": ["0000"]}


@pytest.mark.parametrize(
    "said", [{"claimed": ["skill 9"]}, {"private": {"skill": []}}, {"laid": {"vs": "deck"}}, {"hidden": {"x": ["gm"]}}]
)
def test_what_an_entry_says_of_what_was_typed_is_played_again(place: Place, said: dict[str, Any]) -> None:
    """Who reads what, and what counts as a claim, follows from the rules, and is no word of whoever has the file."""
    sitting.act(place, "overcome", OPPOSED, actor="mara", auto=True)
    sitting.reveal(place)
    assert verify(place.path).exit == 0

    def forge(number: int, public: object, secret: dict[str, Any], state: Any) -> Any:
        secret.update(said if number == 1 else {})
        return state

    rewrite(place.path, forge)
    assert verify(place.path).problems == ["entry 1: replaying it gives another result"]


@pytest.mark.parametrize("is_revealed", [False, True])
def test_a_journal_in_which_an_answer_rewrites_dice_is_found(
    place: Place, monkeypatch: pytest.MonkeyPatch, is_revealed: bool
) -> None:
    """Such as whoever holds the file could write, chain and all."""
    sitting.act(place, "overcome", OPPOSED, actor="mara")
    run_of = drafting.run_of
    forged = {"tape": (), "typed": {}}
    monkeypatch.setattr(drafting, "run_of", lambda *args: msgspec.structs.replace(run_of(*args), **forged))
    sitting.answer(place, choose={"invoke": ["no"]}, given=OTHER)
    monkeypatch.undo()
    assert rolled(entries(place)[-1]) == OTHER
    if is_revealed:
        while store.read(place.path).pending is not None:
            sitting.answer(place, auto=True)
        sitting.reveal(place)
    verdict = verify(place.path)
    assert (verdict.verdict, verdict.exit) == ("tampered", 21)
    assert verdict.problems[0] == "entry 2: it changes earlier random results"


def test_the_command_that_goes_on_with_a_roll_repeats_its_dice_in_order() -> None:
    import shlex

    line = ("roll", "fate", "overcome", "--sheet", "mara", "--skill", "2", "--vs", "4dF+5", "--seed", "3")
    pending = json.loads(rpgres(*line, "--choose", f"invoke={REROLL}", "--json").out)
    first = [answer for answer in pending["answers"] if answer["kind"] == "chance"]
    assert [answer["label"] for answer in first] == ["roll", "opposition", "roll"]
    words = [word.replace("--seed=3", "--seed=4") for word in shlex.split(pending["resume"])]
    done = json.loads(rpgres(*words[1:]).out)
    assert [answer for answer in done["answers"] if answer["kind"] == "chance"] == first


# ---------------------------------------------------------------------------------------------------------------------
# What was drawn is written before it is told


STRIKE: dict[str, Any] = {"bonus": "3", "vs": "12"}


@pytest.mark.parametrize("seat", [None, "brand"])
@pytest.mark.parametrize("seed", [str(number) for number in range(8)])
def test_a_refused_result_is_no_look_at_the_dice(tmp_path: Path, seed: str, seat: str | None) -> None:
    place = Place(tmp_path / "t.db")
    sitting.begin_table(place, ruleset="twenty-sided-advantage", sheets=["brand"], seed=seed, trust="players")
    with pytest.raises(UsageError) as refused:
        sitting.act(place, "strike", STRIKE, actor="brand", seat=seat, given={"damage": ["99"]})
    history = store.read(place.path)
    assert [entry.kind for entry in history.entries] == ["new", "act"]
    shown = rolled(history.head)
    assert refused.value.details["entry"] == 1
    if isinstance(refused.value, GivenError):  # a hit
        assert seat is None
        assert "one d8 expected" in refused.value.message
        assert history.head.public.attempt
        assert history.pending is None
        assert history.state == State(**{name: getattr(history.state, name) for name in State.__struct_fields__})
        told = plain_text(log_lines(log_seen(history, "brand"), sitting.rules_of(history).file))
        assert "failed: brand, strike: no effect" in told
        with pytest.raises(UsageError, match="this was already rolled or drawn from the seed"):
            sitting.act(place, "strike", STRIKE, actor="brand", given={"d20": ["20"]})
        done = sitting.act(place, "strike", STRIKE, actor="brand", seat=seat, given={"damage": ["4"]})
        assert rolled(done).items() >= {**shown, "damage": ["4"]}.items()
    elif history.pending is None:
        assert "damage=99 was not used" in refused.value.message
        assert "entry 1 was written without it" in refused.value.message
        assert not history.head.public.attempt
        assert history.head.secret.given == {}
    else:
        finish(place)
    assert in_order(place)


def test_a_result_that_is_refused_before_anything_is_rolled_leaves_nothing(place: Place) -> None:
    with pytest.raises(GivenError, match="four Fate dice expected"):
        sitting.act(place, "overcome", {"skill": "2", "vs": ["2"]}, actor="mara", given={"roll": ["77"]})
    assert len(entries(place)) == 1


@pytest.mark.parametrize("seat", [None, "mara"])
def test_a_refused_choice_leaves_what_was_shown(place: Place, seat: str | None) -> None:
    with pytest.raises(ChoiceError, match="earlier answers are kept, and entry 1 is still pending"):
        sitting.act(place, "overcome", OPPOSED, actor="mara", seat=seat, choose={"invoke": ["nonsense", "no"]})
    history = store.read(place.path)
    assert history.pending is not None
    first = rolled(history.head)
    with pytest.raises(ChoiceError):
        sitting.answer(place, seat=seat, choose={"invoke": ["nonsense"]})
    assert len(entries(place)) == 2
    done = sitting.answer(place, seat=seat, choose={"invoke": ["no"]})
    assert rolled(done) == first


def test_an_answer_that_fails_after_new_dice_leaves_them(place: Place) -> None:
    sitting.act(place, "overcome", OPPOSED, actor="mara")
    with pytest.raises(ChoiceError, match="entry 2 is still pending"):  # the reroll was seen
        sitting.answer(place, choose={"invoke": [REROLL, "nonsense"]})
    assert len(rolled(entries(place)[-1])["roll"]) == 2
    with pytest.raises(GivenError):  # nothing was
        sitting.answer(place, choose={"invoke": ["wanted-in-three-ports:reroll"]}, given={"roll": ["1"]})
    assert len(entries(place)) == 3


LEAP = """
title = "Leap"
summary = "A die, and then a fault."
version = "1"
dice = "1d6"

[bands]
fall = { title = "Fall", to = -1, success = false }
land = { title = "Land", from = 0, success = true }

[actions.leap]
summary = "Leap."
parameters = ["how"]
labels = ["roll", "again"]
tables = ["leap"]

[parameters.how]
kind = "text"
help = "how it fails"

[labels.again]
kind = "decision"
help = "whether to leap again"
optional = true

[outcomes.leap.land]
text = "There."
effects = [{ kind = "land" }]

[outcomes.leap.fall]
text = "Down."
effects = [{ kind = "land" }]
"""
FAULTS: dict[str, Any] = {
    "error": ValueError,
    "usage": UsageError,
    "rule": RuleError,
    "exit": SystemExit,
    "interrupt": KeyboardInterrupt,
}


@pytest.fixture
def leap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A table of a ruleset that fails in the way that is typed: after a roll, after an answer, or in its effect."""
    from rpgres.rulesets import Option

    folder = tmp_path / "leap"
    (folder / "sheets").mkdir(parents=True)
    (folder / "ruleset.toml").write_text(LEAP, "utf-8")
    (folder / "sheets" / "ann.toml").write_text("", "utf-8")
    ruleset = Ruleset("leap", data=folder)
    ways = {"effect": ""}

    @ruleset.action("leap")
    def leap(table: Table, actor: Character, how: str = "") -> Outcome:
        total = table.roll(table.rules.dice, by=actor.name)
        fault, _, when = how.partition("-")
        ways["effect"] = fault if when == "effect" else ""
        if fault in FAULTS and not when:
            raise FAULTS[fault]("crashed")
        if table.ask("again", "actor" if how == "role" else actor.name, (Option("yes"),), optional=True) == "yes":
            second = table.roll(table.rules.dice, by=actor.name)
            total += second
            if how == "watched" and second == 6:
                table.ask("again", GM, (Option("yes"),), optional=True)
            if when == "later":
                raise FAULTS[fault]("crashed")
        return table.settle("leap", total - 3)

    @ruleset.effect("land")
    def land(state: State, effect: Effect) -> State:
        if ways["effect"]:
            raise FAULTS[ways["effect"]]("crashed")
        return state

    monkeypatch.setattr(writing, "find_ruleset", lambda id_, **more: ruleset)
    place = Place(tmp_path / "leap.db")
    sitting.begin_table(place, ruleset="leap", sheets=["ann"], seed="5")
    return place


@pytest.mark.parametrize("fault", FAULTS)
def test_a_rule_that_fails_after_a_roll_leaves_the_roll(leap: Place, fault: str) -> None:
    with pytest.raises(RpgresError, match=r"it had no effect; .* will be drawn again") as told:
        sitting.act(leap, "leap", {"how": fault}, actor="ann", seat="ann")
    if fault not in ("usage", "rule"):
        assert "the rule leap leap failed" in told.value.message
    head = entries(leap)[-1]
    assert (head.kind, head.public.attempt, len(rolled(head)["roll"])) == ("act", True, 1)
    assert log_seen(store.read(leap.path), "gm")[-1].text == ""  # it may speak of what is hidden
    assert "crashed" in log_seen(store.read(leap.path), "ann")[-1].text
    done = sitting.act(leap, "leap", {}, actor="ann")
    assert rolled(done)["roll"] == rolled(head)["roll"]  # the same question gets the same dice
    sitting.answer(leap, choose={"again": ["no"]})
    assert in_order(leap)


def test_a_rule_that_asks_somebody_who_is_not_there_is_at_fault(leap: Place) -> None:
    with pytest.raises(RuleError, match="asked 'again' of 'actor', who is not at the table"):
        sitting.act(leap, "leap", {"how": "role"}, actor="ann")
    assert store.read(leap.path).pending is None  # nobody could answer


@pytest.mark.parametrize(
    ("ruleset", "sheets", "action", "typed", "fault"),
    [
        (
            "fate",
            ["mara"],
            "overcome",
            {"skill": "burglary", "vs": [2], "removes": "a", "alters": "b=c"},
            "exclude",
        ),
        ("fate", ["mara"], "overcome", {"skill": "burglary", "vs": [2], "harms": True}, "needs a target"),
        (
            "faith",
            ["bero", "sable"],
            "confront",
            {"skill": "hacking", "attribute": "mind", "against": ["sable:skill=3,attribute=2"], "target": ["sable"]},
            "only once",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_shown(
    tmp_path: Path, ruleset: str, sheets: list[str], action: str, typed: dict[str, Any], fault: str
) -> None:
    """Else a slip is an entry, and the dice that it showed are never anybody's real ones."""
    place = Place(tmp_path / "t.db")
    sitting.begin_table(place, ruleset=ruleset, sheets=sheets, seed="7", trust="players")
    with pytest.raises(UsageError, match=fault):
        sitting.act(place, action, typed, actor=sheets[0], auto=True)
    assert [entry.kind for entry in entries(place)] == ["new"]


@pytest.mark.parametrize("hidden", [False, True])
def test_what_is_given_for_later_opens_the_same_moments_beside_something_hidden(leap: Place, hidden: bool) -> None:
    """Which moments anybody could know of is found by a run of its own: there too the first roll is the seed's."""
    sitting.set_value(leap, "things.doom", "2", to=["gm"] if hidden else [])
    for _ in range(4):  # by chance the seed may say the same
        sitting.act(leap, "leap", {"how": "watched"}, actor="ann")
        done = sitting.answer(leap, choose={"again": ["yes"]}, given={"roll": ["6"]})
        assert rolled(done)["roll"][1] == "6"
        asked = found(done)
        assert isinstance(asked, Pending), "the moment has passed unasked"
        assert asked.question.who == "gm"
        sitting.answer(leap, choose={"again": ["no"]})


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_after_which_a_rule_fails_leaves_what_was_rolled(leap: Place, fault: str) -> None:
    sitting.act(leap, "leap", {"how": f"{fault}-later"}, actor="ann")
    with pytest.raises(RpgresError, match="entry 2 keeps"):
        sitting.answer(leap, choose={"again": ["yes"]})
    history = store.read(leap.path)
    assert (history.head.kind, history.head.public.attempt) == ("answer", True)
    assert len(rolled(history.head)["roll"]) == 2
    assert history.pending is not None
    assert history.pending.number == 1
    with pytest.raises(UsageError, match="this was already rolled or drawn from the seed in entry 2"):
        sitting.answer(leap, choose={"again": ["yes"]}, given={"roll": ["6"]})
    sitting.answer(leap, choose={"again": ["no"]})
    assert in_order(leap)


@pytest.mark.parametrize("fault", FAULTS)
def test_an_effect_that_fails_leaves_what_was_rolled(leap: Place, fault: str) -> None:
    with pytest.raises(RuleError, match="the effect land of the ruleset leap failed"):
        sitting.act(leap, "leap", {"how": f"{fault}-effect"}, actor="ann", choose={"again": ["yes"]})
    assert entries(leap)[-1].public.attempt


def test_a_person_who_interrupts_a_rule_ends_it(leap: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pressed(str):
        """Typed by whoever presses Ctrl-C while the rule reads it."""

        def partition(self, sign: str, /) -> Any:
            signal.raise_signal(signal.SIGINT)
            return super().partition(sign)

    monkeypatch.setattr(running, "prepare", _with_how(running.prepare, Pressed("x")))
    with pytest.raises(KeyboardInterrupt):
        sitting.act(leap, "leap", {}, actor="ann")
    assert len(entries(leap)) == 1


def _with_how(prepare: Any, how: str) -> Any:
    def prepared(*args: Any, **more: Any) -> Any:
        ready = prepare(*args, **more)
        return msgspec.structs.replace(ready, arguments={**ready.arguments, "how": how})

    return prepared


# ---------------------------------------------------------------------------------------------------------------------
# At a prompt


def test_an_action_is_written_before_a_person_is_asked(place: Place) -> None:
    seen: list[tuple[str, int]] = []

    def prompt(view: Any, question: Any) -> str | None:
        history = store.read(place.path)
        pending = history.pending
        assert pending is not None
        shown = [event for event in found(pending).events if isinstance(event, RollEvent)]
        assert len([event for event in view.events if type(event).__name__ == "Rolled"]) == len(shown)
        seen.append((question.label, len(history.entries)))
        return REROLL if len(seen) == 1 else "no" if question.optional else None

    done = sitting.act(place, "overcome", OPPOSED, actor="mara", prompt=prompt)
    assert [entry.kind for entry in done.entries] == ["act", "answer", "answer", "answer"][: len(done.entries)]
    assert seen[0] == ("invoke", 2)
    assert [count for _, count in seen] == list(range(2, 2 + len(seen)))
    if done.history.pending is not None:
        finish(place)
    assert in_order(place)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("line", ["table", "play"])
@pytest.mark.parametrize("number", ["SIGHUP", "SIGTERM", "SIGKILL"])
def test_whoever_closes_the_window_at_a_prompt_has_rolled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, number: str
) -> None:
    from tests.support.terminal import Terminal

    monkeypatch.chdir(tmp_path)
    rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--seed", "7")
    act = ["overcome", "--skill", "burglary", "--vs", "2"]
    terminal = Terminal(["table", "act", *act] if line == "table" else ["play"], TERM="dumb")
    if line == "play":
        terminal.until("> ")
        terminal.type(" ".join(act) + "\n")
    terminal.until("reroll\n> ")
    process = terminal._process
    os.kill(process.pid, getattr(signal, number))
    process.wait(20)
    history = store.read(tmp_path / ".rpgres" / "table.db")
    assert [entry.kind for entry in history.entries] == ["new", "act"]
    assert rolled(history.head)
    assert history.pending is not None


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_each_answer_at_a_prompt_is_written_when_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.support.terminal import Terminal

    monkeypatch.chdir(tmp_path)
    rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--seed", "7")
    rpgres("table", "act", "overcome", "--skill", "burglary", "--vs", "2")
    terminal = Terminal(["table", "answer"])
    terminal.until("reroll\n> ")
    terminal.type(f"{REROLL}\n")
    terminal.until("reroll\n> ")
    code, _ = terminal.interrupt()
    assert code == 3
    history = store.read(tmp_path / ".rpgres" / "table.db")
    assert [entry.kind for entry in history.entries] == ["new", "act", "answer"]
    assert len(rolled(history.head)["roll"]) == 2


# ---------------------------------------------------------------------------------------------------------------------
# Sealing


def test_sealing_an_answer_runs_nothing_after_it(leap: Place) -> None:
    from rpgres.journal.commitments import sealed

    sitting.act(leap, "leap", {"how": "error-later"}, actor="ann")
    made = sealed("again", "yes", salt=bytes(32))
    sitting.seal(leap, made.commitment, seat="ann", label="again", answer="yes")  # what comes after it would fail
    with pytest.raises(RuleError, match="will be drawn again"):
        sitting.open_seal(leap, seat="ann", label="again", text="yes", salt=made.salt)
    history = store.read(leap.path)
    assert history.head.public.opens is None
    assert history.pending is not None


# ---------------------------------------------------------------------------------------------------------------------
# What the game master sets


def hiding(folder: Path, *hidden: tuple[str, str]) -> Place:
    """Return a table of which the game master does not see some things."""
    place = Place(folder)
    sitting.begin_table(place, ruleset="fate", sheets=["mara", "edda"], seed="7")
    sitting.set_value(place, "tags.On Fire", "aspect")
    sitting.set_value(place, "things.plan", "{ a = 1 }")
    sitting.set_value(place, "tracks.alarm", "3")
    for path, text in hidden:
        sitting.set_value(place, path, text, to=["mara"])
    return place


HIDDEN = (
    ("tags.Old Debt", "grudge"),
    ("things.map", "{ north = 1 }"),
    ("tracks.doom", "4"),
)
TRIED = [
    ("tags.Old Debt", "aspect"),
    ("tags.Old Dept", "aspect"),
    ("tags.old-debt", "absent"),
    ("tags.old-dept", "absent"),
    ("tags.old-debt.uses.mara", "1"),
    ("tags.old-debt.kind", "aspect"),
    ("tags.on-fire.name", "Old Debt"),
    ("tags.on-fire.name", "Old Dept"),
    ("tags.Some Feud", "grugde"),
    ("tags.on-fire", "absent"),
    ("tags.nothing", "absent"),
    ("things.map", "3"),
    ("things.mpa", "3"),
    ("things.map.north", "3"),
    ("things.plan.a", "5"),
    ("things.plan", "absent"),
    ("tracks.doom", "4"),
    ("tracks.dom", "4"),
    ("tracks.doom.1", "x"),
    ("tracks.alarm.1", "x"),
    ("tracks.alarm", "absent"),
    ("audiences.map", "gm"),
    ("audiences.mpa", "gm"),
    ("audiences.plan", "gm"),
    ("audiences", "x"),
    ("things", "x"),
    ("tags", "x"),
    ("characters.mara.seat", "gm"),
    ("characters.edda", "absent"),
    ("counters.gm-points", "2"),
]


def told(place: Place, path: str, text: str, to: tuple[str, ...] = ()) -> str:
    """Return all that the game master gets told of setting a value, and sees then."""
    try:
        done = sitting.set_value(place, path, text, seat="gm", to=to)
    except UsageError as error:
        return f"refused: {error.message}"
    log = msgspec.structs.replace(log_seen(done.history, "gm")[-1], hash="", at="", number=0)
    return f"{msgspec.json.encode(log)!r} {done.history.state.seen_by('gm')}"


@pytest.fixture
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Place]:
    """A table with things that only mara knows of, one with others, and one with none; not to be changed."""
    return hiding_from_her(tmp_path_factory.getbasetemp() / "hiding")


@cache
def hiding_from_her(folder: Path) -> list[Place]:
    folder.mkdir()
    return [
        hiding(folder / "one.db", *HIDDEN),
        hiding(folder / "other.db", ("tags.Old Flame", "vow"), ("things.maps", "1")),
        hiding(folder / "none.db"),
    ]


@pytest.mark.parametrize(("path", "text"), TRIED)
@pytest.mark.parametrize("to", [(), ("gm",)])
def test_a_correction_tells_the_game_master_nothing_of_what_is_hidden(
    tables: list[Place], tmp_path: Path, path: str, text: str, to: tuple[str, ...]
) -> None:
    places = [Place(Path(shutil.copy(place.path, tmp_path))) for place in tables]
    answers = [told(place, path, text, to) for place in places]
    assert answers[0] == answers[1] == answers[2]
    mine = store.read(places[0].path).state.seen_by("mara")
    assert {tag.kind for tag in mine.tags} >= {"grudge"}  # and nothing of what is hidden was lost
    assert mine.things.keys() >= {"map"}
    assert mine.tracks.keys() >= {"doom"}
    assert in_order(places[0])


# ---------------------------------------------------------------------------------------------------------------------
# Answer files


def cli(*args: str, **settings: Any) -> Ran:
    return rpgres("table", *args, **settings)


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table that waits for mara, and her view of it."""
    monkeypatch.chdir(tmp_path)
    cli("new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "edda", "--seed", "7")
    cli("act", "overcome", "--skill", "burglary", "--vs", "4dF+5", "--actor", "mara")
    cli("view", "--as", "mara", "--out", "view.json")
    return tmp_path


def written(*more: str) -> None:
    ran = cli("answer", "--view", "view.json", "--out", "a.json", "--force", *more)
    assert ran.code == 0, ran


def test_what_an_answer_file_claims_is_taken_by_the_host_alone(sent: Path) -> None:
    written("--choose", "invoke=no")
    ran = cli("answer", "--from", "a.json")
    assert ran.code == 2
    assert "a.json states its seat (mara (authenticated): invoke=no): --accept confirms it, or --as mara" in ran.err
    written("--choose", f"invoke={REROLL}", "--given", "roll=0+00")
    for named in ((), ("--as", "mara")):  # her dice are nobody's to take for granted
        ran = cli("answer", "--from", "a.json", *named)
        assert ran.code == 2
        assert (
            f"the dice rolled (mara (authenticated): invoke={REROLL}; given: roll=0+00): --accept confirms it"
            in ran.err
        )
        assert len(json.loads(cli("log", "--json").out)["entries"]) == 2
    before = json.loads(cli("log", "--json").out)["entries"][-1]["pending"]["answers"]
    assert cli("answer", "--from", "a.json", "--accept").code == 3
    entry = json.loads(cli("log", "--json").out)["entries"][-1]
    assert entry["accepted"] == f"mara (authenticated): invoke={REROLL}; given: roll=0+00"
    rolls = [answer for answer in entry["pending"]["answers"] if answer["kind"] == "chance"]
    assert rolls == [*before, {"label": "roll", "kind": "chance", "value": "0+00"}]
    assert f"imported from a file: mara (authenticated): invoke={REROLL}" in cli("log").out
    assert "accepted" not in json.loads(cli("log", "--json", "--as", "edda").out)["entries"][-1]


def test_a_file_does_not_change_dice_either(sent: Path) -> None:
    before = json.loads(cli("log", "--json").out)["entries"][-1]["pending"]["answers"]
    written("--choose", "invoke=no", "--given", "roll=++++", "--given", "opposition=----")
    cli("answer", "--from", "a.json", "--accept")
    entry = json.loads(cli("log", "--json").out)["entries"][-1]
    came = (entry.get("pending") or entry["result"])["answers"]
    assert [answer for answer in came if answer["kind"] == "chance"] == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(
    ("typed", "kinds"), [("n\n", ["new", "act"]), ("\x04", ["new", "act"]), ("y\n", ["new", "act", "answer"])]
)
def test_at_a_terminal_the_host_is_asked(sent: Path, typed: str, kinds: list[str]) -> None:
    from tests.support.terminal import Terminal

    written("--choose", f"invoke={REROLL}", "--given", "roll=0+00")
    terminal = Terminal(["table", "answer", "--from", "a.json"])
    assert f"mara (authenticated): invoke={REROLL}; given: roll=0+00" in terminal.until("Accept it? [y/N] ")
    terminal.type(typed)
    code, _ = terminal.end()
    assert code == (3 if typed == "y\n" else 2)
    assert [entry.kind for entry in store.read(sent / ".rpgres" / "table.db").entries] == kinds
