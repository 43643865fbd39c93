"""The records of `[actions]` and `[define]` in `ruleset.toml`: what an action takes, rolls and comes to."""

from __future__ import annotations

from typing import Any, Literal

from rpgres.rulesets.rows import Condition, Formula, Id, Range, Record, check_effects


class Instead(Record, frozen=True):
    """Other dice, opposition or measure of a described action under some circumstances; what is left out stays.

    Attributes:
        when: the circumstances: choices, flags and numbers of parameters and sheets, switches.
        unless: what must not hold; written as `when`.
        roll: the dice that are rolled then.
        vs: what opposes then.
        by: the number that decides then.
    """

    when: Condition = {}
    unless: Condition = {}
    roll: str = ""
    vs: str = ""
    by: str = ""


class Group(Record, frozen=True):
    """Dice of an action by their name, where more is to be said of them than how many there are.

    Attributes:
        roll: the dice in notation, with formulas in braces.
        worth: a formula of `face`: what a die counts for in sums and for the highest and lowest; its face if left out.
        again: a condition of `face`: a die for which it holds brings a further one, which counts by itself; `added` is
            0 for the first dice and 1 for those that were brought.
    """

    roll: str
    worth: str = ""
    again: str = ""


class Definition(Record, frozen=True):
    """A formula that several formulas share, by name; or a word for a number.

    Attributes:
        of: the names that stand for what it is used with.
        value: the formula.
        cases: words with the condition of each; the first that holds.
    """

    of: list[Id] = []
    value: str = ""
    cases: dict[Id, str] = {}

    def __post_init__(self) -> None:
        if bool(self.value) == bool(self.cases):
            raise ValueError("a definition has either a value or cases")


class Choosable(Record, frozen=True, kw_only=True):
    """One answer to a question inside a roll. What it adds to the result, formulas say that name the question.

    Attributes:
        text: what it means.
        when: a formula: it is offered where this holds.
        cost: what whoever decides pays for it: a counter or a track of their sheet, and a formula for how much of it;
            it is offered where there is as much.
        reroll: which dice are thrown again: a group, and a condition of `face`.
        most: a formula: how many of these dice are thrown again at most, those that count least first.
        pick: whether other dice may be picked: there is then an option more for each way, called NAME-FACE-FACE.
        prefer: a formula: how gladly whoever decides takes it, for policies, which let the question pass at 0.
        effects: what it changes when the action is over, beside what the outcome does.
    """

    text: str = ""
    when: str = ""
    cost: dict[Id, int | str] = {}
    reroll: dict[Id, str] = {}
    most: int | str = ""
    pick: bool = False
    prefer: int | str = 0
    effects: list[dict[str, Any]] = []

    def __post_init__(self) -> None:
        check_effects(effects=self.effects)


class Asking(Record, frozen=True, kw_only=True):
    """A question inside a roll, which may always stay unanswered.

    It is asked before the first dice that name its label in a formula, else when all dice lie. The label is the option
    that was chosen last, `no` where none was.

    Attributes:
        text: the question as put to a person.
        who: the role that answers: actor, opponent, gm, or a parameter of the kind `character`.
        when: a formula: it is asked where this holds.
        times: how often it is asked at most, as long as it is answered.
        options: what may be answered, by name.
    """

    text: str
    who: str = "actor"
    when: str = ""
    times: int = 1
    options: dict[Id, Choosable]


