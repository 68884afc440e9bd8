"""Game records, ``azul-record/1``: JSON, one game a line, plain or compressed; and their replay, checked in full.

A record holds every deal and every move, so that it replays without random numbers. `replay` plays it by the rules and
stops at the first thing that does not agree: a deal the bag cannot give, an illegal move, other scores.
`azul_fast.checking` does the same for many records at once.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from azul_fast.errors import AzulError, InvalidRecordError, NoRecordError, shown
from azul_fast.files import WholeFile
from azul_fast.game import RECORD_FORMAT, Game, round_scores
from azul_fast.position import Position
from azul_fast.rules import DEFAULT_MAX_ROUNDS, WALLS, Rules

GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"  # what a compressed file begins with
MAX_LINE = 16 * 1024 * 1024  # bytes; a game of 100 rounds has about 20,000
_CHUNK = 1 << 18  # bytes read at once
_ZST_CHUNK = 1 << 8  # the same of a .zst file: what they stand for is held at once, 8 MB at the worst
_OWN_KEYS = ("format", "rules", "first_player", "position", "seed", "game", "rounds", "result")


# --------------------------------------------------------------------------------------------------------------- replay
def replay(record: Mapping[str, Any] | str | bytes) -> Game:
    """Play a recorded game again and check all of it.

    Parameters
    ----------
    record : mapping, str or bytes
        The record, or its JSON. Keys may come in any order; keys that are not known are kept.

    Returns
    -------
    Game
        The finished game, with ``deals="given"`` and its whole history.

    Raises
    ------
    InvalidRecordError
        At the first offence; the message names the round, the event and the reason.
    """
    if isinstance(record, (str, bytes)):
        record = loads(record)
    game = start_of(record)
    rounds = record["rounds"]
    for number, played in enumerate(rounds, 1):
        if game.is_over:
            raise _bad(f"rounds: {len(rounds)} given, but the game was over after {number - 1} ({_end(game)})")
        try:
            _replay_round(game, played, first=number == 1)
        except AzulError as error:
            raise _bad(f"round {number}: {error}") from None
    if not game.is_over:
        raise _bad(f"rounds: they stop after {len(rounds)}, but the game is not over")
    _check_result(game, record["result"])
    game._notes = {key: value for key, value in record.items() if key not in _OWN_KEYS}
    return game


def events(game: Game) -> Iterator[tuple[Position, str]]:
    """The position before each event of a game's history, and the event: a move, or a deal such as ``BBRK,YYWW,…``."""
    for number, event in enumerate(game._history):
        yield Position.from_state(event.before), game._text_of(number)


def start_of(record: Any) -> Game:
    """The game before its first event; the outer parts of the record are checked."""
    if not isinstance(record, Mapping):
        raise _no_record(f"a JSON object expected, not {shown(record)}")
    if record.get("format") != RECORD_FORMAT:
        raise _no_record(f"format: {RECORD_FORMAT!r} expected, not {shown(record.get('format'))}")
    for key, kind, name in (
        ("rules", Mapping, "an object"),
        ("rounds", list, "a list"),
        ("result", Mapping, "an object"),
    ):
        if key not in record:
            raise _bad(f"{key}: missing")
        if not isinstance(record[key], kind):
            raise _bad(f"{key}: {name} expected, not {shown(record[key])}")
    given = record["rules"]
    for key in ("players", "wall"):
        if key not in given:
            raise _bad(f"rules: {key}: missing")
    if given["wall"] not in WALLS:  # a record has one word for each
        raise _bad(f"wall must be {' or '.join(WALLS)}, not {shown(given['wall'])}")
    try:
        rules = Rules(
            players=given["players"],
            wall=given["wall"],
            overflow=given.get("overflow", "lid"),
            max_rounds=given.get("max_rounds", DEFAULT_MAX_ROUNDS),
        )
        seed, number = record.get("seed"), record.get("game", 0)
        if "position" in record:
            game = Game.from_text(record["position"], seed=seed, game=number, deals="given")
            if game.rules != rules:
                raise _bad("rules: they are not those of the position")
            return game
        return Game(rules, seed=seed, game=number, deals="given", first_player=record.get("first_player", 0))
    except InvalidRecordError:
        raise
    except ValueError as error:
        raise _bad(str(error)) from None


