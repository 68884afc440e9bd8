"""How much of the result is luck: the share of its variance that the deals explain.

Two policies play each deal twice, from both seats. The margin of a player who is one of the two by lot, in a seat by
lot, varies for four reasons, and the variance is the sum of theirs:

- skill: one of the two policies is better;
- starting: the seat that starts is worth more;
- deal: what both games on one deal have in common beyond that, the tiles favoring one seat whoever sits there;
- rest: what the games on one deal do not share: other choices, and whom the tiles suit after them.

This is the two-way analysis of variance with deals as rows and the two seatings as columns (Shrout and Fleiss,
"Intraclass correlations", Psychological Bulletin 86, 1979): with mean squares BMS between deals, JMS between columns
and EMS left, the deal's variance is (BMS - EMS) / k. Intervals are by the jackknife over deals (Efron, The Jackknife,
the Bootstrap and Other Resampling Plans, 1982, chapter 3).

Two players who would always choose the same have no rest: between them all is the deal. So the pairs differ, and how
much is deal depends on how differently they play.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from study import Options, Report, columns, interval, mean_of, run

import azul_fast as az
from azul_fast.stats import Estimate

# (what they are to each other, two policies, games)
PAIRS = [
    ("the same", "search:nodes=200", "search:nodes=200", 8_000),
    ("equal, alike", "search:nodes=200", "search:nodes=220", 16_000),
    ("equal, unlike", "search:nodes=150", "plan", 24_000),
    ("equal, weak", "greedy", "greedy", 100_000),
    ("better", "search:nodes=400", "plan", 12_000),
    ("much better", "search:nodes=2000", "plan", 3_000),
    ("much better, weak", "plan", "greedy", 30_000),
]
SOURCES = ("skill", "starting", "deal", "rest")


@dataclass(frozen=True)
class MeanSquares:
    """Of a table of n rows and k columns: between rows, between columns, and left."""

    rows: np.ndarray
    columns: np.ndarray
    rest: np.ndarray


def mean_squares(table: np.ndarray, leave_one_out: bool = False) -> MeanSquares:
    """Mean squares of the two-way analysis of variance without repetition.

    Parameters
    ----------
    table : float [n, k]
    leave_one_out : bool
        For every table without one of its rows: arrays [n].
    """
    n, k = table.shape
    table = table - table.mean()  # the squares then lose no digits
    row, square = table.sum(axis=1), np.square(table).sum(axis=1)
    column = table.sum(axis=0)[None, :]
    of_rows, squares = np.square(row).sum(), square.sum()
    if leave_one_out:
        column, n = column - table, n - 1
        of_rows, squares = of_rows - np.square(row), squares - square
    correction = np.square(column.sum(axis=1)) / (n * k)
    between_rows = of_rows / k - correction
    between_columns = np.square(column).sum(axis=1) / n - correction
    rest = squares - correction - between_rows - between_columns
    return MeanSquares(between_rows / (n - 1), between_columns / (k - 1), rest / ((n - 1) * (k - 1)))


def _parts(first: np.ndarray, leave_one_out: bool) -> tuple[np.ndarray, np.ndarray]:
    """Variances by `SOURCES`, and what the variances of the means add to the first two: [4, 1] and [2, 1].

    Leaving out each deal in turn: [4, n] and [2, n].
    """
    n, k = first.shape
    squares = mean_squares(first, leave_one_out)
    total = first.sum() - (first.sum(axis=1) if leave_one_out else np.zeros(1))
    n -= leave_one_out
    # a mean squared has the variance of the mean too much
    noise = np.stack([(k - 1) * squares.rest, squares.rows]) / (n * k)
    means = np.stack([(k - 1) * squares.columns / (n * k), np.square(total / (n * k))])
    return np.stack([*(means - noise), (squares.rows - squares.rest) / k, squares.rest]), noise


def variance_shares(first: np.ndarray) -> tuple[dict[str, Estimate], float]:
    """Shares of the variance by source, and the standard deviation.

    Parameters
    ----------
    first : float [deals, 2]
        The result of the seat that starts, less that of equals: first of one policy, then of the other.
    """
    n = len(first)
    parts, noise = _parts(first, False)
    without, _ = _parts(first, True)
    total = parts.sum()
    if total <= 0:
        return {source: Estimate(0.0, None) for source in SOURCES}, 0.0
    shares, others = parts[:, 0] / total, without / without.sum(axis=0)
    variances = (n - 1) / n * np.square(others - others.mean(axis=1, keepdims=True)).sum(axis=1)
    # A squared mean m^2 of variance s^2 varies by 4 m^2 s^2 + 2 s^4. The jackknife gives 4 (m^2 + s^2) s^2 on average,
    # but nothing at all where the mean found happens to be 0.
    least = 2 * np.square(noise[:, 0] / total)
    variances[:2] = np.maximum(variances[:2] - least, least)
    found = zip(SOURCES, shares, np.sqrt(variances), strict=True)
    # what is 0 but for rounding is 0
    return {source: Estimate(round(float(s), 12), round(float(e), 12)) for source, s, e in found}, math.sqrt(total)


def play_pair(
    options: Options, first: str, second: str, games: int, rules: az.Rules | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Margin and win share (less 1/2) of the seat that starts: [deals, 2] each."""
    names = ["margin", "win_share"]
    of = columns(options, names, games, rules or az.Rules(), [first, second], rotate=True)
    return of["margin"][:, 0].reshape(-1, 2), of["win_share"][:, 0].reshape(-1, 2) - 0.5


