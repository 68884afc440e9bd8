"""The lockstep engine: alike for all lanes, the same as a slow replay, fair, and compiled to what it is meant to be."""

import itertools
import os
import re
import subprocess
import sys
import textwrap

import llvmlite.binding
import numba
import numpy as np
import playouts
import pytest
import slow_streams
from referee import Referee

from azul_fast.engine import lockstep
from azul_fast.engine.lanes import load, store
from azul_fast.engine.layout import (
    OUT_COLORS,
    OUT_COLUMNS,
    OUT_END,
    OUT_LOST,
    OUT_PLACED,
    OUT_PLIES,
    OUT_ROUNDS,
    OUT_ROWS,
    OUT_SCORE,
    OUT_SEAT_ROWS,
    OUT_SEATS,
    OUT_SHORT,
    OUT_WALL,
    RESULT_ROWS,
    new_state,
)
from azul_fast.engine.lockstep import ONES, SIZES, Table, fields_above, find_source, play_lockstep
from azul_fast.engine.static import Static
from azul_fast.notation import parse_position
from azul_fast.rules import COLOR_COUNT, END_REASONS, SOURCE_COUNT, Rules

UNTOUCHED = -7
PLAYERS = (2, 3, 4)
EMPTY = "0:...../...../...../...../.....:-,-,-,-,-:-"


def play(start, count, rotations=1, first_rotates=0, seed=5, first_game=0, **size):
    """Results of `count` games, int32 [RESULT_ROWS, count]."""
    out = np.full((RESULT_ROWS, count), UNTOUCHED, np.int32)
    play_lockstep(start, rotations, first_rotates, seed, first_game, count, out, **size)
    return out


def check_against_the_referee(text_or_rules, start, games, seed=5, first_game=0, rotations=1, first_rotates=0):
    """Play the same games by the same draws on the slow table, and compare every result."""
    results = play(start, games, rotations, first_rotates, seed, first_game)
    for i in range(games):
        number = first_game + i
        if isinstance(text_or_rules, str):
            game = Referee.from_text(text_or_rules)
        else:
            first = number % text_or_rules.players if first_rotates else 0
            game = Referee(players=text_or_rules.players, max_rounds=text_or_rules.max_rounds, first_player=first)
        slow_streams.play_random(game, seed, number, rotations)
        column = results[:, i]
        assert column[OUT_ROUNDS] == game.round
        assert column[OUT_PLIES] == game.plies
        assert END_REASONS[column[OUT_END] - 1] == game.end
        assert column[OUT_SHORT] == game.short_deal
        for seat, board in enumerate(game.boards):
            rows = column[OUT_SEATS + seat * OUT_SEAT_ROWS :]
            assert rows[OUT_SCORE] == board["score"]
            assert rows[OUT_PLACED] == game.placement_points[seat]
            assert rows[OUT_LOST] == game.floor_points[seat]
            assert [rows[OUT_ROWS], rows[OUT_COLUMNS], rows[OUT_COLORS]] == [
                game.rows[seat],
                game.columns[seat],
                game.colors[seat],
            ]
            cells = itertools.chain.from_iterable(board["wall"])
            assert rows[OUT_WALL] == sum(1 << i for i, cell in enumerate(cells) if cell)
        assert (column[OUT_SEATS + game.players * OUT_SEAT_ROWS :] == UNTOUCHED).all()


# ------------------------------------------------------------------------------------------- no lane knows of another
@pytest.mark.parametrize(("players", "lanes", "groups"), [(3, 1, 2), (4, 8, 3), (2, 16, 1), (4, 16, 5)])
def test_other_lanes_and_groups_play_the_same_games(players, lanes, groups):
    start = new_state(Rules(players=players))
    expected = play(start, 3000, rotations=players, first_rotates=1)
    found = play(start, 3000, players, 1, size=Static(players=players, lanes=lanes), groups=groups)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("players", PLAYERS)
def test_chunks_play_the_same_games(players):
    start = new_state(Rules(players=players))
    whole = play(start, 1500, first_game=10**9)
    at = 0
    for count in (0, 1, 2, 15, 16, 17, 31, 32, 33, 100, 500, 753):
        np.testing.assert_array_equal(play(start, count, first_game=10**9 + at), whole[:, at : at + count])
        at += count
    assert at == 1500


def test_only_the_columns_asked_for_are_written():
    out = np.full((RESULT_ROWS, 40), UNTOUCHED, np.int32)
    play_lockstep(new_state(Rules(players=2)), 1, 0, 1, 0, 33, out)
    assert (out[:, 33:] == UNTOUCHED).all()
    assert (out[OUT_SEATS + 2 * OUT_SEAT_ROWS :] == UNTOUCHED).all()
    assert (out[: OUT_SEATS + 2 * OUT_SEAT_ROWS, :33] != UNTOUCHED).all()


