"""The per-game table: what it says, the same bytes for the same games, and whole files or none."""

from __future__ import annotations

import csv
import errno
import os

import numpy as np
import pytest
from twin import made_up, rows

from azul_fast import tables
from azul_fast.batch import describe, play
from azul_fast.errors import AzulError, OutputError
from azul_fast.files import check_output
from azul_fast.rules import Rules
from azul_fast.tables import COLUMNS, TableWriter, check_table

SUFFIXES = (".parquet", ".csv", ".npz")
POSITION = (
    "azul1 c2 -,-,-,-,- * 12:B..../...../...../...../.....:-,-,-,-,-:-;"
    "7:...../...../...../...../.....:-,-,-,-,-:- b19.20.20.20.20 l0.0.0.0.0 t1 s0 r1 deal"
)
RUNS = {
    "plain": {},
    "rotated": {"rules": Rules(players=3), "policies": "random,tidy,greedy", "rotate": True, "first_game": 30},
    "in turn": {"rules": Rules(players=4, wall="free"), "first_player": "rotate"},
    "from a position": {"position": POSITION},
}
PROMISED = (
    "game deal seat policy first_player score win_share placement_points floor_points clamp_points rows columns colors "
    "rounds plies end"
).split()


def write(run, path, results, sizes):
    """Write the table of results that come in chunks of these sizes."""
    with TableWriter(run, path) as writer:
        first = 0
        for size in sizes:
            writer.add(first, size, np.ascontiguousarray(results[:, first : first + size + 1]))
            first += size
        writer.finish()


