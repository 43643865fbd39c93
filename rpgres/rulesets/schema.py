"""The records of TOML: what may stand in `ruleset.toml`, in outcome tables and in menus. Nothing is read here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

Id = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")]


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    pass


# What has to hold: bounds (`margin-from`, `NAME-to`), facts of the run, switches. A bound may name a number.
Condition = dict[str, str | int | list[str | int]]


class Bounded(_Record, frozen=True):
    """A number or a roll that never counts for less than `at-least`, nor for more than `at-most`."""

    value: str
    at_least: int | None = None
    at_most: int | None = None

    def within(self, number: int) -> int:
        """Return what a number counts for."""
        if self.at_least is not None:
            number = max(number, self.at_least)
        return number if self.at_most is None else min(number, self.at_most)


Formula = str | Bounded  # dice or a number with names in braces; as a table with its bounds


def bounded(formula: Formula) -> Bounded:
    """Return a formula with its bounds, of which a plain one has none."""
    return Bounded(value=formula) if isinstance(formula, str) else formula


def templates(formulas: Mapping[str, Formula]) -> dict[str, str]:
    """Return formulas by name without their bounds."""
    return {name: bounded(formula).value for name, formula in formulas.items()}


class Range(_Record, frozen=True, kw_only=True):
    """When an outcome comes about: within bounds (included; left out means open), under conditions, or both."""

    from_: Annotated[int | None, msgspec.Meta(description="the lowest number of this outcome")] = msgspec.field(
        default=None, name="from"
    )
    to: Annotated[int | None, msgspec.Meta(description="the highest number of this outcome")] = None
    when: Condition = {}
    unless: Condition = {}

    def has(self, number: int) -> bool:
        """Tell whether a number is within the bounds; nothing is within none."""
        is_above = self.from_ is None or number >= self.from_
        return self.has_bounds and is_above and (self.to is None or number <= self.to)

    @property
    def has_bounds(self) -> bool:
        """Whether numbers give it at all."""
        return self.from_ is not None or self.to is not None

    @property
    def is_exception(self) -> bool:
        """Whether it has conditions, and so is tried before what has bounds alone."""
        return bool(self.when or self.unless)


class Band(Range, frozen=True, kw_only=True):
    """One of a ruleset's outcomes, and the margins that give it (`from` and `to` are included; left out means open).

    `unopposed` marks the band of an action that nothing opposes; a band with neither is only ever named by a table.
    `also` names a band that this one is as well: its rows in outcome tables hold here too, before the own ones.
    Of a described action (one with `roll`) the bounds are those of its measure (`by`), and `when` and `unless` make
    the band an exception: exceptions are tried first, in the order written.
    """

    title: str
    success: bool | None = None
    unopposed: bool = False
    also: Annotated[str, msgspec.Meta(description="the band that this one is as well")] = ""


class EffectHead(msgspec.Struct, frozen=True):
    """What is the same in all effects: the kind, and when they come about. Their other fields are the kind's own."""

    kind: str = ""
    when: Condition = {}
    unless: Condition = {}


def _check_effects(**lists: list[dict[str, Any]]) -> None:
    """Check the heads of effects as their record is made, so that nobody after it meets another type there.

    Raises:
        ValueError: one is faulty.
    """
    for name, effects in lists.items():
        try:
            if effects:
                msgspec.convert(effects, list[EffectHead])
        except (msgspec.ValidationError, RecursionError, UnicodeError):
            from rpgres.toml.diagnostics import key_text
            from rpgres.toml.faults import faults

            fault = faults({name: effects}, dict[str, list[EffectHead]])[0]
            raise ValueError(f"{key_text(fault.path)}: {fault.message}") from None


class RowOption(_Record, frozen=True):
    """One answer to a question of an outcome table: what it means and what comes of it.

    `prefer` tells policies how gladly its owner takes it; only the order of the numbers matters.
    """

    text: str
    prefer: int = 0
    rolls: dict[Id, Formula] = {}
    effects: list[dict[str, Any]] = []
    ask: dict[Id, RowQuestion] = {}
    when: Condition = {}
    unless: Condition = {}

    def __post_init__(self) -> None:
        _check_effects(effects=self.effects)


