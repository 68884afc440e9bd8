"""Write `tests/endings/two_players.txt`: endings that greedy plays wrong, with their solutions.

    python scripts/make_endings.py [COUNT]

Two players play by `greedy` and `plan` in turn. Of each game the first position is taken in which a full line completes
a row, so that the round on the table ends the game whatever is played, few tiles are left, and every move of `greedy`
is another than that of a search without limit. The slow referee solves it, by minimax over all moves to the last pick
and the final margin; it is kept if none of greedy's moves is among the best.

One line a position: its text, a tab, the final margin under best play for the seat to act, a tab, the best moves.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from referee import Referee, wall_column  # noqa: E402

import azul_fast as az  # noqa: E402

MOST_PLACES = 5  # colors on factories and in the center that are still to be taken


def margin(game, seat, low, high, known):
    """The final margin of `seat` under best play of both, by alpha-beta within (low, high), fail-soft."""
    if game.is_over:
        return game.scores[seat] - game.scores[1 - seat]
    text = game.to_text()
    if (text, low, high) in known:
        return known[text, low, high]
    own, best, first, last = game.turn == seat, None, low, high
    for move in game.legal_moves():
        after = game.copy()
        after.play(move)
        value = margin(after, seat, first, last, known)
        if best is None or (value > best if own else value < best):
            best = value
        if own:
            first = max(first, best)
        else:
            last = min(last, best)
        if first >= last:
            break
    known[text, low, high] = best
    return best


def solve(game):
    """The final margin under best play, and all moves that keep it."""
    values = {}
    for move in game.legal_moves():
        after = game.copy()
        after.play(move)
        values[move] = margin(after, game.turn, -1000, 1000, {})
    best = max(values.values())
    return best, [move for move, value in values.items() if value == best]


def ends_the_game(game):
    """Whether a full line is the last cell of its row."""
    for board in game.boards:
        for row, line in enumerate(board["lines"]):
            if len(line) == row + 1:
                column = wall_column(row, line[0])
                if all(cell is not None for at, cell in enumerate(board["wall"][row]) if at != column):
                    return True
    return False


def ending(number):
    """A position of game `number` whose solution greedy misses, with it, or None."""
    game = az.Game(seed=2024, game=number)
    while not game.is_over:
        referee = Referee.from_text(game.to_text())
        places = sum(len(set(place) - {"*"}) for place in [referee.center, *referee.factories])
        if referee.phase == "offer" and 2 <= places <= MOST_PLACES and ends_the_game(referee):
            greedy = referee.choices("greedy")
            if az.choose(game, "search:depth=36") not in greedy:
                best, moves = solve(referee)
                if not set(moves) & set(greedy):
                    return f"{referee.to_text()}\t{best}\t{' '.join(moves)}"
        game.play(az.choose(game, ("greedy", "plan")[(number + game.turn) % 2], seed=number))
    return None


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    found: list[str] = []
    number = 0
    path = ROOT / "tests" / "endings" / "two_players.txt"
    while len(found) < count:
        line = ending(number)
        number += 1
        if line is not None:
            found.append(line)
            path.write_text("".join(f"{each}\n" for each in found))
    print(f"{count} endings of {number} games in {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
