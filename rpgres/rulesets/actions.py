"""The records of `[actions]` and `[define]` in `ruleset.toml`: parameters, dice, questions and formulas of actions."""

from typing import Any, Literal

from rpgres.rulesets.rows import Id, Record, check_effects

ROLL, OPPOSITION = "roll", "opposition"  # the groups of dice without a name, and of the opposition
NUMERIC = ("ability", "integer", "counter")  # the kinds of parameters that are whole numbers
OPPONENT = "opponent"
OPPOSED = f"{OPPONENT}."  # `{opponent.armour}`: an ability or counter of the opponent


class Group(Record, frozen=True):
    """Named dice of an action with more than their number.

    Attributes:
        roll: the dice in notation, with formulas in braces.
        worth: a formula of `face`: the value of a die in sums and for the highest and lowest; its face if left out.
        again: a condition of `face`: a die for which it holds adds a further one, which counts by itself; `added` is
            0 for the first dice and 1 for added ones.
    """

    roll: str
    worth: str = ""
    again: str = ""


class Definition(Record, frozen=True):
    """A formula that several formulas share, by name; or a word for a number.

    Attributes:
        of: its arguments, by name.
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
    """An option of a question inside a roll. Formulas that name the question say what the option adds to the result.

    Attributes:
        text: what it means.
        when: a condition: the option is offered where it holds.
        cost: the price: a counter or a track of the deciding character, and a formula for the amount; the option is
            offered where that much is left.
        reroll: the dice to reroll: a group, and a condition of `face`.
        most: a formula: the maximum number of these dice, those of the least value first; at least 0.
        pick: whether other dice can be picked, named by their faces in any order: NAME-FACE-FACE.
        prefer: a formula: the preference of policies, which skip the question at 0.
        effects: what it changes at the end of the action, in addition to the effects of the outcome.
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
    """A question inside a roll, which may always be skipped.

    It is asked before the dice that `before` names, or the first with its label in a formula, otherwise after all
    rolls. In formulas the label is the option that was chosen last, `no` where none was.

    Attributes:
        text: the question.
        who: the role that decides: actor, opponent, gm, or a parameter of the kind `character`.
        when: a condition: the question is asked where it holds.
        before: the dice before which it is asked, where no formula of earlier dice names it.
        times: the maximum number of times that it is asked, each after an answer; at least 1.
        options: its options, by name.
    """

    text: str
    who: str = "actor"
    when: str = ""
    before: str = ""
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
        turns: the same for a turn of a procedure, by what is done in it, with {actor} and {opponent}; by default the
            sentence of the action of that name.
        parameters: what it takes, in the order of its help.
        required: parameters it cannot do without, by the name they are typed under.
        labels: what its rule asks, beside the questions of its outcome tables.
        tables: its outcome tables; a described action has the one of its own name.
        dice: the dice by name, in the order in which they are rolled: plain = "{pool - hunger}d10"; a text alone is
            the dice `roll`. Those called `opposition` are what opposes.
        ask: questions inside the roll, by label: to reroll dice, to spend points.
        numbers: formulas of numbers and words, by name: half = "skill / 2".
        tell: numbers and words that are told beside the outcome; as a table, under what name.
        bands: the condition of each outcome, tried in order, in place of the bounds of [bands].
        band: a formula for the outcome's name, in place of bands.
        odds: who decides for the acting character in odds by default: policies; policies after the first decision,
            of which each option is evaluated (each); or an optimal player (best).
        anybody: whether the action is the same for every character, so that no actor has to be named.
        confirmed: whether a player's word that it happens is a claim at a persistent table, as it gives something.
        opposed_with: the setting that lists the abilities of which a character who is named alone opposes it with the
            best, as a path with {NAME} for a parameter: conflict.{track}.defense. Where the setting PATH-against lists
            others for the ability that is used, these count.
        procedure: whether it is played in turns, as a contest or a conflict is.
    """

    summary: str
    details: str = ""
    example: str = ""
    sentence: str = ""
    turns: dict[Id, str] = {}
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
