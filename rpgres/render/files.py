"""Lists of sheets and scenes as lines."""

from __future__ import annotations

from rpgres.catalog.listed import FileList
from rpgres.render.lines import HANG, INDENT, Line, Piece, line


def file_list_lines(found: FileList) -> list[Line]:
    """Return the sheets or scenes there are, a line each."""
    if not found.files:
        return [line(f"{found.ruleset or 'no ruleset'} has {'no ' if found.ruleset else ''}{found.kind}s")]
    width = max(len(one.name) for one in found.files)
    owners = max(len(one.ruleset) for one in found.files)
    lines = []
    for one in found.files:
        # A scene's name has the ruleset in it; a title that begins the summary is not repeated.
        owner = [one.ruleset.ljust(owners), INDENT] if found.kind == "sheet" and found.ruleset is None else []
        told = one.summary if one.summary.startswith(one.title) else ": ".join(filter(None, (one.title, one.summary)))
        lines.append(line(Piece(one.name.ljust(width), "name"), INDENT, *owner, HANG, told or one.title))
    return lines
