"""One turn of the factory offer: the legal moves, choosing the n-th of them, and playing one."""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline
from azul_fast.engine.bits import nth_set_bit, popcount
from azul_fast.engine.layout import (
    ALL_PAIRS,
    COLOR_PAIRS,
    FLOOR_TILES,
    FLOOR_USED,
    LINE_COLOR,
    LINE_PAIRS,
    MARKER,
    MARKER_FLAG,
    OFFER,
    PAIRS,
    PLAYER_WORDS,
    PLAYERS,
    REMOVED,
    REMOVES,
    ROOM,
    ROUND_PLIES,
    SEATS,
    SOURCE_PAIRS,
    TURN,
)
from azul_fast.engine.words import section
from azul_fast.rules import FLOOR, FLOOR_CELLS, SOURCE_COUNT

COLOR_BYTES = 0xFF_FF_FF_FF_FF  # the five bytes that hold one count a color
_TENTH = 103  # n * 103 >> 10 == n // 10 for every bit number of PAIRS


@inline
def seat_words(state, seat):
    """The fields of `seat`."""
    return section(state, SEATS + (seat & 3) * PLAYER_WORDS, PLAYER_WORDS)


@inline
def pick_of_six(m0, m1, m2, m3, m4, m5, word):
    """The set bit of six masks, one for each line and the floor, that the 24-bit number `word` picks.

    Returns
    -------
    line, bit : int64
        Which mask, and the index of the bit in it; every set bit has the same chance.
    """
    n0 = popcount(m0)
    n1 = popcount(m1) + n0
    n2 = popcount(m2) + n1
    n3 = popcount(m3) + n2
    n4 = popcount(m4) + n3
    index = word * (n4 + popcount(m5)) >> 24
    # no branches: each comparison moves on by one mask
    in0, in1, in2, in3, in4 = index < n0, index < n1, index < n2, index < n3, index < n4
    line = FLOOR - np.int64(in0) - np.int64(in1) - np.int64(in2) - np.int64(in3) - np.int64(in4)
    rank = index if in0 else index - n0
    rank = rank if in1 else index - n1
    rank = rank if in2 else index - n2
    rank = rank if in3 else index - n3
    rank = rank if in4 else index - n4
    mask = m0 if in0 else m1
    mask = mask if in1 else m2
    mask = mask if in2 else m3
    mask = mask if in3 else m4
    mask = mask if in4 else m5
    return line, nth_set_bit(mask, rank)


@inline
def pick_uniform(state, player, word):
    """The move that the 24-bit number `word` picks out of all legal ones, each with the same chance.

    Moves are numbered by line (the floor last), then color, then source (the center first): the order of the bits
    of PAIRS. The lockstep engine numbers them alike.

    Returns
    -------
    line, color, source : int64
    """
    pairs = state[PAIRS]
    line, bit = pick_of_six(
        pairs & player[LINE_PAIRS],
        pairs & player[LINE_PAIRS + 1],
        pairs & player[LINE_PAIRS + 2],
        pairs & player[LINE_PAIRS + 3],
        pairs & player[LINE_PAIRS + 4],
        pairs,
        word,
    )
    color = bit * _TENTH >> 10
    return line, color, bit - color * SOURCE_COUNT


@inline
def apply_unchecked(state, player, line, color, source):
    """Play a legal move of the seat whose fields are `player`; `state` and they are modified in place.

    Everything but TURN is brought up to date; the offer is over when PAIRS is 0 then.
    """
    line, color, source = line & 7, color & 7, source & 15
    from_center = (source - 1) >> 63  # all ones if the source is the center
    pairs = state[PAIRS]
    others = SOURCE_PAIRS & ~(1 << SOURCE_COUNT * color)
    state[PAIRS] = (pairs & ~(SOURCE_PAIRS << source)) | ((pairs >> source) & others)

    taken_from = state[OFFER + source]
    count = (taken_from >> 8 * color) & 31
    rest = taken_from & ~(0xFF << 8 * color)
    state[OFFER] += rest
    state[OFFER + source] = rest & from_center

    marker = state[MARKER] & from_center
    state[MARKER] -= marker

    rooms = player[ROOM]
    room = (rooms >> 8 * line) & 7
    placed = min(count, room)
    over = count - placed
    player[ROOM] = rooms - (placed << 8 * line)
    player[LINE_PAIRS + line] = (COLOR_PAIRS << SOURCE_COUNT * color) if room > count else 0
    player[LINE_PAIRS + FLOOR] = ALL_PAIRS
    player[LINE_COLOR] |= (color << 8 * line) & COLOR_BYTES

    floor = player[FLOOR_USED]
    with_marker = min((floor & 7) + (marker & 1), FLOOR_CELLS)
    used = min(with_marker + over, FLOOR_CELLS)
    kept = used - with_marker
    player[FLOOR_USED] = ((floor | marker) & MARKER_FLAG) | used
    player[FLOOR_TILES] += kept << 8 * color
    if state[REMOVES] != 0:
        state[REMOVED] += (over - kept) << 8 * color
    state[ROUND_PLIES] += 1


@inline
def next_seat(state, seat):
    """The seat after `seat`."""
    return seat + 1 if seat + 1 < state[PLAYERS] else 0


@inline
def pass_turn(state):
    """Let the next seat act."""
    state[TURN] = next_seat(state, state[TURN])
