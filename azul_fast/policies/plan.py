"""`plan`: a weighted sum of what a move brings now, what it prepares, and what it leaves to the next player.

A move is worth, in points::

    change of its line's value + tile * tiles that find room on the line
      - floor  * penalty of the floor cells used more
      + marker * takes the marker
      - reply  * the same sum, so far, for the best move that the next player then has,
                 divided by the number of other players
      + again  * the same sum for the best move that is then left to this player, on another line,
                 divided by the square of that number: the others take what they like in between

A line's value is that of its tile on the wall when the line is full, 0 when it is empty, and between::

    kept + hope * (n + 1 - missing) / (n + 1) * (tile's value - kept)

where n tiles of its color are on offer beside those that are taken; the second term is there if that is enough for the
tiles missing. What is kept for the next round, if there is one, is::

    kept = carry * share filled * tile's value - stuck

A tile's value is the points it scores when the lines that are full now have been tiled, the bonuses it completes, and,
while no row of any wall will be complete when this round ends::

    + left * (row    * 2  * increase of (tiles in its row    / 5)^2
            + column * 7  * increase of (tiles in its column / 5)^2
            + color  * 10 * increase of (tiles of its color  / 5)^2
            + neighbor * empty cells beside it)

where `left` is 1, 3/4, 1/2 and 1/4 in rounds 1 to 4, and 1/8 later: what a tile prepares needs rounds to come of it.
On the gray wall a line's tile has the value of its best column. When the game ends with this round, the marker is worth
nothing. The clamp of the score at 0 is ignored.
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
    W_AGAIN,
    W_HOPE,
) = range(len(PLAN))
_TIE = 1e-9  # points
_LEFT = np.array([1.0, 1.0, 0.75, 0.5, 0.25, 0.125])  # [round, up to 5] of the game, after the round
_TILED_LEFT = 0.5  # for the columns of lines that are full
_MOST_OFFERED = 20  # tiles of one color
_CHANCE = np.array(  # [missing, on offer] of a line to be filled yet, if all of `hope` were true
    [[max(0, n + 1 - missing) / (n + 1) for n in range(_MOST_OFFERED + 1)] for missing in range(LINE_COUNT + 1)]
)
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
_BEST = _OFFERED + COLOR_COUNT  # [2 seats, color, n, 3] the best with n tiles of one source: see `_best_left`
MEMORY = _BEST + 2 * COLOR_COUNT * (_MOST_TILES + 1) * 3


@inline
def _step(count, bonus, weight):
    """What a tile beside `count` others on the way to five is worth towards `bonus` points."""
    if count == WALL_SIZE - 1:
        return bonus * (1.0 - weight * _SQUARES[count])
    return bonus * weight * (_SQUARES[count + 1] - _SQUARES[count])


@inner
def tile_value(wall, row_colors, column_colors, line, column, color, left, weights):
    """Value of a tile put in (`line`, `column`) of a wall (WALL, ROW_COLORS, COLUMN_COLORS); `left` is 0 in the end."""
    value = np.float64(tile_points(wall, line, column))
    value += _step(popcount(wall_row(wall, line)), ROW_BONUS, weights[W_ROW] * left)
    value += _step(popcount((wall >> column) & COLUMN_0), COLUMN_BONUS, weights[W_COLUMN] * left)
    value += _step(popcount((row_colors >> color) & COLUMN_0), COLOR_BONUS, weights[W_COLOR] * left)
    return value + left * weights[W_NEIGHBOR] * popcount(_NEXT_TO[WALL_SIZE * line + column] & ~wall)


@inner
def best_tile(wall, row_colors, column_colors, free_wall, line, color, left, weights):
    """Column and value of a tile of `color` in row `line`; column -1 and value 0 if it has no place there."""
    if not free_wall:
        column = (color + line) % WALL_SIZE
        return column, tile_value(wall, row_colors, column_colors, line, column, color, left, weights)
    closed = wall_row(wall, line) | gather_column((column_colors >> color) & COLUMN_0)
    best = np.int64(-1)
    most = 0.0
    for column in range(WALL_SIZE):
        if not closed >> column & 1:
            value = tile_value(wall, row_colors, column_colors, line, column, color, left, weights)
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
            column, _ = best_tile(wall, row_colors, column_colors, free_wall, line, color, _TILED_LEFT, weights)
            if column >= 0:
                wall |= 1 << (WALL_SIZE * line + column)
                row_colors |= 1 << (WALL_SIZE * line + color)
                column_colors |= 1 << (WALL_SIZE * column + color)
    return wall, row_colors, column_colors


@inline
def line_value(line, filled, worth, rest, left, weights):
    """Value of a line with `filled` tiles whose tile is worth `worth`, with `rest` of its color on offer."""
    if filled == line + 1:
        return worth
    if filled == 0:
        return 0.0
    kept = weights[W_CARRY] * filled / (line + 1) * worth - weights[W_STUCK] if left > 0 else 0.0
    return kept + weights[W_HOPE] * _CHANCE[line + 1 - filled, min(rest, _MOST_OFFERED)] * (worth - kept)


@inline
def _line_gain(player, numbers, which, line, color, tiles, left, weights):
    """What `tiles` tiles of `color` bring on `line`, without the floor; `numbers` has the tables."""
    room = (player[ROOM] >> 8 * line) & 7
    before = line + 1 - room
    placed = min(tiles, room)
    worth = numbers[_WORTHS + (which * LINE_COUNT + line) * COLOR_COUNT + color]
    offered = np.int64(numbers[_OFFERED + color])
    gain = line_value(line, before + placed, worth, offered - tiles, left, weights)
    return gain - line_value(line, before, worth, offered, left, weights) + weights[W_TILE] * placed


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


@inline
def _place(which, color, tiles):
    """Where `numbers` has the best of a seat with so many tiles."""
    return _BEST + 3 * ((which * COLOR_COUNT + color) * (_MOST_TILES + 1) + tiles)


@inner
def _tabulate(state, numbers, left, weights):
    """Fill the tables for the seat to act and the next one."""
    for color in range(COLOR_COUNT):
        offered = np.int64(0)
        for source in range(SOURCE_COUNT):
            offered += (state[OFFER + source] >> 8 * color) & 31
        numbers[_OFFERED + color] = offered
    for which in range(2):
        player = seat_words(state, next_seat(state, state[TURN]) if which else state[TURN])
        used = player[FLOOR_USED] & 7
        wall, row_colors, column_colors = tiled(player, state[FREE_WALL], weights)
        for color in range(COLOR_COUNT):
            offered = np.int64(numbers[_OFFERED + color])
            if not offered:
                continue
            for n in range(1, min(offered, _MOST_TILES) + 1):
                place = _place(which, color, n)
                numbers[place] = numbers[place + 2] = -weights[W_FLOOR] * _penalty(used, n)
                numbers[place + 1] = FLOOR
            for line in range(LINE_COUNT):
                if not _may_go(player, line, color):
                    continue
                _, worth = best_tile(wall, row_colors, column_colors, state[FREE_WALL], line, color, left, weights)
                numbers[_WORTHS + (which * LINE_COUNT + line) * COLOR_COUNT + color] = worth
                room = (player[ROOM] >> 8 * line) & 7
                for n in range(1, min(offered, _MOST_TILES) + 1):
                    gain = _line_gain(player, numbers, which, line, color, n, left, weights)
                    gain -= weights[W_FLOOR] * _penalty(used, max(n - room, 0))
                    place = _place(which, color, n)
                    if gain > numbers[place]:
                        numbers[place + 2] = numbers[place]
                        numbers[place], numbers[place + 1] = gain, line
                    elif gain > numbers[place + 2]:
                        numbers[place + 2] = gain


@inner
def _best_left(state, numbers, which, source, color, taken_source, taken_color, left, weights):
    """The most that a seat's move is worth when the tiles of `color` are gone from `source`.

    It is valued on the offer as it is now, but for the tiles that lie in the center then, and without the tiles of
    `taken_color` on `taken_source` (-1: none).

    Returns
    -------
    best, line, other, source, color
        The value and line of the best move, the value of the best on another line, and where the best takes its tiles;
        0 and -1 if there is none.
    """
    rest = state[OFFER + source] & ~(0xFF << 8 * color)
    best, second = 0.0, 0.0
    best_line, best_source, best_color = np.int64(-1), np.int64(-1), np.int64(-1)
    for other in range(SOURCE_COUNT):
        tiles = state[OFFER + other]
        extra = 0.0
        if other == CENTER:
            tiles = rest if source == CENTER else tiles + rest
            if state[MARKER] and source != CENTER:  # it is still there
                player = seat_words(state, next_seat(state, state[TURN]) if which else state[TURN])
                extra = weights[W_MARKER] * (left > 0) - weights[W_FLOOR] * _penalty(player[FLOOR_USED] & 7, 1)
        elif other == source:
            continue
        if other == taken_source:
            tiles &= ~(0xFF << 8 * taken_color)
        for c in range(COLOR_COUNT):
            n = min((tiles >> 8 * c) & 31, _MOST_TILES)
            if n:
                place = _place(which, c, n)
                value, line, next_value = (
                    numbers[place] + extra,
                    np.int64(numbers[place + 1]),
                    numbers[place + 2] + extra,
                )
                if best_source < 0:
                    best, second = value, next_value
                elif value > best:
                    second = max(second, next_value) if line == best_line else max(best, next_value)
                    best = value
                else:
                    second = max(second, next_value if line == best_line else value)
                    continue
                best_line, best_source, best_color = line, other, np.int64(c)
    return best, best_line, second, best_source, best_color


@inline
def _value(state, own, numbers, move, left, weights):
    """What a move is worth without the next player's reply."""
    line = move[LINE]
    if move[COLUMN] >= 0:  # a gray-wall choice
        if move[COLUMN] == WALL_SIZE:  # the only one
            return 0.0
        wall, row_colors, column_colors = own[WALL], own[ROW_COLORS], own[COLUMN_COLORS]
        return tile_value(wall, row_colors, column_colors, line, move[COLUMN], move[COLOR], left, weights)
    value = weights[W_MARKER] * move[MARKER_TAKEN] * (left > 0) - weights[W_FLOOR] * move[PENALTY]
    if line != FLOOR:
        value += _line_gain(own, numbers, 0, line, move[COLOR], move[TILES], left, weights)
    return value


