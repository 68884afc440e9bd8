"""`search`: alpha-beta over the rest of the round, by iterative deepening.

The tree is the factory offer, of which everything is public; it is cut at the end of the round, where
`azul_fast.search.evaluation` says what the boards are worth (or who won, if the game is over), or at the depth of the
iteration: from there each seat takes what is best for its own board for a few plies more, as the best of what is on
offer is soon gone, and boards are valued as if the round ended then. With more than two players the value is the own
board against the mean of the others, and the others are taken to play together against the seat that searches, but not
at any price: each of them only makes moves that leave its own board at most `MOST_SACRIFICE` behind its best.

The parts are those of a chess program (https://www.chessprogramming.org): fail-soft alpha-beta with null windows (PVS),
a transposition table, late move reductions, and moves ordered by the table's move, then killers, then the worth of the
mover's own board. Nothing is left out for good: an iteration in which no leaf was cut has solved the round.

A budget of nodes gives the same moves everywhere; one of time does not, as the clock decides how far a search comes.

The worth of a board is cheap: within a round it is 48 bits, and few boards come up, so they are looked up in a table of
their own. Factories that hold the same tiles are one move: only the first of them is tried, and positions that differ
in which was taken share an entry.
"""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline, inner, kernel
from azul_fast.engine.bits import shift_right, trailing_zeros
from azul_fast.engine.layout import (
    BAG,
    COLUMN_COLORS,
    FLOOR_TILES,
    FLOOR_USED,
    FREE_WALL,
    LINE_COLOR,
    LINE_PAIRS,
    MARKER,
    MARKER_FLAG,
    MAX_ROUNDS,
    OFFER,
    PAIRS,
    PHASE,
    PHASE_TILE,
    PLAYERS,
    REMOVED,
    ROOM,
    ROUND,
    ROUND_PLIES,
    ROW_COLORS,
    SCORE,
    SOURCE_PAIRS,
    TURN,
    WALL,
)
from azul_fast.engine.moves import apply_unchecked, pass_turn, seat_words
from azul_fast.engine.rounds import full_lines, line_color, open_columns, tiles_on_boards
from azul_fast.engine.scoring import tile_points
from azul_fast.engine.step import SOURCE_ACTIONS, TILE_ACTIONS
from azul_fast.engine.words import section, words
from azul_fast.policies.defaults import SEARCH
from azul_fast.rules import (
    CENTER,
    DESTINATION_COUNT,
    FLOOR,
    FLOOR_CELLS,
    LINE_COUNT,
    MAX_FACTORIES,
    SOURCE_COUNT,
    TILES_PER_COLOR,
    WALL_SIZE,
)
from azul_fast.search.clock import deadline, nanoseconds
from azul_fast.search.evaluation import (
    BOARD_FLOOR_BITS,
    BOARD_ROOM_BITS,
    ROUND_CLASSES,
    SPREAD,
    TERMS,
    WIN_VALUE,
    WORTH_UNIT,
    bend,
    board_key,
    board_worth,
    final_value,
    points_of,
    rows_of,
    worth_of,
)
from azul_fast.search.weights import WEIGHTS

NODES, DEPTH, TIME = range(len(SEARCH))  # the parameters

