"""A whole record played again: is every deal possible, every move legal, and each in its place?"""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline, kernel
from azul_fast.engine.bits import trailing_zeros
from azul_fast.engine.layout import (
    BAG,
    END,
    LINE_PAIRS,
    PAIRS,
    PHASE,
    PHASE_DEAL,
    PHASE_OFFER,
    PHASE_OVER,
    PHASE_TILE,
    PLAYERS,
    PLIES,
    REMOVED,
    ROUND,
    ROUND_PLIES,
    ROW_COLORS,
    SCORE,
    TURN,
    WALL,
)
from azul_fast.engine.moves import COLOR_BYTES, seat_words
from azul_fast.engine.rounds import cumulative, full_lines, open_columns, tiles_on_boards
from azul_fast.engine.scoring import bonus_points, complete_columns, complete_rows
from azul_fast.engine.step import SOURCE_ACTIONS, TILE_ACTIONS, give_deal, step_inline
from azul_fast.engine.words import words
from azul_fast.rules import COLOR_COUNT, DESTINATION_COUNT, FACTORY_TILES, SOURCE_COUNT, TILES_PER_COLOR, WALL_SIZE

_BYTE_80 = 0x80_80_80_80_80
_ALL_TILES = TILES_PER_COLOR * 0x01_01_01_01_01

# What is found out about a record that plays to its end, after the scores of its rounds: for each seat the final score
# and the complete rows, then these.
FOUND_ROUNDS, FOUND_END, FOUND_PLIES = range(3)
FOUND_WORDS = 3


@inline
def _has(tiles, wanted):
    """Whether no color's byte of `wanted` is above that of `tiles`."""
    return ((tiles | _BYTE_80) - wanted) & _BYTE_80 == _BYTE_80


@inline
def _size(tiles):
    return cumulative(tiles) >> 8 * (COLOR_COUNT - 1)


@inline
def _can_be_dealt(state, tape, at, factories):
    """Whether bag and lid can give the factories at `tape[at]`: the bag's last tiles come out before the lid's."""
    bag = state[BAG]
    bag -= bag << 8 & COLOR_BYTES  # tiles of each color
    lid = _ALL_TILES - tiles_on_boards(state) - state[REMOVED] - bag
    for factory in range(factories):
        tiles = tape[at + factory]
        left = _size(bag)
        if _size(tiles) != min(FACTORY_TILES, left + _size(lid)):
            return False
        if left < _size(tiles):
            if not _has(tiles, bag):
                return False
            tiles -= bag
            bag = lid
            lid = np.int64(0)
        if not _has(bag, tiles):
            return False
        bag -= tiles
    return True


@inline
def _is_legal_move(state, action):
    source = action // SOURCE_ACTIONS
    rest = action - source * SOURCE_ACTIONS
    color = rest // DESTINATION_COUNT
    line = rest - color * DESTINATION_COUNT
    pairs = state[PAIRS] & seat_words(state, state[TURN])[LINE_PAIRS + line]
    return pairs >> (SOURCE_COUNT * color + source) & 1 != 0


@inline
def _is_legal_choice(state, action):
    row = (action - TILE_ACTIONS) // DESTINATION_COUNT
    column = action - TILE_ACTIONS - row * DESTINATION_COUNT
    player = seat_words(state, state[TURN])
    if row != trailing_zeros(full_lines(player)) >> 3:
        return False
    columns = open_columns(player, row)
    if columns == 0:
        return column == WALL_SIZE
    return columns >> column & 1 != 0  # WALL_SIZE, the floor, is not among them


@kernel
def play_tape(state, tape, counts, found):
    """Play a record to its end, if it can be played.

    Parameters
    ----------
    state : int64 [STATE_WORDS]
        Before the first event; modified in place.
    tape : int64 [words]
        The number of rounds; 1 if the first of them is to be dealt, else 0. Then for each round: the tiles of each
        factory, a byte a color, if it is to be dealt; the number of moves, and their actions, below TILE_ACTIONS; for
        each seat the number of gray-wall choices, and their actions, from TILE_ACTIONS on.
    counts : uint8 [SOURCE_COUNT, COLOR_COUNT]
        Room for a deal.
    found : int64 [(rounds + 2) * players + FOUND_WORDS]
        Set to the scores after each round and before the bonuses, and to what FOUND_WORDS names.

    Returns
    -------
    bool
        Whether all events were legal and the game is over after them.
    """
    state_array = state
    state, tape, found = words(state), words(tape), words(found)
    players = state[PLAYERS]
    factories = 2 * players + 1
    rounds, due, at = tape[0], tape[1], np.int64(2)
    for number in range(rounds):
        if number > 0 or due != 0:
            if state[PHASE] != PHASE_DEAL or not _can_be_dealt(state, tape, at, factories):
                return False
            for factory in range(factories):
                for color in range(COLOR_COUNT):
                    counts[factory + 1, color] = tape[at + factory] >> 8 * color & 0xFF
            give_deal(state_array, counts)
            at += factories
        elif state[PHASE] == PHASE_OVER:
            return False

        moves = tape[at]
        for action_at in range(at + 1, at + 1 + moves):
            if state[PHASE] != PHASE_OFFER or not _is_legal_move(state, tape[action_at]):
                return False
            step_inline(state, tape[action_at])
        at += 1 + moves
        if state[PHASE] == PHASE_OFFER:
            return False

        for seat in range(players):
            choices = tape[at]
            for action_at in range(at + 1, at + 1 + choices):
                if state[PHASE] != PHASE_TILE or state[TURN] != seat or not _is_legal_choice(state, tape[action_at]):
                    return False
                step_inline(state, tape[action_at])
            at += 1 + choices
        if state[PHASE] == PHASE_TILE:
            return False

        for seat in range(players):
            p = seat_words(state, seat)
            found[number * players + seat] = p[SCORE]
            if state[PHASE] == PHASE_OVER:
                wall = p[WALL]
                found[number * players + seat] -= bonus_points(
                    complete_rows(wall), complete_columns(wall), complete_columns(p[ROW_COLORS])
                )
    if state[PHASE] != PHASE_OVER:
        return False

    last = rounds * players
    for seat in range(players):
        p = seat_words(state, seat)
        found[last + seat] = p[SCORE]
        found[last + players + seat] = complete_rows(p[WALL])
    last += 2 * players
    found[last + FOUND_ROUNDS] = state[ROUND]
    found[last + FOUND_END] = state[END]
    found[last + FOUND_PLIES] = state[PLIES] + state[ROUND_PLIES]
    return True
