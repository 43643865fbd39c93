"""Files that are nearly right, for tests: valid ones, changed at random from a seed, as data and as bytes."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from typing import Any

import tomli_w

# What stands where something else is expected: other types, numbers beyond any bound, texts beyond any file system.
STRANGE: tuple[Callable[[random.Random], Any], ...] = (
    lambda _: True,
    lambda _: False,
    lambda rng: rng.choice((0, -1, 1, 7, 2**31, 2**63, -(2**63) - 1, 10**30, 10**400)),
    lambda rng: rng.choice((0.5, -0.0, 1e308, float("inf"), float("nan"))),
    lambda _: "",
    lambda rng: rng.choice(("x" * 300, "x" * 5000, "../../x", "/dev/null", "a\x00b", "a\nb", "CON", "~", ".", "-")),
    lambda rng: rng.choice(("{margin}", "{", "{}", "{a-b}", "2d6", "d", "99999d99999", "1/0", "(" * 60, ">=", "=6")),
    lambda rng: rng.choice(("\u202e", "\x9b31m", "\u2028", "é", "💥", "actor", "opponent", "gm", "roll", "switch:x")),
    lambda _: [],
    lambda _: {},
    lambda rng: [STRANGE[rng.randrange(8)](rng) for _ in range(rng.randrange(1, 4))],
    lambda rng: {rng.choice(("a", "kind", "when", "text", "x y", "")): STRANGE[rng.randrange(8)](rng)},
    lambda _: [[[[[[]]]]]],
    lambda _: _deep(60),
    lambda _: [{"kind": {}}],
    lambda _: {"remove": True},
    lambda _: datetime.date(2024, 2, 29),
    lambda _: datetime.datetime(2024, 2, 29, 12, 0, tzinfo=datetime.UTC),
    lambda _: datetime.time(1, 2, 3),
)


def _deep(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def changed(data: Any, rng: random.Random, *, strange: Any = STRANGE) -> Any:
    """Return plain data with one to three random changes: of values, keys, types, nesting, or places."""
    data = _copy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(data))
        if not places:
            return data
        holder, key = rng.choice(places)
        match rng.randrange(7):
            case 0 | 1 | 2:
                holder[key] = rng.choice(strange)(rng)
            case 3:
                del holder[key]
            case 4:
                other, at = rng.choice(places)
                if at in other if isinstance(other, dict) else at < len(other):
                    holder[key] = _copy(other[at])
            case 5:
                holder[key] = rng.choice(([holder[key]], {"a": holder[key]}, {key if isinstance(key, str) else "x": 1}))
            case _ if isinstance(holder, dict):
                name = rng.choice((f"{key}s", "x", "", "a b", "x" * 300, "é", "__class__", "\x9b", key.upper()))
                holder[name] = holder.pop(key)
    return data


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value


def _places(value: Any) -> Any:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from _places(inner)


def toml_bytes(data: dict[str, Any], rng: random.Random) -> bytes:
    """Return a TOML file of changed data; one in five is spoilt as text or in its encoding."""
    try:
        content = tomli_w.dumps(changed(data, rng)).encode("utf-8", "surrogatepass")
    except (RecursionError, TypeError, ValueError, AttributeError):
        content = tomli_w.dumps(data).encode()
    return spoilt(content, rng) if rng.randrange(5) == 0 else content


def spoilt(content: bytes, rng: random.Random) -> bytes:
    """Return bytes that are cut, doubled, turned about, or in another encoding."""
    at = rng.randrange(len(content) + 1)
    match rng.randrange(9):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
        case 2:
            return (
                content[:at] + rng.choice((b"[", b"]", b"{", b'"""', b"=", b"\n[[", b".", b"#", b"\r")) + content[at:]
            )
        case 3:
            return content[:at] + b"\xff\xfe\xed\xa0\x80" + content[at:]
        case 4:
            return content.decode("utf-8", "replace").encode("utf-16")
        case 5:
            return b"\xef\xbb\xbf" + content
        case 6:
            return content + content[at:]
        case 7:
            return content[:at] + b"\x00" + content[at:]
        case _:
            return content[:at] + b"1" * 5000 + content[at:]
