"""``azul-fast simulate`` as people and scripts call it: through a process of its own."""

from __future__ import annotations

import csv
import json
import os
import pty
import resource
import select
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import azul_fast
from azul_fast import trace
from azul_fast.batch import describe, simulate
from azul_fast.policies import BUILT_IN

ROOT = Path(azul_fast.__file__).parents[1]
COMMAND = [sys.executable, "-m", "azul_fast"]
FIRST_TURN = (
    "azul1 c2 BBRK,YYWW,BYRK,RRRW,BKKW * 0:...../...../...../...../.....:-,-,-,-,-:-;"
    "0:...../...../...../...../.....:-,-,-,-,-:- b16.17.15.16.16 l0.0.0.0.0 t0 s0 r1 offer"
)


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Every test meets compiled kernels: of both engines, and of records."""
    simulate(12, seed=1)
    simulate(12, policies="tidy", seed=1)
    list(trace.records(describe(12, seed=1), 0, 1))


def environment(**more):
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "80", **more}


def run(*arguments, env=None, **options):
    options = {"capture_output": True, "text": True, "timeout": 120, **options}
    return subprocess.run([*COMMAND, *arguments], env=env or environment(), **options)


@pytest.fixture
def without_numba(tmp_path):
    """An environment in which importing numba, pyarrow or numpy's kin of a kernel ends the program."""
    for name in ("numba", "llvmlite", "pyarrow"):
        (tmp_path / "poison" / name).mkdir(parents=True)
        (tmp_path / "poison" / name / "__init__.py").write_text(
            f"import os; os.write(2, b'{name} imported\\n'); os._exit(99)"
        )
    paths = [str(tmp_path / "poison"), str(ROOT)]
    return environment(PYTHONPATH=os.pathsep.join(paths))


def statistics(text):
    values = json.loads(text)
    del values["run"]
    return values


# ------------------------------------------------------------------------------------------------------------- results
def test_json_is_what_python_returns_for_any_threads():
    expected = json.loads(json.dumps(simulate(1200, policies="random,greedy", seed=7, rotate=True).to_dict()))
    del expected["run"]
    outputs = []
    for threads in "1", "2":
        arguments = "--games 1_200 --policies random,greedy --seed 7 --rotate --json --threads".split()
        done = run("simulate", *arguments, threads)
        assert (done.returncode, done.stderr) == (0, "")
        values = json.loads(done.stdout)
        assert values["run"]["threads"] == int(threads)
        assert set(values["run"]["versions"]) == {"azul_fast", "python", "numba", "numpy"}
        outputs.append(json.dumps(statistics(done.stdout)))
    assert outputs[0] == outputs[1] == json.dumps(expected)


def test_the_text_names_all_that_it_takes_to_repeat_it():
    done = run("simulate", "--games", "1.2e3", "--players", "3", "--wall", "gray", "--policies", "random,tidy,random")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 112  # a pipe gets tables as wide as they are
    for words in ("1,200 games", "3 players", "gray wall", "random, tidy, random", "win share", "Wall cells", "median"):
        assert words in done.stdout
    assert "\x1b" not in done.stdout  # no color in a pipe
    assert done.stderr.startswith("0.") or " s on " in done.stderr
    command = done.stdout.splitlines()[-1]
    assert command.startswith(
        "To repeat: azul-fast simulate --games 1200 --players 3 --wall free --policies random,tidy,random --seed "
    )
    again = run(*command.removeprefix("To repeat: azul-fast ").split())
    assert again.stdout == done.stdout


def test_the_command_to_repeat_keeps_positions_and_deals():
    for arguments in (
        ["--position", FIRST_TURN, "--policies", "tidy"],
        ["--deal", "BBRK,YYWW,BYRK,RRRW,BKKW", "--first-player", "1", "--rotate", "--first-game", "24"],
        ["--max-rounds", "6", "--overflow", "removed", "--first-player", "rotate"],
    ):
        done = run("simulate", "--games", "120", *arguments)
        assert done.returncode == 0, done.stderr
        again = run(*shlex.split(done.stdout.splitlines()[-1].removeprefix("To repeat: azul-fast ")))
        assert again.stdout == done.stdout


