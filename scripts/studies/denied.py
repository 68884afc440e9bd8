"""What it is worth to take from an opponent the tiles that it would have taken.

Positions of games of two in which the opponent is to act. The same position is played on with the same deals three
times: as it is; without the group that the opponent would take now (all tiles of one color from one source, put in the
lid; the rest of a factory stays there); and without another group of as many tiles. A group that is gone is missing for
both players, and changes who takes the last tiles of the round; both cancel between two groups of one size. So what
the opponent's margin loses more by the wanted one than by the other is what denying it brings you, beyond taking
anything else. What you do with the tiles yourself is not counted.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from study import Options, Report, interval, mean_by_game, play_on, run, self_play

import azul_fast as az
from azul_fast.position import Position, in_order
from azul_fast.rules import CENTER, COLORS
from azul_fast.stats import Estimate

YOU = "search:nodes=200"
# (opponent, games, positions of a game, games played on a variant): weak, average, as good as you
OPPONENTS = [("greedy", 600, 4, 5), ("plan", 1000, 4, 5), ("search:nodes=200", 1200, 4, 5)]
SIZES = {1: "1", 2: "2", 3: "3 or more"}  # [tiles] -> name


def groups(position: Position) -> dict[tuple[int, str], int]:
    """What may be taken: [source, color] -> tiles."""
    sources = (position.center, *position.factories)
    return {(s, color): tiles.count(color) for s, tiles in enumerate(sources) for color in COLORS if color in tiles}


def without(position: Position, source: int, color: str) -> Position:
    """The position with the tiles of one color of one source in the lid."""
    factories = [tiles.replace(color, "") if n == source else tiles for n, tiles in enumerate(position.factories, 1)]
    center = position.center.replace(color, "") if source == CENTER else position.center
    return replace(position, factories=tuple(factories), center=in_order(center)).with_lid()


def moments(
    game: Iterator[az.Game], number: int, positions: int, opponent: Any, seed: int
) -> Iterator[tuple[int, tuple[Position, Position, Position]]]:
    """Some positions of a game with seat 0 to act: (tiles of the wanted group, variants).

    `opponent`, an `azul_fast.players.Players` of one policy, plays that seat.
    """
    draw = np.random.default_rng([seed, number])
    seen = []
    for state in game:
        if state.is_over or state.turn != 0:
            continue
        move = az.Move(opponent.choose(state.state, 0, seed, number))
        wanted = move.source, COLORS[move.color]
        sizes = groups(state.position)
        others = [group for group, tiles in sizes.items() if tiles == sizes[wanted] and group != wanted]
        if others:
            seen.append((state.position, wanted, others[draw.integers(len(others))], sizes[wanted]))
    for place in sorted(draw.permutation(len(seen))[:positions].tolist()):
        position, wanted, other, tiles = seen[place]
        yield tiles, (position, without(position, *wanted), without(position, *other))


def row(values: np.ndarray, games: np.ndarray, tiles: np.ndarray) -> tuple[Estimate, ...]:
    """What is lost without the wanted group, without the other, the difference, and the same by tile."""
    wanted, other = values[:, 0] - values[:, 1], values[:, 0] - values[:, 2]
    lost = (wanted, other, wanted - other)
    return *(mean_by_game(each, games) for each in lost), mean_by_game(wanted - other, games, tiles)


def study(options: Options) -> Report:
    """Positions of games against each opponent, played on with and without a group."""
    from azul_fast.players import Players

    report = Report(options, "What is a tile worth that the opponent would have taken?")
    names = ("opponent", "positions", "wanted gone", "another gone", "difference", "a tile of it")
    points_lost = report.table(f"What the opponent's margin loses, in points; you are {YOU}, 2 players", *names)
    shares_lost = report.table("What its win share loses, in percentage points", *names)
    by_size = report.table(
        "The difference by the size of the group, in points", "opponent", "tiles", "positions", *names[-2:]
    )
    for opponent, number, positions, rollouts in OPPONENTS:
        player = Players([opponent])
        found = [
            (game, *moment)
            for game, plies in enumerate(self_play(options, options.size(number, 2), [opponent, YOU]))
            for moment in moments(plies, game, positions, player, options.seed)
        ]
        games, tiles, cases = zip(*found, strict=True)
        games, tiles = np.array(games), np.array(tiles)
        wins, margins = play_on(options, cases, [opponent, YOU], rollouts)

        points = row(margins, games, tiles)
        points_lost.add(opponent, len(found), *points)
        shares_lost.add(opponent, len(found), *row(100 * wins, games, tiles))
        for size, name in SIZES.items():
            here = np.minimum(tiles, max(SIZES)) == size
            more = margins[here, 2] - margins[here, 1]
            by_tile = mean_by_game(more, games[here], tiles[here])
            by_size.add(opponent, name, len(more), mean_by_game(more, games[here]), by_tile)
        report.answers.append(
            f"Against {opponent} a tile that it would have taken is worth {interval(points[3], 2)} points more to you "
            f"than a tile of another group of that size; the whole group {interval(points[2], 2)} points."
        )
    report.notes.append(
        "In brackets: 95% intervals. The positions are ordinary ones of games against you, where another group of the "
        "size of the wanted one is on offer. Take plan for an average opponent: it beats greedy nearly always, and "
        "loses to you more often than not."
    )
    return report


if __name__ == "__main__":
    run(study, __file__, __doc__)
