"""What a command says, kept as values for whoever called it as an operation."""

from __future__ import annotations

from io import StringIO
from typing import Any


class Recording:
    """What a command says while `output.recorded` holds.

    Attributes:
        records: what it prints as JSON.
        text: what it prints as text.
        warnings: what it tells beside.
    """

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.text = StringIO()
        self.warnings: list[str] = []
