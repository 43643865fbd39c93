"""The errors that reach a user, told apart by whose fault they are. Nothing here knows a command or an exit code."""

from __future__ import annotations

from typing import Any


class RpgresError(Exception):
    """Anything rpgres tells its user; the message is one short paragraph: what is wrong, where, what to try.

    `details` holds the same as data for JSON readers (for example `file`, `key`, `line`, `position`).
    """

    code = "error"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class UsageError(RpgresError):
    """What was typed is wrong: an unknown name, bad notation, an impossible answer. Exit code 2."""

    code = "usage"


class NotationError(UsageError):
    """A dice expression that cannot be read; `position` is the zero-based place of the fault in `text`."""

    code = "notation"

    def __init__(self, message: str, text: str, position: int, length: int = 1) -> None:
        length = max(1, length)  # a fault at the very end still has a place to point at
        super().__init__(message, text=text, position=position, length=length)
        self.text = text
        self.position = position
        self.length = length


class GivenError(UsageError):
    """A result that was read off real dice or cards and cannot have happened."""

    code = "given"


class ChoiceError(UsageError):
    """An answer to a decision that the rule does not offer."""

    code = "choice"


class FileError(RpgresError):
    """A file that cannot be read or does not say what it should. Exit code 1."""

    code = "file"


class OutputError(RpgresError):
    """A result that cannot be written where it should go. Exit code 1."""

    code = "output"


class PluginError(RpgresError):
    """A ruleset plugin that cannot be used; names the distribution and the stage at which it failed. Exit code 1."""

    code = "plugin"


class RuleError(RpgresError):
    """A rule broke its contract with the table: it raised, asked otherwise when replayed, or never ended. Exit 1."""

    code = "rule"