# ------------------------------------------------------------------------------------------------------ the memory
# What a search keeps, in words of `View.memory`. Of an earlier search nothing is used: what stands in the tables is
# marked with its number. So a move depends on the position alone, not on how the game came to it.
SEARCHES = 0  # searches since the memory was zeroed: the mark of this one
VISITED = 1  # nodes
LIMIT = 2  # nodes at which it stops, or looks at the clock
STOPPED = 3  # 1: it did
CUT = 4  # leaves before the end of the round, so far; a subtree without any is solved
BEST = 5  # the best move at the root so far
BEST_VALUE = 6
ROOT = 7  # the seat that searches
REACHED = 8  # depth of the last whole iteration
TABLE_MASK = 9  # of the slots in use, less one: a small search keeps to what the processor's caches hold
DEADLINE = 10  # when the time is used up, in nanoseconds of `azul_fast.search.clock`; 0: nodes alone count
MOST_NODES = 11  # with a DEADLINE: nodes at which it stops
FACTORY_SUM = 12  # sum of the hashes of the factories that are still there
FACTORY_HASH = FACTORY_SUM + 1  # [source]
TWINS = FACTORY_HASH + SOURCE_COUNT  # [source] the factories before it that hold the same tiles, as bits
KILLERS = TWINS + SOURCE_COUNT  # [ply, 2]
MAX_PLIES = 4 * MAX_FACTORIES  # of a round
FRAMES = KILLERS + 2 * MAX_PLIES  # [ply, FRAME]: what a move changed, and the moves that are still to be tried
SAVED = 12
MAX_MOVES = 24 * MAX_FACTORIES  # legal moves of one turn
FRAME = SAVED + MAX_MOVES
BOARDS = FRAMES + (MAX_PLIES + 1) * FRAME  # [slot, 2]: key with marks, packed worth
BOARD_BITS = 13
TABLE = BOARDS + (2 << BOARD_BITS)  # [slot, 2]: hash, entry
TABLE_BITS = 18
MEMORY = TABLE + (2 << TABLE_BITS)

_LEAST_SLOTS = 1 << 10
_AHEAD = 3  # plies that are played on from a cut leaf: for two players the best of 0 to 5 and all, for three as 2
_UNTIMED = 1000  # nodes between two looks at the clock, less than 1 ms
_MARKS = 1 << 13  # marks that fit; then the memory is zeroed
_BOARD_SEAT, _BOARD_MARK = 48, 50

# An entry of the transposition table: the value in the upper half, below it these.
_ENTRY_DEPTH, _ENTRY_BOUND, _ENTRY_MARK = 9, 15, 17
_MOVE_BITS = (1 << _ENTRY_DEPTH) - 1
_EXACT, _LOWER, _UPPER = 1, 2, 3  # what the value is: itself, or a bound
SOLVED = 63  # the depth of a subtree that was searched to the end of the round
_INFINITE = 2 * WIN_VALUE

# Order of moves: a bonus over the worth of the own board after the move, in 1/1024 points.
_FIRST = np.int64(1) << 40
_KILLER = np.int64(1) << 36
_ORDER_ZERO = np.int64(1) << 30  # so that order words are positive
ORDER_BITS = 10  # below them the move

# With more than two players, what another seat gives away at most to hurt the seat that searches, in 1/1024 points. Of
# 0, 1, 2, 4 and 8 points, 4 played best with three players: more makes it afraid of moves that nobody makes.
MOST_SACRIFICE = 4 * WORTH_UNIT

# Late moves are searched less deep at first: from this place in the order, and another ply from the second place on.
_LATE, _LATER = 3, 8
_REDUCED_DEPTH = 3  # where at least so many plies are left

# splitmix64's multipliers, as signed words (see `azul_fast.engine.rng`), and 2**64 / golden ratio.
_MIX_1 = np.int64(0xBF58476D1CE4E5B9 - 2**64)
_MIX_2 = np.int64(0x94D049BB133111EB - 2**64)
_GOLDEN = np.int64(0x9E3779B97F4A7C15 - 2**64)


@inline
def mix(x):
    """Scramble a word."""
    x = (x ^ shift_right(x, 30)) * _MIX_1
    x = (x ^ shift_right(x, 27)) * _MIX_2
    return x ^ shift_right(x, 31)


@inline
def _hash(state, memory):
    """Of all that can still change in this round; boards and center exactly, factories as a sum."""
    x = state[OFFER] | (state[MARKER] & 1) << 48 | state[TURN] << 49
    x = mix(x * _GOLDEN + memory[FACTORY_SUM])
    for seat in range(state[PLAYERS]):
        x = (x ^ shift_right(x, 29)) * _MIX_1 + board_key(seat_words(state, seat)) * _GOLDEN
    return mix(x)


