"""Standing orders at a persistent table: whose they are, what they decide, how they are undone, who learns of it."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest

from rpgres.engine.records import Pending, Result
from rpgres.errors import FileError, UsageError
from rpgres.journal import commands as sitting
from rpgres.journal import store
from rpgres.journal.commands import Done, Place
from rpgres.journal.exporting import sheets_of
from rpgres.journal.records import found_in
from rpgres.journal.verifying import verify
from rpgres.journal.views import log_seen, orders_record, table_record
from rpgres.model.events import DecisionEvent
from rpgres.rulesets.sheets import read_sheet
from rpgres.toml.reading import Source
from tests.support.command_line import rpgres

LOSE = {"roll": ["----"]}
CALM = """
[[orders]]
ask = ["invoke", "invoke-against"]
choose = "no"
[[orders]]
ask = "price"
when = { "self.counters.fate-points" = ">= 1" }
choose = "fail"
"""
SECRET = "fate-points"  # a word of the orders that stands nowhere else in what others see of them


@pytest.fixture
def place(tmp_path: Path) -> Place:
    salts = count(1)
    made = Place(tmp_path / "t.db", salt=lambda: next(salts).to_bytes(32, "big"))
    sitting.begin_table(made, ruleset="fate", sheets=["mara", "edda"], seed="7")
    sitting.let_pass(made, seat="gm", until="always")
    return made


def give(place: Place, text: str = CALM, *, seat: str | None = None, whose: str = "mara") -> Done:
    return sitting.set_orders(place, Source("some/where/calm.toml", text), seat=seat, whose=whose)


def act(place: Place, actor: str = "mara", **options: object) -> Done:
    return sitting.act(place, "overcome", {"skill": "2", "vs": ["1"]}, actor=actor, given=LOSE, **options)  # type: ignore[arg-type]


def decided(done: Done) -> dict[str, tuple[str, str]]:
    found = found_in(done.entry.secret)
    assert found is not None
    return {one.label: (one.answer, one.means) for one in found.events if isinstance(one, DecisionEvent)}


def orders_now(place: Place, seat: str | None = None) -> dict[str, str]:
    return {entry.seat: entry.text for entry in orders_record(store.read(place.path), seat).orders}


def is_in_order(place: Place) -> bool:
    sitting.reveal(place)
    verdict = verify(place.path)
    assert verdict.exit == 0, verdict.problems
    return verdict.verdict == "in order"


@pytest.mark.slow
def test_an_absent_players_orders_decide_and_are_marked(place: Place) -> None:
    assert isinstance(found_in(act(place).entry.secret), Pending)
    sitting.undo(place)
    give(place)
    done = act(place)
    assert isinstance(found_in(done.entry.secret), Result)
    assert decided(done) == {"invoke": ("no", "orders"), "price": ("fail", "orders")}
    shown = rpgres("table", "log", "--last", "1", "--as", "edda", "--table", str(place.path)).out
    assert "price (mara): fail  (standing orders)" in shown
    assert is_in_order(place)


def test_orders_are_one_seats_alone(place: Place) -> None:
    give(place)
    assert isinstance(found_in(act(place, "edda").entry.secret), Pending)


def test_what_was_typed_for_an_action_comes_before_orders(place: Place) -> None:
    give(place)
    done = act(place, choose={"price": ["cost"], "cost": ["problem"]})
    assert decided(done)["price"] == ("cost", "host")
    sitting.undo(place)
    assert decided(act(place, policies={"mara": "thrifty"}))["price"][1] == "policy"
    sitting.undo(place)
    done = act(place, auto=True)  # everybody's policy is for those who said nothing
    assert decided(done)["price"] == ("fail", "orders")
    assert is_in_order(place)


def test_what_orders_say_nothing_of_waits(place: Place) -> None:
    give(place, CALM.replace(">= 1", ">= 9"))
    done = act(place)
    found = found_in(done.entry.secret)
    assert isinstance(found, Pending)
    assert found.question.label == "price"
    assert decided(done) == {"invoke": ("no", "orders")}
    then = sitting.answer(place, choose={"price": ["fail"]})
    assert decided(then) == {"invoke": ("no", "orders"), "price": ("fail", "host")}
    assert is_in_order(place)


def test_new_orders_take_the_decision_that_waits(place: Place) -> None:
    act(place)
    done = give(place)
    assert [entry.kind for entry in done.entries] == ["orders", "answer"]
    assert decided(done) == {"invoke": ("no", "orders"), "price": ("fail", "orders")}
    sitting.undo(place)
    act(place, "edda")
    assert [entry.kind for entry in give(place).entries] == ["orders"]
    assert is_in_order_after_answers(place)


def is_in_order_after_answers(place: Place) -> bool:
    sitting.answer(place, auto=True)
    return is_in_order(place)


def test_orders_that_say_nothing_leave_a_decision_waiting(place: Place) -> None:
    act(place)
    done = give(place, '[[orders]]\nask = "absorb"\nchoose = "first"\n')
    assert [entry.kind for entry in done.entries] == ["orders"]
    assert store.read(place.path).pending is not None


@pytest.mark.slow
def test_orders_stay_when_what_was_done_before_them_is_undone(place: Place) -> None:
    first = act(place, auto=True).entry.number
    give(place)
    give(place, '[[orders]]\nask = "price"\nchoose = "cost"\n', whose="edda")
    act(place)
    sitting.undo(place, first)
    assert orders_now(place) == {"mara": CALM, "edda": '[[orders]]\nask = "price"\nchoose = "cost"\n'}
    assert decided(act(place))["price"] == ("fail", "orders")
    number = store.read(place.path).orders_of("mara")[0].number
    sitting.undo(place, number)
    assert list(orders_now(place)) == ["edda"]
    assert [entry.undone for entry in log_seen(store.read(place.path), None) if entry.number == number] == [True]
    sitting.set_orders(place, None, whose="edda")
    assert orders_now(place) == {}
    assert is_in_order(place)


def test_orders_that_were_cleared_stay_so_when_earlier_things_are_undone(place: Place) -> None:
    give(place)
    first = act(place).entry.number
    sitting.set_orders(place, None, whose="mara")
    sitting.undo(place, first)
    assert orders_now(place) == {}
    assert isinstance(found_in(act(place).entry.secret), Pending)
    with pytest.raises(UsageError, match="mara has no standing orders"):
        sitting.set_orders(place, None, whose="mara")
    sitting.undo(place)
    assert is_in_order(place)


def test_the_latest_orders_count(place: Place) -> None:
    give(place)
    give(place, '[[orders]]\nchoose = ["cost", "boost", "no"]\n', seat="mara", whose="")
    assert decided(act(place))["price"] == ("cost", "orders")
    assert is_in_order(place)


@pytest.mark.parametrize("seat", ["edda", "gm"])
def test_only_the_owner_and_the_host_see_or_set_orders(place: Place, seat: str) -> None:
    for refused in (lambda: give(place, seat=seat), lambda: sitting.set_orders(place, None, seat=seat, whose="mara")):
        with pytest.raises(UsageError, match="only mara or the host can see or set those of mara"):
            refused()
    give(place, seat="mara")
    assert orders_now(place, seat) == {}
    assert orders_now(place, "mara") == orders_now(place) == {"mara": CALM}
    assert table_record(store.read(place.path), seat).orders == {}
    assert table_record(store.read(place.path), "mara").orders == {"mara": 2}
    shown = rpgres("table", "orders", "--for", "mara", "--as", seat, "--table", str(place.path))
    assert (shown.code, SECRET in shown.err) == (2, False)


def test_a_seats_orders_show_nowhere_in_what_another_sees(place: Place) -> None:
    """Beside that an entry is hidden, orders that say nothing of what comes up change nothing that another meets."""
    act(place, "edda", auto=True)
    give(place, CALM.replace("calm", "brave") + '[[orders]]\nask = "hit"\nchoose = "b*"\n')
    act(place, "edda", auto=True)
    table = ("--table", str(place.path), "--as", "edda")
    views = [rpgres("table", *words, *table).out for words in (("log",), ("log", "--json"), ("show", "--json"))]
    for view in (*views, rpgres("table", "view", *table).out):
        assert "b*" not in view
        assert "orders" not in view.replace('"kind":"orders"', "").replace('"orders":{}', "")
    entry = json.loads(views[1])["entries"][-2]
    assert entry.keys() == {"kind", "number", "at", "hash", "hidden"}


def test_a_check_does_not_tell_what_is_hidden(place: Place) -> None:
    order = '[[orders]]\nwhen = { "tracks.doom.free" = 0, "tags.trap" = true, "things.plot" = 1 }\nchoose = "first"\n'
    with pytest.raises(FileError) as before:
        give(place, order, seat="mara")
    sitting.set_value(place, "tracks.doom", "3", to=["gm"])
    sitting.set_value(place, "tags.Trap", "aspect", to=["gm"])
    sitting.set_value(place, "things.plot", "1", to=["gm"])
    for seat in ("mara", None):
        with pytest.raises(FileError) as after:
            give(place, order, seat=seat)
        assert after.value.message == before.value.message
    sitting.set_value(place, "tracks.clock", "3")
    give(place, order.replace("doom", "clock"), seat="mara")
    assert isinstance(found_in(act(place).entry.secret), Pending)  # the trap is hidden, so nothing holds


def test_faults_of_orders_have_their_lines_and_change_nothing(place: Place) -> None:
    entries = len(store.read(place.path).entries)
    with pytest.raises(FileError, match=r"calm\.toml:3: orders\[0\]\.choose: the decision price never offers 'gold'"):
        give(place, '[[orders]]\nask = "price"\nchoose = "gold"\n')
    with pytest.raises(UsageError, match="name the seat whose orders they are"):
        give(place, whose="")
    with pytest.raises(UsageError, match="seat"):
        give(place, whose="nobody")
    assert len(store.read(place.path).entries) == entries


def test_a_name_that_nothing_has_yet_is_a_warning(place: Place, tmp_path: Path) -> None:
    orders = tmp_path / "o.toml"
    orders.write_text('[[orders]]\nwhen = { "tags.sword-for-hyre" = true }\nchoose = "first"\n', "utf-8")
    told = rpgres("table", "orders", "set", str(orders), "--table", str(place.path), "--for", "mara")
    assert told.code == 0
    assert "o.toml:2: orders[0].when.\"tags.sword-for-hyre\": no tag is called 'sword-for-hyre' yet" in told.err


def test_a_policy_is_given_by_its_name(place: Place) -> None:
    line = ("--table", str(place.path), "--for", "mara")
    assert "mara has standing orders (sensible)" in rpgres("table", "orders", "set", "sensible", *line).out
    assert 'policy = "sensible"' in rpgres("table", "orders", "show", *line).out
    assert {means for _, means in decided(act(place)).values()} == {"orders"}
    assert "did you mean `sensible`?" in rpgres("table", "orders", "set", "sensibel", *line).err
    assert "calm.toml: no such file" in rpgres("table", "orders", "set", "calm.toml", *line).err


def test_nobody_s_orders_confirm_a_claim(place: Place) -> None:
    give(place, '[[orders]]\nchoose = "first"\n', whose="gm")
    done = sitting.act(place, "overcome", {"skill": "9", "vs": ["1"]}, actor="mara", seat="mara", given=LOSE)
    found = found_in(done.entry.secret)
    assert isinstance(found, Pending)
    assert found.question.label == "claim"


@pytest.mark.slow
def test_weights_are_drawn_from_the_tables_seed(place: Place) -> None:
    give(
        place, '[[orders]]\nask = "price"\nchoose = { fail = 1, cost = 1 }\n[[orders]]\nchoose = ["no", "preferred"]\n'
    )
    answers = {decided(act(place))["price"][0] for _ in range(12)}
    assert answers == {"fail", "cost"}
    assert is_in_order(place)


def test_a_begun_period_hears_orders_too(place: Place) -> None:
    give(place)
    sitting.turn(place, "begin", "scene")
    assert decided(act(place))["price"] == ("fail", "orders")
    sitting.turn(place, "end", "scene")
    assert is_in_order(place)


def test_a_file_of_orders_is_no_policy_at_a_table(place: Place) -> None:
    with pytest.raises(UsageError, match=r"given with `rpgres table orders set calm\.toml --as SEAT`"):
        act(place, policies={"mara": "calm.toml"})


def test_orders_of_a_sheet_are_exported_for_their_owner_alone(place: Place, tmp_path: Path) -> None:
    sheet = tmp_path / "ada.toml"
    sheet.write_text('name = "Ada"\n[skills]\nfight = 1\n' + CALM, "utf-8")
    sitting.join(place, str(sheet))
    assert isinstance(
        found_in(act(place, "ada").entry.secret), Pending
    )  # at a table, those count that were given there
    history, rules = store.read(place.path), sitting.rules_of(store.read(place.path))
    for seat, is_told in ((None, True), ("ada", True), ("mara", False), ("gm", False)):
        text = sheets_of(rules, history, seat=seat)["ada.toml"]
        assert ("orders" in text) == is_told
        orders = read_sheet(rules, "ada", source=Source("ada.toml", text)).orders
        assert (orders is not None) == is_told
