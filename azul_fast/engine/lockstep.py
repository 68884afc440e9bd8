"""Many games side by side, one in each lane of a vector: `random` in every seat, coloured wall, overflow to the lid.

Sixteen games make a *group* and take their turns together: what is a number in one game is a vector here, a choice is a
`where`, a table is a constant shifted by a vector. A lane whose offer is over waits until those of its group are over
too; then the group tiles, and deals the next round. Two groups move in turn, so that the processor always has work
that does not wait for the last result.

The games are those of the general kernel: the same streams (see `azul_fast.engine.rng`), draws and move numbers. No
lane knows of another, so a game is the same in any lane, group, chunk or run.

**Fields.** A count of each color fits a 32-bit lane as five *fields* of 6 bits, the last color's uppermost; `ONES`
has a 1 in each. ``counts * UNITS`` has in each field the sum of that field and those before it. The sources that hold
a color are ten bits, those of colors 0 to 2 in one word and those of 3 and 4 in another. The bag is counted in bytes,
cumulatively.

**Slots.** The player to act has the same *slot* in every lane, and slot 0 starts the round: after each round the
players' words move to other slots, lane by lane. `SEAT` is the seat in slot 0; the next seat is in slot 1.

**Lid and floor colors** are not kept: whatever is neither on a board nor dealt comes back when the bag is refilled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from azul_fast._jit import inline, inner, kernel
from azul_fast.engine import layout
from azul_fast.engine.bits import popcount, trailing_zeros
from azul_fast.engine.lanes import all_ones, fill, lane, load, mask_bits, signed_max, store, unsigned_min, where, widen
from azul_fast.engine.layout import (
    END_EXHAUSTED,
    END_NONE,
    END_ROW,
    END_STALLED,
    MARKER_FLAG,
    MARKER_HERE,
    OUT_COLORS,
    OUT_COLUMNS,
    OUT_END,
    OUT_LOST,
    OUT_PLACED,
    OUT_PLIES,
    OUT_ROUNDS,
    OUT_ROWS,
    OUT_SCORE,
    OUT_SEAT_ROWS,
    OUT_SEATS,
    OUT_SHORT,
    OUT_WALL,
)
from azul_fast.engine.rng import DEALS, POLICIES, below, counter_word, round_stream, stream_key, word
from azul_fast.engine.scoring import COLUMN_0, ROW_0, bonus_points, complete_columns, complete_rows, gather_column
from azul_fast.engine.static import Static
from azul_fast.engine.words import section, words
from azul_fast.rules import (
    COLOR_COUNT,
    FACTORY_TILES,
    FLOOR_CELLS,
    FLOOR_PENALTY_SUMS,
    LINE_COUNT,
    MAX_PLAYERS,
    MIN_PLAYERS,
    SOURCE_COUNT,
    TILE_COUNT,
    TILES_PER_COLOR,
    WALL_SIZE,
    wall_column,
)

LANES = 16  # games in a group: 32-bit lanes of one 512-bit register, or of two of 256 bits
GROUPS = 2  # groups that move in turn
MAX_ROUND_PLIES = TILE_COUNT  # every ply takes a tile
DONE, ENDLESS_ROUND = 0, 1  # what `lockstep_games` returns

# --------------------------------------------------------------------------------- the words of a game, one a lane
# fmt: off
(
    DEAL_LOW, DEAL_HIGH,      # key of the stream that deals
    POLICY_LOW, POLICY_HIGH,  # key of the stream that moves are drawn from,
    DRAW_X, DRAW_Y,           # and that stream in this round
    END,                      # why the game is over: set after each round
    ROUND, PLIES,
    SHORT,                    # 1: a factory was dealt fewer than four tiles
    SEAT,                     # the seat in slot 0
    AGAIN,                    # the slot that starts the next round if nobody takes the marker
    BAG,                      # byte c: tiles of colors 0 to c in the bag, for c up to 3
    BAG_COUNT,                # all tiles in the bag
    HELD,                     # fields: tiles on walls and in lines when the round was dealt
    MARKER,                   # MARKER_HERE while it is in the center, else 0
    OFFERED,                  # fields: sources that hold the color
    SOURCES_LOW,              # bit 10c + s: source s holds color c, for c up to 2
    SOURCES_HIGH,             # bit 10 (c - 3) + s, for c from 3
) = range(19)
# fmt: on
TILES = 19  # [source] fields: tiles on that source
PLAYERS = TILES + SOURCE_COUNT  # [slot] the words of a player:
LINE = 0  # [line] fields: all ones if the line may take the color, else 0
ROOM, COLOR, WALL, SCORE, PLACED, LOST, FLOOR_USED = range(LINE_COUNT, LINE_COUNT + 7)
# ROOM: bits 4i to 4i + 3: free cells of line i. COLOR: the same bits: its color, anything while it is empty.
# WALL, SCORE, PLACED, LOST: as in the state. FLOOR_USED: as in the state, but tiles beyond the seventh are counted too.
PLAYER_WORDS = LINE_COUNT + 7
MOVING_WORDS = PLAYER_WORDS - 1  # what follows a player to another slot: all but FLOOR_USED, which is 0 then
GROUP_WORDS = PLAYERS + MAX_PLAYERS * PLAYER_WORDS
START, FIRST_GROUP = 0, GROUP_WORDS  # the memory: a group whose lanes are all the start, then the groups

FIRST_WORD, OFFER_WORD = ROUND, MARKER  # a new game copies the words from FIRST_WORD; in phase deal not the offer

# ---------------------------------------------------------------------------------------------------------- fields
FIELD_BITS = 6
FIELD = (1 << FIELD_BITS) - 1
FIELD_0 = 2  # the first bit of color 0's field: the last one's bits are the word's last, and a shift brings them down
FIELD_4 = FIELD_0 + FIELD_BITS * (COLOR_COUNT - 1)
UNITS = sum(1 << FIELD_BITS * c for c in range(COLOR_COUNT))  # a factor: field c of the product sums fields 0 to c
ONES = UNITS << FIELD_0
HALF = 1 << FIELD_BITS - 1  # a field's top bit
ALMOST_HALVES = (HALF - 1) * ONES  # added to counts up to HALF: the top bit of a field is set unless its count is 0
FIRST_ONES = ONES & (1 << FIELD_4) - 1  # of colors 0 to 3
EVEN_ONES = (1 | 1 << 2 * FIELD_BITS) << FIELD_0  # of colors 0 and 2; shifted by one field, of 1 and 3
BYTE_ONES = 0x01010101

LOW_COLORS = 3  # colors in SOURCES_LOW
COLOR_SOURCES = (1 << SOURCE_COUNT) - 1
SOURCE_ONES = sum(1 << SOURCE_COUNT * c for c in range(LOW_COLORS))  # source 0 of each color
# [5 * color] the first bit of its sources in SOURCES_LOW or SOURCES_HIGH
SOURCES_SHIFT = sum((c % LOW_COLORS) * SOURCE_COUNT << 5 * c for c in range(COLOR_COUNT))

NIBBLE = 15
COLOR_CELLS = np.array(
    [sum(1 << WALL_SIZE * r + wall_column(r, color) for r in range(WALL_SIZE)) for color in range(COLOR_COUNT)]
)


# ----------------------------------------------------- tables as constants: shifted by the index, the entry is lowest
def _nth_bit(bits: int, n: int) -> int:
    """Index of set bit number `n` of three bits, 0 if there is none."""
    return ([i for i in range(3) if bits >> i & 1] + [0, 0])[n]


def _ones_from(bits: str) -> int:
    """How many ones `bits` begins with."""
    return len(bits) - len(bits.lstrip("1"))


COUNT_3 = sum(bits.bit_count() << 2 * bits for bits in range(8))  # [2 * bits]
NTH_3 = sum(_nth_bit(bits, n) << 16 * n + 2 * bits for bits in range(8) for n in range(2))  # [16 * n + 2 * bits]
ONES_UP_3 = sum(_ones_from(f"{bits:03b}"[::-1]) << 2 * bits for bits in range(8))  # [2 * bits] from bit 0 upwards
ONES_DOWN_3 = sum(_ones_from(f"{bits:03b}") << 2 * bits for bits in range(8))  # [2 * bits] from bit 2 downwards
PENALTY = sum(points << 4 * cells for cells, points in enumerate(FLOOR_PENALTY_SUMS))  # [4 * cells]
MODULO_5 = sum(i % WALL_SIZE << 3 * i for i in range(2 * WALL_SIZE - 1))  # [3 * i]


# ------------------------------------------------------------------------------------------------------- the memory
class Table(NamedTuple):
    """All lanes' words: word `i` of a group that begins at `group` is the vector number ``group + i``."""

    memory: Any  # uint32 [vectors * lanes] or a pointer to it, see `azul_fast.engine.words`
    size: Any  # Static: players, lanes


