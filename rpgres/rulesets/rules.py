"""A ruleset as it is played: code, data with overlays, and the switches chosen. Nothing here plays, rolls or prints."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.errors import FileError, RuleError, UsageError
from rpgres.rulesets.code import Effect, Rule, Ruleset, blamed
from rpgres.rulesets.folders import Part, data_folders, merge_parts, read_parts
from rpgres.rulesets.places import Text, problem_at, read_as
from rpgres.rulesets.records import Id, OutcomeTable, Parameter, Row, RowOption, RowQuestion, RulesetFile
from rpgres.state import EMPTY, Map, freeze
from rpgres.tomlfiles import nearest, parse, problem_error, read_source

if TYPE_CHECKING:
    from rpgres.dice import Dice


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
        defaults = {name: switch.default for name, switch in file.switches.items()}
        chosen = {name: self._check_switch(name, value) for name, value in switches.items()}
        self.switches: Map[str, str] = Map({**defaults, **chosen})  # a rule that changed them would change the next run
        self._read: dict[str, list[Text]] = {}
        self._tables: dict[str, OutcomeTable] = {}
        self._menus: dict[str, RowQuestion] | None = None
        self._identity: dict[str, Any] | None = None
        self._settlements: dict[tuple[str, int | None], list[tuple[Map[str, str], Settlement]]] = {}
        self._is_sound = len(self._parts) < 2  # the files that ship are checked by those who ship them

    @property
    def overlays(self) -> list[str]:
        """The folders laid over the ruleset's own, the last one nearest."""
        return [str(folder) for folder in self.folders[1:]]

    def require_sound(self) -> None:
        """Make sure, once, that overlays leave a ruleset that can be played; without overlays nothing is looked at.

        Raises:
            FileError: all problems at once, each with its file and line.
        """
        if not self._is_sound:
            from rpgres.rulesets.checking import check_overlaid

            check_overlaid(self)
            self._is_sound = True

    def without_overlays(self) -> Rules:
        """Return the ruleset as its own folder has it.

        Raises:
            FileError: its own data are faulty.
        """
        own = self._parts[:1]
        return Rules(self.ruleset, file=merge_parts(own), parts=own)

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
            FileError: its overlays are faulty.
        """
        if not self._is_sound:
            self.require_sound()
        if action not in self.file.actions:
            raise UsageError(unknown("action", action, self.file.actions, of=f"the ruleset {self.id}"))
        if action not in self.ruleset.actions:
            told = f"the ruleset {self.id} describes the action {action!r} and has no rule for it"
            raise blamed(RuleError(told), self.ruleset)
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
        if not texts:
            known = sorted(set(self.table_names()))
            raise FileError(unknown("outcome table", name, known, of=f"the ruleset {self.id}"))
        table: OutcomeTable = read_as(texts, OutcomeTable)
        for band in table:
            if band not in self.file.bands:
                near = nearest(band, self.file.bands) or ""
                message = f"the ruleset {self.id} has no band {band!r}"
                raise problem_error([problem_at(texts, (band,), message, hint=near)])
        return table

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
                inline = inline.get(key, {})
            if inline == {"remove": True}:
                found.clear()
            elif inline:
                found.append(Text(part.source, inline, path))
            if os.path.isfile(part.folder / file_name):
                source = read_source(part.folder / file_name)
                found.append(Text(source, parse(source)))
        return found

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


MARGIN = re.compile(r"^(-?)margin(?:\s*([+-])\s*(\d+))?$")


def value_of(value: Any, margin: int | None) -> Any:
    """Return an effect's value with `margin`, `-margin`, `margin-1` and the like replaced by the number.

    >>> value_of("margin-1", 4)
    3
    """
    if not isinstance(value, str):
        return value
    match = MARGIN.match(value)
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


def load_rules(ruleset: Ruleset, *, switches: Mapping[str, str] = EMPTY, extra: Sequence[Path] = ()) -> Rules:
    """Return a ruleset's code with its data, overlays and switches, ready to play.

    With overlays in use, the whole of what they leave is checked.

    Raises:
        FileError: a data file is missing or faulty.
        UsageError: a switch is unknown or has no such choice.
    """
    parts = read_parts(data_folders(ruleset.id, own=ruleset.data, extra=extra), ruleset_id=ruleset.id)
    rules = Rules(ruleset, file=merge_parts(parts), parts=parts, switches=switches)
    rules.require_sound()
    return rules
