"""Our engine and the C++ programs of bench/native, side by side in one run: CPU time per ply and its ratios.

    .venv/bin/python bench/compare.py [--bursts 15] [--seconds 0.25] [--only WORD] [--threads] [--json FILE]

Every measurement is many short bursts, and the programs take turns: burst 1 of each, burst 2 of each, ... A processor
that others share, or that changes its clock, then slows all of them alike. `best` is the ratio of the two shortest
bursts, `median` the median of the ratios burst by burst. All figures are CPU time of the working threads and include
counting the results into statistics, on both sides. Each burst plays the same games again and must give the same
answer; the mean length of a game must agree with the C++ program's.

Needs a C++ compiler, make and a processor with BMI2 and AVX2 for the C++ side; without them our own times are printed.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numba
import numpy as np

from azul_fast.batch import CHUNK_GAMES as CHUNK  # games played and then counted at a time
from azul_fast.batch import ROW_PADDING
from azul_fast.engine import layout
from azul_fast.playout import play_games, play_general
from azul_fast.policies import POLICIES
from azul_fast.rules import Rules
from azul_fast.tally import Seating, Tally

NATIVE = Path(__file__).parent / "native"
SEED = 1
LENGTH_TOLERANCE = 0.01  # relative, of the mean number of plies a game
PRINTED = re.compile(r"WALL median ([\d.]+)s .* CPU/move median ([\d.]+) ns .* moves ([\d.]+) .* hash (\w+)", re.DOTALL)


@dataclass
class Burst:
    """One burst: games and plies played, CPU and wall seconds, and an answer that must not change."""

    games: int
    plies: float
    cpu: float
    wall: float
    answer: object

    @property
    def ns(self) -> float:
        """CPU nanoseconds a ply."""
        return 1e9 * self.cpu / self.plies


@dataclass
class Work:
    """Something that is timed: `play(games)` is one burst; `games` are set so that it takes the asked time."""

    name: str
    play: Callable[[int], Burst]
    games: int = 0
    bursts: list[Burst] = field(default_factory=list)

    def prepare(self, seconds: float) -> None:
        """Compile, fill the caches and find how many games a burst has."""
        self.play(CHUNK)
        games = 2 * CHUNK
        while (burst := self.play(games)).wall < seconds / 4:
            games *= 2
        self.games = max(CHUNK, round(games * seconds / burst.wall / CHUNK) * CHUNK)

    def burst(self) -> None:
        burst = self.play(self.games)
        if self.bursts and burst.answer != self.bursts[0].answer:
            raise SystemExit(f"{self.name}: the same games gave another answer")
        self.bursts.append(burst)

    @property
    def length(self) -> float:
        """Mean plies a game."""
        return self.bursts[0].plies / self.bursts[0].games

    def best(self) -> float:
        return min(burst.ns for burst in self.bursts)

    def median(self) -> float:
        return statistics.median(burst.ns for burst in self.bursts)


def ours(players: int, policy: str = "random", wall: str = "fixed", general: bool = False) -> Callable[[int], Burst]:
    """Our engine on one thread: the same kernels and the same counting as a batch."""
    start = layout.new_state(Rules(players=players, wall=wall))
    ids = np.full(players, POLICIES.index(policy), np.int64)
    seating = Seating(policies=tuple(ids.tolist()))
    out = np.zeros((layout.RESULT_ROWS, CHUNK + ROW_PADDING), np.int32)
    kernel = play_general if general else play_games

    def play(games: int) -> Burst:
        tally = Tally.empty(seating)
        wall_start, cpu_start = time.perf_counter(), time.thread_time()
        for first in range(0, games, CHUNK):
            kernel(start, ids, 1, 0, SEED, first, CHUNK, out)
            tally += Tally.of(out, CHUNK, seating, first)
        cpu, wall_time = time.thread_time() - cpu_start, time.perf_counter() - wall_start
        plies = tally.moment("game", "plies")[0]
        return Burst(
            tally.games, plies, cpu, wall_time, (plies, [tally.moment(seat, "score") for seat in range(players)])
        )

    return play


def native(program: str, players: int, greedy: bool = False, threads: int = 1) -> Callable[[int], Burst]:
    """A C++ program, which prints its own CPU time a ply."""

    def play(games: int) -> Burst:
        command = [NATIVE / program, "-p", str(players), "-t", str(threads), "-n", str(games), "-s", str(SEED)]
        text = subprocess.run(command + ["-g"] * greedy, capture_output=True, text=True, check=True).stdout
        found = PRINTED.search(text)
        if not found:
            raise SystemExit(f"{program} printed what is not understood: {text!r}")
        wall, ns, length = map(float, found.groups()[:3])
        return Burst(games, games * length, 1e-9 * ns * games * length, wall, found[4])

    return play


def simulate(policy: str, threads: int) -> Callable[[int], Burst]:
    """A whole batch with its thread pool, 2 players."""
    import azul_fast as az

    def play(games: int) -> Burst:
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        result = az.simulate(games=games, policies=[policy], seed=SEED, threads=threads).to_dict()
        cpu, wall = time.process_time() - cpu_start, time.perf_counter() - wall_start
        result.pop("run")
        return Burst(games, games * result["plies"]["mean"], cpu, wall, json.dumps(result))

    return play


def evaluate(players: int = 2) -> Callable[[int], Burst]:
    """Random rollouts of every move of a first turn, to the end of the game, on one thread: counted in whole games."""
    import azul_fast as az

    @functools.cache
    def start() -> tuple[str, float]:
        """The position, and the mean plies of games from it."""
        position = az.Game(Rules(players=players), seed=SEED).to_text()
        return position, az.simulate(games=8 * CHUNK, position=position, seed=SEED, threads=1).plies.mean

    def play(games: int) -> Burst:
        position, length = start()
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        found = az.evaluate(position, "random", rollouts=games, seed=SEED, threads=1)
        cpu, wall = time.process_time() - cpu_start, time.perf_counter() - wall_start
        return Burst(found.rollouts, found.rollouts * length, cpu, wall, json.dumps(found.to_dict()))

    return play


def build() -> str | None:
    """Build the C++ programs; why not, where that cannot be."""
    if not shutil.which("make") or not any(map(shutil.which, ("g++", "clang++"))):
        return "no C++ compiler or no make"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists() and not {"bmi2", "avx2"} <= set(cpuinfo.read_text().split()):
        return "this processor has no BMI2 or no AVX2"
    compiler = [] if shutil.which("g++") else ["CXX=clang++"]
    made = subprocess.run(["make", "-s", "-C", NATIVE, *compiler, "tuned", "simd"], capture_output=True, text=True)
    return made.stderr.strip().splitlines()[-1] if made.returncode else None


@dataclass
class Row:
    """A line of the table: a work, what it is compared with, and the largest ratio that it must and should have."""

    work: str
    to: str
    must: float | None = None
    aim: float | None = None


def plan(with_native: bool) -> tuple[dict[str, Callable[[int], Burst]], list[Row]]:
    """All that is timed, in the order of its turns, and the table."""
    works: dict[str, Callable[[int], Burst]] = {}
    rows: list[Row] = []
    for n in (2, 3, 4):
        works[f"random {n}p"] = ours(n)
        if with_native:
            works[f"C++ {n}p"] = native("tuned", n)
        if with_native and n == 2:
            works["C++ SIMD 2p"] = native("simd", n)
        works[f"general {n}p"] = ours(n, general=True)
        works[f"gray {n}p"] = ours(n, wall="free", general=True)
        works[f"tidy {n}p"] = ours(n, "tidy")
        works[f"greedy {n}p"] = ours(n, "greedy")
        if with_native:
            works[f"C++ greedy {n}p"] = native("tuned", n, greedy=True)
    works["evaluate 2p"] = evaluate()
    rows.append(Row("evaluate 2p", "C++ 2p", 2.0))
    rows.append(Row("random 2p", "C++ 2p", 0.7))
    rows.append(Row("random 2p", "C++ SIMD 2p", aim=1.0))
    rows += [Row(f"random {n}p", f"C++ {n}p", 0.7, 0.4) for n in (3, 4)]
    rows += [Row(f"general {n}p", f"C++ {n}p", 2.0, 1.4) for n in (2, 3, 4)]
    rows += [Row(f"greedy {n}p", f"C++ greedy {n}p", 4.0, 1.0) for n in (2, 3, 4)]
    rows += [Row(f"tidy {n}p", f"C++ {n}p") for n in (2, 3, 4)]
    rows += [Row(f"gray {n}p", f"general {n}p", 2.0, 1.2) for n in (2, 3, 4)]
    return works, rows


def take_turns(works: list[Work], bursts: int, seconds: float) -> None:
    for work in works:
        work.prepare(seconds)
    for number in range(bursts):
        for work in works:
            work.burst()
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {bursts} bursts", end="" if number + 1 < bursts else "\n", file=sys.stderr)


def ratios(a: Work, b: Work) -> tuple[float, float]:
    """Best and median ratio of CPU time a ply."""
    return a.best() / b.best(), statistics.median(x.ns / y.ns for x, y in zip(a.bursts, b.bursts, strict=True))


def verdict(ratio: float, row: Row) -> str:
    if row.aim is not None and ratio <= row.aim:
        return "aim reached"
    if row.must is not None:
        return "reached" if ratio <= row.must else "MISSED"
    return "" if row.aim is None else "not yet"


def speed(arguments: argparse.Namespace, with_native: bool) -> dict[str, object]:
    """Time all works on one thread and print the table."""
    plays, rows = plan(with_native)
    rows = [row for row in rows if arguments.only in row.work and row.work in plays]
    wanted = {name for row in rows for name in (row.work, row.to)}
    works = {name: Work(name, play) for name, play in plays.items() if name in wanted}
    take_turns(list(works.values()), arguments.bursts, arguments.seconds)
    head = f"{'CPU ns a ply':14} {'best':>7} {'median':>7}"
    print(f"{head}   {'ratio to':13} {'best':>6} {'median':>7} {'must':>6} {'aim':>6}")
    table = []
    for row in rows:
        work, to = works[row.work], works.get(row.to)
        line = f"{row.work:14} {work.best():7.2f} {work.median():7.2f}"
        entry: dict[str, object] = {"work": row.work, "best": work.best(), "median": work.median()}
        if to:
            if abs(work.length / to.length - 1) > LENGTH_TOLERANCE and not row.work.startswith(("tidy", "gray")):
                raise SystemExit(f"{row.work}: {work.length:.2f} plies a game, but {row.to}: {to.length:.2f}")
            best, median = ratios(work, to)
            must, aim = ("" if x is None else f"≤ {x}" for x in (row.must, row.aim))
            line += f"   {row.to:13} {best:6.2f} {median:7.2f} {must:>6} {aim:>6}  {verdict(best, row)}".rstrip()
            entry |= {"to": row.to, "ratio_best": best, "ratio_median": median, "must": row.must, "aim": row.aim}
        print(line)
        table.append(entry)
    print()
    for name, work in works.items():
        if name.startswith("C++"):
            print(f"{name:14} {work.best():7.2f} {work.median():7.2f}")
    return {"speed": table, "native": {n: [w.best(), w.median()] for n, w in works.items() if n.startswith("C++")}}


def gains(arguments: argparse.Namespace, with_native: bool) -> dict[str, object]:
    """What a second thread gains: by wall time, and by CPU time alone, which other programs disturb less."""
    plays: dict[str, Callable[[int], Callable[[int], Burst]]] = {
        "random": functools.partial(simulate, "random"),
        "greedy": functools.partial(simulate, "greedy"),
    }
    if with_native:
        plays["C++"] = lambda threads: native("tuned", 2, threads=threads)
        plays["C++ SIMD"] = lambda threads: native("simd", 2, threads=threads)
        plays["C++ greedy"] = lambda threads: native("tuned", 2, greedy=True, threads=threads)
    works = {(name, n): Work(name, play(n)) for name, play in plays.items() for n in (1, 2)}
    for name in plays:
        works[name, 1].prepare(4 * arguments.seconds)
        works[name, 2].play(CHUNK)
        works[name, 2].games = works[name, 1].games
    for _ in range(arguments.bursts):
        for work in works.values():
            work.burst()
    print(
        f"\n{'gain of a second thread, 2 players':36} {'wall: best':>10} {'median':>7} {'CPU: best':>10} {'median':>7}"
    )

    def gain(name: str) -> list[float]:
        """Best and median by wall time, then by CPU time: 2 where two threads do not slow each other."""
        walls, cpus = ([[getattr(b, kind) for b in works[name, n].bursts] for n in (1, 2)] for kind in ("wall", "cpu"))
        found = []
        for scale, (one, two) in ((1, walls), (2, cpus)):
            found.append(scale * min(one) / min(two))
            found.append(scale * statistics.median(a / b for a, b in zip(one, two, strict=True)))
        return found

    found = {name: gain(name) for name in plays}
    for name, to in (("random", "C++"), ("random", "C++ SIMD"), ("greedy", "C++ greedy")):
        if to in found:
            found[f"{name} / {to} (must ≥ 0.93)"] = [a / b for a, b in zip(found[name], found[to], strict=True)]
    for name, (wall, wall_median, cpu, cpu_median) in found.items():
        print(f"{name:36} {wall:10.2f} {wall_median:7.2f} {cpu:10.2f} {cpu_median:7.2f}")
    return {"two_threads": found}


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.+)", cpuinfo.read_text()) if cpuinfo.exists() else []
    return names[0] if names else platform.processor() or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bursts", type=int, default=15, help="of each program (default 15)")
    parser.add_argument("--seconds", type=float, default=0.25, help="one burst takes (default 0.25)")
    parser.add_argument(
        "--only", default="", metavar="WORD", help="only the lines that have this word: greedy, 3p, ..."
    )
    parser.add_argument("--threads", action="store_true", help="measure the gain from a second thread, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here")
    arguments = parser.parse_args()
    why_not = build()
    if why_not:
        print(f"C++ programs not built ({why_not}): our own times only\n")
    machine = (
        f"{processor()}, {os.cpu_count()} processors; Python {platform.python_version()}, numba {numba.__version__}"
    )
    print(f"{machine}; {arguments.bursts} bursts of {arguments.seconds} s\n")
    results = {"machine": machine, **speed(arguments, why_not is None)}
    if arguments.threads:
        results |= gains(arguments, why_not is None)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
