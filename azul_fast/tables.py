"""The per-game table, one row a game and seat, written while the games are played and whole or not at all."""

from __future__ import annotations

import contextlib
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from azul_fast.batch import ROTATE, Run
from azul_fast.engine.layout import (
    OUT_COLORS,
    OUT_COLUMNS,
    OUT_END,
    OUT_LOST,
    OUT_PLACED,
    OUT_PLIES,
    OUT_ROUNDS,
    OUT_ROWS,
    OUT_SCORE,
    OUT_SEAT_ROWS,
    OUT_SEATS,
    OUT_SHORT,
    OUT_WALL,
    RESULT_ROWS,
)
from azul_fast.errors import AzulError
from azul_fast.files import WholeFile, check_output
from azul_fast.rules import COLOR_BONUS, COLUMN_BONUS, END_REASONS, ROW_BONUS

Values = NDArray[Any]

GROUP_GAMES = 49_152  # games written at a time, whatever chunks they were played in; a multiple of 12


# ---------------------------------------------------------------------------------------------------------- its columns
class Games:
    """Results of consecutive games, and the columns of the table made of them: arrays [games * players], by game."""

    def __init__(self, run: Run, first: int, results: NDArray[np.int32]) -> None:
        self.run = run
        self.results = results  # int32 [RESULT_ROWS, games]
        self.count = results.shape[1]
        self.numbers = run.first_game + first + np.arange(self.count)

    def of_game(self, values: Values) -> Values:
        """A value a game, for each of its seats."""
        return np.repeat(values, self.run.players)

    @cached_property
    def by_seat(self) -> NDArray[np.int32]:
        """int32 [OUT_SEAT_ROWS, games, players]."""
        rows = self.results[OUT_SEATS : OUT_SEATS + self.run.players * OUT_SEAT_ROWS]
        by_seat: NDArray[np.int32] = rows.reshape(self.run.players, OUT_SEAT_ROWS, self.count).transpose(1, 2, 0)
        return by_seat

    def of_seat(self, row: int) -> NDArray[np.int32]:
        """A result row of each seat."""
        values: NDArray[np.int32] = self.by_seat[row].reshape(-1)
        return values

    @cached_property
    def placed(self) -> Values:
        """Points of tiles placed; the score of a position that games start from counts as placed."""
        return self.of_seat(OUT_PLACED) + np.tile(np.array(self.run.start_scores, np.int32), self.count)

    def seat(self) -> Values:
        return np.tile(np.arange(self.run.players, dtype=np.int32), self.count)

    def policy(self) -> Values:
        """Index into the run's `labels`."""
        ids = np.array([self.run.labels.index(policy) for policy in self.run.policies], np.int32)
        rotation = self.of_game(self.numbers % self.run.rotations)
        policies: Values = ids[(self.seat() + rotation) % self.run.players]
        return policies

    def first_player(self) -> Values:
        if self.run.first_player == ROTATE:
            return self.of_game(self.numbers % self.run.players).astype(np.int32)
        return np.full(self.count * self.run.players, self.run.first_player, np.int32)

    def win_share(self) -> Values:
        rank = self.by_seat[OUT_SCORE] * 8 + self.by_seat[OUT_ROWS]  # score, then complete rows (0 to 5)
        first = rank == rank.max(axis=1, keepdims=True)
        shares: Values = (first / first.sum(axis=1, keepdims=True)).reshape(-1)
        return shares

    def margin(self) -> Values:
        scores = self.by_seat[OUT_SCORE]
        others = [np.delete(scores, seat, axis=1).max(axis=1) for seat in range(self.run.players)]
        margins: Values = (scores - np.stack(others, axis=1)).reshape(-1)
        return margins

    def clamp_points(self) -> Values:
        bonuses = ((ROW_BONUS, OUT_ROWS), (COLUMN_BONUS, OUT_COLUMNS), (COLOR_BONUS, OUT_COLORS))
        known = self.placed - self.of_seat(OUT_LOST) + sum(points * self.of_seat(row) for points, row in bonuses)
        return self.of_seat(OUT_SCORE) - known


