"""What random tables come to: every row with the outcome's name, where its links lead, and the outcomes of all tables.

The outcome of a table is the row, with the rows that its links lead to: `storm+broken-mast`. A row without a text that
leads to one table stands for that table's rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import inf
from typing import TYPE_CHECKING

import msgspec

from rpgres.errors import counted
from rpgres.model.state import slug
from rpgres.rulesets.actions import Action
from rpgres.rulesets.rows import BRACES, Band, OutcomeTable, Row
from rpgres.rulesets.schema import EffectText, Label, PileText, RulesetFile
from rpgres.rulesets.tables import USED, RandomTable, Span, TableRow, spans_of
from rpgres.rulesets.tree import reached

if TYPE_CHECKING:
    from rpgres.dice.laws import Law

MOST = 2_000  # results of one table that a row's links are followed for; beyond it the row alone is the outcome
JOINT = "+"  # between the rows of one outcome
ONE = "1d1"  # the die of a list of one row
NO_END = "may explode without an end, so one row alone needs all high numbers (N..), or all low ones (..N)"
ROLLED = "the die of a random table"  # the help of its label
LONGEST = 40  # letters of a name made from a text
WIDEST = 60  # letters of what an outcome is called

Path = tuple[str, ...]  # the names of the rows of one outcome


class RowPlan(msgspec.Struct, frozen=True):
    """One row of a table.

    Attributes:
        key: where it stands: what the die or the card shows, or its place in the list.
        number: its place among the rows.
        name: the outcome's name; empty of a row that stands for the rows its links lead to.
        spans: the numbers of the die that give it.
        links: the tables that are rolled on for it.
        is_whole: whether what its links come to is part of the outcome.
    """

    key: str | int
    number: int
    name: str
    row: TableRow
    spans: tuple[Span, ...]
    links: tuple[str, ...]
    is_whole: bool

    @property
    def passes_to(self) -> str:
        """The table whose rows it stands for; empty where it is a row of its own."""
        return self.links[0] if not self.name and len(self.links) == 1 else ""

    @property
    def ends(self) -> list[tuple[float, float]]:
        """The lowest and the highest of each of its spans."""
        return [(-inf if low is None else low, inf if high is None else high) for low, high in self.spans]


class TablePlan(msgspec.Struct, frozen=True):
    """A table, ready to be rolled on.

    Attributes:
        die: what is rolled; empty where a card is drawn.
        pile: the pile from which a card is drawn.
        also: what comes beside a row, by what the die shows.
    """

    name: str
    die: str
    pile: str
    rows: tuple[RowPlan, ...]
    also: tuple[RowPlan, ...] = ()

    @property
    def all_rows(self) -> tuple[RowPlan, ...]:
        """Its rows, and what comes beside them."""
        return (*self.rows, *self.also)

    @property
    def links(self) -> list[str]:
        """The tables that its rows lead to."""
        return [link for row in self.all_rows for link in row.links]

    def shown(self, row: RowPlan) -> str:
        """What a die or a card shows for a row: its key, or the numbers that its weight stands for."""
        if isinstance(row.key, str):
            return row.key
        low, high = row.spans[0]
        return str(low) if low == high else f"{low}-{high}"

    @property
    def is_rolled(self) -> bool:
        """Whether there is anything to roll or draw: of a list of one row there is not."""
        return bool(self.pile) or self.die != ONE

    def beyond(self, law: Law) -> tuple[int, int | None] | None:
        """Return the place of the one row that has all numbers of a die without an end, and that of what is beside it.

        Args:
            law: the numbers of the die as far as they are followed.

        Returns:
            None where several rows have the numbers beyond these, or none.
        """
        if law.above is None and law.under is None:
            return None
        bottom, top = (law.above, inf) if law.above is not None else (-inf, law.under or 0)
        rows, beside = (
            [row for row in part if any(high >= bottom and low <= top for low, high in row.ends)]
            for part in (self.rows, self.also)
        )
        whole = [row for row in (*rows, *beside) if any(low <= bottom and high >= top for low, high in row.ends)]
        if len(rows) != 1 or len(whole) < len(rows) + len(beside):
            return None
        return rows[0].number, beside[0].number if beside else None

    @property
    def again(self) -> frozenset[str]:
        """The keys of the rows that roll again, which are left out then."""
        return frozenset(str(row.key) for row in self.rows if row.row.again)


class RowBand(Band, frozen=True, kw_only=True):
    """An outcome that is made from the rows of random tables, and that no data declare."""


# ---------------------------------------------------------------------------------------------------------------------
# Names, links and dice


def table_plans(file: RulesetFile) -> dict[str, TablePlan]:
    """Return the plan of every random table."""
    titles = {name: "" for name, band in file.bands.items() if not isinstance(band, RowBand)}
    plans = {name: _plan(file, name, table, titles) for name, table in file.tables.items()}
    sizes = _Sizes(plans)
    return {name: _whole(plan, sizes) for name, plan in plans.items()}


def _plan(file: RulesetFile, name: str, table: RandomTable, titles: dict[str, str]) -> TablePlan:
    rows, total = [], 0
    mine: dict[str, TableRow] = {}
    for number, (key, row) in enumerate(table.items()):
        spans = spans_of(key) or () if isinstance(key, str) else ((total + 1, total + row.weight),)
        total += row.weight
        links = (name,) * row.again + row.links
        called = _named(row, key, titles, mine) if row.text or row.name or not links else ""
        rows.append(RowPlan(key, number, called, row, spans, links, is_whole=False))
    die = table.die or ("" if table.cards else f"1d{max(total, 1)}")
    beside: list[RowPlan] = []
    for key, row in table.beside():
        called = _named(row, key, titles, mine)
        beside.append(RowPlan(key, len(beside), called, row, spans_of(key) or (), row.links, is_whole=False))
    pile = pile_of(file, table.cards) if table.cards else ""
    return TablePlan(name, die, pile, tuple(rows), tuple(beside))


def _named(row: TableRow, key: str | int, titles: dict[str, str], mine: dict[str, TableRow]) -> str:
    """Return the name of a row's outcome, which only rows share that say and do the same."""
    if row.name:
        return row.name
    words = slug(re.sub(BRACES, " ", row.text)) if re.sub(BRACES, "", row.text).strip() else slug(f"row {key}")
    cut = words if len(words) <= LONGEST else words[: LONGEST + 1].rpartition("-")[0] or words[:LONGEST]
    found, number, alone = cut, 1, msgspec.structs.replace(row, weight=1)
    while titles.setdefault(found, row.text) not in ("", row.text) or mine.setdefault(found, alone) != alone:
        number += 1
        found = f"{cut}-{number}"
    return found


