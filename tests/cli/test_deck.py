"""`rpgres deck`, and card rulesets on the command line: what is listed, shown, drawn, told and completed."""

from __future__ import annotations

import inspect
import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from rpgres.catalog.decks import draw_cards, find_deck
from rpgres.dice.seeds import Streams
from rpgres.formats.schemas import make_schema
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import builtin_folder
from rpgres.rulesets.decks import shared_decks
from tests.support import gambit
from tests.support.command_line import rpgres as typed_in
from tests.support.effort import examples
from tests.support.lantern import installed, rpgres, write

HEAD = """\
from __future__ import annotations

from pathlib import Path

from rpgres import NO, Option, Ruleset, hookimpl, pile_name

gambit = Ruleset("gambit", data=Path(__file__).parent)
"""
HOOK = """
@hookimpl
def rpgres_rulesets():
    yield gambit
"""
CODE = "\n\n".join([HEAD, inspect.getsource(gambit.alike), inspect.getsource(gambit.chase), HOOK])


@pytest.fixture(autouse=True)
def work(tmp_path: Path) -> Iterator[Path]:
    with installed(tmp_path) as found:
        write(tmp_path / "site", "gambit", code=CODE, data=gambit.GAMBIT)
        yield found


def said(*args: str) -> Any:
    """Return the one JSON object that a command line prints."""
    done = rpgres(*args, "--json")
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    return json.loads(done.stdout)


def shown(*args: str) -> str:
    done = rpgres(*args)
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    return done.stdout


def complaint(*args: str, code: int = 2) -> str:
    done = rpgres(*args)
    assert (done.exit_code, done.stdout) == (code, ""), done.output
    assert done.stderr.startswith("rpgres: ")
    return done.stderr.removeprefix("rpgres: ").rstrip("\n")


def house(work: Path, name: str, text: str, *, ruleset: str = "gambit") -> None:
    path = work / "rulesets" / ruleset / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


# ---------------------------------------------------------------------------------------------------------------------
# list


@pytest.mark.slow
def test_list_has_the_shared_deck_first_and_those_of_every_ruleset() -> None:
    record = said("deck", "list")
    assert record["format"] == "rpgres.decks/1"
    assert record["problems"] == {}
    names = [deck["name"] for deck in record["decks"]]
    assert names[0] == "standard"
    assert {"saga/fate-96", "saga/older-82", "gambit/little"} <= set(names)
    assert record["decks"][names.index("gambit/little")] == {
        "name": "gambit/little",
        "ruleset": "gambit",
        "title": "Little deck",
        "summary": "",
        "size": 11,
        "kinds": 8,
    }
    lines = shown("deck", "list").splitlines()
    assert [line.split()[0] for line in lines] == names
    assert shown("deck", "list", "gambit") == "gambit/little  11 cards  Little deck\n"
    assert shown("deck", "list", "lantern") == "lantern has no decks\n"


@pytest.mark.slow
def test_a_broken_deck_is_named_and_the_others_are_listed(work: Path) -> None:
    house(work, "decks/worse.toml", 'title = "Worse"\nextends = "litle"\n')
    house(work, "ruleset.toml", "[bands\n", ruleset="lantern")
    record = said("deck", "list")
    assert "gambit/little" in [deck["name"] for deck in record["decks"]]
    assert record["problems"]["gambit"] == [
        {
            "code": "unknown-name",
            "severity": "error",
            "file": "rulesets/gambit/decks/worse.toml",
            "line": 2,
            "column": 1,
            "key": "extends",
            "message": "there is no deck 'litle'",
            "hint": "little",
            "advice": "",
        }
    ]
    assert shown("deck", "list").endswith(
        "gambit broken: a problem; run `rpgres ruleset check gambit` for details\n"
        "lantern broken: a problem; run `rpgres ruleset check lantern` for details\n"
    )
    assert complaint("deck", "show", "gambit/worse", code=1) == (
        "rulesets/gambit/decks/worse.toml:2: extends: there is no deck 'litle'; did you mean `little`?"
    )
    assert shown("deck", "show", "gambit/little")


# ---------------------------------------------------------------------------------------------------------------------
# show

LITTLE = """\
Little deck (gambit/little)
11 cards, 8 kinds

             0  1  2  K  cards  sum  mean
  Reeds      -  1  2  1      4    8  2.00
  Stones     -  2  1  2      5   10  2.00
  Fool (Fo)  2  -  -  -      2    0  0.00
  all        2  3  3  3     11   18  1.64
  K 3

Mood
             glad (+)  sad (-)
  Reeds             2        2
  Stones            2        3
  Fool (Fo)         -        -
  all               4        5

Codes
  Reeds    Re1+, Re2- (2), Re3+
  Stones   St1+, St1-, St2+, St3- (2)
  no suit  Fo (2)

Piles of gambit that use it
  deck
"""