class RowQuestion(_Record, frozen=True):
    """A decision that an outcome asks for.

    `who` is a role (`actor`, `opponent`, `gm`) or `switch:NAME`. An `optional` question may stay unanswered.
    `menu` takes everything but the conditions from `[menus.NAME]`.
    """

    who: str = ""
    text: str = ""
    optional: bool = False
    options: dict[Id, RowOption] = {}
    menu: str = ""
    when: Condition = {}
    unless: Condition = {}


class Row(_Record, frozen=True):
    """What one band of an outcome table means: text, effects, and the questions it asks, by label.

    `rolls` are made when the row comes about (label = dice, with `{NAME}` for a number); effects use them by label.
    """

    text: str = ""
    rolls: dict[Id, Formula] = {}
    effects: list[dict[str, Any]] = []
    ask: dict[Id, RowQuestion] = {}

    def __post_init__(self) -> None:
        _check_effects(effects=self.effects)


OutcomeTable = dict[Id, Row]


CLAIM = "claim"  # the label of the engine's own question whether something typed counts; no ruleset's
SaidBy = Literal["", "player", "confirmed", "gm"]
SeenBy = Literal["", "all", "own"]


class FormField(_Record, frozen=True):
    """One of the things that a parameter of the kind `form` says of whatever it names, or a typed answer of itself.

    kinds: `ability`, `integer`, `text`, `flag` and `choice` as for parameters, and `dice` (a number, or dice). A flag
    with `seat = "gm"` makes whoever sits down by it the game master's. A text with a `pile` says which cards lie there
    for whoever is named, as the kind `cards` does for parameters; the rule lays them there (`Table.place`).
    `said-by` and `seen-by` are as for parameters.
    """

    kind: Literal["ability", "integer", "text", "flag", "choice", "dice"]
    help: str
    default: str | int | bool | None = None
    required: bool = False
    choices: dict[str, str] = {}
    at_least: int | None = None
    at_most: int | None = None
    seat: Literal["", "gm"] = ""
    pile: str = ""
    said_by: SaidBy = ""
    seen_by: SeenBy = ""


class Parameter(_Record, frozen=True):
    """Something an action takes: a command line option, a key of `with` in a scene, an argument of the rule.

    kinds: `ability` (NAME, NAME=N or N), `opposition` (see `inputs`), `integer`, `text`, `flag`, `choice`,
    `character` (a name at the table, or a sheet), `tag` (TEXT or TEXT=USES: put on the table before the action),
    `counter` (sets a counter of the actor, or of the table, before the action), `cards` (what lies in `pile` before the
    action, for people with real cards; separated by commas). The last three are no arguments of the rule. `form` is
    somebody or something with what is said of it in `fields`, as NAME:key=value,key=value; with `seats` the name may be
    somebody's at the table, or a sheet's, who then sits down; with `guests` whoever else is named sits down
    too, without a sheet. With `many` it may be given several times, up to `most`, as a tag always may; `most` holds for
    the number of `cards` too, where `at-most` says nothing. A flag with `seat = "gm"` makes whoever acts the game
    master's, if they sit down by it.
    `name` is the option's name where it differs from the key in `[parameters]`.

    At a persistent table `said-by` tells who says it: `player` (whoever acts), `confirmed` (whoever acts, and the game
    master confirms what no sheet has), `gm` (no player). `seen-by` tells who reads what was typed: `all`, or `own`
    (whoever typed it). What they are when left out: `speaker` and `is_public`.

    For described actions: `values` says what each choice stands for in dice; `rolls` says what SHEET:ABILITY stands for
    as opposition (`{rating}` is the ability; left out: the ruleset's dice and the rating), and with `numbers-too` a
    plain number is such a rating as well; `unit = "successes"` lets `3 successes` be the number 3 all the same.
    """

    kind: Literal[
        "ability", "opposition", "integer", "text", "flag", "choice", "character", "tag", "counter", "cards", "form"
    ]
    help: str
    name: str = ""
    metavar: str = ""
    many: bool = False
    most: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100
    default: str | int | bool | None = None
    choices: dict[str, str] = {}
    seat: Literal["", "gm"] = ""
    values: dict[str, str] = {}
    rolls: str = ""
    numbers_too: bool = False
    unit: str = ""
    aliases: list[Id] = []
    at_least: int | None = None
    at_most: int | None = None
    tag: str = ""
    holder: str = "actor"
    counter: str = ""
    pile: str = ""
    fields: dict[Id, FormField] = {}
    seats: bool = False
    guests: bool = False
    said_by: SaidBy = ""
    seen_by: SeenBy = ""

    @property
    def is_repeated(self) -> bool:
        """Whether it may be given several times, up to `most`."""
        return self.many or self.kind == "tag"

    @property
    def is_argument(self) -> bool:
        """Whether the rule gets it; the others change the table before the action."""
        return self.kind not in ("tag", "counter", "cards")


