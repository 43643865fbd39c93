"""What is usually typed for a parameter at a table: in examples, in questions, and where a line is completed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rpgres.lines.fitting import PREPOSITIONS, Taker, Words, usual_opposition
from rpgres.lines.words import joined
from rpgres.model.cards import shown_codes
from rpgres.model.state import FACE_DOWN, GM, State, pile_name
from rpgres.parameters.context import ACTOR
from rpgres.rulesets import Rules

NUMBER = "2"  # where no ladder has names for numbers


def usual_values(words: Words, taker: Taker, begun: str = "") -> Iterator[tuple[str, str]]:
    """Yield what is usually typed for a parameter, best first, each with what it means.

    Args:
        words: what the action knows, as far as the seat that types may.
        begun: what is typed of it already.
    """
    parameter, state = taker.parameter, words.scope.state
    character = state.characters.get(words.scope.actor)
    match parameter.kind if parameter is not None else "":
        case "ability":
            yield from _abilities(words, taker.name)
        case "opposition" if parameter is not None:
            yield from _oppositions(words, begun, is_rated=bool(parameter.rolls) and not words.described.opposed_with)
        case "character" | "form":
            yield from _others(words)
        case "choice" if parameter is not None:
            yield from parameter.choices.items()
        case "text" | "tag" if parameter is not None:
            records: Mapping[str, Any] = character.records.get(f"{taker.name}s", {}) if character is not None else {}
            yield from ((key, str(record.get("text", ""))) for key, record in records.items())
            if parameter.kind == "tag" or parameter.metavar == "ASPECT":
                yield from ((tag.name, tag.kind) for tag in state.tags)
        case "cards" if parameter is not None:
            yield from ((card, "") for card in cards_seen(words, [parameter.pile]))


def cards_seen(words: Words, piles: Iterable[str]) -> list[str]:
    """Return the cards in piles, of each player's the actor's, as far as the seat sees them."""
    texts, lie = words.scope.rules.file.piles, words.scope.state.piles
    places = [pile_name(name, words.scope.actor) if texts[name].each else name for name in piles if name in texts]
    return shown_codes([card for place in places if place in lie for card in lie[place].cards if card != FACE_DOWN])


def _abilities(words: Words, name: str) -> Iterator[tuple[str, str]]:
    """Yield the abilities of the actor, or else of the ruleset; those that oppose the action first."""
    actor, rules = words.scope.state.characters.get(words.scope.actor), words.scope.rules
    own: Mapping[str, int] = actor.abilities if actor is not None else {}
    usual = usual_opposition(rules, words.action, {})  # what opposes it is most often what it is done with, too
    rated = sorted(own, key=lambda ability: (ability in usual, own[ability], ability), reverse=True)
    for ability in rated or rules.file.abilities:
        if words.is_ability(name, ability):
            yield ability, f"{own.get(ability, 0):+d}"


def _oppositions(words: Words, begun: str, *, is_rated: bool) -> Iterator[tuple[str, str]]:
    """Yield who opposes the action, where a name alone says with what, and numbers; behind `NAME:` abilities.

    Args:
        is_rated: whether it is the ability of somebody, and a name alone does not say which.
    """
    name, colon, _ = begun.rpartition(":")
    foe = words.scope.state.characters.get(name) if colon else None
    if foe is not None:
        yield from ((f"{name}:{ability}", f"{rating:+d}") for ability, rating in foe.abilities.items())
        return
    if is_rated:
        people = words.scope.state.characters
        for other, _ in _others(words):
            yield from ((f"{other}:{ability}", f"{rating:+d}") for ability, rating in people[other].abilities.items())
    ladder = [(rung, f"{value:+d}") for rung, value in words.scope.rules.file.ladder.items()] or [(NUMBER, "")]
    rungs, others = [*ladder[len(ladder) // 2 :], *ladder[: len(ladder) // 2]], [*_others(words)]
    yield from (*others, *rungs) if words.described.opposed_with else (*rungs, *others)


def _others(words: Words) -> Iterator[tuple[str, str]]:
    """Yield everybody but the actor, the game master's characters first."""
    state = words.scope.state
    others = [one for name, one in state.characters.items() if name not in (words.scope.actor, ACTOR)]
    yield from ((one.name, one.title) for one in sorted(others, key=lambda one: state.seat_of(one.name) != GM))


def example_line(words: Words) -> str:
    """Return a short line of an action with what it cannot do without, as the table of its words may have it."""
    parts = [*([words.scope.actor] if words.scope.actor else []), words.action]
    for name in words.described.required:
        value = next((value for value, _ in usual_values(words, words.takers[name])), name.upper())
        parts += [name, value] if name in PREPOSITIONS else [value]
    return joined(parts)


def value_example(rules: Rules, state: State, names: Iterable[str]) -> str:
    """Return how a value of a table is set: of the first of some characters, or of the table.

    A counter that actions set comes first, then other counters and abilities.
    """
    counted = {one.counter for one in rules.file.parameters.values() if one.kind == "counter"}
    for who in (state.characters[name] for name in names if name in state.characters):
        numbers = {**{name: who.counters[name] for name in who.counters if name in counted}, **who.counters}
        for name, number in {**numbers, **who.abilities}.items():
            return f"{who.name}.{name}={number}"
    return next((f"counters.{name}={number}" for name, number in state.counters.items()), "PATH=VALUE")
