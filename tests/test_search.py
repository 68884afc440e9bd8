"""`search`: alpha-beta against plain minimax, legal answers in every variant, and nothing hidden."""

import functools
import random

import playouts
import pytest
from referee import Referee

import azul_fast as az


def value(game, seat):
    """What a finished game is worth to a seat: as much as its score is ahead, and won or lost by that and rows."""
    standing = list(zip(game.scores, game.rows, strict=True))
    other = max(standing[:seat] + standing[seat + 1 :])
    return (standing[seat] > other) - (standing[seat] < other), standing[seat][0] - other[0]


def minimax(game, seat, known):
    """The value for `seat` of the best play of two in a round that ends the game, by the rulebook alone."""
    if game.is_over:
        return value(game, seat)
    text = game.to_text()
    if text not in known:
        values = []
        for move in game.legal_moves():
            after = game.copy()
            after.play(move)
            values.append(minimax(after, seat, known))
        known[text] = max(values) if game.turn == seat else min(values)
    return known[text]


@functools.cache
def late_positions(count):
    """Positions of two players with few moves left in a round that is the last, whatever is played."""
    found = []
    for seed in range(10_000):
        rng = random.Random(seed)
        last_round = rng.randrange(1, 6)
        for game in playouts.playout(2, "fixed", rng.choice(("lid", "removed")), seed, last_round):
            if game.phase == "offer" and game.round == last_round:
                moves = len(game.legal_moves())
                places = sum(len(set(place) - {"*"}) for place in [game.center, *game.factories])
                if moves > 1 and places <= rng.randrange(2, 5):
                    found.append(game.to_text())
                    break
        if len(found) == count:
            return found
    raise AssertionError("too few")


def test_alpha_beta_is_minimax():
    """Every move of `search` keeps the value that the referee's minimax gives the position."""
    for text in late_positions(200):
        referee = Referee.from_text(text)
        known = {}
        best = minimax(referee, referee.turn, known)
        after = referee.copy()
        after.play(az.choose(az.Game.from_text(text, deals="given"), "search:nodes=1000000"))
        assert minimax(after, referee.turn, known) == best, text


@pytest.mark.parametrize(("players", "wall", "overflow"), playouts.VARIANTS)
def test_its_moves_are_legal(players, wall, overflow):
    """An illegal answer stops a game with an error; every variant is played to the end."""
    policies = ["search:nodes=50", "search:depth=2", "greedy", "random"][:players]
    rules = az.Rules(players=players, wall=wall, overflow=overflow)
    assert az.simulate(games=3 * players, rules=rules, policies=policies, seed=5, threads=1, rotate=True)
