"""The parsed plan of an action with named dice: its groups of dice, readings, numbers and questions.

`rpgres.engine.named_dice.play` rolls them, and `rpgres.lint.named_dice` checks them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from rpgres.dice import dice
from rpgres.dice.grammar import Pool
from rpgres.errors import NotationError, enumerated
from rpgres.rulesets.actions import OPPOSITION, Action, Asking, Choosable, Definition, Group, Parameter
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
    Worker,
    cases,
    changed,
    formula,
    names,
    with_inner,
    worker,
)
from rpgres.rulesets.rows import BRACES
from rpgres.rulesets.schema import RulesetFile
from rpgres.rulesets.tree import reached
from rpgres.toml.diagnostics import KeyPath, nearest

BAND = "band"  # the name of the outcome, among the numbers
GIVEN = "?"  # before the name of a parameter: whether it was given
SLOT = "#"  # before the number of a reading
TIMES = "*"  # before the label of a question, or LABEL:OPTION: how often it was answered, or answered so
NO = "no"  # the value of a question before any option was chosen
OF_AN_OUTCOME = ("total", "margin", "opposition")  # numbers that mean to an outcome what they mean to every action
_MOST_NESTED = 20  # definitions inside each other


class Formula(Struct, frozen=True):
    """A formula of an action.

    Attributes:
        path: its key path; of a definition, that of the definition.
        tree: the formula, written out.
        names: the names in it, in order.
        work: computes it from the values of names.
        is_of_die: whether it is computed for each die.
    """

    path: KeyPath
    tree: Expr
    names: tuple[str, ...]
    work: Worker
    is_of_die: bool = False


class GroupPlan(Struct, frozen=True):
    """One group of dice.

    Attributes:
        name: its name, under which results are given.
        template: its dice, with formulas in braces.
        pieces: these, text and formulas by turns; a name alone may stand for dice as they were typed (`dice:NAME`).
        worth: what a die counts for; None for its face.
        again: which dice bring another; None for none.
    """

    name: str
    template: str
    pieces: tuple[str | Formula, ...]
    worth: Formula | None
    again: Formula | None

    @property
    def counts(self) -> tuple[Formula, ...]:
        """The formulas on which the number and the kind of its dice depend."""
        return (*self.inside, *((self.again,) if self.again is not None else ()))

    @property
    def inside(self) -> tuple[Formula, ...]:
        """The formulas in braces."""
        return tuple(piece for piece in self.pieces if not isinstance(piece, str))

    @property
    def of_a_die(self) -> tuple[Formula, ...]:
        """The formulas of each die."""
        return tuple(one for one in (self.worth, self.again) if one is not None)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Its formulas."""
        return (*self.inside, *self.of_a_die)

    @property
    def named(self) -> tuple[str, ...]:
        """The names that stand alone in its dice: of numbers, or of dice as they were typed."""
        trees = (one.tree for one in self.inside)
        return tuple(one.name for one in trees if isinstance(one, Name) and not one.name.startswith(SLOT))


class OptionPlan(Struct, frozen=True):
    """An option of a question inside a roll; the fields are those of `Choosable`, parsed."""

    when: Formula
    cost: dict[str, Formula]
    reroll: dict[str, Formula]
    most: Formula | None
    prefer: Formula
    pick: bool

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Its formulas, without those of each die."""
        return self.when, *self.cost.values(), *((self.most,) if self.most is not None else ()), self.prefer


class AskPlan(Struct, frozen=True):
    """A question inside a roll.

    Attributes:
        when: whether it is asked.
        options: its options, by name.
        before: the dice before which it is asked; empty for those that name it, or the end.
        facts: the numbers and counters that its formulas name, which policies may use.
    """

    when: Formula
    options: dict[str, OptionPlan]
    before: str = ""
    facts: tuple[str, ...] = ()

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Its formulas, without those of each die."""
        return self.when, *(one for option in self.options.values() for one in option.formulas)

    @property
    def of_a_die(self) -> tuple[Formula, ...]:
        """The formulas of each die: whether it is rerolled."""
        return tuple(one for option in self.options.values() for one in option.reroll.values())