def _replay_round(game: Game, played: Any, first: bool) -> None:
    """Play one round; the errors name what is wrong within it."""
    if not isinstance(played, Mapping):
        raise InvalidRecordError(f"an object expected, not {shown(played)}")
    if game.phase == "deal":
        deal = played.get("deal")
        if not isinstance(deal, str):
            raise InvalidRecordError("deal: missing" if deal is None else f"deal: a text expected, not {shown(deal)}")
        game.deal(deal)
    elif not first or "deal" in played:
        raise InvalidRecordError("deal: the round was dealt already")

    moves = played.get("moves")
    if not isinstance(moves, str):
        raise InvalidRecordError("moves: missing" if moves is None else f"moves: a text expected, not {shown(moves)}")
    for number, move in enumerate(moves.split(), 1):
        if game.phase != "offer":
            raise InvalidRecordError(f"move {number} ({shown(move)}): no tile is left on offer")
        _play(game, move, f"move {number}")
    if game.phase == "offer":
        raise InvalidRecordError("moves: they stop, but tiles are on offer")

    choices = played.get("tiles", [""] * game.rules.players)
    if not isinstance(choices, list) or not all(isinstance(text, str) for text in choices):
        raise InvalidRecordError(f"tiles: a list of texts expected, not {shown(choices)}")
    if len(choices) != game.rules.players:
        raise InvalidRecordError(f"tiles: {len(choices)} texts, but there are {game.rules.players} seats")
    for seat, text in enumerate(choices):
        for number, choice in enumerate(text.split(), 1):
            if game.phase != "tile" or game.turn != seat:
                raise InvalidRecordError(f"seat {seat}, choice {number} ({shown(choice)}): it has no full line")
            _play(game, choice, f"seat {seat}, choice {number}")
        if game.phase == "tile" and game.turn == seat:
            raise InvalidRecordError(f"seat {seat}, tiles: they stop, but it has another full line")

    if "scores" in played:
        scores = round_scores(game.state)
        if played["scores"] != scores:
            raise InvalidRecordError(f"scores: {shown(played['scores'])} recorded, but they are {scores}")


def _play(game: Game, move: str, name: str) -> None:
    try:
        game.play(move)
    except AzulError as error:
        raise InvalidRecordError(f"{name}: {str(error).removeprefix('move: ')}") from None


def _check_result(game: Game, result: Mapping[str, Any]) -> None:
    if "scores" not in result:
        raise _bad("result: scores: missing")
    for key, value in (game.result() or {}).items():
        if key in result and result[key] != value:
            raise _bad(f"result: {key}: {shown(result[key])} recorded, but it is {shown(value)}")


def _end(game: Game) -> str:
    return str((game.result() or {})["end"])


def _bad(reason: str) -> InvalidRecordError:
    return InvalidRecordError(f"record: {reason}")


def _no_record(reason: str) -> NoRecordError:
    return NoRecordError(f"record: {reason}")


