"""`plan`: a weighted sum of what a move brings now, what it prepares, and what it leaves to the next player.

A move is worth, in points::

    change of its line's value + tile * tiles that find room on the line
      - floor  * penalty of the floor cells used more
      + marker * takes the marker
      - reply  * the same sum, without this term, for the best move that the next player then has,
                 divided by the number of other players

A line's value is that of its tile on the wall when the line is full, 0 when it is empty, and between::

    carry * share filled * tile's value - stuck

A tile's value is the points it scores when the lines that are full now have been tiled, the bonuses it completes, and,
while no row of any wall will be complete when this round ends::

    + row    * 2  * increase of (tiles in its row    / 5)^2
    + column * 7  * increase of (tiles in its column / 5)^2
    + color  * 10 * increase of (tiles of its color  / 5)^2
    + neighbor * empty cells beside it

On the gray wall a line's tile has the value of its best column. When the game ends with this round, a line that is not
full holds nothing, and the marker is worth nothing. The clamp of the score at 0 is ignored.
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
    MARKER,
    OFFER,
    PLAYERS,
    ROOM,
    ROW_COLORS,
    TURN,
    WALL,
)
from azul_fast.engine.moves import next_seat, seat_words
from azul_fast.engine.scoring import (
    COLUMN_0,
    PENALTIES,
    complete_rows,
    gather_column,
    tile_points,
    wall_row,
)
from azul_fast.engine.words import words
from azul_fast.policies.defaults import PLAN
from azul_fast.policies.view import ACTION, COLOR, COLUMN, LINE, MARKER_TAKEN, PENALTY, SOURCE, TILES
from azul_fast.rules import (
    CENTER,
    COLOR_BONUS,
    COLOR_COUNT,
    COLUMN_BONUS,
    FLOOR,
    FLOOR_CELLS,
    LINE_COUNT,
    ROW_BONUS,
    SOURCE_COUNT,
    WALL_SIZE,
)

(
    W_ROW,
    W_COLUMN,
    W_COLOR,
    W_NEIGHBOR,
    W_CARRY,
    W_STUCK,
    W_TILE,
    W_FLOOR,
    W_MARKER,
    W_REPLY,
) = range(len(PLAN))
_TIE = 1e-9  # points
_SQUARES = np.array([(k / WALL_SIZE) ** 2 for k in range(WALL_SIZE + 1)])
_NEXT_TO = np.array(  # [cell] -> the cells beside it
    [
        sum(
            1 << WALL_SIZE * r + c
            for r in range(WALL_SIZE)
            for c in range(WALL_SIZE)
            if abs(r - cell // WALL_SIZE) + abs(c - cell % WALL_SIZE) == 1
        )
        for cell in range(WALL_SIZE * WALL_SIZE)
    ],
    np.int64,
)

# What is worked out once for a move, in `View.memory`: numbers of the seat to act (0) and the next (1).
_MOST_TILES = 8  # of one color in one source that are told apart
_WORTHS = 0  # [2 seats, line, color] value of the line's tile
_OFFERED = _WORTHS + 2 * LINE_COUNT * COLOR_COUNT  # [color] tiles on offer
_REPLIES = _OFFERED + COLOR_COUNT  # [color, n] the next seat's best with n tiles of one source
MEMORY = _REPLIES + COLOR_COUNT * (_MOST_TILES + 1)


@inline
def _step(count, bonus, weight):
    """What a tile beside `count` others on the way to five is worth towards `bonus` points."""
    if count == WALL_SIZE - 1:
        return bonus * (1.0 - weight * _SQUARES[count])
    return bonus * weight * (_SQUARES[count + 1] - _SQUARES[count])


@inner
def tile_value(wall, row_colors, column_colors, line, column, color, goes_on, weights):
    """Value of a tile put in (`line`, `column`) of a wall (WALL, ROW_COLORS, COLUMN_COLORS), as the module says."""
    value = np.float64(tile_points(wall, line, column))
    ahead = 1.0 if goes_on else 0.0
    value += _step(popcount(wall_row(wall, line)), ROW_BONUS, weights[W_ROW] * ahead)
    value += _step(popcount((wall >> column) & COLUMN_0), COLUMN_BONUS, weights[W_COLUMN] * ahead)
    value += _step(popcount((row_colors >> color) & COLUMN_0), COLOR_BONUS, weights[W_COLOR] * ahead)
    if goes_on:
        value += weights[W_NEIGHBOR] * popcount(_NEXT_TO[WALL_SIZE * line + column] & ~wall)
    return value


@inner
def best_tile(wall, row_colors, column_colors, free_wall, line, color, goes_on, weights):
    """Column and value of a tile of `color` in row `line`; column -1 and value 0 if it has no place there."""
    if not free_wall:
        column = (color + line) % WALL_SIZE
        return column, tile_value(wall, row_colors, column_colors, line, column, color, goes_on, weights)
    closed = wall_row(wall, line) | gather_column((column_colors >> color) & COLUMN_0)
    best = np.int64(-1)
    most = 0.0
    for column in range(WALL_SIZE):
        if not closed >> column & 1:
            value = tile_value(wall, row_colors, column_colors, line, column, color, goes_on, weights)
            if best < 0 or value > most:
                best, most = np.int64(column), value
    return best, most


@inner
def tiled(player, free_wall, weights):
    """A seat's WALL, ROW_COLORS and COLUMN_COLORS as they are when the lines that are full now have been tiled."""
    wall, row_colors, column_colors = player[WALL], player[ROW_COLORS], player[COLUMN_COLORS]
    for line in range(LINE_COUNT):
        if (player[ROOM] >> 8 * line) & 7 == 0:
            color = (player[LINE_COLOR] >> 8 * line) & 7
            column, _ = best_tile(wall, row_colors, column_colors, free_wall, line, color, True, weights)
            if column >= 0:
                wall |= 1 << (WALL_SIZE * line + column)
                row_colors |= 1 << (WALL_SIZE * line + color)
                column_colors |= 1 << (WALL_SIZE * column + color)
    return wall, row_colors, column_colors