def test_a_position_comes_as_text_from_a_file_or_from_standard_input(tmp_path):
    (tmp_path / "position.txt").write_text(FIRST_TURN + "\n")
    arguments = "simulate --games 120 --seed 1 --json --position".split()
    texts = [
        run(*arguments, FIRST_TURN).stdout,
        run(*arguments, f"@{tmp_path / 'position.txt'}").stdout,
        run(*arguments, "-", input=FIRST_TURN + "\n").stdout,
    ]
    values = [statistics(text) for text in texts]
    assert values[0] == values[1] == values[2]
    assert values[0]["position"] == FIRST_TURN


def test_output_in_a_terminal_without_unicode_is_ascii():
    done = run("simulate", "--games", "120", "--seed", "1", env=environment(PYTHONIOENCODING="ascii"))
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "~" in done.stdout


def test_tables_and_records_are_written(tmp_path):
    done = run(
        *"simulate --games 240 --seed 3 --policies random,tidy --json --record-games 10".split(),
        "--games-out", str(tmp_path / "games.csv"), "--records", str(tmp_path / "games.jsonl"),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert len((tmp_path / "games.csv").read_text().splitlines()) == 1 + 480
    records = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    assert [record["game"] for record in records] == list(range(10))
    with (tmp_path / "games.csv").open() as file:
        scores = [int(row["score"]) for row in csv.DictReader(file)]
    assert [score for record in records for score in record["result"]["scores"]] == scores[:20]
    assert sorted(os.listdir(tmp_path)) == ["games.csv", "games.jsonl"]


# ------------------------------------------------------------------------------------------------------ help and errors
@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["--version"], ["simulate", "--help"]], ids=" ".join)
def test_help_is_cheap(arguments, without_numba):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(*arguments, env=without_numba)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(("Usage: azul-fast", "azul-fast, version"))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert cpu < 0.3


def test_the_version_is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project.get("version", azul_fast.__version__) == azul_fast.__version__
    assert run("--version").stdout == f"azul-fast, version {azul_fast.__version__}\n"


ERRORS = {
    "--games 0": "games must be 1 to 2^53, not 0",
    "--games -5": "games must be 1 to 2^53, not -5",
    "--games 1.5": "--games: '1.5' is not a whole number such as 1000000, 1_000_000 or 1e6",
    "--games many": "--games: 'many' is not a whole number such as 1000000, 1_000_000 or 1e6",
    "--games 1e999999999": "--games: '1e999999999' is not a whole number",
    "--games nan": "--games: 'nan' is not a whole number",
    "--games 10 --players 3 --rotate": "games must be a multiple of the 3 rotations of the seats, not 10",
    "--players 5": "players must be 2 to 4, not 5",
    "--policies best": "policy must be random, tidy, greedy",
    "--policies random,tidy,greedy": "policies: 3 given, but 2 seats need 1 or 2",
    "--policies bots.py::mine": "policy file bots.py: No such file or directory",
    "--wall blue": "--wall must be fixed, free, coloured, colored, gray or grey, not 'blue'",
    "--overflow box": "--overflow must be lid or removed, not 'box'",
    "--max-rounds 0": "max_rounds must be 1 to 1,000,000, not 0",
    "--first-player 2": "first player must be 0 to 1, not 2",
    "--first-player last": "--first-player: 'last' is not a whole number",
    "--seed -1": "seed must be 0 to 2^53 - 1, not -1",
    "--seed 9007199254740992": "seed must be 0 to 2^53 - 1, not 9007199254740992",
    "--first-game -1": "first game must be 0 to 2^53, not -1",
    "--threads 0": "threads must be 1 to 1024, not 0",
    "--record-games 0": "record games must be 1 to 2^53, not 0",
    "--position azul1": "position: ",
    "--position @nowhere": "nowhere could not be read: No such file or directory",
    "--deal BBRK": "deal: 1 factories given, but 2 players have 5",
    "--games-out games.xlsx": "games.xlsx: the name must end in .parquet, .csv or .npz",
    "--games-out nowhere/games.csv": "nowhere/games.csv: there is no folder nowhere",
    "--games-out /proc/games.csv": "/proc/games.csv: cannot write in folder /proc: ",
    "--games-out pyproject.csv": "pyproject.csv exists (--force writes over it)",
    "--records games.json": "games.json: the name must end in .jsonl, .jsonl.gz or .jsonl.zst",
    "--gmaes 10": "No such option",
    "--games": "Option '--games' requires an argument.",
    "ten": "Got unexpected extra argument (ten)",
}


