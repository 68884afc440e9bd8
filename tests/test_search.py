"""`search` and `mcts`: against plain minimax, legal answers in every variant, and nothing hidden."""

import functools
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import playouts
import pytest
from referee import Referee

import azul_fast as az
from azul_fast._jit import inner, kernel
from azul_fast.batch import describe
from azul_fast.engine.layout import FREE_WALL, PAIRS, PLAYERS, TURN
from azul_fast.engine.moves import seat_words
from azul_fast.engine.words import words
from azul_fast.notation import format_move
from azul_fast.players import Players
from azul_fast.position import parse_position
from azul_fast.search import alphabeta as ab
from azul_fast.search import mcts
from azul_fast.search.evaluation import board_key, board_worth
from azul_fast.search.weights import WEIGHTS
from azul_fast.trace import trace

ENDINGS = Path(__file__).parent / "endings"


def value(game, seat):
    """What a finished game is worth to a seat: as much as its score is ahead, and won or lost by that and rows."""
    standing = list(zip(game.scores, game.rows, strict=True))
    other = max(standing[:seat] + standing[seat + 1 :])
    return (standing[seat] > other) - (standing[seat] < other), standing[seat][0] - other[0]


def minimax(game, seat, known):
    """The value for `seat` of the best play of two in a round that ends the game, by the rulebook alone."""
    if game.is_over:
        return value(game, seat)
    text = game.to_text()
    if text not in known:
        values = []
        for move in game.legal_moves():
            after = game.copy()
            after.play(move)
            values.append(minimax(after, seat, known))
        known[text] = max(values) if game.turn == seat else min(values)
    return known[text]


@functools.cache
def late_positions(count, last=True, most_places=3, players=2, wall="fixed"):
    """Positions with few moves left in a round; if `last`, it is the last, whatever is played."""
    found = []
    for seed in range(10_000):
        rng = random.Random(seed)
        round_number = rng.randrange(1, 6)
        cap = round_number if last else 100
        for game in playouts.playout(players, wall, rng.choice(("lid", "removed")), seed, cap):
            if game.phase == "offer" and game.round == round_number:
                places = sum(len(set(place) - {"*"}) for place in [game.center, *game.factories])
                if len(game.legal_moves()) > 1 and places <= rng.randrange(2, most_places + 1):
                    found.append(game.to_text())
                    break
        if len(found) == count:
            return found
    raise AssertionError("too few")


def test_alpha_beta_is_minimax():
    """Every move of `search` keeps the value that the referee's minimax gives the position."""
    for text in late_positions(120):
        referee = Referee.from_text(text)
        known = {}
        best = minimax(referee, referee.turn, known)
        after = referee.copy()
        after.play(az.choose(az.Game.from_text(text, deals="given"), "search:nodes=1000000"))
        assert minimax(after, referee.turn, known) == best, text


def test_endings():
    """Endings that greedy plays wrong, solved by the referee (`scripts/make_endings.py`): at least 95% are found."""
    lines = (ENDINGS / "two_players.txt").read_text().splitlines()
    assert len(lines) >= 100
    found = 0
    for line in lines:
        text, _, best = line.split("\t")
        assert not set(Referee.from_text(text).choices("greedy")) & set(best.split()), text
        found += az.choose(az.Game.from_text(text, deals="given"), "search:nodes=20000") in best.split()
    assert found >= 0.95 * len(lines)


def test_solutions_of_endings():
    """Some of the endings, solved again."""
    for line in random.Random(1).sample((ENDINGS / "two_players.txt").read_text().splitlines(), 4):
        text, margin, best = line.split("\t")
        referee = Referee.from_text(text)
        known, values = {}, {}
        for move in referee.legal_moves():
            after = referee.copy()
            after.play(move)
            values[move] = minimax(after, referee.turn, known)[1]
        assert max(values.values()) == int(margin)
        assert [move for move, value in values.items() if value == int(margin)] == best.split()


