"""The picture of the README: what a terminal shows for real command lines, drawn as SVG without a font or a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from rpgres.render.lines import BLUE, GREEN, ORANGE, PURPLE, RED
from tests.support.checkout import ROOT

FILE = ROOT / "rpgres" / "guide" / "picture.svg"
COMMANDS = (
    "rpgres roll fate overcome --skill 3 --vs fair --seed 7",
    "rpgres odds fate attack --skill 4 --vs 4dF+2",
    "rpgres odds saga act --ability agility=5 --vs daunting --edge 2 --hand St6,Ag3,Wi7,In2",
)

COLUMN, LINE, MARGIN, SIZE = 8.4, 18, 16, 14  # of a character and of the frame, in pixels
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
PAPER, INK, QUIET = "#1b1f27", "#dfe3ea", "#9aa3b2"
# The colours of `rpgres.render.lines`, as light as this ground wants them.
COLOURS = {RED: "#ff9d76", GREEN: "#7fd6a2", ORANGE: "#f2d264", BLUE: "#7db4ff", PURPLE: "#d9a6ff"}
_SEQUENCE = re.compile(r"\x1b\[([\d;]*)m")


def picture() -> str:
    """Return the picture of what the commands show now."""
    from tests.support.terminal import Terminal

    lines: list[str] = []
    for command in COMMANDS:
        code, shown = Terminal(command.split()[1:], NO_COLOR="", COLORTERM="truecolor", COLUMNS="88").end()
        assert code == 0, shown
        lines += [*([""] if lines else []), f"\x1b[1m$ {command}\x1b[0m", *shown.splitlines()]
    return drawn(lines)


def drawn(lines: list[str]) -> str:
    """Return lines of a terminal, with their sequences for colours, as SVG."""
    plain = [_SEQUENCE.sub("", line) for line in lines]
    width = round(max(map(len, plain)) * COLUMN + 2 * MARGIN)
    height = len(lines) * LINE + 2 * MARGIN
    parts = [part for place, line in enumerate(lines) for part in _line(line, MARGIN + SIZE + place * LINE)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-labelledby="title text">\n'
        f'<title id="title">rpgres at a terminal</title>\n'
        f'<desc id="text">{escape(chr(10).join(plain))}</desc>\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>\n'
        f'<g font-family="{FONT}" font-size="{SIZE}" fill="{INK}" xml:space="preserve">\n'
        + "\n".join(parts)
        + "\n</g>\n</svg>\n"
    )


def _line(line: str, baseline: int) -> Iterator[str]:
    column, style = 0, ""
    for text, sequence in re.findall(r"([^\x1b]*)(\x1b\[[\d;]*m)?", line):
        for piece in re.findall(r"█*▌|█+|[^█▌]+", text):
            said = piece.strip()
            half = COLUMN / 2 if piece[-1] == "▌" else 0
            start = column + len(piece) - len(piece.lstrip())
            x, length = f"{MARGIN + start * COLUMN:.1f}", f"{len(said) * COLUMN - half:.1f}"
            column += len(piece)
            if piece[0] in "█▌":
                yield f'<rect x="{x}" y="{baseline - SIZE}" width="{length}" height="{LINE - 4}"{style}/>'
            elif said:
                yield f'<text x="{x}" y="{baseline}" textLength="{length}"{style}>{escape(said)}</text>'
        if sequence:
            style = _style(_SEQUENCE.sub(r"\1", sequence))


def _style(codes: str) -> str:
    style = ""
    numbers = list(map(int, filter(None, codes.split(";"))))
    while numbers:
        code, *numbers = numbers
        if code == 1:
            style += ' font-weight="bold"'
        elif code == 2:
            style += f' fill="{QUIET}"'
        elif code == 38:  # 38;2;RED;GREEN;BLUE
            _, red, green, blue, *numbers = numbers
            style += f' fill="{COLOURS[f"#{red:02x}{green:02x}{blue:02x}"]}"'
    return style
