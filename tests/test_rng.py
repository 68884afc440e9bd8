"""The streams: the same in Python's numbers, for every lane width, and without patterns that a game could feel.

Every statistical test here has a fixed seed; on other seeds it would fail by chance with the probability `ALARM`.
"""

import math
from statistics import NormalDist

import numba
import numpy as np
import pytest
import slow_streams

from azul_fast.engine.lanes import lane, load, store, widen
from azul_fast.engine.rng import DEALS, MAX_BELOW, POLICIES, below, round_stream, stream_key, word
from azul_fast.engine.static import Static

SAMPLES = 1 << 20
ALARM = 1e-6
LIMIT = -NormalDist().inv_cdf(ALARM / 2)  # 4.89 standard deviations, on either side


@numba.njit
def draws(seeds, numbers, domain, rounds, k):
    """24-bit draws [n] for arrays of seeds, game numbers and rounds."""
    out = np.empty(len(seeds), np.int64)
    for i in range(len(seeds)):
        key = stream_key(seeds[i], numbers[i], domain)
        x, y = round_stream(lane(key), lane(key >> 32), lane(rounds[i]))
        out[i] = widen(word(x, y, k))
    return out


@numba.njit
def draws_in_lanes(keys, rounds, k, counts, out, size):
    """The same on `size.width` lanes at once: words and numbers below `counts`."""
    width = size.width
    x, y = round_stream(load(keys, 0, width), load(keys, width, width), load(rounds, 0, width))
    random_word = word(x, y, k)
    store(out, 0, random_word)
    store(out, width, below(random_word, load(counts, 0, width)))


@numba.njit
def key_of(seed, index, domain):
    return stream_key(seed, index, domain)


def streams(seed=1, game=0, round_number=1, k=5, domain=POLICIES, step="game"):
    """Draw number `k` over `SAMPLES` consecutive games, seeds or rounds."""
    counters = np.arange(SAMPLES)
    none = np.zeros(SAMPLES, np.int64)
    return draws(
        seed + (counters if step == "seed" else none),
        game + (counters if step == "game" else none),
        domain,
        round_number + (counters if step == "round" else none),
        k,
    )


