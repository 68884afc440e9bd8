"""`random`: uniform over all legal moves; identical factories are distinct moves."""

from __future__ import annotations

from azul_fast._jit import inline
from azul_fast.engine.bits import nth_set_bit, popcount
from azul_fast.engine.moves import pick_uniform


@inline
def random_move(state, player, word):
    """See `pick_uniform`."""
    return pick_uniform(state, player, word)


@inline
def random_column(columns, word):
    """One of the set bits of `columns` (five bits, not 0), each with the same chance."""
    return nth_set_bit(columns, word * popcount(columns) >> 24)