# ------------------------------------------------------------------------------------------------- the slow table
@pytest.mark.parametrize(("players", "games"), [(2, 12), (3, 8), (4, 6)])
@pytest.mark.parametrize("first_rotates", [0, 1])
def test_whole_games(players, games, first_rotates):
    rules = Rules(players=players)
    rotations = players if first_rotates else 1
    check_against_the_referee(rules, new_state(rules), games, 2**53 - 1, 10**12 + 1, rotations, first_rotates)


def test_a_low_cap_stalls():
    rules = Rules(players=3, max_rounds=2)
    check_against_the_referee(rules, new_state(rules), 20)


def offers(players, seed):
    """Texts of positions in the middle of rounds of one game."""
    games = playouts.playout(players, "fixed", "lid", seed)
    return [text for text in (game.to_text() for game in games) if text.endswith("offer")]


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("seed", [1, 2])
def test_starts_in_the_middle_of_a_round(players, seed):
    for text in offers(players, seed)[3::13]:
        check_against_the_referee(text, parse_position(text), 3)


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_who_started_starts_again_if_nobody_takes_the_marker(turn):
    """Every factory has one color, so nothing ever lies in the center: seat 1 started and starts the next round."""
    factories = "-,RRRR,KKKK,-,-,WWWW,-"
    text = f"azul1 c3 {factories} * {';'.join([EMPTY] * 3)} b14.14.14.15.15 l? t{turn} s1 r2 m4 offer"
    check_against_the_referee(text, parse_position(text), 40)


def test_the_marker_on_a_full_floor_and_the_next_starter():
    floor = "BBYYRKK"
    text = (
        f"azul1 c2 -,-,-,-,BYRK *BYRKW 9:...../...../...../...../.....:-,-,-,-,-:{floor};{EMPTY}"
        " b12.12.12.12.12 l? t0 s1 r2 m3 offer"
    )
    check_against_the_referee(text, parse_position(text), 60)


def test_nothing_left_to_deal():
    """The last tile to line 5 ends the game as exhausted, to the floor it comes back, alone on factory 1."""
    boards = playouts.exhausted_boards().split(";")
    boards[0] = boards[0].replace("W1:", "-:")
    text = f"azul1 c4 {','.join('-' * 9)} *W {';'.join(boards)} b0.0.0.0.0 l0.0.0.0.0 t0 s3 r12 offer"
    start = parse_position(text)
    check_against_the_referee(text, start, 12)
    results = play(start, 1000)
    assert set(results[OUT_END, results[OUT_ROUNDS] == 12]) == {END_REASONS.index("exhausted") + 1}
    assert (results[OUT_SHORT, results[OUT_ROUNDS] > 12] == 1).all()


# --------------------------------------------------------------------------------------------- the densest offers
@numba.njit
def count_above(sums, limits, out, size):
    width = size.lanes
    for at in range(0, len(out), width):
        store(out, at, fields_above(load(sums, at, width), load(limits, at, width), size.players))


