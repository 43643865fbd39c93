"""`rpgres deck`: list decks of cards, show what is in one, draw from one. See `rpgres.catalog.decks`."""

from __future__ import annotations

from typing import Annotated

import typer

from rpgres.catalog.decks import describe_deck, draw_cards, find_deck, list_decks
from rpgres.cli.annotations import AsJson, Folders, OnlyOf, Seed, argument, option
from rpgres.cli.options import read_count, read_folders
from rpgres.cli.output import say_record
from rpgres.dice.seeds import Streams, read_seed
from rpgres.errors import RpgresError, UsageError, called
from rpgres.lines.options import read_answers
from rpgres.parameters.table_items import offer_cards
from rpgres.render.decks import deck_lines, deck_list_lines, draw_lines

app = typer.Typer(no_args_is_help=True)


def _complete_cards(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the cards of the deck that the line names."""
    # While an option at the end of the line has no value yet, arguments cannot be assigned.
    name = ctx.params.get("deck") or next(iter(ctx.args), "")
    try:
        found = find_deck(name, extra=read_folders(ctx.params.get("rulesets") or ()))
    except RpgresError:
        return []
    return offer_cards([found.deck], incomplete)


DeckName = Annotated[
    str,
    typer.Argument(
        metavar="DECK",
        help="The deck: RULESET/NAME, or a shared one.",
        autocompletion=lambda: [(deck.name, deck.title) for deck in list_decks().decks],
    ),
]


@app.command("list")
def list_all(
    ruleset: OnlyOf = None,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """List the decks of all rulesets, and those that rulesets share."""
    found = list_decks(ruleset, extra=read_folders(rulesets))
    say_record(found, lambda: deck_list_lines(found), as_json=as_json)


@app.command("show")
def show(
    deck: DeckName,
    codes: Annotated[bool, typer.Option("--codes", help="List every card by its code.")] = False,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Show what is in a deck: how many cards of which suit and value, their sums and means, what else is on them.

    \b
    rpgres deck show standard
    rpgres deck show saga/fate-96 --codes
    """
    found = describe_deck(find_deck(deck, extra=read_folders(rulesets)))
    say_record(found, lambda: deck_lines(found, codes=codes), as_json=as_json, is_prose=True)


@app.command("draw")
def draw(
    deck: DeckName,
    number: Annotated[str | None, argument("[N]", help="Number of cards [default: 1].")] = None,
    seed: Seed = None,
    without: Annotated[
        list[str] | None,
        option(
            "--without",
            takes="CODES",
            help="Remove these cards first: St6,Ag3; a code without its sign matches any card of that value.",
            autocompletion=_complete_cards,
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        option(
            "--given", takes="draw=CODES", help="Use a card drawn from a real deck: draw=St6; repeat for later cards."
        ),
    ] = None,
    as_json: AsJson = False,
    rulesets: Folders = None,
) -> None:
    """Draw cards from a freshly shuffled deck, and show them in the order in which they came.

    \b
    rpgres deck draw standard 5
    rpgres deck draw saga/fate-96 3 --without Do10,St9 --seed 7
    """
    if deck.isdecimal() and number is None:
        raise UsageError(
            f"name the deck before the number of cards: {called('deck draw', 'standard', deck)}", path=("deck",)
        )
    answers = read_answers(given or (), option="given")
    drawn = draw_cards(
        find_deck(deck, extra=read_folders(rulesets)),
        number=read_count(number, option="the number of cards", default=1),
        streams=Streams(read_seed(seed)),
        without=[code.strip() for text in without or () for code in text.split(",") if code.strip()],
        given=answers,
    )
    say_record(drawn, lambda: draw_lines(drawn), as_json=as_json)