# ------------------------------------------------------------------------------------------------------- the boards
@inline
def round_weights(state, weights):
    """The row of `weights` (words of float64 [players - 2, free wall, round class, term]) for this game and round."""
    table = 2 * (state[PLAYERS] - 2) + state[FREE_WALL]
    row = table * ROUND_CLASSES + min(max(state[ROUND], 1), ROUND_CLASSES) - 1
    return section(weights, row * TERMS, TERMS)


@inline
def _worth(state, memory, weights, seat, key):
    """`board_worth`, from the table where it is there."""
    wanted = key | seat << _BOARD_SEAT | memory[SEARCHES] << _BOARD_MARK
    slot = BOARDS + 2 * shift_right((wanted ^ wanted >> 23) * _GOLDEN, 64 - BOARD_BITS)
    if memory[slot] != wanted:
        memory[slot] = wanted
        memory[slot + 1] = board_worth(seat_words(state, seat), key, state[FREE_WALL], weights)
    return memory[slot + 1]


@inner
def _exhausted(state):
    """Whether nothing is left to deal after this round's end."""
    if state[BAG] >> 32 != 0 or tiles_on_boards(state) + state[REMOVED] != TILES_PER_COLOR * 0x01_01_01_01_01:
        return False
    for seat in range(state[PLAYERS]):
        player = seat_words(state, seat)
        if full_lines(player) >> 8 or player[FLOOR_TILES]:
            return False  # what fills line 2 to 5, or lies on the floor, goes to the lid
    return True


@inner
def table_value(state, memory, weights):
    """Value of the boards for the seat that searches, as if the round ended now.

    Its worth against the mean of the others' worths or, if the game is over then, its points against the best of them.
    """
    root = memory[ROOT]
    own = _worth(state, memory, weights, root, board_key(seat_words(state, root)))
    rows = rows_of(own)
    others = np.int64(0)
    points = np.int64(-1)
    for seat in range(state[PLAYERS]):
        if seat != root:
            packed = _worth(state, memory, weights, seat, board_key(seat_words(state, seat)))
            rows += rows_of(packed)
            others += worth_of(packed)
            points = max(points, points_of(packed) << 3 | rows_of(packed))
    if rows or state[ROUND] >= state[MAX_ROUNDS] or (state[BAG] >> 32 == 0 and _exhausted(state)):
        return final_value(points_of(own) << 3 | rows_of(own), points)
    return bend((worth_of(own) - others / (state[PLAYERS] - 1)) / WORTH_UNIT, weights[SPREAD])


# -------------------------------------------------------------------------------------------------------- the moves
@inline
def key_after(player, line, color, tiles, marker):
    """`board_key` after a move."""
    room = (player[ROOM] >> 8 * line) & 7
    placed = min(tiles, room)
    floor = player[FLOOR_USED]
    used = min((floor & 7) + marker, FLOOR_CELLS)
    used = min(used + tiles - placed, FLOOR_CELLS)
    flag = (floor & MARKER_FLAG) | marker << 7
    lines = player[ROOM] | player[LINE_COLOR] << BOARD_ROOM_BITS
    if line != FLOOR:
        lines = (lines - (placed << 8 * line)) | color << (8 * line + BOARD_ROOM_BITS)
    return lines | (flag | used) << BOARD_FLOOR_BITS


