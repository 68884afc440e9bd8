"""Chance is fair: deals, moves and gray-wall columns are as uniform as the rules say, by chi-square tests.

All seeds are fixed, so a test that passes passes always; with other seeds each would fail once in a million times.
"""

from __future__ import annotations

import math
from collections import Counter
from statistics import NormalDist

import numpy as np
import pytest

from azul_fast._jit import inner
from azul_fast.engine import layout
from azul_fast.engine.layout import OFFER
from azul_fast.engine.rng import DEALS, stream_key
from azul_fast.engine.rounds import deal
from azul_fast.engine.step import ACTION_COUNT, legal_actions
from azul_fast.notation import format_move, parse_position
from azul_fast.playout import choose
from azul_fast.policies import POLICIES
from azul_fast.rules import COLOR_COUNT, Rules

FALSE_ALARM = 1e-6


def chi_square_limit(degrees: int) -> float:
    """The value that chi-square exceeds with probability FALSE_ALARM (Wilson and Hilferty, 1931)."""
    z = NormalDist().inv_cdf(1 - FALSE_ALARM)
    return degrees * (1 - 2 / (9 * degrees) + z * math.sqrt(2 / (9 * degrees))) ** 3


def assert_fits(counts: np.ndarray, expected: np.ndarray) -> None:
    """`counts` are a sample of `expected`, and not suspiciously close to it either."""
    assert counts.sum() == pytest.approx(expected.sum())
    value = float(((counts - expected) ** 2 / expected).sum())
    degrees = len(counts) - 1
    assert value < chi_square_limit(degrees), (value, degrees)
    assert value > 1e-4 * degrees, "too good to be chance"


@inner
def _first_deals(start, seed, games, offers):
    state = start.copy()
    for game in range(games):
        state[:] = start
        state[layout.DEAL_KEY] = stream_key(seed, game, DEALS)
        deal(state)
        for source in range(offers.shape[1]):
            for color in range(COLOR_COUNT):
                offers[game, source, color] = (state[OFFER + source] >> 8 * color) & 0xFF


def first_deals(players: int, games: int, seed: int = 1) -> np.ndarray:
    """Tiles of the first round's factories: [games, factories, colors]."""
    rules = Rules(players=players)
    offers = np.zeros((games, rules.factories + 1, COLOR_COUNT), np.int64)
    _first_deals(layout.new_state(rules), seed, games, offers)
    assert (offers[:, 0] == 0).all()
    return offers[:, 1:]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_factories_show_distinct_colors_by_the_law(players: int) -> None:
    """Distinct colors on a factory from a full bag: 1: .00618, 2: .20835, 3: .58145, 4: .20402."""
    first = first_deals(players, 200_000)[:, 0]
    ways = math.comb(100, 4)
    law = {
        1: 5 * math.comb(20, 4) / ways,
        2: math.comb(5, 2) * (math.comb(40, 4) - 2 * math.comb(20, 4)) / ways,
        4: 5 * 20**4 / ways,
    }
    law[3] = 1 - sum(law.values())
    assert [round(law[k], 5) for k in (1, 2, 3, 4)] == [0.00618, 0.20835, 0.58145, 0.20402]
    counts = np.bincount((first > 0).sum(axis=1), minlength=5)[1:]
    assert_fits(counts, np.array([law[k] for k in (1, 2, 3, 4)]) * len(first))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_color_is_as_likely_on_every_factory(players: int) -> None:
    """The k-th factory of a deal is no different from the first: its number of tiles of a color is hypergeometric."""
    offers = first_deals(players, 100_000, seed=2)
    ways = math.comb(100, 4)
    law = np.array([math.comb(20, k) * math.comb(80, 4 - k) / ways for k in range(5)])
    for factory in range(offers.shape[1]):
        for color in range(COLOR_COUNT):
            assert_fits(np.bincount(offers[:, factory, color], minlength=5), law * len(offers))


def test_factories_of_a_deal_do_not_depend_on_each_other() -> None:
    """Tiles of a color on factories 1 and 5 together: one draw of 8 without replacement."""
    offers = first_deals(2, 400_000, seed=3)
    ways = math.comb(100, 8)
    law = np.array([math.comb(20, k) * math.comb(80, 8 - k) / ways for k in range(9)])
    together = np.bincount(offers[:, 0, 0] + offers[:, 4, 0], minlength=9).astype(float)
    expected = law * len(offers)
    keep = expected > 5
    assert_fits(np.append(together[keep], together[~keep].sum()), np.append(expected[keep], expected[~keep].sum()))


POSITIONS = {
    "first turn": (
        "azul1 c2 BBRK,YYWW,BYRK,RRRW,BKKW * 0:...../...../...../...../.....:-,-,-,-,-:-;"
        "0:...../...../...../...../.....:-,-,-,-,-:- b16.17.15.16.16 l0.0.0.0.0 t0 s0 r1 offer"
    ),
    "lines begun": (
        "azul1 c2 -,YYWW,-,RRRW,- *BBKK 0:...../...../...../...../.....:B1,Y1,-,K2,-:-;"
        "0:...../...../...../...../.....:-,-,-,-,W5:R b? l0.0.0.0.0 t0 s0 r1 offer"
    ),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_random_moves_are_uniform(name: str) -> None:
    """Every legal move of a position has the same chance, over the games of a batch."""
    state = parse_position(POSITIONS[name])
    games = 60_000
    counts = Counter(choose(state, POLICIES.index("random"), 5, game) for game in range(games))
    mask = np.zeros(ACTION_COUNT, np.uint8)
    assert legal_actions(state, mask) > 1
    legal = np.flatnonzero(mask)
    assert set(counts) <= set(legal.tolist())
    assert_fits(np.array([counts[action] for action in legal.tolist()]), np.full(len(legal), games / len(legal)))


# Seat 0's line 1 holds blue; its wall row 1 is empty, no column holds blue: five columns are open.
GRAY = (
    "azul1 g2 -,-,-,-,- - 0:...../...../...../...../.....:B1,-,-,-,-:-;0:...../...../...../...../.....:-,-,-,-,-:* "
    "b? l0.0.0.0.0 t0 s0 r1 tile"
)


def test_random_gray_columns_are_uniform() -> None:
    state = parse_position(GRAY)
    games = 60_000
    counts = Counter(choose(state, POLICIES.index("random"), 6, game) for game in range(games))
    moves = {format_move(action): count for action, count in counts.items()}
    assert sorted(moves) == ["1=1", "1=2", "1=3", "1=4", "1=5"]
    assert_fits(np.array(list(moves.values())), np.full(5, games / 5))


@pytest.mark.parametrize("policy", ["tidy", "greedy"])
def test_ties_of_gray_columns_are_uniform(policy: str) -> None:
    """On an empty wall every column scores 1: tidy and greedy choose each as often."""
    state = parse_position(GRAY)
    games = 60_000
    counts = Counter(choose(state, POLICIES.index(policy), 7, game) for game in range(games))
    assert len(counts) == 5
    assert_fits(np.array(list(counts.values())), np.full(5, games / 5))
