"""A position as plain Python data: read from and written to text, checked against the rules, turned into a state.

The text is one line, ``azul1 <side><players> <factories> <center> <boards> b<counts> l<counts> [x<counts>] t<seat>
s<seat> r<round> [m<cap>] <phase>``. A position that is accepted is one that the engine can play on: every bound of the
rules holds. How it came about is not retraced; scores, for example, need only be possible numbers.

Boards, rows and lines are counted from 1 in messages, as on the table; seats from 0, as in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from azul_fast.engine import layout
from azul_fast.engine.layout import (
    ALL_PAIRS,
    BAG,
    CELLS,
    COLOR_PAIRS,
    COLUMN_COLORS,
    END,
    FLOOR_TILES,
    FLOOR_USED,
    LINE_COLOR,
    LINE_PAIRS,
    MARKER,
    MARKER_FLAG,
    MARKER_HERE,
    OFFER,
    PAIRS,
    PHASE,
    PHASE_NAMES,
    PLAYERS,
    REMOVED,
    ROOM,
    ROUND,
    ROW_COLORS,
    SCORE,
    STARTER,
    TURN,
    WALL,
    allowed_pairs,
    deal_size,
    new_state,
    rules_of,
    seat_word,
)
from azul_fast.errors import InvalidPositionError, shown
from azul_fast.rules import (
    CENTER,
    COLOR_BONUS,
    COLOR_COUNT,
    COLOR_NAMES,
    COLORS,
    COLUMN_BONUS,
    DEFAULT_MAX_ROUNDS,
    END_REASONS,
    FACTORY_TILES,
    FLOOR,
    FLOOR_CELLS,
    LINE_COUNT,
    ROW_BONUS,
    SOURCE_COUNT,
    TILE_COUNT,
    TILES_PER_COLOR,
    WALL_SIZE,
    Rules,
    factory_count,
    wall_color,
)

FORMAT = "azul1"
MARKER_SIGN = "*"
NOTHING = "-"
EMPTY_CELL = "."
SIDES = {"c": "fixed", "g": "free"}
SIDE_LETTERS = {wall: letter for letter, wall in SIDES.items()}
MAX_TEXT = 4096  # characters; the longest position has about 500
MAX_SCORE = next(f.maximum for f in layout.PLAYER_FIELDS if f.name == "SCORE")
MAX_ROUND_CAP = next(f.maximum for f in layout.GAME_FIELDS if f.name == "MAX_ROUNDS")
_OPEN_PAIRS = [allowed_pairs(~colors) for colors in range(1 << COLOR_COUNT)]  # [colors in the row] -> LINE_PAIRS


@dataclass(frozen=True)
class Board:
    """What lies in front of one player: tiles are letters of ``BYRKW``.

    Attributes
    ----------
    score : int
    wall : tuple of str
        Five rows of five characters, a letter or ``.`` a cell.
    lines : tuple of str
        Five pattern lines, the tiles on each: ``("", "KK", "", "", "")``.
    floor : str
        The tiles on the floor line, in the order ``BYRKW``.
    marker : bool
        Whether the starting-player marker lies here.
    """

    score: int = 0
    wall: tuple[str, ...] = (EMPTY_CELL * WALL_SIZE,) * WALL_SIZE
    lines: tuple[str, ...] = ("",) * LINE_COUNT
    floor: str = ""
    marker: bool = False

    @property
    def floor_cells(self) -> int:
        """Floor cells used, by tiles and marker."""
        return min(FLOOR_CELLS, len(self.floor) + self.marker)

    def is_full(self, line: int) -> bool:
        """Whether pattern line 0..4 is full."""
        return len(self.lines[line]) == line + 1

    def tile_points(self, row: int, column: int) -> int:
        """What a tile scores that is put into this cell."""
        across = _run(self.wall[row], column)
        down = _run("".join(cells[column] for cells in self.wall), row)
        return (across if across > 1 else 0) + (down if down > 1 else 0) or 1

    @property
    def rows(self) -> int:
        """Complete wall rows."""
        return sum(EMPTY_CELL not in cells for cells in self.wall)

    @property
    def columns(self) -> int:
        """Complete wall columns."""
        return sum(all(cells[column] != EMPTY_CELL for cells in self.wall) for column in range(WALL_SIZE))

    @property
    def colors(self) -> int:
        """Colors with all five tiles on the wall."""
        return sum(all(color in cells for cells in self.wall) for color in COLORS)

    @property
    def bonus(self) -> int:
        """Points that rows, columns and colors bring at the end of the game."""
        return ROW_BONUS * self.rows + COLUMN_BONUS * self.columns + COLOR_BONUS * self.colors


def _run(cells: str, place: int) -> int:
    """Length of the run of tiles through a cell, counting that cell."""
    return len(cells[:place].split(EMPTY_CELL)[-1]) + 1 + len(cells[place + 1 :].split(EMPTY_CELL)[0])


@dataclass(frozen=True)
class Position:
    """All that a position text says. Tiles are letters, counts are in the order ``BYRKW``."""

    rules: Rules
    factories: tuple[str, ...]
    center: str
    marker: bool  # in the center
    boards: tuple[Board, ...]
    bag: tuple[int, ...]
    lid: tuple[int, ...]
    removed: tuple[int, ...]
    turn: int
    starter: int
    round: int
    phase: str  # deal, offer, tile, over
    end: str = ""  # the end reason in phase over

    def offered(self) -> str:
        """All tiles on factories and center."""
        return "".join(self.factories) + self.center

    def tiles_out(self) -> list[int]:
        """Tiles of each color that are neither in the bag nor in the lid."""
        places = [self.offered()]
        for board in self.boards:
            places += [*board.wall, *board.lines, board.floor]
        everything = "".join(places)
        return [everything.count(color) + self.removed[c] for c, color in enumerate(COLORS)]

    def first_full_line(self) -> tuple[int, int] | None:
        """Seat and line (0..4) that is tiled first, or None when no line is full."""
        for seat, board in enumerate(self.boards):
            for line in range(LINE_COUNT):
                if board.is_full(line):
                    return seat, line
        return None

    # ------------------------------------------------------------------------------------------------------- text
    def __str__(self) -> str:
        rules = self.rules
        words = [
            FORMAT,
            SIDE_LETTERS[rules.wall] + str(rules.players) + ("r" if rules.overflow == "removed" else ""),
            ",".join(write_tiles(factory) for factory in self.factories),
            write_tiles(self.center, self.marker),
            ";".join(_write_board(board) for board in self.boards),
            "b" + _write_counts(self.bag),
            "l" + _write_counts(self.lid),
        ]
        if any(self.removed):
            words.append("x" + _write_counts(self.removed))
        words += [f"t{self.turn}", f"s{self.starter}", f"r{self.round}"]
        if rules.max_rounds != DEFAULT_MAX_ROUNDS:
            words.append(f"m{rules.max_rounds}")
        words.append(f"over-{self.end}" if self.phase == "over" else self.phase)
        return " ".join(words)

    @classmethod
    def read(cls, text: str) -> Position:
        """Read and check a position.

        Raises
        ------
        InvalidPositionError
            One line that names the field and what is wrong with it.
        """
        position = _Reader(text).position()
        position.check()
        return position

    # ---------------------------------------------------------------------------------------------------- the rules
    def check(self) -> None:
        """Raise InvalidPositionError unless every bound of the rules holds."""
        for number, factory in enumerate(self.factories, 1):
            if len(factory) > FACTORY_TILES:
                raise _bad(f"factory {number}", f"{len(factory)} tiles, but a factory is dealt at most {FACTORY_TILES}")
        offered, dealt = len(self.offered()), deal_size(self.rules.players)
        if offered > dealt:
            raise _bad("center", f"{offered} tiles on offer, but {len(self.factories)} factories deal at most {dealt}")
        markers = self.marker + sum(board.marker for board in self.boards)
        if markers != 1:
            raise _bad("marker", f"{markers or 'none'} on the table, but there is exactly one (written {MARKER_SIGN})")
        for number, board in enumerate(self.boards, 1):
            self._check_board(f"board {number}", board)
        self._check_census()
        self._check_round()
        self._check_phase()

    def _check_board(self, name: str, board: Board) -> None:
        for row, cells in enumerate(board.wall):
            for column, tile in enumerate(cells):
                if tile == EMPTY_CELL:
                    continue
                place, color = f"{name}, wall row {row + 1}", _name(tile)
                if self.rules.wall == "fixed" and COLORS[wall_color(row, column)] != tile:
                    raise _bad(place, f"{color} in column {column + 1}, which is {_name(wall_color(row, column))}")
                if tile in cells[:column]:
                    raise _bad(place, f"{color} twice")
                if any(tile == board.wall[above][column] for above in range(row)):
                    raise _bad(f"{name}, wall column {column + 1}", f"{color} twice")
        for line, tiles in enumerate(board.lines):
            place = f"{name}, line {line + 1}"
            if len(tiles) > line + 1:
                raise _bad(place, f"{len(tiles)} tiles, but it has room for {line + 1}")
            if tiles and tiles[0] in board.wall[line]:
                raise _bad(place, f"holds {_name(tiles[0])}, but row {line + 1} of its wall already has it")
        if len(board.floor) > FLOOR_CELLS:
            raise _bad(f"{name}, floor", f"{len(board.floor)} tiles, but it has room for {FLOOR_CELLS}")

    def _check_census(self) -> None:
        if any(self.removed) and self.rules.overflow != "removed":
            raise _bad("x", "tiles have left the game, but here overflow goes to the lid (no r after the players)")
        for c, out in enumerate(self.tiles_out()):
            total = out + self.bag[c] + self.lid[c]
            if total != TILES_PER_COLOR or min(self.bag[c], self.lid[c]) < 0:
                total = out + max(self.bag[c], 0) + max(self.lid[c], 0)  # below 0: what ? leaves of too many
                raise _bad("census", f"{total} {_name(c)} tiles, not {TILES_PER_COLOR}")

    def _check_round(self) -> None:
        for letter, seat in (("t", self.turn), ("s", self.starter)):
            if not 0 <= seat < self.rules.players:
                raise _bad(letter, f"no seat {seat}; {self.rules.players} players have 0 to {self.rules.players - 1}")
        if self.round > self.rules.max_rounds:
            raise _bad("r", f"round {self.round} of a game of at most {self.rules.max_rounds} rounds")
        if self.round == 0:
            if self.phase != "deal":
                raise _bad("r", f"0 is before the first deal, but the phase is {self.phase}")
            if sum(self.bag) != TILE_COUNT:
                raise _bad("r", f"0 is before the first deal, but not all {TILE_COUNT} tiles are in the bag")

    def _check_phase(self) -> None:
        phase = f"over-{self.end}" if self.phase == "over" else self.phase
        offered = self.offered()
        pending = self.first_full_line()
        if self.phase == "offer" and not offered:
            raise _bad("phase", "offer, but neither the factories nor the center hold tiles")
        if self.phase != "offer" and offered:
            raise _bad("phase", f"{phase}, but factories or center hold tiles")
        if self.phase == "tile":
            if self.rules.wall == "fixed":
                raise _bad("phase", "tile, but only on the gray wall columns are chosen")
            if pending is None:
                raise _bad("phase", "tile, but no pattern line is full")
            if pending[0] != self.turn:
                raise _bad("t", f"seat {self.turn}, but the next column is chosen by seat {pending[0]}")
        if self.phase in ("deal", "over"):
            self._check_after_tiling(phase, pending)
        untouched = all(len(factory) == FACTORY_TILES for factory in self.factories) and self.marker and not self.center
        if self.phase == "offer" and untouched and self.turn != self.starter:
            raise _bad(
                "t", f"seat {self.turn}, but nothing has been taken and seat {self.starter} starts the round (s)"
            )
        self._check_rows(phase, pending)

    def _check_after_tiling(self, phase: str, pending: tuple[int, int] | None) -> None:
        if pending is not None:
            place = f"board {pending[0] + 1}, line {pending[1] + 1}"
            raise _bad(place, f"full, but in phase {phase} all full lines have been tiled")
        for number, board in enumerate(self.boards, 1):
            if board.floor:
                raise _bad(f"board {number}, floor", f"holds tiles, but in phase {phase} they have gone to the lid")
        if not self.marker:
            raise _bad("marker", f"on a floor line, but in phase {phase} it is in the center")

    def _check_rows(self, phase: str, pending: tuple[int, int] | None) -> None:
        """A row gains a tile a round at most, a complete one ends the game, and the end reason is the first to hold."""
        complete = False
        for seat, board in enumerate(self.boards):
            for row in range(WALL_SIZE):
                tiles = WALL_SIZE - board.wall[row].count(EMPTY_CELL)
                now_tiled = self.phase == "tile" and pending is not None and (seat, row) < pending  # others wait
                rounds = self.round if now_tiled or self.phase in ("deal", "over") else self.round - 1
                if tiles > rounds:
                    place = f"board {seat + 1}, wall row {row + 1}"
                    raise _bad(place, f"{tiles} tiles, but by round {self.round} ({phase}) it was tiled {rounds} times")
                if tiles == WALL_SIZE and not now_tiled and phase != "over-row":
                    raise _bad("phase", f"{phase}, but board {seat + 1} has completed row {row + 1}: the game is over")
                complete |= tiles == WALL_SIZE
        left = sum(self.bag) + sum(self.lid)
        if phase == "over-row" and not complete:
            raise _bad("phase", "over-row, but no row is complete")
        if phase == "over-exhausted" and left:
            raise _bad("phase", f"over-exhausted, but bag and lid hold {left} tiles")
        if phase == "over-stalled" and not left:
            raise _bad("phase", "over-stalled, but bag and lid are empty, which is over-exhausted")
        last = self.round == self.rules.max_rounds
        if phase == "over-stalled" and not last:
            raise _bad("phase", f"over-stalled, but round {self.round} is not the last of {self.rules.max_rounds} (m)")
        if phase == "deal" and last:
            raise _bad("phase", f"deal, but round {self.round} was the last (m)")

    # ------------------------------------------------------------------------------------------------------ the state
    def to_state(self) -> np.ndarray:
        """The state of the engine: int64 [STATE_WORDS], stream keys 0, points and plies counted from here."""
        state = new_state(self.rules)
        state[PHASE] = PHASE_NAMES.index(self.phase)
        state[END] = END_REASONS.index(self.end) + 1 if self.end else 0
        state[TURN], state[STARTER], state[ROUND] = self.turn, self.starter, self.round
        state[MARKER] = MARKER_HERE if self.marker else 0

        offer = bytearray(8 * (BAG - OFFER))
        pairs = 0
        for source, tiles in enumerate((self.center, *self.factories)):
            for color, letter in enumerate(COLORS):
                count = offer[8 * source + color] = tiles.count(letter)
                if count:
                    pairs |= 1 << SOURCE_COUNT * color + source
        state[OFFER:BAG] = np.frombuffer(offer, np.int64)
        state[PAIRS] = pairs
        state[BAG] = _pack(sum(self.bag[: c + 1]) for c in range(COLOR_COUNT))
        state[REMOVED] = _pack(self.removed)
        for seat, board in enumerate(self.boards):
            _store_board(state, seat_word(seat), board)
        return state

    @classmethod
    def from_state(cls, state: np.ndarray) -> Position:
        """The position of a state of the engine."""
        rules = rules_of(state)
        words = state.tolist()
        sources = sources_of(state)
        cumulative = (0, *_bytes(words[BAG])[:COLOR_COUNT])
        position = cls(
            rules=rules,
            factories=tuple(sources[1:]),
            center=sources[CENTER],
            marker=words[MARKER] != 0,
            boards=tuple(_load_board(words, seat_word(seat)) for seat in range(rules.players)),
            bag=tuple(cumulative[c + 1] - cumulative[c] for c in range(COLOR_COUNT)),
            lid=(0,) * COLOR_COUNT,
            removed=tuple(_bytes(words[REMOVED])[:COLOR_COUNT]),
            turn=words[TURN],
            starter=words[STARTER],
            round=words[ROUND],
            phase=PHASE_NAMES[words[PHASE]],
            end=END_REASONS[words[END] - 1] if words[END] else "",
        )
        return position.with_lid()

    def with_lid(self) -> Position:
        """The same with the lid that the census leaves: all that is nowhere else."""
        out = self.tiles_out()
        return replace(self, lid=tuple(TILES_PER_COLOR - out[c] - self.bag[c] for c in range(COLOR_COUNT)))

    def with_bag(self) -> Position:
        """The same with the bag that the census leaves."""
        out = self.tiles_out()
        return replace(self, bag=tuple(TILES_PER_COLOR - out[c] - self.lid[c] for c in range(COLOR_COUNT)))


def parse_position(text: str) -> np.ndarray:
    """The state that a position text describes.

    Parameters
    ----------
    text : str
        One line, as `format_position` writes it; one of bag and lid may be ``?``.

    Returns
    -------
    numpy.ndarray
        int64 [STATE_WORDS], stream keys 0; plies and points are counted from here.

    Raises
    ------
    InvalidPositionError
        The text is malformed or the position breaks a rule; the message names the field.
    """
    return Position.read(text).to_state()


def format_position(state: np.ndarray) -> str:
    """The position text of a state."""
    return str(Position.from_state(state))


# -------------------------------------------------------------------------------------------------------------- reading
class _Reader:
    """Takes the words of a position text one after the other."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise InvalidPositionError(f"position: a text is needed, not {type(text).__name__}")
        if len(text) > MAX_TEXT:
            raise InvalidPositionError(f"position: {len(text):,} characters, too long for one")
        if not text.isascii():
            raise InvalidPositionError("position: a character that is not ASCII")
        if len(text.strip().splitlines()) > 1:
            raise InvalidPositionError("position: more than one line")
        self.words = text.split()
        self.next = 0

    def word(self, field: str) -> str:
        """The next word, which is `field`."""
        if self.next == len(self.words):
            raise _bad(field, "missing; the text ends before it")
        self.next += 1
        return self.words[self.next - 1]

    def marked(self, letter: str, field: str) -> str:
        """What follows `letter` in the next word."""
        word = self.word(field)
        if not word.startswith(letter):
            raise _bad(field, f"{letter}… expected, not {shown(word)}")
        return word[1:]

    def has(self, letter: str) -> bool:
        """Whether an optional word that starts with `letter` comes next."""
        return self.next < len(self.words) and self.words[self.next].startswith(letter)

    def position(self) -> Position:
        """Read everything; only what makes the words unreadable is refused here."""
        if (word := self.word("format")) != FORMAT:
            raise _bad("format", f"{FORMAT} expected, not {shown(word)}")
        side = self.word("side")
        if not re.fullmatch("[cg][234]r?", side):
            raise _bad("side", f"c or g, then 2, 3 or 4 players, then r where overflow is removed; not {shown(side)}")
        players = int(side[1])

        factories = self.word("factories").split(",")
        expected = Rules(players=players).factories
        if len(factories) != expected:
            raise _bad("factories", f"{len(factories)} given, but {players} players have {expected}")
        center = self.word("center")
        boards = self.word("boards").split(";")
        if len(boards) != players:
            raise _bad("boards", f"{len(boards)} given, but there are {players} players")

        factory_tiles = tuple(read_tiles(tiles, f"factory {n}")[0] for n, tiles in enumerate(factories, 1))
        center_tiles, marker = read_tiles(center, "center", marker=True)
        read_boards = tuple(_read_board(board, f"board {n}") for n, board in enumerate(boards, 1))

        bag = _read_counts(self.marked("b", "b"), "b", unknown=True)
        lid = _read_counts(self.marked("l", "l"), "l", unknown=True)
        if bag is None and lid is None:
            raise _bad("l", "? for both bag and lid, but only one of them can follow from the others")
        removed = _read_counts(self.marked("x", "x"), "x") if self.has("x") else None
        turn, starter, number = (_read_number(self.marked(letter, letter), letter) for letter in "tsr")
        cap = _read_number(self.marked("m", "m"), "m") if self.has("m") else DEFAULT_MAX_ROUNDS
        if not 1 <= cap <= MAX_ROUND_CAP:
            raise _bad("m", f"1 to {MAX_ROUND_CAP:,} rounds, not {cap}")

        phase, _, end = (word := self.word("phase")).partition("-")
        allowed = (*(name for name in PHASE_NAMES if name != "over"), *(f"over-{reason}" for reason in END_REASONS))
        if word not in allowed:
            raise _bad("phase", f"{', '.join(allowed)}; not {shown(word)}")
        if self.next < len(self.words):
            raise _bad("phase", f"it ends the text, but {shown(self.words[self.next])} follows")

        none = (0,) * COLOR_COUNT
        position = Position(
            rules=Rules(
                players=players,
                wall=SIDES[side[0]],
                overflow="removed" if side.endswith("r") else "lid",
                max_rounds=cap,
            ),
            factories=factory_tiles,
            center=center_tiles,
            marker=marker,
            boards=read_boards,
            bag=bag or none,
            lid=lid or none,
            removed=removed or none,
            turn=turn,
            starter=starter,
            round=number,
            phase=phase,
            end=end,
        )
        if bag is None:
            return position.with_bag()
        return position.with_lid() if lid is None else position


