"""The programs of the guide as its pages show them: the files themselves."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.checkout import ROOT


def _shown(name: str, language: str) -> str:
    text = (ROOT / "rpgres" / "guide" / name).read_text("utf-8")
    return f"```{language}\n# file: {name}\n{text}```\n"


SECTIONS: dict[str, Callable[[], str]] = {
    "discord": lambda: _shown("bot.py", "python"),
    "shell": lambda: _shown("scene.sh", "sh"),
}
