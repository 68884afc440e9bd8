"""What a policy written as a function of its own sees: the table from its seat, and its legal moves.

Such a policy is a compiled function of one `View` that returns an action index::

    from numba import njit
    from azul_fast.policies.view import ACTION, PENALTY, POINTS

    @njit
    def careful(view):
        best, answer = -1000, -1
        for move in view.moves:
            value = move[POINTS] - 2 * move[PENALTY]
            if value > best:
                best, answer = value, move[ACTION]
        return answer

In a file ``mybots.py`` it is played as ``--policies mybots.py::careful``, and from Python as
``az.simulate(1000, policies=az.policy(careful))``. Numbers after its name, ``mybots.py::careful:floor=3``, are in
`View.parameters`. `scripts/tutorial_policy.py` is a longer one, with comments for a start.

Boards are numbered from the seat that acts: 0 is its own, 1 the next player's. Everything is a copy: a policy cannot
change the game, and the order of the bag is not in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from azul_fast._jit import inner
from azul_fast.engine.bits import trailing_zeros
from azul_fast.engine.layout import (
    BAG,
    CELLS,
    DEAL_KEY,
    FLOOR_USED,
    LINE_COLOR,
    LINE_PAIRS,
    MARKER,
    OFFER,
    PAIRS,
    PHASE,
    PHASE_TILE,
    PLAYERS,
    POLICY_KEY,
    ROOM,
    ROUND,
    SCORE,
    STATE_WORDS,
    STREAM,
    TURN,
    WALL,
)
from azul_fast.engine.moves import next_seat, seat_words
from azul_fast.engine.rounds import full_lines, line_color, open_columns
from azul_fast.engine.scoring import PENALTIES, tile_points
from azul_fast.engine.step import SOURCE_ACTIONS, TILE_ACTIONS
from azul_fast.policies.greedy import greedy_gain
from azul_fast.rules import (
    COLOR_COUNT,
    DESTINATION_COUNT,
    FLOOR,
    FLOOR_CELLS,
    LINE_COUNT,
    MAX_PLAYERS,
    SOURCE_COUNT,
    WALL_SIZE,
)

# The columns of `View.moves`.
ACTION = 0  # action index: what a policy returns
SOURCE = 1  # 0 the center, 1 to 9 the factories; -1 for a gray-wall choice
COLOR = 2  # 0 to 4: BYRKW
LINE = 3  # 0 to 4, 5 the floor; for a gray-wall choice the row
COLUMN = 4  # -1; for a gray-wall choice the column, 5 where the line has to go to the floor
TILES = 5  # tiles taken
MISSED = 6  # how many of them do not fit on the line
MARKER_TAKEN = 7  # 1 if the move takes the marker
POINTS = 8  # what the line's tile scores on the wall as it is now, if the move fills the line; else 0
PENALTY = 9  # points the floor line loses more after the move
MOVE_COLUMNS = 10
MAX_MOVES = SOURCE_COUNT * COLOR_COUNT * DESTINATION_COUNT


class View(NamedTuple):
    """The table as the seat to act sees it.

    Attributes
    ----------
    moves : int64 [moves, MOVE_COLUMNS]
        The legal moves in action-index order; the columns are the constants of this module.
    offer : int64 [SOURCE_COUNT, 5]
        Tiles of each color on each source; row 0 is the center.
    walls : int64 [MAX_PLAYERS, 5, 5]
        Color + 1 of each cell, 0 while it is empty; board 0 is that of the seat to act.
    lines : int64 [MAX_PLAYERS, 5, 2]
        Of each pattern line the tiles in it, and their color (0 while it is empty).
    floors : int64 [MAX_PLAYERS]
        Floor cells used, the marker's too.
    scores : int64 [MAX_PLAYERS]
        Points now.
    bag : int64 [5]
        Tiles of each color in the bag.
    players, round, marker : int
        Number of players; the round, from 1; 1 while the center holds the marker.
    parameters : float64 [n]
        The numbers after ``:`` in the policy's name, in the order written.
    memory : int64 [n]
        The policy's own notes, 0 at the start of each game; kept within a game.
    word : int64
        63 random bits, new for each move: the only source of chance, so that results can be repeated.
    state : int64 [STATE_WORDS]
        All of it once more as the engine's words (`azul_fast.engine.layout`), the keys of the streams set to 0.
    """

    moves: np.ndarray
    offer: np.ndarray
    walls: np.ndarray
    lines: np.ndarray
    floors: np.ndarray
    scores: np.ndarray
    bag: np.ndarray
    players: int
    round: int
    marker: int
    parameters: np.ndarray
    memory: np.ndarray
    word: int
    state: np.ndarray


_WORDS_1D, _WORDS_2D, _WORDS_3D = types.int64[::1], types.int64[:, ::1], types.int64[:, :, ::1]
VIEW_TYPE = types.NamedTuple(
    (
        _WORDS_2D,
        _WORDS_2D,
        _WORDS_3D,
        _WORDS_3D,
        _WORDS_1D,
        _WORDS_1D,
        _WORDS_1D,
        types.int64,
        types.int64,
        types.int64,
        types.float64[::1],
        _WORDS_1D,
        types.int64,
        _WORDS_1D,
    ),
    View,
)
POLICY_TYPE = types.FunctionType(types.int64(VIEW_TYPE))


def view_arrays() -> tuple[np.ndarray, ...]:
    """New arrays for a view: moves, offer, walls, lines, floors, scores, bag, state."""
    shapes = (
        (MAX_MOVES, MOVE_COLUMNS),
        (SOURCE_COUNT, COLOR_COUNT),
        (MAX_PLAYERS, WALL_SIZE, WALL_SIZE),
        (MAX_PLAYERS, LINE_COUNT, 2),
        (MAX_PLAYERS,),
        (MAX_PLAYERS,),
        (COLOR_COUNT,),
        (STATE_WORDS,),
    )
    return tuple(np.zeros(shape, np.int64) for shape in shapes)


@inner
def list_moves(state, moves):
    """Write the legal moves of the seat to act into `moves` (int64 [MAX_MOVES, MOVE_COLUMNS]); returns their number."""
    player = seat_words(state, state[TURN])
    used = player[FLOOR_USED] & 7
    count = 0
    if state[PHASE] == PHASE_TILE:
        line = trailing_zeros(full_lines(player)) >> 3
        columns = open_columns(player, line)
        for column in range(WALL_SIZE + 1):
            if (columns >> column & 1) if column < WALL_SIZE else columns == 0:
                dropped = column == WALL_SIZE
                row = moves[count]
                row[ACTION] = TILE_ACTIONS + line * DESTINATION_COUNT + column
                row[SOURCE] = -1
                row[COLOR] = line_color(player, line)
                row[LINE] = line
                row[COLUMN] = column
                row[TILES] = line + 1
                row[MISSED] = line + 1 if dropped else 0
                row[MARKER_TAKEN] = 0
                row[POINTS] = 0 if dropped else tile_points(player[WALL], line, column)
                after = min(used + row[MISSED], FLOOR_CELLS)
                row[PENALTY] = PENALTIES[after & 7] - PENALTIES[used]
                count += 1
        return count
    for source in range(SOURCE_COUNT):
        for color in range(COLOR_COUNT):
            pair = np.int64(1) << (SOURCE_COUNT * color + source)
            if not state[PAIRS] & pair:
                continue
            tiles = (state[OFFER + source] >> 8 * color) & 31
            marker = state[MARKER] & 1 if source == 0 else 0
            for line in range(DESTINATION_COUNT):
                if not player[LINE_PAIRS + line] & pair:
                    continue
                room = (player[ROOM] >> 8 * line) & 7
                row = moves[count]
                row[ACTION] = source * SOURCE_ACTIONS + color * DESTINATION_COUNT + line
                row[SOURCE] = source
                row[COLOR] = color
                row[LINE] = line
                row[COLUMN] = -1
                row[TILES] = tiles
                row[MISSED] = max(tiles - room, 0)
                row[MARKER_TAKEN] = marker
                row[POINTS] = greedy_gain(state, player, line, color) if line != FLOOR and tiles >= room else 0
                after = min(used + marker + row[MISSED], FLOOR_CELLS)
                row[PENALTY] = PENALTIES[after & 7] - PENALTIES[used]
                count += 1
    return count


@inner
def look(state, word, parameters, memory, moves, offer, walls, lines, floors, scores, bag, own_state):
    """The view of the seat to act in `state` (words), written into the other arrays."""
    count = list_moves(state, moves)
    for source in range(SOURCE_COUNT):
        for color in range(COLOR_COUNT):
            offer[source, color] = (state[OFFER + source] >> 8 * color) & 0xFF
    seat = state[TURN]
    for board in range(state[PLAYERS]):
        player = seat_words(state, seat)
        for row in range(WALL_SIZE):
            for column in range(WALL_SIZE):
                walls[board, row, column] = (player[CELLS + row] >> 8 * column) & 0xFF
            lines[board, row, 0] = row + 1 - ((player[ROOM] >> 8 * row) & 7)
            lines[board, row, 1] = (player[LINE_COLOR] >> 8 * row) & 7
        floors[board] = player[FLOOR_USED] & 7
        scores[board] = player[SCORE]
        seat = next_seat(state, seat)
    before = np.int64(0)
    for color in range(COLOR_COUNT):
        upto = (state[BAG] >> 8 * color) & 0xFF
        bag[color] = upto - before
        before = upto
    for i in range(STATE_WORDS):
        own_state[i] = state[i]
    own_state[DEAL_KEY] = own_state[POLICY_KEY] = own_state[STREAM] = 0
    return View(
        moves[:count],
        offer,
        walls,
        lines,
        floors,
        scores,
        bag,
        state[PLAYERS],
        state[ROUND],
        state[MARKER] & 1,
        parameters,
        memory,
        word,
        own_state,
    )
