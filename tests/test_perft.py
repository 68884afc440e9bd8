"""The tree of legal moves within a round, counted: against the slow referee and against itself."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from playouts import VARIANTS, met_in_play
from referee import Referee
from referee import perft as by_the_referee

import azul_fast as az
from azul_fast import tree
from azul_fast.cli.main import run
from azul_fast.errors import AzulError
from azul_fast.position import Position
from azul_fast.tree import MAX_DEPTH, count, perft, split

ROOT = Path(__file__).resolve().parent.parent
POSITIONS = ROOT / "tests" / "perft" / "positions.txt"
FIRST_TURN = (
    "azul1 c2 BBRK,YYWW,BYRK,RRRW,BKKW * 0:...../...../...../...../.....:-,-,-,-,-:-;"
    "0:...../...../...../...../.....:-,-,-,-,-:- b16.17.15.16.16 l0.0.0.0.0 t0 s0 r1 offer"
)
WAITS = (
    "azul1 c2 -,-,-,-,- * 0:...../...../...../...../.....:-,-,-,-,-:-;"
    "0:...../...../...../...../.....:-,-,-,-,-:- b20.20.20.20.20 l0.0.0.0.0 t0 s0 r0 deal"
)
SMALL = 250  # leaves that the referee counts again here


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Every test meets compiled kernels."""
    assert sum(below.leaves for _, below in split(FIRST_TURN, 2)) == 6552


def positions():
    """(text, [leaves at depth 1, 2, ...]) for each position of the file."""
    found = []
    for line in POSITIONS.read_text().splitlines():
        if line and not line.startswith("#"):
            counts, azul1, rest = line.partition("azul1 ")
            found.append((azul1 + rest, [int(word) for word in counts.split()]))
    return found


# ---------------------------------------------------------------------------------------------------------- the numbers
def test_the_file_covers_the_game():
    found = positions()
    assert len({text for text, _ in found}) == len(found) >= 30
    sides = {text.split()[1] for text, _ in found}
    assert sides == {f"{side}{players}{rule}" for side in "cg" for players in "234" for rule in ("", "r")}
    for side in sides:
        phases = [text.split()[-1] for text, _ in found if text.split()[1] == side]
        assert phases.count("offer") >= 4 and phases.count("tile") == (2 if side.startswith("g") else 0)
    assert any(not Position.read(text).marker for text, _ in found)
    assert any(board.floor_cells == 7 for text, _ in found for board in Position.read(text).boards)
    assert sum(counts[-1] for _, counts in found) > 1_000_000
    assert sum(len(counts) > 4 for _, counts in found) > 20


@pytest.mark.parametrize("bulk", [True, False])
def test_counts_of_the_file(bulk):
    for text, counts in positions():
        assert [perft(text, depth, bulk=bulk) for depth in range(1, len(counts) + 1)] == counts, text


def test_the_referee_counts_the_same_again():
    for text, counts in positions():
        game = Referee.from_text(text)
        for depth, leaves in enumerate(counts, 1):
            if leaves > SMALL:
                break
            assert by_the_referee(game, depth) == leaves, text


def test_the_file_is_what_its_script_makes():
    assert "scripts/make_perft.py" in POSITIONS.read_text()
    code = "import make_perft as m; print(*[m.find(v, m.choices) for v in m.VARIANTS if v[1] == 'free'], sep='\\n')"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "scripts", capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(found) == len(VARIANTS) / 2 and set(found) <= {text for text, _ in positions()}


def test_positions_met_in_play():
    """Every phase and variant, where the referee is quick enough."""
    texts = [text for text in met_in_play() if text.endswith((" offer", " tile"))]
    few = [text for text in texts if sum(map(len, set(Position.read(text).offered()))) <= 2]
    assert len(few) > 100
    for text in few[::8]:
        game = Referee.from_text(text)
        assert [perft(text, depth) for depth in (1, 2)] == [by_the_referee(game, depth) for depth in (1, 2)], text


def test_the_first_turn():
    """84 moves: 14 ways to take, each to 5 lines or the floor; afterwards the number that is hand-counted for 1B1."""
    assert [perft(FIRST_TURN, depth) for depth in range(5)] == [1, 84, 6552, 393_948, 20_234_527]
    # after 1B1 the center holds RK and the marker: 2 + 2 + 4 + 2 + 3 colors to take, to any of six places
    assert dict(split(FIRST_TURN, 2))["1B1"].leaves == 6 * (2 + 2 + 4 + 2 + 3)


def test_a_line_of_play_that_ends_the_round_is_one_leaf():
    text, counts = next((text, counts) for text, counts in positions() if counts[-1] == counts[-2] > 20)
    assert all(perft(text, depth) == counts[-1] for depth in range(len(counts), MAX_DEPTH + 1, 9))


def test_depth_0_is_the_position_itself():
    assert all(count(text, 0) == (1, 0) for text, _ in positions())


# ---------------------------------------------------------------------------------------------------------- how counted
def test_moves_made():
    """Without bulk every node of the tree but the root is made; with bulk those before the last ply."""
    assert count(FIRST_TURN, 3, bulk=False) == (393_948, 84 + 6552 + 393_948)
    assert count(FIRST_TURN, 3) == (393_948, 84 + 6552)
    assert count(FIRST_TURN, 1) == (84, 0)


