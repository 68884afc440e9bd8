"""A policy of your own: copy this file, change it, and see whether it got better.

    scripts/azul-fast match scripts/tutorial_policy.py::tutorial greedy

plays it against `greedy`, which takes the most points it can get now, and wins 69% of the games (10,000 games, ±0.5).
"""

from numba import njit

from azul_fast.policies.view import ACTION, COLOR, LINE, MISSED, PENALTY, POINTS, TILES

FLOOR = 5  # the line number of the floor


@njit  # compiled: loops and arithmetic are fast, but there are no dictionaries of mixed things, no files, no printing
def tutorial(view):  # `view` is the table as you see it: look at azul_fast/policies/view.py for all that is in it
    best, answer = -1e9, -1
    for move in view.moves:  # the legal moves, one a row; the names in capitals are its columns
        value = 1.0 * move[POINTS] - move[PENALTY]  # what greedy looks at
        line = move[LINE]
        if line != FLOOR:
            size = line + 1
            before = view.lines[0, line, 0]  # board 0 is yours, 1 the next player's
            after = before + move[TILES] - move[MISSED]
            if after < size:
                value += 0.3 * after - 2.0  # a line that may stay unfinished blocks its row: that is why greedy loses
            if 0 < before:
                value += 2.0 - 0.3 * before  # but a line begun before was blocked already
            left = view.offer[:, move[COLOR]].sum() - move[TILES]  # tiles of this color that others can still take
            if after < size and left >= size - after:
                value += 0.5  # it can still be filled in this round
        if value > best:
            best, answer = value, move[ACTION]
    return answer  # an action index; a move that is not legal would stop the run and be named