@inner
def list_moves(state, memory, weights, ply, first):
    """Write the moves of the seat to act into the frame of `ply`, each as its order and its action; returns how many.

    Only the first of several factories with the same tiles is listed. `first` is the action to try first, or -1.
    """
    turn = state[TURN]
    player = seat_words(state, turn)
    moves = FRAMES + ply * FRAME + SAVED
    killer, second = memory[KILLERS + 2 * ply], memory[KILLERS + 2 * ply + 1]
    pairs = state[PAIRS]
    there = pairs | pairs >> SOURCE_COUNT | pairs >> 2 * SOURCE_COUNT
    there |= pairs >> 3 * SOURCE_COUNT | pairs >> 4 * SOURCE_COUNT
    there &= (1 << SOURCE_COUNT) - 1
    for source in range(1, 2 * state[PLAYERS] + 2):
        if memory[TWINS + source] & there:
            pairs &= ~(SOURCE_PAIRS << source)
    count = np.int64(0)
    while pairs != 0:
        bit = trailing_zeros(pairs)
        pairs &= pairs - 1
        color = bit // SOURCE_COUNT
        source = bit - color * SOURCE_COUNT
        tiles = (state[OFFER + source] >> 8 * color) & 31
        marker = state[MARKER] & 1 if source == CENTER else 0
        for line in range(DESTINATION_COUNT):
            if not player[LINE_PAIRS + line] >> bit & 1:
                continue
            action = source * SOURCE_ACTIONS + color * DESTINATION_COUNT + line
            order = (
                worth_of(_worth(state, memory, weights, turn, key_after(player, line, color, tiles, marker)))
                + _ORDER_ZERO
            )
            if action == first:
                order += _FIRST
            elif action == killer or action == second:
                order += _KILLER
            memory[moves + count] = order << ORDER_BITS | action
            count += 1
    return count


@inline
def keep_sensible(memory, moves, count):
    """Of the moves of another seat keep those within `MOST_SACRIFICE` of its best; returns how many."""
    most = np.int64(0)
    for i in range(count):
        most = max(most, memory[moves + i] >> ORDER_BITS & (_KILLER - 1))
    kept = np.int64(0)
    for i in range(count):
        if memory[moves + i] >> ORDER_BITS & (_KILLER - 1) >= most - MOST_SACRIFICE:
            memory[moves + kept] = memory[moves + i]
            kept += 1
    return kept


@inline
def _next_move(memory, moves, number, count):
    """Bring the best of the moves from `number` on to that place, and return its action."""
    best = number
    for i in range(number + 1, count):
        if memory[moves + i] > memory[moves + best]:
            best = i
    chosen = memory[moves + best]
    memory[moves + best] = memory[moves + number]
    memory[moves + number] = chosen
    return chosen & ((1 << ORDER_BITS) - 1)


@inner
def play(state, memory, ply, action):
    """Play a move, and note what it changes in the frame of `ply`."""
    source = action // SOURCE_ACTIONS
    rest = action - source * SOURCE_ACTIONS
    color = rest // DESTINATION_COUNT
    line = rest - color * DESTINATION_COUNT
    player = seat_words(state, state[TURN])
    saved = section(memory, FRAMES + ply * FRAME, SAVED)
    saved[0] = state[PAIRS]
    saved[1] = state[OFFER]
    saved[2] = state[OFFER + source]
    saved[3] = state[MARKER]
    saved[4] = state[REMOVED]
    saved[5] = state[TURN]
    saved[6] = player[ROOM]
    saved[7] = player[LINE_COLOR]
    saved[8] = player[FLOOR_USED]
    saved[9] = player[FLOOR_TILES]
    saved[10] = player[LINE_PAIRS + line]
    saved[11] = memory[FACTORY_SUM]
    memory[FACTORY_SUM] -= memory[FACTORY_HASH + source]
    apply_unchecked(state, player, line, color, source)
    pass_turn(state)


@inner
def take_back(state, memory, ply, action):
    """Undo `play`."""
    source = action // SOURCE_ACTIONS
    line = action % DESTINATION_COUNT
    saved = section(memory, FRAMES + ply * FRAME, SAVED)
    state[TURN] = saved[5]
    player = seat_words(state, state[TURN])
    state[PAIRS] = saved[0]
    state[OFFER + source] = saved[2]
    state[OFFER] = saved[1]
    state[MARKER] = saved[3]
    state[REMOVED] = saved[4]
    player[ROOM] = saved[6]
    player[LINE_COLOR] = saved[7]
    player[FLOOR_USED] = saved[8]
    player[FLOOR_TILES] = saved[9]
    player[LINE_PAIRS + line] = saved[10]
    memory[FACTORY_SUM] = saved[11]
    state[ROUND_PLIES] -= 1


