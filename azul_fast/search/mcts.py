"""`mcts`: Monte Carlo tree search over the rest of the round, with the rest of the game played out.

Each playout goes down the tree of this round's moves by PUCT (Rosin, "Multi-armed bandits with episode context", 2011;
as in AlphaGo), adds the node it arrives at, and lets a simple policy finish the round and the game, with deals drawn
anew for each playout: the tree holds what everybody sees, chance is in the playouts. Every seat chooses for itself
(max-n), so the search is the same for two, three and four.

The tree is kept from move to move (`reuse`): what lies below the position that the game has come to since is where the
next move begins. So a move depends on the seat's earlier moves of the round, too; it can be repeated as the whole game
can, unless a budget of time was used up.
"""

from __future__ import annotations

import numpy as np

from azul_fast._jit import inline, inner, kernel
from azul_fast.engine.layout import (
    BAG,
    COLUMN_COLORS,
    DEAL_KEY,
    END_NONE,
    FREE_WALL,
    MARKER,
    OFFER,
    PAIRS,
    PHASE,
    PHASE_TILE,
    PLAYERS,
    POLICY_KEY,
    ROUND,
    ROUND_PLIES,
    ROW_COLORS,
    SCORE,
    STATE_WORDS,
    TURN,
    WALL,
)
from azul_fast.engine.moves import apply_unchecked, pass_turn, seat_words
from azul_fast.engine.rng import DEALS, POLICIES, stream_key
from azul_fast.engine.rounds import open_streams, policy_word, settle_round, tile_colored_walls
from azul_fast.engine.scoring import complete_rows
from azul_fast.engine.step import SOURCE_ACTIONS
from azul_fast.engine.words import section, words
from azul_fast.playout import (
    SLOT_POLICIES,
    SLOT_WORDS,
    end_offer,
    policy_move,
    set_worths,
    slot_policy,
    slot_worths,
    tile_free_walls,
)
from azul_fast.policies import RANDOM
from azul_fast.policies.defaults import MCTS
from azul_fast.policies.worths import lose_colors
from azul_fast.rules import DESTINATION_COUNT, MAX_PLAYERS, SOURCE_COUNT
from azul_fast.search.alphabeta import (
    FRAMES,
    MAX_PLIES,
    ORDER_BITS,
    SAVED,
    begin,
    best_choice,
    list_moves,
    mix,
    round_weights,
)
from azul_fast.search.alphabeta import TABLE as FREE_MEMORY
from azul_fast.search.clock import deadline, nanoseconds
from azul_fast.search.evaluation import SPREAD as SPREAD_TERM
from azul_fast.search.evaluation import WIN_VALUE, WORTH_UNIT, bend, board_key, board_worth, worth_of
from azul_fast.search.weights import WEIGHTS

PLAYOUTS, POLICY, ROUNDS, TIME, REUSE = range(len(MCTS))  # the parameters

# What it keeps beside the tables of boards of `azul_fast.search.alphabeta`.
SLOT = FREE_MEMORY  # the game that is played out
REWARDS = SLOT + SLOT_WORDS  # [seat]
PATH = REWARDS + MAX_PLAYERS  # [ply, 2]: the edges taken, and who took them
USED = PATH + 2 * (MAX_PLIES + 1)  # words of the tree; 0: none is kept
TREE = USED + 1
TREE_WORDS = 1 << 20  # when they are used up, playouts go on without adding nodes
MEMORY = TREE + TREE_WORDS

# A node: how many edges, hash of its position, where it moves to; then its edges. Children stand behind their parents.
_NODE_EDGES, _NODE_HASH, _NODE_PLACE, _NODE = range(4)
_EDGE_ACTION, _EDGE_PRIOR, _EDGE_VISITS, _EDGE_TOTAL, _EDGE_CHILD, _EDGE = range(6)

