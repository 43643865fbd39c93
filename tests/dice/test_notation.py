"""Dice notation: what is read, what is refused and where. Distributions and throws have their own files."""

import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.dice import Dice, dice, is_notation, parsing, resembles_notation
from rpgres.dice import grammar as notation
from rpgres.errors import NotationError, UsageError

CANONICAL = {
    "( 2d6 + 3 ) / 2": "(2d6+3)/2",
    "7*3/2": "7*3/2",
    "3*(7/2)": "3*(7/2)",
    "8\u00f73": "8/3",
    "6d10>=8/2": "(6d10>=8)/2",
    "2d6/2/2": "2d6/2/2",
    "(-7)/2": "-7/2",
    "4d6": "4d6",
    "1D20": "d20",
    "d%": "d100",
    "4df": "4dF",
    "DF": "dF",
    " 4 d 6 kh 3 ": "4d6kh3",
    "4D6KH3": "4d6kh3",
    "004d06": "4d6",
    "4d6kh": "4d6kh1",
    "5d6dh1dl1": "5d6dh1dl1",
    "2d6r": "2d6r1",
    "2d6r=1": "2d6r1",
    "2dFr": "2dFr=-1",
    "2d6RO<3": "2d6ro<3",
    "2d6r1r2": "2d6r1r2",
    "4d6kh3!r1": "4d6r1!kh3",
    "6d10!kh3>=8": "6d10!kh3>=8",
    "6d10>=8kh3": "6d10kh3>=8",
    "6d10>=8!": "6d10>=8!",
    "6d10>=8 + 2": "(6d10>=8)+2",
    "6d10>=8+2": "(6d10>=8)+2",
    "4dF=-1": "4dF=-1",
    "4dF>= - 1": "4dF>=-1",
    "4dF+3": "4dF+3",
    "4dF \u2212 3 \u00d7 2": "4dF-3*2",
    "((4dF))": "4dF",
    "-d6": "-d6",
    "--d6": "d6",
    "1--3": "1+3",
    "2*-3": "-2*3",
    "(-2)*(-3)": "2*3",
    "(1+2)+3": "1+2+3",
    "5-(2-d6)": "5-2+d6",
    "2*(3*d4)": "2*3*d4",
    "2*(d4+1)": "2*(d4+1)",
    "-(d4+1)*2": "-(d4+1)*2",
    "d10OE1+5": "d10oe+5",
    "D100 oe5": "d100oe",
    "2d10oe2kh1": "2d10oe2kh1",
    "2d10oe>=8": "2d10>=8oe",
    "d6-1": "d6-1",
    "4d6r-1": "4d6r1-1",
    "4d6kl-1": "4d6kl1-1",
    "(4dFr)-1": "4dFr=-1-1",
    "7": "7",
    "adv": "2d20kh1",
    "ADVANTAGE + 5": "2d20kh1+5",
    "-dis": "-2d20kl1",
    "disadv": "2d20kl1",
    "disadvantage": "2d20kl1",
    "d20 adv": "2d20kh1",
    "2d20 adv": "2d20kh1",
    "2d20dis+3": "2d20kl1+3",
    "d20+5 adv": "2d20kh1+5",
    "5 - 2*(1+d20)/3 dis": "5-2*(1+2d20kl1)/3",
    "d12[luck]+1 adv": "2d12kh1[luck]+1",
    "d% adv": "2d100kh1",
    "4d6 drop lowest": "4d6dl1",
    "4d6 drop the 2 low + 1": "4d6dl2+1",
    "4d6 drop highest 2": "4d6dh2",
    "4d6 KEEP 3 highest": "4d6kh3",
    "5d6 drop lowest drop highest": "5d6dl1dh1",
    "2d20 keep lowest": "2d20kl1",
    "d66": "d66",
    "D66+1": "d66+1",
    "1d66": "1d66",
    "2d66": "2d66",
    "8d10!>=8": "8d10!>=8",
    "8d10! >= 8": "8d10!>=8",
    "8d10!=10": "8d10!",
    "8d10!>9": "8d10!",
    "8d10!!": "8d10!",
    "8d10!!>=8": "8d10!>=8",
    "8d10! !": "8d10!",
    "8d10!o": "8d10!o",
    "8d10!O>=9": "8d10!o>=9",
    "2d6!p": "2d6!p",
    "2d6!!po=1": "2d6!po=1",
    "4dF!=-1": "4dF!=-1",
    "6d10>=8!!": "6d10>=8!",
    "6d10!!>=9>=8": "6d10>=8!!>=9",
    "6d10!!>=9kh3>=8": "6d10!!>=9kh3>=8",
    "4d6kh3!!>4": "4d6!!>4kh3",
    "8d10>=8 again": "8d10>=8 again",
    "8d10>=8 10-again": "8d10>=8 again",
    "8d10 9-again>=8": "8d10>=8 again >=9",
    "8d10>=8 again =9": "8d10>=8 again =9",
    "8d10>=7 double 10": "8d10>=7 double 10",
    "8d10>=7 double": "8d10>=7 double 10",
    "8d10>=7 double tens": "8d10>=7 double 10",
    "8d10>=7 double 10s + 1": "(8d10>=7 double 10)+1",
    "8d6 double sixes >=5": "8d6>=5 double 6",
    "8d10>=7 double >=9": "8d10>=7 double >=9",
    "8d10>=7 double =9": "8d10>=7 double =9",
    "8d10>=7 double >9": "8d10>=7 double 10",
    "4dF=-1 double =-1": "4dF=-1 double =-1",
    "8d10>=7f1": "8d10>=7f1",
    "8d10>=7f<=2 double 10 again": "8d10>=7f<=2 again double 10",
    "4dF>0f=-1": "4dF>0f=-1",
    "2d6[Fire]+1d4[ cold  iron ]": "2d6[fire]+d4[cold iron]",
    "2d6kh1[fire]": "2d6kh1[fire]",
    "6d10>=8[hits]": "(6d10>=8)[hits]",
    "(2d6+3)[fire]+1": "(2d6+3)[fire]+1",
    "(2*d6)[fire]": "(2*d6)[fire]",
    "2*d6[fire]": "2*d6[fire]",
    "d6[fire]/2": "d6[fire]/2",
    "(d6/2)[fire]": "(d6/2)[fire]",
    "-(d8+3)[healing]": "-(d8+3)[healing]",
    "(2d6[fire]+d4[cold])*2": "(2d6[fire]+d4[cold])*2",
    "2d6 # for the trap": "2d6",
    "2d6#d20 2 ( [": "2d6",
}


