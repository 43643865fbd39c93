"""Seeds, streams of random numbers, and fair draws from them. Nothing here knows dice, cards or rules.

The generator is called ``rp1``. It is stateless and counter-based: each question a rule asks has a *place*
(step, label, count), and its numbers are a keyed hash of that place, so that one answer can change while every
other die stays as it was.

==========  ==================================================================================================
seed        any text; ``rp1:TEXT`` is the same as ``TEXT``; ``TEXT#N`` is run N of a repeated or simulated action
key         BLAKE2b, 32 bytes, of TEXT in UTF-8, personalised with ``rpgres rp1``; at a lasting table it is keyed with
            SALT, so that a reader of some of its dice cannot find the seed by trying
block       BLAKE2b, 64 bytes, keyed with the key, of ``STEP/LABEL/COUNT/DRAW/BLOCK`` in UTF-8
word        the eight bytes of the block at ``8 * (RUN % 8)``, most significant first; ``BLOCK = RUN // 8``
below(n)    the first word smaller than the largest multiple of n up to 2**64, modulo n; DRAW counts the words
            (for n over 2**64 the words are taken together, two by two or as many as n needs)
==========  ==================================================================================================

SALT is the 32 random bytes of the table's commitment to its seed, which `rpgres table reveal` tells with it; anywhere
else there is none. STEP, COUNT, DRAW, BLOCK and RUN are decimal numbers from 0; a run without a number is run 0. Eight
runs share a block, which is what makes a long simulation cheap. The vectors in ``tests/dice/test_seeds.py`` pin all of
it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from rpgres.errors import UsageError
from rpgres.text.digest import blake2b

ALGORITHM = "rp1"
LONGEST_SEED = 1000  # characters
WORD = 1 << 64  # one more than the largest word
LANES = 8  # runs that share a block
MOST_BEGUN = 4096  # places whose hash is kept from block to block
_WORDS = struct.Struct(f">{LANES}Q")
MOST_RUN_DIGITS = 18


def mint_seed() -> str:
    """Return a fresh seed with 80 bits from the operating system, named after its algorithm."""
    # What `secrets.token_bytes` returns; importing `secrets` brings `random` and OpenSSL with it.
    from os import urandom

    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    return f"{ALGORITHM}:" + "".join(alphabet[b & 31] for b in urandom(16))


def read_seed(seed: str | int | None) -> str:
    """Return the seed that was typed, or a fresh one.

    Args:
        seed: a text or a whole number; None for a fresh one.

    Raises:
        UsageError: it is neither, is empty or too long, or has characters that cannot be shown.
    """
    if seed is None:
        return mint_seed()
    if isinstance(seed, bool) or not isinstance(seed, str | int):
        raise UsageError(f"a seed is a text or a whole number, not {seed!r}")
    text = str(seed)
    if len(text) > LONGEST_SEED:
        raise UsageError(f"a seed has at most {LONGEST_SEED:,} characters, not {len(text):,}")
    if any(_is_control(char) for char in text):
        raise UsageError(f"the seed {text[:80]!r} has control characters, which are not allowed")
    if not split_seed(text)[0].strip():
        raise UsageError("the seed is empty; omit it for a fresh one")
    return text


def _is_control(char: str) -> bool:
    # Half of a surrogate pair is no character, and cannot be written.
    return char < " " or "\x7f" <= char <= "\x9f" or char in "\u2028\u2029" or "\ud800" <= char <= "\udfff"


def split_seed(seed: str) -> tuple[str, int]:
    """Return the text a seed hashes and the number of its run.

    Raises:
        UsageError: the seed names a generator that this version does not have.
    """
    generator, colon, text = seed.partition(":")
    if not (colon and generator.startswith("rp") and generator[2:].isdecimal()):
        text = seed
    elif generator != ALGORITHM:
        raise UsageError(
            f"the seed {seed!r} was made with the generator {generator}, "
            f"and this version of rpgres only has {ALGORITHM}"
        )
    before, sign, run = text.rpartition("#")
    if sign and run.isdecimal() and len(run) <= MOST_RUN_DIGITS and (run == "0" or "1" <= run[0] <= "9"):
        return before, int(run)
    return text, 0


def run_seed(seed: str, run: int) -> str:
    """Return the seed of run `run` (from 0) of a repeated action; a seed that is already a run gets runs of its own.

    >>> run_seed("7", 2)
    '7#2'
    """
    return f"{seed}#{run}"


class Streams:
    """The random numbers of one run: a word for every place a question can have.

    Args:
        seed: any text, see the module's table.
        salt: of a lasting table, at most 64 bytes; empty anywhere else.

    Attributes:
        seed, text, run: the seed, what of it is hashed, and the number of the run.
        block, lane: which eight runs share their blocks with this one, and which of them it is.
        results: for a dealer, what it made of the numbers of these eight runs; forgotten with them.
    """

    __slots__ = ("_begun", "_blocks", "_key", "block", "lane", "results", "run", "seed", "text")

    def __init__(self, seed: str, *, salt: bytes = b"") -> None:
        self.seed = seed
        self.text, self.run = split_seed(seed)
        text = self.text.encode("utf-8", "surrogatepass")
        self._key = blake2b(text, digest_size=32, key=salt, person=b"rpgres rp1").digest()
        self._begun: dict[tuple[int, str, int], blake2b] = {}  # the same in all blocks
        self._blocks: dict[tuple[int, str, int], tuple[int, ...]] = {}
        self.results: dict[tuple[int, str, int], Any] = {}
        self.block = -1
        self.move_to(self.run)

    def move_to(self, run: int) -> None:
        """Go on to another run of the same seed; going through runs in order costs an eighth of a hash a word."""
        self.run = run
        self.lane = run % LANES
        block = run // LANES
        if block != self.block:
            self.block = block
            self._blocks.clear()
            self.results.clear()

    def word(self, step: int, label: str, count: int) -> int:
        """Return the first 64-bit number of a place."""
        return self.words(step, label, count)[self.lane]

    def words(self, step: int, label: str, count: int) -> tuple[int, ...]:
        """Return the first numbers of a place in all the runs that share this one's block."""
        place = (step, label, count)
        block = self._blocks.get(place)
        if block is None:
            begun = self._begun.get(place)
            if begun is None:
                if len(self._begun) >= MOST_BEGUN:
                    self._begun.clear()
                begun = self._begun[place] = self._begin(step, label, count, 0)
            block = self._blocks[place] = self._words(begun)
        return block

    def _begin(self, step: int, label: str, count: int, draw: int) -> blake2b:
        """Return the hash of a place and draw, up to the block's number."""
        return blake2b(f"{step}/{label}/{count}/{draw}/".encode("utf-8", "surrogatepass"), key=self._key)

    def _words(self, begun: blake2b) -> tuple[int, ...]:
        whole = begun.copy()
        whole.update(b"%d" % self.block)
        return _WORDS.unpack(whole.digest())

    def below(self, step: int, label: str, count: int) -> Callable[[int], int]:
        """Return the fair draws of one place: a function that gives a number from 0 to n - 1, a new one each call."""
        draw = 0

        def next_below(n: int) -> int:
            nonlocal draw
            words = max(1, ((n - 1).bit_length() + 63) // 64)
            while True:
                number = 0
                for _ in range(words):
                    if draw:
                        drawn = self._words(self._begin(step, label, count, draw))
                    else:
                        drawn = self.words(step, label, count)
                    number = number << 64 | drawn[self.lane]
                    draw += 1
                span = 1 << 64 * words
                if number < span - span % n:
                    return number % n

        return next_below


def pick(weights: Sequence[int], below: Callable[[int], int]) -> int:
    """Return an index with chance proportional to its weight, drawn by one exact whole-number draw.

    Args:
        weights: whole numbers, none negative, at least one positive.
        below: draws a number from 0 to n - 1.
    """
    point = below(sum(weights))
    for index, weight in enumerate(weights):
        point -= weight
        if point < 0:
            return index
    raise ValueError("pick needs a positive weight")
