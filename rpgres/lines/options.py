"""Options of a line as records, those of every action at a table, and answers as they are typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from rpgres.errors import UsageError, named

ANSWERS, OUTPUT, OTHER, TABLE_PART = "Dice and decisions", "Output", "Rules", "The table"

Complete = Callable[[Any, list[str], str], list[tuple[str, str]]]


class Option(msgspec.Struct, frozen=True):
    """One option of a command.

    Attributes:
        name: under which its value is handed on; the option is the same with hyphens.
        help: begins with a verb.
        metavar: what stands for the value; a flag has none.
        section: the heading of the help under which it stands.
        many: whether it may be repeated.
        aliases: other names.
        complete: what a shell may offer as its value.
        bare: the value that stands for one that is left out; None where none may be left out.
        letter: a short name of one letter; empty for none.
    """

    name: str
    help: str
    metavar: str = ""
    section: str = ANSWERS
    many: bool = False
    aliases: Sequence[str] = ()
    complete: Complete | None = None
    bare: str | None = None
    letter: str = ""

    @property
    def is_flag(self) -> bool:
        """Whether it stands alone."""
        return not self.metavar

    @property
    def off(self) -> Any:
        """Its value where it is not typed."""
        return False if self.is_flag else () if self.many else None

    @property
    def names(self) -> list[str]:
        """All names as they are typed."""
        names = [f"--{name.replace('_', '-')}" for name in (self.name, *self.aliases)]
        return [*names, *([f"-{self.letter}"] if self.letter else [])]


GIVEN = Option(
    "given",
    "Use results of real dice or cards: roll=++0-, roll=6,5,4, draw=St6,Ag3; repeat for later ones.",
    "LABEL=FACES",
    many=True,
)
REAL = Option(
    "real_dice",
    "Ask for the result of each roll and draw, as `--dice real` does; Enter leaves it to the seed. With names: theirs "
    "alone.",
    "real|NAME,...|seeded",
    aliases=("dice",),
    bare="real",
)
CHOOSE = Option(
    "choose",
    "Answer a decision: LABEL=OPTION or WHO:LABEL=OPTION, once; LABEL=OPTION* each time.",
    "LABEL=OPTION",
    many=True,
)
AUTO = Option("auto", "Let the ruleset's policy make all decisions that are not given.")
POLICY = Option(
    "policy",
    "Let this policy, or this file of standing orders, decide for everybody or for one character.",
    "[CHARACTER=]NAME|FILE.toml",
    many=True,
)
POLICY_AT_TABLE = Option(  # where standing orders are entries of their own
    "policy", "Let this policy decide for everybody, or for one character.", "[CHARACTER=]NAME", many=True
)
RULESETS = Option(
    "rulesets", "Search this folder first for rulesets and house rules [env: RPGRES_RULESETS].", "DIR", OTHER, many=True
)
JSON = Option("json", "Print JSON, one object per line.", section=OUTPUT)
NOTE = Option("note", "Add this text to the result.", "TEXT", OUTPUT)
EXIT_CODE = Option(
    "exit_code",
    "Exit with 10 on a failure (including a tie that fails) and with 11 on any other tie.",
    section=OUTPUT,
)
TABLE = Option(
    "table",
    "The table's file or folder [default: the nearest one in this folder or above; env: RPGRES_TABLE].",
    "PATH",
    TABLE_PART,
)
SEAT = Option(
    "as",
    "The seat: gm, or a character's name [default: the host; env: RPGRES_SEAT].",
    "SEAT",
    TABLE_PART,
)
ACTOR = Option("actor", "The acting character, if the seat has several.", "NAME", TABLE_PART)
# What an action at a table takes beside its own.
ACT_OPTIONS = (ACTOR, SEAT, TABLE, GIVEN, REAL, CHOOSE, AUTO, POLICY_AT_TABLE, RULESETS, JSON, NOTE, EXIT_CODE)


# ---------------------------------------------------------------------------------------------------------------------
# Values


def read_answers(texts: Iterable[str], *, option: str) -> dict[str, list[str]]:
    """Return answers by label, those of one label in order.

    Raises:
        UsageError: one is not LABEL=VALUE.
    """
    answers: dict[str, list[str]] = {}
    for text in texts:
        label, value = read_pair(text, option=option)
        answers.setdefault(label, []).append(value)
    return answers


def answers_of(given: Iterable[str], choose: Iterable[str], *, auto: bool) -> dict[str, Any]:
    """Return answers that were typed as LABEL=VALUE, as commands of the journal take them."""
    return {
        "given": read_answers(given, option="given"),
        "choose": read_answers(choose, option="choose"),
        "auto": auto,
    }


def read_pair(text: str, *, option: str) -> tuple[str, str]:
    left, separator, right = text.partition("=")
    if not separator or not left.strip() or not right.strip():
        example = {"given": "roll=++0-", "choose": "price=cost"}.get(option, "name=choice")
        raise UsageError(f"{named(option)} takes NAME=VALUE such as {named(option)} {example}, not {text!r}")
    return left.strip(), right.strip()


def given_inputs(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was typed for the action itself, without the options that were left out."""
    return {name: value for name, value in values.items() if value is not None and value is not False and value != ()}