@inline
def line_value(line, filled, worth, goes_on, weights):
    """Value of a line with `filled` tiles whose tile is worth `worth`."""
    if filled == line + 1:
        return worth
    if filled == 0 or not goes_on:
        return 0.0
    return weights[W_CARRY] * filled / (line + 1) * worth - weights[W_STUCK]


@inline
def line_gain(player, numbers, which, line, color, tiles, goes_on, weights):
    """What `tiles` tiles of `color` bring on `line`, without the floor; `numbers` has the tables."""
    room = (player[ROOM] >> 8 * line) & 7
    before = line + 1 - room
    placed = min(tiles, room)
    worth = numbers[_WORTHS + (which * LINE_COUNT + line) * COLOR_COUNT + color]
    gain = line_value(line, before + placed, worth, goes_on, weights)
    return gain - line_value(line, before, worth, goes_on, weights) + weights[W_TILE] * placed


@inline
def _may_go(player, line, color):
    """Whether tiles of `color` may go to `line`."""
    room = (player[ROOM] >> 8 * line) & 7
    if room <= line:
        return room > 0 and (player[LINE_COLOR] >> 8 * line) & 7 == color
    return not player[ROW_COLORS] >> (WALL_SIZE * line + color) & 1


@inline
def _penalty(used, more):
    """Points that `more` floor cells cost when so many are used."""
    return PENALTIES[min(used + more, FLOOR_CELLS)] - PENALTIES[used]