# [name] -> its values; `policy` and `end` are indices into names, see `Column`
COLUMNS: dict[str, Callable[[Games], Values]] = {
    "game": lambda g: g.of_game(g.numbers),
    "deal": lambda g: g.of_game(g.numbers // g.run.rotations),
    "seat": Games.seat,
    "policy": Games.policy,
    "first_player": Games.first_player,
    "score": lambda g: g.of_seat(OUT_SCORE),
    "win_share": Games.win_share,
    "margin": Games.margin,
    "placement_points": lambda g: g.placed,
    "floor_points": lambda g: g.of_seat(OUT_LOST),
    "clamp_points": Games.clamp_points,
    "rows": lambda g: g.of_seat(OUT_ROWS),
    "columns": lambda g: g.of_seat(OUT_COLUMNS),
    "colors": lambda g: g.of_seat(OUT_COLORS),
    "wall": lambda g: g.of_seat(OUT_WALL),  # bit 5 * row + column of each filled cell
    "rounds": lambda g: g.of_game(g.results[OUT_ROUNDS]),
    "plies": lambda g: g.of_game(g.results[OUT_PLIES]),
    "short_deal": lambda g: g.of_game(g.results[OUT_SHORT]),
    "end": lambda g: g.of_game(g.results[OUT_END] - 1),
}


def names_of(run: Run) -> dict[str, tuple[str, ...]]:
    """The columns that hold names: [column] -> the name of each index."""
    return {"policy": run.labels, "end": END_REASONS}


# ---------------------------------------------------------------------------------------------------------- the formats
class Format(Protocol):
    """How a table is written; `guard` of its file is around every call."""

    def __init__(self, run: Run, file: WholeFile) -> None: ...

    def write(self, games: Games) -> None:
        """Add the games."""

    def end(self) -> None:
        """All games have been added."""

    def abort(self) -> None:
        """Let go of everything but the file."""


class ParquetFormat:
    """Parquet: a row group for each GROUP_GAMES games, names as dictionaries."""

    def __init__(self, run: Run, file: WholeFile) -> None:
        import pyarrow
        import pyarrow.parquet

        self.arrow, self.names = pyarrow, names_of(run)
        empty = self.batch(Games(run, 0, np.zeros((RESULT_ROWS, 0), np.int32)))
        self.writer = pyarrow.parquet.ParquetWriter(file.file, empty.schema, compression="zstd")

    def batch(self, games: Games) -> Any:
        arrays = {}
        for name, values in COLUMNS.items():
            array = self.arrow.array(values(games))
            if name in self.names:
                array = self.arrow.DictionaryArray.from_arrays(array, self.arrow.array(self.names[name]))
            arrays[name] = array
        return self.arrow.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))

    def write(self, games: Games) -> None:
        self.writer.write_batch(self.batch(games), row_group_size=GROUP_GAMES * games.run.players)

    def end(self) -> None:
        self.writer.close()

    def abort(self) -> None:
        with contextlib.suppress(Exception):
            self.writer.close()
        self.writer.is_open = False  # else it tries once more when it is deleted


class CsvFormat:
    """CSV with a header line, and lines that end in a newline."""

    LINES = 8192  # made at a time: numbers as texts take much memory

    def __init__(self, run: Run, file: WholeFile) -> None:
        self.names = {name: list(map(_quoted, texts)) for name, texts in names_of(run).items()}
        self.file = file.file
        self.file.write((",".join(COLUMNS) + "\n").encode())

    def write(self, games: Games) -> None:
        columns = [values(games) for values in COLUMNS.values()]
        for first in range(0, len(columns[0]), self.LINES):
            texts = []
            for name, column in zip(COLUMNS, columns, strict=True):
                cells = column[first : first + self.LINES].tolist()
                texts.append(map(self.names[name].__getitem__ if name in self.names else str, cells))
            lines = map(",".join, zip(*texts, strict=True))
            self.file.write(("\n".join(lines) + "\n").encode())

    def end(self) -> None:
        pass

    def abort(self) -> None:
        pass


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\n\r') else text


