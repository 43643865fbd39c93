"""What a ruleset is: its code (`Ruleset`), its data (`RulesetFile` and outcome tables, read and overlaid from TOML),
and the two together as played (`Rules`). Nothing here plays, rolls or prints.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from rpgres.errors import FileError, RuleError, UsageError
from rpgres.state import EMPTY, Map, freeze
from rpgres.tomlfiles import Source, convert, nearest, overlay, parse, read_source

if TYPE_CHECKING:
    from rpgres.dice import Dice
    from rpgres.players import Policy
    from rpgres.state import Character, State
    from rpgres.table import Outcome

API = 1  # the version of the contract between rpgres and a ruleset's code

Rule = Callable[..., "Outcome"]
ApplyEffect = Callable[["State", "Effect"], "State"]
Prepare = Callable[["Rules", "Character"], "Character"]
Effect = Map[str, Any]
Id = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")]


def effect(kind: str, **fields: Any) -> Effect:
    """Return an effect: what a finished action changes, as data that the ruleset's function for its kind applies."""
    return Map({"kind": kind, **fields})


# ---------------------------------------------------------------------------------------------------------------------
# Data: what stands in TOML


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    pass


class Band(_Record, frozen=True):
    """One of a ruleset's outcomes, and the margins that give it (`from` and `to` are included; left out means open).

    `unopposed` marks the band of an action that nothing opposes; a band with neither is only ever named by a table.
    """

    title: str
    success: bool | None = None
    from_: Annotated[int | None, msgspec.Meta(description="the lowest margin of this band")] = msgspec.field(
        default=None, name="from"
    )
    to: Annotated[int | None, msgspec.Meta(description="the highest margin of this band")] = None
    unopposed: bool = False

    def has(self, margin: int) -> bool:
        """Tell whether a margin falls into this band."""
        if self.from_ is None and self.to is None:
            return False
        return (self.from_ is None or margin >= self.from_) and (self.to is None or margin <= self.to)


Condition = dict[str, str | int | list[str]]  # what has to hold: margin bounds, facts of the run, switches


class RowOption(_Record, frozen=True):
    """One answer to a question of an outcome table: what it means and what comes of it.

    `prefer` tells policies how gladly its owner takes it; only the order of the numbers matters.
    """

    text: str
    prefer: int = 0
    effects: list[dict[str, Any]] = []
    ask: dict[Id, RowQuestion] = {}
    when: Condition = {}
    unless: Condition = {}


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
    """What one band of an outcome table means: text, effects, and the questions it asks, by label."""

    text: str = ""
    effects: list[dict[str, Any]] = []
    ask: dict[Id, RowQuestion] = {}


OutcomeTable = dict[Id, Row]


class Parameter(_Record, frozen=True):
    """Something an action takes: a command line option, a key of `with` in a scene, an argument of the rule.

    kinds: `ability` (NAME, NAME=N or N), `opposition` (see `inputs`), `integer`, `text`, `flag`, `choice`,
    `character` (a name at the table, or a sheet), `tag` (TEXT or TEXT=USES: put on the table before the action),
    `counter` (sets a counter of the actor, or of the table, before the action). The last two are no arguments of the
    rule. `name` is the option's name where it differs from the key in `[parameters]`.
    """

    kind: Literal["ability", "opposition", "integer", "text", "flag", "choice", "character", "tag", "counter"]
    help: str
    name: str = ""
    metavar: str = ""
    many: bool = False
    default: str | int | bool | None = None
    choices: dict[str, str] = {}
    aliases: list[Id] = []
    at_least: int | None = None
    at_most: int | None = None
    tag: str = ""
    holder: str = "actor"
    counter: str = ""


class Action(_Record, frozen=True):
    """An action of the ruleset: its help, what it takes (names in `[parameters]`), and the labels its rule asks."""

    summary: str
    details: str = ""
    example: str = ""
    parameters: list[Id] = []
    required: list[Id] = []
    labels: list[Id] = []
    tables: list[str] = []


