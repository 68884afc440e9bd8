"""Fit the weights of `azul_fast.search.weights` to games that searches play against each other.

    python scripts/fit_search.py [GAMES] [NODES] [SEED]

Both seats of a game of two search with the weights that stand, each term's multiplied by a factor drawn for the batch,
so that boards of many kinds come up. What is fitted, round by round, is the margin still to come after a round's end:
final margin less the difference of points, by the difference of terms; least squares with a ridge towards the weights
that stand. Prints the new weights as the lines of that file. Two such steps of 10,000 games, with 1,000 nodes a move,
made those that are there.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from azul_fast._jit import kernel
from azul_fast.engine.layout import (
    DEAL_KEY,
    FREE_WALL,
    MARKER_FLAG,
    PHASE,
    PHASE_DEAL,
    PHASE_OVER,
    ROUND,
    SCORE,
    STATE_WORDS,
    TURN,
    new_state,
)
from azul_fast.engine.moves import seat_words
from azul_fast.engine.rng import DEALS, stream_key
from azul_fast.engine.rounds import deal
from azul_fast.engine.step import step_inline
from azul_fast.engine.words import section, words
from azul_fast.rules import Rules
from azul_fast.search.alphabeta import MEMORY, best_action, round_weights
from azul_fast.search.evaluation import (
    BOARD_FLOOR_BITS,
    ROUND_CLASSES,
    SPREAD,
    TERMS,
    WORTH_UNIT,
    board_key,
    board_worth,
    points_of,
    worth_of,
)
from azul_fast.search.weights import WEIGHTS

BATCH = 250  # games with the same factors
FACTOR_SD = 0.35  # of the logarithm of a factor
RIDGE = 30.0
SPREAD_PER_SD = 1.25  # `bend` has then the slope of the normal distribution's share of wins
MOST_ROUNDS = 12  # kept of a game
UNIT = 4096.0  # a weight large enough that the rounding of worths does not matter


@kernel
def play(start, seed, games, nodes, weights, memory, states, game_of, margins):
    """Play games, and keep the states after each round; returns how many.

    `weights` are those of seat 0, then of seat 1; `states` [n, STATE_WORDS], `game_of` [n] and `margins` [games] are
    written, margins from seat 0.
    """
    state = start.copy()
    st, mem, both = words(state), words(memory), words(weights)
    kept = 0
    for game in range(games):
        state[:] = start
        memory[:] = 0
        st[DEAL_KEY] = stream_key(seed, game, DEALS)
        while st[PHASE] != PHASE_OVER:
            if st[PHASE] == PHASE_DEAL:
                if 0 < st[ROUND] <= MOST_ROUNDS:
                    states[kept] = state
                    game_of[kept] = game
                    kept += 1
                deal(st)
                continue
            own = section(both, st[TURN] * (ROUND_CLASSES * TERMS), ROUND_CLASSES * TERMS)
            step_inline(
                st, best_action(st, mem, np.int64(len(memory)), round_weights(st, own), nodes, np.int64(0), 0.0)
            )
        margins[game] = seat_words(st, np.int64(0))[SCORE] - seat_words(st, np.int64(1))[SCORE]
    return kept


@kernel
def terms(states, differences, points):
    """Seat 0 less seat 1 after each round: every term, and the points with the bonuses so far."""
    one = np.zeros(TERMS)
    for n in range(len(states)):
        st = words(states[n])
        for seat in range(2):
            player, sign = seat_words(st, np.int64(seat)), 1 - 2 * seat
            key = board_key(player)
            if st[TURN] == seat:
                key |= np.int64(MARKER_FLAG) << BOARD_FLOOR_BITS
            for term in range(SPREAD):
                one[term] = UNIT
                packed = board_worth(player, key, st[FREE_WALL], words(one))
                one[term] = 0.0
                more = worth_of(packed) - points_of(packed) * WORTH_UNIT
                differences[n, term] += sign * more / (WORTH_UNIT * UNIT)
            points[n] += sign * points_of(packed)


def main() -> None:
    games, nodes, seed = (int(a) for a in (sys.argv[1:] + ["10000", "1000", "1"][len(sys.argv) - 1 :]))
    rng = np.random.default_rng(seed)
    memory = np.zeros(MEMORY, np.int64)
    weights = WEIGHTS.reshape(ROUND_CLASSES, TERMS).copy()
    all_states, to_come = [], []
    for batch in range(max(1, games // BATCH)):
        states = np.zeros((BATCH * MOST_ROUNDS, STATE_WORDS), np.int64)
        game_of, margins = np.zeros(len(states), np.int64), np.zeros(BATCH, np.int64)
        factors = np.exp(FACTOR_SD * rng.standard_normal((2, 1, TERMS)))
        factors[..., SPREAD] = 1
        both = (weights * factors).ravel()
        kept = play(new_state(Rules()), seed * 1000 + batch, BATCH, nodes, both, memory, states, game_of, margins)
        all_states.append(states[:kept])
        to_come.append(margins[game_of[:kept]])
    states = np.concatenate(all_states)
    x, points = np.zeros((len(states), TERMS)), np.zeros(len(states), np.int64)
    terms(states, x, points)
    y = np.concatenate(to_come) - points
    for row in range(ROUND_CLASSES):
        here = np.minimum(states[:, ROUND], ROUND_CLASSES) - 1 == row
        scale = x[here, :SPREAD].std(axis=0) + 1e-9
        z, prior = x[here, :SPREAD] / scale, weights[row, :SPREAD] * scale
        fitted = prior + np.linalg.solve(z.T @ z + RIDGE * np.eye(SPREAD), z.T @ (y[here] - z @ prior))
        rest = y[here] - z @ fitted
        print(f"# round {row + 1}: {here.sum()} boards, {y[here].std():.2f} points, {rest.std():.2f} left")
        weights[row, :SPREAD] = fitted / scale
        weights[row, SPREAD] = SPREAD_PER_SD * rest.std()
    for term in range(TERMS):
        print(f"    ({', '.join(f'{value:.3f}' for value in weights[:, term])}),")


if __name__ == "__main__":
    main()
