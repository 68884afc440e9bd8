"""Counting finished games into statistics: the cost that every game has beside being played."""

import numpy as np
import pytest

from azul_fast.engine.layout import OUT_PLIES, OUT_SCORE, OUT_SEAT_ROWS, OUT_SEATS, OUT_WALL, RESULT_ROWS, new_state
from azul_fast.playout import play_games
from azul_fast.rules import Rules
from azul_fast.tally import Seating, Tally

GAMES = 4096


@pytest.mark.parametrize("rotations", [1, 4])
def test_tally(benchmark, rotations):
    out = np.zeros((RESULT_ROWS, GAMES + 64), np.int32)
    play_games(new_state(Rules(players=4)), np.zeros(4, np.int64), rotations, 0, 1, 0, GAMES, out)
    seating = Seating(policies=(0, 0, 0, 0), rotations=rotations)
    tally = benchmark.pedantic(Tally.of, (out, GAMES, seating), rounds=20, warmup_rounds=2)
    results = out[:, :GAMES].astype(np.int64)
    plies = results[OUT_PLIES].reshape(-1, rotations).sum(axis=1)
    assert tally.moment("game", "plies") == (plies.sum(), (plies**2).sum())
    for seat in range(4):
        scores, walls = (results[OUT_SEATS + seat * OUT_SEAT_ROWS + row] for row in (OUT_SCORE, OUT_WALL))
        samples = scores.reshape(-1, rotations).sum(axis=1)
        assert tally.moment(seat, "score") == (samples.sum(), (samples**2).sum())
        filled = [(walls >> cell & 1).sum() for cell in range(25)]
        assert tally.walls[:, seat].sum(axis=0).tolist() == filled
