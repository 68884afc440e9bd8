"""Moves, positions and deals as text, and the reason why a move is not allowed.

A move is ``<source><color><line>``: ``3B4``, ``CRF``; a gray-wall choice is ``<row>=<column>``: ``3=2``, ``3=F``. Its
number, the same for every player count, is ``source * 30 + color * 6 + line``, or ``300 + row * 6 + column``.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from azul_fast.engine.layout import PHASE, PHASE_DEAL
from azul_fast.errors import InvalidDealError, InvalidMoveError, InvalidPositionError, shown
from azul_fast.position import (
    EMPTY_CELL,
    Board,
    Position,
    format_position,
    parse_position,
    read_tiles,
    sources_of,
    write_tiles,
)
from azul_fast.rules import (
    CENTER,
    COLOR_COUNT,
    COLOR_NAMES,
    COLORS,
    DESTINATION_COUNT,
    FACTORY_TILES,
    FLOOR,
    LINE_COUNT,
    SOURCE_COUNT,
    TILES_PER_COLOR,
    WALL_SIZE,
    Rules,
)

__all__ = [
    "Move",
    "check_deal",
    "format_deal",
    "format_move",
    "format_position",
    "open_columns",
    "parse_deal",
    "parse_move",
    "parse_position",
    "why_illegal",
]

SOURCES = "C123456789"  # [source]
LINES = "12345F"  # [line or column]
FIRST_CHOICE = SOURCE_COUNT * COLOR_COUNT * DESTINATION_COUNT  # 300, the first gray-wall choice
ACTION_COUNT = FIRST_CHOICE + LINE_COUNT * DESTINATION_COUNT  # 330


# ---------------------------------------------------------------------------------------------------------------- moves
class Move(int):
    """An action index that shows as the text of its move.

    Examples
    --------
    >>> str(Move(93)), Move.parse("3B4") == 93
    ('3B4', True)
    """

    def __new__(cls, action: SupportsIndex) -> Move:
        try:
            action = operator.index(action)
        except TypeError:
            raise InvalidMoveError(f"move: a text or an action index is needed, not {shown(action)}") from None
        if not 0 <= action < ACTION_COUNT:
            raise InvalidMoveError(f"move: action index 0 to {ACTION_COUNT - 1} expected, not {shown(action)}")
        return super().__new__(cls, action)

    @classmethod
    def parse(cls, text: str) -> Move:
        """The move that a text such as ``3B4``, ``CRF`` or ``3=2`` names."""
        return cls(parse_move(text))

    @property
    def is_choice(self) -> bool:
        """Whether this is the choice of a gray-wall column."""
        return self >= FIRST_CHOICE

    @property
    def source(self) -> int:
        """0 the center, 1..9 a factory."""
        return int(self) // (COLOR_COUNT * DESTINATION_COUNT)

    @property
    def color(self) -> int:
        """0..4 in the order BYRKW."""
        return int(self) // DESTINATION_COUNT % COLOR_COUNT

    @property
    def line(self) -> int:
        """Pattern line 0..4, or 5 for the floor; for a choice the line that is tiled."""
        return (int(self) - FIRST_CHOICE) // DESTINATION_COUNT if self.is_choice else int(self) % DESTINATION_COUNT

    @property
    def column(self) -> int:
        """Column 0..4 of a choice, or 5 for the floor."""
        return (int(self) - FIRST_CHOICE) % DESTINATION_COUNT

    def __str__(self) -> str:
        if self.is_choice:
            return f"{self.line + 1}={LINES[self.column]}"
        return SOURCES[self.source] + COLORS[self.color] + LINES[self.line]

    def __repr__(self) -> str:
        return f"Move.parse({str(self)!r})"


_TEXTS = tuple(str(Move(action)) for action in range(ACTION_COUNT))  # [action] -> text
_ACTIONS = {text: action for action, text in enumerate(_TEXTS)}


def parse_move(text: str) -> int:
    """Action index of a move text.

    Raises
    ------
    InvalidMoveError
        The text is no move; whether the move is legal is another question.
    """
    action = _ACTIONS.get(text) if isinstance(text, str) else None
    if action is None:
        raise InvalidMoveError(
            f"move: {shown(text)} is not <source><color><line> such as 3B4 or CRF "
            "(C or factory 1-9, one of BYRKW, line 1-5 or F), nor a gray-wall choice such as 3=2 or 3=F"
        )
    return action


def format_move(action: int) -> str:
    """Text of an action index."""
    return _TEXTS[Move(action)]


# ---------------------------------------------------------------------------------------------------------------- deals
def parse_deal(text: str | Sequence[str], rules: Rules) -> np.ndarray:
    """The tiles of a deal such as ``BBRK,YYWW,BYRK,RRRW,BKKW``.

    Parameters
    ----------
    text : str or sequence of str
        All factories, separated by commas or one by one; letters in any order, ``-`` an empty factory.
    rules : Rules
        Say how many factories there are.

    Returns
    -------
    numpy.ndarray
        uint8 [10, 5] tiles of each color on each source; row 0 is the center, which is empty.

    Raises
    ------
    InvalidDealError
        The text is malformed, or no bag could give these tiles. `check_deal` says whether this bag can.
    """
    if not isinstance(text, str) and not (isinstance(text, Sequence) and all(isinstance(part, str) for part in text)):
        raise InvalidDealError(f"deal: a text or a list of texts is needed, not {shown(text)}")
    factories = text.split(",") if isinstance(text, str) else list(text)
    if len(factories) != rules.factories:
        raise InvalidDealError(
            f"deal: {len(factories)} factories given, but {rules.players} players have {rules.factories}"
        )
    counts = np.zeros((SOURCE_COUNT, COLOR_COUNT), np.uint8)
    for number, factory in enumerate(factories, 1):
        try:
            tiles, _ = read_tiles(factory.strip(), f"factory {number}")
        except InvalidPositionError as error:
            raise InvalidDealError(str(error).replace("position", "deal", 1)) from None
        if len(tiles) > FACTORY_TILES:
            raise _bad_deal(number, f"{len(tiles)} tiles, but a factory is dealt at most {FACTORY_TILES}")
        counts[number] = [tiles.count(color) for color in COLORS]
    for color, total in enumerate(counts.sum(axis=0)):
        if total > TILES_PER_COLOR:
            raise InvalidDealError(f"deal: {total} {COLOR_NAMES[color]} tiles, but the game has {TILES_PER_COLOR}")
    return counts


def format_deal(state: np.ndarray) -> str:
    """The factories of a state as in a position: just after a deal, the deal."""
    return ",".join(map(write_tiles, sources_of(state)[1:]))


def check_deal(state: np.ndarray, counts: np.ndarray) -> None:
    """Raise InvalidDealError unless bag and lid can give this deal.

    Factory 1 is filled first. When the bag runs empty its tiles have come out before any of the lid's, and only when
    both are empty do the last factories stay short.

    Parameters
    ----------
    state : numpy.ndarray
        In phase ``deal``.
    counts : numpy.ndarray
        uint8 [10, 5], as from `parse_deal`.
    """
    if state[PHASE] != PHASE_DEAL:
        raise InvalidDealError("deal: the round has been dealt")
    position = Position.from_state(state)
    bag, lid = list(position.bag), list(position.lid)
    refilled = False
    for number, factory in enumerate(counts[1 : len(position.factories) + 1].tolist(), 1):
        size = min(FACTORY_TILES, sum(bag) + sum(lid))
        if sum(factory) != size:
            left = f"bag {sum(bag)}, lid {sum(lid)} left"
            raise _bad_deal(number, f"{sum(factory)} tiles, but it is dealt {size} ({left})")
        if sum(bag) < size:
            for color in range(COLOR_COUNT):
                if factory[color] < bag[color]:
                    raise _bad_deal(
                        number, f"the last {bag[color]} {COLOR_NAMES[color]} tiles of the bag come out before the lid's"
                    )
                factory[color] -= bag[color]
            bag, lid, refilled = lid, [0] * COLOR_COUNT, True
        for color in range(COLOR_COUNT):
            if factory[color] > bag[color]:
                held = "the refilled bag" if refilled else "the bag"
                raise _bad_deal(
                    number, f"{factory[color]} {COLOR_NAMES[color]} tiles, but {held} has {bag[color]} left"
                )
            bag[color] -= factory[color]


def _bad_deal(number: int, reason: str) -> InvalidDealError:
    return InvalidDealError(f"deal: factory {number}: {reason}")


# --------------------------------------------------------------------------------------------------------- legal or not
def why_illegal(state: np.ndarray, action: int) -> str:
    """The rule against a move, such as ``line 3 holds red``; empty when the move is legal.

    Parameters
    ----------
    state : numpy.ndarray
        Any state.
    action : int
        Action index.
    """
    return objection(Position.from_state(state), Move(action))


def objection(position: Position, move: Move) -> str:
    """`why_illegal` for a position at hand."""
    if position.phase == "over":
        return "the game is over"
    if position.phase == "deal":
        return "the round has not been dealt"
    if position.phase == "tile":
        return _against_choice(position, move)
    return _against_take(position, move)


def _against_take(position: Position, move: Move) -> str:
    if move.is_choice:
        return "no gray-wall column is to be chosen: tiles are on offer"
    if move.source > len(position.factories):
        return f"there is no factory {move.source}"
    tiles = position.center if move.source == CENTER else position.factories[move.source - 1]
    color = COLOR_NAMES[move.color]
    if COLORS[move.color] not in tiles:
        return f"{'the center' if move.source == CENTER else f'factory {move.source}'} has no {color}"
    if move.line == FLOOR:
        return ""
    board, number = position.boards[position.turn], move.line + 1
    held = board.lines[move.line]
    if COLORS[move.color] in board.wall[move.line]:
        return f"row {number} already has {color}"
    if board.is_full(move.line):
        return f"line {number} is full"
    if held and held[0] != COLORS[move.color]:
        return f"line {number} holds {COLOR_NAMES[COLORS.index(held[0])]}"
    return ""


def _against_choice(position: Position, move: Move) -> str:
    seat, line = position.first_full_line()  # type: ignore[misc]  # phase tile has one
    if not move.is_choice or move.line != line:
        return f"it is the gray-wall choice of seat {seat}, row {line + 1}"
    board = position.boards[seat]
    tile = board.lines[line][0]
    columns = open_columns(board, line, tile)
    color = COLOR_NAMES[COLORS.index(tile)]
    if move.column == FLOOR:
        return f"row {line + 1} can take {color} in column {columns[0] + 1}" if columns else ""
    if board.wall[line][move.column] != EMPTY_CELL:
        return f"column {move.column + 1} of row {line + 1} is filled"
    if move.column not in columns:
        return f"column {move.column + 1} already has {color}"
    return ""


def open_columns(board: Board, row: int, tile: str) -> list[int]:
    """The gray-wall columns (0..4) open to a tile in a row that lacks its color: empty there, and without the color."""
    return [
        column
        for column in range(WALL_SIZE)
        if board.wall[row][column] == EMPTY_CELL and all(cells[column] != tile for cells in board.wall)
    ]
