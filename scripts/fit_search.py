"""Fit the weights of `azul_fast.search.weights` to games that searches play against each other.

    python scripts/fit_search.py [PLAYERS] [WALL] [GAMES] [NODES] [SEED]

All seats search with the weights that stand, each seat's terms multiplied by factors drawn for the batch, so that
boards of many kinds come up. What is fitted, round by round, is the margin still to come after a round's end, between
every two seats: final margin less the difference of points, by the difference of terms; least squares with a ridge
towards the weights that stand. Prints the new weights as the lines of that file.
"""

from __future__ import annotations

import sys
from itertools import combinations
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
    PHASE_TILE,
    PLAYERS,
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
from azul_fast.search.alphabeta import MEMORY, best_action, best_choice, round_weights
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
def play(start, seed, games, nodes, weights, memory, states, game_of, scores):
    """Play games, and keep the states after each round; returns how many.

    `weights` [seat, as `WEIGHTS`]; `states` [n, STATE_WORDS], `game_of` [n] and `scores` [games, seat] are written.
    """
    state = start.copy()
    st, mem, all_weights = words(state), words(memory), words(weights)
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
            own = round_weights(st, section(all_weights, st[TURN] * weights.shape[1], weights.shape[1]))
            if st[PHASE] == PHASE_TILE:
                step_inline(st, best_choice(st, own))
            else:
                step_inline(st, best_action(st, mem, np.int64(len(memory)), own, nodes, np.int64(0), 0.0))
        for seat in range(st[PLAYERS]):
            scores[game, seat] = seat_words(st, np.int64(seat))[SCORE]
    return kept


@kernel
def terms(states, of_seat, points):
    """After each round, for each seat [n, seat]: every term, and the points with the bonuses so far."""
    one = np.zeros(TERMS)
    for n in range(len(states)):
        st = words(states[n])
        for seat in range(st[PLAYERS]):
            player = seat_words(st, np.int64(seat))
            key = board_key(player)
            if st[TURN] == seat:
                key |= np.int64(MARKER_FLAG) << BOARD_FLOOR_BITS
            for term in range(SPREAD):
                one[term] = UNIT
                packed = board_worth(player, key, st[FREE_WALL], words(one))
                one[term] = 0.0
                more = worth_of(packed) - points_of(packed) * WORTH_UNIT
                of_seat[n, seat, term] = more / (WORTH_UNIT * UNIT)
            points[n, seat] = points_of(packed)


def main() -> None:
    given = sys.argv[1:]
    players, wall, games, nodes, seed = given + ["2", "fixed", "10000", "1000", "1"][len(given) :]
    start = new_state(Rules(players=int(players), wall=wall))
    seats, batches = int(players), max(1, int(games) // BATCH)
    rng = np.random.default_rng(int(seed))
    memory = np.zeros(MEMORY, np.int64)
    table = 2 * (seats - 2) + int(start[FREE_WALL])
    all_weights = WEIGHTS.reshape(-1, ROUND_CLASSES, TERMS)
    weights = all_weights[table].copy()
    all_states, all_scores = [], []
    for batch in range(batches):
        states = np.zeros((BATCH * MOST_ROUNDS, STATE_WORDS), np.int64)
        game_of, scores = np.zeros(len(states), np.int64), np.zeros((BATCH, seats), np.int64)
        factors = np.exp(FACTOR_SD * rng.standard_normal((seats, 1, 1, TERMS)))
        factors[..., SPREAD] = 1
        drawn = (all_weights * factors).reshape(seats, -1)
        kept = play(start, int(seed) * 1000 + batch, BATCH, int(nodes), drawn, memory, states, game_of, scores)
        all_states.append(states[:kept])
        all_scores.append(scores[game_of[:kept]])
    states = np.concatenate(all_states)
    x, points = np.zeros((len(states), seats, TERMS)), np.zeros((len(states), seats), np.int64)
    terms(states, x, points)
    to_come = np.concatenate(all_scores) - points
    rounds = np.minimum(states[:, ROUND], ROUND_CLASSES) - 1
    for row in range(ROUND_CLASSES):
        here = rounds == row
        dx = np.concatenate([x[here, i, :SPREAD] - x[here, j, :SPREAD] for i, j in combinations(range(seats), 2)])
        y = np.concatenate([to_come[here, i] - to_come[here, j] for i, j in combinations(range(seats), 2)])
        scale = dx.std(axis=0) + 1e-9
        z, prior = dx / scale, weights[row, :SPREAD] * scale
        fitted = prior + np.linalg.solve(z.T @ z + RIDGE * np.eye(SPREAD), z.T @ (y - z @ prior))
        rest = y - z @ fitted
        print(f"# round {row + 1}: {here.sum()} tables, {y.std():.2f} points between two, {rest.std():.2f} left")
        weights[row, :SPREAD] = fitted / scale
        weights[row, SPREAD] = SPREAD_PER_SD * rest.std()
    for term in range(TERMS):
        print(f"    ({', '.join(f'{value:.3f}' for value in weights[:, term])}),")


if __name__ == "__main__":
    main()
