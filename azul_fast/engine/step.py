"""One game, one action at a time: the entry points for everything that is not a batch.

Each takes one state (int64 [STATE_WORDS], `azul_fast.engine.layout`) and modifies it in place. Nothing is checked:
callers ask `legal_actions` first.
"""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline, inner, kernel
from azul_fast.engine.bits import trailing_zeros
from azul_fast.engine.layout import (
    BAG,
    CHOICES,
    DEAL_KEY,
    FREE_WALL,
    LINE_PAIRS,
    OFFER,
    PAIRS,
    PHASE,
    PHASE_OFFER,
    PHASE_TILE,
    PLAYERS,
    POLICY_KEY,
    REMOVED,
    ROUND,
    SHORT,
    TURN,
)
from azul_fast.engine.moves import COLOR_BYTES, apply_unchecked, pass_turn, seat_words
from azul_fast.engine.rng import DEALS, POLICIES, stream_key
from azul_fast.engine.rounds import (
    cumulative,
    deal,
    drop_line,
    full_lines,
    open_columns,
    open_offer,
    open_streams,
    place_tile,
    settle_round,
    tile_colored_walls,
    tiles_on_boards,
)
from azul_fast.engine.words import words
from azul_fast.rules import (
    COLOR_COUNT,
    DESTINATION_COUNT,
    FACTORY_TILES,
    SOURCE_COUNT,
    TILES_PER_COLOR,
    WALL_SIZE,
)

SOURCE_ACTIONS = COLOR_COUNT * DESTINATION_COUNT  # 30: actions of one source
TILE_ACTIONS = SOURCE_COUNT * SOURCE_ACTIONS  # 300: the first gray-wall choice
ACTION_COUNT = TILE_ACTIONS + WALL_SIZE * DESTINATION_COUNT  # 330


@inline
def seek_choice(state):
    """On the gray wall: the seat (TURN) and row of the next full line, as that row; -1 if there is none."""
    for seat in range(state[PLAYERS]):
        full = full_lines(seat_words(state, seat))
        if full != 0:
            state[TURN] = seat
            return trailing_zeros(full) >> 3
    return np.int64(-1)


@inner
def after_offer(state):
    """The offer is over: tile, or wait in phase tile for gray-wall choices; then settle the round."""
    if state[FREE_WALL]:
        turn = state[TURN]
        if seek_choice(state) >= 0:
            state[PHASE] = PHASE_TILE
            return
        state[TURN] = turn
    else:
        tile_colored_walls(state)
    settle_round(state)


@inline
def step_inline(state, action):
    """Play a legal action; the next round is not dealt."""
    if action < TILE_ACTIONS:
        source = action // SOURCE_ACTIONS
        rest = action - source * SOURCE_ACTIONS
        color = rest // DESTINATION_COUNT
        player = seat_words(state, state[TURN])
        apply_unchecked(state, player, rest - color * DESTINATION_COUNT, color, source)
        pass_turn(state)
        if state[PAIRS] == 0:
            after_offer(state)
    else:
        row = (action - TILE_ACTIONS) // DESTINATION_COUNT
        column = action - TILE_ACTIONS - row * DESTINATION_COUNT
        player = seat_words(state, state[TURN])
        state[CHOICES] += 1
        if column == WALL_SIZE:
            drop_line(state, player, row)
        else:
            place_tile(player, row, column)
        if seek_choice(state) < 0:
            settle_round(state)


@kernel
def step(state, action):
    """Play one legal action: a move of the offer, or a gray-wall choice.

    When it ends the offer, walls are tiled (on the gray wall the state goes to phase tile and waits for choices);
    when it ends the round the state is in phase deal or over. A round is not dealt here.
    """
    step_inline(words(state), action)


@kernel
def legal_actions(state, mask):
    """Write into `mask` (uint8 [ACTION_COUNT]) a 1 for each legal action; returns how many there are."""
    state, mask = words(state), words(mask)
    for action in range(ACTION_COUNT):
        mask[action] = 0
    count = 0
    player = seat_words(state, state[TURN])
    if state[PHASE] == PHASE_OFFER:
        for line in range(DESTINATION_COUNT):
            pairs = state[PAIRS] & player[LINE_PAIRS + line]
            while pairs != 0:
                bit = trailing_zeros(pairs)
                pairs &= pairs - 1
                color = bit // SOURCE_COUNT
                mask[(bit - color * SOURCE_COUNT) * SOURCE_ACTIONS + color * DESTINATION_COUNT + line] = 1
                count += 1
    elif state[PHASE] == PHASE_TILE:
        row = trailing_zeros(full_lines(player)) >> 3
        columns = open_columns(player, row)
        first = TILE_ACTIONS + row * DESTINATION_COUNT
        for column in range(WALL_SIZE):
            mask[first + column] = columns >> column & 1
            count += columns >> column & 1
        if columns == 0:
            mask[first + WALL_SIZE] = 1
            count = 1
    return count


@kernel
def seed_state(state, seed, deal_number, game_number):
    """Key the streams: deals from (seed, deal_number, round), policies from (seed, game_number, round)."""
    state = words(state)
    state[DEAL_KEY] = stream_key(seed, deal_number, DEALS)
    state[POLICY_KEY] = stream_key(seed, game_number, POLICIES)
    open_streams(state)


@kernel
def deal_round(state):
    """Phase deal to phase offer, with tiles drawn from the stream."""
    deal(words(state))


@kernel
def give_deal(state, counts):
    """Phase deal to phase offer with given tiles.

    Parameters
    ----------
    state : int64 [STATE_WORDS]
    counts : uint8 [SOURCE_COUNT, COLOR_COUNT]
        Tiles of each color on each factory; row 0, the center, is not read. The bag must be able to give them: first
        all old tiles, then from the refilled bag, as `azul_fast.game` checks.
    """
    state = words(state)
    state[ROUND] += 1
    total = np.int64(0)
    short = np.int64(0)
    for factory in range(1, 2 * state[PLAYERS] + 2):
        tiles = np.int64(0)
        size = np.int64(0)
        for color in range(COLOR_COUNT):
            tiles |= np.int64(counts[factory, color]) << 8 * color
            size += np.int64(counts[factory, color])
        short |= np.int64(size < FACTORY_TILES)
        total += tiles
        state[OFFER + factory] = tiles
    bag = state[BAG]
    bag -= bag << 8 & COLOR_BYTES  # tiles of each color
    size = state[BAG] >> 32
    if size < cumulative(total) >> 32:  # the lid came back into the bag on the way
        bag = TILES_PER_COLOR * 0x01_01_01_01_01 - tiles_on_boards(state) - state[REMOVED]
    state[BAG] = cumulative(bag - total)
    state[SHORT] |= short
    open_offer(state)
