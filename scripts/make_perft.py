"""Make tests/perft/positions.txt: positions met in games of the slow referee, and the leaves it counts below them.

``python scripts/make_perft.py`` (some minutes; no part of the engine takes part). The same positions come out each
time, since every game is played from a fixed seed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from playouts import VARIANTS, playout  # noqa: E402
from referee import Referee, open_columns, perft  # noqa: E402

TARGET = ROOT / "tests" / "perft" / "positions.txt"
SEEDS = 60  # games looked through for a position
NODES = 12_000  # the next depth is counted while the last had no more leaves than this
DEPTHS = 9  # and not beyond this

HEADER = """\
# Leaves of the tree of legal moves within the round, at depths 1, 2, 3, ...; then the position.
# A line of play that ends the round is one leaf; choices of gray-wall columns are moves.
# Made by scripts/make_perft.py with the slow referee (tests/referee.py) alone. These numbers are facts about the rules:
# they change only where the referee was wrong, with the reason in the commit that changes them.
"""


def sources_left(game: Referee) -> int:
    """Ways to take tiles: colors on each factory and in the center."""
    return sum(len({*place} - {"*"}) for place in [game.center, *game.factories])


def full_lines(game: Referee) -> int:
    return sum(len(line) == row + 1 for board in game.boards for row, line in enumerate(board["lines"]))


def full_floors(game: Referee) -> int:
    return sum(len(board["floor"]) >= 7 for board in game.boards)


def must_drop(game: Referee) -> bool:
    """The line to be tiled has no open column."""
    seat, row = game.next_full_line()
    board = game.boards[seat]
    return not open_columns(board["wall"], row, board["lines"][row][0])


def opening(game: Referee) -> bool:
    return game.phase == "offer" and game.round == 1 and all(game.factories)


def middle(game: Referee) -> bool:
    return game.phase == "offer" and game.round == 3 and sources_left(game) == 2 * len(game.factories)


def full_floor(game: Referee) -> bool:
    return game.phase == "offer" and game.round >= 2 and full_floors(game) > 0 and sources_left(game) in (4, 5, 6)


def last_picks(game: Referee) -> bool:
    return game.phase == "offer" and game.round >= 4 and sources_left(game) == 3 and full_lines(game) > 1


def choices(game: Referee) -> bool:
    return game.phase == "tile" and game.round >= 2 and full_lines(game) >= game.players + 1


def drops(game: Referee) -> bool:
    return game.phase == "tile" and must_drop(game) and full_lines(game) > 1


def find(variant: tuple[int, str, str], kind: Callable[[Referee], bool]) -> str | None:
    """The first position of that kind in the games of a variant, which are other games for each variant."""
    first = VARIANTS.index(variant) * SEEDS
    for seed in range(first, first + SEEDS):
        for game in playout(*variant, seed):
            if kind(game):
                return game.to_text()
    return None


def counts(text: str) -> Iterator[int]:
    """Leaves at depth 1, 2, ...: until they grow too many, or every line of play ends before."""
    game = Referee.from_text(text)
    last = 0
    for depth in range(1, DEPTHS + 1):
        leaves = perft(game, depth)
        yield leaves
        if leaves == last or leaves > NODES:
            return
        last = leaves


def main() -> None:
    lines = [HEADER]
    for kind in (opening, middle, full_floor, last_picks, choices, drops):
        lines.append(f"\n# {kind.__name__.replace('_', ' ')}\n")
        for variant in VARIANTS:
            if kind in (choices, drops) and variant[1] == "fixed":
                continue
            text = find(variant, kind)
            if text is None:
                print("no position:", kind.__name__, *variant, file=sys.stderr)
                continue
            lines.append(f"{' '.join(map(str, counts(text)))} {text}\n")
            print(lines[-1], end="", flush=True)
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("".join(lines))


if __name__ == "__main__":
    main()