@inner
def plan(view):
    """The move of highest value; ties by chance."""
    state, weights = words(view.state), view.parameters
    numbers = view.memory.view(np.float64)
    own = seat_words(state, state[TURN])
    left = _LEFT[min(view.round, len(_LEFT) - 1)]
    for seat in range(state[PLAYERS]):
        wall, _, _ = tiled(seat_words(state, seat), state[FREE_WALL], weights)
        if complete_rows(wall):
            left = 0.0
    choosing = view.moves[0, COLUMN] >= 0
    if not choosing:
        _tabulate(state, numbers, left, weights)
    best = 0.0
    action = np.int64(-1)
    ties = np.int64(0)
    group = np.int64(-1)
    reply, again, elsewhere = 0.0, 0.0, 0.0
    again_line = np.int64(-1)
    others = state[PLAYERS] - 1
    replies, turns = weights[W_REPLY] / others, weights[W_AGAIN] / (others * others)
    for i in range(len(view.moves)):
        move = view.moves[i]
        pair = move[SOURCE] * COLOR_COUNT + move[COLOR]
        if not choosing and pair != group:  # moves of the same tiles follow each other, and leave the same table
            group, none = pair, np.int64(-1)
            source, color = move[SOURCE], move[COLOR]
            reply, _, _, taken, kind = _best_left(state, numbers, 1, source, color, none, none, left, weights)
            again, again_line, elsewhere, _, _ = _best_left(
                state, numbers, 0, source, color, taken, kind, left, weights
            )
        value = _value(state, own, numbers, move, left, weights) - replies * reply
        value += turns * (elsewhere if move[LINE] == again_line and move[LINE] != FLOOR else again)
        if i == 0 or value > best + _TIE:
            best, action, ties = value, move[ACTION], np.int64(1)
        elif value > best - _TIE:
            ties += 1
            if (view.word >> 7) % ties == 0:
                action = move[ACTION]
    return action