class Run(NamedTuple):
    """What is played, and where its results go."""

    start: Any  # int64 [STATE_WORDS]
    seed: Any
    rotations: Any
    first_rotates: Any
    first_game: Any
    count: Any
    out: Any  # int32 [RESULT_ROWS * stride]
    stride: Any


@inline
def get(t, vector):
    """The vector with that number."""
    return load(t.memory, vector * t.size.lanes, t.size.lanes)


@inline
def put(t, vector, lanes):
    """Replace a vector."""
    store(t.memory, vector * t.size.lanes, lanes)


@inline
def get_one(t, vector, i):
    """Lane `i` of a vector, as an int64 (0 to 2**32 - 1)."""
    return widen(load(t.memory, vector * t.size.lanes + i, 1))


@inline
def put_one(t, vector, i, value):
    """Set lane `i` of a vector to an int."""
    store(t.memory, vector * t.size.lanes + i, lane(value))


# ------------------------------------------------------------------------------------------------------------ a ply
@inline
def field_sum(counts):
    """The sum of the five fields."""
    return counts * UNITS >> FIELD_4


@inline
def fields_above(sums, limit, players):
    """How many of the first four fields of `sums` are above `limit`.

    No number is larger than the tiles of a deal: up to 31 with 2 and 3 players (20 and 28), and 36 with 4. Then the
    difference needs a seventh bit, and every second field is compared apart.
    """
    if players < MAX_PLAYERS:
        above = sums + ALMOST_HALVES - limit * ONES >> FIELD_BITS - 1 & FIRST_ONES
    else:
        limit = (FIELD - limit) * EVEN_ONES
        even = (sums & FIELD * EVEN_ONES) + limit
        odd = (sums >> FIELD_BITS & FIELD * EVEN_ONES) + limit
        above = (even >> FIELD_BITS & EVEN_ONES) | (odd & EVEN_ONES << FIELD_BITS)
    return above * UNITS >> FIELD_4