# ---------------------------------------------------------------------------------------------------------------- files
def loads(line: str | bytes) -> dict[str, Any]:
    """The record on one line of JSON."""
    if isinstance(line, bytes) and line.startswith((GZIP, ZSTANDARD)):
        raise _no_record("not JSON: compressed, unpack it first, or name a file that ends in .gz or .zst")
    if len(line) > MAX_LINE:
        raise _no_record(f"more than {MAX_LINE:,} bytes, too long for a game")
    try:
        record = json.loads(line)
    except RecursionError:
        raise _no_record("not JSON that can be a game: nested too deep") from None
    except UnicodeDecodeError:
        raise _no_record("not JSON: not a text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise _no_record(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except ValueError as error:  # a number of thousands of digits
        raise _no_record(f"not JSON that can be a game: {error}") from None
    if not isinstance(record, dict):
        raise _no_record(f"a JSON object expected, not {shown(record)}")
    return record


def dumps(record: Mapping[str, Any]) -> str:
    """A record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False)


def lines(file: str | os.PathLike[str] | IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank, with their numbers from 1; in constant memory.

    Of a line that is too long to be a game only a part is given, which `loads` refuses.

    Parameters
    ----------
    file : path or binary file
        ``.gz`` and ``.zst`` are taken to be compressed.

    Raises
    ------
    InvalidRecordError
        A compressed file that is damaged or cut off; the message names file and line.
    """
    number, size = 1, 0  # the current line: its number and the bytes kept of it
    parts: list[bytes] = []
    try:
        for chunk in _chunks(file):
            *ended, rest = chunk.split(b"\n")
            for piece in ended:
                line = b"".join([*parts, piece])[: MAX_LINE + 1].strip()
                parts, size = [], 0
                if line:
                    yield number, line
                number += 1
            if size <= MAX_LINE:
                parts.append(rest)
                size += len(rest)
    except (EOFError, zlib.error, gzip.BadGzipFile, InvalidRecordError) as error:
        raise InvalidRecordError(f"{_name(file)}: line {number}: {error}") from None
    line = b"".join(parts)[: MAX_LINE + 1].strip()
    if line:
        yield number, line


def read(file: str | os.PathLike[str] | IO[bytes]) -> Iterator[dict[str, Any]]:
    """The records of a file, one after the other; nothing in them is checked but that they are JSON objects."""
    for number, line in lines(file):
        try:
            yield loads(line)
        except InvalidRecordError as error:
            raise InvalidRecordError(f"{_name(file)}: line {number}: {error}") from None


def write(path: str | os.PathLike[str], records: Iterable[Mapping[str, Any]]) -> int:
    """Write records to a file, compressed if its suffix is ``.gz`` or ``.zst``; returns how many there were."""
    count = 0
    with writer(path) as put:
        for record in records:
            put(record)
            count += 1
    return count


@contextmanager
def writer(path: str | os.PathLike[str]) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A function that writes one record a call; the file has its name only once it is complete."""
    whole = WholeFile(Path(path), force=True)
    with whole.guard():
        with _compressor(whole.file, whole.path.suffix) as out:
            yield lambda record: out.write(dumps(record).encode() + b"\n")
    whole.finish()


def _compressor(raw: IO[bytes], suffix: str) -> Any:
    if suffix == ".gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)  # the same bytes for the same games
    if suffix == ".zst":
        return _zstandard().ZstdCompressor().stream_writer(raw, closefd=False)
    return nullcontext(raw)


def _chunks(file: str | os.PathLike[str] | IO[bytes]) -> Iterator[bytes]:
    """The contents of a file, decompressed, piece by piece."""
    if not isinstance(file, (str, os.PathLike)):
        read = getattr(file, "read1", file.read)  # what a pipe has now, not what it will have
        while chunk := read(_CHUNK):
            yield chunk
        return
    suffix = Path(file).suffix
    with gzip.open(file) if suffix == ".gz" else open(file, "rb") as source:
        if suffix != ".zst":
            while chunk := source.read(_CHUNK):
                yield chunk
            return
        zstandard = _zstandard()
        frame = None
        while chunk := source.read(_ZST_CHUNK):
            while chunk:
                frame = frame or zstandard.ZstdDecompressor().decompressobj()
                try:
                    yield frame.decompress(chunk)
                except zstandard.ZstdError as error:
                    raise InvalidRecordError(str(error)) from None
                chunk = frame.unused_data if frame.eof else b""
                frame = None if frame.eof else frame
        if frame is not None:
            raise InvalidRecordError("the compressed file ends within a frame")


def _name(file: str | os.PathLike[str] | IO[bytes]) -> str:
    return os.fspath(file) if isinstance(file, (str, os.PathLike)) else str(getattr(file, "name", "input"))


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise InvalidRecordError(".zst files need the package zstandard: pip install zstandard") from None
    return zstandard
