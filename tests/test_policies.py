"""Policies written by people: what they see, what they may answer, and that their games are like any others."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import playouts
import pytest
from numba import njit

import azul_fast as az
from azul_fast import evaluation
from azul_fast.batch import describe, play
from azul_fast.errors import AzulError, PolicyError
from azul_fast.policies import view as views
from azul_fast.policies.defaults import PARAMETERS
from azul_fast.policies.plan import line_value, tile_value
from azul_fast.policies.view import ACTION, MISSED, PENALTY, POINTS, list_moves, look, view_arrays
from azul_fast.rules import COLORS
from azul_fast.trace import trace

CAREFUL = """
from numba import njit
from azul_fast.policies.view import ACTION, PENALTY, POINTS

@njit
def careful(view):
    best, answer = -1e9, -1
    for move in view.moves:
        value = move[POINTS] - view.parameters[0] * move[PENALTY]
        if value > best:
            best, answer = value, move[ACTION]
    return answer
"""


@njit
def first(view):
    return view.moves[0, ACTION]


@njit
def at_ply_seven(view):
    """Legal for three turns of each of two seats, then what its first parameter says."""
    view.memory[0] += 1
    return view.moves[0, ACTION] if view.memory[0] <= 3 else np.int64(view.parameters[0])


@njit
def notes(view):
    """Counts its turns; no legal answer when the count is not 0 where a game begins, or is where it goes on."""
    tiles = 0
    for line in range(5):
        tiles += view.lines[0, line, 0]
    begins = view.round == 1 and tiles == 0 and view.floors[0] == 0
    if begins != (view.memory[0] == 0):
        return -1
    view.memory[0] += 1
    return view.moves[0, ACTION]


@njit
def by_chance(view):
    return view.moves[view.word % len(view.moves), ACTION]


@pytest.fixture
def file(tmp_path):
    def write(text, name="mybots.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


# ------------------------------------------------------------------------------------------------------ how it is named
def test_a_file_with_numbers(file):
    """The number after the name is in `view.parameters`: one who minds the floor loses fewer points on it."""
    name = f"{file(CAREFUL)}::careful"
    found = az.simulate(48, policies=[f"{name}:floor=3", f"{name}:floor=0"], seed=1, rotate=True)
    minds, does_not = (each.floor_points.mean for each in found.policies.values())
    assert minds < does_not


def test_a_function():
    name = az.policy(first)
    assert name == "first"
    game = az.Game(seed=3)
    assert az.choose(game, name) == game.legal_moves()[0]
    with pytest.raises(AzulError, match="taken"):
        az.policy(notes, name="greedy")
    with pytest.raises(AzulError, match="compiled with numba"):
        az.policy(len)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (None, "careful", "No such file"),
        ("def careful(view)\n", "careful", "line 1: not Python"),
        (CAREFUL, "carefull", "has no function 'carefull': careful"),
        ("def careful(view):\n    return 0\n", "careful", "compiled with @njit is needed"),
        ("1 / 0\ndef careful(view):\n    return 0\n", "careful", "ZeroDivisionError: division by zero"),
        ("from numba import njit\n@njit\ndef careful(view, more):\n    return 0\n", "careful", "does not compile"),
        ("from numba import njit\n@njit\ndef careful(view):\n    return view.hand\n", "careful", "does not compile"),
        ("from numba import njit\n@njit\ndef careful(view):\n    return 0.5\n", "careful", "returns float64"),
    ],
)
def test_files_that_are_no_policies(file, tmp_path, text, name, message):
    path = tmp_path / "mybots.py"
    if text is not None:
        file(text)
    with pytest.raises(AzulError, match=message) as error:
        az.simulate(2, policies=f"{path}::{name}", seed=1)
    assert "\n" not in str(error.value) and "mybots.py" in str(error.value)


# ------------------------------------------------------------------------------------------------------ what it answers
@pytest.mark.parametrize(
    ("answer", "said"), [("-1", "answered -1,"), ("1e15", "answered 1000000000000000,"), ("300", "(1=1)")]
)
def test_an_answer_that_is_not_legal_stops_the_run(answer, said):
    """Each of two seats has answered three times: the seventh ply of the game, and the message repeats it."""
    name = f"{az.policy(at_ply_seven)}:answer={answer}"
    with pytest.raises(PolicyError) as error:
        az.simulate(10, policies=name, seed=4, threads=1)
    message = str(error.value)
    assert "\n" not in message and said in message
    assert f"policy {name}: game 0, ply 7, seat 0: answered" in message
    assert az.Game.from_text(message[message.index("azul1 ") :], seed=1).turn == 0


@njit
def seldom_right(view):
    """A legal move, but once in 256 times."""
    return np.int64(-1) if (view.word >> 8) & 255 == 7 else view.moves[0, ACTION]


def test_the_first_game_with_a_wrong_answer_is_named_whatever_the_threads():
    """Games are worked on in chunks by several threads, rollouts in parts: all find wrong answers."""
    name = az.policy(seldom_right)

    def said(play, **how):
        with pytest.raises(PolicyError, match="which is not legal") as error:
            play(**how)
        return str(error.value)

    run = describe(400, policies=name, seed=4)
    games = {said(play, run=run, threads=threads, chunk_games=games) for threads in (1, 2, 3) for games in (1, 7, 400)}
    assert len(games) == 1
    text = az.Game(seed=3).to_text()
    for cut in (False, True):
        question = evaluation.describe(text, name, rollouts=2000, seed=1, depth_cut=cut)
        rollouts = {
            said(evaluation.answer, question=question, threads=threads, step_pairs=pairs)
            for threads in (1, 2)
            for pairs in (1, 3, 8)
        }
        assert len(rollouts) == 1


@pytest.mark.parametrize("answer", [-7, 10**9])
def test_choose_names_it_too(file, answer):
    path = file(f"from numba import njit\n@njit\ndef wrong(view):\n    return {answer}\n")
    game = az.Game(seed=1, game=5)
    with pytest.raises(PolicyError, match=f"game 5, ply 1, seat 0: answered {answer}, which is not legal in azul1 c2 "):
        az.choose(game, f"{path}::wrong")


# ----------------------------------------------------------------------------------------------------------- its games
def test_memory_is_kept_in_a_game_and_empty_in_the_next():
    found = az.simulate(24, policies=[az.policy(notes), "greedy"], rotate=True, seed=2, threads=2)
    assert found.games == 24


def test_the_deals_are_those_of_other_policies():
    """Until the bag is refilled, in round 6 of two players, deals depend on nothing that is played."""
    deals = []
    for policies in (az.policy(by_chance), "greedy"):
        record = trace(describe(4, policies=policies, seed=8), 3).record()
        deals.append([each["deal"] for each in record["rounds"][:5]])
    assert deals[0] == deals[1]


def test_threads_and_chunks_change_nothing():
    policies = [az.policy(by_chance), "greedy", "plan"]
    run = describe(36, az.Rules(players=3, wall="free"), policies, seed=6, rotate=True)
    found = [play(run, threads=threads, chunk_games=games).to_dict() for threads, games in ((1, 36), (2, 3))]
    assert {**found[0], "run": None} == {**found[1], "run": None}


def test_the_cache(file):
    """A second process compiles nothing; an edit of the file is seen, and only it is compiled again."""
    path = file(CAREFUL)
    program = f"""