@inner
def _tabulate(state, numbers, goes_on, weights):
    """Fill the tables for the seat to act and the next one."""
    for color in range(COLOR_COUNT):
        offered = np.int64(0)
        for source in range(SOURCE_COUNT):
            offered += (state[OFFER + source] >> 8 * color) & 31
        numbers[_OFFERED + color] = offered
    following = next_seat(state, state[TURN])
    for which in range(2):
        player = seat_words(state, following if which else state[TURN])
        wall, row_colors, column_colors = tiled(player, state[FREE_WALL], weights)
        for line in range(LINE_COUNT):
            for color in range(COLOR_COUNT):
                if numbers[_OFFERED + color] and _may_go(player, line, color):
                    _, worth = best_tile(
                        wall, row_colors, column_colors, state[FREE_WALL], line, color, goes_on, weights
                    )
                    numbers[_WORTHS + (which * LINE_COUNT + line) * COLOR_COUNT + color] = worth
    player = seat_words(state, following)
    used = player[FLOOR_USED] & 7
    for color in range(COLOR_COUNT):
        for n in range(1, min(np.int64(numbers[_OFFERED + color]), _MOST_TILES) + 1):
            best = -weights[W_FLOOR] * _penalty(used, n)
            for line in range(LINE_COUNT):
                if _may_go(player, line, color):
                    missed = max(n - ((player[ROOM] >> 8 * line) & 7), 0)
                    gain = line_gain(player, numbers, 1, line, color, n, goes_on, weights)
                    best = max(best, gain - weights[W_FLOOR] * _penalty(used, missed))
            numbers[_REPLIES + color * (_MOST_TILES + 1) + n] = best


@inner
def _best_reply(state, numbers, source, color, goes_on, weights):
    """The most that the next player's move is worth when the tiles of `color` are gone from `source`; 0 if none is.

    It is valued on the offer as it is now, but for the tiles that lie in the center then.
    """
    rest = state[OFFER + source] & ~(0xFF << 8 * color)
    best = 0.0
    found = False
    for other in range(SOURCE_COUNT):
        tiles = state[OFFER + other]
        extra = 0.0
        if other == CENTER:
            tiles = rest if source == CENTER else tiles + rest
            if state[MARKER] and source != CENTER:  # it is still there
                used = seat_words(state, next_seat(state, state[TURN]))[FLOOR_USED] & 7
                extra = weights[W_MARKER] * goes_on - weights[W_FLOOR] * _penalty(used, 1)
        elif other == source:
            continue
        for c in range(COLOR_COUNT):
            n = min((tiles >> 8 * c) & 31, _MOST_TILES)
            if n:
                value = numbers[_REPLIES + c * (_MOST_TILES + 1) + n] + extra
                best = max(best, value) if found else value
                found = True
    return best


@inline
def _value(state, own, numbers, move, goes_on, weights):
    """What a move is worth without the next player's reply."""
    line = move[LINE]
    if move[COLUMN] >= 0:  # a gray-wall choice
        if move[COLUMN] == WALL_SIZE:  # the only one
            return 0.0
        wall, row_colors, column_colors = own[WALL], own[ROW_COLORS], own[COLUMN_COLORS]
        return tile_value(wall, row_colors, column_colors, line, move[COLUMN], move[COLOR], goes_on, weights)
    value = weights[W_MARKER] * (move[MARKER_TAKEN] & goes_on) - weights[W_FLOOR] * move[PENALTY]
    if line != FLOOR:
        value += line_gain(own, numbers, 0, line, move[COLOR], move[TILES], goes_on, weights)
    return value


@inner
def plan(view):
    """The move of highest value; ties by chance."""
    state, weights = words(view.state), view.parameters
    numbers = view.memory.view(np.float64)
    own = seat_words(state, state[TURN])
    goes_on = True
    for seat in range(state[PLAYERS]):
        wall, _, _ = tiled(seat_words(state, seat), state[FREE_WALL], weights)
        goes_on &= complete_rows(wall) == 0
    choosing = view.moves[0, COLUMN] >= 0
    if not choosing:
        _tabulate(state, numbers, goes_on, weights)
    best = 0.0
    action = np.int64(-1)
    ties = np.int64(0)
    group = np.int64(-1)
    reply = 0.0
    share = weights[W_REPLY] / (state[PLAYERS] - 1)
    for i in range(len(view.moves)):
        move = view.moves[i]
        pair = move[SOURCE] * COLOR_COUNT + move[COLOR]
        if not choosing and pair != group:  # moves of the same tiles follow each other, and leave the same table
            group, reply = pair, _best_reply(state, numbers, move[SOURCE], move[COLOR], goes_on, weights)
        value = _value(state, own, numbers, move, goes_on, weights) - share * reply
        if i == 0 or value > best + _TIE:
            best, action, ties = value, move[ACTION], np.int64(1)
        elif value > best - _TIE:
            ties += 1
            if (view.word >> 7) % ties == 0:
                action = move[ACTION]
    return action
