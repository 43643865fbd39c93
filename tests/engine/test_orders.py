"""Standing orders: what they decide, by what means, what is refused with its line, and odds like those of a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.engine.deciders import Deciders, read_orders
from rpgres.engine.orders import orders_policy
from rpgres.engine.players import (
    ORDERS,
    POLICY,
    OrdersPolicy,
    Policy,
    Preference,
    Question,
    View,
    policy_of,
    preferred,
    uniform,
)
from rpgres.engine.prepare import policies_of, prepare
from rpgres.engine.seats import Policies
from rpgres.errors import FileError, UsageError
from rpgres.lint.decisions import decisions_of, offers, options_at
from rpgres.lint.orders import order_faults
from rpgres.lint.paths import Known
from rpgres.model.state import GM, Box, Character, Map, Pile, State, Tag
from rpgres.odds.exact import outcome_odds
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Option, Rules, builtin_folder
from rpgres.rulesets.orders import Order
from rpgres.scenes import prove_scene, read_scene
from rpgres.toml.reading import Source, parse, read_source

NAMED: dict[str, Policy] = {"preferred": preferred, "uniform": uniform}
STATE = State(
    Map(
        {
            "mara": Character(
                "mara", counters=Map({"fate-points": 2}), tracks=Map({"physical": (Box("1", 1, "x"), Box("2", 2))})
            ),
            "thug": Character("thug", seat=GM),
        }
    )
)
OPTIONS = (
    Option("stay", "Stay.", 1, Map({"cost": 2})),
    Option("flee", "Run.", 3, Map({"cost": 0})),
    Option("hit-thug", "Hit.", 2, Map({"cost": 1})),
)


def orders_in(text: str) -> list[Order]:
    return msgspec.convert(parse(Source("o.toml", text))["orders"], list[Order])


def decided(orders: Sequence[Mapping[str, Any]], *, state: State = STATE, who: str = "mara", **asked: Any) -> object:
    """Return what orders choose of `OPTIONS`, unless others are asked."""
    question = Question(asked.pop("label", "turn"), who, asked.pop("options", OPTIONS), **asked)
    policy = orders_policy(msgspec.convert(list(orders), list[Order]), named=NAMED.__getitem__)
    return policy(View(state.seat_of(who), state), question)


@pytest.mark.parametrize(
    ("choose", "chosen"),
    [
        ("flee", "flee"),
        ("hit-*", "hit-thug"),
        (["hide", "flee", "stay"], "flee"),
        (["hide", "h*"], "hit-thug"),
        (["hide", "first"], "stay"),
        (["hide", "any"], {"stay": 1, "flee": 1, "hit-thug": 1}),
        ("first", "stay"),
        ("last", "hit-thug"),
        ("preferred", "flee"),
        ("any", {"stay": 1, "flee": 1, "hit-thug": 1}),
        ({"highest": "cost"}, "stay"),
        ({"lowest": "cost"}, "flee"),
        ({"highest": "weight"}, None),
        ({"stay": 2, "flee": 1}, {"stay": 2, "flee": 1}),
        ({"stay": 2, "hide": 1}, "stay"),
        ({"stay": 2, "flee": 0}, "stay"),
        ({"h*": 1, "hit-thug": 2, "stay": 1}, {"hit-thug": 3, "stay": 1}),
        ({"hide": 2}, None),
        ({"first": 2, "last": 1}, {"stay": 2, "hit-thug": 1}),
        ({"preferred": 1, "any": 2, "hide": 5}, {"flee": 5, "stay": 2, "hit-thug": 2}),
        ("hide", None),
        ("no", None),
    ],
)
def test_what_is_chosen(choose: object, chosen: object) -> None:
    assert decided([{"choose": choose}]) == chosen


def test_an_optional_decision_may_pass() -> None:
    assert decided([{"choose": "no"}], optional=True) == "no"
    assert decided([{"choose": ["hide", "no"]}], optional=True) == "no"
    assert decided([{"choose": {"no": 1, "flee": 3}}], optional=True) == {"no": 1, "flee": 3}
    assert decided([{"choose": "any"}], optional=True) == {"stay": 1, "flee": 1, "hit-thug": 1, "no": 1}


def test_an_option_that_is_called_like_a_word_is_that_option() -> None:
    assert decided([{"choose": "first"}], options=(Option("last"), Option("first"))) == "first"


def test_a_typed_answer_beyond_the_options() -> None:
    def reads(text: str) -> str:
        if not text.isdecimal():
            raise UsageError("a number")
        return text

    assert decided([{"choose": ["x", "12"]}], reads=reads) == "12"
    assert decided([{"choose": {"12": 1, "7": 2, "x": 5}}], reads=reads) == {"12": 1, "7": 2}
    assert decided([{"choose": "any"}], reads=reads, options=()) is None


def test_an_option_that_others_do_not_weigh_has_no_weight() -> None:
    assert decided([{"choose": {"flee": 1, "peek": 4}}], aside=(Option("peek"),)) == "flee"


def test_the_first_that_holds_and_is_offered_decides() -> None:
    orders: list[dict[str, Any]] = [
        {"ask": "price", "choose": "flee"},
        {"ask": ["turn", "price"], "when": {"self.tracks.physical.free": "> 1"}, "choose": "flee"},
        {"when": {"self.tracks.physical.free": "<= 1", "enemies.count": 1}, "choose": "hide"},
        {"when": {"facts.margin": "< 0", "options.hit-*": True}, "choose": "hit-thug"},
        {"policy": "preferred"},
    ]
    assert decided(orders, facts=Map({"margin": -1})) == "hit-thug"
    assert decided(orders, facts=Map({"margin": 1})) == "flee"
    assert decided(orders[:-1], facts=Map({"margin": 1})) is None
    assert decided(orders[:-1], facts=Map({"margin": -1}), options=OPTIONS[:2]) is None
    assert decided(orders, label="price") == "flee"


def test_by_what_means_an_answer_came() -> None:
    orders = msgspec.convert([{"ask": "turn", "choose": "flee"}], list[Order])
    policies = Policies({"mara": orders_policy(orders, named=NAMED.__getitem__, fallback=preferred), "": uniform})
    view = View("mara", STATE)
    answers = [policies.answer(Question(label, "mara", OPTIONS), view) for label in ("turn", "price")]
    assert [(answer.choice, answer.means) for answer in answers if answer] == [("flee", ORDERS), ("flee", POLICY)]
    silent = Policies({"mara": orders_policy(orders, named=NAMED.__getitem__), "": uniform})
    assert silent.answer(Question("price", "mara", OPTIONS), view) is None


def test_orders_read_the_view_and_not_the_state() -> None:
    hidden = State(
        STATE.characters,
        (Tag("Trap", "aspect", audience=(GM,)),),
        piles=Map({"hand:thug": Pile(("ace",), (GM,), "thug")}),
    )
    orders = [
        {"when": {"tags.trap": True}, "choose": "stay"},
        {"when": {"piles.hand:thug.cards.ace": True}, "choose": "hit-thug"},
        {"choose": "flee"},
    ]
    policy = orders_policy(msgspec.convert(orders, list[Order]), named=NAMED.__getitem__)
    question = Question("turn", "mara", OPTIONS)
    assert policy(View("mara", hidden.seen_by("mara")), question) == "flee"
    assert policy(View(GM, hidden.seen_by(GM)), question) == "stay"


# ---------------------------------------------------------------------------------------------------------------------
# Faults


@pytest.fixture(scope="module")
def fate() -> Rules:
    return load_rules(find_ruleset("fate"))


@pytest.fixture(scope="module")
def saga() -> Rules:
    return load_rules(find_ruleset("saga"))


def faults(rules: Rules, text: str, *, who: str = "mara", state: State = STATE, **known: Any) -> list[str]:
    """Return what is wrong with orders, each as `NUMBER KEY: MESSAGE`."""
    orders = orders_in(text)
    seen = Known(rules, state, who=who, seat=state.seat_of(who), **known)
    found = order_faults(rules, orders, known=seen, policies=["sensible", "uniform"])
    return [f"{fault.path[0]} {'.'.join(map(str, fault.path[1:]))} {fault.code}: {fault.message}" for fault in found]


def test_sound_orders_have_no_faults(fate: Rules) -> None:
    text = """
    [[orders]]
    ask = "price"
    when = { "self.tracks.physical.free" = "<= 1", "enemies.count" = ">= 2" }
    choose = "cost"
    [[orders]]
    ask = "price"
    when = { "self.tracks.physical.free" = "<= 2" }
    choose = { fail = 1, cost = 2 }
    [[orders]]
    ask = "price"
    choose = ["fail", "cost"]
    [[orders]]
    choose = "take-*"
    [[orders]]
    ask = ["invoke", "invoke-against"]
    choose = "no"
    [[orders]]
    when = { "characters.thug.is_out" = true, "tags.count" = ">= 1", "counters.fate-points" = 0 }
    choose = "first"
    [[orders]]
    policy = "sensible"
    """
    assert faults(fate, text.replace('choose = "take-*"', 'choose = "c*"')) == []


@pytest.mark.parametrize(
    ("ruleset", "name", "is_there"),
    [
        ("nodice", "harm", True),  # counted by rules in code, which declare it
        ("nodice", "zoen", False),
        ("nodice", "weather", False),
        ("fate", "members-out", True),
        ("fate", "opposition-next", True),
        ("coppermane", "acted", True),
        ("fate", "zorgle", False),  # near none that is declared
        ("fate", "fate-points-later", True),
        ("two-dice", "hram", False),
        ("two-dice", "weather", False),  # without code, what no data declare is not there
    ],
)
def test_orders_may_read_what_code_counts(ruleset: str, name: str, is_there: bool) -> None:
    text = f'[[orders]]\nwhen = {{ "self.counters.{name}" = ">= 1" }}\nchoose = "first"'
    found = faults(load_rules(find_ruleset(ruleset)), text)
    assert [f"there is no counter '{name}'" in one for one in found] == ([] if is_there else [True])


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ('ask = "prise"\nchoose = "first"', "0 ask unknown-name: fate asks for no decision 'prise'"),
        ('ask = "roll"\nchoose = "first"', "0 ask unknown-name: 'roll' is rolled or drawn, and is no decision"),
        ('policy = "sensibel"', "0 policy unknown-name: there is no policy 'sensibel'"),
        ('ask = "price"\nchoose = "gold"', "0 choose unknown-name: the decision price never offers 'gold'; it can"),
        ('ask = "turn"\nchoose = "conceed"', "0 choose unknown-name: the decision turn never offers 'conceed'"),
        ('ask = "price"\nchoose = "g*"', "0 choose unknown-name: the decision price never offers 'g*'"),
        ('ask = "price"\nchoose = { cost = 1, gold = 2 }', "0 choose.gold unknown-name: the decision price never"),
        ('ask = "price"\nchoose = "no"', "0 choose unknown-name: the decision price cannot pass; it has: cost, fail"),
        ('ask = "price"\nchoose = "highest"', "0 choose wrong-value: `highest` goes by a number that options have"),
        ('ask = "price"\nchoose = { cost = "much", fail = 1 }', "0 choose.cost wrong-type: weights are whole numbers"),
        ('ask = "price"\nchoose = { cost = 0 }', "0 choose wrong-value: weights are whole numbers from 0 on"),
        ('ask = "price"\nchoose = ["first", "cost"]', "0 choose never-matches: `first` always chooses something"),
        ('ask = "price"\nchoose = []', "0 choose wrong-value: an order chooses at least one option"),
        (
            'ask = "price"\nwhen = { "options.gold" = true }\nchoose = "cost"',
            "0 when.options.gold unknown-name: the decision price never offers 'gold'",
        ),
        (
            'when = { "self.counters.fate-pints" = 1 }\nchoose = "first"',
            "0 when.self.counters.fate-pints unknown-name: there is no counter 'fate-pints'",
        ),
        (
            'when = { "self.tracks.psychic.free" = 1 }\nchoose = "first"',
            "0 when.self.tracks.psychic.free unknown-name: there is no track 'psychic'",
        ),
        (
            'when = { "characters.thugs.is_out" = true }\nchoose = "first"',
            "0 when.characters.thugs.is_out unknown-name: there is no character 'thugs'",
        ),
        (
            'when = { "tracks.clock.free" = 1 }\nchoose = "first"',
            "0 when.tracks.clock.free unknown-name: there is no track 'clock'",
        ),
        ('when = { "self.luck" = 1 }\nchoose = "first"', "0 when.self.luck unknown-name: self has no place 'luck'"),
        (
            'when = { "self.is_out" = true, "self.is-out" = false }\nchoose = "first"',
            "0 when.self.is-out never-matches: this never holds together with 'self.is_out'",
        ),
        (
            'when = { "self.counters.fate-points" = ">= 3 and <= 2" }\nchoose = "first"',
            "0 when.self.counters.fate-points never-matches: no possible value fits",
        ),
    ],
)
def test_what_is_refused(fate: Rules, order: str, told: str) -> None:
    found = faults(fate, f"[[orders]]\n{order}")
    assert [fault[: len(told)] for fault in found] == [told]


@pytest.mark.parametrize(
    ("first", "second", "is_dead"),
    [
        ('ask = "price"\nchoose = "cost"', 'ask = "price"\nchoose = "fail"', True),
        ('choose = "first"', 'ask = "price"\nchoose = "fail"', True),
        ('policy = "sensible"', 'choose = "first"', True),
        ('ask = ["price", "cost"]\nchoose = "first"', 'ask = "price"\nchoose = "fail"', True),
        (
            'ask = "price"\nwhen = { "self.counters.fate-points" = ">= 1" }\nchoose = "cost"',
            'ask = "price"\nwhen = { "self.counters.fate-points" = "2..3", "self.is_out" = false }\nchoose = "fail"',
            True,
        ),
        ('ask = "price"\nchoose = "cost"', 'ask = ["price", "cost"]\nchoose = "first"', False),
        ('ask = "price"\nchoose = "cost"', 'choose = "first"', False),
        ('choose = "c*"', 'ask = "price"\nchoose = "fail"', False),
        (
            'ask = "price"\nwhen = { "self.counters.fate-points" = ">= 2" }\nchoose = "cost"',
            'ask = "price"\nwhen = { "self.counters.fate-points" = ">= 1" }\nchoose = "fail"',
            False,
        ),
        (
            'ask = "price"\nwhen = { "self.counters.fate-points" = ">= 2" }\nchoose = "cost"',
            'ask = "price"\nchoose = "fail"',
            False,
        ),
    ],
)
def test_what_is_never_reached(fate: Rules, first: str, second: str, is_dead: bool) -> None:
    found = faults(fate, f"[[orders]]\n{first}\n[[orders]]\n{second}")
    assert [fault.partition(":")[0] for fault in found] == (["1 ask never-matches"] if is_dead else []) or (
        is_dead and found[0].startswith("1  never-matches: this order is never reached")
    )


@pytest.mark.parametrize(
    ("first", "second", "severity"),
    [
        ('ask = "price"\nchoose = "cost"', 'ask = "price"\nchoose = "fail"', "error"),  # `cost` is always offered
        ('ask = "compel"\nchoose = { accept = 0, refuse = 1 }', 'ask = "compel"\nchoose = "accept"', "warning"),
        ('ask = "invoke"\nchoose = "no"', 'ask = "invoke"\nchoose = "first"', "error"),  # it may always pass
        ('ask = "absorb"\nchoose = "taken-out"', 'ask = "absorb"\nchoose = "first"', "warning"),
        ('ask = "absorb"\nchoose = "first"', 'ask = "absorb"\nchoose = "last"', "error"),
        ('ask = "absorb"\npolicy = "brave"', 'ask = "absorb"\nchoose = "last"', "warning"),
        ('policy = "calm"', 'ask = "absorb"\nchoose = "last"', "error"),
        ('policy = "brave"', 'ask = "absorb"\nchoose = "last"', ""),
        (
            'ask = "absorb"\nwhen = { "characters.mara.counters.fate-points" = ">= 1" }\nchoose = "first"',
            'ask = "absorb"\nwhen = { "self.counters.fate-points" = 2 }\nchoose = "last"',
            "error",
        ),
    ],
)
def test_an_order_is_refused_only_where_an_earlier_one_always_decides(
    fate: Rules, first: str, second: str, severity: str
) -> None:
    sets = {name: orders_in(f"[[orders]]\n{one}") for name, one in SETS.items()}
    known = Known(fate, STATE, who="mara", seat="mara")
    orders = orders_in(f"[[orders]]\n{first}\n[[orders]]\n{second}")
    found = list(order_faults(fate, orders, known=known, policies=["sensible"], sets=sets))
    assert [(fault.path[0], fault.code, fault.severity) for fault in found] == (
        [(1, "never-matches", severity)] if severity else []
    )


SETS = {"brave": 'ask = "price"\nchoose = "cost"', "calm": 'choose = "first"'}


@pytest.mark.parametrize(
    ("when", "is_refused"),
    [
        ('"self.counters.fate-points" = ">= 3", "characters.mara.counters.fate-points" = "< 1"', True),
        ('"enemies.any.is-out" = true', True),  # who is out is no enemy any more
        ('"enemies.thug.is-out" = true', True),
        ('"characters.active.any.is-out" = true', True),
        ('"characters.any.is-out" = true', False),
        ('"enemies.all.is-out" = true', False),  # there may be none
        ('"enemies.count" = 0, "enemies.thug" = true', True),
        ('"enemies.count" = 0, "enemies.thug" = false', False),
        ('"enemies.any.counters.fate-points" = 1, "enemies.all.counters.fate-points" = "> 1"', True),
        ('"enemies.any.counters.fate-points" = 2, "enemies.all.counters.fate-points" = "> 1"', False),
        ('"characters.any.seat" = "gm", "characters.any.name" = "mara"', False),
    ],
)
def test_conditions_that_never_hold_together(fate: Rules, when: str, is_refused: bool) -> None:
    found = faults(fate, f'[[orders]]\nwhen = {{ {when} }}\nchoose = "first"')
    assert [" never-matches: " in fault for fault in found] == ([True] if is_refused else [])


PLACES = st.sampled_from(
    [
        "self.counters.fate-points",
        "characters.mara.counters.fate-points",
        "enemies.count",
        "enemies.thug",
        "enemies.all.counters.fate-points",
        "enemies.any.counters.fate-points",
        "others.any.is_out",
        "facts.margin",
    ]
)
NUMBERS = st.sampled_from([0, 1, "< 0", "<= 1", ">= 2", "> 1 and < 2", "0..1", "!= 0", [0, "> 1"]])
WHOLE = st.builds(
    lambda when, **order: {**order, "when": {path: wanted for path, wanted in when if _is_fitting(path, wanted)}},
    when=st.lists(st.tuples(PLACES, NUMBERS | st.booleans()), max_size=3),
    ask=st.sampled_from([["price"], ["absorb", "price"], []]),
    choose=st.sampled_from(["cost", "first", "no", "taken-out", {"cost": 1, "fail": 2}, ["box-1", "last"]]),
)


def _is_fitting(path: str, wanted: object) -> bool:
    is_flag = path in ("others.any.is_out", "enemies.thug")
    return isinstance(wanted, bool) == is_flag


@pytest.mark.slow
@given(
    st.lists(WHOLE, min_size=1, max_size=4),
    st.sampled_from(["price", "absorb"]),
    st.integers(0, 3),
    st.integers(0, 3),
    st.booleans(),
    st.integers(-1, 2),
    st.sets(st.sampled_from(["box-1", "mild", "taken-out"]), min_size=1),
)
def test_an_order_that_is_refused_never_applies(
    orders: list[dict[str, Any]], label: str, own: int, theirs: int, out: bool, margin: int, absorbs: set[str]
) -> None:
    fate, read = load_rules(find_ruleset("fate")), msgspec.convert(orders, list[Order])
    known = Known(fate, STATE, who="mara", seat="mara")
    found = order_faults(fate, read, known=known, policies=["sensible"])
    dead = {fault.path[0] for fault in found if (fault.code, fault.severity) == ("never-matches", "error")}
    thug = Character("thug", seat=GM, counters=Map({"fate-points": theirs}), is_out=out)
    mara = msgspec.structs.replace(STATE.characters["mara"], counters=Map({"fate-points": own}))
    names = ("fail", "cost") if label == "price" else sorted(absorbs)
    question = Question(label, "mara", tuple(map(Option, names)), facts=Map({"margin": margin}))
    view = View("mara", State(Map({"mara": mara, "thug": thug})))
    for number, order in enumerate(read):  # which decides where none before it does
        if orders_policy([order], named=NAMED.__getitem__)(view, question) is not None:
            assert number not in dead
            break


def test_two_orders_can_cover_a_third_together(fate: Rules) -> None:
    text = '[[orders]]\nask = "price"\nchoose = "cost"\n[[orders]]\nask = "cost"\nchoose = "first"\n'
    assert faults(fate, text + '[[orders]]\nask = ["price", "cost"]\nchoose = "last"')


def test_what_the_seat_may_not_see_is_refused(saga: Rules) -> None:
    state = State(
        Map({"mara": Character("mara"), "bo": Character("bo"), "thug": Character("thug", seat=GM)}),
        (Tag("Trap", "aspect", audience=(GM,)), Tag("Note", "aspect", audience=("mara",))),
        tracks=Map({"clock": (Box("1", 1),)}),
        things=Map({"plot": "x"}),
        audiences=Map({"clock": (GM,), "plot": (GM,)}),
    )
    conditions = {
        '"tags.trap" = true': "the seat mara does not see 'trap'",
        '"tracks.clock.free" = 0': "the seat mara does not see 'clock'",
        '"things.plot" = "x"': "the seat mara does not see 'plot'",
        '"piles.deck.cards.St4n" = true': "the cards of 'deck' are face down",
        '"piles.hand:bo.cards.St4n" = true': "the seat mara does not see the cards of 'hand' of others",
        '"characters.bo.piles.hand.cards.St4n" = true': "the seat mara does not see the cards of 'hand' of others",
        '"others.any.piles.hand.cards.St4n" = true': "the seat mara does not see the cards of 'hand' of others",
    }
    for condition, told in conditions.items():
        text = f'[[orders]]\nask = "play"\nwhen = {{ {condition} }}\nchoose = "first"'
        found = faults(saga, text, state=state)
        assert [told in fault and " unseen: " in fault for fault in found] == [True], (condition, found)
        if "hand" not in condition and "deck" not in condition:
            assert faults(saga, text, state=state, who="thug") == []
    may = ('"tags.note" = true', '"piles.deck.count" = "< 9"', '"self.piles.hand.cards.St4n" = true')
    for condition in (*may, '"others.any.piles.hand.count" = 0', '"piles.hand:mara.cards.St4n" = true'):
        assert faults(saga, f'[[orders]]\nwhen = {{ {condition} }}\nchoose = "first"', state=state) == [], condition


@pytest.mark.parametrize(
    ("ruleset", "condition", "told"),
    [
        ("fate", 'ask = "price"\nwhen = { "facts.marginn" = "< 0" }', "the decision price shows no fact 'marginn'"),
        ("fate", 'ask = "absorb"\nwhen = { "facts.shift" = 2 }', "the decision absorb shows no fact 'shift'"),
        ("fate", 'ask = "veto"\nwhen = { "facts.margin" = 2 }', "the decision veto shows no fact 'margin', and no oth"),
        ("fate", 'when = { "facts.zzz" = 2 }', "no decision shows a fact 'zzz'"),
        (
            "fate",
            'ask = ["absorb", "price"]\nwhen = { "facts.zzz" = 2 }',
            "the decisions absorb, price show no fact 'zzz'",
        ),
        ("fate", 'ask = "absorb"\nwhen = { "options.zzz" = true }', "the decision absorb never offers 'zzz'"),
        ("fate", 'ask = "target"\nwhen = { "options.zzz" = true }', "the decision target never offers 'zzz'; it can"),
        ("fate", 'ask = "target"\nwhen = { "options.any.rooom" = 1 }', "no fact 'rooom' of its options"),
        ("fate", 'ask = "invoke"\nwhen = { "options.*reroll*.fre" = 1 }', "no fact 'fre' of its options"),
        ("fate", 'ask = "turn"\nwhen = { "facts.foes.zzz" = true }', "there is no character 'zzz'"),
        ("saga", 'ask = "play"\nwhen = { "options.Ag99" = true }', "the decision play never offers 'Ag99'"),
        ("saga", 'ask = "play"\nwhen = { "options.ag5" = true }', "the decision play never offers 'ag5'"),
        ("faith", 'ask = "failure"\nwhen = { "facts.off" = "mara" }', "the decision failure shows no fact 'off'"),
        ("nodice", 'ask = "change"\nwhen = { "options.zzz" = true }', "the decision change never offers 'zzz'"),
        (
            "faith",
            'ask = "act"\nwhen = { "options.pistol:thugg" = true }',
            "the decision act never offers 'pistol:thugg'",
        ),
        ("fate", 'ask = "twist"\nwhen = { "options.zzz" = true }', "the decision twist never offers 'zzz'"),
        ("push-pool", 'ask = "push"\nwhen = { "facts.zzz" = 2 }', "the decision push shows no fact 'zzz'"),
    ],
)
def test_what_a_question_never_shows_or_offers_is_refused(ruleset: str, condition: str, told: str) -> None:
    rules = load_rules(find_ruleset(ruleset))
    (found,) = faults(rules, f'[[orders]]\n{condition}\nchoose = "first"')
    assert told in found
    assert " unknown-name: " in found


@pytest.mark.parametrize(
    ("ruleset", "condition", "told"),
    [
        ("saga", 'ask = "play"\nwhen = { "options.any.suit" = "sworfs" }', "unknown-name: suit is never 'sworfs'"),
        ("saga", 'ask = "play"\nwhen = { "facts.trump" = "strenght" }', "unknown-name: trump is never 'strenght'"),
        ("saga", 'ask = "play"\nwhen = { "facts.total" = "high" }', "not-a-number: total is a number, and never"),
        ("fate", 'ask = "invoke"\nwhen = { "facts.margin" = "under 0" }', "not-a-number: margin is a number"),
        ("fate", 'ask = "invoke"\nwhen = { "facts.acting" = "yes" }', "acting is never 'yes'; it can be: false, true"),
        (
            "fate",
            'ask = "price"\nwhen = { "facts.margin" = "high" }',
            "not-a-number: margin is a number, and never 'high'",
        ),
        (
            "push-pool",
            'ask = "push"\nwhen = { "facts.successes" = "two" }',
            "not-a-number: successes is a number, and never 'two'",
        ),
    ],
)
def test_words_that_a_fact_never_is_are_refused(ruleset: str, condition: str, told: str) -> None:
    rules = load_rules(find_ruleset(ruleset))
    (found,) = faults(rules, f'[[orders]]\n{condition}\nchoose = "first"')
    assert told in found, found


TIDE = """
standalone = true
title = "Tide"
summary = "Diving."
version = "1"
[bands]
miss = { title = "Miss", success = false }
hit = { title = "Hit", success = true }
[actions.dive]
summary = "Dive."
parameters = ["skill", "gear"]
required = ["skill"]
dice = "2d6"
numbers = { held = "if(given(gear), gear, 'nothing')", mood = "if(skill > 2, 'calm', 'wild')" }
bands = { hit = "roll + skill >= 8", miss = "else" }
[actions.dive.ask.push]
text = "Push?"
when = "mood = 'wild' and held != 'net' and roll < 8"
options.push = { text = "Push", reroll = { roll = "face < 3" } }
[parameters]
skill = { kind = "integer", help = "skill", at-least = 0, at-most = 5 }
gear = { kind = "text", help = "gear" }
"""


def test_words_of_a_question_inside_a_roll_are_those_of_its_numbers(tmp_path: Path) -> None:
    (tmp_path / "tide").mkdir()
    (tmp_path / "tide" / "ruleset.toml").write_text(TIDE, encoding="utf-8")
    rules = load_rules(find_ruleset("tide", extra=[tmp_path]), extra=[tmp_path])
    found = {}
    for path, word in (("mood", "wilf"), ("mood", "wild"), ("held", "rope")):
        order = f'[[orders]]\nask = "push"\nwhen = {{ "facts.{path}" = "{word}" }}\nchoose = "push"'
        found[word] = faults(rules, order)
    assert found["wild"] == found["rope"] == []
    (told,) = found["wilf"]
    assert "mood is never 'wilf'" in told


def test_a_word_that_play_may_bring_forth_is_a_warning() -> None:
    rules = load_rules(find_ruleset("saga")).with_switches({})
    label = msgspec.structs.replace(rules.file.labels["play"], facts={"stance": ["open", "{name}"]})
    rules.file = msgspec.structs.replace(rules.file, labels={**rules.file.labels, "play": label})
    known = Known(rules, state=STATE, texts=("Rain",))
    found = {}
    for word in ("opn", "open", "rain"):
        order = Order(ask="play", when={"facts.stance": word}, choose="first")
        placed = [fault.placed("", None, None) for fault in order_faults(rules, [order], known=known, policies=())]
        found[word] = [(one.severity, one.hint) for one in placed]
    assert found == {"opn": [("warning", "open")], "open": [], "rain": []}


@pytest.mark.parametrize(
    ("ruleset", "order"),
    [
        ("fate", 'when = { "facts.margin" = "< 0", "facts.foes.count" = ">= 2" }\nchoose = "first"'),
        ("fate", 'ask = ["absorb", "price"]\nwhen = { "facts.margin" = 2 }\nchoose = "first"'),
        ("fate", 'ask = "absorb"\nwhen = { "options.mild*box*" = true }\nchoose = ["Mild+box-2", "*box-1"]'),
        ("fate", 'ask = "target"\nwhen = { "others.count" = 1 }\nchoose = { mara = 1, scene = 2, "thu*" = 1 }'),
        ("fate", 'ask = "invoke"\nwhen = { "options.any.free" = ">= 1", "options.count" = 2 }\nchoose = "any-*"'),
        ("saga", 'ask = "play"\nchoose = ["ag5", "Stop"]'),
        ("saga", 'ask = "play"\nwhen = { "options.Ag5" = true }\nchoose = { highest = "value" }'),
        ("hunger-pool", 'ask = "will"\nchoose = "dice-1-1"'),
        ("nodice", 'ask = "change"\nwhen = { "options.attack*" = true }\nchoose = "abort/mara#1+dodge/agi=1"'),
        ("faith", 'ask = "act"\nwhen = { "options.pistol:thug" = true }\nchoose = "hold"'),
    ],
)
def test_what_a_question_can_show_and_offer_is_accepted(ruleset: str, order: str) -> None:
    rules = load_rules(find_ruleset(ruleset))
    assert faults(rules, f"[[orders]]\n{order}") == []


def test_characters_that_a_target_names_are_those_of_the_table(fate: Rules) -> None:
    order = '[[orders]]\nask = "target"\nchoose = "thugg"'
    (found,) = faults(fate, order)
    assert "the decision target never offers 'thugg'" in found
    assert faults(fate, order, is_portable=True) == []  # on a sheet, it may be anybody


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("self.tracks.physical.9", "there is no box '9'"),
        ("self.tracks.physical.box-1", "there is no box 'box-1'"),
        ("periods.conflicct", "there is no period 'conflicct'"),
        ("periods.scenes", "there is no period 'scenes'"),
    ],
)
def test_boxes_and_periods_that_there_are_not_are_refused(fate: Rules, path: str, told: str) -> None:
    (found,) = faults(fate, f'[[orders]]\nwhen = {{ "{path}" = true }}\nchoose = "first"')
    assert told in found


def test_boxes_and_periods_that_there_can_be_are_accepted(fate: Rules) -> None:
    paths = (
        "self.tracks.physical.4.mark",
        "periods.scene",
        "enemies.any.tracks.consequences.mild-physical",
        "periods.count",
    )
    for path, wanted in zip(paths, ('"x"', "true", "true", "1"), strict=True):
        assert faults(fate, f'[[orders]]\nwhen = {{ "{path}" = {wanted} }}\nchoose = "first"') == []


def test_a_card_that_no_deck_has_is_refused(saga: Rules) -> None:
    for card in ("St4", "Zz9"):  # of the fours of strength there are two, each with its sign
        (found,) = faults(saga, f'[[orders]]\nwhen = {{ "self.piles.hand.cards.{card}" = true }}\nchoose = "first"')
        assert f"there is no card {card!r}" in found


@pytest.mark.parametrize("fact", ["valuee", "room"])
def test_an_order_by_a_number_that_no_option_has_is_refused(saga: Rules, fact: str) -> None:
    (found,) = faults(saga, f'[[orders]]\nask = "play"\nchoose = {{ highest = "{fact}" }}')
    assert f"the decision play shows no fact {fact!r} of its options" in found


def test_decisions_are_searched_for_once_and_switches_have_their_own() -> None:
    rules = load_rules(find_ruleset("fate"))
    assert decisions_of(rules) is decisions_of(rules)
    assert decisions_of(rules.with_switches({"invoke_order": "actor-then-opponent"})) is not decisions_of(rules)


def test_decisions_of_every_ruleset_have_their_options() -> None:
    found = decisions_of(load_rules(find_ruleset("fate")))
    assert found["price"].options == {"cost", "fail"}
    assert found["invoke"].options == {"{name}", "{name}:reroll"}
    assert found["veto"].options == {"veto"}
    known = Known(load_rules(find_ruleset("fate")), State(tags=(Tag("Rain", "aspect"),)))
    assert options_at(found["invoke"], known) == ["rain", "rain:reroll"]
    assert options_at(found["invoke"], known, is_later=True) == ["*", "*:reroll"]  # when play has brought forth more


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", ["fate", "coppermane", "saga", "faith", "nodice"])
def test_rules_offer_and_show_nothing_but_what_their_data_list(ruleset: str, exhaustive: bool) -> None:
    """Every decision that comes up in the scenes that ship offers and shows what orders may name by the data."""
    offered: set[str] = set()
    strange: set[tuple[str, str]] = set()

    def deciding(rules: Rules) -> Any:
        decisions = decisions_of(rules)
        listed = {label: options_at(one, Known(rules)) for label, one in decisions.items()}

        def chooses(view: View, question: Question) -> Any:
            label, names = question.label, [option.name for option in question.options]
            options, decision = listed[label], decisions[label]
            strange.update((label, fact) for fact in question.facts if fact not in (decision.facts or ()))
            taken = {*names, *(["no"] if question.optional else [])}
            strange.update((label, f"always {name}") for name in decision.certain if name not in taken)
            if options is not None:
                assert question.reads is None or decision.is_typed
                offered.add(label)
                strange.update((label, name) for name in names if not any(offers(one, name) for one in options))
            return uniform(view, question) or None

        return chooses

    for path in sorted((builtin_folder() / ruleset / "scenes").glob("*.toml")):
        scene = read_scene(read_source(path), find_ruleset=find_ruleset)
        for seed in "12" if exhaustive else "1":
            with suppress(FileError):  # it cannot be played to its end when all is decided by chance
                prove_scene(msgspec.structs.replace(scene, policies={"": deciding(scene.rules)}), seed=seed)
    assert offered
    assert not strange
    if ruleset == "fate":
        assert {"turn", "concede", "price", "veto"} <= offered


# ---------------------------------------------------------------------------------------------------------------------
# Files and sheets


def test_a_file_of_orders_tells_all_its_faults_with_lines(fate: Rules) -> None:
    text = (
        'policy = "sensibel"\n[[orders]]\nask = "price"\nchoose = "gold"\n[[orders]]\nask = "prise"\nchoose = "first"\n'
    )
    with pytest.raises(FileError) as caught:
        read_orders(Source("o.toml", text), Known(fate))
    lines = caught.value.message.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["o.toml:1", "o.toml:4", "o.toml:6"]
    with pytest.raises(FileError, match="these orders are for the ruleset 'saga', not fate"):
        read_orders(Source("o.toml", 'ruleset = "saga"\n'), Known(fate))
    with pytest.raises(FileError, match="an order has one of choose and policy"):
        read_orders(Source("o.toml", '[[orders]]\nask = "price"\n'), Known(fate))


def test_sets_by_name_lead_to_each_other(fate: Rules) -> None:
    sets = {
        "brave": orders_in('[[orders]]\nask = "price"\nchoose = "cost"\n[[orders]]\npolicy = "calm"'),
        "calm": orders_in('[[orders]]\nchoose = "no"'),
    }
    brave = Deciders(fate, sets).named("brave")
    view = View("mara", STATE)
    price = Question("price", "mara", (Option("fail"), Option("cost")))
    assert brave(view, price) == "cost"
    assert brave(view, Question("invoke", "mara", OPTIONS, optional=True)) == "no"


SHEET = """
name = "Mara"
[aspects]
high-concept = "Sword for Hire"
trouble = "Debts"
[skills]
fight = 2
[[orders]]
ask = "invoke"
when = { "facts.margin" = "<= 0", "self.counters.fate-points" = ">= 2" }
choose = ["sword-for-hire", "first"]
[[orders]]
ask = "invoke"
choose = { no = 2, sword-for-hire = 1 }
"""


def by_hand(view: View, question: Question) -> str | dict[str, int] | None:
    """Decide as the orders of `SHEET` do, read with a person's eyes."""
    if question.label != "invoke":
        return None
    names = [option.name for option in question.options]
    mara = view.state.characters["mara"]
    if question.facts["margin"] <= 0 and mara.counters["fate-points"] >= 2:
        return "sword-for-hire" if "sword-for-hire" in names else names[0]
    return "no"


