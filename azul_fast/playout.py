"""Whole games played by policies: the general kernel, for any mix of them and every variant of the game."""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline, inner, kernel
from azul_fast.engine.bits import trailing_zeros
from azul_fast.engine.layout import (
    CHOICES,
    DEAL_KEY,
    END,
    END_NONE,
    FREE_WALL,
    LOST,
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
    PAIRS,
    PHASE,
    PHASE_DEAL,
    PHASE_TILE,
    PLACED,
    PLAYERS,
    PLIES,
    POLICY_KEY,
    REMOVES,
    ROUND,
    ROUND_PLIES,
    ROW_COLORS,
    SCORE,
    SHORT,
    STATE_WORDS,
    TURN,
    WALL,
)
from azul_fast.engine.lockstep import play_lockstep
from azul_fast.engine.moves import apply_unchecked, pass_turn, pick_uniform, seat_words
from azul_fast.engine.rng import DEALS, POLICIES, stream_key
from azul_fast.engine.rounds import (
    GRAY_DRAWS,
    deal,
    drop_line,
    full_lines,
    open_columns,
    open_streams,
    place_tile,
    policy_word,
    settle_round,
    tile_colored_walls,
)
from azul_fast.engine.scoring import complete_columns, complete_rows
from azul_fast.engine.step import SOURCE_ACTIONS, TILE_ACTIONS
from azul_fast.engine.words import section, words
from azul_fast.policies import GREEDY, RANDOM, TIDY
from azul_fast.policies.greedy import greedy_move, greedy_worths, highest_column
from azul_fast.policies.random import random_column
from azul_fast.policies.tidy import tidy_move, tidy_worths
from azul_fast.policies.worths import SEAT_WORTHS, WORTH_WORDS, byte_counts_2p, byte_counts_4p, lose_colors
from azul_fast.rules import DESTINATION_COUNT, MAX_PLAYERS, WALL_SIZE

# One thread plays several games in turn: while one waits for a result, the processor works on the others.
SLOTS = 2
# A slot: the state, then what its policies keep beside it, who plays which seat, and the number of the game.
SLOT_WORTHS = STATE_WORDS
SLOT_POLICIES = SLOT_WORTHS + WORTH_WORDS
SLOT_COLUMN = SLOT_POLICIES + MAX_PLAYERS  # counted from the first game of the call; -1: no game is left
SLOT_WORDS = SLOT_COLUMN + 1

# What a batch is, in words.
RUN_POLICIES = 0  # [players] ids; in rotation r, seat s is played by number (s + r) mod players
RUN_ROTATIONS = MAX_PLAYERS  # 1, or the number of players: game g plays deal g // rotations in rotation g % rotations
RUN_FIRST_ROTATES = RUN_ROTATIONS + 1  # 1: seat (game mod players) starts the first round
RUN_SEED = RUN_FIRST_ROTATES + 1
RUN_WORDS = RUN_SEED + 1


@inline
def slot_policy(slot, seat):
    """Who plays `seat`."""
    return slot[SLOT_POLICIES + (seat & 3)]


@inline
def slot_worths(slot, seat):
    """The worths of `seat`."""
    return section(slot, SLOT_WORTHS + (seat & 3) * SEAT_WORTHS, SEAT_WORTHS)


@inline
def set_worths(slot):
    """At the start of a round: what each line is worth to the seats whose policy asks for that."""
    for seat in range(slot[PLAYERS]):
        policy = slot_policy(slot, seat)
        if policy == GREEDY:
            greedy_worths(slot, seat_words(slot, seat), slot_worths(slot, seat))
        elif policy == TIDY:
            tidy_worths(seat_words(slot, seat), slot_worths(slot, seat))


@inline
def policy_move(state, player, policy, worths, word):
    """The move that `policy` plays, as (line, color, source)."""
    if policy == RANDOM:
        return pick_uniform(state, player, word)
    if state[PLAYERS] == 2:
        counts = byte_counts_2p(state)
        if policy == GREEDY:
            return greedy_move(state, player, worths, word, counts)
        return tidy_move(player, worths, word, counts)
    more_counts = byte_counts_4p(state)
    if policy == GREEDY:
        return greedy_move(state, player, worths, word, more_counts)
    return tidy_move(player, worths, word, more_counts)


