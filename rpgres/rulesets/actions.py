"""The records of `[actions]` and `[define]` in `ruleset.toml`: what an action takes, rolls and comes to."""

from __future__ import annotations

from typing import Any, Literal

from rpgres.rulesets.rows import Id, Record, check_effects

ROLL, OPPOSITION = "roll", "opposition"  # dice that have no name, and those of whoever opposes


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

    An action with `dice` is described: it needs no rule in code. `numbers` are formulas of parameters, sheets and dice;
    `bands` are conditions. Without `bands` and `band`, the bounds of `[bands]` hold for the margin when something
    opposes, else for the total.

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
        dice: the dice by name, in the order in which they are rolled: plain = "{pool - hunger}d10"; a text alone is
            the dice `roll`. Those called `opposition` are what opposes.
        ask: questions inside the roll, by label: to throw dice again, to spend something.
        numbers: numbers and words that are worked out, by name, as formulas: half = "skill / 2".
        tell: numbers and words that are told beside the outcome; as a table, under what name.
        bands: the condition of each outcome, tried in order, in place of the bounds of [bands].
        band: a formula for the outcome's name, in place of bands.
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
    dice: str | dict[Id, str | Group] = {}
    ask: dict[Id, Asking] = {}
    numbers: dict[Id, str] = {}
    tell: list[Id] | dict[Id, Id] = []
    bands: dict[Id, str] = {}
    band: str = ""
    odds: Literal["policies", "each", "best"] = "policies"
    anybody: bool = False
    confirmed: bool = False
    opposed_with: str = ""
    procedure: bool = False

    @property
    def is_described(self) -> bool:
        """Whether the data say what is rolled."""
        return bool(self.dice)

    @property
    def groups(self) -> dict[str, Group]:
        """The dice by name."""
        named = {ROLL: self.dice} if isinstance(self.dice, str) else self.dice
        return {name: Group(roll=its) if isinstance(its, str) else its for name, its in named.items() if its}

    @property
    def told(self) -> dict[str, str]:
        """What is told beside the outcome: the number, by the name under which it is told."""
        return self.tell if isinstance(self.tell, dict) else {name: name for name in self.tell}

    @property
    def conditions(self) -> dict[str, str]:
        """The condition of each band, `else` last."""
        return dict(sorted(self.bands.items(), key=lambda item: item[1] == "else"))