def speaker(described: Parameter | FormField) -> SaidBy:
    """Return who says something at a persistent table.

    Undeclared, words and plain choices are the player's, what a counter holds is the game master's, and everything else
    (numbers, flags, choices of dice, opposition, whoever is not at the table) is confirmed where no sheet has it.
    """
    if described.said_by:
        return described.said_by
    if described.kind == "counter":
        return "gm"
    is_words = described.kind == "text" and not described.pile
    is_plain = described.kind == "choice" and not (isinstance(described, Parameter) and described.values)
    return "player" if is_words or is_plain else "confirmed"


def said_words(described: Parameter | FormField) -> str:
    """Return who says something in words, where it is not the player of whoever acts; else nothing."""
    return "said by the game master" if speaker(described) == "gm" else ""


def is_public(described: Parameter | FormField) -> bool:
    """Tell whether everybody at a persistent table reads what was typed; undeclared, all but cards in a pile."""
    return described.seen_by != "own" and (described.seen_by == "all" or not described.pile)


class Instead(_Record, frozen=True):
    """Other dice, opposition or measure of a described action under some circumstances; what is left out stays."""

    when: Condition = {}
    unless: Condition = {}
    roll: str = ""
    vs: str = ""
    by: str = ""


class Action(_Record, frozen=True):
    """An action of the ruleset: its help, what it takes (names in `[parameters]`), and the labels its rule asks.

    An action with `roll` is described: it needs no rule in code. `roll` and `vs` are dice in notation with `{NAME}` for
    a parameter, or an ability or counter of the actor's sheet. `under` means that lower is better. `counts` counts
    dice of the roll (`sixes = "=6"`), `numbers` works out others. Bounds of bands are those of `by`: `total`, `margin`,
    `natural`, `highest`, `lowest`, a count or a number; left out, the margin when something opposes, else the total.
    """

    summary: str
    details: str = ""
    example: str = ""
    parameters: list[Id] = []
    required: list[Id] = []
    labels: list[Id] = []
    tables: list[str] = []
    roll: str = ""
    vs: str = ""
    under: bool = False
    by: str = ""
    counts: dict[Id, str] = {}
    numbers: dict[Id, Formula] = {}
    instead: dict[Id, Instead] = {}
    bands: dict[Id, Range] = {}
    odds: Annotated[
        Literal["policies", "each", "best"],
        msgspec.Meta(
            description="who decides for whoever acts in odds, if it is not said: policies; policies after the first "
            "decision, whose options are weighed each (each); or whoever decides as well as can be (best)"
        ),
    ] = "policies"
    anybody: Annotated[
        bool, msgspec.Meta(description="who acts makes no difference, so that a table asks nobody to say who")
    ] = False
    confirmed: Annotated[
        bool, msgspec.Meta(description="at a persistent table, a player's word that it happens is a claim")
    ] = False


class Switch(_Record, frozen=True):
    """A house rule: its choices, the default, and where the question comes from.

    A choice may bring choices of other switches with it, where those are not chosen themselves.
    """

    help: str
    choices: dict[str, str]
    default: str
    source: str
    brings: dict[str, dict[str, str]] = {}

    def __post_init__(self) -> None:
        if self.default not in self.choices:
            raise ValueError(f"the default {self.default!r} is none of the choices")


class Label(_Record, frozen=True):
    """A question that rules ask under one name, as it is typed after `--given` or `--choose`.

    `fields` are what a typed answer says as `key=value,key=value`, so that a persistent table can compare the numbers
    in it with the sheet of whoever answers; the rule reads the answer itself.
    """

    kind: Literal["chance", "decision"]
    help: str
    who: str = ""
    optional: bool = False
    fields: dict[Id, FormField] = {}


class MoreBoxes(_Record, frozen=True):
    """More boxes on a track from some rating of an ability on, always or with some switches."""

    ability: str
    at: int
    boxes: dict[str, int]
    when: Annotated[Condition, msgspec.Meta(description="the switches with which these boxes are there")] = {}


