"""The lane type: every operation against NumPy's unsigned arithmetic, and memory that is checked when asked."""

import os
import subprocess
import sys
import textwrap

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from azul_fast.engine.lanes import (
    all_ones,
    fill,
    lane,
    load,
    load_bytes,
    load_word,
    mask_bits,
    signed_max,
    store,
    store_bytes,
    store_word,
    subtract_saturating,
    unsigned_min,
    where,
    widen,
)
from azul_fast.engine.static import Static

WIDTHS_32 = (1, 4, 8, 16)
WIDTHS_8 = (8, 32, 64)


@numba.njit
def compute_32(a, b, out, masks, size, scalar):
    x, y = load(a, 0, size.width), load(b, 0, size.width)
    results = (
        x + y,
        x - y,
        x * y,
        x & y,
        x | y,
        x ^ y,
        ~x,
        x << (y & 31),
        x >> (y & 31),
        x + 5,
        5 - x,
        x * -3,
        scalar + x,
        x >> 7,
        1 << (x & 31),
        unsigned_min(x, y),
        signed_max(x, y),
        signed_max(x, 0),
        where(x < y, x, y),
        where(x == y, 1, -1),
        all_ones(x < y),
        fill(x, scalar),
        subtract_saturating(x, y),
    )
    at = 0
    for result in results:
        store(out, at, result)
        at += size.width
    less, equal = x < y, x == y
    tests = (less, x > y, x <= y, x >= y, equal, x != y, less & ~equal, less | equal, less ^ equal)
    at = 0
    for test in tests:
        masks[at] = mask_bits(test)
        at += 1


@pytest.mark.parametrize("width", WIDTHS_32)
def test_32_bit_lanes_are_unsigned_c_integers(width):
    rng = np.random.default_rng(width)
    for _ in range(50):
        a = rng.integers(0, 2**32, width, np.uint32)
        b = np.where(rng.random(width) < 0.3, a, rng.integers(0, 2**32, width, np.uint32)).astype(np.uint32)
        scalar = int(rng.integers(-(2**62), 2**62))
        out, masks = np.zeros((23, width), np.uint32), np.zeros(9, np.int64)
        compute_32(a, b, out.reshape(-1), masks, Static(width=width), scalar)
        cut = np.uint32(scalar % 2**32)
        x, y = a.view(np.int32), b.view(np.int32)
        five, three, one, minus = np.uint32(5), np.uint32(2**32 - 3), np.uint32(1), np.uint32(2**32 - 1)
        signed = np.maximum(x, y).view(np.uint32)
        expected = [
            a + b,
            a - b,
            a * b,
            a & b,
            a | b,
            a ^ b,
            ~a,
            a << (b & 31),
            a >> (b & 31),
            a + five,
            five - a,
            a * three,
            a + cut,
            a >> 7,
            one << (a & 31),
            np.minimum(a, b),
            signed,
            np.maximum(x, 0).view(np.uint32),
            np.where(x < y, a, b),
            np.where(a == b, one, minus),
            np.where(x < y, minus, 0).astype(np.uint32),
            np.full(width, cut),
            np.where(a > b, a - b, 0).astype(np.uint32),
        ]
        np.testing.assert_array_equal(out, expected)
        truths = [x < y, x > y, x <= y, x >= y, x == y, x != y, x < y, x <= y, (x < y) ^ (x == y)]
        assert masks.tolist() == [sum(int(t) << i for i, t in enumerate(truth)) for truth in truths]


@numba.njit
def compute_8(words, out, size, at):
    x, y = load_bytes(words, at, size.width), load_bytes(words, at + size.width, size.width)
    results = (
        x + y,
        x - y,
        subtract_saturating(x, y),
        unsigned_min(x, y),
        signed_max(x, y),
        where(x > y, x, y),
        x & 300,
        x >> (y & 7),
    )
    to = 3  # any byte
    for result in results:
        store_bytes(out, to, result)
        to += size.width
    return mask_bits(x == y)


@pytest.mark.parametrize("width", WIDTHS_8)
def test_8_bit_lanes_lie_at_any_byte_of_a_word_array(width):
    rng = np.random.default_rng(width)
    for at in range(9):
        memory = rng.integers(-(2**63), 2**63 - 1, 32)
        memory.view(np.uint8)[at + width] = memory.view(np.uint8)[at]
        out = np.zeros(80, np.int64)
        equal = compute_8(memory, out, Static(width=width), at)
        a, b = memory.view(np.uint8)[at : at + width], memory.view(np.uint8)[at + width : at + 2 * width]
        signed = [np.where(a.view(np.int8) > b.view(np.int8), a, b)] * 2
        expected = [a + b, a - b, np.where(a > b, a - b, 0), np.minimum(a, b), *signed, a & 300 % 256, a >> (b & 7)]
        found = out.view(np.uint8)[3 : 3 + 8 * width].reshape(8, width)
        np.testing.assert_array_equal(found, expected)
        assert not out.view(np.uint8)[:3].any()
        assert not out.view(np.uint8)[3 + 8 * width :].any()
        assert equal % 2**64 == sum(1 << i for i in range(width) if a[i] == b[i])


@numba.njit
def through_a_lane(number):
    return widen(lane(number))


@numba.njit
def swap_words(words, i, j):
    first = load_word(words, i)
    store_word(words, i, load_word(words, j))
    store_word(words, j, first)


def test_numbers_and_words():
    for number in (0, 1, 2**31, 2**32 - 1, 2**32, -1, 2**62 + 12345):
        assert through_a_lane(number) == number % 2**32
    memory = np.arange(48, dtype=np.uint8).view(np.int64)
    swap_words(memory, 3, 20)
    expected = np.arange(48, dtype=np.uint8)
    expected[3:11], expected[20:28] = np.arange(20, 28), np.arange(3, 11)
    assert memory.view(np.uint8).tolist() == expected.tolist()


def test_lanes_of_two_shapes_do_not_mix():
    @numba.njit
    def mixed(a):
        return mask_bits(load(a, 0, 4) == load(a, 0, 8))

    with pytest.raises(TypingError):
        mixed(np.zeros(8, np.uint32))


def test_statics_are_constants_and_never_change():
    @numba.njit
    def read(size):
        return size.one + 10 * size.two

    assert read(Static(one=1, two=2)) == 21
    assert read(Static(one=2, two=1)) == 12
    assert len(read.signatures) == 2
    with pytest.raises(AttributeError):
        Static(one=1).one = 2


CHECKED = """
    import numba, numpy as np
    from azul_fast.engine.lanes import load, load_bytes, load_word, store, store_bytes, store_word

    @numba.njit
    def run(words, lanes, what, at):
        if what == 0:
            store(lanes, at, load(lanes, 0, 8))
        elif what == 1:
            store_bytes(words, at, load_bytes(words, 0, 32))
        elif what == 2:
            store_word(words, at, 1)
        elif what == 3:
            store(lanes, 0, load(lanes, at, 8))
        elif what == 4:
            store_bytes(words, 0, load_bytes(words, at, 32))
        else:
            return load_word(words, at)
        return 0

    words, lanes = np.zeros(8, np.int64), np.zeros(20, np.uint32)
    for what, last in enumerate((12, 32, 56, 12, 32, 56)):
        for at in (0, last):
            run(words, lanes, what, at)
        for at in (-1, last + 1, 2**40):
            try:
                run(words, lanes, what, at)
            except IndexError:
                continue
            raise SystemExit(f"operation {what} at {at} was not stopped")
"""


def test_memory_is_checked_when_numba_is_asked_to():
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHECKED)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
