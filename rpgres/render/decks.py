"""Decks and draws from them as lines for people. See `rpgres.catalog.decks`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rpgres.catalog.decks import CardCount, Composition, DeckDescription, DeckDraw, DeckList, DrawnCard
from rpgres.errors import called, counted
from rpgres.render.lines import HANG, INDENT, Line, Piece, Shown, line, section
from rpgres.render.reports import Cell, Grid, Table
from rpgres.render.rulesets import condition_words
from rpgres.render.words import problem_count, title

NONE = "-"  # the sign for no card


def deck_list_lines(decks: DeckList) -> list[Line]:
    """Return the decks there are, a line each, then the rulesets whose decks are broken."""
    width = max((len(deck.name) for deck in decks.decks), default=0)
    counts = max((len(str(deck.size)) for deck in decks.decks), default=0)
    found = []
    for deck in decks.decks:
        message = ": ".join(part for part in (deck.title, deck.summary) if part)
        number = Piece(f"{deck.size:>{counts}}", "number")
        unit = "card " if deck.size == 1 else "cards"
        found.append(line(Piece(deck.name.ljust(width), "name"), INDENT, number, f" {unit}  ", HANG, message))
    if not found and not decks.problems:
        return [line(f"{decks.ruleset} has no decks")]
    for ruleset, problems in decks.problems.items():
        message = f": {problem_count(len(problems))}; run `{called('ruleset check', ruleset)}` for details"
        found.append(line(Piece(ruleset, "name"), " ", Piece("broken", "bad"), message))
    return found


def deck_lines(deck: DeckDescription, *, codes: bool = False) -> list[Shown]:
    """Return what is in a deck: how many cards of which suit and value, their sums and means, further attributes."""
    number = len(deck.cards)
    kinds = f", {number} kind{'s' if number != 1 else ''}" if number != deck.whole.size else ""
    found: list[Shown] = [line(Piece(deck.title, "title"), f" ({deck.name})")]
    found += [line(HANG, deck.summary)] if deck.summary else []
    found += [line(f"{counted(deck.whole.size, 'card')}{kinds}"), line()]
    found += _value_table(deck)
    for attribute in deck.whole.attributes:
        found += section(title(attribute), [_attribute_table(deck, attribute)])
    found += section("Codes", _code_lines(deck)) if codes else []
    piles = [line(INDENT, Piece(pile, "name"), condition_words(when, {})) for pile, when in deck.piles.items()]
    return [*found, *section(f"Piles of {deck.ruleset} that use it", piles)]


def draw_lines(draw: DeckDraw) -> list[Line]:
    """Return the cards that were drawn, in their order, with their sum."""
    width = max(len(card.code) for card in draw.cards)
    found = [line(Piece(card.code.ljust(width), "name"), f"  {_card(card)}") for card in draw.cards]
    if sum(card.value is not None for card in draw.cards) > 1:
        found.append(line(INDENT, "sum: ", Piece(str(draw.sum), "number")))
    if draw.without:
        found.append(line(INDENT, f"without {', '.join(draw.without)}"))
    found.append(line(INDENT, f"{draw.deck}: {counted(draw.left, 'card')} left"))
    found.append(line(INDENT, Piece(f"seed: {draw.seed}", "quiet")))
    return found


def _card(card: DrawnCard) -> str:
    message = ", ".join(card.attributes.values())
    return f"{card.title} ({message})" if message else card.title


# ---------------------------------------------------------------------------------------------------------------------
# Tables


ALL = "all"  # the row that sums up the others


def _rows(deck: DeckDescription) -> list[tuple[str, Composition]]:
    """Return what has a row of its own: the suits, the cards without one, and all together."""
    rows = [(its.title, its) for its in deck.suits.values()]
    rows += [(f"{its.title} ({code})", its) for code, its in deck.loners.items()]
    return [*rows, (ALL, deck.whole)] if len(rows) != 1 else rows


def _value_table(deck: DeckDescription) -> Iterator[Shown]:
    """Yield how many cards there are of each suit and value, with the number, sum and mean of each suit."""
    words = {number: word for word, number in deck.names.items()}
    values = list(deck.whole.values)
    rows = []
    for name, its in _rows(deck):
        mean = f"{its.mean:.2f}" if its.mean is not None else NONE
        counts = [str(its.values.get(value, NONE)) for value in values]
        rows.append((name, [*counts, str(its.size), str(its.sum) if its.valued else NONE, mean]))
    yield _table([*(words.get(value, str(value)) for value in values), "cards", "sum", "mean"], rows)
    spoken = [f"{word} {number}" for word, number in deck.names.items() if number in deck.whole.values]
    if spoken:
        yield line(INDENT, Piece(f"{', '.join(spoken)}", "quiet"))


def _attribute_table(deck: DeckDescription, attribute: str) -> Grid:
    signs = {meaning: sign for sign, meaning in deck.signs.get(attribute, {}).items()}
    there = deck.whole.attributes[attribute]
    meanings = [*(meaning for meaning in signs if meaning in there), *(name for name in there if name not in signs)]
    heads = [f"{meaning} ({signs[meaning]})" if meaning in signs else meaning for meaning in meanings]
    rows = []
    for name, its in _rows(deck):
        counts = its.attributes.get(attribute, {})
        rows.append((name, [str(counts.get(meaning, NONE)) for meaning in meanings]))
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> Grid:
    """Return a table with names on the left; the last row sums up the others."""
    cells = [
        [Cell(name, "title" if name == ALL else "name"), *(Cell(text, "quiet" if text == NONE else "") for text in row)]
        for name, row in rows
    ]
    apart = [head if len(head) < 3 else f" {head}" for head in heads]  # words stand farther apart than numbers
    return Grid(Table(columns=["", *apart], rows=cells, gap=1, least=2))


def _code_lines(deck: DeckDescription) -> Iterator[Line]:
    """Yield the codes of all kinds of cards, suit by suit, with how many there are where it is not one."""
    by_suit: dict[str, list[CardCount]] = {}
    for card in deck.cards:
        by_suit.setdefault(card.suit, []).append(card)
    names = {suit: deck.suits[suit].title if suit else "no suit" for suit in by_suit}
    lead = max(map(len, names.values()), default=0)
    for suit, cards in by_suit.items():
        ordered = sorted(cards, key=lambda card: (card.value is None, card.value or 0, card.code))
        words = [card.code if card.count == 1 else f"{card.code}\u00a0({card.count})" for card in ordered]
        yield line(INDENT, Piece(names[suit].ljust(lead), "name"), INDENT, HANG, ", ".join(words))
