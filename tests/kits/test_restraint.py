"""Aspects that a policy never looks at are not offered where nobody reads what is: what is decided stays the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import SeededDealer
from rpgres.engine.players import Policy, Question, View, by_facts, policy_of, preferred, uniform
from rpgres.engine.prepare import prepare
from rpgres.engine.run import play
from rpgres.engine.seats import Seats
from rpgres.kits.aspects.policies import invokes_in_order, pays, sensible, thrifty
from rpgres.model.state import GM, SCENE, Character, Map, State, Tag
from rpgres.odds.branching import SearchDealer, SearchedPolicies
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules

FATE = load_rules(find_ruleset("fate"))
RULES = [FATE, FATE.with_switches({"same_aspect": "two-free"}), FATE.with_switches({"boost_lifetime": "next-chance"})]
PEOPLE = ("mara", "edda", "venn")
POINTS = st.integers(0, 3)


class Unread(SeededDealer):
    """Dice of a run of which nobody reads what happened."""

    is_logged = False


@invokes_in_order(pays=True)
def first_offered(view: View, question: Question) -> str:
    """Take whatever can be invoked, as a policy of another author's ruleset might."""
    return question.options[0].name if "acting" in question.facts else preferred(view, question)


@st.composite
def tables(draw: st.DrawFn) -> State:
    seats = {"mara": "mara", "edda": "edda", "venn": GM}
    people = {
        name: Character(name=name, seat=seats[name], counters=Map({"fate-points": draw(POINTS)})) for name in PEOPLE
    }
    tags = []
    for name in draw(st.lists(st.sampled_from("abcdefghij"), unique=True, min_size=3, max_size=9)):
        uses = draw(st.dictionaries(st.sampled_from(PEOPLE), st.integers(1, 2), max_size=1))
        kind = draw(st.sampled_from(["aspect", "consequence", "boost"]))
        tags.append(Tag(name, kind, draw(st.sampled_from([SCENE, *PEOPLE])), Map(uses)))
    return State(characters=Map(people), tags=tuple(tags), counters=Map({"fate-points": draw(POINTS)}))


@given(
    tables(),
    st.sampled_from(RULES),
    st.sampled_from([sensible, thrifty, preferred, first_offered]),
    st.integers(0, 10**6),
)
def test_a_policy_decides_alike_whether_what_it_never_looks_at_is_offered_or_not(
    state: State, rules: Rules, policy: Policy, seed: int
) -> None:
    inputs = {"skill": "1", "vs": [f"4dF+{1 + seed % 7}"], "target": "venn", "ally": ["edda"]}
    prepared = prepare(rules, "attack", inputs, state=state, actor="mara")

    def played(dealer: SeededDealer) -> Any:
        outcome, _ = play(prepared, dealer=dealer, players=Seats(policies={"": policy}))
        return outcome.band, outcome.margin, outcome.effects

    for number in range(10):
        dice = Streams(f"{seed}-{number}")
        assert played(Unread(dice)) == played(SeededDealer(dice))


@pytest.mark.parametrize(
    ("policies", "found"),
    [
        ({"": sensible}, True),
        ({"": thrifty, "mara": preferred}, False),
        ({"mara": thrifty, "venn": sensible}, True),
        ({"": sensible, "mara": uniform}, None),
        ({"": first_offered, "mara": thrifty}, True),
        ({"": policy_of(load_rules(find_ruleset("saga")))}, None),
    ],
)
def test_who_may_look_at_anything_is_offered_everything(policies: dict[str, Policy], found: bool | None) -> None:
    assert pays(Seats(policies=policies).policies) is found


def test_a_marked_policy_is_offered_no_aspect_that_it_could_not_pay_for() -> None:
    tags = tuple(Tag(name, "aspect", SCENE) for name in "abc")
    mara = Character(name="mara", seat="mara", counters=Map({"fate-points": 1}))
    state = State(characters=Map({"mara": mara, "venn": Character(name="venn", seat=GM)}), tags=tags)
    prepared = prepare(FATE, "attack", {"skill": "1", "vs": ["4dF+9"], "target": "venn"}, state=state, actor="mara")

    def offered(mark: Callable[[Policy], Policy]) -> list[int]:
        found = list[int]()

        def counting(view: View, question: Question) -> str:
            if question.label == "invoke":
                found.append(len(question.options))
            return preferred(view, question)

        play(prepared, dealer=Unread(Streams("dice")), players=Seats(policies={"": mark(counting)}))
        return found

    assert offered(invokes_in_order(pays=True)) == [2]  # of one aspect: a bonus, or new dice
    assert offered(by_facts) == [6]


def test_a_search_looks_at_everything() -> None:
    searched = SearchedPolicies({"": sensible}, seat="mara", dealer=SearchDealer(), only_first=False, is_first=True)
    assert pays(searched) is None