def pile_of(file: RulesetFile, deck: str) -> str:
    """Return the face-down pile in which the cards of a deck lie; one of the deck's name where the data have none."""
    return next((name for name, pile in file.piles.items() if deck in pile.decks and not pile.each), deck)


def aside_of(pile: str, piles: Mapping[str, PileText]) -> str:
    """Return the discard pile of drawn cards: the one that is shuffled into theirs."""
    return piles[pile].refill or f"{pile}-drawn"


def _whole(plan: TablePlan, sizes: _Sizes) -> TablePlan:
    """Return a plan with every row told whether its links are part of the outcome."""

    def whole(row: RowPlan) -> RowPlan:
        is_whole = sizes.of_row(row, plan.name) > 0 and bool(row.links)
        named = row.name or ("" if is_whole or row.passes_to else _led(row))
        return msgspec.structs.replace(row, name=named, is_whole=is_whole)

    return msgspec.structs.replace(plan, rows=tuple(map(whole, plan.rows)), also=tuple(map(whole, plan.also)))


def _led(row: RowPlan) -> str:
    """Return the name of a row without a text, by what it leads to."""
    again = {0: "", 2: "roll twice"}.get(row.row.again, f"roll {row.row.again} times")
    return slug(" ".join(filter(None, (again, *row.links[row.row.again :]))))


class _Sizes:
    """How many results tables have, as far as what their links come to is part of them."""

    def __init__(self, plans: Mapping[str, TablePlan]) -> None:
        self.plans = plans
        self.once = {name: {link for row in plan.rows for link in row.row.links} for name, plan in plans.items()}
        self._known: dict[tuple[str, bool], int] = {}

    def leads_to(self, table: str) -> Iterable[str]:
        """Return the tables that rows of a table lead to."""
        return self.plans[table].links if table in self.plans else ()

    def of_row(self, row: RowPlan, table: str) -> int:
        """Return how many results a row's links have; 0 where they lead back to its table, or have too many."""
        onward = self.once[table] if row.row.again else set(row.links)
        if not onward <= self.plans.keys() or table in {*onward, *reached(onward, self.leads_to)}:
            return 0
        many = 1
        for number, link in enumerate(row.links):
            many *= self.of(link, without_again=number < row.row.again)
        return many if many <= MOST else 0

    def of(self, table: str, *, without_again: bool = False) -> int:
        """Return how many results a table has."""
        key = table, without_again
        if key not in self._known:
            self._known[key] = (1 + len(self.plans[table].also)) * sum(
                (self.of_row(row, name) or 1) if row.links else 1
                for name in closure(table, self.plans)
                for row in self.plans[name].rows
                if not row.passes_to and not (without_again and name == table and row.row.again)
            )
        return self._known[key]


# ---------------------------------------------------------------------------------------------------------------------
# Outcomes


def joint_name(paths: Iterable[Path]) -> Path:
    """Return the names of several results as those of one; in the order of the alphabet, as it is all the same."""
    return tuple(name for path in sorted(paths) for name in path)


