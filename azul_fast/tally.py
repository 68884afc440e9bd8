"""What is kept of played games: exact whole-number sums, counts and histograms, the same in any order of adding.

A *sample* is one game or, with rotation, the block of games that play one deal from every seat. A *group* is what a
figure is about: a seat, a policy (all its seats), the whole game, or the seat that starts. Each figure of a group is
added up inside the sample before it is squared, so that a variance between samples can be taken from the sums.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from azul_fast._jit import inner, kernel
from azul_fast.engine.layout import (
    END_EXHAUSTED,
    END_ROW,
    END_STALLED,
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
from azul_fast.rules import (
    COLOR_BONUS,
    COLUMN_BONUS,
    FLOOR_PENALTY_SUMS,
    MAX_PLAYERS,
    MAX_WALL_SCORE,
    ROW_BONUS,
    WALL_SIZE,
)

WIN_UNITS = 12  # a won game in whole shares, however many (1 to 4) share it

# The figures of a seat in a game; `win` in twelfths, the others as in the per-game table.
METRICS = (  # in the order that `_recipe` makes them
    "win outright shared margin score score_square placement_points floor_points clamp_points rows columns colors"
).split()
GAME_METRICS = ("rounds", "plies", "row", "exhausted", "stalled", "shared_win", "short_deal")
STARTER_METRICS = ("win", "margin", "lead")  # lead: (players - 1) * score - the scores of the others

SCORE_BINS = 2 * MAX_WALL_SCORE + 32  # a start of at most MAX_WALL_SCORE points, and as many again
ROUND_BINS = 128  # the last one counts all longer games
CELLS = WALL_SIZE * WALL_SIZE
SAMPLE_CELLS = MAX_PLAYERS * MAX_PLAYERS  # most (rotation, seat) pairs of a sample

_BLOCK = 512  # samples counted at a time: their figures stay in the near caches
_LANES = 64  # wall words counted side by side
_FLUSH_BLOCKS = 24  # blocks in which no byte of a lane counts to 256: 24 * 512 / 64 = 192


@dataclass(frozen=True)
class Seating:
    """Who plays where: all that a tally must know of a run, and what two tallies must have in common.

    Parameters
    ----------
    policies : tuple of int
        Number of the policy of each seat in rotation 0; in rotation ``r = game % rotations`` seat ``s`` is played by
        ``policies[(s + r) % players]``. Equal numbers are one group.
    rotations : int
        1, or the number of players.
    first_player : int
        The seat that moves first, or -1 where it is ``game % players``.
    start_scores : tuple of int
        Score of each seat at the start, 0 unless the games start from a position.
    """

    policies: tuple[int, ...]
    rotations: int = 1
    first_player: int = 0
    start_scores: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.start_scores:
            object.__setattr__(self, "start_scores", (0,) * self.players)
        if max(self.start_scores) > MAX_WALL_SCORE:
            raise ValueError(f"a start score must be at most {MAX_WALL_SCORE}, not {max(self.start_scores)}")

    @property
    def players(self) -> int:
        return len(self.policies)

    @property
    def distinct(self) -> tuple[int, ...]:
        """The policies, each once, in the order of the seats."""
        return tuple(dict.fromkeys(self.policies))

    def policy(self, rotation: int, seat: int) -> int:
        """Who plays `seat` in `rotation`."""
        return self.policies[(seat + rotation) % self.players]

    def members(self) -> np.ndarray:
        """Which seat of which rotation belongs to which group: bool [groups, rotations, players].

        The groups are the seats, then the distinct policies.
        """
        cells = [(r, s) for r in range(self.rotations) for s in range(self.players)]
        groups = [[s == seat for _, s in cells] for seat in range(self.players)]
        groups += [[self.policy(r, s) == policy for r, s in cells] for policy in self.distinct]
        return np.array(groups).reshape(len(groups), self.rotations, self.players)


def largest_chunk(max_rounds: int) -> int:
    """Most games that one `Tally.of` may count so that no 64-bit sum can overflow.

    A sample's figure is at most SAMPLE_CELLS times what the floor takes in every round (more than its plies), and a
    sample's sum of squared scores at most SAMPLE_CELLS * SCORE_BINS^2; their squares are summed.
    """
    figure = max(SAMPLE_CELLS * FLOOR_PENALTY_SUMS[-1] * (max_rounds + 1), SAMPLE_CELLS * SCORE_BINS**2)
    return (2**63 - 1) // figure**2


@dataclass
class Tally:
    """Sums over samples; add two of the same seating with ``+``, in any order.

    The sums are Python integers in object arrays, so that no number of games overflows them.
    """

    seating: Seating
    games: int
    moments: np.ndarray  # object [variables, 2]: sum and sum of squares over samples, see `moment`
    cross: np.ndarray  # object [groups]: sum over samples of (sum of scores) * (sum of squared scores)
    game_squares: np.ndarray  # object [2]: sum over games of rounds^2 and plies^2
    scores: np.ndarray  # int64 [rotations, players, SCORE_BINS] games
    walls: np.ndarray  # int64 [rotations, players, CELLS] games that end with the cell filled
    rounds: np.ndarray  # int64 [ROUND_BINS] games

    @classmethod
    def empty(cls, seating: Seating) -> Tally:
        """The tally of no games."""
        return cls._of_arrays(seating, 0, *_arrays(seating))

    @classmethod
    def of(cls, results: np.ndarray, games: int, seating: Seating, first_game: int = 0) -> Tally:
        """Count games 0 to `games` - 1 of `results`.

        Parameters
        ----------
        results : numpy.ndarray
            int32 [RESULT_ROWS, >= games] in C order.
        games : int
            A multiple of the rotations, at most `largest_chunk` of the longest game.
        seating : Seating
        first_game : int
            Index in the run of the first column, a multiple of the rotations.
        """
        if games % seating.rotations or first_game % seating.rotations:
            raise ValueError(f"games and first_game must be multiples of {seating.rotations} rotations")
        if results.shape[0] != RESULT_ROWS or results.shape[1] < games:
            raise ValueError(f"results must be [{RESULT_ROWS}, at least {games}], not {results.shape}")
        limit = largest_chunk(int(results[OUT_ROUNDS, :games].max(initial=0)))
        if games > limit:
            raise ValueError(f"at most {limit} games of such length can be counted at once, not {games}")
        arrays = _arrays(seating)
        moments, cross, game_squares, scores, walls, rounds = arrays
        steps, rows = _recipe(seating)
        cells = seating.rotations * seating.players
        _count(
            results,
            games,
            seating.players,
            seating.rotations,
            first_game % seating.players,
            steps,
            np.empty((rows, _BLOCK), np.int32),
            np.zeros((cells, 8, _LANES), np.int32),
            moments,
            cross,
            game_squares,
            scores.reshape(cells, SCORE_BINS),
            walls.reshape(cells, CELLS),
            rounds,
        )
        return cls._of_arrays(seating, games, *arrays)

    @classmethod
    def _of_arrays(cls, seating, games, moments, cross, game_squares, scores, walls, rounds) -> Tally:
        moments, cross, game_squares = (sums.astype(object) for sums in (moments, cross, game_squares))
        return cls(seating, games, moments, cross, game_squares, scores, walls, rounds)

    def __add__(self, other: Tally) -> Tally:
        if self.seating != other.seating:
            raise ValueError("tallies of different seatings cannot be added")
        return Tally(self.seating, *(getattr(self, name) + getattr(other, name) for name in _SUMMED))

    @property
    def samples(self) -> int:
        """Number of samples: games, or blocks of games on one deal."""
        return self.games // self.seating.rotations

    def moment(self, group: int | str, metric: str) -> tuple[int, int]:
        """Sum and sum of squares over samples.

        `group` is a row of `Seating.members`, or ``"game"`` (GAME_METRICS) or ``"starter"`` (STARTER_METRICS).
        """
        players = self.seating.players
        after = (players + len(self.seating.distinct)) * len(METRICS)
        if group == "game":
            index = after + GAME_METRICS.index(metric)
        elif group == "starter":
            index = after + len(GAME_METRICS) + STARTER_METRICS.index(metric)
        else:
            index = int(group) * len(METRICS) + METRICS.index(metric)
        total, squares = self.moments[index]
        return total, squares

    def to_dict(self) -> dict[str, Any]:
        """Lists and integers only, for JSON; `from_dict` reads it back."""
        values: dict[str, Any] = {name: getattr(self, name) for name in _SUMMED}
        values = {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in values.items()}
        return {"seating": {f.name: getattr(self.seating, f.name) for f in fields(Seating)}, **values}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Tally:
        """The inverse of `to_dict`."""
        seating: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values["seating"].items()}
        exact = (np.array(values[k], object) for k in ("moments", "cross", "game_squares"))
        counts = (np.array(values[k], np.int64) for k in ("scores", "walls", "rounds"))
        return cls(Seating(**seating), values["games"], *exact, *counts)


_SUMMED = [f.name for f in fields(Tally) if f.name != "seating"]


def _arrays(seating: Seating) -> tuple[np.ndarray, ...]:
    groups = seating.players + len(seating.distinct)
    variables = groups * len(METRICS) + len(GAME_METRICS) + len(STARTER_METRICS)
    per_seat = (seating.rotations, seating.players)
    shapes = ((variables, 2), (groups,), (2,), (*per_seat, SCORE_BINS), (*per_seat, CELLS), (ROUND_BINS,))
    return tuple(np.zeros(shape, np.int64) for shape in shapes)


# --------------------------------------------------------------------------------------------------- the kernel
# All figures are made by a few operations on rows of numbers, one number a sample. `_recipe` writes down the operations
# for a seating; `_count` runs them on a block of samples after the other. Each operation is one loop over few arrays,
# which LLVM turns into vector code, and is compiled once however many figures use it.
# fmt: off
(_GATHER, _SCALE, _ADD, _MAX, _EQUAL, _MULTIPLY, _SHARE, _STARTS,
 _MOMENTS, _PRODUCTS, _SQUARES, _SCORES, _ROUNDS, _WALLS) = range(14)
# fmt: on


class _Recipe:
    """A list of operations on rows: (code, to, a, b, weight, constant). Most methods add one that fills a new row."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int, int, int, int, int]] = []
        self.rows = 0

    def step(self, code: int, to: int, a: int = 0, b: int = 0, weight: int = 0, constant: int = 0) -> None:
        self.steps.append((code, to, a, b, weight, constant))

    def _new(self, code: int, a: int = 0, b: int = 0, weight: int = 0, constant: int = 0) -> int:
        self.step(code, self.rows, a, b, weight, constant)
        self.rows += 1
        return self.rows - 1

    def gather(self, result_row: int, rotation: int) -> int:
        """Values of a result row in the games of one rotation."""
        return self._new(_GATHER, result_row, rotation)

    def sum(self, *terms: tuple[int, int], constant: int = 0) -> int:
        """A constant and weight * row for each of the terms (weight, row)."""
        to = self._new(_SCALE, terms[0][1], weight=terms[0][0], constant=constant)
        for weight, row in terms[1:]:
            self.step(_ADD, to, row, weight=weight)
        return to

    def total(self, rows: Sequence[int]) -> int:
        return rows[0] if len(rows) == 1 else self.sum(*((1, row) for row in rows))

    def maximum(self, rows: Sequence[int]) -> int:
        if len(rows) == 1:
            return rows[0]
        to = self._new(_MAX, rows[0], rows[1])
        for row in rows[2:]:
            self.step(_MAX, to, to, row)
        return to

    def equal(self, a: int, b: int, constant: int = 0) -> int:
        """1 where row `a` is row `b` + constant, else 0."""
        return self._new(_EQUAL, a, b, constant=constant)

    def product(self, a: int, b: int) -> int:
        return self._new(_MULTIPLY, a, b)

    def shares(self, winners: int) -> int:
        """Twelfths for each of so many winners."""
        return self._new(_SHARE, winners)

    def starts(self, rotation: int, seat: int) -> int:
        """1 where `seat` starts, when the starter is ``game % players``."""
        return self._new(_STARTS, rotation, seat)


