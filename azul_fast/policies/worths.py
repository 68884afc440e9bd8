"""What a line is worth to a policy that compares moves: one byte for each of a seat's lines and colors.

A word of `worths` belongs to one pattern line: its byte c is 0 where color c may not go there now, else a policy's own
number above 0. Beside each state lie `WORTH_WORDS` of them; they are set anew at the start of a round and, until it
ends, only lose colors: `lose_colors` after each move. From them all moves of a turn are valued at once, each
(source, color) in a byte lane of its own.
"""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline
from azul_fast.engine.lanes import fill, keep_of_each, largest, load_bytes, mask_bits, repeat_bytes, unsigned_max, where
from azul_fast.engine.layout import LINE_COLOR, OFFER, ROOM, ROW_COLORS
from azul_fast.engine.moves import pick_of_six
from azul_fast.engine.scoring import wall_row
from azul_fast.rules import COLOR_COUNT, MAX_PLAYERS, SOURCE_COUNT

SEAT_WORTHS = 8  # words a seat: five lines, and places that are never read, so that seats are found by a shift
WORTH_WORDS = MAX_PLAYERS * SEAT_WORTHS
_FIFTH = 52  # n * 52 >> 8 == n // 5 for every lane number below 64

# [colors in the row] -> 0xFF in the byte of each color that is not there
OPEN_BYTES = np.array(
    [sum(0xFF << 8 * c for c in range(COLOR_COUNT) if not colors >> c & 1) for colors in range(32)], np.int64
)


@inline
def open_colors(player, line):
    """0xFF in the byte of each color that may go to `line` now."""
    room = (player[ROOM] >> 8 * line) & 7
    row = OPEN_BYTES[wall_row(player[ROW_COLORS], line)]
    begun = (0xFF << 8 * ((player[LINE_COLOR] >> 8 * line) & 7)) if room != 0 else 0
    return row if room == line + 1 else begun


@inline
def lose_colors(worths, player, line, color):
    """After a move: its line takes no other color any more, and none at all when it is full."""
    room = (player[ROOM] >> 8 * line) & 7
    worths[line] &= (0xFF << 8 * color) if room != 0 else 0


@inline
def byte_counts_2p(state):
    """Tiles of each (source, color) in 32 byte lanes: lane 5 * source + color."""
    return keep_of_each(load_bytes(state, 8 * OFFER, 64), 8, COLOR_COUNT, 6, 32)


@inline
def byte_counts_4p(state):
    """As `byte_counts_2p`, in 64 lanes, for up to 4 players."""
    return keep_of_each(load_bytes(state, 8 * OFFER, 128), 8, COLOR_COUNT, SOURCE_COUNT, 64)


@inline
def line_worths(worths, line, like):
    """The worth of `line` for the color of each lane."""
    return repeat_bytes(worths[line], COLOR_COUNT, like)


@inline
def line_room(player, line, like):
    """The free cells of `line`, in every lane."""
    return fill(like, (player[ROOM] >> 8 * line) & 7)


@inline
def pick_highest(counts, v0, v1, v2, v3, v4, v5, word):
    """One of the moves with the highest value, each with the same chance.

    Parameters
    ----------
    counts : byte lanes
        As from `byte_counts_2p`.
    v0, v1, v2, v3, v4, v5 : byte lanes
        Value of taking each lane's tiles to line 0 .. 4 and to the floor: 1 to 255, or 0 where that is not allowed.
        Lanes without tiles are left out here.
    word : int64
        24 random bits.

    Returns
    -------
    line, color, source : int64
    """
    high = unsigned_max(unsigned_max(unsigned_max(v0, v1), unsigned_max(v2, v3)), unsigned_max(v4, v5))
    there = counts != 0
    best = fill(counts, largest(where(there, high, 0)))
    line, bit = pick_of_six(
        mask_bits((v0 == best) & there),
        mask_bits((v1 == best) & there),
        mask_bits((v2 == best) & there),
        mask_bits((v3 == best) & there),
        mask_bits((v4 == best) & there),
        mask_bits((v5 == best) & there),
        word,
    )
    source = bit * _FIFTH >> 8
    return line, bit - source * COLOR_COUNT, source
