"""`Game`: the engine, one game at a time, against the slow referee at every step."""

import copy
import json
import random
import re
import subprocess
import sys

import numpy as np
import playouts
import pytest
from playouts import VARIANTS
from referee import Referee, RefereeError

import azul_fast as az
from azul_fast.engine.layout import (
    CHOICES,
    DEAL_KEY,
    LOST,
    PLACED,
    PLIES,
    POLICY_KEY,
    ROUND_PLIES,
    SHORT,
    STREAM,
    seat_word,
)
from azul_fast.errors import (
    AzulError,
    GameOverError,
    IllegalMoveError,
    InvalidDealError,
    InvalidMoveError,
    InvalidPositionError,
    InvalidRecordError,
)
from azul_fast.game import Game
from azul_fast.notation import Move, parse_move, parse_position
from azul_fast.rules import Rules

EMPTY = "0:...../...../...../...../.....:-,-,-,-,-:-"
FIRST_TURN = f"azul1 c2 BBRK,YYWW,BYRK,RRRW,BKKW * {EMPTY};{EMPTY} b16.17.15.16.16 l0.0.0.0.0 t0 s0 r1 offer"
# what a position text does not hold: streams, and what is counted since the state was set up
NOT_IN_TEXT = [DEAL_KEY, POLICY_KEY, STREAM, PLIES, ROUND_PLIES, CHOICES, SHORT]
NOT_IN_TEXT += [seat_word(seat) + word for seat in range(4) for word in (PLACED, LOST)]


def random_game(rng, rules=None, **options):
    """A game played to its end by chance."""
    game = Game(rules, **options)
    while not game.is_over:
        game.play(rng.choice(game.legal_moves()))
    return game


# --------------------------------------------------------------------------------------------------- the referee's word
def agree(game, referee):
    """All that can be seen of two games is the same."""
    text = referee.to_text()
    assert game.to_text() == text
    assert game.legal_moves() == referee.legal_moves()
    assert (game.phase, game.turn, game.scores) == (referee.phase, referee.turn, referee.scores)
    assert (game.is_over, game.round, game.starter) == (referee.is_over, referee.round, referee.starter)
    # every word that kernels keep up to date is what the text says
    words, fresh = game.state, parse_position(text)
    words[NOT_IN_TEXT] = fresh[NOT_IN_TEXT] = 0
    assert np.array_equal(words, fresh)


@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
def test_the_referee_agrees_at_every_step(players, wall, overflow):
    for seed in range(4):
        cap = 4 if seed == 3 else 100
        first = seed % players
        rules = Rules(players=players, wall=wall, overflow=overflow, max_rounds=cap)
        game = Game(rules, seed=seed, game=7, first_player=first)
        given = Game(rules, deals="given", first_player=first)
        referee = Referee(players, wall, overflow, cap, first)
        rng = random.Random(seed)
        policies = [rng.choice(playouts.POLICIES) for _ in range(players)]
        while not referee.is_over:
            if referee.phase == "deal":
                agree(given, referee)
                deal = game.position.factories
                referee.deal([tiles or "-" for tiles in deal])
                given.deal([tiles or "-" for tiles in deal])
            agree(game, referee)
            agree(given, referee)
            move = rng.choice(referee.choices(policies[referee.turn]))
            for each in (game, given, referee):
                each.play(move)
        agree(game, referee)
        agree(given, referee)
        assert game.result() == referee.result() == given.result()
        seats = [seat_word(seat) for seat in range(players)]
        assert [game.state[p + PLACED] for p in seats] == referee.placement_points
        assert [game.state[p + LOST] for p in seats] == referee.floor_points
        assert game.state[PLIES] + game.state[ROUND_PLIES] == referee.plies
        assert game.state[SHORT] == referee.short_deal


def test_illegal_moves_and_their_reasons():
    """The mask, the list and the reason agree with the referee's objection to every action there is."""
    rng = random.Random(1)
    for text in rng.sample(playouts.met_in_play(), 40):
        game, referee = Game.from_text(text, deals="given"), Referee.from_text(text)
        legal = set(referee.legal_moves())
        mask = game.legal_mask()
        assert mask.dtype == bool and mask.shape == (game.rules.action_count,)
        assert {str(Move(int(action))) for action in np.flatnonzero(mask)} == legal
        for action in range(330):
            move = str(Move(action))
            assert (game.why_illegal(move) == "") == (move in legal)
            if move not in legal:
                refused = GameOverError if game.is_over else IllegalMoveError
                with pytest.raises(refused, match=f"^{move}: .") as error:
                    game.play(action)
                if refused is IllegalMoveError:
                    assert str(error.value) == f"{move}: {game.why_illegal(action)}"
                with pytest.raises(RefereeError):
                    referee.play(move)
        assert game.to_text() == text