class DicePlan(Struct, frozen=True):
    """The plan of an action with named dice.

    Attributes:
        groups: its dice, in the order in which they are rolled.
        asks: its questions, by label.
        reads: what is read off them; each stands in formulas as a name, `SLOT` and its place.
        fits: by the same place, the condition of the dice that are read; None for all.
        numbers: its formulas, by name; that of the outcome is `BAND`.
        wanted: names that outcome rows, their effects and the effects of options use.
        stages: the groups in an order in which each needs only those before it.
        steps: the names of groups and the labels of questions, in the order in which these are rolled and asked.
    """

    groups: dict[str, GroupPlan]
    asks: dict[str, AskPlan]
    reads: tuple[Read, ...]
    fits: tuple[Formula | None, ...]
    numbers: dict[str, Formula]
    wanted: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()

    def formulas(self) -> Iterator[Formula]:
        """Yield every formula of the action."""
        yield from self.numbers.values()
        for group in self.groups.values():
            yield from group.formulas
        for ask in self.asks.values():
            yield from (*ask.formulas, *ask.of_a_die)
        yield from (fits for fits in self.fits if fits is not None)

    def free_names(self) -> dict[str, None]:
        """Return the names whose values are known before the roll: parameters, abilities, counters."""
        found = {name: None for one in self.formulas() for name in one.names}
        known = {*self.numbers, *self.asks, *OF_A_DIE}
        return {name: None for name in found if name not in known and not name.startswith((SLOT, TIMES))}

    def answers_of(self, *formulas: Formula) -> set[str]:
        """Return the questions whose answers formulas depend on."""
        return {
            name
            for one in self.reached(*formulas)
            if (name := one.removeprefix(TIMES).partition(":")[0] if one.startswith(TIMES) else one) in self.asks
        }

    def groups_of(self, *formulas: Formula) -> set[str]:
        """Return the groups that have to be rolled before formulas can be evaluated."""
        return {group for slot in self.slots_of(*formulas) for group in self.reads[slot].groups}

    def slots_of(self, *formulas: Formula) -> list[int]:
        """Return the places of the readings on which formulas depend, ascending."""
        return sorted(int(one.removeprefix(SLOT)) for one in self.reached(*formulas) if one.startswith(SLOT))

    def reached(self, *formulas: Formula) -> set[str]:
        """Return every name on which formulas depend, those of numbers and readings in them too."""

        def inner(name: str) -> tuple[str, ...]:
            its = self.fits[int(name.removeprefix(SLOT))] if name.startswith(SLOT) else self.numbers.get(name)
            return its.names if its is not None else ()

        own = {name for one in formulas for name in one.names}
        return own | reached(own, inner).keys()

    def before(self, group: str) -> set[str]:
        """Return the groups that have to be rolled before a group can be read."""
        fits = (fits for read, fits in zip(self.reads, self.fits, strict=True) if group in read.groups and fits)
        return self.groups_of(*self.groups[group].formulas, *fits)


def dice_plan(file: RulesetFile, action: str, *, wanted: Collection[str] = ()) -> DicePlan:
    """Return what the data of an action with named dice say.

    Args:
        wanted: names that the rows of its outcomes speak of; definitions among them are numbers of the action.

    Raises:
        FormulaError: a formula cannot be read, or names a function that is none.
    """
    described, at = file.actions[action], ("actions", action)
    writer, parameters = _Writer(file, described), file.parameters_of(action)
    groups = {name: writer.group((*at, "dice", name), group) for name, group in described.groups.items()}
    asks = {label: writer.ask((*at, "ask", label), ask) for label, ask in described.ask.items()}
    shared = [name for name, its in file.definitions.items() if not its.of and name not in described.numbers]
    named = {*described.told.values(), *OF_AN_OUTCOME, *wanted}
    trees = {name: writer.read(text) for name, text in described.numbers.items()}
    trees |= {name: writer.written(Name(name)) for name in shared if name in named}
    is_bounded = not described.band and not described.bands
    if OPPOSITION in groups or is_bounded:
        writer.compare(trees, groups, parameters)
    numbers = {
        name: _formula((*at, "numbers", name) if name in described.numbers else ("define", name), tree)
        for name, tree in trees.items()
    }
    if is_bounded:
        band = _by_bounds(file, numbers)
    else:
        band = writer.read(described.band) if described.band else writer.written(cases(described.conditions))
    numbers[BAND] = _formula((*at, "band" if described.band or is_bounded else "bands"), band)
    fits = [_formula((*at, "dice"), read.of, is_of_die=True) if read.of is not None else None for read in writer.slots]
    counters = {*file.fields_of("counter"), *(name for name, its in parameters.items() if its.kind == "counter")}
    for label, ask in asks.items():
        spoken = dict.fromkeys(name for one in ask.formulas for name in one.names)
        asks[label] = replace(ask, facts=tuple(name for name in spoken if name in numbers or name in counters))
    plan = DicePlan(groups, asks, tuple(writer.slots), tuple(fits), numbers, tuple(wanted))
    return replace(plan, stages=tuple(_stages(plan)), steps=tuple(_steps(plan)))


def _formula(path: KeyPath, tree: Expr, *, is_of_die: bool = False) -> Formula:
    return Formula(path, tree, tuple(names(tree)), worker(tree), is_of_die)


def read_formula(file: RulesetFile, action: Action, text: str) -> Expr:
    """Return a formula of an action, written out.

    Raises:
        FormulaError: it cannot be read, or names a function that is none.
    """
    return _Writer(file, action).read(text)


