"""A persistent table as the texts of files: sheets, an account in Markdown and HTML, and all rolls."""

from __future__ import annotations

from rpgres.cli.formats.editors import FOLDER, file_name, schema_text, with_schema_line
from rpgres.cli.formats.lonelog import as_lonelog
from rpgres.cli.render.accounts.html import as_html
from rpgres.cli.render.accounts.markdown import as_markdown
from rpgres.cli.render.accounts.tables import account_of_table
from rpgres.cli.render.documents import csv_text
from rpgres.engine.views import state_seen
from rpgres.journal.exporting import sheets_of
from rpgres.journal.history import History
from rpgres.journal.rolls import COLUMNS, cells_of, rolls_of
from rpgres.journal.views import log_seen, table_record
from rpgres.model.state import State
from rpgres.rulesets import Rules


def table_files(history: History, rules: Rules, *, seat: str | None, now: State) -> dict[str, str]:
    """Return the files that `rpgres table export` writes, by path in their folder.

    Args:
        seat: who reads them; what it may not know is in none of them.
        now: the table as it is now.
    """
    sheets = {f"sheets/{name}": text for name, text in sheets_of(rules, history, seat=seat).items()}
    files = {place: with_schema_line(place, text, rules.id) for place, text in sheets.items()}
    files[f"{FOLDER}/{file_name('sheet', rules.id)}"] = schema_text("sheet", rules)
    log, record = log_seen(history, seat), table_record(history, seat, now=now)
    account = account_of_table(record, log, state_seen(now, seat), rules)
    files["account.md"], files["account.html"] = as_markdown(account), as_html(account)
    files["journal.log.md"] = as_lonelog(account)
    files["rolls.csv"] = csv_text(COLUMNS, [cells_of(row) for row in rolls_of(history, seat=seat)])
    return files