import azul_fast as az
from azul_fast import _jit
compiled = []
_jit.on_compile = compiled.append
game = az.Game(seed=1)
print(az.choose(game, {f"{path}::careful:floor=2"!r}) == game.legal_moves()[-1], *compiled)
"""

    def run():
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    az.choose(az.Game(seed=1), "plan")  # the kernel that calls policies is there
    assert run() == ["False", "careful"]
    assert run() == ["False"]
    path.write_text(CAREFUL.replace("return answer", "return view.moves[-1, ACTION]"))
    assert run() == ["True", "careful"]
    assert run() == ["True"]


# -------------------------------------------------------------------------------------------------------- what it sees
def test_the_view_is_the_position():
    """Every array against the position's data, in positions of every variant, offers and gray-wall choices."""
    texts = [text for text in playouts.met_in_play() if text.endswith((" offer", " tile"))]
    texts = [text for text in texts if text.endswith(" tile")][:60] + random.Random(1).sample(texts, 250)
    for text in texts:
        game = az.Game.from_text(text, seed=1)
        position, players = game.position, len(game.position.boards)
        numbers, memory = np.array([2.5]), np.zeros(1, np.int64)
        view = look(game.state.copy(), 99, numbers, memory, *view_arrays())
        sources = (position.center, *position.factories)
        assert view.offer[: len(sources)].tolist() == [[tiles.count(c) for c in COLORS] for tiles in sources]
        for board in range(players):
            own = position.boards[(position.turn + board) % players]
            cells = [[COLORS.find(cell) + 1 for cell in row] for row in own.wall]
            assert view.walls[board].tolist() == cells
            assert view.lines[board].tolist() == [[len(line), COLORS.find(line[:1] or "B")] for line in own.lines]
            assert (view.floors[board], view.scores[board]) == (own.floor_cells, own.score)
        assert tuple(view.bag) == position.bag
        assert (view.players, view.round, view.marker) == (players, position.round, position.marker)
        assert view.word == 99 and view.parameters[0] == 2.5
        check_moves(game, view.moves)


