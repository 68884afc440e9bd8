"""What happens between offers: the deal, tiling, the floor lines, and the end of the game."""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline, inner
from azul_fast.engine.bits import popcount, shift_right, trailing_zeros
from azul_fast.engine.lanes import extract, fill, lane, lane_numbers, spread, widen
from azul_fast.engine.layout import (
    BAG,
    CELLS,
    CHOICES,
    COLUMN_COLORS,
    DEAL_KEY,
    END,
    END_EXHAUSTED,
    END_NONE,
    END_ROW,
    END_STALLED,
    FLOOR_TILES,
    FLOOR_USED,
    LINE_COLOR,
    LINE_PAIRS,
    LOST,
    MARKER,
    MARKER_FLAG,
    MARKER_HERE,
    MAX_ROUNDS,
    OFFER,
    PAIRS,
    PHASE,
    PHASE_DEAL,
    PHASE_OFFER,
    PHASE_OVER,
    PLACED,
    PLAYERS,
    PLIES,
    POLICY_KEY,
    REMOVED,
    REMOVES,
    ROOM,
    ROUND,
    ROUND_PLIES,
    ROW_COLORS,
    SCORE,
    SHORT,
    SOURCE_PAIRS,
    STARTER,
    STREAM,
    TURN,
    WALL,
    allowed_pairs,
)
from azul_fast.engine.moves import COLOR_BYTES, seat_words
from azul_fast.engine.rng import below, round_stream, word
from azul_fast.engine.scoring import (
    COLUMN_0,
    PENALTIES,
    ROW_0,
    bonus_points,
    complete_columns,
    complete_rows,
    gather_column,
    tile_points,
    wall_row,
)
from azul_fast.rules import (
    COLOR_COUNT,
    FACTORY_TILES,
    FLOOR_CELLS,
    LINE_COUNT,
    SOURCE_COUNT,
    TILES_PER_COLOR,
    WALL_SIZE,
)

_BYTE_1 = 0x01_01_01_01_01  # 1 in each color's byte
_BYTE_7F = 0x7F * _BYTE_1
_BYTE_80 = 0x80 * _BYTE_1
_SPREAD = sum(1 << (SOURCE_COUNT - 8) * c for c in range(COLOR_COUNT))  # times bits 8 * c: also sets bits 10 * c
_ALL_TILES = TILES_PER_COLOR * _BYTE_1
_MOD_5 = sum((i % WALL_SIZE) << 3 * i for i in range(2 * WALL_SIZE - 1))
# [colors already in the row] -> LINE_PAIRS of the empty line
_OPEN_PAIRS = np.array([allowed_pairs(ROW_0 & ~colors) for colors in range(1 << COLOR_COUNT)], np.int64)
GRAY_DRAWS = 64  # policy words from this number on choose gray-wall columns; the offer's plies use those before


# ------------------------------------------------------------------------------------------------------- streams
@inline
def open_streams(state):
    """Derive STREAM for the round that ROUND names."""
    key = state[POLICY_KEY]
    x, y = round_stream(lane(key), lane(shift_right(key, 32)), lane(state[ROUND]))
    state[STREAM] = widen(x) | widen(y) << 32


@inline
def policy_word(state, number):
    """24 random bits: word `number` of the policies' stream in this round."""
    stream = state[STREAM]
    return widen(word(lane(stream), lane(shift_right(stream, 32)), lane(number)))


# ------------------------------------------------------------------------------------------------------ the deal
@inner
def tiles_on_boards(state):
    """Tiles on walls and in pattern lines, a byte a color."""
    held = np.int64(0)
    for seat in range(state[PLAYERS]):
        p = seat_words(state, seat)
        for color in range(COLOR_COUNT):
            held += popcount((p[ROW_COLORS] >> color) & COLUMN_0) << 8 * color
        for line in range(LINE_COUNT):
            filled = line + 1 - ((p[ROOM] >> 8 * line) & 7)
            held += filled << 8 * ((p[LINE_COLOR] >> 8 * line) & 7)
    return held


