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
    MAX_ROUNDS,
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
    PHASE_OFFER,
    PLACED,
    PLAYERS,
    PLIES,
    POLICY_KEY,
    ROUND,
    ROUND_PLIES,
    ROW_COLORS,
    SCORE,
    SHORT,
    STARTER,
    STATE_WORDS,
    TURN,
    WALL,
)
from azul_fast.engine.moves import apply_unchecked, pass_turn, pick_uniform, seat_base
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
from azul_fast.policies import GREEDY, RANDOM, TIDY
from azul_fast.policies.greedy import greedy_move, greedy_worths, highest_column
from azul_fast.policies.random import random_column
from azul_fast.policies.tidy import tidy_move, tidy_worths
from azul_fast.policies.worths import SEAT_WORTHS, WORTH_WORDS, lose_colors

SLOTS = 3  # games played in turn by one thread: while one waits for a result, the processor works on the others
LANES_2P, LANES_4P = 32, 64  # byte lanes for (sources x colors): 30 with 2 players, 40 and 50 with 3 and 4


@inline
def seed_streams(state, game, seed, deal_number, game_number):
    """Key the streams of a game."""
    state[game + DEAL_KEY] = stream_key(seed, deal_number, DEALS)
    state[game + POLICY_KEY] = stream_key(seed, game_number, POLICIES)
    open_streams(state, game)


@inline
def set_worths(state, game, policies, seats, worths, base):
    """At the start of a round: what each line is worth to the seats whose policy asks for that."""
    for seat in range(state[game + PLAYERS]):
        policy = policies[seats + seat]
        player = seat_base(state, game, seat)
        if policy == GREEDY:
            greedy_worths(state, game, player, worths, base + seat * SEAT_WORTHS)
        elif policy == TIDY:
            tidy_worths(state, player, worths, base + seat * SEAT_WORTHS)


@inline
def policy_move(state, game, player, policy, worths, base, word):
    """The move that `policy` plays, as (line, color, source)."""
    if policy == RANDOM:
        return pick_uniform(state, game, player, word)
    if state[game + PLAYERS] == 2:
        if policy == GREEDY:
            return greedy_move(state, game, player, worths, base, word, LANES_2P)
        return tidy_move(state, game, player, worths, base, word, LANES_2P)
    if policy == GREEDY:
        return greedy_move(state, game, player, worths, base, word, LANES_4P)
    return tidy_move(state, game, player, worths, base, word, LANES_4P)


@inline
def policy_column(state, player, line, columns, policy, word):
    """The gray-wall column that `policy` chooses out of `columns`."""
    if policy == RANDOM:
        return random_column(columns, word)
    return highest_column(state, player, line, columns, word)


@inner
def tile_free_walls(state, game, policies, seats):
    """Tile all full lines of the gray walls: seats in order, for each rows 1 to 5."""
    for seat in range(state[game + PLAYERS]):
        player = seat_base(state, game, seat)
        full = full_lines(state, player)
        while full != 0:
            line = trailing_zeros(full) >> 3
            full &= full - 1
            columns = open_columns(state, player, line)
            word = policy_word(state, game, GRAY_DRAWS + state[game + CHOICES])
            state[game + CHOICES] += 1
            if columns == 0:
                drop_line(state, game, player, line)
            else:
                column = policy_column(state, player, line, columns, policies[seats + seat], word)
                place_tile(state, player, line, column)


@inline
def end_offer(state, game, policies, seats, worths, base):
    """Tiling, the round's end, and the next deal; returns END_NONE or why the game is over."""
    if state[game + FREE_WALL]:
        tile_free_walls(state, game, policies, seats)
    else:
        tile_colored_walls(state, game)
    end = settle_round(state, game)
    if end == END_NONE:
        deal(state, game)
        set_worths(state, game, policies, seats, worths, base)
    return end