class Track(_Record, frozen=True):
    """A row of boxes every character has: names and sizes, and the abilities that add some.

    What is written into a box of a track with a `tag` is a text with game weight of that kind. `when` speaks of
    switches: a house rule may give other tracks.
    """

    title: str
    boxes: Annotated[
        dict[str, int] | int, msgspec.Meta(description="the boxes with their sizes, or how many of size 1 there are")
    ] = {}
    more: list[MoreBoxes] = []
    tag: str = ""
    when: Annotated[Condition, msgspec.Meta(description="the switches with which characters have this track")] = {}

    @property
    def sizes(self) -> dict[str, int]:
        """The boxes by name, with their sizes; mere numbers of boxes are called 1, 2, 3."""
        return {str(box): 1 for box in range(1, self.boxes + 1)} if isinstance(self.boxes, int) else self.boxes


class PileText(_Record, frozen=True):
    """A place where cards lie.

    `face` says who sees the cards: everybody (`up`), nobody (`down`), or its owner alone (`hand`). With `each`, every
    character has one of its own; with `each = "players"` whoever is not the game master's. With the switches of
    `hidden-when` a pile that lies open is its owner's alone, the table's being the game master's. `decks` are the
    decks of which the cards lie here at first, each with the switches under which it is the one. When a card is drawn
    and there is none, the pile `refill` is shuffled into this one, with the switches of `refill-when`. Cards that
    somebody says lie here come from the pile `dealt-from`. The cards of the decks are shuffled into the pile
    `given-to`, which is nobody's own, as soon as they are there, and this one is left empty.
    """

    title: str
    face: Literal["up", "down", "hand"] = "up"
    each: bool | Literal["players"] = False
    decks: Annotated[dict[Id, Condition], msgspec.Meta(description="decks, with the switches that choose one")] = {}
    hidden_when: Condition = {}
    refill: str = ""
    refill_when: Condition = {}
    dealt_from: str = ""
    given_to: str = ""


class Period(_Record, frozen=True):
    """Something that begins and ends at a table, such as a scene or an exchange; its effects are applied then.

    An `implied` one can end without anybody having said that it began: play is in it anyway.
    """

    help: str
    implied: bool = False
    begin: list[dict[str, Any]] = []
    end: list[dict[str, Any]] = []

    def __post_init__(self) -> None:
        _check_effects(begin=self.begin, end=self.end)


class Field(_Record, frozen=True):
    """One key of a character sheet.

    kinds: `text`; `counter` (a whole number; a text as `default` names the counter to start from); `abilities`
    (name = rating); `tags` (name = text, or a list of texts, of the kind `tag`); `records` (name = a table with
    `fields`; with a `tag`, the name is a text with game weight too); `boxes` (track = how many boxes, for characters
    with fewer); `marks` (track = names of marked boxes); `written` (box = text, on the track `track`); `seat` (`player`
    or `gm`: who plays the character).
    """

    kind: Literal["text", "counter", "abilities", "tags", "records", "boxes", "marks", "written", "seat"]
    help: str
    required: bool = False
    default: int | str | None = None
    at_least: int | None = None
    at_most: int | None = None
    names: list[str] = []
    any_name: bool = False
    tag: str = ""
    track: str = ""
    fields: dict[Id, RecordField] = {}


class RecordField(_Record, frozen=True):
    """One key of a record on a sheet, such as a stunt's `bonus`."""

    kind: Literal["text", "integer", "flag", "choice"]
    help: str
    required: bool = False
    choices: list[str] = []
    default: int | str | bool | None = None


# What effects need to say for what they do, and the field of the kind that says on what.
DONE_WITH: dict[str, tuple[str, ...]] = {
    "counter": ("to", "change"),
    "tag": ("name", "on", "to", "count"),
    "untag": ("name",),
    "mark": ("to", "count"),
    "clear": ("to", "count"),
    "out": ("to",),
}
DONE_ON = {"counter": "counter", "tag": "tag", "mark": "track", "clear": "track"}
COUNTED = ("change", "count")  # those of these fields that hold a whole number


FIELDS = re.compile(r"\{([a-z][a-z-]*)\}")  # fields in the words for an effect


