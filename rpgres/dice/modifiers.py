"""Reads what follows dice in notation: keeping, rerolls, explosions, counts, advantage. Nothing here rolls dice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rpgres.dice import hints
from rpgres.dice.grammar import DIGITS, FATE, Comparison, Explosion, Pool, Reroll, open_ends

if TYPE_CHECKING:
    from rpgres.dice.scanner import Scanner

ADVANTAGE = {"adv": "kh", "advantage": "kh", "dis": "kl", "disadv": "kl", "disadvantage": "kl"}
_KEEPING = frozenset(("kh", "kl", "dh", "dl"))
_DROP = (
    r"(?P<verb>drop|keep)\s+(?:the\s+)?(?:(?P<before>\d+)\s+)?(?P<end>high|low)(?:est)?"
    r"(?:\s+(?P<behind>\d+)(?!\s*(?:[d\d]|times)))?(?!\w)"
)
_AGAIN = r"(?:(?P<from>\d+)-)?again(?!\w)"
_OPEN_ENDED = r"oe(?P<size>\d{1,9})?"
_DOUBLE = r"double(?!\w)(?:\s+(?P<word>tens|sixes)(?!\w))?"
_WORDED = {"tens": 10, "sixes": 6}


def read_modifiers(scan: Scanner, pool: Pool) -> Pool:
    """Read the modifiers of a pool; whether they make sense together is known only after the last."""
    places: dict[str, int] = {}
    left = pool.count
    found: re.Match[str] | None = None
    while char := scan.next():
        start, word = scan.at, scan.word()
        if word in ADVANTAGE:
            scan.at += len(word)
            scan.count_dice(1, start)
            pool = with_advantage(scan, pool, word, start)
        elif char == "!" or ((char in "ao" or char in DIGITS) and (found := scan.match(f"{_AGAIN}|{_OPEN_ENDED}"))):
            places["explosion"] = start
            read = _again if char != "o" else _open_ended
            explosion = _explosion(scan, pool, places) if char == "!" else read(scan, pool, found)
            if pool.explosion:
                scan.fail("the dice of this pool explode already", start, end=scan.at)
            pool = replace(pool, explosion=explosion)
        elif word == "double" and (found := scan.match(_DOUBLE)):
            places["double"] = start
            pool = replace(pool, double=_double(scan, pool, found, start))
        elif char == "r" and word not in hints.WORDS:
            places.setdefault("reroll", start)
            pool = replace(pool, reroll=_reroll(scan, pool, pool.reroll))
        elif char in ("k", "d"):
            kept = _keeping(scan, left)
            pool = replace(pool, keep=(*pool.keep, kept))
            left = kept[1] if kept[0][0] == "k" else left - kept[1]
        elif char in ("<", ">", "="):
            if pool.target:
                scan.fail("dice are counted already; a pool has one comparison", start)
            pool = replace(pool, target=scan.comparison())
        elif char == "f" and pool.target:
            places["fails"] = start
            pool = replace(pool, fails=_fails(scan, pool))
        else:
            break
    if places:
        _check_end(scan, pool, places)
    return pool


def with_advantage(scan: Scanner, pool: Pool, word: str, start: int) -> Pool:
    """Return two dice of which one is kept: of `d20 adv`, or of `2d20 adv`."""
    is_plain = pool == Pool(pool.count, pool.sides) and pool.sides != FATE
    if not is_plain or not (pool.count == 1 or (pool.count, pool.sides) == (2, 20)):
        scan.fail(hints.advantage(word, pool), start, end=scan.at)
    return replace(pool, count=2, keep=((ADVANTAGE[word], 1),))


def _explosion(scan: Scanner, pool: Pool, places: dict[str, int]) -> Explosion:
    start = scan.at
    scan.at += 1
    is_joined = bool(scan.take("!"))
    penetrating = bool(scan.take("p"))
    once = bool(scan.take("o"))
    char = scan.next()
    if char in DIGITS:
        sign = scan.text[start : scan.at].strip()
        scan.fail(f"say which faces explode: {sign}=5, or {sign}>=5 for 5 and more", start, end=scan.at + 1)
    if char not in ("<", ">", "=") or not char:
        return Explosion(None, once, penetrating)
    if not is_joined:
        places["unclear"] = start
    return Explosion(_exploding(scan, pool, scan.comparison(), start), once, penetrating)


def _exploding(scan: Scanner, pool: Pool, on: Comparison, start: int) -> Comparison | None:
    """Return the faces that explode, where they are others than the highest."""
    faces = on.among(pool.row)
    if not faces:
        scan.fail("no face of this die ever explodes", start, end=scan.at)
    return on if faces != pool.row[-1:] else None


def _again(scan: Scanner, pool: Pool, found: re.Match[str] | None) -> Explosion:
    """Read behind `again` which faces are followed by another die, which counts for itself."""
    assert found
    if found["from"]:
        on = _exploding(scan, pool, Comparison(">=", int(found["from"][:9])), found.start())
    else:
        on = _some_faces(scan, pool, "again", found.start())
    return Explosion(on, apart=True)


def _open_ended(scan: Scanner, pool: Pool, found: re.Match[str] | None) -> Explosion:
    """Return an explosion of both ends: high faces are followed by dice that add, low ones by dice that subtract."""
    assert found
    size = int(found["size"] or open_ends(pool.sides))
    if not 0 < 2 * size <= pool.sides:
        message = "oe says how many faces explode at each end, as in d100oe5; alone it is one in twenty"
        scan.fail(message, found.start(), end=scan.at)
    return Explosion(_exploding(scan, pool, Comparison(">=", pool.sides + 1 - size), found.start()), down=size)


def _double(scan: Scanner, pool: Pool, found: re.Match[str], start: int) -> Comparison:
    """Read behind `double` which dice count twice."""
    if pool.double:
        scan.fail("double can be used once in a pool", start, end=scan.at)
    top = Comparison("=", pool.faces[-1])
    if not found["word"]:
        return _some_faces(scan, pool, "double", start) or top
    if _WORDED[found["word"].lower()] != top.number:
        scan.fail(f"the highest face of this die is {top.number}", start, end=scan.at)
    return top


def _some_faces(scan: Scanner, pool: Pool, word: str, start: int) -> Comparison | None:
    """Read which faces a word is about: a comparison, or the highest one; None for the highest."""
    char = scan.next()
    if char in ("<", ">", "="):
        return _exploding(scan, pool, scan.comparison(), start)
    if char in DIGITS and not scan.peek(_AGAIN):
        number = scan.number()
        if number != pool.faces[-1]:
            message = f"this may be {number} alone, or {number} and more: write {word} ={number} or {word} >={number}"
            scan.fail(message, start, end=scan.at)
        scan.take("s")  # double 10s
    return None


def _fails(scan: Scanner, pool: Pool) -> Comparison:
    """Read behind `f` which dice take a success off."""
    start = scan.at
    scan.at += 1
    if pool.fails:
        scan.fail("f can be used once in a pool", start)
    on = _faces(scan)
    if on is None:
        scan.fail("after f the faces that take a success off are expected, as in 6d10>=8f1 or f<=2", start)
    if not on.among(pool.row):
        scan.fail("no face of this die is among these", start, end=scan.at)
    return on


def _faces(scan: Scanner) -> Comparison | None:
    """Read a number or a comparison; None where neither is next."""
    if scan.next() in DIGITS:
        return Comparison("=", scan.number())
    return scan.comparison() if scan.next() in ("<", ">", "=") else None


def _reroll(scan: Scanner, pool: Pool, earlier: Reroll | None) -> Reroll:
    start = scan.at
    scan.at += 1
    once = scan.text[scan.at : scan.at + 1].lower() == "o"
    scan.at += once
    if earlier and earlier.once != once:
        scan.fail("r and ro cannot be mixed in one pool", start, end=scan.at)
    on = _faces(scan)
    if on is None and scan.next() == "-" and pool.sides == FATE:
        message = "this may be a face or a subtraction: write r=-1, or put the dice in parentheses"
        scan.fail(message, start, end=scan.at + 1)
    on = on or Comparison("=", pool.faces[0])
    if not on.among(pool.row):
        scan.fail("no face of this die is ever rerolled", start, end=scan.at)
    return Reroll(once, (*earlier.on, on) if earlier else (on,))


def _keeping(scan: Scanner, left: int) -> tuple[str, int]:
    start = scan.at
    if scan.word() in ("drop", "keep") and (found := scan.match(_DROP)):
        word = found["verb"][0].lower() + found["end"][0].lower()
        count = int((found["before"] or found["behind"] or "1")[:9])
    else:
        word = scan.text[start : start + 2].lower()
        if word not in _KEEPING:
            scan.fail(hints.keeping(scan.text, start), start)
        scan.at += 2
        count = scan.number() if scan.next() in DIGITS else 1
    if count == 0 and not scan.may_have_none:
        scan.fail(f"{word} needs a number of at least 1", start, end=scan.at)
    if count > left:
        scan.fail(f"{word}{count} asks for more dice than the {left} of the pool", start, end=scan.at)
    if word[0] == "d" and count == left:
        scan.fail(f"{word}{count} drops every die of the pool", start, end=scan.at)
    return word, count


def keeps(scan: Scanner) -> bool:
    """Tell whether what is kept is said next."""
    return scan.peek(r"[kd][hl](?![a-z])|(?:keep|drop)(?![a-z])") is not None


def read_keeping(scan: Scanner, count: int) -> tuple[tuple[str, int], ...]:
    """Read which of so many values are kept."""
    found: list[tuple[str, int]] = []
    while keeps(scan):
        word, number = _keeping(scan, count)
        found.append((word, number))
        count = number if word[0] == "k" else count - number
    return tuple(found)


def _check_end(scan: Scanner, pool: Pool, places: dict[str, int]) -> None:
    """Refuse a pool that could never stop being rolled, an explosion that never comes, and what means nothing."""
    staying = pool.staying
    until = pool.reroll is not None and not pool.reroll.once
    if until and not staying:
        scan.fail("every face would be rerolled forever", places["reroll"])
    explosion, at = pool.explosion, places.get("explosion", 0)
    if explosion:
        reachable = staying if until else tuple(pool.row)
        exploding = [face for face in reachable if face in pool.exploding]
        if not explosion.once and all(face in pool.exploding_added for face in reachable):
            scan.fail("every remaining face explodes forever", at)
        if not exploding:
            scan.fail("the faces that explode are always rerolled, so this die never explodes", at)
        if explosion.apart and (pool.keep or not pool.target):
            scan.fail(hints.AGAIN, at)
        if "unclear" in places and (pool.keep or pool.target):
            scan.fail(hints.joined(scan.text[at:], is_counted=pool.target is not None), at)
    for name, on in (("double", pool.double), ("fails", pool.fails)):
        if on and (not pool.target or (explosion and not explosion.apart)):
            scan.fail(hints.COUNTED, places[name])
    target, double = pool.target, pool.double
    if target and double and not any(target.fits(face) and double.fits(face) for face in pool.row):
        scan.fail("no die that counts is among these", places["double"])
