"""A ruleset as it is played: code, data with overlays, and the switches chosen. Nothing here plays, rolls or prints."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.errors import FileError, RuleError, UsageError
from rpgres.model.state import EMPTY, Map, freeze
from rpgres.rulesets.folders import Part, builtin_folder, merge_parts
from rpgres.rulesets.provenance import Text, faults_error, read_as
from rpgres.rulesets.registry import ApplyEffect, Effect, Ruleset, blamed
from rpgres.rulesets.schema import (
    Bounded,
    Condition,
    Formula,
    Id,
    MoreBoxes,
    OutcomeTable,
    Parameter,
    Row,
    RowOption,
    RowQuestion,
    RulesetFile,
    Track,
    bounded,
)
from rpgres.rulesets.switches import Record as Switches
from rpgres.rulesets.switches import switch_record, unchosen
from rpgres.text.digest import blake2b
from rpgres.toml.cache import parse_cached
from rpgres.toml.diagnostics import Fault, nearest
from rpgres.toml.reading import read_source

if TYPE_CHECKING:
    from rpgres.dice import Dice
    from rpgres.model.cards import Cards
    from rpgres.model.state import Deck


class Option(msgspec.Struct, frozen=True):
    """One answer that a question offers.

    Attributes:
        name: the answer as typed.
        text: what it means.
        prefer: how gladly its owner would take it, for policies; only the order of the numbers matters.
        facts: what the option is about, for policies that look closer.
        aliases: other words for it.
        passes: whether choosing it lets an optional question pass, as `NO` does; it is listed as the way to do so.
    """

    name: str
    text: str = ""
    prefer: int = 0
    facts: Mapping[str, Any] = EMPTY
    aliases: tuple[str, ...] = ()
    passes: bool = False


class RowRoll(msgspec.Struct, frozen=True):
    """What a row or an option rolls: the label, dice with every name filled in, the same in words, and the bounds."""

    label: str
    dice: str
    words: str
    formula: Bounded


class Choice(msgspec.Struct, frozen=True):
    """What comes of one option of an outcome table, with conditions decided and values filled in.

    `rolls` are rolled first. Everything else is then worked out from the `option`, with the
    results among the facts: see `Rules.choice`.
    """

    text: str
    effects: tuple[Effect, ...] = ()
    asks: tuple[Ask, ...] = ()
    rolls: tuple[RowRoll, ...] = ()
    option: RowOption | None = None


class Ask(msgspec.Struct, frozen=True):
    """One question of an outcome table: who is asked under which label, and what comes of each option."""

    label: str
    who: str
    text: str
    optional: bool
    options: tuple[Option, ...]
    choices: dict[str, Choice]


class Settlement(msgspec.Struct, frozen=True):
    """One row of an outcome table for one margin, with conditions decided and values filled in.

    `rolls` are rolled first; the row is then settled again, with the results among the facts.
    """

    band: str
    success: bool | None
    texts: tuple[str, ...]
    effects: tuple[Effect, ...]
    asks: tuple[Ask, ...]
    rolls: tuple[RowRoll, ...] = ()


class Rules:
    """A ruleset as it is played: code, data with overlays, and the switches chosen.

    Args:
        ruleset: the code.
        file: the data of `ruleset.toml`.
        parts: the `ruleset.toml` of each folder the data came from, farthest first: kits, its own, overlays.
        switches: the chosen value of every switch that is not at its default.

    Attributes:
        chosen: the choice of every switch, as text; for code, `switches` has it in a typed record.
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
        chosen = {name: self._check_switch(name, value) for name, value in switches.items()}
        self._unchosen = unchosen(file.switches, chosen)
        self.chosen: Map[str, str] = Map({**self._unchosen, **chosen})  # frozen: it counts for the next run, too
        self._switches: dict[type, Any] = {}
        self._read: dict[str, list[Text]] = {}
        self._tables: dict[str, OutcomeTable] = {}
        self._decks: dict[str, Deck] = {}
        self._menus: dict[str, RowQuestion] | None = None
        self._identity: dict[str, Any] | None = None
        self._settlements: dict[tuple[str, int | None, str], list[tuple[Map[str, Any], Settlement]]] = {}
        self.compiled: dict[str, Any] = {}  # what those who play these rules have worked out of them, by their own key

    @property
    def overlays(self) -> list[str]:
        """The folders laid over the ruleset's own, the last one nearest."""
        return [str(part.folder) for part in self._parts if part.is_overlay]

    @property
    def is_own(self) -> bool:
        """Whether all data ship with the ruleset, whose authors have checked them: no overlay, nothing homemade."""
        is_homemade = self.file.standalone and not self.folders[0].is_relative_to(builtin_folder())
        return not is_homemade and not any(part.is_overlay for part in self._parts)

    def without_overlays(self) -> Rules:
        """Return the ruleset as its own folder has it.

        Raises:
            FileError: its own data are faulty.
        """
        own = [part for part in self._parts if not part.is_overlay]
        return Rules(self.ruleset, file=merge_parts(own), parts=own)

    def with_switches(self, switches: Mapping[str, str]) -> Rules:
        """Return the same ruleset with these switches chosen, and the others at their default.

        Raises:
            UsageError: a switch is unknown or has no such choice.
        """
        return Rules(self.ruleset, file=self.file, parts=self._parts, switches=switches)

    def _check_switch(self, name: str, value: str) -> str:
        switch = self.file.switches.get(name)
        if switch is None:
            raise UsageError(unknown("switch", name, self.file.switches, of=f"the ruleset {self.id}"))
        if value not in switch.choices:
            choices = ", ".join(switch.choices)
            raise UsageError(f"the switch {name} of {self.id} can be {choices}; not {value!r}")
        return value

    def switches(self, record: type[Switches]) -> Switches:
        """Return the choices of the switches that a record has fields for, made once; see `Ruleset.switches`.

        Raises:
            RuleError: record and data do not fit together.
        """
        found: Switches | None = self._switches.get(record)
        if found is None:
            found = self._switches[record] = switch_record(record, self.chosen)
        return found

    def default_switch(self, name: str) -> str:
        """Return what a switch is at unless it is chosen: its default, or what another choice brings with it."""
        return self._unchosen[name]

    @cached_property
    def tracks(self) -> dict[str, Track]:
        """The tracks that characters have with these switches."""
        return {
            name: msgspec.structs.replace(track, more=[more for more in track.more if self._has(more)])
            for name, track in self.file.tracks.items()
            if self._has(track)
        }

    def _has(self, part: Track | MoreBoxes) -> bool:
        """Tell whether characters have a track, or some boxes of one, with these switches."""
        return self.has(part.when)

    def has(self, switches: Condition) -> bool:
        """Tell whether these switches are chosen; nothing asked for is always so."""
        return self._is_so(switches, None, EMPTY)

    @cached_property
    def dice(self) -> Dice:
        """The dice of an ordinary roll."""
        from rpgres.dice import dice

        return dice(self.file.dice)

    def require_action(self, action: str) -> None:
        """Make sure that an action can be played.

        Raises:
            UsageError: the ruleset has no such action.
            RuleError: its data name the action and do not describe it, and its code has no rule for it.
        """
        if action not in self.file.actions:
            raise UsageError(unknown("action", action, self.file.actions, of=f"the ruleset {self.id}"))
        if action not in self.ruleset.actions and not self.is_described(action):
            told = f"the ruleset {self.id} describes the action {action!r} and has no rule for it"
            raise blamed(RuleError(told), self.ruleset)

    def is_described(self, action: str) -> bool:
        """Tell whether an action's data say how it is played, so that it needs no rule in code."""
        return bool(self.file.actions[action].roll) or self.file.standalone

    def effect_function(self, kind: str) -> ApplyEffect | None:
        """Return what applies a kind of effect: the code's function, or what its data describe; None for neither."""
        return self.ruleset.effects.get(kind) or self._described_effects.get(kind)

    @cached_property
    def _described_effects(self) -> dict[str, ApplyEffect]:
        from rpgres.rulesets.effects import described_effect

        found = {kind: described_effect(self.file, kind) for kind in self.file.effects}
        return {kind: function for kind, function in found.items() if function is not None}

    def parameters(self, action: str) -> dict[str, Parameter]:
        """Return what an action takes, by the name it is typed under."""
        return self.file.parameters_of(action)

    def band_of(self, margin: int) -> str:
        """Return the name of the band a margin falls into."""
        for name, band in self.file.bands.items():
            if band.has(margin):
                return name
        raise FileError(f"no band of {self.id} has the margin {margin}")

    def unopposed_band(self) -> str:
        """Return the name of the band of an action that nothing opposes."""
        for name, band in self.file.bands.items():
            if band.unopposed:
                return name
        raise FileError(f"the ruleset {self.id} has no band for an action that nothing opposes (unopposed = true)")

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
        texts = self.table_texts(name)
        if not texts and self.may_lack(name):
            return {}
        if not texts:
            known = sorted(set(self.table_names()))
            raise FileError(unknown("outcome table", name, known, of=f"the ruleset {self.id}"))
        table: OutcomeTable = read_as(texts, OutcomeTable)
        for band in table:
            if band not in self.file.bands:
                message = f"the ruleset {self.id} has no band {band!r}"
                raise faults_error(texts, [Fault("unknown-name", (band,), message, band, tuple(self.file.bands))])
        return table

    def may_lack(self, table: str) -> bool:
        """Tell whether an outcome table need not be there: the one of a described action that its bands suffice for."""
        return table in self.file.actions and self.is_described(table)

    def table_texts(self, name: str) -> list[Text]:
        """Return an outcome table as each file writes it, the farthest first; nothing when none does."""
        return self._texts(f"outcomes/{name}.toml", "outcomes", name)

    def menu_texts(self) -> list[Text]:
        """Return the menus as each file writes them, the farthest first."""
        return self._texts("menus.toml", "menus")

    def texts(self) -> list[Text]:
        """Return `ruleset.toml` as each folder has it, the farthest first."""
        return [Text(part.source, part.data) for part in self._parts]

    def _texts(self, file_name: str, *path: str) -> list[Text]:
        """Return what every folder says, in its `ruleset.toml` or in a file of its own; read once."""
        found = self._read.get(file_name)
        if found is None:
            found = self._read[file_name] = self._read_texts(file_name, path)
        return found

    def _read_texts(self, file_name: str, path: tuple[str, ...]) -> list[Text]:
        found: list[Text] = []
        for part in self._parts:
            inline: Any = part.data
            for key in path:
                inline = inline.get(key) if isinstance(inline, dict) else None
            if inline == {"remove": True}:
                found.clear()
            elif inline and isinstance(inline, dict):  # anything else is replaced by a nearer file, or was refused
                found.append(Text(part.source, inline, path))
            if os.path.isfile(part.folder / file_name):
                source = read_source(part.folder / file_name)
                found.append(Text(source, parse_cached(source)))
        return found

    def deck_texts(self, name: str) -> list[Text]:
        """Return a deck as each file writes it, the farthest first; nothing when none does."""
        return self._texts(f"decks/{name}.toml", "decks", name)

    def deck_names(self) -> list[str]:
        """Return the names of all decks: the ruleset's, those of its kits and overlays."""
        found = dict.fromkeys(self.file.decks)
        for folder in self.folders:
            found |= dict.fromkeys(path.stem for path in sorted((folder / "decks").glob("*.toml")))
        return [name for name in found if self._has_deck(name)]

    def _has_deck(self, name: str) -> bool:
        try:
            return bool(self.deck_texts(name))
        except FileError:
            return True  # there is one, and that it cannot be read is told when it is

    def deck(self, name: str) -> Deck:
        """Return a deck by name, read on first use from `decks/NAME.toml` or `ruleset.toml`.

        Raises:
            FileError: there is no such deck, or its data are faulty (all problems at once).
        """
        deck = self._decks.get(name)
        if deck is None:
            deck = self._decks[name] = self._read_deck(name)
        return deck

    def _read_deck(self, name: str) -> Deck:
        from rpgres.rulesets.decks import read_deck

        if not self.deck_texts(name):
            raise FileError(unknown("deck", name, self.deck_names(), of=f"the ruleset {self.id}"))
        return read_deck(name, texts_of=self.deck_texts, names=self.deck_names)

    @cached_property
    def laid(self) -> dict[str, Deck]:
        """The deck of each pile that has one with these switches."""
        found = {}
        for pile, text in self.file.piles.items():
            for name, condition in text.decks.items():
                if self.has(condition):
                    found[pile] = self.deck(name)
                    break
        return found

    @cached_property
    def cards(self) -> Cards:
        """All cards that may lie on a table with these switches."""
        from rpgres.model.cards import known_cards

        return known_cards(self.laid.values())

    def may_refill(self, pile: str) -> str:
        """Return the pile that is shuffled into this one when that is empty; none when the switches forbid it."""
        text = self.file.piles[pile.partition(":")[0]]
        return text.refill if self.has(text.refill_when) else ""

    @cached_property
    def actions_by_table(self) -> Mapping[str, Sequence[str]]:
        """The names of the actions that have an outcome table, by its name."""
        found: dict[str, dict[str, None]] = {}
        for name, action in self.file.actions.items():
            for table in action.tables:
                found.setdefault(table, {})[name] = None
        return {table: list(names) for table, names in found.items()}

    def table_names(self) -> Iterator[str]:
        """Yield the names of all outcome tables, those of `ruleset.toml` first."""
        yield from self.file.outcomes
        for folder in self.folders:
            for path in sorted((folder / "outcomes").glob("*.toml")):
                yield path.stem

    def menu(self, name: str) -> RowQuestion:
        """Return a question that several outcome tables share, from `[menus]` or `menus.toml`."""
        if self._menus is None:
            self._menus = read_as(self.menu_texts(), dict[Id, RowQuestion])
        if name not in self._menus:
            raise FileError(unknown("menu", name, self._menus, of=f"the ruleset {self.id}"))
        return self._menus[name]

    def settlement(self, table: str, margin: int | None, facts: Map[str, Any] = EMPTY, *, band: str = "") -> Settlement:
        """Return what a table says for a margin (None: nothing opposed the action), conditions decided.

        `facts` are what conditions (`when`) may speak of, beside switches and the margin, and the numbers that effects
        may name. With a `band`, that row stands whatever the margin is.
        """
        known = self._settlements.setdefault((table, margin, band), [])
        for its_facts, settlement in known:
            if its_facts is facts or its_facts == facts:
                return settlement
        settlement = self._settle(table, margin, facts, band)
        if len(known) < MOST_SETTLED:
            known.append((facts, settlement))
        return settlement

    def settled(self) -> set[tuple[str, str, bool]]:
        """Return the rows that runs came to so far, as (outcome table, band, whether the margin decided)."""
        return {
            (name, settlement.band, margin is not None and not band)
            for (name, margin, band), found in self._settlements.items()
            for _, settlement in found
        }

    def _settle(self, name: str, margin: int | None, facts: Map[str, Any], band: str) -> Settlement:
        table = self.table(name)
        if band:
            pass
        elif margin is not None:
            band = self.band_of(margin)
        else:
            band = next(iter(table)) if len(table) == 1 else self.unopposed_band()
        row = self._row(table, band)
        return Settlement(
            band=band,
            success=self.file.bands[band].success,
            texts=(row.text,) if row.text else (),
            effects=self._fill(row.effects, margin, facts),
            asks=self._asks(row.ask, margin, facts),
            rolls=self._rolls(row.rolls, margin, facts),
        )

    def _rolls(self, rolls: Mapping[str, Formula], margin: int | None, facts: Map[str, Any]) -> tuple[RowRoll, ...]:
        if not rolls:
            return ()
        from rpgres.rulesets.templates import dice_key, fill, names_in

        numbers = {**facts, "margin": margin or 0}

        def value_of(name: str) -> int | str:
            found: int | str = numbers.get(dice_key(name), numbers.get(name, 0))
            return found

        def called(name: str, number: int) -> str:
            return f"{number} {name.replace('-', ' ')}"

        found = []
        for label, formula in rolls.items():
            template = bounded(formula).value
            words = " ".join(fill(template, value_of, show=called).split()) if names_in(template) else ""
            found.append(RowRoll(label, fill(template, value_of), words, bounded(formula)))
        return tuple(found)

    def _row(self, table: OutcomeTable, band: str) -> Row:
        """Return what a table says of a band; one that is also another has all of that one's, and its own after it."""
        row = table.get(band, Row())
        also = self.file.bands[band].also
        if not also:
            return row
        base = table.get(also, Row())
        return Row(
            text=row.text or base.text,
            rolls={**base.rolls, **row.rolls},
            effects=[*base.effects, *row.effects],
            ask={**base.ask, **row.ask},
        )

    def is_band(self, band: str, wanted: str) -> bool:
        """Tell whether a band is the wanted one, or also is it."""
        return band == wanted or (band in self.file.bands and self.file.bands[band].also == wanted)

    def _asks(self, ask: Mapping[str, RowQuestion], margin: int | None, facts: Map[str, Any]) -> tuple[Ask, ...]:
        asks = []
        for label, question in ask.items():
            if not self.holds(question.when, question.unless, margin, facts):
                continue
            asked = self.menu(question.menu) if question.menu else question
            who = asked.who
            if who.startswith("switch:"):
                who = self.chosen[who.removeprefix("switch:")]
            options = {
                name: option
                for name, option in asked.options.items()
                if self.holds(option.when, option.unless, margin, facts)
            }
            if not asked.options:
                raise FileError(f"the question {label!r} of the ruleset {self.id} has no options")
            if not options:
                continue  # conditions have ruled out every answer, so there is nothing to decide
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

    def _choice(self, option: RowOption, margin: int | None, facts: Map[str, Any]) -> Choice:
        if option.rolls:
            return Choice(option.text, rolls=self._rolls(option.rolls, margin, facts), option=option)
        return self.choice(option, margin, facts)

    def choice(self, option: RowOption, margin: int | None, facts: Map[str, Any]) -> Choice:
        """Return what comes of an option once everything that it rolls is among the facts."""
        return Choice(option.text, self._fill(option.effects, margin, facts), self._asks(option.ask, margin, facts))

    def _fill(
        self, effects: Sequence[Mapping[str, Any]], margin: int | None, facts: Map[str, Any]
    ) -> tuple[Effect, ...]:
        """Return the effects whose condition holds, with the margin and names of numbers replaced by the numbers."""
        filled = []
        for raw in effects:
            if self.holds(raw.get("when", EMPTY), raw.get("unless", EMPTY), margin, facts):
                fields = {key: value for key, value in raw.items() if key not in ("when", "unless")}
                filled.append(freeze(self.with_numbers(fields, margin, facts)))
        return tuple(filled)

    def with_numbers(self, effect: Mapping[str, Any], margin: int | None, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """Return an effect's fields with `margin` replaced by the number, and other numbers where its kind has some.

        Only in the fields that the kind of effect lists under `numbers` may another number be named; one that there is
        not this time, such as the opposition when nothing opposes, counts 0 like the margin.
        """
        known = self.file.effects.get(effect.get("kind", ""))
        numeric = known.numeric if known is not None else ()
        filled = {}
        for key, value in effect.items():
            match = NUMBER.match(value) if key in numeric and isinstance(value, str) else None
            named = {match[2]: numbers.get(match[2], 0)} if match is not None else EMPTY
            filled[key] = value_of(value, margin, named)
        return filled

    def holds(
        self, when: Mapping[str, Any], unless: Mapping[str, Any], margin: int | None, facts: Map[str, Any]
    ) -> bool:
        """Tell whether a condition holds: everything in `when` is so, and not everything in `unless`."""
        return self._is_so(when, margin, facts) and not (unless and self._is_so(unless, margin, facts))

    def _is_so(self, condition: Mapping[str, Any], margin: int | None, facts: Map[str, Any]) -> bool:
        for key, wanted in condition.items():
            name, _, side = key.rpartition("-")
            if side in BOUNDS and key not in facts and key not in self.chosen:
                number = margin if name == "margin" else facts.get(name)
                bound = _number(wanted, margin, facts)
                if not isinstance(number, int) or not isinstance(bound, int):
                    return False
                if number < bound if side == "from" else number > bound:
                    return False
            else:
                value = margin if key == "margin" else facts.get(key, self.chosen.get(key, ""))
                choices = wanted if isinstance(wanted, list) else [wanted]
                if isinstance(value, int):
                    choices = [_number(one, margin, facts) for one in choices]
                if value not in choices:
                    return False
        return True

    def identity(self) -> dict[str, Any]:
        """Return what names these rules exactly: version, a hash of all their data, and the overlays in use."""
        if self._identity is None:
            self._identity = self._identify()
        return self._identity

    def _identify(self) -> dict[str, Any]:
        digest = blake2b(digest_size=16)
        for folder in self.folders:
            paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.toml") if path.is_file()}
            for name in sorted(paths):
                if name.startswith(("sheets/", "scenes/")):
                    continue  # characters and stories are no rules
                text = paths[name].read_bytes().replace(b"\r\n", b"\n")  # the same whatever a checkout does to lines
                digest.update(name.encode() + b"\0" + text + b"\0")
        return {
            "version": self.file.version,
            "hash": digest.hexdigest(),
            "overlays": self.overlays,
        }


# The name of a number in an effect's value, with a sign and a simple sum: `margin`, `-damage`, `margin-1`, `half/2`.
NUMBER = re.compile(r"^(-?)([a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*)(?:\s*([-+*/])\s*(\d+))?$")
BOUNDS = ("from", "to")  # how conditions bound a number: `margin-from`, `total-to`
MOST_SETTLED = 1000  # kept for one table and margin; more are worked out again


def _number(wanted: Any, margin: int | None, facts: Mapping[str, Any]) -> Any:
    """Return what a condition holds a number against: a number, or the one of that name."""
    if not isinstance(wanted, str):
        return wanted
    return margin if wanted == "margin" else facts.get(wanted)


def value_of(value: Any, margin: int | None, numbers: Mapping[str, Any] = EMPTY) -> Any:
    """Return an effect's value with `margin`, `-margin`, `margin-1` and the like replaced by the number.

    Division drops the fraction. What names no number stays as it is.

    >>> value_of("margin-1", 4)
    3
    >>> value_of("-damage", None, {"damage": 7})
    -7
    """
    if not isinstance(value, str):
        return value
    match = NUMBER.match(value)
    if match is None:
        return value
    sign, name, operator, operand = match.groups()
    number = (margin or 0) if name == "margin" else numbers.get(name)
    if not isinstance(number, int):
        return value
    number = -number if sign else number
    match operator:
        case "+":
            return number + int(operand)
        case "-":
            return number - int(operand)
        case "*":
            return number * int(operand)
        case "/":
            from rpgres.dice.grammar import divide

            return divide(number, int(operand)) if int(operand) else value
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