# -------------------------------------------------------------------------------------------------------- making a game
def test_a_game_names_its_deals():
    one, same, other = Game(seed=1, game=4711), Game(seed=1, game=4711), Game(seed=1, game=4712)
    assert one == same != other
    assert one.seed == 1 and one.game == 4711
    assert Game(seed=2, game=4711) != one


def test_policies_do_not_change_the_first_deals():
    """With two players the bag lasts five rounds: their tiles are the same whatever is played."""
    deals = {
        tuple(event for event in random_game(random.Random(n), seed=9).history if "," in event)[:5] for n in range(5)
    }
    assert len(deals) == 1


def test_a_seed_is_drawn_when_none_is_given():
    one, other = Game(), Game()
    assert one.seed != other.seed and 0 <= one.seed < 2**53
    assert Game(seed=one.seed) == one
    assert Game(deals="given").seed is None


def test_the_first_player():
    rules = Rules(players=3)
    assert Game(rules, seed=1, first_player=2).turn == 2
    assert [Game(rules, seed=1, game=game, first_player="rotate").turn for game in range(4)] == [0, 1, 2, 0]
    # the tiles are those of the game, whoever starts
    assert Game(rules, seed=1, first_player=2).position.factories == Game(rules, seed=1).position.factories


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed must be a whole number from 0 to 9007199254740991, not -1"),
        ({"seed": 2**53}, "seed must be a whole number from 0 to 9007199254740991, not 9007199254740992"),
        ({"seed": 1.5}, "seed must be a whole number from 0 to 9007199254740991, not 1.5"),
        ({"seed": True}, "seed must be a whole number from 0 to 9007199254740991, not True"),
        ({"game": -1}, "game must be a whole number from 0 to 9007199254740991, not -1"),
        ({"deals": "mine"}, "deals must be auto or given, not 'mine'"),
        ({"first_player": 2}, "first_player must be 0 to 1, not 2"),
        ({"first_player": "last"}, "first_player must be a seat or 'rotate', not 'last'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError) as error:
        Game(**options)
    assert str(error.value) == message


def test_rules_are_rules():
    with pytest.raises(AzulError, match="rules must be a Rules"):
        Game(2)


# ------------------------------------------------------------------------------------------------------------ positions
def test_from_text_and_back():
    for text in random.Random(2).sample(playouts.met_in_play(), 300):
        assert Game.from_text(text, deals="given").to_text() == text


def test_a_position_goes_on_as_its_game_did():
    """Same seed and number: read back at any time, the game meets the same tiles."""
    game = random_game(random.Random(3), Rules(players=2, wall="free"), seed=5, game=6)
    moves = [event for event in game.history if "," not in event]
    live = Game(game.rules, seed=5, game=6)
    for number, move in enumerate(moves):
        if number % 10 == 0:
            resumed = Game.from_text(live.to_text(), seed=5, game=6)
            for later in moves[number:]:
                resumed.play(later)
            assert resumed == game
        live.play(move)


def test_a_position_between_rounds_is_dealt_by_itself():
    text = Game(seed=3, deals="given").to_text()
    assert text.endswith("t0 s0 r0 deal")
    assert Game.from_text(text, seed=3) == Game(seed=3)
    assert Game.from_text(text, seed=3, deals="given").phase == "deal"


def test_a_position_with_nothing_to_deal_is_over():
    boards = playouts.exhausted_boards().replace("0:", "12:", 1)
    text = f"azul1 c4 -,-,-,-,-,-,-,-,- * {boards} b0.0.0.0.0 l0.0.0.0.0 t2 s0 r9 deal"
    for deals in ("auto", "given"):
        game = Game.from_text(text, deals=deals)
        assert game.is_over and game.to_text() == text.replace("deal", "over-exhausted")
        assert game.result() == {
            "scores": [12, 0, 0, 0], "rows": [0] * 4, "winners": [0], "rounds": 9, "end": "exhausted",
        }  # fmt: skip


def test_a_bad_position():
    with pytest.raises(InvalidPositionError, match="census: 21 blue tiles"):
        Game.from_text(FIRST_TURN.replace("b16", "b17"))


def test_boards():
    boards = Game.from_text(
        f"azul1 g2 -,-,-,-,- B 7:.B.../...../...../...../.....:-,R2,W1,-,-:*BR;{EMPTY} b? l0.0.0.0.0 t1 s1 r3 offer"
    ).boards
    assert boards[0].score == 7 and boards[0].wall[0] == ".B..."
    assert boards[0].lines == ("", "RR", "W", "", "") and boards[0].is_full(1) and not boards[0].is_full(2)
    assert (boards[0].floor, boards[0].marker, boards[0].floor_cells) == ("BR", True, 3)


# -------------------------------------------------------------------------------------------------------------- playing
def test_three_spellings_of_a_move():
    games = [Game.from_text(FIRST_TURN, seed=1) for _ in range(4)]
    for game, move in zip(games, ("3B4", parse_move("3B4"), Move.parse("3B4"), np.int64(93)), strict=True):
        game.play(move)
        assert game == games[0]
    assert games[0].boards[0].lines[3] == "B"


@pytest.mark.parametrize("move", ["", "3b4", "9", "take blue", 330, -1, 1.5, None])
def test_what_is_no_move(move):
    with pytest.raises(InvalidMoveError):
        Game(seed=1).play(move)


def test_a_finished_game():
    game = random_game(random.Random(1), seed=1)
    assert game.result()["end"] == "row" and game.legal_moves() == [] and not game.legal_mask().any()
    with pytest.raises(GameOverError, match="1B1: the game is over"):
        game.play("1B1")
    with pytest.raises(GameOverError, match="deal: the game is over"):
        game.deal(["BBBB"] * 5)


def test_no_result_before_the_end():
    assert Game(seed=1).result() is None


def test_given_deals():
    game = Game(deals="given")
    assert (game.phase, game.turn, game.round, game.legal_moves()) == ("deal", 0, 0, [])
    with pytest.raises(IllegalMoveError, match="1B1: the round has not been dealt"):
        game.play("1B1")
    with pytest.raises(InvalidDealError, match="factory 1: 3 tiles, but it is dealt 4"):
        game.deal(["BBR", "YYWW", "BYRK", "RRRW", "BKKW"])
    game.deal(["BBRK", "YYWW", "BYRK", "RRRW", "BKKW"])
    assert game.to_text() == FIRST_TURN
    with pytest.raises(InvalidDealError, match="deal: the round has been dealt"):
        game.deal(["BBRK", "YYWW", "BYRK", "RRRW", "BKKW"])
    with pytest.raises(InvalidDealError, match="deal: the round has been dealt"):
        Game(seed=1).deal(["BBRK", "YYWW", "BYRK", "RRRW", "BKKW"])


# ----------------------------------------------------------------------------------------------------------------- undo
@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
def test_undo_meets_the_same_again(players, wall, overflow):
    rng = random.Random(players)
    game = Game(Rules(players=players, wall=wall, overflow=overflow), seed=players)
    texts, moves = [game.to_text()], []
    while not game.is_over:
        moves.append(rng.choice(game.legal_moves()))
        game.play(moves[-1])
        texts.append(game.to_text())
        back = rng.randrange(4) if len(moves) > 5 else 0
        for n in range(1, back + 1):
            assert game.undo() == moves[-n]
            assert game.to_text() == texts[-n - 1]
        for n in range(back, 0, -1):
            game.play(moves[-n])
            assert game.to_text() == texts[-n]
    for move, text in zip(reversed(moves), reversed(texts[:-1]), strict=True):
        assert game.undo() == move and game.to_text() == text
    with pytest.raises(AzulError, match="undo: nothing has been played"):
        game.undo()
    assert game == Game(game.rules, seed=players)


def test_a_given_deal_is_taken_back_on_its_own():
    game = Game(deals="given")
    before = game.to_text()
    game.deal("BBRK,YYWW,BYRK,RRRW,BKKW")
    game.play("1B2")
    assert [game.undo(), game.undo()] == ["1B2", "BBRK,YYWW,BYRK,RRRW,BKKW"]
    assert game.to_text() == before and game.phase == "deal"


def test_a_copy_lives_its_own_life():
    game = Game(seed=1)
    game.play(game.legal_moves()[0])
    for twin in (game.copy(), copy.copy(game), copy.deepcopy(game)):
        assert twin == game and twin.history == game.history
        twin.play(twin.legal_moves()[0])
        assert twin != game and len(game.history) == 2
        twin.undo()
        assert twin == game
        twin.undo()
        assert twin == Game(seed=1)
    assert game != FIRST_TURN


def test_the_state_is_a_copy():
    game = Game(seed=1)
    game.state[:] = 0
    assert game == Game(seed=1)


# ----------------------------------------------------------------------------------------------------------------- JSON
@pytest.mark.parametrize("deals", ["auto", "given"])
def test_a_game_as_json(deals):
    rng = random.Random(4)
    game = Game(Rules(players=3, wall="free"), seed=8, game=2, deals=deals)
    while not game.is_over:
        if game.phase == "deal":
            referee = Referee.from_text(game.to_text())
            game.deal(referee.random_deal(rng))
        game.play(rng.choice(game.legal_moves()))
        if len(game.history) % 9:
            continue
        again = Game.from_dict(json.loads(json.dumps(game.to_dict())))
        assert again.to_dict() == game.to_dict()
        assert np.array_equal(again.state, game.state)
        assert again.undo() == game.copy().undo()
        # and it goes on as the first
        move = rng.choice(game.legal_moves()) if game.legal_moves() else None
        if move and deals == "auto":
            one, other = game.copy(), Game.from_dict(game.to_dict())
            one.play(move)
            other.play(move)
            assert one == other


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "azul-game/9"}, "game: format: 'azul-game/1' expected, not 'azul-game/9'"),
        ({"start": "azul1"}, "game: position: side: missing; the text ends before it"),
        ({"events": "1B1"}, "game: events: a list of moves and deals expected"),
        ({"seed": "x"}, "game: seed must be a whole number from 0 to 9007199254740991, not 'x'"),
        ({"events": ["BBRK,YYWW,BYRK,RRRW,BKKW", "1Y1"]}, "game: event 2: 1Y1: factory 1 has no yellow"),
        ({"events": ["1B1"]}, "game: event 1: 1B1: the round has not been dealt"),
    ],
)
def test_json_that_is_no_game(change, message):
    data = Game(seed=1).to_dict() | change
    with pytest.raises(InvalidRecordError) as error:
        Game.from_dict(data)
    assert str(error.value) == message


