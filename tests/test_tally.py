"""The tally against a slow twin in plain Python, and what can be done with tallies."""

from __future__ import annotations

import functools
import itertools
import json
import operator
import random

import numpy as np
import pytest
from twin import made_up, rows, samples

from azul_fast.engine.layout import (
    OUT_END,
    OUT_LOST,
    OUT_PLACED,
    OUT_PLIES,
    OUT_ROUNDS,
    OUT_SCORE,
    OUT_SEAT_ROWS,
    OUT_SEATS,
    OUT_WALL,
    RESULT_ROWS,
)
from azul_fast.rules import FLOOR_PENALTY_SUMS, factory_count
from azul_fast.tally import CELLS, METRICS, ROUND_BINS, SCORE_BINS, Seating, Tally, largest_chunk

SEATINGS = {
    "two alike": Seating((0, 0)),
    "two, the second starts": Seating((0, 1), first_player=1),
    "two rotated": Seating((0, 1), rotations=2),
    "two in turn": Seating((0, 0), first_player=-1),
    "from a position": Seating((0, 1), start_scores=(7, 31)),
    "three": Seating((0, 1, 0), first_player=2),
    "three rotated in turn": Seating((0, 1, 0), rotations=3, first_player=-1),
    "four alike": Seating((0, 0, 0, 0)),
    "four rotated": Seating((0, 1, 2, 1), rotations=4, first_player=3),
    "four rotated from a position": Seating((0, 1, 1, 1), rotations=4, start_scores=(1, 2, 3, 240)),
}


def counted(results, games, seating, first_game=0):
    """The tally as plain numbers, and the same made from the twin's table."""
    table = rows(
        results, games, seating.policies, seating.rotations, seating.first_player, first_game, seating.start_scores
    )
    figures = {
        **{
            name: operator.itemgetter(name)
            for name in METRICS
            if name not in ("win", "score_square", "placement_points")
        },
        "win": lambda row: 12 * row["win_share"],
        "score_square": lambda row: row["score"] ** 2,
        "placement_points": lambda row: (
            row["placement_points"] - seating.start_scores[row["seat"]]
        ),  # as the kernel has it
    }
    belongs = [lambda row, s=s: row["seat"] == s for s in range(seating.players)]
    belongs += [lambda row, p=p: row["policy"] == p for p in seating.distinct]
    tally = Tally.of(results, games, seating, first_game)
    ours, twins = {"games": tally.games}, {"games": games}

    def compare(group, metric, values):
        sums = [sum(parts) for parts in samples(table, values)]
        ours[group, metric] = tally.moment(group, metric)
        twins[group, metric] = (sum(sums), sum(x * x for x in sums))
        return sums

    for group, member in enumerate(belongs):
        sums = {m: compare(group, m, lambda row: figures[m](row) if member(row) else None) for m in METRICS}  # noqa: B023
        ours[group, "cross"] = tally.cross[group]
        twins[group, "cross"] = sum(map(operator.mul, sums["score"], sums["score_square"]))
    once = lambda name: lambda row: row[name] if row["seat"] == 0 else None  # noqa: E731
    for metric in ("rounds", "plies", "shared_win", "short_deal"):
        compare("game", metric, once(metric))
    for end in ("row", "exhausted", "stalled"):
        compare("game", end, lambda row: int(row["end"] == end) if row["seat"] == 0 else None)  # noqa: B023
    starts = lambda row, value: value if row["seat"] == row["first_player"] else None  # noqa: E731
    compare("starter", "win", lambda row: starts(row, 12 * row["win_share"]))
    compare("starter", "margin", lambda row: starts(row, row["margin"]))
    compare("starter", "lead", lambda row: starts(row, (seating.players - 1) * row["lead"]))

    ours |= {name: getattr(tally, name).tolist() for name in ("game_squares", "scores", "walls", "rounds")}
    shape = (seating.rotations, seating.players)
    scores, walls = np.zeros((*shape, SCORE_BINS), int), np.zeros((*shape, CELLS), int)
    for row in table:
        at = row["rotation"], row["seat"]
        scores[at][row["score"]] += 1
        walls[at] += [row["wall"] >> cell & 1 for cell in range(CELLS)]
    played = [row for row in table if row["seat"] == 0]
    lengths = np.bincount([min(row["rounds"], ROUND_BINS - 1) for row in played], minlength=ROUND_BINS)
    twins |= {"scores": scores.tolist(), "walls": walls.tolist(), "rounds": lengths.tolist()}
    twins["game_squares"] = [sum(row[name] ** 2 for row in played) for name in ("rounds", "plies")]
    return ours, twins