@functools.lru_cache(maxsize=64)
def _recipe(seating: Seating) -> tuple[np.ndarray, int]:
    """The operations that count a block of samples: int64 [steps, 6], and how many rows they need."""
    make = _Recipe()
    zero = make.sum((0, 0))
    of_cells: list[list[list[int]]] = []  # [rotation][seat][metric] -> row
    of_games: list[list[int]] = []  # [rotation][game metric] -> row
    of_starters: list[list[int]] = []  # [rotation][starter metric] -> row
    players, seats = seating.players, range(seating.players)
    for rotation in range(seating.rotations):
        seat_rows = [
            [make.gather(OUT_SEATS + s * OUT_SEAT_ROWS + row, rotation) for row in range(OUT_SEAT_ROWS)] for s in seats
        ]
        score = [rows[OUT_SCORE] for rows in seat_rows]
        rank = [make.sum((8, rows[OUT_SCORE]), (1, rows[OUT_ROWS])) for rows in seat_rows]  # rows: 0 to 5
        best = make.maximum(rank)
        first = [make.equal(best, rank[s]) for s in seats]
        share = make.shares(make.total(first))
        cells, starters = [], []
        for s in seats:
            placed, lost, *completed = (
                seat_rows[s][row] for row in (OUT_PLACED, OUT_LOST, OUT_ROWS, OUT_COLUMNS, OUT_COLORS)
            )
            bonuses = zip((-ROW_BONUS, -COLUMN_BONUS, -COLOR_BONUS), completed, strict=True)
            win = make.product(first[s], share)
            outright = make.equal(win, zero, WIN_UNITS)
            shared = make.sum((1, first[s]), (-1, outright))
            margin = make.sum((1, score[s]), (-1, make.maximum([score[o] for o in seats if o != s])))
            square = make.product(score[s], score[s])
            clamp = make.sum((1, score[s]), (-1, placed), (1, lost), *bonuses, constant=-seating.start_scores[s])
            cells.append([win, outright, shared, margin, score[s], square, placed, lost, clamp, *completed])
            make.step(_SCORES, rotation * players + s, score[s])
            make.step(_WALLS, rotation * players + s, seat_rows[s][OUT_WALL])
            if seating.first_player in (s, -1):
                lead = make.sum((players, score[s]), *((-1, score[o]) for o in seats))
                starters.append([win, margin, lead])
        of_cells.append(cells)
        if seating.first_player < 0:
            starts = [make.starts(rotation, s) for s in seats]
            starters = [[make.product(starts[s], row) for row in starters[s]] for s in seats]
        of_starters.append([make.total(rows) for rows in zip(*starters, strict=True)])
        rounds, plies, end, short = (make.gather(row, rotation) for row in (OUT_ROUNDS, OUT_PLIES, OUT_END, OUT_SHORT))
        make.step(_SQUARES, 0, rounds)
        make.step(_SQUARES, 1, plies)
        make.step(_ROUNDS, 0, rounds)
        ends = [make.equal(end, zero, reason) for reason in (END_ROW, END_EXHAUSTED, END_STALLED)]
        shared_win = make.sum((-1, make.equal(share, zero, WIN_UNITS)), constant=1)
        of_games.append([rounds, plies, *ends, shared_win, short])

    # Add each figure up inside the sample, and count the sums.
    sums = []
    for group, members in enumerate(seating.members()):
        group_cells = [of_cells[rotation][s] for rotation, s in np.argwhere(members)]
        group_sums = [make.total(rows) for rows in zip(*group_cells, strict=True)]
        make.step(_PRODUCTS, group, group_sums[METRICS.index("score")], group_sums[METRICS.index("score_square")])
        sums += group_sums
    for figures in (of_games, of_starters):
        sums += [make.total(rows) for rows in zip(*figures, strict=True)]
    for variable, row in enumerate(sums):
        make.step(_MOMENTS, variable, row)
    return np.array(make.steps, np.int64), make.rows


