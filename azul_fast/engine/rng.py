"""The streams of random numbers: a keyed counter, no state.

Draw number k of round r of a game depends on the seed, the game (or deal) number, r and k alone. So a game is the
same wherever and beside whatever it is played, and policies that differ in what they draw still meet the same deals.

From the outside in: `stream_key` makes 64 bits of seed and number, `round_stream` makes of these and the round two
32-bit words, and `word` makes of those and k the draw. Both of the latter act on lanes (`azul_fast.engine.lanes`) of
any width: one game as a scalar, or many side by side, by the same lines.
"""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline

# What a stream is for: added to the seed, so that the streams of one number differ. Any two odd constants would do;
# these are the fractions of sqrt(2) and sqrt(3) in 64 bits, made odd.
DEALS = np.uint64(0x6A09E667F3BCC909)
POLICIES = np.uint64(0xBB67AE8584CAA73B)

# splitmix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014), with the
# finalizer constants of Stafford's variant 13.
_GOLDEN_64 = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd
_SPLIT_1 = np.uint64(0xBF58476D1CE4E5B9)
_SPLIT_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)

# lowbias32: Chris Wellons, "Prospecting for hash functions" (2018), https://nullprogram.com/blog/2018/07/31/
_MIX_1, _MIX_2 = 0x7FEB352D, 0x846CA68B
_GOLDEN_32 = 0x9E3779B9  # 2**32 / golden ratio, odd

WORD_BITS = 24  # of a draw: times a count below 2**8 it still fits 32 bits
MAX_BELOW = 255  # largest count `below` may be asked for


@inline
def _splitmix(z):
    z = (z ^ (z >> _SHIFT_1)) * _SPLIT_1
    z = (z ^ (z >> _SHIFT_2)) * _SPLIT_2
    return z ^ (z >> _SHIFT_3)


@inline
def stream_key(seed, index, domain):
    """Key of one stream.

    Parameters
    ----------
    seed : int64
        0 to 2**53 - 1.
    index : int64
        Number of the deal or game, 0 or more.
    domain : uint64
        `DEALS` or `POLICIES`.

    Returns
    -------
    int64
        64 well-mixed bits. For one seed and domain, different numbers have different keys.
    """
    start = _splitmix(np.uint64(seed) + domain)
    return np.int64(_splitmix(start + np.uint64(index) * _GOLDEN_64))


@inline
def _mix32(z):
    z = (z ^ z >> 16) * _MIX_1
    z = (z ^ z >> 15) * _MIX_2
    return z ^ z >> 16


@inline
def round_stream(key_low, key_high, round_number):
    """The stream of one round, as two words.

    Parameters
    ----------
    key_low, key_high : lanes
        The low and the high 32 bits of the `stream_key`.
    round_number : lanes or int
        1 for the first round.

    Returns
    -------
    x, y : lanes
        The counter before draw 0, and its step, which is odd; for `word`.
    """
    x = _mix32(key_low + round_number * _GOLDEN_32)
    return x, _mix32(key_high ^ x) | 1


@inline
def counter_word(counter):
    """The 24 random bits a lane that belong to a stream's counter."""
    return _mix32(counter) >> 32 - WORD_BITS


@inline
def word(x, y, k):
    """Draw number `k` (int, 0 or more) of the stream `x`, `y`: 24 random bits a lane.

    The counter runs in steps of the stream's own (as in splitmix): with one step for all streams, hashed once with a
    second word of key added half way, the differences of draws were visibly uneven over many streams.
    """
    return counter_word(x + k * y)


@inline
def below(random_word, count):
    """A number from 0 to `count` - 1, for a draw of `word` and a count of 1 to 255 (0 gives 0).

    Each number's probability is off by less than 2**-24, so no event's by more than count / 2**24 (1.5e-5).
    """
    return random_word * count >> WORD_BITS
