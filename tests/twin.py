"""Made-up results of games, and what they say about each game and seat in plain Python: the slow twin of the tally."""

from fractions import Fraction

import numpy as np

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
)

ENDS = ("row", "exhausted", "stalled")
SEAT_ROWS = {
    "score": OUT_SCORE,
    "placement_points": OUT_PLACED,
    "floor_points": OUT_LOST,
    "rows": OUT_ROWS,
    "columns": OUT_COLUMNS,
    "colors": OUT_COLORS,
    "wall": OUT_WALL,
}


def made_up(games, players, seed=0, padding=5):
    """Results with every kind of value, ties among them: int32 [RESULT_ROWS, games + padding]."""
    rng = np.random.default_rng(seed)
    results = rng.integers(-(2**31), 2**31 - 1, (RESULT_ROWS, games + padding)).astype(
        np.int32
    )  # what is not to be read
    used = results[:, :games]
    used[OUT_ROUNDS] = np.where(rng.random(games) < 0.01, 200, rng.integers(5, 12, games))
    used[OUT_PLIES] = rng.integers(40, 120, games)
    used[OUT_END] = rng.choice([1, 1, 1, 2, 3], games)
    used[OUT_SHORT] = rng.integers(0, 2, games)
    for seat in range(players):
        row = used[OUT_SEATS + seat * OUT_SEAT_ROWS :]
        row[OUT_SCORE] = np.maximum(0, rng.geometric(0.2, games) - 3) + rng.choice([0, 0, 0, 200], games)
        row[OUT_PLACED] = rng.integers(0, 60, games)
        row[OUT_LOST] = rng.integers(0, 90, games)
        for kind in (OUT_ROWS, OUT_COLUMNS, OUT_COLORS):
            row[kind] = rng.integers(0, 6, games)
        row[OUT_WALL] = rng.integers(0, 2**25, games)
    return results


def rows(results, games, policies, rotations=1, first_player=0, first_game=0, start_scores=None):
    """One dict a game and seat, as in the per-game table; `first_player` -1 rotates."""
    players = len(policies)
    table = []
    for column in range(games):
        number = first_game + column
        seats = []
        for seat in range(players):
            base = OUT_SEATS + seat * OUT_SEAT_ROWS
            one = {name: int(results[base + row, column]) for name, row in SEAT_ROWS.items()}
            start = start_scores[seat] if start_scores else 0
            one["placement_points"] += start
            gained = one["placement_points"] - one["floor_points"]
            bonus = 2 * one["rows"] + 7 * one["columns"] + 10 * one["colors"]
            one |= {
                "game": number,
                "deal": number // rotations,
                "rotation": number % rotations,
                "seat": seat,
                "policy": policies[(seat + number % rotations) % players],
                "first_player": number % players if first_player < 0 else first_player,
                "clamp_points": one["score"] - gained - bonus,
                "rounds": int(results[OUT_ROUNDS, column]),
                "plies": int(results[OUT_PLIES, column]),
                "short_deal": int(results[OUT_SHORT, column]),
                "end": ENDS[int(results[OUT_END, column]) - 1],
            }
            seats.append(one)
        best = max((one["score"], one["rows"]) for one in seats)
        winners = sum((one["score"], one["rows"]) == best for one in seats)
        scores = [one["score"] for one in seats]
        for seat, one in enumerate(seats):
            won = (one["score"], one["rows"]) == best
            others = scores[:seat] + scores[seat + 1 :]
            one["win_share"] = Fraction(won, winners)
            one["outright"] = int(won and winners == 1)
            one["shared"] = int(won and winners > 1)
            one["shared_win"] = int(winners > 1)
            one["margin"] = one["score"] - max(others)
            one["lead"] = one["score"] - Fraction(sum(others), players - 1)
        table += seats
    return table


def samples(table, values):
    """[sample] -> the values of its rows in the order of the table; `values` maps a row to a value or None."""
    by_sample = {}
    for row in table:
        if (value := values(row)) is not None:
            by_sample.setdefault(row["deal"], []).append(value)
    return list(by_sample.values())
