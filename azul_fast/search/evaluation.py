"""What the boards are worth when the round ends, as a search sees it.

A board's worth is its score after tiling and floor, the bonuses of complete columns and colors, and what its tiles may
still bring, a sum of weighted terms (`board_worth`). Weights differ by round: a column with two tiles is worth more
after the first round than after the fourth. They were fitted to the final margins of games that searches played
against each other; see `azul_fast.search.weights`.

A search compares tables, not boards: `table_value` is the margin, bent so that it stands for the share of the win.
"""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline, inner
from azul_fast.engine.bits import popcount
from azul_fast.engine.layout import (
    COLUMN_COLORS,
    FLOOR_USED,
    LINE_COLOR,
    MARKER_FLAG,
    ROOM,
    ROW_COLORS,
    SCORE,
    WALL,
)
from azul_fast.engine.scoring import (
    COLUMN_0,
    PENALTIES,
    bonus_points,
    complete_columns,
    complete_rows,
    gather_column,
    tile_points,
    wall_row,
)
from azul_fast.rules import FLOOR_CELLS, LINE_COUNT, WALL_SIZE

# The terms of a board that is played on, in the order of a round's weights.
STARTS = 0  # it holds the marker
ROWS = 1  # [k] rows with k = 1 .. 4 tiles
COLUMNS = ROWS + 4  # [k] columns with k tiles
COLORS = COLUMNS + 4  # [k] colors with k tiles
LINES = COLORS + 4  # [line, n] lines 1 .. 4 (from 0) holding n tiles and not full
LINE_POINTS = LINES + 10  # points that tiles of begun lines would score, times the share filled
LINE_COLUMN = LINE_POINTS + 1  # squared tiles in the columns of begun lines, times the share filled
LINE_COLOR_TERM = LINE_COLUMN + 1  # squared tiles of the colors of begun lines, times the share filled
NEIGHBORS = LINE_COLOR_TERM + 1  # points that a tile would score now, over all empty cells
SPREAD = NEIGHBORS + 1  # no term: the uncertainty of the margin that is still to come
TERMS = SPREAD + 1
ROUND_CLASSES = 5  # rounds 1, 2, 3, 4, and all later ones

WORTH_UNIT = 1024  # a worth is in 1/1024 points
BOARD_ROOM_BITS, BOARD_FLOOR_BITS = 3, 40  # places of LINE_COLOR (within each byte) and FLOOR_USED in a board's key
WIN_VALUE = 1_000_000  # a won game
POINT_VALUE = 100  # a point of margin beside the win


@inline
def board_key(player):
    """All of a seat's board that changes within a round, in 48 bits: room and color of each line, and the floor."""
    return player[ROOM] | player[LINE_COLOR] << BOARD_ROOM_BITS | player[FLOOR_USED] << BOARD_FLOOR_BITS


@inline
def pack(worth, points, rows):
    """A board in one word: worth if the game goes on, points with bonuses if it ends, complete rows."""
    return worth << 32 | points << 8 | rows


@inline
def worth_of(packed):
    """In 1/1024 points."""
    return packed >> 32


@inline
def points_of(packed):
    """With the bonuses."""
    return (packed >> 8) & 0xFFFFFF


@inline
def rows_of(packed):
    """Complete rows."""
    return packed & 0xFF


@inline
def _column_for(wall, column_colors, free_wall, line, color):
    """The printed column or, on the gray wall, the open one that scores most now; -1 if there is none."""
    if not free_wall:
        return (color + line) % WALL_SIZE
    closed = wall_row(wall, line) | gather_column((column_colors >> color) & COLUMN_0)
    best = np.int64(-1)
    most = np.int64(0)
    for column in range(WALL_SIZE):
        if not closed >> column & 1:
            points = tile_points(wall, line, column)
            if points > most:
                best, most = np.int64(column), points
    return best


