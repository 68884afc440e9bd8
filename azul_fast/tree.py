"""The tree of legal moves within a round, counted: perft, the test that move generators are compared by.

Once a round is dealt nothing is left to chance, so the number of ways to play its next moves is a fact about the
position. A leaf is a line of play of the depth asked for, or a shorter one that ends the round; a choice of a gray-wall
column is a move like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from azul_fast._jit import inline, kernel
from azul_fast.engine.bits import popcount, trailing_zeros
from azul_fast.engine.layout import (
    LINE_PAIRS,
    PAIRS,
    PHASE,
    PHASE_DEAL,
    PHASE_OFFER,
    PHASE_OVER,
    PLAYER_WORDS,
    PLAYERS,
    SEATS,
    STATE_WORDS,
    TURN,
)
from azul_fast.engine.moves import seat_words
from azul_fast.engine.rounds import full_lines, open_columns
from azul_fast.engine.step import SOURCE_ACTIONS, TILE_ACTIONS, legal_actions, step, step_inline
from azul_fast.engine.words import section, words
from azul_fast.errors import AzulError, shown
from azul_fast.game import Game
from azul_fast.notation import ACTION_COUNT, format_move
from azul_fast.position import Position, parse_position
from azul_fast.rules import (
    DESTINATION_COUNT,
    FACTORY_TILES,
    FLOOR,
    LINE_COUNT,
    MAX_FACTORIES,
    MAX_PLAYERS,
    SOURCE_COUNT,
)

MAX_DEPTH = FACTORY_TILES * MAX_FACTORIES + LINE_COUNT * MAX_PLAYERS  # 56: no round has more moves and choices
MOVES_A_CALL = 1 << 23  # of the kernel, about 0.1 s, so that Ctrl-C is heard

# A node on the stack: its state, and the moves from there that are still to be made.
NODE_MOVES = STATE_WORDS  # [6] by line: the bits of PAIRS that may go there; in phase tile by row: the columns
NODE_LINE = NODE_MOVES + DESTINATION_COUNT  # the first line with moves left
NODE_WORDS = NODE_LINE + 1

# How far a count has come, in words.
LEVEL, LEAVES, MOVES = range(3)  # the depth of the node at hand, -1 at the end; leaves found; moves made
PROGRESS_WORDS = 3


class Count(NamedTuple):
    """What a count found, and how many moves it made on the way."""

    leaves: int
    moves: int


@inline
def _open_node(node):
    """List the moves of a node whose state is set."""
    player = seat_words(node, node[TURN])
    if node[PHASE] == PHASE_OFFER:
        for line in range(DESTINATION_COUNT):
            node[NODE_MOVES + line] = node[PAIRS] & player[LINE_PAIRS + line]
    else:
        for line in range(DESTINATION_COUNT):
            node[NODE_MOVES + line] = 0
        row = trailing_zeros(full_lines(player)) >> 3
        columns = open_columns(player, row)
        node[NODE_MOVES + row] = columns if columns != 0 else 1 << FLOOR
    node[NODE_LINE] = 0


@inline
def _count_moves(node):
    """How many moves an opened node has."""
    count = np.int64(0)
    for line in range(DESTINATION_COUNT):
        count += popcount(node[NODE_MOVES + line])
    return count


@kernel
def _open_root(stack):
    """Open the first node of the stack; returns how many moves it has."""
    root = words(stack)
    _open_node(root)
    return _count_moves(root)


@kernel
def _go_on(stack, progress, depth, bulk, budget):
    """Count on from where `progress` and `stack` are, to the end or until `budget` more moves have been made."""
    stack, progress = words(stack), words(progress)
    level, leaves, moves = progress[LEVEL], progress[LEAVES], np.int64(0)
    last = depth - 1 - bulk  # the level whose moves lead to leaves or, with bulk, to nodes whose moves are only counted
    used = SEATS + section(stack, 0, NODE_WORDS)[PLAYERS] * PLAYER_WORDS
    while level >= 0 and moves < budget:
        node = section(stack, level * NODE_WORDS, NODE_WORDS)
        line = node[NODE_LINE]
        left = node[NODE_MOVES + line]
        if left == 0:
            if line == FLOOR:
                level -= 1
            else:
                node[NODE_LINE] = line + 1
            continue
        node[NODE_MOVES + line] = left & (left - 1)
        bit = np.int64(trailing_zeros(left))
        if node[PHASE] == PHASE_OFFER:
            color = bit // SOURCE_COUNT
            action = (bit - color * SOURCE_COUNT) * SOURCE_ACTIONS + color * DESTINATION_COUNT + line
        else:
            action = TILE_ACTIONS + line * DESTINATION_COUNT + bit
        child = section(stack, (level + 1) * NODE_WORDS, NODE_WORDS)
        for i in range(used):
            child[i] = node[i]
        step_inline(child, action)
        moves += 1
        if child[PHASE] == PHASE_DEAL or child[PHASE] == PHASE_OVER:
            leaves += 1
        elif level < last:
            _open_node(child)
            level += 1
        elif bulk:
            _open_node(child)
            leaves += _count_moves(child)
        else:
            leaves += 1
    progress[LEVEL], progress[LEAVES] = level, leaves
    progress[MOVES] += moves


# ------------------------------------------------------------------------------------------------------ for everybody
def perft(game: Game | Position | str, depth: int, *, bulk: bool = True) -> int:
    """The number of leaves of the tree of legal moves, `depth` moves deep, within the round.

    Parameters
    ----------
    game : Game, Position or str
        Where the tree begins, in phase ``offer`` or ``tile``; a text is a position.
    depth : int
        0 to 56, more than any round has moves and choices. 0 has one leaf: the position itself.
    bulk : bool
        Whether the moves before the leaves are counted without being made; slower without, and the same number.

    Raises
    ------
    AzulError
        For any other depth, and where there is nothing to count: the game is over, or the round is not dealt.

    Examples
    --------
    >>> perft("azul1 c2 BB,-,-,-,- * " + ";".join(["0:...../...../...../...../.....:-,-,-,-,-:-"] * 2)
    ...       + " b? l0.0.0.0.0 t0 s0 r1 offer", 1)
    6
    """
    return count(game, depth, bulk=bulk).leaves


def count(game: Game | Position | str, depth: int, *, bulk: bool = True) -> Count:
    """As `perft`, and how many moves were made to find out."""
    return _count(_root(game, depth), depth, bulk)


def split(game: Game | Position | str, depth: int, *, bulk: bool = True) -> Iterator[tuple[str, Count]]:
    """`count`, one legal move after the other in the order of the action index; `depth` is at least 1 here."""
    root = _root(game, depth, least=1)
    mask = np.zeros(ACTION_COUNT, np.uint8)
    legal_actions(root, mask)
    for action in np.flatnonzero(mask).tolist():
        child = root.copy()
        step(child, action)
        ended = child[PHASE] in (PHASE_DEAL, PHASE_OVER)
        leaves, moves = _count(child, 0 if ended else depth - 1, bulk)
        yield format_move(action), Count(leaves, moves + 1)


def _root(game: Game | Position | str, depth: int, least: int = 0) -> np.ndarray:
    """The state to count from, once it and the depth are found to be good."""
    if isinstance(depth, bool) or not isinstance(depth, int) or not least <= depth <= MAX_DEPTH:
        raise AzulError(f"depth must be a whole number from {least} to {MAX_DEPTH}, not {shown(depth)}")
    if isinstance(game, Game):
        state = game.state
    elif isinstance(game, Position):
        state = game.to_state()
    else:
        state = parse_position(game)
    if state[PHASE] == PHASE_OVER:
        raise AzulError("position: the game is over, there are no moves to count")
    if state[PHASE] == PHASE_DEAL:
        raise AzulError("position: the round has not been dealt, there are no moves to count")
    return state


def _count(state: np.ndarray, depth: int, bulk: bool) -> Count:
    if depth == 0:
        return Count(1, 0)
    stack = np.zeros((depth + 1) * NODE_WORDS, np.int64)
    stack[:STATE_WORDS] = state
    moves = _open_root(stack)
    if depth == 1 and bulk:
        return Count(int(moves), 0)
    progress = np.zeros(PROGRESS_WORDS, np.int64)
    while progress[LEVEL] >= 0:
        _go_on(stack, progress, depth, int(bulk), MOVES_A_CALL)
    return Count(int(progress[LEAVES]), int(progress[MOVES]))
