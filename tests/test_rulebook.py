"""The rulebook as tests: every rule, every fact and every awkward position, on anything that plays Azul.

A position is drawn in the project's own notation, a line of text broken up to be read:

    azul1 c2                                   colored wall, 2 players
      BBRK,YYWW,BYRK,RRRW,BKKW *               five factories, and the center (with the marker: *)
      0:...../...../...../...../.....:-,-,-,-,-:-;     a board: score, wall, lines, floor
      0:...../...../...../...../.....:-,-,-,-,-:-
      b16.17.15.16.16 l0.0.0.0.0               bag and lid, in the order BYRKW; ? is what the census leaves
      t0 s0 r1 offer                           seat to act, who started the round, the round, the phase
"""

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, prod, sqrt
from typing import Any

import numpy as np
import pytest
from referee import Referee, RefereeError, perft, replay

import azul_fast as az

COLORS = "BYRKW"
FACTORIES = {2: 5, 3: 7, 4: 9}
FLOOR = (0, 1, 2, 4, 6, 8, 11, 14)  # the penalty for 0 to 7 cells
EMPTY = "0:...../...../...../...../.....:-,-,-,-,-:-"
VARIANTS = list(itertools.product((2, 3, 4), ("fixed", "free"), ("lid", "removed")))


# ------------------------------------------------------------------------------------------------------------
# What is tested: anything with these three. All tests below that take `Game` run on each of them.


@dataclass(frozen=True)
class Implementation:
    new: Callable[..., Any]  # (players=, wall=, overflow=, max_rounds=) -> a game that waits for its deals
    from_text: Callable[[str], Any]
    refusals: tuple[type[Exception], ...]  # what a refused move, deal or position raises


IMPLEMENTATIONS = {
    "referee": Implementation(Referee, Referee.from_text, (RefereeError,)),
    "game": Implementation(
        lambda **rules: az.Game(az.Rules(**rules), deals="given"),
        lambda text: az.Game.from_text(text, deals="given"),
        (az.AzulError,),
    ),
}


@pytest.fixture(params=list(IMPLEMENTATIONS.values()), ids=list(IMPLEMENTATIONS))
def Game(request):
    return request.param


# ------------------------------------------------------------------------------------------------------------
# Drawing positions and looking at them. Only the text of a position is looked at, so that the tests know nothing
# of how a game keeps its tiles.


def draw(text):
    """A drawn position as the one line it stands for."""
    return re.sub(r"[;] ", ";", " ".join(text.split()))


@dataclass
class Board:
    score: int
    wall: list[str]
    lines: list[str]
    floor: str


@dataclass
class Table:
    side: str
    factories: list[str]
    center: str
    boards: list[Board]
    bag: dict[str, int]
    lid: dict[str, int]
    removed: dict[str, int]
    turn: int
    starter: int
    round: int
    phase: str

    def census(self):
        """Tiles of each color, all over the table."""
        letters = "".join(self.factories) + self.center
        for board in self.boards:
            letters += "".join(board.wall) + board.floor
            letters += "".join(line[0] * int(line[1]) for line in board.lines if line != "-")
        return {c: letters.count(c) + self.bag[c] + self.lid[c] + self.removed[c] for c in COLORS}


def look(game):
    _, side, factories, center, boards, *rest = game.to_text().split()
    value = {word[0]: word[1:] for word in rest[:-1]}

    def counts(text):
        return dict(zip(COLORS, map(int, text.split(".")), strict=True))

    read = []
    for text in boards.split(";"):
        score, wall, lines, floor = text.split(":")
        read.append(Board(int(score), wall.split("/"), lines.split(","), floor))
    return Table(
        side=side,
        factories=factories.split(","),
        center=center,
        boards=read,
        bag=counts(value["b"]),
        lid=counts(value["l"]),
        removed=counts(value.get("x", "0.0.0.0.0")),
        turn=int(value["t"]),
        starter=int(value["s"]),
        round=int(value["r"]),
        phase=rest[-1],
    )


def total(counts):
    return sum(counts.values())


def all_twenty(game):
    return set(look(game).census().values()) == {20}


def play_all(game, moves):
    for move in moves.split():
        game.play(move)
    return game


def some_deal(game, rng):
    """A deal as people make it, from the bag and lid that the position's text tells of."""
    table = look(game)
    bag = [c for c in COLORS for _ in range(table.bag[c])]
    lid = [c for c in COLORS for _ in range(table.lid[c])]
    rng.shuffle(bag)
    rng.shuffle(lid)
    order = bag + lid
    return ["".join(order[4 * i : 4 * i + 4]) or "-" for i in range(len(table.factories))]


def last_pick(board, side="c2", round_number=6):
    """The end of a round: seat 1, with an empty wall and the marker, is about to take the last tile, CWF."""
    return draw(f"""azul1 {side} -,-,-,-,- W
                      {board};
                      0:...../...../...../...../.....:-,-,-,-,-:*
                      b? l0.0.0.0.0 t1 s0 r{round_number} offer""")


def colored(drawing):
    """A wall drawn with o (and . for empty) as the text of a colored wall."""
    rows = drawing.split("/")
    return "/".join("".join("." if rows[r][c] != "o" else COLORS[(c - r) % 5] for c in range(5)) for r in range(5))


# ------------------------------------------------------------------------------------------------------------
# Setting up and dealing


@pytest.mark.parametrize("players", (2, 3, 4))
def test_a_new_game(Game, players):
    """5, 7, 9 factories for 2, 3, 4 players; 100 tiles in the bag; the marker in the center; seat 0 will start."""
    factories = ",".join(["-"] * FACTORIES[players])
    boards = ";".join([EMPTY] * players)
    expected = f"azul1 c{players} {factories} * {boards} b20.20.20.20.20 l0.0.0.0.0 t0 s0 r0 deal"
    game = Game.new(players=players)
    assert game.to_text() == expected
    assert (game.phase, game.turn, game.is_over) == ("deal", 0, False)
    assert game.legal_moves() == []
    assert list(game.scores) == [0] * players


FIRST_TURN = draw("""
    azul1 c2 BBRK,YYWW,BYRK,RRRW,BKKW *
      0:...../...../...../...../.....:-,-,-,-,-:-;
      0:...../...../...../...../.....:-,-,-,-,-:-
      b16.17.15.16.16 l0.0.0.0.0 t0 s0 r1 offer""")


def test_a_given_deal_in_any_order_of_tiles(Game):
    """The first turn above, dealt; the letters of a factory are read in any order and written as BYRKW."""
    for deal in (["BBRK", "YYWW", "BYRK", "RRRW", "BKKW"], ["KBRB", "WYWY", "KRYB", "WRRR", "WKBK"]):
        game = Game.new()
        game.deal(deal)
        assert game.to_text() == FIRST_TURN
        assert game.phase == "offer"


@pytest.mark.parametrize(
    "position",
    (
        FIRST_TURN,
        FIRST_TURN.replace("c2", "g2"),
        FIRST_TURN.replace("c2", "g2r"),
        FIRST_TURN.replace("r1 offer", "r1 m7 offer"),
        FIRST_TURN.replace("c2", "c2r").replace("b16.17.15", "b13.17.10").replace(" t0", " x3.0.5.0.0 t0"),
    ),
)
def test_text_to_game_to_text(Game, position):
    """The first turn: gray, with overflow out of the game, with a cap of 7 rounds, with 8 tiles out of the game."""
    assert Game.from_text(position).to_text() == position


@pytest.mark.parametrize("change", (("b16.17.15.16.16", "b?"), ("l0.0.0.0.0", "l?")))
def test_bag_or_lid_may_be_left_to_the_census(Game, change):
    """The first turn with b? or l?: 16.17.15.16.16 and 0.0.0.0.0 are what is not on the table."""
    assert Game.from_text(FIRST_TURN.replace(*change)).to_text() == FIRST_TURN


def test_the_variants_have_their_names(Game):
    words = Game.new(players=3, wall="free").to_text().split()
    assert words[1] == "g3"
    words = Game.new(players=4, overflow="removed", max_rounds=9).to_text().split()
    assert (words[1], words[-2]) == ("c4r", "m9")


def test_any_seat_can_be_the_first_to_start(Game):
    """Round 0, t2: seat 2 starts the first round, then seat 0 follows."""
    game = Game.from_text(
        draw(f"""azul1 c3 -,-,-,-,-,-,- * {EMPTY};{EMPTY};{EMPTY}
                                   b20.20.20.20.20 l0.0.0.0.0 t2 s2 r0 deal""")
    )
    game.deal(["BBBB", "YYYY", "RRRR", "KKKK", "WWWW", "BYRK", "BYRK"])
    assert (game.turn, look(game).starter, look(game).round) == (2, 2, 1)
    game.play("1B5")
    assert game.turn == 0


def between_rounds(bag, lid, side="c2", players=2, removed="", round_number=4):
    """Empty boards between two rounds, with this bag and lid."""
    factories = ",".join(["-"] * FACTORIES[players])
    boards = ";".join([EMPTY] * players)
    return draw(f"azul1 {side} {factories} * {boards} b{bag} l{lid} {removed} t1 s0 r{round_number} deal")


@pytest.mark.parametrize(
    "deal",
    (
        "BBBB,BBBB,BBBB,BBBB",  # four factories
        "BBBB,BBBB,BBBB,BBBB,BBBB,YYYY",  # six
        "BBBB,BBBB,BBBB,BBBB,BBBY,",  # 19 + an empty text
        "BBBBB,BBBB,BBBB,BBBB,BBB",  # five tiles on a factory
        "BBBB,BBBB,BBBB,BBBB,-",  # a short factory while there are tiles
        "BBBB,BBBB,BBBB,BBBB,YYYG",  # no such color
        "BBBB,BBBB,BBBB,BBBB,YYY*",  # the marker is not dealt
    ),
)
def test_a_deal_that_is_none(Game, deal):
    """A full bag, five factories: five texts of four letters."""
    game = Game.new()
    before = game.to_text()
    with pytest.raises(Game.refusals):
        game.deal(deal.split(","))
    assert game.to_text() == before


def test_a_deal_the_bag_cannot_give(Game):
    """The bag has 21 tiles, three of them blue, and the lid has the other blue ones: a fourth cannot come."""
    text = between_rounds("3.10.0.8.0", "17.10.20.12.20")
    for refused in (["BBBB", "YYYY", "YYYY", "KKKK", "KKKK"], ["YYYY", "YYYY", "KKKK", "KKKK", "BBBR"]):
        game = Game.from_text(text)
        with pytest.raises(Game.refusals):
            game.deal(refused)
        assert game.to_text() == text
    game = Game.from_text(text)
    game.deal(["BBBY", "YYYY", "YYYY", "KKKK", "KKKK"])
    assert look(game).bag == {"B": 0, "Y": 1, "R": 0, "K": 0, "W": 0}


def test_no_second_deal_and_no_move_before_it(Game):
    """The first turn: dealing is over. The new game before it: nothing can be taken."""
    with pytest.raises(Game.refusals):
        Game.from_text(FIRST_TURN).deal(["BYRK"] * 5)
    with pytest.raises(Game.refusals):
        Game.new().play("1B1")


def test_the_old_tiles_come_out_first(Game):
    """3 players, the fourth deal: 16 old tiles, 4 each of BYRK, fill factories 1 to 4; the lid fills 5 to 7.

    Bag 4.4.4.4.0, lid 16.16.16.16.20.
    """
    text = between_rounds("4.4.4.4.0", "16.16.16.16.20", "c3", 3)
    game = Game.from_text(text)
    game.deal(["BBBB", "YYYY", "RRRR", "KKKK", "WWWW", "WWWW", "BYRK"])
    assert list(look(game).bag.values()) == [15, 15, 15, 15, 12]
    assert total(look(game).lid) == 0
    for refused in (
        ["WWWW", "BBBB", "YYYY", "RRRR", "KKKK", "WWWW", "BYRK"],  # white is in the lid only
        ["BBBB", "BYYY", "YRRR", "RKKK", "KWWW", "WWWW", "BYRK"],  # a fifth blue before the bag is empty
    ):
        game = Game.from_text(text)
        with pytest.raises(Game.refusals):
            game.deal(refused)


def test_the_bag_is_refilled_in_the_middle_of_a_factory(Game):
    """Two blue tiles in the bag, everything else in the lid: factory 1 holds both and two of the lid's."""
    text = between_rounds("2.0.0.0.0", "18.20.20.20.20")
    for first in ("BBWW", "BBBW", "BBBB"):
        game = Game.from_text(text)
        game.deal([first, "YYYY", "BBBB", "KKKK", "RRRR"])
        assert total(look(game).bag) == 80 and total(look(game).lid) == 0
    for first in ("BWWW", "WWWW"):
        game = Game.from_text(text)
        with pytest.raises(Game.refusals):
            game.deal([first, "BYYY", "BBBB", "KKKK", "RRRR"])


def test_the_bag_is_refilled_only_when_a_tile_is_missing(Game):
    """20 tiles in the bag, 80 in the lid: the deal empties the bag, and the lid stays where it is."""
    game = Game.from_text(between_rounds("4.4.4.4.4", "16.16.16.16.16"))
    game.deal(["BYRK", "BYRW", "BYKW", "BRKW", "YRKW"])
    assert total(look(game).bag) == 0
    assert list(look(game).lid.values()) == [16] * 5


def test_too_few_tiles_leave_the_last_factories_short(Game):
    """Six tiles, four in the bag and two in the lid (94 have left the game): factories of 4, 2, 0, 0, 0.

    The game goes on with them.
    """
    text = between_rounds("4.0.0.0.0", "0.2.0.0.0", side="c2r", removed="x16.18.20.20.20")
    for refused in (
        ["BBBB", "-", "YY", "-", "-"],
        ["BBB", "BYY", "-", "-", "-"],
        ["BBBY", "BY", "-", "-", "-"],
        ["BBBB", "Y", "Y", "-", "-"],
        ["BBBB", "-", "-", "-", "-"],
    ):
        game = Game.from_text(text)
        with pytest.raises(Game.refusals):
            game.deal(refused)
    game.deal(["BBBB", "YY", "-", "-", "-"])
    assert look(game).factories == ["BBBB", "YY", "-", "-", "-"]
    assert (game.phase, game.turn) == ("offer", 1)
    assert game.legal_moves() == [f"{take}{line}" for take in ("1B", "2Y") for line in "12345F"]


# Each row of each board has its other four colors, and these lines hold all other tiles but one white, which seat 0
# takes for its fifth line. Nothing falls to the floor, no line is full: the next round has no tile.
NO_TILE_LEFT = draw("""
    azul1 c4 -,-,-,-,-,-,-,-,- *W
      50:.YRKW/WB.RK/KWBY./R.WBY/YRK.B:-,-,R2,K2,-:-;
      40:B.RKW/WBY.K/.WBYR/RK.BY/YRKW.:-,-,K2,W1,B3:-;
      30:BY.KW/WBYR./K.BYR/RKW.Y/.RKWB:-,-,W1,-,Y1:-;
      20:BYR.W/.BYRK/KW.YR/RKWB./Y.KWB:-,W1,B1,Y3,R2:-
      b0.0.0.0.0 l0.0.0.0.0 t0 s3 r12 offer""")


def test_no_tile_to_deal_ends_the_game(Game):
    """4 players, colored wall, the last tile goes to a line: exhausted. Seat 0 pays 1 for the marker."""
    game = Game.from_text(NO_TILE_LEFT)
    game.play("CW5")
    assert game.is_over and game.phase == "over"
    assert game.result() == {
        "scores": [49, 40, 30, 20], "rows": [0, 0, 0, 0], "winners": [0], "rounds": 12, "end": "exhausted",
    }  # fmt: skip
    assert look(game).phase == "over-exhausted"
    assert [board.lines for board in look(game).boards] == [
        ["-", "-", "R2", "K2", "W1"],
        ["-", "-", "K2", "W1", "B3"],
        ["-", "-", "W1", "-", "Y1"],
        ["-", "W1", "B1", "Y3", "R2"],
    ]
    with pytest.raises(Game.refusals):
        game.deal(["-"] * 9)
    with pytest.raises(Game.refusals):
        game.play("CW5")


def test_one_tile_is_enough_to_go_on(Game):
    """The same table, but the white tile goes to the floor: it comes back through the lid, alone on factory 1."""
    game = Game.from_text(NO_TILE_LEFT)
    game.play("CWF")
    assert (game.phase, game.turn) == ("deal", 0)
    assert game.scores[0] == 48
    game.deal(["W", "-", "-", "-", "-", "-", "-", "-", "-"])
    assert game.legal_moves() == ["1W5", "1WF"]


def test_with_overflow_to_the_lid_only_four_players_can_run_out_of_tiles():
    """Between rounds a board without a complete row holds at most 4 tiles in each wall row and i - 1 in line i.

    That is 20 + 10 tiles: 60 and 90 for 2 and 3 players leave some of the 100 in bag or lid; 120 for 4 need not.
    """
    held = sum(4 + (i - 1) for i in range(1, 6))
    assert {players: players * held < 100 for players in (2, 3, 4)} == {2: True, 3: True, 4: False}


def test_with_overflow_removed_two_players_can_run_out(Game):
    """c2r: 99 tiles have left the game, the last one goes to a line."""
    game = Game.from_text(
        draw(f"""azul1 c2r -,-,-,-,- *W {EMPTY};{EMPTY}
                                   b0.0.0.0.0 l0.0.0.0.0 x20.20.20.20.19 t0 s0 r9 offer""")
    )
    game.play("CW2")
    assert game.result()["end"] == "exhausted"


# ------------------------------------------------------------------------------------------------------------
# A turn


def test_from_a_factory_the_rest_goes_to_the_center(Game):
    """The first turn, 1B2: both blue tiles to line 2, red and black to the center. Then 2WF: white to the floor."""
    game = Game.from_text(FIRST_TURN)
    game.play("1B2")
    assert game.to_text() == draw("""
        azul1 c2 -,YYWW,BYRK,RRRW,BKKW *RK
          0:...../...../...../...../.....:-,B2,-,-,-:-;
          0:...../...../...../...../.....:-,-,-,-,-:-
          b16.17.15.16.16 l0.0.0.0.0 t1 s0 r1 offer""")
    game.play("2WF")
    assert game.to_text() == draw("""
        azul1 c2 -,-,BYRK,RRRW,BKKW *YYRK
          0:...../...../...../...../.....:-,B2,-,-,-:-;
          0:...../...../...../...../.....:-,-,-,-,-:WW
          b16.17.15.16.16 l0.0.0.0.0 t0 s0 r1 offer""")


def test_from_the_center_all_of_one_color_and_first_the_marker(Game):
    """Center *YYRK: seat 0 takes both yellow tiles and with them the marker; the next to take from it does not."""
    game = play_all(Game.from_text(FIRST_TURN), "1B2 2WF CY3")
    table = look(game)
    assert (table.center, table.boards[0].lines[2], table.boards[0].floor) == ("RK", "Y2", "*")
    game.play("CK1")
    table = look(game)
    assert (table.center, table.boards[1].lines[0], table.boards[1].floor) == ("R", "K1", "WW")


SMALL_OFFER = draw("""
    azul1 c2 -,-,YYKW,-,- *BR
      0:B..../...../..B../...../.....:-,R1,-,K4,Y2:-;
      0:...../...../...../...../.....:-,-,-,-,-:-
      b? l0.0.0.0.0 t0 s0 r4 offer""")


def test_legal_moves_in_the_order_of_the_action_index(Game):
    """Seat 0 has blue on wall rows 1 and 3, R1 on line 2, a full line 4 (K4) and Y2 on line 5.

    The center first, then factory 3; colors BYRKW; lines 1 to 5, then the floor.
    """
    assert Game.from_text(SMALL_OFFER).legal_moves() == (
        "CBF CR1 CR2 CR3 CRF 3Y1 3Y3 3Y5 3YF 3K1 3K3 3KF 3W1 3W3 3WF".split()
    )


@pytest.mark.parametrize(
    "move, reason",
    (
        ("CB1", "row 1 of the wall already has blue"),
        ("CB3", "row 3 of the wall already has blue"),
        ("CB2", "line 2 holds red"),
        ("3K4", "line 4 is full, although it is black"),
        ("3W5", "line 5 holds yellow"),
        ("CK1", "the center has no black"),
        ("3R1", "factory 3 has no red"),
        ("1BF", "factory 1 is empty"),
        ("6BF", "there are five factories"),
        ("0BF", "there is no factory 0"),
        ("3G1", "there is no green"),
        ("3Y6", "there is no line 6"),
        ("3Y0", "there is no line 0"),
        ("3Y", "no line named"),
        ("3Y11", "too long"),
        ("", "nothing"),
        ("C*F", "the marker is not taken by itself"),
        ("1=1", "a choice of column, but this is the offer"),
    ),
)
def test_refused_moves(Game, move, reason):
    """The same small offer; a refused move changes nothing."""
    game = Game.from_text(SMALL_OFFER)
    with pytest.raises(Game.refusals):
        game.play(move)
    assert game.to_text() == Game.from_text(SMALL_OFFER).to_text(), reason


def test_a_begun_line_takes_only_its_color_and_fills_up(Game):
    """The small offer, 3Y5: Y2 becomes Y4. The rest, black and white, lies in the center with blue and red."""
    game = play_all(Game.from_text(SMALL_OFFER), "3Y5")
    assert look(game).boards[0].lines == ["-", "R1", "-", "K4", "Y4"]
    assert look(game).center == "*BRKW"


SIX_REDS = """
    azul1 {side} BBBB,-,-,-,- RRRRRR
      9:...../...../...../...../.....:-,-,-,-,-:{floor};
      0:...../...../...../...../.....:-,-,-,-,-:*
      b? l0.0.0.0.0 t0 s0 r2 offer"""


@pytest.mark.parametrize(
    "floor, floor_after, red_gone",
    (("BBYY", "BBYYRRR", 0), ("BBYYKK", "BBYYRKK", 2), ("BBYYKKK", "BBYYKKK", 3), ("-", "RRR", 0)),
)
@pytest.mark.parametrize("side, gone_to", (("c2", "lid"), ("c2r", "removed")))
def test_excess_goes_to_the_floor_and_beyond_seven_to_the_lid(Game, side, gone_to, floor, floor_after, red_gone):
    """6 red tiles for the empty line 3, with 4, 6, 7 or no tiles on the floor: 3 on the line, 3 are over.

    With 4 on the floor all three lie there; with 6 one does and two go to the lid (or out of the game).
    """
    game = Game.from_text(draw(SIX_REDS.format(side=side, floor=floor)))
    game.play("CR3")
    table = look(game)
    assert table.boards[0].lines == ["-", "-", "R3", "-", "-"]
    assert table.boards[0].floor == floor_after
    assert getattr(table, gone_to)["R"] == red_gone
    assert total(table.lid) + total(table.removed) == red_gone
    assert all_twenty(game)


def test_all_on_the_floor_by_choice(Game):
    """6 red tiles, two on the floor, CRF: five lie there, one goes to the lid; the lines stay empty."""
    game = play_all(Game.from_text(draw(SIX_REDS.format(side="c2", floor="BB"))), "CRF")
    table = look(game)
    assert (table.boards[0].floor, table.lid["R"]) == ("BBRRRRR", 1)
    assert table.boards[0].lines == ["-"] * 5


# ------------------------------------------------------------------------------------------------------------
# Floor and marker


@pytest.mark.parametrize("tiles, lost", list(enumerate(FLOOR)))
def test_what_the_floor_costs(Game, tiles, lost):
    """20 points and 0 to 7 tiles on the floor: -1 -1 -2 -2 -2 -3 -3."""
    floor = "K" * tiles or "-"
    game = Game.from_text(last_pick(f"20:...../...../...../...../.....:-,-,-,-,-:{floor}"))
    game.play("CWF")
    assert game.scores[0] == 20 - lost


@pytest.mark.parametrize("tiles, lost", list(enumerate((1, 2, 4, 6, 8, 11, 14, 14))))
def test_the_marker_costs_the_cell_it_lies_on(Game, tiles, lost):
    """20 points, 0 to 7 tiles on the floor; the last tile comes from the center with the marker, onto line 2.

    The marker lies behind the tiles; on a full floor it costs nothing and still counts.
    """
    floor = "K" * tiles or "-"
    game = Game.from_text(
        draw(f"""
        azul1 c2 -,-,-,-,- *W
          20:...../...../...../...../.....:-,-,-,-,-:{floor};
          7:...../...../...../...../.....:-,-,-,-,-:-
          b? l0.0.0.0.0 t0 s1 r2 offer""")
    )
    game.play("CW2")
    assert list(game.scores) == [20 - lost, 7]
    assert (game.phase, game.turn) == ("deal", 0)
    assert all_twenty(game)


def test_the_marker_takes_its_cell_before_the_tiles(Game):
    """Six tiles on the floor, CRF with two red tiles: the marker has the seventh cell, both tiles go to the lid.

    Five tiles: the marker on the sixth cell, one red tile on the seventh, one to the lid.
    """
    for floor, floor_after, to_lid in (("KKKKKK", "*KKKKKK", 2), ("KKKKK", "*RKKKKK", 1)):
        game = Game.from_text(
            draw(f"""
            azul1 c2 BBBB,-,-,-,- *RR
              30:...../...../...../...../.....:-,-,-,-,-:{floor};
              0:...../...../...../...../.....:-,-,-,-,-:-
              b? l0.0.0.0.0 t0 s0 r3 offer""")
        )
        game.play("CRF")
        assert look(game).boards[0].floor == floor_after
        assert look(game).lid["R"] == to_lid
        game.play("1B4")
        assert game.scores[0] == 30 - 14


def test_the_marker_beside_a_full_floor(Game):
    """Seven tiles on the floor, then the marker: still -14, its taker starts, and there are still 100 tiles."""
    game = Game.from_text(
        draw("""
        azul1 c2 BBBB,-,-,-,- *W
          20:...../...../...../...../.....:-,-,-,-,-:YYRRKKK;
          0:...../...../...../...../.....:-,-,-,-,-:-
          b? l0.0.0.0.0 t0 s1 r3 offer""")
    )
    game.play("CWF")
    table = look(game)
    assert (table.boards[0].floor, table.lid["W"], table.center) == ("*YYRRKKK", 1, "-")
    assert all_twenty(game)
    again = Game.from_text(game.to_text())
    assert again.to_text() == game.to_text()
    for each in (game, again):
        each.play("1B5")
        assert each.scores[0] == 20 - 14
        assert (each.phase, each.turn) == ("deal", 0)
        assert all_twenty(each)


def test_if_nobody_takes_the_marker_the_same_seat_starts_again(Game):
    """Every factory has one color, so the center stays empty; seat 1 started and starts again."""
    game = Game.from_text(
        draw(f"""azul1 c2 -,-,-,-,- * {EMPTY};{EMPTY}
                                   b20.20.20.20.20 l0.0.0.0.0 t1 s1 r0 deal""")
    )
    game.deal(["BBBB", "YYYY", "RRRR", "KKKK", "WWWW"])
    play_all(game, "1B4 2Y4 3R5 4K5 5W3")
    assert (game.phase, game.turn, look(game).starter, look(game).center) == ("deal", 1, 1, "*")


def test_nobody_takes_the_marker_in_a_short_round(Game):
    """Bag 4.4.4.0.0, 88 tiles out of the game: three factories of one color each, for three players.

    With all factories dealt the last mover would be the starter too: only a short round tells "the same seat
    starts again" from "the last mover starts" (seat 0; with two factories seat 2).
    """
    text = between_rounds("4.4.4.0.0", "0.0.0.0.0", side="c3r", players=3, removed="x16.16.16.20.20")
    game = Game.from_text(text)
    game.deal(["BBBB", "YYYY", "RRRR", "-", "-", "-", "-"])
    game.play("2Y5")
    game.play("1BF")
    assert game.turn == 0
    game.play("3RF")
    assert (game.phase, game.turn, look(game).starter) == ("deal", 1, 1)

    game = Game.from_text(text.replace("b4.4.4", "b4.4.0").replace("x16.16.16", "x16.16.20"))
    game.deal(["BBBB", "YYYY", "-", "-", "-", "-", "-"])
    play_all(game, "2Y5 1BF")
    assert (game.phase, game.turn) == ("deal", 1)


def test_gray_nobody_takes_the_marker(Game):
    """Gray: seat 1 started, nobody took the marker, and seat 0 is the last to choose a column: seat 1 starts again."""
    game = Game.from_text(
        draw("""
        azul1 g2 BBBB,-,-,-,- *
          0:...../...../...../...../.....:Y1,-,-,-,-:-;
          0:...../...../...../...../.....:-,-,-,-,-:-
          b? l0.0.0.0.0 t1 s1 r1 offer""")
    )
    play_all(game, "1B5 1=1")
    assert (game.phase, game.turn) == ("deal", 1)


def test_the_last_mover_can_start_the_next_round(Game):
    """Seat 1 takes the last tile, with the marker: it plays last now and first in the next round."""
    game = Game.from_text(draw(f"""azul1 c2 -,-,-,-,- *W {EMPTY};{EMPTY} b? l0.0.0.0.0 t1 s0 r2 offer"""))
    game.play("CW4")
    assert (game.phase, game.turn, look(game).starter) == ("deal", 1, 0)
    game.deal(some_deal(game, random.Random(1)))
    assert (game.turn, look(game).starter, look(game).round) == (1, 1, 3)


# ------------------------------------------------------------------------------------------------------------
# The end of a round


def test_the_round_ends_when_nothing_is_left_to_take(Game):
    """Full lines 1 and 3 send one tile to the wall and the rest to the lid; line 4 waits; floors go to the lid.

    Row 1: K to column 4. Row 3: R to column 5 of KWBYR, its other two red tiles to the lid, with the floor's B.
    """
    game = Game.from_text(last_pick("0:...../...../...../...../.....:K1,-,R3,Y2,-:B"))
    game.play("CWF")
    assert game.to_text() == draw("""
        azul1 c2 -,-,-,-,- *
          1:...K./...../....R/...../.....:-,-,-,Y2,-:-;
          0:...../...../...../...../.....:-,-,-,-,-:-
          b19.18.17.19.19 l1.0.2.0.1 t1 s0 r6 deal""")


@pytest.mark.parametrize("row", range(5))
@pytest.mark.parametrize("color", COLORS)
def test_the_colored_wall(Game, row, color):
    """BYRKW, and each row is the one above moved right by one; a full line of each row and color on an empty wall."""
    printed = ["BYRKW", "WBYRK", "KWBYR", "RKWBY", "YRKWB"]
    lines = ",".join(f"{color}{i + 1}" if i == row else "-" for i in range(5))
    game = Game.from_text(last_pick(f"0:...../...../...../...../.....:{lines}:-"))
    game.play("CWF")
    expected = ["....."] * 5
    expected[row] = "".join(color if cell == color else "." for cell in printed[row])
    assert look(game).boards[0].wall == expected
    assert game.scores[0] == 1


@pytest.mark.parametrize(
    "wall, points",
    (
        ("...../...../..X../...../.....", 1),  # alone
        (".o.o./o...o/o.X.o/o...o/.o.o.", 1),  # company, but none that touches
        (".o.o./.o.o./..X../.o.o./.....", 1),  # corners do not touch
        ("...../...../.oX../...../.....", 2),
        ("...../...../..Xo./...../.....", 2),
        ("...../..o../..X../...../.....", 2),
        ("...../...../..X../..o../.....", 2),
        ("...../...../.oXo./...../.....", 3),  # in the middle of a run
        ("...../...../o.Xo./...../.....", 2),  # the gap ends it
        ("..o../...../..X../..o../.....", 2),
        ("...../...../ooXo./...../.....", 4),
        ("..o../..o../..X../..o../..o..", 5),
        ("...../..o../.oX../...../.....", 4),  # 2 across and 2 down: the tile counts twice
        ("...../..o../.oXo./...../.....", 5),
        ("..o../..o../.oXo./..o../.....", 7),
        ("..o../..o../ooXo./..o../..o..", 9),  # 4 across and 5 down
        ("Xo.../o..../...../...../.....", 4),
        ("...../...../...../...o./..ooX", 3),  # the corner
        ("....o/....o/....o/....o/.oooX", 9),
    ),
)
def test_what_a_tile_scores(Game, wall, points):
    """The new tile X among the old ones o, as drawn beside the number."""
    row = next(i for i, cells in enumerate(wall.split("/")) if "X" in cells)
    column = wall.split("/")[row].index("X")
    lines = ",".join(f"{COLORS[(column - row) % 5]}{row + 1}" if i == row else "-" for i in range(5))
    game = Game.from_text(last_pick(f"0:{colored(wall)}:{lines}:-"))
    game.play("CWF")
    assert game.scores[0] == points
    assert look(game).boards[0].wall == colored(wall.replace("X", "o")).split("/")


def test_tiling_runs_from_the_top_and_each_tile_counts_at_once(Game):
    """B1 and W2 go to the first cells of rows 1 and 2, K3 below them: 1, then 2, then 3 points."""
    game = Game.from_text(last_pick("0:...../...../...../...../.....:B1,W2,K3,-,-:-"))
    game.play("CWF")
    assert game.scores[0] == 1 + 2 + 3
    assert look(game).boards[0].wall == ["B....", "W....", "K....", ".....", "....."]


@pytest.mark.parametrize(
    "board, score",
    (
        # one tile for 1 point, floor -8: 3 + 1 - 8 is below 0
        ("3:...../...../...../...../.....:B1,-,-,-,-:YYRRK", 0),
        # 2 across and 2 down for 4 points, floor -6: 3 + 4 - 6. A clamp before the points would give 4.
        ("3:.Y.../W..../...../...../.....:B1,-,-,-,-:YYRR", 1),
        # the same at 2: exactly 0
        ("2:.Y.../W..../...../...../.....:B1,-,-,-,-:YYRR", 0),
        # the same, floor -4
        ("2:.Y.../W..../...../...../.....:B1,-,-,-,-:YYR", 2),
        # two tiles for 1 + 2 points, floor -4 and -2
        ("0:...../...../...../...../.....:B1,W2,-,-,-:YYR", 0),
        ("1:...../...../...../...../.....:B1,W2,-,-,-:YY", 2),
    ),
)
def test_points_first_then_the_floor_then_one_clamp_at_zero(Game, board, score):
    """Points are added, the floor is taken off, and what is below 0 becomes 0, once, in this order."""
    game = Game.from_text(last_pick(board))
    game.play("CWF")
    assert game.scores[0] == score


# ------------------------------------------------------------------------------------------------------------
# The gray wall


def test_gray_a_tile_without_a_cell_falls_to_the_floor(Game):
    """Row 1 is YR.KW, and the open third column has blue in row 4: the blue tile of line 1 costs 1 point.

    The line is empty after it.
    """
    game = Game.from_text(last_pick("5:YR.KW/...../...../..B../.....:B1,-,-,-,-:-", "g2"))
    game.play("CWF")
    assert (game.phase, game.turn) == ("tile", 0)
    assert game.legal_moves() == ["1=F"]
    for refused in ("1=3", "1=1", "2=F"):
        with pytest.raises(Game.refusals):
            game.play(refused)
    game.play("1=F")
    table = look(game)
    assert (table.phase, table.boards[0].score, table.boards[0].lines[0]) == ("deal", 4, "-")
    assert table.boards[0].wall[0] == "YR.KW"
    assert (table.lid["B"], all_twenty(game)) == (1, True)


def test_gray_a_placed_tile_closes_its_column_for_its_color(Game):
    """Lines 1 and 2 both hold blue. Line 1 goes to column 1: line 2 may not go there."""
    game = Game.from_text(last_pick("0:...../...../...../...../.....:B1,B2,-,-,-:-", "g2"))
    game.play("CWF")
    assert game.legal_moves() == ["1=1", "1=2", "1=3", "1=4", "1=5"]
    game.play("1=1")
    assert game.legal_moves() == ["2=2", "2=3", "2=4", "2=5"]
    with pytest.raises(Game.refusals):
        game.play("2=1")


def test_gray_an_occupied_cell_a_column_with_the_color_and_the_floor_are_refused(Game):
    """Row 2 is .R.K., blue stands in column 3 of row 1: blue of line 2 may go to columns 1 and 5, not to the floor."""
    game = Game.from_text(last_pick("0:..B../.R.K./...../...../.....:-,B2,-,-,-:-", "g2"))
    game.play("CWF")
    before = game.to_text()
    assert game.legal_moves() == ["2=1", "2=5"]
    for refused in ("2=2", "2=3", "2=4", "2=F", "1=1", "3=1", "2=6", "2=0", "CWF", ""):
        with pytest.raises(Game.refusals):
            game.play(refused)
        assert game.to_text() == before


def test_gray_order_of_choices(Game):
    """Lines 2 and 4 of seat 0 and line 1 of seat 2 are full; seat 1 took the last tile. Seats 0, 1, 2; rows 1 to 5."""
    game = Game.from_text(
        draw("""
        azul1 g3 -,-,-,-,-,-,- W
          0:...../...../...../...../.....:-,B2,-,Y4,-:-;
          0:...../...../...../...../.....:-,-,-,-,-:*;
          0:...../...../...../...../.....:R1,-,-,-,-:-
          b? l0.0.0.0.0 t1 s0 r1 offer""")
    )
    game.play("CW3")
    assert (game.turn, game.legal_moves()) == (0, [f"2={c}" for c in "12345"])
    game.play("2=3")
    assert (game.turn, game.legal_moves()) == (0, [f"4={c}" for c in "12345"])
    game.play("4=3")
    assert (game.turn, game.legal_moves()) == (2, [f"1={c}" for c in "12345"])
    again = Game.from_text(game.to_text())
    assert again.to_text() == game.to_text() and again.legal_moves() == game.legal_moves()
    game.play("1=5")
    assert (game.phase, game.turn) == ("deal", 1)
    assert look(game).boards[0].wall == [".....", "..B..", ".....", "..Y..", "....."]
    assert look(game).boards[2].wall[0] == "....R"
    assert list(look(game).lid.values()) == [1, 3, 0, 0, 0]


def test_gray_without_a_full_line_there_is_nothing_to_choose(Game):
    """Gray, no line is full when the last tile is taken: straight to the next deal."""
    game = Game.from_text(last_pick("3:...../...../...../...../.....:-,B1,-,Y3,-:-", "g2"))
    game.play("CWF")
    assert game.phase == "deal"


def test_gray_tiles_score_at_once(Game):
    """B, Y and R of lines 1 to 3 go below each other: 1, 2, 3 points, seen after each choice; then the floor, -2."""
    game = Game.from_text(last_pick("0:...../...../...../...../.....:B1,Y2,R3,-,-:KK", "g2"))
    game.play("CWF")
    seen = []
    for choice in ("1=4", "2=4", "3=4"):
        game.play(choice)
        seen.append(game.scores[0])
    assert seen == [1, 3, 6 - 2]


@pytest.mark.parametrize("side, lid, removed", (("g2", [3, 0, 0, 0, 0], [0] * 5), ("g2r", [0] * 5, [3, 0, 0, 0, 0])))
def test_gray_a_long_line_on_a_nearly_full_floor(Game, side, lid, removed):
    """Row 5 is YRKW. with blue above the gap: line 5 (B5) falls, two tiles fill the floor, three go beyond it.

    Seat 1 still has a line to tile, so the floor can be seen before it is cleared: seven tiles, -14.
    """
    game = Game.from_text(
        draw(f"""
        azul1 {side} -,-,-,-,- W
          20:....B/...../...../...../YRKW.:-,-,-,-,B5:RRRRR;
          0:...../...../...../...../.....:Y1,-,-,-,-:*
          b? l0.0.0.0.0 t1 s0 r5 offer""")
    )
    game.play("CW2")
    assert game.legal_moves() == ["5=F"]
    game.play("5=F")
    table = look(game)
    assert (table.phase, table.turn, table.boards[0].floor) == ("tile", 1, "BBRRRRR")
    assert (list(table.lid.values()), list(table.removed.values())) == (lid, removed)
    game.play("1=1")
    assert game.scores[0] == 20 - 14
    assert all_twenty(game)


def test_gray_the_fall_of_one_line_counts_with_the_marker(Game):
    """Seat 0 has the marker and one tile; its line 2 (B2) has no cell: four cells are taken, -6."""
    game = Game.from_text(
        draw("""
        azul1 g2 -,-,-,-,- W
          20:..B../YR.KW/...../...../.....:-,B2,-,-,-:*R;
          0:...../...../...../...../.....:-,-,-,-,-:-
          b? l0.0.0.0.0 t1 s0 r5 offer""")
    )
    play_all(game, "CW2 2=F")
    assert (game.scores[0], game.turn) == (20 - 6, 0)


def test_gray_colors_stand_where_their_players_put_them(Game):
    """Row 1 B.... and row 2 YB...: on the gray wall no cell has a color of its own; 2 across and 2 down score 4."""
    game = Game.from_text(last_pick("0:B..../.B.../...../...../.....:-,Y2,-,-,-:-", "g2"))
    play_all(game, "CWF 2=1")
    assert (look(game).boards[0].wall[1], game.scores[0]) == ("YB...", 4)


STUCK = (".WBKR/.BKWY/R.YBK/YKWR./W.RYB", ".RBYW/.KYWR/WBK.Y/BYRK./K.WRB")


@pytest.mark.parametrize("wall", STUCK)
@pytest.mark.parametrize("row", range(5))
def test_gray_walls_that_can_never_complete_a_row(Game, wall, row):
    """.WBKR    .RBYW   Every row has one gap, and the one color it lacks stands in the gap's column already.
    .BKWY    .KYWR   A full line of that color, whichever row it is, can only fall to the floor. So the walls
    R.YBK    WBK.Y   never change again.
    YKWR.    BYRK.
    W.RYB    K.WRB
    """
    cells = wall.split("/")
    color = next(c for c in COLORS if c not in cells[row])
    gap = cells[row].index(".")
    assert color in [cells[other][gap] for other in range(5)]
    lines = ",".join(f"{color}{i + 1}" if i == row else "-" for i in range(5))
    game = Game.from_text(last_pick(f"9:{wall}:{lines}:-", "g2"))
    game.play("CWF")
    assert game.legal_moves() == [f"{row + 1}=F"]
    game.play(f"{row + 1}=F")
    assert look(game).boards[0].wall == cells
    assert game.phase == "deal"


def test_gray_two_stuck_walls_play_until_the_cap(Game):
    """Both walls above at one table, empty lines, in the last round that is allowed: stalled.

    The bonuses are paid as always: seat 0 has two complete columns (the third and fourth), seat 1 the third.
    """
    game = Game.from_text(
        draw(f"""
        azul1 g2 -,-,-,-,- W
          9:{STUCK[0]}:-,-,-,-,-:-;
          0:{STUCK[1]}:-,-,-,-,-:*
          b? l0.0.0.0.0 t1 s0 r100 offer""")
    )
    game.play("CWF")
    assert game.result() == {"scores": [9 + 14, 7], "rows": [0, 0], "winners": [0], "rounds": 100, "end": "stalled"}


# ------------------------------------------------------------------------------------------------------------
# The end of the game


def test_a_complete_row_ends_the_game_after_everybodys_tiling(Game):
    """Seat 0 completes row 1 (5 points, +2). Seat 1 still tiles its line 3 (1 point), and pays 2 for its floor."""
    game = Game.from_text(
        draw("""
        azul1 c2 -,-,-,-,- W
          10:BYRK./...../...../...../.....:W1,-,-,-,-:-;
          10:...../...../...../...../.....:-,-,B3,-,-:*
          b? l0.0.0.0.0 t1 s0 r6 offer""")
    )
    game.play("CWF")
    assert game.result() == {
        "scores": [17, 9], "rows": [1, 0], "winners": [0], "rounds": 6, "end": "row",
    }  # fmt: skip
    assert look(game).boards[1].wall[2] == "..B.."
    assert look(game).phase == "over-row"
    assert (game.phase, game.is_over, game.legal_moves()) == ("over", True, [])


@pytest.mark.parametrize(
    "board, placed, bonus, rows",
    (
        ("0:BYRK./...../...../...../.....:W1,-,-,-,-:-", 5, 2, 1),
        ("0:BYRK./WBYR./...../...../.....:W1,K2,-,-,-:-", 5 + 5 + 2, 4, 2),  # the second lies below the first
        ("0:...../W..../K..../R..../Y....:B1,-,-,-,-:-", 5, 7, 0),  # a column
        ("0:B..../.B.../..B../...B./.....:-,-,-,-,B5:-", 1, 10, 0),  # all five blue ones
        ("0:BYRK./W..../K..../R..../Y....:W1,-,-,-,-:-", 5, 2 + 7, 1),  # a row, and a column from before
        ("0:BYRK./...../...../...../.....:-,-,-,-,-:-", 0, 0, 0),
    ),
)
def test_bonuses(Game, board, placed, bonus, rows):
    """+2 a row, +7 a column, +10 a color; seat 1 completes its row 1 and ends the game whatever seat 0 does."""
    game = Game.from_text(
        draw(f"""
        azul1 c2 -,-,-,-,- W
          {board};
          0:BYRK./...../...../...../.....:W1,-,-,-,-:*
          b? l0.0.0.0.0 t1 s0 r6 offer""")
    )
    game.play("CWF")
    assert game.scores[0] == placed + bonus
    assert game.scores[1] == 5 - 2 + 2
    assert list(game.result()["rows"]) == [rows, 1]


def test_gray_bonuses(Game):
    """A gray wall on which row 1, column 1 and blue become complete with one choice: 10 points, then +19."""
    game = Game.from_text(last_pick("0:.YRKW/Y.B../RB.../W..B./K...B:B1,-,-,-,-:-", "g2"))
    play_all(game, "CWF 1=1")
    assert game.scores[0] == 10 + 2 + 7 + 10
    assert look(game).phase == "over-row"


def test_the_clamp_comes_before_the_bonuses(Game):
    """Seat 0 completes a row for 5 points with a floor of -14: 0, and then +2."""
    game = Game.from_text(last_pick("0:BYRK./...../...../...../.....:W1,-,-,-,-:YYYYYYY"))
    game.play("CWF")
    assert game.scores[0] == 2


FULL_ROW, TWO_ROWS, NO_ROW = (
    "BYRKW/...../...../...../.....",
    "BYRKW/WBYRK/...../...../.....",
    "BYRK./...../...../...../.....",
)


@pytest.mark.parametrize(
    "standing, winners",
    (
        ([(30, NO_ROW), (29, TWO_ROWS), (12, FULL_ROW)], [0]),  # the score first
        ([(30, NO_ROW), (30, FULL_ROW), (12, TWO_ROWS)], [1]),  # equal: complete rows
        ([(30, FULL_ROW), (30, FULL_ROW), (30, NO_ROW)], [0, 1]),  # still equal: shared
        ([(30, FULL_ROW), (29, FULL_ROW), (30, FULL_ROW)], [0, 2]),
        ([(0, FULL_ROW), (0, FULL_ROW), (0, FULL_ROW)], [0, 1, 2]),
    ),
)
def test_who_wins(Game, standing, winners):
    """Three walls with 0, 1 or 2 complete rows and final scores, bonuses included."""
    boards = ";".join(f"{score}:{wall}:-,-,-,-,-:-" for score, wall in standing)
    game = Game.from_text(f"azul1 c3 -,-,-,-,-,-,- * {boards} b? l0.0.0.0.0 t0 s0 r7 over-row")
    assert list(game.result()["winners"]) == winners
    assert list(game.scores) == [score for score, _ in standing]


@pytest.mark.parametrize("cap", (1, 3, 100))
def test_a_game_that_nobody_wants_to_end(Game, cap):
    """Everybody floors everything, for ever: after max_rounds the game is stalled, at 0 : 0."""
    rng = random.Random(3)
    game = Game.new(max_rounds=cap)
    while not game.is_over:
        if game.phase == "deal":
            game.deal(some_deal(game, rng))
        else:
            game.play(next(move for move in game.legal_moves() if move.endswith("F")))
    assert game.result() == {"scores": [0, 0], "rows": [0, 0], "winners": [0, 1], "rounds": cap, "end": "stalled"}


def test_the_first_end_reason_that_holds(Game):
    """Row before exhausted before stalled.

    The table without tiles in its 100th round: exhausted. A complete row in round 100: row. And the table without
    tiles with a blue tile moved from seat 1's line 5 to the center, for line 1 of seat 0, which completes row 1: row.
    """
    game = play_all(Game.from_text(NO_TILE_LEFT.replace("r12", "r100")), "CW5")
    assert game.result()["end"] == "exhausted"

    game = play_all(Game.from_text(last_pick("0:BYRK./...../...../...../.....:W1,-,-,-,-:-", round_number=100)), "CWF")
    assert game.result()["end"] == "row"

    row_and_no_tile = NO_TILE_LEFT.replace("*W", "*B").replace("R2,K2,-", "R2,K2,W1").replace("B3", "B2")
    for text in (row_and_no_tile, row_and_no_tile.replace("r12", "r100")):
        game = play_all(Game.from_text(text), "CB1")
        assert game.result()["end"] == "row"
        assert total(look(game).bag) + total(look(game).lid) == 0


# ------------------------------------------------------------------------------------------------------------
# Facts


@pytest.mark.parametrize("players", (2, 3, 4))
def test_never_more_than_24_moves_a_factory(Game, players):
    """120, 168, 216 legal moves: all factories BYRK, all boards empty, every color to every line and the floor.

    There cannot be more: a (source, color) pair needs a tile on offer, there are at most 4 a factory, and each
    pair has 6 destinations. So the bound holds in every position; that it is reached is what is played here.
    """
    game = Game.new(players=players)
    game.deal(["BYRK"] * FACTORIES[players])
    assert len(game.legal_moves()) == 24 * FACTORIES[players] == {2: 120, 3: 168, 4: 216}[players]


@pytest.mark.parametrize("players", (2, 3, 4))
def test_a_round_has_between_f_and_4f_turns(Game, players):
    """Fewest: every factory has one color, one turn each. Most: BYRK everywhere, and every tile is taken alone.

    A turn empties at most one factory and takes at least one tile, so that it cannot be fewer or more.
    """
    count = FACTORIES[players]
    game = Game.new(players=players)
    game.deal([COLORS[i % 5] * 4 for i in range(count)])
    turns = 0
    while game.phase == "offer":
        game.play(next(move for move in game.legal_moves() if move.endswith("F")))
        turns += 1
    assert turns == count

    game = Game.new(players=players)
    game.deal(["BYRK"] * count)
    turns = 0
    for factory in range(1, count + 1):
        for take in (f"{factory}B", "CY", "CR", "CK"):
            assert game.phase == "offer"
            game.play(take + "F")
            turns += 1
    assert (turns, game.phase) == (4 * count, "deal")


def test_five_rounds_are_enough_for_a_row(Game):
    """Seat 0 puts something on its first line whenever it can: its row is complete after five rounds.

    Not before: a round puts at most one tile into a wall row.
    """
    rng = random.Random(11)
    game = Game.new()
    while not game.is_over:
        if game.phase == "deal":
            game.deal(some_deal(game, rng))
        else:
            moves = game.legal_moves()
            first_line = [move for move in moves if game.turn == 0 and move.endswith("1")]
            game.play((first_line or [move for move in moves if move.endswith("F")])[0])
    assert (game.result()["rounds"], game.result()["end"]) == (5, "row")


@pytest.mark.parametrize(
    "players, bags_after_each_deal, old_tiles", ((2, [80, 60, 40, 20, 0], 0), (3, [72, 44, 16], 16), (4, [64, 28], 28))
)
def test_when_the_bag_empties(Game, players, bags_after_each_deal, old_tiles):
    """2 players: exactly after the fifth deal, the lid untouched. 3: inside deal 4. 4: inside deal 3.

    The old tiles come out first; after the deal the bag is what was in the lid, less what it gave.
    """
    rng = random.Random(players)
    game = Game.new(players=players)
    for in_bag in bags_after_each_deal:
        lid_before = look(game).lid
        game.deal(some_deal(game, rng))
        assert total(look(game).bag) == in_bag
        assert look(game).lid == lid_before
        while game.phase == "offer":
            game.play(rng.choice(game.legal_moves()))
    if players > 2:
        assert total(look(game).bag) == old_tiles
        bag, lid = look(game).bag, look(game).lid
        deal = some_deal(game, rng)
        assert Counter("".join(deal)[:old_tiles]) == Counter({c: n for c, n in bag.items() if n})
        game.deal(deal)
        assert total(look(game).bag) == total(lid) - (4 * FACTORIES[players] - old_tiles)
        assert total(look(game).lid) == 0


def test_distinct_colors_on_a_factory_dealt_from_a_full_bag():
    """All C(100, 4) factories, by how many tiles of each color they have: .00618, .20835, .58145, .20402."""
    ways = Counter()
    for counts in itertools.product(range(5), repeat=5):
        if sum(counts) == 4:
            ways[sum(n > 0 for n in counts)] += prod(comb(20, n) for n in counts)
    assert sum(ways.values()) == comb(100, 4)
    law = {distinct: Fraction(ways[distinct], comb(100, 4)) for distinct in (1, 2, 3, 4)}
    assert {d: round(float(p), 5) for d, p in law.items()} == {1: 0.00618, 2: 0.20835, 3: 0.58145, 4: 0.20402}


def test_the_referee_deals_by_this_law():
    """4,000 first deals of the referee's own, 20,000 factories, within 5 standard errors (a fixed seed)."""
    rng = random.Random(17)
    seen, games = Counter(), 4000
    for _ in range(games):
        game = Referee()
        seen.update(len(set(factory)) for factory in game.random_deal(rng))
    for distinct, p in {1: 0.00618, 2: 0.20835, 3: 0.58145, 4: 0.20402}.items():
        n = 5 * games
        assert abs(seen[distinct] - n * p) < 5 * sqrt(n * p * (1 - p))


# A second scorer, that shares nothing with the referee's: a wall is a number with bit 5 * row + column.


@cache
def cell_runs(row_pattern, column):
    """The length of the run through this column in a row given as a number of five bits."""
    cells = "".join("o" if row_pattern >> i & 1 else "." for i in range(5))
    left, right = cells[:column], cells[column + 1 :]
    return len(left) - len(left.rstrip("o")) + 1 + len(right) - len(right.lstrip("o"))


def gain(wall, cell):
    """What the tile in this cell scores when the wall is this one, the tile included."""
    row, column = divmod(cell, 5)
    across = cell_runs(wall >> 5 * row & 31, column)
    down = cell_runs(sum((wall >> (5 * r + column) & 1) << r for r in range(5)), row)
    return 1 if across == down == 1 else across * (across > 1) + down * (down > 1)


@pytest.mark.parametrize("rows, least, most", ((1, 11, 15), (2, 29, 40), (3, 47, 70)))
def test_points_for_filling_the_first_rows(rows, least, most):
    """Exactly the first 1, 2, 3 rows filled, whatever the order: 11-15, 29-40, 47-70 placement points.

    By exhaustion. No row is complete before the last round, so the first four tiles of each row come in any order
    at all (one a round, if need be), and in the last round each row gets its fifth, from top to bottom.
    """
    cells = 5 * rows
    four_each = {0: (0, 0)}  # wall: fewest and most points in which it can be reached
    layer = [0]
    for _ in range(4 * rows):
        reached = {}
        for wall in layer:
            low, high = four_each[wall]
            for cell in range(cells):
                after = wall | 1 << cell
                if after == wall or (after >> 5 * (cell // 5) & 31) == 31:
                    continue
                points = gain(after, cell)
                old = reached.get(after, (999, -1))
                reached[after] = (min(old[0], low + points), max(old[1], high + points))
        four_each.update(reached)
        layer = list(reached)
    lows, highs = [], []
    for wall in layer:  # four tiles in every row
        low, high = four_each[wall]
        for row in range(rows):
            cell = next(5 * row + c for c in range(5) if not wall >> (5 * row + c) & 1)
            wall |= 1 << cell
            low, high = low + gain(wall, cell), high + gain(wall, cell)
        lows.append(low)
        highs.append(high)
    assert len(layer) == 5**rows
    assert (min(lows), max(highs)) == (least, most)


BEST_TOTALS = {
    5: 17, 10: 44, 15: 91, 16: 98, 17: 113, 18: 123, 19: 136, 20: 147, 21: 163, 22: 174, 23: 192, 24: 211, 25: 240,
}  # fmt: skip

# How to get them: the number in a cell is the round in which it is tiled, the highest the last round.
BEST_WALLS = {
    5: """ 5  4  3  2  1
           .  .  .  .  .
           .  .  .  .  .
           .  .  .  .  .
           .  .  .  .  .""",
    10: """9  8  7  6  2
           9  5  4  1  3
           .  .  .  .  .
           .  .  .  .  .
           .  .  .  .  .""",
    15: """. 14 13  9  .
          15 12 11 10  8
           5  6  7  .  .
           .  4  2  .  .
           .  1  3  .  .""",
    16: """11 14 .  .  .
          12 10  5  .  .
          13  9  6  3  .
          15  8  7  4  2
          15  1  .  .  .""",
    17: """. 16 15  8  .
           . 14 13  9  7
          17 12  4 10 11
           2  3  5  .  .
           .  1  6  .  .""",
    18: """. 16 15  8  .
          17 14 13  9  7
          12 11  4 10 17
           2  3  5  .  .
           .  1  6  .  .""",
    19: """. 18 17 16 12
          19 15 14  7 13
           4  5  6  8  .
           .  2  3  9  .
           . 11  1 10  .""",
    20: """. 18 17  8  .
           . 16 15  9  7
          19 14  4 10 13
          12  2  5 11 19
           1  3  6  .  .""",
    21: """. 19 18 17 13
          20 16 15  7 14
          12 11  4  8 20
           2  3  5  9  .
           .  1  6 10  .""",
    22: """15 16 17 18 .
          19 14 13 12  6
          19 11 10  4  7
          19  9  2  5  8
          19  1  3  .  .""",
    23: """. 20 19 18 14
          21 17 16  7 15
          13 12  4  8 21
          11  2  5  9 21
           1  3  6 10  .""",
    24: """21 20 19 18 17
          16 15 14  7 21
          13 12  4  8 21
          11  2  5  9 21
           1  3  6 10  .""",
    25: """17 18 19 20 21
          21 16 15 14  7
          21 13 12  4  8
          21 11  2  5  9
          21  1  3  6 10""",
}


@pytest.mark.parametrize("tiles", BEST_TOTALS)
def test_the_best_totals_are_reached(Game, tiles):
    """Seat 0 fills the wall drawn above in the rounds it names, and loses nothing; the total is the one claimed.

    Round by round: the wall so far, the round's lines full, and seat 1 about to take the last tile.
    """
    rounds = [word for row in BEST_WALLS[tiles].splitlines() for word in row.split()]
    last = max(int(word) for word in rounds if word != ".")
    assert sum(word != "." for word in rounds) == tiles
    score, wall = 0, "/".join(["....."] * 5)
    for number in range(1, last + 1):
        lines = ["-"] * 5
        for cell, word in enumerate(rounds):
            if word == str(number):
                row, column = divmod(cell, 5)
                assert lines[row] == "-"
                lines[row] = f"{COLORS[(column - row) % 5]}{row + 1}"
        game = Game.from_text(last_pick(f"{score}:{wall}:{','.join(lines)}:-", round_number=number))
        game.play("CWF")
        score, wall = game.scores[0], "/".join(look(game).boards[0].wall)
        assert game.is_over == (number == last)
    assert score == BEST_TOTALS[tiles]
    assert sum(cell != "." for row in wall.split("/") for cell in row) == tiles
    assert game.result()["end"] == "row"


def best_order_of_a_strip(pattern, single):
    """The most that the runs of one row (or column) can add up to, over all orders of filling this pattern.

    A run of one tile counts `single`.
    """
    cells = [i for i in range(5) if pattern >> i & 1]
    best = 0
    for order in itertools.permutations(cells):
        so_far, points = 0, 0
        for cell in order:
            so_far |= 1 << cell
            run = cell_runs(so_far, cell)
            points += run if run > 1 else single
        best = max(best, points)
    return best


def test_the_best_totals_are_the_best():
    """No order of filling any wall with a complete row gives more than the totals claimed; 240 is the highest.

    A tile scores at most (its run across, where one tile alone counts 1) + (its run down, where one tile alone
    counts 0). Row by row and column by column, the best orders give a bound for every one of the 2^25 walls; with
    the bonuses it is exactly the claimed total for 15 to 25 tiles. For 5 and 10 tiles the few hundred walls whose
    bound is higher are searched, every order of their tiles.
    """
    across = np.array([best_order_of_a_strip(p, 1) for p in range(32)], np.int16)  # [32] row patterns
    down = np.array([best_order_of_a_strip(p, 0) for p in range(32)], np.int16)  # [32] column patterns
    tiles_in = np.array([p.bit_count() for p in range(32)])

    upper = np.arange(2**20)  # the upper four rows, sorted by their number of tiles
    number_of_tiles = sum(tiles_in[upper >> 5 * r & 31] for r in range(4))
    upper = upper[np.argsort(number_of_tiles, kind="stable")]
    starts = np.searchsorted(np.sort(number_of_tiles), np.arange(22))  # where n tiles begin
    rows = [upper >> 5 * r & 31 for r in range(4)]
    complete = sum((row == 31).astype(np.int16) for row in rows)
    across_bound = sum(across[row] for row in rows) + 2 * complete
    without, within = [], []  # what column c adds if its fifth cell is empty, and if it is filled
    for c in range(5):
        column = sum((rows[r] >> c & 1) << r for r in range(4))
        color = (c - 4) % 5  # the color of the fifth row's cell in this column
        others = sum(rows[r] >> (color + r) % 5 & 1 for r in range(4))
        without.append(down[column])
        within.append((down[column | 16] + 7 * (column == 15) + 10 * (others == 4)).astype(np.int16))

    best = np.zeros(26, int)
    to_search = {5: [], 10: []}
    for fifth in range(32):
        bound = across_bound + (across[fifth] + np.int16(2 * (fifth == 31)))
        for c in range(5):
            bound += within[c] if fifth >> c & 1 else without[c]
        if fifth != 31:
            bound[complete == 0] = 0
        for n in range(21):
            tiles = n + int(tiles_in[fifth])
            here = bound[starts[n] : starts[n + 1]]
            best[tiles] = max(best[tiles], here.max(initial=0))
            if tiles in to_search:
                found = upper[starts[n] : starts[n + 1]][here > BEST_TOTALS[tiles]]
                to_search[tiles] += [int(wall) | fifth << 20 for wall in found]
    assert {n: best[n] for n in range(15, 26)} == {n: BEST_TOTALS[n] for n in range(15, 26)}

    @cache
    def most_points(wall):
        """Over all orders of these tiles in which no row is complete; -1 where a row is."""
        if wall == 0:
            return 0
        if any(wall >> 5 * r & 31 == 31 for r in range(5)):
            return -1
        cells = [cell for cell in range(25) if wall >> cell & 1]
        return max(most_points(wall & ~(1 << cell)) + gain(wall, cell) for cell in cells)

    def most_points_at_the_end(wall, row=4):
        """The last round: rows from the top, so the lowest row's tile came last; it completes a row or does not."""
        if row < 0:
            return most_points(wall)
        options = [most_points_at_the_end(wall, row - 1)]
        for cell in range(5 * row, 5 * row + 5):
            if wall >> cell & 1:
                before = most_points_at_the_end(wall & ~(1 << cell), row - 1)
                options.append(before + gain(wall, cell) if before >= 0 else -1)
        return max(options)

    for tiles, walls in to_search.items():
        assert len(walls) < 1000
        for wall in walls:
            bonus = 2 * sum(wall >> 5 * r & 31 == 31 for r in range(5))
            bonus += 7 * sum(all(wall >> (5 * r + c) & 1 for r in range(5)) for c in range(5))
            bonus += 10 * sum(all(wall >> (5 * r + (c + r) % 5) & 1 for r in range(5)) for c in range(5))
            assert most_points_at_the_end(wall) + bonus <= BEST_TOTALS[tiles]


# ------------------------------------------------------------------------------------------------------------
# Whole games, looked at after every move


@pytest.mark.parametrize("players, wall, overflow", VARIANTS)
def test_random_games(Game, players, wall, overflow):
    """In every state: 20 tiles of each color, the text reads back as the same game, moves within their bounds;
    rounds within theirs; one tile a round in a wall row, so that no row is complete before round 5."""
    for seed in range(2):
        rng = random.Random(seed)
        game = Game.new(players=players, wall=wall, overflow=overflow)
        turns = 0
        while not game.is_over:
            table = look(game)
            assert set(table.census().values()) == {20}
            assert Game.from_text(game.to_text()).to_text() == game.to_text()
            finished = table.round - (table.phase == "offer")
            assert max(sum(c != "." for c in row) for board in table.boards for row in board.wall) <= finished
            if game.phase == "deal":
                dealt = sum(factory != "-" for factory in table.factories)
                game.deal(some_deal(game, rng))
                dealt = sum(factory != "-" for factory in look(game).factories)
                turns = 0
            elif game.phase == "offer":
                moves = game.legal_moves()
                assert 1 <= len(moves) <= 24 * FACTORIES[players]
                game.play(rng.choice(moves))
                turns += 1
                if game.phase != "offer":
                    assert dealt <= turns <= 4 * dealt
            else:
                assert game.phase == "tile" and wall == "free"
                game.play(rng.choice(game.legal_moves()))
        result = game.result()
        assert result["end"] != "row" or result["rounds"] >= 5
        assert Game.from_text(game.to_text()).result() == result


# ------------------------------------------------------------------------------------------------------------
# The referee's other duties: bookkeeping, policies, replay, perft


def referee_game(players, wall, overflow, policy, seed, max_rounds=100):
    """Play a game with the referee's own deals; returns the referee and the record."""
    rng = random.Random(seed)
    game = Referee(players, wall, overflow, max_rounds)
    rounds = []
    while not game.is_over:
        played = {"deal": ",".join(game.random_deal(rng)), "moves": [], "tiles": [[] for _ in range(players)]}
        while game.phase in ("offer", "tile"):
            game.check()
            move = rng.choice(game.choices(policy))
            (played["moves"] if game.phase == "offer" else played["tiles"][game.turn]).append(move)
            game.play(move)
        played["moves"] = " ".join(played["moves"])
        played["tiles"] = [" ".join(choices) for choices in played["tiles"]]
        if wall == "fixed":
            del played["tiles"]
        played["scores"] = list(game.round_scores)
        rounds.append(played)
    game.check()
    record = {
        "format": "azul-record/1",
        "rules": {"players": players, "wall": wall, "overflow": overflow, "max_rounds": max_rounds},
        "first_player": 0,
        "rounds": rounds,
        "result": game.result(),
    }
    return game, record


@pytest.mark.parametrize("players, wall, overflow", VARIANTS)
@pytest.mark.parametrize("policy", ("random", "tidy", "greedy"))
def test_the_referees_books_and_its_replay(players, wall, overflow, policy):
    """score = placement - floor + clamp + 2 rows + 7 columns + 10 colors, and the record replays to the same game."""
    game, record = referee_game(players, wall, overflow, policy, seed=players)
    for seat in range(players):
        assert game.scores[seat] == (
            game.placement_points[seat] - game.floor_points[seat] + game.clamp_points[seat]
            + 2 * game.rows[seat] + 7 * game.columns[seat] + 10 * game.colors[seat]
        )  # fmt: skip
    moves = 0
    for referee, move in replay(record):
        assert move in referee.legal_moves()
        moves += referee.phase == "offer"
    assert referee.to_text() == game.to_text()
    assert moves == game.plies == sum(len(played["moves"].split()) for played in record["rounds"])
    assert game.rounds == len(record["rounds"])
    short = any(len(text) < 4 for played in record["rounds"] for text in played["deal"].split(","))
    assert game.short_deal == short


def test_a_choice_of_column_is_not_a_ply():
    """Gray, one last tile and one line to be tiled: one ply, one choice."""
    game = Referee.from_text(last_pick("0:...../...../...../...../.....:B1,-,-,-,-:-", "g2"))
    play_all(game, "CWF 1=1")
    assert game.plies == 1


@pytest.mark.parametrize(
    "spoil, complaint",
    (
        (lambda record: record.update(format="azul-record/2"), "unknown format"),
        (lambda record: record["rounds"][0].update(deal="BBBB,BBBB,BBBB,BBBB,BBBBB"), "round 1: deal"),
        (lambda record: record["rounds"][1].update(deal="BBBB,BBBB,BBBB,BBBB,BBBB"), "round 2: deal"),
        (lambda record: record["rounds"][1].update(moves=""), "round 2: the moves stop"),
        (lambda record: record["rounds"][2].update(moves="9BF"), "round 3: move 1"),
        (lambda record: record["rounds"][2].update(moves=record["rounds"][2]["moves"] + " CBF"), "round 3: move"),
        (lambda record: record["rounds"][0].update(scores=[77, 77]), "round 1: scores"),
        (lambda record: record["rounds"][0].update(tiles=["", ""]), "round 1: tiles"),
        (lambda record: record["rounds"][0].update(tiles=["5=5 5=5", "5=5"]), "round 1: tiles"),
        (lambda record: record["rounds"].pop(), "the record stops"),
        (lambda record: record["rounds"].append(record["rounds"][0]), "deal: nothing is dealt"),
        (lambda record: record["result"].update(winners=[]), "result: winners"),
        (lambda record: record["result"].update(end="stalled"), "result: end"),
        (lambda record: record.update(first_player=1), "round"),
    ),
)
def test_a_spoiled_record_does_not_replay(spoil, complaint):
    """A gray game with one thing changed; the message names the round and what is wrong."""
    _, record = referee_game(2, "free", "lid", "greedy", seed=8)
    spoil(record)
    with pytest.raises(RefereeError, match=complaint):
        for _ in replay(record):
            pass


@pytest.mark.parametrize(
    "policy, moves",
    (
        ("random", "CBF CR1 CR2 CR3 CRF 3Y1 3Y3 3Y5 3YF 3K1 3K3 3KF 3W1 3W3 3WF"),
        ("tidy", "CR1 CR2 CR3 3Y3 3Y5 3K1 3K3 3W1 3W3"),
        # red completes line 1 for 1 point but brings the marker (-1); red completes line 2 (row 2, column 4) for 1,
        # less 1; black completes line 1 in column 4 for 1; white in column 5 for 1; yellow in column 2, beside blue,
        # for 2, but one of the two yellow tiles falls (-1). Nothing else scores. Best: 1.
        ("greedy", "3Y1 3K1 3W1"),
    ),
)
def test_what_the_policies_choose_from(policy, moves):
    """The small offer: blue on wall rows 1 (column 1) and 3, R1 on line 2, K4, Y2 on line 5; *BR and 3: YYKW."""
    assert Referee.from_text(SMALL_OFFER).choices(policy) == moves.split()


def test_greedy_counts_the_marker_where_it_would_lie():
    """Two tiles on the floor, so the marker would cost 2: CR2 completes line 2 for 4 points, and is worth 2."""
    game = Referee.from_text(
        draw("""
        azul1 c2 RKBB,-,-,-,- *RR
          0:..RK./..Y../...../...../.....:-,-,-,-,-:WW;
          0:...../...../...../...../.....:-,-,-,-,-:-
          b? l0.0.0.0.0 t0 s0 r3 offer""")
    )
    # Red in row 2 is column 4: beside Y (2 across) and below K (2 down). One red tile from factory 1 only begins
    # the line. Blue in row 1 is column 1, alone: 1B1 scores 1 and drops a tile (-2). Blue in row 2 is column 2,
    # beside Y: 1B2 scores 2. On the floor, marker and two red tiles take cells 3 to 5 (-6).
    values = {move: game.greedy_value(move) for move in game.legal_moves()}
    assert (values["CR2"], values["1R2"], values["1B1"], values["1B2"], values["CRF"]) == (2, 0, -1, 2, -6)
    assert game.choices("greedy") == ["CR2", "1B2"]


@pytest.mark.parametrize(
    "policy, choices",
    (("random", ["2=1", "2=3", "2=4", "2=5"]), ("tidy", ["2=1", "2=3"]), ("greedy", ["2=1", "2=3"])),
)
def test_gray_columns_of_the_policies(policy, choices):
    """Row 2 is .R...; a blue tile scores 2 beside it on either side, and 1 farther off."""
    game = Referee.from_text(last_pick("0:...../.R.../...../...../.....:-,B2,-,-,-:-", "g2"))
    game.play("CWF")
    assert game.choices(policy) == choices


def test_gray_greedy_values_a_line_by_its_best_column():
    """Gray. Row 1 is YR.KW with blue below its gap: a blue tile there is worth 0, not 5. In row 2 it is worth 2."""
    game = Referee.from_text(
        draw("""
        azul1 g2 -,-,-,-,B B
          0:YR.KW/...../...../..B../.....:-,B1,-,-,-:-;
          0:...../...../...../...../.....:-,-,-,-,-:*
          b? l0.0.0.0.0 t0 s0 r5 offer""")
    )
    # Line 2: below the first row, 2 down. It cannot be column 3, which would score 1.
    assert [game.greedy_value(move) for move in ("CB1", "CB2", "CB3", "CBF")] == [0, 2, 0, -1]
    assert game.choices("greedy") == ["CB2", "5B2"]


@pytest.mark.parametrize("wall", ("fixed", "free"))
def test_policies_against_played_out_moves(wall):
    """Tidy: what reached the line, seen by playing the move on a copy. Greedy: the floor likewise, and the points
    of the wall by the second scorer."""
    rng = random.Random(23)
    game = Referee(2, wall)
    for _ in range(150):
        if game.is_over:
            game = Referee(2, wall)
        if game.phase == "deal":
            game.random_deal(rng)
        if game.phase == "tile":
            game.play(rng.choice(game.legal_moves()))
            continue
        seat, before = game.turn, look(game).boards[game.turn]
        missed, value = {}, {}
        for move in game.legal_moves():
            twin = game.copy()
            source, color, line = move
            # another tile at factory 1 keeps the round open, so that the floor can be seen
            twin.factories[0] = twin.factories[0] + ["B"] if source != "1" else twin.factories[0]
            taken = (look(twin).center if source == "C" else look(twin).factories[int(source) - 1]).count(color)
            twin.center = [*twin.center, "B"] if source == "1" else twin.center
            twin.play(move)
            after = look(twin).boards[seat]

            def on_line(board, line=line):
                return 0 if line == "F" or board.lines[int(line) - 1] == "-" else int(board.lines[int(line) - 1][1])

            missed[move] = taken - (on_line(after) - on_line(before))
            lost = FLOOR[min(7, len(after.floor.strip("-")))] - FLOOR[min(7, len(before.floor.strip("-")))]
            value[move] = -lost
            if line != "F" and on_line(after) == int(line):
                row = int(line) - 1
                bits = sum(1 << (5 * r + c) for r in range(5) for c in range(5) if before.wall[r][c] != ".")
                if wall == "fixed":
                    columns = [(COLORS.index(color) + row) % 5]
                else:
                    columns = [
                        c
                        for c in range(5)
                        if before.wall[row][c] == "." and all(before.wall[r][c] != color for r in range(5))
                    ]
                value[move] += max([gain(bits | 1 << (5 * row + c), 5 * row + c) for c in columns], default=0)
        assert game.choices("tidy") == [m for m in missed if missed[m] == min(missed.values())]
        assert game.choices("greedy") == [m for m in value if value[m] == max(value.values())]
        game.play(rng.choice(game.legal_moves()))


@pytest.mark.parametrize(
    "wrong",
    ({"players": 5}, {"players": 1}, {"wall": "gray"}, {"overflow": "bag"}, {"max_rounds": 0}, {"first_player": 2}),
)
def test_the_referee_knows_its_games(wrong):
    """2 to 4 players, two walls, two overflows, at least one round, a seat that is there."""
    with pytest.raises(RefereeError, match=next(iter(wrong))):
        Referee(**wrong)


def test_a_copy_is_a_game_of_its_own():
    """The first turn: moves on the copy leave the original alone."""
    game = Referee.from_text(FIRST_TURN)
    twin = game.copy()
    play_all(twin, "1B1 CKF 2Y3")
    assert game.to_text() == FIRST_TURN
    assert twin.to_text() != FIRST_TURN


@pytest.mark.parametrize(
    "position, refused_because",
    (
        (FIRST_TURN.replace("b16", "b17"), "census"),
        (FIRST_TURN.replace("l0.0.0.0.0", "l?").replace("b16.17.15.16.16", "b?"), "bag and lid"),
        (FIRST_TURN.replace("b16.17.15.16.16", "b17.17.15.16.16").replace("l0.0.0.0.0", "l?"), "negative"),
        (FIRST_TURN.replace(" * ", " - "), "marker"),
        (FIRST_TURN.replace(":-;", ":*;"), "marker"),
        (FIRST_TURN.replace("t0", "t2"), "turn"),
        (FIRST_TURN.replace("offer", "deal"), "phase"),
        (FIRST_TURN.replace("BBRK", "BBGK"), "not a position"),
        (FIRST_TURN.replace("BBRK,", ""), "census|factories"),
        (draw(f"azul1 c2 -,-,-,-,- *B 0:...../Y..../...../...../.....:-,-,-,-,-:-;{EMPTY}"
              " b? l0.0.0.0.0 t0 s0 r3 offer"), "wrong cell"),
        (draw(f"azul1 g2 -,-,-,-,- *B 0:B..../B..../...../...../.....:-,-,-,-,-:-;{EMPTY}"
              " b? l0.0.0.0.0 t0 s0 r3 offer"), "column 1"),
        (draw(f"azul1 g2 -,-,-,-,- *B 0:B...B/...../...../...../.....:-,-,-,-,-:-;{EMPTY}"
              " b? l0.0.0.0.0 t0 s0 r3 offer"), "row 1"),
        (draw(f"azul1 c2 -,-,-,-,- *B 0:B..../...../...../...../.....:B1,-,-,-,-:-;{EMPTY}"
              " b? l0.0.0.0.0 t0 s0 r3 offer"), "line 1"),
        (draw(f"azul1 c2 -,-,-,-,- *B 0:...../...../...../...../.....:-,B3,-,-,-:-;{EMPTY}"
              " b? l0.0.0.0.0 t0 s0 r3 offer"), "line 2"),
    ),
)  # fmt: skip
def test_the_referee_reads_no_impossible_position(position, refused_because):
    """The first turn, or one blue tile in the center, with one thing wrong."""
    with pytest.raises(RefereeError, match=refused_because):
        Referee.from_text(position)


def test_perft_by_hand():
    """One tile: 6 moves, and then the round is over. Two tiles of two colors: 2 x 6 first moves, 6 for the other
    player. Three: 3! orders, 6 for seat 1, and for seat 0 6 x 6 pairs less the 5 that want one line twice."""
    text = """azul1 c2 -,-,-,-,- *{center} 0:...../...../...../...../.....:-,-,-,-,-:-;
              0:...../...../...../...../.....:-,-,-,-,-:- b? l0.0.0.0.0 t0 s0 r2 offer"""
    one, two, three = (Referee.from_text(draw(text.format(center=center))) for center in ("B", "BY", "BYR"))
    assert [perft(one, depth) for depth in range(4)] == [1, 6, 6, 6]
    assert [perft(two, depth) for depth in range(5)] == [1, 12, 72, 72, 72]
    assert [perft(three, depth) for depth in range(5)] == [1, 18, 6 * 36, 6 * 6 * 31, 6 * 6 * 31]


def test_perft_with_choices_of_columns_by_hand():
    """Gray, one white tile for seat 1, and lines B1 and B2 of seat 0 full: 6 moves; 5 columns; then 4.

    If seat 1 puts its tile on line 1 it has 5 columns of its own: 5 x 20 + 1 x 20 x 5. Then the round is over.
    """
    game = Referee.from_text(last_pick("0:...../...../...../...../.....:B1,B2,-,-,-:-", "g2"))
    assert [perft(game, depth) for depth in range(7)] == [1, 6, 30, 120, 200, 200, 200]


def count_lines_of_play(offers, marks, depth):
    """Perft once more, with nothing but tuples: offers = center + factories, marks = (lines, wall) of the player to
    move first. Colored walls; the leaf at the end of the round needs no scoring."""
    if depth == 0 or not any(offers):
        return 1
    (lines, wall), *others = marks
    leaves = 0
    for place, color in {(place, color) for place, tiles in enumerate(offers) for color in tiles}:
        n, rest = offers[place].count(color), offers[place].replace(color, "")
        center = rest if place == 0 else offers[0] + rest
        left = (center, *("" if i == place else tiles for i, tiles in enumerate(offers) if i > 0))
        leaves += count_lines_of_play(left, (*others, (lines, wall)), depth - 1)
        for i in range(5):
            held, count = lines[i]
            if color not in wall[i] and held in (color, "") and count <= i:
                after = (*lines[:i], (color, min(i + 1, count + n)), *lines[i + 1 :])
                leaves += count_lines_of_play(left, (*others, (after, wall)), depth - 1)
    return leaves


@pytest.mark.parametrize("players, depth, latest", ((2, 2, 1), (2, 3, 8), (2, 5, 3), (3, 4, 4), (4, 3, 6)))
def test_perft_against_another_count(players, depth, latest):
    """Positions of a random game in its fourth round, with few enough tiles on offer (at most `latest` takes more)."""
    rng = random.Random(players)
    game = Referee(players)
    while True:
        if game.phase == "deal":
            game.random_deal(rng)
        pairs = {(source, color) for source, color, _ in game.legal_moves()}
        if game.round >= 4 and 1 <= len(pairs) <= latest:
            break
        game.play(rng.choice(game.legal_moves()))
    table = look(game)
    offers = tuple(text.strip("*-") for text in (table.center, *table.factories))
    boards = table.boards[game.turn :] + table.boards[: game.turn]
    marks = tuple(
        (tuple((line[0], int(line[1])) if line != "-" else ("", 0) for line in board.lines), tuple(board.wall))
        for board in boards
    )
    assert perft(game, depth) == count_lines_of_play(offers, marks, depth)
