"""The gray wall against the coloured one: scores, rounds, bonuses, the worth of starting, and luck.

Self-play on both walls with the same deals, 2, 3 and 4 players; on the gray wall every player also chooses the column
of each tile. `gray less coloured` is paired by deal. Luck is that of `scripts/study luck`: the share of the variance of
the margin that goes with the deal, or with skill, when two policies play each deal from both seats.
"""

from __future__ import annotations

import numpy as np
from luck import play_pair, variance_shares
from study import WALLS, Options, Report, Table, columns, interval, is_clear, mean_of, run

import azul_fast as az
from azul_fast.stats import BONUSES, Estimate

# [players] -> (policy, games): the strongest for that number that plays both walls
POLICIES = {2: ("search:nodes=200", 16_000), 3: ("plan", 18_000), 4: ("plan", 12_000)}
PAIRS = [("equal", "search:nodes=150", "plan", 12_000), ("better", "search:nodes=400", "plan", 8_000)]
FIGURES = {  # [row] -> column of the per-game table; the mean over all seats
    "score": "score",
    "rounds": "rounds",
    "plies": "plies",
    "points lost to the floor": "floor_points",
    "complete rows": "rows",
    "complete columns": "columns",
    "complete colors": "colors",
}


def row(table: Table, name: str, values: list[np.ndarray], unit: float = 1.0) -> Estimate:
    """Add a figure's means on both walls and their difference, which is returned."""
    less = mean_of(values[1] - values[0]).scaled(unit)
    table.add(name, *(mean_of(each).scaled(unit) for each in values), less)
    return less


def study(options: Options) -> Report:
    """Each wall, and the difference."""
    report = Report(options, "What is different on the gray wall?")
    for players, (policy, number) in POLICIES.items():
        games = options.size(number)
        wanted = [*FIGURES.values(), "win_share"]
        of = [columns(options, wanted, games, az.Rules(players=players, wall=wall), policy) for wall in WALLS]
        title = f"{players} players of {policy}, {games:,} games each"
        table = report.table(title, "", *WALLS.values(), "gray less coloured")
        less = {name: row(table, name, [w[column].mean(axis=1) for w in of]) for name, column in FIGURES.items()}
        bonuses = [sum(points * w[kind].mean(axis=1) for kind, points in BONUSES.items()) for w in of]
        bonus = row(table, "points of bonuses", bonuses)
        start = row(table, "starting, % points of wins", [w["win_share"][:, 0] - 1 / players for w in of], 100)
        known = "" if is_clear(start) else ", which is not clear of 0"
        report.answers.append(
            f"With {players} players ({policy}) a gray score is {interval(less['score'])} points higher, and points of "
            f"bonuses change by {interval(bonus)}; the worth of starting changes by {interval(start)} percentage points"
            f"{known}."
        )
    table = report.table(
        "Luck, 2 players: shares of the variance of the margin",
        *("players", "policies", "wall", "deals", "skill, %", "starting, %", "deal, %", "rest, %", "sd, points"),
    )
    for relation, first, second, number in PAIRS:
        for wall, name in WALLS.items():
            margins, _ = play_pair(options, first, second, options.size(number, 2), az.Rules(wall=wall))
            shares, sd = variance_shares(margins)
            cells = (share.scaled(100) for share in shares.values())
            table.add(relation, f"{first} – {second}", name, len(margins), *cells, f"{sd:.1f}")
    report.notes.append(
        "In brackets: 95% intervals. Figures are means per player and game. The policies were made for the coloured "
        "wall, and choose a gray column by what it brings them; better gray players may widen the difference."
    )
    return report


if __name__ == "__main__":
    run(study, __file__, __doc__)
