"""What rollouts come to for one seat: win share and margin at the game's end, or an estimate of them after a round.

Both are whole numbers, so that sums of them do not depend on the order in which they are added: a win share in 12ths
(a win shared by 2, 3 or 4 is 6, 4 or 3 of them), a margin (own score less the best other) in hundredths of a point.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types

from azul_fast._jit import inline, inner, kernel
from azul_fast.engine.bits import popcount
from azul_fast.engine.layout import (
    FREE_WALL,
    OUT_ROWS,
    OUT_SCORE,
    OUT_SEAT_ROWS,
    OUT_SEATS,
    PHASE,
    PHASE_DEAL,
    PHASE_OFFER,
    PHASE_OVER,
    PHASE_TILE,
    PLAYERS,
    RESULT_ROWS,
    ROOM,
    ROW_COLORS,
    SCORE,
    TURN,
    WALL,
)
from azul_fast.engine.moves import seat_words
from azul_fast.engine.rounds import line_color, open_columns
from azul_fast.engine.scoring import COLUMN_0, complete_rows, tile_points, wall_row
from azul_fast.engine.step import step, step_inline
from azul_fast.engine.words import words
from azul_fast.players import FINISHED, ILLEGAL, OPEN, STOPPED, Players, is_legal, own_word
from azul_fast.playout import (
    RUN_POLICIES,
    RUN_ROTATIONS,
    RUN_SEED,
    RUN_WORDS,
    SLOT_WORDS,
    choose_action,
    slot_policy,
    slot_worths,
    start_game,
)
from azul_fast.policies.view import POLICY_TYPE, VIEW_TYPE, look, view_arrays
from azul_fast.rules import COLOR_BONUS, COLUMN_BONUS, LINE_COUNT, MAX_PLAYERS, ROW_BONUS, WALL_SIZE

WIN_UNIT = 12  # of a win share: divisible by all numbers of winners
POINT_UNIT = 100  # of a margin
WIN, MARGIN = range(2)  # the two values of a rollout
MAX_OUTLOOK = 200  # points, either way: an outlook beyond is cut off
STARTER_POINTS = 1.0  # what starting the next round is taken to be worth
_ROW_PLACES = 8  # above any number of complete rows, which decide between equal scores
_LINE_COLUMNS = sum((i % WALL_SIZE) << 3 * i for i in range(2 * WALL_SIZE - 1))  # [3 * (color + line)] -> wall column


# ------------------------------------------------------------------------------------- the evaluation after a round
@inline
def _tile_outlook(state, player, line):
    """Points that a tile of a begun line would score on the wall as it is; on the gray wall in the best column."""
    if not state[FREE_WALL]:
        return np.int64(tile_points(player[WALL], line, (_LINE_COLUMNS >> 3 * (line_color(player, line) + line)) & 7))
    columns = open_columns(player, line)
    best = np.int64(0)
    for column in range(WALL_SIZE):
        if columns >> column & 1:
            best = max(best, tile_points(player[WALL], line, column))
    return best


@inner
def outlook(state, seat):
    """Points that a seat may expect to add after a round's end that is not the game's: the potential of its board.

    A simple one: each begun line brings its share filled of what its tile would score on the wall as it is; each row,
    column and color its share filled, squared, of its bonus; starting the next round `STARTER_POINTS`.

    Parameters
    ----------
    state : words
        In phase deal.
    seat : int

    Returns
    -------
    float
        Points beyond the score.
    """
    player = seat_words(state, seat)
    points = STARTER_POINTS if state[TURN] == seat else 0.0
    for line in range(LINE_COUNT):
        filled = line + 1 - ((player[ROOM] >> 8 * line) & 7)
        if filled > 0:
            points += filled / (line + 1) * _tile_outlook(state, player, line)
    for i in range(WALL_SIZE):
        in_row: int = popcount(wall_row(player[WALL], i))
        in_column = popcount((player[WALL] >> i) & COLUMN_0)
        of_color = popcount((player[ROW_COLORS] >> i) & COLUMN_0)
        points += (
            ROW_BONUS * in_row * in_row + COLUMN_BONUS * in_column * in_column + COLOR_BONUS * of_color * of_color
        ) / (WALL_SIZE * WALL_SIZE)
    return points


# ------------------------------------------------------------------------------------------------------- the kernels
@inline
def _standing(state, seat):
    """What decides who is ahead: the score, with the outlook of a game that goes on, then complete rows."""
    player = seat_words(state, seat)
    points = np.int64(POINT_UNIT) * player[SCORE]
    if state[PHASE] == PHASE_OVER:
        return points * _ROW_PLACES + complete_rows(player[WALL])
    more = min(max(outlook(state, seat), -MAX_OUTLOOK), MAX_OUTLOOK)
    return (points + np.int64(np.floor(POINT_UNIT * more + 0.5))) * _ROW_PLACES


@inline
def _judge(own, others_best, ties):
    """Win share and margin of a standing against the best other, which `ties` others have."""
    win = np.int64(0)
    if own > others_best:
        win = np.int64(WIN_UNIT)
    elif own == others_best:
        win = np.int64(WIN_UNIT // (ties + 1))
    return win, (own // _ROW_PLACES) - (others_best // _ROW_PLACES)


@inline
def _value(state, seat):
    """Win share and margin of `seat` after a round."""
    best = np.int64(-1) << 60
    ties = np.int64(0)
    for other in range(state[PLAYERS]):
        if other != seat:
            standing = _standing(state, other)
            if standing > best:
                best = standing
                ties = np.int64(0)
            ties += np.int64(standing == best)
    return _judge(_standing(state, seat), best, ties)


@kernel
def round_value(state, seat, value):
    """Write what a state in phase deal or over is worth to `seat` into `value` (int64 [2])."""
    value[WIN], value[MARGIN] = _value(words(state), seat)


@kernel
def _read(out, players, seat, wins, margins):
    """Win shares and margins of `seat` in the first columns of results."""
    for i in range(len(wins)):
        best = np.int64(-1)
        ties = np.int64(0)
        own = np.int64(0)
        for s in range(players):
            row = OUT_SEATS + s * OUT_SEAT_ROWS
            score = np.int64(POINT_UNIT) * out[row + OUT_SCORE, i]
            standing = score * _ROW_PLACES + out[row + OUT_ROWS, i]
            if s == seat:
                own = standing
            else:
                if standing > best:
                    best = standing
                    ties = np.int64(0)
                ties += np.int64(standing == best)
        win, margin = _judge(own, best, ties)
        wins[i] = win
        margins[i] = margin


@inline
def _ask(f0, f1, f2, f3, number, view):
    if number == 0:
        return f0(view)
    if number == 1:
        return f1(view)
    if number == 2:
        return f2(view)
    return f3(view)


def _cut(start, run, first_game, slot, seat, wins, margins, stop, arrays, parameters, memory, f0, f1, f2, f3):
    start, run, slot = words(start), words(run), words(slot)
    moves, offer, walls, lines, floors, scores, bag, own_state = arrays
    for i in range(len(wins)):
        start_game(slot, start, run, first_game + i)
        memory[:] = 0
        while slot[PHASE] == PHASE_OFFER or slot[PHASE] == PHASE_TILE:
            if stop[0] != 0:
                return STOPPED
            turn = slot[TURN] & 3
            policy = slot_policy(slot, turn)
            if policy < OPEN:
                action = choose_action(slot, policy, slot_worths(slot, turn))
            else:
                number = policy - OPEN
                view = look(
                    slot,
                    own_word(slot),
                    parameters[number],
                    memory[turn],
                    moves,
                    offer,
                    walls,
                    lines,
                    floors,
                    scores,
                    bag,
                    own_state,
                )
                action = _ask(f0, f1, f2, f3, number, view)
                if not is_legal(slot, action):
                    stop[1] = first_game + i
                    return ILLEGAL
            step_inline(slot, action)
        wins[i], margins[i] = _value(slot, seat)
    return FINISHED


@inner
def _nobody(view):
    """Fills a policy's place in `_cut` where there is none."""
    return np.int64(-1)