@inline
def cumulative(counts):
    """Byte c: the sum of bytes 0 to c of `counts`."""
    return (counts * _BYTE_1) & COLOR_BYTES


@inline
def _draw_one(bag, index):
    """A 1 in the byte of the color of tile number `index` in a cumulative `bag`, and in those of all later colors."""
    return ((bag + _BYTE_7F - index * _BYTE_1) >> 7) & _BYTE_1


@inline
def _counts(cumulative_counts):
    """The inverse of `cumulative`."""
    return cumulative_counts - ((cumulative_counts << 8) & COLOR_BYTES)


@inline
def _draw(state, factories):
    """Draw a whole round's tiles into OFFER from a bag that holds them all: the four tiles of a factory at a time."""
    key = state[DEAL_KEY]
    x, y = round_stream(lane(key), lane(shift_right(key, 32)), lane(state[ROUND]))
    x, y = spread(x, FACTORY_TILES), spread(y, FACTORY_TILES)
    tile = lane_numbers(x)
    bag = state[BAG]
    left = fill(x, bag >> 32) - tile
    for factory in range(1, factories + 1):
        index = below(word(x, y, tile), left)
        tile = tile + FACTORY_TILES
        left = left - FACTORY_TILES
        first = _draw_one(bag, extract(index, 0))
        bag -= first
        second = _draw_one(bag, extract(index, 1))
        bag -= second
        third = _draw_one(bag, extract(index, 2))
        bag -= third
        fourth = _draw_one(bag, extract(index, 3))
        bag -= fourth
        state[OFFER + factory] = _counts(first + second + third + fourth)
    state[BAG] = bag


@inner
def _draw_with_refill(state, factories):
    """As `_draw`, from a bag that may run out: then the lid comes back into it before the next tile is drawn."""
    key = state[DEAL_KEY]
    x, y = round_stream(lane(key), lane(shift_right(key, 32)), lane(state[ROUND]))
    bag = state[BAG]
    # what the lid would hold if the bag were empty now: all that is on no board and not dealt
    lid = cumulative(_ALL_TILES - tiles_on_boards(state) - state[REMOVED])
    tile = np.int64(0)
    for factory in range(1, factories + 1):
        dealt = np.int64(0)
        for _ in range(FACTORY_TILES):
            if bag == 0:
                bag = lid
            if bag == 0:
                state[SHORT] = 1
            else:
                drawn = _draw_one(bag, widen(below(word(x, y, lane(tile)), lane(bag >> 32))))
                bag -= drawn
                lid -= drawn
                dealt += drawn
            tile += 1
        state[OFFER + factory] = _counts(dealt)
    state[BAG] = bag


@inline
def open_offer(state):
    """Start the round whose tiles lie in OFFER: PAIRS, the marker, the counters, and who starts."""
    pairs = np.int64(0)
    for source in range(1, 2 * state[PLAYERS] + 2):
        present = (state[OFFER + source] + _BYTE_7F) >> 7 & _BYTE_1
        pairs |= (present * _SPREAD & SOURCE_PAIRS) << source
    state[PAIRS] = pairs
    state[MARKER] = MARKER_HERE
    state[PHASE] = PHASE_OFFER
    state[STARTER] = state[TURN]
    state[PLIES] += state[ROUND_PLIES]
    state[ROUND_PLIES] = 0
    state[CHOICES] = 0
    open_streams(state)


@inline
def deal(state):
    """Phase deal to phase offer: draw a round's tiles from the stream of (DEAL_KEY, round)."""
    state[ROUND] += 1
    factories = 2 * state[PLAYERS] + 1
    if state[BAG] >> 32 >= FACTORY_TILES * factories:
        _draw(state, factories)
    else:
        _draw_with_refill(state, factories)
    open_offer(state)


# -------------------------------------------------------------------------------------------------------- tiling
@inline
def full_lines(player):
    """0x80 in byte i for each full pattern line i."""
    return ~(player[ROOM] + _BYTE_7F) & _BYTE_80


