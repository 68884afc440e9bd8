"""What the first-player marker is worth, by round and by turn.

Two questions, both answered by playing the same position on twice with the same deals, where only the marker differs:

- who starts: a round has just been dealt, and it is one player who starts or the other. The floor point for the marker
  is paid by then, so this is the worth of starting alone.
- who holds it: somebody has just taken the marker from the center, and it lies on that player's floor or on the
  other's; the tiles stay where they are. So this counts the floor cell on either side, and the start of the next round.

A difference is from one player's side: "I start" less "you start". The alternative to having the marker is that the
other has it, which is why it may be worth taking at the price of a floor point: the other does not pay it then.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from study import Options, Report, interval, is_clear, mean_by_game, play_on, run, self_play

import azul_fast as az
from azul_fast.position import Position
from azul_fast.rules import FLOOR_CELLS
from azul_fast.stats import Estimate

POLICIES = [("plan", 1200, 12), ("search:nodes=200", 800, 8)]  # (policy, games, games played on a variant)
LAST_ROUND = 5  # and later ones
TURNS = range(2, 7)  # of a round of two at which the marker can be taken: before, the center is empty; 5 factories


def starts(position: Position) -> tuple[Position, Position]:
    """A round just dealt, as if seat 0 started it, and as if seat 1 did."""
    return replace(position, turn=0, starter=0), replace(position, turn=1, starter=1)


def holders(position: Position, holder: int) -> tuple[Position, Position]:
    """A position in which `holder` has the marker, and the same with the marker on the other's floor."""
    other = tuple(replace(board, marker=seat != holder) for seat, board in enumerate(position.boards))
    return position, replace(position, boards=other)


def moments(game: Iterator[az.Game]) -> Iterator[tuple[str, int, int, tuple[Position, Position]]]:
    """What to compare in a game: (question, round, turn of the round, variants), the side that has the marker first."""
    round_, turn, in_center = 0, 0, False
    for state in game:
        if state.is_over:
            return
        position, turn = state.position, turn + 1
        if state.round != round_:
            round_, turn = state.round, 1
            yield "start", round_, 1, starts(position)
        elif in_center and not position.marker:  # the ply before took it
            holder = 1 - position.turn
            if all(board.floor_cells < FLOOR_CELLS for board in position.boards):
                sides = holders(position, holder)
                yield "hold", round_, turn - 1, sides if holder == 0 else sides[::-1]
        in_center = position.marker


def row(games: np.ndarray, differences: tuple[np.ndarray, np.ndarray], here: np.ndarray) -> tuple:
    """Games, positions and the mean differences of those that are `here`."""
    values = (mean_by_game(each[here], games[here]) for each in differences)
    return len(np.unique(games[here])), int(here.sum()), *values


def study(options: Options) -> Report:
    """Positions of self-play, each played on with the marker here and there."""
    report = Report(options, "What is the first-player marker worth?")
    names = ("games", "positions", "win share, % points", "margin, points")
    by_round = report.table("I start this round less you start it, 2 players", "policy", "round", *names)
    held_by_round = report.table("I hold the marker less you hold it, by round", "policy", "round", *names)
    by_turn = report.table("The same by the turn of the round at which it was taken", "policy", "turn", *names)
    for policy, number, rollouts in POLICIES:
        found = [
            (game, *moment)
            for game, plies in enumerate(self_play(options, options.size(number, 2), [policy] * 2))
            for moment in moments(plies)
        ]
        wins, margins = play_on(options, [variants for *_, variants in found], [policy] * 2, rollouts)
        games, asked, rounds, turns = (np.array(column) for column in list(zip(*found, strict=True))[:4])
        differences = 100 * (wins[:, 0] - wins[:, 1]), margins[:, 0] - margins[:, 1]
        for question, table in (("start", by_round), ("hold", held_by_round)):
            for round_ in range(1, LAST_ROUND + 1):
                is_last = round_ == LAST_ROUND
                here = (asked == question) & (rounds >= round_ if is_last else rounds == round_)
                table.add(policy, f"{round_}{' on' if is_last else ''}", *row(games, differences, here))
        for turn in TURNS:
            by_turn.add(policy, str(turn), *row(games, differences, (asked == "hold") & (turns == turn)))
        later = row(games, differences, (asked == "start") & (rounds > 1))
        held = row(games, differences, asked == "hold")
        last = row(games, differences, (asked == "hold") & (rounds >= LAST_ROUND))
        by_round.add(policy, "2 on", *later)
        held_by_round.add(policy, "any", *held)
        report.answers.append(
            f"Between two players of {policy} starting a round from the second on, rather than the other, is worth "
            f"{interval(later[3])} points and {interval(later[2])} percentage points of win share. Holding the marker, "
            f"its floor cell paid, is {verdict(held[3])}: {interval(held[3])} points. In round 5, where it brings "
            f"nothing more, it is {interval(last[3])}: half of that is what the cell costs on one floor."
        )
    report.notes.append(
        "In brackets: 95% intervals. Both differences are between having it and the other having it, half of which is "
        "what it is worth against an even chance. Round 5 is nearly always the last. The turns are those at which "
        "these players took it."
    )
    return report


def verdict(held: Estimate) -> str:
    """What a difference says in a word."""
    if not is_clear(held):
        return "worth nothing that can be told from 0"
    return "a gain" if held.mean > 0 else "a loss"


if __name__ == "__main__":
    run(study, __file__, __doc__)
