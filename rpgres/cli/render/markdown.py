"""Text that stands in Markdown and means no more than it says."""

from __future__ import annotations

import re

from rpgres.text.harmless import in_line

_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>#|~&"})  # what would be read as more than text
_LEADS = re.compile(r"^(\d+)([.)])|^([-+=:])")  # what would begin a list or underline a heading


def plain_markdown(text: str, *, is_cell: bool = False) -> str:
    r"""Return a text in which nothing means more than it says in Markdown; a cell of a table begins no list.

    >>> plain_markdown("1. *so*")
    '1\\. \\*so\\*'
    """
    marked = in_line(text).strip().translate(_MARKS)
    return (
        marked
        if is_cell
        else _LEADS.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", marked)
    )