def test_odds_are_those_of_the_same_policy_in_python(tmp_path: Path, fate: Rules) -> None:
    sheet = tmp_path / "mara.toml"
    sheet.write_text(SHEET.replace(", sword-for-hire = 1", ""), "utf-8")
    prepared = prepare(fate, "overcome", {"sheet": str(sheet), "skill": "fight", "vs": 2})
    policies = policies_of(prepared, {}, with_orders=True)
    assert isinstance(policies["mara"], OrdersPolicy)
    ordered, written = (outcome_odds(prepared, policies={"mara": one}) for one in (policies["mara"], by_hand))
    assert ordered.masses == written.masses
    assert ordered.masses != outcome_odds(prepared).masses
    assert ordered.open == 0


def test_orders_on_a_sheet_come_before_everybodys_policy_and_after_an_own_one(tmp_path: Path, fate: Rules) -> None:
    sheet = tmp_path / "mara.toml"
    sheet.write_text(SHEET, "utf-8")
    prepared = prepare(fate, "overcome", {"sheet": str(sheet), "skill": "fight", "vs": 2})
    assert policies_of(prepared, {}) == {}
    both = policies_of(prepared, {}, auto=True)
    assert isinstance(both["mara"], OrdersPolicy)
    assert both["mara"].fallback is both[""]
    own = policies_of(prepared, {"mara": "thrifty"}, auto=True)
    assert not isinstance(own["mara"], OrdersPolicy)
    sheet.write_text(SHEET.replace('"invoke"', '"invite"', 1), "utf-8")
    prepared = prepare(fate, "overcome", {"sheet": str(sheet), "skill": "fight", "vs": 2})
    with pytest.raises(FileError, match=r"mara\.toml:9: orders\[0\]\.ask: fate asks for no decision 'invite'"):
        policies_of(prepared, {}, auto=True)


def test_a_file_of_orders_for_one_character(tmp_path: Path, fate: Rules) -> None:
    file = tmp_path / "calm.toml"
    file.write_text('policy = "sensible"\n[[orders]]\nask = "invoke"\nchoose = "no"\n', "utf-8")
    prepared = prepare(fate, "overcome", {"sheet": "mara", "skill": "fight", "vs": 2})
    calm = policies_of(prepared, {"actor": str(file)}, files=True)
    assert list(calm) == ["mara"]
    assert outcome_odds(prepared, policies=calm).masses == outcome_odds(prepared).masses
    with pytest.raises(UsageError, match="policy"):  # nobody who is not trusted with files names one
        policies_of(prepared, {"actor": str(file)})


WHEN = st.fixed_dictionaries(
    {},
    optional={
        "self.counters.fate-points": st.sampled_from([0, 2, "<= 1", ">= 2", "!= 2"]),
        "facts.margin": st.sampled_from([-1, "< 0", ">= 0", "-1..1"]),
        "options.flee": st.booleans(),
    },
)
ORDER = st.fixed_dictionaries(
    {"choose": st.sampled_from(["flee", "stay", "hide", "first", ["hide", "hit-*"], {"flee": 1, "stay": 3}])},
    optional={"ask": st.sampled_from(["turn", "price"]), "when": WHEN},
)