@pytest.mark.parametrize("arguments", ERRORS)
def test_bad_input_is_one_line_and_costs_nothing(arguments, without_numba, tmp_path):
    (tmp_path / "pyproject.csv").write_text("")
    done = run("simulate", *arguments.split(), env=without_numba, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"azul-fast simulate: {ERRORS[arguments]}")
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["poison", "pyproject.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--position", FIRST_TURN, "--players", "3"], "--players 3: the position has 2"),
        (["--position", FIRST_TURN, "--first-player", "1"], "first player 1 was asked for"),
        (["--position", FIRST_TURN.replace("offer", "over-row")], "position: "),
        (["--deal", "BBRK,YYWW,BYRK,RRRW,BKKX"], "deal: factory 5: "),
    ],
)
def test_bad_positions_and_deals_are_one_line(arguments, message, without_numba):
    done = run("simulate", *arguments, env=without_numba)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"azul-fast simulate: {message}")
    assert done.stderr.count("\n") == 1


def test_an_unknown_command_is_one_line(without_numba):
    done = run("simulat", env=without_numba)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("azul-fast: No such command")
    assert done.stderr.count("\n") == 1


# ------------------------------------------------------------------------------------------------ outputs that go wrong
def test_a_closed_pipe_ends_quietly(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "simulate", "--games", "120", "--seed", "1", "--games-out", str(tmp_path / "games.csv")],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(60) == 0
    assert "Traceback" not in errors
    assert "rror" not in errors
    assert os.listdir(tmp_path) == ["games.csv"]  # what was asked for beside is there


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("extra", [[], ["--json"]], ids=["text", "json"])
def test_a_full_disk_under_standard_output(extra):
    with open("/dev/full", "w") as full:
        done = run("simulate", "--games", "120", *extra, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].startswith("azul-fast simulate: standard output could not be written: No space")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["games.parquet", "games.csv", "games.npz", "games.jsonl"])
def test_a_full_disk_under_a_file_leaves_no_file(name, tmp_path):
    option = ["--record-games", "300", "--records"] if name.endswith("jsonl") else ["--games-out"]
    limit = 20_000  # bytes a file may have
    done = run(
        "simulate", "--games", "6000", "--seed", "1", *option, str(tmp_path / name),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 3
    assert f"azul-fast simulate: {tmp_path / name} could not be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == []


def test_files_that_exist_are_kept_unless_forced(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("mine")
    arguments = ["simulate", "--games", "12", "--games-out", str(path)]
    assert run(*arguments).returncode == 2
    assert path.read_text() == "mine"
    assert run(*arguments, "--force").returncode == 0
    assert len(path.read_text().splitlines()) == 25


# ---------------------------------------------------------------------------------------------------------- interrupts
class Terminal:
    """A process in a terminal of its own, whose keys can be pressed; standard output is a pipe."""

    def __init__(self, *arguments):
        self.keys, terminal = pty.openpty()
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *COMMAND, *arguments],
            env=environment(TERM="xterm"), stdin=terminal, stdout=subprocess.PIPE, stderr=terminal,
        )  # fmt: skip
        os.close(terminal)
        self.seen = b""

    def wait_for(self, text, seconds=60):
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            if select.select([self.keys], [], [], 0.1)[0]:
                self.seen += os.read(self.keys, 65536)

    def press(self, key):
        os.write(self.keys, key)

    def end(self):
        """Standard output, exit code, and what else appeared on the terminal."""
        output, _ = self.process.communicate(timeout=60)
        while select.select([self.keys], [], [], 0)[0]:
            try:
                self.seen += os.read(self.keys, 65536)
            except OSError:  # nobody has it open any more
                break
        os.close(self.keys)
        return output.decode(), self.process.returncode, self.seen.decode()


CONTROL_C = b"\x03"


def test_control_c_prints_the_statistics_of_the_first_games(tmp_path):
    path = tmp_path / "games.csv"
    terminal = Terminal(*"simulate --games 1e9 --seed 6 --json --rotate --games-out".split(), str(path))
    terminal.wait_for(b"games/s")  # the progress bar
    terminal.press(CONTROL_C)
    pressed = time.monotonic()
    output, code, seen = terminal.end()
    took = time.monotonic() - pressed
    assert code == 130
    assert "Traceback" not in seen
    values = statistics(output)
    assert values.pop("interrupted") is True
    games = values["games"]
    assert 0 < games < 10**9
    assert games % 2 == 0
    assert len(path.read_text().splitlines()) == 1 + 2 * games
    same = json.loads(json.dumps(simulate(games, seed=6, rotate=True).to_dict()))
    assert same.pop("interrupted") is False
    del same["run"]
    assert values == same
    assert took < 2  # half a second on a machine of one's own
    assert os.listdir(tmp_path) == ["games.csv"]