@pytest.mark.parametrize(("text", "canonical"), CANONICAL.items())
def test_a_text_has_one_canonical_form(text: str, canonical: str) -> None:
    assert dice(text).text == canonical
    assert dice(canonical).text == canonical
    assert dice(text) is dice(canonical)


# Text, place of the caret, its length, and a word that the message must say.
REFUSED = [
    ("", 0, 1, "missing"),
    ("   ", 3, 1, "missing"),
    ("2d", 2, 1, "sides"),
    ("d", 1, 1, "sides"),
    ("2dx", 2, 1, "sides"),
    ("d(6)", 1, 1, "sides"),
    ("d10oe6", 3, 3, "how many faces explode at each end"),
    ("4dFoe", 3, 2, "how many faces explode at each end"),
    ("d10oer<10", 3, 1, "explodes forever"),
    ("d-6", 1, 1, "sides"),
    ("0d6", 0, 1, "at least one die"),
    ("2+ 0d6", 3, 1, "at least one die"),
    ("d0", 1, 1, "at least one side"),
    ("4d6d1", 3, 1, "dh or dl"),
    ("4d6k3", 3, 1, "kh or kl"),
    ("4d6 k", 4, 1, "kh or kl"),
    ("4d6kx", 3, 1, "kh or kl"),
    ("3d6 d6", 4, 1, "operator"),
    ("4d6!kh3!", 7, 1, "explode already"),
    ("4d6!!!", 5, 1, "explode already"),
    ("8d10>=8!again", 8, 5, "explode already"),
    ("4d6!6", 3, 2, "!=5, or !>=5"),
    ("4d6!!6", 3, 3, "!!=5, or !!>=5"),
    ("4d6!p6", 3, 3, "!p=5, or !p>=5"),
    ("4d6!>6", 3, 3, "no face"),
    ("d6!>=1", 2, 1, "forever"),
    ("d6r<=3!<=3", 6, 1, "never explodes"),
    ("6d10!>=8>=8", 4, 1, "!!>=8; to count every new die by itself, again >=8"),
    ("6d10>=8!=10", 7, 1, "!!=10; to count every new die by itself, again =10"),
    ("6d10!p>8kh3", 4, 1, "!!>8"),
    ("8d10 again", 5, 1, "8d10!"),
    ("8d10kh3>=8 again", 11, 1, "without keeping"),
    ("8d10>=8 again 9", 8, 7, "again =9 or again >=9"),
    ("8d10>=8 11-again", 8, 8, "no face"),
    ("8d10>=7 double 9", 8, 8, "double =9 or double >=9"),
    ("8d6>=5 double tens", 7, 11, "highest face of this die is 6"),
    ("8d10>=7 double 10 double 10", 18, 6, "once"),
    ("8d10 double 10", 5, 1, "one by one"),
    ("8d10>=8!double 10", 8, 1, "one by one"),
    ("8d10>=8!f1", 8, 1, "one by one"),
    ("8d10>=7 double <3", 8, 1, "no die that counts"),
    ("8d10>=7 double >10", 8, 10, "no face"),
    ("8d10>=7f", 7, 1, "after f"),
    ("8d10>=7f11", 7, 3, "no face"),
    ("8d10>=7f1f2", 9, 1, "once"),
    ("8d10f1", 4, 1, "failures follow a count"),
    ("again", 0, 5, "8d10>=8 again"),
    ("double", 0, 6, "double 10"),
    ("2d6 adv", 4, 3, "2d6kh1 keeps one of them, 3d6kh2 rolls one more"),
    ("3d20dis", 4, 3, "3d20kl1 keeps one of them, 4d20kl3 rolls one more"),
    ("d20r1 adv", 6, 3, "2d20kh1"),
    ("4d6kh3 adv", 7, 3, "2d20kh1"),
    ("dF adv", 3, 3, "2d20kh1"),
    ("d20+d6+1 adv", 9, 3, "single die"),
    ("7 adv", 2, 3, "single die"),
    ("adv d20", 0, 3, "d20 adv"),
    ("dis 2d20", 0, 3, "2d20kl1"),
    ("(d20+5) adv 3", 12, 1, "operator"),
    ("adv5", 0, 3, "written alone or after the dice"),
    ("4d6 drop", 4, 1, "drop lowest, drop highest 2"),
    ("4d6 keep 3", 4, 1, "keep lowest, keep highest 2"),
    ("4d6 drop lowest 4", 4, 13, "every die"),
    ("drop lowest", 0, 4, "directly behind them"),
    ("d66!", 3, 1, "pool"),
    ("d66kh1", 3, 1, "pool"),
    ("2d6 vs 8", 4, 2, "rpgres roll"),
    ("3d6 in order", 4, 2, "rpgres roll"),
    ("3d6 6 times", 4, 1, "operator"),
    ("2d6//2", 3, 2, "write # before a comment, / to divide"),
    ("# only a comment", 0, 1, "comment follows the dice"),
    ("4d6 reroll 1", 4, 6, "2d6r1, 2d6ro<3"),
    ("4d6rr<3", 3, 2, "2d6r1, 2d6ro<3"),
    ("4d6 exploding", 4, 9, "3d6!o"),
    ("4d6e6", 3, 1, "explode with !"),
    ("4d6mi2", 3, 2, "lowest value of a die"),
    ("4d6 advantge", 4, 8, "did you mean advantage?"),
    ("2d6[fire", 3, 1, "never closed"),
    ("2d6[]", 3, 2, "the brackets need a name"),
    ("2d6[a[b]", 3, 5, "the brackets need a name"),
    ("[fire]2d6", 0, 1, "follows the part"),
    ("2d6[fire][cold]", 9, 1, "follows the part"),
    ("(2d6[fire]+1)[cold]", 13, 6, "one name"),
    ("2d6[fire]*d4[cold]", 9, 9, "one part with names"),
    ("(2d6[fire]+d4)/2", 0, 16, "divide each part"),
    ("4d6,3d8", 3, 1, "followed by which are kept"),
    ("4d6}", 3, 1, "no opening one"),
    ("d20+@str", 4, 1, "abilities"),
    ("4d6/d4", 4, 1, "division"),
    ("4d6/", 3, 1, "division"),
    ("/2", 0, 1, "division"),
    ("4d6/0", 4, 1, "division by 0"),
    ("4d6/(1+1)", 4, 1, "division"),
    ("2^3", 1, 1, "powers"),
    ("1.5d6", 1, 1, "whole"),
    ("d6+.5", 3, 1, "whole"),
    ("2d6 3", 4, 1, "operator"),
    ("1 0d6", 2, 1, "operator"),
    ("2(3)", 1, 1, "operator"),
    ("(2)3", 3, 1, "operator"),
    ("2x3", 1, 1, "*"),
    ("4dF\u20132", 3, 1, "dash"),
    ("(2d6+3)>=10", 7, 2, "one pool"),
    ("(2d6)>=10", 5, 2, "one pool"),
    ("2d6+3>8", 5, 1, "one pool"),
    ("5>=3", 1, 2, "one pool"),
    (">=3", 0, 2, "one pool"),
    ("(2d6)!", 5, 1, "pool"),
    ("(2d6)r1", 5, 1, "pool"),
    ("(1+1)d6", 5, 1, "plain number"),
    ("4d6kh5", 3, 3, "4 of the pool"),
    ("4d6kh3kh4", 6, 3, "3 of the pool"),
    ("4d6dl4", 3, 3, "every die"),
    ("4d6dl2dh2", 6, 3, "every die"),
    ("4d6kh0", 3, 3, "at least 1"),
    ("d6r<=6", 2, 1, "forever"),
    ("d6r<3r>2", 2, 1, "forever"),
    ("d6r7", 2, 2, "no face"),
    ("d6ro<1", 2, 4, "no face"),
    ("4dFr-1", 3, 2, "r=-1"),
    ("4d6r1ro2", 5, 2, "mixed"),
    ("d1!", 2, 1, "forever"),
    ("d6r<6!", 5, 1, "forever"),
    ("d6r6!", 4, 1, "never explodes"),
    ("6d10>=8>=9", 7, 1, "one comparison"),
    ("6d10>=", 6, 1, "whole number"),
    ("6d10=>8", 5, 1, "signs"),
    ("6d10==8", 5, 1, "signs"),
    ("6d10<>8", 5, 1, "signs"),
    ("6d10>= d8", 7, 1, "whole number"),
    ("+3", 0, 1, "plus sign"),
    ("2++3", 2, 1, "plus sign"),
    ("3*", 2, 1, "missing"),
    ("*3", 0, 1, "before this *"),
    ("()", 1, 1, "missing"),
    ("(2", 0, 1, "never closed"),
    ("3+((2)", 2, 1, "never closed"),
    ("2)", 1, 1, "has no opening one"),
    ("d%%", 2, 1, "%"),
    ("4dFF", 3, 1, "F"),
    ("fate", 0, 4, "unknown word 'fate'"),
    ("4dFate", 3, 3, "unknown word 'ate'"),
    ("4d6khl", 5, 1, "'l'"),
    ("\u0663d6", 0, 1, "write 3 in place of"),
    ("2d6 \uff0b 3", 4, 1, "write + in place of"),
    ("2d6 \u00b7 3", 4, 1, "write * in place of"),
    ("2d6 vs \u22657", 7, 1, "write >= in place of"),
    ("2w6+w8", 1, 1, "written with a d: 2d6+d8"),
    ("w20", 0, 1, "written with a d: d20"),
    ("2,5", 1, 1, "without a comma"),
    ("d20+1.5", 5, 1, "without a point"),
    ("2d6,3", 3, 1, "followed by which are kept"),
    ("d\uff16", 1, 1, "write 6 in place of"),
    ("d6\x00", 2, 1, "is not valid"),
    ("2;3", 1, 1, "one expression is rolled at a time"),
    ("\U0001f3b2", 0, 1, "is not valid"),
]


