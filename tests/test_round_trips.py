"""Round trips and legal moves for all positions of many games of every variant.

``AZUL_FAST_POSITIONS=500000`` asks for so many positions; without it there are enough for every day.
"""

import itertools
import json
import os
import random

import numpy as np
import pytest

from azul_fast.batch import describe
from azul_fast.engine.layout import (
    CHOICES,
    DEAL_KEY,
    LOST,
    PLACED,
    PLIES,
    POLICY_KEY,
    ROUND_PLIES,
    SHORT,
    STREAM,
    seat_word,
)
from azul_fast.errors import AzulError
from azul_fast.game import Game
from azul_fast.records import dumps, replay
from azul_fast.rules import Rules
from azul_fast.trace import labels, trace

VARIANTS = list(itertools.product((2, 3, 4), ("fixed", "free"), ("lid", "removed")))
POSITIONS = int(os.environ.get("AZUL_FAST_POSITIONS", "12000")) // len(VARIANTS)  # of each variant
MIXES = ("random", "greedy", "tidy", "mixed")
COLORS = "BYRKW"
# what a position text does not hold: streams, and what is counted since the state was set up
NOT_IN_TEXT = [DEAL_KEY, POLICY_KEY, STREAM, PLIES, ROUND_PLIES, CHOICES, SHORT]
NOT_IN_TEXT += [seat_word(seat) + word for seat in range(4) for word in (PLACED, LOST)]


def games(players, wall, overflow, seed):
    """Finished games of one variant with `POSITIONS` positions in all, some of them cut short by a low cap."""
    left = POSITIONS
    for number in itertools.count():
        mix = MIXES[number % len(MIXES)]
        seats = random.Random(number).choices(MIXES[:3], k=players) if mix == "mixed" else mix
        rules = Rules(players=players, wall=wall, overflow=overflow, max_rounds=3 if number % 9 == 8 else 100)
        run = describe(number + 1, rules, seats, seed=seed, first_player="rotate")
        game = trace(run, number)
        left -= len(game.history) + 1
        yield run, number, game
        if left <= 0:
            return


def positions(game):
    """The game at each of its positions, the last one first; always the same object."""
    while True:
        yield game
        try:
            game.undo()
        except AzulError:
            return


@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
def test_text_to_game_to_text(players, wall, overflow):
    """A text read is the same text and the same state again, in every word that a text can hold."""
    for _, _, finished in games(players, wall, overflow, seed=1):
        for game in positions(finished):
            text = game.to_text()
            again = Game.from_text(text, deals="given")
            assert again.to_text() == text
            state, fresh = game.state, again.state
            state[NOT_IN_TEXT] = fresh[NOT_IN_TEXT] = 0
            assert np.array_equal(state, fresh), text


@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
def test_record_to_replay_to_record(players, wall, overflow):
    """Every game's record replays to the same record; and so does JSON of the game, kept at some place within it."""
    for run, number, game in games(players, wall, overflow, seed=2):
        record = game.record(**labels(run, number))
        assert replay(dumps(record)).record() == record
        stop = number % len(game.history)
        for kept in (game, next(itertools.islice(positions(game.copy()), stop, None))):
            data = kept.to_dict()
            again = Game.from_dict(json.loads(json.dumps(data)))
            assert again.to_dict() == data and np.array_equal(again.state, kept.state)


# ---------------------------------------------------------------------------------------------------------- legal moves
def is_allowed(position, action):
    """Whether the rules allow an action, of all that have a number; from what lies on the table alone."""
    if action >= 300:
        return position.phase == "tile" and is_allowed_choice(position, *divmod(action - 300, 6))
    source, rest = divmod(action, 30)
    color, line = divmod(rest, 6)
    if position.phase != "offer" or source > len(position.factories):
        return False
    tile = COLORS[color]
    if tile not in (position.center if source == 0 else position.factories[source - 1]):
        return False
    if line == 5:
        return True
    board = position.boards[position.turn]
    on_line = board.lines[line]
    return len(on_line) <= line and on_line.strip(tile) == "" and tile not in board.wall[line]


def is_allowed_choice(position, row, column):
    """Whether the first full line, of the first seat that has one, is that of `row`, and may go to `column`."""
    full = [
        (seat, line)
        for seat, board in enumerate(position.boards)
        for line in range(5)
        if len(board.lines[line]) == line + 1
    ]
    seat, line = full[0]
    if row != line:
        return False
    board = position.boards[seat]
    tile = board.lines[line][0]
    columns = [c for c in range(5) if board.wall[line][c] == "." and tile not in [cells[c] for cells in board.wall]]
    return column in columns if column < 5 else not columns


@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
def test_legal_moves_are_what_the_rules_allow(players, wall, overflow):
    """At every step, over all actions there are."""
    for _, _, finished in games(players, wall, overflow, seed=3):
        for game in positions(finished):
            position = game.position
            allowed = [is_allowed(position, action) for action in range(330)]
            mask = game.legal_mask().tolist()
            assert mask == allowed[: len(mask)] and not any(allowed[len(mask) :]), game.to_text()
            assert any(mask) == (game.phase in ("offer", "tile"))
