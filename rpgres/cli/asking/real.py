"""Real dice and cards: asking a person at a terminal what was rolled or drawn, roll by roll."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rpgres.cli.asking.prompt import UNDO
from rpgres.cli.asking.terminal import ask
from rpgres.cli.output import flush, say, worded
from rpgres.engine.dealers import Due
from rpgres.engine.stops import TakenBack
from rpgres.errors import GivenError, UsageError
from rpgres.model.state import GM
from rpgres.parameters.context import ACTOR
from rpgres.render.lines import line
from rpgres.render.words import who_is

if TYPE_CHECKING:
    from rpgres.rulesets import RulesetFile

ALL, REAL, SEEDED, OFF = "all", "real", "seeded", "off"
ABILITY = "ability"  # the kind of parameter that is added to what an actor rolls
FIRST = "roll"  # the usual label of what an actor rolls


class RealDice:
    """The person who rolls real dice, asked for each result; Enter lets the seed roll.

    Args:
        whom: whose dice are real: names with commas between them, or everybody's (`real`, `all`).
        actor: who acts.
        plus: what is added to what the actor rolls, in words.
        read: reads a line behind a sign that one is awaited; for tests.
    """

    def __init__(
        self,
        whom: str = REAL,
        *,
        actor: str = "",
        plus: str = "",
        read: Callable[[str], str] = ask,
    ) -> None:
        names = {name.strip() for name in whom.split(",") if name.strip()}
        self._whom = None if {ALL, REAL} & names else names
        self._actor, self._plus = actor, plus
        self._read = read

    def begin(self, *, actor: str, plus: str) -> None:
        """Turn to another step; the arguments are as of the class."""
        self._actor, self._plus = actor, plus

    def __call__(self, due: Due) -> Sequence[str] | None:
        """Return what was rolled or drawn; None where the seed answers.

        Raises:
            TakenBack: the person takes back the action, or leaves.
        """
        if self._whom is not None and due.by not in self._whom:
            return None
        while True:
            flush()
            try:
                typed = self._read(self.question(due)).strip()
                if typed == UNDO:
                    raise TakenBack(due.label)
                return due.check(typed) if typed else None
            except (EOFError, KeyboardInterrupt):
                raise TakenBack(due.label) from None
            except UsageError as error:
                told = worded((isinstance(error, GivenError) and error.fault) or error.raw)
                say([line(f"  {told}; or press Enter to let the seed decide.")])

    def question(self, due: Due) -> str:
        """Return what is asked.

        >>> RealDice(actor="mara", plus=" + Burglary").question(Due("roll", 0, 0, "mara", "4dF", lambda text: [text]))
        'Mara, 4dF + Burglary? '
        """
        who = "" if due.by in ("", ACTOR) else who_is(due.by) if due.by == GM else shown(due.by)
        plus = self._plus if due.label == FIRST and due.by in (self._actor, ACTOR) else ""
        label = "" if due.label == FIRST else f" ({due.label.replace('-', ' ')})"
        return f"{who}{', ' if who else ''}{due.dice or 'a card'}{plus}{label}? "


def shown(name: str) -> str:
    """Return a name as people write it: `hired-blade` as `Hired Blade`."""
    return name.replace("-", " ").title()


def plus_words(file: RulesetFile, action: str, inputs: Mapping[str, Any]) -> str:
    """Return what is added to what the actor of an action rolls, as it was typed: ` + Burglary`."""
    found = list[str]()
    for name, parameter in file.parameters_of(action).items():
        value = inputs.get(name, inputs.get(name.replace("-", "_")))
        if parameter.kind == ABILITY and value is not None:
            text = str(value).partition("=")[0]
            found.append(f" + {text if text.lstrip('+-').isdecimal() else shown(text)}")
    return "".join(found)