class Switch(_Record, frozen=True):
    """A house rule: its choices, the default, and where the question comes from."""

    help: str
    choices: dict[str, str]
    default: str
    source: str

    def __post_init__(self) -> None:
        if self.default not in self.choices:
            raise ValueError(f"the default {self.default!r} is none of the choices")


class Label(_Record, frozen=True):
    """A question that rules ask under one name, as it is typed after `--given` or `--choose`."""

    kind: Literal["chance", "decision"]
    help: str
    who: str = ""
    optional: bool = False


class MoreBoxes(_Record, frozen=True):
    """More boxes on a track from some rating of an ability on."""

    ability: str
    at: int
    boxes: dict[str, int]


class Track(_Record, frozen=True):
    """A row of boxes every character has: names and sizes, and the abilities that add some.

    What is written into a box of a track with a `tag` is a text with game weight of that kind.
    """

    title: str
    boxes: dict[str, int] = {}
    more: list[MoreBoxes] = []
    tag: str = ""


class Field(_Record, frozen=True):
    """One key of a character sheet.

    kinds: `text`; `counter` (a whole number; a text as `default` names the counter to start from); `abilities`
    (name = rating); `tags` (name = text, or a list of texts, of the kind `tag`); `records` (name = a table with
    `fields`); `boxes` (track = how many boxes, for characters with fewer); `marks` (track = names of marked boxes);
    `written` (box = text, on the track `track`); `seat` (`player` or `gm`: who plays the character).
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


class EffectText(_Record, frozen=True):
    """What an effect kind means, and its fields (name = help), for readers of the JSON and its schema."""

    help: str
    fields: dict[str, str] = {}


class RulesetFile(_Record, frozen=True):
    """A `ruleset.toml`, with the outcome tables of its folder."""

    title: str
    summary: str
    version: str
    credits: str = ""
    standalone: bool = False
    dice: str = ""
    ladder: dict[str, int] = {}
    ladder_advice: list[str] = []
    bands: dict[Id, Band] = {}
    parameters: dict[Id, Parameter] = {}
    actions: dict[Id, Action] = {}
    switches: dict[str, Switch] = {}
    labels: dict[Id, Label] = {}
    tracks: dict[Id, Track] = {}
    sheet: dict[Id, Field] = {}
    effects: dict[Id, EffectText] = {}
    policies: dict[Id, str] = {}
    menus: dict[Id, dict[str, Any]] = {}
    outcomes: dict[Id, dict[str, Any]] = {}
    settings: dict[str, Any] = {}


# ---------------------------------------------------------------------------------------------------------------------
# Code: what a plugin registers


class Ruleset:
    """The code of one ruleset: rules by action, functions by kind of effect, policies by name.

    A plugin module makes one, fills it with the decorators below, and yields it from its `rpgres_rulesets` hook.
    Everything a game designer would change is in the data folder, read only when the ruleset is used.

    Args:
        id: the name on the command line; also the entry point's name and the data folder's.
        data: the folder that holds `ruleset.toml`; None for a ruleset that ships with rpgres.
        api: the version of this contract that the code was written for.
    """

    def __init__(self, id: str, *, data: Path | None = None, api: int = API) -> None:  # noqa: A002  # the field's word
        self.id = id
        self.data = data
        self.api = api
        self.actions: dict[str, Rule] = {}
        self.effects: dict[str, ApplyEffect] = {}
        self.policies: dict[str, Policy] = {}
        self.preparations: list[Prepare] = []

    def action(self, name: str) -> Callable[[Rule], Rule]:
        """Register the decorated function as the rule of an action: `rule(table, actor, **parameters) -> Outcome`."""

        def register(rule: Rule) -> Rule:
            self.actions[name] = rule
            return rule

        return register

    def effect(self, kind: str) -> Callable[[ApplyEffect], ApplyEffect]:
        """Register the decorated pure function `(state, effect) -> state` for a kind of effect."""

        def register(apply: ApplyEffect) -> ApplyEffect:
            self.effects[kind] = apply
            return apply

        return register

    def policy(self, name: str) -> Callable[[Policy], Policy]:
        """Register the decorated function `(view, question) -> option name or weights`; the first one is `--auto`'s."""

        def register(policy: Policy) -> Policy:
            self.policies[name] = policy
            return policy

        return register

    def prepare(self, change: Prepare) -> Prepare:
        """Register the decorated function `(rules, character) -> character`, called when a sheet is read."""
        self.preparations.append(change)
        return change


