"""Seeds and streams: the published vectors, the documented algorithm written a second time, fairness."""

from __future__ import annotations

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpgres.dice.seeds import LANES, WORD, Streams, mint_seed, pick, run_seed, split_seed
from rpgres.errors import UsageError

# (seed, word at 0/roll/0, word at 0/opposition/0, word at 3/roll/2); never to change while the generator is called rp1.
VECTORS = [
    ("7", 0xEFED95BD7898ED1B, 0xBAC96515D1AEFBFD, 0x46B36005AB4F48BE),
    ("7#3", 0x32B338D1B6C24B8B, 0x337F5A0BF9F4FD5E, 0x515C1A6D22A02989),
    ("7#9", 0xC91A8A9EA8467BC4, 0xFC515686433B8532, 0x006CAF2563074976),
    ("Größe ✓", 0x2DF0DEE5754729AE, 0x919E8CE073D419DB, 0xAD22F8D0C0FF0BBB),
    ("", 0x80DD54B1764F69BD, 0x85FE5F8EF77C90AF, 0xD48281E07870E4AA),
]


SALT = bytes(range(32))
# The same with a salt, as at a lasting table.
SALTED = [
    ("7", 0x6FBD094A5178EC55, 0x8E03F9601D8BD8BC, 0x9264A739822376AB),
    ("7#3", 0x9397201C913E7641, 0x32B070FB0277CE73, 0x95C91DC7D165D131),
    ("Größe ✓", 0x12977E2FD631B183, 0x8F791213B4FC72C3, 0x67F571EAFCA3FDB1),
    ("48213", 0xA51A8042803F1B12, 0x2DF454A94A1DC18D, 0x5FF41F45D001FE1E),
]


@pytest.mark.parametrize(("seed", "roll", "opposition", "later"), VECTORS)
def test_words_are_as_published(seed: str, roll: int, opposition: int, later: int) -> None:
    streams = Streams(seed)
    assert streams.word(0, "roll", 0) == roll
    assert streams.word(0, "opposition", 0) == opposition
    assert streams.word(3, "roll", 2) == later


@pytest.mark.parametrize(("seed", "roll", "opposition", "later"), SALTED)
def test_words_with_a_salt_are_as_published(seed: str, roll: int, opposition: int, later: int) -> None:
    streams = Streams(seed, salt=SALT)
    assert [streams.word(0, "roll", 0), streams.word(0, "opposition", 0), streams.word(3, "roll", 2)] == [
        roll,
        opposition,
        later,
    ]
    assert Streams(seed, salt=b"").word(0, "roll", 0) == Streams(seed).word(0, "roll", 0) != roll


def test_bounded_numbers_are_as_published() -> None:
    below = Streams("7").below(0, "roll", 0)
    assert [below(6) for _ in range(8)] == [3, 3, 2, 5, 1, 0, 5, 4]
    assert Streams("7").below(0, "deck", 0)(10**30) == 940202890871403827407040871041


@given(
    st.text(),
    st.integers(0, 10**6),
    st.text(max_size=8),
    st.integers(0, 99),
    st.integers(0, 999),
    st.binary(max_size=64),
)
def test_the_documented_algorithm_gives_the_same_words(
    text: str, run: int, label: str, count: int, step: int, salt: bytes
) -> None:
    if split_seed(f"{text}#{run}") != (text, run):
        return  # a text that names a generator
    key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32, key=salt, person=b"rpgres rp1").digest()
    message = f"{step}/{label}/{count}/0/{run // 8}".encode("utf-8", "surrogatepass")
    block = blake2b(message, key=key, digest_size=64).digest()
    expected = int.from_bytes(block[run % 8 * 8 : run % 8 * 8 + 8], "big")
    assert Streams(f"{text}#{run}", salt=salt).word(step, label, count) == expected


def test_a_named_seed_is_the_plain_one_and_other_generators_are_refused() -> None:
    assert Streams("rp1:7").word(0, "roll", 0) == Streams("7").word(0, "roll", 0)
    with pytest.raises(UsageError, match="rp2"):
        Streams("rp2:7")


def test_minted_seeds_name_their_generator_and_differ() -> None:
    seeds = {mint_seed() for _ in range(100)}
    assert len(seeds) == 100
    assert all(seed.startswith("rp1:") and len(seed) == 20 for seed in seeds)


def test_runs_are_streams_of_their_own_and_the_first_is_the_seed_itself() -> None:
    words = [Streams(run_seed("7", run)).word(0, "roll", 0) for run in range(40)]
    assert len(set(words)) == 40
    assert words[0] == Streams("7").word(0, "roll", 0)


def test_moving_through_runs_is_the_same_as_seeding_each() -> None:
    moved = Streams("x")
    for run in (0, 1, 7, 8, 9, 3, 800):
        moved.move_to(run)
        assert moved.word(2, "roll", 1) == Streams(f"x#{run}").word(2, "roll", 1)


def test_one_place_does_not_move_another() -> None:
    streams = Streams("7")
    alone = streams.word(0, "opposition", 0)
    below = streams.below(0, "roll", 0)
    for _ in range(50):
        below(3)
    assert streams.word(0, "opposition", 0) == alone


def test_words_over_the_largest_multiple_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    top = WORD - 1  # with n = 3 the one word that would favour 0
    monkeypatch.setattr(Streams, "words", lambda *_: (top,) * LANES)
    monkeypatch.setattr(Streams, "_begin", lambda *args: args[-1])  # the number of the draw
    monkeypatch.setattr(Streams, "_words", lambda _, draw: ({1: top, 2: 7}[draw],) * LANES)
    assert WORD % 3 == 1
    assert Streams("7").below(0, "roll", 0)(3) == 7 % 3


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 6, 20, 81, 100, 1000])
def test_draws_are_fair(n: int) -> None:
    draws = 200 * n
    counts = [0] * n
    streams = Streams(f"fair {n}")
    for run in range(draws):
        streams.move_to(run)
        counts[streams.below(0, "roll", 0)(n)] += 1
    chi_square = sum((count - 200) ** 2 / 200 for count in counts)
    # mean n - 1, standard deviation sqrt(2(n - 1)); five of those is less than one in a million
    assert abs(chi_square - (n - 1)) < 5 * (2 * (n - 1)) ** 0.5


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8).filter(any))
def test_pick_gives_each_index_as_many_points_as_its_weight(weights: list[int]) -> None:
    total = sum(weights)
    picked = [pick(weights, lambda n, point=point: point) for point in range(total)]
    assert [picked.count(index) for index in range(len(weights))] == weights