def test_show_counts_cards_by_suit_value_and_attribute() -> None:
    assert shown("deck", "show", "gambit/little", "--codes") == LITTLE
    without = LITTLE[: LITTLE.index("Codes\n")] + LITTLE[LITTLE.index("Piles of") :]
    assert shown("deck", "show", "gambit/little") == without


SUMS = {  # size, sum, how many of each value from 1, how many positive, negative and neutral
    "fate-96": (96, 488, [5, 5, 10, 18, 18, 18, 10, 6, 5, 1], (28, 28, 40)),
    "fate-100": (100, 508, [5, 5, 10, 18, 22, 18, 10, 6, 5, 1], (30, 30, 40)),
    "older-82": (82, 415, [9, 9, 9, 9, 9, 9, 9, 9, 9, 1], None),
}


@pytest.mark.parametrize("name", SUMS)
def test_show_in_json_has_sums_and_means_as_published(name: str) -> None:
    size, total, values, auras = SUMS[name]
    record = said("deck", "show", f"saga/{name}")
    whole = record["whole"]
    assert record["format"] == "rpgres.deck/1"
    assert (whole["size"], whole["sum"], list(whole["values"].values())) == (size, total, values)
    assert Fraction(whole["mean_exact"]) == Fraction(total, size)
    assert whole["mean"] == pytest.approx(total / size)
    if auras:
        assert [whole["attributes"]["aura"][name] for name in ("positive", "negative", "neutral")] == list(auras)
    assert sum(card["count"] for card in record["cards"]) == size
    assert sum(suit["size"] for suit in record["suits"].values()) == size
    assert sum(suit["sum"] for suit in record["suits"].values()) == total
    assert record["piles"].keys() == {"deck"}


def test_show_of_the_shared_deck_leaves_jokers_out_of_sums() -> None:
    record = said("deck", "show", "standard")
    assert (record["whole"]["size"], record["whole"]["valued"], record["whole"]["sum"]) == (54, 52, 364)
    assert record["whole"]["mean_exact"] == "7"
    assert record["loners"]["Jk"]["size"] == 2
    assert record["loners"]["Jk"]["mean"] is None
    assert (record["ruleset"], record["piles"]) == (None, {})
    out = shown("deck", "show", "standard")
    assert "              A  2  3  4  5  6  7  8  9 10  J  Q  K  cards  sum  mean\n" in out
    assert "  Joker (Jk)  -  -  -  -  -  -  -  -  -  -  -  -  -      2    -     -\n" in out


def test_a_wide_deck_stands_in_several_tables_and_a_poor_one_in_a_short(work: Path) -> None:
    house(work, "decks/wide.toml", f'title = "Wide"\nsuits.w = {{ title = "W", code = "W", cards = {[*range(90)]} }}\n')
    house(work, "decks/tokens.toml", 'title = "Tokens"\ncards.a = { title = "A token", code = "T", count = 3 }\n')
    out = shown("deck", "show", "gambit/wide")
    assert max(map(len, out.splitlines())) <= 79
    heads = [line.split() for line in out.splitlines() if line.startswith("   ")]
    assert [word for head in heads for word in head] == [*map(str, range(90)), "cards", "sum", "mean"]
    assert shown("deck", "show", "gambit/tokens") == (
        "Tokens (gambit/tokens)\n3 cards, 1 kind\n\n               cards  sum  mean\n  A token (T)      3    -     -\n"
    )