@pytest.mark.parametrize(("text", "position", "length", "said"), REFUSED)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, position: int, length: int, said: str) -> None:
    with pytest.raises(NotationError) as caught:
        dice(text)
    error = caught.value
    assert (error.position, error.length) == (position, length)
    assert error.text == text
    assert said in error.message
    assert not is_notation(text)


LIMITS = [
    ("999999d999999", 0, "MOST_DICE"),
    ("600d6+600d6", 6, "MOST_DICE"),
    ("2d999999", 2, "MOST_SIDES"),
    ("9" * 50, 0, "MOST_NUMBER"),
    ("0" * 999, 0, "MOST_NUMBER"),
    ("1000000*" * 100 + "1", 15, "MOST_VALUE"),
    ("-1000000*1000000*2*d6", 16, "MOST_VALUE"),
    ("(" * 300 + "1" + ")" * 300, 50, "MOST_NESTING"),
    ("-(" * 60 + "1" + ")" * 60, 101, "MOST_NESTING"),
    ("(" * 10_000 + "1" + ")" * 10_000, 1000, "MOST_TEXT"),
    ("-" * 10_000 + "1", 1000, "MOST_TEXT"),
    ("1+" * 100_000 + "1", 1000, "MOST_TEXT"),
    ("d6[" + "x" * 61 + "]", 2, "MOST_NAME"),
    ("adv+" * 3 + "995d6", 12, "MOST_DICE"),
    ("995d6+" + "adv+" * 3, 14, "MOST_DICE"),
    ("999d6+d66", 6, "MOST_DICE"),
    ("-1000000*999999-1000000*999999", 15, "MOST_VALUE"),
    ("1000000*999999+1000000*999999", 14, "MOST_VALUE"),
    ("5-d6*0-1000000*999999-1000000*999999", 21, "MOST_VALUE"),
    ("1000000000*51*adv", 13, "MOST_VALUE"),
    ("999d6+d20 adv", 10, "MOST_DICE"),
    ("10000*1000000*2d20!kh1", 13, "MOST_VALUE"),
]