# ------------------------------------------------------------------------------------------------------- the search
@inner
def _is_spent(memory):
    """Whether the budget is used up, asked after LIMIT nodes; if not, they are moved on."""
    if memory[DEADLINE] == 0 or memory[VISITED] >= memory[MOST_NODES] or nanoseconds() >= memory[DEADLINE]:
        return True
    memory[LIMIT] = min(memory[VISITED] + _UNTIMED, memory[MOST_NODES])
    return False


@inner
def _own_best(state, memory, weights):
    """The move after which the mover's own board is worth most."""
    turn = state[TURN]
    player = seat_words(state, turn)
    pairs = state[PAIRS]
    best = np.int64(-(1 << 62))
    chosen = np.int64(-1)
    while pairs != 0:
        bit = trailing_zeros(pairs)
        pairs &= pairs - 1
        color = bit // SOURCE_COUNT
        source = bit - color * SOURCE_COUNT
        tiles = (state[OFFER + source] >> 8 * color) & 31
        marker = state[MARKER] & 1 if source == CENTER else 0
        for line in range(DESTINATION_COUNT):
            if not player[LINE_PAIRS + line] >> bit & 1:
                continue
            worth = worth_of(_worth(state, memory, weights, turn, key_after(player, line, color, tiles, marker)))
            if worth > best:
                best, chosen = worth, source * SOURCE_ACTIONS + color * DESTINATION_COUNT + line
    return chosen


@inner
def value_ahead(state, memory, weights, ply):
    """`table_value` a few plies on, where each seat in turn made the move that is best for its own board.

    Those plies count as nodes: they take as long.
    """
    last, most = ply, min(ply + _AHEAD, MAX_PLIES)
    while state[PAIRS] != 0 and last < most:
        action = _own_best(state, memory, weights)
        play(state, memory, last, action)
        memory[FRAMES + last * FRAME + SAVED] = action
        last += 1
    value = table_value(state, memory, weights)
    memory[VISITED] += last - ply
    while last > ply:
        last -= 1
        take_back(state, memory, last, memory[FRAMES + last * FRAME + SAVED])
    return value