def _bad(field: str, reason: str) -> InvalidPositionError:
    return InvalidPositionError(f"position: {field}: {reason}")


def _name(color: int | str) -> str:
    return COLOR_NAMES[COLORS.index(color) if isinstance(color, str) else color]


def read_tiles(text: str, field: str, marker: bool = False) -> tuple[str, bool]:
    """The tiles of a factory, center or floor in the order BYRKW, and whether the marker leads them."""
    has_marker = marker and text.startswith(MARKER_SIGN)
    letters = text[1:] if has_marker else text
    if letters == NOTHING and not has_marker:
        return "", False
    if not letters and not has_marker:
        raise _bad(field, f"empty; nothing is written {NOTHING}")
    for letter in letters:
        if letter == MARKER_SIGN:
            raise _bad(field, "the marker lies in the center or on a floor, written once and first")
        if letter not in COLORS:
            raise _bad(field, f"unknown letter {shown(letter)}; tiles are {COLORS}")
    return in_order(letters), has_marker


def sources_of(state: np.ndarray) -> list[str]:
    """The tiles of the center and of each factory, as they are written."""
    offer = state[OFFER:BAG].tobytes()
    factories = factory_count(int(state[PLAYERS]))
    return [_letters(offer[8 * source : 8 * source + COLOR_COUNT]) for source in range(factories + 1)]


