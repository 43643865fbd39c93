"""Pages of the guide as they are read: drawn by Rich on a terminal, and in a pager where they are longer than it."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from rpgres.cli.output import look
from rpgres.cli.streams import raw, results, screen_columns
from rpgres.render.lines import HANG, INDENT, Line, Look, line, plain_text

WIDTH = 100  # however wide the terminal is: longer lines are hard to read


def show_page(text: str) -> None:
    """Write a page to standard output.

    Args:
        text: the page, in Markdown, which is what a pipe gets.
    """
    screen = look(is_prose=True)
    is_terminal = screen.is_terminal
    is_drawn = screen.is_drawn and os.environ.get("TERM") != "dumb"
    shown = drawn(text) if is_drawn else fitted(text) if is_terminal else text
    if not is_terminal or not _page(shown):
        (raw(results()) if is_drawn else results()).write(shown)


def fitted(text: str) -> str:
    """Return a page as plain text whose lines fit the terminal; examples are broken where a shell reads on."""
    width = min(screen_columns(), WIDTH)
    lines: list[Line] = []
    for number, block in enumerate(re.split(r"^```\w*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)):
        if number % 2:
            for row in block.splitlines():
                lines += [
                    line(INDENT, part)
                    for part in (continued(row, width - 2) if row.startswith(("$ ", "> ")) else [row])
                ]
            continue
        joined = re.sub(r"(?<=[^\n|])\n(?![\n|#>*-]|\d+\.) *", " ", block.strip("\n"))
        lines += [line(), *(line(*([] if row[:1] in "-*|" else [HANG]), row) for row in joined.splitlines()), line()]
    return plain_text(lines, Look(width=width)).strip("\n") + "\n"


def drawn(text: str) -> str:
    """Return a page as a terminal shows it, with the sequences for colours where they are wanted."""
    import shutil

    from rich.console import Console
    from rich.theme import Theme

    width = min(shutil.get_terminal_size((80, 24)).columns, WIDTH)
    theme = Theme({"markdown.code": "cyan", "markdown.h1": "bold", "markdown.h2": "bold underline"})
    console = Console(file=raw(results()), width=width, theme=theme, highlight=False)
    with console.capture() as captured:
        console.print(_markdown()(text, hyperlinks=False))
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip("\n") + "\n"


def _markdown() -> Any:
    """Return Rich's Markdown with headings at the left, as the text is, and typed lines of examples in bold."""
    from rich.markdown import CodeBlock, Heading, Markdown
    from rich.text import Text

    class Left(Heading):
        def __rich_console__(self, console: Any, options: Any) -> Any:
            self.text.justify = "left"
            yield self.text

    class Example(CodeBlock):
        def __rich_console__(self, console: Any, options: Any) -> Any:
            for row in str(self.text).rstrip().splitlines():
                is_typed = row.startswith(("$ ", "> "))
                for part in continued(row, options.max_width - 2) if is_typed else [row]:
                    yield Text(f"  {part}", "bold" if is_typed else "")

    class Guide(Markdown):
        elements = {**Markdown.elements, "heading_open": Left, "fence": Example, "code_block": Example}

    return Guide


def continued(line: str, width: int) -> list[str]:
    r"""Return a command on lines of a width, as a shell reads them: broken in front of options, with a backslash.

    >>> continued("$ rpgres roll fate attack --skill 4 --vs 2", 30)
    ['$ rpgres roll fate attack \\', '    --skill 4 --vs 2']
    """
    lines = [""]
    for part in re.split(r"(?= --| \| )", line):
        if lines[-1] and len(lines[-1]) + len(part) > width - 2:
            lines[-1] += " \\"
            lines.append(f"   {part}")
        else:
            lines[-1] += part
    return lines


def _page(text: str) -> bool:
    """Show a text in a pager if the terminal is too low for it; tell whether that was done."""
    import shutil

    if sys.stdin is None or not sys.stdin.isatty() or text.count("\n") < shutil.get_terminal_size().lines:
        return False
    import pydoc

    os.environ.setdefault("LESS", "FRX")  # colours are shown, and what was read stays on the screen, as with git
    shown, sys.stdout = sys.stdout, raw(results())
    try:
        pydoc.pager(text)
    finally:
        sys.stdout = shown
    return True