def test_what_is_no_json_object_is_no_game():
    with pytest.raises(InvalidRecordError, match="azul-game/1"):
        Game.from_dict([1])


# ------------------------------------------------------------------------------------------------------------- drawings
def test_the_drawing():
    board = "3:B..../...../...../...../.....:-,R1,-,-,-:*BR"
    game = Game.from_text(f"azul1 c2 BBRK,-,-,-,- WW {EMPTY};{board} b? l1.0.0.0.2 t1 s1 r3 offer")
    assert str(game) == "\n".join(
        (
            "round 3: seat 1 to move",
            "bag 87, lid 3",
            "",
            "factory  1 BBRK  2 ----  3 ----  4 ----  5 ----",
            "center   WW",
            "",
            "  seat 0: 0 points                > seat 1: 3 points",
            "  1         . | b y r k w           1         . | B y r k w",
            "  2       . . | w b y r k           2       . R | w b y r k",
            "  3     . . . | k w b y r           3     . . . | k w b y r",
            "  4   . . . . | r k w b y           4   . . . . | r k w b y",
            "  5 . . . . . | y r k w b           5 . . . . . | y r k w b",
            "  floor .......                     floor *BR....  -4",
        )
    )


def test_every_position_can_be_drawn_three_ways():
    from rich.console import Console

    for text in random.Random(6).sample(playouts.met_in_play(), 100):
        game = Game.from_text(text, deals="given")
        plain = str(game)
        assert max(map(len, plain.splitlines())) <= 80
        console = Console(width=80, no_color=True, force_terminal=False)
        with console.capture() as capture:
            console.print(game)
        assert [line.rstrip() for line in capture.get().splitlines()] == plain.splitlines()
        html = game._repr_html_()
        assert html.startswith("<pre") and html.endswith("</pre>") and html.count("<span") == html.count("</span>")