@given(st.lists(ORDER, max_size=5), st.integers(-2, 2), st.integers(0, 3))
def test_orders_decide_as_they_read(orders: list[dict[str, Any]], margin: int, points: int) -> None:
    mara = Character("mara", counters=Map({"fate-points": points}))
    holding = {
        "self.counters.fate-points": {0: points == 0, 2: points == 2, "<= 1": points <= 1, ">= 2": points >= 2}
        | {"!= 2": points != 2},
        "facts.margin": {-1: margin == -1, "< 0": margin < 0, ">= 0": margin >= 0, "-1..1": -1 <= margin <= 1},
        "options.flee": {True: True, False: False},
    }
    expected: object = None
    for order in orders:
        holds = all(holding[path][wanted] for path, wanted in order.get("when", {}).items())
        if order.get("ask", "turn") != "turn" or not holds or order["choose"] == "hide":
            continue
        chosen = order["choose"]
        expected = {"first": "stay"}.get(chosen, chosen) if isinstance(chosen, str) else chosen
        expected = "hit-thug" if isinstance(chosen, list) else expected
        break
    state = State(Map({"mara": mara}))
    assert decided(orders, state=state, facts=Map({"margin": margin})) == expected


# ---------------------------------------------------------------------------------------------------------------------
# Odds