@inline
def find_source(t, g, sources, n):
    """Source number `n` of those marked in ten bits, and its tiles; sources are looked at three at a time."""
    players = t.size.players
    tiles = g + TILES
    n_3 = n - (COUNT_3 >> ((sources & 7) << 1) & 3)  # n, counted from source 3 on
    n_6 = n_3 - (COUNT_3 >> ((sources >> 3 & 7) << 1) & 3)
    in_0 = n_3 < 0  # among the sources 0 to 2
    in_3 = n_6 < 0
    # A difference below 0 is a huge unsigned number: the smallest one is counted from the right source on.
    if players == 2:
        n = unsigned_min(n, n_3)
        first = where(in_0, 0, 3)
        tiles_0 = where(in_0, get(t, tiles), get(t, tiles + 3))
        tiles_1 = where(in_0, get(t, tiles + 1), get(t, tiles + 4))
        tiles_2 = where(in_0, get(t, tiles + 2), get(t, tiles + 5))
    elif players == 3:
        n = unsigned_min(unsigned_min(n, n_3), n_6)
        first = where(in_0, 0, where(in_3, 3, 6))
        tiles_0 = where(in_0, get(t, tiles), where(in_3, get(t, tiles + 3), get(t, tiles + 6)))
        tiles_1 = where(in_0, get(t, tiles + 1), where(in_3, get(t, tiles + 4), get(t, tiles + 7)))
        tiles_2 = where(in_0, get(t, tiles + 2), get(t, tiles + 5))
    else:
        n_9 = n_6 - (COUNT_3 >> ((sources >> 6 & 7) << 1) & 3)
        in_6 = n_9 < 0
        n = unsigned_min(unsigned_min(n, n_3), unsigned_min(n_6, n_9))
        first = where(in_0, 0, where(in_3, 3, where(in_6, 6, 9)))
        tiles_0 = where(in_6, get(t, tiles + 6), get(t, tiles + 9))
        tiles_0 = where(in_0, get(t, tiles), where(in_3, get(t, tiles + 3), tiles_0))
        tiles_1 = where(in_0, get(t, tiles + 1), where(in_3, get(t, tiles + 4), get(t, tiles + 7)))
        tiles_2 = where(in_0, get(t, tiles + 2), where(in_3, get(t, tiles + 5), get(t, tiles + 8)))
    three = sources >> first & 7
    nth = where(n > 1, 2, NTH_3 >> ((n & 1) << 4 | three << 1) & 3)
    return first + nth, where(nth == 0, tiles_0, where(nth == 1, tiles_1, tiles_2))


