"""What happens between offers: the deal, tiling, the floor lines, and the end of the game."""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline, inner
from azul_fast.engine.bits import popcount, shift_right, trailing_zeros

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
    STARTER,
    STREAM,
    TURN,
    WALL,
    allowed_pairs,
)
from azul_fast.engine.moves import COLOR_BYTES, seat_base
from azul_fast.engine.lanes import lane, load_word, store_word, widen
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
from azul_fast.rules import COLOR_COUNT, FACTORY_TILES, FLOOR_CELLS, LINE_COUNT, SOURCE_COUNT, TILES_PER_COLOR, WALL_SIZE

_BYTE_1 = 0x01_01_01_01_01  # 1 in each color's byte
_BYTE_7F = 0x7F * _BYTE_1
_BYTE_80 = 0x80 * _BYTE_1
_ALL_TILES = TILES_PER_COLOR * _BYTE_1
_MOD_5 = sum((i % WALL_SIZE) << 3 * i for i in range(2 * WALL_SIZE - 1))
# [colors already in the row] -> LINE_PAIRS of the empty line
_OPEN_PAIRS = np.array([allowed_pairs(ROW_0 & ~colors) for colors in range(1 << COLOR_COUNT)], np.int64)
GRAY_DRAWS = 64  # policy words from this number on choose gray-wall columns; the offer's plies use those before


# ------------------------------------------------------------------------------------------------------- streams
@inline
def open_streams(state, game):
    """Derive STREAM for the round that ROUND names."""
    key = state[game + POLICY_KEY]
    x, y = round_stream(lane(key), lane(shift_right(key, 32)), lane(state[game + ROUND]))
    state[game + STREAM] = widen(x) | widen(y) << 32


@inline
def policy_word(state, game, number):
    """24 random bits: word `number` of the policies' stream in this round."""
    stream = state[game + STREAM]
    return widen(word(lane(stream), lane(shift_right(stream, 32)), lane(number)))


# ------------------------------------------------------------------------------------------------------ the deal
@inner
def tiles_on_boards(state, game):
    """Tiles on walls and in pattern lines, a byte a color."""
    held = np.int64(0)
    for seat in range(state[game + PLAYERS]):
        p = seat_base(state, game, seat)
        for color in range(COLOR_COUNT):
            held += popcount((state[p + ROW_COLORS] >> color) & COLUMN_0) << 8 * color
        for line in range(LINE_COUNT):
            filled = line + 1 - ((state[p + ROOM] >> 8 * line) & 7)
            held += filled << 8 * ((state[p + LINE_COLOR] >> 8 * line) & 7)
    return held


@inline
def cumulative(counts):
    """Byte c: the sum of bytes 0 to c of `counts`."""
    return (counts * _BYTE_1) & COLOR_BYTES


@inline
def _draw(state, game, factories, refill):
    """Draw a whole round's tiles into OFFER; without `refill` the bag must hold them all."""
    key = state[game + DEAL_KEY]
    x, y = round_stream(lane(key), lane(shift_right(key, 32)), lane(state[game + ROUND]))
    bag = state[game + BAG]
    left = bag >> 32
    back = np.int64(0)  # what the lid would hold if the bag were empty now: all that is on no board and not dealt
    if refill:
        back = cumulative(_ALL_TILES - tiles_on_boards(state, game) - state[game + REMOVED])
    offer = 8 * (game + OFFER)
    number = np.int64(0)
    for factory in range(1, factories + 1):
        dealt = np.int64(0)
        for _ in range(FACTORY_TILES):
            if refill and left == 0:
                bag = back
                left = bag >> 32
            index = widen(below(word(x, y, lane(number)), lane(left)))
            number += 1
            if refill and left == 0:
                state[game + SHORT] = 1
                continue
            # a 1 in each byte whose cumulative count is above the index: the color's own and all later ones
            ones = ((bag + _BYTE_7F - index * _BYTE_1) >> 7) & _BYTE_1
            bag -= ones
            back -= ones
            dealt += ones
            left -= 1
        # going upwards, the spare top bytes of one word are overwritten by the next
        store_word(state, offer + COLOR_COUNT * factory, dealt - ((dealt << 8) & COLOR_BYTES))
    state[game + BAG] = bag


@inner
def _draw_with_refill(state, game, factories):
    _draw(state, game, factories, True)


@inline
def open_offer(state, game):
    """Start the round whose tiles lie in OFFER: PAIRS, the marker, the counters, and who starts."""
    offer = 8 * (game + OFFER)
    low = np.int64(0)  # byte c: bit s for sources 0 to 7 that hold color c; high: sources 8 and 9
    high = np.int64(0)
    for source in range(1, SOURCE_COUNT):
        present = ((load_word(state, offer + COLOR_COUNT * source) & COLOR_BYTES) + _BYTE_7F) >> 7 & _BYTE_1
        if source < 8:
            low |= present << source
        else:
            high |= present << (source - 8)
    pairs = np.int64(0)
    for color in range(COLOR_COUNT):
        both = ((low >> 8 * color) & 0xFF) | ((high >> 8 * color) & 3) << 8
        pairs |= both << SOURCE_COUNT * color
    state[game + PAIRS] = pairs
    state[game + MARKER] = MARKER_HERE
    state[game + PHASE] = PHASE_OFFER
    state[game + STARTER] = state[game + TURN]
    state[game + PLIES] += state[game + ROUND_PLIES]
    state[game + ROUND_PLIES] = 0
    state[game + CHOICES] = 0
    open_streams(state, game)