@inner
def alpha_beta(state, memory, weights, ply, depth, alpha, beta):
    """Value for the side to move (the seat that searches, or the others), at most `depth` plies deep; fail-soft."""
    own_side = state[TURN] == memory[ROOT]
    if state[PAIRS] == 0:
        value = table_value(state, memory, weights)
        return value if own_side else -value
    memory[VISITED] += 1
    if memory[VISITED] >= memory[LIMIT] and _is_spent(memory):
        memory[STOPPED] = 1
        return np.int64(0)
    if depth <= 0:
        memory[CUT] += 1
        value = value_ahead(state, memory, weights, ply)
        return value if own_side else -value

    hashed = _hash(state, memory)
    slot = TABLE + 2 * (hashed & memory[TABLE_MASK])
    entry = memory[slot + 1]
    first = np.int64(-1)
    if entry >> _ENTRY_MARK & (_MARKS - 1) != memory[SEARCHES]:
        entry = np.int64(0)
    elif memory[slot] == hashed:
        first = entry & _MOVE_BITS
        entry_depth = entry >> _ENTRY_DEPTH & SOLVED
        if entry_depth >= depth and ply > 0:
            bound = entry >> _ENTRY_BOUND & 3
            value = entry >> 32
            if bound == _EXACT or (bound == _LOWER and value >= beta) or (bound == _UPPER and value <= alpha):
                if entry_depth != SOLVED:
                    memory[CUT] += 1
                return value
    if ply == 0:
        first = memory[BEST]

    cut_before = memory[CUT]
    moves = FRAMES + ply * FRAME + SAVED
    count = list_moves(state, memory, weights, ply, first)
    if not own_side and state[PLAYERS] > 2:
        count = keep_sensible(memory, moves, count)
    best = np.int64(-_INFINITE)
    best_move = np.int64(0)
    low = alpha
    for number in range(count):
        action = _next_move(memory, moves, number, count)
        play(state, memory, ply, action)
        same_side = (state[TURN] == memory[ROOT]) == own_side
        value = low + 1
        if number > 0:  # expected to be no better: a null window, and less deep for moves far down the order
            less = np.int64(0)
            if number >= _LATE and depth >= _REDUCED_DEPTH:
                less = np.int64(1) + np.int64(number >= _LATER and depth > _REDUCED_DEPTH)
            if same_side:
                value = alpha_beta(state, memory, weights, ply + 1, depth - less - 1, low, low + 1)
            else:
                value = -alpha_beta(state, memory, weights, ply + 1, depth - less - 1, -low - 1, -low)
            if less > 0 and value > low and not memory[STOPPED]:
                if same_side:
                    value = alpha_beta(state, memory, weights, ply + 1, depth - 1, low, low + 1)
                else:
                    value = -alpha_beta(state, memory, weights, ply + 1, depth - 1, -low - 1, -low)
        if number == 0 or (low < value < beta and not memory[STOPPED]):
            if same_side:
                value = alpha_beta(state, memory, weights, ply + 1, depth - 1, low, beta)
            else:
                value = -alpha_beta(state, memory, weights, ply + 1, depth - 1, -beta, -low)
        take_back(state, memory, ply, action)
        if memory[STOPPED]:
            return np.int64(0)
        if value > best:
            best, best_move = value, action
            if ply == 0:
                memory[BEST], memory[BEST_VALUE] = action, value
            if value > low:
                low = value
                if value >= beta:
                    if memory[KILLERS + 2 * ply] != action:
                        memory[KILLERS + 2 * ply + 1] = memory[KILLERS + 2 * ply]
                        memory[KILLERS + 2 * ply] = action
                    break
    bound = _EXACT
    if best >= beta:
        bound = _LOWER
    elif best <= alpha:
        bound = _UPPER
    reach = SOLVED if memory[CUT] == cut_before else depth
    memory[slot] = hashed
    memory[slot + 1] = (
        best << 32 | memory[SEARCHES] << _ENTRY_MARK | bound << _ENTRY_BOUND | reach << _ENTRY_DEPTH | best_move
    )
    return best


@inner
def begin(state, memory, length):
    """Set up the memory for the search of a position; `length` words of it are there."""
    memory[SEARCHES] += 1
    if memory[SEARCHES] == _MARKS:
        for i in range(length):
            memory[i] = 0
        memory[SEARCHES] = 1
    memory[ROOT] = state[TURN]
    memory[VISITED] = memory[STOPPED] = memory[CUT] = memory[REACHED] = memory[DEADLINE] = 0
    memory[BEST] = -1
    for i in range(2 * MAX_PLIES):
        memory[KILLERS + i] = -1
    memory[FACTORY_SUM] = 0
    memory[FACTORY_HASH] = 0  # the center
    for source in range(1, 2 * state[PLAYERS] + 2):
        tiles = state[OFFER + source]
        memory[FACTORY_HASH + source] = mix(tiles * _GOLDEN)
        if tiles:
            memory[FACTORY_SUM] += memory[FACTORY_HASH + source]
        twins = np.int64(0)
        for other in range(1, source):
            if state[OFFER + other] == tiles:
                twins |= 1 << other
        memory[TWINS + source] = twins


