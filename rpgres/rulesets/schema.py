"""The records of TOML: what may stand in `ruleset.toml`. Those of outcome tables stand in `rows`."""

import re
from typing import Any, Literal

from rpgres.model.state import slug
from rpgres.rulesets.actions import Action, Definition, FormField, Parameter
from rpgres.rulesets.rows import Band, Bounds, Condition, Id, Record, check_effects
from rpgres.rulesets.tables import RandomTable
from rpgres.toml.reading import inside

# The labels of the engine's own questions, which no ruleset has: whether something typed counts, and whether a player
# may undo or redo what has shown dice or cards.
CLAIM, REQUEST = RESERVED = "claim", "request"
# In options and facts of a label: a character, a card by its code, the suit of a card, a name that play brings forth.
CHARACTER, CARD, SUIT, NAME = "{character}", "{card}", "{suit}", "{name}"


class Switch(Record, frozen=True):
    """A house rule: its choices, the default, and where the question comes from.

    A choice may bring choices of other switches with it, where those are not chosen themselves.

    Attributes:
        help: what it decides.
        choices: its choices, and what they mean.
        default: the choice in force unless another is made.
        source: where the question comes from.
        brings: choices of other switches, by name, that a choice brings with it unless they are chosen themselves.
    """

    help: str
    choices: dict[str, str]
    default: str
    source: str
    brings: dict[str, dict[str, str]] = {}

    def __post_init__(self) -> None:
        if self.default not in self.choices:
            raise ValueError(f"the default {self.default!r} is none of the choices")


class Label(Record, frozen=True):
    """A question that rules ask under one name, as it is typed after `--given` or `--choose`.

    Attributes:
        kind: chance for dice, decision for a player's choice.
        help: what is asked.
        who: the role that answers.
        optional: whether the question may be skipped.
        options: every option that the rule can offer, so that orders can be checked: names, in which `*` stands for any
            text, `{character}` for a character at the table, `{card}` for a card and `{name}` for what play brings
            forth, such as an aspect or a zone; none where they can be anything.
        typed: whether other answers than these can be typed, so that orders may choose what is not among them.
        in_advance: whether no person is asked: the owner types the option at an earlier question. Policies are asked.
        dice: of chance, the dice that code always rolls under this label, so that scenes are checked; `{dice}` stands
            for those of the ruleset.
        facts: the names of what the decision is about, as the rule tells it; beside the margin of a question of an
            outcome table, and what formulas of a question inside a roll name. As a table, each with the words that it
            can be, as in `options`, and `{suit}` for that of a card; none where it is a number,
            `true` and `false` where it is one of these, and `*` where it is any text.
        option_facts: the names of what its options are about, or the same table.
        fields: what a typed answer says as key=value, so that a persistent table compares it with the sheet; the rule
            reads the answer itself.
    """

    kind: Literal["chance", "decision"]
    help: str
    who: str = ""
    optional: bool = False
    options: list[str] = []
    typed: bool = False
    in_advance: bool = False
    dice: str = ""
    facts: list[str] | dict[str, list[str]] = []
    option_facts: list[str] | dict[str, list[str]] = []
    fields: dict[Id, FormField] = {}


class MoreBoxes(Record, frozen=True):
    """More boxes on a track from some rating of an ability on, always or with some switches.

    Attributes:
        ability: the ability that counts.
        at: the rating from which on the boxes are there.
        boxes: name = size.
        when: the switches with which these boxes are there; always when left out.
    """

    ability: str
    at: int
    boxes: dict[str, int]
    when: Condition = {}


class Track(Record, frozen=True):
    """A row of boxes that every character has, or the table: names and sizes, and the abilities that add some.

    Attributes:
        title: the name as people say it.
        boxes: boxes that everybody has: name = size.
        more: boxes that come with the rating of an ability.
        tag: the kind of tag that a text written into a box becomes.
        when: the switches with which there is this track; always when left out.
        of_table: whether there is one for the whole table, such as a clock, and none for each character.
    """

    title: str
    boxes: dict[str, int] | int = {}
    more: list[MoreBoxes] = []
    tag: str = ""
    when: Condition = {}
    of_table: bool = False

    @property
    def sizes(self) -> dict[str, int]:
        """The boxes by name, with their sizes; mere numbers of boxes are called 1, 2, 3."""
        return {str(box): 1 for box in range(1, self.boxes + 1)} if isinstance(self.boxes, int) else self.boxes


