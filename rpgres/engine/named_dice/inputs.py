"""The values of names in formulas before the roll: typed inputs, abilities and counters of sheets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpgres.dice import Dice, dice
from rpgres.errors import NotationError, UsageError
from rpgres.model.state import GM, Character, Map, State
from rpgres.parameters.context import ACTOR
from rpgres.parameters.values import Opposition, Rating
from rpgres.rulesets import Parameter, Rules
from rpgres.rulesets.actions import NUMERIC, OPPONENT, OPPOSED
from rpgres.rulesets.formulas import Value
from rpgres.rulesets.templates import dice_key, fill


class Given:
    """The inputs of an action and the sheets, by the names of formulas."""

    def __init__(self, rules: Rules, action: str, actor: Character, arguments: Mapping[str, Any], state: State) -> None:
        self.rules = rules
        self.action = action
        self.actor = actor
        self.state = state
        self.parameters = rules.parameters(action)
        self.values = {
            key.replace("_", "-"): value[0] if isinstance(value, tuple) and len(value) == 1 else value
            for key, value in arguments.items()
        }

    def number(self, name: str) -> int | str:
        """Return the value of a name: a number, or dice as text for a choice and for an opposition."""
        if name in self.parameters:
            parameter = self.parameters[name]
            if parameter.kind != "counter":
                return _meant(parameter, self.values.get(name))
            holder = self.actor if parameter.holder == ACTOR else self.state
            return holder.counters.get(parameter.counter, 0)
        if name.startswith(OPPOSED):
            other = self.opponent()
            return _on_sheet(other, name.removeprefix(OPPOSED)) if other is not None else 0
        return _on_sheet(self.actor, name, self.state)

    def value(self, name: str) -> Value:
        """Return the value of a name in formulas: a number, or the word of a choice or a switch."""
        parameter, value = self.parameters.get(name), self.values.get(name)
        if parameter is None and name in self.rules.chosen:
            return self.rules.chosen[name]
        if parameter is not None and parameter.kind in ("choice", "text", "character"):
            return value or None
        if isinstance(value, Opposition):
            return value.value
        number = self.number(name) if parameter is None or parameter.kind != "dice" else 0
        return number if isinstance(number, int) else 0

    def in_dice(self, name: str) -> str:
        """Return the text of a name in dice: typed dice, the dice of a choice, or a number."""
        parameter, value = self.parameters.get(name), self.values.get(name)
        if isinstance(value, Dice):
            return value.text
        if parameter is not None and parameter.kind == "dice":
            return ""
        if parameter is not None and parameter.kind == "choice":
            return parameter.values.get(value or "", "")
        return str(self.number(name) if isinstance(value, Opposition) else self.value(name) or 0)

    def called(self, name: str) -> str:
        """Return a name as words for the account: `quick`, `armour of husk`."""
        words, value = name, self.values.get(name) if name in self.parameters else None
        if isinstance(value, Opposition):
            words = f"{value.ability} of {value.character}" if value.ability else ""
        elif isinstance(value, Rating) and value.name:
            words = value.name
        elif name.startswith(OPPOSED):
            other = self.opponent()
            words = f"{name.removeprefix(OPPOSED)} of {other.name if other is not None else OPPONENT}"
        return words.replace("-", " ")

    def dice(self, template: str) -> Dice:
        """Return the dice of a template.

        Raises:
            UsageError: the inputs make no dice.
        """
        text = fill(template, self.number)
        try:
            return dice(text)
        except NotationError as error:
            what = f"{self.rules.id} {self.action} rolls {template!r}, which is {text!r} here"
            raise UsageError(f"{what}: {error.message}") from error

    def meanings(self) -> dict[str, int | str]:
        """Return the dice of parameters whose values in conditions are words (choices, flags), by `dice_key`."""
        return {
            dice_key(name): _meant(parameter, self.values.get(name))
            for name, parameter in self.parameters.items()
            if parameter.kind in ("choice", "flag")
        }

    def opponent(self) -> Character | None:
        """Return the character that opposes or is the target; None where there is none at the table."""
        for value in self.values.values():
            if isinstance(value, Opposition) and value.character:
                return self.state.characters[value.character]
        for name, parameter in self.parameters.items():
            if parameter.kind == "character" and self.values.get(name):
                return self.state.characters[self.values[name]]
        return None

    def roles(self) -> Map[str, str]:
        """Return the characters of roles in outcome tables; a parameter of the kind `character` is a role, too."""
        opponent = self.opponent()
        named = {
            name: self.values[name]
            for name, parameter in self.parameters.items()
            if parameter.kind == "character" and self.values.get(name)
        }
        return Map({ACTOR: self.actor.name, OPPONENT: opponent.name if opponent else OPPONENT, GM: GM, **named})

    def typed(self) -> dict[str, Any]:
        """Return choices, flags and numbers for conditions."""
        facts: dict[str, Any] = {}
        for name, parameter in self.parameters.items():
            value = self.values.get(name)
            if parameter.kind == "flag":
                facts[name] = "yes" if value else "no"
            elif parameter.kind in ("choice", "text"):
                facts[name] = value or ""
            elif parameter.kind in NUMERIC:
                facts[name] = self.number(name)
        return facts


def _meant(parameter: Parameter, value: Any) -> int | str:
    if isinstance(value, Rating):
        return value.value
    if isinstance(value, Opposition):
        return value.value if value.dice is None else f"({value.dice.text}{f'{value.value:+d}' if value.value else ''})"
    if isinstance(value, bool) or value is None:
        return int(bool(value))
    if isinstance(value, str):
        return parameter.values.get(value, "0")
    return int(value)


def _on_sheet(character: Character, name: str, state: State | None = None) -> int:
    """Return an ability or counter of a sheet; 0 where it is missing."""
    for numbers in (character.abilities, character.counters):
        if name in numbers:
            return numbers[name]
    return state.counters.get(name, 0) if state is not None else 0