def in_order(tiles: str) -> str:
    """The tiles sorted as they are always written."""
    return "".join(color * tiles.count(color) for color in COLORS)


def write_tiles(tiles: str, marker: bool = False) -> str:
    """The tiles of a factory, center or floor as in a position."""
    return (MARKER_SIGN if marker else "") + in_order(tiles) or NOTHING


def _read_number(text: str, field: str, maximum: int = MAX_ROUND_CAP) -> int:
    if re.fullmatch("-[0-9]+", text):
        raise _bad(field, f"negative: {shown(text)}")
    if not re.fullmatch("[0-9]+", text):
        raise _bad(field, f"a whole number expected, not {shown(text)}")
    if len(text) > len(str(maximum)) or int(text) > maximum:
        raise _bad(field, f"at most {maximum:,}, not {shown(text)}")
    return int(text)


def _read_counts(text: str, field: str, unknown: bool = False) -> tuple[int, ...] | None:
    if unknown and text == "?":
        return None
    counts = text.split(".")
    if len(counts) != COLOR_COUNT:
        raise _bad(field, f"five counts such as 20.20.20.20.20{' or ?' if unknown else ''} expected, not {shown(text)}")
    return tuple(_read_number(count, field, TILES_PER_COLOR) for count in counts)


def _write_counts(counts: Iterable[int]) -> str:
    return ".".join(map(str, counts))


