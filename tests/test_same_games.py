"""Lockstep and the general kernel play the same games: that is what lets either be trusted."""

import itertools

import numpy as np
import playouts
import pytest
from test_lockstep import offers

from azul_fast.engine.layout import (
    FREE_WALL,
    LOST,
    PHASE,
    PHASE_DEAL,
    PHASE_OFFER,
    PLACED,
    PLAYERS,
    PLIES,
    REMOVES,
    RESULT_ROWS,
    ROUND,
    ROUND_PLIES,
    SCORE,
    SHORT,
    new_state,
    seat_word,
)
from azul_fast.engine.lockstep import play_lockstep
from azul_fast.notation import parse_position
from azul_fast.playout import play_general
from azul_fast.policies import RANDOM
from azul_fast.rules import MAX_SEED, Rules

PLAYER_COUNTS = (2, 3, 4)
GAMES = 20_000


def compare(start, players, games, rotations=1, first_rotates=0, seed=1, first_game=0):
    """Every row of every game, and what neither may touch."""
    ours, theirs = (np.full((RESULT_ROWS, games + 16), -7, np.int32) for _ in range(2))
    play_lockstep(start, rotations, first_rotates, seed, first_game, games, ours)
    policies = np.full(players, RANDOM)
    play_general(start, policies, rotations, first_rotates, seed, first_game, games, theirs)
    np.testing.assert_array_equal(ours, theirs)
    return ours[:, :games]


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("first_rotates", [0, 1])
@pytest.mark.parametrize("rotated", [False, True])
def test_games_from_the_first_deal_on(players, first_rotates, rotated):
    for seed, first_game in ((0, 0), (1, 12_345), (MAX_SEED, 10**15)):
        rotations = players if rotated else 1
        compare(new_state(Rules(players=players)), players, GAMES, rotations, first_rotates, seed, first_game)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_any_first_player_and_any_cap(players):
    for first_player, cap in itertools.product(range(players), (1, 3, 7)):
        rules = Rules(players=players, max_rounds=cap)
        results = compare(new_state(rules, first_player), players, 2000, first_game=77)
        assert results[0].max() <= cap


@pytest.mark.parametrize("phase", [PHASE_DEAL, PHASE_OFFER])
def test_positions_met_in_play(phase):
    """Between rounds and within them, after games of any policies."""
    starts = [parse_position(text) for text in playouts.met_in_play() if " over-" not in text]
    starts = [s for s in starts if s[PHASE] == phase and not s[FREE_WALL] and not s[REMOVES]]
    assert len(starts) > 20
    for start in starts:
        players = int(start[PLAYERS])
        compare(start, players, 100, rotations=players)
        if phase == PHASE_DEAL and start[ROUND] == 0:
            compare(start, players, 100, first_rotates=1)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_middle_of_every_round_of_a_game(players):
    for text in offers(players, seed=8):
        compare(parse_position(text), players, 300, seed=3, first_game=500)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_what_a_state_has_counted_goes_on(players):
    """Plies, points and short deals counted before the run; the moves go on with the next draw of the round."""
    for text in offers(players, seed=9)[2::20]:
        start = parse_position(text)
        start[PLIES], start[ROUND_PLIES], start[SHORT] = 40, 5, 1
        for seat in range(players):
            p = seat_word(seat)
            start[p + SCORE], start[p + PLACED], start[p + LOST] = 10 + seat, 20 + seat, 3 * seat
        results = compare(start, players, 500)
        assert results[1].min() > 45
        assert (results[3] == 1).all()
