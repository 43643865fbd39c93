"""The layout of help: within the width of the terminal, however narrow, and no word or option broken."""

from __future__ import annotations

from collections.abc import Sequence

from typer._click import formatting

from rpgres.cli.streams import PAGE, screen_columns
from rpgres.render.lines import HANG, Line, Piece, line, text_of, wrapped

GAP = 2  # columns between a name and its text
LONGEST = 10_000  # columns of a summary
LEAST = 24  # columns of a text that stands beside its name


class HelpFormatter(formatting.HelpFormatter):
    """Writes help as Typer does, in lines of its own."""

    def __init__(self) -> None:
        super().__init__(width=LONGEST)  # which Typer cuts summaries down to; here they are wrapped
        self.columns = min(screen_columns(), PAGE) - 2

    def write_heading(self, heading: str) -> None:
        """Write a heading."""
        self._write(line(" " * self.current_indent, f"{heading}:"))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how a command is called."""
        lead = f"{'Usage: ' if prefix is None else prefix}{prog} "
        hang = HANG if len(lead) + 20 <= self.columns else ""
        self._write(line(lead, hang, args))

    def write_text(self, text: str) -> None:
        """Write paragraphs, each anew in lines of this width; one that begins with a line of `\\b` as it is."""
        blocks = [block for block in text.expandtabs().split("\n\n") if block.strip("\n")]
        for number, block in enumerate(blocks):
            if number:
                self.write("\n")
            rows = block.strip("\n").splitlines()
            if rows[0].strip() == "\b":
                for row in rows[1:]:
                    self._write(line(" " * self.current_indent, row))
                continue
            indent = self.current_indent + len(rows[0]) - len(rows[0].lstrip())
            self._write(line(" " * indent, HANG, " ".join(row.strip() for row in rows)))

    def write_example(self, command: str) -> None:
        """Write a command that can be copied."""
        self.write_paragraph()
        self._write(line("Example: ", Piece(command, "command")))

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = GAP) -> None:
        """Write names with texts beside them; below them, where a name is long or there is little room."""
        longest = max((len(name) for name, _ in rows), default=0)
        first = min(longest, col_max)
        if self.columns - self.current_indent - first - col_spacing < LEAST:
            first = 4
        indent = " " * self.current_indent
        for name, text in rows:
            beside = indent + " " * (first + col_spacing)
            texts = [block for block in text.split("\n\n") if block.strip()]
            if texts and len(name) <= first:
                self._write(line(indent, name.ljust(first + col_spacing), HANG, " ".join(texts.pop(0).split())))
            else:
                self._write(line(indent, name))
            for block in texts:
                self._write(line(beside, HANG, " ".join(block.split())))

    def _write(self, whole: Line) -> None:
        self.write("".join(f"{text_of(row).rstrip()}\n" for row in wrapped(whole, self.columns)))
