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


class SchemaRecord(Printed, frozen=True, kw_only=True, tag="rpgres.schema-shown/1"):
    """The answer of the operation `schema`.

    Attributes:
        kind: what the schema is of.
        schema: the JSON Schema (2020-12), as `rpgres schema` prints it.
    """

    kind: str
    schema: dict[str, Any]


class SeveralRecord(Printed, frozen=True, kw_only=True, tag="rpgres.answers/1"):
    """The answer of an operation with several records, such as several runs.

    Attributes:
        answers: the records, in order.
    """

    answers: list[dict[str, Any]]