# ---------------------------------------------------------------------------------------------------------------------
# The two together, as played


class Option(msgspec.Struct, frozen=True):
    """One answer that a question offers.

    Attributes:
        name: the answer as typed.
        text: what it means.
        prefer: how gladly its owner would take it, for policies; only the order of the numbers matters.
        facts: what the option is about, for policies that look closer.
    """

    name: str
    text: str = ""
    prefer: int = 0
    facts: Mapping[str, Any] = EMPTY


class Choice(msgspec.Struct, frozen=True):
    """What comes of one option of an outcome table, with conditions decided and values filled in."""

    text: str
    effects: tuple[Effect, ...]
    asks: tuple[Ask, ...]


class Ask(msgspec.Struct, frozen=True):
    """One question of an outcome table: who is asked under which label, and what comes of each option."""

    label: str
    who: str
    text: str
    optional: bool
    options: tuple[Option, ...]
    choices: dict[str, Choice]


class Settlement(msgspec.Struct, frozen=True):
    """One row of an outcome table for one margin, with conditions decided and values filled in."""

    band: str
    success: bool | None
    texts: tuple[str, ...]
    effects: tuple[Effect, ...]
    asks: tuple[Ask, ...]


class Rules:
    """A ruleset as it is played: code, data with overlays, and the switches chosen.

    Args:
        ruleset: the code.
        file: the data of `ruleset.toml`.
        parts: the `ruleset.toml` of each folder the data came from, farthest first.
        switches: the chosen value of every switch that is not at its default.
    """

    def __init__(
        self,
        ruleset: Ruleset,
        *,
        file: RulesetFile,
        parts: Sequence[Part],
        switches: Mapping[str, str] = EMPTY,
    ) -> None:
        self.ruleset = ruleset
        self.id = ruleset.id
        self.file = file
        self.folders = tuple(part.folder for part in parts)
        self._parts = tuple(parts)
        self.switches = {name: switch.default for name, switch in file.switches.items()}
        for name, value in switches.items():
            self.switches[name] = self._check_switch(name, value)
        self._tables: dict[str, OutcomeTable] = {}
        self._menus: dict[str, RowQuestion] | None = None
        self._identity: dict[str, Any] | None = None
        self._settlements: dict[tuple[str, int | None], list[tuple[Map[str, str], Settlement]]] = {}

    def _check_switch(self, name: str, value: str) -> str:
        switch = self.file.switches.get(name)
        if switch is None:
            raise UsageError(unknown("switch", name, self.file.switches, of=f"the ruleset {self.id}"))
        if value not in switch.choices:
            choices = ", ".join(switch.choices)
            raise UsageError(f"the switch {name} of {self.id} can be {choices}; not {value!r}")
        return value

    def default_switch(self, name: str) -> str:
        """Return a switch's default."""
        return self.file.switches[name].default

    @cached_property
    def dice(self) -> Dice:
        """The dice of an ordinary roll."""
        from rpgres.dice import dice

        return dice(self.file.dice)

    def rule(self, action: str) -> Rule:
        """Return the function that plays an action.

        Raises:
            UsageError: the ruleset has no such action.
            RuleError: its data have the action, and its code has not.
        """
        if action not in self.file.actions:
            raise UsageError(unknown("action", action, self.file.actions, of=f"the ruleset {self.id}"))
        if action not in self.ruleset.actions:
            raise RuleError(f"the ruleset {self.id} describes the action {action!r} and has no rule for it")
        return self.ruleset.actions[action]

    def parameters(self, action: str) -> dict[str, Parameter]:
        """Return what an action takes, by the name it is typed under."""
        found = ((key, self.file.parameters[key]) for key in self.file.actions[action].parameters)
        return {parameter.name or key: parameter for key, parameter in found}

    def band_of(self, margin: int) -> str:
        """Return the name of the band a margin falls into."""
        for name, band in self.file.bands.items():
            if band.has(margin):
                return name
        raise FileError(f"no band of {self.id} has the margin {margin}")

    def unopposed_band(self) -> str:
        """Return the name of the band of an action that nothing opposes."""
        return next(name for name, band in self.file.bands.items() if band.unopposed)

    def table(self, name: str) -> OutcomeTable:
        """Return an outcome table by name, read on first use from `outcomes/NAME.toml` or `ruleset.toml`.

        Raises:
            FileError: there is no such table, or its file is faulty (all problems at once).
        """
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = self._read_table(name)
        return table

    def _read_table(self, name: str) -> OutcomeTable:
        data, sources = self._merged(f"outcomes/{name}.toml", "outcomes", name)
        if not data:
            known = sorted(set(self.table_names()))
            raise FileError(unknown("outcome table", name, known, of=f"the ruleset {self.id}"))
        table: OutcomeTable = convert(data, OutcomeTable, sources=sources)
        for band in table:
            if band not in self.file.bands:
                raise FileError(
                    unknown("band", band, self.file.bands, of=f"the outcome table {name} of the ruleset {self.id}")
                )
        return table

    def _merged(self, file_name: str, *path: str) -> tuple[dict[str, Any], list[Source]]:
        """Return what every folder says, in a file of its own or in its `ruleset.toml`, and the texts read."""
        data: dict[str, Any] = {}
        sources: list[Source] = []
        for part in self._parts:
            inline: Any = part.data
            for key in path:
                inline = inline.get(key, {})
            if inline:
                data = overlay(data, inline)
                sources.append(part.source)
            if os.path.isfile(part.folder / file_name):
                source = read_source(part.folder / file_name)
                data = overlay(data, parse(source))
                sources.append(source)
        return data, sources

    def table_names(self) -> Iterator[str]:
        """Yield the names of all outcome tables, those of `ruleset.toml` first."""
        yield from self.file.outcomes
        for folder in self.folders:
            for path in sorted((folder / "outcomes").glob("*.toml")):
                yield path.stem

    def menu(self, name: str) -> RowQuestion:
        """Return a question that several outcome tables share, from `[menus]` or `menus.toml`."""
        if self._menus is None:
            data, sources = self._merged("menus.toml", "menus")
            self._menus = convert(data, dict[Id, RowQuestion], sources=sources)
        if name not in self._menus:
            raise FileError(unknown("menu", name, self._menus, of=f"the ruleset {self.id}"))
        return self._menus[name]

    def settlement(self, table: str, margin: int | None, facts: Map[str, str] = EMPTY) -> Settlement:
        """Return what a table says for a margin (None: nothing opposed the action), conditions decided.

        `facts` are what conditions (`when`) may speak of, beside switches and the margin.
        """
        known = self._settlements.setdefault((table, margin), [])
        for its_facts, settlement in known:
            if its_facts is facts or its_facts == facts:
                return settlement
        settlement = self._settle(table, margin, facts)
        known.append((facts, settlement))
        return settlement

    def _settle(self, name: str, margin: int | None, facts: Map[str, str]) -> Settlement:
        table = self.table(name)
        if margin is not None:
            band = self.band_of(margin)
        else:
            band = next(iter(table)) if len(table) == 1 else self.unopposed_band()
        row = table.get(band, Row())
        return Settlement(
            band=band,
            success=self.file.bands[band].success,
            texts=(row.text,) if row.text else (),
            effects=self._fill(row.effects, margin, facts),
            asks=self._asks(row.ask, margin, facts),
        )

    def _asks(self, ask: Mapping[str, RowQuestion], margin: int | None, facts: Map[str, str]) -> tuple[Ask, ...]:
        asks = []
        for label, question in ask.items():
            if not self._holds(question.when, question.unless, margin, facts):
                continue
            asked = self.menu(question.menu) if question.menu else question
            who = asked.who
            if who.startswith("switch:"):
                who = self.switches[who.removeprefix("switch:")]
            options = {
                name: option
                for name, option in asked.options.items()
                if self._holds(option.when, option.unless, margin, facts)
            }
            asks.append(
                Ask(
                    label,
                    who,
                    asked.text,
                    asked.optional,
                    tuple(Option(name, option.text, option.prefer) for name, option in options.items()),
                    {name: self._choice(option, margin, facts) for name, option in options.items()},
                )
            )
        return tuple(asks)

    def _choice(self, option: RowOption, margin: int | None, facts: Map[str, str]) -> Choice:
        return Choice(option.text, self._fill(option.effects, margin, facts), self._asks(option.ask, margin, facts))

    def _fill(
        self, effects: Sequence[Mapping[str, Any]], margin: int | None, facts: Map[str, str]
    ) -> tuple[Effect, ...]:
        """Return the effects whose condition holds, with `margin` expressions replaced by their numbers."""
        filled = []
        for raw in effects:
            if self._holds(raw.get("when", EMPTY), raw.get("unless", EMPTY), margin, facts):
                fields = {key: value_of(value, margin) for key, value in raw.items() if key not in ("when", "unless")}
                filled.append(freeze(fields))
        return tuple(filled)

    def _holds(
        self, when: Mapping[str, Any], unless: Mapping[str, Any], margin: int | None, facts: Map[str, str]
    ) -> bool:
        """Tell whether a condition holds: everything in `when` is so, and not everything in `unless`."""
        return self._is_so(when, margin, facts) and not (unless and self._is_so(unless, margin, facts))

    def _is_so(self, condition: Mapping[str, Any], margin: int | None, facts: Map[str, str]) -> bool:
        for key, wanted in condition.items():
            if key == "margin-from":
                if margin is None or margin < wanted:
                    return False
            elif key == "margin-to":
                if margin is None or margin > wanted:
                    return False
            else:
                value = facts.get(key, self.switches.get(key, ""))
                if value != wanted and not (isinstance(wanted, list) and value in wanted):
                    return False
        return True

    def identity(self) -> dict[str, Any]:
        """Return what names these rules exactly: version, a hash of all their data, and the overlays in use."""
        if self._identity is None:
            self._identity = self._identify()
        return self._identity

    def _identify(self) -> dict[str, Any]:
        from hashlib import blake2b

        digest = blake2b(digest_size=16)
        for folder in self.folders:
            for path in sorted(folder.rglob("*.toml")):
                if path.relative_to(folder).parts[0] in ("sheets", "scenes"):
                    continue  # characters and stories are no rules
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
        return {
            "version": self.file.version,
            "hash": digest.hexdigest(),
            "overlays": [str(folder) for folder in self.folders[1:]],
        }


