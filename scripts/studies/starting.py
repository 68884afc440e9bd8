"""What starting is worth, with 2, 3 and 4 players.

Every seat is played by the same policy and seat 0 starts the first round, so an equal share of the wins would be 1/2,
1/3 or 1/4 for it. The other seats follow in the order of play. The better the players, the more starting is worth, so
the answer is that of the strongest policy here.
"""

from study import Options, Report, interval, is_clear, run, simulate

import azul_fast as az

# [players] -> (policy, games), the strongest last: with 3 and 4 players `plan` beats `search:nodes=200`
POLICIES = {
    2: [("greedy", 480_000), ("plan", 72_000), ("search:nodes=200", 24_000), ("search:nodes=2000", 6_000)],
    3: [("greedy", 480_000), ("plan", 48_000)],
    4: [("greedy", 480_000), ("plan", 36_000)],
}


def study(options: Options) -> Report:
    """Self-play of each policy."""
    report = Report(options, "What is starting the first round worth?")
    table = report.table(
        "The seat that starts, against an equal share of the wins; `ahead` is its score less the mean of the others",
        *("players", "policy", "games", "win share, %", "worth, % points", "ahead, points", "shares of all seats, %"),
    )
    for players, policies in POLICIES.items():
        of_policy = []
        for policy, number in policies:
            stats = simulate(options, options.size(number), az.Rules(players=players), policy)
            starting = stats.starting
            share, worth = starting.win_share.scaled(100), starting.advantage.scaled(100)
            shares = " ".join(f"{100 * seat.win_share.mean:.1f}" for seat in stats.seats)
            table.add(players, policy, stats.games, share, worth, starting.lead, shares)
            of_policy.append((policy, worth, starting.lead))
        (weak, loss, _), (strong, worth, lead) = of_policy[0], of_policy[-1]
        known = "" if is_clear(worth) else ", which is not clear of 0"
        report.answers.append(
            f"With {players} players starting is worth {interval(worth)} percentage points of win share and "
            f"{interval(lead)} points to {strong}{known}; to {weak} it is worth {interval(loss)} percentage points."
        )
    report.notes.append("In brackets: 95% intervals. The seats are in the order of play in the first round.")
    return report


if __name__ == "__main__":
    run(study, __file__, __doc__)