@pytest.mark.parametrize(("text", "position", "limit"), LIMITS)
def test_a_limit_is_reported_by_its_name(text: str, position: int, limit: str) -> None:
    start = time.process_time()
    with pytest.raises(NotationError) as caught:
        dice(text)
    assert time.process_time() - start < 1  # not a benchmark: without the limits these take minutes or overflow
    assert caught.value.position == position
    assert caught.value.details["limit"] == limit
    assert str(getattr(notation, limit)) in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "1000d10000",
        f"{notation.MOST_NUMBER}*1000",
        "(" * notation.MOST_NESTING + "1" + ")" * notation.MOST_NESTING,
        "1" + "+1" * 499,
        "-" * 999 + "1",
        "1000000*999999-1000000*999999+1000000*999999",
        "0-1000000*999999+1000000*999999-1000000*999999",
        "1000000000*50*adv",
    ],
)
def test_the_limits_themselves_are_allowed(text: str) -> None:
    assert dice(dice(text).text) is dice(text)


def test_divisions_count_as_nesting() -> None:
    assert dice("7" + "/1" * 50).law.values == (7,)
    with pytest.raises(NotationError, match="divisions") as caught:
        dice("7" + "/1" * 51)
    assert caught.value.details["limit"] == "MOST_NESTING"


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("+".join(["d6kl"] * 200), "MOST_TEXT"),
        ("2*(1+" * notation.MOST_NESTING + "2*d6>1" + ")" * notation.MOST_NESTING, "MOST_VALUE"),
        ("-0*(1+" * notation.MOST_NESTING + "2*d6>1" + ")" * notation.MOST_NESTING, "MOST_NESTING"),
    ],
)
def test_the_canonical_text_keeps_the_limits_too(text: str, limit: str) -> None:
    with pytest.raises(NotationError) as caught:
        dice(text)
    assert caught.value.details["limit"] == limit
    assert caught.value.text == text


