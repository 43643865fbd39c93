"""Before the cards: who declares which counteraction, whether it fits, which effects are activated (S:84-88)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from rpgres import EMPTY, GM, NO, Character, Map, Option, Question, Rating, Table, UsageError, slug
from rpgres_faith.sides import LUCK, Side, changed, find, side_of
from rpgres_faith.switches import Switches

FORM = (
    "skill=NAME|N,attribute=NAME|N,advantages=N,disadvantages=N,weapon=N,armour=N,ammo=NAME,range=N,thrown=N,words=TEXT"
)
JOIN = Option("join", "Bad luck confronts the action.")
UNFIT = Option("unfit", "It is no countermeasure: another one, or none.")
UNAWARE = "unaware"
NUMBERS = ("advantages", "disadvantages", "weapon", "armour", "range", "thrown")
MOST_NUMBER, MOST_DIGITS, MOST_WORDS = 99, 4, 300  # of the description of a countermeasure
MOST = 5  # countermeasures that a character may try to name


class Ruling(msgspec.Struct, frozen=True):
    """What the game master says of an action before cards are played.

    Attributes:
        option: the option she takes, or nothing.
        granted: advantages that she grants, by name; below 0 what she refuses, or hinders them by.
        unaware: who knows nothing of the action.
    """

    option: str = ""
    granted: Map[str, int] = EMPTY
    unaware: tuple[str, ...] = ()


def check_targets(actor: str, targets: Sequence[str], *, option: str) -> None:
    """Check whom an action affects.

    Raises:
        UsageError: a character is their own target.
    """
    if actor in targets:
        raise UsageError(f"{option} {actor}: the actor cannot confront their own action")


# ---------------------------------------------------------------------------------------------------------------------
# What is public


def tell_action(
    table: Table,
    who: str,
    label: str,
    skill: Rating,
    attribute: Rating,
    values: Mapping[str, Any],
    targets: Sequence[str],
) -> None:
    """Announce what a character declares to do (S:17, S:84).

    Bare numbers of an action that is no character's are announced with what each side begins with.
    """
    tells = skill.name or attribute.name or targets or any(values.get(name) for name in ("words", "weapon", "range"))
    if table.is_read and (tells or values.get("thrown") is not None or (label == "action" and who != "actor")):
        tell(table, who, label, action_words(skill, attribute, values, targets=targets))


def tell(table: Table, who: str, label: str, words: str) -> None:
    """Tell what a character says."""
    table.tell(f"{label}{'' if who == 'actor' else f' ({who})'}: {words}")


def action_words(skill: Rating, attribute: Rating, values: Mapping[str, Any], *, targets: Iterable[str] = ()) -> str:
    """Return a declared action for people: what it is, with which skill, attribute and weapon, and whom it is aimed at.

    Cards in hand are no part of it.
    """
    parts = [f"{skill.name or 'skill'} {skill.value} with {attribute.name or 'attribute'} {attribute.value}"]
    parts += [counted(values[f"{word}s"], word) for word in ("advantage", "disadvantage") if values.get(f"{word}s")]
    if values.get("weapon"):
        ammo = values.get("ammo") or "standard"
        parts.append(f"weapon {values['weapon']}{f' ({ammo})' if ammo != 'standard' else ''}")
    if values.get("range"):
        parts.append(f"at {values['range']} km")
    if values.get("thrown") is not None:
        parts.append(f"thrown {values['thrown']} m")
    if names := ", ".join(targets):
        parts.append(f"against {names}")
    words = plain_words(values.get("words") or "")
    return f"{words} ({'; '.join(parts)})" if words else "; ".join(parts)


def counted(count: int, word: str) -> str:
    """Return so many of something in words.

    >>> counted(2, "card")
    '2 cards'
    """
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def plain_words(text: str) -> str:
    """Return words on one line.

    Raises:
        UsageError: there are too many.
    """
    words = " ".join(text.split())
    if len(words) > MOST_WORDS:
        raise UsageError(f"words are at most {MOST_WORDS} characters, not {len(words)}")
    return words


# ---------------------------------------------------------------------------------------------------------------------
# Rulings of the game master


def asks_to_join(table: Table, actor: str, words: str, targets: Sequence[str], others: Iterable[str]) -> Ruling:
    """Return whether bad luck confronts an action, who is unaware of it, and what advantages there are (S:9-17, S:46).

    Args:
        words: the declared action.
        targets: who is affected, and asked unless unaware.
        others: who has declared a counteraction already.
    """
    names = [actor, *targets, *others, GM]

    def read(text: str) -> Ruling:
        ruling = read_ruling(text, option=JOIN.name, about=actor, names=names, targets=targets)
        if GM in ruling.granted and not ruling.option:
            raise UsageError("bad luck has advantages where it confronts the action: join")
        return ruling

    answer = table.ask(
        JOIN.name,
        GM,
        (JOIN,),
        text="Does bad luck confront it?",
        optional=True,
        form=f"join,+N,-N,NAME=+N{f',NAME={UNAWARE}' if targets else ''}",
        reads=lambda text: ruling_text(read(text)),
        words=words,
    )
    return read(answer)


def read_ruling(text: str, *, option: str, about: str, names: Sequence[str], targets: Sequence[str]) -> Ruling:
    """Return what `join,+1,bero=-1,orso=unaware` says: a number alone is for whom it is about.

    Raises:
        UsageError: a part is unknown, or a character is named who is not in it.
    """
    taken, granted, unaware = "", dict[str, int](), list[str]()
    for part in text.split(",") if text != NO else ():
        name, sign, value = (piece.strip() for piece in part.rpartition("="))
        if not sign and value.lower() == option:
            taken = option
            continue
        name = slug(name) if sign else about
        if name not in names:
            raise UsageError(f"{name!r} takes no part in it; there are: {', '.join(names)}")
        if re.fullmatch(r"[+-][0-9]{1,4}", value):
            if abs(int(value)) > MOST_NUMBER:
                raise UsageError(f"{MOST_NUMBER} advantages at most, not {value}")
            granted[name] = granted.get(name, 0) + int(value)
        elif sign and value.lower() == UNAWARE and name in targets:
            unaware.append(name)
        else:
            raise UsageError(
                f"{part.strip()!r} is none of {option}, +N and -N (advantages for {about}), NAME=+N and NAME=-N"
                + (f", NAME={UNAWARE} (of {', '.join(targets)})" if targets else "")
            )
    return Ruling(taken, Map(granted), tuple(dict.fromkeys(unaware)))


def ruling_text(ruling: Ruling) -> str:
    """Return a ruling as it is kept and shown: every number with a name."""
    parts = [ruling.option] if ruling.option else []
    parts += [f"{name}={count:+}" for name, count in ruling.granted.items()]
    return ",".join([*parts, *(f"{name}={UNAWARE}" for name in ruling.unaware)])


def with_granted(sides: Iterable[Side], granted: Iterable[tuple[str, int]]) -> list[Side]:
    """Return the sides with the advantages that the game master granted, or refused (S:46)."""
    found = list(sides)
    for name, count in granted:
        for side in [one for one in found if one.name == name]:
            plus, minus = side.plus + max(0, count), side.minus + max(0, -count)
            found = list(changed(found, msgspec.structs.replace(side, plus=plus, minus=minus)))
    return found


# ---------------------------------------------------------------------------------------------------------------------
# Counteractions


def counteractions(
    table: Table, words: str, targets: Sequence[str], *, names: Sequence[str], ambience: str | None
) -> tuple[list[Side], list[tuple[str, int]]]:
    """Return the counteractions of affected characters who are aware (S:17-23, S:86), all declared together.

    The game master rules on those that are not her own; a refused character may name another one. With them come the
    advantages that she grants.

    Args:
        words: the declared action.
        targets: who is affected and aware.
        names: who else takes part.
        ambience: the environment one is in.
    """
    found: list[Side] = []
    granted: list[tuple[str, int]] = []
    asked = list(dict.fromkeys(targets))
    for _ in range(MOST):
        if not asked:
            break
        answers = table.ask_together([_question(table, name, words, ambience) for name in asked])
        declared = {name: answer for name, answer in zip(asked, answers, strict=True) if answer != NO}
        ruled = [name for name in declared if table.state.seat_of(name) != GM]
        questions = [_ruled_on(table, name, declared[name], [*names, *targets]) for name in ruled]
        rulings = dict(zip(ruled, table.ask_together(questions), strict=True))
        asked = [name for name in ruled if rulings[name] == UNFIT.name]
        for name in [name for name in declared if name not in asked]:
            found.append(_counter_side(table, name, declared[name], ambience))
            ruling = read_ruling(
                rulings.get(name, NO), option=UNFIT.name, about=name, names=[*names, *targets], targets=()
            )
            granted += ruling.granted.items()
    return found, granted


def _question(table: Table, name: str, words: str, ambience: str | None) -> Question:
    def reads(text: str) -> str:
        _counter_side(table, name, text, ambience)  # a mistake is reported to its author, not to the last one to answer
        if slug(text) in arms_of(table, name):
            return slug(text)
        parts, words = _parts_of(text)
        return ",".join([*parts, *([f"words={plain_words(words)}"] if words.strip() else [])])

    text = "A countermeasure that could make it fail? With which skill and attribute?"
    options = tuple(
        Option(arm, action_words(one["skill"], one["attribute"], one) if table.is_read else "", prefer=1)
        for arm, one in arms_of(table, name).items()
    )
    return Question("counter", name, options, text=text, optional=True, form=FORM, reads=reads, words=words)


def arms_of(table: Table, name: str) -> dict[str, dict[str, Any]]:
    """Return what a sheet lists to act and to counter with, by its short name: what would be typed for it."""
    character = table.state.characters[name]
    found = {}
    for key, one in character.records.get("arms", EMPTY).items():
        skill = _rating(character, one["skill"])
        attribute = _rating(character, one["attribute"] or one["skill"])
        values = {"weapon": one["weapon"]} if one["weapon"] else {}
        found[slug(key)] = {"skill": skill, "attribute": attribute, **values, "ammo": one["ammo"], "words": key}
    return found


def _counter_side(table: Table, name: str, text: str, ambience: str | None) -> Side:
    values = read_counter(table, name, text)
    rest = Map({"ambience": ambience, **{key: values[key] for key in (*NUMBERS, "ammo") if key in values}})
    return side_of(table, name, skill=values["skill"], attribute=values["attribute"], values=rest)


def _ruled_on(table: Table, name: str, answer: str, names: Sequence[str]) -> Question:
    def reads(text: str) -> str:
        ruling = read_ruling(text, option=UNFIT.name, about=name, names=names, targets=())
        if ruling.option and ruling.granted:
            raise UsageError(f"{UNFIT.name} cannot be combined: a rejected countermeasure has no advantages")
        return ruling_text(ruling)

    values = read_counter(table, name, answer)
    return Question(
        "ruling",
        GM,
        (UNFIT,),
        text="Reject it as unfit, or give it advantages?",
        optional=True,
        form="+N,-N,NAME=+N",
        reads=reads,
        words=action_words(values["skill"], values["attribute"], values) if table.is_read else "",
        of=name,
    )


def _parts_of(text: str) -> tuple[list[str], str]:
    """Return the parts of a counteraction, and its words: they come last and may have commas."""
    head, _, words = re.sub(r"(^|,)\s*words\s*=", "\0", text, count=1).partition("\0")
    return [part.strip() for part in head.split(",")], words


def read_counter(table: Table, name: str, text: str) -> dict[str, Any]:
    """Return what `skill=...,attribute=...,words=...` says of a character's counteraction; words come last.

    Raises:
        UsageError: a part is unknown or missing.
    """
    arms = arms_of(table, name)
    if slug(text) in arms:
        return arms[slug(text)]
    parts, words = _parts_of(text)
    values: dict[str, Any] = {}
    for part in parts:
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if key in values:
            raise UsageError(f"{key} is given twice")
        if value.isdecimal() and (len(value) > MOST_DIGITS or int(value) > MOST_NUMBER):
            raise UsageError(f"{key} is at most {MOST_NUMBER}")
        if key in ("skill", "attribute") and sign:
            values[key] = _rating(table.state.characters[name], value)
        elif key in NUMBERS and value.isdecimal():
            values[key] = int(value)
        elif key == "ammo" and value in table.rules.file.settings["armour-ignored"]:
            values[key] = value
        else:
            raise UsageError(f"a countermeasure is given as {FORM}; {part!r} is not a part of that")
    is_npc = values.get("skill") is not None and values["skill"].name in table.rules.file.settings["npc-values"]
    if "skill" not in values or ("attribute" not in values and not is_npc):
        raise UsageError(f"a countermeasure needs a skill and an attribute: {FORM}")
    values.setdefault("attribute", values["skill"])
    values["words"] = plain_words(words)
    if not values["words"] and table.rules.switches(Switches).countermeasure_words == "required":
        raise UsageError("describe it, too: ...,words=dives behind the crate")
    return values


def _rating(character: Character, text: str) -> Rating:
    if text.isdecimal():
        return Rating(int(text))
    name = slug(text)
    if name not in character.abilities:
        known = ", ".join(character.abilities) or "none"
        raise UsageError(f"{character.name}'s sheet has no {text!r}; it has: {known}; or give a number")
    return Rating(character.abilities[name], name)


def with_activated(table: Table, sides: Sequence[Side], *, first: str) -> list[Side]:
    """Return the sides with the effects that they activate: joint confronters first, then the first actor (S:87-88)."""
    found = list(sides)
    others = [side for side in sides if side.name != first and side.plays != LUCK]
    for group in (others, [find(sides, first)]):
        questions = [question for side in group if (question := _activation(table, side)) is not None]
        if not questions:
            continue
        for question, answer in zip(questions, table.ask_together(questions), strict=True):
            if answer != NO:
                side = find(found, question.who)
                gear = table.state.characters[side.who].records["effects"]
                chosen = next(one for name, one in gear.items() if slug(name) == answer)
                found = list(
                    changed(
                        found,
                        msgspec.structs.replace(
                            side,
                            plus=side.plus + (chosen["advantages"] or 0),
                            start=side.start + (chosen["bonus"] or 0),
                        ),
                    )
                )
                for foe in [one for one in found if chosen["disadvantages"] and _opposes(one, side, first)]:
                    more = msgspec.structs.replace(foe, minus=foe.minus + chosen["disadvantages"])
                    found = list(changed(found, more))
    return found


def _opposes(one: Side, other: Side, first: str) -> bool:
    return one.name != other.name and first in (one.name, other.name)


def _activation(table: Table, side: Side) -> Question | None:
    character = table.state.characters.get(side.who)
    effects = character.records.get("effects", EMPTY) if character is not None else EMPTY
    if not effects:
        return None
    options = tuple(Option(slug(name), one["text"] or name) for name, one in effects.items())
    return Question("activate", side.who, options, text="Activate an effect?", optional=True)
