"""The guide: its pages by topic and the sections in them, as Markdown. Nothing here is printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

FOLDER = Path(__file__).resolve().parents[2] / "guide"

# In the order of the list. `index` is the page of the web, which lists the same.
TOPICS = (
    # A kind of reader each.
    *("game-master", "solo", "cards", "post", "assistant", "scripts"),
    *("library", "samples", "designer", "rulesets"),
    *("notation", "formats", "plugins", "settings", "reference"),
)

# Pages that stand beside what they are about, in a checkout.
ELSEWHERE = {"formats": "rulesets/README.md", "plugins": "plugins/README.md"}

_MARK = re.compile(r"^<!-- .* -->\n", re.MULTILINE)  # where sections that are made from the code begin and end
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#]*)(#[^)]*)?\)")
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


class Page(Struct, frozen=True):
    """A page of the guide.

    Attributes:
        topic: its name, by which `rpgres help` knows it.
        text: what it says, in Markdown.
    """

    topic: str
    text: str

    @property
    def title(self) -> str:
        """Its heading."""
        return self.text.partition("\n")[0].removeprefix("# ")

    @property
    def summary(self) -> str:
        """What it is about: its first paragraph, on one line."""
        return self.text.split("\n\n")[1].replace("\n", " ")

    @property
    def shown(self) -> str:
        """What it says to a reader who has no links: other pages are named by the command that shows them."""
        # Prose alternates with examples, which are shown as they stand: Python has `[...](...)`, too.
        parts = re.split(f"({_FENCED.pattern})", self.text, flags=_FENCED.flags)
        parts[::2] = (_LINK.sub(_unlinked, _MARK.sub("", prose)) for prose in parts[::2])
        return "".join(parts)


def page(topic: str) -> Page:
    """Return a page.

    Args:
        topic: one of `TOPICS`, or `index`.
    """
    checkout = FOLDER.parent.parent / ELSEWHERE.get(topic, "")
    file = checkout if checkout.is_file() else FOLDER / f"{topic}.md"
    return Page(topic, file.read_text("utf-8"))


def sections() -> Iterator[Page]:
    """Yield every section of the guide as a page of its own, named as links name it: `what-if` for `What if?`."""
    for topic in TOPICS:
        text = page(topic).text
        headings = list(_HEADING.finditer(_FENCED.sub(lambda fence: " " * len(fence[0]), text)))
        for place, heading in enumerate(headings[1:], 1):
            below = (one.start() for one in headings[place + 1 :] if len(one[1]) <= len(heading[1]))
            yield Page(anchor_of(heading[2]), text[heading.start() : next(below, len(text))])


def section_on(words: Sequence[str]) -> Page | None:
    """Return the first section whose heading is these words, or has them among its words; None where there is none."""
    name = "-".join(words).lower()
    found = list(sections())
    exact = (one for one in found if one.topic == name)
    return next(exact, None) or next((one for one in found if f"-{name}-" in f"-{one.topic}-"), None)


def mentions(words: Sequence[str]) -> list[str]:
    """Return the sections whose text has these words, by their topics, the one that has them most often first."""
    typed = " ".join(words).lower()
    found = {one.topic: one.text.lower().count(typed) for one in sections()}
    return sorted((topic for topic, times in found.items() if times), key=lambda topic: -found[topic])


def anchor_of(heading: str) -> str:
    """Return the name by which links know a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _unlinked(link: re.Match[str]) -> str:
    words, target = link[1], link[2]
    stem = target.rpartition("/")[2].removesuffix(".md")
    topic = next((topic for topic, path in ELSEWHERE.items() if target.endswith(path)), stem)
    return f"{words} (`rpgres help {topic}`)" if topic in TOPICS else words
