"""What is wrong with a ruleset's decks and piles, and with the cards that actions take. Rows are judged elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from rpgres.errors import FileError
from rpgres.lint.bands import newest
from rpgres.lint.outcomes import condition_problems, missing
from rpgres.model.cards import Deck
from rpgres.rulesets.provenance import Path, problem_at, problems_in
from rpgres.rulesets.rows import Condition
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.schema import PileText
from rpgres.toml.reading import Problem


def laying_problems(rules: Rules) -> Iterator[Problem]:
    """Yield what is wrong with decks, piles and parameters of the kind `cards`, with file, line and key path."""
    decks: dict[str, Deck] = {}
    for name in rules.deck_names():
        try:
            decks[name] = rules.deck(name)
        except FileError as error:
            yield from problems_in(error)
    for name, pile in rules.file.piles.items():
        yield from _pile(rules, name, pile)
    yield from _parameters(rules)
    yield from _clashes(rules, decks)


def switch_problems(rules: Rules, path: Path, condition: Condition) -> Iterator[Problem]:
    """Yield what is wrong with a condition that can speak of switches alone, since it holds outside of any action.

    Args:
        rules: the ruleset.
        path: where the condition stands.
        condition: what it says.
    """
    strange = [key for key in condition if key not in rules.file.switches]
    for key in strange:
        yield missing(rules.texts(), (*path, key), "switch", key, rules.file.switches)
    if not strange:
        yield from condition_problems(rules, rules.texts(), path, condition, ())


# ---------------------------------------------------------------------------------------------------------------------
# Piles


def _pile(rules: Rules, name: str, pile: PileText) -> Iterator[Problem]:
    at, texts, known = ("piles", name), rules.texts(), rules.deck_names()
    always = ""  # the deck that lies here whatever the switches say
    for deck, condition in pile.decks.items():
        if deck not in known:
            yield missing(texts, (*at, "decks", deck), "deck", deck, known)
        elif always:
            told = f"this deck never lies here: {always}, which is first, lies here whatever the switches say"
            yield problem_at(texts, (*at, "decks", deck), told)
        elif not condition:
            always = deck
        yield from switch_problems(rules, (*at, "decks", deck), condition)
    for key, switches in (("refill-when", pile.refill_when), ("hidden-when", pile.hidden_when)):
        yield from switch_problems(rules, (*at, key), switches)
    if pile.refill_when and not pile.refill:
        yield problem_at(texts, (*at, "refill-when"), "it does not say from which pile (refill = ...)")
    for key, other in (("refill", pile.refill), ("dealt-from", pile.dealt_from)):
        if other:
            yield from _other_pile(rules, (*at, key), name, other)
    if pile.given_to:
        yield from _given_to(rules, (*at, "given-to"), name, pile.given_to)


def _other_pile(rules: Rules, path: Path, name: str, other: str) -> Iterator[Problem]:
    """Yield what keeps cards from coming to a pile from another one."""
    piles, texts = rules.file.piles, rules.texts()
    if other not in piles:
        yield missing(texts, path, "pile", other, [one for one in piles if one != name])
    elif other == name:
        yield problem_at(texts, path, "no cards come to a pile from itself")
    elif piles[other].each and not piles[name].each:
        told = f"every character has a pile {other!r} of its own, and this one is nobody's"
        yield problem_at(texts, path, told)


def _given_to(rules: Rules, path: Path, name: str, other: str) -> Iterator[Problem]:
    """Yield what keeps the cards of a pile's decks from being given to another one."""
    piles, texts = rules.file.piles, rules.texts()
    if other not in piles:
        yield missing(texts, path, "pile", other, [one for one in piles if one != name])
    elif other == name:
        yield problem_at(texts, path, "a pile's cards are not given to itself")
    elif piles[other].each:
        yield problem_at(texts, path, f"every character has a pile {other!r} of its own, so it is not known to which")


def _parameters(rules: Rules) -> Iterator[Problem]:
    piles, texts = rules.file.piles, rules.texts()
    for key, parameter in rules.file.parameters.items():
        at = ("parameters", key)
        if parameter.kind != "cards":
            continue
        if not parameter.pile:
            yield problem_at(texts, at, "of the kind 'cards', it has to say in which pile = ... they lie")
        elif parameter.pile not in piles:
            yield missing(texts, (*at, "pile"), "pile", parameter.pile, piles)
        elif not piles[parameter.pile].dealt_from:
            told = f"the pile {parameter.pile} does not say where its cards come from (dealt-from = ...)"
            yield problem_at(texts, (*at, "pile"), told)


# ---------------------------------------------------------------------------------------------------------------------
# Decks on one table


def _clashes(rules: Rules, decks: Mapping[str, Deck]) -> Iterator[Problem]:
    """Yield the pairs of decks that can lie on one table and have different cards of the same code."""
    laid = [
        (pile, deck, condition)
        for pile, text in rules.file.piles.items()
        for deck, condition in text.decks.items()
        if deck in decks
    ]
    told: set[frozenset[str]] = set()
    for (pile, one, its), (other_pile, other, others) in combinations(laid, 2):
        pair = frozenset((one, other))
        if pile == other_pile or pair in told or not _may_both_hold(rules, its, others):
            continue
        codes = list(_different(decks[one], decks[other]))
        if codes:
            told.add(pair)
            path = newest(rules, [("piles", pile, "decks", one), ("piles", other_pile, "decks", other)])
            own = other if path[1] == other_pile else one
            than = one if own == other else other
            shown = ", ".join(codes[:3]) + (f" and {len(codes) - 3} more" if len(codes) > 3 else "")
            message = f"{shown} of {own} and of {than} are not the same card, and both decks can lie on one table"
            yield problem_at(rules.texts(), path, message)


def _different(one: Deck, other: Deck) -> Iterator[str]:
    theirs = {code.lower(): card for code, card in other.cards.items()}
    for code, card in one.cards.items():
        if theirs.get(code.lower(), card) != card:
            yield code


def _may_both_hold(rules: Rules, one: Condition, other: Condition) -> bool:
    """Tell whether some choice of switches fulfils both conditions."""
    return all(_wanted(one[key]) & _wanted(other[key]) for key in one.keys() & other.keys())


def _wanted(value: object) -> set[object]:
    return set(value) if isinstance(value, Iterable) and not isinstance(value, str) else {value}