@pytest.mark.parametrize("seating", SEATINGS.values(), ids=SEATINGS)
def test_everything_is_what_the_twin_counts(seating):
    for games, first_game in ((12, 0), (516, 24), (1536, 12)):  # blocks of 512 samples, and parts of one
        ours, twins = counted(made_up(games, seating.players, seed=games), games, seating, first_game)
        assert ours == twins


def test_a_long_chunk_moves_the_wall_counts_on_before_a_byte_is_full():
    games, seating = 30_000, Seating((0, 0))
    results = made_up(games, 2)
    results[OUT_SEATS + OUT_WALL, :games] = 2**25 - 1  # seat 0 fills every cell in every game
    tally = Tally.of(results, games, seating)
    assert tally.walls[0, 0].tolist() == [games] * CELLS
    filled = results[OUT_SEATS + OUT_SEAT_ROWS + OUT_WALL, :games]
    assert tally.walls[0, 1].tolist() == [int((filled >> cell & 1).sum()) for cell in range(CELLS)]


def test_tallies_add_up_in_any_order():
    seating = SEATINGS["three rotated in turn"]
    results = made_up(600, 3)
    whole = Tally.of(results, 600, seating)
    cuts = [0, 12, 300, 303, 555, 600]
    parts = [
        Tally.of(np.ascontiguousarray(results[:, begin:]), end - begin, seating, begin)
        for begin, end in itertools.pairwise(cuts)
    ]
    random.Random(1).shuffle(parts)
    assert functools.reduce(operator.add, parts, Tally.empty(seating)).to_dict() == whole.to_dict()
    with pytest.raises(ValueError, match="different seatings"):
        whole + Tally.empty(SEATINGS["three"])


def test_a_tally_survives_json():
    tally = Tally.of(made_up(240, 4), 240, SEATINGS["four rotated from a position"])
    again = Tally.from_dict(json.loads(json.dumps(tally.to_dict())))
    assert again.seating == tally.seating
    assert (again + tally).to_dict() == (tally + tally).to_dict()


@pytest.mark.parametrize("max_rounds", [100, 1_000_000])
@pytest.mark.parametrize("seating", [Seating((0, 0)), Seating((0, 0, 0, 0), rotations=4)], ids=["2", "4 rotated"])
def test_the_largest_numbers_fit(max_rounds, seating):
    # every game as long and as costly as can be, every score the highest that can be counted
    games = min(largest_chunk(max_rounds), 12_288) // 12 * 12
    assert games >= 12
    players, rotations = seating.players, seating.rotations
    results = np.zeros((RESULT_ROWS, games), np.int32)
    plies, lost = 4 * factory_count(players) * max_rounds, FLOOR_PENALTY_SUMS[-1] * max_rounds
    results[OUT_ROUNDS], results[OUT_PLIES], results[OUT_END] = max_rounds, plies, 3
    for seat in range(players):
        base = OUT_SEATS + seat * OUT_SEAT_ROWS
        for row, value in ((OUT_SCORE, SCORE_BINS - 1), (OUT_PLACED, 240), (OUT_LOST, lost), (OUT_WALL, 2**25 - 1)):
            results[base + row] = value
    tally = Tally.of(results, games, seating)
    n, cells = games // rotations, rotations * players  # samples; values of the policy in each
    everyone = players  # its group
    clamp = SCORE_BINS - 1 - 240 + lost
    score = SCORE_BINS - 1
    for metric, value in (
        ("floor_points", lost),
        ("clamp_points", clamp),
        ("score", score),
        ("score_square", score**2),
    ):
        assert tally.moment(everyone, metric) == (n * cells * value, n * (cells * value) ** 2)
    assert tally.cross[everyone] == n * cells * score * cells * score**2
    assert tally.moment("game", "plies") == (n * rotations * plies, n * (rotations * plies) ** 2)
    assert tally.walls.tolist() == [[[n] * CELLS] * players] * rotations
    # and sums of sums do not overflow either
    total = tally
    for _ in range(70):
        total = total + total
    assert total.moment("game", "plies")[1] == 2**70 * n * (rotations * plies) ** 2


def test_what_cannot_be_counted_is_refused():
    results = made_up(24, 2)
    with pytest.raises(ValueError, match="multiples of 2 rotations"):
        Tally.of(results, 23, SEATINGS["two rotated"])
    with pytest.raises(ValueError, match="at least 48"):
        Tally.of(results, 48, SEATINGS["two alike"])
    with pytest.raises(ValueError, match="at most 240"):
        Seating((0, 0), start_scores=(0, 241))
    results = made_up(3000, 2)
    results[OUT_ROUNDS, 7] = 1_000_000
    with pytest.raises(ValueError, match="games of such length"):
        Tally.of(results, 3000, SEATINGS["two alike"])
