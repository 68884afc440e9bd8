"""What rollouts come to for one seat: win share and margin at the game's end, or what may be expected after a round.

Both are whole numbers, so that sums of them do not depend on the order in which they are added: a win share in parts of
`WIN_UNIT` (a win shared by 2, 3 or 4 is a half, a third or a quarter), a margin (own score less the best other) in
hundredths of a point.

After a round that does not end the game (`depth_cut`), a seat's standing is its board's worth as
`azul_fast.search.evaluation.board_worth` has it, in points. The margin is that to the best other standing. The win
share takes the margins to come as normal, with the standard deviation s that the weights were fitted with: with
P(a, b) = Phi((standing of a - standing of b) / s), seat a wins in proportion to the product of P(a, b) over all
others b. With two players that is P itself.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from azul_fast._jit import inline, inner, kernel
from azul_fast.engine.layout import (
    FREE_WALL,
    MARKER_FLAG,
    OUT_ROWS,
    OUT_SCORE,
    OUT_SEAT_ROWS,
    OUT_SEATS,
    PHASE,
    PHASE_DEAL,
    PHASE_OVER,
    PLAYERS,
    RESULT_ROWS,
    SCORE,
    TURN,
    WALL,
)
from azul_fast.engine.moves import seat_words
from azul_fast.engine.scoring import complete_rows
from azul_fast.engine.step import step
from azul_fast.engine.words import words
from azul_fast.players import (
    CALL_DONE,
    COUNT,
    FINISHED,
    ILLEGAL,
    NUMBERS,
    PLAY_ON_TYPES,
    RESULTS,
    WORDS,
    Players,
    compiled,
    play_on,
)
from azul_fast.playout import SLOT_WORDS, start_game
from azul_fast.search.alphabeta import round_weights
from azul_fast.search.evaluation import (
    BOARD_FLOOR_BITS,
    SPREAD,
    WORTH_UNIT,
    board_key,
    board_worth,
    points_of,
    worth_of,
)
from azul_fast.search.weights import WEIGHTS

WIN_UNIT = 12_000  # of a win share: divisible by all numbers of winners
POINT_UNIT = 100  # of a margin
WIN, MARGIN = range(2)  # the two values of a rollout
MAX_OUTLOOK = 100  # points, either way, that a board's worth may be away from its points
_ROW_PLACES = 8  # above any number of complete rows, which decide between equal scores
_SPREADS_PER_SD = 1.2533141373155003  # sqrt(pi / 2): `bend` has the slope of the normal distribution's share of wins


# ------------------------------------------------------------------------------------------------------- the kernels
@inline
def _final_standing(score, rows):
    """What decides who is ahead in the end: the score, then complete rows."""
    return np.int64(POINT_UNIT) * score * _ROW_PLACES + rows


@inline
def _judge(own, others_best, ties):
    """Win share and margin of a final standing against the best other, which `ties` others have."""
    win = np.int64(0)
    if own > others_best:
        win = np.int64(WIN_UNIT)
    elif own == others_best:
        win = np.int64(WIN_UNIT // (ties + 1))
    return win, (own // _ROW_PLACES) - (others_best // _ROW_PLACES)


@inline
def share_ahead(x):
    """The normal distribution function Phi, to 2.5e-4, by arithmetic that is the same on every machine.

    Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 7.1.27.
    """
    z = abs(x) / np.sqrt(2.0)
    power = 1.0 + z * (0.278393 + z * (0.230389 + z * (0.000972 + z * 0.078108)))
    power *= power
    tail = 0.5 / (power * power)
    return 1.0 - tail if x > 0 else tail


@inline
def _standing(state, seat, weights):
    """A board's worth after a round, in points."""
    player = seat_words(state, seat)
    key = board_key(player)
    if state[TURN] == seat:  # it has had the marker
        key |= np.int64(MARKER_FLAG) << BOARD_FLOOR_BITS
    packed = board_worth(player, key, state[FREE_WALL], weights)
    points = points_of(packed)
    return points + min(max(worth_of(packed) / WORTH_UNIT - points, -float(MAX_OUTLOOK)), float(MAX_OUTLOOK))


@inline
def _chance(state, seat, weights):
    """What the chances of a seat to win are in proportion to."""
    own = _standing(state, seat, weights)
    chance = 1.0
    for other in range(state[PLAYERS]):
        if other != seat:
            chance *= share_ahead((own - _standing(state, other, weights)) * _SPREADS_PER_SD / weights[SPREAD])
    return chance