@pytest.mark.parametrize(
    ("orders", "is_one"),
    [
        ('[[orders]]\nask = "play"\nchoose = { lowest = "value" }\n[[orders]]\npolicy = "steady"', True),
        ('[[orders]]\nask = "play"\nwhen = { "facts.margin" = "< 0" }\nchoose = ["C*", "first"]\n', False),
        ('[[orders]]\nask = "play"\nwhen = { "facts.margin" = "< 0" }\nchoose = ["C*", "no", "first"]\n', True),
        ('[[orders]]\nask = "play"\nchoose = { highest = "value" }\n[[orders]]\nchoose = "any"', False),
        ('[[orders]]\nask = "play"\nwhen = { "self.is_out" = true }\nchoose = "no"\n', False),
        ('[[orders]]\npolicy = "uniform"', False),
    ],
)
def test_which_orders_are_an_order_of_preference(orders: str, is_one: bool) -> None:
    faith = load_rules(find_ruleset("faith"))
    fallback = "steady" if "when" in orders and is_one else ""
    named = Deciders(faith).named
    policy = orders_policy(orders_in(orders), named=named, fallback=named(fallback) if fallback else None)
    assert (policy.preference is not None) == is_one
    assert Policies({"mara": policy}).preference("mara", "mara") is policy.preference


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "choose": st.sampled_from(
                    ["flee", "first", "no", ["hide", "hit-*"], {"highest": "cost"}, {"lowest": "x"}]
                )
            },
            optional={
                "ask": st.sampled_from(["turn", "price"]),
                "when": st.sampled_from([{}, {"facts.margin": "< 0"}, {"facts.margin": ">= 0"}]),
            },
        ),
        max_size=4,
    ),
    st.integers(-1, 1),
    st.booleans(),
    st.permutations(OPTIONS),
)
def test_an_order_of_preference_decides_as_the_orders_do(
    orders: list[dict[str, Any]], margin: int, optional: bool, options: list[Option]
) -> None:
    policy = orders_policy(msgspec.convert([*orders, {"choose": "first"}], list[Order]), named=NAMED.__getitem__)
    question = Question("turn", "mara", tuple(options), optional=optional, facts=Map({"margin": margin}))
    view = View("mara", STATE)
    assert policy.preference is not None
    assert policy.preference(view, question) == policy(view, question)


def test_hands_stay_unseen_in_odds_by_orders() -> None:
    """The same fractions as by the order of preference written in Python, and no hand is dealt."""
    faith = load_rules(find_ruleset("faith"))
    steady = policy_of(faith, "steady")
    assert isinstance(steady, Preference)

    def frugal(label: str, facts: Mapping[str, Any], option: Option) -> Any:
        value = option.facts.get("value")
        return (
            (0, (value,)) if label in ("play", "npc") and value is not None else (1, steady.key(label, facts, option))
        )

    text = '[[orders]]\nask = ["play", "npc"]\nchoose = { lowest = "value" }\n'
    orders = orders_policy(orders_in(text), named=Deciders(faith).named, fallback=steady)
    inputs = {"skill": 4, "attribute": 1, "advantages": 2, "gm": True, "hand": "H13,C4,D9"}
    ready = prepare(faith, "confront", inputs)
    ordered, written = (outcome_odds(ready, policies={"": one}) for one in (orders, Preference(frugal)))
    assert ordered.masses == written.masses
    assert (ordered.open, ordered.leaves) == (0, written.leaves)
    assert ordered.masses != outcome_odds(ready, policies={"": steady}).masses