@inline
def deal(state, game):
    """Phase deal to phase offer: draw a round's tiles from the stream of (DEAL_KEY, round)."""
    state[game + ROUND] += 1
    factories = 2 * state[game + PLAYERS] + 1
    if state[game + BAG] >> 32 >= FACTORY_TILES * factories:
        _draw(state, game, factories, False)
    else:
        _draw_with_refill(state, game, factories)
    open_offer(state, game)


# -------------------------------------------------------------------------------------------------------- tiling
@inline
def full_lines(state, player):
    """0x80 in byte i for each full pattern line i."""
    return ~(state[player + ROOM] + _BYTE_7F) & _BYTE_80


@inline
def line_color(state, player, line):
    """Color of a line that is not empty."""
    return (state[player + LINE_COLOR] >> 8 * line) & 7


@inline
def _empty_line(state, player, line):
    state[player + LINE_COLOR] &= ~(0xFF << 8 * line)
    state[player + ROOM] += (line + 1) << 8 * line
    state[player + LINE_PAIRS + line] = _OPEN_PAIRS[wall_row(state[player + ROW_COLORS], line)]


@inline
def place_tile(state, player, line, column):
    """Move one tile of a full line to `column` of its wall row and score it; the others go to the lid."""
    line, column = line & 7, column & 7
    color = line_color(state, player, line)
    wall = state[player + WALL]
    points = tile_points(wall, line, column)
    state[player + WALL] = wall | 1 << (WALL_SIZE * line + column)
    state[player + ROW_COLORS] |= 1 << (WALL_SIZE * line + color)
    state[player + COLUMN_COLORS] |= 1 << (WALL_SIZE * column + color)
    state[player + CELLS + line] |= (color + 1) << 8 * column
    state[player + SCORE] += points
    state[player + PLACED] += points
    _empty_line(state, player, line)


@inline
def tile_colored_walls(state, game):
    """Tile every full line of every player; the cells are fixed and boards do not affect each other."""
    full = np.int64(0)
    for seat in range(state[game + PLAYERS]):
        full |= full_lines(state, seat_base(state, game, seat)) >> (7 - seat)
    while full != 0:  # one loop for all players: one exit to mispredict
        bit = trailing_zeros(full)
        full &= full - 1
        player = seat_base(state, game, bit & 7)
        line = bit >> 3
        place_tile(state, player, line, (_MOD_5 >> 3 * (line_color(state, player, line) + line)) & 7)


@inline
def open_columns(state, player, line):
    """The columns (five bits) that a full line of the gray wall may choose: empty, and without its color."""
    held = (state[player + COLUMN_COLORS] >> line_color(state, player, line)) & COLUMN_0
    return ~(wall_row(state[player + WALL], line) | gather_column(held)) & ROW_0


@inline
def drop_line(state, game, player, line):
    """The gray wall has no column for a full line: its tiles go to the floor at once."""
    line = line & 7
    color = line_color(state, player, line)
    floor = state[player + FLOOR_USED]
    kept = min(line + 1, FLOOR_CELLS - (floor & 7))
    state[player + FLOOR_USED] = floor + kept
    state[player + FLOOR_TILES] += kept << 8 * color
    if state[game + REMOVES] != 0:
        state[game + REMOVED] += (line + 1 - kept) << 8 * color
    _empty_line(state, player, line)


# ----------------------------------------------------------------------------------------------- end of the round
@inline
def settle_round(state, game):
    """After tiling: floor penalties, the next starter, and the end of the game or phase deal."""
    complete = np.int64(0)
    starter = state[game + STARTER]  # again, if nobody took the marker
    for seat in range(state[game + PLAYERS]):
        p = seat_base(state, game, seat)
        floor = state[p + FLOOR_USED]
        penalty = PENALTIES[floor & 7]
        state[p + LOST] += penalty
        state[p + SCORE] = max(state[p + SCORE] - penalty, 0)
        complete += complete_rows(state[p + WALL])
        state[p + FLOOR_USED] = 0
        state[p + FLOOR_TILES] = 0
        if floor & MARKER_FLAG:
            starter = np.int64(seat)
    state[game + TURN] = starter
    state[game + MARKER] = MARKER_HERE
    end = END_NONE
    if complete != 0:
        end = END_ROW
    elif state[game + BAG] >> 32 == 0 and tiles_on_boards(state, game) + state[game + REMOVED] == _ALL_TILES:
        end = END_EXHAUSTED
    elif state[game + ROUND] >= state[game + MAX_ROUNDS]:
        end = END_STALLED
    state[game + PHASE] = PHASE_DEAL
    if end != END_NONE:
        _end_game(state, game, end)
    return end


@inner
def _end_game(state, game, end):
    state[game + PHASE] = PHASE_OVER
    state[game + END] = end
    for seat in range(state[game + PLAYERS]):
        p = seat_base(state, game, seat)
        wall = state[p + WALL]
        state[p + SCORE] += bonus_points(
            complete_rows(wall), complete_columns(wall), complete_columns(state[p + ROW_COLORS])
        )