@inline
def play(t, g, p, ply):
    """Move number `ply` of the round in every lane of the group at `g`, by the player at `p`.

    A lane whose offer is over has no sources left, and all that is added, taken or set below is 0 there or lies in
    bits that are never read.
    """
    players = t.size.players
    offered = get(t, g + OFFERED)
    active = offered != 0
    line_0 = get(t, p + LINE)
    line_1 = get(t, p + LINE + 1)
    line_2 = get(t, p + LINE + 2)
    line_3 = get(t, p + LINE + 3)
    line_4 = get(t, p + LINE + 4)
    # the line: moves are numbered line by line, the floor last
    sum_0 = field_sum(offered & line_0)
    sum_1 = field_sum(offered & line_1) + sum_0
    sum_2 = field_sum(offered & line_2) + sum_1
    sum_3 = field_sum(offered & line_3) + sum_2
    sum_4 = field_sum(offered & line_4) + sum_3
    number = below(word(get(t, g + DRAW_X), get(t, g + DRAW_Y), ply), sum_4 + field_sum(offered))
    n_1, n_2, n_3, n_4, n_5 = number - sum_0, number - sum_1, number - sum_2, number - sum_3, number - sum_4
    to_0, to_1, to_2, to_3, to_4 = n_1 < 0, n_2 < 0, n_3 < 0, n_4 < 0, n_5 < 0  # to that line or an earlier one
    number = unsigned_min(unsigned_min(unsigned_min(number, n_1), unsigned_min(n_2, n_3)), unsigned_min(n_4, n_5))
    allowed = where(to_3, line_3, where(to_4, line_4, -1))
    allowed = where(to_0, line_0, where(to_1, line_1, where(to_2, line_2, allowed)))
    line_shift = where(to_0, 0, where(to_1, 4, where(to_2, 8, where(to_3, 12, where(to_4, 16, 20)))))
    # the color: moves to one line are numbered color by color
    sums = (offered & allowed) * UNITS
    above = fields_above(sums, number, players)  # the color is the first of these, or the last of all
    color = COLOR_COUNT - 1 - above
    field = FIELD_4 - ((above << 2) + (above << 1))
    color_field = FIELD << field
    number = number - ((sums << FIELD_BITS) >> field & FIELD)
    # the source: moves of one color to one line are numbered source by source
    low = get(t, g + SOURCES_LOW)
    high = get(t, g + SOURCES_HIGH)
    shift = SOURCES_SHIFT >> (color << 2) + color & 31
    in_high = color > LOW_COLORS - 1
    source, tiles = find_source(t, g, where(in_high, high, low) >> shift & COLOR_SOURCES, number)
    from_center = (source == 0) & active
    center = get(t, g + TILES)
    tiles = where(active, tiles, 0)
    count = tiles >> field & FIELD
    rest = tiles & ~color_field
    # the offer
    in_both = (rest + ALMOST_HALVES) & (center + ALMOST_HALVES) & HALF * ONES  # colors that the center has already
    fewer = (color_field & ONES) + where(from_center, 0, in_both >> FIELD_BITS - 1)
    put(t, g + OFFERED, offered - where(active, fewer, 0))
    put(t, g + TILES, where(from_center, 0, center) + rest)
    here = SOURCE_ONES << source  # what was here is in the center now, but for the color taken
    taken = 1 << shift
    put(t, g + SOURCES_LOW, (low >> source & SOURCE_ONES & ~where(in_high, 0, taken)) | (low & ~here))
    put(t, g + SOURCES_HIGH, (high >> source & SOURCE_ONES & ~where(in_high, taken, 0)) | (high & ~here))
    # the line
    rooms = get(t, p + ROOM)
    room = rooms >> line_shift & NIBBLE
    placed = unsigned_min(count, room)
    put(t, p + ROOM, rooms - (placed << line_shift))
    still_allowed = where(room - placed > 0, color_field, 0)
    put(t, p + LINE, where(to_0, still_allowed, line_0))
    put(t, p + LINE + 1, where(~to_0 & to_1, still_allowed, line_1))
    put(t, p + LINE + 2, where(~to_1 & to_2, still_allowed, line_2))
    put(t, p + LINE + 3, where(~to_2 & to_3, still_allowed, line_3))
    put(t, p + LINE + 4, where(~to_3 & to_4, still_allowed, line_4))
    put(t, p + COLOR, (get(t, p + COLOR) & ~(NIBBLE << line_shift)) | color << line_shift)
    # the floor and the marker
    marker = get(t, g + MARKER)
    taken_marker = where(from_center, marker, 0)
    put(t, g + MARKER, marker ^ taken_marker)
    put(t, p + FLOOR_USED, get(t, p + FLOOR_USED) + (count - placed) + taken_marker)
    put(t, g + PLIES, get(t, g + PLIES) + where(active, 1, 0))


# ----------------------------------------------------------------------------------------------- the end of a round
@inline
def run_length(bits, cell):
    """Length of the run of ones through the set bit `cell` of five bits."""
    above = bits >> cell + 1
    below_it = bits << 4 - cell & 15
    up = (ONES_UP_3 >> ((above & 7) << 1) & 3) - all_ones(above == 15)
    down = (ONES_DOWN_3 >> (below_it & 14) & 3) - all_ones(below_it == 15)
    return 1 + up + down


@inline
def tile_line(t, p, line, rooms, colors, wall, points, held):
    """Tile one line of the player at `p` where it is full; returns rooms, wall, points and tiles held, brought up."""
    full = (rooms & NIBBLE << 4 * line) == 0
    color = colors >> 4 * line & NIBBLE
    column = MODULO_5 >> (color + line) * 3 & 7
    wall = wall | where(full, (1 << WALL_SIZE * line) << column, 0)
    row = wall >> WALL_SIZE * line & ROW_0
    across = run_length(row, column)
    down = run_length(gather_column(wall >> column & COLUMN_0), fill(row, line))
    scored = signed_max(where(across > 1, across, 0) + where(down > 1, down, 0), 1)
    points = points + where(full, scored, 0)
    # fields of the colors that the row lacks: its columns, turned back into colors, are spread over the fields
    missing = row ^ ROW_0
    missing = (missing >> line | missing << WALL_SIZE - line) & ROW_0
    missing = missing * (COLUMN_0 << FIELD_0) & ONES  # bit c, 5c further up, is field c
    put(t, p + LINE + line, where(full, (missing << FIELD_BITS) - missing, get(t, p + LINE + line)))
    rooms = rooms | where(full, (line + 1) << 4 * line, 0)
    in_line = (line + 1) - (rooms >> 4 * line & NIBBLE)
    held = held + (ONES - missing) + (in_line << (color << 2) + (color << 1) + FIELD_0)
    return rooms, wall, points, held


@inline
def tile_player(t, p, held):
    """Tiling and floor of the player at `p`; returns which lanes have a complete row, and `held` brought up."""
    rooms = get(t, p + ROOM)
    colors = get(t, p + COLOR)
    wall = get(t, p + WALL)
    points = fill(rooms, 0)
    for line in range(LINE_COUNT):
        rooms, wall, points, held = tile_line(t, p, line, rooms, colors, wall, points, held)
    cells = unsigned_min(get(t, p + FLOOR_USED) & MARKER_FLAG - 1, FLOOR_CELLS)
    lost = PENALTY >> (cells << 2) & NIBBLE
    put(t, p + ROOM, rooms)
    put(t, p + WALL, wall)
    put(t, p + SCORE, signed_max(get(t, p + SCORE) + points - lost, 0))
    put(t, p + PLACED, get(t, p + PLACED) + points)
    put(t, p + LOST, get(t, p + LOST) + lost)
    pairs = wall & wall >> 1
    return (pairs & pairs >> 2 & wall >> 4 & COLUMN_0) != 0, held