class EffectText(_Record, frozen=True):
    """What an effect kind means, and its fields (name = help), for readers of the JSON and its schema.

    `does` says what it changes, where no code does: `counter` (adds `change` to the counter of `to`, or of the table),
    `tag` (lays a text `name`, of the kind `tag`, `on` a character or the scene, with `count` free uses for `to`),
    `untag` (takes it away), `mark` and `clear` (`count` boxes of the track of `to`, lowest first), `out` (`to` acts no
    more), `nothing` (it is for the people at the table).

    `values` and `numbers` say what may stand in a field, so that a misspelt house rule is told before it is reached.
    With `does`, `fields` and `numbers` may be left out: they are those of what it does. What is `quiet` has no line in
    the account for people, where something else says the same; the JSON has it. `words` say it there, with fields in
    braces; left out, or where the effect lacks one of these fields, the account lists what it has.
    """

    help: str
    fields: dict[str, str] = {}
    quiet: bool = False
    words: str = ""
    values: Annotated[
        dict[str, list[str]], msgspec.Meta(description="the words that may stand in a field, where no others may")
    ] = {}
    numbers: Annotated[
        list[str], msgspec.Meta(description="the fields that hold a whole number, or speak of the margin")
    ] = []
    does: Literal["", "counter", "tag", "untag", "mark", "clear", "out", "nothing"] = ""
    counter: str = ""
    tag: str = ""
    track: str = ""

    def __post_init__(self) -> None:
        unknown = [name for name in FIELDS.findall(self.words) if self.known and name not in self.known]
        if unknown:
            raise ValueError(f"words speak of {{{unknown[0]}}}, and the fields are {', '.join(self.known)}")

    @property
    def known(self) -> tuple[str, ...]:
        """The fields that effects of this kind may have: those told, or those of what it does."""
        return tuple(self.fields) or DONE_WITH.get(self.does, ())

    @property
    def numeric(self) -> tuple[str, ...]:
        """The fields that hold a number: those told, and those of what it does."""
        return (*self.numbers, *(field for field in DONE_WITH.get(self.does, ()) if field in COUNTED))


class RulesetFile(_Record, frozen=True):
    """A `ruleset.toml`, with the outcome tables of its folder."""

    title: str
    summary: str
    version: str
    credits: str = ""
    standalone: bool = False
    kits: Annotated[list[Id], msgspec.Meta(description="kits of rpgres whose data this ruleset builds on")] = []
    dice: str = ""
    ladder: dict[str, int] = {}
    ladder_advice: list[str] = []
    bands: dict[Id, Band] = {}
    parameters: dict[Id, Parameter] = {}
    actions: dict[Id, Action] = {}
    switches: dict[str, Switch] = {}
    labels: dict[Id, Label] = {}
    tracks: dict[Id, Track] = {}
    piles: dict[Id, PileText] = {}
    periods: dict[Id, Period] = {}
    decks: Annotated[dict[Id, dict[str, Any]], msgspec.Meta(description="decks, as decks/NAME.toml has them")] = {}
    sheet: dict[Id, Field] = {}
    effects: dict[Id, EffectText] = {}
    trust: Annotated[
        Literal["players", "gm"],
        msgspec.Meta(
            description="whether numbers that no sheet has count at once at a persistent table (players), or "
            "after the game master has confirmed them (gm), unless the table says otherwise"
        ),
    ] = "gm"
    roles: Annotated[
        list[str], msgspec.Meta(description="whom `who` and `to` may name; empty where that is not told")
    ] = []
    facts: Annotated[
        dict[str, list[str]], msgspec.Meta(description="what conditions may speak of beside switches, and its choices")
    ] = {}
    policies: dict[Id, str] = {}
    menus: dict[Id, dict[str, Any]] = {}
    outcomes: dict[Id, dict[str, Any]] = {}
    settings: dict[str, Any] = {}
    settings_notes: Annotated[
        dict[str, str], msgspec.Meta(description="what a setting means, by its path in [settings], for readers")
    ] = {}

    def setting(self, path: str) -> Any:
        """Return the setting at a path of names joined by dots; None where there is none."""
        value: Any = self.settings
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def parameters_of(self, action: str) -> dict[str, Parameter]:
        """Return what an action takes, by the name it is typed under; what is not described is left out."""
        found = ((key, self.parameters[key]) for key in self.actions[action].parameters if key in self.parameters)
        return {parameter.name or key: parameter for key, parameter in found}
