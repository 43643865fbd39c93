"""A ruleset as it is played: code, data with overlays, and the switches chosen. Nothing here plays, rolls or prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.errors import FileError, RuleError, UsageError
from rpgres.model.state import EMPTY, Deck, Map
from rpgres.rulesets.actions import Parameter
from rpgres.rulesets.folders import Layers, Part, builtin_folder, merge_parts, read_as, read_parts
from rpgres.rulesets.registry import ApplyEffect, Ruleset, blamed
from rpgres.rulesets.rows import Condition, Id, OutcomeTable, RowQuestion, with_rolled_texts
from rpgres.rulesets.schema import RulesetFile, Track
from rpgres.rulesets.settling import Settling
from rpgres.rulesets.switches import Record as Switches
from rpgres.rulesets.switches import check_choices, switch_record, unchosen
from rpgres.toml.diagnostics import Fault, unknown

if TYPE_CHECKING:
    from pathlib import Path

    from rpgres.dice import Dice
    from rpgres.model.cards import Cards
    from rpgres.rulesets.table_plans import TablePlan


class Rules:
    """A ruleset as it is played: code, data with overlays, and the switches chosen.

    Args:
        ruleset: the code.
        file: the data of `ruleset.toml`.
        parts: the `ruleset.toml` of each folder the data came from, farthest first: kits, its own, overlays.
        switches: the chosen value of every switch that is not at its default.

    Attributes:
        chosen: the choice of every switch, as text; for code, `switches` has it in a typed record.
        plans: the random tables, ready to be rolled on.
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
        self.layers = Layers(ruleset.id, file, parts)
        self.folders = self.layers.folders
        self.settling = Settling(self)
        check_choices(file.switches, switches, of=ruleset.id)
        chosen = dict(switches)
        self._unchosen = unchosen(file.switches, chosen)
        self.chosen: Map[str, str] = Map({**self._unchosen, **chosen})  # frozen: it counts for the next run, too
        self._switches: dict[type, Any] = {}
        self._tables: dict[str, OutcomeTable] = {}
        self.plans: dict[str, TablePlan] = {}
        if file.tables:
            from rpgres.rulesets.table_plans import table_plans

            self.plans = table_plans(file)
        self.compiled: dict[str, Any] = {}  # what those who play these rules have worked out of them, by their own key

    @classmethod
    def read(
        cls, ruleset: Ruleset, folders: Sequence[Path] | None = None, *, switches: Mapping[str, str] = EMPTY
    ) -> Rules:
        """Return a ruleset with the data of its folders.

        Args:
            ruleset: the code.
            folders: its own folder, then its overlays; by default its own alone.
            switches: the chosen value of every switch that is not at its default.

        Raises:
            FileError: a file is missing or faulty.
            UsageError: a switch is unknown or has no such choice.
        """
        own = ruleset.data if ruleset.data is not None else builtin_folder() / ruleset.id
        parts = read_parts(folders if folders is not None else [own], ruleset_id=ruleset.id)
        return cls(ruleset, file=merge_parts(parts), parts=parts, switches=switches)

    def without_overlays(self) -> Rules:
        """Return the ruleset as its own folder has it.

        Raises:
            FileError: its own data are faulty.
        """
        own = [part for part in self.layers.parts if not part.is_overlay]
        return Rules(self.ruleset, file=merge_parts(own), parts=own)

    def with_switches(self, switches: Mapping[str, str]) -> Rules:
        """Return the same ruleset with these switches chosen, and the others at their default.

        Raises:
            UsageError: a switch is unknown or has no such choice.
        """
        return Rules(self.ruleset, file=self.file, parts=self.layers.parts, switches=switches)

    def default_switch(self, name: str) -> str:
        """Return what a switch is at unless it is chosen: its default, or what another choice brings with it."""
        return self._unchosen[name]

    def switches(self, record: type[Switches]) -> Switches:
        """Return the choices of the switches that a record has fields for, made once; see `Ruleset.switches`.

        Raises:
            RuleError: record and data do not fit together.
        """
        found: Switches | None = self._switches.get(record)
        if found is None:
            found = self._switches[record] = switch_record(record, self.chosen)
        return found

    @cached_property
    def tracks(self) -> dict[str, Track]:
        """The tracks that characters have with these switches."""
        return {
            name: msgspec.structs.replace(track, more=[more for more in track.more if self.has(more.when)])
            for name, track in self.file.tracks.items()
            if self.has(track.when) and not track.of_table
        }

    def has(self, switches: Condition) -> bool:
        """Tell whether these switches are chosen; nothing asked for is always so."""
        return self.settling.holds(switches, EMPTY, None, EMPTY)

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
            message = f"the ruleset {self.id} declares the action {action!r} and has no rule for it"
            raise self.blamed(RuleError(message))

    def blamed(self, error: RuleError) -> RuleError:
        """Return the error of the ruleset's code with what there is to do about it; see `registry.blamed`."""
        return blamed(error, self.ruleset, self.layers.overlays)

    def is_described(self, action: str) -> bool:
        """Tell whether there is such an action and its data say how it is played: it needs no rule in code."""
        known = self.file.actions.get(action)
        return known is not None and (known.is_described or action in self.file.tables or self.file.standalone)

    def effect_function(self, kind: str) -> ApplyEffect | None:
        """Return what applies a kind of effect: the code's function, or what its data describe; None for neither."""
        return self.ruleset.effects.get(kind) or self.described_effects.get(kind)

    @cached_property
    def described_effects(self) -> dict[str, ApplyEffect]:
        """What applies the kinds of effects that data describe."""
        from rpgres.rulesets.effects import described_effect

        found = {kind: described_effect(self.file, kind) for kind in self.file.effects}
        return {kind: function for kind, function in found.items() if function is not None}

    def parameters(self, action: str) -> dict[str, Parameter]:
        """Return what an action takes, by the name it is typed under."""
        return self.file.parameters_of(action)

    def band_of(self, margin: int | None) -> str:
        """Return the name of the band a margin falls into; without one, of an action that nothing opposes."""
        for name, band in self.file.bands.items():
            if band.unopposed if margin is None else band.has(margin):
                return name
        lacks = "band for an unopposed action (unopposed = true)" if margin is None else f"band of the margin {margin}"
        raise FileError(f"the ruleset {self.id} has no {lacks}")

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
        if name in self.plans:
            from rpgres.rulesets.table_plans import outcome_table

            return with_rolled_texts(name, outcome_table(self.plans[name]))
        texts = self.layers.table_texts(name)
        if not texts and self.is_described(name):  # whose bands suffice for it
            return {}
        if not texts:
            known = sorted(self.layers.table_names())
            raise FileError(unknown("outcome table", name, known, of=f"the ruleset {self.id}"))
        table: OutcomeTable = read_as(texts, OutcomeTable)
        named = {(band,): band for band in table} | {
            (band, "counts-as"): row.counts_as for band, row in table.items() if row.counts_as
        }
        for path, band in named.items():
            if band not in self.file.bands:
                from rpgres.rulesets.folders import faults_error

                message = f"the ruleset {self.id} has no band {band!r}"
                raise faults_error(texts, [Fault("unknown-name", path, message, band, tuple(self.file.bands))])
        return with_rolled_texts(name, table)

    def is_band(self, band: str, wanted: str) -> bool:
        """Tell whether a band is the wanted one, or also is it."""
        if band == wanted or wanted in band.split("+"):  # which joins the rows that random tables came to
            return True
        return band in self.file.bands and self.file.bands[band].also == wanted

    @cached_property
    def laid(self) -> dict[str, Deck]:
        """The deck of each pile that has one with these switches."""
        found = {}
        for pile, text in self.file.piles.items():
            for name, condition in text.decks.items():
                if self.has(condition):
                    found[pile] = self.layers.deck(name)
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

    @cached_property
    def menus(self) -> dict[str, RowQuestion]:
        """The questions that several outcome tables share, from `[menus]` and `menus.toml`."""
        return read_as(self.layers.menu_texts(), dict[Id, RowQuestion])

    def menu(self, name: str) -> RowQuestion:
        """Return a question that several outcome tables share."""
        if name not in self.menus:
            raise FileError(unknown("menu", name, self.menus, of=f"the ruleset {self.id}"))
        return self.menus[name]


def dice_of(rules: Rules, label: str) -> Dice | None:
    """Return the dice that code always rolls under a label, where that is declared.

    Raises:
        NotationError: they cannot be read.
    """
    from rpgres.dice import dice

    declared = rules.file.labels.get(label)
    return dice(declared.dice.replace("{dice}", rules.file.dice)) if declared is not None and declared.dice else None
