"""`plan`: the move that makes most of the player's own board, by a weighted sum of what is there and what may come.

A board is valued as if its full lines were tiled now::

    max(0, score + points of tiling - floor * PENALTY) + marker * (holds the marker)
      + bonuses of complete rows, columns and colors
      + row    * 2  * sum over rows    (k / 5)^2
      + column * 7  * sum over columns (k / 5)^2      k of five tiles are there
      + color  * 10 * sum over colors  (k / 5)^2
      + line * sum over begun lines (n / size) * points its tile would score
      + fill * sum over begun lines (n / size)

and what may come (the last five terms) counts only while no row of this wall is complete: the game would be over. On
the gray wall a line's tile goes to the column that scores most now.
"""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline, inner
from azul_fast.engine.bits import popcount
from azul_fast.engine.layout import (
    COLUMN_COLORS,
    FLOOR_USED,
    FREE_WALL,
    LINE_COLOR,
    MARKER_FLAG,
    ROOM,
    ROW_COLORS,
    SCORE,
    TURN,
    WALL,
)
from azul_fast.engine.moves import seat_words
from azul_fast.engine.scoring import (
    COLUMN_0,
    PENALTIES,
    ROW_0,
    gather_column,
    tile_points,
    wall_row,
)
from azul_fast.engine.words import words
from azul_fast.policies.defaults import PLAN
from azul_fast.policies.view import ACTION, COLOR, COLUMN, LINE, MARKER_TAKEN, MISSED, SOURCE, TILES
from azul_fast.rules import (
    COLOR_BONUS,
    COLOR_COUNT,
    COLUMN_BONUS,
    FACTORY_TILES,
    FLOOR,
    FLOOR_CELLS,
    LINE_COUNT,
    ROW_BONUS,
    WALL_SIZE,
)

ROW, COLUMN_WEIGHT, COLOR_WEIGHT, LINE_WEIGHT, FILL, FLOOR_WEIGHT, MARKER_WEIGHT, LEFT = range(len(PLAN))
_TIE = 1e-9  # points
_SQUARES = np.array([(k / WALL_SIZE) ** 2 for k in range(WALL_SIZE + 1)])


@inline
def _best_column(wall, column_colors, free_wall, line, color):
    """The column for a tile of `color` in row `line`: the one printed there or, on the gray wall, the one that scores
    most now; -1 if there is none."""
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


@inline
def _progress(count, bonus, weight, over):
    """What `count` of five tiles are worth towards `bonus` points."""
    if count == WALL_SIZE:
        return np.float64(bonus)
    return 0.0 if over else weight * bonus * _SQUARES[count]


@inner
def board_value(score, wall, row_colors, column_colors, rooms, line_colors, floor, free_wall, weights):
    """Value of a board in points, as the module says.

    Parameters
    ----------
    score, wall, row_colors, column_colors, rooms, line_colors, floor : int64
        SCORE, WALL, ROW_COLORS, COLUMN_COLORS, ROOM, LINE_COLOR and FLOOR_USED of the seat.
    free_wall : int64
        1 on the gray wall.
    weights : float64 [len(PLAN)]

    Returns
    -------
    float64
    """
    used = floor & 7
    points = np.int64(0)
    for line in range(LINE_COUNT):
        if (rooms >> 8 * line) & 7 == 0:
            color = (line_colors >> 8 * line) & 7
            column = _best_column(wall, column_colors, free_wall, line, color)
            if column < 0:
                used = min(used + line + 1, FLOOR_CELLS)
                continue
            points += tile_points(wall, line, column)
            wall |= 1 << (WALL_SIZE * line + column)
            row_colors |= 1 << (WALL_SIZE * line + color)
            column_colors |= 1 << (WALL_SIZE * column + color)
    value = max(0.0, score + points - weights[FLOOR_WEIGHT] * PENALTIES[used & 7])
    if floor & MARKER_FLAG:
        value += weights[MARKER_WEIGHT]
    over = False
    for i in range(WALL_SIZE):
        over |= wall_row(wall, i) == ROW_0
    for i in range(WALL_SIZE):
        value += _progress(popcount(wall_row(wall, i)), ROW_BONUS, weights[ROW], over)
        value += _progress(popcount((wall >> i) & COLUMN_0), COLUMN_BONUS, weights[COLUMN_WEIGHT], over)
        value += _progress(popcount((row_colors >> i) & COLUMN_0), COLOR_BONUS, weights[COLOR_WEIGHT], over)
    if not over:
        for line in range(LINE_COUNT):
            room = (rooms >> 8 * line) & 7
            if 0 < room <= line:
                color = (line_colors >> 8 * line) & 7
                column = _best_column(wall, column_colors, free_wall, line, color)
                if column >= 0:
                    share = (line + 1 - room) / (line + 1)
                    value += share * (weights[LINE_WEIGHT] * tile_points(wall, line, column) + weights[FILL])
    return value


@inner
def seat_value(player, free_wall, weights):
    """`board_value` of the seat whose fields are `player`."""
    return board_value(
        player[SCORE],
        player[WALL],
        player[ROW_COLORS],
        player[COLUMN_COLORS],
        player[ROOM],
        player[LINE_COLOR],
        player[FLOOR_USED],
        free_wall,
        weights,
    )


@inner
def move_value(state, move, center, weights):
    """Value of a legal move (a row of `View.moves`) of the seat to act; `center` tiles lie in the center now."""
    player = seat_words(state, state[TURN])
    score, wall, floor = player[SCORE], player[WALL], player[FLOOR_USED]
    row_colors, column_colors = player[ROW_COLORS], player[COLUMN_COLORS]
    rooms, line_colors = player[ROOM], player[LINE_COLOR]
    line, color, column = move[LINE], move[COLOR], move[COLUMN]
    left = np.int64(0)
    if column >= 0:  # a gray-wall choice: the line is emptied
        rooms += (line + 1) << 8 * line
        line_colors &= ~(0xFF << 8 * line)
        if column < WALL_SIZE:
            score += tile_points(wall, line, column)
            wall |= 1 << (WALL_SIZE * line + column)
            row_colors |= 1 << (WALL_SIZE * line + color)
            column_colors |= 1 << (WALL_SIZE * column + color)
    elif line != FLOOR:
        rooms -= (move[TILES] - move[MISSED]) << 8 * line
        line_colors |= color << 8 * line
    if move[MARKER_TAKEN]:
        floor = min((floor & 7) + 1, FLOOR_CELLS) | MARKER_FLAG
    floor = (floor & MARKER_FLAG) | min((floor & 7) + move[MISSED], FLOOR_CELLS)
    if column < 0:
        left = center - move[TILES] if move[SOURCE] == 0 else center + FACTORY_TILES - move[TILES]
    value = board_value(score, wall, row_colors, column_colors, rooms, line_colors, floor, state[FREE_WALL], weights)
    return value + weights[LEFT] * left


@inner
def plan(view):
    """The move of highest value; ties by chance."""
    state = words(view.state)
    center = np.int64(0)
    for color in range(COLOR_COUNT):
        center += view.offer[0, color]
    best = -1.0e9
    action = np.int64(-1)
    ties = np.int64(0)
    for i in range(len(view.moves)):
        value = move_value(state, view.moves[i], center, view.parameters)
        if value > best + _TIE:
            best, action, ties = value, view.moves[i, ACTION], np.int64(1)
        elif value > best - _TIE:
            ties += 1
            if (view.word >> 7) % ties == 0:
                action = view.moves[i, ACTION]
    return action