def test_a_house_rule_changes_a_deck(work: Path) -> None:
    house(work, "decks/fate-96.toml", "[suits.doom]\ncards = ['10+']\n", ruleset="saga")
    assert said("deck", "show", "saga/fate-96")["suits"]["doom"]["size"] == 1
    (work / "other" / "saga" / "decks").mkdir(parents=True)
    (work / "other" / "saga" / "decks" / "fate-96.toml").write_text("[suits.doom]\ncards = []\n", "utf-8")
    assert said("deck", "show", "saga/fate-96", "--rulesets", "other")["whole"]["size"] == 80


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["show", "fate-96"], "rpgres has no deck 'fate-96'; did you mean 'saga/fate-96'?"),
        (["show", "standrad"], "rpgres has no deck 'standrad'; did you mean 'standard' or 'faith/standard'?"),
        (["show", "gambit"], "gambit is a ruleset; name one of its decks: gambit/little"),
        (["show", "gambit/litle"], "the ruleset gambit has no deck 'litle'; did you mean 'little'?"),
        (["show", "gambit/../gambit/little"], "the ruleset gambit has no deck '../gambit/little'"),
        (["show", "lantern/x"], "the ruleset lantern has no deck 'x', and no other"),
        (["show", "gambid/little"], "there is no ruleset 'gambid'; did you mean 'gambit'?"),
        (["show", "/little"], "there is no ruleset ''"),
        (["list", "gambid"], "there is no ruleset 'gambid'; did you mean 'gambit'?"),
        (["show"], "missing argument 'DECK'"),
        (["draw", "standard", "55"], "standard has 54 cards, and 55 cannot be drawn"),
        (["draw", "standard", "54", "--without", "Jk"], "standard has 54 cards; 53 are left, and 54 cannot be drawn"),
        (["draw", "standard", "0"], "the number of cards takes a whole number from 1 on, not '0'"),
        (["draw", "standard", "many"], "the number of cards takes a whole number from 1 on, not 'many'"),
        (["draw", "standard", "--without", "H14"], "--without: there is no card 'H14'; did you mean"),
        (["draw", "standard", "--without", "Jk,jk,joker"], "--without: standard has no joker left to remove"),
        (["draw", "standard", "--without", "10H"], "there is no card '10H'; did you mean H10?"),
        (["draw", "standard", "--given", "draw=KH"], "there is no card 'KH'; did you mean H13?"),
        (["draw", "saga/fate-96", "--given", "draw=6+st"], "there is no card '6+st'; did you mean St6+?"),
        (["draw", "standard", "--given", "draw=X9"], "--given draw=X9: there is no card 'X9'"),
        (["draw", "standard", "--given", "drew=H9"], "drawn cards have one label, 'draw'; there is no 'drew'"),
        (["draw", "standard", "--given", "H9"], "--given takes NAME=VALUE"),
        (["draw", "standard", "--given", "draw=H9,H8"], "--given draw=H8 was not used: one card is drawn"),
        (["draw", "standard", "2", "--given", "draw=H9,H9"], "no such card is left in standard"),
        (["draw", "standard", "--given", "draw=H9", "--without", "H9"], "no such card is left in"),
        (["draw", "standard", "--seed", ""], "the seed is empty"),
    ],
)
def test_what_is_typed_wrong_is_told(args: list[str], told: str) -> None:
    assert told in complaint("deck", *args)


def test_one_card_is_one(work: Path) -> None:
    (work / "other" / "gambit" / "decks").mkdir(parents=True)
    (work / "other" / "gambit" / "decks" / "lone.toml").write_text(
        'title = "Lone"\ncards.x = { title = "X", code = "X" }\n', "utf-8"
    )
    assert "1 card   Lone" in shown("deck", "list", "gambit", "--rulesets", "other")
    assert "has 1 card, and 2" in complaint("deck", "draw", "gambit/lone", "2", "--rulesets", "other")
    told = complaint("deck", "draw", "standard", "2", "--without", ",".join(["Jk,Jk", *_all_but("HQ")]))
    assert "1 is left" in told


def _all_but(left: str) -> list[str]:
    codes = [f"{suit}{value}" for suit in "HSDC" for value in ("A", *range(2, 11), "J", "Q", "K")]
    return [code for code in codes if code != left]


# ---------------------------------------------------------------------------------------------------------------------
# draw


def test_draw_in_words() -> None:
    out = shown("deck", "draw", "gambit/little", "3", "--given", "draw=Re1,fool", "--without", "st3", "--seed", "7")
    first, second, third, *rest = out.splitlines()
    assert first == "Re1+  Reeds 1+ (glad)"
    assert second == "Fo    Fool"
    value = int(third.split()[2].strip("+-")) if third.split()[0] != "Fo" else 0
    assert rest == [f"  sum: {1 + value}", "  without St3-", "  gambit/little: 7 cards left", "  seed: 7"]
    assert "sum" not in shown("deck", "draw", "standard", "--seed", "7")


def test_draw_in_json_is_what_its_schema_says() -> None:
    record = said("deck", "draw", "saga/fate-96", "5", "--seed", "7", "--without", "Do10,St4", "--without", "Ag9")
    schema = make_schema("deck-draw")
    assert [error.message for error in Draft202012Validator(schema).iter_errors(record)] == []
    assert (record["deck"], record["seed"], record["left"]) == ("saga/fate-96", "7", 96 - 3 - 5)
    assert len(record["without"]) == 3
    assert record["sum"] == sum(card["value"] for card in record["cards"])
    assert record == said("deck", "draw", "saga/fate-96", "5", "--seed", "7", "--without", "Do10,St4,Ag9")
    more = said("deck", "draw", "saga/fate-96", "9", "--seed", "7", "--without", "Do10,St4,Ag9")
    assert more["cards"][:5] == record["cards"]