@inline
def policy_column(player, line, columns, policy, word):
    """The gray-wall column that `policy` chooses out of `columns`."""
    if policy == RANDOM:
        return random_column(columns, word)
    return highest_column(player, line, columns, word)


@inner
def tile_free_walls(slot):
    """Tile all full lines of the gray walls: seats in order, for each rows 1 to 5."""
    for seat in range(slot[PLAYERS]):
        player = seat_words(slot, seat)
        full = full_lines(player)
        while full != 0:
            line = trailing_zeros(full) >> 3
            full &= full - 1
            columns = open_columns(player, line)
            word = policy_word(slot, GRAY_DRAWS + slot[CHOICES])
            slot[CHOICES] += 1
            if columns == 0:
                drop_line(slot, player, line)
            else:
                place_tile(player, line, policy_column(player, line, columns, slot_policy(slot, seat), word))


@inner
def end_offer(slot):
    """Tiling, the round's end, and the next deal; returns END_NONE or why the game is over."""
    if slot[FREE_WALL]:
        tile_free_walls(slot)
    else:
        tile_colored_walls(slot)
    end = settle_round(slot)
    if end == END_NONE:
        deal(slot)
        set_worths(slot)
    return end


@inner
def start_game(slot, start, run, number):
    """Set up game `number` of a batch from the state `start`, up to its first ply."""
    for i in range(STATE_WORDS):
        slot[i] = start[i]
    players = start[PLAYERS]
    rotations = run[RUN_ROTATIONS]
    for seat in range(players):
        slot[SLOT_POLICIES + seat] = run[RUN_POLICIES + (seat + number % rotations) % players]
    if run[RUN_FIRST_ROTATES]:
        slot[TURN] = number % players
    slot[DEAL_KEY] = stream_key(run[RUN_SEED], number // rotations, DEALS)
    slot[POLICY_KEY] = stream_key(run[RUN_SEED], number, POLICIES)
    open_streams(slot)
    if start[PHASE] == PHASE_DEAL:
        deal(slot)
    set_worths(slot)


@inner
def write_result(state, out, stride, column):
    """Write a finished game into a column of the results."""
    out[OUT_ROUNDS * stride + column] = state[ROUND]
    out[OUT_PLIES * stride + column] = state[PLIES] + state[ROUND_PLIES]
    out[OUT_END * stride + column] = state[END]
    out[OUT_SHORT * stride + column] = state[SHORT]
    for seat in range(state[PLAYERS]):
        p = seat_words(state, seat)
        row = OUT_SEATS + seat * OUT_SEAT_ROWS
        out[(row + OUT_SCORE) * stride + column] = p[SCORE]
        out[(row + OUT_PLACED) * stride + column] = p[PLACED]
        out[(row + OUT_LOST) * stride + column] = p[LOST]
        out[(row + OUT_ROWS) * stride + column] = complete_rows(p[WALL])
        out[(row + OUT_COLUMNS) * stride + column] = complete_columns(p[WALL])
        out[(row + OUT_COLORS) * stride + column] = complete_columns(p[ROW_COLORS])
        out[(row + OUT_WALL) * stride + column] = p[WALL]


@kernel
def _play(start, run, first_game, count, slots, out, stride):
    start, run, slots, out = words(start), words(run), words(slots), words(out)
    begun = np.int64(0)
    live = np.int64(0)
    for k in range(SLOTS):
        slot = section(slots, k * SLOT_WORDS, SLOT_WORDS)
        slot[PAIRS] = 0
        slot[SLOT_COLUMN] = -1
        if begun < count:
            start_game(slot, start, run, first_game + begun)
            slot[SLOT_COLUMN] = begun
            begun += 1
            live += 1
    while live > 0:
        for k in range(SLOTS):
            slot = section(slots, k * SLOT_WORDS, SLOT_WORDS)
            if slot[PAIRS] == 0:
                if slot[SLOT_COLUMN] < 0:
                    continue
                if end_offer(slot) != END_NONE:
                    write_result(slot, out, stride, slot[SLOT_COLUMN])
                    if begun == count:
                        slot[SLOT_COLUMN] = -1
                        live -= 1
                        continue
                    start_game(slot, start, run, first_game + begun)
                    slot[SLOT_COLUMN] = begun
                    begun += 1
                    if slot[PAIRS] == 0:  # it starts in phase tile
                        continue
            turn = slot[TURN]
            player = seat_words(slot, turn)
            word = policy_word(slot, slot[ROUND_PLIES])
            policy = slot_policy(slot, turn)
            worths = slot_worths(slot, turn)
            line, color, source = policy_move(slot, player, policy, worths, word)
            apply_unchecked(slot, player, line, color, source)
            if policy != RANDOM:
                lose_colors(worths, player, line, color)
            pass_turn(slot)


def play_general(start, seat_policies, rotations, first_rotates, seed, first_game, count, out) -> None:
    """Play games `first_game` to `first_game + count - 1` of a batch.

    Parameters
    ----------
    start : int64 [STATE_WORDS]
        The state that every game starts from, in phase deal, offer or tile.
    seat_policies : int64 [players]
        Policy ids; in rotation r seat s is played by number (s + r) mod players.
    rotations : int
        1, or the number of players: then game g plays deal g // rotations in rotation g mod rotations.
    first_rotates : int
        1: seat (game mod players) starts the first round.
    seed, first_game, count : int
    out : int32 [RESULT_ROWS, >= count], C order
        Column i is set to the result of game ``first_game + i``.
    """
    run = np.zeros(RUN_WORDS, np.int64)
    run[RUN_POLICIES : RUN_POLICIES + len(seat_policies)] = seat_policies
    run[RUN_ROTATIONS], run[RUN_FIRST_ROTATES], run[RUN_SEED] = rotations, first_rotates, seed
    slots = np.zeros(SLOTS * SLOT_WORDS, np.int64)
    _play(start, run, first_game, count, slots, out.reshape(-1), out.shape[1])


@inner
def choose_action(state, policy, worths):
    """The action that a policy plays in phase offer or tile; `worths` is room for SEAT_WORTHS words."""
    player = seat_words(state, state[TURN])
    if state[PHASE] == PHASE_TILE:
        line = trailing_zeros(full_lines(player)) >> 3
        columns = open_columns(player, line)
        column = np.int64(WALL_SIZE)
        if columns != 0:
            word = policy_word(state, GRAY_DRAWS + state[CHOICES])
            column = policy_column(player, line, columns, policy, word)
        return TILE_ACTIONS + line * DESTINATION_COUNT + column
    if policy == GREEDY:
        greedy_worths(state, player, worths)
    elif policy == TIDY:
        tidy_worths(player, worths)
    line, color, source = policy_move(state, player, policy, worths, policy_word(state, state[ROUND_PLIES]))
    return source * SOURCE_ACTIONS + color * DESTINATION_COUNT + line


@kernel
def _choose(state, policy, policy_key, worths):
    state, worths = words(state), words(worths)
    state[POLICY_KEY] = policy_key
    open_streams(state)
    return choose_action(state, policy, worths)


def choose(state, policy: int, seed: int, game: int) -> int:
    """The action that a policy plays in `state` in game `game` of a batch with seed `seed`.

    Parameters
    ----------
    state : int64 [STATE_WORDS]
        In phase offer or tile; not modified.
    policy, seed, game : int

    Returns
    -------
    int
        Action index.
    """
    key = policy_key(seed, game)
    return int(_choose(state.copy(), policy, key, np.zeros(SEAT_WORTHS, np.int64)))


@kernel
def policy_key(seed, game):
    """Key of the stream that the policies of a game draw from."""
    return stream_key(seed, game, POLICIES)


def play_games(start, seat_policies, rotations, first_rotates, seed, first_game, count, out) -> None:
    """`play_general`, or the same games by lockstep where it can: all `random`, coloured wall, overflow to the lid."""
    if start[FREE_WALL] or start[REMOVES] or any(policy != RANDOM for policy in seat_policies):
        play_general(start, seat_policies, rotations, first_rotates, seed, first_game, count, out)
    else:
        play_lockstep(start, rotations, first_rotates, seed, first_game, count, out)
