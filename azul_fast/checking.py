"""Records checked by the ten thousand: as `azul_fast.records.replay` does, many times faster.

A kernel plays a whole record at once. It says no more than whether that works out; where it does not, `replay` has the
last word and names the first offence. What is accepted here is accepted there.
"""

from __future__ import annotations

import functools
import json
from array import array
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from azul_fast.engine.layout import PHASE, PHASE_DEAL, PLAYERS, PLIES, ROUND_PLIES, new_state
from azul_fast.engine.replay import FOUND_WORDS, play_tape
from azul_fast.game import RECORD_FORMAT
from azul_fast.notation import ACTION_COUNT, FIRST_CHOICE, format_move
from azul_fast.position import NOTHING
from azul_fast.records import MAX_LINE, replay, start_of
from azul_fast.rules import (
    COLOR_COUNT,
    COLORS,
    DEFAULT_MAX_ROUNDS,
    END_REASONS,
    FACTORY_TILES,
    MAX_SEED,
    OVERFLOWS,
    SOURCE_COUNT,
    Rules,
    factory_count,
)

_MOVES = {format_move(action): action for action in range(FIRST_CHOICE)}  # [text] -> action
_CHOICES = {format_move(action): action for action in range(FIRST_CHOICE, ACTION_COUNT)}
# [tiles of a factory, in any order] -> how many of each color, a byte a color
_FACTORIES = {
    "".join(tiles): sum(1 << 8 * COLORS.index(tile) for tile in tiles)
    for size in range(1, FACTORY_TILES + 1)
    for tiles in product(COLORS, repeat=size)
} | {NOTHING: 0}


class Checked(NamedTuple):
    """A game that was checked."""

    plies: int
    end: str  # row, exhausted or stalled


def check(record: Mapping[str, Any] | str | bytes) -> Checked:
    """Check all of a record; `replay`, when the game itself is not wanted.

    Raises
    ------
    InvalidRecordError
        At the first offence, as `azul_fast.records.replay` does.
    """
    found = quick_check(quick_loads(record) if isinstance(record, (str, bytes)) else record)
    if found is None:
        game = replay(record)
        state = game.state
        found = Checked(int(state[PLIES] + state[ROUND_PLIES]), (game.result() or {})["end"])
    return found


def load() -> None:
    """Compile or load the kernel, for those who measure the speed of `check`."""
    nothing = np.zeros(2, np.int64)
    play_tape(new_state(Rules()), nothing, np.zeros((SOURCE_COUNT, COLOR_COUNT), np.uint8), nothing)


@functools.cache
def fast_json() -> Callable[[str | bytes], Any]:
    """The fastest parser there is. They differ only in what is no proper JSON, which `replay` judges."""
    try:
        import orjson
    except ImportError:
        return json.loads
    return orjson.loads


def quick_loads(line: str | bytes) -> Any:
    """What the line says, or None if it is not plain JSON."""
    if len(line) > MAX_LINE:
        return None
    try:
        return fast_json()(line)
    except (ValueError, RecursionError):
        return None


def quick_check(record: Any) -> Checked | None:
    """The game of a record; None if something is wrong, or spelled in a way that only `replay` knows."""
    try:
        start = _start(record)
        tape = _tape(record["rounds"], start)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    rounds, result = record["rounds"], record.get("result")
    players = int(start[PLAYERS])
    found = np.empty((len(rounds) + 2) * players + FOUND_WORDS, np.int64)
    counts = np.zeros((SOURCE_COUNT, COLOR_COUNT), np.uint8)
    if not play_tape(start.copy(), np.frombuffer(tape, np.int64), counts, found):
        return None

    *all_scores, number, end, plies = found.tolist()
    by_seat = [all_scores[i : i + players] for i in range(0, len(all_scores), players)]
    for played, scores in zip(rounds, by_seat, strict=False):
        if "scores" in played and played["scores"] != scores:
            return None
    scores, rows = by_seat[-2:]
    standing = list(zip(scores, rows, strict=True))
    best = max(standing)
    facts: dict[str, Any] = {
        "scores": scores,
        "rows": rows,
        "winners": [seat for seat, points in enumerate(standing) if points == best],
        "rounds": number,
        "end": END_REASONS[end - 1],
    }
    if not isinstance(result, dict) or "scores" not in result:
        return None
    for key, value in facts.items():
        if key in result and result[key] != value:
            return None
    return Checked(plies, facts["end"])


def _start(record: Any) -> np.ndarray:
    """The state before the first event, not to be changed; the outer parts of the record are good."""
    rules = record["rules"]
    if record["format"] != RECORD_FORMAT or not isinstance(rules, dict):
        raise ValueError
    numbers = (record.get("game", 0), record.get("seed", 0))
    if not all(type(number) is int and 0 <= number <= MAX_SEED for number in numbers):
        raise ValueError
    key = "position" if "position" in record else "first_player"
    place = record.get(key, 0)
    if type(place) is not (str if key == "position" else int):
        raise ValueError
    overflow, max_rounds = rules.get("overflow", OVERFLOWS[0]), rules.get("max_rounds", DEFAULT_MAX_ROUNDS)
    return _known_start(rules["players"], rules["wall"], overflow, max_rounds, key, place)


@functools.lru_cache(typed=True)  # True is not 1 here
def _known_start(players: int, wall: str, overflow: str, max_rounds: int, key: str, place: int | str) -> np.ndarray:
    rules = {"players": players, "wall": wall, "overflow": overflow, "max_rounds": max_rounds}
    return start_of({"format": RECORD_FORMAT, "rules": rules, key: place, "rounds": [], "result": {}}).state


def _tape(rounds: list[Any], start: np.ndarray) -> array[int]:
    """All events of a record as numbers, in the order in which `play_tape` wants them."""
    if not isinstance(rounds, list):
        raise TypeError
    players = int(start[PLAYERS])
    factories = factory_count(players)
    no_choices = [0] * players
    due = bool(start[PHASE] == PHASE_DEAL)  # is the round to be dealt?
    tape = [len(rounds), int(due)]
    for played in rounds:
        if due:
            deal = [_FACTORIES[tiles.strip()] for tiles in played["deal"].split(",")]
            if len(deal) != factories:
                raise ValueError
            tape += deal
        elif "deal" in played:
            raise ValueError
        due = True
        moves = [_MOVES[move] for move in played["moves"].split()]
        tape.append(len(moves))
        tape += moves
        if "tiles" not in played:
            tape += no_choices
            continue
        seats = played["tiles"]
        if not isinstance(seats, list) or len(seats) != players:
            raise ValueError
        for choices in seats:
            columns = [_CHOICES[choice] for choice in choices.split()]
            tape.append(len(columns))
            tape += columns
    return array("q", tape)
