"""Records as HTML for notebooks (odds with a chart and a table), and as the text that a terminal shows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any

from rpgres.engine.records import Pending, Result
from rpgres.engine.rerun import WhatIf
from rpgres.engine.resolve import rules_for
from rpgres.errors import RpgresError, UsageError
from rpgres.formats.batches import TextRecord
from rpgres.journal.forms import EntryRecord, LogRecord, TableRecord
from rpgres.model.printed import Printed
from rpgres.model.state import EMPTY
from rpgres.rulesets import RulesetFile
from rpgres.scenes import SceneResult
from rpgres.simulate import SimulationResult

if TYPE_CHECKING:
    from rpgres.render.lines import Shown
    from rpgres.render.reports import Report

_ID = re.compile(r'(?<=id=")(title|desc)(?=")|(?<=aria-labelledby=")title desc(?=")')


def html_of(record: Printed) -> str:
    """Return a record as HTML without scripts, styles or other files.

    It holds what the record holds, so what was made for a seat shows what that seat may know.

    >>> "<svg" in html_of(odds("fate", "overcome", skill=3, vs=2))
    True

    Args:
        record: what a call or a method of a table returned. Odds, grids and simulations have a chart as inline SVG.

    Raises:
        UsageError: the record has no such form; all have one as JSON (`msgspec.json.encode`).
    """
    file = _file_of(record)
    report = _report(record, file)
    if report is not None:
        from rpgres.render.documents import fragment

        return _apart(f"<div>\n{fragment(report, heading='h4')}\n</div>")
    return f"<pre>{escape(_required(record, _words(record, file)))}</pre>\n"


def text_of(record: Printed) -> str:
    """Return a record in the words that a terminal shows, without colours: what a bot posts.

    It holds what the record holds, so what was made for a seat shows what that seat may know.

    >>> text_of(odds("fate", "overcome", skill=3, vs=2)).splitlines()[1]
    '  Fail                  18.52 %  5/27'

    Args:
        record: what a call or a method of a table returned.

    Raises:
        UsageError: the record has no such form; all have one as JSON (`msgspec.json.encode`).
    """
    return _required(record, _words(record, _file_of(record)))


def _required(record: Any, words: str | None) -> str:
    if words is not None:
        return words
    kind = type(record).__name__
    if isinstance(record, Printed):
        raise UsageError(f"{kind} has no form in words; msgspec.json.encode has it as JSON")
    raise UsageError(f"what a call returned has a form in words, not {record!r:.80}")


def _file_of(record: Any) -> RulesetFile | None:
    """Return the data of a record's ruleset, for its words; None where it is not installed here."""
    ruleset = getattr(record, "ruleset", None)
    try:
        return rules_for(ruleset, EMPTY, ()).file if ruleset else None
    except RpgresError:
        return None


def _lines_of(record: Any, file: RulesetFile | None) -> Iterable[Shown] | None:
    from rpgres.render import results
    from rpgres.render.reports import report_lines

    match record:
        case Result():
            return results.result_lines(record, file)
        case Pending():
            return results.pending_lines(record, file, how=())
        case SimulationResult() if file is not None:
            from rpgres.render.simulations import simulation_lines

            return simulation_lines(record, file)
        case WhatIf():
            from rpgres.render.whatif import what_if_lines

            return what_if_lines(record, file)
        case SceneResult() if file is not None:
            from rpgres.render.accounts.lines import account_lines
            from rpgres.render.accounts.scenes import account_of

            return account_lines(account_of(record, rules_for(record.ruleset, EMPTY, ()), name=record.scene))
        case TableRecord() if file is not None:
            from rpgres.model.serialization import read_state
            from rpgres.render.tables import show_lines

            return show_lines(record, read_state(record.state), file)
        case LogRecord() if file is not None:
            from rpgres.render.tables import log_lines

            return log_lines(record.entries, file)
        case EntryRecord() if file is not None:
            from rpgres.render.tables import entry_lines

            return list(entry_lines(record.entry, file))
    report = _report(record, file)
    return report_lines(report) if report is not None else None


def _report(record: Any, file: RulesetFile | None) -> Report | None:
    """Return odds, and what is made of them, as a report; None for other records."""
    from rpgres.render.odds.reports import report_of
    from rpgres.render.odds.rows import Record

    if isinstance(record, SimulationResult) and file is not None:
        from rpgres.render.simulations import simulation_report

        return simulation_report(record, file)
    return report_of(record, file) if isinstance(record, Record) else None


def _words(record: Any, file: RulesetFile | None) -> str | None:
    from rpgres.render.lines import plain_text

    if isinstance(record, TextRecord):
        return record.text
    lines = _lines_of(record, file)
    return plain_text(lines) if lines is not None else None


def _apart(html: str) -> str:
    """Return HTML whose chart is named by itself: a page of a notebook has several, and each name only once."""
    mark = sha256(html.encode()).hexdigest()[:8]
    return _ID.sub(lambda found: " ".join(f"{name}-{mark}" for name in found[0].split()), html)
