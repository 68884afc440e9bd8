"""`plan`: a weighted heuristic over what a move makes of the player's board."""

from __future__ import annotations

from azul_fast._jit import inner
from azul_fast.policies.view import ACTION, MISSED, PENALTY, POINTS


@inner
def plan(view):
    best = 0
    best_value = -1e9
    for i in range(len(view.moves)):
        value = 1.0 * view.moves[i, POINTS] - view.moves[i, PENALTY] - 0.1 * view.moves[i, MISSED]
        if value > best_value:
            best, best_value = i, value
    return view.moves[best, ACTION]