@inline
def start_game(state, game, start, number, rotations, first_rotates, seed, seat_policies, policies, seats, worths, base):
    """Set up game `number` of a batch from the state `start`, up to its first ply."""
    state[game : game + STATE_WORDS] = start
    players = start[PLAYERS]
    for seat in range(players):
        policies[seats + seat] = seat_policies[(seat + number % rotations) % players]
    if first_rotates:
        state[game + TURN] = number % players
    seed_streams(state, game, seed, number // rotations, number)
    if start[PHASE] == PHASE_DEAL:
        deal(state, game)
    set_worths(state, game, policies, seats, worths, base)


@inline
def write_result(state, game, out, column):
    """Write a finished game into a column of the results."""
    out[OUT_ROUNDS, column] = state[game + ROUND]
    out[OUT_PLIES, column] = state[game + PLIES] + state[game + ROUND_PLIES]
    out[OUT_END, column] = state[game + END]
    out[OUT_SHORT, column] = state[game + SHORT]
    for seat in range(state[game + PLAYERS]):
        p = seat_base(state, game, seat)
        row = OUT_SEATS + seat * OUT_SEAT_ROWS
        out[row + OUT_SCORE, column] = state[p + SCORE]
        out[row + OUT_PLACED, column] = state[p + PLACED]
        out[row + OUT_LOST, column] = state[p + LOST]
        out[row + OUT_ROWS, column] = complete_rows(state[p + WALL])
        out[row + OUT_COLUMNS, column] = complete_columns(state[p + WALL])
        out[row + OUT_COLORS, column] = complete_columns(state[p + ROW_COLORS])
        out[row + OUT_WALL, column] = state[p + WALL]


@kernel
def play_general(start, seat_policies, rotations, first_rotates, seed, first_game, count, out):
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
    out : int32 [RESULT_ROWS, >= count]
        Column i is set to the result of game ``first_game + i``.
    """
    state = np.empty(SLOTS * STATE_WORDS, np.int64)
    worths = np.zeros(SLOTS * WORTH_WORDS, np.int64)
    policies = np.zeros(SLOTS * 4, np.int64)
    column = np.full(SLOTS, -1, np.int64)  # the game in each slot, counted from first_game; -1 none
    state[:] = 0
    begun = np.int64(0)
    live = np.int64(0)
    for slot in range(SLOTS):
        if begun < count:
            g = slot * STATE_WORDS
            start_game(state, g, start, first_game + begun, rotations, first_rotates, seed, seat_policies, policies,
                       slot * 4, worths, slot * WORTH_WORDS)
            column[slot] = begun
            begun += 1
            live += 1
    while live > 0:
        for slot in range(SLOTS):
            g = slot * STATE_WORDS
            if state[g + PAIRS] == 0:
                if column[slot] < 0:
                    continue
                if end_offer(state, g, policies, slot * 4, worths, slot * WORTH_WORDS) != END_NONE:
                    write_result(state, g, out, column[slot])
                    if begun == count:
                        column[slot] = -1
                        live -= 1
                        continue
                    start_game(state, g, start, first_game + begun, rotations, first_rotates, seed, seat_policies,
                               policies, slot * 4, worths, slot * WORTH_WORDS)
                    column[slot] = begun
                    begun += 1
                    if state[g + PAIRS] == 0:  # it started in phase tile
                        continue
            turn = state[g + TURN] & 3
            player = seat_base(state, g, turn)
            word = policy_word(state, g, state[g + ROUND_PLIES])
            base = slot * WORTH_WORDS + turn * SEAT_WORTHS
            policy = policies[slot * 4 + turn]
            line, color, source = policy_move(state, g, player, policy, worths, base, word)
            apply_unchecked(state, g, player, line, color, source)
            if policy != RANDOM:
                lose_colors(worths, base, line, color, state, player)
            pass_turn(state, g)


def play_games(start, seat_policies, rotations, first_rotates, seed, first_game, count, out) -> None:
    """`play_general`, by the lockstep engine where that can: random in every seat, coloured wall, overflow to the lid."""
    play_general(start, seat_policies, rotations, first_rotates, seed, first_game, count, out)
