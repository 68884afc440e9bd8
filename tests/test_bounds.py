"""Every kernel on every variant, small and quick: what `scripts/test` also runs with ``NUMBA_BOUNDSCHECK=1``.

There each access to an array beyond its end raises an IndexError. Here and there the answers are compared: the batch
and one game played at a time by other kernels give the same results.
"""

import itertools

import numpy as np
import pytest

import azul_fast as az
from azul_fast.batch import describe
from azul_fast.engine.layout import OUT_PLIES, OUT_ROUNDS, OUT_SCORE, OUT_SEAT_ROWS, OUT_SEATS
from azul_fast.trace import trace

VARIANTS = list(itertools.product((2, 3, 4), ("fixed", "free"), ("lid", "removed")))
GAMES = 24
TRACED = 4  # games played again one move at a time


def check(rotate=False, **asked):
    results = []
    found = az.simulate(
        GAMES, rotate=rotate, seed=5, threads=1, on_chunk=lambda _, n, out: results.append(out[:, :n].copy()), **asked
    )
    assert found.tally.games == GAMES
    for number in range(TRACED):
        game = trace(describe(GAMES, rotate=rotate, seed=5, **asked), number)
        column = np.concatenate(results, axis=1)[:, number]
        players = len(game.scores)
        assert list(game.scores) == column[OUT_SEATS + OUT_SCORE :: OUT_SEAT_ROWS][:players].tolist()
        assert game.result()["rounds"] == column[OUT_ROUNDS]
        assert column[OUT_PLIES] > 0


@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
@pytest.mark.parametrize("policies", ["random", "tidy", "greedy", "mixed"])
def test_variants(players, wall, overflow, policies):
    names = ["random", "greedy", "tidy", "greedy"][:players] if policies == "mixed" else policies
    check(rules=az.Rules(players=players, wall=wall, overflow=overflow), policies=names)


def test_rotations():
    check(rules=az.Rules(players=4), policies=["random", "tidy", "greedy", "greedy"], rotate=True)


def test_a_low_cap():
    check(rules=az.Rules(players=3, wall="free", max_rounds=2), policies="random")


def test_policies_that_are_functions():
    check(rules=az.Rules(players=2), policies=["plan", "greedy"], rotate=True)
    check(rules=az.Rules(players=4, wall="free"), policies=["plan", "random", "plan", "tidy"])


@pytest.mark.parametrize("wall", ["fixed", "free"])
def test_perft_and_replay(wall):
    game = az.Game(az.Rules(wall=wall), seed=5)
    assert az.perft(game, 2) == az.perft(game, 2, bulk=False)
    run = describe(1, az.Rules(wall=wall), "random", seed=5)
    assert az.replay(trace(run, 0).record()).result() == trace(run, 0).result()
