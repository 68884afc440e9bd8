"""`greedy`: the legal move with the most points now, ties uniformly.

A move of n tiles to a line with `room` free cells has the value

    gain - (PENALTY[min(7, f + m + over)] - PENALTY[f])

where f is the number of floor cells used, m is 1 if the move takes the marker, over = max(0, n - room), and gain is
what the line's tile would score on the wall *as it is now* if the move fills the line, else 0. The floor takes all n
tiles as `over`. On the gray wall gain is that of the best column legal now, 0 where there is none. The clamp of the
score at 0 and the end bonuses are ignored.
"""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline, inner
from azul_fast.engine.bits import nth_set_bit, popcount
from azul_fast.engine.lanes import fill, lane_numbers, subtract_saturating, unsigned_min, where
from azul_fast.engine.layout import COLUMN_COLORS, FLOOR_USED, FREE_WALL, MARKER, WALL
from azul_fast.engine.moves import COLOR_BYTES
from azul_fast.engine.scoring import COLUMN_0, RUN_POINTS, gather_column, tile_points, wall_column_bits, wall_row
from azul_fast.policies.worths import line_room, line_worths, open_colors, pick_highest
from azul_fast.rules import COLOR_COUNT, FLOOR_CELLS, LINE_COUNT, WALL_SIZE

_BASE = 16  # added to every value so that it stays above 0: no move loses more than 14 points
_BASES = _BASE * 0x01_01_01_01_01
_BYTE_1 = 0x01_01_01_01_01
_BYTE_7F = 0x7F * _BYTE_1
# [pattern] -> byte i: points of the run that cell i makes when it is added to the five cells `pattern`
_RUN_WORDS = np.array(
    [sum(int(RUN_POINTS[pattern * 8 + i]) << 8 * i for i in range(5)) for pattern in range(32)], np.int64
)


@inline
def _row_points(player, line):
    """Byte j: points of a tile put in column j of wall row `line`, on the wall as it is now."""
    wall = player[WALL]
    runs = _RUN_WORDS[wall_row(wall, line)]
    for column in range(WALL_SIZE):
        runs += ((_RUN_WORDS[wall_column_bits(wall, column)] >> 8 * line) & 0xFF) << 8 * column
    return runs + ((((runs + _BYTE_7F) >> 7) & _BYTE_1) ^ _BYTE_1)  # a tile with no neighbour scores 1


@inline
def _gains_colored(player, line):
    """Byte c: points of color c on the coloured wall's row `line`: column (c + line) mod 5."""
    points = _row_points(player, line)
    return (points >> 8 * line | points << 8 * (WALL_SIZE - line)) & COLOR_BYTES


@inner
def _gains_free(player, line):
    """Byte c: the most points that color c can score in row `line` of the gray wall; 0 where it has no column."""
    points = _row_points(player, line)
    gains = np.int64(0)
    for color in range(COLOR_COUNT):
        held = gather_column((player[COLUMN_COLORS] >> color) & COLUMN_0)
        closed = wall_row(player[WALL], line) | held
        best = np.int64(0)
        for column in range(WALL_SIZE):
            if not closed >> column & 1:
                best = max(best, (points >> 8 * column) & 0xFF)
        gains |= best << 8 * color
    return gains


@inline
def greedy_gain(state, player, line, color):
    """What filling `line` with `color` would score on the wall as it is now."""
    gains = _gains_free(player, line) if state[FREE_WALL] else _gains_colored(player, line)
    return (gains >> 8 * color) & 0xFF


@inline
def greedy_worths(state, player, worths):
    """Set the worths of a seat's lines at the start of a round: 16 + the points each color would score."""
    for line in range(LINE_COUNT):
        gains = _gains_free(player, line) if state[FREE_WALL] else _gains_colored(player, line)
        worths[line] = open_colors(player, line) & (gains + _BASES)


@inline
def _lost(cells):
    """Penalty of the first `cells` (0..7) floor cells: 1 each, 1 more from the third on and from the sixth on."""
    return cells + subtract_saturating(cells, 2) + subtract_saturating(cells, 5)


@inline
def _value(counts, floor, player, worths, line):
    room = line_room(player, line, counts)
    worth = line_worths(worths, line, counts)
    worth = where(counts >= room, worth, unsigned_min(worth, _BASE))  # no gain for a line that is not filled
    used = unsigned_min(subtract_saturating(counts, room) + floor, FLOOR_CELLS)
    return subtract_saturating(worth, _lost(used))


@inline
def greedy_move(state, player, worths, word, n):
    """A move of `greedy`, by lanes: `width` of them, as many as sources times colors.

    PENALTY[f] is the same for all moves and left out.
    """
    used = player[FLOOR_USED] & 7
    with_marker = used + (state[MARKER] & 1)
    floor = where(lane_numbers(n) < COLOR_COUNT, fill(n, with_marker), fill(n, used))  # the center's lanes come first
    return pick_highest(
        n,
        _value(n, floor, player, worths, 0),
        _value(n, floor, player, worths, 1),
        _value(n, floor, player, worths, 2),
        _value(n, floor, player, worths, 3),
        _value(n, floor, player, worths, 4),
        _BASE - _lost(unsigned_min(n + floor, FLOOR_CELLS)),
        word,
    )


@inline
def highest_column(player, line, columns, word):
    """One of `columns` (five bits, not 0) in which a full line's tile scores most now, ties uniformly."""
    best = np.int64(0)
    ties = np.int64(0)
    for column in range(WALL_SIZE):
        if columns >> column & 1:
            points = tile_points(player[WALL], line, column)
            if points > best:
                best = points
                ties = np.int64(0)
            if points == best:
                ties |= 1 << column
    return nth_set_bit(ties, word * popcount(ties) >> 24)
