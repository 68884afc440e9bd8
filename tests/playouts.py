"""Games played by the slow referee, for tests that need positions of every variant and phase."""

import functools
import itertools
import random

from referee import COLORS, Referee

VARIANTS = list(itertools.product((2, 3, 4), ("fixed", "free"), ("lid", "removed")))
POLICIES = ("random", "tidy", "greedy")

# Nothing is left to deal, so the game ends as exhausted: by player, each row's missing color and the tiles in its line;
# the wall row has the other four.
EXHAUSTED = ("B0 Y0 R2 K2 W1", "Y0 R0 K2 W1 B3", "R0 K0 W1 B0 Y1", "K0 W1 B1 Y3 R2")


def exhausted_boards():
    """The boards of that position as text."""
    boards = []
    for player in EXHAUSTED:
        wall, lines = [], []
        for row, (missing, tiles) in enumerate(player.split()):
            printed = [COLORS[(column - row) % 5] for column in range(5)]
            wall.append("".join("." if color == missing else color for color in printed))
            lines.append(missing + tiles if tiles != "0" else "-")
        boards.append(f"0:{'/'.join(wall)}:{','.join(lines)}:-")
    return ";".join(boards)


def playout(players, wall, overflow, seed, max_rounds=100):
    """Yield the referee before every deal and every event of one game, and at its end; it is always the same object."""
    rng = random.Random(seed)
    policies = [rng.choice(POLICIES) for _ in range(players)]
    game = Referee(players, wall, overflow, max_rounds, first_player=rng.randrange(players))
    while not game.is_over:
        yield game
        if game.phase == "deal":
            game.random_deal(rng)
        else:
            game.play(rng.choice(game.choices(policies[game.turn])))
    yield game


@functools.cache
def met_in_play(games=3):
    """Texts of the positions of some games of every variant, some of them cut short by a low cap."""
    texts = []
    for (players, wall, overflow), seed in itertools.product(VARIANTS, range(games)):
        cap = 100 if seed else 3
        texts += [game.to_text() for game in playout(players, wall, overflow, seed, cap)]
    return tuple(texts)


def record(players, wall, overflow, seed, max_rounds=100):
    """The record of one game, kept by the referee."""
    rng = random.Random(seed)
    policies = [rng.choice(POLICIES) for _ in range(players)]
    game = Referee(players, wall, overflow, max_rounds, first_player=rng.randrange(players))
    first_player, rounds = game.turn, []
    while not game.is_over:
        if game.phase == "deal":
            rounds.append({"deal": ",".join(game.random_deal(rng)), "moves": []})
            if wall == "free":
                rounds[-1]["tiles"] = [[] for _ in range(players)]
        phase, seat = game.phase, game.turn
        move = rng.choice(game.choices(policies[game.turn]))
        game.play(move)
        (rounds[-1]["moves"] if phase == "offer" else rounds[-1]["tiles"][seat]).append(move)
        if game.phase in ("deal", "over"):
            rounds[-1]["scores"] = list(game.round_scores)
    for played in rounds:
        played["moves"] = " ".join(played["moves"])
        if wall == "free":
            played["tiles"] = [" ".join(choices) for choices in played["tiles"]]
    return {
        "format": "azul-record/1",
        "rules": {"players": players, "wall": wall, "overflow": overflow, "max_rounds": max_rounds},
        "first_player": first_player,
        "policies": policies,
        "rounds": rounds,
        "result": game.result(),
    }
