"""The rules of Azul as named constants, and `Rules`: which of its variants is played.

Base game by Michael Kiesling (Plan B Games / Next Move, 2017), both wall sides, 2 to 4 players.
Every other part of the package may use it.
"""

from __future__ import annotations

from dataclasses import dataclass

from azul_fast.errors import AzulError

COLORS = "BYRKW"  # blue, yellow, red, black, white: the order used everywhere
COLOR_NAMES = ("blue", "yellow", "red", "black", "white")
COLOR_COUNT = 5
TILES_PER_COLOR = 20
TILE_COUNT = COLOR_COUNT * TILES_PER_COLOR  # 100

MIN_PLAYERS, MAX_PLAYERS = 2, 4
FACTORY_TILES = 4  # tiles dealt to one factory
MAX_FACTORIES = 2 * MAX_PLAYERS + 1  # 9
CENTER = 0  # the source number of the center; factories are sources 1 to 9
SOURCE_COUNT = MAX_FACTORIES + 1

LINE_COUNT = 5  # pattern line i (0..4) holds i + 1 tiles
WALL_SIZE = 5  # rows and columns
FLOOR = 5  # the line number that stands for the floor line
DESTINATION_COUNT = LINE_COUNT + 1

FLOOR_CELLS = 7
FLOOR_PENALTIES = (1, 1, 2, 2, 2, 3, 3)  # points lost by each floor cell, left to right
FLOOR_PENALTY_SUMS = (0, 1, 2, 4, 6, 8, 11, 14)  # points lost by the first n cells

ROW_BONUS, COLUMN_BONUS, COLOR_BONUS = 2, 7, 10  # points at the end of the game
MAX_TILE_POINTS = 10  # a horizontal and a vertical run of five through one cell
MAX_WALL_SCORE = 240  # the coloured wall filled in the best order, with all bonuses

DEFAULT_MAX_ROUNDS = 100
MAX_SEED = 2**53 - 1  # so that every JSON reader keeps it

WALLS = ("fixed", "free")  # the coloured and the gray side
WALL_WORDS = {"fixed": "fixed", "free": "free", "coloured": "fixed", "colored": "fixed", "gray": "free", "grey": "free"}
OVERFLOWS = ("lid", "removed")
END_REASONS = ("row", "exhausted", "stalled")


def factory_count(players: int) -> int:
    """Factories on the table: 5, 7 or 9 for 2, 3 or 4 players."""
    return 2 * players + 1


def wall_column(row: int, color: int) -> int:
    """Column of `color` in `row` of the coloured wall, both zero-based."""
    return (color + row) % WALL_SIZE


def wall_color(row: int, column: int) -> int:
    """Color printed at (`row`, `column`) of the coloured wall, all zero-based."""
    return (column - row) % WALL_SIZE


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Which game is played.

    Parameters
    ----------
    players : int
        2, 3 or 4.
    wall : {"fixed", "free"}
        The coloured side (every cell has its color) or the gray side (the player chooses the column); also taken as
        ``"coloured"``, ``"colored"``, ``"gray"`` and ``"grey"``.
    overflow : {"lid", "removed"}
        Where tiles go that find no free floor cell: into the lid (official), or out of the game.
    max_rounds : int
        A game that has not ended after this round ends with the normal bonuses as ``stalled``.

    Raises
    ------
    AzulError
        If a value is not one of those above; the message names the field, the value and what is allowed.
    """

    players: int = 2
    wall: str = "fixed"
    overflow: str = "lid"
    max_rounds: int = DEFAULT_MAX_ROUNDS

    def __post_init__(self) -> None:
        for name, low, high in (("players", MIN_PLAYERS, MAX_PLAYERS), ("max_rounds", 1, 1_000_000)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise AzulError(f"{name} must be a whole number, not {value!r}")
            if not low <= value <= high:
                raise AzulError(f"{name} must be {low} to {high:,}, not {value}")
        for name, allowed in (("wall", WALL_WORDS), ("overflow", {word: word for word in OVERFLOWS})):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                words = list(allowed)
                raise AzulError(f"{name} must be {', '.join(words[:-1])} or {words[-1]}, not {value!r}")
            object.__setattr__(self, name, allowed[value])

    @property
    def factories(self) -> int:
        """Number of factories."""
        return factory_count(self.players)

    @property
    def action_count(self) -> int:
        """Size of the action space: 180 / 240 / 300 on the coloured wall, 330 on the gray one."""
        if self.wall == "free":
            return (MAX_FACTORIES + 1) * 30 + 30
        return (self.factories + 1) * 30

    def to_dict(self) -> dict[str, int | str]:
        """As in records and statistics: ``{"players": 2, "wall": "fixed", ...}``."""
        return {
            "players": self.players,
            "wall": self.wall,
            "overflow": self.overflow,
            "max_rounds": self.max_rounds,
        }
