"""Odds of scenes with hands that are dealt when somebody looks at them, against every order of a small deck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rpgres import Effect, Map, Option, Outcome, Ruleset, Table, View, pile_name
from rpgres.engine.dealers import Dealer
from rpgres.engine.hidden import known_to
from rpgres.engine.piles import lay_out
from rpgres.engine.players import Question
from rpgres.engine.running import Run
from rpgres.engine.seats import Seats
from rpgres.model.state import with_undealt
from rpgres.odds.decision_trees import Blind
from rpgres.odds.scene_best import scene_best
from rpgres.odds.scenes import SceneOdds, scene_odds
from rpgres.scenes import Scene, read_scene
from rpgres.scenes.measuring import with_late_deals
from rpgres.scenes.walking import game_of
from rpgres.toml.reading import Source
from tests.support.plain_walk import plain_odds

DATA = """
title = "Six cards"
summary = "Hands of two, and what is done with them."
version = "1"
[bands.fail]
title = "Fail"
to = -1
success = false
[bands.hit]
title = "Hit"
from = 0
success = true
[sheet.name]
kind = "text"
help = "name"
[sheet.size]
kind = "counter"
help = "cards in hand"
[decks.six]
title = "Six"
suits.red = { title = "Red", code = "Re", cards = ["1", "2", "3", "4", "5", "6"] }
[piles]
deck = { title = "Deck", face = "down", decks.six = {} }
discard = { title = "Discard", face = "up" }
hand = { title = "Hand", face = "hand", each = true, dealt-from = "deck", dealt = ["size"] }
stock = { title = "Stock", face = "down", dealt-from = "deck" }
mini = { title = "Mini", face = "hand", each = true, dealt-from = "stock" }
[parameters.hand]
kind = "cards"
pile = "hand"
help = "the cards in hand"
[labels]
peek = { kind = "chance", help = "a card" }
deal = { kind = "chance", help = "a hand" }
draw = { kind = "chance", help = "a card" }
play = { kind = "decision", help = "which card" }
dare = { kind = "decision", help = "whether to dare" }
[actions.wait]
summary = "Nothing."
labels = []
tables = ["wait"]
[outcomes.wait]
hit = { text = "Done." }
[actions.show]
summary = "Show the highest card: 4 and more hits."
parameters = ["hand"]
labels = []
tables = ["show"]
[outcomes.show]
fail = { text = "Low." }
hit = { text = "High." }
[actions.duel]
summary = "Play a card against one of the deck."
labels = ["play", "draw"]
tables = ["duel"]
[outcomes.duel]
fail = { text = "Low." }
hit = { text = "High." }
[actions.bet]
summary = "Dare that the deck has a card under 3, or that it has not."
labels = ["dare", "draw", "deal"]
tables = ["bet"]
[outcomes.bet]
fail = { text = "Wrong." }
hit = { text = "Right." }
[actions.lay-back]
summary = "Look at a card of a stock of one, and lay it back into the deck: 4 and more hits."
labels = ["deal", "peek", "draw"]
tables = ["lay-back"]
[outcomes.lay-back]
fail = { text = "Low." }
hit = { text = "High." }
[actions.stock]
summary = "Deal a stock of two, and a card of it to the actor."
labels = ["deal"]
tables = ["stock"]
[outcomes.stock]
hit = { text = "Done." }
[actions.turn]
summary = "Show the card from the stock: 4 and more hits."
labels = []
tables = ["turn"]
[outcomes.turn]
fail = { text = "Low." }
hit = { text = "High." }
"""


def high(view: View, question: Question) -> str:
    """Play the highest card that the view shows in the hand."""
    return max(view.state.piles[pile_name("hand", question.who)].cards).partition(".")[0]


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Ruleset:
    """The ruleset in a folder of its own."""
    folder: Path = tmp_path_factory.mktemp("data") / "six"
    (folder / "sheets").mkdir(parents=True)
    (folder / "ruleset.toml").write_text(DATA)
    ruleset = Ruleset("six", data=folder)

    @ruleset.begins("scene")
    def begin(table: Table) -> Sequence[Effect]:
        for name in table.state.characters:
            table.deal("deck", to=pile_name("hand", name), count=2, by=name)
        return ()

    @ruleset.action("wait")
    def wait(table: Table, actor: Any) -> Outcome:
        assert [table.count(pile_name("hand", name)) for name in table.state.characters] == [2, 2]
        return table.settle("wait", 0)

    @ruleset.action("show")
    def show(table: Table, actor: Any) -> Outcome:
        best = max(card.value or 0 for card in table.cards(pile_name("hand", actor.name)))
        return table.settle("show", best - 4)

    @ruleset.action("duel")
    def duel(table: Table, actor: Any) -> Outcome:
        hand = pile_name("hand", actor.name)
        played = table.ask("play", actor.name, [Option(card.code) for card in table.cards(hand)])
        card = next(one for one in table.cards(hand) if one.code == played)
        table.move([card], source=hand, to="discard", by=actor.name, label="play")
        other = table.draw("deck", to="discard")
        return table.settle("duel", (card.value or 0) - (other.value or 0 if other else 0))

    @ruleset.action("bet")
    def bet(table: Table, actor: Any) -> Outcome:
        hand = pile_name("hand", actor.name)
        table.deal("deck", to=hand, count=2 - table.count(hand), by=actor.name)
        is_low = table.ask("dare", actor.name, [Option("low"), Option("high")]) == "low"
        card = table.draw("deck", to="discard")
        return table.settle("bet", 0 if card is not None and ((card.value or 0) < 4) == is_low else -1)

    @ruleset.action("lay-back")
    def lay_back(table: Table, actor: Any) -> Outcome:
        table.deal("deck", to="stock", count=1)
        (card,) = table.peek("stock", by=actor.name)
        table.draw("stock", to="deck")
        return table.settle("lay-back", (card.value or 0) - 4)

    @ruleset.action("stock")
    def stock(table: Table, actor: Any) -> Outcome:
        table.deal("deck", to="stock", count=2)
        table.deal("stock", to=pile_name("mini", actor.name), count=1)
        return table.settle("stock", 0)

    @ruleset.action("turn")
    def turn(table: Table, actor: Any) -> Outcome:
        (card,) = table.cards(pile_name("mini", actor.name))
        return table.settle("turn", (card.value or 0) - 4)

    ruleset.policy("high")(high)
    return ruleset


def scene_of(six: Ruleset, *steps: str, more: str = "", head: str = "") -> Scene:
    text = f'ruleset = "six"\n{head}\n[characters.a]\n[characters.b]\n[[steps]]\nbegin = "scene"\n'
    for step in steps:
        who, action, *inputs = step.split(" ", 2)
        text += f'[[steps]]\nid = "{who}-{action}"\nactor = "{who}"\naction = "{action}"\n{"".join(inputs)}\n'
    return read_scene(Source(path="s.toml", text=text + more), find_ruleset=lambda _: six)


ENDS = """
[ends.both]
when = { a-show = "hit", b-show = "hit" }
[ends.one]
when = { b-show = "hit" }
[ends.none]
"""


def every_order(result: Callable[[Sequence[int]], str]) -> dict[Any, Fraction]:
    """Return the chance of each result, over all orders of the deck: two cards for a, two for b, and the rest."""
    found = Counter(result(order) for order in permutations(range(1, 7)))
    return {(name,): Fraction(count, found.total()) for name, count in found.items()}


def walked(scene: Scene, **asked: Any) -> SceneOdds:
    return with_late_deals(scene, scene_odds, **asked)


def shown(order: Sequence[int]) -> str:
    a, b = max(order[:2]) >= 4, max(order[2:4]) >= 4
    return "both" if a and b else "one" if b else "none"


def test_hands_that_are_looked_at_later_are_those_of_every_order(six: Ruleset) -> None:
    scene = scene_of(six, "a wait", "a show", "b show", more=ENDS)
    found = walked(scene)
    assert found.masses == every_order(shown)
    assert found.masses == plain_odds(game_of(scene, defers=False))  # as when they are dealt at once
    assert found.masses == scene_odds(game_of(scene), is_merged=False).masses


def test_hands_that_nobody_looks_at_are_not_dealt(six: Ruleset) -> None:
    found = walked(scene_of(six, "a wait", "b show", more="[ends.one]\nwhen = { b-show = 'hit' }\n[ends.none]\n"))
    assert found.masses == every_order(lambda order: "one" if max(order[2:4]) >= 4 else "none")
    assert found.leaves == 1 + 1 + 15  # the beginning, the wait, and a hand of two of six


def test_a_hand_that_is_typed_is_not_dealt(six: Ruleset) -> None:
    found = walked(scene_of(six, 'a show with = { hand = "Re1,Re2" }', "b show", more=ENDS))
    left = list(permutations([3, 4, 5, 6], 2))
    assert found.masses == {("one",): Fraction(sum(max(two) >= 4 for two in left), len(left))}


def duelled(order: Sequence[int]) -> str:
    first, second = max(order[2:4]) >= order[4], min(order[2:4]) >= order[5]
    return "two" if first and second else "one" if first or second else "none"


DUELS = """
[[steps]]
id = "again"
actor = "b"
action = "duel"
[ends.two]
when = { b-duel = "hit", again = "hit" }
[ends.none]
when = { b-duel = "fail", again = "fail" }
[ends.one]
"""


def test_cards_that_are_drawn_beside_undealt_hands_are_those_of_every_order(six: Ruleset) -> None:
    found = walked(scene_of(six, "b duel", more=DUELS, head='policy = "high"'))
    assert found.masses == every_order(duelled)


BETS = "[ends.hit]\nwhen = { a-bet = 'hit' }\n[ends.no]\n"


def test_who_decides_optimally_sees_its_own_hand(six: Ruleset) -> None:
    """With one low card of three it bets otherwise than with two of them, though the rule never looks at the hand."""
    scene = scene_of(six, "a bet", more=BETS)
    found = scene_best(game_of(scene, best="a"), "a", worth=lambda result: int(result == ("hit",)))
    best = Fraction(0)
    for hand in permutations(range(1, 7), 2):
        low = 3 - sum(card < 4 for card in hand)
        best += Fraction(max(low, 4 - low), 4) / 30
    assert found.value == best > Fraction(1, 2)


def test_who_decides_optimally_does_not_see_a_hand_that_was_shown_to_nobody(six: Ruleset) -> None:
    scene = scene_of(six, "b wait", "a bet", more=BETS)
    found = scene_best(game_of(scene, best="a"), "a", worth=lambda result: int(result == ("hit",)))
    alone = scene_of(six, "a bet", more=BETS)
    assert found.value == scene_best(game_of(alone, best="a"), "a", worth=lambda one: int(one == ("hit",))).value
    seen = scene_of(six, "b show", "a bet", more=BETS)
    with pytest.raises(Blind):  # b has looked at its hand, and a does not know it
        scene_best(game_of(seen, best="a"), "a", worth=lambda result: int(result == ("hit",)))


@pytest.mark.parametrize(
    "more", ["[ends.high]\nwhen = { 'piles.hand:b.cards.Re6' = true }\n[ends.low]\n", ""], ids=["ends", "by"]
)
def test_hands_that_a_condition_reads_are_dealt_at_once(six: Ruleset, more: str) -> None:
    scene = scene_of(six, "a wait", more=more)
    by = "ending" if more else "piles.hand:b.cards"
    masses = walked(scene, by=(by,)).masses
    if more:
        assert masses == {("high",): Fraction(1, 3), ("low",): Fraction(2, 3)}
    else:
        assert len(masses) == 15
        assert set(masses.values()) == {Fraction(1, 15)}


def test_what_a_seat_does_not_see_of_a_table_is_dealt_when_somebody_looks(six: Ruleset) -> None:
    """As for a procedure at a persistent table: a holds the lowest two, and does not know what b holds."""
    scene = scene_of(six, "a show", "b show", more=ENDS, head="")
    scene = msgspec.structs.replace(scene, program=read_scene(_unbegun(scene), find_ruleset=lambda _: six).program)
    piles = lay_out(scene.rules, scene.state).piles
    cards = piles["deck"].cards
    lie = {"hand:a": cards[:2], "hand:b": cards[3:5], "deck": (cards[2], cards[5])}
    dealt = Map({name: msgspec.structs.replace(pile, cards=lie.get(name, ())) for name, pile in piles.items()})
    state = msgspec.structs.replace(scene.state, piles=dealt)
    known = known_to(scene.rules, state, "a").state
    assert known is not None
    assert [len(known.piles[name]) for name in lie] == [2, 2, 2]
    found = walked(msgspec.structs.replace(scene, state=known))
    assert found.masses == {("one",): Fraction(1)}  # two of 3, 4, 5, 6 are never both low
    shows = msgspec.structs.replace(scene, state=known_to(scene.rules, state, "b").state)
    assert walked(shows).masses == {("both",): Fraction(1, 2), ("one",): Fraction(1, 2)}


def _unbegun(scene: Scene) -> Source:
    return Source(path="s.toml", text=scene.source.text.replace('[[steps]]\nbegin = "scene"\n', ""))


def test_a_step_that_gives_a_card_leaves_hands_undealt_all_the_same(six: Ruleset) -> None:
    given = 'choose = { dare = "low" }\ngiven = { draw = "Re1" }'
    scene = read_scene(_unbegun(scene_of(six, f"a bet {given}", more=BETS)), find_ruleset=lambda _: six)
    found = walked(scene)
    assert found.masses == {("hit",): Fraction(1)}
    assert found.leaves == 1
    assert plain_odds(game_of(scene, defers=False)) == found.masses


def test_a_hand_that_is_given_back_undealt_is_in_its_deck_again(six: Ruleset) -> None:
    more = "[[steps]]\nset = { 'characters.b' = 'absent' }\n[[steps]]\nactor = 'a'\naction = 'show'\nid = 'a-show'\n"
    scene = scene_of(six, more=f"{more}[ends.hit]\nwhen = {{ a-show = 'hit' }}\n[ends.no]\n")
    assert walked(scene, by=("ending", "piles.deck.count")).masses == {
        ("hit", 4): Fraction(4, 5),
        ("no", 4): Fraction(1, 5),
    }


def test_a_known_card_that_goes_into_a_deck_is_in_no_hand_that_was_dealt_before(six: Ruleset) -> None:
    ends = "[ends.both]\nwhen = { a-lay-back = 'hit', b-show = 'hit' }\n[ends.no]\n"
    found = walked(scene_of(six, "a lay-back", "b show", more=ends))
    assert found.masses == every_order(lambda order: "both" if order[4] >= 4 and max(order[2:4]) >= 4 else "no")


def test_cards_of_a_hand_that_goes_back_are_in_no_hand_that_was_dealt_before(six: Ruleset) -> None:
    more = "[[steps]]\nset = { 'characters.a' = 'absent' }\n[[steps]]\nactor = 'b'\naction = 'show'\nid = 'b-show'\n"
    assert walked(scene_of(six, "a show", more=more + ENDS)).masses == every_order(shown)


def test_a_stock_that_is_dealt_from_a_deck_has_the_cards_that_are_dealt_from_it(six: Ruleset) -> None:
    ends = "[ends.both]\nwhen = { a-turn = 'hit', b-show = 'hit' }\n[ends.no]\n"
    found = walked(scene_of(six, "a stock", "b show", "a turn", more=ends))
    assert found.masses == every_order(lambda order: "both" if order[4] >= 4 and max(order[2:4]) >= 4 else "no")


def test_knowledge_of_a_hand_counts_its_undealt_cards(six: Ruleset) -> None:
    scene = scene_of(six, "a wait")
    state = lay_out(scene.rules, scene.state)
    counts = [Map({**state.piles, "hand:a": with_undealt(state.piles["hand:a"], count)}) for count in (1, 2)]
    states = [msgspec.structs.replace(state, piles=piles) for piles in counts]
    first, second = (Table(Run(scene.rules, one, Dealer(), Seats()), scene.rules) for one in states)
    assert first.knowledge("hand:a") != second.knowledge("hand:a")


def test_a_view_tells_how_many_cards_there_are_whether_they_are_dealt_or_not(six: Ruleset) -> None:
    scene = scene_of(six, "a wait", more="[ends.done]\n")
    counts = ["piles.hand:a.count", "piles.hand:b.count", "piles.deck.count"]
    assert walked(scene, by=tuple(counts)).masses == {(2, 2, 2): Fraction(1)}
    plain = game_of(scene, defers=False)
    late = game_of(scene)
    for seat in ("a", "b", "gm"):
        views = {repr(msgspec.to_builtins(one.seen_by(seat).piles["deck"])) for one in _after_deal(plain, late)}
        assert len(views) == 1


def _after_deal(*games: Any) -> list[Any]:
    from rpgres.odds.explorer import WalkDealer

    found = []
    for game in games:
        dealer = WalkDealer()
        dealer.begin()
        found.append(game.turn(game.onward(game.start), dealer, game.policies).state)
    return found