_MARGIN = re.compile(r"^(-?)margin(?:\s*([+-])\s*(\d+))?$")


def value_of(value: Any, margin: int | None) -> Any:
    """Return an effect's value with `margin`, `-margin`, `margin-1` and the like replaced by the number.

    >>> value_of("margin-1", 4)
    3
    """
    if not isinstance(value, str):
        return value
    match = _MARGIN.match(value)
    if match is None:
        return value
    number = margin or 0
    if match[1]:
        number = -number
    if match[2]:
        number += int(match[2] + match[3])
    return number


def unknown(what: str, name: str, known: Any, *, of: str) -> str:
    """Return the message for a name that nothing has: the nearest one, or all when they are few."""
    names = list(known)
    near = nearest(name, names)
    if near is not None:
        return f"{of} has no {what} {name!r}; did you mean {near!r}?"
    if not names:
        return f"{of} has no {what} {name!r}, and no other"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"{of} has no {what} {name!r}; it has: {shown}"


# ---------------------------------------------------------------------------------------------------------------------
# Finding the data


def data_folders(ruleset_id: str, *, own: Path | None, extra: Sequence[Path] = ()) -> list[Path]:
    """Return the folders with data of a ruleset, farthest first: the ruleset's own, then every overlay.

    Overlays are sought in the user's configuration folder, `./rulesets`, `RPGRES_RULESETS` and the folders of
    `--rulesets` (`extra`), the last being the nearest.
    """
    base = own if own is not None else builtin_folder() / ruleset_id
    folders = [base]
    for root in overlay_roots(extra):
        folder = root / ruleset_id
        if os.path.isdir(folder) and not any(_same(folder, known) for known in folders):
            folders.append(folder)
    return folders