def test_no_progress_bar_where_there_is_no_terminal():
    done = run("simulate", "--games", "100000", "--seed", "1", "--json")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("simulate --games 10 --games-out .csv", 2, "the name must end in"),
        ("simulate --games 10 --games-out " + "x" * 300 + ".csv", 2, "File name too long"),
        ("simulate --games 10 --first-game 9007199254740991", 2, "go beyond game 2^53 - 1"),
        ("simulate --rotate --first-player rotate", 2, "does not go with rotate"),
        ("simulate --games 100 --rotate --players 3", 2, "99 is one"),
        ("simulate --games 100 >&-", 3, "standard output is closed"),
        ("simulate --position - <&-", 2, "position"),
        ("replay - <&-", 0, ""),
    ],
)
def test_what_new_users_ran_into(words, status, said, tmp_path):
    """Odd names and numbers, and streams that whoever called us has closed: one line, never a traceback."""
    command = f"{sys.executable} -m azul_fast {words}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(azul_fast.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_results_come_without_a_place_for_messages(tmp_path):
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m azul_fast simulate --games 100 --seed 1 2>&-"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(azul_fast.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "100 games" in done.stdout


@pytest.mark.parametrize("words", ["--games-out games.csv", "--records games.jsonl --games 20000 --record-games 20000"])
def test_a_signal_to_end_leaves_no_file(words, tmp_path):
    """While games are played, and while records are written."""
    asked = ["simulate", "--games", "1000000000", "--policies", "greedy", "--seed", "1", *words.split()]
    process = subprocess.Popen(
        [sys.executable, "-m", "azul_fast", *asked],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(azul_fast.__file__).parents[1])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        until = time.monotonic() + 60
        while not os.listdir(tmp_path) and time.monotonic() < until:
            time.sleep(0.01)
        assert os.listdir(tmp_path), "no file was begun"
        process.terminate()
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + signal.SIGTERM
    assert b"Traceback" not in said
    assert os.listdir(tmp_path) == []


def test_control_c_while_modules_are_loaded_is_one_line():
    """From the first line of the program on."""
    program = """
import os, signal, sys
class Press:
    wanted = sys.argv.pop(1)
    def find_spec(self, name, path=None, target=None):
        if name == self.wanted:
            os.kill(os.getpid(), signal.SIGINT)
from azul_fast.__main__ import main
sys.meta_path.insert(0, Press())
main()
"""
    for module in ("click", "azul_fast.cli.main", "azul_fast.errors", "azul_fast.cli.simulate", "numpy", "numba"):
        done = subprocess.run(
            [sys.executable, "-c", program, module, "simulate", "--games", "10"],
            env=os.environ | {"PYTHONPATH": str(Path(azul_fast.__file__).parents[1])},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 130, (module, done.stderr)
        assert done.stderr.count("\n") == 1 and done.stderr.rstrip().endswith("interrupted"), (module, done.stderr)


def test_the_help_names_the_policies():
    done = run("simulate", "--help")
    for name in BUILT_IN:
        assert name in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["simulate", "--record-games", "3"], "--record-games goes with --records FILE"),
        (["match", "greedy", "tidy", "--record-games", "3"], "--record-games goes with --records FILE"),
        (["match", "bots::f", "greedy"], "policy 'bots::f': one of your own is written FILE.py::NAME"),
        (["tune", "--test-games", "0"], "test games must be 1 to"),
        (["tune", "--generations", "0"], "generations must be 1 to"),
        (["simulate", "--games", "10", "--games-out", "dangling.csv"], "dangling.csv exists"),
        (["replay", "packed.jsonl"], "packed.jsonl: line 1: record: not JSON: compressed"),
    ],
)
def test_what_a_new_user_met(arguments, said, tmp_path):
    os.symlink("nowhere", tmp_path / "dangling.csv")
    (tmp_path / "packed.jsonl").write_bytes(b"\x1f\x8b\x08\x00rest")
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    lines = [line for line in done.stderr.splitlines() if "compiling" not in line]
    assert len(lines) == 1 and said in lines[0]
    assert os.path.islink(tmp_path / "dangling.csv")