@inline
def line_color(player, line):
    """Color of a line that is not empty."""
    return (player[LINE_COLOR] >> 8 * line) & 7


@inline
def _empty_line(player, line):
    player[LINE_COLOR] &= ~(0xFF << 8 * line)
    player[ROOM] += (line + 1) << 8 * line
    player[LINE_PAIRS + line] = _OPEN_PAIRS[wall_row(player[ROW_COLORS], line)]


@inline
def place_tile(player, line, column):
    """Move one tile of a full line to `column` of its wall row and score it; the others go to the lid."""
    line, column = line & 7, column & 7
    color = line_color(player, line)
    wall = player[WALL]
    points = tile_points(wall, line, column)
    player[WALL] = wall | 1 << (WALL_SIZE * line + column)
    player[ROW_COLORS] |= 1 << (WALL_SIZE * line + color)
    player[COLUMN_COLORS] |= 1 << (WALL_SIZE * column + color)
    player[CELLS + line] |= (color + 1) << 8 * column
    player[SCORE] += points
    player[PLACED] += points
    _empty_line(player, line)


@inline
def tile_colored_walls(state):
    """Tile every full line of every player; the cells are fixed and boards do not affect each other."""
    full = np.int64(0)
    for seat in range(state[PLAYERS]):
        full |= full_lines(seat_words(state, seat)) >> (7 - seat)
    while full != 0:  # one loop for all players: one exit to mispredict
        bit = trailing_zeros(full)
        full &= full - 1
        player = seat_words(state, bit & 7)
        line = bit >> 3
        place_tile(player, line, (_MOD_5 >> 3 * (line_color(player, line) + line)) & 7)


@inline
def open_columns(player, line):
    """The columns (five bits) that a full line of the gray wall may choose: empty, and without its color."""
    held = (player[COLUMN_COLORS] >> line_color(player, line)) & COLUMN_0
    return ~(wall_row(player[WALL], line) | gather_column(held)) & ROW_0


@inline
def drop_line(state, player, line):
    """The gray wall has no column for a full line: its tiles go to the floor at once."""
    line = line & 7
    color = line_color(player, line)
    floor = player[FLOOR_USED]
    kept = min(line + 1, FLOOR_CELLS - (floor & 7))
    player[FLOOR_USED] = floor + kept
    player[FLOOR_TILES] += kept << 8 * color
    if state[REMOVES] != 0:
        state[REMOVED] += (line + 1 - kept) << 8 * color
    _empty_line(player, line)


# ----------------------------------------------------------------------------------------------- end of the round
@inline
def settle_round(state):
    """After tiling: floor penalties, the next starter, and the end of the game or phase deal."""
    complete = np.int64(0)
    starter = state[STARTER]  # again, if nobody took the marker
    for seat in range(state[PLAYERS]):
        p = seat_words(state, seat)
        floor = p[FLOOR_USED]
        penalty = PENALTIES[floor & 7]
        p[LOST] += penalty
        p[SCORE] = max(p[SCORE] - penalty, 0)
        complete += complete_rows(p[WALL])
        p[FLOOR_USED] = 0
        p[FLOOR_TILES] = 0
        if floor & MARKER_FLAG:
            starter = np.int64(seat)
    state[TURN] = starter
    state[MARKER] = MARKER_HERE
    end = END_NONE
    if complete != 0:
        end = END_ROW
    elif state[BAG] >> 32 == 0 and tiles_on_boards(state) + state[REMOVED] == _ALL_TILES:
        end = END_EXHAUSTED
    elif state[ROUND] >= state[MAX_ROUNDS]:
        end = END_STALLED
    state[PHASE] = PHASE_DEAL
    if end != END_NONE:
        _end_game(state, end)
    return end


@inner
def _end_game(state, end):
    state[PHASE] = PHASE_OVER
    state[END] = end
    for seat in range(state[PLAYERS]):
        p = seat_words(state, seat)
        wall = p[WALL]
        p[SCORE] += bonus_points(complete_rows(wall), complete_columns(wall), complete_columns(p[ROW_COLORS]))