def study(options: Options) -> Report:
    """Shares of the variance for pairs of players, equal and unequal."""
    report = Report(options, "How much of the result is luck?")
    pairs = report.table(
        "Who plays, 2 players, each deal from both seats",
        *("players", "first policy", "second policy", "deals", "first wins, %", "same margin, %"),
    )
    heads = ("players", "skill, %", "starting, %", "deal, %", "rest, %")
    by_margin = report.table("Shares of the variance of the margin", *heads, "its sd, points")
    by_wins = report.table("Shares of the variance of the win (1, shared 1/2, 0)", *heads)
    found, won = {}, {}
    for relation, first, second, number in PAIRS:
        margins, wins = play_pair(options, first, second, options.size(number, 2))
        same = 100.0 * (margins[:, 0] == margins[:, 1])
        won[relation] = mean_of(50 * (wins[:, 0] - wins[:, 1]) + 50)
        pairs.add(relation, first, second, len(margins), won[relation], mean_of(same))
        shares, sd = variance_shares(margins)
        by_margin.add(relation, *(share.scaled(100) for share in shares.values()), f"{sd:.1f}")
        found[relation] = {source: share.scaled(100) for source, share in shares.items()}
        shares, _ = variance_shares(wins)
        by_wins.add(relation, *(share.scaled(100) for share in shares.values()))
    alike, unlike = (found[relation]["deal"] for relation in ("equal, alike", "equal, unlike"))
    report.answers.append(
        f"Between two good players of equal strength the deals explain {interval(unlike)}% of the variance of the "
        f"margin if they think in different ways, and {interval(alike)}% if they mostly choose the same."
    )
    report.answers.append(
        "Skill explains "
        + " and ".join(
            f"{interval(found[relation]['skill'])}% where the stronger wins {won[relation].mean:.0f}% of the games"
            for relation in ("better", "much better")
        )
        + "; all else is the deal, and choices that happen to turn out well or badly."
    )
    report.notes.append(
        "In brackets: 95% intervals. `same margin` counts deals on which both games ended alike: most of those are the "
        "same game, move by move, which tells nothing of the tiles. With 2 players the tiles of rounds 1 to 5 are the "
        "same in both games of a deal; what round 6 and later draw from the lid depends on the play too. A share may "
        "come out a little below 0, since the estimates are unbiased."
    )
    return report


if __name__ == "__main__":
    run(study, __file__, __doc__)