def test_dice_are_equal_by_their_canonical_text_and_cannot_be_changed() -> None:
    pool = dice("4d6KH3")
    again = Dice(parsing.parse("4d6kh3"))
    assert again is not pool
    assert again == pool
    assert hash(again) == hash(pool)
    assert pool != dice("4d6dl1")
    assert pool != "4d6kh3"
    assert repr(pool) == "dice('4d6kh3')"
    with pytest.raises(AttributeError):
        pool.text = "d6"
    with pytest.raises(AttributeError):
        del pool.text
    assert pool.law.total == 1296
    assert pickle.loads(pickle.dumps(pool)) is pool


def test_constant_means_without_dice() -> None:
    assert dice("2*(3-1)").constant
    assert not dice("0*d6").constant


def test_what_counts_as_notation() -> None:
    assert all(is_notation(text) for text in ("4df", "d20", "D%", "2d20", "7", "4dF+3", "adv", "dis"))
    assert not any(is_notation(text) for text in ("fate", "saga", "d20-modern", "df-ish", "d", "", "4d6d1"))


def test_what_resembles_notation_can_be_nothing_else() -> None:
    assert all(
        resembles_notation(text)
        for text in (
            "4d6d1",
            "d0",
            "3d",
            "(2d6",
            "-d6!!",
            "d%%",
            "d[1,2,3]",
            "4df",
            "adv x",
            "w20",
            "+2d6",
            "\uff12d6",
            "max(d6,d8)",
            "[d6,d8]kh1",
        )
    )
    assert not any(
        resembles_notation(text)
        for text in ("fate", "dungeon", "d", "", "deck", "nodice", "distant", "advent", "(aside)")
    )


def read_or_refuse(text: str) -> tuple[Dice | None, NotationError | None]:
    try:
        return dice(text), None
    except NotationError as error:
        return None, error


@given(st.text(alphabet="0123456789dDfFkKhHlLrRoO!<>=+-*()% \u2212\u00d7.{}@/p[]#ax", max_size=30))
def test_any_text_is_read_or_refused_inside_itself(text: str) -> None:
    pool, error = read_or_refuse(text)
    if error:
        assert 0 <= error.position <= len(text)
        assert error.length >= 1
        assert error.position + error.length <= len(text) + 1
    if not pool:
        return
    assert dice(pool.text) is pool
    # Case and spaces at the ends never matter.
    assert dice(f" {text.upper()} ") is pool
    assert dice(text.lower()) is pool
    try:
        law = pool.law
    except UsageError:
        return
    assert sum(law.weights) + law.open == law.total


@given(st.text(max_size=50))
def test_no_text_at_all_breaks_the_reader(text: str) -> None:
    _, error = read_or_refuse(text)
    assert error is None or 0 <= error.position <= len(text)