def deviation(cells, cell_count):
    """By how many standard deviations the chi-square of equal cells is off (Wilson and Hilferty, 1931)."""
    counts = np.bincount(cells, minlength=cell_count)
    expected = len(cells) / cell_count
    degrees = cell_count - 1
    chi_square = ((counts - expected) ** 2 / expected).sum()
    spread = 2 / (9 * degrees)
    return ((chi_square / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)


def check_single(words):
    worst = max(abs(deviation(words >> 16, 256)), abs(deviation(words >> 12, 4096)), abs(deviation(words & 255, 256)))
    assert worst < LIMIT


def check_pair(a, b):
    deviations = [
        deviation((a >> 18) << 6 | b >> 18, 4096),
        deviation((a & 63) << 6 | b & 63, 4096),
        deviation((a ^ b) >> 12, 4096),
        deviation((a - b & 0xFFFFFF) >> 12, 4096),
        12 * ((a / 2**24 - 0.5) * (b / 2**24 - 0.5)).mean() * math.sqrt(len(a)),  # correlation
    ]
    assert np.abs(deviations).max() < LIMIT


# ------------------------------------------------------------------------------------------------ what the streams are
def test_kernels_and_python_agree():
    rng = np.random.default_rng(3)
    for domain, slow_domain in ((DEALS, slow_streams.DEALS), (POLICIES, slow_streams.POLICIES)):
        for _ in range(200):
            seed, game = int(rng.integers(2**53)), int(rng.integers(2 ** int(rng.integers(1, 63))))
            round_number, k = int(rng.integers(1, 101)), int(rng.integers(100))
            key = slow_streams.stream_key(seed, game, slow_domain)
            assert key_of(seed, game, domain) % 2**64 == key
            expected = slow_streams.word(*slow_streams.round_stream(key, round_number), k)
            assert draws(np.array([seed]), np.array([game]), domain, np.array([round_number]), k).tolist() == [expected]


def test_these_draws_stay_what_they_are():
    """Another number here is another game for every seed: a change to be named in the changelog."""
    assert draws(np.array([1]), np.array([2]), DEALS, np.array([3]), 4).tolist() == [10966300]
    assert draws(np.array([2**53 - 1]), np.array([10**12]), POLICIES, np.array([100]), 35).tolist() == [15405532]


@pytest.mark.parametrize("width", [1, 4, 8, 16])
def test_every_lane_width_draws_the_same(width):
    rng = np.random.default_rng(width)
    for _ in range(40):
        keys = rng.integers(0, 2**32, 2 * width, np.uint32)
        rounds = rng.integers(1, 101, width).astype(np.uint32)
        counts = rng.integers(0, MAX_BELOW + 1, width).astype(np.uint32)
        k = int(rng.integers(100))
        out = np.zeros(2 * width, np.uint32)
        draws_in_lanes(keys, rounds, k, counts, out, Static(width=width))
        for i in range(width):
            key = int(keys[i]) | int(keys[width + i]) << 32
            expected = slow_streams.word(*slow_streams.round_stream(key, int(rounds[i])), k)
            assert out[i] == expected
            assert out[width + i] == expected * int(counts[i]) >> 24


def test_below_reaches_every_number_and_no_other():
    top = 2**24 - 1
    for count in range(1, MAX_BELOW + 1):
        assert slow_streams.below(0, count) == 0
        assert slow_streams.below(top, count) == count - 1
        firsts = [-(-n * 2**24 // count) for n in range(count + 1)]  # the first word of each number
        shares = np.diff(firsts)
        assert abs(shares / 2**24 - 1 / count).max() < 2**-24
    assert top * MAX_BELOW < 2**32  # so a 32-bit lane holds the product


# ------------------------------------------------------------------------------------------------------------ patterns
@pytest.mark.parametrize("k", [0, 1, 17, 35])
@pytest.mark.parametrize("domain", [DEALS, POLICIES], ids=["deals", "policies"])
def test_one_draw_of_consecutive_games(domain, k):
    check_single(streams(k=k, domain=domain))


@pytest.mark.parametrize("step", ["seed", "round"])
def test_one_draw_of_consecutive_seeds_or_rounds(step):
    words = streams(step=step)
    check_single(words)
    check_pair(words[:-1], words[1:])


@pytest.mark.parametrize("apart", [1, 2, 3, 4, 5, 8, 16, 20, 32])
def test_two_draws_of_a_round(apart):
    check_pair(streams(k=3), streams(k=3 + apart))


def test_draws_of_neighboring_games():
    words = streams(game=10**9)
    check_pair(words[:-1], words[1:])
    check_pair(words[:-2], words[2:])
    check_pair(words[:-1], streams(game=10**9, k=6)[1:])


def test_draws_of_neighboring_seeds():
    check_pair(streams(seed=2**53 - 2), streams(seed=2**53 - 1))


@pytest.mark.parametrize("later", [1, 2, 5])
@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_draws_of_neighboring_rounds(later, shift):
    check_pair(streams(), streams(round_number=1 + later, k=5 + shift))


def test_deals_and_policies_know_nothing_of_each_other():
    check_pair(streams(domain=DEALS), streams(domain=POLICIES))


def test_draws_of_one_round_together():
    """Eight draws in a row by their top two bits, and three in a row by their top four."""
    words = [streams(seed=9, round_number=2, k=k) for k in range(8)]
    assert abs(deviation(sum((w >> 22) << 2 * i for i, w in enumerate(words)), 65536)) < LIMIT
    for k in range(6):
        assert abs(deviation(sum((words[k + i] >> 20) << 4 * i for i in range(3)), 4096)) < LIMIT


def test_every_bit_of_seed_game_round_and_draw_matters():
    """Flip one bit of what a draw depends on: each of its 24 bits changes in half of the cases."""
    n = 1 << 15
    rng = np.random.default_rng(7)
    seeds, games = rng.integers(0, 2**53, n), rng.integers(0, 2**40, n)
    rounds = rng.integers(1, 101, n)
    before = draws(seeds, games, POLICIES, rounds, 8)
    flipped = [draws(seeds ^ 1 << bit, games, POLICIES, rounds, 8) for bit in range(53)]
    flipped += [draws(seeds, games ^ 1 << bit, POLICIES, rounds, 8) for bit in range(62)]
    flipped += [draws(seeds, games, POLICIES, rounds ^ 1 << bit, 8) for bit in range(7)]
    flipped += [draws(seeds, games, POLICIES, rounds, 8 ^ 1 << bit) for bit in range(6)]
    changes = np.array([[(before ^ after) >> bit & 1 for bit in range(24)] for after in flipped]).sum(2)
    deviations = (changes - n / 2) / math.sqrt(n / 4)
    assert abs(deviations).max() < -NormalDist().inv_cdf(ALARM / (2 * deviations.size))
