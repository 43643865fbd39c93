"""The outcome of an action, and what a row of an outcome table adds to it by its rolls and questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from rpgres.engine.decisions import ask
from rpgres.engine.events import Decided
from rpgres.engine.players import NO, POLICY, Question
from rpgres.engine.running import Run
from rpgres.engine.seats import Completed
from rpgres.model.state import EMPTY, Map
from rpgres.rulesets import Effect, RowRoll
from rpgres.rulesets.settling import MOST_SETTLED, Settlement


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """How an action ended.

    Attributes:
        band: the name of the outcome.
        success: whether the band is a success; None for a tie and for outcomes that neither succeed nor fail.
        margin: total minus opposition; None for an unopposed action.
        total, opposition: the compared totals, if there were any.
        effects: what changes, in order.
        texts: descriptions of the outcome, one per line.
        roles: character names of the roles in effects (`actor`, `opponent`, ...).
        details: additional JSON data of the ruleset.
    """

    band: str
    success: bool | None = None
    margin: int | None = None
    total: int | None = None
    opposition: int | None = None
    effects: tuple[Effect, ...] = ()
    texts: tuple[str, ...] = ()
    roles: Mapping[str, str] = EMPTY
    details: Mapping[str, Any] = EMPTY

    def plus(self, effects: Iterable[Effect]) -> Outcome:
        """Return the outcome with further effects after its own."""
        return msgspec.structs.replace(self, effects=(*self.effects, *effects))


class Settling(msgspec.Struct, frozen=True, gc=False):
    """What a row is chosen by, and what its questions are about; see `Table.settle`."""

    table: str
    margin: int | None = None
    facts: Map[str, Any] = EMPTY
    roles: Mapping[str, str] = EMPTY
    about: Mapping[str, Any] = EMPTY
    words: str = ""
    of: str = ""


def complete_row(run: Run, row: Settlement, by: Settling) -> Settlement:
    """Return a row after its rolls and questions: with the effects, texts and links of the chosen options."""
    players, completed, facts, roles = run.players, run.players.policies.completed, by.facts, by.roles
    # One policy, which looks at nothing but the question, answers the same questions alike.
    is_kept = players.by_question and players.policies.is_common and type(by.about) is type(roles) is Map
    key = id(row), roles, by.about, by.words, by.of
    if is_kept and (known := completed.get(key)) is not None:
        run.repeat(known.events)
        return known.found
    before, first, work = row, len(run.events), run.work
    if row.rolls:
        facts = _with_results(run, row.rolls, facts, by=roles.get("actor", ""))
        row = run.rules.settling.settlement(by.table, by.margin, facts, band=row.band)
    if not row.asks:
        return row
    about = {"margin": by.margin, **by.about} if by.about else {"margin": by.margin}
    texts, effects, links = [*row.texts], row.effects, row.links
    asks = [(one, facts) for one in reversed(row.asks)]  # the next one last
    while asks:
        one, facts = asks.pop()
        who = roles.get(one.who, one.who)
        question = Question(one.label, who, one.options, one.text, one.optional, about, words=by.words, of=by.of)
        answer = ask(run, question)
        if answer == NO and one.optional:
            continue  # skipped
        choice = one.choices[answer]
        if choice.option is not None:
            facts = _with_results(run, choice.rolls, facts, by=roles.get("actor", ""))
            choice = run.rules.settling.choice(choice.option, about["margin"], facts)
        texts.append(choice.text)
        effects += choice.effects
        links += choice.links
        if choice.asks:
            asks += [(inner, facts) for inner in reversed(choice.asks)]
    found = msgspec.structs.replace(row, texts=tuple(texts), effects=effects, links=links)
    if is_kept and len(completed) < MOST_SETTLED:
        events = tuple(run.events[first:])
        is_all = run.work - work == len(events)  # and nothing was drawn by weights
        # Only decisions of the policy that everybody may know come out so once more.
        if is_all and all(type(one) is Decided and one.means == POLICY and one.audience is None for one in events):
            completed[key] = Completed(before, found, events)
    return found


def _with_results(run: Run, rolls: Iterable[RowRoll], facts: Map[str, Any], *, by: str) -> Map[str, Any]:
    """Return facts with the results of the rolls of a row, by label."""
    from rpgres.dice import dice

    results: dict[str, int] = {}
    for rolled in rolls:
        value = run.roll(dice(rolled.dice), rolled.label, by).throw.value
        counts = results[rolled.label] = rolled.formula.within(value)
        words = rolled.words
        if counts != value:
            words = f"{words or rolled.dice}, at {'least' if counts > value else 'most'} {counts}"
        run.explain(rolled.label, words, counts=counts)
    return Map({**facts, **results})


def with_defaults(effect: Effect, defaults: Mapping[str, Mapping[str, Any]]) -> Effect:
    """Return an effect with the default fields of its kind, where it has none of its own."""
    fields = defaults.get(effect["kind"])
    if not fields:
        return effect
    return Map({**effect, **{key: value for key, value in fields.items() if key not in effect}})