def read(path):
    """[column] -> list of values."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            lines = list(csv.reader(file))
        columns = dict(zip(lines[0], zip(*lines[1:], strict=True), strict=True))
        return {
            name: list(values) if name in ("policy", "end") else [float(v) if "." in v else int(v) for v in values]
            for name, values in columns.items()
        }
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return {name: arrays[name].tolist() for name in arrays.files}
    parquet = pytest.importorskip("pyarrow.parquet")
    return parquet.read_table(path).to_pydict()


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_the_table_is_the_twins(options, suffix, tmp_path):
    run = describe(600, seed=1, **options)
    results = made_up(600, run.players)
    path = tmp_path / f"games{suffix}"
    write(run, path, results, [600])
    columns = read(path)
    assert list(columns) == list(COLUMNS)
    assert set(PROMISED) <= set(columns)
    first = -1 if run.first_player == "rotate" else run.first_player
    twin = rows(results, 600, run.policies, run.rotations, first, run.first_game, run.start_scores)
    for name, values in columns.items():
        assert (
            values == pytest.approx([row[name] for row in twin])
            if name == "win_share"
            else values == [row[name] for row in twin]
        ), name


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_score_is_what_it_is_made_of(suffix, tmp_path):
    for options in ({"policies": "greedy,random", "rotate": True}, {"position": POSITION}):
        run = describe(120, seed=4, **options)
        path = tmp_path / f"{len(options)}{suffix}"
        with TableWriter(run, path) as writer:
            play(run, on_chunk=writer.add)
            writer.finish()
        t = {name: np.array(values) for name, values in read(path).items()}
        bonus = 2 * t["rows"] + 7 * t["columns"] + 10 * t["colors"]
        assert (t["score"] == t["placement_points"] - t["floor_points"] + t["clamp_points"] + bonus).all()
        assert (t["clamp_points"] >= 0).all()
        assert (t["win_share"].reshape(-1, 2).sum(axis=1) == 1).all()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_chunks_change_no_byte(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "GROUP_GAMES", 1200)
    games = 2 * 1200 + 60  # three pieces
    run = describe(games, seed=1)
    results = made_up(games, 2)
    whole, parts = tmp_path / f"whole{suffix}", tmp_path / f"parts{suffix}"
    write(run, whole, results, [games])
    write(run, parts, results, [12, 1500, games - 1512])
    assert whole.read_bytes() == parts.read_bytes()
    assert len(read(whole)["game"]) == 2 * games
    assert sorted(os.listdir(tmp_path)) == sorted([whole.name, parts.name])
    if suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        assert parquet.ParquetFile(whole).num_row_groups == 3


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_of_fewer_games_than_asked_for_is_whole(suffix, tmp_path):
    path = tmp_path / f"games{suffix}"
    write(describe(10**6, seed=1), path, made_up(24, 2), [24])
    assert len(read(path)["game"]) == 48


# ------------------------------------------------------------------------------------------------------------ failures
class FullDisk:
    """A file on a disk that is full after so many bytes."""

    def __init__(self, file, space):
        self.file, self.space = file, space

    def write(self, data):
        self.space -= memoryview(data).nbytes
        if self.space < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize("space", [0, 10, 5_000, 100_000])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_leaves_nothing(suffix, space, tmp_path, monkeypatch, capfd):
    real = open
    monkeypatch.setattr("builtins.open", lambda *a, **k: FullDisk(real(*a, **k), space) if "wb" in a else real(*a, **k))
    with pytest.raises(OutputError, match=r"games.* could not be written: No space left on device"):
        write(describe(60_000, seed=1), tmp_path / f"games{suffix}", made_up(60_000, 2), [60_000])
    assert os.listdir(tmp_path) == []
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_other_failure_leaves_nothing(suffix, tmp_path):
    with pytest.raises(KeyboardInterrupt), TableWriter(describe(60, seed=1), tmp_path / f"games{suffix}") as writer:
        writer.add(0, 24, made_up(24, 2))
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_a_table_that_is_not_finished_leaves_nothing(tmp_path):
    with TableWriter(describe(60, seed=1), tmp_path / "games.csv") as writer:
        writer.add(0, 24, made_up(24, 2))
    assert os.listdir(tmp_path) == []


def test_a_file_that_appears_meanwhile_is_left_alone(tmp_path):
    path = tmp_path / "games.csv"
    run, results = describe(24, seed=1), made_up(24, 2)
    with pytest.raises(OutputError, match="has appeared"), TableWriter(run, path) as writer:
        writer.add(0, 24, results)
        path.write_text("someone else's")
        writer.finish()
    assert path.read_text() == "someone else's"
    with TableWriter(run, path, force=True) as writer:
        writer.add(0, 24, results)
        writer.finish()
    assert len(read(path)["game"]) == 48
    assert os.listdir(tmp_path) == ["games.csv"]


def test_checks_before_anything_is_written(tmp_path, monkeypatch):
    (tmp_path / "old.csv").write_text("")
    (tmp_path / "folder.csv").mkdir()
    for name, message in (
        ("games.xlsx", r"games.xlsx: the name must end in .parquet, .csv or .npz"),
        ("games", r"the name must end in"),
        ("none/games.csv", r"games.csv: there is no folder .*none"),
        ("old.csv", r"old.csv exists \(--force writes over it\)"),
        ("folder.csv", r"folder.csv is a folder"),
    ):
        with pytest.raises(AzulError, match=message):
            check_table(tmp_path / name)
    assert check_table(tmp_path / "old.csv", force=True) == tmp_path / "old.csv"
    assert check_output(tmp_path / "a.jsonl.gz", [".jsonl", ".jsonl.gz"]).name == "a.jsonl.gz"
    monkeypatch.setattr("azul_fast.tables.find_spec", lambda name: None)
    with pytest.raises(AzulError, match=r"needs pyarrow.*azul-fast\[data\]"):
        check_table(tmp_path / "games.parquet")
    assert sorted(os.listdir(tmp_path)) == ["folder.csv", "old.csv"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(AzulError, match="cannot write in folder"):
        check_table(tmp_path / "games.csv")


def test_names_with_commas_are_quoted_in_csv(tmp_path):
    from dataclasses import replace

    run = replace(describe(12, seed=1), policies=('a,"b"', "c"))
    path = tmp_path / "games.csv"
    write(run, path, made_up(12, 2), [12])
    assert read(path)["policy"][:2] == ['a,"b"', "c"]
