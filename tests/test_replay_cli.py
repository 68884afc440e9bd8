"""``azul-fast replay``: records checked, drawn and turned into positions, from files of every kind and state."""

import copy
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import playouts
import pytest
import referee

import azul_fast as az
from azul_fast.checking import check
from azul_fast.cli.main import run
from azul_fast.drawing import plain
from azul_fast.notation import parse_position
from azul_fast.position import Position
from azul_fast.records import dumps, replay, write

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-m", "azul_fast", "replay"]
COLORED = playouts.record(2, "fixed", "lid", seed=1)
GRAY = playouts.record(3, "free", "removed", seed=2)
PLIES = [sum(len(played["moves"].split()) for played in record["rounds"]) for record in (COLORED, GRAY)]


def illegal(record=COLORED):
    """The record with another first move: red from the center, which is empty then."""
    record = copy.deepcopy(record)
    record["rounds"][0]["moves"] = "CRF" + record["rounds"][0]["moves"][3:]
    return record


ILLEGAL = "record: round 1: move 1: CRF: the center has no red"


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Every test meets compiled kernels, those of both replays."""
    assert replay(GRAY).is_over and check(GRAY).end == "row"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A function that writes lines (records, texts or bytes) to a file in the working folder; returns its name."""
    monkeypatch.chdir(tmp_path)

    def put(*lines, name="games.jsonl"):
        lines = [dumps(line) if isinstance(line, dict) else line for line in lines]
        (tmp_path / name).write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
        return name

    return put


@pytest.fixture
def said(capsys):
    """A function that runs the command: (exit code, lines of standard output, lines of standard error)."""

    def go(*arguments):
        code = run(["replay", *arguments])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err.splitlines()

    return go


# --------------------------------------------------------------------------------------------------------- good records
def test_good_games_are_counted(file, said):
    code, out, err = said(file(COLORED, GRAY, COLORED), file(GRAY, name="more.jsonl"))
    assert (code, out) == (0, [])
    summary = rf"4 good games; {2 * sum(PLIES):,} plies; ends: 4 row, 0 exhausted, 0 stalled; [\d,]+ games/s"
    assert len(err) == 1 and re.fullmatch(summary, err[0])
    capped = playouts.record(2, "fixed", "lid", seed=1, max_rounds=2)
    assert said(file(capped))[2][0].startswith("1 good game; ")
    assert "; ends: 0 row, 0 exhausted, 1 stalled; " in said(file(capped))[2][0]


def test_the_summary_as_json(file, said):
    code, out, _ = said(file(COLORED, GRAY), "--json")
    found = json.loads(*out)
    assert found.pop("run")["games_per_s"] > 0
    ends = {"row": 2, "exhausted": 0, "stalled": 0}
    assert code == 0
    assert found == {"format": "azul-replay/1", "games": 2, "plies": sum(PLIES), "ends": ends, "offences": []}


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_compressed_files(tmp_path, said, suffix):
    if suffix == ".zst":
        pytest.importorskip("zstandard")
    path = tmp_path / f"games.jsonl{suffix}"
    write(path, [COLORED, GRAY])
    code, _, err = said(str(path))
    assert code == 0 and err[0].startswith("2 good games; ")


def test_standard_input(said, monkeypatch):
    data = f"{dumps(COLORED)}\n\n{dumps(illegal())}\n".encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert said("-") == (1, [], [f"azul-fast replay: standard input: line 3: {ILLEGAL}"])


def test_an_empty_file_has_no_games(file, said):
    code, _, err = said(file())
    assert code == 0 and err[0].startswith("0 good games; ")


# ------------------------------------------------------------------------------------------------------- first offences
def test_the_first_offence_is_one_line(file, said):
    name = file(COLORED, "", illegal(), "no JSON", GRAY)
    assert said(name) == (1, [], [f"azul-fast replay: games.jsonl: line 3: {ILLEGAL}"])
    assert said(name, "--to-positions")[::2] == (1, [f"azul-fast replay: games.jsonl: line 3: {ILLEGAL}"])


