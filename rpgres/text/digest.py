"""The hash function of seeds, caches and the identity of rules."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # what hashlib.blake2b is, without loading OpenSSL: 2 ms of a one-shot command
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b"]
