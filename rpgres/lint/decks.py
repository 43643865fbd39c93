"""Diagnostics of a ruleset's decks and piles, and of the cards that actions take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from rpgres.errors import FileError
from rpgres.lint.bands import newest
from rpgres.lint.conditions import switch_faults
from rpgres.lint.formulas import missing
from rpgres.model.state import Deck
from rpgres.rulesets.rows import Condition
from rpgres.rulesets.rules import Rules
from rpgres.rulesets.schema import PileText
from rpgres.toml.diagnostics import Diagnostic, Fault, diagnostics_in


def deck_diagnostics(rules: Rules) -> Iterator[Diagnostic]:
    """Yield what keeps decks from being read."""
    for deck in _decks(rules).values():
        if isinstance(deck, FileError):
            yield from diagnostics_in(deck)


def pile_faults(rules: Rules) -> Iterator[Fault]:
    """Yield what is wrong with piles, with parameters of the kind `cards`, and with decks that lie on one table."""
    for name, pile in rules.file.piles.items():
        yield from _pile(rules, name, pile)
    yield from _parameters(rules)
    yield from _clashes(rules, {name: deck for name, deck in _decks(rules).items() if isinstance(deck, Deck)})


def _decks(rules: Rules) -> dict[str, Deck | FileError]:
    """Return every deck by its name, or why it cannot be read."""
    found: dict[str, Deck | FileError] = {}
    for name in rules.layers.deck_names():
        try:
            found[name] = rules.layers.deck(name)
        except FileError as error:
            found[name] = error
    return found


# ---------------------------------------------------------------------------------------------------------------------
# Piles


def _pile(rules: Rules, name: str, pile: PileText) -> Iterator[Fault]:
    at, known = ("piles", name), rules.layers.deck_names()
    always = ""  # the deck that lies here whatever the switches say
    for deck, condition in pile.decks.items():
        if deck not in known:
            if all(table.cards != deck for table in rules.file.tables.values()):  # of which the table is told
                yield missing((*at, "decks", deck), "deck", deck, known)
        elif always:
            message = f"this deck is never used: {always}, which comes first, is used with any switches"
            yield Fault("never-matches", (*at, "decks", deck), message)
        elif not condition:
            always = deck
        yield from switch_faults(rules, (*at, "decks", deck), condition)
    for key, switches in (("refill-when", pile.refill_when), ("hidden-when", pile.hidden_when)):
        yield from switch_faults(rules, (*at, key), switches)
    if pile.refill_when and not pile.refill:
        yield Fault("incomplete", (*at, "refill-when"), "the pile to refill from is missing (refill = ...)")
    yield from _dealt(rules, name, pile)
    for key, other in (("refill", pile.refill), ("dealt-from", pile.dealt_from), ("given-to", pile.given_to)):
        if other:
            yield from _other_pile(rules, name, key, other)


def _dealt(rules: Rules, name: str, pile: PileText) -> Iterator[Fault]:
    """Yield what keeps a hand from being dealt when its owner sits down."""
    counters = list(rules.file.fields_of("counter"))
    for number, counter in enumerate(pile.dealt):
        if counter not in counters:
            yield missing(("piles", name, "dealt", number), "counter", counter, counters)
    if pile.dealt and not (pile.each and pile.dealt_from):
        message = "only a pile that every character has (each = ...) is dealt, from another one (dealt-from = ...)"
        yield Fault("incomplete", ("piles", name, "dealt"), message)


def _other_pile(rules: Rules, name: str, key: str, other: str) -> Iterator[Fault]:
    """Yield what keeps cards from coming to a pile from another one, or from being given to that."""
    piles, path, is_given = rules.file.piles, ("piles", name, key), key == "given-to"
    if other not in piles:
        yield missing(path, "pile", other, [one for one in piles if one != name])
    elif other == name:
        message = "a pile cannot be given to itself" if is_given else "a pile cannot be refilled from itself"
        yield Fault("endless", path, message)
    elif piles[other].each and (is_given or not piles[name].each):
        then = "so the target is ambiguous" if is_given else "and this one has no owner"
        yield Fault("inconsistent", path, f"every character has a pile {other!r} of its own, {then}")


def _parameters(rules: Rules) -> Iterator[Fault]:
    piles = rules.file.piles
    for key, parameter in rules.file.parameters.items():
        at, pile = ("parameters", key), parameter.pile
        if parameter.kind != "cards":
            continue
        if not pile:
            yield Fault("incomplete", at, "a parameter of the kind 'cards' needs pile = NAME")
        elif pile not in piles:
            yield missing((*at, "pile"), "pile", pile, piles)
        elif not piles[pile].dealt_from:
            message = f"the pile {pile} does not declare its source of cards (dealt-from = ...)"
            yield Fault("incomplete", (*at, "pile"), message)


# ---------------------------------------------------------------------------------------------------------------------
# Decks on one table


def _clashes(rules: Rules, decks: Mapping[str, Deck]) -> Iterator[Fault]:
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
        if pile == other_pile or pair in told or not _may_both_hold(its, others):
            continue
        theirs = {code.lower(): card for code, card in decks[other].cards.items()}
        codes = [code for code, card in decks[one].cards.items() if theirs.get(code.lower(), card) != card]
        if codes:
            told.add(pair)
            path = newest(rules, [("piles", pile, "decks", one), ("piles", other_pile, "decks", other)])
            own = other if path[1] == other_pile else one
            than = one if own == other else other
            shown = ", ".join(codes[:3]) + (f" and {len(codes) - 3} more" if len(codes) > 3 else "")
            message = f"{shown} of {own} and of {than} are different cards, and both decks can be on one table"
            yield Fault("card-clash", path, message)


def _may_both_hold(one: Condition, other: Condition) -> bool:
    """Tell whether some choice of switches fulfils both conditions."""
    return all(_wanted(one[key]) & _wanted(other[key]) for key in one.keys() & other.keys())


def _wanted(value: object) -> set[object]:
    return set(value) if isinstance(value, Iterable) and not isinstance(value, str) else {value}