def test_taking_cards_out_or_giving_one_leaves_the_order_of_the_others() -> None:
    everything = [card["code"] for card in said("deck", "draw", "standard", "54", "--seed", "7")["cards"]]
    assert Counter(everything) == Counter(
        {f"{suit}{value}": 1 for suit in "CDHS" for value in range(1, 14)} | {"Jk": 2}
    )
    args = ("deck", "draw", "standard", "52", "--seed", "7")
    less = [card["code"] for card in said(*args, "--without", "HQ,S2")["cards"]]
    assert less == [code for code in everything if code not in ("H12", "S2")]
    given_one = [card["code"] for card in said(*args, "--given", "draw=S2")["cards"]]
    assert given_one == ["S2", *(code for code in everything if code != "S2")][:52]


@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.text(alphabet="ab1", min_size=1, max_size=4),
    without=st.lists(st.sampled_from(["Re2", "St3", "Fo", "St1", "St1+", "ReK"]), max_size=5, unique=True),
    number=st.integers(1, 6),
)
def test_every_card_is_drawn_taken_out_or_left(seed: str, without: list[str], number: int) -> None:
    found = find_deck("gambit/little")
    drawn = draw_cards(found, number=number, streams=Streams(seed), without=without)
    assert drawn.left == 11 - len(without) - number
    gone = Counter(drawn.without) + Counter(card.code for card in drawn.cards)
    assert gone <= Counter(found.deck.counts)
    assert ("St1+" in drawn.without) == ("St1+" in without) or "St1" in without


# ---------------------------------------------------------------------------------------------------------------------
# Completion


def completions(line: str) -> list[str]:
    """Return what a shell would offer at the end of a line."""
    environment = {"_RPGRES_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    return typed_in(**environment).out.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("rpgres deck ", ["list", "show", "draw"]),
        ("rpgres deck list gam", ["gambit"]),
        ("rpgres deck show st", ["standard"]),
        ("rpgres deck show gambit/", ["gambit/little"]),
        ("rpgres deck draw saga/fate-1", ["saga/fate-100"]),
        ("rpgres deck draw gambit/little --without Re", ["Re1+", "Re2-", "Re3+"]),
        ("rpgres deck draw gambit/little --without St3-,St3-,St", [f"St3-,St3-,St{one}" for one in ("1+", "1-", "2+")]),
        ("rpgres deck draw gambit/nothing --without ", []),
        ("rpgres roll gambit chase --hand Re", ["Re1+", "Re2-", "Re3+"]),
        ("rpgres roll gambit chase --hand Re2-,re2-,Fo,Re", ["Re2-,re2-,Fo,Re1+", "Re2-,re2-,Fo,Re3+"]),
        ("rpgres roll saga act --hand Do1", ["Do1-", "Do10+"]),
        ("rpgres roll saga act --switch profile=b --hand Do", []),
        ("rpgres roll saga act --switch profile=b --hand Dr10", ["Dr10-"]),
        ("rpgres roll saga act --switch profile=z --hand Dr10", []),
        ("rpgres roll saga act --bank Ag5+,Ag5", ["Ag5+,Ag5-", "Ag5+,Ag5n"]),
        ("rpgres roll saga act --switch add_ons=yes --bank Ag5+,Ag5", [f"Ag5+,Ag5{sign}" for sign in "-n+"]),
    ],
)
def test_completion(line: str, offered: list[str]) -> None:
    assert completions(line) == offered


# ---------------------------------------------------------------------------------------------------------------------
# Card rulesets on other commands

CHASE = ("roll", "gambit", "chase", "--hand", "Re1,St3,Fo", "--choose", "play=re1p", "--choose", "more=draw")


def test_a_roll_with_cards_reads_as_it_was_played() -> None:
    out = shown(*CHASE, "--choose", "more=no", "--given", "draw=re2", "--seed", "7")
    assert out == (
        "Chase: Miss\n  3 against 6, margin -3\n  play: Re1+\n  more (actor): draw\n  draw: Re2-\n  No.\n  seed: 7\n"
    )
    dealt = shown("roll", "gambit", "chase", "--given", "deal=Fo", "--choose", "play=fo", "--seed", "7")
    assert dealt.splitlines()[2].startswith("  deal: Fo, ")
    assert dealt.splitlines()[2].count(",") == 2
    assert dealt.splitlines()[3] == "  play: Fo"


