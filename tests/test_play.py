"""What the kernels play, judged move by move by the referee: legal moves, choice sets, positions, scores, results."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from referee import Referee, replay

from azul_fast._jit import inner
from azul_fast.batch import describe
from azul_fast.engine import layout
from azul_fast.engine.bits import trailing_zeros
from azul_fast.engine.layout import PHASE, PHASE_TILE, TURN
from azul_fast.engine.moves import seat_words
from azul_fast.engine.rounds import full_lines, open_columns
from azul_fast.engine.step import SOURCE_ACTIONS, TILE_ACTIONS
from azul_fast.notation import format_move, format_position, parse_position
from azul_fast.playout import play_general, policy_column, policy_move
from azul_fast.policies import GREEDY, POLICIES, TIDY
from azul_fast.policies.greedy import greedy_worths
from azul_fast.policies.tidy import tidy_worths
from azul_fast.policies.worths import SEAT_WORTHS
from azul_fast.rules import DESTINATION_COUNT, Rules
from azul_fast.trace import records, trace

VARIANTS = list(itertools.product((2, 3, 4), ("fixed", "free"), ("lid", "removed")))
MIXES = {name: (name,) * 4 for name in POLICIES} | {"mixed": ("random", "greedy", "tidy", "greedy")}


@inner
def _choices(state, policy, count, actions):
    """The actions that `policy` takes for `count` words spread evenly over their 24 bits."""
    player = seat_words(state, state[TURN])
    worths = np.zeros(SEAT_WORTHS, np.int64)
    if policy == GREEDY:
        greedy_worths(state, player, worths)
    elif policy == TIDY:
        tidy_worths(player, worths)
    for i in range(count):
        word = ((2 * i + 1) << 23) // count
        if state[PHASE] == PHASE_TILE:
            line = trailing_zeros(full_lines(player)) >> 3
            column = policy_column(player, line, open_columns(player, line), policy, word)
            actions[i] = TILE_ACTIONS + line * DESTINATION_COUNT + column
        else:
            line, color, source = policy_move(state, player, policy, worths, word)
            actions[i] = source * SOURCE_ACTIONS + color * DESTINATION_COUNT + line


def choices(state: np.ndarray, policy: str, count: int) -> list[str]:
    """What `policy` plays in `state` for words in the middle of `count` equal parts of their range."""
    actions = np.zeros(count, np.int64)
    _choices(state, POLICIES.index(policy), count, actions)
    return [format_move(int(action)) for action in actions]


def seats(policies: tuple[str, ...], players: int) -> list[str]:
    return list(policies[:players])


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
def test_records_replay_under_the_referee(players: int, wall: str, overflow: str, mix: str) -> None:
    """Every position, legal-move list, choice set and score of whole games is the referee's own."""
    run = describe(
        2,
        Rules(players=players, wall=wall, overflow=overflow),
        seats(MIXES[mix], players),
        seed=7,
        first_player="rotate",
    )
    for record in records(run, 0, run.games):
        assert record["policies"] == list(run.policies)
        for game, move in replay(record):
            state = parse_position(game.to_text())
            assert format_position(state) == game.to_text()
            legal = game.legal_moves()
            assert move in legal
            assert move in game.choices(record["policies"][game.turn])
            if move.endswith("=F"):  # no column is open: there is nothing to choose
                continue
            for policy in POLICIES:
                wanted = game.choices(policy)
                found = choices(state, policy, len(wanted))
                assert sorted(found) == sorted(wanted), (policy, game.to_text())


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
def test_batch_results_are_those_of_the_records(players: int, wall: str, overflow: str, mix: str) -> None:
    """The kernel that interleaves games writes what one game at a time comes to, in every row of its results."""
    rules = Rules(players=players, wall=wall, overflow=overflow)
    run = describe(4 * players, rules, seats(MIXES[mix], players), seed=8, rotate=True, first_player=1)
    out = play(run)
    for number in range(run.games):
        game = trace(run, number)
        referee = Referee(players=players, wall=wall, overflow=overflow, first_player=1)
        for event in game.history:
            if "," in event:
                referee.deal(event)
            else:
                referee.play(event)
        result = referee.result()
        assert game.result() == result
        assert out[layout.OUT_ROUNDS, number] == result["rounds"]
        assert out[layout.OUT_PLIES, number] == referee.plies
        assert out[layout.OUT_END, number] == ("row", "exhausted", "stalled").index(result["end"]) + 1
        assert out[layout.OUT_SHORT, number] == referee.short_deal
        for seat in range(players):
            row = layout.OUT_SEATS + seat * layout.OUT_SEAT_ROWS
            wall_bits = sum(1 << 5 * r + c for r in range(5) for c in range(5) if game.boards[seat].wall[r][c] != ".")
            assert list(out[row : row + layout.OUT_SEAT_ROWS, number]) == [
                result["scores"][seat],
                referee.placement_points[seat],
                referee.floor_points[seat],
                referee.rows[seat],
                referee.columns[seat],
                referee.colors[seat],
                wall_bits,
            ]


def play(run) -> np.ndarray:
    """The results of a run by the general kernel: int32 [RESULT_ROWS, games]."""
    out = np.zeros((layout.RESULT_ROWS, run.games), np.int32)
    policies = np.array([POLICIES.index(policy) for policy in run.policies])
    play_general(
        run.start_state(),
        policies,
        run.rotations,
        int(run.first_player == "rotate"),
        run.seed,
        run.first_game,
        run.games,
        out,
    )
    return out
