"""What is kept of played games: exact whole-number sums, counts and histograms, the same in any order of adding.

A *sample* is one game or, with rotation, the block of games that play one deal from every seat. A *group* is what a
figure is about: a seat, a policy (all its seats), the whole game, or the seat that starts. Each figure of a group is
added up inside the sample before it is squared, so that a variance between samples can be taken from the sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from azul_fast._jit import inline, kernel
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
METRICS = (
    "win outright shared margin score score_square placement_points floor_points clamp_points rows columns colors"
).split()
# fmt: off
(WIN, OUTRIGHT, SHARED, MARGIN, SCORE, SQUARE, PLACED, LOST, CLAMP, ROWS, COLUMNS, COLORS) = range(len(METRICS))
# fmt: on
GAME_METRICS = ("rounds", "plies", "row", "exhausted", "stalled", "shared_win", "short_deal")
STARTER_METRICS = ("win", "margin", "lead")  # lead: (players - 1) * score - the scores of the others

SCORE_BINS = 2 * MAX_WALL_SCORE + 32  # a start of at most MAX_WALL_SCORE points, and as many again
ROUND_BINS = 128  # the last one counts all longer games
CELLS = WALL_SIZE * WALL_SIZE
SAMPLE_CELLS = MAX_PLAYERS * MAX_PLAYERS  # most (rotation, seat) pairs of a sample

_BLOCK = 256  # samples counted at a time: their figures stay in the nearest cache
_LANES = 64  # wall words counted side by side


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
            int32 [RESULT_ROWS, >= games], rows contiguous.
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
        arrays = _arrays(seating)
        members = seating.members()
        starter = seating.first_player if seating.first_player >= 0 else first_game % seating.players
        _count(
            results,
            games,
            members,
            np.array(seating.start_scores, np.int64),
            starter,
            int(seating.first_player < 0),
            *arrays,
        )
        return cls._of_arrays(seating, games, *arrays)

    @classmethod
    def _of_arrays(cls, seating, games, moments, cross, game_squares, scores, walls, rounds) -> Tally:
        exact = (a.astype(object) for a in (moments, cross, game_squares))
        return cls(seating, games, *exact, scores, walls, rounds)

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
        seating = {k: tuple(v) if isinstance(v, Sequence) else v for k, v in values["seating"].items()}
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
_METRIC_COUNT, _GAME_METRIC_COUNT, _STARTER_METRIC_COUNT = len(METRICS), len(GAME_METRICS), len(STARTER_METRICS)
_COPIED = ((SCORE, OUT_SCORE), (PLACED, OUT_PLACED), (LOST, OUT_LOST), (ROWS, OUT_ROWS), (COLUMNS, OUT_COLUMNS))
_COPIED_METRICS = tuple(m for m, _ in _COPIED) + (COLORS,)
_COPIED_ROWS = tuple(row for _, row in _COPIED) + (OUT_COLORS,)


@inline
def _gather(row, base, step, n, to):
    """Every `step`-th value of `row` from `base`: one rotation's values, side by side."""
    if step == 1:
        for j in range(n):
            to[j] = row[base + j]
    else:
        for j in range(n):
            to[j] = row[base + j * step]


@inline
def _add_moments(x, n, moments, variable):
    total = np.int64(0)
    squares = np.int64(0)
    for j in range(n):
        value = np.int64(x[j])
        total += value
        squares += value * value
    moments[variable, 0] += total
    moments[variable, 1] += squares


@inline
def _add_into(x, y, n):
    for j in range(n):
        x[j] += y[j]


@inline
def _derive(v, players, n, start_scores, best, winners, other, shared):
    """Fill the rows of `v` [players, METRICS, n] that follow from the scores, rows and points."""
    best[:n] = -1
    winners[:n] = 0
    for s in range(players):
        score, rows = v[s, SCORE], v[s, ROWS]
        for j in range(n):
            best[j] = max(best[j], score[j] * 8 + rows[j])  # highest score, then most complete rows (0 to 5)
    for s in range(players):
        score, rows = v[s, SCORE], v[s, ROWS]
        for j in range(n):
            winners[j] += score[j] * 8 + rows[j] == best[j]
    for j in range(n):
        shared[j] = winners[j] > 1
    for s in range(players):
        score, rows, columns, colors = v[s, SCORE], v[s, ROWS], v[s, COLUMNS], v[s, COLORS]
        placed, lost, start = v[s, PLACED], v[s, LOST], start_scores[s]
        win, outright, joint, square, clamp = v[s, WIN], v[s, OUTRIGHT], v[s, SHARED], v[s, SQUARE], v[s, CLAMP]
        for j in range(n):
            first = np.int32(score[j] * 8 + rows[j] == best[j])
            outright[j] = first & (winners[j] == 1)
            joint[j] = first & (winners[j] > 1)
            share = 12 if winners[j] == 1 else (6 if winners[j] == 2 else (4 if winners[j] == 3 else 3))
            win[j] = first * share
            square[j] = score[j] * score[j]
            bonus = ROW_BONUS * rows[j] + COLUMN_BONUS * columns[j] + COLOR_BONUS * colors[j]
            clamp[j] = score[j] - start - placed[j] + lost[j] - bonus
        other[:n] = -1
        for o in range(players):
            if o != s:
                theirs = v[o, SCORE]
                for j in range(n):
                    other[j] = max(other[j], theirs[j])
        margin = v[s, MARGIN]
        for j in range(n):
            margin[j] = score[j] - other[j]


@inline
def _add_walls(wall, n, lanes, counts):
    """Count each of 25 bits over `n` words: four bits at a time, in the bytes of 32-bit lanes that stay below 256."""
    for k in range(8):
        lanes[:] = 0
        whole = n // _LANES * _LANES
        for base in range(0, whole, _LANES):
            for j in range(_LANES):
                lanes[j] += (wall[base + j] >> k) & 0x01010101
        for j in range(n - whole):
            lanes[j] += (wall[whole + j] >> k) & 0x01010101
        for byte in range(4):
            if 8 * byte + k < CELLS:
                total = np.int64(0)
                for j in range(_LANES):
                    total += (lanes[j] >> 8 * byte) & 255
                counts[8 * byte + k] += total


@inline
def _add_histogram(x, n, last, counts, parts):
    """Count values 0 to `last` (all above it as `last`) in four parts, so that equal neighbors do not wait."""
    parts[:] = 0
    whole = n // 4 * 4
    for j in range(0, whole, 4):
        for k in range(4):
            parts[k, min(max(x[j + k], 0), last)] += 1
    for j in range(whole, n):
        parts[0, min(max(x[j], 0), last)] += 1
    for value in range(last + 1):
        counts[value] += parts[0, value] + parts[1, value] + parts[2, value] + parts[3, value]


@kernel
def _count(
    results, games, members, start_scores, starter, starter_rotates, moments, cross, game_squares, scores, walls, rounds
):
    """Add `games` columns of `results` to the arrays from `moments` on, in place.

    members: bool [groups, rotations, players]; starter: seat that starts column 0.
    """
    groups, rotations, players = members.shape
    v = np.empty((rotations, players, _METRIC_COUNT, _BLOCK), np.int32)
    g = np.empty((_GAME_METRIC_COUNT, _BLOCK), np.int32)  # summed over the rotations
    start = np.empty((_STARTER_METRIC_COUNT, _BLOCK), np.int32)
    best, winners, other, shared, x, row = (np.empty(_BLOCK, np.int32) for _ in range(6))