@inline
def move_slots(t, g, starter):
    """Let the player in slot `starter` be in slot 0, and the others follow in order, in every lane."""
    players = t.size.players
    bit_0 = (starter & 1) != 0
    bit_1 = (starter & 2) != 0
    slot_1, slot_2, slot_3 = PLAYER_WORDS, 2 * PLAYER_WORDS, 3 * PLAYER_WORDS
    for i in range(g + PLAYERS, g + PLAYERS + MOVING_WORDS):
        if players == 2:
            w0, w1 = get(t, i), get(t, i + slot_1)
            put(t, i, where(bit_0, w1, w0))
            put(t, i + slot_1, where(bit_0, w0, w1))
        elif players == 3:
            w0, w1, w2 = get(t, i), get(t, i + slot_1), get(t, i + slot_2)
            put(t, i, where(bit_0, w1, where(bit_1, w2, w0)))
            put(t, i + slot_1, where(bit_0, w2, where(bit_1, w0, w1)))
            put(t, i + slot_2, where(bit_0, w0, where(bit_1, w1, w2)))
        else:
            w0, w1, w2, w3 = get(t, i), get(t, i + slot_1), get(t, i + slot_2), get(t, i + slot_3)
            v0, v1, v2, v3 = where(bit_1, w2, w0), where(bit_1, w3, w1), where(bit_1, w0, w2), where(bit_1, w1, w3)
            put(t, i, where(bit_0, v1, v0))
            put(t, i + slot_1, where(bit_0, v2, v1))
            put(t, i + slot_2, where(bit_0, v3, v2))
            put(t, i + slot_3, where(bit_0, v0, v3))
    seat = get(t, g + SEAT) + starter
    put(t, g + SEAT, where(seat > players - 1, seat - players, seat))


@inline
def settle_round(t, g, max_rounds):
    """Tiling, floors, the next starter, and in END why a game is over; returns whether one is (a bit a lane)."""
    players = t.size.players
    round_number = get(t, g + ROUND)
    held = fill(round_number, 0)
    complete = round_number < 0  # in no lane
    starter = get(t, g + AGAIN)
    for slot in range(players):
        p = g + PLAYERS + slot * PLAYER_WORDS
        row, held = tile_player(t, p, held)
        complete = complete | row
        starter = where((get(t, p + FLOOR_USED) & MARKER_FLAG) != 0, slot, starter)
        put(t, p + FLOOR_USED, fill(held, 0))
    put(t, g + HELD, held)
    put(t, g + AGAIN, fill(held, 0))
    end = where(round_number > max_rounds - 1, END_STALLED, END_NONE)
    end = where(held == TILES_PER_COLOR * ONES, END_EXHAUSTED, end)
    end = where(complete, END_ROW, end)
    put(t, g + END, end)
    move_slots(t, g, starter)
    return mask_bits(end != END_NONE)


# ---------------------------------------------------------------------------------------------------------- the deal
@inline
def put_factory(t, g, source, below_counts, last_count, offered, low, high):
    """Lay out one factory.

    Parameters
    ----------
    below_counts : lanes
        Byte c: tiles of colors 0 to c on the factory, for c up to 3.
    last_count : lanes
        All its tiles.
    offered, low, high : lanes
        What OFFERED, SOURCES_LOW and SOURCES_HIGH are so far; returned with this factory.
    """
    counts = below_counts - (below_counts << 8)
    counts = (
        (counts & FIELD) << FIELD_0
        | (counts & FIELD << 8)
        | (counts & FIELD << 16) >> 2
        | (counts & FIELD << 24) >> 4
        | last_count - (below_counts >> 24) << FIELD_4
    )
    put(t, g + TILES + source, counts)
    some = counts + ALMOST_HALVES >> FIELD_BITS - 1 & ONES  # bits 2, 8, 14, 20 and 26
    low = low | (some >> 2 & 1 | (some & 1 << 8) << 2 | (some & 1 << 14) << 6) << source
    high = high | (some >> 20 & 1 | some >> 16 & 1 << 10) << source
    return offered + some, low, high


@inline
def as_bytes(counts):
    """Fields as cumulative bytes: byte c is the sum of the fields 0 to c, for c up to 3; and the sum of all."""
    apart = (
        (counts >> FIELD_0 & FIELD) | (counts & FIELD << 8) | (counts & FIELD << 14) << 2 | (counts & FIELD << 20) << 4
    )
    cumulative = apart * BYTE_ONES
    return cumulative, (cumulative >> 24) + (counts >> FIELD_4)