class NpzFormat:
    """NumPy's .npz, one array a column.

    An array's length stands at its head and its values in one piece, so the results are kept in a temporary file, and
    the columns are made from it one after the other when all games have been added.
    """

    def __init__(self, run: Run, file: WholeFile) -> None:
        self.run, self.file = run, file.file
        self.used = OUT_SEATS + run.players * OUT_SEAT_ROWS  # rows of the results
        self.groups: list[tuple[int, int]] = []  # (first game, games)
        self.spool = tempfile.TemporaryFile(dir=file.path.parent)

    def write(self, games: Games) -> None:
        self.groups.append((int(games.numbers[0]) - self.run.first_game, games.count))
        self.spool.write(np.ascontiguousarray(games.results[: self.used]).data)

    def read(self) -> Iterator[Games]:
        self.spool.seek(0)
        for first, count in self.groups:
            results = np.frombuffer(self.spool.read(4 * self.used * count), np.int32)
            yield Games(self.run, first, results.reshape(self.used, count))

    def end(self) -> None:
        names = {name: np.array(texts) for name, texts in names_of(self.run).items()}
        rows = sum(count for _, count in self.groups) * self.run.players
        with zipfile.ZipFile(self.file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, values in COLUMNS.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    for i, games in enumerate(self.read()):
                        cells = values(games)
                        if name in names:
                            cells = names[name][cells]
                        if i == 0:
                            head = {"descr": cells.dtype.str, "fortran_order": False, "shape": (rows,)}
                            np.lib.format.write_array_header_1_0(member, head)
                        member.write(np.ascontiguousarray(cells).view(np.uint8).data)
        self.abort()

    def abort(self) -> None:
        self.spool.close()


FORMATS: dict[str, type[Format]] = {".parquet": ParquetFormat, ".csv": CsvFormat, ".npz": NpzFormat}


def check_table(path: str | Path, force: bool = False) -> Path:
    """The path of a table to be written, if that can be expected to work; see `check_output`."""
    path = check_output(path, list(FORMATS), force)
    if path.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise AzulError(f"{path}: Parquet needs pyarrow, which is not installed (pip install 'azul-fast[data]')")
    return path


class TableWriter:
    """Writes the per-game table of a run: give `add` to `azul_fast.batch.play` as `on_chunk`, then call `finish`.

    The bytes depend on the games alone, not on the chunks they come in. As a context manager it removes the file
    unless `finish` was reached.

    Parameters
    ----------
    run : Run
    path : Path
        From `check_table`; the suffix is the format.
    force : bool
        Whether to replace a file that is there by then.
    """

    def __init__(self, run: Run, path: Path, force: bool = False) -> None:
        self.run = run
        self.file = WholeFile(path, force)
        self.held = np.empty((RESULT_ROWS, GROUP_GAMES), np.int32)
        self.first, self.count = 0, 0  # of the games that `held` holds
        self.finished = False
        with self.file.guard():
            self.format = FORMATS[path.suffix](run, self.file)

    def add(self, first: int, games: int, results: NDArray[np.int32]) -> None:
        """Add the next games of the run."""
        done = 0
        while done < games:
            n = min(games - done, GROUP_GAMES - self.count)
            self.held[:, self.count : self.count + n] = results[:, done : done + n]
            self.count += n
            done += n
            if self.count == GROUP_GAMES:
                self.write()

    def write(self) -> None:
        if self.count:
            with self.file.guard():
                self.format.write(Games(self.run, self.first, self.held[:, : self.count]))
            self.first, self.count = self.first + self.count, 0

    def finish(self) -> None:
        """Write the rest, and put the file in its place."""
        self.write()
        with self.file.guard():
            self.format.end()
        self.file.finish()
        self.finished = True

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.finished:
            self.format.abort()
            self.file.discard()