_UNTIMED = 8  # playouts between two looks at the clock, less than 1 ms
REWARD_UNIT = 1_000_000  # of a reward between 0 and 1
_MARGIN_SHARE = 0.3  # of a reward is the margin, the rest the share of the win
_MARGIN_HALF = 30.0  # points that count half of what any margin can
_EXPLORATION = 0.6
_UNTRIED = 0.05  # an edge never taken is taken to be so much worse than the node
_ENOUGH = 4  # a move is only played if it was tried this share of the most tried one's times
_PRIOR_POINTS = 3.0  # so much worse for the own board: a quarter of the prior


@inner
def position_hash(state):
    """Of all that everybody sees."""
    x = mix(state[TURN] | state[ROUND] << 2 | state[MARKER] << 32) + state[BAG]
    for source in range(SOURCE_COUNT):
        x = mix(x + state[OFFER + source])
    for seat in range(state[PLAYERS]):
        player = seat_words(state, seat)
        x = mix(mix(x + board_key(player)) + (player[WALL] | player[SCORE] << 32))
        x = mix(x + (player[ROW_COLORS] | player[COLUMN_COLORS] << 32))
    return x


@inline
def _size(memory, node):
    return _NODE + memory[TREE + node + _NODE_EDGES] * _EDGE


@inline
def _visits(memory, node):
    visits = np.int64(0)
    for i in range(memory[TREE + node + _NODE_EDGES]):
        visits += memory[TREE + node + _NODE + i * _EDGE + _EDGE_VISITS]
    return visits


@inner
def _keep(state, memory):
    """Keep of the tree what lies below the node of `state`, the most visited one; returns its new place, or 0."""
    wanted, most, root = position_hash(state), np.int64(-1), np.int64(0)
    used, node = memory[USED], np.int64(1)
    while node < used:
        if memory[TREE + node + _NODE_HASH] == wanted and _visits(memory, node) > most:
            most, root = _visits(memory, node), node
        node += _size(memory, node)
    memory[USED] = 1  # place 0 stands for no node
    if root == 0:
        return np.int64(0)
    memory[TREE + root + _NODE_PLACE] = 1
    node = root
    while node < used:
        if memory[TREE + node + _NODE_PLACE]:
            memory[TREE + node + _NODE_PLACE] = memory[USED]
            memory[USED] += _size(memory, node)
            for i in range(memory[TREE + node + _NODE_EDGES]):
                child = memory[TREE + node + _NODE + i * _EDGE + _EDGE_CHILD]
                if child:
                    memory[TREE + child + _NODE_PLACE] = 1
        node += _size(memory, node)
    node = root
    while node < used:
        size, place = _size(memory, node), memory[TREE + node + _NODE_PLACE]
        if place:
            for i in range(memory[TREE + node + _NODE_EDGES]):
                child = TREE + node + _NODE + i * _EDGE + _EDGE_CHILD
                if memory[child]:
                    memory[child] = memory[TREE + memory[child] + _NODE_PLACE]
            memory[TREE + node + _NODE_PLACE] = 0
            for i in range(size):
                memory[TREE + place + i] = memory[TREE + node + i]
        node += size
    return np.int64(1)


@inner
def _expand(state, memory, weights):
    """Add a node for `state`; returns its place, or 0 if the memory is used up."""
    count = list_moves(state, memory, weights, np.int64(0), np.int64(-1))
    node = memory[USED]
    if node + _NODE + count * _EDGE > TREE_WORDS:
        return np.int64(0)
    memory[USED] += _NODE + count * _EDGE
    moves = FRAMES + SAVED
    most = np.int64(0)
    for i in range(count):
        most = max(most, memory[moves + i] >> ORDER_BITS)
    total = 0.0
    for i in range(count):
        behind = 1.0 + (most - (memory[moves + i] >> ORDER_BITS)) / (WORTH_UNIT * _PRIOR_POINTS)
        total += 1.0 / (behind * behind)
    memory[TREE + node + _NODE_EDGES] = count
    memory[TREE + node + _NODE_HASH] = position_hash(state)
    memory[TREE + node + _NODE_PLACE] = 0
    for i in range(count):
        edge = TREE + node + _NODE + i * _EDGE
        behind = 1.0 + (most - (memory[moves + i] >> ORDER_BITS)) / (WORTH_UNIT * _PRIOR_POINTS)
        memory[edge + _EDGE_ACTION] = memory[moves + i] & ((1 << ORDER_BITS) - 1)
        memory[edge + _EDGE_PRIOR] = np.int64(REWARD_UNIT / (behind * behind * total))
        memory[edge + _EDGE_VISITS] = memory[edge + _EDGE_TOTAL] = memory[edge + _EDGE_CHILD] = 0
    return node