def check_moves(game, moves):
    from azul_fast.notation import format_move
    from azul_fast.play import points_now

    assert [format_move(int(move[ACTION])) for move in moves] == game.legal_moves()
    for move in moves.tolist():
        known = az.Move.parse(format_move(move[ACTION]))
        if known.is_choice:
            assert (move[views.SOURCE], move[views.LINE], move[views.COLUMN]) == (-1, known.line, known.column)
            continue
        tiles = game.position.center if known.source == 0 else game.position.factories[known.source - 1]
        assert move[views.TILES] == tiles.count(COLORS[known.color])
        assert (move[POINTS], move[PENALTY]) == points_now(game.position, known)
        assert move[views.MARKER_TAKEN] == (known.source == 0 and game.position.marker)
        held = 0 if known.line == 5 else len(game.position.boards[game.turn].lines[known.line])
        room = 0 if known.line == 5 else known.line + 1 - held
        assert move[MISSED] == max(0, move[views.TILES] - room)


def test_a_policy_does_not_see_the_order_of_the_bag():
    game = az.Game(seed=1)
    other = az.Game.from_text(game.to_text(), seed=2)
    found = [look(each.state.copy(), 0, np.zeros(1), np.zeros(1, np.int64), *view_arrays()) for each in (game, other)]
    assert found[0].state.tolist() == found[1].state.tolist()
    assert list_moves(game.state.copy(), view_arrays()[0]) == len(game.legal_moves())


def test_the_example_of_the_view_runs(file):
    text = views.__doc__.split("::\n", 1)[1]
    lines = [line[4:] for line in text.splitlines() if line.startswith("    ") or not line.strip()]
    name = f"{file(chr(10).join(lines))}::careful"
    assert az.simulate(4, policies=[name, "random"], seed=1).games == 4


# ------------------------------------------------------------------------------------------------- what `plan` thinks
def plan_with(**weights):
    """`plan` with all weights 0 but these."""
    given = dict.fromkeys(PARAMETERS["plan"], 0.0) | weights
    return "plan:" + ":".join(f"{name}={value}" for name, value in given.items())


def test_the_value_of_a_tile_by_hand():
    """Row 1 has columns 1, 2 and 3 (BYR), row 2 has column 4 (R): black comes to row 1, column 4, beside and above.

    4 points for the row and 2 for the column. The row goes from 3 of 5 tiles to 4: 2 * (16 - 9) / 25 of its bonus;
    column 4 from 1 to 2: 7 * (4 - 1) / 25; black from 0 to 1: 10 * 1 / 25; and the cell to the right is empty.
    """
    wall = 0b01000_00111
    row_colors = 0b00100_00111
    column_colors = 1 << 5 * 0 + 0 | 1 << 5 * 1 + 1 | 1 << 5 * 2 + 2 | 1 << 5 * 3 + 2
    terms = {"row": 14 / 25, "column": 21 / 25, "color": 10 / 25, "neighbor": 1}
    for name, expected in terms.items():
        weights = np.array([float(key == name) for key in PARAMETERS["plan"]])
        for left in (1.0, 0.25, 0.0):  # of the game: what is prepared counts in proportion
            found = tile_value(wall, row_colors, column_colors, 0, 3, 3, left, weights)
            assert found == pytest.approx(4 + 2 + left * expected), name