@pytest.mark.parametrize(
    ("width", "factories", "boards"), [(30, 2, 1), (59, 6, 1), (60, 6, 2), (80, 9, 2), (128, 9, 4)]
)
def test_the_drawing_fits_the_terminal(width, factories, boards):
    """As many factories and boards side by side as there is room for; nothing is cut off."""
    from rich.console import Console

    game = Game(Rules(players=4), seed=1)
    console = Console(width=width, no_color=True, force_terminal=False)
    with console.capture() as capture:
        console.print(game)
    lines = capture.get().splitlines()
    assert max(len(line) for line in lines) <= width
    first = next(line for line in lines if line.startswith("factory"))
    assert len(re.findall(r"[0-9] [BYRKW]{4}", first)) == factories
    assert max(line.count("points") for line in lines) == boards
    assert sorted(re.findall("[0-9] [BYRKW]{4}", capture.get())) == sorted(re.findall("[0-9] [BYRKW]{4}", str(game)))


def test_repr_can_be_evaluated():
    game = Game(seed=1)
    game.play("CBF" if "CBF" in game.legal_moves() else game.legal_moves()[0])
    assert eval(repr(game)) == game


def test_only_a_game_needs_the_compiler():
    code = "import sys; import azul_fast.game, azul_fast.records; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("word", "wall"),
    [("coloured", "fixed"), ("colored", "fixed"), ("gray", "free"), ("grey", "free")],
)
def test_the_wall_has_the_names_that_people_use(word, wall):
    assert az.Rules(wall=word) == az.Rules(wall=wall)
    assert az.Rules(wall=word).to_dict()["wall"] == wall


@pytest.mark.parametrize("word", ["blue", "", None, ["gray"]])
def test_no_other_wall(word):
    with pytest.raises(az.AzulError, match="wall must be fixed, free, coloured, colored, gray or grey, not"):
        az.Rules(wall=word)