# --------------------------------------------------------------------------------- against a search without its tables
@inner
def plain(state, memory, weights, ply):
    """Value for the seat that searches, by minimax over all moves to the end of the round."""
    if state[PAIRS] == 0:
        return ab.table_value(state, memory, weights)
    count = ab.list_moves(state, memory, weights, ply, np.int64(-1))
    moves = ab.FRAMES + ply * ab.FRAME + ab.SAVED
    own = state[TURN] == memory[ab.ROOT]
    most = np.int64(0)
    for i in range(count):
        most = max(most, memory[moves + i] >> ab.ORDER_BITS)
    best = np.int64(-(1 << 40) if own else 1 << 40)
    for i in range(count):
        if not own and state[PLAYERS] > 2 and memory[moves + i] >> ab.ORDER_BITS < most - ab.MOST_SACRIFICE:
            continue  # with more than two players, another seat does not give away more than that
        action = memory[moves + i] & ((1 << ab.ORDER_BITS) - 1)
        ab.play(state, memory, ply, action)
        value = plain(state, memory, weights, ply + 1)
        ab.take_back(state, memory, ply, action)
        best = max(best, value) if own else min(best, value)
    return best


@kernel
def solve_twice(state, memory, spare, out):
    """Solve a round by `best_action` and by `plain`, and look at what the table says two plies on."""
    st, mem, other = words(state), words(memory), words(spare)
    weights = ab.round_weights(st, words(WEIGHTS))
    ab.best_action(st, mem, np.int64(len(memory)), weights, np.int64(1) << 40, np.int64(0), 0.0)
    out[0] = mem[ab.BEST_VALUE]
    ab.begin(st, other, np.int64(len(spare)))
    for i in range(ab.SOURCE_COUNT):
        other[ab.TWINS + i] = 0
    out[1] = plain(st, other, weights, np.int64(0))
    frame = ab.FRAMES + ab.SAVED
    count = ab.list_moves(st, other, weights, np.int64(0), np.int64(-1))
    for i in range(count):
        first = other[frame + i] & 1023
        ab.play(st, other, 0, first)
        replies = np.int64(0)
        if st[PAIRS] != 0:
            replies = ab.list_moves(st, other, weights, np.int64(1), np.int64(-1))
        for j in range(replies):
            second = other[frame + ab.FRAME + j] & 1023
            ab.play(st, other, 1, second)
            hashed = ab._hash(st, other)
            slot = ab.TABLE + 2 * (hashed & mem[ab.TABLE_MASK])
            if st[PAIRS] != 0 and mem[slot] == hashed and (mem[slot + 1] >> 9 & 63) == ab.SOLVED:
                out[2] += 1
                found, bound = mem[slot + 1] >> 32, mem[slot + 1] >> 15 & 3
                value = plain(st, other, weights, np.int64(2))
                if st[TURN] != other[ab.ROOT]:
                    value = -value
                right = found == value if bound == 1 else (found <= value if bound == 2 else found >= value)
                out[3] += not right
            ab.take_back(st, other, 1, second)
        ab.take_back(st, other, 0, first)
    # the boards' table: whatever stands in it is what the board is worth
    for slot in range(ab.BOARDS, ab.TABLE, 2):
        if mem[slot] != 0:
            seat, key = mem[slot] >> 48 & 3, mem[slot] & ((1 << 48) - 1)
            out[4] += board_worth(seat_words(st, seat), key, st[FREE_WALL], weights) != mem[slot + 1]
    out[4] += board_key(seat_words(st, st[TURN])) == 0


@pytest.mark.parametrize(("players", "wall"), [(2, "fixed"), (2, "free"), (3, "fixed"), (4, "fixed"), (3, "free")])
def test_tables_change_nothing(players, wall):
    """Values agree with minimax without tables and with every factory tried; so does each entry two plies on."""
    hits = 0
    for text in late_positions(60, last=False, most_places=5, players=players, wall=wall):
        state = parse_position(text)
        before = state.copy()
        out = np.zeros(5, np.int64)
        solve_twice(state, np.zeros(ab.MEMORY, np.int64), np.zeros(ab.MEMORY, np.int64), out)
        assert out[0] == out[1] and not out[3] and not out[4], (text, out)
        assert (state == before).all()
        hits += out[2]
    assert hits > 100