@inline
def _select(memory, node):
    """The edge with the highest upper bound."""
    count = memory[TREE + node + _NODE_EDGES]
    visits = np.int64(0)
    total = np.int64(0)
    for i in range(count):
        edge = TREE + node + _NODE + i * _EDGE
        visits += memory[edge + _EDGE_VISITS]
        total += memory[edge + _EDGE_TOTAL]
    untried = (total / visits if visits else 0.5 * REWARD_UNIT) - _UNTRIED * REWARD_UNIT
    root = _EXPLORATION * np.sqrt(visits + 1.0)
    best = -1.0e18
    chosen = np.int64(0)
    for i in range(count):
        edge = TREE + node + _NODE + i * _EDGE
        n = memory[edge + _EDGE_VISITS]
        mean = memory[edge + _EDGE_TOTAL] / n if n else untried
        bound = mean + root * memory[edge + _EDGE_PRIOR] / (1.0 + n)
        if bound > best:
            best, chosen = bound, edge
    return chosen


@inline
def _play(slot, action):
    source = action // SOURCE_ACTIONS
    rest = action - source * SOURCE_ACTIONS
    color = rest // DESTINATION_COUNT
    apply_unchecked(slot, seat_words(slot, slot[TURN]), rest - color * DESTINATION_COUNT, color, source)
    pass_turn(slot)


@inner
def _finish(slot, rounds):
    """Let the slot's policies play: to the end of the game, or to the end of the round `rounds` rounds from now.

    Returns
    -------
    int64
        END_NONE, or why the game is over.
    """
    last = slot[ROUND] + rounds - 1
    set_worths(slot)
    while True:
        while slot[PAIRS] != 0:
            turn = slot[TURN]
            player = seat_words(slot, turn)
            policy = slot_policy(slot, turn)
            worths = slot_worths(slot, turn)
            word = policy_word(slot, slot[ROUND_PLIES])
            line, color, source = policy_move(slot, player, policy, worths, word)
            apply_unchecked(slot, player, line, color, source)
            if policy != RANDOM:
                lose_colors(worths, player, line, color)
            pass_turn(slot)
        if rounds > 0 and slot[ROUND] >= last:
            if slot[FREE_WALL]:
                tile_free_walls(slot)
            else:
                tile_colored_walls(slot)
            return settle_round(slot)
        end = end_offer(slot)
        if end != END_NONE:
            return end


@inner
def _reward(slot, memory, end, weights):
    """What the playout came to, for every seat: 0 to REWARD_UNIT."""
    players = slot[PLAYERS]
    for seat in range(players):
        other = np.int64(-(1 << 50))
        own = np.int64(0)
        ties = np.int64(1)
        for each in range(players):
            player = seat_words(slot, each)
            if end != END_NONE:
                standing = player[SCORE] << 3 | complete_rows(player[WALL])
            else:
                key = board_key(player) | np.int64(slot[TURN] == each) << 47  # who starts holds the marker
                standing = worth_of(board_worth(player, key, slot[FREE_WALL], weights))
            if each == seat:
                own = standing
            else:
                if standing > other:
                    other, ties = standing, np.int64(1)
                elif standing == other:
                    ties += 1
        if end != END_NONE:
            margin = np.float64((own >> 3) - (other >> 3))
            win = 1.0 if own > other else (1.0 / (ties + 1) if own == other else 0.0)
        else:
            margin = (own - other) / WORTH_UNIT
            win = 0.5 + 0.5 * bend(margin, weights[SPREAD_TERM]) / (1.1 * WIN_VALUE)
        share = 0.5 + 0.5 * margin / (_MARGIN_HALF + abs(margin))
        memory[REWARDS + seat] = np.int64(REWARD_UNIT * ((1.0 - _MARGIN_SHARE) * win + _MARGIN_SHARE * share))


