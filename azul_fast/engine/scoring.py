"""Points: of one tile on the wall, of the floor line, and at the end of the game."""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline
from azul_fast.engine.bits import popcount
from azul_fast.rules import (
    COLOR_BONUS,
    COLUMN_BONUS,
    FLOOR_CELLS,
    FLOOR_PENALTY_SUMS,
    ROW_BONUS,
    WALL_SIZE,
)

COLUMN_0 = sum(1 << WALL_SIZE * row for row in range(WALL_SIZE))  # column 0 of the wall's 25 bits
ROW_0 = (1 << WALL_SIZE) - 1
_GATHER = sum(1 << (4 * WALL_SIZE - (WALL_SIZE - 1) * row) for row in range(WALL_SIZE))
_GATHER_SHIFT = 4 * WALL_SIZE


def _run_points(pattern: int, cell: int) -> int:
    """Points of the run through `cell` of a row or column with the filled cells `pattern`: its length if above 1."""
    pattern |= 1 << cell
    low = high = cell
    while low > 0 and pattern >> (low - 1) & 1:
        low -= 1
    while high < WALL_SIZE - 1 and pattern >> (high + 1) & 1:
        high += 1
    length = high - low + 1
    return length if length > 1 else 0


# [pattern * 8 + cell] -> points of the run that `cell` makes when it is added to `pattern`
RUN_POINTS = np.array(
    [_run_points(pattern, cell) if cell < 5 else 0 for pattern in range(32) for cell in range(8)], np.uint8
)
# [cells used & 7] -> points lost
PENALTIES = np.array(FLOOR_PENALTY_SUMS, np.int64)
assert len(PENALTIES) == FLOOR_CELLS + 1 == 8


@inline
def wall_row(wall, row):
    """The five bits of `row` (0..4)."""
    return (wall >> WALL_SIZE * row) & ROW_0


@inline
def gather_column(bits):
    """Bits 0, 5, 10, 15, 20 of `bits` (no others are set) as bits 0 to 4: one multiplication brings them together."""
    return (bits * _GATHER >> _GATHER_SHIFT) & ROW_0


@inline
def wall_column_bits(wall, column):
    """The five bits of `column` (0..4), row 0 lowest."""
    return gather_column((wall >> column) & COLUMN_0)


@inline
def tile_points(wall, row, column):
    """Points of a tile put on (`row`, `column`), which may or may not be marked in `wall` already."""
    horizontal = RUN_POINTS[(wall_row(wall, row) * 8 + column) & 255]
    vertical = RUN_POINTS[(wall_column_bits(wall, column) * 8 + row) & 255]
    points = np.int64(horizontal) + np.int64(vertical)
    return points + np.int64(points == 0)


@inline
def complete_rows(wall):
    """Number of complete rows."""
    return popcount(wall & wall >> 1 & wall >> 2 & wall >> 3 & wall >> 4 & COLUMN_0)


@inline
def complete_columns(wall):
    """Number of complete columns; of ROW_COLORS: number of complete colors."""
    return popcount(wall & wall >> 5 & wall >> 10 & wall >> 15 & wall >> 20 & ROW_0)


@inline
def bonus_points(rows, columns, colors):
    """Points at the end of the game."""
    return ROW_BONUS * rows + COLUMN_BONUS * columns + COLOR_BONUS * colors