@inner
def deal(t, g):
    """Deal a round from the stream of (deal, round), and refill each bag when it is empty."""
    factories = 2 * t.size.players + 1
    round_number = get(t, g + ROUND) + 1
    put(t, g + ROUND, round_number)
    counter, step = round_stream(get(t, g + DEAL_LOW), get(t, g + DEAL_HIGH), round_number)
    bag = get(t, g + BAG)
    bag_count = get(t, g + BAG_COUNT)
    on_no_board, supply = as_bytes(TILES_PER_COLOR * ONES - get(t, g + HELD))  # what the bag and the lid hold
    lid = on_no_board - bag
    none = fill(bag, 0)
    offered, low, high = none, none, none
    until_refill = bag_count  # tiles that can be dealt in this round before the bag is empty
    drawn = 0
    for source in range(1, factories + 1):
        counts = none
        on_factory = unsigned_min(signed_max(supply - drawn, 0), FACTORY_TILES)
        for _ in range(FACTORY_TILES):
            empty = bag_count == drawn  # at one draw of the round, or at none
            bag = bag + where(empty, lid, 0)
            until_refill = where(empty, supply, until_refill)
            index = below(counter_word(counter), signed_max(until_refill - drawn, 0))
            counter = counter + step
            drawn += 1
            # a 1 in the byte of each color whose cumulative count is above the index: the color's own and all later
            ones = (bag + 0x7F * BYTE_ONES - index * BYTE_ONES) >> 7 & BYTE_ONES
            bag = bag - ones
            counts = counts + ones
        offered, low, high = put_factory(t, g, source, counts, on_factory, offered, low, high)
    put(t, g + SHORT, get(t, g + SHORT) | where(supply < drawn, 1, 0))
    put(t, g + BAG, bag)
    put(t, g + BAG_COUNT, signed_max(until_refill - drawn, 0))
    put(t, g + OFFERED, offered)
    put(t, g + SOURCES_LOW, low)
    put(t, g + SOURCES_HIGH, high)
    put(t, g + TILES, none)
    put(t, g + MARKER, fill(none, MARKER_HERE))


# ---------------------------------------------------------------------------------------- games that end and begin
@inner
def lay_out_start(t, run, books):
    """Translate the state that every game starts from. Slot 0 is the seat to act, or seat 0 if the starter rotates."""
    start, players = run.start, t.size.players
    one = section(books, ONE_START, GROUP_WORDS)
    turn = 0 if run.first_rotates else start[layout.TURN]
    one[ROUND] = start[layout.ROUND]
    one[PLIES] = start[layout.PLIES] + start[layout.ROUND_PLIES]
    one[SHORT] = start[layout.SHORT]
    one[SEAT] = turn
    offering = start[layout.PHASE] != layout.PHASE_DEAL
    one[AGAIN] = (start[layout.STARTER] - turn + players) % players if offering else 0
    one[BAG] = start[layout.BAG]
    one[BAG_COUNT] = start[layout.BAG] >> 32
    one[MARKER] = start[layout.MARKER]
    pairs = start[layout.PAIRS]
    one[SOURCES_LOW] = pairs & (1 << LOW_COLORS * SOURCE_COUNT) - 1
    one[SOURCES_HIGH] = pairs >> LOW_COLORS * SOURCE_COUNT
    offered = 0
    for color in range(COLOR_COUNT):
        offered += popcount(pairs >> SOURCE_COUNT * color & COLOR_SOURCES) << FIELD_0 + FIELD_BITS * color
    one[OFFERED] = offered
    for source in range(SOURCE_COUNT):
        tiles = 0
        for color in range(COLOR_COUNT):
            tiles += (start[layout.OFFER + source] >> 8 * color & 255) << FIELD_0 + FIELD_BITS * color
        one[TILES + source] = tiles
    held = 0
    for slot in range(players):
        seat = layout.SEATS + (turn + slot) % players * layout.PLAYER_WORDS
        p = PLAYERS + slot * PLAYER_WORDS
        wall = start[seat + layout.WALL]
        rooms = 0
        colors = 0
        for line in range(LINE_COUNT):
            room = start[seat + layout.ROOM] >> 8 * line & 255
            color = start[seat + layout.LINE_COLOR] >> 8 * line & 255
            rooms |= room << 4 * line
            colors |= color << 4 * line
            held += line + 1 - room << FIELD_0 + FIELD_BITS * color
            allowed = 0
            for c in range(COLOR_COUNT):
                on_wall = wall & COLOR_CELLS[c] & ROW_0 << WALL_SIZE * line
                held += (on_wall != 0) << FIELD_0 + FIELD_BITS * c
                if (on_wall == 0 and room == line + 1) or (c == color and 0 < room <= line):
                    allowed |= FIELD << FIELD_0 + FIELD_BITS * c
            one[p + LINE + line] = allowed
        one[p + ROOM] = rooms
        one[p + COLOR] = colors
        one[p + WALL] = wall
        one[p + SCORE] = start[seat + layout.SCORE]
        one[p + PLACED] = start[seat + layout.PLACED]
        one[p + LOST] = start[seat + layout.LOST]
        one[p + FLOOR_USED] = start[seat + layout.FLOOR_USED]
    one[HELD] = held
    zero = fill(get(t, START), 0)
    for i in range(GROUP_WORDS):
        put(t, START + i, zero + one[i])


@inline
def take_start(t, g, i):
    """Set a word to that of the start in the lanes whose game is over."""
    put(t, g + i, where(get(t, g + END) != END_NONE, get(t, START + i), get(t, g + i)))


