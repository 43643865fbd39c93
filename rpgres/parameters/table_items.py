"""The kinds `counter`, `cards` and `tag`: what a line puts on the table before its action; no rule gets them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rpgres.errors import UsageError, as_data
from rpgres.model.state import GM, SCENE, Deck, Tag, pile_name, put, slug
from rpgres.parameters.context import ACTOR
from rpgres.parameters.kinds import Declared, Kind, Offers, Schema, Slot, Typed, default_faults
from rpgres.parameters.plain import INTEGER, integer_schema, name_metavar, whole_number
from rpgres.rulesets import Parameter, Rules
from rpgres.toml.diagnostics import Fault, KeyPath


def _read_counter(slot: Slot, value: Any) -> int:
    context, parameter = slot.context, slot.described
    counter, number = parameter.counter, whole_number(slot, value)
    if parameter.holder == ACTOR:
        counters = context.state.characters[context.actor].counters.with_(counter, number)
        context.state = put(context.state, ("characters", context.actor, "counters"), counters)
    else:
        context.state = put(context.state, ("counters",), context.state.counters.with_(counter, number))
    return number


def _counter_laid(_rules: Rules, parameter: Parameter, _value: Any, actor: str) -> list[str]:
    holder = f"characters.{actor}." if parameter.holder == ACTOR else ""
    return [f"{holder}counters.{parameter.counter}"]


def _counter_faults(at: KeyPath, described: Declared) -> Iterator[Fault]:
    yield from default_faults("a counter is a whole number", int)(at, described)
    if isinstance(described, Parameter) and not described.counter:
        yield Fault("incomplete", at, "a parameter of the kind 'counter' needs counter = NAME")


def _read_cards(slot: Slot, value: Any) -> None:
    """Note which cards a player says are in a pile; they are placed there when the action begins."""
    context, parameter = slot.context, slot.described
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise UsageError(f"{slot.option} takes cards separated by commas, not {as_data(value)}", reason="type")
    texts = tuple(text.strip() for one in value for text in one.split(",") if text.strip())
    most = parameter.at_most if parameter.at_most is not None else parameter.most
    if len(texts) > most:
        raise UsageError(f"{slot.option} takes at most {most} of the cards, not {len(texts):,}", reason="range")
    each = context.rules.file.piles[parameter.pile].each
    if each == "players" and context.state.seat_of(context.actor) == GM:
        raise UsageError(f"{slot.option}: {context.actor} is the game master's, who has no {parameter.pile}")
    context.placed.append((pile_of(context.rules, parameter, context.actor), texts, slot.option))


def pile_of(rules: Rules, parameter: Parameter, actor: str) -> str:
    """Return the pile in which the cards of a parameter lie."""
    return pile_name(parameter.pile, actor if rules.file.piles[parameter.pile].each else "")


def _card_offers(typed: Typed) -> Offers:
    """Return the cards that can lie in a pile: those of the deck they come from."""
    piles, laid = typed.rules.file.piles, typed.rules.laid
    source, seen = typed.parameter.pile, set[str]()
    while source in piles and source not in laid and source not in seen:
        seen.add(source)
        source = piles[source].dealt_from
    return offer_cards([laid[source]] if source in laid else laid.values(), typed.incomplete)


def offer_cards(decks: Iterable[Deck], incomplete: str) -> Offers:
    """Return the cards that may come next in a list of codes separated by commas, each as often as decks have it."""
    before, comma, _ = incomplete.rpartition(",")
    chosen = [code.strip().lower() for code in before.split(",")]
    offers = {}
    for deck in decks:
        for code, count in deck.counts.items():
            if count > chosen.count(code.lower()):
                offers[f"{before}{comma}{code}"] = deck.cards[code].title
    return list(offers.items())


def _read_tag(slot: Slot, value: Any) -> str:
    """Put `TEXT` or `TEXT=USES` on the scene, the uses held by the parameter's holder, and return the tag's slug."""
    context, parameter, text = slot.context, slot.described, str(value)
    name, separator, count = text.rpartition("=")
    if not separator:
        name, count = text, "0"
    if not slug(name):
        raise UsageError(f'{text!r} has no name; write for example "Rain-Slick Roofs=1"')
    if not count.isdecimal() or int(count) > 99:
        raise UsageError(f"{text!r}: after = a number of free uses from 0 to 99 is expected, not {count!r}")
    seat = context.state.seat_of(context.actor)  # what the actor does not know of is not met by its name
    tag = context.state.seen_by(seat).tag(name) or Tag(name.strip(), parameter.tag, SCENE)
    holder = context.actor if parameter.holder == ACTOR else parameter.holder
    state = context.state if tag.audience is not None else context.state.with_room(tag.name)
    context.state = state.with_tag(tag.with_uses(holder, int(count)))
    return tag.slug


def _tag_laid(_rules: Rules, _parameter: Parameter, value: Any, _actor: str) -> list[str]:
    """Return the tags of which uses are typed; a tag alone takes nothing from anybody."""
    texts = [str(text) for text in (value if isinstance(value, list | tuple) else [value])]
    if not any(text.rpartition("=")[2].strip("0 ") for text in texts if "=" in text):
        return []
    return [f"tags.{slug(text.rpartition('=')[0] or text)}" for text in texts]


def _tag_faults(at: KeyPath, described: Declared) -> Iterator[Fault]:
    if isinstance(described, Parameter) and not described.tag:
        yield Fault("incomplete", at, "a parameter of the kind 'tag' needs tag = KIND")


_CODES: Schema = {"type": "string"}

COUNTER = Kind(
    read=_read_counter, metavar=INTEGER.metavar, schema=integer_schema, laid=_counter_laid, faults=_counter_faults
)
CARDS = Kind(
    read=_read_cards,
    metavar=lambda *_: "CARD,CARD",
    schema=lambda _: {"anyOf": [_CODES, {"type": "array", "items": _CODES}]},
    offers=_card_offers,
    laid=lambda rules, parameter, _value, actor: [pile_of(rules, parameter, actor)],
)
TAG = Kind(
    read=_read_tag, metavar=name_metavar, schema=lambda _: {"type": "string"}, laid=_tag_laid, faults=_tag_faults
)