class Action(Record, frozen=True):
    """An action of the ruleset: its help, what it takes (names in `[parameters]`), and the labels its rule asks.

    An action with `roll` is described: it needs no rule in code. `roll` and `vs` are dice in notation with `{NAME}` for
    a parameter, or an ability or counter of the actor's sheet. `under` means that lower is better. `counts` counts
    dice of the roll (`sixes = "=6"`), `numbers` works out others. Bounds of bands are those of `by`: `total`, `margin`,
    `natural`, `highest`, `lowest`, a count or a number; left out, the margin when something opposes, else the total.

    Attributes:
        summary: what it does, in a line.
        details: more, for its help.
        example: a command line that works.
        sentence: what the account of a scene says is done, with inputs in braces; a part in brackets is left out where
            one of its inputs was not given.
        parameters: what it takes, in the order of its help.
        required: parameters it cannot do without, by the name they are typed under.
        labels: what its rule asks, beside the questions of its outcome tables.
        tables: its outcome tables; a described action has the one of its own name.
        roll: what is rolled: dice with {NAME} for a parameter, ability or counter; it needs no code.
        vs: what opposes a described action: {NAME} of an opposition, or dice like those of roll.
        under: whether lower is better: the margin is then the opposition less the total.
        by: the number that bands speak of: margin, total, natural, highest, lowest, a count or a number.
        counts: dice of the roll that are counted, by name: sixes = "=6", hits = ">=8".
        dice: the dice by name, in place of roll, in the order in which they are rolled: plain = "{pool - hunger}d10".
        ask: questions inside the roll, by label, of an action with `dice`: to throw dice again, to spend something.
        numbers: numbers that are worked out, by name, in notation with {NAME}: half = "{skill}/2"; of an action with
            `dice` formulas, of numbers or words: half = "skill / 2".
        tell: numbers and words that are told beside the outcome, of an action with `dice`; as a table, under what name.
        instead: other dice, opposition or measure under some circumstances, by name; the first that fits.
        bands: when each outcome comes about in this action, in place of what [bands] says; of an action with `dice` the
            condition of each, tried in order.
        band: a formula for the outcome's name, in place of bands, of an action with `dice`.
        odds: who decides for the acting character in odds by default: policies; policies after the first decision,
            of which each option is evaluated (each); or an optimal player (best).
        anybody: whether the action is the same for every character, so that no actor has to be named.
        confirmed: whether a player's word that it happens is a claim at a persistent table, as it gives something.
        opposed_with: the setting that lists the abilities of which a character who is named alone opposes it with the
            best, as a path with {NAME} for a parameter: conflict.{track}.defense.
        procedure: whether it is played in turns, as a contest or a conflict is.
    """

    summary: str
    details: str = ""
    example: str = ""
    sentence: str = ""
    parameters: list[Id] = []
    required: list[Id] = []
    labels: list[Id] = []
    tables: list[str] = []
    roll: str = ""
    vs: str = ""
    under: bool = False
    by: str = ""
    counts: dict[Id, str] = {}
    dice: dict[Id, str | Group] = {}
    ask: dict[Id, Asking] = {}
    numbers: dict[Id, Formula] = {}
    tell: list[Id] | dict[Id, Id] = []
    instead: dict[Id, Instead] = {}
    bands: dict[Id, str | Range] = {}
    band: str = ""
    odds: Literal["policies", "each", "best"] = "policies"
    anybody: bool = False
    confirmed: bool = False
    opposed_with: str = ""
    procedure: bool = False

    @property
    def is_described(self) -> bool:
        """Whether the data say what is rolled."""
        return bool(self.roll or self.dice)

    @property
    def told(self) -> dict[str, str]:
        """What is told beside the outcome: the number, by the name under which it is told."""
        return self.tell if isinstance(self.tell, dict) else {name: name for name in self.tell}

    @property
    def ranges(self) -> dict[str, Range]:
        """The bands that have bounds or tables of conditions."""
        return {name: one for name, one in self.bands.items() if isinstance(one, Range)}

    @property
    def conditions(self) -> dict[str, str]:
        """The bands of an action with named dice: the condition of each, `else` last."""
        found = [(name, one) for name, one in self.bands.items() if isinstance(one, str)]
        return dict(sorted(found, key=lambda item: item[1] == "else"))

    @property
    def formulas(self) -> dict[str, str]:
        """The numbers of an action with named dice."""
        return {name: one for name, one in self.numbers.items() if isinstance(one, str)}