@inline
def copy_start(t, g, with_offer):
    """Let the lanes whose game is over be as the start is; `with_offer`: the tiles to take, too."""
    for i in range(FIRST_WORD, OFFER_WORD):
        take_start(t, g, i)
    if with_offer:
        for i in range(OFFER_WORD, PLAYERS):
            take_start(t, g, i)
    for i in range(PLAYERS, PLAYERS + t.size.players * PLAYER_WORDS):
        take_start(t, g, i)


@inline
def write_result(t, g, i, run, column):
    """Write the game in lane `i`, which is over, into a column of the results."""
    out, stride = run.out, run.stride
    out[OUT_ROUNDS * stride + column] = get_one(t, g + ROUND, i)
    out[OUT_PLIES * stride + column] = get_one(t, g + PLIES, i)
    out[OUT_END * stride + column] = get_one(t, g + END, i)
    out[OUT_SHORT * stride + column] = get_one(t, g + SHORT, i)
    seat = get_one(t, g + SEAT, i)
    for slot in range(t.size.players):
        p = g + PLAYERS + slot * PLAYER_WORDS
        wall = get_one(t, p + WALL, i)
        rows = complete_rows(wall)
        columns = complete_columns(wall)
        colors = np.int64(0)
        for color in range(COLOR_COUNT):
            colors += wall & COLOR_CELLS[color] == COLOR_CELLS[color]
        at = (OUT_SEATS + seat * OUT_SEAT_ROWS) * stride + column
        out[at + OUT_SCORE * stride] = get_one(t, p + SCORE, i) + bonus_points(rows, columns, colors)
        out[at + OUT_PLACED * stride] = get_one(t, p + PLACED, i)
        out[at + OUT_LOST * stride] = get_one(t, p + LOST, i)
        out[at + OUT_ROWS * stride] = rows
        out[at + OUT_COLUMNS * stride] = columns
        out[at + OUT_COLORS * stride] = colors
        out[at + OUT_WALL * stride] = wall
        seat += 1
        if seat == t.size.players:
            seat = 0


