"""How much work something is, counted in calls of functions, which no other process and no slow machine changes."""

from __future__ import annotations

import sys
from typing import Any


def calls_of(work: Any) -> int:
    """Return how many functions some work calls."""
    calls = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls
