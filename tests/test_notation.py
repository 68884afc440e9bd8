"""Moves, positions and deals as text; what is refused, and how it is said."""

import dataclasses
import random
import re
import subprocess
import sys

import numpy as np
import playouts
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referee import Referee

from azul_fast import notation
from azul_fast.engine.layout import STATE_WORDS, new_state
from azul_fast.errors import AzulError, InvalidDealError, InvalidMoveError, InvalidPositionError
from azul_fast.notation import (
    Move,
    check_deal,
    format_deal,
    format_move,
    format_position,
    parse_deal,
    parse_move,
    parse_position,
    why_illegal,
)
from azul_fast.position import Board, Position
from azul_fast.rules import COLORS, Rules

FIRST_TURN = (
    "azul1 c2 BBRK,YYWW,BYRK,RRRW,BKKW * 0:...../...../...../...../.....:-,-,-,-,-:-;"
    "0:...../...../...../...../.....:-,-,-,-,-:- b16.17.15.16.16 l0.0.0.0.0 t0 s0 r1 offer"
)
EMPTY = "0:...../...../...../...../.....:-,-,-,-,-:-"
MET = playouts.met_in_play()


def gray(board, *, phase="tile", turn=0, center="-", round=9, other="0:...../...../...../...../.....:-,-,-,-,-:*"):
    """A gray-wall position for two with one interesting board."""
    return f"azul1 g2 -,-,-,-,- {center} {board};{other} b? l0.0.0.0.0 t{turn} s0 r{round} {phase}"


# ---------------------------------------------------------------------------------------------------------------- moves
def test_moves_have_the_documented_indexes():
    assert parse_move("C" + "B" + "1") == 0
    assert parse_move("3B4") == 3 * 30 + 0 * 6 + 3
    assert parse_move("CRF") == 2 * 6 + 5
    assert parse_move("9WF") == 299
    assert parse_move("3=2") == 300 + 2 * 6 + 1
    assert parse_move("5=F") == 329


def test_every_action_index_has_its_own_text():
    texts = [format_move(action) for action in range(330)]
    assert len(set(texts)) == 330
    assert [parse_move(text) for text in texts] == list(range(330))


def test_a_move_knows_its_parts():
    move = Move.parse("3B4")
    assert (move.source, move.color, move.line, move.is_choice, str(move), move) == (3, 0, 3, False, "3B4", 93)
    choice = Move.parse("4=F")
    assert (choice.line, choice.column, choice.is_choice, str(choice)) == (3, 5, True, "4=F")


@pytest.mark.parametrize(
    "text", ["", "3B", "3B6", "0B1", "3b4", "3B4 ", "3G4", "3=0", "6=1", "3=f", "3B44", 12, None, b"3B4"]
)
def test_what_is_no_move_is_refused(text):
    with pytest.raises(InvalidMoveError, match=r"^move: ") as error:
        parse_move(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("action", [-1, 330, 10**100, 1.5, "3B4", None])
def test_what_is_no_action_index_is_refused(action):
    with pytest.raises(InvalidMoveError, match=r"^move: "):
        format_move(action)


# ------------------------------------------------------------------------------------------------------------ positions
def test_the_documented_example():
    state = parse_position(FIRST_TURN)
    assert state.dtype == np.int64 and state.shape == (STATE_WORDS,)
    assert format_position(state) == FIRST_TURN


def test_the_start_of_a_game():
    state = new_state(Rules(players=3, wall="free", overflow="removed", max_rounds=7), first_player=2)
    text = format_position(state)
    assert text == f"azul1 g3r -,-,-,-,-,-,- * {EMPTY};{EMPTY};{EMPTY} b20.20.20.20.20 l0.0.0.0.0 t2 s2 r0 m7 deal"
    assert np.array_equal(parse_position(text), state)


def test_positions_met_in_play_are_accepted_and_written_back():
    phases = {text.split()[-1] for text in MET}
    assert phases == {"deal", "offer", "tile", "over-row", "over-stalled"}
    for text in MET:
        assert format_position(parse_position(text)) == text


def test_bag_or_lid_may_be_left_to_the_census():
    for text in MET[::7]:
        assert format_position(parse_position(re.sub(r" b\S+", " b?", text))) == text
        assert format_position(parse_position(re.sub(r" l\S+", " l?", text))) == text


def test_letters_are_read_in_any_order_and_written_in_theirs():
    for text in (
        FIRST_TURN.replace("BBRK", "KBRB"),
        "  " + FIRST_TURN.replace(" ", "  ") + "\n",
        FIRST_TURN.replace("r1", "r1 m100").replace(" t0", " x0.0.0.0.0 t0"),
    ):
        assert format_position(parse_position(text)) == FIRST_TURN


def test_the_exhausted_game_of_the_rules():
    boards, rest = playouts.exhausted_boards(), "b0.0.0.0.0 l0.0.0.0.0 t0 s0 r9"
    for phase in ("deal", "over-exhausted"):
        text = f"azul1 c4 -,-,-,-,-,-,-,-,- * {boards} {rest} {phase}"
        assert format_position(parse_position(text)) == text


def test_a_marker_on_a_full_floor():
    # seven tiles and the marker: seven cells, minus 14
    board = "0:...../...../...../...../.....:-,-,-,-,-:*RRRRRRR"
    text = gray(board, phase="offer", center="B", other=EMPTY)
    position = Position.read(text)
    assert (position.boards[0].floor_cells, position.boards[0].marker) == (7, True)
    assert format_position(parse_position(text)) == text.replace("b?", "b19.20.13.20.20")


EXACT_REFUSALS = {
    "an unknown letter on a factory": (
        FIRST_TURN.replace("BBRK", "BBRG"),
        "position: factory 1: unknown letter 'G'; tiles are BYRKW",
    ),
    "a fifth tile": (
        FIRST_TURN.replace("BBRK", "BBRKW").replace("16.17.15.16.16", "16.17.15.16.15"),
        "position: factory 1: 5 tiles, but a factory is dealt at most 4",
    ),
    "more on offer than were dealt": (
        FIRST_TURN.replace(" * ", " *B ").replace("b16", "b15"),
        "position: center: 21 tiles on offer, but 5 factories deal at most 20",
    ),
    "a factory too many": (
        FIRST_TURN.replace("BBRK,", "BBRK,-,"),
        "position: factories: 6 given, but 2 players have 5",
    ),
    "a board too few": (
        FIRST_TURN.replace(EMPTY + ";", ""),
        "position: boards: 1 given, but there are 2 players",
    ),
    "census": (FIRST_TURN.replace("b16.17", "b17.17"), "position: census: 21 blue tiles, not 20"),
    "census, the lid left open": (
        FIRST_TURN.replace("b16.17", "b17.17").replace("l0.0.0.0.0", "l?"),
        "position: census: 21 blue tiles, not 20",
    ),
    "bag and lid left open": (
        FIRST_TURN.replace("b16.17.15.16.16 l0.0.0.0.0", "b? l?"),
        "position: l: ? for both bag and lid, but only one of them can follow from the others",
    ),
    "a line of a color of its row": (
        gray("0:...../..R../...../...../.....:-,R1,-,-,-:-", phase="offer", center="B", round=2),
        "position: board 1, line 2: holds red, but row 2 of its wall already has it",
    ),
    "a line too long": (
        gray("0:...../...../...../...../.....:-,R3,-,-,-:-"),
        "position: board 1, line 2: 3 tiles, but it has room for 2",
    ),
    "a full line in phase deal": (
        gray("0:...../...../...../...../.....:-,R2,-,-,-:-", phase="deal", center="*", other=EMPTY),
        "position: board 1, line 2: full, but in phase deal all full lines have been tiled",
    ),
    "a wrong cell of the colored wall": (
        FIRST_TURN.replace(EMPTY, "0:Y..../...../...../...../.....:-,-,-,-,-:-", 1),
        "position: board 1, wall row 1: yellow in column 1, which is blue",
    ),
    "a color twice in a row": (
        gray("0:Y..Y./...../...../...../.....:R1,-,-,-,-:-"),
        "position: board 1, wall row 1: yellow twice",
    ),
    "a color twice in a gray column": (
        gray("0:..Y../...../...../..Y../.....:R1,-,-,-,-:-"),
        "position: board 1, wall column 3: yellow twice",
    ),
    "eight tiles on a floor": (
        FIRST_TURN.replace(":-;", ":BBBBBBBB;"),
        "position: board 1, floor: 8 tiles, but it has room for 7",
    ),
    "no marker": (
        FIRST_TURN.replace(" * ", " - "),
        "position: marker: none on the table, but there is exactly one (written *)",
    ),
    "two markers": (
        FIRST_TURN.replace(":-;", ":*;"),
        "position: marker: 2 on the table, but there is exactly one (written *)",
    ),
    "a negative score": (FIRST_TURN.replace("* 0:", "* -1:"), "position: board 1, score: negative: '-1'"),
    "a seat out of range": (FIRST_TURN.replace("t0", "t2"), "position: t: no seat 2; 2 players have 0 to 1"),
    "a starter out of range": (FIRST_TURN.replace("s0", "s5"), "position: s: no seat 5; 2 players have 0 to 1"),
    "another seat before the first move": (
        FIRST_TURN.replace("t0", "t1"),
        "position: t: seat 1, but nothing has been taken and seat 0 starts the round (s)",
    ),
    "phase deal with tiles on offer": (
        FIRST_TURN.replace("offer", "deal"),
        "position: phase: deal, but factories or center hold tiles",
    ),
    "phase offer without any": (
        gray(EMPTY, phase="offer"),
        "position: phase: offer, but neither the factories nor the center hold tiles",
    ),
    "phase tile on the colored wall": (
        gray("0:...../...../...../...../.....:R1,-,-,-,-:-").replace("g2", "c2"),
        "position: phase: tile, but only on the gray wall columns are chosen",
    ),
    "phase tile without a full line": (gray(EMPTY), "position: phase: tile, but no pattern line is full"),
    "phase tile with tiles on offer": (
        gray("0:...../...../...../...../.....:R1,-,-,-,-:-", center="B"),
        "position: phase: tile, but factories or center hold tiles",
    ),
    "another seat chooses first": (
        gray("0:...../...../...../...../.....:R1,-,-,-,-:-", turn=1),
        "position: t: seat 1, but the next column is chosen by seat 0",
    ),
    "a complete row in phase offer": (
        gray("0:BYRKW/...../...../...../.....:-,-,-,-,-:-", phase="offer", center="B"),
        "position: phase: offer, but board 1 has completed row 1: the game is over",
    ),
    "a complete row below the line to be tiled": (
        gray("0:...../...../...../...../BYRKW:R1,-,-,-,-:-"),
        "position: phase: tile, but board 1 has completed row 5: the game is over",
    ),
    "over by a row, without one": (
        gray(EMPTY, phase="over-row", center="*", other=EMPTY),
        "position: phase: over-row, but no row is complete",
    ),
    "over by a row before round 5": (
        gray("0:BYRKW/...../...../...../.....:-,-,-,-,-:-", phase="over-row", center="*", other=EMPTY, round=4),
        "position: board 1, wall row 1: 5 tiles, but by round 4 (over-row) it was tiled 4 times",
    ),
    "a wall tile in round 1": (
        FIRST_TURN.replace(EMPTY, "0:B..../...../...../...../.....:-,-,-,-,-:-", 1).replace("b16", "b15"),
        "position: board 1, wall row 1: 1 tiles, but by round 1 (offer) it was tiled 0 times",
    ),
    "exhausted with tiles left": (
        gray(EMPTY, phase="over-exhausted", center="*", other=EMPTY),
        "position: phase: over-exhausted, but bag and lid hold 100 tiles",
    ),
    "stalled before the last round": (
        gray(EMPTY, phase="over-stalled", center="*", other=EMPTY),
        "position: phase: over-stalled, but round 9 is not the last of 100 (m)",
    ),
    "a deal after the last round": (
        gray(EMPTY, phase="deal", center="*", other=EMPTY).replace("r9", "r9 m9"),
        "position: phase: deal, but round 9 was the last (m)",
    ),
    "a round after the last": (
        gray(EMPTY, phase="deal", center="*", other=EMPTY).replace("r9", "r9 m8"),
        "position: r: round 9 of a game of at most 8 rounds",
    ),
    "round 0 in phase offer": (
        FIRST_TURN.replace("r1", "r0"),
        "position: r: 0 is before the first deal, but the phase is offer",
    ),
    "round 0 with tiles on the boards": (
        gray("0:...../...../...../...../.....:-,R1,-,-,-:-", phase="deal", center="*", round=0, other=EMPTY),
        "position: r: 0 is before the first deal, but not all 100 tiles are in the bag",
    ),
    "the marker on a floor in phase deal": (
        gray(EMPTY, phase="deal", center="-"),
        "position: marker: on a floor line, but in phase deal it is in the center",
    ),
    "tiles on a floor in phase deal": (
        gray("0:...../...../...../...../.....:-,-,-,-,-:R", phase="deal", center="*", other=EMPTY),
        "position: board 1, floor: holds tiles, but in phase deal they have gone to the lid",
    ),
    "tiles out of a game that keeps them": (
        FIRST_TURN.replace("b16", "b15").replace(" t0", " x1.0.0.0.0 t0"),
        "position: x: tiles have left the game, but here overflow goes to the lid (no r after the players)",
    ),
    "an unknown phase": (
        FIRST_TURN.replace("offer", "over"),
        "position: phase: deal, offer, tile, over-row, over-exhausted, over-stalled; not 'over'",
    ),
    "an unknown version": (FIRST_TURN.replace("azul1", "azul2"), "position: format: azul1 expected, not 'azul2'"),
    "five players": (
        FIRST_TURN.replace("c2", "c5"),
        "position: side: c or g, then 2, 3 or 4 players, then r where overflow is removed; not 'c5'",
    ),
    "a text that ends early": (" ".join(FIRST_TURN.split()[:-1]), "position: phase: missing; the text ends before it"),
    "a text that goes on": (FIRST_TURN + " x", "position: phase: it ends the text, but 'x' follows"),
    "a missing word": (FIRST_TURN.replace("s0 ", ""), "position: s: s… expected, not 'r1'"),
    "nothing": ("", "position: format: missing; the text ends before it"),
    "two lines": (FIRST_TURN + "\n" + FIRST_TURN, "position: more than one line"),
    "not ASCII": (FIRST_TURN.replace("r1", "r１"), "position: a character that is not ASCII"),
    "a long text": ("B" * 1_000_000, "position: 1,000,000 characters, too long for one"),
    "no text": (None, "position: a text is needed, not NoneType"),
}


@pytest.mark.parametrize("name", EXACT_REFUSALS)
def test_refusals_name_the_field(name):
    text, message = EXACT_REFUSALS[name]
    with pytest.raises(InvalidPositionError) as error:
        parse_position(text)
    assert str(error.value) == message


# Each takes a valid position and a random source, and returns a text that breaks one rule with a pattern that the
# message must have; None where this position cannot be broken that way.
def _with_board(position, seat, **changes):
    boards = list(position.boards)
    boards[seat] = dataclasses.replace(boards[seat], **changes)
    return dataclasses.replace(position, boards=tuple(boards))


def _swap(items, index, value):
    return (*items[:index], value, *items[index + 1 :])


def unknown_letter(position, rng):
    text = str(position)
    words = text.split()
    word = rng.choice([2, 3, 4])  # factories, center, boards
    places = [i for i, sign in enumerate(words[word]) if sign in COLORS]
    if not places:
        return None
    place = rng.choice(places)
    words[word] = words[word][:place] + rng.choice("GXbw1?") + words[word][place + 1 :]
    return " ".join(words), "unknown letter"


def census(position, rng):
    c = rng.randrange(5)
    heap = rng.choice(["bag", "lid"])
    counts = list(getattr(position, heap))
    counts[c] += rng.choice([-1, 1])
    if not 0 <= counts[c] <= 20:
        return None
    return str(dataclasses.replace(position, **{heap: tuple(counts)})), "census|^position: r: 0"


def line_of_a_color_of_its_row(position, rng):
    for seat, board in enumerate(position.boards):
        for row in rng.sample(range(5), 5):
            colors = board.wall[row].replace(".", "")
            if colors and not board.lines[row]:
                tiles = rng.choice(colors)
                return str(_with_board(position, seat, lines=_swap(board.lines, row, tiles))), "already has it"
    return None


def line_too_long(position, rng):
    seat, row = rng.randrange(len(position.boards)), rng.randrange(5)
    board = position.boards[seat]
    tiles = (board.lines[row][:1] or "B") * (row + 2)
    broken = _with_board(position, seat, lines=_swap(board.lines, row, tiles))
    return str(broken), f"board {seat + 1}, line {row + 1}: {row + 2} tiles|board {seat + 1}, line {row + 1}: holds"


def full_line_after_tiling(position, rng):
    if position.phase not in ("deal", "over"):
        return None
    for seat, board in enumerate(position.boards):
        for row, tiles in enumerate(board.lines):
            missing = row + 1 - len(tiles)
            c = COLORS.find(tiles[:1])
            if tiles and position.lid[c] >= missing:
                lid = _swap(position.lid, c, position.lid[c] - missing)
                broken = _with_board(position, seat, lines=_swap(board.lines, row, tiles[0] * (row + 1)))
                return str(dataclasses.replace(broken, lid=lid)), rf"board {seat + 1}, line {row + 1}: full"
    return None


def wrong_colored_cell(position, rng):
    if position.rules.wall != "fixed":
        return None
    for seat, board in enumerate(position.boards):
        for row in range(5):
            for column in range(4):
                cell, right = board.wall[row][column : column + 2]
                if cell != right:
                    wall = board.wall[row][:column] + right + cell + board.wall[row][column + 2 :]
                    return str(_with_board(position, seat, wall=_swap(board.wall, row, wall))), "wall row .*which is"
    return None


def color_twice_in_a_row(position, rng):
    if position.rules.wall != "free":
        return None
    for seat, board in enumerate(position.boards):
        for row in rng.sample(range(5), 5):
            cells = board.wall[row]
            if "." in cells and cells != ".....":
                twice = cells.replace(".", rng.choice(cells.replace(".", "")), 1)
                return str(_with_board(position, seat, wall=_swap(board.wall, row, twice))), "twice"
    return None


def color_twice_in_a_column(position, rng):
    if position.rules.wall != "free":
        return None
    for seat, board in enumerate(position.boards):
        for column in range(5):
            for row in range(4):
                cell, below = board.wall[row][column], board.wall[row + 1]
                if cell != "." and below[column] == "." and cell not in below:
                    cells = below[:column] + cell + below[column + 1 :]
                    return str(
                        _with_board(position, seat, wall=_swap(board.wall, row + 1, cells))
                    ), "wall column .*twice"
    return None


def fifth_tile(position, rng):
    f = rng.randrange(len(position.factories))
    return str(
        dataclasses.replace(position, factories=_swap(position.factories, f, "BBRKW"))
    ), f"factory {f + 1}: 5 tiles"


def too_many_on_offer(position, rng):
    many = "B" * 10 + "Y" * 10 + "R" * 10 + "K" * 10
    return str(dataclasses.replace(position, center=many)), "center: .* tiles on offer"


def wrong_number_of_factories(position, rng):
    factories = rng.choice([position.factories[1:], (*position.factories, "")])
    return str(dataclasses.replace(position, factories=factories)), "^position: factories: "


def wrong_number_of_boards(position, rng):
    boards = rng.choice([position.boards[1:], (*position.boards, Board())])
    return str(dataclasses.replace(position, boards=boards)), "^position: boards: "


def eight_floor_tiles(position, rng):
    seat = rng.randrange(len(position.boards))
    return str(_with_board(position, seat, floor="BBBBYYYY")), f"board {seat + 1}, floor: 8 tiles"


def no_marker(position, rng):
    if position.marker:
        return str(dataclasses.replace(position, marker=False)), "marker: none"
    holder = next(seat for seat, board in enumerate(position.boards) if board.marker)
    return str(_with_board(position, holder, marker=False)), "marker: none"


def two_markers(position, rng):
    if position.marker:
        return str(_with_board(position, rng.randrange(len(position.boards)), marker=True)), "marker: 2"
    return str(dataclasses.replace(position, marker=True)), "marker: 2"


def negative_score(position, rng):
    seat = rng.randrange(len(position.boards))
    return str(_with_board(position, seat, score=-1 - rng.randrange(9))), f"board {seat + 1}, score: negative"


def seat_out_of_range(position, rng):
    field = rng.choice(["turn", "starter"])
    seat = position.rules.players + rng.randrange(3)
    return str(
        dataclasses.replace(position, **{field: seat})
    ), f"^position: {'t' if field == 'turn' else 's'}: no seat {seat}"


def contradicted_phase(position, rng):
    words = ["deal", "offer", "tile", "over-row", "over-exhausted", "over-stalled"]
    now = f"over-{position.end}" if position.phase == "over" else position.phase
    words.remove(now)
    text = str(position)
    return text[: -len(now)] + rng.choice(words), "^position: (phase|r|t|marker|board ., (line .|floor|wall row .)):"


CORRUPTIONS = [
    unknown_letter,
    census,
    line_of_a_color_of_its_row,
    line_too_long,
    full_line_after_tiling,
    wrong_colored_cell,
    color_twice_in_a_row,
    color_twice_in_a_column,
    fifth_tile,
    too_many_on_offer,
    wrong_number_of_factories,
    wrong_number_of_boards,
    eight_floor_tiles,
    no_marker,
    two_markers,
    negative_score,
    seat_out_of_range,
    contradicted_phase,
]


@pytest.mark.parametrize("corrupt", CORRUPTIONS, ids=lambda corrupt: corrupt.__name__)
def test_every_kind_of_corruption_is_refused(corrupt):
    rng = random.Random(corrupt.__name__)
    broken = 0
    for text in MET:
        if (found := corrupt(Position.read(text), rng)) is None:
            continue
        broken += 1
        with pytest.raises(InvalidPositionError, match=found[1]) as error:
            parse_position(found[0])
        assert "\n" not in str(error.value) and len(str(error.value)) < 200
    assert broken >= 10


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_a_damaged_text_is_refused_or_a_position(data):
    """Whatever is done to the characters, only AzulError comes out, and what is accepted is written back the same."""
    text = data.draw(st.sampled_from(MET))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 3))
        text = text[:place] + data.draw(st.text("BYRKW.*-,;:/?0123456789 blxtsrm", max_size=3)) + text[place + length :]
    try:
        state = parse_position(text)
    except AzulError as error:
        assert str(error).startswith("position: ") and "\n" not in str(error)
    else:
        again = format_position(state)
        assert format_position(parse_position(again)) == again


@given(st.one_of(st.text(), st.binary(), st.integers(), st.none(), st.floats()))
@settings(deadline=None)
def test_arbitrary_input_raises_only_our_errors(value):
    for read in (parse_position, parse_move, lambda text: parse_deal(text, Rules())):
        with pytest.raises(AzulError) as error:
            read(value)
        assert len(str(error.value).splitlines()) == 1


def test_what_is_accepted_the_referee_accepts_too():
    """Scramble the words of two positions: the referee, who checks on his own, is never stricter."""
    rng = random.Random(5)
    accepted = 0
    for _ in range(5000):
        one, other = rng.choice(MET).split(), rng.choice(MET).split()
        if len(one) != len(other) or one[1] != other[1]:
            continue
        word = rng.randrange(2, len(one))
        one[word] = other[word]
        text = " ".join(one)
        try:
            parse_position(text)
        except InvalidPositionError:
            continue
        accepted += 1
        assert Referee.from_text(text).to_text() == text
    assert accepted >= 20


# ---------------------------------------------------------------------------------------------------------------- deals
def test_a_deal():
    counts = parse_deal("KRBB,YYWW,BYRK,RRRW,BKKW", Rules())
    assert counts.shape == (10, 5) and counts.dtype == np.uint8
    assert counts.tolist()[:3] == [[0, 0, 0, 0, 0], [2, 0, 1, 1, 0], [0, 2, 0, 0, 2]] and not counts[6:].any()
    assert np.array_equal(parse_deal(["BBRK", "YYWW", "BYRK", "RRRW", "BKKW"], Rules()), counts)
    assert format_deal(parse_position(FIRST_TURN)) == "BBRK,YYWW,BYRK,RRRW,BKKW"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BBRK,YYWW,BYRK,RRRW", "deal: 4 factories given, but 2 players have 5"),
        ("BBRK,YYWW,BYRK,RRRW,BKKG", "deal: factory 5: unknown letter 'G'; tiles are BYRKW"),
        (
            "BBRK,YYWW,BYRK,RRRW,*BKK",
            "deal: factory 5: the marker lies in the center or on a floor, written once and first",
        ),
        ("BBRK,YYWW,BYRKK,RRRW,BKKW", "deal: factory 3: 5 tiles, but a factory is dealt at most 4"),
        ("BBRK,,BYRK,RRRW,BKKW", "deal: factory 2: empty; nothing is written -"),
        (["BBRK", 3, "-", "-", "-"], "deal: a text or a list of texts is needed, not ['BBRK', 3, '-', '-', '-']"),
        (None, "deal: a text or a list of texts is needed, not None"),
    ],
)
def test_what_is_no_deal_is_refused(text, message):
    with pytest.raises(InvalidDealError) as error:
        parse_deal(text, Rules())
    assert str(error.value) == message


def test_a_deal_of_more_tiles_than_there_are():
    with pytest.raises(InvalidDealError, match=r"^deal: 24 blue tiles, but the game has 20$"):
        parse_deal(",".join(["BBBB"] * 6 + ["-"] * 3), Rules(players=4))


def _to_deal(bag, lid):
    """Two players, phase deal, with a given bag; what is in neither bag nor lid has left the game."""
    out = ".".join(str(20 - b - c) for b, c in zip(bag, lid, strict=True))
    counts = [".".join(map(str, heap)) for heap in (bag, lid)]
    return parse_position(f"azul1 c2r -,-,-,-,- * {EMPTY};{EMPTY} b{counts[0]} l{counts[1]} x{out} t0 s0 r6 deal")


@pytest.mark.parametrize(
    ("bag", "lid", "deal", "message"),
    [
        ((20, 0, 0, 0, 0), (0, 20, 0, 0, 0), "BBBB,BBBB,BBBB,BBBB,BBBB", ""),
        ((3, 0, 0, 0, 0), (0, 20, 0, 0, 0), "BBBY,YYYY,YYYY,YYYY,YYYY", ""),
        ((3, 0, 0, 0, 0), (0, 20, 0, 0, 0), "BBYY,YYYY,YYYY,YYYY,BYYY", "factory 1: the last 3 blue tiles of the bag"),
        ((6, 0, 0, 0, 0), (0, 20, 0, 0, 0), "BBBB,BBYY,YYYY,YYYY,YYYY", ""),
        ((6, 0, 0, 0, 0), (0, 20, 0, 0, 0), "YYYY,BBBB,BBYY,YYYY,YYYY", "factory 1: 4 yellow tiles, but the bag has 0"),
        ((6, 0, 0, 0, 0), (0, 20, 0, 0, 0), "BBBB,BBBY,YYYY,YYYY,YYYY", "factory 2: 1 blue tiles, but the refilled"),
        ((0, 0, 0, 0, 0), (0, 0, 0, 4, 2), "KKWW,KK,-,-,-", ""),
        ((0, 0, 0, 0, 0), (0, 0, 0, 4, 2), "KKWW,K,K,-,-", r"factory 2: 1 tiles, but it is dealt 2 \(bag 2, lid 0"),
        ((0, 0, 0, 0, 0), (0, 0, 0, 4, 2), "KKWW,KKB,-,-,-", "factory 2: 3 tiles, but it is dealt 2"),
        ((20, 20, 20, 20, 20), (0, 0, 0, 0, 0), "BBBB,BBB,BBBB,BBBB,BBBB", "factory 2: 3 tiles, but it is dealt 4"),
    ],
)  # fmt: skip
def test_which_deals_bag_and_lid_can_give(bag, lid, deal, message):
    state = _to_deal(bag, lid)
    if not message:
        check_deal(state, parse_deal(deal, Rules()))
        return
    with pytest.raises(InvalidDealError, match=f"^deal: {message}"):
        check_deal(state, parse_deal(deal, Rules()))


def test_deals_met_in_play_are_possible():
    deals = 0
    for players, wall, overflow in playouts.VARIANTS:
        before = None
        for game in playouts.playout(players, wall, overflow, seed=11):
            if before is not None:
                factories = game.to_text().split()[2]
                check_deal(before, parse_deal(factories, Rules(players=players)))
                deals += 1
            before = parse_position(game.to_text()) if game.phase == "deal" else None
    assert deals >= 60


def test_only_a_round_to_come_is_dealt():
    state = parse_position(FIRST_TURN)
    with pytest.raises(InvalidDealError, match="has been dealt"):
        check_deal(state, parse_deal("BBRK,YYWW,BYRK,RRRW,BKKW", Rules()))


# --------------------------------------------------------------------------------------------------------- legal or not
def test_legal_moves_are_those_the_referee_allows():
    for text in MET[::5]:
        position = Position.read(text)
        legal = [str(move) for move in map(Move, range(330)) if not notation.objection(position, move)]
        assert legal == Referee.from_text(text).legal_moves()


BUSY = "0:.B.../...../...../...../.....:-,R2,R1,-,-:-"


@pytest.mark.parametrize(
    ("text", "move", "reason"),
    [
        (FIRST_TURN, "1Y1", "factory 1 has no yellow"),
        (FIRST_TURN, "CY1", "the center has no yellow"),
        (FIRST_TURN, "6B1", "there is no factory 6"),
        (FIRST_TURN, "1=1", "no gray-wall column is to be chosen: tiles are on offer"),
        (gray(BUSY, phase="offer", center="BYR"), "CB3", "line 3 holds red"),
        (gray(BUSY, phase="offer", center="BYR"), "CB2", "line 2 is full"),
        (gray(BUSY, phase="offer", center="BYR"), "CB1", "row 1 already has blue"),
        (gray(BUSY, phase="offer", center="BYR"), "CR3", ""),
        (gray(BUSY), "1B1", "it is the gray-wall choice of seat 0, row 2"),
        (gray(BUSY), "3=1", "it is the gray-wall choice of seat 0, row 2"),
        (gray(BUSY), "2=F", "row 2 can take red in column 1"),
        (gray(BUSY), "2=2", ""),
        (gray("0:..R../.B.../...../...../.....:-,R2,-,-,-:-"), "2=2", "column 2 of row 2 is filled"),
        (gray("0:..R../.B.../...../...../.....:-,R2,-,-,-:-"), "2=3", "column 3 already has red"),
        # the only free cell of row 1 is below.. a blue tile: the line goes to the floor
        (gray("0:YR.KW/...../...../..B../.....:B1,-,-,-,-:-"), "1=3", "column 3 already has blue"),
        (gray("0:YR.KW/...../...../..B../.....:B1,-,-,-,-:-"), "1=F", ""),
        (gray(EMPTY, phase="deal", center="*", other=EMPTY), "1B1", "the round has not been dealt"),
        (f"azul1 c2 -,-,-,-,- * {EMPTY};{EMPTY} b? l0.0.0.0.0 t0 s0 r5 m5 over-stalled", "1B1", "the game is over"),
    ],
)
def test_why_a_move_is_illegal(text, move, reason):
    assert why_illegal(parse_position(text), parse_move(move)) == reason


def test_nothing_here_needs_the_compiler():
    code = "import sys; import azul_fast.notation; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_names_that_others_import():
    assert set(notation.__all__) <= set(vars(notation))
