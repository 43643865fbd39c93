"""The records of `[parameters]`, `[actions]` and `[define]` in `ruleset.toml`: inputs, dice, questions and formulas."""

from typing import Annotated, Any, Literal

import msgspec

from rpgres.rulesets.rows import Bounds, Id, Record, check_effects

ROLL, OPPOSITION = "roll", "opposition"  # the groups of dice without a name, and of the opposition
NUMERIC = ("ability", "integer", "counter")  # the kinds of parameters that are whole numbers
OPPONENT = "opponent"
OPPOSED = f"{OPPONENT}."  # `{opponent.armour}`: an ability or counter of the opponent
SaidBy = Literal["", "player", "confirmed", "gm"]
SeenBy = Literal["", "all", "own"]


class Input(Record, Bounds, frozen=True, kw_only=True):
    """What parameters and fields of forms have in common.

    Attributes:
        kind: what may be typed, and what the rule gets.
        help: a line of help.
        default: the value when it is left out.
        choices: for a choice: what may be typed, and what it means.
        at_least: the smallest number.
        at_most: the largest number; of cards: how many there can be.
        seat: for a flag: the seat that a character added together with it gets (`gm`).
        pile: for cards, and for a text that names some: where they lie; of a form, the pile of the named character.
        said_by: who gives it at a persistent table: the acting player (`player`), the same if the game master confirms
            what no sheet has (`confirmed`), or no player (`gm`).
        seen_by: which seats read the value at a persistent table: every seat (`all`), or the one that typed it (`own`).
    """

    kind: str
    help: str
    default: str | int | bool | None = None
    choices: dict[str, str] = {}
    at_least: int | None = None
    at_most: int | None = None
    seat: Literal["", "gm"] = ""
    pile: str = ""
    said_by: SaidBy = ""
    seen_by: SeenBy = ""


class FormField(Input, frozen=True, kw_only=True):
    """One of the things that a parameter of the kind `form` says of whatever it names, or a typed answer of itself.

    kinds: `ability`, `integer`, `text`, `flag` and `choice` as for parameters, and `dice` (a number, or dice). A flag
    with `seat = "gm"` gives the character who joins by it to the game master. A text with a `pile` names the cards
    there of the named character, as the kind `cards` does for parameters; the rule lays them there (`Table.place`).
    `said-by` and `seen-by` are as for parameters.

    Attributes:
        required: whether it has to be given.
    """

    kind: Literal["ability", "integer", "text", "flag", "choice", "dice"]
    required: bool = False


class Parameter(Input, frozen=True, kw_only=True):
    """Something an action takes: a command line option, a key of `with` in a scene, an argument of the rule.

    kinds: `ability` (NAME, NAME=N or N), `opposition` (see `inputs`), `integer`, `dice`, `text`, `flag`, `choice`,
    `character` (a name at the table, or a sheet), `tag` (TEXT or TEXT=USES: put on the table before the action),
    `counter` (sets a counter of the actor, or of the table, before the action), `cards` (what lies in `pile` before the
    action, for people with real cards; separated by commas). The last three are no arguments of the rule. `form` is
    a name with `fields`, as NAME:key=value,key=value; with `seats` the name may be a character's at the table, or a
    sheet's, who then joins it; with `guests` any other name joins it, too, without a sheet; with `others` no other
    name is allowed, nor the actor's. With `many` it may be given several
    times, up to `most`, as a tag always may; `most` holds for the number of `cards` too, where `at-most` says nothing.
    A flag with `seat = "gm"` gives the actor to the game master, if the actor joins by it.
    `name` is the option's name where it differs from the key in `[parameters]`.

    At a persistent table `said-by` tells who says it: `player` (the actor), `confirmed` (the actor, and the game
    master confirms what no sheet has), `gm` (no player). `seen-by` tells who reads what was typed: `all`, or `own`
    (who typed it). What they are when left out: `speaker` and `is_public`.

    For described actions: `values` says what each choice stands for in dice; `rolls` says what SHEET:ABILITY stands for
    as opposition (`{rating}` is the ability; left out: the ruleset's dice and the rating), and with `numbers-too` a
    plain number is such a rating as well; `unit = "successes"` lets `3 successes` be the number 3 all the same.

    Attributes:
        name: the option's name where it differs from the key.
        metavar: what stands for the value in help.
        many: whether it can be given several times.
        most: how often it can be given at most; of cards: how many there can be, where `at-most` says nothing.
        values: for a choice: what each stands for in dice.
        rolls: for an opposition: the dice that SHEET:ABILITY stands for, with {rating} for the ability.
        numbers_too: for an opposition: whether a plain number is such a rating as well.
        unit: for an opposition with numbers-too: the word behind a number that is no rating, as in `3 successes`.
        aliases: further names of the option.
        among: for an integer: the only numbers that can be typed, such as the sides of dice.
        tag: for a tag: the kind that is put on the table.
        holder: for a tag or counter: who holds the free uses, or whose counter it is.
        counter: for a counter: which one is set.
        fields: for a form: what may be said behind NAME:.
        seats: for a form: whether the name may be a character at the table, or a sheet, which is then added.
        guests: for a form with `seats`: whether a name without a sheet is added as a character, too.
        others: for a form with `seats`: whether it has to be at the table or have a sheet, and not be the actor;
            for a character: whether it must not be the actor.
    """

    kind: Literal[
        "ability",
        "opposition",
        "integer",
        "dice",
        "text",
        "flag",
        "choice",
        "character",
        "tag",
        "counter",
        "cards",
        "form",
    ]
    name: str = ""
    metavar: str = ""
    many: bool = False
    most: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100
    values: dict[str, str] = {}
    rolls: str = ""
    numbers_too: bool = False
    unit: str = ""
    aliases: list[Id] = []
    among: list[int] = []
    tag: str = ""
    holder: str = "actor"
    counter: str = ""
    fields: dict[Id, FormField] = {}
    seats: bool = False
    guests: bool = False
    others: bool = False

    @property
    def is_repeated(self) -> bool:
        """Whether it may be given several times, up to `most`."""
        return self.many or self.kind == "tag"

    @property
    def is_argument(self) -> bool:
        """Whether the rule gets it; the others change the table before the action."""
        return self.kind not in ("tag", "counter", "cards")


def speaker(described: Input) -> SaidBy:
    """Return who says something at a persistent table.

    Undeclared, words and plain choices are the player's, what a counter holds is the game master's, and everything else
    (numbers, flags, choices of dice, opposition, names that are not at the table) is confirmed where no sheet has it.
    """
    if described.said_by:
        return described.said_by
    if described.kind == "counter":
        return "gm"
    is_words = described.kind == "text" and not described.pile
    is_plain = described.kind == "choice" and not getattr(described, "values", {})
    return "player" if is_words or is_plain else "confirmed"


def said_words(described: Parameter | FormField) -> str:
    """Return who states an input, where it is not the actor's player; else nothing."""
    return "given by the game master" if speaker(described) == "gm" else ""


def is_public(described: Parameter | FormField) -> bool:
    """Tell whether everybody at a persistent table reads what was typed; undeclared, all but cards in a pile."""
    return described.seen_by != "own" and (described.seen_by == "all" or not described.pile)


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
        tell: numbers and words that are told beside the outcome; as a table, under what name. Those that its outcome
            table speaks of are also facts of the table's questions, for orders and policies.
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