class PileText(Record, frozen=True):
    """A place where cards lie.

    Attributes:
        title: the place as people say it.
        face: who sees the cards: up (every seat), down (none), hand (its owner alone).
        each: whether every character has one of its own, or only those that players play.
        decks: the decks of which the cards lie here at first, each with the switches that choose it.
        hidden_when: the switches with which only its owner, or the game master, sees it.
        refill: the pile that is shuffled into this one when a card is wanted and there is none.
        refill_when: the switches with which it is.
        dealt_from: where cards come from that an input places here.
        dealt: counters of its owner, of which the first without the others says how many cards it is dealt when the
            owner sits down at a table.
        given_to: the common pile into which the cards of the decks are shuffled at once.
    """

    title: str
    face: Literal["up", "down", "hand"] = "up"
    each: bool | Literal["players"] = False
    decks: dict[Id, Condition] = {}
    hidden_when: Condition = {}
    refill: str = ""
    refill_when: Condition = {}
    dealt_from: str = ""
    dealt: list[str] = []
    given_to: str = ""


class Period(Record, frozen=True):
    """Something that begins and ends at a table, such as a scene or an exchange; its effects are applied then.

    An `implied` one can end without anybody having said that it began: play is in it anyway.

    Attributes:
        help: what it is.
        implied: whether it can end without having been said to begin, as play is in it anyway.
        has_scenes: whether scenes are parts of it, so that the end of a scene does not end it.
        begin: effects of its beginning, in order.
        end: effects of its end, in order.
    """

    help: str
    implied: bool = False
    has_scenes: bool = False
    begin: list[dict[str, Any]] = []
    end: list[dict[str, Any]] = []

    def __post_init__(self) -> None:
        check_effects(begin=self.begin, end=self.end)


class RecordField(Record, frozen=True):
    """One key of a record on a sheet, such as a stunt's `bonus`.

    Attributes:
        kind: what stands under this key.
        help: a line of help.
        required: whether every record has to have it.
        choices: for a choice: what may stand there.
        default: the value when it is left out.
    """

    kind: Literal["text", "integer", "flag", "choice"]
    help: str
    required: bool = False
    choices: list[str] = []
    default: int | str | bool | None = None