def test_mcts_comes_to_the_exact_value():
    """Where the round that ends the game has few moves left, many playouts find a move that keeps minimax's value."""
    for text in late_positions(120)[:12]:
        referee = Referee.from_text(text)
        known = {}
        best = minimax(referee, referee.turn, known)
        after = referee.copy()
        after.play(az.choose(az.Game.from_text(text, deals="given"), "mcts:playouts=100000:policy=random"))
        assert minimax(after, referee.turn, known) == best, text


def test_a_kept_tree_loses_no_win():
    """To the end of the last round, where moves begin with the playouts of those before, won stays won, and tied tied.

    By how much is another matter: that takes more playouts than a test has time for, with a kept tree or without.
    """
    players = Players(["mcts:playouts=5000:policy=random"])
    carried = 0
    for text in late_positions(120)[:40]:
        referee = Referee.from_text(text)
        known = [{}, {}]  # the values of each seat
        notes = [players.new_memory() for _ in range(2)]
        while not referee.is_over:
            seat = referee.turn
            best, _ = minimax(referee, seat, known[seat])
            move = players.choose(parse_position(referee.to_text()), 0, 1, 0, notes[seat])
            carried += root_visits(notes[seat]) > 5000
            referee.play(format_move(move))
            assert minimax(referee, seat, known[seat])[0] == best, text
    assert carried > 10


# ---------------------------------------------------------------------------------------------- what it may not look at
ROUND_1 = "azul1 c2 BBRK,YYWW,BYRK,RRRW,BKKW * {0};{0} b16.17.15.16.16 l0.0.0.0.0 t0 s0 r1 offer".format(
    "0:...../...../...../...../.....:-,-,-,-,-:-"
)


@pytest.mark.parametrize("policy", ["search:nodes=2000", "mcts:playouts=100", "mcts:playouts=100:rounds=0"])
def test_it_does_not_know_the_coming_deals(policy):
    """Games that look alike and are dealt other tiles later: the answers are the same, for each word of the policy."""
    for seed in range(5):
        games = [az.Game.from_text(ROUND_1, seed=deals) for deals in range(5)]
        assert len({az.choose(game, policy, seed) for game in games}) == 1


def test_a_kept_tree_does_not_know_the_coming_deals():
    """The moves of a round, and all that is noted with them, are the same whatever is dealt after it."""
    rounds = set()
    for deals in range(4):
        players = Players(["mcts:playouts=100"])
        notes = [players.new_memory() for _ in range(2)]
        game = az.Game.from_text(ROUND_1, seed=deals)
        moves, carried = [], 0
        while game.round == 1:
            seat = game.turn
            moves.append(players.choose(game.state, 0, 1, 0, notes[seat]))
            game.play(format_move(moves[-1]))
            carried += root_visits(notes[seat]) > 100
        assert carried
        rounds.add((*moves, *(memory.tobytes() for memory in notes)))
    assert len(rounds) == 1


POLICIES = ["search:nodes=50", "search:depth=2", "mcts:playouts=30", "mcts:playouts=10:policy=random:rounds=0"]


@pytest.mark.parametrize(("players", "wall", "overflow"), playouts.VARIANTS)
def test_its_moves_are_legal(players, wall, overflow):
    """An illegal answer stops a game with an error; every variant is played to the end."""
    rules = az.Rules(players=players, wall=wall, overflow=overflow)
    for first in (0, 4 - players):
        policies = POLICIES[first : first + players]
        assert az.simulate(games=players, rules=rules, policies=policies, seed=5, threads=1, rotate=True)