def _by_bounds(file: RulesetFile, numbers: Container[str]) -> Expr:
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
    """Yield the groups in an order in which each needs only those before it."""
    rolled: set[str] = set()
    for name, group in plan.groups.items():
        for one in group.counts:
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
    """Yield groups and questions in order: a question right before its dice, or the first that name its answer."""
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
        needs = plan.answers_of(*group.counts) | {label for label, one in plan.asks.items() if one.before == name}
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
        self.definitions = file.definitions
        self.winning = [name for name, band in file.bands.items() if band.success]
        self.slots: list[Read] = []
        self.nested = self.parts = 0

    def group(self, at: KeyPath, its: Group) -> GroupPlan:
        pieces = [
            piece if place % 2 == 0 else self._piece(at, piece)
            for place, piece in enumerate(re.split(BRACES, its.roll))
        ]
        worth, again = (self._formula(at, text, is_of_die=True) if text else None for text in (its.worth, its.again))
        return GroupPlan(str(at[-1]), its.roll, tuple(pieces), worth, again)

    def _piece(self, at: KeyPath, text: str) -> Formula:
        """Return a formula inside dice; a name alone may stand for dice as they were typed."""
        tree = self.read(text)
        if isinstance(tree, Name) and not tree.name.startswith(SLOT):
            return Formula(at, tree, (tree.name,), worker(Name(f"dice:{tree.name}")))
        return _formula(at, tree)

    def _formula(self, path: KeyPath, text: str, *, is_of_die: bool = False) -> Formula:
        return _formula(path, self.read(text) if text else TRUE, is_of_die=is_of_die)

    def compare(
        self, numbers: dict[str, Expr], groups: Mapping[str, GroupPlan], parameters: Mapping[str, Parameter]
    ) -> None:
        """Add the default numbers of an outcome: the total and the opposition."""
        if "total" not in numbers:
            numbers["total"] = self._slot(Read("sum", tuple(name for name in groups if name != OPPOSITION)))
        if OPPOSITION in groups:
            named = [name for name in groups[OPPOSITION].named if name in parameters]
            opposing = [name for name in named if parameters[name].kind == OPPOSITION]
            is_there = Op("and", (TRUE, *(Name(f"{GIVEN}{name}") for name in opposing)))
            other = self._slot(Read("sum", (OPPOSITION,)))
            numbers.setdefault(OPPOSITION, Cases(((is_there, other),)))
            numbers.setdefault("margin", Cases(((is_there, Op("-", (Name("total"), other))),)))

    def ask(self, at: KeyPath, ask: Asking) -> AskPlan:
        options = {name: self._option((*at, "options", name), its) for name, its in ask.options.items()}
        return AskPlan(self._formula((*at, "when"), ask.when), options, ask.before)

    def _option(self, at: KeyPath, its: Choosable) -> OptionPlan:
        return OptionPlan(
            self._formula((*at, "when"), its.when),
            {of: self._formula((*at, "cost", of), str(much)) for of, much in its.cost.items()},
            {of: self._formula((*at, "reroll", of), text, is_of_die=True) for of, text in its.reroll.items()},
            self._formula((*at, "most"), str(its.most)) if its.most != "" else None,
            self._formula((*at, "prefer"), str(its.prefer)),
            its.pick,
        )

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
        return self._called(expr) if isinstance(expr, Call) else with_inner(expr, self.written)

    def _slot(self, read: Read) -> Expr:
        if read not in self.slots:
            self.slots.append(read)
        return Name(f"{SLOT}{self.slots.index(read)}")

    def _called(self, call: Call) -> Expr:
        if call.name in self.definitions:
            return self._defined(call.name, call.args)
        if call.name not in FUNCTIONS:
            known = (*FUNCTIONS, *self.definitions)
            before, minus, last = call.name.rpartition("-")
            if minus and last in known:
                parts = f"{before} - {last}(...)"
                raise FormulaError(
                    f"{call.name} is read as one name; to subtract, write blanks around the minus: {parts}"
                )
            near = nearest(call.name, known)
            advice = f"did you mean `{near}`?" if near else f"there are {enumerated(known)}"
            raise FormulaError(f"there is no function {call.name!r}; {advice}")
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
            raise FormulaError(f"times takes the label of a question; there are: {enumerated(self.asks)}")
        options = self.asks[label.name].options
        if not isinstance(option, Const) or option.value not in ("", *options):
            raise FormulaError(f"times takes an option of {label.name} second: {enumerated(map(repr, options))}")
        return Name(f"{TIMES}{label.name}{option.value and f':{option.value}'}")

    def _reading(self, call: Call) -> Expr:
        groups, rest = list[str](), list(call.args)
        while rest and isinstance(rest[0], Name) and rest[0].name in self.groups:
            groups.append(rest.pop(0).name)  # type: ignore[union-attr]
        if not groups or len(rest) > 1:
            known = enumerated(self.groups, none="")
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
        bound = dict(zip(definition.of, args, strict=True))
        try:
            tree = cases(definition.cases) if definition.cases else formula(definition.value)
            found = self.written(changed(tree, lambda one: bound.get(one.name, one) if isinstance(one, Name) else one))
        except FormulaError as error:
            error.definition = error.definition or name
            raise
        self.nested -= 1
        return found
