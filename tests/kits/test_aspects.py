"""Aspects: the invoke window with scripted sides, names taken or hidden, and the effects on tags and points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.dice import Dice, Throw
from rpgres.engine.dealers import Dealer
from rpgres.engine.players import NO, Answer, Question, View
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.engine.table import Table
from rpgres.errors import UsageError
from rpgres.kits import aspects
from rpgres.kits.aspects import Side, invoke_window
from rpgres.model.state import GM, Character, Map, State, Tag
from rpgres.rulesets import effect
from rpgres.rulesets.schema import RulesetFile

MARA = Character(name="mara", counters=Map({"fate-points": 2}))
EDDA = Character(name="edda", counters=Map({"fate-points": 1}))
VENN = Character(name="venn", seat=GM)


def table_of(*tags: Tag, points: int = 0) -> State:
    people = {character.name: character for character in (MARA, EDDA, VENN)}
    return State(characters=Map(people), tags=tags, counters=Map({"fate-points": points}))


class Shown(Dealer):
    """Dice that show what they are told."""

    def __init__(self, totals: list[int]) -> None:
        self.totals = totals

    def throw(self, dice: Dice, label: str, count: int) -> Throw:
        return Throw(self.totals.pop(0), (), "")


class Scripted(Seats):
    """Players who answer from lists by label, and pass when these are empty, with their table.

    Attributes:
        asked: the label, who was asked, and the names of the options.
        facts: of these questions.
    """

    def __init__(self, state: State, answers: dict[str, list[str]], rolls: list[int] = []) -> None:  # noqa: B006
        super().__init__()
        self.rules = type(
            "Rules",
            (),
            {
                "switches": staticmethod(lambda record: record()),
                "compiled": {},
                "file": RulesetFile(title="", summary="", version=""),
            },
        )()
        self.answers = {label: list(given) for label, given in answers.items()}
        self.asked: list[tuple[str, str, list[str]]] = []
        self.facts: list[Mapping[str, Any]] = []
        self.table = Table(Run(self.rules, state, Shown(list(rolls)), self), self.rules)

    def answer(self, question: Question, view: View) -> Answer | None:
        names = [option.name for option in question.options]
        self.asked.append((question.label, question.who, names))
        self.facts.append(question.facts)
        answer = self.chosen(question.label, names)
        assert answer == NO or answer in names, f"{answer} is not among {names}"
        return Answer(answer, "choose")

    def chosen(self, label: str, names: list[str]) -> str:
        answers = self.answers.get(label)
        return answers.pop(0) if answers else NO


def window(
    table: Scripted, *, own: Side | None = None, other: Side | None = None
) -> tuple[int, int, list[tuple[str, str, int]]]:
    dice: Any = object()
    own = own or Side(("mara",), "mine", "roll", 1, 0, dice)
    other = other or Side(("venn",), "theirs", "opposition", 2, 1, dice)
    first, second, effects = invoke_window(table.table, own, other)
    said = [(one["kind"], one["to"], one.get("count", one.get("change"))) for one in effects if "to" in one]
    return first.height, second.height, said


MUD = Tag("Mud", "aspect")


def test_turns_alternate_until_both_pass() -> None:
    """Who has passed may answer what the other side then invokes."""
    state = table_of(MUD.with_uses("mara", 2).with_uses("venn", 1))
    table = Scripted(state, {"mine": [NO, "mud"], "theirs": ["mud"]})
    assert window(table) == (3, 4, [("free-invoke", "venn", -1), ("free-invoke", "mara", -1)])
    assert [label for label, *_ in table.asked] == ["mine", "theirs", "mine", "mine"]


def test_one_side_after_the_other() -> None:
    table = Scripted(table_of(MUD.with_uses("mara", 2).with_uses("venn", 1)), {"mine": [NO, "mud"], "theirs": ["mud"]})
    table.rules.switches = lambda record: record(invoke_order="actor-then-opponent")
    assert window(table)[:2] == (1, 4)
    assert [label for label, *_ in table.asked] == ["mine", "theirs"]


def test_new_dice_keep_what_was_added() -> None:
    table = Scripted(table_of(MUD.with_uses("mara", 2)), {"mine": ["mud", "mud:reroll"]}, [-4])
    assert window(table)[0] == 1 + 2 - 0 - 4


def test_a_fixed_difficulty_is_not_thrown_again() -> None:
    table = Scripted(table_of(MUD, points=1), {"theirs": ["mud"]})
    assert window(table, own=Side((), "", "", 1), other=Side((GM,), "theirs", "opposition", 2))[1] == 4
    assert table.asked == [("theirs", GM, ["mud"])]


def test_an_aspect_is_paid_for_once_and_free_uses_come_first() -> None:
    table = Scripted(table_of(MUD.with_uses("mara", 1)), {"mine": ["mud", "mud"]})
    assert window(table) == (5, 2, [("free-invoke", "mara", -1), ("fate-point", "mara", -1)])
    assert table.asked[-1][0] == "mine"
    assert [names for label, _, names in table.asked if label == "mine"] == [["mud", "mud:reroll"]] * 2


def test_points_are_told_as_they_run_out() -> None:
    tags = [Tag(name, "aspect") for name in ("One", "Two", "Three")]
    table = Scripted(table_of(*tags), {"mine": ["one", "two", "three"]})
    assert window(table)[2] == [("fate-point", "mara", -1)] * 2
    assert [facts["points"] for facts in table.facts] == [2, 1]


def test_both_sides_of_one_seat_share_its_purse() -> None:
    table = Scripted(table_of(MUD, Tag("Fog", "aspect"), points=1), {"mine": ["mud"], "theirs": ["fog"]})
    own = Side(("venn",), "mine", "roll", 1, 0, object())  # type: ignore[arg-type]
    other = Side((GM,), "theirs", "opposition", 2)
    assert window(table, own=own, other=other)[2] == [("fate-point", GM, -1)]
    assert [label for label, *_ in table.asked] == ["mine"]


def test_allies_share_free_uses_and_pay_for_themselves() -> None:
    table = Scripted(table_of(MUD.with_uses("edda", 1), Tag("Fog", "aspect")), {"mine": ["mud", NO, "fog"]})
    own = Side(("mara", "edda"), "mine", "roll", 1, 0, object())  # type: ignore[arg-type]
    assert window(table, own=own)[2] == [("free-invoke", "edda", -1), ("fate-point", "edda", -1)]
    assert [who for label, who, _ in table.asked if label == "mine"][:3] == ["mara", "mara", "edda"]


def test_an_ally_alone_opens_the_window() -> None:
    state = table_of(Tag("Fog", "aspect"))
    assert aspects.can_invoke(state, ("venn", "edda"))
    assert not aspects.can_invoke(state, ("venn",))


@pytest.mark.parametrize(("rule", "offered"), [("gone", ["mud"]), ("stay", ["a-bad-knee", "mud"])])
def test_what_is_on_a_character_who_is_out_is_not_offered(rule: str, offered: list[str]) -> None:
    state = table_of(Tag("A Bad Knee", "consequence", "venn", Map({"mara": 1})), MUD.with_uses("mara", 1))
    state = state.with_character(msgspec.structs.replace(VENN, is_out=True))
    table = Scripted(state, {"mine": [NO]})
    table.rules.switches = lambda record: record(absent_aspects=rule)
    window(table, own=Side(("mara",), "mine", "roll", 1))
    assert [name for label, _, names in table.asked if label == "mine" for name in names if name != NO] == offered


def test_a_point_used_against_its_owner_is_the_owners_later() -> None:
    for on, expected in (("venn", ("fate-point", GM, 1)), ("edda", None)):
        table = Scripted(table_of(Tag("Limp", "aspect", on)), {"mine": ["limp"]})
        said = window(table)[2]
        assert said[1:] == ([expected] if expected else [])


def test_the_highest_of_a_side_counts_however_its_dice_fall() -> None:
    table = Scripted(table_of(MUD.with_uses("venn", 1)), {"theirs": ["mud:reroll"]}, [-4])
    other = Side(("venn",), "theirs", "opposition", 4, 2, object(), "venn", 3)  # type: ignore[arg-type]
    assert window(table, other=other)[1] == 3
    assert [facts["margin"] for facts in table.facts] == [1 - 4, 4 - 1, 1 - 3]


boosts = st.integers(0, 3)


@given(own=boosts, other=boosts, mine=st.lists(st.booleans(), max_size=8), theirs=st.lists(st.booleans(), max_size=8))
def test_no_more_is_used_than_there_is(own: int, other: int, mine: list[bool], theirs: list[bool]) -> None:
    tag = MUD.with_uses("mara", own).with_uses("venn", other)

    class Eager(Scripted):
        def chosen(self, label: str, names: list[str]) -> str:
            wishes = mine if label == "mine" else theirs
            return names[0] if wishes and wishes.pop(0) else NO

    state = table_of(tag, points=1)
    first, second, said = window(Eager(state, {}))
    used = [to for kind, to, _ in said if kind == "free-invoke"]
    paid = [to for kind, to, change in said if kind == "fate-point" and change < 0]
    assert used.count("mara") <= own
    assert used.count("venn") <= other
    assert paid.count("mara") <= 1
    assert paid.count(GM) <= 1
    assert (first, second) == (
        1 + 2 * (used.count("mara") + paid.count("mara")),
        2 + 2 * (used.count("venn") + paid.count(GM)),
    )


# ---------------------------------------------------------------------------------------------------------------------
# Names


SECRET = Tag("Rigged Stairs", "aspect", audience=(GM,))


def test_a_name_taken_in_secret_is_free() -> None:
    state = table_of(SECRET.with_uses(GM, 1))
    assert aspects.distinct_name(state, "Rigged Stairs") == "Rigged Stairs"
    after = aspects.change_aspect(state, effect("aspect", change="created", name="Rigged Stairs", on="venn"))
    assert [(tag.name, tag.on, tag.audience) for tag in after.tags] == [
        ("Rigged Stairs (hidden 1)", "", (GM,)),
        ("Rigged Stairs", "venn", None),
    ]
    assert after.tags[0].uses == {GM: 1}


@pytest.mark.parametrize("change", ["removed", "altered"])
def test_what_is_hidden_is_not_changed_by_guessing(change: str) -> None:
    state = table_of(SECRET)
    assert aspects.change_aspect(state, effect("aspect", change=change, name="Rigged Stairs")) == state


def test_free_invocations_go_to_what_everybody_knows() -> None:
    state = table_of(SECRET)
    after = aspects.change_free_invokes(state, effect("free-invoke", to="mara", count=1, on="Rigged Stairs"))
    assert after.seen_by("mara").tag("Rigged Stairs") == Tag("Rigged Stairs", "aspect").with_uses("mara", 1)
    used = aspects.change_free_invokes(
        table_of(SECRET.with_uses(GM, 1)), effect("free-invoke", to=GM, count=-1, on="Rigged Stairs")
    )
    assert used == table_of(SECRET)


def test_nothing_is_used_up_that_is_gone() -> None:
    state = table_of()
    assert aspects.change_free_invokes(state, effect("free-invoke", to="mara", count=-1, on="Mud")) == state


def test_a_boost_made_an_aspect_keeps_its_use() -> None:
    state = aspects.gain_boost(table_of(), effect("boost", to="mara", name="Head Start"))
    state = aspects.change_aspect(state, effect("aspect", change="created", name="Head Start", on="venn"))
    assert state.tags == (Tag("Head Start", "situation", "venn").with_uses("mara", 1),)


def test_boosts_of_one_name_are_told_apart() -> None:
    state = table_of()
    for _ in range(3):
        state = aspects.gain_boost(state, effect("boost", to="mara"))
    assert [tag.name for tag in state.tags] == ["Boost", "Boost 2", "Boost 3"]
    state = aspects.change_free_invokes(state, effect("free-invoke", to="mara", count=-1, on="Boost 2"))
    assert [tag.name for tag in state.tags] == ["Boost", "Boost 3"]


def test_an_altered_aspect_keeps_its_place_owner_and_uses() -> None:
    state = table_of(Tag("Fog", "aspect"), Tag("Limp", "consequence", "venn").with_uses("mara", 1), MUD)
    after = aspects.change_aspect(state, effect("aspect", change="altered", name="Limp", becomes="A Stiff Leg"))
    assert after.tags[1] == Tag("A Stiff Leg", "consequence", "venn").with_uses("mara", 1)
    again = aspects.change_aspect(after, effect("aspect", change="altered", name="fog", becomes="FOG!"))
    assert again.tags[0].name == "FOG!"
    taken = aspects.change_aspect(after, effect("aspect", change="altered", name="Fog", becomes="Mud"))
    assert [tag.name for tag in taken.tags] == ["Mud 2", "A Stiff Leg", "Mud"]


def test_names_are_told_before_they_are_applied() -> None:
    state = table_of(Tag("A Problem", "aspect"), Tag("Head Start", "boost").with_uses("mara", 1))
    told = aspects.with_names(
        state,
        [
            effect("aspect", change="created", name="A Problem"),
            effect("free-invoke", to="gm", count=1, on="A Problem"),
            effect("aspect", change="created", name="Head Start"),
            effect("aspect", change="altered", name="Fog"),
            effect("free-invoke", to="gm", count=1, on="fog"),
            effect("hit", to="opponent", shifts=1),
        ],
    )
    assert [one.get("becomes") or one.get("name") or one.get("on") for one in told] == [
        *("A Problem 2", "A Problem 2", "Head Start", "Fog, for the Worse", "Fog, for the Worse", None)
    ]


def test_a_slip_of_the_pen_is_told_from_the_unknown() -> None:
    state = table_of(Tag("Ankle-Deep Mud", "aspect"), SECRET)
    with pytest.raises(UsageError, match="Ankle-Deep Mud"):
        aspects.check_spelling(state, "mara", "ankle-deep mut")
    aspects.check_spelling(state, "mara", "Smoke in the Rafters")
    aspects.check_spelling(state, "mara", "Rigged Stair")
    with pytest.raises(UsageError, match="Rigged Stairs"):
        aspects.check_spelling(state, "venn", "Rigged Stair")


def test_points_for_the_next_scene_are_kept_apart() -> None:
    state = aspects.change_points(table_of(), effect("fate-point", to="mara", change=2, **{"from": "next-scene"}))
    assert aspects.points_of(state, "mara") == 2
    assert state.characters["mara"].counters["fate-points-later"] == 2
    state = aspects.change_points(state, effect("fate-point", to="venn", change=3))
    assert aspects.points_of(state, "venn") == aspects.points_of(state, GM) == 3


@pytest.mark.parametrize(
    ("rule", "free", "answers", "height", "left"),
    [
        ("stack", 3, ["mud"] * 4, 1 + 8, 0),
        ("two-free", 3, ["mud"] * 2, 1 + 4, 1),
        ("two-free", 1, ["mud"], 1 + 2, 0),
        ("two-free", 0, ["mud"], 1 + 2, 0),
    ],
)
def test_one_aspect_several_times_on_a_roll(rule: str, free: int, answers: list[str], height: int, left: int) -> None:
    """With `two-free` a side is offered an aspect once, or twice when both are free; with `stack` paid and free."""
    table = Scripted(table_of(MUD.with_uses("mara", free)), {"mine": answers})
    table.rules.switches = lambda record: record(same_aspect=rule)
    own, _, effects = window(table, own=Side(("mara",), "mine", "roll", 1))
    assert own == height
    assert free + sum(count for kind, _, count in effects if kind == "free-invoke") == left
    assert not table.answers["mine"], "every answer was asked for"
    assert len([one for one in table.asked if one[0] == "mine"]) == len(answers), "and nothing after them"