_1D, _2D, _3D = types.int64[::1], types.int64[:, ::1], types.int64[:, :, ::1]
_ARRAYS = types.Tuple((_2D, _2D, _3D, _3D, _1D, _1D, _1D, _1D))
_OUT, _NUMBERS = types.int32[::1], types.float64[:, ::1]
_CUT_TYPES = (_1D, _1D, types.int64, _1D, types.int64, _OUT, _OUT, _1D, _ARRAYS, _NUMBERS, _2D)


@functools.cache
def _compiled_cut() -> Any:
    """`_cut`, compiled for any policies."""
    dispatcher = kernel(_cut)
    dispatcher.compile(_CUT_TYPES + (POLICY_TYPE,) * MAX_PLAYERS)
    dispatcher.disable_compile()
    return dispatcher


# ---------------------------------------------------------------------------------------------------------- in Python
class Rollouts:
    """Plays games on from positions, for the figures of one seat.

    Parameters
    ----------
    policies : sequence of str
        The policy of each seat.
    seat : int
        Whose win share and margin are asked for.
    seed : int
        Rollout i draws its deals and its policies' words from (seed, i) alone, whatever it starts from.
    depth_cut : bool
        Play to the end of the round only, and take `outlook` for the rest.
    """

    def __init__(self, policies: Sequence[str], seat: int, seed: int, depth_cut: bool) -> None:
        self.players = Players(policies)
        self.seat = seat
        self.seed = seed
        self.depth_cut = depth_cut
        self.stop = np.zeros(2, np.int64)  # [0] 1: stop; [1] the game in which a policy's answer was not legal
        self._local = threading.local()
        if depth_cut:
            self._prepare_cut()

    def _prepare_cut(self) -> None:
        players = self.players
        self.run = np.zeros(RUN_WORDS, np.int64)
        self.run[RUN_POLICIES : RUN_POLICIES + len(players.ids)] = players.ids
        self.run[RUN_ROTATIONS], self.run[RUN_SEED] = 1, self.seed
        if players.is_open:
            self.functions, self.parameters = players.functions, players.parameters
        else:
            _nobody.compile((VIEW_TYPE,))
            self.functions, self.parameters = [_nobody] * MAX_PLAYERS, np.zeros((MAX_PLAYERS, 1))
        _compiled_cut()

    def known(self, state: np.ndarray) -> np.ndarray | None:
        """What a state is worth where nothing is left to be played, int64 [2]; else None."""
        if state[PHASE] != PHASE_OVER and not (self.depth_cut and state[PHASE] == PHASE_DEAL):
            return None
        value = np.zeros(2, np.int64)
        round_value(state, self.seat, value)
        return value

    def play(self, state: np.ndarray, first: int, wins: np.ndarray, margins: np.ndarray) -> bool:
        """Play as many rollouts from a state, numbered from `first`, as there is room for.

        Parameters
        ----------
        state : int64 [STATE_WORDS]
            In phase offer, tile or (unless cut) deal; not modified.
        first : int
        wins, margins : int32 [count]
            Set to the win share in `WIN_UNIT`-ths and the margin in `POINT_UNIT`-ths of a point of each.

        Returns
        -------
        bool
            Whether all were finished: not after a stop.
        """
        if self.depth_cut:
            return self._play_cut(state, first, wins, margins)
        count = len(wins)
        out = self._results(count)
        played = self.players.play(state, 1, 0, self.seed, first, count, out, self.stop)
        if played == count:
            _read(out, int(state[PLAYERS]), self.seat, wins, margins)
        return bool(played == count)

    def _results(self, count: int) -> np.ndarray:
        """This thread's room for results."""
        if not hasattr(self._local, "out") or self._local.out.shape[1] < count:
            self._local.out = np.empty((RESULT_ROWS, count), np.int32)
        out: np.ndarray = self._local.out
        return out

    def _play_cut(self, state: np.ndarray, first: int, wins: np.ndarray, margins: np.ndarray) -> bool:
        players = self.players
        memory = np.zeros((len(players.ids), players.memory_words), np.int64)
        status = _compiled_cut()(
            state,
            self.run,
            first,
            np.zeros(SLOT_WORDS, np.int64),
            self.seat,
            wins,
            margins,
            self.stop,
            view_arrays(),
            self.parameters,
            memory,
            *self.functions,
        )
        if status == ILLEGAL:  # played again as a whole game, it stops at the same answer, with a message about it
            players.play(state, 1, 0, self.seed, int(self.stop[1]), 1, self._results(1), np.zeros(1, np.int64))
        return bool(status == FINISHED)


def successors(state: np.ndarray, actions: Sequence[int]) -> list[np.ndarray]:
    """The states after each of some legal actions; rounds that end are not followed by a deal."""
    states = []
    for action in actions:
        after = state.copy()
        step(after, action)
        states.append(after)
    return states