def test_the_schema_of_results_has_draws_and_moves() -> None:
    record = said("roll", "gambit", "chase", "--auto", "--choose", "more=no", "--policy", "uniform", "--seed", "7")
    rules = load_rules(find_ruleset("gambit"))
    assert {event["event"] for event in record["events"]} >= {"draw", "move"}
    for schema in (make_schema("result"), make_schema("result", rules=rules)):
        assert [error.message for error in Draft202012Validator(schema).iter_errors(record)] == []
    drawn = next(event for event in record["events"] if event["event"] == "draw")
    for key in ("card", "from", "to", "label"):
        faulty = {**record, "events": [{name: value for name, value in drawn.items() if name != key}]}
        assert not Draft202012Validator(make_schema("result")).is_valid(faulty)


def test_help_says_that_cards_can_be_given() -> None:
    out = " ".join(shown("roll", "gambit", "chase", "--help").split())
    assert "draw [dice or cards] a card" in out
    assert "--hand CARD,CARD The cards in hand" in out
    assert "[dice] two dice" in " ".join(shown("roll", "lantern", "search", "--help").split())


def test_ruleset_show_has_piles_and_decks() -> None:
    out = shown("ruleset", "show", "gambit")
    assert "\nDice and cards (--given LABEL=...)\n" in out
    assert (
        "\n  deal   the cards of a hand\n  draw   a card\n  place  which card is meant, if its sign was left out" in out
    )
    assert (
        "\nPiles\n"
        "  deck     Deck: face down; little; refilled when empty from discard [when refill is yes]\n"
        "  discard  Discard: face up\n"
        "  hand     Hand: seen by its owner alone; one for each character; cards given for it come from deck\n"
        "\nDecks (rpgres deck show NAME)\n"
        "  gambit/little  11 cards: Little deck\n"
    ) in out
    record = said("ruleset", "show", "gambit")
    assert record["decks"] == {"little": {"title": "Little deck", "summary": "", "size": 11}}
    assert record["piles"]["deck"]["refill"] == "discard"
    assert "Piles" not in shown("ruleset", "show", "lantern")


def test_ruleset_check_tells_what_is_wrong_with_cards_all_at_once(work: Path) -> None:
    text = "[piles.deck]\nrefill = 'dicard'\n[piles.deck.decks]\nlitle = {}\n[parameters.hand]\npile = 'deck'\n"
    text += "[piles.discard]\ngiven-to = 'hand'\n"
    house(work, "ruleset.toml", text)
    house(work, "decks/little.toml", "[suits.reeds]\ncards = [1, 'K*']\n")
    done = rpgres("ruleset", "check", "gambit")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "gambit: 5 problems (with rulesets/gambit)",
        "rulesets/gambit/decks/little.toml:2: suits.reeds.cards[1]: 'K*' is not a value, with or without a sign; "
        "the signs are + -",
        "rulesets/gambit/ruleset.toml:4: piles.deck.decks.litle: the ruleset has no deck 'litle'; "
        "did you mean `little`?",
        "rulesets/gambit/ruleset.toml:2: piles.deck.refill: the ruleset has no pile 'dicard'; did you mean `discard`?",
        "rulesets/gambit/ruleset.toml:8: piles.discard.given-to: every character has a pile 'hand' of its own, so the "
        "target is ambiguous",
        "rulesets/gambit/ruleset.toml:6: parameters.hand.pile: the pile deck does not declare its source of cards "
        "(dealt-from = ...)",
    ]
    assert "did you mean `little`?" in complaint(*CHASE, code=1)


@pytest.mark.slow
def test_the_schema_of_decks() -> None:
    whole = Draft202012Validator(make_schema("deck"))
    files = [*builtin_folder().glob("*/decks/*.toml"), *shared_decks().values()]
    assert len(files) >= 4
    for file in files:
        assert [error.message for error in whole.iter_errors(tomllib.loads(file.read_text("utf-8")))] == [], file
    assert not whole.is_valid({"suits": {}})
    laid = Draft202012Validator(make_schema("deck", rules=load_rules(find_ruleset("gambit"))))
    assert laid.is_valid({"suits": {"reeds": {"cards": ["1+"]}}, "cards": {"fool": {"remove": True}}})
    assert not laid.is_valid({"extends": "litle"})
    assert not laid.is_valid({"suits": {"reeds": {"card": ["1+"]}}})
    inline = Draft202012Validator(make_schema("ruleset", rules=load_rules(find_ruleset("gambit"))))
    assert inline.is_valid({"decks": {"little": {"suits": {"reeds": {"cards": ["1+"]}}}}})
    assert not inline.is_valid({"decks": {"little": {"siuts": {}}}})
