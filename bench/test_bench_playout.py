"""Whole games: every policy and wall through the general kernel, and random games through the engine that is chosen.

The answer asserted is the one timed: where C++ statistics of the same game exist, the mean score of every seat agrees
with them; everywhere the games are, column by column, those that single calls play one at a time.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from azul_fast.engine.layout import OUT_END, OUT_PLIES, OUT_SCORE, OUT_SEAT_ROWS, OUT_SEATS, RESULT_ROWS, new_state
from azul_fast.playout import play_games, play_general
from azul_fast.policies import POLICIES
from azul_fast.rules import Rules

GAMES = 4096
SEED = 7
STANDARD_ERRORS = 5
SAMPLED = 16  # games played again one at a time


def reference(policy, players):
    """Mean and standard deviation of each seat's score in bench/native/reference.txt."""
    text = (Path(__file__).parent / "native" / "reference.txt").read_text()
    block = re.search(rf"np={players} {policy} .*?(?=\n\S|\Z)", text, re.DOTALL)[0]
    found = re.findall(r"seat \d: score ([\d.]+) \+- [\d.]+  sd ([\d.]+)", block)
    assert len(found) == players
    return np.array(found, float).T


def arguments(players, policy, wall, first, count, out):
    ids = np.full(players, POLICIES.index(policy), np.int64)
    return new_state(Rules(players=players, wall=wall)), ids, 1, 0, SEED, first, count, out


def check(players, policy, wall, out):
    out = out[:, :GAMES]
    if wall == "fixed" and policy != "tidy":
        scores = out[OUT_SEATS + OUT_SCORE :: OUT_SEAT_ROWS][:players]
        mean, deviation = reference(policy, players)
        assert np.all(np.abs(scores.mean(axis=1) - mean) < STANDARD_ERRORS * deviation / GAMES**0.5)
    assert np.all((out[OUT_END] >= 1) & (out[OUT_PLIES] > 0))
    for game in range(0, GAMES, GAMES // SAMPLED):
        alone = np.zeros((RESULT_ROWS, 64), np.int32)
        play_general(*arguments(players, policy, wall, game, 1, alone))
        assert alone[:, 0].tolist() == out[:, game].tolist()


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(("policy", "wall"), [(p, w) for w in ("fixed", "free") for p in POLICIES])
def test_general_kernel(benchmark, players, policy, wall):
    out = np.zeros((RESULT_ROWS, GAMES + 64), np.int32)
    given = arguments(players, policy, wall, 0, GAMES, out)
    benchmark.pedantic(play_general, given, rounds=10, warmup_rounds=2)
    benchmark.extra_info["plies"] = int(out[OUT_PLIES, :GAMES].sum())
    check(players, policy, wall, out)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games(benchmark, players):
    out = np.zeros((RESULT_ROWS, GAMES + 64), np.int32)
    given = arguments(players, "random", "fixed", 0, GAMES, out)
    benchmark.pedantic(play_games, given, rounds=10, warmup_rounds=2)
    benchmark.extra_info["plies"] = int(out[OUT_PLIES, :GAMES].sum())
    check(players, "random", "fixed", out)