def overlay_roots(extra: Sequence[Path] = ()) -> list[Path]:
    """Return the folders in which rulesets and overlays are sought, farthest first."""
    roots = [user_folder() / "rulesets", Path("rulesets")]
    roots += [Path(text) for text in reversed(os.environ.get("RPGRES_RULESETS", "").split(os.pathsep)) if text]
    roots += list(extra)
    return roots


def builtin_folder() -> Path:
    """Return the folder of the rulesets that ship with rpgres: in the wheel, or beside the package in a checkout."""
    package = Path(__file__).parent
    shipped = package / "data"
    return shipped if os.path.isdir(shipped) else package.parent / "rulesets"


def user_folder() -> Path:
    """Return the user's configuration folder for rpgres (`XDG_CONFIG_HOME`, `APPDATA`, or `~/.config`)."""
    root = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA")
    return Path(root) / "rpgres" if root else Path(os.path.expanduser("~/.config/rpgres"))


def _same(one: Path, other: Path) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


class Part(msgspec.Struct, frozen=True):
    """One folder's `ruleset.toml`: as text, to say where a fault is, and as data. Both empty when it has none."""

    folder: Path
    source: Source
    data: dict[str, Any]


def read_parts(folders: Sequence[Path], *, ruleset_id: str) -> list[Part]:
    """Return the `ruleset.toml` of every folder; only the first folder must have one.

    Raises:
        FileError: the first folder has none, or one is not TOML.
    """
    parts = []
    for folder in folders:
        path = folder / "ruleset.toml"
        if os.path.isfile(path):
            source = read_source(path)
            parts.append(Part(folder=folder, source=source, data=parse(source)))
        elif parts:
            parts.append(Part(folder=folder, source=Source(path=str(path), text=""), data={}))
        else:
            raise FileError(f"the ruleset {ruleset_id} has no ruleset.toml in {folder}", file=str(folder))
    return parts


def merge_parts(parts: Sequence[Part]) -> RulesetFile:
    """Return the data of a ruleset, nearer folders laid over farther ones.

    Raises:
        FileError: the result is not a ruleset; all problems at once.
    """
    data: dict[str, Any] = {}
    for part in parts:
        data = overlay(data, part.data)
    return convert(data, RulesetFile, sources=[part.source for part in parts])


def load_rules(ruleset: Ruleset, *, switches: Mapping[str, str] = EMPTY, extra: Sequence[Path] = ()) -> Rules:
    """Return a ruleset's code with its data, overlays and switches, ready to play.

    Raises:
        FileError: a data file is missing or faulty.
        UsageError: a switch is unknown or has no such choice.
    """
    parts = read_parts(data_folders(ruleset.id, own=ruleset.data, extra=extra), ruleset_id=ruleset.id)
    return Rules(ruleset, file=merge_parts(parts), parts=parts, switches=switches)