@inline
def set_keys(t, g, i, run, number):
    """Set the keys of game `number` in lane `i`."""
    deals = stream_key(run.seed, number // run.rotations, DEALS)
    policies = stream_key(run.seed, number, POLICIES)
    put_one(t, g + DEAL_LOW, i, deals)
    put_one(t, g + DEAL_HIGH, i, deals >> 32)
    put_one(t, g + POLICY_LOW, i, policies)
    put_one(t, g + POLICY_HIGH, i, policies >> 32)


# What is kept of the run and of each group beside its lanes, int64.
BEGUN = 0  # games of the run that have begun
ONE_START = 1  # [GROUP_WORDS] the start, before it is spread over the lanes
BOOKS = ONE_START + GROUP_WORDS  # the groups' books, COLUMNS + lanes words each:
LIVE, PLY, PLAYER, COLUMNS = range(4)
# LIVE: lanes with a game. PLY: the next move of the round. PLAYER: where its player's words begin, in the group.
# COLUMNS [lanes]: the column of each lane's game in the results, -1: none (such a lane plays on unseen).


@inner
def rotate_starters(t, g, run, books, book, ended):
    """In the lanes of new games (a bit a lane), let seat (game mod players) be in slot 0, where seat 0 is now."""
    none = fill(get(t, g + END), 0)
    put(t, g + AGAIN, none)  # a word that is free here
    for i in range(t.size.lanes):
        if ended >> i & 1:
            put_one(t, g + AGAIN, i, (run.first_game + books[book + COLUMNS + i]) % t.size.players)
    move_slots(t, g, get(t, g + AGAIN))
    put(t, g + AGAIN, none)


@inner
def next_round(t, g, run, books, book, ended):
    """Put new games in place of those that have ended (a bit a lane), deal, and open the round's stream of moves."""
    remaining = ended
    while remaining != 0:
        i = trailing_zeros(remaining)
        remaining &= remaining - 1
        column = books[book + COLUMNS + i]
        if column >= 0:
            write_result(t, g, i, run, column)
        if books[BEGUN] < run.count:
            column = books[BEGUN]
            books[BEGUN] += 1
            set_keys(t, g, i, run, run.first_game + column)
        elif column >= 0:
            column = -1
            books[book + LIVE] -= 1
        books[book + COLUMNS + i] = column
    offering = run.start[layout.PHASE] != layout.PHASE_DEAL
    if ended != 0 and not offering:
        copy_start(t, g, offering)
        if run.first_rotates:
            rotate_starters(t, g, run, books, book, ended)
    deal(t, g)
    if ended != 0 and offering:  # over what these lanes were dealt
        copy_start(t, g, offering)
    x, y = round_stream(get(t, g + POLICY_LOW), get(t, g + POLICY_HIGH), get(t, g + ROUND))
    if ended != 0 and offering:  # the start may lie some plies into its round
        x = x + where(get(t, g + END) != END_NONE, run.start[layout.ROUND_PLIES] * y, 0)
    put(t, g + DRAW_X, x)
    put(t, g + DRAW_Y, y)


@inner
def end_round(t, g, run, books, book):
    """Tiling and all that comes between it and the first move of the next round."""
    ended = settle_round(t, g, run.start[layout.MAX_ROUNDS])
    next_round(t, g, run, books, book, ended)


@kernel
def lockstep_games(start, size, groups, rotations, first_rotates, seed, first_game, count, out, stride, memory, books):
    """Play games `first_game` to `first_game + count - 1` of a batch, and write the columns 0 to `count - 1` of `out`.

    Parameters
    ----------
    start : int64 [STATE_WORDS]
        The state that every game starts from, in phase deal, offer or tile.
    size : Static
        players and lanes: a kernel is compiled for each.
    groups : int
    rotations : int
        Game g plays deal g // rotations.
    first_rotates : int
        1: seat (game mod players) starts the first round, if the start is in phase deal.
    seed, first_game, count : int
    out : int32 [RESULT_ROWS * stride]
        Modified in place.
    stride : int
        Columns of `out`, at least `count`.
    memory : uint32 [memory_words(size, groups)]
    books : int64 [book_words(size, groups)]
        Both are work space.

    Returns
    -------
    int
        `DONE`, or `ENDLESS_ROUND` if a round had more plies than there are tiles: a fault of this engine.
    """
    rotating = first_rotates if start[layout.PHASE] == layout.PHASE_DEAL else 0
    t = Table(words(memory), size)
    run = Run(words(start), seed, rotations, rotating, first_game, count, words(out), stride)
    books = words(books)
    lay_out_start(t, run, books)
    books[BEGUN] = 0
    live_groups = 0
    for group in range(groups):
        book = BOOKS + group * (COLUMNS + size.lanes)
        g = FIRST_GROUP + group * GROUP_WORDS
        live = min(max(count - books[BEGUN], 0), size.lanes)
        books[book + LIVE] = live
        for i in range(size.lanes):
            books[book + COLUMNS + i] = -1
        if live > 0:
            live_groups += 1
            put(t, g + END, fill(get(t, g + END), END_ROW))  # so that every lane takes the start
            for word in range(DEAL_LOW, END):
                put(t, g + word, get(t, g + END))
            next_round(t, g, run, books, book, (1 << size.lanes) - 1)
            books[book + PLY] = 0
            books[book + PLAYER] = PLAYERS
    after_players = PLAYERS + size.players * PLAYER_WORDS
    while live_groups > 0:
        for group in range(groups):
            book = BOOKS + group * (COLUMNS + size.lanes)
            if books[book + LIVE] == 0:
                continue
            g = FIRST_GROUP + group * GROUP_WORDS
            ply = books[book + PLY]
            player = books[book + PLAYER]
            if mask_bits(get(t, g + OFFERED) != 0) == 0:
                end_round(t, g, run, books, book)
                if books[book + LIVE] == 0:
                    live_groups -= 1
                    continue
                ply = 0
                player = PLAYERS
            if ply == MAX_ROUND_PLIES:
                return ENDLESS_ROUND
            play(t, g, g + player, ply)
            player += PLAYER_WORDS
            books[book + PLAYER] = PLAYERS if player == after_players else player
            books[book + PLY] = ply + 1
    return DONE


# ---------------------------------------------------------------------------------------------------------- in Python
SIZES = {players: Static(players=players, lanes=LANES) for players in range(MIN_PLAYERS, MAX_PLAYERS + 1)}
_ALIGNMENT = 64  # bytes: a cache line


def memory_words(size: Static, groups: int) -> int:
    """32-bit words of work space: the start and the groups."""
    return (1 + groups) * GROUP_WORDS * size.lanes


def book_words(size: Static, groups: int) -> int:
    """64-bit words of the books."""
    return BOOKS + groups * (COLUMNS + size.lanes)


def _aligned(count: int) -> np.ndarray:
    """Zeros, uint32 [count], that begin at a cache line: a vector that straddles two costs twice."""
    raw = np.zeros(count + _ALIGNMENT // 4, np.uint32)
    first = -raw.ctypes.data % _ALIGNMENT // 4
    return raw[first : first + count]


def play_lockstep(start, rotations, first_rotates, seed, first_game, count, out, size=None, groups=GROUPS) -> None:
    """Play games `first_game` to `first_game + count - 1` of a batch, `random` in every seat.

    Parameters
    ----------
    start : int64 [STATE_WORDS]
        The state that every game starts from, in phase deal, offer or tile; coloured wall, overflow to the lid.
    rotations : int
        1, or the number of players: game g plays deal g // rotations.
    first_rotates : int
        1: seat (game mod players) starts the first round, if the start is in phase deal.
    seed, first_game, count : int
    out : int32 [RESULT_ROWS, >= count], C order
        Column i is set to the result of game ``first_game + i``.
    size, groups : Static and int, optional
        Other numbers of lanes and groups; the games are the same.

    Raises
    ------
    RuntimeError
        If a round does not end, which would be a fault of the engine.
    """
    size = size or SIZES[int(start[layout.PLAYERS])]
    memory, books = _aligned(memory_words(size, groups)), np.zeros(book_words(size, groups), np.int64)
    status = lockstep_games(
        start,
        size,
        groups,
        rotations,
        first_rotates,
        seed,
        first_game,
        count,
        out.reshape(-1),
        out.shape[1],
        memory,
        books,
    )
    if status != DONE:
        raise RuntimeError(f"azul_fast: a round did not end among games {first_game} to {first_game + count - 1}")