def test_a_game_goes_as_its_moves_are_chosen_one_by_one():
    """A move depends on the position and the word alone, not on what was searched before (unless a tree is kept)."""
    policies = ("search:nodes=300", "mcts:playouts=20:reuse=0")
    batch = trace(describe(2, az.Rules(), policies, seed=3), 1)
    game = az.Game(az.Rules(), seed=3, game=1)
    while not game.is_over:
        game.play(az.choose(game, policies[game.turn], seed=3))
    assert game.history == batch.history


# ------------------------------------------------------------------------------------------------- time, and the tree
@pytest.mark.parametrize(("policy", "most"), [("search:time=1e-9", 2000), ("search:time=1e-9:depth=30", 2000)])
def test_time_stops_a_search(policy, most):
    """With a time that is over at once, as many nodes are visited as lie between two looks at the clock."""
    game, players = az.Game(seed=1), Players([policy])
    memory = players.new_memory()
    assert format_move(players.choose(game.state, 0, 1, 0, memory)) in game.legal_moves()
    assert 0 < memory[ab.VISITED] <= most


def test_time_stops_playouts():
    game, players = az.Game(seed=1), Players(["mcts:time=1e-9"])
    memory = players.new_memory()
    assert format_move(players.choose(game.state, 0, 1, 0, memory)) in game.legal_moves()
    assert 0 < root_visits(memory) <= 16


@pytest.mark.parametrize(
    ("policy", "same"), [("search:nodes=3000", "search:nodes=3000:time=1e300"), ("mcts:playouts=50",) * 2]
)
def test_what_is_used_up_first_counts(policy, same):
    """A time that is never used up changes nothing; nor does a limit of nodes that is met before the time."""
    same = same if same != policy else f"{policy}:time=1000"
    for game in games_to(policy="greedy", plies=12):
        assert az.choose(game, policy) == az.choose(game, same)


def games_to(policy, plies):
    """A game after each of its first plies."""
    game = az.Game(seed=4)
    for _ in range(plies):
        yield game
        game.play(az.choose(game, policy))


def root_visits(memory):
    """Playouts through the root of the tree."""
    root = mcts.TREE + 1
    edges = memory[root + mcts._NODE :][: memory[root] * mcts._EDGE].reshape(-1, mcts._EDGE)
    return int(edges[:, mcts._EDGE_VISITS].sum())


def check_tree(memory):
    """Nodes stand one behind the other to the end of the tree, each but the root the child of one before it."""
    node, children = 1, [1]
    while node < memory[mcts.USED]:
        at = mcts.TREE + node
        assert node in children and memory[at + mcts._NODE_PLACE] == 0
        edges = memory[at + mcts._NODE :][: memory[at] * mcts._EDGE].reshape(-1, mcts._EDGE)
        found = edges[edges[:, mcts._EDGE_CHILD] != 0]
        assert (found[:, mcts._EDGE_CHILD] > node).all()
        children.extend(found[:, mcts._EDGE_CHILD].tolist())
        node += mcts._NODE + memory[at] * mcts._EDGE
    assert node == memory[mcts.USED] and len(children) == len(set(children))


@pytest.mark.parametrize(("count", "wall"), [(2, "fixed"), (2, "free"), (3, "fixed"), (4, "fixed")])
def test_the_tree_is_kept(count, wall):
    """Within a round the next move begins where the last one's tree has come to, its playouts counted."""
    policy = "mcts:playouts=400"
    players = Players([policy])
    kept = moves = 0
    for seed in range(2):
        game = az.Game(az.Rules(players=count, wall=wall), seed=seed)
        memories, rounds = [players.new_memory() for _ in range(count)], [0] * count
        while not game.is_over and game.round <= 2:
            seat, memory = game.turn, memories[game.turn]
            move = format_move(players.choose(game.state, 0, seed, 0, memory))
            if game.phase == "offer":
                check_tree(memory)
                assert root_visits(memory) >= 400
                if rounds[seat] == game.round:
                    moves += 1
                    kept += root_visits(memory) > 400
                else:
                    assert root_visits(memory) == 400
                rounds[seat] = game.round
            game.play(move)
    assert kept > moves * (0.7 if count == 2 else 0.2)