@inner
def _playout(state, memory, root, policy, rounds, key):
    """One playout from `state`, by the random numbers of `key`."""
    slot = section(memory, SLOT, SLOT_WORDS)
    for i in range(STATE_WORDS):
        slot[i] = state[i]
    weights = round_weights(slot, words(WEIGHTS))
    node, plies = root, np.int64(0)
    while slot[PAIRS] != 0:
        edge = _select(memory, node)
        memory[PATH + 2 * plies] = edge
        memory[PATH + 2 * plies + 1] = slot[TURN]
        plies += 1
        _play(slot, memory[edge + _EDGE_ACTION])
        if memory[edge + _EDGE_CHILD] == 0:
            if memory[edge + _EDGE_VISITS] > 0 and slot[PAIRS] != 0:
                memory[edge + _EDGE_CHILD] = _expand(slot, memory, weights)
            if memory[edge + _EDGE_CHILD] == 0:
                break
        node = memory[edge + _EDGE_CHILD]
    slot[DEAL_KEY] = stream_key(key, slot[ROUND], DEALS)
    slot[POLICY_KEY] = stream_key(key, slot[ROUND], POLICIES)
    open_streams(slot)
    for seat in range(slot[PLAYERS]):
        slot[SLOT_POLICIES + seat] = policy
    end = _finish(slot, rounds)
    _reward(slot, memory, end, round_weights(slot, words(WEIGHTS)))
    for i in range(plies):
        edge = memory[PATH + 2 * i]
        memory[edge + _EDGE_VISITS] += 1
        memory[edge + _EDGE_TOTAL] += memory[REWARDS + memory[PATH + 2 * i + 1]]


@kernel
def mcts(view):
    """The policy: the move that did best among those that were tried much, by the playouts of `view.parameters`."""
    state, memory = words(view.state), words(view.memory)
    weights = round_weights(state, words(WEIGHTS))
    if state[PHASE] == PHASE_TILE:
        return best_choice(state, weights)
    begin(state, memory, len(view.memory))
    until = deadline(view.parameters[TIME])
    root = np.int64(0)
    if view.parameters[REUSE] and memory[USED] > 0:
        root = _keep(state, memory)
    if root == 0:
        memory[USED] = 1
        root = _expand(state, memory, weights)
    playouts, rounds = np.int64(view.parameters[PLAYOUTS]), np.int64(view.parameters[ROUNDS])
    policy = np.int64(view.parameters[POLICY])
    for number in range(playouts):
        if until != 0 and number > 0 and number % _UNTIMED == 0 and nanoseconds() >= until:
            break
        _playout(state, memory, root, policy, rounds, stream_key(view.word, number, POLICIES))
    most = np.int64(0)
    for i in range(memory[TREE + root + _NODE_EDGES]):
        most = max(most, memory[TREE + root + _NODE + i * _EDGE + _EDGE_VISITS])
    highest = -1.0
    action = np.int64(-1)
    for i in range(memory[TREE + root + _NODE_EDGES]):
        edge = TREE + root + _NODE + i * _EDGE
        visits = memory[edge + _EDGE_VISITS]
        if visits * _ENOUGH >= most and memory[edge + _EDGE_TOTAL] / visits > highest:
            highest, action = memory[edge + _EDGE_TOTAL] / visits, memory[edge + _EDGE_ACTION]
    return action
