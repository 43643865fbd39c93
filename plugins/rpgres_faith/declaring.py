"""Before the cards: who declares which counteraction, whether it fits, which effects are activated (S:84-88)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from rpgres import EMPTY, GM, NO, Character, Map, Option, Question, Rating, Table, UsageError, slug
from rpgres_faith.sides import LUCK, Side, changed, find, side_of

FORM = "skill=NAME|N,attribute=NAME|N,advantages=N,disadvantages=N,weapon=N,armour=N,ammo=NAME,range=N"
UNFIT = (Option("unfit", "It is no countermeasure: another one, or none."),)
NUMBERS = ("advantages", "disadvantages", "weapon", "armour", "range")
MOST_NUMBER, MOST_DIGITS = 99, 4  # of what is said of a countermeasure
MOST = 5  # countermeasures that somebody may try to name


def check_targets(actor: str, targets: Sequence[str]) -> None:
    """Check whom an action affects.

    Raises:
        UsageError: somebody is their own target.
    """
    if actor in targets:
        raise UsageError(f"--target {actor}: who acts does not confront the own action")


def counteractions(table: Table, actor: str, targets: Sequence[str], *, ambience: str | None) -> list[Side]:
    """Return the counteractions of those who are affected and aware (S:17-23, S:86), all declared together.

    The game master rules on each; whoever is refused may name another one.
    """
    found: list[Side] = []
    asked = list(dict.fromkeys(targets))
    for _ in range(MOST):
        if not asked:
            break
        answers = table.ask_together([_question(table, name) for name in asked])
        declared = [(name, answer) for name, answer in zip(asked, answers, strict=True) if answer != NO]
        asked = []
        for name, answer in declared:
            fits = (
                table.ask("fitting", GM, UNFIT, text=f"Refuse {name}'s countermeasure ({answer})?", optional=True) == NO
            )
            if not fits:
                asked.append(name)
                continue
            values = read_counter(table, name, answer)
            rest = Map({"ambience": ambience, **{key: values[key] for key in (*NUMBERS, "ammo") if key in values}})
            found.append(side_of(table, name, skill=values["skill"], attribute=values["attribute"], values=rest))
    return found


def _question(table: Table, name: str) -> Question:
    def reads(text: str) -> str:
        read_counter(table, name, text)
        return ",".join(part.strip() for part in text.split(","))

    text = "A countermeasure that could make it fail? With which skill and attribute?"
    return Question("counter", name, (), text=text, optional=True, form=FORM, reads=reads)


def read_counter(table: Table, name: str, text: str) -> dict[str, Any]:
    """Return what `skill=...,attribute=...` says of somebody's counteraction.

    Raises:
        UsageError: a part is unknown or missing.
    """
    values: dict[str, Any] = {}
    for part in text.split(","):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if key in values:
            raise UsageError(f"{key} is said twice")
        if value.isdecimal() and (len(value) > MOST_DIGITS or int(value) > MOST_NUMBER):
            raise UsageError(f"{key} is at most {MOST_NUMBER}")
        if key in ("skill", "attribute") and sign:
            values[key] = _rating(table.state.characters[name], value)
        elif key in NUMBERS and value.isdecimal():
            values[key] = int(value)
        elif key == "ammo" and value in table.rules.file.settings["armour-ignored"]:
            values[key] = value
        else:
            raise UsageError(f"a countermeasure is told as {FORM}, and {part!r} is no part of that")
    values.setdefault("attribute", values.get("skill"))
    is_npc = values.get("skill") is not None and values["skill"].name in table.rules.file.settings["npc-values"]
    if "skill" not in values or ("attribute=" not in text and not is_npc):
        raise UsageError(f"a countermeasure needs a skill and an attribute: {FORM}")
    return values


def _rating(character: Character, text: str) -> Rating:
    if text.isdecimal():
        return Rating(int(text))
    name = slug(text)
    if name not in character.abilities:
        known = ", ".join(character.abilities) or "none"
        raise UsageError(f"{character.name}'s sheet has no {text!r}; it has: {known}; a number will do too")
    return Rating(character.abilities[name], name)


def with_activated(table: Table, sides: Sequence[Side], *, first: str) -> list[Side]:
    """Return the sides with the effects they activate: those who confront together, then who acted first (S:87-88)."""
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
