"""Colours on terminals: read on dark and on light ground, and told apart by those who see few of them.

The oracles are the contrast of WCAG 2 and the matrices of Machado, Oliveira and Fernandes (2009) for severity 1.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from rich.color import Color

from rpgres.render.lines import STYLES, STYLES_16, Look, Piece, line, styled

Rgb = tuple[float, float, float]
SEEN = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
TOGETHER = (("good", "bad", "even"), ("plus", "minus"), tuple(f"bar{number}" for number in range(4)))


def linear(style: str) -> Rgb:
    """The colour of a style as light, each channel from 0 to 1."""
    parts = Color.parse(style.rpartition(" ")[2]).get_truecolor()
    return tuple(one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in (c / 255 for c in parts))  # type: ignore[return-value]


def luminance(colour: Rgb) -> float:
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), colour, strict=True))


def lab(colour: Rgb) -> Rgb:
    """The same as CIE L*a*b*, in which distance is what an eye tells apart."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    x, y, z = (
        (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116)
        for value in (
            sum(a * b for a, b in zip(row, colour, strict=True)) / base for row, base in zip(rows, white, strict=True)
        )
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen_by(eye: str, colour: Rgb) -> Rgb:
    rows = (sum(a * b for a, b in zip(row, colour, strict=True)) for row in SEEN[eye])
    return tuple(min(1.0, max(0.0, part)) for part in rows)  # type: ignore[return-value]


@pytest.mark.parametrize("name", [name for name, style in STYLES.items() if "#" in style])
def test_colours_are_read_on_dark_and_on_light(name: str) -> None:
    light = luminance(linear(STYLES[name]))
    assert (light + 0.05) / 0.05 >= 4.5  # on black
    assert 1.05 / (light + 0.05) >= 3  # on white, where what is coloured is bold, a bar, or a name


@pytest.mark.parametrize("eye", SEEN)
@pytest.mark.parametrize("names", TOGETHER)
def test_colours_that_stand_together_are_told_apart(eye: str, names: tuple[str, ...]) -> None:
    for one, other in combinations(names, 2):
        first, second = (lab(seen_by(eye, linear(STYLES[name]))) for name in (one, other))
        assert sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5 >= 10, (eye, one, other)


def test_terminals_of_few_colours_have_styles_of_their_own() -> None:
    assert STYLES.keys() == STYLES_16.keys()
    assert not any("#" in style or "yellow" in style or "green" in style for style in STYLES_16.values())
    text = styled([line(Piece("Succeed", "good"))], Look(), has_few_colours=True)
    assert text.spans[0].style == "bold cyan"
