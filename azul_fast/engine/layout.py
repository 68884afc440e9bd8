"""The state of one game: `STATE_WORDS` int64 words, and the table that names every one of them.

`FIELDS` is the only owner of offsets, ranges and units; the constants below it are read from it, and so are
the kernels. A state is complete (rules, streams and tiles), has no pointers and is copied as bytes. Numbers are
little-endian: byte `b` of a word is bits 8b to 8b + 7.

Some fields are *derived*: they repeat, in the form that the move generator wants, what other fields say, and
every kernel that changes a state keeps them true.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from azul_fast.errors import AzulError
from azul_fast.rules import (
    COLOR_COUNT,
    FACTORY_TILES,
    LINE_COUNT,
    MAX_PLAYERS,
    OVERFLOWS,
    SOURCE_COUNT,
    WALLS,
    Rules,
    factory_count,
)

if sys.byteorder != "little":  # the OFFER bytes and the packed words below are read both as words and as bytes
    raise ImportError("azul_fast needs a little-endian machine")


class Field(NamedTuple):
    """One field of the state: its first word, its length in words, the largest value and what it means."""

    name: str
    words: int
    maximum: int  # of the word, or of each byte or nibble of it where the meaning says so
    unit: str
    meaning: str


GAME_FIELDS = (
    Field("PLAYERS", 1, 4, "seats", "number of players"),
    Field("FREE_WALL", 1, 1, "flag", "1: the gray wall"),
    Field("REMOVES", 1, 1, "flag", "1: floor overflow leaves the game"),
    Field("MAX_ROUNDS", 1, 1_000_000, "rounds", "the round after which a game ends as stalled"),
    Field("PHASE", 1, 3, "phase", "0 deal, 1 offer, 2 tile, 3 over"),
    Field("END", 1, 3, "reason", "0 not over, 1 row, 2 exhausted, 3 stalled"),
    Field("TURN", 1, 3, "seat", "to act; in phase deal the starter of the coming round"),
    Field("STARTER", 1, 3, "seat", "who started this round"),
    Field("ROUND", 1, 1_000_000, "rounds", "1 for the first; 0 before the first deal"),
    Field("PLIES", 1, 2**40, "plies", "played in the rounds before this one"),
    Field("ROUND_PLIES", 1, 2**16, "plies", "played in this round since its deal (or since the state was set up)"),
    Field("CHOICES", 1, 2**16, "choices", "gray-wall columns chosen in this round, by all seats"),
    Field("SHORT", 1, 1, "flag", "1: a factory was dealt fewer than 4 tiles in some round"),
    Field("DEAL_KEY", 1, 2**63 - 1, "bits", "key of the stream that deals (any 64 bits)"),
    Field("POLICY_KEY", 1, 2**63 - 1, "bits", "key of the stream that policies draw from (any 64 bits)"),
    Field("STREAM", 1, 2**63 - 1, "bits", "derived: POLICY_KEY mixed with ROUND (any 64 bits)"),
    Field("MARKER", 1, 0x81, "marker", "0x81 while the center holds the marker, else 0"),
    Field("PAIRS", 1, 2**50 - 1, "bits", "derived: bit 10 * color + source for each color on each source"),
    Field("OFFER", 10, 20, "tiles", "word s, byte c: tiles of color c on source s, 0 the center"),
    Field("BAG", 1, 100, "tiles", "byte c (0..4): tiles in the bag of colors 0 to c"),
    Field("REMOVED", 1, 20, "tiles", "byte c: tiles of color c that left the game"),
)
PLAYER_FIELDS = (
    Field("LINE_PAIRS", 6, 2**50 - 1, "bits", "derived: PAIRS that may go to line 0..4; [5] the floor takes all"),
    Field("ROOM", 1, 5, "tiles", "byte i: free cells of pattern line i; byte 5 (the floor) is 0"),
    Field("LINE_COLOR", 1, 4, "color", "byte i: color of pattern line i, 0 while it is empty"),
    Field("FLOOR_USED", 1, 0x87, "cells", "floor cells used (0..7, the marker's too) + 0x80 if the marker is here"),
    Field("FLOOR_TILES", 1, 7, "tiles", "byte c: tiles of color c on the floor line"),
    Field("WALL", 1, 2**25 - 1, "bits", "bit 5 * row + column of each filled cell"),
    Field("ROW_COLORS", 1, 2**25 - 1, "bits", "derived: bit 5 * row + color of each color in each row"),
    Field("COLUMN_COLORS", 1, 2**25 - 1, "bits", "derived: bit 5 * column + color of each color in each column"),
    Field("CELLS", 5, 5, "color + 1", "word r, byte c: the color of the cell in row r, column c, plus 1; 0 empty"),
    Field("SCORE", 1, 2**20, "points", "never negative; with the bonuses once the game is over"),
    Field("PLACED", 1, 2**20, "points", "scored by tiles placed since the state was set up"),
    Field("LOST", 1, 2**20, "points", "taken off by the floor since then, before the clamp at 0"),
)


def _place(fields: tuple[Field, ...], start: int) -> tuple[dict[str, int], int]:
    offsets = {}
    for field in fields:
        offsets[field.name] = start
        start += field.words
    return offsets, start


GAME_OFFSETS, SEATS = _place(GAME_FIELDS, 0)  # [name] -> word in the state; the seats' fields follow
PLAYER_OFFSETS, PLAYER_WORDS = _place(PLAYER_FIELDS, 0)  # [name] -> word within a seat's fields
STATE_WORDS = SEATS + MAX_PLAYERS * PLAYER_WORDS
STATE_BYTES = 8 * STATE_WORDS

# fmt: off
(PLAYERS, FREE_WALL, REMOVES, MAX_ROUNDS, PHASE, END, TURN, STARTER, ROUND, PLIES, ROUND_PLIES, CHOICES, SHORT,
 DEAL_KEY, POLICY_KEY, STREAM, MARKER, PAIRS, OFFER, BAG, REMOVED) = (GAME_OFFSETS[f.name] for f in GAME_FIELDS)
(LINE_PAIRS, ROOM, LINE_COLOR, FLOOR_USED, FLOOR_TILES, WALL, ROW_COLORS, COLUMN_COLORS, CELLS, SCORE, PLACED,
 LOST) = (PLAYER_OFFSETS[f.name] for f in PLAYER_FIELDS)
# fmt: on

PHASE_DEAL, PHASE_OFFER, PHASE_TILE, PHASE_OVER = range(4)
PHASE_NAMES = ("deal", "offer", "tile", "over")
END_NONE, END_ROW, END_EXHAUSTED, END_STALLED = range(4)
MARKER_HERE = 0x81  # added to FLOOR_USED: one cell, and the flag that its holder starts the next round
MARKER_FLAG = 0x80

SOURCE_PAIRS = sum(1 << SOURCE_COUNT * c for c in range(COLOR_COUNT))  # the PAIRS of source 0
COLOR_PAIRS = (1 << SOURCE_COUNT) - 1  # the PAIRS of color 0
ALL_PAIRS = (1 << SOURCE_COUNT * COLOR_COUNT) - 1
EMPTY_ROOM = sum((i + 1) << 8 * i for i in range(LINE_COUNT))
FULL_BAG = sum(20 * (c + 1) << 8 * c for c in range(COLOR_COUNT))

# ------------------------------------------------------------------------------------ results of played games
# The kernels that play whole games write one column a game into an int32 array [RESULT_ROWS, games].
RESULT_GAME_ROWS = ("rounds", "plies", "end", "short_deal")
RESULT_SEAT_ROWS = ("score", "placement_points", "floor_points", "rows", "columns", "colors", "wall")
OUT_ROUNDS, OUT_PLIES, OUT_END, OUT_SHORT = range(4)  # end: 1 row, 2 exhausted, 3 stalled
OUT_SEATS = len(RESULT_GAME_ROWS)  # first row of seat 0
OUT_SCORE, OUT_PLACED, OUT_LOST, OUT_ROWS, OUT_COLUMNS, OUT_COLORS, OUT_WALL = range(7)  # rows within a seat
OUT_SEAT_ROWS = len(RESULT_SEAT_ROWS)
RESULT_ROWS = OUT_SEATS + MAX_PLAYERS * OUT_SEAT_ROWS


def seat_word(seat: int) -> int:
    """First word of the fields of `seat`."""
    return SEATS + seat * PLAYER_WORDS


def allowed_pairs(colors: int) -> int:
    """LINE_PAIRS word for a line that takes each color whose bit is set in `colors`."""
    return sum(COLOR_PAIRS << SOURCE_COUNT * c for c in range(COLOR_COUNT) if colors >> c & 1)


def new_state(rules: Rules, first_player: int = 0) -> np.ndarray:
    """The state before the first deal.

    Parameters
    ----------
    rules : Rules
    first_player : int
        The seat that starts round 1.

    Returns
    -------
    numpy.ndarray
        int64 [STATE_WORDS], in phase ``deal``, round 0, stream keys 0.
    """
    if not 0 <= first_player < rules.players:
        raise AzulError(f"first_player must be 0 to {rules.players - 1}, not {first_player}")
    state = np.zeros(STATE_WORDS, np.int64)
    state[PLAYERS] = rules.players
    state[FREE_WALL] = WALLS.index(rules.wall)
    state[REMOVES] = OVERFLOWS.index(rules.overflow)
    state[MAX_ROUNDS] = rules.max_rounds
    state[TURN] = state[STARTER] = first_player
    state[MARKER] = MARKER_HERE
    state[BAG] = FULL_BAG
    for seat in range(rules.players):
        p = seat_word(seat)
        state[p + LINE_PAIRS : p + LINE_PAIRS + 6] = ALL_PAIRS
        state[p + ROOM] = EMPTY_ROOM
    return state


def rules_of(state: np.ndarray) -> Rules:
    """The rules that `state` is played by."""
    return Rules(
        players=int(state[PLAYERS]),
        wall=WALLS[state[FREE_WALL]],
        overflow=OVERFLOWS[state[REMOVES]],
        max_rounds=int(state[MAX_ROUNDS]),
    )


def deal_size(players: int) -> int:
    """Tiles of a full deal: 20, 28 or 36."""
    return FACTORY_TILES * factory_count(players)