@pytest.mark.parametrize("players", PLAYERS)
def test_the_color_is_found_for_any_sums_and_any_number(players):
    """All sums of five colors up to the tiles of a deal, and all numbers below the last of them."""
    most = 4 * (2 * players + 1)
    lanes = 8
    first = np.array(list(itertools.combinations(range(most + 4), 4)), np.int16) - np.arange(4, dtype=np.int16)
    fields = (first.astype(np.uint32) << 2 + 6 * np.arange(4, dtype=np.uint32)).sum(1).astype(np.uint32)
    assert (first[:, 3] == most).any()
    assert ONES == sum(1 << 2 + 6 * color for color in range(COLOR_COUNT))
    tested = 0
    for number in range(most):
        last = np.maximum(first[:, 3], number + 1).astype(np.uint32)  # the number is below the sum of all colors
        for total in (last, np.full_like(last, most)):
            sums = fields | total << 26
            padded = np.resize(sums, -(-len(sums) // lanes) * lanes)
            out = np.zeros_like(padded)
            count_above(padded, np.full_like(padded, number), out, Static(players=players, lanes=lanes))
            np.testing.assert_array_equal(out[: len(sums)], (first > number).sum(1))
            tested += len(sums)
    assert tested == 2 * most * len(first)


@numba.njit
def seek(memory, sources, numbers, found, tiles, size):
    table = Table(memory, size)
    for at in range(0, len(sources), size.lanes):
        source, its_tiles = find_source(table, 0, load(sources, at, size.lanes), load(numbers, at, size.lanes))
        store(found, at, source)
        store(tiles, at, its_tiles)


@pytest.mark.parametrize("players", PLAYERS)
def test_the_source_is_found_among_any_others(players):
    size = Static(players=players, lanes=8)
    memory = np.zeros(lockstep.memory_words(size, 0), np.uint32)
    for source in range(SOURCE_COUNT):
        memory[(lockstep.TILES + source) * size.lanes :][: size.lanes] = 1000 + 100 * source + np.arange(size.lanes)
    masks = range(1, 1 << 2 * players + 2)
    cases = [(mask, n, s) for mask in masks for n, s in enumerate(s for s in range(SOURCE_COUNT) if mask >> s & 1)]
    cases += cases[: -len(cases) % size.lanes]
    masks, numbers, expected = (np.array(column, np.uint32) for column in zip(*cases, strict=True))
    found, tiles = np.zeros_like(masks), np.zeros_like(masks)
    seek(memory, masks, numbers, found, tiles, size)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(tiles, 1000 + 100 * expected + np.arange(len(tiles)) % size.lanes)


DENSE = "BYRK,BYRW,BYKW,BRKW,YRKW,BYRK,BYRW,BYKW,BRKW"  # four colors on each: 36 pairs of factory and color


def test_the_densest_offers_of_four():
    """Every move of the first ply is played, and the games are those of the slow table."""
    bag = ".".join(str(20 - DENSE.count(color)) for color in "BYRKW")
    text = f"azul1 c4 {DENSE} * {';'.join([EMPTY] * 4)} b{bag} l0.0.0.0.0 t2 s2 r1 m1 offer"
    start = parse_position(text)
    check_against_the_referee(text, start, 24)
    stream = [slow_streams.Stream(5, game, slow_streams.POLICIES).draw(1, 0, 216) for game in range(24)]
    assert max(stream) > 200  # the floor, and white
    for first_game in (100, 3000):  # the rest of the deal lies in the center: 35 pairs
        text_center = text.replace(" * ", " *BYRK ").replace("BYRK,", "-,", 1)
        check_against_the_referee(text_center, parse_position(text_center), 8, first_game=first_game)


# --------------------------------------------------------------------------------------------------- what is compiled
def test_a_round_that_does_not_end_is_an_error(monkeypatch):
    monkeypatch.setattr(lockstep, "lockstep_games", lambda *arguments: lockstep.ENDLESS_ROUND)
    with pytest.raises(RuntimeError, match="games 10 to 14"):
        play(new_state(Rules()), 5, first_game=10)


def test_sizes_are_what_is_documented():
    assert {players: (size.players, size.lanes) for players, size in SIZES.items()} == {p: (p, 16) for p in PLAYERS}


# Figures of another program (20 million games a row): mean scores by seat, rounds, plies; the last digit is certain.
MEANS = {
    2: ((2.99149, 2.92389), 6.59621, 70.33813),
    3: ((2.49721, 2.44203, 2.40533), 6.68774, 89.96652),
    4: ((2.10413, 2.08666, 2.05994, 2.01228), 6.78221, 108.33162),
}
THEIR_SE = 0.001, 0.001, 0.004  # generous
LIMIT = 4.5  # standard errors


@pytest.mark.parametrize("players", PLAYERS)
def test_means_agree_with_another_program(players):
    results = play(new_state(Rules(players=players)), 200_000, seed=11).astype(float)
    scores, rounds, plies = MEANS[players]
    rows = [OUT_SEATS + seat * OUT_SEAT_ROWS + OUT_SCORE for seat in range(players)] + [OUT_ROUNDS, OUT_PLIES]
    theirs = [THEIR_SE[0]] * players + [THEIR_SE[1], THEIR_SE[2]]
    for row, expected, other in zip(rows, [*scores, rounds, plies], theirs, strict=True):
        error = np.hypot(results[row].std() / 200_000**0.5, other)
        assert abs(results[row].mean() - expected) < LIMIT * error


ASSEMBLY = """
    import numba, numpy as np
    from azul_fast import _jit
    from azul_fast.engine import lockstep
    from azul_fast.engine.layout import RESULT_ROWS, new_state
    from azul_fast.rules import Rules

    fresh = numba.njit(**_jit.FLAGS)(lockstep.lockstep_games.py_func)  # what comes from the cache has no assembly

    def compile_only(*arguments):
        fresh.compile(tuple(numba.typeof(argument) for argument in arguments))
        return lockstep.DONE

    lockstep.lockstep_games = compile_only
    lockstep.play_lockstep(new_state(Rules(players=4)), 1, 0, 1, 0, 8, np.zeros((RESULT_ROWS, 8), np.int32))
    print(*fresh.inspect_asm().values())
"""


@pytest.mark.skipif(
    "x86_64" not in llvmlite.binding.get_default_triple(), reason="the names of instructions are those of x86"
)
@pytest.mark.parametrize("processor", ["haswell", "skylake-avx512"])
def test_vectors_are_whole_registers_and_stores_are_not_masked(processor):
    """Masked stores are microcoded on AMD: see `freeze` in `azul_fast.engine.lanes`."""
    environment = os.environ | {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": "", "NUMBA_BOUNDSCHECK": "0"}
    code = textwrap.dedent(ASSEMBLY)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assembly = done.stdout
    assert assembly.count("ymm") + assembly.count("zmm") > 1000
    assert not re.findall(r"vpmaskmov\w*\s+%[xyz]mm\d+, %[xyz]mm\d+, \S*\(", assembly)
    assert not re.findall(r"vmovdq\w+\s+%[xyz]mm\d+, \S*\([^)]*\) \{%k\d\}", assembly)