@inner
def board_worth(player, key, free_wall, weights):
    """A board as it would be if the round ended now.

    Parameters
    ----------
    player : words
        The seat's fields; of the fields in `board_key` those of `key` count.
    key : int64
    free_wall : int64
        1 on the gray wall: tiles go where they score most, row by row.
    weights : words of float64 [TERMS]
        Of this round.

    Returns
    -------
    int64
        See `pack`.
    """
    wall, row_colors, column_colors = player[WALL], player[ROW_COLORS], player[COLUMN_COLORS]
    floor = key >> BOARD_FLOOR_BITS
    used = floor & 7
    score = player[SCORE]
    for line in range(LINE_COUNT):
        if (key >> 8 * line) & 7 == 0:
            color = (key >> (8 * line + BOARD_ROOM_BITS)) & 7
            column = _column_for(wall, column_colors, free_wall, line, color)
            if column < 0:
                used = min(used + line + 1, FLOOR_CELLS)
                continue
            score += tile_points(wall, line, column)
            wall |= 1 << (WALL_SIZE * line + column)
            row_colors |= 1 << (WALL_SIZE * line + color)
            column_colors |= 1 << (WALL_SIZE * column + color)
    score = max(score - PENALTIES[used & 7], 0)
    rows = complete_rows(wall)
    points = score + bonus_points(rows, complete_columns(wall), complete_columns(row_colors))
    if rows:
        return pack(points * WORTH_UNIT, points, rows)
    worth = np.float64(points)
    if floor & MARKER_FLAG:
        worth += weights[STARTS]
    for i in range(WALL_SIZE):
        in_row = popcount(wall_row(wall, i))
        in_column = popcount((wall >> i) & COLUMN_0)
        of_color = popcount((row_colors >> i) & COLUMN_0)
        if in_row:
            worth += weights[ROWS + in_row - 1]
        if 0 < in_column < WALL_SIZE:
            worth += weights[COLUMNS + in_column - 1]
        if 0 < of_color < WALL_SIZE:
            worth += weights[COLORS + of_color - 1]
    for line in range(LINE_COUNT):
        room = (key >> 8 * line) & 7
        if 0 < room <= line:
            color = (key >> (8 * line + BOARD_ROOM_BITS)) & 7
            column = _column_for(wall, column_colors, free_wall, line, color)
            if column < 0:
                continue
            filled = line + 1 - room
            share = filled / (line + 1)
            worth += weights[LINES + line * (line - 1) // 2 + filled - 1]
            worth += share * weights[LINE_POINTS] * tile_points(wall, line, column)
            in_column = popcount((wall >> column) & COLUMN_0)
            of_color = popcount((row_colors >> color) & COLUMN_0)
            worth += share * (weights[LINE_COLUMN] * in_column**2 + weights[LINE_COLOR_TERM] * of_color**2)
    near = np.int64(0)
    for line in range(LINE_COUNT):
        for column in range(WALL_SIZE):
            if not wall >> (WALL_SIZE * line + column) & 1:
                near += tile_points(wall, line, column)
    worth += weights[NEIGHBORS] * near
    return pack(np.int64(np.floor(worth * WORTH_UNIT)), points, rows)


@inline
def bend(margin, spread):
    """An expected margin as a value: near +-WIN_VALUE where it is large against `spread`, the uncertainty of it.

    x / sqrt(1 + x^2) is close to the share of wins under a normal error, and correctly rounded on every machine.
    """
    x = margin / spread
    return np.int64(np.floor(WIN_VALUE * x / np.sqrt(1.0 + x * x) + POINT_VALUE * margin))


@inline
def final_value(own, other):
    """Value of a game that is over for `own` against the best `other` (points * 8 + rows)."""
    margin = (own >> 3) - (other >> 3)
    if own > other:
        return WIN_VALUE + POINT_VALUE * margin
    if own < other:
        return POINT_VALUE * margin - WIN_VALUE
    return np.int64(0)