@kernel
def keep(state, memory):
    return mcts._keep(words(state), words(memory))


def edges_of(memory, node):
    """Of a node of the tree; [edge, word]."""
    at = mcts.TREE + node
    return memory[at + mcts._NODE :][: memory[at] * mcts._EDGE].reshape(-1, mcts._EDGE)


def subtree(memory, node):
    """All that was counted below a node, without the places where it stands."""
    return [
        (*edge[: mcts._EDGE_CHILD], subtree(memory, edge[mcts._EDGE_CHILD]) if edge[mcts._EDGE_CHILD] else None)
        for edge in edges_of(memory, node).tolist()
    ]


@pytest.mark.parametrize("count", [2, 3])
def test_what_is_kept_is_what_was_counted(count):
    """The part kept is the one that the moves played lead to (or that of other moves to the same, visited more)."""
    players, followed = Players(["mcts:playouts=2000"]), 0
    for seed in range(4):
        game, memory = az.Game(az.Rules(players=count), seed=seed), players.new_memory()
        while game.round == 1:
            node = 1
            first = format_move(players.choose(game.state, 0, seed, 0, memory))
            for number in range(count):
                move = az.choose(game, "greedy") if number else first
                found = [edge for edge in edges_of(memory, node) if node and format_move(int(edge[0])) == move]
                node = int(found[0][mcts._EDGE_CHILD]) if found else 0
                game.play(move)
            if game.round > 1 or not node:
                continue
            before, visits = subtree(memory, node), edges_of(memory, node)[:, mcts._EDGE_VISITS].sum()
            after = memory.copy()
            assert keep(game.state, after) == 1
            assert {format_move(int(edge[0])) for edge in edges_of(after, 1)} <= set(game.legal_moves())
            assert root_visits(after) >= visits
            if root_visits(after) == visits:
                followed += 1
                assert subtree(after, 1) == before
            check_tree(after)
    assert followed >= 8


def test_games_with_a_kept_tree():
    """Games of a batch are those whose moves are asked for one by one with the seat's notes, and repeat."""
    run = describe(3, az.Rules(), ["mcts:playouts=60", "mcts:playouts=30"], seed=5)
    played = [trace(run, number) for number in range(3)]
    assert [game.history for game in played] == [trace(run, number).history for number in range(3)]
    statistics = az.simulate(games=3, policies=run.policies, seed=5, threads=2)
    for seat in range(2):
        assert statistics.seats[seat].score.mean == pytest.approx(sum(game.scores[seat] for game in played) / 3)


def test_kernels_are_loaded_from_the_cache():
    """In a new process: numba aborts on a cached function that calls itself with other types."""
    code = "import azul_fast as az; print(az.choose(az.Game(seed=1), 'search:nodes=100'))"
    here = az.choose(az.Game(seed=1), "search:nodes=100")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == here


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("search:nodes=0", "nodes is a whole number from 1 on, not 0"),
        ("search:depth=1.5", "depth is a whole number from 0 on, not 1.5"),
        ("search:playouts=5", "policy search has the parameters nodes, depth, time, not 'playouts'"),
        ("mcts:playouts=0", "playouts is a whole number from 1 on, not 0"),
        ("search:time=-1", "time is a number of seconds from 0 on, not -1"),
        ("mcts:time=-0.5", "time is a number of seconds from 0 on, not -0.5"),
        ("mcts:reuse=2", "reuse is 0 or 1"),
        ("mcts:policy=3", "policy is random, tidy, greedy or 0 to 2"),
        ("mcts:policy=best", "parameters are written name=number, not 'policy=best'"),
    ],
)
def test_bad_budgets(text, message):
    with pytest.raises(az.AzulError) as error:
        az.choose(az.Game(seed=1), text)
    assert message in str(error.value)
