"""Answers of a batch to commands that print no record of their own, or several."""

from __future__ import annotations

from typing import Any

from rpgres.model.printed import Printed


class TextRecord(Printed, frozen=True, kw_only=True, tag="rpgres.text/1"):
    """The answer of an operation without a record of its own, such as one that writes a file.

    Attributes:
        text: what the command prints.
        exit: its exit code.
    """

    text: str
    exit: int = 0


class SeveralRecord(Printed, frozen=True, kw_only=True, tag="rpgres.answers/1"):
    """The answer of an operation with several records, such as several runs.

    Attributes:
        answers: the records, in order.
    """

    answers: list[dict[str, Any]]
