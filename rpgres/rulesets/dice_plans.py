"""The parsed plan of an action with named dice: its groups of dice, readings, numbers and questions.

`rpgres.engine.named_dice.play` rolls them, and `rpgres.lint.named_dice` checks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from rpgres.dice import dice
from rpgres.dice.grammar import Pool
from rpgres.errors import NotationError
from rpgres.rulesets.actions import OPPOSITION, Action, Asking, Definition, Group
from rpgres.rulesets.formulas import (
    FUNCTIONS,
    MOST_PARTS,
    OF_A_DIE,
    READINGS,
    TRUE,
    Call,
    Cases,
    Const,
    Expr,
    FormulaError,
    Name,
    Op,
    Read,
    cases,
    changed,
    formula,
    names,
)
from rpgres.rulesets.schema import Parameter, RulesetFile

BAND = "band"  # the name of the outcome, among the numbers
GIVEN = "?"  # before the name of a parameter: whether it was given
SLOT = "#"  # before the number of a reading
TIMES = "*"  # before the label of a question, or LABEL:OPTION: how often it was answered, or answered so
NO = "no"  # the value of a question before any option was chosen
OF_AN_OUTCOME = ("total", "margin", "opposition")  # numbers that mean to an outcome what they mean to every action
_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_NESTED = 20  # definitions inside each other


class GroupPlan(Struct, frozen=True):
    """One group of dice.

    Attributes:
        name: its name, under which results are given.
        template: its dice, with formulas in braces.
        pieces: these, text and formulas by turns.
        worth: what a die counts for; None for its face.
        again: which dice bring another; None for none.
    """

    name: str
    template: str
    pieces: tuple[str | Expr, ...]
    worth: Expr | None
    again: Expr | None

    @property
    def of_a_die(self) -> tuple[Expr, ...]:
        """The formulas of each die."""
        return tuple(one for one in (self.worth, self.again) if one is not None)

    @property
    def formulas(self) -> tuple[Expr, ...]:
        """Its formulas."""
        return (*(piece for piece in self.pieces if not isinstance(piece, str)), *self.of_a_die)


class OptionPlan(Struct, frozen=True):
    """An option of a question inside a roll; the fields are those of `Choosable`, parsed."""

    when: Expr
    cost: dict[str, Expr]
    reroll: dict[str, Expr]
    most: Expr | None
    prefer: Expr
    pick: bool

    @property
    def formulas(self) -> tuple[Expr, ...]:
        """Its formulas, without those of each die."""
        return self.when, *self.cost.values(), *((self.most,) if self.most is not None else ()), self.prefer


class AskPlan(Struct, frozen=True):
    """A question inside a roll.

    Attributes:
        when: whether it is asked.
        options: its options, by name.
        before: the dice before which it is asked; empty for those that name it, or the end.
    """

    when: Expr
    options: dict[str, OptionPlan]
    before: str = ""

    @property
    def formulas(self) -> tuple[Expr, ...]:
        """Its formulas, without those of each die."""
        return self.when, *(one for option in self.options.values() for one in option.formulas)

    @property
    def of_a_die(self) -> tuple[Expr, ...]:
        """The formulas of each die: whether it is rerolled."""
        return tuple(one for option in self.options.values() for one in option.reroll.values())


class DicePlan(Struct, frozen=True):
    """The plan of an action with named dice.

    Attributes:
        groups: its dice, in the order in which they are rolled.
        asks: its questions, by label.
        steps: the names of groups and the labels of questions, in the order in which these are rolled and asked.
        reads: what is read off them; each stands in formulas as a name, `SLOT` and its place.
        numbers: its formulas, by name; that of the outcome is `BAND`.
        stages: the groups in an order in which each needs only those before it.
    """

    groups: dict[str, GroupPlan]
    asks: dict[str, AskPlan]
    reads: tuple[Read, ...]
    numbers: dict[str, Expr]
    stages: tuple[str, ...]
    steps: tuple[str, ...] = ()

    def formulas(self) -> Iterator[Expr]:
        """Yield every formula of the action."""
        yield from self.numbers.values()
        for group in self.groups.values():
            yield from group.formulas
        for ask in self.asks.values():
            yield from (*ask.formulas, *ask.of_a_die)
        yield from (read.of for read in self.reads if read.of is not None)

    def free_names(self) -> dict[str, None]:
        """Return the names whose values are known before the roll: parameters, abilities, counters."""
        found = {name: None for one in self.formulas() for name in names(one)}
        known = {*self.numbers, *self.asks, *OF_A_DIE}
        return {name: None for name in found if name not in known and not name.startswith((SLOT, TIMES))}

    def answers_of(self, *exprs: Expr) -> set[str]:
        """Return the questions whose answers formulas depend on."""
        return {
            name
            for one in self.reached(*exprs)
            if (name := one.removeprefix(TIMES).partition(":")[0] if one.startswith(TIMES) else one) in self.asks
        }

    def groups_of(self, *exprs: Expr) -> set[str]:
        """Return the groups that have to be rolled before formulas can be evaluated."""
        slots = (int(one.removeprefix(SLOT)) for one in self.reached(*exprs) if one.startswith(SLOT))
        return {group for slot in slots for group in self.reads[slot].groups}

    def reached(self, *exprs: Expr) -> set[str]:
        """Return every name on which formulas depend, those of numbers and readings in them too."""
        seen: set[str] = set()
        open_ = [name for expr in exprs for name in names(expr)]
        while open_:
            name = open_.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in self.numbers:
                open_ += names(self.numbers[name])
            elif name.startswith(SLOT):
                of = self.reads[int(name.removeprefix(SLOT))].of
                open_ += names(of) if of is not None else ()
        return seen

    def before(self, group: str) -> set[str]:
        """Return the groups that have to be rolled before a group can be read."""
        found: set[str] = set()
        for one in self.groups[group].formulas:
            found |= self.groups_of(one)
        for read in self.reads:
            if group in read.groups and read.of is not None:
                found |= self.groups_of(read.of)
        return found


def dice_plan(file: RulesetFile, action: str, *, wanted: Iterable[str] = ()) -> DicePlan:
    """Return what the data of an action with named dice say.

    Args:
        wanted: names that the rows of its outcomes speak of; definitions among them are numbers of the action.

    Raises:
        FormulaError: a formula cannot be read, or names a function that is none.
    """
    described = file.actions[action]
    writer = _Writer(file, described)
    groups = {name: writer.group(name, group) for name, group in described.groups.items()}
    asks = {label: writer.ask(ask) for label, ask in described.ask.items()}
    shared = [name for name, its in file.define.items() if not its.of and name not in described.numbers]
    named = {*described.told.values(), *OF_AN_OUTCOME, *wanted}
    numbers = {name: writer.read(text) for name, text in described.numbers.items()}
    numbers |= {name: writer.written(Name(name)) for name in shared if name in named}
    is_bounded = not described.band and not described.bands
    if OPPOSITION in groups or is_bounded:
        writer.compare(numbers, groups, file.parameters_of(action))
    if is_bounded:
        numbers[BAND] = _by_bounds(file, numbers)
    else:
        numbers[BAND] = writer.read(described.band) if described.band else writer.written(cases(described.conditions))
    plan = DicePlan(groups, asks, tuple(writer.slots), numbers, ())
    return replace(plan, stages=tuple(_stages(plan)), steps=tuple(_steps(plan)))


def read_formula(file: RulesetFile, action: Action, text: str) -> Expr:
    """Return a formula of an action, written out.

    Raises:
        FormulaError: it cannot be read, or names a function that is none.
    """
    return _Writer(file, action).read(text)


def _by_bounds(file: RulesetFile, numbers: Mapping[str, Expr]) -> Expr:
    """Return the band whose bounds hold the margin, or the total where there is no margin; the unopposed one first."""
    measure = Name("margin" if "margin" in numbers else "total")
    found = [(Op("=", (measure, Const(None))), Const(name)) for name, band in file.bands.items() if band.unopposed]
    for name, band in file.bands.items():
        bounds = ((">=", band.from_), ("<=", band.to))
        edges = [Op(sign, (measure, Const(edge))) for sign, edge in bounds if edge is not None]
        if edges:
            found.append((Op("and", (Op("!=", (measure, Const(None))), *edges)), Const(name)))
    return Cases(tuple(found))


def pool_of(group: GroupPlan) -> Pool | None:
    """Return the dice of a group as far as their faces are known; None where they depend on what is typed."""
    first, rest = (group.pieces[0], group.pieces[1:]) if isinstance(group.pieces[0], str) else ("", group.pieces)
    tail = list(rest[1:]) if not str(first).strip() else [first, *rest]
    if any(not isinstance(piece, str) for piece in tail) or not tail:
        return None
    try:
        node = dice("".join(map(str, tail)).strip()).node
    except NotationError:
        return None
    if isinstance(node, Pool) and node.target is None and not node.explodes and not node.is_d66:
        return node
    return None


def _stages(plan: DicePlan) -> Iterator[str]:
    """Yield the groups in an order in which each needs only those before it.

    Raises:
        FormulaError: two groups need each other.
    """
    rolled: set[str] = set()
    for name, group in plan.groups.items():
        for one in (
            piece for piece in (*group.pieces, group.again) if piece is not None and not isinstance(piece, str)
        ):
            later = plan.groups_of(one) - rolled
            if later:
                raise FormulaError(
                    f"the dice {name} depend on {', '.join(sorted(later))}, rolled only with them or later"
                )
        rolled.add(name)
    left = {name: plan.before(name) for name in plan.groups}
    while left:
        ready = next((name for name, needs in left.items() if needs.isdisjoint(left)), None)
        if ready is None:
            raise FormulaError(f"the dice {' and '.join(left)} depend on each other")
        del left[ready]
        yield ready


def _steps(plan: DicePlan) -> Iterator[str]:
    """Yield groups and questions in their order: a question right before its dice, or the first that name its answer.

    Raises:
        FormulaError: a question needs dice that are rolled only after it.
    """
    asked, rolled = set[str](), set[str]()

    def ask(label: str) -> str:
        asked.add(label)
        its = plan.asks[label]
        again = {group for one in its.options.values() for group in one.reroll if group in plan.groups}
        later = plan.groups_of(*its.formulas, *its.of_a_die) | again
        later -= rolled
        if later:
            told = f"the question {label} needs {', '.join(sorted(later))}, rolled only after its answer"
            raise FormulaError(f"{told}; its `when` and its options can name only dice before it")
        return label

    for label, one in plan.asks.items():
        if one.before and one.before not in plan.groups:
            raise FormulaError(f"the question {label} comes before {one.before}, which names no dice of this action")
    for name, group in plan.groups.items():
        its = [one for one in (*group.pieces, group.again) if one is not None and not isinstance(one, str)]
        needs = plan.answers_of(*its) | {label for label, one in plan.asks.items() if one.before == name}
        yield from (ask(label) for label in plan.asks if label in needs and label not in asked)
        rolled.add(name)
        yield name
    yield from (ask(label) for label in plan.asks if label not in asked)


class _Writer:
    """Writes formulas out: functions and definitions become what they stand for, readings become names."""

    def __init__(self, file: RulesetFile, action: Action) -> None:
        self.groups = tuple(action.groups)
        self.asks = action.ask
        self.numbers = {*action.numbers}
        self.definitions = file.define
        self.winning = [name for name, band in file.bands.items() if band.success]
        self.slots: list[Read] = []
        self.nested = self.parts = 0

    def group(self, name: str, its: Group) -> GroupPlan:
        pieces = [piece if place % 2 == 0 else self.read(piece) for place, piece in enumerate(_BRACES.split(its.roll))]
        worth, again = (self.read(text) if text else None for text in (its.worth, its.again))
        return GroupPlan(name, its.roll, tuple(pieces), worth, again)

    def compare(
        self, numbers: dict[str, Expr], groups: Mapping[str, GroupPlan], parameters: Mapping[str, Parameter]
    ) -> None:
        """Add the default numbers of an outcome: the total and the opposition."""
        if "total" not in numbers:
            numbers["total"] = self._slot(Read("sum", tuple(name for name in groups if name != OPPOSITION)))
        if OPPOSITION in groups:
            named = [one.name for one in groups[OPPOSITION].pieces if isinstance(one, Name)]
            opposing = [name for name in named if name in parameters and parameters[name].kind == OPPOSITION]
            is_there = Op("and", (TRUE, *(Name(f"{GIVEN}{name}") for name in opposing)))
            other = self._slot(Read("sum", (OPPOSITION,)))
            numbers.setdefault(OPPOSITION, Cases(((is_there, other),)))
            numbers.setdefault("margin", Cases(((is_there, Op("-", (Name("total"), other))),)))

    def ask(self, ask: Asking) -> AskPlan:
        options = {
            name: OptionPlan(
                self.read(its.when) if its.when else TRUE,
                {of: self.read(str(much)) for of, much in its.cost.items()},
                {group: self.read(text) for group, text in its.reroll.items()},
                self.read(str(its.most)) if its.most != "" else None,
                self.read(str(its.prefer)),
                its.pick,
            )
            for name, its in ask.options.items()
        }
        return AskPlan(self.read(ask.when) if ask.when else TRUE, options, ask.before)

    def read(self, text: str) -> Expr:
        return self.written(formula(text))

    def written(self, expr: Expr) -> Expr:
        """Return a tree written out.

        Raises:
            FormulaError: it names a function that is none, or grows too long.
        """
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise FormulaError("this formula grows too long, written out over the definitions that it uses")
        if isinstance(expr, Name):
            if expr.name in self.groups:
                return self._slot(Read("sum", (expr.name,)))
            return self._defined(expr.name, ()) if expr.name in self.definitions else expr
        if isinstance(expr, Call):
            return self._called(expr)
        if isinstance(expr, Op):
            return replace(expr, args=tuple(self.written(one) for one in expr.args))
        if isinstance(expr, Cases):
            return Cases(tuple((self.written(when), self.written(then)) for when, then in expr.cases))
        return expr

    def _slot(self, read: Read) -> Expr:
        if read not in self.slots:
            self.slots.append(read)
        return Name(f"{SLOT}{self.slots.index(read)}")

    def _called(self, call: Call) -> Expr:
        if call.name in self.definitions:
            return self._defined(call.name, call.args)
        if call.name not in FUNCTIONS:
            known = ", ".join((*FUNCTIONS, *self.definitions))
            before, minus, last = call.name.rpartition("-")
            if minus and last in known.split(", "):
                parts = f"{before} - {last}(...)"
                raise FormulaError(
                    f"{call.name} is read as one name; to subtract, write blanks around the minus: {parts}"
                )
            raise FormulaError(f"there is no function {call.name!r}; there are {known}")
        least, most = FUNCTIONS[call.name]
        if not least <= len(call.args) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise FormulaError(f"{call.name} takes {wanted} arguments, not {len(call.args)}")
        if call.name in READINGS:
            return self._reading(call)
        if call.name == "given":
            if not isinstance(call.args[0], Name):
                raise FormulaError("given takes the name of a parameter")
            return Name(f"{GIVEN}{call.args[0].name}")
        if call.name == "times":
            return self._times(call)
        args = tuple(self.written(one) for one in call.args)
        if call.name == "if":
            if len(args) % 2 == 0:
                raise FormulaError("if takes conditions and results by turns, and what holds else at the end")
            return Cases((*zip(args[:-1:2], args[1:-1:2], strict=True), (TRUE, args[-1])))
        if call.name == "success":
            if not self.winning:
                return Const(0)
            return Op("or", tuple(Op("=", (args[0], Const(band))) for band in self.winning))
        return Op(call.name, args)

    def _times(self, call: Call) -> Expr:
        label, option = (*call.args, Const(""))[:2]
        if not isinstance(label, Name) or label.name not in self.asks:
            raise FormulaError(f"times takes the label of a question; there are: {', '.join(self.asks) or 'none'}")
        options = self.asks[label.name].options
        if not isinstance(option, Const) or option.value not in ("", *options):
            raise FormulaError(f"times takes an option of {label.name} second: {', '.join(map(repr, options))}")
        return Name(f"{TIMES}{label.name}{option.value and f':{option.value}'}")

    def _reading(self, call: Call) -> Expr:
        groups, rest = list[str](), list(call.args)
        while rest and isinstance(rest[0], Name) and rest[0].name in self.groups:
            groups.append(rest.pop(0).name)  # type: ignore[union-attr]
        if not groups or len(rest) > 1:
            known = ", ".join(self.groups)
            if not known:
                raise FormulaError(f"{call.name} takes the names of dice, and the action rolls none")
            raise FormulaError(
                f"{call.name} takes the names of dice ({known}), then which of them count, as in "
                f"{call.name}({next(iter(self.groups))}, face >= 5)"
            )
        condition = self.written(rest[0]) if rest else None
        if condition is not None and names(condition) and not {*OF_A_DIE, *self.numbers} & {*names(condition)}:
            raise FormulaError(
                f"{', '.join(names(condition))} is the same for every die: a condition of dice names `face`, "
                "`added` or `thrown`"
            )
        return self._slot(Read(call.name, tuple(groups), condition))

    def _defined(self, name: str, args: tuple[Expr, ...]) -> Expr:
        definition: Definition = self.definitions[name]
        if len(args) != len(definition.of):
            takes = ", ".join(definition.of) or "nothing"
            raise FormulaError(f"the definition {name} takes {takes}, not {len(args)} arguments")
        self.nested += 1
        if self.nested > _MOST_NESTED:
            raise FormulaError(f"the definition {name} depends on itself")
        tree = cases(definition.cases) if definition.cases else formula(definition.value)
        bound = dict(zip(definition.of, args, strict=True))
        found = self.written(changed(tree, partial(_bound, bound)))
        self.nested -= 1
        return found


def _bound(values: Mapping[str, Expr], expr: Expr) -> Expr:
    return values.get(expr.name, expr) if isinstance(expr, Name) else expr
