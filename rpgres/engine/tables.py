"""Random tables as they are rolled on: by a die or a card, with links; in odds the next row is one question.

What `[tables.NAME]` may say is in `rpgres.rulesets.tables`; what follows from it in `rpgres.rulesets.table_plans`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import lcm
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.engine.named_dice.inputs import Given
from rpgres.engine.outcomes import Outcome, Settling, complete_row
from rpgres.engine.running import TO_THE_END, Run
from rpgres.engine.stops import Settled
from rpgres.errors import RuleError, UsageError
from rpgres.model.state import EMPTY, GM, Card, Character, Map, blank_character
from rpgres.parameters.context import ACTOR, OPPONENT
from rpgres.rulesets import OUTCOME_ONLY, Effect
from rpgres.rulesets.table_plans import JOINT, NO_END, RowPlan, TablePlan, aside_of, closure, joint_name, led_to
from rpgres.rulesets.tables import USED, fits, is_within

if TYPE_CHECKING:
    from fractions import Fraction

    from rpgres.engine.table import Table

Out = frozenset[tuple[str, str]]  # rows that do not count now: the table, and the row's key
Stop = tuple[str, int, int | None]  # a row that came: the table, its place, the place of what is beside it
NONE: Out = frozenset()


class Found(msgspec.Struct, frozen=True):
    """A row that came up: of which table, what the die or the card showed if it is known, and what is beside it."""

    table: str
    row: RowPlan
    shown: int | str | None = None
    also: RowPlan | None = None


def roll_on(name: str, table: Table, actor: Character, /, **arguments: Any) -> Outcome:
    """Return the outcome of a roll on a random table.

    Raises:
        UsageError: what was typed makes no dice.
        RuleError: the die shows what no row has.
    """
    walk = Walk(table.run, actor, arguments)
    found = walk.results(name)
    band, is_one = JOINT.join(one.row.name for one in found), len(found) == 1
    of = found[0].table if is_one else name
    outcome = _settled(table.run, of, band, actor)  # odds of outcomes end here
    return msgspec.structs.replace(outcome, **_together(walk, found, known=outcome if is_one else None))


def led_on(run: Run, outcome: Outcome, links: Iterable[str]) -> Outcome:
    """Return an outcome with the rows of the random tables that it leads to, together.

    Args:
        outcome: the outcome so far; its actor rolls.
    """
    name = outcome.roles.get("actor", GM)
    walk = Walk(run, run.state.characters.get(name) or blank_character(name), EMPTY)
    more = _together(walk, [one for link in links for one in walk.results(link)])
    return msgspec.structs.replace(
        outcome,
        effects=(*outcome.effects, *more["effects"]),
        texts=(*outcome.texts, *more["texts"]),
        details=Map({**outcome.details, **more["details"]}),
    )


def _settled(run: Run, table: str, band: str, actor: Character) -> Outcome:
    """Return the outcome of a row of a table, without the tables that it leads to."""
    row = run.rules.settling.settlement(table, None, band=band)
    if run.asked not in TO_THE_END:
        raise Settled(row.outcome, None)
    roles = Map({ACTOR: actor.name, OPPONENT: OPPONENT, GM: GM})
    row = complete_row(run, row, Settling(table, roles=roles))
    return Outcome(row.outcome, row.success, effects=row.effects, texts=row.texts, roles=roles)


def _together(walk: Walk, found: Sequence[Found], *, known: Outcome | None = None) -> dict[str, Any]:
    """Return effects, texts and details of rows, with what they lead to; `known` is what the only row comes to."""
    effects: list[Effect] = []
    texts: list[str] = []
    rows: list[Map[str, Any]] = []
    for one in found:
        part = known or _settled(walk.run, one.table, one.row.name, walk.actor)
        effects += part.effects
        texts += part.texts
        shown = {"rolled": one.shown} if one.shown is not None else {}
        rows.append(Map({"table": one.table, "row": one.row.name, "text": " ".join(part.texts), **shown}))
        if one.row.row.once:
            effects.append(Map({"kind": USED, "table": one.table, "row": one.row.name}))
        if one.row.links and not one.row.is_whole:
            more = _together(walk, walk.onward(one))
            effects += more["effects"]
            texts += more["texts"]
            rows += more["details"]["rows"]
    return {"effects": tuple(effects), "texts": tuple(texts), "details": Map({"rows": tuple(rows)})}


class Walk:
    """One roll on a table with all that it leads to.

    Args:
        run: where it is rolled.
        actor: who rolls.
        arguments: the inputs of the action, by parameter with underscores.
    """

    def __init__(self, run: Run, actor: Character, arguments: Mapping[str, Any]) -> None:
        self.run, self.actor, self.arguments = run, actor, arguments
        self.rules = run.rules
        self.plans: Mapping[str, TablePlan] = run.rules.plans
        self.came: list[tuple[str, str]] = []  # rows that come once, and came during this roll
        self.ahead: tuple[str, ...] = ()  # tables that are rolled on after this one

    def results(self, name: str, out: Out = NONE) -> list[Found]:
        """Return the rows that a roll on a table comes to, without those that stand for others.

        Args:
            out: rows that do not count.
        """
        found = self._next(name, out)
        row = found.row
        if row.row.once:
            self.came.append((found.table, row.name))
        results = [found] if row.name else []
        beside = Found(found.table, found.also) if found.also is not None else None
        after = beside.row.links if beside is not None and beside.row.is_whole else ()
        if row.is_whole or row.passes_to:
            results += self.onward(found, after)
        if beside is not None:
            results += [beside, *(self.onward(beside) if after else [])]
        return results

    def onward(self, found: Found, after: tuple[str, ...] = ()) -> list[Found]:
        """Return the rows that the links of a row come to; where it rolls again, in the order of their names.

        Args:
            after: tables that are rolled on when these are done.
        """
        row, again = found.row, found.row.row.again
        itself = frozenset((found.table, key) for key in self.plans[found.table].again)
        came, ahead = NONE, self.ahead
        parts = list[list[Found]]()
        for number, link in enumerate(row.links):
            self.ahead = (*row.links[number + 1 :], *after, *ahead)
            parts.append(self.results(link, itself | came if number < again else came))
            if row.row.distinct:
                came |= {(one.table, str(one.row.key)) for one in parts[-1]}
        self.ahead = ahead
        rolled = sorted(parts[:again], key=lambda part: joint_name([tuple(one.row.name for one in part)]))
        return [one for part in (*rolled, *parts[again:]) for one in part]

    def _next(self, name: str, out: Out) -> Found:
        """Return the next row that stands for itself, or for what several links come to."""
        while True:
            plan = self.plans[name]
            found = self._drawn(plan, out) if plan.pile else self._rolled(plan, out)
            if not found.row.passes_to or found.also is not None:
                return found
            name = found.row.passes_to

    # -- dice

    def _rolled(self, plan: TablePlan, out: Out) -> Found:
        run = self.run
        if run.dealer.joint:
            stops, weights = self._chances(plan.name, out)
            of, place, beside = stops[run.pick(weights, plan.name)]
            plan = self.plans[of]
            return Found(of, plan.rows[place], also=plan.also[beside] if beside is not None else None)
        if not plan.is_rolled:
            return Found(plan.name, plan.rows[0])
        free = {place for place, _ in self._open(plan, out)}
        dice = self._given(plan).dice(plan.die)
        while True:
            rolled = run.roll(dice, plan.name, self.actor.name)
            row, also = self._at(plan, rolled.value)
            if row.number in free:
                return Found(plan.name, row, rolled.value, also)
            self.run.tell(f"{plan.name} {rolled.value}: {_why(row)}, again")

    def _given(self, plan: TablePlan) -> Given:
        parameters = self.rules.parameters(plan.name)
        arguments = {key: parameter.default for key, parameter in parameters.items() if parameter.default is not None}
        taken = {key.replace("_", "-"): value for key, value in self.arguments.items()}
        arguments |= {key: value for key, value in taken.items() if key in parameters}
        return Given(self.rules, plan.name, self.actor, arguments, self.run.state)

    def _at(self, plan: TablePlan, value: int) -> tuple[RowPlan, RowPlan | None]:
        """Return the row for what the die shows, and what comes beside it."""
        row = next((row for row in plan.rows if is_within(value, row.spans)), None)
        if row is None:
            raise RuleError(f"the table {plan.name} of {self.rules.id} has no row for {value}")
        return row, next((one for one in plan.also if is_within(value, one.spans)), None)

    def _open(self, plan: TablePlan, out: Out) -> dict[tuple[int, int | None], int]:
        """Return the rows that may come, with what is beside them, by place, with weights."""
        law = self._given(plan).dice(plan.die).law
        weights: dict[tuple[int, int | None], int] = {}
        for value, weight in zip(law.values, law.weights, strict=True):
            row, also = self._at(plan, value)
            place = row.number, also.number if also is not None else None
            weights[place] = weights.get(place, 0) + weight
        if law.open:
            tail = plan.beyond(law)
            if tail is None:
                raise RuleError(f"the table {plan.name} of {self.rules.id}: {plan.die} {NO_END}")
            weights[tail] = weights.get(tail, 0) + law.open
        free = self._free(plan, {place for place, _ in weights}, out)
        return {place: weight for place, weight in weights.items() if place[0] in free}

    def _free(self, plan: TablePlan, places: Iterable[int], out: Out) -> set[int]:
        """Return which rows may come, of those that the die or the pile can show; rows count again when all are out."""
        shown = [plan.rows[place] for place in places]
        left = [row for row in shown if self._is_left(row, plan, out)]
        left = left or [row for row in shown if not row.row.again] or shown
        return {row.number for row in left if not self._came(row, plan)} or {row.number for row in left}

    def _is_left(self, row: RowPlan, plan: TablePlan, out: Out) -> bool:
        """Tell whether a row is not out; one that stands for other rows is out with all of them."""
        if row.passes_to:
            others = [(one, other) for one in closure(row.passes_to, self.plans) for other in self.plans[one].rows]
            return any(not other.passes_to and (one, str(other.key)) not in out for one, other in others)
        return (plan.name, str(row.key)) not in out

    def _came(self, row: RowPlan, plan: TablePlan) -> bool:
        """Tell whether a row comes once, and came already."""
        if not row.row.once:
            return False
        return row.name in self.run.state.things.get(plan.name, ()) or (plan.name, row.name) in self.came

    def _chances(self, name: str, out: Out) -> tuple[list[Stop], list[int]]:
        """Return the rows that may come next, with whole weights; kept where nothing that is typed changes them."""
        used = [(one, self.run.state.things.get(one, ())) for one in closure(name, self.plans)]
        key = name, out, tuple(used), tuple(self.came)
        kept: dict[Any, tuple[list[Stop], list[int]]] = self.rules.compiled.setdefault("tables", {})
        if key not in kept or any("{" in self.plans[one].die for one, _ in used):
            law = self._law(name, out)
            scale = lcm(*(mass.denominator for mass in law.values()))
            kept[key] = list(law), [int(mass * scale) for mass in law.values()]
        return kept[key]

    def _law(self, name: str, out: Out) -> dict[Stop, Fraction]:
        """Return the chance of each row that may come next, with what is beside it: rows that lead on are followed.

        Tables that lead to each other and back are a chain of steps; one table after another is taken out of it.
        """
        from fractions import Fraction

        stops: dict[str, dict[Stop, Fraction]] = {}
        passes: dict[str, dict[str, Fraction]] = {}
        for table in closure(name, self.plans):
            plan = self.plans[table]
            its_stops, its_passes = stops.setdefault(table, {}), passes.setdefault(table, {})
            open_ = self._open(plan, out) if not plan.pile else {}
            total = sum(open_.values())
            for (place, beside), weight in open_.items():
                row, mass = plan.rows[place], Fraction(weight, total)
                if row.passes_to and beside is None and not self.plans[row.passes_to].pile:
                    its_passes[row.passes_to] = its_passes.get(row.passes_to, Fraction(0)) + mass
                else:
                    its_stops[table, place, beside] = mass
        for via in [*(table for table in stops if table != name), name]:
            back = passes[via].pop(via, Fraction(0))
            if back == 1:
                raise RuleError(f"the tables of {self.rules.id} lead from {via} back to it without end")
            stops[via] = {place: mass / (1 - back) for place, mass in stops[via].items()}
            passes[via] = {to: mass / (1 - back) for to, mass in passes[via].items()}
            for table in stops:
                mass = passes[table].pop(via, Fraction(0)) if table != via else Fraction(0)
                for stop, part in stops[via].items() if mass else ():
                    stops[table][stop] = stops[table].get(stop, Fraction(0)) + mass * part
                for to, part in passes[via].items() if mass else ():
                    passes[table][to] = passes[table].get(to, Fraction(0)) + mass * part
        return stops[name]

    # -- cards

    def _drawn(self, plan: TablePlan, out: Out) -> Found:
        from rpgres.engine.cards import draw

        aside = aside_of(plan.pile, self.rules.file.piles)

        fitting: dict[tuple[str, str], RowPlan | None] = self.rules.compiled.setdefault("rows of cards", {})

        def row_of(card: Card, plan: TablePlan = plan) -> RowPlan | None:
            key = plan.name, card.code
            if key not in fitting:
                fitting[key] = next((row for row in plan.rows if fits(card, str(row.key), self.rules.cards)), None)
            return fitting[key]

        # The card stays away from the pile, so what it would be for tables that may yet draw from there matters, too.
        drawing = [one for one in led_to((plan.name, *self.ahead), self.plans) if one.pile == plan.pile]
        piles = self.run.state.piles
        cards = piles[plan.pile].cards + (piles[aside].cards if self.rules.may_refill(plan.pile) else ())
        rows = [row_of(self.rules.cards.card(card)) for card in cards]
        free = self._free(plan, {row.number for row in rows if row is not None}, out)
        while True:
            card = draw(
                self.run,
                plan.pile,
                to=aside,
                label=plan.name,
                by=self.actor.name,
                card_key=lambda card: tuple([getattr(row_of(card, one), "number", None) for one in drawing]),
                holds=OUTCOME_ONLY,
            )
            if card is None:
                raise UsageError(f"no card is left in {plan.pile} for the table {plan.name}")
            row = row_of(card)
            if row is None:
                raise RuleError(f"the table {plan.name} of {self.rules.id} has no row for {card.title}")
            if row.number in free:
                return Found(plan.name, row, card.short or card.code)
            self.run.tell(f"{plan.name} {card.title}: {_why(row)}, again")


def _why(row: RowPlan) -> str:
    return "rolls again itself" if row.row.again else "came already"
