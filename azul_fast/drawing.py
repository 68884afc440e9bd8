"""A position drawn for people: as plain text, in the terminal's colors, or as HTML.

The same drawing three times: colors only repeat what the letters say. ``B`` is a tile; on the colored wall ``b`` is an
empty cell for one, on the gray wall ``.``; ``*`` is the marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from azul_fast.position import EMPTY_CELL, MARKER_SIGN, Board, Position
from azul_fast.rules import COLORS, FACTORY_TILES, FLOOR_CELLS, FLOOR_PENALTY_SUMS, LINE_COUNT, WALL_SIZE, wall_color

if TYPE_CHECKING:
    from rich.text import Text

BOARD_WIDTH = 26  # characters of one board
BOARD_GAP = 8  # to the next
FACTORY_WIDTH = 8  # of one factory, with the gap before it
LABEL_WIDTH = 7  # of the words before factories and center
WIDTH = 80  # columns; nine factories fit, and two boards side by side

# [style] -> (as Rich writes it, as CSS writes it)
STYLES = {
    "B": ("bold white on blue", "background:#1f5fbf;color:#fff"),
    "Y": ("bold black on yellow", "background:#f2c230;color:#000"),
    "R": ("bold white on red", "background:#c8322b;color:#fff"),
    "K": ("bold white on grey23", "background:#333;color:#fff"),
    "W": ("bold black on white", "background:#fff;color:#000;outline:1px solid #999;outline-offset:-1px"),
    "b": ("blue", "color:#1f5fbf"),
    "y": ("yellow", "color:#a67c00"),
    "r": ("red", "color:#c8322b"),
    "k": ("bright_black", "color:#777"),
    "w": ("dim", "color:#999"),
    MARKER_SIGN: ("bold magenta", "color:#a0209c;font-weight:bold"),
    "strong": ("bold", "font-weight:bold"),
    "": ("", ""),
}

Segment = tuple[str, str]  # text, style
Item = TypeVar("Item")


def plain(position: Position) -> str:
    """The drawing as text."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in _lines(position))


def rich_text(position: Position, width: int = WIDTH) -> Text:
    """The drawing for Rich, in so many columns: with less room there are more lines."""
    from rich.text import Text

    lines = [Text.assemble(*((text, STYLES[style][0]) for text, style in line)) for line in _lines(position, width)]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def html(position: Position) -> str:
    """The drawing for a notebook."""
    lines = (
        "".join(
            f'<span style="{STYLES[style][1]}">{escape(text)}</span>' if style else escape(text) for text, style in line
        )
        for line in _lines(position)
    )
    return '<pre style="line-height:1.3">' + "\n".join(lines) + "</pre>"


def _lines(position: Position, width: int = WIDTH) -> Iterator[list[Segment]]:
    """The drawing, line by line."""
    yield [(_headline(position), "strong")]
    yield [(f"bag {sum(position.bag)}, lid {sum(position.lid)}" + _removed(position), "")]
    yield []
    label = "factory"
    for factories in _groups(enumerate(position.factories, 1), (width - LABEL_WIDTH) // FACTORY_WIDTH):
        yield [(f"{label:{LABEL_WIDTH}}", ""), *_spread(_factory(number, tiles) for number, tiles in factories)]
        label = ""
    marker = [(MARKER_SIGN, MARKER_SIGN), (" ", "")] if position.marker else []
    yield [("center   ", ""), *marker, *(_tiles(position.center) or ([] if position.marker else [("-", "")]))]
    for boards in _groups(enumerate(position.boards), (width + BOARD_GAP) // (BOARD_WIDTH + BOARD_GAP)):
        yield []
        drawn = [list(_board(position, seat, board)) for seat, board in boards]
        for *left, last in zip(*drawn, strict=True):
            yield [segment for part in left for segment in _padded(part)] + last


def _groups(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    rest = iter(items)
    while group := list(islice(rest, max(1, size))):
        yield group


def _headline(position: Position) -> str:
    if position.phase == "over":
        return f"over after round {position.round} ({position.end})"
    if position.phase == "deal":
        return f"round {position.round + 1} is to be dealt, seat {position.turn} starts"
    if position.phase == "tile":
        _, line = position.first_full_line()  # type: ignore[misc]  # phase tile has one
        return f"round {position.round}, tiling: seat {position.turn} chooses a column for line {line + 1}"
    return f"round {position.round}: seat {position.turn} to move"


def _removed(position: Position) -> str:
    return f", removed {sum(position.removed)}" if position.rules.overflow == "removed" else ""


def _tiles(tiles: str) -> list[Segment]:
    return [(tile, tile) for tile in tiles]


def _spread(parts: Iterable[list[Segment]]) -> list[Segment]:
    return [segment for part in parts for segment in [("  ", ""), *part]]


def _factory(number: int, tiles: str) -> list[Segment]:
    return [(f"{number} ", ""), *_tiles(tiles), ("-" * (FACTORY_TILES - len(tiles)), "")]


def _padded(part: list[Segment]) -> list[Segment]:
    return [*part, (" " * (BOARD_WIDTH + BOARD_GAP - sum(len(text) for text, _ in part)), "")]


def _board(position: Position, seat: int, board: Board) -> Iterator[list[Segment]]:
    acts = position.phase != "over" and position.turn == seat
    yield [(f"{'>' if acts else ' '} seat {seat}: {board.score} points", "strong" if acts else "")]
    if position.rules.wall == "free":
        yield [("  " + "  " * (LINE_COUNT + 1) + "  " + " ".join(str(column + 1) for column in range(WALL_SIZE)), "")]
    for row in range(LINE_COUNT):
        free = row + 1 - len(board.lines[row])
        indent = "  " * (LINE_COUNT - row - 1)
        line = [(cell + " ", "") for cell in "." * free] + [
            segment for tile in board.lines[row] for segment in [(tile, tile), (" ", "")]
        ]
        yield [(f"  {row + 1} {indent}", ""), *line, ("| ", ""), *_wall_row(position, board, row)]
    cells = MARKER_SIGN * board.marker + board.floor
    empty = EMPTY_CELL * (FLOOR_CELLS - board.floor_cells)
    lost = FLOOR_PENALTY_SUMS[board.floor_cells]
    yield [("  floor ", ""), *((cell, cell) for cell in cells), (f"{empty}{f'  -{lost}' if lost else ''}", "")]


def _wall_row(position: Position, board: Board, row: int) -> list[Segment]:
    cells: list[Segment] = []
    for column in range(WALL_SIZE):
        cell = board.wall[row][column]
        if cell == EMPTY_CELL and position.rules.wall == "fixed":
            cell = COLORS[wall_color(row, column)].lower()
        cells += [(cell, cell if cell != EMPTY_CELL else ""), (" ", "")]
    return cells