def test_keep_going_reports_them_all_and_counts_the_others(file, said):
    other = file("[]", COLORED, name="other.jsonl")
    code, out, err = said(file(COLORED, illegal(), "no JSON", GRAY), other, "--keep-going")
    assert (code, out) == (1, [])
    assert err[:3] == [
        f"azul-fast replay: games.jsonl: line 2: {ILLEGAL}",
        "azul-fast replay: games.jsonl: line 3: record: not JSON: Expecting value at character 1",
        "azul-fast replay: other.jsonl: line 1: record: a JSON object expected, not []",
    ]
    assert len(err) == 4 and err[3].startswith("3 good games, 3 refused; ")
    code, out, _ = said(other, file(illegal()), "--keep-going", "--json")
    assert code == 1
    assert json.loads(*out)["offences"] == [
        {"file": "other.jsonl", "line": 1, "reason": "record: a JSON object expected, not []"},
        {"file": "games.jsonl", "line": 1, "reason": ILLEGAL},
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (dumps(COLORED)[:200], "record: not JSON: Unterminated string starting at"),
        (b"\x7fELF\x00\xff\xfe", "record: not JSON: "),
        (b"\xff\x80" * 1000, "record: not JSON: not a text in UTF-8"),
        ('{"format": "azul-record/2"}', "record: format: 'azul-record/1' expected, not 'azul-record/2'"),
        ('{"format": "azul-stats/1"}', "record: format: 'azul-record/1' expected, not 'azul-stats/1'"),
        ("[" * 100_000, "record: not JSON that can be a game: nested too deep"),
        ("17", "record: a JSON object expected, not 17"),
    ],
)
def test_what_is_no_record_at_all(file, said, line, reason):
    code, out, err = said(file(COLORED, line))
    assert (code, out, len(err)) == (2, [], 1)
    assert err[0].startswith(f"azul-fast replay: games.jsonl: line 2: {reason}") and len(err[0]) < 300
    code, _, err = said(file(COLORED, line, GRAY), "--keep-going")
    assert code == 1 and err[-1].startswith("2 good games, 1 refused; ")


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_line_of_100_megabytes(tmp_path, said, suffix):
    data = b'{"a": "' + b"x" * 100_000_000 + b'"}\n' + dumps(GRAY).encode()
    path = tmp_path / f"games.jsonl{suffix}"
    if suffix == ".zst":
        data = pytest.importorskip("zstandard").ZstdCompressor().compress(data)
    path.write_bytes(gzip.compress(data, 1) if suffix == ".gz" else data)
    del data
    reason = "record: more than 16,777,216 bytes, too long for a game"
    assert said(str(path)) == (2, [], [f"azul-fast replay: {path}: line 1: {reason}"])
    code, _, err = said(str(path), "--keep-going")
    assert code == 1 and err[1].startswith("1 good game, 1 refused; ")


def test_a_record_that_stops_in_the_middle_of_a_round(file, said):
    record = copy.deepcopy(COLORED)
    record["rounds"] = record["rounds"][:3]
    record["rounds"][2]["moves"] = record["rounds"][2]["moves"][:11]
    reason = "record: round 3: moves: they stop, but tiles are on offer"
    assert said(file(record)) == (1, [], [f"azul-fast replay: games.jsonl: line 1: {reason}"])


def test_a_deal_that_the_bag_cannot_give(file, said):
    record = copy.deepcopy(COLORED)
    record["rounds"][4]["deal"] = "BBBB,BBBB,BBBB,BBBB,BBBB"
    code, _, err = said(file(record))
    assert code == 1
    assert err[0].startswith("azul-fast replay: games.jsonl: line 1: record: round 5: deal: factory ")


# ------------------------------------------------------------------------------------------- files that cannot be read
@pytest.mark.parametrize(("name", "reason"), [("none", "No such file or directory"), (".", "Is a directory")])
def test_files_that_cannot_be_read(file, said, name, reason):
    good = file(COLORED)
    assert said(name, good) == (2, [], [f"azul-fast replay: {name} could not be read: {reason}"])
    code, _, err = said(name, good, "--keep-going")
    assert code == 2
    assert err[0] == f"azul-fast replay: {name} could not be read: {reason}" and err[1].startswith("1 good game; ")


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_compressed_file_that_is_cut_off(tmp_path, said, suffix):
    if suffix == ".zst":
        pytest.importorskip("zstandard")
    path = tmp_path / f"games.jsonl{suffix}"
    write(path, [COLORED, GRAY] * 20)
    path.write_bytes(path.read_bytes()[:-30])
    code, out, err = said(str(path))
    assert (code, out, len(err)) == (2, [], 1)
    assert re.match(rf"azul-fast replay: {re.escape(str(path))}: line \d+: ", err[0])


