"""Rows, columns or colors: which bonuses winners have, and whether going for them wins.

First what is seen: how many rows, columns and colors winners and losers complete, and the points that they bring. That
is no advice yet: who is ahead completes more of everything. So then what is done: `plan` is told to count the tiles of
an unfinished row, column or color at another share of its bonus (0: only the tile that completes it; 1: in full), and
plays against `plan` as it is, each deal from both seats.
"""

from __future__ import annotations

from study import Options, Report, columns, interval, is_clear, mean_of, run

import azul_fast as az
from azul_fast.policies import describe_parameters
from azul_fast.stats import BONUSES, Estimate

SEEN = [("greedy", 240_000), ("plan", 60_000), ("search:nodes=200", 24_000)]  # (policy, games)
KINDS = {"rows": "row", "columns": "column", "colors": "color"}  # [bonus] -> its weight in `plan`
SHARES = (0, 0.5, 1)  # of a bonus
GAMES = 30_000  # of a match


def seen(options: Options, report: Report) -> None:
    """What winners and losers complete."""
    table = report.table(
        "Winners and losers of games of 2 (shared wins left out)",
        *("policy", "bonus", "games", "winners", "losers", "difference", "in points", "with one, %"),
    )
    for policy, number in SEEN:
        of = columns(options, ["win_share", *BONUSES], options.size(number), az.Rules(), policy)
        won = of["win_share"] == 1
        here = won.any(axis=1)
        more = {}
        for kind, points in BONUSES.items():
            winner, loser = of[kind][won], of[kind][here][~won[here]]
            more[kind] = mean_of(winner - loser)
            has_one = mean_of(100.0 * (winner > 0))
            each = (mean_of(winner), mean_of(loser), more[kind], more[kind].scaled(points))
            table.add(policy, kind, int(here.sum()), *each, has_one)
    most = max(BONUSES, key=lambda kind: BONUSES[kind] * more[kind].mean)
    report.answers.append(
        f"Between two players of {policy} the winner is ahead most by {most}: "
        + ", ".join(f"{interval(more[k].scaled(p), 2)} points by {k}" for k, p in BONUSES.items())
        + "."
    )


def done(options: Options, report: Report) -> None:
    """`plan` with other weights against `plan`."""
    table = report.table(
        "plan told to count on them more or less, against plan, 2 players",
        *("weight", "share", "games", "win share, %", "margin, points", "completes", "plan completes"),
    )
    helps, most = [], dict.fromkeys(KINDS, 0.0)
    for kind, weight in KINDS.items():
        for share in SHARES:
            policy = f"plan:{weight}={share:g}"
            games = options.size(GAMES)
            options.say(f"{games:,} games, {policy} against plan")
            match = az.match(policy, "plan", games=games, seed=options.seed, threads=options.threads)
            if match.interrupted:
                raise KeyboardInterrupt
            own, other = (getattr(side, kind) for side in match.sides)
            worth = Estimate(match.score_share.mean - 0.5, match.score_share.se).scaled(100)
            table.add(weight, f"{share:g}", match.games, match.score_share.scaled(100), match.margin, own, other)
            most[kind] = max(most[kind], own.mean - other.mean)
            if is_clear(worth, len(KINDS) * len(SHARES)) and worth.mean > 0:
                helps.append(f"{weight}={share:g} wins {interval(worth)} percentage points more")
    defaults = describe_parameters()["plan"]
    usual = ", ".join(f"{weight}={defaults[weight]:g}" for weight in KINDS.values())
    if helps:
        report.answers.append(f"Of the changes of plan's weights ({usual}) these help: {'; '.join(helps)}.")
    else:
        report.answers.append(
            f"No change of plan's weights ({usual}) wins measurably more: neither going for rows, columns or colors "
            "nor leaving them out of account until one is completed."
        )
    report.answers.append(
        "No share makes plan complete many more of them: at most "
        + ", ".join(f"{number:.3f} {kind}" for kind, number in most.items())
        + " a game. So a share that loses does so by the points that it gives away elsewhere."
    )


def study(options: Options) -> Report:
    """Both questions."""
    report = Report(options, "Rows, columns or colors?")
    seen(options, report)
    done(options, report)
    report.notes.append(
        "In brackets: 95% intervals; a change helps if that is clear at 5% for all nine tests together. A win share "
        "below 50% says what a share costs. A large share pays for the first tiles in advance, and leaves less for the "
        "one that completes."
    )
    return report


if __name__ == "__main__":
    run(study, __file__, __doc__)
