"""`choose`: what a policy plays in one game; and how moves are told to people."""

import random

import playouts
import pytest
from referee import Referee

import azul_fast as az
from azul_fast.play import in_words, points_now

EMPTY = "0:...../...../...../...../.....:-,-,-,-,-:-"
FIRST_TURN = f"azul1 c2 BBRK,YYWW,BYRK,RRRW,BKKW * {EMPTY};{EMPTY} b16.17.15.16.16 l0.0.0.0.0 t0 s0 r1 offer"


@pytest.mark.parametrize(("players", "wall", "overflow"), playouts.VARIANTS)
def test_it_plays_as_in_a_batch(players, wall, overflow):
    """With the seed of the game itself each seat's policy plays game 3 of the batch, move by move."""
    from azul_fast.batch import describe
    from azul_fast.trace import trace

    rules = az.Rules(players=players, wall=wall, overflow=overflow)
    policies = ("random", "greedy", "tidy", "greedy")[:players]
    batch = trace(describe(4, rules, policies, seed=11), 3)
    game = az.Game(rules, seed=11, game=3)
    while not game.is_over:
        text = game.to_text()
        move = az.choose(game, policies[game.turn], seed=11)
        assert game.to_text() == text and move in game.legal_moves()
        assert az.choose(game, policies[game.turn], seed=11) == move
        game.play(move)
    assert game.history == batch.history and game.result() == batch.result()


def test_greedy_is_what_is_asked_when_nothing_is_said():
    """Line 4 lacks one red tile, to lie below black for 2 points; two white ones come to lie above it, for 2 as well.

    Factories 1 and 3 hold one red tile, factory 4 three: two of them to the floor, which costs 2. All else scores 1.
    """
    board = "0:...../...../K..../...../.....:-,-,-,R3,-:-"
    text = f"azul1 c2 BBRK,YYWW,BYRK,RRRW,BKKW * {board};{EMPTY} b16.17.12.15.16 l0.0.0.0.0 t0 s0 r2 offer"
    game = az.Game.from_text(text, seed=1)
    assert az.choose(game) == az.choose(game, "greedy", 1)
    assert points_now(game.position, az.Move.parse("1R4")) == (2, 0)
    assert points_now(game.position, az.Move.parse("4R4")) == (2, 2)
    assert {az.choose(game, seed=seed) for seed in range(30)} == {"1R4", "2W2", "3R4"}


def test_other_seeds_choose_otherwise():
    game = az.Game.from_text(FIRST_TURN, seed=1)
    assert len({az.choose(game, "random", seed) for seed in range(50)}) > 20


def test_where_there_is_nothing_to_choose():
    with pytest.raises(az.IllegalMoveError, match="choose: the round has not been dealt"):
        az.choose(az.Game(deals="given"))
    game = az.Game(seed=1)
    while not game.is_over:
        game.play(az.choose(game))
    with pytest.raises(az.GameOverError, match="choose: the game is over"):
        az.choose(game)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gredy",), "not 'gredy'"),
        (("greedy", -1), "seed must be 0 to 2^53 - 1, not -1"),
        (("greedy", 1.5), "seed must be a whole number, not 1.5"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(az.AzulError) as error:
        az.choose(az.Game(seed=1), *arguments)
    assert message in str(error.value)
    with pytest.raises(az.AzulError, match="game must be a Game, not 'azul1 c2"):
        az.choose(FIRST_TURN)


# ------------------------------------------------------------------------------------------------------- told to people
def test_points_are_those_that_the_referee_sees():
    """For greedy the referee values every legal move on its own; here the gain and the loss are told apart."""
    for text in random.Random(5).sample(playouts.met_in_play(), 300):
        game, referee = az.Game.from_text(text, deals="given"), Referee.from_text(text)
        for move in game.legal_moves():
            gain, lost = points_now(game.position, az.Move.parse(move))
            assert gain >= 0 <= lost
            worth = referee.choice_points(move) if referee.phase == "tile" else referee.greedy_value(move)
            assert gain - lost == worth, (text, move)


@pytest.mark.parametrize(
    ("move", "words", "points"),
    [
        ("1B2", "factory 1, 2 blue to line 2", (1, 0)),
        ("4R2", "factory 4, 3 red to line 2, 1 of them to the floor", (1, 1)),
        ("4R5", "factory 4, 3 red to line 5", (0, 0)),
        ("2YF", "factory 2, 2 yellow to the floor", (0, 2)),
    ],
)
def test_a_move_in_words(move, words, points):
    """The first turn; factory 1 holds BBRK, factory 2 YYWW, factory 4 RRRW."""
    position = az.Game.from_text(FIRST_TURN, seed=1).position
    assert (in_words(position, az.Move.parse(move)), points_now(position, az.Move.parse(move))) == (words, points)


def test_the_marker_in_words():
    """The center holds the marker and two white tiles; one thing lies on the floor already."""
    board = EMPTY[:-1] + "B"
    game = az.Game.from_text(f"azul1 c2 -,-,-,-,- *WW {board};{EMPTY} b? l0.0.0.0.0 t0 s0 r1 offer", seed=1)
    move = az.Move.parse("CW1")
    assert in_words(game.position, move) == "center, 2 white and the marker to line 1, 1 of them to the floor"
    assert points_now(game.position, move) == (1, 1 + 2)


def test_a_choice_in_words():
    """Line 1 holds blue, row 1 lacks column 1 and 2 and only column 2 lacks blue; line 2 has no column for white."""
    wall = "..RKW/...../...../B..../....."
    game = az.Game.from_text(f"azul1 g2 -,-,-,-,- - 0:{wall}:B1,-,-,-,-:*;{EMPTY} b? l0.0.0.0.0 t0 s0 r6 tile", seed=1)
    assert game.legal_moves() == ["1=2"]
    move = az.Move.parse("1=2")
    assert (in_words(game.position, move), points_now(game.position, move)) == ("line 1, blue to column 2", (4, 0))
    wall = ".YRKW/...../...../B..../....."
    game = az.Game.from_text(f"azul1 g2 -,-,-,-,- - 0:{wall}:B1,-,-,-,-:*;{EMPTY} b? l0.0.0.0.0 t0 s0 r6 tile", seed=1)
    move = az.Move.parse("1=F")
    assert game.legal_moves() == ["1=F"]
    assert in_words(game.position, move) == "line 1, blue to the floor: no column is open"
    assert points_now(game.position, move) == (0, 0)
