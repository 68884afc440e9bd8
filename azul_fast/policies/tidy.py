"""`tidy`: uniform over the legal moves that let the fewest of the taken tiles miss the line.

Tiles that go to the floor or past it into the lid miss the line; the marker does not count.
"""

from __future__ import annotations

from azul_fast._jit import inline
from azul_fast.engine.lanes import subtract_saturating
from azul_fast.policies.worths import line_room, line_worths, open_colors, pick_highest
from azul_fast.rules import LINE_COUNT

_FULL_WORTH = 0x40_40_40_40_40  # 64 for each color: more than any number of tiles that can miss


@inline
def tidy_worths(player, worths):
    """Set the worths of a seat's lines at the start of a round."""
    for line in range(LINE_COUNT):
        worths[line] = open_colors(player, line) & _FULL_WORTH


@inline
def _value(counts, player, worths, line):
    # 64 - missing; 0 stays 0 where the color may not go
    missing = subtract_saturating(counts, line_room(player, line, counts))
    return subtract_saturating(line_worths(worths, line, counts), missing)


@inline
def tidy_move(player, worths, word, n):
    """A move of `tidy`, by lanes: `width` of them, as many as sources times colors."""
    return pick_highest(
        n,
        _value(n, player, worths, 0),
        _value(n, player, worths, 1),
        _value(n, player, worths, 2),
        _value(n, player, worths, 3),
        _value(n, player, worths, 4),
        64 - n,
        word,
    )