def results_of(name: str, plans: Mapping[str, TablePlan], *, without_again: bool = False) -> dict[Path, None]:
    """Return every outcome that a table can come to, in the order of its rows."""
    found: dict[Path, None] = {}
    for table in closure(name, plans):
        plan = plans[table]
        for row in plan.rows:
            is_left_out = without_again and table == name and row.row.again
            paths = list(_of_row(row, table, plans)) if not is_left_out and not row.passes_to else []
            found |= dict.fromkeys(paths)
            if plan.also and row.passes_to:
                paths = list(results_of(row.passes_to, plans))
            beside = [more for one in plan.also for more in _of_row(one, table, plans)] if not is_left_out else []
            found |= {(*path, *more): None for path in paths for more in beside}
    return found


def closure(name: str, plans: Mapping[str, TablePlan]) -> list[str]:
    """Return a table with those whose rows its own stand for."""
    if name not in plans:
        return []
    passed = reached([name], lambda one: [row.passes_to for row in plans[one].rows if row.passes_to in plans])
    return list(dict.fromkeys((name, *passed)))


def led_to(names: Iterable[str], plans: Mapping[str, TablePlan]) -> list[TablePlan]:
    """Return tables with all that their rows lead to, directly or not."""
    own = list(names)
    return [plans[name] for name in dict.fromkeys((*own, *reached(own, lambda one: plans[one].links)))]


def _of_row(row: RowPlan, table: str, plans: Mapping[str, TablePlan]) -> Iterator[Path]:
    own = (row.name,) if row.name else ()
    if not row.is_whole:
        yield own
        return
    again = row.row.again
    rolled = [tuple(results_of(table, plans, without_again=True))] * again if again else []
    linked = [tuple(results_of(link, plans)) for link in row.links[again:]]
    for paths in product(*rolled, *linked):
        yield (*own, *joint_name(paths[:again]), *(name for path in paths[again:] for name in path))


def _title(row: RowPlan) -> str:
    """Return what a row is called: by its name, or its text, cut where that is long."""
    words = row.row.name.replace("-", " ").capitalize() or row.row.text or row.name.replace("-", " ").capitalize()
    plain = words.replace("{", "").replace("}", "").strip().rstrip(".").strip()
    return plain if len(plain) <= WIDEST else f"{plain[: WIDEST - 3].rpartition(' ')[0] or plain[: WIDEST - 3]}..."


def _bands(file: RulesetFile, plans: Mapping[str, TablePlan]) -> dict[str, Band]:
    """Return the outcomes of all tables that no data declare."""
    found: dict[str, Band] = {}
    for plan in plans.values():
        for row in plan.all_rows:
            if row.name and row.name not in file.bands:
                found.setdefault(row.name, RowBand(title=_title(row)))
    known = {**found, **file.bands}
    for name in plans:
        for path in results_of(name, plans):
            if len(path) > 1:
                parts = [known[one] for one in path]
                joint = RowBand(title=", ".join(one.title for one in parts), success=parts[0].success)
                found.setdefault(JOINT.join(path), joint)
    return found


# ---------------------------------------------------------------------------------------------------------------------
# A ruleset with what its tables bring


def with_tables(file: RulesetFile, ruleset_id: str) -> RulesetFile:
    """Return a ruleset in which every random table is an action of its name, with its outcomes and piles."""
    piles = dict(file.piles)
    for table in file.tables.values():
        if table.cards:
            pile = pile_of(file, table.cards)
            if pile not in piles:
                piles[pile] = PileText(title=pile.capitalize(), face="down", decks={pile: {}}, refill=f"{pile}-drawn")
            aside = aside_of(pile, piles)
            piles.setdefault(aside, PileText(title=f"{pile.capitalize()}: drawn", face="up"))
    plans = table_plans(file)
    actions = {
        name: Action(
            summary=table.summary
            or f"A random table of {counted(len(table.rows), 'row')}: {plans[name].die or table.cards}.",
            sentence=f"{{actor}} rolls on the table {name.replace('-', ' ')}",
            parameters=table.parameters,
            required=table.required,
            example="" if table.required else f"rpgres roll {ruleset_id} {name}",
            tables=[name],
            anybody=True,
        )
        for name, table in file.tables.items()
    }
    effects = dict(file.effects)
    if any(row.row.once for plan in plans.values() for row in plan.all_rows):
        fields = {"table": "the random table", "row": "the row's name"}
        used = EffectText(help="a row that comes once has come", fields=fields, quiet=True, does="nothing")
        effects.setdefault(USED, used)
    return msgspec.structs.replace(
        file,
        actions={**file.actions, **{name: one for name, one in actions.items() if name not in file.actions}},
        bands={**file.bands, **_bands(file, plans)},
        labels={
            **{name: Label(kind="chance", help=ROLLED) for name, plan in plans.items() if plan.is_rolled},
            **file.labels,
        },
        piles=piles,
        effects=effects,
    )


def outcome_table(plan: TablePlan) -> OutcomeTable:
    """Return the rows of a random table as those of an outcome table, by the outcome's name."""
    fields = Row.__struct_fields__
    return {row.name: Row(**{field: getattr(row.row, field) for field in fields}) for row in plan.all_rows if row.name}
