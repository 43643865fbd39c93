"""The README as a package index shows it, where no files lie beside it: no picture, and commands in place of links.

At its end stands the name of the server in the registry of the Model Context Protocol, which asks for it there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Description(MetadataHookInterface):
    """What the build puts into the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        server = json.loads((Path(self.root) / "rpgres" / "cli" / "mcp" / "server.json").read_text("utf-8"))
        text = f"{described(text)}\n<!-- mcp-name: {server['name']} -->\n"
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def described(text: str) -> str:
    """Return the README without what leads to files of the repository."""
    pictured = re.sub(r"^!\[[^\]]*\]\((?!https:)[^)]*\)\n\n", "", text, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]+)\]\((?!https?:)([^)]*)\)", _unlinked, pictured)


def _unlinked(link: re.Match[str]) -> str:
    words, target = link[1], link[2]
    page = re.fullmatch(r"rpgres/guide/([\w-]+)\.md", target)
    if page is None:
        return words
    return f"`rpgres help {page[1]}`" if page[1] != "index" else f"{words} (`rpgres help`)"
