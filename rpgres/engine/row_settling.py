"""What a row of an outcome table asks, rolls and leads to at a table; see `Table.settle`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine.players import NO, Question
from rpgres.model.state import GM, Map, blank_character
from rpgres.rulesets import Ask, Effect, RowRoll

if TYPE_CHECKING:
    from rpgres.engine.table import Outcome, Table


def led_on(table: Table, outcome: Outcome, links: Iterable[str]) -> Outcome:
    """Return an outcome with the rows of the random tables that it leads to."""
    from rpgres.engine.tables import follow

    name = outcome.roles.get("actor", GM)
    actor = table.state.characters.get(name) or blank_character(name)
    more = follow(table, links, actor)
    return msgspec.structs.replace(
        outcome,
        effects=(*outcome.effects, *more.effects),
        texts=(*outcome.texts, *more.texts),
        details=Map({**outcome.details, **more.details}),
    )


class Settling(msgspec.Struct, gc=False):
    """Asks the questions of a row; the fields are as for `Table.settle`."""

    table: Table
    about: Mapping[str, Any]
    roles: Mapping[str, str]
    words: str
    of: str

    def follow(
        self,
        asks: tuple[Ask, ...],
        effects: tuple[Effect, ...],
        texts: tuple[str, ...],
        links: tuple[str, ...],
        facts: Map[str, Any],
    ) -> tuple[tuple[Effect, ...], tuple[str, ...], tuple[str, ...]]:
        """Return effects, texts and links to random tables, with those of the chosen options added."""
        table, roles = self.table, self.roles
        for ask in asks:
            who = roles.get(ask.who, ask.who)
            asked = Question(
                ask.label, who, ask.options, ask.text, ask.optional, self.about, words=self.words, of=self.of
            )
            answer = table.run.ask(asked)
            if answer == NO and ask.optional:
                continue  # skipped
            choice, known = ask.choices[answer], facts
            if choice.option is not None:
                known = with_results(table, choice.rolls, facts, by=roles.get("actor", ""))
                choice = table.rules.settling.choice(choice.option, self.about["margin"], known)
            effects += choice.effects
            texts += (choice.text,)
            links += choice.links
            if choice.asks:
                effects, texts, links = self.follow(choice.asks, effects, texts, links, known)
        return effects, texts, links


def with_results(table: Table, rolls: Iterable[RowRoll], facts: Map[str, Any], *, by: str) -> Map[str, Any]:
    """Return facts with the results of the rolls of an outcome, by label."""
    from rpgres.dice import dice

    results: dict[str, int] = {}
    for rolled in rolls:
        value = table.roll(dice(rolled.dice), rolled.label, by=by)
        counts = results[rolled.label] = rolled.formula.within(value)
        words = rolled.words
        if counts != value:
            words = f"{words or rolled.dice}, at {'least' if counts > value else 'most'} {counts}"
        table.explain(rolled.label, words, counts=counts)
    return Map({**facts, **results})


def with_defaults(effect: Effect, defaults: Mapping[str, Mapping[str, Any]]) -> Effect:
    fields = defaults.get(effect["kind"])
    if not fields:
        return effect
    return Map({**effect, **{key: value for key, value in fields.items() if key not in effect}})