@inner
def _value(state, seat, all_weights):
    """Win share and margin of `seat` after a round; `all_weights` are `WEIGHTS`."""
    if state[PHASE] == PHASE_OVER:
        best = np.int64(-1)
        ties = np.int64(0)
        own = np.int64(0)
        for other in range(state[PLAYERS]):
            player = seat_words(state, other)
            standing = _final_standing(player[SCORE], complete_rows(player[WALL]))
            if other == seat:
                own = standing
            else:
                if standing > best:
                    best, ties = standing, np.int64(0)
                ties += np.int64(standing == best)
        return _judge(own, best, ties)
    weights = round_weights(state, all_weights)
    most = -1.0e9
    chances = 0.0
    for other in range(state[PLAYERS]):
        chances += _chance(state, other, weights)
        if other != seat:
            most = max(most, _standing(state, other, weights))
    win = np.int64(np.floor(WIN_UNIT * _chance(state, seat, weights) / chances + 0.5))
    return win, np.int64(np.floor(POINT_UNIT * (_standing(state, seat, weights) - most) + 0.5))


@kernel
def round_value(state, seat, weights, value):
    """Write what a state in phase deal or over is worth to `seat` into `value` (int64 [2])."""
    value[WIN], value[MARGIN] = _value(words(state), seat, words(weights))


@kernel
def _read(out, players, seat, wins, margins):
    """Win shares and margins of `seat` in the first columns of results."""
    for i in range(len(wins)):
        best = np.int64(-1)
        ties = np.int64(0)
        own = np.int64(0)
        for s in range(players):
            row = OUT_SEATS + s * OUT_SEAT_ROWS
            standing = _final_standing(np.int64(out[row + OUT_SCORE, i]), out[row + OUT_ROWS, i])
            if s == seat:
                own = standing
            else:
                if standing > best:
                    best, ties = standing, np.int64(0)
                ties += np.int64(standing == best)
        win, margin = _judge(own, best, ties)
        wins[i] = win
        margins[i] = margin


def _cut(
    start, run, first_game, slot, seat, weights, wins, margins,
    call, stop, arrays, parameters, memory, f0, f1, f2, f3,
):  # fmt: skip
    start, run, slot, weights = words(start), words(run), words(slot), words(weights)
    for i in range(len(wins)):
        start_game(slot, start, run, first_game + i)
        status = play_on(slot, True, call, stop, arrays, parameters, memory, f0, f1, f2, f3)
        if status != FINISHED:
            call[CALL_DONE] = i
            return status
        wins[i], margins[i] = _value(slot, seat, weights)
    return FINISHED


_CUT_TYPES = (WORDS, WORDS, COUNT, WORDS, COUNT, NUMBERS, RESULTS, RESULTS, *PLAY_ON_TYPES)


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
        Play to the end of the round only, and judge the boards there.
    """

    def __init__(self, policies: Sequence[str], seat: int, seed: int, depth_cut: bool) -> None:
        self.players = Players(policies)
        self.seat = seat
        self.seed = seed
        self.depth_cut = depth_cut
        self.stop = np.zeros(1, np.int64)  # 1: stop
        self._local = threading.local()
        if depth_cut:
            self.run = self.players.run_words(1, 0, seed)
            self.cut = compiled(_cut, _CUT_TYPES)
            _ = self.players.functions  # before threads ask for them

    def known(self, state: np.ndarray) -> np.ndarray | None:
        """What a state is worth where nothing is left to be played, int64 [2]; else None."""
        if state[PHASE] != PHASE_OVER and not (self.depth_cut and state[PHASE] == PHASE_DEAL):
            return None
        value = np.zeros(2, np.int64)
        round_value(state, self.seat, WEIGHTS, value)
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
        arguments = self.players.arguments(self.stop)
        slot = np.zeros(SLOT_WORDS, np.int64)
        status = self.cut(state, self.run, first, slot, self.seat, WEIGHTS, wins, margins, *arguments)
        if status == ILLEGAL:  # played again as a whole game, it stops at the same answer, with a message about it
            game = first + int(arguments[0][CALL_DONE])
            self.players.play(state, 1, 0, self.seed, game, 1, self._results(1), np.zeros(1, np.int64))
        return bool(status == FINISHED)


def successors(state: np.ndarray, actions: Sequence[int]) -> list[np.ndarray]:
    """The states after each of some legal actions; rounds that end are not followed by a deal."""
    states = []
    for action in actions:
        after = state.copy()
        step(after, action)
        states.append(after)
    return states