@inner
def best_action(state, memory, length, weights, nodes, depth, time):
    """The best move in phase offer.

    Parameters
    ----------
    state : words
        Is changed on the way, and as it was in the end.
    memory : words [length]
    length : int64
    weights : words of float64 [TERMS]
        Of this round.
    nodes : int64
        Nodes after which it stops, when `depth` is 0.
    depth : int64
        Plies to look ahead, or 0: deeper and deeper, until the nodes are used up or the round is solved.
    time : float64
        Seconds after which it stops, or 0.

    Returns
    -------
    int64
        Action index.
    """
    begin(state, memory, length)
    memory[LIMIT] = memory[MOST_NODES] = nodes if depth == 0 else np.int64(1) << 62
    memory[DEADLINE] = deadline(time)
    if memory[DEADLINE] != 0:
        memory[LIMIT] = min(memory[LIMIT], _UNTIMED)
    memory[TABLE_MASK] = (1 << TABLE_BITS) - 1
    while depth == 0 and memory[TABLE_MASK] >> 1 > max(nodes, _LEAST_SLOTS):
        memory[TABLE_MASK] >>= 1
    count = list_moves(state, memory, weights, 0, -1)
    memory[BEST] = _next_move(memory, FRAMES + SAVED, 0, count)
    if count == 1:
        return memory[BEST]
    deepest = depth if depth > 0 else MAX_PLIES
    for d in range(1, deepest + 1):
        memory[CUT] = 0
        # all arguments int64, as in the recursion: numba cannot cache a function that calls itself with other types
        alpha_beta(state, memory, weights, np.int64(0), np.int64(d), np.int64(-_INFINITE), np.int64(_INFINITE))
        if memory[STOPPED]:
            break
        memory[REACHED] = d
        if memory[CUT] == 0:
            break
    return memory[BEST]


# ------------------------------------------------------------------------------------------------ gray-wall choices
@inner
def _best_tiling(player, free_wall, weights, line):
    """The highest worth that a seat's board can have, over all choices of columns from `line` on, and the first choice.

    Returns
    -------
    worth, column : int64
        Column 5 where the line has to go to the floor, -1 where there is nothing to choose.
    """
    while line < LINE_COUNT and (player[ROOM] >> 8 * line) & 7 != 0:
        line += 1
    if line >= LINE_COUNT:
        return worth_of(board_worth(player, board_key(player), free_wall, weights)), np.int64(-1)
    score, wall, floor, rooms = player[SCORE], player[WALL], player[FLOOR_USED], player[ROOM]
    row_colors, column_colors, colors = player[ROW_COLORS], player[COLUMN_COLORS], player[LINE_COLOR]
    columns, color = open_columns(player, line), line_color(player, line)
    best = np.int64(-(1 << 40))
    chosen = np.int64(-1)
    player[ROOM] = rooms + ((line + 1) << 8 * line)
    player[LINE_COLOR] = colors & ~(0xFF << 8 * line)
    for column in range(WALL_SIZE + 1):
        if column == WALL_SIZE and columns == 0:
            player[FLOOR_USED] = (floor & MARKER_FLAG) | min((floor & 7) + line + 1, FLOOR_CELLS)
        elif column < WALL_SIZE and columns >> column & 1:
            player[SCORE] = score + tile_points(wall, line, column)
            player[WALL] = wall | 1 << (WALL_SIZE * line + column)
            player[ROW_COLORS] = row_colors | 1 << (WALL_SIZE * line + color)
            player[COLUMN_COLORS] = column_colors | 1 << (WALL_SIZE * column + color)
        else:
            continue
        worth, _ = _best_tiling(player, free_wall, weights, line + 1)
        if worth > best:
            best, chosen = worth, np.int64(column)
    player[SCORE], player[WALL], player[FLOOR_USED], player[ROOM] = score, wall, floor, rooms
    player[ROW_COLORS], player[COLUMN_COLORS], player[LINE_COLOR] = row_colors, column_colors, colors
    return best, chosen


@inner
def best_choice(state, weights):
    """The best gray-wall choice in phase tile; boards do not affect each other, so the seat's own worth decides."""
    player = seat_words(state, state[TURN])
    line = trailing_zeros(full_lines(player)) >> 3
    _, column = _best_tiling(player, state[FREE_WALL], weights, line)
    return TILE_ACTIONS + line * DESTINATION_COUNT + column


@kernel
def search(view):
    """The policy: the best move found within the budget of `view.parameters`."""
    state, memory = words(view.state), words(view.memory)
    weights = round_weights(state, words(WEIGHTS))
    if state[PHASE] == PHASE_TILE:
        return best_choice(state, weights)
    nodes, depth = np.int64(view.parameters[NODES]), np.int64(view.parameters[DEPTH])
    return best_action(state, memory, len(view.memory), weights, nodes, depth, view.parameters[TIME])