def test_without_zstandard(file, said, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    code, out, err = said(file(b"x", name="games.zst"))
    assert (code, out) == (2, [])
    text = "azul-fast replay: games.zst: line 1: .zst files need the package zstandard: pip install zstandard"
    assert err == [text]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'FILE...'."),
        (["games.jsonl", "--show", "0"], "--show must be 1 or more, not 0"),
        (["games.jsonl", "--show", "x"], "--show: 'x' is not a whole number such as 1000000, 1_000_000 or 1e6"),
        (["games.jsonl", "--show", "3"], "--show 3: there are 2 games"),
        (["games.jsonl", "--json", "--to-positions"], "--json, --to-positions and --show do not go together"),
    ],
)
def test_usage(file, said, arguments, message):
    file(COLORED, GRAY)
    assert said(*arguments) == (2, [], [f"azul-fast replay: {message}"])


# ----------------------------------------------------------------------------------------------- positions and drawings
def test_positions_before_every_move(file, said):
    """Those that the referee sees, in its words."""
    code, out, err = said(file(COLORED, GRAY), "--to-positions")
    expected = [game.to_text() for record in (COLORED, GRAY) for game, _ in referee.replay(record)]
    assert code == 0 and out == expected and err[0].startswith("2 good games; ")
    for text in out[::10]:
        parse_position(text)


def test_a_game_is_drawn_move_by_move(file, said):
    names = file(COLORED), file(GRAY, illegal(), name="more.jsonl")
    code, out, err = said(*names, "--show", "2")
    text = "\n".join(out)
    assert (code, err) == (0, [])
    place = 0
    for game, move in referee.replay(GRAY):  # each position, then the move
        place = text.index(plain(Position.read(game.to_text())), place)
        place = text.index(f"\nseat {game.turn} plays {move}\n", place)
    for number, played in enumerate(GRAY["rounds"], 1):
        assert f"round {number} is dealt: {played['deal']}" in text
    scores = " : ".join(map(str, GRAY["result"]["scores"]))
    winners = " and ".join(f"seat {seat}" for seat in GRAY["result"]["winners"])
    assert text.index(plain(replay(GRAY).position), place) and text.endswith(f"{scores}, won by {winners}")
    assert "\x1b" not in text
    assert said(*names, "--show", "3") == (1, [], [f"azul-fast replay: more.jsonl: line 2: {ILLEGAL}"])


# ------------------------------------------------------------------------------------------------------------ processes
def test_a_closed_pipe_ends_quietly(tmp_path):
    write(tmp_path / "games.jsonl", [COLORED] * 200)
    command = [*COMMAND, str(tmp_path / "games.jsonl"), "--to-positions"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("azul1 c2 ")
        process.stdout.close()
        said = [line for line in process.stderr if "compiling" not in line]
    assert said == []
    assert process.returncode == 0


def test_an_interrupt_leaves_a_whole_summary():
    """While it waits for more from a pipe: the games that came are checked already."""
    with subprocess.Popen(
        [*COMMAND, "-", "--to-positions"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdin.write((dumps(COLORED) + "\n").encode() * 3)
        process.stdin.flush()
        for _ in range(2 * PLIES[0]):  # more is held back by buffers, perhaps
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    *_, last = err.decode().splitlines()
    assert re.match(r"azul-fast replay: interrupted after [23] good games; ", last)


def test_a_file_that_cannot_be_read_is_told_before_anything_is_compiled(tmp_path):
    """With no kernel in the cache: one line about the file."""
    done = subprocess.run(
        [sys.executable, "-m", "azul_fast", "replay", "missing.jsonl"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(az.__file__).parents[1]), "AZUL_FAST_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr == "azul-fast replay: missing.jsonl could not be read: No such file or directory\n"
