"""A table's file rewritten by somebody who has it and knows its format: the chain fits in itself again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rpgres.journal import store
from rpgres.journal.chain import START, commitment, digest, link, written
from rpgres.journal.rows import Base, packed, words_of

Forge = Callable[[int, dict[str, Any], dict[str, Any], Any], Any]


def rewrite(path: Path, forge: Forge) -> None:
    """Rewrite a journal.

    Args:
        path: its file.
        forge: gets the number, the public and the secret part of each entry and the table after it, and may change
            them; it returns the table. Entries that it changes into no dictionaries are written as they are.
    """
    rows = list(store.read_rows(path))
    before, hashes, bodies = START, list[str](), list[bytes]()
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA synchronous=OFF; DELETE FROM entries; DELETE FROM bases;")
    for number, row in enumerate(rows):
        public, secret, state = json.loads(row.public), json.loads(row.secret), json.loads(row.state())
        _remark(secret.get("stands", {}), hashes)
        state = written(forge(number, public, secret, state))
        secret["state"] = secret["state"] if secret.get("state") == "forged" else digest(state)
        parts = written(public), written(secret)
        before = link(before, number=number, public=parts[0], commitment=commitment(row.salt, parts[1]))
        hashes.append(before.hex())
        base = Base(number, state, words_of(reversed(bodies)))
        bodies.append(len(parts[0]).to_bytes(4, "big") + b"".join(parts))
        values = (number, number, packed(bodies[-1], base.preset), packed(b"[]", base.preset))
        connection.execute("INSERT INTO bases VALUES (?, ?, ?)", (number, *map(packed, (state, base.words))))
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", (*values, row.salt, before))
    connection.commit()
    connection.close()


def _remark(stands: dict[str, Any], hashes: list[str]) -> None:
    """Have what counts name earlier entries by their new hashes."""
    single = [stands[name] for name in ("new", "pending", "run", "revealed") if stands.get(name)]
    for mark in (*single, *stands.get("seals", ()), *stands.get("known", ())):
        mark[1] = hashes[mark[0]]