def test_the_value_of_a_line_by_hand():
    """Two of three tiles, and the tile is worth 6 points: two thirds of that times 1/4, less 3, is -2.

    With 3 tiles of the color on offer, half of 3/4 of the way from there to 6 points may be hoped for.
    """
    given = {"carry": 0.25, "stuck": 3.0, "hope": 0.5}
    weights = np.array([given.get(name, 0.0) for name in PARAMETERS["plan"]])
    assert line_value(2, 2, 6.0, 0, 1.0, weights) == pytest.approx(-2)
    assert line_value(2, 2, 6.0, 3, 1.0, weights) == pytest.approx(-2 + 3 / 8 * 8)
    assert line_value(2, 1, 6.0, 1, 1.0, weights) == pytest.approx(-2.5)  # two are missing
    assert line_value(2, 2, 6.0, 3, 0.0, weights) == pytest.approx(3 / 8 * 6)
    assert line_value(2, 2, 6.0, 0, 0.0, weights) == 0 == line_value(2, 0, 6.0, 3, 1.0, weights)
    assert line_value(2, 3, 6.0, 0, 0.0, weights) == 6


EMPTY = "0:...../...../...../...../.....:-,-,-,-,-:-"


@pytest.mark.parametrize(
    ("weights", "moves"),
    [
        ({}, {"1B1", "2K1", "2K2", "CW1"}),  # a point for each line that is full; the floor costs nothing
        ({"floor": 1.0}, {"1B1", "2K2"}),  # the others drop a tile, or the marker
        ({"floor": 1.0, "marker": 3.0}, {"CW1"}),
        ({"floor": 1.0, "tile": 0.5}, {"2K2"}),
        ({"stuck": -9.0}, {"1B2", "1B3", "1B4", "1B5", "2K3", "2K4", "2K5", "CW2", "CW3", "CW4", "CW5"}),
        ({"floor": 1.0, "reply": 1.0}, {"2K2"}),
        ({"again": 1.0}, {"2K2"}),  # then the other takes 1B1, and CW1 is left; else 2K2, and line 1 is for one color
    ],
)
def test_what_each_weight_makes_it_play(weights, moves):
    """Factory 1 holds one blue tile, factory 2 two black ones, the center the marker and one white tile.

    On the next player's wall black lacks in row 2 of a column that is full but for it: 5 points. Nothing else brings
    either player more than 1.
    """
    other = "9:....W/...../....R/....Y/....B:-,-,-,-,-:-"
    text = f"azul1 c2 B,KK,-,-,- *W {EMPTY};{other} b? l0.0.0.0.0 t0 s0 r2 offer"
    game = az.Game.from_text(text, seed=1)
    assert {az.choose(game, plan_with(**weights), seed) for seed in range(60)} == moves


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import sys\nsys.exit(7)", "SystemExit"),
        ("from numba import njit\n@njit\ndef bot(view):\n    import os\n    return os.getcwd()", "does not compile"),
        ("from numba import njit\n@njit\ndef bot(view, floor):\n    return 0", "does not compile"),
        ("from numba import njit\n@njit\ndef bot(view):\n    return view.nothing", "does not compile"),
    ],
)
def test_a_file_that_fails_is_one_line(tmp_path, body, said):
    file = tmp_path / "bots.py"
    file.write_text(body + ("" if "def bot" in body else "\ndef bot(view): return 0") + "\n")
    with pytest.raises(az.AzulError, match=said) as caught:
        az.simulate(games=2, policies=f"{file}::bot", seed=1)
    assert "\n" not in str(caught.value)
