"""Every move of a position valued by the same search, each with its whole window: what a review compares.

`search` only proves that other moves are no better than the best. Here each move has a value of its own, all of them
from the same depth: with different depths moves would be compared on how far they were seen through.
"""

from __future__ import annotations

import numpy as np

from azul_fast._jit import kernel
from azul_fast.engine.layout import TURN
from azul_fast.engine.words import words
from azul_fast.search.alphabeta import (
    CUT,
    LIMIT,
    MAX_PLIES,
    ROOT,
    STOPPED,
    TABLE_BITS,
    TABLE_MASK,
    VISITED,
    alpha_beta,
    begin,
    play,
    round_weights,
    take_back,
)
from azul_fast.search.evaluation import WIN_VALUE
from azul_fast.search.weights import WEIGHTS

_ALL = 4 * WIN_VALUE  # beyond any value


@kernel
def move_values(state, actions, nodes, memory, values):
    """Value every one of some moves for the seat to act.

    Parameters
    ----------
    state : int64 [STATE_WORDS]
        In phase offer; changed on the way, and as it was in the end.
    actions : int64 [moves]
        Legal actions.
    nodes : int64
        Nodes after which it stops, all moves together.
    memory : int64 [azul_fast.search.alphabeta.MEMORY]
    values : int64 [moves]
        Set to the values, in the unit of `azul_fast.search.evaluation.bend`.

    Returns
    -------
    int64
        Plies that all of them were looked ahead, the move itself included; negative if the round is solved.
    """
    table, notes = words(state), words(memory)
    weights = round_weights(table, words(WEIGHTS))
    begin(table, notes, len(memory))
    notes[TABLE_MASK] = (1 << TABLE_BITS) - 1
    found = np.zeros(len(actions), np.int64)
    reached = np.int64(0)
    for depth in range(MAX_PLIES):
        notes[CUT] = 0
        # the first round of values has no limit: every move has one
        notes[LIMIT] = nodes if depth > 0 else np.int64(1) << 62
        for i in range(len(actions)):
            play(table, notes, 0, actions[i])
            same = table[TURN] == notes[ROOT]
            value = alpha_beta(table, notes, weights, np.int64(1), np.int64(depth), np.int64(-_ALL), np.int64(_ALL))
            found[i] = value if same else -value
            take_back(table, notes, 0, actions[i])
            if notes[STOPPED]:
                return reached
        for i in range(len(actions)):
            values[i] = found[i]
        reached += 1
        if notes[CUT] == 0:
            return -reached
        if notes[VISITED] >= nodes:
            return reached
    return reached
