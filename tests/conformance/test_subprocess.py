"""The process that plays cases once more: its answer is written whatever ends the process."""

from __future__ import annotations

import io
import json
import sys

import pytest

from rpgres.conformance import subprocess as own


def test_the_answer_is_written_before_the_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.13 does not flush what is no `sys.stdout` any more."""
    written = io.BytesIO()
    answers = io.TextIOWrapper(written, encoding="utf-8")  # kept, so that nothing closes it meanwhile
    asked = {"path": sys.path, "ruleset": "fate", "examples": ["the example of overcome"]}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(asked)))
    monkeypatch.setattr(sys, "stdout", answers)
    own.main()
    assert sys.stdout is sys.stderr  # what a plugin prints is no answer
    assert isinstance(json.loads(written.getvalue()), dict)