class Field(Record, Bounds, frozen=True):
    """One key of a character sheet.

    kinds: `text`; `counter` (a whole number; a text as `default` names the counter to start from); `abilities`
    (name = rating; "Occult Lore" on a sheet is `occult-lore` wherever it is typed); `tags` (name = text, or a list of
    texts, of the kind `tag`); `records` (name = a table with `fields`; with a `tag`, the name is a text with game
    weight too); `boxes` (track = how many boxes, for characters with fewer); `marks` (track = names of marked boxes);
    `written` (box = text, on the track `track`); `seat` (`player` or `gm`: who plays the character).

    Attributes:
        kind: what stands under this key.
        help: a line of help.
        required: whether every sheet has to have it.
        default: the value when it is left out; for a counter also the name of another.
        at_least: the smallest number.
        at_most: the largest number.
        names: for abilities: those the game knows.
        any_name: for abilities: whether others may be listed too.
        tag: for tags, and records that are tags too: the kind they are on the table.
        track: for written: the track whose boxes they are.
        fields: for records: the keys of each.
        of_players: for a counter: whether the game master's characters have none, but share the game master's own.
        plural: for a counter: whether it is how many a character is, so that more than 1 are spoken of in the plural.
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
    of_players: bool = False
    plural: bool = False

    @property
    def abilities(self) -> list[str]:
        """The abilities that the game knows, under the names they have on the table."""
        return [slug(name) for name in self.names]

    @property
    def is_open(self) -> bool:
        """Whether there may be abilities of other names."""
        return self.any_name or not self.names


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


class EffectText(Record, frozen=True):
    """What an effect kind means, and its fields (name = help), for readers of the JSON and its schema.

    `does` says what it changes, where no code does: `counter` (adds `change` to the counter of `to`, or of the table),
    `tag` (lays a text `name`, of the kind `tag`, `on` a character or the scene, with `count` free uses for `to`),
    `untag` (takes it away), `mark` and `clear` (`count` boxes of the track of `to`, lowest first; `gm` for one of
    the table), `out` (`to` acts no more), `nothing` (it is for the people at the table).

    `values` and `numbers` say what may stand in a field, so that a misspelt house rule is told before it is reached.
    With `does`, `fields` and `numbers` may be left out: they are those of what it does. What is `quiet` has no line in
    the account for people, where something else says the same; the JSON has it. `words` say it there, with fields in
    braces; left out, or where the effect lacks one of these fields, the account lists what it has.

    Attributes:
        help: what it means.
        fields: its fields, and what they mean.
        quiet: whether the account for people leaves it out, as something else in it says the same.
        words: what the account for people says of it, with fields in braces.
        values: the words that may stand in a field, where no others may; or a table of these words and what the account
            for people says for each, nothing for an empty text.
        numbers: the fields that hold a whole number, or speak of the margin.
        does: what it changes, where no code does.
        counter: for does = counter, and for what code does to one: the counter.
        tag: for does = tag: the kind of the text.
        track: for does = mark and clear: the track.
        asks: the labels of what a kit asks when it comes about.
        takes: the parameters of the action that a kit goes by then, where it has them.
        out: for what code does: whether `to` is out by it, or `count` of a mob, which the end of an account tells.
    """

    help: str
    fields: dict[str, str] = {}
    quiet: bool = False
    words: str = ""
    values: dict[str, list[str] | dict[str, str]] = {}
    numbers: list[str] = []
    does: Literal["", "counter", "tag", "untag", "mark", "clear", "out", "nothing"] = ""
    counter: str = ""
    tag: str = ""
    track: str = ""
    asks: list[Id] = []
    takes: list[Id] = []
    out: bool = False

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


class WindowText(Record, frozen=True):
    """What a kit lets people do once the dice of a described action lie, before it is known what they come to.

    An action has it if its formulas name one of its numbers, such as `total = "roll + skill + invoked"`.

    Attributes:
        help: what it is.
        names: numbers that formulas may name, each 0 until code sets it, and what they mean.
        labels: what is asked in it.
        parameters: what an action that has it takes beside its own parameters.
    """

    help: str
    names: dict[Id, str]
    labels: list[Id] = []
    parameters: list[Id] = []


class RulesetFile(Record, frozen=True):
    """A `ruleset.toml`, with the outcome tables of its folder.

    Attributes:
        title: the name as people say it.
        summary: what it is, in a line.
        version: the version of these rules.
        credits: where the rules come from.
        standalone: whether the ruleset needs no Python code.
        kits: the kits of rpgres whose data this ruleset builds on.
        dice: the dice of an ordinary roll, in notation.
        ladder: words for numbers.
        ladder_advice: how to choose a difficulty, line by line.
        bands: the outcomes, and the margins that give them.
        parameters: what actions take, by name.
        define: formulas that actions with named dice share, by name; a text is the formula.
        actions: the actions, by name.
        tables: random tables, by name; each is an action, too.
        switches: house rules, by name.
        labels: what rules ask, by label.
        tracks: rows of boxes that characters have.
        piles: places where cards lie, by name.
        periods: what begins and ends at a table, by name, such as a scene.
        decks: decks of cards, by name; a longer one stands in decks/NAME.toml.
        sheet: the keys of a character sheet.
        effects: what outcomes change, by kind.
        windows: what kits let people do after the dice are rolled, by name.
        code_counters: what rules in code count, by counter: those that no sheet, input or effect names.
        trust: whether numbers that no sheet has count at once at a persistent table (players), or after the game master
            has confirmed them (gm), unless the table says otherwise.
        roles: whom `who` and `to` may name; empty where that is not told.
        facts: what rules in code tell conditions, and its choices; one without is a number, which effects may name.
        policies: the automatic decisions, by name: a line of help.
        menus: questions that several outcome tables share, by name.
        outcomes: outcome tables, by name; a longer one stands in outcomes/NAME.toml.
        settings: whatever else the ruleset's code reads.
        settings_notes: what a setting means, by its path: names joined by dots.
    """

    title: str
    summary: str
    version: str
    credits: str = ""
    standalone: bool = False
    kits: list[Id] = []
    dice: str = ""
    ladder: dict[str, int] = {}
    ladder_advice: list[str] = []
    bands: dict[Id, Band] = {}
    parameters: dict[Id, Parameter] = {}
    define: dict[Id, str | Definition] = {}
    actions: dict[Id, Action] = {}
    tables: dict[Id, RandomTable] = {}
    switches: dict[str, Switch] = {}
    labels: dict[Id, Label] = {}
    tracks: dict[Id, Track] = {}
    piles: dict[Id, PileText] = {}
    periods: dict[Id, Period] = {}
    decks: dict[Id, dict[str, Any]] = {}
    sheet: dict[Id, Field] = {}
    effects: dict[Id, EffectText] = {}
    windows: dict[Id, WindowText] = {}
    code_counters: dict[Id, str] = {}
    trust: Literal["players", "gm"] = "gm"
    roles: list[str] = []
    facts: dict[str, list[str]] = {}
    policies: dict[Id, str] = {}
    menus: dict[Id, dict[str, Any]] = {}
    outcomes: dict[Id, dict[str, Any]] = {}
    settings: dict[str, Any] = {}
    settings_notes: dict[str, str] = {}

    def setting(self, path: str) -> Any:
        """Return the setting at a path of names joined by dots; None where there is none."""
        return inside(self.settings, path.split("."))

    def fields_of(self, kind: str) -> dict[str, Field]:
        """Return the keys of sheets of one kind."""
        return {name: field for name, field in self.sheet.items() if field.kind == kind}

    @property
    def abilities(self) -> list[str]:
        """The abilities that sheets list, under the names they have on the table."""
        return [name for field in self.fields_of("abilities").values() for name in field.abilities]

    @property
    def has_any_ability(self) -> bool:
        """Whether sheets may have abilities of any name, so that no name can be called unknown."""
        return any(field.is_open for field in self.fields_of("abilities").values())

    @property
    def rated(self) -> set[str]:
        """The names of the abilities and counters that sheets list."""
        return {*self.abilities, *self.fields_of("counter")}

    @property
    def counters(self) -> list[str]:
        """The counters that sheets, inputs, effects or rules in code name."""
        named = (one.counter for table in (self.parameters, self.effects) for one in table.values() if one.counter)
        return list(dict.fromkeys((*self.fields_of("counter"), *named, *self.code_counters)))

    @property
    def tag_kinds(self) -> list[str]:
        """The kinds of tags that sheets, tracks, inputs or effects name."""
        tables = (self.sheet, self.tracks, self.parameters, self.effects)
        return list(dict.fromkeys(one.tag for table in tables for one in table.values() if one.tag))

    @property
    def definitions(self) -> dict[str, Definition]:
        """The shared formulas by name."""
        return {name: Definition(value=its) if isinstance(its, str) else its for name, its in self.define.items()}

    @property
    def window_names(self) -> dict[str, str]:
        """The numbers of windows, which formulas may name, each with the name of its window."""
        return {name: window for window, text in self.windows.items() for name in text.names}

    @property
    def described(self) -> list[str]:
        """The actions whose data say what is rolled."""
        return [name for name, action in self.actions.items() if action.is_described]

    def parameters_of(self, action: str) -> dict[str, Parameter]:
        """Return what an action takes, by the name it is typed under; what is not described is left out."""
        found = ((key, self.parameters[key]) for key in self.actions[action].parameters if key in self.parameters)
        return {parameter.name or key: parameter for key, parameter in found}