@inner
def _products(x, y, n):
    """Sum of x * y, in 64 bits."""
    total = np.int64(0)
    for j in range(n):
        total += np.int64(x[j]) * np.int64(y[j])
    return total


@inner
def _add_counts(x, n, counts):
    """Count values; those beyond the last bin in the last."""
    last = len(counts) - 1
    for j in range(n):
        counts[min(max(x[j], 0), last)] += 1


@inner
def _add_walls(wall, n, lanes):
    """Count the bits of `n` words in the bytes of `lanes` [8, _LANES]: bit 8 b + k in byte b of lanes[k]."""
    for k in range(8):
        side = lanes[k]
        for base in range(0, n, _LANES):
            words = wall[base : min(base + _LANES, n)]
            for j in range(len(words)):
                side[j] += (words[j] >> k) & 0x01010101


@inner
def _flush_walls(lanes, counts):
    """Move the counts of `lanes` to the `counts` of the 25 cells."""
    for k in range(8):
        for j in range(_LANES):
            for byte in range(4):
                if 8 * byte + k < CELLS:
                    counts[8 * byte + k] += (lanes[k, j] >> 8 * byte) & 255
            lanes[k, j] = 0


@kernel
def _count(
    results, games, players, rotations, starter, steps, w, lanes, moments, cross, game_squares, scores, walls, rounds
):
    """Add `games` columns of `results` to the arrays from `moments` on, in place.

    steps: int64 [steps, 6]; w: int32 [rows, _BLOCK], for their use; lanes: int32 [rotations * players, 8, _LANES],
    zeros; scores, walls: int64 [rotations * players, bins]; starter: seat that starts column 0 if that rotates.
    """
    samples = games // rotations
    for begin in range(0, samples, _BLOCK):
        n = min(_BLOCK, samples - begin)
        for i in range(steps.shape[0]):
            code, to, weight, constant = steps[i, 0], steps[i, 1], steps[i, 4], steps[i, 5]
            if code == _SCORES:
                _add_counts(w[steps[i, 2]], n, scores[to])
            elif code == _WALLS:
                _add_walls(w[steps[i, 2]], n, lanes[to])
            elif code == _ROUNDS:
                _add_counts(w[steps[i, 2]], n, rounds)
            elif code == _GATHER:
                x = w[to]
                row = results[steps[i, 2], begin * rotations + steps[i, 3] :]
                if rotations == 1:
                    for j in range(n):
                        x[j] = row[j]
                elif rotations == 2:  # a loop for each stride, which LLVM can then make vector code of
                    for j in range(n):
                        x[j] = row[2 * j]
                elif rotations == 3:
                    for j in range(n):
                        x[j] = row[3 * j]
                else:
                    for j in range(n):
                        x[j] = row[4 * j]
            elif code == _STARTS:
                x = w[to]
                base = starter + begin * rotations + steps[i, 2]
                for j in range(n):
                    x[j] = (base + j * rotations) % players == steps[i, 3]
            else:
                a, b = w[steps[i, 2]], w[steps[i, 3]]
                if code == _MOMENTS:
                    total = np.int64(0)
                    for j in range(n):
                        total += a[j]
                    moments[to, 0] += total
                    moments[to, 1] += _products(a, a, n)
                elif code == _PRODUCTS:
                    cross[to] += _products(a, b, n)
                elif code == _SQUARES:
                    game_squares[to] += _products(a, a, n)
                else:
                    x = w[to]
                    if code == _SCALE:
                        for j in range(n):
                            x[j] = weight * a[j] + constant
                    elif code == _ADD:
                        for j in range(n):
                            x[j] += weight * a[j]
                    elif code == _MAX:
                        for j in range(n):
                            x[j] = max(a[j], b[j])
                    elif code == _EQUAL:
                        for j in range(n):
                            x[j] = a[j] == b[j] + constant
                    elif code == _MULTIPLY:
                        for j in range(n):
                            x[j] = a[j] * b[j]
                    else:  # _SHARE
                        for j in range(n):
                            x[j] = 12 if a[j] == 1 else (6 if a[j] == 2 else (4 if a[j] == 3 else 3))
        if begin // _BLOCK % _FLUSH_BLOCKS == _FLUSH_BLOCKS - 1 or begin + n == samples:
            for cell in range(len(lanes)):
                _flush_walls(lanes[cell], walls[cell])
