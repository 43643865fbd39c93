"""What is said of notation that cannot be read: what other tools mean by it, and what to write here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from rpgres.dice.grammar import DIGITS, Best, Node, Pool, nodes_in, pools_in, single_dice, write
from rpgres.errors import called

# By the character that stands where none of ours can.
REFUSED = {
    "/": "division is by a whole number, as in (2d6+3)/2",
    ".": "only whole numbers are read here",
    "}": "this brace has no opening one",
    ",": "several values go in parentheses, followed by which are kept: (2d6,d12)kh1; "
    "several rolls are several commands",
    **dict.fromkeys(";|", "one expression is rolled at a time; several rolls are several commands"),
    "?": "nothing is asked here: write the number",
    "[": "a name follows the part that it names, as in 2d6[fire]",
    "]": "this bracket has no opening one",
    "@": "names of abilities cannot be used in dice notation; write the number",
    "^": "powers are not part of this notation",
    "x": "to multiply, write *; to roll several times, 3d6 6 times",
    "\u2013": "this is a dash; to subtract, write -",
    "\u2014": "this is a dash; to subtract, write -",
    ")": "this parenthesis has no opening one",
    "%": "% means 100 sides and is allowed only directly after d, as in d%",
    "f": "F means Fate dice and is allowed only directly after d, as in 4dF; failures follow a count, as in 6d10>=8f1",
    **dict.fromkeys(
        ">=<",
        "a comparison counts the dice of one pool and must follow it directly, as in 6d10>=8; "
        "to compare the total, write vs 10 or vs <=10",
    ),
    "!": "! must directly follow a pool of dice, as in 3d6!",
    "k": "keeping works on one pool and must follow it directly, as in 4d6kh3",
    "r": "r must directly follow a pool of dice, as in 2d6r1",
    "d": "the number of dice must be a plain number, as in 2d6, and an operator is needed before the next dice",
    "p": "to drop dice, write dl or dh, as in 4d6dl1; dice that penetrate are !p, as in 2d6!p",
    "e": "dice explode with !, as in 2d6!; from 5 on with !>=5",
    "t": "to count dice, write the faces that count, as in 6d10>=8",
    "b": "to count dice, write the faces that count, as in 6d10>=8",
    "u": "dice that explode are written with !, as in 3d6!>=5",
    "#": "a comment follows the dice, as in 2d6 # for the trap",
}
WORDS = {
    "vs": f"a comparison is allowed only where dice are rolled or evaluated: {called('roll', 'd20+5', vs=15)}",
    "in": f"`in order` is allowed only where dice are rolled or evaluated: {called('roll', '3d6 in order')}",
    "times": f"a number of times follows the dice, and only where dice are rolled: {called('roll', '3d6 6 times')}",
    "mi": "the lowest value of a die cannot be set in this notation; to reroll low dice, write ro<3",
    "min": "the lowest value of a die cannot be set in this notation; to reroll low dice, write ro<3",
    "ma": "the highest value of a die cannot be set in this notation",
    "max": "the highest value of a die cannot be set in this notation",
    **dict.fromkeys(
        ("rr", "reroll"), "dice are rerolled with r until the face stays, and once with ro: 2d6r1, 2d6ro<3"
    ),
    **dict.fromkeys(("explode", "exploding", "xo"), "dice explode with !, once with !o: 3d6!, 8d10!>=8, 3d6!o"),
    **dict.fromkeys(
        ("dc", "ac", "tn", "dv", "v", "versus", "against", "over", "beats"),
        "to compare the total, write vs and the number: d20+5 vs 15",
    ),
    "open": "an open-ended die is written d10oe: the highest face adds another die, the lowest subtracts one",
    "under": "to roll at or under a number, write vs <= and the number: 3d6 vs <=12",
    "with": "advantage follows the dice without more words: d20 adv, d20+5 dis",
    "plus": "to add, write +",
    "minus": "to subtract, write -",
    **dict.fromkeys(
        ("best", "worst", "highest", "lowest"),
        "the best dice are kept with kh, the worst with kl: 4d6kh3, 4d6 keep highest 3",
    ),
    **dict.fromkeys(
        ("cs", "cf"), "criticals are not part of this notation; to count dice, write the faces that count: 6d10>=8"
    ),
    **dict.fromkeys(("sa", "sd"), "dice are shown as they were rolled; leave this word out"),
    "x": f"{REFUSED['x']}; dice explode with !, as in 2d6!",
    "again": "again follows dice that are counted, as in 8d10>=8 again",
    "double": "double follows dice that are counted, as in 8d10>=7 double 10",
    **dict.fromkeys(("drop", "keep"), "dice are dropped or kept directly behind them, as in 4d6 drop lowest"),
    **dict.fromkeys(
        ("adv", "advantage", "dis", "disadv", "disadvantage"),
        "advantage and disadvantage are written alone or after the dice: adv+5, d20 adv, d20+5 adv",
    ),
}
_IN_PLACE_OF = {
    **dict.fromkeys("\u00b7\u2022\u2219\u22c5\u2217", "*"),
    **dict.fromkeys("\u2010\u2011\u2012", "-"),
    "\u2264": "<=",
    "\u2265": ">=",
}
KNOWN = ("adv", "advantage", "dis", "disadvantage", "drop", "keep", "again", "double", "vs", "times", "in")

SINGLE = "a sum of which the best are kept has single dice only, as (d6+2d8)kh2; values have commas, as (2d6,d12)kh1"
GROUP = "say which of these are kept: of values (2d6,d12)kh1, of single dice (d6+2d8)kh2"
SLASHES = "// starts a comment in some tools and divides in others: write # before a comment, / to divide"
AGAIN = "again counts each die by itself: it follows a count, without keeping, as in 8d10>=8 again; to add, write 8d10!"
COUNTED = (
    "double and f speak of dice that are counted one by one, as in 8d10>=7 double 10 and 6d10>=8f1, also with again"
)
TIMES_AND_VS = "one roll is compared, not several; count those that succeed with --vs and --repeat"


def foreign(text: str) -> tuple[int, str]:
    """Return the place of the first character that only looks like one of the notation, and what is said of it.

    Full-width characters, digits of other scripts, points and signs that are near one of ours; -1 where none is there.
    Names in brackets and comments may have any.
    """
    from unicodedata import decimal, normalize

    is_name = False
    for at, char in enumerate(text):
        if char == "#":
            break
        is_name = char == "[" or (is_name and char != "]")
        if char.isascii() or char.isspace() or is_name:
            continue
        plain = _IN_PLACE_OF.get(char) or normalize("NFKC", char)
        if char.isdecimal():
            plain = str(decimal(char))
        if len(plain) <= 2 and plain.isascii():
            return at, f"write {plain} in place of {char}"
    return -1, ""


def as_range(text: str) -> str:
    """Return the range that was meant by `3-5`, `3:5` or `3...5`, as it is written here; empty for anything else."""
    found = re.fullmatch(r"\s*(\d{1,6})\s*(?:[-:\u2013\u2014\u2026]|\.{2,})\s*(\d{1,6})\s*", text, re.ASCII)
    return f"{found[1]}..{found[2]}" if found and int(found[1]) < int(found[2]) else ""


def refusal(text: str, at: int, char: str, after: Node | None) -> tuple[str, int]:
    """Return what is said of the next character, and how many characters are at fault.

    Args:
        text: all that was typed.
        at: where the character stands.
        char: the character as it is read; empty at the end.
        after: what stands before it where an operator is needed; None where a number or dice are.
    """
    if not char:
        return "something is missing at the end: a number, dice such as 2d6, or a parenthesis", 1
    if after is not None and (char in DIGITS or char == "("):
        return "an operator is missing before this: +, - or *", 1
    if after is None and char in ("+", "*"):
        plus = "; a plus sign is not needed before a number" if char == "+" else ""
        return f"a number or dice such as 2d6 is missing before this {char}{plus}", 1
    if after is None and char == ")":
        return "a number or dice such as 2d6 is missing before this parenthesis", 1
    is_fraction = re.search(r"(?<![\dd])\d+$", text[:at], re.I) and re.match(r"\d+(?!\d*d)", text[at + 1 :], re.I)
    if char in (",", ".") and is_fraction:
        return f"only whole numbers are read here, without a {'comma' if char == ',' else 'point'}", 1
    found = re.match(r"[^\W\d_]+", text[at:])
    word = found[0].lower() if found else ""
    if word in WORDS:
        return WORDS[word], len(word)
    if len(word) > 1 and not re.match(r"(?:[kd][hl]?|ro?|[fptebu])(?![^\W\d_])|d", word):
        return _unknown(word, is_behind=after is not None), len(word)
    if char in REFUSED:
        following = text[at + 1 : at + 2]
        return REFUSED[char], 2 if char in ("<", ">", "=") and following and following in "<>=" else 1
    if word in ("w", "\u043a") and text[at + 1 : at + 2].isdigit():  # as German and Russian books write dice
        written = re.sub(rf"(?i)(?<![a-z]){word}(?=[0-9])", "d", text)
        return f"dice are written with a d: {written}", 1
    return f"{text[at]!r} is not valid in dice notation", 1


def _unknown(word: str, *, is_behind: bool) -> str:
    """Return the message about a word; `is_behind` dice it may be meant as their name."""
    from difflib import get_close_matches

    near = get_close_matches(word, KNOWN, n=1)
    named = "; a name goes in brackets, 2d6[fire], a comment after #" if is_behind else "; write a number or dice"
    hint = f"; did you mean {near[0]}?" if near else named
    return f"unknown word {word!r} in dice notation{hint}"


def first(word: str) -> str:
    """Return what is said of advantage before the dice."""
    end = "kh" if word.startswith("adv") else "kl"
    return f"{word} is written alone or after the dice: {word}, d20 {word}, d20+5 {word}; each rolls 2d20{end}1"


def advantage(word: str, pool: Pool | None = None) -> str:
    """Return what is said of advantage on dice where it could mean several things."""
    end = "kh" if word.startswith("adv") else "kl"
    if pool is None or pool.keep or pool.target or pool.explosion or pool.reroll or pool.sides < 1:
        return f"{word} rolls two dice and keeps one: it follows a single die, as in d20 {word}; else write 2d20{end}1"
    count, sides = pool.count, pool.sides
    return (
        f"{word} on {count}d{sides} can mean two things: {count}d{sides}{end}1 keeps one of them, "
        f"{count + 1}d{sides}{end}{count} rolls one more and drops one"
    )


def never(node: Node) -> Iterator[str]:
    """Yield what is said of notation that may be meant otherwise.

    A count where a total was meant, of one die alone and of dice that can never fit; several dice as one of the values
    of which some are kept.
    """
    for group in nodes_in(node):
        if not isinstance(group, Best) or group.kept[1] - group.kept[0] < 2:
            continue
        for pool in group.nodes:
            if isinstance(pool, Pool) and pool.count > 1 and single_dice(pool):
                yield f"{write(pool)} is one value here, the sum; to keep single dice, join them with +: (d6+2d8)kh2"
    for pool in pools_in(node):
        target = pool.target
        is_one = pool == node and pool.count == 1 and not pool.explodes and not pool.double and not pool.fails
        if target is None or not (is_one or is_empty(pool) or is_full(pool)):
            continue
        bare, sign = write(replace(pool, target=None, double=None, fails=None)), target.sign.removeprefix(">=")
        advice = "" if sign == "=" else f"; to compare the total, write {bare} vs {sign}{target.number}"
        what = "none of them can fit" if is_empty(pool) else "all of them fit" if is_full(pool) else "comes to 1 or 0"
        yield f"{write(pool)} counts dice, and {what}{advice}"


def is_empty(pool: Pool) -> bool:
    """Return whether a pool counts dice none of which can fit."""
    return pool.target is not None and not pool.explodes and not any(pool.target.fits(face) for face in pool.faces)


def is_full(pool: Pool) -> bool:
    """Return whether a pool counts dice all of which fit, and does nothing else with them."""
    target = pool.target
    if target is None or pool.explodes or pool.double or pool.fails:
        return False
    return all(target.fits(face) for face in pool.faces)


def keeping(text: str, start: int) -> str:
    """Return what is said of a k or d that does not say which dice."""
    word = re.match(r"[a-z]+", text[start:], re.IGNORECASE | re.ASCII)
    if word and word[0].lower() in ("drop", "keep"):
        verb = word[0].lower()
        return f"{verb} says which dice, and how many: {verb} lowest, {verb} highest 2"
    if text[start].lower() == "k":
        return (
            "k alone does not say which dice to keep: write kh or kl; "
            "k3 keeps the three highest in some tools, and in others all dice that show 3"
        )
    return "d alone does not say which dice to drop: write dh or dl; between two pools an operator is missing"


def joined(text: str, *, is_counted: bool) -> str:
    """Return what is said of dice that explode on some faces and are kept or counted, which other tools do otherwise.

    Args:
        text: what was typed, from the exclamation mark on.
        is_counted: whether the dice are counted, and not only kept.
    """
    on = re.match(r"!\s*[po]*\s*([<>=]+\s*\d+)", text, re.IGNORECASE)
    faces = "".join(on[1].split()) if on else ">=8"
    again = f"; to count every new die by itself, again {faces}" if is_counted else ""
    return f"say what the new dice do: to add them to the die that exploded, write !!{faces}{again}"
