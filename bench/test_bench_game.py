"""One game in Python: a whole game move by move, its replay from a record, and positions as text."""

import random

from azul_fast.game import Game
from azul_fast.records import replay
from azul_fast.rules import Rules


def play():
    """A game of random legal moves, dealt by the stream of seed 1."""
    rng = random.Random(1)
    game = Game(Rules(players=2), seed=1, game=0)
    while not game.is_over:
        game.play(rng.choice(game.legal_moves()))
    return game


def test_a_game_move_by_move(benchmark):
    game = benchmark.pedantic(play, rounds=20, warmup_rounds=2)
    benchmark.extra_info["plies"] = len(game.history)
    record = game.record()
    assert record["result"]["scores"] == replay(record).scores


def test_replay_of_a_record(benchmark):
    game = play()
    found = benchmark.pedantic(replay, (game.record(),), rounds=20, warmup_rounds=2)
    assert found.to_text() == game.to_text()


def test_positions_as_text(benchmark):
    game = Game(Rules(players=4), seed=1, game=0)
    texts = [game.to_text()]
    while not game.is_over and len(texts) < 50:
        game.play(game.legal_moves()[0])
        texts.append(game.to_text())
    found = benchmark.pedantic(
        lambda: [Game.from_text(text, deals="given").to_text() for text in texts], rounds=5, warmup_rounds=1
    )
    assert found == texts
