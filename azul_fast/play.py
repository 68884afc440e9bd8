"""What a policy plays in one game, and why: the move as people say it, and the points that it brings now."""

from __future__ import annotations

from azul_fast.batch import whole_number
from azul_fast.errors import AzulError, GameOverError, IllegalMoveError, shown
from azul_fast.game import Game
from azul_fast.notation import Move, format_move, open_columns
from azul_fast.policies import parse_policy
from azul_fast.position import Position
from azul_fast.rules import (
    CENTER,
    COLOR_NAMES,
    COLORS,
    FLOOR,
    FLOOR_CELLS,
    FLOOR_PENALTY_SUMS,
    MAX_SEED,
    wall_column,
)


def choose(game: Game, policy: str = "greedy", seed: int = 1) -> str:
    """The move that a policy plays here.

    Parameters
    ----------
    game : Game
        In phase ``offer`` or ``tile``; it is not changed.
    policy : str
        Its name, as in `azul_fast.simulate`.
    seed : int
        What the policy draws from, together with the number of the game. With the seed of the game itself it plays as
        in a batch.

    Returns
    -------
    str
        The text of a legal move; the same for the same game and seed.

    Raises
    ------
    GameOverError
        The game has ended.
    IllegalMoveError
        The round has not been dealt.
    AzulError
        There is no such policy or seed.
    """
    if not isinstance(game, Game):
        raise AzulError(f"game must be a Game, not {shown(game)}")
    parse_policy(policy)
    seed = whole_number("seed", seed, 0, MAX_SEED)
    if game.is_over:
        raise GameOverError("choose: the game is over")
    if game.phase == "deal":
        raise IllegalMoveError("choose: the round has not been dealt")
    from azul_fast.players import Players

    return format_move(Players([policy]).choose(game.state, 0, seed, game.game))


# ----------------------------------------------------------------------------------------------------- said to people
def what_moves(position: Position, move: Move) -> str:
    """The tiles of a legal move as people name them: ``factory 3, 2 blue``."""
    if move.is_choice:
        return f"line {move.line + 1}, {_color_of(position.boards[position.turn].lines[move.line])}"
    source = "center" if move.source == CENTER else f"factory {move.source}"
    return f"{source}, {_taken(position, move)} {COLOR_NAMES[move.color]}"


def in_words(position: Position, move: Move) -> str:
    """A legal move as people say it: ``factory 3, 2 blue to line 4``."""
    text = what_moves(position, move)
    if move.is_choice:
        return text + (f" to column {move.column + 1}" if move.column != FLOOR else " to the floor: no column is open")
    if _takes_marker(position, move):
        text += " and the marker"
    if move.line == FLOOR:
        return f"{text} to the floor"
    missing = _missing(position, move)
    return f"{text} to line {move.line + 1}" + (f", {missing} of them to the floor" if missing else "")


def points_now(position: Position, move: Move) -> tuple[int, int]:
    """What `greedy` sees in a legal move: the points of the tile it lets score, and what the floor then costs more.

    The tile is scored on the wall as it is now, and only if the move fills its line.
    """
    board = position.boards[position.turn]
    if move.is_choice:
        return (0 if move.column == FLOOR else board.tile_points(move.line, move.column)), 0
    before = board.floor_cells
    after = min(FLOOR_CELLS, before + _takes_marker(position, move) + _missing(position, move))
    lost = FLOOR_PENALTY_SUMS[after] - FLOOR_PENALTY_SUMS[before]
    if move.line == FLOOR or len(board.lines[move.line]) + _taken(position, move) <= move.line:
        return 0, lost
    if position.rules.wall == "fixed":
        return board.tile_points(move.line, wall_column(move.line, move.color)), lost
    columns = open_columns(board, move.line, COLORS[move.color])
    return max((board.tile_points(move.line, column) for column in columns), default=0), lost


def _taken(position: Position, move: Move) -> int:
    """How many tiles the move takes."""
    tiles = position.center if move.source == CENTER else position.factories[move.source - 1]
    return tiles.count(COLORS[move.color])


def _missing(position: Position, move: Move) -> int:
    """How many of the tiles taken do not find room on the line."""
    room = 0 if move.line == FLOOR else move.line + 1 - len(position.boards[position.turn].lines[move.line])
    return max(0, _taken(position, move) - room)


def _takes_marker(position: Position, move: Move) -> bool:
    return move.source == CENTER and position.marker


def _color_of(tiles: str) -> str:
    return COLOR_NAMES[COLORS.index(tiles[0])]