def _read_board(text: str, name: str) -> Board:
    parts = text.split(":")
    if len(parts) != 4:
        raise _bad(name, f"score:wall:lines:floor expected, not {shown(text)}")
    score, wall, lines, floor = parts
    rows = wall.split("/")
    if len(rows) != WALL_SIZE:
        raise _bad(f"{name}, wall", f"{len(rows)} rows, not {WALL_SIZE}")
    for number, row in enumerate(rows, 1):
        if len(row) != WALL_SIZE:
            raise _bad(f"{name}, wall row {number}", f"{len(row)} cells, not {WALL_SIZE}")
        for cell in row:
            if cell not in COLORS + EMPTY_CELL:
                raise _bad(f"{name}, wall row {number}", f"unknown letter {shown(cell)}; cells are {COLORS} or .")
    words = lines.split(",")
    if len(words) != LINE_COUNT:
        raise _bad(f"{name}, lines", f"{len(words)} given, not {LINE_COUNT}")
    tiles, marker = read_tiles(floor, f"{name}, floor", marker=True)
    return Board(
        score=_read_number(score, f"{name}, score", MAX_SCORE),
        wall=tuple(rows),
        lines=tuple(_read_line(word, f"{name}, line {number}") for number, word in enumerate(words, 1)),
        floor=tiles,
        marker=marker,
    )


