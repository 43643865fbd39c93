"""What a seat may not know: two tables that differ only in a hidden aspect look the same to a player.

Of every ruleset that has aspects.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres import GM, Question, State, Tag, UsageError, View
from rpgres.dice.seeds import Streams
from rpgres.engine.players import NO, Policy
from rpgres.engine.prepare import prepare
from rpgres.engine.records import Result, event_record
from rpgres.engine.run import run
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules
from rpgres.scenes import read_scene
from rpgres.toml.reading import Source
from tests.support.effort import examples

# By ruleset: two players' characters, the first of whom acts, one of the game master's, and a variant.
CASTS = {"fate": ("mara", "edda", "venn", "existing"), "coppermane": ("tamsin", "orrin", "warden", "known")}

CAST = """
ruleset = "{}"
characters.mara.sheet = "{}"
characters.edda.sheet = "{}"
characters.venn.sheet = "{}"
tags.mud = {{ text = "Ankle-Deep Mud", kind = "aspect", uses = {{ mara = 1, gm = 1 }} }}
"""

NAMES = ["Rigged Stairs", "Smoke", "Boost", "A Serious Problem", "An Advantage", "A Discovery", "Ankle-Deep Hole"]
# Each is known to the game master alone.
hidden_tags = st.lists(
    st.builds(
        lambda name, kind, on, uses: Tag(name, kind, on, audience=(GM,)).with_uses(GM, uses),
        st.sampled_from(NAMES),
        st.sampled_from(["aspect", "consequence"]),
        st.sampled_from(["", "mara", "venn"]),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda tag: tag.slug,
)

names = st.sampled_from([*NAMES, "Ankle-Deep Mud", "ankle deep mut"])
numbers = st.integers(-2, 6)


def requests(ruleset: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    known = CASTS[ruleset][-1]
    shared = [
        st.tuples(
            st.just("overcome"), st.fixed_dictionaries({"skill": numbers, "vs": numbers}, optional={"removes": names})
        ),
        st.tuples(
            st.just("create-advantage"),
            st.fixed_dictionaries(
                {"skill": numbers, "vs": numbers, "variant": st.sampled_from(["new", known])},
                optional={"name": names, "on": st.just("venn")},
            ),
        ),
        st.tuples(st.just("attack"), st.fixed_dictionaries({"skill": numbers, "vs": st.just("4dF+2")})),
        st.tuples(st.just("defend"), st.fixed_dictionaries({"skill": numbers, "vs": numbers})),
    ]
    own = [
        st.tuples(st.just("compel"), st.fixed_dictionaries({"name": names})),
        st.tuples(
            st.just("discover"),
            st.fixed_dictionaries({"skill": numbers, "vs": numbers}, optional={"variant": st.just("establish")}),
        ),
    ]
    return st.one_of(*shared, *(own if ruleset == "fate" else []))


@cache
def rules_of(ruleset: str) -> Rules:
    return load_rules(find_ruleset(ruleset))


@cache
def table_of(ruleset: str) -> State:
    return read_scene(Source("-", CAST.format(ruleset, *CASTS[ruleset][:-1])), find_ruleset=find_ruleset).state


@pytest.fixture(scope="module")
def rules() -> Rules:
    return rules_of("fate")


@pytest.fixture(scope="module")
def table() -> State:
    return table_of("fate")


def with_hidden(state: State, tags: list[Tag]) -> State:
    for tag in tags:
        state = state.with_tag(tag)
    return state


def seen(
    rules: Rules, state: State, requests: list[tuple[str, dict[str, Any]]], *, seed: str
) -> tuple[list[bytes], list[bytes]]:
    """Return all that Mara's seat meets while she plays: the questions put to it, and the results.

    The game master lets every window pass, and answers the rest with the option preferred most.
    """
    asked: list[bytes] = []

    def player(view: View, question: Question) -> str | None:
        if view.seat == GM:
            return NO if question.optional else max(question.options, key=lambda option: option.prefer).name
        told = [event_record(event) for event in view.events]
        asked.append(msgspec.json.encode([view.state, told, question], enc_hook=str))
        names = [option.name for option in question.options] + ([NO] if question.optional else [])
        return names[len(seed) % len(names)]

    policies: dict[str, Policy] = {"": player}
    met: list[bytes] = []
    for number, (action, inputs) in enumerate(requests):
        try:
            prepared = prepare(rules, action, inputs, state=state, actor="mara")
            found, state = run(prepared, streams=Streams(seed), step=number, policies=policies)
        except UsageError as error:
            met.append(error.message.encode())
            continue
        assert isinstance(found, Result)
        # The answers are the host's, to run it again; of the events a seat meets those that are for it.
        events = [event for event in found.events if event.audience is None or "mara" in event.audience]
        shown = msgspec.structs.replace(found, events=events, answers=[])
        met.append(msgspec.json.encode(shown))
        met.append(msgspec.json.encode(state.seen_by("mara"), enc_hook=str))
    return asked, met


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", CASTS)
@settings(max_examples=examples(200), deadline=None)
@given(data=st.data(), tags=hidden_tags, seed=st.text("012", min_size=1, max_size=4))
def test_a_hidden_aspect_changes_nothing_that_a_player_meets(
    ruleset: str, data: st.DataObject, tags: list[Tag], seed: str
) -> None:
    rules, table = rules_of(ruleset), table_of(ruleset)
    script = data.draw(st.lists(requests(ruleset), min_size=1, max_size=4))
    without = seen(rules, table, script, seed=seed)
    with_ = seen(rules, with_hidden(table, tags), script, seed=seed)
    assert with_ == without


def test_the_game_master_is_offered_what_is_hidden_and_a_player_is_not(rules: Rules, table: State) -> None:
    state = with_hidden(table, [Tag("Rigged Stairs", "aspect", audience=("gm",)).with_uses("gm", 1)])
    offered: dict[str, list[str]] = {}

    def noting(view: View, question: Question) -> str:
        offered.setdefault(view.seat, []).extend(option.name for option in question.options)
        assert ("Rigged Stairs" in repr(view.state)) is (view.seat == GM)
        return NO if question.optional else question.options[0].name

    prepared = prepare(rules, "overcome", {"skill": 2, "vs": 2}, state=state, actor="mara")
    run(prepared, streams=Streams("1"), given={"roll": ["+000"]}, policies={"": noting})
    assert "rigged-stairs" in offered[GM]
    assert "rigged-stairs" not in offered["mara"]
    assert "ankle-deep-mud" in offered["mara"]


def test_discovering_brings_it_to_light(rules: Rules, table: State) -> None:
    state = with_hidden(table, [Tag("Rigged Stairs", "aspect", audience=("gm",))])
    inputs = {"variant": "reveal-aspect", "skill": 2, "vs": 2}
    prepared = prepare(rules, "discover", inputs, state=state, actor="mara")
    for roll, is_seen in (("----", False), ("++00", True)):
        _, after = run(
            prepared, streams=Streams("1"), given={"roll": [roll]}, choose={"invoke": ["no"], "price": ["fail"]}
        )
        assert (after.seen_by("mara").tag("Rigged Stairs") is not None) is is_seen