@pytest.mark.parametrize("bulk", [True, False])
def test_a_count_in_many_short_calls(monkeypatch, bulk):
    """The kernel comes back from time to time, so that Ctrl-C is heard; nothing is counted twice or left out."""
    monkeypatch.setattr(tree, "MOVES_A_CALL", 7)
    for text, counts in positions()[::4]:
        assert perft(text, 2, bulk=bulk) == counts[1]


@pytest.mark.parametrize("bulk", [True, False])
def test_split(bulk):
    for text, counts in positions():
        game = az.Game.from_text(text, deals="given")
        for depth, leaves in enumerate(counts[:3], 1):
            branches = dict(split(text, depth, bulk=bulk))
            assert list(branches) == game.legal_moves()
            assert sum(below.leaves for below in branches.values()) == leaves
        for move in list(branches)[:2]:
            after = game.copy()
            after.play(move)
            ended = after.phase in ("deal", "over")
            assert branches[move].leaves == (1 if ended else perft(after, depth - 1))


def test_games_positions_and_texts_are_taken_and_left_alone():
    game = az.Game.from_text(FIRST_TURN, seed=1)
    before = game.to_dict()
    assert az.perft is perft
    assert az.perft(game, 2) == az.perft(game.position, 2) == az.perft(FIRST_TURN, 2) == 6552
    assert game.to_dict() == before


@pytest.mark.parametrize("depth", [-1, 57, 1.0, True, "2", None, 10**100])
def test_depths_that_are_none(depth):
    with pytest.raises(AzulError, match=r"^depth must be a whole number from 0 to 56, not .+$"):
        perft(FIRST_TURN, depth)
    with pytest.raises(AzulError, match=r"^depth must be a whole number from 1 to 56, not .+$"):
        next(split(FIRST_TURN, depth))


def test_nothing_to_count():
    with pytest.raises(AzulError, match=r"^depth must be a whole number from 1 to 56, not 0$"):
        next(split(FIRST_TURN, 0))
    with pytest.raises(AzulError, match=r"^position: the round has not been dealt, there are no moves to count$"):
        perft(WAITS, 0)
    over = next(text for text in met_in_play() if text.endswith("over-row"))
    with pytest.raises(AzulError, match=r"^position: the game is over, there are no moves to count$"):
        perft(over, 1)
    with pytest.raises(AzulError, match=r"^position: format: azul1 expected, not 'chess'$"):
        perft("chess", 1)


# ---------------------------------------------------------------------------------------------------------- the command
def test_the_command_prints_the_count(capsys):
    assert run(["perft", FIRST_TURN, "3"]) == 0
    out, err = capsys.readouterr()
    assert out == "393948\n"
    assert re.fullmatch(r"[\d.]+ s: [\d,]+ leaves/s; 6,636 moves made, [\d,]+ moves/s\n", err)
    assert run(["perft", FIRST_TURN, "3", "--no-bulk"]) == 0
    out, err = capsys.readouterr()
    assert out == "393948\n" and "400,584 moves made" in err


def test_the_command_splits(capsys):
    assert run(["perft", FIRST_TURN, "2", "--split"]) == 0
    *lines, total = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == az.Game.from_text(FIRST_TURN, deals="given").legal_moves()
    assert sum(int(line.split()[1]) for line in lines) == 6552 and total == "total 6552"


def test_the_command_prints_json(capsys):
    assert run(["perft", FIRST_TURN, "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("run").keys() == {"seconds", "moves_made", "bulk"}
    assert found == {"format": "azul-perft/1", "position": FIRST_TURN, "depth": 2, "leaves": 6552}
    assert run(["perft", FIRST_TURN, "1", "--split", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["leaves"] == 84 == len(found["moves"]) and set(found["moves"].values()) == {1}


def test_the_position_comes_from_a_file(capsys, tmp_path):
    (tmp_path / "position.txt").write_text(FIRST_TURN + "\n")
    assert run(["perft", f"@{tmp_path / 'position.txt'}", "1"]) == 0
    assert capsys.readouterr().out == "84\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([FIRST_TURN, "57"], "depth must be a whole number from 0 to 56, not 57"),
        ([FIRST_TURN, "two"], "depth: 'two' is not a whole number such as 1000000, 1_000_000 or 1e6"),
        ([FIRST_TURN, "0", "--split"], "depth must be a whole number from 1 to 56, not 0"),
        ([FIRST_TURN], "Missing argument 'DEPTH'."),
        ([WAITS, "1"], "position: the round has not been dealt, there are no moves to count"),
        (["azul1 c2", "1"], "position: factories: missing; the text ends before it"),
        (["@no/such/file", "1"], "no/such/file could not be read: No such file or directory"),
    ],
)
def test_the_command_says_in_one_line_what_is_wrong(capsys, arguments, message):
    assert run(["perft", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"azul-fast perft: {message}\n")


def test_the_command_is_interrupted():
    """In the middle of a kernel that would run for hours; what is printed is whole."""
    command = [sys.executable, "-m", "azul_fast", "perft", FIRST_TURN, "6", "--split"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert re.fullmatch(r"1B1 \d+\n", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "azul-fast perft: interrupted"
    assert "total" not in out