def _read_line(text: str, field: str) -> str:
    if text == NOTHING:
        return ""
    if not text or text[0] not in COLORS:
        raise _bad(field, f"unknown letter in {shown(text)}; a line is written K2, or {NOTHING} when empty")
    count = _read_number(text[1:], field, TILES_PER_COLOR)
    if count == 0:
        raise _bad(field, f"no tile in {shown(text)}; an empty line is written {NOTHING}")
    return text[0] * count


def _write_board(board: Board) -> str:
    lines = ",".join(f"{tiles[0]}{len(tiles)}" if tiles else NOTHING for tiles in board.lines)
    return f"{board.score}:{'/'.join(board.wall)}:{lines}:{write_tiles(board.floor, board.marker)}"


# --------------------------------------------------------------------------------------------------- words of the state
def _pack(values: Iterable[int]) -> int:
    """A word with one value a byte, the first lowest."""
    return int.from_bytes(bytes(values), "little")


def _bytes(word: int) -> bytes:
    return word.to_bytes(8, "little")


def _letters(counts: Sequence[int]) -> str:
    return "".join(color * count for color, count in zip(COLORS, counts, strict=False))


def _store_board(state: np.ndarray, p: int, board: Board) -> None:
    wall = row_colors = column_colors = 0
    for row, cells in enumerate(board.wall):
        for column, tile in enumerate(cells):
            if tile != EMPTY_CELL:
                color = COLORS.index(tile)
                wall |= 1 << WALL_SIZE * row + column
                row_colors |= 1 << WALL_SIZE * row + color
                column_colors |= 1 << WALL_SIZE * column + color
        state[p + CELLS + row] = _pack(COLORS.find(tile) + 1 for tile in cells)  # "." is not found: 0
    state[p + WALL], state[p + ROW_COLORS], state[p + COLUMN_COLORS] = wall, row_colors, column_colors
    for line, tiles in enumerate(board.lines):
        if not tiles:
            pairs = _OPEN_PAIRS[row_colors >> WALL_SIZE * line & ((1 << COLOR_COUNT) - 1)]
        elif board.is_full(line):
            pairs = 0
        else:
            pairs = COLOR_PAIRS << SOURCE_COUNT * COLORS.index(tiles[0])
        state[p + LINE_PAIRS + line] = pairs
    state[p + LINE_PAIRS + FLOOR] = ALL_PAIRS
    state[p + ROOM] = _pack(line + 1 - len(tiles) for line, tiles in enumerate(board.lines))
    state[p + LINE_COLOR] = _pack(COLORS.index(tiles[0]) if tiles else 0 for tiles in board.lines)
    state[p + FLOOR_USED] = board.floor_cells | (MARKER_FLAG if board.marker else 0)
    state[p + FLOOR_TILES] = _pack(board.floor.count(color) for color in COLORS)
    state[p + SCORE] = board.score


def _load_board(words: Sequence[int], p: int) -> Board:
    signs = EMPTY_CELL + COLORS  # [color + 1]
    rooms, colors = _bytes(words[p + ROOM]), _bytes(words[p + LINE_COLOR])
    return Board(
        score=words[p + SCORE],
        wall=tuple("".join(signs[c] for c in _bytes(words[p + CELLS + row])[:WALL_SIZE]) for row in range(WALL_SIZE)),
        lines=tuple(COLORS[colors[line]] * (line + 1 - rooms[line]) for line in range(LINE_COUNT)),
        floor=_letters(_bytes(words[p + FLOOR_TILES])),
        marker=bool(words[p + FLOOR_USED] & MARKER_FLAG),
    )
